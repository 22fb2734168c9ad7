#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# MPICH's collective tests over coll/inc: tests that pass without it have to
# pass with it. Each case reports how many operations of all ranks went through
# the switch. Failed cases run again without the component; with STOCK=all, all
# do. Cases for more than MAX ranks (6) run with MAX: MAX=16 takes them as they
# are.
#
# One set of PRRTE's daemons runs all jobs.
#
#   mpich.sh [VAR=VALUE]... [PATTERN]	in a kernel of the lab; those whose name
#					contains PATTERN
#
# Run mpich-build.sh first to build the programs, in build/mpich.

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
# shellcheck source=selftests/mpi/lib.sh
. "$ROOT/selftests/mpi/lib.sh"

PATTERN=${1:-}
STOCK=${STOCK:-failed}
MAX=${MAX:-6}		# ranks at most
DIR=$ROOT/build/mpich/coll
HOSTS=10
[ "$MAX" -gt "$HOSTS" ] || HOSTS=$MAX

# one NAME RANKS PROGRAM ARGS...: run it, print "pass" or "fail".
one()
{
	local name=$1 n=$2

	shift 2
	mpi "$name" $((n > HOSTS ? 2 : 1)) $((n > HOSTS ? (n + 1) / 2 : n)) \
		"$@" &&
		grep -q 'No Errors' "$LAB_OUT/$name" && echo pass && return
	echo fail
}

# A job that failed may have left something behind in the daemons.
fresh_dvm()
{
	mpi_dvm_down
	mpi_dvm_up
}

OURS=0 BOTH=0 CASES=0 OPS=0

# case_of LINE: a line of MPICH's testlist: PROGRAM RANKS [KEY=VALUE]...
case_of()
{
	local prog=$1 n=$2 w args=() ours stock=- ops name since=$SECONDS

	shift 2
	[ "$n" -le "$MAX" ] || n=$MAX
	for w in "$@"; do
		[[ $w != arg=* ]] || args+=("${w#arg=}")
	done
	name="$prog${args[*]:+ ${args[*]}}, $n ranks"
	if [ ! -x "$DIR/$prog" ]; then
		ktap_skip "$name" "does not compile with Open MPI"
		return
	fi
	CASES=$((CASES + 1))
	MPI_ARGS=(--mca coll_inc_stats 2)
	ours=$(one mpich "$n" "$DIR/$prog" "${args[@]}")
	ops=$(went mpich)
	for w in $(grep -oE '[0-9]+' <<<"$ops"); do
		OPS=$((OPS + w))
	done
	[ "$ours" = pass ] || fresh_dvm
	if [ "$ours" = fail ] || [ "$STOCK" = all ]; then
		MPI_ARGS=(--mca coll_inc_priority 0)
		cp "$LAB_OUT/mpich" "$LAB_OUT/mpich.$CASES"
		stock=$(one mpich.stock "$n" "$DIR/$prog" "${args[@]}")
		[ "$stock" = pass ] || fresh_dvm
	fi
	name+=": stock $stock, coll/inc $ours, through the switch: ${ops:-none}"
	name="${name%, } ($((SECONDS - since)) s)"
	case $ours/$stock in
	pass/*)	   OURS=$((OURS + 1)); ktap 0 "$name" ;;
	fail/fail)
		BOTH=$((BOTH + 1))
		ktap_skip "$name" "fails without coll/inc, too"
		;;
	*)	   ktap 1 "$name" \
		"$(grep -v 'coll/inc: rank' "$LAB_OUT/mpich.$CASES" |
			head -n 1 | tr '#' ' ')" ;;
	esac
}

part_list()
{
	local line

	while read -r -a line; do
		[[ ${#line[@]} -ge 2 && ${line[0]} != \#* &&
			${line[1]} -ge 2 ]] || continue
		[[ ${line[0]} == *$PATTERN* ]] || continue
		case_of "${line[@]}"
	done <"$DIR/testlist"
	echo "# $CASES cases: $OURS pass with coll/inc, $BOTH fail with and without; $OPS operations went through the switch; $SECONDS s"
}

suite_up()
{
	[ -e "$DIR/testlist" ] || {
		echo "# MPICH's tests are not there, see build/mpich-build.log"
		return 1
	}
	mpi_up $HOSTS && mpi_dvm_up
}

MPI_LIMIT=180
suite list
