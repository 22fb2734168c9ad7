/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Responses of members: ACKs and NAKs for what was sent to them.
 */
#ifndef _INC_RX_RESPONSE_H
#define _INC_RX_RESPONSE_H

struct inc_pkt;
struct inc_qp;

void inc_rx_response(struct inc_qp *qp, const struct inc_pkt *pkt);

#endif /* _INC_RX_RESPONSE_H */
