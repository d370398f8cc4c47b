#!/usr/bin/env bash
# The flight recorder on and off in a simulated 4 KiB all-reduce of two ranks on one thread, a JVM each, in turns.
#   benchmarks/overhead/simulated.sh [ROUNDS]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
rounds=${1:-6}
for round in $(seq 1 "$rounds"); do
    order="2048 0"
    [ $((round % 2)) -eq 1 ] || order="0 2048"
    for entries in $order; do
        BENCHMARK=SimulatedOverheadBenchmark "$here/recorder.sh" -f 1 -p "entries=$entries" | sed -n "s/^entries=/$round /p"
    done
done | tee /dev/stderr | awk '{ sub(/:/, "", $2); fastest[$1, $2] = $6 }
    END {
        for (r = 1; r <= '"$rounds"'; r++) printf "round %d: on %.0f ns, off %.0f ns, ratio %.3f\n", r, fastest[r, 2048],
            fastest[r, 0], fastest[r, 2048] / fastest[r, 0]
    }'
