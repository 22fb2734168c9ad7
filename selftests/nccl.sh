#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# libnccl-net-inc.so as NCCL's proxy drives it, in each version of the interface.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"

RANKS=${RANKS:-4}
SEED=${SEED:-$RANDOM}
WORK=$(mktemp -d)

# What NCCL_SOCKET_IFNAME may say, by version: each host has eth0.
declare -A IFNAME=([8]=eth [10]="^lo,docker" [11]="=eth,eth0")

# proxies VERSION: one on each host; their cases are ours.
proxies()
{
	local r pids=() rc line

	for ((r = 0; r < RANKS; r++)); do
		INC_SERVER=$(topo_ip4 sw) INC_DEV=$TOPO$r NCCL_SOCKET_IFNAME=${IFNAME[$1]} \
			ip netns exec "$TOPO-h$r" timeout $((60 * SLOW)) \
			"$INC_USER/nccl/proxy" "$INC_USER/nccl/libnccl-net-inc.so" \
			"$1" "$r" "$RANKS" "$WORK" "$SEED" >"$WORK/out.$r" 2>&1 &
		pids+=($!)
	done
	for ((r = 0; r < RANKS; r++)); do
		wait "${pids[r]}"
		rc=$?
		while read -r line; do
			case $line in
			"ok "*)	    ktap 0 "${line#* - }" ;;
			"not ok "*) ktap 1 "${line#* - }" ;;
			*)	    echo "# ${line#\# }" ;;
			esac
		done <"$WORK/out.$r"
		ktap $rc "v$1 rank $r: ends well" "status $rc"
	done
}

echo "# seed $SEED, kernel $(uname -r), $LAB_BACKEND"
trap 'serve_down; topo_down; inc_unload; rm -rf "$WORK"' EXIT
inc_load && topo_up "$RANKS" && serve_up || exit 1
for v in 8 10 11; do
	proxies $v
done
ktap "$(sw inc-tool -j tree show | grep -c '"id"')" "no tree is left"
ktap_end
