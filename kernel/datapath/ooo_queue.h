/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets beyond a gap in the PSN sequence.
 */
#ifndef _INC_OOO_QUEUE_H
#define _INC_OOO_QUEUE_H

#include <linux/types.h>

struct inc_pkt;
struct inc_qp;
struct sk_buff;

bool inc_ooo_enqueue(struct inc_qp *qp, struct sk_buff *skb,
		     const struct inc_pkt *pkt);
struct sk_buff *inc_ooo_dequeue(struct inc_qp *qp);
void inc_ooo_purge(struct inc_qp *qp);

#endif /* _INC_OOO_QUEUE_H */
