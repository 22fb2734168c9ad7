// SPDX-License-Identifier: GPL-2.0
/*
 * All nine collectives in a slot: each rank's result against the definition of
 * each collective, written out element by element; ranks in any order, any
 * root, blocks of any size.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>

#include "core/collective.h"
#include "core/reduce/reduce.h"
#include "parts.h"

#define MAX_RANKS	9
#define PMTU		256
#define MAX_CHUNKS	8
#define ROOM		(MAX_CHUNKS * PMTU - INC_HDR_LEN)

/* One round: the ranks' headers, and the size of their blocks. */
struct coll_round {
	u8		collective;
	u8		dtype;
	u16		root;
	u32		nelem;
	u32		block;
	u32		begun;
	struct inc_msg	msg[MAX_RANKS];
};

static bool reduces(u8 collective)
{
	return collective == INC_COLL_REDUCE ||
	       collective == INC_COLL_ALLREDUCE ||
	       collective == INC_COLL_REDUCE_SCATTER;
}

static bool rooted(u8 collective)
{
	return collective == INC_COLL_BROADCAST ||
	       collective == INC_COLL_SCATTER ||
	       collective == INC_COLL_GATHER || collective == INC_COLL_REDUCE;
}

/* Blocks that a rank sends. */
static u32 blocks_in(const struct slot_test *t, const struct coll_round *r,
		     u16 rank)
{
	switch (r->collective) {
	case INC_COLL_BROADCAST:
		return rank == r->root;
	case INC_COLL_SCATTER:
		return rank == r->root ? t->geom.members : 0;
	case INC_COLL_ALLTOALL:
	case INC_COLL_REDUCE_SCATTER:
		return t->geom.members;
	case INC_COLL_BARRIER:
		return 0;
	}
	return 1;
}

static u32 sum_at(const struct slot_test *t, u32 off)
{
	u32 sum = 0;

	for (u16 rank = 0; rank < t->geom.members; rank++) {
		const u8 *p = test_data(t, rank) + off;

		sum += p[0] | p[1] << 8 | p[2] << 16 | (u32)p[3] << 24;
	}
	return sum;
}

/* Blocks @first ... of all ranks' sums. */
static u32 want_sums(struct slot_test *t, const struct coll_round *r, u32 first)
{
	for (u32 i = 0; i < r->nelem; i++) {
		u32 sum = sum_at(t, first * r->block + 4 * i);

		for (u32 b = 0; b < 4; b++)
			t->want[4 * i + b] = sum >> 8 * b;
	}
	return r->block;
}

/* Block @block of each rank. */
static u32 want_each(struct slot_test *t, const struct coll_round *r, u32 block)
{
	for (u16 from = 0; from < t->geom.members; from++)
		memcpy(t->want + from * r->block,
		       test_data(t, from) + block * r->block, r->block);
	return t->geom.members * r->block;
}

/* Put a rank's expected result into t->want; returns its bytes. */
static u32 want(struct slot_test *t, const struct coll_round *r, u16 rank)
{
	switch (r->collective) {
	case INC_COLL_BROADCAST:
		if (rank == r->root)
			return 0;
		memcpy(t->want, test_data(t, r->root), r->block);
		return r->block;
	case INC_COLL_SCATTER:
		memcpy(t->want, test_data(t, r->root) + rank * r->block, r->block);
		return r->block;
	case INC_COLL_GATHER:
		return rank == r->root ? want_each(t, r, 0) : 0;
	case INC_COLL_ALLGATHER:
		return want_each(t, r, 0);
	case INC_COLL_ALLTOALL:
		return want_each(t, r, rank);
	case INC_COLL_REDUCE:
		return rank == r->root ? want_sums(t, r, 0) : 0;
	case INC_COLL_ALLREDUCE:
		return want_sums(t, r, 0);
	case INC_COLL_REDUCE_SCATTER:
		return want_sums(t, r, rank);
	}
	return 0;
}

/* Maximum number of blocks in the result buffer, over all collectives. */
static u32 buffer_blocks(const struct slot_test *t, u8 collective)
{
	u32 n = t->geom.members;

	switch (collective) {
	case INC_COLL_BROADCAST:
	case INC_COLL_REDUCE:
	case INC_COLL_ALLREDUCE:
		return 1;
	case INC_COLL_ALLTOALL:
		return n * n;
	}
	return n;
}

static void choose(struct kunit *test, struct coll_round *r, u32 msg_id)
{
	static const u8 any[] = {
		INC_DTYPE_INT8, INC_DTYPE_UINT16, INC_DTYPE_FP32, INC_DTYPE_INT64,
	};
	struct slot_test *t = test->priv;
	u32 size, most;

	r->collective = inc_rnd_below(&t->rng, INC_COLL_COUNT);
	r->dtype = reduces(r->collective) ? INC_DTYPE_INT32 :
		   any[inc_rnd_below(&t->rng, ARRAY_SIZE(any))];
	r->root = rooted(r->collective) ?
			  inc_rnd_below(&t->rng, t->geom.members) :
			  0;
	size = inc_dtype_size(r->dtype);
	most = ROOM / buffer_blocks(t, r->collective) / size;
	r->nelem = r->collective == INC_COLL_BARRIER ? 0 :
		   inc_rnd_chance(&t->rng, 100) ? most :
		   inc_rnd_below(&t->rng, most + 1);
	r->block = r->nelem * size;
	r->begun = 0;

	for (u16 rank = 0; rank < t->geom.members; rank++) {
		struct inc_hdr hdr = test_hdr(t, r->collective, r->dtype,
					      INC_OP_SUM, msg_id, r->nelem);
		u32 in = blocks_in(t, r, rank) * r->block;
		bool no_data = inc_rnd_chance(&t->rng, 200);

		hdr.root = cpu_to_be16(r->root);
		hdr.flags = cpu_to_be16(no_data ? INC_HDR_F_NO_DATA : 0);
		KUNIT_ASSERT_EQ_MSG(test,
				    inc_msg_parse(&t->geom, rank, &hdr,
						  INC_HDR_LEN + in, false,
						  &r->msg[rank]),
				    INC_STATUS_OK,
				    "collective %u, %u ranks, %u x %u",
				    r->collective, t->geom.members, r->nelem,
				    size);
		KUNIT_ASSERT_EQ(test, r->msg[rank].in_len, in);
		KUNIT_ASSERT_TRUE(test, !no_data || !r->msg[rank].out_len);
		/* One byte more or less is wrong for this rank. */
		KUNIT_ASSERT_EQ(test, inc_msg_parse(&t->geom, rank, &hdr,
						    INC_HDR_LEN + in + 1, false,
						    &(struct inc_msg){}),
				INC_STATUS_LENGTH);
		for (u32 i = 0; i < in; i++)
			test_data(t, rank)[i] = inc_rnd(&t->rng);
	}
	memset(t->sent, 0, t->geom.members * sizeof(*t->sent));
}

/* Do a rank's next step; returns false if it has nothing left to do. */
static bool step(struct slot_test *t, struct coll_round *r, u16 rank)
{
	const struct inc_msg *msg = &r->msg[rank];
	u16 chunk = t->sent[rank] - 1;
	u32 off, len;

	if (!t->sent[rank]) {
		r->begun++;
		return test_begin(t, rank, msg) == INC_SLOT_TAKE;
	}
	if (chunk == inc_chunks_of(&t->geom, msg->in_len))
		return false;
	off = inc_chunk_off(&t->geom, chunk);
	len = inc_chunk_len(&t->geom, chunk, msg->in_len);
	t->sent[rank]++;
	inc_slot_add(&t->s, rank, msg->msg_id,
		     test_part(test_data(t, rank) + off, len));
	return true;
}

static void check_ranks(struct kunit *test, const struct coll_round *r)
{
	struct slot_test *t = test->priv;

	for (u16 rank = 0; rank < t->geom.members; rank++) {
		const struct inc_msg *msg = &r->msg[rank];
		u32 len = want(t, r, rank);
		struct inc_msg again;
		u8 status;

		/* The lookup of a rank that lacks its result. */
		KUNIT_ASSERT_EQ(test, inc_slot_lookup(&t->s, rank, msg->msg_id,
						      &again, &status),
				INC_SLOT_ENDED);
		KUNIT_ASSERT_EQ(test, status, INC_STATUS_OK);
		KUNIT_ASSERT_EQ(test, again.out_len, len);
		KUNIT_ASSERT_EQ(test, again.out_off, msg->out_off);
		if (msg->out_len != len)
			KUNIT_ASSERT_EQ_MSG(test, msg->out_len, 0U,
					    "collective %u", r->collective);
		KUNIT_ASSERT_EQ_MSG(test,
				    memcmp(t->s.result + msg->out_off, t->want,
					   msg->out_len),
				    0,
				    "collective %u, %u ranks, rank %u, root %u, %u bytes",
				    r->collective, t->geom.members, rank,
				    r->root, r->block);
	}
}

static void run_round(struct kunit *test, struct coll_round *r)
{
	struct slot_test *t = test->priv;
	u16 ranks = t->geom.members, ready = 0;
	u32 steps = 0;

	memcpy(t->old, t->s.result, ROOM);
	while (t->s.state != RDMA_INC_SLOT_STATE_DONE || steps == 0 ||
	       r->begun < ranks) {
		u16 rank = inc_rnd_below(&t->rng, ranks);

		step(t, r, rank);
		KUNIT_ASSERT_LT(test, steps++, 100000U);
		/*
		 * A rank that has not begun may still need the previous result.
		 */
		if (r->begun < ranks && !reduces(r->collective))
			KUNIT_ASSERT_EQ(test, memcmp(t->old, t->s.result, ROOM), 0);
		if (t->s.state == RDMA_INC_SLOT_STATE_BUSY) {
			KUNIT_ASSERT_GE(test, t->s.ready, ready);
			ready = t->s.ready;
		}
	}
	for (u16 rank = 0; rank < ranks; rank++)
		while (step(t, r, rank))
			;
	KUNIT_ASSERT_EQ(test, test_parts_live, 0);
}

static void any_collective(struct kunit *test)
{
	const unsigned int n = inc_test_rounds(1000);
	struct slot_test *t = test->priv;
	struct coll_round *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);
	u32 msg_id = 0;

	KUNIT_ASSERT_NOT_NULL(test, r);
	for (unsigned int i = 0; i < n; i++, msg_id += 4) {
		if (i % 50 == 0) {
			msg_id = 0;
			slot_test_tree(test, 1 + inc_rnd_below(&t->rng, MAX_RANKS),
				       PMTU, MAX_CHUNKS, 0);
		}
		choose(test, r, msg_id);
		run_round(test, r);
		check_ranks(test, r);
	}
}

/* Ended anywhere: nothing is left, and late ranks are told. */
static void ends_anywhere(struct kunit *test)
{
	const unsigned int n = inc_test_rounds(300);
	struct slot_test *t = test->priv;
	struct coll_round *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, r);
	for (unsigned int i = 0; i < n; i++) {
		u32 steps;

		slot_test_tree(test, 1 + inc_rnd_below(&t->rng, MAX_RANKS), PMTU,
			       MAX_CHUNKS, 0);
		choose(test, r, 0);
		steps = inc_rnd_below(&t->rng, t->geom.members * MAX_CHUNKS);
		while (steps--)
			step(t, r, inc_rnd_below(&t->rng, t->geom.members));
		if (!inc_slot_fail(&t->s, INC_STATUS_PEER_DEAD)) {
			KUNIT_ASSERT_NE(test, t->s.state,
					(u8)RDMA_INC_SLOT_STATE_BUSY);
			continue;
		}
		KUNIT_ASSERT_EQ(test, test_parts_live, 0);
		for (u16 rank = 0; rank < t->geom.members; rank++) {
			if (!t->sent[rank])
				KUNIT_ASSERT_EQ(test, test_begin(t, rank,
								 &r->msg[rank]),
						INC_SLOT_FAILED);
			while (step(t, r, rank))
				;
		}
		KUNIT_ASSERT_EQ(test, test_parts_live, 0);
	}
}

/* A request that does not fit into the result buffer is refused. */
static void too_long(struct kunit *test)
{
	struct slot_test *t = test->priv;
	struct inc_msg msg;

	slot_test_tree(test, 4, PMTU, MAX_CHUNKS, 0);
	for (u8 coll = 0; coll < INC_COLL_COUNT; coll++) {
		u32 most = ROOM / buffer_blocks(t, coll) / 4;
		struct coll_round r = { .collective = coll };

		for (u32 nelem = most; nelem <= most + 1; nelem++) {
			struct inc_hdr hdr = test_hdr(t, coll, INC_DTYPE_INT32,
						      INC_OP_SUM, 0, nelem);
			u32 len = INC_HDR_LEN + blocks_in(t, &r, 1) * nelem * 4;

			if (coll == INC_COLL_BARRIER)
				continue;
			KUNIT_EXPECT_EQ_MSG(test, inc_msg_parse(&t->geom, 1, &hdr,
								len, false, &msg),
					    nelem == most ? INC_STATUS_OK :
							    INC_STATUS_LENGTH,
					    "collective %u", coll);
		}
		/* Not by an overflow either. */
		if (coll != INC_COLL_BARRIER) {
			struct inc_hdr hdr = test_hdr(t, coll, INC_DTYPE_INT64,
						      INC_OP_SUM, 0, ~0U);

			KUNIT_EXPECT_EQ(test, inc_msg_parse(&t->geom, 1, &hdr,
							    INC_HDR_LEN, false, &msg),
					INC_STATUS_LENGTH);
		}
	}
}

/* Senders send a request with data, receivers only begin. */
static void who_sends_what(struct kunit *test)
{
	struct coll_round *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);
	struct slot_test *t = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, r);
	slot_test_tree(test, 3, PMTU, MAX_CHUNKS, 0);
	do
		choose(test, r, 0);
	while (r->collective != INC_COLL_BROADCAST || r->block < 2 * PMTU);
	for (u16 rank = 0; rank < 3; rank++)
		if (rank != r->root)
			step(t, r, rank);
	for (u16 rank = 0; rank < 3; rank++)
		KUNIT_EXPECT_EQ(test, inc_msg_wants(&t->geom, &t->s.msg, rank),
				rank == r->root ?
				(u16)inc_chunks_of(&t->geom, r->block) : 1);
	while (t->s.state == RDMA_INC_SLOT_STATE_BUSY)
		step(t, r, r->root);
	step(t, r, 0);
	step(t, r, 1);
	step(t, r, 2);
}

static struct kunit_case slot_coll_cases[] = {
	KUNIT_CASE(any_collective),
	KUNIT_CASE(ends_anywhere),
	KUNIT_CASE(too_long),
	KUNIT_CASE(who_sends_what),
	{}
};

static struct kunit_suite slot_coll_suite = {
	.name = "rdma_inc_slot_coll",
	.init = slot_test_init,
	.exit = slot_test_exit,
	.test_cases = slot_coll_cases,
};

kunit_test_suite(slot_coll_suite);

MODULE_LICENSE("GPL");
