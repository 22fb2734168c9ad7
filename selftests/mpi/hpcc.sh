#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The HPC Challenge benchmark, small, as an application: over coll/inc its own
# checks have to give the same results as without. Its figures do not matter
# here.
#
#   hpcc.sh

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
# shellcheck source=selftests/mpi/lib.sh
. "$ROOT/selftests/mpi/lib.sh"

RANKS=4		# a grid of two by two

# input N: hpcc's input; HPL's matrix has N rows.
input()
{
	cat <<-END
	HPLinpack benchmark input file
	of the test hpcc
	HPL.out output file name
	8 device out
	1 # of problem sizes
	$1 Ns
	1 # of NBs
	40 NBs
	0 PMAP
	1 # of process grids
	2 Ps
	2 Qs
	16.0 threshold
	1 # of panel fact
	2 PFACTs
	1 # of recursive stopping criterium
	4 NBMINs
	1 # of panels in recursion
	2 NDIVs
	1 # of recursive panel fact.
	1 RFACTs
	1 # of broadcast
	1 BCASTs
	1 # of lookahead depth
	1 DEPTHs
	2 SWAP
	64 swapping threshold
	0 L1 in form
	0 U in form
	1 Equilibration
	8 memory alignment in double
	separator
	0 Number of additional problem sizes for PTRANS
	1200 values of N
	0 number of additional blocking sizes for PTRANS
	40 values of NB
	END
}

# hpcc NAME: run it in a directory of its own.
hpcc()
{
	mkdir -p "$LAB_OUT/hpcc-$1" && cd "$LAB_OUT/hpcc-$1" || return 1
	rm -f hpccoutf.txt
	input 400 >hpccinf.txt
	mpi "$1" 1 $RANKS hpcc
}

# checks NAME: hpcc's verdicts on its results, without its timings.
checks()
{
	grep -hE '^(Success|MPIRandomAccess(_LCG)?_ErrorsFraction|PTRANS_residual|CommWorldProcs|HPL_N)=|tests (completed and )?(passed|failed)|\.\.\.\.\. *(PASSED|FAILED)|^Found ' \
		"$LAB_OUT/hpcc-$1/hpccoutf.txt" | sed 's/[0-9.e+-]* \.\.\.\.\.*//; s/PTRANS_residual=.*/PTRANS_residual/'
}

part_stock()
{
	MPI_ARGS=(--mca coll_inc_priority 0)
	hpcc stock
	ktap $? "hpcc without coll/inc" \
		"$(head -n 1 "$LAB_OUT/stock" | tr '#' ' ')"
	echo "# $SECONDS s"
	checks stock >"$LAB_OUT/stock.checks"
}

part_ours()
{
	MPI_ARGS=(--mca coll_inc_stats 2)
	hpcc ours
	ktap $? "hpcc with coll/inc" "$(grep -v 'coll/inc: rank' "$LAB_OUT/ours" | head -n 1 | tr '#' ' ')"
	echo "# $SECONDS s; through the switch: $(went ours)"
	sed -n 's/.*coll\/inc: rank 0: \(.*fell through.*\)/# \1/p' \
		"$LAB_OUT/ours"
	checks ours >"$LAB_OUT/ours.checks"
	sed 's/^/# /' "$LAB_OUT/ours.checks"
	grep -q '^Success=1' "$LAB_OUT/ours.checks" &&
		! grep -q FAILED "$LAB_OUT/ours.checks"
	ktap $? "hpcc: its checks pass"
	cmp -s "$LAB_OUT/stock.checks" "$LAB_OUT/ours.checks"
	ktap $? "hpcc: they are as without coll/inc"
	[[ ", $(went ours)" == *", allreduce "[1-9]* ]]
	ktap $? "hpcc: operations go through the switch"
}

suite_up()
{
	mpi_up $RANKS
}

MPI_LIMIT=300
suite "stock ours" "$@"
