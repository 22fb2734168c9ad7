// SPDX-License-Identifier: GPL-2.0
/*
 * The slot machine's results: bit for bit as of the balanced binary tree over the
 * ranks, whatever the number of ranks, the size of the message and the order of
 * arrival.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "core/reduce/reduce.h"
#include "parts.h"

static const u8 dtypes[] = {
	INC_DTYPE_FP32, INC_DTYPE_FP64, INC_DTYPE_INT32, INC_DTYPE_INT64,
};

static const u8 ops[] = { INC_OP_SUM, INC_OP_MIN, INC_OP_MAX };

static const u16 sizes[] = {
	1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 33, 64,
};

/* A message of @nchunks packets, the last of them of any length. */
static struct inc_msg some_msg(struct kunit *test, u32 msg_id, u16 nchunks,
			       u8 dtype, u8 op)
{
	struct slot_test *t = test->priv;
	u32 size = inc_dtype_size(dtype);
	u32 least = nchunks > 1 ? (nchunks - 1) * t->geom.pmtu - INC_HDR_LEN : 0;
	u32 most = nchunks * t->geom.pmtu - INC_HDR_LEN;
	u32 nelem = least / size + 1 + inc_rnd_below(&t->rng, (most - least) / size);
	struct inc_msg msg = test_msg(test, INC_COLL_ALLREDUCE, dtype, op, msg_id,
				      nelem);

	KUNIT_ASSERT_EQ(test, msg.nchunks, nchunks);
	KUNIT_ASSERT_EQ(test, msg.data_len, nelem * size);
	return msg;
}

/* Add all ranks' chunks in a random order; check each chunk as it completes. */
static void any_order(struct kunit *test, const struct inc_msg *msg)
{
	struct slot_test *t = test->priv;
	u32 left = (u32)t->geom.members * (msg->nchunks + 1);

	while (left) {
		u16 rank = inc_rnd_below(&t->rng, t->geom.members),
		    least = U16_MAX;
		bool done;

		if (t->sent[rank] == msg->nchunks + 1)
			continue;
		left--;
		if (!t->sent[rank]) {
			KUNIT_ASSERT_EQ(test, test_begin(t, rank, msg), INC_SLOT_TAKE);
			continue;
		}
		done = test_add(t, rank, msg);
		for (u16 i = 0; i < t->geom.members; i++)
			least = min(least, t->sent[i]);
		/* Only chunks that all have sent are complete. */
		KUNIT_ASSERT_EQ(test, t->s.ready, max_t(u16, least, 1) - 1);
		KUNIT_ASSERT_EQ(test, done, least == t->sent[rank]);
		if (done)
			test_expect_chunk(test, msg, t->s.ready - 1, t->want);
	}
	KUNIT_ASSERT_EQ(test, t->s.state, (u8)RDMA_INC_SLOT_STATE_DONE);
	KUNIT_ASSERT_EQ(test, test_parts_live, 0);
}

/* Every number of ranks, type and operation; messages of 1 ... 6 packets. */
static void balanced_tree(struct kunit *test)
{
	const unsigned int n = inc_test_rounds(24);
	struct slot_test *t = test->priv;

	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		u32 msg_id = 3;

		slot_test_tree(test, sizes[i], i % 2 ? 1024 : 256, 6, msg_id);
		for (unsigned int k = 0; k < n; k++, msg_id += 4) {
			struct inc_msg msg = some_msg(test, msg_id, 1 + (i + k) % 6,
						      dtypes[k % 4],
						      ops[(i + k / 4) % 3]);

			t->cpus = 1 + k / 2 % 2;
			test_fill(t, &msg);
			test_reference(t, &msg, t->want);
			any_order(test, &msg);
		}
	}
}

/* Full-size packets and messages: 16 of 4096 bytes. */
static void large_message(struct kunit *test)
{
	struct slot_test *t = test->priv;
	struct inc_msg msg;

	slot_test_tree(test, 5, 4096, 16, 0);
	msg = test_msg(test, INC_COLL_ALLREDUCE, INC_DTYPE_FP32, INC_OP_SUM, 0,
		       (65536 - INC_HDR_LEN) / 4);
	KUNIT_ASSERT_EQ(test, msg.nchunks, 16);
	test_fill(t, &msg);
	test_reference(t, &msg, t->want);
	any_order(test, &msg);
}

/* The order matters with these data, or these tests would prove nothing. */
static void data_show_order(struct kunit *test)
{
	struct slot_test *t = test->priv;
	const struct inc_reduce_ops *sum;
	struct inc_msg msg;

	for (unsigned int i = 0; i < 2; i++) {
		slot_test_tree(test, 7, 256, 6, 0);
		msg = some_msg(test, 0, 6, dtypes[i], INC_OP_SUM);
		sum = inc_reduce_lookup(dtypes[i], INC_OP_SUM);
		test_fill(t, &msg);
		test_reference(t, &msg, t->want);
		/*
		 * One after the other, in order of arrival, as a naive switch
		 * does.
		 */
		memcpy(t->old, test_data(t, 0), msg.data_len);
		for (u16 rank = 1; rank < 7; rank++)
			sum->generic(t->old, t->old, test_data(t, rank), msg.nelem);
		KUNIT_EXPECT_NE(test, memcmp(t->old, t->want, msg.data_len), 0);
		any_order(test, &msg);
	}
}

/* Which operand is the left one: of two NaNs the lower rank's comes out. */
static void left_is_lower(struct kunit *test)
{
	struct slot_test *t = test->priv;

	for (u16 ranks = 2; ranks <= 9; ranks++) {
		for (unsigned int round = 0; round < inc_test_rounds(10); round++) {
			struct inc_msg msg;

			slot_test_tree(test, ranks, 256, 1, 0);
			msg = test_msg(test, INC_COLL_ALLREDUCE, INC_DTYPE_FP32,
				       INC_OP_SUM, 0, 1);
			for (u16 rank = 0; rank < ranks; rank++) {
				u8 nan[4] = { (u8)rank, 0, 0xc0, 0x7f };

				memcpy(test_data(t, rank), nan, 4);
			}
			test_reference(t, &msg, t->want);
			KUNIT_ASSERT_EQ(test, t->want[0], 0);
			any_order(test, &msg);
			KUNIT_ASSERT_EQ(test, t->s.result[0], 0);
		}
	}
}

/* Child switches with aligned blocks give the same bits as one flat tree. */
static void two_levels(struct kunit *test)
{
	struct slot_test *t = test->priv;
	u8 *child = kunit_kzalloc(test, 4 * 4096, GFP_KERNEL);
	u8 *flat = kunit_kzalloc(test, 4096, GFP_KERNEL);
	struct inc_msg msg;

	KUNIT_ASSERT_TRUE(test, child && flat);
	slot_test_tree(test, 14, 256, 4, 0);
	msg = some_msg(test, 0, 4, INC_DTYPE_FP32, INC_OP_SUM);
	test_fill(t, &msg);
	test_reference(t, &msg, t->want);
	any_order(test, &msg);
	memcpy(flat, t->s.result, msg.data_len);

	/* Four child switches of 4, 4, 4 and 2 ranks. */
	for (u16 l = 0; l < 4; l++) {
		u8 *all = t->data;

		t->data = NULL;
		slot_test_tree(test, l < 3 ? 4 : 2, 256, 4, 0);
		memcpy(t->data, all + (size_t)l * 4 * 4 * 256,
		       (size_t)t->geom.members * 4 * 256);
		test_reference(t, &msg, t->want);
		any_order(test, &msg);
		memcpy(child + l * 4096, t->s.result, msg.data_len);
		vfree(t->data);
		t->data = all;
	}
	slot_test_tree(test, 4, 256, 4, 0);
	for (u16 l = 0; l < 4; l++)
		memcpy(test_data(t, l), child + l * 4096, msg.data_len);
	test_reference(t, &msg, t->want);
	any_order(test, &msg);
	KUNIT_EXPECT_EQ(test, memcmp(t->s.result, flat, msg.data_len), 0);
}

/* Maximum number of parts that wait at once: one per rank and chunk. */
static void pending_parts(struct kunit *test)
{
	struct slot_test *t = test->priv;
	struct inc_msg msg;

	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		u16 ranks = sizes[i];

		slot_test_tree(test, ranks, 256, 3, 0);
		msg = some_msg(test, 0, 3, INC_DTYPE_FP32, INC_OP_SUM);
		test_fill(t, &msg);
		test_reference(t, &msg, t->want);
		/* Even ranks first: none of them has a sibling yet. */
		for (u16 rank = 0; rank < ranks; rank += 2) {
			test_begin(t, rank, &msg);
			for (u16 c = 0; c < 3; c++)
				test_add(t, rank, &msg);
		}
		if (ranks > 1)
			KUNIT_EXPECT_EQ(test, test_parts_live, (ranks + 1) / 2 * 3);
		for (u16 rank = 1; rank < ranks; rank += 2) {
			test_begin(t, rank, &msg);
			for (u16 c = 0; c < 3; c++)
				test_add(t, rank, &msg);
		}
		KUNIT_EXPECT_EQ(test, test_parts_live, 0);
		for (u16 c = 0; c < 3; c++)
			test_expect_chunk(test, &msg, c, t->want);
	}
}

/* How many parts wait when all ranks but the last one have sent. */
static int waiting(struct kunit *test, u32 msg_id, u32 nelem, u32 cpus)
{
	struct slot_test *t = test->priv;
	struct inc_msg msg = test_msg(test, INC_COLL_ALLREDUCE, INC_DTYPE_FP32,
				      INC_OP_SUM, msg_id, nelem);
	int live = 0;

	test_fill(t, &msg);
	test_reference(t, &msg, t->want);
	for (u16 rank = 0; rank < t->geom.members; rank++) {
		test_begin(t, rank, &msg);
		live = test_parts_live;
		inc_slot_note_cpu(&t->s, rank % cpus);
		test_add(t, rank, &msg);
	}
	test_expect_chunk(test, &msg, 0, t->want);
	KUNIT_EXPECT_EQ(test, test_parts_live, 0);
	return live;
}

/*
 * Where one CPU brings them, long parts of eight ranks in a row wait for each
 * other; the seven last ones of fifteen, short parts, and parts after a message
 * that several CPUs have brought are paired.
 */
static void blocks(struct kunit *test)
{
	static const struct {
		u16	ranks;
		u32	nelem, cpus;
		int	all, pairs;
	} rows[] = {
		{ 7, 48, 1, 2, 2 }, { 8, 48, 1, 7, 3 }, { 8, 4, 1, 3, 3 },
		{ 15, 48, 1, 3, 3 }, { 16, 48, 1, 8, 4 }, { 24, 48, 1, 8, 4 },
		{ 8, 48, 2, 7, 3 },
	};
	bool can = inc_reduce_lookup(INC_DTYPE_FP32, INC_OP_SUM)->block;

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		int all = can ? rows[i].all : rows[i].pairs;
		bool several = rows[i].cpus > 1;
		int next = several ? rows[i].pairs : all;

		slot_test_tree(test, rows[i].ranks, 256, 1, 0);
		KUNIT_EXPECT_EQ_MSG(test, waiting(test, 0, rows[i].nelem, rows[i].cpus),
				    all, "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, waiting(test, 4, rows[i].nelem, 1), next,
				    "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, waiting(test, 8, rows[i].nelem, 1), all,
				    "%u", i);
	}
}

/* In order of arrival: a chain of the parts, of any ranks. */
static void by_arrival(struct kunit *test)
{
	const struct inc_reduce_ops *ops = inc_reduce_lookup(INC_DTYPE_FP32,
							     INC_OP_SUM);
	const unsigned int n = inc_test_rounds(200);
	struct slot_test *t = test->priv;

	for (unsigned int i = 0; i < n; i++) {
		u16 ranks = 1 + inc_rnd_below(&t->rng, 9), came = 0;
		u32 nelem = 1 + inc_rnd_below(&t->rng, 56);
		struct inc_msg msg;

		slot_test_tree(test, ranks, 256, 1, 0);
		t->geom.by_arrival = true;
		msg = test_msg(test, INC_COLL_ALLREDUCE, INC_DTYPE_FP32,
			       INC_OP_SUM, 0, nelem);
		test_fill(t, &msg);
		while (came < ranks) {
			u16 rank = inc_rnd_below(&t->rng, ranks);
			bool done;

			if (t->sent[rank])
				continue;
			test_begin(t, rank, &msg);
			if (came)
				ops->generic(t->want, t->want,
					     test_data(t, rank), nelem);
			else
				memcpy(t->want, test_data(t, rank), 4 * nelem);
			done = test_add(t, rank, &msg);
			KUNIT_ASSERT_EQ(test, done, ++came == ranks);
			/* One waits, for all that have arrived. */
			KUNIT_ASSERT_EQ(test, test_parts_live, done ? 0 : 1);
		}
		test_expect_chunk(test, &msg, 0, t->want);
	}
}

static struct kunit_case slot_order_cases[] = {
	KUNIT_CASE(balanced_tree),
	KUNIT_CASE(large_message),
	KUNIT_CASE(data_show_order),
	KUNIT_CASE(left_is_lower),
	KUNIT_CASE(two_levels),
	KUNIT_CASE(pending_parts),
	KUNIT_CASE(blocks),
	KUNIT_CASE(by_arrival),
	{}
};

static struct kunit_suite slot_order_suite = {
	.name = "rdma_inc_slot_order",
	.init = slot_test_init,
	.exit = slot_test_exit,
	.test_cases = slot_order_cases,
};

kunit_test_suite(slot_order_suite);

MODULE_LICENSE("GPL");
