/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Durations, sizes and rates as people write them, the same in all programs.
 */
#ifndef INC_CONF_UNIT_H
#define INC_CONF_UNIT_H

#include <stdbool.h>
#include <stdint.h>

#define UNIT_LEN	32
#define UNIT_TIME_LEN	40

bool unit_number(const char *text, uint64_t max, uint64_t *value);
bool unit_msec(const char *text, uint64_t plain, uint64_t *ms);
const char *unit_size(uint64_t bytes, char text[UNIT_LEN]);
const char *unit_rate(double bytes, char text[UNIT_LEN]);
const char *unit_time(uint64_t ms, char text[UNIT_LEN]);
const char *unit_clock(int64_t usec, char text[UNIT_TIME_LEN]);

#endif /* INC_CONF_UNIT_H */
