// SPDX-License-Identifier: GPL-2.0
/*
 * Congestion notification, notification point: a queue on a member's way here has
 * marked a packet (CE, RFC 3168) instead of dropping it. A host gets a CNP then; a
 * switch over RC gets BECN in the next acknowledgment, which is on its way anyhow.
 */
#include <linux/atomic.h>

#include "core/wire.h"
#include "datapath/cnp.h"
#include "datapath/tx_packet.h"
#include "object/qp.h"
#include "object/tree.h"

/* Only switches look for BECN in acknowledgments; over UC there are none. */
static bool gets_becn(const struct inc_qp *qp)
{
	return (qp->is_switch || qp->uplink) &&
	       qp->cfg.transport == RDMA_INC_TRANSPORT_RC;
}

/* The clock's lower half goes round in 71 minutes: then a CNP may be left out. */
static bool take_turn(struct inc_qp *qp, u32 interval)
{
	u32 now = inc_now(), last = READ_ONCE(qp->cnp_at);

	return now - last >= interval && cmpxchg(&qp->cnp_at, last, now) == last;
}

/**
 * inc_cnp_note() - a packet that has met congestion has arrived
 * @qp: QP of the member; the packet is the member's, its key or PSN was right
 *
 * Sends at most one CNP in the tree's cnp-interval.
 *
 * Context: softirq, RCU read side, no lock held.
 * Spec: IBTA 1.x, annex A17.9.3; RFC 3168, section 5.
 */
void inc_cnp_note(struct inc_qp *qp)
{
	u32 interval = READ_ONCE(qp->tree->cfg.cnp_interval_us);

	inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_RX_CE);
	if (!interval)
		return;
	if (gets_becn(qp)) {
		WRITE_ONCE(qp->tx.becn, true);
	} else if (take_turn(qp, interval)) {
		inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_TX_CNPS);
		inc_tx_cnp(qp);
	}
}

/**
 * inc_cnp_rx() - process a CNP
 * @qp: QP of the member
 * @pkt: the packet, parsed
 *
 * A CNP is counted. It has no PSN and no key: anybody may have sent it who knows
 * the member's address and UDP port, and our QPN.
 *
 * Context: softirq, RCU read side, no lock held.
 */
void inc_cnp_rx(struct inc_qp *qp, const struct inc_pkt *pkt)
{
	bool valid = pkt->becn && !pkt->payload_len && !pkt->pad;

	inc_qp_count(qp, valid ? RDMA_INC_A_MEMBER_STATS_RX_CNPS :
				 RDMA_INC_A_MEMBER_STATS_RX_BAD_RESPONSE);
}
