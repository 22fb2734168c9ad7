#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two rxe under 1 % loss, and nothing else: does RC keep what it promises? What
# it finds is a matter of chance; place.sh shows the reason in every run.
#
#   two.sh [SECONDS [KO]]     for each of three settings; KO as for place.sh

KO=${2:-}
KO=${KO:+$(realpath "$KO")}
cd "$(dirname "$0")" || exit 1
# shellcheck source=selftests/lib/ktap.sh
. ../lib/ktap.sh
# shellcheck source=selftests/rxe/links.sh
. ./links.sh

SECONDS_EACH=${1:-20}
DIR=$(mktemp -d)
trap 'links_down; rm -rf "$DIR"' EXIT

# try TIMEOUT NETEM...: TIMEOUT is IBTA's exponent
try()
{
	local timeout=$1 k out rc

	shift
	for k in a b; do
		ip netns exec rxe$k tc qdisc replace dev eth0 root handle 1: \
			tbf rate 100mbit burst 8000 limit 2000000
		ip netns exec rxe$k tc qdisc replace dev eth0 parent 1: \
			netem "$@" limit 10000
	done
	out=$(ip netns exec rxea "$DIR/two" rxea "$(links_gid a)" 10.1.0.1 \
		rxeb "$(links_gid b)" 10.1.0.2 "$timeout" "$SECONDS_EACH" 2>&1)
	rc=$?
	echo "# timeout $timeout, $*: $out"
	[ -n "$KO" ] || [ $rc != 1 ] || rc=0
	ktap $rc "timeout $timeout, $*"
}

gcc -O2 -Wall -Wextra -o "$DIR/two" two.c -libverbs && links_up "$KO" &&
	links_second
ktap $? "two rxe"
if [ "$KTAP_FAILED" = 0 ]; then
	try 12 loss 1%
	try 10 loss 1%
	try 11 delay 3ms 3ms loss 1%
fi
ktap_plan
