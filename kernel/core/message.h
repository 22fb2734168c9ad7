/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages: what the INC header of a request says, and how long and where that
 * makes its elements in a tree.
 */
#ifndef _INC_MESSAGE_H
#define _INC_MESSAGE_H

#include <linux/types.h>
#include <uapi/linux/inc.h>
#include <uapi/linux/inc_proto.h>

#include "core/layout.h"

/**
 * struct inc_slot_geom - what all slots of a tree have in common
 * @ranks: number of ranks
 * @slots: number of slots, a power of two
 * @pmtu: payload bytes of a full packet
 * @max_chunks: packets of the longest message
 * @msg_size: its bytes, INC header included
 * @tree_id: tree ID that requests must name
 * @collectives: mask of collectives taken
 * @dtypes: mask of data types taken
 * @ops: mask of operations taken
 * @by_arrival: ranks are reduced as they come
 * @leaf: what is gathered goes to a parent, which sends the result
 * @all: ranks of the job, below other switches too; 0 if there are no others
 * @own: ranks below this switch, if @all
 * @span: for each member the ranks that it stands for; NULL if one each
 * @at: for each of @own the member whose ranks begin there, if all members
 *	have aligned blocks of a power of two of them; else NULL
 *
 * Where members are switches, "rank" is a member's place among the members.
 */
struct inc_slot_geom {
	u16	ranks;
	u16	slots;
	u16	pmtu;
	u16	max_chunks;
	u32	msg_size;
	u32	tree_id;
	u32	collectives;
	u32	dtypes;
	u32	ops;
	bool	by_arrival;
	bool	leaf;
	u16	all;
	struct inc_rank_range	own;
	const struct inc_rank_range	*span;
	const u16		*at;
};

/**
 * struct inc_msg - a message, as the request of one rank says
 * @msg_id: message ID, 32 bits
 * @collective: enum inc_collective
 * @dtype: enum inc_dtype
 * @op: enum inc_op
 * @root: root rank
 * @nelem: number of elements
 * @data_len: bytes of the result, as it lies in the result buffer
 * @nchunks: packets' worth of it
 * @up_len: bytes of what is gathered here: of the result, or of a leaf's request
 * @up_chunks: packets' worth of it
 * @in_len: bytes of elements in this rank's request
 * @out_off: where in the result buffer this rank's part of it begins
 * @out_len: bytes of that part
 *
 * All ranks must agree on all but the last three.
 */
struct inc_msg {
	u32	msg_id;
	u8	collective;
	u8	dtype;
	u8	op;
	u16	root;
	u32	nelem;
	u32	data_len;
	u16	nchunks;
	u16	up_chunks;
	u32	up_len;
	u32	in_len;
	u32	out_off;
	u32	out_len;
};

/* Ranks that a member stands for. */
static inline struct inc_rank_range inc_geom_span(const struct inc_slot_geom *g,
						  u16 member)
{
	const struct inc_rank_range one = {
		.first = g->own.first + member, .n = 1,
	};

	return g->span ? g->span[member] : one;
}

/* Number of ranks of the job. */
static inline u16 inc_geom_all(const struct inc_slot_geom *g)
{
	return g->all ? g->all : g->ranks;
}

/* Ranks below this switch. */
static inline struct inc_rank_range inc_geom_own(const struct inc_slot_geom *g)
{
	return g->all ? g->own : (struct inc_rank_range) { .n = g->ranks };
}

/* Packets that it takes to send so many bytes of elements behind a header. */
static inline u32 inc_chunks_of(const struct inc_slot_geom *g, u64 data_len)
{
	return (INC_HDR_LEN + data_len + g->pmtu - 1) / g->pmtu;
}

/* Offset of a chunk's data in the message's data; the header opens chunk 0. */
static inline u32 inc_chunk_off(const struct inc_slot_geom *g, u16 chunk)
{
	return chunk ? chunk * g->pmtu - INC_HDR_LEN : 0;
}

/* Chunk that a byte is in. */
static inline u16 inc_chunk_at(const struct inc_slot_geom *g, u32 off)
{
	return (off + INC_HDR_LEN) / g->pmtu;
}

static inline u32 inc_chunk_len(const struct inc_slot_geom *g, u16 chunk,
				u32 data_len)
{
	u32 off = inc_chunk_off(g, chunk);
	u32 max = chunk ? g->pmtu : g->pmtu - INC_HDR_LEN;

	return data_len - off < max ? data_len - off : max;
}

/*
 * Bytes of a request whose elements go as two planes of so many bytes, packet by
 * packet in turns. Both planes are as if the header stood before them, and all
 * packets but the last are full, whatever their chunk has.
 */
static inline u64 inc_wide_len(const struct inc_slot_geom *g, u64 data_len)
{
	return (u64)inc_chunks_of(g, data_len) * g->pmtu + INC_HDR_LEN + data_len;
}

void inc_msg_layout(const struct inc_slot_geom *g, const struct inc_msg *msg,
		    struct inc_layout *l);
bool inc_msg_wide(const struct inc_slot_geom *g, const struct inc_msg *msg,
		  struct inc_rank_range from);
u8 inc_msg_parse(const struct inc_slot_geom *g, u16 rank,
		 const struct inc_hdr *hdr, u32 len, struct inc_msg *msg);
u16 inc_msg_wants(const struct inc_slot_geom *g, const struct inc_msg *msg,
		  u16 rank);

#endif /* _INC_MESSAGE_H */
