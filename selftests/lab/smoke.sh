#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Check the basis of all other tests in the lab's kernel: two hosts (network
# namespaces) on one bridge, a stock rxe in each, a ping-pong between them.
# Run by: lab run selftests/lab/smoke.sh

set -eu

fail()
{
	echo "smoke: FAILED: $*"
	exit 1
}

add_host()
{
	local h=$1 ip=$2

	ip netns add "$h"
	ip link add "v$h" mtu 4500 type veth peer name eth0 netns "$h" mtu 4500
	ip link set "v$h" master br0 up
	ip -n "$h" link set lo up
	ip -n "$h" addr add "$ip/24" dev eth0
	ip -n "$h" link set eth0 up
	ip netns exec "$h" rdma link add "rxe_$h" type rxe netdev eth0
}

cleanup()
{
	local h

	for h in h1 h2; do
		ip netns exec "$h" rdma link del "rxe_$h" 2>/dev/null || :
		ip netns del "$h" 2>/dev/null || :
	done
	ip link del br0 2>/dev/null || :
}

# Moving a queue pair to RTR sometimes fails right after the link was added,
# while the address is being resolved: try again.
pingpong()
{
	local size=$1 n pid

	for n in 1 2 3 4 5; do
		ip netns exec h1 timeout 60 ibv_rc_pingpong -e -d rxe_h1 -g 1 \
			-s "$size" -n 500 >server.log 2>&1 &
		pid=$!
		sleep 0.3
		if ip netns exec h2 timeout 60 ibv_rc_pingpong -e -d rxe_h2 \
		   -g 1 -s "$size" -n 500 10.7.0.1 >client.log 2>&1; then
			wait "$pid" || fail \
				"the server of size $size: $(cat server.log)"
			grep iters client.log
			return 0
		fi
		kill "$pid" 2>/dev/null || :
		wait "$pid" || :
		grep -q 'RTR' server.log client.log || break
		echo "smoke: to RTR failed, try $n"
	done
	fail "ping-pong of size $size: $(cat server.log client.log)"
}

echo "smoke: kernel $(uname -r), $(nproc) CPUs, backend ${LAB_BACKEND:-none}"
cd "${LAB_OUT:-.}"
trap cleanup EXIT
ip link add br0 mtu 4500 type bridge
ip link set br0 up
add_host h1 10.7.0.1
add_host h2 10.7.0.2
sleep 0.5
ip netns exec h1 ping -c 1 -W 2 10.7.0.2 >/dev/null ||
	fail "no ping between the hosts"
for h in h1 h2; do
	ip netns exec "$h" ibv_devices | grep -q "rxe_$h" ||
		fail "no verbs device in $h"
done
pingpong 64
pingpong 65536
echo "smoke: passed"
