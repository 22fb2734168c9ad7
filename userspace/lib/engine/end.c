// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The end of requests, and of a communicator or its queue pair. Nothing here
 * sends, or decides whether something has failed.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "end.h"
#include "base/log.h"

/*
 * Allocate an empty request. Returns the request, NULL if there is no memory.
 */
struct inc_request *inc_request_get(struct inc_comm *comm)
{
	struct inc_request *req = comm->ops.free, *all;

	if (req) {
		comm->ops.free = req->next;
		all = req->all;
	} else {
		req = malloc(sizeof(*req));
		if (!req)
			return NULL;
		all = comm->ops.all;
		comm->ops.all = req;
	}
	memset(req, 0, sizeof(*req));
	req->all = all;
	req->comm = comm;
	return req;
}

/* Release the memory that a request holds. */
static void release_memory(struct inc_request *req)
{
	struct inc_comm *comm = req->comm;

	if (req->smem)
		inc_mem_put(&comm->mem, req->smem, req->last_seq);
	if (req->rmem)
		inc_mem_put(&comm->mem, req->rmem, 0);
	req->smem = NULL;
	req->rmem = NULL;
	if (req->temp && comm->rebuild.on)
		inc_mem_forget(&comm->mem, req->temp, req->in + 1);
	free(req->temp);
	req->temp = NULL;
}

/* Free a request. */
void inc_request_put(struct inc_request *req)
{
	release_memory(req);
	req->next = req->comm->ops.free;
	req->comm->ops.free = req;
}

static void free_kept(struct inc_comm *comm)
{
	struct inc_request *req = comm->ops.kept;

	comm->ops.kept = req->next;
	comm->ops.nkept--;
	inc_request_put(req);
}

/*
 * A result shows that all ranks have sent the message, and thus have the results of
 * the slot's earlier messages; those of two turns before, if the result came before
 * all ranks have sent it.
 */
static void free_settled(struct inc_comm *comm, uint32_t id)
{
	while (comm->ops.kept &&
	       id - comm->ops.kept->last_id > 2 * comm->tree.slots)
		free_kept(comm);
}

/*
 * Short operations end without a last Barrier, which would double their time: their
 * data is kept instead. Without memory, the communicator cannot go on over another
 * tree for now.
 */
static void keep_request(struct inc_request *req)
{
	struct inc_comm *comm = req->comm;
	struct inc_request *kept = inc_request_get(comm), *all;

	if (!kept) {
		inc_request_drop_kept(comm);
		return;
	}
	all = kept->all;
	*kept = *req;
	kept->all = all;
	kept->next = NULL;
	kept->persistent = false;
	kept->orphan = true;
	kept->part = NULL;
	kept->smem = NULL;
	kept->rmem = NULL;
	kept->send = kept->source ? kept->temp : NULL;
	if (kept->recv)
		kept->recv = (char *)kept->temp + req->in;
	req->temp = NULL;
	/* After a move to another device, the copy was sent. */
	if (req->send != req->source) {
		release_memory(req);
		req->send = req->source;
		req->pd = NULL;
	}
	if (comm->ops.kept)
		comm->ops.kept_last->next = kept;
	else
		comm->ops.kept = kept;
	comm->ops.kept_last = kept;
	comm->ops.nkept++;
	free_settled(comm, req->last_id);
}

/* Forget operations that no rank will have to repeat. */
void inc_request_drop_kept(struct inc_comm *comm)
{
	while (comm->ops.kept)
		free_kept(comm);
}

/*
 * Put kept operations back in progress. Returns false if one is not kept.
 * @comm: communicator that goes on over another tree
 * @done: number of operations of which all ranks have the results; later ones
 *	are to be repeated
 */
bool inc_request_again(struct inc_comm *comm, uint32_t done)
{
	uint32_t n = comm->rebuild.finished - done;

	/* This rank has ended fewer operations than @done. */
	if (n > INT32_MAX)
		n = 0;
	if (n > comm->ops.nkept)
		return false;
	while (comm->ops.nkept > n)
		free_kept(comm);
	if (!n)
		return true;
	comm->ops.kept_last->next = comm->ops.first;
	comm->ops.first = comm->ops.kept;
	if (!comm->ops.last)
		comm->ops.last = comm->ops.kept_last;
	comm->ops.kept = NULL;
	comm->ops.nkept = 0;
	comm->rebuild.finished -= n;
	comm->info.operations -= n;
	return true;
}

static void finish_request(struct inc_request *req)
{
	if (req->keeps && !req->comm->err)
		keep_request(req);
	else if (inc_request_confirms(req))
		inc_request_drop_kept(req->comm);
	if (req->since_us && !req->err)
		req->comm->rails.took_us = inc_now_us() - req->since_us;
	if (!req->persistent)
		release_memory(req);
	req->done = true;
	req->comm->info.operations++;
	inc_dbg(&req->comm->who, "%s ends: %s",
		inc_collective_name(req->plan.collective),
		req->err ? inc_strerror(req->err) : "success");
	if (req->orphan)
		inc_request_put(req);
}

/*
 * End the operations that are complete, from the head of the list: they
 * complete in order of issue.
 */
void inc_request_finish(struct inc_comm *comm)
{
	struct inc_request *req;

	while ((req = comm->ops.first) && req->msgs_done == req->msgs) {
		comm->ops.first = req->next;
		if (!comm->ops.first)
			comm->ops.last = NULL;
		comm->rebuild.finished++;
		finish_request(req);
	}
}

/*
 * End all operations in progress.
 * @err: negative errno value that they end with
 */
void inc_request_fail_all(struct inc_comm *comm, int err)
{
	struct inc_request *req;

	while ((req = comm->ops.first)) {
		comm->ops.first = req->next;
		if (!req->err)
			req->err = err;
		finish_request(req);
	}
	comm->ops.last = NULL;
	comm->ops.tx = NULL;
	comm->msgs.head = comm->msgs.next;
}

/*
 * Destroy the queue pair. When this returns, nothing more is written to the
 * user's memory. If it takes longer, @comm->dying goes on, and still needs the
 * resources of the queue pair.
 * @ms: maximum time to wait, milliseconds; -1: forever
 */
void inc_comm_end_qp(struct inc_comm *comm, int ms)
{
	pthread_mutex_lock(&comm->watchdog.lock);
	comm->watchdog.qp = NULL;
	pthread_mutex_unlock(&comm->watchdog.lock);
	if (!comm->qp || inc_qp_destroy(comm->qp, ms, &comm->dying))
		return;
	comm->qp = NULL;
	if (comm->dying)
		inc_info(&comm->who, "the device still holds packets of the queue pair");
}

/* Deregister memory, if the queue pair is destroyed. */
void inc_comm_reap_mem(struct inc_comm *comm)
{
	if (!comm->qp && inc_dying_over(&comm->dying))
		inc_mem_reap(&comm->mem, UINT64_MAX);
}

/* Record an error that fails only one operation. Returns @err. */
int inc_comm_note(struct inc_comm *comm, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(comm->error.text, sizeof(comm->error.text), fmt, ap);
	va_end(ap);
	comm->error.ask = false;
	inc_err(&comm->who, "%s", comm->error.text);
	return err;
}

/*
 * Move a communicator to the failed state. When this returns, nothing more is
 * written to the user's memory. The daemon notices that the connection is
 * closed and tells the other ranks. The switch itself would not notice the loss
 * of a UC member.
 */
void inc_comm_fail(struct inc_comm *comm, int err, const char *fmt, ...)
{
	va_list ap;

	if (comm->err)
		return;
	/* -EAGAIN would mean that a request is not done. */
	comm->err = err == -EAGAIN ? -ENOMEM : err;
	va_start(ap, fmt);
	vsnprintf(comm->error.text, sizeof(comm->error.text), fmt, ap);
	va_end(ap);
	inc_err(&comm->who, "%s", comm->error.text);

	inc_comm_end_qp(comm, INC_QP_DESTROY_MS);
	inc_watchdog_hang_up(&comm->watchdog, comm->error.text);
	inc_request_fail_all(comm, comm->err);
	inc_comm_reap_mem(comm);
	if (comm->change.state || (comm->rails.peer && comm->rebuild.state))
		comm->change.step(comm, false);
	if (comm->rails.other)
		inc_comm_fail(comm->rails.other, comm->err, "%s",
			      comm->error.text);
}

static void drain_cq(struct ibv_cq *cq)
{
	struct ibv_wc wc[INC_WC_BATCH];

	while (ibv_poll_cq(cq, INC_WC_BATCH, wc) > 0)
		;
}

static void drop_msgs(struct inc_comm *comm)
{
	comm->bounce.busy = false;
	memset(comm->msgs.ring, 0,
	       (comm->msgs.mask + 1) * sizeof(*comm->msgs.ring));
	memset(comm->msgs.early, 0, comm->tree.slots);
	comm->msgs.head = comm->msgs.next;
}

/*
 * Destroy the queue pair of a tree that has failed.
 * @comm: communicator that goes on over another one; nothing is in flight then
 */
void inc_comm_drop_qp(struct inc_comm *comm)
{
	if (!comm->qp)
		return;
	/* The next queue pair uses the same completion queues. */
	inc_comm_end_qp(comm, comm->rails.peer ? INC_QP_DESTROY_MS :
						 INC_FOREVER);
	if (comm->qp)
		return;
	drain_cq(comm->rq.cq);
	drain_cq(comm->sq.cq);
	comm->rq.posted = 0;
	comm->rq.armed = false;
	comm->sq.armed = false;
	comm->sq.done = comm->sq.posted;
	comm->sq.signaled = comm->sq.posted;
	comm->sq.full = false;
	if (comm->msgs.ring)
		drop_msgs(comm);
	inc_comm_reap_mem(comm);
}
