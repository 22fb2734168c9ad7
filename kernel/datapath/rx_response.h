/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Responses of members: ACKs and NAKs of results.
 */
#ifndef _INC_RX_RESPONSE_H
#define _INC_RX_RESPONSE_H

struct inc_pkt;
struct inc_qp;

bool inc_rx_response(struct inc_qp *qp, const struct inc_pkt *pkt);

#endif /* _INC_RX_RESPONSE_H */
