# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the tests share: where the built parts are, KTAP output, and jobs of
# ordinary verbs processes on the hosts of a topology.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
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
vm*)		SLOW=15 ;;
*)		SLOW=1 ;;
esac

# shellcheck source=selftests/topo.sh
. "$ROOT/selftests/topo.sh"

KTAP_N=0
KTAP_FAILED=0

# ktap STATUS NAME [DIAGNOSIS]: one test case; STATUS is 0 for a success.
ktap()
{
	KTAP_N=$((KTAP_N + 1))
	if [ "$1" = 0 ]; then
		echo "ok $KTAP_N - $2"
	else
		KTAP_FAILED=$((KTAP_FAILED + 1))
		echo "not ok $KTAP_N - $2${3:+ # $3}"
	fi
}

ktap_skip()
{
	KTAP_N=$((KTAP_N + 1))
	echo "ok $KTAP_N - $1 # SKIP $2"
}

ktap_end()
{
	echo "1..$KTAP_N"
	[ "$KTAP_FAILED" = 0 ] && [ "$KTAP_N" -gt 0 ]
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

inc_load()
{
	[ -d /sys/module/rdma_inc ] || insmod "$INC_KO"
}

inc_unload()
{
	[ ! -d /sys/module/rdma_inc ] || rmmod rdma_inc
}

SERVE_PID=

# serve_up ARGS...: the rendezvous daemon on the bridge host.
serve_up()
{
	# Who is slow is not dead; an option that is given again wins.
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
# Which address of the bridge host the ranks use: topo_ip4 or topo_ip6, and
# which port, if not that of inc-tool serve.
JOB_ADDR=topo_ip4
JOB_PORT=

# job_start N ARGS...: ranks 0 ... N-1 of a new job, one on each host, or in
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
		# No function here: the job's PID is to be the program's.
		ip netns exec "$TOPO-h$h" env ${JOB_ENV[r]:+"${JOB_ENV[r]}"} inc-perf \
			--server "$addr${JOB_PORT:+:$JOB_PORT}" \
			--job "$JOB_NAME" --rank "$r" --ranks "$n" \
			--dev "$TOPO$h" "$@" \
			>"$JOB_LOG.$r" 2>&1 &
		JOB_PIDS+=($!)
	done
}

# First host of the next job.
JOB_FIRST=0
# Of each rank of it: VAR=VALUE.
JOB_ENV=()

# job_wait: until all ranks have ended; fails if one of them failed.
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

# stat_sum COUNTER: sum of a member counter over all trees there ever were in
# a job's time; reads the live trees.
stat_sum()
{
	sw inc-tool -j -s member show | python3 -c '
import json, sys
print(sum(m.get("stats", {}).get(sys.argv[1], 0) for m in json.load(sys.stdin)))' "$1"
}

# busy N: more than N messages have come to the switch.
busy()
{
	[ "$(stat_sum rx-messages)" -gt "$1" ]
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
