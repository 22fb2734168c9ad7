// SPDX-License-Identifier: GPL-2.0
/*
 * Parts wait long enough to leave the caches, and a rank's packets arrive one after
 * the other: prefetch for the next ones while this one is sent on. Nothing here
 * changes any state.
 */
#include <linux/cache.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/prefetch.h>

#include "core/prefetch.h"
#include "core/slot_state.h"

/* Bytes after which a CPU has noticed that it should fetch more by itself. */
#define STREAM	256

static void prefetch_bytes(const void *at, u32 len)
{
	u32 i;

	for (i = 0; i < min(len, STREAM); i += SMP_CACHE_BYTES)
		prefetchw(at + i);
}

static void prefetch_data(const struct inc_part *part)
{
	const struct inc_piece *piece;
	u32 left = part->len;

	if (likely(!part->pieces)) {
		prefetch_bytes(part->data, left);
		return;
	}
	for (piece = part->piece; left; left -= min(left, piece++->len))
		prefetch_bytes(piece->at, min(left, piece->len));
}

/* Prefetch the description or the data of a part. */
static void prefetch_part(const struct inc_part *part, bool data)
{
	if (data)
		prefetch_data(part);
	else
		prefetch(part);
}

/* The same for the other parts of @member's block. Are all there? */
static bool prefetch_block(struct inc_part *const pending[], u16 member, bool data)
{
	u32 i, first = round_down(member, INC_REDUCE_BLOCK);

	for (i = first; i < first + INC_REDUCE_BLOCK; i++)
		if (i != member && !pending[i])
			return false;
	for (i = first; i < first + INC_REDUCE_BLOCK; i++)
		if (i != member)
			prefetch_part(pending[i], data);
	return true;
}

/*
 * Prefetch the descriptions or the data that a packet of @member needs in a
 * chunk.
 */
static void prefetch_parts(const struct inc_slot *s, u16 member, u32 chunk,
			   bool data)
{
	struct inc_part **pending = s->pending + (size_t)chunk * inc_geom_parts(s->geom);
	u32 idx = s->geom->by_arrival ? 1 : member, level = 0;

	if (chunk >= s->msg.nchunks)
		return;
	if (inc_slot_in_block(s, member,
			      inc_chunk_len(s->geom, chunk, s->msg.gather_len))) {
		if (!prefetch_block(pending, member, data))
			return;
		idx /= INC_REDUCE_BLOCK;
		level = ilog2(INC_REDUCE_BLOCK);
	}
	for (; 1U << level < s->geom->members; level++, idx >>= 1) {
		u32 sibling = (idx ^ 1) << level;
		const struct inc_part *part;

		if (sibling >= s->geom->members)
			continue;
		part = pending[sibling];
		if (!part)
			return;
		prefetch_part(part, data);
	}
	/* The last part is reduced to there. */
	if (data)
		prefetch_bytes(s->partial + inc_chunk_off(s->geom, chunk),
			       s->geom->pmtu);
}

/**
 * inc_prefetch_next() - prefetch for the next packets
 * @s: slot that has begun a message
 * @member: index of the member whose packet has arrived
 * @chunk: its chunk
 *
 * Does nothing in a tree whose members are not single ranks in order.
 *
 * Context: the slot's lock is held.
 */
void inc_prefetch_next(const struct inc_slot *s, u16 member, u16 chunk)
{
	if (s->geom->at)
		return;
	prefetch(s->pending + (size_t)(chunk + 3) * s->geom->members +
		 (member ^ 1));
	prefetch_parts(s, member, chunk + 2, false);
	prefetch_parts(s, member, chunk + 1, true);
}
