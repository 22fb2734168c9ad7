/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Waiting for a count to grow, and since when.
 */
#ifndef _INC_WAIT_H
#define _INC_WAIT_H

#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/limits.h>
#include <linux/types.h>

/* The clock of requester and slots, microseconds. */
static inline u64 inc_now(void)
{
	return ktime_to_us(ktime_get());
}

/**
 * inc_age() - get the jiffies since a time that was noted
 * @then: the time
 *
 * Where a long has 32 bits, time_after() takes a time of 25 days ago, with a HZ of
 * 1000, for one to come. Trees and members are idle for longer than that.
 *
 * Return: jiffies; 0 if another CPU's clock is a little ahead.
 */
static inline unsigned long inc_age(unsigned long then)
{
	unsigned long age = jiffies - then;

	return age > ULONG_MAX - HZ ? 0 : age;
}

/**
 * struct inc_wait - a count that has to grow, and its last progress
 * @seen: value when last checked
 * @waits: a member waits for it
 * @since: jiffies since when it has not grown
 * @probed: jiffies when the peer that has to make it grow was last probed, or
 *	@since
 */
struct inc_wait {
	u32		seen;
	bool		waits;
	unsigned long	since;
	unsigned long	probed;
};

#endif /* _INC_WAIT_H */
