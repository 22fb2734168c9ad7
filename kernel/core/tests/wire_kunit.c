// SPDX-License-Identifier: GPL-2.0
/*
 * The header codec: against a bytewise parser built from the layouts of IBTA
 * 1.x sections 9.2 and 9.3, and against packets made by scapy. Every packet
 * ends at a page that faults.
 */
#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "common.h"
#include "core/wire.h"
#include "golden_kunit.h"

#define MAX_LEN	200

/* IBTA 1.x table 38, the rows that the switch knows. */
struct op_row {
	u8	opcode;
	u8	ext_len;	/* of what is parsed */
	u16	flags;
};

#define REQ	INC_PKT_REQUEST
#define FST	INC_PKT_FIRST
#define LST	INC_PKT_LAST
#define OP_WRITE	(INC_PKT_REQUEST | INC_PKT_PAYLOAD | INC_PKT_SUPPORTED)

static const struct op_row op_rows[] = {
	{ 0x00, 0, REQ | FST },				/* SEND */
	{ 0x01, 0, REQ },
	{ 0x02, 0, REQ | LST },
	{ 0x03, 4, REQ | LST | INC_PKT_IMM },
	{ 0x04, 0, REQ | FST | LST },
	{ 0x05, 4, REQ | FST | LST | INC_PKT_IMM },
	{ 0x06, 16, OP_WRITE | FST | INC_PKT_RETH },	/* RDMA WRITE */
	{ 0x07, 0, OP_WRITE },
	{ 0x08, 0, OP_WRITE | LST },
	{ 0x09, 4, OP_WRITE | LST | INC_PKT_IMM },
	{ 0x0a, 16, OP_WRITE | FST | LST | INC_PKT_RETH },
	{ 0x0b, 20, OP_WRITE | FST | LST | INC_PKT_RETH | INC_PKT_IMM },
	{ 0x0c, 16, REQ | FST | LST | INC_PKT_RETH },	/* RDMA READ request */
	{ 0x11, 4, INC_PKT_AETH },			/* Acknowledge */
	{ 0x13, 0, REQ | FST | LST },			/* atomics, by BTH only */
	{ 0x14, 0, REQ | FST | LST },
	{ 0x16, 0, REQ | LST },				/* SEND with Invalidate */
	{ 0x17, 0, REQ | FST | LST },
	{ 0x81, 16, INC_PKT_CNP },			/* not RC, nor UC */
};

static const struct op_row *op_row(u8 opcode)
{
	/* UC, 0x20 to 0x2b: SEND and RDMA WRITE, as of RC. */
	if (opcode >= 0x20 && opcode <= 0x2b)
		opcode -= 0x20;
	for (unsigned int i = 0; i < ARRAY_SIZE(op_rows); i++)
		if (op_rows[i].opcode == opcode)
			return &op_rows[i];
	return NULL;
}

static u64 get_be(const u8 *p, unsigned int n)
{
	u64 x = 0;

	while (n--)
		x = x << 8 | *p++;
	return x;
}

/* The reference: parse @p byte by byte. */
static enum inc_wire_error ref_parse(const u8 *p, unsigned int len,
				     struct inc_pkt *pkt)
{
	const struct op_row *row;
	const u8 *ext = p + 12;

	if (len < 16)
		return INC_WIRE_SHORT;
	if (p[1] & 0x0f)
		return INC_WIRE_TVER;
	row = op_row(p[0]);
	if (!row)
		return INC_WIRE_OPCODE;

	memset(pkt, 0, sizeof(*pkt));
	pkt->opcode = p[0];
	pkt->flags = row->flags;
	pkt->uc = p[0] >> 5 == 1;
	pkt->pad = p[1] >> 4 & 3;
	pkt->pkey = get_be(p + 2, 2);
	pkt->qpn = get_be(p + 5, 3);
	pkt->becn = p[4] & 0x40;
	pkt->ackreq = p[8] & 0x80;
	pkt->psn = get_be(p + 9, 3);
	pkt->hdr_len = 12 + row->ext_len;
	if (len < 12U + row->ext_len + pkt->pad + 4)
		return INC_WIRE_SHORT;
	pkt->payload_len = len - pkt->hdr_len - pkt->pad - 4;

	if (row->flags & INC_PKT_AETH) {
		pkt->syndrome = ext[0];
		pkt->msn = get_be(ext + 1, 3);
		return INC_WIRE_OK;
	}
	if (row->flags & INC_PKT_RETH) {
		pkt->va = get_be(ext, 8);
		pkt->rkey = get_be(ext + 8, 4);
		pkt->dmalen = get_be(ext + 12, 4);
		ext += 16;
	}
	if (row->flags & INC_PKT_IMM)
		pkt->imm = get_be(ext, 4);
	return INC_WIRE_OK;
}

static void expect_pkt(struct kunit *test, const struct inc_pkt *got,
		       const struct inc_pkt *want)
{
	KUNIT_ASSERT_EQ(test, got->opcode, want->opcode);
	KUNIT_ASSERT_EQ(test, got->uc, want->uc);
	KUNIT_ASSERT_EQ(test, got->flags, want->flags);
	KUNIT_ASSERT_EQ(test, got->ackreq, want->ackreq);
	KUNIT_ASSERT_EQ(test, got->becn, want->becn);
	KUNIT_ASSERT_EQ(test, got->pad, want->pad);
	KUNIT_ASSERT_EQ(test, got->pkey, want->pkey);
	KUNIT_ASSERT_EQ(test, got->hdr_len, want->hdr_len);
	KUNIT_ASSERT_EQ(test, got->payload_len, want->payload_len);
	KUNIT_ASSERT_EQ(test, got->qpn, want->qpn);
	KUNIT_ASSERT_EQ(test, got->psn, want->psn);
	if (want->flags & INC_PKT_AETH) {
		KUNIT_ASSERT_EQ(test, got->syndrome, want->syndrome);
		KUNIT_ASSERT_EQ(test, got->msn, want->msn);
		return;
	}
	KUNIT_ASSERT_EQ(test, got->va, want->va);
	KUNIT_ASSERT_EQ(test, got->rkey, want->rkey);
	KUNIT_ASSERT_EQ(test, got->dmalen, want->dmalen);
	KUNIT_ASSERT_EQ(test, got->imm, want->imm);
}

/* A copy of @len bytes that ends where the next page begins, which faults. */
static u8 *at_end(struct kunit *test, const void *bytes, unsigned int len)
{
	u8 *p = (u8 *)test->priv + PAGE_SIZE - len;

	memcpy(p, bytes, len);
	return p;
}

static void check_one(struct kunit *test, const u8 *bytes, unsigned int len)
{
	struct inc_pkt got = {}, want = {};
	enum inc_wire_error err = ref_parse(bytes, len, &want);

	KUNIT_ASSERT_EQ_MSG(test,
			    inc_wire_parse(at_end(test, bytes, len), len, &got),
			    err, "opcode 0x%02x, %u bytes", bytes[0], len);
	if (!err)
		expect_pkt(test, &got, &want);
}

static void every_opcode_and_length(struct kunit *test)
{
	struct inc_rng rng;
	u8 bytes[MAX_LEN];

	inc_rng_init(&rng, test);
	for (unsigned int opcode = 0; opcode < 256; opcode++) {
		for (unsigned int len = 0; len <= MAX_LEN; len++) {
			inc_rnd_bytes(&rng, bytes, sizeof(bytes));
			bytes[0] = opcode;
			if (inc_rnd_below(&rng, 16))
				bytes[1] &= 0xf0;
			check_one(test, bytes, len);
		}
	}
}

/* Each opcode's headers, pad and ICRC fit exactly, or lack a byte. */
static void truncated(struct kunit *test)
{
	struct inc_pkt pkt;
	u8 bytes[64] = {};

	for (unsigned int i = 0; i < ARRAY_SIZE(op_rows); i++) {
		for (unsigned int pad = 0; pad < 4; pad++) {
			unsigned int len = 12 + op_rows[i].ext_len + pad + 4;

			bytes[0] = op_rows[i].opcode;
			bytes[1] = pad << 4;
			KUNIT_EXPECT_EQ(test, inc_wire_parse(at_end(test, bytes, len),
							     len, &pkt),
					INC_WIRE_OK);
			KUNIT_EXPECT_EQ(test, pkt.payload_len, 0);
			KUNIT_EXPECT_EQ(test, pkt.pad, pad);
			while (len--)
				KUNIT_ASSERT_EQ(test,
						inc_wire_parse(at_end(test, bytes, len),
							       len, &pkt),
						INC_WIRE_SHORT);
		}
	}
}

static void versions(struct kunit *test)
{
	u8 bytes[40] = { 0x0b };
	struct inc_pkt pkt;

	for (unsigned int b = 0; b < 256; b++) {
		bytes[1] = b;
		KUNIT_EXPECT_EQ_MSG(test, inc_wire_parse(bytes, 40, &pkt),
				    b & 15 ? INC_WIRE_TVER : INC_WIRE_OK,
				    "second byte 0x%02x", b);
	}
}

/* BECN is told; SE, M, FECN and reserved bits must not change anything. */
static void reserved_bits(struct kunit *test)
{
	u8 bytes[64] = { 0x0b, 0x10, 0xff, 0xff, 0, 0x80, 0, 7, 0x80, 1, 2, 3 };
	struct inc_pkt plain = {}, pkt = {};

	KUNIT_ASSERT_EQ(test, inc_wire_parse(bytes, 64, &plain), INC_WIRE_OK);
	for (unsigned int b = 0; b < 256; b++) {
		bytes[1] = 0x10 | (b & 0xc0);
		bytes[4] = b;
		bytes[8] = 0x80 | b;
		plain.becn = b & 0x40;
		memset(&pkt, 0, sizeof(pkt));
		KUNIT_ASSERT_EQ(test, inc_wire_parse(bytes, 64, &pkt), INC_WIRE_OK);
		expect_pkt(test, &pkt, &plain);
	}
	bytes[8] = 0x7f;
	KUNIT_ASSERT_EQ(test, inc_wire_parse(bytes, 64, &pkt), INC_WIRE_OK);
	KUNIT_EXPECT_FALSE(test, pkt.ackreq);
	KUNIT_EXPECT_EQ(test, pkt.psn, 0x010203U);
}

/* Other transports' opcodes, and reserved ones. */
static void foreign_opcodes(struct kunit *test)
{
	static const u8 opcodes[] = {
		0x0d, 0x0e, 0x0f, 0x10, 0x12, 0x15, 0x18, 0x1c, 0x1f,
		0x2c, 0x31, 0x36, 0x3f, 0x40, 0x51, 0x64, 0x65, 0x80, 0x82,
		0x8b, 0xc0, 0xe0, 0xff,
	};
	u8 bytes[64] = {};
	struct inc_pkt pkt;

	for (unsigned int i = 0; i < ARRAY_SIZE(opcodes); i++) {
		bytes[0] = opcodes[i];
		KUNIT_EXPECT_EQ_MSG(test, inc_wire_parse(bytes, 64, &pkt),
				    INC_WIRE_OPCODE, "opcode 0x%02x", opcodes[i]);
	}
}

/* payload_len has 16 bits; only headers are read, so no buffer is needed. */
static void longest(struct kunit *test)
{
	static const unsigned int hdr = 12 + 20 + 4;
	u8 bytes[64] = { 0x0b };
	struct inc_pkt pkt;

	KUNIT_ASSERT_EQ(test, inc_wire_parse(bytes, hdr + 0xffff, &pkt),
			INC_WIRE_OK);
	KUNIT_EXPECT_EQ(test, pkt.payload_len, 0xffff);
	KUNIT_EXPECT_EQ(test, inc_wire_parse(bytes, hdr + 0x10000, &pkt),
			INC_WIRE_SHORT);
	KUNIT_EXPECT_EQ(test, inc_wire_parse(bytes, 0xffffffff, &pkt),
			INC_WIRE_SHORT);
	bytes[1] = 0x30;
	KUNIT_ASSERT_EQ(test, inc_wire_parse(bytes, hdr + 3 + 0xffff, &pkt),
			INC_WIRE_OK);
	KUNIT_EXPECT_EQ(test, pkt.payload_len, 0xffff);
}

static void alignment(struct kunit *test)
{
	struct inc_pkt got = {}, want = {};
	struct inc_rng rng;
	u8 bytes[64 + 8];

	inc_rng_init(&rng, test);
	for (unsigned int i = 0; i < ARRAY_SIZE(op_rows); i++) {
		for (unsigned int off = 0; off < 8; off++) {
			u8 *p = bytes + off;

			inc_rnd_bytes(&rng, p, 64);
			p[0] = op_rows[i].opcode;
			p[1] &= 0xf0;
			KUNIT_ASSERT_EQ(test, ref_parse(p, 64, &want), INC_WIRE_OK);
			KUNIT_ASSERT_EQ(test, inc_wire_parse(p, 64, &got),
					INC_WIRE_OK);
			expect_pkt(test, &got, &want);
		}
	}
}

static void scapy(struct kunit *test)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(golden); i++) {
		const struct golden *g = &golden[i];
		unsigned int off = g->ip_len + 8, len = g->len - off;
		struct inc_pkt pkt, ref;

		KUNIT_ASSERT_EQ_MSG(test,
				    inc_wire_parse(at_end(test, g->pkt + off, len),
						   len, &pkt),
				    INC_WIRE_OK, "%s", g->name);
		KUNIT_EXPECT_EQ_MSG(test, pkt.hdr_len, g->hdr_len, "%s", g->name);
		KUNIT_EXPECT_EQ_MSG(test, pkt.payload_len, g->payload_len, "%s",
				    g->name);
		KUNIT_EXPECT_EQ_MSG(test, pkt.pad, g->pad, "%s", g->name);
		KUNIT_ASSERT_EQ(test, ref_parse(g->pkt + off, len, &ref),
				INC_WIRE_OK);
		expect_pkt(test, &pkt, &ref);
	}
}

/* The values that golden.py has for its first packet, and an ACK's. */
static void scapy_fields(struct kunit *test)
{
	const unsigned int off = 20 + 8;
	struct inc_pkt pkt;

	KUNIT_ASSERT_EQ(test, inc_wire_parse(golden_v4_only_imm + off,
					     sizeof(golden_v4_only_imm) - off,
					     &pkt), INC_WIRE_OK);
	KUNIT_EXPECT_EQ(test, pkt.opcode, IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE);
	KUNIT_EXPECT_TRUE(test, pkt.ackreq);
	KUNIT_EXPECT_EQ(test, pkt.pkey, 0xffff);
	KUNIT_EXPECT_EQ(test, pkt.qpn, 0x800001U);
	KUNIT_EXPECT_EQ(test, pkt.psn, 0x123456U);
	KUNIT_EXPECT_EQ(test, pkt.va, 0x1122334455667788ULL);
	KUNIT_EXPECT_EQ(test, pkt.rkey, 0x99aabbccU);
	KUNIT_EXPECT_EQ(test, pkt.dmalen, 64U);
	KUNIT_EXPECT_EQ(test, pkt.imm, 0x00abcdefU);

	KUNIT_ASSERT_EQ(test, inc_wire_parse(golden_v4_nak + off,
					     sizeof(golden_v4_nak) - off, &pkt),
			INC_WIRE_OK);
	KUNIT_EXPECT_EQ(test, pkt.flags, INC_PKT_AETH);
	KUNIT_EXPECT_EQ(test, pkt.syndrome, IB_NAK_PSN_ERROR);
	KUNIT_EXPECT_EQ(test, pkt.msn, 0xffffffU);
	KUNIT_EXPECT_EQ(test, pkt.qpn, 0xfffff0U);
	KUNIT_EXPECT_EQ(test, pkt.psn, 3U);
}

/* Bytes by hand: M set, SE only with an Immediate. */
static void build_bytes(struct kunit *test)
{
	static const u8 only_imm[32] = {
		0x0b, 0xf0, 0xff, 0xff, 0, 0x12, 0x34, 0x56, 0x80, 0xfe, 0xdc, 0xba,
		1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0, 0, 0x0f, 0xfd,
		0x10, 0xab, 0xcd, 0xef,
	};
	static const u8 ack[16] = {
		0x11, 0x40, 0x80, 0x01, 0, 0, 0, 0x11, 0, 0xff, 0xff, 0xff,
		0x1f, 0x00, 0x00, 0x2a,
	};
	static const u8 cnp[28] = {
		0x81, 0x00, 0xff, 0xff, 0x40, 0x12, 0x34, 0x56,
	};
	struct inc_pkt pkt = {
		.opcode = 0x0b, .pad = 3, .ackreq = true, .pkey = 0xffff,
		.qpn = 0x123456, .psn = 0xfedcba, .va = 0x0102030405060708ULL,
		.rkey = 0x090a0b0c, .dmalen = 4093, .imm = 0x10abcdef,
	};
	u8 out[40];

	memset(out, 0x5a, sizeof(out));
	KUNIT_EXPECT_EQ(test, inc_wire_build(out, &pkt), 32U);
	KUNIT_EXPECT_EQ(test, memcmp(out, only_imm, 32), 0);
	KUNIT_EXPECT_EQ(test, out[32], 0x5a);

	/* Without Immediate: 28 bytes, no SE. */
	pkt.opcode = 0x0a;
	memset(out, 0x5a, sizeof(out));
	KUNIT_EXPECT_EQ(test, inc_wire_build(out, &pkt), 28U);
	KUNIT_EXPECT_EQ(test, out[1], 0x70);
	KUNIT_EXPECT_EQ(test, memcmp(out + 2, only_imm + 2, 26), 0);
	KUNIT_EXPECT_EQ(test, out[28], 0x5a);

	pkt = (struct inc_pkt) {
		.opcode = 0x11, .pkey = 0x8001, .qpn = 0x11, .psn = 0xffffff,
		.syndrome = 0x1f, .msn = 0x2a,
	};
	memset(out, 0x5a, sizeof(out));
	KUNIT_EXPECT_EQ(test, inc_wire_build(out, &pkt), 16U);
	KUNIT_EXPECT_EQ(test, memcmp(out, ack, 16), 0);
	KUNIT_EXPECT_EQ(test, out[16], 0x5a);

	/* With BECN and without M; 16 bytes of zeros. */
	pkt = (struct inc_pkt) {
		.opcode = INC_OPCODE_CNP, .pkey = 0xffff, .becn = true,
		.qpn = 0x123456,
	};
	memset(out, 0x5a, sizeof(out));
	KUNIT_EXPECT_EQ(test, inc_wire_build(out, &pkt), 28U);
	KUNIT_EXPECT_EQ(test, memcmp(out, cnp, 28), 0);
	KUNIT_EXPECT_EQ(test, out[28], 0x5a);
	KUNIT_EXPECT_EQ(test, sizeof(only_imm), INC_MAX_TRANSPORT_HDR);
}

/* Built packets are read by both parsers. */
static void round_trip(struct kunit *test)
{
	static const u8 opcodes[] = { 0x06, 0x07, 0x08, 0x0a, 0x0b, 0x11, 0x81 };
	const unsigned int n = inc_test_rounds(20000);
	struct inc_rng rng;

	inc_rng_init(&rng, test);
	for (unsigned int i = 0; i < n; i++) {
		struct inc_pkt pkt = {}, got, ref;
		u8 bytes[INC_MAX_TRANSPORT_HDR + 64];
		unsigned int len;

		/* A field that is not carried reads as 0. */
		pkt.opcode = opcodes[inc_rnd_below(&rng, ARRAY_SIZE(opcodes))];
		pkt.flags = op_row(pkt.opcode)->flags;
		pkt.ackreq = inc_rnd(&rng) & 1;
		pkt.becn = inc_rnd(&rng) & 1;
		pkt.pad = inc_rnd_below(&rng, 4);
		pkt.pkey = inc_rnd(&rng);
		pkt.qpn = inc_rnd_below(&rng, 1 << 24);
		pkt.psn = inc_rnd_below(&rng, 1 << 24);
		pkt.payload_len = inc_rnd_below(&rng, 50);
		if (pkt.flags & INC_PKT_AETH) {
			pkt.syndrome = inc_rnd(&rng);
			pkt.msn = inc_rnd_below(&rng, 1 << 24);
		}
		if (pkt.flags & INC_PKT_RETH) {
			pkt.va = inc_rnd(&rng);
			pkt.rkey = inc_rnd(&rng);
			pkt.dmalen = inc_rnd(&rng);
		}
		if (pkt.flags & INC_PKT_IMM)
			pkt.imm = inc_rnd(&rng);

		memset(bytes, 0x5a, sizeof(bytes));
		pkt.hdr_len = inc_wire_build(bytes, &pkt);
		len = pkt.hdr_len + pkt.payload_len + pkt.pad + 4;
		KUNIT_ASSERT_EQ(test, bytes[pkt.hdr_len], 0x5a);
		KUNIT_ASSERT_EQ(test, inc_wire_parse(bytes, len, &got), INC_WIRE_OK);
		expect_pkt(test, &got, &pkt);
		KUNIT_ASSERT_EQ(test, ref_parse(bytes, len, &ref), INC_WIRE_OK);
		expect_pkt(test, &ref, &pkt);
	}
}

static int wire_init(struct kunit *test)
{
	test->priv = vmalloc(PAGE_SIZE);
	return test->priv ? 0 : -ENOMEM;
}

static void wire_exit(struct kunit *test)
{
	vfree(test->priv);
}

static struct kunit_case wire_cases[] = {
	KUNIT_CASE(every_opcode_and_length),
	KUNIT_CASE(truncated),
	KUNIT_CASE(versions),
	KUNIT_CASE(reserved_bits),
	KUNIT_CASE(foreign_opcodes),
	KUNIT_CASE(longest),
	KUNIT_CASE(alignment),
	KUNIT_CASE(scapy),
	KUNIT_CASE(scapy_fields),
	KUNIT_CASE(build_bytes),
	KUNIT_CASE(round_trip),
	{}
};

static struct kunit_suite wire_suite = {
	.name = "rdma_inc_wire",
	.init = wire_init,
	.exit = wire_exit,
	.test_cases = wire_cases,
};

kunit_test_suite(wire_suite);

MODULE_LICENSE("GPL");
