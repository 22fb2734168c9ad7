#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The aggregation manager and several switches, each with its agent: the manager
# finds out what is where, and computes trees of two levels.
#
#   levels.sh [VAR=VALUE]... [PART...]
#	PART: job order die

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
# shellcheck source=selftests/lib/levels.sh
. "$ROOT/selftests/lib/levels.sh"
# shellcheck source=selftests/lib/fabric.sh
. "$ROOT/selftests/lib/fabric.sh"

# All that a switch knows of others is what they have sent.
suite_up()
{
	local name r

	levels_up 3 2 || return
	for name in "${SWITCHES[@]}"; do
		agent_up "$name" || return
		[ "$name" = sw ] ||
			at "$name" ping -qc 1 "$(topo_ip4 sw)" >/dev/null
	done
	for r in 0 1 2 3 4 5; do
		host "$r" ping -qc 1 "$(topo_ip4 sw)" >/dev/null
	done
	amd_up && clock_up
}

has()
{
	[[ $1 == *"$2"* ]]
}

part_job()
{
	local r all

	wait_for 10 ctl_up
	all=$(ctl topology)
	for r in 0 1 2 3 4 5; do
		has "$all" "host $(topo_ip4 $r) at l$((r / 2)) v$r"
		ktap $? "host $r is at its leaf" "$all"
	done
	for r in 0 1 2; do
		has "$all" "link sw down$((r + 1)) - l$r uplink"
		ktap $? "link to leaf $r" "$all"
	done
	am_job "6 ranks over 3 leaves and a root" 6 --check --count 1000
	echo "# 6 ranks, 4 switches: ready $(ready_ms 6) ms after the last came"
	gone "6 ranks"
	long_job 6
	all=$(ctl group show "$JOB_NAME")
	has "$all" "switch sw, tree"
	ktap $? "the root" "$all"
	for r in 0 1 2; do
		has "$all" "below sw, ranks $((2 * r))-$((2 * r + 1))"
		ktap $? "leaf $r" "$all"
	done
	ctl group del "$JOB_NAME"
	others_fail "deleted" -1 operator
	gone "deleted"
	am_job "2 ranks at one leaf" 2 --check --count 1000
	grep -q "ready, 2 ranks, 1 tree," "$LAB_OUT/amd.log"
	ktap $? "one tree is enough" "$(tail -n 3 "$LAB_OUT/amd.log")"
}

# Ranks that do not follow each other at their switches.
part_order()
{
	JOB_HOSTS=(0 2 1 3 4 5)
	am_job "any order of ranks" 6 --check --count 1000
	JOB_HOSTS=()
	gone "any order"
}

part_die()
{
	long_job 6
	kill -9 "${JOB_PIDS[3]}"
	others_fail "rank killed" 3 "rank 3"
	gone "rank killed"
	am_job "rank killed: the next job runs" 6 --check --count 1000
}

suite "job order die" "$@"
