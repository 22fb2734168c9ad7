#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Generic netlink, inc-tool and debugfs: right and wrong input, permissions,
# dumps, events, batches, the memory budget. Needs no RDMA device.
#
# netlink.sh [PART...]: only some of errors, tool, class, uc, levels, json,
# order, batch, rights, budget, quota, save, events, debugfs, cli, dump, reply,
# failures, fuzz. FUZZ_SEED, FUZZ_COUNT: of the random messages.

# shellcheck disable=SC2319 # "$?" of a condition is what ktap wants
# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"

RAW=$ROOT/selftests/netlink/netlink_raw.py
KEYS=$ROOT/selftests/netlink/netlink_keys.py
SUITE_NEEDS=python3-yaml
SAYS_BY=(tool)

tool()
{
	sw inc-tool "$@"
}

suite_up()
{
	topo_lone
}

# Take over the cases of a program that prints PASS and FAIL.
cases()
{
	local line n=0 log=$LAB_OUT/cases rc

	sw python3 "$RAW" "$@" >"$log" 2>&1
	rc=$?
	while read -r line; do
		case $line in
		PASS*)	ktap 0 "${line#PASS }"; n=$((n + 1)) ;;
		FAIL*)	line=${line#FAIL }
			ktap 1 "${line%% # *}" "${line#* # }"; n=$((n + 1)) ;;
		*)	echo "# $line" ;;
		esac
	done <"$log"
	[ $rc = 0 ] && [ $n -gt 0 ]
	ktap $? "$1: ran to its end" "status $rc"
}

part_tool()
{
	says "tree add" 0 "tree 5 role root state forming members 0 of 2" \
		tree add id 5 ranks 2 slots 16 msg-size 4K pmtu 512 dead-time 50
	says "tree add chooses an ID" 0 "tree 1 " tree add ranks 3 slots 8 \
		collectives allreduce dtypes fp32 ops sum,max dead-time 50
	says "its masks" 0 "collectives allreduce dtypes fp32 ops sum,max" \
		-d tree show 1
	says "tree set" 0 "" tree set 5 window 7 hold 1M min-rto 3 \
		dead-time 60ms priority 5 cnp-interval 7
	says "the priority it set" 0 "ecn not-ect priority 5 cnp-interval 7" -d tree show 5
	says "tree set, priority 0" 0 "" tree set 5 priority 0 cnp-interval 0
	says "the lowest priority" 0 "priority 0 cnp-interval 0" -d tree show 5
	says "what it set" 0 "window 7 hold 1 MiB min-rto 3ms dead-time 60ms" \
		-d tree show 5
	says "member add" 0 "gid ::ffff:10.9.0.1" member add tree 5 rank 0 \
		addr 10.9.0.2 qpn 17 psn 3
	says "member add, IPv6" 0 "gid fd00::1" member add tree 5 rank 1 \
		addr fd00::2 qpn 18 psn 4 local fd00::1 local-psn 0xabcdef \
		pkey 0x8001
	says "the PSN asked for" 0 "psn 0xabcdef" -d member show tree 5 rank 1
	says "the P_Key asked for" 0 "pkey 0x8001" -d member show tree 5 rank 1
	says "no traffic class is 0" 0 "traffic-class 0" -d tree show 5
	says "the tree is ready" 0 "state ready members 2 of 2" tree show 5
	says "a mapped address is IPv4" 0 "local 10.9.0.1" member add tree 1 \
		rank 2 addr ::ffff:10.9.0.9 qpn 19 psn 0
	says "a mapped address is shown so" 0 "addr 10.9.0.9 " member show \
		tree 1
	says "member show of one tree" 0 "tree 5 rank 1" member show tree 5
	says "slot show" 0 "slot 3 state idle msg-id 3" slot show tree 5 index 3
	says "no slot was used" 0 "" slot show
	says "stat show" 0 "switch" stat show
	says "stat show of a rank" 0 "tree 5 rank 1" stat show tree 5 rank 1
	says "tree show -s" 0 "total" -s tree show
	says "kernel's words" 2 "Error: rdma_inc: there is no tree 9." tree \
		show 9
	says "name of an attribute" 2 "window, it takes 1 to 256" \
		tree add ranks 2 window 1000
	says "missing attribute" 2 "no member" member show tree 1 rank 0
	tool tree add id 77 ranks 2 pmtu 4096
	says "packets that the interface does not take" 2 \
		"pmtu 4096 needs an MTU of 4160, v0 has 1500" \
		member add tree 77 rank 0 addr 10.9.0.2 qpn 17 psn 3
	tool tree del 77
	tool tree add id 78 ranks 200 slots 1 msg-size 1024
	says "several members at a time" 0 "tree 78 rank 9 " member add tree 78 \
		rank 7 addr 10.9.0.2 qpn 17 psn 3 \
		rank 9 addr 10.9.0.3 qpn 18 psn 4 transport uc rank 8
	says "each as it is told" 0 "tree 78 rank 9 state rts transport uc qpn 0x" \
		member show tree 78 rank 9
	says "one of them waits for its host" 0 "tree 78 rank 8 state init" \
		member show tree 78 rank 8
	says "one that cannot be made" 2 "rank has a member already" member add \
		tree 78 rank 10 rank 9 rank 11
	says "none is made then" 2 "has no member" member show tree 78 rank 10
	says "its attribute is named" 2 "rank, it takes 0 to 1023" member add \
		tree 78 rank 10 rank 2000
	# shellcheck disable=SC2046 # words
	says "as many as fit" 0 "tree 78 rank 199 " member add tree 78 \
		$(printf 'rank %d ' {72..199})
	# shellcheck disable=SC2046 # words
	says "no more" 1 "more than 128 members" member add tree 78 \
		$(printf 'rank %d ' {0..128})
	tool tree del 78
	says "rank is taken" 2 "rank has a member already" member add tree 5 \
		rank 1 addr 10.9.0.7 qpn 20 psn 0
	says "another namespace is another switch" 0 "" \
		-n /proc/1/ns/net tree show
	says "member del" 0 "" member del tree 5 rank 0
	says "member del twice" 2 "has no member" member del tree 5 rank 0
	says "an unused tree takes another one" 0 "rank 0" member add tree 5 \
		rank 0 addr 10.9.0.3 qpn 21 psn 0
	says "tree del" 0 "" tree del 5
	says "tree del twice" 2 "there is no tree 5" tree del 5
	says "tree del, id" 0 "" tree del id 1
}

# A tree's traffic class is that of the route to its members, too.
part_class()
{
	# Routes use three of the six bits.
	sw ip route add unreachable 10.9.0.77/32 tos 0x18
	sw ip -6 rule add dsfield 0xb8 to fd00::77 unreachable
	says "traffic class" 0 "tree 1 " tree add id 1 ranks 2 slots 4 \
		traffic-class 0xb8 dead-time 50
	says "it is shown" 0 "traffic-class 184" -d tree show 1
	says "a route of that class" 2 "no route" member add tree 1 rank 0 \
		addr 10.9.0.77 qpn 17 psn 0
	says "a rule of that class, IPv6" 2 "no route" member add tree 1 \
		rank 0 addr fd00::77 qpn 17 psn 0
	says "an address without one" 0 "rank 0" member add tree 1 rank 0 \
		addr 10.9.0.78 qpn 17 psn 0
	says "one without, IPv6" 0 "rank 1" member add tree 1 rank 1 \
		addr fd00::78 qpn 17 psn 0
	tool tree del 1
	tool tree add id 1 ranks 2 slots 4 traffic-class 32 dead-time 50 \
		>/dev/null
	says "another class" 0 "rank 0" member add tree 1 rank 0 \
		addr 10.9.0.77 qpn 17 psn 0
	says "another class, IPv6" 0 "rank 1" member add tree 1 rank 1 \
		addr fd00::77 qpn 17 psn 0
	tool tree del 1
	sw ip route del unreachable 10.9.0.77/32 tos 0x18
	sw ip -6 rule del dsfield 0xb8 to fd00::77 unreachable
}

part_uc()
{
	tool tree add id 1 ranks 2 slots 4 msg-size 1K pmtu 1024 dead-time 50 \
		>/dev/null
	tool tree add id 2 ranks 2 slots 4 msg-size 2K pmtu 1024 below 0,2 \
		dead-time 50 >/dev/null
	says "UC member" 0 "gid ::ffff:10.9.0.1" member add tree 1 rank 0 \
		addr 10.9.0.2 qpn 17 psn 3 transport uc
	says "RC beside it" 0 "rank 1" member add tree 1 rank 1 addr 10.9.0.3 \
		qpn 17 psn 3 transport rc
	says "it is shown" 0 "transport uc" member show tree 1 rank 0
	[[ $(tool member show tree 1 rank 1) != *transport* ]]
	ktap $? "RC goes without saying"
	[[ $(tool -j member show tree 1 | tr -d '\n ') \
		== *'"transport":"uc"'*'"transport":"rc"'* ]]
	ktap $? "but not in JSON" "$(tool -j member show tree 1)"
	says "its PSNs" 0 "tx-psn 0x" -d member show tree 1 rank 0
	says "and what is expected of it" 0 "rx-psn 0x000003" -d member show \
		tree 1 rank 0
	says "messages of two packets: what to change" 2 \
		"UC needs messages of one packet: msg-size is 2048, pmtu 1024" \
		member add tree 2 rank 0 addr 10.9.0.2 qpn 17 psn 3 transport uc
	says "which attribute it is" 2 "transport" member add tree 2 rank 0 \
		addr 10.9.0.2 qpn 17 psn 3 transport uc
	says "a switch needs RC" 2 "it needs transport rc" member add tree 2 \
		rank 1 addr 10.9.0.2 qpn 17 psn 3 transport uc
	says "no such transport" 1 "it takes rc or uc" member add tree 1 \
		rank 0 addr 10.9.0.2 qpn 17 psn 3 transport ud
	says "counters of its own" 0 "rx-deferred 0" -d stat show tree 1 rank 0
	tool tree del 1
	tool tree del 2
}

part_waits()
{
	local set="member set tree 1 rank 0 addr 10.9.0.2 qpn 17 psn 3"

	tool tree add id 1 ranks 2 slots 4 dead-time 50 >/dev/null
	says "a member that waits for its host" 0 "rkey 0x" member add tree 1 \
		rank 0 local-qpn 0x800009
	says "it is in init" 0 "state init qpn 0x800009" member show tree 1
	says "it is no member of the tree yet" 0 "members 0 of 2" tree show 1
	says "inc-tool check tells" 0 "it waits for its host" check
	says "it can be saved" 0 \
		"member add tree 1 rank 0 local-qpn 0x800009" save
	says "connected" 0 "psn 0x000007" $set local-psn 7
	says "once" 2 "the member has its peer already" $set
	says "it is connected" 0 "state rts" member show tree 1 rank 0
	says "now it counts" 0 "members 1 of 2" tree show 1
	tool tree del 1
}

part_levels()
{
	local set="parent set tree 1 peer-tree 9 addr 10.9.0.2 qpn 0x800003 psn 5 rkey 0xbeef"

	says "a leaf" 0 "role child" tree add id 1 ranks 2 slots 4 job-ranks 6 \
		first-rank 2 dead-time 50
	says "its ranks" 0 "first-rank 2 job-ranks 6" tree show 1
	tool tree add id 2 ranks 3 slots 4 below 2,2,0 dead-time 50 >/dev/null
	says "a root with switches below" 0 "below 2,2,0" tree show 2
	says "its QP is there, not connected" 0 "state init" parent show tree 1
	says "what the parent has to know" 0 "psn 0x" -d parent show tree 1
	says "a root has none: what to do" 2 "made without job-ranks" parent \
		show tree 2
	says "no such tree" 2 "there is no tree 7" parent show tree 7
	says "the parent's address" 2 "no route to the parent's address" \
		parent set \
		tree 1 peer-tree 9 addr 192.0.2.1 qpn 0x800003 psn 5 rkey 1
	says "connected" 0 "state rts" $set
	says "to whom" 0 "peer-tree 9 state rts" parent show tree 1
	says "with what" 0 "peer-rkey 0x0000beef" -d parent show tree 1
	says "where it is" 0 "tx-psn 0x" -d parent show tree 1
	says "once" 2 "the tree has its parent already" $set
	says "stat show names it" 0 "tree 1 parent" stat show tree 1
	says "top names it" 0 "  parent" top -b -n 1 -i 0.1
	says "the last member but one of a block" 2 \
		"below is given for 1 of 2 members" \
		tree add ranks 2 job-ranks 8 below 4
	says "more ranks than there are" 2 \
		"ranks 2 to 4: there are no more than 4" \
		tree add ranks 3 job-ranks 4 first-rank 2
	says "quotas hold for leaves" 0 "" switch set max-ranks 2
	says "with what it wants and may" 2 \
		"max-ranks: 3 ranks wanted, 2 are allowed" \
		tree add ranks 3 job-ranks 8
	tool switch set max-ranks 0
	tool tree del 1
	tool tree del 2
	ktap "$(tool -j switch | jq '."memory-used"')" \
		"the uplink's memory came back"
}

# Saved settings come back: transport, position among switches, quotas.
part_save()
{
	local saved=$LAB_OUT/saved again=$LAB_OUT/saved-again out

	tool -b - >/dev/null <<-'END'
	switch set memory-limit 64M max-trees 5 max-ranks 6 max-slots 32 max-tree-memory 8M max-tree-hold 2M
	tree add id 1 ranks 3 slots 8 msg-size 512 pmtu 512 dead-time 50 order arrival traffic-class 40 ecn ect0 priority 7 cnp-interval 0
	member add tree 1 rank 0 addr 10.9.0.2 qpn 17 psn 3 transport uc
	member add tree 1 rank 2 addr fd00::2 qpn 18 psn 9 pkey 0x8001
	tree add id 2 ranks 2 slots 4 job-ranks 9 first-rank 4 below 0,3 hold 128K dead-time 50
	member add tree 2 rank 1 addr 10.9.0.4 qpn 0x900000 psn 1
	END
	ktap $? "a switch to save"
	tool save >"$saved"
	ktap $? "saved"
	out=$(grep -c "transport uc" "$saved")
	[ "$out" = 1 ] && grep -q "job-ranks 9 first-rank 4" "$saved" &&
		grep -q "order arrival traffic-class 40 ecn ect0 priority 7 cnp-interval 0" "$saved" &&
		grep -q "below 0,3" "$saved" &&
			grep -q "max-tree-memory 8388608 max-tree-hold 2097152" "$saved"
	ktap $? "transport, place, class and quotas are in it" \
		"$(tr '\n' '|' <"$saved")"
	grep -q "^# needs parent set" "$saved"
	ktap $? "it says that the leaf needs its parent"
	tool tree del 1
	tool tree del 2
	tool switch set memory-limit 1G max-trees 0 max-ranks 0 max-slots 0 \
		max-tree-memory 0 max-tree-hold 0
	out=$(tool restore "$saved" 2>&1)
	ktap $? "restored" "$out"
	tool save >"$again"
	out=$(diff "$saved" "$again")
	ktap $? "saved again it is the same" "$out"
	says "the leaf's QP is there, and can be connected" 0 "state rts" \
		parent set tree 2 \
		peer-tree 9 addr 10.9.0.2 qpn 0x800003 psn 5 rkey 1
	tool tree del 1
	tool tree del 2
	tool switch set memory-limit 1G max-trees 0 max-ranks 0 max-slots 0 \
		max-tree-memory 0 max-tree-hold 0
}

part_json()
{
	local args out

	tool tree add id 3 ranks 2 slots 4 dead-time 50 job-ranks 9 \
		first-rank 4 below 2,0 >/dev/null
	tool member add tree 3 rank 0 addr 10.9.0.2 qpn 17 psn 3 >/dev/null
	for args in "tree" "-s tree" "-s -s -p tree show 3" "member" \
		    "-s -d member show tree 3 rank 0" "slot" \
		    "slot show tree 3 index 1" "parent show tree 3" "stat" \
		    "-p stat show tree 3" \
		    "switch" "-s switch" "tree add ranks 1 slots 1" \
		    "member add tree 3 rank 1 addr 10.9.0.3 qpn 18 psn 0" \
		    "top -n 1 -i 0.1" "check" \
		    "parent set tree 3 peer-tree 9 addr 10.9.0.2 qpn 0x800003 psn 5 rkey 1"; do
		# shellcheck disable=SC2086 # words
		out=$(tool -j $args 2>&1 | python3 -m json.tool 2>&1)
		ktap $? "JSON of inc-tool $args" "$out"
	done
	out=$(tool -j -s tree show 3 | python3 "$KEYS" tree 2>&1)
	ktap $? "keys of a tree are those of the spec" "$out"
	out=$(tool -j -s member show tree 3 | python3 "$KEYS" member 2>&1)
	ktap $? "keys of a member are those of the spec" "$out"
	out=$(tool -j -s switch | python3 "$KEYS" switch 2>&1)
	ktap $? "keys of the switch are those of the spec" "$out"
	tool tree del 4 2>/dev/null
	tool tree del 3
	tool tree del 1
}

# in_order NAME TEXT KEYS WANT ARGS...: do the numbers that TEXT, a pattern of sed,
# finds in each line, and those of KEYS in JSON, come in the order of WANT?
in_order()
{
	local name=$1 text=$2 keys=$3 want=$4 got

	shift 4
	got=$(tool "$@" | sed -nE "s/^$text( .*)?$/\1 \2/p" | xargs)
	[ "$got" = "$want" ]
	ktap $? "order: $name: text" "$got"
	got=$(tool -j "$@" | jq -r --arg keys "$keys" \
		'[.[] as $e | $keys | split(" ")[] | $e[.]] | join(" ")')
	[ "$got" = "$want" ]
	ktap $? "order: $name: JSON" "$got"
}

# Made in another order than they are shown in.
part_order()
{
	local id rank

	for id in 10 9 100 2; do
		tool tree add id $id ranks 12 slots 16 >/dev/null
	done
	for id in 10 2; do
		for rank in 10 9 2 11; do
			tool member add tree $id rank $rank addr 10.9.0.2 \
				qpn $((id * 100 + rank)) psn 3 >/dev/null
		done
	done
	in_order trees 'tree ([0-9]+)()' id "2 9 10 100" tree show
	in_order members 'tree ([0-9]+) rank ([0-9]+)' "tree-id rank" \
		"2 2 2 9 2 10 2 11 10 2 10 9 10 10 10 11" member show
	in_order "members of a tree" 'tree ([0-9]+) rank ([0-9]+)' \
		"tree-id rank" "10 2 10 9 10 10 10 11" member show tree 10
	in_order "trees at their counters" 'tree ([0-9]+)()' id "2 9 10 100" \
		-s tree show
	for id in 10 9 100 2; do
		tool tree del $id
	done
}

part_batch()
{
	local out rc

	out=$(tool -batch - 2>&1 <<-'END'
	# two trees
	tree add id 1 ranks 2 slots 4 \
		dead-time 50
	tree add id 2 ranks "1" slots 4

	member add tree 2 rank 0 addr 10.9.0.2 qpn 17 psn 0
	END
	)
	ktap $? "batch" "$out"
	out=$(printf 'tree del 1\ntree del 77\ntree del 2\n' | tool -b - 2>&1)
	rc=$?
	[ $rc = 2 ] && [[ $out == *"Command failed -:2"* ]] &&
		tool tree show 2 >/dev/null
	ktap $? "batch stops at an error and says where" "$rc: $out"
	out=$(printf 'tree del 77\ntree del 2\n' | tool -f -b - 2>&1)
	rc=$?
	[ $rc = 2 ] && ! tool tree show 2 >/dev/null 2>&1
	ktap $? "batch with -force goes on" "$rc: $out"
	for i in {1..300}; do
		echo "tree add id $i ranks 2 slots 1 msg-size 64"
	done >"$LAB_OUT/many"
	tool -b "$LAB_OUT/many" >/dev/null && [ "$(tool tree | wc -l)" = 300 ]
	ktap $? "300 trees from a file"
	sed -i 's/add id \([0-9]*\).*/del \1/' "$LAB_OUT/many"
	tool -b "$LAB_OUT/many" && [ -z "$(tool tree)" ]
	ktap $? "and gone again"
}

# nobody CMD...: run without any privilege
nobody()
{
	sw setpriv --reuid 65534 --regid 65534 --clear-groups -- "$@"
}

# stranger TEXT: error that root of a user namespace gets for the commands on
# standard input, in a network namespace of its own; -f continues after errors.
stranger()
{
	nobody unshare -Urn inc-tool -f -b - 2>&1
}

# crowd: as root of a user namespace, take what there is in several namespaces, say
# what came of it, and stay until the end of standard input.
crowd()
{
	nobody unshare -Urn sh -c '
		add="inc-tool tree add ranks 1"
		inc-tool -j switch | jq -r .\"hold-limit\"
		$add
		$add && echo another
		unshare -n $add && echo elsewhere
		unshare -Urn $add && echo further in
		for i in $(seq 32); do
			echo "tree add ranks 1 slots 1 msg-size 64"
		done | inc-tool -b - | wc -l
		unshare -Urn inc-tool -j switch | jq -r .\"hold-guaranteed\"
		echo end
		read -r _' >"$LAB_OUT/crowd" 2>&1
}

# All that a user makes is one share of what there is.
check_share()
{
	local par=/sys/module/rdma_inc/parameters old pid out fd

	old=$(cat $par/memory_ceiling)
	echo 64 >$par/memory_ceiling
	rm -f "$LAB_OUT/stay" && mkfifo "$LAB_OUT/stay"
	crowd <"$LAB_OUT/stay" &
	pid=$!
	exec {fd}>"$LAB_OUT/stay"
	wait_for 60 grep -q ^end "$LAB_OUT/crowd"
	out=$(tr '\n' ' ' <"$LAB_OUT/crowd")
	[[ $out == "1048576 tree 1 "* ]]
	ktap $? "a user has an eighth of what there is" "$out"
	[ "$(grep -c "memory_ceiling of a user's namespaces is 8 MiB" \
		"$LAB_OUT/crowd")" = 3 ] && ! grep -q "another\|elsewhere\|further" \
		"$LAB_OUT/crowd"
	ktap $? "and no more, wherever" "$out"
	# 1 MiB, half of which 33 trees share
	[[ $out == *" 32 15887 end "* ]]
	ktap $? "nor do its trees hold more" "$out"
	says "the host's own has room" 0 "tree 7" tree add id 7 ranks 2
	tool tree del 7
	exec {fd}>&-
	wait "$pid"
	rm "$LAB_OUT/stay"
	echo "$old" >$par/memory_ceiling
}

part_userns()
{
	local par=/sys/module/rdma_inc/parameters/user_namespaces out

	out=$(stranger <<<"tree add ranks 2 slots 1")
	[[ $out == *"not permitted in a user namespace"* ]]
	ktap $? "no tree for root of a user namespace" "$out"
	[ "$(cat $par)" = N ] && ! nobody sh -c "echo 1 >$par" 2>/dev/null &&
		! nobody unshare -Ur sh -c "echo 1 >$par" 2>/dev/null
	ktap $? "nor may he change that"
	echo 1 >$par
	out=$(stranger <<<"tree add ranks 2 slots 1")
	[[ $out == "tree 1 "* ]]
	ktap $? "but if the administrator says so" "$out"
	out=$(stranger <<-'END'
	switch set memory-limit 2G
	switch set memory-limit 1M max-trees 5 max-ranks 8 max-slots 64 max-tree-memory 512K
	switch set memory-limit 2M
	switch set max-trees 6
	switch set max-trees 0
	switch set max-ranks 9
	switch set max-ranks 0
	switch set max-slots 65
	switch set max-slots 0
	switch set max-tree-memory 513K
	switch set max-tree-memory 0
	switch set max-tree-hold 2M
	switch set max-tree-hold 3M
	switch set max-trees 4 memory-limit 1M max-slots 32
	switch show
	END
	)
	[ "$(grep -c "only the host's administrator raises limits" <<<"$out")" \
		= 11 ]
	ktap $? "who may not raise a limit" "$out"
	[[ $out == *"memory-limit 1 MiB "*"max-trees 4 max-ranks 8 max-slots 32 max-tree-memory 512 KiB"* ]]
	ktap $? "but lower it" "$out"
	check_share
	echo 0 >$par
}

part_rights()
{
	local out rc args

	tool tree add id 1 ranks 2 slots 4 dead-time 50 >/dev/null
	tool member add tree 1 rank 0 addr 10.9.0.2 qpn 17 psn 3 >/dev/null
	for args in "parent set tree 1 peer-tree 9 addr 10.9.0.2 qpn 0x800003 psn 5 rkey 1" \
		    "tree add ranks 2" "tree set 1 window 3" "tree del 1" \
		    "member add tree 1 rank 1 addr 10.9.0.3 qpn 17 psn 3" \
		    "member del tree 1 rank 0" "switch set memory-limit 1M" \
		    "tree show 1" "tree show" "member show tree 1 rank 0" \
		    "member show" "parent show tree 1" \
		    "slot show tree 1 index 0" \
		    "slot show" "stat" "switch" "monitor"; do
		# shellcheck disable=SC2086 # words
		out=$(nobody timeout "$HANGS" inc-tool $args 2>&1)
		rc=$?
		[ $rc = 2 ] && [[ $out == *"not permitted"* ]]
		ktap $? "unprivileged: $args" "$rc: $out"
	done
	[[ $(tool -j member show) == *'"rkey"'* ]]
	ktap $? "root sees R_Keys"
	if nobody unshare -Urn true 2>/dev/null; then
		part_userns
	else
		ktap_skip "root of a user namespace" "the kernel has none"
	fi
	tool tree del 1
}

part_budget()
{
	used() { tool -j switch | python3 -c 'import json, sys; print(json.load(sys.stdin)["memory-used"])'; }
	ktap "$(used)" "nothing used"
	says "tree beyond the limit" 2 "needs " tree add ranks 1024 slots 4096
	tool switch set memory-limit 256K
	says "tree beyond a lower limit" 2 "needs " tree add ranks 4 slots 64
	says "a smaller one" 0 "tree 1" tree add id 1 ranks 1 slots 1 \
		msg-size 4096 dead-time 50
	says "member within the limit" 0 "rank 0" member add tree 1 rank 0 \
		addr 10.9.0.2 qpn 17 psn 0
	[ "$(used)" -gt 4096 ]
	ktap $? "it is used"
	tool switch set memory-limit 1K
	says "a limit below what is used" 0 "memory-limit 1 KiB" switch show
	says "refuses more" 2 "needs " tree add ranks 1 slots 1 msg-size 64
	tool tree del 1
	ktap "$(used)" "nothing used again"
	tool switch set memory-limit 1G
}

part_quota()
{
	local add="tree add slots 8 msg-size 4096" used

	says "no quotas at first" 0 "max-trees 0 max-ranks 0 max-slots 0 max-tree-memory 0" switch show
	tool switch set max-trees 2 max-ranks 4 max-slots 16 max-tree-memory 1M
	says "they are shown" 0 "max-trees 2 max-ranks 4 max-slots 16 max-tree-memory 1 MiB" switch show
	says "ranks beyond" 2 "max-ranks: 5 ranks wanted, 4 are allowed" $add \
		ranks 5
	says "slots beyond" 2 "max-slots: 32 slots wanted, 16 are allowed" \
		tree add ranks 2 slots 32
	tool switch set max-slots 15
	says "one slot beyond" 2 "max-slots: 16 slots wanted, 15 are allowed" \
		tree add ranks 2 slots 16
	tool switch set max-slots 16
	says "the default of slots is no exception" 2 \
		"max-slots: 64 slots wanted" tree add ranks 2
	says "memory beyond, members included" 2 "max-tree-memory: " tree add \
		ranks 4 slots 16 msg-size 65536
	ktap "$(tool -j switch | jq '."memory-used"')" \
		"nothing is used by what was refused"
	says "a tree within" 0 "tree 1" $add id 1 ranks 4 dead-time 50
	says "a second one" 0 "tree 2" $add id 2 ranks 1 dead-time 50
	says "a third one" 2 "max-trees: 2 trees are there, 2 are allowed" \
		$add ranks 1
	says "all its members fit" 0 "rank 3" member add tree 1 rank 3 \
		addr 10.9.0.2 qpn 17 psn 0
	tool switch set max-trees 1
	says "a lower quota takes nothing away" 0 "tree 2" tree show
	tool tree del 2
	says "but holds" 2 "max-trees: 1 trees are there" $add ranks 1
	tool switch set max-trees 0
	says "one quota is given up, the others stay" 0 \
		"max-trees 0 max-ranks 4" switch show
	says "as many as one likes" 0 "tree" $add id 2 ranks 1 dead-time 50
	tool tree del 2
	tool tree del 1
	tool switch set max-ranks 0 max-slots 0 max-tree-memory 0
	add="tree add id 1 ranks 1 slots 64 msg-size 256 pmtu 256 job-ranks 4 dead-time 50"
	tool $add >/dev/null
	tool member add tree 1 rank 0 addr 10.9.0.2 qpn 17 psn 0 >/dev/null
	used=$(tool -j switch | python3 -c 'import json, sys; print(json.load(sys.stdin)["memory-used"])')
	tool tree del 1
	tool switch set max-tree-memory $((used - 1))
	says "a child's queue pair to its parent counts" 2 \
		"max-tree-memory: " $add
	tool switch set max-tree-memory "$used"
	says "all that it takes" 0 "tree 1" $add
	tool tree del 1
	# Nor does a tree that is there get more, be its members there or not.
	add="tree add id 1 ranks 4 slots 8 msg-size 4096 window 16 dead-time 50"
	tool switch set max-tree-memory 1
	used=$(tool $add 2>&1 | sed -n 's/.*max-tree-memory: \([0-9]*\) KiB needed.*/\1/p')
	tool switch set max-tree-memory "${used}K"
	says "a tree with a small window" 0 "tree 1" $add
	says "the window may not grow" 2 "max-tree-memory: " \
		tree set 1 window 256
	says "and has not" 0 "window 16" -d tree show 1
	says "but become smaller" 0 "" tree set 1 window 8
	says "and as large as it was" 0 "" tree set 1 window 16
	tool tree del 1
	tool switch set max-tree-memory 0
	# What waits of members that are switches is not limited later.
	add="tree add id 1 ranks 2 slots 8 msg-size 4096 dead-time 50"
	tool switch set max-tree-hold 1M
	says "switches below hold more than may wait" 2 \
		"max-tree-hold: switches hold 1536 KiB, 1024 KiB are allowed" \
		$add below 4,2 hold 128K
	says "with a smaller hold they do not" 0 "tree 1" $add below 4,2 hold 64K
	says "nor may it grow" 2 \
		"max-tree-hold: switches hold 1536 KiB, 1024 KiB are allowed" \
		tree set 1 hold 128K
	tool tree del 1
	says "hosts are kept from it as they send" 0 "tree 1" $add hold 2M
	tool tree del 1
	tool switch set max-tree-hold 0
}

events_are()
{
	local got

	got=$(python3 -c '
import json, sys
for line in open(sys.argv[1]):
    e = json.loads(line)
    print(e["event"], e.get("rank", ""), sep="", end=" ")' "$LAB_OUT/events")
	[ "$got" = "$1 " ]
}

# member_seen: a member came and went, and the monitor of members reported it.
member_seen()
{
	tool tree add id 98 ranks 1 slots 1 dead-time 10 >/dev/null
	tool member add tree 98 rank 0 addr 10.9.0.2 qpn 17 psn 3 >/dev/null
	tool tree del 98
	grep -q 'member-del tree 98' "$LAB_OUT/events.text"
}

part_events()
{
	local pid

	# Append, so that the file can be truncated under the writer.
	rm -f "$LAB_OUT/events"*
	tool -j -t monitor >>"$LAB_OUT/events" 2>"$LAB_OUT/events.err" &
	pid=$!
	tool monitor member >>"$LAB_OUT/events.text" &
	# Until the monitors listen, no events arrive.
	seen_by "$TOPO-sw" "$LAB_OUT/events"
	wait_for 5 member_seen
	# When this event is reported, all earlier ones are.
	tool tree add id 97 ranks 1 slots 1 >/dev/null
	tool tree del 97
	wait_for 5 grep -q '"tree-del".*97' "$LAB_OUT/events"
	: >"$LAB_OUT/events"
	tool -b - >/dev/null <<-'END'
	tree add id 1 ranks 2 slots 4 dead-time 50
	member add tree 1 rank 0 addr 10.9.0.2 qpn 17 psn 3
	member add tree 1 rank 1 addr 10.9.0.3 qpn 17 psn 3
	member del tree 1 rank 1
	END
	wait_for 5 events_are \
		"tree-new member-new0 member-new1 tree-ready member-del1"
	ktap $? "events of a tree's life" \
		"$(cut -c1-150 "$LAB_OUT/events" | tr '\n' ' ')"
	! grep -q '"rkey"\|"psn"' "$LAB_OUT/events"
	ktap $? "no event tells secrets"
	grep -qE '"time":"20[^"]*T[0-9:]+\.[0-9]{6}[-+][0-9]{2}:[0-9]{2}"' \
		"$LAB_OUT/events"
	ktap $? "events have a time, as RFC 3339 has it"
	tool tree del 1
	wait_for 5 grep -q '"tree-del"' "$LAB_OUT/events"
	ktap $? "event of a tree dismantled"
	wait_for 5 grep -q "member-del tree 1 rank 0" "$LAB_OUT/events.text"
	ktap $? "events about members only, as text"
	! grep -q '^tree' "$LAB_OUT/events.text"
	ktap $? "and none about trees"
	timeout "$HANGS" ip netns exec "$TOPO-sw" inc-tool monitor | true
	[ "${PIPESTATUS[0]}" != 124 ]
	ktap $? "events: it ends when nobody reads, though nothing happens"
	# shellcheck disable=SC2046 # words
	kill $(jobs -p) 2>/dev/null
	wait "$pid" 2>/dev/null
	[ ! -s "$LAB_OUT/events.err" ]
	ktap $? "no complaint" "$(cat "$LAB_OUT/events.err")"
}

part_debugfs()
{
	local dir f i out

	if ! debugfs_up; then
		ktap_skip "debugfs" "the kernel has none"
		return
	fi
	dir=$(debugfs_switch "$TOPO-sw")
	grep -q "^limit" "$dir/memory"
	ktap $? "memory of the namespace"
	tool tree add id 1 ranks 3 slots 4 dead-time 50 >/dev/null
	tool member add tree 1 rank 1 addr 10.9.0.2 qpn 17 psn 3 >/dev/null
	tool member add tree 1 rank 2 addr fd00::5 qpn 17 psn 3 >/dev/null
	out=$(cat "$dir/tree-1/members")
	[[ $out == *"rank 0: no member"*"rank 1: rts"*"10.9.0.2"*"fd00::5"* ]]
	ktap $? "members" "$out"
	grep -q "^tree 1: forming, 2 of 3 ranks" "$dir/tree-1/slots"
	ktap $? "slots"
	grep -q "no slot waits" "$dir/tree-1/missing"
	ktap $? "missing"
	grep -q "^tree 1: " "$dir/memory"
	ktap $? "memory of the tree"
	[ "$(stat -c %a "$dir/tree-1/members")" = 400 ]
	ktap $? "for root only"

	# Trees come and go while readers read.
	while :; do
		for f in "$dir"/tree-*/*; do
			cat "$f" 2>/dev/null
		done >/dev/null
	done &
	for ((i = 0; i < 30 / SLOW + 2; i++)); do
		tool -b - >/dev/null <<-'END'
		tree add id 2 ranks 1 slots 256 dead-time 10 min-rto 1
		member add tree 2 rank 0 addr 10.9.0.2 qpn 17 psn 3
		tree del 2
		END
	done
	kill %%
	wait 2>/dev/null
	tool tree del 1
	[ ! -e "$dir/tree-1" ] && [ ! -e "$dir/tree-2" ]
	ktap $? "trees come and go under readers"
}

# The commands of netlink.rst, exactly as printed there.
part_cli()
{
	local ksrc lines

	for ksrc in "${KSRC:-}" "${RDMA_INC_CACHE:-}"/source-*; do
		[ ! -x "$ksrc/tools/net/ynl/pyynl/cli.py" ] || break
	done
	[ -x "$ksrc/tools/net/ynl/pyynl/cli.py" ] || {
		ktap_skip "cli.py, as netlink.rst has it" \
			"no kernel source (KSRC)"
		return
	}
	lines=$(sed -n '/^\tPATH=.*pyynl/,/^$/p' \
		"$ROOT/Documentation/netlink.rst")
	[ "$(grep -c '^	cli.py' <<<"$lines")" -ge 3 ] &&
		(cd "$ROOT" && sw env KSRC="$ksrc" PYTHONDONTWRITEBYTECODE=1 \
			sh -ec "$lines") >"$LAB_OUT/cli" 2>&1
	ktap $? "cli.py, as netlink.rst has it" \
		"$(tail -n 3 "$LAB_OUT/cli" | tr '\n' ' ')"
	grep -q "'ranks': 4" "$LAB_OUT/cli"
	ktap $? "and it makes a tree"
}

part_dump()
{
	cases dump
	cases close
}

part_reply()
{
	cases reply
}

part_failures()
{
	local dir=/sys/kernel/debug/failslab

	if [ ! -d $dir ]; then
		ktap_skip "allocations fail" "the kernel can't do that"
		return
	fi
	echo N >$dir/ignore-gfp-wait
	echo 0 >$dir/verbose
	cases failures
	echo Y >$dir/ignore-gfp-wait
	wait_for 10 switch_has memory-used 0
	ktap $? "nothing is charged for what failed"
}

part_errors()
{
	cases errors
}

part_fuzz()
{
	cases fuzz "${FUZZ_SEED:-$RANDOM$RANDOM}" \
		"${FUZZ_COUNT:-$((20000 / SLOW))}"
}

suite "errors tool class uc waits levels json order batch rights budget quota save events
	debugfs cli dump reply failures fuzz" "$@"
