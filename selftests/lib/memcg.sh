# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Kernel memory that commands make the kernel take, by a memory cgroup. Sourced.

GROUP=/tmp/inc-cgroup

group_up()
{
	mkdir -p "$GROUP" && mount -t cgroup2 none "$GROUP" &&
		echo +memory >"$GROUP/cgroup.subtree_control" &&
		mkdir -p "$GROUP/inc"
}

group_down()
{
	! mountpoint -q "$GROUP" || umount "$GROUP"
}

# in_group CMD: run CMD in the cgroup.
in_group()
{
	sh -c "echo \$\$ >$GROUP/inc/cgroup.procs; $1"
}

# kernel_memory: what the cgroup's commands have made the kernel take, in bytes.
kernel_memory()
{
	awk '$1 == "kernel" { print $2 }' "$GROUP/inc/memory.stat"
}
