#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# series.sh KDIR OUT
#
# Write the module as a patch series for the kernel source KDIR to OUT, with a
# cover letter: this is "make patch-series KDIR=...". KDIR is only read. The
# author, who signs off, is git's (user.name, user.email).

set -eu

KDIR=${1:?usage: series.sh KDIR OUT}
OUT=${2:?usage: series.sh KDIR OUT}
HERE=$(cd "$(dirname "$0")" && pwd)
TOP=$(cd "$HERE/../.." && pwd)
VERSION=$(cat "$TOP/VERSION")
DEST=drivers/infiniband/sw/inc
DOC=Documentation/infiniband/inc
PAGES="protocol mapping rendezvous design life-of-a-message debugging glossary"

die()
{
	echo "patch-series: $*" >&2
	exit 1
}

[ -f "$KDIR/drivers/infiniband/sw/Makefile" ] ||
	die "$KDIR is not a kernel's source; give KDIR="
[ ! -e "$KDIR/$DEST" ] || die "$KDIR has $DEST already"
KDIR=$(cd "$KDIR" && pwd)
case $OUT in /*) ;; *) OUT=$PWD/$OUT ;; esac
IDENT=$(cd "$TOP" && git var GIT_AUTHOR_IDENT | sed 's/>.*/>/')
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT

# A repository with only the files that the series changes: patches fit the
# whole source.
cd "$WORK"
git init -q .
git config user.name "${IDENT% <*}"
git config user.email "$(sed 's/.*<\(.*\)>/\1/' <<<"$IDENT")"
for f in MAINTAINERS drivers/infiniband/Kconfig drivers/infiniband/sw/Makefile \
	Documentation/infiniband/index.rst \
	tools/testing/selftests/rdma/Makefile \
	tools/testing/selftests/rdma/config; do
	mkdir -p "$(dirname "$f")"
	cp "$KDIR/$f" "$f"
done
git add -A
git commit -q -m base

# take FROM TO: copy a file or folder of the tree unchanged.
take()
{
	mkdir -p "$(dirname "$2")"
	cp -r "$TOP/$1" "$2"
}

# code FOLDER: copy a layer. Names of older kernels are not needed there.
code()
{
	local f

	mkdir -p "$DEST/$1"
	for f in "$TOP/kernel/$1"/*; do
		[ ! -f "$f" ] || cp "$f" "$DEST/$1/"
	done
	find "$DEST/$1" -name '*.[ch]' -exec sed -i \
		-e '/#include "compat.h"/d' \
		-e 's/inc_packet_sockets(dev)/\&dev_net(dev)->ptype_specific/' \
		{} +
}

# insert FILE BEFORE TEXT: a line in front of the first one that contains
# BEFORE.
insert()
{
	grep -qF "$2" "$1" || die "$1 has no line with \"$2\""
	awk -v at="$2" -v text="$3" \
		'!done && index($0, at) { print text; done = 1 } { print }' \
		"$1" >new && cat new >"$1" && rm new
}

# commit SUBJECT: standard input is the message body.
commit()
{
	git add -A
	{ printf 'RDMA/inc: %s\n\n' "$1"; cat; } | git commit -q -s -F -
}

# --- the interfaces
take kernel/include/uapi/linux/rdma_inc.h include/uapi/linux/rdma_inc.h
take kernel/include/uapi/linux/rdma_inc_proto.h \
	include/uapi/linux/rdma_inc_proto.h
take Documentation/netlink/specs/rdma-inc.yaml \
	Documentation/netlink/specs/rdma-inc.yaml
LC_ALL=C awk -v section="$HERE/maintainers" '
	!done && last == "" && /^I[^:]/ && $0 > "IN-NETWORK" {
		while ((getline line < section) > 0) print line
		done = 1
	}
	{ print; last = $0 }' MAINTAINERS >new
cmp -s new MAINTAINERS && die "MAINTAINERS has no place for the section"
mv new MAINTAINERS
commit "describe the wire and the netlink interface" <<END
A switch for in-network computing reduces what the hosts of a job send it
by RDMA WRITE, and writes the result into the memory of each. Begin with
what others see of it: the header of its messages and the numbers on the
wire, as draft-liu-nfsv4-rocev2 has them, and the netlink family that
makes trees and members. include/uapi/linux/rdma_inc.h is generated
from the spec.
END

# --- the arithmetic
code core/reduce
commit "reduce vectors with the same bits on every CPU" <<END
Sums of floating-point numbers depend on the order of the operands, and
on how the processor rounds. A reduction in the network is only of use
if a program gets the same bits on each run, so all implementations of a
row of the table give the same ones: integer instructions everywhere,
SSE2 and AVX2 between kernel_fpu_begin() and kernel_fpu_end() for vectors
that pay for it.
END

# --- the protocol's rules
code core
rm -rf "$DEST/core/tests"
commit "decide what the protocol does" <<END
Responder, requester, slot and layout as plain functions: no lock, no skb,
no clock and no allocation. What is in this folder is compiled in user
space, too, for simulations and fuzzers, and for the KUnit tests that
follow.
END

# --- their tests
code core/tests
{
	sed -n '1p;/^config INFINIBAND_INC_KUNIT_TEST/,$p' \
		"$TOP/kernel/Kconfig" |
		sed 's/ \&\& INFINIBAND_INC=n//'
} >"$DEST/Kconfig"
take kernel/.kunitconfig "$DEST/.kunitconfig"
cat >"$DEST/Makefile" <<END
# SPDX-License-Identifier: GPL-2.0
obj-\$(CONFIG_INFINIBAND_INC_KUNIT_TEST) += rdma_inc_kunit.o

ccflags-y += -I\$(src)
include \$(src)/core/objs.mk
include \$(src)/core/tests/objs.mk
END
insert drivers/infiniband/Kconfig sw/rxe/Kconfig \
	'source "drivers/infiniband/sw/inc/Kconfig"'
insert drivers/infiniband/sw/Makefile RDMAVT \
	"$(printf 'obj-y\t\t\t\t\t+= inc/')"
commit "test the protocol's rules by KUnit" <<END
Expected results come from elsewhere: sums from exact arithmetic in 4,000
bits, packets from scapy, states of requester and responder from a model
beside each. Random tests print the seed that repeats them.

	tools/testing/kunit/kunit.py run \\
		--kunitconfig=drivers/infiniband/sw/inc
END

# --- objects and packets
code object
code report
code datapath
commit "move packets" <<END
A packet is taken at local input, in front of the socket that rdma_rxe may
have on the same port, if its QPN is one of the switch's. It is checked,
put into its slot, reduced with its siblings, and what is complete goes
out to all members from the same softirq. Results refer to the pages of
the slot; nothing is copied on the way out.

This is compiled by the next patch, which makes the objects.
END

# --- the module
code control
take kernel/main.c "$DEST/main.c"
sed -i '/#include "compat.h"/d; /^MODULE_VERSION/d' "$DEST/main.c"
take kernel/Kconfig "$DEST/Kconfig"
sed "s/^ccflags-y += -I/INC_VERSION := $VERSION\n&/" "$TOP/kernel/Kbuild" |
	sed '/^ccflags-y += -DCONFIG_INFINIBAND_INC_FAULT/d
		s/ selftests\/style\/layers.py reads it\.//' >"$DEST/Makefile"
commit "make trees and members by netlink" <<END
Each network namespace is a switch of its own. Memory is charged to a
budget and to the memory cgroup of whoever makes a tree; commands need
CAP_NET_ADMIN, and a user namespace has no switch unless the module's
parameter says so. No command waits for a member or a grace period:
what is deleted ends in works.

This completes the module, rdma_inc.
END

# --- pages
for p in $PAGES; do
	take "Documentation/$p.rst" "$DOC/$p.rst"
done
find $DOC -name '*.rst' -exec sed -i -E \
	-e 's,``kernel/include/uapi/,``include/uapi/,g' \
	-e 's,``Documentation/upstream/``,The project of libinc,' \
	-e 's,of Documentation/upstream/,of the project of libinc,' \
	-e "s,\`\`kernel/(control|core|datapath|object|report),\`\`$DEST/\\1,g" {} +
cat >$DOC/index.rst <<END
.. SPDX-License-Identifier: GPL-2.0

===============================
In-network computing for RoCEv2
===============================

.. toctree::
   :maxdepth: 1

$(for p in $PAGES; do echo "   $p"; done)
END
insert Documentation/infiniband/index.rst "   ipoib" "   inc/index"
commit "document the protocol and the module" <<END
The first three pages are normative: whoever keeps to them can share a job
with any other client. The others say how the module works, what its
locks guard, and what to do when a collective is stuck or slow.
END

# --- selftest
take selftests/upstream/inc_switch.py tools/testing/selftests/rdma/inc_switch.py
insert tools/testing/selftests/rdma/Makefile "rxe_rping_between" \
	"$(printf 'TEST_PROGS := inc_switch.py \\')"
sed -i 's/^TEST_PROGS := rxe_rping/\t\trxe_rping/' \
	tools/testing/selftests/rdma/Makefile
echo CONFIG_INFINIBAND_INC >>tools/testing/selftests/rdma/config
commit "selftests: make, refuse, show and end trees" <<END
By the YNL library, so it shows what the spec promises, with no program
but the kernel's own. The tests that move data need libinc and rdma_rxe
hosts; they are where libinc is.
END

# --- the series
rm -rf "$OUT"
mkdir -p "$OUT"
git format-patch -q --cover-letter -o "$OUT" HEAD~8
"$HERE/cover.py" "$OUT"/0000-cover-letter.patch "$TOP/README.md"
ls "$OUT"
