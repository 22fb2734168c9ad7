# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# KTAP output.

KTAP_N=0
KTAP_FAILED=0

# ktap STATUS NAME [DIAGNOSIS]: report a test case; STATUS is 0 for success.
ktap()
{
	KTAP_N=$((KTAP_N + 1))
	if [ "$1" = 0 ]; then
		echo "ok $KTAP_N - $2"
	else
		KTAP_FAILED=$((KTAP_FAILED + 1))
		echo "not ok $KTAP_N - $2${3:+ # $3}"
	fi
}

ktap_skip()
{
	KTAP_N=$((KTAP_N + 1))
	echo "ok $KTAP_N - $1 # SKIP $2"
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
	echo "1..$KTAP_N"
	[ "$KTAP_FAILED" = 0 ] && [ "$KTAP_N" -gt 0 ]
}
