# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# KTAP output, for whatever says of cases how they end.

KTAP_N=0
KTAP_FAILED=0

# ktap STATUS NAME [DIAGNOSIS]: one test case; STATUS is 0 for a success.
ktap()
{
	KTAP_N=$((KTAP_N + 1))
	if [ "$1" = 0 ]; then
		echo "ok $KTAP_N - $2"
	else
		KTAP_FAILED=$((KTAP_FAILED + 1))
		echo "not ok $KTAP_N - $2${3:+ # $3}"
	fi
}

ktap_skip()
{
	KTAP_N=$((KTAP_N + 1))
	echo "ok $KTAP_N - $1 # SKIP $2"
}

# ktap_plan: how many there were; fails if one failed, or there was none.
ktap_plan()
{
	echo "1..$KTAP_N"
	[ "$KTAP_FAILED" = 0 ] && [ "$KTAP_N" -gt 0 ]
}
