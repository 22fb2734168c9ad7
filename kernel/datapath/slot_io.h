/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From a member's request to the slot of its message.
 */
#ifndef _INC_SLOT_IO_H
#define _INC_SLOT_IO_H

#include <linux/types.h>

struct inc_pkt;
struct inc_qp;
struct inc_reply;
struct sk_buff;

/**
 * enum inc_take - whether a packet is accepted
 * @INC_TAKE_OK: it is
 * @INC_TAKE_RNR: not now: RNR NAK; the member retransmits
 * @INC_TAKE_FORMING: the same, but after a longer delay
 * @INC_TAKE_LOST: no memory; treat as lost on the wire
 * @INC_TAKE_INVALID: no: NAK - invalid request, then error state
 * @INC_TAKE_ACCESS: no: NAK - remote access error, then error state
 * @INC_TAKE_PLACE_LOST: no: the member has lost its place (lost_place.h); as
 *	INC_TAKE_INVALID
 */
enum inc_take {
	INC_TAKE_OK,
	INC_TAKE_RNR,
	INC_TAKE_FORMING,
	INC_TAKE_LOST,
	INC_TAKE_INVALID,
	INC_TAKE_ACCESS,
	INC_TAKE_PLACE_LOST,
};

bool inc_slot_io_room(struct inc_qp *qp, u32 msg_id);
struct sk_buff *inc_slot_io_unshare(struct inc_qp *qp, struct sk_buff *skb);
enum inc_take inc_slot_io_begin(struct inc_qp *qp, const struct sk_buff *skb,
				const struct inc_pkt *pkt,
				struct inc_reply *reply);
void inc_slot_io_contribute(struct inc_qp *qp, struct sk_buff *skb,
			    const struct inc_pkt *pkt, struct inc_reply *reply);
void inc_slot_io_flush(struct inc_qp *qp, struct inc_reply *reply);

#endif /* _INC_SLOT_IO_H */
