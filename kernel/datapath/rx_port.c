// SPDX-License-Identifier: GPL-2.0
/*
 * The UDP source port that a member's packets come from. A QP uses one all its
 * life, so once it is known, a forged packet needs it in addition to the numbers
 * in the BTH.
 */
#include <linux/lockdep.h>
#include <linux/skbuff.h>
#include <linux/udp.h>

#include "core/wire.h"
#include "datapath/rx_port.h"
#include "object/qp.h"

/* UDP source port of a packet; its UDP header precedes its BTH. */
static __be16 sender_port(const struct sk_buff *skb)
{
	return ((const struct udphdr *)skb->data - 1)->source;
}

/**
 * inc_rx_port_learn() - learn a member's UDP source port
 * @qp: QP
 * @skb: packet, skb->data at its BTH
 * @pkt: the packet, parsed, a request
 *
 * A sender that knows the R_Key is the member.
 *
 * Context: qp->rx.lock held.
 * Return: true if the port is known, now or before.
 */
bool inc_rx_port_learn(struct inc_qp *qp, const struct sk_buff *skb,
		       const struct inc_pkt *pkt)
{
	lockdep_assert_held(&qp->rx.lock);
	if (unlikely(!qp->rx.port) && pkt->flags & INC_PKT_RETH &&
	    pkt->rkey == qp->rx.responder.rkey)
		WRITE_ONCE(qp->rx.port, sender_port(skb));
	return qp->rx.port;
}

/**
 * inc_rx_port_check() - reject packets that are not from the member's port
 * @qp: QP
 * @skb: packet, skb->data at its BTH; consumed if false
 *
 * Context: softirq.
 * Return: true if the packet is accepted.
 */
bool inc_rx_port_check(struct inc_qp *qp, struct sk_buff *skb)
{
	__be16 port = READ_ONCE(qp->rx.port);

	if (likely(!port || sender_port(skb) == port))
		return true;
	inc_rx_port_distrust(qp, skb);
	return false;
}

/**
 * inc_rx_port_distrust() - drop a packet that is forged, or contradicts one that is
 * @qp: QP
 * @skb: packet; consumed
 *
 * Context: softirq.
 */
void inc_rx_port_distrust(struct inc_qp *qp, struct sk_buff *skb)
{
	inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_RX_UNTRUSTED);
	kfree_skb_reason(skb, SKB_DROP_REASON_NOT_SPECIFIED);
}
