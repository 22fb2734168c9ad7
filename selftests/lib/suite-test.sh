#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Does a suite fail if one of its parts ends early? Prints what is wrong.

LIB=$(cd "$(dirname "$0")" && pwd)
DIR=$(mktemp -d)
trap 'rm -rf "$DIR"' EXIT
export INC_BUILD=$DIR
unset LAB_OUT LAB_BACKEND SAN kselftest_timeout KTAP_NESTED
WRONG=0
INDENT=

# A suite that needs neither root nor a kernel. Its part's first line is line 19.
cat >"$DIR/frame" <<END
# shellcheck shell=bash
. "$LIB/suite.sh"
inc_load() { :; }
inc_unload() { :; }
suite_clear() { :; }
suite_left() { :; }
no_tree() { :; }
suite_lacks() { :; }
fails() { return 3; }
helper()
{
	fails || return
	ktap 0 "a helper"
}
part_next() { ktap 0 "the next part"; }
END

# toy STATUS FAILED TEXT LINE...: a suite whose part a is LINEs ends with STATUS, so
# many cases fail, TEXT is among what they say, and the next part runs if it can.
toy()
{
	local status=$1 failed=$2 text=$3 out rc next=0

	shift 3
	{
		cat "$DIR/frame"
		printf '%s\n' "part_a()" "{" "${@/#/	}" "}" \
			'suite "a next" "$@"'
	} >"$DIR/toy.sh"
	out=$(bash "$DIR/toy.sh" 2>&1)
	rc=$?
	[[ $out == *"ok "*"the next part"* || " $* " == *" exit"* ]] ||
		next=1
	[ $rc = "$status" ] && [ $next = 0 ] && [[ $out == *"$text"* ]] &&
		[ "$(grep -c "^${INDENT}not ok" <<<"$out")" = "$failed" ] && return
	echo "$*: status $rc:"
	sed 's/^/    /' <<<"$out"
	WRONG=1
}

# What is no early end.
toy 0 0 "1..6" 'ktap 0 b' 'ktap 0 c'
toy 0 0 "1..5" 'ktap 0 b' 'true || return' 'return 0' 'ktap 0 c'
toy 0 0 "SKIP" 'fails || { ktap_skip b "no c"; return; }' 'ktap 0 c'
toy 0 0 "1..5" 'ktap 0 b' 'fails || return 0' 'ktap 0 c'
# An early end.
toy 1 1 "not ok 2 - a: runs to its end # status 3, toy.sh:20" \
	'ktap 0 b' 'fails || return' 'ktap 0 c'
toy 1 1 "# status 3, toy.sh:21" \
	'if true; then' 'fails &&' 'true || return' 'fi' 'ktap 0 c'
toy 1 1 "# status 5, toy.sh:19" 'fails || return 5' 'ktap 0 c'
toy 1 1 "# status 3, toy.sh:21" 'ktap 0 b' 'fails' 'return' 'ktap 0 c'
toy 1 1 "# status 3, toy.sh:20" 'ktap 0 b' 'helper || return' 'ktap 0 c'
toy 1 1 "# status 3, toy.sh:18" 'ktap 0 b' 'helper'
toy 1 1 "# status 7, toy.sh:18" 'ktap 0 b' '(exit 7)'
# Both have failed cases of their own.
toy 1 1 "not ok 1 - c" 'ktap 1 c || return' 'ktap 0 d'
toy 1 1 "not ok 1 - c" 'ktap 1 c' 'fails || return' 'ktap 0 d'
# What puts a program up tells it, whatever its callers do.
toy 1 1 "not ok 1 - inc-tool serve comes up" 'wait_for() { [ "$2" != grep ]; }' \
	'serve_up' 'ktap 0 b'
# Parts that are no functions of their own.
toy 1 2 "# status 3, toy.sh:24" 'ktap 0 b' '}' 'suite_part()' '{' \
	'[ "$1" = a ] || ktap 0 "the next part"' \
	'fails || return' 'ktap 0 c'
# The whole test ends.
toy 1 1 "not ok 2 - the test runs to its end # status 0" 'ktap 0 b' 'exit'
toy 1 1 "not ok 1 - the test runs to its end # status 4" 'exit 4'
# As the kernel has it.
export kselftest_timeout=9
INDENT='    '
toy 1 1 "    not ok 2 - a: runs to its end # status 3, toy.sh:20" \
	'ktap 0 b' 'fails || return' 'ktap 0 c'
exit $WRONG
