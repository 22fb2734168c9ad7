# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The aggregation manager, agents, and jobs that ask the manager for a tree.
# Sourced after suite.sh.
#
#   agent_up SWITCH    agents_down    amd_up    amd_down
#   am_start N ARGS...   am_job NAME N ARGS...               ctl ARGS...

PATH=$INC_USER/manager:$INC_USER/agent:$PATH
LD_LIBRARY_PATH=$INC_USER/manager:$LD_LIBRARY_PATH

SAN_ARGS=()
if [ -n "${SAN:-}" ]; then
	PATH=$INC_BUILD/manager-test/asan:$INC_USER/agent-asan:$PATH
	# AddressSanitizer needs terabytes of addresses.
	SAN_ARGS=(--max-memory 0)
fi

declare -A AGENT
AMD=
AMD_STORE=none

# Paths of UNIX sockets are short.
sock_of()
{
	echo "/tmp/agentd-$TOPO-$1"
}

# agent_up SWITCH ARGS...
agent_up()
{
	local name=$1 sock

	shift
	sock=$(sock_of "$name")
	rm -f "$sock"
	# No function here: the PID has to be the program's.
	ip netns exec "$TOPO-$name" inc-agentd -u "$sock" -i "$name" \
		-y "$ROOT/userspace/agent/yang" "${SAN_ARGS[@]}" "$@" \
		>"$LAB_OUT/agentd-$name.log" 2>&1 &
	AGENT[$name]=$!
	wait_for 20 test -S "$sock" ||
		ktap 1 "inc-agentd of $name comes up" \
			"$(cat "$LAB_OUT/agentd-$name.log")"
}

agents_down()
{
	local name

	for name in "${!AGENT[@]}"; do
		kill "${AGENT[$name]}" 2>/dev/null
		wait "${AGENT[$name]}" 2>/dev/null
	done
	AGENT=()
}

# More options of the manager.
AMD_ARGS=()
# Who may call the manager: everyone, unless a test says otherwise.
AMD_SECURITY=(--insecure-plaintext)

# amd_up ARGS...: with the agents that are up, unless ARGS name others.
# shellcheck disable=SC2120	# tests pass them
amd_up()
{
	local name switches=("$@")

	[ $# -gt 0 ] || for name in "${SWITCHES[@]:-sw}"; do
		switches+=(--switch "$(sock_of "$name")")
	done
	# Not the last one's.
	: >"$LAB_OUT/amd.log"
	ip netns exec "$TOPO-sw" inc-amd -v \
		--listen "$(topo_ip4 sw):18790" "${switches[@]}" \
		--dead-time "$(scaled 700)" "${AMD_SECURITY[@]}" \
		--store "$AMD_STORE" \
		"${AMD_ARGS[@]}" >"$LAB_OUT/amd.log" 2>&1 &
	AMD=$!
	wait_for 20 grep -q listening "$LAB_OUT/amd.log" ||
		ktap 1 "inc-amd comes up" "$(cat "$LAB_OUT/amd.log")"
}

# Returns its exit status.
amd_down()
{
	local rc

	[ -n "$AMD" ] || return 0
	kill "$AMD" 2>/dev/null
	wait "$AMD" 2>/dev/null
	rc=$?
	AMD=
	return $rc
}

kill_amd()
{
	kill -9 "$AMD"
	wait "$AMD" 2>/dev/null
	AMD=
}

# All ranks of a job of four are there, with their tree.
all_present()
{
	ctl group show "$JOB_NAME" 2>/dev/null | grep -q "ready, 4 of 4"
}

suite_down()
{
	amd_down
	agents_down
	return 0
}

# Hosts of the next job's ranks, if not one after the other.
JOB_HOSTS=()

# am_start N ARGS...: as job_start, but the ranks ask the manager.
am_start()
{
	local n=$1 r

	shift
	JOB_SEQ=$((JOB_SEQ + 1))
	JOB_NAME=group$JOB_SEQ.$RANDOM
	JOB_LOG=$LAB_OUT/$JOB_NAME
	JOB_PIDS=()
	for ((r = 0; r < n - ${JOB_LATE:-0}; r++)); do
		am_rank "$r" "$n" "$@"
	done
}

# am_rank R N ARGS...: start one of its ranks: the last JOB_LATE are not.
am_rank()
{
	local r=$1 n=$2 h

	shift 2
	h=${JOB_HOSTS[r]:-$((r % TOPO_N))}
	# The job's PID has to be the program's.
	# shellcheck disable=SC2086	# words
	INC_AM="${AM_FIRST:-}$(topo_ip4 sw)${AM_OTHERS:-}" ip netns exec "$TOPO-h$h" \
		inc-perf --job "$JOB_NAME" --rank "$r" --ranks "$n" \
		--dev "$TOPO$h" --timeout "$JOB_TIMEOUT" "$@" \
		${JOB_ODD[r]:-} >"$JOB_LOG.$r" 2>&1 &
	JOB_PIDS+=($!)
}

am_job()
{
	local name=$1 rc

	shift
	am_start "$@"
	job_wait
	rc=$?
	ktap $rc "$name" "$(job_why)"
	return $rc
}

# The manager chooses the root, so no switch has all the messages.
stat_sum()
{
	local name

	for name in "${SWITCHES[@]:-sw}"; do
		ip netns exec "$TOPO-$name" inc-tool -j -s member show
	done | jq -s --arg key "$1" 'map(.[].stats[$key]) | add // 0'
}

# The switch that is the root of the last group's tree.
root()
{
	ctl group show "$JOB_NAME" |
		sed -n '/ below /d; s/^  switch \([^,]*\), tree .*/\1/p'
}

# All that a switch knows of others is what they have sent.
fabric_known()
{
	local name r

	for name in "${SWITCHES[@]}"; do
		[ "$name" = sw ] ||
			at "$name" ping -qc 1 "$(topo_ip4 sw)" >/dev/null
	done
	for ((r = 0; r < TOPO_N; r++)); do
		host "$r" ping -qc 1 "$(topo_ip4 sw)" >/dev/null
	done
}

# no_trees SWITCH: the manager has none there.
no_trees()
{
	ctl -j switch "$1" | jq -e '[.. | .trees? // empty] | add == 0' >/dev/null
}

gone()
{
	wait_for 5 no_tree
	ktap $? "$1: the tree is gone" "$(sw inc-tool tree show)"
}

busy_or_dead()
{
	busy 50 || ! kill -0 "${JOB_PIDS[0]}"
}

# With time for others between its operations: a job that takes all of a small
# machine's CPU makes its own ranks, agents and managers late.
long_job()
{
	am_start "$1" allreduce --count 65536 -i 1000000 --pause 10000 \
		"${@:2}"
	wait_for 20 busy_or_dead
}

# others_fail NAME VICTIM TEXT [MS]: soon, and they say why. It takes 0.1 to 0.9
# seconds, which are printed; guests that share CPUs get twice that.
others_fail()
{
	local name=$1 victim=$2 text=$3 limit=$((${4:-2000} * SLOW)) start r
	local rc=() now=()

	now_ms start
	# Start no process before all have ended: that takes time.
	for r in "${!JOB_PIDS[@]}"; do
		[ "$r" = "$victim" ] && continue
		wait "${JOB_PIDS[r]}"
		rc[r]=$?
		now_ms "now[$r]"
	done
	for r in "${!rc[@]}"; do
		echo "# $name: rank $r ended after $((now[r] - start)) ms"
		[ "${rc[r]}" != 0 ] && [ $((now[r] - start)) -le "$limit" ] &&
			grep -q "$text" "$JOB_LOG.$r"
		ktap $? "$name: rank $r is told within $limit ms" \
			"status ${rc[r]}, $((now[r] - start)) ms, $(tail -n 1 \
				"$JOB_LOG.$r")"
	done
	[ "$victim" = -1 ] || wait "${JOB_PIDS[victim]}" 2>/dev/null
}

ctl()
{
	sw inc-amctl -m "$(topo_ip4 sw)${AM_OTHERS:-}" "$@"
}

# The manager's, for Prometheus.
metrics()
{
	sw curl -sS http://127.0.0.1:18789/metrics
}

no_group()
{
	[ -z "$(ctl group show)" ]
}

# event TEXT: the manager reports, from now on, an event that matches.
event()
{
	wait_for "${2:-10}" grep -qE "$1" "$LAB_OUT/amd.log"
}

# deafen stopped|deaf: rank 2 hears nothing more from the manager. If it is deaf,
# what is lost is not sent again when the manager is killed.
deafen()
{
	if [ "$1" = stopped ]; then
		kill -STOP "${JOB_PIDS[2]}"
		return
	fi
	host 2 tc qdisc add dev eth0 clsact
	host 2 tc filter add dev eth0 ingress protocol ip flower \
		ip_proto tcp action drop
	ORPHANS=$(sysctl -n net.ipv4.tcp_max_orphans)
	sysctl -qw net.ipv4.tcp_max_orphans=-1
}

hear_again()
{
	if [ "$1" = stopped ]; then
		kill -CONT "${JOB_PIDS[2]}"
		return
	fi
	host 2 tc qdisc del dev eth0 clsact
	sysctl -qw "net.ipv4.tcp_max_orphans=$ORPHANS"
}

# unready stopped|deaf NAME ARGS...: a job of four, whose tree exists. Rank 2 does
# not know of it.
unready()
{
	local how=$1 name=$2 JOB_LATE=1

	shift 2
	am_start 4 --check --count 1000 "$@"
	event "$JOB_NAME.*, 3 of 4"
	deafen "$how"
	am_rank 3 4 --check --count 1000 "$@"
	event "$JOB_NAME\": . trees? made"
	ktap $? "$name: a tree is made" \
		"$(ctl group show; tail -n 5 "$LAB_OUT/amd.log")"
}

# The ID of a switch's first tree; nothing if it has none.
tree_of()
{
	at "$1" inc-tool -j tree show | jq '.[0].id // empty'
}

# rejoined NAME N: that many ranks of 4 are ready for another tree.
rejoined()
{
	event "$JOB_NAME\".* has a new queue pair, $2 of 4"
	ktap $? "$1: another tree is to be made" "$(tail -n 5 "$LAB_OUT/amd.log")"
}

# cut_unready SWITCH NAME ARGS...: the switch's tree is deleted before rank 2 knows
# of it, so no rank has begun. It stays stopped.
cut_unready()
{
	local name=$1

	shift
	unready stopped "$@"
	at "$name" inc-tool tree del "$(tree_of "$name")"
	rejoined "$1" 3
}

# goes_on NAME: no rank of the last job sees an error, and its tree is not the first.
goes_on()
{
	job_wait
	ktap $? "$1: no rank sees an error" "$(job_why)"
	event "group-rebuilt $JOB_NAME"
	ktap $? "$1: there is an event" "$(cat "$LAB_OUT/amd.log")"
	gone "$1"
}

# killed_unready stopped|deaf NAME ARGS...: the manager is killed when the tree of
# a job of four exists, and rank 2 does not know of it. The next one goes on.
killed_unready()
{
	local how=$1 name=$2 ORPHANS

	unready "$@"
	# The other ranks connect. The manager asks each after five seconds whether
	# it is there, and waits for three.
	sleep 0.3
	kill_amd
	hear_again "$how"
	amd_up || return
	job_wait
	ktap $? "$name: killed manager: no rank sees an error" "$(job_why)"
	grep -q "group-restored $JOB_NAME" "$LAB_OUT/amd.log" &&
		grep -q "group-ready $JOB_NAME" "$LAB_OUT/amd.log" &&
		{ [ "$how" = stopped ] ||
			grep -q "rank 2 is told of its tree again" \
				"$LAB_OUT/amd.log"; }
	ktap $? "$name: the next manager lets them begin" \
		"$(cat "$LAB_OUT/amd.log")"
}

# killed_early stopped|deaf NAME ARGS...: the manager is killed when a tree has
# failed that rank 2 does not know of.
killed_early()
{
	local how=$1 name=$2 ORPHANS

	unready "$@"
	at l1 inc-tool tree del "$(tree_of l1)"
	rejoined "$name" 3
	kill_amd
	hear_again "$how"
	amd_up || return
	goes_on "$name"
}

# The manager has an answer from each switch.
ctl_up()
{
	local switches

	# A manager that has just started shows none.
	switches=$(ctl topology | grep "^switch") &&
		! grep -qv ": up" <<<"$switches"
}

# ready_ms N: from the last rank's request to the moment when all N may begin,
# of the last group.
ready_ms()
{
	sed -n "s/.*group-ready .*: $1 ranks.* \([0-9]*\) ms after.*/\1/p" \
		"$LAB_OUT/amd.log" | tail -n 1
}
