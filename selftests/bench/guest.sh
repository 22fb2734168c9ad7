#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The benchmark, inside its kernel: takes samples, in turns, into $LAB_OUT.
# report.py makes figures of them.
#
#   guest.sh REPETITIONS

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"

REPS=$1
SIZES="8 1024 65536 1048576"
SHAPED_RATE=20		# Mb/s
S=$LAB_OUT/samples
rm -rf "$S"
mkdir -p "$S"

die()
{
	echo "bench: $*"
	exit 1
}

rtt()
{
	local size=$1 out=$2 yields=${3:-0}

	host 0 inc-rtt -j --yield "$yields" --dev "${TOPO}0" -s "$size" --reps 3 \
		-i "$((size > 4096 ? 20 : 700))" "$(topo_ip4 sw)" >"$out" 2>"$out.log" ||
		die "inc-rtt: $(cat "$out.log")"
}

allreduce()
{
	local n=$1 out=$2

	shift 2
	job_start "$n" allreduce -t fp32 -o sum -j --reps 1 --timeout 60000 "$@"
	job_wait || die "inc-perf, $n ranks: $(job_why)"
	cp "$JOB_LOG.0" "$out"
	rm -f "$JOB_LOG".*
}

shape()
{
	local r

	for ((r = 0; r < TOPO_N; r++)); do
		host "$r" tc qdisc replace dev eth0 root tbf \
			rate "${SHAPED_RATE}mbit" burst 3028 limit 1mb
		sw tc qdisc replace dev "v$r" root tbf \
			rate "${SHAPED_RATE}mbit" burst 3028 limit 1mb
	done
}

trap 'kill $RTT 2>/dev/null; serve_down; topo_down; inc_unload' EXIT
inc_load && topo_up 8 && topo_sw_rxe && serve_up || die "no topology"
ip netns exec "$TOPO-sw" inc-rtt --server --dev "${TOPO}sw" >"$LAB_OUT/rtt.log" 2>&1 &
RTT=$!
sleep 0.5

echo "bench: warming up"
rtt 8 /dev/null
allreduce 8 /dev/null -m 8:65536

for ((rep = 1; rep <= REPS; rep++)); do
	echo "bench: repetition $rep of $REPS"
	for size in $SIZES; do
		rtt "$size" "$S/rtt.$size.$rep"
	done
	rtt 8 "$S/rtt-yield.8.$rep" 2
	for n in 2 4 8; do
		allreduce "$n" "$S/allreduce.$n.$rep" -m 8:1048576
	done
done

echo "bench: links of $SHAPED_RATE Mb/s"
shape
for ((rep = 1; rep <= REPS; rep++)); do
	for n in 2 4 8; do
		allreduce "$n" "$S/shaped.$n.$rep" -s 1048576 -i 3 -x 1
	done
	echo "bench: shaped, repetition $rep of $REPS"
done
sw inc-tool -j switch show >"$S/switch"
