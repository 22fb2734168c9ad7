# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced by style.sh and analyze.sh, which have set LAB, OUT and ONLY: their
# cases, and where the kernel's source is.

N=0
FAILED=0
mkdir -p "$OUT"
# shellcheck disable=SC2034 # for those who source this
KSRC=$($LAB env | sed -n 's/^LAB_KSRC=//p')

# check NAME CMD...: a case passes if CMD succeeds and prints nothing.
check()
{
	local name=$1 rc

	shift
	# shellcheck disable=SC2053 # a pattern
	[[ $name == $ONLY ]] || return 0
	"$@" >"$OUT/log" 2>&1
	rc=$?
	N=$((N + 1))
	if [ $rc = 0 ] && [ ! -s "$OUT/log" ]; then
		echo "ok $N - $name"
		return
	fi
	FAILED=1
	echo "not ok $N - $name"
	sed 's/^/# /' "$OUT/log" | head -n 60
}

# check_end: print the number of cases and exit; with 1 if one has failed.
check_end()
{
	echo "1..$N"
	exit $FAILED
}
