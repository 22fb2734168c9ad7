// SPDX-License-Identifier: GPL-2.0
/*
 * UC in the simulation: the switch's side as in rx_uc.c and tx_queue.c, and a
 * member that retransmits, queries, and believes low marks.
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

static void sw_status(struct qp *q, u32 msg_id, u8 status)
{
	struct inc_pkt pkt = uc_pkt(q->psn++, 0);

	pkt.imm = (u32)status << 24 | (msg_id & 0xffffff);
	transmit(TO_MEMBER, &pkt, new_buf(NULL, 0, NULL, 0));
}

static void sw_result(struct qp *q, u16 slot, const struct out *out)
{
	u32 behind = out->msg_id - first_msg - at_sw->mark;
	struct inc_pkt pkt = uc_pkt(q->psn++, out->data_len);

	if ((s32)behind < 0)
		behind = 0;
	/* While this one may be queried, the next cannot begin. */
	require(!out->data_len || inc_slot_has(&at_sw->slots[slot], out->msg_id));
	pkt.va = out->va;
	pkt.imm = (0x80 | min(behind, (u32)ALL_ENDED)) << 24 | (out->msg_id & 0xffffff);
	transmit(TO_MEMBER, &pkt, new_buf(NULL, 0, at_sw->slots[slot].result, out->data_len));
}

/* Results queued for a UC member are sent and forgotten. */
void uc_send(struct qp *q)
{
	while (q->head != q->tail) {
		u16 slot = q->fifo[q->head++ % SLOTS];
		struct out *out = &q->out[slot];

		out->queued = false;
		if (!out->open && !out->again)
			continue;
		n_sent++;
		n_again += out->again;
		if (out->status)
			sw_status(q, out->msg_id, out->status);
		else
			sw_result(q, slot, out);
		out->open = false;
		out->again = false;
	}
}

/* As inc_txq_again(). Returns false if the message has not arrived. */
static bool known(struct qp *q, u32 msg_id, bool asked)
{
	struct out *out = &q->out[msg_id % SLOTS];

	if (!out->begun || (s32)(msg_id - out->msg_id) > 0)
		return false;
	if (msg_id != out->msg_id)
		return true;
	if (out->open && asked)
		sw_status(q, msg_id, INC_STATUS_PENDING);
	if (out->open)
		return true;
	out->again = true;
	if (!out->queued) {
		out->queued = true;
		q->fifo[q->tail++ % SLOTS] = msg_id % SLOTS;
	}
	return true;
}

/* A packet from a UC member; true if it is a new request. */
bool uc_request(struct qp *q, const struct inc_pkt *pkt, const struct buf *b)
{
	struct inc_hdr hdr;
	u32 msg_id;

	require(inc_responder_check_uc(&q->resp, pkt));
	memcpy(&hdr, b->data, sizeof(hdr));
	msg_id = be32_to_cpu(hdr.msg_id);
	if (!(hdr.flags & cpu_to_be16(INC_HDR_F_QUERY)))
		return !known(q, msg_id, false);
	if (!known(q, msg_id, true))
		sw_status(q, msg_id, INC_STATUS_RESEND);
	return false;
}

/* As report_missing(). */
void uc_came(struct qp *q, u32 msg_id, u32 psn)
{
	s32 ahead = inc_psn_diff(psn, q->resp.epsn);
	u32 missing;

	if (ahead >= 0)
		q->resp.epsn = inc_psn_add(psn, 1);
	inc_msg_loss_came(&q->gap, msg_id, ahead < 0);
	while (inc_msg_loss_judge(&q->gap, &missing)) {
		const struct out *out = &q->out[missing % SLOTS];

		if (!out->begun || (s32)(missing - out->msg_id) > 0)
			sw_status(q, missing, INC_STATUS_RESEND);
	}
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
