/* SPDX-License-Identifier: GPL-2.0 */
/* Random numbers for the tests of the reductions, from INC_SEED or the time. */
#ifndef _UNIT_RND_H
#define _UNIT_RND_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <linux/types.h>

#include "reduce_ref.h"

static u64 rnd_state;

/* splitmix64 */
static inline u64 rnd(void)
{
	u64 z = (rnd_state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* Print the seed. Returns INC_ROUNDS, or @rounds. */
static inline unsigned long rnd_init(unsigned long rounds)
{
	const char *seed = getenv("INC_SEED"), *n = getenv("INC_ROUNDS");

	rnd_state = seed ? strtoull(seed, NULL, 0) : (u64)time(NULL);
	rounds = n ? strtoul(n, NULL, 0) : rounds;
	printf("# INC_SEED=0x%llx INC_ROUNDS=%lu\n",
	       (unsigned long long)rnd_state, rounds);
	return rounds;
}

/* Bits of a float whose exponent is near @exp, with long runs of 0 or 1. */
static inline u64 rnd_fp(const struct ref_format *f, u64 exp)
{
	const u64 frac_mask = (1ull << (f->prec - 1)) - 1;
	u64 frac = rnd() & frac_mask;

	switch (rnd() % 4) {
	case 0:
		frac &= ~0ull << (rnd() % f->prec);
		break;
	case 1:
		frac |= frac_mask >> (rnd() % f->prec);
		break;
	case 2:
		frac = (1ull << (rnd() % f->prec)) & frac_mask;
		break;
	}
	exp += rnd() % 4;
	exp &= (1ull << (f->width - f->prec)) - 1;
	return frac | exp << (f->prec - 1) | (rnd() & 1) << (f->width - 1);
}

#endif
