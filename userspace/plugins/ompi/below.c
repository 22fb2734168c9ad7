// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Non-blocking operations that fall through, and their tags.
 *
 * Open MPI's own non-blocking collectives match by tags that are taken in the
 * order of calls. An operation that goes there late would get another tag than
 * on a rank where it goes at once. So from the first meeting on, each suitable
 * non-blocking operation takes its tags when it is called, whether they are
 * used or not: for the two operations of a meeting, and for itself.
 *
 * The tags are in the communicator, and are put in place for the call below. No
 * other thread may be in MPI then.
 */
#include "coll_inc.h"

#include "ompi/mca/coll/base/coll_base_util.h"

/*
 * Have the next non-blocking operation below use a tag. Returns the argument
 * for coll_inc_tag_done().
 */
int32_t coll_inc_tag_use(ompi_communicator_t *comm, int32_t tag)
{
	int32_t next = comm->c_nbc_tag;

	comm->c_nbc_tag = tag;
	return next;
}

/* Undo coll_inc_tag_use(): tags follow the order of calls again. */
void coll_inc_tag_done(ompi_communicator_t *comm, int32_t next)
{
	comm->c_nbc_tag = next;
}

/*
 * Reserve the tags of an operation. Returns the first of COLL_INC_TAGS, which
 * count down.
 */
int32_t coll_inc_tags(ompi_communicator_t *comm)
{
	return ompi_coll_base_nbc_reserve_tags(comm, COLL_INC_TAGS);
}

/* The functions below, with the arguments of a queued operation. */
#define BELOW(name, ...)						\
static int below_##name(coll_inc_module_t *m, const struct coll_inc_args *a, \
			ompi_communicator_t *comm, ompi_request_t **request) \
{									\
	return m->below.i##name(__VA_ARGS__ comm, request,		\
				m->below.i##name##_module);		\
}
#define BLOCKS	a->sbuf, a->scount, a->stype, a->rbuf, a->rcount, a->rtype,

BELOW(allgather, BLOCKS)
BELOW(allreduce, a->sbuf, a->rbuf, a->rcount, a->rtype, a->op,)
BELOW(alltoall, BLOCKS)
BELOW(barrier)
BELOW(bcast, a->rbuf, a->rcount, a->rtype, a->root,)
BELOW(gather, BLOCKS a->root,)
BELOW(reduce, a->sbuf, a->rbuf, a->rcount, a->rtype, a->op, a->root,)
BELOW(reduce_scatter, a->sbuf, a->rbuf, a->counts, a->rtype, a->op,)
BELOW(reduce_scatter_block, a->sbuf, a->rbuf, a->rcount, a->rtype, a->op,)
BELOW(scatter, BLOCKS a->root,)

/*
 * Start a non-blocking operation below, with its own tags. Returns
 * OMPI_SUCCESS or an error.
 */
int coll_inc_below(struct coll_inc_module *m, ompi_communicator_t *comm,
		   const struct coll_inc_args *a, int32_t tag,
		   ompi_request_t **request)
{
	int32_t next = coll_inc_tag_use(comm, tag - (COLL_INC_TAGS - 1));
	int ret = OMPI_ERR_NOT_SUPPORTED;

	switch (a->coll) {
#define X(name)								\
	case COLL_INC_##name:						\
		ret = below_##name(m, a, comm, request);		\
		break;
	COLL_INC_NAMES(X)
#undef X
	default:
		break;
	}
	coll_inc_tag_done(comm, next);
	return ret;
}
