/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A child's link to its parent: gathered data is sent as a member's request.
 */
#ifndef _INC_UPLINK_TX_H
#define _INC_UPLINK_TX_H

#include <linux/types.h>
#include <uapi/linux/rdma_inc_proto.h>

#include "core/requester.h"

struct inc_msg;
struct inc_qp;
struct inc_tree;

/**
 * struct inc_uplink_out - request of one slot on its way to the parent
 * @msg_id: message, the newest of this slot
 * @dmalen: bytes of the request
 * @len: bytes of its elements, of one plane if there are two
 * @packets: its packets
 * @ready: packets that may be sent
 * @sent: packets that were given to the requester
 * @status: enum inc_status with which the message failed here
 * @wide: elements are in two planes
 * @open: some packets were not yet given to the requester
 */
struct inc_uplink_out {
	u32		msg_id;
	u32		dmalen;
	u32		len;
	u16		packets;
	u16		ready;
	u16		sent;
	u8		status;
	bool		wide;
	bool		open;
};

/**
 * struct inc_uplink - state that only a QP to the parent has
 * @tree_id: the parent's tree
 * @rkey: R_Key of its slots
 * @out: requests, by slot; inc_qp.fifo has the open ones, in order, and the
 *	first of them may be partly sent
 */
struct inc_uplink {
	u32			tree_id;
	u32			rkey;
	struct inc_uplink_out	*out;
};

struct inc_uplink *inc_uplink_alloc(const struct inc_tree *tree);
void inc_uplink_free(struct inc_uplink *up);
u64 inc_uplink_memory(const struct inc_tree *tree);

/* Data path: RCU read side. */
void inc_uplink_gathered(struct inc_tree *tree, u16 slot,
			 const struct inc_msg *msg, u16 gathered, bool wanted);
void inc_uplink_fail(struct inc_tree *tree, u16 slot, u32 msg_id, u8 status);
void inc_uplink_abort(struct inc_tree *tree);

/* For tx_queue.c and tx_packet.c: inc_qp.tx_lock is held. */
bool inc_uplink_under_way(const struct inc_qp *qp);
bool inc_uplink_sendable(const struct inc_qp *qp);
enum inc_requester_end inc_uplink_fill(struct inc_qp *qp, struct inc_wqe *w);
u32 inc_uplink_dmalen(const struct inc_qp *qp, const struct inc_wqe *w);
const void *inc_uplink_payload(const struct inc_qp *qp,
			       const struct inc_wqe *w);

#endif /* _INC_UPLINK_TX_H */
