// SPDX-License-Identifier: GPL-2.0
/*
 * The oldest of a member's messages that wait. The member chooses its slots,
 * and how far it gets in each: so neither message IDs nor slots may be searched
 * for it. A heap takes as many steps as the number of slots has bits.
 */
#include "core/oldest.h"

static u16 slot_of(const struct inc_oldest *o, u32 msg_id)
{
	return msg_id & (o->slots - 1);
}

/* Is the message at a place older than this one? */
static bool is_older(const struct inc_oldest *o, u16 place, u32 msg_id)
{
	return (s32)(o->entry[place].msg_id - msg_id) < 0;
}

static void put_message(struct inc_oldest *o, u16 place, u32 msg_id)
{
	o->entry[place].msg_id = msg_id;
	o->entry[slot_of(o, msg_id)].place = place;
}

/* Put a message at a free place, or above it if younger ones are there. */
static void rise_message(struct inc_oldest *o, u16 place, u32 msg_id)
{
	u16 up;

	for (; place; place = up) {
		up = (place - 1) / 2;
		if (is_older(o, up, msg_id))
			break;
		put_message(o, place, o->entry[up].msg_id);
	}
	put_message(o, place, msg_id);
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
		put_message(o, place, o->entry[down].msg_id);
		place = down;
	}
	return place;
}

/**
 * inc_oldest_add() - add a message
 * @o: heap
 * @msg_id: message; none of its slot is in the heap
 *
 * Context: the caller's lock.
 */
void inc_oldest_add(struct inc_oldest *o, u32 msg_id)
{
	rise_message(o, o->n++, msg_id);
}

/**
 * inc_oldest_del() - remove a message
 * @o: heap
 * @msg_id: message that is in the heap
 *
 * Context: the caller's lock.
 */
void inc_oldest_del(struct inc_oldest *o, u32 msg_id)
{
	u16 place = o->entry[slot_of(o, msg_id)].place;
	u32 last = o->entry[--o->n].msg_id;

	if (place < o->n)
		rise_message(o, sink_place(o, place, last), last);
}
