// SPDX-License-Identifier: GPL-2.0
/*
 * The invariant CRC: against packets whose ICRC scapy computed, and against a
 * bitwise CRC-32.
 */
#include <kunit/test.h>
#include <linux/crc32.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "common.h"
#include "core/icrc.h"
#include "core/wire.h"
#include "golden_kunit.h"

#define MAX_LEN	9000
#define UDP_LEN	8

static u32 ref_byte(u32 crc, u8 byte)
{
	crc ^= byte;
	for (int i = 0; i < 8; i++)
		crc = crc & 1 ? (crc >> 1) ^ 0xedb88320U : crc >> 1;
	return crc;
}

static u32 ref_crc(u32 crc, const u8 *p, unsigned int len)
{
	while (len--)
		crc = ref_byte(crc, *p++);
	return crc;
}

static u32 hdr_crc(const struct golden *g, const u8 *pkt)
{
	return inc_icrc_hdr(pkt, g->ip_len, g->ip_len + UDP_LEN + g->hdr_len);
}

static u32 golden_icrc(const struct golden *g)
{
	const u8 *p = g->pkt + g->len - 4;

	return p[0] | p[1] << 8 | p[2] << 16 | (u32)p[3] << 24;
}

/* As a receiver does: header, then payload and pad in one go. */
static void scapy_receive(struct kunit *test)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(golden); i++) {
		const struct golden *g = &golden[i];
		const u8 *rest = g->pkt + g->ip_len + UDP_LEN + g->hdr_len;
		u32 crc = ref_crc(hdr_crc(g, g->pkt), rest,
				  g->payload_len + g->pad);

		KUNIT_EXPECT_EQ_MSG(test, ~crc, golden_icrc(g), "%s", g->name);
	}
}

/* As a sender does: the payload's part once, combined by a table. */
static void scapy_send(struct kunit *test)
{
	struct inc_crc_shift *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, s);
	for (unsigned int i = 0; i < ARRAY_SIZE(golden); i++) {
		const struct golden *g = &golden[i];
		const u8 *rest = g->pkt + g->ip_len + UDP_LEN + g->hdr_len;
		u32 crc;

		inc_crc_shift_init(s, g->payload_len + g->pad);
		KUNIT_EXPECT_EQ(test, s->len, (u32)g->payload_len + g->pad);
		crc = inc_crc_shift(s, hdr_crc(g, g->pkt)) ^
		      inc_crc_payload(rest, g->payload_len);
		KUNIT_EXPECT_EQ_MSG(test, ~crc, golden_icrc(g), "%s", g->name);
	}
}

/* Which bits routers may change (IBTA annex A17.3.1). */
static bool variant(const struct golden *g, unsigned int byte, unsigned int bit)
{
	if (byte == g->ip_len + UDP_LEN + 4)		/* FECN, BECN, resv8a */
		return true;
	if (byte == g->ip_len + 6 || byte == g->ip_len + 7)	/* UDP checksum */
		return true;
	if (g->ip_len == 20)		/* TOS, TTL, checksum */
		return byte == 1 || byte == 8 || byte == 10 || byte == 11;
	/* Traffic class and flow label, hop limit. */
	return (byte == 0 && bit < 4) || (byte >= 1 && byte <= 3) || byte == 7;
}

/* Flip every bit of the headers: it matters if and only if it is invariant. */
static void every_header_bit(struct kunit *test)
{
	u8 pkt[400];

	for (unsigned int i = 0; i < ARRAY_SIZE(golden); i++) {
		const struct golden *g = &golden[i];
		unsigned int nbits = (g->ip_len + UDP_LEN + g->hdr_len) * 8;
		u32 want = hdr_crc(g, g->pkt);

		KUNIT_ASSERT_LE(test, (size_t)g->len, sizeof(pkt));
		memcpy(pkt, g->pkt, g->len);
		for (unsigned int b = 0; b < nbits; b++) {
			pkt[b / 8] ^= 1 << b % 8;
			KUNIT_EXPECT_EQ_MSG(test, hdr_crc(g, pkt) == want,
					    variant(g, b / 8, b % 8),
					    "%s: bit %u of byte %u", g->name,
					    b % 8, b / 8);
			pkt[b / 8] ^= 1 << b % 8;
		}
		KUNIT_EXPECT_EQ(test, memcmp(pkt, g->pkt, g->len), 0);
	}
}

/* All variant fields at once, with random values. */
static void rewritten(struct kunit *test)
{
	struct inc_rng rng;
	u8 pkt[400];

	inc_rng_init(&rng, test);
	for (unsigned int i = 0; i < ARRAY_SIZE(golden); i++) {
		const struct golden *g = &golden[i];
		unsigned int len = g->ip_len + UDP_LEN + g->hdr_len;

		for (unsigned int n = 0; n < 50; n++) {
			memcpy(pkt, g->pkt, g->len);
			for (unsigned int b = 0; b < len * 8; b++)
				if (variant(g, b / 8, b % 8) && inc_rnd(&rng) & 1)
					pkt[b / 8] ^= 1 << b % 8;
			KUNIT_ASSERT_EQ_MSG(test, hdr_crc(g, pkt),
					    hdr_crc(g, g->pkt), "%s", g->name);
		}
	}
}

/* Headers that begin at an odd address. */
static void alignment(struct kunit *test)
{
	u8 pkt[128];

	for (unsigned int i = 0; i < ARRAY_SIZE(golden); i++) {
		const struct golden *g = &golden[i];
		unsigned int len = g->ip_len + UDP_LEN + g->hdr_len;

		for (unsigned int off = 0; off < 4; off++) {
			memcpy(pkt + off, g->pkt, len);
			KUNIT_EXPECT_EQ(test,
					inc_icrc_hdr(pkt + off, g->ip_len, len),
					hdr_crc(g, g->pkt));
		}
	}
}

/* A whole packet in one call, which leaves it as it was. */
static void in_place(struct kunit *test)
{
	u8 pkt[512];

	for (unsigned int i = 0; i < ARRAY_SIZE(golden); i++) {
		const struct golden *g = &golden[i];

		KUNIT_ASSERT_LE(test, g->len, sizeof(pkt));
		memcpy(pkt, g->pkt, g->len);
		KUNIT_EXPECT_EQ_MSG(test, ~inc_icrc(pkt, g->ip_len, g->len - 4),
				    golden_icrc(g), "%s", g->name);
		KUNIT_EXPECT_MEMEQ_MSG(test, pkt, g->pkt, g->len, "%s", g->name);
	}
}

/* The underlying CRC, by its known check value. */
static void crc_itself(struct kunit *test)
{
	static const u8 digits[] = "123456789";
	u8 buf[64];

	for (unsigned int i = 0; i < sizeof(buf); i++)
		buf[i] = i * 7;
	KUNIT_EXPECT_EQ(test, ~ref_crc(~0U, digits, 9), 0xcbf43926U);
	KUNIT_EXPECT_EQ(test, ~crc32_le(~0U, digits, 9), 0xcbf43926U);
	for (unsigned int i = 0; i <= sizeof(buf); i++)
		KUNIT_EXPECT_EQ(test, crc32_le(i, buf, i), ref_crc(i, buf, i));
}

/* Every length: shifts of some CRCs by table, against CRCs over zeros. */
static void shift_lengths(struct kunit *test)
{
	struct inc_crc_shift *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	u32 from[4] = { 0, 1, 0xffffffff }, crc[4];
	struct inc_rng rng;

	KUNIT_ASSERT_NOT_NULL(test, s);
	inc_rng_init(&rng, test);
	from[3] = inc_rnd(&rng);
	memcpy(crc, from, sizeof(crc));
	for (unsigned int len = 0; len <= MAX_LEN; len++) {
		inc_crc_shift_init(s, len);
		for (unsigned int i = 0; i < ARRAY_SIZE(crc); i++) {
			KUNIT_ASSERT_EQ_MSG(test, inc_crc_shift(s, from[i]),
					    crc[i], "0x%08x over %u bytes",
					    from[i], len);
			crc[i] = ref_byte(crc[i], 0);
		}
	}
}

/* Every length that a padded payload can have, without a table for it. */
static void shift_any(struct kunit *test)
{
	u32 from[3] = { 1, 0xffffffff }, crc[3];
	struct inc_rng rng;

	inc_rng_init(&rng, test);
	from[2] = inc_rnd(&rng);
	memcpy(crc, from, sizeof(crc));
	for (unsigned int len = 0; len < 8192; len += 4) {
		for (unsigned int i = 0; i < ARRAY_SIZE(crc); i++) {
			KUNIT_ASSERT_EQ_MSG(test, inc_crc_shift_any(from[i], len),
					    crc[i], "0x%08x over %u bytes",
					    from[i], len);
			for (unsigned int n = 0; n < 4; n++)
				crc[i] = ref_byte(crc[i], 0);
		}
	}
}

/* crc(A | B) from crc(A) and the payload's part of B. */
static void combine(struct kunit *test)
{
	const unsigned int n = inc_test_rounds(200);
	struct inc_crc_shift *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	u8 *buf = kunit_kzalloc(test, MAX_LEN + 4, GFP_KERNEL);
	struct inc_rng rng;

	KUNIT_ASSERT_NOT_NULL(test, s);
	KUNIT_ASSERT_NOT_NULL(test, buf);
	inc_rng_init(&rng, test);
	for (unsigned int i = 0; i < n; i++) {
		unsigned int len = i < 40 ? i : inc_rnd_below(&rng, MAX_LEN + 1);
		unsigned int pad = -len & 3;
		u32 before = inc_rnd(&rng);

		inc_rnd_bytes(&rng, buf, len);
		memset(buf + len, 0, pad);
		inc_crc_shift_init(s, len + pad);
		KUNIT_ASSERT_EQ_MSG(test, inc_crc_shift(s, before) ^
				    inc_crc_payload(buf, len),
				    ref_crc(before, buf, len + pad),
				    "%u bytes from 0x%08x", len, before);
	}
}

/* The pad is zeros, whatever follows the payload. */
static void payload_pad(struct kunit *test)
{
	static const u8 zero[4];
	u8 buf[16];

	for (unsigned int len = 0; len <= 12; len++) {
		memset(buf, 0xff, sizeof(buf));
		memset(buf, 0xa5, len);
		KUNIT_EXPECT_EQ_MSG(test, inc_crc_payload(buf, len),
				    ref_crc(ref_crc(0, buf, len), zero, -len & 3),
				    "%u bytes", len);
	}
}

static struct kunit_case icrc_cases[] = {
	KUNIT_CASE(crc_itself),
	KUNIT_CASE(scapy_receive),
	KUNIT_CASE(scapy_send),
	KUNIT_CASE(every_header_bit),
	KUNIT_CASE(rewritten),
	KUNIT_CASE(alignment),
	KUNIT_CASE(in_place),
	KUNIT_CASE(shift_lengths),
	KUNIT_CASE(shift_any),
	KUNIT_CASE(combine),
	KUNIT_CASE(payload_pad),
	{}
};

static struct kunit_suite icrc_suite = {
	.name = "rdma_inc_icrc",
	.test_cases = icrc_cases,
};

kunit_test_suite(icrc_suite);

MODULE_LICENSE("GPL");
