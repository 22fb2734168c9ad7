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

# same VAR=VALUE VAR=VALUE: do the two count as one?
same()
{
	cmp -s <(env "$1" bash -c '. selftests/lib/keep.sh; keep_environment') \
		<(env "$2" bash -c '. selftests/lib/keep.sh; keep_environment')
}
! same INC_X=$'a\nb' INC_X=$'a\nc' || { echo "second lines do not count"; WRONG=1; }
! same ASAN_OPTIONS=a ASAN_OPTIONS=b || { echo "ASAN_OPTIONS does not count"; WRONG=1; }
same HOME=a HOME=b || { echo "HOME counts"; WRONG=1; }

# In a tree of its own: what becomes of a file.
TREE=$PWD
mkdir "$DIR/tree" && cd "$DIR/tree" && git init -q . && mkdir kernel &&
	echo x >kernel/a && echo y >kernel/b && chmod +x kernel/a || exit 1
keep_scan "$DIR/scan"
sleep 0.1
! keep_touched "$DIR/scan" || { echo "nobody has written"; WRONG=1; }
rm kernel/b
keep_touched "$DIR/scan" || { echo "a removed file is not seen"; WRONG=1; }
echo y >kernel/b
keep_touched "$DIR/scan" || { echo "a file written is not seen"; WRONG=1; }
chmod -x kernel/a
keep_scan "$DIR/other"
[ "$(keep_key "$DIR/scan" lab here a.sh)" != "$(keep_key "$DIR/other" lab here a.sh)" ] ||
	{ echo "whether a file can be started does not count"; WRONG=1; }
cd "$TREE" || exit 1
exit $WRONG
