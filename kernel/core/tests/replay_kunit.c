// SPDX-License-Identifier: GPL-2.0
/*
 * A requester that has lost its place: what has arrived comes again with other
 * PSNs. The numbers are those that a stock rxe was seen to send.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>
#include <uapi/linux/rdma_inc_proto.h>

#include "core/psn.h"
#include "core/replay.h"
#include "pkt.h"

#define PMTU	256
#define STRIDE	8192
#define SLOTS	16
#define RKEY	0xcafe0001
#define PSN	0xfffffe	/* that wraps */

struct both {
	struct inc_responder	r;
	struct inc_replay	p;
};

static struct both fresh(void)
{
	struct both b = {
		.r = {
			.epsn = PSN, .rkey = RKEY, .stride = STRIDE,
			.slots = SLOTS, .pmtu = PMTU,
		},
	};

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

static struct inc_pkt remnant(u32 psn, u32 id)
{
	struct inc_pkt pkt = part(psn, id, 0, 1);

	pkt.dmalen = 0;
	pkt.payload_len = 0;
	return pkt;
}

enum { ACCEPT = 10, DISCARD, BACK, DUP, AHEAD, REFUSE };

/* What becomes of a packet, of which the header or Immediate says @place. */
static int give(struct both *b, struct inc_pkt pkt, enum inc_replay_place place)
{
	enum inc_responder_verdict v = inc_responder_check(&b->r, &pkt);

	if (!inc_replay_expected(&b->p, &b->r, &pkt, v)) {
		switch (inc_replay_judge(&b->p, &b->r, &pkt, v, place)) {
		case INC_REPLAY_NONE:
			break;
		case INC_REPLAY_DISCARD:
			inc_replay_discard(&b->p, &b->r, &pkt);
			return DISCARD;
		case INC_REPLAY_GO_BACK:
			b->r.nak_sent = true;
			return BACK;
		}
	}
	switch (v) {
	case INC_RESP_NEW:
		inc_responder_accept(&b->r, &pkt);
		return ACCEPT;
	case INC_RESP_DUP:
		return DUP;
	case INC_RESP_OOO:
	case INC_RESP_OOO_NAK:
		return AHEAD;
	case INC_RESP_INVALID:
	case INC_RESP_ACCESS:
		break;
	}
	return REFUSE;
}

#define GIVE(b, pkt, place, want) \
	KUNIT_EXPECT_EQ(test, give(b, pkt, INC_REPLAY_##place), (int)(want))

/* Messages 1 of three packets and 2 of one, and @n of the four of message 3. */
static struct both begun(struct kunit *test, unsigned int n)
{
	struct both b = fresh();

	for (unsigned int i = 0; i < 3; i++)
		GIVE(&b, part(i, 1, i, 3), UNKNOWN, ACCEPT);
	GIVE(&b, part(3, 2, 0, 1), AFTER, ACCEPT);
	for (unsigned int i = 0; i < n; i++)
		GIVE(&b, part(4 + i, 3, i, 4), UNKNOWN, ACCEPT);
	return b;
}

/* The remnant has the expected PSN: the message comes whole. */
static void whole(struct kunit *test)
{
	struct both b = fresh();

	for (unsigned int i = 0; i < 3; i++)
		GIVE(&b, part(i, 1, i, 3), UNKNOWN, ACCEPT);
	GIVE(&b, remnant(3, 1), LAST, BACK);
	KUNIT_EXPECT_EQ(test, b.r.epsn, inc_psn_add(PSN, 3));
	/* Sent before the RNR NAK arrived, with numbers that will not last. */
	GIVE(&b, part(4, 2, 0, 1), AFTER, AHEAD);
	KUNIT_EXPECT_FALSE(test, inc_replay_may_queue(&b.p));
	GIVE(&b, remnant(3, 1), LAST, BACK);

	GIVE(&b, part(3, 1, 0, 3), LAST, DISCARD);
	GIVE(&b, part(4, 1, 1, 3), UNKNOWN, DISCARD);
	GIVE(&b, part(5, 1, 2, 3), END, DISCARD);
	GIVE(&b, part(6, 2, 0, 1), AFTER, ACCEPT);
	KUNIT_EXPECT_TRUE(test, inc_replay_may_queue(&b.p));
	GIVE(&b, part(7, 3, 0, 4), AFTER, ACCEPT);
	KUNIT_EXPECT_EQ(test, b.r.msn, 2U);
}

/* The remnant is a duplicate, all messages are complete: they come again. */
static void moved(struct kunit *test)
{
	struct both b = begun(test, 4);

	GIVE(&b, remnant(3, 1), BEFORE, DUP);
	GIVE(&b, part(4, 2, 0, 1), BEFORE, DUP);
	for (unsigned int i = 0; i < 3; i++)
		GIVE(&b, part(5 + i, 3, i, 4), UNKNOWN, DUP);
	GIVE(&b, part(8, 3, 3, 4), END, DISCARD);
	GIVE(&b, part(9, 4, 0, 1), AFTER, ACCEPT);
	KUNIT_EXPECT_EQ(test, b.r.msn, 4U);
}

/* A message is in progress: what has arrived of it comes again, then the rest. */
static void in_progress(struct kunit *test)
{
	struct both b = begun(test, 2);

	GIVE(&b, remnant(3, 1), BEFORE, DUP);
	GIVE(&b, part(4, 2, 0, 1), BEFORE, DUP);
	GIVE(&b, part(5, 3, 0, 4), LAST, DUP);
	KUNIT_EXPECT_FALSE(test, inc_replay_may_queue(&b.p));
	GIVE(&b, part(6, 3, 1, 4), UNKNOWN, DISCARD);
	KUNIT_EXPECT_TRUE(test, inc_replay_may_queue(&b.p));
	KUNIT_EXPECT_EQ(test, b.r.done, 2U * PMTU);
	GIVE(&b, part(7, 3, 2, 4), UNKNOWN, ACCEPT);
	GIVE(&b, part(8, 3, 3, 4), END, ACCEPT);
	GIVE(&b, part(9, 4, 0, 1), AFTER, ACCEPT);
}

/* The same, and it moves by more than has arrived of it. */
static void moved_far(struct kunit *test)
{
	struct both b = begun(test, 1);

	GIVE(&b, remnant(3, 1), BEFORE, DUP);
	GIVE(&b, part(3, 1, 0, 3), BEFORE, DUP);
	GIVE(&b, part(4, 1, 1, 3), UNKNOWN, DUP);
	GIVE(&b, part(5, 1, 2, 3), UNKNOWN, DISCARD);
	GIVE(&b, part(6, 2, 0, 1), BEFORE, DISCARD);
	GIVE(&b, part(7, 3, 0, 4), LAST, DISCARD);
	GIVE(&b, part(8, 3, 1, 4), UNKNOWN, ACCEPT);
	GIVE(&b, part(9, 3, 2, 4), UNKNOWN, ACCEPT);
	GIVE(&b, part(10, 3, 3, 4), END, ACCEPT);
}

/* The remnant is lost: a message opens where none did. */
static void remnant_lost(struct kunit *test)
{
	struct both b = begun(test, 3);

	GIVE(&b, part(5, 3, 0, 4), LAST, DUP);
	GIVE(&b, part(6, 3, 1, 4), UNKNOWN, DUP);
	GIVE(&b, part(7, 3, 2, 4), UNKNOWN, DISCARD);
	GIVE(&b, part(8, 3, 3, 4), END, ACCEPT);

	/* So is the message's first packet, but it has just gone back. */
	b = begun(test, 1);
	GIVE(&b, part(3, 2, 0, 1), BEFORE, DUP);
	GIVE(&b, part(5, 3, 0, 4), LAST, DISCARD);
	GIVE(&b, part(6, 3, 1, 4), UNKNOWN, ACCEPT);

	/* What is queued has old numbers if a message comes that has arrived. */
	b = begun(test, 4);
	b.r.ooo_queued = true;
	GIVE(&b, part(8, 1, 0, 3), BEFORE, DISCARD);
	KUNIT_EXPECT_FALSE(test, inc_replay_may_queue(&b.p));

	/* Only one with the right R_Key says so. */
	b = begun(test, 3);
	for (unsigned int i = 0; i < 2; i++) {
		struct inc_pkt pkt = i ? remnant(3, 1) : part(5, 3, 0, 4);

		pkt.rkey++;
		GIVE(&b, pkt, LAST, DUP);
		KUNIT_EXPECT_FALSE(test, b.p.renumbered);
	}
	GIVE(&b, part(7, 3, 3, 4), END, ACCEPT);
}

/* The packet that shows where the message in progress begins is lost. */
static void beginning_lost(struct kunit *test)
{
	struct both b = begun(test, 2);

	GIVE(&b, remnant(3, 1), BEFORE, DUP);
	GIVE(&b, part(6, 3, 1, 4), UNKNOWN, BACK);
	GIVE(&b, part(7, 3, 2, 4), UNKNOWN, AHEAD);
	/* Its end shows it as well. */
	GIVE(&b, part(8, 3, 3, 4), END, AHEAD);
	GIVE(&b, part(6, 3, 1, 4), UNKNOWN, DISCARD);
	GIVE(&b, part(7, 3, 2, 4), UNKNOWN, ACCEPT);
	GIVE(&b, part(8, 3, 3, 4), END, ACCEPT);

	/* All but the end had arrived. */
	b = begun(test, 3);
	GIVE(&b, remnant(3, 1), BEFORE, DUP);
	b.r.epsn = inc_psn_add(PSN, 8);
	GIVE(&b, part(8, 3, 3, 4), END, ACCEPT);
}

/* It loses its place a second time. */
static void twice(struct kunit *test)
{
	struct both b = begun(test, 3);

	GIVE(&b, remnant(3, 1), BEFORE, DUP);
	GIVE(&b, part(4, 2, 0, 1), BEFORE, DUP);
	GIVE(&b, part(5, 3, 0, 4), LAST, DUP);
	GIVE(&b, part(6, 3, 1, 4), UNKNOWN, DUP);
	/* Back to message 1, whole. */
	GIVE(&b, part(3, 1, 0, 3), BEFORE, DUP);
	GIVE(&b, part(4, 1, 1, 3), UNKNOWN, DUP);
	GIVE(&b, part(5, 1, 2, 3), UNKNOWN, DUP);
	GIVE(&b, part(6, 2, 0, 1), BEFORE, DUP);
	GIVE(&b, part(7, 3, 0, 4), LAST, DISCARD);
	GIVE(&b, part(8, 3, 1, 4), UNKNOWN, DISCARD);
	GIVE(&b, part(9, 3, 2, 4), UNKNOWN, DISCARD);
	GIVE(&b, part(10, 3, 3, 4), END, ACCEPT);
}

/* A requester that keeps its place is held to IBTA's rules. */
static void rules(struct kunit *test)
{
	struct inc_pkt pkt;
	struct both b = begun(test, 2);

	GIVE(&b, part(6, 3, 0, 4), LAST, REFUSE);
	/* Duplicates are what they were. */
	GIVE(&b, part(3, 2, 0, 1), BEFORE, DUP);
	GIVE(&b, part(4, 3, 0, 4), LAST, DUP);
	GIVE(&b, part(5, 3, 1, 4), UNKNOWN, DUP);
	KUNIT_EXPECT_FALSE(test, b.p.renumbered);
	GIVE(&b, part(6, 4, 0, 1), AFTER, REFUSE);
	b = begun(test, 0);
	GIVE(&b, part(4, 3, 1, 4), UNKNOWN, REFUSE);
	b = fresh();
	GIVE(&b, part(0, 0, 2, 3), END, REFUSE);

	/* Empty writes that are no remnants. */
	b = begun(test, 4);
	pkt = remnant(8, 3);
	pkt.va += STRIDE;
	GIVE(&b, pkt, LAST, ACCEPT);
	pkt = remnant(9, 3);
	pkt.rkey++;
	GIVE(&b, pkt, LAST, ACCEPT);
	GIVE(&b, remnant(10, 4), AFTER, ACCEPT);
	KUNIT_EXPECT_FALSE(test, b.p.renumbered);
	KUNIT_EXPECT_EQ(test, b.r.msn, 6U);
	b = begun(test, 2);
	GIVE(&b, remnant(6, 3), LAST, REFUSE);
	/* That of a message of one packet: an rxe does not go back within it. */
	b = begun(test, 0);
	GIVE(&b, remnant(4, 2), LAST, DISCARD);
	KUNIT_EXPECT_EQ(test, b.r.msn, 3U);
	GIVE(&b, part(5, 3, 0, 4), AFTER, ACCEPT);

	/* Once it has lost its place, a wrong R_Key is still wrong. */
	b = begun(test, 2);
	GIVE(&b, remnant(3, 1), BEFORE, DUP);
	pkt = part(6, 2, 0, 1);
	pkt.rkey++;
	GIVE(&b, pkt, BEFORE, REFUSE);
}

/* What a packet says; @header: message ID of its header, 0: it has none. */
static enum inc_replay_place says(u8 flags, u32 header, u32 imm, u32 *id)
{
	struct inc_hdr hdr = { .msg_id = cpu_to_be32(header) };
	struct inc_pkt pkt = {
		.flags = flags, .imm = imm,
		.payload_len = header ? sizeof(hdr) : 0,
	};

	return inc_replay_place(&pkt, &hdr, 0x2000001, id);
}

static void place(struct kunit *test)
{
	const u8 last = INC_PKT_LAST | INC_PKT_IMM, only = INC_PKT_FIRST | last;
	u32 id;

	KUNIT_EXPECT_EQ(test, says(INC_PKT_FIRST, 0x2000001, 0, &id),
			INC_REPLAY_LAST);
	KUNIT_EXPECT_EQ(test, says(INC_PKT_FIRST, 0x1000001, 0, &id),
			INC_REPLAY_AFTER);
	KUNIT_EXPECT_EQ(test, id, 0x1000001U);
	/* Empty: the Immediate is that of a message before the last one. */
	KUNIT_EXPECT_EQ(test, says(only, 0, 0xffffff, &id), INC_REPLAY_AFTER);
	KUNIT_EXPECT_EQ(test, id, 0x1ffffffU);
	KUNIT_EXPECT_EQ(test, says(only, 0, 1, &id), INC_REPLAY_LAST);
	KUNIT_EXPECT_EQ(test, says(last, 0, 1, &id), INC_REPLAY_END);
	KUNIT_EXPECT_EQ(test, says(last, 0, 2, &id), INC_REPLAY_UNKNOWN);
	KUNIT_EXPECT_EQ(test, says(0, 0, 1, &id), INC_REPLAY_UNKNOWN);
}

static struct kunit_case replay_cases[] = {
	KUNIT_CASE(whole),
	KUNIT_CASE(moved),
	KUNIT_CASE(in_progress),
	KUNIT_CASE(moved_far),
	KUNIT_CASE(remnant_lost),
	KUNIT_CASE(beginning_lost),
	KUNIT_CASE(twice),
	KUNIT_CASE(rules),
	KUNIT_CASE(place),
	{}
};

static struct kunit_suite replay_suite = {
	.name = "rdma_inc_replay",
	.test_cases = replay_cases,
};

kunit_test_suite(replay_suite);

MODULE_LICENSE("GPL");
