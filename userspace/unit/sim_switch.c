// SPDX-License-Identifier: GPL-2.0
/*
 * A whole switch in one process: the responder, the slot machine and the
 * requester, put together as engine.c and send.c do it, and members that
 * behave as stock rxe does, over links that lose, double and reorder, in
 * simulated time. Every result has to be right, once, within a time limit.
 *
 * INC_SEED=n runs one seed and says more; INC_RUNS=n, n seeds.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/kernel.h>

#include "psn.h"
#include "reduce/reduce.h"
#include "req.h"
#include "resp.h"
#include "slot.h"
#include "tests/pkt.h"

#define MAX_RANKS	9
#define SLOTS		8
#define PMTU		256
#define MAX_CHUNKS	5
#define MSG_SIZE	(MAX_CHUNKS * PMTU)
#define NMSG		48
#define MAX_KEPT	64
#define MAX_PKTS	(NMSG * MAX_CHUNKS)
#define MEMBER_WINDOW	48
#define MEMBER_TIMEOUT	4000
#define FNS		1000000ull	/* a second, in microseconds */

#define die(...) do {							\
	printf("# seed %" PRIu64 ", rank %d, time %" PRIu64 ": ", seed, at_rank, \
	       now);							\
	printf(__VA_ARGS__);						\
	printf("\n");							\
	exit(1);							\
} while (0)
#define require(cond) do {						\
	if (!(cond))							\
		die("%s:%d: %s", __FILE__, __LINE__, #cond);		\
} while (0)

/* A packet's payload, and the part that it becomes. */
struct buf {
	struct inc_part	part;
	u16		len;
	u8		data[];
};

enum dest { TO_SWITCH, TO_MEMBER, SWITCH_TIMER, MEMBER_TIMER };

struct event {
	u64		at, no;
	enum dest	dest;
	int		rank;
	struct inc_pkt	pkt;
	struct buf	*buf;
};

/* As in qp.h. */
struct out {
	u64	va;
	u32	msg_id, data_len;
	u16	nchunks, ready, sent;
	u8	status;
	bool	open, queued;
};

struct kept {
	struct inc_pkt	pkt;
	struct buf	*buf;
};

struct qp {
	struct inc_resp	resp;
	struct inc_req	req;
	u32		rx_msg_id;
	bool		rx_take;
	struct out	out[SLOTS];
	u16		fifo[SLOTS];
	unsigned int	head, tail;
	struct kept	kept[MAX_KEPT];
	unsigned int	nkept;
	u64		timer;
};

struct member {
	/* Requester. */
	struct inc_pkt	pkt[MAX_PKTS];
	u16		pkt_msg[MAX_PKTS];
	u32		pkt_off[MAX_PKTS];
	unsigned int	npkts, una, next, npushed;
	u32		first_psn;
	u64		timer, resume;
	/* Responder. */
	u32		epsn;
	bool		nak_sent;
	u8		result[NMSG][MSG_SIZE];
	u8		status[NMSG];
	bool		done[NMSG];
	unsigned int	low;		/* all messages before that are done */
	/* What this one says differently from the others, or NMSG. */
	unsigned int	odd;
};

static uint64_t seed, now, state, ev_no;
static int at_rank, ranks, live;
static unsigned int loss, dup, rnr, held_back;	/* permille */
static u32 delay, jitter, first_msg;
static struct qp *qps;
static struct member *members;
static struct inc_slot slots[SLOTS];
static struct inc_slot_geom geom;
static struct inc_msg msgs[NMSG];
static u8 *data[NMSG][MAX_RANKS];
static bool fails[NMSG];
static struct event *heap[65536];
static unsigned int nheap;
static uint64_t n_sent, n_again, n_timeouts, n_lost;

static uint64_t rnd(void)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static u32 below(u32 n)
{
	return (rnd() >> 32) % n;
}

static bool before(const struct event *a, const struct event *b)
{
	return a->at < b->at || (a->at == b->at && a->no < b->no);
}

static void put_event(struct event e)
{
	struct event *n = malloc(sizeof(*n));
	unsigned int i = nheap++;

	require(nheap < ARRAY_SIZE(heap));
	e.no = ev_no++;
	*n = e;
	for (; i && before(n, heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = n;
}

static struct event get_event(void)
{
	struct event e = *heap[0], *last = heap[--nheap];
	unsigned int i = 0, k;

	free(heap[0]);
	while ((k = 2 * i + 1) < nheap) {
		if (k + 1 < nheap && before(heap[k + 1], heap[k]))
			k++;
		if (!before(heap[k], last))
			break;
		heap[i] = heap[k];
		i = k;
	}
	if (nheap)
		heap[i] = last;
	return e;
}

static struct buf *new_buf(const void *hdr, u32 hdr_len, const void *p, u32 len)
{
	struct buf *b = malloc(sizeof(*b) + hdr_len + len);

	b->len = hdr_len + len;
	if (hdr_len)
		memcpy(b->data, hdr, hdr_len);
	if (len)
		memcpy(b->data + hdr_len, p, len);
	live++;
	return b;
}

static void free_buf(struct buf *b)
{
	if (!b)
		return;
	live--;
	free(b);
}

void inc_part_free(struct inc_part *part)
{
	free_buf(container_of(part, struct buf, part));
}

/* Onto the link; the payload is copied for each copy. */
static void transmit(enum dest dest, const struct inc_pkt *pkt, struct buf *buf)
{
	int copies = 1 + (below(1000) < dup);

	if (below(1000) < loss) {
		n_lost++;
		copies = 0;
	}
	while (copies--)
		put_event((struct event) {
			.at = now + delay + below(jitter + 1), .dest = dest,
			.rank = at_rank, .pkt = *pkt,
			.buf = buf ? new_buf(NULL, 0, buf->data, buf->len) : NULL,
		});
	free_buf(buf);
}

static void respond(enum dest dest, u8 syndrome, u32 psn)
{
	struct inc_pkt pkt = {
		.opcode = 0x11, .flags = INC_PKT_AETH, .psn = psn,
		.syndrome = syndrome,
	};

	transmit(dest, &pkt, NULL);
}

/* ---- the switch: send.c */

static void enqueue(struct qp *q, u16 slot)
{
	if (q->out[slot].queued)
		return;
	q->out[slot].queued = true;
	q->fifo[q->tail++ % SLOTS] = slot;
}

static bool fill_one(struct qp *q)
{
	struct inc_wqe *w;
	struct out *out;
	u16 slot;

	if (q->head == q->tail)
		return false;
	w = inc_req_push(&q->req);
	if (!w)
		return false;
	slot = q->fifo[q->head % SLOTS];
	out = &q->out[slot];
	*w = (struct inc_wqe) { .msg_id = out->msg_id, .slot = slot };
	if (out->status) {
		w->imm = out->status << 24 | (out->msg_id & 0xffffff);
		w->opcode = OP_ONLY_IMM;
		out->open = false;
	} else {
		w->chunk = out->sent++;
		w->va = out->va + inc_chunk_off(&geom, w->chunk);
		w->len = inc_chunk_len(&geom, w->chunk, out->data_len);
		w->imm = out->msg_id & 0xffffff;
		w->opcode = out->sent == out->nchunks ? OP_ONLY_IMM : OP_ONLY;
		out->open = out->sent < out->nchunks;
	}
	if (!out->open || out->sent == out->ready) {
		out->queued = false;
		q->head++;
	}
	return true;
}

static void sw_kick(int rank)
{
	struct qp *q = &qps[rank];
	u64 deadline;

	at_rank = rank;
	for (;;) {
		bool ackreq, again;
		struct inc_wqe *w;
		struct inc_pkt pkt;
		struct buf *b;
		u32 psn;

		if (q->req.next == q->req.max && !fill_one(q))
			break;
		w = inc_req_next(&q->req, now, q->head == q->tail, &psn, &ackreq,
				 &again);
		if (!w)
			break;
		n_sent++;
		n_again += again;
		pkt = test_pkt(w->opcode, psn, w->len, w->len);
		pkt.va = w->va;
		pkt.imm = w->imm;
		pkt.ackreq = ackreq;
		b = new_buf(NULL, 0, slots[w->slot].result +
			    inc_chunk_off(&geom, w->chunk), w->len);
		/* The part tells the member whether it may believe the bytes. */
		b->part.level = slots[w->slot].chunk[w->chunk].msg_id == w->msg_id;
		pkt.rkey = b->part.level || !w->len;
		transmit(TO_MEMBER, &pkt, b);
	}
	deadline = inc_req_deadline(&q->req);
	if (deadline && deadline != q->timer) {
		q->timer = deadline;
		put_event((struct event) {
			.at = max(deadline, now) + below(1000), .rank = rank,
			.dest = SWITCH_TIMER, .pkt.va = deadline,
		});
	}
}

/* ---- the switch: engine.c */

static void sw_tell(u16 slot, u32 msg_id, u8 status)
{
	for (int r = 0; r < ranks; r++) {
		struct out *out = &qps[r].out[slot];

		if (out->open && out->msg_id == msg_id && !out->status) {
			out->status = status;
			enqueue(&qps[r], slot);
		}
	}
}

static bool sw_begin(struct qp *q, const struct inc_pkt *pkt, const struct buf *b)
{
	struct inc_hdr hdr;
	struct inc_msg msg;
	struct out *out;
	u16 slot;
	u8 status;

	require(pkt->payload_len >= INC_HDR_LEN && b->len == pkt->payload_len);
	memcpy(&hdr, b->data, sizeof(hdr));
	status = inc_msg_parse(&geom, &hdr, pkt->dmalen, &msg);
	slot = msg.msg_id % SLOTS;
	require(pkt->va == (u64)slot * MSG_SIZE);
	if (below(1000) < held_back)
		return false;
	out = &q->out[slot];
	require(!out->open);
	*out = (struct out) {
		.va = be64_to_cpu(hdr.result_va), .msg_id = msg.msg_id,
		.data_len = msg.data_len, .nchunks = msg.nchunks, .open = true,
		.queued = out->queued,
	};
	q->rx_msg_id = msg.msg_id;
	q->rx_take = false;
	switch (inc_slot_begin(&slots[slot], at_rank, &msg, status, now)) {
	case INC_SLOT_TAKE:
		q->rx_take = true;
		break;
	case INC_SLOT_FAIL:
		sw_tell(slot, msg.msg_id, slots[slot].status);
		break;
	case INC_SLOT_FAILED:
		out->status = slots[slot].status;
		enqueue(q, slot);
		break;
	case INC_SLOT_REFUSE:
		die("message 0x%x refused", msg.msg_id);
	}
	return true;
}

static void sw_add(struct qp *q, const struct inc_pkt *pkt, struct buf *b)
{
	u32 hdr = pkt->flags & INC_PKT_FIRST ? INC_HDR_LEN : 0;
	struct inc_slot *s = &slots[q->rx_msg_id % SLOTS];

	b->part.data = b->data + hdr;
	b->part.len = b->len - hdr;
	if (!inc_slot_add(s, at_rank, q->rx_msg_id, &b->part))
		return;
	for (int r = 0; r < ranks; r++) {
		struct out *out = &qps[r].out[q->rx_msg_id % SLOTS];

		require(out->open && out->msg_id == q->rx_msg_id);
		out->ready = s->ready;
		enqueue(&qps[r], q->rx_msg_id % SLOTS);
	}
}

/* Takes the expected packet in; false if it has to come again. */
static bool sw_take(struct qp *q, const struct inc_pkt *pkt, struct buf *b,
		    bool *ack)
{
	if (pkt->flags & INC_PKT_FIRST && !sw_begin(q, pkt, b)) {
		q->resp.nak_sent = true;
		respond(TO_MEMBER, 0x20 | 1, q->resp.epsn);
		free_buf(b);
		return false;
	}
	inc_resp_accept(&q->resp, pkt);
	*ack |= inc_resp_ack_due(&q->resp, pkt->ackreq);
	if (q->rx_take)
		sw_add(q, pkt, b);
	else
		free_buf(b);
	return true;
}

static void sw_keep(struct qp *q, const struct inc_pkt *pkt, struct buf *b)
{
	unsigned int i = q->nkept;

	while (i && inc_psn_diff(q->kept[i - 1].pkt.psn, pkt->psn) >= 0)
		i--;
	if (q->nkept == MAX_KEPT ||
	    (i < q->nkept && q->kept[i].pkt.psn == pkt->psn)) {
		free_buf(b);
		return;
	}
	memmove(&q->kept[i + 1], &q->kept[i], (q->nkept++ - i) * sizeof(q->kept[0]));
	q->kept[i] = (struct kept) { *pkt, b };
}

static void sw_take_kept(struct qp *q, bool *ack)
{
	while (q->nkept &&
	       inc_psn_diff(q->kept[0].pkt.psn, q->resp.epsn) <= 0) {
		struct kept k = q->kept[0];

		memmove(&q->kept[0], &q->kept[1], --q->nkept * sizeof(k));
		if (k.pkt.psn != q->resp.epsn) {
			free_buf(k.buf);
			continue;
		}
		require(inc_resp_check(&q->resp, &k.pkt) == INC_RESP_NEW);
		*ack = true;
		if (!sw_take(q, &k.pkt, k.buf, ack)) {
			*ack = false;
			return;
		}
	}
}

static void sw_request(struct qp *q, const struct inc_pkt *pkt, struct buf *b)
{
	bool ack = false;

	switch (inc_resp_check(&q->resp, pkt)) {
	case INC_RESP_NEW:
		if (sw_take(q, pkt, b, &ack))
			sw_take_kept(q, &ack);
		break;
	case INC_RESP_DUP:
		ack = inc_resp_ack_due(&q->resp, pkt->ackreq);
		free_buf(b);
		break;
	case INC_RESP_AHEAD_NAK:
		respond(TO_MEMBER, 0x60, q->resp.epsn);
		/* fallthrough */
	case INC_RESP_AHEAD:
		sw_keep(q, pkt, b);
		break;
	default:
		die("request PSN 0x%x refused", pkt->psn);
	}
	if (ack)
		respond(TO_MEMBER, 0x1f, inc_psn_add(q->resp.epsn, -1));
}

static void sw_rx(int rank, const struct inc_pkt *pkt, struct buf *b)
{
	struct qp *q = &qps[rank];
	enum inc_req_verdict v = INC_REQ_OLD;

	at_rank = rank;
	if (pkt->flags & INC_PKT_REQUEST)
		sw_request(q, pkt, b);
	else if (pkt->syndrome >> 5 == 0)
		v = inc_req_ack(&q->req, pkt->psn, now);
	else if (pkt->syndrome >> 5 == 1)
		v = inc_req_rnr_nak(&q->req, pkt->psn, pkt->syndrome, now);
	else
		v = inc_req_nak_seq(&q->req, pkt->psn, now);
	require(v != INC_REQ_BAD);
	for (int r = 0; r < ranks; r++)
		sw_kick(r);
}

static void sw_timer(int rank, u64 deadline)
{
	struct qp *q = &qps[rank];
	enum inc_req_timer what;

	at_rank = rank;
	if (q->timer != deadline)
		return;
	q->timer = 0;
	what = inc_req_timeout(&q->req, now);
	require(what != INC_REQ_TIMER_DEAD);
	n_timeouts += what == INC_REQ_TIMER_BACK;
	sw_kick(rank);
}

/* ---- a member */

static void mb_push(struct member *m, unsigned int i)
{
	u32 len = INC_HDR_LEN + msgs[i].data_len;

	for (u32 off = 0; off < len; off += PMTU) {
		u32 n = min(len - off, (u32)PMTU);
		bool first = !off, last = off + n == len;
		struct inc_pkt *pkt = &m->pkt[m->npkts];

		*pkt = test_pkt(first ? last ? OP_ONLY_IMM : OP_FIRST :
				last ? OP_LAST_IMM : OP_MIDDLE,
				inc_psn_add(m->first_psn, m->npkts), n, len);
		pkt->rkey = 7;
		pkt->va = (u64)(msgs[i].msg_id % SLOTS) * MSG_SIZE;
		pkt->imm = msgs[i].msg_id & 0xffffff;
		pkt->ackreq = last;
		m->pkt_msg[m->npkts] = i;
		m->pkt_off[m->npkts++] = off;
	}
	m->npushed++;
}

static struct buf *mb_payload(struct member *m, unsigned int p)
{
	unsigned int i = m->pkt_msg[p];
	struct inc_hdr hdr = {
		.version = INC_VERSION, .collective = msgs[i].collective,
		.dtype = msgs[i].dtype, .op = msgs[i].op,
		.tree_id = cpu_to_be32(geom.tree_id),
		.msg_id = cpu_to_be32(msgs[i].msg_id),
		.nelem = cpu_to_be32(msgs[i].nelem),
		.result_va = cpu_to_be64((u64)i * MSG_SIZE),
	};
	u32 off = m->pkt_off[p], n = m->pkt[p].payload_len;

	if (m->odd == i)
		hdr.op = hdr.op == INC_OP_MAX ? INC_OP_MIN : INC_OP_MAX;
	if (!off)
		return new_buf(&hdr, sizeof(hdr), data[i][at_rank], n - sizeof(hdr));
	return new_buf(NULL, 0, data[i][at_rank] + off - INC_HDR_LEN, n);
}

/*
 * The next message of a slot may be sent when the last one is done, or has
 * failed for all: before that it would be refused.
 */
static bool mb_may_push(const struct member *m)
{
	unsigned int i = m->npushed;

	if (i >= NMSG || i >= m->low + SLOTS)
		return false;
	if (i < SLOTS || !fails[i - SLOTS])
		return true;
	for (int r = 0; r < ranks; r++)
		if (!members[r].done[i - SLOTS])
			return false;
	return true;
}

static void mb_kick(int rank)
{
	struct member *m = &members[rank];

	at_rank = rank;
	while (mb_may_push(m))
		mb_push(m, m->npushed);
	while (now >= m->resume && m->next < m->npkts &&
	       m->next < m->una + MEMBER_WINDOW) {
		struct inc_pkt pkt = m->pkt[m->next];

		/* The window closes here: nothing else would ask. */
		pkt.ackreq |= m->next + 1 == m->una + MEMBER_WINDOW ||
			      m->next % 16 == 15;
		transmit(TO_SWITCH, &pkt, mb_payload(m, m->next));
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

static void mb_timer(int rank, u64 at)
{
	struct member *m = &members[rank];

	if (m->timer != at)
		return;
	m->timer = 0;
	m->next = m->una;
	mb_kick(rank);
}

static void mb_response(struct member *m, const struct inc_pkt *pkt)
{
	s32 n = inc_psn_diff(pkt->psn, inc_psn_add(m->first_psn, m->una));

	/* An ACK says up to where, a NAK what is missing. */
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

static void mb_rx(int rank, const struct inc_pkt *pkt, struct buf *b)
{
	at_rank = rank;
	if (pkt->flags & INC_PKT_REQUEST)
		mb_request(&members[rank], pkt, b);
	else
		mb_response(&members[rank], pkt);
	free_buf(b);
	for (int r = 0; r < ranks; r++)
		mb_kick(r);
}

/* ---- a run */

/* The definition: the left half, plus the right half if there is one. */
static void reference(unsigned int i, int first, int size, u8 *to)
{
	u8 right[MSG_SIZE];

	if (size == 1) {
		memcpy(to, data[i][first], msgs[i].data_len);
		return;
	}
	size /= 2;
	reference(i, first, size, to);
	if (first + size >= ranks)
		return;
	reference(i, first + size, size, right);
	inc_reduce_lookup(msgs[i].dtype, msgs[i].op)->generic(to, to, right,
							      msgs[i].nelem);
}

static void make_message(unsigned int i)
{
	static const u8 dtypes[] = { INC_DTYPE_FP32, INC_DTYPE_FP64,
				     INC_DTYPE_INT32, INC_DTYPE_INT64 };
	static const u8 ops[] = { INC_OP_SUM, INC_OP_MIN, INC_OP_MAX };
	struct inc_msg *m = &msgs[i];
	u32 size;

	memset(m, 0, sizeof(*m));
	m->msg_id = first_msg + i;
	m->collective = below(8) ? INC_COLL_ALLREDUCE : INC_COLL_BARRIER;
	if (m->collective == INC_COLL_ALLREDUCE) {
		m->dtype = dtypes[below(4)];
		m->op = ops[below(3)];
		size = inc_dtype_size(m->dtype);
		m->nelem = below((MSG_SIZE - INC_HDR_LEN) / size + 1);
		m->data_len = m->nelem * size;
	}
	for (int r = 0; r < ranks; r++) {
		data[i][r] = malloc(m->data_len + 1);
		for (u32 k = 0; k < m->data_len; k++)
			data[i][r][k] = rnd();
		/* Exponents that meet, or nothing would round. */
		for (u32 k = 3; m->dtype == INC_DTYPE_FP32 && k < m->data_len; k += 4)
			data[i][r][k] = 0x3f | (data[i][r][k] & 0x80);
	}
}

static void setup(void)
{
	int odd;

	ranks = 1 + below(MAX_RANKS);
	loss = below(3) ? below(60) : 0;
	dup = below(3) ? below(60) : 0;
	rnr = below(3) ? 0 : below(50);
	held_back = below(3) ? 0 : below(50);
	delay = 10 + below(300);
	jitter = below(3) ? 0 : below(100);
	first_msg = below(2) ? (u32)rnd() : 0u - below(NMSG);
	if (!below(3))
		first_msg = 0x1000000 - below(NMSG);
	geom = (struct inc_slot_geom) {
		.ranks = ranks, .slots = SLOTS, .pmtu = PMTU,
		.max_chunks = MAX_CHUNKS, .tree_id = 5, .collectives = ~0u,
		.dtypes = ~0u, .ops = ~0u,
	};
	for (unsigned int i = 0; i < NMSG; i++) {
		struct inc_slot *s = &slots[(first_msg + i) % SLOTS];

		make_message(i);
		fails[i] = false;
		if (i < SLOTS)
			inc_slot_init(s, &geom, first_msg + i,
				      aligned_alloc(64, inc_slot_size(&geom)));
		if (i < SLOTS)
			memset(s->result, 0, inc_slot_size(&geom));
	}
	qps = calloc(ranks, sizeof(*qps));
	members = calloc(ranks, sizeof(*members));
	for (int r = 0; r < ranks; r++) {
		u32 up = below(2) ? below(1 << 24) : 0xffffff - below(200);
		u32 down = below(2) ? below(1 << 24) : 0xffffff - below(200);

		qps[r].resp = (struct inc_resp) {
			.epsn = up, .rkey = 7, .stride = MSG_SIZE,
			.slots = SLOTS, .pmtu = PMTU,
		};
		inc_req_init(&qps[r].req, down);
		inc_req_tune(&qps[r].req, 1 + below(below(2) ? 8 : 64), 2500,
			     60 * FNS);
		members[r].first_psn = up;
		members[r].epsn = down;
		members[r].odd = NMSG;
	}
	/* Now and then a rank disagrees about one message. */
	odd = below(ranks);
	if (ranks > 1 && !below(3)) {
		unsigned int i = below(NMSG);

		if (msgs[i].collective == INC_COLL_ALLREDUCE) {
			members[odd].odd = i;
			fails[i] = true;
		}
	}
}

static void check(void)
{
	u8 want[MSG_SIZE];
	int size = 1;

	while (size < ranks)
		size *= 2;
	for (unsigned int i = 0; i < NMSG; i++) {
		if (msgs[i].data_len)
			reference(i, 0, size, want);
		for (at_rank = 0; at_rank < ranks; at_rank++) {
			struct member *m = &members[at_rank];

			if (!m->done[i])
				die("message %u never came", i);
			if (m->status[i] != (fails[i] ? INC_STATUS_MISMATCH : 0))
				die("message %u has status %u", i, m->status[i]);
			if (!fails[i] &&
			    memcmp(m->result[i], want, msgs[i].data_len))
				die("message %u is wrong", i);
			require(m->una == m->npkts);
			require(qps[at_rank].req.una == qps[at_rank].req.max);
		}
	}
	require(!live);
}

static void run(void)
{
	state = seed * 0x9e3779b97f4a7c15 + 1;
	now = 1000000;
	nheap = 0;
	setup();
	for (int r = 0; r < ranks; r++)
		mb_kick(r);
	while (nheap) {
		struct event e = get_event();

		now = e.at;
		if (now > 120 * FNS) {
			for (int r = 0; r < ranks; r++)
				printf("# rank %d: %u messages done, %u of %u packets\n",
				       r, members[r].low, members[r].una,
				       members[r].npkts);
			die("no end");
		}
		switch (e.dest) {
		case TO_SWITCH:
			sw_rx(e.rank, &e.pkt, e.buf);
			break;
		case TO_MEMBER:
			mb_rx(e.rank, &e.pkt, e.buf);
			break;
		case SWITCH_TIMER:
			sw_timer(e.rank, e.pkt.va);
			break;
		case MEMBER_TIMER:
			mb_timer(e.rank, e.pkt.va);
			break;
		}
	}
	for (int r = 0; r < ranks; r++)
		for (unsigned int k = 0; k < qps[r].nkept; k++)
			free_buf(qps[r].kept[k].buf);
	check();
	for (unsigned int i = 0; i < NMSG; i++)
		for (int r = 0; r < ranks; r++)
			free(data[i][r]);
	for (unsigned int i = 0; i < SLOTS; i++)
		free(slots[i].result);
	free(qps);
	free(members);
}

int main(void)
{
	const char *one = getenv("INC_SEED"), *runs = getenv("INC_RUNS");
	uint64_t first = one ? strtoull(one, NULL, 0) : 1;
	uint64_t n = runs ? strtoull(runs, NULL, 0) : one ? 1 : 500;

	setvbuf(stdout, NULL, _IOLBF, 0);
	inc_reduce_init();
	for (seed = first; seed < first + n; seed++) {
		run();
		if (one)
			printf("# seed %" PRIu64 ": %d ranks, loss %u, dup %u, rnr %u, held back %u permille, %" PRIu64 " us\n",
			       seed, ranks, loss, dup, rnr, held_back, now);
	}
	printf("# %" PRIu64 " runs, %" PRIu64 " results sent, %" PRIu64 " again, %" PRIu64 " time-outs, %" PRIu64 " packets lost\n",
	       n, n_sent, n_again, n_timeouts, n_lost);
	printf("ok 1 - sim_switch.runs\n1..1\n");
	return 0;
}
