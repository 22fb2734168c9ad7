#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# ynl-regen.sh [--check] [--ksrc DIR]
#
# Generates what comes from Documentation/netlink/specs/rdma-inc.yaml and
# linux/rdma_inc_proto.h. The generator of a kernel source (DIR, or $LAB_KSRC,
# or the lab's) makes kernel/control/netlink-gen.[ch] and
# kernel/include/uapi/linux/rdma_inc.h; ynl-tables.py makes the tables of names
# for the module, for user space and for Wireshark, and the tables of counters
# in Documentation/netlink.rst; ynl-yang.py makes the agent's YANG module of the
# same objects. --check changes nothing: it shows what differs
# and fails if anything does.
# Needs python3 with yaml and jsonschema.

set -u

usage()
{
	sed -n '4,14s/^# \{0,1\}//p' "$0" >&2
	exit "$1"
}

die()
{
	echo "ynl-regen: $*" >&2
	exit 1
}

tree=$(realpath "$(dirname "$0")/../..")
ksrc=${LAB_KSRC:-}
check=

while (($#)); do
	case $1 in
	--check) check=1 ;;
	--ksrc)
		[[ $# -ge 2 ]] || usage 2
		ksrc=$2
		shift
		;;
	-h | --help) usage 0 ;;
	*) usage 2 ;;
	esac
	shift
done

if [[ -z $ksrc && -x $tree/selftests/lab/lab ]]; then
	ksrc=$("$tree/selftests/lab/lab" env |
		sed -n 's/^\(export \)\?LAB_KSRC=//p' |
		tr -d "\"'")
fi
[[ -n $ksrc ]] ||
	die "no kernel source: give --ksrc DIR, or run selftests/lab/lab prepare source"

gen=$ksrc/tools/net/ynl/pyynl/ynl_gen_c.py
schema=$ksrc/Documentation/netlink/genetlink.yaml
for f in "$gen" "$schema"; do
	[[ -r $f ]] ||
		die "$f: not there; is $ksrc a kernel source of 6.15 or later?"
done

python=
for p in ${PYTHON:-} python3 /usr/bin/python3; do
	if "$p" -c 'import yaml, jsonschema' 2>/dev/null; then
		python=$p
		break
	fi
done
if [[ -z $python && -z ${LAB_IN_ROOT:-} && -x $tree/selftests/lab/lab ]]; then
	# The lab's root file system has them.
	exec "$tree/selftests/lab/lab" \
		exec -- "$tree/selftests/style/ynl-regen.sh" \
		--ksrc "$ksrc" ${check:+--check}
fi
[[ -n $python ]] ||
	die "python3 needs yaml and jsonschema (packages python3-yaml, python3-jsonschema)"

# The generator expects the schema one directory above the spec, and looks for a
# file MAINTAINERS upwards from its working directory, forever if there is none.
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$tmp/Documentation/netlink/specs" "$tmp/out"
: >"$tmp/MAINTAINERS"
cp "$schema" "$tmp/Documentation/netlink/"
cp "$tree/Documentation/netlink/specs/rdma-inc.yaml" \
	"$tmp/Documentation/netlink/specs/"

# make_one MODE PART FILE [OPTION...]
make_one()
{
	local mode=$1 part=$2 file=$3
	shift 3

	mkdir -p "$tmp/${file%/*}"
	(cd "$tmp" && timeout 120 "$python" "$gen" --mode "$mode" "--$part" \
		--spec Documentation/netlink/specs/rdma-inc.yaml "$@" \
		-o "$file") ||
		die "$file: the generator failed"
	# The comment that says how to regenerate the file has to name our
	# script.
	sed -i 's|tools/net/ynl/ynl-regen.sh|selftests/style/ynl-regen.sh|' \
		"$tmp/$file"
}

make_one uapi header kernel/include/uapi/linux/rdma_inc.h
make_one kernel header kernel/control/netlink-gen.h
make_one kernel source kernel/control/netlink-gen.c
# Groups have flags in the spec, which the generator ignores.
sed -i 's|^\(\t\[RDMA_INC_NLGRP_EVENTS\] = { "events",\) },|\1 .flags = GENL_MCAST_CAP_NET_ADMIN, },|' \
	"$tmp/kernel/control/netlink-gen.c"
grep -q GENL_MCAST_CAP_NET_ADMIN "$tmp/kernel/control/netlink-gen.c" ||
	die "netlink-gen.c: the group events could be joined by anybody"
tables=$("$python" "$tree/selftests/style/ynl-tables.py" "$tree" "$tmp") ||
	die "ynl-tables.py failed"
yang=$("$python" "$tree/selftests/style/ynl-yang.py" "$tree" "$tmp") ||
	die "ynl-yang.py failed"

rc=0
for f in kernel/include/uapi/linux/rdma_inc.h kernel/control/netlink-gen.h \
	kernel/control/netlink-gen.c $tables "$yang"; do
	if cmp -s "$tmp/$f" "$tree/$f"; then
		continue
	elif [[ $check ]]; then
		diff -u "$tree/$f" "$tmp/$f"
		echo "ynl-regen: $f is not up to date: run selftests/style/ynl-regen.sh" >&2
		rc=1
	else
		install -D -m 644 "$tmp/$f" "$tree/$f"
		echo "$f"
	fi
done
exit "$rc"
