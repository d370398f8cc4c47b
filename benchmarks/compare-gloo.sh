#!/usr/bin/env bash
# Times the 2-rank all-reduce of ferro over TCP and of Gloo (its default, as PyTorch uses it) in turns on this machine, and
# writes raw.jsonl, ratios.csv and ratios.md. Installs nothing.
set -euo pipefail

usage() {
    cat <<EOF
usage: compare-gloo.sh [--rounds N] [--sizes LIST] [--time MS] [--out DIR]
  --rounds N    rounds of ferro and Gloo in turns (default 7)
  --sizes LIST  sizes in bytes (default 4,64,1024,16384,65536,262144,1048576,4194304,16777216,67108864)
  --time MS     measuring time per size and round, for example 100ms (default)
  --out DIR     where results go (default benchmarks/target/compare-gloo)
EOF
}

home=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
rounds=7
sizes=4,64,1024,16384,65536,262144,1048576,4194304,16777216,67108864
time=100ms
out=$home/benchmarks/target/compare-gloo
while [ $# -gt 0 ]; do
    case $1 in
        --rounds) rounds=${2:?} ;;
        --sizes) sizes=${2:?} ;;
        --time) time=${2:?} ;;
        --out) out=${2:?} ;;
        -h | --help) usage && exit 0 ;;
        *) echo "compare-gloo: no option \"$1\"" >&2 && usage >&2 && exit 2 ;;
    esac
    shift 2
done
case $time in
    *ms) millis=${time%ms} ;;
    *s) millis=$((${time%s} * 1000)) ;;
    *) echo "compare-gloo: --time $time: need a time such as 100ms or 1s" >&2 && exit 2 ;;
esac
# 64KiB and 1MiB as ferro reads them, in plain bytes for the peer
bytes=$(tr ',' '\n' <<<"$sizes" | sed 's/GiB$/*1024MiB/; s/MiB$/*1024KiB/; s/KiB$/*1024/; s/B$//' | while read -r size; do echo $((size)); done)

missing=
command -v g++ >/dev/null || missing="$missing g++"
[ -n "$missing" ] || echo '#include <gloo/allreduce.h>' | g++ -std=c++14 -E -x c++ - >/dev/null 2>&1 || missing="$missing libgloo-dev"
if [ -n "$missing" ]; then
    echo "compare-gloo: cannot build the peer, missing:$missing (Debian, Ubuntu: apt-get install$missing)" >&2
    exit 2
fi
# built outside the source tree, and anew only when the source is newer
peer=$home/benchmarks/target/peers/gloo_allreduce
source=$home/benchmarks/peers/gloo_allreduce.cc
mkdir -p "$(dirname "$peer")" "$out"
if [ ! "$peer" -nt "$source" ]; then
    echo "compare-gloo: building the peer" >&2
    g++ -O3 -march=native -std=c++14 "$source" -o "$peer" -lgloo -lpthread
fi

raw=$out/raw.jsonl
: >"$raw"
meeting=$(mktemp -d)
trap 'rm -rf "$meeting"' EXIT

# Adds the round to each line of a sweep.
keep() {
    sed "s/^{/{\"round\":$1,/" >>"$raw"
}

run_gloo() {
    local store=$meeting/$1 other
    mkdir -p "$store/control"
    # shellcheck disable=SC2086 # one argument per size
    timeout 300 "$peer" 1 2 "$store" "$millis" $bytes >/dev/null &
    other=$!
    # shellcheck disable=SC2086
    timeout 300 "$peer" 0 2 "$store" "$millis" $bytes | keep "$1"
    wait "$other"
}

run_ferro() {
    timeout 300 "$home/ferro" bench allreduce -n 2 --backend tcp --sizes "$sizes" --time "$time" --json | keep "$1"
}

for round in $(seq "$rounds"); do
    echo "compare-gloo: round $round of $rounds" >&2
    if [ $((round % 2)) = 1 ]; then
        run_ferro "$round"
        run_gloo "$round"
    else
        run_gloo "$round"
        run_ferro "$round"
    fi
done
awk -v csv="$out/ratios.csv" -f "$home/benchmarks/peers/ratios.awk" "$raw" >"$out/ratios.md"
cat "$out/ratios.md"
