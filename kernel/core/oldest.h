/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The oldest of a member's messages that wait, whichever slots it uses.
 */
#ifndef _INC_OLDEST_H
#define _INC_OLDEST_H

#include <linux/types.h>

/**
 * struct inc_oldest_entry - one place of the heap, and one message's place in it
 * @msg_id: the message at this place
 * @index: its index, which the caller chooses
 * @place: where the message with this index is
 */
struct inc_oldest_entry {
	u32	msg_id;
	u16	index;
	u16	place;
};

/**
 * struct inc_oldest - a binary heap of messages
 * @entry: its places, one for each index
 * @n: number of messages in it
 */
struct inc_oldest {
	struct inc_oldest_entry	*entry;
	u16			n;
};

/**
 * inc_oldest_is() - check whether no message in the heap is older
 * @o: heap
 * @msg_id: message
 *
 * Return: true if so.
 */
static inline bool inc_oldest_is(const struct inc_oldest *o, u32 msg_id)
{
	return !o->n || (s32)(msg_id - o->entry[0].msg_id) <= 0;
}

void inc_oldest_add(struct inc_oldest *o, u32 msg_id, u16 index);
void inc_oldest_del(struct inc_oldest *o, u16 index);

#endif /* _INC_OLDEST_H */
