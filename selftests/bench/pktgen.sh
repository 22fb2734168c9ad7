#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The receive path alone, inside a kernel: $LAB_OUT/pktgen.1 and so on.
#
#   pktgen.sh REPETITIONS [CASE...]	CASE: see pktgen.py

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
PORTS=8

cleanup()
{
	ip netns del "$TOPO-sw" 2>/dev/null
	[ ! -d /sys/module/inc_pktgen ] || rmmod inc_pktgen
	inc_unload
}

trap cleanup EXIT
rm -f "$LAB_OUT"/pktgen.[0-9]*
inc_load && ip netns add "$TOPO-sw" &&
	sw insmod "$LAB_OUT/inc_pktgen.ko" ports="$PORTS" || exit 1
# Not "ip netns exec", which hides debugfs.
nsenter --net="/run/netns/$TOPO-sw" python3 "$(dirname "$0")/pktgen.py" \
	"$LAB_OUT/pktgen" "$@"
