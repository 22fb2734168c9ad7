#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# RDMA CM: ranks on stock rxe hosts connect by rdma_connect() to members that
# wait for them, and inc-agentd accepts with the module's QPNs: AllReduce over RC
# and UC, wrong keys, wrong private data, wrong types, leaving, kill -9, a restart
# of the agent, many strangers. The agent is built with AddressSanitizer.
#
# cm.sh [PART...]: only some of ranks, wrong, types, leave, killed, restart, uc,
# flood, options. Needs LAB_WITH=fabric.

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"

DIR=$(mktemp -d)
# shellcheck source=selftests/lib/agent.sh
. "$ROOT/selftests/lib/agent.sh"
PORT=18792
AGENT_ARGS=(--cm "[::]:$PORT")

suite_up()
{
	gcc -O2 -Wall -Wextra -I"$ROOT/kernel/include/uapi" \
		-I"$ROOT/userspace" -o "$DIR/cm_rank" \
		"$ROOT/selftests/fabric/cm_rank.c" -lrdmacm -libverbs &&
		topo_up 4 && topo_sw_rxe && agent_up
}

suite_down()
{
	agent_away
	rm -rf "$DIR"
}

# Of members, and of ranks' QPs.
TYPE=rc
# Option of cm_rank for RC where UC has to connect.
AS=

# tree ID RANKS: a tree, and a member that waits for each of its ranks.
tree()
{
	local r size=16384

	# A message over UC is one packet.
	[ "$TYPE" = rc ] || size=1024
	sw inc-tool tree add id "$1" ranks "$2" slots 8 msg-size $size \
		dead-time 400 >/dev/null
	for ((r = 0; r < $2; r++)); do
		sw inc-tool member add tree "$1" rank "$r" \
			transport "$TYPE" >/dev/null
	done
}

tree_gone()
{
	sw inc-tool tree del "$1"
}

# key TREE RANK: QPN and R_Key of a member.
key()
{
	sw inc-tool -j member show tree "$1" rank "$2" |
		jq -r '.[0] | "\(.qpn) \(.rkey)"'
}

# attr OBJECT KEY ARGS...: an attribute of a tree or member.
attr()
{
	local key=$2

	sw inc-tool -j "$1" show "${@:3}" 2>/dev/null |
		jq -r --arg key "$key" '.[0][$key]'
}

is()
{
	[ "$(attr "$1" "$2" "${@:4}")" = "$3" ]
}

# rank HOST TREE RANK QPN RKEY COUNT ROUNDS [HOW]
rank()
{
	local as=$AS

	[ "$TYPE" = rc ] || as=-u
	host "$1" timeout -s KILL "$(scaled 30)" "$DIR/cm_rank" ${as:+"$as"} \
		"${ADDR:-$(topo_ip4 sw)}" "$PORT" "${@:2}"
}

# start TREE RANK COUNT ROUNDS [HOW]: in the background, on host RANK.
start()
{
	# What the last one printed does not count.
	: >"$DIR/out.$2"
	# shellcheck disable=SC2046	# words
	rank "$2" "$1" "$2" $(key "$1" "$2") "${@:3}" >"$DIR/out.$2" 2>&1 &
	PIDS+=($!)
}

# all_end NAME: the ranks that were started have ended, and well.
all_end()
{
	local rc=0 p

	for p in "${PIDS[@]}"; do
		wait "$p" || rc=$?
	done
	PIDS=()
	ktap $rc "$1" "$(tail -q -n 2 "$DIR"/out.* | tr '\n' '|')"
}

part_ranks()
{
	local r n ADDR TYPE

	for TYPE in rc uc; do
		for n in 2 4; do
			tree "$n" "$n"
			is tree state forming "$n"
			ktap $? "$n $TYPE members wait, the tree is not ready"
			for ((r = 0; r < n; r++)); do
				start "$n" "$r" 50000 5
			done
			all_end "$n ranks over $TYPE by rdma_connect(): every element is right"
			wait_for 10 is tree members 0 "$n"
			ktap $? "they have left" "$(tail -n 3 "$DIR/log")"
			tree_gone "$n"
		done
		ADDR=$(topo_ip6 sw)
		tree 6 2
		start 6 0 3000 2
		start 6 1 3000 2
		all_end "IPv6, $TYPE"
		wait_for 10 is tree members 0 6
		tree_gone 6
		ADDR=
	done
}

# refused NAME WORDS HOST TREE RANK QPN RKEY [HOW]: no, because of that.
refused()
{
	local name=$1 words=$2 out rc

	out=$(rank "$3" "$4" "$5" "$6" "$7" 10 1 "${8:-}" 2>&1)
	rc=$?
	[ $rc = 3 ] && [[ $out == *"$words"* ]]
	ktap $? "refused: $name" "status $rc: $out"
}

part_wrong()
{
	local qpn rkey other

	tree 1 2
	read -r qpn rkey < <(key 1 0)
	read -r other _ < <(key 1 1)
	refused "a wrong R_Key" "rejected 3: no tree" 0 1 0 "$qpn" \
		$((rkey ^ 1))
	refused "a wrong QPN" "rejected 3: no tree" 0 1 0 $((qpn ^ 1)) "$rkey"
	refused "another rank's key" "rejected 3: no tree" 0 1 0 "$other" "$rkey"
	refused "no such tree" "rejected 3: no tree" 0 77 0 "$qpn" "$rkey"
	refused "tree 0" "rejected 3: no tree" 0 0 0 "$qpn" "$rkey"
	refused "no such rank" "rejected 3: no tree" 0 1 9 "$qpn" "$rkey"
	refused "another version" "rejected 1: version 99" 0 1 0 "$qpn" \
		"$rkey" version
	refused "too little private data" "rejected 3" 0 1 0 "$qpn" "$rkey" \
		short
	refused "more behind it" "rejected 2" 0 1 0 "$qpn" "$rkey" tail
	refused "another path MTU" "rejected 5: the tree's pmtu is 1024" \
		0 1 0 "$qpn" "$rkey" mtu
	is member state init tree 1 rank 0
	ktap $? "after all that the member waits as before"
	sw inc-tool member set tree 1 rank 1 addr "$(topo_ip4 1)" qpn 17 \
		psn 1 >/dev/null
	read -r qpn rkey < <(key 1 1)
	refused "a member that is connected" "rejected 4" 1 1 1 "$qpn" "$rkey"
	tree_gone 1
}

# The type of the rank's QP is not its member's.
part_types()
{
	local qpn rkey TYPE

	for TYPE in rc uc; do
		tree 1 1
		read -r qpn rkey < <(key 1 0)
		if [ "$TYPE" = rc ]; then
			TYPE=uc refused "UC to a member that is RC" \
				"rejected 5: tree 1 rank 0 is RC, the QP UC" \
				0 1 0 "$qpn" "$rkey"
			AS=-i refused "RC where UC has to connect" \
				"rejected by CM, status 28" 0 1 0 "$qpn" "$rkey"
		else
			TYPE=rc refused "RC to a member that is UC" \
				"rejected 5: tree 1 rank 0 is UC, the QP RC" \
				0 1 0 "$qpn" "$rkey"
		fi
		is member state init tree 1 rank 0
		ktap $? "after that the member waits as before"
		PIDS=()
		start 1 0 1000 1
		all_end "and is connected over $TYPE"
		wait_for 10 is tree members 0 1
		tree_gone 1
	done
}

# Two ranks, of which rank 1 stays; rank 0 HOW.
pair()
{
	PIDS=()
	tree 1 2
	start 1 0 1000 1 "$1"
	start 1 1 1000 1 stay
	wait_for 10 grep -q "is right" "$DIR/out.0" &&
		wait_for 10 grep -q "is right" "$DIR/out.1"
	ktap $? "$2" "$(cat "$DIR"/out.*)"
}

# kill_ranks: those that are left.
kill_ranks()
{
	local r

	for r in "$@"; do
		# shellcheck disable=SC2046	# words
		kill -9 $(ip netns pids "$TOPO-h$r") 2>/dev/null
	done
	wait "${PIDS[@]}" 2>/dev/null
	PIDS=()
}

part_leave()
{
	pair "" "a rank that leaves after its round, and one that stays"
	wait_for 10 is tree state failed 1
	ktap $? "a rank that disconnects has left the tree" \
		"$(sw inc-tool tree show 1)"
	is tree error member-left 1
	ktap $? "it says why" "$(attr tree error 1)"
	grep -q "tree 1 rank 0 has left" "$DIR/log"
	ktap $? "the agent reports it" "$(tail -n 3 "$DIR/log")"
	kill_ranks 1
	tree_gone 1
}

part_killed()
{
	pair stay "two ranks"
	kill_ranks 0 1
	wait_for 10 is tree members 0 1
	ktap $? "after kill -9 their members are gone" \
		"$(sw inc-tool member show tree 1)"
	tree_gone 1
}

part_restart()
{
	local r

	PIDS=()
	tree 1 2
	for r in 0 1; do
		rm -f "$DIR/in.$r" "$DIR/out.$r"
		mkfifo "$DIR/in.$r"
		# shellcheck disable=SC2046	# words
		rank "$r" 1 "$r" $(key 1 "$r") 1000 2 pause \
			<"$DIR/in.$r" >"$DIR/out.$r" 2>&1 &
		PIDS+=($!)
	done
	exec 7>"$DIR/in.0" 8>"$DIR/in.1"
	wait_for 10 grep -q "round 0" "$DIR/out.0" &&
		wait_for 10 grep -q "round 0" "$DIR/out.1"
	ktap $? "two ranks before" "$(cat "$DIR"/out.*)"
	kill -9 "$AGENT"
	wait "$AGENT" 2>/dev/null
	echo >&7
	echo >&8
	wait_for 10 grep -q "round 1" "$DIR/out.0" &&
		wait_for 10 grep -q "round 1" "$DIR/out.1"
	ktap $? "they go on without the agent" "$(cat "$DIR"/out.*)"
	exec 7>&- 8>&-
	kill_ranks 0 1
	agent_up
	ktap $? "the agent starts again"
	tree_gone 1
	tree 2 2
	start 2 0 1000 1
	start 2 1 1000 1
	all_end "ranks connect to the new one"
	wait_for 10 is tree members 0 2
	tree_gone 2
	agent_down
	ktap $? "SIGTERM ends it in order"
	agent_up
}

# The same over UC.
part_uc()
{
	local TYPE=uc

	part_leave && part_killed && part_restart
}

part_flood()
{
	local qpn rkey i rc n took=$SECONDS

	tree 1 1
	read -r qpn rkey < <(key 1 0)
	for ((i = 0; i < 60; i++)); do
		rank $((i % 4)) 1 0 "$qpn" $((rkey ^ (i + 1))) 1 1 \
			>"$DIR/flood.$i" 2>&1 &
		PIDS+=($!)
	done
	rank 0 1 0 "$qpn" "$rkey" 1000 1 >"$DIR/out.0" 2>&1
	rc=$?
	ktap $rc "among 60 strangers the right one gets through" \
		"$(cat "$DIR/out.0")"
	wait "${PIDS[@]}"
	PIDS=()
	took=$((SECONDS - took))
	n=$(cat "$DIR"/flood.* | grep -c "^rejected 3")
	ktap $((n != 60)) "all of them are refused" "$n"
	n=$(grep -c "refused.*no tree" "$DIR/log")
	ktap $((n > 5 * (took + 2))) "the log names five a second" \
		"$n in $took s"
	wait_for 10 is tree members 0 1
	tree_gone 1
}

part_options()
{
	# shellcheck disable=SC2206	# words
	SAYS_BY=(sw "$AGENTD" $UNLIMITED)
	says "an address that nobody has" 1 "cannot listen for RDMA CM" \
		-y "$YANG" -u "$DIR/other" -c 192.0.2.7
	says "no address" 1 "nonsense" -y "$YANG" -u "$DIR/other" -c nonsense
	says "the port in use" 1 "cannot listen for RDMA CM" -y "$YANG" \
		-u "$DIR/other" -c "[::]:$PORT"
	SAYS_BY=(sw)
}

PIDS=()
suite "ranks wrong types leave killed restart uc flood options" "$@"
