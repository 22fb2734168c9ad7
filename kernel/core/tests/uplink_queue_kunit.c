// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the queue of a child's requests to its parent.
 */
#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>
#include <rdma/ib_pack.h>

#include "common.h"
#include "core/payload.h"
#include "core/uplink_queue.h"

#define SLOTS	4
#define PMTU	256
#define CHUNKS	4
#define FIRST	IB_OPCODE_RC_RDMA_WRITE_FIRST
#define MIDDLE	IB_OPCODE_RC_RDMA_WRITE_MIDDLE
#define LAST	IB_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE
#define ONLY	IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE

struct queue_test {
	struct inc_slot_geom	geom;
	struct inc_uplink_queue	q;
	struct inc_uplink_out	out[SLOTS];
	u16			fifo[SLOTS];
	struct inc_slot		slot[SLOTS];
	struct inc_wqe		w;
};

static int queue_init(struct kunit *test)
{
	struct queue_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	unsigned int i;

	if (!t)
		return -ENOMEM;
	t->geom = (struct inc_slot_geom) {
		.members = 2, .slots = SLOTS, .pmtu = PMTU,
		.max_chunks = CHUNKS, .msg_size = CHUNKS * PMTU,
		.child = true, .job_ranks = 4, .own = { 0, 2 },
	};
	for (i = 0; i < SLOTS; i++) {
		void *mem = kunit_kzalloc(test, inc_slot_size(&t->geom),
					  GFP_KERNEL);

		if (!mem)
			return -ENOMEM;
		inc_slot_init(&t->slot[i], &t->geom, i);
		inc_slot_place(&t->slot[i], mem);
	}
	inc_uplinkq_init(&t->q, &t->geom, t->out, t->fifo);
	t->q.tree_id = 9;
	t->q.rkey = 7;
	t->q.result_rkey = 8;
	test->priv = t;
	return 0;
}

static struct inc_msg message(u32 msg_id, u16 chunks)
{
	u32 len = chunks * PMTU - INC_HDR_LEN - 4;

	return (struct inc_msg) {
		.msg_id = msg_id, .collective = INC_COLL_ALLREDUCE,
		.dtype = INC_DTYPE_INT32, .op = INC_OP_SUM, .nelem = len / 4,
		.data_len = len, .nchunks = chunks,
		.gather_len = len, .gather_chunks = chunks,
	};
}

static void gather(struct kunit *test, const struct inc_msg *msg, u16 gathered)
{
	struct queue_test *t = test->priv;
	struct inc_slot *s = &t->slot[msg->msg_id % SLOTS];

	s->msg.msg_id = msg->msg_id;
	inc_uplinkq_gathered(&t->q, s, msg, gathered, true);
}

static bool sendable(struct kunit *test)
{
	struct queue_test *t = test->priv;

	return !inc_uplinkq_empty(&t->q) && inc_uplinkq_sendable(&t->q);
}

/* Take the next packet, which has to have this opcode. */
static const struct inc_wqe *expect(struct kunit *test, u8 opcode,
				    enum inc_requester_end end)
{
	struct queue_test *t = test->priv;

	KUNIT_ASSERT_TRUE(test, sendable(test));
	KUNIT_EXPECT_EQ(test,
			inc_uplinkq_next(&t->q,
					 &t->slot[inc_uplinkq_slot(&t->q)],
					 &t->w), end);
	KUNIT_EXPECT_EQ(test, t->w.opcode, opcode);
	KUNIT_EXPECT_EQ(test, t->w.source, INC_WQE_REQUEST);
	KUNIT_EXPECT_EQ(test, t->w.rkey, 7U);
	return &t->w;
}

static void streams(struct kunit *test)
{
	struct queue_test *t = test->priv;
	struct inc_msg msg = message(SLOTS + 1, 3);
	struct inc_slot *s = &t->slot[1];
	const struct inc_wqe *w;
	const struct inc_hdr *hdr;

	KUNIT_EXPECT_FALSE(test, sendable(test));
	gather(test, &msg, 1);
	KUNIT_EXPECT_TRUE(test, s->uplink_busy);
	w = expect(test, FIRST, INC_REQ_MORE);
	KUNIT_EXPECT_EQ(test, w->va, CHUNKS * PMTU);
	KUNIT_EXPECT_EQ(test, w->len, PMTU);
	KUNIT_EXPECT_EQ(test, w->dmalen, 3U * PMTU - 4);
	hdr = inc_wqe_payload(s, w);
	KUNIT_ASSERT_NOT_NULL(test, hdr);
	KUNIT_EXPECT_PTR_EQ(test, hdr, (void *)(s->partial - INC_HDR_LEN));
	KUNIT_EXPECT_EQ(test, be32_to_cpu(hdr->msg_id), SLOTS + 1U);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(hdr->tree_id), 9U);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(hdr->result_rkey), 8U);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(hdr->result_va), CHUNKS * PMTU);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(hdr->nelem), msg.nelem);
	KUNIT_EXPECT_EQ(test, hdr->collective, INC_COLL_ALLREDUCE);
	/* Partly sent: nothing else may come between. */
	KUNIT_EXPECT_FALSE(test, inc_uplinkq_empty(&t->q));
	KUNIT_EXPECT_FALSE(test, sendable(test));

	/* Counts may come out of order. */
	gather(test, &msg, 3);
	gather(test, &msg, 2);
	w = expect(test, MIDDLE, INC_REQ_MORE);
	KUNIT_EXPECT_EQ(test, w->off, PMTU);
	KUNIT_EXPECT_TRUE(test, s->uplink_busy);
	w = expect(test, LAST, INC_REQ_END);
	KUNIT_EXPECT_EQ(test, w->len, PMTU - 4);
	KUNIT_EXPECT_EQ(test, w->imm, SLOTS + 1U);
	KUNIT_EXPECT_FALSE(test, s->uplink_busy);
	KUNIT_EXPECT_TRUE(test, inc_uplinkq_empty(&t->q));
	/* Late, it opens nothing. */
	gather(test, &msg, 3);
	KUNIT_EXPECT_TRUE(test, inc_uplinkq_empty(&t->q));
}

/* The members may be faster than whoever connects the child. */
static void connected_later(struct kunit *test)
{
	struct queue_test *t = test->priv;
	struct inc_msg msg = message(2, 1);
	const struct inc_hdr *hdr;

	t->q.tree_id = 0;
	t->q.rkey = 0;
	t->q.result_rkey = 0;
	gather(test, &msg, 1);
	t->q.tree_id = 9;
	t->q.rkey = 7;
	t->q.result_rkey = 8;
	hdr = inc_wqe_payload(&t->slot[2], expect(test, ONLY,
						  INC_REQ_END_SHARED));
	KUNIT_ASSERT_NOT_NULL(test, hdr);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(hdr->tree_id), 9U);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(hdr->result_rkey), 8U);
}

/* Messages are sent one after the other, in the order of their first chunks. */
static void order(struct kunit *test)
{
	struct inc_msg a = message(2, 2), b = message(1, 1);

	gather(test, &a, 1);
	gather(test, &b, 1);
	KUNIT_EXPECT_EQ(test, expect(test, FIRST, INC_REQ_MORE)->slot, 2);
	KUNIT_EXPECT_FALSE(test, sendable(test));
	gather(test, &a, 2);
	KUNIT_EXPECT_EQ(test, expect(test, LAST, INC_REQ_END)->slot, 2);
	KUNIT_EXPECT_EQ(test, expect(test, ONLY, INC_REQ_END_SHARED)->slot, 1);
}

static void wide(struct kunit *test)
{
	struct queue_test *t = test->priv;
	struct inc_slot *s = &t->slot[0];
	struct inc_msg msg = message(0, 2);
	const struct inc_wqe *w;

	msg.dtype = INC_DTYPE_FP16;
	KUNIT_ASSERT_TRUE(test, inc_msg_wide(&t->geom, &msg, t->geom.own));
	gather(test, &msg, 1);
	w = expect(test, FIRST, INC_REQ_MORE);
	KUNIT_EXPECT_EQ(test, w->dmalen,
			inc_planes_len(&t->geom, 2, msg.gather_len));
	KUNIT_EXPECT_PTR_EQ(test, inc_wqe_payload(s, w),
			    (void *)(s->partial - INC_HDR_LEN));
	w = expect(test, MIDDLE, INC_REQ_MORE);
	KUNIT_EXPECT_PTR_EQ(test, inc_wqe_payload(s, w),
			    (void *)(s->partial + CHUNKS * PMTU - INC_HDR_LEN));
	KUNIT_EXPECT_FALSE(test, sendable(test));
	gather(test, &msg, 2);
	w = expect(test, MIDDLE, INC_REQ_MORE);
	KUNIT_EXPECT_PTR_EQ(test, inc_wqe_payload(s, w),
			    (void *)(s->partial - INC_HDR_LEN + PMTU));
	w = expect(test, LAST, INC_REQ_END);
	KUNIT_EXPECT_PTR_EQ(test, inc_wqe_payload(s, w),
			    (void *)(s->partial + CHUNKS * PMTU - INC_HDR_LEN + PMTU));
	KUNIT_EXPECT_EQ(test, w->dmalen, 3U * PMTU + w->len);
}

static void fails(struct kunit *test)
{
	struct queue_test *t = test->priv;
	struct inc_msg msg = message(3, 3);
	struct inc_wqe old;

	/* The parent knows of it: the rest is sent all the same. */
	gather(test, &msg, 1);
	expect(test, FIRST, INC_REQ_MORE);
	inc_uplinkq_fail(&t->q, &t->slot[3], 3, INC_STATUS_ROOT);
	expect(test, MIDDLE, INC_REQ_MORE);
	old = *expect(test, LAST, INC_REQ_END);
	KUNIT_EXPECT_EQ(test, old.imm, 3U);
	KUNIT_EXPECT_NOT_NULL(test, inc_wqe_payload(&t->slot[3], &old));

	/* A failed message is sent as a header and the status. */
	t->slot[3].msg.msg_id = 3 + SLOTS;
	inc_uplinkq_fail(&t->q, &t->slot[3], 3 + SLOTS, INC_STATUS_ROOT);
	KUNIT_EXPECT_EQ(test, expect(test, ONLY, INC_REQ_END_SHARED)->imm,
			inc_wqe_imm(3 + SLOTS, INC_STATUS_ROOT));
	KUNIT_EXPECT_EQ(test, t->w.len, INC_HDR_LEN);
	/* The bytes of the older packet are gone; it is sent with zeros. */
	KUNIT_EXPECT_NOT_NULL(test, inc_wqe_payload(&t->slot[3], &t->w));
	KUNIT_EXPECT_NULL(test, inc_wqe_payload(&t->slot[3], &old));
}

/* The parent has answered, and its acknowledgment is lost. */
static void outlives(struct kunit *test)
{
	struct queue_test *t = test->priv;
	struct inc_msg msg = message(1, 1);
	struct inc_slot *s = &t->slot[1];
	const void *payload;

	gather(test, &msg, 1);
	expect(test, ONLY, INC_REQ_END_SHARED);
	payload = inc_wqe_payload(s, &t->w);
	KUNIT_ASSERT_NOT_NULL(test, payload);
	memset(s->partial, 1, PMTU);
	KUNIT_EXPECT_EQ(test, inc_wqe_crc(s, &t->w, payload),
			inc_crc_payload(payload, t->w.len));
	/* A rank begins the next one: a plane may change. */
	s->msg.msg_id += SLOTS;
	payload = inc_wqe_payload(s, &t->w);
	KUNIT_EXPECT_NULL(test, payload);
	KUNIT_EXPECT_EQ(test, inc_wqe_crc(s, &t->w, payload), 0U);
}

static void aborts(struct kunit *test)
{
	struct queue_test *t = test->priv;
	struct inc_msg a = message(0, 2), b = message(1, 1);

	inc_uplinkq_abort(&t->q);
	gather(test, &a, 1);
	gather(test, &b, 1);
	expect(test, FIRST, INC_REQ_MORE);
	inc_uplinkq_abort(&t->q);
	expect(test, LAST, INC_REQ_END);
	KUNIT_EXPECT_TRUE(test, inc_uplinkq_empty(&t->q));
	a = message(SLOTS, 2);
	gather(test, &a, 1);
	inc_uplinkq_abort(&t->q);
	KUNIT_EXPECT_TRUE(test, inc_uplinkq_empty(&t->q));
}

static struct kunit_case uplink_queue_cases[] = {
	KUNIT_CASE(streams),
	KUNIT_CASE(connected_later),
	KUNIT_CASE(order),
	KUNIT_CASE(wide),
	KUNIT_CASE(fails),
	KUNIT_CASE(outlives),
	KUNIT_CASE(aborts),
	{}
};

static struct kunit_suite uplink_queue_suite = {
	.name = "rdma_inc_uplink_queue",
	.init = queue_init,
	.test_cases = uplink_queue_cases,
};

kunit_test_suite(uplink_queue_suite);

MODULE_LICENSE("GPL");
