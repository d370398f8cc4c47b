#!/usr/bin/env bash
# Measures the training of a LightGBM model over LightGBM's own sockets and over ferro, in turns in the same ranks
# (docs/lightgbm.md). Prints the median and the tenth percentile of the time of an iteration, and the time of all iterations.
# First run: mvn -Plightgbm -Dferro.quick test-compile -pl adapters/lightgbm -am
#
#   benchmarks/lightgbm.sh 2                     two ranks on this machine: 200,000 rows of 28 columns, 50 iterations, 3 turns
#   benchmarks/lightgbm.sh 4 20000 200 5         rows, iterations, turns
#   benchmarks/lightgbm.sh 1gbit                 two hosts made of network namespaces, with a rank and a core each, and a link of
#                                                this rate; needs root, iproute2 (ip, tc) and a kernel with tbf
#   benchmarks/lightgbm.sh 2 200000 50 3 -J-XX:TieredStopAtLevel=1    arguments after the turns go to `ferro run`
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ferro=$here/../ferro
module=$here/../adapters/lightgbm/target

ranks=${1:-}
if [[ ! $ranks =~ ^([1-9][0-9]*|[0-9]+(mbit|gbit))$ ]] || [ ! -f "$module/class-path" ]; then
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2
    exit 2
fi
size=("${2:-200000}" "${3:-50}" "${4:-3}" both)
options=("${@:5}")
program=(-cp "$module/test-classes:$module/classes:$(cat "$module/class-path")" ferro.lightgbm.TrainingBench "${size[@]}")

if [[ ! $ranks =~ bit$ ]]; then
    exec "$ferro" run -n "$ranks" ${options[@]+"${options[@]}"} "${program[@]}"
fi
. "$here/hosts.sh"
work=$(mktemp -d)
other=
clean_up() {
    [ -z "$other" ] || kill "$other" 2>/dev/null || true
    remove_hosts
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP
make_hosts "$ranks"
secret=$work/secret
(umask 077 && head -c 32 /dev/urandom | base64 >"$secret")
"$ferro" --version >/dev/null
host() {
    on_host "$1" run --backend tcp -J"-Dbench.address=10.77.0.$(($1 + 1))" ${options[@]+"${options[@]}"} -- "${program[@]}"
}
host 1 >"$work/other" 2>&1 &
other=$!
if ! (host 0); then
    echo "lightgbm: the other host said:" >&2
    cat "$work/other" >&2
    exit 1
fi
