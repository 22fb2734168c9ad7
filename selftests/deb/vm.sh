# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced by deb.sh: the packages in a root file system, and that in a virtual
# machine with systemd. The root file system is a copy in memory of the lab's
# with Debian's kernels, or one made for this.
#
#   guest_make overlay|fresh    make it, in $GUEST
#   guest_install               install the packages, natively; DKMS compiles
#   guest_boot                  boot it, and run guest.sh there
#   guest_left                  print what purging the packages left

INSTALL=(libinc1 inc-tool inc-perf rdma-inc-dkms openmpi-inc)

# in_guest CMD...: natively, in a chroot.
in_guest()
{
	env LAB_CWD=/ "$LAB_DIR/inroot.sh" "$GUEST" -- "$@"
}

guest_make()
{
	mkdir -p "$WORK/mem"
	mount -t tmpfs -o size=8G none "$WORK/mem" || return
	mkdir "$WORK/mem/up" "$WORK/mem/work" "$WORK/mem/guest"
	GUEST=$WORK/mem/guest
	if [ "$1" = fresh ]; then
		guest_bootstrap
	else
		# DKMS compiles for each kernel that is there: keep one.
		mount -t overlay -o "lowerdir=$VMROOT,upperdir=$WORK/mem/up,workdir=$WORK/mem/work" \
			none "$GUEST" &&
			rm -rf "$GUEST/lib/modules/$(<"$VMROOT/.lab-kver-old")"
	fi || return
	prune_modules || return
	echo force-unsafe-io >"$GUEST/etc/dpkg/dpkg.cfg.d/lab"
	# Nobody needs what the first boot would make.
	touch "$GUEST/etc/.updated" "$GUEST/var/.updated"
}

# Removing the module runs depmod, which takes minutes in an emulator if it has
# to read all of Debian's modules: keep those that the test may need.
prune_modules()
{
	local dir

	for dir in "$GUEST"/lib/modules/*/kernel; do
		(cd "$dir" && rm -rf sound drivers/infiniband/hw &&
			find drivers -mindepth 1 -maxdepth 1 ! -name infiniband \
				! -name net ! -name virtio -exec rm -rf {} + &&
			find drivers/net -mindepth 1 -type d -prune \
				-exec rm -rf {} +) || return
	done
	in_guest depmod -a "$(cd "$GUEST/lib/modules" && printf '%s\n' * |
		sort -V | tail -n 1)"
}

# As small as Debian's installer would not make it.
guest_bootstrap()
{
	local uri

	uri=$(awk '$1 == "deb" { print $2; exit }' "$VMROOT/etc/apt/sources.list")
	mmdebstrap --mode=root --variant=minbase \
		--include=systemd-sysv,iproute2,procps,busybox-static \
		--include="linux-image-amd64/trixie-backports" \
		--include="linux-headers-amd64/trixie-backports" \
		--aptopt='APT::Install-Recommends "false"' \
		--dpkgopt=force-unsafe-io --skip=cleanup/apt/lists \
		--keyring=/usr/share/keyrings/debian-archive-keyring.gpg \
		trixie "$GUEST" "deb $uri trixie main" \
		"deb $uri trixie-updates main" "deb $uri trixie-backports main"
}

# What the packages depend on, besides each other.
depends()
{
	local name

	for name in "${INSTALL[@]}"; do
		dpkg-deb -f "$OUT/$name"_*.deb Depends
	done | tr ',' '\n' | sed 's/^ *//' | grep -vE '^(libinc1|inc-)' | sort -u |
		paste -sd,
}

# Names of all files, besides the lists and caches of others.
guest_files()
{
	(cd "$GUEST" && find . -xdev \( -path ./var/lib/dpkg -o -path ./var/lib/apt \
		-o -path ./var/lib/systemd -o -path ./var/log \
		-o -path ./var/cache -o -path ./proc -o -path ./tmp \
		-o -path ./run -o -path ./work -o -path './var/lib/dkms/mok.*' \
		-o -path ./deb-test -o -path ./etc/machine-id \) -prune \
		-o -print | sort)
}

guest_install()
{
	local name files=()

	mkdir -p "$GUEST/deb-test/newer"
	for name in "${INSTALL[@]}"; do
		cp "$OUT/$name"_*.deb "$GUEST/deb-test/"
		files+=("/deb-test/$name"_*.deb)
	done
	in_guest apt-get update -q &&
		in_guest apt-get -y -q --no-install-recommends satisfy \
			"$(depends), systemd-sysv, iproute2, ibverbs-providers" ||
		return
	guest_files >"$WORK/before"
	in_guest sh -c "apt-get -y -q --no-install-recommends install ${files[*]}" ||
		return
	in_guest dkms status | grep rdma_inc
	# The files that the virtual machine runs.
	cp selftests/deb/guest.sh selftests/lib/ktap.sh "$GUEST/deb-test/" &&
		cp "$WORK"/newer/*.deb "$GUEST/deb-test/newer/" &&
		cp "$WORK/sum" "$GUEST/deb-test/"
	cat >"$GUEST/etc/systemd/system/deb-test.target" <<-END
	[Unit]
	Requires=basic.target deb-test.service
	AllowIsolate=yes
	END
	cat >"$GUEST/etc/systemd/system/deb-test.service" <<-END
	[Unit]
	After=basic.target
	[Service]
	Type=oneshot
	ExecStart=-/deb-test/guest.sh
	ExecStopPost=/bin/sh -c "sync; poweroff -ff"
	StandardOutput=file:/deb-test/output
	StandardError=inherit
	END
	cat >"$GUEST/deb-test/init" <<-'END'
	#!/bin/sh
	mount -o remount,rw /
	exec /lib/systemd/systemd
	END
	chmod +x "$GUEST/deb-test/init"
}

guest_boot()
{
	local kver accel=tcg

	kver=$(cd "$GUEST/lib/modules" && printf '%s\n' * | sort -V | tail -n 1)
	! grep -qx yes "$LAB_CACHE"/.kvm-* 2>/dev/null || accel=kvm
	# shellcheck disable=SC2016	# expanded inside
	timeout "$1" env LAB_CWD=/ "$LAB_DIR/inroot.sh" "$VMROOT" \
		"$GUEST:/mnt" "$GUEST/lib/modules:/lib/modules" -- \
		sh -c '"$0/lab" __vm-initramfs "$1" /tmp/initrd && exec \
		qemu-system-x86_64 -machine "q35,accel=$2" -cpu max -smp 2 -m 1G \
		-nodefaults -no-user-config -display none -serial stdio \
		-no-reboot -kernel "/mnt/boot/vmlinuz-$1" -initrd /tmp/initrd \
		-append "console=ttyS0 loglevel=5 panic=-1 LAB_INIT=/deb-test/init LAB_JOB=none systemd.unit=deb-test.target systemd.show_status=0" \
		-fsdev local,id=root,path=/mnt,security_model=none,multidevs=remap \
		-device virtio-9p-pci,fsdev=root,mount_tag=root' \
		"$LAB_DIR" "$kver" "$accel" </dev/null
}

guest_left()
{
	guest_files >"$WORK/after"
	comm -13 "$WORK/before" "$WORK/after" |
		grep -v '^./etc/systemd/system/deb-test\.'
}
