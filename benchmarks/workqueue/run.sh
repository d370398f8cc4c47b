#!/usr/bin/env bash
# Compares the work queue of examples (ferro.examples.workqueue) over ferro with the same queue over threads of one JVM
# (ThreadQueue.java beside this file) and with the same program in C over Open MPI (queue.c), where Open MPI can be built.
# Ways take turns. Prints a Markdown table: tasks per second, and the ratio to the first way in the same round.
#
#   benchmarks/workqueue/run.sh 5                   five rounds of 10,000 tasks, 4 ranks (one gives out, three compute)
#   benchmarks/workqueue/run.sh 5 3                 3 ranks
#   benchmarks/workqueue/run.sh 5 4 20              20 times 20 tasks
#   benchmarks/workqueue/run.sh 5 4 100 "threads ferro-shm"   these ways: threads, ferro-tcp, ferro-shm, openmpi-tcp, openmpi-shm
#
# A way computes all tasks five times in each round; the last time counts. All ways must find the same number of points.
# "threads" is an ExecutorService with as many threads as there are ranks that compute.
# JAVA_HOME sets the JDK.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
home=$(cd "$here/../.." && pwd -P)
rounds=${1:-}
ranks=${2:-4}
side=${3:-100}
ways=${4:-threads ferro-tcp ferro-shm openmpi-tcp openmpi-shm}
if [[ ! $rounds =~ ^[1-9][0-9]*$ || ! $ranks =~ ^[1-9][0-9]*$ || $ranks = 1 || ! $side =~ ^[1-9][0-9]*$ ]]; then
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2
    exit 2
fi
java=${JAVA_HOME:+$JAVA_HOME/bin/}java

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP

if [ -z "${FERRO_COMPARE_CLASS_PATH:-}" ]; then
    # builds ferro if a source is newer
    "$home/ferro" --version >/dev/null
    jars="$(cat "$home/.ferro/stamp")/*"
else
    jars=$FERRO_COMPARE_CLASS_PATH
fi
"${java}c" -cp "$jars" -d "$work" "$here/ThreadQueue.java"

# Ranks are bound to cores where there are enough, as ferro does it.
bind=core
[ "$ranks" -le "$(nproc)" ] || bind=none

ferro() {
    set -- run -n "$ranks" "$@" ferro.examples.workqueue.MandelbrotQueue 5 "$side"
    if [ -z "${FERRO_COMPARE_CLASS_PATH:-}" ]; then
        "$home/ferro" "$@"
    else
        "$java" -cp "$FERRO_COMPARE_CLASS_PATH" ferro.launcher.FerroCommand "$@"
    fi
}

openmpi() {
    mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to $bind --mca pml ob1 "$@" -np "$ranks" "$work/queue" 5 "$side"
}

run() {
    case $1 in
        threads) "$java" -XX:-UsePerfData -cp "$work:$jars" ThreadQueue 5 "$side" $((ranks - 1)) ;;
        ferro-tcp) ferro --backend tcp -J-Dferro.links=tcp ;;
        ferro-shm) ferro --backend shm ;;
        openmpi-tcp) openmpi --mca btl self,tcp --mca btl_tcp_if_include lo ;;
        openmpi-shm) openmpi --mca btl self,vader ;;
    esac
}

# What is missing to build and run the program in C; nothing if all is here. The package of mpirun brings mpicc without mpi.h.
missing() {
    command -v mpirun.openmpi >/dev/null || echo openmpi-bin
    echo '#include <mpi.h>' | mpicc.openmpi -x c -E - >/dev/null 2>&1 || echo libopenmpi-dev
}

usable=
for way in $ways; do
    case $way in
        threads | ferro-tcp | ferro-shm) ;;
        openmpi-tcp | openmpi-shm)
            needs=$(missing | tr '\n' ' ')
            if [ -n "$needs" ]; then
                echo "workqueue: without $way, missing: $needs(Debian, Ubuntu: apt-get install)" >&2
                continue
            fi
            # without combined multiplications, as Java computes
            [ -e "$work/queue" ] || mpicc.openmpi -O3 -ffp-contract=off "$here/queue.c" -o "$work/queue"
            ;;
        *)
            echo "workqueue: no way \"$way\": use threads, ferro-tcp, ferro-shm, openmpi-tcp or openmpi-shm" >&2
            exit 2
            ;;
    esac
    usable+=" $way"
done
[ -n "$usable" ] || { echo "workqueue: no way can run here" >&2; exit 2; }

for round in $(seq "$rounds"); do
    for way in $usable; do
        [ ! -t 2 ] || printf '\rround %d of %d, %-12s' "$round" "$rounds" "$way" >&2
        run "$way" >"$work/said" 2>"$work/errors" ||
            { echo "workqueue: $way failed" >&2; cat "$work/said" "$work/errors" >&2; exit 1; }
        sed -n "s/^\(.*[^0-9]\)\{0,1\}\([0-9][0-9]*\) tasks, \([0-9]*\) points .* s, \([0-9]*\) tasks per second.*/$way $round \2 \3 \4/p" \
            "$work/said" | tail -n 1 >"$work/line"
        [ -s "$work/line" ] || { echo "workqueue: $way printed no result" >&2; cat "$work/said" "$work/errors" >&2; exit 1; }
        cat "$work/line" >>"$work/all"
    done
done
[ ! -t 2 ] || printf '\r%40s\r' '' >&2

awk -v ranks="$ranks" '
    function middle(values, count,    i, j, kept) {
        for (i = 2; i <= count; i++) {
            kept = values[i]
            for (j = i - 1; j > 0 && values[j] > kept; j--) values[j + 1] = values[j]
            values[j + 1] = kept
        }
        return count % 2 ? values[(count + 1) / 2] : (values[count / 2] + values[count / 2 + 1]) / 2
    }
    NR == 1 { points = $4; tasks = $3 }
    $4 != points { print "workqueue: " $1 " found " $4 " points, the first way " points > "/dev/stderr"; wrong = 1; exit 1 }
    !($1 in count) { order[++ways] = $1 }
    { rate[$1, $2] = $5; count[$1]++ }
    END {
        if (wrong) exit 1
        first = order[1]
        printf "%d tasks, %d ranks, rounds: %d\n\n", tasks, ranks, count[first]
        printf "| way | tasks per second | lowest to highest | ratio to %s |\n|---|---|---|---|\n", first
        for (w = 1; w <= ways; w++) {
            way = order[w]
            for (r = 1; r <= count[way]; r++) {
                rates[r] = rate[way, r]
                ratios[r] = rate[first, r] > 0 ? rate[way, r] / rate[first, r] : 0
            }
            half = middle(rates, count[way])
            printf "| %s | %d | %d to %d | %.2f |\n", way, half, rates[1], rates[count[way]], middle(ratios, count[way])
        }
    }' "$work/all"
