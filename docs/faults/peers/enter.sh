#!/usr/bin/env bash
# In place of a remote shell: runs a command on one of the two hosts that hosts.sh has made, named by its address.
# usage: FERRO_PEERS=NAMES enter.sh [-OPTION...] ADDRESS COMMAND...
set -euo pipefail
while [ "${1#-}" != "$1" ]; do shift; done
host=a
[ "$1" = 10.77.0.1 ] || host=b
shift
# ip rather than nsenter: UCX reads the network's devices from /sys. The launchers quote for the shell that ssh would start.
exec ip netns exec "$FERRO_PEERS-$host" unshare --uts \
    sh -c 'echo "$0" >/proc/sys/kernel/hostname && eval "$1"' "host-$host" "$*"
