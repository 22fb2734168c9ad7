#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The kernel's own tests of rxe (tools/testing/selftests/rdma, copied to
# build/kselftest), without the module, and with it while it has a tree in the
# net namespace that they use.

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"

SKIP=4			# ksft_skip

run_all()
{
	local t rc

	for t in "$ROOT"/build/kselftest/rdma/*.sh; do
		(cd "${t%/*}" && timeout "$(scaled 60)" bash "./${t##*/}") \
			>"$LAB_OUT/${t##*/}.$1" 2>&1
		rc=$?
		if [ $rc = $SKIP ]; then
			ktap_skip "${t##*/} $1 the module" "it skips itself"
		else
			ktap $rc "${t##*/} $1 the module" "status $rc"
		fi
	done
}

part_without()
{
	inc_unload
	run_all without
	modprobe rdma_rxe
	inc_load
}

part_with()
{
	inc-tool tree add id 1 ranks 2 >/dev/null
	ktap $? "a tree in their net namespace"
	run_all with
	inc-tool tree show id 1 >/dev/null
	ktap $? "the tree is still there"
}

suite "without with" "$@"
