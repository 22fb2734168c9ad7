#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# several.sh NAME...: run tests of the table, one after the other in one boot of a
# kernel. For each, build/check has NAME.log, NAME.rc with its status, NAME.cpu and
# NAME.seconds. What one leaves behind makes it fail, since the next would find it.

cd "$(dirname "$0")/../.." || exit
OUT=build/check

# there_is: what tests make: network namespaces, devices, the module, processes.
there_is()
{
	ip netns list
	ip -o link show | awk -F ': ' '{ print "device", $2 }'
	tc qdisc show
	rdma link show 2>/dev/null
	[ ! -d /sys/module/rdma_inc ] || echo "module rdma_inc"
	# Not the kernel's threads, nor what looks: a test has a session of its own.
	ps -e -o pid=,ppid=,sess=,comm= | awk -v sess="$(ps -o sess= $$)" '
		$1 != 2 && $2 != 2 && $3 != sess + 0 { print "process", $4, $1 }'
}

# left_behind: what there is now, and was not in BEFORE. A process may take a moment
# to end.
left_behind()
{
	local left

	# Who sees nothing before sees nothing after.
	[[ $BEFORE == *"process "* ]] || echo "what there is cannot be listed"
	for _ in 1 2 3 4 5; do
		left=$(grep -vxF -f <(echo "$BEFORE") <(there_is))
		[ -n "$left" ] || return
		sleep 0.5
	done
	echo "$left"
}

# run_one NAME
run_one()
{
	local cmd rc start=$SECONDS left

	cmd=$(awk -F '\t+' -v n="$1" '$1 == n { print $6 }' selftests/tests)
	echo "several: $1: $cmd" | tee /dev/kmsg
	BEFORE=$(there_is)
	# shellcheck disable=SC2086 # words
	(setsid --wait $cmd; rc=$?; times >"$OUT/$1.cpu"; exit $rc) \
		</dev/null >"$OUT/$1.log" 2>&1
	rc=$?
	left=$(left_behind)
	if [ -n "$left" ]; then
		echo "not ok - $1 leaves nothing behind: ${left//$'\n'/, }" \
			>>"$OUT/$1.log"
		rc=1
	fi
	echo $((SECONDS - start)) >"$OUT/$1.seconds"
	echo $rc >"$OUT/$1.rc"
	echo "several: $1: status $rc"
}

for name; do
	run_one "$name"
done
