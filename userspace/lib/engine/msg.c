// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Turns operations into messages, and results into progress.
 *
 * All ranks must use the same message IDs for the same operations. An operation
 * therefore always sends as many messages as its size requires. After an error,
 * the remaining ones carry no data.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "msg.h"
#include "arena.h"
#include "base/log.h"
#include "core/seg.h"
#include "end.h"
#include "fail.h"
#include "sq.h"
#include "uc.h"
#include "window_rc.h"

/* --- Receives ---------------------------------------------------------- */

/*
 * Fill the receive queue. Receives have no buffers: a result's data is written
 * to the address named in the request, and the receive takes only the
 * Immediate.
 */
int inc_msg_post_recvs(struct inc_comm *comm)
{
	struct ibv_recv_wr wr[INC_WC_BATCH] = { 0 }, *bad;
	unsigned int i, n;
	int ret;

	while (comm->rq.posted < comm->rq.depth) {
		n = comm->rq.depth - comm->rq.posted;
		n = n < INC_WC_BATCH ? n : INC_WC_BATCH;
		for (i = 0; i < n; i++)
			wr[i].next = i + 1 < n ? &wr[i + 1] : NULL;
		ret = -ibv_post_recv(comm->qp, wr, &bad);
		if (ret)
			return ret;
		comm->rq.posted += n;
	}
	return 0;
}

/* --- Sends ------------------------------------------------------------- */

/* A message's data and its result's destination, in the caller's memory. */
struct piece {
	const char	*from;
	char		*to;
	size_t		nfrom;
	size_t		nto;
	size_t		len;		/* of a block */
};

/*
 * Is the next message the last of a repeatable operation: a Barrier? Its result shows
 * that all ranks have the results of all earlier messages and operations, so none
 * will repeat them.
 */
static bool is_last_word(const struct inc_request *req)
{
	return inc_request_confirms(req) && req->msgs_posted + 1 == req->msgs;
}

static bool have_arrived(const struct inc_request *first,
			 const struct inc_request *last)
{
	while (first != last && inc_request_arrived(first))
		first = first->next;
	return inc_request_arrived(first);
}

static void next_piece(const struct inc_request *req, struct piece *p)
{
	const struct inc_step *s = &req->step;
	size_t block = req->plan.block, stride = req->stride;

	if (is_last_word(req)) {
		*p = (struct piece) { .len = 0 };
		return;
	}
	p->len = req->err ? 0 :
			    inc_seg_len(block, req->posted, req->plan.chunk);
	p->from = NULL;
	p->to = NULL;
	p->nfrom = s->nfrom * p->len;
	p->nto = req->recv ? s->nto * p->len : 0;
	if (p->nfrom)
		p->from = req->send + s->from * stride + req->posted;
	if (p->nto)
		p->to = req->recv + s->to * stride + req->posted;
}

/* Choose where the switch writes a message's result, if it has one. */
static int find_place(struct inc_comm *comm, const struct inc_request *req,
		      uint32_t id, const struct piece *p,
		      struct inc_place *place)
{
	struct inc_bounce *b = &comm->bounce;

	*place = (struct inc_place) { 0 };
	if (!p->nto)
		return 0;
	if (comm->uc)
		return inc_landing_take(&comm->uc->landing, place);
	if (req->rmem) {
		place->va = (uintptr_t)p->to;
		place->rkey = inc_mem_mr(req->rmem, p->to)->rkey;
		return 0;
	}
	if (p->nto > comm->arena.entry_data) {
		place->mem = b->mem + b->room;
		place->rkey = b->mr->rkey;
	} else {
		place->mem = inc_msg_result(comm, id);
		place->rkey = comm->arena.mr->rkey;
	}
	place->va = (uintptr_t)place->mem;
	return 0;
}

static void fill_hdr(struct inc_comm *comm, const struct inc_request *req,
		     uint32_t id, const struct piece *p,
		     const struct inc_place *place)
{
	struct inc_hdr *hdr = inc_msg_hdr(comm, id);

	*hdr = req->hdr;
	hdr->tree_id = htonl(comm->tree.tree_id);
	if (is_last_word(req)) {
		hdr->collective = INC_COLL_BARRIER;
		hdr->dtype = 0;
		hdr->op = 0;
		hdr->root = 0;
	} else {
		hdr->collective = req->step.collective;
		hdr->root = htons((uint16_t)req->step.root);
	}
	hdr->msg_id = htonl(id);
	if (!p->nto)
		hdr->flags = htons(INC_HDR_F_NO_DATA);
	hdr->nelem = htonl(req->esize ? (uint32_t)(p->len / req->esize) : 0);
	hdr->result_rkey = htonl(place->rkey);
	hdr->result_va = htobe64(place->va);
}

/* Header and copied data are contiguous; registered data is a second SGE. */
static void fill_sge(struct inc_comm *comm, const struct inc_request *req,
		     uint32_t id, const struct piece *p, struct ibv_send_wr *wr)
{
	struct ibv_sge *sge = wr->sg_list;
	struct inc_hdr *hdr = inc_msg_hdr(comm, id);

	sge[0].addr = (uintptr_t)hdr;
	sge[0].length = INC_HDR_LEN;
	sge[0].lkey = comm->arena.mr->lkey;
	wr->num_sge = 1;
	if (p->nfrom && req->smem) {
		sge[1].addr = (uintptr_t)p->from;
		sge[1].length = (uint32_t)p->nfrom;
		sge[1].lkey = inc_mem_mr(req->smem, p->from)->lkey;
		wr->num_sge = 2;
	} else if (p->nfrom > comm->arena.entry_data) {
		memcpy(comm->bounce.mem, p->from, p->nfrom);
		sge[1].addr = (uintptr_t)comm->bounce.mem;
		sge[1].length = (uint32_t)p->nfrom;
		sge[1].lkey = comm->bounce.mr->lkey;
		wr->num_sge = 2;
	} else if (p->nfrom) {
		memcpy(hdr + 1, p->from, p->nfrom);
		sge[0].length += (uint32_t)p->nfrom;
	}
	if (wr->num_sge == 1 && sge[0].length <= comm->sq.inline_max)
		wr->send_flags |= IBV_SEND_INLINE;
}

/*
 * Maximum number of unacknowledged messages, on a path that loses packets; 0:
 * unlimited.
 */
static unsigned int max_flight(const struct inc_comm *comm)
{
	unsigned int packets = atomic_load_explicit(&comm->watchdog.flight,
						    memory_order_relaxed);
	unsigned int msgs = (packets + INC_SEG_PACKETS / 2) / INC_SEG_PACKETS;

	return packets && !msgs ? 1 : msgs;
}

/*
 * Should no more of @req be sent until a completion or a result arrives? If rxe
 * gets the acknowledgment of a whole message while retransmitting it, it
 * completes the message only when a later one is acknowledged. So don't wait
 * for messages whose result has arrived.
 */
static bool sq_full(const struct inc_comm *comm, const struct inc_request *req)
{
	uint64_t posted = comm->sq.posted - comm->sq.done;
	unsigned int limit = max_flight(comm);

	return posted == comm->sq.depth ||
	       (limit && req->smem && posted >= limit &&
		comm->msgs.next - comm->msgs.head >= limit &&
		comm->sq.signaled > comm->sq.done);
}

/*
 * A completion per quarter of the send queue, or of the ring, is enough to
 * track progress. An operation whose data is not copied needs another one at
 * its end, or its registration could not be released.
 */
static bool wants_completion(const struct inc_comm *comm,
			     const struct inc_request *req, uint64_t seq)
{
	if (req->smem && max_flight(comm))
		return true;
	return seq % comm->sq.every == 0 ||
	       (req->smem && req->msgs_posted == req->msgs);
}

/* Part of a block was sent, perhaps the last one: move to the next message. */
static void advance_request(struct inc_request *req)
{
	uint64_t before = req->step_no;

	if (before == req->plan.steps)
		return;
	inc_plan_next(&req->plan, &req->step_no, &req->posted);
	if (req->step_no != before && req->step_no < req->plan.steps)
		inc_plan_step(&req->plan, req->step_no, &req->step);
}

/*
 * Make the last packet of several a write of its own: then no ACK can make a stock
 * rxe lose its place (protocol.rst, "Request"). Room for another write and its SGE
 * follows @wr. Returns the number of send requests, 1 or 2.
 */
static unsigned int split_write(const struct inc_comm *comm,
				struct ibv_send_wr *wr)
{
	struct ibv_sge *sge = &wr->sg_list[wr->num_sge - 1];
	uint32_t before = wr->num_sge > 1 ? INC_HDR_LEN : 0;
	uint32_t len = before + sge->length, cut;

	cut = (len - 1) / comm->tree.pmtu * comm->tree.pmtu;
	if (comm->uc || !cut)
		return 1;
	wr[1] = wr[0];
	wr[1].sg_list = wr->sg_list + 2;
	wr[1].num_sge = 1;
	wr[1].wr.rdma.remote_addr += cut;
	wr[1].sg_list[0] = (struct ibv_sge) {
		.addr	= sge->addr + cut - before,
		.length	= len - cut,
		.lkey	= sge->lkey,
	};
	sge->length = cut - before;
	wr[0].opcode = IBV_WR_RDMA_WRITE;
	wr[0].send_flags &= ~(unsigned int)IBV_SEND_SIGNALED;
	wr[0].next = &wr[1];
	return 2;
}

/* Returns the number of send requests, 0 if the communicator has failed. */
static unsigned int build_msg(struct inc_comm *comm, struct ibv_send_wr *wr)
{
	struct inc_request *req = comm->ops.tx;
	uint32_t id = comm->msgs.next;
	struct inc_msg *msg = &comm->msgs.ring[id & comm->msgs.mask];
	struct inc_place place;
	struct piece p;
	uint64_t seq;
	int ret;

	next_piece(req, &p);
	ret = find_place(comm, req, id, &p, &place);
	if (ret) {
		inc_comm_fail(comm, ret, "registering memory for results: %s",
			      strerror(-ret));
		return 0;
	}
	comm->msgs.next++;
	seq = ++comm->sq.posted;
	msg->req = req;
	msg->to = p.to;
	msg->land = place.mem;
	msg->len = p.nto;
	msg->bounced = req->bounces && (p.nfrom > comm->arena.entry_data ||
					p.nto > comm->arena.entry_data);
	req->last_seq = seq;
	req->last_id = id;
	fill_hdr(comm, req, id, &p, &place);
	req->msgs_posted++;

	wr->wr_id = seq;
	wr->opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	wr->send_flags = 0;
	if (wants_completion(comm, req, seq)) {
		wr->send_flags = IBV_SEND_SIGNALED;
		comm->sq.signaled = seq;
	}
	wr->imm_data = htonl(inc_seg_imm(id));
	wr->wr.rdma.remote_addr = inc_msg_addr(comm, id);
	wr->wr.rdma.rkey = comm->tree.rkey;
	fill_sge(comm, req, id, &p, wr);
	msg->out = wr->sg_list[0].length;
	msg->seq = comm->uc || wr->send_flags & IBV_SEND_INLINE ? 0 : seq;
	if (msg->bounced) {
		comm->bounce.busy = true;
		comm->bounce.seq = seq;
	}
	inc_window_rc_sent(comm, req, id);

	advance_request(req);
	comm->info.messages++;
	comm->info.tx_bytes += INC_HDR_LEN + p.nfrom;
	if (req->msgs_posted == req->msgs)
		comm->ops.tx = req->next;
	return split_write(comm, wr);
}

static void msg_done(struct inc_comm *comm, uint32_t id, unsigned int status);

/* Handle statuses that arrived before their messages were sent, if any. */
static bool take_early(struct inc_comm *comm, uint32_t from)
{
	bool any = false;
	uint8_t *early;
	uint32_t id;

	for (id = from; id != comm->msgs.next && !inc_comm_stopped(comm); id++) {
		early = &comm->msgs.early[id & (comm->tree.slots - 1)];
		if (!*early)
			continue;
		msg_done(comm, id, *early);
		*early = 0;
		any = true;
	}
	return any;
}

/* A zero-length write is acknowledged even if earlier messages failed. */
static void post_empty(struct inc_comm *comm)
{
	struct ibv_send_wr wr = {
		.wr_id = comm->sq.posted + 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma.rkey = comm->tree.rkey,
	};

	if (comm->sq.posted - comm->sq.done == comm->sq.depth)
		return;
	comm->sq.posted++;
	comm->sq.signaled = comm->sq.posted;
	inc_sq_post(comm, &wr);
}

/*
 * May the device still read memory that the next message would overwrite? Over
 * RC it may retransmit a message that has already ended: one that failed
 * because of other ranks may not have arrived. @alone: no message is built but
 * unposted.
 */
static bool entry_is_read(struct inc_comm *comm, const struct inc_request *req,
			  bool alone)
{
	uint64_t seq = comm->msgs.ring[comm->msgs.next & comm->msgs.mask].seq;

	if (req->bounces && comm->bounce.seq > seq)
		seq = comm->bounce.seq;
	if (seq <= comm->sq.done)
		return false;
	inc_sq_reap(comm);
	if (inc_comm_stopped(comm) || seq <= comm->sq.done)
		return inc_comm_stopped(comm);
	if (alone && comm->sq.signaled < seq)
		post_empty(comm);
	return true;
}

/* Build all messages that the window and the send queue admit, as a chain. */
static uint32_t build_chain(struct inc_comm *comm)
{
	uint32_t n = 0, more;

	comm->sq.full = false;
	if (comm->msgs.grow && comm->msgs.head == comm->msgs.next)
		inc_msg_grow(comm);
	while (comm->ops.tx && !inc_request_is_held(comm->ops.tx) &&
	       inc_msg_may_send(comm)) {
		if (is_last_word(comm->ops.tx) &&
		    !have_arrived(comm->ops.first, comm->ops.tx))
			break;
		if (comm->ops.tx->bounces && comm->bounce.busy)
			break;
		if (sq_full(comm, comm->ops.tx) ||
		    entry_is_read(comm, comm->ops.tx, !n)) {
			comm->sq.full = true;
			break;
		}
		comm->sq.wr[n].sg_list = &comm->sq.sge[2 * n];
		comm->sq.wr[n].next = NULL;
		if (n)
			comm->sq.wr[n - 1].next = &comm->sq.wr[n];
		more = build_msg(comm, &comm->sq.wr[n]);
		if (!more)
			return 0;
		if (comm->uc)
			inc_uc_sent(comm, n == 0);
		n += more;
	}
	/* The window admits more messages than the arena has entries. */
	if (comm->ops.tx && comm->msgs.mask + 1 < comm->msgs.entries_max &&
	    comm->msgs.next - comm->msgs.head == comm->msgs.mask + 1)
		comm->msgs.grow = comm->window.now > comm->msgs.mask + 1;
	return inc_comm_stopped(comm) ? 0 : n;
}

static void push_messages(struct inc_comm *comm)
{
	uint32_t from;

	if (!comm->ops.tx || comm->rebuild.state)
		return;
	if (comm->sq.posted - comm->sq.done > comm->sq.depth / 2 ||
	    max_flight(comm) || comm->mem.zombies)
		inc_sq_reap(comm);
	do {
		from = comm->msgs.next;
		if (inc_comm_stopped(comm) || !build_chain(comm) ||
		    !inc_sq_post(comm, comm->sq.wr))
			return;
	} while (take_early(comm, from) && comm->ops.tx);
	inc_window_rc_filled(comm);
}

/* --- Results ----------------------------------------------------------- */

/*
 * Is another rank's operation longer? With two rails, a rank that uses both may meet
 * one that does not, and would wait on the second rail for messages that nobody sends.
 */
static bool is_longer_elsewhere(const struct inc_request *req,
				unsigned int status)
{
	return req->comm->rails.peer && inc_request_confirms(req) &&
	       req->msgs_done + 1 == req->msgs &&
	       inc_status_errno(status) == -EBADE;
}

static void msg_done(struct inc_comm *comm, uint32_t id, unsigned int status)
{
	struct inc_msg *msg = &comm->msgs.ring[id & comm->msgs.mask];
	struct inc_request *req = msg->req;
	bool hopeless = status && is_longer_elsewhere(req, status);

	if (status) {
		comm->info.errors++;
		if (!req->err) {
			req->err = inc_comm_note(comm, inc_status_errno(status),
						 "%s", inc_status_str(status));
			comm->error.ask = true;
			comm->error.msg_id = id;
		}
	} else {
		comm->info.rx_bytes += msg->len;
	}
	if (comm->uc)
		inc_uc_done(comm, id, status);
	else
		inc_window_rc_done(comm, req, id, !status);
	if (msg->bounced)
		comm->bounce.busy = false;
	msg->req = NULL;
	req->msgs_done++;
	comm->info.results++;
	while (comm->msgs.head != comm->msgs.next &&
	       !comm->msgs.ring[comm->msgs.head & comm->msgs.mask].req)
		comm->msgs.head++;
	inc_request_finish(comm);
	if (hopeless)
		inc_comm_fail(comm, -EBADE, "%s: another rank's operation is longer",
			      inc_status_str(status));
}

/* Fail on a result without error for a message that is not in flight. */
static void fail_unexpected(struct inc_comm *comm, uint32_t imm)
{
	inc_comm_fail(comm, -EPROTO,
		      "result of message 0x%x, but 0x%x to 0x%x are in flight",
		      imm & INC_IMM_MSG_ID_MASK, inc_seg_imm(comm->msgs.head),
		      inc_seg_imm(comm->msgs.next - 1));
}

/* Handle an Immediate. Returns false if a UC member's message still waits. */
static bool take_result(struct inc_comm *comm, uint32_t imm)
{
	unsigned int status = imm >> INC_IMM_STATUS_SHIFT;
	uint32_t dist = inc_seg_dist(imm, comm->msgs.head);
	uint32_t flight = comm->msgs.next - comm->msgs.head;
	uint32_t id = inc_seg_id(imm, comm->msgs.head);
	struct inc_msg *msg;

	if (comm->uc && inc_uc_heard(comm, id, &status))
		return false;
	/* Unknown statuses are handled according to their range. */
	if (status >= INC_IMM_LOWMARK)
		status = INC_STATUS_OK;
	if (status > INC_STATUS_TREE_MAX && status <= INC_STATUS_NOTE_MAX)
		return true;
	if (status >= INC_STATUS_TREE_MIN) {
		inc_fail_tree(comm, status);
		return true;
	}
	if (dist < flight) {
		msg = &comm->msgs.ring[id & comm->msgs.mask];
		if (!msg->req) {
			/* Over UC a result may arrive twice. */
			if (!status && !comm->uc)
				fail_unexpected(comm, imm);
			return true;
		}
		if (!status && !msg->req->err && msg->land)
			memcpy(msg->to, msg->land, msg->len);
		msg_done(comm, id, status);
		return true;
	}
	if (!status) {
		if (!comm->uc)
			fail_unexpected(comm, imm);
	} else if (dist < flight + comm->tree.slots) {
		/* Error of another rank, for a message not sent here yet. */
		comm->msgs.early[id & (comm->tree.slots - 1)] = (uint8_t)status;
	}
	/* Otherwise a duplicate error for a message that is done: ignore. */
	return true;
}

static void poll_results(struct inc_comm *comm)
{
	struct ibv_wc wc[INC_WC_BATCH];
	bool news = false;
	int i, n;

	do {
		n = ibv_poll_cq(comm->rq.cq, INC_WC_BATCH, wc);
		if (n > 0 && comm->uc)
			inc_uc_came(comm);
		for (i = 0; i < n; i++) {
			if (wc[i].status != IBV_WC_SUCCESS) {
				inc_fail_wc(comm, &wc[i], "receiving");
				return;
			}
			if (!(wc[i].wc_flags & IBV_WC_WITH_IMM)) {
				inc_comm_fail(comm, -EPROTO,
					      "something without Immediate came");
				return;
			}
			comm->rq.posted--;
			news |= take_result(comm, ntohl(wc[i].imm_data));
			if (inc_comm_stopped(comm))
				return;
		}
		if (news)
			inc_watchdog_count(&comm->watchdog.progress);
		news = false;
	} while (n == INC_WC_BATCH);
}

/* Process results, and send the messages that they allow. */
void inc_msg_progress(struct inc_comm *comm)
{
	int ret;

	poll_results(comm);
	if (inc_comm_stopped(comm))
		return;
	if (comm->rq.posted <= comm->rq.depth / 2 ||
	    comm->rq.posted < comm->window.now) {
		ret = inc_msg_post_recvs(comm);
		if (ret) {
			inc_fail_device(comm, ret, "ibv_post_recv: %s",
					strerror(-ret));
			return;
		}
	}
	push_messages(comm);
	if (comm->uc && !inc_comm_stopped(comm))
		inc_uc_progress(comm);
	if (!inc_comm_stopped(comm))
		inc_comm_watch_failed(comm);
}

/* Restart an operation from its first message. */
static void rewind_request(struct inc_request *req)
{
	req->err = 0;
	req->step_no = 0;
	req->posted = 0;
	req->msgs = inc_plan_msgs(&req->plan) + inc_request_confirms(req);
	req->msgs_posted = 0;
	req->msgs_done = 0;
	inc_plan_step(&req->plan, 0, &req->step);
}

/*
 * Go on over another tree.
 * @done: number of operations of which all ranks have the results; later ones
 *	are repeated
 */
void inc_msg_resume(struct inc_comm *comm, uint32_t done)
{
	struct inc_request *req;

	while ((req = comm->ops.first) && comm->rebuild.finished != done) {
		req->msgs_done = req->msgs;
		inc_request_finish(comm);
	}
	inc_request_drop_kept(comm);
	comm->ops.tx = comm->ops.first;
	for (req = comm->ops.first; req; req = req->next)
		rewind_request(req);
	push_messages(comm);
}

/* Queue an operation and start sending. */
void inc_msg_issue(struct inc_comm *comm, struct inc_request *req)
{
	req->next = NULL;
	req->done = false;
	rewind_request(req);
	inc_window_rc_issue(comm, req);
	req->number = ++comm->info.begun;
	comm->info.collective = req->plan.collective;
	comm->info.block = req->plan.block;
	inc_dbg(&comm->who, "%s begins: blocks of %zu bytes, %llu messages",
		inc_collective_name(req->plan.collective), req->plan.block,
		(unsigned long long)req->msgs);
	if (comm->ops.last)
		comm->ops.last->next = req;
	else
		comm->ops.first = req;
	comm->ops.last = req;
	if (!comm->ops.tx)
		comm->ops.tx = req;
	push_messages(comm);
}
