#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# PyTorch over coll/inc, unchanged: ranks in the hosts' namespaces, mpirun on
# the bridge host. Needs PyTorch and Open MPI (the lab's LAB_WITH=torch).
#
#   torch.sh [VAR=VALUE]... [PART...]
#	PART: all die

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"

RANKS=${RANKS:-4}
# shellcheck source=selftests/mpi/lib.sh
. "$ROOT/selftests/mpi/lib.sh"
TRAIN=$ROOT/userspace/examples/pytorch/train.py
CHECKS=$ROOT/selftests/torch/checks.py
MPI_LIMIT=300	# four times "import torch" on one CPU

suite_up()
{
	mpi_up "$RANKS" && clock_up
}

part_all()
{
	MPI_ARGS=(--mca coll_inc_stats 2)
	mpi all 1 "$RANKS" python3 "$CHECKS" "$SEED"
	cases all $?
	went_all all allgather allreduce alltoall barrier bcast gather reduce \
		scatter
	# One MPI_INT by MIN looks like what MPI_Comm_idup does (mpi.rst).
	! grep -aE '[1-9][0-9]* fell through' "$LAB_OUT/all" |
		grep -av ': as communicators are made:' >"$LAB_OUT/fell"
	ktap $? "all: nothing falls through" "$(head -n 1 "$LAB_OUT/fell")"
}

# bits NAME: of the first losses that train.py has printed.
bits()
{
	sed -n 's/.*"bits": "\([0-9a-f]*\)".*/\1/p' "$LAB_OUT/$1" | head -n 3
}

# rank_of R: the process of the rank on host R.
rank_of()
{
	ip netns pids "$TOPO-h$1" |
		grep -xF "$(pgrep -x python3)"
}

no_rank()
{
	local r

	for ((r = 0; r < RANKS; r++)); do
		[ -z "$(rank_of "$r")" ] || return
	done
}

# A rank is killed in the middle of train.py. Until then its losses have the
# bits of a sum in rank order, also where that order is not balanced.
# shellcheck disable=SC2319 # "$?" of a condition is what ktap wants
part_die()
{
	local n=3 pid rc from till

	MPI_ARGS=(--mca coll_inc_verbose 1)
	rm -f "$LAB_OUT/die"
	mpi die 1 $n python3 "$TRAIN" --steps 1000000 --seed "$SEED" &
	pid=$!
	wait_for 240 grep -q '"step": 9' "$LAB_OUT/die"
	ktap $? "die: train.py is under way" \
		"$(tail -n 1 "$LAB_OUT/die" | tr '#' ' ')"
	now_ms from
	kill -KILL "$(rank_of 1)"
	wait_for 10 no_rank
	ktap $? "die: the other ranks end"
	wait $pid
	rc=$?
	now_ms till
	echo "# mpirun ended $((till - from)) ms after the rank, status $rc"
	[ $rc != 0 ] && [ $rc != 124 ]
	ktap $? "die: mpirun ends with an error" "status $rc"
	# Whoever notices first ends the job: coll/inc, Open MPI's TCP, mpirun.
	grep -aqE 'a rank (died|left)|error occurred in|noticed that process' \
		"$LAB_OUT/die"
	ktap $? "die: somebody says why" "$(tail -n 1 "$LAB_OUT/die")"
	python3 "$CHECKS" losses $n --steps 3 --seed "$SEED" >"$LAB_OUT/losses"
	[ "$(bits die)" = "$(cat "$LAB_OUT/losses")" ]
	ktap $? "die: $n ranks, losses are those of the defined order" \
		"$(bits die | tr '\n' ' '), $(tr '\n' ' ' <"$LAB_OUT/losses")"
}

suite "all die" "$@"
