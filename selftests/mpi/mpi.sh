#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# MPI programs over coll/inc: ranks in the hosts' namespaces, mpirun on the
# bridge host. Needs Open MPI (the lab's LAB_WITH=mpi).
#
#   mpi.sh [VAR=VALUE]... [PART...]
#	PART: info flat hosts meet room cannot aside order fail device session params train
#	      lossy bits off die han link ulfm

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"

RANKS=${RANKS:-4}
# shellcheck source=selftests/mpi/lib.sh
. "$ROOT/selftests/mpi/lib.sh"

suite_up()
{
	mpi_up "$RANKS"
}

OPS="allgather allreduce alltoall barrier bcast gather reduce reduce_scatter
	reduce_scatter_block scatter iallgather iallreduce ibarrier ibcast"

part_flat()
{
	MPI_ARGS=(--mca coll_inc_stats 2)
	mpi flat 1 "$RANKS" "$MPI_DIR/coll" "$SEED"
	cases flat $?
	# shellcheck disable=SC2086
	went_all flat $OPS
	MPI_ARGS+=(-x INC_REG=cache)
	mpi edge 1 "$RANKS" "$MPI_DIR/edge" "$SEED" early-free
	cases edge $?
	went_all edge reduce_scatter ireduce_scatter allreduce_init bcast_init
	grep -q "barrier_init: .* fell through: more than coll_inc_max_persistent" "$LAB_OUT/edge"
	ktap $? "edge: there are so many trees for persistent operations"
	mpi overlap 1 "$RANKS" "$MPI_DIR/overlap"
	cases overlap $?
	went_all overlap allgather ialltoall scatter_init
	MPI_ARGS+=(-x INC_LOG=info -x 'USER=al/ice')
	mpi wrong 1 "$RANKS" "$MPI_DIR/wrong"
	cases wrong $?
	grep -q 'ompi-al_ice-[0-9a-f]*' "$LAB_OUT/wrong"
	ktap $? "wrong: the jobs' names say whose they are" \
		"$(grep -m 5 ompi- "$LAB_OUT/wrong")"
	wait_for 5 no_tree
	ktap $? "flat: no tree is left"
}

# Two ranks per host. Open MPI 5.0.7 gathers types with gaps wrongly there.
part_hosts()
{
	MPI_ARGS=(--mca coll_inc_priority 0)
	mpi stock 2 "$RANKS" "$MPI_DIR/coll" "$SEED"
	MPI_ARGS=(--mca coll_inc_stats 2)
	mpi hosts 2 "$RANKS" "$MPI_DIR/coll" "$SEED"
	cases hosts $? stock
	went_all hosts allreduce barrier bcast reduce
	mpi hosts-edge 2 "$RANKS" "$MPI_DIR/edge" "$SEED"
	cases hosts-edge $?
	mpi hosts-overlap 2 "$RANKS" "$MPI_DIR/overlap"
	MPI_ARGS=(--mca coll_inc_priority 0)
	mpi stock-overlap 2 "$RANKS" "$MPI_DIR/overlap"
	cases hosts-overlap $? stock-overlap
	wait_for 5 no_tree
	ktap $? "hosts: no tree is left"
}

# of_comm JOB NAME TEXT: what rank 0's summary says of a communicator.
of_comm()
{
	grep -aq "rank 0: of $2: $3" "$LAB_OUT/$1"
	ktap $? "$1: $2: $3" \
		"$(grep -a "rank 0: of $2" "$LAB_OUT/$1" | tr '#' ' ')"
}

# As a program finds it: the ranks of a communicator meet when it pays.
part_meet()
{
	local early="fell through: before coll_inc_meet_after" n

	MPI_MEET=
	MPI_ARGS=(--mca coll_inc_stats 1)
	mpi meet 1 "$RANKS" "$MPI_DIR/comms" live 12 18
	ktap $? "meet: the sums are right" "$(tail -n 1 "$LAB_OUT/meet")"
	of_comm meet "live 0" "3 through the switch, 15 $early"
	of_comm meet "all others (3 communicators)" \
		"[0-9]* through the switch, [0-9]* $early"
	[ "$(grep -ac "rank 0: of " "$LAB_OUT/meet")" = 11 ]
	ktap $? "meet: ten communicators are named, the others summed up"
	mpi meet-much 1 "$RANKS" "$MPI_DIR/comms" live 1 2 65536
	of_comm meet-much "live 0" "2 through the switch$"
	MPI_ARGS=(--mca coll_inc_stats 1 --mca coll_inc_meet_after 4)
	mpi meet-hosts 2 2 "$MPI_DIR/comms" live 1 6
	of_comm meet-hosts "live 0" "[1-6] through the switch, [0-9]* fell"
	# Open MPI's own operations on a communicator that is being duplicated have no
	# place among the program's.
	MPI_LIMIT=40
	for n in 1 2; do
		mpi "meet-idup-$n" $n $((RANKS / n)) "$MPI_DIR/comms" idup 20 18
		ktap $? "meet-idup-$n: it ends, and the sums are right" \
			"$(tail -n 1 "$LAB_OUT/meet-idup-$n" | tr '#' ' ')"
		of_comm "meet-idup-$n" "MPI COMM [0-9]* DUP FROM 0 (20 communicators)" "[1-9][0-9]* through the switch"
	done
	MPI_LIMIT=120 MPI_MEET=1
	wait_for 5 no_tree
	ktap $? "meet: no tree is left"
}

# Ranks in another order than their hosts. Open MPI's own coll/han is wrong for
# one of these.
part_order()
{
	local hosts=$((RANKS < 3 ? RANKS : 3))

	MPI_ARGS=(--mca coll_inc_priority 0)
	mpi order-stock 2 $hosts "$MPI_DIR/order" 1
	echo "# order, without coll/inc: $(grep -ac '^not ok' "$LAB_OUT/order-stock") wrong"
	MPI_ARGS=(--mca coll_inc_stats 2)
	mpi order 2 $hosts "$MPI_DIR/order" 1
	cases order $?
	MPI_MAP="ppr:2:node --rank-by node"
	mpi order-node 2 $hosts "$MPI_DIR/order" "$SEED"
	cases order-node $?
	MPI_MAP=
}

# Non-blocking operations begin the meeting, in the background.
part_aside()
{
	local dup="MPI COMM [0-9]* DUP FROM 0"

	MPI_MEET=4
	MPI_ARGS=(--mca coll_inc_stats 1)
	mpi aside-only 1 "$RANKS" "$MPI_DIR/aside" "$SEED" 1 30 wait
	cases aside-only $?
	of_comm aside-only "$dup" "[1-9][0-9]* through the switch"
	mpi aside 1 "$RANKS" "$MPI_DIR/aside" "$SEED" 4 50
	cases aside $?
	mpi aside-threads 1 "$RANKS" "$MPI_DIR/aside" "$SEED" 1 30 threads
	cases aside-threads $?
	of_comm aside-threads "$dup" "0 through the switch, .*: non-blocking, and no blocking one"
	mpi aside-hosts 2 2 "$MPI_DIR/aside" "$SEED" 2 30
	cases aside-hosts $?
	mpi aside-end 1 "$RANKS" "$MPI_DIR/finalize"
	cases aside-end $?
	of_comm aside-end MPI_COMM_WORLD "[1-9][0-9]* through the switch"
	serve_down
	serve_up --max-trees 1
	mpi aside-full 1 "$RANKS" "$MPI_DIR/aside" "$SEED" 4 50
	cases aside-full $?
	MPI_MEET=1
	serve_down
	serve_up
}

# The run $1 takes less than twice the time of $2.
as_fast()
{
	awk '/^median / { ms[FILENAME] = $2 }
	     END { exit !(ms[ARGV[2]] && ms[ARGV[1]] < 2 * ms[ARGV[2]]) }' \
		"$LAB_OUT/$1" "$LAB_OUT/$2"
}

# How often the daemon had no room.
refused()
{
	grep -c "accepts at most" "$LAB_OUT/serve.log"
}

# More communicators than the switch has room for: they try again.
part_room()
{
	local full="no room at the switch (this daemon accepts at most 2 jobs" n

	serve_down
	serve_up --max-trees 2 --verbose
	MPI_MEET=4
	MPI_ARGS=(--mca coll_inc_stats 1 --mca coll_inc_verbose 1)
	mpi room 1 "$RANKS" "$MPI_DIR/comms" room 4 6
	ktap $? "room: the sums are right" "$(tail -n 1 "$LAB_OUT/room")"
	# The daemon allows one of each host: another host begins this one.
	of_comm room "live 1" "3 through the switch, 3 fell through"
	of_comm room "live 2" "0 through the switch, 6 fell through: .*$full"
	# In its eighth operation, when the others have been freed.
	of_comm room "live 3" "23 through the switch, 7 fell through: .*$full"
	grep -aq "live 3: nothing goes through the switch now: .*${full/ (/: }.*; tries again after 4 operations" "$LAB_OUT/room"
	ktap $? "room: it says when it tries again"
	# To find that out takes tens of milliseconds: not each pays for it. What else
	# the machine does may only make it look slower.
	MPI_MEET=16
	for n in 1 2 3; do
		MPI_ARGS=(--mca coll_inc_stats 1 --mca coll_inc_verbose 1)
		mpi room-many 1 "$RANKS" "$MPI_DIR/comms" live 40 20
		MPI_ARGS=(--mca coll_inc_priority 0)
		mpi room-stock 1 "$RANKS" "$MPI_DIR/comms" live 40 20
		as_fast room-many room-stock && break
	done
	ktap $? "room: forty communicators take no longer for it" \
		"$(grep -a '^median' "$LAB_OUT"/room-{many,stock})"
	# Nor after each time that others are freed: it is a few seconds, and each rank
	# asks six times when it does.
	MPI_ARGS=(--mca coll_inc_stats 1 --mca coll_inc_verbose 1)
	n=$(refused)
	mpi room-turns 1 "$RANKS" "$MPI_DIR/comms" turns 20 20
	n=$(($(refused) - n))
	[ $n -gt 0 ] && [ $n -lt $((20 * 3 * RANKS)) ]
	ktap $? "room: who frees some asks for no more than there were" "$n refusals"
	MPI_ARGS=(--mca coll_inc_stats 1 --mca coll_inc_verbose 1)
	MPI_MEET=4
	mpi room-hosts 2 2 "$MPI_DIR/comms" room 4 6
	of_comm room-hosts "live 3" "[1-9][0-9]* through the switch, [0-9]* fell through: .*no room at the switch"
	MPI_MEET=1
	serve_down
	serve_up
}

# all_of JOB: the milliseconds of all its communicators.
all_of()
{
	sed -n 's/^all \([0-9]*\).*/\1/p' "$LAB_OUT/$1"
}

# told JOB TEXT: one line says which rank keeps all from the switch, and why; before it
# is known, one says that.
told()
{
	local none="nothing goes through the switch now: rank" n

	n=$(grep -a "$none" "$LAB_OUT/$1" | grep -vc "has not answered yet")
	[ "$n" -le 1 ] && grep -aqE "$none $2" "$LAB_OUT/$1"
	ktap $? "$1: one line says who cannot, and why" \
		"$(grep -a coll/inc: "$LAB_OUT/$1" | head -n 3 | tr '#\n' '  ')"
}

# cheap JOB: its ten communicators take a second more than those of cannot-stock. By
# itself a busy machine takes twice as long now and then, and 10 s each are 100.
cheap()
{
	local ours stock

	ours=$(all_of "$1") stock=$(all_of cannot-stock)
	[ "${ours:-999999}" -lt $((3 * stock + $(scaled 1000))) ]
	ktap $? "$1: ten communicators take no second longer" "$ours, $stock ms"
	[ -z "$(went "$1")" ]
	ktap $? "$1: nothing goes through the switch" "$(went "$1")"
}

# Something is wrong on one host, or with the daemon's: to find that out by meeting
# would take 10 s, or 3 s, for each communicator.
part_cannot()
{
	local job="$MPI_DIR/comms live 10 20" MPI_TRY=

	"$MPI_DIR/able" >"$LAB_OUT/able" 2>&1
	cases able $?
	MPI_MEET=
	MPI_ARGS=(--mca coll_inc_priority 0)
	# shellcheck disable=SC2086	# words
	mpi cannot-stock 1 "$RANKS" $job
	MPI_ARGS=(--mca coll_inc_stats 2)
	# A rank that may lock no more than 64 KiB of memory.
	# shellcheck disable=SC2016,SC2086
	mpi cannot-lock 1 "$RANKS" \
		sh -c '[ "$(hostname)" != "$1" ] || limit="setpriv
			--inh-caps -ipc_lock --bounding-set -ipc_lock
			prlimit --memlock=65536"
		shift; exec $limit "$@"' odd "$TOPO-h1" $job
	cheap cannot-lock
	told cannot-lock "1 on $TOPO-h1: a rank cannot use the switch: .*memory"
	# A host that does not answer.
	MPI_ARGS=(--mca coll_inc_stats 2 --mca coll_inc_server
		"$(topo_ip4 200)")
	# shellcheck disable=SC2086
	mpi cannot-reach 1 "$RANKS" $job
	cheap cannot-reach
	told cannot-reach "0 on $TOPO-h0: (the daemon has not answered yet|no daemon answers)"
	wait_for 5 no_tree
	ktap $? "cannot: no tree is left"
	MPI_MEET=1
}

# One rank cannot do its part.
part_fail()
{
	MPI_ARGS=(--mca coll_inc_stats 2)
	mpi fail 1 "$RANKS" "$MPI_DIR/fail" flat
	cases fail $?
	went_all fail allreduce iallreduce allreduce_init bcast
	# Open MPI's reduction allocates memory at the leader then.
	MPI_ARGS=(--mca coll_inc_stats 2 --mca coll "^han,sm")
	mpi fail-hosts 2 "$RANKS" "$MPI_DIR/fail" hosts
	cases fail-hosts $?
	went_all fail-hosts reduce
	wait_for 5 no_tree
	ktap $? "fail: no tree is left"
}

# The job goes on when a communicator is revoked or a rank dies (ULFM).
part_ulfm()
{
	MPI_ARGS=(--with-ft ulfm --mca coll_inc_verbose 1)
	mpi ulfm 1 "$RANKS" "$MPI_DIR/ulfm"
	# A rank was killed, so the job's own status is that of a failure.
	cases ulfm 0
	grep -aq '^1\.\.' "$LAB_OUT/ulfm"
	ktap $? "ulfm: all cases end"
	grep -aq "SHRUNK.*go through the switch" "$LAB_OUT/ulfm"
	ktap $? "ulfm: a new communicator goes through the switch"
	wait_for 5 no_tree
	ktap $? "ulfm: no tree is left"
}

# Device memory, which a test component pretends to have. Use one rank per host:
# within a host Open MPI would use its coll/accelerator, which Debian's build
# lacks.
part_device()
{
	# mpirun would replace the path with its own.
	local with=(env
		"OMPI_MCA_mca_base_component_path=$MPI_DIR:$MPI_DIR/pretend"
		OMPI_MCA_accelerator=pretend)

	MPI_ARGS=(--mca coll_inc_stats 2)
	mpi device 1 "$RANKS" "${with[@]}" "$MPI_DIR/device"
	cases device $?
	went_all device allreduce iallreduce allreduce_init reduce \
		reduce_scatter \
		reduce_scatter_block bcast allgather alltoall gather scatter
}

# Without MPI_Init().
part_session()
{
	MPI_ARGS=(--mca coll_inc_stats 2)
	mpi session 1 "$RANKS" "$MPI_DIR/session"
	cases session $?
	went_all session allreduce
}

# One host has another parameter than the others, or no coll/inc: all ranks fall
# through.
part_params()
{
	local p did
	local -A others=([min_bytes]=5000 [min_ranks]=99 [priority]=0
		[meet_after]=2 [same_bits]=1)

	MPI_ARGS=(--mca coll_inc_stats 2)
	for p in "${!others[@]}" none; do
		# shellcheck disable=SC2016
		mpi "params-$p" 1 "$RANKS" \
			sh -c '[ "$(hostname)" != "$1" ] || export "$2"
			shift 2; exec "$@"' odd "$TOPO-h1" \
			"$([ "$p" = none ] && echo "OMPI_MCA_coll=^inc" ||
			   echo "OMPI_MCA_coll_inc_$p=${others[$p]}")" \
			"$MPI_DIR/loop" 0.2
		ktap $? "params: another $p on a host: the job runs" \
			"$(tail -n 1 "$LAB_OUT/params-$p" | tr '#' ' ')"
		did=$(went "params-$p")
		! grep -q . <<<"$did"
		ktap $? "params: $p: nothing goes through the switch" "$did"
		if [ "$p" = none ]; then
			grep -q "rank 1 has no coll/inc" "$LAB_OUT/params-$p"
		else
			grep -q "rank 1 coll_inc_$p=${others[$p]}" \
				"$LAB_OUT/params-$p"
		fi
		ktap $? "params: $p: it says why" \
			"$(grep -a 'coll/inc' "$LAB_OUT/params-$p" | head -n 1)"
	done
	MPI_ARGS+=(--mca coll_inc_verbose 1 -x "LD_PRELOAD=$MPI_DIR/unheard.so")
	mpi params-unheard 1 "$RANKS" "$MPI_DIR/loop" 0.2
	grep -q "this one's parameters (PMIx: [A-Z][A-Z_-]*): nothing" \
		"$LAB_OUT/params-unheard"
	ktap $? "params: PMIx fails: it says so, in words" \
		"$(grep -a 'coll/inc' "$LAB_OUT/params-unheard" | head -n 1)"
}

# losses NAME: the bits of the loss at each step.
losses()
{
	sed -n 's/.*"bits":"\([0-9a-f]*\)".*/\1/p' "$LAB_OUT/$1"
}

# same NAME OTHER WHAT: the losses of two jobs are the same bits.
same()
{
	losses "$1" | grep -q . && diff <(losses "$1") <(losses "$2") >/dev/null
	ktap $? "train: $3" \
		"$(losses "$1" | tr '\n' ' '), $(losses "$2" | tr '\n' ' ')"
}

# train NAME N ARGS...: train, by default without coll/inc.
train()
{
	local name=$1 n=$2

	shift 2
	mpi "$name" 1 "$n" "$MPI_DIR/mpi-train" -n 8 -w 500 -b 4 \
		-s $((SEED + 1)) "$@"
	ktap $? "train: $name, $n ranks, ends" \
		"$(head -n 1 "$LAB_OUT/$name" | tr '#' ' ')"
}

# An application: the losses have the bits of a sum in rank order, which is the
# order of recursive doubling, too.
part_train()
{
	local n

	for n in 4 3; do
		MPI_ARGS=(--mca coll_inc_stats 1)
		train "train.$n" $n
		went_all "train.$n" allreduce
		MPI_ARGS=(--mca coll_inc_priority 0)
		train "train-order.$n" $n -r
		same "train.$n" "train-order.$n" \
			"$n ranks, losses are those of the defined order"
	done
	MPI_ARGS=(--mca coll "^han,inc" --mca coll_tuned_use_dynamic_rules 1
		--mca coll_tuned_allreduce_algorithm 3)
	train train-doubling.4 4
	same train.4 train-doubling.4 \
		"4 ranks, Open MPI's recursive doubling gives the same losses"
	train train-other.4 4 -s $((SEED + 2))
	! diff <(losses train.4) <(losses train-other.4) >/dev/null
	ktap $? "train: another seed gives other losses"
	wait_for 5 no_tree
	ktap $? "train: no tree is left"
}

# The communicator changes from RC to UC under the application, same bits.
part_lossy()
{
	MPI_ARGS=(--mca coll_inc_stats 1)
	train train-kept.4 4 -n 40
	serve_lossy 3%
	watch_start
	train train-lossy.4 4 -n 40
	went_all train-lossy.4 allreduce
	same train-kept.4 train-lossy.4 "losing packets gives the same losses"
	[ "$(changed_jobs)" -gt 0 ]
	ktap $? "lossy: the communicator has changed to UC" \
		"$(grep -c 'packets are lost' "$LAB_OUT/serve.log")"
	watch_end
	watched lossy 0.03 lost
}

# bits NAME WHAT [MCA-ARGS...]: results have the bits of the order of the ranks.
bits()
{
	local name=$1 what=$2

	shift 2
	MPI_ARGS=(--mca coll_inc_stats 2 "$@")
	mpi "$name" 1 "$RANKS" "$MPI_DIR/bits" "$SEED"
	cases "$name" $?
	echo "# $name: $what: $(went "$name")"
}

# Reductions of floats have the same bits whether a switch had room or not.
part_bits()
{
	local same=(--mca coll_inc_same_bits 1)

	bits bits-switch "through the switch"
	went_all bits-switch allreduce ireduce reduce_scatter_block allreduce_init
	MPI_MEET=100000
	bits bits-early "before the ranks meet" "${same[@]}"
	[ -z "$(went bits-early)" ]
	ktap $? "bits-early: nothing goes through the switch"
	# They meet in the middle, some in the background.
	MPI_MEET=$((3 + SEED % 60))
	bits bits-both "first without, then through the switch" "${same[@]}"
	went_all bits-both allreduce iallreduce
	MPI_MEET=1
	serve_down
	bits bits-off "no daemon" "${same[@]}" --mca coll_inc_join_timeout_ms 2000
	# Only the others would know of that order.
	MPI_MEET=100000
	MPI_ARGS=(--mca coll_inc_join_timeout_ms 2000)
	# shellcheck disable=SC2016
	mpi bits-odd 1 "$RANKS" \
		sh -c '[ "$(hostname)" = "$1" ]; export OMPI_MCA_coll_inc_same_bits=$?
		shift; exec "$@"' odd "$TOPO-h1" "$MPI_DIR/bits" "$SEED" 3
	MPI_MEET=1
	grep -aq "^1\.\." "$LAB_OUT/bits-odd" &&
		grep -aq "coll_inc_same_bits=" "$LAB_OUT/bits-odd"
	ktap $? "bits-odd: a rank without the parameter: all use Open MPI's own"
	# Open MPI's own have others: else this would test nothing.
	MPI_ARGS=(--mca coll_inc_priority 0)
	mpi bits-stock 1 "$RANKS" "$MPI_DIR/bits" "$SEED"
	grep -A1 "^not ok .*allreduce, blocking" "$LAB_OUT/bits-stock" |
		grep -q " [1-9][0-9]* numbers"
	ktap $? "bits: Open MPI's own have other bits, not only of NaN"
	serve_up
}

# Without a daemon every operation falls through.
part_off()
{
	serve_down
	MPI_ARGS=(--mca coll_inc_stats 2 --mca coll_inc_join_timeout_ms 2000)
	mpi off 1 "$RANKS" "$MPI_DIR/coll" "$SEED"
	cases off $?
	[ -z "$(went off)" ]
	ktap $? "off: nothing goes through the switch"
	grep -q 'allreduce: [0-9]* fell through: no daemon answers' \
		"$LAB_OUT/off"
	ktap $? "off: and it says why"
	serve_up
}

# The documentation is where users of Open MPI look.
part_info()
{
	local p

	# shellcheck disable=SC2046
	env $("$MPI_DIR/mpirun-inc" --env) ompi_info --param coll inc \
		--level 9 >"$LAB_OUT/info" 2>&1
	for p in server priority min_ranks meet_after min_bytes max_bytes \
		max_persistent same_bits verbose stats timeout_ms join_timeout_ms \
		try_timeout_ms; do
		grep -A3 "parameter \"coll_inc_$p\"" "$LAB_OUT/info" | sed 1d |
			grep -q '[A-Z]'
		ktap $? "info: coll_inc_$p is documented"
	done
	sed 's/  */ /g' "$LAB_OUT/info" |
		grep -q '"coll_inc_priority" (current value: "90"'
	ktap $? "info: defaults are shown"
	"$MPI_DIR/mpirun-inc" -h | grep -q 'Usage: mpirun-inc'
	ktap $? "info: mpirun-inc helps"
	"$MPI_DIR/terms" >"$LAB_OUT/terms" 2>&1
	cases terms $?
}

# --- Failures in the middle of a loop of Allreduce
# -----------------------------

MPIRUN='^(mpirun|prterun)'	# in one process or in two

going()
{
	[ "$(grep -c '^going' "$LAB_OUT/$1")" = "$2" ]
}

# What the loop calls, if not Allreduce.
LOOP_OF=()

# loop_start NAME PER_HOST MPIRUN-ARGS...: start the job; all ranks are in the
# loop.
loop_start()
{
	SHM=$(ls /dev/shm)
	# Left over from another run.
	rm -f "$LAB_OUT/$1"
	MPI_ARGS=(--mca coll_inc_verbose 1 "${@:3}")
	mpi "$1" "$2" "$RANKS" "$MPI_DIR/loop" 60 "${LOOP_OF[@]}" &
	LOOP_PID=$!
	wait_for 60 going "$1" $(($2 * RANKS))
	ktap $? "$1: under way" "$(head -n 1 "$LAB_OUT/$1" | tr '#' ' ')"
	DIED_AT=$(date +%s%N)
}

no_loop()
{
	! pgrep -x loop
}

same_shm()
{
	[ "$(ls /dev/shm)" = "$SHM" ]
}

# loop_end NAME: all ranks end soon, with an error, and leave nothing.
loop_end()
{
	local rc

	wait_for 20 no_loop
	ktap $? "$1: all ranks end" "$(pgrep -c -x loop) are there"
	echo "# $1: after $((($(date +%s%N) - DIED_AT) / 1000000)) ms: $(grep -c '^error' "$LAB_OUT/$1") ranks told an error"
	# mpirun itself waits for a host that it cannot reach.
	[ "$1" != link ] || kill -KILL "$(pgrep -o "$MPIRUN")"
	wait_for 20 sh -c "! kill -0 $LOOP_PID"
	ktap $? "$1: mpirun ends"
	kill -KILL "$LOOP_PID" 2>/dev/null
	wait "$LOOP_PID"
	rc=$?
	[ $rc != 0 ] && ! grep -qE '^(ended|wrong)' "$LAB_OUT/$1"
	ktap $? "$1: nobody takes it for success" "status $rc"
	# TCP's keepalive detects an unreachable host.
	wait_for 30 no_tree
	ktap $? "$1: no tree is left"
	echo "# $1: no tree after $((($(date +%s%N) - DIED_AT) / 1000000)) ms"
	wait_for 5 same_shm
	ktap $? "$1: nothing is left in /dev/shm" "$(ls /dev/shm | tr '\n' ' ')"
	pkill -KILL "$MPIRUN|^(loop|prted)\$"
}

# A later job goes through the switch as ever.
# A busy machine may find the daemon only in a later operation.
works_again()
{
	MPI_ARGS=(--mca coll_inc_stats 2)
	mpi after 1 "$RANKS" "$MPI_DIR/loop" 2
	ktap $? "$1: the next job runs" \
		"$(head -n 1 "$LAB_OUT/after" | tr '#' ' ')"
	[[ ", $(went after)" == *", allreduce "[1-9]* ]]
	ktap $? "$1: and goes through the switch"
}

trees()
{
	sw inc-tool -j tree show | grep -o '"id": *[0-9]*' | grep -o '[0-9]*'
}

# A rank that is stopped for a while is waited for, unless there is a limit.
late()
{
	local pid

	MPI_ARGS=()
	mpi late 1 "$RANKS" "$MPI_DIR/loop" 5 &
	LOOP_PID=$!
	wait_for 60 going late "$RANKS"
	pid=$(sed -n "s/^going rank 1 pid //p" "$LAB_OUT/late")
	kill -STOP "$pid"
	# The others have to wait this long.
	sleep 4
	kill -CONT "$pid"
	wait "$LOOP_PID"
	ktap $? "late: the job waits for a rank that stood still" \
		"$(tail -n 1 "$LAB_OUT/late" | tr '#' ' ')"

	loop_start limit 1 --mca coll_inc_timeout_ms "$(scaled 2000)"
	kill -STOP "$(sed -n "s/^going rank 1 pid //p" "$LAB_OUT/limit")"
	loop_end limit
}

part_die()
{
	local per t

	late

	for per in 1 2; do
		loop_start "daemon-$per" $per
		serve_down
		loop_end "daemon-$per"
		serve_up

		loop_start "tree-$per" $per
		for t in $(trees); do
			sw inc-tool tree del "$t"
		done
		loop_end "tree-$per"

		loop_start "rank-$per" $per
		kill -KILL "$(sed -n "s/^going rank 1 pid //p" "$LAB_OUT/rank-$per")"
		loop_end "rank-$per"
	done
	loop_start mpirun-term 1
	kill -TERM "$(pgrep -o "$MPIRUN")"
	loop_end mpirun-term
	loop_start mpirun-kill 1
	kill -KILL "$(pgrep -o "$MPIRUN")"
	loop_end mpirun-kill
	works_again die
}

# han_tree JOB: the last tree of coll/han's own communicators. On a busy machine that
# of the communicator above them may come after it.
han_tree()
{
	local n=1

	! grep -a "go through the switch" "$LAB_OUT/$1" | tail -n 1 |
		grep -q "FROM GROUP" || n=2
	trees | tail -n "$n" | head -n 1
}

# With several ranks per host, coll/han does Scatter over our tree of the second
# ranks of each host. coll/han ignores how that ends.
part_han()
{
	local name

	for name in han han-session; do
		LOOP_OF=(scatter)
		[ $name = han ] || LOOP_OF+=(session)
		loop_start $name 2
		sw inc-tool tree del "$(han_tree "$name")"
		loop_end $name
		grep -aq "the job ends" "$LAB_OUT/$name"
		ktap $? "$name: it says why" \
			"$(grep -a coll/inc "$LAB_OUT/$name" | tail -n 1)"
	done
	LOOP_OF=()
}

part_link()
{
	loop_start link 1
	ip -n "$TOPO-h1" link set eth0 down
	loop_end link
	ip -n "$TOPO-h1" link set eth0 up
}

suite "info flat hosts meet room cannot aside order fail device session params train lossy off" "$@"
