#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What conform.py is for: each of these errors in conformance.rst is found.

cd "$(dirname "$0")/../.." || exit
TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT
BAD=0

# found TEXT SED: with the page changed so, it says this, and fails.
found()
{
	sed "$2" Documentation/conformance.rst >"$TMP/page"
	selftests/style/conform.py "$TMP/page" >"$TMP/said" && BAD=1
	grep -qF "$1" "$TMP/said" && return
	echo "not found: $1"
	BAD=1
}

found 'no file kernel/core/slots.c' '0,/core\/slot\.c/s//core\/slots.c/'
found 'has no inc_slot_sum' '0,/inc_slot_add/s//inc_slot_sum/'
found 'no test "collects"' '0,/- collect,/s//- collects,/'
found 'no state "maybe"' '0,/     - part$/s//     - maybe/'
found 'no reason in manager.rst' '0,/manager.rst: a forwarding/s//manager.rst: no forwarding/'
found 'no reason in below' '/^| RTT/d'
found 'not done, but has' '0,/     - yes$/s//     - no/'
found 'has no test' '0,/     - allreduce$/s//     -/'
found 'cells, not 4' '0,/     - yes$/{//d}'
found 'rows were found' '0,/^veRoCE/!d; /^   \* - [4-8]/,/^$/d'
exit $BAD
