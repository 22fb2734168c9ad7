#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs in the virtual machine of vm.sh, as a unit of its systemd: the daemon's
# unit, an AllReduce by the packaged tools, an MPI program, an upgrade while the
# daemon runs, removal, purge. Beside it lie ktap.sh, the packages, and newer/
# with inc-tool of a later version.

cd "$(dirname "$0")" || exit 1
. ./ktap.sh

PACKAGES=(inc-tool inc-perf libinc1 openmpi-inc rdma-inc-dkms)
SERVER=10.9.0.254
export TERM=dumb DEBIAN_FRONTEND=noninteractive HOME=/root

# is UNIT-PROPERTY VALUE
is()
{
	[ "$(systemctl show -P "$1" inc-serve)" = "$2" ]
}

# patient CMD...: until it succeeds, for 60 s.
patient()
{
	local n

	for ((n = 0; n < 120; n++)); do
		"$@" && return
		sleep 0.5
	done
	return 1
}

listens()
{
	ss -Hltn 'sport = 18791' | grep -q .
}

unit()
{
	local pid

	! is ActiveState active && ! systemctl -q is-enabled inc-serve
	ktap $? "the daemon is neither enabled nor started by the package"
	[ ! -d /sys/module/rdma_inc ] && systemctl enable --now inc-serve 2>&1
	ktap $? "systemctl enable --now inc-serve"
	patient listens
	ktap $? "the daemon listens"
	modinfo -F filename rdma_inc | grep -q /updates/dkms/ &&
		[ -d /sys/module/rdma_inc ]
	ktap $? "which has loaded the module that DKMS compiled"
	pid=$(systemctl show -P MainPID inc-serve)
	grep -q '^CapEff:[[:space:]]*0*1000$' "/proc/$pid/status" &&
		grep -q '^CapBnd:[[:space:]]*0*1000$' "/proc/$pid/status"
	ktap $? "its only capability is CAP_NET_ADMIN"
	! grep -qE '^Uid:[[:space:]]*0\b' "/proc/$pid/status" &&
		grep -q '^Seccomp:[[:space:]]*2$' "/proc/$pid/status"
	ktap $? "it is not root, and its system calls are filtered"
}

network()
{
	local r

	ip link add br0 type bridge && ip addr add $SERVER/24 dev br0 &&
		ip link set br0 up || return
	for r in 0 1; do
		ip netns add h$r &&
			ip link add v$r master br0 type veth peer name eth0 netns h$r &&
			ip link set v$r up &&
			ip -n h$r addr add 10.9.0.1$r/24 dev eth0 &&
			ip -n h$r link set eth0 up && ip -n h$r link set lo up &&
			ip netns exec h$r rdma link add rxe$r type rxe netdev eth0 ||
			return
	done
}

# allreduce NAME: on both hosts; inc-perf compares the results with its own.
allreduce()
{
	local pids=() r rc=0

	for r in 0 1; do
		timeout 120 ip netns exec h$r inc-perf -S $SERVER -J "$1" -r $r \
			-n 2 --check --count 1000 -i 2 allreduce 2>&1 &
		pids+=($!)
	done
	for r in "${pids[@]}"; do
		wait "$r" || rc=1
	done
	ktap $rc "$1: an AllReduce by inc-perf"
}

# The same program, as ranks of two hosts that PRRTE tells apart by name.
mpi()
{
	local out

	cat >agent <<-'END'
	#!/bin/sh
	while [ "${1#-}" != "$1" ]; do shift; done
	h=$1; shift
	exec nsenter --net=/run/netns/$h unshare --uts /bin/sh -c "hostname $h; $*"
	END
	chmod +x agent
	printf '%s\n' '127.0.0.1 localhost' '10.9.0.10 h0' '10.9.0.11 h1' \
		>/run/hosts
	mount --bind /run/hosts /etc/hosts
	out=$(OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
		OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_coll_inc_stats=2 \
		OMPI_MCA_coll_inc_meet_after=1 \
		timeout 300 mpirun-inc -S $SERVER --prtemca plm ssh \
		--prtemca plm_ssh_agent "$PWD/agent" \
		--prtemca prte_if_include br0,eth0 -H h0:1,h1:1 -n 2 \
		--mca pml ob1 --mca btl self,tcp \
		--mca btl_tcp_if_include eth0 ./sum 2>&1)
	echo "$out"
	umount /etc/hosts
	grep -qx 'size 2 sum 1' <<<"$out" &&
		grep -q 'allreduce: 1 through the switch' <<<"$out"
	ktap $? "mpirun-inc: an MPI program's AllReduce went through the switch"
}

upgrade()
{
	local pid

	pid=$(systemctl show -P MainPID inc-serve)
	dpkg -i newer/inc-tool_*.deb 2>&1
	ktap $? "inc-tool is upgraded while the daemon runs"
	patient listens && is ActiveState active && ! is MainPID "$pid" &&
		systemctl -q is-enabled inc-serve
	ktap $? "the daemon was restarted, and is still enabled"
	allreduce upgraded
	dpkg -r inc-tool 2>&1 && ! listens
	ktap $? "inc-tool is removed, and the daemon is stopped"
	dpkg -i inc-tool_*.deb 2>&1 && systemctl start inc-serve &&
		patient listens
	ktap $? "and installed again"
}

purge()
{
	apt-get -y purge "${PACKAGES[@]}" 2>&1
	ktap $? "apt-get purge"
	[ ! -d /sys/module/rdma_inc ] && ! listens && ! pgrep inc-tool
	ktap $? "the module is unloaded, and the daemon gone"
	[ "$(systemctl show -P LoadState inc-serve)" = not-found ]
	ktap $? "systemd knows no inc-serve any more"
}

# phase NAME CMD: with the time that it takes.
phase()
{
	local since=$SECONDS

	"${@:2}"
	echo "# $1: $((SECONDS - since)) s"
}

echo "# systemd runs after $(cut -d. -f1 /proc/uptime) s; $(uname -r)"
phase unit unit
network 2>&1
ktap $? "two hosts with rdma_rxe"
phase AllReduce allreduce installed
[ ! -e sum ] || phase MPI mpi
phase upgrade upgrade
phase purge purge
ktap_plan
