#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Fault injection through debugfs, over RC: each kind, in each direction, is
# injected as often as requested, shows in the counters of the QP, and leaves
# results right.
# Wrong settings are refused; a seed reproduces a run.
#
#   fault.sh [VAR=VALUE]... [PART...]
#	PART: settings drop duplicate reorder corrupt

# shellcheck disable=SC2319 # "$?" of a condition is what ktap wants
# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
# shellcheck source=selftests/lib/faults.sh
. "$(dirname "$0")/../lib/faults.sh"

RANKS=3
export INC_TRANSPORT=rc

fault_dir()
{
	echo "$(debugfs_switch "$TOPO-sw")"/tree-*/fault
}

# set_all DIR SETTING: for all ranks of the only tree.
set_all()
{
	local r

	for ((r = 0; r < RANKS; r++)); do
		echo "$2" >"$(fault_dir)/rank-$r-$1" || return 1
	done
}

# done_of DIR KIND: number of injected faults and of packets, over all ranks.
done_of()
{
	cat "$(fault_dir)"/rank-*-"$1" 2>/dev/null | awk -v kind="$2" '
		$1 == kind { n += $NF }
		$1 == "packets" { of += $NF; ranks++ }
		END { if (ranks == '$RANKS') print n, of; else exit 1 }'
}

members_there()
{
	[ "$(sw inc-tool member show | wc -l)" = $RANKS ]
}

# Stop a job until its faults are set.
# faulty NAME DIR KIND OPERATIONS COUNTER: 2 % of the packets.
faulty()
{
	local name=$1 dir=$2 kind=$3 ops=$4 counter=$5

	job_start $RANKS allreduce -t fp32 -o sum --count 65537 -i 10 -x 0 \
		--reps 1 --check=$((ops / SLOW + 1)) --seed "$SEED"
	wait_for 20 members_there
	kill -STOP "${JOB_PIDS[@]}"
	set_all "$dir" "$kind 20000 seed $SEED"
	ktap $? "$name: set"
	faults_done "$name" 10 32 "the counters see it" "$counter" stat_sum \
		done_of "$dir" "$kind"
	wait_for 10 no_tree
}

switch_stat()
{
	sw inc-tool -j -s switch show | jq --arg key "$1" '.stats[$key]'
}

# refused TEXT: TEXT is not a valid setting.
refused()
{
	! echo "$1" 2>/dev/null >"$(fault_dir)/rank-0-rx"
	ktap $? "refused: $1"
}

part_settings()
{
	local f

	sw inc-tool tree add id 5 ranks $RANKS slots 4 dead-time 50 >/dev/null
	sw inc-tool member add tree 5 rank 0 addr "$(topo_ip4 0)" qpn 0x11 \
		psn 0 >/dev/null
	f=$(fault_dir)/rank-0-tx
	[ "$(stat -c %a "$f")" = 600 ]
	ktap $? "for root only"
	grep -q '^drop 0 ppm, done 0$' "$f"
	ktap $? "nothing is set" "$(tr '\n' '|' <"$f")"
	echo "drop 1000 corrupt 0x10  seed 7" >"$f" && echo "reorder 3" >"$f"
	grep -q '^drop 1000 ppm' "$f" && grep -q '^corrupt 16 ppm' "$f" &&
		grep -q '^reorder 3 ppm' "$f" && grep -q '^seed 7$' "$f"
	ktap $? "set, one by one or together" "$(tr '\n' '|' <"$f")"
	echo off >"$f"
	! grep -q '[1-9][0-9]* ppm' "$f" && grep -q '^seed 7$' "$f"
	ktap $? "off" "$(tr '\n' '|' <"$f")"
	refused "drop"
	refused "drop x"
	refused "drop -1"
	refused "drop 1000001"
	refused "loss 5"
	refused "drop 5 7"
	refused "$(printf 'drop 1 %.0s' {1..60})"
	echo "drop 1000000" >"$f"
	sw inc-tool member del tree 5 rank 0
	[ ! -e "$f" ]
	ktap $? "gone with the member"
	sw inc-tool member add tree 5 rank 0 addr "$(topo_ip4 0)" qpn 0x11 \
		psn 0 >/dev/null
	grep -q '^drop 0 ppm' "$f"
	ktap $? "a new member has none"
	echo "drop 1000000" >"$f"
	sw inc-tool tree del 5
	no_tree
	ktap $? "tree deleted while all is dropped"
}

part_drop()
{
	faulty "drop in" rx drop 80 tx-naks
	faulty "drop out" tx drop 80 tx-retransmits
}

part_duplicate()
{
	faulty "duplicate in" rx duplicate 150 rx-duplicates
	faulty "duplicate out" tx duplicate 150 rx-acks
}

part_reorder()
{
	faulty "reorder in" rx reorder 150 rx-ooo-queued
	faulty "reorder out" tx reorder 80 rx-naks
}

part_corrupt()
{
	local before

	before=$(switch_stat rx-icrc)
	faulty "corrupt in" rx corrupt 80 tx-naks
	[ "$(switch_stat rx-icrc)" -gt "$before" ]
	ktap $? "corrupt in: found by the ICRC" \
		"$before, $(switch_stat rx-icrc)"
	faulty "corrupt out" tx corrupt 80 tx-retransmits
}

suite_up()
{
	topo_up $RANKS && serve_up "${PATIENT[@]}"
}

debugfs_up || {
	ktap_skip "faults" "the kernel has no debugfs"
	ktap_plan
	exit
}
suite "settings drop duplicate reorder corrupt" "$@"
