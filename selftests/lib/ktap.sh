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

# ktap_take: take over the cases on standard input as ours.
ktap_take()
{
	local line name

	while IFS= read -r line; do
		name=${line#* - }
		case $line in
		"ok "*" # SKIP "*)
			ktap_skip "${name% # SKIP *}" "${name#* # SKIP }"
			;;
		"ok "*)		   ktap 0 "$name" ;;
		"not ok "*)	   ktap 1 "${name%% # *}" "${name#* # }" ;;
		"1.."* | "KTAP "*) ;;
		*)		   echo "$line" ;;
		esac
	done
}

# ktap_plan: print the number of cases; fail if one failed or there was none.
ktap_plan()
{
	echo "1..$KTAP_N"
	[ "$KTAP_FAILED" = 0 ] && [ "$KTAP_N" -gt 0 ]
}
