#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make demo with the maximum number of hosts, and with arguments that it
# refuses.

cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=selftests/lib/ktap.sh
. selftests/lib/ktap.sh

# refused WORD VAR=VALUE...: refused at once, by one line that says what is
# wrong.
refused()
{
	local word=$1 out

	shift
	out=$(env LAB=uml "$@" selftests/demo/run 2>&1) && return 1
	[ "$(wc -l <<<"$out")" = 1 ] && grep -q "^demo: .*$word" <<<"$out"
}

refused RANKS=65 RANKS=65
ktap $? "RANKS=65 is refused"
refused RANKS=two RANKS=two
ktap $? "RANKS=two is refused"
refused SIZE=1T SIZE=1T
ktap $? "SIZE=1T is refused"
refused memory RANKS=64 SIZE=256M
ktap $? "what does not fit into the memory is refused, and how much it is said"
LAB=uml RANKS=64 SIZE=256K selftests/demo/run
ktap $? "make demo RANKS=64"
ktap_plan
