#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# End to end: AllReduce and Barrier between stock rxe hosts. Every byte is
# compared with a reference that each rank computes by itself.
#
#   allreduce.sh [VAR=VALUE]... [PART...]
#	PART: ranks types special ipv6 two repeat rxe bursts class ecn

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"

# Lists use commas where they are words of a table.
RANKS=${RANKS//,/ }
COUNTS=${COUNTS//,/ }
RANKS=${RANKS:-"1 2 3 4 7 8 16"}
TYPES=${TYPES//,/ }
TYPES=${TYPES:-"int8 int16 int32 int64 uint8 uint16 uint32 uint64 fp16 bf16 fp32
	fp64 float-int double-int long-int 2int short-int"}
COUNTS=${COUNTS:-"0 1 3 255 4097 1048576"}
RUNS=${RUNS:-1000}
PERF=(--check --seed "$SEED")

max_ranks()
{
	local n max=1

	for n in $RANKS; do
		[ "$n" -le "$max" ] || max=$n
	done
	echo "$max"
}

part_ranks()
{
	local n c

	for n in $RANKS; do
		for c in $COUNTS; do
			job "fp32 sum, $n ranks, $c elements" "$n" allreduce \
				-t fp32 -o sum --count "$c" -i 2 -x 0 --reps 1 \
				"${PERF[@]}"
		done
		job "barrier, $n ranks" "$n" barrier -i 20
	done
}

# ops TYPE: the operations defined for the type.
ops()
{
	case $1 in
	*-int | 2int)	echo minloc maxloc ;;
	fp* | bf16)	echo sum prod min max avg ;;
	*)		echo sum prod min max land lor lxor band bor bxor avg ;;
	esac
}

part_types()
{
	local t o

	for t in $TYPES; do
		for o in $(ops "$t"); do
			job "$t $o, 5 ranks" 5 allreduce -t "$t" -o "$o" \
				--count 20011 -i 1 -x 0 --reps 1 "${PERF[@]}"
		done
	done
	for t in int32 int64 fp32 fp64; do
		job "$t sum, 4 ranks, long" 4 allreduce -t $t -o sum \
			--count 70001 -i 2 -x 0 --reps 1 "${PERF[@]}"
	done
	job "in place" 4 allreduce -t fp32 -o sum --count 100003 --in-place \
		-i 3 -x 0 "${PERF[@]}"
}

part_special()
{
	local t o

	for t in int32 int64 fp16 bf16 fp32 fp64 float-int double-int \
		short-int; do
		for o in $(ops "$t"); do
			[[ $o != l* && $o != b* ]] || continue
			job "special values, $t $o, 3 ranks" 3 allreduce -t $t \
				-o $o --pattern special --count 5000 -i 2 -x 0 \
				"${PERF[@]}"
		done
	done
}

part_ipv6()
{
	local c

	JOB_ADDR=topo_ip6
	for c in $COUNTS; do
		job "IPv6, 4 ranks, $c elements" 4 allreduce -t fp32 -o sum \
			--count $c -i 2 -x 0 --reps 1 "${PERF[@]}"
	done
	JOB_ADDR=topo_ip4
}

part_two()
{
	local pids log

	job_start 2 allreduce -t fp32 -o sum --count 300007 -i 5 "${PERF[@]}"
	pids=("${JOB_PIDS[@]}")
	log=$JOB_LOG
	JOB_FIRST=2
	job "two trees at once, the second" 2 allreduce -t int64 -o max \
		--count 200003 -i 5 "${PERF[@]}"
	JOB_FIRST=0
	JOB_PIDS=("${pids[@]}")
	JOB_LOG=$log
	job_wait
	ktap $? "two trees at once, the first" "$(job_why)"
}

part_repeat()
{
	job "$RUNS runs give one bit pattern" 7 allreduce -t fp32 -o sum \
		--count 1500 --repeat-hash --runs "$RUNS" "${PERF[@]}"
}

rtt_listens()
{
	sw ss -Hltn "sport = :18792" | grep -q .
}

# The module takes its own packets only: stock rxe on the bridge device and
# between two hosts works while a job runs.
part_rxe()
{
	local pid rc

	topo_sw_rxe
	job_start 4 allreduce -t fp32 -o sum --count 262144 \
		-i $((60 / SLOW + 4)) "${PERF[@]}"
	sw inc-rtt --dev "${TOPO}sw" >"$LAB_OUT/rtt-server" 2>&1 &
	pid=$!
	wait_for 10 rtt_listens
	host 0 inc-rtt --dev "${TOPO}0" -i 300 "$(topo_ip4 sw)" \
		>"$LAB_OUT/rtt-client" 2>&1
	rc=$?
	ktap $rc "rxe on the bridge host works meanwhile" \
		"$(tail -n 1 "$LAB_OUT/rtt-client")"
	kill $pid 2>/dev/null
	wait $pid 2>/dev/null
	job_wait
	ktap $? "and the job beside it is right" "$(job_why)"
}

# to_host_0 NAME: packets on the bridge host's end of a link during a job.
to_host_0()
{
	local count=/sys/class/net/v0/statistics/tx_packets before

	before=$(sw cat $count)
	job "$1" 3 allreduce -t fp32 -o sum --count 100003 -i 3 -x 0 \
		"${PERF[@]}"
	PACKETS=$(($(sw cat $count) - before))
}

# The switch sends bursts, which arrive as single packets. With a small window
# there is something to send together however slow the kernel is: as much as one
# acknowledgment makes room for.
part_bursts()
{
	local addr single

	serve_down
	serve_up --window 16
	for addr in topo_ip4 topo_ip6; do
		JOB_ADDR=$addr
		# Hosts that are slower than the switch leave it little to join.
		for _ in 1 2 3 4 5; do
			topo_bursts off
			to_host_0 "${addr#topo_}, packet by packet"
			single=$PACKETS
			topo_bursts on
			to_host_0 "${addr#topo_}, together"
			[ $((PACKETS * 10)) -ge $((single * 9)) ] || break
		done
		[ $((PACKETS * 10)) -lt $((single * 9)) ]
		ktap $? "${addr#topo_}: $PACKETS instead of $single cross the bridge"
	done
	JOB_ADDR=topo_ip4
}

# seen FILTER: INC packets in the capture that match; the end marker is shorter.
seen()
{
	tcpdump -r "$LAB_OUT/pcap" "udp port 4791 and greater 60 and ($1)" \
		2>/dev/null | grep -c .
}

# Every packet on the wire has the traffic class, in both directions.
part_class()
{
	local addr class dir all other

	serve_down
	serve_up --traffic-class 0xb8
	for addr in topo_ip4 topo_ip6; do
		JOB_ADDR=$addr
		class='ip and ip[1] != 0xb8'
		[ $addr = topo_ip4 ] ||
			class='ip6 and ip6[0:2] & 0xff0 != 0xb80'
		capture "$LAB_OUT"
		job "${addr#topo_}, traffic class" 3 allreduce -t fp32 -o sum \
			--count 5003 -i 3 -x 0 "${PERF[@]}"
		capture_end
		for dir in src dst; do
			all=$(seen "$dir host $($addr sw)")
			other=$(seen "$dir host $($addr sw) and $class")
			[ "$all" -gt 20 ] && [ "$other" = 0 ]
			ktap $? "${addr#topo_}: $all packets, $dir the switch, have it" \
				"$other have not"
		done
	done
	JOB_ADDR=topo_ip4
}

# Of a tree with ECN, all that hosts send, and data of the switch, is ECT(0).
part_ecn()
{
	local all other

	serve_down
	serve_up --traffic-class 0xb8 --ecn ect0
	capture "$LAB_OUT"
	job "ECN" 3 allreduce -t fp32 -o sum --count 5003 -i 3 -x 0 "${PERF[@]}"
	capture_end
	all=$(seen "dst host $(topo_ip4 sw) and ip[1] = 0xba")
	other=$(seen "dst host $(topo_ip4 sw) and ip[1] != 0xba")
	[ "$all" -gt 20 ] && [ "$other" = 0 ]
	ktap $? "$all packets to the switch are ECT(0)" "$other are not"
	all=$(seen "src host $(topo_ip4 sw) and udp[8] != 0x11 and ip[1] = 0xba")
	other=$(seen "src host $(topo_ip4 sw) and udp[8] != 0x11 and ip[1] != 0xba")
	[ "$all" -gt 20 ] && [ "$other" = 0 ]
	ktap $? "$all packets with results are" "$other are not"
	all=$(seen "src host $(topo_ip4 sw) and udp[8] = 0x11 and ip[1] = 0xb8")
	other=$(seen "src host $(topo_ip4 sw) and udp[8] = 0x11 and ip[1] != 0xb8")
	[ "$all" -gt 1 ] && [ "$other" = 0 ]
	ktap $? "$all acknowledgments of the switch are not" "$other are"
}

suite_up()
{
	local mtu=${MTU:-1500} pmtu=1024

	[ "$mtu" -lt 4400 ] || pmtu=4096
	echo "# MTU $mtu"
	topo_up "$(max_ranks)" "$mtu" && serve_up --pmtu "$pmtu"
}

suite_part()
{
	local rc=0

	"part_$1" || rc=$?
	ktap "$(stat_sum rx-bad-request)" "$1: no request was refused"
	return $rc
}

suite "ranks types special ipv6 two repeat rxe bursts class ecn" "$@"
