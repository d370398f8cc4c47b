#!/usr/bin/env bash
# Measures what encryption costs: `ferro bench allreduce` of two ranks over TCP on this machine, without encryption, with the
# engine of the JDK and with that of OpenSSL in turns, and prints a Markdown table of the medians of the rounds, in microseconds, and
# their ratios to those without.
#
#   benchmarks/tls.sh 5                          five rounds
#   benchmarks/tls.sh 5 --sizes 4,1MiB --op max  what is behind the rounds goes to `ferro bench allreduce`
#
# JAVA_HOME says which JDK. Takes two minutes a round: what encrypts is slow until it is compiled, for seconds where ranks have a core each.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ferro=$here/../ferro

rounds=${1:-}
if [[ ! $rounds =~ ^[1-9][0-9]*$ ]]; then
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2
    exit 2
fi
shift

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
"$ferro" secret "$work/secret" >/dev/null
for round in $(seq "$rounds"); do
    for way in plain jdk openssl; do
        [ ! -t 2 ] || printf '\rround %d of %d, %-7s' "$round" "$rounds" "$way" >&2
        tls=on provider=$way
        [ "$way" != plain ] || tls=off provider=auto
        FERRO_TLS=$tls FERRO_TLS_PROVIDER=$provider "$ferro" bench allreduce -n 2 --links tcp --secret-file "$work/secret" \
            --sizes 4,64KiB,1MiB,64MiB --time 8s --json "$@" 2>/dev/null |
            sed "s/.*\"bytes\":\([0-9]*\).*\"us_median\":\([0-9.]*\).*/\1 $way \2/" >>"$work/all"
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
