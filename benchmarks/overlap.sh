#!/usr/bin/env bash
# Runs `ferro bench overlap` on two hosts made of network namespaces, with one rank and one core each and a link of a given rate.
# Needs root, iproute2 (ip, tc) and a kernel with tbf. Removes the hosts at the end. With "shm" instead of a rate, it runs four
# ranks that share memory on two cores, where no communication can be hidden; this needs only taskset.
#
#   benchmarks/overlap.sh 1gbit                         defaults of `ferro bench overlap`
#   benchmarks/overlap.sh 5gbit --computing busy        arguments after the rate go to `ferro bench overlap`
#   benchmarks/overlap.sh shm --computing busy          four ranks on two cores
#   benchmarks/overlap.sh 1gbit djl 30 128              steps of a DJL model (docs/djl.md builds it): 30 of 128 samples a rank
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ferro=$here/../ferro

rate=${1:-}
if [ "$rate" = shm ]; then
    exec taskset -c 0,1 "$ferro" bench overlap -n 4 --links shm "${@:2}"
fi
if [[ ! $rate =~ ^[0-9]+(mbit|gbit)$ ]]; then
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2
    exit 2
fi
shift
. "$here/hosts.sh"
work=$(mktemp -d)
other=
clean_up() {
    [ -z "$other" ] || kill "$other" 2>/dev/null || true
    remove_hosts
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP
make_hosts "$rate"

secret=$work/secret
(umask 077 && head -c 32 /dev/urandom | base64 >"$secret")
"$ferro" --version >/dev/null
host() {
    local number=$1
    shift
    if [ "${1:-}" = djl ]; then
        local djl=$here/../adapters/djl/target
        on_host "$number" run --backend tcp -cp "$djl/test-classes:$djl/classes:$(cat "$djl/class-path")" -- \
            ferro.djl.example.LayerSteps "${@:2}"
    else
        on_host "$number" bench overlap -- --links tcp "$@"
    fi
}
host 1 "$@" >"$work/other" 2>&1 &
other=$!
if ! (host 0 "$@"); then
    echo "overlap: the other host said:" >&2
    cat "$work/other" >&2
    exit 1
fi
