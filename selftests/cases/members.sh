#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What members and trees cost that do nothing yet, how fast members are made, and how
# long a large tree takes to tell its members that it has failed. The figures are
# shown, those that a user may rely on are judged. Needs no RDMA device.
#
#   members.sh [VAR=VALUE]... [PART...]
#	PART: bytes rate large fail

# shellcheck disable=SC2319 # "$?" of a condition is what ktap wants
# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
# shellcheck source=selftests/lib/memcg.sh
. "$ROOT/selftests/lib/memcg.sh"

RANKS=${RANKS:-1024}
TREES=${TREES:-64}
# Of a large switch; 128 for 131,072 members, which need a machine of 2 GiB.
LARGE=${LARGE:-16}
# What may be taken.
TREE_BYTES=$((64 << 10))
MEMBER_BYTES=$((2 << 10))
# Of all members of a large switch, their trees and all that shows them.
LARGE_BYTES=$((4 << 10))
# Members made per second.
MIN_RATE=20000
# Of a softirq and of the end of a tree, milliseconds.
SOFTIRQ_MS=1
FAIL_MS=100

suite_up()
{
	topo_lone || return
	# Members that are told something are sent a packet at once.
	{
		local i

		for ((i = 2; i < 252; i++)); do
			echo "neigh replace 10.9.0.$i lladdr 02:00:00:00:00:01 dev v0 nud permanent"
		done
	} | ip -n "$TOPO-sw" -batch -
}

suite_down()
{
	group_down
}

# members TREE N [OPTION...]: N members for a batch.
members()
{
	local tree=$1 n=$2 r

	shift 2
	for ((r = 0; r < n; r++)); do
		echo "member add tree $tree rank $r addr 10.9.0.$((2 + r % 250)) qpn 17 psn 3 $*"
	done
}

del_all()
{
	sw inc-tool -j tree show | jq -r '.[] | "tree del \(.id) nowait"' |
		sw inc-tool -b -
	wait_for 30 switch_has leaving 0
}

# files N: bytes of N files of debugfs, which only fault injection makes.
files()
{
	awk -v n="$1" '$1 == "dentry" || $1 == "debugfs_inode_cache" {
		size += $4 } END { print n * size }' /proc/slabinfo
}

# each NAME N FILES LIMIT: run the batch $LAB_OUT/batch; what it takes for each of N
# objects, without FILES of debugfs for each, is at most LIMIT bytes.
each()
{
	local name=$1 n=$2 files=$3 limit=$4 before taken

	# The first command of a cgroup allocates memory that is not ours.
	in_group "ip netns exec $TOPO-sw inc-tool switch" >/dev/null
	before=$(kernel_memory)
	in_group "exec ip netns exec $TOPO-sw inc-tool -b $LAB_OUT/batch" \
		>/dev/null
	ktap $? "$name: they are made"
	taken=$((($(kernel_memory) - before) / n - $(files "$files")))
	echo "# bytes per $name: $taken"
	[ "$taken" -le "$limit" ]
	ktap $? "$name: at most $limit bytes" "$taken"
}

part_bytes()
{
	local fault=0 i

	group_up || { ktap 1 "a memory cgroup"; return; }
	# The files rank-0-rx and rank-0-tx, and the directories "fault".
	! debugfs_up || {
		sw inc-tool tree add id 1 ranks 1 slots 1 msg-size 256 >/dev/null
		[ ! -e "$(debugfs_switch "$TOPO-sw")/tree-1/fault" ] || fault=1
		del_all
	}
	for ((i = 1; i <= TREES; i++)); do
		echo "tree add id $i ranks 8"
	done >"$LAB_OUT/batch"
	each "idle default tree" "$TREES" $((4 + fault)) "$TREE_BYTES"
	for ((i = 1; i <= TREES; i++)); do
		members "$i" 8
	done >"$LAB_OUT/batch"
	each "idle RC member of 8" $((TREES * 8)) $((2 * fault)) "$MEMBER_BYTES"
	del_all
	sw inc-tool tree add id 1 ranks "$RANKS" slots 64 msg-size 1024 >/dev/null
	members 1 "$RANKS" >"$LAB_OUT/batch"
	each "idle RC member of $RANKS" "$RANKS" $((2 * fault)) "$MEMBER_BYTES"
	del_all
	sw inc-tool tree add id 1 ranks 64 slots 1024 msg-size 1024 >/dev/null
	members 1 64 transport uc >"$LAB_OUT/batch"
	each "idle UC member of 1024 slots" 64 $((2 * fault)) "$MEMBER_BYTES"
	del_all
	ktap "$(switch_attr memory-used)" "nothing is charged any more"
	group_down
}

# together N: as members, N in one command. From stdin.
together()
{
	awk -v n="$1" '{
		if ((NR - 1) % n == 0)
			printf("%s%s", (NR > 1 ? "\n" : ""), $0)
		else
			printf("%s", substr($0, index($0, " rank")))
	} END { print "" }'
}

# makes NAME [N]: all members of some trees, N in one command; sets RATE, per second.
makes()
{
	local trees=8 from to i all

	all=$((trees * RANKS))
	for ((i = 1; i <= trees; i++)); do
		echo "tree add id $i ranks $RANKS slots 64 msg-size 1024"
	done | sw inc-tool -b - >/dev/null
	for ((i = 1; i <= trees; i++)); do
		members "$i" "$RANKS" | together "${2:-1}"
	done >"$LAB_OUT/batch"
	now_ms from
	sw inc-tool -b "$LAB_OUT/batch" >"$LAB_OUT/made"
	ktap $? "$1: $all members are made" "$(tail -n 1 "$LAB_OUT/made")"
	now_ms to
	RATE=$((all * 1000 / (to - from + 1)))
	echo "# members made per second, $1: $RATE"
	[ "$(sw inc-tool -j member show | jq length)" = "$all" ]
	ktap $? "$1: all of them"
	del_all
}

part_rate()
{
	local best=0 i

	makes "one by one"
	# Others may have the CPU for most of so short a time.
	for i in 1 2 3; do
		makes "together, $i" 128
		((best > RATE)) || best=$RATE
	done
	[ $((best * SLOW)) -ge $MIN_RATE ]
	ktap $? "at least $MIN_RATE per second" "$best"
}

# timers FILE: how many timers of the module have expired, of a trace.
timers()
{
	grep -c "function=inc_" "$1"
}

part_large()
{
	local param=/sys/module/rdma_inc/parameters/memory_ceiling i old all
	local trace=/sys/kernel/tracing before taken

	group_up || { ktap 1 "a memory cgroup"; return; }
	old=$(cat $param)
	echo 65536 >$param
	sw inc-tool switch set memory-limit 64G
	for ((i = 1; i <= LARGE; i++)); do
		echo "tree add id $i ranks $RANKS slots 64 msg-size 1024"
		members "$i" "$RANKS" | together 128
	done >"$LAB_OUT/batch"
	all=$((LARGE * RANKS))
	before=$(switch_attr memory-taken)
	in_group "exec ip netns exec $TOPO-sw inc-tool -b $LAB_OUT/batch" \
		>"$LAB_OUT/made"
	ktap $? "$all members" "$(tail -n 1 "$LAB_OUT/made")"
	taken=$((($(switch_attr memory-taken) - before) >> 10))
	echo "# $all members: $taken KiB taken, files of debugfs included; $(($(
		kernel_memory) >> 10)) KiB by the memory cgroup"
	[ $((taken << 10)) -le $((all * LARGE_BYTES)) ]
	ktap $? "at most $LARGE_BYTES bytes each" "$taken KiB"
	echo >$trace/trace
	echo 1 >$trace/events/timer/timer_expire_entry/enable
	sleep 1
	echo 0 >$trace/events/enable
	cat $trace/trace >"$LAB_OUT/trace"
	grep -q timer_expire_entry "$LAB_OUT/trace"
	ktap $? "timers are traced"
	ktap "$(timers "$LAB_OUT/trace")" "none has a timer that expires" \
		"$(grep -m 1 "function=inc_" "$LAB_OUT/trace")"
	del_all
	sw inc-tool switch set memory-limit 1G
	echo "$old" >$param
	group_down
}

# spans FILE: of a trace, "LONGEST MS PACKETS": the longest softirq, and the time from
# the first to the last packet, in microseconds.
spans()
{
	awk '
	{
		for (i = 1; i <= NF && $i !~ /^[0-9]+\.[0-9]+:$/; i++)
			;
		at = $i * 1000000
	}
	/softirq_entry/ { from = at }
	/softirq_exit/ && from { if (at - from > longest) longest = at - from }
	/inc_tx_result/ { if (!n++) first = at; last = at }
	END { printf "%d %d %d\n", longest, last - first, n }' "$1"
}

# fails: a tree of RANKS fails; sets MADE, TRACED, LONGEST, TOOK and TOLD.
fails()
{
	local trace=/sys/kernel/tracing

	sw inc-tool tree add id 1 ranks "$RANKS" slots 64 msg-size 1024 >/dev/null
	members 1 "$RANKS" | sw inc-tool -b - >/dev/null
	MADE=$?
	# The default clock of UML has the resolution of a tick.
	echo mono >$trace/trace_clock
	echo 32768 >$trace/buffer_size_kb
	echo >$trace/trace
	echo 1 >$trace/events/irq/softirq_entry/enable &&
		echo 1 >$trace/events/irq/softirq_exit/enable &&
		echo 1 >$trace/events/rdma_inc/inc_tx_result/enable
	TRACED=$?
	sw inc-tool tree del 1 nowait
	sleep 1
	echo 0 >$trace/events/enable
	cat $trace/trace >"$LAB_OUT/trace"
	echo >$trace/trace
	read -r LONGEST TOOK TOLD < <(spans "$LAB_OUT/trace")
	echo "# a failing tree of $RANKS: $TOLD told in $TOOK us, longest softirq $LONGEST us"
	wait_for 30 switch_has leaving 0
}

part_fail()
{
	local longest=$((1 << 30)) took=$((1 << 30))

	# Others may have the CPU in the middle of a softirq.
	for _ in 1 2 3 4 5; do
		fails
		[ "$TOLD" -ge "$RANKS" ] || continue
		((LONGEST >= longest)) || longest=$LONGEST
		((TOOK >= took)) || took=$TOOK
		((longest > SOFTIRQ_MS * 1000 * SLOW ||
			took > FAIL_MS * 1000 * SLOW)) || break
	done
	ktap $MADE "a tree of $RANKS ranks"
	ktap $TRACED "events are traced"
	[ "$TOLD" -ge "$RANKS" ]
	ktap $? "all ranks are told" "$TOLD"
	[ "$took" -le $((FAIL_MS * 1000 * SLOW)) ]
	ktap $? "within $FAIL_MS ms" "$took us"
	[ "$longest" -le $((SOFTIRQ_MS * 1000 * SLOW)) ]
	ktap $? "no softirq takes more than $SOFTIRQ_MS ms" "$longest us"
}

suite "bytes rate large fail" "$@"
