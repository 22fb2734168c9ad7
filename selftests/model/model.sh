#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# model.sh [small | vast] [PATTERN]: have spin explore every state of slot.pml, in
# variants, and then variants with a bug, in which it has to find an error. Vast
# are those that take minutes. KTAP on standard output. Where an error is found,
# build/model/N.trail is the path to it:
# (cd build/model && spin -t -p FLAGS -k N.trail slot.pml).

here=$(cd "$(dirname "$0")" && pwd)
ROOT=$(cd "$here/../.." && pwd)
OUT=$ROOT/build/model
SIZES="small vast"
OPT=-O2
case ${1:-} in
# To optimize takes longer than it saves.
small) SIZES=$1; OPT=-O0; shift ;;
vast) SIZES=$1; shift ;;
esac
PATTERN=${1:-}
LIMIT=180	# seconds for one variant
N=0
FAILED=0
mkdir -p "$OUT" && cd "$OUT" && cp "$here/slot.pml" . || exit 1

# look FLAGS...: 0 no error in any state, 1 an error, 2 the search did not
# finish
look()
{
	local errors

	rm -f slot.pml.trail
	spin -a "$@" slot.pml >log 2>&1 &&
		gcc "$OPT" -w -DSAFETY -DCOLLAPSE -DVECTORSZ=1024 -DMEMLIM=2000 \
			-o pan pan.c >>log 2>&1 &&
		timeout "$LIMIT" ./pan -n -m100000 -w22 >>log 2>&1 || return 2
	errors=$(sed -n 's/.*errors: \([0-9]*\)$/\1/p' log)
	[ "$errors" != 0 ] || ! grep -qE 'too small|MEMLIM|not completed' log ||
		return 2
	[ -n "$errors" ] || return 2
	[ "$errors" = 0 ]
}

said()
{
	awk '/states, stored/ { states = $1 }
	     /total actual memory/ { mem = $1 }
	     /^pan:1:/ { sub(/ \(at depth.*/, ""); sub(/^pan:1: /, ""); why = ": " $0 }
	     END { print states " states, " mem " MB" why }' log
}

# variant WANT NAME FLAGS...: WANT is the expected return value of look().
variant()
{
	local want=$1 name=$2 rc

	shift 2
	[[ $name == *$PATTERN* ]] || return 0
	look "$@"
	rc=$?
	N=$((N + 1))
	[ ! -f slot.pml.trail ] || mv slot.pml.trail "$N.trail"
	echo "# $*: $(said)"
	if [ $rc = "$want" ]; then
		echo "ok $N - model: $name"
		return
	fi
	FAILED=1
	echo "not ok $N - model: $name # status $rc, not $want"
	[ $rc != 2 ] || tail -n 5 log | sed 's/^/# /'
}

right()
{
	[[ $SIZES != *small* ]] || variant 0 "$@"
}

# Millions of states, or nearly.
vast()
{
	[[ $SIZES != *vast* ]] || variant 0 "$@"
}

wrong()
{
	[[ $SIZES != *small* ]] || variant 1 "finds: $1" "${@:2}"
}

vast "3 hosts, each with a CPU" -DFAULTS=0
right "3 hosts, duplicates and reordering" -DONE_CPU -DFAULTS=2
vast "2 hosts, each with a CPU, 2 packets, one bad request" \
	-DHOSTS=2 -DCHUNKS=2 -DBAD=1
right "3 hosts, 2 packets, 2 in flight" -DONE_CPU -DCHUNKS=2 -DWINDOW=2 -DMSGS=2
right "3 hosts, one bad request" -DONE_CPU -DBAD=1
right "3 hosts, one message held of each" -DONE_CPU -DHOLD=1
vast "3 hosts, one repeats a whole message" -DONE_CPU -DREPEATS=1 -DBAD=1
vast "2 hosts, each with a CPU, a bad request and a death" \
	-DHOSTS=2 -DBAD=1 -DDEATHS=1 -DFAULTS=0
right "2 hosts, both slots fail, a death" -DHOSTS=2 -DONE_CPU -DBAD=2 -DDEATHS=1
vast "3 hosts, a bad request and a death" -DONE_CPU -DBAD=1 -DDEATHS=1 \
	-DFAULTS=0
right "two levels" -DLEVELS2 -DONE_CPU
vast "two levels, one bad request" -DLEVELS2 -DONE_CPU -DBAD=1 -DFAULTS=0
right "two levels, a death at the leaf" \
	-DLEVELS2 -DONE_CPU -DDEATHS=1 -DDIES=0 -DFAULTS=0 -DMSGS=2
vast "two levels, a death at the root" \
	-DLEVELS2 -DONE_CPU -DDEATHS=1 -DDIES=2 -DFAULTS=0 -DMSGS=2

wrong "a duplicate is added" -DONE_CPU -DCHUNKS=2 -DBUG_DUP
wrong "a hole is passed over" -DONE_CPU -DBUG_HOLE
wrong "acknowledged, but not taken" -DONE_CPU -DBAD=1 -DBUG_ACK
wrong "a slot goes on before all have begun the failed message" \
	-DONE_CPU -DBAD=1 -DBUG_ADVANCE
wrong "a rank is not told of a failure" -DONE_CPU -DBAD=1 -DBUG_TELL
wrong "nobody looks for who keeps a failed message's slot" \
	-DHOSTS=2 -DONE_CPU -DBAD=2 -DDEATHS=1 -DBUG_SCAN
wrong "a leaf's slot goes on before its parent's answer" \
	-DLEVELS2 -DONE_CPU -DBAD=1 -DFAULTS=0 -DBUG_LEAF_ADVANCE
wrong "a leaf does not tell its parent of a death" \
	-DLEVELS2 -DONE_CPU -DDEATHS=1 -DDIES=0 -DFAULTS=0 -DBUG_LEAF_SILENT

echo "1..$N"
[ $N -gt 0 ] && [ $FAILED = 0 ]
