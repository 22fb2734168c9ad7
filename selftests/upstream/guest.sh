#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# guest.sh KSRC [MODULE]: in a kernel of the lab, run the selftest of the series
# that was applied to KSRC; with MODULE, or with the built-in code.

[ -z "${2:-}" ] || insmod "$2" || exit 1
"$1/tools/testing/selftests/rdma/inc_switch.py"
rc=$?
if [ -n "${2:-}" ]; then
	rmmod rdma_inc || rc=1
fi
exit $rc
