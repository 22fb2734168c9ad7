#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The receive path, fed by inc_pktgen (../bench/pktgen), which checks each result:
# packets as drivers give them, in a buffer and in page fragments; large trees and
# many; on two CPUs at the same time. It measures, too: the figures are shown, and not
# judged.
#
#   pktgen.sh [VAR=VALUE]... [PART...]
#	PART: linear frags many two

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"

PKTGEN=${PKTGEN:-$ROOT/build/mod/pktgen/inc_pktgen.ko}

suite_down()
{
	ip netns del "$TOPO-sw" 2>/dev/null
	[ ! -d /sys/module/inc_pktgen ] || rmmod inc_pktgen
}

# feed CASE...: one repetition of each; "ns" of all. A wrong result ends it.
feed()
{
	ip netns add "$TOPO-sw" && sw insmod "$PKTGEN" ports=8
	ktap $? "inc_pktgen is there" "$PKTGEN" || return 0
	rm -f "$LAB_OUT/pktgen.1"
	# Not "ip netns exec", which hides debugfs.
	nsenter --net="/run/netns/$TOPO-sw" timeout "$(scaled 100)" \
		python3 "$ROOT/selftests/bench/pktgen.py" "$LAB_OUT/pktgen" 1 \
		"$@" >"$LAB_OUT/pktgen.log" 2>&1
	ktap $? "$*: all results are right" "$(cat "$LAB_OUT/pktgen.log")"
	jq -c 'map_values(round)' "$LAB_OUT/pktgen.1" | sed 's/^/# ns: /'
	[ "$(jq length "$LAB_OUT/pktgen.1")" = $# ]
	ktap $? "$*: and were measured"
	suite_down
}

part_linear()
{
	feed 1k 4k 8b 1k-nic 1k-uc 1k-child 1k-child-uc
}

part_frags()
{
	feed 1k-frag 4k-frag 1k-odd
}

part_many()
{
	feed 1k-64 1k-256 1k-trees
}

# PKTGEN is that of a kernel with two CPUs.
part_two()
{
	feed one-2 eight-2 trees-2
}

suite "linear frags many" "$@"
