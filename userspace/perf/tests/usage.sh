#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Wrong values of each option of inc-perf, inc-rtt and mpirun-inc: the status is 2, the
# first line names the option, and nobody has been asked for by then. Values at the ends
# of a range are right.
#
#   usage.sh DIRECTORY-OF-THE-PROGRAMS

set -u

DIR=$1
TOP=$(cd "$(dirname "$0")/../../.." && pwd)
TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT
MPI=$TMP/mpirun-inc
OUT=$TMP/out
NUMBER=0
FAILED=0
sed -e 's|@PLUGINDIR@|/nowhere|; s|@VERSION@|1|' \
	"$TOP/userspace/plugins/ompi/mpirun-inc.in" >"$MPI"

# Whoever connects is refused, at once, and exits with another status.
unset INC_SERVER INC_AM INC_JOB INC_RANK INC_NRANKS
PLACE=(-S 127.0.0.1:1 -J x -r 0 -n 3)

# case NAME RC
result()
{
	local not=

	NUMBER=$((NUMBER + 1))
	[ "$2" = 0 ] || { not='not '; FAILED=$((FAILED + 1)); }
	echo "${not}ok $NUMBER - $1"
}

# ends STATUS TEXT COMMAND...: it does, and its first line has the text.
ends()
{
	local status=$1 text=$2 got

	shift 2
	timeout 20 "$@" >"$OUT" 2>&1 </dev/null
	got=$?
	[ $got = "$status" ] && [[ $(head -n 1 "$OUT") == *"$text"* ]] && return
	echo "# status $got of: $*"
	sed 's/^/#   /' "$OUT" | head -n 3
	return 1
}

# wrong PROGRAM WHAT ARGS...: these are refused, and WHAT is named.
wrong()
{
	local name=$1

	shift
	# shellcheck disable=SC2086 # words
	case $name in
	inc-perf) ends 2 "$1" "$DIR/inc-perf" "${PLACE[@]}" "${@:2}" ;;
	inc-rtt) ends 2 "$1" "$DIR/inc-rtt" "${@:2}" 127.0.0.1:1 ;;
	*) ends 2 "$1" "$DIR/$name" "${@:2}" ;;
	esac || BAD=$((BAD + 1))
}

# values PROGRAM: lines "OPTION VALUE..." of the input are refused, each value.
values()
{
	local option list value

	while read -r option list; do
		for value in $list; do
			wrong "$1" "$option" "$option=$value"
		done
	done
}

BAD=0
values inc-perf <<-'END'
	--rank -1 3 x 65536
	--ranks 0 -1 x 1025
	--dtype int7 1
	--op plus 1
	--root 3 -1 every
	--sizes 0 8:4 4: :4 x 4:x -4
	--size 0 1 3 x -1 16E
	--count -1 x 99999999999999999999
	--iterations -1 x 0
	--warmup -1 x
	--reps 0 1001 x
	--check 0 -1 x
	--pattern odd
	--seed -1 x
	--runs 0 x
	--communicators 0 65537 x
	--outstanding 0 65 x
	--pause -1 x
	--reg never
	--window 0 65536 x
	--slots 0 3 8192 x
	--msg-size 0 63 100 65537 x
	--pmtu 0 255 1000 8192 x
	--first-msg-id -1 4294967296 x
	--psn -1 16777216 x
	--transport ud
	--timeout 0 -1 x 1y
	--join-timeout 0 -1 x
	--ib-port -1 256 x
	--gid-index -1 256 x
END
wrong inc-perf "--job" -J "$(printf 'x%.0s' {1..64})"
wrong inc-perf "nonsense" nonsense
wrong inc-perf "reduce" allreduce reduce
wrong inc-perf "--nothing" --nothing
wrong inc-perf "--rank" --rank
wrong inc-perf "--server" --server ''
wrong inc-perf "--dev" --dev ''
result "inc-perf: wrong values" $BAD

BAD=0
wrong inc-perf "--op" -t fp32 -o band
wrong inc-perf "--op" -t bf16 -o lxor reduce
wrong inc-perf "--op" -t 2int
wrong inc-perf "--op" -t int32 -o minloc reduce-scatter
wrong inc-perf "--op" -t fp64 -o land mix
wrong inc-perf "--size" -t fp64 -s 4 --check
wrong inc-perf "--size" -t int32 -m 1:2
wrong inc-perf "--root" --root 3 broadcast
wrong inc-perf "--communicators" --communicators 2 --check
wrong inc-perf "--iterations" -i 0
wrong inc-perf "--runs" --runs 5 barrier
wrong inc-perf "--runs" --runs 5 mix
wrong inc-perf "--size" -s 8000000000G
PLACE=(-J x -r 0 -n 3)
wrong inc-perf "--server"
PLACE=(-S 127.0.0.1:1 -r 0 -n 3)
wrong inc-perf "--job"
PLACE=(-S 127.0.0.1:1 -J x -n 3)
wrong inc-perf "--rank R"
PLACE=(-S 127.0.0.1:1 -J x -r 0)
wrong inc-perf "--ranks N"
PLACE=(-S 127.0.0.1:1 -J x)
INC_RANK=x INC_NRANKS=2 wrong inc-perf "INC_RANK"
INC_RANK=0 INC_NRANKS=2k5 wrong inc-perf "INC_NRANKS"
INC_RANK=2 INC_NRANKS=2 wrong inc-perf "--rank"
INC_RANK=0 INC_NRANKS=2 wrong inc-perf "--root" --root 2
result "inc-perf: what does not go together, or is missing" $BAD

ends 1 "INC_LOG=loud: must be error, warn, info or debug" \
	env INC_LOG=loud "$DIR/inc-perf" -S 127.0.0.1:1 -J x -r 0 -n 3
result "libinc: a level of the log that is none" $?

BAD=0
PLACE=(-S 127.0.0.1:1 -J x -r 0 -n 3 --join-timeout 20)
for args in "-t int32 -o band" "-t 2int -o minloc" "-t fp64 -s 8" "-m 1:4" \
	"--root 2 reduce" "--count 0 --check" "-i 0 --check barrier" \
	"-t 2int broadcast" "--pmtu 256" "--pmtu 4096" "--slots 4096" \
	"--msg-size 64" "--timeout 500ms" "--timeout 2s"; do
	# shellcheck disable=SC2086 # words
	ends 1 "refused" "$DIR/inc-perf" "${PLACE[@]}" $args || BAD=$((BAD + 1))
done
result "inc-perf: right values" $BAD

BAD=0
values inc-rtt <<-'END'
	--port 0 65536 x
	--size 0 67108865 x
	--iterations 0 x 1048577
	--reps 0 1001 x
	--window 0 129 x
	--yield -1 1001 x
	--qp-timeout 0 32 x
	--pmtu 0 255 1000 8192 x
	--gid-index -1 256 x
	--timeout 0 60 x 500ms
END
wrong inc-rtt "--nothing" --nothing
wrong inc-rtt "--dev" --dev ''
wrong inc-rtt "--server" --server
wrong inc-rtt "--once" --once
wrong inc-rtt "127.0.0.1:1" another
result "inc-rtt: wrong values" $BAD

BAD=0
for args in "--timeout 1s" "--timeout 1000 --pmtu 4096" "--timeout 1s --size 64M -n 1"; do
	# shellcheck disable=SC2086 # words
	ends 1 "refused" "$DIR/inc-rtt" $args 127.0.0.1:1 || BAD=$((BAD + 1))
done
result "inc-rtt: right values" $BAD

# A server tells its clients what is wrong, and is there for the next one: where there
# is no RDMA device, up to the end of what comes before that.
"$DIR/inc-rtt" --port 18793 --timeout 2s >"$OUT" 2>&1 &
SERVER=$!
python3 - <<-'END' >"$TMP/said"
	import socket, time
	def ask(text, end=True):
	    for i in range(100):
	        try:
	            s = socket.create_connection(("127.0.0.1", 18793))
	            break
	        except ConnectionRefusedError:
	            time.sleep(0.1)
	    s.sendall(text)
	    if end:
	        s.shutdown(socket.SHUT_WR)
	    return s.recv(999).decode().strip()
	hello = b"inc-rtt1 %s 17 1 1 0 1024 0 %d 1 0\n"
	print(ask(b"GET / HTTP/1.0\r\n\r\n"))
	print(ask(b""))
	print(ask(b"x" * 5000))
	print(ask(hello % (b"nowhere", 8)))
	print(ask(hello % (b"10.0.0.1", 0)))
	print(ask(hello % (b"10.0.0.1", 1 << 27)))
	# It says nothing, until its process ends.
	print(ask(b"", False) or "error of a silent client")
	print(ask(hello % (b"nowhere", 8)))
END
[ "$(grep -c '^error' "$TMP/said")" = 8 ] && kill -0 $SERVER
result "inc-rtt: a server outlives wrong and silent clients" $?
kill $SERVER
wait $SERVER 2>/dev/null

BAD=0
ends 2 "-S" sh "$MPI" -S || BAD=$((BAD + 1))
ends 2 "-S" sh "$MPI" -S -n 2 true || BAD=$((BAD + 1))
ends 2 "-S" sh "$MPI" -S "" true || BAD=$((BAD + 1))
ends 2 "which program" sh "$MPI" || BAD=$((BAD + 1))
ends 2 "which program" sh "$MPI" -V -S h || BAD=$((BAD + 1))
ln -s "$(command -v uname)" "$TMP"
ends 1 "no mpirun in PATH" env PATH="$TMP" /bin/sh "$MPI" -S h true ||
	BAD=$((BAD + 1))
ends 1 "no mca_coll_inc.so in /nowhere" sh "$MPI" --env || BAD=$((BAD + 1))
result "mpirun-inc: wrong values, and what is missing" $BAD

BAD=0
VERSION=$(cat "$TOP/VERSION")
for program in inc-perf inc-rtt; do
	# shellcheck disable=SC2086 # words
	ends 0 "$program $VERSION" "$DIR"/$program --version &&
		ends 0 "$program $VERSION" "$DIR"/$program -V &&
		ends 0 "Usage: $program" "$DIR"/$program --help ||
		BAD=$((BAD + 1))
done
ends 0 "mpirun-inc 1" sh "$MPI" --version || BAD=$((BAD + 1))
ends 0 "Usage: mpirun-inc" sh "$MPI" --help || BAD=$((BAD + 1))
result "--version and --help" $BAD

echo "1..$NUMBER"
[ $FAILED = 0 ]
