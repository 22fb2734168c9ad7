/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What time it is.
 */
#ifndef INC_CONF_CLOCK_H
#define INC_CONF_CLOCK_H

#include <stdint.h>
#include <time.h>

/**
 * clock_ns() - read a clock
 * @clock: which one
 *
 * Return: nanoseconds.
 */
static inline int64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/**
 * now_ms() - tell the time
 *
 * Return: milliseconds of a clock that nobody sets.
 */
static inline int64_t now_ms(void)
{
	return clock_ns(CLOCK_MONOTONIC) / 1000000;
}

/**
 * now_us() - tell the time, as for now_ms(), to measure what is short
 *
 * Return: microseconds, with decimals.
 */
static inline double now_us(void)
{
	return (double)clock_ns(CLOCK_MONOTONIC) / 1000;
}

/**
 * unix_ms() - tell the date
 *
 * Return: milliseconds since 1970 of a clock that people set.
 */
static inline int64_t unix_ms(void)
{
	return clock_ns(CLOCK_REALTIME) / 1000000;
}

#endif /* INC_CONF_CLOCK_H */
