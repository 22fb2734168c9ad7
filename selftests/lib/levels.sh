# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Several levels of switches, as namespaces of one kernel: a root, leaves, hosts
# at the leaves, and switches in the middle. Replaces topo_up and serve_up of
# suite.sh, which is sourced first. A job's ranks join the daemons of their
# leaves.
#
#   levels_up LEAVES HOSTS [MIDS]    levels_down     serves_up, serves_down
#   at SWITCH CMD...

# Switches by name, the root is sw; the number and the parent of each.
SWITCHES=()
declare -A NUMBER PARENT SERVE
HOSTS_AT=()

at()
{
	local name=$1

	shift
	ip netns exec "$TOPO-$name" "$@"
}

switch_ip4()
{
	echo "10.$TOPO_NET.0.$((1 + NUMBER[$1]))"
}

# switch_up NAME [PARENT]: a bridge, with an address that is no port's, which may be
# moved; up$NUMBER of the parent leads to it, and its own port leads up to the parent.
switch_up()
{
	local name=$1 parent=${2:-} n=${#SWITCHES[@]}

	SWITCHES+=("$name")
	NUMBER[$name]=$n
	PARENT[$name]=$parent
	ip netns add "$TOPO-$name" || return 1
	ip -n "$TOPO-$name" -batch - <<-END || return 1
	link set lo up
	link add br0 address $(printf '02:00:0a:%02x:00:%02x' "$TOPO_NET" "$n") \
		type bridge mcast_snooping 0
	addr add $(switch_ip4 "$name")/16 dev br0
	link set br0 up
	END
	[ -n "$parent" ] || return 0
	ip -n "$TOPO-$parent" -batch - <<-END || return 1
	link add down$n type veth peer name uplink netns $TOPO-$name
	link set down$n master br0 up
	END
	ip -n "$TOPO-$name" link set uplink master br0 up
}

# host_up RANK SWITCH
host_up()
{
	local r=$1 name=$2

	ip netns add "$TOPO-h$r" || return 1
	ip -n "$TOPO-$name" -batch - <<-END || return 1
	link add v$r type veth peer name eth0 netns $TOPO-h$r
	link set v$r master br0 up
	END
	HOSTS_AT[r]=$name
	JOB_SERVER[r]=$(switch_ip4 "$name")
	TOPO_N=$((r + 1))
	topo_host "$r"
}

# levels_up LEAVES HOSTS [MIDS]: HOSTS per leaf, or a list with commas.
levels_up()
{
	local leaves=$1 hosts=$2 mids=${3:-0} i r=0 n parent k

	SWITCHES=()
	# shellcheck disable=SC2034	# the tests'
	HOSTS_AT=()
	switch_up sw || return 1
	for ((i = 0; i < mids; i++)); do
		switch_up "m$i" sw || return 1
	done
	for ((i = 0; i < leaves; i++)); do
		parent=sw
		[ "$mids" = 0 ] || parent=m$((i * mids / leaves))
		switch_up "l$i" "$parent" || return 1
		n=$(echo "$hosts," | cut -d, -f$((i + 1)))
		[ -n "$n" ] || n=${hosts%%,*}
		for ((k = 0; k < n; k++, r++)); do
			host_up "$r" "l$i" || return 1
		done
	done
}

levels_down()
{
	local name r

	serves_down
	for ((r = 0; r < TOPO_N; r++)); do
		host "$r" rdma link del "$TOPO$r" 2>/dev/null
		ip netns del "$TOPO-h$r" 2>/dev/null
	done
	for name in "${SWITCHES[@]}"; do
		ip netns del "$TOPO-$name" 2>/dev/null
	done
	SWITCHES=() TOPO_N=0
	# shellcheck disable=SC2034	# job.sh's
	JOB_SERVER=()
	return 0
}

# serves_up ARGS...: start the daemon of each switch.
serves_up()
{
	local name parent log

	for name in "${SWITCHES[@]}"; do
		parent=${PARENT[$name]}
		log=$LAB_OUT/serve-$name.log
		# Not the last one's.
		: >"$log"
		ip netns exec "$TOPO-$name" inc-tool serve -v \
			--dead-time "$(scaled 350)" \
			${parent:+--parent "$(switch_ip4 "$parent")"} \
			"$@" >"$log" 2>&1 &
		SERVE[$name]=$!
		wait_for 20 grep -q listening "$log" ||
			ktap 1 "inc-tool serve of $name comes up" \
				"$(cat "$log")" || return
	done
}

serves_down()
{
	local name

	for name in "${!SERVE[@]}"; do
		kill "${SERVE[$name]}" 2>/dev/null
		wait "${SERVE[$name]}" 2>/dev/null
	done
	SERVE=()
}
