// SPDX-License-Identifier: GPL-2.0
/*
 * The requests that are queued for a child's parent.
 *
 * Requests are sent as hosts send them, packet by packet as chunks are gathered.
 * The packets of a message follow each other on a QP, so messages are sent one
 * after the other, in the order in which their first chunks were gathered. Their
 * bytes stay in the slot (inc_slot.partial) until the slot's next message is
 * gathered there, and by then the parent has answered this one.
 */
#include <linux/kernel.h>
#include <rdma/ib_pack.h>

#include "core/slot.h"
#include "core/uplink_queue.h"

/**
 * inc_uplinkq_init() - initialize an empty queue
 * @q: queue
 * @g: the child's geometry
 * @out: zeroed memory for the requests, one for each slot
 * @fifo: memory for the same number of slots
 */
void inc_uplinkq_init(struct inc_uplink_queue *q, const struct inc_slot_geom *g,
		      struct inc_uplink_out *out, u16 *fifo)
{
	*q = (struct inc_uplink_queue) {
		.geom	= g,
		.out	= out,
		.fifo	= fifo,
	};
}

static struct inc_uplink_out *out_of(const struct inc_uplink_queue *q,
				     u32 msg_id)
{
	return &q->out[msg_id & (q->geom->slots - 1)];
}

/* The INC header precedes the elements, as on the wire. */
static struct inc_hdr *hdr_of(const struct inc_slot *s)
{
	return (struct inc_hdr *)(s->partial - INC_HDR_LEN);
}

/*
 * Open a new request of a slot, of the header alone so far. Returns false if it
 * is not new.
 */
static bool open_request(struct inc_uplink_queue *q, struct inc_slot *s,
			 struct inc_uplink_out *out, u32 msg_id)
{
	u16 slot = out - q->out;

	if ((s32)(msg_id - s->uplink_msg_id) <= 0)
		return false;
	*out = (struct inc_uplink_out) {
		.dmalen		= INC_HDR_LEN,
		.packets	= 1,
		.planes		= 1,
		.open		= true,
	};
	s->uplink_msg_id = msg_id;
	*hdr_of(s) = (struct inc_hdr) {
		.version	= INC_VERSION,
		.collective	= INC_COLL_BARRIER,
		.msg_id		= cpu_to_be32(msg_id),
		.result_va	= cpu_to_be64((u64)slot * q->geom->msg_size),
	};
	WRITE_ONCE(s->uplink_busy, true);
	q->fifo[q->tail++ & (q->geom->slots - 1)] = slot;
	return true;
}

static void describe_message(const struct inc_slot_geom *g,
			     struct inc_uplink_out *out, struct inc_hdr *hdr,
			     const struct inc_msg *msg, bool wanted)
{
	u16 flags = 0;

	out->planes = inc_msg_planes(g, msg, inc_geom_own(g));
	out->packets = out->planes * msg->gather_chunks;
	out->dmalen = inc_planes_len(g, out->planes, msg->gather_len);
	if (inc_msg_wide(g, msg, inc_geom_own(g)))
		flags |= INC_HDR_F_WIDE;
	if (!wanted)
		flags |= INC_HDR_F_NO_DATA;
	hdr->collective = msg->collective;
	hdr->dtype = msg->dtype;
	hdr->op = msg->op;
	hdr->root = cpu_to_be16(msg->root);
	hdr->flags = cpu_to_be16(flags);
	hdr->nelem = cpu_to_be32(msg->nelem);
}

/**
 * inc_uplinkq_gathered() - queue chunks that all members contributed to
 * @q: queue
 * @s: slot of the message
 * @msg: message
 * @gathered: chunks gathered now, at least 1: all ranks have begun
 * @wanted: some rank wants elements of the result
 *
 * Context: the queue's lock is held, which guards the INC header in the slot;
 * the slot's lock need not be.
 */
void inc_uplinkq_gathered(struct inc_uplink_queue *q, struct inc_slot *s,
			  const struct inc_msg *msg, u16 gathered, bool wanted)
{
	struct inc_uplink_out *out = out_of(q, msg->msg_id);
	u16 ready;

	if (open_request(q, s, out, msg->msg_id))
		describe_message(q->geom, out, hdr_of(s), msg, wanted);
	ready = out->planes * gathered;
	/* Two CPUs may get here out of order. */
	if (out->open && s->uplink_msg_id == msg->msg_id && ready > out->ready)
		out->ready = ready;
}

/**
 * inc_uplinkq_fail() - finish the request of a failed message
 * @q: queue
 * @s: slot of the message
 * @msg_id: message
 * @status: enum inc_status
 *
 * Tell the parent, if it does not know of the message yet. Otherwise send the
 * rest of the request all the same: it has to end before another can begin.
 *
 * Context: as for inc_uplinkq_gathered().
 */
void inc_uplinkq_fail(struct inc_uplink_queue *q, struct inc_slot *s,
		      u32 msg_id, u8 status)
{
	struct inc_uplink_out *out = out_of(q, msg_id);

	if (open_request(q, s, out, msg_id))
		out->status = status;
	if (s->uplink_msg_id == msg_id)
		out->ready = out->packets;
}

/**
 * inc_uplinkq_abort() - drop the requests of a failed tree
 * @q: queue
 *
 * The request in flight has to end; the others are dropped.
 *
 * Context: the queue's lock is held.
 */
void inc_uplinkq_abort(struct inc_uplink_queue *q)
{
	struct inc_uplink_out *out;

	if (inc_uplinkq_empty(q))
		return;
	out = &q->out[inc_uplinkq_slot(q)];
	q->tail = q->head;
	if (out->sent) {
		out->ready = out->packets;
		q->tail++;
	}
}

static u8 write_opcode(bool first, bool last)
{
	if (first)
		return last ? IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE :
			      IB_OPCODE_RC_RDMA_WRITE_FIRST;
	return last ? IB_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE :
		      IB_OPCODE_RC_RDMA_WRITE_MIDDLE;
}

/* Requests may be queued before the child is connected to its parent. */
static void address_request(const struct inc_uplink_queue *q,
			    struct inc_hdr *hdr)
{
	hdr->tree_id = cpu_to_be32(q->tree_id);
	hdr->result_rkey = cpu_to_be32(q->result_rkey);
}

/**
 * inc_uplinkq_next() - turn the next request packet into a work request
 * @q: queue; inc_uplinkq_sendable()
 * @s: slot of the request, inc_uplinkq_slot()
 * @w: filled in
 *
 * Context: as for inc_uplinkq_gathered().
 * Return: INC_REQ_MORE unless the packet ends the request.
 */
enum inc_requester_end inc_uplinkq_next(struct inc_uplink_queue *q,
					struct inc_slot *s, struct inc_wqe *w)
{
	u16 slot = inc_uplinkq_slot(q), pmtu = q->geom->pmtu;
	struct inc_uplink_out *out = &q->out[slot];
	u16 n = out->sent++;
	u16 chunk = n / out->planes, plane = n % out->planes;
	bool last = out->sent == out->packets;

	*w = (struct inc_wqe) {
		.va	= (u64)slot * q->geom->msg_size,
		.rkey	= q->rkey,
		.msg_id	= s->uplink_msg_id,
		.imm	= inc_wqe_imm(s->uplink_msg_id, out->status),
		.off	= (u32)chunk * pmtu + plane * inc_geom_buffer(q->geom),
		.slot	= slot,
		.len	= last ? out->dmalen - (u32)n * pmtu : pmtu,
		.dmalen	= out->dmalen,
		.source	= INC_WQE_REQUEST,
		.opcode	= write_opcode(!n, last),
	};
	if (!n)
		address_request(q, hdr_of(s));
	if (!last)
		return INC_REQ_MORE;
	q->head++;
	out->open = false;
	WRITE_ONCE(s->uplink_busy, false);
	return out->packets == 1 ? INC_REQ_END_SHARED : INC_REQ_END;
}
