// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Collectives where hosts have several ranks: combined within each host by Open
 * MPI's own collectives, which use shared memory, between the hosts by the
 * switch. The leader of a host is rank 0 of its communicator.
 *
 * If a rank's part fails, the other ranks of the host must not wait forever,
 * nor may the leader pass on a wrong result. So all ranks of a host go through
 * the same steps, and exchange their status in between. A leader without a
 * result to pass on ends the tree, which notifies the other hosts.
 */
#include <errno.h>
#include <stdlib.h>

#include "coll_inc.h"

#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/mca/pml/pml.h"

/* Tag that no collective uses on a host's communicator, which is our own. */
#define TAG	MCA_COLL_BASE_TAG_GATHERV

static bool is_leader(const coll_inc_module_t *m)
{
	return m->inc;
}

static int leave_tree(coll_inc_module_t *m, int ret)
{
	coll_inc_lock();
	coll_inc_end(m, -EIO);
	coll_inc_unlock();
	return ret;
}

/*
 * The leaders' part between hosts; does nothing on other ranks. @ret is the
 * result of the host's own part.
 */
static int between_hosts(coll_inc_module_t *m, const struct coll_inc_args *a,
			 int ret)
{
	struct coll_inc_op o = { .m = m, .inc = m->inc };

	if (ret != OMPI_SUCCESS)
		return leave_tree(m, ret);
	coll_inc_begin(&o, a);
	return coll_inc_wait(&o);
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

/* Status that the ranks of a host exchange: the worst of each. */
enum { TELL_ERROR, TELL_LOCAL, TELL_N };

static int pass_status(coll_inc_module_t *m, int *tell, int to)
{
	return MCA_PML_CALL(send(tell, TELL_N, &ompi_mpi_int.dt, to, TAG,
				 MCA_PML_BASE_SEND_STANDARD, m->local));
}

static int take_status(coll_inc_module_t *m, int *tell, int from)
{
	return MCA_PML_CALL(recv(tell, TELL_N, &ompi_mpi_int.dt, from, TAG,
				 m->local, MPI_STATUS_IGNORE));
}

/*
 * Pass the worst status up a tree to the leader, and back down. This uses its
 * own messages, as a failed collective may have left some of its own behind.
 */
static int tell_all(coll_inc_module_t *m, int tell[TELL_N])
{
	int n = ompi_comm_size(m->local), rank = ompi_comm_rank(m->local),
	    ret = 0;
	int other[TELL_N], mask, i;

	for (mask = 1; mask < n && !(rank & mask) && !ret; mask <<= 1) {
		if (rank + mask >= n)
			continue;
		ret = take_status(m, other, rank + mask);
		for (i = 0; i < TELL_N && !ret; i++)
			tell[i] = other[i] < tell[i] ? other[i] : tell[i];
	}
	if (rank && !ret)
		ret = pass_status(m, tell, rank - mask);
	if (rank && !ret)
		ret = take_status(m, tell, rank - mask);
	for (mask >>= 1; mask && !ret; mask >>= 1)
		if (rank + mask < n)
			ret = pass_status(m, tell, rank + mask);
	return ret;
}

/*
 * Agree on the status of this host; @ret is this rank's. If a rank's own part
 * failed (@local), the trees end and the host's ranks stop working together, as
 * messages of that part may be left.
 */
static int spread_status(coll_inc_module_t *m, int ret, bool local)
{
	int own = ret != OMPI_SUCCESS ? ret : m->untold, failed;
	bool part_failed = own != OMPI_SUCCESS && (local || m->untold);
	int tell[TELL_N] = { own, part_failed ? -1 : 0 };

	failed = tell_all(m, tell);
	if (failed != OMPI_SUCCESS) {
		tell[TELL_ERROR] = failed;
		tell[TELL_LOCAL] = -1;
	}
	m->untold = failed;
	if (tell[TELL_LOCAL])
		m->broken = tell[TELL_ERROR];
	if (tell[TELL_LOCAL] && is_leader(m))
		leave_tree(m, ret);
	return ret != OMPI_SUCCESS ? ret : tell[TELL_ERROR];
}

/* An error in an operation's last step reaches the host with the next one. */
static int last_step(coll_inc_module_t *m, int ret)
{
	if (ret != OMPI_SUCCESS)
		m->untold = ret;
	return ret;
}

/*
 * Open MPI's reduction on a host may overwrite its root's data by results if one
 * lies in the other: see coll_inc_apart(). Both have the same size.
 */
static const void *own_data(const struct coll_inc_args *a)
{
	const char *from = a->sbuf, *to = a->rbuf;
	ptrdiff_t gap, span = opal_datatype_span(&a->rtype->super,
						 (size_t)a->rcount, &gap);

	if (a->sbuf == MPI_IN_PLACE || from >= to + span || to >= from + span)
		return a->sbuf;
	if (from != to)
		ompi_datatype_copy_content_same_ddt(a->rtype, a->rcount,
						    a->rbuf, (void *)a->sbuf);
	return MPI_IN_PLACE;
}

static int hosts_allreduce(coll_inc_module_t *m, const struct coll_inc_args *a)
{
	struct coll_inc_args between = *a;
	bool local;
	int ret;

	if (a->sbuf == MPI_IN_PLACE && !is_leader(m))
		ret = local_reduce(m, a->rbuf, NULL, a->rcount, a->rtype,
				   a->op);
	else
		ret = local_reduce(m, is_leader(m) ? own_data(a) : a->sbuf,
				   a->rbuf, a->rcount, a->rtype, a->op);
	local = ret != OMPI_SUCCESS;
	if (is_leader(m)) {
		between.sbuf = MPI_IN_PLACE;
		ret = between_hosts(m, &between, ret);
	}
	ret = spread_status(m, ret, local);
	if (ret == OMPI_SUCCESS)
		ret = last_step(m, local_bcast(m, a->rbuf, a->rcount, a->rtype,
					       0));
	return ret;
}

/* Pass the result from the leader of the root's host to the root. */
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

/*
 * Get a buffer for the host's result on a leader that is not the root, and so
 * has none of its own. If it must be allocated, all ranks of the host learn
 * whether that succeeded before they send data that nobody could receive.
 */
static int get_room(coll_inc_module_t *m, const struct coll_inc_args *a,
		    char **room)
{
	ptrdiff_t gap;
	size_t span =
		(size_t)opal_datatype_span(&a->rtype->super, a->rcount, &gap);
	int ret = OMPI_SUCCESS;

	*room = m->scratch;
	if (span <= COLL_INC_SCRATCH)
		return OMPI_SUCCESS;
	if (is_leader(m)) {
		*room = malloc(span);
		if (!*room)
			ret = leave_tree(m, OMPI_ERR_OUT_OF_RESOURCE);
	}
	return spread_status(m, ret, ret != OMPI_SUCCESS);
}

static int reduce_into(coll_inc_module_t *m, const struct coll_inc_args *a,
		       int rank, char *room)
{
	bool here = m->host_of[a->root] == m->host_of[rank];
	struct coll_inc_args between = *a;
	bool local;
	int ret;

	between.root = m->host_of[a->root];
	if (is_leader(m)) {
		if (rank != a->root)
			between.rbuf = room;
		ret = local_reduce(m, rank == a->root ? own_data(a) : a->sbuf,
				   between.rbuf, a->rcount, a->rtype, a->op);
		local = ret != OMPI_SUCCESS;
		between.sbuf = here ? MPI_IN_PLACE : between.rbuf;
		ret = between_hosts(m, &between, ret);
	} else {
		ret = local_reduce(m,
				   a->sbuf == MPI_IN_PLACE ? a->rbuf : a->sbuf,
				   NULL, a->rcount, a->rtype, a->op);
		local = ret != OMPI_SUCCESS;
	}
	ret = spread_status(m, ret, local);
	if (ret == OMPI_SUCCESS && here && m->at[a->root])
		ret = last_step(m, hand_over(m, between.rbuf, a->rcount,
					     a->rtype, m->at[a->root]));
	return ret;
}

static int hosts_reduce(coll_inc_module_t *m, const struct coll_inc_args *a,
			int rank)
{
	bool leads = m->host_of[a->root] == m->host_of[rank] && !m->at[a->root];
	char *room = NULL;
	int ret = OMPI_SUCCESS;

	if (!leads)
		ret = get_room(m, a, &room);
	if (ret == OMPI_SUCCESS)
		ret = reduce_into(m, a, rank, room);
	if (room != m->scratch)
		free(room);
	return ret;
}

static int hosts_bcast(coll_inc_module_t *m, const struct coll_inc_args *a,
		       int rank)
{
	bool here = m->host_of[a->root] == m->host_of[rank], local;
	struct coll_inc_args between = *a;
	int ret = OMPI_SUCCESS;

	if (here)
		ret = local_bcast(m, a->rbuf, a->rcount, a->rtype,
				  m->at[a->root]);
	local = ret != OMPI_SUCCESS;
	if (is_leader(m)) {
		between.root = m->host_of[a->root];
		ret = between_hosts(m, &between, ret);
	}
	ret = spread_status(m, ret, local);
	if (ret == OMPI_SUCCESS && !here)
		ret = last_step(m, local_bcast(m, a->rbuf, a->rcount, a->rtype,
					       0));
	return ret;
}

static int hosts_barrier(coll_inc_module_t *m, const struct coll_inc_args *a)
{
	ompi_communicator_t *l = m->local;
	int ret = l->c_coll->coll_barrier(l, l->c_coll->coll_barrier_module);
	bool local = ret != OMPI_SUCCESS;

	if (is_leader(m))
		ret = between_hosts(m, a, ret);
	return spread_status(m, ret, local);
}

/*
 * Execute a blocking collective on hosts with several ranks. Returns
 * OMPI_SUCCESS or an error.
 */
int coll_inc_hosts(coll_inc_module_t *m, const struct coll_inc_args *a,
		   int rank)
{
	if (m->broken != OMPI_SUCCESS)
		return m->broken;
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
