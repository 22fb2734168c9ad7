// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The public collectives, each in three forms: started, blocking, and made to
 * be started many times. For each collective, a static function of its name
 * puts the arguments together.
 */
#include "call.h"
#include "comm/comm.h"

static int run_call(struct inc_comm *comm, struct inc_call c)
{
	struct inc_request *req;
	int ret;

	inc_comm_lock(comm);
	ret = inc_call_start(comm, c, &req);
	if (!ret) {
		ret = inc_request_wait(req);
		inc_request_free(req);
	}
	inc_comm_unlock(comm);
	return ret;
}

/*
 * The two other forms of a collective, with arguments as in inc_i...(): the blocking
 * one returns as inc_i...() and inc_request_wait(). The persistent one checks
 * arguments, and registers buffers, once: they must stay mapped until
 * inc_request_free(), and nothing is sent until inc_request_start(). Any number of
 * such operations may exist; ranks must agree on the order of their starts.
 */
#define FORMS(name, call, ...)						\
int inc_##name(struct inc_comm *comm, __VA_ARGS__)			\
{									\
	return run_call(comm, call);					\
}									\
									\
int inc_##name##_init(struct inc_comm *comm, __VA_ARGS__,		\
		      struct inc_request **req)				\
{									\
	return inc_call_init(comm, call, req);				\
}

/* --- AllReduce --------------------------------------------------------- */

static struct inc_call make_allreduce(const void *send, void *recv,
				      size_t count, enum inc_dtype dtype,
				      enum inc_op op)
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
 * Return: 0; -EOPNOTSUPP if the tree lacks the collective; -EINVAL for a rank,
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
			      make_allreduce(sendbuf, recvbuf, count, dtype,
					     op),
			      req);
}

FORMS(allreduce, make_allreduce(sendbuf, recvbuf, count, dtype, op),
      const void *sendbuf, void *recvbuf, size_t count, enum inc_dtype dtype,
      enum inc_op op)

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

FORMS(reduce, reduce(sendbuf, recvbuf, count, dtype, op, root),
      const void *sendbuf, void *recvbuf, size_t count, enum inc_dtype dtype,
      enum inc_op op, int root)

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

FORMS(reduce_scatter, reduce_scatter(sendbuf, recvbuf, count, dtype, op),
      const void *sendbuf, void *recvbuf, size_t count, enum inc_dtype dtype,
      enum inc_op op)

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

FORMS(broadcast, broadcast(buf, count, dtype, root), void *buf, size_t count,
      enum inc_dtype dtype, int root)

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

FORMS(allgather, allgather(sendbuf, recvbuf, count, dtype), const void *sendbuf,
      void *recvbuf, size_t count, enum inc_dtype dtype)

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

FORMS(gather, gather(sendbuf, recvbuf, count, dtype, root), const void *sendbuf,
      void *recvbuf, size_t count, enum inc_dtype dtype, int root)

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

FORMS(scatter, scatter(sendbuf, recvbuf, count, dtype, root),
      const void *sendbuf, void *recvbuf, size_t count, enum inc_dtype dtype,
      int root)

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

FORMS(alltoall, alltoall(sendbuf, recvbuf, count, dtype), const void *sendbuf,
      void *recvbuf, size_t count, enum inc_dtype dtype)

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
 * Return: 0, -EOPNOTSUPP, -ENOMEM, or the error of a failed communicator.
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
	return run_call(comm, barrier());
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
