#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Links are down for a while, as with a spanning tree, LACP or a switch that is
# restarted: jobs over RC and over UC go on, no later than a second after the link
# is back, with all that serve and the kernel have by default. A member that is
# silent is named soon, and dead after ten seconds.
#
#   outage.sh [PART...]
#	PART: one all named dead levels

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
# shellcheck source=selftests/lib/levels.sh
. "$ROOT/selftests/lib/levels.sh"

# Milliseconds that a job may stand still when the link is back.
LATE=$(scaled 1000)
PIDS=()
LOGS=()

# Without the options of serve_up.
default_serve()
{
	: >"$LAB_OUT/serve.log"
	ip netns exec "$TOPO-sw" inc-tool serve >"$LAB_OUT/serve.log" 2>&1 &
	SERVE_PID=$!
	wait_for 20 grep -q listening "$LAB_OUT/serve.log" ||
		ktap 1 "inc-tool serve comes up" "$(cat "$LAB_OUT/serve.log")"
}

# messages SWITCH: of each of its trees, so many have arrived.
messages()
{
	ip netns exec "$TOPO-$1" inc-tool -j -s member show | jq -r \
		'group_by(."tree-id")[] | map(.stats."rx-messages") | add'
}

# work N: so many trees do, on any one switch.
work()
{
	[ "$(messages "${SWITCHES[-1]:-sw}" | awk '$1 > 20' | wc -l)" = "$1" ]
}

# jobs_start N: one over RC, and one over UC.
jobs_start()
{
	local transport n=0

	PIDS=() LOGS=()
	for transport in rc uc; do
		INC_TRANSPORT=$transport job_start "$1" allreduce -t int32 \
			--count 2000 --check -x 0 -i 1000000 --pause 5000
		PIDS+=("${JOB_PIDS[@]}")
		n=$((n + 1))
		wait_for 20 work $n
		ktap $? "$transport: a job works"
		LOGS+=("$JOB_LOG".*)
	done
}

jobs_run()
{
	local pid

	for pid in "${PIDS[@]}"; do
		kill -0 "$pid" 2>/dev/null || return 1
	done
}

jobs_end()
{
	kill "${PIDS[@]}" 2>/dev/null
	wait "${PIDS[@]}" 2>/dev/null
	rm -f "${LOGS[@]}"
	wait_for 20 no_tree
	ktap $? "$1: no tree is left"
}

# all_moved SWITCH BEFORE: each tree goes on.
all_moved()
{
	local now was is

	now=$(messages "$1")
	while read -r -u 3 was && read -r -u 4 is; do
		((is > was)) || return 1
	done 3<<<"$2" 4<<<"$now"
}

# ports SWITCH up|down PORT...
ports()
{
	printf "link set %s $2\n" "${@:3}" | ip -n "$TOPO-$1" -batch -
}

# outage NAME SECONDS SWITCH PORT...: nothing passes the ports for so long.
outage()
{
	local name=$1 seconds=$2 at=$3 before up now

	shift 3
	mute "$at" "$@"
	nap "$seconds"
	before=$(messages "$at")
	now_ms up
	unmute "$at" "$@"
	until all_moved "$at" "$before"; do
		now_ms now
		((now - up < 10 * LATE)) || break
		nap 0.01
	done
	now_ms now
	jobs_run
	ktap $? "$name, $seconds s: the jobs go on" "$(tail -qn 1 "${LOGS[@]}")"
	((now - up <= LATE))
	ktap $? "$name, $seconds s: soon" "after $((now - up)) ms"
	echo "# $name, $seconds s: $((now - up)) ms later"
	# TCP is to notice, too, before the next one: it tries once a second.
	nap 1.5
}

part_one()
{
	local seconds

	jobs_start 3
	for seconds in 0.5 3 9; do
		outage "one host's link" "$seconds" sw v1
	done
	jobs_end "one host's link"
}

part_all()
{
	local seconds

	jobs_start 3
	for seconds in ${SECONDS_DOWN:-0.5 3 9}; do
		outage "all hosts' links" "$seconds" sw v0 v1 v2
	done
	jobs_end "all hosts' links"
}

# silences RANK: how often it has been silent.
silences()
{
	sw inc-tool -j -s member show | jq --argjson r "$1" \
		'map(select(.rank == $r).stats."tx-silences") | add'
}

part_named()
{
	local monitor out

	: >"$LAB_OUT/events"
	sw inc-tool monitor >"$LAB_OUT/events" 2>/dev/null &
	monitor=$!
	jobs_start 3
	ports sw down v1
	nap 0.6
	grep -q "^member-silent tree [0-9]* rank 1 " "$LAB_OUT/events"
	ktap $? "silent: an event" "$(tail -n 3 "$LAB_OUT/events")"
	out=$(sw inc-tool check)
	[[ $out == *"rank 1"*"silent for"*"dead after 10000 ms"* ]]
	ktap $? "silent: inc-tool check names it" "$(tr '\n' '|' <<<"$out")"
	ports sw up v1
	nap 1
	[ "$(silences 1) $(silences 0)" = "1 0" ]
	ktap $? "silent: it is counted once" "$(silences 1) $(silences 0)"
	[ "$(grep -c "^member-silent" "$LAB_OUT/events")" = 1 ]
	ktap $? "silent: there is one event" "$(cat "$LAB_OUT/events")"
	jobs_end "silent"
	kill $monitor
	wait $monitor 2>/dev/null || :
}

# The host is gone without a word: the kernel there says nothing.
part_dead()
{
	local start now pid n=0

	jobs_start 3
	now_ms start
	ports sw down v1
	for pid in "${PIDS[@]}"; do
		wait "$pid"
		[ $? != 0 ]
		now_ms now
		n=$((n + 1))
		((now - start >= 10000 && now - start <= $(scaled 18000)))
		ktap $? "dead: rank $n of six ends in time" "$((now - start)) ms"
	done
	grep -q "rank 1.*retry-exceeded" "${LOGS[@]}"
	ktap $? "dead: the RC job is told of which" "$(tail -qn 1 "${LOGS[@]}")"
	ports sw up v1
	jobs_end "dead"
}

# Of a job over two leaves: the link of a host, and the one between switches.
part_levels()
{
	local seconds

	serve_down
	topo_down
	levels_up 2 2 && serves_up --dead-time 10000 || return
	jobs_start 4
	for seconds in ${SECONDS_DOWN:-0.5 3 9}; do
		outage "levels, a host's link" "$seconds" l1 v2
		outage "levels, a leaf's link" "$seconds" l1 uplink
	done
	jobs_end "levels"
	levels_down
}

suite_up()
{
	topo_up 3 && default_serve && clock_up
}

suite "one all named dead levels" "$@"
