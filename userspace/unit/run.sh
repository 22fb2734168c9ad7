#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# run.sh PROGRAM...: runs test programs, prints one line per test case; status
# 1 if one failed. VERBOSE=1 shows what those say that pass.

dir=$(dirname "$0")

for prog; do
	"$prog" 2>&1
	echo "# exit $(basename "$prog") $?"
done | awk -f "$dir/../../selftests/ktap-flat.awk"
