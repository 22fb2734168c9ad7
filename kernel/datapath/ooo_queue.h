/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trust in a member's packets before their turn: packets beyond a gap, and the
 * port that they come from.
 */
#ifndef _INC_OOO_QUEUE_H
#define _INC_OOO_QUEUE_H

#include <linux/types.h>

struct inc_pkt;
struct inc_qp;
struct sk_buff;

void inc_ooo_enqueue(struct inc_qp *qp, struct sk_buff *skb,
		     const struct inc_pkt *pkt);
struct sk_buff *inc_ooo_dequeue(struct inc_qp *qp);
void inc_ooo_purge(struct inc_qp *qp);
void inc_rx_learn_port(struct inc_qp *qp, const struct sk_buff *skb,
		       const struct inc_pkt *pkt);
bool inc_ooo_check_port(struct inc_qp *qp, struct sk_buff *skb);

#endif /* _INC_OOO_QUEUE_H */
