#!/usr/bin/env bash
# The drill of docs/faults.md on Gloo, Open MPI and MPICH, as far as they are installed: what the other ranks of four meet when
# one is killed, stopped, leaves or makes another call, and when. Writes one line a surviving rank. Installs nothing; signals only
# what it has started.
set -euo pipefail

usage() {
    cat <<EOF
usage: drill.sh [--runs N] [--out FILE]
  --runs N    runs of each fault, each with another victim (default 4)
  --out FILE  where the lines go (default docs/faults/peers.csv)
packages (Debian, Ubuntu): g++ libgloo-dev openmpi-bin libopenmpi-dev mpich libmpich-dev
EOF
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
runs=4
out=$here/../peers.csv
# how long a rank is watched that does not answer
watch_millis=15000
while [ $# -gt 0 ]; do
    case $1 in
        --runs) runs=${2:?} ;;
        --out) out=${2:?} ;;
        -h | --help) usage && exit 0 ;;
        *) echo "drill: no option \"$1\"" >&2 && usage >&2 && exit 2 ;;
    esac
    shift 2
done
command -v g++ >/dev/null || { echo "drill: nothing can be built, g++ is missing" >&2 && exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

now() {
    echo "${EPOCHREALTIME/./}" | sed 's/...$//'
}

# Whether process $1 runs; one that only waits for its parent to ask does not.
runs_still() {
    [ -n "$1" ] && [ -r "/proc/$1/stat" ] && ! grep -q ') [ZX] ' "/proc/$1/stat" 2>/dev/null
}

# The rest of the first line of rank $2 in folder $1 that begins with one of the words $3.
line() {
    sed -nE "s/^($3) //p;T;q" "$1/rank-$2" 2>/dev/null || true
}

# Whether fault $1 is a call that differs from the others', which ends on its caller too.
mismatch() {
    [ "$1" = count ] || [ "$1" = op ] || [ "$1" = root ]
}

# What carries the data of peer $1: TCP on loopback where it is told so, as Open MPI below, or knows nothing else, as Gloo.
medium() {
    case $1 in
        mpich*) echo default ;;
        *) echo tcp ;;
    esac
}

# Starts four ranks of peer $1 with fault $2, victim $3 and folder $4, in the background.
start() {
    local root=
    [ "$(id -u)" != 0 ] || root=--allow-run-as-root
    local openmpi=(mpirun.openmpi $root --oversubscribe --mca btl "tcp,self" -n 4)
    case $1 in
        gloo)
            mkdir "$4/store"
            for rank in 0 1 2 3; do
                "$work/gloo_drill" "$2" "$3" "$4" "$rank" >>"$4/launcher" 2>&1 &
                started+=($!)
            done
            ;;
        openmpi) "${openmpi[@]}" "$work/openmpi_drill" "$2" "$3" "$4" >>"$4/launcher" 2>&1 & started+=($!) ;;
        openmpi-recovery)
            "${openmpi[@]}" --enable-recovery "$work/openmpi_drill" "$2" "$3" "$4" >>"$4/launcher" 2>&1 &
            started+=($!)
            ;;
        mpich) mpiexec.mpich -n 4 "$work/mpich_drill" "$2" "$3" "$4" >>"$4/launcher" 2>&1 & started+=($!) ;;
        mpich-no-cleanup)
            mpiexec.mpich -disable-auto-cleanup -n 4 "$work/mpich_drill" "$2" "$3" "$4" >>"$4/launcher" 2>&1 &
            started+=($!)
            ;;
    esac
}

# Whether the victim's rank is named, in the text $1 or by the launcher in folder $2; the victim is rank $3.
named() {
    if grep -qiE "rank $3\\b" <<<"$1"; then
        echo yes
    elif grep -qiE "rank $3\\b" "$2/launcher"; then
        echo "by its launcher"
    else
        echo no
    fi
}

# One run: peer $1, version $2, fault $3, run $4.
drill() {
    local folder=$work/run victim=$((($4 + 2) % 4)) fault=$3 at rank told pid outcome
    local -a started=() pids=()
    local -A ended=()
    rm -rf "$folder" && mkdir "$folder"
    start "$1" "$fault" "$victim" "$folder"
    local from
    from=$(now)
    for rank in 0 1 2 3; do
        while [ -z "$(line "$folder" "$rank" going)" ] && [ $(($(now) - from)) -lt 30000 ]; do sleep 0.02; done
        pids[rank]=$(line "$folder" "$rank" pid)
    done
    at=$(now)
    case $fault in
        kill) kill -9 "${pids[victim]}" ;;
        stop) kill -s STOP "${pids[victim]}" ;;
        exit)
            while [ -z "$(line "$folder" "$victim" fault)" ] && [ $(($(now) - at)) -lt 5000 ]; do sleep 0.005; done
            at=$(line "$folder" "$victim" fault | cut -d. -f1)
            ;;
    esac
    local left=1
    while [ $left = 1 ] && [ $(($(now) - at)) -lt $watch_millis ]; do
        left=0
        for rank in 0 1 2 3; do
            [ $rank != $victim ] || mismatch "$fault" || continue
            [ -z "$(line "$folder" "$rank" 'error|success')" ] && [ -z "${ended[$rank]:-}" ] || continue
            if runs_still "${pids[rank]}"; then left=1; else ended[$rank]=$(now); fi
        done
        sleep 0.003
    done
    for rank in 0 1 2 3; do
        [ $rank != $victim ] || mismatch "$fault" || continue
        told=$(line "$folder" "$rank" 'error|success')
        local millis=
        if [ -n "$told" ]; then
            outcome=$(grep -oE '^(error|success)' "$folder/rank-$rank" | head -1)
            [ "$outcome" != success ] || outcome="a number and success"
            ! mismatch "$fault" || at=$(line "$folder" "$rank" going | cut -d. -f1)
            millis=$((${told%%.*} - at))
            told=${told#* }
        elif [ -n "${ended[$rank]:-}" ]; then
            outcome="ended from outside or by a signal"
            millis=$((${ended[$rank]} - at))
        else
            outcome="no answer"
        fi
        echo "$fault,$1,$2,$(medium "$1"),$4,$victim,$rank,$outcome,$millis,$(named "$told" "$folder" "$victim"),${told:0:160}" >>"$out"
    done
    [ "$fault" != stop ] || kill -s CONT "${pids[victim]}" 2>/dev/null || true
    for pid in "${started[@]}" "${pids[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
    wait "${started[@]}" 2>/dev/null || true
    echo "drill: $1 $fault run $4 done" >&2
}

# All faults $3... on peer $1, version $2.
all() {
    local fault run
    for fault in "${@:3}"; do
        for run in $(seq "$runs"); do drill "$1" "$2" "$fault" "$run"; done
    done
}

echo "fault,peer,version,medium,run,victim,rank,outcome,millis,named,text" >"$out"
if echo '#include <gloo/allreduce.h>' | g++ -std=c++14 -E -x c++ - >/dev/null 2>&1; then
    g++ -O2 -std=c++14 "$here/gloo_drill.cc" -o "$work/gloo_drill" -lgloo -lpthread
    version=$(dpkg-query -W -f '${Version}' libgloo-dev 2>/dev/null || echo "of unknown version")
    all gloo "$version" kill stop exit count op root
else
    echo "drill: no Gloo here (package libgloo-dev), left out" >&2
fi
if command -v mpicxx.openmpi >/dev/null; then
    OMPI_CXXFLAGS=-O2 mpicxx.openmpi "$here/mpi_drill.cc" -o "$work/openmpi_drill"
    version=$(mpirun.openmpi --version | sed -n '1s/.* //p')
    all openmpi "$version" kill stop exit count op root
    all openmpi-recovery "$version" kill
else
    echo "drill: no Open MPI here (packages openmpi-bin and libopenmpi-dev), left out" >&2
fi
if command -v mpicxx.mpich >/dev/null; then
    mpicxx.mpich -O2 "$here/mpi_drill.cc" -o "$work/mpich_drill"
    version=$(mpiexec.mpich --version | sed -n 's/ *Version: *//p')
    all mpich "$version" kill stop exit count op root
    all mpich-no-cleanup "$version" kill
else
    echo "drill: no MPICH here (packages mpich and libmpich-dev), left out" >&2
fi
