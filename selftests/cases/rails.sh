#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Hosts with two RDMA devices, on two networks of one switch: libinc uses both for a
# communicator, by itself. Results are right whatever happens to one of them.
#
#   rails.sh [VAR=VALUE]... [PART...]
#	PART: both lone sizes odd tree short mtu again gone far memory late many moments pulled slow cut dies ends lossy

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
# shellcheck source=selftests/lib/rails.sh
. "$(dirname "$0")/../lib/rails.sh"

RANKS=${RANKS:-3}
ENDS=${ENDS:-8}
MOMENTS=${MOMENTS:-12}
LOG=$LAB_OUT/serve.log
# They choose no device.
JOB_DEV=

suite_up()
{
	topo_up "$RANKS" && rails_up && rails_shape netem rate 200mbit limit 10000 &&
		serve_up -v "${PATIENT[@]}"
}

suite_down()
{
	rails_down
}

# rails_job NAME ARGS...: a job whose results are checked.
rails_job()
{
	local name=$1

	shift
	job "$name" "$RANKS" "$@" -x 0 --reps 1 --check --seed "$SEED"
}

part_both()
{
	local kind

	rails_job "two rails" allreduce -t fp32 -o sum \
		--count 1 --count 65535 --count 65536 --count 300001 -i 6
	rails_used "$JOB_NAME"
	ktap $? "two rails: both have a tree" "$(tail -n 1 "$LOG")"
	for kind in reduce reduce-scatter broadcast allgather gather scatter \
			alltoall; do
		rails_job "two rails: $kind" "$kind" -t int32 --count 90001 -i 4
	done
	rails_job "persistent" allreduce -t bf16 -o sum --count 400000 -i 8 \
		--persistent
	rails_job "8 at once, registrations kept" allreduce -t fp64 -o sum \
		--count 100003 -i 24 --outstanding 8 --reg cache
	rails_job "all kinds" mix -t int32 --root each --count 80011 -i 30
	rails_job "over UC" allreduce -t fp32 -o sum --count 300001 -i 6 --transport uc
}

part_lone()
{
	host 1 rdma link del "${TOPO}b1"
	rails_job "one rank has one device" allreduce -t fp32 -o sum --count 300001 -i 6
	! rails_used "$JOB_NAME"
	ktap $? "one rank has one device: one rail" "$(tail -n 1 "$LOG")"
	topo_rxe h1 "${TOPO}b1" eth1
	ip -n "$TOPO-h1" link set eth1 down
	rails_job "one rank's link is down" allreduce -t fp32 -o sum --count 300001 -i 6
	ip -n "$TOPO-h1" link set eth1 up
	rails_job "it is up again" allreduce -t fp32 -o sum --count 300001 -i 6
	rails_used "$JOB_NAME"
	ktap $? "it is up again: two rails" "$(tail -n 1 "$LOG")"
	JOB_ENV=([1]=INC_DEV=${TOPO}1)
	rails_job "one rank has chosen a device" allreduce -t fp32 -o sum \
		--count 300001 -i 6
	JOB_ENV=()
	! rails_used "$JOB_NAME"
	ktap $? "one rank has chosen a device: one rail" "$(tail -n 1 "$LOG")"
}

# The ranks' own data is longer or shorter than what is copied, and others' is not.
part_sizes()
{
	local kind count

	for kind in gather scatter allgather alltoall reduce-scatter; do
		for count in 5461 5462 8192 16384 16385 43690 65535; do
			JOB_TIMEOUT=5000 rails_job "$count elements: $kind" "$kind" \
				-t int32 --count $count -i 3
		done
	done
}

# A rank's operation is another one: all are told.
part_odd()
{
	local r rcs=''

	JOB_ODD=([1]="--op max")
	job_start "$RANKS" allreduce -t fp32 -o sum --count 300001 -i 6 -x 0 --reps 1
	JOB_ODD=()
	for ((r = 0; r < RANKS; r++)); do
		wait "${JOB_PIDS[r]}" && rcs+=" $r"
	done
	ktap ${#rcs} "odd: no rank has a result" "ranks$rcs"
	[ "$(grep -il disagree "$JOB_LOG".* | wc -l)" = "$RANKS" ]
	ktap $? "odd: all know why" "$(job_why)"
	rm -f "$JOB_LOG".*
	live "odd: one has a part for the second tree" rails-odd
}

# tree_of JOB: the ID of its tree.
tree_of()
{
	sed -n "s/.*\"$1\": tree \([0-9]*\) for.*/\1/p" "$LOG" | tail -n 1
}

# moved RAIL: the first (a) or second one (b) has gone on over the other device.
moved()
{
	grep -q "\"$JOB_NAME~rail-[0-9a-f]*[.]${1}\": ready" "$LOG"
}

# begins NAME ARGS...: a job begins, and is at work.
begins()
{
	local name=$1

	shift
	job_start "$RANKS" "$@" -x 0 --reps 1 --check --seed "$SEED"
	wait_for 30 busy 200
	ktap $? "$name: it is at work"
}

# ends_well NAME RAIL: so does the job that has begun, over one device.
ends_well()
{
	wait_for 30 moved "$2"
	ktap $? "$1: the rail moves to the other device" "$(tail -n 1 "$LOG")"
	job_wait
	ktap $? "$1: results" "$(job_why)"
	rm -f "$JOB_LOG".*
	wait_for 20 no_trees
	ktap $? "$1: no tree is left"
}

# The tree of either rail is deleted under a job.
part_tree()
{
	begins "first tree deleted" allreduce -t fp32 -o sum --count 200003 -i 150
	sw inc-tool tree del "$(tree_of "$JOB_NAME")"
	ends_well "first tree deleted" a
	begins "second tree deleted" allreduce -t fp32 -o sum --count 200003 -i 150
	sw inc-tool tree del "$(tree_of "$JOB_NAME~rail-[0-9a-f]*")"
	ends_well "second tree deleted" b
	begins "one after the other" mix -t int32 --root each --count 100003 -i 200
	sw inc-tool tree del "$(tree_of "$JOB_NAME")"
	wait_for 30 moved a
	sleep 1
	sw inc-tool tree del "$(tree_of "$JOB_NAME~rail-[0-9a-f]*")"
	ends_well "one after the other" b
}

# deleted NAME RAIL ARGS...: a job whose first (a) or second tree (b) is deleted.
deleted()
{
	local name=$1 rail=$2

	shift 2
	begins "$name" "$@"
	if [ "$rail" = a ]; then
		sw inc-tool tree del "$(tree_of "$JOB_NAME")"
	else
		sw inc-tool tree del "$(tree_of "$JOB_NAME~rail-[0-9a-f]*")"
	fi
	ends_well "$name" "$rail"
}

# Operations that end without a last word, started again after the rail has moved.
part_short()
{
	local count

	for count in 2 1025 5000 16384; do
		deleted "persistent, $count elements" a allreduce -t fp32 -o sum \
			--count $count -i $((20000 / (1 + count / 500))) --persistent
	done
	deleted "persistent, registrations kept" a allreduce -t fp32 -o sum --count 5000 \
		-i 3000 --persistent --reg cache
	deleted "short, registrations kept" a mix -t int32 --root each --count 3001 \
		-i 1000 --reg cache
}

# The second network's MTU is larger than the first's: so are packets and messages.
part_mtu()
{
	local r

	sw ip link set br1 mtu 4500
	for ((r = 0; r < RANKS; r++)); do
		sw ip link set "w$r" mtu 4500
		ip -n "$TOPO-h$r" link set eth1 mtu 4500
	done
	deleted "MTU: first tree" a mix -t int32 --root each --count 90001 -i 200
	deleted "MTU: second tree" b mix -t int32 --root each --count 90001 -i 200
	deleted "MTU: short" a allgather -t int32 --count 2001 -i 3000 --persistent
	sw ip link set br1 mtu 1500
	for ((r = 0; r < RANKS; r++)); do
		ip -n "$TOPO-h$r" link set eth1 mtu 1500
		sw ip link set "w$r" mtu 1500
	done
}

# again_ready RAIL N: it has gone on for the Nth time.
again_ready()
{
	[ "$(grep -c "\"$JOB_NAME~rail-[0-9a-f]*[.]$1\": ready" "$LOG")" -ge "$2" ]
}

# newest_tree RAIL: over which it does.
newest_tree()
{
	tree_of "$JOB_NAME~rail-[0-9a-f]*[.]$1"
}

# Trees are deleted that have replaced others, before all ranks are ready, too.
part_again()
{
	local i

	begins "again and again" mix -t int32 --root each --count 70003 -i 900
	sw inc-tool tree del "$(tree_of "$JOB_NAME")"
	for ((i = 1; i < 5; i++)); do
		wait_for 20 again_ready a $i || break
		sleep 0.3
		sw inc-tool tree del "$(newest_tree a)" || break
	done
	ktap $((i != 5)) "again and again: it moves each time" "$i, $(tail -n 1 "$LOG")"
	ends_well "again and again" a

	begins "not ready yet" mix -t int32 --root each --count 70003 -i 300
	sw inc-tool tree del "$(tree_of "$JOB_NAME")"
	for ((i = 0; i < 1000; i++)); do
		[ -z "$(newest_tree a)" ] || break
		sleep 0.001
	done
	sw inc-tool tree del "$(newest_tree a)"
	ends_well "not ready yet" a

	# The first rail is at the second network, which alone the second one needs.
	begins "link, then tree" mix -t int32 --root each --count 70003 -i 600
	ip -n "$TOPO-h1" link set eth0 down
	wait_for 30 moved a
	sleep 1
	sw inc-tool tree del "$(tree_of "$JOB_NAME~rail-[0-9a-f]*")"
	ends_well "link, then tree" b
	ip -n "$TOPO-h1" link set eth0 up
}

# A device goes away while a job works.
part_gone()
{
	begins "second device gone" mix -t int32 --root each --count 100003 -i 300
	host 1 rdma link del "${TOPO}b1"
	ends_well "second device gone" b
	topo_rxe h1 "${TOPO}b1" eth1
	begins "first device gone" mix -t int32 --root each --count 100003 -i 300
	host 0 rdma link del "${TOPO}0"
	ends_well "first device gone" a
	topo_rxe h0 "${TOPO}0" eth0
}

# far NAME SECONDS: a job has one rail, and begins within that time.
far()
{
	local t0

	t0=$(date +%s%N)
	rails_job "far: $1" allreduce -t fp32 -o sum --count 300001 -i 2
	t0=$((($(date +%s%N) - t0) / 1000000))
	[ $t0 -lt $((SLOW * $2 * 1000)) ]
	ktap $? "far: $1: it begins soon" "$t0 ms"
}

# The second network does not reach the switch: at all, or with RoCE.
part_far()
{
	sw ip link set w1 nomaster
	far "no way" 4
	sw ip link set w1 master br1
	host 1 nft "add table inet far; add chain inet far out { type filter hook output priority 0; }; add rule inet far out oifname eth1 udp dport 4791 counter drop" &&
		far "no RoCE" 6
	! host 1 nft list table inet far | grep -q "packets 0 "
	ktap $? "far: no RoCE: packets were dropped"
	host 1 nft delete table inet far
	wait_for 20 no_trees
	rails_job "far: reached again" allreduce -t fp32 -o sum --count 300001 -i 2
	rails_used "$JOB_NAME"
	ktap $? "far: reached again: two rails" "$(tail -n 1 "$LOG")"
}

# live NAME ARGS...: all ranks of selftests/libinc's program end well.
live()
{
	local name=$1 r pids=() rc=0 log=$LAB_OUT/live

	shift
	rm -f "$log".*
	for ((r = 0; r < RANKS; r++)); do
		INC_SERVER=$(topo_ip4 sw) INC_JOB=live INC_RANK=$r INC_NRANKS=$RANKS \
			ip netns exec "$TOPO-h$r" "$INC_USER/lib/live" "$@" \
			>"$log.$r" 2>&1 &
		pids+=($!)
	done
	if [ "$1" = rails-late ]; then
		wait_for 20 test -e "$2"
		sw inc-tool tree del "$(tree_of live)"
	fi
	for r in "${pids[@]}"; do
		wait "$r" || rc=1
	done
	ktap $rc "$name" "$(grep -hv '^ok' "$log".* | head -n 5 | tr '\n' '|')"
}

part_memory()
{
	live "memory for one device" rails-memory
}

part_late()
{
	rm -f "$LAB_OUT/now"
	live "a rank that computes while a rail moves" rails-late "$LAB_OUT/now"
}

# Second trees do not count for limits.
part_many()
{
	serve_down
	serve_up -v "${PATIENT[@]}" --max-trees 4 --max-host-trees 4
	live "as many communicators as without a second device" rails-many 4
	rails_used "live.0"
	ktap $? "many: two rails" "$(tail -n 1 "$LOG")"
	wait_for 20 no_trees
	serve_down
	serve_up -v "${PATIENT[@]}"
}

# cut NAME RAIL ARGS...: a host loses the link of its first (a) or second device (b).
cut()
{
	local name=$1 rail=$2 dev=eth0

	[ "$rail" = a ] || dev=eth1
	shift 2
	begins "$name" "$@"
	ip -n "$TOPO-h1" link set "$dev" down
	ends_well "$name" "$rail"
	ip -n "$TOPO-h1" link set "$dev" up
}

# pulled NAME RAIL HURT: as cut(), with a time limit that only news from the port keep.
pulled()
{
	local JOB_TIMEOUT=2500

	begins "$1" allreduce -t fp32 -o sum --count 100003 -i 400
	sw ip link set "$3" down
	ends_well "$1" "$2"
	sw ip link set "$3" up
	sleep 3
}

# The switch's end of a cable: the device says that its port is down.
part_pulled()
{
	pulled "second cable pulled" b w1
	pulled "first cable pulled" a v2
}

# second_shape QDISC...: of the second network alone.
second_shape()
{
	local r

	for ((r = 0; r < RANKS; r++)); do
		host "$r" tc qdisc replace dev eth1 root "$@"
		sw tc qdisc replace dev "w$r" root "$@"
	done
}

# A rail that makes operations slower than one alone would be is given up.
part_slow()
{
	local shape

	rails_shape netem rate 200mbit delay 10ms limit 10000
	rails_job "slow: both alike" allreduce -t fp32 -o sum --count 70003 -i 40
	rails_used "$JOB_NAME" && ! moved a && ! moved b
	ktap $? "slow: both alike: both are used" "$(tail -n 1 "$LOG")"
	rails_shape netem rate 200mbit limit 10000
	for shape in "rate 20mbit" "rate 200mbit delay 20ms"; do
		begins "slow: $shape" allreduce -t fp32 -o sum --count 100003 -i 100
		# shellcheck disable=SC2086 # words
		second_shape netem $shape limit 10000
		ends_well "slow: $shape" b
		second_shape netem rate 200mbit limit 10000
	done
}

part_cut()
{
	cut "second link" b allreduce -t fp32 -o sum --count 200003 -i 150
	cut "first link" a allreduce -t fp32 -o sum --count 200003 -i 150
	cut "second link, 8 at once" b allreduce -t fp64 -o sum --count 100003 \
		-i 25 --outstanding 8
	cut "first link, persistent" a allreduce -t bf16 -o sum --count 400000 \
		-i 150 --persistent
	cut "first link, short" a allreduce -t fp32 -o sum --count 5 -i 10000
	cut "first link, short, 8 at once" a allreduce -t fp32 -o sum --count 2001 \
		-i 1000 --outstanding 8
	cut "first link, all kinds, registrations kept" a mix -t int32 --root each \
		--count 100003 -i 200 --reg cache
	cut "second link, over UC" b allreduce -t fp32 -o sum --count 200003 -i 150 \
		--transport uc
	cut "first link, over UC, short" a allreduce -t fp32 -o sum --count 2001 \
		-i 1000 --outstanding 8 --transport uc
}

# A link is cut at any moment: also when one rank has what another one lacks, and has
# nothing to do over that rail, but waits for the other rank.
part_moments()
{
	local i rc=0 dev

	rails_shape netem rate 200mbit delay 3ms limit 10000
	for ((i = 0; i < MOMENTS && rc == 0; i++)); do
		dev=eth$((i % 4 != 0))
		job_start 2 allreduce -t fp32 -o sum --count 70003 -i 1 -x 0 --reps 300 \
			--check --seed "$SEED"
		wait_for 30 busy 50
		sleep 0.$((RANDOM % 900 + 100))
		ip -n "$TOPO-h1" link set "$dev" down
		job_wait
		rc=$?
		[ $rc = 0 ] || ktap 1 "moments: job $i, $dev" "$(job_why)"
		rm -f "$JOB_LOG".*
		ip -n "$TOPO-h1" link set "$dev" up
		wait_for 20 no_trees
	done
	ktap $rc "moments: $MOMENTS links cut"
	rails_shape netem rate 200mbit limit 10000
}

part_dies()
{
	local r rc=0 t0

	job_start "$RANKS" allreduce -t fp32 --count 200003 -i 100000 -x 0 --reps 1 \
		--seed "$SEED"
	wait_for 30 busy 200
	t0=$SECONDS
	kill -9 "${JOB_PIDS[1]}"
	for ((r = 0; r < RANKS; r++)); do
		wait "${JOB_PIDS[r]}" && rc=1
	done 2>/dev/null
	[ $rc = 0 ] && [ $((SECONDS - t0)) -lt "$(scaled 20)" ]
	ktap $? "killed: the others end soon" "$((SECONDS - t0)) s"
	for ((r = 0; r < RANKS; r++)); do
		[ "$r" = 1 ] || grep -q "rank 1" "$JOB_LOG.$r" || rc=1
	done
	ktap $rc "killed: the others know why" "$(job_why)"
	wait_for 20 no_trees
	ktap $? "killed: no tree is left"
	rm -f "$JOB_LOG".*
}

# Jobs that end before, while and after a rail moves.
part_ends()
{
	local i rc

	for ((i = 0; i < ENDS; i++)); do
		job_start "$RANKS" allreduce -t fp32 -o sum --count 200003 \
			-i $((60 + RANDOM % 30)) -x 0 --reps 1 --check --seed "$SEED"
		wait_for 30 busy 600
		sw inc-tool tree del "$(tree_of "$JOB_NAME~rail-[0-9a-f]*")"
		job_wait
		rc=$?
		[ $rc = 0 ] || ktap 1 "ends: job $i" "$(job_why)"
		rm -f "$JOB_LOG".*
		[ $rc = 0 ] || break
	done
	ktap $((i != ENDS)) "ends: $ENDS jobs"
	wait_for 20 no_trees
	ktap $? "ends: no tree is left"
}

# Both rails lose packets: each changes to UC. Then one of them is cut.
part_lossy()
{
	rails_shape netem rate 200mbit loss 2% limit 10000
	rails_job "loss 2 %" allreduce -t fp32 -o sum --count 200003 -i 150
	grep -q "\"$JOB_NAME~uc-[0-9a-f]*\": ready" "$LOG" &&
		grep -q "\"$JOB_NAME~rail-[0-9a-f]*~uc-[0-9a-f]*\": ready" "$LOG"
	ktap $? "loss 2 %: both have changed to UC" "$(tail -n 1 "$LOG")"
	cut "loss 2 %, second link" b allreduce -t fp32 -o sum --count 200003 -i 300
}

suite "both lone sizes odd tree short mtu again gone far memory late many moments pulled slow cut dies ends lossy" "$@"
