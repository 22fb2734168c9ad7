#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A group's life: what ends it, who is told how soon, what the manager's events
# say, and that nothing is left.
#
#   life.sh [VAR=VALUE]... [PART...]
#	PART: leave beat link hiccup agent silent timeouts tree wrong rebuild away absent hung
#	early late killed clock restored module kept outage cut give_up said_again
#	late_word told unnamed unheard quiet stands dead spines moved lossy;
#	by hand: many (MANY=1000)

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
# shellcheck source=selftests/lib/levels.sh
. "$ROOT/selftests/lib/levels.sh"
# shellcheck source=selftests/lib/fabric.sh
. "$ROOT/selftests/lib/fabric.sh"

# Operations of the job whose trees fail.
CHECKS=${CHECKS:-300}
# Groups, and clients that are killed.
MANY=${MANY:-100}
LIFE_ARGS=(--heartbeat 250 --misses 12 --agent-interval 500 --agent-misses 16)
AMD_ARGS=("${LIFE_ARGS[@]}")

suite_up()
{
	local name

	# Groups survive the manager.
	AMD_STORE=sqlite:$(mktemp -d)/store
	levels_up 2 2 || return
	for name in "${SWITCHES[@]}"; do
		agent_up "$name" || return
	done
	fabric_known
	amd_up && clock_up
}

# ended NAME CAUSE: the event of the last group's end names the cause.
ended()
{
	event "group-ended $JOB_NAME: $2"
	ktap $? "$1: the event names the cause" \
		"$(grep "$JOB_NAME" "$LAB_OUT/amd.log" | tail -n 5)"
	gone "$1"
}

part_leave()
{
	am_job "all ranks leave" 4 --check --count 1000
	ended "all leave" "a rank left: rank [0-3]"
	# One that has given up is missing, too, and so is one that is late: rank 1 is
	# there first, and longer.
	JOB_LATE=4 am_start 4
	am_rank 1 4 barrier --join-timeout 60000
	event "$JOB_NAME.*, 1 of 4"
	am_rank 0 4 barrier --join-timeout 1000
	wait "${JOB_PIDS[1]}"
	grep -q "came within 1000 ms: missing: ranks 2-3\$" "$JOB_LOG.0"
	ktap $? "two never come: the others learn which" "$(job_why)"
	kill "${JOB_PIDS[0]}"
	wait "${JOB_PIDS[0]}" 2>/dev/null
	gone "two never come"
	long_job 4
	ctl group del "$JOB_NAME"
	others_fail "deleted" -1 operator
	ended "deleted" "by hand: operator anonymous"
}

part_beat()
{
	long_job 4
	kill -STOP "${JOB_PIDS[2]}"
	# Its device still answers, so the switch does not miss it.
	{ sleep 6; kill -KILL "${JOB_PIDS[2]}"; } &
	others_fail "rank stopped" 2 "rank 2: no heartbeat" 4500
	wait $!
	ended "rank stopped" "a rank was lost: rank 2: no heartbeat"
	[ "$(grep "rank-lost $JOB_NAME" "$LAB_OUT/amd.log" |
	     grep -vc "after it was told of another's loss")" = 1 ]
	ktap $? "rank stopped: the events tell it from the ranks that end for it" \
		"$(grep "rank-lost $JOB_NAME" "$LAB_OUT/amd.log")"
}

# hiccup SECONDS NAME: nothing passes a host's link for so long; the job goes on. With
# rebuild it bears that the link is down.
hiccup()
{
	local before

	if [ "$INC_AM_ON_FAILURE" = rebuild ]; then
		ip -n "$TOPO-l1" link set v2 down
	else
		mute l1 v2
	fi
	nap "$1"
	before=$(stat_sum rx-messages)
	if [ "$INC_AM_ON_FAILURE" = rebuild ]; then
		ip -n "$TOPO-l1" link set v2 up
	else
		unmute l1 v2
	fi
	wait_for 2 busy "$before"
	ktap $? "$2: down for $1 s: goes on" "$(tail -n 5 "$LAB_OUT/amd.log")"
}

# A link that is down for less than the dead time, with what the manager and libinc
# have by default.
part_hiccup()
{
	local AMD_ARGS=(--dead-time 10000) INC_AM_ON_FAILURE end transport seconds
	local store=$AMD_STORE bad

	amd_again || return
	for end in end rebuild; do
		for transport in rc uc; do
			export INC_AM_ON_FAILURE=$end
			long_job 4 --transport $transport
			for seconds in 0.5 3 9; do
				hiccup $seconds "$transport, $end"
			done
			# A packet that rxe could not send is a cause for another tree.
			bad=ended
			[ $end = rebuild ] || bad="(failed|ended)"
			all_present && ! grep -qE "group-$bad $JOB_NAME" \
				"$LAB_OUT/amd.log"
			ktap $? "$transport, $end: nothing has failed" \
				"$(grep "$JOB_NAME" "$LAB_OUT/amd.log" | tail -n 3)"
			# The rank may have taken the manager for lost; it calls again.
			nap 2
			ctl group del "$JOB_NAME"
			others_fail "deleted" -1 operator
		done
	done
	unset INC_AM_ON_FAILURE
	# A rank cannot come back to a manager without a store, and waits for longer.
	AMD_STORE=none
	amd_again
	long_job 4
	hiccup 9 "without a store"
	ctl group del "$JOB_NAME"
	others_fail "deleted" -1 operator
	gone "hiccups"
	AMD_ARGS=("${LIFE_ARGS[@]}")
	AMD_STORE=$store
	amd_again
}

part_link()
{
	long_job 4
	ip -n "$TOPO-l1" link set v2 down
	others_fail "host's link down" 2 "l1:v2" 2500
	ended "host's link down" "a link failed: l1:v2"
	ip -n "$TOPO-l1" link set v2 up
	event "link-up l1: interface v2"
	host 2 ping -qc 1 "$(topo_ip4 sw)" >/dev/null
	sleep 1
	long_job 4
	ip -n "$TOPO-sw" link set down2 down
	wait "${JOB_PIDS[0]}" "${JOB_PIDS[1]}"
	grep -q ":[a-z0-9]* is down" "$JOB_LOG.0"
	ktap $? "a leaf's link down: ranks elsewhere are told" \
		"$(cat "$JOB_LOG.0")"
	ip -n "$TOPO-sw" link set down2 up
	job_wait
	ended "a leaf's link down" "a link failed: [a-z0-9]*:[a-z0-9]* is down"
	fabric_known
	sleep 1
	am_job "the next job runs" 4 --check --count 1000
}

# step SECONDS: of the wall clock. The shell's own waits go by that clock.
step()
{
	date -s "@$(($(date +%s) + $1))" >/dev/null
}

# Sessions, heartbeats and leases go by a clock that does not jump.
part_clock()
{
	local by moved

	# It is not about a guest that stands still for a moment.
	amd_down
	AMD_ARGS+=(--dead-time 3000)
	amd_up || return
	wait_for 10 ctl_up
	long_job 4
	for by in 3600 -7200 3600; do
		step $by
		moved=$(stat_sum rx-messages)
		# Longer than what ends a group: heartbeats, and the agents'.
		sleep 4
		[ "$(stat_sum rx-messages)" -gt "$moved" ] &&
			grep -q ready <<<"$(ctl group show)"
		ktap $? "clock moved by $by s: the job runs" \
			"$(ctl group show; tail -n 3 "$LAB_OUT/amd.log")"
	done
	! grep -qE "group-(ended|failed)|switch-(down|lost)|rank-lost" \
		<<<"$(grep -A 1000 "$JOB_NAME" "$LAB_OUT/amd.log")"
	ktap $? "clock moved: nothing was lost" "$(tail -n 5 "$LAB_OUT/amd.log")"
	ctl group del "$JOB_NAME"
	others_fail "clock moved" -1 operator
}

part_agent()
{
	long_job 4
	# An agent may be restarted while a job runs.
	kill "${AGENT[l1]}"
	wait "${AGENT[l1]}"
	event "switch-down l1"
	ktap $? "agent stopped: an event" "$(tail -n 5 "$LAB_OUT/amd.log")"
	agent_up l1
	wait_for 10 ctl_up
	busy 50
	ktap $? "agent restarted: the job still runs" "$(cat "$JOB_LOG".*)"
	kill -9 "${AGENT[l1]}"
	wait "${AGENT[l1]}" 2>/dev/null
	others_fail "agent lost for good" -1 "switch l1 is lost" 20000
	event "switch-lost l1"
	agent_up l1
	ended "agent lost for good" "a switch was lost: switch l1"
}

# A host that no packet reaches any more, although its link is up.
part_silent()
{
	long_job 4
	tc -n "$TOPO-l1" qdisc replace dev v2 root netem loss 100%
	others_fail "host unreachable" 2 "has lost rank 2 (retry-exceeded:" 3000
	tc -n "$TOPO-l1" qdisc del dev v2 root
	ended "host unreachable" "a tree failed: switch l1 has lost rank 2"
	# Neither end asks in vain any more: that would fail the next job, too.
	wait_for 5 host 2 ping -qc 1 -W 1 "$(topo_ip4 sw)" >/dev/null
}

# Over UC, a client counts its time-outs, and tells the manager then (draft,
# section 7): no packet of its data arrives, all others do.
part_timeouts()
{
	local proto

	INC_TRANSPORT=uc INC_RETRIES=5 long_job 4
	tc -n "$TOPO-l1" qdisc add dev v2 clsact
	for proto in ip ipv6; do
		tc -n "$TOPO-l1" filter add dev v2 ingress protocol $proto \
			flower ip_proto udp dst_port 4791 action drop
	done
	others_fail "UC: time-outs" 2 "rank 2" 5000
	grep -q "did not answer 5 times" "$JOB_LOG.2"
	ktap $? "UC: time-outs: the client gives up" "$(cat "$JOB_LOG.2")"
	tc -n "$TOPO-l1" qdisc del dev v2 clsact
	ended "UC: time-outs" "a rank was lost: rank 2: it says .the switch did not answer 5 times"
}

part_tree()
{
	local name

	long_job 4
	name=$(root)
	at "$name" inc-tool tree del "$(tree_of "$name")"
	others_fail "root's tree deleted" -1 .
	ended "root's tree deleted" "a tree failed: "
}

# cut_often N: delete a tree of the job N times, on any of its switches, at
# random moments.
cut_often()
{
	local n=0 name

	while [ $n -lt "$1" ] && kill -0 "${JOB_PIDS[0]}" 2>/dev/null; do
		# The first one at once: the job must not be over before.
		[ $n = 0 ] || sleep "0.$((RANDOM % 900 + 100))"
		name=${SWITCHES[RANDOM % ${#SWITCHES[@]}]}
		at "$name" inc-tool tree del "$(tree_of "$name")" \
			>/dev/null 2>&1 && n=$((n + 1))
	done
	echo "# seed $SEED: $n trees deleted"
	[ $n -gt 0 ]
}

# An rxe loses its place: a QP that is new has none to lose.
misplaced()
{
	am_start 4 mix --check="$CHECKS" --count 1000 --count 5000 -i 1 \
		--pause 5000
	wait_for 20 busy 50
	host 2 "$ROOT/selftests/lib/misplace.py" eth0
	ktap $? "place lost: the switch refuses what shows it"
	event "group-failed $JOB_NAME: a tree failed: .* rank 2 \\(local-place-lost: its RDMA device"
	ktap $? "place lost: an event tells why" \
		"$(tail -n 5 "$LAB_OUT/amd.log")"
	goes_on "place lost"
}

# All results are compared with inc-perf's own.
part_rebuild()
{
	local rc transport

	RANDOM=$SEED
	export INC_AM_ON_FAILURE=rebuild
	for transport in rc uc; do
		am_start 4 mix --check="$CHECKS" --count 5000 -i 1 --pause 5000 \
			--transport $transport
		wait_for 20 busy 50
		cut_often 3
		ktap $? "$transport: trees fail while the job runs"
		job_wait
		rc=$?
		ktap $rc "$transport: the job goes on over other trees" \
			"$(job_why)"
		event "group-rebuilt $JOB_NAME"
		ktap $? "$transport: there is an event" \
			"$(tail -n 5 "$LAB_OUT/amd.log")"
		gone "rebuild, $transport"
	done
	misplaced
	unset INC_AM_ON_FAILURE
	says "a wrong value" 1 "must be end or rebuild" env \
		INC_AM_ON_FAILURE=x INC_AM=127.0.0.1 inc-perf -J x -n 1 -r 0
	gone "rebuild"
}

amd_again()
{
	amd_down
	amd_up && wait_for 10 ctl_up
}

# So a rank that is stopped is not missed.
PATIENT=(--heartbeat 2000 --agent-misses 3)

# made N: the last job's N-th tree.
made()
{
	[ "$(grep -cE "$JOB_NAME\": . trees? made" "$LAB_OUT/amd.log")" = "$1" ]
}

# A tree that fails before all ranks are ready, which one of them is not.
part_early()
{
	local -x INC_AM_ON_FAILURE=rebuild
	local AMD_ARGS=("${AMD_ARGS[@]}" "${PATIENT[@]}")
	local name transport

	amd_again || return
	for transport in rc uc; do
		for name in l0 l1; do
			cut_unready "$name" "$transport, $name" \
				--transport $transport
			kill -CONT "${JOB_PIDS[2]}"
			goes_on "$transport, $name"
		done
	done

	cut_unready l0 "twice"
	# The next tree does not become ready, either.
	kill -STOP "${JOB_PIDS[1]}"
	kill -CONT "${JOB_PIDS[2]}"
	wait_for 10 made 2
	at l0 inc-tool tree del "$(tree_of l0)"
	event "$JOB_NAME\": round 2: rank . has a new queue pair, 3 of 4"
	ktap $? "twice: the next tree fails, too" "$(tail "$LAB_OUT/amd.log")"
	kill -CONT "${JOB_PIDS[1]}"
	goes_on "twice"

	unready stopped "link"
	ip -n "$TOPO-l1" link set uplink down
	event "group-failed $JOB_NAME: a link failed: (l1:uplink|sw:down2)"
	ktap $? "link: there is an event" "$(tail -n 5 "$LAB_OUT/amd.log")"
	ip -n "$TOPO-l1" link set uplink up
	kill -CONT "${JOB_PIDS[2]}"
	goes_on "link"

	unready stopped "agent"
	kill -9 "${AGENT[l1]}"
	wait "${AGENT[l1]}" 2>/dev/null
	event "group-failed $JOB_NAME: a switch was lost: switch l1"
	ktap $? "agent: there is an event" "$(tail -n 5 "$LAB_OUT/amd.log")"
	kill -CONT "${JOB_PIDS[2]}"
	agent_up l1
	goes_on "agent"
}

has_tree()
{
	[ -n "$(tree_of "$1")" ]
}

# made_too_late SWITCH OTHER: a tree fails while it is being made: a switch has its
# part already, the agent of another one has not answered.
made_too_late()
{
	local name=$1 other=$2 JOB_LATE=1 text

	text="$name's tree, as $other's is made"
	am_start 4 --check --count 1000
	event "$JOB_NAME.*, 3 of 4"
	kill -STOP "${AGENT[$other]}"
	am_rank 3 4 --check --count 1000
	wait_for 10 has_tree "$name"
	# The manager is to know that it is there.
	sleep 1.5
	at "$name" inc-tool tree del "$(tree_of "$name")"
	event "group-failed $JOB_NAME: a tree failed: tree .* of switch $name"
	ktap $? "$text: there is an event" "$(tail -n 5 "$LAB_OUT/amd.log")"
	kill -CONT "${AGENT[$other]}"
	event "$JOB_NAME\": makes another tree"
	ktap $? "$text: another tree is made" "$(tail -n 5 "$LAB_OUT/amd.log")"
	job_wait
	ktap $? "$text: no rank sees an error" "$(job_why)"
	gone "$text"
}

# no_other_tree NAME TEXT MS ARGS...: no agent answers any more.
no_other_tree()
{
	local AMD_ARGS=("${AMD_ARGS[@]}" "${PATIENT[@]}" "${@:4}")
	local name

	amd_again || return
	cut_unready l1 "$1"
	for name in "${!AGENT[@]}"; do
		kill -9 "${AGENT[$name]}"
		wait "${AGENT[$name]}" 2>/dev/null
	done
	kill -CONT "${JOB_PIDS[2]}"
	others_fail "$1" -1 "$2" "$3"
	for name in "${SWITCHES[@]}"; do
		agent_up "$name"
	done
	wait_for 10 ctl_up
	gone "$1"
}

# The end of a group whose tree has failed early.
part_late()
{
	local -x INC_AM_ON_FAILURE=rebuild

	# Without patience.
	amd_again || return
	made_too_late l0 l1
	made_too_late l1 l0

	cut_unready l1 "rank killed"
	kill -KILL "${JOB_PIDS[2]}"
	others_fail "rank killed" 2 "rank 2: " 6000
	ended "rank killed" "a rank was lost: rank 2"

	no_other_tree "no other tree" \
		"; there was no other tree in time: no switch can serve it" 5000 \
		--rebuild-time 3
	INC_JOIN_TIMEOUT_MS=8000 no_other_tree "no time" \
		"no other one was ready within 8000 ms" 9500
}

# The manager is killed when all ranks have a new queue pair, and an agent does not
# answer. As it is then killed again, they have one more.
killed_often()
{
	local n

	cut_unready l0 "$@"
	kill -STOP "${AGENT[l1]}"
	kill -CONT "${JOB_PIDS[2]}"
	for n in 1 2; do
		rejoined "$1, $n" 4
		kill_amd
		amd_up || return
	done
	kill -CONT "${AGENT[l1]}"
	goes_on "$1"
}

no_stream()
{
	[ -z "$(sw ss -Htn state established dst "$(topo_ip4 "$1")" \
		sport = :18790)" ]
}

# Rank 2 does not hear of the other tree, as its stream is lost then.
answer_lost()
{
	local ORPHANS

	cut_unready l1 "$@"
	kill -STOP "${AGENT[l0]}"
	kill -CONT "${JOB_PIDS[2]}"
	rejoined "$1" 4
	deafen deaf
	kill -CONT "${AGENT[l0]}"
	wait_for 10 made 2
	# "joined" is not acknowledged.
	wait_for 20 no_stream 2
	ktap $? "$1: rank 2 is away" "$(sw ss -tn; tail "$LAB_OUT/amd.log")"
	hear_again deaf
	goes_on "$1"
}

part_killed()
{
	local -x INC_AM_ON_FAILURE=rebuild
	local AMD_ARGS=("${AMD_ARGS[@]}" "${PATIENT[@]}")
	local how transport

	amd_again || return
	for transport in rc uc; do
		for how in stopped deaf; do
			killed_early $how "$transport, one rank $how" \
				--transport $transport
		done
		killed_often "$transport, one agent stopped" \
			--transport $transport
	done
	answer_lost "stream lost"
}

# unharmed WHEN NAME KNOWS: the job runs, and ends when it is told to.
unharmed()
{
	busy 50
	ktap $? "$1: the job runs" "$(cat "$JOB_LOG".*)"
	says "$1: $3" 0 "ready, 4 of 4 ranks" \
		inc-amctl -m "$(topo_ip4 sw)" group show "$JOB_NAME"
	ctl group del "$JOB_NAME"
	others_fail "$2" -1 operator
	ended "$2" "by hand: operator anonymous"
}

# A manager that is away for a while: the job does not notice.
part_away()
{
	long_job 4
	kill -9 "$AMD"
	amd_down
	busy 50
	ktap $? "no manager: the job runs" "$(cat "$JOB_LOG".*)"
	amd_up || return
	wait_for 10 ctl_up
	# They look for it at once, and it ends without those that do not.
	sleep 4
	unharmed "the manager is back" "found again" "it knows the group"
}

# All that has died comes back, the manager first, and there is a new job meanwhile,
# which would like to know where its hosts are. It takes no agent for lost earlier,
# nor the hosts behind them for moved.
part_absent()
{
	local -x INC_AM_ON_FAILURE=rebuild
	local name running pids

	long_job 4
	running=$JOB_NAME
	pids=("${JOB_PIDS[@]}")
	kill_amd
	kill -9 "${AGENT[@]}"
	agents_down
	amd_up
	am_start 4 --check --count 1000
	sleep 5
	! grep -q "switch-lost" "$LAB_OUT/amd.log"
	ktap $? "agents are away for 5 s, and not lost" \
		"$(grep "switch-lost" "$LAB_OUT/amd.log")"
	for name in "${SWITCHES[@]}"; do
		agent_up "$name"
		sleep 1
	done
	# It may have come too early.
	job_wait
	fabric_known
	sleep 3
	! grep -qE "host-moved|group-moves" "$LAB_OUT/amd.log"
	ktap $? "nobody has moved" \
		"$(grep -E "host-moved|group-moves" "$LAB_OUT/amd.log")"
	says "the job of before goes on" 0 "ready, 4 of 4 ranks" \
		inc-amctl -m "$(topo_ip4 sw)" group show "$running"
	ctl group del "$running"
	wait "${pids[@]}"
	gone "absent"
}

# came N: so many of the group's four ranks
came()
{
	ctl group show "$JOB_NAME" | grep -q "$1 of 4 ranks"
}

# The only manager stands still for longer than it waits for a heartbeat: ranks
# give it up, and come back to it.
part_hung()
{
	long_job 4
	kill -STOP "$AMD"
	sleep "$(scaled 8)"
	busy 50
	ktap $? "the manager hangs: the job runs" "$(cat "$JOB_LOG".*)"
	kill -CONT "$AMD"
	sleep "$(scaled 5)"
	unharmed "the manager goes on" "went on" "it has lost nobody"

	JOB_LATE=1 am_start 4 --check --count 1000
	wait_for 10 came 3
	kill -STOP "$AMD"
	# Longer than AM_ASK_MS and AM_ANSWER_MS: ranks look for it again.
	sleep "$(scaled 12)"
	am_rank 3 4 --check --count 1000
	kill -CONT "$AMD"
	job_wait
	ktap $? "the manager hangs while a group is formed" "$(job_why)"
	gone "hung while forming"
}

# A manager takes a group over while the agent of a leaf is silent: it still knows
# later what the group needs. An interface is what it was if it has another name.
# A manager with a store looks at its switches before it takes anybody.
while_it_starts()
{
	kill_amd
	kill -STOP "${AGENT[l1]}"
	amd_up || return
	am_start 4 --check --count 1000
	sleep 0.5
	kill -CONT "${AGENT[l1]}"
	job_wait
	ktap $? "a job that comes while the manager starts" "$(job_why)"
	gone "while it starts"
}

part_restored()
{
	fabric_known
	sleep 1
	long_job 4
	kill_amd
	kill -STOP "${AGENT[l1]}"
	amd_up || return
	event "group-restored $JOB_NAME"
	sleep 1
	kill -CONT "${AGENT[l1]}"
	wait_for 15 ctl_up
	sleep 2
	ip -n "$TOPO-l1" link set uplink name other
	sleep 2
	all_present
	ktap $? "an interface gets another name: the job runs" \
		"$(tail -n 5 "$LAB_OUT/amd.log")"
	ip -n "$TOPO-l1" link set other down
	others_fail "restored, then a link down" -1 . 2000
	ended "restored, then a link down" "a link failed: (l1:other|sw:down2)"
	ip -n "$TOPO-l1" link set other name uplink
	ip -n "$TOPO-l1" link set uplink up
	fabric_known
	while_it_starts
}

# The manager knows it of all three.
no_module()
{
	[ "$(ctl topology | grep -c "^ *switch .*rdma_inc is not loaded")" = 3 ]
}

# The module is not there for a while.
part_module()
{
	local out

	am_start 4 --check --count 1000 -i 100000 --pause 5000
	event "group-ready $JOB_NAME" 20
	rmmod rdma_inc
	job_wait
	event "group-ended $JOB_NAME: .*(not loaded|tree)" 10
	ktap $? "no module: why a running job ended" "$(ctl event | tail -n 4)"
	wait_for 10 no_module
	ktap $? "no module: the switch is down" "$(ctl topology)"
	am_start 2 --check --count 1000
	job_wait
	out=$(job_why)
	[[ $out == *"rdma_inc is not loaded"* ]]
	ktap $? "no module: a job is told" "$out"
	insmod "$INC_KO"
	wait_for 15 ctl_up
	am_job "the module is back: a job" 4 --check --count 1000
}

# What the manager holds: threads, descriptors, KiB of memory.
holds()
{
	local rss

	rss=$(awk '/^VmRSS/ { print $2 }' "/proc/$AMD/status")
	echo "$(find "/proc/$AMD/task" -mindepth 1 -maxdepth 1 | wc -l)" \
		"$(find "/proc/$AMD/fd" -mindepth 1 | wc -l)" "$rss"
}

settled()
{
	no_group && no_tree
}

churn()
{
	host 0 python3 "$ROOT/selftests/fabric/churn.py" \
		"$(topo_ip4 sw):18790" "$(topo_ip4 0)" "$1" "$2" "$SEED"
}

# Nothing is left of many groups, nor of clients that were killed.
part_many()
{
	local before after what

	# Its clients send no heartbeats.
	amd_down
	AMD_ARGS+=(--heartbeat 5000)
	amd_up || return
	wait_for 10 ctl_up
	churn make 20
	for what in make die; do
		before=$(holds)
		churn "$what" "$MANY"
		ktap $? "$what: $MANY"
		wait_for 20 settled
		ktap $? "$what: no group and no tree is left" "$(ctl group show)"
		# Connections end a little later.
		sleep 1
		after=$(holds)
		echo "# $what: threads, descriptors, KiB before: $before, after: $after"
		# The last hour of a group that has ended takes 57,800 bytes.
		python3 -c 'import sys
n, t, f, m, t2, f2, m2 = map(int, sys.argv[1:])
sys.exit(t2 > t + 4 or f2 > f + 8 or m2 > m + 8192 + 60 * n)' \
			"$MANY" $before $after
		ktap $? "$what: the manager holds no more than before" \
			"$before, then $after"
	done
}

# link_up A B: one more link between two switches.
link_up()
{
	ip -n "$TOPO-$1" link add "to-$2" type veth \
		peer name "to-$1" netns "$TOPO-$2" || return
	ip -n "$TOPO-$1" link set "to-$2" master br0 up
	ip -n "$TOPO-$2" link set "to-$1" master br0 up
}

# The port that the spanning tree blocks: "SWITCH PORT".
blocked_port()
{
	local name

	for name in "${SWITCHES[@]}"; do
		at "$name" bridge link show |
			sed -n "s/^[0-9]*: \([^@]*\)@.* state blocking .*/$name \1/p"
	done
}

# link_known SWITCH PORT: the manager counts the link there.
link_known()
{
	ctl topology | grep "^link" | grep -q "\b$1:$2\b"
}

three_links()
{
	[ "$(ctl topology | grep -c "^link")" = 3 ]
}

# rebuilt_job ARGS...: a job of four that gets another tree if its own fails. It runs.
rebuilt_job()
{
	fabric_known
	INC_AM_ON_FAILURE=rebuild am_start 4 --check --count 1000 -i 1500 \
		--pause 5000 "$@"
	event "group-ready $JOB_NAME" 20
	wait_for 20 busy 50
}

# cut_off: a job of four that waits for another tree, which cannot be: the leaf of
# ranks 2 and 3 is cut off.
cut_off()
{
	rebuilt_job
	ip -n "$TOPO-l1" link set uplink down
	event "group-failed $JOB_NAME: a link failed: (l1:uplink|sw:down2)"
	wait_for 10 no_tree_at l0
}

no_tree_at()
{
	[ -z "$(tree_of "$1")" ]
}

# The manager knows that leaves may have no more.
one_tree_each()
{
	[ "$(ctl -j topology | grep -o '"max-trees":1,' | wc -l)" = 2 ]
}

told_why()
{
	ctl why "$JOB_NAME" | grep -q "no other tree yet: \|another one waits for"
}

# refused_kept NAME: a job that comes while another one is being rebuilt.
refused_kept()
{
	am_start 1 --count 10
	job_wait
	[ $? != 0 ] && grep -q "some is kept for groups that are being rebuilt" \
		"$JOB_LOG.0"
	ktap $? "kept: $1 is refused, and told why" "$(job_why)"
}

# Nobody else gets the place of a group that is being rebuilt, at leaves with room for
# one tree each, where no other switch has any; not from the next manager either.
part_kept()
{
	local first pids log

	wait_for 10 ctl_up
	ctl switch drain sw >/dev/null
	at l0 inc-tool switch set max-trees 1
	at l1 inc-tool switch set max-trees 1
	wait_for 10 one_tree_each
	ktap $? "kept: each leaf may have one tree" "$(ctl -j topology)"
	cut_off
	ktap $? "kept: a job is being rebuilt" "$(tail -n 5 "$LAB_OUT/amd.log")"
	first=$JOB_NAME pids=("${JOB_PIDS[@]}") log=$JOB_LOG
	wait_for 10 told_why
	ktap $? "kept: why: what fails" "$(ctl why "$JOB_NAME")"
	refused_kept "a job that comes meanwhile"
	kill_amd
	amd_up --switch "$(sock_of sw)" || return
	sleep 1
	kill_amd
	amd_up || return
	refused_kept "one that comes to the manager after one that knew no leaf"
	ip -n "$TOPO-l1" link set uplink up
	JOB_NAME=$first JOB_PIDS=("${pids[@]}") JOB_LOG=$log
	job_wait
	ktap $? "kept: the job goes on" "$(job_why)"
	event "group-rebuilt $JOB_NAME"
	ktap $? "kept: there is an event" "$(tail -n 5 "$LAB_OUT/amd.log")"
	gone "kept"
	am_job "kept: then there is room again" 1 --count 10
	at l0 inc-tool switch set max-trees 0
	at l1 inc-tool switch set max-trees 0
	ctl switch resume sw >/dev/null
}

# Ranks are cut off for longer than the kernel keeps a connection that nobody answers.
part_outage()
{
	cut_off
	sleep 14
	ip -n "$TOPO-l1" link set uplink up
	job_wait
	ktap $? "cut off for 14 s: the job goes on" "$(job_why)"
	! grep -q "rank-lost $JOB_NAME" "$LAB_OUT/amd.log"
	ktap $? "cut off for 14 s: nobody is lost" "$(tail -n 5 "$LAB_OUT/amd.log")"
	gone "cut off for 14 s"
}

# The next manager knows that ranks may be cut off, and for how long they are awaited.
part_cut()
{
	cut_off
	sleep 2
	kill_amd
	amd_up || return
	sleep 14
	ip -n "$TOPO-l1" link set uplink up
	job_wait
	ktap $? "cut off, and another manager: the job goes on" "$(job_why)"
	gone "cut off, and another manager"
}

# Who is cut off learns what has ended its group, and not only what has cut it off.
part_told()
{
	cut_off
	sleep 2
	kill -9 "${JOB_PIDS[1]}"
	sleep 12
	ip -n "$TOPO-l1" link set uplink up
	job_wait
	grep -q "rank 1: connection lost" "$JOB_LOG.2" &&
		grep -q "rank 1: connection lost" "$JOB_LOG.3"
	ktap $? "a rank is killed while others are cut off: they are told" \
		"$(cat "$JOB_LOG.2" "$JOB_LOG.3")"
	gone "a rank is killed while others are cut off"
}

# Ranks that the cut leaves connected give up by themselves: nobody awaits them.
part_give_up()
{
	rebuilt_job --timeout 3000
	ip -n "$TOPO-l1" link set uplink down
	event "group-ended $JOB_NAME: a rank was lost: rank [01]: connection lost" 12
	ktap $? "ranks give up while rebuilt: the group ends" \
		"$(tail -n 5 "$LAB_OUT/amd.log")"
	job_wait
	ip -n "$TOPO-l1" link set uplink up
	gone "ranks give up while rebuilt"
}

# A rank is cut off when it has made its new queue pair: what it says is not heard.
cut_off_late()
{
	rebuilt_job --timeout 600000
	kill -STOP "${JOB_PIDS[2]}"
	at l0 inc-tool tree del "$(tree_of l0)"
	event "group-failed $JOB_NAME"
	sleep 1
	ip -n "$TOPO-l1" link set uplink down
	kill -CONT "${JOB_PIDS[2]}"
}

# Longer than its heartbeats may be missed; it says all again over another stream.
part_said_again()
{
	cut_off_late
	sleep 8
	ip -n "$TOPO-l1" link set uplink up
	job_wait
	ktap $? "cut off with a new queue pair for 8 s: the job goes on" \
		"$(job_why)"
	event "group-rebuilt $JOB_NAME"
	ktap $? "cut off with a new queue pair for 8 s: it has another tree" \
		"$(tail -n 5 "$LAB_OUT/amd.log")"
	gone "cut off with a new queue pair for 8 s"
}

# uplink add|del: all packets between l1 and the others are lost, or no more.
uplink()
{
	local args=()

	[ "$1" = del ] || args=(netem loss 100%)
	tc -n "$TOPO-l1" qdisc "$1" dev uplink root "${args[@]}"
	tc -n "$TOPO-sw" qdisc "$1" dev down2 root "${args[@]}"
}

# Ranks 2 and 3 do not hear of the tree that they have new queue pairs for.
unheard()
{
	rebuilt_job --timeout 600000
	kill -STOP "${AGENT[l1]}"
	at l0 inc-tool tree del "$(tree_of l0)"
	rejoined "$1" 4
	sleep "$2"
	uplink add
	kill -CONT "${AGENT[l1]}"
	wait_for 10 made 2
	ktap $? "$1: it is made" "$(tail -n 5 "$LAB_OUT/amd.log")"
}

# Of the 30 s for another tree, 6 have passed when it is there.
part_unheard()
{
	unheard "cut off from a new tree" 5
	sleep 26
	uplink del
	goes_on "cut off from a new tree"
	unheard "killed behind a new tree" 1
	kill -9 "${JOB_PIDS[2]}"
	sleep 8
	uplink del
	others_fail "killed behind a new tree" 2 "rank 2: " 24000
	ended "killed behind a new tree" "a rank was lost: rank 2: "
}

# Nobody sends anything that the cut could lose, so no tree fails.
part_quiet()
{
	fabric_known
	INC_AM_ON_FAILURE=rebuild am_start 4 --check --count 1000 -i 2 -x 0 \
		--reps 1 --pause 12000000 --timeout 600000
	event "group-ready $JOB_NAME" 20
	sleep 1
	uplink add
	sleep 9
	uplink del
	job_wait
	ktap $? "cut off while all compute: the job goes on" "$(job_why)"
	! grep -q "rank-lost $JOB_NAME" "$LAB_OUT/amd.log"
	ktap $? "cut off while all compute: nobody is lost" \
		"$(tail -n 5 "$LAB_OUT/amd.log")"
	gone "cut off while all compute"
}

# For longer than its manager may be silent, which it may not be.
part_stands()
{
	rebuilt_job
	kill -STOP "${JOB_PIDS[2]}"
	sleep 14
	kill -CONT "${JOB_PIDS[2]}"
	job_wait
	ktap $? "a rank stands still for 14 s: the job goes on" "$(job_why)"
	gone "a rank stands still for 14 s"
}

# Its group ends meanwhile.
part_late_word()
{
	local AMD_ARGS=(--agent-interval 500 --agent-misses 16) begun

	amd_down
	amd_up
	cut_off_late
	sleep 5
	kill -9 "${JOB_PIDS[0]}"
	sleep 10
	ip -n "$TOPO-l1" link set uplink up
	begun=$SECONDS
	job_wait
	((SECONDS - begun <= $(scaled 8)))
	ktap $? "cut off with a new queue pair: all are told in $((SECONDS - begun)) s" \
		"$(job_why)"
	grep -q "rank 0: connection lost" "$JOB_LOG.3"
	ktap $? "cut off with a new queue pair: told of what" "$(cat "$JOB_LOG.3")"
	gone "cut off with a new queue pair"
	amd_down
	AMD_ARGS=("${LIFE_ARGS[@]}")
	amd_up
}

# The next manager has lost a switch that a job's tree needs.
part_unnamed()
{
	rebuilt_job
	kill_amd
	amd_up --switch "$(sock_of sw)" --switch "$(sock_of l0)" || return
	event "group-restored $JOB_NAME.*another tree is made: .* without switch l1"
	ktap $? "a switch is not named any more: an event says so" \
		"$(tail -n 5 "$LAB_OUT/amd.log")"
	job_wait
	ktap $? "a switch is not named any more: the job goes on without" \
		"$(job_why)"
	event "group-rebuilt $JOB_NAME"
	ktap $? "a switch is not named any more: it has another tree" \
		"$(tail -n 5 "$LAB_OUT/amd.log")"
	kill_amd
	amd_up
	gone "a switch is not named any more"
}

# A rank is killed while another tree is awaited: its kernel says so.
part_dead()
{
	cut_off
	kill -9 "${JOB_PIDS[0]}"
	ip -n "$TOPO-l1" link set uplink up
	others_fail "dead while rebuilt" 0 "rank 0: connection lost" 7000
	wait_for 2 no_tree
	ktap $? "dead while rebuilt: no tree is left" "$(ctl group show)"
	ended "dead while rebuilt" "a rank was lost: rank 0"
}

# Two spines, and the spanning tree protocol: a link is cut, and after seconds
# there is another way.
part_spines()
{
	local blocked name

	amd_down
	switch_up s1 && agent_up s1
	for name in "${SWITCHES[@]}"; do
		ip -n "$TOPO-$name" link set br0 type bridge stp_state 1 \
			forward_delay 200 hello_time 100 max_age 600
	done
	ip -n "$TOPO-sw" link set br0 type bridge priority 4096
	link_up l0 s1 && link_up l1 s1
	sleep 8
	fabric_known
	amd_up
	wait_for 10 ctl_up
	sleep 2
	read -ra blocked <<<"$(blocked_port)"
	wait_for 10 three_links && [ ${#blocked[@]} = 2 ] &&
		! link_known "${blocked[@]}"
	ktap $? "two spines: all links but the one that is blocked" \
		"${blocked[*]}; $(ctl topology)"
	export INC_AM_ON_FAILURE=rebuild
	am_start 4 mix --check="$CHECKS" --count 5000 -i 1 --pause 20000
	event "group-ready $JOB_NAME" 20
	ktap $? "two spines: the job begins" "$(ctl topology)"
	wait_for 20 busy 50
	ctl group show "$JOB_NAME" | sed 's/^/# before: /'
	ip -n "$TOPO-sw" link set down1 down
	event "group-rebuilt $JOB_NAME" 40
	ktap $? "two spines: another tree after a link has failed" \
		"$(tail -n 5 "$LAB_OUT/amd.log")"
	ctl group show "$JOB_NAME" | sed 's/^/# after: /'
	wait_for 15 three_links && link_known "${blocked[@]}"
	ktap $? "two spines: the link that was blocked takes its place" \
		"${blocked[*]}; $(ctl topology)"
	job_wait
	ktap $? "two spines: the job goes on over it" "$(job_why)"
	# The ranks may notice it first.
	grep -qE "group-failed $JOB_NAME: a (link|tree) failed" \
		"$LAB_OUT/amd.log"
	ktap $? "two spines: an event names the cause" \
		"$(grep "group-" "$LAB_OUT/amd.log" | tail -n 5)"
	unset INC_AM_ON_FAILURE
	gone "two spines"
}

# A namespace with two bridges, each connected to a leaf, and between host 3 and
# the switches: to move the host to the other one takes no link down.
hypervisor_up()
{
	local n

	ip netns add "$TOPO-hv" || return
	# A bridge without an address of its own would have this one, and leave
	# it to the host.
	ip -n "$TOPO-l1" link set v3 address 00:00:00:00:00:01
	for n in 0 1; do
		ip -n "$TOPO-hv" link add "u$n" type bridge mcast_snooping 0 &&
			ip -n "$TOPO-hv" link add "up$n" type veth \
				peer name vm netns "$TOPO-l$n" &&
			ip -n "$TOPO-hv" link set "up$n" master "u$n" up &&
			ip -n "$TOPO-hv" link set "u$n" up &&
			ip -n "$TOPO-l$n" link set vm master br0 up || return
	done
	ip -n "$TOPO-l1" link set v3 netns "$TOPO-hv"
	ip -n "$TOPO-hv" link set v3 master u1 up
	host 3 ping -qc 3 "$(topo_ip4 sw)" >/dev/null
	wait_for 10 host3_at l1
}

host3_at()
{
	ctl topology | grep -q "host $(topo_ip4 3) at $1:vm"
}

# move_host FROM TO: host 3's virtual machine.
move_host()
{
	ip -n "$TOPO-hv" link set v3 master "u$2"
	# As a migrated machine does, so that all bridges know.
	host 3 ping -bqc 1 -W 1 "10.$TOPO_NET.255.255" >/dev/null 2>&1
	wait_for 10 host3_at "l$2"
	ktap $? "moved from l$1 to l$2: the manager knows" "$(ctl topology)"
}

# A host moves to another leaf while its group runs.
part_moved()
{
	hypervisor_up
	ktap $? "a host behind a bridge that is no switch" "$(ctl topology)"
	long_job 4
	move_host 1 0
	sleep 2
	# By then it is the link of something else.
	ip -n "$TOPO-l1" link set vm down
	sleep 1
	all_present
	ktap $? "moved: the link that it had is not needed" \
		"$(tail -n 5 "$LAB_OUT/amd.log")"
	ip -n "$TOPO-l0" link set vm down
	others_fail "moved, then its link goes down" 3 \
		"l0:vm, to rank 3"
	ip -n "$TOPO-l0" link set vm up
	ip -n "$TOPO-l1" link set vm up
	gone "moved"

	local -x INC_AM_ON_FAILURE=rebuild
	host 3 ping -qc 1 "$(topo_ip4 sw)" >/dev/null
	long_job 4
	ctl group show "$JOB_NAME" | sed 's/^/# before: /'
	move_host 0 1
	event "group-moves $JOB_NAME: the host of rank 3 is at switch l1 now" 20
	ktap $? "moved, rebuild: an event" "$(tail -n 5 "$LAB_OUT/amd.log")"
	event "group-moved $JOB_NAME" 20
	ktap $? "moved, rebuild: another tree" "$(tail -n 5 "$LAB_OUT/amd.log")"
	ctl group show "$JOB_NAME" | sed 's/^/# after: /'
	# The cable itself is plugged into another switch.
	sleep 6
	ip -n "$TOPO-hv" link set v3 netns "$TOPO-l0"
	ip -n "$TOPO-l0" link set v3 master br0 up
	wait_for 20 moved_twice
	ktap $? "a cable is moved, rebuild: another tree" \
		"$(tail -n 5 "$LAB_OUT/amd.log")"
	wait_for 10 busy 50
	ktap $? "moved twice: the job runs" "$(job_why)"
	ctl group del "$JOB_NAME"
	others_fail "moved twice, deleted" -1 operator
	ip netns del "$TOPO-hv"
}

moved_twice()
{
	[ "$(grep -cE "group-(moved|rebuilt) $JOB_NAME" "$LAB_OUT/amd.log")" = 2 ]
}

# A rank whose request disagrees with the others': the manager says which.
part_wrong()
{
	JOB_ODD[3]="--op max"
	am_start 4 allreduce -t int32 --op sum --count 100
	job_wait
	grep -q "disagrees with that of rank\|request of rank 3" "$JOB_LOG.0"
	ktap $? "ranks that disagree are told who" "$(tail -n 2 "$JOB_LOG".*)"
	event "message-failed $JOB_NAME: .*rank 3"
	ktap $? "and there is an event" "$(tail -n 5 "$LAB_OUT/amd.log")"
	JOB_ODD=()
	gone "wrong"
}

# Packets are lost, and nobody has chosen a transport: the ranks change to UC, by
# another group.
part_lossy()
{
	local r

	topo_bursts off
	for ((r = 0; r < TOPO_N; r++)); do
		host "$r" tc qdisc replace dev eth0 root netem loss 2% limit 10000
		at "${HOSTS_AT[r]}" tc qdisc replace dev "v$r" root netem \
			loss 2% limit 10000
	done
	am_job "packets are lost" 4 allreduce --count 65536 -i 150 -x 0 --reps 1 \
		--check --seed "$SEED"
	event "group-moved $JOB_NAME: over UC instead of RC"
	ktap $? "packets are lost: they have changed to UC" \
		"$(grep "$JOB_NAME" "$LAB_OUT/amd.log" | tail -n 5)"
	gone "packets are lost"
	INC_TRANSPORT=rc am_job "RC was chosen" 4 allreduce --count 65536 -i 20 \
		-x 0 --reps 1 --check --seed "$SEED"
	! grep -q "$JOB_NAME~uc" "$LAB_OUT/amd.log"
	ktap $? "RC was chosen: they keep it"
	for ((r = 0; r < TOPO_N; r++)); do
		host "$r" tc qdisc del dev eth0 root
		at "${HOSTS_AT[r]}" tc qdisc del dev "v$r" root
	done
	topo_bursts on
	gone "RC was chosen"
}

suite "leave beat link hiccup agent silent timeouts tree wrong rebuild away absent hung \
	early late killed clock restored module kept outage cut give_up said_again late_word \
	told unnamed unheard quiet stands \
	dead spines moved lossy" "$@"
