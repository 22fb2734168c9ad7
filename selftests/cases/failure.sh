#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A member dies: the other ranks get an error soon, all resources are freed, and
# the next job runs.
#
#   failure.sh [PART...]
#	PART: killed cut cut_uc tree_del daemon timeout

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"

# All ranks of $JOB_PIDS except $1 end with an error within $2 ms.
others_fail()
{
	local victim=$1 limit=$(($2 * SLOW)) name=$3 start=$4 r rc now took

	for r in "${!JOB_PIDS[@]}"; do
		[ "$r" = "$victim" ] && continue
		wait "${JOB_PIDS[$r]}"
		rc=$?
		now_ms now
		took=$((now - start))
		[ $rc != 0 ]
		ktap $? "$name: rank $r got an error" "status $rc"
		[ $took -le $limit ]
		ktap $? "$name: rank $r within $limit ms" "took $took ms"
	done
	wait "${JOB_PIDS[$victim]}" 2>/dev/null
}

nothing_left()
{
	wait_for 5 no_tree
	ktap $? "$1: the tree is gone" "$(sw inc-tool tree show)"
	# The members' QPs may still wait for the last readers.
	wait_for 5 switch_has memory-used 0
	ktap $? "$1: its memory came back"
}

long_job()
{
	job_start "$1" allreduce -t fp32 -o sum --count 262144 -i 1000000
	wait_for 20 busy 50
}

# The daemon sees the connection break and removes the member.
part_killed()
{
	local start

	long_job 4
	now_ms start
	kill -9 "${JOB_PIDS[2]}"
	others_fail 2 1000 "rank killed" "$start"
	nothing_left "rank killed"
	job "rank killed: the next job runs" 4 allreduce --count 1000 -i 5 \
		--check
}

# Nobody reports the failure: the module has to detect it. Cut the link, so that
# the connection to the daemon does not break. Disable the bridge port from a
# process that already runs: on one busy CPU starting "ip" takes some 400 ms,
# and "link set down" waits as long for grace periods.
part_cut()
{
	local start cutter

	exec {cutter}> >(sw bridge -batch -)
	long_job 4
	now_ms start
	echo "link set dev v1 state 0" >&$cutter
	exec {cutter}>&-
	others_fail_but_cut "$start"
	kill -9 "${JOB_PIDS[1]}" 2>/dev/null
	wait "${JOB_PIDS[1]}" 2>/dev/null
	sw bridge link set dev v1 state 3
	wait_for 5 no_tree || serve_restart
	nothing_left "link cut"
	job "link cut: the next job runs" 4 allreduce --count 1000 -i 5 --check
}

# The same over UC, where nobody acknowledges anything: all ranks, including the
# one that is cut off, have to detect it.
part_cut_uc()
{
	local start cutter

	export INC_TRANSPORT=uc
	exec {cutter}> >(sw bridge -batch -)
	long_job 4
	now_ms start
	echo "link set dev v1 state 0" >&$cutter
	exec {cutter}>&-
	others_fail -1 1000 "UC, link cut" "$start"
	nothing_left "UC, link cut"
	sw bridge link set dev v1 state 3
	job "UC, link cut: the next job runs" 4 allreduce --count 1000 -i 5 \
		--check
	unset INC_TRANSPORT
}

others_fail_but_cut()
{
	local start=$1 limit r rc now took

	limit=$(scaled 1000)
	for r in 0 2 3; do
		wait "${JOB_PIDS[$r]}"
		rc=$?
		now_ms now
		took=$((now - start))
		[ $rc != 0 ] && [ $took -le "$limit" ]
		ktap $? "link cut: rank $r got an error within $limit ms" \
			"status $rc after $took ms"
	done
}

serve_restart()
{
	serve_down
	serve_up
}

part_tree_del()
{
	local tool pid start id

	# Use a process that already runs: starting one takes long under
	# traffic.
	exec {tool}> >(sw inc-tool -b -)
	pid=$!
	long_job 3
	id=$(sw inc-tool -j tree show | python3 -c \
		'import json, sys; print(json.load(sys.stdin)[0]["id"])')
	now_ms start
	echo "tree del $id" >&"$tool"
	exec {tool}>&-
	wait "$pid"
	ktap $? "tree deleted under traffic"
	others_fail -1 1000 "tree deleted" "$start"
	nothing_left "tree deleted"
}

part_daemon()
{
	local start

	long_job 3
	now_ms start
	kill -TERM $SERVE_PID
	wait $SERVE_PID
	ktap $? "daemon terminated: exit status"
	others_fail -1 1000 "daemon terminated" "$start"
	nothing_left "daemon terminated"
	serve_up
}

part_timeout()
{
	local start now took

	now_ms start
	# Rank 1 never joins: rank 0's own time limit ends the call.
	host 0 inc-perf --server "$(topo_ip4 sw)" --job lonely --rank 0 \
		--ranks 2 --dev "${TOPO}0" allreduce --timeout 700 \
		>"$LAB_OUT/lonely" 2>&1
	rc=$?
	now_ms now
	took=$((now - start))
	[ $rc != 0 ] && [ $took -lt "$(scaled 3000)" ]
	ktap $? "a rank that nobody joins gives up in time" \
		"status $rc, $took ms"
	nothing_left "lonely rank"
}

suite_up()
{
	topo_up 4 && serve_up && clock_up
}

suite "killed cut cut_uc tree_del daemon timeout" "$@"
