#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# kunit.sh [MODULE]: load rdma_inc_kunit.ko (build/mod-kunit/kernel of the tree
# by default), which runs all unit tests, and print one line per test case. Run
# the kernel's own CRC tests too, if it has any, since ours depend on them.
# In the lab:
#
#   selftests/lab/lab modules uml build/mod-kunit INC_KUNIT=1
#   selftests/lab/lab run --backend uml --no-rxe selftests/cases/kunit.sh

dir=${0%/*}
module=${1:-$dir/../../build/mod-kunit/kernel/rdma_inc_kunit.ko}
results=/sys/kernel/debug/kunit

if [[ ! -e $module ]]; then
	echo "1..0 # SKIP no $module (lab modules ... INC_KUNIT=1 makes it)"
	exit 1
fi
modprobe kunit 2>/dev/null
mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug
if [[ ! -d $results ]]; then
	echo "1..0 # SKIP no $results: a kernel without KUnit"
	exit 1
fi

# shellcheck disable=SC2086
if ! insmod "$module" ${INC_SEED:+seed=$INC_SEED} \
   ${INC_ROUNDS:+rounds=$INC_ROUNDS}; then
	echo "Bail out! insmod $module failed"
	exit 1
fi

modprobe crc_kunit 2>/dev/null

# Use one process: in a kernel with all checks each one costs seconds.
awk -f "$dir/../lib/ktap-flat.awk" \
	"$results"/{rdma_inc_*,crc}/results 2>/dev/null
rc=$?

rmmod rdma_inc_kunit || rc=1
rmmod crc_kunit 2>/dev/null
exit "$rc"
