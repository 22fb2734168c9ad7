# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The frame of a test in a kernel. Sourced first; sets the variables that the
# test's arguments VAR=VALUE name, and leaves the others in "$@". The test
# defines
#
#   part_NAME     one of its parts
#   suite_up      optional: what all parts need, besides the module
#   suite_down    optional: takes away what this library does not know of
#
# and ends with
#
#   suite "PART..." "$@"
#
# which runs the parts that the arguments name, or those of the first argument.
#
# Under kselftest's runner (../Makefile), INC_BUILD is the folder of what is tested;
# without it that is what the machine has installed.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
INC_BUILD=${INC_BUILD:-$ROOT/build}
LAB_BACKEND=${LAB_BACKEND:-host}
LAB_OUT=${LAB_OUT:-$INC_BUILD/out}
mkdir -p "$LAB_OUT"

case $LAB_BACKEND in
host)	INC_KO=$INC_BUILD/host/kernel/rdma_inc.ko ;;
vm-*)	INC_KO=$INC_BUILD/${LAB_BACKEND#vm-}/kernel/rdma_inc.ko ;;
vm)	INC_KO=$INC_BUILD/newest/kernel/rdma_inc.ko ;;
*)	INC_KO=$INC_BUILD/$LAB_BACKEND/kernel/rdma_inc.ko ;;
esac
INC_USER=$INC_BUILD/user
[ "$LAB_BACKEND" != host ] || INC_USER+=-host
INC_KO=${INC_MODULE:-$INC_KO}
export PATH="$INC_USER/tool:$INC_USER/perf:$PATH"
export LD_LIBRARY_PATH="$INC_USER/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

# A slow kernel (checkers, emulation) gets more time for everything.
case $LAB_BACKEND in
uml-debug)	SLOW=20 ;;
uml-smp)	SLOW=4 ;;
vm*)		SLOW=15 ;;
*)		SLOW=1 ;;
esac

# Lists of values have commas, not spaces, in the table of tests.
while [[ ${1:-} == [A-Z]*=* ]]; do
	declare "$1"
	shift
done
SEED=${SEED:-$RANDOM}

# With SAN=1, all of ours runs under AddressSanitizer, but for the module.
INC_ASAN=$INC_BUILD/user-asan
if [ -n "${SAN:-}" ]; then
	PATH=$INC_ASAN/tool:$INC_ASAN/perf:$PATH
	LD_LIBRARY_PATH=$INC_ASAN/lib:$LD_LIBRARY_PATH
	export ASAN_OPTIONS=detect_leaks=1:exitcode=23:log_path=$LAB_OUT/asan
	export UBSAN_OPTIONS=print_stacktrace=1:log_path=$LAB_OUT/asan
	rm -f "$LAB_OUT"/asan.*
fi

# shellcheck source=selftests/lib/ktap.sh
. "$ROOT/selftests/lib/ktap.sh"
# shellcheck source=selftests/lib/topo.sh
. "$ROOT/selftests/lib/topo.sh"
# shellcheck source=selftests/lib/wait.sh
. "$ROOT/selftests/lib/wait.sh"
# shellcheck source=selftests/lib/job.sh
. "$ROOT/selftests/lib/job.sh"
# shellcheck source=selftests/lib/watch.sh
. "$ROOT/selftests/lib/watch.sh"

# Did this test load the module?
INC_LOADED=

inc_load()
{
	[ ! -d /sys/module/rdma_inc ] || return 0
	if [ -e "$INC_KO" ]; then
		insmod "$INC_KO"
	else
		modprobe rdma_inc
	fi && INC_LOADED=1
}

# rxe_load: if RXE names a rdma_rxe.ko, hosts have that instead of the kernel's.
rxe_load()
{
	[ -n "${RXE:-}" ] || return 0
	rmmod rdma_rxe && insmod "$ROOT/$RXE"
}

inc_unload()
{
	[ ! -d /sys/module/rdma_inc ] || rmmod rdma_inc
}

# switch_attr KEY: an attribute of the switch.
switch_attr()
{
	sw inc-tool -j switch show | jq -r --arg key "$1" '.[$key]'
}

# switch_has KEY VALUE
switch_has()
{
	[ "$(switch_attr "$1")" = "$2" ]
}

# No switch has a tree; without the module there are none.
no_tree()
{
	local name

	[ -d /sys/module/rdma_inc ] || return 0
	for name in "${SWITCHES[@]:-sw}"; do
		[ -e "/run/netns/$TOPO-$name" ] || continue
		[ "$(ip netns exec "$TOPO-$name" inc-tool -j tree show |
			tr -d ' \n')" = "[]" ] || return 1
	done
}

# says NAME RC TEXT CMD...: CMD, on the bridge host unless SAYS_BY is another
# way to run it, ends with RC and prints TEXT.
SAYS_BY=(sw)
# shellcheck disable=SC2319 # "$?" of a condition is what ktap wants
says()
{
	local name=$1 rc=$2 text=$3 out got

	shift 3
	out=$("${SAYS_BY[@]}" "$@" 2>&1)
	got=$?
	[ $got = "$rc" ] && [[ $out == *"$text"* ]]
	ktap $? "$name" "status $got: $(tr '\n' '|' <<<"$out")"
}

DEBUGFS=$LAB_OUT/debugfs

# Mount debugfs on $DEBUGFS; fails if the kernel has none.
debugfs_up()
{
	mkdir -p "$DEBUGFS" && mount -t debugfs none "$DEBUGFS" 2>/dev/null
}

debugfs_down()
{
	! mountpoint -q "$DEBUGFS" || umount "$DEBUGFS"
}

# debugfs_switch NETNS: the directory of its switch.
debugfs_switch()
{
	echo "$DEBUGFS/rdma_inc/net-$(ip netns exec "$1" stat -Lc %i /proc/self/ns/net)"
}

suite_up()
{
	:
}

suite_down()
{
	:
}

# End what jobs have left: a function that runs in the background, and is killed,
# leaves the program that it has started.
suite_orphans()
{
	stat -L -c '%i %n' "/run/netns/$TOPO"-* /proc/[0-9]*/ns/net 2>/dev/null |
		awk -F '[ /]' '$4 == "netns" { ours[$1] } $3 == "proc" && $1 in ours {
			print $4 }' | xargs -r kill -9 2>/dev/null
}

# Take down everything but the module.
suite_clear()
{
	# shellcheck disable=SC2046	# words
	kill -9 $(jobs -p) 2>/dev/null
	suite_orphans
	clock_down
	serve_down
	suite_down
	! declare -F levels_down >/dev/null || levels_down
	topo_down
	debugfs_down
}

# What a test put up and is still there.
suite_left()
{
	ip netns list | grep "^$TOPO"
	rdma link show 2>/dev/null | grep -o "\b${TOPO}[^ /]*"
}

# san_silent: no program of ours has left a sanitizer's report.
san_silent()
{
	local report

	report=$(cat "$LAB_OUT"/asan.* 2>/dev/null)
	ktap ${#report} "no report of a sanitizer" \
		"$(grep -E -m 3 "ERROR:|runtime error" <<<"$report")"
	[ -z "$report" ] || sed 's/^/# /' <<<"$report" | head -n 60
}

# suite_end: take down everything; the module unloads, whatever happened.
suite_end()
{
	local left

	trap - EXIT
	suite_clear
	if [ -n "$INC_LOADED" ]; then
		inc_unload
		ktap $? "the module unloads"
	fi
	[ -z "${SAN:-}" ] || san_silent
	left=$(suite_left | tr '\n' ' ')
	ktap ${#left} "nothing is left" "$left"
	ktap_part "end"
	ktap_plan
}

# suite_part NAME: run a part; fails if it has ended early. A test whose parts are
# no functions of their own overrides it.
suite_part()
{
	if declare -F "part_$1" >/dev/null; then
		"part_$1"
	else
		ktap 1 "there is a part $1"
	fi
}

# Where the last part ended: at a "return", or at the line of its "{" if its last
# command ended it.
SUITE_AT=

# suite_run NAME: run a part. If it ends with another status than 0, the rest of it
# has not run, and that is a failed case unless it has one already.
suite_run()
{
	local failed=$KTAP_FAILED rc

	SUITE_AT=
	# Only functions with this attribute take the trap, and hand it down.
	declare -ft suite_part
	! declare -F "part_$1" >/dev/null || declare -ft "part_$1"
	trap '[[ -n $SUITE_AT && ${FUNCNAME[0]} = suite_part ]] ||
		SUITE_AT="${BASH_SOURCE[0]##*/}:$LINENO"' RETURN
	suite_part "$1"
	rc=$?
	trap - RETURN
	[ $rc = 0 ] || [ "$KTAP_FAILED" != "$failed" ] ||
		ktap 1 "$1: runs to its end" "status $rc, $SUITE_AT"
}

# For EXIT: nobody has called suite_end.
suite_exit()
{
	ktap 1 "the test runs to its end" "status $1"
	suite_clear
	inc_unload
	exit 1
}

# What the test needs besides what all do: programs, and Python's modules by the names
# of Debian's packages.
SUITE_NEEDS=

# suite_lacks: print what this machine lacks for the suite, or nothing.
suite_lacks()
{
	local cmd

	[ "$(id -u)" = 0 ] || { echo "not root"; return; }
	for cmd in ip tc rdma unshare python3 jq inc-tool inc-perf $SUITE_NEEDS; do
		case $cmd in
		python3-*) python3 -c "import ${cmd#python3-}" 2>/dev/null ;;
		*)	command -v "$cmd" >/dev/null ;;
		esac || { echo "no $cmd"; return; }
	done
	[ -d /sys/module/rdma_inc ] || [ -e "$INC_KO" ] ||
		modinfo rdma_inc >/dev/null 2>&1 ||
		{ echo "no module rdma_inc"; return; }
	unshare -n sh -c 'ip link add v0 type veth &&
		rdma link add "probe$$" type rxe netdev v0 &&
		rdma link del "probe$$"' >/dev/null 2>&1 ||
		echo "a kernel without rxe in network namespaces"
}

# suite_nest PARTS: under kselftest's runner, which sets kselftest_timeout, print
# what it expects, or end if the machine lacks something (ksft_skip is 4).
suite_nest()
{
	local lacks

	[ -n "${kselftest_timeout:-}" ] || return 0
	lacks=$(suite_lacks)
	if [ -n "$lacks" ]; then
		printf '%s\n' "KTAP version 1" "1..0 # SKIP $lacks"
		exit 4
	fi
	ktap_nest "$1"
}

# suite DEFAULT [PART...]
suite()
{
	local part parts

	read -ra parts <<<"${1//$'\n'/ }"
	shift
	[ $# = 0 ] || parts=("$@")
	# and its end
	suite_nest $((${#parts[@]} + 1))
	echo "# seed $SEED, kernel $(uname -r), $LAB_BACKEND"
	trap 'suite_exit $?' EXIT
	rxe_load && inc_load && suite_up || {
		ktap 1 "what the test needs is there"
		suite_end
		return 1
	}
	for part in "${parts[@]}"; do
		suite_run "$part"
		wait_for 5 no_tree
		ktap $? "$part: no tree is left"
		ktap_part "$part"
	done
	suite_end
}
