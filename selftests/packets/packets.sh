#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Packet conformance of rdma_inc.ko. A bridge host and three hosts without rxe
# and without addresses: Python plays every member by raw sockets, as an
# independent RoCEv2 endpoint.
#
#   packets.sh [SEED=N] [ONLY=PATTERN] [PIECES=PERCENT] [FAMILIES=one] [VERBOSE=1]
#
#   FAMILIES    "one": what runs over IPv4 and IPv6 runs over one of them, by the seed
#   PIECES      so many packets in a hundred come in page fragments, cut anywhere
#   INC_MODULE  module to load (default build/BACKEND/kernel/rdma_inc.ko)

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"

SUITE_NEEDS="ethtool python3-yaml python3-scapy"

make_ns()
{
	ip netns add "$TOPO-$1"
	ip netns exec "$TOPO-$1" sysctl -qw net.ipv6.conf.all.accept_dad=0 \
		net.ipv6.conf.default.accept_dad=0
	ip -n "$TOPO-$1" link set lo up
}

# make_switch NAME DEV: with the addresses that members use
make_switch()
{
	ip -n "$TOPO-$1" addr add 10.99.0.1/16 dev "$2"
	ip -n "$TOPO-$1" addr add 10.99.0.2/16 dev "$2"
	ip -n "$TOPO-$1" addr add fd00:99::1/64 dev "$2" nodad
	ip -n "$TOPO-$1" addr add fd00:99::2/64 dev "$2" nodad
	ip -n "$TOPO-$1" link set "$2" up
}

# link_host HOST DEV SWITCH DEV: a raw end, without addresses
link_host()
{
	ip link add "$4" mtu 9000 netns "$TOPO-$3" type veth \
		peer name "$2" mtu 9000 netns "$TOPO-$1"
	ip netns exec "$TOPO-$1" sysctl -qw "net.ipv6.conf.$2.disable_ipv6=1"
	# Fill in UDP checksums here; a veth's peer does not miss them.
	ip netns exec "$TOPO-$3" ethtool -K "$4" tx off
	ip -n "$TOPO-$1" link set "$2" up
}

suite_up()
{
	local h

	make_ns sw || return
	make_ns sw2
	ip -n "$TOPO-sw" link add br0 mtu 9000 type bridge mcast_snooping 0
	make_switch sw br0
	# Examine every packet separately.
	ip -n "$TOPO-sw" link set br0 gso_max_segs 1
	for h in 0 1 2; do
		make_ns "h$h"
		link_host "h$h" eth0 sw "v$h"
		ip -n "$TOPO-sw" link set "v$h" master br0 up
	done
	# Another bridge, with guests.
	ip -n "$TOPO-sw" link add br1 mtu 9000 type bridge mcast_snooping 0
	ip -n "$TOPO-sw" addr add 10.98.0.1/24 dev br1
	ip -n "$TOPO-sw" addr add fd00:98::1/64 dev br1 nodad
	ip -n "$TOPO-sw" link set br1 up
	link_host h0 eth2 sw v3
	ip -n "$TOPO-sw" link set v3 master br1 up
	link_host h0 eth1 sw2 v0
	make_switch sw2 v0
	ip -n "$TOPO-sw2" link set v0 gso_max_segs 1
}

suite_down()
{
	local ns

	for ns in $(ip netns list | grep -o "^$TOPO-[^ ]*"); do
		ip netns del "$ns"
	done
}

part_all()
{
	export INC_NET=$TOPO INC_PIECES=${PIECES:-0} \
		INC_SPEC=$ROOT/Documentation/netlink/specs/rdma-inc.yaml
	PYTHONDONTWRITEBYTECODE=1 ktap_run "the packet tests" \
		python3 "$ROOT/selftests/packets/run.py" \
		SEED="$SEED" ${ONLY:+"ONLY=$ONLY"} \
		${FAMILIES:+"FAMILIES=$FAMILIES"} ${VERBOSE:+"VERBOSE=$VERBOSE"}
}

suite all
