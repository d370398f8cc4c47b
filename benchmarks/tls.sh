#!/usr/bin/env bash
# Measures what encryption costs: runs `ferro bench allreduce` with two ranks over TCP on this machine, in turns without encryption,
# with the engine of the JDK and with the engine of OpenSSL. Prints a Markdown table of the medians of the rounds, in microseconds,
# and their ratios to the medians without encryption.
#
#   benchmarks/tls.sh 5                          five rounds
#   benchmarks/tls.sh 5 --sizes 4,1MiB --op max  arguments after the rounds go to `ferro bench allreduce`
#   benchmarks/tls.sh 2 1gbit                    between two hosts made of network namespaces, over a link of this rate
#
# JAVA_HOME sets the JDK. A round takes two minutes: the code that encrypts is slow until the JIT has compiled it, which takes
# seconds if each rank has a core.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ferro=$here/../ferro

rounds=${1:-}
if [[ ! $rounds =~ ^[1-9][0-9]*$ ]]; then
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2
    exit 2
fi
shift
rate=
if [[ ${1:-} =~ ^[0-9]+(mbit|gbit)$ ]]; then
    rate=$1
    shift
fi

. "$here/hosts.sh"
work=$(mktemp -d)
secret=$work/secret
other=
clean_up() {
    [ -z "$other" ] || kill "$other" 2>/dev/null || true
    [ -z "$rate" ] || remove_hosts
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP
"$ferro" secret "$secret" >/dev/null
[ -z "$rate" ] || make_hosts "$rate"

options=(--links tcp --json)
[[ " $* " == *" --sizes "* ]] || options+=(--sizes 4,64KiB,1MiB,64MiB)
[[ " $* " == *" --time "* ]] || options+=(--time 8s)
options+=("$@")

# One run.
measure() {
    if [ -z "$rate" ]; then
        "$ferro" bench allreduce -n 2 --secret-file "$secret" "${options[@]}"
        return
    fi
    on_host 1 bench allreduce -- "${options[@]}" >/dev/null 2>&1 &
    other=$!
    (on_host 0 bench allreduce -- "${options[@]}") || return
    wait "$other" || return
    other=
}

for round in $(seq "$rounds"); do
    for way in plain jdk openssl; do
        [ ! -t 2 ] || printf '\rround %d of %d, %-7s' "$round" "$rounds" "$way" >&2
        tls=on provider=$way
        [ "$way" != plain ] || tls=off provider=auto
        FERRO_TLS=$tls FERRO_TLS_PROVIDER=$provider measure >"$work/run" 2>"$work/said" ||
            { cat "$work/said" >&2; exit 1; }
        sed "s/.*\"bytes\":\([0-9]*\).*\"us_median\":\([0-9.]*\).*/\1 $way \2/" "$work/run" >>"$work/all"
    done
done
[ ! -t 2 ] || printf '\r%40s\r' '' >&2

echo '| bytes | plain | JDK | OpenSSL | JDK, ratio | OpenSSL, ratio |'
echo '|---|---|---|---|---|---|'
sort -k1,1n -k2,2 -k3,3n "$work/all" | awk '
    function done() { if (count) median[way] = values[int((count + 1) / 2)]; count = 0 }
    function row() {
        if (bytes != "") printf "| %s | %s | %s | %s | %.2f | %.2f |\n", bytes, median["plain"], median["jdk"], median["openssl"],
            median["jdk"] / median["plain"], median["openssl"] / median["plain"]
    }
    $1 != bytes || $2 != way { done() }
    $1 != bytes { row() }
    { bytes = $1; way = $2; values[++count] = $3 }
    END { done(); row() }'
