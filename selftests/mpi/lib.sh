# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# MPI jobs whose ranks are in the hosts' namespaces, mpirun on the bridge host.
# Sourced after lib/suite.sh.

MPI_DIR=${MPI_DIR:-$INC_USER/ompi}
MPI_WORK=$(mktemp -d)
MPI_ARGS=()
# Transport of point-to-point messages.
MPI_TRANSPORT=(--mca pml ob1 --mca btl "self,sm,tcp"
	--mca btl_tcp_if_include eth0)
MPI_LIMIT=120	# seconds for a job
# coll_inc_meet_after: most tests want each operation at the switch. Empty: the
# default.
MPI_MEET=1
# coll_inc_try_timeout_ms: what a job tells of how it went is the same on any machine.
MPI_TRY=$(scaled 3000)

mpi_hosts_file()
{
	local r

	echo "127.0.0.1 localhost"
	echo "$(topo_ip4 sw) $TOPO-sw"
	for ((r = 0; r < TOPO_N; r++)); do
		echo "$(topo_ip4 "$r") $TOPO-h$r"
	done
}

# mpi_nodes: each host is a node of PRRTE, which tells nodes apart by their names.
mpi_nodes()
{
	cat >"$MPI_WORK/agent" <<-'END'
	#!/bin/sh
	while [ "${1#-}" != "$1" ]; do shift; done
	h=$1; shift
	exec nsenter --net=/run/netns/$h unshare --uts /bin/sh -c "hostname $h; $*"
	END
	chmod +x "$MPI_WORK/agent"
	mpi_hosts_file >"$MPI_WORK/hosts" &&
		mount --bind "$MPI_WORK/hosts" /etc/hosts
}

# mpi_up N [ARGS...]: topology and daemon (with ARGS), for MPI.
mpi_up()
{
	local n=$1

	shift
	topo_up "$n" && serve_up "$@" && mpi_nodes
}

# in_switch COMMAND...: on the bridge host, as a node of its own name.
in_switch()
{
	ip netns exec "$TOPO-sw" \
		unshare --uts sh -c "hostname $TOPO-sw; exec \"\$@\"" mpi \
		env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
		PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
		OMPI_MCA_mpi_yield_when_idle=1 "$@"
}

# PRRTE's daemons, for many short jobs: starting them takes longer than most.
MPI_DVM=

mpi_dvm_up()
{
	local list='' r

	for ((r = 0; r < TOPO_N; r++)); do
		list+=",$TOPO-h$r:2"
	done
	in_switch timeout "$MPI_LIMIT" prte --daemonize \
		--report-uri "$MPI_WORK/dvm" \
		--prtemca plm ssh --prtemca plm_ssh_agent "$MPI_WORK/agent" \
		--prtemca prte_if_include eth0,br0 -H "${list#,}" \
		>"$LAB_OUT/dvm" 2>&1 </dev/null || return
	MPI_DVM=$MPI_WORK/dvm
}

mpi_dvm_down()
{
	[ -n "$MPI_DVM" ] || return 0
	in_switch timeout 20 pterm.openmpi --dvm-uri "file:$MPI_DVM" \
		>>"$LAB_OUT/dvm" 2>&1 || pkill -9 '^prted?$'
	MPI_DVM=
}

# mpi_dvm PER_HOST HOSTS PROGRAM ARGS...: a job of these daemons, with the
# parameters of MPI_TRANSPORT and MPI_ARGS, which prun takes from the
# environment.
mpi_dvm()
{
	local per=$1 n=$2 env=() args=("${MPI_TRANSPORT[@]}" "${MPI_ARGS[@]}") i

	shift 2
	mapfile -t env < <("$MPI_DIR/mpirun-inc" --env)
	env+=("OMPI_MCA_coll_inc_server=$(topo_ip4 sw)")
	[ -z "$MPI_MEET" ] || env+=("OMPI_MCA_coll_inc_meet_after=$MPI_MEET")
	[ -z "$MPI_TRY" ] || env+=("OMPI_MCA_coll_inc_try_timeout_ms=$MPI_TRY")
	for ((i = 0; i < ${#args[@]}; i += 3)); do
		env+=("OMPI_MCA_${args[i + 1]}=${args[i + 2]}")
	done
	# shellcheck disable=SC2046	# words
	in_switch env "${env[@]}" \
		timeout $((MPI_LIMIT * SLOW)) prun --dvm-uri "file:$MPI_DVM" \
		$(printf -- '-x %s ' OMPI_MCA_mpi_yield_when_idle "${env[@]%%=*}") \
		--map-by "ppr:$per:node" -n $((per * n)) "$@"
}

mpi_down()
{
	mpi_dvm_down
	umount /etc/hosts 2>/dev/null
	rm -rf "$MPI_WORK"
}

suite_down()
{
	mpi_down
}

# The manager that they ask for trees; empty: the daemon on the bridge host.
MPI_AM=
# How ranks are placed; empty: the first ones on the first host, and so on.
MPI_MAP=

# mpi NAME PER_HOST HOSTS PROGRAM ARGS...: a job; its output to $LAB_OUT/NAME.
# By mpirun, or after mpi_dvm_up by its daemons.
mpi()
{
	local name=$1 per=$2 n=$3 list='' server=() r

	shift 3
	if [ -n "$MPI_DVM" ]; then
		mpi_dvm "$per" "$n" "$@" >"$LAB_OUT/$name" 2>&1 </dev/null
		return
	fi
	for ((r = 0; r < n; r++)); do
		list+=",$TOPO-h$r:$per"
	done
	[ -n "$MPI_AM" ] && server=(-x "INC_AM=$MPI_AM") ||
		server=(-S "$(topo_ip4 sw)")
	in_switch timeout $((MPI_LIMIT * SLOW)) "$MPI_DIR/mpirun-inc" "${server[@]}" \
		--prtemca plm ssh --prtemca plm_ssh_agent "$MPI_WORK/agent" \
		--prtemca prte_if_include eth0,br0 \
		--map-by ${MPI_MAP:-ppr:$per:node} \
		-H "${list#,}" -n $((per * n)) --oversubscribe \
		${MPI_MEET:+--mca coll_inc_meet_after $MPI_MEET} \
		${MPI_TRY:+--mca coll_inc_try_timeout_ms $MPI_TRY} \
		"${MPI_TRANSPORT[@]}" "${MPI_ARGS[@]}" "$@" >"$LAB_OUT/$name" \
		2>&1 </dev/null
}

# went NAME: number of operations of all ranks that went through the switch. The
# job ran with "coll_inc_stats 2".
went()
{
	sed -n 's/.*coll\/inc: rank [0-9]*: \([a-z_]*\): \([0-9]*\) through the switch/\1 \2/p' \
		"$LAB_OUT/$1" | awk \
		'{ n[$1] += $2 } END { for (i in n) printf "%s %d, ", i, n[i] }'
}

# cases NAME STATUS [KNOWN]: take over the job's cases as ours. KNOWN: a job of
# the same program without coll/inc; ignore cases that fail there.
cases()
{
	local name=$1 rc=$2 line

	while read -r line; do
		line=${line%% #*}
		case $line in
		"ok "*)	    ktap 0 "$name: ${line#* - }" ;;
		"not ok "*)
			if [ -n "${3:-}" ] &&
			   grep -qaxF -- "$line" \
				<(sed 's/ #.*//' "$LAB_OUT/$3"); then
				ktap_skip "$name: ${line#* - }" \
					"fails without coll/inc, too"
			else
				ktap 1 "$name: ${line#* - }"
			fi ;;
		esac
	done < <(tr -d '\0' <"$LAB_OUT/$name")
	[ "$rc" = 0 ] || [ -z "${3:-}" ] ||
		! grep -q '^1\.\.' "$LAB_OUT/$name" || rc=0
	ktap "$rc" "$name: the job ends" \
		"status $rc; $(grep -vE '^(ok|1\.\.)' "$LAB_OUT/$name" |
		head -n 1 | tr '#' ' ')"
}

# went_all NAME OPERATION...: each operation went through the switch.
went_all()
{
	local name=$1 op

	shift
	echo "# $name, through the switch: $(went "$name")"
	for op in "$@"; do
		[[ ", $(went "$name")" == *", $op "[1-9]* ]]
		ktap $? "$name: $op goes through the switch"
	done
}
