#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Groups of the manager whose ranks connect by RDMA CM (INC_AM_CONNECT=cm): two
# leaves with two hosts each, below a root; stock rxe everywhere.
#
#   cm-job.sh [VAR=VALUE]... [PART...]
#	PART: job uc mixed without never wrong restart connect rebuild early
#	options

# shellcheck disable=SC2319 # "$?" of a condition is what ktap wants
# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
# shellcheck source=selftests/lib/levels.sh
. "$ROOT/selftests/lib/levels.sh"
# shellcheck source=selftests/lib/fabric.sh
. "$ROOT/selftests/lib/fabric.sh"

PORT=18792
CHECKS=${CHECKS:-300}
# How agents are started.
CM=(--cm "[::]:$PORT")
# What is tested here is not how fast a switch finds a dead rank.
AMD_ARGS=(--dead-time "$(scaled 3000)")

export INC_AM_CONNECT=cm

all_agents_up()
{
	local name

	for name in "${SWITCHES[@]}"; do
		agent_up "$name" "$@" || return
	done
}

suite_up()
{
	local name

	AMD_STORE=sqlite:$(mktemp -d)/store
	gcc -O2 -Wall -Wextra -I"$ROOT/kernel/include/uapi" \
		-I"$ROOT/userspace" -o "$LAB_OUT/cm_rank" \
		"$ROOT/selftests/fabric/cm_rank.c" -lrdmacm -libverbs &&
		levels_up 2 2 || return
	for name in "${SWITCHES[@]}"; do
		topo_rxe "$name" "$TOPO$name" br0 || return
	done
	all_agents_up "${CM[@]}" || return
	fabric_known
	amd_up && clock_up
}

suite_down()
{
	local name

	amd_down
	agents_down
	for name in "${SWITCHES[@]}"; do
		at "$name" rdma link del "$TOPO$name" 2>/dev/null
	done
	return 0
}

# Connections of ranks, and agents' ends of them; rdma shows all devices.
cm_ids()
{
	sw rdma resource show cm_id | grep "dst-addr"
}

# cm_are N: so many ranks are connected to an agent.
cm_are()
{
	[ "$(cm_ids | grep -c "state CONNECT .*dst-addr [0-9a-f.:]*:$PORT")" = "$1" ]
}

no_cm()
{
	[ -z "$(cm_ids)" ]
}

# What agents have said of connections, so far.
connected()
{
	cat "$LAB_OUT"/agentd-*.log | grep -c "RDMA CM: .* is connected"
}

# left NAME: no tree, no group, no connection.
left()
{
	wait_for 10 no_group
	ktap $? "$1: no group is left" "$(ctl group show)"
	gone "$1"
	wait_for 20 no_cm
	ktap $? "$1: no connection is left" "$(cm_ids)"
}

# connected_by HOW: what is told of the group's queue pairs.
connected_by()
{
	local what

	for what in "group show" "why"; do
		# shellcheck disable=SC2086	# words
		says "$what tells how ranks are connected" 0 \
			"queue pairs: $1" inc-amctl -m "$(topo_ip4 sw)" \
			$what "$JOB_NAME"
	done
}

part_job()
{
	local before how

	before=$(connected)
	long_job 4
	cm_are 4
	ktap $? "4 ranks have a connection by CM each" "$(cm_ids)"
	[ $(($(connected) - before)) = 4 ]
	ktap $? "the agents have accepted them" \
		"$(tail -n 4 "$LAB_OUT"/agentd-*.log)"
	event "group-ready $JOB_NAME: 4 ranks, 4 of them by RDMA CM"
	ktap $? "there is an event" "$(tail -n 3 "$LAB_OUT/amd.log")"
	connected_by "connected by RDMA CM"
	says "group show -j" 0 '"by-cm":4' inc-amctl -m "$(topo_ip4 sw)" -j \
		group show "$JOB_NAME"
	says "it is deleted" 0 "" inc-amctl -m "$(topo_ip4 sw)" group del \
		"$JOB_NAME"
	others_fail "deleted" -1 operator
	left "deleted"
	long_job 4
	kill -9 "${JOB_PIDS[2]}"
	others_fail "killed" 2 "rank 2"
	left "killed"
	am_job "4 ranks: every result is right" 4 mix --check="$CHECKS" \
		--count 5000 -i 1
	left "4 ranks"
	for how in manager cm; do
		INC_AM_CONNECT=$how am_job "16 ranks, by $how" 16 --check \
			--count 1000
		echo "# 16 ranks, by $how: ready $(ready_ms 16) ms after the last came"
		left "16 ranks"
	done
}

# Members over UC, of a leaf.
uc_at()
{
	at "$1" inc-tool member show | grep -c "transport uc"
}

part_uc()
{
	local -x INC_TRANSPORT=uc
	local name

	long_job 4
	cm_are 4
	ktap $? "4 ranks over UC have a connection by CM each" "$(cm_ids)"
	for name in l0 l1; do
		[ "$(uc_at "$name")" = 2 ]
		ktap $? "$name has two members over UC" \
			"$(at "$name" inc-tool member show)"
	done
	event "group-ready $JOB_NAME: 4 ranks, 4 of them by RDMA CM"
	ktap $? "UC: there is an event" "$(tail -n 3 "$LAB_OUT/amd.log")"
	connected_by "connected by RDMA CM"
	kill -9 "${JOB_PIDS[2]}"
	others_fail "UC, killed" 2 "rank 2"
	left "UC, killed"
	am_job "4 ranks over UC: every result is right" 4 mix \
		--check="$CHECKS" --count 5000 -i 1
	left "4 ranks over UC"
	am_job "16 ranks over UC" 16 --check --count 1000
	left "16 ranks over UC"
}

# Ranks of the same job that connect in different ways, over RC and UC.
part_mixed()
{
	local r

	am_start 0
	for r in 0 1 2 3; do
		INC_AM_CONNECT=$( ((r % 2)) && echo manager || echo cm) \
			INC_TRANSPORT=$( ((r / 2)) && echo uc || echo rc) \
			am_rank "$r" 4 --check --count 1000 -i 500 --pause 5000
	done
	wait_for 20 busy_or_dead
	connected_by "2 connected by RDMA CM, 2 by the manager"
	job_wait
	ktap $? "ranks with CM, and without" "$(job_why)"
	event "group-ready $JOB_NAME: 4 ranks, 2 of them by RDMA CM"
	ktap $? "the event says how many" "$(tail -n 3 "$LAB_OUT/amd.log")"
	left "mixed"
}

# The manager has lost each switch.
ctl_down()
{
	! ctl topology | grep -q "^switch.*: up"
}

# Agents that are started again at once may not have been missed yet.
agents_ended()
{
	agents_down
	wait_for 10 ctl_down
}

part_without()
{
	agents_ended
	agent_up sw "${CM[@]}" && agent_up l1 "${CM[@]}" && agent_up l0 || return
	wait_for 10 ctl_up
	long_job 4
	! ctl group show "$JOB_NAME" | grep -q "switch l0" && cm_are 4
	ktap $? "a leaf without --cm: its hosts connect to the root" \
		"$(ctl group show "$JOB_NAME"; cm_ids)"
	ctl group del "$JOB_NAME"
	others_fail "a leaf without --cm" -1 operator
	left "a leaf without --cm"
	agents_ended
	all_agents_up || return
	wait_for 10 ctl_up
	am_start 4 --check --count 1000
	others_fail "no agent with --cm" -1 \
		"switch .* does not accept RDMA CM, .* inc-agentd with --cm" \
		10000
	INC_AM_CONNECT='' am_job "without CM, such a job runs" 4 --check \
		--count 1000
	agents_ended
	all_agents_up "${CM[@]}" || return
	wait_for 10 ctl_up
	am_job "an agent that was started again with --cm" 4 --check \
		--count 1000
	left "without"
}

# stranger ARGS...: a job of four ranks, of which rank 3 does not connect by
# itself. Lines to file descriptor 7 are what it says.
stranger()
{
	rm -f "$LAB_OUT/peer.in" "$LAB_OUT/peer.log"
	mkfifo "$LAB_OUT/peer.in"
	ip netns exec "$TOPO-h3" python3 "$ROOT/selftests/fabric/cm_peer.py" \
		rank "$(topo_ip4 sw):18790" "$(topo_ip4 3)" \
		<"$LAB_OUT/peer.in" >"$LAB_OUT/peer.log" 2>&1 &
	PEER=$!
	exec 7>"$LAB_OUT/peer.in"
	# It takes seconds to start.
	wait_for 60 grep -q up "$LAB_OUT/peer.log"
	JOB_LATE=1 am_start 4 "$@"
	echo "join $JOB_NAME 4 3 ${INC_TRANSPORT:-rc}" >&7
	wait_for 20 grep -q joined "$LAB_OUT/peer.log"
	ktap $? "a rank is told where to connect" "$(cat "$LAB_OUT/peer.log")"
	read -r _ P_ADDR P_PORT P_TREE P_MEMBER P_QPN P_RKEY < \
		<(grep joined "$LAB_OUT/peer.log")
	wait_for 10 cm_are 3
	ktap $? "the others are connected" "$(cm_ids)"
}

stranger_away()
{
	exec 7>&-
	kill -9 "$PEER" 2>/dev/null
	wait "$PEER" 2>/dev/null
}

# What stands between "joined" and the connection.
part_never()
{
	amd_down
	AMD_ARGS+=(--forming-time "$(scaled 10)")
	amd_up || return
	AMD_ARGS=("${AMD_ARGS[@]:0:2}")
	wait_for 10 ctl_up
	stranger --check --count 1000
	others_fail "a rank never connects" -1 \
		"4 of 4 ranks came, 3 are ready.* waited for rank 3 to connect" \
		20000
	stranger_away
	left "a rank never connects"
	amd_down
	amd_up || return
	wait_for 10 ctl_up

	stranger --check --count 1000
	kill -9 "$PEER"
	others_fail "a rank is killed before it connects" -1 "rank 3: .*lost"
	stranger_away
	left "a rank is killed before it connects"

	stranger --check --count 1000
	echo failure >&7
	others_fail "a rank cannot connect" -1 "rank 3: it says .it has? no cable\""
	stranger_away
	left "a rank cannot connect"

	# Nobody answers in CM's place.
	at l1 rdma link del "${TOPO}l1"
	am_start 4 --check --count 1000
	others_fail "no RDMA device at the switch" -1 \
		"RDMA CM to $(switch_ip4 l1) port $PORT: no answer within" 20000
	grep -q "rank [23]: it says .RDMA CM to .*: no answer" "$JOB_LOG".[01]
	ktap $? "the others are told why" "$(job_why)"
	topo_rxe l1 "${TOPO}l1" br0
	left "no RDMA device at the switch"
	am_job "with the device" 4 --check --count 1000
	left "with the device"
}

# cm_rank TYPE KEY [HOW]: the stranger's connection, by a program that knows only
# librdmacm.
cm_rank()
{
	local uc=

	[ "$1" = rc ] || uc=-u
	host 3 timeout -s KILL "$(scaled 30)" "$LAB_OUT/cm_rank" ${uc:+"$uc"} \
		"$P_ADDR" "$P_PORT" "$P_TREE" "$P_MEMBER" "$P_QPN" "$2" 10 0 \
		"${3:-}"
}

# wrong_over TYPE OTHER: the type, and the other one.
wrong_over()
{
	local -x INC_TRANSPORT=$1
	local out rc pid

	stranger allreduce --count 1000 -i 1000000 --pause 10000
	out=$(cm_rank "$1" $((P_RKEY ^ 1)))
	rc=$?
	[ $rc = 3 ] && [[ $out == *"no tree has such a rank"* ]]
	ktap $? "$1: a wrong key is refused" "status $rc: $out"
	out=$(cm_rank "$1" "$P_RKEY" mtu)
	[[ $out == *"the tree's pmtu is"* ]]
	ktap $? "$1: another path MTU is refused" "$out"
	out=$(cm_rank "$2" "$P_RKEY")
	[[ $out == *"rank $P_MEMBER is ${1^^}, the QP ${2^^}"* ]]
	ktap $? "$1: a QP over $2 is refused" "$out"
	cm_rank "$1" "$P_RKEY" stay >"$LAB_OUT/rank.log" &
	pid=$!
	wait_for 10 cm_are 4
	ktap $? "$1: the right key: librdmacm alone connects" \
		"$(cat "$LAB_OUT/rank.log")"
	echo rts >&7
	wait_for 10 grep -q ready "$LAB_OUT/peer.log"
	ktap $? "the group is ready" "$(cat "$LAB_OUT/peer.log")"
	out=$(cm_rank "$1" "$P_RKEY")
	[[ $out == *"is connected already"* ]]
	ktap $? "it cannot be connected twice" "$out"
	# Without the flag the connection's end is the member's.
	# shellcheck disable=SC2046	# words
	kill $(ip netns pids "$TOPO-h3" | grep -vx "$PEER")
	wait "$pid" 2>/dev/null
	others_fail "it disconnects" -1 .
	stranger_away
	left "it disconnects"
}

part_wrong()
{
	wrong_over rc uc
	wrong_over uc rc
}

restart_over()
{
	local -x INC_TRANSPORT=$1

	am_start 4 --check --count 1000 -i 2000 --pause 5000
	wait_for 20 busy_or_dead
	kill_amd
	amd_up || return
	wait_for 10 all_present
	ktap $? "the next manager has the group" \
		"$(ctl group show; tail -n 3 "$LAB_OUT/amd.log")"
	connected_by "connected by RDMA CM"
	agents_ended
	all_agents_up "${CM[@]}" || return
	wait_for 10 ctl_up
	job_wait
	ktap $? "$1: manager and agents are killed: no rank sees an error" \
		"$(job_why)"
	left "$1, killed manager"
}

part_restart()
{
	restart_over rc
	restart_over uc
}

# The manager is killed before a rank is connected.
part_connect()
{
	local how

	for how in stopped deaf; do
		killed_unready $how "one rank $how" || return
		left "one rank $how"
	done
}

# Its N-th other tree is in use.
rebuilt()
{
	[ "$(grep -c "group-rebuilt $JOB_NAME: .* 4 of them" \
		"$LAB_OUT/amd.log")" = "$1" ]
}

rebuild_over()
{
	local -x INC_TRANSPORT=$1 INC_AM_ON_FAILURE=rebuild
	local n

	am_start 4 mix --check="$CHECKS" --count 5000 -i 1 --pause 20000
	wait_for 20 busy 50
	for n in 1 2; do
		at "l$((n - 1))" inc-tool tree del "$(tree_of "l$((n - 1))")"
		wait_for 20 rebuilt "$n"
		ktap $? "other tree $n: all connect again" \
			"$(tail -n 4 "$LAB_OUT/amd.log")"
		wait_for 10 cm_are 4
		ktap $? "other tree $n: one connection each" "$(cm_ids)"
	done
	kill_amd
	amd_up || return
	wait_for 10 all_present
	at l0 inc-tool tree del "$(tree_of l0)"
	wait_for 20 rebuilt 1
	ktap $? "the next manager has them connect again, too" \
		"$(tail -n 4 "$LAB_OUT/amd.log")"
	job_wait
	ktap $? "$1: no rank sees an error" "$(job_why)"
	left "rebuild over $1"
}

part_rebuild()
{
	rebuild_over rc
	rebuild_over uc
}

# early_over rc|uc: the tree fails before all ranks are connected.
early_over()
{
	local -x INC_TRANSPORT=$1 INC_AM_ON_FAILURE=rebuild

	cut_unready l1 "$1, one rank not connected"
	kill -CONT "${JOB_PIDS[2]}"
	goes_on "$1, one rank not connected"
	wait_for 20 no_cm
	ktap $? "$1: no connection is left" "$(cm_ids)"

	# It may as well be that the tree has failed, or the agent.
	at l1 rdma link del "${TOPO}l1"
	am_start 4 --check --count 1000
	event "group-failed $JOB_NAME: .*rank [23]: it says .RDMA CM to .*: no answer" 20
	ktap $? "$1, no RDMA device at the switch: there is an event" \
		"$(tail -n 5 "$LAB_OUT/amd.log")"
	topo_rxe l1 "${TOPO}l1" br0
	goes_on "$1, no RDMA device at the switch"
	killed_early deaf "$1, one rank deaf"
	left "$1"
}

part_early()
{
	early_over rc
	early_over uc
}

# impostor KIND TEXT: a manager that answers in another way.
impostor()
{
	local at pid

	at=$(topo_ip4 sw):18799
	rm -f "$LAB_OUT/impostor.log"
	# Not a function: the PID has to be the program's.
	ip netns exec "$TOPO-sw" python3 \
		"$ROOT/selftests/fabric/cm_peer.py" manager "$at" "$1" \
		>"$LAB_OUT/impostor.log" 2>&1 &
	pid=$!
	wait_for 30 grep -q listening "$LAB_OUT/impostor.log"
	SAYS_BY=(host 0)
	says "a manager that is $1" 1 "$2" env INC_AM="$at" timeout 20 \
		inc-perf -J x -n 1 -r 0
	SAYS_BY=(sw)
	kill "$pid"
	wait "$pid" 2>/dev/null
	return 0
}

part_options()
{
	says "a wrong value" 1 "must be manager or cm" env INC_AM_CONNECT=x \
		INC_AM=127.0.0.1 inc-perf -J x -n 1 -r 0
	says "without a manager it has no effect" 1 "rendezvous daemon" env \
		INC_SERVER=127.0.0.1:1 inc-perf -J x -n 1 -r 0
	says "no such host" 1 "manager at nohost.invalid, port 18790: no name server" env \
		INC_AM=nohost.invalid inc-perf -J x -n 1 -r 0
	impostor old "does not know RDMA CM"
	impostor wrong "what it sends is not understood"
}

suite "job uc mixed without never wrong restart connect rebuild early options" \
	"$@"
