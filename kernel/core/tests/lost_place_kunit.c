// SPDX-License-Identifier: GPL-2.0
/*
 * A requester that has lost its place sends packets again with other PSNs. And the
 * ACKs by which it might.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include "core/lost_place.h"
#include "core/psn.h"
#include "pkt.h"

#define PMTU	256
#define STRIDE	8192
#define SLOTS	16
#define RKEY	0xcafe0001
#define PSN	0xfffffe	/* that wraps */

struct both {
	struct inc_responder	r;
	struct inc_lost_place	p;
};

/* One at a time: it has the only memory. */
static struct both fresh(void)
{
	static u16 said[INC_PLACE_PSNS];
	struct both b = {
		.p.said = said,
		.r = {
			.epsn = PSN, .rkey = RKEY, .stride = STRIDE,
			.slots = SLOTS, .pmtu = PMTU,
		},
	};

	memset(said, 0, sizeof(said));
	return b;
}

/* Packet @at of the @n of message @id, with the PSN that is @psn after PSN. */
static struct inc_pkt part(u32 psn, u32 id, unsigned int at, unsigned int n)
{
	struct inc_pkt pkt = test_pkt(n == 1 ? OP_ONLY_IMM : !at ? OP_FIRST :
				      at == n - 1 ? OP_LAST_IMM : OP_MIDDLE,
				      inc_psn_add(PSN, psn), PMTU, n * PMTU);

	pkt.rkey = RKEY;
	pkt.va = (u64)(id % SLOTS) * STRIDE;
	pkt.imm = id;
	pkt.ackreq = true;
	return pkt;
}

/* The same, with the last packet as a write of its own. */
static struct inc_pkt part_of_two(u32 psn, u32 id, unsigned int at,
				  unsigned int n)
{
	struct inc_pkt pkt = part(psn, id, at, n - 1);

	if (at < n - 2)
		return pkt;
	if (at == n - 1) {
		pkt = part(psn, id, 0, 1);
		pkt.va += at * PMTU;
		return pkt;
	}
	pkt.opcode = at ? OP_LAST : OP_ONLY;
	pkt.flags = test_flags(pkt.opcode);
	return pkt;
}

static struct inc_pkt remnant(u32 psn, u32 id)
{
	struct inc_pkt pkt = part(psn, id, 0, 1);

	pkt.dmalen = 0;
	pkt.payload_len = 0;
	return pkt;
}

enum { ACCEPT = 10, LOST, DUP, AHEAD, REFUSE, AGAIN, STRANGE };

static int give(struct both *b, struct inc_pkt pkt)
{
	enum inc_responder_verdict v = inc_responder_check(&b->r, &pkt);

	if (v == INC_RESP_STRANGE)
		return STRANGE;
	if (inc_place_contradicts(&b->p, &b->r, &pkt, v))
		return LOST;
	switch (v) {
	case INC_RESP_NEW:
		if (inc_place_asks_again(&b->p, &pkt))
			return AGAIN;
		inc_place_note(&b->p, &b->r, &pkt);
		inc_responder_accept(&b->r, &pkt);
		return ACCEPT;
	case INC_RESP_DUP:
		return DUP;
	case INC_RESP_OOO:
		return AHEAD;
	case INC_RESP_STRANGE:
	case INC_RESP_INVALID:
	case INC_RESP_ACCESS:
		break;
	}
	return REFUSE;
}

#define GIVE(b, pkt, want) KUNIT_EXPECT_EQ(test, give(b, pkt), (int)(want))

/* Messages 1 of three packets and 2 of one, and @n of the four of message 3. */
static struct both begun(struct kunit *test, unsigned int n)
{
	struct both b = fresh();

	for (unsigned int i = 0; i < 3; i++)
		GIVE(&b, part(i, 1, i, 3), ACCEPT);
	GIVE(&b, part(3, 2, 0, 1), ACCEPT);
	for (unsigned int i = 0; i < n; i++)
		GIVE(&b, part(4 + i, 3, i, 4), ACCEPT);
	return b;
}

/* Packets of a requester that keeps its place, any number of times. */
static void same_again(struct kunit *test)
{
	struct both b = begun(test, 2);

	for (int round = 0; round < 2; round++) {
		for (unsigned int i = 0; i < 3; i++)
			GIVE(&b, part(i, 1, i, 3), DUP);
		GIVE(&b, part(3, 2, 0, 1), DUP);
		GIVE(&b, part(4, 3, 0, 4), DUP);
		GIVE(&b, part(5, 3, 1, 4), DUP);
	}
	GIVE(&b, part(6, 3, 2, 4), ACCEPT);
}

static void remnant_shows(struct kunit *test)
{
	struct both b = begun(test, 2);

	GIVE(&b, remnant(3, 1), LOST);
	/* Has the expected PSN. */
	b = fresh();
	for (unsigned int i = 0; i < 3; i++)
		GIVE(&b, part(i, 1, i, 3), ACCEPT);
	GIVE(&b, remnant(3, 1), LOST);
}

/* The remnant is lost: packets after it, or its message whole, show it. */
static void what_follows_shows(struct kunit *test)
{
	struct both b = begun(test, 2);

	GIVE(&b, part(4, 2, 0, 1), LOST);	/* another message's place */
	GIVE(&b, part(5, 3, 0, 4), LOST);	/* the middle of one */
	GIVE(&b, part(6, 3, 0, 4), LOST);	/* the one in progress */
	GIVE(&b, part(3, 1, 0, 3), LOST);
	/* The packet has moved beyond the PSNs remembered. */
	GIVE(&b, part(3 - INC_PLACE_PSNS, 3, 0, 4), DUP);
}

/* A packet without a key is not believed; at the expected PSN it is refused. */
static void no_key(struct kunit *test)
{
	struct both b = begun(test, 0);
	struct inc_pkt pkt = remnant(3, 1);

	GIVE(&b, part(3, 1, 1, 3), DUP);
	GIVE(&b, part(4, 1, 2, 3), REFUSE);
	pkt.rkey++;
	GIVE(&b, pkt, DUP);
	pkt = part(2, 3, 0, 4);
	pkt.rkey++;
	GIVE(&b, pkt, STRANGE);
}

/* Empty writes that are no remnants. */
static void signs_of_life(struct kunit *test)
{
	struct both b = fresh();
	struct inc_pkt pkt = remnant(0, 1);

	GIVE(&b, pkt, ACCEPT);
	GIVE(&b, pkt, DUP);
	for (unsigned int i = 0; i < 3; i++)
		GIVE(&b, part(1 + i, 1, i, 3), ACCEPT);
	pkt = remnant(4, 1);
	pkt.opcode = OP_ONLY;
	pkt.flags = test_flags(OP_ONLY);
	GIVE(&b, pkt, ACCEPT);
	GIVE(&b, remnant(5, 1), ACCEPT);	/* not behind its message */
	GIVE(&b, part(6, 2, 0, 1), ACCEPT);
	GIVE(&b, remnant(7, 2), ACCEPT);	/* of one packet */
	GIVE(&b, part(8, 3, 0, 2), ACCEPT);
	GIVE(&b, part(9, 3, 1, 2), ACCEPT);
	pkt = remnant(10, 3);
	pkt.va += STRIDE;
	GIVE(&b, pkt, ACCEPT);
}

static u32 named(struct both *b, u32 psn)
{
	return (inc_place_ack_psn(&b->p, &b->r, inc_psn_add(PSN, psn)) - PSN) &
	       INC_PSN_MASK;
}

/* The end of a write of several packets is named by later packets. */
static void names(struct kunit *test)
{
	struct both b = begun(test, 0);

	KUNIT_EXPECT_EQ(test, named(&b, 1), 1U);
	KUNIT_EXPECT_EQ(test, named(&b, 2), 3U);
	KUNIT_EXPECT_EQ(test, named(&b, 3), 3U);
	KUNIT_EXPECT_TRUE(test, inc_place_may_queue(&b.p));
	for (unsigned int i = 0; i < 4; i++)
		GIVE(&b, part(4 + i, 3, i, 4), ACCEPT);
	KUNIT_EXPECT_TRUE(test, inc_place_ends_write(&b.p, &b.r,
						     inc_psn_add(PSN, 7)));
	b.r.ooo_queued = true;
	KUNIT_EXPECT_EQ(test, named(&b, 7), 6U);
	KUNIT_EXPECT_TRUE(test, inc_place_may_queue(&b.p));
	b.r.ooo_queued = false;
	KUNIT_EXPECT_EQ(test, named(&b, 7), 7U);
	KUNIT_EXPECT_FALSE(test, inc_place_may_queue(&b.p));
	/* Until so much has arrived that a later ACK has. */
	for (unsigned int i = 8; i < 138; i++) {
		KUNIT_EXPECT_FALSE(test, inc_place_may_queue(&b.p));
		GIVE(&b, part(i, i, 0, 1), ACCEPT);
	}
	GIVE(&b, part(138, 138, 0, 1), ACCEPT);
	KUNIT_EXPECT_TRUE(test, inc_place_may_queue(&b.p));
}

/* The last packet as a write of its own: the first write's end is never named. */
static void in_two(struct kunit *test)
{
	struct both b = fresh();

	for (unsigned int i = 0; i < 3; i++)
		GIVE(&b, part_of_two(i, 1, i, 4), ACCEPT);
	KUNIT_EXPECT_TRUE(test, b.r.tail_due && b.r.in_msg);
	KUNIT_EXPECT_EQ(test, named(&b, 2), 1U);
	GIVE(&b, part_of_two(4, 2, 0, 2), AHEAD);
	GIVE(&b, part_of_two(3, 1, 3, 4), ACCEPT);
	KUNIT_EXPECT_FALSE(test, b.r.tail_due || b.r.in_msg);
	KUNIT_EXPECT_EQ(test, named(&b, 2), 3U);
	KUNIT_EXPECT_EQ(test, named(&b, 3), 3U);
	KUNIT_EXPECT_EQ(test, b.r.done, 4U * PMTU);
	for (unsigned int i = 0; i < 4; i++)
		GIVE(&b, part_of_two(i, 1, i, 4), DUP);
	GIVE(&b, part_of_two(4, 2, 0, 2), ACCEPT);
	GIVE(&b, part_of_two(5, 2, 1, 2), ACCEPT);
	KUNIT_EXPECT_EQ(test, named(&b, 4), 4U);
	KUNIT_EXPECT_TRUE(test, inc_place_may_queue(&b.p));
	KUNIT_EXPECT_EQ(test, b.r.msn, 4U);
}

/* Message 1 of three packets, its end named, and @n of the five of message 2. */
static struct both risky(struct kunit *test, unsigned int n)
{
	struct both b = fresh();

	for (unsigned int i = 0; i < 3; i++)
		GIVE(&b, part(i, 1, i, 3), ACCEPT);
	KUNIT_EXPECT_EQ(test, named(&b, 2), 2U);
	for (unsigned int i = 0; i < n; i++)
		GIVE(&b, part(3 + i, 2, i, 5), ACCEPT);
	return b;
}

/*
 * The remnant and FIRST are lost, packets that have moved fill the gap, and LAST
 * as it was sent before is late and fits.
 */
static void late_end(struct kunit *test)
{
	struct both b = risky(test, 2);

	GIVE(&b, part(6, 2, 3, 5), AHEAD);
	GIVE(&b, part(5, 2, 1, 5), ACCEPT);	/* moved by one */
	GIVE(&b, part(6, 2, 2, 5), ACCEPT);
	GIVE(&b, part(7, 2, 4, 5), AGAIN);	/* late */
	GIVE(&b, part(7, 2, 3, 5), LOST);	/* asked for */
}

/* The same without a gap: the duplicate shows that it has gone back. */
static void late_end_again(struct kunit *test)
{
	struct both b = risky(test, 3);

	GIVE(&b, part(5, 2, 1, 5), DUP);
	GIVE(&b, part(6, 2, 2, 5), ACCEPT);
	GIVE(&b, part(7, 2, 4, 5), AGAIN);
	GIVE(&b, part(7, 2, 3, 5), LOST);
}

/* A requester that keeps its place sends the end once more, and once only. */
static void end_again(struct kunit *test)
{
	struct both b = risky(test, 2);

	GIVE(&b, part(6, 2, 3, 5), AHEAD);
	GIVE(&b, part(5, 2, 2, 5), ACCEPT);
	GIVE(&b, part(6, 2, 3, 5), ACCEPT);
	GIVE(&b, part(7, 2, 4, 5), AGAIN);
	GIVE(&b, part(8, 3, 0, 1), AHEAD);
	GIVE(&b, part(6, 2, 3, 5), DUP);
	GIVE(&b, part(7, 2, 4, 5), ACCEPT);
	GIVE(&b, part(8, 3, 0, 1), ACCEPT);
	/* Nothing without a key has filled the gap. */
	b = risky(test, 4);
	GIVE(&b, part(8, 3, 0, 1), AHEAD);
	GIVE(&b, part(7, 2, 4, 5), ACCEPT);
	GIVE(&b, part(8, 3, 0, 1), ACCEPT);
	/* No end was named. */
	b = begun(test, 2);
	GIVE(&b, part(7, 3, 3, 4), AHEAD);
	GIVE(&b, part(6, 3, 2, 4), ACCEPT);
	GIVE(&b, part(7, 3, 3, 4), ACCEPT);
}

static struct kunit_case lost_place_cases[] = {
	KUNIT_CASE(same_again),
	KUNIT_CASE(remnant_shows),
	KUNIT_CASE(what_follows_shows),
	KUNIT_CASE(no_key),
	KUNIT_CASE(signs_of_life),
	KUNIT_CASE(names),
	KUNIT_CASE(in_two),
	KUNIT_CASE(late_end),
	KUNIT_CASE(late_end_again),
	KUNIT_CASE(end_again),
	{}
};

static struct kunit_suite lost_place_suite = {
	.name = "rdma_inc_lost_place",
	.test_cases = lost_place_cases,
};

kunit_test_suite(lost_place_suite);

MODULE_LICENSE("GPL");
