#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The MPI part of the benchmark, inside its kernel: collectives of Open MPI over
# the switch, and of Open MPI alone. Takes samples, in turns, into $LAB_OUT;
# report_mpi.py makes figures of them.
#
#   mpi.sh REPETITIONS [PART...]
#	PART: ranks others fallen latency halo residence cpu beside train ddp comms

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
# shellcheck source=selftests/mpi/lib.sh
. "$ROOT/selftests/mpi/lib.sh"

REPS=$1
shift
PARTS=${*:-ranks others fallen latency halo residence cpu beside train ddp comms}
# Mb/s of a shaped link. The one CPU, which does all hosts' work, has to keep 30
# % of its time free: with 16 ranks in "ranks", with 8 elsewhere.
RANKS_RATE=9
RATE=18
BURST=3028		# bytes, two packets
MOST_RANKS=16
# Do not measure how soon a slow rank is taken for dead.
DEAD_TIME=5000		# ms
# As in libinc, longer than any queue: 4.096 us * 2^18 = 1.1 s.
QP_TIMEOUT=18
TRACING=/sys/kernel/tracing
ACCOUNT_KO=$ROOT/build/bench/account/inc_account.ko
S=$LAB_OUT/samples
PIDS=()

ALLREDUCE="allreduce:65536:5 allreduce:262144:3 allreduce:1048576:2"
OTHERS="bcast reduce alltoall gather scatter allgather"
SHORT="allreduce:8:7:100 barrier:0:7:100"

die()
{
	echo "bench: $*"
	exit 1
}

# shape LIMIT [RATE]: both ends of each link. LIMIT: bytes that they queue.
shape()
{
	local r how="root tbf rate ${2:-$RATE}mbit burst $BURST limit $1"

	topo_bursts off
	for ((r = 0; r < TOPO_N; r++)); do
		echo "qdisc replace dev v$r $how"
	done | tc -n "$TOPO-sw" -batch - || die "no shaped links"
	for ((r = 0; r < TOPO_N; r++)); do
		# shellcheck disable=SC2086
		tc -n "$TOPO-h$r" qdisc replace dev eth0 $how ||
			die "no shaped links"
	done
}

unshape()
{
	local r

	topo_bursts on
	for ((r = 0; r < TOPO_N; r++)); do
		tc -n "$TOPO-h$r" qdisc del dev eth0 root
		tc -n "$TOPO-sw" qdisc del dev "v$r" root
	done
}

# Deep queues harm TCP, and dropped packets harm rxe: give each a suitable
# queue.
shape_for()
{
	case $1 in
	inc | ucx*)	shape 1mb ;;
	*)		shape 128kb ;;
	esac
}

# as WHO: configure Open MPI. inc, inc-ucx: over the switch, with other messages
# over TCP, or as ucx; otherwise without: tcp: the defaults; ring: a ring over TCP, everything sent at once; ucx: over the hosts'
# rxe; ucx-ring: a ring over rxe; doubling: recursive doubling over TCP, which
# adds in the order of a balanced tree; same: coll/inc without the switch, which adds in
# its order.
as()
{
	local tcp=(--mca pml ob1 --mca btl "self,sm,tcp"
		--mca btl_tcp_if_include eth0)
	local eager=(--mca btl_tcp_eager_limit 262144
		--mca btl_tcp_rndv_eager_limit 262144)
	local ucx=(--mca pml ucx
		--mca osc ^ucx -x "UCX_TLS=self,rc_verbs,tcp:aux"
		-x UCX_IB_GID_INDEX=1 -x UCX_RC_TIMEOUT=1s)
	local algorithm=(--mca coll "^han,inc"
		--mca coll_tuned_use_dynamic_rules 1
		--mca coll_tuned_allreduce_algorithm)

	MPI_TRANSPORT=("${tcp[@]}")
	MPI_ARGS=(--mca coll_inc_priority 0)
	case $1 in
	inc)	  MPI_ARGS=(--mca coll_inc_stats 1) ;;
	inc-ucx)  MPI_TRANSPORT=("${ucx[@]}")
		  MPI_ARGS=(--mca coll_inc_stats 1) ;;
	tcp)	  ;;
	ring)	  MPI_ARGS=("${algorithm[@]}" 4 "${eager[@]}") ;;
	same)	  MPI_ARGS=(--mca coll_inc_same_bits 1) ;;
	doubling) MPI_ARGS=("${algorithm[@]}" 3) ;;
	ucx)	  MPI_TRANSPORT=("${ucx[@]}") ;;
	ucx-ring) MPI_TRANSPORT=("${ucx[@]}")
		  MPI_ARGS=("${algorithm[@]}" 4) ;;
	esac
}

# run WHO N OUT PROGRAM ARGS...: run a job of N ranks; its lines of JSON to OUT.
run()
{
	local who=$1 n=$2 out=$3 name=job.$1.$2

	shift 3
	as "$who"
	mpi "$name" 1 "$n" "$MPI_WORK/rank" "$@" ||
		die "$who, $n ranks: $(grep -av '^{' "$LAB_OUT/$name" |
			head -n 5 | tr '\n' ' ')"
	[[ $who != inc* ]] ||
		went "$name" | grep -qE '(allreduce|bcast|barrier) [1-9]' ||
		die "$n ranks: nothing went through the switch"
	! grep -qE '[1-9][0-9]* fell through' "$LAB_OUT/$name" ||
		die "$n ranks: $(grep -m 1 'fell through:' "$LAB_OUT/$name")"
	grep '^{' "$LAB_OUT/$name" >"$out" || die "$who, $n ranks: no results"
}

# bench WHO N OUT SPEC...
bench()
{
	local who=$1 n=$2 out=$3

	shift 3
	run "$who" "$n" "$out" "$MPI_DIR/bench" "$@"
}

# Wrapper that starts each rank: it tells UCX the host's device, and mounts a
# sysfs of the namespace, in which UCX finds that host's eth0.
rank_program()
{
	cat >"$MPI_WORK/rank" <<-'END'
	#!/bin/sh
	h=$(hostname)
	export UCX_NET_DEVICES="${h%-h*}${h##*-h}:1,eth0"
	exec unshare --mount sh -c 'mount -t sysfs sysfs /sys &&
		mount -t debugfs debugfs /sys/kernel/debug && exec "$@"' rank "$@"
	END
	chmod +x "$MPI_WORK/rank"
}

part_ranks()
{
	local rep=$1 n

	shape 1mb "$RANKS_RATE"
	for n in 2 4 8 16; do
		# shellcheck disable=SC2086
		bench inc $n "$S/ranks.inc.$n.$rep" $ALLREDUCE
	done
	unshape
}

# Run them in turns, as close to each other as possible.
part_others()
{
	local rep=$1 who

	for who in $SIDES; do
		shape_for "$who"
		# shellcheck disable=SC2046,SC2086
		bench "$who" 8 "$S/others.$who.8.$rep" $ALLREDUCE \
			$(printf '%s:1048576:2 ' $OTHERS)
	done
	unshape
}

# What falls through, in the switch's order or not.
part_fallen()
{
	local rep=$1 n who

	MPI_MEET=1000000
	for n in 5 8; do
		for who in tcp same; do
			bench "$who" $n "$S/fallen.$who.$n.$rep" \
				{allreduce,reduce}:{8:5:40,1024:5:40,8192:5:10,65536:5:4,1048576:5}
		done
	done
	for who in tcp same; do
		shape_for tcp
		bench "$who" 8 "$S/fallen-shaped.$who.8.$rep" \
			{allreduce,reduce}:{65536:3,1048576:2}
	done
	unshape
	MPI_MEET=1
}

# rtt YIELDS OUT: round trips of writes with Immediate to the bridge host. Both
# ends sleep until one arrives, or first yield as libinc does.
rtt()
{
	host 0 inc-rtt -j --yield "$1" --dev "${TOPO}0" -s 8 --reps 3 -i 700 \
		"$(topo_ip4 sw)" >"$2" || die "inc-rtt"
}

part_latency()
{
	local rep=$1 n who

	rtt 0 "$S/latency.rtt.$rep"
	rtt 2 "$S/latency.rtt-yield.$rep"
	for n in 2 4 8; do
		# shellcheck disable=SC2086
		bench inc $n "$S/latency.inc.$n.$rep" $SHORT
	done
	for who in tcp $UCX; do
		bench "$who" 8 "$S/latency.$who.8.$rep" allreduce:8:5:30 \
			barrier:0:5:30
	done
}

# Messages to neighbours and sums of a number, in turns.
part_halo()
{
	local rep=$1 who

	for who in inc tcp ${UCX:+inc-ucx ucx}; do
		bench "$who" 4 "$S/halo.$who.4.$rep" halo:1024:7:50 \
			halo:65536:7:20 halolate:1024:7:50 halolate:65536:7:20
	done
}

# Time from a message's last request to its end in the switch.
part_residence()
{
	local rep=$1 n

	echo mono >"$TRACING/trace_clock"
	for n in 2 8; do
		echo >"$TRACING/trace"
		echo 1 >"$TRACING/events/rdma_inc/inc_request/enable"
		echo 1 >"$TRACING/events/rdma_inc/inc_tx_result/enable"
		bench inc $n "$S/residence.inc.$n.$rep" allreduce:8:1:200
		echo 0 >"$TRACING/events/rdma_inc/enable"
		grep -oE '[0-9.]+: inc_(request|tx_result): .*' \
			"$TRACING/trace" >"$S/residence.trace.$n.$rep"
	done
}

part_cpu()
{
	local rep=$1 who

	for who in inc $UCX_RING; do
		insmod "$ACCOUNT_KO" \
			netns="$(sw stat -L -c %i /proc/self/ns/net)" ||
			die "inc_account.ko"
		bench "$who" 8 "$S/cpu.$who.8.$rep" \
			-a "$S/cpu.$who.account.$rep" allreduce:1048576:12
		rmmod inc_account
	done
}

# stream OUT MESSAGES: plain RDMA WRITEs of 64 KiB from one host to another.
stream()
{
	host 0 inc-rtt -j --bw --window 8 --qp-timeout $QP_TIMEOUT \
		--dev "${TOPO}0" \
		--reps 3 -i "$2" "$(topo_ip4 1)" >"$1" || die "inc-rtt --bw"
}

# stream_beside WHO REP: the stream shares links with an AllReduce of all hosts.
stream_beside()
{
	local who=$1 rep=$2 pid

	rm -f "$LAB_OUT/job.$who.8"
	bench "$who" 8 "$S/beside.$who.8.$rep" allreduce:8:1 \
		allreduce:1048576:24 &
	pid=$!
	wait_for 30 grep -q '^{' "$LAB_OUT/job.$who.8" ||
		die "no job beside the stream"
	stream "$S/beside.busy.$who.$rep" 40
	kill -0 $pid || die "the job ended before the stream"
	wait $pid || exit 1
}

# Traffic that is not for the switch: without the module, with it and a tree,
# and beside an AllReduce, with and without the switch.
part_beside()
{
	local rep=$1 i who

	for i in 1 2 3; do
		serve_down
		inc_unload || die "the module stays"
		stream "$S/beside.without$i.$rep" 1500
		inc_load && serve_up --dead-time $DEAD_TIME || die "no module"
		sw inc-tool tree add id 7 ranks 2 >/dev/null || die "no tree"
		stream "$S/beside.idle$i.$rep" 1500
		sw inc-tool tree del 7
	done
	shape 1mb
	stream "$S/beside.alone.$rep" 40
	for who in inc $UCX_RING; do
		stream_beside "$who" "$rep"
	done
	unshape
}

part_train()
{
	local rep=$1 who

	for who in $SIDES; do
		shape_for "$who"
		run "$who" 8 "$S/train.$who.8.$rep" "$MPI_DIR/mpi-train" -n 4 \
			-w 3971 -b 2
	done
	shape_for doubling
	run doubling 8 "$S/train.doubling.8.$rep" "$MPI_DIR/mpi-train" -n 4 \
		-w 3971 -b 2
	unshape
}

# ddp_run WHO ARGS...: train.py with ARGS; a file of samples for each
# repetition, without the first steps, in which DDP arranges its buckets.
ddp_run()
{
	local who=$1 rep to=$S/ddp.$1.8

	shift
	shape_for "$who"
	run "$who" 8 "$to" "$@" --width 256 --layers 5 --batch 2 \
		--bucket-mb 0.25 --steps $((2 + 4 * REPS))
	for ((rep = 1; rep <= REPS; rep++)); do
		sed -n "$((4 * rep - 1)),$((4 * rep + 2))p" "$to" >"$to.$rep"
	done
}

# PyTorch: over the switch, over Open MPI without it, and over gloo, in whose
# namespaces mpirun starts the ranks. "import torch" of eight ranks takes most of
# the time, so each has one job for all repetitions. The losses are also
# computed by one process that adds in the defined order.
part_ddp()
{
	local rep=$1 who train=$ROOT/userspace/examples/pytorch/train.py

	[ "$rep" = 1 ] || return 0
	MPI_LIMIT=600
	cat >"$MPI_WORK/gloo" <<-END
	#!/bin/sh
	export RANK=\$OMPI_COMM_WORLD_RANK WORLD_SIZE=\$OMPI_COMM_WORLD_SIZE
	export MASTER_ADDR=$(topo_ip4 0) MASTER_PORT=29500
	# Debian builds PyTorch without libuv, which is the default.
	export GLOO_SOCKET_IFNAME=eth0 USE_LIBUV=0
	exec python3 "\$@" --backend gloo
	END
	chmod +x "$MPI_WORK/gloo"
	for who in inc tcp ring; do
		ddp_run "$who" python3 "$train"
	done
	ddp_run gloo "$MPI_WORK/gloo" "$train"
	unshape
	python3 "$ROOT/selftests/torch/checks.py" losses 8 --width 256 \
		--layers 5 --batch 2 --steps $((2 + 4 * REPS)) \
		>"$S/ddp.reference" || die "no reference of the losses"
	MPI_LIMIT=120
}

# What communicators cost: without coll/inc, with it as it comes, and with ranks
# that meet in the first collective.
part_comms()
{
	local rep=$1 who n

	for n in 4 8; do
		for who in tcp inc first; do
			as "${who/first/inc}"
			MPI_MEET=
			[ "$who" != first ] || MPI_MEET=1
			mpi "comms.$who" 1 $n "$MPI_DIR/comms" time 150 \
				"$(date +%s%N)" ||
				die "comms, $who: $(head -n 3 "$LAB_OUT/comms.$who")"
			MPI_MEET=1
			grep -a '^{' "$LAB_OUT/comms.$who" >"$S/comms.$who.$n.$rep" ||
				die "comms, $who: no results"
		done
	done
}

# Does Open MPI work over rxe here? If not, it is compared over TCP alone, and
# the samples say why.
try_ucx()
{
	UCX=ucx UCX_RING=ucx-ring
	if (bench ucx 8 "$S/try" allreduce:8:1 allreduce:1048576:1) \
	   >"$S/ucx.log" 2>&1; then
		rm "$S/ucx.log"
	else
		cat "$S/ucx.log"
		UCX='' UCX_RING=''
	fi
	SIDES="inc tcp ring $UCX_RING"
}

cleanup()
{
	kill "${PIDS[@]}" 2>/dev/null
	[ ! -d /sys/module/inc_account ] || rmmod inc_account
	suite_clear
	inc_unload
}

trap cleanup EXIT
rm -rf "$S"
mkdir -p "$S"
echo "{\"ranks\": $RANKS_RATE, \"others\": $RATE}" >"$S/rates"
inc_load && mpi_up $MOST_RANKS --dead-time $DEAD_TIME && topo_sw_rxe &&
	rank_program || die "no topology"
for h in sw h1; do
	ip netns exec "$TOPO-$h" inc-rtt --server --dev "$TOPO${h#h}" \
		>"$LAB_OUT/rtt.$h" 2>&1 &
	PIDS+=($!)
	wait_for 20 grep -q listening "$LAB_OUT/rtt.$h" ||
		die "no inc-rtt on $h"
done
echo "bench: mpi: warming up"
try_ucx
bench inc 8 "$S/try" allreduce:1048576:1
for ((rep = 1; rep <= REPS; rep++)); do
	for part in $PARTS; do
		echo "bench: mpi: repetition $rep of $REPS: $part"
		"part_$part" "$rep"
	done
done
