// SPDX-License-Identifier: GPL-2.0
/*
 * The requester's timeout: backoff, dead time, measured round trips.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include "requester_test.h"

static void timeout_backs_off(struct kunit *test)
{
	struct inc_requester *r = setup(test, 5, 64);
	u64 interval = INITIAL_RTO, at = START;
	unsigned int n = 0;

	KUNIT_EXPECT_EQ(test, inc_requester_timeout(r, START),
			INC_REQ_TIMER_IDLE);
	send(test, 4);
	for (;;) {
		enum inc_requester_timer what;

		KUNIT_ASSERT_EQ_MSG(test, inc_requester_deadline(r),
				    at + interval, "time-out %u", n);
		KUNIT_ASSERT_EQ(test,
				inc_requester_timeout(r, at + interval - 1),
				INC_REQ_TIMER_LATER);
		at += interval;
		*clock(test) = at;
		what = inc_requester_timeout(r, at);
		if (what == INC_REQ_TIMER_DEAD)
			break;
		KUNIT_ASSERT_EQ(test, what, INC_REQ_TIMER_BACK);
		KUNIT_ASSERT_LT(test, at, (u64)START + DEAD);
		n++;
		expect_again(test, 5, 1);
		interval = min_t(u64, interval * 2, SILENT / 5);
	}
	KUNIT_EXPECT_GE(test, at, (u64)START + DEAD);
	KUNIT_EXPECT_LE(test, at, (u64)START + DEAD + DEAD / 5);
	KUNIT_EXPECT_GE(test, n, 4U);
}

/* However long the round trip: neither spurious nor never. */
static void timeout_caps(struct kunit *test)
{
	struct inc_requester *r = setup(test, 0, 64);
	u64 at;

	/* A round trip of 300 ms: two of them, not a fifth of the silence. */
	send(test, 1);
	*clock(test) += 300000;
	inc_requester_ack(r, 0, *clock(test));
	send(test, 1);
	at = *clock(test);
	KUNIT_EXPECT_EQ(test, inc_requester_deadline(r), at + 600000);
	/* One of 10 us: the floor. */
	r = setup(test, 0, 64);
	send(test, 1);
	*clock(test) += 10;
	inc_requester_ack(r, 0, *clock(test));
	send(test, 1);
	KUNIT_EXPECT_EQ(test, inc_requester_deadline(r),
			*clock(test) + MIN_RTO);
}

/* Only a measured round trip or a NAK ends the backoff. */
static void backoff_ends(struct kunit *test)
{
	struct inc_requester *r = setup(test, 0, 64);
	u64 *now = clock(test);

	send(test, 1);
	inc_requester_ack(r, 0, *now += 10);
	/* Only the first of these two is timed. */
	send(test, 1);
	send(test, 1);
	*now = inc_requester_deadline(r);
	inc_requester_timeout(r, *now);
	KUNIT_EXPECT_EQ(test, inc_requester_deadline(r), *now + 2 * MIN_RTO);
	expect_again(test, 1, 1);
	/* Progress by retransmission says nothing of the round trip. */
	inc_requester_ack(r, 1, *now += 5);
	expect_again(test, 2, 1);
	KUNIT_EXPECT_EQ(test, inc_requester_deadline(r), *now + 2 * MIN_RTO);
	send(test, 1);
	inc_requester_ack(r, 3, *now += 10);
	send(test, 1);
	KUNIT_EXPECT_EQ(test, inc_requester_deadline(r), *now + MIN_RTO);

	*now = inc_requester_deadline(r);
	inc_requester_timeout(r, *now);
	expect_again(test, 4, 1);
	KUNIT_EXPECT_EQ(test, inc_requester_deadline(r), *now + 2 * MIN_RTO);
	inc_requester_nak_seq(r, 4, *now += 5);
	expect_again(test, 4, 1);
	KUNIT_EXPECT_EQ(test, inc_requester_deadline(r), *now + MIN_RTO);
}

/* Ten in flight, and a timeout: only the oldest is retransmitted. */
static struct inc_requester *probing(struct kunit *test)
{
	struct inc_requester *r = setup(test, 0xfffffc, 16);
	struct sent s;

	send(test, 10);
	*clock(test) = inc_requester_deadline(r);
	KUNIT_EXPECT_EQ(test, inc_requester_timeout(r, *clock(test)), INC_REQ_TIMER_BACK);
	KUNIT_EXPECT_NOT_NULL(test, inc_requester_push(r));
	s = next(test, false);
	KUNIT_EXPECT_TRUE(test, s.wqe && s.psn == 0xfffffc && s.again && s.ackreq);
	/* New packets wait, too. */
	KUNIT_EXPECT_NULL(test, next(test, true).wqe);
	return r;
}

/*
 * The member has just that one: all others were lost with it, and the window
 * shrinks to three quarters.
 */
static void probe_finds_loss(struct kunit *test)
{
	struct inc_requester *r = probing(test);

	/* Three quarters of the window do not hold them all. */
	r->cwnd = 11;
	KUNIT_EXPECT_EQ(test,
			inc_requester_ack(r, 0xfffffc, *clock(test) += 10),
			INC_REQ_PROGRESS);
	for (u32 i = 1; i < 11; i++) {
		struct sent s = next(test, true);

		KUNIT_EXPECT_TRUE(test, s.wqe && s.psn == inc_psn_add(0xfffffc, i));
		KUNIT_EXPECT_EQ(test, s.again, i < 10);
		if (i != 8)
			continue;
		KUNIT_EXPECT_TRUE(test, s.ackreq);
		KUNIT_EXPECT_NULL(test, next(test, true).wqe);
		inc_requester_ack(r, s.psn, *clock(test) += 10);
	}
	KUNIT_EXPECT_NULL(test, next(test, true).wqe);
}

/* The member has them all, and was slow: nothing else is retransmitted. */
static void probe_finds_delay(struct kunit *test)
{
	struct inc_requester *r = probing(test);
	struct sent s;

	KUNIT_EXPECT_EQ(test, inc_requester_ack(r, 5, *clock(test) += 10), INC_REQ_PROGRESS);
	s = next(test, true);
	KUNIT_EXPECT_TRUE(test, s.wqe && s.psn == 6 && !s.again);
	KUNIT_EXPECT_NULL(test, next(test, true).wqe);

	/* Some of them: the others are still in flight, or time out. */
	r = probing(test);
	KUNIT_EXPECT_EQ(test, inc_requester_ack(r, 2, *clock(test) += 10), INC_REQ_PROGRESS);
	s = next(test, true);
	KUNIT_EXPECT_TRUE(test, s.wqe && s.psn == 6 && !s.again);
	*clock(test) = inc_requester_deadline(r);
	KUNIT_EXPECT_EQ(test, inc_requester_timeout(r, *clock(test)), INC_REQ_TIMER_BACK);
	KUNIT_EXPECT_EQ(test, next(test, true).psn, 3U);
	KUNIT_EXPECT_NULL(test, next(test, true).wqe);
}

/* A lost probe is retransmitted alone; a NAK or RNR NAK ends it. */
static void probe_ends(struct kunit *test)
{
	struct inc_requester *r = probing(test);

	r->cwnd = 11;
	*clock(test) = inc_requester_deadline(r);
	KUNIT_EXPECT_EQ(test, inc_requester_timeout(r, *clock(test)), INC_REQ_TIMER_BACK);
	KUNIT_EXPECT_EQ(test, next(test, true).psn, 0xfffffcU);
	KUNIT_EXPECT_NULL(test, next(test, true).wqe);
	/* An old ACK tells nothing. */
	KUNIT_EXPECT_EQ(test, inc_requester_ack(r, 0xfffffb, *clock(test)), INC_REQ_OLD);
	KUNIT_EXPECT_NULL(test, next(test, true).wqe);
	KUNIT_EXPECT_EQ(test, inc_requester_nak_seq(r, 0xfffffc, *clock(test)), INC_REQ_BACK);
	for (u32 i = 0; i < 8; i++)
		KUNIT_EXPECT_EQ(test, next(test, true).psn, inc_psn_add(0xfffffc, i));
	KUNIT_EXPECT_NULL(test, next(test, true).wqe);

	r = probing(test);
	KUNIT_EXPECT_EQ(test, inc_requester_nak_seq(r, 1, *clock(test)), INC_REQ_BACK);
	for (u32 i = 1; i < 7; i++)
		KUNIT_EXPECT_EQ(test, next(test, true).psn, i);

	r = probing(test);
	KUNIT_EXPECT_EQ(test, inc_requester_rnr_nak(r, 0xfffffc, 1, *clock(test)), INC_REQ_WAIT);
	KUNIT_EXPECT_NULL(test, next(test, true).wqe);
	*clock(test) = inc_requester_deadline(r);
	KUNIT_EXPECT_EQ(test, inc_requester_timeout(r, *clock(test)), INC_REQ_TIMER_RESUME);
	expect_again(test, 0xfffffc, 1);
	/* Nothing was lost. */
	KUNIT_EXPECT_EQ(test, inc_requester_ack(r, 0xfffffc, *clock(test)), INC_REQ_PROGRESS);
	for (u32 i = 1; i < 11; i++)
		KUNIT_EXPECT_EQ(test, next(test, true).psn, inc_psn_add(0xfffffc, i));
}

/*
 * However late the timer is at first, the member is tried several times before
 * it is dead. Returns the time of death.
 */
static u64 expect_dead(struct kunit *test, struct inc_requester *r, u64 now)
{
	enum inc_requester_timer what;
	unsigned int n = 0;

	while ((what = inc_requester_timeout(r, now)) == INC_REQ_TIMER_BACK && n++ < 100)
		now = inc_requester_deadline(r);
	KUNIT_EXPECT_EQ(test, what, INC_REQ_TIMER_DEAD);
	KUNIT_EXPECT_GE(test, r->tries, 5);
	return now;
}

/* Silence is told once, long before the member is dead, and again the next time. */
static void silence_is_told(struct kunit *test)
{
	struct inc_requester *r = setup(test, 0, 64);
	u64 *now = clock(test), since;

	for (u32 psn = 0; psn < 3; psn++) {
		unsigned int told = 0;

		send(test, 1);
		since = *now;
		while (*now - since < DEAD / 2) {
			*now = inc_requester_deadline(r);
			KUNIT_ASSERT_EQ(test, inc_requester_timeout(r, *now),
					INC_REQ_TIMER_BACK);
			if (!inc_requester_falls_silent(r, *now))
				continue;
			told++;
			KUNIT_EXPECT_GE(test, *now - since, (u64)SILENT);
			KUNIT_EXPECT_LE(test, *now - since,
					(u64)SILENT + SILENT / 5);
		}
		KUNIT_EXPECT_EQ(test, told, 1U);
		inc_requester_ack(r, psn, *now);
	}
}

/* A time in which the timer should have run, and did not, is not silence. */
static void dead_not_by_late_timers(struct kunit *test)
{
	struct inc_requester *r = setup(test, 0, 64);
	u64 now, stood = 0;

	send(test, 1);
	for (int i = 0; i < 4; i++) {
		now = inc_requester_deadline(r) + 2 * DEAD;
		stood += 2 * DEAD;
		KUNIT_EXPECT_EQ(test, inc_requester_timeout(r, now), INC_REQ_TIMER_BACK);
	}
	now = expect_dead(test, r, inc_requester_deadline(r));
	KUNIT_EXPECT_GE(test, now - stood, (u64)START + DEAD);
	KUNIT_EXPECT_LE(test, now - stood, (u64)START + DEAD + DEAD / 5);
}

/* The dead time restarts with each sign of life, but not with an old one. */
static void dead_not_with_signs_of_life(struct kunit *test)
{
	struct inc_requester *r = setup(test, 0, 64);
	u64 now;

	send(test, 1);
	for (int i = 0; i < 100; i++) {
		now = inc_requester_deadline(r);
		inc_requester_alive(r, now - DEAD / 2);
		KUNIT_EXPECT_EQ(test, inc_requester_timeout(r, now), INC_REQ_TIMER_BACK);
	}
	inc_requester_alive(r, START);
	now = expect_dead(test, r, inc_requester_deadline(r)) - now;
	KUNIT_EXPECT_GE(test, now, (u64)DEAD / 2);
	KUNIT_EXPECT_LE(test, now, (u64)DEAD);
}

/* The first packet of a peer: all sent before is retransmitted at once. */
static void heard(struct kunit *test)
{
	struct inc_requester *r = setup(test, 0, 64);

	inc_requester_heard(r, START);
	KUNIT_EXPECT_NULL(test, next(test, true).wqe);
	send(test, 3);
	*clock(test) = inc_requester_deadline(r);
	inc_requester_timeout(r, *clock(test));
	expect_again(test, 0, 1);
	inc_requester_heard(r, *clock(test) += 1000);
	expect_again(test, 0, 3);
	KUNIT_EXPECT_EQ(test, inc_requester_deadline(r),
			*clock(test) + INITIAL_RTO);
}

static void dead_counts_from_progress(struct kunit *test)
{
	struct inc_requester *r = setup(test, 0, 64);

	send(test, 10);
	/* Half the dead time before each ACK: it lives. */
	for (u32 psn = 0; psn < 9; psn++) {
		*clock(test) += DEAD / 2;
		KUNIT_EXPECT_EQ(test, inc_requester_timeout(r, *clock(test)),
				INC_REQ_TIMER_BACK);
		inc_requester_ack(r, psn, *clock(test));
	}
	expect_dead(test, r, *clock(test) + DEAD);
}

/*
 * Five tries, however many there were before the last progress: with round trips
 * as long as this, the dead time is over sooner.
 */
static void tries_count_from_progress(struct kunit *test)
{
	struct inc_requester *r = setup(test, 0, 64);
	u64 *now = clock(test);

	send(test, 1);
	*now += 300000;
	inc_requester_ack(r, 0, *now);
	send(test, 2);
	for (u32 psn = 1; psn < 3; psn++) {
		for (int i = 0; i < 5; i++) {
			*now = inc_requester_deadline(r);
			KUNIT_EXPECT_EQ(test, inc_requester_timeout(r, *now),
					INC_REQ_TIMER_BACK);
		}
		inc_requester_ack(r, psn, *now);
	}
}

/* An idle hour is not silence; a packet sent after it has the full time. */
static void dead_not_by_idleness(struct kunit *test)
{
	struct inc_requester *r = setup(test, 0, 64);

	send(test, 1);
	inc_requester_ack(r, 0, START + 100);
	*clock(test) += 3600ULL * 1000000;
	KUNIT_EXPECT_EQ(test, inc_requester_timeout(r, *clock(test)), INC_REQ_TIMER_IDLE);
	inc_requester_push(r);
	KUNIT_EXPECT_EQ(test, inc_requester_timeout(r, *clock(test)), INC_REQ_TIMER_IDLE);
	next(test, true);
	expect_dead(test, r, *clock(test) + DEAD - 1);
}

/* A member that keeps refusing is dead, too. */
static void dead_by_rnr(struct kunit *test)
{
	struct inc_requester *r = setup(test, 0, 64);
	enum inc_requester_timer what;

	send(test, 2);
	for (;;) {
		u64 *now = clock(test);

		KUNIT_ASSERT_EQ(test, inc_requester_rnr_nak(r, 0, 21, *now), INC_REQ_WAIT);
		*now = inc_requester_deadline(r);
		what = inc_requester_timeout(r, *now);
		if (what == INC_REQ_TIMER_DEAD)
			break;
		KUNIT_ASSERT_EQ(test, what, INC_REQ_TIMER_RESUME);
		KUNIT_ASSERT_LT(test, *now, (u64)START + DEAD);
		expect_again(test, 0, 1);
	}
	KUNIT_EXPECT_GE(test, *clock(test), (u64)START + DEAD);
	KUNIT_EXPECT_LE(test, *clock(test), (u64)START + DEAD + 15360);
}

/*
 * One that refuses again and again before it is tried again is no better off.
 */
static void dead_by_early_rnr(struct kunit *test)
{
	struct inc_requester *r = setup(test, 0, 64);
	enum inc_requester_timer what = INC_REQ_TIMER_LATER;
	u64 *now = clock(test);

	send(test, 2);
	inc_requester_rnr_nak(r, 0, 27, *now);
	while (what != INC_REQ_TIMER_DEAD) {
		*now += 10000;
		KUNIT_ASSERT_LT(test, *now, (u64)START + 2 * DEAD);
		what = inc_requester_timeout(r, *now);
		if (what == INC_REQ_TIMER_RESUME)
			expect_again(test, 0, 1);
		inc_requester_rnr_nak(r, 0, 27, *now);
	}
}

/* A parent may keep refusing, but not be silent. */
static void patience(struct kunit *test)
{
	struct inc_requester *r = setup(test, 0, 64);
	u64 *now = clock(test);

	r->patient = true;
	send(test, 2);
	for (int i = 0; i < 200; i++) {
		KUNIT_ASSERT_EQ(test, inc_requester_rnr_nak(r, 0, 21, *now), INC_REQ_WAIT);
		*now = inc_requester_deadline(r);
		KUNIT_ASSERT_EQ(test, inc_requester_timeout(r, *now), INC_REQ_TIMER_RESUME);
		expect_again(test, 0, 1);
	}
	KUNIT_EXPECT_GE(test, *now, (u64)START + 3 * DEAD);
	expect_dead(test, r, *now + DEAD);
}

/* But one that takes nothing for very long is dead. */
static void patience_ends(struct kunit *test)
{
	struct inc_requester *r = setup(test, 0, 64);
	enum inc_requester_timer what;
	u64 *now = clock(test);

	r->patient = true;
	send(test, 2);
	do {
		KUNIT_ASSERT_EQ(test, inc_requester_rnr_nak(r, 0, 0, *now), INC_REQ_WAIT);
		*now = inc_requester_deadline(r);
		what = inc_requester_timeout(r, *now);
		if (what == INC_REQ_TIMER_RESUME)
			expect_again(test, 0, 1);
		KUNIT_ASSERT_LE(test, *now, (u64)START + 400 * 1000000ULL);
	} while (what == INC_REQ_TIMER_RESUME);
	KUNIT_EXPECT_EQ(test, what, INC_REQ_TIMER_DEAD);
	KUNIT_EXPECT_GE(test, *now, (u64)START + 360 * 1000000ULL);
}

static unsigned int drain(struct kunit *test)
{
	unsigned int n = 0;

	while (next(test, true).wqe)
		n++;
	return n;
}

/*
 * The cost of NAKs: an RNR NAK costs a packet, other NAKs a few windows in
 * total, whether they name the same PSN or each the next one.
 */
static void naks_cost_little(struct kunit *test)
{
	static const u16 window = 256;

	for (int i = 0; i < 4; i++) {
		bool rnr = i & 1, advances = i & 2;
		struct inc_requester *r = setup(test, 0, window);
		unsigned int n = 0;

		send(test, window);
		for (u32 nak = 0; nak < 112; nak++) {
			u32 psn = advances ? nak : 0;

			if (rnr)
				inc_requester_rnr_nak(r, psn, 1, *clock(test));
			else
				inc_requester_nak_seq(r, psn, *clock(test));
			*clock(test) += 1000;
			if (rnr)
				inc_requester_timeout(r, *clock(test));
			n += drain(test);
		}
		KUNIT_EXPECT_LE_MSG(test, n, rnr ? 112 : 5 * window,
				    "rnr %d, advances %d", rnr, advances);
	}
}

/*
 * So do RNR NAKs of a member that acknowledges one packet before each; one that
 * refuses once per window pays nothing for it.
 */
static void climbing_costs_little(struct kunit *test)
{
	static const u16 window = 256;
	unsigned int n = 0;
	struct inc_requester *r = setup(test, 0, window);

	send(test, window);
	for (u32 psn = 1; psn < window; psn++) {
		inc_requester_ack(r, psn - 1, *clock(test));
		n += drain(test);
		inc_requester_rnr_nak(r, psn, 1, *clock(test));
		*clock(test) += 1000;
		inc_requester_timeout(r, *clock(test));
		n += drain(test);
	}
	KUNIT_EXPECT_LE(test, n, 8 * window);

	r = setup(test, 0, window);
	for (u32 psn = 0; psn < 10 * window; psn += window) {
		send(test, window);
		inc_requester_rnr_nak(r, psn, 1, *clock(test));
		*clock(test) += 1000;
		inc_requester_timeout(r, *clock(test));
		drain(test);
		inc_requester_ack(r, psn, *clock(test));
		drain(test);
		inc_requester_ack(r, psn + window - 1, *clock(test));
	}
	KUNIT_EXPECT_EQ(test, r->cwnd, window);
}

/* RFC 6298 in 1/1024 microseconds, to compare the integers with. */
static void rtt_estimate(struct kunit *test)
{
	struct inc_requester *r = setup(test, 0, 64);
	s64 srtt = 0, rttvar = 0;
	struct inc_rng rng;

	inc_rng_init(&rng, test);
	for (u32 i = 0; i < 500; i++) {
		u32 rtt = 200 + inc_rnd_below(&rng, i < 250 ? 100 : 5000);
		s64 x = (s64)rtt << 10;

		send(test, 1);
		*clock(test) += rtt;
		inc_requester_ack(r, i, *clock(test));
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

/* Karn: a retransmitted packet measures nothing. */
static void karn(struct kunit *test)
{
	struct inc_requester *r = setup(test, 0, 64);

	send(test, 3);
	*clock(test) += 40000;
	inc_requester_nak_seq(r, 1, *clock(test));
	expect_again(test, 1, 2);
	*clock(test) += 7;
	inc_requester_ack(r, 2, *clock(test));
	KUNIT_EXPECT_EQ(test, r->srtt, 0U);
	/* The next one that is not retransmitted does. */
	send(test, 1);
	*clock(test) += 300;
	inc_requester_ack(r, 3, *clock(test));
	KUNIT_EXPECT_EQ(test, r->srtt, 300U);
	KUNIT_EXPECT_EQ(test, r->rttvar, 150U);
	/* Nor does one after a timeout. */
	send(test, 1);
	*clock(test) = inc_requester_deadline(r);
	inc_requester_timeout(r, *clock(test));
	expect_again(test, 4, 1);
	inc_requester_ack(r, 4, *clock(test) + 1);
	KUNIT_EXPECT_EQ(test, r->srtt, 300U);
}

/* A requester that has just had an acknowledgment. */
static struct inc_requester *asking(struct kunit *test)
{
	struct inc_requester *r = setup(test, 0xffffff, 64);

	send(test, 1);
	inc_requester_ack(r, 0xffffff, *clock(test) += 10);
	return r;
}

/*
 * Some short results in a row share an acknowledgment, a lone one has its own.
 */
static void asks_with_others(struct kunit *test)
{
	struct inc_requester *r = setup(test, 0xfffffe, 64);
	u64 *now = clock(test);

	for (u32 i = 0; i < 9; i++) {
		struct sent s;

		inc_requester_push(r);
		s = next_end(test, INC_REQ_END_SHARED);
		KUNIT_EXPECT_EQ_MSG(test, s.ackreq, i % 7 == 0, "packet %u", i);
		KUNIT_EXPECT_FALSE(test, s.again || s.asks);
		if (s.ackreq)
			inc_requester_ack(r, s.psn, *now + 10);
		*now += 400;
	}
	/* The last one gets AckReq by itself, after a time. */
	KUNIT_EXPECT_EQ(test, inc_requester_deadline(r), *now - 400 + MIN_RTO);
}

/* The timeout runs from the AckReq. */
static void asks_later(struct kunit *test)
{
	struct inc_requester *r = asking(test);
	struct sent s;

	*clock(test) += MIN_RTO - 1;
	send(test, 1);
	KUNIT_EXPECT_EQ(test, inc_requester_deadline(r), START + 10 + 2 * MIN_RTO - 1);
	*clock(test) += 1;
	inc_requester_push(r);
	s = next_end(test, INC_REQ_END_SHARED);
	KUNIT_EXPECT_FALSE(test, s.ackreq);
}

/* No AckReq, nothing follows: the newest is retransmitted with AckReq. */
static void asks_alone(struct kunit *test)
{
	struct inc_requester *r = asking(test);
	struct sent s;
	u64 at;

	for (u32 i = 0; i < 3; i++) {
		inc_requester_push(r);
		KUNIT_EXPECT_FALSE(test, next_end(test, INC_REQ_END_SHARED).ackreq);
	}
	at = inc_requester_deadline(r);
	KUNIT_EXPECT_EQ(test, at, START + 10 + MIN_RTO);
	KUNIT_EXPECT_EQ(test, inc_requester_timeout(r, at - 1),
			INC_REQ_TIMER_LATER);
	*clock(test) = at;
	KUNIT_EXPECT_EQ(test, inc_requester_timeout(r, at),
			INC_REQ_TIMER_SOLICIT);
	s = next_end(test, INC_REQ_END_SHARED);
	KUNIT_EXPECT_TRUE(test, s.wqe && s.psn == 2 && s.asks && s.ackreq);
	KUNIT_EXPECT_NULL(test, next_end(test, INC_REQ_END_SHARED).wqe);
	/* New packets do not wait for the answer, which measures the round trip. */
	inc_requester_push(r);
	s = next_end(test, INC_REQ_END_SHARED);
	KUNIT_EXPECT_TRUE(test, s.psn == 3 && !s.asks && !s.again && !s.ackreq);
	KUNIT_EXPECT_EQ(test, inc_requester_ack(r, 2, at + 70),
			INC_REQ_PROGRESS);
	KUNIT_EXPECT_EQ(test, r->srtt, 10U - 10 / 8 + 70 / 8);
	KUNIT_EXPECT_EQ(test, inc_requester_deadline(r), at + 70 + MIN_RTO);
	/* The timer is too late: everything is acknowledged. */
	KUNIT_EXPECT_EQ(test, inc_requester_timeout(r, at + 9000),
			INC_REQ_TIMER_SOLICIT);
	KUNIT_EXPECT_EQ(test, inc_requester_ack(r, 3, at + 9001),
			INC_REQ_PROGRESS);
	KUNIT_EXPECT_NULL(test, next_end(test, INC_REQ_END_SHARED).wqe);
	KUNIT_EXPECT_EQ(test, inc_requester_deadline(r), 0ULL);
}

/* The packet with AckReq is lost, too: then it is like any other timeout. */
static void asks_unanswered(struct kunit *test)
{
	struct inc_requester *r = asking(test);

	for (u32 i = 0; i < 3; i++) {
		inc_requester_push(r)->imm = i;
		next_end(test, INC_REQ_END_SHARED);
	}
	*clock(test) = inc_requester_deadline(r);
	KUNIT_EXPECT_EQ(test, inc_requester_timeout(r, *clock(test)),
			INC_REQ_TIMER_SOLICIT);
	KUNIT_EXPECT_TRUE(test, next_end(test, INC_REQ_END_SHARED).asks);
	KUNIT_EXPECT_EQ(test, inc_requester_deadline(r),
			*clock(test) + MIN_RTO);
	*clock(test) = inc_requester_deadline(r);
	KUNIT_EXPECT_EQ(test, inc_requester_timeout(r, *clock(test)), INC_REQ_TIMER_BACK);
	expect_again(test, 0, 1);
	/* The member has only the oldest. */
	inc_requester_ack(r, 0, *clock(test) += 10);
	expect_again(test, 1, 2);
	*clock(test) = inc_requester_deadline(r);
	expect_dead(test, r, *clock(test) + DEAD);
}

static struct kunit_case req_timer_cases[] = {
	KUNIT_CASE(timeout_backs_off),
	KUNIT_CASE(timeout_caps),
	KUNIT_CASE(backoff_ends),
	KUNIT_CASE(probe_finds_loss),
	KUNIT_CASE(probe_finds_delay),
	KUNIT_CASE(probe_ends),
	KUNIT_CASE(dead_counts_from_progress),
	KUNIT_CASE(tries_count_from_progress),
	KUNIT_CASE(dead_not_by_idleness),
	KUNIT_CASE(dead_by_rnr),
	KUNIT_CASE(dead_by_early_rnr),
	KUNIT_CASE(patience),
	KUNIT_CASE(patience_ends),
	KUNIT_CASE(naks_cost_little),
	KUNIT_CASE(climbing_costs_little),
	KUNIT_CASE(silence_is_told),
	KUNIT_CASE(dead_not_by_late_timers),
	KUNIT_CASE(dead_not_with_signs_of_life),
	KUNIT_CASE(heard),
	KUNIT_CASE(rtt_estimate),
	KUNIT_CASE(karn),
	KUNIT_CASE(asks_with_others),
	KUNIT_CASE(asks_later),
	KUNIT_CASE(asks_alone),
	KUNIT_CASE(asks_unanswered),
	{}
};

static struct kunit_suite req_timer_suite = {
	.name = "rdma_inc_requester_timer",
	.init = req_init,
	.test_cases = req_timer_cases,
};

kunit_test_suite(req_timer_suite);

MODULE_LICENSE("GPL");
