#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# PSNs (24 bits, both directions) and message IDs (24 bits in the Immediate, 32
# in the header) start just below their wrap; results stay right across it.

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"

# A job of 3 ranks on a tree of its own: NAME, options of the daemon, of the
# job.
wrap()
{
	local name=$1 serve=$2

	shift 2
	# shellcheck disable=SC2086
	serve_up $serve || return
	job "$name" 3 allreduce -t fp32 -o sum --count 20000 -i 40 --reps 1 \
		--check "$@"
	serve_down
}

part_msg_id()
{
	wrap "message ID across 2^24" "" --first-msg-id 0xfffff0
	wrap "message ID across 2^32" "" --first-msg-id 0xfffffff0
	wrap "message ID across 2^32 with 4 slots" "" \
		--first-msg-id 0xfffffffd --slots 4
}

part_psn()
{
	wrap "PSN of the switch across 2^24" "--psn 0xfffff8"
	wrap "PSN of the hosts across 2^24" "" --psn 0xfffff8
}

part_slot()
{
	wrap "1 slot" "--slots 1"
}

suite_up()
{
	topo_up 3
}

suite "msg_id psn slot" "$@"
