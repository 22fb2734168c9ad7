# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Waiting, and measuring time. SECONDS are those of a fast kernel: a slow one
# gets more.

# scaled N: as much for a fast kernel, in this one.
scaled()
{
	echo $(($1 * SLOW))
}

# For "timeout": what has not ended by itself after so many seconds hangs. Longer than
# any machine takes, since it is waited for only where something is wrong.
# shellcheck disable=SC2034	# the tests'
HANGS=$(scaled 120)

# nap SECONDS: sleep, without a process for it: where one starts, that takes longer
# than what is waited for.
exec {NAP_FD}<> <(:)
nap()
{
	read -rt "$1" -u "$NAP_FD" || :
}

# wait_for SECONDS CMD...: until CMD succeeds. The longer it has taken, the longer
# the next try may wait. Where others have the CPU, what is awaited takes longer, and
# so does CMD: it is tried twice a second, if need be in up to four times as long.
wait_for()
{
	local tries=$(($1 * 2)) limit=$(($1 * 1000 * SLOW)) took ms
	local from=${EPOCHREALTIME/./}

	shift
	while ! "$@" >/dev/null 2>&1; do
		took=$(((${EPOCHREALTIME/./} - from) / 1000))
		((took < 4 * limit && (--tries > 0 || took < limit))) ||
			return 1
		ms=$((took / 4))
		((ms > 50)) || ms=50
		((ms < 200)) || ms=200
		printf -v ms 0.%03d "$ms"
		nap "$ms"
	done
}

# steady SECONDS CMD...: until CMD prints the same three times in a row.
steady()
{
	local until=$((SECONDS + $1 * SLOW)) same=0 last now

	shift
	last=$("$@" 2>/dev/null)
	while [ "$same" -lt 2 ]; do
		[ "$SECONDS" -lt "$until" ] || return 1
		nap 0.1
		now=$("$@" 2>/dev/null)
		same=$((same + 1))
		[ "$now" = "$last" ] || same=0
		last=$now
	done
}

# changes SECONDS CMD...: until CMD prints something else.
changes()
{
	local until=$((SECONDS + $1 * SLOW)) first

	shift
	first=$("$@" 2>/dev/null)
	while [ "$("$@" 2>/dev/null)" = "$first" ]; do
		[ "$SECONDS" -lt "$until" ] || return 1
		nap 0.05
	done
}

# seen_by NAMESPACE FILE: wait until a monitor there, which writes to FILE,
# listens. It does not report earlier events, so add and delete trees 999 until
# it reports one.
seen_by()
{
	local ns=$1 file=$2 until=$((SECONDS + 40 * SLOW))

	while ! grep -q . "$file" 2>/dev/null; do
		[ "$SECONDS" -lt "$until" ] || return 1
		ip netns exec "$ns" inc-tool tree add id 999 ranks 1 slots 1 \
			dead-time 10 >/dev/null
		ip netns exec "$ns" inc-tool tree del 999
		nap 0.02
	done
}

STILL_PID=

# In virtual time no machine stands still.
clock_up()
{
	[ -z "${LAB_VIRTUAL:-}" ] || return 0
	STILL=$(mktemp)
	printf '%015d\n' 0 >"$STILL"
	# one tick for the timer, one for the turn
	chrt -r 1 python3 -I -S "${BASH_SOURCE[0]%/*}/still.py" 2 1<>"$STILL" &
	STILL_PID=$!
}

clock_down()
{
	[ -n "$STILL_PID" ] || return 0
	kill "$STILL_PID" 2>/dev/null
	wait "$STILL_PID" 2>/dev/null
	rm -f "$STILL"
	STILL_PID=
}

# now_ms VAR: milliseconds without those in which this machine stood still since
# clock_up: time limits assume a running machine. Starts no process, since that
# takes time.
now_ms()
{
	local us=0

	[ -z "$STILL_PID" ] || read -r us <"$STILL"
	printf -v "$1" %d $(((${EPOCHREALTIME/./} - 10#$us) / 1000))
}
