# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the network did to packets, and what went over the wire.

watch_start()
{
	totals before
}

# A job's counters are those of its trees; they are added up when these are gone.
watch_end()
{
	wait_for 10 no_trees || echo "# trees are left"
	totals after
}

no_trees()
{
	switch_total | jq -es 'all(.trees == 0 and .leaving == 0)' >/dev/null
}

totals()
{
	netem_total >"$LAB_OUT/netem.$1"
	rxe_total >"$LAB_OUT/rxe.$1"
	switch_total >"$LAB_OUT/switch.$1"
}

# Sum over all queueing disciplines.
netem_total()
{
	local name r

	for ((r = 0; r < TOPO_N; r++)); do
		host "$r" tc -s -j qdisc show
	done
	for name in "${SWITCHES[@]:-sw}"; do
		ip netns exec "$TOPO-$name" tc -s -j qdisc show
	done
}

# Counters of the hosts' devices.
rxe_total()
{
	local r

	for ((r = 0; r < TOPO_N; r++)); do
		host "$r" rdma -j statistic show link "$TOPO$r/1"
	done
}

# Counters of the switches, and of what they had.
switch_total()
{
	local name

	for name in "${SWITCHES[@]:-sw}"; do
		ip netns exec "$TOPO-$name" inc-tool -j -s switch show
	done
}

# watched NAME P WHAT...: one case for each WHAT that the network did since
# watch_start, with a probability of P per packet: lost, doubled, reordered,
# corrupted. netem confirms that it did it, the counters of the switch and of
# the hosts that they noticed. With few packets it may not have happened.
watched()
{
	local name=$1 p=$2 what out rc

	shift 2
	for what; do
		out=$(python3 "$ROOT/selftests/lib/watched.py" "$LAB_OUT" "$p" \
			"$what")
		rc=$?
		if [ $rc = 77 ]; then
			ktap_skip "$name: $what" "$out"
		else
			echo "# $name: $out"
			ktap $rc "$name: it was seen that packets were $what" \
				"$out"
		fi
	done
}

CAPTURE_DIR=
CAPTURE_PID=

captured()
{
	grep -q 'listening on' "$CAPTURE_DIR/tcpdump"
}

# capture DIR: capture INC packets of the bridge from now on, in DIR/pcap.
capture()
{
	CAPTURE_DIR=$1
	: >"$CAPTURE_DIR/tcpdump"
	# No function here: the PID has to be the program's.
	ip netns exec "$TOPO-sw" tcpdump -i br0 -s 0 -B 16384 -Z root -U \
		-w "$CAPTURE_DIR/pcap" udp port 4791 2>"$CAPTURE_DIR/tcpdump" &
	CAPTURE_PID=$!
	wait_for 10 captured
}

# marked: a packet that nobody else sends is in the capture.
marked()
{
	sw bash -c "echo end-of-capture >/dev/udp/$(topo_ip4 0)/4791"
	grep -q end-of-capture "$CAPTURE_DIR/pcap"
}

capture_end()
{
	# The jobs' last packets are still on their way through the kernel's
	# buffer; this one is behind them.
	wait_for 10 marked
	kill "$CAPTURE_PID"
	wait "$CAPTURE_PID"
	chmod 644 "$CAPTURE_DIR/pcap"
	echo "# $(grep -E "captured|dropped" "$CAPTURE_DIR/tcpdump" |
		tr "\n" " ")"
}
