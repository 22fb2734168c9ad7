// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A communicator's module.
 */
#include <limits.h>

#include "coll_inc.h"

#include "opal/util/info.h"

static void construct_module(coll_inc_module_t *m)
{
	memset(&m->below, 0, sizeof(m->below));
	m->comm = NULL;
	m->state = COLL_INC_NEW;
	m->why = COLL_INC_GOES;
	m->said[0] = m->tried[0] = '\0';
	m->culprit = 0;
	m->counted = 0;
	m->meet_at = coll_inc_params.meet_after > 1 ?
		     (unsigned long)coll_inc_params.meet_after : 1;
	m->alike = m->ranked = -1;
	memset(m->tally, 0, sizeof(m->tally));
	m->aside = NULL;
	m->decide = NULL;
	m->no_aside = false;
	m->tagged = false;
	OBJ_CONSTRUCT(&m->queue, opal_list_t);
	coll_inc_stats_add(m);
	m->err = OMPI_SUCCESS;
	m->ended = false;
	m->inc = NULL;
	m->local = NULL;
	m->host_of = NULL;
	m->at = NULL;
	m->scratch = NULL;
	m->untold = OMPI_SUCCESS;
	m->broken = OMPI_SUCCESS;
	m->failed = OMPI_SUCCESS;
	m->nlanes = 0;
	m->free_lanes = 0;
	m->memlock = ULONG_MAX;
	m->unheard = false;
	m->is_watched = false;
	m->lost = false;
	m->news_by = 0;
}

static void destruct_module(coll_inc_module_t *m)
{
	coll_inc_part(m);
	coll_inc_stats_del(m);
	OBJ_DESTRUCT(&m->queue);
#define X(name)								\
	if (m->below.name##_module)					\
		OBJ_RELEASE(m->below.name##_module);
	COLL_INC_ALL(X) X(allgatherv)
#undef X
}

OBJ_CLASS_INSTANCE(coll_inc_module_t, mca_coll_base_module_t, construct_module,
		   destruct_module);

static int enable_module(mca_coll_base_module_t *module,
			 ompi_communicator_t *comm)
{
	coll_inc_module_t *m = (coll_inc_module_t *)module;

	m->comm = comm;
	/* Do not offer a collective that no lower component implements. */
#define X(name)								\
	if (comm->c_coll->coll_##name) {				\
		m->below.name = comm->c_coll->coll_##name;		\
		m->below.name##_module = comm->c_coll->coll_##name##_module; \
		OBJ_RETAIN(m->below.name##_module);			\
	} else {							\
		module->coll_##name = NULL;				\
	}
	COLL_INC_ALL(X) X(allgatherv)
#undef X
	if (!m->below.allreduce || !m->below.bcast || !m->below.allgather)
		return OMPI_ERR_NOT_FOUND;
	coll_inc_around_han(m, comm);
	return OMPI_SUCCESS;
}

/* coll/han excludes itself from the communicators that it has made. */
static bool is_of_han(const ompi_communicator_t *comm)
{
	opal_cstring_t *wish = NULL;
	int there = 0;
	bool is = false;

	if (comm->super.s_info)
		opal_info_get(comm->super.s_info, "ompi_comm_coll_preference",
			      &wish, &there);
	if (there) {
		is = strstr(wish->string, "^han");
		OBJ_RELEASE(wish);
	}
	return is;
}

/*
 * Offer a module for a communicator to Open MPI. The answer depends on nothing
 * that may differ between ranks. Returns a module, or NULL.
 */
mca_coll_base_module_t *coll_inc_comm_query(ompi_communicator_t *comm,
					    int *priority)
{
	bool unheard = is_of_han(comm);
	coll_inc_module_t *m;

	if (coll_inc_params.priority <= 0 || OMPI_COMM_IS_INTER(comm) ||
	    ompi_comm_size(comm) < 2)
		return NULL;
	if (ompi_comm_size(comm) < coll_inc_params.min_ranks) {
		coll_inc_say(1, "coll/inc: %s: %d ranks, fewer than coll_inc_min_ranks",
			     comm->c_name, ompi_comm_size(comm));
		return NULL;
	}
	/* coll/han ignores errors, so an error would have to abort the job. */
	if (unheard && coll_inc_survives())
		return NULL;
	m = OBJ_NEW(coll_inc_module_t);
	if (!m)
		return NULL;
	*priority = coll_inc_params.priority;
	m->unheard = unheard;
	m->super.coll_module_enable = enable_module;
#define X(name) m->super.coll_##name = coll_inc_##name##_fn;
	COLL_INC_ALL(X)
#undef X
	m->super.coll_allgatherv = coll_inc_allgatherv;
	return &m->super;
}
