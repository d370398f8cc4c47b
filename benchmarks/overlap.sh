#!/usr/bin/env bash
# Measures `ferro bench overlap` between two hosts made of network namespaces, a rank and a core each, joined by a link of a given
# rate. Needs root, iproute2 (ip, tc) and a kernel with tbf; leaves nothing behind. With "shm" in place of a rate: four ranks on two
# cores that share memory, where nothing can be hidden; needs taskset alone.
#
#   benchmarks/overlap.sh 1gbit                         defaults of `ferro bench overlap`
#   benchmarks/overlap.sh 5gbit --computing busy        what is behind the rate goes to `ferro bench overlap`
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
if [ "$(id -u)" != 0 ] || ! command -v ip >/dev/null || ! command -v tc >/dev/null; then
    echo "overlap: need root and iproute2 to make two hosts, found user $(id -un)" >&2
    exit 2
fi

work=$(mktemp -d)
names=(ferro-overlap-$$-a ferro-overlap-$$-b)
other=
clean_up() {
    [ -z "$other" ] || kill "$other" 2>/dev/null || true
    for name in "${names[@]}"; do
        ip netns delete "$name" 2>/dev/null || true
    done
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

for name in "${names[@]}"; do
    ip netns add "$name"
done
ip link add wire netns "${names[0]}" type veth peer name wire netns "${names[1]}"
for host in 0 1; do
    ip -n "${names[host]}" address add "10.77.0.$((host + 1))/24" dev wire
    ip -n "${names[host]}" link set lo up
    ip -n "${names[host]}" link set wire up
    ip netns exec "${names[host]}" tc qdisc add dev wire root tbf rate "$rate" burst 256kb latency 50ms
done

(umask 077 && head -c 32 /dev/urandom | base64 >"$work/secret")
"$ferro" --version >/dev/null
# shared memory is that of one machine, which the two hosts are not
host() {
    local number=$1
    shift
    local program=(bench overlap) behind=(--links tcp "$@")
    if [ "${1:-}" = djl ]; then
        local djl=$here/../adapters/djl/target
        program=(run --backend tcp -cp "$djl/test-classes:$djl/classes:$(cat "$djl/class-path")")
        behind=(ferro.djl.example.LayerSteps "${@:2}")
    fi
    FERRO_LINKS=tcp FERRO_HOST=overlap-$number exec ip netns exec "${names[number]}" taskset -c "$((number % $(nproc)))" \
        "$ferro" "${program[@]}" -n 1 --nodes 2 --node-rank "$number" --master 10.77.0.1:29555 --secret-file "$work/secret" \
        "${behind[@]}"
}
host 1 "$@" >"$work/other" 2>&1 &
other=$!
if ! (host 0 "$@"); then
    echo "overlap: the other host said:" >&2
    cat "$work/other" >&2
    exit 1
fi
