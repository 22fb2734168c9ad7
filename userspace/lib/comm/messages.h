/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Messages in flight.
 */
#ifndef INC_LIB_COMM_MESSAGES_H
#define INC_LIB_COMM_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct inc_request;

/**
 * struct inc_msg - a message in flight, indexed by message ID in the ring
 * @req: its operation; NULL: its result has arrived
 * @to: final destination of its result
 * @land: where the switch writes the result, if it must be copied to @to
 * @len: bytes of the result
 * @out: bytes sent, including the header
 * @seq: send request that reads its arena entry; 0: none
 * @bounced: it uses the bounce buffer
 */
struct inc_msg {
	struct inc_request	*req;
	char		*to;
	const char	*land;
	size_t		len;
	uint32_t	out;
	uint64_t	seq;
	bool		bounced;
};

/**
 * struct inc_msgs - messages, by message ID
 * @next: the next message
 * @head: oldest message without a result; @next: none
 * @ring: messages in flight, at index message ID & @mask
 * @mask: size of the ring - 1
 * @entries_max: entries of the ring once it has grown
 * @grow: it is to grow as soon as no message is in flight
 * @early: statuses of messages not sent yet, at index message ID &
 *	(slots - 1)
 */
struct inc_msgs {
	uint32_t		next;
	uint32_t		head;
	struct inc_msg		*ring;
	uint32_t		mask;
	uint32_t		entries_max;
	bool			grow;
	uint8_t			*early;
};

#endif /* INC_LIB_COMM_MESSAGES_H */
