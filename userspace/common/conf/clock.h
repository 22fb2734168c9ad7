/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Clocks.
 */
#ifndef INC_CONF_CLOCK_H
#define INC_CONF_CLOCK_H

#include <limits.h>
#include <stdint.h>
#include <time.h>

/**
 * clock_ns() - read a clock
 * @clock: clock
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
 * now_ms() - get the monotonic time
 *
 * Return: milliseconds of a clock that is never set.
 */
static inline int64_t now_ms(void)
{
	return clock_ns(CLOCK_MONOTONIC) / 1000000;
}

/**
 * ms_until() - compute how long to wait
 * @until: time of now_ms()
 *
 * Return: milliseconds, for poll() and its like; 0 if @until has passed.
 */
static inline int ms_until(int64_t until)
{
	int64_t left = until - now_ms();

	return left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

/**
 * now_us() - get the monotonic time, as now_ms(), for short intervals
 *
 * Return: microseconds, with decimals.
 */
static inline double now_us(void)
{
	return (double)clock_ns(CLOCK_MONOTONIC) / 1000;
}

/**
 * unix_ms() - get the wall-clock time
 *
 * Return: milliseconds since 1970 of a clock that people set.
 */
static inline int64_t unix_ms(void)
{
	return clock_ns(CLOCK_REALTIME) / 1000000;
}

#endif /* INC_CONF_CLOCK_H */
