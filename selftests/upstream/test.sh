#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The series of "make patch-series" on the lab's kernel source: checkpatch and
# get_maintainer for each patch, applied one by one by git am, built as a module
# after each, and into the kernel; the selftest runs on both, and packets.sh on
# the module. All files written are in memory, on top of the lab's source and
# build, and disappear at the end.

set -u
cd "$(dirname "$0")/../.." || exit 1
LAB=$PWD/selftests/lab/lab
OUT=$PWD/build/patch-series
DIR=drivers/infiniband/sw/inc
# False positives of checkpatch: MAINTAINERS has the folder from the first patch
# on; the common form of trace events; generated code; UML's CPU flags are in
# asm/cpufeature.h alone; "state error error REASON" in an example.
IGNORE=FILE_PATH_CHANGES
HABITS='/trace\.h:[0-9]+: CHECK|/(netlink|names)-gen\.[ch]:[0-9]+'
HABITS+='|/fpu\.h:.*cpufeature\.h|/debugging\.rst:.*repeated word: .error'
N=0
FAILED=0

# Run in a private mount namespace.
if [ "${1:-}" != inside ]; then
	exec unshare -m --propagation private "$0" inside
fi

case_()
{
	local rc=$1

	N=$((N + 1))
	if [ "$rc" = 0 ]; then
		echo "ok $N - $2"
		return
	fi
	FAILED=1
	echo "not ok $N - $2"
	[ -z "${3:-}" ] || head -n 40 <<<"$3" | sed 's/^/# /'
}

finish()
{
	echo "1..$N"
	exit $FAILED
}

"$LAB" prepare rootfs source uml >/dev/null || exit 1
eval "$("$LAB" env | grep -E '^LAB_(KSRC|UML_BUILD)=')"
W=$(mktemp -d)
mount -t tmpfs -o size=3G none "$W" || exit 1
for part in "$LAB_KSRC" "$LAB_UML_BUILD"; do
	up=$W/$(basename "$part")
	mkdir "$up" "$up.work"
	mount -t overlay -o "lowerdir=$part,upperdir=$up,workdir=$up.work" \
		none "$part" || exit 1
done

kmake()
{
	"$LAB" exec -- make -s -C "$LAB_UML_BUILD" ARCH=um "-j$(nproc)" "$@" \
		2>&1 |
		grep -vE 'Clock skew|in the future|^  [A-Z]+ '
	return "${PIPESTATUS[0]}"
}

# config SYMBOL=VALUE...
config()
{
	printf 'CONFIG_%s\n' "$@" >>"$LAB_UML_BUILD/.config"
	kmake olddefconfig
}

out=$(make -s patch-series KDIR="$LAB_KSRC" 2>&1)
case_ $? "the series is written" "$out"
grep -l 'HERE \*\*\*' "$OUT"/*.patch >/dev/null
case_ $((! $?)) "the cover letter is filled in"

out=
for p in "$OUT"/000[1-9]*.patch; do
	out+=$("$LAB" exec -- sh -c "cd '$LAB_KSRC' && scripts/checkpatch.pl \
		--strict --terse --showfile --no-summary --ignore $IGNORE '$p'" 2>&1 |
		grep -vE "^\$|$HABITS")$'\n'
done
out=$(grep . <<<"$out")
case_ $((${#out} > 0)) "checkpatch --strict" "$out"

git init -q "$W/am"
(cd "$LAB_KSRC" && cp --parents MAINTAINERS drivers/infiniband/Kconfig \
	drivers/infiniband/sw/Makefile Documentation/infiniband/index.rst \
	tools/testing/selftests/rdma/{Makefile,config} "$W/am")
cd "$W/am" || exit 1
git config user.name lab
git config user.email lab@localhost
git add -A && git commit -q -m base
for p in "$OUT"/000[1-9]*.patch; do
	name=$(sed -n 's/^Subject: \[PATCH [0-9/]*\] //p' "$p")
	out=$(git am -q "$p" 2>&1)
	case_ $? "applies: $name" "$out"
	git diff --name-only HEAD~1 | while read -r f; do
		mkdir -p "$LAB_KSRC/$(dirname "$f")" &&
			cp -p "$f" "$LAB_KSRC/$f"
	done
	out=$("$LAB" \
		exec -- sh -c "cd '$LAB_KSRC' && scripts/get_maintainer.pl \
		--no-git --no-git-fallback '$p'" 2>&1)
	grep -q "rdma_inc" <<<"$out" && grep -q linux-rdma@ <<<"$out"
	case_ $? "has a maintainer and a list" "$out"
	[ -f "$LAB_KSRC/$DIR/Makefile" ] && grep -q "^+++ b/$DIR/.*\.c$" "$p" ||
		continue
	if grep -q '^config INFINIBAND_INC$' "$LAB_KSRC/$DIR/Kconfig"; then
		config INFINIBAND_INC=m INFINIBAND_INC_FAULT=y >/dev/null
	else
		config INFINIBAND_INC_KUNIT_TEST=m >/dev/null
	fi
	out=$(kmake W=1 $DIR/)
	case_ $((${#out} > 0)) "builds without a warning" "$out"
done
cd "$OLDPWD" || exit 1

M=$PWD/build/patch-module
rm -rf "$M"
cp -r "$LAB_KSRC/$DIR" "$M"
KO=$M/rdma_inc.ko
out=$(kmake M="$M" modules && test -f "$KO")
case_ $? "builds as a module" "$out"

# guest SCRIPT ARGS...: run in the kernel; its cases count as ours.
guest()
{
	local line rc before=$N said

	said=$("$LAB" run --backend uml "$@" 2>&1)
	while read -r line; do
		case $line in
		"ok "* | "not ok "*)
			[[ $line == ok* ]]
			rc=$?
			line=${line#*ok }
			line=${line#* }
			case_ $rc "${line#- }" ;;
		"#"*)	echo "$line" ;;
		esac
	done <<<"$said"
	[ $N != "$before" ] ||
		case_ 1 "$1 says nothing" "$(tail -n 40 <<<"$said")"
}

export INC_MODULE=$KO
guest selftests/upstream/guest.sh "$LAB_KSRC" "$KO"
guest selftests/packets/packets.sh 'ONLY=responder: *'

config INFINIBAND_INC=y INFINIBAND_INC_FAULT=n >/dev/null
out=$(kmake linux)
case_ $((${#out} > 0)) "builds into the kernel" "$out"
guest selftests/upstream/guest.sh "$LAB_KSRC"
finish
