#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Members over UC: all collectives, beside RC members, and everything that the
# network may do to RoCE packets, on every link in both directions: loss, bursts
# of loss, duplication, reordering, corruption. Results are right, every rank
# gets an answer, and nothing is sent twice without need.
#
#   uc.sh [VAR=VALUE...] [PART...]
#	PART: plain mixed net all far queue killed silent

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"

RANKS=${RANKS:-3}
COUNT=${COUNT:-20011}
# Length of jobs whose counters are read while they run: a second or so.
ITER=${ITER:-$((SLOW > 1 ? 3 : 20))}

# Impair RoCE packets only: the rendezvous is not under test.
one_end()
{
	local dev=$1

	shift
	echo "qdisc replace dev $dev root handle 1: prio bands 3 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"
	echo "qdisc replace dev $dev parent 1:3 handle 30: netem $* limit 10000"
	echo "filter replace dev $dev parent 1: protocol ip pref 1 handle 1 flower ip_proto udp dst_port 4791 classid 1:3"
}

impair()
{
	local r

	topo_bursts off
	[[ " $* " != *" corrupt "* ]] || topo_neigh
	for ((r = 0; r < TOPO_N; r++)); do
		one_end eth0 "$@" | host "$r" tc -batch - || return 1
		one_end "v$r" "$@" | sw tc -batch - || return 1
	done
}

repair()
{
	local r

	for ((r = 0; r < TOPO_N; r++)); do
		host "$r" tc qdisc del dev eth0 root
		sw tc qdisc del dev "v$r" root
	done
}

# uc_job NAME N ARGS...
uc_job()
{
	local name=$1 n=$2

	shift 2
	job "$name" "$n" "$@" -x 0 --seed "$SEED"
}

# impaired NAME P WHAT NETEM...: WHAT has to be seen, with a probability of P.
impaired()
{
	local name=$1 p=$2 what=$3

	shift 3
	impair "$@"
	watch_start
	uc_job "$name" "$RANKS" allreduce --count "$COUNT" -i "$ITER" --check
	uc_job "$name, collectives in turns" "$RANKS" mix -t int32 --root each \
		--count 1001 -i $((9 * ITER)) --check
	watch_end
	# shellcheck disable=SC2086	# words
	watched "$name" "$p" $what
	repair
}

part_plain()
{
	local n coll

	for n in 2 "$TOPO_N"; do
		for coll in allreduce reduce reduce-scatter broadcast \
			allgather gather scatter alltoall; do
			uc_job "$coll, $n ranks" "$n" "$coll" --root each \
				--count 1 \
				--count 247 --count "$COUNT" -i 2 --check
		done
		uc_job "barrier, $n ranks" "$n" barrier -i 50
	done
	uc_job "in place, several at once" "$RANKS" allreduce --in-place \
		--count "$COUNT" -i 4 --outstanding 4 --check
	uc_job "message ID and PSN wrap" "$RANKS" allreduce --count "$COUNT" \
		-i 2 --check --first-msg-id 0xfffffff0 --psn 0xfffff0
	JOB_ADDR=topo_ip6 uc_job "IPv6" "$RANKS" allreduce --count "$COUNT" \
		-i 2 --check
	quiet
}

# Without loss nothing arrives twice.
sends_once()
{
	job_start "$RANKS" allreduce --count 400000 -i 2 -x 0 --outstanding 2 -j
	job_wait && python3 - "$JOB_LOG.0" <<-'END'
	import json, sys
	run = json.load(open(sys.argv[1]))
	print("# %(messages)d messages, %(resent)d sent again, %(queries)d queries" % run)
	sys.exit(run["resent"] >= run["messages"] / 1000)
	END
}

# While the machine stands still answers are late, and what waits for them is sent
# again, so it is tried three times.
quiet()
{
	sends_once || sends_once || sends_once
	ktap $? "less than 0.1 % comes twice without loss" "$(job_why)"
}

# Even ranks use RC, odd ones UC.
part_mixed()
{
	local loss r

	for ((r = 0; r < TOPO_N; r += 2)); do
		JOB_ENV[r]=INC_TRANSPORT=rc
	done
	for loss in 0% 1%; do
		impair loss "$loss"
		watch_start
		job_start "$TOPO_N" mix -t int32 --count 1001 -i $((9 * ITER)) \
			--check \
			--root each --seed "$SEED" --msg-size 1024 --pmtu 1024
		job_wait
		ktap $? "RC and UC in one tree, loss $loss" "$(job_why)"
		watch_end
		[ "$loss" = 0% ] || watched "RC and UC in one tree" 0.01 lost
		repair
	done
	job_start 2 allreduce --count 10 --msg-size 65536 \
		--join-timeout "$(scaled 3000)"
	! job_wait && grep -q "of one packet" "$JOB_LOG.1"
	ktap $? "UC is refused where messages are longer than a packet" \
		"$(job_why)"
	! grep "of one packet" "$JOB_LOG.0"
	ktap $? "which is not the end of a rank over RC"
	JOB_ENV=()
}

part_net()
{
	# Enough that some of them are lost.
	COUNT=$((COUNT * 4)) impaired "loss 0.1 %" 0.001 lost loss 0.1%
	impaired "loss 1 %" 0.01 lost loss 1%
	impaired "loss 5 %" 0.05 lost loss 5%
	impaired "loss 20 %" 0.2 lost loss 20%
	impaired "bursts (Gilbert)" 0.01 lost loss gemodel 1% 20% 90% 0.1%
	impaired "duplication 10 %" 0.1 doubled duplicate 10%
	impaired "reordering 25 %" 0.05 reordered delay 1ms reorder 25% 50%
	impaired "corruption 2 %" 0.02 corrupted corrupt 2%
	impaired "late and doubled results" 0.1 "doubled reordered" \
		delay 20ms 15ms duplicate 10%
}

part_all()
{
	impaired "all of it" 0.01 "lost doubled reordered corrupted" \
		delay 1ms 500us loss 2% duplicate 2% corrupt 1% reorder 25%
}

# A round trip of 20 ms, which the window has to grow for. The initial window
# cannot be faster than 64 packets per round trip.
window_grows()
{
	job_start "$RANKS" allreduce --count 524288 -i 2 -x 1 -j --check \
		--seed "$SEED"
	job_wait && python3 - "$JOB_LOG.0" "$SLOW" <<-'END'
	import json, sys
	run = json.load(open(sys.argv[1]))
	rate = run["results"][0]["algbw_mb_s"]
	begin = 64 * (run["msg_size"] - 32) / 20e3
	print("# window %d of %d, %.2f MB/s; with 64: at most %.2f, %d of %d messages sent again" %
	      (run["window"], run["slots"], rate, begin, run["resent"], run["messages"]))
	sys.exit(run["window"] < 100 or (sys.argv[2] == "1" and rate < begin))
	END
}

# far NAME NETEM...: while the machine stands still, time passes, too, so it is
# tried three times.
far()
{
	local name=$1

	shift
	impair delay 10ms "$@"
	window_grows || window_grows || window_grows
	ktap $? "$name" "$(job_why)"
	repair
}

part_far()
{
	far "a long path"
	far "a long path, loss 1 %" loss 1%
}

# The host's own queue holds 1000 packets, no more: rxe ends a QP that finds it
# full.
part_queue()
{
	local r

	topo_bursts off
	for ((r = 0; r < TOPO_N; r++)); do
		host "$r" tc qdisc replace dev eth0 root netem delay 20ms \
			limit 1000
	done
	uc_job "a window of 1024, a queue of 1000" "$RANKS" allreduce \
		--count 524288 -i 2 -x 1 --check --window 1024
	for ((r = 0; r < TOPO_N; r++)); do
		host "$r" tc qdisc replace dev eth0 root netem delay 20ms \
			limit 20
	done
	job_start "$RANKS" allreduce --count 524288 -i 2
	! job_wait && grep -q "queue full" "$JOB_LOG".*
	ktap $? "a queue that is too short is named" "$(job_why)"
	for ((r = 0; r < TOPO_N; r++)); do
		host "$r" tc qdisc del dev eth0 root
	done
}

part_killed()
{
	local r rc=0

	job_start "$RANKS" allreduce --count "$COUNT" -i 1000000
	wait_for 20 sw sh -c \
		'inc-tool -s member show | grep -q "rx-messages [1-9]"'
	kill -9 "${JOB_PIDS[0]}"
	for ((r = 1; r < RANKS; r++)); do
		wait "${JOB_PIDS[r]}" && rc=1
		grep -qiE "left|lost|reset|died" "$JOB_LOG.$r" || rc=1
	done
	wait "${JOB_PIDS[0]}" 2>/dev/null
	ktap $rc "a rank is killed: the others are told" "$(job_why)"
}

# The network drops all RoCE packets: the client gives up and reports it.
part_silent()
{
	local r rc=0

	sw inc-tool monitor >"$LAB_OUT/events" 2>&1 &
	r=$!
	# While a device gets its queue, it refuses packets.
	impair loss 0%
	INC_RETRIES=5 job_start "$RANKS" allreduce --count "$COUNT" -i 1000000
	wait_for 20 sw sh -c \
		'inc-tool -s member show | grep -q "rx-messages [1-9]"'
	impair loss 100%
	job_wait && rc=1
	kill $r
	wait $r 2>/dev/null
	grep -q "did not answer 5 times" "$JOB_LOG".* || rc=1
	ktap $rc "time-outs end in an error" "$(job_why)"
	grep -q member-del "$LAB_OUT/events" &&
		grep -q tree-failed "$LAB_OUT/events"
	ktap $? "and in events"
	repair
}

suite_up()
{
	topo_up "$RANKS" && serve_up && export INC_TRANSPORT=uc
}

suite "plain mixed net all far queue killed silent" "$@"
