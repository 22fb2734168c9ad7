# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Goodput under loss: the part loss of the benchmark. Links are shaped where a
# packet enters them (tbf) and lose packets where it leaves them (netem on an
# ifb), in both directions: what is lost has used up its share of the link.
#
#   LOSS_TRANSPORTS	rc uc, or one of them

LOSS_RATES="0 0.1 1 2 5"	# per cent, on each link and in each direction
LOSS_RANKS="2 8"
LOSS_TRANSPORTS=${LOSS_TRANSPORTS:-rc uc}
# Bytes and operations of a run. RC loses much more time, UC has much less to lose.
declare -A LOSS_RUN=([rc]="-s 1048576 -i 3 -x 1" [uc]="-s 1048576 -i 1 -x 0 --outstanding 8")

# at_ends CMD: CMD for both ends of each link, with DEV and IFB set, and what runs
# a program there as arguments.
at_ends()
{
	local r

	for ((r = 0; r < TOPO_N; r++)); do
		DEV=eth0 IFB=lossy "$@" host "$r" || return 1
		DEV=v$r IFB=lossy$r "$@" sw || return 1
	done
}

lossy_end()
{
	"$@" ip link add "$IFB" type ifb && "$@" ip link set "$IFB" up &&
		"$@" tc qdisc add dev "$IFB" root netem loss 0% limit 10000 &&
		"$@" tc qdisc add dev "$DEV" ingress &&
		"$@" tc filter add dev "$DEV" ingress matchall \
			action mirred egress redirect dev "$IFB"
}

lossless_end()
{
	"$@" tc qdisc del dev "$DEV" ingress
	"$@" ip link del "$IFB"
}

lose_end()
{
	"$@" tc qdisc change dev "$IFB" root netem loss "$LOSS%" limit 10000
}

part_loss()
{
	local rep=$1 transport n

	shape
	at_ends lossy_end || die "no lossy links"
	for transport in $LOSS_TRANSPORTS; do
		export INC_TRANSPORT=$transport
		for n in $LOSS_RANKS; do
			for LOSS in $LOSS_RATES; do
				at_ends lose_end
				# shellcheck disable=SC2086
				allreduce module "$n" "$S/loss-$transport.$n.$LOSS.$rep" \
					${LOSS_RUN[$transport]}
			done
		done
		unset INC_TRANSPORT
	done
	at_ends lossless_end
	unshape
}
