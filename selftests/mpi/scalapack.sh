#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Debian's test programs of ScaLAPACK (PBLAS) and MUMPS as applications: many
# communicators, types and sizes. Their verdicts with coll/inc have to equal
# those without it.
#
#   scalapack.sh [PATTERN]	those whose name contains PATTERN

# shellcheck disable=SC2319 # "$?" of a condition is what ktap wants
# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
# shellcheck source=selftests/mpi/lib.sh
. "$ROOT/selftests/mpi/lib.sh"

PATTERN=${1:-}
HOSTS=4		# PBLAS's input wants four ranks
PBLAS=/usr/lib/x86_64-linux-gnu/scalapack/openmpi-tests/PBLAS
MUMPS=/usr/lib/mumps

# checks NAME: the program's results; solutions are rounded, since the order of
# sums differs. Complex numbers are in parentheses; the imaginary parts are 0.
checks()
{
	grep -aE '\*\*\*\*\* .* check: |^ *\|  P|Solution is' "$LAB_OUT/$1" |
		awk '/Solution/ {
			gsub(/\(/, "")
			printf "Solution is"
			for (i = 3; i <= NF; i++)
				printf " %.3f", $i
			print ""
			next
		}
		{ print }'
}

# good NAME: there are results, and no bad ones.
good()
{
	checks "$1" | awk '/check:/ && !/PASSED/ { bad = 1 }
		/\|/ && ($4 != $3 || $5 != 0) { bad = 1 }
		/Solution/ && $0 != "Solution is 1.000 2.000 3.000 4.000 5.000" { bad = 1 }
		END { exit bad || !NR }'
}

# compare NAME PER_HOST HOSTS DIR PROGRAM [INPUT]: run without coll/inc, then
# with it.
compare()
{
	local name=$1 per=$2 n=$3 dir=$4 prog=$5 input=${6:-} since=$SECONDS cmd

	[[ $name == *$PATTERN* ]] || return 0
	cmd="cd '$dir' && exec ./$prog${input:+ <$input}"
	MPI_ARGS=(--mca coll_inc_priority 0)
	mpi "$name.stock" "$per" "$n" sh -c "$cmd" && good "$name.stock"
	ktap $? "$name: without coll/inc" \
		"$(tail -n 1 "$LAB_OUT/$name.stock" | tr '#' ' ')"
	MPI_ARGS=(--mca coll_inc_stats 2)
	mpi "$name" "$per" "$n" sh -c "$cmd" && good "$name"
	ktap $? "$name: with it" "$(grep -v 'coll/inc: rank' "$LAB_OUT/$name" |
		tail -n 1 | tr '#' ' ')"
	cmp -s <(checks "$name.stock") <(checks "$name")
	ktap $? "$name: it says the same, $(checks "$name" | wc -l) lines"
	[[ ", $(went "$name")" == *", allreduce "[1-9]* ]]
	ktap $? "$name: through the switch: $(went "$name")($((SECONDS - since)) s)"
}

part_pblas()
{
	local t level

	for t in s d c z; do
		for level in 1 2 3; do
			# One rank per host, or two.
			case $t in
			[sz])
				compare "pblas-$t$level" 1 4 $PBLAS \
					"${t}pb${level}tst"
				;;
			*)
				compare "pblas-$t$level" 2 2 $PBLAS \
					"${t}pb${level}tst"
				;;
			esac
		done
	done
}

part_mumps()
{
	local t

	for t in s d; do
		compare "mumps-$t" 1 4 $MUMPS "${t}simpletest" \
			input_simpletest_real
	done
	for t in c z; do
		compare "mumps-$t" 2 4 $MUMPS "${t}simpletest" \
			input_simpletest_cmplx
	done
}

suite_up()
{
	mpi_up $HOSTS
}

suite "pblas mumps"
