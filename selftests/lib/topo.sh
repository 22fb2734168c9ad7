# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A bridge host and N hosts, as network namespaces of one kernel: sw has the
# bridge br0, h0 ... h(N-1) have eth0 and a stock rxe on it. Names have a prefix
# of their own, so that several topologies can exist side by side.
#
#   topo_up N [MTU]     make it       topo_down   take it away
#   topo_lone [NETNS]   a bridge host alone
#   sw CMD...           run in the bridge host
#   host R CMD...       run in host R
#   topo_rxe NAME DEVICE NETDEV       one more rxe, in sw or hR
#   topo_bursts on|off  the module's bursts cross the bridge as one packet (the
#                       default), or packet by packet: for tests that count
#                       single packets, or lose them
#   topo_lose RATE      both ends of each link lose so many of RoCE's IPv4 packets
#   topo_neigh          all know each other's MAC addresses, permanently
#   topo_ip4 R, topo_ip6 R            address of host R; of the bridge host: sw

TOPO=${TOPO:-inc$$}
TOPO_N=0
TOPO_NET=${TOPO_NET:-47}
# Under KASAN, eight hosts take 15 s, since each host's namespace has the devices of
# all, and 3 s if each has its own alone. Other tests can have that by TOPO_OWN=1.
[ "${LAB_BACKEND:-}" != uml-debug ] || TOPO_OWN=1
[ -z "${TOPO_OWN:-}" ] || rdma system set netns exclusive

# mute SWITCH PORT...: nothing passes these ports, as where a spanning tree blocks one
# further on. Their hosts keep their carrier: when a host loses it, a packet that rxe is
# just sending is refused now and then, which ends the queue pair.
mute()
{
	local port dir

	for port in "${@:2}"; do
		echo "qdisc add dev $port clsact"
		for dir in ingress egress; do
			echo "filter add dev $port $dir matchall action drop"
		done
	done | tc -n "$TOPO-$1" -batch -
}

# unmute SWITCH PORT...
unmute()
{
	printf 'qdisc del dev %s clsact\n' "${@:2}" | tc -n "$TOPO-$1" -batch -
}

topo_ip4()
{
	[ "$1" = sw ] && echo "10.$TOPO_NET.0.1" ||
		echo "10.$TOPO_NET.$((1 + $1 / 200)).$((10 + $1 % 200))"
}

topo_ip6()
{
	[ "$1" = sw ] && echo "fd00:$TOPO_NET::1" ||
		printf 'fd00:%s::1:%x\n' "$TOPO_NET" $((16 + $1))
}

sw()
{
	ip netns exec "$TOPO-sw" "$@"
}

host()
{
	local r=$1

	shift
	ip netns exec "$TOPO-h$r" "$@"
}

# topo_rxe NAME DEVICE NETDEV: a stock rxe, in host hR or bridge host sw.
topo_rxe()
{
	ip netns exec "$TOPO-$1" rdma link add "$2" type rxe netdev "$3" || return
	[ -z "${TOPO_OWN:-}" ] || rdma dev set "$2" netns "$TOPO-$1"
}

# Use batches: in some kernels starting a program takes long.
topo_host()
{
	local r=$1

	ip -n "$TOPO-h$r" -batch - <<-END
	link set lo up
	addr add $(topo_ip4 "$r")/16 dev eth0
	addr add $(topo_ip6 "$r")/64 dev eth0 nodad
	link set eth0 up
	END
	topo_rxe "h$r" "$TOPO$r" eth0
}

topo_bridge()
{
	local r mtu=$1

	echo "link set lo up"
	echo "link add br0 mtu $mtu type bridge mcast_snooping 0"
	echo "addr add $(topo_ip4 sw)/16 dev br0"
	echo "addr add $(topo_ip6 sw)/64 dev br0 nodad"
	echo "link set br0 up"
	for ((r = 0; r < TOPO_N; r++)); do
		echo "link add v$r mtu $mtu type veth peer name eth0 mtu $mtu netns $TOPO-h$r"
		echo "link set v$r master br0 up"
	done
}

# topo_lone [NETNS]: a bridge host whose members, 10.9.0.0/24 and fd00::/64, do
# not exist.
topo_lone()
{
	local ns=${1:-$TOPO-sw}

	ip netns add "$ns" && ip -n "$ns" -batch - <<-END
	link set lo up
	link add v0 type veth peer name v1
	addr add 10.9.0.1/24 dev v0
	addr add fd00::1/64 dev v0 nodad
	link set v0 up
	link set v1 up
	END
}

topo_up()
{
	local r mtu=${2:-1500}

	TOPO_N=$1
	{
		echo "netns add $TOPO-sw"
		for ((r = 0; r < TOPO_N; r++)); do
			echo "netns add $TOPO-h$r"
		done
	} | ip -batch - || return 1
	topo_bridge "$mtu" | ip -n "$TOPO-sw" -batch - || return 1
	for ((r = 0; r < TOPO_N; r++)); do
		topo_host "$r" || return 1
	done
}

# A stock rxe on the bridge device itself, for traffic other than the module's.
topo_sw_rxe()
{
	topo_rxe sw "${TOPO}sw" br0
}

topo_bursts()
{
	local segs=1

	[ "$1" = off ] || segs=65535
	sw ip link set br0 gso_max_segs "$segs"
}

# Programs' own messages, by TCP, would be slow with that.
topo_lose()
{
	local r

	topo_bursts off
	for ((r = 0; r < TOPO_N; r++)); do
		host "$r" sh -ec "$(topo_lose_at eth0 "$1")" &&
			sw sh -ec "$(topo_lose_at "v$r" "$1")" || return
	done
}

# topo_lose_at DEV RATE: the script for that, at one end of a link.
topo_lose_at()
{
	cat <<-END
	tc qdisc replace dev $1 root handle 1: prio
	tc qdisc replace dev $1 parent 1:3 handle 30: netem loss $2 limit 10000
	tc filter replace dev $1 parent 1: protocol ip prio 1 u32 flowid 1:3 \\
		match ip protocol 17 0xff match ip dport 4791 0xffff
	END
}

# netem also corrupts packets without a checksum. On a real link the Ethernet
# FCS detects a corrupted ARP packet; here it would leave a neighbour with a MAC
# address that nobody has until the entry is refreshed: up to a minute in which
# nothing arrives.
topo_neigh()
{
	local ns dev addr mac a b all=()

	for ns in $(ip netns list | grep -o "^$TOPO-[^ ]*"); do
		while read -r _ dev _ addr _; do
			mac=$(ip -n "$ns" -o link show dev "$dev" |
				sed 's/.*ether \([^ ]*\).*/\1/')
			all+=("$ns $dev ${addr%/*} $mac")
		done < <(ip -n "$ns" -o -4 addr show scope global)
	done
	for a in "${all[@]}"; do
		read -r ns dev _ <<<"$a"
		for b in "${all[@]}"; do
			read -r _ _ addr mac <<<"$b"
			[ "$a" = "$b" ] ||
				echo "neigh replace $addr lladdr $mac" \
					"dev $dev nud permanent"
		done | ip -n "$ns" -batch -
	done
}

topo_down()
{
	local r

	for ((r = 0; r < TOPO_N; r++)); do
		host "$r" rdma link del "$TOPO$r" 2>/dev/null
		ip netns del "$TOPO-h$r" 2>/dev/null
	done
	sw rdma link del "${TOPO}sw" 2>/dev/null
	ip netns del "$TOPO-sw" 2>/dev/null
	TOPO_N=0
	return 0
}
