// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Limits of messages that libnetconf2 reads.
 *
 * A client of libnetconf2 3.7.1 reads whatever the peer sends: chunks, the line
 * with a chunk's size, bytes before it, a hello, a message of NETCONF 1.0. All
 * of it is kept in a buffer that realloc() enlarges; if that fails, the session
 * is over. The program's realloc() takes precedence over the C library's, even
 * in libraries.
 *
 * A message of 12 MiB can have three million elements, which take 200 bytes
 * each once libyang has parsed them. So a function that libnetconf2 calls with
 * the text limits their number, too, and one thread at a time parses large
 * messages. liar.py fails without these limits.
 */
#include <dlfcn.h>
#include <errno.h>
#include <libyang/libyang.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "netconf/chunk.h"
#include "netconf/limit.h"

#define LARGE		(1U << 20)	/* bytes; most messages are shorter */
#define LAST_CHUNKS	64	/* chunks read from a session that ends */
#define LARGE_TOTAL	(128U << 20)	/* all threads' large messages */
#define ELEMENTS	(1U << 20)	/* 60,000 interfaces have 700,000 */

void *__libc_realloc(void *old, size_t size);

static _Thread_local size_t limit;
static _Thread_local bool passed;
static _Thread_local size_t last;
static _Thread_local size_t held;
static _Thread_local unsigned int chunks;
static _Thread_local bool turn;
static _Atomic size_t total;
static pthread_mutex_t turns = PTHREAD_MUTEX_INITIALIZER;

/*
 * Limit the buffers that this thread enlarges.
 * @max: bytes; 0: no limit
 */
void netconf_limit_set(size_t max)
{
	limit = max;
	chunks = 0;
	passed = false;
	last = 0;
	total -= held;
	held = 0;
}

/*
 * Limit the input of a session that this thread ends. Before it says goodbye,
 * libnetconf2 reads until there is nothing left, and a peer that sends all the
 * time puts that off for ever: after some chunks the next one is refused.
 * @max: bytes of a message
 */
void netconf_limit_last(size_t max)
{
	netconf_limit_set(max);
	chunks = LAST_CHUNKS;
}

/* Report that a message's tree was freed. */
void netconf_limit_done(void)
{
	if (!turn)
		return;
	/* The tree has left holes in this thread's heap: give them back. */
	malloc_trim(0);
	turn = false;
	pthread_mutex_unlock(&turns);
}

/*
 * Get the largest size of a message's next chunk. libnetconf2 does not free a
 * chunk for which the message has no room left. Returns bytes.
 */
unsigned long chunk_most(void)
{
	size_t most = CHUNK_MAX, taken = total;

	if (!limit)
		return most;
	if (chunks && !--chunks) {
		chunks = 1;
		return 0;
	}
	if (limit <= last + 1)
		return 0;
	if (most > limit - last - 1)
		most = limit - last - 1;
	/* Limit all threads' messages together. */
	if (taken > LARGE_TOTAL - CHUNK_MAX && most > LARGE)
		most = LARGE;
	return most;
}

static bool has_many(const char *text)
{
	unsigned int n = 0;

	while ((text = strchr(text, '<')) && n <= ELEMENTS)
		n += *++text != '/';
	return n > ELEMENTS;
}

/* As libyang's, unless the message is too large. Returns libyang's result. */
LY_ERR ly_in_new_memory(const char *text, struct ly_in **in)
{
	static LY_ERR (*original)(const char *text, struct ly_in **in);

	if (!original)
		*(void **)&original = dlsym(RTLD_NEXT, "ly_in_new_memory");
	if (!limit || strlen(text) <= LARGE)
		return original(text, in);
	/* An answer has one message. libnetconf2 would leak it on an error. */
	passed = turn || has_many(text);
	if (passed) {
		*(char *)text = '\0';
	} else {
		pthread_mutex_lock(&turns);
		turn = true;
	}
	return original(text, in);
}

/*
 * Ask whether a message was refused since netconf_limit_set(). The session is
 * of no use after that.
 */
bool netconf_limit_passed(void)
{
	return passed;
}

/*
 * Get the size by which a client's libnetconf2 gives a chunk up. After a size
 * of 0 it would go on with a message that it does not have. Returns more bytes
 * than can be allocated.
 */
unsigned long chunk_refuse(void)
{
	passed = true;
	return ~0UL - 1;
}

/* AddressSanitizer has its own heap, which must not be mixed with this one. */
#ifndef __SANITIZE_ADDRESS__
/* Check the limits of this thread, and of all threads' large messages. */
static bool may_hold(size_t size)
{
	size_t more;

	if (size > limit)
		return false;
	if (size > last)
		last = size;
	if (size <= LARGE || size <= held)
		return true;
	more = size - held;
	if (atomic_fetch_add(&total, more) + more > LARGE_TOTAL) {
		total -= more;
		return false;
	}
	held = size;
	return true;
}

/*
 * As the C library's, within this thread's limit. Returns the memory, or NULL
 * with errno.
 * @old: memory to be enlarged, or NULL
 */
void *realloc(void *old, size_t size)
{
	if (limit && !may_hold(size)) {
		passed = true;
		errno = ENOMEM;
		return NULL;
	}
	return __libc_realloc(old, size);
}
#endif
