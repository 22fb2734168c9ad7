#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# several.sh NAME...: run tests of the table, one after the other in one boot of a
# kernel. For each, build/check has NAME.log, NAME.rc with its status, NAME.cpu and
# NAME.seconds. What one leaves behind makes it fail, since the next would find it.

cd "$(dirname "$0")/../.." || exit
OUT=build/check

# left_behind: network namespaces, RDMA devices and the module.
left_behind()
{
	ip netns list
	rdma link show 2>/dev/null
	[ ! -d /sys/module/rdma_inc ] || echo "module rdma_inc"
}

# run_one NAME
run_one()
{
	local cmd rc start=$SECONDS left

	cmd=$(awk -F '\t+' -v n="$1" '$1 == n { print $6 }' selftests/tests)
	echo "several: $1: $cmd" | tee /dev/kmsg
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
