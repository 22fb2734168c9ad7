#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The demo, inside the kernel that it runs in: every command is run exactly as
# shown.
#
#   guest.sh RANKS BYTES DTYPE OP

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
# shellcheck source=selftests/demo/show.sh
. "$ROOT/selftests/demo/show.sh"

N=$1 BYTES=$2 DTYPE=$3 OP=$4
export PATH="$INC_USER/examples:$PATH"
DEBUGFS=/sys/kernel/debug

# Show a command and run it; NS is its network namespace.
show()
{
	local ns=$1

	shift
	prompt "$ns" "$*"
	case $ns in
	lab)	"$@" ;;
	bridge)	sw "$@" ;;
	*)	host "${ns#host}" "$@" ;;
	esac 2>&1 | sed 's/^/      /'
	return "${PIPESTATUS[0]}"
}

give_up()
{
	printf '\nThe demo FAILED: %s\nLogs: %s\n' "$*" "$LAB_OUT"
	exit 1
}

draw()
{
	local r line1="" line2="" line3="" shown=$N

	[ "$N" -le 4 ] || shown=4
	for ((r = 0; r < shown; r++)); do
		line1+="+-----------------+ "
		line2+=$(printf '|  host%-2d  rank %-2d| ' "$r" "$r")
		line3+=$(printf '| %-15s | ' "$(topo_ip4 "$r")")
	done
	[ "$shown" = "$N" ] || line2+=" ... up to host$((N - 1))"
	cat <<END

      +--------------------------------------------------------------+
      |  bridge   $(topo_ip4 sw)    br0, rdma_inc.ko: tree 1, $N ranks      |
      +--------------------------------------------------------------+
             | veth, MTU 1500 to each host's eth0
      $line1
      $line2
      $line3
      ${line1//[+-]/ }stock rdma_rxe on eth0, an ordinary RC QP each
      $line1
END
}

start_ranks()
{
	local r

	PIDS=()
	for ((r = 0; r < N; r++)); do
		host "$r" env INC_SERVER="$(topo_ip4 sw)" INC_JOB=demo \
			INC_RANK="$r" INC_NRANKS="$N" INC_DEV="$TOPO$r" \
			inc-allreduce "$DTYPE" "$OP" "in.$r" "out.$r" \
			>"rank.$r.log" 2>&1 &
		PIDS+=($!)
	done
}

compare()
{
	local r bad=0

	for ((r = 0; r < N; r++)); do
		if ! wait "${PIDS[$r]}"; then
			echo "      rank $r: $(tail -n 1 "rank.$r.log")"
			bad=1
		elif cmp -s "out.$r" want; then
			echo "      rank $r: $(md5sum <"out.$r" | cut -c1-32)  $BYTES bytes, equal to the reference"
		else
			echo "      rank $r: $(cmp "out.$r" want 2>&1)"
			bad=1
		fi
	done
	echo "      reference $(md5sum <want | cut -c1-32)  (plain C, another program, no RDMA)"
	return $bad
}

# Compare the totals of "tree show -s" with the data of one rank.
account()
{
	sw inc-tool -j -s member show | python3 -c '
import json, sys
one = max(int(sys.argv[1]), 1)
stats = [m["stats"] for m in json.load(sys.stdin)]
tin = sum(s["rx-bytes"] for s in stats)
tout = sum(s["tx-bytes"] for s in stats)
print("      in all %d bytes in, INC headers included: %.2f times the data of one rank" % (tin, tin / one))
print("      in all %d bytes out: one copy of the result to each rank (%.2f times)" % (tout, tout / one))
' "$BYTES"
}

tidy()
{
	kill "${PIDS[@]}" 2>/dev/null
	serve_down
	topo_down
	inc_unload
}

PIDS=()
cd "$LAB_OUT" || exit 1
trap tidy EXIT
trap 'exit 130' INT TERM

step "A bridge host and $N hosts: namespaces, veth, stock rxe ($(uname -r))"
topo_up "$N" || give_up "the topology could not be made"
draw

step "The module, and an aggregation tree"
show lab insmod "$INC_KO" || give_up "insmod"
show bridge inc-tool switch show
show bridge inc-tool tree add id 1 ranks "$N" || give_up "inc-tool tree add"

step "Input for $N ranks, $BYTES bytes of $DTYPE each, and what must come out"
gcc -O2 -ffp-contract=off -o reference "$ROOT/selftests/demo/reference.c" ||
	give_up "the reference does not compile"
show lab ./reference . "$N" "$BYTES" "$DTYPE" "$OP" "${SEED:-$RANDOM}" ||
	give_up "the reference"

step "The rendezvous daemon, and $N ordinary verbs processes"
serve_up --tree 1 -v || give_up "inc-tool serve: $(cat serve.log)"
echo "  bridge# inc-tool serve --tree 1 &"
echo "  hostR#  INC_SERVER=$(topo_ip4 sw) INC_JOB=demo INC_RANK=R INC_NRANKS=$N inc-allreduce $DTYPE $OP in.R out.R &"
begin=$(date +%s%3N)
start_ranks
compare || give_up "a result is missing or wrong"
echo "      from start to end of all ranks: $(($(date +%s%3N) - begin)) ms, joining and registering included"

step "What the switch saw"
show bridge inc-tool -s tree show
show bridge inc-tool member show
account
dir=$(find $DEBUGFS/rdma_inc -type d -name tree-1 2>/dev/null | head -n 1)
[ -z "$dir" ] || show lab head -n 12 "$dir/slots"

step "Away with it"
serve_down
show bridge inc-tool tree del 1
show lab rmmod rdma_inc || give_up "rmmod"
trap - EXIT
topo_down
printf '\nThe demo worked: %d ranks, %s bytes of %s, every result equal to the reference.\n' \
	"$N" "$BYTES" "$DTYPE"
