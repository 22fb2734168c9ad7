/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From a slot to the members: gathered data and failures.
 */
#ifndef _INC_FANOUT_H
#define _INC_FANOUT_H

#include <linux/bitmap.h>
#include <linux/types.h>

#include "core/slot.h"

struct inc_tree;
struct inc_tree_slot;
struct timer_list;

/**
 * struct inc_progress - progress of a slot, copied under its lock
 * @msg: message
 * @reduced: its elements are reduced, else they pass through unchanged
 * @result_wanted: some rank wants elements of the result
 * @from: chunks that were passed on before
 * @to: chunks that are complete now
 */
struct inc_progress {
	struct inc_msg	msg;
	bool		reduced;
	bool		result_wanted;
	u16		from, to;
};

/**
 * struct inc_begun - the ranks whose requests for a message have begun
 * @n: how many
 * @ranks: bitmap
 */
struct inc_begun {
	u16 n;
	DECLARE_BITMAP(ranks, RDMA_INC_MAX_RANKS);
};

void inc_fanout_begin(struct inc_tree_slot *ts);
bool inc_fanout_due(struct inc_tree *tree, struct inc_tree_slot *ts, u16 n,
		    struct inc_progress *p);
void inc_fanout_gathered(struct inc_tree *tree, u16 slot,
			 const struct inc_progress *p);
void inc_fanout_timer(struct timer_list *t);
void inc_fanout_result(struct inc_tree *tree, u16 slot,
		       const struct inc_msg *msg, u16 ready);
void inc_fanout_note_begun(const struct inc_slot *s, struct inc_begun *b);
void inc_fanout_status(struct inc_tree *tree, u16 slot, u32 msg_id, u8 status,
		       const struct inc_begun *b);
void inc_fanout_kick(struct inc_tree *tree);
void inc_fanout_kick_begun(struct inc_tree *tree, const struct inc_begun *b);

#endif /* _INC_FANOUT_H */
