#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A distribution's own kernel.
#
#   vm.sh demo          the demo, as a user of such a machine runs it (from 7.2)
#   vm.sh [PART...]
#
#   netlink a tree, by inc-tool
#   first   an AllReduce of two ranks whose rxe devices are both in the first
#           network namespace, the only one in which rxe works before 7.2
#   spaces  an AllReduce of two hosts, each in a namespace of its own (from 7.2)

if [ "${1:-}" = demo ]; then
	cd "$(dirname "$0")/../.." || exit 1
	# shellcheck source=selftests/lib/ktap.sh
	. selftests/lib/ktap.sh
	TIMEOUT=900 make demo LAB=host RANKS=2 SIZE=256K
	ktap $? "make demo LAB=host on $(uname -r)"
	[ ! -d /sys/module/rdma_inc ] && [ -z "$(ip netns list)" ]
	ktap $? "which leaves nothing behind"
	ktap_plan
	exit
fi

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"

# first_up: the switch in a namespace; from the first one, a link to it for each
# rank, in a network of its own.
first_up()
{
	local r

	ip netns add "$TOPO-sw" && ip -n "$TOPO-sw" link set lo up || return
	for r in 0 1; do
		ip link add "w$r" type veth peer name "v$r" netns "$TOPO-sw" &&
			ip addr add "10.$TOPO_NET.$r.10/24" dev "w$r" &&
			ip link set "w$r" up &&
			ip -n "$TOPO-sw" addr add "10.$TOPO_NET.$r.1/24" dev "v$r" &&
			ip -n "$TOPO-sw" link set "v$r" up &&
			rdma link add "$TOPO$r" type rxe netdev "w$r" || return
	done
	serve_up
}

first_down()
{
	local r

	serve_down
	for r in 0 1; do
		rdma link del "$TOPO$r"
		ip link del "w$r"
	done
	ip netns del "$TOPO-sw"
}

part_first()
{
	local pids=() r rc=0

	first_up
	ktap $? "two rxe devices in the first network namespace"
	for r in 0 1; do
		inc-perf --server "10.$TOPO_NET.$r.1" --job first --rank $r \
			--ranks 2 --dev "$TOPO$r" --timeout "$(scaled 60000)" \
			--count 5000 -i 3 --check allreduce 2>&1 &
		pids+=($!)
	done
	for r in "${pids[@]}"; do
		wait "$r" || rc=1
	done
	ktap $rc "an AllReduce of two ranks on $(uname -r)"
	wait_for 5 no_tree
	ktap $? "which leaves no tree"
	first_down
}

part_spaces()
{
	topo_up 2 && serve_up
	ktap $? "two hosts in namespaces of their own"
	job "an AllReduce of two hosts on $(uname -r)" 2 allreduce \
		--count 5000 -i 3 --check
	wait_for 5 no_tree
	serve_down
	topo_down
}

part_netlink()
{
	topo_lone
	sw inc-tool tree add ranks 2 >/dev/null &&
		sw inc-tool -j tree show | grep -q '"ranks"' &&
		sw inc-tool tree del 1
	ktap $? "inc-tool makes, shows and deletes a tree"
	ip netns del "$TOPO-sw"
}

suite "netlink first" "$@"
