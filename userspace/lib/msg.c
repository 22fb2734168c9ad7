// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * From operations to messages and from results to progress.
 *
 * All ranks have to use the same message IDs for the same operations, so an
 * operation always uses up as many message IDs as its size asks for, even after
 * one of its messages ended with an error: the rest go without data then.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "comm.h"
#include "log.h"
#include "seg.h"

#define ENTRY_ALIGN		64

/* --- Arena: per message a header, room for its data and for its result --- */

static size_t entry_stride(const struct inc_comm *comm)
{
	return 2 * comm->entry_data + ENTRY_ALIGN;
}

/**
 * inc_msg_hdr() - header of a message, its copied data behind it
 * @comm: communicator
 * @id: message that is in flight or is being made
 *
 * Return: the header.
 */
struct inc_hdr *inc_msg_hdr(const struct inc_comm *comm, uint32_t id)
{
	return (struct inc_hdr *)(comm->arena + (id & comm->ring_mask) *
				  entry_stride(comm));
}

static char *entry_recv(const struct inc_comm *comm, uint32_t id)
{
	return (char *)inc_msg_hdr(comm, id) + ENTRY_ALIGN + comm->entry_data;
}

static int alloc_arena(struct inc_comm *comm, uint32_t entries)
{
	size_t room = comm->tree.msg_size - INC_HDR_LEN;

	room = room < INC_EAGER_MAX ? room : INC_EAGER_MAX;
	comm->entry_data = (room + ENTRY_ALIGN - 1) / ENTRY_ALIGN * ENTRY_ALIGN;
	comm->arena_size = entries * entry_stride(comm);
	comm->arena = mmap(NULL, comm->arena_size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (comm->arena == MAP_FAILED) {
		comm->arena = NULL;
		return -errno;
	}
	comm->arena_mr = ibv_reg_mr(comm->pd, comm->arena, comm->arena_size,
				    IBV_ACCESS_LOCAL_WRITE |
				    IBV_ACCESS_REMOTE_WRITE);
	return comm->arena_mr ? 0 : -errno;
}

/**
 * inc_msg_alloc() - allocate what depends on the tree
 * @comm: communicator; the daemon has answered
 *
 * Return: 0 or a negative errno value, -EMSGSIZE if UC can not carry the tree's
 * messages. inc_msg_free() frees in either case.
 */
int inc_msg_alloc(struct inc_comm *comm)
{
	uint32_t entries = 1;
	int ret;

	/* What is sent over UC is copied, to entries of no more than a packet. */
	if (comm->uc && comm->tree.msg_size > comm->tree.pmtu)
		return -EMSGSIZE;
	if (comm->window_max > comm->tree.slots)
		comm->window_max = comm->tree.slots;
	if (comm->window > comm->window_max)
		comm->window = comm->window_max;
	/* Over UC there may be holes behind what is under way. */
	while (entries < (comm->uc ? comm->tree.slots : comm->window_max))
		entries *= 2;
	comm->ring_mask = entries - 1;
	comm->next_id = comm->tree.first_msg_id;
	comm->head_id = comm->next_id;
	comm->ring = calloc(entries, sizeof(*comm->ring));
	comm->early = calloc(comm->tree.slots, 1);
	comm->wr = calloc(comm->window_max, sizeof(*comm->wr));
	comm->sge = calloc(comm->window_max * 2, sizeof(*comm->sge));
	if (!comm->ring || !comm->early || !comm->wr || !comm->sge)
		return -ENOMEM;
	ret = alloc_arena(comm, entries);
	return ret || !comm->uc ? ret : inc_uc_alloc(comm);
}

/**
 * inc_msg_free() - free what inc_msg_alloc() has made, the UC side and all requests
 * @comm: communicator without a queue pair and without operations under way
 *
 * Also if inc_msg_alloc() failed, or was never called.
 */
void inc_msg_free(struct inc_comm *comm)
{
	struct inc_req *req;

	inc_uc_free(comm);
	if (comm->arena_mr)
		ibv_dereg_mr(comm->arena_mr);
	if (comm->arena)
		munmap(comm->arena, comm->arena_size);
	while ((req = comm->all)) {
		comm->all = req->all;
		free(req->temp);
		free(req);
	}
	free(comm->ring);
	free(comm->early);
	free(comm->wr);
	free(comm->sge);
}

/* --- The end of requests and of the communicator ------------------------ */

/**
 * inc_req_get() - have an empty request
 * @comm: communicator
 *
 * Return: request, NULL if there is no memory.
 */
struct inc_req *inc_req_get(struct inc_comm *comm)
{
	struct inc_req *req = comm->free, *all;

	if (req) {
		comm->free = req->next;
		all = req->all;
	} else {
		req = malloc(sizeof(*req));
		if (!req)
			return NULL;
		all = comm->all;
		comm->all = req;
	}
	memset(req, 0, sizeof(*req));
	req->all = all;
	req->comm = comm;
	return req;
}

/* Gives up the memory that a request holds. */
static void release(struct inc_req *req)
{
	struct inc_comm *comm = req->comm;

	if (req->smem)
		inc_mem_put(&comm->mem, req->smem, req->last_seq);
	if (req->rmem)
		inc_mem_put(&comm->mem, req->rmem, 0);
	req->smem = NULL;
	req->rmem = NULL;
	free(req->temp);
	req->temp = NULL;
}

/**
 * inc_req_put() - the user is done with a request that is done
 * @req: request
 */
void inc_req_put(struct inc_req *req)
{
	release(req);
	req->next = req->comm->free;
	req->comm->free = req;
}

static void finish(struct inc_req *req)
{
	if (!req->persistent)
		release(req);
	req->done = true;
	req->comm->info.operations++;
	inc_dbg(&req->comm->who, "%s ends: %s",
		inc_collective_name(req->plan.collective),
		req->err ? inc_strerror(req->err) : "success");
	if (req->orphan)
		inc_req_put(req);
}

/* Takes finished operations off the list's head: they end in order of issue. */
static void finish_first(struct inc_comm *comm)
{
	struct inc_req *req;

	while ((req = comm->first) && req->msgs_done == req->msgs) {
		comm->first = req->next;
		if (!comm->first)
			comm->last = NULL;
		finish(req);
	}
}

/**
 * inc_msg_fail_all() - end all operations under way
 * @comm: communicator; its queue pair does not exist any more
 * @err: negative errno value that they end with
 */
void inc_msg_fail_all(struct inc_comm *comm, int err)
{
	struct inc_req *req;

	while ((req = comm->first)) {
		comm->first = req->next;
		if (!req->err)
			req->err = err;
		finish(req);
	}
	comm->last = NULL;
	comm->tx = NULL;
	comm->head_id = comm->next_id;
}

/**
 * inc_comm_note() - an operation failed, the communicator did not
 * @comm: communicator
 * @err: negative errno value
 * @fmt: what happened
 *
 * Return: @err.
 */
int inc_comm_note(struct inc_comm *comm, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(comm->errtext, sizeof(comm->errtext), fmt, ap);
	va_end(ap);
	inc_err(&comm->who, "%s", comm->errtext);
	return err;
}

/**
 * inc_comm_fail() - the communicator is of no use any more
 * @comm: communicator
 * @err: negative errno value
 * @fmt: what happened
 *
 * The queue pair is destroyed: when this returns, nothing is written to the
 * user's memory any more.
 */
void inc_comm_fail(struct inc_comm *comm, int err, const char *fmt, ...)
{
	va_list ap;

	if (comm->err)
		return;
	comm->err = err;
	va_start(ap, fmt);
	vsnprintf(comm->errtext, sizeof(comm->errtext), fmt, ap);
	va_end(ap);
	inc_err(&comm->who, "%s", comm->errtext);

	pthread_mutex_lock(&comm->watch.lock);
	comm->watch.qp = NULL;
	pthread_mutex_unlock(&comm->watch.lock);
	if (comm->qp && !ibv_destroy_qp(comm->qp))
		comm->qp = NULL;
	inc_msg_fail_all(comm, err);
	inc_mem_reap(&comm->mem, UINT64_MAX);
}

/* Takes over what the watch found. */
static bool watch_failed(struct inc_comm *comm)
{
	char text[INC_RDV_TEXT_MAX];
	int err = inc_watch_error(&comm->watch);

	if (!err)
		return false;
	pthread_mutex_lock(&comm->watch.lock);
	memcpy(text, comm->watch.text, sizeof(text));
	pthread_mutex_unlock(&comm->watch.lock);
	inc_comm_fail(comm, err, "%s", text);
	return true;
}

static void wc_failed(struct inc_comm *comm, const struct ibv_wc *wc,
		      const char *what)
{
	/* What is flushed was moved to ERROR: the watch knows why, if it did. */
	if (watch_failed(comm))
		return;
	inc_comm_fail(comm, wc->status == IBV_WC_RETRY_EXC_ERR ? -EHOSTUNREACH :
							      -EIO,
		      "%s: %s (vendor error %u)", what,
		      ibv_wc_status_str(wc->status), wc->vendor_err);
}

/* --- Receives ------------------------------------------------------------ */

/**
 * inc_msg_post_recvs() - fill the receive queue
 * @comm: communicator
 *
 * Receives take no data: a result's data goes where the request said, the
 * receive only takes its Immediate.
 *
 * Return: 0 or a negative errno value.
 */
int inc_msg_post_recvs(struct inc_comm *comm)
{
	struct ibv_recv_wr wr[INC_WC_BATCH] = { 0 }, *bad;
	unsigned int i, n;
	int ret;

	while (comm->rq_posted < comm->rq_depth) {
		n = comm->rq_depth - comm->rq_posted;
		n = n < INC_WC_BATCH ? n : INC_WC_BATCH;
		for (i = 0; i < n; i++)
			wr[i].next = i + 1 < n ? &wr[i + 1] : NULL;
		ret = -ibv_post_recv(comm->qp, wr, &bad);
		if (ret)
			return ret;
		comm->rq_posted += n;
	}
	return 0;
}

/* --- Sends ---------------------------------------------------------------- */

/* A message: what it sends and where its result goes, in caller's memory. */
struct piece {
	const char	*from;
	char		*to;
	size_t		nfrom;
	size_t		nto;
	size_t		len;		/* of a block */
};

static void next_piece(const struct inc_req *req, struct piece *p)
{
	const struct inc_step *s = &req->step;
	size_t block = req->plan.block;

	p->len = req->err ? 0 : inc_seg_len(block, req->posted, req->plan.chunk);
	p->from = NULL;
	p->to = NULL;
	p->nfrom = s->nfrom * p->len;
	p->nto = req->recv ? s->nto * p->len : 0;
	if (p->nfrom)
		p->from = req->send + s->from * block + req->posted;
	if (p->nto)
		p->to = req->recv + s->to * block + req->posted;
}

static void fill_hdr(struct inc_comm *comm, const struct inc_req *req,
		     uint32_t id, const struct piece *p)
{
	struct inc_hdr *hdr = inc_msg_hdr(comm, id);
	uint64_t va = 0;
	uint32_t rkey = 0;

	*hdr = req->hdr;
	hdr->collective = req->step.collective;
	hdr->root = htons((uint16_t)req->step.root);
	hdr->msg_id = htonl(id);
	if (!p->nto) {
		hdr->flags = htons(INC_HDR_F_NO_DATA);
	} else if (req->rmem) {
		va = (uintptr_t)p->to;
		rkey = inc_mem_mr(req->rmem, p->to)->rkey;
	} else {
		va = (uintptr_t)entry_recv(comm, id);
		rkey = comm->arena_mr->rkey;
	}
	hdr->nelem = htonl(req->esize ? (uint32_t)(p->len / req->esize) : 0);
	hdr->result_rkey = htonl(rkey);
	hdr->result_va = htobe64(va);
}

/* Header and copied data lie side by side, registered data is a second SGE. */
static void fill_sge(struct inc_comm *comm, const struct inc_req *req,
		     uint32_t id, const struct piece *p, struct ibv_send_wr *wr)
{
	struct ibv_sge *sge = wr->sg_list;
	struct inc_hdr *hdr = inc_msg_hdr(comm, id);

	sge[0].addr = (uintptr_t)hdr;
	sge[0].length = INC_HDR_LEN;
	sge[0].lkey = comm->arena_mr->lkey;
	wr->num_sge = 1;
	if (p->nfrom && req->smem) {
		sge[1].addr = (uintptr_t)p->from;
		sge[1].length = (uint32_t)p->nfrom;
		sge[1].lkey = inc_mem_mr(req->smem, p->from)->lkey;
		wr->num_sge = 2;
	} else if (p->nfrom) {
		memcpy(hdr + 1, p->from, p->nfrom);
		sge[0].length += (uint32_t)p->nfrom;
	}
	if (wr->num_sge == 1 && sge[0].length <= comm->inline_max)
		wr->send_flags |= IBV_SEND_INLINE;
}

/*
 * Messages that may be sent and not be acknowledged, on a path that loses
 * packets; 0: any number.
 */
static unsigned int flight(const struct inc_comm *comm)
{
	unsigned int packets = atomic_load_explicit(&comm->watch.flight,
						    memory_order_relaxed);
	unsigned int msgs = (packets + INC_SEG_PACKETS / 2) / INC_SEG_PACKETS;

	return packets && !msgs ? 1 : msgs;
}

/*
 * No more of @req now: wait for a completion, or for a result. An rxe that was
 * told while it repeats a message that all of it has arrived completes that
 * only when a later one is acknowledged: whose result has come is not waited for.
 */
static bool sq_full(const struct inc_comm *comm, const struct inc_req *req)
{
	uint64_t posted = comm->sq_posted - comm->sq_done;
	unsigned int limit = flight(comm);

	return posted == comm->sq_depth ||
	       (limit && req->smem && posted >= limit &&
		comm->next_id - comm->head_id >= limit &&
		comm->sq_signaled > comm->sq_done);
}

/*
 * A completion each quarter of the send queue is enough to know what is done;
 * and one at the end of an operation whose data is not copied, or its
 * registration could not be given up.
 */
static bool wants_completion(const struct inc_comm *comm,
			     const struct inc_req *req, uint64_t seq)
{
	if (req->smem && flight(comm))
		return true;
	return seq % (comm->sq_depth / 4) == 0 ||
	       (req->smem && req->msgs_posted == req->msgs);
}

/* A block's part was sent, perhaps its last: on to the next message. */
static void advance(struct inc_req *req)
{
	uint64_t before = req->step_no;

	inc_plan_next(&req->plan, &req->step_no, &req->posted);
	if (req->step_no != before && req->step_no < req->plan.steps)
		inc_plan_step(&req->plan, req->step_no, &req->step);
}

static void build_msg(struct inc_comm *comm, struct ibv_send_wr *wr)
{
	struct inc_req *req = comm->tx;
	uint32_t id = comm->next_id++;
	struct inc_msg *msg = &comm->ring[id & comm->ring_mask];
	uint64_t seq = ++comm->sq_posted;
	struct piece p;

	next_piece(req, &p);
	msg->req = req;
	msg->to = p.to;
	msg->len = p.nto;
	req->last_seq = seq;
	fill_hdr(comm, req, id, &p);
	req->msgs_posted++;

	wr->wr_id = seq;
	wr->opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	wr->send_flags = 0;
	if (wants_completion(comm, req, seq)) {
		wr->send_flags = IBV_SEND_SIGNALED;
		comm->sq_signaled = seq;
	}
	wr->imm_data = htonl(inc_seg_imm(id));
	wr->wr.rdma.remote_addr = inc_msg_addr(comm, id);
	wr->wr.rdma.rkey = comm->tree.rkey;
	fill_sge(comm, req, id, &p, wr);
	msg->out = wr->sg_list[0].length;
	inc_pace_sent(comm, req, id);

	advance(req);
	comm->info.messages++;
	comm->info.tx_bytes += INC_HDR_LEN + p.nfrom;
	if (req->msgs_posted == req->msgs)
		comm->tx = req->next;
}

/**
 * inc_msg_reap() - see which send requests are complete
 * @comm: communicator
 */
void inc_msg_reap(struct inc_comm *comm)
{
	struct ibv_wc wc[INC_WC_BATCH];
	int i, n;

	do {
		n = ibv_poll_cq(comm->scq, INC_WC_BATCH, wc);
		for (i = 0; i < n; i++) {
			if (wc[i].status != IBV_WC_SUCCESS) {
				wc_failed(comm, &wc[i], "sending");
				return;
			}
			comm->sq_done = wc[i].wr_id;
		}
	} while (n == INC_WC_BATCH);
	if (comm->mem.zombies)
		inc_mem_reap(&comm->mem, comm->sq_done);
}

static void msg_done(struct inc_comm *comm, uint32_t id, unsigned int status);

/* Statuses that came before their messages were sent. Says if there were any. */
static bool take_early(struct inc_comm *comm, uint32_t from)
{
	bool any = false;
	uint8_t *early;
	uint32_t id;

	for (id = from; id != comm->next_id; id++) {
		early = &comm->early[id & (comm->tree.slots - 1)];
		if (!*early)
			continue;
		msg_done(comm, id, *early);
		*early = 0;
		any = true;
	}
	return any;
}

/* Builds what the window and the send queue admit, as one chain. */
static uint32_t build(struct inc_comm *comm)
{
	uint32_t n = 0;

	comm->sq_full = false;
	while (comm->tx && inc_msg_may_send(comm)) {
		if (sq_full(comm, comm->tx)) {
			comm->sq_full = true;
			break;
		}
		comm->wr[n].sg_list = &comm->sge[2 * n];
		comm->wr[n].next = NULL;
		if (n)
			comm->wr[n - 1].next = &comm->wr[n];
		build_msg(comm, &comm->wr[n]);
		if (comm->uc)
			inc_uc_sent(comm, n == 0);
		n++;
	}
	return n;
}

static void push(struct inc_comm *comm)
{
	struct ibv_send_wr *bad;
	uint32_t from;
	int ret;

	if (!comm->tx)
		return;
	if (comm->sq_posted - comm->sq_done > comm->sq_depth / 2 ||
	    flight(comm) || comm->mem.zombies)
		inc_msg_reap(comm);
	do {
		from = comm->next_id;
		if (comm->err || !build(comm))
			return;
		ret = ibv_post_send(comm->qp, comm->wr, &bad);
		if (ret) {
			inc_comm_fail(comm, -ret, "ibv_post_send: %s",
				      strerror(ret));
			return;
		}
	} while (take_early(comm, from) && comm->tx);
	inc_pace_filled(comm);
}

/* --- Results -------------------------------------------------------------- */

static void msg_done(struct inc_comm *comm, uint32_t id, unsigned int status)
{
	struct inc_msg *msg = &comm->ring[id & comm->ring_mask];
	struct inc_req *req = msg->req;

	if (status) {
		comm->info.errors++;
		if (!req->err) {
			req->err = inc_comm_note(comm, inc_status_errno(status),
						 "%s", inc_status_str(status));
		}
	} else {
		comm->info.rx_bytes += msg->len;
	}
	if (comm->uc)
		inc_uc_done(comm, id, status);
	else
		inc_pace_done(comm, req, id, !status);
	msg->req = NULL;
	req->msgs_done++;
	comm->info.results++;
	while (comm->head_id != comm->next_id &&
	       !comm->ring[comm->head_id & comm->ring_mask].req)
		comm->head_id++;
	finish_first(comm);
}

/* A result without error for a message that is not in flight. */
static void unexpected(struct inc_comm *comm, uint32_t imm)
{
	inc_comm_fail(comm, -EPROTO,
		      "result of message 0x%x, but 0x%x to 0x%x are in flight",
		      imm & INC_IMM_MSG_ID_MASK, inc_seg_imm(comm->head_id),
		      inc_seg_imm(comm->next_id - 1));
}

static void take_result(struct inc_comm *comm, uint32_t imm)
{
	unsigned int status = imm >> INC_IMM_STATUS_SHIFT;
	uint32_t dist = inc_seg_dist(imm, comm->head_id);
	uint32_t flight = comm->next_id - comm->head_id;
	uint32_t id = inc_seg_id(imm, comm->head_id);
	struct inc_msg *msg;

	if (comm->uc && inc_uc_heard(comm, id, &status))
		return;
	if (status >= INC_STATUS_PEER_DEAD) {
		inc_comm_fail(comm, inc_status_errno(status), "%s",
			      inc_status_str(status));
		return;
	}
	if (dist < flight) {
		msg = &comm->ring[id & comm->ring_mask];
		if (!msg->req) {
			/* Over UC a result may come twice. */
			if (!status && !comm->uc)
				unexpected(comm, imm);
			return;
		}
		if (!status && !msg->req->err && !msg->req->rmem && msg->len)
			memcpy(msg->to, entry_recv(comm, id), msg->len);
		msg_done(comm, id, status);
		return;
	}
	if (!status) {
		if (!comm->uc)
			unexpected(comm, imm);
	} else if (dist < flight + comm->tree.slots) {
		/* Another rank's error, for a message that is still to be sent. */
		comm->early[id & (comm->tree.slots - 1)] = (uint8_t)status;
	}
	/* Else an error repeated for a message that is done. */
}

static void poll_results(struct inc_comm *comm)
{
	struct ibv_wc wc[INC_WC_BATCH];
	int i, n;

	do {
		n = ibv_poll_cq(comm->rcq, INC_WC_BATCH, wc);
		if (n > 0 && comm->uc)
			inc_uc_came(comm);
		for (i = 0; i < n; i++) {
			if (wc[i].status != IBV_WC_SUCCESS) {
				wc_failed(comm, &wc[i], "receiving");
				return;
			}
			if (!(wc[i].wc_flags & IBV_WC_WITH_IMM)) {
				inc_comm_fail(comm, -EPROTO,
					      "something without Immediate came");
				return;
			}
			comm->rq_posted--;
			take_result(comm, ntohl(wc[i].imm_data));
			if (comm->err)
				return;
		}
		if (n > 0)
			inc_watch_count(&comm->watch.progress);
	} while (n == INC_WC_BATCH);
}

/**
 * inc_msg_progress() - take results that are there, send what that allows
 * @comm: communicator
 *
 * Does not sleep. Makes no system call if there is nothing to send.
 */
void inc_msg_progress(struct inc_comm *comm)
{
	int ret;

	if (comm->err)
		return;
	poll_results(comm);
	if (comm->err)
		return;
	if (comm->rq_posted <= comm->rq_depth / 2 || comm->rq_posted < comm->window) {
		ret = inc_msg_post_recvs(comm);
		if (ret) {
			inc_comm_fail(comm, ret, "ibv_post_recv: %s",
				      strerror(-ret));
			return;
		}
	}
	push(comm);
	if (comm->uc && !comm->err)
		inc_uc_progress(comm);
	if (!comm->err)
		watch_failed(comm);
}

/**
 * inc_msg_issue() - put an operation behind those under way and send
 * @comm: communicator that has not failed
 * @req: operation
 */
void inc_msg_issue(struct inc_comm *comm, struct inc_req *req)
{
	req->next = NULL;
	req->err = 0;
	req->done = false;
	req->step_no = 0;
	req->posted = 0;
	req->msgs = inc_plan_msgs(&req->plan);
	req->msgs_posted = 0;
	req->msgs_done = 0;
	inc_plan_step(&req->plan, 0, &req->step);
	inc_pace_issue(comm, req);
	comm->info.begun++;
	comm->info.collective = req->plan.collective;
	comm->info.block = req->plan.block;
	inc_dbg(&comm->who, "%s begins: blocks of %zu bytes, %llu messages",
		inc_collective_name(req->plan.collective), req->plan.block,
		(unsigned long long)req->msgs);
	if (comm->last)
		comm->last->next = req;
	else
		comm->first = req;
	comm->last = req;
	if (!comm->tx)
		comm->tx = req;
	push(comm);
}
