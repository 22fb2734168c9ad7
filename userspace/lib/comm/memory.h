/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Registered memory of a communicator: headers, short data, and what must be copied.
 */
#ifndef INC_LIB_COMM_MEMORY_H
#define INC_LIB_COMM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

/**
 * struct inc_bounce - buffer for one long message, if user memory can't be
 *	registered
 * @mem: data to send, followed by the result; NULL: no message is that long, or
 *	none has come yet
 * @mr: its registration
 * @room: bytes of either half
 * @busy: a message uses it
 * @seq: send request that reads it
 */
struct inc_bounce {
	char		*mem;
	struct ibv_mr	*mr;
	size_t		room;
	bool		busy;
	uint64_t	seq;
};

/**
 * struct inc_arena - registered memory for headers and short data
 * @mem: its memory
 * @mr: its registration
 * @size: its length
 * @entry_data: bytes of data to send in an entry; over RC as many again for the
 *	result
 */
struct inc_arena {
	char		*mem;
	struct ibv_mr	*mr;
	size_t		size;
	size_t		entry_data;
};

#endif /* INC_LIB_COMM_MEMORY_H */
