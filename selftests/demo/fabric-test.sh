#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make demo-fabric: it works, and its pictures are there.

cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=selftests/lib/ktap.sh
. selftests/lib/ktap.sh

OUT=build/lab/demo-fabric
rm -f $OUT/*.png
selftests/demo/fabric | tee build/demo-fabric.out
ktap "${PIPESTATUS[0]}" "make demo-fabric" "see $OUT"
! grep -q $'\033' build/demo-fabric.out
ktap $? "no colours where there is no terminal"
for name in before after; do
	[ -s "$OUT/$name.png" ] &&
		[ "$(head -c 4 "$OUT/$name.png" | tail -c 3)" = PNG ] &&
		[ "$(stat -c %s "$OUT/$name.png")" -gt 20000 ]
	ktap $? "a picture of the page, $name the link is cut"
done
[ -s $OUT/after.png ] && ! cmp -s $OUT/before.png $OUT/after.png
ktap $? "the pictures differ"
ktap_plan
