// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the window of a path, alone and with flows that share a port.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>

#include "common.h"
#include "core/path.h"
#include "core/requester.h"

#define PERIOD	2097152U	/* as in path.c, as are QUEUE and SPARE */
#define QUEUE	5000
#define SPARE	4
#define START	(10ULL * PERIOD + 1000)

static void fresh(struct kunit *test)
{
	struct inc_path p;

	inc_path_init(&p);
	KUNIT_EXPECT_EQ(test, p.window, INC_PATH_FIRST);
	inc_path_measured(&p, 2 * INC_PATH_MAX, 0, START);
	KUNIT_EXPECT_EQ(test, p.window, INC_PATH_MAX);
	inc_path_init(&p);
	inc_path_measured(&p, 1, U32_MAX, START);
	KUNIT_EXPECT_EQ(test, p.window, SPARE);
}

/* One round trip at the speed of a network is enough for the largest window. */
static void fast(struct kunit *test)
{
	struct inc_path p;

	for (u32 rtt = 1; rtt <= 80; rtt++) {
		inc_path_init(&p);
		inc_path_measured(&p, 4, rtt, START);
		KUNIT_EXPECT_EQ(test, p.window, INC_PATH_MAX);
	}
}

/* Little to send does not make a window smaller, nor does one slow answer much. */
static void idle(struct kunit *test)
{
	struct inc_path p;
	u16 before;

	inc_path_init(&p);
	inc_path_measured(&p, 16, 2000, START);
	before = p.window;
	for (int i = 0; i < 100; i++)
		inc_path_measured(&p, 1, 2000 + i, START + i);
	KUNIT_EXPECT_EQ(test, p.window, before);
	inc_path_measured(&p, 1, 50000, START + 200);
	KUNIT_EXPECT_GE(test, p.window, before / 2);
}

#define FLOWS	8
#define QUEUED	4096

struct packet {
	u64	at;
	u32	psn;
	u8	flow;		/* FLOWS: another's */
	bool	ackreq;
};

struct fifo {
	struct packet	packet[QUEUED];
	unsigned int	head, tail;
};

/**
 * struct port - a slow port, the requesters that send through it all that they may, and
 *	others with a constant number of packets in flight
 * @serial: time that a packet takes, microseconds
 * @delay: time from there until its acknowledgment
 * @now: time
 * @n: number of requesters
 * @queue: packets that wait
 * @acks: packets that have left, and are not acknowledged
 * @sent: of each requester, packets that have left
 * @idle: times in which nothing waited
 * @r: requesters
 * @ring: their packets in flight
 */
struct port {
	u32		serial;
	u32		delay;
	u64		now;
	unsigned int	n;
	struct fifo	queue;
	struct fifo	acks;
	u32		sent[FLOWS];
	u32		idle;
	struct inc_requester	r[FLOWS];
	struct inc_wqe	ring[FLOWS][INC_PATH_MAX];
};

static void put(struct kunit *test, struct fifo *f, struct packet p)
{
	KUNIT_ASSERT_LT(test, f->tail - f->head, (unsigned int)QUEUED);
	f->packet[f->tail++ % QUEUED] = p;
}

static void send_all(struct kunit *test, struct port *p, unsigned int flow)
{
	struct inc_requester *r = &p->r[flow];
	enum inc_requester_kind kind;
	struct packet packet = { .at = p->now, .flow = flow };

	while (inc_requester_push(r) || r->next != r->max)
		if (inc_requester_next(r, p->now, INC_REQ_MORE, &packet.psn,
				       &packet.ackreq, &kind))
			put(test, &p->queue, packet);
		else
			break;
}

static void take_acks(struct kunit *test, struct port *p)
{
	struct packet ack;

	while (p->acks.head != p->acks.tail) {
		ack = p->acks.packet[p->acks.head % QUEUED];
		if (ack.at + p->delay > p->now)
			break;
		p->acks.head++;
		ack.at = p->now;
		if (ack.flow == FLOWS)
			put(test, &p->queue, ack);
		else if (ack.ackreq)
			inc_requester_ack(&p->r[ack.flow], ack.psn, p->now);
	}
}

/* Let time pass. As rxe does, all acknowledge packets with AckReq only. */
static void pass(struct kunit *test, struct port *p, u64 time)
{
	struct packet packet;

	for (u64 end = p->now + time; p->now < end; p->now += p->serial) {
		take_acks(test, p);
		for (unsigned int i = 0; i < p->n; i++) {
			inc_requester_timeout(&p->r[i], p->now);
			send_all(test, p, i);
		}
		if (p->queue.head == p->queue.tail) {
			p->idle++;
			continue;
		}
		packet = p->queue.packet[p->queue.head++ % QUEUED];
		if (packet.flow < FLOWS)
			p->sent[packet.flow]++;
		packet.at = p->now;
		put(test, &p->acks, packet);
	}
}

static struct port *new_port(struct kunit *test, u32 serial, u32 delay)
{
	struct port *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);

	if (p)
		*p = (struct port) { .serial = serial, .delay = delay, .now = START };
	return p;
}

/* A flow begins, and finds the queue of those that are there. */
static void join(struct port *p)
{
	struct inc_requester *r = &p->r[p->n];

	inc_requester_init(r, p->ring[p->n++], INC_PATH_MAX, 0);
	inc_requester_tune(r, 128, 4000, 10000000);
}

/* Let time pass, and watch the longest queue. */
static u32 longest(struct kunit *test, struct port *p, u64 time)
{
	u32 most = 0;

	memset(p->sent, 0, sizeof(p->sent));
	p->idle = 0;
	for (u64 end = p->now + time; p->now < end;) {
		pass(test, p, 10000);
		most = max(most, p->queue.tail - p->queue.head);
	}
	return most;
}

/* One flow alone fills its link, whatever the delay, and little of a queue. */
static void alone(struct kunit *test)
{
	static const u32 delays[] = { 50, 1000, 10000 };

	for (size_t i = 0; i < ARRAY_SIZE(delays); i++) {
		struct port *p = new_port(test, 430, delays[i]);
		u32 most;

		KUNIT_ASSERT_NOT_NULL(test, p);
		join(p);
		pass(test, p, 2 * PERIOD + PERIOD / 2);
		most = longest(test, p, 4 * PERIOD);
		KUNIT_EXPECT_LE_MSG(test, p->r[0].path.window,
				    (delays[i] + 2 * QUEUE) / p->serial + 2 * SPARE,
				    "delay %u", delays[i]);
		KUNIT_EXPECT_LE_MSG(test, most, p->r[0].path.window + SPARE,
				    "delay %u", delays[i]);
		/* Three of a hundred, in which the path is measured anew. */
		KUNIT_EXPECT_LE_MSG(test, p->idle, 4 * PERIOD / p->serial * 3 / 100,
				    "delay %u", delays[i]);
	}
}

/*
 * Flows that begin one after the other, and find the queue of those before, and what
 * others keep in it: after some periods all get the same, and the queue is short.
 */
static void share(struct kunit *test, u32 serial, u32 foreign)
{
	struct port *p = new_port(test, serial, 500);
	u32 least = U32_MAX, most = 0, queue;

	KUNIT_ASSERT_NOT_NULL(test, p);
	for (u32 i = 0; i < foreign; i++)
		put(test, &p->queue, (struct packet) { .flow = FLOWS });
	for (int i = 0; i < FLOWS; i++) {
		join(p);
		pass(test, p, 100000);
	}
	pass(test, p, 12 * PERIOD + PERIOD / 2);
	queue = longest(test, p, 4 * PERIOD);
	for (int i = 0; i < FLOWS; i++) {
		least = min(least, p->sent[i]);
		most = max(most, p->sent[i]);
	}
	KUNIT_EXPECT_LE_MSG(test, most, least + least / 4, "serial %u, foreign %u",
			    serial, foreign);
	KUNIT_EXPECT_LE_MSG(test, queue, 2 * foreign + FLOWS * 8 + QUEUE / serial,
			    "serial %u, foreign %u", serial, foreign);
	KUNIT_EXPECT_LE(test, p->idle, 4 * PERIOD / serial / 100);
}

static void shared(struct kunit *test)
{
	share(test, 430, 0);
	share(test, 430, 40);
	share(test, 100, 0);
	share(test, 100, 40);
}

/* A path that has become longer is measured anew. */
static void changes(struct kunit *test)
{
	struct port *p = new_port(test, 430, 500);

	KUNIT_ASSERT_NOT_NULL(test, p);
	join(p);
	pass(test, p, PERIOD);
	p->delay = 30000;
	pass(test, p, 4 * PERIOD);
	longest(test, p, 4 * PERIOD);
	KUNIT_EXPECT_LE(test, p->idle, 4 * PERIOD / p->serial * 6 / 100);
	p->delay = 500;
	pass(test, p, 2 * PERIOD);
	KUNIT_EXPECT_LE(test, longest(test, p, 4 * PERIOD), 40U);
}

/* Whatever is measured, the window is between one packet and the largest. */
static void bounds(struct kunit *test)
{
	struct inc_rng rng;
	struct inc_path p;
	u64 now = START;

	inc_rng_init(&rng, test);
	inc_path_init(&p);
	for (int i = 0; i < 100000; i++) {
		u32 rtt = inc_rnd_below(&rng, 1U << inc_rnd_below(&rng, 31));

		now += rtt;
		inc_path_measured(&p, 1 + inc_rnd_below(&rng, 512), rtt, now);
		KUNIT_ASSERT_GE(test, p.window, 1);
		KUNIT_ASSERT_LE(test, p.window, INC_PATH_MAX);
	}
}

static struct kunit_case path_cases[] = {
	KUNIT_CASE(fresh),
	KUNIT_CASE(fast),
	KUNIT_CASE(idle),
	KUNIT_CASE(alone),
	KUNIT_CASE(shared),
	KUNIT_CASE(changes),
	KUNIT_CASE(bounds),
	{}
};

static struct kunit_suite path_suite = {
	.name = "rdma_inc_path",
	.test_cases = path_cases,
};

kunit_test_suite(path_suite);
MODULE_LICENSE("GPL");
