/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Messages that strangers can cause: one per second tells how many there were,
 * so that nobody can fill a log.
 */
#ifndef INC_CONF_PACE_H
#define INC_CONF_PACE_H

#include "conf/clock.h"

#define PACE_MS	1000

/**
 * struct pace - how often messages of one kind are printed; zeros at first
 * @last_at: milliseconds; when one was last printed; 0: never
 * @n: messages since then
 */
struct pace {
	int64_t		last_at;
	unsigned int	n;
};

/**
 * pace_take() - count a message
 * @p: pace of its kind
 *
 * Return: 0: do not print it; else the number of messages since the last one
 * that was printed, this one included.
 */
static inline unsigned int pace_take(struct pace *p)
{
	int64_t now = now_ms();
	unsigned int n = ++p->n;

	if (p->last_at && now - p->last_at < PACE_MS)
		return 0;
	*p = (struct pace){ .last_at = now };
	return n;
}

#endif /* INC_CONF_PACE_H */
