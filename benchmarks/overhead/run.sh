#!/usr/bin/env bash
# What recorder, heartbeats, fingerprint and deadlines cost: an all-reduce as it is and without each of them, in turns on this
# machine; or what a change costs: the tree as it is beside earlier commits of it. Recorder and heartbeats go by their settings;
# the others are taken out of a copy of the tree by the patches beside this script. Writes raw.jsonl and ratios.md.
set -euo pipefail

usage() {
    cat <<EOF
usage: run.sh [--rounds N] [--ranks N] [--links KIND] [--queued N] [--sizes LIST] [--time MS] [--only LIST] [--out DIR]
  --rounds N    rounds; each round measures all variants (default 7)
  --ranks N     ranks (default 2)
  --links KIND  auto for shared memory, tcp (default tcp)
  --queued N    number of calls to queue before waiting for the first (default 1: blocking calls)
  --sizes LIST  sizes in bytes (default 4,4KiB,64KiB,1MiB)
  --time MS     measuring time per size and round (default 200ms)
  --only LIST   variants of: no-recorder,no-heartbeats,no-fingerprint,no-deadlines,same (default all; "same" changes nothing,
                so its ratios show the effect of taking turns alone), or commits, each built without changes
  --out DIR     folder for the results (default benchmarks/target/overhead)
EOF
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
home=$(cd "$here/../.." && pwd -P)
rounds=7
ranks=2
links=tcp
queued=1
sizes=4,4KiB,64KiB,1MiB
time=200ms
only=no-recorder,no-heartbeats,no-fingerprint,no-deadlines,same
out=$home/benchmarks/target/overhead
while [ $# -gt 0 ]; do
    case $1 in
        --rounds) rounds=${2:?} ;;
        --ranks) ranks=${2:?} ;;
        --links) links=${2:?} ;;
        --queued) queued=${2:?} ;;
        --sizes) sizes=${2:?} ;;
        --time) time=${2:?} ;;
        --only) only=${2:?} ;;
        --out) out=${2:?} ;;
        -h | --help) usage && exit 0 ;;
        *) echo "overhead: no option \"$1\"" >&2 && usage >&2 && exit 2 ;;
    esac
    shift 2
done
mkdir -p "$out"
raw=$out/raw.jsonl
: >"$raw"
trees=$(mktemp -d)
trap 'rm -rf "$trees"' EXIT

is_commit() {
    [[ $1 =~ ^[0-9a-f]{7,40}$ ]] && git -C "$home" cat-file -e "$1^{commit}" 2>/dev/null
}

# A copy of the tree as it is here, uncommitted changes too, with a patch or without, or as it was at a commit; built.
tree() {
    local name=$1
    mkdir "$trees/$name"
    if is_commit "$name"; then
        git -C "$home" archive "$name" | tar -C "$trees/$name" -xf -
    else
        (cd "$home" && git ls-files -z --cached --others --exclude-standard | xargs -0 -I{} sh -c '[ -e "{}" ] && printf "%s\0" "{}"') |
            tar -C "$home" --null -T - -cf - | tar -C "$trees/$name" -xf -
    fi
    if [ -f "$here/patches/$name.patch" ]; then
        patch -s -p1 -d "$trees/$name" <"$here/patches/$name.patch" || {
            echo "overhead: patches/$name.patch no longer fits: make it anew with git diff -U1" >&2
            exit 2
        }
    fi
    echo "overhead: building $name" >&2
    "$trees/$name/ferro" --help >/dev/null 2>"$out/build-$name.log" || {
        echo "overhead: cannot build $name, see $out/build-$name.log" >&2
        exit 2
    }
}

variants=$(tr ',' ' ' <<<"$only")
for variant in $variants; do
    case $variant in
        no-recorder | no-heartbeats | no-fingerprint | no-deadlines | same) ;;
        *) is_commit "$variant" || { echo "overhead: no variant and no commit \"$variant\"" >&2 && usage >&2 && exit 2; } ;;
    esac
done
tree base
for variant in $variants; do
    if [ -f "$here/patches/$variant.patch" ] || is_commit "$variant"; then
        tree "$variant"
    fi
done

measure() {
    local variant=$1 round=$2 where=$trees/base
    local -x FERRO_RECORDER_ENTRIES=2048 FERRO_HEARTBEAT_INTERVAL=2s
    case $variant in
        no-recorder) FERRO_RECORDER_ENTRIES=0 ;;
        no-heartbeats) FERRO_HEARTBEAT_INTERVAL=0s ;;
        same) ;;
        *) where=$trees/$variant ;;
    esac
    "$where/ferro" bench allreduce -n "$ranks" --backend tcp --links "$links" --queued "$queued" --sizes "$sizes" --time "$time" --json 2>>"$out/bench.log" |
        sed -n "s/^{/{\"variant\":\"$variant\",\"round\":$round,/p" >>"$raw"
}

for round in $(seq 1 "$rounds"); do
    order="base $variants"
    if [ $((round % 2)) -eq 0 ]; then
        order=$(tr ' ' '\n' <<<"$order" | tac | tr '\n' ' ')
    fi
    for variant in $order; do
        measure "$variant" "$round"
    done
    echo "overhead: round $round of $rounds" >&2
done

awk -f "$here/ratios.awk" "$raw" | tee "$out/ratios.md"
