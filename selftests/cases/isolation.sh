#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two trees on one switch: trouble with a member of one tree does not affect the
# other. Time a job of hosts 0 and 1 alone, and beside a job of hosts 2 and 3 of
# which one member is stopped, far away, cut off or dead. Print the ratio. The
# limit is loose, since other load must not fail the test, but far below the
# cost of any wait for the sick tree.
#
#   isolation.sh [PART...]
#	PART: stopped slow cut killed

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"

DEAD_TIME=$(scaled 350)
LIMIT=4			# times as slow
# Few where times are not judged, see times_ok.
WARMUP=$((20 / SLOW + 1))
ITER=$((150 / SLOW + 1))
SICK_PIDS=()
SICK_LOG=

# The control job: microseconds per operation of 8 bytes, and of 256 KiB.
control()
{
	JOB_FIRST=0
	job_start 2 allreduce -t fp32 -o sum -j --reps 3 -x "$WARMUP" \
		-i "$ITER" --count 2 --count 65536 || return 1
	job_wait || {
		echo "# control: $(job_why)"
		return 1
	}
	python3 -c '
import json, sys
print(*[round(min(r["samples_us"])) for r in json.load(open(sys.argv[1]))["results"]])
' "$JOB_LOG.0"
}

# sick_start: start the other job.
sick_start()
{
	JOB_FIRST=2
	job_start 2 allreduce -t fp32 -o sum --count 262144 -i 1000000 \
		--timeout "$(scaled 8000)"
	SICK_PIDS=("${JOB_PIDS[@]}")
	SICK_LOG=$JOB_LOG
	wait_for 20 busy 20
}

events()
{
	grep -c "$1" "$LAB_OUT/events"
}

# slower BASE AFTER: the larger of each of two numbers.
slower()
{
	local b8 b256 a8 a256

	read -r b8 b256 <<<"$1"
	read -r a8 a256 <<<"$2"
	echo $((b8 > ${a8:-0} ? b8 : a8)) $((b256 > ${a256:-0} ? b256 : a256))
}

# fast_enough BASE NOW
fast_enough()
{
	local b8 b256 n8 n256

	read -r b8 b256 <<<"$1"
	read -r n8 n256 <<<"$2"
	[ "${n8:-0}" -le $((LIMIT * b8)) ] && [ "${n256:-0}" -le $((LIMIT * b256)) ]
}

# times_ok NAME BASE NOW: two numbers each.
times_ok()
{
	local name=$1 b8 b256 n8 n256

	read -r b8 b256 <<<"$2"
	read -r n8 n256 <<<"$3"
	[ -n "$n256" ]
	ktap $? "$name: the other tree works" "$3" || return
	echo "# $name: 8 B $b8 us alone, $n8 us now, ratio $(ratio "$n8" "$b8")"
	echo "# $name: 256 KiB $b256 us alone, $n256 us now, ratio $(ratio "$n256" "$b256")"
	# Times mean nothing in a debug kernel on shared CPUs.
	[ "$SLOW" = 1 ] || return 0
	[ "$n8" -le $((LIMIT * b8)) ]
	ktap $? "$name: its latency" "$n8 us, alone $b8 us"
	[ "$n256" -le $((LIMIT * b256)) ]
	ktap $? "$name: its throughput" "$n256 us, alone $b256 us"
}

ratio()
{
	python3 -c 'import sys; print("%.2f" % (int(sys.argv[1]) / int(sys.argv[2])))' "$1" "$2"
}

sick_end()
{
	local name=$1 pid

	for pid in "${SICK_PIDS[@]}"; do
		kill -CONT "$pid" 2>/dev/null
		kill -9 "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	rm -f "$SICK_LOG".*
	wait_for 10 switch_has trees 0 && wait_for 10 switch_has memory-used 0
	ktap $? "$name: nothing is left of either tree" \
		"$(sw inc-tool tree show)"
}

# A stopped process is not dead: its QP still acknowledges, but nobody reads.
hurt_stopped() { kill -STOP "${SICK_PIDS[1]}"; }
heal_stopped() { :; }

hurt_slow()
{
	host 3 tc qdisc add dev eth0 root netem delay 100ms limit 10000
	sw tc qdisc add dev v3 root netem delay 100ms limit 10000
}

heal_slow()
{
	host 3 tc qdisc del dev eth0 root
	sw tc qdisc del dev v3 root
}

hurt_cut() { sw bridge link set dev v3 state 0; }
heal_cut() { sw bridge link set dev v3 state 3; }

hurt_killed() { kill -9 "${SICK_PIDS[1]}"; }
heal_killed() { :; }

# Is the sick tree reported within twice the dead time plus a second of slack?
ends_in_time()
{
	local name=$1 start=$2 before=$3 took

	wait_for 10 more_events "$before"
	ktap $? "$name: the tree ends"
	now_ms took
	((took -= start))
	[ $took -le $((2 * DEAD_TIME + 1000 * SLOW)) ]
	ktap $? "$name: in time" "$took ms"
}

# outlast START: wait until the dead time has passed twice since then.
outlast()
{
	local now

	now_ms now
	until [ $((now - $1)) -ge $((2 * DEAD_TIME)) ]; do
		sleep 0.2
		now_ms now
	done
}

more_events()
{
	[ "$(events tree-failed)" -gt "$1" ]
}

# suite_part TROUBLE: check the end of the tree in trouble, if it has one, and
# the other tree.
suite_part()
{
	local name=$1 start before now base=$BASE

	sick_start
	ktap $? "$name: the tree that gets into trouble works"
	before=$(events tree-failed)
	now_ms start
	"hurt_$name"
	case $name in
	cut | killed)	ends_in_time "$name" "$start" "$before" ;;
	esac
	before=$(events member-error)
	now=$(control)
	case $name in
	slow | stopped)
		# Few operations may end before anybody would be.
		outlast "$start"
		ktap $(($(events member-error) - before)) \
			"$name: nobody was taken for dead" ;;
	esac
	"heal_$name"
	sick_end "$name"
	# Others may have come to this machine since the time alone was taken.
	[ "$SLOW" -gt 1 ] || fast_enough "$BASE" "$now" ||
		base=$(slower "$BASE" "$(control)")
	times_ok "$name" "$base" "$now"
}

suite_up()
{
	topo_up 4 || return 1
	sw inc-tool monitor >"$LAB_OUT/events" 2>&1 &
	serve_up && clock_up || return 1
	control >/dev/null
	BASE=$(control)
	[ -n "$BASE" ]
	ktap $? "alone"
	[ -n "$BASE" ]
}

suite "stopped slow cut killed" "$@"
