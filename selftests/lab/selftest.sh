#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftest.sh [BACKEND]: does the lab notice failures? Runs on the host, and is
# itself the script of each run.

set -u

if [[ -n ${LAB_KVER:-} ]]; then
	case $1 in
	ok) echo "to stdout"; echo "to stderr" >&2; touch "$LAB_OUT/result" ;;
	status) exit 7 ;;
	report) echo "BUG: this is a drill" >/dev/kmsg ;;
	stock)	echo "BUG: KASAN: slab-use-after-free in rxe_pool_get_index+0x1" \
			>/dev/kmsg ;;
	crash)	cp "$(readlink -f /usr/bin/python3)" /tmp/inc-drill
		/tmp/inc-drill -c 'import ctypes; ctypes.string_at(0)'
		true ;;
	hang) sleep 1000 ;;
	argument) [[ $2 == "two words" && $GREETING == "it's \$me" ]] ;;
	readonly) ! touch /usr/x 2>/dev/null && touch /tmp/x /run/x ;;
	esac
	exit
fi

dir=$(dirname "$(readlink -f "$0")")
backend=${1:-uml}
cases=0
failed=0

# try WANTED-STATUS CASE [ARGS...]
try()
{
	local want=$1 rc=0 out
	shift

	out=$(GREETING="it's \$me" "$dir/lab" run --backend "$backend" \
		--timeout 10 --env GREETING \
		--no-rxe --name "lab-selftest-$1" "$dir/selftest.sh" "$@" \
		2>&1) || rc=$?
	cases=$((cases + 1))
	if ((rc == want)); then
		echo "ok $cases - $1"
	else
		echo "not ok $cases - $1: status $rc, not $want"
		printf '%s\n' "$out" | tail -n 20 | sed 's/^/# /'
		failed=1
	fi
}

# cleaned yes|no CASE ARGS...: does "lab clean" with ARGS remove a cache?
cleaned()
{
	local want=$1 name=$2 is=no
	shift 2

	RDMA_INC_CACHE=$scratch "$dir/lab" clean "$@" >/dev/null 2>&1
	[[ -e $scratch/piece-1/file ]] || is=yes
	cases=$((cases + 1))
	if [[ $is == "$want" ]]; then
		echo "ok $cases - $name"
	else
		echo "not ok $cases - $name"
		failed=1
	fi
}

scratch=$(mktemp -d)
mkdir "$scratch/piece-1"
touch "$scratch/piece-1/file"
cleaned no "clean wants no argument" extra --help
exec {fd}>"$scratch/.lock-use"
flock -s "$fd"
cleaned no "clean takes nothing from others"
exec {fd}>&-
cleaned yes "clean"
rm -rf "$scratch"

try 0 ok
try 7 status
try 99 report
try 0 stock
try 99 crash
try 124 hang
try 0 argument "two words"
[[ $backend == host ]] || try 0 readonly
echo "1..$cases"
exit "$failed"
