#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The receive path, fed by inc_pktgen (../bench/pktgen), which checks each result:
# packets as drivers give them, in a buffer and in page fragments; large trees and
# many; on two CPUs at the same time. It measures, too, and fails if something takes
# much longer than it did, compared with something else of the same run.
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

# Other work on the machine may come in between.
TRIES=3

# measure CASE...: one repetition of each
measure()
{
	local rc

	rm -f "$LAB_OUT/pktgen.1"
	ip netns add "$TOPO-sw" && sw insmod "$PKTGEN" ports=8 || return
	# Not "ip netns exec", which hides debugfs.
	nsenter --net="/run/netns/$TOPO-sw" timeout "$(scaled 100)" \
		python3 "$ROOT/selftests/bench/pktgen.py" "$LAB_OUT/pktgen" 1 \
		"$@" >"$LAB_OUT/pktgen.log" 2>&1
	rc=$?
	suite_down
	return $rc
}

# ratios: compare what was measured with what was when benchmark.rst was written
ratios()
{
	python3 "$ROOT/selftests/bench/ratios.py" "$LAB_OUT/pktgen.1"
}

# feed CASE...: "ns" of all, and ratios. A wrong result ends it.
feed()
{
	local try

	measure "$@"
	ktap $? "$*: all results are right" "$(cat "$LAB_OUT/pktgen.log")"
	jq -c 'map_values(round)' "$LAB_OUT/pktgen.1" | sed 's/^/# ns: /'
	[ "$(jq length "$LAB_OUT/pktgen.1")" = $# ]
	ktap $? "$*: and were measured"
	for ((try = 1; try < TRIES; try++)); do
		! ratios >/dev/null || break
		measure "$@"
	done
	ratios
	ktap $? "$*: no ratio is much larger than it was"
}

part_linear()
{
	feed 1k 1k-crc 4k 4k-crc 8b 1k-nic 1k-uc 1k-child 1k-child-uc
}

part_frags()
{
	feed 1k 1k-frag 4k 4k-frag 1k-odd
}

part_many()
{
	feed 1k 1k-2 1k-64 1k-256 1k-trees 8b-last-64
}

# PKTGEN is that of a kernel with two CPUs.
part_two()
{
	feed one-2 eight-1 eight-2 trees-1 trees-2
}

suite "linear frags many" "$@"
