// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Entry points for Open MPI: each collective in three variants, blocking,
 * non-blocking and persistent. An operation either falls through or begins, and
 * is then waited for or turned into a request.
 */
#include "coll_inc.h"

static int run(coll_inc_module_t *m, ompi_communicator_t *comm,
	       const struct coll_inc_args *a)
{
	struct coll_inc_op o = { .m = m, .inc = m->inc };

	if (m->err)
		return m->err;
	if (m->local)
		return coll_inc_hosts(m, a, ompi_comm_rank(comm));
	return coll_inc_wait(&o, coll_inc_begin(&o, a));
}

static int irun(coll_inc_module_t *m, ompi_communicator_t *comm,
		const struct coll_inc_args *a, ompi_request_t **request)
{
	struct coll_inc_op o = { .m = m, .inc = m->inc };

	if (m->err)
		return m->err;
	return coll_inc_request(comm, &o, coll_inc_begin(&o, a), request);
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
	if (coll_inc_goes(m, comm, COLL_INC_##name, &a))		\
		return m->below.name(LIST args comm,			\
				     m->below.name##_module);		\
	return run(m, comm, &a);					\
}									\
									\
static int i##name(LIST params ompi_communicator_t *comm,		\
		   ompi_request_t **request,				\
		   mca_coll_base_module_t *module)			\
{									\
	const struct coll_inc_args a = {				\
		.coll = COLL_INC_##name, __VA_ARGS__ };			\
	coll_inc_module_t *m = (coll_inc_module_t *)module;		\
									\
	if (coll_inc_goes(m, comm, COLL_INC_i##name, &a))		\
		return m->below.i##name(LIST args comm, request,	\
					m->below.i##name##_module);	\
	return irun(m, comm, &a, request);				\
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
	if (coll_inc_goes_apart(m, comm, COLL_INC_##name##_init, &a, &lane)) \
		return m->below.name##_init(LIST args comm, info,	\
					    request,			\
					    m->below.name##_init_module); \
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

#define X(name)								\
	const mca_coll_base_module_##name##_fn_t coll_inc_##name##_fn = name;
COLL_INC_ALL(X)
#undef X
