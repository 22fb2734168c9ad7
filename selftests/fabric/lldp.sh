#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# How the manager knows where hosts are and which switches are linked: silent
# hosts, hosts that move, or have many addresses; and clients and agents that say
# nothing.
#
#   lldp.sh [VAR=VALUE]... [PART...]
#	PART: lldp host silent moved beacon mac mute segment bond vlan macs

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
# shellcheck source=selftests/lib/levels.sh
. "$ROOT/selftests/lib/levels.sh"
# shellcheck source=selftests/lib/fabric.sh
. "$ROOT/selftests/lib/fabric.sh"

# Ranks come from elsewhere: what is known of hosts is not due to their messages.
AMD_ARGS=(--allow "10.$TOPO_NET.0.0/16")

# Nobody has heard of any host, and no host of a bridge: its MAC address is that of
# a port, and another one when ports come and go.
forget()
{
	local name r

	for name in "${SWITCHES[@]}"; do
		at "$name" ip link set br0 type bridge fdb_flush
		at "$name" ip neigh flush all
	done
	for ((r = 0; r < TOPO_N; r++)); do
		host "$r" ip neigh flush all
	done
}

declare -A LLDPD

lldpd_sock()
{
	echo "/run/lldpd-$TOPO-$1.sock"
}

# lldpd_up SWITCH: it drops its privileges to a user of its own.
lldpd_up()
{
	local name=$1

	mkdir -p /run/lldpd
	rm -f "$(lldpd_sock "$name")"
	ip netns exec "$TOPO-$name" lldpd -d -u "$(lldpd_sock "$name")" \
		-I 'v*,up*,down*' >"$LAB_OUT/lldpd-$name.log" 2>&1 &
	LLDPD[$name]=$!
	wait_for 10 test -S "$(lldpd_sock "$name")" ||
		ktap 1 "lldpd of $name comes up" \
			"$(cat "$LAB_OUT/lldpd-$name.log")" || return
	# Else it tells what is new every 30 s.
	at "$name" lldpcli -u "$(lldpd_sock "$name")" \
		configure lldp tx-interval 3 >/dev/null
}

lldpds_down()
{
	local name

	for name in "${!LLDPD[@]}"; do
		kill -9 "${LLDPD[$name]}" 2>/dev/null
		wait "${LLDPD[$name]}" 2>/dev/null
		rm -f "$(lldpd_sock "$name")"
	done
	LLDPD=()
}

suite_down()
{
	amd_down
	agents_down
	lldpds_down
	return 0
}

suite_up()
{
	local name

	levels_up 2 2 || return
	for name in "${SWITCHES[@]}"; do
		agent_up "$name" --lldp "$(lldpd_sock "$name")" || return
	done
	amd_up && wait_for 30 ctl_up && clock_up
}

# join RANK...: in the name of these hosts.
join()
{
	local r addrs=()

	for r; do
		addrs+=("$(topo_ip4 "$r")")
	done
	sw python3 "$ROOT/selftests/fabric/silent.py" "$(topo_ip4 sw):18790" \
		"${addrs[@]}" 2>&1
}

# within MS LIMIT
within()
{
	[ "$1" -le "$(scaled "$2")" ]
}

no_host()
{
	! ctl topology | grep -q "^host"
}

# links HOW: the topology's links are those that there are, found in this way.
links()
{
	[ "$(ctl topology | grep "^link" | sort)" = "link sw:down1 - l0:uplink, $1
link sw:down2 - l1:uplink, $1" ]
}

# agents_say TEXT: all agents have logged it.
agents_say()
{
	local name

	for name in "${SWITCHES[@]}"; do
		grep -q "$1" "$LAB_OUT/agentd-$name.log" || return
	done
}

# lldp_show SWITCH WHAT...: as its lldpd says.
lldp_show()
{
	at "$1" timeout 5 lldpcli -u "$(lldpd_sock "$1")" -f keyvalue \
		show "${@:2}" 2>&1
}

# What lldpd itself knows, if links are not found by it.
lldp_why()
{
	local name

	ctl topology
	for name in "${SWITCHES[@]}"; do
		echo "lldpd of $name:"
		lldp_show "$name" neighbors details |
			grep -E "mac=|ifname=|unknown-tlv|rid="
		lldp_show "$name" statistics | grep -E "[tr]x="
		grep LLDP "$LAB_OUT/agentd-$name.log"
	done
}

# by_lldp SECONDS NAME: both links are found by LLDP within that time.
by_lldp()
{
	local rc

	wait_for "$1" links lldp
	rc=$?
	ktap $rc "$2" "$([ $rc = 0 ] || lldp_why)"
}

part_lldp()
{
	local name start now

	wait_for 10 links fdb
	ktap $? "without lldpd: links by the forwarding database" \
		"$(ctl topology)"
	agents_say "no lldpd at"
	ktap $? "without lldpd: the agents say so"
	for name in "${SWITCHES[@]}"; do
		lldpd_up "$name" || return
	done
	now_ms start
	by_lldp 30 "lldpd comes: the same links by LLDP"
	now_ms now
	echo "# links by LLDP $((now - start)) ms after lldpd started"
	ip -n "$TOPO-l1" link set uplink down
	now_ms start
	wait_for 10 eval '! links lldp'
	now_ms now
	echo "# a link that goes down: noticed after $((now - start)) ms"
	within $((now - start)) 10000
	ktap $? "a link that goes down: noticed"
	ip -n "$TOPO-l1" link set uplink up
	by_lldp 40 "a link that comes up again"
	kill -9 "${LLDPD[l1]}"
	wait "${LLDPD[l1]}" 2>/dev/null
	wait_for 20 eval 'ctl topology | grep -q "l1:uplink, fdb"'
	ktap $? "lldpd gone: back to the forwarding database" "$(ctl topology)"
	am_job "two kinds of links: a job" 4 --check --count 1000
	lldpd_up l1
	by_lldp 40 "lldpd is back"
	amd_down
	AMD_ARGS+=(--link l1:uplink=sw:down2 --link l0:none=sw:down1)
	amd_up
	wait_for 40 eval 'ctl topology | grep -q "sw:down2 - l1:uplink, configured"'
	ktap $? "a configured link" "$(ctl topology)"
	wait_for 40 eval 'ctl topology | grep -q "sw:down1 - l0:uplink, lldp"'
	ktap $? "one to an interface that is not there is left out" \
		"$(ctl topology)"
	am_job "a configured link: a job" 4 --check --count 1000
	AMD_ARGS=("${AMD_ARGS[@]:0:2}")
	sw inc-amd --switch /x --link l1:uplink 2>&1 |
		grep -q "must be SWITCH:INTERFACE="
	ktap $? "--link with one end: an error"
	amd_down
	kill "${AGENT[l0]}"
	wait "${AGENT[l0]}"
	unset "AGENT[l0]"
	! at l0 lldpcli -u "$(lldpd_sock l0)" show interfaces details |
		grep -q "52,44,49"
	ktap $? "an agent that ends takes its announcement along"
	agent_up l0 --lldp "$(lldpd_sock l0)"
	amd_up
	by_lldp 40 "the next one announces it"
}

# A host that announces itself is known by its management addresses.
part_host()
{
	local sock=/run/lldpd-$TOPO-h0.sock

	lldpd_up l0 || return
	forget
	wait_for 10 no_host
	rm -f "$sock"
	ip netns exec "$TOPO-h0" lldpd -d -u "$sock" -I eth0 \
		>"$LAB_OUT/lldpd-h0.log" 2>&1 &
	LLDPD[h0]=$!
	wait_for 10 test -S "$sock"
	wait_for 10 host 0 lldpcli -u "$sock" configure lldp custom-tlv \
		oui 52,44,49 subtype 2
	wait_for 40 eval "ctl topology | grep -q 'host $(topo_ip4 0) at l0:v0'"
	ktap $? "a host that announces itself by LLDP" "$(ctl topology)"
	! ctl topology | grep -q "host $(topo_ip4 1) "
	ktap $? "one that does not is unknown" "$(ctl topology)"
	lldpds_down
}

part_silent()
{
	local out ms

	lldpds_down
	wait_for 30 links fdb
	forget
	wait_for 10 no_host
	ktap $? "no host is known" "$(ctl topology)"
	wait_for 15 links fdb
	ktap $? "switches make themselves known again" "$(ctl topology)"
	out=$(join 0 1 2 3)
	grep -q "rank 1 at l0" <<<"$out" && grep -q "rank 2 at l1" <<<"$out"
	ktap $? "silent hosts are found, at their leaves" "$out"
	ms=$(sed -n 's/rank 3 .* after \([0-9]*\) ms/\1/p' <<<"$out")
	echo "# 4 silent hosts: joined after $ms ms"
	within "${ms:-9999}" 10000
	ktap $? "silent hosts are found" "$out"
	event "host-seen $(topo_ip4 3): at l1 v3"
	ktap $? "an event" "$(tail -n 5 "$LAB_OUT/amd.log")"
	out=$(join 0 99)
	grep -q "refused .* rank 1 at .*does not answer any" <<<"$out"
	ktap $? "a host that is not there: refused" "$out"
	out=$(at l0 python3 "$ROOT/selftests/fabric/mute.py" \
		"$(sock_of l0)" probe 127.0.0.1)
	grep -q "no host has the address" <<<"$out"
	ktap $? "the agent asks for no address of its own" "$out"
}

# The cable of host 3 is pulled out of one leaf, and put into the other one.
part_moved()
{
	local start now

	host 3 ping -qc 1 "$(topo_ip4 sw)" >/dev/null
	event "host-seen $(topo_ip4 3): at l1 v3" ||
		echo "# $(tail -n 5 "$LAB_OUT/amd.log")"
	ip -n "$TOPO-l1" link set v3 netns "$TOPO-l0"
	ip -n "$TOPO-l0" link set v3 master br0 up
	now_ms start
	host 3 ping -qc 1 "$(topo_ip4 sw)" >/dev/null
	event "host-moved $(topo_ip4 3): from l1 v3 to l0 v3"
	ktap $? "a host that moves: an event" "$(tail -n 5 "$LAB_OUT/amd.log")"
	now_ms now
	echo "# moved: event after $((now - start)) ms"
	within $((now - start)) 10000
	ktap $? "a host that moves: noticed" "$((now - start)) ms"
	am_job "a host that moved: a job" 4 --check --count 1000
	gone "moved"
	ip -n "$TOPO-l0" link set v3 netns "$TOPO-l1"
	ip -n "$TOPO-l1" link set v3 master br0 up
	host 3 ping -qc 3 "$(topo_ip4 sw)" >/dev/null
	event "host-moved $(topo_ip4 3): from l0 v3 to l1 v3" 20
	ktap $? "and back" "$(tail -n 5 "$LAB_OUT/amd.log")"
}

# How often host 0 has heard that l0 is there.
beacons()
{
	host 0 tc -s filter show dev eth0 ingress |
		sed -n 's/.*Sent [0-9]* bytes \([0-9]*\) pkt.*/\1/p'
}

# Whatever happens to a switch, others hear of it once a second at most.
part_beacon()
{
	local i before after start now

	host 0 tc qdisc add dev eth0 clsact
	host 0 tc filter add dev eth0 ingress protocol ip flower \
		ip_proto udp dst_port 9 src_ip "$(switch_ip4 l0)" action pass
	before=$(beacons)
	now_ms start
	for ((i = 0; i < 50; i++)); do
		ip -n "$TOPO-l0" link set v1 down
		ip -n "$TOPO-l0" link set v1 up
		sleep 0.1
	done
	after=$(beacons)
	now_ms now
	[ $((after - before)) -ge 2 ] &&
		[ $((after - before)) -le $(((now - start) / 1000 + 2)) ]
	ktap $? "a port that flaps: switches are told, once a second at most" \
		"$((after - before)) times in $((now - start)) ms"
	host 0 tc qdisc del dev eth0 clsact
}

# A bridge without an address of its own has the least of its ports. So one leaf has
# that of the port that moves; then it is the other one's again, but not that one's
# bridge's. Here they have their own, so this does what the kernel would.
part_mac()
{
	local own

	own=$(at l0 cat /sys/class/net/br0/address)
	host 3 ping -qc 1 "$(topo_ip4 sw)" >/dev/null
	event "host-seen $(topo_ip4 3): at l1 v3"
	wait_for 10 links fdb
	ktap $? "the links are known" "$(ctl topology)"
	ip -n "$TOPO-l1" link set uplink address 02:00:00:00:00:01
	ip -n "$TOPO-l1" link set v3 address 02:00:00:00:00:02
	ip -n "$TOPO-l1" link set v3 netns "$TOPO-l0"
	ip -n "$TOPO-l0" link set v3 master br0 up
	ip -n "$TOPO-l0" link set br0 address 02:00:00:00:00:02
	ktap $? "a port that moves: the other bridge has its MAC address"
	host 3 ping -qc 1 "$(topo_ip4 sw)" >/dev/null
	event "host-moved $(topo_ip4 3): .* to l0 v3"
	ktap $? "it is seen there" "$(tail -n 5 "$LAB_OUT/amd.log")"
	ip -n "$TOPO-l0" link set v3 netns "$TOPO-l1"
	ip -n "$TOPO-l0" link set br0 address "$own"
	ip -n "$TOPO-l1" link set v3 master br0 up
	host 3 ping -qc 3 "$(topo_ip4 sw)" >/dev/null
	event "host-moved $(topo_ip4 3): .* to l1 v3"
	ktap $? "and back, where another bridge had its MAC address" \
		"$(ctl topology; tail -n 5 "$LAB_OUT/amd.log")"
	wait_for 10 links fdb
	ktap $? "the links are what they were" "$(ctl topology)"
}

# invent HOST N: one frame to everybody from each of N addresses.
invent()
{
	host "$1" python3 - "$2" <<-END
	import socket, sys
	s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
	s.bind(("eth0", 0))
	for i in range(int(sys.argv[1])):
	    s.send(b"\\xff" * 6 + b"\\x02\\x77" + i.to_bytes(4, "big") +
	           b"\\x88\\xb5" + bytes(46))
	END
}

learnt()
{
	[ "$(bridge -n "$TOPO-$1" fdb show br br0 | wc -l)" -ge "$2" ]
}

no_switch_down()
{
	! grep -q "switch-down" "$LAB_OUT/amd.log"
}

# readings SWITCH: how often its agent has read interfaces.
readings()
{
	grep -c "interfaces were read" "$LAB_OUT/agentd-$1.log"
}

# has_read SWITCH N: more often than N times.
has_read()
{
	[ "$(readings "$1")" -gt "$2" ]
}

# quiet SWITCH: nothing has changed there lately.
quiet()
{
	local before

	before=$(readings "$1")
	sleep 3
	[ "$(readings "$1")" = "$before" ]
}

# A host that floods the switches with addresses keeps no agent busy: asked twice a
# second, an agent reads them every seven seconds if nothing changes. Where others have
# the CPU reading takes as long as 15 questions.
part_macs()
{
	local AMD_ARGS=("${AMD_ARGS[@]}" --agent-interval 500 --agent-misses 40) name
	declare -A before times

	amd_down
	agents_down
	for name in "${SWITCHES[@]}"; do
		agent_up "$name" -v || return
	done
	amd_up && wait_for 10 ctl_up
	invent 3 20000
	wait_for 10 learnt sw 20000
	ktap $? "20,000 invented addresses: the switches know them"
	# Who is told of 20,000 changes reads more often meanwhile.
	for name in "${SWITCHES[@]}"; do
		wait_for 60 quiet "$name"
		ktap $? "many addresses: nothing changes at $name any more" \
			"$(tail -n 5 "$LAB_OUT/agentd-$name.log")"
	done
	for name in "${SWITCHES[@]}"; do
		before[$name]=$(readings "$name")
	done
	sleep 15
	for name in "${SWITCHES[@]}"; do
		times[$name]=$(($(readings "$name") - before[$name]))
	done
	for name in "${SWITCHES[@]}"; do
		# The longer it takes, the later they are read again.
		wait_for 60 has_read "$name" "${before[$name]}" &&
			((times[$name] <= 5))
		ktap $? "many addresses: $name reads them now and then" \
			"${times[$name]} times in 15 s"
	done
	no_switch_down && ctl_up
	ktap $? "many addresses: all switches are up" "$(ctl topology)"
	am_job "many addresses: a job" 4 --check --count 1000
	forget
}

# bond SWITCH NAME INTERFACE...: a port of the bridge.
bond()
{
	local ns=$TOPO-$1 name=$2 itf

	ip -n "$ns" link add "$name" type bond mode active-backup miimon 100 ||
		return
	for itf in "${@:3}"; do
		ip -n "$ns" link set "$itf" down
		ip -n "$ns" link set "$itf" nomaster
		ip -n "$ns" link set "$itf" master "$name" || return
		ip -n "$ns" link set "$itf" up
	done
	ip -n "$ns" link set "$name" master br0 up
}

# A bridge of nobody's connects the three switches, and hosts 0 and 1.
part_segment()
{
	local ns=$TOPO-sw port

	amd_down
	ip netns add "$TOPO-seg"
	ip -n "$TOPO-seg" link add br0 type bridge
	ip -n "$TOPO-seg" link set br0 up
	for port in "sw down1" "sw down2" "l0 v0" "l0 v1"; do
		# shellcheck disable=SC2086	# words
		set -- $port
		ip -n "$TOPO-$1" link set "$2" netns "$TOPO-seg"
		ip -n "$TOPO-seg" link set "$2" master br0 up
	done
	ip -n "$ns" link add toseg type veth peer name tosw netns "$TOPO-seg"
	ip -n "$ns" link set toseg master br0 up
	ip -n "$TOPO-seg" link set tosw master br0 up
	forget
	amd_up
	wait_for 10 ctl_up
	am_job "hosts on a segment between switches: a job" 4 --check \
		--count 1000
	for port in "sw down1" "sw down2" "l0 v0" "l0 v1"; do
		# shellcheck disable=SC2086	# words
		set -- $port
		ip -n "$TOPO-seg" link set "$2" netns "$TOPO-$1"
		ip -n "$TOPO-$1" link set "$2" master br0 up
	done
	ip -n "$ns" link del toseg
	ip netns del "$TOPO-seg"
	forget
}

bond_links()
{
	ctl topology | grep -q "^link sw:bond0 - l0:bond0, fdb"
}

# A leaf's uplink is two cables that are bonded; one is cut, then the other one.
part_bond()
{
	amd_down
	insmod "$ROOT/build/bonding/bonding.ko"
	ip -n "$TOPO-sw" link add cable type veth \
		peer name cable netns "$TOPO-l0"
	bond sw bond0 down1 cable && bond l0 bond0 uplink cable
	ktap $? "bonds at both ends"
	forget
	amd_up
	wait_for 20 bond_links
	ktap $? "bonds: a link between them" "$(ctl topology)"
	host 1 ping -qc 1 "$(topo_ip4 sw)" >/dev/null
	event "host-seen $(topo_ip4 1): at l0 v1"
	ktap $? "bonds: a host beside one" "$(ctl topology)"
	long_job 4
	all_present
	ktap $? "bonds: a job" "$(ctl group show)"
	ip -n "$TOPO-l0" link set uplink down
	event "link-down l0: interface uplink"
	ktap $? "bonds: a member is cut" "$(tail -n 5 "$LAB_OUT/amd.log")"
	sleep 3
	all_present
	ktap $? "bonds: the job goes on" "$(tail -n 5 "$LAB_OUT/amd.log")"
	ip -n "$TOPO-l0" link set cable down
	others_fail "bonds: the other one, too" -1 . 3000
	gone bond
	ip -n "$TOPO-sw" link del cable
	ip -n "$TOPO-sw" link del bond0
	ip -n "$TOPO-l0" link del bond0
	ip -n "$TOPO-sw" link set down1 master br0 up
	ip -n "$TOPO-l0" link set uplink master br0 up
	forget
}

# vlan_switch SWITCH: only VLAN 10, tagged between switches; its address is there.
vlan_switch()
{
	local ns=$TOPO-$1 port tag

	ip -n "$ns" link set br0 type bridge vlan_filtering 1 || return
	ip -n "$ns" addr flush dev br0
	for port in $(ip -n "$ns" -j link show master br0 |
		      python3 -c 'import json, sys
print(*(l["ifname"] for l in json.load(sys.stdin)))'); do
		tag="pvid untagged"
		[[ $port == v* ]] || tag=
		# shellcheck disable=SC2086	# words
		bridge -n "$ns" vlan add dev "$port" vid 10 $tag || return
		bridge -n "$ns" vlan del dev "$port" vid 1 || return
	done
	bridge -n "$ns" vlan add dev br0 vid 10 self || return
	bridge -n "$ns" vlan del dev br0 vid 1 self || return
	ip -n "$ns" -batch - <<-END
	link add link br0 name br0.10 type vlan id 10
	addr add $(switch_ip4 "$1")/16 dev br0.10
	link set br0.10 up
	END
}

# Bridges that tell VLANs apart, and stay so.
part_vlan()
{
	local name out

	amd_down
	for name in "${SWITCHES[@]}"; do
		vlan_switch "$name"
		ktap $? "$name: a VLAN, with the address"
	done
	forget
	amd_up
	wait_for 15 links fdb
	ktap $? "VLANs: links by the forwarding database" "$(ctl topology)"
	out=$(join 0 1 2 3)
	grep -q "rank 1 at l0" <<<"$out" && grep -q "rank 2 at l1" <<<"$out"
	ktap $? "VLANs: silent hosts are found" "$out"
	event "host-seen $(topo_ip4 3): at l1 v3"
	ktap $? "VLANs: a host is at a port of the bridge" \
		"$(tail -n 5 "$LAB_OUT/amd.log")"
	am_job "VLANs: a job" 4 --check --count 1000
}

# One that has logged in over SSH, and does not say hello.
mute_ssh()
{
	local dir=$LAB_OUT/ssh name

	rm -rf "$dir"
	mkdir -p "$dir"
	for name in host user; do
		ssh-keygen -q -m PEM -t ecdsa -N '' -f "$dir/$name" ||
			ktap 1 "there is a key for SSH" || return
	done
	kill "${AGENT[l0]}"
	wait "${AGENT[l0]}"
	agent_up l0 --ssh "$(switch_ip4 l0):8300" --host-key "$dir/host" \
		--user "manager=$dir/user.pub" || return
	at l0 timeout "$(scaled 30)" ssh -p 8300 -i "$dir/user" \
		-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
		"manager@$(switch_ip4 l0)" -s netconf \
		< <(sleep "$(scaled 30)") >"$LAB_OUT/ssh.log" 2>&1
	ktap $(($? == 124)) "a client that says nothing after its login is disconnected" \
		"$(cat "$LAB_OUT/ssh.log")"
	grep -q "has not logged in in time" "$LAB_OUT/agentd-l0.log"
	ktap $? "the agent says so" "$(tail -n 3 "$LAB_OUT/agentd-l0.log")"
}

# Clients that connect and say nothing; agents that do the same.
part_mute()
{
	local out

	out=$(at l0 python3 "$ROOT/selftests/fabric/mute.py" "$(sock_of l0)")
	echo "# $out"
	grep -qE "^closed after ([0-9]|1[0-3])\." <<<"$out"
	ktap $? "a client that says nothing is disconnected" "$out"
	mute_ssh
	kill -STOP "${AGENT[l1]}"
	am_start 2 --check --count 1000
	job_wait
	ktap $? "a silent agent: others serve jobs" "$(job_why)"
	event "switch-down l1: the agent (is silent|does not answer)" 15
	ktap $? "a silent agent: an event" "$(tail -n 5 "$LAB_OUT/amd.log")"
	amd_down
	ktap $? "a silent agent: the manager ends in order" \
		"$(tail -n 5 "$LAB_OUT/amd.log")"
	amd_up
	am_job "a silent agent: a new manager serves jobs" 2 --check \
		--count 1000
	event "switch .*l1.*: .*the agent (is silent|does not answer)" 15
	ktap $? "a silent agent: a new manager says so" \
		"$(tail -n 5 "$LAB_OUT/amd.log")"
	kill -CONT "${AGENT[l1]}"
	wait_for 20 ctl_up
	ktap $? "it is up when it answers" "$(ctl topology)"
}

suite "lldp host silent moved beacon mac mute segment bond vlan macs" "$@"
