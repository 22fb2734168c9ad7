/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Build packets to members: route, headers, ICRC.
 */
#ifndef _INC_TX_PACKET_H
#define _INC_TX_PACKET_H

#include <linux/types.h>

/* AETH syndrome (IBTA table 45): RNR NAK of 0.01 ms; retransmit at once. */
#define INC_SYNDROME_AGAIN	(IB_RNR_NAK | 1)

struct inc_gso;
struct inc_qp;
struct inc_wqe;
struct netlink_ext_ack;

void inc_tx_request(struct inc_gso *b, struct inc_qp *qp,
		    const struct inc_wqe *wqe, u32 psn, bool ackreq);
void inc_tx_aeth(struct inc_qp *qp, u8 syndrome, u32 psn, u32 msn);
void inc_tx_cnp(struct inc_qp *qp);
bool inc_tx_too_long(struct inc_qp *qp, unsigned int payload_len);
int inc_tx_source(struct inc_qp *qp, struct netlink_ext_ack *extack);

#endif /* _INC_TX_PACKET_H */
