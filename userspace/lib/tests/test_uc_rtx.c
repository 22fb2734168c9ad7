// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Retransmission over UC: when to query which message, and how many may be in
 * flight.
 */
#include <stdlib.h>

#include "core/uc_rtx.h"
#include "test.h"

#define ENTRIES	64
#define FIRST	0xfffffff0U
#define RTT	8000U

static struct inc_uc_rtx_msg ring[ENTRIES];
static uint32_t ids[INC_UC_RTX_BURST];
static unsigned int tries;

/*
 * A member with a measured round trip of RTT; the first 16 messages are done.
 */
static struct inc_uc_rtx settled(uint64_t *now)
{
	struct inc_uc_rtx r;
	uint32_t i;

	inc_uc_rtx_init(&r, ring, ENTRIES, FIRST, 7);
	*now = 1000000;
	for (i = 0; i < 64; i++) {
		inc_uc_rtx_sent(&r, *now);
		*now += RTT;
		OK(inc_uc_rtx_done(&r, FIRST + i, *now));
	}
	OK(r.srtt > RTT - 100 && r.srtt < RTT + 100);
	return r;
}

static void window(void)
{
	struct inc_uc_rtx r;
	unsigned int i;

	inc_uc_rtx_init(&r, ring, ENTRIES, FIRST, 7);
	for (i = 0; i < 8; i++) {
		OK(inc_uc_rtx_may_send(&r, 8));
		inc_uc_rtx_sent(&r, 1000);
	}
	OK(!inc_uc_rtx_may_send(&r, 8));
	/* A gap at the head: only the ring is a limit. */
	for (i = 8; i < ENTRIES; i++) {
		OK(inc_uc_rtx_done(&r, FIRST + i - 7, 2000));
		OK(inc_uc_rtx_may_send(&r, 8));
		inc_uc_rtx_sent(&r, 2000);
	}
	OK(inc_uc_rtx_done(&r, FIRST + ENTRIES - 7, 2000));
	OK(!inc_uc_rtx_may_send(&r, 8));
	EQ(r.head, FIRST);
	OK(inc_uc_rtx_done(&r, FIRST, 3000));
	OK(!inc_uc_rtx_done(&r, FIRST, 3000));
	OK(inc_uc_rtx_may_send(&r, 8));
	EQ(r.head, FIRST + ENTRIES - 6);
}

static void timeout(void)
{
	uint64_t now, sent;
	struct inc_uc_rtx r = settled(&now);
	uint32_t id = r.next;
	unsigned int n = 0, i;

	sent = now;
	inc_uc_rtx_sent(&r, now);
	EQ(inc_uc_rtx_due(&r, now + RTT, ids, &tries), 0);
	EQ(inc_uc_rtx_due(&r, now + 2 * RTT - 100, ids, &tries), 0);
	/* Queried repeatedly, with growing intervals. */
	for (i = 0; i < 8; i++) {
		while (!inc_uc_rtx_due(&r, now, ids, &tries))
			now += 100;
		EQ(ids[0], id);
		EQ(tries, n++);
	}
	OK(now - sent > 16 * RTT);
	/* "Wait" counts as an answer. */
	inc_uc_rtx_pending(&r, id, now);
	while (!inc_uc_rtx_due(&r, now, ids, &tries))
		now += 100;
	EQ(tries, 0);
	OK(inc_uc_rtx_done(&r, id, now));
	EQ(inc_uc_rtx_due(&r, now + 10000000, ids, &tries), 0);
}

static void again(void)
{
	uint64_t now;
	struct inc_uc_rtx r = settled(&now);
	uint32_t id = r.next;

	OK(!inc_uc_rtx_resend(&r, id, now));
	inc_uc_rtx_sent(&r, now);
	OK(inc_uc_rtx_resend(&r, id, now + RTT));
	/* The same status twice. */
	OK(!inc_uc_rtx_resend(&r, id, now + RTT + 100));
	OK(inc_uc_rtx_resend(&r, id, now + 3 * RTT));
	OK(inc_uc_rtx_done(&r, id, now + 4 * RTT));
	OK(!inc_uc_rtx_resend(&r, id, now + 9 * RTT));
	/* Not measured: it is unknown which transmission was answered. */
	OK(r.srtt < RTT + 100);
}

/*
 * Round trips get much longer than the timeout, so that each message is queried,
 * and is pending, before its result comes: they are measured all the same. An
 * answer to a query is not.
 */
static void longer(void)
{
	const uint32_t longer = 8 * RTT;
	uint64_t now, sent;
	struct inc_uc_rtx r = settled(&now);
	unsigned int queries, i;
	uint32_t id, was;

	for (i = 0; i < 1024; i++) {
		id = r.next;
		sent = now;
		inc_uc_rtx_sent(&r, now);
		for (queries = 0; now < sent + longer; now += 500) {
			if (!inc_uc_rtx_due(&r, now, ids, &tries))
				continue;
			queries++;
			if (i % 2)
				inc_uc_rtx_pending(&r, id, now);
		}
		was = r.srtt;
		OK(inc_uc_rtx_done(&r, id, now));
		OK(i % 2 || !queries || r.srtt == was);
	}
	OK(r.srtt > longer / 2 && r.srtt < longer + 1000);
}

static void mark(void)
{
	uint64_t now;
	struct inc_uc_rtx r = settled(&now);
	uint32_t id = r.next;
	unsigned int i;

	for (i = 0; i < 4; i++)
		inc_uc_rtx_sent(&r, now);
	now += RTT;
	OK(inc_uc_rtx_done(&r, id + 3, now));
	inc_uc_rtx_mark(&r, id + 2, now);
	EQ(inc_uc_rtx_due(&r, now, ids, &tries), 0);
	/*
	 * Half a round trip later: messages before the mark, long before a
	 * timeout.
	 */
	EQ(inc_uc_rtx_due(&r, now + RTT / 2, ids, &tries), 2);
	EQ(ids[0], id);
	EQ(ids[1], id + 1);
	/* A mark beyond what was sent, and an old one. */
	inc_uc_rtx_mark(&r, id + 1000, now);
	inc_uc_rtx_mark(&r, id - 1000, now);
	EQ(inc_uc_rtx_due(&r, now + RTT, ids, &tries), 1);
	EQ(ids[0], id + 2);
}

/* A query is lost: messages sent after it are answered. */
static void overtaken(void)
{
	uint64_t now;
	struct inc_uc_rtx r = settled(&now);
	uint32_t id = r.next;

	inc_uc_rtx_sent(&r, now);
	inc_uc_rtx_sent(&r, now);
	inc_uc_rtx_sent(&r, now);
	now += RTT;
	OK(inc_uc_rtx_done(&r, id + 1, now));
	OK(inc_uc_rtx_resend(&r, id, now));
	now += 2000;
	inc_uc_rtx_sent(&r, now);
	now += RTT / 2;
	EQ(inc_uc_rtx_due(&r, now, ids, &tries), 0);
	OK(inc_uc_rtx_done(&r, id + 3, now));
	EQ(inc_uc_rtx_due(&r, now + RTT / 2, ids, &tries), 1);
	EQ(ids[0], id);
	/* But not if the switch waits for other ranks. */
	inc_uc_rtx_pending(&r, id, now + RTT / 2);
	EQ(inc_uc_rtx_due(&r, now + RTT / 2 + 1500, ids, &tries), 0);
}

static void burst(void)
{
	uint64_t now;
	struct inc_uc_rtx r = settled(&now);
	unsigned int i, n, sum = 0;

	for (i = 0; i < 3 * INC_UC_RTX_BURST; i++)
		inc_uc_rtx_sent(&r, now);
	for (i = 0; i < 200 && sum < 3 * INC_UC_RTX_BURST; i++) {
		now += 1000;
		n = inc_uc_rtx_due(&r, now, ids, &tries);
		OK(n <= INC_UC_RTX_BURST);
		sum += n;
		while (n--)
			OK(inc_uc_rtx_done(&r, ids[n], now));
	}
	EQ(sum, 3 * INC_UC_RTX_BURST);
	EQ(r.head, r.next);
}

/*
 * The last messages of a stream are lost, whose round trips were long because of
 * a queue: they are queried soon after the last result, and again, until a new
 * message is sent.
 */
static void tail(void)
{
	uint64_t now, last;
	struct inc_uc_rtx r = settled(&now);
	uint32_t id = r.next, i;
	unsigned int n;

	for (i = 0; i < 3 * ENTRIES; i++) {
		inc_uc_rtx_sent(&r, now + i);
		OK(inc_uc_rtx_done(&r, id + i, now + i + 10 * RTT));
	}
	OK(r.srtt > 9 * RTT);
	id = r.next;
	for (i = 0; i < INC_UC_RTX_BURST + 4; i++)
		inc_uc_rtx_sent(&r, now + 11 * RTT + i);
	last = now + 15 * RTT;
	OK(inc_uc_rtx_done(&r, id, last));
	OK(inc_uc_rtx_done(&r, id + 2, last));
	EQ(inc_uc_rtx_due(&r, last + 2 * RTT - 1, ids, &tries), 0);
	now = last + 2 * RTT + 2 * RTT / 8;
	OK(r.next_due <= now);
	EQ(inc_uc_rtx_due(&r, now, ids, &tries), INC_UC_RTX_BURST);
	EQ(ids[0], id + 1);
	EQ(ids[1], id + 3);
	inc_uc_rtx_pending(&r, id + 1, now + RTT);
	/* Those that were too many, and those whose query was lost. */
	for (n = 0; n < 16; now += 100)
		n += inc_uc_rtx_due(&r, now, ids, &tries);
	OK(r.ring[(r.next - 2) & r.mask].again);
	OK(r.ring[(r.next - 1) & r.mask].again);
	OK(now < last + 5 * RTT);
	OK(r.probing);
	for (i = 0; i < INC_UC_RTX_BURST + 4; i++)
		inc_uc_rtx_done(&r, id + i, now);
	OK(r.probing);
	inc_uc_rtx_sent(&r, now);
	OK(inc_uc_rtx_done(&r, id + i, now + RTT));
	OK(!r.probing);
}

/*
 * A message every 25 ms, longer than the path may be silent, over a path that is
 * dead: no message's tries are used up sooner than if nothing else was sent.
 */
static void dripping(void)
{
	uint64_t now, start, send;
	struct inc_uc_rtx r = settled(&now);
	unsigned int most = 0;

	send = start = now;
	for (; most < 20 && now < start + 10000000; now += 200) {
		if (now >= send && r.next - r.head < ENTRIES / 2) {
			inc_uc_rtx_sent(&r, now);
			send += 25000;
		}
		inc_uc_rtx_due(&r, now, ids, &tries);
		if (tries > most)
			most = tries;
	}
	printf("# %u queries in vain in %u ms\n", most,
	       (unsigned int)(now - start) / 1000);
	EQ(most, 20);
	OK(now - start >= 1900000);
}

/* The first round trip is long: it is the shortest, until there is another. */
static void distant(void)
{
	const uint32_t distant = 10 * RTT;
	struct inc_uc_rtx r;

	inc_uc_rtx_init(&r, ring, ENTRIES, FIRST, 7);
	inc_uc_rtx_sent(&r, 1000000);
	inc_uc_rtx_sent(&r, 1000001);
	OK(inc_uc_rtx_done(&r, FIRST, 1000000 + distant));
	EQ(r.min_rtt, distant);
	/* Silence begins with this result, the first whose time is known. */
	OK(r.probe_at > 1000000 + 2 * distant);
	OK(inc_uc_rtx_done(&r, FIRST + 1, 1000001 + distant));
	inc_uc_rtx_sent(&r, 2000000);
	OK(inc_uc_rtx_done(&r, FIRST + 2, 2000000 + RTT));
	EQ(r.min_rtt, RTT);
}

/* A rank computes for ten seconds: others ask a few times, and then seldom. */
static void late_rank(void)
{
	uint64_t now, start;
	struct inc_uc_rtx r = settled(&now);
	unsigned int n, i, sum = 0;

	for (i = 0; i < ENTRIES / 2; i++)
		inc_uc_rtx_sent(&r, now);
	for (start = now; now < start + 10000000; now += 500) {
		n = inc_uc_rtx_due(&r, now, ids, &tries);
		sum += n;
		while (n--)
			inc_uc_rtx_pending(&r, ids[n], now);
	}
	printf("# %u queries of %u messages\n", sum, i);
	OK(sum >= 10 * i && sum < 100 * i);
}

static void seed_rand(void)
{
	const char *given = getenv("INC_SEED");
	unsigned int seed = given ? (unsigned int)atoi(given) : 1;

	printf("# INC_SEED=%u\n", seed);
	srand(seed);
}

/*
 * Messages and queries are lost at random, with a constant round trip: every
 * message completes, and only lost messages are queried.
 */
static void random_loss(void)
{
	unsigned int loss, asked;
	uint64_t now;

	seed_rand();
	for (loss = 0; loss <= 30; loss += 10) {
		struct inc_uc_rtx r = settled(&now);
		uint64_t due[ENTRIES] = { 0 };
		uint32_t end = r.next + 5000, id;
		unsigned int n, ms = 0;

		asked = 0;
		while (r.head != end && ms++ < 1000000) {
			now += 500;
			for (id = r.head; id != r.next; id++)
				if (inc_uc_rtx_is_open(&r, id) &&
				    due[id % ENTRIES] &&
				    due[id % ENTRIES] <= now)
					inc_uc_rtx_done(&r, id, now);
			while (r.next != end && inc_uc_rtx_may_send(&r, 16)) {
				bool lost = rand() % 100 < (int)loss;

				due[r.next % ENTRIES] = lost ? 0 : now + RTT;
				inc_uc_rtx_sent(&r, now);
			}
			n = inc_uc_rtx_due(&r, now, ids, &tries);
			asked += n;
			while (n--)
				if (!due[ids[n] % ENTRIES] &&
				    rand() % 100 >= (int)loss)
					due[ids[n] % ENTRIES] = now + RTT;
		}
		EQ(r.head, end);
		OK(loss ? asked > 5000 * loss / 100 / 2 : !asked);
		OK(asked < 5000 * loss / 100 * 3 + 1);
	}
}

/* One way of the Gilbert-Elliott channel of "tc netem loss gemodel". */
static bool lost_in_burst(bool *bad)
{
	*bad = *bad ? rand() % 100 >= 20 : rand() % 100 < 1;
	return rand() % 1000 < (*bad ? 900 : 1);
}

/*
 * A lone message is lost at the beginning of a burst, which ends with packets
 * and not with time. Both ways have bursts.
 */
static void gilbert(void)
{
	unsigned int run, i, most = 0, packets = 0;
	uint64_t now;

	seed_rand();
	for (run = 0; run < 200000; run++) {
		struct inc_uc_rtx r = settled(&now);
		bool there = true, back = rand() % 21 == 0, answered = false;
		uint32_t id = r.next;

		inc_uc_rtx_sent(&r, now);
		while (!answered) {
			do
				now = r.next_due;
			while (!inc_uc_rtx_due(&r, now, ids, &tries));
			EQ(ids[0], id);
			if (tries > most)
				most = tries;
			for (i = inc_uc_rtx_copies(&r, id); i; i--, packets++)
				answered |= !lost_in_burst(&there) &&
					    !lost_in_burst(&back);
		}
	}
	printf("# at most %u queries in vain, %u packets\n", most, packets);
	OK(most > 4);
	OK(most < 20);
	OK(packets < 6 * run);
}

static const struct test_case cases[] = {
	{ "window", window },
	{ "timeout", timeout },
	{ "again", again },
	{ "longer", longer },
	{ "mark", mark },
	{ "overtaken", overtaken },
	{ "burst", burst },
	{ "tail", tail },
	{ "dripping", dripping },
	{ "distant", distant },
	{ "late_rank", late_rank },
	{ "random_loss", random_loss },
	{ "gilbert", gilbert },
};

TEST_MAIN(cases)
