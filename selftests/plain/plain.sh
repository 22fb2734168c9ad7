#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A client written from Documentation/ alone, with plain verbs, in one job with
# ranks that use libinc: all collectives, in one message and in many; every
# element is compared on both sides. Also the latency of a lone message for a
# client that waits for its acknowledgment, too.
#
#   plain.sh [VAR=VALUE...] [share | odd | lone]...

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"

DIR=$(mktemp -d)
export RENDEZVOUS=$ROOT/selftests/plain/rendezvous.py
ALL="broadcast allgather alltoall scatter gather reduce allreduce reduce-scatter"

build()
{
	gcc -O2 -Wall -Wextra -I"$ROOT/kernel/include/uapi" -o "$DIR/plain" \
		"$ROOT/selftests/plain/plain.c" -libverbs &&
		gcc -O2 -Wall -Wextra -I"$INC_USER/lib/include" -o "$DIR/lib" \
			"$ROOT/selftests/plain/lib.c" -L"$INC_USER/lib" -linc
}

# gid R: index of the RoCEv2 GID of host R's IPv4 address.
gid()
{
	local d=/sys/class/infiniband/$TOPO$1/ports/1 a b c e i want

	IFS=. read -r a b c e < <(topo_ip4 "$1")
	want=$(printf 'ffff:%02x%02x:%02x%02x' "$a" "$b" "$c" "$e")
	for i in {0..15}; do
		if grep -q "$want" "$d/gids/$i" 2>/dev/null &&
			grep -q v2 "$d/gid_attrs/types/$i" 2>/dev/null; then
			echo "$i"
			return
		fi
	done
}

# shared NAME N PLAIN HOW OP...: PLAIN lists the ranks that are plain clients.
shared()
{
	local name=$1 n=$2 plain=$3 how=$4 r

	shift 4
	JOB_SEQ=$((JOB_SEQ + 1))
	JOB_NAME=plain$JOB_SEQ JOB_LOG=$DIR/plain$JOB_SEQ JOB_PIDS=()
	for ((r = 0; r < n; r++)); do
		if [[ " $plain " == *" $r "* ]]; then
			host "$r" timeout "$HANGS" "$DIR/plain" \
				"$TOPO$r" "$(gid "$r")" \
				"$(topo_ip4 "$r")" "$(topo_ip4 sw)" 18791 \
				"$JOB_NAME" "$r" "$n" "$how" "$@"
		else
			INC_SERVER=$(topo_ip4 sw) INC_JOB=$JOB_NAME \
				INC_RANK=$r \
				INC_NRANKS=$n INC_DEV=$TOPO$r host "$r" \
				timeout "$HANGS" "$DIR/lib" "$@"
		fi >"$JOB_LOG.$r" 2>&1 &
		JOB_PIDS+=($!)
	done
	job_wait
	ktap $? "$name" "$(grep -h . "$JOB_LOG".* | grep -v ^time | head -n 3 |
		tr '\n#' '; ')"
}

# Operations of each collective with these counts, with changing roots.
ops()
{
	local c n root=0

	for c in $ALL; do
		for n; do
			echo "$c:$n:$((root++ % 3))"
		done
	done
	echo barrier:0
}

part_share()
{
	# shellcheck disable=SC2046	# words
	shared "one plain client among three" 3 1 \
		free $(ops 0 1 7 250 4000 5462 20001)
	# shellcheck disable=SC2046	# words
	shared "one rank with libinc among three" 3 "0 2" \
		free $(ops 1 5461 40003)
}

# Trees of other shapes cut messages differently.
part_odd()
{
	local args

	for args in "--msg-size 2048 --slots 4" "--msg-size 16384 --pmtu 512" \
		"--msg-size 4096 --pmtu 256 --first-msg-id 0xfffffff0"; do
		serve_down
		# shellcheck disable=SC2086	# words
		serve_up $args
		# shellcheck disable=SC2046	# words
		shared "the same with $args" 3 1 free $(ops 1 333 5000)
	done
	serve_down
	serve_up
}

# median FILE: median time of the operations in it.
median()
{
	grep ^time "$1" | tail -n +4 | awk '{ print $4 }' | sort -n |
		awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

part_lone()
{
	local ops how t=()

	ops=$(yes allreduce:1 | head -n 60)
	for how in wait free; do
		# shellcheck disable=SC2086	# words
		shared "an element at a time, $how" 2 "0 1" "$how" $ops
		t+=("$(median "$JOB_LOG.0")")
	done
	echo "# AllReduce of an element: ${t[0]} us with its acknowledgment, ${t[1]} us without"
	# Late acknowledgments arrive after 2 ms or more.
	awk -v t="${t[0]}" -v slow="$SLOW" 'BEGIN { exit !(t < 1500 * slow) }'
	ktap $? "a lone message is acknowledged when it is answered" "${t[*]}"
}

suite_up()
{
	build && topo_up 3 && serve_up
}

suite_down()
{
	rm -rf "$DIR"
}

suite "share odd lone" "$@"
