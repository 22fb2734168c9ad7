#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Does the runner know which tests still fit? Prints what is wrong.

# shellcheck source=selftests/lib/within.sh
. "$(dirname "$0")/within.sh"
WRONG=0

# fits yes|no NOW TAKES LATER LIMIT
fits()
{
	local is=no

	! within_fits "$2" "$3" "$4" "$5" || is=yes
	[ $is = "$1" ] && return
	echo "fits: $is, after $WITHIN_TOOK s that the table says are $WITHIN_TAKES: $*"
	WRONG=1
}

# nothing is known of the machine
fits yes 0 100 0 100
fits no 1 100 0 100
fits yes 0 60 40 100
fits no 0 61 40 100
# only a test that the table says takes no time, and it took some
within_ended 1 0
fits yes 0 100 0 100
WITHIN_TOOK=0
# as fast as the table says, and a test that takes no time
within_ended 20 20
within_ended 0 0
fits yes 0 100 0 100
# faster: that may be chance
within_ended 0 60
fits no 0 101 0 100
# three times as slow
within_ended 520 100
fits yes 100 33 0 200
fits no 100 34 0 200
fits yes 100 20 13 200
fits no 100 20 14 200
exit $WRONG
