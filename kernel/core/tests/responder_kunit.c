// SPDX-License-Identifier: GPL-2.0
/*
 * The responder, rule by rule.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>
#include <uapi/linux/rdma_inc_proto.h>

#include "common.h"
#include "core/psn.h"
#include "core/responder.h"
#include "pkt.h"

#define PMTU	256
#define STRIDE	8192
#define SLOTS	16
#define RKEY	0xcafe0001

static const struct inc_responder fresh = {
	.epsn	= 100,
	.rkey	= RKEY,
	.stride	= STRIDE,
	.slots	= SLOTS,
	.pmtu	= PMTU,
};

static struct inc_pkt mk(u8 opcode, u32 psn, u16 payload_len, u32 dmalen)
{
	struct inc_pkt pkt = test_pkt(opcode, psn, payload_len, dmalen);

	pkt.rkey = RKEY;
	return pkt;
}

/*
 * A responder in the middle of a message of @dmalen bytes, @done of them
 * received.
 */
static struct inc_responder in_message(u32 dmalen, u32 done)
{
	struct inc_responder r = fresh;

	r.in_msg = true;
	r.dmalen = dmalen;
	r.done = done;
	return r;
}

/* One packet at the expected PSN. */
static enum inc_responder_verdict one(struct kunit *test, struct inc_responder r, u8 opcode,
				      u16 payload_len, u32 dmalen)
{
	struct inc_pkt pkt = mk(opcode, r.epsn, payload_len, dmalen);

	return inc_responder_check(&r, &pkt);
}

static void only(struct kunit *test)
{
	struct inc_responder r = fresh;
	struct inc_pkt pkt = mk(OP_ONLY_IMM, 100, 60, 60);

	KUNIT_ASSERT_EQ(test, inc_responder_check(&r, &pkt), INC_RESP_NEW);
	inc_responder_accept(&r, &pkt);
	KUNIT_EXPECT_EQ(test, r.epsn, 101U);
	KUNIT_EXPECT_EQ(test, r.msn, 1U);
	KUNIT_EXPECT_FALSE(test, r.in_msg);
	/* The same packet again is a duplicate. */
	KUNIT_EXPECT_EQ(test, inc_responder_check(&r, &pkt), INC_RESP_DUP);
}

static void long_message(struct kunit *test)
{
	struct inc_responder r = fresh;

	for (unsigned int i = 0; i < 32; i++) {
		struct inc_pkt pkt = mk(i == 0 ? OP_FIRST : i == 31 ?
					OP_LAST_IMM : OP_MIDDLE,
					100 + i, PMTU, STRIDE);

		KUNIT_ASSERT_EQ_MSG(test, inc_responder_check(&r, &pkt), INC_RESP_NEW,
				    "packet %u", i);
		KUNIT_EXPECT_EQ(test, r.msn, 0U);
		inc_responder_accept(&r, &pkt);
		KUNIT_EXPECT_EQ(test, r.done, (i + 1) * PMTU);
		KUNIT_EXPECT_EQ(test, r.in_msg, i < 31);
	}
	KUNIT_EXPECT_EQ(test, r.msn, 1U);
	KUNIT_EXPECT_EQ(test, r.epsn, 132U);
}

/*
 * Every sequence of five of these opcodes, with valid lengths, up to the first
 * that is refused. Within a message MIDDLE or LAST with Immediate may follow,
 * else FIRST or ONLY with Immediate; all others are invalid.
 */
static void opcode_order(struct kunit *test)
{
	static const u8 ops[] = {
		OP_FIRST, OP_MIDDLE, OP_LAST, OP_LAST_IMM, OP_ONLY, OP_ONLY_IMM,
		OP_SEND_ONLY, OP_READ,
	};
	const unsigned int depth = 5;
	unsigned int taken = 0;

	for (u32 n = 0; n < 1 << 3 * depth; n++) {
		struct inc_responder r = fresh;
		bool in_msg = false;

		for (unsigned int i = 0; i < depth; i++) {
			u8 op = ops[n >> 3 * i & 7];
			u32 dmalen = op == OP_FIRST ? PMTU + 100 : 100;
			bool want = in_msg ? op == OP_MIDDLE || op == OP_LAST_IMM :
					     op == OP_FIRST || op == OP_ONLY_IMM;
			struct inc_pkt pkt;

			/* Long enough for the MIDDLEs that follow. */
			if (op == OP_FIRST)
				for (unsigned int j = i + 1; j < depth &&
				     ops[n >> 3 * j & 7] == OP_MIDDLE; j++)
					dmalen += PMTU;
			pkt = mk(op, r.epsn, op == OP_FIRST || op == OP_MIDDLE ?
				 PMTU : 100, dmalen);
			KUNIT_ASSERT_EQ_MSG(test, inc_responder_check(&r, &pkt),
					    want ? INC_RESP_NEW : INC_RESP_INVALID,
					    "sequence 0%o at %u", n, i);
			if (!want)
				break;
			inc_responder_accept(&r, &pkt);
			in_msg = op == OP_FIRST || op == OP_MIDDLE;
			taken++;
		}
	}
	KUNIT_EXPECT_GT(test, taken, 1000U);
}

static void not_served(struct kunit *test)
{
	static const u8 ops[] = { OP_SEND_ONLY, OP_READ, OP_FETCH_ADD, OP_ONLY, OP_LAST };

	for (unsigned int i = 0; i < ARRAY_SIZE(ops); i++) {
		KUNIT_EXPECT_EQ_MSG(test, one(test, fresh, ops[i], 64, 64),
				    INC_RESP_INVALID, "opcode 0x%x", ops[i]);
		KUNIT_EXPECT_EQ_MSG(test, one(test, in_message(PMTU + 64, PMTU),
					      ops[i], 64, 64),
				    INC_RESP_INVALID, "opcode 0x%x", ops[i]);
	}
}

struct key_row {
	u32	rkey;
	u64	va;
	u32	dmalen;
	enum inc_responder_verdict want;
};

static void key_and_address(struct kunit *test)
{
	static const struct key_row rows[] = {
		{ RKEY, 0, 64, INC_RESP_NEW },
		{ RKEY ^ 1, 0, 64, INC_RESP_ACCESS },
		{ RKEY ^ 0x80000000, 0, 64, INC_RESP_ACCESS },
		{ 0, 0, 64, INC_RESP_ACCESS },
		{ RKEY, STRIDE, 64, INC_RESP_NEW },
		{ RKEY, STRIDE - 1, 64, INC_RESP_ACCESS },
		{ RKEY, STRIDE + 1, 64, INC_RESP_ACCESS },
		{ RKEY, STRIDE / 2, 64, INC_RESP_ACCESS },
		{ RKEY, (SLOTS - 1) * STRIDE, 64, INC_RESP_NEW },
		{ RKEY, SLOTS * STRIDE - 1, 64, INC_RESP_ACCESS },
		{ RKEY, SLOTS * STRIDE, 64, INC_RESP_ACCESS },
		/* Truncated to 32 bits these would be valid. */
		{ RKEY, 1ULL << 32, 64, INC_RESP_ACCESS },
		{ RKEY, 1ULL << 63 | STRIDE, 64, INC_RESP_ACCESS },
		{ RKEY, -(u64)STRIDE, 64, INC_RESP_ACCESS },
		{ RKEY, ~0ULL, 64, INC_RESP_ACCESS },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		struct inc_pkt pkt = mk(OP_ONLY_IMM, 100, 64, rows[i].dmalen);
		struct inc_responder r = fresh;

		pkt.rkey = rows[i].rkey;
		pkt.va = rows[i].va;
		KUNIT_EXPECT_EQ_MSG(test, inc_responder_check(&r, &pkt), rows[i].want,
				    "row %u", i);
	}
}

/* 4096 slots of 64 KiB: the whole range of addresses, 2^28. */
static void largest_tree(struct kunit *test)
{
	struct inc_responder r = fresh;
	struct inc_pkt pkt;

	r.stride = 65536;
	r.slots = 4096;
	pkt = mk(OP_ONLY_IMM, 100, 64, 64);
	pkt.va = 4095ULL * 65536;
	KUNIT_EXPECT_EQ(test, inc_responder_check(&r, &pkt), INC_RESP_NEW);
	pkt.va = 4096ULL * 65536;
	KUNIT_EXPECT_EQ(test, inc_responder_check(&r, &pkt), INC_RESP_ACCESS);
	pkt = mk(OP_FIRST, 100, PMTU, 65536);
	KUNIT_EXPECT_EQ(test, inc_responder_check(&r, &pkt), INC_RESP_NEW);
	pkt = mk(OP_FIRST, 100, PMTU, 65537);
	KUNIT_EXPECT_EQ(test, inc_responder_check(&r, &pkt), INC_RESP_ACCESS);
}

static void message_length(struct kunit *test)
{
	/* The RETH's length against the payload. */
	KUNIT_EXPECT_EQ(test, one(test, fresh, OP_ONLY_IMM, 64, 63), INC_RESP_INVALID);
	KUNIT_EXPECT_EQ(test, one(test, fresh, OP_ONLY_IMM, 64, 65), INC_RESP_INVALID);
	KUNIT_EXPECT_EQ(test, one(test, fresh, OP_ONLY_IMM, 0, 64), INC_RESP_INVALID);
	/* A packet's limits. */
	KUNIT_EXPECT_EQ(test, one(test, fresh, OP_ONLY_IMM, PMTU, PMTU), INC_RESP_NEW);
	KUNIT_EXPECT_EQ(test, one(test, fresh, OP_ONLY_IMM, PMTU + 1, PMTU + 1),
			INC_RESP_INVALID);
	KUNIT_EXPECT_EQ(test, one(test, fresh, OP_FIRST, PMTU - 1, 1000),
			INC_RESP_INVALID);
	KUNIT_EXPECT_EQ(test, one(test, fresh, OP_FIRST, PMTU + 4, 1000),
			INC_RESP_INVALID);
	KUNIT_EXPECT_EQ(test, one(test, fresh, OP_FIRST, 0, 1000), INC_RESP_INVALID);
	/* FIRST leaves something for the rest. */
	KUNIT_EXPECT_EQ(test, one(test, fresh, OP_FIRST, PMTU, PMTU), INC_RESP_INVALID);
	KUNIT_EXPECT_EQ(test, one(test, fresh, OP_FIRST, PMTU, PMTU - 1),
			INC_RESP_INVALID);
	KUNIT_EXPECT_EQ(test, one(test, fresh, OP_FIRST, PMTU, PMTU + 1), INC_RESP_NEW);
	/* The slot's limit. */
	KUNIT_EXPECT_EQ(test, one(test, fresh, OP_FIRST, PMTU, STRIDE), INC_RESP_NEW);
	KUNIT_EXPECT_EQ(test, one(test, fresh, OP_FIRST, PMTU, STRIDE + 1),
			INC_RESP_ACCESS);
	KUNIT_EXPECT_EQ(test, one(test, fresh, OP_FIRST, PMTU, ~0U), INC_RESP_ACCESS);
}

static void later_length(struct kunit *test)
{
	struct inc_responder r = in_message(3 * PMTU + 5, PMTU);

	KUNIT_EXPECT_EQ(test, one(test, r, OP_MIDDLE, PMTU, 0), INC_RESP_NEW);
	KUNIT_EXPECT_EQ(test, one(test, r, OP_MIDDLE, PMTU - 4, 0), INC_RESP_INVALID);
	KUNIT_EXPECT_EQ(test, one(test, r, OP_MIDDLE, PMTU + 4, 0), INC_RESP_INVALID);
	KUNIT_EXPECT_EQ(test, one(test, r, OP_MIDDLE, 0, 0), INC_RESP_INVALID);
	/* Too early, and longer than a packet may be. */
	KUNIT_EXPECT_EQ(test, one(test, r, OP_LAST_IMM, 5, 0), INC_RESP_INVALID);
	KUNIT_EXPECT_EQ(test, one(test, r, OP_LAST_IMM, 2 * PMTU + 5, 0),
			INC_RESP_INVALID);

	r = in_message(3 * PMTU + 5, 3 * PMTU);
	KUNIT_EXPECT_EQ(test, one(test, r, OP_LAST_IMM, 5, 0), INC_RESP_NEW);
	KUNIT_EXPECT_EQ(test, one(test, r, OP_LAST_IMM, 4, 0), INC_RESP_INVALID);
	KUNIT_EXPECT_EQ(test, one(test, r, OP_LAST_IMM, 6, 0), INC_RESP_INVALID);
	/* A MIDDLE beyond the end. */
	KUNIT_EXPECT_EQ(test, one(test, r, OP_MIDDLE, PMTU, 0), INC_RESP_INVALID);

	/* Exactly full: a MIDDLE would leave nothing for LAST. */
	r = in_message(3 * PMTU, 2 * PMTU);
	KUNIT_EXPECT_EQ(test, one(test, r, OP_MIDDLE, PMTU, 0), INC_RESP_INVALID);
	KUNIT_EXPECT_EQ(test, one(test, r, OP_LAST_IMM, PMTU, 0), INC_RESP_NEW);

	/* A LAST without payload. */
	r = in_message(2 * PMTU, 2 * PMTU);
	KUNIT_EXPECT_EQ(test, one(test, r, OP_LAST_IMM, 0, 0), INC_RESP_INVALID);
}

/* Every message has an INC header; no later code checks its length. */
static void room_for_header(struct kunit *test)
{
	for (u32 len = 1; len <= INC_HDR_LEN + 4; len++)
		KUNIT_EXPECT_EQ_MSG(test, one(test, fresh, OP_ONLY_IMM, len, len) ==
				    INC_RESP_NEW, len >= INC_HDR_LEN,
				    "a message of %u bytes", len);
}

/* A zero-length write: accepted, with any key and address (IBTA C9-88). */
static void empty_write(struct kunit *test)
{
	static const u8 ops[] = { OP_ONLY, OP_ONLY_IMM };

	for (unsigned int i = 0; i < ARRAY_SIZE(ops); i++) {
		struct inc_pkt pkt = test_pkt(ops[i], 100, 0, 0);
		struct inc_responder r = fresh;

		pkt.rkey = ~RKEY;
		pkt.va = ~0ULL;
		KUNIT_EXPECT_TRUE(test, inc_responder_is_empty(&pkt));
		KUNIT_ASSERT_EQ(test, inc_responder_check(&r, &pkt), INC_RESP_NEW);
		inc_responder_accept(&r, &pkt);
		KUNIT_EXPECT_EQ(test, r.epsn, 101U);
		KUNIT_EXPECT_EQ(test, r.msn, 1U);
		KUNIT_EXPECT_FALSE(test, r.in_msg);
		/* Not within a message. */
		KUNIT_EXPECT_EQ(test, one(test, in_message(1000, PMTU), ops[i], 0, 0),
				INC_RESP_INVALID);
		/* Empty in one respect only. */
		KUNIT_EXPECT_EQ(test, one(test, fresh, ops[i], 0, 1), INC_RESP_INVALID);
		KUNIT_EXPECT_EQ(test, one(test, fresh, ops[i], 1, 0), INC_RESP_INVALID);
	}
	KUNIT_EXPECT_EQ(test, one(test, fresh, OP_FIRST, 0, 0), INC_RESP_INVALID);
	KUNIT_EXPECT_EQ(test, one(test, fresh, OP_LAST_IMM, 0, 0), INC_RESP_INVALID);
	KUNIT_EXPECT_EQ(test, one(test, fresh, OP_READ, 0, 0), INC_RESP_INVALID);
	KUNIT_EXPECT_EQ(test, one(test, fresh, OP_SEND_ONLY, 0, 0), INC_RESP_INVALID);
}

static void pad_only_at_end(struct kunit *test)
{
	struct inc_responder r = fresh;
	struct inc_pkt pkt;

	for (u8 pad = 0; pad < 4; pad++) {
		r = fresh;
		pkt = mk(OP_FIRST, 100, PMTU, 1000);
		pkt.pad = pad;
		KUNIT_EXPECT_EQ(test, inc_responder_check(&r, &pkt),
				pad ? INC_RESP_INVALID : INC_RESP_NEW);

		r = in_message(1000, PMTU);
		pkt = mk(OP_MIDDLE, 100, PMTU, 0);
		pkt.pad = pad;
		KUNIT_EXPECT_EQ(test, inc_responder_check(&r, &pkt),
				pad ? INC_RESP_INVALID : INC_RESP_NEW);

		KUNIT_EXPECT_EQ(test, one(test, fresh, OP_ONLY_IMM, 64 - pad, 64 - pad),
				INC_RESP_NEW);
		KUNIT_EXPECT_EQ(test, one(test, in_message(2 * PMTU - pad, PMTU),
					  OP_LAST_IMM, PMTU - pad, 0), INC_RESP_NEW);
	}
}

/* PSN first: of an unexpected packet, only whether it can be the member's. */
static void psn_window(struct kunit *test)
{
	static const s32 beside[] = {
		1, 2, 127, 128, INC_RESP_NEAR, INC_RESP_NEAR + 1, 65536, 0x7fffff,
	};
	static const u32 epsn[] = { 0, 1, 100, 0x7fffff, 0x800000, 0xfffffe, 0xffffff };
	static const u8 ops[] = { OP_ONLY_IMM, OP_MIDDLE, OP_LAST, OP_READ, OP_SEND_ONLY };
	struct inc_responder r;
	struct inc_pkt pkt;

	for (unsigned int e = 0; e < ARRAY_SIZE(epsn); e++) {
		for (unsigned int i = 0; i < 2 * ARRAY_SIZE(beside); i++) {
			s32 off = i & 1 ? beside[i / 2] : -beside[i / 2];

			r = fresh;
			r.epsn = epsn[e];
			pkt = mk(ops[i % ARRAY_SIZE(ops)], inc_psn_add(epsn[e], off),
				 9, 77);
			KUNIT_EXPECT_EQ_MSG(test, inc_responder_check(&r, &pkt),
					    beside[i / 2] > INC_RESP_NEAR ?
					    INC_RESP_STRANGE : off < 0 ?
					    INC_RESP_DUP : INC_RESP_OOO,
					    "0x%x, %d", epsn[e], off);
		}
	}
}

/* A packet that has a key has to have the member's, wherever it belongs. */
static void strangers(struct kunit *test)
{
	static const u8 ops[] = { OP_FIRST, OP_ONLY, OP_ONLY_IMM };
	struct inc_responder r = fresh;

	for (unsigned int i = 0; i < 2 * ARRAY_SIZE(ops); i++) {
		struct inc_pkt pkt = mk(ops[i / 2], i & 1 ? 99 : 101, 9, 77);

		KUNIT_EXPECT_EQ(test, inc_responder_check(&r, &pkt),
				i & 1 ? INC_RESP_DUP : INC_RESP_OOO);
		pkt.rkey++;
		KUNIT_EXPECT_EQ(test, inc_responder_check(&r, &pkt), INC_RESP_STRANGE);
	}
	/* An empty write touches no memory. */
	for (u32 psn = 99; psn <= 101; psn += 2) {
		struct inc_pkt pkt = mk(OP_ONLY, psn, 0, 0);

		pkt.rkey++;
		KUNIT_EXPECT_EQ(test, inc_responder_check(&r, &pkt),
				psn < 100 ? INC_RESP_DUP : INC_RESP_OOO);
	}
}

static void nak_once_per_hole(struct kunit *test)
{
	struct inc_pkt ahead = mk(OP_ONLY_IMM, 105, 64, 64);
	struct inc_pkt next = mk(OP_ONLY_IMM, 100, 64, 64);
	struct inc_pkt dup = mk(OP_ONLY_IMM, 99, 64, 64);
	struct inc_responder r = fresh;

	KUNIT_EXPECT_EQ(test, inc_responder_check(&r, &ahead), INC_RESP_OOO);
	KUNIT_EXPECT_TRUE(test, inc_responder_nak_due(&r));
	KUNIT_EXPECT_FALSE(test, inc_responder_nak_due(&r));
	/* A duplicate closes no gap. */
	KUNIT_EXPECT_EQ(test, inc_responder_check(&r, &dup), INC_RESP_DUP);
	KUNIT_EXPECT_FALSE(test, inc_responder_nak_due(&r));
	/* Nor does checking the missing one; accepting it does. */
	KUNIT_EXPECT_EQ(test, inc_responder_check(&r, &next), INC_RESP_NEW);
	KUNIT_EXPECT_FALSE(test, inc_responder_nak_due(&r));
	inc_responder_accept(&r, &next);
	KUNIT_EXPECT_TRUE(test, inc_responder_nak_due(&r));
	KUNIT_EXPECT_FALSE(test, inc_responder_nak_due(&r));
}

/* A silent member is solicited if it owes something, by one NAK per PSN. */
static void silence(struct kunit *test)
{
	struct inc_responder r = fresh, before = r;
	struct inc_pkt pkt = mk(IB_OPCODE_RC_RDMA_WRITE_FIRST, 100, PMTU, 3 * PMTU);

	KUNIT_EXPECT_EQ(test, inc_responder_silence(&r, false),
			INC_RESP_SOLICIT_NOTHING);
	KUNIT_EXPECT_EQ(test, memcmp(&r, &before, sizeof(r)), 0);
	/*
	 * A member that others wait for is solicited, and a NAK is left for a
	 * gap.
	 */
	KUNIT_EXPECT_EQ(test, inc_responder_silence(&r, true),
			INC_RESP_SOLICIT_RNR);
	KUNIT_EXPECT_EQ(test, inc_responder_silence(&r, true),
			INC_RESP_SOLICIT_RNR);
	KUNIT_EXPECT_EQ(test, memcmp(&r, &before, sizeof(r)), 0);

	/* The rest of a message. */
	inc_responder_accept(&r, &pkt);
	KUNIT_EXPECT_EQ(test, inc_responder_silence(&r, false),
			INC_RESP_SOLICIT_NAK);
	KUNIT_EXPECT_EQ(test, inc_responder_silence(&r, false),
			INC_RESP_SOLICIT_RNR);
	KUNIT_EXPECT_EQ(test, inc_responder_silence(&r, false),
			INC_RESP_SOLICIT_RNR);
	KUNIT_EXPECT_FALSE(test, inc_responder_nak_due(&r));
	pkt = mk(IB_OPCODE_RC_RDMA_WRITE_MIDDLE, 101, PMTU, 0);
	KUNIT_EXPECT_EQ(test, inc_responder_check(&r, &pkt), INC_RESP_NEW);
	inc_responder_accept(&r, &pkt);
	KUNIT_EXPECT_EQ(test, inc_responder_silence(&r, false),
			INC_RESP_SOLICIT_NAK);
	pkt = mk(IB_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE, 102, PMTU, 0);
	KUNIT_EXPECT_EQ(test, inc_responder_check(&r, &pkt), INC_RESP_NEW);
	inc_responder_accept(&r, &pkt);
	KUNIT_EXPECT_EQ(test, inc_responder_silence(&r, false),
			INC_RESP_SOLICIT_NOTHING);

	/* The packet that closes a gap before the first packet of a message. */
	KUNIT_EXPECT_TRUE(test, inc_responder_nak_due(&r));
	KUNIT_EXPECT_EQ(test, inc_responder_silence(&r, false),
			INC_RESP_SOLICIT_RNR);
}

/* Packets queued beyond a gap, when it is closed, and after the wrap. */
static void queued_turn(struct kunit *test)
{
	struct inc_responder r = fresh;

	r.epsn = INC_PSN_MASK;
	KUNIT_EXPECT_EQ(test, inc_responder_queued(&r, INC_PSN_MASK - 1),
			INC_RESP_QUEUED_PAST);
	KUNIT_EXPECT_EQ(test, inc_responder_queued(&r, INC_PSN_MASK),
			INC_RESP_QUEUED_NEXT);
	KUNIT_EXPECT_EQ(test, inc_responder_queued(&r, 0),
			INC_RESP_QUEUED_LATER);
	KUNIT_EXPECT_EQ(test, inc_responder_queued(&r, 127),
			INC_RESP_QUEUED_LATER);
}

static void psn_wrap(struct kunit *test)
{
	struct inc_responder r = fresh;
	u32 psn = 0xfffff0;

	r.epsn = psn;
	for (unsigned int i = 0; i < 300; i++) {
		static const u8 ops[] = { OP_FIRST, OP_MIDDLE, OP_LAST_IMM };
		struct inc_pkt pkt = mk(ops[i % 3], psn, PMTU, 3 * PMTU);

		KUNIT_ASSERT_EQ_MSG(test, inc_responder_check(&r, &pkt), INC_RESP_NEW,
				    "PSN 0x%x", psn);
		inc_responder_accept(&r, &pkt);
		psn = (psn + 1) & 0xffffff;
		KUNIT_ASSERT_EQ(test, r.epsn, psn);
		KUNIT_ASSERT_EQ(test, inc_responder_check(&r, &pkt), INC_RESP_DUP);
	}
}

static void msn_wrap(struct kunit *test)
{
	struct inc_responder r = fresh;

	r.msn = 0xfffffe;
	for (u32 i = 0; i < 4; i++) {
		struct inc_pkt pkt = mk(OP_ONLY_IMM, 100 + i, 64, 64);

		KUNIT_ASSERT_EQ(test, inc_responder_check(&r, &pkt), INC_RESP_NEW);
		inc_responder_accept(&r, &pkt);
		KUNIT_EXPECT_EQ(test, r.msn, (0xffffff + i) & 0xffffff);
	}
}

static void ack_coalescing(struct kunit *test)
{
	struct inc_responder r = fresh;

	for (unsigned int round = 0; round < 3; round++)
		for (unsigned int i = 1; i <= INC_RESP_ACK_EVERY; i++)
			KUNIT_EXPECT_EQ_MSG(test,
					    inc_responder_ack_due(&r, false),
					    i == INC_RESP_ACK_EVERY,
					    "packet %u", i);
	/* One sent for AckReq restarts the count. */
	for (unsigned int i = 1; i < INC_RESP_ACK_EVERY; i++)
		KUNIT_EXPECT_FALSE(test, inc_responder_ack_due(&r, false));
	KUNIT_EXPECT_TRUE(test, inc_responder_ack_due(&r, true));
	KUNIT_EXPECT_TRUE(test, inc_responder_ack_due(&r, true));
	for (unsigned int i = 1; i < INC_RESP_ACK_EVERY; i++)
		KUNIT_EXPECT_FALSE(test, inc_responder_ack_due(&r, false));
	KUNIT_EXPECT_TRUE(test, inc_responder_ack_due(&r, false));
	/* rxe stalls at 128 unacknowledged packets. */
	KUNIT_EXPECT_LT(test, INC_RESP_ACK_EVERY, 128);
}

/*
 * Every opcode and length: accepted is one packet with an Immediate within a
 * slot, nothing else.
 */
static void uc(struct kunit *test)
{
	static const u16 lens[] = {
		0, 1, INC_HDR_LEN - 1, INC_HDR_LEN, INC_HDR_LEN + 3, PMTU - 1, PMTU,
		PMTU + 1, STRIDE,
	};
	const struct inc_responder r = fresh;

	for (unsigned int op = 0; op < 0x18; op++) {
		for (unsigned int i = 0; i < ARRAY_SIZE(lens); i++) {
			struct inc_pkt pkt = mk(op, 7, lens[i], lens[i]);
			bool want = op == OP_ONLY_IMM && lens[i] >= INC_HDR_LEN &&
				    lens[i] <= PMTU;

			KUNIT_EXPECT_EQ_MSG(test, inc_responder_check_uc(&r, &pkt), want,
					    "opcode 0x%x, %u bytes", op, lens[i]);
			pkt.dmalen++;
			KUNIT_EXPECT_FALSE(test,
					   inc_responder_check_uc(&r, &pkt));
			pkt.dmalen--;
			pkt.rkey++;
			KUNIT_EXPECT_FALSE(test,
					   inc_responder_check_uc(&r, &pkt));
			pkt.rkey--;
			pkt.va = (u64)STRIDE * SLOTS;
			KUNIT_EXPECT_FALSE(test,
					   inc_responder_check_uc(&r, &pkt));
			pkt.va = (u64)STRIDE * (SLOTS - 1);
			KUNIT_EXPECT_EQ(test, inc_responder_check_uc(&r, &pkt), want);
			pkt.pad ^= 1;
			KUNIT_EXPECT_FALSE(test,
					   inc_responder_check_uc(&r, &pkt));
		}
	}
}

/*
 * A long message and a short one after it, all their packets in every place beyond
 * a gap: each fits only its own, whatever is known of earlier ones.
 */
static void ahead(struct kunit *test)
{
	struct inc_pkt pkts[] = {
		mk(OP_FIRST, 0, PMTU, 2 * PMTU + 40),
		mk(OP_MIDDLE, 0, PMTU, 0),
		mk(OP_LAST_IMM, 0, 40, 0),
		mk(OP_ONLY_IMM, 0, 60, 60),
		mk(OP_ONLY, 0, 0, 0),
	};

	for (unsigned int done = 0; done < 3; done++) {
		struct inc_responder r = done ? in_message(2 * PMTU + 40, done * PMTU) :
					   fresh;
		struct inc_responder_run run;

		inc_responder_run(&r, &run);
		KUNIT_EXPECT_EQ(test, run.end, done ? 103 - done : 100);
		for (unsigned int at = done; at < 5; at++) {
			for (unsigned int i = 0; i < ARRAY_SIZE(pkts); i++) {
				bool opens = pkts[i].flags & INC_PKT_FIRST;
				bool good = at < 3 && done ? i == at : opens;
				struct inc_responder_run its = run;

				pkts[i].psn = 100 + at - done;
				KUNIT_EXPECT_EQ_MSG(test, good,
						    inc_responder_ooo(&r, &pkts[i], &its) ==
						    INC_RESP_OOO_GOOD,
						    "packet %u at %u, %u are in", i, at,
						    done);
			}
		}
	}
}

/* A queued packet determines which may be queued after it. */
static void ahead_runs(struct kunit *test)
{
	struct inc_pkt first = mk(OP_FIRST, 110, PMTU, 3 * PMTU);
	struct inc_pkt middle = mk(OP_MIDDLE, 111, PMTU, 0);
	struct inc_pkt last = mk(OP_LAST_IMM, 112, PMTU, 0);
	struct inc_pkt next = mk(OP_ONLY_IMM, 113, 33, 33);
	struct inc_responder r = fresh;
	struct inc_responder_run run;

	inc_responder_run(&r, &run);
	KUNIT_EXPECT_EQ(test, inc_responder_ooo(&r, &middle, &run),
			INC_RESP_OOO_UNKNOWN);
	KUNIT_EXPECT_EQ(test, inc_responder_ooo(&r, &first, &run), INC_RESP_OOO_GOOD);
	KUNIT_EXPECT_EQ(test, run.end, 113U);
	KUNIT_EXPECT_EQ(test, run.tail, PMTU);
	KUNIT_EXPECT_EQ(test, inc_responder_ooo(&r, &last, &run), INC_RESP_OOO_GOOD);
	KUNIT_EXPECT_EQ(test, inc_responder_ooo(&r, &middle, &run), INC_RESP_OOO_GOOD);
	first.psn = 111;
	KUNIT_EXPECT_EQ(test, inc_responder_ooo(&r, &first, &run), INC_RESP_OOO_WRONG);
	last.psn = 113;
	KUNIT_EXPECT_EQ(test, inc_responder_ooo(&r, &last, &run), INC_RESP_OOO_WRONG);
	last.psn = 114;
	KUNIT_EXPECT_EQ(test, inc_responder_ooo(&r, &last, &run), INC_RESP_OOO_UNKNOWN);
	KUNIT_EXPECT_EQ(test, inc_responder_ooo(&r, &next, &run), INC_RESP_OOO_GOOD);
	KUNIT_EXPECT_EQ(test, run.end, 114U);
	next.rkey++;
	KUNIT_EXPECT_EQ(test, inc_responder_ooo(&r, &next, &run), INC_RESP_OOO_WRONG);
}

/* A parent sends messages of one packet, with or without Immediate. */
static void ahead_results(struct kunit *test)
{
	struct inc_pkt only = mk(OP_ONLY, 105, PMTU, PMTU);
	struct inc_pkt first = mk(OP_FIRST, 105, PMTU, 2 * PMTU);
	struct inc_responder r = fresh;
	struct inc_responder_run run;

	r.results = true;
	inc_responder_run(&r, &run);
	KUNIT_EXPECT_EQ(test, inc_responder_ooo(&r, &first, &run), INC_RESP_OOO_WRONG);
	KUNIT_EXPECT_EQ(test, inc_responder_ooo(&r, &only, &run), INC_RESP_OOO_GOOD);
	only.rkey ^= 1;
	KUNIT_EXPECT_EQ(test, inc_responder_ooo(&r, &only, &run), INC_RESP_OOO_WRONG);
}

static struct kunit_case resp_cases[] = {
	KUNIT_CASE(only),
	KUNIT_CASE(long_message),
	KUNIT_CASE(opcode_order),
	KUNIT_CASE(not_served),
	KUNIT_CASE(key_and_address),
	KUNIT_CASE(largest_tree),
	KUNIT_CASE(message_length),
	KUNIT_CASE(later_length),
	KUNIT_CASE(room_for_header),
	KUNIT_CASE(empty_write),
	KUNIT_CASE(pad_only_at_end),
	KUNIT_CASE(psn_window),
	KUNIT_CASE(strangers),
	KUNIT_CASE(nak_once_per_hole),
	KUNIT_CASE(silence),
	KUNIT_CASE(psn_wrap),
	KUNIT_CASE(msn_wrap),
	KUNIT_CASE(ack_coalescing),
	KUNIT_CASE(uc),
	KUNIT_CASE(ahead),
	KUNIT_CASE(ahead_runs),
	KUNIT_CASE(queued_turn),
	KUNIT_CASE(ahead_results),
	{}
};

static struct kunit_suite resp_suite = {
	.name = "rdma_inc_responder",
	.test_cases = resp_cases,
};

kunit_test_suite(resp_suite);

MODULE_LICENSE("GPL");
