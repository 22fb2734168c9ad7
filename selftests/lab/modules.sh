# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by lab: builds the tree's module for the lab's kernels, and a driver of
# the kernel's own.

help_modules()
{
	cat <<EOF
Usage: lab modules KIND DIR [MAKE-ARGS...]

Copies Kbuild, VERSION and kernel/ of the tree to DIR and builds the module
there, with W=1 and CONFIG_INFINIBAND_INC_FAULT=y, for KIND: uml, uml-smp,
uml-debug, 6.12, 7.2, rt and newest (Debian's headers), or host (the running
kernel). Only warnings and errors are shown; everything is in DIR/make.log.
MAKE-ARGS go to make, C=1 CHECK=... too.

With KIND bonding: the kernel's bonding driver, which uml does not have. With
KIND rxe: the kernel's rdma_rxe with the patch of Documentation/upstream. With
KIND pktgen: inc_pktgen of selftests/bench, for uml; pktgen-debug, pktgen-smp.
EOF
}

# kdir KIND: that kernel's build directory, as make sees it.
kdir()
{
	case $1 in
	uml | bonding | rxe | pktgen) uml_path up ;;
	uml-*) uml_path "${1#uml-}" ;;
	pktgen-*) uml_path "${1#pktgen-}" ;;
	6.12) echo "/lib/modules/$(<"$(vm_path)/.lab-kver-old")/build" ;;
	7.2) echo "/lib/modules/$(<"$(kernel_path)/.lab-kver")/build" ;;
	rt) echo "/lib/modules/$(<"$(kernel_path rt)/.lab-kver")/build" ;;
	newest) echo "/lib/modules/$(<"$(vm_path)/.lab-kver-new")/build" ;;
	host) echo "/lib/modules/$(uname -r)/build" ;;
	esac
}

# Runs where the compiler is: KIND KDIR DIR MAKE-ARGS...
modules_build()
{
	local kind=$1 kdir=$2 dir=$3 arch=() rc=0 folder
	shift 3

	[[ $kind != uml* ]] || arch=(ARCH=um)
	mkdir -p "$dir" || return
	# keep built files, remove those whose source is gone from the tree
	for folder in "$dir"/kernel/*/; do
		[[ -d $LAB_TREE/kernel/$(basename "$folder") ]] ||
			rm -rf "$folder"
	done
	rsync -a --delete --exclude='*.o' --exclude='*.ko' --exclude='*.mod' \
		--exclude='*.mod.c' --exclude='.*.cmd' --exclude='*.d' \
		--exclude=Module.symvers --exclude=modules.order \
		--exclude=/make.log --exclude=/.kernel \
		--exclude='.module-common.o' \
		"$LAB_TREE"/{Kbuild,VERSION,kernel} "$dir/" || return
	# objects of another kernel are useless
	if [[ $(cat "$dir/.kernel" 2>/dev/null) != "$kdir" ]]; then
		find "$dir" \( -name '*.o' -o -name '*.ko' -o -name '.*.cmd' \
			-o -name '*.mod*' \) -delete
		echo "$kdir" >"$dir/.kernel"
	fi
	make -s -C "$kdir" "${arch[@]}" M="$dir" W=1 \
		CONFIG_INFINIBAND_INC_FAULT=y -j"$(nproc)" "$@" modules \
		>"$dir/make.log" 2>&1 || rc=$?
	grep -vE '^(Skipping BTF generation|warning: the compiler differs|  (The kernel was built|You are using)|make(\[[0-9]+\])?: (Entering|Leaving|Warning: File .* in the future|warning:  Clock skew))' "$dir/make.log" |
		sed "s|$dir/||g"
	return "$rc"
}

# Runs where the compiler is: bonding|rxe|pktgen KDIR DIR
driver_build()
{
	local kdir=$2 dir=$3 from=$2/source/drivers/net/bonding
	local config=CONFIG_BONDING

	case $1 in
	rxe)	from=$kdir/source/drivers/infiniband/sw/rxe config=CONFIG_RDMA_RXE ;;
	pktgen*) from=$LAB_TREE/selftests/bench/pktgen config=CONFIG_INC_PKTGEN ;;
	esac
	mkdir -p "$dir" &&
		rsync -a --include='*.[ch]' --include=Makefile --include=Kbuild \
			--exclude='*' "$from/" "$dir/" || return
	if [[ $1 == rxe ]]; then
		patch -s -d "$dir" -p5 \
			<"$LAB_TREE/Documentation/upstream/rxe-place.patch" ||
			return
	fi
	make -s -C "$kdir" ARCH=um M="$dir" "$config=m" -j"$(nproc)" \
		modules >"$dir/make.log" 2>&1 || {
		cat "$dir/make.log"
		return 1
	}
}

cmd_modules()
{
	local kind=${1:-} dir=${2:-} root=$LAB_ROOTFS

	case $kind in
	-h | --help) help_modules; return 0 ;;
	uml | bonding | rxe | pktgen) prepare_uml up || return ;;
	uml-* | pktgen-*) prepare_uml "${kind#*-}" || return ;;
	6.12 | newest) prepare_vm || return; root=$(vm_path) ;;
	7.2 | rt)
		prepare_vm && prepare_kernel "${kind#7.2}" || return
		root=$(vm_path)
		export LAB_OVER
		LAB_OVER=$(kernel_path "${kind#7.2}")
		;;
	host) root=/ ;;
	*) help_modules >&2; return 2 ;;
	esac
	[[ -n $dir ]] || { help_modules >&2; return 2; }
	[[ -e $LAB_TREE/Kbuild ]] || die "modules: the tree has no Kbuild"
	shift 2
	dir=$(realpath -m "$dir")
	[[ $dir/ == "$LAB_TREE"/?* ]] || die "modules: DIR must lie in the tree"
	need_root
	if [[ $kind == bonding || $kind == rxe || $kind == pktgen* ]]; then
		enter "$root" "$LAB_DIR/lab" __driver "$kind" \
			"$(kdir "$kind")" "$dir"
	elif [[ $kind == host ]]; then
		modules_build host "$(kdir host)" "$dir" "$@"
	else
		enter "$root" "$LAB_DIR/lab" __modules "$kind" \
			"$(kdir "$kind")" "$dir" "$@"
	fi
}
