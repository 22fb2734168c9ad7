// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * How long a message may be that libnetconf2 reads.
 *
 * libnetconf2 3.7.1 reads, in a client, whatever the peer sends: chunks, the line of
 * a chunk's size, what comes before one, a hello, a message of NETCONF 1.0. All of it
 * is kept in a buffer that realloc() makes longer, and where that fails the session
 * is over. The program's realloc() comes before the C library's, in libraries, too.
 * liar.py fails without this.
 */
#include <errno.h>
#include <stdlib.h>

#include "netconf/chunk.h"
#include "netconf/limit.h"

void *__libc_realloc(void *old, size_t size);

static _Thread_local size_t limit;
static _Thread_local bool passed;

/**
 * netconf_limit_set() - limit what this thread may make longer
 * @max: bytes; 0: no limit
 */
void netconf_limit_set(size_t max)
{
	limit = max;
	passed = false;
}

/**
 * netconf_limit_passed() - ask whether a message was given up
 *
 * Return: it was, since netconf_limit_set(); the session is of no use any more.
 */
bool netconf_limit_passed(void)
{
	return passed;
}

/**
 * chunk_refuse() - choose what a client is told of a chunk's size that is not valid
 *
 * After a size of 0 libnetconf2's client goes on with a message that it has not got.
 *
 * Return: bytes for which there is no memory.
 */
unsigned long chunk_refuse(void)
{
	passed = true;
	return ~0UL - 1;
}

/* AddressSanitizer has its own, and what one has allocated the other cannot free. */
#ifndef __SANITIZE_ADDRESS__
/**
 * realloc() - the C library's, within this thread's limit
 * @old: what to make longer, or NULL
 * @size: bytes
 *
 * Return: the memory, or NULL with errno.
 */
void *realloc(void *old, size_t size)
{
	if (limit && size > limit) {
		passed = true;
		errno = ENOMEM;
		return NULL;
	}
	return __libc_realloc(old, size);
}
#endif
