/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets to one member that are built and sent in one go.
 */
#ifndef _INC_TX_GSO_H
#define _INC_TX_GSO_H

#include <linux/skbuff.h>

struct dst_entry;
struct inc_qp;

/* Maximum number of packets in a burst. */
#define INC_GSO_MAX	16

/**
 * struct inc_gso - packets to one member
 * @packets: the packets, in order of PSN
 * @dst: route, a reference; NULL before the first packet
 * @apart: some are retransmissions: send each on its own
 */
struct inc_gso {
	struct sk_buff_head	packets;
	struct dst_entry	*dst;
	bool			apart;
};

void inc_gso_init(struct inc_gso *b);
void inc_gso_send(struct inc_gso *b, struct inc_qp *qp);
void inc_gso_end(struct inc_gso *b);

#endif /* _INC_TX_GSO_H */
