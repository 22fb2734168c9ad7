// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A call of the user becomes an operation. Arguments are checked here and
 * nowhere else.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "comm.h"

static bool reduces(enum inc_collective coll)
{
	return coll == INC_COLL_REDUCE || coll == INC_COLL_ALLREDUCE ||
	       coll == INC_COLL_REDUCE_SCATTER;
}

static int check_offered(struct inc_comm *comm, const struct inc_call *c)
{
	/* What blocks that do not fit into a message are carried out with. */
	uint32_t need = 1U << c->coll | 1U << (c->coll == INC_COLL_REDUCE_SCATTER ?
					       INC_COLL_REDUCE : c->coll);

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
	if (!reduces(c->coll))
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

/* Where this rank's data and result are; NULL where it has none. */
static void find_buffers(const struct inc_plan *p, const struct inc_call *c,
			 struct inc_req *req)
{
	bool in = p->block && inc_plan_blocks_in(p);
	bool out = p->block && inc_plan_blocks_out(p);
	size_t own = 0;

	/* In place a rank's block is where it belongs in the result. */
	if (c->coll == INC_COLL_ALLGATHER || c->coll == INC_COLL_GATHER)
		own = p->rank * p->block;
	req->recv = out && c->recv != INC_IN_PLACE ? c->recv : NULL;
	req->send = !in ? NULL : c->send != INC_IN_PLACE ? c->send :
		    req->recv ? req->recv + own : NULL;
}

static int check_buffers(struct inc_comm *comm, const struct inc_plan *p,
			 const struct inc_call *c, const struct inc_req *req)
{
	const char *send = req->send, *recv = req->recv;
	size_t in, out;

	if (__builtin_mul_overflow(p->block, inc_plan_blocks_in(p), &in) ||
	    __builtin_mul_overflow(p->block, inc_plan_blocks_out(p), &out))
		return inc_comm_note(comm, -EOVERFLOW, "%zu elements are too many",
				     c->count);
	if ((in && !send) || (out && !recv && c->recv != INC_IN_PLACE))
		return inc_comm_note(comm, -EFAULT, "a buffer is NULL");
	if (!in || !recv || c->send == INC_IN_PLACE)
		return 0;
	if (send == recv && in == out && reduces(c->coll))
		return 0;
	if (send < recv + out && recv < send + in)
		return inc_comm_note(comm, -EINVAL, "buffers overlap in part");
	return 0;
}

/* What this holds of a failed call inc_req_put() gives back. */
static int get_memory(struct inc_comm *comm, struct inc_req *req, size_t in,
		      size_t out)
{
	int ret = 0;

	/* See uc.c. */
	if (comm->uc)
		return 0;
	if (req->recv && out > INC_EAGER_MAX)
		ret = inc_mem_get(&comm->mem, req->recv, out, true, &req->rmem);
	/* In place this finds what the line above has made. */
	if (!ret && req->send && in > INC_EAGER_MAX)
		ret = inc_mem_get(&comm->mem, req->send, in, false, &req->smem);
	return ret;
}

/* A rank's block for itself does not travel, but in a message for all. */
static void copy_own(const struct inc_req *req)
{
	const struct inc_plan *p = &req->plan;
	const char *from = req->send;
	char *to = req->recv;

	if (p->whole || !from || !to || p->collective == INC_COLL_REDUCE_SCATTER)
		return;
	if (p->collective == INC_COLL_SCATTER || p->collective == INC_COLL_ALLTOALL)
		from += p->rank * p->block;
	if (p->collective != INC_COLL_SCATTER)
		to += p->rank * p->block;
	if (from != to)
		memcpy(to, from, p->block);
}

static int prepare(struct inc_comm *comm, const struct inc_call *c,
		   struct inc_req *req)
{
	struct inc_plan *p = &req->plan;
	size_t in, out;
	int ret;

	if (__builtin_mul_overflow(c->count, req->esize, &p->block))
		return inc_comm_note(comm, -EOVERFLOW, "%zu elements are too many",
				     c->count);
	inc_plan_init(p, comm->tree.msg_size, comm->tree.pmtu, req->esize);
	find_buffers(p, c, req);
	ret = check_buffers(comm, p, c, req);
	if (ret)
		return ret;
	in = p->block * inc_plan_blocks_in(p);
	out = p->block * inc_plan_blocks_out(p);
	/* Blocks come in before those that they replace have gone out. */
	if (c->coll == INC_COLL_ALLTOALL && c->send == INC_IN_PLACE && in) {
		req->temp = malloc(in);
		if (!req->temp)
			return -ENOMEM;
		req->send = req->temp;
	}
	ret = get_memory(comm, req, in, out);
	return ret ? inc_comm_note(comm, ret, "registering %zu bytes: %s",
				   in > out ? in : out, strerror(-ret)) : 0;
}

/* An operation that is ready to begin. */
static int make(struct inc_comm *comm, const struct inc_call *c,
		struct inc_req **res)
{
	struct inc_req *req;
	int ret;

	ret = check_offered(comm, c);
	if (ret)
		return ret;
	req = inc_req_get(comm);
	if (!req)
		return -ENOMEM;
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
	};
	ret = prepare(comm, c, req);
	if (ret)
		inc_req_put(req);
	else
		*res = req;
	return ret;
}

static void begin(struct inc_req *req)
{
	if (req->temp)
		memcpy(req->temp, req->recv,
		       req->plan.block * inc_plan_blocks_in(&req->plan));
	copy_own(req);
	inc_msg_issue(req->comm, req);
}

/**
 * inc_call_start() - begin an operation
 * @comm: communicator
 * @c: what the caller wants
 * @res: takes the operation
 *
 * Return: as inc_iallreduce().
 */
int inc_call_start(struct inc_comm *comm, const struct inc_call *c,
		   struct inc_req **res)
{
	int ret = make(comm, c, res);

	if (!ret)
		begin(*res);
	return ret;
}

/**
 * inc_call_init() - make an operation that can be begun again and again
 * @comm: communicator
 * @c: what the caller wants
 * @res: takes the operation, which is done
 *
 * Return: as inc_allreduce_init().
 */
int inc_call_init(struct inc_comm *comm, const struct inc_call *c,
		  struct inc_req **res)
{
	int ret = make(comm, c, res);

	if (!ret) {
		(*res)->persistent = true;
		(*res)->done = true;
	}
	return ret;
}

/**
 * inc_call_again() - begin an operation of inc_call_init()
 * @req: operation
 *
 * Return: as inc_start().
 */
int inc_call_again(struct inc_req *req)
{
	if (!req->persistent)
		return -EINVAL;
	if (!req->done)
		return -EBUSY;
	if (req->comm->err)
		return req->comm->err;
	begin(req);
	return 0;
}

/**
 * inc_call_run() - carry an operation out
 * @comm: communicator
 * @c: what the caller wants
 *
 * Return: as inc_iallreduce() and inc_wait().
 */
int inc_call_run(struct inc_comm *comm, const struct inc_call *c)
{
	struct inc_req *req;
	int ret;

	ret = inc_call_start(comm, c, &req);
	if (ret)
		return ret;
	ret = inc_wait(req);
	inc_req_put(req);
	return ret;
}
