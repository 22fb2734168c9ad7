#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The bridge host as its administrator sees it: counters for Prometheus, missing
# ranks of a slot, the check of a live setup, the live view, saved settings.
#
# observe.sh [PART...]: only some of prometheus, gone, slot, check, top, save.

# shellcheck disable=SC2319 # "$?" of a condition is what ktap wants
# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"

RANKS=3

# A tree that no job uses.
tree_up()
{
	sw inc-tool tree add id 77 ranks 2 slots 8 dead-time 60s >/dev/null &&
		sw inc-tool member add tree 77 rank 0 addr "$(topo_ip4 0)" \
			qpn 0x11 psn 7 >/dev/null
}

# All that is there is the tree of tree_up.
tree_alone()
{
	switch_has trees 1 && switch_has leaving 0
}

# running [COUNT]: start an endless job, with COUNT elements. It leaves time to
# those who look.
running()
{
	job_start "$RANKS" allreduce -t fp32 -o sum --count "${1:-65536}" \
		-i 1000000 --pause 2000
	wait_for 20 busy 50
}

running_down()
{
	kill "${JOB_PIDS[@]}" 2>/dev/null
	wait "${JOB_PIDS[@]}" 2>/dev/null
	wait_for 10 no_tree
}

# prometheus_equals_json FILE: its samples are exactly the counters in JSON.
prometheus_equals_json()
{
	sw inc-tool -j stat show >"$LAB_OUT/stat.json"
	sw inc-tool -j -s member show >"$LAB_OUT/member.json"
	sw inc-tool -j -s switch show >"$LAB_OUT/switch.json"
	python3 - "$1" "$LAB_OUT"/{stat,member,switch}.json <<-'END'
	import json, sys
	got = {}
	for line in open(sys.argv[1]):
	    name, labels, value = line.split()
	    if name.endswith("_total"):
	        got[name, labels] = int(value)
	want = {}
	stat = json.load(open(sys.argv[2]))
	def add(kind, obj, which="stats", **labels):
	    text = json.dumps({k: str(v) for k, v in labels.items()},
	                      sort_keys=True, separators=(",", ":"))
	    for key, value in obj[which].items():
	        want[f"inc_{kind}_{key.replace('-', '_')}_total", text] = value
	add("switch", stat["switch"])
	switch = json.load(open(sys.argv[4]))
	add("gone_tree", switch, "gone-tree-stats")
	add("gone_member", switch, "gone-member-stats")
	for t in stat["trees"]:
	    add("tree", t, tree=t["id"])
	for m in json.load(open(sys.argv[3])):
	    add("member", m, tree=m["tree-id"], rank=m["rank"],
	        qpn=f"0x{m['qpn']:06x}")
	wrong = [k for k in set(got) | set(want) if got.get(k) != want.get(k)]
	for k in wrong[:5]:
	    print(k, got.get(k), want.get(k))
	sys.exit(1 if wrong or len(want) < 13 + 2 * 4 + 3 * 27 else 0)
	END
}

part_prometheus()
{
	local out

	sw inc-tool stat show --prometheus >"$LAB_OUT/prom"
	out=$("$ROOT/selftests/lib/prometheus.py" <"$LAB_OUT/prom" 2>&1)
	ktap $? "Prometheus: an empty switch" "$out"
	tree_up
	job "Prometheus: a job before" "$RANKS" allreduce --count 1000 -i 5 \
		--check
	# Its counters move to those of what is gone, and between two looks they must
	# not.
	wait_for 10 tree_alone
	sw inc-tool member add tree 77 rank 1 addr "$(topo_ip4 1)" qpn 0x12 \
		psn 9 >/dev/null
	sw inc-tool stat show --prometheus >"$LAB_OUT/prom"
	"$ROOT/selftests/lib/prometheus.py" <"$LAB_OUT/prom" \
		>"$LAB_OUT/samples" 2>&1
	ktap $? "Prometheus: the format" "$(tail -n 1 "$LAB_OUT/samples")"
	out=$(prometheus_equals_json "$LAB_OUT/samples" 2>&1)
	ktap $? "Prometheus: all counters, as JSON has them" "$out"
	grep -q '^# HELP inc_member_tx_retransmits_total Result packets retransmitted\.$' "$LAB_OUT/prom"
	ktap $? "Prometheus: the spec's words"
	sw inc-tool stat show tree 77 rank 1 --prometheus >"$LAB_OUT/prom"
	"$ROOT/selftests/lib/prometheus.py" <"$LAB_OUT/prom" \
		>"$LAB_OUT/samples" 2>&1 &&
		[ "$(cut -d' ' -f2 "$LAB_OUT/samples" | sort -u | wc -l)" = 1 ]
	ktap $? "Prometheus: one rank" "$(head -n 1 "$LAB_OUT/samples")"
	says "Prometheus and JSON exclude each other" 1 "exclude" \
		inc-tool -j stat show --prometheus
	says "no such tree" 2 "there is no tree 9" \
		inc-tool stat show --prometheus tree 9
	sw inc-tool tree del 77
}

# gone SET COUNTER: of all trees that are gone, or of their members.
gone()
{
	wait_for 10 no_trees
	sw inc-tool -j -s switch show | python3 -c "
import json, sys
print(json.load(sys.stdin)['gone-$1-stats']['$2'])"
}

# Jobs that differ in their iterations alone differ in that many messages.
part_gone()
{
	local before first second

	before=$(gone tree messages)
	job "counters of trees that are gone: 50 messages" "$RANKS" allreduce \
		--count 100 --warmup 3 -i 50
	first=$(gone tree messages)
	job "counters of trees that are gone: 170 messages" "$RANKS" allreduce \
		--count 100 --warmup 3 -i 170
	second=$(gone tree messages)
	[ $((second - first - (first - before))) = 120 ]
	ktap $? "trees that are gone: their messages" "$before $first $second"
	[ "$(gone member rx-packets)" -ge $((220 * RANKS)) ]
	ktap $? "members that are gone: their packets" \
		"$(gone member rx-packets)"
	sw inc-tool -s switch show >"$LAB_OUT/text"
	grep -A1 "gone trees:" "$LAB_OUT/text" | grep -q "messages $second"
	ktap $? "trees that are gone, as text" "$(tail -n 4 "$LAB_OUT/text")"
}

# A rank is stopped: the others wait for it.
part_slot()
{
	local out

	running
	kill -STOP "${JOB_PIDS[1]}"
	wait_for 10 waits_long
	ktap $? "slot: others wait for the rank that is stopped"
	out=$(sw inc-tool slot show state busy)
	[[ $out == *"missing 1"* && $out \
		== *"rank 1: "*" packets arrived, last heard of "*" ms ago"* ]]
	ktap $? "slot: who, how much of it came, since when" \
		"$(tr '\n' '|' <<<"$out")"
	out=$(sw inc-tool -j slot show state busy | python3 -c '
import json, sys
slots = json.load(sys.stdin)
# Later messages may lack other ranks, too, whose windows differ.
s = min(slots, key=lambda s: s["msg-id"])
assert s["missing"] == [1], s
for s in slots:
    assert 1 in s["missing"] and len(s["missing-chunks"]) == len(s["missing"]), s
    assert 0 <= s["missing-chunks"][0] < s["chunks"] and s["age"] >= 500, s' 2>&1)
	ktap $? "slot: the same in JSON; the oldest lacks no other rank" "$out"
	if debugfs_up; then
		out=$(cat "$(debugfs_switch "$TOPO-sw")"/tree-*/missing)
		[[ $out == *"rank 1: "*"no packet arrived from it for "*" ms"* ]]
		ktap $? "slot: debugfs says it, too" "$(tr '\n' '|' <<<"$out")"
		debugfs_down
	else
		ktap_skip "slot: debugfs says it, too" "the kernel has none"
	fi
	kill -CONT "${JOB_PIDS[1]}"
	running_down
}

waits_long()
{
	sw inc-tool -j slot show state busy | python3 -c '
import json, sys
ages = [s["age"] for s in json.load(sys.stdin)]
sys.exit(not ages or min(ages) < 500)'
}

# verdict_of KIND NAME: the verdict of inc-tool check, and its complaints.
verdict_of()
{
	sw inc-tool -j check | python3 -c '
import json, sys
d = json.load(sys.stdin)
for c in d["checks"]:
    if c["kind"] == sys.argv[1] and sys.argv[2] in c["name"]:
        bad = [f["text"] for f in c["findings"] if f["verdict"] != "ok"]
        assert all("hint" in f for f in c["findings"] if f["verdict"] != "ok")
        print(c["verdict"], "; ".join(bad))' "$1" "$2"
}

# complains KIND OBJECT TEXT
complains()
{
	[[ $(verdict_of "$1" "$2") == *"$3"* ]]
}

# finds NAME KIND OBJECT VERDICT TEXT: inc-tool check reports this.
finds()
{
	local out

	out=$(verdict_of "$2" "$3" 2>&1)
	[[ $out == "$4 "*"$5"* ]]
	ktap $? "$1" "$out"
}

# content: inc-tool check warns of nothing but time-outs, which may well be too
# short now and then on a busy CPU.
content()
{
	sw inc-tool check >"$LAB_OUT/check" 2>&1
	! grep '^FAIL\|^ *warn: \|^ *FAIL: ' "$LAB_OUT/check" |
		grep -vq ' % of its '
}

part_check()
{
	local out

	# No failures of other parts.
	serve_down
	inc_unload && inc_load && serve_up
	says "check: an idle switch is well" 0 "verdict ok" inc-tool check
	kill -STOP "$SERVE_PID"
	says "check: a daemon that is stopped" 1 "it is stopped, and answers nobody" \
		inc-tool check
	kill -CONT "$SERVE_PID"
	serve_down
	says "check: nobody makes trees" 0 "neither inc-tool serve nor" \
		inc-tool check
	serve_up
	running
	out=$(sw inc-tool check 2>&1)
	ktap $? "check: a job that runs" "$(tr '\n' '|' <<<"$out")"
	[[ $out == *"port v0"* && $out == *"port v2"* &&
		$out == *"link br0: bridge"* ]]
	ktap $? "check: it knows the way to the hosts" \
		"$(tr '\n' '|' <<<"$out")"
	# On a busy CPU a rank may have to wait for more than a second.
	wait_for 20 content
	ktap $? "check: nothing to complain of" \
		"$(grep -A3 '^FAIL\|^warn' "$LAB_OUT/check" | tr '\n' '|')"
	kill -STOP "${JOB_PIDS[1]}"
	wait_for 10 complains rank "rank 1," "messages wait for it"
	finds "check: who keeps others waiting" rank "rank 1," warn \
		"messages wait for it"
	kill -CONT "${JOB_PIDS[1]}"
	# It is stopped: it keeps its tree until it goes, too.
	kill -STOP "${JOB_PIDS[1]}"
	wait_for 10 complains rank "rank 1," "messages wait for it"
	kill -9 "${JOB_PIDS[0]}"
	wait_for 10 complains tree tree "have no member any more: 0"
	finds "check: a rank that had joined" tree tree FAIL \
		"ranks have no member any more: 0"
	kill -CONT "${JOB_PIDS[1]}"
	running_down
	finds "check: the tree that failed last" failure failure warn \
		"rank 0, $(topo_ip4 0): it has left"
	serve_down
	inc_unload && inc_load && serve_up

	# Otherwise it would follow its ports, and lose IPv6 below 1280.
	sw ip link set br0 mtu 1400
	sw ip link set br0 mtu 1500
	sw inc-tool tree add id 9 ranks 5 slots 4 dead-time 50 >/dev/null
	sw inc-tool member add tree 9 rank 0 addr "$(topo_ip4 0)" qpn 0x11 \
		psn 0 >/dev/null
	sw inc-tool member add tree 9 rank 1 addr 10.99.0.1 qpn 0x11 psn 0 \
		local "$(topo_ip4 sw)" 2>/dev/null
	sw ip route add 10.99.0.0/24 dev br0
	sw inc-tool member add tree 9 rank 1 addr 10.99.0.1 qpn 0x11 psn 0 \
		local "$(topo_ip4 sw)" >/dev/null
	sw inc-tool member add tree 9 rank 2 addr "$(topo_ip6 2)" qpn 0x11 \
		psn 0 >/dev/null
	sw ip route add 10.98.0.0/24 dev br0 mtu 1000
	sw inc-tool member add tree 9 rank 3 addr 10.98.0.1 qpn 0x11 psn 0 \
		>/dev/null
	finds "check: ranks that have not joined" tree "tree 9" warn \
		"1 ranks have no member: 4"
	finds "check: nothing is due before all are there" rank "tree 9 rank 0," ok ""
	sw inc-tool tree add id 8 ranks 1 >/dev/null
	sw inc-tool member add tree 8 rank 0 addr "$(topo_ip4 0)" qpn 0x11 \
		psn 0 >/dev/null
	finds "check: nothing ever came" rank "tree 8 rank 0," warn \
		"no packet has ever arrived from it"
	sw inc-tool tree del 8
	sw ip link set v0 mtu 1000
	finds "check: MTU of a port" link "link v0" FAIL \
		"its MTU is 1000, the path MTU needs 1088"
	says "check: a failure is an exit status" 1 "verdict FAIL" \
		inc-tool check
	sw ip link set v0 mtu 1500
	finds "check: MTU of a route" rank "rank 3," FAIL \
		"the route's MTU is 1000, path MTU 1024 needs 1088"
	sw ping -c 1 -W 1 10.99.0.1 >/dev/null 2>&1
	finds "check: a neighbour that does not answer" rank "rank 1," FAIL \
		"does not answer ARP"
	sw ip route del 10.99.0.0/24
	finds "check: no route" rank "rank 1," FAIL "no route to it"
	sw ip link set v2 mtu 1100
	sw ping -c 1 -W 2 "$(topo_ip6 2)" >/dev/null
	finds "check: IPv6 needs more" link "link v2" FAIL \
		"its MTU is 1100, the path MTU needs 1108"
	sw ip link set v2 mtu 1500
	host 2 ip link set eth0 down
	finds "check: a port without carrier" rank "rank 2," warn \
		"br0 knows no port"
	host 0 ip link set eth0 down
	host 1 ip link set eth0 down
	finds "check: no carrier" link "link br0" FAIL "no carrier"
	for out in 0 1 2; do
		host "$out" ip link set eth0 up
	done
	says "check: no such tree" 2 "there is no tree 10" \
		inc-tool check tree 10
	sw ip route del 10.98.0.0/24
	# Something is wrong, and a host sends to the QPN of another one's member.
	host 2 ip link set eth0 down
	out=$(sw inc-tool -j member show tree 9 rank 0 |
		jq -r 'if type == "array" then .[0] else . end | .qpn')
	host 1 python3 -c "import socket
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(
	b'\\x0a\\0\\xff\\xff' + ($out).to_bytes(4, 'big') + bytes(40),
	('$(topo_ip4 sw)', 4791))"
	finds "check: a counter may be why something is wrong" switch switch warn \
		"rx-source counts 1 packets"
	host 2 ip link set eth0 up
	sw inc-tool tree del 9
	finds "check: what was counted long ago is none" switch switch ok ""
	serve_down
	inc_unload
	says "check: no module" 1 "module is not loaded" inc-tool check
	inc_load && serve_up
}

part_top()
{
	local out line

	says "top: nothing there" 0 "0 trees" inc-tool top -b -n 1 -i 0.1
	running
	out=$(sw inc-tool top -n 2 -i 0.5)
	ktap $? "top: ends after its pictures"
	[ "$(grep -c '^inc-tool top' <<<"$out")" = 2 ] &&
		[ "$(grep -c '^  rank [012] ' <<<"$out")" = 6 ] &&
		! grep -q $'\033' <<<"$out"
	ktap $? "top: not on a terminal, one below the other" \
		"$(tr '\n' '|' <<<"$out")"
	# For so long no machine stands still.
	out=$(sw inc-tool -j top -n 2 -i 2 | python3 -c '
import json, sys
lines = [json.loads(line) for line in sys.stdin]
assert len(lines) == 2
for d in lines:
    assert 1.9 < d["seconds"] < 20, d["seconds"]
    t, = d["trees"]
    assert t["ranks"] == 3 and len(t["members"]) == 3, t
    for key in ("messages", "bytes-in", "bytes-out"):
        assert t[key] > 0, (key, t)
        assert abs(t[key] - sum(m[key] for m in t["members"])) < 1e-3 * t[key]
    # 256 KiB in 17 messages, and headers; each rank may be in the middle of
    # one at the beginning and at the end
    n, got = (t[key] * d["seconds"] for key in ("messages", "bytes-in"))
    assert 262144 / 17 * (n - 6) < got < 17600 * (n + 6), t' 2>&1)
	ktap $? "top: JSON, a line for a picture" "$out"
	sw "$ROOT/selftests/observe/top_tty.py" inc-tool top -i 0.3 \
		>"$LAB_OUT/top" 2>&1
	while read -r line; do
		[[ $line == PASS* ]]
		ktap $? "${line#* }"
	done <"$LAB_OUT/top"
	[ "$(grep -c '^PASS' "$LAB_OUT/top")" = 8 ]
	ktap $? "top: on a terminal" "$(tail -n 1 "$LAB_OUT/top")"
	running_down
	# Rank 0 has a smaller window, so younger messages lack it, too, except
	# at an operation's end.
	JOB_ENV=(INC_WINDOW=2 "" INC_WINDOW=16)
	running 4194304
	JOB_ENV=()
	kill -STOP "${JOB_PIDS[1]}"
	wait_for 10 waits_long
	[[ $(sw inc-tool slot show state busy) == *"missing 0-1"* ]]
	ktap $? "top: younger messages lack another rank, too" \
		"$(sw inc-tool slot show state busy | tr '\n' '|')"
	out=$(sw inc-tool top -b -n 1 -i 0.1)
	grep -q '^  rank 1 .* MISSING in [1-9][0-9]* slots, [0-9]* ms' \
		<<<"$out" &&
		! grep -q '^  rank [02] .*MISSING' <<<"$out"
	ktap $? "top: who is missing" "$(tr '\n' '|' <<<"$out")"
	kill -CONT "${JOB_PIDS[1]}"
	running_down
	says "top: no such tree" 2 "there is no tree 9" \
		inc-tool top -b -t 9 -n 1
}

part_save()
{
	local before after

	sw inc-tool -b - >/dev/null <<-END
	switch set memory-limit 512M
	tree add id 3 ranks 2 slots 16 msg-size 4K pmtu 512 first-msg-id 7 \
		collectives allreduce dtypes fp32,int8 ops sum,max window 9 hold 1M \
		min-rto 3 dead-time 60
	tree add id 4 ranks 3 dead-time 50
	member add tree 3 rank 1 addr $(topo_ip4 1) qpn 0x11 psn 0xfffffe pkey 0x8001
	member add tree 3 rank 0 addr $(topo_ip6 0) qpn 0x12 psn 4 local-psn 77
	member add tree 4 rank 2 addr $(topo_ip4 2) qpn 0x13 psn 5 local-qpn 0x812345
	END
	ktap $? "save: a switch to save"
	sw inc-tool save >"$LAB_OUT/saved"
	ktap $? "save"
	grep -q 'local-qpn 0x812345' "$LAB_OUT/saved"
	ktap $? "save: the QPN asked for"
	before=$(members_to_keep)
	sw inc-tool tree del 3
	sw inc-tool tree del 4
	# QPNs continue from where they were: without being requested they
	# differ.
	serve_down
	inc_unload && inc_load && serve_up
	sw inc-tool restore "$LAB_OUT/saved" >/dev/null
	ktap $? "save: restored, after the module was loaded again"
	after=$(members_to_keep)
	[ -n "$before" ] && [ "$before" = "$after" ]
	ktap $? "save: trees and members are the same" "$before; $after"
	sw inc-tool save | cmp -s - "$LAB_OUT/saved"
	ktap $? "save: saved again, it is the same"
	says "save: what is there is not made twice" 2 "tree 3 exists" \
		inc-tool restore "$LAB_OUT/saved"
	says "save: a QPN that is in use" 2 "QPN is in use" \
		inc-tool member add \
		tree 4 rank 0 addr "$(topo_ip4 0)" qpn 0x11 psn 0 \
		local-qpn 0x812345
	says "save: a QPN that is not the switch's" 2 \
		"qpn, it takes 8388608 to 12582911" inc-tool member \
		add tree 4 rank 0 addr "$(topo_ip4 0)" qpn 0x11 psn 0 \
		local-qpn 17
	says "save: not without rights" 2 "CAP_NET_ADMIN" \
		setpriv --reuid 65534 \
		--regid 65534 --clear-groups -- "$(command -v inc-tool)" save
	sw inc-tool tree del 3
	sw inc-tool tree del 4
}

# All settings that persist from one life to the next, and no others.
members_to_keep()
{
	{
		sw inc-tool -j member show
		sw inc-tool -j tree show
		sw inc-tool -j switch
	} |
		python3 -c '
import json, sys
members, trees, sw = map(json.loads, sys.stdin)
for m in members:
    del m["rkey"], m["last-rx"]
for t in trees:
    del t["epoch"]
print(members, trees, sw["memory-limit"])'
}

suite_up()
{
	topo_up $RANKS && serve_up
}

suite "prometheus gone slot check top save" "$@"
