#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Loss, duplication and reordering on every link, in both directions, over RC: results
# are right, no QP goes to error, nothing hangs.
#
#   loss.sh [VAR=VALUE]... [PART...]
#	PART: lost doubled reordered corrupted window all
#
#   RXE  a rdma_rxe.ko that the hosts have instead of the kernel's

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"

RANKS=${RANKS:-4}
export INC_TRANSPORT=rc

# Set a queueing discipline on both ends of every link.
impair()
{
	local r

	topo_bursts off
	[[ " $* " != *" corrupt "* ]] || topo_neigh
	for ((r = 0; r < TOPO_N; r++)); do
		host "$r" tc qdisc replace dev eth0 root netem "$@" limit 10000
		sw tc qdisc replace dev "v$r" root netem "$@" limit 10000
	done
}

# NAME, number of elements, iterations, effects to be seen and the probability
# of each, netem's arguments.
impaired()
{
	local name=$1 count=$2 iter=$3 p=$4 what=$5 before

	shift 5
	impair "$@"
	watch_start
	before=$(failed_trees)
	job "$name, short" "$RANKS" allreduce -t fp32 -o sum --count 255 \
		-i 20 -x 0 --reps 1 --check --seed "$SEED"
	job "$name" "$RANKS" allreduce -t fp32 -o sum --count "$count" \
		-i "$iter" -x 0 --reps 1 --check --seed "$SEED"
	job "$name, barrier" "$RANKS" barrier -i 30
	watch_end
	# shellcheck disable=SC2086	# words
	watched "$name" "$p" $what
	ktap $(($(failed_trees) - before)) "$name: no QP error"
}

# Trees that failed while a rank still existed, in the kernel's own words.
failed_trees()
{
	grep -c 'member-error' "$LAB_OUT/events"
}

suite_up()
{
	topo_up "$RANKS" || return 1
	sw inc-tool monitor >"$LAB_OUT/events" 2>&1 &
	serve_up "${PATIENT[@]}"
}

part_lost()
{
	impaired "loss 0.1 %" 262144 4 0.001 lost loss 0.1%
	impaired "loss 1 %" 262144 3 0.01 lost loss 1%
	impaired "loss 5 %" 65536 3 0.05 lost loss 5%
}

part_doubled()
{
	impaired "duplication 5 %" 262144 3 0.05 doubled duplicate 5%
}

part_reordered()
{
	impaired "reordering 25 %" 65536 3 0.05 reordered delay 1ms \
		reorder 25% 50%
	impaired "jitter" 65536 3 0.05 reordered delay 2ms 1ms
}

part_corrupted()
{
	impaired "corruption 1 %" 65536 3 0.01 corrupted corrupt 1%
}

# Of the job's tree, again and again until the job ends.
change_windows()
{
	local window tree

	while kill -0 "${JOB_PIDS[0]}" 2>/dev/null; do
		tree=$(sw inc-tool -j tree show | jq -r '.[0].id')
		[ "$tree" != null ] || continue
		for window in 1 256 3 100 2 17; do
			sw inc-tool tree set "$tree" window "$window" 2>/dev/null &&
				CHANGED=$((CHANGED + 1))
		done
	done
}

# More and fewer packets may be in flight while some are lost.
part_window()
{
	local before CHANGED=0

	impair loss 2%
	before=$(failed_trees)
	# A slow kernel takes long for each change.
	job_start "$RANKS" allreduce -t fp32 -o sum --count 65536 \
		-i $((SLOW > 4 ? 18 : 6)) -x 0 --reps 1 --check --seed "$SEED"
	change_windows
	job_wait
	ktap $? "the window changes, and packets are lost" "$(job_why)"
	[ "$CHANGED" -gt 5 ]
	ktap $? "it has changed" "$CHANGED times"
	ktap $(($(failed_trees) - before)) "window: no QP error"
}

part_all()
{
	impaired "all of it" 65536 2 0.005 "lost doubled reordered corrupted" \
		delay 1ms 500us loss 1% duplicate 1% corrupt 0.5%
}

suite "lost doubled reordered corrupted window all" "$@"
