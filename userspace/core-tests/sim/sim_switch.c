// SPDX-License-Identifier: GPL-2.0
/*
 * The switch: combines the core as rx_rc.c, slot_io.c and tx_queue.c do, without
 * locks and packets.
 */
#include "sim.h"

uint64_t n_given_back;
uint64_t n_sent, n_again, n_timeouts, n_noticed, n_asked;

/* Half of the time there is memory for a larger ring. */
void widen(struct qp *q)
{
	if (inc_requester_must_grow(&q->req) && q->req.ring == q->first && below(2))
		inc_requester_grow(&q->req, q->ring, WINDOW_MAX);
}

static void fill_one(struct qp *q)
{
	struct inc_wqe *w;

	if (inc_resultq_empty(&q->results))
		return;
	w = inc_requester_push(&q->req);
	if (w && inc_resultq_next(&q->results, w, &q->end) == INC_RESULTQ_LAST)
		inc_ends_add(&q->ends, inc_psn_add(q->req.max, -1), w->msg_id);
	widen(q);
}

/* As inc_slot_mem_put(): the next owner finds no result that it could rely on. */
static void give_back(struct inc_slot *s)
{
	void *mem = inc_slot_give_back(s);

	memset(mem, 0x5a, inc_slot_buffers(&at_sw->geom));
	at_sw->free_mem[at_sw->nfree_mem++] = mem;
	n_given_back++;
}

/* As take_read(). */
static void sw_read(struct qp *q)
{
	u32 msg_id, slot;

	while (inc_ends_take(&q->ends, q->req.una, &msg_id)) {
		slot = msg_id % SLOTS;
		if (at_sw->unread_msg[slot] == msg_id && at_sw->unread[slot] &&
		    !--at_sw->unread[slot] &&
		    at_sw->slots[slot].msg.msg_id == msg_id &&
		    inc_slot_is_over(&at_sw->slots[slot], true))
			give_back(&at_sw->slots[slot]);
	}
}

/*
 * The payload, with its CRC as in inc_tx_request(); half of the packets refer to the
 * slot's memory. Its part tells the receiver whether the bytes are valid.
 */
struct buf *wqe_buf(const struct inc_wqe *w)
{
	const struct inc_slot *s = &at_sw->slots[w->slot];
	const void *payload = inc_wqe_payload(s, w);
	static const u8 zeros[PMTU];
	struct buf *b = new_buf(NULL, 0, payload ?: zeros, w->len);

	b->part.level = payload || !w->len;
	b->crc = inc_wqe_crc(s, w, payload);
	b->from = below(2) ? payload : NULL;
	return b;
}

/* --- UC, as rx_uc.c does it ---------------------------------------------- */

/* Messages end in any order; the mark is the first one that has not ended. */
static void uc_ended(u32 msg_id)
{
	at_sw->ended[msg_id - first_msg] = true;
	while (at_sw->mark < NMSG && at_sw->ended[at_sw->mark])
		at_sw->mark++;
}

/* Results queued for a UC member are sent and forgotten. */
static void uc_send(struct qp *q)
{
	u32 mark = first_msg + at_sw->mark;
	enum inc_requester_kind kind;
	struct inc_wqe w;

	while (inc_resultq_next_uc(&q->results, &w, mark, &kind)) {
		struct inc_pkt pkt = uc_pkt(q->psn++, w.len);
		struct buf *b = wqe_buf(&w);

		require(pkt.opcode == w.opcode && w.dmalen == w.len);
		/* While this one may be queried, the next cannot begin. */
		require(b->part.level);
		n_sent++;
		n_again += kind != INC_REQ_FRESH;
		pkt.va = w.va;
		pkt.imm = w.imm;
		transmit(TO_MEMBER, &pkt, b);
	}
}

static enum inc_slot_past lookup_past(u32 msg_id, struct inc_msg *msg, u8 *status)
{
	return inc_slot_lookup(&at_sw->slots[msg_id % SLOTS], at_rank, msg_id,
			       msg, status);
}

/* A packet from a UC member; true if it is a new request. As look_up(). */
static bool uc_request(struct qp *q, const struct inc_pkt *pkt, const struct buf *b)
{
	enum inc_slot_past past;
	struct inc_hdr hdr;
	struct inc_msg msg;
	u32 msg_id;
	u8 status;

	require(inc_responder_check_uc(&q->resp, pkt));
	memcpy(&hdr, b->data, sizeof(hdr));
	msg_id = be32_to_cpu(hdr.msg_id);
	past = lookup_past(msg_id, &msg, &status);
	if (past == INC_SLOT_ENDED && !sw_room(q))
		return false;
	if (past == INC_SLOT_ENDED &&
	    !inc_resultq_resend(&q->results, &msg, be64_to_cpu(hdr.result_va),
				1, status))
		past = INC_SLOT_OPEN;
	if (!(hdr.flags & cpu_to_be16(INC_HDR_F_QUERY)))
		return past == INC_SLOT_UNKNOWN;
	if (past == INC_SLOT_UNKNOWN)
		inc_resultq_stray(&q->results, msg_id, INC_STATUS_RESEND);
	else if (past == INC_SLOT_OPEN)
		inc_resultq_stray(&q->results, msg_id, INC_STATUS_PENDING);
	return false;
}

/* As report_missing(). */
static void uc_came(struct qp *q, u32 msg_id, u32 psn)
{
	s32 ahead = inc_psn_diff(psn, q->resp.epsn);
	struct inc_msg msg;
	u32 missing;
	u8 status;

	if (ahead >= 0)
		q->resp.epsn = inc_psn_add(psn, 1);
	inc_msg_loss_arrived(&q->gap, msg_id, ahead < 0);
	while (inc_msg_loss_judge(&q->gap, &missing))
		if (lookup_past(missing, &msg, &status) == INC_SLOT_UNKNOWN)
			inc_resultq_stray(&q->results, missing,
					  INC_STATUS_RESEND);
}

static void sw_kick(int rank)
{
	struct qp *q = &at_sw->qps[rank];

	at_rank = rank;
	if (q->uc) {
		uc_send(q);
		return;
	}
	for (;;) {
		enum inc_requester_kind kind;
		enum inc_requester_end end;
		bool ackreq;
		struct inc_wqe *w;
		struct inc_pkt pkt;
		struct buf *b;
		u32 psn;

		if (q->req.next == q->req.max)
			fill_one(q);
		end = inc_resultq_empty(&q->results) ? q->end : INC_REQ_MORE;
		w = inc_requester_next(&q->req, now, end, &psn, &ackreq, &kind);
		if (!w)
			break;
		n_sent++;
		n_again += kind != INC_REQ_FRESH;
		pkt = test_pkt(w->opcode, psn, w->len, w->dmalen);
		pkt.va = w->va;
		pkt.imm = w->imm;
		pkt.ackreq = ackreq;
		b = wqe_buf(w);
		pkt.rkey = b->part.level;
		transmit(TO_MEMBER, &pkt, b);
	}
	arm_timer(q, SWITCH_TIMER);
}

void arm_timer(struct qp *q, enum dest dest)
{
	u64 deadline = inc_requester_deadline(&q->req);

	if (!deadline || deadline == q->timer)
		return;
	q->timer = deadline;
	put_event((struct event) {
		.at = max(deadline, now) + below(1000), .sw = at_sw,
		.rank = at_rank, .dest = dest, .pkt.va = deadline,
	});
}

/* As rx_rc.c and slot_io.c. */

/* As has_room() of slot_io.c; half of the time there is no memory. */
bool sw_room(struct qp *q)
{
	bool few = !q->results.size;

	if (!inc_resultq_must_grow(&q->results))
		return true;
	if (below(2))
		return false;
	inc_resultq_grow(&q->results, q->queue_mem[!few], few ? FEW : SLOTS);
	return true;
}

void sw_tell(u32 msg_id, u8 status)
{
	uc_ended(msg_id);
	for (int r = 0; r < at_sw->geom.members; r++)
		inc_resultq_status(&at_sw->qps[r].results, msg_id, status);
}

/* Is the member of the current event a host that may number anew? */
static bool host_rxe(const struct qp *q)
{
	return !q->uc && !at_sw->child[at_rank] &&
	       members[at_sw->first + at_rank].is_rxe;
}

/*
 * A request is refused for good. That may be the requester's fault only if it
 * has lost its place.
 */
static void sw_error(const struct qp *q)
{
	require(host_rxe(q) && members[at_sw->first + at_rank].rxe.lost);
	n_noticed++;
	broken = true;
}

static bool sw_begin(struct qp *q, const struct inc_pkt *pkt, const struct buf *b)
{
	struct inc_hdr hdr;
	struct inc_msg msg;
	u16 slot;
	u8 status;

	require(pkt->payload_len >= INC_HDR_LEN && b->len == pkt->payload_len);
	memcpy(&hdr, b->data, sizeof(hdr));
	status = at_sw->child[at_rank] ? inc_msg_failure(pkt) : 0;
	if (status)
		inc_msg_unknown(be32_to_cpu(hdr.msg_id), &msg);
	else
		status = inc_msg_parse(&at_sw->geom, at_rank, &hdr, pkt->dmalen,
				       !(pkt->flags & INC_PKT_IMM), &msg);
	q->rx_msg_len = inc_msg_request_len(&at_sw->geom, at_rank, &msg);
	slot = msg.msg_id % SLOTS;
	require(pkt->va == (u64)slot * MSG_SIZE);
	if (below(1000) < held_back || !sw_room(q))
		return false;
	q->rx_take = false;
	if (inc_resultq_may_open(&q->results, msg.msg_id) != INC_OPEN_OK) {
		sw_error(q);
		return false;
	}
	inc_resultq_open(&q->results, &msg, be64_to_cpu(hdr.result_va), 1, 0,
			 false);
	if (!inc_slot_placed(&at_sw->slots[slot]))
		inc_slot_place(&at_sw->slots[slot], at_sw->free_mem[--at_sw->nfree_mem]);
	switch (inc_slot_begin(&at_sw->slots[slot], at_rank, &msg, status)) {
	case INC_SLOT_TAKE:
		q->rx_take = true;
		break;
	case INC_SLOT_FAIL:
		sw_tell(msg.msg_id, at_sw->slots[slot].status);
		if (at_sw->up)
			up_fail(slot, msg.msg_id, at_sw->slots[slot].status);
		break;
	case INC_SLOT_FAILED:
		inc_resultq_status(&q->results, msg.msg_id,
				   at_sw->slots[slot].status);
		break;
	case INC_SLOT_WAIT:
		inc_resultq_close(&q->results, msg.msg_id);
		return false;
	case INC_SLOT_REPEAT:
	case INC_SLOT_REFUSE:
		inc_resultq_close(&q->results, msg.msg_id);
		if (!q->uc) {
			sw_error(q);
			return false;
		}
		/*
		 * Only a late copy of what this member is done with: it has
		 * failed, or the slot's memory of it went with a message that
		 * had to wait.
		 */
		require(members[at_sw->first + at_rank].done[msg.msg_id - first_msg]);
		return false;
	}
	q->rx_msg_id = msg.msg_id;
	return true;
}

/* Deliver a new piece of a result. */
void sw_deliver(u16 slot)
{
	struct inc_slot *s = &at_sw->slots[slot];

	if (s->state == RDMA_INC_SLOT_STATE_DONE) {
		uc_ended(s->msg.msg_id);
		at_sw->unread_msg[slot] = s->msg.msg_id;
		at_sw->unread[slot] = at_sw->geom.members;
	}
	for (int r = 0; r < at_sw->geom.members; r++) {
		struct inc_result_queue *q = &at_sw->qps[r].results;

		require(inc_resultq_may_open(q, s->msg.msg_id) ==
			INC_OPEN_REPEAT);
		inc_resultq_ready(q, &s->msg, s->ready);
	}
}

static void sw_add(struct qp *q, const struct inc_pkt *pkt, struct buf *b)
{
	u32 hdr = pkt->flags & INC_PKT_FIRST ? INC_HDR_LEN : 0;
	u16 slot = q->rx_msg_id % SLOTS;

	b->part.data = b->data + hdr;
	b->part.pieces = false;
	b->part.len = b->len - hdr;
	if (!inc_slot_add(&at_sw->slots[slot], at_rank, q->rx_msg_id, &b->part))
		return;
	if (at_sw->up)
		up_gathered(slot);
	else
		sw_deliver(slot);
}

/* Accept the expected packet; false if it has to be retransmitted. */
static void sw_ack(struct qp *q, u32 psn)
{
	q->acks_delayed = 0;
	respond(TO_MEMBER, 0x1f, inc_place_ack_psn(&q->place, &q->resp, psn));
}

/* As inc_ack_delay(). */
static void sw_delay_ack(struct qp *q, u32 psn)
{
	q->ack_psn = psn;
	if (++q->acks_delayed >= INC_RESP_ACK_EVERY) {
		sw_ack(q, psn);
		return;
	}
	if (q->ack_timer)
		return;
	q->ack_timer = true;
	put_event((struct event) {
		.at = now + ACK_DELAY, .sw = at_sw, .rank = at_rank,
		.dest = ACK_TIMER,
	});
}

void sw_ack_timer(int rank)
{
	struct qp *q = &at_sw->qps[rank];

	at_rank = rank;
	q->ack_timer = false;
	if (q->acks_delayed)
		sw_ack(q, q->ack_psn);
}

/* As acknowledge_packet(). */
static void sw_acknowledge(struct qp *q, const struct inc_pkt *pkt)
{
	const u8 only = INC_PKT_FIRST | INC_PKT_LAST;

	if (!inc_responder_ack_due(&q->resp, pkt->ackreq)) {
		if (q->acks_delayed &&
		    inc_place_ends_write(&q->place, &q->resp,
					 inc_psn_add(pkt->psn, -1)))
			sw_ack(q, pkt->psn);
		return;
	}
	if (q->resp.tail_due)
		return;
	if ((pkt->flags & only) != only &&
	    !inc_place_ends_write(&q->place, &q->resp, pkt->psn))
		sw_ack(q, pkt->psn);
	else
		sw_delay_ack(q, pkt->psn);
}

/* As ends_right(). */
static bool sw_ends_right(const struct qp *q, const struct inc_pkt *pkt)
{
	u32 len = (pkt->flags & INC_PKT_FIRST ? 0 : q->resp.done) +
		  pkt->payload_len;

	if (!(pkt->flags & INC_PKT_IMM))
		return !q->rx_take || len < q->rx_msg_len;
	return pkt->imm == (q->rx_msg_id & 0xffffff) &&
	       (!q->rx_take || len == q->rx_msg_len);
}

/* As accept_packet(): false if the packet is refused, for now or for good. */
static bool sw_take(struct qp *q, const struct inc_pkt *pkt, struct buf *b)
{
	bool empty = inc_responder_is_empty(pkt), host = !at_sw->child[at_rank];
	const struct inc_pkt *write = pkt;
	struct inc_pkt last;

	if (q->resp.tail_due) {
		last = *pkt;
		last.flags &= ~INC_PKT_FIRST;
		pkt = &last;
	}
	if (pkt->flags & INC_PKT_FIRST && !empty && !sw_begin(q, pkt, b)) {
		q->resp.nak_sent = true;
		respond(TO_MEMBER, 0x20 | 1, q->resp.epsn);
		free_buf(b);
		return false;
	}
	if (host && pkt->flags & INC_PKT_LAST && !empty &&
	    !sw_ends_right(q, pkt)) {
		sw_error(q);
		free_buf(b);
		return false;
	}
	if (inc_place_asks_again(&q->place, pkt)) {
		n_asked++;
		sw_ack(q, inc_psn_add(q->resp.epsn, -1));
		free_buf(b);
		return false;
	}
	if (host)
		inc_place_note(&q->place, &q->resp, write);
	inc_responder_accept(&q->resp, pkt);
	q->solicits = 0;
	sw_acknowledge(q, pkt);
	if (q->rx_take && !empty)
		sw_add(q, pkt, b);
	else
		free_buf(b);
	return true;
}

static void sw_keep(struct qp *q, const struct inc_pkt *pkt, struct buf *b)
{
	unsigned int i = q->nkept;
	enum inc_responder_ooo ahead;
	struct inc_responder_run run;

	while (i && inc_psn_diff(q->kept[i - 1].pkt.psn, pkt->psn) >= 0)
		i--;
	if (q->nkept == MAX_KEPT ||
	    (i < q->nkept && q->kept[i].pkt.psn == pkt->psn)) {
		free_buf(b);
		return;
	}
	inc_responder_run(&q->resp, &run);
	if (i)
		run = q->kept[i - 1].run;
	/* Packets are valid, but the first of a message may be lost. */
	ahead = inc_responder_ooo(&q->resp, pkt, &run);
	require(ahead != INC_RESP_OOO_WRONG || host_rxe(q));
	if (ahead != INC_RESP_OOO_GOOD) {
		free_buf(b);
		return;
	}
	memmove(&q->kept[i + 1], &q->kept[i], (q->nkept++ - i) * sizeof(q->kept[0]));
	q->resp.ooo_queued = true;
	q->kept[i] = (struct kept) { *pkt, b, run };
}

static void sw_drop_kept(struct qp *q)
{
	while (q->nkept)
		free_buf(q->kept[--q->nkept].buf);
	q->resp.ooo_queued = false;
}

/*
 * A gap may be closed. The last packet of a message of several is acknowledged
 * when it comes again, see drain_ooo().
 */
static void sw_take_kept(struct qp *q)
{
	u32 psn = q->resp.epsn;

	while (q->nkept) {
		struct kept k = q->kept[0];
		enum inc_responder_queued turn =
			inc_responder_queued(&q->resp, k.pkt.psn);

		if (turn == INC_RESP_QUEUED_LATER)
			break;
		memmove(&q->kept[0], &q->kept[1], --q->nkept * sizeof(k));
		q->resp.ooo_queued = q->nkept;
		if (turn == INC_RESP_QUEUED_PAST) {
			free_buf(k.buf);
			continue;
		}
		if (inc_responder_check(&q->resp, &k.pkt) != INC_RESP_NEW) {
			require(host_rxe(q));
			free_buf(k.buf);
			sw_drop_kept(q);
			break;
		}
		if (!sw_take(q, &k.pkt, k.buf))
			return;
		if (!(k.pkt.flags & INC_PKT_LAST) || k.pkt.flags & INC_PKT_FIRST)
			psn = q->resp.epsn;
	}
	sw_ack(q, inc_psn_add(psn, -1));
}

/* As accept_uc(): drop what cannot be accepted now. */
static void sw_uc(struct qp *q, const struct inc_pkt *pkt, struct buf *b)
{
	if (!uc_request(q, pkt, b) || !sw_begin(q, pkt, b)) {
		free_buf(b);
		return;
	}
	if (!q->rx_take) {
		free_buf(b);
		return;
	}
	uc_came(q, q->rx_msg_id, pkt->psn);
	sw_add(q, pkt, b);
}

/* When to solicit a silent member. */
static void sw_watch(struct qp *q)
{
	if (q->watched || at_sw->child[at_rank] ||
	    !inc_responder_owed(&q->resp))
		return;
	q->watched = true;
	put_event((struct event) {
		.at = q->heard + (SOLICIT << q->solicits), .sw = at_sw,
		.rank = at_rank, .dest = SOLICIT_TIMER,
	});
}

/* As solicit.c, without a limit. */
void sw_solicit(int rank)
{
	struct qp *q = &at_sw->qps[rank];

	at_rank = rank;
	q->watched = false;
	if (!inc_responder_owed(&q->resp))
		return;
	if (now >= q->heard + (SOLICIT << q->solicits)) {
		q->solicits += q->solicits < 5;
		q->heard = now;
		if (inc_responder_silence(&q->resp, false) == INC_RESP_SOLICIT_NAK)
			respond(TO_MEMBER, 0x60, q->resp.epsn);
		else
			respond(TO_MEMBER, 0x20 | 1, q->resp.epsn);
	}
	sw_watch(q);
}

static void sw_request(struct qp *q, const struct inc_pkt *pkt, struct buf *b)
{
	enum inc_responder_verdict verdict = inc_responder_check(&q->resp, pkt);

	if (verdict == INC_RESP_STRANGE) {
		free_buf(b);
		return;
	}
	q->heard = now;
	if (!at_sw->child[at_rank] &&
	    inc_place_contradicts(&q->place, &q->resp, pkt, verdict)) {
		sw_error(q);
		free_buf(b);
		return;
	}
	switch (verdict) {
	case INC_RESP_NEW:
		if (sw_take(q, pkt, b) && q->nkept)
			sw_take_kept(q);
		break;
	case INC_RESP_DUP:
		if (inc_responder_ack_due(&q->resp, pkt->ackreq))
			sw_ack(q, pkt->psn);
		free_buf(b);
		break;
	case INC_RESP_OOO:
		if (inc_responder_nak_due(&q->resp))
			respond(TO_MEMBER, 0x60, q->resp.epsn);
		if (inc_place_may_queue(&q->place) &&
		    !inc_responder_is_empty(pkt))
			sw_keep(q, pkt, b);
		else
			free_buf(b);
		break;
	default:
		sw_error(q);
		free_buf(b);
	}
	sw_watch(q);
}

/* An acknowledgment or a NAK has arrived. */
void answered(struct inc_requester *req, const struct inc_pkt *pkt)
{
	enum inc_requester_verdict v;

	if (pkt->syndrome >> 5 == 0)
		v = inc_requester_ack(req, pkt->psn, now);
	else if (pkt->syndrome >> 5 == 1)
		v = inc_requester_rnr_nak(req, pkt->psn, pkt->syndrome, now);
	else
		v = inc_requester_nak_seq(req, pkt->psn, now);
	require(v != INC_REQ_BAD);
}

void sw_rx(int rank, const struct inc_pkt *pkt, struct buf *b)
{
	struct qp *q = &at_sw->qps[rank];

	at_rank = rank;
	if (q->uc)
		sw_uc(q, pkt, b);
	else if (pkt->flags & INC_PKT_REQUEST)
		sw_request(q, pkt, b);
	else
		answered(&q->req, pkt);
	if (!q->uc)
		sw_read(q);
	sw_kick_all();
}

void sw_kick_all(void)
{
	for (int r = 0; r < at_sw->geom.members; r++)
		sw_kick(r);
	if (at_sw->up)
		up_kick();
}

/* Handle a timer. Returns whether it was not set anew since. */
bool timed_out(struct qp *q, u64 deadline)
{
	enum inc_requester_timer what;

	if (q->timer != deadline)
		return false;
	q->timer = 0;
	what = inc_requester_timeout(&q->req, now);
	require(what != INC_REQ_TIMER_DEAD);
	n_timeouts += what == INC_REQ_TIMER_BACK;
	return true;
}

void sw_timer(int rank, u64 deadline)
{
	at_rank = rank;
	if (timed_out(&at_sw->qps[rank], deadline))
		sw_kick(rank);
}
