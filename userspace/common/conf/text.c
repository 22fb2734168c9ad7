// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Agents and ranks send texts that become part of a line of the log, or are
 * shown at a terminal. None of them may end the line, command the terminal, or
 * have the rest of the line shown backwards.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "conf/text.h"

/* Decode a character. Returns its length in bytes; 0: not UTF-8. */
static size_t decode(const unsigned char *s, uint32_t *c)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t i, n = s[0] < 0x80 ? 1 : s[0] < 0xc0 ? 0 : s[0] < 0xe0 ? 2 :
		      s[0] < 0xf0 ? 3 : s[0] < 0xf8 ? 4 : 0;

	*c = n > 1 ? s[0] & (0x7fU >> n) : s[0];
	for (i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*c = *c << 6 | (s[i] & 0x3fU);
	}
	if (*c < least[n] || *c > 0x10ffff || (*c >= 0xd800 && *c < 0xe000))
		return 0;
	return n;
}

/* Hidden: control characters, C1 too, line separators, and direction marks. */
static bool is_shown(uint32_t c)
{
	return c >= 0x20 && (c < 0x7f || c > 0x9f) && c != 0x61c &&
	       c != 0x200e && c != 0x200f && (c < 0x2028 || c > 0x202e) &&
	       (c < 0x2066 || c > 0x2069);
}

/*
 * Make a text one line that is shown as it is.
 * @text: text; bytes that are not UTF-8, and hidden characters, become "?"
 */
void text_clean(char *text)
{
	const unsigned char *from = (const unsigned char *)text;
	uint32_t c;
	size_t n;

	while (*from) {
		n = decode(from, &c);
		if (!n || !is_shown(c)) {
			*text++ = '?';
			from += n ? n : 1;
			continue;
		}
		while (n--)
			*text++ = (char)*from++;
	}
	*text = '\0';
}

static const char digits[] = "0123456789abcdef";

/* Read @n bytes as 2 * @n digits, 0-9 and a-f. Returns false if @text is anything else. */
bool text_hex_take(const char *text, uint8_t *bytes, size_t n)
{
	const char *high, *low;
	size_t i;

	if (strlen(text) != 2 * n)
		return false;
	for (i = 0; i < n; i++) {
		high = strchr(digits, text[2 * i]);
		low = strchr(digits, text[2 * i + 1]);
		if (!high || !low)
			return false;
		bytes[i] = (uint8_t)((high - digits) << 4 | (low - digits));
	}
	return true;
}

/*
 * Write bytes as digits.
 * @text: room for 2 * @n + 1 characters
 */
void text_hex_put(char *text, const uint8_t *bytes, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		*text++ = digits[bytes[i] >> 4];
		*text++ = digits[bytes[i] & 15];
	}
	*text = '\0';
}
