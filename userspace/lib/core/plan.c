// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Plans. The switch holds the results of a message for all ranks in a buffer of
 * one message's size. Blocks that do not fit into it side by side are sent one
 * after the other: AllGather, Gather, Scatter and AllToAll as broadcasts, whose
 * data some ranks discard, ReduceScatter as reductions to one rank each.
 */
#include "plan.h"
#include "seg.h"

/*
 * Minimum block to split over two rails. For shorter ones, the second tree's round
 * trip would take longer than its part.
 */
#define SHARE_MIN	(256 << 10)	/* bytes */
#define SHARE_UNIT	64		/* elements */
/*
 * With two rails, maximum bytes to copy and keep, instead of a Barrier at the
 * operation's end: copying more takes longer than the Barrier.
 */
#define KEEP_MAX	65536

/* Count the blocks in this rank's send buffer. Returns their number. */
unsigned int inc_plan_blocks_in(const struct inc_plan *p)
{
	switch (p->collective) {
	case INC_COLL_BROADCAST:
		return p->rank == p->root;
	case INC_COLL_SCATTER:
		return p->rank == p->root ? p->nranks : 0;
	case INC_COLL_ALLTOALL:
	case INC_COLL_REDUCE_SCATTER:
		return p->nranks;
	case INC_COLL_BARRIER:
		return 0;
	}
	return 1;
}

/* Count the blocks in this rank's receive buffer. Returns their number. */
unsigned int inc_plan_blocks_out(const struct inc_plan *p)
{
	switch (p->collective) {
	case INC_COLL_BROADCAST:
		return p->rank != p->root;
	case INC_COLL_ALLGATHER:
	case INC_COLL_ALLTOALL:
		return p->nranks;
	case INC_COLL_GATHER:
		return p->rank == p->root ? p->nranks : 0;
	case INC_COLL_REDUCE:
		return p->rank == p->root;
	case INC_COLL_BARRIER:
		return 0;
	}
	return 1;
}

/* Blocks in the switch's result buffer; 1: a message may hold part of one. */
static size_t buffer_blocks(const struct inc_plan *p)
{
	switch (p->collective) {
	case INC_COLL_ALLTOALL:
		return (size_t)p->nranks * p->nranks;
	case INC_COLL_ALLGATHER:
	case INC_COLL_SCATTER:
	case INC_COLL_GATHER:
	case INC_COLL_REDUCE_SCATTER:
		return p->nranks;
	}
	return 1;
}

static uint64_t count_steps(const struct inc_plan *p)
{
	switch (p->collective) {
	case INC_COLL_ALLTOALL:
		return (uint64_t)p->nranks * (p->nranks - 1);
	case INC_COLL_SCATTER:
	case INC_COLL_GATHER:
		return p->nranks - 1;
	}
	return p->nranks;
}

/*
 * Decide how to execute a collective. In AllToAll a message serves two ranks
 * and costs all others a request and a result, and few messages in flight are
 * a rank's own. So messages are as long as possible, which outweighs the
 * longer retransmissions after a loss.
 * @msg_size: maximum message size of the tree, including the INC header
 * @esize: bytes of an element
 */
void inc_plan_init(struct inc_plan *p, uint32_t msg_size, uint32_t pmtu,
		   size_t esize)
{
	size_t n = buffer_blocks(p);

	p->whole = n == 1 ||
		   (!p->apart && p->block <= (msg_size - INC_HDR_LEN) / n);
	/* Blocks that lie side by side cannot be split. */
	if (p->whole && n > 1)
		p->chunk = inc_seg_chunk(msg_size, esize);
	else if (p->collective == INC_COLL_ALLTOALL)
		p->chunk = inc_seg_even(p->block, msg_size, pmtu, esize);
	else
		p->chunk = inc_seg_chunk(inc_seg_piece(msg_size, pmtu), esize);
	p->steps = p->whole ? 1 : count_steps(p);
}

/* Broadcast one rank's block to the ranks that want it. */
static void pass_block(const struct inc_plan *p, struct inc_step *s,
		       unsigned int root, bool wanted)
{
	s->collective = INC_COLL_BROADCAST;
	s->root = root;
	s->nfrom = p->rank == root;
	s->nto = p->rank != root && wanted;
}

/*
 * Get a step of a plan.
 * @i: number of the step, less than @p->steps
 */
void inc_plan_step(const struct inc_plan *p, uint64_t i, struct inc_step *s)
{
	unsigned int n = p->nranks, other, sender;

	*s = (struct inc_step) { 0 };
	if (p->whole) {
		s->collective = p->collective;
		s->root = p->root;
		s->nfrom = inc_plan_blocks_in(p);
		s->nto = inc_plan_blocks_out(p);
		return;
	}
	switch (p->collective) {
	case INC_COLL_ALLGATHER:
		pass_block(p, s, (unsigned int)i, true);
		s->to = (unsigned int)i;
		break;
	case INC_COLL_GATHER:
		other = (unsigned int)i + (i >= p->root);
		pass_block(p, s, other, p->rank == p->root);
		s->to = other;
		break;
	case INC_COLL_SCATTER:
		other = (unsigned int)i + (i >= p->root);
		pass_block(p, s, p->root, p->rank == other);
		s->from = other;
		break;
	case INC_COLL_ALLTOALL:
		/* Take turns, to keep all links busy in both directions. */
		sender = (unsigned int)(i % n);
		other = (sender + 1 + (unsigned int)(i / n)) % n;
		pass_block(p, s, sender, p->rank == other);
		s->from = other;
		s->to = sender;
		break;
	case INC_COLL_REDUCE_SCATTER:
		s->collective = INC_COLL_REDUCE;
		s->root = (unsigned int)i;
		s->from = s->root;
		s->nfrom = 1;
		s->nto = p->rank == s->root;
		break;
	}
}

/*
 * Move to the next message. The parts of a block follow each other, except in
 * AllToAll: there each sender of a turn sends one part. Otherwise the parts of
 * few senders would fill the window, and the links of the others would be
 * idle.
 * @i: step of the previous message; updated, to @p->steps after the last one
 * @off: offset of the message's part in a block, bytes; updated
 */
void inc_plan_next(const struct inc_plan *p, uint64_t *i, size_t *off)
{
	unsigned int turn = p->collective == INC_COLL_ALLTOALL && !p->whole ?
				    p->nranks : 1;

	if (++*i % turn)
		return;
	*off += inc_seg_len(p->block, *off, p->chunk);
	if (*off < p->block)
		*i -= turn;
	else
		*off = 0;
}

/* Count the messages of a plan. Returns their number. */
uint64_t inc_plan_msgs(const struct inc_plan *p)
{
	return p->steps * inc_seg_msgs(p->block, p->chunk);
}

/*
 * Decide how much of each block the first of two rails carries. Returns the
 * number of elements; @count: all of them. The same for all ranks, whatever
 * their trees are.
 * @esize: bytes of an element
 */
size_t inc_plan_share(size_t count, size_t esize)
{
	if (!esize || count < SHARE_MIN / esize)
		return count;
	return count / 2 / SHARE_UNIT * SHARE_UNIT;
}

/*
 * Decide whether two rails keep an operation's data and result. All ranks must
 * decide alike, or they send different numbers of messages; AllToAll is
 * excluded, as only some may do it in place. Returns true if data and result of
 * every rank are 64 KiB at most.
 */
bool inc_plan_is_short(const struct inc_plan *p)
{
	switch (p->collective) {
	case INC_COLL_ALLTOALL:
		return false;
	case INC_COLL_BROADCAST:
	case INC_COLL_REDUCE:
	case INC_COLL_ALLREDUCE:
	case INC_COLL_BARRIER:
		return p->block <= KEEP_MAX;
	}
	return p->block <= KEEP_MAX / p->nranks;
}
