// SPDX-License-Identifier: GPL-2.0
/*
 * The table of collectives, and the masks derived from it.
 */
#include <kunit/test.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <uapi/linux/rdma_inc_proto.h>

#include "common.h"
#include "core/collective.h"
#include "core/reduce/reduce.h"

static void rows(struct kunit *test)
{
	const struct inc_coll *allreduce = inc_coll_lookup(INC_COLL_ALLREDUCE);
	const struct inc_coll *barrier = inc_coll_lookup(INC_COLL_BARRIER);

	KUNIT_ASSERT_NOT_NULL(test, allreduce);
	KUNIT_EXPECT_EQ(test, allreduce->from, (u8)INC_FROM_ALL);
	KUNIT_EXPECT_EQ(test, allreduce->to, (u8)INC_TO_ALL);
	KUNIT_EXPECT_TRUE(test, allreduce->reduce);
	KUNIT_EXPECT_FALSE(test, allreduce->rooted);

	KUNIT_ASSERT_NOT_NULL(test, barrier);
	KUNIT_EXPECT_EQ(test, barrier->from, (u8)INC_FROM_NONE);
	KUNIT_EXPECT_FALSE(test, barrier->reduce);
	KUNIT_EXPECT_FALSE(test, barrier->rooted);
}

/* Whatever byte a peer sends gives an offered row or none. */
static void any_byte(struct kunit *test)
{
	u32 mask = inc_coll_mask();

	for (unsigned int i = 0; i < 256; i++) {
		const struct inc_coll *coll = inc_coll_lookup(i);

		KUNIT_EXPECT_EQ_MSG(test, !!coll, i < 32 && mask & BIT(i),
				    "collective %u", i);
		if (!coll)
			continue;
		KUNIT_EXPECT_TRUE(test, coll->offered);
		KUNIT_EXPECT_TRUE(test, coll->from == INC_FROM_ALL ||
				  !coll->reduce);
	}
	KUNIT_EXPECT_EQ(test, mask >> INC_COLL_COUNT, 0U);
}

/* The masks must keep the promises of the first version. */
static void promised(struct kunit *test)
{
	const u32 colls = BIT(INC_COLL_COUNT) - 1;
	const u32 dtypes = BIT(INC_DTYPE_INT32) | BIT(INC_DTYPE_INT64) |
			   BIT(INC_DTYPE_FP32) | BIT(INC_DTYPE_FP64);
	const u32 ops = BIT(INC_OP_SUM) | BIT(INC_OP_MIN) | BIT(INC_OP_MAX);

	KUNIT_EXPECT_EQ(test, inc_coll_mask() & colls, colls);
	KUNIT_EXPECT_EQ(test, inc_coll_dtype_mask() & dtypes, dtypes);
	KUNIT_EXPECT_EQ(test, inc_coll_op_mask() & ops, ops);
}

/* A bit is set in a mask if and only if something can be reduced by it. */
static void masks(struct kunit *test)
{
	u32 dtypes = inc_coll_dtype_mask(), ops = inc_coll_op_mask();
	u32 want_dtypes = 0, want_ops = 0;

	for (unsigned int i = 0; i < 256 * 256; i++) {
		if (!inc_reduce_lookup(i >> 8, i & 255))
			continue;
		want_dtypes |= BIT(i >> 8);
		want_ops |= BIT(i & 255);
	}
	KUNIT_EXPECT_EQ(test, dtypes, want_dtypes);
	KUNIT_EXPECT_EQ(test, ops, want_ops);
}

static struct kunit_case coll_cases[] = {
	KUNIT_CASE(rows),
	KUNIT_CASE(any_byte),
	KUNIT_CASE(promised),
	KUNIT_CASE(masks),
	{}
};

static struct kunit_suite coll_suite = {
	.name = "rdma_inc_collective",
	.test_cases = coll_cases,
};

kunit_test_suite(coll_suite);

MODULE_LICENSE("GPL");
