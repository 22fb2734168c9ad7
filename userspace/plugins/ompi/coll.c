// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The collectives among ranks of the switch's tree. Each begins an operation,
 * which coll_inc_wait() or a request completes.
 *
 * In-place operations on non-contiguous types are done out of place.
 */
#include <errno.h>
#include <stdlib.h>

#include "coll_inc.h"

/*
 * Reduce_scatter with unequal parts: up to this many bytes are reduced at once,
 * to all ranks; more are reduced part by part, each part to its rank.
 */
#define PARTS_MIN	16384

static char *block_at(void *buf, int rank, int count, ompi_datatype_t *type)
{
	ptrdiff_t lb, extent;

	ompi_datatype_get_extent(type, &lb, &extent);
	return (char *)buf + extent * count * rank;
}

/* Get a rank's own data; in place, its block of the receive buffer. */
static const void *send_own(struct coll_inc_op *o,
			    const struct coll_inc_args *a)
{
	void *own;

	if (a->sbuf != MPI_IN_PLACE)
		return coll_inc_send(o, a->sbuf, 1, a->scount, a->stype);
	if (!o->recv_tmp)
		return INC_IN_PLACE;
	own = block_at(a->rbuf, inc_comm_rank(o->inc), a->rcount, a->rtype);
	return coll_inc_send(o, own, 1, a->rcount, a->rtype);
}

static int begin_allgather(struct coll_inc_op *o, const struct coll_inc_args *a)
{
	size_t block = coll_inc_size(a->rtype, a->rcount), n;
	size_t at = block * (size_t)inc_comm_rank(o->inc);
	size_t all = block * (size_t)inc_comm_size(o->inc);
	enum inc_dtype dtype;
	const void *send;
	void *recv;

	recv = coll_inc_recv(o, a->rbuf, inc_comm_size(o->inc), a->rcount,
			     a->rtype);
	send = send_own(o, a);
	if (!send || !recv || coll_inc_apart(o, &send, block, recv, at, all))
		return -ENOMEM;
	dtype = coll_inc_bytes(block, &n);
	return inc_iallgather(o->inc, send, recv, n, dtype, &o->req);
}

static int begin_alltoall(struct coll_inc_op *o, const struct coll_inc_args *a)
{
	int n = inc_comm_size(o->inc);
	const void *send = INC_IN_PLACE;
	size_t block = coll_inc_size(a->rtype, a->rcount), nelem;
	size_t all = block * (size_t)n;
	enum inc_dtype dtype;
	void *recv;

	recv = coll_inc_recv(o, a->rbuf, n, a->rcount, a->rtype);
	if (a->sbuf != MPI_IN_PLACE)
		send = coll_inc_send(o, a->sbuf, n, a->scount, a->stype);
	else if (o->recv_tmp)
		send = coll_inc_send(o, a->rbuf, n, a->rcount, a->rtype);
	if (!send || !recv || coll_inc_apart(o, &send, all, recv, 0, all))
		return -ENOMEM;
	dtype = coll_inc_bytes(block, &nelem);
	return inc_ialltoall(o->inc, send, recv, nelem, dtype, &o->req);
}

static int begin_bcast(struct coll_inc_op *o, const struct coll_inc_args *a)
{
	enum inc_dtype dtype;
	size_t n;
	void *data;

	if (inc_comm_rank(o->inc) == a->root)
		data = (void *)coll_inc_send(o, a->rbuf, 1, a->rcount,
					     a->rtype);
	else
		data = coll_inc_recv(o, a->rbuf, 1, a->rcount, a->rtype);
	if (!data)
		return -ENOMEM;
	dtype = coll_inc_bytes(coll_inc_size(a->rtype, a->rcount), &n);
	return inc_ibroadcast(o->inc, data, n, dtype, a->root, &o->req);
}

static int begin_gather(struct coll_inc_op *o, const struct coll_inc_args *a)
{
	bool mine = inc_comm_rank(o->inc) == a->root;
	size_t bytes = mine ? coll_inc_size(a->rtype, a->rcount) :
			      coll_inc_size(a->stype, a->scount), n;
	size_t at = bytes * (size_t)a->root;
	size_t all = bytes * (size_t)inc_comm_size(o->inc);
	enum inc_dtype dtype;
	const void *send;
	void *recv = NULL;

	if (mine) {
		recv = coll_inc_recv(o, a->rbuf, inc_comm_size(o->inc),
				     a->rcount, a->rtype);
		if (!recv)
			return -ENOMEM;
	}
	send = send_own(o, a);
	if (!send || coll_inc_apart(o, &send, bytes, recv, at, all))
		return -ENOMEM;
	dtype = coll_inc_bytes(bytes, &n);
	return inc_igather(o->inc, send, recv, n, dtype, a->root, &o->req);
}

/* Begin a Reduce (to the root) or an Allreduce (to all). */
static int begin_reduce(struct coll_inc_op *o, const struct coll_inc_args *a)
{
	bool all = a->coll == COLL_INC_allreduce;
	bool mine = all || inc_comm_rank(o->inc) == a->root;
	enum inc_dtype dtype;
	enum inc_op iop;
	const void *send;
	size_t len;
	void *recv;

	if (coll_inc_terms(a->rtype, a->op, &dtype, &iop))
		return -EINVAL;
	len = (size_t)a->rcount * inc_dtype_size(dtype);
	if (coll_inc_stage(o, a, &send, len, &recv, mine ? len : 0))
		return -ENOMEM;
	if (all)
		return inc_iallreduce(o->inc, send, recv, (size_t)a->rcount,
				      dtype, iop, &o->req);
	return inc_ireduce(o->inc, send, mine ? recv : NULL, (size_t)a->rcount,
			   dtype, iop, a->root, &o->req);
}

static bool is_even(const int *counts, int n)
{
	int i;

	for (i = 1; i < n; i++)
		if (counts[i] != counts[0])
			return false;
	return true;
}

/* Sum the elements of the ranks below @n. */
static size_t sum_counts(const int *counts, int n)
{
	size_t total = 0;
	int i;

	for (i = 0; i < n; i++)
		total += (size_t)counts[i];
	return total;
}

static int reduce_parts(struct coll_inc_op *o, const char *data,
			const struct coll_inc_args *a, enum inc_dtype dtype,
			enum inc_op iop)
{
	int n = inc_comm_size(o->inc), i, rc;
	size_t esize = inc_dtype_size(dtype);

	o->earlier = calloc((size_t)n, sizeof(*o->earlier));
	if (!o->earlier)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		if (!a->counts[i])
			continue;
		if (o->req)
			o->earlier[o->nearlier++] = o->req;
		o->req = NULL;
		rc = inc_ireduce(o->inc, data, o->recv_tmp,
				 (size_t)a->counts[i], dtype, iop, i, &o->req);
		if (rc)
			return rc;
		data += (size_t)a->counts[i] * esize;
	}
	return 0;
}

/* Reduce unequal parts, into a copy: results would overwrite in-place data. */
static int begin_parts(struct coll_inc_op *o, const struct coll_inc_args *a,
		       enum inc_dtype dtype, enum inc_op iop)
{
	struct coll_inc_args from = *a;
	const void *data;
	void *none;
	int n = inc_comm_size(o->inc), rank = inc_comm_rank(o->inc);
	size_t esize = inc_dtype_size(dtype), total = sum_counts(a->counts, n);
	size_t own = (size_t)a->counts[rank];
	bool whole = total * esize <= PARTS_MIN;

	from.sbuf = a->sbuf == MPI_IN_PLACE ? a->rbuf : a->sbuf;
	if (coll_inc_stage(o, &from, &data, total * esize, &none, 0))
		return -ENOMEM;
	o->recv_tmp = malloc((whole ? total : own) * esize + 1);
	if (!o->recv_tmp)
		return -ENOMEM;
	o->recv_at = (char *)o->recv_tmp +
		     (whole ? sum_counts(a->counts, rank) * esize : 0);
	o->buf = a->rbuf;
	o->bytes = own * esize;
	if (!whole)
		return reduce_parts(o, data, a, dtype, iop);
	return inc_iallreduce(o->inc, data, o->recv_tmp, total, dtype, iop,
			      &o->req);
}

static int begin_reduce_scatter(struct coll_inc_op *o,
				const struct coll_inc_args *a)
{
	int count = a->counts ? a->counts[0] : a->rcount;
	int n = inc_comm_size(o->inc);
	enum inc_dtype dtype;
	enum inc_op iop;
	const void *send;
	size_t len;
	void *recv;

	if (coll_inc_terms(a->rtype, a->op, &dtype, &iop))
		return -EINVAL;
	if (a->counts && !is_even(a->counts, n))
		return begin_parts(o, a, dtype, iop);
	len = (size_t)count * inc_dtype_size(dtype);
	if (coll_inc_stage(o, a, &send, len * (size_t)n, &recv, len))
		return -ENOMEM;
	return inc_ireduce_scatter(o->inc, send, recv, (size_t)count, dtype,
				   iop, &o->req);
}

static int begin_scatter(struct coll_inc_op *o, const struct coll_inc_args *a)
{
	bool mine = inc_comm_rank(o->inc) == a->root;
	size_t bytes = mine ? coll_inc_size(a->stype, a->scount) :
			      coll_inc_size(a->rtype, a->rcount), n;
	size_t at = bytes * (size_t)a->root;
	size_t all = bytes * (size_t)inc_comm_size(o->inc);
	const void *send = NULL;
	enum inc_dtype dtype;
	void *recv = INC_IN_PLACE;

	if (mine) {
		send = coll_inc_send(o, a->sbuf, inc_comm_size(o->inc),
				     a->scount, a->stype);
		if (!send)
			return -ENOMEM;
	}
	if (a->rbuf != MPI_IN_PLACE)
		recv = coll_inc_recv(o, a->rbuf, 1, a->rcount, a->rtype);
	if (!recv)
		return -ENOMEM;
	if (mine && recv == (const char *)send + at)
		recv = INC_IN_PLACE;
	if (mine && recv != INC_IN_PLACE &&
	    coll_inc_apart(o, &send, all, recv, SIZE_MAX, bytes))
		return -ENOMEM;
	dtype = coll_inc_bytes(bytes, &n);
	return inc_iscatter(o->inc, send, recv, n, dtype, a->root, &o->req);
}

static int begin_collective(struct coll_inc_op *o,
			    const struct coll_inc_args *a)
{
	switch (a->coll) {
	case COLL_INC_allgather:
		return begin_allgather(o, a);
	case COLL_INC_alltoall:
		return begin_alltoall(o, a);
	case COLL_INC_barrier:
		return inc_ibarrier(o->inc, &o->req);
	case COLL_INC_bcast:
		return begin_bcast(o, a);
	case COLL_INC_gather:
		return begin_gather(o, a);
	case COLL_INC_allreduce:
	case COLL_INC_reduce:
		return begin_reduce(o, a);
	case COLL_INC_reduce_scatter:
	case COLL_INC_reduce_scatter_block:
		return begin_reduce_scatter(o, a);
	case COLL_INC_scatter:
		return begin_scatter(o, a);
	default:
		return -EINVAL;
	}
}

/*
 * Begin a collective. If an operation can't begin here, the other ranks must
 * not wait for it, nor match it with this rank's next one. So the
 * communicator's trees are ended. Whether it has begun or not, coll_inc_wait()
 * or a request ends it.
 * @o: the operation, all 0 except its module and tree
 */
void coll_inc_begin(struct coll_inc_op *o, const struct coll_inc_args *a)
{
	/* Our progress function may run in another thread. */
	coll_inc_lock();
	o->rc = begin_collective(o, a);
	if (o->rc)
		coll_inc_end(o->m, o->rc);
	coll_inc_unlock();
}

/*
 * Compute the bytes of a rank's data or block. Returns the same on all ranks.
 */
size_t coll_inc_args_size(const struct coll_inc_args *a, int rank, int nranks)
{
	switch (a->coll) {
	case COLL_INC_barrier:
		return 0;
	case COLL_INC_gather:
		if (rank != a->root)
			return coll_inc_size(a->stype, a->scount);
		break;
	case COLL_INC_scatter:
		if (rank == a->root)
			return coll_inc_size(a->stype, a->scount);
		break;
	case COLL_INC_reduce_scatter:
		return coll_inc_size(a->rtype, 1) * sum_counts(a->counts,
							       nranks);
	default:
		break;
	}
	return coll_inc_size(a->rtype, a->rcount);
}

/*
 * Compute the maximum bytes that pass through a rank. Returns the same on all
 * ranks; not more than SIZE_MAX.
 */
size_t coll_inc_args_total(const struct coll_inc_args *a, size_t bytes,
			   int nranks)
{
	size_t total;

	switch (a->coll) {
	case COLL_INC_allreduce:
	case COLL_INC_barrier:
	case COLL_INC_bcast:
	case COLL_INC_reduce:
	case COLL_INC_reduce_scatter:
		return bytes;
	default:
		return __builtin_mul_overflow(bytes, (size_t)nranks, &total) ?
		       SIZE_MAX : total;
	}
}

/*
 * Check whether the switch supports a collective. Returns COLL_INC_GOES, or
 * why not; the same on all ranks.
 */
enum coll_inc_why coll_inc_args_fit(const struct coll_inc_args *a, size_t bytes)
{
	enum inc_dtype dtype;
	enum inc_op iop;

	if (a->op)
		return coll_inc_terms(a->rtype, a->op, &dtype, &iop);
	/* Open MPI's int counts can't pack a longer block. */
	return bytes > INT32_MAX ? COLL_INC_SIZE : COLL_INC_GOES;
}
