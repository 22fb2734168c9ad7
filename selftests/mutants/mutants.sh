#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Do the tests notice an error of the module? Each NAME.patch here makes one: its
# head says what it breaks, which tests may notice, the most likely one first, and
# the sign of it in their log (a regular expression): some other failure may be due
# to a busy machine. They run on a copy of the tree with that patch until the sign is
# there. If it never is, the mutant survives: a case is missing. One in five may be
# left to tests that are not in "make check".
#
#   mutants.sh [-l] [NAME...]
#
#   NAME   only these
#   -l     list them
#
# In build/mutants: NAME.TEST.log.

set -u
cd "$(dirname "$0")/../.." || exit 1
HERE=selftests/mutants
OUT=$PWD/build/mutants
TREE=$OUT/tree
LAB=$TREE/selftests/lab/lab
PID=
export LAB_WITH=
# shellcheck source=selftests/lib/ktap.sh
. selftests/lib/ktap.sh

# breaks NAME: what it breaks.
breaks()
{
	head -n 1 "$HERE/$1.patch"
}

# head_line NAME WORD: what follows the WORD in the head.
head_line()
{
	sed -n "s/^$2: //p" "$HERE/$1.patch"
}

list()
{
	local name

	for name in "$@"; do
		printf '%-16s%s\n' "$name" "$(breaks "$name")"
	done
}

# A copy of the tree, with user space if it has been built.
copy_tree()
{
	rm -rf "$OUT" && mkdir -p "$TREE/build" &&
		git ls-files -co --exclude-standard | while read -r f; do
			[ ! -f "$f" ] || printf '%s\0' "$f"
		done | tar --null -T - -cf - | tar -xf - -C "$TREE" &&
		{ [ ! -d build/user ] || cp -a build/user "$TREE/build/"; } &&
		make -s -C "$TREE" lab-user >"$OUT/make.log" 2>&1
}

# patch_tree NAME [OPTION...]: for git apply.
patch_tree()
{
	git apply --directory="${TREE#"$PWD"/}" "${@:2}" "$HERE/$1.patch" \
		2>"$OUT/$1.apply"
}

# build WHERE TEST: the module for it.
build()
{
	case $2 in
	kunit)	$LAB modules uml "$TREE/build/mod-kunit" INC_KUNIT=1 ;;
	s-pktgen) $LAB modules uml-smp "$TREE/build/uml-smp" &&
		$LAB modules pktgen-smp "$TREE/build/mod-smp/pktgen" ;;
	*)	$LAB modules "${1%-tt}" "$TREE/build/${1%-tt}" ;;
	esac
}

# run_test WHERE LIMIT LOG SIGN CMD...: until its log shows the sign, or to its end.
run_test()
{
	local log=$3 sign=$4

	(cd "$TREE" && exec "$LAB" run --backend "$1" --timeout "$2" \
		--name mutant -- "${@:5}") >"$log" 2>&1 </dev/null &
	PID=$!
	while kill -0 $PID 2>/dev/null && ! grep -qE "$sign" "$log"; do
		sleep 0.5
	done
	kill $PID 2>/dev/null
	wait $PID
	PID=
	grep -qE "$sign" "$log"
}

# judge NAME: report whether one of its tests fails with it.
judge()
{
	local name=$1 tests sign test set where limit _ cmd log since=$SECONDS

	tests=$(head_line "$name" Tests)
	sign=$(head_line "$name" Sign)
	for test in $tests; do
		read -r set where limit _ cmd < <(sed -nE "s/^$test\t+//p" \
			selftests/tests)
		where=${where%[=!]}
		log=$OUT/$name.$test.log
		if ! build "$where" "$test" >"$log" 2>&1; then
			ktap 1 "$name: builds" "see $log"
			return
		fi
		# shellcheck disable=SC2086	# words
		run_test "$where" "$limit" "$log" "$sign" $cmd || continue
		[ "$set" != check ] || IN_CHECK=$((IN_CHECK + 1))
		ktap 0 "$name: caught by $test ($set, $((SECONDS - since)) s): $(grep -m 1 -E "$sign" "$log" |
			sed 's/^ *//; s/^not ok [0-9]* - //; s/ # .*//')"
		return
	done
	ktap 1 "$name: survives $tests" "$(breaks "$name")"
}

stop()
{
	[ -z "$PID" ] || kill "$PID"
	exit 130
}

main()
{
	local all name only=$#

	mapfile -t all < <(cd "$HERE" && printf '%s\n' *.patch |
		sed 's/\.patch$//')
	for name in "$@"; do
		[ -e "$HERE/$name.patch" ] && continue
		echo "mutants: there is no \"$name\", only ${all[*]}" >&2
		return 2
	done
	[ $# -gt 0 ] || set -- "${all[@]}"
	[ -z "$LIST" ] || { list "$@"; return; }

	trap stop INT TERM HUP
	mkdir -p build && exec {LOCK}>build/.mutants-lock && flock -n "$LOCK" || {
		echo "mutants: others run in this tree (fuser build/.mutants-lock)" >&2
		return 1
	}
	copy_tree || { ktap 1 "a copy of the tree" "see $OUT/make.log"; return 1; }
	IN_CHECK=0
	for name in "$@"; do
		if ! patch_tree "$name"; then
			ktap 1 "$name: applies: adapt $HERE/$name.patch" \
				"$(head -n 1 "$OUT/$name.apply")"
			continue
		fi
		judge "$name"
		patch_tree "$name" -R || return
	done
	[ "$only" != 0 ] || ktap $((IN_CHECK * 5 < $# * 4)) \
		"$IN_CHECK of $# are caught by make check"
	ktap_plan
}

LIST=
case ${1:-} in
-l)	LIST=1; shift ;;
-h | --help)
	sed -n '4,17s/^# \{0,1\}//p' "$0"; exit ;;
-*)	sed -n '4,17s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
main "$@"
