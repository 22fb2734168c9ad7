#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Random MPI programs (random.c) over coll/inc. Each part runs PROGRAMS of them,
# from SEED on; a program that fails is run again by its own number:
#
#   random.sh SEED=4711 PROGRAMS=1 flat
#
# Where one fails, the same is done without coll/inc: what fails there, too, is
# no failure of ours.
#
#   random.sh [VAR=VALUE]... [PART...]
#	PART: flat now room hosts threads faults errors lossy han

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
# shellcheck source=selftests/mpi/lib.sh
. "$ROOT/selftests/mpi/lib.sh"

PROGRAMS=${PROGRAMS:-10}
RANKS=${RANKS:-4}
EACH=${EACH:-30}	# seconds for one program
STATS=(--mca coll_inc_stats 1 --mca coll_inc_same_bits 1)

suite_up()
{
	mpi_up "$RANKS"
}

# programs NAME PER_HOST HOSTS MODE
programs()
{
	local name=$1 per=$2 n=$3 mode=$4 rc

	echo "# $name: seed $SEED, $PROGRAMS programs"
	MPI_LIMIT=$((60 + PROGRAMS * EACH))
	MPI_ARGS=("${STATS[@]}")
	mpi "$name" "$per" "$n" "$MPI_DIR/random" "$SEED" "$PROGRAMS" "$mode" \
		$((EACH * SLOW))
	rc=$?
	grep -aE '^# (rank|drawn)' "$LAB_OUT/$name" | head -n 40
	if [ $rc != 0 ] && [[ $mode = plain || $mode = threads ]]; then
		MPI_ARGS=(--mca coll_inc_priority 0)
		mpi "$name.stock" "$per" "$n" "$MPI_DIR/random" "$SEED" \
			"$PROGRAMS" "$mode" $((EACH * SLOW))
		cases "$name" $rc "$name.stock"
	else
		cases "$name" $rc
	fi
	grep -aqE "rank 0: [1-9][0-9]* of [0-9]* collectives went through" \
		"$LAB_OUT/$name"
	ktap $? "$name: collectives go through the switch" \
		"$(grep -a 'collectives went' "$LAB_OUT/$name")"
	wait_for 5 no_tree
	ktap $? "$name: no tree is left"
}

# The ranks meet in the background, or in an operation, as it comes. Most communicators
# of such a program are too short for the default.
part_flat()
{
	MPI_MEET=6
	programs flat 1 "$RANKS" plain
	MPI_MEET=1
}

# They meet at once.
part_now()
{
	programs now 1 "$RANKS" plain
}

# There is no room for all communicators: they try again.
part_room()
{
	serve_down
	serve_up --max-trees 2
	MPI_MEET=3
	programs room 1 "$RANKS" plain
	MPI_MEET=1
	serve_down
	serve_up
}

# Without coll/han, which has errors of its own.
part_hosts()
{
	STATS+=(--mca coll ^han)
	programs hosts 2 2 plain
	STATS=("${STATS[@]::6}")
}

part_han()
{
	programs han 2 2 plain
}

part_threads()
{
	MPI_MEET=4
	programs threads 1 3 threads
	MPI_MEET=1
}

part_faults()
{
	programs faults 1 "$RANKS" faults
}

# Delete a tree now and then.
breaks()
{
	local ids

	while sleep "0.$((RANDOM % 8 + 1))"; do
		mapfile -t ids < <(sw inc-tool -j tree show |
			grep -o '"id": *[0-9]*' | grep -o '[0-9]*')
		[ ${#ids[@]} = 0 ] || sw inc-tool tree del \
			"${ids[RANDOM % ${#ids[@]}]}"
	done 2>/dev/null
}

part_errors()
{
	local pid

	breaks &
	pid=$!
	programs errors 1 "$RANKS" errors
	kill $pid
	wait $pid
	return 0
}

# Most communicators end before they have lost enough to change to UC.
part_lossy()
{
	serve_lossy 5%
	watch_start
	programs lossy 1 "$RANKS" plain
	watch_end
	watched lossy 0.05 lost
}

suite "flat now room hosts threads faults errors" "$@"
