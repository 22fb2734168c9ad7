// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The public collectives, each in three forms: started, blocking, and made to
 * be started many times. For each collective, a static function of its name
 * puts the arguments together.
 */
#include "call.h"
#include "engine/comm.h"

static int run(struct inc_comm *comm, struct inc_call c)
{
	struct inc_request *req;
	int ret;

	ret = inc_call_start(comm, c, &req);
	if (ret)
		return ret;
	ret = inc_request_wait(req);
	inc_request_put(req);
	return ret;
}

/* --- AllReduce --------------------------------------------------------- */

static struct inc_call allreduce(const void *send, void *recv, size_t count,
				 enum inc_dtype dtype, enum inc_op op)
{
	return (struct inc_call) {
		.coll = INC_COLL_ALLREDUCE,
		.send = send, .recv = recv,
		.count = count, .dtype = dtype, .op = op,
	};
}

/**
 * inc_iallreduce() - start an AllReduce
 * @comm: communicator
 * @sendbuf: @count elements; INC_IN_PLACE: in @recvbuf
 * @recvbuf: room for @count elements of result. The same as @sendbuf, or apart
 *	from it
 * @count: number of elements of a block, 0 to the limits of memory
 * @dtype: their type
 * @op: operation
 * @req: the operation, for inc_request_test() and inc_request_wait(); to be
 *	freed by inc_request_free()
 *
 * The buffers belong to the library until the operation is done. Operations
 * complete in the order in which they were started. Only inc_request_test() and
 * inc_request_wait(), for any request of the communicator, and blocking
 * collectives make progress.
 *
 * Return: 0; -EOPNOTSUPP if the tree does not offer it; -EINVAL for a rank,
 * type or operation that does not exist; -EOVERFLOW; or the error that the
 * communicator failed with. It fails, on all ranks, if this one can't begin an
 * operation that the others may have begun: -EINVAL for overlapping buffers,
 * -EFAULT, -ENOMEM.
 */
int inc_iallreduce(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		   size_t count, enum inc_dtype dtype, enum inc_op op,
		   struct inc_request **req)
{
	return inc_call_start(comm,
			      allreduce(sendbuf, recvbuf, count, dtype, op),
			      req);
}

/**
 * inc_allreduce() - reduce the data of all ranks, for all ranks
 * @comm: communicator
 * @sendbuf: as in inc_iallreduce()
 * @recvbuf: as in inc_iallreduce()
 * @count: as in inc_iallreduce()
 * @dtype: as in inc_iallreduce()
 * @op: as in inc_iallreduce()
 *
 * Return: as inc_iallreduce() and inc_request_wait().
 */
int inc_allreduce(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		  size_t count, enum inc_dtype dtype, enum inc_op op)
{
	return run(comm, allreduce(sendbuf, recvbuf, count, dtype, op));
}

/**
 * inc_allreduce_init() - make a persistent AllReduce
 * @comm: communicator
 * @sendbuf: as in inc_iallreduce()
 * @recvbuf: as in inc_iallreduce()
 * @count: as in inc_iallreduce()
 * @dtype: as in inc_iallreduce()
 * @op: as in inc_iallreduce()
 * @req: the operation, for inc_request_start(); to be freed by
 *	inc_request_free()
 *
 * Arguments are checked, and buffers registered, once: the buffers must stay
 * mapped until inc_request_free(). Nothing is sent. Any number of such
 * operations may exist; ranks must agree on the order in which they are
 * started.
 *
 * Return: as inc_iallreduce().
 */
int inc_allreduce_init(struct inc_comm *comm, const void *sendbuf,
		       void *recvbuf, size_t count, enum inc_dtype dtype,
		       enum inc_op op, struct inc_request **req)
{
	return inc_call_init(comm,
			     allreduce(sendbuf, recvbuf, count, dtype, op),
			     req);
}

/* --- Reduce ------------------------------------------------------------ */

static struct inc_call reduce(const void *send, void *recv, size_t count,
			      enum inc_dtype dtype, enum inc_op op, int root)
{
	return (struct inc_call) {
		.coll = INC_COLL_REDUCE,
		.send = send, .recv = recv,
		.count = count, .dtype = dtype, .op = op, .root = root,
	};
}

/**
 * inc_ireduce() - start a Reduce
 * @comm: communicator
 * @sendbuf: @count elements; INC_IN_PLACE, at the root: in @recvbuf
 * @recvbuf: at the root: room for @count elements of result. The same as
 *	@sendbuf, or apart from it. Elsewhere it may be NULL
 * @count: number of elements of a block, 0 to the limits of memory
 * @dtype: their type
 * @op: operation
 * @root: root rank
 * @req: the operation, for inc_request_test() and inc_request_wait(); to be
 *	freed by inc_request_free()
 *
 * Buffers and errors are as with inc_iallreduce().
 *
 * Return: as inc_iallreduce().
 */
int inc_ireduce(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		size_t count, enum inc_dtype dtype, enum inc_op op, int root,
		struct inc_request **req)
{
	return inc_call_start(comm,
			      reduce(sendbuf, recvbuf, count, dtype, op, root),
			      req);
}

/**
 * inc_reduce() - reduce the data of all ranks, for the root
 * @comm: communicator
 * @sendbuf: as in inc_ireduce()
 * @recvbuf: as in inc_ireduce()
 * @count: as in inc_ireduce()
 * @dtype: as in inc_ireduce()
 * @op: as in inc_ireduce()
 * @root: as in inc_ireduce()
 *
 * Return: as inc_ireduce() and inc_request_wait().
 */
int inc_reduce(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
	       size_t count, enum inc_dtype dtype, enum inc_op op, int root)
{
	return run(comm, reduce(sendbuf, recvbuf, count, dtype, op, root));
}

/**
 * inc_reduce_init() - make a persistent Reduce
 * @comm: communicator
 * @sendbuf: as in inc_ireduce()
 * @recvbuf: as in inc_ireduce()
 * @count: as in inc_ireduce()
 * @dtype: as in inc_ireduce()
 * @op: as in inc_ireduce()
 * @root: as in inc_ireduce()
 * @req: as in inc_allreduce_init()
 *
 * Return: as inc_ireduce().
 */
int inc_reduce_init(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		    size_t count, enum inc_dtype dtype, enum inc_op op,
		    int root, struct inc_request **req)
{
	return inc_call_init(comm,
			     reduce(sendbuf, recvbuf, count, dtype, op, root),
			     req);
}

/* --- ReduceScatter ----------------------------------------------------- */

static struct inc_call reduce_scatter(const void *send, void *recv,
				      size_t count, enum inc_dtype dtype,
				      enum inc_op op)
{
	return (struct inc_call) {
		.coll = INC_COLL_REDUCE_SCATTER,
		.send = send, .recv = recv,
		.count = count, .dtype = dtype, .op = op,
	};
}

/**
 * inc_ireduce_scatter() - start a ReduceScatter
 * @comm: communicator
 * @sendbuf: a block of @count elements for each rank; INC_IN_PLACE: in @recvbuf
 * @recvbuf: room for @count elements of result, apart from @sendbuf; in place:
 *	the blocks of all ranks, of which the first takes the result
 * @count: number of elements of a block, 0 to the limits of memory
 * @dtype: their type
 * @op: operation
 * @req: the operation, for inc_request_test() and inc_request_wait(); to be
 *	freed by inc_request_free()
 *
 * Buffers and errors are as with inc_iallreduce().
 *
 * Return: as inc_iallreduce().
 */
int inc_ireduce_scatter(struct inc_comm *comm, const void *sendbuf,
			void *recvbuf, size_t count, enum inc_dtype dtype,
			enum inc_op op, struct inc_request **req)
{
	return inc_call_start(comm, reduce_scatter(sendbuf, recvbuf, count,
						   dtype, op), req);
}

/**
 * inc_reduce_scatter() - reduce the data of all ranks, a block for each rank
 * @comm: communicator
 * @sendbuf: as in inc_ireduce_scatter()
 * @recvbuf: as in inc_ireduce_scatter()
 * @count: as in inc_ireduce_scatter()
 * @dtype: as in inc_ireduce_scatter()
 * @op: as in inc_ireduce_scatter()
 *
 * Return: as inc_ireduce_scatter() and inc_request_wait().
 */
int inc_reduce_scatter(struct inc_comm *comm, const void *sendbuf,
		       void *recvbuf, size_t count, enum inc_dtype dtype,
		       enum inc_op op)
{
	return run(comm, reduce_scatter(sendbuf, recvbuf, count, dtype, op));
}

/**
 * inc_reduce_scatter_init() - make a persistent ReduceScatter
 * @comm: communicator
 * @sendbuf: as in inc_ireduce_scatter()
 * @recvbuf: as in inc_ireduce_scatter()
 * @count: as in inc_ireduce_scatter()
 * @dtype: as in inc_ireduce_scatter()
 * @op: as in inc_ireduce_scatter()
 * @req: as in inc_allreduce_init()
 *
 * Return: as inc_ireduce_scatter().
 */
int inc_reduce_scatter_init(struct inc_comm *comm, const void *sendbuf,
			    void *recvbuf, size_t count, enum inc_dtype dtype,
			    enum inc_op op, struct inc_request **req)
{
	return inc_call_init(comm,
			     reduce_scatter(sendbuf, recvbuf, count, dtype, op),
			     req);
}

/* --- Broadcast --------------------------------------------------------- */

static struct inc_call broadcast(void *buf, size_t count, enum inc_dtype dtype,
				 int root)
{
	return (struct inc_call) {
		.coll = INC_COLL_BROADCAST,
		.send = buf, .recv = buf,
		.count = count, .dtype = dtype, .root = root,
	};
}

/**
 * inc_ibroadcast() - start a Broadcast
 * @comm: communicator
 * @buf: @count elements; at the root the data, elsewhere room for it
 * @count: number of elements of a block, 0 to the limits of memory
 * @dtype: their type
 * @root: root rank
 * @req: the operation, for inc_request_test() and inc_request_wait(); to be
 *	freed by inc_request_free()
 *
 * Buffers and errors are as with inc_iallreduce().
 *
 * Return: as inc_iallreduce().
 */
int inc_ibroadcast(struct inc_comm *comm, void *buf, size_t count,
		   enum inc_dtype dtype, int root, struct inc_request **req)
{
	return inc_call_start(comm, broadcast(buf, count, dtype, root), req);
}

/**
 * inc_broadcast() - send the root's data to all ranks
 * @comm: communicator
 * @buf: as in inc_ibroadcast()
 * @count: as in inc_ibroadcast()
 * @dtype: as in inc_ibroadcast()
 * @root: as in inc_ibroadcast()
 *
 * Return: as inc_ibroadcast() and inc_request_wait().
 */
int inc_broadcast(struct inc_comm *comm, void *buf, size_t count,
		  enum inc_dtype dtype, int root)
{
	return run(comm, broadcast(buf, count, dtype, root));
}

/**
 * inc_broadcast_init() - make a persistent Broadcast
 * @comm: communicator
 * @buf: as in inc_ibroadcast()
 * @count: as in inc_ibroadcast()
 * @dtype: as in inc_ibroadcast()
 * @root: as in inc_ibroadcast()
 * @req: as in inc_allreduce_init()
 *
 * Return: as inc_ibroadcast().
 */
int inc_broadcast_init(struct inc_comm *comm, void *buf, size_t count,
		       enum inc_dtype dtype, int root, struct inc_request **req)
{
	return inc_call_init(comm, broadcast(buf, count, dtype, root), req);
}

/* --- AllGather --------------------------------------------------------- */

static struct inc_call allgather(const void *send, void *recv, size_t count,
				 enum inc_dtype dtype)
{
	return (struct inc_call) {
		.coll = INC_COLL_ALLGATHER,
		.send = send, .recv = recv,
		.count = count, .dtype = dtype,
	};
}

/**
 * inc_iallgather() - start an AllGather
 * @comm: communicator
 * @sendbuf: @count elements; INC_IN_PLACE: in @recvbuf
 * @recvbuf: room for a block of @count elements of each rank, apart from
 *	@sendbuf
 * @count: number of elements of a block, 0 to the limits of memory
 * @dtype: their type
 * @req: the operation, for inc_request_test() and inc_request_wait(); to be
 *	freed by inc_request_free()
 *
 * Buffers and errors are as with inc_iallreduce().
 *
 * Return: as inc_iallreduce().
 */
int inc_iallgather(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		   size_t count, enum inc_dtype dtype, struct inc_request **req)
{
	return inc_call_start(comm,
			      allgather(sendbuf, recvbuf, count, dtype),
			      req);
}

/**
 * inc_allgather() - collect a block from each rank, for all ranks
 * @comm: communicator
 * @sendbuf: as in inc_iallgather()
 * @recvbuf: as in inc_iallgather()
 * @count: as in inc_iallgather()
 * @dtype: as in inc_iallgather()
 *
 * Return: as inc_iallgather() and inc_request_wait().
 */
int inc_allgather(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		  size_t count, enum inc_dtype dtype)
{
	return run(comm, allgather(sendbuf, recvbuf, count, dtype));
}

/**
 * inc_allgather_init() - make a persistent AllGather
 * @comm: communicator
 * @sendbuf: as in inc_iallgather()
 * @recvbuf: as in inc_iallgather()
 * @count: as in inc_iallgather()
 * @dtype: as in inc_iallgather()
 * @req: as in inc_allreduce_init()
 *
 * Return: as inc_iallgather().
 */
int inc_allgather_init(struct inc_comm *comm, const void *sendbuf,
		       void *recvbuf, size_t count, enum inc_dtype dtype,
		       struct inc_request **req)
{
	return inc_call_init(comm,
			     allgather(sendbuf, recvbuf, count, dtype),
			     req);
}

/* --- Gather ------------------------------------------------------------ */

static struct inc_call gather(const void *send, void *recv, size_t count,
			      enum inc_dtype dtype, int root)
{
	return (struct inc_call) {
		.coll = INC_COLL_GATHER,
		.send = send, .recv = recv,
		.count = count, .dtype = dtype, .root = root,
	};
}

/**
 * inc_igather() - start a Gather
 * @comm: communicator
 * @sendbuf: @count elements; INC_IN_PLACE, at the root: in @recvbuf
 * @recvbuf: at the root: room for a block of @count elements of each rank,
 *	apart from @sendbuf. Elsewhere it may be NULL
 * @count: number of elements of a block, 0 to the limits of memory
 * @dtype: their type
 * @root: root rank
 * @req: the operation, for inc_request_test() and inc_request_wait(); to be
 *	freed by inc_request_free()
 *
 * Buffers and errors are as with inc_iallreduce().
 *
 * Return: as inc_iallreduce().
 */
int inc_igather(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		size_t count, enum inc_dtype dtype, int root,
		struct inc_request **req)
{
	return inc_call_start(comm,
			      gather(sendbuf, recvbuf, count, dtype, root),
			      req);
}

/**
 * inc_gather() - collect a block from each rank, for the root
 * @comm: communicator
 * @sendbuf: as in inc_igather()
 * @recvbuf: as in inc_igather()
 * @count: as in inc_igather()
 * @dtype: as in inc_igather()
 * @root: as in inc_igather()
 *
 * Return: as inc_igather() and inc_request_wait().
 */
int inc_gather(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
	       size_t count, enum inc_dtype dtype, int root)
{
	return run(comm, gather(sendbuf, recvbuf, count, dtype, root));
}

/**
 * inc_gather_init() - make a persistent Gather
 * @comm: communicator
 * @sendbuf: as in inc_igather()
 * @recvbuf: as in inc_igather()
 * @count: as in inc_igather()
 * @dtype: as in inc_igather()
 * @root: as in inc_igather()
 * @req: as in inc_allreduce_init()
 *
 * Return: as inc_igather().
 */
int inc_gather_init(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		    size_t count, enum inc_dtype dtype, int root,
		    struct inc_request **req)
{
	return inc_call_init(comm,
			     gather(sendbuf, recvbuf, count, dtype, root),
			     req);
}

/* --- Scatter ----------------------------------------------------------- */

static struct inc_call scatter(const void *send, void *recv, size_t count,
			       enum inc_dtype dtype, int root)
{
	return (struct inc_call) {
		.coll = INC_COLL_SCATTER,
		.send = send, .recv = recv,
		.count = count, .dtype = dtype, .root = root,
	};
}

/**
 * inc_iscatter() - start a Scatter
 * @comm: communicator
 * @sendbuf: at the root: a block of @count elements for each rank. Elsewhere it
 *	may be NULL
 * @recvbuf: room for @count elements, apart from @sendbuf; INC_IN_PLACE, at the
 *	root: leave its block where it is
 * @count: number of elements of a block, 0 to the limits of memory
 * @dtype: their type
 * @root: root rank
 * @req: the operation, for inc_request_test() and inc_request_wait(); to be
 *	freed by inc_request_free()
 *
 * Buffers and errors are as with inc_iallreduce().
 *
 * Return: as inc_iallreduce().
 */
int inc_iscatter(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		 size_t count, enum inc_dtype dtype, int root,
		 struct inc_request **req)
{
	return inc_call_start(comm,
			      scatter(sendbuf, recvbuf, count, dtype, root),
			      req);
}

/**
 * inc_scatter() - send a block of the root to each rank
 * @comm: communicator
 * @sendbuf: as in inc_iscatter()
 * @recvbuf: as in inc_iscatter()
 * @count: as in inc_iscatter()
 * @dtype: as in inc_iscatter()
 * @root: as in inc_iscatter()
 *
 * Return: as inc_iscatter() and inc_request_wait().
 */
int inc_scatter(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		size_t count, enum inc_dtype dtype, int root)
{
	return run(comm, scatter(sendbuf, recvbuf, count, dtype, root));
}

/**
 * inc_scatter_init() - make a persistent Scatter
 * @comm: communicator
 * @sendbuf: as in inc_iscatter()
 * @recvbuf: as in inc_iscatter()
 * @count: as in inc_iscatter()
 * @dtype: as in inc_iscatter()
 * @root: as in inc_iscatter()
 * @req: as in inc_allreduce_init()
 *
 * Return: as inc_iscatter().
 */
int inc_scatter_init(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		     size_t count, enum inc_dtype dtype, int root,
		     struct inc_request **req)
{
	return inc_call_init(comm,
			     scatter(sendbuf, recvbuf, count, dtype, root),
			     req);
}

/* --- AllToAll ---------------------------------------------------------- */

static struct inc_call alltoall(const void *send, void *recv, size_t count,
				enum inc_dtype dtype)
{
	return (struct inc_call) {
		.coll = INC_COLL_ALLTOALL,
		.send = send, .recv = recv,
		.count = count, .dtype = dtype,
	};
}

/**
 * inc_ialltoall() - start an AllToAll
 * @comm: communicator
 * @sendbuf: a block of @count elements for each rank; INC_IN_PLACE: in @recvbuf
 * @recvbuf: room for a block of @count elements of each rank, apart from
 *	@sendbuf
 * @count: number of elements of a block, 0 to the limits of memory
 * @dtype: their type
 * @req: the operation, for inc_request_test() and inc_request_wait(); to be
 *	freed by inc_request_free()
 *
 * Buffers and errors are as with inc_iallreduce().
 *
 * Return: as inc_iallreduce().
 */
int inc_ialltoall(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		  size_t count, enum inc_dtype dtype, struct inc_request **req)
{
	return inc_call_start(comm,
			      alltoall(sendbuf, recvbuf, count, dtype),
			      req);
}

/**
 * inc_alltoall() - send a block of each rank to each rank
 * @comm: communicator
 * @sendbuf: as in inc_ialltoall()
 * @recvbuf: as in inc_ialltoall()
 * @count: as in inc_ialltoall()
 * @dtype: as in inc_ialltoall()
 *
 * Return: as inc_ialltoall() and inc_request_wait().
 */
int inc_alltoall(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		 size_t count, enum inc_dtype dtype)
{
	return run(comm, alltoall(sendbuf, recvbuf, count, dtype));
}

/**
 * inc_alltoall_init() - make a persistent AllToAll
 * @comm: communicator
 * @sendbuf: as in inc_ialltoall()
 * @recvbuf: as in inc_ialltoall()
 * @count: as in inc_ialltoall()
 * @dtype: as in inc_ialltoall()
 * @req: as in inc_allreduce_init()
 *
 * Return: as inc_ialltoall().
 */
int inc_alltoall_init(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		      size_t count, enum inc_dtype dtype,
		      struct inc_request **req)
{
	return inc_call_init(comm,
			     alltoall(sendbuf, recvbuf, count, dtype),
			     req);
}

/* --- Barrier ----------------------------------------------------------- */

static struct inc_call barrier(void)
{
	return (struct inc_call) { .coll = INC_COLL_BARRIER };
}

/**
 * inc_ibarrier() - start a Barrier
 * @comm: communicator
 * @req: the operation, as in inc_iallreduce()
 *
 * Return: 0, -EOPNOTSUPP, -ENOMEM, or what the communicator failed with.
 */
int inc_ibarrier(struct inc_comm *comm, struct inc_request **req)
{
	return inc_call_start(comm, barrier(), req);
}

/**
 * inc_barrier() - wait until all ranks have called it
 * @comm: communicator
 *
 * Return: as inc_ibarrier() and inc_request_wait().
 */
int inc_barrier(struct inc_comm *comm)
{
	return run(comm, barrier());
}

/**
 * inc_barrier_init() - make a persistent Barrier
 * @comm: communicator
 * @req: as in inc_allreduce_init()
 *
 * Return: as inc_ibarrier().
 */
int inc_barrier_init(struct inc_comm *comm, struct inc_request **req)
{
	return inc_call_init(comm, barrier(), req);
}
