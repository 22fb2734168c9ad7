// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The collectives of the ranks that are ranks of the switch's tree. Each begins
 * an operation, which coll_inc_wait() or a request ends.
 *
 * In-place operations whose type has holes are done out of place.
 */
#include <errno.h>

#include "coll_inc.h"

/* Another thread may be in our progress function. */
#define LOCKED(call)                                                           \
	({                                                                     \
		int rc;                                                        \
                                                                               \
		coll_inc_lock();                                               \
		rc = (call);                                                   \
		coll_inc_unlock();                                             \
		rc;                                                            \
	})

static char *block_at(void *buf, int rank, int count, ompi_datatype_t *type)
{
	ptrdiff_t lb, extent;

	ompi_datatype_get_extent(type, &lb, &extent);
	return (char *)buf + extent * count * rank;
}

int coll_inc_begin_allgather(coll_inc_module_t *m, struct coll_inc_op *o,
			     const void *sbuf, int scount,
			     ompi_datatype_t *stype, void *rbuf, int rcount,
			     ompi_datatype_t *rtype)
{
	const void *send = INC_IN_PLACE;
	enum inc_dtype dtype;
	size_t n;
	void *recv;

	recv = coll_inc_recv(o, rbuf, inc_comm_size(m->inc), rcount, rtype);
	if (sbuf != MPI_IN_PLACE)
		send = coll_inc_send(o, sbuf, 1, scount, stype);
	else if (o->recv_tmp)
		send = coll_inc_send(
			o, block_at(rbuf, inc_comm_rank(m->inc), rcount, rtype),
			1, rcount, rtype);
	if (!send || !recv)
		return -ENOMEM;
	dtype = coll_inc_bytes(coll_inc_size(rtype, rcount), &n);
	return LOCKED(inc_iallgather(m->inc, send, recv, n, dtype, &o->req));
}

int coll_inc_begin_allreduce(coll_inc_module_t *m, struct coll_inc_op *o,
			     const void *sbuf, void *rbuf, int count,
			     ompi_datatype_t *type, ompi_op_t *op)
{
	enum inc_dtype dtype;
	enum inc_op iop;

	if (!coll_inc_terms(type, op, &dtype, &iop))
		return -EINVAL;
	return LOCKED(inc_iallreduce(m->inc,
				     sbuf == MPI_IN_PLACE ? INC_IN_PLACE : sbuf,
				     rbuf, (size_t)count, dtype, iop, &o->req));
}

int coll_inc_begin_alltoall(coll_inc_module_t *m, struct coll_inc_op *o,
			    const void *sbuf, int scount,
			    ompi_datatype_t *stype, void *rbuf, int rcount,
			    ompi_datatype_t *rtype)
{
	int n = inc_comm_size(m->inc);
	const void *send = INC_IN_PLACE;
	enum inc_dtype dtype;
	size_t nelem;
	void *recv;

	recv = coll_inc_recv(o, rbuf, n, rcount, rtype);
	if (sbuf != MPI_IN_PLACE)
		send = coll_inc_send(o, sbuf, n, scount, stype);
	else if (o->recv_tmp)
		send = coll_inc_send(o, rbuf, n, rcount, rtype);
	if (!send || !recv)
		return -ENOMEM;
	dtype = coll_inc_bytes(coll_inc_size(rtype, rcount), &nelem);
	return LOCKED(inc_ialltoall(m->inc, send, recv, nelem, dtype, &o->req));
}

int coll_inc_begin_barrier(coll_inc_module_t *m, struct coll_inc_op *o)
{
	return LOCKED(inc_ibarrier(m->inc, &o->req));
}

int coll_inc_begin_bcast(coll_inc_module_t *m, struct coll_inc_op *o, void *buf,
			 int count, ompi_datatype_t *type, int root)
{
	enum inc_dtype dtype;
	size_t n;
	void *data;

	if (inc_comm_rank(m->inc) == root)
		data = (void *)coll_inc_send(o, buf, 1, count, type);
	else
		data = coll_inc_recv(o, buf, 1, count, type);
	if (!data)
		return -ENOMEM;
	dtype = coll_inc_bytes(coll_inc_size(type, count), &n);
	return LOCKED(inc_ibroadcast(m->inc, data, n, dtype, root, &o->req));
}

int coll_inc_begin_gather(coll_inc_module_t *m, struct coll_inc_op *o,
			  const void *sbuf, int scount, ompi_datatype_t *stype,
			  void *rbuf, int rcount, ompi_datatype_t *rtype,
			  int root)
{
	bool mine = inc_comm_rank(m->inc) == root;
	const void *send = INC_IN_PLACE;
	enum inc_dtype dtype;
	void *recv = NULL;
	size_t bytes, n;

	if (mine) {
		recv = coll_inc_recv(o, rbuf, inc_comm_size(m->inc), rcount,
				     rtype);
		if (!recv)
			return -ENOMEM;
	}
	if (sbuf != MPI_IN_PLACE)
		send = coll_inc_send(o, sbuf, 1, scount, stype);
	else if (o->recv_tmp)
		send = coll_inc_send(o, block_at(rbuf, root, rcount, rtype), 1,
				     rcount, rtype);
	if (!send)
		return -ENOMEM;
	bytes = mine ? coll_inc_size(rtype, rcount)
		     : coll_inc_size(stype, scount);
	dtype = coll_inc_bytes(bytes, &n);
	return LOCKED(inc_igather(m->inc, send, recv, n, dtype, root, &o->req));
}

int coll_inc_begin_reduce(coll_inc_module_t *m, struct coll_inc_op *o,
			  const void *sbuf, void *rbuf, int count,
			  ompi_datatype_t *type, ompi_op_t *op, int root)
{
	enum inc_dtype dtype;
	enum inc_op iop;

	if (!coll_inc_terms(type, op, &dtype, &iop))
		return -EINVAL;
	if (inc_comm_rank(m->inc) != root)
		rbuf = NULL;
	return LOCKED(
		inc_ireduce(m->inc, sbuf == MPI_IN_PLACE ? INC_IN_PLACE : sbuf,
			    rbuf, (size_t)count, dtype, iop, root, &o->req));
}

int coll_inc_begin_reduce_scatter(coll_inc_module_t *m, struct coll_inc_op *o,
				  const void *sbuf, void *rbuf, int count,
				  ompi_datatype_t *type, ompi_op_t *op)
{
	enum inc_dtype dtype;
	enum inc_op iop;

	if (!coll_inc_terms(type, op, &dtype, &iop))
		return -EINVAL;
	return LOCKED(inc_ireduce_scatter(
		m->inc, sbuf == MPI_IN_PLACE ? INC_IN_PLACE : sbuf, rbuf,
		(size_t)count, dtype, iop, &o->req));
}

int coll_inc_begin_scatter(coll_inc_module_t *m, struct coll_inc_op *o,
			   const void *sbuf, int scount, ompi_datatype_t *stype,
			   void *rbuf, int rcount, ompi_datatype_t *rtype,
			   int root)
{
	bool mine = inc_comm_rank(m->inc) == root;
	const void *send = NULL;
	enum inc_dtype dtype;
	void *recv = INC_IN_PLACE;
	size_t bytes, n;

	if (mine) {
		send = coll_inc_send(o, sbuf, inc_comm_size(m->inc), scount,
				     stype);
		if (!send)
			return -ENOMEM;
	}
	if (rbuf != MPI_IN_PLACE)
		recv = coll_inc_recv(o, rbuf, 1, rcount, rtype);
	if (!recv)
		return -ENOMEM;
	bytes = mine ? coll_inc_size(stype, scount)
		     : coll_inc_size(rtype, rcount);
	dtype = coll_inc_bytes(bytes, &n);
	return LOCKED(
		inc_iscatter(m->inc, send, recv, n, dtype, root, &o->req));
}
