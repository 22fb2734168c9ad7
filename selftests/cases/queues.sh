#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Ports with a transmit queue for each CPU, as NICs have (XPS): what the switch sends
# to a member is sent by any CPU, and leaves by one queue, so that it stays in order.
#
#   queues.sh [VAR=VALUE]... [PART...]
#	PART: rc uc
#	VAR: COUNT=65536

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"

COUNT=${COUNT:-65536}

# What host R sends arrives on CPU R; each CPU has a queue of R's port.
port_queues()
{
	local r=$1

	sw ethtool -L "v$r" tx 2 rx 2 &&
		sw sh -c "cd /sys/class/net/v$r/queues &&
			echo 1 >tx-0/xps_cpus && echo 2 >tx-1/xps_cpus &&
			echo $((1 << r)) >rx-0/rps_cpus" &&
		sw tc qdisc replace dev "v$r" root handle 1: mq
	ktap $? "port $r has a queue for each CPU"
}

suite_up()
{
	topo_up 2 && serve_up && port_queues 0 && port_queues 1
}

# left_by R Q: packets that have left by queue Q of R's port.
left_by()
{
	sw tc -s -j qdisc show dev "v$1" |
		jq ".[] | select(.parent == \"1:$(($2 + 1))\") | .packets"
}

# In a queue that is not the member's there are ARP and the like only.
in_order()
{
	local r was=() own other

	for r in 0 1; do
		was+=("$(left_by "$r" "$r")" "$(left_by "$r" $((1 - r)))")
	done
	job "$1: the job" 2 allreduce --check --count "$COUNT" -i 30 -x 0 \
		--reps 1 --transport "$1"
	for r in 0 1; do
		own=$(($(left_by "$r" "$r") - was[2 * r]))
		other=$(($(left_by "$r" $((1 - r))) - was[2 * r + 1]))
		echo "# $1: port $r: $own packets by the member's queue, $other by another"
		[ "$own" -gt 100 ] && [ $((other * 20)) -lt "$own" ]
		ktap $? "$1: port $r: what a member gets leaves by one queue" \
			"$own, $other"
	done
}

part_rc()
{
	in_order rc
}

part_uc()
{
	in_order uc
}

suite "rc uc" "$@"
