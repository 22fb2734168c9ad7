#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What operators get of the manager: inc-amctl, events, statistics, the page.
#
#   ops.sh [VAR=VALUE]... [PART...]
#	PART: ctl agree event task web http

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
# shellcheck source=selftests/lib/levels.sh
. "$ROOT/selftests/lib/levels.sh"
# shellcheck source=selftests/lib/fabric.sh
. "$ROOT/selftests/lib/fabric.sh"

# A browser takes the only CPU for seconds: be patient with all others.
SLOW=8

# A name for rank 5's host, in this kernel only.
name_host()
{
	cp /etc/hosts "$LAB_OUT/hosts" &&
		echo "$(topo_ip4 5) trainer-5" >>"$LAB_OUT/hosts" &&
		mount --bind "$LAB_OUT/hosts" /etc/hosts
}

suite_up()
{
	local name r

	levels_up 3 2 || return
	for name in "${SWITCHES[@]}"; do
		agent_up "$name" || return
		[ "$name" = sw ] ||
			at "$name" ping -qc 1 "$(topo_ip4 sw)" >/dev/null
	done
	for r in 0 1 2 3 4 5; do
		host "$r" ping -qc 1 "$(topo_ip4 sw)" >/dev/null
	done
	name_host && amd_up && wait_for 10 ctl_up && clock_up
}

# json NAME EXPRESSION ARGS...: what "inc-amctl -j ARGS" prints, as x.
json()
{
	local name=$1 expr=$2 out

	shift 2
	out=$(ctl -j "$@" 2>&1)
	python3 -c 'import datetime, json, sys
x = json.loads(sys.argv[1])
at = lambda text: datetime.datetime.fromisoformat(text).tzinfo
sys.exit(not eval("(" + sys.argv[2] + ")"))' "$out" "$expr" 2>/dev/null
	ktap $? "$name" "$(tr '\n' '|' <<<"$out")"
}

# Is each word that completion offers one that inc-amctl knows?
completes()
{
	local word words

	# shellcheck source=userspace/manager/completion/inc-amctl
	. "$ROOT/userspace/manager/completion/inc-amctl"
	COMP_WORDS=(inc-amctl "") COMP_CWORD=1
	_inc_amctl 2>/dev/null
	words=("${COMPREPLY[@]}")
	for word in "${words[@]}"; do
		[ "$word" = help ] || inc-amctl "$word" help |
			grep -q "^Usage: inc-amctl $word" || return
		inc-amctl --help | grep -q "^  $word" || [ "$word" = help ] ||
			return
	done
	[ ${#words[@]} -gt 5 ]
}

# A rank chooses its group's name, and an operator presses TAB after "why".
completes_any_name()
{
	# shellcheck disable=SC2016 # it must not expand
	local JOB_NAME='$(>/tmp/pwned)`>/tmp/pwned`'
	local name=$JOB_NAME JOB_LOG=$LAB_OUT/odd JOB_PIDS=()

	rm -f /tmp/pwned
	am_rank 0 2
	wait_for 10 group_is_there "$name"
	ktap $? "completion: a group with a name that is a command" \
		"$(ctl group) $(cat "$JOB_LOG.0")"
	(
		inc-amctl() { ctl "$@"; }
		COMP_WORDS=(inc-amctl why '\$') COMP_CWORD=2
		_inc_amctl 2>/dev/null
		# As if the user had pressed the return key.
		eval "words=(${COMPREPLY[*]})"
		[ "${words[*]}" = "$name" ] && [ ! -e /tmp/pwned ]
	)
	ktap $? "completion: no name is evaluated" "$(ls /tmp/pwned 2>&1)"
	ctl group del "$name"
	wait "${JOB_PIDS[0]}"
}

# Jobs, users and accounts may have the name of a word of the command line. It is
# named, not explained, and what the status says was done was done.
named_help()
{
	local JOB_NAME=help JOB_LOG=$LAB_OUT/named JOB_PIDS=()

	am_rank 0 2
	wait_for 10 group_is_there help
	says "a group named help: show" 0 "group help: forming" group show help
	says "a group named help: why" 0 "group help: " why show help
	says "why help is help" 0 "Usage: inc-amctl why" why help
	says "--help after a name" 0 "Usage: inc-amctl group" group del x --help
	json "a group named help: del -j" "x['name'] == 'help'" group del help
	wait "${JOB_PIDS[0]}"
	wait_for 5 eval '! group_is_there help'
	ktap $? "a group named help: it is gone" "$(ctl group)"
	says "by help" 0 "reservation x: 0 of 1 groups, 0 of 2 ranks" \
		reservation add x ranks 2 by help
	says "by help: it is there" 0 "by help" reservation show x
	says "tenant -h" 0 "tenant -h, by --help" \
		reservation add help ranks 2 tenant -h by --help
	says "names only" 2 'no reservation "-h"' reservation show -- -h -h
	says "del of an odd tenant" 0 "" reservation del -- help -h
	says "del" 0 "" reservation del x
	event "reservation-over x: it was deleted, by anonymous"
	ktap $? "an event tells who" "$(tail -n 5 "$LAB_OUT/amd.log")"
	! ctl reservation | grep -q .
	ktap $? "none is left" "$(ctl reservation)"
	says "a word twice" 1 '"ranks" is there twice' \
		reservation add x ranks 2 ranks 3
	says "del help" 2 'no reservation "help"' reservation del help
}

group_is_there()
{
	ctl group | grep -qF "group $1: "
}

# A job of 6 ranks that leaves most of the CPU to others: its ranks run for a
# tenth of the time, which is enough for heartbeats.
idle_job()
{
	long_job 6
	while sleep 0.9; do
		kill -CONT "${JOB_PIDS[@]}"
		sleep 0.1
		kill -STOP "${JOB_PIDS[@]}"
	done &
	PULSE=$!
}

wake_job()
{
	kill "$PULSE"
	kill -CONT "${JOB_PIDS[@]}"
}

# What does not end is wrong.
timeout_ctl()
{
	sw timeout "$HANGS" inc-amctl -m "$(topo_ip4 sw)" "$@"
}

to_full()
{
	ctl "$@" >/dev/full
}

to_nowhere()
{
	ctl "$@" >&-
}

# same_list OBJECT: but for numbers, which move on.
same_list()
{
	[ "$(ctl "$1" list 2>&1 | sed 's/[0-9].*//')" = \
		"$(ctl "$1" show | sed 's/[0-9].*//')" ]
}

part_ctl()
{
	local dot what

	SAYS_BY=(ctl)
	idle_job
	says "topology" 0 "link sw:down1 - l0:uplink" topology
	says "topology show --dot" 0 "graph fabric" topology show --dot
	says "topology show x" 1 '"x": only --dot' topology show --dot x
	says "a name that could be an abbreviation: switch" 2 \
		"knows no switch s" switch s
	says "a name that could be an abbreviation: client" 2 \
		"knows no client sh" client sh
	says "a name that could be an abbreviation: task" 2 \
		'no task "sho"' task sho
	says "a name that could be an abbreviation: quota" 0 "tenant s" quota s
	says "a name that is show" 2 'no task "show"' task show show
	says "two formats" 1 "--dot or --json" -j topology --dot
	says "--dot twice" 0 "graph fabric" topology --dot --dot
	says "an option behind its object" 1 "option -j stands before" topology -j
	says "a word that is none, last" 1 '"foo" is none of' \
		reservation add z ranks 4 foo
	for what in "" "," ",,"; do
		says "-m \"$what\"" 1 "must be a manager's address" \
			-m "$what" topology
	done
	says "two kinds" 1 "--switches or --clients" task --clients --switches
	says "one kind, twice" 0 "switch sw:" task --switches --switches
	says "show" 0 "switch sw at" switch show
	for what in topology switch client group task quota reservation event; do
		same_list "$what"
		ktap $? "list is show: $what" "$(ctl "$what" list 2>&1)"
	done
	SAYS_BY=(to_full)
	says "a full disk" 2 "No space left on device" topology
	SAYS_BY=(ctl)
	says "an abbreviation" 0 "host $(topo_ip4 3) at l1:v3" topo show
	says "switch NAME" 0 "switch l1 at" switch l1
	says "no such switch" 2 "knows no switch l9" switch l9
	says "client" 0 "at l2:v4" client "$(topo_ip4 4)"
	says "--help: what client shows" 0 "hosts: the switch that sees each" \
		--help
	says "group" 0 "below sw, ranks 2-3" group
	says "why" 0 "the root is sw" why "$JOB_NAME"
	says "why not a leaf" 0 ": more levels: 3, the root 2" \
		why "$JOB_NAME"
	says "why of none" 2 "there is no group" why nonesuch
	says "why of what" 1 "which group" why
	says "help of an object" 0 "Usage: inc-amctl event" event help
	says "--help of an object" 0 "Usage: inc-amctl why" why x --help
	says "no such object" 1 "--help" frobnicate
	says "no such option" 1 "--help" --frobnicate topology
	says "a refused connection, in words" 2 "connection is refused" \
		-m 127.0.0.1:1 topology
	says "a port that is none" 1 "port from 1 to 65535" \
		-m 127.0.0.1:99999 topology
	says "a port that is none, in a list" 1 "port from 1 to 65535" \
		-m "127.0.0.1:1,[::1]:0" topology
	# There is no network for name servers here.
	says "no such host, in words" 2 "no name server has answered" \
		-m nohost.invalid topology
	says "a time of nothing" 1 "more than 0, and 366 days at most" \
		reservation add x ranks 2 for 0
	says "a time that is too long" 1 "for 200000d: must be more than 0" \
		reservation add x ranks 2 for 200000d
	says "a tenant with a space" 2 "the tenant may have 63 printable" \
		reservation add x ranks 2 tenant "a b"
	says "from twice" 1 '"from" is there twice' event from 1 from 2
	says "a time that is none" 1 "as in 90, 15m" \
		reservation add x ranks 2 for 1x
	says "sizes with units" 0 "of 1 GiB used" switch l1
	json "-j topology" "len(x['switches']) == 4 and len(x['links']) == 3 and
		{h['addr'] for h in x['hosts']} >= {'$(topo_ip4 0)'}" topology
	json "-j switch" "[s['id'] for s in x] == ['l1']" switch l1
	json "-j client" "x[0]['switch-id'] == 'l2'" client "$(topo_ip4 4)"
	json "-j group" "[t['ranks'] for t in x[0]['tree']][1:] ==
		[[0, 1], [2, 3], [4, 5]]" group show "$JOB_NAME"
	json "-j why" "x['root'] == 'sw' and {c['against'] == '' :
		c['switch-id'] for c in x['candidates']}[True] == 'sw'" \
		why "$JOB_NAME"
	# Twice: to look must not change what is counted.
	for _ in 1 2; do
		json "-j why: without the group's own load" \
			"{c['load'] for c in x['candidates']} == {0}" \
			why "$JOB_NAME"
	done
	json "-j topology: with it" \
		"{l['load'] > 0 for l in x['links']} == {True}" topology
	json "-j event" "x[-1]['kind'] == 'group-ready'" event
	json "-j event: its time" "at(x[-1]['time'])" event
	json "-j task --history: its time" "at(x['last'])" \
		task "$JOB_NAME" --history
	json "-j switch: not drained" "x[0]['drained-at'] == ''" switch l1
	dot=$(ctl topology --dot)
	[ "$(grep -c -- ' -- ' <<<"$dot")" = 9 ] && [[ $dot == graph*'}' ]]
	ktap $? "topology --dot: 3 links and 6 hosts" "$dot"
	completes
	ktap $? "completion: each word is known"
	completes_any_name
	named_help
	wake_job
	ctl group del "$JOB_NAME"
	others_fail "deleted" -1 operator
	says "event" 0 "group-ended $JOB_NAME" event
	ctl switch drain l1 >/dev/null
	json "-j switch: drained" "at(x[0]['drained-at'])" switch l1
	says "switch: drained, and since when" 0 " by anonymous since 20" \
		switch l1
	ctl switch resume l1 >/dev/null
}

# agree RC ARGS...: both commands end with that status.
agree()
{
	local want=$1 cmd status said

	shift
	for cmd in "inc-tool" "inc-amctl -m $(topo_ip4 sw)"; do
		# shellcheck disable=SC2086 # words
		said=$(sw $cmd "$@" 2>&1 >"$AGREE_OUT")
		status=$?
		[ $status = "$want" ] &&
			{ [ "$AGREE_OUT" = /dev/null ] ||
			  [[ $said == *"standard output: No space left"* ]]; }
		ktap $? "${cmd%% *} $*: status $want" "$status: $said"
	done
}

# What inc-tool says of a switch and of an event, and what inc-amctl says.
part_agree()
{
	local args log=$LAB_OUT/agree AGREE_OUT=/dev/null

	for args in help -h --help -V -v --version "switch help" \
		    "switch --help" switch "switch show" "switch list" \
		    "-j switch" "-j -p switch" "sw show"; do
		# shellcheck disable=SC2086 # words
		agree 0 $args
	done
	for args in "" frobnicate --frobnicate "--frobnicate switch" -m; do
		# shellcheck disable=SC2086 # words
		agree 1 $args
	done
	AGREE_OUT=/dev/full
	for args in help --help --version "switch help" switch "-j switch"; do
		# shellcheck disable=SC2086 # words
		agree 2 $args
	done
	SAYS_BY=(to_full)
	says "inc-amctl event --follow: what is not written ends it" 2 \
		"standard output: No space left" event --follow
	SAYS_BY=(to_nowhere)
	says "inc-amctl without standard output" 2 \
		"standard output: Bad file descriptor" switch
	SAYS_BY=(sw)
	sw inc-tool -j -t monitor >"$log.tool" &
	seen_by "$TOPO-sw" "$log.tool"
	kill %% 2>/dev/null
	{ sw inc-tool -j switch && head -n 1 "$log.tool" &&
		ctl -j switch show sw && ctl -j event; } >"$log"
	python3 -c 'import datetime, json, sys
a, b, (c,), d = map(json.loads, open(sys.argv[1]))
d = d[0]
both = [(k, x[k], y[k]) for x, y in ((a, c), (b, d)) for k in x if k in y]
assert {k for k, _, _ in both} >= {"collectives", "memory-limit", "time"}, both
assert all(type(x) is type(y) for _, x, y in both), both
assert a["collectives"] == c["collectives"] and type(a["hooked"]) is bool
for x in b, d:
    assert datetime.datetime.fromisoformat(x["time"]).tzinfo, x' "$log" \
		2>"$log.err"
	ktap $? "JSON: what both have is of the same type" \
		"$(tail -n 1 "$log.err"; cat "$log")"
}

# Does the kernel probe the manager's connections?
probed()
{
	sw ss -Htno state established 'sport = :18790' >"$LAB_OUT/ss"
	grep -q "timer:(keepalive" "$LAB_OUT/ss"
}

part_event()
{
	local last

	ktap_run "streams" sw python3 "$ROOT/selftests/fabric/ops.py" \
		"$(topo_ip4 sw):18790" "$(topo_ip4 sw)"
	ctl event --follow >"$LAB_OUT/follow.log" &
	am_job "a job" 2 --count 1000
	wait_for 5 grep -q "group-ended $JOB_NAME" "$LAB_OUT/follow.log"
	ktap $? "event --follow: the job's end" "$(cat "$LAB_OUT/follow.log")"
	# Not while it retransmits: the last event may still be unacknowledged.
	wait_for 5 probed
	ktap $? "event --follow: a client that vanishes is noticed" \
		"$(sw ss -tno 'sport = :18790')"
	kill %% 2>/dev/null
	last=$(ctl event | awk 'END { print $1 }')
	timeout "$HANGS" ip netns exec "$TOPO-sw" inc-amctl -m "$(topo_ip4 sw)" \
		event --follow from "$last" | head -n 1 | grep -q "^$last " &&
		[ "${PIPESTATUS[0]}" != 124 ]
	ktap $? "event --follow: ends when nobody reads, though nothing happens"
}

# Does a line of "inc-amctl task ARGS" say that something is sent?
task_moves()
{
	ctl task "$@" | grep -qE "in [1-9][0-9.]* [kMG]*B/s out [1-9].*messages/s"
}

# What its hosts have sent, of the last job.
task_bytes()
{
	ctl -j task "$JOB_NAME" | jq '.[0]."rx-bytes"'
}

has_bytes()
{
	[ "$(task_bytes)" -ge "$1" ]
}

part_task()
{
	local in

	long_job 6
	wait_for 10 task_moves "$JOB_NAME"
	ktap $? "task: the job's rate" "$(ctl task)"
	wait_for 5 task_moves --switches l1
	ktap $? "task --switches" "$(ctl task --switches)"
	wait_for 5 task_moves --clients "$(topo_ip4 5)"
	ktap $? "task --clients" "$(ctl task --clients)"
	ctl group del "$JOB_NAME"
	others_fail "deleted" -1 operator
	wait_for 5 no_group
	SAYS_BY=(timeout_ctl)
	says "task: it has ended" 0 "$JOB_NAME: ended" task
	json "task --history: seconds with data" "len(x['rx-rate']) ==
		len(x['trouble-rate']) and max(x['rx-rate']) > 0" \
		task "$JOB_NAME" --history
	says "task: no such one" 2 'no task "x"' task x
	says "task --follow: no such one" 2 'no task "x"' task x --follow
	says "task --follow: no such switch" 2 'no switch "x"' \
		task --switches x --follow
	says "task --history of none" 1 "needs a name" task --history
	# The same data once more: all that the hosts sent.
	am_job "a job of a known size" 6 allreduce --count 100000 -i 20 -x 0
	wait_for 5 has_bytes $((6 * 4 * 100000 * 20))
	# Nor is anything counted twice, in the next second.
	sleep 2.2
	in=$(task_bytes)
	((in >= 6 * 4 * 100000 * 20 && in < 6 * 4 * 100000 * 20 * 6 / 5))
	ktap $? "task: every byte of its hosts is counted" "$in bytes"
	timeout "$HANGS" ip netns exec "$TOPO-sw" inc-amctl -m "$(topo_ip4 sw)" \
		task --follow --switches | head -n 8 >"$LAB_OUT/follow.log"
	grep -c "^switch sw" "$LAB_OUT/follow.log" | grep -qx 2
	ktap $? "task --follow: each second" "$(cat "$LAB_OUT/follow.log")"
}

part_web()
{
	idle_job
	ktap_run "the page" sw python3 "$ROOT/selftests/fabric/page.py" \
		"http://127.0.0.1:18789/" "$LAB_OUT/page.png" "$JOB_NAME" \
		4 6 9
	wake_job
	ctl group del "$JOB_NAME"
	others_fail "deleted" -1 operator
	at l0 ip link set uplink down
	ktap_run "the page, a link is cut" sw python3 \
		"$ROOT/selftests/fabric/page.py" http://127.0.0.1:18789/ cut
	amd_down
	AMD_STORE=sqlite:$LAB_OUT/ops.db
	at l0 ip link set uplink up
	amd_up && wait_for 10 ctl_up && wait_for 10 links_up
	at l0 ip link set uplink down
	wait_for 10 link_down
	ktap $? "a link is cut" "$(metrics | grep link_up)"
	kill_amd
	amd_up && wait_for 10 ctl_up && wait_for 10 link_down
	ktap $? "the next manager knows it" "$(metrics | grep link_up)"
	sleep 3
	link_down
	ktap $? "and still does" "$(metrics | grep link_up)"
	at l0 ip link set uplink up
	wait_for 10 links_up
	ktap $? "the link is there again" "$(metrics | grep link_up)"
}

link_down()
{
	metrics | grep "^inc_am_link_up.* 0$" | grep -q '"uplink"'
}

# No link of the manager's metrics is down.
links_up()
{
	metrics | grep -q "^inc_am_link_up" &&
		! metrics | grep -q "^inc_am_link_up.* 0$"
}

has_task()
{
	# The task is known from its events, the switch from what it has counted.
	metrics >"$LAB_OUT/metrics" &&
		grep -q "^inc_am_task_received_bytes_total{.*,task=\"$JOB_NAME\"}" \
			"$LAB_OUT/metrics" &&
		grep -q "^inc_am_switch_received_bytes_total" "$LAB_OUT/metrics"
}

part_http()
{
	am_job "a job, for the metrics" 2 --count 1000
	# They are made less often if that takes long.
	wait_for 20 has_task
	# Small buffers are full soon.
	sw sysctl -qw net.ipv4.tcp_wmem="4096 4096 16384"
	ktap_run "HTTP" sw python3 "$ROOT/selftests/fabric/web.py" \
		127.0.0.1 18789 "$(pidof inc-amd)" \
		"$ROOT/userspace/manager/web/grafana.json" \
		"$ROOT/userspace/manager/web/rdma_inc.rules.yml"
	metrics >"$LAB_OUT/metrics"
	ktap_run "Prometheus" python3 "$ROOT/selftests/fabric/alerts.py" \
		"$LAB_OUT/metrics" \
		"$ROOT/userspace/manager/web/grafana.json" \
		"$ROOT/userspace/manager/web/rdma_inc.rules.yml"
	am_job "the manager still serves jobs" 2 --count 1000
}

suite "ctl agree event task web http" "$@"
