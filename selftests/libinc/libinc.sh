#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# libinc over stock rxe and the module: what its users may rely on besides right
# results. Persistent requests, waits with a time limit, queries that agree with
# the switch's own view, a log that Python can parse, threads (under
# ThreadSanitizer, too), fork(), signals, the registration cache.
#
#   libinc.sh [VAR=VALUE]... [PART...]
#	PART: device persistent wait window query log threads tsan fork signals
#	cache memory many reasons jumbo route stopped events wrong bandwidth pause huge
#	wide own cross computes

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"

RANKS=${RANKS:-3}
THREADS=${THREADS:-4}
ROUNDS=${ROUNDS:-3}
LOSSY_ROUNDS=${LOSSY_ROUNDS:-6}
LIMIT=$(scaled 60)
LIVE=$INC_USER/lib/live
PERF=(-i 0 --seed "$SEED")

# live_start N ARGS...: start a rank on each of the first N hosts.
live_start()
{
	local n=$1 r

	shift
	JOB_SEQ=$((JOB_SEQ + 1))
	JOB_LOG=$LAB_OUT/live$JOB_SEQ
	JOB_PIDS=()
	for ((r = 0; r < n; r++)); do
		INC_SERVER=$(topo_ip4 sw) INC_JOB=live$JOB_SEQ INC_RANK=$r \
			INC_NRANKS=$n INC_DEV=$TOPO$r \
			ip netns exec "$TOPO-h$r" "${LIVE_UNDER[@]}" \
			timeout "$LIMIT" "$LIVE" "$@" \
			>"$JOB_LOG.$r" 2>"$JOB_LOG.$r.err" &
		JOB_PIDS+=($!)
	done
}

# Wrapper command of each rank.
LIVE_UNDER=()

# live_end NAME [RANK...]: these ranks (default: all) ended well and printed
# "ok".
live_end()
{
	local name=$1 r rc bad=

	shift
	for r in "${!JOB_PIDS[@]}"; do
		wait "${JOB_PIDS[r]}" 2>/dev/null
		rc=$?
		[ $# = 0 ] || [[ " $* " == *" $r "* ]] || continue
		[ $rc = 0 ] || bad+=" rank $r: status $rc"
		grep -q '^ok' "$JOB_LOG.$r" || bad+=" rank $r: not ok"
	done
	sed -n 's/^# /# '"$name"': /p' "$JOB_LOG.0"
	[ -z "$bad" ] ||
		grep -hv '^ok' "$JOB_LOG".* | head -n 30 | sed 's/^/# /'
	ktap "${#bad}" "$name" "$bad"
}

live()
{
	local name=$1

	shift
	live_start "$@"
	live_end "$name"
}

# pair NAME [VAR=VALUE]...: a Barrier of two ranks that have no device set.
pair()
{
	local job=$1 pids=() r rc=0

	shift
	for r in 0 1; do
		ip netns exec "$TOPO-h$r" env INC_LOG=info "$@" \
			timeout "$LIMIT" \
			inc-perf --server "$(topo_ip4 sw)" --job "$job" \
			--rank "$r" --ranks 2 barrier -i 1 -x 0 \
			>"$LAB_OUT/$job.$r" 2>&1 &
		pids+=($!)
	done
	for r in 0 1; do
		wait "${pids[r]}" || rc=$?
	done
	return $rc
}

# refused NAME TEXT VAR=VALUE...: the ranks say why they cannot run.
refused()
{
	local name=$1 text=$2

	shift 2
	! pair refused "$@" && grep -q "$text" "$LAB_OUT/refused.0" &&
		grep -q "$text" "$LAB_OUT/refused.1"
	ktap $? "device: $name" "$(tail -n 1 "$LAB_OUT/refused.0")"
}

# All hosts' devices exist and GID tables are long: check which one is chosen.
part_device()
{
	local r gid limit

	pair own
	ktap $? "device: none is named" "$(tail -n 1 "$LAB_OUT/own.0")"
	for r in 0 1; do
		grep -q "$TOPO$r, RC QPN" "$LAB_OUT/own.$r"
		ktap $? "device: the one with the address, host $r" \
			"$(tail -n 1 "$LAB_OUT/own.$r")"
	done
	# Who has another network's waits in vain; on a slow machine the right one
	# needs longer.
	for limit in 3000 20000; do
		for gid in 0 1 2 3; do
			! pair "gid$gid" "INC_GID_INDEX=$gid" \
				"INC_JOIN_TIMEOUT_MS=$limit" || break 2
		done
	done
	grep -q "${TOPO}0, RC QPN" "$LAB_OUT/gid$gid.0" &&
		grep -q "${TOPO}1, RC QPN" "$LAB_OUT/gid$gid.1"
	ktap $? "device: a GID by its index, of the one with the address" \
		"$(tail -n 1 "$LAB_OUT/gid$gid.1")"
	refused "no such name" 'no verbs device "nothing"' INC_DEV=nothing
	refused "no such GID" "no active RoCE port has a GID 250" \
		INC_GID_INDEX=250
	refused "no such port" "no active RoCE port has a RoCEv2 GID" \
		INC_IB_PORT=2
}

part_persistent()
{
	local t

	for t in rc uc; do
		job "persistent, mixed, 16 at once, $t" "$RANKS" mix -t int32 \
			--count 3 --count 900 --count 20000 --check=5 \
			--persistent \
			--outstanding 16 --reg each --root each --transport $t \
			"${PERF[@]}"
	done
	job "persistent, in place" "$RANKS" mix -t fp64 --count 3 \
		--count 20000 \
		--check=6 --persistent --outstanding 24 --in-place --root each \
		--reg each "${PERF[@]}"
	job "persistent barriers" "$RANKS" barrier --persistent -i 200
	job "persistent, one after the other" "$RANKS" allreduce --count 50000 \
		--check=20 --persistent --reg each "${PERF[@]}"
}

part_wait()
{
	live "waits with a time limit" "$RANKS" wait_for
	INC_TRANSPORT=uc live "waits with a time limit, UC" "$RANKS" wait_for
	live "the communicator's time limit over such waits" 2 limit
	INC_TRANSPORT=uc live "the communicator's time limit over such waits, UC" \
		2 limit
	live "given up by a rank" "$RANKS" gives_up
	INC_TRANSPORT=uc live "given up by a rank, UC" "$RANKS" gives_up
}

# From one message at a time to all slots of the tree, and never more.
part_window()
{
	local w t

	for t in rc uc; do
		for w in 1 2 3 256; do
			job "window of $w, $t" "$RANKS" allreduce -t int32 \
				--count 1 \
				--count 60000 --check=2 --window $w \
				--transport $t "${PERF[@]}"
		done
	done
	job "window of 256, 4 slots" "$RANKS" mix -t int32 --root each \
		--count 20000 --check=9 --window 256 --slots 4 "${PERF[@]}"
}

# The fields that query.py compares.
messages()
{
	stat_sum rx-messages
	stat_sum tx-messages
}

# The ranks stop where both sides report their state.
part_query()
{
	local dir fifo r

	dir=$(mktemp -d)
	for ((r = 0; r < 2; r++)); do
		fifo=$dir/in.$r
		mkfifo "$fifo"
		INC_SERVER=$(topo_ip4 sw) INC_JOB=asked INC_RANK=$r \
			INC_NRANKS=2 INC_DEV=$TOPO$r ip netns exec "$TOPO-h$r" \
			timeout "$LIMIT" "$LIVE" query <"$fifo" >"$dir/out.$r" &
		JOB_PIDS[r]=$!
	done
	exec 7>"$dir/in.0" 8>"$dir/in.1"
	wait_for 60 lines_are 2 "$dir"
	steady 10 messages
	sw inc-tool -j -s member show >"$dir/member.busy"
	echo >&7
	echo >&8
	wait_for 60 lines_are 3 "$dir"
	steady 10 messages
	sw inc-tool -j -s member show >"$dir/member.idle"
	sw inc-tool -j -s tree show >"$dir/tree"
	echo >&7
	echo >&8
	exec 7>&- 8>&-
	wait "${JOB_PIDS[0]}" && wait "${JOB_PIDS[1]}"
	ktap $? "queried ranks end well"
	python3 "$ROOT/selftests/libinc/query.py" "$dir" "$(topo_ip4 sw)" \
		"$(topo_ip4 0)" "$(topo_ip4 1)" >"$dir/verdict" 2>&1
	ktap $? "queries agree with the switch's view" \
		"$(tail -n 1 "$dir/verdict")"
	rm -rf "$dir"
}

lines_are()
{
	[ "$(wc -l <"$2/out.0")" -ge "$1" ] &&
		[ "$(wc -l <"$2/out.1")" -ge "$1" ]
}

part_log()
{
	local r

	export INC_LOG=debug INC_LOG_FORMAT=json
	live_start "$RANKS" wait_for
	unset INC_LOG INC_LOG_FORMAT
	live_end "a job that logs all"
	for ((r = 0; r < RANKS; r++)); do
		python3 "$ROOT/selftests/libinc/log.py" "live$JOB_SEQ" "$r" \
			"$RANKS" <"$JOB_LOG.$r.err" >"$JOB_LOG.$r.log" 2>&1
		ktap $? "rank $r: each line of the log is an object" \
			"$(tail -n 1 "$JOB_LOG.$r.log")"
	done
}

part_threads()
{
	live "$THREADS threads" "$RANKS" threads "$THREADS" "$ROUNDS" "$SEED"
	INC_TRANSPORT=uc live "$THREADS threads, UC" "$RANKS" \
		threads "$THREADS" 1 "$SEED"
	changing "$THREADS threads, loss of 5 %" \
		threads "$THREADS" "$LOSSY_ROUNDS" "$SEED"
}

# lossy PER-CENT: what each end of a link sends is lost at that rate.
lossy()
{
	local r

	for ((r = 0; r < TOPO_N; r++)); do
		host "$r" tc qdisc replace dev eth0 root netem loss "$1%"
		sw tc qdisc replace dev "v$r" root netem loss "$1%"
	done
}

# changing NAME ARGS...: a job whose communicators change from RC to UC, some of them.
# Chance decides what is lost, and a short job may end before it matters: three tries.
changing()
{
	local before i

	before=$(changed_jobs)
	lossy 5
	for ((i = 0; i < 3; i++)); do
		live "$1" "$RANKS" "${@:2}"
		[ "$(changed_jobs)" -eq "$before" ] || break
	done
	lossy 0
	[ "$(changed_jobs)" -gt "$before" ]
	ktap $? "$1: some have changed to UC"
}

# Communicators change while a program does what is allowed.
part_own()
{
	lossy 3
	live "own blocks while it changes" "$RANKS" own
	lossy 0
}

part_cross()
{
	live "waits crosswise, no loss" "$RANKS" cross 1
	changing "waits crosswise, loss of 5 %" cross "$(scaled 10)"
	lossy 5
	INC_TRANSPORT=uc live "waits crosswise, UC" "$RANKS" cross "$(scaled 5)"
	lossy 0
}

part_computes()
{
	changing "a rank computes, nobody waits" computes
	changing "a rank computes, the limit is raised" computes_waits
}

part_tsan()
{
	local LIVE=$LIVE-tsan

	export TSAN_OPTIONS="exitcode=66 second_deadlock_stack=1"
	live "$THREADS threads under ThreadSanitizer" "$RANKS" \
		threads "$THREADS" "$ROUNDS" "$SEED"
	INC_TRANSPORT=uc live "$THREADS threads under ThreadSanitizer, UC" \
		"$RANKS" threads "$THREADS" 1 "$SEED"
	changing "$THREADS threads under ThreadSanitizer, loss of 5 %" \
		threads "$THREADS" "$LOSSY_ROUNDS" "$SEED"
	live "waits under ThreadSanitizer" "$RANKS" wait_for
	live "signals under ThreadSanitizer" 2 signals
	unset TSAN_OPTIONS
}

part_fork()
{
	live "fork()" "$RANKS" fork
	live_start 2 orphan
	live_end "a dead rank whose child lives is missed" 0
	kill "$(sed -n 's/^child //p' "$JOB_LOG.1.err")" 2>/dev/null
	return 0
}

part_signals()
{
	live "a storm of signals" "$RANKS" signals
	INC_TRANSPORT=uc live "a storm of signals, UC" 2 signals
}

# What exists once per process, and what once per communicator.
part_many()
{
	live "many communicators" 2 many
	# A host's share of the default limits is 102 trees.
	job "96 communicators of two ranks" 2 --communicators 95
}

# errno NAME: its number.
errno()
{
	python3 -c 'import errno, sys; print(getattr(errno, sys.argv[1]))' "$1"
}

# reason NAME ERRNO TEXT VAR=VALUE...: two ranks learn why they cannot begin.
reason()
{
	local name=$1 err=$2 text=$3

	shift 3
	LIVE_UNDER=(env "$@")
	live_start 2 reason "$(errno "$err")" "$text"
	live_end "no communicator: $name"
	LIVE_UNDER=()
}

part_reasons()
{
	local daemon

	# 2-5, and for the second of both the first one, too: it has left.
	reason "ranks are missing" ETIMEDOUT "-5" INC_NRANKS=6
	reason "nobody listens" ECONNREFUSED refused \
		"INC_SERVER=$(topo_ip4 sw):1"
	sw python3 "$ROOT/selftests/libinc/alive.py" 18800 >"$LAB_OUT/alive" &
	daemon=$!
	wait_for 20 grep -q there "$LAB_OUT/alive"
	reason "the daemon says that it lives, and no more" ETIMEDOUT \
		"does not answer" \
		"INC_SERVER=$(topo_ip4 sw):18800" INC_JOIN_TIMEOUT_MS=2000
	kill "$daemon" && wait "$daemon" 2>/dev/null
	reason "no device" ENODEV "no verbs device" INC_DEV=nothing
	reason "an odd number of ranks" EINVAL "1024" INC_NRANKS=2000
	sw inc-tool switch set memory-limit 1M
	reason "the switch's memory limit" ENOSPC "KiB are left"
	sw inc-tool switch set memory-limit 1G max-slots 8
	reason "a quota of the switch" ENOSPC "max-slots"
	sw inc-tool switch set max-slots 0
	serve_down
	serve_up --max-host-memory 1
	reason "a limit of the daemon" ENOSPC "--max-host-memory"
	serve_down
	serve_up --dead-time "$(scaled 3000)"
}

# hosts_mtu MTU: of the hosts, not of the bridge's ports to them.
hosts_mtu()
{
	local r

	for ((r = 0; r < TOPO_N; r++)); do
		ip -n "$TOPO-h$r" link set eth0 mtu "$1"
	done
}

# The hosts have jumbo frames, the bridge has none.
part_jumbo()
{
	hosts_mtu 9000
	job "jumbo: the tree's PMTU fits the bridge" 2 allreduce --count 100000 \
		--check=1 "${PERF[@]}"
	serve_down
	serve_up --pmtu 4096
	reason "the bridge's MTU is too small" EMSGSIZE \
		"pmtu 4096 needs an MTU of 4160, br0 has 1500"
	serve_down
	serve_up --dead-time "$(scaled 3000)"
	hosts_mtu 1500
}

# route_mtu MTU: of rank 0's route to the switch. Its device has more.
route_mtu()
{
	host 0 ip route replace "$(topo_ip4 sw)" dev eth0 mtu "$1"
}

part_route()
{
	route_mtu 1088
	job "route: its MTU is just enough" 2 allreduce --count 10000 \
		--check=1 "${PERF[@]}"
	route_mtu 1087
	live_start 2 reason "$(errno EMSGSIZE)" \
		"path MTU 1024 needs an MTU of 1088, the route to $(topo_ip4 sw) has 1087"
	live_end "no communicator: the route's MTU is too small" 0
	host 0 ip route del "$(topo_ip4 sw)" dev eth0
}

# Neither rank is at fault: one could not run.
part_stopped()
{
	live "stopped" 2 stopped
	INC_TRANSPORT=uc live "stopped, UC" 2 stopped
}

# Device events are read: the log reports a port that goes down.
part_events()
{
	INC_LOG=info job_start 2 barrier -i 1000000
	wait_for 60 busy 10
	host 0 ip link set eth0 down
	wait_for 60 grep -q "${TOPO}0: port error" "$JOB_LOG.0"
	ktap $? "a port's end is in the log"
	host 0 ip link set eth0 up
	kill "${JOB_PIDS[@]}"
	wait "${JOB_PIDS[@]}" 2>/dev/null
	wait_for 60 no_tree
}

# One rank may register little memory, as an ordinary user.
part_memory()
{
	live "memory that can't be registered" "$RANKS" memory "$LAB_OUT"
	INC_TRANSPORT=uc live "memory that can't be registered, UC" "$RANKS" \
		memory "$LAB_OUT"
}

part_cache()
{
	job "registrations kept, mixed" "$RANKS" mix -t int32 --count 900 \
		--count 20000 --check=20 --root each --reg cache "${PERF[@]}"
	job "registrations kept, 8 at once" "$RANKS" allreduce -t fp32 \
		--count 50000 --check=10 --outstanding 8 \
		--reg cache "${PERF[@]}"
}

# One rank calls another operation than the others: all learn which rank that
# is. The switch takes the first to arrive for right.
part_wrong()
{
	local r rcs="" rc=0 op pid log=$LAB_OUT/monitor
	local it='request of rank (1 disagrees with that of rank [02]|[02] disagrees with that of rank 1)'

	ip netns exec "$TOPO-sw" inc-tool monitor >"$log" &
	pid=$!
	seen_by "$TOPO-sw" "$log"
	JOB_SEQ=$((JOB_SEQ + 1))
	JOB_LOG=$LAB_OUT/wrong$JOB_SEQ
	JOB_PIDS=()
	for r in 0 1 2; do
		op=sum
		[ $r != 1 ] || op=max
		ip netns exec "$TOPO-h$r" inc-perf --server "$(topo_ip4 sw)" \
			--job wrong$JOB_SEQ --rank $r --ranks 3 \
			--dev "$TOPO$r" \
			allreduce -t int32 -o $op --count 100 -i 1 -x 0 \
			--timeout "$(scaled 20000)" >"$JOB_LOG.$r" 2>&1 &
		JOB_PIDS+=($!)
	done
	for r in 0 1 2; do
		wait "${JOB_PIDS[r]}"
		rcs+=" $?"
		grep -qE "^inc-perf: rank $r: .*disagree.*$it" "$JOB_LOG.$r" ||
			rc=1
	done
	ktap "$(grep -c ' 0' <<<"$rcs")" \
		"an operation that the ranks disagree about fails for all" \
		"$rcs"
	ktap $rc "each rank knows which one it was" "$(job_why)"
	wait_for 60 grep -qE "^slot-failed tree .*status mismatch wrong-rank [012] unlike-rank [012]" "$log"
	ktap $? "inc-tool monitor shows it" "$(tail -n 1 "$log")"
	kill "$pid"
	wait "$pid" 2>/dev/null
	wait_for 60 no_tree
}

# inc-perf's bandwidths are those of nccl-tests, here from the collective's
# definition: N is the number of blocks in the largest buffer.
part_bandwidth()
{
	local coll

	for coll in allreduce reduce reduce-scatter broadcast allgather gather \
			scatter alltoall barrier; do
		job_start "$RANKS" "$coll" -s 4096 -i 20 --reps 3 -j
		job_wait && python3 - "$coll" "$RANKS" "$JOB_LOG.0" <<-'END'
		import json, sys
		coll, n, run = sys.argv[1], int(sys.argv[2]), json.load(open(sys.argv[3]))
		r = run["results"][0]
		assert len(r["samples_us"]) == 3 and r["avg_us"] == r["samples_us"][1]
		blocks = {"allreduce": 1, "reduce": 1, "broadcast": 1, "barrier": 0}
		blocks = blocks.get(coll, n)
		factor = {"allreduce": 2 * (n - 1) / n, "reduce": 1, "broadcast": 1}
		algbw = 4096 * blocks / r["avg_us"]
		busbw = algbw * factor.get(coll, (n - 1) / n)
		sys.exit(("algbw_mb_s" in r) != (blocks > 0) or
			 abs(r.get("algbw_mb_s", 0) - algbw) > 0.01 + algbw / 1e3 or
			 abs(r.get("busbw_mb_s", 0) - busbw) > 0.01 + busbw / 1e3)
		END
		ktap $? "inc-perf $coll: algbw and busbw" "$(job_why)"
	done
}

# Pauses between operations are made, and not counted.
part_pause()
{
	local before=${EPOCHREALTIME/./}

	# What counts is the median: the machine may stand still for a second.
	job_start "$RANKS" allreduce --count 10 -i 4 -x 2 --reps 3 --pause 200000 -j
	job_wait && [ $((${EPOCHREALTIME/./} - before)) -ge 2800000 ] &&
		python3 - "$JOB_LOG.0" <<-'END'
		import json, sys
		us = json.load(open(sys.argv[1]))["results"][0]["avg_us"]
		print(f"# {us} us without the pauses")
		sys.exit(us >= 200000)
	END
	ktap $? "inc-perf --pause" "$(job_why)"
}

# As many ranks as a tree may have, on few hosts. A rank over UC needs more memory.
# What the switch's ports and CPUs have dropped.
dropped()
{
	tc -n "$TOPO-sw" -s -j qdisc show | jq '[.[].drops] | add // 0'
	while read -r _ drops _; do
		echo $((16#$drops))
	done </proc/net/softnet_stat
}

# Links that are slower than the CPU, and hold as much as a device's default queue.
queues()
{
	local r

	topo_bursts off
	for ((r = 0; r < RANKS; r++)); do
		tc -n "$TOPO-sw" qdisc replace dev "v$r" root \
			tbf rate 60mbit burst 4000 limit 1mb || return
	done
}

part_wide()
{
	local before n r

	queues
	ktap $? "links have a queue of 1 MB"
	before=$(dropped)
	for n in 64 256; do
		live "$n ranks on $RANKS hosts, 64 KiB" "$RANKS" \
			ranks $((n / RANKS)) 16384
		[ "$(dropped)" = "$before" ]
		ktap $? "$n ranks: nothing is dropped" "$before; $(dropped)"
	done
	for ((r = 0; r < RANKS; r++)); do
		tc -n "$TOPO-sw" qdisc del dev "v$r" root
	done
	topo_bursts on
	live "1024 ranks on $RANKS hosts" "$RANKS" ranks $((1024 / RANKS))
	INC_TRANSPORT=uc live "256 ranks on $RANKS hosts, UC" "$RANKS" \
		ranks $((256 / RANKS))
}

# Run by hand, with memory for it: lab run --mem 7G.
part_huge()
{
	LIMIT=$(scaled 900)
	INC_TIMEOUT_MS=$(scaled 800000)
	export INC_TIMEOUT_MS
	live "2^31 + 5 elements, 2 ranks" 2 huge
	unset INC_TIMEOUT_MS
}

suite_up()
{
	# Many threads on one CPU, under ThreadSanitizer, are slow, not dead.
	topo_up "$((RANKS < 2 ? 2 : RANKS))" &&
		serve_up -v --dead-time "$(scaled 3000)"
}

suite "device persistent wait window query log threads tsan fork signals cache
	memory many reasons jumbo route stopped events wrong bandwidth pause" "$@"
