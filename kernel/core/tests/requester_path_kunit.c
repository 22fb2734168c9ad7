// SPDX-License-Identifier: GPL-2.0
/*
 * The requester's window against the path: several of them send all that they may
 * through one port, which takes a time for each packet, to peers that acknowledge at
 * once, or only now and then, after the way's delay. How full are the port and its
 * queue?
 */
#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/string.h>

#include "common.h"
#include "core/psn.h"
#include "core/requester.h"

#define SENDERS		8
#define TICK		10		/* microseconds */
#define SETTLED		5000000		/* ... until all have measured the path anew */
#define QUEUE		(SENDERS * INC_REQ_MAX_WINDOW)

/**
 * struct path - a port and the way to the peers behind it
 * @serial: microseconds that the port takes for a packet
 * @delay: microseconds from the port to the peer and back
 * @every: the peer answers what it has at multiples of so many microseconds
 */
struct path {
	u32	serial;
	u32	delay;
	u32	every;
};

/**
 * struct packet - a packet in the port's queue or behind it
 * @sender: of which sender
 * @psn: its PSN
 * @ackreq: it has AckReq
 * @due: when its acknowledgment arrives, once it has left the queue
 */
struct packet {
	u8	sender;
	bool	ackreq;
	u32	psn;
	u64	due;
};

struct port {
	struct path		path;
	struct inc_requester	r[SENDERS];
	struct inc_wqe		ring[SENDERS][INC_REQ_MAX_WINDOW];
	struct packet		queue[QUEUE];
	unsigned int		senders, head, left, tail;
	u64			now, busy_until;
	/* Since the last measurement. */
	u64			since;
	unsigned int		passed[SENDERS], longest;
};

static struct packet *packet_at(struct port *p, unsigned int n)
{
	return &p->queue[n % QUEUE];
}

static void send_all(struct port *p, unsigned int sender)
{
	struct inc_requester *r = &p->r[sender];
	enum inc_requester_kind kind;
	struct packet packet = { .sender = sender };

	while (inc_requester_push(r))
		;
	while (inc_requester_next(r, p->now, INC_REQ_MORE, &packet.psn,
				  &packet.ackreq, &kind))
		*packet_at(p, p->tail++) = packet;
}

/* The port takes the next packet as soon as it has sent the last one. */
static void pass_on(struct port *p)
{
	while (p->left != p->tail && p->busy_until <= p->now) {
		struct packet *packet = packet_at(p, p->left++);

		p->busy_until = max(p->busy_until + p->path.serial,
				    p->now + p->path.serial - TICK);
		packet->due = p->busy_until + p->path.delay + p->path.every - 1;
		packet->due = div_u64(packet->due, p->path.every) * p->path.every;
		p->passed[packet->sender]++;
	}
	p->longest = max(p->longest, p->tail - p->left);
}

static void run(struct port *p, u64 usec)
{
	u64 end = p->now + usec;

	for (; p->now < end; p->now += TICK) {
		while (p->head != p->left && packet_at(p, p->head)->due <= p->now) {
			struct packet *packet = packet_at(p, p->head++);

			if (packet->ackreq)
				inc_requester_ack(&p->r[packet->sender],
						  packet->psn, p->now);
		}
		for (unsigned int i = 0; i < p->senders; i++)
			send_all(p, i);
		pass_on(p);
	}
}

static void forget(struct port *p)
{
	p->since = p->now;
	p->longest = 0;
	memset(p->passed, 0, sizeof(p->passed));
}

/* Share of the port's time that it was busy, in a thousand. */
static unsigned int busy(const struct port *p)
{
	unsigned int i, n = 0;

	for (i = 0; i < p->senders; i++)
		n += p->passed[i];
	return 1000ULL * n * p->path.serial / (p->now - p->since);
}

/* @apart: microseconds from one sender's start to the next one's */
static struct port *start(struct kunit *test, unsigned int senders, u32 apart,
			  struct path path)
{
	struct port *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	p->path = path;
	p->now = 1000000;
	for (unsigned int i = 0; i < senders; i++) {
		inc_requester_init(&p->r[i], p->ring[i], INC_REQ_MAX_WINDOW, 0);
		inc_requester_tune(&p->r[i], 128, 1000000, 60000000);
		p->senders = i + 1;
		run(p, apart);
	}
	run(p, SETTLED);
	forget(p);
	run(p, 1000000);
	return p;
}

/* 1 KiB at 20 Mb/s: one sender fills the port, and no more. */
static void one(struct kunit *test)
{
	struct port *p = start(test, 1, 0, (struct path) { 450, 50, 1 });

	KUNIT_EXPECT_GE(test, busy(p), 990U);
	KUNIT_EXPECT_LE(test, p->longest, 12U);
}

/* The least and the most that one of the senders has got, in percent of its share. */
static void shares(const struct port *p, u64 *least, u64 *most)
{
	*least = 10000;
	*most = 0;
	for (unsigned int i = 0; i < p->senders; i++) {
		u64 share = div_u64(100ULL * p->senders * p->passed[i] *
				    p->path.serial, p->now - p->since);

		*least = min(*least, share);
		*most = max(*most, share);
	}
}

/*
 * Eight share it, whether they begin at once with all that they may send or one by one:
 * then those who are last have never seen the port without a queue, until all measure
 * their paths at the same time.
 */
static void eight(struct kunit *test)
{
	static const u32 apart[] = { 100, 20000 };

	for (unsigned int i = 0; i < ARRAY_SIZE(apart); i++) {
		struct port *p = start(test, 8, apart[i], (struct path) { 450, 50, 1 });
		u64 least, most;

		shares(p, &least, &most);
		KUNIT_EXPECT_GE_MSG(test, busy(p), 990U, "apart %u us", apart[i]);
		KUNIT_EXPECT_LE_MSG(test, p->longest, 8U * 6, "apart %u us", apart[i]);
		KUNIT_EXPECT_GE_MSG(test, least, 90ULL, "apart %u us", apart[i]);
		KUNIT_EXPECT_LE_MSG(test, most, 110ULL, "apart %u us", apart[i]);
	}
}

/* A long way is no queue. */
static void delays(struct kunit *test)
{
	static const u32 delay[] = { 1000, 5000, 10000, 20000, 40000 };

	for (unsigned int i = 0; i < ARRAY_SIZE(delay); i++) {
		struct port *p = start(test, 1, 0, (struct path) { 450, delay[i], 1 });
		unsigned int way = delay[i] / 450;

		KUNIT_EXPECT_GE_MSG(test, busy(p), 900U, "delay %u us", delay[i]);
		KUNIT_EXPECT_LE_MSG(test, p->longest, 2 * way + 12, "delay %u us",
				    delay[i]);
	}
}

/* Where nothing waits for long, the window is the tree's. */
static void fast(struct kunit *test)
{
	struct port *p = start(test, 1, 0, (struct path) { 10, 100, 1 });

	KUNIT_EXPECT_GE(test, busy(p), 950U);
	KUNIT_EXPECT_GE(test, p->r[0].path, 64);
}

/* A busy peer answers all that it has got every 8 ms: that is no queue, either. */
static void busy_peer(struct kunit *test)
{
	struct port *p = start(test, 1, 0, (struct path) { 10, 100, 8000 });

	KUNIT_EXPECT_GE(test, p->r[0].path, 100);
}

/* The way becomes longer. */
static void other_way(struct kunit *test)
{
	struct port *p = start(test, 1, 0, (struct path) { 450, 50, 1 });

	p->path.delay = 20000;
	run(p, SETTLED);
	forget(p);
	run(p, 1000000);
	KUNIT_EXPECT_GE(test, busy(p), 850U);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(one),
	KUNIT_CASE(eight),
	KUNIT_CASE(delays),
	KUNIT_CASE(fast),
	KUNIT_CASE(busy_peer),
	KUNIT_CASE(other_way),
	{}
};

static struct kunit_suite suite = {
	.name		= "rdma_inc_requester_path",
	.test_cases	= cases,
};

kunit_test_suite(suite);

MODULE_LICENSE("GPL");
