#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Packet conformance of rdma_inc.ko. A bridge host and three hosts without rxe
# and without addresses: Python plays every member by raw sockets, as an
# independent RoCEv2 endpoint. KTAP on standard output.
# Run by: lab run selftests/packets/packets.sh [SEED=n] [ONLY=pattern]
#
#   INC_MODULE  module to load (default build/BACKEND/kernel/rdma_inc.ko)

set -eu

cd "$(dirname "$0")/../.."
NET=incp$$
NETNS=()

make_ns()
{
	ip netns add "$NET-$1"
	NETNS+=("$NET-$1")
	ip netns exec "$NET-$1" sysctl -qw net.ipv6.conf.all.accept_dad=0 \
		net.ipv6.conf.default.accept_dad=0
	ip -n "$NET-$1" link set lo up
}

# make_switch NAME DEV: with the addresses that members use
make_switch()
{
	ip -n "$NET-$1" addr add 10.99.0.1/16 dev "$2"
	ip -n "$NET-$1" addr add 10.99.0.2/16 dev "$2"
	ip -n "$NET-$1" addr add fd00:99::1/64 dev "$2" nodad
	ip -n "$NET-$1" addr add fd00:99::2/64 dev "$2" nodad
	ip -n "$NET-$1" link set "$2" up
}

# link_host HOST DEV SWITCH DEV: a raw end, without addresses
link_host()
{
	ip link add "$4" mtu 9000 netns "$NET-$3" type veth \
		peer name "$2" mtu 9000 netns "$NET-$1"
	ip netns exec "$NET-$1" sysctl -qw "net.ipv6.conf.$2.disable_ipv6=1"
	ip -n "$NET-$1" link set "$2" up
}

topology()
{
	local h

	make_ns sw
	make_ns sw2
	ip -n "$NET-sw" link add br0 mtu 9000 type bridge mcast_snooping 0
	make_switch sw br0
	# Examine every packet separately.
	ip -n "$NET-sw" link set br0 gso_max_segs 1
	for h in 0 1 2; do
		make_ns "h$h"
		link_host "h$h" eth0 sw "v$h"
		ip -n "$NET-sw" link set "v$h" master br0 up
	done
	# Another bridge, with guests.
	ip -n "$NET-sw" link add br1 mtu 9000 type bridge mcast_snooping 0
	ip -n "$NET-sw" addr add 10.98.0.1/24 dev br1
	ip -n "$NET-sw" addr add fd00:98::1/64 dev br1 nodad
	ip -n "$NET-sw" link set br1 up
	link_host h0 eth2 sw v3
	ip -n "$NET-sw" link set v3 master br1 up
	link_host h0 eth1 sw2 v0
	make_switch sw2 v0
	ip -n "$NET-sw2" link set v0 gso_max_segs 1
}

cleanup()
{
	local ns

	for ns in "${NETNS[@]}"; do
		ip netns del "$ns" || :
	done
	((!loaded)) || rmmod rdma_inc
}

loaded=0
trap cleanup EXIT
if [[ ! -d /sys/module/rdma_inc ]]; then
	kind=${LAB_BACKEND:-uml}

	[ "$kind" != vm ] || kind=host
	insmod "${INC_MODULE:-build/${kind#vm-}/kernel/rdma_inc.ko}"
	loaded=1
fi
topology
export INC_NET=$NET INC_SPEC=Documentation/netlink/specs/rdma-inc.yaml
rc=0
PYTHONDONTWRITEBYTECODE=1 python3 selftests/packets/run.py "$@" || rc=$?
((loaded)) || exit "$rc"
trap - EXIT
if cleanup; then
	echo "ok - the module unloads"
else
	echo "not ok - the module unloads"
	rc=1
fi
exit "$rc"
