// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Entry points for Open MPI: each collective in three variants, blocking,
 * non-blocking and persistent. An operation either falls through or begins, and
 * is then waited for or turned into a request; or it is queued.
 */
#include "coll_inc.h"

static int run_blocking(coll_inc_module_t *m, ompi_communicator_t *comm,
			const struct coll_inc_args *a)
{
	struct coll_inc_op o = { .m = m, .inc = m->inc };
	int ret;

	if (m->err)
		return m->failed = m->err;
	if (m->local) {
		ret = coll_inc_hosts(m, a, ompi_comm_rank(comm));
	} else {
		coll_inc_begin(&o, a);
		ret = coll_inc_wait(&o);
	}
	if (ret != OMPI_SUCCESS)
		m->failed = coll_inc_explain(m, ret);
	return ret == OMPI_SUCCESS ? OMPI_SUCCESS : m->failed;
}

static int run_nonblocking(coll_inc_module_t *m, ompi_communicator_t *comm,
			   const struct coll_inc_args *a,
			   ompi_request_t **request)
{
	struct coll_inc_op o = { .m = m, .inc = m->inc };

	if (m->err)
		return m->err;
	coll_inc_begin(&o, a);
	return coll_inc_request(comm, &o, request);
}

/* Run a non-blocking operation after the first meeting in the background. */
static int in_order(coll_inc_module_t *m, ompi_communicator_t *comm,
		    enum coll_inc_fn fn, const struct coll_inc_args *a,
		    ompi_request_t **request)
{
	int32_t tag = coll_inc_tags(comm);
	enum coll_inc_why why;

	m->tag = tag;
	why = coll_inc_decide(m, comm, fn, a);
	if (why == COLL_INC_LATER)
		return coll_inc_request_later(m, comm, fn, a, request);
	if (why && coll_inc_keeps_order(m, comm, a))
		return coll_inc_request_ranked(comm, tag, a, request);
	if (why)
		return coll_inc_below(m, comm, a, tag, request);
	return run_nonblocking(m, comm, a, request);
}

/*
 * PARAMS and ARGS are in parentheses, with a comma at the end. Members of
 * struct coll_inc_args follow them.
 */
#define LIST(...) __VA_ARGS__
#define ENTRIES(name, params, args, ...)				\
static int name(LIST params ompi_communicator_t *comm,			\
		mca_coll_base_module_t *module)				\
{									\
	const struct coll_inc_args a = {				\
		.coll = COLL_INC_##name, __VA_ARGS__ };			\
	coll_inc_module_t *m = (coll_inc_module_t *)module;		\
									\
	if (coll_inc_decide(m, comm, COLL_INC_##name, &a))		\
		return coll_inc_keeps_order(m, comm, &a) ?		\
		       coll_inc_ranked(comm, &a) :			\
		       m->below.name(LIST args comm,			\
				     m->below.name##_module);		\
	return run_blocking(m, comm, &a);				\
}									\
									\
static int i##name(LIST params ompi_communicator_t *comm,		\
		   ompi_request_t **request,				\
		   mca_coll_base_module_t *module)			\
{									\
	const struct coll_inc_args a = {				\
		.coll = COLL_INC_##name, __VA_ARGS__ };			\
	coll_inc_module_t *m = (coll_inc_module_t *)module;		\
	enum coll_inc_why why;						\
									\
	if (m->tagged && coll_inc_suits(comm, COLL_INC_i##name, &a))	\
		return in_order(m, comm, COLL_INC_i##name, &a, request); \
	why = coll_inc_decide(m, comm, COLL_INC_i##name, &a);		\
	if (why == COLL_INC_LATER)					\
		return coll_inc_request_later(m, comm,			\
					      COLL_INC_i##name, &a,	\
					      request);			\
	if (why && coll_inc_keeps_order(m, comm, &a))			\
		return coll_inc_request_ranked(comm, coll_inc_tags(comm), \
					       &a, request);		\
	if (why)							\
		return m->below.i##name(LIST args comm, request,	\
					m->below.i##name##_module);	\
	return run_nonblocking(m, comm, &a, request);			\
}									\
									\
static int name##_init(LIST params ompi_communicator_t *comm,		\
		       ompi_info_t *info, ompi_request_t **request,	\
		       mca_coll_base_module_t *module)			\
{									\
	const struct coll_inc_args a = {				\
		.coll = COLL_INC_##name, __VA_ARGS__ };			\
	coll_inc_module_t *m = (coll_inc_module_t *)module;		\
	int lane;							\
									\
	if (coll_inc_decide_apart(m, comm, COLL_INC_##name##_init, &a, &lane)) { \
		if (coll_inc_keeps_order(m, comm, &a))			\
			return coll_inc_persistent(m, comm, COLL_INC_NO_LANE, \
						   &a, request);	\
		return m->below.name##_init(LIST args comm, info,	\
					    request,			\
					    m->below.name##_init_module); \
	}								\
	if (m->err)							\
		return m->err;						\
	return coll_inc_persistent(m, comm, lane, &a, request);		\
}

ENTRIES(allgather,
	(const void *sbuf, int scount, ompi_datatype_t *stype, void *rbuf,
	 int rcount, ompi_datatype_t *rtype,),
	(sbuf, scount, stype, rbuf, rcount, rtype,),
	.sbuf = sbuf, .scount = scount, .stype = stype,
	.rbuf = rbuf, .rcount = rcount, .rtype = rtype)

ENTRIES(allreduce,
	(const void *sbuf, void *rbuf, int count, ompi_datatype_t *type,
	 ompi_op_t *op,),
	(sbuf, rbuf, count, type, op,),
	.sbuf = sbuf, .rbuf = rbuf, .rcount = count, .rtype = type, .op = op)

ENTRIES(alltoall,
	(const void *sbuf, int scount, ompi_datatype_t *stype, void *rbuf,
	 int rcount, ompi_datatype_t *rtype,),
	(sbuf, scount, stype, rbuf, rcount, rtype,),
	.sbuf = sbuf, .scount = scount, .stype = stype,
	.rbuf = rbuf, .rcount = rcount, .rtype = rtype)

ENTRIES(barrier, (), (), .root = 0)

ENTRIES(bcast,
	(void *buf, int count, ompi_datatype_t *type, int root,),
	(buf, count, type, root,),
	.rbuf = buf, .rcount = count, .rtype = type, .root = root)

ENTRIES(gather,
	(const void *sbuf, int scount, ompi_datatype_t *stype, void *rbuf,
	 int rcount, ompi_datatype_t *rtype, int root,),
	(sbuf, scount, stype, rbuf, rcount, rtype, root,),
	.sbuf = sbuf, .scount = scount, .stype = stype,
	.rbuf = rbuf, .rcount = rcount, .rtype = rtype, .root = root)

ENTRIES(reduce,
	(const void *sbuf, void *rbuf, int count, ompi_datatype_t *type,
	 ompi_op_t *op, int root,),
	(sbuf, rbuf, count, type, op, root,),
	.sbuf = sbuf, .rbuf = rbuf, .rcount = count, .rtype = type, .op = op,
	.root = root)

ENTRIES(reduce_scatter,
	(const void *sbuf, void *rbuf, const int *counts, ompi_datatype_t *type,
	 ompi_op_t *op,),
	(sbuf, rbuf, counts, type, op,),
	.sbuf = sbuf, .rbuf = rbuf, .counts = counts, .rtype = type, .op = op)

ENTRIES(reduce_scatter_block,
	(const void *sbuf, void *rbuf, int count, ompi_datatype_t *type,
	 ompi_op_t *op,),
	(sbuf, rbuf, count, type, op,),
	.sbuf = sbuf, .rbuf = rbuf, .rcount = count, .rtype = type, .op = op)

ENTRIES(scatter,
	(const void *sbuf, int scount, ompi_datatype_t *stype, void *rbuf,
	 int rcount, ompi_datatype_t *rtype, int root,),
	(sbuf, scount, stype, rbuf, rcount, rtype, root,),
	.sbuf = sbuf, .scount = scount, .stype = stype,
	.rbuf = rbuf, .rcount = rcount, .rtype = rtype, .root = root)

/*
 * Fall through, and return the error of a nested Bcast: Open MPI implements a
 * short Allgatherv by Gatherv and Bcast, whose error it ignores. Returns
 * OMPI_SUCCESS or an error.
 */
int coll_inc_allgatherv(const void *sbuf, int scount, ompi_datatype_t *stype,
			void *rbuf, const int *rcounts, const int *disps,
			ompi_datatype_t *rtype, ompi_communicator_t *comm,
			mca_coll_base_module_t *module)
{
	coll_inc_module_t *m = (coll_inc_module_t *)module;
	int ret;

	m->failed = OMPI_SUCCESS;
	ret = m->below.allgatherv(sbuf, scount, stype, rbuf, rcounts, disps,
				  rtype, comm, m->below.allgatherv_module);
	return ret == OMPI_SUCCESS ? m->failed : ret;
}

#define X(name)								\
	const mca_coll_base_module_##name##_fn_t coll_inc_##name##_fn = name;
COLL_INC_ALL(X)
#undef X
