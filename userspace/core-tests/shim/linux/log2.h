/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_LOG2_H
#define _SHIM_LINUX_LOG2_H

/* Of 1 ... 2^31. */
static inline unsigned int roundup_pow_of_two(unsigned int n)
{
	return n > 1 ? 2U << (31 - __builtin_clz(n - 1)) : 1;
}

static inline unsigned int rounddown_pow_of_two(unsigned int n)
{
	return 1U << (31 - __builtin_clz(n));
}

#define ilog2(n)	(31 - __builtin_clz(n))

#endif
