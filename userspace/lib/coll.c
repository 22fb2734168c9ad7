// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What the user calls: collectives, requests, memory. Arguments are checked
 * here and nowhere else.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "comm.h"
#include "log.h"
#include "seg.h"

/* --- Collectives ----------------------------------------------------------- */

static int check_offered(struct inc_comm *comm, enum inc_collective coll,
			 enum inc_dtype dtype, enum inc_op op)
{
	if (comm->err)
		return comm->err;
	if (!(comm->tree.collectives >> coll & 1))
		return inc_comm_note(comm, -EOPNOTSUPP,
				     "the tree does not offer this collective");
	if (coll == INC_COLL_BARRIER)
		return 0;
	if ((unsigned int)dtype >= INC_DTYPE_COUNT)
		return inc_comm_note(comm, -EINVAL, "there is no data type %d",
				     dtype);
	if ((unsigned int)op >= INC_OP_COUNT)
		return inc_comm_note(comm, -EINVAL, "there is no operation %d",
				     op);
	if (!(comm->tree.dtypes >> dtype & 1))
		return inc_comm_note(comm, -EOPNOTSUPP,
				     "the tree does not offer data type %s",
				     inc_dtype_name(dtype));
	if (!(comm->tree.ops >> op & 1))
		return inc_comm_note(comm, -EOPNOTSUPP,
				     "the tree does not offer operation %s",
				     inc_op_name(op));
	return 0;
}

static int check_buffers(struct inc_comm *comm, const char *send,
			 const char *recv, size_t count, size_t esize)
{
	size_t bytes;

	if (!count)
		return 0;
	if (__builtin_mul_overflow(count, esize, &bytes))
		return inc_comm_note(comm, -EOVERFLOW, "%zu elements are too many",
				     count);
	if (!send || !recv)
		return inc_comm_note(comm, -EFAULT, "a buffer is NULL");
	if (send != recv && send < recv + bytes && recv < send + bytes)
		return inc_comm_note(comm, -EINVAL, "buffers overlap in part");
	return 0;
}

static struct inc_req *new_req(struct inc_comm *comm, enum inc_collective coll,
			       enum inc_dtype dtype, enum inc_op op)
{
	struct inc_req *req = inc_req_get(comm);

	if (!req)
		return NULL;
	req->hdr.version = INC_VERSION;
	req->hdr.collective = (uint8_t)coll;
	req->hdr.dtype = (uint8_t)dtype;
	req->hdr.op = (uint8_t)op;
	req->hdr.tree_id = htonl(comm->tree.tree_id);
	return req;
}

static int get_memory(struct inc_comm *comm, struct inc_req *req)
{
	int ret;

	if (req->bytes <= INC_EAGER_MAX)
		return 0;
	ret = inc_mem_get(&comm->mem, req->recv, req->bytes, true, &req->rmem);
	if (ret)
		return ret;
	/* In place this finds what the line above has made. */
	ret = inc_mem_get(&comm->mem, req->send, req->bytes, false, &req->smem);
	if (ret) {
		inc_mem_put(&comm->mem, req->rmem, 0);
		req->rmem = NULL;
	}
	return ret;
}

static int start_allreduce(struct inc_comm *comm, const void *sendbuf,
			   void *recvbuf, size_t count, enum inc_dtype dtype,
			   enum inc_op op, struct inc_req **res)
{
	const char *send = sendbuf == INC_IN_PLACE ? recvbuf : sendbuf;
	size_t esize = inc_dtype_size(dtype);
	struct inc_req *req;
	int ret;

	ret = check_offered(comm, INC_COLL_ALLREDUCE, dtype, op);
	if (!ret)
		ret = check_buffers(comm, send, recvbuf, count, esize);
	if (ret)
		return ret;
	req = new_req(comm, INC_COLL_ALLREDUCE, dtype, op);
	if (!req)
		return -ENOMEM;
	req->send = send;
	req->recv = recvbuf;
	req->esize = esize;
	req->bytes = count * esize;
	req->chunk = inc_seg_chunk(comm->tree.msg_size, esize);
	req->msgs = inc_seg_msgs(req->bytes, req->chunk);
	ret = get_memory(comm, req);
	if (ret) {
		inc_req_put(req);
		return inc_comm_note(comm, ret, "registering %zu bytes: %s",
				     count * esize, strerror(-ret));
	}
	inc_msg_issue(comm, req);
	*res = req;
	return 0;
}

static int start_barrier(struct inc_comm *comm, struct inc_req **res)
{
	struct inc_req *req;
	int ret;

	ret = check_offered(comm, INC_COLL_BARRIER, 0, 0);
	if (ret)
		return ret;
	req = new_req(comm, INC_COLL_BARRIER, 0, 0);
	if (!req)
		return -ENOMEM;
	req->msgs = 1;
	inc_msg_issue(comm, req);
	*res = req;
	return 0;
}

/**
 * inc_iallreduce() - begin a reduction of all ranks' data to all
 * @comm: communicator
 * @sendbuf: @count elements; INC_IN_PLACE: those in @recvbuf
 * @recvbuf: room for @count elements of result. The same as @sendbuf, or apart
 *	from it
 * @count: number of elements, 0 to the limits of memory
 * @dtype: their type
 * @op: operation
 * @req: the operation, for inc_test() and inc_wait(). To be given back by
 *	inc_request_free()
 *
 * Both buffers belong to the library until the operation is done. Operations
 * end in the order in which they were begun. Progress is made in calls of
 * inc_test() and inc_wait(), for any request of the communicator, only.
 *
 * Return: 0; -EOPNOTSUPP if the tree does not offer that; -EINVAL for a type or
 * operation that does not exist, or buffers that overlap in part; -EFAULT,
 * -EOVERFLOW, -ENOMEM (also: RLIMIT_MEMLOCK); or what the communicator failed
 * with. Except for the last no rank has sent anything.
 */
int inc_iallreduce(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		   size_t count, enum inc_dtype dtype, enum inc_op op,
		   struct inc_req **req)
{
	return start_allreduce(comm, sendbuf, recvbuf, count, dtype, op, req);
}

/**
 * inc_ibarrier() - begin to wait for all ranks
 * @comm: communicator
 * @req: the operation, as in inc_iallreduce()
 *
 * Return: 0, -EOPNOTSUPP, -ENOMEM, or what the communicator failed with.
 */
int inc_ibarrier(struct inc_comm *comm, struct inc_req **req)
{
	return start_barrier(comm, req);
}

static int finish_blocking(struct inc_comm *comm, struct inc_req *req)
{
	int ret;

	if (!req->done)
		inc_msg_wait(comm, req);
	ret = req->err;
	inc_req_put(req);
	return ret;
}

/**
 * inc_allreduce() - reduce all ranks' data, to all
 * @comm: communicator
 * @sendbuf: as in inc_iallreduce()
 * @recvbuf: as in inc_iallreduce()
 * @count: as in inc_iallreduce()
 * @dtype: as in inc_iallreduce()
 * @op: as in inc_iallreduce()
 *
 * Return: as inc_iallreduce() and inc_wait().
 */
int inc_allreduce(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		  size_t count, enum inc_dtype dtype, enum inc_op op)
{
	struct inc_req *req;
	int ret;

	ret = start_allreduce(comm, sendbuf, recvbuf, count, dtype, op, &req);
	return ret ? ret : finish_blocking(comm, req);
}

/**
 * inc_barrier() - wait until all ranks have come here
 * @comm: communicator
 *
 * Return: as inc_ibarrier() and inc_wait().
 */
int inc_barrier(struct inc_comm *comm)
{
	struct inc_req *req;
	int ret;

	ret = start_barrier(comm, &req);
	return ret ? ret : finish_blocking(comm, req);
}

/* --- Requests ---------------------------------------------------------------- */

/**
 * inc_test() - see whether an operation is done
 * @req: operation
 * @done: 1 if it is, else 0
 *
 * Makes progress, does not sleep. If one calls again and again for the
 * communicator's time limit without any result coming, the communicator fails
 * with -ETIMEDOUT.
 *
 * Return: 0, or what the operation ended with (see inc_wait()).
 */
int inc_test(struct inc_req *req, int *done)
{
	if (!req->done) {
		inc_msg_progress(req->comm);
		if (!req->done)
			inc_watch_count(&req->comm->watch.tests);
	}
	*done = req->done;
	return req->done ? req->err : 0;
}

/**
 * inc_wait() - wait until an operation is done
 * @req: operation
 *
 * Sleeps, does not spin. May be called again.
 *
 * Return: 0; or, for this operation alone, -EBADE if the ranks disagree about
 * it, -EOPNOTSUPP or -EMSGSIZE if the switch refused it; or, for all that is
 * under way and all that follows, -ETIMEDOUT, -ECONNRESET if a rank died or
 * left, -ESHUTDOWN if the tree was dismantled, -ENOTCONN if the daemon is gone,
 * -EHOSTUNREACH, -EPROTO or -EIO. inc_comm_strerror() says more.
 */
int inc_wait(struct inc_req *req)
{
	if (!req->done)
		inc_msg_wait(req->comm, req);
	return req->err;
}

/**
 * inc_request_free() - give an operation back
 * @req: operation, done or not; NULL does nothing
 *
 * One that is not done goes on and still needs its buffers.
 */
void inc_request_free(struct inc_req *req)
{
	if (!req)
		return;
	if (req->done)
		inc_req_put(req);
	else
		req->orphan = true;
}

/* --- Memory -------------------------------------------------------------------- */

/**
 * inc_mem_reg() - register memory once for many operations
 * @comm: communicator
 * @addr: first byte; memory that can be written to
 * @len: bytes
 *
 * Operations on buffers within the range need no registration of their own. The
 * memory must stay mapped until inc_mem_dereg().
 *
 * Return: 0, -EINVAL, -EFAULT, -ENOMEM (also: RLIMIT_MEMLOCK), or what the
 * communicator failed with.
 */
int inc_mem_reg(struct inc_comm *comm, void *addr, size_t len)
{
	int ret;

	if (!addr || !len)
		return -EINVAL;
	if (comm->err)
		return comm->err;
	ret = inc_mem_pin(&comm->mem, addr, len);
	return ret ? inc_comm_note(comm, ret, "registering %zu bytes: %s", len,
				   strerror(-ret)) : 0;
}

static void reap(struct inc_comm *comm)
{
	if (comm->err)
		inc_mem_reap(&comm->mem, UINT64_MAX);
	else
		inc_msg_reap(comm);
}

/**
 * inc_mem_dereg() - end a registration
 * @comm: communicator
 * @addr: as given to inc_mem_reg()
 * @len: as given to inc_mem_reg()
 *
 * Return: 0, -ENOENT if that was never registered, -EBUSY if an operation under
 * way uses it.
 */
int inc_mem_dereg(struct inc_comm *comm, void *addr, size_t len)
{
	int ret = inc_mem_unpin(&comm->mem, addr, len);

	reap(comm);
	return ret;
}

/**
 * inc_mem_invalidate() - forget what the library has registered in a range
 * @comm: communicator
 * @addr: first byte
 * @len: bytes
 *
 * To be called before memory goes back to the system, with INC_REG_CACHE, and
 * for what inc_mem_reg() has registered.
 *
 * Return: 0, -EBUSY if an operation under way uses some of it.
 */
int inc_mem_invalidate(struct inc_comm *comm, const void *addr, size_t len)
{
	int ret = inc_mem_forget(&comm->mem, addr, len);

	reap(comm);
	return ret;
}
