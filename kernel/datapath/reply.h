/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Work that a request leaves until the locks are dropped: the answer to its sender,
 * and the QPs that have something to send.
 */
#ifndef _INC_REPLY_H
#define _INC_REPLY_H

#include <linux/types.h>

struct inc_begun;
struct inc_qp;

/**
 * struct inc_reply - work that a request leaves until the locks are dropped
 * @due: an acknowledgment or NAK has to be sent
 * @kick_members: all members may have something to send
 * @kick_begun: the members in @begun may have something to send
 * @kick_self: this member has something to send
 * @kick_parent: the QP to the parent has something to send
 * @syndrome: of the acknowledgment or NAK
 * @error: enum rdma_inc_member_error with which the QP enters the error state
 * @psn: its PSN
 * @msn: its message sequence number
 * @begun: memory for the ranks that have begun a message which failed
 */
struct inc_reply {
	bool	due;
	bool	kick_members;
	bool	kick_begun;
	bool	kick_self;
	bool	kick_parent;
	u8	syndrome;
	u8	error;
	u32	psn;
	u32	msn;

	struct inc_begun *begun;
};

void inc_reply_ack(struct inc_reply *reply, struct inc_qp *qp, u32 psn);
void inc_reply_nak(struct inc_reply *reply, const struct inc_qp *qp,
		   u8 syndrome);
void inc_reply_flush(const struct inc_reply *reply, struct inc_qp *qp);

#endif /* _INC_REPLY_H */
