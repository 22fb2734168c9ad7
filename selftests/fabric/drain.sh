#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Switches are taken out of service, and put back, while jobs run.
#
#   drain.sh [VAR=VALUE]... [PART...]
#	SWIFT=2 OFTEN=10 CROSSED=5: moves of each job of swift, of often, of crossed
#	PART: move swift hand one crossed killed taken stay unreached computes keep reload often

# shellcheck disable=SC2319 # "$?" of a condition is what ktap wants
# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
# shellcheck source=selftests/lib/levels.sh
. "$ROOT/selftests/lib/levels.sh"
# shellcheck source=selftests/lib/fabric.sh
. "$ROOT/selftests/lib/fabric.sh"

SAYS_BY=(ctl)
SWIFT=${SWIFT:-2}
OFTEN=${OFTEN:-10}
CROSSED=${CROSSED:-5}
CM_PORT=18515
DB=/tmp/drain-$$.db
CONF=/tmp/drain-$$.conf
AMD_STORE=sqlite:$DB

suite_up()
{
	local name

	rm -f "$DB"*
	levels_up 2 2 || return
	for name in "${SWITCHES[@]}"; do
		topo_rxe "$name" "$TOPO$name" br0 &&
			agent_up "$name" --cm "[::]:$CM_PORT" || return
	done
	fabric_known
	amd_up && wait_for 30 ctl_up && clock_up
}

suite_down()
{
	amd_down
	agents_down
	rm -f "$DB"* "$CONF"
}

# on SWITCH: the last group has a tree there.
on()
{
	ctl group show "$JOB_NAME" | grep -q "switch $1, tree"
}

drained()
{
	ctl switch "$1" | grep -q ", drained by"
}

# Nothing is counted on any link when no group has a tree.
no_load()
{
	ctl -j topology | jq -e '[.links[].load // 0] | length > 0 and add == 0' \
		>/dev/null
}

# checked_job REPETITIONS ARGS...: of all four hosts, each result checked.
checked_job()
{
	am_start 4 --check --count 1000 -i "$1" --pause 5000 "${@:2}"
	event "group-ready $JOB_NAME" 20
}

# fetch PATH: what the manager publishes there.
fetch()
{
	sw curl -sS "http://127.0.0.1:18789$1"
}

# in_metrics LINE
in_metrics()
{
	fetch /metrics | grep -qxF "$1"
}

# The page shows two switches, and misses none of the third one's links.
page_forgets()
{
	fetch /state | jq -e '(.topology.switches | length) == 2 and .cuts == []' \
		>/dev/null
}

part_move()
{
	local first

	checked_job 1500
	on l0
	ktap $? "a job has a tree at a leaf" "$(ctl group)"
	first=$JOB_NAME
	says "drain: the group moves" 0 "group $first: moves away" \
		switch l0 drain
	event "group-moved $first" 20
	ktap $? "drain: it gets another tree" "$(tail -n 5 "$LAB_OUT/amd.log")"
	! on l0 && on sw
	ktap $? "drain: without that switch" "$(ctl group)"
	event "switch-drained l0" 10
	ktap $? "drain: an event when it is done" "$(ctl event | tail -n 5)"
	says "drain: it is shown" 0 ", drained by" switch l0
	says "drain: in JSON" 0 '"drain":"drained"' -j switch l0
	wait_for 5 in_metrics 'inc_am_switch_drained{switch="l0"} 1'
	ktap $? "drain: in the metrics"
	job_wait
	ktap $? "drain: no rank sees an error" "$(job_why)"
	checked_job 300
	! on l0 && on sw
	ktap $? "a job that begins then has no tree there" "$(ctl group)"
	says "why: it is drained" 0 "drained by" why "$JOB_NAME"
	job_wait
	ktap $? "and ends well" "$(job_why)"
	says "resume" 0 "l0: it gets new trees" switch resume l0
	am_job "a job after that" 4 --check --count 1000
	[ "$(grep -c "switch-resumed l0" "$LAB_OUT/amd.log")" = 1 ]
	ktap $? "resume: an event" "$(tail -n 5 "$LAB_OUT/amd.log")"
	checked_job 50
	on l0
	ktap $? "resume: a job has a tree there again" "$(ctl group)"
	job_wait
	ktap $? "and ends well, too" "$(job_why)"
}

# steady_job COMMUNICATORS [ENV=VALUE...]: all hosts add floats until steady_end, one
# sum after another, and compare the bits with those of the first one.
steady_job()
{
	local r comms=$1

	shift
	JOB_SEQ=$((JOB_SEQ + 1))
	JOB_NAME=group$JOB_SEQ.$RANDOM
	JOB_LOG=$LAB_OUT/$JOB_NAME
	JOB_PIDS=()
	for ((r = 0; r < TOPO_N; r++)); do
		ip netns exec "$TOPO-h$r" env INC_AM="$(topo_ip4 sw)${AM_OTHERS:-}" \
			INC_JOB="$JOB_NAME" INC_RANK="$r" INC_NRANKS="$TOPO_N" \
			INC_DEV="$TOPO$r" LD_LIBRARY_PATH="$INC_USER/lib" \
			INC_LOG=info "$@" "$INC_USER/lib/live" steady \
			"$JOB_LOG.end" "$comms" >"$JOB_LOG.$r" 2>&1 &
		JOB_PIDS+=($!)
	done
	event "group-ready $JOB_NAME" 20
}

# steady_end NAME: the job ends, without an error.
steady_end()
{
	: >"$JOB_LOG.end"
	job_wait
	ktap $? "$1: no error, and the same bits" "$(cat "$JOB_LOG".[0-9])"
	echo "# $1: the longest of $(sed -n 's/.*rank 0: \([0-9]*\) sums.*/\1/p' \
		"$JOB_LOG".0 | head -n 1) sums took $(longest) ms$(held_up)"
}

# held_up: for how long the job's ranks have held operations back, in all moves.
held_up()
{
	sed -n 's/.* has moved after .*; it took \([0-9.]*\) ms.*/\1/p' "$JOB_LOG".[0-9] |
		sort -n | awk '{ ms[NR] = $1 }
		END { if (NR) printf ", operations were held for %s, at most %s ms",
				     ms[int((NR + 1) / 2)], ms[NR] }'
}

# moved N: the last job has moved so often.
moved()
{
	[ "$(grep -c "group-moved $JOB_NAME:" "$LAB_OUT/amd.log")" -ge "$1" ]
}

longest()
{
	sed -n 's/.*, longest \([0-9.]*\) ms.*/\1/p' "$JOB_LOG".[0-9] | sort -n | tail -n 1
}

# swift NAME TIMES COMMUNICATORS [ENV=VALUE...]: a job moves away from a leaf and back.
swift()
{
	local name=$1 times=$2 comms=$3 i sw=l0 ended=0

	shift 3
	steady_job "$comms" "$@"
	ktap $? "swift, $name: a job runs" "$(cat "$JOB_LOG".[0-9])"
	for ((i = 1; i <= times; i++)); do
		ctl switch drain "$sw" >/dev/null
		wait_for 10 moved "$i" || break
		wait_for 5 no_trees "$sw" || ended=1
		ctl switch resume "$sw" >/dev/null
		[ "$sw" = l0 ] && sw=l1 || sw=l0
	done
	ctl switch resume "$sw" >/dev/null
	[ "$i" -gt "$times" ]
	ktap $? "swift, $name: it moves $times times" \
		"$(grep "$JOB_NAME" "$LAB_OUT/amd.log" | tail -n 5)"
	ktap $ended "swift, $name: nothing is left where it was" "$(ctl switch)"
	[ "$(ctl group | grep -c '^group')" = "$comms" ] &&
		ctl group | grep -q "group $JOB_NAME: ready, 4 of 4"
	ktap $? "swift, $name: it has one name, and one row" "$(ctl group)"
	steady_end "swift, $name"
	! grep -E "(rank|group)-(lost|failed|rebuilt|stays) $JOB_NAME" \
		"$LAB_OUT/amd.log"
	ktap $? "swift, $name: nor does the manager report one"
}

part_swift()
{
	swift default "$SWIFT" 1
	swift rebuild "$SWIFT" 1 INC_AM_ON_FAILURE=rebuild
	swift UC "$SWIFT" 1 INC_TRANSPORT=uc
	swift "RDMA CM" "$SWIFT" 1 INC_AM_CONNECT=cm
	swift "window and size" "$SWIFT" 1 INC_WINDOW=6 INC_MSG_SIZE=16384
	swift "three communicators" "$SWIFT" 3
	swift "two, and one that is idle" "$SWIFT" 3 IDLE=1
	swift "two, and waits for the third" "$SWIFT" 3 LATE=700
	swift "ranks that test" "$SWIFT" 2 TEST=1
}

# waits_for WHOM: what the last group waits for.
waits_for()
{
	ctl task show "$JOB_NAME" | grep -q "waits for $1"
}

part_hand()
{
	steady_job 1
	on l0
	ktap $? "hand: a job has a tree at a leaf" "$(ctl group)"
	says "hand: to a switch" 0 "group $JOB_NAME: moves to l1" \
		group "$JOB_NAME" move to l1
	wait_for 10 moved 1
	! on l0 && ! on sw && on l1
	ktap $? "hand: its whole tree is there" "$(ctl group)"
	says "hand: why it is there" 0 "moved to l1 as an operator wished" why "$JOB_NAME"
	says "hand: to the best ones" 0 "moves; " group move "$JOB_NAME"
	wait_for 10 moved 2
	ktap $? "hand: it moves" "$(ctl group)"
	says "hand: why, then" 0 "moved as an operator wished" why "$JOB_NAME"
	says "hand: to none" 2 'no switch "l9"' group move "$JOB_NAME" to l9
	says "hand: of none" 2 'no group "x"' group move x
	says "hand: of what" 1 "which one" group move
	says "hand: where" 1 'not "to SWITCH"' group "$JOB_NAME" move - towards l1
	ctl switch drain l1 >/dev/null
	says "hand: to one that is drained" 2 "it gets no trees" \
		group move "$JOB_NAME" to l1
	ctl switch resume l1 >/dev/null
	wait_for 10 moved 3
	ktap $? "hand: it leaves the one that is drained" "$(ctl group)"
	kill -STOP "${AGENT[l1]}"
	wait_for 10 ctl group move "$JOB_NAME" to l1 >/dev/null
	wait_for 5 waits_for "switch l1"
	ktap $? "hand: an agent that is stopped is what it waits for" \
		"$(ctl task show "$JOB_NAME")"
	kill -CONT "${AGENT[l1]}"
	wait_for 20 moved 4
	ktap $? "hand: then it moves" "$(tail -n 5 "$LAB_OUT/amd.log")"
	steady_end hand
}

# Eight ranks, and a move as soon as the last one is over.
part_often()
{
	local i sw=l0

	amd_down
	agents_down
	levels_down
	levels_up 2 4
	for i in "${SWITCHES[@]}"; do
		agent_up "$i"
	done
	fabric_known
	amd_up && wait_for 30 ctl_up
	steady_job 1
	ktap $? "often: 8 ranks run" "$(cat "$JOB_LOG".[0-9])"
	sleep 3
	steady_end "often, 8 ranks without a move"
	steady_job 1
	for ((i = 1; i <= OFTEN; i++)); do
		wait_for 10 ctl group move "$JOB_NAME" to "$sw" >/dev/null 2>&1 &&
			wait_for 10 moved "$i" || break
		[ "$sw" = l0 ] && sw=l1 || sw=l0
	done
	[ "$i" -gt "$OFTEN" ]
	ktap $? "often: they move $OFTEN times" "$i; $(tail -n 5 "$LAB_OUT/amd.log")"
	steady_end "often, 8 ranks, $OFTEN moves"
	! grep -E "(rank|group)-(lost|failed|rebuilt|stays) $JOB_NAME" \
		"$LAB_OUT/amd.log"
	ktap $? "often: the manager reports no trouble"
}

# A move while packets are lost, the change to UC, another tree after a failure, and
# moves: all in one job.
part_one()
{
	local r

	topo_bursts off
	steady_job 1 INC_AM_ON_FAILURE=rebuild
	for ((r = 0; r < TOPO_N; r++)); do
		host "$r" tc qdisc replace dev eth0 root netem loss 2% limit 10000
	done
	wait_for 60 grep -q "group-moved $JOB_NAME: over UC" "$LAB_OUT/amd.log"
	ktap $? "one job: it changes to UC" "$(tail -n 5 "$LAB_OUT/amd.log")"
	for ((r = 0; r < TOPO_N; r++)); do
		host "$r" tc qdisc del dev eth0 root
	done
	ctl group move "$JOB_NAME" to l1 >/dev/null
	wait_for 20 moved 2
	ktap $? "one job: it moves" "$(tail -n 5 "$LAB_OUT/amd.log")"
	at l1 inc-tool tree del "$(tree_of l1)"
	event "group-rebuilt $JOB_NAME" 20
	ktap $? "one job: its tree fails, and it gets another one" \
		"$(tail -n 5 "$LAB_OUT/amd.log")"
	wait_for 10 ctl group move "$JOB_NAME" to l0 >/dev/null 2>&1
	wait_for 20 moved 3
	ktap $? "one job: it moves again" "$(tail -n 5 "$LAB_OUT/amd.log")"
	ctl group | grep -q "group $JOB_NAME: ready, 4 of 4"
	ktap $? "one job: it has its name" "$(ctl group)"
	steady_end "one job"
	topo_bursts on
}

has_tree()
{
	[ -n "$(tree_of "$1")" ]
}

# crossed NAME [ENV=VALUE...]: a tree fails while the ranks move to it, some of them
# before the others: they go on over the old one, or over a third.
crossed()
{
	local i sw=l1

	steady_job 1 INC_AM_ON_FAILURE=rebuild "${@:2}"
	for ((i = 0; i < CROSSED; i++)); do
		wait_for 20 ctl group move "$JOB_NAME" to "$sw" >/dev/null 2>&1 &&
			wait_for 10 has_tree "$sw" || break
		sleep "0.0$((RANDOM % 10))$((RANDOM % 10))"
		at "$sw" inc-tool tree del "$(tree_of "$sw")"
		[ "$sw" = l0 ] && sw=l1 || sw=l0
	done 2>/dev/null
	[ "$i" = "$CROSSED" ]
	ktap $? "crossed, $1: trees fail in $CROSSED moves" \
		"$i; $(ctl group; tail -n 5 "$LAB_OUT/amd.log")"
	echo "# crossed, $1: $(grep -c "group-moved $JOB_NAME" "$LAB_OUT/amd.log") of $CROSSED moves succeed, $(grep -c "group-rebuilt $JOB_NAME" "$LAB_OUT/amd.log") trees are replaced"
	steady_end "crossed, $1"
}

part_crossed()
{
	crossed RC
	crossed UC INC_TRANSPORT=uc
	crossed "RDMA CM" INC_AM_CONNECT=cm
}

# move_asleep NAME: the last rank stops, and the others, asleep until it comes, take part
# in a move nevertheless.
move_asleep()
{
	kill -STOP "${JOB_PIDS[3]}"
	sleep 0.5
	ctl group move "$JOB_NAME" to l1 >/dev/null
	wait_for 5 grep -q "$JOB_NAME~mv-.*: rank 2 at" "$LAB_OUT/amd.log"
	ktap $? "killed, $1: ranks that are asleep take part in the move" \
		"$(ctl task show "$JOB_NAME")"
}

# kill_manager NAME [ENV=VALUE...]: in the middle of a move; the next one has it go on.
kill_manager()
{
	steady_job 1 "${@:2}"
	move_asleep "$1"
	kill_amd
	kill -CONT "${JOB_PIDS[3]}"
	amd_up && wait_for 30 ctl_up
	wait_for 20 ctl group show "$JOB_NAME"
	says "killed, $1: the group is there" 0 "ready, 4 of 4" group show "$JOB_NAME"
	wait_for 20 moved 1
	ktap $? "killed, $1: the next manager has it moved" \
		"$(tail -n 5 "$LAB_OUT/amd.log")"
	! on l0 && ! on sw
	ktap $? "killed, $1: to where the first one was told to" "$(ctl group)"
	steady_end "killed, $1"
}

# kill_rank NAME [ENV=VALUE...]: in the middle of a move.
kill_rank()
{
	steady_job 1 "${@:2}"
	move_asleep "$1"
	kill -KILL "${JOB_PIDS[3]}"
	event "group-ended $JOB_NAME: .*rank 3" 30
	ktap $? "killed, $1: a rank: the group ends as any other" \
		"$(tail -n 5 "$LAB_OUT/amd.log")"
	job_wait
	[ "$(cat "$JOB_LOG".[0-2] | grep -c "a rank died or left")" = 3 ]
	ktap $? "killed, $1: others hear of it" "$(cat "$JOB_LOG".[0-9])"
	wait_for 10 no_group
	ktap $? "killed, $1: nothing is left" "$(ctl group; ctl switch)"
}

# The manager is killed in the middle of a move, and a rank.
part_killed()
{
	kill_manager RC
	kill_manager UC INC_TRANSPORT=uc
	kill_manager "RDMA CM" INC_AM_CONNECT=cm
	kill_rank RC
	kill_rank UC INC_TRANSPORT=uc
	kill_rank "RDMA CM" INC_AM_CONNECT=cm

	steady_job 1
	move_asleep "by hand"
	ctl group del "$JOB_NAME" >/dev/null
	kill -CONT "${JOB_PIDS[3]}"
	job_wait
	wait_for 10 no_group
	ktap $? "killed: by hand: both are gone" "$(ctl group; ctl switch)"
	[ "$(grep -c "group-ended $JOB_NAME: by hand" "$LAB_OUT/amd.log")" = 1 ] &&
		[ "$(grep -c "group-ended $JOB_NAME" "$LAB_OUT/amd.log")" = 1 ] &&
		! grep -q "group-moved $JOB_NAME" "$LAB_OUT/amd.log"
	ktap $? "killed: by hand: one event says so" \
		"$(grep "group-.*$JOB_NAME" "$LAB_OUT/amd.log")"
}

# manager_up PORT: one of two managers, which have etcd as their store, and one log.
manager_up()
{
	local name switches=()

	for name in "${SWITCHES[@]}"; do
		switches+=(--switch "$(sock_of "$name")")
	done
	ip netns exec "$TOPO-sw" inc-amd -v --http none "${switches[@]}" \
		--listen "$(topo_ip4 sw):$1" "${AMD_SECURITY[@]}" \
		--dead-time "$(scaled 700)" --store etcd:127.0.0.1:2379 \
		>>"$LAB_OUT/amd.log" 2>&1 &
	MANAGER[$1]=$!
}

led()
{
	[ "$(grep -c "this manager leads" "$LAB_OUT/amd.log")" -gt "$1" ]
}

# only_at SWITCH: the last group's whole tree is there, and all its ranks.
only_at()
{
	all_present && on "$1" && [ "$(ctl group show "$JOB_NAME" |
		grep -c "  switch .*, tree")" = 1 ]
}

# order_to SWITCH: a move that ranks gave up is not made again by itself.
order_to()
{
	only_at "$1" || {
		ctl group move "$JOB_NAME" to "$1" >/dev/null 2>&1
		wait_for 5 only_at "$1"
	}
}

# taken WHEN TEXT: the leader is killed as soon as its log says TEXT of a job, and
# starts again as the standby.
taken()
{
	local text before i=0 other

	steady_job 1
	text=${2/JOB/$JOB_NAME}
	before=$(grep -c "this manager leads" "$LAB_OUT/amd.log")
	ctl group move "$JOB_NAME" to l1 >/dev/null
	# More often than wait_for does: a move is soon over.
	until grep -qE "$text" "$LAB_OUT/amd.log" || ((i++ == 2000)); do
		sleep 0.001
	done
	kill -KILL "${MANAGER[$LEADER]}"
	wait "${MANAGER[$LEADER]}" 2>/dev/null
	wait_for 20 led "$before"
	ktap $? "taken, $1: the other manager leads" "$(tail -n 5 "$LAB_OUT/amd.log")"
	other=$LEADER
	LEADER=$STANDBY STANDBY=$other
	manager_up "$STANDBY"
	wait_for 20 all_present
	ktap $? "taken, $1: it has the group, with all ranks" "$(ctl group)"
	wait_for 20 only_at l1
	echo "# taken, $1: the move is $(only_at l1 && echo finished || echo forgotten)"
	wait_for 40 order_to l0
	ktap $? "taken, $1: it moves as any other" \
		"$(ctl group; tail -n 5 "$LAB_OUT/amd.log")"
	steady_end "taken, $1"
	wait_for 10 no_group && wait_for 10 no_trees l0 &&
		wait_for 10 no_trees l1 && wait_for 10 no_trees sw
	ktap $? "taken, $1: nothing is left" "$(ctl group; ctl switch)"
	[ "$(grep -c "group-ended $JOB_NAME:" "$LAB_OUT/amd.log")" = 1 ]
	ktap $? "taken, $1: one event tells its end" \
		"$(grep "group-.*$JOB_NAME" "$LAB_OUT/amd.log")"
}

# The leader of two managers is killed at six moments of a move.
part_taken()
{
	local AM_OTHERS LEADER=18790 STANDBY=18792 etcd
	local -A MANAGER=()

	AM_OTHERS=,$(topo_ip4 sw):18792
	amd_down
	: >"$LAB_OUT/amd.log"
	ip netns exec "$TOPO-sw" etcd --data-dir "/tmp/drain-$$.etcd" \
		--listen-client-urls http://127.0.0.1:2379 \
		--advertise-client-urls http://127.0.0.1:2379 \
		--log-level error >"$LAB_OUT/etcd.log" 2>&1 &
	etcd=$!
	manager_up "$LEADER"
	wait_for 20 led 0
	manager_up "$STANDBY"
	wait_for 20 grep -q "stands by for" "$LAB_OUT/amd.log" && wait_for 30 ctl_up
	ktap $? "taken: two managers" "$(cat "$LAB_OUT/amd.log")"
	taken "as it begins" "group-moves JOB"
	taken "one rank has come" "JOB~mv-.*, 1 of 4"
	taken "one rank is missing" "JOB~mv-.*, 3 of 4"
	taken "all have come" "JOB~mv-.*, 4 of 4"
	taken "the tree is made" "JOB~mv-.*: 1 tree made"
	taken "it has moved" "group-moved JOB"
	kill "${MANAGER[@]}" "$etcd"
	wait "${MANAGER[@]}" "$etcd"
	rm -rf "/tmp/drain-$$.etcd"
	cp "$LAB_OUT/amd.log" "$LAB_OUT/taken.log"
	amd_up && wait_for 30 ctl_up
}

part_stay()
{
	ctl switch drain l0 >/dev/null
	ctl switch drain l1 >/dev/null
	checked_job 1500
	says "drain: the last switch: nothing else can serve the group" 0 \
		"group $JOB_NAME: stays: no other switch" switch drain sw
	sleep 3
	says "drain: it stays there" 0 "ready, 4 of 4" group show "$JOB_NAME"
	says "drain: it goes on" 0 "draining, 1 group there" switch drain sw
	ctl switch resume l0 >/dev/null
	ctl switch resume l1 >/dev/null
	event "group-moved $JOB_NAME" 20
	ktap $? "drain: it moves when there is room" "$(ctl group)"
	job_wait
	ktap $? "drain: no rank sees an error" "$(job_why)"
	wait_for 5 no_load
	ktap $? "drain: no load is left on the links" "$(ctl -j topology)"
	says "drain: of none" 2 'no switch "l9"' switch drain l9
	says "drain: of what" 1 "which one" switch drain
	ctl switch resume sw >/dev/null
}

# reach ACTION: how the middle switch handles RoCE from its links, "pass" or "drop".
reach()
{
	local port

	for port in down1 down2; do
		sw tc qdisc replace dev "$port" clsact &&
			sw tc filter replace dev "$port" ingress pref 1 handle 1 \
				protocol ip flower dst_ip "$(topo_ip4 sw)" \
				ip_proto udp dst_port 4791 action "$1" || return
	done
}

# unreached NAME [ENV=VALUE...]: a job is moved to a switch that its hosts do not reach,
# and goes on where it is.
unreached()
{
	steady_job 1 "${@:2}"
	reach drop
	ktap $? "unreached, $1: a switch gets no packets" "$(cat "$JOB_LOG".[0-9])"
	ctl group move "$JOB_NAME" to sw >/dev/null
	sleep "$(scaled 5000)e-3"
	on l0
	ktap $? "unreached, $1: the job has its tree" "$(ctl group)"
	[ "$1" = RC ] || wait_for 30 grep -q "stays on its tree" "$JOB_LOG.0"
	reach pass
	[ "$1" = RC ] ||
		wait_for 10 ctl group move "$JOB_NAME" to sw >/dev/null 2>&1
	wait_for 20 moved 1
	ktap $? "unreached, $1: it moves once they reach it" \
		"$(cat "$JOB_LOG.0"; tail -n 5 "$LAB_OUT/amd.log")"
	steady_end "unreached, $1"
	longest | awk -v most="$(scaled 1000)" '{ exit $1 > most }'
	ktap $? "unreached, $1: no sum waits for that" "$(longest)"
	! grep -E "(rank|group)-(lost|failed|rebuilt) $JOB_NAME" "$LAB_OUT/amd.log"
	ktap $? "unreached, $1: nor does the manager report one"
}

# RC sends again until they do, UC gives up.
part_unreached()
{
	unreached RC
	unreached UC INC_TRANSPORT=uc
	sw tc qdisc del dev down1 clsact
	sw tc qdisc del dev down2 clsact
}

# One operation, and 20 seconds before it in which no rank calls libinc.
busy_job()
{
	am_start 4 --count 1000 -i 0 -x 0 --check=1 --pause 20000000
	event "group-ready $JOB_NAME" 20
	BUSY+=("$JOB_NAME")
	PIDS+=("${JOB_PIDS[@]}")
}

# Ranks that compute take part when they call libinc: other groups do not wait for
# that.
part_computes()
{
	local BUSY=() PIDS=() name

	busy_job
	checked_job 1000
	name=$JOB_NAME
	PIDS+=("${JOB_PIDS[@]}")
	busy_job
	ctl switch drain l0 >/dev/null
	event "group-moved $name" 10
	ktap $? "computes: a group moves while others wait for their ranks" \
		"$(ctl event | tail -n 5)"
	for name in "${BUSY[@]}"; do
		event "group-moves $name" 5
		says "computes: its state" 0 "ready, 4 of 4" group show "$name"
		says "computes: whom it waits for" 0 "waits for ranks 0-3" \
			task show "$name"
	done
	says "computes: the drain names them, too" 0 \
		"group ${BUSY[0]}: moves away, waits for ranks 0-3: computing" \
		switch drain l0
	JOB_PIDS=("${PIDS[@]}")
	job_wait
	ktap $? "computes: all go on in the end" "$(job_why)"
	event "switch-drained l0" 10
	ktap $? "computes: then it is drained"
	ctl switch resume l0 >/dev/null
}

part_keep()
{
	ctl switch drain l1 >/dev/null
	drained l1
	ktap $? "a switch without groups is drained at once" "$(ctl switch)"
	kill_amd
	amd_up && wait_for 30 ctl_up
	drained l1
	ktap $? "killed manager: the next one knows it" "$(ctl switch)"
	ctl switch resume l1 >/dev/null
	amd_down
	amd_up && wait_for 30 ctl_up
	! drained l1
	ktap $? "and that it was resumed" "$(ctl switch)"
}

# names SWITCH...: the file that has the manager's switches names these.
names()
{
	local name

	for name in "$@"; do
		echo "switch = $(sock_of "$name")"
	done >"$CONF"
}

# reload TEXT: the manager reads that again, and an event says this.
reload()
{
	local before

	before=$(grep -cE "$1" "$LAB_OUT/amd.log")
	kill -HUP "$AMD"
	wait_for 10 says_again "$1" "$before"
}

# says_again TEXT BEFORE
says_again()
{
	[ "$(grep -cE "$1" "$LAB_OUT/amd.log")" -gt "$2" ]
}

is_up()
{
	ctl switch "$1" | grep -q ": up"
}

part_reload()
{
	amd_down
	names sw l0
	amd_up --config "$CONF" && wait_for 30 ctl_up
	says "a switch that is not named" 2 "knows no switch l1" switch l1
	names sw l0 l1
	reload "switches-read .*1 switches are new, 0 are not named"
	ktap $? "SIGHUP: an event" "$(cat "$LAB_OUT/amd.log")"
	wait_for 10 is_up l1
	ktap $? "SIGHUP: a new switch is there" "$(ctl switch)"
	fabric_known
	sleep 3
	checked_job 1500
	on l1
	ktap $? "SIGHUP: it gets trees" "$(ctl group)"
	echo "switch = relative.sock" >>"$CONF"
	reload "switches-wrong .*$CONF:[0-9]*: the switches are as before: .*relative.sock: the path"
	ktap $? "SIGHUP: a file that is wrong" "$(cat "$LAB_OUT/amd.log")"
	names sw sw
	reload "switches-wrong .*$CONF: the switches are as before: .*sw.* is given twice"
	ktap $? "SIGHUP: a switch that is named twice" "$(cat "$LAB_OUT/amd.log")"
	names
	reload "switches-wrong .*$CONF: the switches are as before: no switch"
	ktap $? "SIGHUP: a file without a switch" "$(cat "$LAB_OUT/amd.log")"
	names sw l0 && echo "nonsense = 1" >>"$CONF"
	reload "switches-wrong .*$CONF:[0-9]*: the switches are as before: .nonsense.: there is no such"
	ktap $? "SIGHUP: an option that is none" "$(cat "$LAB_OUT/amd.log")"
	rm "$CONF" && mkfifo "$CONF"
	reload "switches-wrong .*$CONF: the switches are as before: is not a regular file"
	ktap $? "SIGHUP: a file that has become a pipe" "$(cat "$LAB_OUT/amd.log")"
	rm "$CONF"
	is_up l1
	ktap $? "SIGHUP: then all is as before" "$(ctl switch)"
	names sw l0
	reload "switches-read .*0 switches are new, 1 are not named"
	event "group-moved $JOB_NAME" 20
	ktap $? "SIGHUP: a group leaves a switch that is not named any more" \
		"$(tail -n 5 "$LAB_OUT/amd.log")"
	event "switch-gone l1" 10
	ktap $? "SIGHUP: then it is gone" "$(tail -n 5 "$LAB_OUT/amd.log")"
	says "SIGHUP: and nobody sees it" 2 "knows no switch l1" switch l1
	wait_for 10 page_forgets
	ktap $? "SIGHUP: nor misses its links" "$(fetch /state)"
	job_wait
	ktap $? "SIGHUP: no rank sees an error" "$(job_why)"
	am_job "SIGHUP: a job without that switch" 4 --check --count 1000
	names sw l1 l0
	reload "switches-read"
	wait_for 10 is_up l1
	ktap $? "SIGHUP: it can come back" "$(ctl switch)"
	am_job "SIGHUP: and a job uses it" 4 --check --count 1000
}

suite "move swift hand one crossed killed taken stay unreached computes keep reload often" "$@"
