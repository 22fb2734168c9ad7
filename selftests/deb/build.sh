#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make deb: the Debian packages of the tree in build/deb, built from the files
# that git knows, in the lab's root file system with the packages of
# lab/packages-deb.
#
#   build.sh [DIR]      DIR in the tree instead of build/deb
#
# DEB_AT and DEB_UMASK: another directory to build in, another umask, for the
# test that this makes no difference.

set -u
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
cd "$ROOT" || exit 1
LAB=selftests/lab/lab
OUT=$(realpath -m "${1:-build/deb}")
export LAB_WITH=deb

say()
{
	printf '[%4ds] deb: %s\n' "$SECONDS" "$*"
}

die()
{
	say "$*" >&2
	exit 1
}

# Runs where the compiler is.
build()
{
	local dir=${DEB_AT:-/tmp/deb}

	umask "${DEB_UMASK:-022}"
	mkdir -p "$dir" && cp -r "$1/source" "$dir/" && cd "$dir/source" &&
		dpkg-buildpackage -us -uc && cd .. &&
		find . -maxdepth 1 -type f -exec cp -p {} "$1/" \;
}

if [ "${1:-}" = inside ]; then
	build "$2"
	exit
fi
[ "$(id -u)" = 0 ] || die "has to run as root"
[[ $OUT/ == "$ROOT"/?*/* ]] || die "$OUT must lie in the tree"
command -v git >/dev/null || die "git is missing: apt install git"
git rev-parse --git-dir >/dev/null 2>&1 ||
	die "$ROOT is no clone; in an unpacked archive, run dpkg-buildpackage"

$LAB exec true || die "no root file system to build in, see above"
rm -rf "$OUT" && mkdir -p "$OUT/source" || exit 1
git ls-files -co --exclude-standard | while read -r f; do
	[ ! -f "$f" ] || echo "$f"
done | tar c -T - | tar x -C "$OUT/source" || die "could not copy the tree"

say "building version $(cat VERSION), log in $OUT/build.log"
$LAB exec selftests/deb/build.sh inside "$OUT" >"$OUT/build.log" 2>&1 || {
	tail -n 25 "$OUT/build.log" | sed 's/^/    /' >&2
	die "the build failed, see $OUT/build.log"
}
rm -rf "$OUT/source"
for f in "$OUT"/*.deb; do
	echo "  ${f#"$ROOT"/}"
done
say "done; install with apt install ./${OUT#"$ROOT"/}/NAME.deb"
