#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The receive path alone, inside a kernel: $LAB_OUT/pktgen.1 and so on.
#
#   pktgen.sh REPETITIONS [CASE...]	CASE: see pktgen.py; default: all, and 1k-qps

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
# measure OUT REPETITIONS [CASE...]: OUT.1 and so on
measure()
{
	inc_load && ip netns add "$TOPO-sw" &&
		sw insmod "$LAB_OUT/inc_pktgen.ko" ports="$PORTS" || return
	# Not "ip netns exec", which hides debugfs.
	nsenter --net="/run/netns/$TOPO-sw" python3 "$(dirname "$0")/pktgen.py" \
		"$LAB_OUT/$1" "${@:2}" || return
	cleanup
}

rm -f "$LAB_OUT"/pktgen.[0-9]*
measure pktgen "$@" || exit 1
[ $# = 1 ] || exit 0
measure qps "$1" 1k-qps || exit 1
for ((i = 1; i <= $1; i++)); do
	jq -c -s add "$LAB_OUT/pktgen.$i" "$LAB_OUT/qps.$i" >"$LAB_OUT/both" &&
		mv "$LAB_OUT/both" "$LAB_OUT/pktgen.$i" || exit 1
done
