#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Several flows into one slow port of the switch: TREES trees (8) whose ranks 0 are
# all at host 0, a TCP flow, and a stream of stock rxe. What stands in the port's queue
# delays all of them.
#
#   incast.sh [VAR=VALUE]... [PART...]
#	PART: fifo delay ecn band

# shellcheck disable=SC2319 # "$?" of a condition is what ktap wants
# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"

TREES=${TREES:-8}
SECS=${SECS:-5}
RATE=20			# Mb/s

suite_up()
{
	topo_up 3 && topo_bursts off
}

# daemon_up OPTION...: for the trees of a part
daemon_up()
{
	serve_down
	serve_up --dead-time "$(scaled 5000)" "$@"
}

# port_up [KIND OPTIONS...]: shape host 0's port; in its queue, another discipline.
port_up()
{
	sw tc qdisc replace dev v0 root handle 1: tbf rate "${RATE}mbit" \
		burst 3028 limit 1mb || return
	[ $# = 0 ] || sw tc qdisc replace dev v0 parent 1:1 handle 10: "$@"
}

trees_up()
{
	local i

	PIDS=()
	for ((i = 0; i < TREES; i++)); do
		job_start 2 allreduce -t fp32 -o sum -s 262144 -i 1000000 -x 0 \
			--timeout 600000
		PIDS+=("${JOB_PIDS[@]}")
	done
}

rxe_up()
{
	# No function here: it is the programs that are ended.
	ip netns exec "$TOPO-h0" inc-rtt --server --dev "${TOPO}0" \
		>"$LAB_OUT/rtt0.log" 2>&1 &
	PIDS+=($!)
	wait_for 20 grep -q listening "$LAB_OUT/rtt0.log" || return
	ip netns exec "$TOPO-h2" inc-rtt -j --bw --dev "${TOPO}2" -s 65536 \
		--window 4 --reps 1 -i 1000000 --timeout 600000 --qp-timeout 18 \
		"$(topo_ip4 0)" \
		>"$LAB_OUT/rtt2.log" 2>&1 &
	RXE_PID=$!
	PIDS+=("$RXE_PID")
}

# rxe_lives NAME: its timeout is longer than what stands in the queue.
rxe_lives()
{
	kill -0 "$RXE_PID" 2>/dev/null && ! grep -qi error "$LAB_OUT"/rtt[02].log
	ktap $? "$1: the stream of rxe goes on" "$(tail -n 1 "$LAB_OUT/rtt2.log")"
}

# Without the shaper first, rxe waits long for its packets in the queue.
flows_down()
{
	sw tc qdisc del dev v0 root
	kill "${PIDS[@]}" 2>/dev/null
	wait "${PIDS[@]}" 2>/dev/null
	wait_for 10 no_tree
	ktap $? "$1: no tree is left"
}

# watch_port NAME [ADDRESS]: figures of the port into $FIGURES; with a TCP flow to
# ADDRESS.
watch_port()
{
	FIGURES=$(python3 "$(dirname "$0")/incast.py" "$TOPO" v0 "$SECS" "${@:2}")
	ktap $? "$1: watched" || return
	echo "# $1: $FIGURES"
}

# figure NAME CONDITION: CONDITION of jq about the figures.
figure()
{
	jq -e "$2" <<<"$FIGURES" >/dev/null
	ktap $? "$1: $2" "$FIGURES"
}

# In a FIFO, all that stands there is what the trees' windows let in.
part_fifo()
{
	daemon_up && port_up && trees_up && rxe_up &&
		watch_port "FIFO" "$(topo_ip4 0)" || return
	figure "FIFO" ".drops == 0"
	figure "FIFO" ".rate >= 0.95 * $RATE"
	figure "FIFO" ".p99 <= 143000"
	figure "FIFO" ".jain >= 0.98"
	figure "FIFO" ".tcp >= 1"
	rxe_lives "FIFO"
	flows_down "FIFO"
}

# A long way is no queue: the window gets as large as the way needs.
part_delay()
{
	local TREES

	for TREES in 1 8; do
		daemon_up && port_up netem delay 10ms limit 10000 && trees_up &&
			sleep "$(scaled 5000)e-3" &&
			watch_port "delay, $TREES" || return
		figure "delay, $TREES" ".trees >= 16.5"
		figure "delay, $TREES" ".jain >= 0.98"
		flows_down "delay, $TREES"
	done
}

# What fq_codel does with data that is ECT(0): it marks where it would drop, and a
# drop costs all that follows.
part_ecn()
{
	daemon_up --ecn ect0 && port_up fq_codel ecn && trees_up && rxe_up &&
		watch_port "ECT(0)" "$(topo_ip4 0)" || return
	figure "ECT(0)" ".trees >= 14.5"
	figure "ECT(0)" ".resent * 100 <= .packets"
	figure "ECT(0)" ".tcp >= 1"
	rxe_lives "ECT(0)"
	flows_down "ECT(0)"
}

# Packets that have passed each band of host 0's port.
bands()
{
	local band

	for band in 11: 12: 13:; do
		sw tc -s -j qdisc show dev v0 |
			jq --arg band "$band" '.[] | select(.handle == $band).packets'
	done
}

# in_band PRIORITY BAND: results of a tree of that priority go through that band of
# prio, the Nth of its map, and only the daemon's TCP goes through another one.
in_band()
{
	local i before after more

	daemon_up --priority "$1" || return
	mapfile -t before < <(bands)
	job "priority $1: a job" 2 allreduce -t fp32 -s 262144 -i 5 -x 0
	mapfile -t after < <(bands)
	for i in 0 1 2; do
		more=$((after[i] - before[i]))
		if [ "$i" = "$2" ]; then
			[ "$more" -ge 1280 ]
		else
			[ "$more" -lt 500 ]
		fi
		ktap $? "priority $1: band $2, packets in band $i" "$more"
	done
}

# The default map of prio: 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1.
part_band()
{
	local band

	sw tc qdisc replace dev v0 root handle 1: prio || return
	for band in 1 2 3; do
		sw tc qdisc replace dev v0 parent 1:$band handle 1$band: pfifo \
			limit 1000 || return
	done
	in_band 0 1
	in_band 1 2
	in_band 7 0
	in_band 15 1
	sw tc qdisc del dev v0 root
}

suite "fifo delay ecn band" "$@"
