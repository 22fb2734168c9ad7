// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The window on simulated paths. Two members send operations of many messages
 * each to a switch, over links with a rate, a delay, a queue and losses. When a
 * message has arrived from both members, the result is sent to both. The switch
 * solicits a lost message when the third packet after it arrives, and the
 * member retransmits it.
 */
#include <stdlib.h>
#include <string.h>

#include "core/bdp.h"
#include "test.h"

#define MIN	64U
#define MAX	1024U
#define SLOTS	1024U
#define FIRST	0xffffff00U
#define EVENTS	16384
#define SECOND	1000000U

/* A path, and the traffic on it. Times in microseconds. */
struct path {
	double		rate;		/* packets per microsecond */
	uint64_t	delay;		/* one way */
	uint32_t	queue;		/* packets */
	double		loss;
	uint64_t	skew;		/* delay of the second member's start */
	uint64_t	nap;		/* interval of polls */
	uint32_t	messages;	/* of an operation */
	uint32_t	window;		/* fixed; 0: none */
};

enum kind { BEGIN, ARRIVES, ASKED, RESULT };

struct event {
	uint64_t	at;
	enum kind	kind;
	unsigned int	member;
	uint32_t	id;
};

struct message {
	uint64_t	sent;
	bool		again;
	bool		open;
};

struct member {
	struct inc_bdp w;
	struct message	ring[SLOTS];
	double		link_free;
	uint32_t	next, high, head, end;
};

static struct {
	struct path	p;
	struct member	m[2];
	struct event	events[EVENTS];
	unsigned int	n;
	unsigned int	came[SLOTS];	/* of members */
	uint64_t	now;
	uint64_t	results, sent, again;
	uint32_t	most;		/* largest window */
} sim;

/* A heap by time. */
static bool sooner(unsigned int a, unsigned int b)
{
	return sim.events[a].at < sim.events[b].at;
}

static void swap(unsigned int a, unsigned int b)
{
	struct event e = sim.events[a];

	sim.events[a] = sim.events[b];
	sim.events[b] = e;
}

static void put(uint64_t at, enum kind kind, unsigned int member, uint32_t id)
{
	unsigned int i = sim.n++;

	if (sim.n > EVENTS) {
		printf("# too many events\n");
		exit(1);
	}
	sim.events[i] = (struct event) { at, kind, member, id };
	for (; i && sooner(i, (i - 1) / 2); i = (i - 1) / 2)
		swap(i, (i - 1) / 2);
}

static struct event get(void)
{
	struct event e = sim.events[0];
	unsigned int i = 0, child;

	swap(0, --sim.n);
	while ((child = 2 * i + 1) < sim.n) {
		if (child + 1 < sim.n && sooner(child + 1, child))
			child++;
		if (!sooner(child, i))
			break;
		swap(child, i);
		i = child;
	}
	return e;
}

static void transmit(unsigned int member, uint32_t id)
{
	struct member *m = &sim.m[member];
	double now = (double)sim.now;
	double start = m->link_free > now ? m->link_free : now;
	bool dropped = (start - now) * sim.p.rate > sim.p.queue;
	uint64_t at;

	sim.sent++;
	if (!dropped)
		m->link_free = start + 1 / sim.p.rate;
	at = (uint64_t)(start + 1 / sim.p.rate) + sim.p.delay;
	if (dropped || rand() < sim.p.loss * RAND_MAX)
		put(at + (uint64_t)(3 / sim.p.rate) + sim.p.delay, ASKED,
		    member, id);
	else
		put(at, ARRIVES, member, id);
}

static void send_more(unsigned int member, bool results_came)
{
	struct member *m = &sim.m[member];

	while (m->next != m->end && m->next - m->high < m->w.now &&
	       m->next - m->head < SLOTS) {
		m->ring[m->next % SLOTS] = (struct message) {
			.sent = sim.now, .open = true,
		};
		transmit(member, m->next++);
		if (results_came && (m->next - m->high >= m->w.now ||
				     m->next - m->head >= SLOTS))
			inc_bdp_filled(&m->w, m->next - 1, sim.now);
	}
}

static void result(unsigned int member, uint32_t id)
{
	struct member *m = &sim.m[member];
	struct message *msg = &m->ring[id % SLOTS];

	msg->open = false;
	sim.results++;
	inc_bdp_done(&m->w, id, msg->again ? 0 : sim.now - msg->sent, sim.now);
	OK(m->w.now >= m->w.min && m->w.now <= m->w.max);
	if (m->w.now > sim.most)
		sim.most = m->w.now;
	if ((int32_t)(id - m->high) >= 0)
		m->high = id + 1;
	while (m->head != m->next && !m->ring[m->head % SLOTS].open)
		m->head++;
	if (m->head == m->end)
		put(sim.now + (member ? sim.p.skew : 0), BEGIN, member, 0);
	else
		send_more(member, true);
}

/* When the member polls next: it finds all results since then. */
static uint64_t seen(uint64_t at)
{
	return sim.p.nap ? (at / sim.p.nap + 1) * sim.p.nap : at;
}

static void take(const struct event *e)
{
	struct member *m = &sim.m[e->member];

	switch (e->kind) {
	case BEGIN:
		m->end += sim.p.messages;
		send_more(e->member, false);
		break;
	case ARRIVES:
		if (++sim.came[e->id % SLOTS] < 2)
			break;
		sim.came[e->id % SLOTS] = 0;
		put(seen(e->at + sim.p.delay), RESULT, 0, e->id);
		put(seen(e->at + sim.p.delay), RESULT, 1, e->id);
		break;
	case ASKED:
		m->ring[e->id % SLOTS].again = true;
		inc_bdp_lost(&m->w);
		sim.again++;
		transmit(e->member, e->id);
		break;
	case RESULT:
		result(e->member, e->id);
		break;
	}
}

static void run(uint64_t time)
{
	uint64_t end = sim.now + time;

	sim.results = sim.sent = sim.again = 0;
	while (sim.events[0].at < end) {
		struct event e = get();

		sim.now = e.at;
		take(&e);
	}
	sim.now = end;
}

static void begin(struct path p)
{
	unsigned int i;

	memset(&sim, 0, sizeof(sim));
	sim.p = p;
	if (!sim.p.messages)
		sim.p.messages = 1U << 30;
	for (i = 0; i < 2; i++) {
		struct member *m = &sim.m[i];

		if (p.window)
			inc_bdp_init(&m->w, p.window, p.window, p.window, 0);
		else
			inc_bdp_init(&m->w, MIN, MIN, MAX, 0);
		m->next = m->high = m->head = m->end = FIRST;
		put(i * p.skew, BEGIN, i, 0);
	}
}

/* Messages done, as a share of what the link can carry. */
static double goodput(uint64_t time)
{
	return (double)sim.results / 2 / (sim.p.rate * (double)time);
}

static double measure(const char *name, struct path p, uint64_t time)
{
	double good;

	begin(p);
	run(2 * SECOND);
	run(time);
	good = goodput(time);
	printf("# %-28s %.3f of the link, window %u and %u, at most %u, %.3f again\n",
	       name, good, sim.m[0].w.now, sim.m[1].w.now, sim.most,
	       (double)sim.again / (double)sim.sent);
	return good;
}

/* 20 Mb/s without delay, and as fast as a CPU: the initial window is enough. */
static void short_path(void)
{
	OK(measure("20 Mb/s",
		   (struct path){ .rate = 0.00227, .delay = 50, .queue = 1000 },
		   5 * SECOND) > 0.98);
	EQ(sim.most, MIN);
	OK(measure("700 Mb/s", (struct path) {
		.rate = 0.08, .delay = 100, .queue = 1000 }, SECOND) > 0.98);
	EQ(sim.most, MIN);
	OK(measure("20 Mb/s, operations", (struct path) {
		.rate = 0.00227, .delay = 50, .queue = 1000, .messages = 1057 },
		5 * SECOND) > 0.98);
	EQ(sim.most, MIN);
}

static void long_path(void)
{
	struct path p = { .rate = 0.0091, .delay = 10000, .queue = 10000 };
	double fixed;

	p.window = MIN;
	fixed = measure("80 Mb/s, 20 ms, fixed", p, 5 * SECOND);
	p.window = 0;
	OK(fixed < 0.4);
	OK(measure("80 Mb/s, 20 ms", p, 5 * SECOND) > 0.98);
	/* At most twice the bandwidth-delay product, 182 packets. */
	OK(sim.most < 400);
	p.nap = 4000;
	OK(measure("... looked at each 4 ms", p, 5 * SECOND) > 0.98);
	OK(sim.most < 500);
	p.messages = 4228;
	OK(measure("... operations of 4 MiB", p, 5 * SECOND) > 0.85);
	OK(sim.most < 500);
	p = (struct path) { .rate = 0.0091, .delay = 100000, .queue = 10000 };
	OK(measure("80 Mb/s, 200 ms", p, 10 * SECOND) > 0.5);
	EQ(sim.most, MAX);
}

/* How soon: it doubles every one or two round trips. */
static void growth(void)
{
	begin((struct path) { .rate = 0.0091, .delay = 10000, .queue = 10000 });
	run(200000);
	OK(sim.m[0].w.now > 250);
	/* An operation shorter than the window measures nothing. */
	begin((struct path) { .rate = 0.0091, .delay = 10000, .queue = 10000,
			      .messages = MIN });
	run(5 * SECOND);
	EQ(sim.most, MIN);
}

/* The first member always waits for the second. */
static void skewed(void)
{
	struct path p = { .rate = 0.00227, .delay = 50, .queue = 1000,
			  .skew = 50000, .messages = 1057 };

	measure("20 Mb/s, a rank late", p, 30 * SECOND);
	OK(sim.most <= 3 * MIN);
	p.skew = 3000;
	p.messages = 100;
	measure("... often", p, 30 * SECOND);
	OK(sim.most <= 3 * MIN);
	p = (struct path) { .rate = 0.0091, .delay = 10000, .queue = 10000,
			    .skew = 30000, .messages = 8000 };
	OK(measure("80 Mb/s, 20 ms, a rank late", p, 10 * SECOND) > 0.85);
	OK(sim.most < 1000);
}

static void random_loss(void)
{
	struct path p = { .rate = 0.0091, .delay = 10000, .queue = 10000 };
	unsigned int loss;

	for (loss = 5; loss <= 20; loss += 5) {
		char name[40];

		p.loss = loss / 100.0;
		snprintf(name, sizeof(name), "80 Mb/s, 20 ms, loss %u %%",
			 loss);
		OK(measure(name, p, 10 * SECOND) > (loss == 5 ? 0.9 : 0.6));
		OK(loss > 10 || sim.m[0].w.now > 220);
	}
	p = (struct path) { .rate = 0.00227, .delay = 50, .queue = 1000,
			    .loss = 0.05 };
	OK(measure("20 Mb/s, loss 5 %", p, 10 * SECOND) > 0.93);
	OK(sim.most <= 2 * MIN);
}

/*
 * The queue drops what exceeds it: the window grows, but less than without
 * losses.
 */
static void shallow_queue(void)
{
	static const struct { uint32_t queue; double good, again; } at[] = {
		{ 16, 0.45, 0.4 }, { 32, 0.55, 0.25 }, { 64, 0.7, 0.2 },
		{ 128, 0.85, 0.15 }, { 256, 0.98, 0.01 },
	};
	struct path p = { .rate = 0.0091, .delay = 10000 };
	unsigned int i;

	for (i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		char name[40];

		p.queue = at[i].queue;
		snprintf(name, sizeof(name), "80 Mb/s, 20 ms, queue of %u",
			 p.queue);
		OK(measure(name, p, 20 * SECOND) > at[i].good);
		OK((double)sim.again < at[i].again * (double)sim.sent);
	}
	p.queue = 64;
	p.loss = 0.05;
	OK(measure("... of 64, loss 5 %", p, 20 * SECOND) > 0.6);
	OK(sim.again < sim.sent / 4);
}

/* A path becomes slower, then fast again. */
static void change(void)
{
	begin((struct path) { .rate = 0.0091, .delay = 10000, .queue = 10000 });
	run(3 * SECOND);
	OK(sim.m[0].w.now > 220);
	sim.p.rate /= 10;
	run(20 * SECOND);
	EQ(sim.m[0].w.now, MIN);
	OK(goodput(20 * SECOND) > 0.95);
	sim.p.rate *= 10;
	run(SECOND);
	run(5 * SECOND);
	OK(goodput(5 * SECOND) > 0.95);
}

/* A window fixed by the user does not change. */
static void fixed(void)
{
	begin((struct path) { .rate = 0.0091, .delay = 10000, .queue = 10000,
			      .loss = 0.3, .window = 100 });
	run(3 * SECOND);
	EQ(sim.m[0].w.now, 100);
	EQ(sim.m[1].w.now, 100);
}

/* Fast results: those of the given time are in flight, up to the limits. */
static void queue(void)
{
	struct inc_bdp w;
	uint32_t id, per_ms;

	for (per_ms = 1; per_ms <= 4; per_ms *= 2) {
		inc_bdp_init(&w, 32, 3, 32, 10000);
		for (id = 0; id < 4000; id++) {
			uint64_t now = 1000000 + (uint64_t)id * 1000 / per_ms;

			/* With a round trip of 0.1 ms. */
			inc_bdp_done(&w, id, id ? 0 : 100, now);
			inc_bdp_filled(&w, id + w.now, now);
		}
		EQ(w.now, per_ms * 10 < 32 ? per_ms * 10 : 32);
		w.queue = 0;
		for (; id < 4400; id++) {
			uint64_t now = 1000000 + (uint64_t)id * 1000 / per_ms;

			inc_bdp_done(&w, id, 0, now);
			inc_bdp_filled(&w, id + w.now, now);
		}
		EQ(w.now, 3);
	}
}

static const struct test_case cases[] = {
	{ "short_path", short_path },
	{ "long_path", long_path },
	{ "growth", growth },
	{ "skewed", skewed },
	{ "random_loss", random_loss },
	{ "shallow_queue", shallow_queue },
	{ "change", change },
	{ "fixed", fixed },
	{ "queue", queue },
};

int main(void)
{
	const char *text = getenv("INC_SEED");
	unsigned int seed = text ? (unsigned int)atoi(text) : 1;

	printf("# INC_SEED=%u\n", seed);
	srand(seed);
	return test_run(cases, (int)(sizeof(cases) / sizeof(cases[0])));
}
