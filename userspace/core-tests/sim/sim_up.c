// SPDX-License-Identifier: GPL-2.0
/*
 * A child's link to the root, as in uplink_tx.c and uplink_rx.c. Results that
 * arrive out of sequence are dropped: the root retransmits them.
 */
#include "sim.h"

static struct up_out *head(void)
{
	struct qp *q = &at_sw->up->qp;

	return q->head == q->tail ? NULL : &at_sw->up->out[q->fifo[q->head % SLOTS]];
}

static struct up_out *open_out(u16 slot, u32 msg_id)
{
	struct up_out *out = &at_sw->up->out[slot];
	struct qp *q = &at_sw->up->qp;

	if ((s32)(msg_id - out->msg_id) <= 0)
		return NULL;
	*out = (struct up_out) {
		.msg_id = msg_id, .dmalen = INC_HDR_LEN, .packets = 1,
	};
	at_sw->slots[slot].uplink_busy = true;
	q->fifo[q->tail++ % SLOTS] = slot;
	return out;
}

void up_gathered(u16 slot)
{
	const struct inc_slot *s = &at_sw->slots[slot];
	struct up_out *out = open_out(slot, s->msg.msg_id);

	if (out) {
		out->packets = s->msg.gather_chunks;
		out->dmalen = INC_HDR_LEN + s->msg.gather_len;
	}
	out = &at_sw->up->out[slot];
	require(out->msg_id == s->msg.msg_id && !out->status);
	out->ready = s->gathered;
}

/* Send the header alone, with a status; or the rest of a message in flight. */
void up_fail(u16 slot, u32 msg_id, u8 status)
{
	struct up_out *out = open_out(slot, msg_id);

	if (out)
		out->status = status;
	out = &at_sw->up->out[slot];
	if (out->msg_id == msg_id)
		out->ready = out->packets;
}

static void fill(struct inc_wqe *w)
{
	struct qp *q = &at_sw->up->qp;
	u16 slot = q->fifo[q->head % SLOTS], n;
	struct up_out *out = head();
	bool last;

	n = out->sent++;
	last = out->sent == out->packets;
	*w = (struct inc_wqe) {
		.va = (u64)slot * MSG_SIZE, .msg_id = out->msg_id, .slot = slot,
		.imm = (u32)out->status << 24 | (out->msg_id & 0xffffff),
		.off = n * PMTU, .len = last ? out->dmalen - n * PMTU : PMTU,
		.opcode = !n ? last ? OP_ONLY_IMM : OP_FIRST :
			  last ? OP_LAST_IMM : OP_MIDDLE,
	};
	q->end = INC_REQ_MORE;
	if (!last)
		return;
	q->head++;
	at_sw->slots[slot].uplink_busy = false;
	q->end = out->packets == 1 ? INC_REQ_END_SHARED : INC_REQ_END;
}

static struct buf *payload(const struct inc_wqe *w)
{
	const struct inc_slot *s = &at_sw->slots[w->slot];
	struct inc_hdr hdr = {
		.version = INC_VERSION, .collective = s->msg.collective,
		.dtype = s->msg.dtype, .op = s->msg.op,
		.tree_id = cpu_to_be32(at_sw->geom.tree_id),
		.msg_id = cpu_to_be32(w->msg_id),
		.nelem = cpu_to_be32(s->msg.nelem),
		.result_va = cpu_to_be64((u64)w->slot * MSG_SIZE),
	};
	static const u8 zeros[PMTU];

	/* The root has it already: only the acknowledgment was lost. */
	if (at_sw->up->out[w->slot].msg_id != w->msg_id)
		return new_buf(NULL, 0, zeros, w->len);
	if (!w->off)
		return new_buf(&hdr, sizeof(hdr), s->partial,
			       w->len - sizeof(hdr));
	return new_buf(NULL, 0, s->partial + w->off - INC_HDR_LEN, w->len);
}

void up_kick(void)
{
	struct qp *q = &at_sw->up->qp;

	for (;;) {
		struct up_out *out = head();
		bool more = out && out->sent < out->ready, ackreq;
		enum inc_requester_kind kind;
		struct inc_wqe *w;
		struct inc_pkt pkt;
		u32 psn;

		if (q->req.next == q->req.max && more) {
			w = inc_requester_push(&q->req);
			if (w)
				fill(w);
			out = head();
			more = out && out->sent < out->ready;
		}
		w = inc_requester_next(&q->req, now, more ? INC_REQ_MORE : q->end, &psn,
				       &ackreq, &kind);
		if (!w)
			break;
		n_sent++;
		n_again += kind != INC_REQ_FRESH;
		pkt = test_pkt(w->opcode, psn, w->len, at_sw->up->out[w->slot].dmalen);
		/* For an old packet the root checks the PSN alone. */
		pkt.rkey = 7;
		pkt.va = w->va;
		pkt.imm = w->imm;
		pkt.ackreq = ackreq;
		transmit(TO_LEAF, &pkt, payload(w));
	}
	arm_timer(q, UP_TIMER);
}

/* As take_slot(): part of a result, its end, or how the message failed. */
static void answer(const struct inc_pkt *pkt, const struct buf *b)
{
	u16 slot = b->len ? pkt->va / MSG_SIZE : pkt->imm % SLOTS;
	struct inc_slot *s = &at_sw->slots[slot];
	u8 status = pkt->flags & INC_PKT_IMM ? pkt->imm >> 24 : 0;
	u8 state = s->state;
	u16 ready = s->ready;

	if (pkt->flags & INC_PKT_IMM && (pkt->imm ^ s->msg.msg_id) & 0xffffff) {
		require(status);
		return;
	}
	if (b->len)
		require(inc_slot_result(s, pkt->va % MSG_SIZE, b->data, b->len));
	if (pkt->flags & INC_PKT_IMM)
		require(inc_slot_answer(s, status));
	if (s->ready > ready)
		sw_deliver(slot);
	if (state == RDMA_INC_SLOT_STATE_BUSY &&
	    s->state == RDMA_INC_SLOT_STATE_FAILED) {
		up_fail(slot, s->msg.msg_id, status);
		sw_tell(slot, s->msg.msg_id, status);
	}
}

static void request(const struct inc_pkt *pkt, const struct buf *b)
{
	struct inc_responder *r = &at_sw->up->qp.resp;

	switch (inc_responder_check(r, pkt)) {
	case INC_RESP_NEW:
		answer(pkt, b);
		inc_responder_accept(r, pkt);
		if (inc_responder_ack_due(r, pkt->ackreq))
			respond(TO_LEAF, 0x1f, pkt->psn);
		break;
	case INC_RESP_DUP:
		if (inc_responder_ack_due(r, pkt->ackreq))
			respond(TO_LEAF, 0x1f, inc_psn_add(r->epsn, -1));
		break;
	case INC_RESP_OOO_NAK:
		respond(TO_LEAF, 0x60, r->epsn);
		break;
	case INC_RESP_OOO:
		break;
	default:
		die("result PSN 0x%x refused", pkt->psn);
	}
}

void up_rx(const struct inc_pkt *pkt, struct buf *b)
{
	if (pkt->flags & INC_PKT_REQUEST)
		request(pkt, b);
	else
		answered(&at_sw->up->qp.req, pkt);
	free_buf(b);
	sw_kick_all();
}

void up_timer(u64 deadline)
{
	if (timed_out(&at_sw->up->qp, deadline))
		up_kick();
}
