#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The first error that a new user sees: each way to fail before the first result is
# there, on stock rxe and the module. What the rank says names the cause, and is a row
# of the table "The first error" in debugging.rst; each row there has been seen.
#
#   first.sh [VAR=VALUE]... [PART...]
#	PART: device limits daemon client table
#
# shellcheck disable=SC2016 # what a host's shell expands

# Each host has its own device, and no other.
TOPO_OWN=1
# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"

LIMIT=$(scaled 60)
PAGE=$ROOT/Documentation/debugging.rst
SAID=$LAB_OUT/said
# libinc without libinc-am.
LONE=$LAB_OUT/lone
: >"$SAID"
SEQ=0
# How many ranks, and what a rank's shell does before it.
RANKS=1
BEFORE=:
ARGS=(barrier -i 1 -x 0)

# rank R VAR=VALUE...: run it on host R, whose name is nodeR.
rank()
{
	local r=$1

	shift
	ip netns exec "$TOPO-h$r" unshare -u bash -c \
		"echo node$r >/proc/sys/kernel/hostname; $BEFORE"'; exec "$@"' bash \
		env INC_SERVER="$(topo_ip4 sw)" INC_JOB="first$SEQ" INC_RANK="$r" \
		INC_NRANKS="$RANKS" "$@" timeout "$LIMIT" "${AS[@]}" \
		inc-perf "${ARGS[@]}" >"$LAB_OUT/first.$r" 2>&1
}

# A user other than root.
AS=()

# said NAME TEXT [R]: rank R has said TEXT. No process is started for that.
said()
{
	local line said=

	while read -r line; do
		[[ $line != "inc-perf: rank ${3:-0}: "* ]] || {
			said=${line#inc-perf: rank ?: }
			break
		}
	done <"$LAB_OUT/first.${3:-0}"
	[[ $said == *"$2"* ]]
	ktap $? "$1" "${said:-nothing}"
	printf '%s\t%s\n' "$1" "$said" >>"$SAID"
}

# one NAME TEXT VAR=VALUE...: rank 0 fails, and says so.
one()
{
	SEQ=$((SEQ + 1))
	rank 0 "${@:3}"
	said "$1" "$2"
}

part_device()
{
	AS=(setpriv --reuid 65534 --clear-groups)
	chmod 600 /dev/infiniband/uverbs*
	one "no permission for the device" "Permission denied"
	chmod 666 /dev/infiniband/uverbs*
	AS=()
	BEFORE='mount -t tmpfs none /dev/infiniband'
	one "no device node" "no device file"
	BEFORE='mount -t tmpfs none /etc/libibverbs.d'
	one "no provider" "ibverbs-providers"
	BEFORE=:
	one "no device of this name" 'no verbs device "nothing"' INC_DEV=nothing
	one "no GID of this index" "a GID 250" INC_GID_INDEX=250
	one "no port of this number" "has no port 2" INC_IB_PORT=2
	host 0 ip link add down0 type dummy
	topo_rxe h0 "${TOPO}down" down0
	one "a device that is down" "is down" INC_DEV="${TOPO}down"
	host 0 rdma link del "${TOPO}down"
	host 0 ip link del down0
	host 0 rdma link del "${TOPO}0"
	one "no device" "netdev eth0"
	topo_rxe h0 "${TOPO}0" eth0
}

part_limits()
{
	AS=(setpriv --reuid 65534 --clear-groups prlimit --memlock=65536)
	one "little memory may be locked" "lock 64 KiB"
	AS=(setpriv --reuid 65534 --clear-groups prlimit --memlock=0)
	one "no memory may be locked" "lock 0 KiB"
	AS=(setpriv --reuid 65534 --clear-groups prlimit --nproc=1)
	one "no thread" "ulimit -u"
	AS=()
}

part_daemon()
{
	local names=/tmp/resolv.$$

	one "nobody listens" "inc-tool serve" INC_SERVER="$(topo_ip4 sw):1"
	one "no such host" "is it up" INC_SERVER="10.$TOPO_NET.9.9" \
		INC_JOIN_TIMEOUT_MS=5000
	one "no route" "route" INC_SERVER=192.0.2.1
	one "no route for IPv6" "route" INC_SERVER=2001:db8::1
	one "a port that is none" "65535" INC_SERVER="$(topo_ip4 sw):99999"
	echo "nameserver 10.$TOPO_NET.9.9" >"$names"
	BEFORE="mount --bind $names /etc/resolv.conf"
	one "no name server" "resolv.conf" INC_SERVER=switch.example \
		INC_JOIN_TIMEOUT_MS=3000
	rm -f "$names"
	BEFORE=:
	mkdir -p "$LONE" && cp "$INC_USER/lib/libinc.so.1" "$LONE"
	one "no libinc-am" "libinc-am" LD_LIBRARY_PATH="$LONE"
	kill -STOP "$SERVE_PID"
	one "the daemon is stopped" "is it stopped" INC_JOIN_TIMEOUT_MS=1500
	kill -CONT "$SERVE_PID"
	RANKS=3
	one "ranks are missing" "missing: ranks 1-2" INC_JOIN_TIMEOUT_MS=1500
	RANKS=1
}

# What rendezvous.rst has for authors of clients.
part_client()
{
	local dir=$LAB_OUT/client out

	mkdir -p "$dir"
	sed -n '/^   import ipaddress/,/^[^ ]/s/^   //p' \
		"$ROOT/Documentation/rendezvous.rst" >"$dir/client.py"
	out=$(cd "$dir" && protoc --python_out=. -I "$ROOT/userspace/rpc/proto" \
			rdma_inc.proto &&
		host 0 timeout "$LIMIT" python3 client.py "$(topo_ip4 sw):18791" \
			"$(topo_ip4 0)" 2>&1)
	[[ $out == "joined tree_id: "*"rkey: "*ready*bye* ]]
	ktap $? "the client of the page joins, is ready and leaves" \
		"$(tr '\n#' '| ' <<<"$out")"
}

part_table()
{
	local what

	for what in has unused; do
		"$ROOT/selftests/libinc/first.py" "$PAGE" $what <"$SAID" >"$LAB_OUT/$what"
		ktap $? "debugging.rst: $what" "$(tr '\n' '|' <"$LAB_OUT/$what")"
	done
}

suite_up()
{
	topo_up 2 && serve_up --dead-time "$(scaled 350)"
}

suite "device limits daemon client table" "$@"
