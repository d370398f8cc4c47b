# Read by the scripts beside: two hosts made of network namespaces, joined by a link of a given rate, a rank and a core each. Needs
# root, iproute2 (ip, tc) and a kernel with tbf. Whoever calls make_hosts calls remove_hosts at its end.

names=(ferro-bench-$$-a ferro-bench-$$-b)

# Makes both, joined at rate $1, such as 1gbit; ends the script with 2 where that cannot be.
make_hosts() {
    if [ "$(id -u)" != 0 ] || ! command -v ip >/dev/null || ! command -v tc >/dev/null; then
        echo "$(basename "$0"): need root and iproute2 to make two hosts, found user $(id -un)" >&2
        exit 2
    fi
    local name host
    for name in "${names[@]}"; do
        ip netns add "$name"
    done
    ip link add wire netns "${names[0]}" type veth peer name wire netns "${names[1]}"
    for host in 0 1; do
        ip -n "${names[host]}" address add "10.77.0.$((host + 1))/24" dev wire
        ip -n "${names[host]}" link set lo up
        ip -n "${names[host]}" link set wire up
        ip netns exec "${names[host]}" tc qdisc add dev wire root tbf rate "$1" burst 256kb latency 50ms
    done
}

remove_hosts() {
    local name
    for name in "${names[@]}"; do
        ip netns delete "$name" 2>/dev/null || true
    done
}

# Becomes `ferro $2 ...` as the one rank of host $1, by the secret in file $secret; words behind "--" go behind those of the launcher.
# Shared memory is that of one machine, which the two hosts are not.
on_host() {
    local number=$1 command=()
    shift
    while [ "$1" != -- ]; do
        command+=("$1")
        shift
    done
    shift
    FERRO_LINKS=tcp FERRO_HOST=bench-$number exec ip netns exec "${names[number]}" taskset -c "$((number % $(nproc)))" \
        "$ferro" "${command[@]}" -n 1 --nodes 2 --node-rank "$number" --master 10.77.0.1:29555 --secret-file "$secret" "$@"
}
