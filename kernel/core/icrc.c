// SPDX-License-Identifier: GPL-2.0
/*
 * Invariant CRC: fields that routers may change count as ones, the rest goes
 * through CRC-32, least significant bit first. All of it is crc32_le(); only
 * the combination of a header's and a payload's CRC is computed here.
 */
#include <linux/cache.h>
#include <linux/crc32.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/string.h>
#include <linux/udp.h>

#include "core/icrc.h"
#include "core/wire.h"

/* CRC of the eight bytes of ones that stand for the LRH, from ~0. */
#define ICRC_SEED	0xdebb20e3

/* The polynomial of CRC-32, most significant coefficient in bit 0. */
#define CRC_POLY	0xedb88320U

/* Payload lengths that are powers of two: 4 to 4096. */
#define POWER_MIN	2
#define POWERS		11

/* Shifts over each of these lengths. */
static struct inc_crc_shift power[POWERS] __ro_after_init;

/* a * b modulo the polynomial; 1 is bit 31. */
static u32 gf2_mul(u32 a, u32 b)
{
	u32 product = 0;
	u32 bit;

	for (bit = 1U << 31; bit; bit >>= 1) {
		if (a & bit)
			product ^= b;
		b = b >> 1 ^ (b & 1 ? CRC_POLY : 0);
	}
	return product;
}

/**
 * inc_crc_shift_init() - build the table that shifts CRCs over a length
 * @s: table to fill
 * @len: bytes
 *
 * Context: any. Takes a few microseconds.
 */
void inc_crc_shift_init(struct inc_crc_shift *s, u32 len)
{
	u32 factor = 1U << 31;		/* x^0 */
	u32 power = 1U << 23;		/* x^8, one byte */
	unsigned int i, v;
	u32 n;

	for (n = len; n; n >>= 1) {
		if (n & 1)
			factor = gf2_mul(factor, power);
		power = gf2_mul(power, power);
	}

	s->len = len;
	for (i = 0; i < INC_CRC_NIBBLES; i++)
		for (v = 0; v < 16; v++)
			s->tab[i][v] = gf2_mul((u32)v << 4 * i, factor);
}

/**
 * inc_icrc_init() - build the tables that inc_crc_shift_any() needs
 *
 * Context: before any other function of this file.
 */
void inc_icrc_init(void)
{
	unsigned int i;

	for (i = 0; i < POWERS; i++)
		inc_crc_shift_init(&power[i], 1U << (i + POWER_MIN));
}

/**
 * inc_crc_shift_any() - shift a CRC over any number of bytes
 * @crc: CRC of the bytes before these
 * @len: their number, a multiple of 4, less than 8192
 *
 * As inc_crc_shift() with a table for @len, but slower by a factor of the
 * number of bits set in @len.
 *
 * Context: any.
 * Return: crc32_le(crc, bytes, len) if all bytes were zero.
 */
u32 inc_crc_shift_any(u32 crc, unsigned int len)
{
	unsigned int i;

	for (i = 0; i < POWERS; i++)
		if (len & 1U << (i + POWER_MIN))
			crc = inc_crc_shift(&power[i], crc);
	return crc;
}

/**
 * inc_crc_payload() - compute a payload's part of the ICRC
 * @data: payload
 * @len: bytes; padded with zeros to a multiple of 4
 *
 * Context: any.
 * Return: CRC from 0, to be combined by inc_crc_shift().
 */
u32 inc_crc_payload(const void *data, unsigned int len)
{
	static const u8 zero[3];

	return crc32_le(crc32_le(0, data, len), zero, -len & 3);
}

/* The bytes of a packet's headers that routers may change. */
struct variant {
	u8	ip[4];
	u8	hop_limit;
	__sum16	ip_check;
	__sum16	udp_check;
	u8	becn;
};

/* Set a packet's variant fields to ones, and keep them in @v. */
static void mask_variant(u8 *ip, unsigned int ip_len, struct variant *v)
{
	struct udphdr *uh = (struct udphdr *)(ip + ip_len);
	/* FECN, BECN and the reserved bits beside them. */
	u8 *becn = (u8 *)(uh + 1) + 4;

	if (ip_len == sizeof(struct iphdr)) {
		struct iphdr *ih = (struct iphdr *)ip;

		v->ip[1] = ih->tos;
		v->hop_limit = ih->ttl;
		v->ip_check = ih->check;
		ih->tos = 0xff;
		ih->ttl = 0xff;
		ih->check = (__force __sum16)0xffff;
	} else {
		struct ipv6hdr *ih = (struct ipv6hdr *)ip;

		/* Traffic class, flow label and hop limit. */
		memcpy(v->ip, ip, sizeof(v->ip));
		v->hop_limit = ih->hop_limit;
		ip[0] |= 0x0f;
		memset(ip + 1, 0xff, 3);
		ih->hop_limit = 0xff;
	}
	v->udp_check = uh->check;
	v->becn = *becn;
	uh->check = (__force __sum16)0xffff;
	*becn = 0xff;
}

static void restore_variant(u8 *ip, unsigned int ip_len,
			    const struct variant *v)
{
	struct udphdr *uh = (struct udphdr *)(ip + ip_len);

	if (ip_len == sizeof(struct iphdr)) {
		struct iphdr *ih = (struct iphdr *)ip;

		ih->tos = v->ip[1];
		ih->ttl = v->hop_limit;
		ih->check = v->ip_check;
	} else {
		memcpy(ip, v->ip, sizeof(v->ip));
		((struct ipv6hdr *)ip)->hop_limit = v->hop_limit;
	}
	uh->check = v->udp_check;
	*((u8 *)(uh + 1) + 4) = v->becn;
}

/**
 * inc_icrc() - compute the CRC of a packet's first bytes, variant fields masked
 * @ip: IPv4 header without options, or IPv6 header; UDP and BTH follow it
 * @ip_len: its length, which tells the two apart
 * @len: bytes from @ip on, BTH included
 *
 * The variant fields are changed meanwhile: nobody else may look.
 *
 * Context: any.
 * Return: CRC to continue with over the rest of the payload and pad; the ICRC is
 * the complement of the final value, little-endian.
 * Spec: IBTA annex A17.3.1.
 */
u32 inc_icrc(void *ip, unsigned int ip_len, unsigned int len)
{
	struct variant v;
	u32 crc;

	mask_variant(ip, ip_len, &v);
	crc = crc32_le(ICRC_SEED, ip, len);
	restore_variant(ip, ip_len, &v);
	return crc;
}

/**
 * inc_icrc_hdr() - compute the CRC of headers that others may look at
 * @ip: as for inc_icrc()
 * @ip_len: the same
 * @len: the same, no further than the extended headers
 *
 * Context: any.
 * Return: as inc_icrc().
 */
u32 inc_icrc_hdr(const void *ip, unsigned int ip_len, unsigned int len)
{
	u8 buf[sizeof(struct ipv6hdr) + sizeof(struct udphdr) +
	       INC_MAX_TRANSPORT_HDR];

	memcpy(buf, ip, len);
	return inc_icrc(buf, ip_len, len);
}
