/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * How to split an operation into messages, and message ID arithmetic. Pure
 * functions, tested by test_seg.c.
 */
#ifndef INC_LIB_SEG_H
#define INC_LIB_SEG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rdma_inc_proto.h"

/* Bytes of data in a full message: whole elements. */
static inline size_t inc_seg_chunk(uint32_t msg_size, size_t esize)
{
	size_t room = msg_size - INC_HDR_LEN;

	return esize ? room - room % esize : room;
}

/* Maximum packets in a message of a block that is split. */
#define INC_SEG_PACKETS	16

/**
 * inc_seg_piece() - compute the maximum message size for splitting a block
 * @msg_size: maximum message size of the tree, including the INC header
 * @pmtu: path MTU
 *
 * A go-back-N requester retransmits everything in flight, at least one message.
 * Longer messages save little: a post and a completion each.
 *
 * Return: bytes, including the INC header.
 */
static inline uint32_t inc_seg_piece(uint32_t msg_size, uint32_t pmtu)
{
	return msg_size < INC_SEG_PACKETS * pmtu ? msg_size :
						   INC_SEG_PACKETS * pmtu;
}

/* Number of messages for @bytes; an operation without data takes one. */
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
 * inc_seg_even() - split a block evenly into as few messages as possible
 * @block: bytes of a block, whole elements
 * @msg_size: maximum message size of the tree, including the INC header
 * @pmtu: path MTU
 * @esize: bytes of an element
 *
 * Return: bytes of the block in each message except the last; together with the
 * header they fill whole packets where the element size allows.
 */
static inline size_t inc_seg_even(size_t block, uint32_t msg_size,
				  uint32_t pmtu, size_t esize)
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
 * inc_seg_dist() - compute a result's distance from the oldest message
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
 * inc_seg_id() - extend an Immediate to a full message ID
 * @imm: Immediate, host byte order
 * @head_id: oldest message in flight
 *
 * Return: the ID nearest to @head_id, before or after it.
 */
static inline uint32_t inc_seg_id(uint32_t imm, uint32_t head_id)
{
	uint32_t dist = inc_seg_dist(imm, head_id);

	if (dist > INC_IMM_MSG_ID_MASK / 2)
		dist -= INC_IMM_MSG_ID_MASK + 1;
	return head_id + dist;
}

#endif /* INC_LIB_SEG_H */
