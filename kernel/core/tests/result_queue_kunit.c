// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the queue of a member's results.
 */
#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>
#include <rdma/ib_pack.h>

#include "common.h"
#include "core/result_queue.h"

#define SLOTS	8
#define PMTU	256
#define ONLY	IB_OPCODE_RC_RDMA_WRITE_ONLY
#define LAST	IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE
#define VA	0x10000ULL

struct queue_test {
	struct inc_slot_geom	geom;
	struct inc_result_queue	q;
};

static int queue_init(struct kunit *test)
{
	struct queue_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	t->geom.members = 4;
	t->geom.slots = SLOTS;
	t->geom.pmtu = PMTU;
	inc_resultq_init(&t->q, &t->geom);
	test->priv = t;
	return 0;
}

static struct inc_result_queue *queue(struct kunit *test)
{
	return &((struct queue_test *)test->priv)->q;
}

/* A message whose result has @nchunks packets, of which the member gets all. */
static struct inc_msg whole(u32 msg_id, u16 nchunks)
{
	u32 len = nchunks * PMTU - INC_HDR_LEN;

	return (struct inc_msg) {
		.msg_id = msg_id, .nchunks = nchunks, .data_len = len,
		.out_len = len,
	};
}

/* If the queue is full but for one, give it room for as many messages, and two. */
static void make_room(struct kunit *test)
{
	struct inc_result_queue *q = queue(test);
	u16 size = min(q->used + 2, q->geom->slots);
	void *mem;

	if (!inc_resultq_must_grow(q))
		return;
	KUNIT_EXPECT_GE(test, q->used + 1, q->size);
	mem = kunit_kzalloc(test, inc_resultq_memory(size), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, mem);
	KUNIT_EXPECT_EQ(test, inc_resultq_fits(q->geom, inc_resultq_memory(size)),
			size);
	inc_resultq_grow(q, mem, size);
	KUNIT_EXPECT_FALSE(test, inc_resultq_must_grow(q));
}

static void open_msg(struct kunit *test, const struct inc_msg *msg, u32 size)
{
	struct inc_result_queue *q = queue(test);

	make_room(test);
	KUNIT_ASSERT_EQ(test, inc_resultq_may_open(q, msg->msg_id),
			INC_OPEN_OK);
	inc_resultq_open(q, msg, VA, 5, size, false);
}

struct taken {
	struct inc_wqe		w;
	enum inc_requester_end	end;
	enum inc_resultq_item	item;
};

static struct taken take(struct kunit *test)
{
	struct taken t;

	KUNIT_EXPECT_FALSE(test, inc_resultq_empty(queue(test)));
	t.item = inc_resultq_next(queue(test), &t.w, &t.end);
	return t;
}

static void streams(struct kunit *test)
{
	struct inc_result_queue *q = queue(test);
	struct inc_msg msg = whole(0x1000003, 3);
	struct taken t;

	open_msg(test, &msg, 100);
	KUNIT_EXPECT_TRUE(test, inc_resultq_empty(q));
	KUNIT_EXPECT_TRUE(test, inc_resultq_waits(q, msg.msg_id));
	KUNIT_EXPECT_EQ(test, q->held, 100);
	KUNIT_EXPECT_EQ(test, inc_resultq_ready(q, &msg, 1), 0U);
	t = take(test);
	KUNIT_EXPECT_EQ(test, t.item, INC_RESULTQ_PART);
	KUNIT_EXPECT_EQ(test, t.end, INC_REQ_MORE);
	KUNIT_EXPECT_EQ(test, t.w.opcode, ONLY);
	KUNIT_EXPECT_EQ(test, t.w.source, INC_WQE_CHUNK);
	KUNIT_EXPECT_EQ(test, t.w.va, VA);
	KUNIT_EXPECT_EQ(test, t.w.rkey, 5U);
	KUNIT_EXPECT_EQ(test, t.w.slot, 3);
	KUNIT_EXPECT_EQ(test, t.w.off, 0U);
	KUNIT_EXPECT_EQ(test, t.w.len, PMTU - INC_HDR_LEN);
	KUNIT_EXPECT_EQ(test, t.w.dmalen, (u32)t.w.len);
	KUNIT_EXPECT_TRUE(test, inc_resultq_empty(q));

	/* An older count that comes late changes nothing. */
	KUNIT_EXPECT_EQ(test, inc_resultq_ready(q, &msg, 3), 100U);
	KUNIT_EXPECT_EQ(test, inc_resultq_ready(q, &msg, 2), 0U);
	KUNIT_EXPECT_EQ(test, q->held, 0);
	KUNIT_EXPECT_FALSE(test, inc_resultq_waits(q, msg.msg_id));
	t = take(test);
	KUNIT_EXPECT_EQ(test, t.w.off, PMTU - INC_HDR_LEN);
	KUNIT_EXPECT_EQ(test, t.w.len, PMTU);
	t = take(test);
	KUNIT_EXPECT_EQ(test, t.item, INC_RESULTQ_LAST);
	KUNIT_EXPECT_EQ(test, t.end, INC_REQ_END);
	KUNIT_EXPECT_EQ(test, t.w.opcode, LAST);
	KUNIT_EXPECT_EQ(test, t.w.imm, 3U);
	KUNIT_EXPECT_EQ(test, t.w.va, VA + 2 * PMTU - INC_HDR_LEN);
	KUNIT_EXPECT_TRUE(test, inc_resultq_empty(q));
	KUNIT_EXPECT_EQ(test, q->waiting.n, 0);
}

/* A share of the result has packets of its own. */
static void share(struct kunit *test)
{
	struct inc_result_queue *q = queue(test);
	struct inc_msg msg = whole(0, 4);
	struct taken t;

	msg.out_off = PMTU;
	msg.out_len = PMTU + 4;
	open_msg(test, &msg, 0);
	inc_resultq_ready(q, &msg, 2);
	KUNIT_EXPECT_TRUE(test, inc_resultq_empty(q));
	inc_resultq_ready(q, &msg, 3);
	t = take(test);
	KUNIT_EXPECT_EQ(test, t.w.source, INC_WQE_RESULT);
	KUNIT_EXPECT_EQ(test, t.w.off, PMTU);
	KUNIT_EXPECT_EQ(test, t.w.len, PMTU);
	KUNIT_EXPECT_TRUE(test, inc_resultq_empty(q));
	inc_resultq_ready(q, &msg, 4);
	t = take(test);
	KUNIT_EXPECT_EQ(test, t.item, INC_RESULTQ_LAST);
	KUNIT_EXPECT_EQ(test, t.w.off, 2 * PMTU);
	KUNIT_EXPECT_EQ(test, t.w.len, 4);
}

/* No bytes for this member: it is told all the same, when all is done. */
static void nothing(struct kunit *test)
{
	struct inc_msg msg = whole(0, 2);
	struct taken t;

	msg.out_len = 0;
	open_msg(test, &msg, 0);
	inc_resultq_ready(queue(test), &msg, 1);
	KUNIT_EXPECT_TRUE(test, inc_resultq_empty(queue(test)));
	inc_resultq_ready(queue(test), &msg, 2);
	t = take(test);
	KUNIT_EXPECT_EQ(test, t.item, INC_RESULTQ_LAST);
	KUNIT_EXPECT_EQ(test, t.end, INC_REQ_END_SHARED);
	KUNIT_EXPECT_EQ(test, t.w.len, 0);
}

static void fails(struct kunit *test)
{
	struct inc_result_queue *q = queue(test);
	struct inc_msg msg = whole(9, 3);
	struct taken t;

	KUNIT_EXPECT_EQ(test, inc_resultq_status(q, 9, INC_STATUS_ROOT), 0U);
	KUNIT_EXPECT_TRUE(test, inc_resultq_empty(q));
	open_msg(test, &msg, 10);
	KUNIT_EXPECT_TRUE(test, inc_resultq_hold(q, 9, 7));
	inc_resultq_ready(q, &msg, 2);
	take(test);
	KUNIT_EXPECT_EQ(test, inc_resultq_status(q, 9, INC_STATUS_ROOT), 17U);
	/* The first error counts. */
	KUNIT_EXPECT_EQ(test, inc_resultq_status(q, 9, INC_STATUS_LENGTH), 0U);
	KUNIT_EXPECT_FALSE(test, inc_resultq_hold(q, 9, 7));
	t = take(test);
	KUNIT_EXPECT_EQ(test, t.item, INC_RESULTQ_ERROR);
	KUNIT_EXPECT_EQ(test, t.w.imm, inc_wqe_imm(9, INC_STATUS_ROOT));
	KUNIT_EXPECT_EQ(test, t.w.len, 0);
	KUNIT_EXPECT_EQ(test, t.w.opcode, LAST);
	KUNIT_EXPECT_TRUE(test, inc_resultq_empty(q));
	KUNIT_EXPECT_EQ(test, q->held, 0);
}

static void may_open(struct kunit *test)
{
	struct inc_result_queue *q = queue(test);
	struct inc_msg msg = whole(2 * SLOTS, 1);

	open_msg(test, &msg, 1);
	KUNIT_EXPECT_EQ(test, inc_resultq_may_open(q, 2 * SLOTS),
			INC_OPEN_REPEAT);
	KUNIT_EXPECT_EQ(test, inc_resultq_may_open(q, 3 * SLOTS),
			INC_OPEN_BUSY);
	inc_resultq_ready(q, &msg, 1);
	take(test);
	/* Whether it repeats one that is sent, the slot knows. */
	KUNIT_EXPECT_EQ(test, inc_resultq_may_open(q, 3 * SLOTS), INC_OPEN_OK);
	KUNIT_EXPECT_EQ(test, q->begun, 1U);

	/* Closed, it may be opened again. */
	msg = whole(3 * SLOTS, 1);
	open_msg(test, &msg, 9);
	KUNIT_EXPECT_EQ(test, q->begun, 2U);
	KUNIT_EXPECT_EQ(test, inc_resultq_close(q, 3 * SLOTS), 9U);
	KUNIT_EXPECT_EQ(test, q->begun, 1U);
	KUNIT_EXPECT_EQ(test, q->waiting.n, 0);
	open_msg(test, &msg, 9);
	/* A status that is queued already is sent. */
	inc_resultq_status(q, 3 * SLOTS, INC_STATUS_ROOT);
	KUNIT_EXPECT_EQ(test, inc_resultq_close(q, 3 * SLOTS), 0U);
	KUNIT_EXPECT_EQ(test, take(test).item, INC_RESULTQ_ERROR);
}

/* Strays come first, then results, then a probe. */
static void order(struct kunit *test)
{
	struct inc_result_queue *q = queue(test);
	struct inc_msg a = whole(1, 1), b = whole(2, 1);

	open_msg(test, &a, 0);
	open_msg(test, &b, 0);
	q->probe = true;
	inc_resultq_ready(q, &b, 1);
	inc_resultq_ready(q, &a, 1);
	KUNIT_EXPECT_TRUE(test, inc_resultq_stray(q, 7, INC_STATUS_MSG_ID));
	KUNIT_EXPECT_TRUE(test, inc_resultq_stray(q, 8, INC_STATUS_PENDING));
	KUNIT_EXPECT_EQ(test, take(test).w.imm,
			inc_wqe_imm(7, INC_STATUS_MSG_ID));
	KUNIT_EXPECT_EQ(test, take(test).item, INC_RESULTQ_PENDING);
	KUNIT_EXPECT_EQ(test, take(test).w.msg_id, 2U);
	KUNIT_EXPECT_EQ(test, take(test).w.msg_id, 1U);
	KUNIT_EXPECT_EQ(test, take(test).item, INC_RESULTQ_PROBE);
	KUNIT_EXPECT_TRUE(test, inc_resultq_empty(q));
}

/* One entry is left free for the farewell, which waits for no member. */
static void farewell(struct kunit *test)
{
	struct inc_result_queue *q = queue(test);
	struct inc_msg msg = whole(1, 1);
	u32 n = 0;

	while (inc_resultq_stray(q, n, INC_STATUS_MSG_ID))
		n++;
	KUNIT_EXPECT_EQ(test, n, INC_RESULTQ_MAX_STRAY - 1U);
	inc_resultq_farewell(q, 77, INC_STATUS_PEER_DEAD);
	while (n--)
		take(test);
	KUNIT_EXPECT_EQ(test, take(test).w.imm,
			inc_wqe_imm(77, INC_STATUS_PEER_DEAD));
	open_msg(test, &msg, 0);
	inc_resultq_farewell(q, 77, INC_STATUS_PEER_DEAD);
	KUNIT_EXPECT_TRUE(test, inc_resultq_empty(q));
}

/* Without memory for results: nothing has begun, and statuses get through. */
static void without_memory(struct kunit *test)
{
	struct inc_result_queue *q = queue(test);
	struct inc_msg msg = whole(3, 1);

	KUNIT_EXPECT_TRUE(test, inc_resultq_must_grow(q));
	KUNIT_EXPECT_FALSE(test, inc_resultq_waits(q, 3));
	KUNIT_EXPECT_EQ(test, inc_resultq_ready(q, &msg, 1), 0U);
	KUNIT_EXPECT_EQ(test, inc_resultq_status(q, 3, INC_STATUS_MISMATCH),
			0U);
	KUNIT_EXPECT_FALSE(test, inc_resultq_hold(q, 3, 10));
	KUNIT_EXPECT_TRUE(test, inc_resultq_empty(q));
	inc_resultq_stray(q, 3, INC_STATUS_RESEND);
	KUNIT_EXPECT_EQ(test, take(test).item, INC_RESULTQ_RESEND);
	inc_resultq_farewell(q, 77, INC_STATUS_TREE_GONE);
	KUNIT_EXPECT_EQ(test, take(test).w.imm,
			inc_wqe_imm(77, INC_STATUS_TREE_GONE));

	open_msg(test, &msg, 10);
	KUNIT_EXPECT_EQ(test, inc_resultq_ready(q, &msg, 1), 10U);
	KUNIT_EXPECT_EQ(test, take(test).item, INC_RESULTQ_LAST);
}

/* The farewell of a member that waits, for others or for its window: none. */
static void farewell_waits(struct kunit *test)
{
	struct inc_msg msg = whole(1, 2), other = whole(2, 1);
	struct inc_result_queue *q = queue(test);

	open_msg(test, &msg, 0);
	open_msg(test, &other, 0);
	inc_resultq_ready(q, &other, 1);
	take(test);
	inc_resultq_farewell(q, 77, INC_STATUS_PEER_DEAD);
	KUNIT_EXPECT_EQ(test, q->nstray, 0);
	inc_resultq_status(q, 1, INC_STATUS_MISMATCH);
	inc_resultq_farewell(q, 77, INC_STATUS_PEER_DEAD);
	KUNIT_EXPECT_EQ(test, q->nstray, 0);
	take(test);
	inc_resultq_farewell(q, 77, INC_STATUS_PEER_DEAD);
	KUNIT_EXPECT_EQ(test, q->nstray, 1);
}

/* A search looks at waiting and queued entries, however many slots there are. */
static void farewell_looks(struct kunit *test)
{
	struct inc_result_queue *q = queue(test);
	u16 i;

	/* No entry that is neither is ever open: whoever looks there sees it. */
	make_room(test);
	for (i = 0; i < q->size; i++)
		q->out[i].open = true;
	inc_resultq_farewell(q, 77, INC_STATUS_PEER_DEAD);
	KUNIT_EXPECT_EQ(test, q->nstray, 1);
}

static enum inc_resultq_item take_uc(struct kunit *test, struct inc_wqe *w,
				     enum inc_requester_kind *kind)
{
	return inc_resultq_next_uc(queue(test), w, 0, kind);
}

static void resend(struct kunit *test)
{
	struct inc_result_queue *q = queue(test);
	struct inc_msg msg = whole(SLOTS, 1);
	enum inc_requester_kind kind;
	struct inc_wqe w;

	open_msg(test, &msg, 0);
	KUNIT_EXPECT_FALSE(test, inc_resultq_resend(q, &msg, VA, 5, 0));
	inc_resultq_ready(q, &msg, 1);
	KUNIT_EXPECT_FALSE(test, inc_resultq_resend(q, &msg, VA, 5, 0));
	KUNIT_EXPECT_EQ(test, take_uc(test, &w, &kind), INC_RESULTQ_LAST);
	KUNIT_EXPECT_EQ(test, kind, INC_REQ_FRESH);
	KUNIT_EXPECT_EQ(test, w.opcode, IB_OPCODE_UC | LAST);
	KUNIT_EXPECT_EQ(test, w.imm,
			inc_wqe_imm(SLOTS, INC_IMM_LOWMARK + SLOTS));

	/* To where the member has asked for it last; once, however often. */
	make_room(test);
	KUNIT_EXPECT_TRUE(test, inc_resultq_resend(q, &msg, VA, 5, 0));
	KUNIT_EXPECT_TRUE(test, inc_resultq_resend(q, &msg, VA + 1, 6, 0));
	KUNIT_EXPECT_EQ(test, take_uc(test, &w, &kind), INC_RESULTQ_LAST);
	KUNIT_EXPECT_EQ(test, kind, INC_REQ_RETRANSMIT);
	KUNIT_EXPECT_EQ(test, w.va, VA + 1);
	KUNIT_EXPECT_EQ(test, w.rkey, 6U);
	KUNIT_EXPECT_EQ(test, w.len, msg.out_len);
	KUNIT_EXPECT_EQ(test, take_uc(test, &w, &kind), INC_RESULTQ_NONE);

	/* An error, of a message that this queue need not have seen. */
	msg = whole(1, 1);
	make_room(test);
	KUNIT_EXPECT_TRUE(test, inc_resultq_resend(q, &msg, VA, 5,
						   INC_STATUS_ROOT));
	KUNIT_EXPECT_EQ(test, take_uc(test, &w, &kind), INC_RESULTQ_ERROR);
	KUNIT_EXPECT_EQ(test, kind, INC_REQ_RETRANSMIT);
	KUNIT_EXPECT_EQ(test, w.imm, inc_wqe_imm(1, INC_STATUS_ROOT));

	/* The member has moved on, so it has had the result. */
	make_room(test);
	inc_resultq_resend(q, &msg, VA, 5, 0);
	msg = whole(1 + SLOTS, 1);
	open_msg(test, &msg, 3);
	KUNIT_EXPECT_EQ(test, inc_resultq_close(q, 1 + SLOTS), 3U);
	KUNIT_EXPECT_EQ(test, take_uc(test, &w, &kind), INC_RESULTQ_NONE);
}

/* Of messages that begin newest first, each is the oldest: one may exceed limits. */
static void must_open(struct kunit *test)
{
	struct inc_result_queue *q = queue(test);
	struct inc_msg msg = whole(5, 1);

	KUNIT_EXPECT_TRUE(test, inc_resultq_must_open(q, 5, 0));
	open_msg(test, &msg, 10);
	KUNIT_EXPECT_FALSE(test, inc_resultq_must_open(q, 6, 0));
	KUNIT_EXPECT_TRUE(test, inc_resultq_must_open(q, 4, 0));
	make_room(test);
	msg = whole(4, 1);
	inc_resultq_open(q, &msg, VA, 5, 10, true);
	KUNIT_EXPECT_FALSE(test, inc_resultq_must_open(q, 3, 0));
	KUNIT_EXPECT_FALSE(test, inc_resultq_must_open(q, 1, 0));
	/* The tree's oldest one always. */
	KUNIT_EXPECT_TRUE(test, inc_resultq_must_open(q, 0, 0));
	KUNIT_EXPECT_TRUE(test, inc_resultq_must_open(q, 3, 3));
	KUNIT_EXPECT_EQ(test, inc_resultq_ready(q, &msg, 1), 10U);
	KUNIT_EXPECT_TRUE(test, inc_resultq_must_open(q, 3, 0));
	make_room(test);
	msg = whole(3, 1);
	inc_resultq_open(q, &msg, VA, 5, 10, true);
	KUNIT_EXPECT_FALSE(test, inc_resultq_must_open(q, 2, 0));
	KUNIT_EXPECT_EQ(test, inc_resultq_close(q, 3), 10U);
	KUNIT_EXPECT_TRUE(test, inc_resultq_must_open(q, 3, 0));
}

/* Memory is for the messages in progress, however many slots they go through. */
static void in_progress(struct kunit *test)
{
	struct queue_test *t = test->priv;
	struct inc_result_queue *q = &t->q;
	enum inc_requester_kind kind;
	const u16 window = 64;
	struct inc_wqe w;
	u32 id;

	t->geom.slots = 1024;
	for (id = -1000; id != 3000; id++) {
		struct inc_msg msg = whole(id, 1);

		open_msg(test, &msg, 0);
		msg = whole(id - window + 2, 1);
		inc_resultq_ready(q, &msg, 1);
		/* One result is lost for each that is not. */
		msg = whole(id - 3 * window, 1);
		if (!inc_resultq_must_grow(q))
			inc_resultq_resend(q, &msg, VA, 5, 0);
		while (take_uc(test, &w, &kind))
			;
	}
	KUNIT_EXPECT_LE(test, q->size, window);
	/* A page, with some that wait for others for longer. */
	KUNIT_EXPECT_LE(test, inc_resultq_memory(window + window / 3), 4096UL);
}

/* Packets that a slot of the model has sent and may send. */
struct model {
	struct inc_msg	msg;
	u16		ready, sent;
	u32		bytes;
	bool		open, failed;
};

static void model_take(struct kunit *test, struct model *model,
		       const struct taken *t)
{
	struct model *m;

	if (t->item == INC_RESULTQ_ERROR) {
		m = &model[t->w.imm % SLOTS];
		KUNIT_ASSERT_TRUE(test, m->open && m->failed);
		m->open = false;
		return;
	}
	m = &model[t->w.slot];
	KUNIT_ASSERT_EQ(test, t->w.msg_id, m->msg.msg_id);
	KUNIT_ASSERT_TRUE(test, m->open && m->sent < m->ready);
	KUNIT_ASSERT_EQ(test, t->w.off, m->bytes);
	m->bytes += t->w.len;
	m->sent++;
	KUNIT_ASSERT_EQ(test, t->item == INC_RESULTQ_LAST,
			m->sent == m->msg.nchunks);
	KUNIT_ASSERT_TRUE(test, t->item != INC_RESULTQ_LAST ||
			  m->bytes == m->msg.data_len);
	m->open = t->item != INC_RESULTQ_LAST;
}

static void model_step(struct kunit *test, struct model *m, struct inc_rng *rng)
{
	struct inc_result_queue *q = queue(test);
	bool complete = m->failed || m->ready == m->msg.nchunks;
	u16 ready;

	if (!m->open) {
		m->msg = whole(m->msg.msg_id + SLOTS,
			       1 + inc_rnd_below(rng, 4));
		m->ready = 0;
		m->sent = 0;
		m->bytes = 0;
		m->failed = false;
		m->open = true;
		open_msg(test, &m->msg, 10);
	} else if (inc_rnd_chance(rng, 100)) {
		KUNIT_ASSERT_EQ(test,
				inc_resultq_status(q, m->msg.msg_id,
						   INC_STATUS_ROOT),
				complete ? 0U : 10U);
		m->failed = true;
	} else if (!m->failed) {
		ready = inc_rnd_below(rng, m->msg.nchunks + 1);
		m->ready = max(m->ready, ready);
		KUNIT_ASSERT_EQ(test, inc_resultq_ready(q, &m->msg, ready),
				!complete && m->ready == m->msg.nchunks ? 10U :
									  0U);
	}
}

/* Any order: every result is sent once, in order, no earlier than ready. */
static void any_order(struct kunit *test)
{
	unsigned int rounds = inc_test_rounds(20000);
	struct inc_result_queue *q = queue(test);
	struct model model[SLOTS] = {};
	struct inc_rng rng;
	unsigned int i;

	inc_rng_init(&rng, test);
	for (i = 0; i < SLOTS; i++)
		model[i].msg.msg_id = i - 4 * SLOTS;
	while (rounds--) {
		u64 held = 0;

		if (inc_rnd_chance(&rng, 500)) {
			model_step(test, &model[inc_rnd_below(&rng, SLOTS)],
				   &rng);
		} else if (!inc_resultq_empty(q)) {
			struct taken t = take(test);

			model_take(test, model, &t);
		}
		for (i = 0; i < SLOTS; i++)
			held += inc_resultq_waits(q, model[i].msg.msg_id) ? 10 :
									    0;
		KUNIT_ASSERT_EQ(test, q->held, held);
		KUNIT_ASSERT_EQ(test, q->waiting.n, held / 10);
	}
	while (!inc_resultq_empty(q)) {
		struct taken t = take(test);

		model_take(test, model, &t);
	}
	/* All ready packets are sent. */
	for (i = 0; i < SLOTS; i++)
		KUNIT_EXPECT_TRUE(test, !model[i].open ||
				  (!model[i].failed &&
				   model[i].sent == model[i].ready));
}

static struct kunit_case result_queue_cases[] = {
	KUNIT_CASE(streams),
	KUNIT_CASE(share),
	KUNIT_CASE(nothing),
	KUNIT_CASE(fails),
	KUNIT_CASE(may_open),
	KUNIT_CASE(must_open),
	KUNIT_CASE(order),
	KUNIT_CASE(without_memory),
	KUNIT_CASE(farewell),
	KUNIT_CASE(farewell_waits),
	KUNIT_CASE(farewell_looks),
	KUNIT_CASE(resend),
	KUNIT_CASE(in_progress),
	KUNIT_CASE(any_order),
	{}
};

static struct kunit_suite result_queue_suite = {
	.name = "rdma_inc_result_queue",
	.init = queue_init,
	.test_cases = result_queue_cases,
};

kunit_test_suite(result_queue_suite);

MODULE_LICENSE("GPL");
