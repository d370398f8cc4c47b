#!/usr/bin/env bash
# Measures what docs/performance/README.md promises, in pieces of less than 100 s, each added to the same folder, and prints
# the table of targets.
#   benchmarks/targets.sh PIECE...     shm-small shm-large shm-3 shm-4 tcp-small tcp-large tcp-4 moves-shm moves-tcp simulated
#   benchmarks/targets.sh table        the table of all that was measured
#   benchmarks/targets.sh memory | start-up | demo
# OUT is the folder (default benchmarks/target/targets), JDKS the major versions of JDKs (default 25,17), ROUNDS how often (7).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
home=$(cd "$here/.." && pwd)
out=${OUT:-$here/target/targets}
jdks=${JDKS:-25,17}
rounds=${ROUNDS:-7}

# Prints nothing but what happened; the tables come at the end.
compare() {
    "$here/compare.sh" --out "$out" --jdks "$jdks" --rounds "$rounds" --time 50ms "$@" >/dev/null
}

# Peak resident memory of a rank, beyond the tensor of 64 MiB that the program makes, by the kernel's count (VmHWM).
memory() {
    local ranks=8 program
    program=$(mktemp -d)
    cat >"$program/Memory.java" <<'JAVA'
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.nio.file.Files;
import java.nio.file.Path;

public class Memory {
    public static void main(String[] words) throws Exception {
        float[] tensor = new float[words.length == 0 ? 16 << 20 : Integer.parseInt(words[0])];
        try (ProcessGroup group = ProcessGroup.join()) {
            for (int call = 0; call < 3; call++) {
                group.allReduce(tensor, ReduceOp.MAX);
            }
            group.barrier();
            for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
                if (line.startsWith("VmHWM") || line.startsWith("Rss")) {
                    System.out.println(line);
                }
            }
            group.barrier();
        }
    }
}
JAVA
    for elements in 1 16777216; do
        for links in auto tcp; do
            echo "$ranks ranks, all-reduce of $elements f32, ferro.links=$links: most of a rank"
            "$home/ferro" run -n "$ranks" -J-Dferro.links=$links -J-Xms96m -J-Xmx96m -J-Xmn8m "$program/Memory.java" "$elements" 2>/dev/null |
                sed 's/^[^VR]*//' | awk '{ if ($2 > most[$1]) most[$1] = $2 } END { for (name in most) print "  " name, most[name], "kB" }'
        done
    done
    rm -rf "$program"
}

# From the command to its end, of ranks that join and leave; what is kept warm is what a second start finds warm.
start_up() {
    local program times=()
    program=$(mktemp -d)
    cat >"$program/Empty.java" <<'JAVA'
import ferro.group.ProcessGroup;

public class Empty {
    public static void main(String[] words) {
        ProcessGroup.join().close();
    }
}
JAVA
    "$JAVA_HOME/bin/javac" -cp "$(cat "$home/.ferro/stamp")/*" -d "$program" "$program/Empty.java"
    for _ in $(seq "$rounds"); do
        start=$(date +%s%N)
        "$home/ferro" run -n 4 -cp "$program" Empty >/dev/null 2>&1
        times+=($((($(date +%s%N) - start) / 1000000)))
    done
    echo "ferro run -n 4 of an empty program, JDK $(sed -n 's/^JAVA_VERSION="\(.*\)"/\1/p' "$JAVA_HOME/release"), ms:" \
        "$(printf '%s\n' "${times[@]}" | sort -n | tr '\n' ' ')"
}

# The demo's own line about the share of communication, over TCP and over what the ranks choose.
demo() {
    for links in tcp auto; do
        echo "ferro demo, ferro.links=$links"
        FERRO_LINKS=$links "$home/ferro" demo 2>/dev/null | grep -i communicat || true
    done
}

for piece in "$@"; do
    case $piece in
        shm-small) compare --ferro shm,shm-plain --peers openmpi-shm,mpich-shm \
            --collectives barrier,allreduce --sizes 4,64,1KiB,16KiB ;;
        shm-large) compare --ferro shm,shm-plain,shm-shared,shm-plain-shared --peers openmpi-shm,mpich-shm \
            --sizes 64KiB,256KiB,1MiB,4MiB,16MiB,64MiB ;;
        shm-3 | shm-4) compare --ferro shm --peers openmpi-shm --ranks "${piece#shm-}" \
            --sizes 4,1KiB,16KiB,64KiB,256KiB,1MiB,4MiB,16MiB,64MiB ;;
        tcp-small) compare --ferro tcp --peers openmpi-tcp,openmpi-tcp-reno,mpich-tcp,gloo-tcp --sizes 4,64,1KiB,16KiB,64KiB ;;
        tcp-large) compare --ferro tcp --peers openmpi-tcp,openmpi-tcp-reno,mpich-tcp,gloo-tcp \
            --sizes 256KiB,1MiB,4MiB,16MiB,64MiB ;;
        tcp-4) compare --ferro tcp --peers openmpi-tcp,gloo-tcp --ranks 4 --sizes 4,1KiB,16KiB,64KiB,256KiB,1MiB,16MiB,64MiB ;;
        moves-shm) compare --ferro shm --peers openmpi-shm,mpich-shm \
            --collectives broadcast,allgather,reducescatter,alltoall --sizes 1KiB,64KiB,1MiB,16MiB ;;
        moves-tcp) compare --ferro tcp --peers openmpi-tcp,mpich-tcp,gloo-tcp \
            --collectives broadcast,allgather,reducescatter,alltoall --sizes 1KiB,64KiB,1MiB,16MiB ;;
        simulated) compare --ferro simulated,shm --peers none --sizes 64KiB,1MiB,4MiB,16MiB,64MiB ;;
        table)
            "$here/compare.sh" --report --out "$out" >/dev/null
            cat "$out/targets.md"
            ;;
        memory) memory ;;
        start-up) start_up ;;
        demo) demo ;;
        *) echo "targets: no piece \"$piece\"; see the head of this file" >&2 && exit 2 ;;
    esac
done
