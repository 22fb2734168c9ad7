// SPDX-License-Identifier: GPL-2.0
/*
 * The oldest of a member's messages that wait. The member chooses its slots,
 * and how far it gets in each: so neither message IDs nor slots may be searched
 * for it. A heap takes as many steps as the number of messages has bits.
 */
#include "core/oldest.h"

/* Is the message at a place older than this one? */
static bool is_older(const struct inc_oldest *o, u16 place, u32 msg_id)
{
	return (s32)(o->entry[place].msg_id - msg_id) < 0;
}

static void put_message(struct inc_oldest *o, u16 place, u32 msg_id, u16 index)
{
	o->entry[place].msg_id = msg_id;
	o->entry[place].index = index;
	o->entry[index].place = place;
}

/* Move the message at one place to another, free one. */
static void move_message(struct inc_oldest *o, u16 from, u16 to)
{
	put_message(o, to, o->entry[from].msg_id, o->entry[from].index);
}

/* Put a message at a free place, or above it if younger ones are there. */
static void rise_message(struct inc_oldest *o, u16 place, u32 msg_id, u16 index)
{
	u16 up;

	for (; place; place = up) {
		up = (place - 1) / 2;
		if (is_older(o, up, msg_id))
			break;
		move_message(o, up, place);
	}
	put_message(o, place, msg_id, index);
}

/* Move a free place down until none below is older than the message. */
static u16 sink_place(struct inc_oldest *o, u16 place, u32 msg_id)
{
	u16 down;

	while ((down = 2 * place + 1) < o->n) {
		if (down + 1 < o->n &&
		    is_older(o, down + 1, o->entry[down].msg_id))
			down++;
		if (!is_older(o, down, msg_id))
			break;
		move_message(o, down, place);
		place = down;
	}
	return place;
}

/**
 * inc_oldest_add() - add a message
 * @o: heap
 * @msg_id: message
 * @index: its index, which no message in the heap has
 *
 * Context: the caller's lock.
 */
void inc_oldest_add(struct inc_oldest *o, u32 msg_id, u16 index)
{
	rise_message(o, o->n++, msg_id, index);
}

/**
 * inc_oldest_del() - remove a message
 * @o: heap
 * @index: index of a message that is in the heap
 *
 * Context: the caller's lock.
 */
void inc_oldest_del(struct inc_oldest *o, u16 index)
{
	u16 place = o->entry[index].place, last = --o->n;
	u32 msg_id = o->entry[last].msg_id;

	if (place < last)
		rise_message(o, sink_place(o, place, msg_id), msg_id,
			     o->entry[last].index);
}
