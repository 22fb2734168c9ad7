#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The benchmark, inside its kernel: take samples, in turns, into $LAB_OUT.
# report.py makes figures of them.
#
#   guest.sh REPETITIONS [PART...]	PART: times shaped rails loss cpu profile flat

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
# shellcheck source=selftests/bench/cpu.sh
. "$(dirname "$0")/cpu.sh"
# shellcheck source=selftests/lib/rails.sh
. "$(dirname "$0")/../lib/rails.sh"
# shellcheck source=selftests/bench/loss.sh
. "$(dirname "$0")/loss.sh"

REPS=$1
shift
PARTS=${*:-times shaped rails loss cpu profile flat}
RTT_SIZES="8 1024 65536 1048576"
# Elements of 4 bytes, as options of inc-perf.
COUNTS=(--count 2 --count 32 --count 256 --count 2048 --count 16384
	--count 65536 --count 262144)
SHAPED_RATE=20		# Mb/s
SERVER_PORT=18793
ARRIVAL_PORT=18794	# of a daemon whose trees reduce in order of arrival
# Do not measure how soon a slow rank is taken for dead.
DEAD_TIME=5000		# ms
S=$LAB_OUT/samples
PIDS=()

die()
{
	echo "bench: $*"
	exit 1
}

rtt()
{
	local size=$1 out=$2 yields=${3:-0}

	host 0 inc-rtt -j --yield "$yields" --dev "${TOPO}0" -s "$size" \
		--reps 3 -i "$((size > 4096 ? 20 : 700))" "$(topo_ip4 sw)" \
		>"$out" 2>"$out.log" ||
		die "inc-rtt: $(cat "$out.log")"
}

# allreduce module|arrival|server N OUT ARGS...
allreduce()
{
	local by=$1 n=$2 out=$3

	shift 3
	JOB_PORT=
	case $by in
	server)		JOB_PORT=$SERVER_PORT ;;
	arrival)	JOB_PORT=$ARRIVAL_PORT ;;
	esac
	job_start "$n" allreduce -t fp32 -o sum -j --reps 1 --timeout 120000 \
		"$@"
	job_wait || die "inc-perf, $n ranks, $by: $(job_why)"
	cp "$JOB_LOG.0" "$out"
	rm -f "$JOB_LOG".*
}

shape()
{
	local r

	topo_bursts off
	for ((r = 0; r < TOPO_N; r++)); do
		host "$r" tc qdisc replace dev eth0 root tbf \
			rate "${SHAPED_RATE}mbit" burst 3028 limit 1mb
		sw tc qdisc replace dev "v$r" root tbf \
			rate "${SHAPED_RATE}mbit" burst 3028 limit 1mb
	done
}

unshape()
{
	local r

	topo_bursts on
	for ((r = 0; r < TOPO_N; r++)); do
		host "$r" tc qdisc del dev eth0 root
		sw tc qdisc del dev "v$r" root
	done
}

# Start the alternatives, which wait for their clients during the whole run.
alternatives_up()
{
	topo_sw_rxe || return 1
	ip netns exec "$TOPO-sw" "$INC_USER/bench/inc-server" \
		--dev "${TOPO}sw" \
		--port "$SERVER_PORT" >"$LAB_OUT/server.log" 2>&1 &
	PIDS+=($!)
	ip netns exec "$TOPO-sw" inc-tool serve --port "$ARRIVAL_PORT" \
		--order arrival \
		--dead-time "$DEAD_TIME" >"$LAB_OUT/arrival.log" 2>&1 &
	PIDS+=($!)
	ip netns exec "$TOPO-sw" inc-rtt --server --dev "${TOPO}sw" \
		>"$LAB_OUT/rtt.log" 2>&1 &
	PIDS+=($!)
	ip netns exec "$TOPO-h1" inc-rtt --server --dev "${TOPO}1" \
		>"$LAB_OUT/rtt1.log" 2>&1 &
	PIDS+=($!)
	wait_for 20 grep -q listening "$LAB_OUT/server.log" &&
		wait_for 20 grep -q listening "$LAB_OUT/arrival.log" &&
		wait_for 20 grep -q listening "$LAB_OUT/rtt.log" &&
		wait_for 20 grep -q listening "$LAB_OUT/rtt1.log"
}

part_times()
{
	local rep=$1 size n

	for size in $RTT_SIZES; do
		rtt "$size" "$S/rtt.$size.$rep"
	done
	rtt 8 "$S/rtt-yield.8.$rep" 2
	for n in 2 4 8; do
		allreduce module "$n" "$S/allreduce.$n.$rep" "${COUNTS[@]}"
		allreduce server "$n" "$S/server.$n.$rep" "${COUNTS[@]}"
	done
}

part_shaped()
{
	local rep=$1 n

	shape
	for n in 2 4 8; do
		allreduce module "$n" "$S/shaped.$n.$rep" -s 1048576 -i 3 -x 1
		allreduce server "$n" "$S/shaped-server.$n.$rep" -s 1048576 \
			-i 3 -x 1
	done
	unshape
}

# Hosts with two devices: one of them, then both.
part_rails()
{
	local rep=$1 n size

	rails_up && rails_shape tbf rate "${SHAPED_RATE}mbit" burst 3028 limit 1mb ||
		die "no second network"
	for n in 2 4 8; do
		for size in 262144 1048576; do
			allreduce module "$n" "$S/rails-one.$n.$size.$rep" \
				-s "$size" -i 3 -x 1
			JOB_DEV='' allreduce module "$n" \
				"$S/rails.$n.$size.$rep" -s "$size" -i 3 -x 1
		done
	done
	unshape
	for n in 2 4 8; do
		allreduce module "$n" "$S/rails-one.$n.8.$rep" -s 8 -i 1000
		JOB_DEV='' allreduce module "$n" "$S/rails.$n.8.$rep" -s 8 -i 1000
	done
	rails_down
}

cleanup()
{
	kill "${PIDS[@]}" 2>/dev/null
	account_off
	flat_down
	serve_down
	topo_down
	inc_unload
}

trap cleanup EXIT
rm -rf "$S"
mkdir -p "$S"
inc_load && topo_up 8 && alternatives_up &&
	serve_up --dead-time "$DEAD_TIME" || die "no topology"

echo "bench: warming up, results checked"
rtt 8 /dev/null
for by in module server; do
	# Fast results have to be right as well; odd numbers of ranks and
	# elements.
	for n in 3 8; do
		allreduce $by $n /dev/null --check --seed "$RANDOM" -i 50 -x 0 \
			--count 2 --count 255 --count 70001
	done
done
sw inc-tool -j switch show >"$S/switch"
[[ " $PARTS " != *" flat "* ]] || flat_up || die "no second topology"

for ((rep = 1; rep <= REPS; rep++)); do
	for part in $PARTS; do
		echo "bench: repetition $rep of $REPS: $part"
		"part_$part" "$rep"
	done
done
