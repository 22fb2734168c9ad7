/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Invariant CRC of RoCEv2 (IBTA annex A17.3.1), in a form that lets the
 * payload's part be computed once for many packets.
 */
#ifndef _INC_ICRC_H
#define _INC_ICRC_H

#include <linux/types.h>

/* CRC of a packet up to its ICRC, that included, if it is right. */
#define INC_ICRC_GOOD	0xdebb20e3

/* Nibbles of a 32-bit CRC. */
#define INC_CRC_NIBBLES	8

/**
 * struct inc_crc_shift - table that shifts a CRC over a number of bytes
 * @len: number of bytes
 * @tab: shifted CRC for each nibble of the CRC and each value of it
 *
 * A CRC register is linear: the CRC of A|B is the CRC of A, shifted over the
 * bytes of B, plus (exclusive or) the CRC of B from 0.
 */
struct inc_crc_shift {
	u32	len;
	u32	tab[INC_CRC_NIBBLES][16];
};

void inc_crc_shift_init(struct inc_crc_shift *s, u32 len);

/**
 * inc_crc_shift() - shift a CRC over @s->len bytes
 * @s: the table
 * @crc: CRC of the bytes before these
 *
 * Return: crc32_le(crc, bytes, len) if all bytes were zero.
 */
static inline u32 inc_crc_shift(const struct inc_crc_shift *s, u32 crc)
{
	return s->tab[0][crc & 15] ^ s->tab[1][crc >> 4 & 15] ^
	       s->tab[2][crc >> 8 & 15] ^ s->tab[3][crc >> 12 & 15] ^
	       s->tab[4][crc >> 16 & 15] ^ s->tab[5][crc >> 20 & 15] ^
	       s->tab[6][crc >> 24 & 15] ^ s->tab[7][crc >> 28];
}

void inc_icrc_init(void);
u32 inc_crc_shift_any(u32 crc, unsigned int len);
u32 inc_crc_payload(const void *data, unsigned int len);
u32 inc_icrc(void *ip, unsigned int ip_len, unsigned int len);
u32 inc_icrc_hdr(const void *ip, unsigned int ip_len, unsigned int len);

#endif /* _INC_ICRC_H */
