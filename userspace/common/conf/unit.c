// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See unit.h.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "conf/unit.h"

/**
 * struct step - a unit
 * @name: its name
 * @next: number of units that make one of the next; 0: it is the last
 */
struct step {
	const char	*name;
	unsigned int	next;
};

/* Use one decimal below 100, unless the number is whole. */
static const char *scale_value(double value, const char *gap,
			       const struct step *unit, char text[UNIT_LEN])
{
	double most;

	while (unit->next && value >= unit->next) {
		value /= unit->next;
		unit++;
	}
	/* Show at most 59.9 minutes, not 60.0. */
	most = unit->next - (unit->next > 99 ? 1 : 0.1);
	if (unit->next && value > most)
		value = most;
	snprintf(text, UNIT_LEN, value < 99.95 &&
		 value - (double)(uint64_t)value >= 0.05 ? "%.1f%s%s" :
		 "%.0f%s%s", value, gap, unit->name);
	return text;
}

/* Write a size of memory, in steps of 1024. Returns @text. */
const char *unit_size(uint64_t bytes, char text[UNIT_LEN])
{
	static const struct step units[] = {
		{ "B", 1024 }, { "KiB", 1024 }, { "MiB", 1024 },
		{ "GiB", 1024 }, { "TiB", 0 },
	};

	return scale_value((double)bytes, " ", units, text);
}

/*
 * Write a number of bytes sent, in steps of 1000. Returns @text.
 * @bytes: number of bytes, per second or in total
 */
const char *unit_rate(double bytes, char text[UNIT_LEN])
{
	static const struct step units[] = {
		{ "B", 1000 }, { "kB", 1000 }, { "MB", 1000 }, { "GB", 1000 },
		{ "TB", 1000 }, { "PB", 0 },
	};

	return scale_value(bytes, " ", units, text);
}

/* Write a duration, as in 350ms, 1.5s, 2h. Returns @text. */
const char *unit_time(uint64_t ms, char text[UNIT_LEN])
{
	static const struct step units[] = {
		{ "ms", 1000 }, { "s", 60 }, { "m", 60 }, { "h", 24 },
		{ "d", 0 },
	};

	return scale_value((double)ms, "", units, text);
}

/*
 * Write a time in the format of RFC 3339, for programs: local time with its
 * offset from UTC. Returns @text.
 */
const char *unit_clock(int64_t usec, char text[UNIT_TIME_LEN])
{
	time_t secs = (time_t)(usec / 1000000);
	char day[24] = "", zone[8] = "";
	struct tm tm;

	if (localtime_r(&secs, &tm)) {
		strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm);
		strftime(zone, sizeof(zone), "%z", &tm);
	}
	/* strftime() writes "+0200" without the colon. */
	snprintf(text, UNIT_TIME_LEN, "%s.%06d%.3s:%s", day,
		 (int)(usec % 1000000), zone, zone[0] ? zone + 3 : "");
	return text;
}

/* Returns the milliseconds of the unit at @text, and its length; 0: no unit. */
static uint64_t unit_of(const char *text, size_t *len)
{
	static const struct {
		const char	*name;
		uint64_t	ms;
	} units[] = {
		{ "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 },
		{ "d", 86400000 },
	};
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		*len = strlen(units[i].name);
		if (!strncmp(text, units[i].name, *len))
			return units[i].ms;
	}
	return 0;
}

/*
 * Read a duration. Returns true if all of @text is a duration.
 * @text: decimal numbers, each with its unit: ms, s, m, h or d, as in "90s" or
 *	"1h30m"; or one number alone, which may be hexadecimal after 0x
 * @plain: unit of a number alone, in milliseconds
 */
bool unit_msec(const char *text, uint64_t plain, uint64_t *ms)
{
	bool hex = text[0] == '0' && (text[1] | 32) == 'x', first = true;
	uint64_t sum = 0, num, unit;
	size_t len;
	char *end;

	do {
		errno = 0;
		num = strtoull(text, &end, hex ? 16 : 10);
		if (errno || !isalnum((unsigned char)*text) || end == text)
			return false;
		len = 0;
		unit = first && !*end ? plain : unit_of(end, &len);
		if (!unit || (hex && len) || num > (UINT64_MAX - sum) / unit)
			return false;
		sum += num * unit;
		text = end + len;
		first = false;
	} while (*text);
	*ms = sum;
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 99;
}

static unsigned int suffix_shift(char c)
{
	switch (c) {
	case 'k':
	case 'K':
		return 10;
	case 'm':
	case 'M':
		return 20;
	case 'g':
	case 'G':
		return 30;
	default:
		return 0;
	}
}

/*
 * Read a number. Returns true if all of @text is a number.
 * @text: decimal, or hexadecimal after 0x; then K, M or G for powers of 1024
 */
bool unit_number(const char *text, uint64_t max, uint64_t *value)
{
	int base = 10;
	uint64_t v = 0;

	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		base = 16;
		text += 2;
	}
	if (hex_digit(*text) >= base)
		return false;
	for (; hex_digit(*text) < base; text++) {
		int d = hex_digit(*text);

		if (v > (UINT64_MAX - (uint64_t)d) / (uint64_t)base)
			return false;
		v = v * (uint64_t)base + (uint64_t)d;
	}
	if (*text) {
		unsigned int shift = suffix_shift(*text++);

		if (!shift || *text || v > UINT64_MAX >> shift)
			return false;
		v <<= shift;
	}
	*value = v;
	return v <= max;
}
