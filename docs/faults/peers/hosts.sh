# For drill.sh: two hosts made of namespaces, joined by a switch, and what happens to the network between them. A host has a network
# and a host name of its own; files and numbers of processes are those of this machine.

address=([0]=10.77.0.1 [1]=10.77.0.2)
letter=([0]=a [1]=b)
FERRO_PEERS=ferro-peers-$$
export FERRO_PEERS

# What keeps hosts from being made here; nothing where they can be.
no_hosts() {
    local tool
    [ "$(id -u)" = 0 ] || { echo "they need root" && return; }
    for tool in ip nft ss tc nsenter unshare timeout; do
        command -v "$tool" >/dev/null || { echo "$tool is missing" && return; }
    done
    ip netns add "$FERRO_PEERS-a" 2>/dev/null || { echo "no network namespace can be made" && return; }
    ip netns exec "$FERRO_PEERS-a" nft list ruleset >/dev/null 2>&1 || echo "nft cannot be used"
    remove_hosts
}

make_hosts() {
    local host
    ip netns add "$FERRO_PEERS-switch"
    ip -n "$FERRO_PEERS-switch" link add between type bridge
    ip -n "$FERRO_PEERS-switch" link set between up
    for host in 0 1; do
        ip netns add "$FERRO_PEERS-${letter[host]}"
        ip -n "$FERRO_PEERS-switch" link add "port$host" type veth peer name wire netns "$FERRO_PEERS-${letter[host]}"
        ip -n "$FERRO_PEERS-switch" link set "port$host" up master between
        ip -n "$FERRO_PEERS-${letter[host]}" address add "${address[host]}/24" dev wire
        ip -n "$FERRO_PEERS-${letter[host]}" link set lo up
        ip -n "$FERRO_PEERS-${letter[host]}" link set wire up
    done
}

# Ends what runs on the hosts, and the hosts.
remove_hosts() {
    local place pid
    for place in a b switch; do
        [ -e "/run/netns/$FERRO_PEERS-$place" ] || continue
        # twice: what was about to start something has by then
        for pid in $(ip netns pids "$FERRO_PEERS-$place") $(sleep 0.1 && ip netns pids "$FERRO_PEERS-$place"); do
            kill -9 "$pid" 2>/dev/null || true
        done
        ip netns delete "$FERRO_PEERS-$place" || true
    done
}

# Runs a tool in the network of place $1.
at_place() {
    nsenter --net="/run/netns/$FERRO_PEERS-$1" "${@:2}"
}

# Has place $1 drop what comes in and is as the rule $2 says; all of it without one.
drop() {
    at_place "$1" nft "table inet faults { chain in { type filter hook input priority 0; iifname wire ${2:-} drop; }; }"
}

# How long, in seconds, fault $1 lasts; nothing where it does not end.
lasts() {
    case $1 in
        blip | slow) echo 2 ;;
        down | blackhole) echo 1.5 ;;
        loss1 | loss5) echo 3 ;;
    esac
}

# Lets fault $1 begin; fails where this kernel does not have it.
break_network() {
    case $1 in
        partition) drop a && drop b ;;
        oneway) drop a ;;
        down) at_place b ip link set wire down ;;
        blip) at_place switch ip link set port1 nomaster ;;
        loss1) drop a "numgen random mod 100 < 1" && drop b "numgen random mod 100 < 1" ;;
        loss5) drop a "numgen random mod 100 < 5" && drop b "numgen random mod 100 < 5" ;;
        slow) at_place a tc qdisc add dev wire root tbf rate 1mbit burst 10kb latency 400ms ;;
        blackhole) drop a "ip length > 1000" && drop b "ip length > 1000" ;;
        reset) [ -n "$(at_place a ss -H -t -K dst "${address[1]}")" ] ;;
    esac
}

# Ends fault $1.
mend_network() {
    case $1 in
        down) at_place b ip link set wire up ;;
        blip) at_place switch ip link set port1 master between ;;
        slow) at_place a tc qdisc delete dev wire root ;;
        *) at_place a nft flush ruleset && at_place b nft flush ruleset ;;
    esac
}
