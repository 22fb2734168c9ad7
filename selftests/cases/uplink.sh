#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A leaf's link to the parent as the leaf's administrator sees it: whom messages
# wait for and since when, in netlink, debugfs, inc-tool's views and for
# Prometheus; the check of a live setup; faults injected on the uplink.
#
# uplink.sh [PART...]: only some of waits, counters, check, event, fault.

# shellcheck disable=SC2319 # "$?" of a condition is what ktap wants
# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
# shellcheck source=selftests/lib/levels.sh
. "$(dirname "$0")/../lib/levels.sh"
# shellcheck source=selftests/lib/faults.sh
. "$(dirname "$0")/../lib/faults.sh"

SAYS_BY=(at l0)

running()
{
	job_start 4 allreduce -t fp32 -o sum --count 65536 -i 1000000 \
		--pause 2000
	wait_for 20 busy
}

busy()
{
	[ "$(uplink_stat tx-messages)" -gt 50 ]
}

# Counters of l0's uplink, summed over its trees.
uplink_stat()
{
	at l0 inc-tool -j stat show |
		jq --arg key "$1" '.parents | map(.stats[$key]) | add // 0'
}

running_down()
{
	kill "${JOB_PIDS[@]}" 2>/dev/null
	wait "${JOB_PIDS[@]}" 2>/dev/null
	wait_for 10 no_tree
}

# ID of the only tree at l0.
tree_id()
{
	at l0 inc-tool -j tree show | jq '.[0].id'
}

waits_long()
{
	at l0 inc-tool -j slot show state busy |
		jq -e 'any(."parent-age" >= 1100)' >/dev/null
}

leaf_dir()
{
	echo "$(debugfs_switch "$TOPO-l0")"/tree-*
}

# debugfs NAME FILE TEXT: FILE of the leaf's only tree.
debugfs()
{
	local out

	# shellcheck disable=SC2086,SC2046	# one directory
	out=$(cat $(leaf_dir)/"$2")
	# shellcheck disable=SC2053	# a pattern
	[[ $out == *$3* ]]
	ktap $? "$1" "$(tr '\n' '|' <<<"$out")"
}

# verdict_of SWITCH KIND NAME: the verdict of inc-tool check and its complaints
verdict_of()
{
	at "$1" inc-tool -j check | python3 -c '
import json, sys
for c in json.load(sys.stdin)["checks"]:
    if c["kind"] == sys.argv[1] and sys.argv[2] in c["name"]:
        bad = [f["text"] for f in c["findings"] if f["verdict"] != "ok"]
        assert all("hint" in f for f in c["findings"] if f["verdict"] != "ok")
        print(c["verdict"], "; ".join(bad))' "$2" "$3"
}

# finds NAME SWITCH KIND OBJECT VERDICT TEXT
finds()
{
	local out

	out=$(verdict_of "$2" "$3" "$4" 2>&1)
	[[ $out == "$5 "*"$6"* ]]
	ktap $? "$1" "$out"
}

# A rank at the other leaf is stopped: all at l0 wait for the parent.
part_waits()
{
	local out

	running
	out=$(at l0 inc-tool check 2>&1)
	[[ $out == *"uplink, $(switch_ip4 sw)"* && $out == *"port uplink"* ]]
	ktap $? "check: it knows the way to the parent" \
		"$(tr '\n' '|' <<<"$out")"
	kill -STOP "${JOB_PIDS[2]}"
	wait_for 15 waits_long
	ktap $? "slot: a leaf waits for its parent"
	says "slot: since when" 0 "waits-for-parent " \
		inc-tool slot show state busy
	says "slot: what is known of the parent" 0 "    parent: " \
		inc-tool slot show state busy
	out=$(at l0 inc-tool -j slot show state busy | python3 -c '
import json, sys
slots = json.load(sys.stdin)
# Later messages may lack ranks, whose windows differ.
s = min(slots, key=lambda s: s["msg-id"])
assert s["missing"] == [] and 1000 <= s["parent-age"] <= s["age"], s
for s in slots:
    assert s["missing"] or 0 <= s["parent-age"] <= s["age"], s' 2>&1)
	ktap $? "slot: the same in JSON; the oldest lacks no rank" "$out"
	out=$(at l1 inc-tool -j slot show state busy)
	[[ $out == *'"missing"'* && $out != *parent-age* ]]
	ktap $? "slot: the other leaf waits for its rank" "$out"
	finds "check: the uplink keeps others waiting" l0 uplink "tree " warn \
		"messages wait for it"
	finds "check: at the parent it is that leaf" \
		sw rank "rank 1," warn "messages wait for it"
	out=$(at l0 inc-tool top -b -n 1 -i 0.1)
	grep -q '^  parent .* slots WAIT for it, [0-9]* ms' <<<"$out" &&
		! grep -q 'MISSING' <<<"$out"
	ktap $? "top: who is waited for" "$(tr '\n' '|' <<<"$out")"
	out=$(at l0 inc-tool -j top -n 1 -i 0.1 | python3 -c '
import json, sys
t, = json.load(sys.stdin)["trees"]
p = t["parent"]
assert t["missing"] == [] and "rank" not in p, t
assert p["missing-slots"] > 0 and p["missing-age"] >= 500, p' 2>&1)
	ktap $? "top: the same in JSON" "$out"
	at l0 inc-tool stat show --prometheus >"$LAB_OUT/prom"
	grep -q '^inc_uplink_waiting_slots{tree="[0-9]*",qpn="0x[0-9a-f]*"} [1-9]' "$LAB_OUT/prom" &&
		grep -q '^inc_uplink_waiting_seconds{.*} \([1-9]\|0\.[1-9]\)' \
			"$LAB_OUT/prom"
	ktap $? "Prometheus: it waits, and for how long" \
		"$(grep waiting "$LAB_OUT/prom" | tr '\n' '|')"
	debugfs "debugfs: slots" slots "waits for the parent, for [1-9]*"
	debugfs "debugfs: missing" missing \
		"parent: *slots wait for it, longest message"
	debugfs "debugfs: members" members "parent: rts, qpn"
	kill -CONT "${JOB_PIDS[2]}"
	running_down
}

psns()
{
	at l0 inc-tool -d parent show tree "$(tree_id)" |
		grep -o '[rt]x-psn 0x[0-9a-f]*'
}

part_counters()
{
	local out

	running
	out=$(psns)
	[[ $out == *"tx-psn 0x"*"rx-psn 0x"* ||
		$out == *"rx-psn 0x"*"tx-psn 0x"* ]] &&
		changes 5 psns
	ktap $? "PSNs move on" "$(tr '\n' '|' <<<"$out")"
	# Counters only grow: a read between two others lies between their
	# values.
	at l0 inc-tool -j stat show >"$LAB_OUT/stat.before"
	at l0 inc-tool stat show --prometheus >"$LAB_OUT/prom"
	at l0 inc-tool -j stat show >"$LAB_OUT/stat.after"
	out=$("$ROOT/selftests/lib/prometheus.py" <"$LAB_OUT/prom" 2>&1 \
		>"$LAB_OUT/samples")
	ktap $? "Prometheus: the format" "$out"
	out=$(python3 - "$LAB_OUT/stat.before" "$LAB_OUT/samples" \
		"$LAB_OUT/stat.after" <<-'END'
	import json, sys
	least, most = (json.load(open(sys.argv[n]))["parents"][0]["stats"] for n in (1, 3))
	got = {}
	for line in open(sys.argv[2]):
	    name, labels, value = line.split()
	    if name.startswith("inc_uplink_") and name.endswith("_total"):
	        assert "rank" not in json.loads(labels), line
	        got[name[11:-6].replace("_", "-")] = int(value)
	assert set(got) == set(least) == set(most), set(got) ^ set(least)
	wrong = {k: (least[k], v, most[k]) for k, v in got.items()
	         if not least[k] <= v <= most[k]}
	assert not wrong, wrong
	assert least["tx-messages"] > 50 and least["rx-bytes"] and least["tx-bytes"], least
	END
	)
	ktap $? "Prometheus: the uplink's counters, as JSON has them" "$out"
	running_down
}

part_check()
{
	local out r

	at l0 inc-tool tree add id 9 ranks 2 slots 4 job-ranks 4 dead-time 50 \
		>/dev/null
	finds "check: not connected" l0 uplink "tree 9 uplink" warn \
		"not connected to its parent"
	says "top: not connected" 0 "not connected" inc-tool top -b -n 1 -i 0.1
	debugfs "debugfs: not connected" members \
		"parent: not connected (parent-set)"
	at l0 ip route add 10.99.0.0/24 dev br0
	at l0 inc-tool parent set tree 9 peer-tree 3 addr 10.99.0.1 \
		qpn 0x800001 psn 0 rkey 1 local "$(switch_ip4 l0)" >/dev/null
	out=$(verdict_of l0 uplink "tree 9 uplink, 10.99.0.1" 2>&1)
	[ "$out" = "warn br0 knows no Ethernet address of it" ]
	ktap $? "check: nothing is due while the tree forms" "$out"
	for r in 0 1; do
		at l0 inc-tool member add tree 9 rank $r addr "$(topo_ip4 $r)" \
			qpn 0x1$r psn 0 >/dev/null
	done
	finds "check: nothing ever came" l0 uplink "tree 9 uplink, 10.99.0.1" \
		warn "no packet has ever arrived from it"
	at l0 ping -c 1 -W 1 10.99.0.1 >/dev/null 2>&1
	finds "check: it does not answer" l0 uplink "tree 9" FAIL \
		"does not answer ARP"
	at l0 ip route del 10.99.0.0/24
	finds "check: no route" l0 uplink "tree 9" FAIL "no route to it"
	says "check: a failure is an exit status" 1 "verdict FAIL" \
		inc-tool check
	at l0 inc-tool tree del 9

	running
	# What is sent then does not fit, and the tree ends within the dead time.
	kill -STOP "${JOB_PIDS[@]}"
	steady 5 uplink_stat tx-messages
	at l0 ip link set uplink mtu 1000
	finds "check: MTU of the uplink's port" l0 link "link uplink" FAIL \
		"its MTU is 1000, the path MTU needs 1088"
	at l0 ip link set uplink mtu 1500
	kill -CONT "${JOB_PIDS[@]}"
	running_down
}

# The uplink's error is an event without a rank.
part_event()
{
	local pid

	: >"$LAB_OUT/events"
	running
	at l0 inc-tool -j monitor >"$LAB_OUT/events" 2>/dev/null &
	pid=$!
	seen_by "$TOPO-l0" "$LAB_OUT/events"
	# The daemons would notice later, and get no more time on slow kernels.
	at l0 inc-tool tree set "$(tree_id)" \
		dead-time $((350 * (SLOW > 1 ? 5 : 1)))
	at sw bridge link set dev "down${NUMBER[l0]}" state 0
	wait_for 5 grep -q member-error "$LAB_OUT/events"
	python3 - "$LAB_OUT/events" <<-'END'
	import json, sys
	e = [json.loads(line) for line in open(sys.argv[1])]
	up = [x for x in e if x["event"] == "member-error" and "rank" not in x]
	sys.exit(not (len(up) == 1 and up[0]["error"] == "retry-exceeded" and
	              up[0]["peer-tree-id"]))
	END
	ktap $? "an event tells that the uplink is in error" \
		"$(tr '\n' '|' <"$LAB_OUT/events")"
	at sw bridge link set dev "down${NUMBER[l0]}" state 3
	kill $pid
	wait $pid 2>/dev/null
	running_down
}

# done_of FILE KIND: number of injected faults and of packets.
done_of()
{
	awk -v kind="$2" '$1 == kind { n = $NF }
		$1 == "packets" { print n, $2 }' "$1" 2>/dev/null
}

# faulty DIR KIND COUNTER: 2 % of the uplink's packets; the leaf's counter sees
# it.
faulty()
{
	local dir=$1 kind=$2 counter=$3 name="$2, $1" f

	job_start 4 allreduce -t fp32 -o sum --count 65537 -i 10 -x 0 --reps 1 \
		--check=$((60 / SLOW + 1)) --seed "$SEED"
	wait_for 20 connected
	kill -STOP "${JOB_PIDS[@]}"
	f=$(leaf_dir)/fault/parent-$dir
	echo "$kind 20000 seed $SEED" >"$f" && grep -q "^$kind 20000 ppm" "$f"
	ktap $? "$name: set"
	faults_done "$name" 8 35 "the uplink's counters see it" "$counter" \
		uplink_stat done_of "$f" "$kind"
	wait_for 10 no_tree
}

connected()
{
	at l0 inc-tool parent show tree "$(tree_id)" | grep -q "state rts"
}

part_fault()
{
	serves_down
	serves_up "${PATIENT[@]}" || return
	faulty rx drop tx-naks
	faulty tx drop tx-retransmits
	faulty rx duplicate rx-duplicates
	faulty tx duplicate rx-acks
	faulty rx reorder rx-ooo-queued
	faulty tx reorder rx-naks
	faulty rx corrupt tx-naks
	faulty tx corrupt tx-retransmits
}

suite_up()
{
	levels_up 2 2 && serves_up
}

debugfs_up || {
	ktap_skip "uplink" "the kernel has no debugfs"
	ktap_plan
	exit
}
suite "waits counters check event fault" "$@"
