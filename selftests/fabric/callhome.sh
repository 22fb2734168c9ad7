#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Agents that call their manager (RFC 8071): who is taken, who is refused, and what
# lasts. Of a root and two leaves, l1 calls. And names that a manager gives to them.
#
#   callhome.sh [VAR=VALUE]... [PART...]
#	PART: job refused twice back cut flood lead wrong rename liar

# shellcheck disable=SC2319 # "$?" of a condition is what ktap wants
# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
# shellcheck source=selftests/lib/levels.sh
. "$ROOT/selftests/lib/levels.sh"
# shellcheck source=selftests/lib/fabric.sh
. "$ROOT/selftests/lib/fabric.sh"

ulimit -n 20000

DIR=$(mktemp -d)
CA=$DIR/ca

ca()
{
	"$ROOT/userspace/manager/ca/inc-am-ca" -d "$CA" "$@"
}

# files NAME [CA]: an agent's options.
files()
{
	FILES=(--tls-cert "${2:-$CA}/$1/cert.pem" --tls-key "${2:-$CA}/$1/key.pem"
		--tls-ca "$CA/ca.pem")
}

# calls NAME [CA]: l1's agent calls, with NAME's certificate.
calls()
{
	local FILES

	files "$@"
	agent_up l1 -v --state "$DIR" --manager "$(topo_ip4 sw)" "${FILES[@]}"
}

agent_ends()
{
	kill "${@:2}" "${AGENT[$1]}"
	wait "${AGENT[$1]}" 2>/dev/null
	unset "AGENT[$1]"
}

manager_up()
{
	local FILES

	files amd
	AMD_SECURITY=("${FILES[@]}" --tls-crl "$CA/crl.pem")
	AMD_ARGS=(--callhome "$(topo_ip4 sw)" --http none)
	amd_up --switch "$(sock_of sw)" --switch "$(sock_of l0)" \
		--switch callhome:l1
}

# is SWITCH TEXT: the manager says so.
is()
{
	ctl topology | grep "^switch" | grep -E "[ :]$1[ :]" | grep -q "$2"
}

suite_up()
{
	levels_up 2 2 || return
	ca init && ca manager amd "$(topo_ip4 sw)" && ca admin root &&
		ca agent l1 192.0.2.1 && ca agent l7 192.0.2.7 &&
		ca manager l1.as.manager 192.0.2.1 && ca agent stolen 192.0.2.1 &&
		"$ROOT/userspace/manager/ca/inc-am-ca" -d "$DIR/other" init &&
		"$ROOT/userspace/manager/ca/inc-am-ca" -d "$DIR/other" \
			agent l1 192.0.2.1 || return
	ca revoke stolen
	export INC_AM_CERTS=$CA/root
	agent_up sw && agent_up l0 && calls l1 || return
	fabric_known
	manager_up && wait_for 30 is l1 ": up" && clock_up
}

suite_down()
{
	amd_down
	agents_down
	levels_down
	rm -rf "$DIR"
}

# told SWITCH: what its agent says of its manager: ADDRESS SESSIONS ERROR
told()
{
	python3 - "$(sock_of "$1")" <<-'END'
	import sys
	from ncclient import manager
	SW = "{urn:rdma-inc:switch}"
	with manager.connect_uds(path=sys.argv[1], timeout=60) as m:
	    data = m.get(("subtree",
	                  '<switch xmlns="urn:rdma-inc:switch"><manager/></switch>'))
	for one in data.data.iter(SW + "manager"):
	    print(*(one.findtext(SW + name, "") for name in
	            ("address", "sessions", "error")))
	END
}

tells()
{
	told l1 | grep -q "$1"
}

# refused NAME TEXT: the caller is, since it says so, and the switch is down.
refused()
{
	event "call.*$2" 20
	ktap $? "$1: refused" "$(tail -n 3 "$LAB_OUT/amd.log")"
	is l1 "down"
	ktap $? "$1: the switch is down" "$(ctl topology)"
}

part_job()
{
	is l1 "callhome:l1"
	ktap $? "a switch that calls is up" "$(ctl topology)"
	wait_for 10 tells "^$(topo_ip4 sw) 2 *$"
	ktap $? "its agent tells of two sessions" "$(told l1)"
	am_job "4 ranks, one leaf of which calls" 4 --check --count 1000
	gone "4 ranks"
	long_job 4
	at l1 inc-tool tree del "$(tree_of l1)"
	others_fail "its tree is deleted there" -1 .
}

part_refused()
{
	amd_down
	agent_ends l1
	manager_up
	is l1 "has not called"
	ktap $? "a switch that has not called is down" "$(ctl topology)"
	calls l1 "$DIR/other"
	refused "another authority's" "authority"
	wait_for 10 tells " 0 it does not take the call"
	ktap $? "the agent tells of it" "$(told l1)"
	agent_ends l1
	calls l7
	refused "a name that is not listed" "no --switch callhome:l7"
	agent_ends l1
	calls l1.as.manager
	refused "a manager's" "not an agent's"
	agent_ends l1
	calls stolen
	refused "a revoked one" "revoked"
	agent_ends l1
	calls l1
	wait_for 20 is l1 ": up"
	ktap $? "its own is taken" "$(ctl topology)"
}

# Two programs with one key; each calls twice.
part_twice()
{
	local FILES fds

	files l1
	ip netns exec "$TOPO-l1" inc-agentd -u "$(sock_of l1)-2" -i l1 \
		-y "$ROOT/userspace/agent/yang" "${SAN_ARGS[@]}" \
		--manager "$(topo_ip4 sw)" "${FILES[@]}" --lldp none \
		>"$LAB_OUT/agentd-l1-2.log" 2>&1 &
	AGENT[l1-2]=$!
	# Calls that wait take each other's places.
	sleep 15
	is l1 ": up"
	ktap $? "two callers of one name: the switch is up" "$(ctl topology)"
	fds=$(find "/proc/$AMD/fd" -lname 'socket:*' | wc -l)
	((fds < 30))
	ktap $? "two callers of one name: the manager keeps few" "$fds sockets"
	agent_ends l1-2
	am_job "two callers of one name: a job" 4 --check --count 1000
}

part_back()
{
	long_job 4
	agent_ends l1 -9
	wait_for 20 is l1 ": down"
	ktap $? "agent killed: the switch is down" "$(ctl topology)"
	calls l1
	wait_for 20 is l1 ": up"
	ktap $? "agent killed: it calls again" "$(ctl topology)"
	kill -0 "${JOB_PIDS[0]}"
	ktap $? "agent killed: the job goes on" "$(job_why)"
	ctl group del "$JOB_NAME"
	others_fail "deleted after that" -1 operator
	kill_amd
	wait_for 20 tells " 0 "
	ktap $? "manager killed: the agent tells of it" "$(told l1)"
	sleep 3
	manager_up
	wait_for 30 is l1 ": up"
	ktap $? "manager killed: the agent calls the next one" "$(ctl topology)"
	[ "$(grep -c "is tried again" "$LAB_OUT/agentd-l1.log")" -le 3 ]
	ktap $? "each reason is logged once" "$(cat "$LAB_OUT/agentd-l1.log")"
	am_job "manager killed: a job" 4 --check --count 1000
}

# The way between both is gone for a while; neither end is told.
part_cut()
{
	sw tc qdisc add dev down2 root netem loss 100%
	wait_for 40 is l1 ": down"
	ktap $? "way cut: the switch is down" "$(ctl topology)"
	sleep 10
	sw tc qdisc del dev down2 root
	wait_for 60 is l1 ": up"
	ktap $? "way back: it calls again" "$(ctl topology)"
	am_job "way back: a job" 4 --check --count 1000
}

part_flood()
{
	local n=${FLOOD:-1000} rude

	at l0 timeout "$(scaled 120)" python3 "$ROOT/selftests/fabric/rude.py" \
		"$(topo_ip4 sw)" "$n" 60 4335 >"$DIR/rude" 2>&1 &
	rude=$!
	wait_for 60 grep -q "^open" "$DIR/rude"
	is l1 ": up"
	ktap $? "silent callers: the switch stays up" "$(ctl topology)"
	am_job "silent callers: a job" 4 --check --count 1000
	agent_ends l1 -9
	calls l1
	wait_for 30 is l1 ": up"
	ktap $? "silent callers: an agent gets in" "$(ctl topology)"
	wait "$rude"
	ktap $? "silent callers: their connections are closed" \
		"$(cat "$DIR/rude")"
	sed 's/^/# /' "$DIR/rude"
	[ "$(grep -c "it calls as an agent" "$LAB_OUT/amd.log")" -le 70 ]
	ktap $? "silent callers: one line a second" \
		"$(grep -c "it calls as an agent" "$LAB_OUT/amd.log")"
}

# lead_up N: a manager of two, with etcd.
lead_up()
{
	local FILES

	files amd
	ip netns exec "$TOPO-sw" inc-amd -v --http none \
		--listen "$(topo_ip4 sw):1879$1" "${FILES[@]}" \
		--callhome "$(topo_ip4 sw):433$1" --switch callhome:l1 \
		--store etcd:127.0.0.1:2379 >"$LAB_OUT/amd-$1.log" 2>&1 &
	LEADS[$1]=$!
	wait_for 20 grep -q "listening" "$LAB_OUT/amd-$1.log"
}

part_lead()
{
	local FILES other
	declare -A LEADS=()

	amd_down
	agent_ends l1
	ip netns exec "$TOPO-sw" etcd --data-dir "$DIR/etcd" --log-level error \
		>"$LAB_OUT/etcd.log" 2>&1 &
	other=$!
	wait_for 20 sw etcdctl endpoint health
	lead_up 5
	wait_for 30 grep -q "this manager leads" "$LAB_OUT/amd-5.log"
	lead_up 6
	wait_for 30 grep -q "stands by" "$LAB_OUT/amd-6.log"
	ktap $? "two managers: one leads" "$(tail "$LAB_OUT"/amd-?.log)"
	files l1
	agent_up l1 --manager "$(topo_ip4 sw):4335" \
		--manager "$(topo_ip4 sw):4336" "${FILES[@]}"
	wait_for 20 grep -q "switch l1.*: up" "$LAB_OUT/amd-5.log"
	ktap $? "two managers: the leader takes calls" \
		"$(tail "$LAB_OUT/amd-5.log")"
	wait_for 10 grep -q "call.*does not lead" "$LAB_OUT/amd-6.log"
	ktap $? "two managers: the other one does not" \
		"$(tail "$LAB_OUT/amd-6.log")"
	tells ":4336 0 it does not take the call: does it lead"
	ktap $? "two managers: the agent tells of both" "$(told l1)"
	kill -9 "${LEADS[5]}"
	wait_for 60 grep -q "switch l1.*: up" "$LAB_OUT/amd-6.log"
	ktap $? "the leader is killed: the other one takes calls" \
		"$(tail "$LAB_OUT/amd-6.log")"
	kill "${LEADS[6]}"
	wait "${LEADS[@]}" 2>/dev/null
	kill "$other"
	wait "$other" 2>/dev/null
	agent_ends l1
	calls l1
	manager_up
	wait_for 30 is l1 ": up"
	ktap $? "a manager without another one" "$(ctl topology)"
}

# name_of SOCKET: what its agent is called, by its configuration.
name_of()
{
	python3 - "$1" <<-'END'
	import sys
	from ncclient import manager
	with manager.connect_uds(path=sys.argv[1], timeout=60) as m:
	    data = m.get_config("running", ("subtree",
	        '<switch xmlns="urn:rdma-inc:switch"><identity/></switch>'))
	print(data.data.findtext(".//{urn:rdma-inc:switch}id"))
	END
}

# edits XML: an edit of l1's configuration; prints the error, or nothing.
edits()
{
	python3 - "$(sock_of l1)" "$1" <<-'END'
	import sys
	from ncclient import manager
	from ncclient.operations import RPCError
	NC = "urn:ietf:params:xml:ns:netconf:base:1.0"
	with manager.connect_uds(path=sys.argv[1], timeout=60) as m:
	    try:
	        m.edit_config(target="running", config=
	            f'<nc:config xmlns:nc="{NC}"><switch xmlns="urn:rdma-inc:switch">'
	            f'{sys.argv[2]}</switch></nc:config>')
	    except RPCError as e:
	        print(e.tag)
	END
}

# By NETCONF, without a manager.
edits_name()
{
	local id='<identity><id>' of='<tree><id>6</id><ranks>2</ranks><member>
		<rank>0</rank><peer-addr>192.0.2.1</peer-addr><peer-qpn>7</peer-qpn>
		<peer-psn>1</peer-psn></member></tree>'

	SAYS_BY=(edits)
	says "name: with a tree that fails, it stays" 0 "operation-failed" \
		"${id}leaf9</id></identity>$of"
	[ "$(name_of "$(sock_of l1)")" = l1 ] && [ ! -e "$DIR/id" ]
	ktap $? "name: it is as before" "$(name_of "$(sock_of l1)")"
	says "name: one with a space" 0 "invalid-value" \
		"${id}a b</id></identity>"
	ctl switch l1 drain >/dev/null
	says "name: by an edit" 0 "" "${id}leaf9</id></identity>"
	wait_for 10 is leaf9 ": up.*drained"
	ktap $? "name: the manager hears of it, and it is still drained" \
		"$(ctl switch)"
	ctl switch leaf9 resume >/dev/null
	at l1 inc-tool tree add id 6 ranks 2 >/dev/null
	says "name: with trees, it stays" 0 "in-use" "${id}leaf8</id></identity>"
	at l1 inc-tool tree del 6
	says "name: deleted" 0 "" '<identity><id xmlns:nc="urn:ietf:params:xml:ns:netconf:base:1.0" nc:operation="delete"/></identity>'
	wait_for 10 is l1 ": up"
	[ "$(name_of "$(sock_of l1)")" = l1 ] && [ ! -e "$DIR/id" ]
	ktap $? "name: it is --id again" "$(name_of "$(sock_of l1)")"
	SAYS_BY=(sw)
}

# A key of its own does not make another's name a switch's, not even while that one does
# not answer to a new manager.
part_liar()
{
	agent_ends l1
	calls l1
	amd_down
	AMD_STORE=sqlite:$DIR/amd.db
	manager_up && wait_for 30 is l1 ": up"
	JOB_HOSTS=(0 1)
	am_start 2 allreduce --count 1024 -i 1000000 --pause 10000
	JOB_HOSTS=()
	event "group-ready $JOB_NAME" 20
	ktap $? "liar: a group at l0" "$(ctl group)"
	SAYS_BY=(edits)
	says "liar: another one calls itself l0" 0 "" "<identity><id>l0</id></identity>"
	SAYS_BY=(sw)
	kill -STOP "${AGENT[l0]}"
	kill_amd
	manager_up
	wait_for 20 is callhome:l1 "down: it calls itself l0"
	ktap $? "liar: a new manager does not believe it" "$(ctl topology)"
	kill -CONT "${AGENT[l0]}"
	wait_for 20 is l0 ": up"
	ktap $? "liar: but the right one" "$(ctl topology)"
	kill -0 "${JOB_PIDS[0]}" && ctl group show "$JOB_NAME" | grep -q "2 of 2"
	ktap $? "liar: whose group goes on" "$(ctl group; tail -n 9 "$LAB_OUT/amd.log")"
	ctl group del "$JOB_NAME"
	job_wait
	rm -f "$DIR/id"
	agent_ends l1
	calls l1
	wait_for 20 is l1 ": up"
	ktap $? "liar: it is itself again" "$(ctl topology)"
	amd_down
	AMD_STORE=none
	manager_up && wait_for 30 is l1 ": up"
}

# says_other NAME: another switch has it, to l0.
says_other()
{
	ctl switch l0 rename "$1" 2>&1 | grep -q "has this name"
}

part_rename()
{
	local name='a<b>&"c'

	SAYS_BY=(ctl)
	says "rename: a switch that cannot keep it" 2 "needs --state" \
		switch l0 rename leaf0
	says "rename: another's name" 2 "has this name" switch l1 rename l0
	says "rename: no name" 2 "without spaces" switch l1 rename "a b"
	says "rename: too long" 2 "without spaces" \
		switch l1 rename "$(printf 'x%.0s' {1..64})"
	says "rename: no switch" 2 "there is no switch" switch l5 rename l6
	says "rename: no new name" 1 "NAME rename NEW" switch l1 rename
	says "rename: a word of the command" 2 "is not drain" switch l1 rename drain
	says "rename: what --link cannot name" 2 "colons" switch l1 rename a:b
	kill -STOP "${AGENT[l1]}"
	ctl switch l1 rename leaf7 >/dev/null 2>&1 &
	wait_for 10 says_other leaf7
	ktap $? "rename: a name that another one is getting" \
		"$(ctl switch l0 rename leaf7 2>&1)"
	kill -CONT "${AGENT[l1]}"
	wait $!
	wait_for 10 is leaf7 ": up"
	says "rename: and back" 0 "" switch leaf7 rename l1
	long_job 4
	says "rename: a switch with trees" 2 "has trees" switch l1 rename leaf1
	ctl group del "$JOB_NAME"
	others_fail "rename: deleted" -1 operator
	gone "rename"
	# The agent tells of its trees by and by.
	wait_for 10 eval 'ctl switch l1 | grep -q " 0 trees"'
	ctl switch l1 drain >/dev/null
	says "rename" 0 "" switch l1 rename leaf1
	is leaf1 ": up.*drained"
	ktap $? "rename: it is up, and still drained" "$(ctl switch)"
	event "switch-renamed l1.*leaf1"
	ktap $? "rename: an event" "$(tail -n 3 "$LAB_OUT/amd.log")"
	ctl switch resume leaf1 >/dev/null
	says "rename: once more, to what XML has to escape" 0 "" \
		switch rename leaf1 "$name"
	agent_ends l1
	calls l1
	wait_for 20 is callhome:l1 ": up"
	[ "$(name_of "$(sock_of l1)")" = "$name" ] &&
		[ "$(cat "$DIR/id")" = "$name" ]
	ktap $? "rename: the agent keeps it, started again with --id l1" \
		"$(name_of "$(sock_of l1)"), $(cat "$DIR/id")"
	am_job "rename: a job" 4 --check --count 1000
	agent_ends l1
	echo "a b" >"$DIR/id"
	SAYS_BY=(timeout "$HANGS" inc-agentd --state "$DIR")
	says "rename: a file that is none" 1 "must be a line" -u "$DIR/sock"
	SAYS_BY=(sw)
	rm "$DIR/id"
	calls l1
	wait_for 20 is l1 ": up"
	ktap $? "rename: without the file it is --id again" "$(ctl switch)"
	edits_name
}

part_wrong()
{
	local FILES

	files amd
	SAYS_BY=(timeout "$HANGS" inc-amd --store none --http none
		--listen 127.0.0.1:0)
	says "no address to call" 2 "needs --callhome" --switch callhome:l1
	says "no certificates" 2 "needs --tls-cert" --switch callhome:l1 \
		--callhome 127.0.0.1
	says "no name" 2 "callhome:ID" --switch callhome: --callhome 127.0.0.1
	says "a name that is too long" 2 "callhome:ID" --callhome 127.0.0.1 \
		--switch "callhome:$(printf 'x%.0s' {1..64})"
	says "a switch twice" 2 "given twice" --callhome 127.0.0.1 \
		--switch callhome:l1 --switch callhome:l1 "${FILES[@]}"
	says "a port that is none" 2 "port from 1" --callhome 127.0.0.1:65536
	says "no address" 1 "no name" --callhome nowhere.example \
		--switch callhome:l1 "${FILES[@]}"
	SAYS_BY=(timeout "$HANGS" inc-agentd)
	says "an agent without certificates" 2 "needs --tls-cert" \
		--manager 127.0.0.1
	says "a manager twice" 2 "given twice" --manager a --manager A
	says "an address that is none" 2 "port from 1" --manager a:65536
	says "more managers than there may be" 2 "4 managers" --manager a \
		--manager b --manager c --manager d --manager e
	SAYS_BY=(sw)
}

suite "job refused twice back cut flood lead wrong rename liar" "$@"
