/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Messages that strangers can cause: some in a period, so that nobody can fill a
 * log.
 */
#ifndef INC_CONF_PACE_H
#define INC_CONF_PACE_H

#include "conf/clock.h"

#define PACE_MS	1000

/**
 * struct pace - how often messages of one kind are printed; zeros at first
 * @since: milliseconds; when the period began
 * @n: messages in it
 */
struct pace {
	int64_t		since;
	unsigned int	n;
};

/**
 * pace_count() - count a message
 * @p: pace of its kind
 * @period_ms: length of a period, which begins with a message
 * @before: result: messages of the period that has ended now, or 0
 *
 * Return: its number in its period, from 1.
 */
static inline unsigned int pace_count(struct pace *p, int64_t period_ms,
				      unsigned int *before)
{
	int64_t now = now_ms();

	*before = 0;
	if (!p->n || now - p->since >= period_ms) {
		*before = p->n;
		*p = (struct pace){ .since = now };
	}
	return ++p->n;
}

/**
 * pace_take() - count a message of which one per second is printed
 * @p: pace of its kind
 *
 * Return: 0: do not print it; else the number of messages since the last one
 * that was printed, this one included.
 */
static inline unsigned int pace_take(struct pace *p)
{
	unsigned int before;

	if (pace_count(p, PACE_MS, &before) > 1)
		return 0;
	return before ? before : 1;
}

#endif /* INC_CONF_PACE_H */
