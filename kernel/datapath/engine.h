/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The path of a packet: the only place where responder, slot and requester
 * meet.
 */
#ifndef _INC_ENGINE_H
#define _INC_ENGINE_H

struct inc_pkt;
struct inc_qp;
struct sk_buff;

void inc_engine_rx(struct inc_qp *qp, struct sk_buff *skb,
		   const struct inc_pkt *pkt);
void inc_engine_end_batch(struct inc_qp *qp);

#endif /* _INC_ENGINE_H */
