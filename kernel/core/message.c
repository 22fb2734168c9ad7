// SPDX-License-Identifier: GPL-2.0
/*
 * Parsing of a request's INC header (draft, section 6).
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include "core/collective.h"
#include "core/layout.h"
#include "core/message.h"
#include "core/rank_range.h"
#include "core/reduce/reduce.h"
#include "core/wire.h"

/**
 * inc_msg_layout() - get the layout of a message's elements
 * @g: geometry of the tree
 * @msg: message with collective, type, operation and root parsed
 * @l: filled in
 *
 * Context: any.
 */
void inc_msg_layout(const struct inc_slot_geom *g, const struct inc_msg *msg,
		    struct inc_layout *l)
{
	*l = (struct inc_layout) {
		.coll	= inc_coll_lookup(msg->collective),
		.all	= inc_geom_all(g),
		.own	= inc_geom_own(g),
		.root	= msg->root,
	};
	if (l->coll->from != INC_FROM_NONE)
		l->block = (u64)msg->nelem * inc_dtype_size(msg->dtype);
}

/* Parse type, operation and root of a header, as its collective needs them. */
static u8 parse_terms(const struct inc_slot_geom *g, const struct inc_hdr *hdr,
		      const struct inc_coll *coll, struct inc_msg *msg)
{
	if (coll->reduce) {
		if (!inc_reduce_lookup(hdr->dtype, hdr->op) ||
		    !(g->dtypes & BIT(hdr->dtype)) || !(g->ops & BIT(hdr->op)))
			return INC_STATUS_DTYPE;
		msg->op = hdr->op;
	}
	if (coll->from != INC_FROM_NONE) {
		if (!inc_dtype_size(hdr->dtype))
			return INC_STATUS_DTYPE;
		msg->dtype = hdr->dtype;
	} else if (hdr->nelem) {
		return INC_STATUS_LENGTH;
	}
	msg->nelem = be32_to_cpu(hdr->nelem);
	msg->root = be16_to_cpu(hdr->root);
	if (coll->rooted ? msg->root >= inc_geom_all(g) : msg->root)
		return INC_STATUS_ROOT;
	return INC_STATUS_OK;
}

/**
 * inc_msg_wide() - check whether elements are binary32 sums in two planes
 * @g: geometry of the tree
 * @msg: message
 * @from: ranks that the sender stands for
 *
 * Sums, products and averages of 16-bit floats are wide when a switch sends them to
 * its parent, for they are rounded only when all ranks are in.
 *
 * Context: any.
 * Return: true if so.
 */
bool inc_msg_wide(const struct inc_slot_geom *g, const struct inc_msg *msg,
		  struct inc_rank_range from)
{
	const struct inc_coll *coll = inc_coll_lookup(msg->collective);

	return from.n > 1 && msg->gather_len && coll->reduce &&
	       inc_reduce_lookup(msg->dtype, msg->op)->wide;
}

static u16 count_planes(const struct inc_slot_geom *g,
			struct inc_rank_range from, bool wide)
{
	struct inc_rank_range block = from;
	u16 planes = 0;

	for (; from.n; from.first += block.n, from.n -= block.n) {
		if (!g->by_arrival)
			block = inc_rank_block(from, inc_geom_all(g));
		planes += wide && block.n > 1 ? 2 : 1;
	}
	return planes;
}

/**
 * inc_msg_planes() - count the planes of a request's elements
 * @g: geometry of the tree
 * @msg: message
 * @from: ranks that the sender stands for
 *
 * There is one, unless @from are several ranks whose elements must not be
 * paired with each other in any other way than on one switch. Then there is one
 * for each block, or two if its elements are wide.
 *
 * Context: any.
 * Return: their number.
 */
u16 inc_msg_planes(const struct inc_slot_geom *g, const struct inc_msg *msg,
		   struct inc_rank_range from)
{
	const struct inc_reduce_ops *ops;

	if (from.n == 1 || !msg->gather_len ||
	    !inc_coll_lookup(msg->collective)->reduce)
		return 1;
	ops = inc_reduce_lookup(msg->dtype, msg->op);
	return ops->ordered ? count_planes(g, from, ops->wide) : 1;
}

/**
 * inc_msg_max_planes() - count the planes that any request may have
 * @g: geometry of the tree
 * @from: ranks that the sender stands for
 *
 * Context: any.
 * Return: their number.
 */
u16 inc_msg_max_planes(const struct inc_slot_geom *g,
		       struct inc_rank_range from)
{
	return count_planes(g, from, true);
}

/* Compute the bytes gathered here, and the member's part of them. */
static void parse_sizes(const struct inc_slot_geom *g, u16 rank,
			const struct inc_layout *l, struct inc_msg *msg)
{
	struct inc_rank_range range = inc_geom_ranks(g, rank);
	u32 off;

	msg->in_len = inc_layout_in(l, range);
	msg->gather_len = inc_layout_in(l, l->own);
	msg->gather_chunks = inc_chunks_of(g, msg->gather_len);
	msg->data_len = g->child ? inc_layout_out(l, l->own, l->own, &off) :
				  msg->gather_len;
	msg->nchunks = inc_chunks_of(g, msg->data_len);
	msg->out_len = inc_layout_out(l, l->own, range, &msg->out_off);
}

/**
 * inc_msg_request_len() - compute the length of a rank's request
 * @g: geometry of the tree
 * @rank: rank
 * @msg: its message, parsed
 *
 * Context: any.
 * Return: bytes, header included.
 */
u32 inc_msg_request_len(const struct inc_slot_geom *g, u16 rank,
			const struct inc_msg *msg)
{
	return inc_planes_len(g, inc_msg_planes(g, msg, inc_geom_ranks(g, rank)),
			      msg->in_len);
}

/*
 * Is a write of @len bytes all of a request, or if @more, all but the packet
 * that ends it?
 */
static bool has_len(const struct inc_slot_geom *g, u32 request, u32 len,
		    bool more)
{
	return len == request ||
	       (more && len == (DIV_ROUND_UP(request, g->pmtu) - 1) * g->pmtu);
}

/**
 * inc_msg_unknown() - describe a message of which only the ID is known
 * @msg_id: message ID
 * @msg: filled in; a status can be sent for it, nothing else
 *
 * Context: any.
 */
void inc_msg_unknown(u32 msg_id, struct inc_msg *msg)
{
	*msg = (struct inc_msg) {
		.msg_id		= msg_id,
		.nchunks	= 1,
		.gather_chunks	= 1,
	};
}

/**
 * inc_msg_failure() - get the status with which a switch says it has failed
 * @pkt: parsed packet of a member that is a switch
 *
 * A request of nothing but a header, whose Immediate has a status, says that
 * the message has failed at that switch.
 *
 * Context: any.
 * Return: enum inc_status, 0 for any other packet.
 */
u8 inc_msg_failure(const struct inc_pkt *pkt)
{
	u8 status = pkt->imm >> INC_IMM_STATUS_SHIFT;

	return pkt->flags & INC_PKT_IMM && pkt->flags & INC_PKT_FIRST &&
	       pkt->payload_len == INC_HDR_LEN &&
	       status < INC_STATUS_PEER_DEAD ? status : 0;
}

/**
 * inc_msg_parse() - check an INC header
 * @g: geometry of the tree
 * @rank: rank that sent it
 * @hdr: header, as received
 * @len: bytes of the write that begins the request, at least INC_HDR_LEN
 * @more: the last packet may come as a write of its own
 * @msg: filled in; its msg_id is valid whatever the return value
 *
 * Context: any.
 * Return: enum inc_status, INC_STATUS_OK if the message can be worked on.
 * Spec: draft section 6, (1) to (4).
 */
u8 inc_msg_parse(const struct inc_slot_geom *g, u16 rank,
		 const struct inc_hdr *hdr, u32 len, bool more,
		 struct inc_msg *msg)
{
	u16 flags = be16_to_cpu(hdr->flags);
	const struct inc_coll *coll;
	struct inc_msg sized;
	struct inc_layout l;
	u8 status;

	inc_msg_unknown(be32_to_cpu(hdr->msg_id), msg);
	if (hdr->version != INC_VERSION || flags & ~INC_HDR_F_MASK)
		return INC_STATUS_VERSION;
	if (be32_to_cpu(hdr->tree_id) != g->tree_id)
		return INC_STATUS_TREE_ID;
	coll = inc_coll_lookup(hdr->collective);
	if (!coll || !(g->collectives & BIT(hdr->collective)))
		return INC_STATUS_COLLECTIVE;
	msg->collective = hdr->collective;
	status = parse_terms(g, hdr, coll, msg);
	if (status)
		return status;

	inc_msg_layout(g, msg, &l);
	if (inc_layout_len(&l) > g->msg_size - INC_HDR_LEN)
		return INC_STATUS_LENGTH;
	sized = *msg;
	parse_sizes(g, rank, &l, &sized);
	if (inc_msg_wide(g, &sized, inc_geom_ranks(g, rank)) !=
	    !!(flags & INC_HDR_F_WIDE))
		return INC_STATUS_VERSION;
	if (!has_len(g, inc_msg_request_len(g, rank, &sized), len, more))
		return INC_STATUS_LENGTH;
	if (flags & INC_HDR_F_NO_DATA)
		sized.out_len = 0;
	*msg = sized;
	return INC_STATUS_OK;
}

/**
 * inc_msg_wants() - count the packets of a rank's request
 * @g: geometry of the tree
 * @msg: message of a slot that has begun it
 * @rank: rank
 *
 * Context: any.
 * Return: their number.
 */
u16 inc_msg_wants(const struct inc_slot_geom *g, const struct inc_msg *msg,
		  u16 rank)
{
	struct inc_layout l;

	inc_msg_layout(g, msg, &l);
	return inc_chunks_of(g, inc_layout_in(&l, inc_geom_ranks(g, rank)));
}

/**
 * inc_msg_share() - compute a rank's part of a result
 * @g: geometry of the tree
 * @rank: rank
 * @msg: message as another rank has described it; its part is set to @rank's
 *
 * Context: any.
 */
void inc_msg_share(const struct inc_slot_geom *g, u16 rank, struct inc_msg *msg)
{
	struct inc_layout l;

	inc_msg_layout(g, msg, &l);
	msg->out_len = inc_layout_out(&l, l.own, inc_geom_ranks(g, rank),
				      &msg->out_off);
}
