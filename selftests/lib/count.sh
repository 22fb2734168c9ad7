# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced by the runner: what a test's log says of its cases.
# shellcheck disable=SC2034 # the runner's variables

# What no test passes with, whatever it says of its cases.
SANITIZERS='(ERROR|WARNING|SUMMARY): (Address|Leak|Thread|UndefinedBehavior)Sanitizer|runtime error:'

# count_cases LOG STATUS: set OK, BAD and SKIP to the cases of a test that has ended.
# It has failed without a failed case, too, if it ends otherwise than well, has none
# or fewer than it planned, or a program's sanitizer reports an error: NOTE says so.
# A "# TODO" or "# SKIP" counts at the first "#": what comes later is somebody's text.
# One that is skipped as a whole says "1..0 # SKIP", or ends with status 4.
count_cases()
{
	local log=$1 rc=$2 plan bail

	read -r OK BAD SKIP plan bail < <(LC_ALL=C awk '
	/^ok / { if (tolower($0) ~ /^[^#]* # *skip([ :\r]|$)/) skip++; else ok++ }
	/^not ok / { if ($0 ~ /^[^#]* # *TODO([ :\r]|$)/) skip++; else bad++ }
	/^1\.\.0 *# *[Ss][Kk][Ii][Pp]/ { skip++; plan++; next }
	/^1\.\.[0-9]+/ { plan += substr($0, 4) }
	/^Bail out!/ { bail = 1 }
	# of more than anybody has, print would make 1e+09
	END { if (plan > 999999) plan = 999999
		print ok + 0, bad + 0, skip + 0, plan + 0, bail + 0 }' "$log")
	NOTE=
	if [ -z "$OK" ]; then
		OK=0 BAD=1 SKIP=0 NOTE=", has no log"
		return
	fi
	[ "$BAD" = 0 ] || return 0
	if [ "$bail" = 1 ]; then
		NOTE=", bails out"
	elif [ "$rc" != 0 ] && [ "$rc:$OK" != 4:0 ]; then
		NOTE=", ended with status $rc"
	elif [ $((OK + SKIP)) = 0 ]; then
		NOTE=", has no cases"
	elif [ $((OK + SKIP)) -lt "$plan" ]; then
		NOTE=", has $((OK + SKIP)) of $plan cases"
	elif grep -avE '^ok ' "$log" | grep -aqE "$SANITIZERS"; then
		NOTE=", a sanitizer reports an error"
	fi
	[ -z "$NOTE" ] || BAD=1
}

# printable: of a log, what a terminal may be shown.
printable()
{
	LC_ALL=C tr -d '\000-\010\013-\037\177'
}
