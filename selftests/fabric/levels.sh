#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The aggregation manager and several switches, each with its agent: the manager
# finds out what is where, and computes trees of two levels, and of three.
#
#   levels.sh [VAR=VALUE]... [PART...]
#	PART: job order placed die full narrow three
#	wide

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
# shellcheck source=selftests/lib/levels.sh
. "$ROOT/selftests/lib/levels.sh"
# shellcheck source=selftests/lib/fabric.sh
. "$ROOT/selftests/lib/fabric.sh"

# Ranks of the widest job: a multiple of 8.
WIDE=${WIDE:-1024}

fabric_up()
{
	local name

	levels_up "$@" || return
	for name in "${SWITCHES[@]}"; do
		agent_up "$name" || return
	done
	fabric_known
	amd_up && wait_for 30 ctl_up
}

suite_up()
{
	fabric_up 3 2 && clock_up
}

has()
{
	[[ $1 == *"$2"* ]]
}

part_job()
{
	local r all

	all=$(ctl topology)
	for r in 0 1 2 3 4 5; do
		has "$all" "host $(topo_ip4 $r) at l$((r / 2)):v$r"
		ktap $? "host $r is at its leaf" "$all"
	done
	for r in 0 1 2; do
		has "$all" "link sw:down$((r + 1)) - l$r:uplink"
		ktap $? "link to leaf $r" "$all"
	done
	am_job "6 ranks over 3 leaves and a root" 6 --check --count 1000
	echo "# 6 ranks, 4 switches: ready $(ready_ms 6) ms after the last came"
	gone "6 ranks"
	long_job 6
	all=$(ctl group show "$JOB_NAME")
	has "$all" "switch sw, tree"
	ktap $? "the root" "$all"
	for r in 0 1 2; do
		has "$all" "below sw, ranks $((2 * r))-$((2 * r + 1))"
		ktap $? "leaf $r" "$all"
	done
	ctl group del "$JOB_NAME"
	others_fail "deleted" -1 operator
	gone "deleted"
	am_job "2 ranks at one leaf" 2 --check --count 1000
	grep -q ": 2 ranks, .* 1 tree," "$LAB_OUT/amd.log"
	ktap $? "one tree is enough" "$(tail -n 3 "$LAB_OUT/amd.log")"
}

# Ranks that do not follow each other at their switches.
part_order()
{
	JOB_HOSTS=(0 2 1 3 4 5)
	am_job "any order of ranks" 6 --check --count 1000
	JOB_HOSTS=()
	gone "any order"
}

# placed NAME: run a job of five ranks at leaves of 1, 2 and 2, and set HASH.
placed()
{
	local JOB_HOSTS=(0 2 3 4 5)

	HASH=
	am_job "placed: $1" 5 allreduce -t fp32 -o sum --count 1000 \
		--repeat-hash --runs 3 --seed 7 || return
	HASH=$(sed -n 's/.*hash \([0-9a-f]*\).*/\1/p' "$JOB_LOG.0")
}

# The same job on the same hosts, when others leave room elsewhere: ranks 1 and 2,
# and 3 and 4, are at a leaf, or at the root.
part_placed()
{
	local all name

	placed "a tree at each leaf"
	all=$HASH
	for name in l1 l2; do
		at "$name" inc-tool switch set memory-limit 4K
		placed "no room at $name"
		[ -n "$all" ] && [ "$HASH" = "$all" ]
		ktap $? "no room at $name: the same bits, $all" "$HASH"
	done
	for name in l1 l2; do
		at "$name" inc-tool switch set memory-limit 1G
	done
	gone "placed"
}

part_die()
{
	long_job 6
	kill -9 "${JOB_PIDS[3]}"
	others_fail "rank killed" 3 "rank 3"
	gone "rank killed"
	am_job "rank killed: the next job runs" 6 --check --count 1000
}

# Switches that refuse a tree: others take it, as long as there are some.
part_full()
{
	local name

	at l0 inc-tool switch set memory-limit 4K
	am_job "l0 has no room: 2 of its hosts" 2 --check --count 1000
	grep -q "tried elsewhere: switch l0" "$LAB_OUT/amd.log"
	ktap $? "l0 was asked" "$(tail -n 3 "$LAB_OUT/amd.log")"
	am_job "l0 has no room: 6 ranks" 6 --check --count 1000
	for name in "${SWITCHES[@]}"; do
		at "$name" inc-tool switch set memory-limit 4K
	done
	am_start 2
	job_wait
	ktap $(($? == 0)) "no switch has room: an error"
	grep -qh "no switch can serve it: switch .*KiB" "$JOB_LOG".*
	ktap $? "no switch has room: it says why" "$(cat "$JOB_LOG".*)"
	gone "no room"
	for name in "${SWITCHES[@]}"; do
		at "$name" inc-tool switch set memory-limit 1G
	done
}

# narrow MTU: a port of the root, which forwards only; its agent tells of that.
narrow()
{
	at sw ip link set down2 mtu "$1"
	sleep 2
}

# A port on the way lets through shorter packets than the ranks and the switches of
# the tree do: what is longer would vanish there.
part_narrow()
{
	local JOB_HOSTS=(0 2)

	at sw inc-tool switch set memory-limit 4K
	# By itself it follows the ports, until it is changed by hand.
	at sw ip link set br0 mtu 1400
	at sw ip link set br0 mtu 1500
	narrow 700
	INC_LOG=info am_start 2 --check --count 100000
	job_wait
	ktap $? "a narrow port on the way: a job" "$(job_why)"
	grep -q "PMTU 512" "$JOB_LOG.0"
	ktap $? "a narrow port on the way: shorter packets" "$(cat "$JOB_LOG.0")"
	INC_LOG=info am_start 2 --check --count 100000 --transport uc
	job_wait
	ktap $? "a narrow port on the way, UC: a job" "$(job_why)"
	grep -q "PMTU 512" "$JOB_LOG.0"
	ktap $? "a narrow port on the way, UC: shorter packets" \
		"$(cat "$JOB_LOG.0")"
	am_start 2 --pmtu 1024
	job_wait
	ktap $(($? == 0)) "a path MTU that was wished for: an error"
	grep -q "1024 needs an MTU of 1108, and sw:down2, on the way, has 700" \
		"$JOB_LOG.0"
	ktap $? "a path MTU that was wished for: where" "$(cat "$JOB_LOG.0")"
	narrow 300
	am_start 2
	job_wait
	ktap $(($? == 0)) "a port that is too narrow: an error"
	grep -q "MTU of 340, and sw:down2, on the way, has 300" "$JOB_LOG.0"
	ktap $? "a port that is too narrow: which" "$(cat "$JOB_LOG.0")"
	narrow 1500
	# The bridge of a switch of the tree.
	at l0 ip link set br0 mtu 700
	sleep 2
	INC_LOG=info am_start 2 --check --count 100000
	job_wait
	grep -q "PMTU 512" "$JOB_LOG.0"
	ktap $? "a narrow bridge: shorter packets" "$(job_why; cat "$JOB_LOG.0")"
	at l0 ip link set br0 mtu 1500
	sleep 2
	long_job 2
	at sw ip link set down2 mtu 700
	others_fail "a port that becomes too narrow" -1 \
		"sw:down2, on the way, has an MTU of 700, too small for the path MTU 1024" 4000
	narrow 1500
	at sw inc-tool switch set memory-limit 1G
	gone "narrow"
}

# A root, two switches below it, four leaves, eight hosts.
part_three()
{
	local all

	amd_down
	agents_down
	levels_down
	fabric_up 4 2 2
	ktap $? "3 levels come up" "$(ctl topology)" || return
	am_job "8 ranks, 3 levels" 8 --check --count 1000
	long_job 8
	all=$(ctl group show "$JOB_NAME")
	# 4 leaves, one of the middle, and the root, which is the other one.
	[ "$(grep -c "^  *switch" <<<"$all")" = 6 ] &&
		[ "$(grep -c "below l[0-9]" <<<"$all")" = 0 ] &&
		[ "$(grep -c "below m[01]" <<<"$all")" = 5 ]
	ktap $? "each link is crossed once" "$all"
	kill -9 "${JOB_PIDS[5]}"
	# Eight ranks and seven switches share a CPU.
	others_fail "3 levels: rank killed" 5 "rank" 4000
	gone "3 levels"
	JOB_HOSTS=(0 7 2 5 4 3 6 1)
	am_job "3 levels, any order of ranks" 8 --check --count 1000
	JOB_HOSTS=()
}

# all_or_dead N: the manager says that all N ranks of the job are there.
all_or_dead()
{
	ctl group show "$JOB_NAME" 2>/dev/null | grep -q "ready, $1 of $1 ranks" ||
		! kill -0 "${JOB_PIDS[0]}"
}

# As many ranks as a tree may have, each with a queue pair, a stream to the manager
# and heartbeats of its own: a thread of one process for each host.
part_wide()
{
	local r n=$((WIDE / 8)) before all

	amd_down
	agents_down
	levels_down
	fabric_up 2 4
	ktap $? "8 hosts at 2 leaves come up" "$(ctl topology)" || return
	JOB_NAME=wide.$RANDOM
	JOB_LOG=$LAB_OUT/$JOB_NAME
	JOB_PIDS=()
	now_ms before
	for r in 0 1 2 3 4 5 6 7; do
		INC_AM=$(topo_ip4 sw) INC_JOB=$JOB_NAME INC_RANK=$r \
			INC_NRANKS=8 INC_DEV=$TOPO$r \
			ip netns exec "$TOPO-h$r" "$INC_USER/lib/live" \
			ranks "$n" 0 blocks >"$JOB_LOG.$r" 2>&1 &
		JOB_PIDS+=($!)
	done
	wait_for 60 all_or_dead "$WIDE"
	all=$(ctl group show "$JOB_NAME")
	[[ $all == *"ready, $WIDE of $WIDE ranks"* ]]
	ktap $? "$WIDE ranks: inc-amctl sees all of them" \
		"$all; $(cat "$JOB_LOG".* | cut -c -200; tail -n 5 \
			"$LAB_OUT/amd.log")"
	grep -q "l[01], tree .* below [a-z0-9]*, ranks" <<<"$all"
	ktap $? "$WIDE ranks: two levels of switches" "$all"
	job_wait
	ktap $? "$WIDE ranks: all results are right" "$(job_why)"
	now_ms all
	echo "# $WIDE ranks: ready $(ready_ms "$WIDE") ms after the last came, all in $((all - before)) ms"
	event "group-ended $JOB_NAME: a rank left: rank [0-9]*"
	ktap $? "$WIDE ranks: they leave" "$(tail -n 5 "$LAB_OUT/amd.log")"
	! grep -E "(rank|group|switch)-(lost|failed|rebuilt|down)" "$LAB_OUT/amd.log"
	ktap $? "$WIDE ranks: nobody was lost meanwhile"
	wait_for 5 no_group
	ktap $? "$WIDE ranks: their group is gone" "$(ctl group show)"
	gone "$WIDE ranks"
}

suite "job order placed die full narrow three" "$@"
