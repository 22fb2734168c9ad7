// SPDX-License-Identifier: GPL-2.0
/*
 * The requester, rule by rule; time is a number here.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include "core/ends.h"
#include "requester_test.h"

static void window(struct kunit *test)
{
	static const u16 windows[] = { 1, 2, 3, 16, 255, 256 };

	for (unsigned int i = 0; i < ARRAY_SIZE(windows); i++) {
		u16 w = windows[i];
		struct inc_requester *r = setup(test, 0xfffff0, w);

		KUNIT_EXPECT_NULL(test, next(test, true).wqe);
		send(test, w);
		KUNIT_EXPECT_NULL_MSG(test, inc_requester_push(r), "size %u",
				      w);
		KUNIT_EXPECT_NULL(test, next(test, true).wqe);
		/* One is acknowledged: room for one. */
		KUNIT_EXPECT_EQ(test,
				inc_requester_ack(r, 0xfffff0, START + 10),
				INC_REQ_PROGRESS);
		KUNIT_EXPECT_NOT_NULL(test, inc_requester_push(r));
		KUNIT_EXPECT_NULL(test, inc_requester_push(r));
	}
}

/* Last packets of results, by PSNs that wrap; more than there is room for are not noted. */
static void ends(struct kunit *test)
{
	const u32 first = 0xfffff8;
	struct inc_ends e = {};
	u32 msg_id, n = 0, taken = 0;

	for (u32 round = 0; round < 5; round++) {
		for (; n < taken + INC_ENDS_MAX; n++)
			inc_ends_add(&e, inc_psn_add(first, 3 * n), n);
		inc_ends_add(&e, inc_psn_add(first, 3 * n), 1000);
		KUNIT_EXPECT_FALSE(test, inc_ends_take(&e, inc_psn_add(first, 3 * taken),
						       &msg_id));
		for (u32 until = taken + 7; taken < until; taken++) {
			KUNIT_EXPECT_TRUE(test, inc_ends_take(&e, inc_psn_add(first, 3 * until - 2),
							      &msg_id));
			KUNIT_EXPECT_EQ(test, msg_id, taken);
		}
		KUNIT_EXPECT_FALSE(test, inc_ends_take(&e, inc_psn_add(first, 3 * taken - 2),
						       &msg_id));
	}
}

static void window_shrinks(struct kunit *test)
{
	struct inc_requester *r = setup(test, 10, 64);

	send(test, 40);
	inc_requester_tune(r, 8, MIN_RTO, DEAD);
	KUNIT_EXPECT_NULL(test, inc_requester_push(r));
	inc_requester_ack(r, 10 + 31, START + 1);		/* 8 left */
	KUNIT_EXPECT_NULL(test, inc_requester_push(r));
	inc_requester_ack(r, 10 + 32, START + 2);
	KUNIT_EXPECT_NOT_NULL(test, inc_requester_push(r));
	KUNIT_EXPECT_NULL(test, inc_requester_push(r));
	inc_requester_tune(r, 9, MIN_RTO, DEAD);
	KUNIT_EXPECT_NOT_NULL(test, inc_requester_push(r));
}

/* The ring has no entry more than the window needs, and grows with it. */
static void window_grows(struct kunit *test)
{
	static const u16 windows[] = { 1, 2, 3, 5, 16, 17, 100, 256 };
	struct req_test *t = test->priv;
	struct inc_wqe *more = kunit_kcalloc(test, INC_REQ_MAX_WINDOW,
					     sizeof(*more), GFP_KERNEL);
	struct inc_requester *r = &t->r;

	KUNIT_ASSERT_NOT_NULL(test, more);
	for (u32 psn = 0xfffffe; psn < 0x1000000 + 4; psn++) {
		struct inc_wqe *ring = t->ring;

		inc_requester_init(r, ring, 1, psn & INC_PSN_MASK);
		r->path = INC_REQ_MAX_WINDOW;
		for (unsigned int i = 0; i < ARRAY_SIZE(windows); i++) {
			u32 entries = inc_requester_entries(windows[i]);
			struct inc_wqe *to = ring == more ? t->ring : more;
			struct inc_wqe *last = ring;

			KUNIT_ASSERT_GE(test, entries, (u32)windows[i]);
			KUNIT_ASSERT_LT(test, entries, 2U * windows[i]);
			if (entries > r->mask + 1) {
				last = inc_requester_grow(r, to, entries);
				KUNIT_ASSERT_PTR_EQ(test, last, ring);
				memset(last, 0x5a, INC_REQ_MAX_WINDOW *
				       sizeof(*last));
				ring = to;
			}
			inc_requester_tune(r, windows[i], MIN_RTO, DEAD);
			send(test, windows[i] - inc_psn_diff(r->max, r->una));
			KUNIT_ASSERT_NULL(test, inc_requester_push(r));
			/* All are there, in their places. */
			r->nak_seen = false;
			inc_requester_nak_seq(r, r->una, *clock(test));
			inc_requester_tune(r, windows[i], MIN_RTO, DEAD);
			expect_again(test, r->una, windows[i]);
		}
	}
}

/* A ring that is smaller than the window is the window. */
static void small_ring(struct kunit *test)
{
	struct req_test *t = test->priv;
	struct inc_requester *r = setup(test, 0xfffffe, 64);
	struct inc_wqe *more = kunit_kcalloc(test, 8, sizeof(*more),
					     GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, more);
	inc_requester_init(r, t->ring, 4, 0xfffffe);
	inc_requester_tune(r, 64, MIN_RTO, DEAD);
	r->path = INC_REQ_MAX_WINDOW;
	for (int i = 0; i < 4; i++) {
		KUNIT_EXPECT_FALSE(test, inc_requester_must_grow(r));
		KUNIT_EXPECT_NOT_NULL(test, inc_requester_push(r));
	}
	KUNIT_EXPECT_TRUE(test, inc_requester_must_grow(r));
	KUNIT_EXPECT_NULL(test, inc_requester_push(r));
	/* The first is timed. The last needs an answer, or nothing more could be sent. */
	for (int i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, next(test, true).ackreq, i == 0 || i == 3);
	KUNIT_EXPECT_NULL(test, next(test, true).wqe);
	inc_requester_ack(r, 1, START + 10);
	KUNIT_EXPECT_FALSE(test, inc_requester_must_grow(r));
	KUNIT_EXPECT_NOT_NULL(test, inc_requester_push(r));

	for (int i = 0; i < 3; i++)
		KUNIT_EXPECT_NOT_NULL(test, inc_requester_push(r));
	inc_requester_grow(r, more, 8);
	KUNIT_EXPECT_FALSE(test, inc_requester_must_grow(r));
	KUNIT_EXPECT_NOT_NULL(test, inc_requester_push(r));

	/* One that is as large as the window is never too small. */
	inc_requester_init(r, t->ring, 4, 0);
	inc_requester_tune(r, 4, MIN_RTO, DEAD);
	r->path = INC_REQ_MAX_WINDOW;
	for (int i = 0; i < 4; i++)
		KUNIT_EXPECT_NOT_NULL(test, inc_requester_push(r));
	KUNIT_EXPECT_FALSE(test, inc_requester_must_grow(r));
}

/* No stretch without AckReq is longer than min(16, window / 2) packets. */
static void ackreq_distance(struct kunit *test)
{
	static const u16 windows[] = { 1, 2, 3, 4, 8, 15, 16, 31, 32, 64, 256 };

	for (unsigned int i = 0; i < ARRAY_SIZE(windows); i++) {
		u32 limit = max(min(16, windows[i] / 2), 1), since = 0;
		struct inc_requester *r = setup(test, 0xffff00, windows[i]);

		for (unsigned int n = 0; n < 1000; n++) {
			struct inc_wqe *w = inc_requester_push(r);
			struct sent s;

			KUNIT_ASSERT_NOT_NULL(test, w);
			s = next(test, false);
			since++;
			if (!s.ackreq)
				KUNIT_ASSERT_LT_MSG(test, since, limit,
						    "window %u", windows[i]);
			/* rxe answers only packets with AckReq. */
			if (s.ackreq) {
				since = 0;
				inc_requester_ack(r, s.psn, START + n);
			}
		}
	}
}

static void ackreq_at_end(struct kunit *test)
{
	struct inc_requester *r = setup(test, 0, 64);

	/* The last queued packet has AckReq, the others need not. */
	for (unsigned int n = 1; n <= 5; n++) {
		for (unsigned int i = 0; i < n; i++)
			inc_requester_push(r);
		for (unsigned int i = 0; i < n; i++)
			KUNIT_EXPECT_EQ_MSG(test, next(test, true).ackreq, i == n - 1,
					    "%u of %u", i, n);
	}
	/* More will follow: no AckReq needed until the window closes. */
	r = setup(test, 0, 5);
	for (unsigned int i = 0; i < 5; i++)
		inc_requester_push(r);
	for (unsigned int i = 1; i <= 5; i++)
		KUNIT_EXPECT_EQ_MSG(test, next(test, false).ackreq,
				    i % 2 == 0 || i == 5, "packet %u", i);
	r = setup(test, 0, 64);
	inc_requester_push(r);
	KUNIT_EXPECT_FALSE(test, next(test, false).ackreq);
	/* The end of a retransmission has AckReq, too. */
	r = setup(test, 0, 64);
	send(test, 5);
	inc_requester_nak_seq(r, 2, START + 1);
	KUNIT_EXPECT_FALSE(test, next(test, true).ackreq);
	KUNIT_EXPECT_FALSE(test, next(test, true).ackreq);
	KUNIT_EXPECT_TRUE(test, next(test, true).ackreq);
}

static void coalesced_ack(struct kunit *test)
{
	struct inc_requester *r = setup(test, 0xfffffa, 64);

	send(test, 12);				/* wraps: up to PSN 5 */
	KUNIT_EXPECT_EQ(test, inc_requester_ack(r, 0xfffffd, START + 5), INC_REQ_PROGRESS);
	KUNIT_EXPECT_EQ(test, r->una, 0xfffffeU);
	KUNIT_EXPECT_EQ(test, inc_requester_ack(r, 1, START + 6),
			INC_REQ_PROGRESS);
	KUNIT_EXPECT_EQ(test, r->una, 2U);
	KUNIT_EXPECT_NE(test, inc_requester_deadline(r), 0ULL);
	KUNIT_EXPECT_EQ(test, inc_requester_ack(r, 5, START + 7),
			INC_REQ_PROGRESS);
	KUNIT_EXPECT_EQ(test, inc_requester_deadline(r), 0ULL);
	KUNIT_EXPECT_EQ(test, inc_requester_timeout(r, START + 8), INC_REQ_TIMER_IDLE);
}

/* rxe acknowledges every duplicate: this is no progress and moves no timer. */
static void old_ack(struct kunit *test)
{
	struct inc_requester *r = setup(test, 100, 64);

	send(test, 10);
	inc_requester_ack(r, 104, START + 5);
	remember(test);
	for (u32 psn = 90; psn <= 104; psn++)
		KUNIT_EXPECT_EQ_MSG(test,
				    inc_requester_ack(r, psn, START + 900),
				    INC_REQ_OLD, "PSN %u", psn);
	KUNIT_EXPECT_EQ(test, inc_requester_ack(r, inc_psn_add(104, -0x7fff00), START),
			INC_REQ_OLD);
	KUNIT_EXPECT_EQ(test, inc_requester_nak_seq(r, 104, START + 900), INC_REQ_OLD);
	KUNIT_EXPECT_EQ(test, inc_requester_rnr_nak(r, 104, 14, START + 900), INC_REQ_OLD);
	KUNIT_EXPECT_TRUE(test, unchanged(test));
}

static void never_sent(struct kunit *test)
{
	static const u32 psns[] = { 110, 111, 112, 0x700000 };
	struct inc_requester *r = setup(test, 100, 64);

	send(test, 10);
	inc_requester_push(r);			/* 110: has a PSN, was not sent */
	inc_requester_push(r);
	remember(test);
	for (unsigned int i = 0; i < ARRAY_SIZE(psns); i++) {
		KUNIT_EXPECT_EQ(test, inc_requester_known(r, psns[i]),
				INC_REQ_BAD);
		KUNIT_EXPECT_EQ(test, inc_requester_ack(r, psns[i], START + 5), INC_REQ_BAD);
		KUNIT_EXPECT_EQ(test,
				inc_requester_nak_seq(r, psns[i], START + 5),
				INC_REQ_BAD);
		KUNIT_EXPECT_EQ(test,
				inc_requester_rnr_nak(r, psns[i], 1, START + 5),
				INC_REQ_BAD);
	}
	KUNIT_EXPECT_TRUE(test, unchanged(test));
	KUNIT_EXPECT_EQ(test, inc_requester_known(r, 109), INC_REQ_PROGRESS);
	KUNIT_EXPECT_EQ(test, inc_requester_known(r, 99), INC_REQ_OLD);
	/* During a retransmission, packets ahead of it were sent before. */
	inc_requester_nak_seq(r, 100, START + 5);
	KUNIT_EXPECT_EQ(test, inc_requester_known(r, 109), INC_REQ_PROGRESS);
	KUNIT_EXPECT_EQ(test, inc_requester_known(r, 110), INC_REQ_BAD);
}

static void nak_goes_back(struct kunit *test)
{
	struct inc_requester *r = setup(test, 0xfffffc, 64);

	send(test, 10);
	/* A NAK names the expected PSN: all before it has arrived. */
	KUNIT_EXPECT_EQ(test, inc_requester_nak_seq(r, 1, START + 5),
			INC_REQ_BACK);
	KUNIT_EXPECT_EQ(test, r->una, 1U);
	expect_again(test, 1, 5);
	/* Fresh packets follow. */
	send(test, 1);
	KUNIT_EXPECT_EQ(test, r->fresh, 7U);
}

static void nak_once(struct kunit *test)
{
	struct inc_requester *r = setup(test, 50, 64);

	send(test, 10);
	KUNIT_EXPECT_EQ(test, inc_requester_nak_seq(r, 53, START + 5),
			INC_REQ_BACK);
	next(test, true);
	remember(test);
	KUNIT_EXPECT_EQ(test, inc_requester_nak_seq(r, 53, START + 6),
			INC_REQ_OLD);
	KUNIT_EXPECT_TRUE(test, unchanged(test));
	expect_again(test, 54, 6);

	/* Another gap is another NAK. */
	KUNIT_EXPECT_EQ(test, inc_requester_nak_seq(r, 55, START + 7),
			INC_REQ_BACK);
	expect_again(test, 55, 5);
	/* A timeout retransmits it, and then the same NAK counts again. */
	*clock(test) = inc_requester_deadline(r);
	KUNIT_EXPECT_EQ(test, inc_requester_timeout(r, *clock(test)), INC_REQ_TIMER_BACK);
	expect_again(test, 55, 1);
	KUNIT_EXPECT_EQ(test, inc_requester_nak_seq(r, 55, *clock(test) + 5), INC_REQ_BACK);
	expect_again(test, 55, 5);
}

/* An ACK from ahead of a retransmission makes it skip. */
static void ack_during_repetition(struct kunit *test)
{
	struct inc_requester *r = setup(test, 0, 64);

	send(test, 20);
	inc_requester_nak_seq(r, 2, START + 5);
	next(test, true);
	next(test, true);
	KUNIT_EXPECT_EQ(test, inc_requester_ack(r, 15, START + 9),
			INC_REQ_PROGRESS);
	expect_again(test, 16, 4);
	/* An ACK before the present position does not move it. */
	inc_requester_nak_seq(r, 17, START + 10);
	next(test, true);
	next(test, true);
	KUNIT_EXPECT_EQ(test, inc_requester_ack(r, 17, START + 11),
			INC_REQ_PROGRESS);
	expect_again(test, 19, 1);
}

/* IBTA table 46, in units of 10 microseconds. */
static const u32 rnr_units[32] = {
	65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
	256, 384, 512, 768, 1024, 1536, 2048, 3072,
	4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

static void rnr_times(struct kunit *test)
{
	for (unsigned int code = 0; code < 32; code++) {
		struct inc_requester *r = setup(test, 7, 64);
		u64 at = START + 5 + rnr_units[code] * 10;

		send(test, 3);
		/* The syndrome's upper bits mark an RNR NAK. */
		KUNIT_EXPECT_EQ(test, inc_requester_rnr_nak(r, 7, 0x20 | code, START + 5),
				INC_REQ_WAIT);
		KUNIT_EXPECT_NULL(test, next(test, true).wqe);
		KUNIT_EXPECT_EQ_MSG(test, inc_requester_deadline(r), at, "code %u", code);
		KUNIT_EXPECT_EQ(test, inc_requester_timeout(r, at - 1), INC_REQ_TIMER_LATER);
		KUNIT_EXPECT_NULL(test, next(test, true).wqe);
		KUNIT_EXPECT_EQ(test, inc_requester_timeout(r, at), INC_REQ_TIMER_RESUME);
		*clock(test) = at;
		expect_again(test, 7, 1);
	}
}

static void rnr_acknowledges(struct kunit *test)
{
	struct inc_requester *r = setup(test, 0xfffffe, 64);

	send(test, 6);
	KUNIT_EXPECT_EQ(test, inc_requester_rnr_nak(r, 1, 1, START + 5), INC_REQ_WAIT);
	KUNIT_EXPECT_EQ(test, r->una, 1U);
	*clock(test) = inc_requester_deadline(r);
	KUNIT_EXPECT_EQ(test, inc_requester_timeout(r, *clock(test)), INC_REQ_TIMER_RESUME);
	/*
	 * The refused one alone, then, as nothing was lost, the packets after it.
	 */
	expect_again(test, 1, 1);
	KUNIT_EXPECT_EQ(test, inc_requester_ack(r, 1, *clock(test)), INC_REQ_PROGRESS);
	KUNIT_EXPECT_EQ(test, r->cwnd, 64);
	expect_again(test, 2, 2);
}

/* Packets after the refused one are out of sequence, and NAKed: no loss. */
static void rnr_then_nak(struct kunit *test)
{
	struct inc_requester *r = setup(test, 20, 64);

	send(test, 6);
	KUNIT_EXPECT_EQ(test, inc_requester_rnr_nak(r, 22, 14, START + 5), INC_REQ_WAIT);
	remember(test);
	KUNIT_EXPECT_EQ(test, inc_requester_nak_seq(r, 22, START + 6),
			INC_REQ_OLD);
	KUNIT_EXPECT_TRUE(test, unchanged(test));
	KUNIT_EXPECT_NULL(test, next(test, true).wqe);
	/* New packets wait, too. */
	KUNIT_EXPECT_NOT_NULL(test, inc_requester_push(r));
	KUNIT_EXPECT_NULL(test, next(test, true).wqe);
	/* A late ACK says that it was accepted after all. */
	KUNIT_EXPECT_EQ(test, inc_requester_ack(r, 22, START + 9),
			INC_REQ_PROGRESS);
	KUNIT_EXPECT_EQ(test, next(test, true).psn, 23U);
}

static void window_of_one(struct kunit *test)
{
	struct inc_requester *r = setup(test, 0xfffffe, 1);

	for (u32 i = 0; i < 10; i++) {
		u32 psn = inc_psn_add(0xfffffe, i);
		struct sent s;

		KUNIT_ASSERT_NOT_NULL(test, inc_requester_push(r));
		KUNIT_ASSERT_NULL(test, inc_requester_push(r));
		s = next(test, false);
		KUNIT_ASSERT_NOT_NULL(test, s.wqe);
		KUNIT_EXPECT_EQ(test, s.psn, psn);
		KUNIT_EXPECT_TRUE(test, s.ackreq);
		KUNIT_EXPECT_EQ(test,
				inc_requester_nak_seq(r, psn, *clock(test)),
				INC_REQ_BACK);
		s = next(test, false);
		KUNIT_EXPECT_TRUE(test, s.ackreq && s.again && s.psn == psn);
		KUNIT_EXPECT_EQ(test,
				inc_requester_ack(r, psn, *clock(test) += 10),
				INC_REQ_PROGRESS);
	}
}

/* The ring holds only packets in flight, past the wrap of PSNs. */
static void ring_reuse(struct kunit *test)
{
	struct inc_requester *r = setup(test, 0xffff00, INC_REQ_MAX_WINDOW);
	struct inc_rng rng;

	inc_rng_init(&rng, test);
	for (unsigned int round = 0; round < 500; round++) {
		u32 flight = inc_psn_diff(r->max, r->una);
		u32 n = inc_rnd_below(&rng, INC_REQ_MAX_WINDOW + 1 - flight);
		u32 psn;

		send(test, n);
		flight += n;
		if (!flight)
			continue;
		/* Everything in flight is unchanged. */
		KUNIT_ASSERT_EQ(test,
				inc_requester_nak_seq(r, r->una, *clock(test)),
				INC_REQ_BACK);
		inc_requester_tune(r, INC_REQ_MAX_WINDOW, MIN_RTO, DEAD);
		expect_again(test, r->una, flight);
		psn = inc_psn_add(r->una, inc_rnd_below(&rng, flight));
		inc_requester_ack(r, psn, *clock(test) += 10);
	}
}

/*
 * Number of packets that may be sent now, from r->una on; the last has AckReq.
 */
static u32 fills(struct kunit *test, struct inc_requester *r)
{
	struct sent s, last = {};
	u32 n = 0;

	for (;;) {
		if (r->next == r->max && !inc_requester_push(r))
			break;
		s = next(test, false);
		if (!s.wqe)
			break;
		last = s;
		n++;
	}
	if (n)
		KUNIT_EXPECT_TRUE(test, last.ackreq);
	return n;
}

/* Each loss takes a quarter of the window, down to 2. */
static void loss_shrinks(struct kunit *test)
{
	struct inc_requester *r = setup(test, 0xfffff0, 64);

	KUNIT_EXPECT_EQ(test, fills(test, r), 64U);
	for (u32 w = 48, i = 0; i < 16; i++) {
		/* One has arrived, the next one is lost. */
		KUNIT_EXPECT_EQ(test,
				inc_requester_nak_seq(r, inc_psn_add(r->una, 1),
						      *clock(test) += 10),
				INC_REQ_BACK);
		KUNIT_EXPECT_EQ_MSG(test, fills(test, r), w, "loss %u", i);
		w = max(w * 3 / 4, 2U);
	}
	/* A repeated NAK is no loss. */
	KUNIT_EXPECT_EQ(test, inc_requester_nak_seq(r, r->una, *clock(test)), INC_REQ_OLD);
	KUNIT_EXPECT_EQ(test, fills(test, r), 0U);

	/* A tree's window of 1 stays one of 1. */
	r = setup(test, 7, 1);
	KUNIT_EXPECT_EQ(test, fills(test, r), 1U);
	KUNIT_EXPECT_EQ(test, inc_requester_nak_seq(r, 7, *clock(test)), INC_REQ_BACK);
	KUNIT_EXPECT_EQ(test, fills(test, r), 1U);
}

/* By one packet with each window acknowledged, up to the tree's. */
static void window_recovers(struct kunit *test)
{
	struct inc_requester *r = setup(test, 0xffffc0, 16);
	u32 w;

	fills(test, r);
	inc_requester_nak_seq(r, r->una, *clock(test));
	KUNIT_EXPECT_EQ(test, fills(test, r), 12U);
	inc_requester_ack(r, inc_psn_add(r->una, 11), *clock(test) += 10);
	for (w = 13; w <= 16; w++) {
		KUNIT_EXPECT_EQ(test, fills(test, r), w);
		inc_requester_ack(r, inc_psn_add(r->una, w - 1),
				  *clock(test) += 10);
	}
	KUNIT_EXPECT_EQ(test, fills(test, r), 16U);

	/* Not if the window does not hold packets back. */
	r = setup(test, 0xffffc0, 16);
	send(test, 4);
	inc_requester_nak_seq(r, r->una, *clock(test));
	expect_again(test, r->una, 4);
	for (u32 i = 0; i < 100; i++) {
		inc_requester_ack(r, inc_psn_add(r->una, 3),
				  *clock(test) += 10);
		send(test, 4);
	}
	inc_requester_ack(r, inc_psn_add(r->una, 3), *clock(test) += 10);
	KUNIT_EXPECT_EQ(test, fills(test, r), 12U);
}

static struct kunit_case req_cases[] = {
	KUNIT_CASE(window),
	KUNIT_CASE(window_shrinks),
	KUNIT_CASE(window_grows),
	KUNIT_CASE(small_ring),
	KUNIT_CASE(ackreq_distance),
	KUNIT_CASE(ackreq_at_end),
	KUNIT_CASE(coalesced_ack),
	KUNIT_CASE(old_ack),
	KUNIT_CASE(never_sent),
	KUNIT_CASE(nak_goes_back),
	KUNIT_CASE(nak_once),
	KUNIT_CASE(ack_during_repetition),
	KUNIT_CASE(rnr_times),
	KUNIT_CASE(rnr_acknowledges),
	KUNIT_CASE(rnr_then_nak),
	KUNIT_CASE(window_of_one),
	KUNIT_CASE(ends),
	KUNIT_CASE(ring_reuse),
	KUNIT_CASE(loss_shrinks),
	KUNIT_CASE(window_recovers),
	{}
};

static struct kunit_suite req_suite = {
	.name = "rdma_inc_requester",
	.init = req_init,
	.test_cases = req_cases,
};

kunit_test_suite(req_suite);

MODULE_LICENSE("GPL");
