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

int coll_inc_hosts_allreduce(coll_inc_module_t *m, const void *sbuf, void *rbuf,
			     int count, ompi_datatype_t *type, ompi_op_t *op)
{
	struct coll_inc_op o = {NULL};
	int ret, rc;

	if (sbuf == MPI_IN_PLACE && !is_leader(m))
		ret = local_reduce(m, rbuf, NULL, count, type, op);
	else
		ret = local_reduce(m, sbuf, rbuf, count, type, op);
	if (is_leader(m)) {
		rc = coll_inc_begin_allreduce(m, &o, MPI_IN_PLACE, rbuf, count,
					      type, op);
		rc = coll_inc_wait(m, &o, rc);
		ret = ret != OMPI_SUCCESS ? ret : rc;
	}
	ret = spread(m, ret);
	if (ret == OMPI_SUCCESS)
		ret = local_bcast(m, rbuf, count, type, 0);
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

int coll_inc_hosts_reduce(coll_inc_module_t *m, const void *sbuf, void *rbuf,
			  int count, ompi_datatype_t *type, ompi_op_t *op,
			  int root, int rank)
{
	bool here = m->host_of[root] == m->host_of[rank];
	struct coll_inc_op o = {NULL};
	char *tmp = NULL;
	ptrdiff_t gap;
	int ret, rc;

	if (is_leader(m)) {
		if (rank != root) {
			/* It has no room for the result of its own. */
			tmp = malloc((size_t)opal_datatype_span(&type->super,
								count, &gap) +
				     1);
			if (!tmp)
				return OMPI_ERR_OUT_OF_RESOURCE;
			rbuf = tmp;
		}
		ret = local_reduce(m, sbuf, rbuf, count, type, op);
		rc = coll_inc_begin_reduce(m, &o, here ? MPI_IN_PLACE : rbuf,
					   rbuf, count, type, op,
					   m->host_of[root]);
		rc = coll_inc_wait(m, &o, rc);
		ret = ret != OMPI_SUCCESS ? ret : rc;
	} else {
		ret = local_reduce(m, sbuf == MPI_IN_PLACE ? rbuf : sbuf, NULL,
				   count, type, op);
	}
	ret = spread(m, ret);
	if (ret == OMPI_SUCCESS && here && m->at[root])
		ret = hand_over(m, rbuf, count, type, m->at[root]);
	free(tmp);
	return ret;
}

int coll_inc_hosts_bcast(coll_inc_module_t *m, void *buf, int count,
			 ompi_datatype_t *type, int root, int rank)
{
	bool here = m->host_of[root] == m->host_of[rank];
	struct coll_inc_op o = {NULL};
	int ret = OMPI_SUCCESS, rc;

	if (here)
		ret = local_bcast(m, buf, count, type, m->at[root]);
	if (is_leader(m)) {
		rc = coll_inc_begin_bcast(m, &o, buf, count, type,
					  m->host_of[root]);
		rc = coll_inc_wait(m, &o, rc);
		ret = ret != OMPI_SUCCESS ? ret : rc;
	}
	ret = spread(m, ret);
	if (ret == OMPI_SUCCESS && !here)
		ret = local_bcast(m, buf, count, type, 0);
	return ret;
}

int coll_inc_hosts_barrier(coll_inc_module_t *m)
{
	ompi_communicator_t *l = m->local;
	struct coll_inc_op o = {NULL};
	int ret, rc;

	ret = l->c_coll->coll_barrier(l, l->c_coll->coll_barrier_module);
	if (is_leader(m)) {
		rc = coll_inc_begin_barrier(m, &o);
		rc = coll_inc_wait(m, &o, rc);
		ret = ret != OMPI_SUCCESS ? ret : rc;
	}
	return spread(m, ret);
}
