// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Turns user calls into operations. Arguments are checked only here.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "comm/comm.h"
#include "device/cause.h"
#include "engine/arena.h"
#include "engine/end.h"
#include "engine/msg.h"
#include "engine/sq.h"

/**
 * struct share - elements of each block that a request covers
 * @first: index of the first element
 * @count: their number
 */
struct share {
	size_t	first;
	size_t	count;
};

static bool is_reduction(enum inc_collective coll)
{
	return coll == INC_COLL_REDUCE || coll == INC_COLL_ALLREDUCE ||
	       coll == INC_COLL_REDUCE_SCATTER;
}

static int check_offered(struct inc_comm *comm, const struct inc_call *c)
{
	/* Includes the collectives used if blocks do not fit into a message. */
	uint32_t need = 1U << c->coll;

	if (c->coll == INC_COLL_REDUCE_SCATTER)
		need |= 1U << INC_COLL_REDUCE;
	if (c->coll == INC_COLL_ALLGATHER || c->coll == INC_COLL_GATHER ||
	    c->coll == INC_COLL_SCATTER || c->coll == INC_COLL_ALLTOALL)
		need |= 1U << INC_COLL_BROADCAST;
	if (comm->err)
		return comm->err;
	if (need & ~comm->tree.collectives)
		return inc_comm_note(comm, -EOPNOTSUPP,
				     "the tree does not offer this collective");
	if (c->root < 0 || c->root >= comm->nranks)
		return inc_comm_note(comm, -EINVAL, "there is no rank %d",
				     c->root);
	if (c->coll == INC_COLL_BARRIER)
		return 0;
	if ((unsigned int)c->dtype >= INC_DTYPE_COUNT)
		return inc_comm_note(comm, -EINVAL, "there is no data type %d",
				     c->dtype);
	if (!is_reduction(c->coll))
		return 0;
	if ((unsigned int)c->op >= INC_OP_COUNT)
		return inc_comm_note(comm, -EINVAL, "there is no operation %d",
				     c->op);
	if (!(comm->tree.dtypes >> c->dtype & 1))
		return inc_comm_note(comm, -EOPNOTSUPP,
				     "the tree does not offer data type %s",
				     inc_dtype_name(c->dtype));
	if (!(comm->tree.ops >> c->op & 1))
		return inc_comm_note(comm, -EOPNOTSUPP,
				     "the tree does not offer operation %s",
				     inc_op_name(c->op));
	return 0;
}

/* Check the largest size of any rank: all ranks must get the same result. */
static int check_size(struct inc_comm *comm, const struct inc_call *c,
		      size_t *block)
{
	size_t all;

	if (c->coll == INC_COLL_BARRIER)
		return 0;
	if (__builtin_mul_overflow(c->count, inc_dtype_size(c->dtype), block) ||
	    __builtin_mul_overflow(*block, c->coll == INC_COLL_BROADCAST ||
					   c->coll == INC_COLL_REDUCE ||
					   c->coll == INC_COLL_ALLREDUCE ?
					   1 : (size_t)comm->nranks, &all))
		return inc_comm_note(comm, -EOVERFLOW,
				     "%zu elements are too many", c->count);
	return 0;
}

/* Find this rank's data and result; NULL: none. */
static void find_buffers(const struct inc_plan *p, const struct inc_call *c,
			 struct inc_request *req)
{
	bool in = p->block && inc_plan_blocks_in(p);
	bool out = p->block && inc_plan_blocks_out(p);
	size_t own = 0;

	req->stride = p->block;
	/* In place, a rank's block is at its final place in the result. */
	if (c->coll == INC_COLL_ALLGATHER || c->coll == INC_COLL_GATHER)
		own = p->rank * p->block;
	req->recv = out && c->recv != INC_IN_PLACE ? c->recv : NULL;
	req->send = !in ? NULL : c->send != INC_IN_PLACE ? c->send :
		    req->recv ? req->recv + own : NULL;
}

static int check_buffers(struct inc_comm *comm, const struct inc_plan *p,
			 const struct inc_call *c,
			 const struct inc_request *req)
{
	const char *send = req->send, *recv = req->recv;
	size_t in = p->block * inc_plan_blocks_in(p);
	size_t out = p->block * inc_plan_blocks_out(p);

	/* The root of a Scatter may leave its block where it is. */
	if ((out && c->recv == INC_IN_PLACE &&
	     !(c->coll == INC_COLL_SCATTER && p->rank == p->root)) ||
	    (in && c->send == INC_IN_PLACE &&
	     (c->coll == INC_COLL_SCATTER || c->coll == INC_COLL_BROADCAST)))
		return inc_comm_note(comm, -EINVAL,
				     "INC_IN_PLACE does not go with this buffer");
	if ((in && !send) || (out && !recv && c->recv != INC_IN_PLACE))
		return inc_comm_note(comm, -EFAULT, "a buffer is NULL");
	if (!in || !recv || c->send == INC_IN_PLACE)
		return 0;
	if (send == recv && in == out && is_reduction(c->coll))
		return 0;
	if (send < recv + out && recv < send + in)
		return inc_comm_note(comm, -EINVAL, "buffers overlap in part");
	return 0;
}

/*
 * Get a registration. Memory without one (RLIMIT_MEMLOCK, a mapped file) is
 * copied, as the other ranks begin this operation in any case.
 */
static int get_range(struct inc_comm *comm, struct inc_request *req,
		     const char *addr, size_t len, bool writable,
		     struct inc_mem **mem)
{
	char text[INC_RDV_TEXT_MAX];
	int ret;

	if (!addr || len <= INC_EAGER_MAX)
		return 0;
	inc_msg_bounce(comm);
	ret = inc_mem_get(&comm->mem, addr, len, writable, mem);
	if (!ret)
		return 0;
	/* Unused cached registrations may hold the missing resources. */
	inc_mem_retire(&comm->mem);
	inc_sq_reap(comm);
	if (comm->err)
		return comm->err;
	if (!inc_mem_get(&comm->mem, addr, len, writable, mem))
		return 0;
	if (!inc_mem_is_there(addr, len, writable))
		return inc_comm_note(comm, ret, "registering %zu bytes: %s",
				     len, strerror(-ret));
	ret = inc_msg_bounce(comm);
	if (ret) {
		inc_cause(-ret, text, sizeof(text), "memory to copy messages");
		inc_comm_fail(comm, ret, "%s: %s", inc_cause_host(), text);
		return comm->err;
	}
	inc_info(&comm->who, "registering %zu bytes: %s: they are copied", len,
		 strerror(-ret));
	req->bounces = true;
	return 0;
}

/* Would results overwrite data that may have to be sent again? */
static bool would_overwrite(const struct inc_comm *comm,
			    const struct inc_request *req, size_t in,
			    size_t out)
{
	return comm->rebuild.on && in && out && req->send && req->recv &&
	       req->send < req->recv + out && req->recv < req->send + in;
}

/* Compute the bytes from a request's first block to the end of its last. */
static size_t span_of(const struct inc_request *req, unsigned int blocks)
{
	return blocks ? (blocks - 1) * req->stride + req->plan.block : 0;
}

/* Register buffers. On failure, inc_request_put() releases them. */
static inline int get_memory(struct inc_comm *comm, struct inc_request *req)
{
	int ret;

	/* Not while moving between devices: see inc_call_move(). */
	if (comm->rails.peer && comm->rebuild.state)
		return 0;
	req->pd = comm->pd;
	/* UC copies all data. */
	if (comm->uc)
		return 0;
	ret = get_range(comm, req, req->recv, req->out, true, &req->rmem);
	/* In place, this finds the registration made above. */
	if (!ret)
		ret = get_range(comm, req, req->send, req->in, false,
				&req->smem);
	return ret;
}

static void put_memory(struct inc_request *req)
{
	if (req->smem)
		inc_mem_put(&req->comm->mem, req->smem, 0);
	if (req->rmem)
		inc_mem_put(&req->comm->mem, req->rmem, 0);
	req->smem = NULL;
	req->rmem = NULL;
	req->pd = NULL;
	req->bounces = false;
	req->last_seq = 0;
}

static void make_plan(struct inc_comm *comm, struct inc_request *req)
{
	req->uc = comm->uc;
	inc_plan_init(&req->plan, comm->tree.msg_size, comm->tree.pmtu,
		      req->esize);
}

/* A rank's block for itself is sent only in messages for all ranks. */
static void copy_own(const struct inc_request *req)
{
	const struct inc_plan *p = &req->plan;
	const char *from = req->send;
	char *to = req->recv;

	if (p->whole || !from || !to ||
	    p->collective == INC_COLL_REDUCE_SCATTER)
		return;
	if (p->collective == INC_COLL_SCATTER ||
	    p->collective == INC_COLL_ALLTOALL)
		from += p->rank * req->stride;
	if (p->collective != INC_COLL_SCATTER)
		to += p->rank * req->stride;
	if (from != to)
		memcpy(to, from, p->block);
}

/* Restrict a request to one rail's part of each block. */
static void take_share(struct inc_request *req, const struct share *share)
{
	req->plan.block = share->count * req->esize;
	req->plan.apart = true;
	if (req->send)
		req->send += share->first * req->esize;
	if (req->recv)
		req->recv += share->first * req->esize;
}

static int prepare_request(struct inc_comm *comm, const struct inc_call *c,
			   const struct share *share, struct inc_request *req)
{
	struct inc_plan *p = &req->plan;
	int ret;

	find_buffers(p, c, req);
	ret = check_buffers(comm, p, c, req);
	if (ret)
		return ret;
	if (share)
		take_share(req, share);
	req->in = span_of(req, inc_plan_blocks_in(p));
	req->out = span_of(req, inc_plan_blocks_out(p));
	req->keeps = comm->rails.peer && inc_plan_is_short(p);
	make_plan(comm, req);
	if (req->keeps) {
		req->source = req->send;
	/* Blocks arrive before the blocks that they replace have been sent. */
	} else if ((c->coll == INC_COLL_ALLTOALL && c->send == INC_IN_PLACE && req->in) ||
		   would_overwrite(comm, req, req->in, req->out)) {
		req->temp = malloc(req->in);
		if (!req->temp)
			return inc_comm_note(comm, -ENOMEM, "no memory for a copy of %zu bytes",
					     req->in);
		req->source = req->send;
		req->send = req->temp;
	}
	return get_memory(comm, req);
}

/*
 * Fail the communicator, as the other ranks begin an operation that this one
 * cannot begin: they would wait, or match it with this rank's next one.
 */
static void give_up(struct inc_comm *comm, int err)
{
	char text[sizeof(comm->error.text)];

	memcpy(text, comm->error.text, sizeof(text));
	inc_comm_fail(comm, err, "%s: so the communicator ends, on all ranks",
		      text);
}

/* Make one rail's part of an operation, ready to begin. */
static int make_request(struct inc_comm *comm, const struct inc_call *c,
			const struct share *share, struct inc_request **res)
{
	struct inc_request *req;
	size_t block = 0;
	int ret;

	ret = check_offered(comm, c);
	if (ret)
		return ret;
	ret = check_size(comm, c, &block);
	if (ret)
		return ret;
	req = inc_request_get(comm);
	if (!req) {
		ret = inc_comm_note(comm, -ENOMEM,
				    "no memory for an operation");
		give_up(comm, ret);
		return ret;
	}
	req->uc = comm->uc;
	req->hdr.version = INC_VERSION;
	req->hdr.dtype = (uint8_t)c->dtype;
	req->hdr.op = (uint8_t)c->op;
	req->hdr.tree_id = htonl(comm->tree.tree_id);
	req->esize = c->coll == INC_COLL_BARRIER ? 0 : inc_dtype_size(c->dtype);
	req->plan = (struct inc_plan) {
		.collective	= (uint8_t)c->coll,
		.rank		= (unsigned int)comm->rank,
		.nranks		= (unsigned int)comm->nranks,
		.root		= (unsigned int)c->root,
		.block		= block,
	};
	ret = prepare_request(comm, c, share, req);
	if (ret) {
		inc_request_put(req);
		give_up(comm, ret);
		return ret;
	}
	*res = req;
	return 0;
}

/* Make an operation, ready to begin, over two rails if it is long enough. */
static int make_call(struct inc_comm *comm, const struct inc_call *c,
		     struct inc_request **res)
{
	struct share first = { 0 }, rest;
	struct inc_comm *second = comm->rails.other;
	int ret;

	if (!second || c->coll == INC_COLL_BARRIER)
		return make_request(comm, c, NULL, res);
	first.count = inc_plan_share(c->count, inc_dtype_size(c->dtype));
	if (first.count == c->count)
		return make_request(comm, c, NULL, res);
	rest.first = first.count;
	rest.count = c->count - first.count;
	ret = make_request(comm, c, &first, res);
	if (ret)
		return ret;
	ret = make_request(second, c, &rest, &(*res)->part);
	if (ret) {
		inc_request_put(*res);
		inc_comm_fail(comm, ret, "%s", second->error.text);
	}
	return ret;
}

/* Plan again: the tree needs other messages than when the request was made. */
static int plan_anew(struct inc_request *req)
{
	put_memory(req);
	make_plan(req->comm, req);
	return get_memory(req->comm, req);
}

/*
 * Plan an operation anew, for UC instead of RC. One message may become several,
 * which do not carry the rank's own block.
 */
void inc_call_renew(struct inc_request *req)
{
	if (req->uc)
		return;
	plan_anew(req);
	copy_own(req);
}

/*
 * Move operations to another device and its tree, with the ranges that the user
 * has registered.
 * @comm: communicator on the new device, whose operations have sent nothing
 * @from: communicator with the resources of the previous device
 */
void inc_call_move(struct inc_comm *comm, struct inc_comm *from)
{
	struct inc_mem_cache mem;
	struct inc_request *req;
	int ret = 0;

	for (req = comm->ops.all; req; req = req->all)
		put_memory(req);
	mem = comm->mem;
	comm->mem = from->mem;
	from->mem = mem;
	comm->mem.who = &comm->who;
	from->mem.who = &from->who;
	/* Deregister first: RLIMIT_MEMLOCK may not allow both. */
	inc_mem_retire(&from->mem);
	inc_comm_reap_mem(from);
	inc_mem_repin(&comm->mem, &from->mem);
	for (req = comm->ops.first; req && !ret; req = req->next) {
		/* Results may have overwritten the source of the copy. */
		if (req->keeps && req->source)
			req->send = req->temp;
		ret = plan_anew(req);
		copy_own(req);
	}
	if (ret)
		inc_comm_fail(comm, ret, "registering memory over another device: %s",
			      strerror(-ret));
}

/* Copy data that must be kept; never into a copy that is still kept. */
static int copy_data(struct inc_request *req)
{
	if (req->keeps && !req->temp) {
		req->temp = malloc(req->in + req->out + 1);
		if (!req->temp)
			return inc_comm_note(req->comm, -ENOMEM,
					     "no memory for a copy of %zu bytes",
					     req->in);
	}
	if (req->temp && req->source)
		memcpy(req->temp, req->source, req->in);
	return 0;
}

/* Begin an operation; plan it anew if transport or device have changed. */
static int begin_request(struct inc_request *req)
{
	struct inc_comm *comm = req->comm;
	int ret = copy_data(req);

	if (!ret && (req->pd != comm->pd || req->uc != !!comm->uc))
		ret = plan_anew(req);
	if (ret) {
		give_up(comm, ret);
		return ret;
	}
	copy_own(req);
	inc_msg_issue(comm, req);
	return 0;
}

/* Measure the time of each rail, see progress.c. */
static void take_time(struct inc_request *req, struct inc_comm *second)
{
	uint64_t now = 0;

	if (!req->comm->ops.first && !second->ops.first)
		now = inc_now_us();
	req->since_us = now;
	req->part->since_us = now;
	req->comm->rails.took_us = 0;
	second->rails.took_us = 0;
}

/* Begin both rails' parts. */
static int begin_both(struct inc_request *req, struct inc_comm *second)
{
	int ret;

	if (req->part)
		take_time(req, second);
	ret = begin_request(req);
	if (!ret && req->part)
		ret = begin_request(req->part);
	req->after = second->info.begun;
	return ret;
}

static int begin_call(struct inc_request *req)
{
	struct inc_comm *second = req->comm->rails.other;

	return second ? begin_both(req, second) : begin_request(req);
}

/* Start an operation. Returns as inc_iallreduce(). */
int inc_call_start(struct inc_comm *comm, struct inc_call c,
		   struct inc_request **res)
{
	int ret;

	inc_comm_lock(comm);
	ret = make_call(comm, &c, res);
	if (!ret)
		begin_call(*res);
	inc_comm_unlock(comm);
	return ret;
}

/*
 * Make a persistent operation. Returns as inc_allreduce_init().
 * @res: set to the operation, which counts as done
 */
int inc_call_init(struct inc_comm *comm, struct inc_call c,
		  struct inc_request **res)
{
	struct inc_request *req;
	int ret;

	inc_comm_lock(comm);
	ret = make_call(comm, &c, res);
	for (req = ret ? NULL : *res; req; req = req->part) {
		req->persistent = true;
		req->done = true;
	}
	inc_comm_unlock(comm);
	return ret;
}

/*
 * Start an operation made by inc_call_init(). Returns as inc_request_start().
 */
int inc_call_again(struct inc_request *req)
{
	struct inc_comm *comm = req->comm;
	int ret = !req->persistent ? -EINVAL : 0;

	inc_comm_lock(comm);
	if (!ret)
		ret = inc_request_over(req) ? comm->err : -EBUSY;
	if (!ret)
		ret = begin_call(req);
	inc_comm_unlock(comm);
	return ret;
}

/* Deregister memory that no send request can read any more. */
void inc_call_reap(struct inc_comm *comm)
{
	if (comm->fork.child)
		return;
	if (comm->err)
		inc_comm_reap_mem(comm);
	else
		inc_sq_reap(comm);
	if (comm->rails.other)
		inc_call_reap(comm->rails.other);
}
