// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Sizes, rates and times as people write them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "ctl/amctl.h"

static const char *scale(double value, double step, const char *const *units,
			 char text[CTL_UNIT_LEN])
{
	unsigned int i = 0;

	while (value >= step && units[i + 1]) {
		value /= step;
		i++;
	}
	snprintf(text, CTL_UNIT_LEN, i && value < 100 ? "%.1f %s" :
		 "%.0f %s", value, units[i]);
	return text;
}

/**
 * ctl_size() - write a size of memory
 * @bytes: number of bytes
 * @text: result
 *
 * Return: @text, in steps of 1024.
 */
const char *ctl_size(uint64_t bytes, char text[CTL_UNIT_LEN])
{
	static const char *const units[] = {
		"B", "KiB", "MiB", "GiB", "TiB", NULL,
	};

	return scale((double)bytes, 1024, units, text);
}

/**
 * ctl_rate() - write a number of bytes that are sent
 * @bytes: number of bytes, of a second or in all
 * @text: result
 *
 * Return: @text, in steps of 1000.
 */
const char *ctl_rate(double bytes, char text[CTL_UNIT_LEN])
{
	static const char *const units[] = {
		"B", "kB", "MB", "GB", "TB", "PB", NULL,
	};

	return scale(bytes, 1000, units, text);
}

static uint32_t factor(char unit)
{
	switch (unit) {
	case '\0':
	case 's':
		return 1;
	case 'm':
		return 60;
	case 'h':
		return 3600;
	case 'd':
		return 86400;
	default:
		return 0;
	}
}

/**
 * ctl_seconds() - read a time
 * @text: "90", "90s", "15m", "2h", "1d", or "1h30m"
 * @seconds: result
 *
 * Return: false if it is none, or more than 32 bits have.
 */
bool ctl_seconds(const char *text, uint32_t *seconds)
{
	uint64_t sum = 0, unit;
	unsigned long num;
	char *end;

	do {
		errno = 0;
		num = strtoul(text, &end, 10);
		unit = factor(*end);
		if (errno || end == text || *text == '-' || *text == '+' ||
		    *text == ' ' || !unit || num > UINT32_MAX)
			return false;
		sum += num * unit;
		text = end + (*end != '\0');
	} while (*text && sum <= UINT32_MAX);
	*seconds = (uint32_t)sum;
	return sum && sum <= UINT32_MAX;
}
