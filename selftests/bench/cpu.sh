# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The bridge host's use of the CPU, by inc_account.ko: the parts cpu and flat of
# the benchmark. Each sample is two readings in the middle of a run.

ACCOUNT=/sys/kernel/debug/inc_account
SETTLE=0.3		# seconds after the first packets
SPAN=1.5		# seconds between the readings
PROFILE=0
PROFILE_HZ=4000

BACKLOG=/proc/sys/net/core/netdev_max_backlog
FLAT_TREES=1024
FLAT_MEMBERS=64
FLAT_TOPO=()
FLAT_SERVE=

account_off()
{
	[ ! -d /sys/module/inc_account ] || rmmod inc_account
}

# Enough data packets since the module was loaded: more than the handshake.
under_way()
{
	local n

	n=$(sed 's/.*"port_big":\([0-9]*\).*"host_big":\([0-9]*\).*/\1+\2/' \
		"$ACCOUNT")
	((n > 1000))
}

# account OUT CMD...: take readings while CMD runs. PROFILE: samples per second
# of the profile, or 0.
account()
{
	local out=$1 pid

	shift
	insmod "$LAB_OUT/account/inc_account.ko" profile="$PROFILE" \
		netns="$(sw stat -L -c %i /proc/self/ns/net)" ||
		die "inc_account.ko"
	"$@" &
	pid=$!
	wait_for 150 under_way || die "${out##*/}: nothing is sent"
	sleep "$SETTLE"
	cat "$ACCOUNT" >"$out.begin"
	sleep "$SPAN"
	cat "$ACCOUNT" >"$out.end"
	[ "$PROFILE" = 0 ] || cat "${ACCOUNT}_profile" >"$out"
	wait "$pid" || die "${out##*/} failed"
	rmmod inc_account
}

# stream FROM TO OUT: plain RDMA WRITEs, enough to outlast the readings.
stream()
{
	local dev=$TOPO$1

	shift
	ip netns exec "$TOPO-$1" inc-rtt -j --bw --dev "$dev" -i 3500 --reps 4 \
		"$2" >/dev/null
}

# Choose who segments the module's bursts: the ports or the hosts.
apart()
{
	local segs=1 r

	[ "$1" = ports ] || segs=65535
	for ((r = 0; r < TOPO_N; r++)); do
		sw ip link set "v$r" gso_max_segs "$segs"
	done
}

part_cpu()
{
	local rep=$1

	apart ports
	account "$S/cpu-apart.$rep" allreduce module 8 /dev/null -s 1048576 \
		-i 250 -x 2
	apart hosts
	account "$S/cpu-module.$rep" \
		allreduce module 8 "$S/order-ranks.$rep" -s 1048576 -i 250 -x 2
	account "$S/cpu-arrival.$rep" \
		allreduce arrival 8 "$S/order-arrival.$rep" -s 1048576 -i 250 \
		-x 2
	account "$S/cpu-server.$rep" allreduce server 8 /dev/null -s 1048576 \
		-i 180 -x 2
	account "$S/cpu-in.$rep" stream 0 h0 "$(topo_ip4 sw)"
	account "$S/cpu-out.$rep" stream sw sw "$(topo_ip4 1)"
	account "$S/cpu-forward.$rep" stream 0 h0 "$(topo_ip4 1)"
}

# Profile the CPU; sampling has a cost, so use this run for nothing else.
part_profile()
{
	local rep=$1

	PROFILE=$PROFILE_HZ
	account "$S/profile.$rep" allreduce module 8 /dev/null -s 1048576 \
		-i 250 -x 2
	PROFILE=0
}

# Switch to another topology.
flat_use()
{
	TOPO=${FLAT_TOPO[$1]}
	# shellcheck disable=SC2034 # topo.sh's
	TOPO_NET=$((47 + $1))
	TOPO_N=$2
}

# Trees at rest: two members each, which never send anything.
trees_at_rest()
{
	local t a b

	a=$(topo_ip4 0)
	b=$(topo_ip4 1)
	for ((t = 100; t < 99 + FLAT_TREES; t++)); do
		echo "tree add id $t ranks 2 slots 8 msg-size 4096"
		echo "member add tree $t rank 0 addr $a qpn $((2 * t)) psn 0"
		echo "member add tree $t rank 1 addr $b qpn $((2 * t + 1)) psn 0"
	done >"$LAB_OUT/trees"
	sw inc-tool -batch "$LAB_OUT/trees" >"$LAB_OUT/trees.log" 2>&1 ||
		die "trees: $(tail -n 1 "$LAB_OUT/trees.log")"
}

# A bridge host with many trees beside one with only the job's, so that nothing
# has to be changed between samples.
flat_up()
{
	local main_n=$TOPO_N serve=$SERVE_PID

	FLAT_TOPO=("$TOPO" "${TOPO}t")
	flat_use 1 2
	topo_up 2 && serve_up --dead-time "$DEAD_TIME" || return 1
	FLAT_SERVE=$SERVE_PID
	trees_at_rest
	sw inc-tool -j -d tree show id 100 >"$S/tree"
	flat_use 0 "$main_n"
	SERVE_PID=$serve
}

flat_down()
{
	local main_n=$TOPO_N

	[ -n "$FLAT_SERVE" ] || return 0
	kill "$FLAT_SERVE"
	flat_use 1 2
	topo_down
	flat_use 0 "$main_n"
}

part_flat()
{
	local rep=$1 main_n=$TOPO_N backlog

	account "$S/flat-trees-1.$rep" allreduce module 2 /dev/null -s 262144 \
		-i 3500 -x 10
	flat_use 1 2
	account "$S/flat-trees-$FLAT_TREES.$rep" \
		allreduce module 2 /dev/null -s 262144 -i 3500 -x 10
	flat_use 0 "$main_n"
	# One CPU handles what all members send at once: rxe has 64 packets of a
	# QP in flight. With few members the samples are the same as with one
	# tree.
	backlog=$(<"$BACKLOG")
	echo $((FLAT_MEMBERS * 128)) >"$BACKLOG"
	account "$S/flat-members-$FLAT_MEMBERS.$rep" \
		allreduce module "$FLAT_MEMBERS" /dev/null -s 262144 -i 30 -x 1
	echo "$backlog" >"$BACKLOG"
	cp "$S/flat-trees-1.$rep.begin" "$S/flat-members-2.$rep.begin"
	cp "$S/flat-trees-1.$rep.end" "$S/flat-members-2.$rep.end"
}
