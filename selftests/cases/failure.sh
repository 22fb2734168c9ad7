#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A member dies: the other ranks get an error soon, all resources are freed, and
# the next job runs.
#
#   failure.sh [PART...]
#	PART: killed cut cut_uc mtu refused place tree_del daemon timeout

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"

# Rank $1 ends with an error within $2 ms.
rank_fails()
{
	local r=$1 limit=$(($2 * SLOW)) name=$3 start=$4 rc now took

	wait "${JOB_PIDS[$r]}"
	rc=$?
	now_ms now
	took=$((now - start))
	[ $rc != 0 ]
	ktap $? "$name: rank $r got an error" "status $rc"
	[ $took -le $limit ]
	ktap $? "$name: rank $r within $limit ms" "took $took ms"
}

# All ranks of $JOB_PIDS except $1 do.
others_fail()
{
	local victim=$1 r

	for r in "${!JOB_PIDS[@]}"; do
		[ "$r" = "$victim" ] || rank_fails "$r" "${@:2}"
	done
	wait "${JOB_PIDS[$victim]}" 2>/dev/null
}

nothing_left()
{
	wait_for 5 no_tree
	ktap $? "$1: the tree is gone" "$(sw inc-tool tree show)"
	# The members' QPs may still wait for the last readers.
	wait_for 5 switch_has memory-used 0
	ktap $? "$1: its memory came back"
}

long_job()
{
	job_start "$1" allreduce -t fp32 -o sum --count 262144 -i 1000000
	wait_for 20 busy 50
}

# The daemon sees the connection break and removes the member.
part_killed()
{
	local start

	long_job 4
	now_ms start
	kill -9 "${JOB_PIDS[2]}"
	others_fail 2 1000 "rank killed" "$start"
	nothing_left "rank killed"
	job "rank killed: the next job runs" 4 allreduce --count 1000 -i 5 \
		--check
}

# Nobody reports the failure: the module has to detect it. Cut the link, so that
# the connection to the daemon does not break. Disable the bridge port from a
# process that already runs: on one busy CPU starting "ip" takes some 400 ms,
# and "link set down" waits as long for grace periods.
part_cut()
{
	local start cutter

	exec {cutter}> >(sw bridge -batch -)
	long_job 4
	now_ms start
	echo "link set dev v1 state 0" >&$cutter
	exec {cutter}>&-
	others_fail_but_cut "$start"
	kill -9 "${JOB_PIDS[1]}" 2>/dev/null
	wait "${JOB_PIDS[1]}" 2>/dev/null
	sw bridge link set dev v1 state 3
	wait_for 5 no_tree || serve_restart
	nothing_left "link cut"
	job "link cut: the next job runs" 4 allreduce --count 1000 -i 5 --check
}

# The same over UC, where nobody acknowledges anything: both ends of the connection
# to the daemon detect it, 4 s after the dead time.
part_cut_uc()
{
	local start cutter r

	export INC_TRANSPORT=uc
	exec {cutter}> >(sw bridge -batch -)
	long_job 4
	now_ms start
	echo "link set dev v1 state 0" >&$cutter
	exec {cutter}>&-
	for r in 0 2 3; do
		rank_fails $r 6000 "UC, link cut" "$start"
	done
	rank_fails 1 6000 "UC, link cut" "$start"
	nothing_left "UC, link cut"
	sw bridge link set dev v1 state 3
	job "UC, link cut: the next job runs" 4 allreduce --count 1000 -i 5 \
		--check
	unset INC_TRANSPORT
}

# narrowed DEV RANK NAME ARGS...: DEV's MTU is lowered under a job, and loses
# the long results for RANK.
narrowed()
{
	local dev=$1 victim=$2 name=$3 monitor tool

	shift 3
	: >"$LAB_OUT/events"
	ip netns exec "$TOPO-sw" inc-tool monitor >"$LAB_OUT/events" \
		2>/dev/null &
	monitor=$!
	exec {tool}> >(sw ip -batch -)
	job_start 2 "$@" -t fp32 --count 262144 -i 1000000
	wait_for 20 busy 50
	echo "link set $dev mtu 1000" >&$tool
	exec {tool}>&-
	wait_for 10 grep -q mtu-exceeded "$LAB_OUT/events"
	ktap $? "$name: the event tells the cause" \
		"$(tr '\n' '|' <"$LAB_OUT/events")"
	job_wait
	grep -qh "mtu-exceeded: the MTU of a device on the way" \
		"$JOB_LOG.$((1 - victim))"
	ktap $? "$name: so does the other rank's error" "$(job_why)"
	kill $monitor
	wait $monitor 2>/dev/null
	sw ip link set "$dev" mtu 1500
	nothing_left "$name"
}

# narrow TRANSPORT: a port is too narrow before there is a member behind it.
narrow()
{
	local transport=$1 name="$1, a narrow port" out
	local -x INC_TRANSPORT=$1

	sw ip link set v1 mtu 1000
	sw ping -c 1 -W 5 "$(topo_ip4 1)" >/dev/null
	sw inc-tool tree add id 9 ranks 2 slots 4 msg-size 1024 pmtu 1024 \
		>/dev/null
	out=$(sw inc-tool member add tree 9 rank 1 addr "$(topo_ip4 1)" \
		qpn 0x11 psn 0 transport "$transport" 2>&1)
	[[ $out == *"pmtu 1024 needs an MTU of 1088, v1 has 1000"* ]]
	ktap $? "$name: no new member" "$out"
	sw inc-tool tree del 9
	job_start 2 allreduce --count 10000
	# It comes last: who comes after the job was refused begins another one.
	kill -STOP "${JOB_PIDS[1]}"
	wait_for 10 eval 'sw inc-tool tree show | grep -q "^tree"'
	kill -CONT "${JOB_PIDS[1]}"
	! job_wait
	ktap $? "$name: a job is refused" "$(job_why)"
	[ "$(grep -l "pmtu 1024 needs an MTU of 1088, v1 has 1000" \
		"$JOB_LOG".* | wc -l)" = 2 ]
	ktap $? "$name: both ranks are told why" "$(job_why)"
	sw ip link set v1 mtu 1088
	job "$name, an MTU of 1088: just enough" 2 allreduce --count 10000 \
		-i 5 --check
	sw ip link set v1 mtu 1500
}

# Over UC nobody acknowledges what the switch sends: the rank that gets nothing ends.
# It may find by itself that the port refuses long packets.
narrowed_uc()
{
	local name="uc, a port's MTU lowered" start tool
	local -x INC_TRANSPORT=uc INC_RETRIES=20

	exec {tool}> >(sw ip -batch -)
	job_start 2 broadcast --root 0 -t fp32 --count 262144 -i 1000000
	wait_for 20 busy 50
	now_ms start
	echo "link set v1 mtu 1000" >&$tool
	exec {tool}>&-
	others_fail -1 5000 "$name" "$start"
	grep -q "the switch did not answer [0-9]* times\|refuses packets of path MTU" \
		"$JOB_LOG.1"
	ktap $? "$name: it says why" "$(job_why)"
	sw ip link set v1 mtu 1500
	nothing_left "$name"
}

# A port's: the bridge's own stays, since somebody has set it. The host of rank
# 1 sends nothing long, which the port would not take either.
part_mtu()
{
	sw ip link set br0 mtu 1400
	sw ip link set br0 mtu 1500
	narrowed br0 1 "the bridge's MTU lowered" broadcast --root 0
	narrowed v1 1 "a port's MTU lowered" broadcast --root 0
	narrowed_uc
	narrow rc
	narrow uc
}

# refused NAME TEXT OTHERS COMMAND...: rank 1 of a job that runs says TEXT, and the
# other ranks and the log say OTHERS, when the command has been run. Rank 1 may have
# nothing to send: then the connection to the daemon has to end, 4 s after the dead
# time, which is 2 s here.
refused()
{
	local name=$1 start

	job_start 3 allreduce -t fp32 --count 262144 -i 1000000
	wait_for 20 busy 50
	now_ms start
	"${@:4}"
	rank_fails 0 6000 "$name" "$start"
	rank_fails 2 6000 "$name" "$start"
	rank_fails 1 8000 "$name" "$start"
	grep -q "$2" "$JOB_LOG.1"
	ktap $? "$name: the rank says why" "$(tail -n 1 "$JOB_LOG.1")"
	grep -q "rank 1: .*$3" "$JOB_LOG.0" &&
		grep -q "rank 1.*: .*$3" "$LAB_OUT/serve.log"
	ktap $? "$name: so do others, and the log" "$(job_why)"
	wait_for 5 no_tree
	sw inc-tool check >"$LAB_OUT/check"
	rc=$?
}

# checked NAME RC TEXT...: inc-tool check ended with RC, and said each TEXT.
checked()
{
	local name=$1 text

	[ $rc = "$2" ]
	ktap $? "$name: the status of check" "status $rc"
	for text in "${@:3}"; do
		grep -q "$text" "$LAB_OUT/check"
		ktap $? "$name: check says: $text" \
			"$(tr '\n' '|' <"$LAB_OUT/check")"
	done
}

# A device refuses what a rank sends, in the middle of a job.
part_refused()
{
	local name rc

	serve_down
	serve_up -v "${PATIENT[@]}"
	# The bridge's own stays, since somebody has set it.
	sw ip link set br0 mtu 1400
	sw ip link set br0 mtu 1500
	name="port's MTU of 900"
	refused "$name" " refuses packets of path MTU 1024, and takes short" \
		"\(refuses packets of path MTU\|mtu-exceeded\)" \
		sw ip link set v1 mtu 900
	checked "$name" 1 "tree [0-9]*, .* ago: [a-z-]*: rank 1, " \
		"its MTU is 900, the path MTU needs 1088"
	sw ip link set v1 mtu 1500
	name="firewall"
	host 1 nft -f - <<-END
	table ip t {
		chain o { type filter hook output priority 0; policy accept; }
	}
	END
	refused "$name" "sending: .*: a firewall of this host refuses packets to .*, UDP port 4791" \
		"a firewall of this host" \
		host 1 nft add rule ip t o udp dport 4791 drop
	host 1 nft flush ruleset
	checked "$name" 0 "tree [0-9]*, .* ago: member-left: rank 1, "
	name="port that is down"
	refused "$name" " is down: see rdma link" "retry-exceeded" sw ip link set v1 down
	checked "$name" 1 "link v1: .*" "it is set down" "rank 1, .*: retry-exceeded"
	sw ip link set v1 up
	serve_down
	serve_up
}

# An rxe loses its place. The tree is lost, since there is no manager that makes
# another one; all ranks, the rxe's too, say why.
part_place()
{
	local r start

	job_start 3 allreduce --count 1000 -i 1000000
	wait_for 20 busy 50
	host 1 "$ROOT/selftests/lib/misplace.py" eth0
	ktap $? "place lost: the switch refuses what shows it"
	now_ms start
	others_fail -1 1000 "place lost" "$start"
	for r in 0 1 2; do
		grep -q "rank 1: .*(local-place-lost: its RDMA device lost" \
			"$JOB_LOG.$r"
		ktap $? "place lost: rank $r says why" "$(tail -n 1 "$JOB_LOG.$r")"
	done
	nothing_left "place lost"
	job "place lost: the next job runs" 3 allreduce --count 1000 -i 5 --check
}

others_fail_but_cut()
{
	local start=$1 limit r rc now took

	limit=$(scaled 1000)
	for r in 0 2 3; do
		wait "${JOB_PIDS[$r]}"
		rc=$?
		now_ms now
		took=$((now - start))
		[ $rc != 0 ] && [ $took -le "$limit" ]
		ktap $? "link cut: rank $r got an error within $limit ms" \
			"status $rc after $took ms"
	done
}

serve_restart()
{
	serve_down
	serve_up
}

# The first tree's ID; fails if there is none.
a_tree()
{
	sw inc-tool -j tree show | jq -e '.[0].id'
}

part_tree_del()
{
	local tool pid start id

	# Use a process that already runs: starting one takes long under
	# traffic.
	exec {tool}> >(sw inc-tool -b -)
	pid=$!
	long_job 3
	wait_for 10 a_tree
	id=$(a_tree)
	now_ms start
	echo "tree del $id" >&"$tool"
	exec {tool}>&-
	wait "$pid"
	ktap $? "tree deleted under traffic"
	others_fail -1 1000 "tree deleted" "$start"
	nothing_left "tree deleted"
}

part_daemon()
{
	local start

	long_job 3
	now_ms start
	kill -TERM $SERVE_PID
	wait $SERVE_PID
	ktap $? "daemon terminated: exit status"
	others_fail -1 1000 "daemon terminated" "$start"
	nothing_left "daemon terminated"
	serve_up
}

part_timeout()
{
	local start now took

	now_ms start
	# Rank 1 never joins: rank 0's own time limit ends the call.
	host 0 inc-perf --server "$(topo_ip4 sw)" --job lonely --rank 0 \
		--ranks 2 --dev "${TOPO}0" allreduce --timeout 700 \
		>"$LAB_OUT/lonely" 2>&1
	rc=$?
	now_ms now
	took=$((now - start))
	[ $rc != 0 ] && [ $took -lt "$(scaled 3000)" ]
	ktap $? "a rank that nobody joins gives up in time" \
		"status $rc, $took ms"
	nothing_left "lonely rank"
}

suite_up()
{
	topo_up 4 && serve_up && clock_up
}

suite "killed cut cut_uc mtu refused place tree_del daemon timeout" "$@"
