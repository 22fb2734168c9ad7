/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Somebody waits: for what, and since when.
 */
#ifndef _INC_WAIT_H
#define _INC_WAIT_H

#include <linux/ktime.h>
#include <linux/types.h>

/* The clock of requester and slots, microseconds. */
static inline u64 inc_now(void)
{
	return ktime_to_us(ktime_get());
}

/**
 * struct inc_wait - a count that has to grow, as somebody waits for that
 * @seen: what it was when last looked at
 * @waits: somebody waits
 * @since: jiffies since when it has not grown
 * @probed: jiffies when who has to do something about it was last asked whether he
 *	lives, or @since
 */
struct inc_wait {
	u32		seen;
	bool		waits;
	unsigned long	since;
	unsigned long	probed;
};

#endif /* _INC_WAIT_H */
