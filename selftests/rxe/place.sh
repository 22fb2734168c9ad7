#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Does rxe keep its place when it learns, in the middle of retransmitting a
# message of several packets, that all of it has arrived? One rxe against a
# scripted responder behind a slow link; needs neither rdma_inc nor anything
# that this tree builds. See Documentation/upstream/rxe-place.rst.
#
#   place.sh          the kernel's rdma_rxe: says what it does, whichever it is
#   place.sh KO       the file KO: fails unless it keeps its place

KO=${1:-}
KO=${KO:+$(realpath "$KO")}
cd "$(dirname "$0")" || exit 1
# shellcheck source=selftests/lib/ktap.sh
. ../lib/ktap.sh
# shellcheck source=selftests/rxe/links.sh
. ./links.sh
SLOW=1
# shellcheck source=selftests/lib/wait.sh
. ../lib/wait.sh

PACKETS=100		# of a message; the link takes 2.2 ms for one
DIR=$(mktemp -d)
trap 'links_down; rm -rf "$DIR"' EXIT

# judge CASE VERDICT STATUS: of the responder, and of the requester
judge()
{
	local lost=1

	# A requester that has lost its place may complete all the same.
	[ "$2" = "place kept" ] && [ "$3" = 0 ] && lost=0
	if [ -n "$KO" ]; then
		ktap $lost "$1: the place is kept" "$2, status $3"
	elif [ "$2" = "nothing seen" ]; then
		ktap_skip "$1" "the machine was too slow to show it"
	elif [ $lost = 0 ]; then
		ktap 0 "$1: this kernel's rxe keeps its place"
	else
		ktap 0 "$1: this kernel's rxe has the bug"
	fi
}

# try CASE MESSAGES
try()
{
	local pid writer rc

	rm -f "$DIR/qpn" "$DIR/write.log"
	mkfifo "$DIR/qpn"
	ip netns exec rxeb python3 resp.py "$1" $PACKETS <"$DIR/qpn" \
		>"$DIR/resp" 2>&1 &
	pid=$!
	exec 7>"$DIR/qpn"
	wait_for 30 grep -q ready "$DIR/resp"
	ip netns exec rxea "$DIR/write" rxea "$(links_gid a)" 10.1.0.2 17 \
		$((PACKETS * 1024)) "$2" >"$DIR/write.log" 2>&1 &
	writer=$!
	wait_for 30 grep -qs QPN "$DIR/write.log"
	sed -n 's/^QPN //p' "$DIR/write.log" >&7
	wait $writer
	rc=$?
	wait $pid
	exec 7>&-
	sed 's/^/#   responder: /' "$DIR/resp" | head -n 40
	sed 's/^/#   requester: /' "$DIR/write.log"
	judge "$1" "$(tail -n 1 "$DIR/resp")" $rc
}

gcc -O2 -Wall -Wextra -o "$DIR/write" write.c -libverbs && links_up "$KO" &&
	ip netns exec rxea tc qdisc add dev eth0 root tbf rate 4mbit \
		burst 3000 limit 1000000
ktap $? "an rxe on a slow link"
if [ "$KTAP_FAILED" = 0 ]; then
	try timeout 4
	try alone 1
	try rnr 4
fi
ktap_plan
