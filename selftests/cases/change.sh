#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Ranks that have not chosen a transport: they begin over RC, and change to UC under
# a running job if packets are lost. Results are right before, while and after they
# do. Who has chosen RC keeps it. Whoever dies meanwhile, the others end.
#
#   change.sh [VAR=VALUE]... [PART...]
#	PART: changes late ends chosen refused stopped killed daemon levels

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
# shellcheck source=selftests/lib/levels.sh
. "$(dirname "$0")/../lib/levels.sh"

RANKS=${RANKS:-3}
ENDS=${ENDS:-9}
LOG=$LAB_OUT/serve.log

# impair NETEM...: on both ends of every link.
impair()
{
	local r

	topo_bursts off
	for ((r = 0; r < TOPO_N; r++)); do
		host "$r" tc qdisc replace dev eth0 root netem "$@" limit 10000
		at "${HOSTS_AT[r]:-sw}" tc qdisc replace dev "v$r" root netem \
			"$@" limit 10000
	done
}

suite_up() { :; }

# The job's ranks have all changed to UC.
has_changed()
{
	grep -q "\"$JOB_NAME~uc-[0-9a-f]*\": ready" "${1:-$LOG}"
}

was_asked()
{
	grep -q "\"$JOB_NAME\": packets are lost" "$LOG"
}

one_switch()
{
	HOSTS_AT=()
	topo_up "$RANKS" && serve_up -v "${PATIENT[@]}" "$@"
}

one_switch_down()
{
	serve_down
	topo_down
}

# changing NAME ARGS...: a job whose ranks change.
changing()
{
	local name=$1

	shift
	job "$name" "$RANKS" "$@" -x 0 --reps 1 --check --seed "$SEED"
	has_changed
	ktap $? "$name: it has changed to UC" "$(tail -n 1 "$LOG")"
}

part_changes()
{
	one_switch || return
	job "without loss" "$RANKS" allreduce -t fp32 --count 65536 -i 40 -x 0 \
		--reps 1 --check --seed "$SEED"
	! grep -q '~uc' "$LOG"
	ktap $? "without loss: RC"
	impair loss 2%
	watch_start
	changing "loss 2 %" allreduce -t fp32 -o sum --count 65536 -i 150
	watch_end
	watched "loss 2 %" 0.02 lost
	changing "8 at once" allreduce -t fp64 -o sum --count 8191 -i 400 \
		--outstanding 8
	changing "persistent" allreduce -t bf16 -o sum --count 100001 -i 150 \
		--persistent
	changing "cached registrations" allreduce -t int32 -o max \
		--count 65536 -i 150 --reg cache
	changing "in turns" mix -t int32 --root each --count 20011 -i 400
	one_switch_down
}

# Packets are lost only after a while, in a job of three seconds or more.
part_late()
{
	one_switch || return
	impair rate 200mbit
	job_start "$RANKS" allreduce -t fp32 -o sum --count 65536 -i 300 -x 0 \
		--reps 1 --check --seed "$SEED"
	sleep 1
	! was_asked
	ktap $? "late: over RC as long as nothing is lost"
	impair rate 200mbit loss 2%
	wait_for 60 has_changed
	ktap $? "late: it has changed to UC" "$(tail -n 1 "$LOG")"
	job_wait
	ktap $? "late: results" "$(job_why)"
	rm -f "$JOB_LOG".*
	one_switch_down
}

# Jobs that end before a change, in any of its states, and after it.
part_ends()
{
	local i rc n

	one_switch || return
	impair loss 5%
	for ((i = 0; i < ENDS; i++)); do
		n=$((6 + RANDOM % 18))
		job_start "$RANKS" allreduce -t fp32 -o sum \
			--count $((16384 << i % 3)) -i "$n" -x 0 --reps 1 \
			--outstanding $((1 + i % 2 * 5)) --check --seed "$SEED"
		job_wait
		rc=$?
		[ $rc = 0 ] || ktap 1 "ends: job $i, $n operations" "$(job_why)"
		rm -f "$JOB_LOG".*
		[ $rc = 0 ] || break
	done
	ktap $((i != ENDS)) "ends: $ENDS jobs, of which $(grep -c '~uc-.*": ready' "$LOG") have changed"
	wait_for 20 no_trees
	ktap $? "ends: no tree is left"
	one_switch_down
}

# stays NAME ENVIRONMENT: those of one rank are enough.
stays()
{
	JOB_ENV=([1]=$2)
	job "$1" "$RANKS" allreduce -t fp32 --count 65536 -i 20 -x 0 --reps 1 \
		--check --seed "$SEED"
	JOB_ENV=()
	! was_asked && ! has_changed
	ktap $? "$1: nobody changes"
}

part_chosen()
{
	one_switch || return
	impair loss 2%
	stays "one has chosen RC" INC_TRANSPORT=rc
	stays "one has chosen a window" INC_WINDOW=8
	one_switch_down
}

# There is no room for another tree: all goes on over RC.
part_refused()
{
	one_switch --max-trees 1 || return
	impair loss 2%
	job "no room" "$RANKS" allreduce -t fp32 --count 65536 -i 150 -x 0 \
		--reps 1 --check --seed "$SEED"
	[ "$(grep -c "\"$JOB_NAME\": packets are lost" "$LOG")" = 1 ]
	ktap $? "no room: they were to change, once" "$(grep -c lost "$LOG")"
	! grep -q '~uc-.*": ready' "$LOG"
	ktap $? "no room: they have not"
	one_switch_down
}

# begin_job NAME N CMD...: a job of N operations begins, and CMD is true, or was.
begin_job()
{
	local name=$1 n=$2

	shift 2
	job_start "$RANKS" allreduce -t fp32 -o sum --count 65536 -i "$n" -x 0 \
		--reps 1 --check --seed "$SEED"
	wait_for 30 "$@"
	ktap $? "$name: it comes to that" "$(tail -n 1 "$LOG")"
	sleep "0.0$((RANDOM % 10))"
}

# stands WHEN CMD...: a rank stands still for a while when CMD is true, or later.
stands()
{
	local when=$1

	shift
	begin_job "stopped, $when" 200 "$@"
	kill -STOP "${JOB_PIDS[1]}"
	sleep 1
	kill -CONT "${JOB_PIDS[1]}"
	job_wait
	ktap $? "stopped, $when: results" "$(job_why)"
	has_changed
	ktap $? "stopped, $when: it has changed to UC" "$(tail -n 1 "$LOG")"
	rm -f "$JOB_LOG".*
}

# daemon_stands SECONDS WHEN CMD...: the daemon does. No rank needs it, once it works.
daemon_stands()
{
	local seconds=$1 when=$2

	shift 2
	begin_job "daemon stopped, $when" 400 "$@"
	kill -STOP "$SERVE_PID"
	sleep "$seconds"
	kill -CONT "$SERVE_PID"
	job_wait
	ktap $? "daemon stopped for $seconds s, $when: results" "$(job_why)"
	rm -f "$JOB_LOG".*
}

part_stopped()
{
	local i

	one_switch || return
	impair loss 2%
	for ((i = 0; i < 2; i++)); do
		stands "when they are to change" was_asked
		stands "when all have come" has_changed
	done
	for i in 0.5 4; do
		daemon_stands $i "when they are to change" was_asked
		daemon_stands $i "when all have come" has_changed
	done
	one_switch_down
}

# dies WHEN CMD...: a rank is killed when CMD is true, or a little later.
dies()
{
	local when=$1 r rc=0 ended='' t0

	shift
	job_start "$RANKS" allreduce -t fp32 --count 65536 -i 100000 -x 0 --reps 1 \
		--seed "$SEED"
	wait_for 30 "$@"
	ktap $? "killed, $when: it comes to that" "$(tail -n 1 "$LOG")"
	sleep "0.0$((RANDOM % 10))"
	t0=$SECONDS
	kill -9 "${JOB_PIDS[1]}"
	for ((r = 0; r < RANKS; r++)); do
		wait "${JOB_PIDS[r]}" && rc=1 || ended+=" $?"
	done 2>/dev/null
	[ $rc = 0 ] && [ $((SECONDS - t0)) -lt "$(scaled 20)" ]
	ktap $? "killed, $when: the others end soon" "$((SECONDS - t0)) s"
	for ((r = 0; r < RANKS; r++)); do
		[ "$r" = 1 ] || grep -qi "rank\|gone\|left\|reset" "$JOB_LOG.$r" ||
			rc=1
	done
	ktap $rc "killed, $when: the others know why" \
		"statuses$ended; $(job_why)"
	wait_for 20 no_trees
	ktap $? "killed, $when: no tree is left"
	rm -f "$JOB_LOG".*
}

part_killed()
{
	local i

	one_switch || return
	impair loss 2%
	for ((i = 0; i < 3; i++)); do
		dies "when they are to change" was_asked
		dies "when all have come" has_changed
	done
	one_switch_down
}

# The daemon ends, and begins again, while ranks change.
part_daemon()
{
	local r rc=0 t0

	one_switch || return
	impair loss 2%
	job_start "$RANKS" allreduce -t fp32 --count 65536 -i 100000 -x 0 --reps 1 \
		--seed "$SEED"
	wait_for 30 was_asked
	ktap $? "daemon: they are to change" "$(tail -n 1 "$LOG")"
	sleep "0.0$((RANDOM % 10))"
	t0=$SECONDS
	serve_down
	serve_up -v "${PATIENT[@]}"
	for ((r = 0; r < RANKS; r++)); do
		wait "${JOB_PIDS[r]}" && rc=1
	done 2>/dev/null
	[ $rc = 0 ] && [ $((SECONDS - t0)) -lt "$(scaled 20)" ]
	ktap $? "daemon: the ranks end soon" "$((SECONDS - t0)) s: $(job_why)"
	rm -f "$JOB_LOG".*
	wait_for 20 no_trees
	ktap $? "daemon: no tree is left"
	changing "after that" allreduce -t fp32 -o sum --count 65536 -i 150
	one_switch_down
}

part_levels()
{
	levels_up 2 2 && serves_up "${PATIENT[@]}" || return
	impair loss 2%
	job "two leaves" 4 allreduce -t fp32 -o sum --count 65536 -i 150 -x 0 \
		--reps 1 --check --seed "$SEED"
	has_changed "$LAB_OUT/serve-sw.log"
	ktap $? "two leaves: they have changed to UC" \
		"$(tail -n 1 "$LAB_OUT/serve-sw.log")"
	serves_down
	levels_down
}

suite "changes late ends chosen refused stopped killed daemon levels" "$@"
