// SPDX-License-Identifier: GPL-2.0
/*
 * The collectives that the switch offers (draft, section 1).
 */
#include <linux/bits.h>
#include <linux/nospec.h>
#include <uapi/linux/rdma_inc_proto.h>

#include "core/collective.h"
#include "core/reduce/reduce.h"

static const struct inc_coll colls[INC_COLL_COUNT] = {
	[INC_COLL_BROADCAST]	= { .offered = true, .rooted = true,
				    .from = INC_FROM_ROOT, .to = INC_TO_OTHERS },
	[INC_COLL_ALLGATHER]	= { .offered = true,
				    .from = INC_FROM_ALL, .to = INC_TO_ALL },
	[INC_COLL_ALLTOALL]	= { .offered = true, .blocks = true,
				    .from = INC_FROM_ALL, .to = INC_TO_EACH },
	[INC_COLL_SCATTER]	= { .offered = true, .rooted = true, .blocks = true,
				    .from = INC_FROM_ROOT, .to = INC_TO_EACH },
	[INC_COLL_GATHER]	= { .offered = true, .rooted = true,
				    .from = INC_FROM_ALL, .to = INC_TO_ROOT },
	[INC_COLL_REDUCE]	= { .offered = true, .rooted = true, .reduce = true,
				    .from = INC_FROM_ALL, .to = INC_TO_ROOT },
	[INC_COLL_ALLREDUCE]	= { .offered = true, .reduce = true,
				    .from = INC_FROM_ALL, .to = INC_TO_ALL },
	[INC_COLL_REDUCE_SCATTER] = { .offered = true, .reduce = true, .blocks = true,
				    .from = INC_FROM_ALL, .to = INC_TO_EACH },
	[INC_COLL_BARRIER]	= { .offered = true },
};

/**
 * inc_coll_lookup() - look up a collective
 * @collective: enum inc_collective, any value
 *
 * Return: its row, or NULL if the switch does not offer it.
 */
const struct inc_coll *inc_coll_lookup(u8 collective)
{
	if (collective >= INC_COLL_COUNT)
		return NULL;
	collective = array_index_nospec(collective, INC_COLL_COUNT);
	return colls[collective].offered ? &colls[collective] : NULL;
}

/**
 * inc_coll_mask() - get the collectives offered
 *
 * Return: mask of 1 << enum inc_collective.
 */
u32 inc_coll_mask(void)
{
	u32 mask = 0;
	u8 i;

	for (i = 0; i < INC_COLL_COUNT; i++)
		if (colls[i].offered)
			mask |= BIT(i);
	return mask;
}

/* The types, or the operations, of all combinations that can be reduced. */
static u32 reduce_mask(bool ops)
{
	u32 mask = 0;
	u8 type, op;

	for (type = 0; type < INC_DTYPE_COUNT; type++)
		for (op = 0; op < INC_OP_COUNT; op++)
			if (inc_reduce_lookup(type, op))
				mask |= BIT(ops ? op : type);
	return mask;
}

/**
 * inc_coll_dtype_mask() - get the data types that some operation takes
 *
 * Return: mask of 1 << enum inc_dtype.
 */
u32 inc_coll_dtype_mask(void)
{
	return reduce_mask(false);
}

/**
 * inc_coll_op_mask() - get the operations that some data type takes
 *
 * Return: mask of 1 << enum inc_op.
 */
u32 inc_coll_op_mask(void)
{
	return reduce_mask(true);
}
