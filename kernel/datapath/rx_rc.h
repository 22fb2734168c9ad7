/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests of RC members, and a parent's results.
 */
#ifndef _INC_RX_RC_H
#define _INC_RX_RC_H

struct inc_pkt;
struct inc_qp;
struct inc_reply;
struct sk_buff;
struct work_struct;

bool inc_rx_rc(struct inc_qp *qp, struct sk_buff *skb,
	       const struct inc_pkt *pkt, struct inc_reply *reply);
void inc_rx_more(struct work_struct *work);

#endif /* _INC_RX_RC_H */
