#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Networks other than a bridge of veths: one of two hosts is behind VLANs,
# labels, tunnels, a VRF or MACsec, reached by a device that does not take
# packets to be segmented. Bursts are segmented there, with all headers in
# front.
#
#   networks.sh [NETWORK...]      only these
#
#   h0 --- br0 of sw --- nic ====== wire of gw --- h1

# shellcheck disable=SC2319 # "$?" of a condition is what ktap wants
# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"

PERF=(--check --seed "$SEED")
COUNT=100003
ITERATIONS=3
# Addresses of h1, where it is not on the bridge.
FAR4=10.98.0.2
FAR6=fd00:98::2
KEY=0123456789abcdef0123456789abcdef

gw()
{
	ip netns exec "$TOPO-gw" "$@"
}

# in_ns NS: run the ip commands on standard input.
in_ns()
{
	ip -n "$TOPO-$1" -batch -
}

# Like most real devices: it neither segments nor tags.
plain_device()
{
	ip netns exec "$TOPO-$1" ethtool -K "$2" tx-gso-list off \
		tx-udp-segmentation off tx-vlan-hw-insert off tx-vlan-stag-hw-insert off
}

# Make the cable between sw and gw, and h1 behind gw.
cable_up()
{
	ip netns add "$TOPO-gw"
	sw ip link del v1 2>/dev/null
	in_ns gw <<-END
	link set lo up
	link add wire mtu 2000 type veth peer name nic mtu 2000 netns $TOPO-sw
	link add w1 type veth peer name eth0 netns $TOPO-h1
	link set wire up
	link set w1 up
	END
	sw ip link set nic up
	plain_device sw nic
	plain_device gw wire
	host 1 ip link set eth0 up
}

cable_down()
{
	host 1 rdma link del "${TOPO}1" 2>/dev/null
	ip netns del "$TOPO-gw" 2>/dev/null
	ip netns del "$TOPO-rt" 2>/dev/null
	sw ip link set br0 type bridge vlan_filtering 0 2>/dev/null
	# Devices on the cable disappear with it; this one does not.
	sw ip link del vrf0 2>/dev/null
	sw ip link del tun0 2>/dev/null
	return 0
}

# Put h1 on br0's network, behind a bridge of gw with the given port.
near()
{
	in_ns gw <<-END
	link add brg type bridge mcast_snooping 0
	link set brg up
	link set w1 master brg
	link set $1 master brg up
	END
	ip -n "$TOPO-h1" -batch - <<-END
	addr add $(topo_ip4 1)/16 dev eth0
	addr add $(topo_ip6 1)/64 dev eth0 nodad
	END
	topo_rxe h1 "${TOPO}1" eth0
}

# Put h1 on a network of its own; gw routes to it by a device.
# far DEV SW-DEV: device of gw, and of sw
far()
{
	gw sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
	in_ns gw <<-END
	addr add 10.98.0.1/24 dev w1
	addr add fd00:98::1/64 dev w1 nodad
	addr add 10.97.0.2/24 dev $1
	addr add fd00:97::2/64 dev $1 nodad
	link set $1 up
	route add $(topo_ip4 sw) via 10.97.0.1 dev $1 onlink
	route add $(topo_ip6 sw) via fd00:97::1 dev $1 onlink
	END
	in_ns sw <<-END
	addr add 10.97.0.1/24 dev $2
	addr add fd00:97::1/64 dev $2 nodad
	link set $2 up
	route add 10.98.0.0/24 via 10.97.0.2 dev $2 onlink
	route add fd00:98::/64 via fd00:97::2 dev $2 onlink
	END
	ip -n "$TOPO-h1" -batch - <<-END
	addr add $FAR4/24 dev eth0
	addr add $FAR6/64 dev eth0 nodad
	route add default via 10.98.0.1
	route add default via fd00:98::1
	END
	topo_rxe h1 "${TOPO}1" eth0
}

# Addresses of the cable itself, for packets that tunnels carry.
outer()
{
	sw ip addr add 10.96.0.1/24 dev nic
	sw ip addr add fd00:96::1/64 dev nic nodad
	gw ip addr add 10.96.0.2/24 dev wire
	gw ip addr add fd00:96::2/64 dev wire nodad
}

# A VLAN-filtering bridge with a tagged port.
net_filter()
{
	sw ip link set br0 type bridge vlan_filtering 1
	sw ip link set nic master br0
	sw bridge vlan add dev nic vid 100
	sw bridge vlan add dev v0 vid 100 pvid untagged
	sw bridge vlan add dev br0 vid 100 pvid untagged self
	gw ip link add link wire name wire.100 type vlan id 100
	near wire.100
}

# A VLAN device as the bridge's port.
net_vlan()
{
	sw ip link add link nic name nic.100 type vlan id 100
	sw ip link set nic.100 master br0 up
	gw ip link add link wire name wire.100 type vlan id 100
	near wire.100
}

net_qinq()
{
	sw ip link add link nic name nic.s type vlan proto 802.1ad id 200
	sw ip link set nic.s up
	sw ip link add link nic.s name nic.c type vlan id 100
	sw ip link set nic.c master br0 up
	gw ip link add link wire name wire.s type vlan proto 802.1ad id 200
	gw ip link set wire.s up
	gw ip link add link wire.s name wire.c type vlan id 100
	near wire.c
}

net_act_vlan()
{
	sw ip link set nic master br0
	sw tc qdisc add dev nic clsact
	sw tc filter add dev nic egress matchall action vlan push id 100
	sw tc filter add dev nic ingress protocol 802.1q matchall \
		action vlan pop
	gw ip link add link wire name wire.100 type vlan id 100
	near wire.100
}

# Towards h1 only, and IPv4 only.
net_act_mpls()
{
	sw ip link set nic master br0
	sw tc qdisc add dev nic clsact
	sw tc filter add dev nic egress protocol ip matchall \
		action mpls push protocol mpls_uc label 100 ttl 64
	gw tc qdisc add dev wire clsact
	gw tc filter add dev wire ingress protocol mpls_uc matchall \
		action mpls pop protocol ip
	near wire
}

net_ipip()
{
	outer
	sw ip link add tun0 type ipip local 10.96.0.1 remote 10.96.0.2
	gw ip link add tun0 type ipip local 10.96.0.2 remote 10.96.0.1
	far tun0 tun0
}

net_vxlan()
{
	outer
	sw ip link add tun0 type vxlan id 7 local fd00:96::1 remote fd00:96::2 \
		dstport 4789 udp6zerocsumtx udp6zerocsumrx
	gw ip link add tun0 type vxlan id 7 local fd00:96::2 remote fd00:96::1 \
		dstport 4789 udp6zerocsumtx udp6zerocsumrx
	far tun0 tun0
}

net_geneve()
{
	outer
	sw ip link add tun0 type geneve id 7 remote 10.96.0.2
	gw ip link add tun0 type geneve id 7 remote 10.96.0.1
	far tun0 tun0
}

# A tunnel as the bridge's port.
net_bridged_vxlan()
{
	outer
	sw ip link add tun0 type vxlan id 7 local 10.96.0.1 remote 10.96.0.2 \
		dstport 4789
	sw ip link set tun0 master br0 up
	gw ip link add tun0 type vxlan id 7 local 10.96.0.2 remote 10.96.0.1 \
		dstport 4789
	near tun0
}

rt()
{
	ip netns exec "$TOPO-rt" "$@"
}

# Another router on this machine, which gets bursts unsegmented, and a plain
# device of its between the two.
two_routers()
{
	far wire nic
	sw ethtool -K nic tx-gso-list on tx-udp-segmentation on
	ip netns add "$TOPO-rt"
	gw ip link set w1 netns "$TOPO-rt"
	rt sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
	gw ip link add c mtu 2000 type veth peer name c mtu 2000 \
		netns "$TOPO-rt"
	plain_device gw c
	in_ns rt <<-END
	link set lo up
	addr add 10.98.0.1/24 dev w1
	addr add fd00:98::1/64 dev w1 nodad
	link set w1 up
	END
}

# Addresses between the two, and rt's way back.
between()
{
	in_ns gw <<-END
	addr add 10.95.0.1/24 dev c
	addr add fd00:95::1/64 dev c nodad
	link set c up
	END
	in_ns rt <<-END
	addr add 10.95.0.2/24 dev c
	addr add fd00:95::2/64 dev c nodad
	link set c up
	route add default via 10.95.0.1
	route add default via fd00:95::1
	END
}

# As many as one filter has actions.
LABELS=32

# gw pushes them, rt takes them off.
labels()
{
	local n acts=()

	for ((n = 1; n < LABELS; n++)); do
		acts+=(action mpls push protocol mpls_uc label $((100 + n))
			ttl 64 pipe)
	done
	gw tc filter add dev c egress protocol ip matchall "${acts[@]}" \
		action mpls push protocol mpls_uc label 100 ttl 64
	acts=()
	for ((n = 1; n < LABELS; n++)); do
		acts+=(action mpls pop protocol mpls_uc pipe)
	done
	rt tc filter add dev c ingress protocol mpls_uc matchall \
		"${acts[@]}" action mpls pop protocol ip
}

# IPv4 only.
net_labels()
{
	two_routers
	between
	gw ip route add 10.98.0.0/24 via 10.95.0.2
	gw tc qdisc add dev c clsact
	rt tc qdisc add dev c clsact
	labels
}

# IPv6 only: eight segments, all of them rt's.
net_segments()
{
	local n segs=

	two_routers
	between
	rt sysctl -qw net.ipv6.conf.all.seg6_enabled=1 \
		net.ipv6.conf.c.seg6_enabled=1
	for n in 1 2 3 4 5 6 7; do
		rt ip -6 route add "fd00:93::$n" encap seg6local action End \
			dev c
		segs+=fd00:93::$n,
	done
	rt ip -6 route add fd00:93::8 encap seg6local action End.DT6 \
		table main dev c
	gw ip -6 route add fd00:93::/64 via fd00:95::2
	gw ip -6 route add fd00:98::/64 encap seg6 mode encap \
		segs "${segs}fd00:93::8" dev c
}

# A tunnel with 240 bytes of options.
net_options()
{
	local opts

	two_routers
	between
	opts=$(printf '0:1:%0232d,0:1:%0232d' 0 0)
	gw ip link add tun0 type geneve external
	gw ip link set tun0 up
	rt ip link add tun0 type geneve id 7 remote 10.95.0.1
	rt ip link set tun0 up
	gw ip route add 10.98.0.0/24 encap ip id 7 dst 10.95.0.2 \
		geneve_opts "$opts" dev tun0
	gw ip route add fd00:98::/64 encap ip id 7 dst 10.95.0.2 \
		geneve_opts "$opts" dev tun0
	gw ip neigh add 10.98.0.2 dev tun0 nud permanent \
		lladdr "$(rt cat /sys/class/net/tun0/address)"
	gw ip neigh add fd00:98::2 dev tun0 nud permanent \
		lladdr "$(rt cat /sys/class/net/tun0/address)"
}

# A router on this machine forwards bursts unsegmented through a tunnel in a
# VLAN that the bridge host does not know.
net_behind()
{
	local h

	two_routers
	for h in gw rt; do
		in_ns $h <<-END
		link set c up
		link add link c name c.s type vlan proto 802.1ad id 200
		link set c.s up
		link add link c.s name c.c type vlan id 100
		link set c.c up
		END
	done
	in_ns gw <<-END
	addr add fd00:95::1/64 dev c.c nodad
	link add tun0 type vxlan id 7 local fd00:95::1 remote fd00:95::2 dstport 4789 udp6zerocsumtx udp6zerocsumrx
	addr add 10.94.0.1/24 dev tun0
	addr add fd00:94::1/64 dev tun0 nodad
	link set tun0 up
	route add 10.98.0.0/24 via 10.94.0.2
	route add fd00:98::/64 via fd00:94::2
	END
	in_ns rt <<-END
	addr add fd00:95::2/64 dev c.c nodad
	link add tun0 type vxlan id 7 local fd00:95::2 remote fd00:95::1 dstport 4789 udp6zerocsumtx udp6zerocsumrx
	addr add 10.94.0.2/24 dev tun0
	addr add fd00:94::2/64 dev tun0 nodad
	link set tun0 up
	route add default via 10.94.0.1
	route add default via fd00:94::1
	END
}

# h1's network belongs to a VRF; the main table has a route to it.
net_vrf()
{
	sw sysctl -qw net.ipv4.tcp_l3mdev_accept=1
	in_ns sw <<-END
	link add vrf0 type vrf table 77
	link set vrf0 up
	link set nic master vrf0
	addr add 10.98.0.1/24 dev nic
	addr add fd00:98::1/64 dev nic nodad
	route add 10.98.0.0/24 dev nic
	route add fd00:98::/64 dev nic
	END
	in_ns gw <<-END
	link add brg type bridge mcast_snooping 0
	link set brg up
	link set w1 master brg
	link set wire master brg
	link set wire up
	END
	ip -n "$TOPO-h1" -batch - <<-END
	addr add $FAR4/24 dev eth0
	addr add $FAR6/64 dev eth0 nodad
	END
	topo_rxe h1 "${TOPO}1" eth0
}

# macsec NS DEV PEER-MAC
macsec()
{
	in_ns "$1" <<-END
	link add link $2 name sec0 type macsec encrypt on
	macsec add sec0 tx sa 0 pn 1 on key 01 $KEY
	macsec add sec0 rx port 1 address $3
	macsec add sec0 rx port 1 address $3 sa 0 pn 1 on key 02 $KEY
	END
}

net_macsec()
{
	macsec sw nic "$(gw cat /sys/class/net/wire/address)"
	macsec gw wire "$(sw cat /sys/class/net/nic/address)"
	sw ip link set sec0 master br0 up
	near sec0
}

# ipsec NS OWN-ADDRESS ITS-SPI OTHER-ADDRESS ITS-SPI: everything between the two
# is ESP in transport mode, and nothing else gets in.
ipsec()
{
	local esp="proto esp mode transport"
	local aead="aead rfc4106(gcm(aes)) 0x${KEY}01020304 128"

	in_ns "$1" <<-END
	xfrm state add src $2 dst $4 spi $3 $esp $aead
	xfrm state add src $4 dst $2 spi $5 $esp $aead
	xfrm policy add dir out src $2 dst $4 tmpl src $2 dst $4 $esp
	xfrm policy add dir in src $4 dst $2 tmpl src $4 dst $2 $esp
	END
}

net_ipsec()
{
	local of

	sw ip link set nic master br0
	near wire
	for of in topo_ip4 topo_ip6; do
		ipsec sw "$($of sw)" 0x101 "$($of 1)" 0x102
		ipsec h1 "$($of 1)" 0x102 "$($of sw)" 0x101
	done
}

# Packets of each security association of sw, the minimum of them.
protected()
{
	local n

	n=$(sw ip -s xfrm state |
		sed -n 's/.*(bytes), \([0-9]*\)(packets)$/\1/p' |
		sort -n | head -n 1)
	[ "${n:-0}" -gt 300 ]
	ktap $? "ipsec: all of it was protected" "$n packets"
	sw ip xfrm state flush
	sw ip xfrm policy flush
	host 1 ip xfrm state flush
	host 1 ip xfrm policy flush
}

# run NETWORK VERSION: an AllReduce; how large packets to h0 are shows whether bursts
# were sent: without them 1,050 bytes, over MACsec 1,710, with them 2,880 and more. What
# is sent again comes one by one.
run()
{
	local net=$1 addr=topo_ip$2 dir=/sys/class/net/v0/statistics
	local sent bytes

	sent=$(sw cat $dir/tx_packets)
	bytes=$(sw cat $dir/tx_bytes)
	JOB_ADDR=$addr
	JOB_SERVER=()
	[ "$net-$2" != vrf-4 ] || JOB_SERVER[1]=10.98.0.1
	[ "$net-$2" != vrf-6 ] || JOB_SERVER[1]="[fd00:98::1]"
	job "$net, IPv$2" 2 allreduce -t fp32 -o sum --count $COUNT \
		-i $ITERATIONS -x 0 --reps 1 "${PERF[@]}"
	sent=$(($(sw cat $dir/tx_packets) - sent))
	bytes=$(($(sw cat $dir/tx_bytes) - bytes))
	# A slow kernel sends most of it again.
	[ "$SLOW" -gt 1 ] || [ $bytes -gt $((sent * 1850)) ]
	ktap $? "$net, IPv$2: $sent packets of $((bytes / (sent + 1))) bytes"
}

# too_big FROM TO REMOTE: a host's claim that an echo reply of TO to REMOTE was
# too long for some path.
too_big()
{
	ip netns exec "$TOPO-$1" python3 - "$2" "$3" <<-END
	import socket, struct, sys
	own, remote = map(socket.inet_aton, sys.argv[1:])

	def checked(data, at):
	    s = sum(struct.unpack("!%dH" % (len(data) // 2), data))
	    s = (s & 0xffff) + (s >> 16)
	    s = ~(s + (s >> 16)) & 0xffff
	    return data[:at] + struct.pack("!H", s) + data[at + 2:]

	echo = checked(struct.pack("!BBHHHBBH4s4s", 0x45, 0, 1400, 0, 0x4000, 64,
	                           1, 0, own, remote), 10) + bytes(8)
	icmp = checked(struct.pack("!BBHHH", 3, 4, 0, 0, 552) + echo, 2)
	with socket.socket(socket.AF_INET, socket.SOCK_RAW,
	                   socket.IPPROTO_ICMP) as s:
	    s.sendto(icmp, (sys.argv[1], 0))
	END
}

# says_route NAME SWITCH
says_route()
{
	grep -q "path MTU 1024 needs an MTU of 1088, the route to $2 has 552" \
		"$JOB_LOG.0"
	ktap $? "$1: it says why" "$(job_why)"
}

# learnt NAME SWITCH: host 0 has believed it, which its rank can know.
learnt()
{
	local name=$1 at=$2 transport

	for transport in rc uc; do
		job_start 2 allreduce -t fp32 -o sum --count "$COUNT" -i 1 \
			--transport $transport --timeout "$(scaled 3000)"
		! job_wait
		ktap $? "$name, $transport: no job begins" "$(job_why)"
		says_route "$name, $transport" "$at"
	done
}

# learnt_late NAME NS FROM OWN REMOTE: the same when a job runs already.
learnt_late()
{
	local name=$1 ns=$2 from=$3 own=$4 remote=$5 transport start end

	for transport in rc uc; do
		ip -n "$TOPO-$ns" route flush cache
		job_start 2 allreduce -t fp32 -o sum --count "$COUNT" \
			-i 1000000 --transport $transport
		wait_for 20 busy 50
		ktap $? "$name, $transport: a job runs" "$(job_why)"
		now_ms start
		too_big "$from" "$own" "$remote"
		! job_wait
		ktap $? "$name, $transport: it ends"
		now_ms end
		[ $((end - start)) -lt "$(scaled 5000)" ]
		ktap $? "$name, $transport: soon" "$((end - start)) ms"
		says_route "$name, $transport" "$remote"
		echo "# $name, $transport: after $((end - start)) ms"
	done
	ip -n "$TOPO-$ns" route flush cache
}

# forged NAME NS FROM OWN REMOTE [believed]: a job after such a message to NS,
# which it must not believe, or the job ends.
# shellcheck disable=SC2319 # "$?" of a condition is what ktap wants
forged()
{
	local name=$1 ns=$2 from=$3 own=$4 remote=$5 rc
	local args=(2 allreduce -t fp32 -o sum --count "$COUNT" -i 1 -x 0
		--reps 1)

	too_big "$from" "$own" "$remote"
	ip -n "$TOPO-$ns" route get "$remote" | grep -q "mtu 552"
	rc=$?
	if [ -n "${6:-}" ]; then
		ktap $rc "$name: the message is believed"
		job_start "${args[@]}" --timeout "$(scaled 3000)" "${PERF[@]}"
		! job_wait
		ktap $? "$name: the job ends"
		[ "$ns" != h0 ] || learnt "$name" "$remote"
	else
		[ $rc != 0 ]
		ktap $? "$name: the message is not believed"
		job "$name" "${args[@]}" "${PERF[@]}"
	fi
	ip -n "$TOPO-$ns" route flush cache
}

# forged_all WHO NS FROM OWN REMOTE ROUTE: what using.rst says to do.
forged_all()
{
	local who=$1 ns=$2 mode
	local pmtu=net.ipv4.ip_no_pmtu_disc

	JOB_ADDR=topo_ip4
	JOB_SERVER=()
	forged "$who, default" "${@:2:4}" believed
	for mode in 2 3; do
		ip netns exec "$TOPO-$ns" sysctl -qw $pmtu=$mode
		forged "$who, $pmtu=$mode" "${@:2:4}"
	done
	ip netns exec "$TOPO-$ns" sysctl -qw $pmtu=0
	# shellcheck disable=SC2086 # words
	ip -n "$TOPO-$ns" route replace $6
	forged "$who, mtu lock" "${@:2:4}"
}

# The hosts' own packets, and those of a tunnel's end, are the kernel's to send.
net_icmp_host()
{
	sw ip link set nic master br0
	near wire
}

net_icmp_tunnel()
{
	net_ipip
}

icmp_host()
{
	JOB_ADDR=topo_ip4
	JOB_SERVER=()
	learnt_late "a host, late" h0 h1 "$(topo_ip4 0)" "$(topo_ip4 sw)"
	forged_all "a host" h0 h1 "$(topo_ip4 0)" "$(topo_ip4 sw)" \
		"$(topo_ip4 sw) dev eth0 mtu lock 1500"
}

icmp_tunnel()
{
	forged_all "a tunnel's end" sw gw 10.96.0.1 10.96.0.2 \
		"10.96.0.2 dev nic mtu lock 2000"
}

suite_up()
{
	modprobe -qa vxlan geneve mpls_gso
	topo_up 2 && clock_up || return 1
	host 1 rdma link del "${TOPO}1"
	# Keep br0's MAC address independent of its ports: h0 would have to
	# learn it again.
	sw ip link set br0 address 02:47:00:00:00:01
}

suite_down()
{
	cable_down
}

suite_part()
{
	local net=$1

	cable_up
	"net_$net"
	serve_up --window 16 --pmtu 1024 || return
	if [[ $net == icmp_* ]]; then
		"$net"
	elif [[ $net != segments ]]; then
		run "$net" 4
	fi
	[[ $net == act_mpls || $net == ipip || $net == labels ||
		$net == icmp_* ]] ||
		run "$net" 6
	[ "$net" != ipsec ] || protected
	serve_down
	cable_down
	host 1 ip link del eth0 2>/dev/null
	return 0
}

suite "filter vlan qinq act_vlan act_mpls ipip vxlan geneve bridged_vxlan
	behind labels segments options vrf macsec ipsec icmp_host icmp_tunnel" "$@"
