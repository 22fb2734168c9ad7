#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two tenants in two VLANs of one bridge, with the same addresses, each in a VRF.
#
#   vlan.sh [VAR=VALUE]... [PART...]
#	PART: both forged changed none

# shellcheck disable=SC2319 # "$?" of a condition is what ktap wants
# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
# shellcheck source=selftests/lib/fabric.sh
. "$ROOT/selftests/lib/fabric.sh"

DIR=$(mktemp -d)
CA=$DIR/ca
LIMITS=$DIR/tenants.conf
SWITCH4=10.77.0.254
SWITCH6=fd00:77::254

ca()
{
	"$ROOT/userspace/manager/ca/inc-am-ca" -d "$CA" "$@"
}

# tenant_net VLAN VRF HOST...: the tenant's hosts are 10.77.0.1, 10.77.0.2 ...
tenant_net()
{
	local vlan=$1 vrf=$2 h n=0

	shift 2
	ip -n "$TOPO-sw" -batch - <<-END || return
	link add $vrf type vrf table $vlan
	link set $vrf up
	link add link br0 name br0.$vlan type vlan id $vlan
	link set br0.$vlan master $vrf
	addr add $SWITCH4/24 dev br0.$vlan
	addr add $SWITCH6/64 dev br0.$vlan nodad
	link set br0.$vlan up
	END
	sw bridge vlan add vid "$vlan" dev br0 self || return
	for h in "$@"; do
		n=$((n + 1))
		sw bridge vlan del vid 1 dev "v$h" &&
			sw bridge vlan add vid "$vlan" pvid untagged dev "v$h" || return
		ip -n "$TOPO-h$h" -batch - <<-END || return
		addr flush dev eth0
		addr add 10.77.0.$n/24 dev eth0
		addr add fd00:77::$n/64 dev eth0 nodad
		END
	done
}

suite_up()
{
	topo_up 4 && sw ip link set br0 type bridge vlan_filtering 1 &&
		tenant_net 10 red 0 1 && tenant_net 20 blue 2 3 &&
		sw sysctl -qw net.ipv4.tcp_l3mdev_accept=1 || return
	ca init && ca manager amd "$SWITCH4" 127.0.0.1 && ca operator olga &&
		ca client ruth red && ca client bob blue && ca client gina green || return
	printf '%s\n' "tenant = red" "vlan = 10" "tenant = blue" "vlan = 20" \
		"tenant = green" "vlan = 30" >"$LIMITS"
	agent_up sw
	ip netns exec "$TOPO-sw" inc-amd -v --listen 0.0.0.0:18790 \
		--switch "$(sock_of sw)" --store none --tenants "$LIMITS" \
		--tls-cert "$CA/amd/cert.pem" --tls-key "$CA/amd/key.pem" \
		--tls-ca "$CA/ca.pem" >"$LAB_OUT/amd.log" 2>&1 &
	AMD=$!
	wait_for 20 grep -q listening "$LAB_OUT/amd.log"
}

suite_down()
{
	amd_down
	agents_down
	rm -rf "$DIR"
}

topo_ip4()
{
	echo "$SWITCH4"
}

ctl()
{
	INC_AM_CERTS=$CA/olga sw inc-amctl -m 127.0.0.1 "$@"
}

# job USER HOST HOST ARGS...: start a job of two.
job()
{
	local user=$1

	JOB_HOSTS=("$2" "$3")
	shift 3
	INC_AM_CERTS=$CA/$user am_start 2 --check "$@"
}

# Ends of members' queue pairs whose interface is another one than the VLAN's.
strays()
{
	local index

	index=$(sw cat "/sys/class/net/br0.$1/ifindex")
	sw inc-tool -j member show tree "$2" |
		jq --argjson i "$index" 'map(select(.ifindex != $i)) | length'
}

dropped()
{
	sw inc-tool -j -s switch show | jq '.stats["rx-ingress"]'
}

tree_of_job()
{
	ctl group show "$1" | sed -n 's/^  switch .*, tree \([0-9]*\).*/\1/p'
}

both_run()
{
	local name

	for name in "$@"; do
		ctl group show "$name" 2>/dev/null | grep -q "ready, 2 of 2" ||
			return
	done
}

part_both()
{
	local red blue log=() pids=()

	job ruth 0 1 allreduce --count 1024 -i 300 --pause 10000
	red=$JOB_NAME log[0]=$JOB_LOG pids=("${JOB_PIDS[@]}")
	job bob 2 3 allreduce --count 1024 -i 300 --pause 10000
	blue=$JOB_NAME log[1]=$JOB_LOG
	wait_for 20 both_run "$red" "$blue"
	ktap $? "both tenants' groups run" "$(ctl group show)"
	[ "$(strays 10 "$(tree_of_job "$red")")" = 0 ] &&
		[ "$(strays 20 "$(tree_of_job "$blue")")" = 0 ]
	ktap $? "each tree's members are in its VLAN" \
		"$(sw inc-tool member show; sw ip link)"
	JOB_PIDS+=("${pids[@]}")
	job_wait
	ktap $? "right sums with the same addresses" "$(tail -n 3 "${log[@]/%/.0}")"
	[ "$(dropped)" = 0 ]
	ktap $? "no packet of theirs is dropped" "$(sw inc-tool -s switch show)"
	gone both
}

# What a host in the other VLAN, with the same address, sends to a member.
forge()
{
	local qpn

	qpn=$(sw inc-tool -j member show tree "$1" rank 0 | jq '.[0].qpn')
	host 2 python3 - "$qpn" "$SWITCH4" <<-'END'
	import socket, struct, sys
	s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
	for psn in range(20):
	    bth = struct.pack("!BBHII", 0x0a, 0x40, 0xffff, int(sys.argv[1]), psn)
	    s.sendto(bth + bytes(64), (sys.argv[2], 4791))
	END
}

part_forged()
{
	local before

	job ruth 0 1 allreduce --count 1024 -i 1000000 --pause 10000
	wait_for 20 both_run "$JOB_NAME"
	ktap $? "a group runs" "$(cat "$JOB_LOG.0")"
	before=$(dropped)
	forge "$(tree_of_job "$JOB_NAME")"
	wait_for 5 eval '[ $(dropped) -ge $((before + 20)) ]'
	ktap $? "what comes from the other VLAN is dropped, and counted" \
		"$before, $(dropped)"
	both_run "$JOB_NAME" && kill -0 "${JOB_PIDS[0]}"
	ktap $? "and harms nobody" "$(cat "$JOB_LOG.0")"
	ctl group del "$JOB_NAME"
	job_wait
	gone forged
}

# moved: the last job has moved, and has a tree.
moved()
{
	grep -q "group-moved $JOB_NAME" "$LAB_OUT/amd.log"
}

# tenants.conf has another VLAN for those who begin later.
part_changed()
{
	job ruth 0 1 allreduce --count 1024 -i 300 --pause 10000
	wait_for 20 both_run "$JOB_NAME"
	sed -i 's/vlan = 10/vlan = 20/' "$LIMITS"
	kill -HUP "$AMD"
	wait_for 5 eval 'ctl quota red | grep -q "vlan 20"'
	ctl group move "$JOB_NAME" >/dev/null
	wait_for 20 moved
	ktap $? "a group moves after its tenant got another VLAN" \
		"$(tail -n 5 "$LAB_OUT/amd.log")"
	[ "$(strays 10 "$(tree_of_job "$JOB_NAME")")" = 0 ]
	ktap $? "it stays in the one that its hosts are in" \
		"$(sw inc-tool member show; sw ip link)"
	job_wait
	ktap $? "and has right sums" "$(tail -n 3 "$JOB_LOG.0")"
	sed -i '0,/vlan = 20/s//vlan = 10/' "$LIMITS"
	kill -HUP "$AMD"
	gone changed
}

part_none()
{
	job gina 0 1 --count 10
	job_wait
	[ $? != 0 ] && grep -q "in the tenant's VLAN" "$JOB_LOG.0"
	ktap $? "a VLAN that no switch has" "$(cat "$JOB_LOG.0")"
}

suite "both forged changed none" "$@"
