/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Prefetch of the data that the next packets need.
 */
#ifndef _INC_PREFETCH_H
#define _INC_PREFETCH_H

#include <linux/types.h>

struct inc_slot;

void inc_prefetch_next(const struct inc_slot *s, u16 member, u16 chunk);

#endif /* _INC_PREFETCH_H */
