# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The daemon, and jobs of ordinary verbs processes on the hosts of a topology.

SERVE_PID=
# For daemons where packets of all kinds are lost: with less, one lost probe of TCP ends a
# connection.
PATIENT=(--dead-time "$(scaled 2000)")

# serve_up ARGS...: the rendezvous daemon on the bridge host. As with all that puts a
# program up, it is a failed case if that does not come up, whoever asks.
serve_up()
{
	# Not the last one's.
	: >"$LAB_OUT/serve.log"
	# Slow is not dead; if an option is repeated the last one counts.
	ip netns exec "$TOPO-sw" inc-tool serve --dead-time "$(scaled 350)" \
		"$@" >"$LAB_OUT/serve.log" 2>&1 &
	SERVE_PID=$!
	wait_for 20 grep -q listening "$LAB_OUT/serve.log" ||
		ktap 1 "inc-tool serve comes up" "$(cat "$LAB_OUT/serve.log")"
}

# serve_ends NAME LOG [WHEN]: the daemon ends well; otherwise print what
# AddressSanitizer has reported.
serve_ends()
{
	local rc

	kill "$SERVE_PID" 2>/dev/null
	wait "$SERVE_PID"
	rc=$?
	SERVE_PID=
	[ $rc = 0 ] ||
		grep -m 20 -A 12 -E 'ERROR|runtime error' "$2" | sed 's/^/# /'
	ktap $rc "$1 ends well" "${3:+$3, }status $rc"
}

serve_down()
{
	[ -n "$SERVE_PID" ] || return 0
	kill "$SERVE_PID" 2>/dev/null
	wait "$SERVE_PID" 2>/dev/null
	SERVE_PID=
	return 0
}

# serve_lossy RATE: each link loses so much of RoCE, and another daemon is patient.
serve_lossy()
{
	serve_down
	serve_up -v "${PATIENT[@]}"
	topo_lose "$1"
}

# changed_jobs: the number of jobs that have changed from RC to UC. Needs serve_up -v.
changed_jobs()
{
	grep -c '~uc-[0-9a-f]*": ready' "$LAB_OUT/serve.log"
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
	local n=$1 r h addr server

	shift
	JOB_SEQ=$((JOB_SEQ + 1))
	JOB_NAME=job$JOB_SEQ.$RANDOM
	JOB_LOG=$LAB_OUT/$JOB_NAME
	JOB_PIDS=()
	addr=$("$JOB_ADDR" sw)
	[ "$JOB_ADDR" = topo_ip6 ] && addr="[$addr]"
	for ((r = 0; r < n; r++)); do
		h=$(((JOB_FIRST + r) % TOPO_N))
		server=${JOB_SERVER[r]:-$addr}
		# No function here: the job's PID has to be the program's.
		# shellcheck disable=SC2086	# words
		ip netns exec "$TOPO-h$h" ${JOB_ENV[r]:+env "${JOB_ENV[r]}"} \
			inc-perf --server "$server${JOB_PORT:+:$JOB_PORT}" \
			--job "$JOB_NAME" --rank "$r" --ranks "$n" \
			${JOB_DEV---dev $TOPO$h} --timeout "$JOB_TIMEOUT" "$@" \
			${JOB_ODD[r]:-} >"$JOB_LOG.$r" 2>&1 &
		JOB_PIDS+=($!)
	done
}

# Milliseconds for a call, unless the job's own arguments say otherwise.
JOB_TIMEOUT=$(scaled 60000)
# JOB_DEV, if it is set: how they choose a device, instead of eth0's.
# First host of the next job.
JOB_FIRST=0
# For each of its ranks, if not as for all: VAR=VALUE, further options, and the
# daemon's address.
JOB_ENV=()
JOB_ODD=()
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

# counts A,B,...: inc-perf's "--count A --count B ..."
counts()
{
	local c

	for c in ${1//,/ }; do
		echo --count "$c"
	done
}

# stat_sum COUNTER: sum of a member counter over the live trees.
stat_sum()
{
	sw inc-tool -j -s member show | jq --arg key "$1" 'map(.stats[$key]) | add // 0'
}

# busy N: the switch has received more than N messages.
busy()
{
	[ "$(stat_sum rx-messages)" -gt "$1" ]
}
