#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# MPI programs over coll/inc: ranks in the hosts' namespaces, mpirun on the
# bridge host. Needs Open MPI (the lab's LAB_WITH=mpi).
#
#   mpi.sh [VAR=VALUE]... [flat | hosts | off]...

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"

while [[ ${1:-} == *=* ]]; do
	declare "$1"
	shift
done
RANKS=${RANKS:-4}
SEED=${SEED:-$RANDOM}
# shellcheck source=selftests/mpi/lib.sh
. "$ROOT/selftests/mpi/lib.sh"

# cases NAME STATUS [KNOWN]: its cases are ours. KNOWN: a job of the same program
# without coll/inc; what fails there is none of ours.
cases()
{
	local name=$1 rc=$2 line

	while read -r line; do
		line=${line%% #*}
		case $line in
		"ok "*)	    ktap 0 "$name: ${line#* - }" ;;
		"not ok "*)
			if [ -n "${3:-}" ] && grep -qF -- "$line #" "$LAB_OUT/$3"; then
				ktap_skip "$name: ${line#* - }" "fails without coll/inc, too"
			else
				ktap 1 "$name: ${line#* - }"
			fi ;;
		esac
	done <"$LAB_OUT/$name"
	[ "$rc" = 0 ] || [ -z "${3:-}" ] || ! grep -q '^1\.\.' "$LAB_OUT/$name" || rc=0
	ktap "$rc" "$name: the job ends" \
		"status $rc; $(grep -vE '^(ok|1\.\.)' "$LAB_OUT/$name" | head -n 1 | tr '#' ' ')"
}

# went_all NAME OPERATION...: each of these did.
went_all()
{
	local name=$1 op

	shift
	echo "# $name, through the switch: $(went "$name")"
	for op in "$@"; do
		[[ ", $(went "$name")" == *", $op "[1-9]* ]]
		ktap $? "$name: $op goes through the switch"
	done
}

OPS="allgather allreduce alltoall barrier bcast gather reduce reduce_scatter
	reduce_scatter_block scatter iallgather iallreduce ibarrier ibcast"

t_flat()
{
	MPI_ARGS=(--mca coll_inc_stats 1)
	mpi flat 1 "$RANKS" "$MPI_DIR/coll" "$SEED"
	cases flat $?
	# shellcheck disable=SC2086
	went_all flat $OPS
	ktap "$(sw inc-tool -j tree show | grep -c '"id"')" "flat: no tree is left"
}

# Two ranks on each host. Open MPI 5.0.7 gathers types with holes wrongly there.
t_hosts()
{
	MPI_ARGS=(--mca coll_inc_priority 0)
	mpi stock 2 "$RANKS" "$MPI_DIR/coll" "$SEED"
	MPI_ARGS=(--mca coll_inc_stats 1)
	mpi hosts 2 "$RANKS" "$MPI_DIR/coll" "$SEED"
	cases hosts $? stock
	went_all hosts allreduce barrier bcast reduce
	ktap "$(sw inc-tool -j tree show | grep -c '"id"')" "hosts: no tree is left"
}

# Without a daemon all falls through.
t_off()
{
	serve_down
	MPI_ARGS=(--mca coll_inc_stats 1 --mca coll_inc_join_timeout_ms 2000)
	mpi off 1 "$RANKS" "$MPI_DIR/coll" "$SEED"
	cases off $?
	[ -z "$(went off)" ]
	ktap $? "off: nothing goes through the switch"
}

echo "# seed $SEED, kernel $(uname -r), $LAB_BACKEND"
trap mpi_down EXIT
[ $# -gt 0 ] || set -- flat hosts off
mpi_up "$RANKS" || exit 1
for t in "$@"; do
	"t_$t"
done
ktap_end
