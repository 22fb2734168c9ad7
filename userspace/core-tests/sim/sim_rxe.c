// SPDX-License-Identifier: GPL-2.0
/*
 * The requester of a stock rxe, with its ways of going back: it sends one packet
 * and looks at one response in turn, goes on sending while it waits after an RNR
 * NAK, and numbers a message anew when it sends its first packet. So an ACK may
 * arrive for all of a message that it is retransmitting, and it loses its place
 * if it has to go back then (core/lost_place.h).
 *
 * The links of these members keep the order, except for late copies.
 */
#include "sim.h"

#define MAX_UNACKED	128
#define ACK_EVERY	64
#define STALL		20000	/* microseconds, at most */

enum { POSTED, PROCESSING, PENDING };
enum { STEP, RETRANSMIT, RNR };

uint64_t n_lost_place;

static void post_timer(struct member *m, u32 what, u64 at)
{
	put_event((struct event) {
		.at = at, .rank = m - members, .dest = MEMBER_TIMER,
		.pkt.imm = what, .pkt.va = at,
	});
}

/* Let the task run, if it does not; now and then the machine stands still. */
static void wake(struct member *m)
{
	struct rxe *x = &m->rxe;

	if (x->awake)
		return;
	x->awake = true;
	post_timer(m, STEP, now + 1 + below(3) +
		   (below(1000) < stall ? below(STALL) : 0));
}

static void set_timeout(struct member *m)
{
	m->rxe.timeout_at = now + rxe_timeout;
	if (m->rxe.timer_set)
		return;
	m->rxe.timer_set = true;
	post_timer(m, RETRANSMIT, m->rxe.timeout_at);
}

/* The opcode only depends on whether a FIRST or MIDDLE was the last packet. */
static u8 next_opcode(struct rxe *x, u32 left, bool imm)
{
	bool fits = left <= PMTU, inside = x->inside;

	x->inside = !fits;
	if (inside)
		return !fits ? OP_MIDDLE : imm ? OP_LAST_IMM : OP_LAST;
	return !fits ? OP_FIRST : imm ? OP_ONLY_IMM : OP_ONLY;
}

static void go_back(struct member *m)
{
	struct rxe *x = &m->rxe;
	struct rxe_wqe *w = &x->wqe[x->done];
	u32 skip;

	x->at = x->done;
	x->psn = x->acked;
	x->inside = false;
	if (x->done == x->nwqe || w->state == POSTED)
		return;
	skip = (x->acked - w->first_psn) & INC_PSN_MASK;
	require(skip <= MAX_CHUNKS);
	for (unsigned int i = x->done; i < x->nwqe; i++) {
		if (x->wqe[i].state == POSTED)
			break;
		x->wqe[i].state = POSTED;
		x->wqe[i].left = x->wqe[i].len;
	}
	while (skip--) {
		next_opcode(x, w->left, w->imm);
		w->left -= min(w->left, (u32)PMTU);
	}
}

/* Send one packet. A write of which nothing is left: its place is lost. */
static bool requester(struct member *m)
{
	struct rxe *x = &m->rxe;
	struct rxe_wqe *w;
	struct inc_pkt pkt;
	u32 n, left;

	if (x->need_retry && now >= x->rnr_until) {
		go_back(m);
		x->need_retry = false;
	}
	if (x->at == x->nwqe ||
	    inc_psn_diff(x->psn, inc_psn_add(x->acked, MAX_UNACKED)) > 0)
		return false;
	w = &x->wqe[x->at];
	left = w->left;
	n = min(left, (u32)PMTU);
	pkt = test_pkt(next_opcode(x, left, w->imm), x->psn, n, left);
	pkt.rkey = 7;
	pkt.va = (u64)(msgs[w->msg].msg_id % SLOTS) * MSG_SIZE + w->off;
	pkt.imm = msgs[w->msg].msg_id & 0xffffff;
	pkt.ackreq = !x->inside || x->noack++ > ACK_EVERY;
	if (pkt.ackreq)
		x->noack = 0;
	if (!left) {
		x->lost = true;
		n_lost_place++;
	}
	transmit(TO_SWITCH, &pkt,
		 mb_payload(m, w->msg, w->off + w->len - left, n));
	if (pkt.flags & INC_PKT_FIRST) {
		w->first_psn = x->psn;
		w->last_psn = inc_psn_add(x->psn, left ? (left - 1) / PMTU : 0);
	}
	w->left -= n;
	w->state = x->inside ? PROCESSING : PENDING;
	x->psn = inc_psn_add(x->psn, 1);
	if (!x->inside)
		x->at++;
	if (!x->timer_set)
		set_timeout(m);
	return true;
}

static void retry(struct rxe *x, bool timeout)
{
	if ((x->retrying && !timeout) || inc_psn_diff(x->psn, x->acked) <= 0)
		return;
	x->need_retry = true;
	x->retrying = true;
}

/* A response within the oldest message, or an ACK of its last packet again. */
static void response(struct member *m, struct rxe_wqe *w,
		     const struct inc_pkt *pkt)
{
	struct rxe *x = &m->rxe;

	if (inc_psn_diff(pkt->psn, x->acked) < 0) {
		x->done += pkt->psn == w->last_psn;
		return;
	}
	switch (pkt->syndrome >> 5) {
	case 0:
		x->retrying = false;
		x->done += w->state == PENDING && w->last_psn == pkt->psn;
		x->acked = inc_psn_add(pkt->psn, 1);
		break;
	case 1:
		x->rnr_until = now + 10 + below(2000);
		post_timer(m, RNR, x->rnr_until);
		break;
	default:
		x->acked = pkt->psn;
		retry(x, false);
	}
}

/* Look at one response. */
static bool completer(struct member *m)
{
	bool timeout = m->rxe.timeout;
	struct rxe *x = &m->rxe;
	struct rxe_wqe *w;
	struct inc_pkt pkt;

	x->timeout = false;
	if (x->need_retry)
		return now >= x->rnr_until;
	if (x->nresponses) {
		pkt = x->response[0];
		memmove(x->response, x->response + 1,
			--x->nresponses * sizeof(pkt));
		for (; x->done < x->nwqe; x->done++) {
			w = &x->wqe[x->done];
			if (w->state == POSTED)
				return true;
			if (inc_psn_diff(pkt.psn, w->last_psn) <= 0) {
				response(m, w, &pkt);
				return true;
			}
			if (w->state != PENDING)
				return true;
			x->retrying = false;
			if (inc_psn_diff(w->last_psn, x->acked) >= 0)
				x->acked = inc_psn_add(w->last_psn, 1);
		}
		return true;
	}
	if (x->done == x->nwqe || x->wqe[x->done].state == POSTED)
		return false;
	if (timeout)
		retry(x, true);
	if (inc_psn_diff(x->psn, x->acked) > 0)
		set_timeout(m);
	return x->need_retry;
}

static void post_write(struct rxe *x, unsigned int msg, u32 off, u32 end,
		       bool imm)
{
	x->wqe[x->nwqe++] = (struct rxe_wqe) {
		.msg = msg, .off = off, .len = end - off, .left = end - off,
		.imm = imm,
	};
}

/* There are messages to send. */
void rxe_kick(struct member *m)
{
	struct rxe *x = &m->rxe;

	while (mb_may_push(m)) {
		unsigned int i = m->npushed++;
		u32 cut = mb_cut(m, i);

		if (cut)
			post_write(x, i, 0, cut, false);
		post_write(x, i, cut, INC_HDR_LEN + msgs[i].data_len, true);
	}
	if (x->at < x->nwqe)
		wake(m);
}

void rxe_response(struct member *m, const struct inc_pkt *pkt)
{
	struct rxe *x = &m->rxe;

	require(x->nresponses < ARRAY_SIZE(x->response));
	x->response[x->nresponses++] = *pkt;
	wake(m);
}

void rxe_timer(struct member *m, u32 what, u64 at)
{
	struct rxe *x = &m->rxe;
	bool more;

	switch (what) {
	case STEP:
		x->awake = false;
		more = requester(m);
		if (completer(m) || more)
			wake(m);
		break;
	case RETRANSMIT:
		x->timer_set = false;
		if (x->timeout_at > at) {
			x->timer_set = true;
			post_timer(m, RETRANSMIT, x->timeout_at);
		} else if (x->done < x->nwqe) {
			x->timeout = true;
			wake(m);
		}
		break;
	case RNR:
		if (at != x->rnr_until)
			break;
		x->need_retry = true;
		wake(m);
		break;
	}
}
