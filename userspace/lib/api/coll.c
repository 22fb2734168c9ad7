// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The public functions for collectives, requests and memory.
 */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "call.h"
#include "engine/comm.h"

/* --- Collectives ----------------------------------------------------------- */

/**
 * inc_iallreduce() - begin to reduce all ranks' data, to all
 * @comm: communicator
 * @sendbuf: @count elements; INC_IN_PLACE: in @recvbuf
 * @recvbuf: room for @count elements of result. The same as @sendbuf, or apart
 *	from it
 * @count: number of elements of a block, 0 to the limits of memory
 * @dtype: their type
 * @op: operation
 * @req: the operation, for inc_test() and inc_wait(). To be freed by
 *	inc_request_free()
 *
 * The buffers belong to the library until the operation is done. Operations
 * complete in the order in which they were begun. Only calls to inc_test() and
 * inc_wait(), for any request of the communicator, and blocking collectives
 * make progress.
 *
 * Return: 0; -EOPNOTSUPP if the tree does not offer it; -EINVAL for a rank,
 * type or operation that does not exist; -EOVERFLOW; or the error that the
 * communicator failed with. It fails, on all ranks, if this one can't begin an
 * operation that the others may have begun: -EINVAL for overlapping buffers,
 * -EFAULT, -ENOMEM.
 */
int inc_iallreduce(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		   size_t count, enum inc_dtype dtype, enum inc_op op,
		   struct inc_req **req)
{
	const struct inc_call c = {
		.coll = INC_COLL_ALLREDUCE,
		.send = sendbuf, .recv = recvbuf,
		.count = count, .dtype = dtype, .op = op,
	};

	return inc_call_start(comm, &c, req);
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
	const struct inc_call c = {
		.coll = INC_COLL_ALLREDUCE,
		.send = sendbuf, .recv = recvbuf,
		.count = count, .dtype = dtype, .op = op,
	};

	return inc_call_run(comm, &c);
}

/**
 * inc_ireduce() - begin to reduce all ranks' data, to one
 * @comm: communicator
 * @sendbuf: @count elements; INC_IN_PLACE, at the root: in @recvbuf
 * @recvbuf: at the root: room for @count elements of result. The same as
 *	@sendbuf, or apart from it. Elsewhere it may be NULL
 * @count: number of elements of a block, 0 to the limits of memory
 * @dtype: their type
 * @op: operation
 * @root: root rank
 * @req: the operation, for inc_test() and inc_wait(). To be freed by
 *	inc_request_free()
 *
 * Buffers and errors are as with inc_iallreduce().
 *
 * Return: as inc_iallreduce().
 */
int inc_ireduce(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		size_t count, enum inc_dtype dtype, enum inc_op op, int root,
		struct inc_req **req)
{
	const struct inc_call c = {
		.coll = INC_COLL_REDUCE,
		.send = sendbuf, .recv = recvbuf,
		.count = count, .dtype = dtype, .op = op, .root = root,
	};

	return inc_call_start(comm, &c, req);
}

/**
 * inc_reduce() - reduce all ranks' data, to one
 * @comm: communicator
 * @sendbuf: as in inc_ireduce()
 * @recvbuf: as in inc_ireduce()
 * @count: as in inc_ireduce()
 * @dtype: as in inc_ireduce()
 * @op: as in inc_ireduce()
 * @root: as in inc_ireduce()
 *
 * Return: as inc_ireduce() and inc_wait().
 */
int inc_reduce(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
	       size_t count, enum inc_dtype dtype, enum inc_op op, int root)
{
	const struct inc_call c = {
		.coll = INC_COLL_REDUCE,
		.send = sendbuf, .recv = recvbuf,
		.count = count, .dtype = dtype, .op = op, .root = root,
	};

	return inc_call_run(comm, &c);
}

/**
 * inc_ireduce_scatter() - begin to reduce all ranks' data, a block to each
 * @comm: communicator
 * @sendbuf: a block of @count elements for each rank; INC_IN_PLACE: in @recvbuf
 * @recvbuf: room for @count elements of result, apart from @sendbuf; in place:
 *	the blocks of all ranks, of which the first takes the result
 * @count: number of elements of a block, 0 to the limits of memory
 * @dtype: their type
 * @op: operation
 * @req: the operation, for inc_test() and inc_wait(). To be freed by
 *	inc_request_free()
 *
 * Buffers and errors are as with inc_iallreduce().
 *
 * Return: as inc_iallreduce().
 */
int inc_ireduce_scatter(struct inc_comm *comm, const void *sendbuf,
			void *recvbuf, size_t count, enum inc_dtype dtype,
			enum inc_op op, struct inc_req **req)
{
	const struct inc_call c = {
		.coll = INC_COLL_REDUCE_SCATTER,
		.send = sendbuf, .recv = recvbuf,
		.count = count, .dtype = dtype, .op = op,
	};

	return inc_call_start(comm, &c, req);
}

/**
 * inc_reduce_scatter() - reduce all ranks' data, a block to each
 * @comm: communicator
 * @sendbuf: as in inc_ireduce_scatter()
 * @recvbuf: as in inc_ireduce_scatter()
 * @count: as in inc_ireduce_scatter()
 * @dtype: as in inc_ireduce_scatter()
 * @op: as in inc_ireduce_scatter()
 *
 * Return: as inc_ireduce_scatter() and inc_wait().
 */
int inc_reduce_scatter(struct inc_comm *comm, const void *sendbuf,
		       void *recvbuf, size_t count, enum inc_dtype dtype,
		       enum inc_op op)
{
	const struct inc_call c = {
		.coll = INC_COLL_REDUCE_SCATTER,
		.send = sendbuf, .recv = recvbuf,
		.count = count, .dtype = dtype, .op = op,
	};

	return inc_call_run(comm, &c);
}

/**
 * inc_ibroadcast() - begin to give the root's data to all
 * @comm: communicator
 * @buf: @count elements; at the root the data, elsewhere room for it
 * @count: number of elements of a block, 0 to the limits of memory
 * @dtype: their type
 * @root: root rank
 * @req: the operation, for inc_test() and inc_wait(). To be freed by
 *	inc_request_free()
 *
 * Buffers and errors are as with inc_iallreduce().
 *
 * Return: as inc_iallreduce().
 */
int inc_ibroadcast(struct inc_comm *comm, void *buf, size_t count,
		   enum inc_dtype dtype, int root, struct inc_req **req)
{
	const struct inc_call c = {
		.coll = INC_COLL_BROADCAST,
		.send = buf, .recv = buf,
		.count = count, .dtype = dtype, .root = root,
	};

	return inc_call_start(comm, &c, req);
}

/**
 * inc_broadcast() - give the root's data to all
 * @comm: communicator
 * @buf: as in inc_ibroadcast()
 * @count: as in inc_ibroadcast()
 * @dtype: as in inc_ibroadcast()
 * @root: as in inc_ibroadcast()
 *
 * Return: as inc_ibroadcast() and inc_wait().
 */
int inc_broadcast(struct inc_comm *comm, void *buf, size_t count,
		  enum inc_dtype dtype, int root)
{
	const struct inc_call c = {
		.coll = INC_COLL_BROADCAST,
		.send = buf, .recv = buf,
		.count = count, .dtype = dtype, .root = root,
	};

	return inc_call_run(comm, &c);
}

/**
 * inc_iallgather() - begin to give every rank's data to all
 * @comm: communicator
 * @sendbuf: @count elements; INC_IN_PLACE: in @recvbuf
 * @recvbuf: room for a block of @count elements of each rank, apart from
 *	@sendbuf
 * @count: number of elements of a block, 0 to the limits of memory
 * @dtype: their type
 * @req: the operation, for inc_test() and inc_wait(). To be freed by
 *	inc_request_free()
 *
 * Buffers and errors are as with inc_iallreduce().
 *
 * Return: as inc_iallreduce().
 */
int inc_iallgather(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		   size_t count, enum inc_dtype dtype, struct inc_req **req)
{
	const struct inc_call c = {
		.coll = INC_COLL_ALLGATHER,
		.send = sendbuf, .recv = recvbuf,
		.count = count, .dtype = dtype,
	};

	return inc_call_start(comm, &c, req);
}

/**
 * inc_allgather() - give every rank's data to all
 * @comm: communicator
 * @sendbuf: as in inc_iallgather()
 * @recvbuf: as in inc_iallgather()
 * @count: as in inc_iallgather()
 * @dtype: as in inc_iallgather()
 *
 * Return: as inc_iallgather() and inc_wait().
 */
int inc_allgather(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		  size_t count, enum inc_dtype dtype)
{
	const struct inc_call c = {
		.coll = INC_COLL_ALLGATHER,
		.send = sendbuf, .recv = recvbuf,
		.count = count, .dtype = dtype,
	};

	return inc_call_run(comm, &c);
}

/**
 * inc_igather() - begin to give every rank's data to one
 * @comm: communicator
 * @sendbuf: @count elements; INC_IN_PLACE, at the root: in @recvbuf
 * @recvbuf: at the root: room for a block of @count elements of each rank,
 *	apart from @sendbuf. Elsewhere it may be NULL
 * @count: number of elements of a block, 0 to the limits of memory
 * @dtype: their type
 * @root: root rank
 * @req: the operation, for inc_test() and inc_wait(). To be freed by
 *	inc_request_free()
 *
 * Buffers and errors are as with inc_iallreduce().
 *
 * Return: as inc_iallreduce().
 */
int inc_igather(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		size_t count, enum inc_dtype dtype, int root,
		struct inc_req **req)
{
	const struct inc_call c = {
		.coll = INC_COLL_GATHER,
		.send = sendbuf, .recv = recvbuf,
		.count = count, .dtype = dtype, .root = root,
	};

	return inc_call_start(comm, &c, req);
}

/**
 * inc_gather() - give every rank's data to one
 * @comm: communicator
 * @sendbuf: as in inc_igather()
 * @recvbuf: as in inc_igather()
 * @count: as in inc_igather()
 * @dtype: as in inc_igather()
 * @root: as in inc_igather()
 *
 * Return: as inc_igather() and inc_wait().
 */
int inc_gather(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
	       size_t count, enum inc_dtype dtype, int root)
{
	const struct inc_call c = {
		.coll = INC_COLL_GATHER,
		.send = sendbuf, .recv = recvbuf,
		.count = count, .dtype = dtype, .root = root,
	};

	return inc_call_run(comm, &c);
}

/**
 * inc_iscatter() - begin to give each rank a block of the root's data
 * @comm: communicator
 * @sendbuf: at the root: a block of @count elements for each rank. Elsewhere it
 *	may be NULL
 * @recvbuf: room for @count elements, apart from @sendbuf; INC_IN_PLACE, at the
 *	root: leave its block where it is
 * @count: number of elements of a block, 0 to the limits of memory
 * @dtype: their type
 * @root: root rank
 * @req: the operation, for inc_test() and inc_wait(). To be freed by
 *	inc_request_free()
 *
 * Buffers and errors are as with inc_iallreduce().
 *
 * Return: as inc_iallreduce().
 */
int inc_iscatter(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		 size_t count, enum inc_dtype dtype, int root,
		 struct inc_req **req)
{
	const struct inc_call c = {
		.coll = INC_COLL_SCATTER,
		.send = sendbuf, .recv = recvbuf,
		.count = count, .dtype = dtype, .root = root,
	};

	return inc_call_start(comm, &c, req);
}

/**
 * inc_scatter() - give each rank a block of one rank's data
 * @comm: communicator
 * @sendbuf: as in inc_iscatter()
 * @recvbuf: as in inc_iscatter()
 * @count: as in inc_iscatter()
 * @dtype: as in inc_iscatter()
 * @root: as in inc_iscatter()
 *
 * Return: as inc_iscatter() and inc_wait().
 */
int inc_scatter(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		size_t count, enum inc_dtype dtype, int root)
{
	const struct inc_call c = {
		.coll = INC_COLL_SCATTER,
		.send = sendbuf, .recv = recvbuf,
		.count = count, .dtype = dtype, .root = root,
	};

	return inc_call_run(comm, &c);
}

/**
 * inc_ialltoall() - begin to give each rank a block of every rank's data
 * @comm: communicator
 * @sendbuf: a block of @count elements for each rank; INC_IN_PLACE: in @recvbuf
 * @recvbuf: room for a block of @count elements of each rank, apart from
 *	@sendbuf
 * @count: number of elements of a block, 0 to the limits of memory
 * @dtype: their type
 * @req: the operation, for inc_test() and inc_wait(). To be freed by
 *	inc_request_free()
 *
 * Buffers and errors are as with inc_iallreduce().
 *
 * Return: as inc_iallreduce().
 */
int inc_ialltoall(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		  size_t count, enum inc_dtype dtype, struct inc_req **req)
{
	const struct inc_call c = {
		.coll = INC_COLL_ALLTOALL,
		.send = sendbuf, .recv = recvbuf,
		.count = count, .dtype = dtype,
	};

	return inc_call_start(comm, &c, req);
}

/**
 * inc_alltoall() - exchange a block with each rank
 * @comm: communicator
 * @sendbuf: as in inc_ialltoall()
 * @recvbuf: as in inc_ialltoall()
 * @count: as in inc_ialltoall()
 * @dtype: as in inc_ialltoall()
 *
 * Return: as inc_ialltoall() and inc_wait().
 */
int inc_alltoall(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		 size_t count, enum inc_dtype dtype)
{
	const struct inc_call c = {
		.coll = INC_COLL_ALLTOALL,
		.send = sendbuf, .recv = recvbuf,
		.count = count, .dtype = dtype,
	};

	return inc_call_run(comm, &c);
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
	const struct inc_call c = { .coll = INC_COLL_BARRIER };

	return inc_call_start(comm, &c, req);
}

/**
 * inc_barrier() - wait until all ranks have come here
 * @comm: communicator
 *
 * Return: as inc_ibarrier() and inc_wait().
 */
int inc_barrier(struct inc_comm *comm)
{
	const struct inc_call c = { .coll = INC_COLL_BARRIER };

	return inc_call_run(comm, &c);
}

/* --- Requests ---------------------------------------------------------------- */

/* A failed communicator has nothing under way; fork()'s copy has it for ever. */
static bool is_over(const struct inc_req *req)
{
	return req->done || req->comm->err;
}

static int end_of(const struct inc_req *req)
{
	return req->done ? req->err : req->comm->err;
}

/**
 * inc_test() - check whether an operation is done
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
	if (!is_over(req)) {
		inc_msg_progress(req->comm);
		if (!is_over(req))
			inc_watchdog_count(&req->comm->watchdog.tests);
	}
	*done = is_over(req);
	return *done ? end_of(req) : 0;
}

/**
 * inc_wait() - wait until an operation is done
 * @req: operation
 *
 * Sleeps, does not spin. May be called again.
 *
 * Return: 0; or, for this operation alone, -EBADE if the ranks disagree about
 * it, -EOPNOTSUPP or -EMSGSIZE if the switch refused it; or, for all operations
 * in progress and all later ones, -ETIMEDOUT, -ECONNRESET if a rank died or
 * left, -ESHUTDOWN if the tree was dismantled, -ENOTCONN if the daemon is gone,
 * -EHOSTUNREACH, -EPROTO or -EIO. inc_comm_strerror() says more.
 */
int inc_wait(struct inc_req *req)
{
	struct inc_watchdog *watch = &req->comm->watchdog;

	if (!is_over(req)) {
		inc_watchdog_count(&watch->calls);
		inc_msg_wait(req->comm, req, INC_FOREVER);
		inc_watchdog_count(&watch->calls);
	}
	return end_of(req);
}

/**
 * inc_wait_for() - wait for a limited time until an operation is done
 * @req: operation
 * @timeout_ms: maximum milliseconds to sleep; 0: as inc_test()
 *
 * For programs that have other work. Over UC it may take 2 ms longer. If a
 * program keeps calling it for the communicator's time limit while no result
 * arrives, the communicator fails with -ETIMEDOUT.
 *
 * Return: -EAGAIN if the operation is still in progress, else as inc_wait().
 */
int inc_wait_for(struct inc_req *req, unsigned int timeout_ms)
{
	struct inc_watchdog *watch = &req->comm->watchdog;
	int done, ret;

	if (is_over(req))
		return end_of(req);
	if (!timeout_ms) {
		ret = inc_test(req, &done);
		return done ? ret : -EAGAIN;
	}
	inc_watchdog_waits(watch, true);
	done = inc_msg_wait(req->comm, req,
			    timeout_ms < INT_MAX ? (int)timeout_ms : INT_MAX);
	inc_watchdog_waits(watch, false);
	inc_watchdog_count(&watch->tests);
	return done ? req->err : -EAGAIN;
}

static void reap(struct inc_comm *comm)
{
	if (comm->forked)
		return;
	if (comm->err)
		inc_mem_reap(&comm->mem, UINT64_MAX);
	else
		inc_msg_reap(comm);
}

/**
 * inc_request_free() - free a request
 * @req: operation, done or not; NULL does nothing
 *
 * An operation that is not done continues and still needs its buffers.
 */
void inc_request_free(struct inc_req *req)
{
	bool held;

	if (!req)
		return;
	if (!req->done) {
		req->orphan = true;
		return;
	}
	held = req->persistent;
	inc_req_put(req);
	if (held)
		reap(req->comm);
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

/**
 * inc_mem_dereg() - end a registration
 * @comm: communicator
 * @addr: as given to inc_mem_reg()
 * @len: as given to inc_mem_reg()
 *
 * Return: 0, -ENOENT if that was never registered, -EBUSY if an operation in
 * progress or a persistent one uses it.
 */
int inc_mem_dereg(struct inc_comm *comm, void *addr, size_t len)
{
	int ret = inc_mem_unpin(&comm->mem, addr, len);

	reap(comm);
	return ret;
}

/**
 * inc_mem_invalidate() - end the library's registrations in a range
 * @comm: communicator
 * @addr: first byte
 * @len: bytes
 *
 * Call it before memory is returned to the system, with INC_REG_CACHE, and for
 * memory that inc_mem_reg() has registered.
 *
 * Return: 0, -EBUSY if an operation in progress or a persistent one uses some
 * of it.
 */
int inc_mem_invalidate(struct inc_comm *comm, const void *addr, size_t len)
{
	int ret = inc_mem_forget(&comm->mem, addr, len);

	reap(comm);
	return ret;
}
