#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The fabric's demo, inside the kernel: every command is run as shown.
#
# Links between switches are routed, so that there is no loop; a management
# network connects the hosts with the manager.

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
# shellcheck source=selftests/mpi/lib.sh
. "$ROOT/selftests/mpi/lib.sh"
# shellcheck source=selftests/demo/show.sh
. "$ROOT/selftests/demo/show.sh"

export PATH="$INC_USER/manager:$INC_USER/agent:$PATH"
export LD_LIBRARY_PATH="$INC_USER/manager:$LD_LIBRARY_PATH"
SPINES=2 LEAVES=4 HOSTS=${HOSTS:-4}	# hosts per leaf
MANAGER=10.99.0.1

at()
{
	local ns=$1

	shift
	ip netns exec "$TOPO-$ns" "$@"
}

# Show a command and run it in a network namespace.
show()
{
	local ns=$1

	shift
	prompt "$ns" "$*"
	at "$ns" "$@" 2>&1 | sed 's/^/      /'
	return "${PIPESTATUS[0]}"
}

give_up()
{
	printf '\nThe demo FAILED: %s\nLogs: %s\n' "$*" "$LAB_OUT"
	exit 1
}

# --- The fabric ------------------------------------------------------------

spaces()
{
	local i

	echo "netns add $TOPO-mgmt"
	for ((i = 0; i < SPINES; i++)); do echo "netns add $TOPO-spine$i"; done
	for ((i = 0; i < LEAVES; i++)); do echo "netns add $TOPO-leaf$i"; done
	for ((i = 0; i < LEAVES * HOSTS; i++)); do echo "netns add $TOPO-h$i"; done
}

# A leaf's bridge, its hosts, and its routed links to the spines.
leaf_up()
{
	local l=$1 i h

	{
		echo "link set lo up"
		echo "link add br0 type bridge mcast_snooping 0"
		echo "addr add 10.47.$l.1/24 dev br0"
		echo "link set br0 up"
		for ((i = 0; i < HOSTS; i++)); do
			h=$((l * HOSTS + i))
			echo "link add host$h type veth peer name eth0 netns $TOPO-h$h"
			echo "link set host$h master br0 up"
		done
		for ((i = 0; i < SPINES; i++)); do
			echo "link add up$i type veth peer name leaf$l netns $TOPO-spine$i"
			echo "addr add 10.47.$((100 + i * LEAVES + l)).2/24 dev up$i"
			echo "link set up$i up"
		done
	} | ip -n "$TOPO-leaf$l" -batch - || return
	for ((i = 0; i < SPINES; i++)); do
		ip -n "$TOPO-spine$i" -batch - <<-END || return
		link set lo up
		addr add 10.47.$((100 + i * LEAVES + l)).1/24 dev leaf$l
		link set leaf$l up
		END
	done
}

host_up()
{
	local h=$1

	ip -n "$TOPO-mgmt" -batch - <<-END || return
	link add m$h type veth peer name mg0 netns $TOPO-h$h
	link set m$h master br0 up
	END
	ip -n "$TOPO-h$h" -batch - <<-END || return
	link set lo up
	addr add $(data_ip "$h")/24 dev eth0
	link set eth0 up
	addr add $(mgmt_ip "$h")/24 dev mg0
	link set mg0 up
	END
	at "h$h" rdma link add "$TOPO$h" type rxe netdev eth0
}

data_ip()
{
	echo "10.47.$(($1 / HOSTS)).$((10 + $1 % HOSTS))"
}

mgmt_ip()
{
	echo "10.99.0.$((10 + $1))"
}

fabric_up()
{
	local i

	# The table is that of all namespaces together: a link whose neighbour was
	# forgotten would not be known any more.
	sysctl -qw net.ipv4.neigh.default.gc_thresh1=4096
	spaces | ip -batch - || return
	ip -n "$TOPO-mgmt" -batch - <<-END || return
	link set lo up
	link add br0 type bridge mcast_snooping 0
	addr add $MANAGER/24 dev br0
	link set br0 up
	END
	for ((i = 0; i < LEAVES; i++)); do leaf_up $i || return; done
	for ((i = 0; i < LEAVES * HOSTS; i++)); do host_up $i || return; done
}

# All that switches know of others is what they have sent.
greet()
{
	local i s

	for ((i = 0; i < LEAVES; i++)); do
		for ((s = 0; s < SPINES; s++)); do
			at "leaf$i" ping -qc 1 "10.47.$((100 + s * LEAVES + i)).1" &
		done
	done
	for ((i = 0; i < LEAVES * HOSTS; i++)); do
		at "h$i" ping -qc 1 "10.47.$((i / HOSTS)).1" &
	done
	wait
} >/dev/null

fabric_down()
{
	local ns

	# shellcheck disable=SC2046	# words
	kill $(jobs -p) 2>/dev/null
	wait
	umount /etc/hosts 2>/dev/null
	for ns in $(ip netns list | grep -o "^$TOPO-[a-z0-9]*"); do
		ip netns del "$ns"
	done
	inc_unload
	rm -rf "$MPI_WORK"
}

# --- Manager and agents ----------------------------------------------------

switches()
{
	local i

	for ((i = 0; i < SPINES; i++)); do echo "spine$i"; done
	for ((i = 0; i < LEAVES; i++)); do echo "leaf$i"; done
}

agents_up()
{
	local name

	for name in $(switches); do
		# The job's PID has to be the program's.
		ip netns exec "$TOPO-$name" inc-agentd -u "/tmp/$name" \
			-i "$name" -y "$ROOT/userspace/agent/yang" \
			>"agentd-$name.log" 2>&1 &
	done
	for name in $(switches); do
		wait_for 60 test -S "/tmp/$name" || return
	done
}

manager_up()
{
	{
		echo "listen $MANAGER:18790"
		echo "store sqlite:$LAB_OUT/amd.db"
		echo "allow 10.47.0.0/16"
		for name in $(switches); do
			echo "switch /tmp/$name"
		done
		[ -z "$MANAGER_LINES" ] || echo "$MANAGER_LINES"
	} >manager.conf
	sed 's/^/      /' manager.conf
	ip netns exec "$TOPO-mgmt" inc-amd --config manager.conf >amd.log 2>&1 &
	wait_for 60 grep -q listening amd.log
}

ctl()
{
	show mgmt inc-amctl -m "$MANAGER" "$@"
}

all_known()
{
	at mgmt inc-amctl -m "$MANAGER" -j topology | python3 -c '
import json, sys
t = json.load(sys.stdin)
sys.exit({s["state"] for s in t["switches"]} != {"up"} or
	 len(t["hosts"]) != int(sys.argv[1]) or len(t["links"]) != int(sys.argv[2]))
' $((LEAVES * HOSTS)) "$1" 2>/dev/null
}

# It starts while the ranks do. A browser takes the only CPU for seconds, and ranks
# have heartbeats.
browser_up()
{
	mkfifo to-browser from-browser
	at mgmt nice -n 19 python3 "$ROOT/selftests/fabric/page.py" \
		http://127.0.0.1:18789/ - <to-browser >from-browser \
		2>browser.log &
	exec {TO}>to-browser {FROM}<from-browser
}

picture()
{
	local answer

	echo "$LAB_OUT/$1.png" >&"$TO"
	read -rt 90 answer <&"$FROM" && [ "$answer" = there ]
}

# --- Jobs ------------------------------------------------------------------

hosts_file()
{
	local i

	echo "127.0.0.1 localhost"
	echo "$MANAGER $TOPO-mgmt"
	for ((i = 0; i < LEAVES * HOSTS; i++)); do
		echo "$(mgmt_ip $i) $TOPO-h$i"
	done
}

# job LOG ARGS...: an MPI program, a rank on each host.
job()
{
	local log=$1 list='' i

	shift
	for ((i = 0; i < LEAVES * HOSTS; i++)); do
		list+=",$TOPO-h$i:1"
	done
	ip netns exec "$TOPO-mgmt" \
		unshare --uts sh -c "hostname $TOPO-mgmt; exec \"\$@\"" mpi \
		env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
		PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
		OMPI_MCA_mpi_yield_when_idle=1 INC_AM="$MANAGER" \
		INC_AM_ON_FAILURE=rebuild HWLOC_PLUGINS_PATH=/none \
		timeout 300 "$MPI_DIR/mpirun-inc" -V -x INC_AM -x INC_AM_ON_FAILURE \
		-x HWLOC_PLUGINS_PATH \
		--prtemca plm ssh --prtemca plm_ssh_agent "$MPI_WORK/agent" \
		--prtemca prte_if_include mg0,br0 --map-by ppr:1:node \
		-H "${list#,}" -n $((LEAVES * HOSTS)) --oversubscribe \
		--mca pml ob1 --mca btl self,tcp --mca btl_tcp_if_include mg0 \
		--mca coll_inc_meet_after 1 --mca coll_inc_join_timeout_ms 60000 \
		"$@" >"$log" 2>&1 </dev/null
}

root_of()
{
	at mgmt inc-amctl -m "$MANAGER" -j why "$GROUP" 2>/dev/null |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["root"])' \
		2>/dev/null
}

# The group is ready, over another root.
other_root()
{
	local root

	root=$(root_of)
	[ -n "$root" ] && [ "$root" != "$FIRST" ] && group_is ready
}

group_is()
{
	at mgmt inc-amctl -m "$MANAGER" group 2>/dev/null | grep -q "$1"
}

mpi_agent()
{
	cat >"$MPI_WORK/agent" <<-'END'
	#!/bin/sh
	while [ "${1#-}" != "$1" ]; do shift; done
	h=$1; shift
	# In this kernel all devices can be seen from everywhere. Without hwloc's
	# plugins (OpenCL, X11, ...), daemons and ranks start in half the time.
	export INC_DEV=${h%-h*}${h##*-h} HWLOC_PLUGINS_PATH=/none
	exec nsenter --net=/run/netns/$h unshare --uts /bin/sh -c "hostname $h; $*"
	END
	chmod +x "$MPI_WORK/agent"
	hosts_file >"$MPI_WORK/hosts"
	mount --bind "$MPI_WORK/hosts" /etc/hosts
}

draw()
{
	cat <<-END

	            spine0              spine1          inc-agentd on each switch,
	          //  |  \\\\          //  |  \\\\         inc-amd beside them
	       leaf0  leaf1   leaf2   leaf3             routed links, no loop
	       h0-3   h4-7    h8-11   h12-15            stock rdma_rxe on each
	END
}

# --- The demo --------------------------------------------------------------

cd "$LAB_OUT" || exit 1
rm -f amd.db* ./*-browser
# The management network is nobody else's.
MANAGER_LINES='insecure-plaintext'
trap fabric_down EXIT
trap 'exit 130' INT TERM

step "2 spines, 4 leaves, 16 hosts: namespaces, veth, stock rxe ($(uname -r))"
inc_load || give_up "insmod"
fabric_up || give_up "the fabric could not be made"
draw
greet

step "An agent on each switch, and the manager with its configuration file"
agents_up || give_up "inc-agentd: $(cat agentd-*.log)"
echo "  SWITCH# inc-agentd -u /tmp/SWITCH -i SWITCH &"
echo "  mgmt#   inc-amd --config manager.conf &"
manager_up || give_up "inc-amd: $(cat amd.log)"
wait_for 60 all_known 8 || give_up "the manager does not know all: $(
	at mgmt inc-amctl -m "$MANAGER" topology)"
ctl topology

step "An MPI job of 16 ranks, over the tree that the manager computes"
mpi_agent
rm -f stop
echo "  mgmt#   INC_AM=$MANAGER INC_AM_ON_FAILURE=rebuild mpirun-inc -V -n 16 fabric-job 500"
job job.log "$INC_USER/ompi/fabric-job" 500 &
JOB=$!
browser_up
wait_for 150 group_is ready || give_up "no group: $(tail -n 5 job.log)"
GROUP=$(at mgmt inc-amctl -m "$MANAGER" group | awk 'NR == 1 { print $2 }')
GROUP=${GROUP%:}
ctl group show "$GROUP"
ctl why "$GROUP"
ctl task
FIRST=$(root_of)
picture before || give_up "no picture of the page"

step "The link between leaf0 and $FIRST is cut: the job goes on over another tree"
show leaf0 ip link set "up${FIRST#spine}" down
wait_for 60 other_root || give_up "there is no other tree: $(
	at mgmt inc-amctl -m "$MANAGER" event)"
ctl group show "$GROUP"
ctl why "$GROUP"
ctl event
picture after || give_up "no picture of the page"
touch stop
wait "$JOB" || give_up "the job failed: $(tail -n 3 job.log)"
grep -hE "coll/inc|right|WRONG" job.log | head -n 4 | sed 's/^/      /'
grep -q "every sum is right on $((LEAVES * HOSTS)) ranks" job.log &&
	grep -q "through the switch" job.log || give_up "$(tail -n 3 job.log)"

step "Away with it"
trap - EXIT
fabric_down
printf '\nThe demo worked.\n'
