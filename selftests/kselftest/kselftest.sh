#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Some suites by the kernel's kselftest runner, as selftests/Makefile has them, and
# what the kernel's KTAP parser (kunit.py) says of their output.

# shellcheck disable=SC2319 # "$?" of a condition is what ktap wants
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=selftests/lib/ktap.sh
. selftests/lib/ktap.sh

export KSRC=${KSRC:-$LAB_KSRC} PYTHONDONTWRITEBYTECODE=1
TREE=$PWD
DIR=$LAB_OUT/kselftest
TESTS=$DIR/selftests/kselftest

# parsed NAME RC PASSED FAILED SKIPPED FILE: the parser counts so many cases in it,
# finds no error, and ends with RC (a pattern); "+" for a count is any from one.
parsed()
{
	local name=$1 rc=$2 got n i=3 bad=

	"$KSRC/tools/testing/kunit/kunit.py" parse <"$6" >"$6.parsed" 2>&1
	got=$?
	for n in passed failed skipped; do
		n=$(sed -n "s/.*Testing complete.* $n: \([0-9]*\).*/\1/p" "$6.parsed")
		[[ ${n:-0} = "${!i}" || ${!i} = + && -n $n ]] || bad=1
		i=$((i + 1))
	done
	# shellcheck disable=SC2053 # a pattern
	[[ $got = $rc ]] && [ -z "$bad" ] && ! grep -q '\[ERROR\]' "$6.parsed"
	ktap $? "$name" "status $got: $(grep -E 'ERROR|complete' "$6.parsed" |
		tr '\n' '|')"
}

# kselftest FILE TEST...: run them, and keep what they print. Returns the status.
kselftest()
{
	make -s -C selftests run_tests INSTALL_PATH="$DIR" TESTS="${*:2}" \
		>"$1" 2>"$1.err"
}

# nested FILE TEST: what TEST itself has printed, of the runner's output.
nested()
{
	sed -n "/^# selftests: .*: $2\$/,/^[on]/s/^# //p" "$1" | tail -n +2
}

# plan_first FILE: it begins with a version line and its plan.
plan_first()
{
	[[ $(head -n 2 "$1" | tr '\n' ' ') =~ ^K?TAP\ version\ [0-9]+\ 1\.\.[0-9] ]]
	ktap $? "${1##*/} begins with version and plan" "$(head -n 2 "$1")"
}

rm -rf "$DIR"
export KSELFTEST_NETLINK_SH_ARGS="errors dump"
export KSELFTEST_ALLREDUCE_SH_ARGS="RANKS=2 COUNTS=1,4097 ranks"
kselftest "$LAB_OUT/good" netlink.sh allreduce.sh
ktap $? "two suites pass" "$(tail -n 3 "$LAB_OUT/good.err" | tr '\n' ' ')"
plan_first "$LAB_OUT/good"
parsed "the runner's output has two cases" 0 2 0 0 "$LAB_OUT/good"
for t in netlink allreduce; do
	nested "$LAB_OUT/good" $t.sh >"$LAB_OUT/$t"
	plan_first "$LAB_OUT/$t"
	parsed "$t.sh's output has many" 0 + 0 0 "$LAB_OUT/$t"
done
[ -x "$TESTS/netlink.sh" ] && [ -s "$TESTS/settings" ] && [ -s "$TESTS/config" ]
ktap $? "scripts, settings and config are installed"

KSELFTEST_NETLINK_SH_ARGS="nowhere" kselftest "$LAB_OUT/bad" netlink.sh
ktap $((! $?)) "a suite fails"
nested "$LAB_OUT/bad" netlink.sh >"$LAB_OUT/wrong"
parsed "its output has the case that failed" 1 + 1 0 "$LAB_OUT/wrong"

(cd "$TESTS" && kselftest_timeout=9 setpriv --reuid 65534 ./netlink.sh) \
	>"$LAB_OUT/lacking" 2>/dev/null
rc=$?
[ $rc = 4 ] && grep -q '^1\.\.0 # SKIP not root' "$LAB_OUT/lacking"
ktap $? "without root's rights it skips" "status $rc: $(cat "$LAB_OUT/lacking")"
mkdir -p "$LAB_OUT/hide"
echo "raise ImportError" >"$LAB_OUT/hide/yaml.py"
(cd "$TESTS" && INC_BUILD=$TREE/build kselftest_timeout=9 \
	PYTHONPATH=$LAB_OUT/hide ./netlink.sh) >"$LAB_OUT/lacking" 2>/dev/null
rc=$?
[ $rc = 4 ] && grep -q '^1\.\.0 # SKIP no python3-yaml' "$LAB_OUT/lacking"
ktap $? "without a module of Python, too" "status $rc: $(cat "$LAB_OUT/lacking")"
INC_MODULE=/none kselftest "$LAB_OUT/skip" netlink.sh
ktap $? "without the module, too"
parsed "the runner says that" "[01]" 0 0 1 "$LAB_OUT/skip"
ktap_plan
