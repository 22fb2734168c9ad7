# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced by the runner: which failed tests may be tried once more, and what the
# last runs on this machine were like.

# How many runs of each test are known. A file for each run of the runner: NAME
# RESULT SECONDS CASES.
HISTORY_KEPT=20

# Signs of an error in the product that another try must not hide.
AGAIN_NEVER='(Address|Leak|Thread|UndefinedBehavior)Sanitizer|runtime error:|[Ss]egmentation fault|core dumped|SIGSEGV|SIGABRT|Aborted|Bus error|Assertion .* failed|double free|stack smashing|BUG: |WARNING: CPU|wrong (result|element|order)|data wrong|# wrong|^wrong|unreferenced object|bytes? leaked|leaves nothing behind'

# may_try_again LOG STATUS WHERE: may the test that ended with STATUS be tried
# once more? Not after a report of the kernel (99) or its end (98), or a signal
# that tells of an error, and not one that depends on its seed alone (WHERE ends in
# "=").
may_try_again()
{
	[[ ! $2 =~ ^(98|99|132|134|135|136|139)$ && $3 != *= ]] &&
		! grep -avE '^ *ok ' "$1" | grep -aqE "$AGAIN_NEVER"
}

# history_files DIR: the last runs, oldest first.
history_files()
{
	find "$1" -maxdepth 1 -name '*.run' 2>/dev/null | sort
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
	awk -v n="$2" -v most=$HISTORY_KEPT '$1 == n { r[c++] = $2 }
		END { for (i = c > most ? c - most : 0; i < c; i++)
			flaky += r[i] == "flaky"
		      print flaky + 0 }' "${files[@]}"
}

# history_keep DIR FILE: add a run, and forget those of which each test has run often
# enough since.
history_keep()
{
	local files

	[ -s "$2" ] || return 0
	mkdir -p "$1" && cp "$2" "$1/$(date +%s).$$.run" || return
	mapfile -t files < <(history_files "$1" | sort -r)
	awk -v most=$HISTORY_KEPT 'FNR == 1 { all[FILENAME] }
		seen[$1]++ < most { needed[FILENAME] }
		END { for (f in all) if (!(f in needed)) print f }' \
		"${files[@]}" | xargs -r rm -f
}
