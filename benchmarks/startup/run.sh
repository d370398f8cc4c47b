#!/usr/bin/env bash
# Measures how long ranks take to start on this machine, beside an MPI program in C and torch.distributed where they are installed.
# Ways of starting take turns. Prints a Markdown table of medians over the rounds.
#
#   benchmarks/startup/run.sh 10                 ten rounds with 1, 2, 4 and 8 ranks
#   benchmarks/startup/run.sh 10 "2 4"           these numbers of ranks
#   benchmarks/startup/run.sh 10 "2 4" "plain"   these ways: ferro (ferro run), plain (java -cp), archive (java -cp with the
#                                                archive of `ferro archive`), mpi (a C program, mpirun), torch
#
# Columns: milliseconds from the start of the command until the last rank has joined; CPU milliseconds of a rank until it has
# joined (median of the ranks); microseconds of the first all-reduce of 4 bytes, from the moment when the last rank called it
# until it has returned on the last rank; microseconds of the second and the hundredth all-reduce (the slowest rank).
# JAVA_HOME sets the JDK. Variables of ferro, such as FERRO_LINKS=tcp, are passed on.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
home=$(cd "$here/../.." && pwd -P)
rounds=${1:-}
if [[ ! $rounds =~ ^[1-9][0-9]*$ ]]; then
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2
    exit 2
fi
numbers=${2:-1 2 4 8}
ways=${3:-ferro plain archive mpi torch}
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
javac=${JAVA_HOME:+$JAVA_HOME/bin/}javac
ferro=$home/ferro

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP

# builds ferro if a source is newer
"$ferro" --version >/dev/null
lib=$(cat "$home/.ferro/stamp")
jars=$(printf '%s:' "$lib"/*.jar | sed 's/:$//')
mkdir "$work/classes"
"$javac" -cp "$jars" -d "$work/classes" "$here/Start.java"
# an archive is of jars only
"${javac%javac}jar" --create --file "$work/start.jar" -C "$work/classes" .
path=$jars:$work/start.jar

has() {
    case $1 in
        # the package of mpirun brings mpicc without mpi.h
        mpi) command -v mpirun.openmpi >/dev/null && echo '#include <mpi.h>' | mpicc.openmpi -x c -E - >/dev/null 2>&1 ;;
        torch) python3 -c 'import torch.distributed' 2>/dev/null ;;
    esac
}

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# Makes the archive, and sets the option of a JVM that uses it.
make_archive() {
    START_NANOS=0 "$ferro" archive -cp "$path" --to "$work/start.jsa" Start >"$work/said" 2>"$work/errors"
    option=$(sed -n 's/^  java \(-XX:[^ ]*\) .*/\1/p' "$work/said")
}

# $1 ranks by hand, with JVM options behind it.
by_hand() {
    local ranks=$1 port rank pids=()
    shift
    port=$(free_port)
    START_NANOS=$(date +%s%N)
    export START_NANOS
    for ((rank = 0; rank < ranks; rank++)); do
        RANK=$rank WORLD_SIZE=$ranks LOCAL_RANK=$rank MASTER_ADDR=127.0.0.1 MASTER_PORT=$port "$java" "$@" -cp "$path" Start &
        pids+=($!)
    done
    wait "${pids[@]}"
}

run() {
    local way=$1 ranks=$2
    case $way in
        plain) by_hand "$ranks" ;;
        archive) by_hand "$ranks" "$option" ;;
        ferro) (cd "$work/classes" && START_NANOS=$(date +%s%N) "$ferro" run -n "$ranks" Start) ;;
        mpi) START_NANOS=$(date +%s%N) mpirun.openmpi --allow-run-as-root --oversubscribe -np "$ranks" "$work/hello" ;;
        torch) torch "$ranks" ;;
    esac
}

torch() {
    local port rank pids=()
    port=$(free_port)
    START_NANOS=$(date +%s%N)
    export START_NANOS
    for ((rank = 0; rank < $1; rank++)); do
        RANK=$rank WORLD_SIZE=$1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port python3 "$here/start.py" &
        pids+=($!)
    done
    wait "${pids[@]}"
}

usable=
for way in $ways; do
    case $way in
        mpi | torch) has "$way" || { echo "startup: no $way here, left out" >&2; continue; } ;;
        archive) make_archive ;;
    esac
    [ "$way" != mpi ] || mpicc.openmpi -O2 "$here/hello.c" -o "$work/hello"
    usable+=" $way"
done

for round in $(seq 0 "$rounds"); do
    for ranks in $numbers; do
        for way in $usable; do
            [ ! -t 2 ] || printf '\rround %d of %d, %d ranks, %-8s' "$round" "$rounds" "$ranks" "$way" >&2
            run "$way" "$ranks" >"$work/said" 2>"$work/errors" ||
                { echo "startup: $way failed with $ranks ranks" >&2; cat "$work/said" "$work/errors" >&2; exit 1; }
            # the round before the first brings files into memory
            [ "$round" = 0 ] || sed -n "s/.*start \([0-9]\)/$way $ranks $round \1/p" "$work/said" >>"$work/all"
        done
    done
done
[ ! -t 2 ] || printf '\r%40s\r' '' >&2

python3 - "$work/all" <<'END'
import collections, statistics, sys

runs = collections.defaultdict(list)
for line in open(sys.argv[1]):
    way, ranks, run, rank, *values = line.split()
    runs[way, int(ranks), int(run)].append([float(value) for value in values])
cells = collections.defaultdict(list)
for (way, ranks, _), values in runs.items():
    joined, cpu, begun, ended, second, hundredth = zip(*values)
    first = max(ended) - max(begun)
    cells[way, ranks].append([max(joined), statistics.median(cpu), first, max(second), max(hundredth)])
print("| start | ranks | joined, ms | CPU of a rank, ms | first call, us | second, us | hundredth, us |")
print("|---|---|---|---|---|---|---|")
for (way, ranks), rows in cells.items():
    print("| %s | %d | %s |" % (way, ranks, " | ".join("%.0f" % statistics.median(column) for column in zip(*rows))))
END
