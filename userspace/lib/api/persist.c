// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What the user calls: operations that are made once and begun many times.
 */
#include "call.h"
#include "engine/comm.h"

/**
 * inc_allreduce_init() - make a persistent Allreduce
 * @comm: communicator
 * @sendbuf: as in inc_iallreduce()
 * @recvbuf: as in inc_iallreduce()
 * @count: as in inc_iallreduce()
 * @dtype: as in inc_iallreduce()
 * @op: as in inc_iallreduce()
 * @req: the operation, for inc_start(). To be freed by
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
		       enum inc_op op, struct inc_req **req)
{
	const struct inc_call c = {
		.coll = INC_COLL_ALLREDUCE,
		.send = sendbuf, .recv = recvbuf,
		.count = count, .dtype = dtype, .op = op,
	};

	return inc_call_init(comm, &c, req);
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
		    int root, struct inc_req **req)
{
	const struct inc_call c = {
		.coll = INC_COLL_REDUCE,
		.send = sendbuf, .recv = recvbuf,
		.count = count, .dtype = dtype, .op = op, .root = root,
	};

	return inc_call_init(comm, &c, req);
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
			    enum inc_op op, struct inc_req **req)
{
	const struct inc_call c = {
		.coll = INC_COLL_REDUCE_SCATTER,
		.send = sendbuf, .recv = recvbuf,
		.count = count, .dtype = dtype, .op = op,
	};

	return inc_call_init(comm, &c, req);
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
		       enum inc_dtype dtype, int root, struct inc_req **req)
{
	const struct inc_call c = {
		.coll = INC_COLL_BROADCAST,
		.send = buf, .recv = buf,
		.count = count, .dtype = dtype, .root = root,
	};

	return inc_call_init(comm, &c, req);
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
		       struct inc_req **req)
{
	const struct inc_call c = {
		.coll = INC_COLL_ALLGATHER,
		.send = sendbuf, .recv = recvbuf,
		.count = count, .dtype = dtype,
	};

	return inc_call_init(comm, &c, req);
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
		    struct inc_req **req)
{
	const struct inc_call c = {
		.coll = INC_COLL_GATHER,
		.send = sendbuf, .recv = recvbuf,
		.count = count, .dtype = dtype, .root = root,
	};

	return inc_call_init(comm, &c, req);
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
		     struct inc_req **req)
{
	const struct inc_call c = {
		.coll = INC_COLL_SCATTER,
		.send = sendbuf, .recv = recvbuf,
		.count = count, .dtype = dtype, .root = root,
	};

	return inc_call_init(comm, &c, req);
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
		      size_t count, enum inc_dtype dtype, struct inc_req **req)
{
	const struct inc_call c = {
		.coll = INC_COLL_ALLTOALL,
		.send = sendbuf, .recv = recvbuf,
		.count = count, .dtype = dtype,
	};

	return inc_call_init(comm, &c, req);
}

/**
 * inc_barrier_init() - make a persistent Barrier
 * @comm: communicator
 * @req: as in inc_allreduce_init()
 *
 * Return: as inc_ibarrier().
 */
int inc_barrier_init(struct inc_comm *comm, struct inc_req **req)
{
	const struct inc_call c = { .coll = INC_COLL_BARRIER };

	return inc_call_init(comm, &c, req);
}

/**
 * inc_start() - start a persistent operation
 * @req: operation of one of the functions above; not in progress
 *
 * Sends the current contents of the buffers. From then on the operation is like
 * one begun by inc_iallreduce() and the like: inc_test(), inc_wait() and
 * inc_wait_for() report when it is done and how it ended. Then it may be
 * started again. Before its first start it counts as done.
 *
 * Return: 0; -EINVAL if it is not persistent; -EBUSY if it is in progress; or
 * the error that the communicator failed with.
 */
int inc_start(struct inc_req *req)
{
	return inc_call_again(req);
}
