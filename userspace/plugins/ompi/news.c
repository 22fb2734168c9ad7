// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Open MPI's view of a communicator that was revoked or has lost a process, if the
 * job goes on without the process (ULFM, mpirun --with-ft ulfm).
 *
 * As a rule, a tree that has lost a rank ends before Open MPI knows of it. The
 * operation then waits for Open MPI's error code, which tells the program what to
 * do.
 */
#include "coll_inc.h"
#include "conf/clock.h"

#include "ompi/runtime/params.h"
#include "opal/runtime/opal_progress.h"

/*
 * A launcher reports a lost process at once, a lost host after a while. A tree may
 * also end without either.
 */
#define NEWS_MS	5000

/*
 * Check whether a communicator can have no more collectives. Returns
 * MPI_ERR_REVOKED, MPI_ERR_PROC_FAILED or OMPI_SUCCESS.
 */
int coll_inc_lost(ompi_communicator_t *comm)
{
#if OPAL_ENABLE_FT_MPI
	if (ompi_ftmpi_enabled && ompi_comm_is_revoked(comm))
		return MPI_ERR_REVOKED;
	if (ompi_ftmpi_enabled && ompi_comm_coll_revoked(comm))
		return MPI_ERR_PROC_FAILED;
#endif
	return OMPI_SUCCESS;
}

/*
 * Check whether the job goes on when a process is gone. Returns the same on
 * all ranks, or Open MPI itself cannot go on.
 */
bool coll_inc_survives(void)
{
#if OPAL_ENABLE_FT_MPI
	return ompi_ftmpi_enabled;
#else
	return false;
#endif
}

/*
 * Check whether Open MPI may yet explain an error. Returns true for a while,
 * unless the communicator is known to be lost.
 * @ret: the error of its trees, or of its host's ranks
 */
bool coll_inc_expects_news(struct coll_inc_module *m, int ret)
{
	if (!coll_inc_survives() || coll_inc_lost(m->comm) ||
	    ret == OMPI_ERR_OUT_OF_RESOURCE || ret == OMPI_ERR_TIMEOUT)
		return false;
	if (!m->news_by)
		m->news_by = now_ms() + NEWS_MS;
	return now_ms() < m->news_by;
}

/*
 * Find out why a blocking operation failed. Returns the error that the program
 * is to get.
 */
int coll_inc_explain(struct coll_inc_module *m, int ret)
{
	int lost;

	while (coll_inc_expects_news(m, ret))
		opal_progress();
	lost = coll_inc_lost(m->comm);
	return lost ? lost : ret;
}
