#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The Wireshark dissector on packets captured from jobs, over IPv4 and IPv6, RC
# and UC, and between switches: each field of each packet equals its bytes;
# filters find what they should.

# shellcheck disable=SC2319 # "$?" of a condition is what ktap wants
# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"

RANKS=3
# Wireshark runs no scripts as root; its user needs access to the files.
DIR=$(mktemp -d /tmp/inc-wireshark.XXXXXX)
chmod 755 "$DIR"

shark()
{
	setpriv --reuid nobody --regid nogroup --clear-groups env HOME="$DIR" \
		tshark -X "lua_script:$DIR/inc.lua" -r "$DIR/pcap" "$@" \
		2>"$DIR/err"
}

# A message that fails for all that have begun it. Stop rank 1 first, so that
# there is little traffic, and none that the capture might lose, when it is
# killed.
failing()
{
	job_start "$RANKS" allreduce -t fp32 -o sum --count 16 -i 1000000 "$@"
	wait_for 20 busy 5
	kill -STOP "${JOB_PIDS[1]}"
	steady 10 stat_sum rx-messages
	kill -9 "${JOB_PIDS[1]}"
	wait "${JOB_PIDS[@]}" 2>/dev/null
}

# finds NAME FILTER MIN: at least MIN packets match.
finds()
{
	local n rc=0

	n=$(shark -Y "$2" | wc -l)
	[ "$n" -ge "$3" ] || rc=1
	ktap $rc "$1" "$n packets pass $2, $(head -n 1 "$DIR/err")"
}

# check NAME KIND...: the captured packets are decoded right and have these
# kinds.
check()
{
	local name=$1 kind rc=0

	shift
	# shellcheck disable=SC2046 # words
	shark -T fields -E separator=/t $("$ROOT/selftests/wireshark/wireshark.py" --fields) >"$DIR/fields"
	ktap $? "$name: tshark reads it" "$(head -n 1 "$DIR/err")"
	! grep -qi 'lua\|error' "$DIR/err"
	ktap $? "$name: the script runs without a complaint" \
		"$(head -n 1 "$DIR/err")"
	"$ROOT/selftests/wireshark/wireshark.py" "$DIR/pcap" "$DIR/fields" \
		>"$DIR/said" 2>&1
	ktap $? "$name: each field is what the bytes say" \
		"$(tr '\n' '|' <"$DIR/said")"
	echo "# $(tail -n 1 "$DIR/said")"
	for kind; do
		grep -q "$kind=[1-9]" "$DIR/said" || rc=1
	done
	ktap $rc "$name: $* are in it" "$(tail -n 1 "$DIR/said")"
	[ "$(shark -Y 'inc && infiniband.bth.opcode == 17' | wc -l)" = 0 ]
	ktap $? "$name: an acknowledgment is none"
}

part_rc()
{
	capture "$DIR"
	job "a job over IPv4" $RANKS allreduce -t int16 -o max --count 33333 \
		-i 1 -x 0 --check
	job "a barrier" $RANKS barrier -i 2
	JOB_ADDR=topo_ip6
	job "a job over IPv6" $RANKS allreduce -t fp64 --count 7 -i 1 -x 0 \
		--check
	JOB_ADDR=topo_ip4
	failing
	capture_end
	check "RC" request result status
	finds "filter: the type" "inc.dtype == 1 && inc.op == 3" $RANKS
	finds "filter: barriers" "inc.collective == 8" $((2 * RANKS))
	finds "filter: IPv6" "ipv6 && inc.dtype == 11" $RANKS
	finds "filter: what failed" "inc.imm.status != 0" $((RANKS - 1))
	finds "filter: protocol" "inc" $((20 * RANKS))
}

# Requests are lost, so the switch asks to resend them; a rank is stopped, so
# the others query messages that they wait for.
part_uc()
{
	capture "$DIR"
	host 0 tc qdisc add dev eth0 root netem loss 10% limit 10000
	job "a job over UC, with loss" $RANKS allreduce -t fp32 --count 33333 \
		-i 1 -x 0 --check --transport uc
	host 0 tc qdisc del dev eth0 root
	failing --transport uc
	capture_end
	check "UC" request result status query
	finds "filter: marks" "inc.imm.low_mark" $((20 * RANKS))
	finds "filter: queries" "inc.flags.query == 1" 1
	finds "filter: send it again" "inc.imm.status == 32" 1
	finds "filter: wait" "inc.imm.status == 33" 1
	! shark -Y '_ws.expert && inc.imm.status >= 32' | grep -q .
	ktap $? "UC: AGAIN and WAIT are no errors"
}

# Marks on the way to the switch, and CNPs to stock rxe, which does not mind them.
part_cnp()
{
	local what n

	serve_down
	serve_up --ecn ect0
	host 0 tc qdisc add dev eth0 root netem loss 30% ecn limit 10000
	capture "$DIR"
	job "a job whose packets are marked" $RANKS allreduce -t fp32 \
		--count 33333 -i 2 -x 0 --check
	capture_end
	host 0 tc qdisc del dev eth0 root
	finds "CNP: packets are marked" "ip.dsfield.ecn == 3" 20
	for what in "bth.opcode == 0x81" "bth.se == 0" \
		"bth.m == 0" "bth.a == 0" "bth.psn == 0" "bth.p_key == 65535"; do
		finds "CNP: $what" \
			"infiniband.bth.opcode == 0x81 && infiniband.$what" 1
	done
	# It shows neither FECN nor BECN.
	finds "CNP: BECN, without FECN" \
		"infiniband.bth.opcode == 0x81 && frame[46:1] == 0x40" 1
	n=$(shark -Y 'infiniband.bth.opcode == 0x81 && (_ws.malformed || _ws.expert.severity >= 0x600000)' | wc -l)
	ktap "$n" "CNP: Wireshark has nothing to complain of" "$n packets"
	serve_down
	serve_up
}

# Packets between a root and its two leaves.
part_levels()
{
	local name

	# shellcheck source=selftests/lib/levels.sh
	. "$ROOT/selftests/lib/levels.sh"
	serve_down
	topo_down
	levels_up 2 2 && serves_up || return
	for name in "${SWITCHES[@]}"; do
		at "$name" ip link set br0 gso_max_segs 1
	done
	capture "$DIR"
	job "a job over two levels" 4 allreduce -t int16 --count 3333 -i 1 \
		-x 0 --check
	job "the same, wide" 4 allreduce -t bf16 --count 3333 -i 1 -x 0 --check
	RANKS=4
	failing
	capture_end
	check "levels" request result status
	finds "filter: wide" "inc.flags.wide == 1 && inc.dtype == 9" 2
	finds "filter: not wide" "inc.flags.wide == 0 && inc.dtype == 1" 2
	levels_down
}

suite_up()
{
	topo_up $RANKS && serve_up && topo_bursts off
}

suite_down()
{
	rm -rf "$DIR"
}

command -v tshark >/dev/null || {
	ktap_skip "Wireshark" "there is no tshark"
	ktap_plan
	exit
}
install -m 644 "$ROOT/userspace/plugins/wireshark/inc.lua" "$DIR/inc.lua"

suite "rc uc cnp levels" "$@"
