#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Do a test's cases tell when a program that prints some of them dies? Prints what
# is wrong.

# shellcheck source=selftests/lib/ktap.sh
. "$(dirname "$0")/ktap.sh"
WRONG=0

# try FAILED TEXT: so many of the cases fail that a program which does TEXT has.
try()
{
	local out

	out=$(ktap_run it bash -c "$2"; echo "failed $KTAP_FAILED")
	[[ $out == *"failed $1" ]] && return
	echo "$2: $out"
	WRONG=1
}

try 0 'echo "ok 1 - a"; echo "# more"; echo "ok 2 - b # SKIP c"; echo 1..2'
try 0 'echo "KTAP version 1"; echo "1..1"; echo "ok 1 - a"'
try 1 'echo "ok 1 - a"; echo "not ok 2 - b # c"; echo 1..2'
try 1 'echo "ok 1 - a"'
try 1 'echo "ok 1 - a"; kill $$'
try 1 'echo "ok 1 - a"; echo 1..1; kill $$'
try 1 'echo 1..2; echo "ok 1 - a"'
try 1 'echo "ok 1 - a"; echo "ok 2 - b"; echo 1..1'
try 1 'exit 3'
try 2 'echo "not ok 1 - a"; echo 1..1; exit 1'
exit $WRONG
