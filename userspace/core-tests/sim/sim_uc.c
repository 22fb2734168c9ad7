// SPDX-License-Identifier: GPL-2.0
/*
 * UC in the simulation: the switch's side as in rx_uc.c, and a member that
 * retransmits, queries, and believes low marks.
 */
#include "sim.h"

#define TIMEOUT		3000	/* microseconds until a member queries */
#define SOON		500	/* after which it may query again */
#define ALL_ENDED	0x7f
#define UC_OPCODE	0x20

/* Messages end in any order; the mark is the first one that has not ended. */
void uc_ended(u32 msg_id)
{
	at_sw->ended[msg_id - first_msg] = true;
	while (at_sw->mark < NMSG && at_sw->ended[at_sw->mark])
		at_sw->mark++;
}

static struct inc_pkt uc_pkt(u32 psn, u32 len)
{
	struct inc_pkt pkt = test_pkt(OP_ONLY_IMM, psn & INC_PSN_MASK, len, len);

	pkt.opcode |= UC_OPCODE;
	pkt.uc = true;
	return pkt;
}

/* --- The switch --------------------------------------------------------- */

/* Results queued for a UC member are sent and forgotten. */
void uc_send(struct qp *q)
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
bool uc_request(struct qp *q, const struct inc_pkt *pkt, const struct buf *b)
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
void uc_came(struct qp *q, u32 msg_id, u32 psn)
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

/* --- The member --------------------------------------------------------- */

static void mb_wait(struct member *m, unsigned int i)
{
	m->due[i] = now + TIMEOUT + below(500);
	put_event((struct event) {
		.at = m->due[i], .rank = at_rank, .dest = MEMBER_TIMER,
		.pkt.va = m->due[i], .pkt.imm = i,
	});
}

static void mb_send(struct member *m, unsigned int i, bool ask)
{
	u32 len = INC_HDR_LEN + (ask ? 0 : msgs[i].data_len);
	struct inc_hdr hdr = mb_header(m, i);
	struct inc_pkt pkt = uc_pkt(m->first_psn + m->next++, len);

	if (ask)
		hdr.flags |= cpu_to_be16(INC_HDR_F_QUERY);
	pkt.rkey = 7;
	pkt.va = (u64)(msgs[i].msg_id % SLOTS) * MSG_SIZE;
	pkt.imm = msgs[i].msg_id & 0xffffff;
	transmit(TO_SWITCH, &pkt, new_buf(&hdr, sizeof(hdr), data[i][at_rank],
					  len - INC_HDR_LEN));
	mb_wait(m, i);
}

void uc_kick(struct member *m)
{
	while (m->npushed < NMSG && m->npushed < m->low + SLOTS)
		mb_send(m, m->npushed++, false);
}

void uc_timer(struct member *m, unsigned int i, u64 at)
{
	if (!m->done[i] && m->due[i] == at)
		mb_send(m, i, true);
}

/* All messages before it have ended: results not received yet were lost. */
static void mb_mark(struct member *m, u32 before)
{
	for (unsigned int i = 0; i < before; i++)
		require(place_of(at_rank)->ended[i]);
	for (unsigned int i = m->low; i < before; i++)
		if (!m->done[i] && m->due[i] < now + TIMEOUT - SOON)
			mb_send(m, i, true);
}

void uc_hear(struct member *m, const struct inc_pkt *pkt, const struct buf *b)
{
	unsigned int i = ((pkt->imm & 0xffffff) - first_msg) & 0xffffff;
	u8 status = pkt->imm >> 24;

	require(i < m->npushed);
	if (status == INC_STATUS_RESEND || status == INC_STATUS_PENDING) {
		/* Late ones refer to a message whose result has arrived. */
		if (!m->done[i] && status == INC_STATUS_RESEND)
			mb_send(m, i, false);
		else if (!m->done[i])
			mb_wait(m, i);
		return;
	}
	if (status & 0x80) {
		require(pkt->va + b->len <= sizeof(m->result));
		require(!m->done[i] ||
			!memcmp((u8 *)m->result + pkt->va, b->data, b->len));
		memcpy((u8 *)m->result + pkt->va, b->data, b->len);
		if ((status & 0x7f) != ALL_ENDED && i >= (status & 0x7fu))
			mb_mark(m, i - (status & 0x7f));
		status = INC_STATUS_OK;
	}
	require(!m->done[i] || m->status[i] == status);
	m->done[i] = true;
	m->status[i] = status;
	while (m->low < NMSG && m->done[m->low])
		m->low++;
}
