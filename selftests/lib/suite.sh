# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Shared by the tests: paths of the built parts, KTAP output, and jobs of
# ordinary verbs processes on the hosts of a topology.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
LAB_BACKEND=${LAB_BACKEND:-host}
LAB_OUT=${LAB_OUT:-$ROOT/build/out}
mkdir -p "$LAB_OUT"

case $LAB_BACKEND in
host)	INC_KO=$ROOT/build/host/kernel/rdma_inc.ko INC_USER=$ROOT/build/user-host ;;
vm-*)	INC_KO=$ROOT/build/${LAB_BACKEND#vm-}/kernel/rdma_inc.ko INC_USER=$ROOT/build/user ;;
vm)	INC_KO=$ROOT/build/7.2/kernel/rdma_inc.ko INC_USER=$ROOT/build/user ;;
*)	INC_KO=$ROOT/build/$LAB_BACKEND/kernel/rdma_inc.ko INC_USER=$ROOT/build/user ;;
esac
export PATH="$INC_USER/tool:$INC_USER/perf:$PATH"
export LD_LIBRARY_PATH="$INC_USER/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

# A slow kernel (checkers, emulation) gets more time for everything.
# shellcheck disable=SC2034
case $LAB_BACKEND in
uml-debug)	SLOW=20 ;;
uml-smp)	SLOW=4 ;;
vm*)		SLOW=15 ;;
*)		SLOW=1 ;;
esac

# shellcheck source=selftests/lib/topo.sh
. "$ROOT/selftests/lib/topo.sh"
# shellcheck source=selftests/lib/ktap.sh
. "$ROOT/selftests/lib/ktap.sh"

# Take down what a test set up, except the module; a test with more overrides
# it.
test_down()
{
	serve_down
	! declare -F levels_down >/dev/null || levels_down
	topo_down
}

# ktap_end: end a test. The module unloads, whatever happened.
ktap_end()
{
	if [ -n "$INC_LOADED" ] && [ -d /sys/module/rdma_inc ]; then
		# shellcheck disable=SC2046
		kill -9 $(jobs -p) 2>/dev/null
		test_down
		inc_unload
		ktap $? "the module unloads"
	fi
	ktap_plan
}

# wait_for SECONDS CMD...: until CMD succeeds.
wait_for()
{
	local until=$((SECONDS + $1))

	shift
	while ! "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$until" ] || return 1
		sleep 0.05
	done
}

# steady SECONDS CMD...: until CMD prints the same three times in a row.
steady()
{
	local until=$((SECONDS + $1)) same=0 last now

	shift
	last=$("$@" 2>/dev/null)
	while [ "$same" -lt 2 ]; do
		[ "$SECONDS" -lt "$until" ] || return 1
		sleep 0.1
		now=$("$@" 2>/dev/null)
		same=$((same + 1))
		[ "$now" = "$last" ] || same=0
		last=$now
	done
}

# changes SECONDS CMD...: until CMD prints something else.
changes()
{
	local until=$((SECONDS + $1)) first

	shift
	first=$("$@" 2>/dev/null)
	while [ "$("$@" 2>/dev/null)" = "$first" ]; do
		[ "$SECONDS" -lt "$until" ] || return 1
		sleep 0.05
	done
}

STILL_PID=

# A real-time process naps again and again. Where its naps take longer than they
# should, this machine stood still: others had its CPU.
clock_up()
{
	STILL=$(mktemp -d)
	mkfifo "$STILL/nap"
	echo 0 >"$STILL/us"
	(
		chrt -r -p 1 "$BASHPID"
		exec {nap}<>"$STILL/nap"
		last=${EPOCHREALTIME/./} still=0
		while :; do
			read -rt 0.01 -u "$nap"
			now=${EPOCHREALTIME/./}
			# one tick for the timer, one for the turn
			if ((now - last > 12000)); then
				((still += now - last - 12000))
				echo "$still" >"$STILL/us"
			fi
			last=${EPOCHREALTIME/./}
		done
	) &
	STILL_PID=$!
}

clock_down()
{
	[ -n "$STILL_PID" ] || return 0
	kill "$STILL_PID" 2>/dev/null
	wait "$STILL_PID" 2>/dev/null
	rm -rf "$STILL"
	STILL_PID=
}

# now_ms VAR: milliseconds without those in which this machine stood still since
# clock_up: time limits assume a running machine. Starts no process, since that
# takes time.
now_ms()
{
	local us

	# The file is empty while it is being written.
	until read -r us <"$STILL/us"; do :; done
	printf -v "$1" %d $(((${EPOCHREALTIME/./} - us) / 1000))
}

# Did this test load the module?
INC_LOADED=

inc_load()
{
	[ ! -d /sys/module/rdma_inc ] || return 0
	insmod "$INC_KO" && INC_LOADED=1
}

inc_unload()
{
	[ ! -d /sys/module/rdma_inc ] || rmmod rdma_inc
}

SERVE_PID=

# serve_up ARGS...: the rendezvous daemon on the bridge host.
serve_up()
{
	# Slow is not dead; if an option is repeated the last one counts.
	ip netns exec "$TOPO-sw" inc-tool serve --dead-time $((350 * SLOW)) "$@" >"$LAB_OUT/serve.log" 2>&1 &
	SERVE_PID=$!
	wait_for $((20 * SLOW)) grep -q listening "$LAB_OUT/serve.log" || {
		echo "# inc-tool serve did not come up: $(cat "$LAB_OUT/serve.log")"
		return 1
	}
}

serve_down()
{
	[ -n "$SERVE_PID" ] || return 0
	kill "$SERVE_PID" 2>/dev/null
	wait "$SERVE_PID" 2>/dev/null
	SERVE_PID=
	return 0
}

JOB_SEQ=0
JOB_PIDS=()
# Address of the bridge host that the ranks use, topo_ip4 or topo_ip6, and the
# port, if not that of inc-tool serve.
JOB_ADDR=topo_ip4
JOB_PORT=

# job_start N ARGS...: start ranks 0 ... N-1 of a new job, one per host, or in
# turns if there are fewer hosts. Logs in $JOB_LOG.RANK.
job_start()
{
	local n=$1 r h addr

	shift
	JOB_SEQ=$((JOB_SEQ + 1))
	JOB_NAME=job$JOB_SEQ.$RANDOM
	JOB_LOG=$LAB_OUT/$JOB_NAME
	JOB_PIDS=()
	addr=$("$JOB_ADDR" sw)
	[ "$JOB_ADDR" = topo_ip6 ] && addr="[$addr]"
	for ((r = 0; r < n; r++)); do
		h=$(((JOB_FIRST + r) % TOPO_N))
		# No function here: the job's PID has to be the program's.
		ip netns exec "$TOPO-h$h" env ${JOB_ENV[r]:+"${JOB_ENV[r]}"} inc-perf \
			--server "${JOB_SERVER[r]:-$addr}${JOB_PORT:+:$JOB_PORT}" \
			--job "$JOB_NAME" --rank "$r" --ranks "$n" \
			--dev "$TOPO$h" "$@" \
			>"$JOB_LOG.$r" 2>&1 &
		JOB_PIDS+=($!)
	done
}

# First host of the next job.
JOB_FIRST=0
# For each of its ranks: VAR=VALUE, and the daemon's address, if elsewhere.
JOB_ENV=()
JOB_SERVER=()

# job_wait: until all ranks end; fails if one of them failed.
job_wait()
{
	local pid rc=0

	for pid in "${JOB_PIDS[@]}"; do
		wait "$pid" || rc=$?
	done
	return $rc
}

# Why a job failed, in one line.
job_why()
{
	grep -hiE 'error|mismatch|fail|timed|inc-perf:' "$JOB_LOG".* |
		head -n 3 | tr '\n' ';' | tr '#' ' '
}

# job NAME N ARGS...: one test case.
job()
{
	local name=$1 rc

	shift
	job_start "$@"
	job_wait
	rc=$?
	ktap $rc "$name" "$(job_why)"
	[ $rc = 0 ] && rm -f "$JOB_LOG".*
	return $rc
}

# stat_sum COUNTER: sum of a member counter over the live trees.
stat_sum()
{
	sw inc-tool -j -s member show | python3 -c '
import json, sys
print(sum(m.get("stats", {}).get(sys.argv[1], 0) for m in json.load(sys.stdin)))' "$1"
}

# busy N: the switch has received more than N messages.
busy()
{
	[ "$(stat_sum rx-messages)" -gt "$1" ]
}

# seen_by NAMESPACE FILE: wait until a monitor there, which writes to FILE,
# listens. It does not report earlier events, so add and delete trees 999 until
# it reports one.
seen_by()
{
	local ns=$1 file=$2 until=$((SECONDS + 10 * SLOW))

	while ! grep -q . "$file" 2>/dev/null; do
		[ "$SECONDS" -lt "$until" ] || return 1
		ip netns exec "$ns" inc-tool tree add id 999 ranks 1 slots 1 \
			dead-time 10 >/dev/null
		ip netns exec "$ns" inc-tool tree del 999
		sleep 0.02
	done
}

no_tree()
{
	[ "$(sw inc-tool -j tree show | tr -d ' \n')" = "[]" ]
}

# counts A,B,...: inc-perf's "--count A --count B ..."
counts()
{
	local c

	for c in ${1//,/ }; do
		echo --count "$c"
	done
}

# --- What the network did ---------------------------------------------------

# Counters of all members of all switches since watch_start, sampled, since a
# tree's counters disappear with it.
WATCH_PID=

watch_start()
{
	"$ROOT/selftests/lib/sample.py" "$TOPO-" "${SWITCHES[@]:-sw}" \
		>"$LAB_OUT/watched" 2>/dev/null &
	WATCH_PID=$!
	netem_total >"$LAB_OUT/netem.before"
	rxe_total >"$LAB_OUT/rxe.before"
	switch_total >"$LAB_OUT/switch.before"
}

watch_end()
{
	kill "$WATCH_PID" 2>/dev/null
	wait "$WATCH_PID" 2>/dev/null
	netem_total >"$LAB_OUT/netem.after"
	rxe_total >"$LAB_OUT/rxe.after"
	switch_total >"$LAB_OUT/switch.after"
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

# Packets dropped by the switches.
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
		out=$(python3 "$ROOT/selftests/lib/watched.py" "$LAB_OUT" "$p" "$what")
		rc=$?
		if [ $rc = 77 ]; then
			ktap_skip "$name: $what" "$out"
		else
			echo "# $name: $out"
			ktap $rc "$name: it was seen that packets were $what" "$out"
		fi
	done
}

# --- What goes over the wire ------------------------------------------------

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
	wait_for $((10 * SLOW)) captured
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
	wait_for $((10 * SLOW)) marked
	kill "$CAPTURE_PID"
	wait "$CAPTURE_PID"
	chmod 644 "$CAPTURE_DIR/pcap"
	echo "# $(grep -E "captured|dropped" "$CAPTURE_DIR/tcpdump" | tr "\n" " ")"
}
