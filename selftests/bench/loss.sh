# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Goodput under loss: the part loss of the benchmark. Links are shaped where a
# packet enters them (tbf) and lose packets where it leaves them (netem on an
# ifb), in both directions: a lost packet has used up its share of the link.
#
#   LOSS_TRANSPORTS	auto rc uc rxe, or some of them; auto: what everybody gets, RC
#		which changes to UC meanwhile; rxe: WRITEs between hosts; alone:
#		as auto, one operation after another
#   LOSS_RANKS	numbers of ranks
#   LOSS_RATES	per cent, on each link and in each direction
#   LOSS_SHAPED	0: links that only the CPU limits

LOSS_RATES=${LOSS_RATES:-0 0.1 1 2 5}
LOSS_RANKS=${LOSS_RANKS:-2 4 8}
LOSS_SHAPED=${LOSS_SHAPED:-1}
LOSS_TRANSPORTS=${LOSS_TRANSPORTS:-auto rc uc rxe}
# Bytes and operations of a run. RC loses much more time, UC has much less to
# lose: at 1 % it takes some seconds to see that packets are lost.
declare -A LOSS_RUN=([auto]="-s 1048576 -i 1 -x 6 --outstanding 6"
	[rc]="-s 1048576 -i 3 -x 1"
	[alone]="-s 1048576 -i 4 -x 12"
	[uc]="-s 1048576 -i 1 -x 0 --outstanding 6")

# There, one that is retransmitted late would be all of so short a run.
[ "$LOSS_SHAPED" != 0 ] || LOSS_RUN=([auto]="-s 1048576 -i 20 -x 6 --outstanding 6"
	[rc]="-s 1048576 -i 40 -x 1" [alone]="-s 1048576 -i 40 -x 12"
	[uc]="-s 1048576 -i 20 -x 6 --outstanding 6")

# at_ends CMD: run CMD for both ends of each link, with DEV and IFB set; its
# arguments run a program at that end.
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

# Goodput between two rxe hosts, at rates at which the run ends. Few messages in
# flight: the timeout has to be longer than the queue, or the QP dies without
# any loss.
lossy_rxe()
{
	local rep=$1 out

	for LOSS in $LOSS_RATES; do
		out=$S/loss-rxe.$LOSS.$rep
		case $LOSS in
		0 | 0.1 | 1) ;;
		*)	continue ;;
		esac
		at_ends lose_end
		host 0 inc-rtt -j --bw --dev "${TOPO}0" -s 4096 --window 8 \
			--qp-timeout 14 --reps 1 \
			-i 256 "$(topo_ip4 1)" >"$out" 2>"$out.log" || {
			# rxe lost its place: see design.rst, limits.
			echo "bench: two rxe hosts, loss of $LOSS %: $(cat "$out.log")"
			echo '{"median":0}' >"$out"
		}
	done
}

# Slow, and not in the chart: one repetition is enough.
once()
{
	[ "$1" = rc ] && { [ "$LOSS" = 2 ] || [ "$LOSS" = 5 ]; }
}

part_loss()
{
	local rep=$1 transport n

	[ "$LOSS_SHAPED" = 0 ] || shape
	at_ends lossy_end || die "no lossy links"
	for transport in $LOSS_TRANSPORTS; do
		[ "$transport" != rxe ] || { lossy_rxe "$rep"; continue; }
		export INC_TRANSPORT=${transport/alone/auto}
		for n in $LOSS_RANKS; do
			for LOSS in $LOSS_RATES; do
				once "$transport" && [ "$rep" -gt 1 ] &&
					continue
				at_ends lose_end
				# shellcheck disable=SC2086
				allreduce module "$n" \
					"$S/loss-$transport.$n.$LOSS.$rep" \
					${LOSS_RUN[$transport]}
			done
		done
		unset INC_TRANSPORT
	done
	at_ends lossless_end
	[ "$LOSS_SHAPED" = 0 ] || unshape
}
