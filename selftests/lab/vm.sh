# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by lab: Debian's own kernels in QEMU. The guest gets the root file
# system by 9p, read-only, and the tree writable. A small initramfs made for
# each kernel mounts it and starts guest.sh.

LAB_REV_VM=1
LAB_REV_KERNEL=1

vm_path()
{
	if [[ -e /.lab-kver-new ]]; then
		echo /	# we are inside it
	else
		echo "$LAB_CACHE/vmroot-$(key "$LAB_REV_VM" "${LAB_ROOTFS##*-}" "$(packages packages-vm)")"
	fi
}

# Runs inside the copy (lab __vm-install).
vm_install()
{
	local list

	mapfile -t list < <(packages packages-vm)
	# nobody boots the initramfs that this would make
	dpkg-divert --local --rename --divert /var/lib/initramfs-tools-hook \
		--add /etc/kernel/postinst.d/initramfs-tools || return
	apt-get update &&
		"${APT_GET[@]}" install "linux-image-amd64/$LAB_SUITE" \
			"linux-headers-amd64/$LAB_SUITE" "${list[@]}" &&
		"${APT_GET[@]}" install -t "$LAB_SUITE-backports" \
			linux-image-amd64 linux-headers-amd64 &&
		apt-get clean || return
	# shellcheck disable=SC2012 # names of kernels
	ls -v /lib/modules | head -n 1 >/.lab-kver-old
	# shellcheck disable=SC2012
	ls -v /lib/modules | tail -n 1 >/.lab-kver-new
	printf '%s\n' "$LAB_MIN_KERNEL" "$(</.lab-kver-new)" | sort -VC ||
		{
			echo "$LAB_SUITE-backports has no kernel >= $LAB_MIN_KERNEL"
			return 1
		}
}

make_vm()
{
	echo "copying the root file system"
	cp -a --reflink=auto "$LAB_ROOTFS/." "$1/" &&
		rm -f "$1/.lab-complete" &&
		LAB_CWD=/ in_root "$1" -- "$LAB_DIR/lab" __vm-install
}

prepare_vm_locked()
{
	local final

	final=$(vm_path)
	have "$final" && return 0
	need_space 3 "the root file system with Debian's kernels"
	say "vm: a copy of the root file system with Debian's kernels and QEMU"
	new_tmp vmroot
	step vm "$LAB_LOGS/vm.log" make_vm "$TMP_DIR" || return
	publish "$final"
}

prepare_vm()
{
	[[ $(vm_path) != / ]] || return 0
	have "$(vm_path)" && return 0
	prepare_rootfs && with_lock vm prepare_vm_locked
}

# Debian's newest kernel of version LAB_MIN_KERNEL, or with "rt" its newest one that
# is fully preemptible, unpacked separately: laid over the piece vm (LAB_OVER), which
# has older and newer ones.
kernel_path()
{
	echo "$LAB_CACHE/kernel-${1:+$1-}$(key "$LAB_REV_KERNEL" "$LAB_SUITE" "$LAB_MIN_KERNEL")"
}

make_kernel()
{
	local dir=$1 apt=$1/.apt kver short deb version=${LAB_MIN_KERNEL//./\\.}
	local flavour=${2:+$2-}amd64

	[[ -z $2 ]] || version='[0-9]+\.[0-9]+'

	mkdir -p "$apt" "$dir/usr/lib" && ln -s usr/lib "$dir/lib" || return
	echo "deb [signed-by=$(keyring)] $LAB_MIRROR_URI $LAB_SUITE-backports main" >"$apt/sources.list"
	aside_apt "$apt" apt-get update || return
	kver=$(aside_apt "$apt" apt-cache search --names-only \
		"^linux-binary-$version\.[0-9]+\+deb[0-9]+-$flavour\$" |
		awk '{ print $1 }' | sort -V | tail -n 1)
	kver=${kver#linux-binary-} short=${kver%-"$flavour"}
	[[ -n $kver ]] || {
		echo "$LAB_SUITE-backports has no kernel ${2:-$LAB_MIN_KERNEL}"
		return 1
	}
	(cd "$apt" && aside_apt "$apt" apt-get download \
		"linux-binary-$kver" "linux-modules-$kver" "linux-base-$kver" \
		"linux-headers-$kver" "linux-headers-$short-common" \
		"linux-kbuild-$short") || return
	for deb in "$apt"/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" |
			tar x --keep-directory-symlink -C "$dir" || return
	done
	rm -rf "$apt"
	# where the package's script would copy it
	mkdir -p "$dir/boot" &&
		cp "$dir/lib/modules/$kver/vmlinuz" "$dir/boot/vmlinuz-$kver" &&
		LAB_CWD=/ in_root "$LAB_ROOTFS" -- depmod -b "$dir" "$kver" &&
		echo "$kver" >"$dir/.lab-kver"
}

prepare_kernel_locked()
{
	local which=$1 name=kernel${1:+-$1} final

	final=$(kernel_path "$which")
	have "$final" && return 0
	need_space 1 "Debian's kernel ${which:-$LAB_MIN_KERNEL}"
	find_mirror
	say "$name: Debian's newest ${which:-$LAB_MIN_KERNEL}"
	new_tmp "$name"
	step "$name" "$LAB_LOGS/$name.log" make_kernel "$TMP_DIR" "$which" ||
		return
	publish "$final"
}

# prepare_kernel [rt]
prepare_kernel()
{
	have "$(kernel_path "${1:-}")" && return 0
	prepare_rootfs &&
		with_lock "kernel${1:+-$1}" prepare_kernel_locked "${1:-}"
}

# Runs inside (lab __vm-initramfs): KVER FILE
vm_initramfs()
{
	local kver=$1 out=$2 dir line

	dir=$(mktemp -d) || return
	find "$LAB_CACHE" -maxdepth 1 -name 'initramfs-*' -mmin +120 -delete
	mkdir -p "$dir"/{bin,proc,sys,dev,mods,newroot}
	cp /bin/busybox "$dir/bin/"
	ln -s busybox "$dir/bin/sh"
	# in loading order, each once, not compressed
	for line in virtio_pci 9pnet_virtio 9p; do
		modprobe -S "$kver" --show-depends "$line" || return
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >"$dir/list"
	while read -r line; do
		case $line in
		*.xz) xz -dc "$line" ;;
		*.zst) zstd -qdc "$line" ;;
		*.gz) gzip -dc "$line" ;;
		*) cat "$line" ;;
		esac >"$dir/mods/$(basename "$line" | sed 's/\.ko.*/.ko/')" ||
			return
		basename "$line" | sed 's/\.ko.*/.ko/' >>"$dir/mods/order"
	done <"$dir/list"
	cat >"$dir/init" <<'EOF'
#!/bin/sh
export PATH=/bin
busybox mount -t proc proc /proc
busybox mount -t devtmpfs dev /dev
while read -r m; do busybox insmod "/mods/$m"; done </mods/order
for w in $(busybox cat /proc/cmdline); do
	case $w in LAB_*=*) export "$w" ;; esac
done
[ -z "$LAB_PROBE" ] || {
	echo "lab: probe passed" >/dev/console
	busybox poweroff -f
}
opt=ro,trans=virtio,version=9p2000.L,cache=loose,msize=512000
busybox mount -t 9p -o "$opt" root /newroot || exec busybox poweroff -f
busybox umount /proc
busybox mount --move /dev /newroot/dev
exec busybox switch_root /newroot "$LAB_INIT" vm "$LAB_JOB"
EOF
	chmod +x "$dir/init"
	(cd "$dir" && find . | cpio -o -H newc --quiet) >"$out.tmp" &&
		mv "$out.tmp" "$out"
}

# start_vm new|old|min|rt CPUS MEM PIN [PROBE]; min: LAB_MIN_KERNEL
start_vm()
{
	local which=$1 cpus=$2 mem=$3 pin=$4 probe=${5:-} kver initrd accel \
		tag args=() kernel binds=()

	case $which in
	min | rt)
		export LAB_OVER
		LAB_OVER=$(kernel_path "${which#min}")
		kver=$(<"$LAB_OVER/.lab-kver")
		;;
	*)	kver=$(<"$(vm_path)/.lab-kver-$which") ;;
	esac
	initrd=$LAB_CACHE/initramfs-$kver-$(key "@$LAB_DIR/vm.sh")
	[[ -e $initrd ]] || LAB_CWD=/ in_root "$(vm_path)" -- "$LAB_DIR/lab" \
		__vm-initramfs "$kver" "$initrd" || return
	if [[ -n $probe ]]; then
		accel=$probe
	elif vm_kvm_works; then
		accel=kvm
	else
		accel=tcg
	fi
	[[ -z $pin ]] || args=(taskset -c "$pin")
	# Where others have the CPU, the emulator's timer seems not to tick.
	kernel="console=ttyS0 loglevel=8 panic=-1 printk.time=1 no_timer_check"
	if [[ -n $probe ]]; then
		kernel+=" LAB_PROBE=1 quiet"
	else
		kernel+=" LAB_INIT=$LAB_DIR/guest.sh LAB_JOB=$LAB_OUT/job"
	fi
	args+=(qemu-system-x86_64 -machine "q35,accel=$accel" -cpu max
		-smp "$cpus" -m "$mem"
		-nodefaults -no-user-config -display none -serial stdio
			-no-reboot
		-kernel "/boot/vmlinuz-$kver" -initrd "$initrd"
			-append "$kernel")
	tag=root
	for dir in / "$LAB_TREE" "$LAB_OUT"; do
		args+=(-fsdev "local,id=$tag,path=$dir,security_model=none,multidevs=remap"
			-device "virtio-9p-pci,fsdev=$tag,mount_tag=$tag")
		case $tag in
		root) tag=tree ;;
		tree) tag=out ;;
		esac
	done
	[[ $LAB_OUT/ == "$LAB_TREE"/* ]] || binds+=("$LAB_OUT")
	LAB_CWD=/ in_root "$(vm_path)" "${binds[@]}" -- "${args[@]}"
}

# Does a kernel really boot under KVM here? /dev/kvm alone does not prove it.
# Remember the answer until the machine reboots.
vm_kvm_works()
{
	local verdict log

	[[ -w /dev/kvm ]] || return 1
	verdict=$LAB_CACHE/.kvm-$(</proc/sys/kernel/random/boot_id)
	if [[ ! -e $verdict ]]; then
		rm -f "$LAB_CACHE"/.kvm-*
		log=$LAB_LOGS/kvm-probe.log
		say "vm: trying whether KVM works (at most 20 s)"
		(trap - EXIT; start_vm new 1 512M "" kvm) >"$log" 2>&1 \
			</dev/null &
		LAB_PIDS+=("$!")
		vm_wait "$!" 20
		if grep -q 'lab: probe passed' "$log"; then
			echo yes >"$verdict"
		else
			echo no >"$verdict"
		fi
		say "vm: KVM works here: $(<"$verdict")"
	fi
	[[ $(<"$verdict") == yes ]]
}

# vm_wait PID SECONDS
vm_wait()
{
	local n

	for ((n = 0; n < $2 * 5; n++)); do
		kill -0 "$1" 2>/dev/null || break
		doze 0.2
	done
	kill_job "$1"
	wait "$1" 2>/dev/null
	forget_pid "$1"
}
