#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# MPI programs over coll/inc: ranks in the hosts' namespaces, mpirun on the
# bridge host. Needs Open MPI (the lab's LAB_WITH=mpi).
#
#   mpi.sh [VAR=VALUE]... [flat | hosts | off]...

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"

while [[ ${1:-} == *=* ]]; do
	declare "$1"
	shift
done
RANKS=${RANKS:-4}
SEED=${SEED:-$RANDOM}
OUT=$INC_USER/ompi
WORK=$(mktemp -d)

# Each host is a node of PRRTE, told apart by its name.
cat >"$WORK/agent" <<'END'
#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
h=$1; shift
exec nsenter --net=/run/netns/$h unshare --uts /bin/sh -c "hostname $h; $*"
END
chmod +x "$WORK/agent"

hosts_file()
{
	local r

	echo "127.0.0.1 localhost"
	echo "$(topo_ip4 sw) $TOPO-sw"
	for ((r = 0; r < TOPO_N; r++)); do
		echo "$(topo_ip4 "$r") $TOPO-h$r"
	done
}

# mpi NAME PER_HOST HOSTS PROGRAM ARGS...: a job; its output to $LAB_OUT/NAME.
mpi()
{
	local name=$1 per=$2 n=$3 list='' r

	shift 3
	for ((r = 0; r < n; r++)); do
		list+=",$TOPO-h$r:$per"
	done
	ip netns exec "$TOPO-sw" unshare --uts sh -c "hostname $TOPO-sw; exec \"\$@\"" mpi \
		env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
		OMPI_MCA_mpi_yield_when_idle=1 \
		timeout $((120 * SLOW)) "$OUT/mpirun-inc" -S "$(topo_ip4 sw)" \
		--prtemca plm ssh --prtemca plm_ssh_agent "$WORK/agent" \
		--prtemca prte_if_include eth0,br0 --map-by "ppr:$per:node" \
		-H "${list#,}" -n $((per * n)) --oversubscribe \
		--mca pml ob1 --mca btl self,sm,tcp --mca btl_tcp_if_include eth0 \
		"${MPI_ARGS[@]}" "$@" >"$LAB_OUT/$name" 2>&1 </dev/null
}

# cases NAME STATUS [KNOWN]: its cases are ours. KNOWN: a job of the same program
# without coll/inc; what fails there is none of ours.
cases()
{
	local name=$1 rc=$2 line

	while read -r line; do
		line=${line%% #*}
		case $line in
		"ok "*)	    ktap 0 "$name: ${line#* - }" ;;
		"not ok "*)
			if [ -n "${3:-}" ] && grep -qF -- "$line #" "$LAB_OUT/$3"; then
				ktap_skip "$name: ${line#* - }" "fails without coll/inc, too"
			else
				ktap 1 "$name: ${line#* - }"
			fi ;;
		esac
	done <"$LAB_OUT/$name"
	[ "$rc" = 0 ] || [ -z "${3:-}" ] || ! grep -q '^1\.\.' "$LAB_OUT/$name" || rc=0
	ktap "$rc" "$name: the job ends" \
		"status $rc; $(grep -vE '^(ok|1\.\.)' "$LAB_OUT/$name" | head -n 1 | tr '#' ' ')"
}

# went NAME: operations that went through the switch.
went()
{
	sed -n 's/.*coll\/inc: \([a-z_]*\): \([0-9]*\) through the switch/\1 \2/p' \
		"$LAB_OUT/$1" | awk '{ n[$1] += $2 } END { for (i in n) printf "%s %d, ", i, n[i] }'
}

# went_all NAME OPERATION...: each of these did.
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

OPS="allgather allreduce alltoall barrier bcast gather reduce reduce_scatter
	reduce_scatter_block scatter iallgather iallreduce ibarrier ibcast"

t_flat()
{
	MPI_ARGS=(--mca coll_inc_stats 1)
	mpi flat 1 "$RANKS" "$OUT/coll" "$SEED"
	cases flat $?
	# shellcheck disable=SC2086
	went_all flat $OPS
	ktap "$(sw inc-tool -j tree show | grep -c '"id"')" "flat: no tree is left"
}

# Two ranks on each host. Open MPI 5.0.7 gathers types with holes wrongly there.
t_hosts()
{
	MPI_ARGS=(--mca coll_inc_priority 0)
	mpi stock 2 "$RANKS" "$OUT/coll" "$SEED"
	MPI_ARGS=(--mca coll_inc_stats 1)
	mpi hosts 2 "$RANKS" "$OUT/coll" "$SEED"
	cases hosts $? stock
	went_all hosts allreduce barrier bcast reduce
	ktap "$(sw inc-tool -j tree show | grep -c '"id"')" "hosts: no tree is left"
}

# Without a daemon all falls through.
t_off()
{
	serve_down
	MPI_ARGS=(--mca coll_inc_stats 1 --mca coll_inc_join_timeout_ms 2000)
	mpi off 1 "$RANKS" "$OUT/coll" "$SEED"
	cases off $?
	[ -z "$(went off)" ]
	ktap $? "off: nothing goes through the switch"
}

echo "# seed $SEED, kernel $(uname -r), $LAB_BACKEND"
trap 'serve_down; topo_down; inc_unload; rm -rf "$WORK"' EXIT
[ $# -gt 0 ] || set -- flat hosts off
inc_load && topo_up "$RANKS" && serve_up || exit 1
hosts_file >"$WORK/hosts" && mount --bind "$WORK/hosts" /etc/hosts || exit 1
for t in "$@"; do
	"t_$t"
done
ktap_end
