#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# flaky.sh [FILE]: is selftests/flaky short, new, and complete? Prints what is
# wrong.

MOST=5
DAYS=30
cd "$(dirname "$0")/../.." || exit 1
now=$(date +%s)
n=0
while IFS=$'\t' read -r name case since cause; do
	[[ -n $name && $name != \#* ]] || continue
	n=$((n + 1))
	grep -q "^$name	" selftests/tests || echo "$name: there is no such test"
	[ -n "$case" ] && [ -n "$cause" ] ||
		echo "$name: NAME, CASE, SINCE and CAUSE are separated by tabs"
	if ! then=$(date +%s -d "$since" 2>/dev/null) || [ "$then" -gt "$now" ]; then
		echo "$name: \"$since\" is no day in the past"
	elif [ $(((now - then) / 86400)) -gt $DAYS ]; then
		echo "$name: $case: known for more than $DAYS days: cure it"
	fi
done <"${1:-selftests/flaky}"
[ $n -le $MOST ] || echo "$n flaky cases are too many: $MOST at most"
