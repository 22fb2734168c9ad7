#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs in the lab's root file system, with an overlay that goes away: the packages
# of the manager and the agent are installed, used with their configuration files
# by the users that they made, and purged.
#
#   install.sh DIR      DIR: where the packages are

cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=selftests/lib/ktap.sh
. selftests/lib/ktap.sh

PACKAGES=(rdma-inc-manager rdma-inc-agent inc-amctl libinc1)
LOG=/tmp/log
export DEBIAN_FRONTEND=noninteractive

# What the packages may not leave. Users stay, as usual.
files()
{
	find /etc/rdma_inc /etc/systemd/system /usr/lib/systemd/system \
		/usr/lib/sysusers.d /usr/sbin /usr/lib/x86_64-linux-gnu \
		/usr/share/bash-completion /usr/share/doc /usr/share/man \
		/usr/share/rdma_inc /usr/share/lintian /var/lib -xdev \
		\( -path /var/lib/dpkg -o -path /var/lib/apt \
		-o -path /var/lib/systemd \) -prune -o -print 2>/dev/null | sort
}

# try NAME CMD...
try()
{
	local name=$1

	shift
	"$@" >$LOG 2>&1
	ktap $? "$name" "$(tail -n 20 $LOG)"
}

versions()
{
	local prog

	for prog in inc-amd inc-amctl inc-agentd; do
		"$prog" --version | grep -q "$(<VERSION)" || return
	done
	for prog in inc-amd inc-amctl inc-agentd inc-am-ca; do
		"$prog" --help | grep -qi usage || return
	done
}

units()
{
	systemd-analyze verify --man=no inc-amd.service inc-agentd.service &&
		[ ! -e /etc/systemd/system/multi-user.target.wants/inc-amd.service ] &&
		[ ! -e /etc/systemd/system/multi-user.target.wants/inc-agentd.service ]
}

# start UNIT: what systemd would start, as the user that it would be; the program
# reads the configuration file that the package has placed.
start()
{
	local unit=/usr/lib/systemd/system/$1.service user cmd

	user=$(sed -n 's/^User=//p' "$unit")
	cmd=$(sed -n '/^ExecStart=/{:a;/\\$/{N;s/\\\n//;ba};s/^ExecStart=//p}' "$unit")
	# shellcheck disable=SC2086	# words
	setpriv --reuid "$user" --regid "$user" --init-groups --inh-caps=-all \
		--bounding-set=-all --no-new-privs $cmd >"/tmp/$1.log" 2>&1 &
	PID=$!
}

# wait_for CMD...: for 20 s.
wait_for()
{
	local n

	for ((n = 0; n < 200; n++)); do
		"$@" && return
		sleep 0.1
	done
	return 1
}

manager_up()
{
	inc-amctl topology 2>/dev/null | grep -q "$(uname -n)"
}

run_both()
{
	install -d -o inc-agentd -g inc-agentd /run/inc-agentd
	install -d -m 700 -o inc-amd -g inc-amd /var/lib/rdma_inc
	try "without libnetconf2's package for developers" start_without_dev
	start inc-agentd
	agent=$PID
	wait_for test -S /run/inc-agentd/sock
	ktap $? "the agent listens, as inc-agentd" "$(tail -n 5 /tmp/inc-agentd.log)"
	start inc-amd
	manager=$PID
	wait_for manager_up
	ktap $? "the manager sees the agent, as inc-amd" \
		"$(tail -n 5 /tmp/inc-amd.log; inc-amctl topology 2>&1)"
	stat -c %U /var/lib/rdma_inc/amd.db | grep -qx inc-amd
	ktap $? "its store is its own"
	kill "$manager" "$agent" && wait "$manager" && wait "$agent"
	ktap $? "both end by SIGTERM" "$(tail -n 3 /tmp/inc-a*.log)"
}

no_dev()
{
	! dpkg-query -W -f '${Package}: ${Depends}\n' "${PACKAGES[@]}" |
		grep -E -- '-dev( |,|$)'
}

# Is each package in the page's table?
all_explained()
{
	local name

	while read -r name; do
		grep -qE "^($name |.*[ ;]$name:)" Documentation/install.rst || {
			echo "$name"
			return 1
		}
	done < <(sed -n 's/^Package: //p' debian/control)
}

# Debian has the modules of libnetconf2 with its headers only.
start_without_dev()
{
	mount -t tmpfs none /usr/share/yang/modules/libnetconf2
}

library()
{
	ldconfig && python3 -c '
import ctypes
ctypes.c_void_p.in_dll(ctypes.CDLL("libinc-am.so.1"), "inc_am_ops_2")'
}

left()
{
	files >/tmp/after
	! comm -13 /tmp/before /tmp/after | grep .
}

debs=()
for name in "${PACKAGES[@]}"; do
	debs+=("$1/$name"_*.deb)
done
files >/tmp/before
try "the packages are installed" dpkg -i "${debs[@]}"
try "programs tell their version and options" versions
try "systemd accepts the units, and none is enabled" units
try "users inc-amd and inc-agentd; one may use the other's socket" \
	sh -c 'id inc-agentd && id -nG inc-amd | grep -w inc-agentd'
try "the agent may use lldpd's socket" \
	sh -c 'id -nG inc-agentd | grep -w _lldpd'
try "no package depends on one for developers" no_dev
try "the manager's interface is there" \
	grep -q "^service Manager" /usr/share/rdma_inc/rdma_inc.proto
try "install.rst has all packages" all_explained
try "the library has what libinc looks for" library
run_both
echo "# changed" >>/etc/rdma_inc/amd.conf
try "installed again" dpkg -i --force-confold "${debs[@]}"
grep -q '^# changed' /etc/rdma_inc/amd.conf
ktap $? "a configuration that was changed stays"
try "removed" dpkg -r "${PACKAGES[@]}"
[ -e /etc/rdma_inc/amd.conf ] && [ -e /var/lib/rdma_inc/amd.db ]
ktap $? "which leaves configuration and state"
try "purged" dpkg -P "${PACKAGES[@]}"
try "no file is left" left
ktap_plan
