#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A reviewer's checks: builds without a warning (W=1, sparse) against every
# kernel that is there, checkpatch --strict, kernel-doc, spelling, generated
# files up to date, layers, shellcheck, SPDX lines, completion of the shell, options
# in manual pages.
#
#   style.sh                 with the kernel of the lab
#   style.sh --changed       what a change needs: those that look at each file, as
#                            checkpatch does, look at those that upstream has not
#   style.sh --rest          what that leaves out
#   style.sh --builds KIND...  only builds, for these kernels (6.12, 7.2)
#   style.sh --only PATTERN  only cases whose name has PATTERN (a glob) in it

set -u
cd "$(dirname "$0")/../.." || exit 1
LAB=selftests/lab/lab
BUILDS=
ONLY='*'
PART=
case ${1:-} in
--changed | --rest) PART=${1#--}; shift ;;
--only)	ONLY="*${2:?a pattern}*"; shift 2 ;;
--builds) BUILDS=1; shift ;;
-*)	sed -n '4,14s/^# \{0,2\}//p' selftests/style/style.sh; exit 2 ;;
esac
KINDS=${*:-uml}
OUT=$PWD/build/check/style${PART:+-$PART}
# shellcheck source=selftests/style/check.sh
. selftests/style/check.sh

# check_tree NAME CMD...: of the whole tree, and quick.
check_tree()
{
	[ "$PART" = rest ] || check "$@"
}

# check_rest NAME CMD...: slow, or of files that are seldom changed.
check_rest()
{
	[ "$PART" = changed ] || check "$@"
}

kernel_files()
{
	sources 'kernel/*.c' 'kernel/*.h' 'selftests/bench/account/*.c' \
		'selftests/bench/pktgen/*.[ch]' |
		grep -vE '\-gen\.[ch]$|uapi/linux/rdma_inc\.h'
}

# The common form of trace events, which checkpatch does not know.
TRACE_HABITS="trace\.h:[0-9]+: CHECK: (Lines should not end with|Alignment should match)"

# run_checkpatch FILE...
run_checkpatch()
{
	local out rc left

	out=$($LAB exec -- "$KSRC/scripts/checkpatch.pl" --no-tree --strict \
		--terse --no-summary -f "$@" 2>&1)
	rc=$?
	rm -f .checkpatch-camelcase.*
	left=$(grep -vE "^\$|$TRACE_HABITS" <<<"$out")
	[ -z "$left" ] || echo "$left"
	# The exit status counts the filtered lines, too.
	[ $rc = 0 ] || [ -n "$out" ]
}

checkpatch()
{
	local scripts=$KSRC/scripts

	kernel_files | changed |
		on_new "$(cd "$scripts" && sha256sum checkpatch.pl spelling.txt \
			const_structs.checkpatch) $TRACE_HABITS" run_checkpatch
}

kernel_doc()
{
	{ kernel_files; sources 'userspace/*.[ch]' | grep -v -- '-gen\.'; } |
		changed | xargs -r $LAB exec -- "$KSRC/tools/docs/kernel-doc" \
		-none -Wall
}

# Words of the code that codespell takes for others misspelt: "te" is a header of
# HTTP, "nam" an unknown name in a test, "ECT" a codepoint.
WORDS=ans,ect,iif,inout,nam,nd,nknown,te

spelling()
{
	sources | changed | xargs -r $LAB exec -- codespell -L "$WORDS"
}

# Every warning of a build is a failure; skip the compiler's own lines.
build()
{
	local kind=$1

	shift
	$LAB modules "$kind" "$OUT/$kind" "$@" 2>&1 |
		grep -E 'warning|error|WARNING|ERROR'
	[ "${PIPESTATUS[0]}" = 0 ]
}

# Fault injection is not part of what users build.
no_faults()
{
	$LAB exec -- nm "$OUT/$1/kernel/rdma_inc.ko" |
		grep -o 'inc_fault[a-z_]*' |
		sort -u
}

sparse()
{
	local sparse out rc

	out=$($LAB prepare sparse 2>&1) || {
		echo "$out"
		return 1
	}
	sparse=$($LAB env | sed -n 's/^LAB_SPARSE=//p')
	# sparse does not know gcc's vector types.
	out=$(build uml C=2 "CHECK=$sparse")
	rc=$?
	grep -vE '^$|reduce/simd_' <<<"$out"
	return $rc
}

# Includes and calls only go down, from folder to folder. Calls are found in the
# objects, which are not there if this check runs alone.
layers()
{
	[ -d "$OUT/uml/kernel" ] || build uml || return
	make -s lab-user || return
	$LAB exec -- selftests/style/layers.py "$OUT/uml" build/user
}

spdx()
{
	local out

	# ".so" is a manual page that is only an alias of another one.
	out=$(sources | grep -vE '\.gitignore$|\.json$|\.svg$|\.patch$|^(COPYING|MAINTAINERS|VERSION|selftests/upstream/maintainers)$|^debian/(changelog|copyright|source/format|.*\.README\.Debian)$|^LICENSES/' |
		xargs -d '\n' awk '
		FNR == 1 { lacks(); file = FILENAME; seen = 0 }
		FNR <= 3 && (/SPDX-License-Identifier/ || /^\.so /) { seen = 1 }
		FNR > 3 { nextfile }
		END { lacks() }
		function lacks() {
			if (file != "" && !seen) print file ": no SPDX line"
		}')
	[ -z "$out" ] || { echo "$out"; return 1; }
}

tree_check()
{
	sources | $LAB exec -- selftests/style/tree-check.py
}

message_check()
{
	sources | $LAB exec -- selftests/style/message-check.py
}

names()
{
	sources | $LAB exec -- selftests/style/names.py
}

options()
{
	$LAB exec -- selftests/style/options.py
}

# A time that has passed is compared by inc_age(), whatever the bits of a long: only
# what is to come soon, as a timer, is not.
stale_times()
{
	# shellcheck disable=SC2046
	! grep -nE 'time_(before|after|in_range)' $(kernel_files) |
		grep -vE '^kernel/(object/(wait|tree)\.h|control/teardown\.c|datapath/tx_queue\.c):'
}

# MAINTAINERS names somebody for a file of each kind.
maintainers()
{
	local f out

	for f in README.md kernel/Kbuild userspace/lib/inc.h selftests/run; do
		out=$($LAB exec -- "$KSRC/scripts/get_maintainer.pl" --no-tree \
			--no-git --no-git-fallback -f "$f" 2>&1)
		[[ $out == *"<"*@*">"* ]] || echo "$f: ${out:-nobody}"
	done
}

# Each error on purpose (../mutants) still fits the code.
mutants_fit()
{
	local p bad=0

	for p in selftests/mutants/*.patch; do
		git apply --check "$p" || { echo "$p does not fit"; bad=1; }
	done
	return $bad
}

for k in $KINDS; do
	check_tree "builds for $k, W=1, without a warning" build "$k" \
		CONFIG_INFINIBAND_INC_FAULT=n
	check_tree "has no faults on purpose" no_faults "$k"
done
[ -z "$BUILDS" ] || check_end
check_rest "sparse" sparse
check "checkpatch --strict" checkpatch
check "kernel-doc" kernel_doc
check "times that have passed" stale_times
check "spelling" spelling
check_tree "generated files are up to date" selftests/style/ynl-regen.sh --check
check_tree "layers" layers
check_tree "Documentation renders, and says what the headers say" \
	$LAB exec -- selftests/style/doc-check.py
check_rest "plots and README have the figures of benchmark.rst" \
	selftests/bench/pictures.py --check
check_rest "errors on purpose fit the code" mutants_fit
check_tree "SPDX lines" spdx
check_tree "licences, version and maintainers are what the tree says" tree_check
check_tree "conformance.rst names what there is" \
	$LAB exec -- selftests/style/conform.py
check_rest "what conformance.rst must not say is found" \
	$LAB exec -- selftests/style/conform-test.sh
check_tree "messages say why in words" message_check
check_tree "names are verb_object, and comments are plain" names
check_rest "which names and words count" selftests/style/names-test.sh
check_rest "maintainers, as get_maintainer.pl reads them" maintainers
# Its analysis of the flow of data doubles the time and finds little: analyze.sh.
check "shellcheck" shell_check --extended-analysis=false
check_rest "completion evaluates no names" selftests/style/completion.sh
check_tree "options are those of the manual pages" options
check_rest "cases that a program does not reach count" selftests/lib/ktap-test.sh
check_rest "a part that ends early counts" selftests/lib/suite-test.sh
check_rest "what a test has said is counted" selftests/lib/count-test.sh
check_rest "what is tried again" selftests/lib/again-test.sh
check_rest "which results are kept" selftests/lib/keep-test.sh
check_rest "which tests still fit" selftests/lib/within-test.sh
check_tree "flaky cases are few and new" selftests/style/flaky.sh
check_rest "what a tool has passed is looked at when it changes" \
	selftests/style/passed-test.sh
check_end
