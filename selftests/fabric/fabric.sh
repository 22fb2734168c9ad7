#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The aggregation manager: inc-amd and inc-agentd on the bridge host, and jobs
# that ask the manager for a tree.
#
#   fabric.sh [VAR=VALUE]... [PART...]
#	PART: job die stop reach ssh wrong start twin rpc invented slow many
#	descriptors

# shellcheck disable=SC2319 # "$?" of a condition is what ktap wants
# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
# shellcheck source=selftests/lib/fabric.sh
. "$ROOT/selftests/lib/fabric.sh"

suite_up()
{
	topo_up 4 && agent_up sw && amd_up && clock_up
}

# knows_link ADDRESS: the switch knows host 1 by an address of its link, too.
knows_link()
{
	host 1 ping -qc 1 "$1%eth0" >/dev/null
	host 1 ping -qc 1 "$(topo_ip6 sw)" >/dev/null
	sw ip -6 neigh show dev br0 | grep -q "^fe80:"
}

# Each host has an address of its link beside the global one.
local_hosts()
{
	local at

	at=$(sw ip -6 -o addr show dev br0 scope link |
		sed -n 's/.*inet6 \([^/]*\).*/\1/p')
	# Addresses may be tentative at first.
	wait_for 10 knows_link "$at"
	ktap $? "the switch knows a host's link-local address" \
		"$at: $(sw ip -6 neigh show)"
	# The agent tells of it before the global one, or together with it.
	wait_for 20 eval \
		'ctl topology | grep -q "host $(topo_ip6 1) at sw:v1"' &&
		! ctl topology | grep -q "host fe80:"
	ktap $? "topology: addresses that are not of a link" "$(ctl topology)"
}

part_job()
{
	local_hosts
	am_job "4 ranks over a tree of the manager" 4 --check --count 1000
	gone "RC"
	am_job "the same over UC" 4 --check --count 1000 --transport uc
	gone "UC"
	long_job 4
	local SAYS_BY=(ctl)
	says "group show" 0 "ready, 4 of 4 ranks" group show "$JOB_NAME"
	says "group show -j" 0 '"state":"ready"' -j group show "$JOB_NAME"
	says "how its ranks are connected" 0 \
		"queue pairs: connected by the manager" group show "$JOB_NAME"
	# The agent reads addresses again each 5 s, if nothing else changes.
	wait_for 20 eval \
		'ctl topology | grep -q "host $(topo_ip4 2) at sw:v2"'
	says "topology" 0 "host $(topo_ip4 2) at sw:v2" topology
	says "topology after --" 0 "host $(topo_ip4 2) at sw:v2" -- topology
	says "group del" 0 "" group del "$JOB_NAME"
	others_fail "deleted" -1 operator
	says "group del of none" 2 "there is no group" group del "$JOB_NAME"
	says "no command" 1 --help frobnicate
	gone "deleted"
	# The kernel's own events arrive by NETCONF.
	long_job 4
	sw inc-tool tree del "$(sw inc-tool -j tree show |
		jq '.[0].id')"
	others_fail "deleted on the switch" -1 .
	wait_for 5 no_group
	ktap $? "deleted on the switch: the group is gone" "$(ctl group show)"
}

part_die()
{
	long_job 4
	kill -9 "${JOB_PIDS[2]}"
	others_fail "rank killed" 2 "rank 2"
	gone "rank killed"
	am_job "rank killed: the next job runs" 4 --check --count 1000
}

part_stop()
{
	long_job 4
	amd_down
	ktap $? "the manager ends in order" "$(tail -n 3 "$LAB_OUT/amd.log")"
	others_fail "manager stopped" -1 "being stopped"
	gone "manager stopped"
	amd_up || return
	long_job 4
	kill -9 "$AMD"
	amd_down
	others_fail "manager killed" -1 "aggregation manager"
	# The next one finds the tree, which is nobody's.
	amd_up || return
	gone "manager killed"
	am_job "the next manager serves jobs" 4 --check --count 1000
	amd_down
	JOB_ODD[0]="--join-timeout 3000"
	am_start 1
	job_wait
	ktap $(($? == 0)) "no manager: an error"
	grep -q "aggregation manager at .* refused" "$JOB_LOG.0"
	ktap $? "no manager: it says so" "$(cat "$JOB_LOG.0")"
	JOB_ODD=()
	amd_up
}

part_reach()
{
	am_job "before" 4 --check --count 1000
	agents_down
	# Three have a stream that has lasted when the last one comes: what the manager
	# says of the group is not taken for the manager's loss.
	JOB_LATE=1 am_start 4 --count 1000
	event "$JOB_NAME.*, 3 of 4"
	sleep 1
	am_rank 3 4 --count 1000
	# Its program has to start first.
	others_fail "agent stopped" -1 "switch" 5000
	agent_up sw || return
	wait_for 10 ctl_up
	ktap $? "the manager finds it again" "$(ctl topology)"
	am_job "after" 4 --check --count 1000
}

# Does the manager say this of the switch?
switch_is()
{
	ctl topology | grep "^switch" | grep -qE "$1"
}

# ssh_by_default ADDRESS KEY: without --known-hosts
ssh_by_default()
{
	SAYS_BY=(timeout "$HANGS" inc-amd --store none --http none)
	says "SSH: the agents' keys must be known" 2 "needs --known-hosts" \
		--switch "$1"
	SAYS_BY=(sw)
	amd_up --switch "$1" --ssh-key "$2" --insecure-host-keys
	wait_for 10 switch_is ': up'
	ktap $? "SSH: any key is accepted if that is said" "$(ctl topology)"
	amd_down
}

part_ssh()
{
	local dir=$LAB_OUT/ssh at type

	at=manager@$(topo_ip4 sw):8300
	rm -rf "$dir"
	mkdir -p "$dir"
	for type in host manager stranger; do
		ssh-keygen -q -m PEM -t ecdsa -N '' -f "$dir/$type" || return
	done
	amd_down
	agents_down
	agent_up sw --ssh "$(topo_ip4 sw):8300" --host-key "$dir/host" \
		--user "manager=$dir/manager.pub" || return
	echo "[$(topo_ip4 sw)]:8300 $(cut -d ' ' -f 1,2 "$dir/stranger.pub")" \
		>"$dir/known.stranger"
	sw ssh-keyscan -p 8300 "$(topo_ip4 sw)" >"$dir/known.host" 2>/dev/null
	grep -q "$(cut -d ' ' -f 2 "$dir/host.pub")" "$dir/known.host"
	ktap $? "SSH: ssh-keyscan gets the agent's key" "$(cat "$dir/known.host")"
	ssh_by_default "$at" "$dir/manager"

	amd_up --switch "$at" --ssh-key "$dir/manager" \
		--known-hosts "$dir/known.host"
	wait_for 10 switch_is ': up'
	ktap $? "SSH: the agent answers" "$(ctl topology)"
	am_job "SSH: 4 ranks" 4 --check --count 1000
	gone "SSH"
	amd_down

	amd_up --switch "$at" --ssh-key "$dir/stranger" \
		--known-hosts "$dir/known.host"
	! wait_for 4 switch_is ': up'
	ktap $? "SSH: another's key is refused" "$(ctl topology)"
	amd_down
	amd_up --switch "$at" --ssh-key "$dir/manager" \
		--known-hosts "$dir/known.stranger"
	! wait_for 4 switch_is ': up'
	ktap $? "SSH: an agent with another key is refused" "$(ctl topology)"
	amd_down
	amd_up
}

# no_hint NAME TEXT CMD...: it fails, says that, and nothing of TLS or tokens.
no_hint()
{
	local name=$1 text=$2 out

	shift 2
	out=$("$@" 2>&1)
	[ $? != 0 ] && [[ $out == *"$text"* && $out != *INC_AM_CERTS* ]]
	ktap $? "$name: no hint at certificates" "$out"
}

part_wrong()
{
	local any="--switch /x --store none --listen 127.0.0.1:0" pid

	JOB_ODD[1]="--ranks 3"
	JOB_ODD[0]="--join-timeout $(scaled 2000)"
	am_start 2
	wait "${JOB_PIDS[0]}" "${JOB_PIDS[1]}"
	grep -qh "has . ranks, not ." "$JOB_LOG".*
	ktap $? "ranks that disagree on their number" "$(cat "$JOB_LOG".*)"
	grep -qh "not all . ranks .* came" "$JOB_LOG".*
	ktap $? "the other waits for its time limit" "$(cat "$JOB_LOG".*)"
	JOB_ODD=()
	wait_for 5 no_group
	ktap $? "no group is left" "$(ctl group show)"
	for args in "" "--switch" "--switch /x --listen nowhere:x" \
		    "--switch a:b:c" "--switch /x --heartbeat -1" \
		    "$any --http none --switch /y --switch /x" \
		    "$any --http none --switch a --switch root@A:830" \
		    "$any --http none --switch a:65536" \
		    "$any --http none --tree-ids 1-4294967296" \
		    "$any --http none --listen 127.0.0.1:84326" \
		    "$any --http none --listen 127.0.0.1" \
		    "$any --http none --listen ::1:18790" \
		    "$any --http 127.0.0.1:84325" "$any --advertise x" \
		    "$any --http none --store etcd:127.0.0.1:67915" \
		    "--switch /x y" "--config /nonexistent" "--config /"; do
		# shellcheck disable=SC2086	# words
		timeout "$HANGS" inc-amd $args >"$LAB_OUT/wrong.log" 2>&1
		status=$?
		grep -q "inc-amd" "$LAB_OUT/wrong.log" && ((status < 3))
		ktap $? "inc-amd $args: an error" \
			"status $status, $(cat "$LAB_OUT/wrong.log")"
	done
	SAYS_BY=(timeout "$HANGS" inc-amd --store none --http none
		--listen 127.0.0.1:0)
	for args in relative.sock run/agent ./agent.sock; do
		says "a switch at $args" 2 "begins with /" --switch "$args"
	done
	says "a switch at a host whose name has .sock within" 2 \
		"needs --known-hosts" --switch x.sock.example
	# There is a socket of the name of a host.
	SAYS_BY=(python3 -c 'import os, socket, sys
os.chdir(sys.argv[1])
socket.socket(socket.AF_UNIX).bind("switch1")
os.execvp(sys.argv[2], sys.argv[2:])' "$(mktemp -d)" "${SAYS_BY[@]}")
	says "a switch at a socket in the directory" 2 "begins with /" \
		--switch switch1
	SAYS_BY=(timeout "$HANGS" inc-amd --store none --http none --switch /x
		--insecure-plaintext)
	says "a link-local address without its interface" 1 "fe80::1%eth0" \
		--listen "[fe80::1]:0"
	SAYS_BY=(sw)
	no_hint "nobody listens" "refused" sw inc-amctl -m 127.0.0.1:1 topology
	no_hint "a name that is none" "nowhere.invalid" \
		sw inc-amctl -m nowhere.invalid:1 topology
	# A manager whose switch is not there.
	ip netns exec "$TOPO-sw" inc-amd --switch /x --store none --http none \
		--insecure-plaintext --listen "$(topo_ip4 sw):18799" \
		>"$LAB_OUT/wrong.log" 2>&1 &
	pid=$!
	wait_for 20 grep -q "^listening" "$LAB_OUT/wrong.log"
	no_hint "a rank that is refused" "no switch can serve it" \
		host 0 env INC_AM="$(topo_ip4 sw):18799" \
		inc-perf -J stranger -n 1 -r 0
	kill $pid
	wait $pid
	# 65536 more than the manager's.
	says "INC_AM with a port that is none" 1 "of at most 65535" \
		env INC_AM="$(topo_ip4 sw):84326" inc-perf -J x -n 1 -r 0
	says "inc-amctl: a port that is none" 1 "from 1 to 65535" \
		inc-amctl -m "$(topo_ip4 sw):84326" topology
}

reads_conf()
{
	find "/proc/$AMD/fd" -lname "$LAB_OUT/amd.long" 2>/dev/null | grep -q .
}

# SIGHUP while the manager reads its configuration, which is the first thing that
# it does: so many lines that it takes a while. Then one that is a pipe by now.
early_hup()
{
	local conf=$LAB_OUT/amd.long

	rm -f "$conf"
	{
		printf '%s\n' "switch = $(sock_of sw)" "store = none"
		yes '# The manager reads on.' | head -n 2000000
	} >"$conf"
	ip netns exec "$TOPO-sw" inc-amd --config "$conf" \
		>"$LAB_OUT/amd.log" 2>&1 &
	AMD=$!
	until reads_conf || ! kill -0 "$AMD"; do
		:
	done
	kill -HUP "$AMD"
	rm -f "$conf"
	mkfifo "$conf"
	wait_for 10 grep -q "limits-read .*: nothing is limited" \
		"$LAB_OUT/amd.log"
	ktap $? "SIGHUP before anything else is kept for later" \
		"$(cat "$LAB_OUT/amd.log")"
	grep -q "switches-wrong" "$LAB_OUT/amd.log" &&
		grep -q "amd.long: is not a regular file" "$LAB_OUT/amd.log"
	ktap $? "SIGHUP: a pipe is not waited for" "$(cat "$LAB_OUT/amd.log")"
	wait_for 10 sw inc-amctl topology
	! grep -q " limits-wrong" "$LAB_OUT/amd.log"
	ktap $? "SIGHUP without a file of limits is no error" \
		"$(cat "$LAB_OUT/amd.log")"
	amd_down
}

# There is one ID for all trees, and the switch tells of a tree's end when its ID
# may be another one's already.
one_id()
{
	local first

	AMD_ARGS=(--tree-ids 500-500 --dead-time 3000)
	amd_up
	AMD_ARGS=()
	long_job 2
	first=("${JOB_PIDS[@]}")
	am_start 2 --count 1000
	# Their programs have to start first.
	others_fail "no tree's ID is free" -1 "all IDs of trees from 500 to 500" 5000
	kill -9 "${first[@]}"
	wait "${first[@]}" 2>/dev/null
	wait_for 5 no_group
	am_job "a tree with the ID of one that has just ended" 2 --count 1000 \
		--check -i 50
	amd_down
}

part_start()
{
	local pidfile=$LAB_OUT/amd.pid

	amd_down
	AMD_ARGS=(--pidfile "$pidfile")
	amd_up
	AMD_ARGS=()
	[ "$(cat "$pidfile")" = "$AMD" ]
	ktap $? "--pidfile has the manager's process" "$(cat "$pidfile")"
	SAYS_BY=(sw timeout "$HANGS" inc-amd --switch /x --store none
		--pidfile "$pidfile")
	says "a second manager at its address" 1 "is another manager running" \
		--insecure-plaintext --http none \
		--listen "$(topo_ip4 sw):18790"
	says "a second page at its address" 1 "Address already in use" \
		--listen 127.0.0.1:0
	says "a second one with its --pidfile" 1 "another process that runs has it" \
		--insecure-plaintext --http none --listen 127.0.0.1:0
	echo precious >"$LAB_OUT/precious"
	SAYS_BY=(sw timeout "$HANGS" inc-amd --switch /x --store none
		--insecure-plaintext --http none)
	says "one with a --pidfile that is none" 1 "something else than a process" \
		--pidfile "$LAB_OUT/precious" --listen 127.0.0.1:0
	grep -qx precious "$LAB_OUT/precious"
	ktap $? "and that stays as it is" "$(cat "$LAB_OUT/precious")"
	printf '\0' >"$LAB_OUT/zero"
	says "one whose --pidfile has a zero" 1 "something else than a process" \
		--pidfile "$LAB_OUT/zero" --listen 127.0.0.1:0
	says "one that listens at a file" 1 "something else of this name" \
		--listen "unix:$LAB_OUT/precious"
	SAYS_BY=(sw)
	[ "$(cat "$pidfile")" = "$AMD" ]
	ktap $? "all leave its --pidfile alone" "$(cat "$pidfile")"
	amd_down
	[ ! -e "$pidfile" ]
	ktap $? "--pidfile goes with the manager"
	rm -f "$LAB_OUT/notify" "$LAB_OUT/notified"
	python3 "$ROOT/selftests/fabric/notified.py" /tmp/notify-$$ \
		>"$LAB_OUT/notified" &
	wait_for 10 test -S /tmp/notify-$$
	NOTIFY_SOCKET=/tmp/notify-$$ amd_up
	wait_for 10 grep -q "^READY=1" "$LAB_OUT/notified"
	ktap $? "systemd is told that it is ready" "$(cat "$LAB_OUT/notified")"
	amd_down
	wait_for 10 grep -q "^STOPPING=1" "$LAB_OUT/notified"
	ktap $? "systemd is told that it ends" "$(cat "$LAB_OUT/notified")"
	grep -q "^Type=notify" \
		"$ROOT/userspace/manager/systemd/inc-amd.service.in"
	ktap $? "the unit waits for that"
	early_hup
	one_id
	amd_up --switch /nowhere --switch /nowhere/else
	am_start 2 --count 1000
	others_fail "no switch answers" -1 "2 of 2 switches do not answer" 20000
	amd_down
	amd_up
}

tree_gone()
{
	! sw inc-tool tree show | grep -q "^tree $1 "
}

no_event()
{
	! grep -q "$1" "$LAB_OUT/amd.log"
}

# connect N: begin so many connections, of four hosts, one of which may not have all,
# and say nothing for three seconds.
connect()
{
	sw python3 - "$(topo_ip4 sw)" "$1" <<-'END'
	import resource, socket, sys, time
	hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
	resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
	socks = [socket.socket() for _ in range(int(sys.argv[2]))]
	for i, sock in enumerate(socks):
	    sock.bind((f"127.0.0.{i % 4 + 1}", 0))
	    sock.setblocking(False)
	    sock.connect_ex((sys.argv[1], 18790))
	time.sleep(3)
	END
}

# More connections than the manager has descriptors for.
part_descriptors()
{
	local hard open

	hard=$(ulimit -Hn)
	amd_down
	ulimit -n 1024
	amd_up
	ulimit -n "$hard"
	wait_for 10 ctl_up
	connect 3000
	ktap $? "3,000 connections to a manager with 1,024 descriptors"
	open=$(find "/proc/$AMD/fd" -mindepth 1 | wc -l)
	[ "$open" -lt 1000 ]
	ktap $? "hosts with most give way before there are none" "$open open"
	! grep -q "Too many open files" "$LAB_OUT/amd.log"
	ktap $? "there were descriptors left" "$(cat "$LAB_OUT/amd.log")"
	wait_for 20 ctl_up
	ktap $? "it accepts others again" "$(tail -n 5 "$LAB_OUT/amd.log")"
	am_job "a job after many connections" 4 --check --count 1000
	amd_down
	amd_up && wait_for 10 ctl_up
}

# trial ARGS...: another manager of this switch, for a while.
trial()
{
	local pid

	rm -f "$LAB_OUT/trial.log"
	ip netns exec "$TOPO-sw" inc-amd -v --switch "$(sock_of sw)" "$@" \
		--http none --listen 127.0.0.1:0 >"$LAB_OUT/trial.log" 2>&1 &
	pid=$!
	wait_for 20 grep -q "switch-up sw" "$LAB_OUT/trial.log"
	# It looks at the switches, and knows what is no group's.
	sleep 3
	all_present && no_event "group-ended $JOB_NAME"
	ktap $? "another manager, $1 ${2%%:*}, leaves the job alone" \
		"$(tail -n 5 "$LAB_OUT/amd.log" "$LAB_OUT/trial.log")"
	kill $pid
	wait $pid
}

# One switch by two addresses; two agents without names of their own are the same
# to the manager.
part_twin()
{
	local sock

	sock=$(sock_of twin)
	rm -f "$sock"
	ip netns exec "$TOPO-sw" inc-agentd -u "$sock" -i sw \
		-y "$ROOT/userspace/agent/yang" >"$LAB_OUT/twin.log" 2>&1 &
	AGENT[twin]=$!
	wait_for 20 test -S "$sock"
	amd_down
	amd_up --switch "$(sock_of sw)" --switch "$sock" --agent-interval 500
	wait_for 10 switch_is 'it calls itself sw, as the one at'
	ktap $? "two switches of one name: the second is down" "$(ctl topology)"
	switch_is 'switch sw at .*: up'
	ktap $? "two switches of one name: the first is up" "$(ctl topology)"
	long_job 4
	# Each is asked some times more.
	sleep 2
	all_present
	ktap $? "two switches of one name: a job keeps its tree" \
		"$(tail -n 5 "$LAB_OUT/amd.log")"
	# Other managers of this switch.
	sw inc-tool tree add id 1000 ranks 1
	ktap "$(tree_gone 1000; echo $((! $?)))" "a tree of nobody's"
	trial --store none
	trial --store "sqlite:$(mktemp -d)/store"
	tree_gone 1000
	ktap $((! $?)) "which leave a tree with another ID alone"
	trial --store none --tree-ids 1-1000000
	tree_gone 1000
	ktap $? "another manager deletes trees with its own IDs" \
		"$(cat "$LAB_OUT/trial.log")"
	ctl group del "$JOB_NAME"
	others_fail "two switches of one name" -1 operator
	# A name that is free again is the second one's.
	kill "${AGENT[sw]}"
	wait "${AGENT[sw]}"
	ip netns exec "$TOPO-sw" inc-agentd -u "$(sock_of sw)" -i other \
		-y "$ROOT/userspace/agent/yang" >"$LAB_OUT/twin.log" 2>&1 &
	AGENT[sw]=$!
	wait_for 20 switch_is 'switch sw at .*twin: up'
	ktap $? "the first has another name: the second is up" \
		"$(ctl topology)"
	amd_down
	agents_down
	agent_up sw && amd_up
}

# beats KIND WORD: what libinc's heartbeats are to a manager of that kind.
beats()
{
	local at pid rank

	at=$(topo_ip4 sw):18799
	# Not functions: the PIDs have to be the programs'.
	ip netns exec "$TOPO-sw" python3 \
		"$ROOT/selftests/fabric/cm_peer.py" manager "$at" "$1" \
		>"$LAB_OUT/beats.$1" 2>&1 &
	pid=$!
	wait_for 30 grep -q listening "$LAB_OUT/beats.$1"
	INC_AM=$at ip netns exec "$TOPO-h0" inc-perf -J x -n 1 -r 0 \
		>/dev/null 2>&1 &
	rank=$!
	wait_for 20 grep -qx "$2" "$LAB_OUT/beats.$1"
	ktap $? "heartbeats to a manager: $1" "$(cat "$LAB_OUT/beats.$1")"
	kill "$rank" "$pid"
	wait "$rank" "$pid" 2>/dev/null
}

part_rpc()
{
	beats old heartbeat
	beats brief None
	# All that the switch knows of a host is what the host has sent.
	host 0 ping -qc 1 "$(topo_ip4 sw)" >/dev/null
	wait_for 20 eval \
		'ctl topology | grep -q "host $(topo_ip4 0) at sw:v0"'
	sw inc-tool switch set max-slots 2048
	ktap_run "gRPC" host 0 python3 "$ROOT/selftests/fabric/rpc.py" \
		"$(topo_ip4 sw):18790" "$(topo_ip4 0)"
	sw inc-tool switch set max-slots 0
	gone "rpc"
}

seen()
{
	ctl event show | grep -c "host-seen"
}

# Who sends enough packets that come from nobody would have all events.
part_invented()
{
	local before i from=$SECONDS

	before=$(seen)
	for ((i = 0; i < 600; i++)); do
		echo "neigh replace 10.47.$((100 + i / 200)).$((1 + i % 200)) lladdr 02:00:00:00:$(printf %02x:%02x $((i / 200)) $((i % 200))) dev v0 nud reachable"
	done >"$LAB_OUT/neigh"
	sw ip -batch "$LAB_OUT/neigh"
	wait_for 10 invented
	ktap $? "hosts that were invented are found" "$(ctl event show | tail)"
	((i = $(seen) - before))
	# One more each second.
	ktap "$((i > 80 + SECONDS - from))" "few of them are told one by one" "$i events"
	sw ip neigh flush dev v0
}

invented()
{
	ctl event show | grep -q "host-seen.*more that are new"
}

connected()
{
	host "$1" ss -Htn state established dport = :18790 | grep -q .
}

# A rank that is connected, and of which no more comes, until the manager has had
# enough.
part_slow()
{
	host 3 tc qdisc add dev eth0 clsact
	host 3 tc filter add dev eth0 egress protocol ip flower \
		ip_proto tcp tcp_flags 0x8/0x8 action drop
	JOB_LATE=1
	am_start 4 --check --count 1000
	am_rank 3 4 --check --count 1000
	wait_for 10 connected 3
	kill -STOP "${JOB_PIDS[3]}"
	sleep 14
	ktap "$(connected 3; echo $((! $?)))" "the manager does not wait for a rank that says nothing"
	host 3 tc qdisc del dev eth0 clsact
	kill -CONT "${JOB_PIDS[3]}"
	unset JOB_LATE
	job_wait
	ktap $? "the rank joins nevertheless" "$(job_why)"
	gone "slow"
}

# From the last rank's request to the moment when all may begin. 16 ranks are 16
# processes on a machine that may have other work: up to six attempts.
part_many()
{
	local ms least=9999 limit

	limit=$(scaled 200)
	for _ in 1 2 3 4 5 6; do
		[ "$least" -gt "$limit" ] || break
		am_job "16 ranks" 16 --check --count 1000
		ms=$(ready_ms 16)
		echo "# 16 ranks: ready $ms ms after the last came"
		[ "${ms:-9999}" -ge "$least" ] || least=$ms
	done
	[ "$least" -le "$limit" ]
	ktap $? "16 ranks: ready within 200 ms" "$least ms"
}

suite "job die stop reach ssh wrong start twin rpc invented slow many descriptors" "$@"
