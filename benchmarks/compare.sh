#!/usr/bin/env bash
# Measures ferro and every other library that is here in turns, and writes raw.csv, ratios.csv, ratios.md and charts. Installs
# nothing. How the libraries are asked: peers/README.md; what the figures mean: docs/performance/README.md.
set -euo pipefail

usage() {
    cat <<EOF
usage: compare.sh [OPTIONS]      measure, then report on all results in the same folder
       compare.sh --report [--out DIR]     report only
       compare.sh --list         list the installed libraries, and what the others need
  --ranks LIST        world sizes (default 2)
  --collectives LIST  allreduce (default), broadcast, reduce, allgather, reducescatter, gather, scatter, alltoall, scan, barrier; or all
  --sizes LIST        sizes (default 4,64,1KiB,4KiB,16KiB,64KiB,256KiB,1MiB,4MiB,16MiB,64MiB)
  --rounds N          rounds; each round measures all contestants (default 7)
  --time TIME         measuring time per contestant, size and round (default 60ms)
  --ferro LIST        kinds of ferro: tcp, shm, shm-plain (without the Vector API), simulated (threads of one JVM); the suffix
                      -shared selects tensors of group.allocate; tcp+allReduce=ring uses that algorithm (default tcp,shm)
  --jdks LIST         major versions of JDKs that ferro runs on (default: the version of JAVA_HOME, else the newest)
  --peers LIST        openmpi-shm, openmpi-tcp, openmpi-tcp-reno, mpich-shm, mpich-tcp, gloo-tcp, torch-tcp, mpj-shm, mpj-tcp;
                      or all (default: all installed ones), none
  --out DIR           folder to which the results are added (default benchmarks/target/compare)
EOF
}

home=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
here=$home/benchmarks
built=$here/target/peers
mpj=/usr/share/mpj/lib
log4j=/usr/share/java/log4j-1.2.jar
all_peers=openmpi-shm,openmpi-tcp,openmpi-tcp-reno,mpich-shm,mpich-tcp,gloo-tcp,torch-tcp,mpj-shm,mpj-tcp
all_collectives=allreduce,broadcast,reduce,allgather,reducescatter,gather,scatter,alltoall,barrier

give_up() {
    printf 'compare: %s\n' "$@" >&2
    exit 2
}

# Home of a JDK of that major version: JAVA_HOME, or one where distributions put them.
jdk_home() {
    local jdk
    for jdk in "${JAVA_HOME:-/nowhere}" /usr/lib/jvm/*; do
        if [ -x "$jdk/bin/javac" ] && grep -q "^JAVA_VERSION=\"$1[.\"]" "$jdk/release" 2>/dev/null; then
            echo "$jdk"
            return
        fi
    done
    give_up "found no JDK $1 in JAVA_HOME nor under /usr/lib/jvm"
}

# The JDK that ./ferro would choose, by its major version.
default_jdk() {
    local jdk
    for jdk in ${JAVA_HOME:-/usr/lib/jvm/*}; do
        if [ -x "$jdk/bin/javac" ]; then sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$jdk/release"; fi
    done | sort -n | tail -n 1
}

# The Python that has torch; several may be on the path.
torch_python() {
    local python
    for python in python3 /usr/bin/python3; do
        if "$python" -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("torch") is None)' 2>/dev/null; then
            command -v "$python"
            return
        fi
    done
    return 1
}

# Whether a compiler of MPI programs finds mpi.h: the packages without it may bring the compiler's command too.
has_mpi_header() {
    echo '#include <mpi.h>' | "$1" -E -x c++ - >/dev/null 2>&1
}

# What Debian calls what is missing for a peer; nothing if it can run.
missing() {
    case $1 in
        openmpi-*)
            command -v mpirun.openmpi >/dev/null || echo openmpi-bin
            has_mpi_header mpicxx.openmpi || echo libopenmpi-dev
            command -v g++ >/dev/null || echo g++
            ;;
        mpich-*)
            command -v mpiexec.mpich >/dev/null || echo mpich
            has_mpi_header mpicxx.mpich || echo libmpich-dev
            command -v g++ >/dev/null || echo g++
            ;;
        gloo-tcp)
            command -v g++ >/dev/null || echo g++
            [ -e /usr/include/gloo/allreduce.h ] || [ -e /usr/local/include/gloo/allreduce.h ] || echo libgloo-dev
            ;;
        torch-tcp) torch_python >/dev/null || echo python3-torch ;;
        mpj-*)
            [ -e "$mpj/starter.jar" ] || echo libmpj-java
            [ -e "$log4j" ] || echo liblog4j1.2-java
            ;;
        *) give_up "no peer \"$1\": use one of $all_peers" ;;
    esac
    if [ "$1" = openmpi-tcp-reno ] && ! in_reno true 2>/dev/null; then
        echo "(needs unshare, ip and the right to make a network of its own: run as root)"
    fi
}

# Runs a command in a network of its own, where loopback's congestion control is reno and not the system's.
in_reno() {
    unshare --net sh -c 'ip link set lo up && echo reno >/proc/sys/net/ipv4/tcp_congestion_control && exec "$@"' in_reno "$@"
}

# Builds a peer outside the source tree, and anew only when a source is newer.
build() {
    local program=$built/$1 source=$2
    shift 2
    if [ ! "$program" -nt "$here/peers/$source" ] || [ ! "$program" -nt "$here/peers/peer.h" ]; then
        echo "compare: building $(basename "$program")" >&2
        mkdir -p "$built"
        "$@"
    fi
}

build_peer() {
    local flags="-O3 -march=native -std=c++14"
    # shellcheck disable=SC2086 # one argument per flag
    case $1 in
        openmpi-*) build mpi.openmpi mpi.cc mpicxx.openmpi $flags "$here/peers/mpi.cc" -o "$built/mpi.openmpi" ;;
        mpich-*) build mpi.mpich mpi.cc mpicxx.mpich $flags "$here/peers/mpi.cc" -o "$built/mpi.mpich" ;;
        gloo-tcp) build gloo gloo.cc g++ $flags "$here/peers/gloo.cc" -o "$built/gloo" -lgloo -lpthread ;;
        mpj-*) build MpjExpress.class MpjExpress.java "$JAVA_HOME/bin/javac" --release 17 -cp "$mpj/mpj.jar:$mpj/mpi.jar" \
            -d "$built" "$here/peers/MpjExpress.java" ;;
    esac
}

# MPJ Express over shared memory: all ranks are threads of one JVM.
start_mpj_threads() {
    export MPJ_HOME=${mpj%/lib}
    exec "$JAVA_HOME/bin/java" -cp "$mpj/smpdev.jar:$mpj/xdev.jar:$mpj/mpjbuf.jar:$mpj/loader2.jar:$mpj/starter.jar:$mpj/mpiExp.jar:$log4j" \
        runtime.starter.MulticoreStarter "$built" "$2" smpdev useLocalLoader "$built:$log4j" MpjExpress "$1"
}

# MPJ Express over TCP: its starter asks its daemon for processes; both write logs beside their libraries, thus a home of links.
start_mpj_processes() {
    local daemon port
    port=$(sed -n 's/^mpjexpress.mpjdaemon.port.1=//p' "${mpj%/lib}/conf/mpjexpress.conf")
    mkdir -p "$1/mpj/logs"
    ln -s "$mpj" "$1/mpj/lib"
    ln -s "${mpj%/lib}/conf" "$1/mpj/conf"
    export MPJ_HOME=$1/mpj PATH=$JAVA_HOME/bin:$PATH
    cd "$1"
    echo localhost >machines
    java -cp "$mpj/*:$log4j" runtime.daemon.MPJDaemon "$port" &
    daemon=$!
    until (: <"/dev/tcp/localhost/$port") 2>/dev/null; do sleep 0.2; done
    java -cp "$mpj/*:$log4j" runtime.starter.MPJRun -np "$2" -dev niodev -cp "$built:$log4j" MpjExpress "$1" || true
    kill $daemon
}

# Ferro as ./ferro starts it; "plain" without what the launcher adds for Java, which is the Vector API.
start_ferro() {
    local options=() program=(ferro.benchmarks.BenchServer "$2") count=$3 only=${1#*+}
    case $1 in
        ferro-tcp*) options=(--backend tcp -J-Dferro.links=tcp) ;;
        ferro-shm*) options=(--backend shm) ;;
        ferro-simulated*) options=(--no-bind) program+=("$3") count=1 ;;
        *) give_up "no contestant $1" ;;
    esac
    if [[ $1 = *+*=* ]]; then
        # one algorithm for one kind
        options+=("-J-Dferro.algorithm=$only")
    fi
    if [[ $1 = *-plain ]]; then
        [[ $1 = ferro-shm-plain ]] || give_up "no contestant $1"
        options=(--backend shm --)
        program=("$JAVA_HOME/bin/java" -XX:-UsePerfData -cp "${FERRO_COMPARE_CLASS_PATH:-$(cat "$home/.ferro/stamp")/*}" "${program[@]}")
    fi
    set -- run -n "$count" "${options[@]}" "${program[@]}"
    [ -n "${FERRO_COMPARE_CLASS_PATH:-}" ] || exec "$home/ferro" "$@"
    exec "$JAVA_HOME/bin/java" -cp "$FERRO_COMPARE_CLASS_PATH" ferro.launcher.FerroCommand "$@"
}

# Becomes a contestant. Ranks are bound to cores where there are enough, as ferro's launcher does it.
start() {
    local name=$1 folder=$2 ranks=$3 bind=none rank
    [ "$ranks" -gt "$(nproc)" ] || bind=core
    case $name in
        openmpi-*)
            set -- mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to $bind --mca pml ob1 -np "$ranks"
            case $name in
                *-shm) set -- "$@" --mca btl self,vader ;;
                *) set -- "$@" --mca btl self,tcp --mca btl_tcp_if_include lo ;;
            esac
            [ "$name" != openmpi-tcp-reno ] || in_reno "$@" "$built/mpi.openmpi" "$folder"
            [ "$name" = openmpi-tcp-reno ] || exec "$@" "$built/mpi.openmpi" "$folder"
            ;;
        mpich-shm) exec mpiexec.mpich -bind-to $bind -n "$ranks" "$built/mpi.mpich" "$folder" ;;
        mpich-tcp) exec env UCX_TLS=tcp,self UCX_NET_DEVICES=lo MPIR_CVAR_NOLOCAL=1 \
            mpiexec.mpich -bind-to $bind -n "$ranks" "$built/mpi.mpich" "$folder" ;;
        gloo-tcp)
            mkdir -p "$folder/measured" "$folder/control"
            for rank in $(seq 1 $((ranks - 1))); do "$built/gloo" "$folder" "$rank" "$ranks" & done
            "$built/gloo" "$folder" 0 "$ranks"
            wait
            ;;
        torch-tcp)
            for rank in $(seq 1 $((ranks - 1))); do "$(torch_python)" "$here/peers/torch_gloo.py" "$folder" "$rank" "$ranks" & done
            "$(torch_python)" "$here/peers/torch_gloo.py" "$folder" 0 "$ranks"
            wait
            ;;
        mpj-shm) start_mpj_threads "$folder" "$ranks" ;;
        mpj-tcp) start_mpj_processes "$folder" "$ranks" ;;
        ferro-*@*)
            JAVA_HOME=$(jdk_home "${name##*@}")
            export JAVA_HOME
            start_ferro "${name%@*}" "$folder" "$ranks"
            ;;
        *) give_up "no contestant $name" ;;
    esac
}

if [ "${1:-}" = --start ]; then
    start "$2" "$3" "$4"
    exit
fi

ferro=tcp,shm
peers=
jdks=
out=$here/target/compare
report=
options=()
while [ $# -gt 0 ]; do
    case $1 in
        --list)
            for peer in ${all_peers//,/ }; do
                needs=$(missing "$peer" | tr '\n' ' ')
                [ -z "$needs" ] && echo "$peer: here" || echo "$peer: missing (apt-get install) ${needs% }"
            done
            exit
            ;;
        --report) report=yes && shift && continue ;;
        -h | --help) usage && exit ;;
        --collectives) [ "${2:?}" = all ] && options+=("$1" $all_collectives) || options+=("$1" "$2") ;;
        --ranks | --sizes | --rounds | --time) options+=("$1" "${2:?}") ;;
        --ferro) ferro=${2:?} ;;
        --jdks) jdks=${2:?} ;;
        --peers) peers=${2:?} ;;
        --out) out=${2:?} ;;
        *) echo "compare: no option \"$1\"" >&2 && usage >&2 && exit 2 ;;
    esac
    shift 2
done

# What was asked for by name must be here; of all, those that are here take part, and the others are named.
contestants=
for peer in $([ "$peers" = none ] || tr ',' ' ' <<<"$([ "${peers:-all}" = all ] && echo "$all_peers" || echo "$peers")"); do
    needs=$(missing "$peer" | tr '\n' ' ')
    if [ -z "$needs" ]; then
        contestants=$contestants,$peer
    elif [ "${peers:-all}" = all ]; then
        echo "compare: without $peer, missing: $needs(Debian, Ubuntu: apt-get install)" >&2
    else
        give_up "cannot run $peer, missing: $needs(Debian, Ubuntu: apt-get install)"
    fi
done
for jdk in $(tr ',' ' ' <<<"${jdks:-$(default_jdk)}"); do
    jdk_home "$jdk" >/dev/null
    for kind in $([ "$ferro" = none ] || tr ',' ' ' <<<"$ferro"); do
        contestants=$contestants,ferro-$kind@$jdk
    done
done
JAVA_HOME=$(jdk_home "$(tr ',' '\n' <<<"${jdks:-$(default_jdk)}" | sort -n | tail -n 1)")
export JAVA_HOME
if [ -z "${FERRO_COMPARE_CLASS_PATH:-}" ]; then
    "$home/ferro" --version >/dev/null
    library="$(cat "$home/.ferro/stamp")/*"
fi
if [ -z "$report" ]; then
    for peer in ${contestants//,/ }; do build_peer "$peer"; done
    options+=(--starter "${BASH_SOURCE[0]}" --contestants "${contestants#,}")
fi
mkdir -p "$out"
exec "$JAVA_HOME/bin/java" -XX:-UsePerfData -Djava.awt.headless=true -cp "${FERRO_COMPARE_CLASS_PATH:-$library}" \
    ferro.benchmarks.compare.Comparison --out "$out" ${options[@]+"${options[@]}"}
