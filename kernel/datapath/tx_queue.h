/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Data queued for a member, and its way into packets.
 */
#ifndef _INC_TX_QUEUE_H
#define _INC_TX_QUEUE_H

#include <linux/types.h>

struct inc_msg;
struct inc_qp;
struct inc_tree;
struct work_struct;

/**
 * enum inc_open_verdict - whether a request may begin
 * @INC_OPEN_OK: yes; where its result goes is recorded
 * @INC_OPEN_BUSY: no: the slot's last result is not sent yet, or the member is
 *	past this message
 * @INC_OPEN_REPEAT: no: this message has been opened before
 * @INC_OPEN_HELD: not now: too much of this member's data is held
 */
enum inc_open_verdict {
	INC_OPEN_OK,
	INC_OPEN_BUSY,
	INC_OPEN_REPEAT,
	INC_OPEN_HELD,
};

/**
 * enum inc_again_verdict - state of a message that a UC member retransmits
 * @INC_AGAIN_UNKNOWN: nothing
 * @INC_AGAIN_OPEN: it has begun and not ended
 * @INC_AGAIN_QUEUED: it has ended; its result or status is queued again
 * @INC_AGAIN_OLD: the member has begun a later message in that slot
 */
enum inc_again_verdict {
	INC_AGAIN_UNKNOWN,
	INC_AGAIN_OPEN,
	INC_AGAIN_QUEUED,
	INC_AGAIN_OLD,
};

enum inc_open_verdict inc_txq_open(struct inc_qp *qp,
				   const struct inc_msg *msg, u64 va,
				   u32 rkey, u32 size);
enum inc_again_verdict inc_txq_again(struct inc_qp *qp, u32 msg_id);
void inc_txq_missing(struct inc_qp *qp, u32 msg_id);
void inc_txq_close(struct inc_qp *qp, u32 msg_id);
void inc_txq_result(struct inc_qp *qp, u16 slot, const struct inc_msg *msg,
		    u16 ready);
void inc_txq_status(struct inc_qp *qp, u16 slot, u32 msg_id, u8 status);
bool inc_txq_stray(struct inc_qp *qp, u32 msg_id, u8 status);
void inc_txq_farewell(struct inc_qp *qp, u8 status);
void inc_txq_probe(struct inc_qp *qp);
void inc_txq_kick(struct inc_qp *qp);
void inc_txq_kick_parent(struct inc_tree *tree);
bool inc_txq_probe_parent(struct inc_tree *tree);
void inc_txq_more(struct work_struct *work);
bool inc_txq_idle(struct inc_qp *qp);
void inc_txq_heard(struct inc_qp *qp);
void inc_txq_arm(struct inc_qp *qp, u64 now);

#endif /* _INC_TX_QUEUE_H */
