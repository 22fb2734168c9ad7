// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Checks of chunks (RFC 6242) that libnetconf2 lacks: of their size, and of
 * messages without a chunk.
 *
 * libnetconf2 3.7.1 takes the size as strtoul() returns it: for "-1" it
 * allocates one byte too few and reads from the peer until memory is
 * overwritten, for more than 32 bits it copies bytes that it has not read. A
 * client with read access only could take over the agent, and a false agent the
 * manager. The program's strtoul() takes precedence over the C library's, even
 * in libraries; the return value of chunk_refuse() ends the session.
 *
 * At the end of a message without a chunk, libnetconf2 notes an error, but goes
 * on without a message, and asks libyang for its text by a null pointer.
 *
 * dialogue.py and liar.py fail without these checks.
 */
#include <dlfcn.h>
#include <libyang/libyang.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "netconf/chunk.h"

/* libnetconf2 passes a line of decimal digits, and does not ask for its end. */
static bool is_chunk(const char *text, char **end, int base)
{
	size_t len = strlen(text);

	return !end && base == 10 && len && text[len - 1] == '\n';
}

static unsigned long chunk_size(const char *text)
{
	unsigned long size = 0, most = chunk_most();

	if (*text == '0')
		return chunk_refuse();
	for (; *text >= '0' && *text <= '9'; text++) {
		size = size * 10 + (unsigned long)(*text - '0');
		if (size > most)
			return chunk_refuse();
	}
	return strcmp(text, "\n") ? chunk_refuse() : size;
}

/*
 * As the C library's, except for the size of a chunk. Returns the number; for a
 * line that is no valid size, the return value of chunk_refuse().
 * @end: result: rest of @text, or NULL
 */
unsigned long strtoul(const char *restrict text, char **restrict end, int base)
{
	unsigned long long value;

	if (is_chunk(text, end, base))
		return chunk_size(text);
	value = strtoull(text, end, base);
#if ULONG_MAX < ULLONG_MAX
	if (value > ULONG_MAX)
		value = ULONG_MAX;
#endif
	return (unsigned long)value;
}

/*
 * As libyang's, but also for a missing message. Returns libyang's result; for a
 * missing message, an empty text.
 * @text: new text, or NULL
 */
const char *ly_in_memory(struct ly_in *in, const char *text)
{
	static const char *(*original)(struct ly_in *in, const char *text);

	if (!in)
		return "";
	if (!original)
		*(void **)&original = dlsym(RTLD_NEXT, "ly_in_memory");
	return original(in, text);
}
