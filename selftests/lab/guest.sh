#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# guest.sh [uml|vm|host [JOB]]: run a job in the guest. As process 1 of its own
# kernel (uml, vm) it also sets up the system and powers it off. JOB (or
# LAB_JOB) names a file written by run.sh: environment and command.

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export HOME=/tmp LC_ALL=C.UTF-8 TERM=dumb

kind=${1:-uml}
LAB_JOB=${2:-${LAB_JOB:-}}
job_writable=() job_cmd=() job_timeout=0 job_mark=''	# the job says

# writable DIR: bind the host's directory read-write under its own name
writable()
{
	local tag=tree

	mkdir -p "$1"
	if [[ $kind == uml ]]; then
		mount -t hostfs -o "hostfs=$1" none "$1"
	else
		[[ $1 == "$LAB_TREE" ]] || tag=out
		mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000 \
			"$tag" "$1"
	fi
}

setup_system()
{
	local dir

	# First of all: mounts made below may hide the tree.
	# shellcheck disable=SC1090
	. "$LAB_JOB"
	mount -t proc proc /proc
	mount -t sysfs sysfs /sys
	mountpoint -q /dev || mount -t devtmpfs devtmpfs /dev
	mkdir -p /dev/pts /dev/shm
	mount -t devpts -o mode=620,ptmxmode=666 devpts /dev/pts
	ln -sf /proc/self/fd /dev/fd
	ln -sf /proc/self/fd/1 /dev/stdout
	mount -t tmpfs -o mode=1777 tmpfs /dev/shm
	mount -t tmpfs -o mode=1777 tmpfs /tmp
	mount -t tmpfs -o mode=1777 tmpfs /var/tmp
	mount -t tmpfs -o mode=755 tmpfs /run
	mkdir -p /run/lock /run/netns
	for dir in "${job_writable[@]}"; do
		writable "$dir"
	done
}

setup_host()
{
	# shellcheck disable=SC1090
	. "$LAB_JOB"
	# The network namespace is new, so sysfs has to be mounted anew.
	mount -t sysfs sysfs /sys
	lsmod | awk '{ print $1 }' >/run/lab-modules
}

setup_common()
{
	local mod

	echo "$job_mark" >/dev/kmsg
	mountpoint -q /sys/kernel/debug ||
		mount -t debugfs debugfs /sys/kernel/debug
	mountpoint -q /sys/kernel/tracing ||
		mount -t tracefs tracefs /sys/kernel/tracing
	hostname lab
	ip link set lo up
	# All veth of a CPU share its backlog: a burst for each of 1,024 ranks.
	[[ $kind == host ]] || echo 20000 >/proc/sys/net/core/netdev_max_backlog
	# A page fault costs more than all the pages of the file around it.
	[[ $kind != uml ]] ||
		echo $((2 << 20)) >/sys/kernel/debug/fault_around_bytes
	ulimit -l unlimited
	ulimit -c 0
	if [[ -z ${LAB_NO_RXE:-} ]]; then
		for mod in ip6_udp_tunnel udp_tunnel rdma_rxe; do
			modprobe "$mod" || echo "lab: modprobe $mod failed" >&2
		done
	fi
	[[ ! -w /sys/kernel/debug/kmemleak ]] ||
		echo clear >/sys/kernel/debug/kmemleak
	booted=$(jiffies)
}

jiffies()
{
	awk '/^jiffies:/ { print $2; exit }' /proc/timer_list
}

# A little before the time limit, print to the console which tasks are stuck
# where.
watchdog()
{
	local pid

	sleep "$1"
	{
		echo "lab: time is nearly up; processes:"
		ps -o pid,ppid,stat,wchan:24,args --ppid 2 -p 2 --deselect
		for pid in $(ps -eo pid=,stat= |
			awk '$2 ~ /^D/ { print $1 }'); do
			echo "lab: stack of $pid ($(tr '\0' ' ' <"/proc/$pid/cmdline"))"
			cat "/proc/$pid/stack"
		done
	} >"$LAB_OUT/stuck" 2>&1
	cat "$LAB_OUT/stuck" >/dev/console
	# Time that leaps reaches the limit long before the host's clock does.
	[[ -n ${LAB_VIRTUAL:-} ]] || return
	sleep 8
	kill -KILL -1
}

# kmemleak reports an object that two scans found without a reference, and without
# a change in between, and that was older than five seconds in the second.
leaks()
{
	echo scan >/sys/kernel/debug/kmemleak
	sleep 5.5
	echo scan >/sys/kernel/debug/kmemleak
	# Allocations made while booting are not the project's business.
	awk -v booted="$booted" '
		/^unreferenced object/ { object = $0; next }
		object { show = $NF >= booted; if (show) print object; object = "" }
		show' /sys/kernel/debug/kmemleak >"$LAB_OUT/kmemleak"
}

finish_host()
{
	local mod

	for mod in rdma_inc_kunit rdma_inc rdma_rxe; do
		if [[ -d /sys/module/$mod ]] &&
		   ! grep -qx "$mod" /run/lab-modules; then
			rmmod "$mod" || echo "lab: module $mod stays behind" >&2
		fi
	done
}

finish()
{
	if [[ $kind == host ]]; then
		finish_host
	elif [[ -w /sys/kernel/debug/kmemleak &&
		-z ${LAB_NO_KMEMLEAK:-} ]]; then
		leaks
	fi
	dmesg >"$LAB_OUT/dmesg"
}

if [[ $kind == host ]]; then
	setup_host
else
	setup_system
fi
exec </dev/null >>"$LAB_OUT/output" 2>&1
setup_common
LAB_KVER=$(uname -r)
export LAB_KVER
cd "$LAB_TREE" || exit
((job_timeout < 20)) || watchdog $((job_timeout - 8)) &
setsid --wait "${job_cmd[@]}"
rc=$?
[[ $rc != 137 || ! -s $LAB_OUT/stuck ]] || rc=124
finish
echo "$rc" >"$LAB_OUT/status.tmp"
mv "$LAB_OUT/status.tmp" "$LAB_OUT/status"
if [[ $kind != host ]]; then
	sync
	# RB_POWER_OFF
	exec python3 -c 'import ctypes; ctypes.CDLL(None).reboot(0x4321fedc)'
fi
exit "$rc"
