# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced by the runner: which failed tests may be tried once more, and what the
# last runs on this machine were like.

# The files of the last runs, one each: NAME RESULT SECONDS CASES, oldest first.
HISTORY_KEPT=20

# Signs of an error in the product that another try must not hide.
AGAIN_NEVER='AddressSanitizer|LeakSanitizer|ThreadSanitizer|runtime error:|[Ss]egmentation fault|core dumped|SIGSEGV|SIGABRT|wrong (result|element|order)|data wrong|# wrong|^wrong|unreferenced object|bytes? leaked'

# may_try_again LOG STATUS WHERE: may the test that ended with STATUS be tried
# once more? Not after a report of the kernel (99) or its end (98), and not one
# that depends on its seed alone (WHERE ends in "=").
may_try_again()
{
	[[ $2 != 98 && $2 != 99 && $3 != *= ]] &&
		! grep -vE '^ *ok ' "$1" | grep -qE "$AGAIN_NEVER"
}

# history_files DIR: the last runs, oldest first.
history_files()
{
	find "$1" -maxdepth 1 -name '*.run' 2>/dev/null | sort |
		tail -n $HISTORY_KEPT
}

# history_seconds DIR: NAME SECONDS of each test, as of its last run.
history_seconds()
{
	local files

	mapfile -t files < <(history_files "$1")
	[ ${#files[@]} = 0 ] || awk '$2 == "ok" || $2 == "flaky" { s[$1] = $3 }
		END { for (n in s) print n, s[n] }' "${files[@]}"
}

# history_cases DIR NAME: how many cases NAME had when it last passed, or nothing.
history_cases()
{
	local files

	mapfile -t files < <(history_files "$1")
	[ ${#files[@]} = 0 ] || awk -v n="$2" \
		'$1 == n && $2 == "ok" { c = $4 } END { print c }' "${files[@]}"
}

# history_flaky DIR NAME: in how many of the last runs was NAME flaky?
history_flaky()
{
	local files

	mapfile -t files < <(history_files "$1")
	[ ${#files[@]} != 0 ] || { echo 0; return; }
	awk -v n="$2" '$1 == n && $2 == "flaky" { c++ } END { print c + 0 }' \
		"${files[@]}"
}

# history_keep DIR FILE: add a run, and forget those that are too old.
history_keep()
{
	mkdir -p "$1" && cp "$2" "$1/$(date +%s).$$.run" || return
	find "$1" -maxdepth 1 -name '*.run' | sort |
		head -n -$HISTORY_KEPT | xargs -r rm -f
}
