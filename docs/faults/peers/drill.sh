#!/usr/bin/env bash
# The drill of docs/faults.md on Gloo, Open MPI and MPICH, as far as they are installed: what the other ranks of four meet when
# one is killed, stopped, leaves or makes another call, and when; and what all meet when the network between two hosts breaks, two
# ranks on each. Writes one line a rank. Installs nothing; signals only what it has started; hosts are namespaces, which it removes.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
alone=(kill stop exit count op root)
# between two hosts
apart=(partition oneway down blip loss1 loss5 slow blackhole reset)

usage() {
    cat <<EOF
usage: drill.sh [--runs N] [--out FILE] [--faults A,B,...]
  --runs N    runs of each fault, each with another victim where one rank is hit (default 4)
  --out FILE  where the lines go (default docs/faults/peers.csv)
  --faults    these alone; lines of others stay in FILE
faults: ${alone[*]}
between two hosts, as root: ${apart[*]}
packages (Debian, Ubuntu): g++ libgloo-dev openmpi-bin libopenmpi-dev mpich libmpich-dev; between two hosts nftables and iproute2
EOF
}

runs=4
faults=
out=$here/../peers.csv
# how long a rank is watched that does not answer
watch_millis=15000
# later than any stamp
ever=9e15
while [ $# -gt 0 ]; do
    case $1 in
        --runs) runs=${2:?} ;;
        --out) out=${2:?} ;;
        --faults) faults=${2:?} ;;
        -h | --help) usage && exit 0 ;;
        *) echo "drill: no option \"$1\"" >&2 && usage >&2 && exit 2 ;;
    esac
    shift 2
done
command -v g++ >/dev/null || { echo "drill: nothing can be built, g++ is missing" >&2 && exit 2; }
for fault in ${faults//,/ }; do
    [[ " ${alone[*]} ${apart[*]} " = *" $fault "* ]] || { echo "drill: no fault \"$fault\"" >&2 && usage >&2 && exit 2; }
done
# shellcheck source=docs/faults/peers/hosts.sh
. "$here/hosts.sh"
work=$(mktemp -d)
trap 'remove_hosts; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP

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

# Starts four ranks of peer $1, two on each of two hosts, with folder $2, in the background; for two minutes at most.
start_apart() {
    local enter=(timeout -k 5 120 "$here/enter.sh") at rank
    case $1 in
        gloo)
            mkdir "$2/store"
            for rank in 0 1 2 3; do
                at=${address[rank / 2]}
                "${enter[@]}" "$at" "$work/gloo_drill" sums -1 "$2" "$rank" "$at" >>"$2/launcher" 2>&1 &
                started+=($!)
            done
            ;;
        # ranks that wait yield, as they do with --oversubscribe: the hosts share this machine's cores
        openmpi)
            # what it leaves when it is killed goes with the rest
            TMPDIR=$work "${enter[@]}" "${address[0]}" mpirun.openmpi --allow-run-as-root -n 4 -H "${address[0]}:2,${address[1]}:2" \
                --mca plm_rsh_agent "$here/enter.sh" --mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include wire \
                --mca oob_tcp_if_include wire --mca mpi_yield_when_idle 1 "$work/openmpi_drill" sums -1 "$2" \
                >>"$2/launcher" 2>&1 &
            started+=($!)
            ;;
        # UCX would find that both hosts are one machine
        mpich)
            UCX_TLS=tcp,self UCX_NET_DEVICES=wire "${enter[@]}" "${address[0]}" mpiexec.mpich -n 4 -ppn 2 \
                -hosts "${address[0]},${address[1]}" -iface wire -launcher ssh -launcher-exec "$here/enter.sh" \
                "$work/mpich_drill" sums -1 "$2" >>"$2/launcher" 2>&1 &
            started+=($!)
            ;;
    esac
}

# How many sums rank $2 in folder $1 had between $3 and $4, and when the first of them came.
sums() {
    awk -v from="$3" -v to="$4" \
        '$1 == "sum" && $2 > from && $2 < to { if (!count++) first = $2 } END { printf "%d %.0f\n", count, first }' "$1/rank-$2"
}

# Waits until every rank in folder $1 has failed, has ended, or has had ten sums after $2 where the fault has ended, which $3 says.
watch_apart() {
    local left=1 rank count
    while [ $left = 1 ] && [ $(($(now) - $2)) -lt $watch_millis ]; do
        left=0
        for rank in 0 1 2 3; do
            [ -z "$(line "$1" "$rank" 'error|wrong')" ] && [ -z "${ended[$rank]:-}" ] || continue
            runs_still "${pids[rank]}" || { ended[$rank]=$(now) && continue; }
            read -r count _ <<<"$(sums "$1" "$rank" "$2" $ever)"
            [ -n "$3" ] && [ "$count" -ge 10 ] || left=1
        done
        sleep 0.01
    done
}

# Whether the other host of rank $3, or a rank of it, is named in the text $1 or by the launcher in folder $2.
named_apart() {
    local ranks="rank [23]\\b" host="10\\.77\\.0\\.2|host-b"
    [ "$3" -lt 2 ] || { ranks="rank [01]\\b" && host="10\\.77\\.0\\.1|host-a"; }
    if grep -qiE "$ranks" <<<"$1"; then
        echo yes
    elif grep -qE "$host" <<<"$1"; then
        echo "by address"
    # where there is no launcher, only a rank that has ended has written there; in brackets at the beginning stands who speaks
    elif [[ ! -e $2/store || -n ${ended[$3]:-} ]] && sed -E 's/^(\[[^]]*\] *)+//' "$2/launcher" | grep -iE "$ranks|$host" >/dev/null; then
        echo "by its launcher"
    else
        echo no
    fi
}

# What rank $2 in folder $1 met of a fault that began at $3 and ended at $4 if it did: the columns from "rank" on.
met() {
    local told outcome="no answer" millis= named count first
    told=$(line "$1" "$2" 'error|wrong')
    if [ -n "$told" ]; then
        outcome=$(grep -oE '^(error|wrong)' "$1/rank-$2" | head -1)
        millis=$((${told%%.*} - $3))
        told=${told#* }
    elif [ -n "${ended[$2]:-}" ]; then
        outcome="ended from outside or by a signal"
        millis=$((${ended[$2]} - $3))
    elif [ -n "$4" ]; then
        read -r count first <<<"$(sums "$1" "$2" "$4" $ever)"
        [ "$count" = 0 ] || { outcome="went on" && millis=$((first - $4)); }
        read -r count _ <<<"$(sums "$1" "$2" "$3" "$4")"
        told="$count sums while it lasted"
    fi
    named=$(named_apart "$told" "$1" "$2")
    [ "$outcome" != "went on" ] || named=-
    # of a rank that could not say anything, what its launcher says, or it itself as it ends where it has none
    [ -z "${ended[$2]:-}" ] || told=$(grep -m 1 -iE 'lost|abort|error|signal|exit' "$1/launcher" | tr ',' ' ' || true)
    [ ! -e "$1/store" ] || named=${named/launcher/last words}
    echo "$2,$outcome,$millis,$named,${told:0:160}"
}

# One run between two hosts: peer $1, version $2, fault $3, run $4; fails where there is none to be had.
drill_apart() {
    local folder=$work/run fault=$3 begun over= rank from done=1
    local -a started=() pids=()
    local -A ended=()
    rm -rf "$folder" && mkdir "$folder"
    make_hosts
    start_apart "$1" "$folder"
    from=$(now)
    for rank in 0 1 2 3; do
        while [ -z "$(line "$folder" "$rank" sum)" ] && [ $(($(now) - from)) -lt 30000 ]; do sleep 0.02; done
        pids[rank]=$(line "$folder" "$rank" pid)
    done
    sleep 0.5
    begun=$(now)
    if [ -z "$(line "$folder" 3 sum)" ]; then
        echo "drill: $1 does not add up between two hosts, $fault left out: $(grep -m 1 . "$folder/launcher")" >&2
    elif ! break_network "$fault"; then
        echo "drill: fault $fault left out, this kernel does not have it" >&2
    else
        [ -z "$(lasts "$fault")" ] || { sleep "$(lasts "$fault")" && mend_network "$fault" && over=$(now); }
        watch_apart "$folder" "${over:-$begun}" "$over"
        for rank in 0 1 2 3; do
            echo "$fault,$1,$2,tcp between two hosts,$4,,$(met "$folder" "$rank" "$begun" "$over")" >>"$out"
        done
        echo "drill: $1 $fault run $4 done" >&2
        done=0
    fi
    # the shell says of each that it was killed
    { remove_hosts && wait "${started[@]}" || true; } 2>/dev/null
    return $done
}

# Those faults of $3... that were asked for, on peer $1, version $2.
all() {
    local fault run
    for fault in "${@:3}"; do
        [[ -z "$faults" || ",$faults," = *",$fault,"* ]] || continue
        grep -v "^$fault,$1," "$out" >"$work/others" && cp "$work/others" "$out"
        for run in $(seq "$runs"); do
            if [[ " ${apart[*]} " = *" $fault "* ]]; then
                drill_apart "$1" "$2" "$fault" "$run" || break
            else
                drill "$1" "$2" "$fault" "$run"
            fi
        done
    done
}

[ -n "$faults" ] && [ -e "$out" ] || echo "fault,peer,version,medium,run,victim,rank,outcome,millis,named,text" >"$out"
why=$(no_hosts)
if [ -n "$why" ]; then
    echo "drill: no faults between two hosts (${apart[*]}), left out: $why" >&2
    apart=()
fi
if echo '#include <gloo/allreduce.h>' | g++ -std=c++14 -E -x c++ - >/dev/null 2>&1; then
    g++ -O2 -std=c++14 "$here/gloo_drill.cc" -o "$work/gloo_drill" -lgloo -lpthread
    version=$(dpkg-query -W -f '${Version}' libgloo-dev 2>/dev/null || echo "of unknown version")
    all gloo "$version" "${alone[@]}" "${apart[@]}"
else
    echo "drill: no Gloo here (package libgloo-dev), left out" >&2
fi
if command -v mpicxx.openmpi >/dev/null; then
    OMPI_CXXFLAGS=-O2 mpicxx.openmpi "$here/mpi_drill.cc" -o "$work/openmpi_drill"
    version=$(mpirun.openmpi --version | sed -n '1s/.* //p')
    all openmpi "$version" "${alone[@]}" "${apart[@]}"
    all openmpi-recovery "$version" kill
else
    echo "drill: no Open MPI here (packages openmpi-bin and libopenmpi-dev), left out" >&2
fi
if command -v mpicxx.mpich >/dev/null; then
    mpicxx.mpich -O2 "$here/mpi_drill.cc" -o "$work/mpich_drill"
    version=$(mpiexec.mpich --version | sed -n 's/ *Version: *//p')
    all mpich "$version" "${alone[@]}" "${apart[@]}"
    all mpich-no-cleanup "$version" kill
else
    echo "drill: no MPICH here (packages mpich and libmpich-dev), left out" >&2
fi
