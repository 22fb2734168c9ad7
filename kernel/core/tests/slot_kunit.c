// SPDX-License-Identifier: GPL-2.0
/*
 * The slot machine's rules: valid headers, which rank may begin which message when,
 * how a message fails, and how long the previous one stays.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/string.h>

#include "core/collective.h"
#include "core/reduce/reduce.h"
#include "parts.h"

static u8 parse(struct slot_test *t, const struct inc_hdr *hdr, u32 len)
{
	struct inc_msg msg;

	return inc_msg_parse(&t->geom, 0, hdr, len, false, &msg);
}

static void parse_good(struct kunit *test)
{
	struct slot_test *t = test->priv;
	struct inc_hdr hdr;
	struct inc_msg msg;

	slot_test_tree(test, 3, 1024, 64, 0);
	hdr = test_hdr(t, INC_COLL_ALLREDUCE, INC_DTYPE_FP64, INC_OP_MIN,
		       0xfedcba98, 125);
	hdr.result_rkey = cpu_to_be32(0xffffffff);
	hdr.result_va = cpu_to_be64(~0ULL);
	KUNIT_ASSERT_EQ(test, inc_msg_parse(&t->geom, 0, &hdr, 32 + 1000, false, &msg),
			INC_STATUS_OK);
	KUNIT_EXPECT_EQ(test, msg.msg_id, 0xfedcba98U);
	KUNIT_EXPECT_EQ(test, msg.collective, INC_COLL_ALLREDUCE);
	KUNIT_EXPECT_EQ(test, msg.dtype, INC_DTYPE_FP64);
	KUNIT_EXPECT_EQ(test, msg.op, INC_OP_MIN);
	KUNIT_EXPECT_EQ(test, msg.root, 0);
	KUNIT_EXPECT_EQ(test, msg.nelem, 125U);
	KUNIT_EXPECT_EQ(test, msg.data_len, 1000U);
	KUNIT_EXPECT_EQ(test, msg.nchunks, 2);

	/* One packet less: header and data fill it exactly. */
	hdr.nelem = cpu_to_be32(124);
	KUNIT_ASSERT_EQ(test, inc_msg_parse(&t->geom, 0, &hdr, 1024, false, &msg),
			INC_STATUS_OK);
	KUNIT_EXPECT_EQ(test, msg.nchunks, 1);
	/* No elements at all. */
	hdr.nelem = 0;
	KUNIT_ASSERT_EQ(test, inc_msg_parse(&t->geom, 0, &hdr, 32, false, &msg),
			INC_STATUS_OK);
	KUNIT_EXPECT_EQ(test, msg.nchunks, 1);
	KUNIT_EXPECT_EQ(test, msg.data_len, 0U);

	/* A barrier carries nothing; type and operation are ignored. */
	hdr = test_hdr(t, INC_COLL_BARRIER, 0xff, 0xff, 7, 0);
	KUNIT_ASSERT_EQ(test, inc_msg_parse(&t->geom, 0, &hdr, 32, false, &msg),
			INC_STATUS_OK);
	KUNIT_EXPECT_EQ(test, msg.dtype, 0);
	KUNIT_EXPECT_EQ(test, msg.op, 0);
}

struct bad_row {
	const char	*what;
	u8		off, byte;	/* offset in the header, new value */
	u8		want;
};

/* A valid header of 4 floats, with one byte changed. */
static void parse_bad(struct kunit *test)
{
	static const struct bad_row rows[] = {
		{ "version 0", 0, 0, INC_STATUS_VERSION },
		{ "version 2", 0, 2, INC_STATUS_VERSION },
		{ "version 255", 0, 255, INC_STATUS_VERSION },
		{ "flag 2", 15, 2, INC_STATUS_VERSION },
		{ "flag 2^15", 14, 0x80, INC_STATUS_VERSION },
		{ "collective 9", 1, INC_COLL_COUNT, INC_STATUS_COLLECTIVE },
		{ "collective 38", 1, 38, INC_STATUS_COLLECTIVE },
		{ "collective 255", 1, 255, INC_STATUS_COLLECTIVE },
		{ "no such type", 2, INC_DTYPE_COUNT, INC_STATUS_DTYPE },
		{ "type 42", 2, 42, INC_STATUS_DTYPE },
		{ "type 255", 2, 255, INC_STATUS_DTYPE },
		{ "bitwise or of floats", 3, INC_OP_BOR, INC_STATUS_DTYPE },
		{ "no such operation", 3, INC_OP_COUNT, INC_STATUS_DTYPE },
		{ "operation 32", 3, 32, INC_STATUS_DTYPE },
		{ "operation 255", 3, 255, INC_STATUS_DTYPE },
		{ "tree, first byte", 4, 0x13, INC_STATUS_TREE_ID },
		{ "tree, last byte", 7, 0x79, INC_STATUS_TREE_ID },
		{ "root", 13, 1, INC_STATUS_ROOT },
		{ "root, upper byte", 12, 1, INC_STATUS_ROOT },
		{ "a count more", 19, 5, INC_STATUS_LENGTH },
		{ "a count less", 19, 3, INC_STATUS_LENGTH },
		{ "count 2^30 + 4", 16, 0x40, INC_STATUS_LENGTH },
		{ "count 2^31 + 4", 16, 0x80, INC_STATUS_LENGTH },
		{ "another type's length", 2, INC_DTYPE_FP64, INC_STATUS_LENGTH },
		{ "a barrier with data", 1, INC_COLL_BARRIER, INC_STATUS_LENGTH },
	};
	struct slot_test *t = test->priv;

	slot_test_tree(test, 3, 1024, 64, 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		struct inc_hdr hdr = test_hdr(t, INC_COLL_ALLREDUCE, INC_DTYPE_FP32,
					      INC_OP_SUM, 0xabcdef01, 4);
		struct inc_msg msg;

		KUNIT_EXPECT_EQ(test, parse(t, &hdr, 48), INC_STATUS_OK);
		((u8 *)&hdr)[rows[i].off] = rows[i].byte;
		KUNIT_EXPECT_EQ_MSG(test, inc_msg_parse(&t->geom, 0, &hdr, 48, false, &msg),
				    rows[i].want, "%s", rows[i].what);
		/* The answer needs it. */
		KUNIT_EXPECT_EQ(test, msg.msg_id, 0xabcdef01U);
		KUNIT_EXPECT_EQ(test, msg.nchunks, 1);
	}
}

static void parse_length(struct kunit *test)
{
	struct slot_test *t = test->priv;
	struct inc_hdr hdr;

	slot_test_tree(test, 3, 1024, 64, 0);
	hdr = test_hdr(t, INC_COLL_ALLREDUCE, INC_DTYPE_FP64, INC_OP_SUM, 1, 8);
	for (u32 len = 32; len < 200; len++)
		KUNIT_EXPECT_EQ_MSG(test, parse(t, &hdr, len), len == 96 ?
				    INC_STATUS_OK : INC_STATUS_LENGTH, "%u", len);
	/* 2^29 + 8 elements of 8 bytes are 64 bytes, modulo 2^32. */
	hdr.nelem = cpu_to_be32((1U << 29) + 8);
	KUNIT_EXPECT_EQ(test, parse(t, &hdr, 96), INC_STATUS_LENGTH);
	hdr.nelem = cpu_to_be32(U32_MAX);
	KUNIT_EXPECT_EQ(test, parse(t, &hdr, 96), INC_STATUS_LENGTH);
	/* A barrier of some length. */
	hdr = test_hdr(t, INC_COLL_BARRIER, 0, 0, 1, 0);
	KUNIT_EXPECT_EQ(test, parse(t, &hdr, 36), INC_STATUS_LENGTH);
	hdr.nelem = cpu_to_be32(4);
	KUNIT_EXPECT_EQ(test, parse(t, &hdr, 32), INC_STATUS_LENGTH);
}

/* Features of the module that this tree was not given. */
static void parse_masks(struct kunit *test)
{
	struct slot_test *t = test->priv;
	struct inc_hdr hdr;

	slot_test_tree(test, 3, 1024, 64, 0);
	hdr = test_hdr(t, INC_COLL_ALLREDUCE, INC_DTYPE_FP32, INC_OP_MAX, 1, 1);
	t->geom.collectives = BIT(INC_COLL_BARRIER);
	KUNIT_EXPECT_EQ(test, parse(t, &hdr, 36), INC_STATUS_COLLECTIVE);
	t->geom.collectives = ~0U;
	t->geom.dtypes = ~(u32)BIT(INC_DTYPE_FP32);
	KUNIT_EXPECT_EQ(test, parse(t, &hdr, 36), INC_STATUS_DTYPE);
	t->geom.dtypes = BIT(INC_DTYPE_FP32);
	t->geom.ops = ~(u32)BIT(INC_OP_MAX);
	KUNIT_EXPECT_EQ(test, parse(t, &hdr, 36), INC_STATUS_DTYPE);
	t->geom.ops = BIT(INC_OP_MAX);
	KUNIT_EXPECT_EQ(test, parse(t, &hdr, 36), INC_STATUS_OK);
}

/* Chunks cover the data, without gap or overlap, in as many packets. */
static void chunk_geometry(struct kunit *test)
{
	static const u16 pmtus[] = { 256, 512, 1024, 2048, 4096 };
	struct slot_test *t = test->priv;

	for (unsigned int i = 0; i < ARRAY_SIZE(pmtus); i++) {
		struct inc_slot_geom g = { .pmtu = pmtus[i] };

		for (u32 len = 0; len <= 65536 - INC_HDR_LEN;
		     len += 1 + inc_rnd_below(&t->rng, 97)) {
			u16 n = DIV_ROUND_UP(len + INC_HDR_LEN, g.pmtu);
			u32 off = 0;

			for (u16 c = 0; c < n; c++) {
				u32 hdr = c ? 0 : INC_HDR_LEN;

				KUNIT_ASSERT_EQ(test, inc_chunk_off(&g, c), off);
				off += inc_chunk_len(&g, c, len);
				KUNIT_ASSERT_LE(test, inc_chunk_len(&g, c, len) + hdr,
						(u32)g.pmtu);
				if (c < n - 1)
					KUNIT_ASSERT_EQ(test,
							inc_chunk_len(&g, c, len) + hdr,
							(u32)g.pmtu);
			}
			KUNIT_ASSERT_EQ(test, off, len);
		}
	}
}

static struct inc_msg floats(struct kunit *test, u32 msg_id, u32 nelem)
{
	return test_msg(test, INC_COLL_ALLREDUCE, INC_DTYPE_FP32, INC_OP_SUM,
			msg_id, nelem);
}

/* All ranks begin and send all their data, in order. */
static void finish(struct kunit *test, const struct inc_msg *msg)
{
	struct slot_test *t = test->priv;

	for (u16 rank = 0; rank < t->geom.members; rank++) {
		KUNIT_ASSERT_EQ(test, test_begin(t, rank, msg), INC_SLOT_TAKE);
		for (u16 c = 0; c < msg->nchunks; c++)
			KUNIT_ASSERT_EQ(test, test_add(t, rank, msg),
					rank == t->geom.members - 1);
	}
	KUNIT_ASSERT_EQ(test, t->s.state, (u8)RDMA_INC_SLOT_STATE_DONE);
}

/* A message that the slot must not begin leaves it unchanged. */
static void expect_untouched(struct kunit *test, u16 rank,
			     const struct inc_msg *msg,
			     enum inc_slot_verdict want)
{
	struct slot_test *t = test->priv;
	struct inc_slot before = t->s;

	KUNIT_EXPECT_EQ_MSG(test, inc_slot_begin(&t->s, rank, msg, INC_STATUS_OK),
			    want, "message 0x%x of rank %u", msg->msg_id, rank);
	KUNIT_EXPECT_EQ(test, memcmp(&before, &t->s, sizeof(before)), 0);
}

static void expect_refused(struct kunit *test, u16 rank, const struct inc_msg *msg)
{
	expect_untouched(test, rank, msg, INC_SLOT_REFUSE);
}

static void expect_repeat(struct kunit *test, u16 rank, const struct inc_msg *msg)
{
	expect_untouched(test, rank, msg, INC_SLOT_REPEAT);
}

static void window(struct kunit *test)
{
	static const u32 others[] = { 1, 3, 4, 5, 8, 12, 0xffffffff, 0xfffffffc,
				      0x01000000, 0x80000000 };
	struct slot_test *t = test->priv;
	struct inc_msg msg, other;

	slot_test_tree(test, 3, 256, 4, 0x1002);
	msg = floats(test, 0x1002, 100);
	test_fill(t, &msg);
	for (unsigned int i = 0; i < ARRAY_SIZE(others); i++) {
		other = floats(test, 0x1002 + others[i], 100);
		expect_refused(test, 1, &other);
	}
	/* Busy: still no other message. */
	KUNIT_EXPECT_EQ(test, test_begin(t, 0, &msg), INC_SLOT_TAKE);
	KUNIT_EXPECT_EQ(test, t->s.state, (u8)RDMA_INC_SLOT_STATE_BUSY);
	for (unsigned int i = 0; i < ARRAY_SIZE(others); i++) {
		other = floats(test, 0x1002 + others[i], 100);
		expect_refused(test, 1, &other);
	}
	/* Done: only the next message of this slot. */
	slot_test_tree(test, 3, 256, 4, 0x1002);
	test_fill(t, &msg);
	finish(test, &msg);
	expect_repeat(test, 0, &msg);
	for (unsigned int i = 0; i < ARRAY_SIZE(others); i++) {
		other = floats(test, 0x1002 + others[i], 100);
		if (others[i] != 4)
			expect_refused(test, 1, &other);
	}
	other = floats(test, 0x1006, 7);
	KUNIT_EXPECT_EQ(test, test_begin(t, 2, &other), INC_SLOT_TAKE);
	/* The newest that rank 1 has begun; rank 2 has begun a later one. */
	expect_repeat(test, 1, &msg);
	expect_refused(test, 2, &msg);
	inc_slot_fail(&t->s, INC_STATUS_TREE_GONE);
}

static void expect_past(struct kunit *test, u16 rank, u32 msg_id,
			enum inc_slot_past want, u8 want_status)
{
	struct slot_test *t = test->priv;
	struct inc_msg msg = {};
	u8 status = 0;

	KUNIT_EXPECT_EQ_MSG(test, inc_slot_lookup(&t->s, rank, msg_id, &msg,
						  &status),
			    want, "message 0x%x of rank %u", msg_id, rank);
	KUNIT_EXPECT_EQ(test, status, want_status);
	if (want == INC_SLOT_ENDED && !status)
		KUNIT_EXPECT_EQ(test, msg.msg_id, msg_id);
}

/* The outcome of a rank's messages, as they begin and end; IDs wrap. */
static void lookup(struct kunit *test)
{
	const u32 first = 0xfffffffe, next = first + 4;
	struct slot_test *t = test->priv;
	struct inc_msg msg;

	slot_test_tree(test, 2, 256, 4, first);
	expect_past(test, 0, first, INC_SLOT_UNKNOWN, 0);
	expect_past(test, 0, first - 4, INC_SLOT_UNKNOWN, 0);
	msg = floats(test, first, 9);
	test_fill(t, &msg);
	test_begin(t, 0, &msg);
	expect_past(test, 0, first, INC_SLOT_OPEN, 0);
	expect_past(test, 0, first - 4, INC_SLOT_OLD, 0);
	expect_past(test, 0, next, INC_SLOT_UNKNOWN, 0);
	expect_past(test, 1, first, INC_SLOT_UNKNOWN, 0);
	expect_past(test, 1, first - 4, INC_SLOT_UNKNOWN, 0);
	test_begin(t, 1, &msg);
	test_add(t, 0, &msg);
	expect_past(test, 1, first, INC_SLOT_OPEN, 0);
	test_add(t, 1, &msg);
	expect_past(test, 0, first, INC_SLOT_ENDED, 0);
	expect_past(test, 1, first, INC_SLOT_ENDED, 0);

	/* A message has ended for a rank until that rank begins the next one. */
	msg = floats(test, next, 90);
	test_fill(t, &msg);
	test_begin(t, 1, &msg);
	expect_past(test, 0, first, INC_SLOT_ENDED, 0);
	expect_past(test, 1, first, INC_SLOT_OLD, 0);
	expect_past(test, 0, next, INC_SLOT_UNKNOWN, 0);
	expect_past(test, 0, first - 4, INC_SLOT_OLD, 0);
	inc_slot_fail(&t->s, INC_STATUS_MISMATCH);
	expect_past(test, 1, next, INC_SLOT_ENDED, INC_STATUS_MISMATCH);
	expect_past(test, 0, first, INC_SLOT_ENDED, 0);
	test_begin(t, 0, &msg);
	expect_past(test, 0, first, INC_SLOT_OLD, 0);
	expect_past(test, 0, next, INC_SLOT_ENDED, INC_STATUS_MISMATCH);

	msg = floats(test, next + 4, 9);
	test_begin(t, 0, &msg);
	expect_past(test, 1, next, INC_SLOT_ENDED, INC_STATUS_MISMATCH);
	expect_past(test, 0, next + 4, INC_SLOT_OPEN, 0);
	inc_slot_fail(&t->s, INC_STATUS_TREE_GONE);
}

static void begin_twice(struct kunit *test)
{
	struct slot_test *t = test->priv;
	struct inc_msg msg;

	slot_test_tree(test, 3, 256, 4, 0);
	msg = floats(test, 0, 100);
	test_fill(t, &msg);
	KUNIT_EXPECT_FALSE(test, inc_slot_begun(&t->s, 1));
	KUNIT_EXPECT_EQ(test, test_begin(t, 1, &msg), INC_SLOT_TAKE);
	KUNIT_EXPECT_TRUE(test, inc_slot_begun(&t->s, 1));
	KUNIT_EXPECT_FALSE(test, inc_slot_begun(&t->s, 0));
	expect_repeat(test, 1, &msg);
	test_add(t, 1, &msg);
	expect_repeat(test, 1, &msg);
	test_add(t, 1, &msg);
	expect_repeat(test, 1, &msg);
	inc_slot_fail(&t->s, INC_STATUS_PEER_DEAD);
	expect_repeat(test, 1, &msg);
}

/* Ranks disagree: all learn of it, late ones included. */
static void mismatch(struct kunit *test)
{
	struct slot_test *t = test->priv;
	struct inc_msg msg, bad[5];

	slot_test_tree(test, 4, 256, 4, 0);
	msg = floats(test, 0, 100);
	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++)
		bad[i] = msg;
	bad[0].collective = INC_COLL_BARRIER;
	bad[1].dtype = INC_DTYPE_INT32;
	bad[2].op = INC_OP_MAX;
	bad[3].nelem++;
	bad[4].root = 1;
	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		slot_test_tree(test, 4, 256, 4, 0);
		test_fill(t, &msg);
		test_begin(t, 0, &msg);
		test_begin(t, 1, &msg);
		test_add(t, 0, &msg);
		test_add(t, 1, &msg);
		test_add(t, 1, &msg);
		KUNIT_EXPECT_EQ_MSG(test, test_begin(t, 2, &bad[i]), INC_SLOT_FAIL,
				    "row %u", i);
		KUNIT_EXPECT_EQ(test, t->s.state,
				(u8)RDMA_INC_SLOT_STATE_FAILED);
		KUNIT_EXPECT_EQ(test, t->s.status, (u8)INC_STATUS_MISMATCH);
		KUNIT_EXPECT_EQ(test, t->s.wrong, 2);
		KUNIT_EXPECT_EQ(test, t->s.unlike, 0);
		KUNIT_EXPECT_EQ(test, test_parts_live, 0);
		/* Data that they still send is discarded. */
		KUNIT_EXPECT_FALSE(test, test_add(t, 0, &msg));
		KUNIT_EXPECT_EQ(test, test_parts_live, 0);
		KUNIT_EXPECT_EQ(test, test_begin(t, 3, &msg), INC_SLOT_FAILED);
	}
}

/* A header that could not be parsed fails the message, first or not. */
static void bad_header_fails(struct kunit *test)
{
	static const u8 statuses[] = {
		INC_STATUS_VERSION, INC_STATUS_COLLECTIVE, INC_STATUS_DTYPE,
		INC_STATUS_TREE_ID, INC_STATUS_LENGTH, INC_STATUS_ROOT,
	};
	struct slot_test *t = test->priv;

	for (unsigned int i = 0; i < 2 * ARRAY_SIZE(statuses); i++) {
		u8 status = statuses[i / 2];
		struct inc_msg msg, bad = { .nchunks = 1 };

		slot_test_tree(test, 3, 256, 4, 0);
		msg = floats(test, 0, 100);
		test_fill(t, &msg);
		if (i & 1) {
			test_begin(t, 2, &msg);
			test_add(t, 2, &msg);
		}
		KUNIT_EXPECT_EQ(test, inc_slot_begin(&t->s, 0, &bad, status),
				INC_SLOT_FAIL);
		KUNIT_EXPECT_EQ(test, t->s.status, status);
		KUNIT_EXPECT_EQ(test, t->s.wrong, 0);
		KUNIT_EXPECT_EQ(test, t->s.unlike, INC_SLOT_NOBODY);
		KUNIT_EXPECT_EQ(test, test_begin(t, 1, &msg), INC_SLOT_FAILED);
		/* The first status stays. */
		KUNIT_EXPECT_FALSE(test, inc_slot_fail(&t->s, INC_STATUS_PEER_DEAD));
		KUNIT_EXPECT_EQ(test, t->s.status, status);
	}
}

/* A failed message makes room once every rank knows. */
static void advance_after_failure(struct kunit *test)
{
	struct slot_test *t = test->priv;
	struct inc_msg msg, later;

	slot_test_tree(test, 3, 256, 4, 0);
	msg = floats(test, 0, 100);
	later = floats(test, 4, 50);
	test_fill(t, &msg);
	test_begin(t, 0, &msg);
	test_add(t, 0, &msg);
	KUNIT_EXPECT_TRUE(test, inc_slot_fail(&t->s, INC_STATUS_MISMATCH));
	/* Not before all ranks know. */
	KUNIT_EXPECT_EQ(test, test_begin(t, 0, &later), INC_SLOT_WAIT);
	KUNIT_EXPECT_EQ(test, test_begin(t, 1, &msg), INC_SLOT_FAILED);
	KUNIT_EXPECT_EQ(test, test_begin(t, 0, &later), INC_SLOT_WAIT);
	KUNIT_EXPECT_EQ(test, test_begin(t, 2, &msg), INC_SLOT_FAILED);

	KUNIT_EXPECT_EQ(test, test_begin(t, 0, &later), INC_SLOT_TAKE);
	KUNIT_EXPECT_EQ(test, t->s.status, (u8)INC_STATUS_OK);
	/* Rank 1 is not yet through with the old one. */
	KUNIT_EXPECT_FALSE(test, inc_slot_add(&t->s, 1, 0, test_part("abcd", 4)));
	KUNIT_EXPECT_EQ(test, test_parts_live, 0);
	test_fill(t, &later);
	t->sent[0] = 1;
	test_add(t, 0, &later);
	test_begin(t, 1, &later);
	test_add(t, 1, &later);
	test_begin(t, 2, &later);
	KUNIT_EXPECT_TRUE(test, test_add(t, 2, &later));
	test_reference(t, &later, t->want);
	test_expect_chunk(test, &later, 0, t->want);
}

static void nothing_to_fail(struct kunit *test)
{
	struct slot_test *t = test->priv;
	struct inc_msg msg;

	slot_test_tree(test, 2, 256, 4, 0);
	KUNIT_EXPECT_FALSE(test, inc_slot_fail(&t->s, INC_STATUS_TREE_GONE));
	KUNIT_EXPECT_EQ(test, t->s.state, (u8)RDMA_INC_SLOT_STATE_IDLE);
	msg = floats(test, 0, 200);
	test_fill(t, &msg);
	finish(test, &msg);
	KUNIT_EXPECT_FALSE(test, inc_slot_fail(&t->s, INC_STATUS_TREE_GONE));
	KUNIT_EXPECT_EQ(test, t->s.state, (u8)RDMA_INC_SLOT_STATE_DONE);
}

/*
 * Any parts pending anywhere, then a failure: nothing is left, and the slot goes
 * on.
 */
static void fail_anywhere(struct kunit *test)
{
	const unsigned int n = inc_test_rounds(200);
	struct slot_test *t = test->priv;
	u32 msg_id = 0;

	for (unsigned int i = 0; i < n; i++, msg_id += 4) {
		struct inc_msg msg;
		u16 ranks;
		u32 steps;

		if (i % 20 == 0) {
			msg_id = 0;
			slot_test_tree(test, 1 + inc_rnd_below(&t->rng, 17), 256, 4, 0);
		}
		ranks = t->geom.members;
		msg = floats(test, msg_id, 1 + inc_rnd_below(&t->rng, 248));
		test_fill(t, &msg);
		steps = inc_rnd_below(&t->rng, ranks * (msg.nchunks + 1));
		for (u32 k = 0; k < steps; k++) {
			u16 rank = inc_rnd_below(&t->rng, ranks);

			if (!t->sent[rank])
				test_begin(t, rank, &msg);
			else if (t->sent[rank] <= msg.nchunks)
				test_add(t, rank, &msg);
		}
		if (t->s.msg.msg_id == msg_id &&
		    t->s.state != RDMA_INC_SLOT_STATE_DONE)
			inc_slot_fail(&t->s, INC_STATUS_MISMATCH);
		KUNIT_ASSERT_EQ(test, test_parts_live, 0);
		for (u16 rank = 0; rank < ranks; rank++) {
			if (!t->sent[rank])
				test_begin(t, rank, &msg);
			while (t->sent[rank] <= msg.nchunks)
				test_add(t, rank, &msg);
		}
		KUNIT_ASSERT_EQ(test, test_parts_live, 0);
		KUNIT_ASSERT_EQ(test, t->s.msg.msg_id, msg_id);
		KUNIT_ASSERT_GE(test, t->s.state, (u8)RDMA_INC_SLOT_STATE_DONE);
	}
}

/*
 * When a message fails, or its last rank begins, places where no rank has sent
 * anything are not searched: a part put there by the test stays.
 */
static void searches_little(struct kunit *test)
{
	static const u8 colls[] = { INC_COLL_ALLREDUCE, INC_COLL_ALLGATHER };
	struct slot_test *t = test->priv;

	for (unsigned int i = 0; i < ARRAY_SIZE(colls); i++) {
		struct inc_part *bait = test_part(NULL, 0);
		struct inc_msg msg;

		/* No rank's part, nor a node of the tree. */
		bait->level = U16_MAX;
		slot_test_tree(test, 3, 256, 4, 0);
		msg = test_msg(test, colls[i], INC_DTYPE_FP32, INC_OP_SUM, 0, 70);
		test_fill(t, &msg);
		for (u16 chunk = 0; chunk < 4; chunk++)
			t->s.pending[chunk * 3 + 1] = bait;
		t->s.half[1] = bait;
		t->s.pending[2 * 3] = bait;
		test_begin(t, 0, &msg);
		test_add(t, 0, &msg);
		test_begin(t, 2, &msg);
		KUNIT_EXPECT_EQ(test, test_parts_live, 2);
		KUNIT_EXPECT_TRUE(test, inc_slot_fail(&t->s, INC_STATUS_MISMATCH));
		KUNIT_EXPECT_EQ(test, test_parts_live, 1);
		for (u16 chunk = 0; chunk < 4; chunk++)
			KUNIT_EXPECT_PTR_EQ(test, t->s.pending[chunk * 3 + 1], bait);
		KUNIT_EXPECT_PTR_EQ(test, t->s.half[1], bait);
		KUNIT_EXPECT_PTR_EQ(test, t->s.pending[2 * 3], bait);
		inc_part_free(bait);
	}
}

/* Many parts: one call drops a few of them, and the slot waits for the last one. */
static void sweeps_in_steps(struct kunit *test)
{
	const u16 ranks = 60, chunks = 16;
	struct slot_test *t = test->priv;
	struct inc_msg msg, later;
	int before, steps = 0;

	slot_test_tree(test, ranks, 256, chunks, 0);
	msg = floats(test, 0, chunks * 256 / 4 - 8);
	later = floats(test, 4, 1);
	test_fill(t, &msg);
	for (u16 rank = 0; rank < ranks; rank++) {
		test_begin(t, rank, &msg);
		/* No two that could be reduced. */
		for (u16 c = 0; c < chunks && rank % 2; c++)
			test_add(t, rank, &msg);
	}
	KUNIT_ASSERT_EQ(test, test_parts_live, ranks / 2 * chunks);
	before = test_parts_live;
	KUNIT_EXPECT_TRUE(test, inc_slot_fail(&t->s, INC_STATUS_PEER_DEAD));
	while (test_parts_live) {
		KUNIT_ASSERT_LE(test, before - test_parts_live,
				INC_SLOT_SWEEP + chunks);
		KUNIT_ASSERT_EQ(test, test_begin(t, 0, &later), INC_SLOT_WAIT);
		before = test_parts_live;
		inc_slot_sweep(&t->s);
		steps++;
	}
	KUNIT_EXPECT_GE(test, steps, 1);
	while (inc_slot_sweep(&t->s))
		;
	KUNIT_EXPECT_EQ(test, test_begin(t, 0, &later), INC_SLOT_TAKE);
}

/* No data: counts ranks, completes with the last. */
static void without_data(struct kunit *test)
{
	static const u16 sizes[] = { 1, 2, 3, 17 };
	struct slot_test *t = test->priv;

	for (unsigned int i = 0; i < 2 * ARRAY_SIZE(sizes); i++) {
		u8 coll = i & 1 ? INC_COLL_BARRIER : INC_COLL_ALLREDUCE;
		u16 ranks = sizes[i / 2];

		slot_test_tree(test, ranks, 256, 4, 0);
		for (u32 msg_id = 0; msg_id < 12; msg_id += 4) {
			struct inc_msg msg = test_msg(test, coll, INC_DTYPE_FP32,
						      INC_OP_SUM, msg_id, 0);

			for (u16 k = 0; k < ranks; k++) {
				u16 rank = ranks - 1 - k;

				KUNIT_ASSERT_EQ(test, test_begin(t, rank, &msg),
						INC_SLOT_TAKE);
				KUNIT_ASSERT_EQ(test, test_add(t, rank, &msg),
						k == ranks - 1);
				KUNIT_ASSERT_EQ(test, test_parts_live, 0);
			}
			KUNIT_ASSERT_EQ(test, t->s.state,
					(u8)RDMA_INC_SLOT_STATE_DONE);
			test_expect_chunk(test, &msg, 0, "");
		}
	}
}

/* The old result stays whole until a chunk of the new one takes its place. */
static void old_result_stays(struct kunit *test)
{
	struct slot_test *t = test->priv;
	struct inc_msg old, msg;

	for (u16 ranks = 1; ranks <= 6; ranks++) {
		slot_test_tree(test, ranks, 256, 4, 0);
		old = floats(test, 0, 248);
		msg = floats(test, 4, 248);
		test_fill(t, &old);
		test_reference(t, &old, t->old);
		finish(test, &old);
		test_fill(t, &msg);
		test_reference(t, &msg, t->want);

		for (u16 rank = 0; rank < ranks; rank++) {
			bool last = rank == ranks - 1;

			test_begin(t, rank, &msg);
			/* The bytes stay longer, but must not be resent. */
			KUNIT_ASSERT_EQ(test, inc_slot_has(&t->s, 0), !last);
			for (u16 c = 0; c < 4; c++) {
				test_add(t, rank, &msg);
				for (u16 k = 0; k < 4; k++)
					test_expect_chunk(test, last && k <= c ?
							  &msg : &old, k,
							  last && k <= c ?
							  t->want : t->old);
			}
		}
	}
}

/* The memory of a result that all have serves another slot, and other memory this one. */
static void gives_back(struct kunit *test)
{
	struct slot_test *t = test->priv;
	void *mem;

	slot_test_tree(test, 3, 256, 4, 0);
	for (u32 id = 0; id < 40; id += 4) {
		struct inc_msg msg = floats(test, id, 1 + inc_rnd_below(&t->rng, 248));

		test_fill(t, &msg);
		test_reference(t, &msg, t->want);
		finish(test, &msg);
		for (u16 c = 0; c < msg.nchunks; c++)
			test_expect_chunk(test, &msg, c, t->want);
		KUNIT_EXPECT_TRUE(test, inc_slot_has(&t->s, id));
		KUNIT_EXPECT_FALSE(test, inc_slot_is_over(&t->s, false));
		KUNIT_EXPECT_TRUE(test, inc_slot_is_over(&t->s, true));
		mem = inc_slot_give_back(&t->s);
		memset(mem, 0x5a, inc_geom_buffer(&t->geom));
		KUNIT_EXPECT_FALSE(test, inc_slot_placed(&t->s));
		KUNIT_EXPECT_FALSE(test, inc_slot_has(&t->s, id));
		KUNIT_EXPECT_EQ(test, t->s.state, (u8)RDMA_INC_SLOT_STATE_IDLE);
		for (u16 rank = 0; rank < 3; rank++) {
			expect_past(test, rank, id, INC_SLOT_ENDED, 0);
			expect_past(test, rank, id + 4, INC_SLOT_UNKNOWN, 0);
		}
		inc_slot_place(&t->s, mem);
		expect_repeat(test, inc_rnd_below(&t->rng, 3), &msg);
		KUNIT_EXPECT_TRUE(test, inc_slot_is_over(&t->s, false));
	}
}

/* So does a slot whose message has failed, and was begun by all; and an idle one. */
static void gives_back_failed(struct kunit *test)
{
	struct slot_test *t = test->priv;
	struct inc_msg msg;
	void *mem;

	slot_test_tree(test, 3, 256, 4, 0);
	mem = inc_slot_give_back(&t->s);
	KUNIT_EXPECT_EQ(test, t->s.msg.msg_id, 0);
	inc_slot_place(&t->s, mem);
	msg = floats(test, 0, 200);
	test_fill(t, &msg);
	test_begin(t, 0, &msg);
	test_add(t, 0, &msg);
	test_begin(t, 1, &msg);
	KUNIT_EXPECT_FALSE(test, inc_slot_is_over(&t->s, true));
	inc_slot_fail(&t->s, INC_STATUS_MISMATCH);
	KUNIT_EXPECT_FALSE(test, inc_slot_is_over(&t->s, true));
	test_begin(t, 2, &msg);
	KUNIT_EXPECT_TRUE(test, inc_slot_is_over(&t->s, true));
	inc_slot_place(&t->s, inc_slot_give_back(&t->s));
	for (u16 rank = 0; rank < 3; rank++)
		expect_past(test, rank, 0, INC_SLOT_ENDED, INC_STATUS_MISMATCH);
	expect_repeat(test, 1, &msg);
	msg = floats(test, 4, 9);
	test_fill(t, &msg);
	test_reference(t, &msg, t->want);
	finish(test, &msg);
	test_expect_chunk(test, &msg, 0, t->want);
}

/* Message IDs wrap at 2^32, their part in the Immediate at 2^24. */
static void message_id_wrap(struct kunit *test)
{
	static const u32 from[] = { 0xffffffe0, 0x00ffffe3, 0x7fffffe1 };
	struct slot_test *t = test->priv;

	for (unsigned int i = 0; i < ARRAY_SIZE(from); i++) {
		slot_test_tree(test, 3, 256, 4, from[i]);
		for (u32 k = 0; k < 12; k++) {
			struct inc_msg msg = floats(test, from[i] + 4 * k, 60 * k + 1 > 248 ?
						    248 : 60 * k + 1);

			test_fill(t, &msg);
			test_reference(t, &msg, t->want);
			finish(test, &msg);
			for (u16 c = 0; c < msg.nchunks; c++)
				test_expect_chunk(test, &msg, c, t->want);
		}
	}
}

static struct kunit_case slot_cases[] = {
	KUNIT_CASE(parse_good),
	KUNIT_CASE(parse_bad),
	KUNIT_CASE(parse_length),
	KUNIT_CASE(parse_masks),
	KUNIT_CASE(chunk_geometry),
	KUNIT_CASE(window),
	KUNIT_CASE(lookup),
	KUNIT_CASE(begin_twice),
	KUNIT_CASE(mismatch),
	KUNIT_CASE(bad_header_fails),
	KUNIT_CASE(advance_after_failure),
	KUNIT_CASE(nothing_to_fail),
	KUNIT_CASE(fail_anywhere),
	KUNIT_CASE(searches_little),
	KUNIT_CASE(sweeps_in_steps),
	KUNIT_CASE(without_data),
	KUNIT_CASE(old_result_stays),
	KUNIT_CASE(gives_back),
	KUNIT_CASE(gives_back_failed),
	KUNIT_CASE(message_id_wrap),
	{}
};

static struct kunit_suite slot_suite = {
	.name = "rdma_inc_slot",
	.init = slot_test_init,
	.exit = slot_test_exit,
	.test_cases = slot_cases,
};

kunit_test_suite(slot_suite);

MODULE_LICENSE("GPL");
