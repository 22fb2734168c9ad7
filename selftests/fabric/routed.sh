#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Leaves with bridges, and links to two spines that are routed, as in the fabric's
# demo: no leaf has a route to another one.
#
#   routed.sh [VAR=VALUE]... [PART...]
#	PART: links leaves drained flap unseen

# shellcheck disable=SC2319 # "$?" of a condition is what ktap wants
# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
# shellcheck source=selftests/lib/fabric.sh
. "$ROOT/selftests/lib/fabric.sh"

SWITCHES=(s0 s1 l0 l1)
# Ranks reach the manager by a network of its own.
AMD_ARGS=(--allow 10.48.0.0/16)

at()
{
	local name=$1

	shift
	ip netns exec "$TOPO-$name" "$@"
}

# routed_up LEAF SPINE: a link between them.
routed_up()
{
	local net=10.48.$((100 + 10 * $1 + $2))

	ip -n "$TOPO-l$1" -batch - <<-END || return
	link add up$2 type veth peer name leaf$1 netns $TOPO-s$2
	addr add $net.2/24 dev up$2
	link set up$2 up
	END
	ip -n "$TOPO-s$2" -batch - <<-END
	addr add $net.1/24 dev leaf$1
	link set leaf$1 up
	END
}

leaf_up()
{
	ip -n "$TOPO-l$1" -batch - <<-END || return
	link add br0 type bridge mcast_snooping 0
	addr add 10.48.$1.1/24 dev br0
	link set br0 up
	END
	routed_up "$1" 0 && routed_up "$1" 1
}

# host_up RANK: two are at each leaf.
host_up()
{
	local r=$1 l=$(($1 / 2))

	ip netns add "$TOPO-h$r" || return
	ip -n "$TOPO-l$l" -batch - <<-END || return
	link add v$r type veth peer name eth0 netns $TOPO-h$r
	link set v$r master br0 up
	END
	ip -n "$TOPO-sw" -batch - <<-END || return
	link add m$r type veth peer name mg0 netns $TOPO-h$r
	link set m$r master br0 up
	END
	ip -n "$TOPO-h$r" -batch - <<-END || return
	link set lo up
	addr add 10.48.$l.$((10 + r))/24 dev eth0
	link set eth0 up
	addr add 10.99.0.$((10 + r))/24 dev mg0
	link set mg0 up
	route add $(topo_ip4 sw) dev mg0
	END
	topo_rxe "h$r" "$TOPO$r" eth0
}

suite_up()
{
	local name r

	ip netns add "$TOPO-sw" && ip -n "$TOPO-sw" -batch - <<-END || return
	link set lo up
	link add br0 type bridge mcast_snooping 0
	addr add 10.99.0.1/24 dev br0
	addr add $(topo_ip4 sw)/32 dev br0
	link set br0 up
	END
	for name in "${SWITCHES[@]}"; do
		ip netns add "$TOPO-$name" &&
			ip -n "$TOPO-$name" link set lo up || return
	done
	leaf_up 0 && leaf_up 1 || return
	for ((r = 0; r < 4; r++)); do
		host_up "$r" || return
	done
	TOPO_N=4
	for name in "${SWITCHES[@]}"; do
		agent_up "$name" || return
	done
	for ((r = 0; r < 4; r++)); do
		host "$r" ping -qc 1 "10.48.$((r / 2)).1" >/dev/null
	done
	amd_up && wait_for 30 ctl_up && clock_up
}

suite_down()
{
	local r

	amd_down
	agents_down
	for ((r = 0; r < TOPO_N; r++)); do
		host "$r" rdma link del "$TOPO$r" 2>/dev/null
	done
	for r in sw "${SWITCHES[@]}" h0 h1 h2 h3; do
		ip netns del "$TOPO-$r" 2>/dev/null
	done
	TOPO_N=0
	return 0
}

# links N: the manager knows so many.
links()
{
	[ "$(ctl topology | grep -c ^link)" = "$1" ]
}

# Nobody has sent anything between spines and leaves: agents ask for each other.
part_links()
{
	wait_for 15 links 4
	ktap $? "all links are known" "$(ctl topology)"
}

# A routed link's neighbours are forgotten when it goes down.
part_flap()
{
	local s t

	for t in 1 6; do
		ip -n "$TOPO-l0" link set up0 down
		wait_for 10 links 3
		ktap $? "down: it is not known any more" "$(ctl topology)"
		sleep "$t"
		ip -n "$TOPO-l0" link set up0 up
		wait_for 10 links 4
		ktap $? "up after $t s: it is known again" "$(ctl topology)"
	done
	INC_AM_ON_FAILURE=rebuild am_start 4 --check --count 1000 -i 1500 \
		--pause 5000
	event "group-ready $JOB_NAME" 20
	s=$(root)
	ip -n "$TOPO-l0" link set "up${s#s}" down
	event "group-failed $JOB_NAME: a link failed: (l0:up|s.:leaf0)" 10 &&
		event "group-rebuilt $JOB_NAME" 20
	ktap $? "a group needs it, and moves" "$(tail -n 5 "$LAB_OUT/amd.log")"
	ip -n "$TOPO-l0" link set "up${s#s}" up
	job_wait
	ktap $? "no rank sees an error" "$(job_why)"
	wait_for 10 links 4
	! grep -q group-unwatched "$LAB_OUT/amd.log"
	ktap $? "nothing is unwatched" "$(grep unwatched "$LAB_OUT/amd.log")"
}

# Links without ARP, where both ends have one MAC address: nobody sees anybody.
part_unseen()
{
	local s

	for s in 0 1; do
		ip -n "$TOPO-l1" link set "up$s" address "02:00:0a:00:00:0$s" \
			arp off
		ip -n "$TOPO-l1" neigh flush dev "up$s"
		ip -n "$TOPO-s$s" link set leaf1 address "02:00:0a:00:00:0$s" \
			arp off
		ip -n "$TOPO-s$s" neigh flush dev leaf1
	done
	wait_for 10 links 2
	ktap $? "links are forgotten" "$(ctl topology)"
	long_job 4
	event "group-unwatched $JOB_NAME: no link is known between (l1 and s0|s0 and l1)" 5
	ktap $? "a group crosses one: a warning" "$(tail -n 5 "$LAB_OUT/amd.log")"
	ctl why "$JOB_NAME" | grep -q "counts as 250 links"
	ktap $? "why: what 252 links are" "$(ctl why "$JOB_NAME")"
	ctl group del "$JOB_NAME"
	others_fail "deleted" -1 operator
	wait_for 10 no_group
}

# A leaf could be the root, with the other one below, if there were routes.
part_leaves()
{
	am_job "two leaves without routes" 4 --check --count 1000
	grep -q 'tried elsewhere: switch l[01] has no route to 10.48.1.* of switch l' \
		"$LAB_OUT/amd.log"
	ktap $? "a leaf was asked" "$(tail -n 5 "$LAB_OUT/amd.log")"
	long_job 4
	[[ $(root) == s[01] ]]
	ktap $? "the root is a spine" "$(ctl group)"
	ctl why "$JOB_NAME" | grep -q "l0: .*no route to one of its members"
	ktap $? "why: it says so" "$(ctl why "$JOB_NAME")"
	ctl group del "$JOB_NAME"
	others_fail "deleted" -1 operator
	wait_for 10 no_group
	ctl switch drain s0 >/dev/null
	ctl switch drain s1 >/dev/null
	am_start 4
	job_wait
	ktap $(($? == 0)) "spines are drained: an error"
	grep -qh "no switch can serve it: switch l[01] has no route to 10.48.*: a switch needs routes to its members and its parent" \
		"$JOB_LOG".*
	ktap $? "it says which route, and what to do" "$(cat "$JOB_LOG".*)"
	grep -qE "group-refused $JOB_NAME: no switch can serve it: .* no route" \
		"$LAB_OUT/amd.log"
	ktap $? "an event, too"
	ctl switch resume s0 >/dev/null
	ctl switch resume s1 >/dev/null
}

# drained N: there were so many events of drained switches.
drained()
{
	[ "$(grep -c switch-drained "$LAB_OUT/amd.log")" = "$1" ]
}

# A group leaves a drained spine, and stays if there is no other place.
part_drained()
{
	local first before

	am_start 4 --check --count 1000 -i 1500 --pause 5000
	event "group-ready $JOB_NAME" 20
	first=$(root)
	before=$(grep -c switch-drained "$LAB_OUT/amd.log")
	ctl switch drain "$first" >/dev/null
	event "group-moved $JOB_NAME" 20
	ktap $? "drained: it moves" "$(tail -n 5 "$LAB_OUT/amd.log")"
	[[ $(root) == s[01] && $(root) != "$first" ]]
	ktap $? "to the other spine" "$(ctl group)"
	wait_for 10 drained $((before + 1))
	ktap $? "and the first one is empty" "$(ctl switch)"
	ctl switch drain "$(root)" >/dev/null
	event "group-stays $JOB_NAME: .*no route" 20
	ktap $? "drained, too: it stays" "$(tail -n 5 "$LAB_OUT/amd.log")"
	[[ $(root) == s[01] && $(root) != "$first" ]]
	ktap $? "where it was" "$(ctl group)"
	ctl switch drain "$(root)" |
		grep -q "stays: .*no route"
	ktap $? "it says why it stays" "$(ctl switch drain "$(root)")"
	drained $((before + 1))
	ktap $? "that spine is not empty"
	job_wait
	ktap $? "no rank sees an error" "$(job_why)"
	ctl switch resume s0 >/dev/null
	ctl switch resume s1 >/dev/null
	wait_for 10 no_group
}

suite "links leaves drained flap unseen" "$@"
