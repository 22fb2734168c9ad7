# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced by style.sh and analyze.sh, which have set LAB, OUT and ONLY: their
# cases, where the kernel's source is, and what they both look at.

N=0
FAILED=0
mkdir -p "$OUT"
# shellcheck disable=SC2034 # for those who source this
KSRC=$($LAB env | sed -n 's/^LAB_KSRC=//p')

# sources [PATTERN...]: the files of the tree
# shellcheck disable=SC2120 # style.sh gives patterns
sources()
{
	git ls-files -co --exclude-standard "$@" | while read -r f; do
		[ -f "$f" ] && echo "$f"
	done
}

scripts()
{
	sources | while read -r f; do
		case $f in *.sh) echo "$f"; continue ;; esac
		head -n 1 "$f" | grep -qE '^#!.*(bash|/sh)' && echo "$f"
	done
}

# shell_check OPTION...
shell_check()
{
	# shellcheck disable=SC2046
	$LAB exec -- shellcheck "$@" -x -P SCRIPTDIR -S warning $(scripts)
}

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
