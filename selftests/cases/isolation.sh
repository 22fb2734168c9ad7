#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two trees on one switch: trouble with a member of one tree does not affect the
# other. Time a job of hosts 0 and 1 alone, and beside a job of hosts 2 and 3 of
# which one member is stopped, far away, cut off or dead. Print the ratio. The
# limit is loose, since other load must not fail the test, but far below the
# cost of any wait for the sick tree.

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"

DEAD_TIME=$((350 * SLOW))
LIMIT=4			# times as slow
SICK_PIDS=()
SICK_LOG=

# The control job: microseconds per operation of 8 bytes, and of 256 KiB.
control()
{
	JOB_FIRST=0
	job_start 2 allreduce -t fp32 -o sum -j --reps 3 -x 20 -i 150 \
		--count 2 --count 65536 --timeout $((20000 * SLOW)) || return 1
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
		--timeout $((8000 * SLOW))
	SICK_PIDS=("${JOB_PIDS[@]}")
	SICK_LOG=$JOB_LOG
	wait_for $((20 * SLOW)) busy 20
}

events()
{
	grep -c "$1" "$LAB_OUT/events"
}

# times_ok NAME BASE NOW: two numbers each.
times_ok()
{
	local name=$1 b8 b256 n8 n256

	read -r b8 b256 <<<"$2"
	read -r n8 n256 <<<"$3"
	[ -n "$n256" ]
	ktap $? "$name: the other tree works" "$3" || return
	[ -n "$n256" ] || return
	echo "# $name: 8 B $b8 us alone, $n8 us now, ratio $(ratio "$n8" "$b8")"
	echo "# $name: 256 KiB $b256 us alone, $n256 us now, ratio $(ratio "$n256" "$b256")"
	# Times mean nothing in a debug kernel on shared CPUs.
	[ "$SLOW" = 1 ] || return
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
	wait_for $((10 * SLOW)) nothing_left
	ktap $? "$name: nothing is left of either tree" "$(sw inc-tool tree show)"
}

nothing_left()
{
	sw inc-tool -j switch show | python3 -c '
import json, sys
s = json.load(sys.stdin)
s = s[0] if isinstance(s, list) else s
sys.exit(s["trees"] != 0 or s["memory-used"] != 0)'
}

# A stopped process is not dead: its QP still acknowledges, but nobody reads.
do_stopped() { kill -STOP "${SICK_PIDS[1]}"; }
undo_stopped() { :; }

do_slow()
{
	host 3 tc qdisc add dev eth0 root netem delay 100ms limit 10000
	sw tc qdisc add dev v3 root netem delay 100ms limit 10000
}

undo_slow()
{
	host 3 tc qdisc del dev eth0 root
	sw tc qdisc del dev v3 root
}

do_cut() { sw bridge link set dev v3 state 0; }
undo_cut() { sw bridge link set dev v3 state 3; }

do_killed() { kill -9 "${SICK_PIDS[1]}"; }
undo_killed() { :; }

# Is the sick tree reported within twice the dead time plus a second of slack?
ends_in_time()
{
	local name=$1 start=$2 before=$3 took

	wait_for $((10 * SLOW)) more_events "$before"
	ktap $? "$name: the tree ends"
	took=$(($(date +%s%3N) - start))
	[ $took -le $((2 * DEAD_TIME + 1000 * SLOW)) ]
	ktap $? "$name: in time" "$took ms"
}

more_events()
{
	[ "$(events tree-failed)" -gt "$1" ]
}

# one CASE BASE: run the case, check its end if it has one, and the other tree.
one()
{
	local name=$1 base=$2 start before now

	sick_start
	ktap $? "$name: the tree that gets into trouble works"
	before=$(events tree-failed)
	start=$(date +%s%3N)
	"do_$name"
	case $name in
	cut | killed)	ends_in_time "$name" "$start" "$before" ;;
	esac
	before=$(events member-error)
	now=$(control)
	times_ok "$name" "$base" "$now"
	case $name in
	slow | stopped)
		ktap $(($(events member-error) - before)) \
			"$name: nobody was taken for dead" ;;
	esac
	"undo_$name"
	sick_end "$name"
}

trap 'kill $(jobs -p) 2>/dev/null; serve_down; topo_down; inc_unload' EXIT
inc_load && topo_up 4 || exit 1
sw inc-tool monitor >"$LAB_OUT/events" 2>&1 &
serve_up || exit 1
control >/dev/null
BASE=$(control)
[ -n "$BASE" ]
ktap $? "alone" || exit 1
[ $# -gt 0 ] || set -- stopped slow cut killed
for t in "$@"; do
	one "$t" "$BASE"
done
ktap_end
