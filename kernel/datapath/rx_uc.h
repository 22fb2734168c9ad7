/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests of UC members, and the answers about their messages.
 */
#ifndef _INC_RX_UC_H
#define _INC_RX_UC_H

struct inc_pkt;
struct inc_qp;
struct inc_reply;
struct sk_buff;

bool inc_rx_uc(struct inc_qp *qp, struct sk_buff *skb,
	       const struct inc_pkt *pkt, struct inc_reply *reply);

#endif /* _INC_RX_UC_H */
