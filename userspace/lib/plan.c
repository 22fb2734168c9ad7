// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Plans. A switch's message holds what all ranks get of it in a buffer of one
 * message's size; blocks that do not fit in there side by side go one after
 * the other: AllGather, Gather, Scatter and AllToAll as broadcasts of which not
 * all ranks want the data, ReduceScatter as reductions to one rank each.
 */
#include "plan.h"
#include "seg.h"

/**
 * inc_plan_blocks_in() - blocks in this rank's send buffer
 * @p: plan
 *
 * Return: their number.
 */
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

/**
 * inc_plan_blocks_out() - blocks in this rank's receive buffer
 * @p: plan
 *
 * Return: their number.
 */
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

static uint64_t steps(const struct inc_plan *p)
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

/**
 * inc_plan_init() - decide how a collective is carried out
 * @p: plan, filled in up to @p->block
 * @msg_size: longest message of the tree, INC header included
 * @pmtu: path MTU
 * @esize: bytes of an element
 *
 * In AllToAll a message is of use to two ranks and costs all others a request and
 * a result; and of those that are under way few are a rank's own. So they are as
 * long as can be there, which also outweighs that more has to be sent again of
 * one that loses packets.
 */
void inc_plan_init(struct inc_plan *p, uint32_t msg_size, uint32_t pmtu,
		   size_t esize)
{
	size_t n = buffer_blocks(p);

	p->whole = n == 1 || p->block <= (msg_size - INC_HDR_LEN) / n;
	/* Blocks that lie side by side can not be cut. */
	if (p->whole && n > 1)
		p->chunk = inc_seg_chunk(msg_size, esize);
	else if (p->collective == INC_COLL_ALLTOALL)
		p->chunk = inc_seg_even(p->block, msg_size, pmtu, esize);
	else
		p->chunk = inc_seg_chunk(inc_seg_piece(msg_size, pmtu), esize);
	p->steps = p->whole ? 1 : steps(p);
}

/* One rank's block to those who want it, as a broadcast. */
static void pass(const struct inc_plan *p, struct inc_step *s, unsigned int root,
		 bool wanted)
{
	s->collective = INC_COLL_BROADCAST;
	s->root = root;
	s->nfrom = p->rank == root;
	s->nto = p->rank != root && wanted;
}

/**
 * inc_plan_step() - a step of a plan
 * @p: plan
 * @i: which one, less than @p->steps
 * @s: filled in
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
		pass(p, s, (unsigned int)i, true);
		s->to = (unsigned int)i;
		break;
	case INC_COLL_GATHER:
		other = (unsigned int)i + (i >= p->root);
		pass(p, s, other, p->rank == p->root);
		s->to = other;
		break;
	case INC_COLL_SCATTER:
		other = (unsigned int)i + (i >= p->root);
		pass(p, s, p->root, p->rank == other);
		s->from = other;
		break;
	case INC_COLL_ALLTOALL:
		/* In turns, so that all links are busy in both directions. */
		sender = (unsigned int)(i % n);
		other = (sender + 1 + (unsigned int)(i / n)) % n;
		pass(p, s, sender, p->rank == other);
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

/**
 * inc_plan_next() - on to the next message
 * @p: plan
 * @i: step of the message before; updated, to @p->steps behind the last one
 * @off: bytes of a block at which its part begins; updated
 *
 * A block's parts follow each other, but in AllToAll: there all senders of a turn
 * send a part each. Else few senders' parts would fill the window, and the
 * links of the others be idle.
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

/**
 * inc_plan_msgs() - messages of a plan
 * @p: plan
 *
 * Return: their number.
 */
uint64_t inc_plan_msgs(const struct inc_plan *p)
{
	return p->steps * inc_seg_msgs(p->block, p->chunk);
}
