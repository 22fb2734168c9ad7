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
 * Of ranks that are all here, eight in a row that fill a subtree wait for each other
 * where a CPU can reduce them at once: in registers, and to the first one's place. Not
 * where several CPUs receive them: the last one would have to fetch the others from
 * their caches, and the pairs that a CPU has are reduced there.
 *
 * A tree may use the order of arrival instead; then one part at a time waits
 * per chunk.
 *
 * Members that are switches stand for several ranks. Where elements are rounded,
 * the binary tree is the one over all ranks of the job, whatever switches they
 * are at: a part enters it at the height that its ranks have reached, and a
 * child reduces its ranks no further than to maximal blocks (rank_range.c),
 * whose siblings are elsewhere. Each becomes a plane of its request. So the
 * result has the same bits as on one switch with all ranks. Elsewhere any
 * pairing of neighbours gives the same bits: the binary tree is that over
 * members, and a child sends one plane.
 *
 * The planes are stored apart from the result, which the parent sends: ranks may
 * still need the previous one.
 */
#include <linux/log2.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "core/rank_range.h"
#include "core/reduce/reduce.h"
#include "core/reduce_tree.h"
#include "core/slot_state.h"

/**
 * struct span - part of a binary tree whose leaves are here
 * @leaf: the first leaf here, and how many
 * @all: number of all leaves
 * @at: for each leaf here, where its parts wait; NULL: in order
 */
struct span {
	struct inc_rank_range	leaf;
	u32			all;
	const u16		*at;
};

/**
 * struct node - node of a binary tree, of leaves from @idx * 2^@level on
 * @idx: number of nodes of this height before it
 * @level: height
 */
struct node {
	u32	idx;
	u32	level;
};

/*
 * Reduce @right into @left. Two vectors of 16-bit floats make one of binary32:
 * the right one's memory keeps the lower halves.
 */
static void merge_parts(struct inc_slot *s, struct inc_part *left,
			struct inc_part *right)
{
	struct inc_part *lo = NULL;

	if (s->ops->wide)
		lo = left->lo ?: right->lo ?: right;
	inc_part_merge(s->ops, left, lo, right, inc_geom_all(s->geom));
	if (lo == right) {
		left->lo = right;
	} else if (lo && !left->lo) {
		left->lo = lo;
		inc_part_free(right);
	} else {
		inc_part_drop(right);
	}
}

/*
 * Reduce the last two parts: they make the result at @off, or a plane of a
 * child's request, which is neither divided nor rounded.
 */
static void merge_last(struct inc_slot *s, u32 off, struct inc_part *left,
		       struct inc_part *right)
{
	u8 *hi = s->partial + off, *lo = NULL;
	u16 all = inc_geom_all(s->geom);
	bool child = s->geom->child;

	if (s->ops->wide && child)
		lo = hi + inc_geom_buffer(s->geom);
	inc_part_finish(s->ops, hi, lo, left, right, all);
	if (!child)
		inc_reduce_finish(s->ops, hi, left->len / s->ops->size, all);
	inc_part_drop(left);
	inc_part_drop(right);
}

/* Take a part that there is nothing to reduce with. */
static void take_only(struct inc_slot *s, u32 off, struct inc_part *part)
{
	inc_part_copy(part, 0, s->partial + off, part->len);
	if (part->lo)
		inc_part_copy(part->lo, 0,
			      s->partial + off + inc_geom_buffer(s->geom),
			      part->len);
	inc_part_drop(part);
}

/* The binary tree over ranks, or over members. */
static struct span span_of(const struct inc_slot *s)
{
	const struct inc_slot_geom *g = s->geom;

	if (!inc_slot_by_rank(s))
		return (struct span) {
			.leaf.n = g->members, .all = g->members,
		};
	return (struct span) {
		.leaf = g->own, .all = g->job_ranks, .at = g->at,
	};
}

/*
 * Go up to the first node with a sibling. Returns false if the sibling is not here:
 * the node is a maximal block.
 */
static bool find_sibling(const struct span *t, struct node *n)
{
	for (; 1U << n->level < t->all; n->level++, n->idx >>= 1) {
		u32 size = 1U << n->level, leaf = (n->idx ^ 1) * size;

		if (leaf < t->all)
			return leaf >= t->leaf.first &&
			       min(leaf + size, t->all) <=
			       (u32)t->leaf.first + t->leaf.n;
	}
	return false;
}

/* Where parts of a node wait. */
static struct inc_part **find_pending(const struct inc_slot *s,
				      const struct span *t, u16 chunk, u32 idx,
				      u32 level)
{
	u32 place = (idx << level) - t->leaf.first;

	return &s->pending[(size_t)chunk * inc_geom_parts(s->geom) +
			  (t->at ? t->at[place] : place)];
}

/* Where the elements of a maximal block go. */
static u32 block_off(const struct inc_slot *s, const struct span *t,
		     const struct node *n, u16 chunk)
{
	struct inc_rank_range left = t->leaf, block;
	u32 off = inc_chunk_off(s->geom, chunk);

	for (; left.first < n->idx << n->level; left.first += block.n) {
		block = inc_rank_block(left, t->all);
		left.n -= block.n;
		off += inc_geom_buffer(s->geom) *
		       (s->ops->wide && block.n > 1 ? 2 : 1);
	}
	return off;
}

/* A maximal block of a chunk is complete. Returns whether all of them are. */
static bool block_done(struct inc_slot *s, const struct span *t,
		       const struct node *n, u16 chunk)
{
	u32 first = n->idx << n->level, end = first + (1U << n->level);
	u32 ranks = min(end, t->all) - first;

	if (ranks == t->leaf.n)
		return true;
	s->chunk[chunk].filled += ranks;
	return s->chunk[chunk].filled == t->leaf.n;
}

/**
 * inc_reduce_by_blocks() - may blocks of eight ranks be reduced at once?
 * @s: slot that begins a reduction, with its state after the last one
 *
 * Context: the slot's lock is held.
 * Return: the slot's @by_blocks until the next one.
 */
bool inc_reduce_by_blocks(const struct inc_slot *s)
{
	return s->ops->block && !s->geom->by_arrival && !inc_slot_by_rank(s) &&
	       s->geom->members >= INC_REDUCE_BLOCK && s->cpu != INC_SLOT_CPUS;
}

/*
 * Keep a part with the others of its block of eight ranks. If that completes them, take
 * all to @block. Returns whether it does.
 */
static bool take_block(struct inc_slot *s, const struct span *t, u16 member,
		       u16 chunk, struct inc_part *part,
		       struct inc_part *block[])
{
	struct inc_part **first;
	int i;

	first = find_pending(s, t, chunk, round_down(member, INC_REDUCE_BLOCK), 0);
	/* The sibling of a block looks whether its first rank's is one, too. */
	part->level = 0;
	first[member % INC_REDUCE_BLOCK] = part;
	/* From the last one on: it is missing if they come in order. */
	for (i = INC_REDUCE_BLOCK; i--;) {
		block[i] = first[i];
		if (!block[i])
			return false;
	}
	memset(first, 0, INC_REDUCE_BLOCK * sizeof(*first));
	return true;
}

/* Reduce the parts of a block to the first one. */
static void merge_block(struct inc_slot *s, struct inc_part *block[])
{
	int i = 1;

	inc_part_merge_block(s->ops, block);
	if (s->ops->wide)
		block[0]->lo = block[i++];
	while (i < INC_REDUCE_BLOCK)
		inc_part_free(block[i++]);
}

/* Reduce the only block: this makes the result, as in merge_last(). */
static void finish_block(struct inc_slot *s, u16 chunk, struct inc_part *block[])
{
	u8 *to = s->partial + inc_chunk_off(s->geom, chunk);
	u16 all = inc_geom_all(s->geom);
	int i;

	inc_part_finish_block(s->ops, to, block, all);
	if (!s->geom->child)
		inc_reduce_finish(s->ops, to, block[0]->len / s->ops->size, all);
	for (i = 0; i < INC_REDUCE_BLOCK; i++)
		inc_part_free(block[i]);
}

/**
 * inc_reduce_pairwise() - reduce a part in the order of the ranks
 * @s: slot that has begun a reduction
 * @member: index of the member that sent it
 * @from: ranks that it covers: a block, or all of the member's ranks
 * @chunk: its chunk
 * @part: the part; consumed
 *
 * The part is reduced with the others of its block when these are there. Else, and
 * then, it is paired with its sibling, the pair with its sibling, and so on.
 *
 * Context: the slot's lock is held.
 * Return: true when all ranks are gathered, false when the part now waits.
 */
bool inc_reduce_pairwise(struct inc_slot *s, u16 member,
			 struct inc_rank_range from, u16 chunk,
			 struct inc_part *part)
{
	struct inc_part **sibling, *left, *right, *block[INC_REDUCE_BLOCK];
	struct span t = span_of(s);
	struct node n = { .idx = member };

	if (inc_slot_by_rank(s)) {
		while (1U << n.level < from.n)
			n.level++;
		n.idx = from.first >> n.level;
	} else if (inc_slot_in_block(s, member, part->len)) {
		if (!take_block(s, &t, member, chunk, part, block))
			return false;
		if (s->geom->members == INC_REDUCE_BLOCK) {
			finish_block(s, chunk, block);
			return true;
		}
		merge_block(s, block);
		part = block[0];
		n.idx = member / INC_REDUCE_BLOCK;
		n.level = ilog2(INC_REDUCE_BLOCK);
	}
	if (!find_sibling(&t, &n)) {
		take_only(s, block_off(s, &t, &n, chunk), part);
		return block_done(s, &t, &n, chunk);
	}
	for (;;) {
		sibling = find_pending(s, &t, chunk, n.idx ^ 1, n.level);
		part->level = n.level;
		if (!*sibling || (*sibling)->level != n.level) {
			*find_pending(s, &t, chunk, n.idx, n.level) = part;
			return false;
		}
		left = n.idx & 1 ? *sibling : part;
		right = n.idx & 1 ? part : *sibling;
		*sibling = NULL;
		n.idx >>= 1;
		n.level++;
		if (!find_sibling(&t, &n))
			break;
		merge_parts(s, left, right);
		part = left;
	}
	merge_last(s, block_off(s, &t, &n, chunk), left, right);
	return block_done(s, &t, &n, chunk);
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
	struct inc_part **pile = &s->pending[(size_t)chunk *
					    inc_geom_parts(s->geom)];
	struct inc_part *sum = *pile;

	part->level = 0;
	if (s->geom->members == 1) {
		take_only(s, inc_chunk_off(s->geom, chunk), part);
	} else if (!sum) {
		*pile = part;
	} else if (++sum->level + 1 < s->geom->members) {
		merge_parts(s, sum, part);
	} else {
		*pile = NULL;
		merge_last(s, inc_chunk_off(s->geom, chunk), sum, part);
	}
	return !*pile;
}
