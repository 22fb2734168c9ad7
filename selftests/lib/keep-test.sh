#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Does a kept result depend on what the test sees, and on nothing else? Prints what
# is wrong.

cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=selftests/lib/keep.sh
. selftests/lib/keep.sh
DIR=$(mktemp -d)
trap 'rm -rf "$DIR"' EXIT
WRONG=0
keep_scan "$DIR/scan"

# depends yes|no FILE WHERE CMD...: does a test's key change with FILE?
depends()
{
	local want=$1 file=$2 is=no

	shift 2
	grep -q " $file$" "$DIR/scan" || { echo "there is no $file"; WRONG=1; }
	sed "s|^.* $file\$|0 $file|" "$DIR/scan" >"$DIR/other"
	[ "$(keep_key "$DIR/scan" lab "$@")" = \
		"$(keep_key "$DIR/other" lab "$@")" ] || is=yes
	[ $is = "$want" ] && return
	echo "depends on $file: $is, $*"
	WRONG=1
}

depends yes kernel/main.c uml selftests/packets/packets.sh
depends yes selftests/packets/packets.sh uml selftests/packets/packets.sh
depends yes selftests/lib/topo.sh uml selftests/packets/packets.sh
depends yes selftests/lab/guest.sh uml-debug selftests/packets/packets.sh
depends yes userspace/tool/Makefile uml selftests/packets/packets.sh
depends no userspace/manager/main.c uml selftests/packets/packets.sh
depends no selftests/fabric/cm.sh uml selftests/packets/packets.sh
depends no Documentation/testing.rst uml selftests/packets/packets.sh
depends yes Documentation/netlink.rst uml selftests/netlink/netlink.sh
depends yes Documentation/netlink/specs/rdma-inc.yaml uml \
	selftests/netlink/netlink.sh
depends yes Documentation/upstream/rxe-place.patch uml selftests/rxe/place.sh
depends yes Documentation/manager.rst uml+fabric selftests/fabric/tenant.sh
depends yes userspace/manager/ca/inc-am-ca uml selftests/serve/tls.sh
depends yes selftests/run uml selftests/packets/packets.sh
depends yes userspace/manager/main.c uml+fabric selftests/fabric/cm.sh
depends yes selftests/fabric/life.sh uml+fabric selftests/fabric/cm.sh
depends no userspace/plugins/ompi/Makefile uml+fabric selftests/fabric/cm.sh
depends yes userspace/plugins/ompi/Makefile uml+mpi selftests/mpi/mpi.sh
depends yes selftests/demo/run vm selftests/cases/vm.sh demo
depends yes Documentation/testing.rst here selftests/style/style.sh
depends yes userspace/manager/main.c exec make -C userspace/lib
[ "$(keep_key "$DIR/scan" lab uml a.sh)" != "$(keep_key "$DIR/scan" lab uml a.sh 1)" ] ||
	{ echo "its arguments do not count"; WRONG=1; }
[ "$(keep_key "$DIR/scan" a uml a.sh)" != "$(keep_key "$DIR/scan" b uml a.sh)" ] ||
	{ echo "the lab does not count"; WRONG=1; }
exit $WRONG
