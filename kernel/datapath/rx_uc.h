/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Members with a UC QP: their packets, and the answers about their messages.
 */
#ifndef _INC_RX_UC_H
#define _INC_RX_UC_H

#include <linux/types.h>

struct inc_hdr;
struct inc_pkt;
struct inc_qp;
struct sk_buff;

/**
 * enum inc_uc_verdict - kind of a UC member's packet
 * @INC_UC_DROP: needs no answer
 * @INC_UC_ANSWER: an answer is queued; inc_txq_kick() sends it
 * @INC_UC_NEW: a request that has not arrived before
 */
enum inc_uc_verdict {
	INC_UC_DROP,
	INC_UC_ANSWER,
	INC_UC_NEW,
};

enum inc_uc_verdict inc_uc_judge(struct inc_qp *qp, const struct sk_buff *skb,
				 const struct inc_pkt *pkt, struct inc_hdr *hdr,
				 bool *overtaken);
void inc_uc_came(struct inc_qp *qp, u32 msg_id, bool overtaken);

#endif /* _INC_RX_UC_H */
