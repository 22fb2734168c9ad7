// SPDX-License-Identifier: GPL-2.0
/*
 * A member: a go-back-N requester or an rxe's (sim_rxe.c), a responder, and a
 * program that sends messages one after the other.
 */
#include "sim.h"

#define TIMEOUT		3000	/* microseconds until a UC member queries */
#define SOON		500	/* after which it may query again */
#define ALL_ENDED	0x7f

struct member *members;

/* Bytes of a message's first write, if it is sent in two. */
u32 mb_cut(const struct member *m, unsigned int i)
{
	u32 len = INC_HDR_LEN + msgs[i].data_len;

	return m->in_two ? (len - 1) / PMTU * PMTU : 0;
}

static u8 opcode(bool first, bool last, bool imm)
{
	if (last && first)
		return imm ? OP_ONLY_IMM : OP_ONLY;
	if (last)
		return imm ? OP_LAST_IMM : OP_LAST;
	return first ? OP_FIRST : OP_MIDDLE;
}

static void mb_push(struct member *m, unsigned int i)
{
	u32 len = INC_HDR_LEN + msgs[i].data_len, cut = mb_cut(m, i);

	for (u32 off = 0; off < len; off += PMTU) {
		u32 n = min(len - off, (u32)PMTU), begin = off < cut ? 0 : cut;
		u32 end = off < cut ? cut : len;
		struct inc_pkt *pkt = &m->pkt[m->npkts];

		*pkt = test_pkt(opcode(off == begin, off + n == end, end == len),
				inc_psn_add(m->first_psn, m->npkts), n,
				end - begin);
		pkt->rkey = 7;
		pkt->va = (u64)(msgs[i].msg_id % SLOTS) * MSG_SIZE + begin;
		pkt->imm = msgs[i].msg_id & 0xffffff;
		pkt->ackreq = off + n == end;
		m->pkt_msg[m->npkts] = i;
		m->pkt_off[m->npkts++] = off;
	}
	m->npushed++;
}

struct inc_hdr mb_header(const struct member *m, unsigned int i)
{
	struct inc_hdr hdr = {
		.version = INC_VERSION, .collective = msgs[i].collective,
		.dtype = msgs[i].dtype, .op = msgs[i].op,
		.tree_id = cpu_to_be32(place_of(at_rank)->geom.tree_id),
		.msg_id = cpu_to_be32(msgs[i].msg_id),
		.nelem = cpu_to_be32(msgs[i].nelem),
		.result_va = cpu_to_be64((u64)i * MSG_SIZE),
	};

	if (m->odd == i)
		hdr.op = hdr.op == INC_OP_MAX ? INC_OP_MIN : INC_OP_MAX;
	return hdr;
}

/* @n bytes of message @i from @off on. */
struct buf *mb_payload(const struct member *m, unsigned int i, u32 off, u32 n)
{
	struct inc_hdr hdr = mb_header(m, i);

	if (!n)
		return new_buf(NULL, 0, NULL, 0);
	if (!off)
		return new_buf(&hdr, sizeof(hdr), data[i][at_rank], n - sizeof(hdr));
	return new_buf(NULL, 0, data[i][at_rank] + off - INC_HDR_LEN, n);
}

/* Before some of its messages a rank computes. */
static bool computes(struct member *m, unsigned int i)
{
	if (i > m->computed) {
		m->computed = i;
		if (below(1000) < busy) {
			m->busy_until = now + below(LATER);
			put_event((struct event) {
				.at = m->busy_until, .rank = m - members,
				.dest = COMPUTED,
			});
		}
	}
	return now < m->busy_until;
}

/*
 * A slot's next message may be sent when the last one is done, or has failed
 * for all: earlier it would be refused.
 */
bool mb_may_push(struct member *m)
{
	unsigned int i = m->npushed;

	if (i >= NMSG || i >= m->low + SLOTS || computes(m, i))
		return false;
	if (i < SLOTS || !fails[i - SLOTS])
		return true;
	for (int r = 0; r < ranks; r++)
		if (!members[r].done[i - SLOTS])
			return false;
	return true;
}

/* --- UC: retransmits, queries, and believes low marks -------------------- */

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

static void uc_kick(struct member *m)
{
	while (m->npushed < NMSG && m->npushed < m->low + SLOTS)
		mb_send(m, m->npushed++, false);
}

static void uc_timer(struct member *m, unsigned int i, u64 at)
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

static void uc_hear(struct member *m, const struct inc_pkt *pkt, const struct buf *b)
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

void mb_kick(int rank)
{
	struct member *m = &members[rank];

	at_rank = rank;
	if (m->uc) {
		uc_kick(m);
		return;
	}
	if (m->is_rxe) {
		rxe_kick(m);
		return;
	}
	while (mb_may_push(m))
		mb_push(m, m->npushed);
	while (now >= m->resume && m->next < m->npkts &&
	       m->next < m->una + MEMBER_WINDOW) {
		struct inc_pkt pkt = m->pkt[m->next];

		/* The window closes here: the last chance to request an ACK. */
		pkt.ackreq |= m->next + 1 == m->una + MEMBER_WINDOW ||
			      m->next % 16 == 15;
		transmit(TO_SWITCH, &pkt,
			 mb_payload(m, m->pkt_msg[m->next], m->pkt_off[m->next],
				    pkt.payload_len));
		m->next++;
	}
	if (m->una < m->npkts && !m->timer) {
		m->timer = max(now + MEMBER_TIMEOUT, m->resume);
		put_event((struct event) {
			.at = m->timer, .rank = rank, .dest = MEMBER_TIMER,
			.pkt.va = m->timer,
		});
	}
}

void mb_timer(int rank, const struct inc_pkt *timer)
{
	struct member *m = &members[rank];

	at_rank = rank;
	if (m->uc) {
		uc_timer(m, timer->imm, timer->va);
		return;
	}
	if (m->is_rxe) {
		rxe_timer(m, timer->imm, timer->va);
		return;
	}
	if (m->timer != timer->va)
		return;
	m->timer = 0;
	m->next = m->una;
	mb_kick(rank);
}

static void mb_response(struct member *m, const struct inc_pkt *pkt)
{
	s32 n = inc_psn_diff(pkt->psn, inc_psn_add(m->first_psn, m->una));

	/* An ACK names the last PSN received, a NAK the first one missing. */
	if (pkt->syndrome >> 5 == 0)
		n++;
	require(n <= MEMBER_WINDOW);
	if (n < 0)
		return;
	if (n) {
		m->una += n;
		m->timer = 0;
		m->next = max(m->next, m->una);
	}
	require(m->una <= m->npkts);
	if (pkt->syndrome >> 5 == 0)
		return;
	m->next = m->una;
	if (pkt->syndrome >> 5 == 1) {
		m->resume = now + 50;
		m->timer = m->resume;
		put_event((struct event) {
			.at = m->timer, .rank = at_rank, .dest = MEMBER_TIMER,
			.pkt.va = m->timer,
		});
	}
}

static void mb_complete(struct member *m, u32 imm)
{
	unsigned int i = ((imm & 0xffffff) - first_msg) & 0xffffff;

	require(i < NMSG && !m->done[i] && i < m->npushed);
	m->done[i] = true;
	m->status[i] = imm >> 24;
	while (m->low < NMSG && m->done[m->low])
		m->low++;
}

static void mb_request(struct member *m, const struct inc_pkt *pkt, struct buf *b)
{
	s32 diff = inc_psn_diff(pkt->psn, m->epsn);

	if (diff < 0) {
		respond(TO_SWITCH, 0x1f, inc_psn_add(m->epsn, -1));
	} else if (diff > 0) {
		if (!m->nak_sent)
			respond(TO_SWITCH, 0x60, m->epsn);
		m->nak_sent = true;
	} else if (pkt->flags & INC_PKT_IMM && below(1000) < rnr) {
		respond(TO_SWITCH, 0x20 | 8, m->epsn);
	} else {
		/* New bytes were the slot's own when they were sent. */
		require(pkt->rkey);
		require(pkt->va + b->len <= sizeof(m->result));
		memcpy((u8 *)m->result + pkt->va, b->data, b->len);
		m->epsn = inc_psn_add(m->epsn, 1);
		m->nak_sent = false;
		if (pkt->flags & INC_PKT_IMM)
			mb_complete(m, pkt->imm);
		if (pkt->ackreq)
			respond(TO_SWITCH, 0x1f, pkt->psn);
	}
}

void mb_rx(int rank, const struct inc_pkt *pkt, struct buf *b)
{
	at_rank = rank;
	if (members[rank].uc)
		uc_hear(&members[rank], pkt, b);
	else if (pkt->flags & INC_PKT_REQUEST)
		mb_request(&members[rank], pkt, b);
	else if (members[rank].is_rxe)
		rxe_response(&members[rank], pkt);
	else
		mb_response(&members[rank], pkt);
	free_buf(b);
	for (int r = 0; r < ranks; r++)
		mb_kick(r);
}

