#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# End to end: all nine collectives between stock rxe hosts, with any root,
# blocks of any size, in place, one after the other and many at once. Every byte
# is compared with MPI's definition, including bytes that must not change.
#
#   collectives.sh [VAR=VALUE]... [PART...]
#	PART: each place mix arrival wide loss

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"

# Lists use commas where they are words of a table.
RANKS=${RANKS:-2,3,5,8}
COUNTS=${COUNTS:-0,1,7,300,5000,40001}
PERF=(-i 0 --root each --seed "$SEED")
ALL="broadcast allgather gather scatter alltoall reduce reduce-scatter"

# checks N: so many of each operation; a slow kernel does a quarter of many, or with
# ALL_CHECKS=1 all.
checks()
{
	echo "--check=$((SLOW > 4 && $1 > 7 && !${ALL_CHECKS:-0} ? $1 / 4 : $1))"
}

part_each()
{
	local c n

	for n in ${RANKS//,/ }; do
		for c in $ALL; do
			# shellcheck disable=SC2046	# words
			job "$c, $n ranks" "$n" "$c" -t int32 \
				$(counts "$COUNTS") --check=3 "${PERF[@]}"
		done
	done
	for c in $ALL; do
		job "$c, one rank" 1 "$c" -t fp32 --count 5 --count 50000 \
			--check "${PERF[@]}"
	done
}

part_place()
{
	local c

	for c in $ALL; do
		job "$c in place, 4 ranks" 4 "$c" -t fp64 --count 3 \
			--count 700 \
			--count 20000 --check=4 --in-place "${PERF[@]}"
		job "$c, odd sizes, 3 ranks" 3 "$c" -t int32 --count 1 \
			--count 249 --count 251 --count 1361 --count 16377 \
			--check=3 "${PERF[@]}"
	done
}

part_mix()
{
	job_start 3 mix -t int32 --count 77 --check -j "${PERF[@]}"
	job_wait && python3 -c '
import json, sys
result, = json.load(open(sys.argv[1]))["results"]
print("# %(checked)d operations verified, %(checked_collectives)d collectives" % result)
sys.exit(result["checked_collectives"] != 9)' "$JOB_LOG.0"
	ktap $? "mixed: each collective is verified" "$(job_why)"
	job "mixed, one after the other" 4 mix -t fp32 --count 3 --count 900 \
		--count 20000 "$(checks 60)" "${PERF[@]}"
	job "mixed, 16 at once" 4 mix -t int32 --count 3 --count 900 \
		--count 20000 "$(checks 8)" --outstanding 16 --window 32 \
		"${PERF[@]}"
	job "mixed, in place, 8 at once, registered each" 3 mix -t int64 \
		--count 3 --count 900 --count 20000 "$(checks 8)" --outstanding 8 \
		--in-place --reg each "${PERF[@]}"
	job "mixed, few slots, short messages" 3 mix -t int32 --count 77 \
		--count 3000 "$(checks 8)" --outstanding 8 --slots 4 \
		--msg-size 2048 "${PERF[@]}"
}

part_arrival()
{
	serve_down
	serve_up --order arrival
	job "order of arrival" 4 allreduce -t int32 --count 1 --count 300 \
		--count 40001 --check=4 -i 0
	job "order of arrival, mixed, 8 at once" 3 mix -t int32 --count 3 \
		--count 900 --check=20 --outstanding 8 "${PERF[@]}"
	serve_down
	serve_up
}

part_wide()
{
	local c

	for c in $ALL; do
		job "$c, 16 ranks" 16 "$c" -t int32 --count 60 --count 9000 \
			--check=2 "${PERF[@]}"
	done
}

part_loss()
{
	local r

	topo_bursts off
	topo_neigh
	for ((r = 0; r < TOPO_N; r++)); do
		host "$r" tc qdisc replace dev eth0 root netem delay 100us \
			100us loss 1% duplicate 1% corrupt 0.5% limit 10000
		sw tc qdisc replace dev "v$r" root netem delay 100us 100us \
			loss 1% duplicate 1% corrupt 0.5% limit 10000
	done
	watch_start
	job "mixed, jitter, loss, duplication, corruption" 4 mix -t fp32 \
		--count 3 --count 900 --count 20000 "$(checks 20)" "${PERF[@]}"
	job "mixed, 8 at once, jitter, loss, duplication, corruption" 4 mix \
		-t fp32 \
		--count 3 --count 900 --count 20000 "$(checks 5)" --outstanding 8 \
		"${PERF[@]}"
	watch_end
	watched "mixed" 0.005 lost doubled reordered corrupted
}

suite_up()
{
	topo_up "$HOSTS" && serve_up
}

HOSTS=4
[[ $# -gt 0 && " $* " != *" each "* ]] || HOSTS=8
[[ " $* " != *" wide "* ]] || HOSTS=16
suite "each place mix arrival loss" "$@"
