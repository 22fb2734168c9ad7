# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A second network for a topology: sw has the bridge br1, hosts have eth1 and a stock
# rxe on it.
#
#   rails_up          make it, after topo_up        rails_down   before topo_down
#   rails_shape QDISC...   at both ends of every link
#   rails_used NAME   the job's ranks have a tree on either network

rails_ip4()
{
	[ "$1" = sw ] && echo "10.$((TOPO_NET + 1)).0.1" ||
		echo "10.$((TOPO_NET + 1)).1.$((10 + $1))"
}

rails_up()
{
	local r

	{
		echo "link add br1 type bridge mcast_snooping 0"
		echo "addr add $(rails_ip4 sw)/16 dev br1"
		echo "link set br1 up"
		for ((r = 0; r < TOPO_N; r++)); do
			echo "link add w$r type veth peer name eth1 netns $TOPO-h$r"
			echo "link set w$r master br1 up"
		done
	} | ip -n "$TOPO-sw" -batch - || return 1
	for ((r = 0; r < TOPO_N; r++)); do
		ip -n "$TOPO-h$r" -batch - <<-END || return 1
		addr add $(rails_ip4 "$r")/16 dev eth1
		link set eth1 up
		END
		topo_rxe "h$r" "${TOPO}b$r" eth1 || return 1
	done
}

rails_down()
{
	local r

	for ((r = 0; r < TOPO_N; r++)); do
		host "$r" rdma link del "${TOPO}b$r" 2>/dev/null
		sw ip link del "w$r" 2>/dev/null
	done
	sw ip link del br1 2>/dev/null
	return 0
}

rails_used()
{
	grep -q "\"$1~rail-[0-9a-f]*\": ready" "$LAB_OUT/serve.log"
}

# rails_shape QDISC...: at both ends of every link.
rails_shape()
{
	local r dev

	topo_bursts off
	sw ip link set br1 gso_max_segs 1
	for ((r = 0; r < TOPO_N; r++)); do
		for dev in eth0 eth1; do
			host "$r" tc qdisc replace dev "$dev" root "$@" || return
		done
		for dev in "v$r" "w$r"; do
			sw tc qdisc replace dev "$dev" root "$@" || return
		done
	done
}
