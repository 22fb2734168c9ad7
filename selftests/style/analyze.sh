#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What finds errors without running: gcc's analyzer on user space, the kernel's
# scripts for coccinelle on the module. analyze-known has what they take for an
# error and is none.
#
#   analyze.sh                 all
#   analyze.sh --only PATTERN  only cases whose name has PATTERN (a glob) in it

set -u
cd "$(dirname "$0")/../.." || exit 1
LAB=selftests/lab/lab
OUT=$PWD/build/check/analyze
KNOWN=selftests/style/analyze-known
ONLY='*'
case ${1:-} in
--only)	ONLY="*${2:?a pattern}*" ;;
?*)	sed -n '4,9s/^# \{0,2\}//p' selftests/style/analyze.sh; exit 2 ;;
esac
export LAB_WITH=analyze
rm -rf "$OUT"
# shellcheck source=selftests/style/check.sh
. selftests/style/check.sh

# unknown TOOL: of lines "FILE:LINE:... [CHECKER]" those that $KNOWN lacks, and
# its entries that are not needed any more.
unknown()
{
	sort -u | awk -v tool="$1" -v known="$KNOWN" '
	BEGIN {
		while ((getline line < known) > 0) {
			split(line, w, /:? /)
			if (w[1] == tool)
				seen[w[2] " " w[3]] = 0
		}
	}
	{
		checker = $NF
		gsub(/^\[(-Wanalyzer-)?|\]$/, "", checker)
		key = substr($1, 1, index($1, ":") - 1) " " checker
		if (key in seen)
			seen[key] = 1
		else
			print
	}
	END {
		for (key in seen)
			if (!seen[key])
				print known ": not needed: " tool " " key
	}'
}

user_space()
{
	# shellcheck disable=SC2016 # expanded inside
	$LAB exec -- bash -c '
		part()
		{
			make -s -j"$(nproc)" -C userspace"$@" \
				CFLAGS="-O2 -g -fanalyzer -fdiagnostics-plain-output"
		}
		part "" O="$1/user" \
			PARTS="lib rendezvous tool perf examples plugins/nccl" all &&
			part /manager O="$1/manager" R="$1/rendezvous" all &&
			part /agent O="$1/agent" &&
			part /plugins/ompi O="$1/ompi" LIB="$1/user/lib" all' \
		bash "$OUT" >"$OUT/user.log" 2>&1 || {
		grep -E 'error|\*\*\*' "$OUT/user.log"
		return 1
	}
}

# The product's, not those of its tests.
gcc_analyzer()
{
	user_space || return
	sed -n "s|^$PWD/\(userspace/.*: warning: .*\)|\1|p" "$OUT/user.log" |
		unknown gcc
}

# What only makes patches, or is for one driver in OCaml, does not report.
reports()
{
	grep -rl --include='*.cocci' '^virtual report' \
		"$KSRC/scripts/coccinelle" |
		xargs grep -L '@ *script:ocaml\|@initialize:ocaml'
}

cocci()
{
	# shellcheck disable=SC2016 # expanded inside
	reports | $LAB exec -- xargs -P "$(nproc)" -I{} bash -c '
		spatch -D report --no-show-diff --very-quiet --dir kernel \
			--cocci-file {} -I kernel -I kernel/include \
			$(sed -n "s|^// *Options: ||p" {}) 2>&1 |
			sed "s|\$| [$(basename {} .cocci)]|"' >"$OUT/cocci.log" ||
		echo "spatch failed"
	grep -v ': should .* be a metavariable?' "$OUT/cocci.log" |
		unknown cocci
}

check "gcc -fanalyzer" gcc_analyzer
check "coccicheck" cocci
check "shellcheck with its analysis of the flow of data" shell_check
check_end
