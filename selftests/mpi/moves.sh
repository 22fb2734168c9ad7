#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# MPI programs whose trees the manager moves while they run: no error, and the bits of
# a run without moves. Needs Open MPI and the manager's libraries (LAB_WITH=fabric; ddp:
# LAB_WITH=torch).
#
#   moves.sh [VAR=VALUE]... [PART...]
#	MOVES=20: moves of each job
#	STEPS=1000: of the training, which takes longer than that
#	PART: mpi ddp

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
# shellcheck source=selftests/lib/levels.sh
. "$ROOT/selftests/lib/levels.sh"
# shellcheck source=selftests/mpi/lib.sh
. "$ROOT/selftests/mpi/lib.sh"
# shellcheck source=selftests/lib/fabric.sh
. "$ROOT/selftests/lib/fabric.sh"

MOVES=${MOVES:-20}
STEPS=${STEPS:-1000}
MPI_LIMIT=300
TRAIN=$ROOT/userspace/examples/pytorch/train.py

suite_up()
{
	local name

	levels_up 2 2 && mpi_nodes || return
	for name in "${SWITCHES[@]}"; do
		agent_up "$name" || return
	done
	fabric_known
	amd_up && wait_for 30 ctl_up && clock_up || return
	MPI_AM=$(topo_ip4 sw)
	MPI_ARGS=(--mca coll_inc_stats 2 -x "INC_LOG=warn")
}

suite_down()
{
	mpi_down
	amd_down
	agents_down
}

# groups N: so many have trees.
groups()
{
	[ "$(ctl group | grep -c '^group.*: ready')" -ge "$1" ]
}

# move_all NAME PID: all groups leave a leaf, and go back to it as they leave the other,
# while that process lives.
move_all()
{
	local name=$1 pid=$2 sw=l0 i before

	before=$(grep -c "group-moved" "$LAB_OUT/amd.log")
	for ((i = 0; i < MOVES; i++)); do
		ctl switch drain "$sw" >/dev/null
		wait_for 20 no_trees "$sw" && kill -0 "$pid" || break
		ctl switch resume "$sw" >/dev/null
		[ "$sw" = l0 ] && sw=l1 || sw=l0
	done
	ctl switch resume "$sw" >/dev/null
	echo "# $name: $(($(grep -c "group-moved" "$LAB_OUT/amd.log") - before)) moves of groups"
	[ "$i" = "$MOVES" ]
	ktap $? "$name: all groups leave a switch $MOVES times" \
		"$i; $(ctl switch; ctl group; tail -n 5 "$LAB_OUT/amd.log")"
	! grep -E "(rank|group)-(lost|failed|rebuilt|stays)" "$LAB_OUT/amd.log"
	ktap $? "$name: the manager reports no trouble"
}

# bits JOB: what its ranks print of their results' bits.
bits()
{
	sed -nE 's/.*(bits of rank [0-9]+: [0-9a-f]+).*/\1/p
		s/.*("step": [0-9]+),.*("bits": "[0-9a-f]+").*/\1 \2/p' "$LAB_OUT/$1" | sort
}

# same_bits NAME JOB OTHER
same_bits()
{
	[ -n "$(bits "$2")" ] && [ "$(bits "$2")" = "$(bits "$3")" ]
	ktap $? "$1: the bits are those of a run without moves" \
		"$(diff <(bits "$2") <(bits "$3") | head -n 2)"
}

# Four communicators, several operations at once on each.
part_mpi()
{
	local end=$MPI_WORK/end pid

	mpi mpi 1 "$TOPO_N" "$MPI_DIR/moves" "$end" "$SEED" &
	pid=$!
	wait_for 60 groups 4
	ktap $? "mpi: its communicators have trees" "$(ctl group)"
	move_all mpi $pid
	: >"$end"
	wait $pid
	cases mpi $?
	went_all mpi iallreduce iallgather reduce_scatter_block bcast
	mpi mpi-still 1 "$TOPO_N" "$MPI_DIR/moves" "$end" "$SEED"
	cases mpi-still $?
	same_bits mpi mpi mpi-still
}

# DistributedDataParallel: its losses have the same bits.
part_ddp()
{
	local pid

	mpi ddp 1 "$TOPO_N" python3 "$TRAIN" --steps "$STEPS" --seed "$SEED" &
	pid=$!
	wait_for 240 grep -q '"step": 9,' "$LAB_OUT/ddp"
	groups 1
	ktap $? "ddp: its communicator has a tree" "$(ctl group)"
	move_all ddp $pid
	wait $pid
	ktap $? "ddp: the training ends" "$(tail -n 3 "$LAB_OUT/ddp" | tr '#' ' ')"
	grep -q 'parameters equal' "$LAB_OUT/ddp"
	ktap $? "ddp: all ranks have the same parameters"
	went_all ddp allreduce
	mpi ddp-still 1 "$TOPO_N" python3 "$TRAIN" --steps "$STEPS" --seed "$SEED"
	ktap $? "ddp-still: the training ends" \
		"$(tail -n 3 "$LAB_OUT/ddp-still" | tr '#' ' ')"
	[ "$(bits ddp | wc -l)" = "$STEPS" ]
	ktap $? "ddp: $STEPS losses are compared"
	same_bits ddp ddp ddp-still
}

suite "mpi ddp" "$@"
