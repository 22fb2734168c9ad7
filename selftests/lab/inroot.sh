#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# inroot.sh ROOTFS [BIND...] -- CMD...
#
# Runs in fresh mount and pid namespaces (see in_root in common.sh): mounts what
# a root file system needs and enters it. All mounts end with the namespace.
# BIND is SRC or SRC:DST. LAB_TREE, LAB_CACHE: bound under their own names.
# LAB_CWD: directory to start in. LAB_OVER: directory laid over ROOTFS.

set -eu
ulimit -c 0

root=$1
shift
binds=()
while [[ $1 != -- ]]; do
	binds+=("$1")
	shift
done
shift

bind()
{
	local src=${1%%:*} dst=${1##*:}

	if [[ -d $src ]]; then
		mkdir -p "$root$dst"
	elif [[ ! -e $root$dst ]]; then
		mkdir -p "$root${dst%/*}"
		: >"$root$dst"
	fi
	mount --rbind "$src" "$root$dst"
}

# We are process 1 of the namespace, which reaps orphans and ignores signals:
# run CMD as a child, never as process 1.
if [[ $root == / ]]; then
	mount -t proc proc /proc
	cd "${LAB_CWD:-/}"
	rc=0
	"$@" || rc=$?
	exit "$rc"
fi

if [[ -n ${LAB_OVER:-} ]]; then
	mount -t tmpfs tmpfs "$root/tmp"
	mkdir "$root/tmp/up" "$root/tmp/work"
	mount -t overlay -o "lowerdir=$LAB_OVER:$root,upperdir=$root/tmp/up,workdir=$root/tmp/work" \
		overlay "$root"
fi
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777,size=100% tmpfs "$root/tmp"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mkdir -p "$root/run/lock"
# A /dev/shm of its own, large and executable: User-Mode Linux keeps its memory
# there, and a container's /dev/shm is often neither. With LAB_LARGE_PAGES in large
# pages, as kernels map theirs, if this kernel has any.
shm=mode=1777,size=100%
[[ -n ${LAB_LARGE_PAGES:-} ]] &&
	mount -t tmpfs -o "$shm,huge=always" tmpfs "$root/dev/shm" 2>/dev/null ||
	mount -t tmpfs -o "$shm" tmpfs "$root/dev/shm"
[[ ! -e /etc/resolv.conf ]] ||
	bind "$(realpath /etc/resolv.conf):/etc/resolv.conf"

for b in "$LAB_CACHE" "$LAB_TREE" "${binds[@]}"; do
	bind "$b"
done

# What was compiled from the same lines, in whichever tree, is not compiled again,
# unless there is a header more or less, which could be found before another. ccache
# stands in for gcc, not for cc.
(cd "$LAB_TREE" && find . -path ./build -prune -o -name '*.h' -print | sort) \
	>"$root/run/headers"
export CC=gcc CCACHE_DIR=$LAB_CACHE/ccache CCACHE_BASEDIR=$LAB_TREE
export CCACHE_NOHASHDIR=1 CCACHE_EXTRAFILES=/run/headers CCACHE_MAXSIZE=2G

cd /
export LAB_IN_ROOT=1
# shellcheck disable=SC2016 # expanded inside
exec chroot "$root" /usr/bin/env -u TMPDIR \
	PATH=/usr/lib/ccache:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
	HOME=/root LC_ALL=C.UTF-8 \
	/bin/bash -c 'cd "$1" && shift && "$@"; exit $?' bash "${LAB_CWD:-/}" \
	"$@"
