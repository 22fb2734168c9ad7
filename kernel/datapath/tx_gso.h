/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets to one member that are made and sent in one go.
 */
#ifndef _INC_TX_GSO_H
#define _INC_TX_GSO_H

#include <linux/skbuff.h>

struct dst_entry;
struct inc_qp;

/* Most packets of one. */
#define INC_BURST_MAX	16

/**
 * struct inc_burst - packets to one member
 * @packets: they, in order of PSN
 * @dst: route, a reference; NULL before the first packet
 * @apart: some are repeated: none goes together with another
 */
struct inc_burst {
	struct sk_buff_head	packets;
	struct dst_entry	*dst;
	bool			apart;
};

void inc_burst_init(struct inc_burst *b);
void inc_burst_send(struct inc_burst *b, struct inc_qp *qp);
void inc_burst_end(struct inc_burst *b);

#endif /* _INC_TX_GSO_H */
