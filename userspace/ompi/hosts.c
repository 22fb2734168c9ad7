// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Collectives where hosts have several ranks: combined within each host by Open
 * MPI's own collectives, which use shared memory, between the hosts by the
 * switch. The leader of a host is rank 0 of its communicator.
 */
#include <stdlib.h>
#include <string.h>

#include "coll_inc.h"

#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/mca/pml/pml.h"

static bool is_leader(const coll_inc_module_t *m)
{
	return m->inc;
}

/* What the leaders do among themselves; not on other ranks. */
static int between_hosts(coll_inc_module_t *m, const struct coll_inc_args *a)
{
	struct coll_inc_op o = { .inc = m->inc };

	return coll_inc_wait(&o, coll_inc_begin(m->inc, &o, a));
}

static int local_reduce(coll_inc_module_t *m, const void *sbuf, void *rbuf,
			int count, ompi_datatype_t *type, ompi_op_t *op)
{
	ompi_communicator_t *l = m->local;

	return l->c_coll->coll_reduce(sbuf, rbuf, count, type, op, 0, l,
				      l->c_coll->coll_reduce_module);
}

static int local_bcast(coll_inc_module_t *m, void *buf, int count,
		       ompi_datatype_t *type, int root)
{
	ompi_communicator_t *l = m->local;

	if (ompi_comm_size(l) == 1)
		return OMPI_SUCCESS;
	return l->c_coll->coll_bcast(buf, count, type, root, l,
				     l->c_coll->coll_bcast_module);
}

/*
 * A leader that fails must not leave its host's ranks waiting: they go through
 * the rest, and get the error with it.
 */
static int spread(coll_inc_module_t *m, int ret)
{
	int all = local_bcast(m, &ret, 1, &ompi_mpi_int.dt, 0);

	return all != OMPI_SUCCESS ? all : ret;
}

static int hosts_allreduce(coll_inc_module_t *m, const struct coll_inc_args *a)
{
	struct coll_inc_args between = *a;
	int ret, rc;

	if (a->sbuf == MPI_IN_PLACE && !is_leader(m))
		ret = local_reduce(m, a->rbuf, NULL, a->rcount, a->rtype, a->op);
	else
		ret = local_reduce(m, a->sbuf, a->rbuf, a->rcount, a->rtype,
				   a->op);
	if (is_leader(m)) {
		between.sbuf = MPI_IN_PLACE;
		rc = between_hosts(m, &between);
		ret = ret != OMPI_SUCCESS ? ret : rc;
	}
	ret = spread(m, ret);
	if (ret == OMPI_SUCCESS)
		ret = local_bcast(m, a->rbuf, a->rcount, a->rtype, 0);
	return ret;
}

/* The result is at the leader of the root's host: the root gets it. */
static int hand_over(coll_inc_module_t *m, void *buf, int count,
		     ompi_datatype_t *type, int at)
{
	if (is_leader(m))
		return MCA_PML_CALL(send(buf, (size_t)count, type, at,
					 MCA_COLL_BASE_TAG_REDUCE,
					 MCA_PML_BASE_SEND_STANDARD, m->local));
	if (ompi_comm_rank(m->local) == at)
		return MCA_PML_CALL(recv(buf, (size_t)count, type, 0,
					 MCA_COLL_BASE_TAG_REDUCE, m->local,
					 MPI_STATUS_IGNORE));
	return OMPI_SUCCESS;
}

/* The leader's part of a Reduce; @between->rbuf has room for its host's result. */
static int lead_reduce(coll_inc_module_t *m, const void *sbuf, bool here,
		       struct coll_inc_args *between)
{
	int ret, rc;

	ret = local_reduce(m, sbuf, between->rbuf, between->rcount,
			   between->rtype, between->op);
	between->sbuf = here ? MPI_IN_PLACE : between->rbuf;
	rc = between_hosts(m, between);
	return ret != OMPI_SUCCESS ? ret : rc;
}

static int hosts_reduce(coll_inc_module_t *m, const struct coll_inc_args *a,
			int rank)
{
	bool here = m->host_of[a->root] == m->host_of[rank];
	struct coll_inc_args between = *a;
	char *tmp = NULL;
	ptrdiff_t gap;
	int ret;

	between.root = m->host_of[a->root];
	if (is_leader(m)) {
		if (rank != a->root) {
			/* It has no room for the result of its own. */
			tmp = malloc((size_t)opal_datatype_span(&a->rtype->super,
								a->rcount, &gap) +
				     1);
			if (!tmp)
				return OMPI_ERR_OUT_OF_RESOURCE;
			between.rbuf = tmp;
		}
		ret = lead_reduce(m, a->sbuf, here, &between);
	} else {
		ret = local_reduce(m, a->sbuf == MPI_IN_PLACE ? a->rbuf : a->sbuf,
				   NULL, a->rcount, a->rtype, a->op);
	}
	ret = spread(m, ret);
	if (ret == OMPI_SUCCESS && here && m->at[a->root])
		ret = hand_over(m, between.rbuf, a->rcount, a->rtype,
				m->at[a->root]);
	free(tmp);
	return ret;
}

static int hosts_bcast(coll_inc_module_t *m, const struct coll_inc_args *a,
		       int rank)
{
	bool here = m->host_of[a->root] == m->host_of[rank];
	struct coll_inc_args between = *a;
	int ret = OMPI_SUCCESS, rc;

	if (here)
		ret = local_bcast(m, a->rbuf, a->rcount, a->rtype,
				  m->at[a->root]);
	if (is_leader(m)) {
		between.root = m->host_of[a->root];
		rc = between_hosts(m, &between);
		ret = ret != OMPI_SUCCESS ? ret : rc;
	}
	ret = spread(m, ret);
	if (ret == OMPI_SUCCESS && !here)
		ret = local_bcast(m, a->rbuf, a->rcount, a->rtype, 0);
	return ret;
}

static int hosts_barrier(coll_inc_module_t *m, const struct coll_inc_args *a)
{
	ompi_communicator_t *l = m->local;
	int ret, rc;

	ret = l->c_coll->coll_barrier(l, l->c_coll->coll_barrier_module);
	if (is_leader(m)) {
		rc = between_hosts(m, a);
		ret = ret != OMPI_SUCCESS ? ret : rc;
	}
	return spread(m, ret);
}

/**
 * coll_inc_hosts() - a blocking collective where hosts have several ranks
 * @m: module
 * @a: Allreduce, Reduce, Bcast or Barrier
 * @rank: caller's rank in the communicator
 *
 * Return: OMPI_SUCCESS or an error.
 */
int coll_inc_hosts(coll_inc_module_t *m, const struct coll_inc_args *a, int rank)
{
	switch (a->coll) {
	case COLL_INC_allreduce:
		return hosts_allreduce(m, a);
	case COLL_INC_reduce:
		return hosts_reduce(m, a, rank);
	case COLL_INC_bcast:
		return hosts_bcast(m, a, rank);
	case COLL_INC_barrier:
		return hosts_barrier(m, a);
	default:
		return OMPI_ERR_NOT_SUPPORTED;
	}
}
