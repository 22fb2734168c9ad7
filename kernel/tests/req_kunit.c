// SPDX-License-Identifier: GPL-2.0
/*
 * The requester, rule by rule; time is a number here.
 */
#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>

#include "../psn.h"
#include "../req.h"
#include "common.h"

#define START		1000000		/* microseconds; not 0, as in a kernel */
#define MIN_RTO		2500
#define DEAD		1000000
#define INITIAL_RTO	50000		/* what req.c says */

struct req_test {
	struct inc_req	r;
	struct inc_req	before;
	u64		now;
};

static struct inc_req *setup(struct kunit *test, u32 psn, u16 window)
{
	struct req_test *t = test->priv;

	t->now = START;
	inc_req_init(&t->r, psn);
	inc_req_tune(&t->r, window, MIN_RTO, DEAD);
	return &t->r;
}

static u64 *clock(struct kunit *test)
{
	return &((struct req_test *)test->priv)->now;
}

static void remember(struct kunit *test)
{
	struct req_test *t = test->priv;

	t->before = t->r;
}

static bool unchanged(struct kunit *test)
{
	struct req_test *t = test->priv;

	return !memcmp(&t->r, &t->before, sizeof(t->r));
}

struct sent {
	struct inc_wqe	*wqe;
	u32		psn;
	bool		ackreq, again;
};

static struct sent next(struct kunit *test, bool last)
{
	struct req_test *t = test->priv;
	struct sent s = {};

	s.wqe = inc_req_next(&t->r, t->now, last, &s.psn, &s.ackreq, &s.again);
	return s;
}

/* Push and send @n packets; what they carry is their number. */
static void send(struct kunit *test, unsigned int n)
{
	struct req_test *t = test->priv;

	for (unsigned int i = 0; i < n; i++) {
		struct inc_wqe *w = inc_req_push(&t->r);

		KUNIT_ASSERT_NOT_NULL(test, w);
		w->imm = inc_psn_add(t->r.max, -1);
	}
	for (unsigned int i = 0; i < n; i++) {
		struct sent s = next(test, true);

		KUNIT_ASSERT_NOT_NULL(test, s.wqe);
		KUNIT_ASSERT_EQ(test, s.wqe->imm, s.psn);
	}
}

/* Sends what is to be sent again: from @psn, @n packets. */
static void expect_again(struct kunit *test, u32 psn, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		struct sent s = next(test, true);

		KUNIT_ASSERT_NOT_NULL(test, s.wqe);
		KUNIT_EXPECT_EQ(test, s.psn, inc_psn_add(psn, i));
		KUNIT_EXPECT_EQ(test, s.wqe->imm, s.psn);
		KUNIT_EXPECT_TRUE(test, s.again);
	}
	KUNIT_EXPECT_NULL(test, next(test, true).wqe);
}

static void window(struct kunit *test)
{
	static const u16 windows[] = { 1, 2, 3, 16, 255, 256 };

	for (unsigned int i = 0; i < ARRAY_SIZE(windows); i++) {
		u16 w = windows[i];
		struct inc_req *r = setup(test, 0xfffff0, w);

		KUNIT_EXPECT_NULL(test, next(test, true).wqe);
		send(test, w);
		KUNIT_EXPECT_NULL_MSG(test, inc_req_push(r), "window %u", w);
		KUNIT_EXPECT_NULL(test, next(test, true).wqe);
		/* One is acknowledged, there is room for one. */
		KUNIT_EXPECT_EQ(test, inc_req_ack(r, 0xfffff0, START + 10),
				INC_REQ_PROGRESS);
		KUNIT_EXPECT_NOT_NULL(test, inc_req_push(r));
		KUNIT_EXPECT_NULL(test, inc_req_push(r));
	}
}

static void window_shrinks(struct kunit *test)
{
	struct inc_req *r = setup(test, 10, 64);

	send(test, 40);
	inc_req_tune(r, 8, MIN_RTO, DEAD);
	KUNIT_EXPECT_NULL(test, inc_req_push(r));
	inc_req_ack(r, 10 + 31, START + 1);		/* 8 left */
	KUNIT_EXPECT_NULL(test, inc_req_push(r));
	inc_req_ack(r, 10 + 32, START + 2);
	KUNIT_EXPECT_NOT_NULL(test, inc_req_push(r));
	KUNIT_EXPECT_NULL(test, inc_req_push(r));
	inc_req_tune(r, 9, MIN_RTO, DEAD);
	KUNIT_EXPECT_NOT_NULL(test, inc_req_push(r));
}

/* No stretch without AckReq is longer than min(16, window / 2) packets. */
static void ackreq_distance(struct kunit *test)
{
	static const u16 windows[] = { 1, 2, 3, 4, 8, 15, 16, 31, 32, 64, 256 };

	for (unsigned int i = 0; i < ARRAY_SIZE(windows); i++) {
		u32 limit = max(min(16, windows[i] / 2), 1), since = 0;
		struct inc_req *r = setup(test, 0xffff00, windows[i]);

		for (unsigned int n = 0; n < 1000; n++) {
			struct inc_wqe *w = inc_req_push(r);
			struct sent s;

			KUNIT_ASSERT_NOT_NULL(test, w);
			s = next(test, false);
			since++;
			if (!s.ackreq)
				KUNIT_ASSERT_LT_MSG(test, since, limit,
						    "window %u", windows[i]);
			/* rxe answers what asked, and nothing else. */
			if (s.ackreq) {
				since = 0;
				inc_req_ack(r, s.psn, START + n);
			}
		}
	}
}

static void ackreq_at_end(struct kunit *test)
{
	struct inc_req *r = setup(test, 0, 64);

	/* The last of what there is asks, the others need not. */
	for (unsigned int n = 1; n <= 5; n++) {
		for (unsigned int i = 0; i < n; i++)
			inc_req_push(r);
		for (unsigned int i = 0; i < n; i++)
			KUNIT_EXPECT_EQ_MSG(test, next(test, true).ackreq, i == n - 1,
					    "%u of %u", i, n);
	}
	/* There is more to come: it need not, until the window closes. */
	r = setup(test, 0, 3);
	for (unsigned int i = 0; i < 3; i++)
		inc_req_push(r);
	next(test, false);
	next(test, false);
	KUNIT_EXPECT_TRUE(test, next(test, false).ackreq);
	r = setup(test, 0, 64);
	inc_req_push(r);
	KUNIT_EXPECT_FALSE(test, next(test, false).ackreq);
	/* The end of a repetition asks, too. */
	r = setup(test, 0, 64);
	send(test, 5);
	inc_req_nak_seq(r, 2, START + 1);
	KUNIT_EXPECT_FALSE(test, next(test, true).ackreq);
	KUNIT_EXPECT_FALSE(test, next(test, true).ackreq);
	KUNIT_EXPECT_TRUE(test, next(test, true).ackreq);
}

static void coalesced_ack(struct kunit *test)
{
	struct inc_req *r = setup(test, 0xfffffa, 64);

	send(test, 12);				/* wraps: up to PSN 5 */
	KUNIT_EXPECT_EQ(test, inc_req_ack(r, 0xfffffd, START + 5), INC_REQ_PROGRESS);
	KUNIT_EXPECT_EQ(test, r->una, 0xfffffeU);
	KUNIT_EXPECT_EQ(test, inc_req_ack(r, 1, START + 6), INC_REQ_PROGRESS);
	KUNIT_EXPECT_EQ(test, r->una, 2U);
	KUNIT_EXPECT_NE(test, inc_req_deadline(r), 0ULL);
	KUNIT_EXPECT_EQ(test, inc_req_ack(r, 5, START + 7), INC_REQ_PROGRESS);
	KUNIT_EXPECT_EQ(test, inc_req_deadline(r), 0ULL);
	KUNIT_EXPECT_EQ(test, inc_req_timeout(r, START + 8), INC_REQ_TIMER_IDLE);
}

/* rxe acknowledges every duplicate: that is no progress and moves no timer. */
static void old_ack(struct kunit *test)
{
	struct inc_req *r = setup(test, 100, 64);

	send(test, 10);
	inc_req_ack(r, 104, START + 5);
	remember(test);
	for (u32 psn = 90; psn <= 104; psn++)
		KUNIT_EXPECT_EQ_MSG(test, inc_req_ack(r, psn, START + 900),
				    INC_REQ_OLD, "PSN %u", psn);
	KUNIT_EXPECT_EQ(test, inc_req_ack(r, inc_psn_add(104, -0x7fff00), START),
			INC_REQ_OLD);
	KUNIT_EXPECT_EQ(test, inc_req_nak_seq(r, 104, START + 900), INC_REQ_OLD);
	KUNIT_EXPECT_EQ(test, inc_req_rnr_nak(r, 104, 14, START + 900), INC_REQ_OLD);
	KUNIT_EXPECT_TRUE(test, unchanged(test));
}

static void never_sent(struct kunit *test)
{
	static const u32 psns[] = { 110, 111, 112, 0x700000 };
	struct inc_req *r = setup(test, 100, 64);

	send(test, 10);
	inc_req_push(r);			/* 110: has a PSN, was not sent */
	inc_req_push(r);
	remember(test);
	for (unsigned int i = 0; i < ARRAY_SIZE(psns); i++) {
		KUNIT_EXPECT_EQ(test, inc_req_known(r, psns[i]), INC_REQ_BAD);
		KUNIT_EXPECT_EQ(test, inc_req_ack(r, psns[i], START + 5), INC_REQ_BAD);
		KUNIT_EXPECT_EQ(test, inc_req_nak_seq(r, psns[i], START + 5),
				INC_REQ_BAD);
		KUNIT_EXPECT_EQ(test, inc_req_rnr_nak(r, psns[i], 1, START + 5),
				INC_REQ_BAD);
	}
	KUNIT_EXPECT_TRUE(test, unchanged(test));
	KUNIT_EXPECT_EQ(test, inc_req_known(r, 109), INC_REQ_PROGRESS);
	KUNIT_EXPECT_EQ(test, inc_req_known(r, 99), INC_REQ_OLD);
	/* During a repetition, what is ahead of it was sent all the same. */
	inc_req_nak_seq(r, 100, START + 5);
	KUNIT_EXPECT_EQ(test, inc_req_known(r, 109), INC_REQ_PROGRESS);
	KUNIT_EXPECT_EQ(test, inc_req_known(r, 110), INC_REQ_BAD);
}

static void nak_goes_back(struct kunit *test)
{
	struct inc_req *r = setup(test, 0xfffffc, 64);

	send(test, 10);
	/* Names what it waits for: all before that has arrived. */
	KUNIT_EXPECT_EQ(test, inc_req_nak_seq(r, 1, START + 5), INC_REQ_BACK);
	KUNIT_EXPECT_EQ(test, r->una, 1U);
	expect_again(test, 1, 5);
	/* Fresh packets follow. */
	send(test, 1);
	KUNIT_EXPECT_EQ(test, r->fresh, 7U);
}

static void nak_once(struct kunit *test)
{
	struct inc_req *r = setup(test, 50, 64);

	send(test, 10);
	KUNIT_EXPECT_EQ(test, inc_req_nak_seq(r, 53, START + 5), INC_REQ_BACK);
	next(test, true);
	remember(test);
	KUNIT_EXPECT_EQ(test, inc_req_nak_seq(r, 53, START + 6), INC_REQ_OLD);
	KUNIT_EXPECT_TRUE(test, unchanged(test));
	expect_again(test, 54, 6);

	/* Another hole is another NAK. */
	KUNIT_EXPECT_EQ(test, inc_req_nak_seq(r, 55, START + 7), INC_REQ_BACK);
	expect_again(test, 55, 5);
	/* A time-out repeats it, and after that the same NAK counts again. */
	*clock(test) = inc_req_deadline(r);
	KUNIT_EXPECT_EQ(test, inc_req_timeout(r, *clock(test)), INC_REQ_TIMER_BACK);
	expect_again(test, 55, 5);
	KUNIT_EXPECT_EQ(test, inc_req_nak_seq(r, 55, *clock(test) + 5), INC_REQ_BACK);
}

/* An acknowledgement from ahead of a repetition makes it skip. */
static void ack_during_repetition(struct kunit *test)
{
	struct inc_req *r = setup(test, 0, 64);

	send(test, 20);
	inc_req_nak_seq(r, 2, START + 5);
	next(test, true);
	next(test, true);
	KUNIT_EXPECT_EQ(test, inc_req_ack(r, 15, START + 9), INC_REQ_PROGRESS);
	expect_again(test, 16, 4);
	/* Behind the repetition's position it does not move it. */
	inc_req_nak_seq(r, 17, START + 10);
	next(test, true);
	next(test, true);
	KUNIT_EXPECT_EQ(test, inc_req_ack(r, 17, START + 11), INC_REQ_PROGRESS);
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
		struct inc_req *r = setup(test, 7, 64);
		u64 at = START + 5 + rnr_units[code] * 10;

		send(test, 3);
		/* The syndrome's upper bits say that it is an RNR NAK. */
		KUNIT_EXPECT_EQ(test, inc_req_rnr_nak(r, 7, 0x20 | code, START + 5),
				INC_REQ_WAIT);
		KUNIT_EXPECT_NULL(test, next(test, true).wqe);
		KUNIT_EXPECT_EQ_MSG(test, inc_req_deadline(r), at, "code %u", code);
		KUNIT_EXPECT_EQ(test, inc_req_timeout(r, at - 1), INC_REQ_TIMER_LATER);
		KUNIT_EXPECT_NULL(test, next(test, true).wqe);
		KUNIT_EXPECT_EQ(test, inc_req_timeout(r, at), INC_REQ_TIMER_RESUME);
		*clock(test) = at;
		expect_again(test, 7, 3);
	}
}

static void rnr_acknowledges(struct kunit *test)
{
	struct inc_req *r = setup(test, 0xfffffe, 64);

	send(test, 6);
	KUNIT_EXPECT_EQ(test, inc_req_rnr_nak(r, 1, 1, START + 5), INC_REQ_WAIT);
	KUNIT_EXPECT_EQ(test, r->una, 1U);
	*clock(test) = inc_req_deadline(r);
	KUNIT_EXPECT_EQ(test, inc_req_timeout(r, *clock(test)), INC_REQ_TIMER_RESUME);
	expect_again(test, 1, 3);
}

/* What follows the refused packet is out of sequence, and NAKed: no loss. */
static void rnr_then_nak(struct kunit *test)
{
	struct inc_req *r = setup(test, 20, 64);

	send(test, 6);
	KUNIT_EXPECT_EQ(test, inc_req_rnr_nak(r, 22, 14, START + 5), INC_REQ_WAIT);
	remember(test);
	KUNIT_EXPECT_EQ(test, inc_req_nak_seq(r, 22, START + 6), INC_REQ_OLD);
	KUNIT_EXPECT_TRUE(test, unchanged(test));
	KUNIT_EXPECT_NULL(test, next(test, true).wqe);
	/* New packets wait, too. */
	KUNIT_EXPECT_NOT_NULL(test, inc_req_push(r));
	KUNIT_EXPECT_NULL(test, next(test, true).wqe);
	/* A late acknowledgement says that it was taken after all. */
	KUNIT_EXPECT_EQ(test, inc_req_ack(r, 22, START + 9), INC_REQ_PROGRESS);
	KUNIT_EXPECT_EQ(test, next(test, true).psn, 23U);
}

static void timeout_backs_off(struct kunit *test)
{
	struct inc_req *r = setup(test, 5, 64);
	u64 interval = INITIAL_RTO, at = START;
	unsigned int n = 0;

	KUNIT_EXPECT_EQ(test, inc_req_timeout(r, START), INC_REQ_TIMER_IDLE);
	send(test, 4);
	for (;;) {
		enum inc_req_timer what;

		KUNIT_ASSERT_EQ_MSG(test, inc_req_deadline(r), at + interval,
				    "time-out %u", n);
		KUNIT_ASSERT_EQ(test, inc_req_timeout(r, at + interval - 1),
				INC_REQ_TIMER_LATER);
		at += interval;
		*clock(test) = at;
		what = inc_req_timeout(r, at);
		if (what == INC_REQ_TIMER_DEAD)
			break;
		KUNIT_ASSERT_EQ(test, what, INC_REQ_TIMER_BACK);
		KUNIT_ASSERT_LT(test, at, (u64)START + DEAD);
		n++;
		/* Only a few may be lost in the meantime. */
		expect_again(test, 5, 4);
		interval = min_t(u64, interval * 2, DEAD / 5);
	}
	KUNIT_EXPECT_GE(test, at, (u64)START + DEAD);
	KUNIT_EXPECT_LE(test, at, (u64)START + DEAD + DEAD / 5);
	KUNIT_EXPECT_GE(test, n, 4U);
}

/* However long the round trip: neither spurious nor never. */
static void timeout_caps(struct kunit *test)
{
	struct inc_req *r = setup(test, 0, 64);
	u64 at;

	/* A round trip of 300 ms: two of them, not the fifth of the dead time. */
	send(test, 1);
	*clock(test) += 300000;
	inc_req_ack(r, 0, *clock(test));
	send(test, 1);
	at = *clock(test);
	KUNIT_EXPECT_EQ(test, inc_req_deadline(r), at + 600000);
	/* One of 10 us: the floor. */
	r = setup(test, 0, 64);
	send(test, 1);
	*clock(test) += 10;
	inc_req_ack(r, 0, *clock(test));
	send(test, 1);
	KUNIT_EXPECT_EQ(test, inc_req_deadline(r), *clock(test) + MIN_RTO);
}

/* Only a measured round trip ends the back-off, or a NAK. */
static void backoff_ends(struct kunit *test)
{
	struct inc_req *r = setup(test, 0, 64);
	u64 *now = clock(test);

	send(test, 1);
	inc_req_ack(r, 0, *now += 10);
	send(test, 2);
	*now = inc_req_deadline(r);
	inc_req_timeout(r, *now);
	KUNIT_EXPECT_EQ(test, inc_req_deadline(r), *now + 2 * MIN_RTO);
	expect_again(test, 1, 2);
	/* Progress by what was repeated says nothing of the round trip. */
	inc_req_ack(r, 1, *now += 5);
	KUNIT_EXPECT_EQ(test, inc_req_deadline(r), *now + 2 * MIN_RTO);
	send(test, 1);
	inc_req_ack(r, 3, *now += 10);
	send(test, 1);
	KUNIT_EXPECT_EQ(test, inc_req_deadline(r), *now + MIN_RTO);

	*now = inc_req_deadline(r);
	inc_req_timeout(r, *now);
	expect_again(test, 4, 1);
	KUNIT_EXPECT_EQ(test, inc_req_deadline(r), *now + 2 * MIN_RTO);
	inc_req_nak_seq(r, 4, *now += 5);
	expect_again(test, 4, 1);
	KUNIT_EXPECT_EQ(test, inc_req_deadline(r), *now + MIN_RTO);
}

static void dead_counts_from_progress(struct kunit *test)
{
	struct inc_req *r = setup(test, 0, 64);

	send(test, 10);
	/* Half the dead time before each acknowledgement: it lives. */
	for (u32 psn = 0; psn < 9; psn++) {
		*clock(test) += DEAD / 2;
		KUNIT_EXPECT_EQ(test, inc_req_timeout(r, *clock(test)),
				INC_REQ_TIMER_BACK);
		inc_req_ack(r, psn, *clock(test));
	}
	*clock(test) += DEAD;
	KUNIT_EXPECT_EQ(test, inc_req_timeout(r, *clock(test)), INC_REQ_TIMER_DEAD);
}

/* An idle hour is no silence; what is sent after it has all its time. */
static void dead_not_by_idleness(struct kunit *test)
{
	struct inc_req *r = setup(test, 0, 64);

	send(test, 1);
	inc_req_ack(r, 0, START + 100);
	*clock(test) += 3600ULL * 1000000;
	KUNIT_EXPECT_EQ(test, inc_req_timeout(r, *clock(test)), INC_REQ_TIMER_IDLE);
	inc_req_push(r);
	KUNIT_EXPECT_EQ(test, inc_req_timeout(r, *clock(test)), INC_REQ_TIMER_IDLE);
	next(test, true);
	KUNIT_EXPECT_EQ(test, inc_req_timeout(r, *clock(test) + DEAD - 1),
			INC_REQ_TIMER_BACK);
	KUNIT_EXPECT_EQ(test, inc_req_timeout(r, *clock(test) + DEAD +
					      DEAD / 5), INC_REQ_TIMER_DEAD);
}

/* A member that refuses and refuses is dead, too. */
static void dead_by_rnr(struct kunit *test)
{
	struct inc_req *r = setup(test, 0, 64);
	enum inc_req_timer what;

	send(test, 2);
	for (;;) {
		u64 *now = clock(test);

		KUNIT_ASSERT_EQ(test, inc_req_rnr_nak(r, 0, 21, *now), INC_REQ_WAIT);
		*now = inc_req_deadline(r);
		what = inc_req_timeout(r, *now);
		if (what == INC_REQ_TIMER_DEAD)
			break;
		KUNIT_ASSERT_EQ(test, what, INC_REQ_TIMER_RESUME);
		KUNIT_ASSERT_LT(test, *now, (u64)START + DEAD);
		expect_again(test, 0, 2);
	}
	KUNIT_EXPECT_GE(test, *clock(test), (u64)START + DEAD);
	KUNIT_EXPECT_LE(test, *clock(test), (u64)START + DEAD + 15360);
}

/* RFC 6298 in 1/1024 microseconds, to compare the integers with. */
static void rtt_estimate(struct kunit *test)
{
	struct inc_req *r = setup(test, 0, 64);
	s64 srtt = 0, rttvar = 0;
	struct inc_rng rng;

	inc_rng_init(&rng, test);
	for (u32 i = 0; i < 500; i++) {
		u32 rtt = 200 + inc_rnd_below(&rng, i < 250 ? 100 : 5000);
		s64 x = (s64)rtt << 10;

		send(test, 1);
		*clock(test) += rtt;
		inc_req_ack(r, i, *clock(test));
		if (!i) {
			srtt = x;
			rttvar = x / 2;
		} else {
			rttvar += ((srtt > x ? srtt - x : x - srtt) - rttvar) / 4;
			srtt += (x - srtt) / 8;
		}
		KUNIT_ASSERT_LE_MSG(test, max(r->srtt, (u32)(srtt >> 10)) -
				    min(r->srtt, (u32)(srtt >> 10)), 12U,
				    "srtt %u, not %u", r->srtt, (u32)(srtt >> 10));
		KUNIT_ASSERT_LE_MSG(test, max(r->rttvar, (u32)(rttvar >> 10)) -
				    min(r->rttvar, (u32)(rttvar >> 10)), 24U,
				    "rttvar %u, not %u", r->rttvar,
				    (u32)(rttvar >> 10));
	}
}

/* Karn: a packet that was repeated measures nothing. */
static void karn(struct kunit *test)
{
	struct inc_req *r = setup(test, 0, 64);

	send(test, 3);
	*clock(test) += 40000;
	inc_req_nak_seq(r, 1, *clock(test));
	expect_again(test, 1, 2);
	*clock(test) += 7;
	inc_req_ack(r, 2, *clock(test));
	KUNIT_EXPECT_EQ(test, r->srtt, 0U);
	/* The next one that is not repeated does. */
	send(test, 1);
	*clock(test) += 300;
	inc_req_ack(r, 3, *clock(test));
	KUNIT_EXPECT_EQ(test, r->srtt, 300U);
	KUNIT_EXPECT_EQ(test, r->rttvar, 150U);
	/* After a time-out neither. */
	send(test, 1);
	*clock(test) = inc_req_deadline(r);
	inc_req_timeout(r, *clock(test));
	expect_again(test, 4, 1);
	inc_req_ack(r, 4, *clock(test) + 1);
	KUNIT_EXPECT_EQ(test, r->srtt, 300U);
}

static void window_of_one(struct kunit *test)
{
	struct inc_req *r = setup(test, 0xfffffe, 1);

	for (u32 i = 0; i < 10; i++) {
		u32 psn = inc_psn_add(0xfffffe, i);
		struct sent s;

		KUNIT_ASSERT_NOT_NULL(test, inc_req_push(r));
		KUNIT_ASSERT_NULL(test, inc_req_push(r));
		s = next(test, false);
		KUNIT_ASSERT_NOT_NULL(test, s.wqe);
		KUNIT_EXPECT_EQ(test, s.psn, psn);
		KUNIT_EXPECT_TRUE(test, s.ackreq);
		KUNIT_EXPECT_EQ(test, inc_req_nak_seq(r, psn, *clock(test)),
				INC_REQ_BACK);
		s = next(test, false);
		KUNIT_EXPECT_TRUE(test, s.ackreq && s.again && s.psn == psn);
		KUNIT_EXPECT_EQ(test, inc_req_ack(r, psn, *clock(test) += 10),
				INC_REQ_PROGRESS);
	}
}

/* The ring holds what is in flight, and only that, past the wrap of PSNs. */
static void ring_reuse(struct kunit *test)
{
	struct inc_req *r = setup(test, 0xffff00, INC_REQ_MAX_WINDOW);
	struct inc_rng rng;

	inc_rng_init(&rng, test);
	for (unsigned int round = 0; round < 500; round++) {
		u32 flight = inc_psn_diff(r->max, r->una);
		u32 n = inc_rnd_below(&rng, INC_REQ_MAX_WINDOW + 1 - flight);

		send(test, n);
		flight += n;
		if (!flight)
			continue;
		/* Everything in flight is still what it was. */
		KUNIT_ASSERT_EQ(test, inc_req_nak_seq(r, r->una, *clock(test)),
				INC_REQ_BACK);
		expect_again(test, r->una, flight);
		inc_req_ack(r, inc_psn_add(r->una, inc_rnd_below(&rng, flight)),
			    *clock(test) += 10);
	}
}

static int req_init(struct kunit *test)
{
	test->priv = kunit_kzalloc(test, sizeof(struct req_test), GFP_KERNEL);
	return test->priv ? 0 : -ENOMEM;
}

static struct kunit_case req_cases[] = {
	KUNIT_CASE(window),
	KUNIT_CASE(window_shrinks),
	KUNIT_CASE(window_of_one),
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
	KUNIT_CASE(timeout_backs_off),
	KUNIT_CASE(timeout_caps),
	KUNIT_CASE(backoff_ends),
	KUNIT_CASE(dead_counts_from_progress),
	KUNIT_CASE(dead_not_by_idleness),
	KUNIT_CASE(dead_by_rnr),
	KUNIT_CASE(rtt_estimate),
	KUNIT_CASE(karn),
	KUNIT_CASE(ring_reuse),
	{}
};

static struct kunit_suite req_suite = {
	.name = "rdma_inc_req",
	.init = req_init,
	.test_cases = req_cases,
};

kunit_test_suite(req_suite);

MODULE_LICENSE("GPL");
