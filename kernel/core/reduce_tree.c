// SPDX-License-Identifier: GPL-2.0
/*
 * The order in which the ranks' parts of a chunk are reduced.
 *
 * The reduction of a chunk is *defined* as the balanced binary tree over the
 * ranks, whatever the order of arrival: (r0 + r1) + (r2 + r3) ...; a rank or
 * subtree without a sibling moves up as it is. A part waits, where it is, until
 * its sibling arrives; then the right one is added to the left one in place.
 * Only the last pairing writes to the result buffer, which is the one copy of
 * each payload byte. So as long as a rank is missing, the slot's previous
 * result stays whole, and can be resent to a rank that lost it.
 *
 * A tree may use the order of arrival instead; then one part at a time waits
 * per chunk.
 *
 * Members that are switches stand for several ranks, and their parts enter the
 * binary tree at the height that their ranks have reached: so the result has
 * the same bits as on one switch with all ranks. At a child, the reduction of
 * its ranks is stored apart from the result, which the parent sends: ranks may
 * still need the previous one.
 */
#include <linux/string.h>

#include "core/reduce/reduce.h"
#include "core/reduce_tree.h"
#include "core/slot_state.h"

static struct inc_operand part_operand(const struct inc_part *part)
{
	return (struct inc_operand) {
		.hi = part->data,
		.lo = part->lo ? part->lo->data : NULL,
	};
}

/*
 * Reduce @right into @left. Two vectors of 16-bit floats make one of binary32:
 * the right one's memory keeps the lower halves.
 */
static void merge_parts(struct inc_slot *s, struct inc_part *left,
			struct inc_part *right)
{
	u32 nelem = left->len / s->ops->size;
	struct inc_operand a = part_operand(left), dst = a;
	struct inc_operand b = part_operand(right);

	if (!s->ops->wide) {
		inc_reduce(s->ops, left->data, left->data, right->data, nelem);
		inc_part_free(right);
		return;
	}
	if (!dst.lo)
		dst.lo = b.lo ?: b.hi;
	inc_reduce_wide(s->ops, dst, a, b, nelem, inc_geom_all(s->geom));
	if (left->lo) {
		inc_part_drop(right);
	} else if (right->lo) {
		left->lo = right->lo;
		inc_part_free(right);
	} else {
		left->lo = right;
	}
}

/*
 * Reduce the last two parts: they make the result, or a child's request, which
 * is neither divided nor rounded.
 */
static void merge_last(struct inc_slot *s, u16 chunk, struct inc_part *left,
		       struct inc_part *right)
{
	u32 off = inc_chunk_off(s->geom, chunk);
	u32 nelem = left->len / s->ops->size;
	u16 all = inc_geom_all(s->geom);
	bool child = s->geom->child;

	if (s->ops->wide) {
		struct inc_operand dst = {
			.hi = s->partial + off,
			.lo = child ? s->partial_lo + off : NULL,
		};

		inc_reduce_wide(s->ops, dst, part_operand(left),
				part_operand(right), nelem, all);
	} else {
		inc_reduce(s->ops, s->partial + off, left->data, right->data,
			   nelem);
		if (!child)
			inc_reduce_finish(s->ops, s->partial + off, nelem, all);
	}
	inc_part_drop(left);
	inc_part_drop(right);
}

/* Take the part of the only member: nothing to reduce it with. */
static void take_only(struct inc_slot *s, u16 chunk, struct inc_part *part)
{
	u32 off = inc_chunk_off(s->geom, chunk);

	memcpy(s->partial + off, part->data, part->len);
	if (part->lo)
		memcpy(s->partial_lo + off, part->lo->data, part->len);
	inc_part_drop(part);
}

/* Where a part that begins at this place of the binary tree is parked. */
static u16 parked_at(const struct inc_slot *s, u32 place)
{
	return s->geom->at ? s->geom->at[place] : place;
}

/**
 * inc_reduce_pairwise() - reduce a part in the order of the ranks
 * @s: slot that has begun a reduction
 * @member: index of the member that sent it
 * @chunk: its chunk
 * @part: the part; consumed
 *
 * The part is paired with its sibling, the pair with its sibling, and so on.
 *
 * Context: the slot's lock is held.
 * Return: true when all ranks are gathered, false when the part now waits.
 */
bool inc_reduce_pairwise(struct inc_slot *s, u16 member, u16 chunk,
			 struct inc_part *part)
{
	struct inc_part **parked = s->parked + (size_t)chunk * s->geom->members;
	struct inc_rank_range own = inc_geom_own(s->geom);
	u32 n = s->geom->members, idx = member;

	part->level = 0;
	if (s->geom->at) {
		struct inc_rank_range range = s->geom->ranges[member];

		n = own.n;
		while (1U << part->level < range.n)
			part->level++;
		idx = (u32)(range.first - own.first) >> part->level;
	}
	for (; 1U << part->level < n; part->level++, idx >>= 1) {
		u32 place = (idx ^ 1) << part->level;
		struct inc_part *left, *right;
		u16 sibling;

		if (place >= n)
			continue;
		sibling = parked_at(s, place);
		if (!parked[sibling] || parked[sibling]->level != part->level) {
			parked[parked_at(s, idx << part->level)] = part;
			return false;
		}
		left = idx & 1 ? parked[sibling] : part;
		right = idx & 1 ? part : parked[sibling];
		parked[sibling] = NULL;
		if (2U << part->level >= n) {
			merge_last(s, chunk, left, right);
			return true;
		}
		left->level = part->level;
		merge_parts(s, left, right);
		part = left;
	}
	take_only(s, chunk, part);
	return true;
}

/**
 * inc_reduce_by_arrival() - reduce a part in the order of arrival
 * @s: slot that has begun a reduction
 * @chunk: its chunk
 * @part: the part; consumed
 *
 * All that has arrived of a chunk is one part.
 *
 * Context: the slot's lock is held.
 * Return: true when all ranks are gathered.
 */
bool inc_reduce_by_arrival(struct inc_slot *s, u16 chunk, struct inc_part *part)
{
	struct inc_part **pile = &s->parked[(size_t)chunk * s->geom->members];
	struct inc_part *sum = *pile;

	part->level = 0;
	if (s->geom->members == 1) {
		take_only(s, chunk, part);
	} else if (!sum) {
		*pile = part;
	} else if (++sum->level + 1 < s->geom->members) {
		merge_parts(s, sum, part);
	} else {
		*pile = NULL;
		merge_last(s, chunk, sum, part);
	}
	return !*pile;
}
