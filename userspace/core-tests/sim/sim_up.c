// SPDX-License-Identifier: GPL-2.0
/*
 * A child's link to the root. Results that arrive out of sequence are dropped:
 * the root retransmits them.
 */
#include "sim.h"

void up_gathered(u16 slot)
{
	struct inc_slot *s = &at_sw->slots[slot];

	inc_uplinkq_gathered(&at_sw->up->requests, s, &s->msg, s->gathered,
			     s->result_wanted);
	require(s->uplink_msg_id == s->msg.msg_id);
}

void up_fail(u16 slot, u32 msg_id, u8 status)
{
	inc_uplinkq_fail(&at_sw->up->requests, &at_sw->slots[slot], msg_id,
			 status);
}

static bool more_to_send(void)
{
	const struct inc_uplink_queue *requests = &at_sw->up->requests;

	return !inc_uplinkq_empty(requests) && inc_uplinkq_sendable(requests);
}

static void fill_one(struct qp *q)
{
	struct inc_uplink_queue *requests = &at_sw->up->requests;
	struct inc_slot *s;
	struct inc_wqe *w;

	if (!more_to_send())
		return;
	w = inc_requester_push(&q->req);
	if (!w)
		return;
	s = &at_sw->slots[inc_uplinkq_slot(requests)];
	q->end = inc_uplinkq_next(requests, s, w);
	widen(q);
}

void up_kick(void)
{
	struct qp *q = &at_sw->up->qp;

	for (;;) {
		enum inc_requester_kind kind;
		struct inc_wqe *w;
		struct inc_pkt pkt;
		bool ackreq;
		u32 psn;

		if (q->req.next == q->req.max)
			fill_one(q);
		w = inc_requester_next(&q->req, now,
				       more_to_send() ? INC_REQ_MORE : q->end,
				       &psn, &ackreq, &kind);
		if (!w)
			break;
		n_sent++;
		n_again += kind != INC_REQ_FRESH;
		pkt = test_pkt(w->opcode, psn, w->len, w->dmalen);
		pkt.rkey = w->rkey;
		pkt.va = w->va;
		pkt.imm = w->imm;
		pkt.ackreq = ackreq;
		transmit(TO_LEAF, &pkt, wqe_buf(w));
	}
	arm_timer(q, UP_TIMER);
}

/* As apply_packet(): part of a result, its end, or how the message failed. */
static void answer(const struct inc_pkt *pkt, const struct buf *b)
{
	u16 slot = b->len ? pkt->va / MSG_SIZE : pkt->imm % SLOTS;
	struct inc_slot *s = &at_sw->slots[slot];
	u8 status = pkt->flags & INC_PKT_IMM ? pkt->imm >> 24 : 0;
	u8 state = s->state;
	u16 ready = s->ready;
	struct inc_part part = { .data = (void *)b->data, .len = b->len };

	if (pkt->flags & INC_PKT_IMM && (pkt->imm ^ s->msg.msg_id) & 0xffffff) {
		require(status);
		return;
	}
	if (b->len)
		require(inc_slot_result(s, pkt->va % MSG_SIZE, &part));
	if (pkt->flags & INC_PKT_IMM)
		require(inc_slot_answer(s, status));
	if (s->ready > ready)
		sw_deliver(slot);
	if (state == RDMA_INC_SLOT_STATE_BUSY &&
	    s->state == RDMA_INC_SLOT_STATE_FAILED) {
		up_fail(slot, s->msg.msg_id, status);
		sw_tell(s->msg.msg_id, status);
	}
}

static void request(const struct inc_pkt *pkt, const struct buf *b)
{
	struct inc_responder *r = &at_sw->up->qp.resp;
	struct inc_pkt key = *pkt;

	/* Bytes that are not there any more: sw_kick(). Of duplicates, nobody needs them. */
	if (pkt->psn != r->epsn)
		key.rkey = r->rkey;
	switch (inc_responder_check(r, &key)) {
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
	case INC_RESP_OOO:
		if (inc_responder_nak_due(r))
			respond(TO_LEAF, 0x60, r->epsn);
		break;
	case INC_RESP_STRANGE:
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
