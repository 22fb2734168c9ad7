#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What configuration costs others: trees are charged for the memory they take,
# and it is accounted to their creator; deleting a tree blocks nobody and ends
# in time. Needs no RDMA device.
#
# control.sh [PART...]: only some of memory, big, ceiling, del, many, gone.

# shellcheck disable=SC2319 # "$?" of a condition is what ktap wants
# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
# shellcheck source=selftests/lib/memcg.sh
. "$ROOT/selftests/lib/memcg.sh"

PARAM=/sys/module/rdma_inc/parameters

tool()
{
	sw inc-tool "$@"
}

suite_up()
{
	topo_lone && clock_up
}

suite_down()
{
	group_down
}

# near NAME CHARGED TAKEN: they differ by less than a tenth.
near()
{
	[ "$2" -gt 0 ] && [ $(($2 * 10)) -lt $(($3 * 11)) ] &&
		[ $(($2 * 11)) -gt $(($3 * 10)) ]
	ktap $? "$1: what is charged is taken" "charged $2, taken $3"
	echo "# $1: charged $(($2 >> 10)) KiB, taken $(($3 >> 10)) KiB"
}

# charged NAME FILE: check what a batch of commands is charged.
charged()
{
	local before used

	# The first command of a cgroup allocates memory that is not ours.
	in_group "ip netns exec $TOPO-sw inc-tool switch" >/dev/null
	before=$(kernel_memory)
	used=$(switch_attr memory-taken)
	in_group "exec ip netns exec $TOPO-sw inc-tool -b $2" >/dev/null
	ktap $? "$1: they are made"
	near "$1" $(($(switch_attr memory-taken) - used)) \
		$(($(kernel_memory) - before))
}

# members TREE N: N members for a batch.
members()
{
	local r

	for ((r = 0; r < $2; r++)); do
		echo "member add tree $1 rank $r addr 10.9.0.$((2 + r % 250)) qpn 17 psn 3"
	done
}

del_all()
{
	tool -j tree show | jq -r '.[] | "tree del \(.id) nowait"' | tool -b -
	wait_for 20 switch_has leaving 0
}

part_memory()
{
	local i n=$((3000 / SLOW)) f=$LAB_OUT/many

	group_up || { ktap 1 "a memory cgroup"; return; }
	for ((i = 1; i <= n; i++)); do
		echo "tree add id $i ranks 2 slots 1 msg-size 256 pmtu 256"
	done >"$f"
	charged "$n empty trees" "$f"
	del_all
	for ((i = 1; i <= n / 4; i++)); do
		echo "tree add id $i ranks 2 slots 16 msg-size 4096 pmtu 1024"
		members "$i" 2
	done >"$f"
	charged "$((n / 4)) trees of 2 members" "$f"
	del_all
	for ((i = 1; i <= n / 4; i++)); do
		echo "tree add id $i ranks 3 slots 4 msg-size 1024 job-ranks 9 first-rank 3 below 2,2,0"
	done >"$f"
	charged "$((n / 4)) leaves" "$f"
	del_all
	ktap "$(switch_attr memory-used)" "nothing is charged any more"
}

part_big()
{
	local f=$LAB_OUT/big

	mountpoint -q "$GROUP" || group_up || {
		ktap 1 "a memory cgroup"
		return
	}
	# Room for the largest packets.
	sw ip link set v0 mtu 9000
	{
		echo "tree add id 1 ranks 8 slots 64 msg-size 64K"
		members 1 8
		echo "tree add id 2 ranks 64 slots 256 msg-size 1024 pmtu 1024"
		members 2 64
		echo "tree add id 3 ranks 2 slots 1024 msg-size 16K pmtu 4096 job-ranks 4"
		members 3 2
	} >"$f"
	charged "three big trees" "$f"
	del_all
	ktap "$(switch_attr memory-used)" "nothing is charged any more"
}

part_ceiling()
{
	local other=$TOPO-other old out

	old=$(cat $PARAM/memory_ceiling)
	[ "$(switch_attr memory-ceiling)" = $((old << 20)) ]
	ktap $? "the ceiling is shown"
	topo_lone "$other"
	echo 8 >$PARAM/memory_ceiling
	tool tree add ranks 2 slots 64 msg-size 64K >/dev/null
	ktap $? "a tree below it"
	out=$(ip netns exec "$other" inc-tool tree add ranks 2 slots 64 \
		msg-size 64K 2>&1)
	[[ $out == *"memory_ceiling of all namespaces is 8 MiB"* ]]
	ktap $? "but no other one in another namespace" "$out"
	ktap "$(ip netns exec "$other" inc-tool -j switch | jq '."memory-used"')" \
		"which is charged nothing"
	del_all
	ip netns exec "$other" inc-tool tree add ranks 2 slots 64 msg-size 64K \
		>/dev/null
	ktap $? "until the first one is gone"
	ip netns del "$other"
	echo "$old" >$PARAM/memory_ceiling
}

# owed TREE DEAD_TIME: a tree with members that do not exist.
owed()
{
	tool tree add id "$1" ranks 2 slots 4 msg-size 1K dead-time "$2" \
		min-rto 5 >/dev/null
	members "$1" 2 | tool -b - >/dev/null
}

# at_most MS CMD...: CMD succeeds within that time
at_most()
{
	local from limit=$1

	shift
	now_ms from
	"$@" >/dev/null 2>&1 || return
	now_ms TOOK
	((TOOK -= from))
	[ "$TOOK" -le $((limit * SLOW)) ]
}

part_del()
{
	local pid

	owed 1 60000
	at_most 300 tool tree del 1 nowait
	ktap $? "tree del, nowait: at once" "$TOOK ms"
	at_most 300 tool tree add id 1 ranks 2 slots 1 msg-size 256
	ktap $? "the ID is free" "$TOOK ms"
	at_most 300 tool tree del 1
	ktap $? "and can go, too"
	wait_for 10 switch_has leaving 0
	ktap $? "who was never heard is not waited for"

	# Registering or unregistering a family waits for all commands in
	# progress, and later commands wait for the registration.
	owed 3 60000
	tool tree del 3 &
	rmmod rdma_inc &
	pid=$!
	at_most 500 genl ctrl list
	ktap $? "generic netlink goes on while a family comes or goes" \
		"$TOOK ms"
	wait $pid
	ktap $? "the module unloads"
	inc_load
}

part_many()
{
	local i

	tool tree add id 1 ranks 200 slots 1 msg-size 256 >/dev/null
	members 1 200 | tool -b - >/dev/null
	for ((i = 0; i < 200; i++)); do
		echo "member del tree 1 rank $i"
	done >"$LAB_OUT/dels"
	at_most 500 tool -b "$LAB_OUT/dels"
	ktap $? "200 members leave one by one, fast" "$TOOK ms"
	echo "# 200 members: $TOOK ms"
	members 1 200 | tool -b - >/dev/null
	ktap $? "and there is room for others"
	at_most 1000 tool tree del 1
	ktap $? "and all go with their tree" "$TOOK ms"
	wait_for 10 switch_has memory-used 0
	ktap $? "nothing is charged any more"
}

part_gone()
{
	local i

	for ((i = 0; i < 400; i++)); do
		echo "tree add ranks 2 slots 1 msg-size 256"
	done >"$LAB_OUT/many"
	tool -b "$LAB_OUT/many" >/dev/null
	owed 1000 60000
	tool tree del 1000 nowait
	ip netns del "$TOPO-sw"
	# The next namespace to go is cleaned up after this one.
	ip netns add "$TOPO-other"
	ip netns del "$TOPO-other"
	at_most 1000 inc_unload
	ktap $? "400 trees go with their namespace, and the module" "$TOOK ms"
	echo "# 400 trees: $TOOK ms"
	inc_load && topo_lone
	tool -b "$LAB_OUT/many" >/dev/null
	owed 1000 60000
	tool tree del 1000 nowait
	at_most 1000 inc_unload
	ktap $? "the module goes with 400 trees and one that waits" "$TOOK ms"
	echo "# 400 trees: $TOOK ms"
}

suite "memory big ceiling del many gone" "$@"
