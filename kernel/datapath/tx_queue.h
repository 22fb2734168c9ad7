/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Data queued for a member, and its way into packets.
 */
#ifndef _INC_TX_QUEUE_H
#define _INC_TX_QUEUE_H

#include <linux/types.h>

#include "core/result_queue.h"

struct inc_qp;
struct inc_tree;
struct work_struct;

enum inc_open_verdict inc_txq_open(struct inc_qp *qp,
				   const struct inc_msg *msg, u64 va,
				   u32 rkey, u32 size);
bool inc_txq_resend(struct inc_qp *qp, const struct inc_msg *msg, u64 va,
		    u32 rkey, u8 status);
void inc_txq_close(struct inc_qp *qp, u32 msg_id);
void inc_txq_result(struct inc_qp *qp, const struct inc_msg *msg, u16 ready);
void inc_txq_status(struct inc_qp *qp, u32 msg_id, u8 status);
bool inc_txq_stray(struct inc_qp *qp, u32 msg_id, u8 status);
void inc_txq_farewell(struct inc_qp *qp, u8 status);
void inc_txq_probe(struct inc_qp *qp);
void inc_txq_kick(struct inc_qp *qp, u64 now);
void inc_txq_kick_parent(struct inc_tree *tree);
bool inc_txq_probe_parent(struct inc_tree *tree);
void inc_txq_more(struct work_struct *work);
bool inc_txq_idle(struct inc_qp *qp);
void inc_txq_heard(struct inc_qp *qp);
void inc_txq_arm(struct inc_qp *qp, u64 now);

#endif /* _INC_TX_QUEUE_H */
