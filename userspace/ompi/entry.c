// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What Open MPI calls. Each function decides where the operation goes, and
 * falls through, or begins it and waits or makes a request of it.
 */
#include "coll_inc.h"

#define FALL(m, fn, ...) (m)->below.fn(__VA_ARGS__, (m)->below.fn##_module)

static enum coll_inc_why reducible(const ompi_datatype_t *type, ompi_op_t *op)
{
	enum inc_dtype dtype;
	enum inc_op iop;

	return coll_inc_terms(type, op, &dtype, &iop) ? COLL_INC_GOES
						      : COLL_INC_TYPE;
}

/* A block that is packed by Open MPI's int counts can't be longer. */
static enum coll_inc_why packable(size_t bytes)
{
	return bytes > INT32_MAX ? COLL_INC_SIZE : COLL_INC_GOES;
}

/* Do all ranks get the same part? */
static bool even(const int *counts, int n)
{
	int i;

	for (i = 1; i < n; i++)
		if (counts[i] != counts[0])
			return false;
	return true;
}

static int allgather(const void *sbuf, int scount, ompi_datatype_t *stype,
		     void *rbuf, int rcount, ompi_datatype_t *rtype,
		     ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
	coll_inc_module_t *m = (coll_inc_module_t *)module;
	struct coll_inc_op o = {NULL};
	size_t bytes = coll_inc_size(rtype, rcount);

	if (coll_inc_goes(m, comm, COLL_INC_allgather, bytes, packable(bytes)))
		return FALL(m, allgather, sbuf, scount, stype, rbuf, rcount,
			    rtype, comm);
	return coll_inc_wait(m, &o,
			     coll_inc_begin_allgather(m, &o, sbuf, scount,
						      stype, rbuf, rcount,
						      rtype));
}

static int iallgather(const void *sbuf, int scount, ompi_datatype_t *stype,
		      void *rbuf, int rcount, ompi_datatype_t *rtype,
		      ompi_communicator_t *comm, ompi_request_t **request,
		      mca_coll_base_module_t *module)
{
	coll_inc_module_t *m = (coll_inc_module_t *)module;
	struct coll_inc_op o = {NULL};
	size_t bytes = coll_inc_size(rtype, rcount);

	if (coll_inc_goes(m, comm, COLL_INC_iallgather, bytes, packable(bytes)))
		return FALL(m, iallgather, sbuf, scount, stype, rbuf, rcount,
			    rtype, comm, request);
	return coll_inc_request(m, comm, &o,
				coll_inc_begin_allgather(m, &o, sbuf, scount,
							 stype, rbuf, rcount,
							 rtype),
				request);
}

static int allreduce(const void *sbuf, void *rbuf, int count,
		     ompi_datatype_t *type, ompi_op_t *op,
		     ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
	coll_inc_module_t *m = (coll_inc_module_t *)module;
	struct coll_inc_op o = {NULL};
	size_t bytes = coll_inc_size(type, count);

	if (coll_inc_goes(m, comm, COLL_INC_allreduce, bytes,
			  reducible(type, op)))
		return FALL(m, allreduce, sbuf, rbuf, count, type, op, comm);
	if (m->local)
		return coll_inc_hosts_allreduce(m, sbuf, rbuf, count, type, op);
	return coll_inc_wait(
		m, &o,
		coll_inc_begin_allreduce(m, &o, sbuf, rbuf, count, type, op));
}

static int iallreduce(const void *sbuf, void *rbuf, int count,
		      ompi_datatype_t *type, ompi_op_t *op,
		      ompi_communicator_t *comm, ompi_request_t **request,
		      mca_coll_base_module_t *module)
{
	coll_inc_module_t *m = (coll_inc_module_t *)module;
	struct coll_inc_op o = {NULL};
	size_t bytes = coll_inc_size(type, count);

	if (coll_inc_goes(m, comm, COLL_INC_iallreduce, bytes,
			  reducible(type, op)))
		return FALL(m, iallreduce, sbuf, rbuf, count, type, op, comm,
			    request);
	return coll_inc_request(
		m, comm, &o,
		coll_inc_begin_allreduce(m, &o, sbuf, rbuf, count, type, op),
		request);
}

static int alltoall(const void *sbuf, int scount, ompi_datatype_t *stype,
		    void *rbuf, int rcount, ompi_datatype_t *rtype,
		    ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
	coll_inc_module_t *m = (coll_inc_module_t *)module;
	struct coll_inc_op o = {NULL};
	size_t bytes = coll_inc_size(rtype, rcount);

	if (coll_inc_goes(m, comm, COLL_INC_alltoall, bytes, packable(bytes)))
		return FALL(m, alltoall, sbuf, scount, stype, rbuf, rcount,
			    rtype, comm);
	return coll_inc_wait(m, &o,
			     coll_inc_begin_alltoall(m, &o, sbuf, scount, stype,
						     rbuf, rcount, rtype));
}

static int ialltoall(const void *sbuf, int scount, ompi_datatype_t *stype,
		     void *rbuf, int rcount, ompi_datatype_t *rtype,
		     ompi_communicator_t *comm, ompi_request_t **request,
		     mca_coll_base_module_t *module)
{
	coll_inc_module_t *m = (coll_inc_module_t *)module;
	struct coll_inc_op o = {NULL};
	size_t bytes = coll_inc_size(rtype, rcount);

	if (coll_inc_goes(m, comm, COLL_INC_ialltoall, bytes, packable(bytes)))
		return FALL(m, ialltoall, sbuf, scount, stype, rbuf, rcount,
			    rtype, comm, request);
	return coll_inc_request(m, comm, &o,
				coll_inc_begin_alltoall(m, &o, sbuf, scount,
							stype, rbuf, rcount,
							rtype),
				request);
}

static int barrier(ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
	coll_inc_module_t *m = (coll_inc_module_t *)module;
	struct coll_inc_op o = {NULL};

	if (coll_inc_goes(m, comm, COLL_INC_barrier, 0, COLL_INC_GOES))
		return FALL(m, barrier, comm);
	if (m->local)
		return coll_inc_hosts_barrier(m);
	return coll_inc_wait(m, &o, coll_inc_begin_barrier(m, &o));
}

static int ibarrier(ompi_communicator_t *comm, ompi_request_t **request,
		    mca_coll_base_module_t *module)
{
	coll_inc_module_t *m = (coll_inc_module_t *)module;
	struct coll_inc_op o = {NULL};

	if (coll_inc_goes(m, comm, COLL_INC_ibarrier, 0, COLL_INC_GOES))
		return FALL(m, ibarrier, comm, request);
	return coll_inc_request(m, comm, &o, coll_inc_begin_barrier(m, &o),
				request);
}

static int bcast(void *buf, int count, ompi_datatype_t *type, int root,
		 ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
	coll_inc_module_t *m = (coll_inc_module_t *)module;
	struct coll_inc_op o = {NULL};
	size_t bytes = coll_inc_size(type, count);

	if (coll_inc_goes(m, comm, COLL_INC_bcast, bytes, packable(bytes)))
		return FALL(m, bcast, buf, count, type, root, comm);
	if (m->local)
		return coll_inc_hosts_bcast(m, buf, count, type, root,
					    ompi_comm_rank(comm));
	return coll_inc_wait(
		m, &o, coll_inc_begin_bcast(m, &o, buf, count, type, root));
}

static int ibcast(void *buf, int count, ompi_datatype_t *type, int root,
		  ompi_communicator_t *comm, ompi_request_t **request,
		  mca_coll_base_module_t *module)
{
	coll_inc_module_t *m = (coll_inc_module_t *)module;
	struct coll_inc_op o = {NULL};
	size_t bytes = coll_inc_size(type, count);

	if (coll_inc_goes(m, comm, COLL_INC_ibcast, bytes, packable(bytes)))
		return FALL(m, ibcast, buf, count, type, root, comm, request);
	return coll_inc_request(
		m, comm, &o,
		coll_inc_begin_bcast(m, &o, buf, count, type, root), request);
}

static int gather(const void *sbuf, int scount, ompi_datatype_t *stype,
		  void *rbuf, int rcount, ompi_datatype_t *rtype, int root,
		  ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
	coll_inc_module_t *m = (coll_inc_module_t *)module;
	struct coll_inc_op o = {NULL};
	size_t bytes = ompi_comm_rank(comm) == root
			       ? coll_inc_size(rtype, rcount)
			       : coll_inc_size(stype, scount);

	if (coll_inc_goes(m, comm, COLL_INC_gather, bytes, packable(bytes)))
		return FALL(m, gather, sbuf, scount, stype, rbuf, rcount, rtype,
			    root, comm);
	return coll_inc_wait(m, &o,
			     coll_inc_begin_gather(m, &o, sbuf, scount, stype,
						   rbuf, rcount, rtype, root));
}

static int igather(const void *sbuf, int scount, ompi_datatype_t *stype,
		   void *rbuf, int rcount, ompi_datatype_t *rtype, int root,
		   ompi_communicator_t *comm, ompi_request_t **request,
		   mca_coll_base_module_t *module)
{
	coll_inc_module_t *m = (coll_inc_module_t *)module;
	struct coll_inc_op o = {NULL};
	size_t bytes = ompi_comm_rank(comm) == root
			       ? coll_inc_size(rtype, rcount)
			       : coll_inc_size(stype, scount);

	if (coll_inc_goes(m, comm, COLL_INC_igather, bytes, packable(bytes)))
		return FALL(m, igather, sbuf, scount, stype, rbuf, rcount,
			    rtype, root, comm, request);
	return coll_inc_request(m, comm, &o,
				coll_inc_begin_gather(m, &o, sbuf, scount,
						      stype, rbuf, rcount,
						      rtype, root),
				request);
}

static int reduce(const void *sbuf, void *rbuf, int count,
		  ompi_datatype_t *type, ompi_op_t *op, int root,
		  ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
	coll_inc_module_t *m = (coll_inc_module_t *)module;
	struct coll_inc_op o = {NULL};
	size_t bytes = coll_inc_size(type, count);

	if (coll_inc_goes(m, comm, COLL_INC_reduce, bytes, reducible(type, op)))
		return FALL(m, reduce, sbuf, rbuf, count, type, op, root, comm);
	if (m->local)
		return coll_inc_hosts_reduce(m, sbuf, rbuf, count, type, op,
					     root, ompi_comm_rank(comm));
	return coll_inc_wait(m, &o,
			     coll_inc_begin_reduce(m, &o, sbuf, rbuf, count,
						   type, op, root));
}

static int ireduce(const void *sbuf, void *rbuf, int count,
		   ompi_datatype_t *type, ompi_op_t *op, int root,
		   ompi_communicator_t *comm, ompi_request_t **request,
		   mca_coll_base_module_t *module)
{
	coll_inc_module_t *m = (coll_inc_module_t *)module;
	struct coll_inc_op o = {NULL};
	size_t bytes = coll_inc_size(type, count);

	if (coll_inc_goes(m, comm, COLL_INC_ireduce, bytes,
			  reducible(type, op)))
		return FALL(m, ireduce, sbuf, rbuf, count, type, op, root, comm,
			    request);
	return coll_inc_request(
		m, comm, &o,
		coll_inc_begin_reduce(m, &o, sbuf, rbuf, count, type, op, root),
		request);
}

static int reduce_scatter(const void *sbuf, void *rbuf, const int *counts,
			  ompi_datatype_t *type, ompi_op_t *op,
			  ompi_communicator_t *comm,
			  mca_coll_base_module_t *module)
{
	coll_inc_module_t *m = (coll_inc_module_t *)module;
	struct coll_inc_op o = {NULL};
	size_t bytes = coll_inc_size(type, counts[0]);

	if (coll_inc_goes(m, comm, COLL_INC_reduce_scatter, bytes,
			  even(counts, ompi_comm_size(comm))
				  ? reducible(type, op)
				  : COLL_INC_SIZE))
		return FALL(m, reduce_scatter, sbuf, rbuf, counts, type, op,
			    comm);
	return coll_inc_wait(m, &o,
			     coll_inc_begin_reduce_scatter(
				     m, &o, sbuf, rbuf, counts[0], type, op));
}

static int ireduce_scatter(const void *sbuf, void *rbuf, const int *counts,
			   ompi_datatype_t *type, ompi_op_t *op,
			   ompi_communicator_t *comm, ompi_request_t **request,
			   mca_coll_base_module_t *module)
{
	coll_inc_module_t *m = (coll_inc_module_t *)module;
	struct coll_inc_op o = {NULL};
	size_t bytes = coll_inc_size(type, counts[0]);

	if (coll_inc_goes(m, comm, COLL_INC_ireduce_scatter, bytes,
			  even(counts, ompi_comm_size(comm))
				  ? reducible(type, op)
				  : COLL_INC_SIZE))
		return FALL(m, ireduce_scatter, sbuf, rbuf, counts, type, op,
			    comm, request);
	return coll_inc_request(m, comm, &o,
				coll_inc_begin_reduce_scatter(
					m, &o, sbuf, rbuf, counts[0], type, op),
				request);
}

static int reduce_scatter_block(const void *sbuf, void *rbuf, int count,
				ompi_datatype_t *type, ompi_op_t *op,
				ompi_communicator_t *comm,
				mca_coll_base_module_t *module)
{
	coll_inc_module_t *m = (coll_inc_module_t *)module;
	struct coll_inc_op o = {NULL};
	size_t bytes = coll_inc_size(type, count);

	if (coll_inc_goes(m, comm, COLL_INC_reduce_scatter_block, bytes,
			  reducible(type, op)))
		return FALL(m, reduce_scatter_block, sbuf, rbuf, count, type,
			    op, comm);
	return coll_inc_wait(m, &o,
			     coll_inc_begin_reduce_scatter(m, &o, sbuf, rbuf,
							   count, type, op));
}

static int ireduce_scatter_block(const void *sbuf, void *rbuf, int count,
				 ompi_datatype_t *type, ompi_op_t *op,
				 ompi_communicator_t *comm,
				 ompi_request_t **request,
				 mca_coll_base_module_t *module)
{
	coll_inc_module_t *m = (coll_inc_module_t *)module;
	struct coll_inc_op o = {NULL};
	size_t bytes = coll_inc_size(type, count);

	if (coll_inc_goes(m, comm, COLL_INC_ireduce_scatter_block, bytes,
			  reducible(type, op)))
		return FALL(m, ireduce_scatter_block, sbuf, rbuf, count, type,
			    op, comm, request);
	return coll_inc_request(m, comm, &o,
				coll_inc_begin_reduce_scatter(m, &o, sbuf, rbuf,
							      count, type, op),
				request);
}

static int scatter(const void *sbuf, int scount, ompi_datatype_t *stype,
		   void *rbuf, int rcount, ompi_datatype_t *rtype, int root,
		   ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
	coll_inc_module_t *m = (coll_inc_module_t *)module;
	struct coll_inc_op o = {NULL};
	size_t bytes = ompi_comm_rank(comm) == root
			       ? coll_inc_size(stype, scount)
			       : coll_inc_size(rtype, rcount);

	if (coll_inc_goes(m, comm, COLL_INC_scatter, bytes, packable(bytes)))
		return FALL(m, scatter, sbuf, scount, stype, rbuf, rcount,
			    rtype, root, comm);
	return coll_inc_wait(m, &o,
			     coll_inc_begin_scatter(m, &o, sbuf, scount, stype,
						    rbuf, rcount, rtype, root));
}

static int iscatter(const void *sbuf, int scount, ompi_datatype_t *stype,
		    void *rbuf, int rcount, ompi_datatype_t *rtype, int root,
		    ompi_communicator_t *comm, ompi_request_t **request,
		    mca_coll_base_module_t *module)
{
	coll_inc_module_t *m = (coll_inc_module_t *)module;
	struct coll_inc_op o = {NULL};
	size_t bytes = ompi_comm_rank(comm) == root
			       ? coll_inc_size(stype, scount)
			       : coll_inc_size(rtype, rcount);

	if (coll_inc_goes(m, comm, COLL_INC_iscatter, bytes, packable(bytes)))
		return FALL(m, iscatter, sbuf, scount, stype, rbuf, rcount,
			    rtype, root, comm, request);
	return coll_inc_request(m, comm, &o,
				coll_inc_begin_scatter(m, &o, sbuf, scount,
						       stype, rbuf, rcount,
						       rtype, root),
				request);
}

#define X(name)                                                                \
	const mca_coll_base_module_##name##_fn_t coll_inc_##name##_fn = name;
COLL_INC_ALL(X)
#undef X
