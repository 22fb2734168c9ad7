# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Two network namespaces, rxea and rxeb, 10.1.0.1 and 10.1.0.2, joined by a veth,
# with an rxe each.

# links_up [KO]: with the kernel's rdma_rxe, or that of the file KO
links_up()
{
	local k n=1

	[ ! -d /sys/module/rdma_rxe ] || rmmod rdma_rxe || return
	modprobe -a ib_uverbs ip6_udp_tunnel udp_tunnel || return
	if [ -n "${1:-}" ]; then
		insmod "$1" || return
	else
		modprobe rdma_rxe || return
	fi
	for k in a b; do
		ip netns add rxe$k && ip -n rxe$k link set lo up || return
	done
	ip link add eth0 netns rxea type veth peer name eth0 netns rxeb || return
	for k in a b; do
		ip -n rxe$k addr add 10.1.0.$n/24 dev eth0 &&
			ip -n rxe$k link set eth0 mtu 1500 up || return
		n=$((n + 1))
	done
	ip netns exec rxea ping -qc 1 -W 5 10.1.0.2 >/dev/null || return
	ip netns exec rxea rdma link add rxea type rxe netdev eth0
}

# links_second: an rxe for the other namespace, too
links_second()
{
	ip netns exec rxeb rdma link add rxeb type rxe netdev eth0
}

links_down()
{
	local k

	for k in a b; do
		ip netns exec rxe$k rdma link del rxe$k 2>/dev/null
		ip netns del rxe$k 2>/dev/null
	done
}

# links_gid a|b: index of the RoCEv2 GID of its IPv4 address
links_gid()
{
	local d=/sys/class/infiniband/rxe$1/ports/1 i

	for i in {0..7}; do
		if ip netns exec "rxe$1" grep -q ffff:0a01 "$d/gids/$i" &&
			ip netns exec "rxe$1" grep -q v2 \
				"$d/gid_attrs/types/$i"; then
			echo "$i"
			return
		fi
	done 2>/dev/null
	echo 1
}
