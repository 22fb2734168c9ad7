/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * NETCONF's framing (RFC 6242, section 4): messages out of the bytes that a peer
 * sends. The only file that looks at them, and the only one that says how long a
 * message may be.
 */
#ifndef INC_NETCONF_FRAME_H
#define INC_NETCONF_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A manager's edit of 1,024 members is below 1 MiB. */
#define FRAME_CHUNK_MAX	(16U << 20)

/**
 * struct frame_pool - what all large messages hold that are read at a time
 * @taken: bytes
 */
struct frame_pool {
	_Atomic size_t	taken;
};

/**
 * struct frame - a message that is being read
 * @chunked: both sides have said :base:1.1
 * @max: bytes that a message may have; 0: as many as there is memory for
 * @elements_max: elements that it may have; 0: any number
 * @attributes_max: attributes and namespaces that it may have; 0: any number
 * @pool: to share with other sessions, or NULL
 * @text: what has come of it, with a zero byte behind it
 * @len: its length, bytes
 * @room: bytes that @text has
 * @held: of these, bytes of @pool
 * @state: what comes next in chunked framing
 * @size: bytes of the chunk that are still to come, or its size as far as it has
 * @before: bytes before a chunk that mean nothing
 * @elements: how many have begun
 * @attributes: equals signs that have come
 * @counted: bytes of @text in which they were counted
 */
struct frame {
	bool			chunked;
	size_t			max;
	unsigned int		elements_max;
	unsigned int		attributes_max;
	struct frame_pool	*pool;
	char			*text;
	size_t			len;
	size_t			room;
	size_t			held;
	int			state;
	size_t			size;
	unsigned int		before;
	unsigned int		elements;
	unsigned int		attributes;
	size_t			counted;
};

int frame_take(struct frame *f, const char *data, size_t len, size_t *used);
void frame_done(struct frame *f);
const char *frame_why(int err);

#endif /* INC_NETCONF_FRAME_H */
