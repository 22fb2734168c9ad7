/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * How an operation is cut into messages, and arithmetic of message IDs. Pure
 * functions, tested by test_seg.c.
 */
#ifndef INC_LIB_SEG_H
#define INC_LIB_SEG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inc_proto.h"

/* Bytes of data in a message that is full: whole elements. */
static inline size_t inc_seg_chunk(uint32_t msg_size, size_t esize)
{
	size_t room = msg_size - INC_HDR_LEN;

	return esize ? room - room % esize : room;
}

/* Packets of a message that a block is cut into. */
#define INC_SEG_PACKETS	16

/**
 * inc_seg_piece() - longest message that a block is cut into
 * @msg_size: longest message of the tree, INC header included
 * @pmtu: path MTU
 *
 * A requester that goes back sends again what is in flight, and that is a
 * message at least. Longer ones save little: a post and a completion each.
 */
static inline uint32_t inc_seg_piece(uint32_t msg_size, uint32_t pmtu)
{
	return msg_size < INC_SEG_PACKETS * pmtu ? msg_size :
						   INC_SEG_PACKETS * pmtu;
}

/* Messages that @bytes take; an operation without data takes one. */
static inline uint64_t inc_seg_msgs(size_t bytes, size_t chunk)
{
	return bytes ? (bytes - 1) / chunk + 1 : 1;
}

/* Bytes of data in the message that begins at @off. */
static inline size_t inc_seg_len(size_t bytes, size_t off, size_t chunk)
{
	return bytes - off < chunk ? bytes - off : chunk;
}

/**
 * inc_seg_even() - bytes of a block that is cut into as few messages as can be
 * @block: bytes of a block, whole elements
 * @msg_size: longest message of the tree, INC header included
 * @pmtu: path MTU
 * @esize: bytes of an element
 *
 * All parts but the last are as long, in full packets where the elements allow.
 */
static inline size_t inc_seg_even(size_t block, uint32_t msg_size, uint32_t pmtu,
				  size_t esize)
{
	size_t most = inc_seg_chunk(msg_size, esize), len;
	uint64_t n = inc_seg_msgs(block, most);

	if (!esize || n == 1)
		return most;
	len = ((block / esize + n - 1) / n * esize + INC_HDR_LEN + pmtu - 1) /
	      pmtu * pmtu;
	return len < msg_size ? inc_seg_chunk((uint32_t)len, esize) : most;
}

/* The Immediate of a request. */
static inline uint32_t inc_seg_imm(uint32_t msg_id)
{
	return msg_id & INC_IMM_MSG_ID_MASK;
}

/**
 * inc_seg_dist() - how far a result's message ID is from the oldest in flight
 * @imm: Immediate of the result, host byte order
 * @head_id: oldest message in flight
 *
 * Return: number of messages, 0 ... 2^24 - 1; large for one before @head_id.
 */
static inline uint32_t inc_seg_dist(uint32_t imm, uint32_t head_id)
{
	return (imm - head_id) & INC_IMM_MSG_ID_MASK;
}

/**
 * inc_seg_id() - whole message ID of an Immediate
 * @imm: Immediate, host byte order
 * @head_id: oldest message in flight
 *
 * Return: the one nearest to @head_id, before or behind it.
 */
static inline uint32_t inc_seg_id(uint32_t imm, uint32_t head_id)
{
	uint32_t dist = inc_seg_dist(imm, head_id);

	if (dist > INC_IMM_MSG_ID_MASK / 2)
		dist -= INC_IMM_MSG_ID_MASK + 1;
	return head_id + dist;
}

#endif /* INC_LIB_SEG_H */
