// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * How long a message may be that libnetconf2 reads.
 *
 * libnetconf2 3.7.1 reads, in a client, whatever the peer sends: chunks, the line of
 * a chunk's size, what comes before one, a hello, a message of NETCONF 1.0. All of it
 * is kept in a buffer that realloc() makes longer, and where that fails the session
 * is over. The program's realloc() comes before the C library's, in libraries, too.
 *
 * A message of 12 MiB can have three million elements, which take 200 bytes each
 * when libyang has made sense of them. So their number is limited, too, by a
 * function that libnetconf2 calls with the text; and where there are many, one
 * thread at a time does this. liar.py fails without all that.
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
#define LAST_CHUNKS	64	/* of a session that ends */
#define LARGE_TOTAL	(128U << 20)	/* of all that are read at a time */
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
 * Limit what this thread may make longer.
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
 * Limit what this thread reads of a session that it ends. Before it says
 * goodbye, libnetconf2 reads until nothing is there, which a peer that sends
 * all the time puts off for ever: after some chunks the next one is wrong.
 * @max: bytes of a message
 */
void netconf_limit_last(size_t max)
{
	netconf_limit_set(max);
	chunks = LAST_CHUNKS;
}

/* Say that a message's tree was freed. */
void netconf_limit_done(void)
{
	if (!turn)
		return;
	/* The tree lay among what stays, in this thread's own heap. */
	malloc_trim(0);
	turn = false;
	pthread_mutex_unlock(&turns);
}

/*
 * Choose how long a message's next chunk may be. Libnetconf2 does not free a
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
	/* All threads' messages together. */
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

/* Libyang's, for messages that are not too large. Returns libyang's. */
LY_ERR ly_in_new_memory(const char *text, struct ly_in **in)
{
	static LY_ERR (*original)(const char *text, struct ly_in **in);

	if (!original)
		*(void **)&original = dlsym(RTLD_NEXT, "ly_in_new_memory");
	if (!limit || strlen(text) <= LARGE)
		return original(text, in);
	/* One answer has one message. libnetconf2 does not free what is refused. */
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
 * Ask whether a message was given up since netconf_limit_set(). The session is
 * of no use after that.
 */
bool netconf_limit_passed(void)
{
	return passed;
}

/*
 * Choose what a client is told of a chunk's size that is not valid. After a
 * size of 0 libnetconf2's client goes on with a message that it has not got.
 * Returns bytes for which there is no memory.
 */
unsigned long chunk_refuse(void)
{
	passed = true;
	return ~0UL - 1;
}

/* AddressSanitizer has its own, and what one has allocated the other cannot free. */
#ifndef __SANITIZE_ADDRESS__
/* What all threads hold of large messages is limited, too. */
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
 * The C library's, within this thread's limit. Returns the memory, or NULL
 * with errno.
 * @old: what to make longer, or NULL
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
