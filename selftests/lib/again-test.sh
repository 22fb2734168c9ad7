#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Does the runner try again what may be tried again, and nothing else? Prints what
# is wrong.

# shellcheck source=selftests/lib/again.sh
. "$(dirname "$0")/again.sh"
DIR=$(mktemp -d)
trap 'rm -rf "$DIR"' EXIT
WRONG=0

# try yes|no STATUS WHERE LINE: is a test that ended so tried again?
try()
{
	local is=no

	# A log may have bytes that are no text.
	printf '\0\nok 1 - a wrong result is told\n%s\n' "$4" >"$DIR/log"
	! may_try_again "$DIR/log" "$2" "$3" || is=yes
	[ $is = "$1" ] && return
	echo "tried again: $is, status $2, $3, $4"
	WRONG=1
}

# same WHAT IS MUST
same()
{
	[ "$2" = "$3" ] && return
	echo "$1: $2, must be $3"
	WRONG=1
}

try yes 1 uml 'not ok 2 - told within 1 s # 1.2 s'
try yes 124 uml 'run: time limit of 200 s reached'
try no 99 uml-debug 'not ok 2 - a'
try no 98 uml 'run: the kernel ended before the script'
try no 1 exec= 'not ok 2 - a # seed 4'
try no 134 exec 'not ok 2 - a'
try no 1 exec 'x: x.c:12: f: Assertion `a'"'"' failed.'
try no 1 exec 'BUG: KASAN: use-after-free in f'
try no 1 uml '==12==ERROR: AddressSanitizer: heap-use-after-free'
try no 1 uml '==12==ERROR: UndefinedBehaviorSanitizer: SEGV on unknown address'
try no 1 uml 'x.c:3:4: runtime error: shift exponent 32'
try no 1 uml 'inc-perf: wrong result: allreduce fp32 sum: element 7 is 1, must be 2'
try no 1 uml+mpi 'not ok 2 - allreduce # wrong elements'
try no 139 here 'x.sh: line 3: 77 Segmentation fault'

for i in $(seq 23); do
	printf 'a ok %d 9%d\nb %s 7 5\n' "$i" "$i" "$([ $((i % 4)) = 0 ] && echo flaky || echo ok)" \
		>"$DIR/run"
	history_keep "$DIR/history" "$DIR/run"
	mv "$DIR/history/"*."$$.run" "$DIR/history/$(printf '%010d' "$i").run"
done
history_keep "$DIR/history" "$DIR/run"
same "runs kept" "$(history_files "$DIR/history" | wc -l)" $HISTORY_KEPT
same "the last time" "$(history_seconds "$DIR/history" | sort | xargs)" "a 23 b 7"
same "cases" "$(history_cases "$DIR/history" a)" 923
same "cases of what is new" "$(history_cases "$DIR/history" c)" ""
same "flaky" "$(history_flaky "$DIR/history" b)" 4
same "not flaky" "$(history_flaky "$DIR/history" a)" 0
# Runs of one test alone push out none of another.
echo 'a ok 1 1' >"$DIR/run"
rm "$DIR/history/"*."$$.run"
for i in $(seq 30 60); do
	history_keep "$DIR/history" "$DIR/run"
	mv "$DIR/history/"*."$$.run" "$DIR/history/$(printf '%010d' "$i").run"
done
history_keep "$DIR/history" "$DIR/run"
same "runs of each are kept" "$(history_files "$DIR/history" | wc -l)" \
	$((2 * HISTORY_KEPT - 1))
same "still flaky" "$(history_flaky "$DIR/history" b)" 4
same "no history" "$(history_seconds "$DIR/none")$(history_flaky "$DIR/none" a)" 0
exit $WRONG
