// SPDX-License-Identifier: GPL-2.0
/*
 * The requester against a member that behaves as stock rxe does (one NAK per
 * gap, an ACK for AckReq and for every duplicate, RNR NAK when no receive is
 * posted), over a link with a rate, a delay and faults, in simulated time.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>

#include "common.h"
#include "core/psn.h"
#include "core/requester.h"

#define NPKT	1000
#define EVENTS	2048
#define TICK	1000		/* the kernel's timer is up to this much late */

enum kind {
	ARRIVAL,		/* of a packet, at the member */
	ACK,
	NAK,
	RNR,
	WORK,			/* the switch has more to send */
};

struct event {
	u64		at;
	enum kind	what;
	u32		psn;
	u32		imm;
	bool		ackreq;
};

/**
 * struct link - link between switch and member
 * @delay: one way, microseconds
 * @jitter: maximum additional delay, by packet; reorders
 * @serial: time that a packet takes on the wire
 * @loss: permille, both ways
 * @dup: permille, both ways
 * @rnr: permille of packets that meet no posted receive
 */
struct link {
	u32	delay;
	u32	jitter;
	u32	serial;
	u32	loss;
	u32	dup;
	u32	rnr;
};

struct model {
	struct inc_rng	rng;
	struct link	link;
	struct inc_requester	r;
	struct inc_wqe ring[INC_REQ_MAX_WINDOW];
	u64		now, timer, wire_free;
	u32		first_psn;
	/* The switch. */
	unsigned int	pushed, may_push, sent, again, asks, timeouts, lost, refused;
	unsigned int	singles;	/* messages of one packet at first */
	bool		shared;		/* the last packet may share an ACK */
	/* The member. */
	u32		epsn;
	bool		nak_sent;
	unsigned int	delivered;
	/* Events in flight, by time. */
	unsigned int	head, tail;
	struct event	event[EVENTS];
};

/* Of two events at one time the one scheduled first comes first. */
static void put_event(struct model *m, struct event e)
{
	unsigned int i;

	if (m->tail == EVENTS) {
		m->tail -= m->head;
		memmove(m->event, m->event + m->head, m->tail * sizeof(e));
		m->head = 0;
	}
	if (m->tail == EVENTS)
		return;
	for (i = m->tail++; i > m->head && m->event[i - 1].at > e.at; i--)
		m->event[i] = m->event[i - 1];
	m->event[i] = e;
}

/* Send onto the link, in either direction. */
static void transmit(struct model *m, struct event e)
{
	unsigned int copies = 1 + inc_rnd_chance(&m->rng, m->link.dup);
	u64 at = m->now;

	if (e.what == ARRIVAL) {
		m->wire_free = max(m->wire_free, m->now) + m->link.serial;
		at = m->wire_free;
	}
	if (inc_rnd_chance(&m->rng, m->link.loss)) {
		m->lost++;
		return;
	}
	while (copies--) {
		e.at = at + m->link.delay + inc_rnd_below(&m->rng, m->link.jitter + 1);
		put_event(m, e);
	}
}

static void reply(struct model *m, enum kind what, u32 psn)
{
	transmit(m, (struct event) { .what = what, .psn = psn });
}

/* rxe's responder. */
static void member(struct kunit *test, struct model *m, const struct event *e)
{
	s32 diff = inc_psn_diff(e->psn, m->epsn);

	if (diff < 0) {
		reply(m, ACK, inc_psn_add(m->epsn, -1));
	} else if (diff > 0) {
		if (!m->nak_sent)
			reply(m, NAK, m->epsn);
		m->nak_sent = true;
	} else if (inc_rnd_chance(&m->rng, m->link.rnr)) {
		m->refused++;
		reply(m, RNR, m->epsn);
	} else {
		KUNIT_ASSERT_EQ_MSG(test, e->imm, m->delivered, "PSN 0x%x", e->psn);
		m->delivered++;
		m->epsn = inc_psn_add(m->epsn, 1);
		m->nak_sent = false;
		if (e->ackreq)
			reply(m, ACK, e->psn);
	}
}

/* The switch sends all that it may, and arms its timer. */
static void kick(struct kunit *test, struct model *m)
{
	u64 deadline;

	for (;;) {
		struct event e = { .what = ARRIVAL };
		struct inc_wqe *w;
		enum inc_requester_kind kind;
		enum inc_requester_end end;

		if (m->r.next == m->r.max && m->pushed < m->may_push) {
			w = inc_requester_push(&m->r);
			if (w)
				w->imm = m->pushed++;
		}
		end = m->shared ? INC_REQ_END_SHARED : INC_REQ_END;
		w = inc_requester_next(&m->r, m->now,
				       m->pushed < m->may_push ? INC_REQ_MORE :
								 end,
				       &e.psn, &e.ackreq, &kind);
		if (!w)
			break;
		KUNIT_ASSERT_EQ(test, inc_psn_add(m->first_psn, w->imm), e.psn);
		m->sent += kind != INC_REQ_SOLICIT;
		m->again += kind == INC_REQ_RETRANSMIT;
		m->asks += kind == INC_REQ_SOLICIT;
		KUNIT_ASSERT_TRUE(test, kind != INC_REQ_SOLICIT || e.ackreq);
		e.imm = w->imm;
		transmit(m, e);
	}
	KUNIT_ASSERT_LE(test, inc_psn_diff(m->r.max, m->r.una), m->r.window);
	deadline = inc_requester_deadline(&m->r);
	m->timer = deadline ? max(deadline, m->now) +
			      inc_rnd_below(&m->rng, TICK) : 0;
}

/* Queue more to send, and schedule the next time. */
static void work(struct model *m)
{
	struct event e = { .what = WORK, .at = m->now };

	if (m->may_push < m->singles) {
		m->may_push++;
		e.at += 2 * m->link.delay + m->link.serial + 1;
	} else {
		m->may_push += 1 + inc_rnd_below(&m->rng, 200);
		m->may_push = min_t(unsigned int, m->may_push, NPKT);
		e.at += inc_rnd_below(&m->rng, 100000);
	}
	if (m->may_push < NPKT)
		put_event(m, e);
}

static void respond(struct kunit *test, struct model *m, const struct event *e)
{
	enum inc_requester_verdict v = INC_REQ_OLD;

	switch (e->what) {
	case ACK:
		v = inc_requester_ack(&m->r, e->psn, m->now);
		break;
	case NAK:
		v = inc_requester_nak_seq(&m->r, e->psn, m->now);
		break;
	case RNR:
		v = inc_requester_rnr_nak(&m->r, e->psn, 0x20 | 12, m->now);
		break;
	case WORK:
		work(m);
		break;
	case ARRIVAL:
		break;
	}
	KUNIT_ASSERT_NE(test, v, INC_REQ_BAD);
	/* Undelivered packets are not forgotten. */
	KUNIT_ASSERT_LE(test, inc_psn_diff(m->r.una, m->epsn), 0);
	kick(test, m);
}

static void expire(struct kunit *test, struct model *m)
{
	enum inc_requester_timer what = inc_requester_timeout(&m->r, m->now);

	m->timer = 0;
	KUNIT_ASSERT_NE_MSG(test, what, INC_REQ_TIMER_DEAD, "at %u of %u",
			    m->delivered, NPKT);
	if (what == INC_REQ_TIMER_BACK)
		m->timeouts++;
	kick(test, m);
}

/* Run until nothing is in flight; returns whether all was acknowledged. */
static void simulate(struct kunit *test, struct model *m)
{
	unsigned int steps = 0;

	put_event(m, (struct event) { .what = WORK, .at = m->now });
	while (m->head < m->tail || m->timer) {
		struct event e = {};

		KUNIT_ASSERT_LT_MSG(test, steps++, 2000000U, "stuck at %u",
				    m->delivered);
		if (m->head < m->tail)
			e = m->event[m->head];
		if (m->timer && (m->head == m->tail || m->timer <= e.at)) {
			m->now = m->timer;
			expire(test, m);
			continue;
		}
		m->head++;
		m->now = e.at;
		if (e.what == ARRIVAL)
			member(test, m, &e);
		else
			respond(test, m, &e);
	}
	KUNIT_ASSERT_EQ(test, m->delivered, (unsigned int)NPKT);
	KUNIT_ASSERT_EQ(test, m->r.una, inc_psn_add(m->first_psn, NPKT));
	KUNIT_ASSERT_EQ(test, inc_requester_deadline(&m->r), 0ULL);
}

static void prepare(struct model *m, u64 seed, u16 window)
{
	memset(m, 0, sizeof(*m));
	m->rng.state = seed;
	m->first_psn = seed & 1 ? inc_rnd_below(&m->rng, 1 << 24) :
		       0xffffff - inc_rnd_below(&m->rng, NPKT);
	m->epsn = m->first_psn;
	m->now = 1000000;
	inc_requester_init(&m->r, m->ring, INC_REQ_MAX_WINDOW, m->first_psn);
	inc_requester_tune(&m->r, window, 2500, 10000000);
}

static u16 some_window(struct model *m)
{
	static const u16 windows[] = { 1, 2, 3, 8, 16, 33, 64, 128, 256 };

	return windows[inc_rnd_below(&m->rng, ARRAY_SIZE(windows))];
}

/*
 * Without faults nothing is sent twice, as long as the packets from one AckReq
 * to the next take less than the minimum timeout.
 */
static void nothing_twice(struct kunit *test)
{
	static const u32 delays[] = { 10, 100, 1000, 5000, 20000 };
	static const u32 serials[] = { 1, 10, 50, 100 };
	const unsigned int n = inc_test_rounds(20);
	struct model *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	struct inc_rng rng;

	KUNIT_ASSERT_NOT_NULL(test, m);
	inc_rng_init(&rng, test);
	for (unsigned int i = 0; i < n; i++) {
		prepare(m, inc_rnd(&rng), 64);
		inc_requester_tune(&m->r, some_window(m), 2500, 10000000);
		m->link.delay = delays[inc_rnd_below(&rng, ARRAY_SIZE(delays))];
		m->link.serial = serials[inc_rnd_below(&rng, ARRAY_SIZE(serials))];
		simulate(test, m);
		KUNIT_EXPECT_EQ_MSG(test, m->timeouts, 0U,
				    "delay %u us, %u us per packet, window %u",
				    m->link.delay, m->link.serial, m->r.window);
		KUNIT_EXPECT_EQ(test, m->again, 0U);
		KUNIT_EXPECT_EQ(test, m->sent, (unsigned int)NPKT);
	}
}

/*
 * A hundred small messages teach it a short round trip, then long ones fill the
 * queue of a slow link: it has to learn, at the price of a few retransmissions,
 * and not retransmit everything forever.
 */
static void burst_after_quiet(struct kunit *test)
{
	static const u32 serials[] = { 50, 100, 200, 400 };
	const unsigned int n = inc_test_rounds(20);
	struct model *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	struct inc_rng rng;

	KUNIT_ASSERT_NOT_NULL(test, m);
	inc_rng_init(&rng, test);
	for (unsigned int i = 0; i < n; i++) {
		prepare(m, inc_rnd(&rng), 64);
		inc_requester_tune(&m->r, some_window(m), 2500, 10000000);
		m->link.delay = 10 + inc_rnd_below(&m->rng, 1000);
		m->link.serial = serials[inc_rnd_below(&rng, ARRAY_SIZE(serials))];
		m->singles = 100;
		simulate(test, m);
		KUNIT_EXPECT_LE_MSG(test, m->again, 8U * m->r.window,
				    "%u time-outs, delay %u us, %u us per packet, window %u",
				    m->timeouts, m->link.delay, m->link.serial,
				    m->r.window);
	}
}

/* A fault costs a window, at most a few of them. */
static void faults(struct kunit *test)
{
	const unsigned int n = inc_test_rounds(30);
	struct model *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	struct inc_rng rng;

	KUNIT_ASSERT_NOT_NULL(test, m);
	inc_rng_init(&rng, test);
	for (unsigned int i = 0; i < n; i++) {
		unsigned int cost;

		prepare(m, inc_rnd(&rng), 64);
		inc_requester_tune(&m->r, some_window(m), 2500, 10000000);
		m->shared = i & 1;
		m->link.delay = 20 + inc_rnd_below(&m->rng, 500);
		m->link.serial = 1 + inc_rnd_below(&m->rng, 100);
		m->link.loss = inc_rnd_below(&m->rng, 60);
		m->link.dup = inc_rnd_below(&m->rng, 60);
		if (i % 3 == 0)
			m->link.rnr = inc_rnd_below(&m->rng, 20);
		simulate(test, m);
		cost = (m->lost + m->refused + m->timeouts + 1) * m->r.window;
		KUNIT_EXPECT_LE_MSG(test, m->again, cost,
				    "loss %u, dup %u, rnr %u permille, window %u: %u lost, %u refused, %u time-outs",
				    m->link.loss, m->link.dup, m->link.rnr,
				    m->r.window, m->lost, m->refused, m->timeouts);
		/* Each needs a loss: of the packet, its NAK, or its ACK. */
		if (m->shared)
			continue;
		KUNIT_EXPECT_LE_MSG(test, m->timeouts, m->lost,
				    "loss %u, dup %u, rnr %u permille, window %u, delay %u, serial %u",
				    m->link.loss, m->link.dup, m->link.rnr,
				    m->r.window, m->link.delay, m->link.serial);
	}
}

/* Packets and responses that overtake each other, without any loss. */
static void reordering(struct kunit *test)
{
	const unsigned int n = inc_test_rounds(20);
	struct model *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	struct inc_rng rng;

	KUNIT_ASSERT_NOT_NULL(test, m);
	inc_rng_init(&rng, test);
	for (unsigned int i = 0; i < n; i++) {
		prepare(m, inc_rnd(&rng), 64);
		inc_requester_tune(&m->r, some_window(m), 2500, 10000000);
		m->shared = i & 1;
		m->link.delay = 100;
		m->link.serial = 10;
		m->link.jitter = 1 + inc_rnd_below(&m->rng, 60);
		m->link.dup = inc_rnd_below(&m->rng, 60);
		simulate(test, m);
	}
}

static struct kunit_case req_model_cases[] = {
	KUNIT_CASE(nothing_twice),
	KUNIT_CASE(burst_after_quiet),
	KUNIT_CASE(faults),
	KUNIT_CASE(reordering),
	{}
};

static struct kunit_suite req_model_suite = {
	.name = "rdma_inc_requester_model",
	.test_cases = req_model_cases,
};

kunit_test_suite(req_model_suite);

MODULE_LICENSE("GPL");
