#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Drive libnccl-net-inc.so as NCCL's proxy does, in each version of the
# interface.
#
#   nccl.sh [VAR=VALUE]... [PART...]
#	PART: jobs lossy interfaces

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"

RANKS=${RANKS:-4}
WORK=$(mktemp -d)

# Values of NCCL_SOCKET_IFNAME, by version: each host has eth0.
declare -A IFNAME=([8]=eth [10]="^lo,docker" [11]="=eth,eth0")

# proxies_start VERSION [MODE]: one per host. INC_REG=cache must not matter:
# nobody reports when NCCL frees memory.
proxies_start()
{
	local r dir=$WORK/$1${2:-}

	mkdir "$dir"
	PIDS=()
	for ((r = 0; r < RANKS; r++)); do
		INC_SERVER=$(topo_ip4 sw) INC_DEV=$TOPO$r \
			NCCL_SOCKET_IFNAME=${IFNAME[$1]} \
			INC_REG=cache ip netns exec "$TOPO-h$r" \
			timeout "$(scaled 60)" \
			"$INC_USER/nccl/proxy" \
			"$INC_USER/nccl/libnccl-net-inc.so" \
			"$1" "$r" "$RANKS" "$dir" "$SEED" "${2:-}" \
			>"$dir/out.$r" 2>&1 &
		PIDS+=($!)
	done
}

# proxies_end VERSION MODE PID...: take over their cases as ours.
proxies_end()
{
	local v=$1 dir=$WORK/$1$2 r=0 rc pid line

	shift 2
	for pid; do
		wait "$pid"
		rc=$?
		while read -r line; do
			case $line in
			"ok "*)	    ktap 0 "${line#* - }" ;;
			"not ok "*) ktap 1 "${line#* - }" ;;
			*)	    echo "# ${line#\# }" ;;
			esac
		done <"$dir/out.$r"
		ktap $rc "v$v rank $r: ends well" "status $rc"
		r=$((r + 1))
	done
}

# listens WHAT ADDRESS [VAR=VALUE...]: host 0 listens for messages at ADDRESS.
listens()
{
	local what=$1 addr=$2 at

	shift 2
	at=$(host 0 env "$@" "$INC_USER/nccl/proxy" \
		"$INC_USER/nccl/libnccl-net-inc.so" 11 0 1 \
		"$WORK" 1 where | sed -n 's/^at //p')
	[ "$at" = "$addr" ]
	ktap $? "interface: $what" "at $at, not at $addr"
}

# NCCL's order: its variable, InfiniBand, the network of rank 0, any other
# except those of containers and virtual machines, those, and loopback.
part_interfaces()
{
	local docker lan=10.88.0.1

	docker=$(topo_ip4 0)
	# The system lists this one first.
	ip -n "$TOPO-h0" -batch - <<-END
	link set eth0 down
	link set eth0 name docker0
	link set docker0 up
	link add link docker0 name lan0 type vlan id 7
	addr add $lan/24 dev lan0
	addr add fd00:88::1/64 dev lan0 nodad
	link set lan0 up
	END
	listens "docker0 does not come first" $lan
	listens "that of rank 0's net" "$docker" \
		NCCL_COMM_ID="$(topo_ip4 sw):4000"
	listens "as the variable says" "$docker" NCCL_SOCKET_IFNAME=dock
	listens "of the family wanted" fd00:88::1 NCCL_SOCKET_FAMILY=AF_INET6
	ip -n "$TOPO-h0" link set lan0 down
	ip -n "$TOPO-h0" link set lan0 name virbr0
	ip -n "$TOPO-h0" link set virbr0 up
	listens "docker0 before the loopback device and virbr0" "$docker"
	ip -n "$TOPO-h0" link set virbr0 down
	ip -n "$TOPO-h0" link set virbr0 name ib0
	ip -n "$TOPO-h0" link set ib0 up
	listens "ib0 before all others" $lan NCCL_COMM_ID="$(topo_ip4 sw):4000"
}

# The late job takes half a minute, in parallel with the others.
part_jobs()
{
	local v late

	proxies_start 10 late
	late=("${PIDS[@]}")
	for v in 8 10 11; do
		proxies_start $v
		proxies_end $v "" "${PIDS[@]}"
	done
	proxies_start 11 abort
	proxies_end 11 abort "${PIDS[@]}"
	proxies_end 10 late "${late[@]}"
}

# Its communicators change from RC to UC.
part_lossy()
{
	serve_lossy 8%
	proxies_start 11 lossy
	proxies_end 11 lossy "${PIDS[@]}"
	[ "$(changed_jobs)" -gt 0 ]
	ktap $? "lossy: they have changed to UC" \
		"$(grep -c 'packets are lost' "$LAB_OUT/serve.log")"
	topo_lose 0%
}

suite_up()
{
	topo_up "$RANKS" && serve_up
}

suite_down()
{
	rm -rf "$WORK"
}

suite "jobs lossy interfaces" "$@"
