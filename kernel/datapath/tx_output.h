/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packet output.
 */
#ifndef _INC_TX_OUTPUT_H
#define _INC_TX_OUTPUT_H

struct dst_entry;
struct inc_qp;
struct inc_switch;
struct net_device;
struct sk_buff;

int inc_tx_init(struct inc_switch *sw);
void inc_tx_exit(struct inc_switch *sw);
void inc_tx_xmit(struct inc_qp *qp, struct sk_buff *skb, struct dst_entry *dst,
		 struct net_device *port);
void inc_tx_output(struct inc_qp *qp, struct sk_buff *skb);

#endif /* _INC_TX_OUTPUT_H */
