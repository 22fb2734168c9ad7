/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The UDP port that a member's packets come from.
 */
#ifndef _INC_RX_PORT_H
#define _INC_RX_PORT_H

#include <linux/types.h>

struct inc_pkt;
struct inc_qp;
struct sk_buff;

bool inc_rx_port_learn(struct inc_qp *qp, const struct sk_buff *skb,
		       const struct inc_pkt *pkt);
bool inc_rx_port_check(struct inc_qp *qp, struct sk_buff *skb);
void inc_rx_port_distrust(struct inc_qp *qp, struct sk_buff *skb);

#endif /* _INC_RX_PORT_H */
