#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# MPICH's collective tests over coll/inc: what passes without it has to pass with
# it. A test that fails is run again without, to see.
#
#   mpich.sh [PATTERN]	builds them, and runs this script in a kernel
#   mpich.sh --in-lab DIR PATTERN

here=$(cd "$(dirname "$0")" && pwd)
ROOT=$(cd "$here/../.." && pwd)

if [ "${1:-}" != --in-lab ]; then
	LAB=$ROOT/selftests/lab/lab
	dir=$($LAB env | sed -n 's/^LAB_CACHE=//p')/mpich-4.0.2
	export LAB_WITH=mpi
	$LAB exec -- "$here/mpich-build.sh" "$dir" >"$ROOT/build/mpich-build.log" 2>&1 || {
		tail "$ROOT/build/mpich-build.log"
		exit 1
	}
	exec "$LAB" run --backend uml --timeout 1500 --name check/mpich-run -- \
		"$0" --in-lab "$dir" "${1:-}"
fi

# shellcheck source=selftests/lib.sh
. "$ROOT/selftests/lib.sh"
# shellcheck source=selftests/mpi/lib.sh
. "$here/lib.sh"

DIR=$2
PATTERN=$3
HOSTS=10

# one NAME RANKS PROGRAM ARGS...: 0 if it passes.
one()
{
	local name=$1 n=$2

	shift 2
	mpi "$name" $((n > HOSTS ? 2 : 1)) $((n > HOSTS ? (n + 1) / 2 : n)) "$@" &&
		grep -q 'No Errors' "$LAB_OUT/$name"
}

# case_of LINE: a line of MPICH's testlist: PROGRAM RANKS [KEY=VALUE]...
case_of()
{
	local prog=$1 n=$2 w args=() went

	shift 2
	for w in "$@"; do
		[[ $w != arg=* ]] || args+=("${w#arg=}")
	done
	if [ ! -x "$DIR/coll/$prog" ]; then
		ktap_skip "$prog, $n ranks" "does not compile with Open MPI"
		return
	fi
	MPI_ARGS=(--mca coll_inc_stats 1)
	if one mpich "$n" "$DIR/coll/$prog" "${args[@]}"; then
		went=$(went mpich)
		ktap 0 "$prog ${args[*]}, $n ranks: ${went:-nothing goes through the switch}"
		return
	fi
	cp "$LAB_OUT/mpich" "$LAB_OUT/$prog.$n"
	MPI_ARGS=(--mca coll_inc_priority 0)
	if one mpich "$n" "$DIR/coll/$prog" "${args[@]}"; then
		ktap 1 "$prog ${args[*]}, $n ranks" "$(head -n 1 "$LAB_OUT/$prog.$n" | tr '#' ' ')"
	else
		ktap_skip "$prog ${args[*]}, $n ranks" "fails without coll/inc, too"
	fi
}

MPI_LIMIT=60
trap mpi_down EXIT
mpi_up $HOSTS || exit 1
while read -r -a line; do
	[[ ${#line[@]} -ge 2 && ${line[0]} != \#* && ${line[1]} -ge 2 ]] || continue
	[[ ${line[0]} == *$PATTERN* ]] || continue
	case_of "${line[@]}"
done <"$DIR/coll/testlist"
ktap "$(sw inc-tool -j tree show | grep -c '"id"')" "no tree is left"
ktap_end
