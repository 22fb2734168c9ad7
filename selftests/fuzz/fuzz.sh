#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Packets and netlink messages, right and wrong, by the ten thousand, at a
# switch in use, in a kernel with checks (KASAN, lockdep: their reports fail the
# run). Then a job runs, and the module unloads.
#
#   fuzz.sh [PACKETS=N] [MESSAGES=N] [SEED=N]

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"

PACKETS=${PACKETS:-100000}
MESSAGES=${MESSAGES:-50000}
DIR=$ROOT/selftests/fuzz
FUZZ=$LAB_OUT/inc-fuzz

build()
{
	# shellcheck disable=SC2046
	gcc -O2 -Wall -Wextra -I"$ROOT/kernel/include/uapi" \
		$(pkg-config --cflags libnl-genl-3.0) -o "$FUZZ" "$DIR"/*.c \
		$(pkg-config --libs libnl-genl-3.0)
}

suite_up()
{
	build && topo_up 3
}

part_bytes()
{
	local tree

	# Resolve the neighbour first, so that no packet waits for ARP.
	host 0 ping -c 1 -W 10 "$(topo_ip4 sw)" >/dev/null
	"$FUZZ" "$TOPO-sw" "$TOPO-h0" "$(topo_ip4 sw)" "$(topo_ip4 0)" \
		"$PACKETS" "$MESSAGES" "$SEED"
	ktap $? "$PACKETS packets, $MESSAGES netlink messages"
	sw inc-tool -s switch show | sed 's/^/# /'
	for tree in $(sw inc-tool -j tree show | python3 -c '
import json, sys
print(*(t["id"] for t in json.load(sys.stdin)))'); do
		sw inc-tool tree del "$tree"
	done
	no_tree
	ktap $? "all trees can be deleted"
}

part_after()
{
	serve_up
	job "a job is right afterwards" 3 allreduce --count 10000 -i 5 --check
}

suite "bytes after" "$@"
