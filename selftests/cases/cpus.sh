#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The switch on several CPUs whose parts change while it works: what a member sends
# arrives on any CPU, by RPS masks that change all the time, results leave by any
# queue (no XPS), and CPUs go off line and come back. Beside jobs that check each
# result, others begin and end, are killed, or lose their tree, and trees without
# traffic are made and deleted.
#
#   cpus.sh [VAR=VALUE]... [PART...]
#	PART: flip levels hotplug small
#	VAR: LASTS=8, seconds of a part; OPS=1000 of "small"

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
# shellcheck source=selftests/lib/levels.sh
. "$(dirname "$0")/../lib/levels.sh"

LASTS=${LASTS:-8}
OPS=${OPS:-1000}
# Of the queries of a UC rank, whose answers are late where CPUs are.
INC_RETRIES=$(scaled 20)
export INC_RETRIES
CPUS=$(nproc)
# One online, of those that may go.
GOES=/sys/devices/system/cpu/cpu1/online
PERF=(-i 0 --count 1 --count 300 --count 20000)
# What runs beside, until a part's time is up.
BESIDE=()

busy_still()
{
	((SECONDS < UNTIL))
}

# flip_masks SWITCH: each queue of its ports hands packets to any CPUs, or to none.
# Runs in the background; prints how many masks it has set when it is ended.
flip_masks()
{
	# shellcheck disable=SC2016	# there
	exec ip netns exec "$TOPO-$1" bash -c '
		RANDOM=$1 n=0
		trap "echo \$n; exit" TERM
		cd /sys/class/net
		for q in */queues/tx-*/xps_cpus; do
			echo 0 >"$q"
		done 2>/dev/null
		exec {nap}<> <(:)
		while read -rt 0.01 -u "$nap" || :; do
			for q in [vdu]*/queues/rx-*/rps_cpus; do
				printf %x $((RANDOM % (1 << $2))) >"$q" &&
					n=$((n + 1))
			done
		done' flip "$SEED" "$CPUS" >"$LAB_OUT/flips.$1" 2>/dev/null
}

# flip_cpus: all but the first one go and come back.
flip_cpus()
{
	while busy_still; do
		nap "0.$((RANDOM % 5 + 1))"
		echo 0 >$GOES || return
		nap "0.$((RANDOM % 5 + 1))"
		echo 1 >$GOES || return
	done
}

# mix TRANSPORT N: a job of N ranks, each result checked.
mix()
{
	job_start "$2" mix --check=40 "${PERF[@]}" --transport "$1"
}

# check_jobs TRANSPORT: one job after the other.
check_jobs()
{
	local n=0

	while busy_still; do
		mix "$1" "$TOPO_N"
		job_wait || { job_why; return 1; }
		rm -f "$JOB_LOG".*
		n=$((n + 1))
	done
	echo "# $1: $n jobs"
}

# Of those of two ranks, which the other jobs do not have.
newest_tree()
{
	sw inc-tool -j tree show |
		jq 'map(select(.ranks == 2 and .below == null).id) | max // 0'
}

# formed: a daemon has said that all ranks of the last job are there.
formed()
{
	grep -q "\"${JOB_NAME}[^\"]*\": ready" "$LAB_OUT"/serve*.log
}

# disturb_jobs: small jobs that end well, or that lose a rank or their tree on the
# way: these may fail, and no result is wrong. Not before all are there: the others
# would wait for the lost one for longer than a part lasts.
disturb_jobs()
{
	local how begun=0 lost=0

	while busy_still; do
		how=$((RANDOM % 4))
		JOB_FIRST=$((RANDOM % TOPO_N))
		mix "$( ((RANDOM % 2)) && echo rc || echo uc)" 2
		((how > 1)) || { wait_for 60 formed; nap "0.$((RANDOM % 8 + 1))"; }
		((how != 0)) || kill -9 "${JOB_PIDS[RANDOM % 2]}"
		((how != 1)) || sw inc-tool tree del "$(newest_tree)" nowait
		begun=$((begun + 1))
		job_wait || { lost=$((lost + 1)); ((how < 2)); } ||
			{ job_why; return 1; }
		! grep -i "wrong result" "$JOB_LOG".* || return 1
		rm -f "$JOB_LOG".*
	done
	echo "# $lost of $begun jobs were lost"
}

# make_trees: trees of eight that nobody uses.
make_trees()
{
	local r n=0

	{
		echo "tree add id 999 ranks 8 slots 4 msg-size 4096 pmtu 1024"
		for ((r = 0; r < 8; r++)); do
			echo "member add tree 999 rank $r addr $(topo_ip4 0) qpn $((17 + r)) psn 3"
		done
		echo "member del tree 999 rank 3"
		echo "tree del 999"
	} >"$LAB_OUT/trees"
	while busy_still; do
		sw inc-tool -b "$LAB_OUT/trees" >/dev/null || return
		n=$((n + 1))
	done
	echo "# $n trees"
}

# beside NAME CMD...: in the background, until the time is up.
beside()
{
	local name=$1

	shift
	(RANDOM=$((SEED + ${#BESIDE[@]})) JOB_SEQ=$((1000 * (${#BESIDE[@]} + 1)))
	"$@") >"$LAB_OUT/beside.$name" 2>&1 &
	BESIDE+=("$name:$!")
}

# end_beside WHAT: all has ended well.
end_beside()
{
	local one name

	for one in "${BESIDE[@]}"; do
		name=${one%:*}
		wait "${one#*:}"
		ktap $? "$1: $name" "$(tr '\n' '|' <"$LAB_OUT/beside.$name")"
		grep '^#' "$LAB_OUT/beside.$name"
	done
	BESIDE=()
}

# received: packets that each CPU has received.
received()
{
	local packets

	while read -r packets _; do
		echo "$((16#$packets))"
	done </proc/net/softnet_stat
}

# all_took_part WHAT BEFORE: every CPU has received packets, and masks have changed.
all_took_part()
{
	local got flips

	got=$(paste <(echo "$2") <(received) |
		awk '$2 - $1 > 100 { n++ } END { print n + 0 }')
	flips=$(cat "$LAB_OUT"/flips.* | paste -sd+ | bc)
	[ "$got" = "$CPUS" ] && [ "$flips" -gt 50 ]
	ktap $? "$1: all CPUs take part" "$got of $CPUS, $flips masks were set"
	echo "# $1: $flips masks were set"
}

# disturbed WHAT: jobs go on while all that changes.
disturbed()
{
	local before flips=() name

	UNTIL=$((SECONDS + LASTS))
	before=$(received)
	rm -f "$LAB_OUT"/flips.*
	for name in "${SWITCHES[@]}"; do
		flip_masks "$name" &
		flips+=($!)
	done
	beside "RC jobs end well" check_jobs rc
	beside "UC jobs end well" check_jobs uc
	beside "no result of a disturbed one is wrong" disturb_jobs
	beside "trees come and go" make_trees
	[ "$1" != hotplug ] || beside "CPUs come and go" flip_cpus
	end_beside "$1"
	kill "${flips[@]}"
	wait "${flips[@]}" 2>/dev/null
	all_took_part "$1" "$before"
}

# one_switch: its ports have two queues. A rank that is slow for want of a CPU lives.
one_switch()
{
	local r

	SWITCHES=(sw)
	topo_up 4 && serve_up -v "${PATIENT[@]}" || return
	for ((r = 0; r < 4; r++)); do
		sw ethtool -L "v$r" tx 2 rx 2 || return
	done
}

# several WHAT CMD...: CMD makes switches; jobs go on there. Not on one CPU.
several()
{
	local what=$1

	shift
	[ "$CPUS" -gt 1 ] || { ktap_skip "$what" "one CPU"; return 0; }
	"$@"
	ktap $? "$what: switches and hosts" || return
	disturbed "$what"
	levels_down
	serve_down
	topo_down
}

part_flip()
{
	several flip one_switch
}

two_levels()
{
	levels_up 2 2 && serves_up "${PATIENT[@]}"
}

part_levels()
{
	several levels two_levels
}

part_hotplug()
{
	[ -w $GOES ] || { ktap_skip "hotplug" "no CPU can go off line"; return 0; }
	several hotplug one_switch
	echo 1 >$GOES
}

# small_ops WHAT: operations of 8 bytes, one after the other; the tail of their times.
small_ops()
{
	job_start 4 allreduce --count 2 -i 1 -x 0 --check --reps "$OPS" -j
	job_wait
	ktap $? "small: $OPS operations of 8 bytes, $1" "$(job_why)" || return
	jq -r --arg what "$1" '.results[0].samples_us | sort |
		"# 8 bytes, \($what): median \(.[length / 2 | floor]) us, " +
		"p99 \(.[length * 99 / 100 | floor]) us, max \(.[-1]) us"' \
		"$JOB_LOG.0"
	rm -f "$JOB_LOG".*
}

part_small()
{
	local bulk

	one_switch
	ktap $? "small: a switch and its hosts" || return
	small_ops "alone"
	job_start 4 allreduce -s 1M -i 1000000 --outstanding 4
	bulk=("${JOB_PIDS[@]}")
	wait_for 20 busy 100
	small_ops "beside 1 MiB"
	kill "${bulk[@]}"
	wait "${bulk[@]}" 2>/dev/null
	serve_down
	topo_down
}

suite "flip levels hotplug" "$@"
