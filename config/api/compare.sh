#!/usr/bin/env bash
# Compares the API of this checkout with that of a commit. Prints each break, and whether CHANGELOG.md has got a line under
# "Breaking" since that names the type. The exit code is 1 if a type is not named. Modules of profiles are left out.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# the last commit that was staged as 0.1.0
commit=${1:-8f50a924}
if [ $# -gt 1 ] || ! commit=$(git rev-parse --verify --quiet "$commit^{commit}"); then
    echo "usage: config/api/compare.sh [COMMIT]; found no commit ${1:-8f50a924}" >&2
    exit 2
fi
baseline=$PWD/target/api/$commit
quick=(mvn -B -q verify -Dferro.quick -Dmaven.test.skip)
if [ ! -d "$baseline" ]; then
    tree=$(mktemp -d)
    trap 'git worktree remove --force "$tree"' EXIT
    git worktree add -q --detach "$tree" "$commit"
    (cd "$tree" && "${quick[@]}" -Prelease >&2)
    mkdir -p target/api
    mv "$tree/target/staging" "$baseline"
fi
rm -f ./*/target/japicmp/*.diff
"${quick[@]}" -Dferro.api.baseline="$baseline" -Dferro.api.breaks=false >&2

breaking() {
    awk '/^##+ /{ if (!/^####/) on = /^### Breaking/ } on' <<<"$1" | sort
}
named=$(comm -13 <(breaking "$(git show "$commit:CHANGELOG.md")") <(breaking "$(cat CHANGELOG.md)"))
ls ./*/target/japicmp/*.diff >/dev/null
code=0
while read -r type broken; do
    if grep -qwF -- "${type##*[.$]}" <<<"$named"; then known=named; else known="NOT NAMED in CHANGELOG.md" code=1; fi
    echo "$type: $broken: $known"
done < <(cat ./*/target/japicmp/*.diff | awk '
    / (CLASS|INTERFACE|ENUM|RECORD|ANNOTATION): /{ sub(/ +\(.*/, ""); type = $NF }
    /^\t*(---|\*\*\*|\+\+\+)!/{ sub(/^\t*/, ""); print type, $0 }')
exit $code
