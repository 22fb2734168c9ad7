#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The Debian packages: built, built again elsewhere with the same result, checked
# by lintian and by their own tests, and used in a virtual machine.
#
#   deb.sh [PART...]    PART: build same lint install tests vm fresh; default:
#                       all but tests and fresh
#
#   install the manager's and the agent's packages, in the root file system
#           (install.sh)
#   tests   debian/tests by autopkgtest, in a copy of the lab's root file system
#   vm      installed into a copy of the lab's root file system with Debian's
#           kernels, where DKMS compiles the module natively; then booted with
#           systemd (guest.sh), purged, and what is left compared
#   fresh   the same, from a root file system that debootstrap would make

set -u
cd "$(dirname "$0")/../.." || exit 1

# Mounts and processes of a run end with it.
if [ -z "${DEB_INSIDE:-}" ]; then
	selftests/lab/lab prepare rootfs vm || exit 1
	LAB_WITH=deb selftests/lab/lab exec true || exit 1
	DEB_INSIDE=1 exec unshare -m -p --fork --mount-proc --kill-child=KILL \
		--propagation private "$0" "$@"
fi
. selftests/lib/ktap.sh
. selftests/deb/vm.sh
LAB=$PWD/selftests/lab/lab
LAB_TREE=$PWD
LAB_DIR=$PWD/selftests/lab
OUT=$PWD/build/deb
WORK=$(mktemp -d)
export LAB_TREE LAB_DIR LAB_WITH=deb
eval "$("$LAB" env | grep -E '^LAB_(CACHE|VMROOT)=')"
export LAB_CACHE
VMROOT=$LAB_VMROOT

# case_ NAME CMD...: a case that shows its output if it fails.
case_()
{
	local name=$1 rc since=$SECONDS

	shift
	"$@" >"$WORK/log" 2>&1
	rc=$?
	ktap $rc "$name"
	[ $rc = 0 ] || tail -n 60 "$WORK/log" | sed 's/^/# /'
	echo "# $((SECONDS - since)) s"
	return $rc
}

part_build()
{
	case_ "make deb" make deb
}

# Another directory, time zone, language, and mask of permissions.
part_same()
{
	case_ "the packages are built again elsewhere" \
		env DEB_AT=/tmp/elsewhere/and/longer TZ=Asia/Kathmandu \
		LC_ALL=C.UTF-8 DEB_UMASK=027 selftests/deb/build.sh build/deb-again
	case_ "and are the same, by SHA-256" sums
}

sums()
{
	(cd "$OUT" && sha256sum ./*.deb) >"$WORK/sums" &&
		[ "$(wc -l <"$WORK/sums")" -ge 12 ] &&
		(cd build/deb-again && sha256sum -c "$WORK/sums")
}

part_lint()
{
	case_ "lintian --pedantic" "$LAB" exec -- lintian --pedantic \
		--display-info --fail-on error,warning,info,pedantic \
		--allow-root "$OUT"/rdma-inc_*.changes
	case_ "packages have the files of make install" same_files
	case_ "make uninstall leaves none" none_left
	case_ "the units' exposure, by systemd-analyze security" exposure
	grep -h Overall "$WORK/log"
}

# make install into /usr, against the packages. What belongs to a distribution
# alone is left out: module source, options, documentation.
same_files()
{
	local deb

	for deb in "$OUT"/*.deb; do
		case $deb in *-dbgsym_* | *-doc_* | *-dkms_*) continue ;; esac
		dpkg-deb --fsys-tarfile "$deb" | tar t
	done | grep -v '/$' | grep -vE '^./(usr/share/(doc|lintian)|etc)/' |
		sed -E 's/\.gz$//; s,/x86_64-linux-gnu,,;
			s,lib/wireshark/plugins/inc.lua,share/rdma_inc/inc.lua,' |
		sort >"$WORK/packaged"
	# shellcheck disable=SC2016
	"$LAB" exec sh -c 'rm -rf /tmp/i && make -s install-user PREFIX=/usr \
		DESTDIR=/tmp/i >&2 && cd /tmp/i && find . ! -type d' |
		sort >"$WORK/installed"
	[ -s "$WORK/installed" ] && diff "$WORK/packaged" "$WORK/installed"
}

none_left()
{
	# shellcheck disable=SC2016
	"$LAB" exec sh -c 'd=$(mktemp -d) &&
		make -s install-user DESTDIR=$d >&2 && touch $d/usr/local/bin/mine &&
		! make -s uninstall DESTDIR=$d PKG_CONFIG=false >&2 &&
		make -s uninstall DESTDIR=$d >&2 && cd $d && find . ! -type d' \
		>"$WORK/left"
	diff "$WORK/left" - <<<./usr/local/bin/mine
}

exposure()
{
	# shellcheck disable=SC2016
	"$LAB" exec sh -c 'mkdir /tmp/u && cd /tmp/u &&
		for p in inc-tool rdma-inc-manager rdma-inc-agent; do
			dpkg-deb -x "$0/$p"_*.deb . || exit
		done
		for u in usr/lib/systemd/system/*.service; do
			systemd-analyze security --no-pager --offline=true \
				--threshold=20 "$u" || exit
		done' "$OUT"
}

# What is laid over the root file system is empty: all that is written goes away.
part_install()
{
	mkdir -p "$WORK/empty"
	LAB_OVER=$WORK/empty "$LAB" exec -- selftests/deb/install.sh "$OUT" \
		>"$WORK/install" 2>&1
	ktap_take "the test of the installation" <"$WORK/install"
}

part_tests()
{
	local debs

	mkdir -p "$WORK/empty"
	mapfile -t debs < <(find "$OUT" -name '*.deb' ! -name '*-dbgsym_*')
	LAB_OVER=$WORK/empty "$LAB" exec -- autopkgtest -B "${debs[@]}" \
		"$OUT"/rdma-inc_*.dsc -- null >"$OUT/autopkgtest.log" 2>&1
	ktap $? "autopkgtest" "see $OUT/autopkgtest.log"
	sed -nE 's/^autopkgtest \[[0-9:]+\]: @@@@@+ summary$/# summary/p;
		/ summary$/,$p' "$OUT/autopkgtest.log" | sed 's/^/# /'
}

# inc-tool of a later version, for an upgrade.
newer()
{
	local dir=$WORK/newer

	mkdir -p "$dir" && dpkg-deb -R "$OUT"/inc-tool_*.deb "$dir/x" &&
		sed -i 's/^Version: .*/&+1/' "$dir/x/DEBIAN/control" &&
		dpkg-deb -b "$dir/x" "$dir/inc-tool_newer.deb" && rm -r "$dir/x"
}

mpi_program()
{
	"$LAB" exec mpicc -o "$LAB_TREE/build/deb-sum" debian/tests/sum.c &&
		mv build/deb-sum "$WORK/sum"
}

machine()
{
	case_ "a later version for an upgrade" newer || return
	case_ "an MPI program" mpi_program || return
	case_ "a root file system ($1)" guest_make "$1" || return
	case_ "apt install: DKMS compiles the module" guest_install || return
	guest_boot 900 >"$WORK/console" 2>&1
	if [ -s "$GUEST/deb-test/output" ]; then
		ktap_take "the virtual machine" <"$GUEST/deb-test/output"
	else
		ktap 1 "the virtual machine runs the test"
		tail -n 60 "$WORK/console" | tr -d '\r' | sed 's/^/# /'
	fi
	case_ "no file is left" nothing_left
}

nothing_left()
{
	! guest_left
}

part_vm()
{
	machine overlay
}

part_fresh()
{
	machine fresh
}

finish()
{
	umount -R "$WORK/mem" 2>/dev/null
	rm -rf "$WORK" build/deb-again
}

trap finish EXIT
[ $# != 0 ] || set -- build same lint install vm
for part in "$@"; do
	since=$SECONDS
	if declare -F "part_$part" >/dev/null; then
		"part_$part"
	else
		ktap 1 "there is a part $part"
	fi
	echo "# part $part: $((SECONDS - since)) s"
done
ktap_plan
