#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A distribution's own kernel: the demo as a user of such a machine runs it (7.2
# and later), or what works without rxe in namespaces (6.12): loading, netlink,
# unloading. The packet tests run separately.

cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=selftests/lib/ktap.sh
. selftests/lib/ktap.sh

case $1 in
demo)
	TIMEOUT=900 make demo LAB=host RANKS=2 SIZE=256K
	ktap $? "make demo LAB=host on $(uname -r)"
	[ ! -d /sys/module/rdma_inc ] && [ -z "$(ip netns list)" ]
	ktap $? "which leaves nothing behind"
	;;
load)
	. selftests/lib/suite.sh
	insmod "$INC_KO"
	ktap $? "the module loads on $(uname -r)"
	inc-tool tree add ranks 2 >/dev/null &&
		inc-tool -j tree show | grep -q '"ranks"'
	ktap $? "inc-tool makes and shows a tree"
	rmmod rdma_inc
	ktap $? "the module unloads with a tree"
	;;
esac
ktap_plan
