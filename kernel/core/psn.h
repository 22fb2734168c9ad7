/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Arithmetic on 24-bit packet sequence numbers (IBTA 1.x, section 9.7.2).
 */
#ifndef _INC_PSN_H
#define _INC_PSN_H

#include <linux/types.h>

#define INC_PSN_MASK	0xffffffU

/**
 * inc_psn_add() - add a number of packets to a PSN
 * @psn: a PSN
 * @n: number of packets, may be negative
 *
 * Return: the PSN, 24 bits.
 */
static inline u32 inc_psn_add(u32 psn, s32 n)
{
	return (psn + (u32)n) & INC_PSN_MASK;
}

/**
 * inc_psn_diff() - compute the signed distance from @b to @a on the circle of
 *	PSNs
 * @a: a PSN
 * @b: a PSN
 *
 * Return: a number of packets, -2^23 ... 2^23 - 1; negative if @a lies in the
 * half of the circle before @b, which IBTA C9-110 calls the duplicate region.
 */
static inline s32 inc_psn_diff(u32 a, u32 b)
{
	return (s32)((a - b) << 8) >> 8;
}

#endif /* _INC_PSN_H */
