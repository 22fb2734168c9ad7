#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# On a distribution's own kernel: the demo as a user of such a machine runs it
# (7.2 and later), or what works without rxe in namespaces (6.12): loading,
# netlink, unloading. The packets' tests come by themselves.

cd "$(dirname "$0")/.." || exit 1
KTAP_N=0
rc=0

case_is()
{
	KTAP_N=$((KTAP_N + 1))
	if [ "$1" = 0 ]; then
		echo "ok $KTAP_N - $2"
	else
		rc=1
		echo "not ok $KTAP_N - $2"
	fi
}

case $1 in
demo)
	TIMEOUT=900 make demo LAB=host RANKS=2 SIZE=256K
	case_is $? "make demo LAB=host on $(uname -r)"
	[ ! -d /sys/module/rdma_inc ] && [ -z "$(ip netns list)" ]
	case_is $? "which leaves nothing behind"
	;;
load)
	. selftests/lib.sh
	insmod "$INC_KO"
	case_is $? "the module loads on $(uname -r)"
	inc-tool tree add ranks 2 >/dev/null && inc-tool -j tree show | grep -q '"ranks"'
	case_is $? "inc-tool makes and shows a tree"
	rmmod rdma_inc
	case_is $? "the module unloads with a tree"
	;;
esac
echo "1..$KTAP_N"
exit $rc
