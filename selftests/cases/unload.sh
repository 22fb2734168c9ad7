#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Unload the module, and delete the bridge host's namespace, in the middle of
# traffic; the kernel's log stays clean, and the next job runs.
#
#   unload.sh [VAR=VALUE]... [PART...]
#	PART: traffic after

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"

ROUNDS=${ROUNDS:-5}

start_traffic()
{
	serve_up || return 1
	job_start 4 allreduce -t fp32 -o sum --count 262144 -i 1000000 \
		--timeout "$(scaled 3000)"
	wait_for 20 busy
}

busy()
{
	[ "$(stat_sum rx-messages)" -gt "$((RANDOM % 100))" ]
}

all_end()
{
	local pid rc=0

	for pid in "${JOB_PIDS[@]}"; do
		wait "$pid" && rc=1
	done
	return $rc
}

# round I: rmmod, then the namespace.
round()
{
	local i=$1

	inc_load && topo_up 4 && start_traffic || return
	rmmod rdma_inc
	ktap $? "round $i: rmmod under traffic"
	all_end
	ktap $? "round $i: every rank ended with an error"
	serve_down

	inc_load && start_traffic || return
	# The namespace lives as long as it has a process.
	kill -9 "$SERVE_PID"
	ip netns del "$TOPO-sw"
	ktap $? "round $i: namespace deleted under traffic"
	all_end
	ktap $? "round $i: every rank ended with an error after that"
	serve_down
	topo_down
	inc_unload
	ktap $? "round $i: the module unloads afterwards"
}

part_traffic()
{
	local i

	for ((i = 1; i <= ROUNDS; i++)); do
		round "$i" || return
	done
}

part_after()
{
	inc_load && topo_up 4 && serve_up
	job "the next job runs" 4 allreduce --count 1000 -i 5 --check
}

suite "traffic after" "$@"
