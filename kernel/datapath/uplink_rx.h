/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A child's link to its parent: results that the parent sends.
 */
#ifndef _INC_UPLINK_RX_H
#define _INC_UPLINK_RX_H

#include <linux/types.h>

struct inc_part;
struct inc_pkt;
struct inc_qp;
struct inc_reply;

bool inc_uplink_result(struct inc_qp *qp, const struct inc_pkt *pkt,
		       const struct inc_part *part, struct inc_reply *reply);

#endif /* _INC_UPLINK_RX_H */
