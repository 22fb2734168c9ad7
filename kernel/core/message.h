/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages: the contents of a request's INC header, and the size and place of
 * its elements in a tree.
 */
#ifndef _INC_MESSAGE_H
#define _INC_MESSAGE_H

#include <linux/types.h>
#include <uapi/linux/rdma_inc.h>
#include <uapi/linux/rdma_inc_proto.h>

#include "core/layout.h"

struct inc_pkt;

/**
 * struct inc_slot_geom - geometry shared by all slots of a tree
 * @members: number of members, hosts or switches
 * @slots: number of slots, a power of two
 * @pmtu: payload bytes of a full packet
 * @max_chunks: packets of the longest message
 * @msg_size: bytes of the longest message, INC header included
 * @tree_id: tree ID that requests must name
 * @collectives: mask of collectives accepted
 * @dtypes: mask of data types accepted
 * @ops: mask of operations accepted
 * @by_arrival: ranks are reduced in order of arrival
 * @child: gathered data goes to a parent, which sends the result
 * @job_ranks: ranks of the job, including ranks below other switches; 0 if there
 *	are no other switches
 * @own: ranks below this switch, if @job_ranks
 * @ranges: ranks that each member stands for; NULL if one each
 * @at: for each rank of @own where a member's block begins (rank_range.c), the
 *	number of blocks before it; NULL if members are single ranks
 * @blocks: number of all members' blocks, or 0 if members are single ranks
 *
 * If members are switches, "rank" is a member's index among the members.
 */
struct inc_slot_geom {
	u16	members;
	u16	slots;
	u16	pmtu;
	u16	max_chunks;
	u32	msg_size;
	u32	tree_id;
	u32	collectives;
	u32	dtypes;
	u32	ops;
	bool	by_arrival;
	bool	child;
	u16	job_ranks;
	struct inc_rank_range	own;
	const struct inc_rank_range	*ranges;
	const u16		*at;
	u16			blocks;
};

/**
 * struct inc_msg - a message, as one rank's request describes it
 * @msg_id: message ID, 32 bits
 * @collective: enum inc_collective
 * @dtype: enum inc_dtype
 * @op: enum inc_op
 * @root: root rank
 * @nelem: number of elements
 * @data_len: bytes of the result, as it lies in the result buffer
 * @nchunks: number of chunks in it, each one packet's worth
 * @gather_len: bytes gathered here: of the result, or of a child's request
 * @gather_chunks: number of chunks in it
 * @in_len: bytes of elements in this rank's request
 * @out_off: offset of this rank's part in the result buffer
 * @out_len: bytes of that part
 *
 * All ranks must agree on all fields except the last three.
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
	u16	gather_chunks;
	u32	gather_len;
	u32	in_len;
	u32	out_off;
	u32	out_len;
};

/* Ranks that a member stands for. */
static inline struct inc_rank_range
inc_geom_ranks(const struct inc_slot_geom *g, u16 member)
{
	const struct inc_rank_range one = {
		.first = g->own.first + member, .n = 1,
	};

	return g->ranges ? g->ranges[member] : one;
}

/* Number of ranks of the job. */
static inline u16 inc_geom_all(const struct inc_slot_geom *g)
{
	return g->job_ranks ? g->job_ranks : g->members;
}

/* Ranks below this switch. */
static inline struct inc_rank_range inc_geom_own(const struct inc_slot_geom *g)
{
	return g->job_ranks ? g->own :
			      (struct inc_rank_range){ .n = g->members };
}

/* Most parts of a chunk that wait for others: one of each member, or block. */
static inline u16 inc_geom_parts(const struct inc_slot_geom *g)
{
	return g->blocks ?: g->members;
}

/* Bytes of a buffer that has room for any message. */
static inline u32 inc_geom_buffer(const struct inc_slot_geom *g)
{
	return (u32)g->max_chunks * g->pmtu;
}

/* Number of packets for this many bytes of elements after a header. */
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
 * Bytes of a request whose elements are sent as planes of @data_len bytes, with
 * their packets in turns. Each plane counts as if the header preceded it, and
 * all packets except the last are full, whatever the size of their chunk.
 */
static inline u64 inc_planes_len(const struct inc_slot_geom *g, u16 planes,
				 u64 data_len)
{
	return (planes - 1) * (u64)inc_chunks_of(g, data_len) * g->pmtu +
	       INC_HDR_LEN + data_len;
}

void inc_msg_layout(const struct inc_slot_geom *g, const struct inc_msg *msg,
		    struct inc_layout *l);
bool inc_msg_wide(const struct inc_slot_geom *g, const struct inc_msg *msg,
		  struct inc_rank_range from);
u16 inc_msg_planes(const struct inc_slot_geom *g, const struct inc_msg *msg,
		   struct inc_rank_range from);
u16 inc_msg_max_planes(const struct inc_slot_geom *g,
		       struct inc_rank_range from);
void inc_msg_unknown(u32 msg_id, struct inc_msg *msg);
u8 inc_msg_failure(const struct inc_pkt *pkt);
u8 inc_msg_parse(const struct inc_slot_geom *g, u16 rank,
		 const struct inc_hdr *hdr, u32 len, bool more,
		 struct inc_msg *msg);
u32 inc_msg_request_len(const struct inc_slot_geom *g, u16 rank,
			const struct inc_msg *msg);
u16 inc_msg_wants(const struct inc_slot_geom *g, const struct inc_msg *msg,
		  u16 rank);
void inc_msg_share(const struct inc_slot_geom *g, u16 rank,
		   struct inc_msg *msg);

#endif /* _INC_MESSAGE_H */
