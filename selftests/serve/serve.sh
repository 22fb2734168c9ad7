#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The rendezvous daemon under attack: inc-tool serve under AddressSanitizer,
# over the module, and connections from several hosts with messages that no
# libinc would send. Random dialogues run last (SEED=N reproduces one).
#
#   serve.sh [VAR=VALUE]... [PART...]
#	PART: belong addresses limits forming many killed reload segment options fuzz

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"

RANKS=${RANKS:-200}
STEPS=${STEPS:-4000}
TALK=$ROOT/selftests/serve
WAIT=$(scaled 5)
export TOPO TOPO_NET ASAN_OPTIONS=detect_leaks=0 WAIT

# daemon ARGS...: start one under AddressSanitizer.
daemon()
{
	local PATH=$INC_ASAN/tool:$PATH

	serve_up -v "$@"
}

# gone NAME: the daemon ends well and leaves nothing.
gone()
{
	serve_ends "$1: the daemon" "$LAB_OUT/serve.log"
	no_tree
	ktap $? "$1: no tree is left"
}

# talk NAME CASE ARGS...: run a case of talk.py.
talk()
{
	local name=$1 out rc case=$2

	shift 2
	out=$(python3 "$TALK/talk.py" "$case" "$(topo_ip4 sw)$PORT" "$@" 2>&1)
	rc=$?
	grep '^#' <<<"$out"
	ktap $rc "$name" "$(grep -v '^#' <<<"$out" | tail -n 3 | tr '\n#' '; ')"
}

PORT=

part_belong()
{
	daemon --levels || return
	talk "gather, retract, retract" retract
	talk "two jobs on one connection" two_jobs
	talk "messages in another order" order
	talk "messages that are none" messages
	# A switch as its own parent: both are the same switch.
	local parent=$SERVE_PID

	mv "$LAB_OUT/serve.log" "$LAB_OUT/serve-parent.log"
	daemon --port 18792 --parent "$(topo_ip4 sw)" || return
	PORT=:18792 talk "below a leaf: the first gives up" gives_up
	gone leaf
	SERVE_PID=$parent
	mv "$LAB_OUT/serve-parent.log" "$LAB_OUT/serve.log"
	talk "the parent still gathers" retract
	gone belong
}

part_addresses()
{
	daemon || return
	talk "addresses that are not its own" addresses
	gone addresses
	daemon --allow "$(topo_ip4 1)" --allow "$(topo_ip6 sw)/64" || return
	talk "addresses that are allowed" allowed
	gone allowed
}

part_limits()
{
	daemon --max-host-clients 5 || return
	talk "connections of one host" host_clients 5
	gone "connections"
	daemon --max-clients 20 --max-host-clients 20 || return
	talk "silent connections of one host" crowd 20
	gone "silent connections"
	daemon --max-host-trees 3 || return
	talk "jobs of one host" host_trees 3
	gone "jobs"
	daemon --max-host-memory 5 || return
	talk "memory of one host" host_memory
	gone "memory"
	sw inc-tool switch set memory-limit 25M
	daemon --max-host-trees 5 --max-host-memory 25 || return
	talk "as many trees as fit" trees 5
	gone "trees"
	sw inc-tool switch set memory-limit 1G
	# An address that nobody has.
	daemon --max-trees 10 --parent "10.$TOPO_NET.99.99" || return
	talk "a parent that does not answer" away "$SERVE_PID" 30
	gone "no parent"
	# Without the sanitizer, which itself needs memory.
	serve_up || return
	talk "gathers without end" gathers "$SERVE_PID" 20000
	gone "gathers"
}

part_forming()
{
	daemon --forming-time 1 || return
	talk "jobs that do not come to be" forming
	gone forming
}

part_many()
{
	serve_up || return
	talk "$RANKS ranks of a host die at once" many "$RANKS" "$(scaled 350)"
	wait_for 20 no_tree
	gone many
}

trees()
{
	[ "$(sw inc-tool tree show | grep -c '^tree')" = "$1" ]
}

# Killed, not ended: its trees go; those of another daemon and of an
# administrator stay.
part_killed()
{
	local other pids=() log=$LAB_OUT/killed

	serve_up --port 18792 || return
	other=$SERVE_PID
	sw inc-tool tree add id 77 ranks 2 slots 2 msg-size 1024 >/dev/null
	serve_up || return
	python3 "$TALK/talk.py" jobs "$(topo_ip4 sw)" >"$log" 2>&1 &
	pids+=($!)
	python3 "$TALK/talk.py" jobs "$(topo_ip4 sw):18792" >"$log.other" 2>&1 &
	pids+=($!)
	wait_for 5 grep -q there "$log" &&
		wait_for 5 grep -q there "$log.other" &&
		trees 5
	ktap $? "killed: two daemons have jobs" "$(cat "$log" "$log.other")"
	kill -9 "$SERVE_PID"
	wait "$SERVE_PID" 2>/dev/null
	wait_for 5 trees 3
	ktap $? "killed: its trees go with it" \
		"$(sw inc-tool tree show | tr '\n#' '; ')"
	serve_up || return
	PORT='' talk "killed: the next one takes jobs" lives
	trees 3
	ktap $? "killed: others' trees stay"
	kill "$other"
	wait "$other"
	wait_for 5 trees 1
	ktap $? "killed: the administrator's tree stays"
	sw inc-tool tree del 77
	wait "${pids[@]}"
	gone killed
}

# told TEXT: the ranks of the last job were, and so was the log.
told()
{
	grep -q "$1" "$JOB_LOG".* && grep -q "$1" "$LAB_OUT/serve.log"
}

# The daemon outlives the module: it says when there is none, and goes on with the
# next one, whose trees and events it knows.
part_reload()
{
	local old

	serve_up -v || return
	kill -HUP "$SERVE_PID"
	job "reload: a job before, after SIGHUP" 2 allreduce --count 100 -i 5
	wait_for 10 no_tree
	inc_unload
	job_start 2 allreduce --count 100 -i 5
	! job_wait && told "the module is not loaded"
	ktap $? "reload: without the module" "$(job_why)"
	inc_load
	job "reload: a job with the next one" 2 allreduce --count 100 -i 5 --check
	job_start 2 allreduce --count 100 -i 100000000
	wait_for 10 busy 20 && sw inc-tool tree del "$(sw inc-tool -j tree show |
		jq '.[0].id')"
	! job_wait && told "tree deleted\|tree was deleted"
	ktap $? "reload: it hears of the next one's trees" "$(job_why)"

	job_start 2 allreduce --count 100 -i 100000000
	wait_for 10 busy 20
	old=("${JOB_PIDS[@]}")
	inc_unload
	inc_load
	job "reload: a job beside one of the last module" 2 allreduce --count 100 -i 5
	JOB_PIDS=("${old[@]}")
	! job_wait && grep -q "loaded again" "$LAB_OUT/serve.log"
	ktap $? "reload: which has ended" "$(tail -n 3 "$LAB_OUT/serve.log")"
	gone reload
}

# A death reported in the same segment as "ready" is noticed at once.
part_segment()
{
	local log=$LAB_OUT/segment start rc pids=() r

	daemon || return
	python3 "$TALK/talk.py" between "$(topo_ip4 sw)" 18799 >"$log" 2>&1 &
	wait_for 5 grep -q listening "$log"
	start=$SECONDS
	for r in 0 1; do
		ip netns exec "$TOPO-h$r" inc-perf --job segment --rank $r \
			--ranks 2 --dev "$TOPO$r" --timeout "$(scaled 30000)" \
			--server "$(topo_ip4 sw)$([ $r = 1 ] || echo :18799)" \
			barrier -i 100000000 >"$log.$r" 2>&1 &
		pids+=($!)
	done
	wait "${pids[0]}"
	rc=$?
	[ $rc != 0 ] && grep -q "told at once" "$log.0" &&
		[ $((SECONDS - start)) -lt "$(scaled 10)" ]
	ktap $? "what is told together with \"ready\" is heard" \
		"$(tail -n 1 "$log.0")"
	wait "${pids[1]}"
	gone segment
}

# all_null PID: its standard input, output and error lead nowhere.
all_null()
{
	local fd

	for fd in 0 1 2; do
		[ "$(readlink "/proc/$1/fd/$fd")" = /dev/null ] || return
	done
}

part_options()
{
	local at log=$LAB_OUT/full pid

	ip netns exec "$TOPO-sw" inc-tool serve --listen "$(topo_ip4 sw)" \
		<&- >&- 2>&- &
	pid=$!
	wait_for 5 all_null "$pid"
	ktap $? "serve: closed descriptors are no one else's" \
		"$(ls -l "/proc/$pid/fd")"
	kill "$pid"
	wait "$pid"

	ip netns exec "$TOPO-sw" inc-tool serve --listen "$(topo_ip4 sw)" \
		>/dev/full 2>"$log" &
	pid=$!
	wait_for 5 grep -q "serve: standard output: No space" "$log" &&
		kill -0 "$pid"
	ktap $? "serve: a full disk is told at once, and no end" "$(cat "$log")"
	kill "$pid"
	wait "$pid"
	for at in "port 99999" "port http" "port -1" "slots 100" "slots 8192" \
		  "pmtu 7" "pmtu 1500" "msg-size 63" "msg-size 100" "window 257" "hold 1" \
		  "min-rto 10001" "dead-time 9" "traffic-class 3" "traffic-class 256" \
		  "priority 16" "ecn 1" \
		  "psn 0x1000000" "join-time 0" "max-clients 0"; do
		# shellcheck disable=SC2086	# two words
		says "serve --$at" 1 "--${at% *} \"${at#* }\": must be" \
			inc-tool serve --$at
	done
	for at in "[::1" "[::1]x" ":18790" "host:" "host:0" "host:65536" \
		  "host:84326" "host:1x" "$(printf '%0300d' 1)"; do
		says "serve --parent ${at:0:20}" 1 "must be HOST, HOST:PORT" \
			inc-tool serve --parent "$at"
	done
	for at in "[::1" "[::1]x" "" "10.0.0.1:65536" "10.0.0.1:x"; do
		says "serve --listen \"$at\"" 1 "must be ADDRESS, ADDRESS:PORT" \
			inc-tool serve --listen "$at"
	done
	ip netns exec "$TOPO-sw" inc-tool serve -l "$(topo_ip4 sw):0" >"$log" &
	pid=$!
	wait_for 5 grep -qE "on $(topo_ip4 sw) port [1-9][0-9]+$" "$log"
	ktap $? "serve: any port that is free is told" "$(cat "$log")"
	kill "$pid"
	wait "$pid"
	ip netns exec "$TOPO-sw" inc-tool serve -l "$(topo_ip4 sw):0" --pidfile /none/pid >"$log" 2>&1
	[ $? = 2 ] && ! grep listening "$log"
	ktap $? "serve: without its pidfile it does not say that it listens" \
		"$(cat "$log")"
	says "serve: a tree that is none" 1 "--tree 99: " inc-tool serve --tree 99
	says "serve: a tree and a parent" 1 "exclude each other" \
		inc-tool serve --tree 99 --parent 10.0.0.1
	says "a parent's name that is none" 1 "parent \"no.invalid\"" \
		inc-tool serve --parent no.invalid:18790
}

part_fuzz()
{
	local name pids=() logs=() rc

	echo "# seed $SEED"
	for name in flat "levels --levels" \
		"leaf --parent $(topo_ip4 1):19999"; do
		# shellcheck disable=SC2086	# words
		set -- $name
		daemon --port $((18791 + ${#pids[@]})) --forming-time 2 \
			--join-time 2 \
			--max-trees 12 --max-host-trees 8 \
			--max-host-clients 20 "${@:2}" || return
		pids+=("$SERVE_PID")
		mv "$LAB_OUT/serve.log" "$LAB_OUT/serve-$1.log"
		logs+=("$LAB_OUT/serve-$1.log")
	done
	timeout "$(scaled 150)" python3 "$TALK/fuzz.py" "$(topo_ip4 sw)" \
		"$SEED" "$STEPS" "${pids[@]}" >"$LAB_OUT/fuzz.log" 2>&1
	rc=$?
	grep '^#' "$LAB_OUT/fuzz.log"
	ktap $rc "random dialogues" "seed $SEED: $(grep -v '^#' "$LAB_OUT/fuzz.log" | tail -n 3 | tr '\n#' '; ')"
	for name in "${!pids[@]}"; do
		SERVE_PID=${pids[name]}
		cp "${logs[name]}" "$LAB_OUT/serve.log"
		serve_ends "random dialogues: the daemon $name" "${logs[name]}" \
			"seed $SEED"
	done
	no_tree
	ktap $? "random dialogues: no tree is left"
}

suite_up()
{
	topo_up 4
}

suite "belong addresses limits forming many killed reload segment options fuzz" "$@"
