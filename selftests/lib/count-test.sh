#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Does the runner count what a log says? Prints what is wrong.

cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=selftests/lib/count.sh
. selftests/lib/count.sh
DIR=$(mktemp -d)
trap 'rm -rf "$DIR"' EXIT

# counts "PASSED FAILED SKIPPED[ NOTE]" STATUS LINE...
counts()
{
	local want=$1 status=$2 is

	shift 2
	printf '%b\n' "$@" >"$DIR/log"
	count_cases "$DIR/log" "$status"
	is="$OK $BAD $SKIP${NOTE:+ ${NOTE#, }}"
	[ "$is" = "$want" ] || echo "$status, $*: \"$is\", not \"$want\""
}

counts "2 0 0" 0 "ok 1 - a" "ok 2 - b" "1..2"
counts "2 1 0" 0 "ok 1" "not ok 2 - b" "ok 3" "1..3"
counts "2 1 0" 1 "ok 1" "not ok 2 - b" "ok 3"
counts "2 0 0" 0 "ok 1" "ok 2"
counts "2 0 0" 0 "1..1" "ok 1" "1..1" "ok 1"
counts "3 0 0" 0 "1..2" "ok 1" "ok 2" "ok 3 - that the runner adds"
counts "2 1 0 has 2 of 5 cases" 0 "1..5" "ok 1" "ok 2"
counts "1 1 0 has 1 of 2 cases" 0 "1..1" "ok 1" "1..1"
counts "1 1 0 bails out" 0 "1..1" "ok 1" "Bail out! no room"
counts "0 1 0 has no cases" 0 "nothing"
counts "0 1 0 has no cases" 0 "1..0"
counts "0 1 0 has no cases" 4 "nothing"
counts "0 1 0 ended with status 1" 1 "nothing"
counts "1 1 0 ended with status 1" 1 "ok 1" "1..1"
counts "1 1 0 ended with status 4" 4 "ok 1" "1..1"
counts "0 0 1" 0 "1..0 # SKIP no rxe"
counts "0 0 1" 4 "1..0 # skip no rxe"
counts "0 0 1" 4 "ok 1 - a # SKIP no rxe" "1..1"
counts "1 0 2" 0 "ok 1 # SKIP" "ok 2 - b # skip: why" "ok 3 - # skipped frames"
counts "1 0 1" 0 "ok 1" "not ok 2 - b # TODO not yet" "1..2"
counts "1 0 0" 0 "1..1" "ok 1 - outer" "    not ok 1 - inner" "    1..7"
counts "1 1 0 a sanitizer reports an error" 0 "ok 1" \
	"==7==ERROR: AddressSanitizer: heap-use-after-free"
counts "1 1 0 a sanitizer reports an error" 0 "ok 1" \
	"a.c:3:5: runtime error: signed integer overflow"
counts "1 0 0" 0 "ok 1 - AddressSanitizer is there"
counts "1 1 0" 0 "ok 1" "not ok 2 - b # it said # TODO more" "1..2"
counts "1 0 1" 0 "ok 1" "ok 2 - b # SKIP\r" "1..2"
counts "1 1 0 has 1 of 999999 cases" 0 "ok 1" "1..3000000000000"
counts "1 0 0" 0 "ok 1" "\0\0377\0200 junk"
count_cases "$DIR/none" 0 2>/dev/null
[ "$OK $BAD $SKIP$NOTE" = "0 1 0, has no log" ] || echo "no log: $OK $BAD $SKIP$NOTE"
[ "$(printf '\e[2Ja\tb\n' | printable)" = $'[2Ja\tb' ] ||
	echo "a terminal is shown an escape sequence"
