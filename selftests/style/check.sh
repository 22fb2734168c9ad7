# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced by style.sh and analyze.sh, which have set LAB, OUT and ONLY: their
# cases, where the kernel's source is, and what they both look at.

N=0
FAILED=0
mkdir -p "$OUT"
# shellcheck disable=SC2034 # for those who source this
KSRC=$($LAB env | sed -n 's/^LAB_KSRC=//p')
CACHE=$($LAB env | sed -n 's/^LAB_CACHE=//p')

# sources [PATTERN...]: the files of the tree
# shellcheck disable=SC2120 # style.sh gives patterns
sources()
{
	git ls-files -co --exclude-standard "$@" | while read -r f; do
		[ -f "$f" ] && echo "$f"
	done
}

scripts()
{
	sources | xargs -d '\n' awk '
	FNR == 1 && (FILENAME ~ /\.sh$/ || /^#!.*(bash|\/sh)/) { print FILENAME }
	{ nextfile }'
}

# changed: of the files on standard input, those that "--changed" is for: they differ
# from those of the branch's upstream, or without one from the last commit's.
changed()
{
	local base

	[ "${PART:-}" = changed ] || { cat; return; }
	base=$(git merge-base HEAD '@{upstream}' 2>/dev/null || echo HEAD)
	grep -xFf <(git diff --name-only "$base"
		git ls-files -o --exclude-standard) || :
	# Without any such file grep reads nothing, which ends the one that writes.
	cat >/dev/null
}

# passed [--mark] TOOL: see passed.py
passed()
{
	local mark=

	[ "$1" != --mark ] || { mark=$1; shift; }
	$LAB exec -- selftests/style/passed.py ${mark:+"$mark"} "$CACHE" "$1"
}

# on_new TOOL CMD...: run CMD on those of the files on standard input that it has not
# passed as they are. It passes if it succeeds and prints nothing. TOOL says what else
# its verdict depends on.
on_new()
{
	local tool=$1 files out rc

	shift
	out=$(passed "$tool $*") || return
	[ -n "$out" ] || return 0
	mapfile -t files <<<"$out"
	out=$("$@" "${files[@]}" 2>&1)
	rc=$?
	[ -z "$out" ] || echo "$out"
	[ $rc != 0 ] || [ -n "$out" ] ||
		printf '%s\n' "${files[@]}" | passed --mark "$tool $*"
	return $rc
}

# shell_check OPTION...
shell_check()
{
	scripts | changed | on_new "$($LAB exec -- shellcheck --version)" \
		$LAB exec -- shellcheck "$@" -x -P SCRIPTDIR -S warning
}

# check NAME CMD...: a case passes if CMD succeeds and prints nothing.
check()
{
	local name=$1 rc

	shift
	# shellcheck disable=SC2053 # a pattern
	[[ $name == $ONLY ]] || return 0
	"$@" >"$OUT/log" 2>&1
	rc=$?
	N=$((N + 1))
	if [ $rc = 0 ] && [ ! -s "$OUT/log" ]; then
		echo "ok $N - $name"
		return
	fi
	FAILED=1
	echo "not ok $N - $name"
	sed 's/^/# /' "$OUT/log" | head -n 60
}

# check_end: print the number of cases and exit; with 1 if one has failed.
check_end()
{
	echo "1..$N"
	exit $FAILED
}
