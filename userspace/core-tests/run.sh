#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# run.sh PROGRAM...: run test programs and print one line per test case; status
# 1 if one failed. VERBOSE=1 shows the output of passed cases, too.

dir=$(dirname "$0")

for prog; do
	"$prog" 2>&1
	echo "# exit $(basename "$prog") $?"
done | awk -f "$dir/../../selftests/lib/ktap-flat.awk"
