// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The size of a chunk (RFC 6242), which libnetconf2 does not check, and a message
 * without any.
 *
 * libnetconf2 3.7.1 takes it as strtoul() returns it: for "-1" it allocates one
 * byte too few and reads from the peer until memory is overwritten, for more than
 * 32 bits it copies what it has not read. A client that may look only could take
 * over the agent, and a false agent the manager. The program's strtoul() comes
 * before the C library's, in libraries, too; what chunk_refuse() returns ends the
 * session.
 *
 * The end of a message that has no chunk is an error to it, with which it goes on
 * without a message, and asks libyang for its text by a null pointer.
 *
 * dialogue.py and liar.py fail without this.
 */
#include <dlfcn.h>
#include <libyang/libyang.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "netconf/chunk.h"

/* How libnetconf2 asks: for a line of decimal digits, and for nothing after it. */
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
 * The C library's, except for the size of a chunk. Returns the number; for a
 * line that is no valid size of a chunk, what chunk_refuse() returns.
 * @end: where the rest begins, or NULL
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
 * Libyang's, also where there is no message. Returns libyang's; of no message,
 * none.
 * @text: its new text, or NULL
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
