#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Several levels of switches, as namespaces of one kernel: a root, leaves, hosts
# at the leaves, and switches in the middle. A topology has LEAVES leaves with
# HOSTS hosts each, and MIDS switches between root and leaves.
#
#   levels.sh [VAR=VALUE]... [PART...]
#	PART: two mismatch uc memory odd placed sixteen three types bits loss
#	uplink death gone

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
# shellcheck source=selftests/lib/levels.sh
. "$(dirname "$0")/../lib/levels.sh"

RUNS=${RUNS:-1000}
COUNTS=${COUNTS:-0,1,7,300,5000,40001}
PERF=(-i 0 --seed "$SEED")
ALL="broadcast allgather gather scatter alltoall reduce reduce-scatter"

nothing_left()
{
	wait_for 5 no_tree
	ktap $? "$1: no tree is left"
}

# The switches really are the leaves and the root of one job.
roles()
{
	local name

	for name in "${SWITCHES[@]}"; do
		echo "$name $(at "$name" inc-tool -j tree show | jq -r '.[] |
			"\(.role) \(.members) \(."first-rank" // 0) \(."job-ranks" // 0) \(.below // "")"')"
	done
}

# collectives NAME N ARGS...
collectives()
{
	local name=$1 n=$2 c

	shift 2
	# shellcheck disable=SC2046	# words
	job "$name: allreduce" "$n" allreduce -t fp32 \
		$(counts "$COUNTS") --check=3 "${PERF[@]}" "$@"
	job "$name: barrier" "$n" barrier --check=3 "${PERF[@]}" "$@"
	for c in $ALL; do
		# shellcheck disable=SC2046	# words
		job "$name: $c, any root" "$n" "$c" -t int32 --root each \
			$(counts "$COUNTS") --check=2 "${PERF[@]}" "$@"
	done
	job "$name: mixed, 8 at once" "$n" mix -t int64 --root each --count 3 \
		--count 900 --check=4 --outstanding 8 "${PERF[@]}" "$@"
}

part_two()
{
	levels_up 2 2 && serves_up || return
	job_start 4 allreduce -t fp32 --count 100000 -i 1000000
	wait_for 20 grep -q ready "$LAB_OUT/serve-l1.log"
	roles >"$LAB_OUT/roles"
	kill "${JOB_PIDS[@]}"
	wait "${JOB_PIDS[@]}" 2>/dev/null
	diff "$LAB_OUT/roles" - <<-END | sed 's/^/# /'
	sw root 2 0 0 [2,2]
	l0 child 2 0 4 
	l1 child 2 2 4 
	END
	ktap "${PIPESTATUS[0]}" "1-2-4: roles and ranks"
	nothing_left "1-2-4, killed"
	collectives "1-2-4" 4
	nothing_left "1-2-4"
	levels_down
}

nobody_succeeded()
{
	[[ " $1 " != *" 0 "* ]]
}

# On a slow kernel some may hear that others left before they hear why.
all_know()
{
	[ "$(grep -il "disagree\|mismatch" "$JOB_LOG".* | wc -l)" \
		-ge $(($1 / (SLOW > 1 ? $1 : 1))) ]
}

# A message that the ranks disagree about fails for all of them, at any switch:
# the odd rank at a leaf with others, at a leaf of its own, and leaves that
# disagree.
part_mismatch()
{
	local odd r rcs name

	levels_up 3 2,1,2 && serves_up || return
	for odd in 1 2 "3 4"; do
		name="rank $odd has more elements"
		for r in 0 1 2 3 4; do
			JOB_ODD[$r]="--count 5000"
		done
		for r in $odd; do
			JOB_ODD[$r]="--count 5001"
		done
		job_start 5 allreduce -t int32 -i 3
		rcs=
		for r in "${JOB_PIDS[@]}"; do
			wait "$r"
			rcs+=" $?"
		done
		nobody_succeeded "$rcs"
		ktap $? "$name: no rank succeeds" "$rcs"
		all_know 5
		ktap $? "$name: each is told why" "$(job_why)"
		nothing_left "$name"
	done
	JOB_ODD=()
	job "ranks that agree, after that" 5 allreduce -t int32 --count 5000 \
		--check "${PERF[@]}"
	levels_down
}

# RC and UC members at one leaf; links between switches are RC.
part_uc()
{
	levels_up 2 2 && serves_up || return
	JOB_ODD=([1]="--transport uc" [2]="--transport uc")
	COUNTS=0,7,5000 collectives "RC and UC" 4
	nothing_left "RC and UC"
	JOB_ODD=()
	levels_down
}

# ports_of SWITCH: those that lead away from it.
ports_of()
{
	ip -n "$TOPO-$1" -o link show master br0 |
		sed 's/^[0-9]*: \([^@:]*\).*/\1/'
}

# poisoned NAME N ARGS...: a job whose trees are made where others' data was.
poisoned()
{
	python3 "$ROOT/selftests/cases/poison.py" fill 200
	job "memory: $1" "${@:2}" --check=2 "${PERF[@]}"
}

# Some packets are longer than the elements in them: requests of wide elements,
# and those that do not end at a multiple of four. What follows was written by
# us, whatever any switch sends in any direction.
part_memory()
{
	local name type op c watch=()

	levels_up 2 2 && serves_up || return
	for name in "${SWITCHES[@]}"; do
		# shellcheck disable=SC2046	# words
		ip netns exec "$TOPO-$name" python3 \
			"$ROOT/selftests/cases/poison.py" watch \
			$(ports_of "$name") >"$LAB_OUT/watch-$name" &
		watch+=($!)
		wait_for 20 grep -q watching "$LAB_OUT/watch-$name"
	done
	for type in fp16 bf16; do
		for op in sum prod avg; do
			poisoned "$type, $op" 4 allreduce -t $type -o $op \
				--count 1 --count 700
		done
	done
	poisoned "barrier" 4 barrier
	for type in int8 fp16 fp64; do
		for c in allreduce $ALL; do
			poisoned "$c, $type" 4 "$c" -t $type \
				--count 1 --count 3 --count 701 --count 5003 \
				--root each
		done
	done
	for name in "${SWITCHES[@]}"; do
		kill "${watch[0]}"
		wait "${watch[0]}"
		ktap $? "memory: all that $name sends was written" \
			"$(tail -n 1 "$LAB_OUT/watch-$name")"
		watch=("${watch[@]:1}")
	done
	levels_down
}

# Leaves of different sizes, one of them with a single host.
part_odd()
{
	levels_up 3 3,1,2 && serves_up || return
	collectives "leaves of 3, 1 and 2" 6
	job "all ranks at one leaf" 3 mix -t int32 --count 900 --check=4 \
		"${PERF[@]}"
	nothing_left "leaves of 3, 1 and 2"
	levels_down
}

part_sixteen()
{
	COUNTS=7,5000 levels_up 4 4 && serves_up || return
	COUNTS=7,5000 collectives "1-4-16" 16
	nothing_left "1-4-16"
	levels_down
}

part_three()
{
	levels_up 4 2 2 && serves_up || return
	COUNTS=0,7,5000 collectives "1-2-4-8" 8
	nothing_left "1-2-4-8"
	levels_down
}

# All types that can be reduced; 16-bit floats are rounded once, at the root. The
# second leaf has three blocks of ranks: 1, 2-3 and 4.
part_types()
{
	local t

	levels_up 2 1,4 && serves_up || return
	for t in int8 uint16 int64 fp16 bf16 fp64; do
		job "$t: sum" 5 allreduce -t "$t" -o sum --count 1 --count 250 \
			--count 5000 --check=3 "${PERF[@]}"
		job "$t: avg" 5 allreduce -t "$t" -o avg --count 1 \
			--count 5000 --check=3 "${PERF[@]}"
	done
	job "fp16: product" 5 allreduce -t fp16 -o prod --count 5000 --check=3 \
		"${PERF[@]}"
	job "fp16: sums, in parts" 5 reduce-scatter -t fp16 -o sum --count 1 \
		--count 1001 --check=3 "${PERF[@]}"
	job "float-int: maxloc" 5 allreduce -t float-int -o maxloc \
		--count 5000 --check=3 "${PERF[@]}"
	nothing_left "types"
	levels_down
}

# netem on each link, with more loss between switches.
part_loss()
{
	local r name
	local -x INC_TRANSPORT=rc

	levels_up 2 2 && serves_up "${PATIENT[@]}" || return
	topo_neigh
	for ((r = 0; r < TOPO_N; r++)); do
		host "$r" tc qdisc replace dev eth0 root netem loss 1% \
			limit 10000
		at "${HOSTS_AT[r]}" tc qdisc replace dev "v$r" root netem \
			loss 1% limit 10000
	done
	for name in "${SWITCHES[@]:1}"; do
		at "$name" tc qdisc replace dev uplink root netem loss 3% \
			duplicate 1% corrupt 0.5% delay 200us 100us limit 10000
		at sw tc qdisc replace dev "down${NUMBER[$name]}" root netem \
			loss 3% duplicate 1% corrupt 0.5% limit 10000
	done
	watch_start
	job "loss: fp32" 4 allreduce -t fp32 --count 3 --count 5000 \
		--count 70000 --check=10 "${PERF[@]}"
	job "loss: bf16" 4 allreduce -t bf16 --count 3 --count 5000 \
		--count 70000 --check=10 "${PERF[@]}"
	job "loss: mixed" 4 mix -t int32 --root each --count 3 --count 900 \
		--count 9000 --check=10 "${PERF[@]}"
	job "loss: mixed, 8 at once" 4 mix -t int32 --root each --count 3 \
		--count 900 --check=10 --outstanding 8 "${PERF[@]}"
	watch_end
	watched "loss" 0.005 lost doubled reordered corrupted
	nothing_left "loss"
	levels_down
}

uplink_bytes()
{
	at "$1" cat /sys/class/net/uplink/statistics/tx_bytes
}

hosts_bytes()
{
	local r sum=0

	for r in 0 1 2 3; do
		sum=$((sum + $(host $r cat /sys/class/net/eth0/statistics/tx_bytes)))
	done
	echo $sum
}

# share TYPE TIMES: bytes on the wire of an uplink, including headers and
# acknowledgments, divided by the bytes that its 4 hosts send.
share()
{
	local type=$1 times=$2 up hosts

	up=$(uplink_bytes l0)
	hosts=$(hosts_bytes)
	job "1-2-8, $type" 8 allreduce -t "$type" --count 262144 -i 20 --check
	up=$(($(uplink_bytes l0) - up))
	hosts=$(($(hosts_bytes) - hosts))
	[ $((up * 4 * 100)) -le $((hosts * times * 105)) ] &&
		[ "$up" -gt 1000000 ]
	ktap $? "$type: the uplink carries $up bytes, its 4 hosts send $hosts: $((up * 1000 / hosts)) per mille"
}

part_uplink()
{
	levels_up 2 4 && serves_up || return
	# Headers that a burst shares would not be counted there.
	at l0 ip link set uplink gso_max_segs 1
	share fp32 1
	share fp16 2
	share bf16 2
	nothing_left "uplink"
	levels_down
}

# others_fail NAME START VICTIM...: all ranks except the victims fail in time.
others_fail()
{
	local name=$1 start=$2 limit r rc now took

	shift 2
	limit=$(scaled 1000)
	for r in "${!JOB_PIDS[@]}"; do
		[[ " $* " != *" $r "* ]] || continue
		wait "${JOB_PIDS[$r]}"
		rc=$?
		now_ms now
		took=$((now - start))
		[ $rc != 0 ] && [ $took -le $limit ]
		ktap $? "$name: rank $r has an error within $limit ms" \
			"status $rc after $took ms"
	done
	for r in "$@"; do
		kill -9 "${JOB_PIDS[$r]}" 2>/dev/null
		wait "${JOB_PIDS[$r]}" 2>/dev/null
	done
}

long_job()
{
	job_start 4 allreduce -t fp32 --count 262144 -i 1000000
	wait_for 20 busy
}

busy()
{
	at l1 inc-tool -j -s member show |
		jq -e 'map(.stats."rx-messages") | add > 50' >/dev/null
}

# cut SWITCH PORT STATE: set a port of its bridge, from a process that already
# runs.
cut_port()
{
	echo "link set dev $2 state $3" >&"$1"
}

# delete_tree SWITCH NAME: from a process that already runs.
delete_tree()
{
	local tool start

	exec {tool}> >(at "$1" inc-tool -b -)
	long_job
	now_ms start
	echo "tree del 1" >&"$tool"
	exec {tool}>&-
	others_fail "$2" "$start"
}

part_death()
{
	local start cutter upcutter

	levels_up 2 2 && serves_up || return

	long_job
	now_ms start
	kill -9 "${JOB_PIDS[1]}"
	others_fail "a rank killed" "$start" 1
	nothing_left "a rank killed"

	exec {cutter}> >(at l0 bridge -batch -)
	long_job
	now_ms start
	cut_port "$cutter" v1 0
	others_fail "a rank's link cut" "$start" 1
	cut_port "$cutter" v1 3
	nothing_left "a rank's link cut"

	exec {upcutter}> >(at sw bridge -batch -)
	long_job
	now_ms start
	cut_port "$upcutter" "down${NUMBER[l1]}" 0
	others_fail "an uplink cut" "$start"
	cut_port "$upcutter" "down${NUMBER[l1]}" 3
	exec {upcutter}>&- {cutter}>&-
	nothing_left "an uplink cut"

	delete_tree sw "the root's tree deleted"
	nothing_left "the root's tree deleted"

	delete_tree l0 "a leaf's tree deleted"
	nothing_left "a leaf's tree deleted"

	long_job
	now_ms start
	kill "${SERVE[sw]}"
	others_fail "the root's daemon ended" "$start"
	nothing_left "the root's daemon ended"
	serves_down
	serves_up

	job "after all that the next job runs" 4 allreduce --count 1000 -i 5 \
		--check "${PERF[@]}"
	nothing_left "at last"
	levels_down
}

# switch_dies NAME: its daemon and its namespace with all QPs go, unannounced.
switch_dies()
{
	kill -9 "${SERVE[$1]}"
	wait "${SERVE[$1]}" 2>/dev/null
	unset "SERVE[$1]"
	ip netns del "$TOPO-$1"
}

# A whole switch disappears while ranks work: all ranks hear, nothing is left.
part_gone()
{
	local start name

	for name in l0 sw m1; do
		if [ "$name" = m1 ]; then
			levels_up 4 1 2 && serves_up || return
		else
			levels_up 2 2 && serves_up || return
		fi
		long_job
		now_ms start
		switch_dies "$name"
		others_fail "$name gone" "$start"
		nothing_left "$name gone"
		levels_down
	done
	levels_up 2 2 && serves_up || return
	long_job
	rmmod rdma_inc
	ktap $? "the module unloads under traffic"
	kill -9 "${JOB_PIDS[@]}"
	wait "${JOB_PIDS[@]}" 2>/dev/null
	levels_down
	inc_load
}

# Packets are late, lost and out of order on all links.
shuffle()
{
	local r name

	for ((r = 0; r < TOPO_N; r++)); do
		host "$r" tc qdisc replace dev eth0 root netem loss 0.2% \
			delay 300us 300us limit 10000
	done
	for name in "${SWITCHES[@]:1}"; do
		at "$name" tc qdisc replace dev uplink root netem loss 0.2% \
			delay 300us 300us limit 10000
	done
}

# hash_of LEAVES HOSTS N [MIDS]: hash of a sum, which is the same in every run.
hash_of()
{
	local n=$3

	HASH=
	levels_up "$1" "$2" "${4:-0}" &&
		serves_up "${PATIENT[@]}" && shuffle ||
		ktap 1 "$1 leaves, $2 hosts each: they come up" || return
	job_start "$n" allreduce -t fp32 -o sum --count 300 --repeat-hash \
		--runs "$RUNS" --seed 7
	job_wait
	ktap $? "$1 leaves, $2 hosts each, $n ranks: $RUNS runs give one bit pattern" \
		"$(job_why)"
	HASH=$(sed -n 's/.*hash \([0-9a-f]*\).*/\1/p' "$JOB_LOG.0")
	levels_down
}

# The bits equal those of one switch with all ranks, in any order of arrival.
part_bits()
{
	local flat

	hash_of 1 4 4
	flat=$HASH
	hash_of 2 2 4
	[ -n "$HASH" ] && [ "$HASH" = "$flat" ]
	ktap $? "1-2-4 gives the bits of one switch, $flat" "$HASH"
	hash_of 1 16 16
	flat=$HASH
	hash_of 4 4 16
	[ -n "$HASH" ] && [ "$HASH" = "$flat" ]
	ktap $? "1-4-16 gives the bits of one switch, $flat" "$HASH"
}

# like_flat LEAVES HOSTS N [MIDS]: the hash is FLAT.
like_flat()
{
	hash_of "$@"
	[ -n "$HASH" ] && [ "$HASH" = "$FLAT" ]
	ktap $? "$1 leaves, ${4:-0} switches above them, $2 hosts: the bits of one switch, $FLAT" \
		"$HASH"
}

# The same job on other leaves, whose ranks form no aligned powers of two.
part_placed()
{
	local RUNS=${PLACED_RUNS:-10} FLAT

	hash_of 1 6 6
	FLAT=$HASH
	like_flat 2 3 6
	like_flat 2 1,5 6
	like_flat 4 1,2,2,1 6 2
}

suite_up()
{
	clock_up
}

suite "two mismatch uc memory odd placed types loss" "$@"
