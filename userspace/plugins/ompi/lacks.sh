#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# What this machine lacks to build coll/inc, in one line with what to do; nothing
# if it lacks nothing.
#
#   lacks.sh LIB
#	LIB: where libinc was built

command -v pkg-config >/dev/null || {
	echo "pkg-config is missing: apt install pkg-config"
	exit
}
ompi=$(pkg-config --modversion ompi 2>/dev/null)
case $ompi in
5.*)	;;
"")	echo "the developers' files of Open MPI 5 are missing:" \
		"apt install libopenmpi-dev openmpi-bin (Debian 13 or later)"
	exit ;;
*)	echo "found Open MPI $ompi, coll/inc needs 5.x: use Debian 13 (Debian 12" \
		"has 4.1), or set PKG_CONFIG_PATH to where another Open MPI has" \
		"its ompi.pc"
	exit ;;
esac
pkg-config --exists pmix || {
	echo "the developers' files of PMIx are missing: apt install libpmix-dev"
	exit
}
[ -e "$1/libinc.so" ] ||
	echo "there is no libinc in $1: run \"make userspace\" first"
