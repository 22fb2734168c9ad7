/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packet output.
 */
#ifndef _INC_TX_OUTPUT_H
#define _INC_TX_OUTPUT_H

struct inc_qp;
struct sk_buff;

void inc_tx_xmit(struct inc_qp *qp, struct sk_buff *skb);
void inc_tx_output(struct inc_qp *qp, struct sk_buff *skb);

#endif /* _INC_TX_OUTPUT_H */
