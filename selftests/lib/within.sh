# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced by the runner: which tests still fit into the time that a run may take.
# The table says how long each takes; a machine may be several times as slow, and
# that is measured by the tests that have ended.

# In seconds: what tests that have ended took, and what the table says of them.
WITHIN_TOOK=0
WITHIN_TAKES=0

# within_ended TOOK TAKES: a test has ended.
within_ended()
{
	WITHIN_TOOK=$((WITHIN_TOOK + $1))
	WITHIN_TAKES=$((WITHIN_TAKES + $2))
}

# within_expect TAKES: set EXPECT to the seconds that TAKES are on this machine. It
# is taken for no faster than the table's: only short tests may have ended yet.
within_expect()
{
	EXPECT=$1
	[ $WITHIN_TAKES = 0 ] || [ $WITHIN_TOOK -le $WITHIN_TAKES ] ||
		EXPECT=$(($1 * WITHIN_TOOK / WITHIN_TAKES))
}

# within_fits NOW TAKES LATER LIMIT: does a test that begins NOW end early enough
# before LIMIT for those that take LATER, and come after it?
within_fits()
{
	within_expect $(($2 + $3))
	[ $(($1 + EXPECT)) -le "$4" ]
}
