// SPDX-License-Identifier: GPL-2.0
/*
 * Every type and operation through a slot: ranks in any order, against the
 * definition of the reduction, element by element with the tests' own arithmetic.
 * Sums, products and averages of 16-bit floats are computed in binary32, rounded
 * once.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>

#include "core/reduce/reduce.h"
#include "parts.h"
#include "reduce_ref.h"

#define MAX_RANKS	17
#define PMTU		256
#define MAX_CHUNKS	3
#define MAX_SIZE	16

static bool is_wide(u8 dtype, u8 op)
{
	return (dtype == INC_DTYPE_FP16 || dtype == INC_DTYPE_BF16) &&
	       (op == INC_OP_SUM || op == INC_OP_PROD || op == INC_OP_AVG);
}

static u8 tree_op(u8 op)
{
	return op == INC_OP_AVG ? INC_OP_SUM : op;
}

/* Reduce 2^@level ranks from @first on as the tree does; there may be fewer. */
static void tree(const struct slot_test *t, const struct inc_msg *msg, u32 elem,
		 u32 first, u32 level, u8 *to)
{
	unsigned int size = ref_size(msg->dtype);
	u8 right[MAX_SIZE];

	if (!level) {
		memcpy(to, test_data(t, first) + elem * size, size);
		return;
	}
	tree(t, msg, elem, first, --level, to);
	if (first + (1U << level) >= t->geom.members)
		return;
	tree(t, msg, elem, first + (1U << level), level, right);
	ref_elem(msg->dtype, tree_op(msg->op), to, to, right);
}

static u64 wide_tree(const struct slot_test *t, const struct inc_msg *msg,
		     u32 elem, u32 first, u32 level)
{
	u64 left, right;

	if (!level)
		return ref_fp_convert(ref_load(test_data(t, first) + 2 * elem,
					       msg->dtype),
				      fp_format(msg->dtype), &ref_fp32);
	left = wide_tree(t, msg, elem, first, --level);
	if (first + (1U << level) >= t->geom.members)
		return left;
	right = wide_tree(t, msg, elem, first + (1U << level), level);
	return ref_fp(INC_DTYPE_FP32, tree_op(msg->op), left, right);
}

static void want_elem(const struct slot_test *t, const struct inc_msg *msg,
		      u32 elem, u8 *to)
{
	u16 ranks = t->geom.members;
	u32 level = 0;
	u64 x;

	while (1U << level < ranks)
		level++;
	if (ranks == 1 || !is_wide(msg->dtype, msg->op)) {
		tree(t, msg, elem, 0, level, to);
		if (ranks == 1 || msg->op != INC_OP_AVG)
			return;
		x = ref_load(to, msg->dtype);
		x = fp_format(msg->dtype) ?
		    ref_fp_div(x, ranks, fp_format(msg->dtype)) :
		    ref_int_div(msg->dtype, x, ranks);
		ref_store(to, msg->dtype, x);
		return;
	}
	x = wide_tree(t, msg, elem, 0, level);
	if (msg->op == INC_OP_AVG)
		x = ref_fp_div(x, ranks, &ref_fp32);
	ref_store(to, msg->dtype,
		  ref_fp_convert(x, &ref_fp32, fp_format(msg->dtype)));
}

static void run_slot(struct slot_test *t, const struct inc_msg *msg)
{
	while (t->s.state != RDMA_INC_SLOT_STATE_DONE) {
		u16 rank = inc_rnd_below(&t->rng, t->geom.members);

		if (!t->sent[rank])
			test_begin(t, rank, msg);
		else if (t->sent[rank] <= msg->nchunks)
			test_add(t, rank, msg);
	}
}

static void every_type(struct kunit *test)
{
	const unsigned int n = inc_test_rounds(4);
	struct slot_test *t = test->priv;

	for (unsigned int i = 0; i < n * INC_DTYPE_COUNT * INC_OP_COUNT; i++) {
		u8 dtype = i / INC_OP_COUNT % INC_DTYPE_COUNT;
		u8 op = i % INC_OP_COUNT;
		struct inc_msg msg;
		u8 want[MAX_SIZE];
		unsigned int size;

		if (!inc_reduce_lookup(dtype, op))
			continue;
		size = ref_size(dtype);
		/* Long packets too: integers are reduced in registers from 512 bytes on. */
		slot_test_tree(test, 1 + inc_rnd_below(&t->rng, MAX_RANKS),
			       inc_rnd_chance(&t->rng, 500) ? PMTU : 4 * PMTU,
			       MAX_CHUNKS, 0);
		msg = test_msg(test, INC_COLL_ALLREDUCE, dtype, op, 0,
			       1 + inc_rnd_below(&t->rng, 700 / size));
		test_fill(t, &msg);
		run_slot(t, &msg);
		KUNIT_ASSERT_EQ(test, test_parts_live, 0);
		for (u32 e = 0; e < msg.nelem; e++) {
			want_elem(t, &msg, e, want);
			KUNIT_ASSERT_EQ_MSG(test,
					    memcmp(t->s.result + e * size, want,
						   size),
					    0,
					    "type %u, op %u, %u ranks, element %u of %u",
					    dtype, op, t->geom.members, e,
					    msg.nelem);
		}
	}
}

/* Sums in two planes are freed, too, when a message fails. */
static void wide_fails(struct kunit *test)
{
	const unsigned int n = inc_test_rounds(100);
	struct slot_test *t = test->priv;

	for (unsigned int i = 0; i < n; i++) {
		struct inc_msg msg;
		u32 steps;

		slot_test_tree(test, 2 + inc_rnd_below(&t->rng, MAX_RANKS - 1),
			       PMTU, MAX_CHUNKS, 0);
		t->geom.by_arrival = i & 1;
		msg = test_msg(test, INC_COLL_ALLREDUCE, INC_DTYPE_BF16,
			       INC_OP_SUM, 0, 300);
		test_fill(t, &msg);
		steps = inc_rnd_below(&t->rng, 4 * t->geom.members);
		while (steps-- && t->s.state != RDMA_INC_SLOT_STATE_DONE) {
			u16 rank = inc_rnd_below(&t->rng, t->geom.members);

			if (!t->sent[rank])
				test_begin(t, rank, &msg);
			else if (t->sent[rank] <= msg.nchunks)
				test_add(t, rank, &msg);
		}
		inc_slot_fail(&t->s, INC_STATUS_PEER_DEAD);
		KUNIT_ASSERT_EQ(test, test_parts_live, 0);
	}
}

static struct kunit_case slot_type_cases[] = {
	KUNIT_CASE(every_type),
	KUNIT_CASE(wide_fails),
	{}
};

static struct kunit_suite slot_type_suite = {
	.name = "rdma_inc_slot_type",
	.init = slot_test_init,
	.exit = slot_test_exit,
	.test_cases = slot_type_cases,
};

kunit_test_suite(slot_type_suite);

MODULE_LICENSE("GPL");
