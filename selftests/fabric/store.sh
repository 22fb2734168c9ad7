#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What survives the manager: it is killed and started again while jobs run.
#
#   store.sh [VAR=VALUE]... [PART...]
#	PART: restart full gone forming connect away idle rebuild second standby
#	      hung blocked

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
# shellcheck source=selftests/lib/fabric.sh
. "$ROOT/selftests/lib/fabric.sh"

DB=/tmp/store-$$.db
AMD_STORE=sqlite:$DB

suite_up()
{
	rm -f "$DB"*
	topo_up 4 && agent_up sw && amd_up && clock_up && wait_for 30 leads
}

# The job's ranks run for ten seconds and more, each result checked. They leave
# CPU to the manager that is being started meanwhile.
checked_job()
{
	am_start 4 --check --count 1000 -i 2000 --pause 5000 "$@"
	wait_for 20 busy_or_dead
}

leads()
{
	ctl topology >/dev/null 2>&1
}

# has_ended NAME: the job has, without an error.
has_ended()
{
	job_wait
	ktap $? "$1" "$(job_why)"
}

at_most()
{
	[ "$1" -le "$2" ]
}

part_restart()
{
	local ms transport

	says "a reservation" 0 "" inc-amctl -m "$(topo_ip4 sw)" \
		reservation add kept ranks 5 groups 2 for 600
	for transport in rc uc; do
		INC_AM_RESERVATION=kept checked_job --transport "$transport"
		# What else the machine does may only make it look slower.
		for _ in 1 2 3; do
			kill_amd
			amd_up || return
			wait_for 10 leads
			# Without the time that the program takes to be loaded.
			ms=$(sed -n 's/.*leads, \([0-9]*\) ms after.*/\1/p' \
				"$LAB_OUT/amd.log")
			at_most "${ms:-9999}" "$(scaled 2000)" && break
		done
		at_most "${ms:-9999}" "$(scaled 2000)"
		ktap $? "$transport: the next manager leads within 2 s" "$ms ms"
		echo "# $transport: the next manager leads after $ms ms"
		wait_for 5 all_present
		ktap $? "$transport: it has the group, with all ranks" \
			"$(ctl group show) $(tail -n 5 "$LAB_OUT/amd.log")"
		says "$transport: its reservation is there, too" 0 \
			"kept: 1 of 2 groups, 4 of 5 ranks" \
			inc-amctl -m "$(topo_ip4 sw)" reservation
		has_ended "$transport: killed manager: no rank sees an error"
		gone "$transport: killed manager"
	done
	checked_job
	amd_down
	ktap $? "it ends in order" "$(tail -n 3 "$LAB_OUT/amd.log")"
	amd_up || return
	has_ended "stopped manager: no rank sees an error"
	gone "stopped manager"
}

# A group that becomes ready while the disk is full is stored when it is not.
part_full()
{
	local dir=/tmp/full-$$

	amd_down
	AMD_STORE=sqlite:$dir/db
	mkdir -p "$dir" && mount -t tmpfs -o size=256k none "$dir" &&
		amd_up || return
	wait_for 10 leads
	dd if=/dev/zero of="$dir/fill" bs=4k 2>/dev/null
	checked_job
	event "store-failed $JOB_NAME: it is not stored, and tried again"
	ktap $? "full disk: an event tells it" "$(cat "$LAB_OUT/amd.log")"
	rm "$dir/fill"
	event "all that could not be written before is written now"
	ktap $? "room again: it is stored" "$(cat "$LAB_OUT/amd.log")"
	kill_amd
	amd_up || return
	wait_for 10 leads
	wait_for 5 all_present
	ktap $? "the next manager has the group" \
		"$(ctl group show) $(tail -n 5 "$LAB_OUT/amd.log")"
	has_ended "full disk: no rank sees an error"
	gone "full disk"
	amd_down
	umount "$dir"
	AMD_STORE=sqlite:$DB
	amd_up
}

# The file is moved away while the manager runs, and back. What is to be stored
# meanwhile is, then.
part_gone()
{
	local gone="was removed or replaced"

	mv "$DB" "$DB.aside"
	event "store-failed sqlite:$DB: .*$gone"
	ktap $? "the file is gone: an event tells it" \
		"$(cat "$LAB_OUT/amd.log")"
	says "a reservation is not stored: its user is told" 2 \
		"it is done, but not stored: " inc-amctl -m "$(topo_ip4 sw)" \
		reservation add gone ranks 2
	says "so is who drains a switch" 2 "it is done, but not stored: " \
		inc-amctl -m "$(topo_ip4 sw)" switch sw drain
	says "and who resumes it" 2 "it is done, but not stored: " \
		inc-amctl -m "$(topo_ip4 sw)" switch sw resume
	says "the reservation holds" 0 "gone: 0 of 1 groups" \
		inc-amctl -m "$(topo_ip4 sw)" reservation
	event "store-failed gone: .* tried again: .*$gone"
	ktap $? "but is not stored: an event names it" \
		"$(cat "$LAB_OUT/amd.log")"
	mv "$DB.aside" "$DB"
	event "all that could not be written before is written now"
	ktap $? "it is there again: it is stored" "$(cat "$LAB_OUT/amd.log")"
	kill_amd
	amd_up || return
	wait_for 10 leads
	says "the next manager has it" 0 "gone: 0 of 1 groups" \
		inc-amctl -m "$(topo_ip4 sw)" reservation
	says "it is deleted" 0 "" inc-amctl -m "$(topo_ip4 sw)" \
		reservation del gone
}

waits_for()
{
	ctl group show "$JOB_NAME" | grep -q "forming, $1 of 4"
}

# A group whose ranks have not all come has no tree, and no record: they come
# again.
part_forming()
{
	JOB_LATE=1
	am_start 4 --check --count 1000
	wait_for 10 waits_for 3
	# A stream that ends at once was refused.
	sleep 1
	kill_amd
	sleep 1
	amd_up || return
	wait_for 10 waits_for 3
	ktap $? "killed while a group forms: its ranks come to the next one" \
		"$(ctl group show; job_why)"
	am_rank 3 4 --check --count 1000
	unset JOB_LATE
	has_ended "and it is formed"
	gone "killed while a group forms"
}

# The tree exists, and one rank's queue pair is not ready.
part_connect()
{
	local how transport

	for transport in rc uc; do
		for how in stopped deaf; do
			killed_unready "$how" "$transport, one rank $how" \
				--transport "$transport" || return
			gone "$transport, one rank $how"
		done
	done
}

# The ID of the last job's tree: another one's may be there yet.
job_tree()
{
	ctl group show "$JOB_NAME" | sed -n 's/^  switch sw, tree \([0-9]*\).*/\1/p'
}

has_failed()
{
	sw inc-tool tree show | grep -q "^tree $1 .*state failed"
}

# A tree has failed, and the next one cannot be made before the manager dies: a
# rank does not answer, or the switch's agent.
part_rebuild()
{
	local who pid

	export INC_AM_ON_FAILURE=rebuild
	for who in rank agent; do
		checked_job --transport "$([ $who = rank ] && echo rc || echo uc)"
		pid=${JOB_PIDS[2]}
		[ $who = rank ] || pid=${AGENT[sw]}
		kill -STOP "$pid"
		sw inc-tool tree del "$(job_tree)"
		rejoined "$who stopped" \
			"$([ $who = rank ] && echo 3 || echo 4)"
		kill_amd
		amd_up
		wait_for 10 event "group-restored $JOB_NAME"
		kill -CONT "$pid"
		has_ended "$who stopped: no rank sees an error"
		event "group-rebuilt $JOB_NAME"
		ktap $? "$who stopped: the next manager has made it" \
			"$(cat "$LAB_OUT/amd.log")"
		gone "$who stopped"
	done
	unset INC_AM_ON_FAILURE
}

# What happened while there was no manager.
part_away()
{
	local id tree

	checked_job
	kill_amd
	kill -9 "${JOB_PIDS[2]}"
	amd_up || return
	others_fail "a rank died" 2 . 17000
	# It is not awaited: its tree has failed. An agent is asked every five seconds.
	wait_for 10 no_tree
	ktap $? "a rank died: the tree is gone" \
		"$(sw inc-tool tree show; cat "$LAB_OUT/amd.log")"
	checked_job
	tree=$(job_tree)
	kill_amd
	# The others wait for it, so the switch notices.
	kill -9 "${JOB_PIDS[2]}"
	wait_for 10 has_failed "$tree"
	kill -9 "${JOB_PIDS[@]}" 2>/dev/null
	wait "${JOB_PIDS[@]}"
	amd_up || return
	wait_for 10 no_tree
	ktap $? "all ranks died: the tree is gone" \
		"$(sw inc-tool tree show; cat "$LAB_OUT/amd.log")"
	checked_job
	tree=$(job_tree)
	id=$(sed -n 's/.*trees have IDs \([0-9]*\)-.*/\1/p' "$LAB_OUT/amd.log")
	kill_amd
	sw inc-tool tree del "$tree"
	sw inc-tool tree add id "$id" ranks 1
	amd_up || return
	others_fail "the tree was deleted" -1 . 5000
	gone "a tree that is no group's is deleted"
	# A rank may have learnt it before it came back: it is awaited.
	wait_for 17 no_group
	ktap $? "no group is left" "$(ctl group show)"
}

# All ranks died while there was no manager, and no message was on its way, so
# the switch does not know. The last manager has ended, so nobody takes it for
# alive, and ranks come at once or not at all.
part_idle()
{
	am_start 4 --count 1000 -i 2 --pause 60000000
	wait_for 20 all_present
	ktap $? "an idle job" "$(job_why)"
	sleep 1
	kill_amd
	kill -9 "${JOB_PIDS[@]}"
	wait "${JOB_PIDS[@]}" 2>/dev/null
	amd_up || return
	wait_for 10 event "group-restored $JOB_NAME"
	wait_for 20 no_tree
	ktap $? "all died while it was idle: the tree is gone within 20 s" \
		"$(sw inc-tool tree show; cat "$LAB_OUT/amd.log")"
}

# leads_with FILE: a manager of its own has this store until it leads; the log is
# $LAB_OUT/second.log.
leads_with()
{
	local pid

	: >"$LAB_OUT/second.log"
	inc-amd --switch /x --listen 127.0.0.1:0 --http none \
		--store "sqlite:$1" >"$LAB_OUT/second.log" 2>&1 &
	pid=$!
	wait_for 20 grep -q " leader " "$LAB_OUT/second.log"
	kill $pid
	wait $pid
}

part_second()
{
	local log=$LAB_OUT/second.log rc pid port

	timeout "$HANGS" inc-amd --switch /x --listen 127.0.0.1:0 \
		--store "sqlite:$DB" >"$log" 2>&1
	rc=$?
	[ $rc = 1 ] && grep -q "another manager uses it: process" "$log" &&
		grep -q "$(topo_ip4 sw)" "$log"
	ktap $? "a second manager is refused, and told who is there" \
		"status $rc, $(cat "$log")"
	ln -s "$DB" "$DB.link"
	timeout "$HANGS" inc-amd --switch /x --listen 127.0.0.1:0 \
		--store "sqlite:$DB.link" >"$log" 2>&1
	rc=$?
	rm -f "$DB.link"
	[ $rc = 1 ] && grep -q "another manager uses it: process" "$log"
	ktap $? "by a symbolic link, too" "status $rc, $(cat "$log")"
	ip netns exec "$TOPO-sw" inc-amd --switch "$(sock_of sw)" --http none \
		--listen 127.0.0.1:0 --store "sqlite:$DB.any" >"$log" 2>&1 &
	pid=$!
	wait_for 20 grep -q " leader " "$log"
	port=$(sed -n 's/^listening on 127.0.0.1:\([1-9][0-9]*\)$/\1/p' "$log")
	[ "$port" ] && grep -q " leader 127.0.0.1:$port:" "$log" &&
		grep -q "listens at 127.0.0.1:$port$" "$DB.any.lock" &&
		sw inc-amctl -m "127.0.0.1:$port" topology >>"$log" 2>&1
	ktap $? "at any port: its events and others have the real one" \
		"$(cat "$log" "$DB.any.lock")"
	kill $pid
	wait $pid
	rm -f "$DB.any"*
	# One with all that it has, which is to leave this fabric alone.
	cp "$DB" "$DB.copy" && cp "$DB-wal" "$DB.copy-wal"
	leads_with "$DB.copy"
	grep -q "store: $DB.copy was used by a manager elsewhere" "$log"
	ktap $? "a copy of a manager's file is told" "$(cat "$log")"
	leads_with "$DB.copy"
	grep -q "listening" "$log" && ! grep -q "elsewhere" "$log"
	ktap $? "once: then it is its own" "$(cat "$log")"
	rm -f "$DB.copy"*
	timeout "$HANGS" inc-amd --switch /x --listen 127.0.0.1:0 \
		--store frobnicate >"$log" 2>&1
	rc=$?
	[ $rc = 2 ] && grep -q "sqlite:/FILE" "$log"
	ktap $? "a store that is none" "status $rc, $(cat "$log")"
}

# amd2_start PORT ARGS...: one of several managers.
amd2_start()
{
	local port=$1

	shift
	# Not the last one's.
	: >"$LAB_OUT/amd-$port.log"
	ip netns exec "$TOPO-sw" inc-amd -v --http none \
		--listen "$(topo_ip4 sw):$port" --switch "$(sock_of sw)" \
		--insecure-plaintext --dead-time "$(scaled 700)" \
		--store "etcd:$(topo_ip4 sw):2379" "$@" \
		>"$LAB_OUT/amd-$port.log" 2>&1 &
}

# amd2_up PORT TEXT: it says that.
amd2_up()
{
	amd2_start "$1" "${ETCD_TLS[@]}"
	wait_for 20 grep -q "$2" "$LAB_OUT/amd-$1.log"
	ktap $? "manager at $1: $2" "$(cat "$LAB_OUT/amd-$1.log")"
}

# amd2_fails NAME TEXT ARGS...: it says that, and does not lead.
amd2_fails()
{
	local name=$1 text=$2 log=$LAB_OUT/amd-18791.log

	shift 2
	amd2_start 18791 "$@"
	wait_for 10 grep -qE "$text" "$log" && ! grep -q "leads" "$log"
	ktap $? "$name" "$(cat "$log")"
	kill $! 2>/dev/null
	wait $!
}

etcd_ca()
{
	"$ROOT/userspace/manager/ca/inc-am-ca" -d "$LAB_OUT/etcd-ca$1" "${@:2}"
}

# etcd, at an address that others reach: clients need certificates.
etcd_up()
{
	local ca=$LAB_OUT/etcd-ca url

	url=https://$(topo_ip4 sw):2379
	rm -rf "/tmp/etcd-$$" "$ca" "$ca-other"
	etcd_ca "" init && etcd_ca "" manager etcd "$(topo_ip4 sw)" &&
		etcd_ca "" manager amd "$(topo_ip4 sw)" &&
		etcd_ca -other init && etcd_ca -other manager amd 192.0.2.1 ||
		return
	ETCD_TLS=(--etcd-ca "$ca/ca.pem" --etcd-cert "$ca/amd/cert.pem"
		--etcd-key "$ca/amd/key.pem")
	ip netns exec "$TOPO-sw" etcd --data-dir "/tmp/etcd-$$" \
		--listen-client-urls "$url" --advertise-client-urls "$url" \
		--cert-file "$ca/etcd/cert.pem" --key-file "$ca/etcd/key.pem" \
		--trusted-ca-file "$ca/ca.pem" --client-cert-auth \
		--log-level error >"$LAB_OUT/etcd.log" 2>&1 &
	ETCD=$!
}

# Who may reach etcd, and whom the manager takes for it.
etcd_strangers()
{
	local ca=$LAB_OUT/etcd-ca server

	server=$(topo_ip4 sw):2379

	amd2_fails "etcd beyond loopback without TLS" \
		"beyond loopback needs --etcd-ca"
	amd2_fails "a certificate for etcd without its authority" \
		"need each other" --etcd-cert "$ca/amd/cert.pem"
	amd2_fails "etcd's certificate is not there" "No such file" \
		--etcd-ca "$ca/none"
	amd2_fails "etcd, told that it needs no TLS" \
		"etcd: $server: it has ended the connection; .*--etcd-ca" \
		--etcd-insecure-plaintext
	amd2_fails "etcd without a certificate" \
		"etcd: $server: TLS: etcd refuses this client, which shows no certificate \(--etcd-cert" \
		--etcd-ca "$ca/ca.pem"
	amd2_fails "etcd with another authority's certificate" \
		"etcd: $server: TLS: etcd refuses the certificate $ca-other/amd/cert.pem \(--etcd-cert" \
		--etcd-ca "$ca/ca.pem" --etcd-cert "$ca-other/amd/cert.pem" \
		--etcd-key "$ca-other/amd/key.pem"
	amd2_fails "etcd is another's" \
		"etcd: $server: TLS: the certificate of etcd is not of the authority in $ca-other/ca.pem" \
		--etcd-ca "$ca-other/ca.pem" --etcd-cert "$ca/amd/cert.pem" \
		--etcd-key "$ca/amd/key.pem"
	! grep -qE "last error|^[EIW][0-9]{4} " "$LAB_OUT/amd-18791.log"
	ktap $? "etcd: nothing of a library's" "$(cat "$LAB_OUT/amd-18791.log")"
}

# answered TEXT LIST ARGS...: inc-amctl gets an answer from one of the managers. A
# leader that finds etcd slow gives up the lead, and takes it again.
answered()
{
	# Some of them end only when nobody reads.
	SAID=$(sw env INC_AM="$2" timeout 20 inc-amctl "${@:3}" 2>&1 |
		sed "/$1/q")
	grep -q "$1" <<<"$SAID"
}

# health PORT: what it answers to gRPC's own question. As rpcbase.py says, the
# interpreter may not end by itself.
health()
{
	sw python3 -c 'import grpc, os, sys
check = grpc.insecure_channel(sys.argv[1]).unary_unary(
    "/grpc.health.v1.Health/Check")
print({b"\x08\x01": "serving", b"\x08\x02": "not serving"}[check(b"")], flush=True)
os._exit(0)' \
		"$(topo_ip4 sw):$1" 2>&1
}

# watch_health PORT: as it changes, in $LAB_OUT/health; its PID in WATCHER.
watch_health()
{
	ip netns exec "$TOPO-sw" python3 -uc 'import grpc, sys
watch = grpc.insecure_channel(sys.argv[1]).unary_stream(
    "/grpc.health.v1.Health/Watch")
for told in watch(b""):
    print({b"\x08\x01": "serving", b"\x08\x02": "not serving"}[told])' \
		"$(topo_ip4 sw):$1" >"$LAB_OUT/health" 2>&1 &
	WATCHER=$!
}

# asked_of IP LEADER OTHER: inc-amctl finds the leader, whoever is asked first.
asked_of()
{
	local addr=$1:$2 other=$1:$3 list out

	# There is no such host, and nobody at the port.
	for list in "$addr,$other" "$other,$addr" \
		"${1%.*}.250,,$1:18796,$addr"; do
		wait_for 20 answered "^switch sw at" "$list" topology
		ktap $? "inc-amctl: $2 leads, asked: $list" "$SAID"
	done
	wait_for 20 answered "^switch sw: up" "$other,$addr" \
		task --switches --follow
	ktap $? "inc-amctl --follow: $2 leads" "$SAID"
	says "inc-amctl: none of these" 2 "manager $1:18796: the connection is refused" \
		inc-amctl -m "$1:18796,$1:18797" topology
	says "inc-amctl: an empty list" 1 "must be a manager's address" \
		inc-amctl -m , topology
	kill -0 "$first" || return 0
	wait_for 20 answered "^switch sw at" "$other" topology
	ktap $? "inc-amctl: the standby names the leader" "$SAID"
	out="$(health "$2"), $(health "$3")"
	[ "$out" = "serving, not serving" ]
	ktap $? "health: the leader serves, the standby does not" "$out"
}

# black_hole ADDR: what hosts send to it is lost.
black_hole()
{
	local h

	for h in 0 1 2 3; do
		ip -n "$TOPO-h$h" neigh replace "$1" lladdr 02:00:00:00:00:77 \
			dev eth0 nud permanent
	done
}

# none_of HOLE: a rank that reaches no manager is told of each.
none_of()
{
	local AM_FIRST=unix:/none,$1, AM_OTHERS=:18796 port=18790

	am_start 1 --count 10 --join-timeout "$(scaled 4000)"
	! job_wait &&
		grep -qF "at $1, port $port: the host does not answer" "$JOB_LOG.0" &&
		grep -qF "port 18796: the connection is refused" "$JOB_LOG.0" &&
		grep -qF '"unix:/none": only TCP shows inc-amd' "$JOB_LOG.0"
	ktap $? "a rank is told why, of each manager" "$(cat "$JOB_LOG.0")"
}

part_standby()
{
	local first second hole
	local AM_FIRST AM_OTHERS

	hole=$(topo_ip4 sw)
	hole=${hole%.*}.77
	black_hole "$hole"
	none_of "$hole"
	AM_FIRST=$hole,
	AM_OTHERS=,$hole:18793,$(topo_ip4 sw):18792
	amd_down
	etcd_up || return
	etcd_strangers
	amd2_up 18790 "this manager leads"
	first=$!
	amd2_up 18792 "listening"
	second=$!
	wait_for 10 grep -q "standby.*stands by for $(topo_ip4 sw):18790" \
		"$LAB_OUT/amd-18792.log"
	ktap $? "the standby says for whom" "$(cat "$LAB_OUT/amd-18792.log")"
	asked_of "$(topo_ip4 sw)" 18790 18792
	watch_health 18792
	wait_for 20 grep -q serving "$LAB_OUT/health"
	checked_job
	kill -9 "$first"
	wait_for 10 grep -q "this manager leads" "$LAB_OUT/amd-18792.log"
	ktap $? "killed leader: the standby leads" \
		"$(cat "$LAB_OUT/amd-18792.log")"
	wait_for 5 grep -qx serving "$LAB_OUT/health"
	[ "$(tr '\n' , <"$LAB_OUT/health")" = "not serving,serving," ]
	ktap $? "health: who watches the standby is told" \
		"$(cat "$LAB_OUT/health")"
	kill "$WATCHER"
	wait "$WATCHER" 2>/dev/null
	asked_of "$(topo_ip4 sw)" 18792 18790
	has_ended "killed leader: no rank sees an error"
	wait_for 15 no_tree
	ktap $? "killed leader: the tree is gone" "$(sw inc-tool tree show)"
	kill "$second" "$ETCD"
	wait "$second" "$ETCD"
	amd_up
}

# A tenant's records that wait for a slow store are few: others' come after them.
part_flood()
{
	local out manager

	amd_down
	etcd_up || return
	amd2_up 18790 "this manager leads"
	manager=$!
	out=$(sw python3 -c 'import collections, grpc, os, signal, sys, time
channel = grpc.insecure_channel(sys.argv[1])
add = channel.unary_unary("/rdma_inc.v1.Manager/AddReservation")
add(b"\x0a\x05first\x20\x02")
os.kill(int(sys.argv[2]), signal.SIGSTOP)
asked = [add.future(b"\x0a\x04r%03d\x20\x02" % n) for n in range(100)]
time.sleep(0.3)
os.kill(int(sys.argv[2]), signal.SIGCONT)
codes = collections.Counter(a.code().name for a in asked)
print(*(f"{n} {code}" for code, n in sorted(codes.items())), flush=True)
os._exit(0)' "$(topo_ip4 sw):18790" "$ETCD" 2>&1)
	# Some may have been on their way for too long.
	[[ $out =~ ([0-9]+)\ RESOURCE_EXHAUSTED ]] && ((BASH_REMATCH[1] >= 30))
	ktap $? "flood: a tenant has 64 records written at a time" "$out"
	kill "$manager" "$ETCD"
	wait "$manager" "$ETCD"
	amd_up
}

# lead_news PORT: what a manager says of its lead, a line each time.
lead_news()
{
	grep -oE "this manager (leads|does not lead)" "$LAB_OUT/amd-$1.log"
}

# leader_is PORT: the last that it says is that it leads.
leader_is()
{
	lead_news "$1" | tail -n 1 | grep -q "leads"
}

# said_more PORT TEXT N: it says that, and has more than N times.
said_more()
{
	[ "$(lead_news "$1" | grep -c "$2")" -gt "$3" ]
}

# resumed PORT: all four ranks have come since it last took the lead.
resumed()
{
	[ "$(tac "$LAB_OUT/amd-$1.log" | sed "/this manager leads/q" |
		grep -c ": connected")" -ge 4 ]
}

# A leader that hangs keeps its connections. When it comes back, it must not act.
# Where etcd is slow, the lead has changed meanwhile: who has it is looked at.
part_hung()
{
	local pids=() old=18790 new=18792 led lost
	local AM_OTHERS

	AM_OTHERS=,$(topo_ip4 sw):18792
	amd_down
	etcd_up || return
	amd2_up 18790 "this manager leads"
	pids[18790]=$!
	amd2_up 18792 "listening"
	pids[18792]=$!
	am_start 4 --check --count 1000 -i 600 --pause 50000 --transport uc
	wait_for 20 busy_or_dead
	until leader_is $old || ! kill -0 "${JOB_PIDS[0]}"; do
		read -r old new <<<"$new $old"
	done
	led=$(lead_news $new | grep -c "leads")
	lost=$(lead_news $old | grep -c "does not")
	kill -STOP "${pids[old]}"
	wait_for 10 said_more $new "leads" "$led"
	ktap $? "hung leader: the standby leads" \
		"$(cat "$LAB_OUT/amd-$new.log")"
	wait_for 20 resumed $new
	ktap $? "hung leader: all ranks come to it" \
		"$(cat "$LAB_OUT/amd-$new.log")"
	kill -CONT "${pids[old]}"
	wait_for 10 said_more $old "does not" "$lost"
	ktap $? "hung leader: it does not lead when it goes on" \
		"$(cat "$LAB_OUT/amd-$old.log")"
	kill -0 "${JOB_PIDS[0]}"
	ktap $? "hung leader: the job runs yet" "$(job_why)"
	has_ended "hung leader: no rank sees an error"
	wait_for 15 no_tree
	ktap $? "hung leader: the tree is gone" "$(sw inc-tool tree show)"
	kill "${pids[@]}" "$ETCD"
	wait "${pids[@]}" "$ETCD"
	amd_up
}

has_died()
{
	! kill -0 "$1"
}

# The leader's main loop is blocked by its log, which nobody reads, and its other
# threads go on: etcd is reached, and libraries answer for it.
part_blocked()
{
	local log=$LAB_OUT/blocked.log fifo=/tmp/blocked-$$ pids=() rc
	local AM_OTHERS

	AM_OTHERS=,$(topo_ip4 sw):18792
	amd_down
	etcd_up || return
	rm -f "$fifo" && mkfifo "$fifo" || return
	cat "$fifo" >"$log" &
	pids[0]=$!
	ip netns exec "$TOPO-sw" inc-amd --http none \
		--listen "$(topo_ip4 sw):18790" --switch "$(sock_of sw)" \
		--insecure-plaintext --dead-time "$(scaled 700)" \
		--store "etcd:$(topo_ip4 sw):2379" "${ETCD_TLS[@]}" \
		>/dev/null 2>"$fifo" &
	pids[1]=$!
	wait_for 20 grep -q "this manager leads" "$log"
	amd2_up 18792 "listening"
	pids[2]=$!
	am_start 4 --check --count 1000 -i 600 --pause 50000 --transport uc
	wait_for 20 busy_or_dead
	! grep -q "this manager leads" "$LAB_OUT/amd-18792.log"
	ktap $? "blocked leader: it leads" "$(cat "$log")"
	kill -STOP "${pids[0]}"
	head -c 1M /dev/zero >"$fifo" &
	pids[3]=$!
	sleep 0.5
	kill -HUP "${pids[1]}"
	wait_for 10 grep -q "this manager leads" "$LAB_OUT/amd-18792.log"
	ktap $? "blocked leader: the standby leads" \
		"$(cat "$LAB_OUT/amd-18792.log")"
	wait_for 20 has_died "${pids[1]}" || kill -9 "${pids[1]}"
	wait "${pids[1]}"
	rc=$?
	ktap $((rc != 134)) "blocked leader: it ends itself" "status $rc"
	wait_for 20 resumed 18792
	ktap $? "blocked leader: all ranks come to the next one" \
		"$(cat "$LAB_OUT/amd-18792.log")"
	kill -0 "${JOB_PIDS[0]}"
	ktap $? "blocked leader: the job runs yet" "$(job_why)"
	has_ended "blocked leader: no rank sees an error"
	wait_for 15 no_tree
	ktap $? "blocked leader: the tree is gone" "$(sw inc-tool tree show)"
	kill -9 "${pids[0]}" "${pids[3]}" 2>/dev/null
	kill "${pids[2]}" "$ETCD"
	wait "${pids[@]}" "$ETCD"
	rm -f "$fifo"
	amd_up
}

suite "restart full gone forming connect away idle rebuild second standby flood hung blocked" \
	"$@"
