#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The script for strangers' devices, devices/devices, with two rxe.
#
#   devices.sh [PART...]
#	PART: works fails usage

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"

DEVICES=$ROOT/selftests/devices/devices

suite_up()
{
	topo_up 2 || return 1
	serve_up
}

# As a command: each end of both links loses packets, or none.
cat >"$LAB_OUT/links" <<END
for r in 0 1; do
	for at in "$TOPO-sw v\$r" "$TOPO-h\$r eth0"; do
		set -- \$at "\$@"
		ip netns exec \$1 tc qdisc replace dev \$2 root netem limit 10000 \$3 \$4
		shift 2
	done
done
END

devices()
{
	"$DEVICES" -o "$LAB_OUT/report.md" -t 1 \
		--on0 "ip netns exec $TOPO-h0" --on1 "ip netns exec $TOPO-h1" \
		"$@" >"$LAB_OUT/devices" 2>&1
}

part_works()
{
	devices --loss "sh $LAB_OUT/links loss 1%" \
		--whole "sh $LAB_OUT/links" "$(topo_ip4 sw)" "${TOPO}0" "${TOPO}1"
	ktap $? "two rxe" "$(tail -n 3 "$LAB_OUT/devices")"
	tail -n 1 "$LAB_OUT/devices" | grep -qx '23 passed, 0 failed'
	ktap $? "nothing is left out" "$(tail -n 1 "$LAB_OUT/devices")"
	grep -q "^\* ${TOPO}0: rdma_rxe, .*, MTU [0-9]*, Linux $(uname -r)$" \
		"$LAB_OUT/report.md"
	ktap $? "the report has the facts" "$(cat "$LAB_OUT/report.md")"
	[ "$(grep -cE '^\| [0-9]+ bytes \| [0-9.]+ \| [0-9.]+ \|$' \
	     "$LAB_OUT/report.md")" = 5 ]
	ktap $? "and the speeds"
	! sw tc qdisc show dev v0 | grep -q loss
	ktap $? "the links are whole again"
}

# Delete trees until one is missed.
breaks()
{
	# Not while the devices meet, which would end the script.
	until grep -q '^ok' "$LAB_OUT/devices"; do
		sleep 0.2
	done
	until grep -q '^FAIL' "$LAB_OUT/devices"; do
		sleep 0.2
		sw inc-tool tree del \
			"$(sw inc-tool -j tree show | jq '.[0].id')"
	done >/dev/null 2>&1
	# The last tree may have ended by itself.
	return 0
}

part_fails()
{
	local pid

	devices 192.0.2.1 "${TOPO}0" "${TOPO}1"
	[ $? = 1 ] && grep -qx '0 passed, 1 failed' "$LAB_OUT/devices"
	ktap $? "no daemon" "$(cat "$LAB_OUT/devices")"
	devices "$(topo_ip4 sw)" "${TOPO}0" nothing
	[ $? = 1 ] && grep -q '^FAIL rank 1 has no RDMA device nothing' "$LAB_OUT/devices"
	ktap $? "no such device" "$(cat "$LAB_OUT/devices")"
	: >"$LAB_OUT/devices"
	breaks &
	pid=$!
	devices "$(topo_ip4 sw)" "${TOPO}0" "${TOPO}1"
	[ $? = 1 ] && grep -q '^\* .*: .*tree' "$LAB_OUT/report.md"
	ktap $? "a tree that is deleted" "$(cat "$LAB_OUT/report.md")"
	wait $pid
}

part_usage()
{
	devices one two
	[ $? = 2 ]
	ktap $? "too few words"
	devices --loss true a b c
	[ $? = 2 ]
	ktap $? "no end of the loss"
	devices -t 0 a b c
	[ $? = 2 ]
	ktap $? "no time"
	devices --help && grep -q '^Usage: devices' "$LAB_OUT/devices"
	ktap $? "help"
}

suite "works fails usage" "$@"
