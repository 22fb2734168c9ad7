# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# KTAP output.

KTAP_N=0
KTAP_FAILED=0
# If set, the cases of a part are held back until it ends, and then follow their
# plan: the kernel's parser wants plans first.
KTAP_NESTED=
KTAP_HELD=()
KTAP_PARTS=0
KTAP_BEFORE=0

ktap_line()
{
	if [ -n "$KTAP_NESTED" ]; then
		KTAP_HELD+=("$1")
	else
		echo "$1"
	fi
}

# ktap STATUS NAME [DIAGNOSIS]: report a test case; STATUS is 0 for success. Fails
# if the case has failed.
ktap()
{
	KTAP_N=$((KTAP_N + 1))
	if [ "$1" = 0 ]; then
		ktap_line "ok $KTAP_N - $2"
	else
		KTAP_FAILED=$((KTAP_FAILED + 1))
		ktap_line "not ok $KTAP_N - $2${3:+ # $3}"
		return 1
	fi
}

ktap_skip()
{
	KTAP_N=$((KTAP_N + 1))
	ktap_line "ok $KTAP_N - $1 # SKIP $2"
}

# ktap_nest PARTS: begin output in which each part is a test, and its cases are
# those of a subtest.
ktap_nest()
{
	KTAP_NESTED=1
	echo "KTAP version 1"
	echo "1..$1"
}

# ktap_part NAME: a part ends.
ktap_part()
{
	local result=ok

	[ -n "$KTAP_NESTED" ] || return 0
	[ "$KTAP_FAILED" = "$KTAP_BEFORE" ] || result="not ok"
	KTAP_PARTS=$((KTAP_PARTS + 1))
	printf '    %s\n' "KTAP version 1" "# Subtest: $1" "1..$KTAP_N" \
		"${KTAP_HELD[@]}"
	echo "$result $KTAP_PARTS - $1"
	KTAP_BEFORE=$KTAP_FAILED
	KTAP_N=0
	KTAP_HELD=()
}

# ktap_take NAME [PID]: take over the cases on standard input as ours. One more
# is whether these are all that were planned, and process PID, which has printed
# them, ended well: a program that dies has cases that nobody has seen.
ktap_take()
{
	local line name plan=none before=$KTAP_N rc=0 taken

	while IFS= read -r line; do
		name=${line#* - }
		case $line in
		"ok "*" # SKIP "*)
			ktap_skip "${name% # SKIP *}" "${name#* # SKIP }"
			;;
		"ok "*)		   ktap 0 "$name" ;;
		"not ok "*)	   ktap 1 "${name%% # *}" "${name#* # }" ;;
		"1.."*)		   plan=${line#1..} plan=${plan%% *} ;;
		"KTAP "*)	   ;;
		*)		   echo "$line" ;;
		esac
	done
	taken=$((KTAP_N - before))
	[ $# = 1 ] || wait "$2" || rc=$?
	[ "$plan" = "$taken" ] && [ $rc = 0 ]
	ktap $? "$1: all that it planned" \
		"plan: $plan, cases: $taken, status $rc"
}

# ktap_run NAME CMD...: take over the cases that a program prints.
ktap_run()
{
	local fd

	exec {fd}< <("${@:2}" 2>&1)
	ktap_take "$1" $! <&"$fd"
	exec {fd}<&-
}

# ktap_plan: print the number of cases; fail if one failed or there was none.
ktap_plan()
{
	[ -n "$KTAP_NESTED" ] || echo "1..$KTAP_N"
	[ "$KTAP_FAILED" = 0 ] && [ $((KTAP_N + KTAP_PARTS)) -gt 0 ]
}
