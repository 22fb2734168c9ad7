// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A communicator's module, and the decision whether an operation goes through
 * the switch. The decision must be the same on all ranks.
 */
#include <limits.h>

#include "coll_inc.h"

#include "opal/util/info.h"

/* Share of one operation: data comes and goes, and packed is there twice. */
#define MEMLOCK_PART	4

/*
 * Bytes that count as much towards a meeting as one more operation: about what
 * the switch gains on an operation of this much data is what it gains on a
 * short one.
 */
#define BYTES_COUNT	16384

static void construct_module(coll_inc_module_t *m)
{
	memset(&m->below, 0, sizeof(m->below));
	m->comm = NULL;
	m->state = COLL_INC_NEW;
	m->why = COLL_INC_GOES;
	m->said[0] = '\0';
	m->counted = 0;
	m->meet_at = coll_inc_params.meet_after > 1 ?
		     (unsigned long)coll_inc_params.meet_after : 1;
	memset(m->tally, 0, sizeof(m->tally));
	m->aside = NULL;
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
	/* No lower component implements it: without a fallback, don't offer. */
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

/**
 * coll_inc_comm_query() - offer a module for a communicator to Open MPI
 * @comm: communicator
 * @priority: set if there is a module
 *
 * The answer depends on nothing that may differ between ranks.
 *
 * Return: a module, or NULL.
 */
mca_coll_base_module_t *coll_inc_comm_query(ompi_communicator_t *comm,
					    int *priority)
{
	coll_inc_module_t *m;

	if (coll_inc_params.priority <= 0 || OMPI_COMM_IS_INTER(comm) ||
	    ompi_comm_size(comm) < 2 || coll_inc_meeting())
		return NULL;
	if (ompi_comm_size(comm) < coll_inc_params.min_ranks) {
		coll_inc_say(1, "coll/inc: %s: %d ranks, fewer than coll_inc_min_ranks",
			     comm->c_name, ompi_comm_size(comm));
		return NULL;
	}
	m = OBJ_NEW(coll_inc_module_t);
	if (!m)
		return NULL;
	*priority = coll_inc_params.priority;
	m->unheard = is_of_han(comm);
	m->super.coll_module_enable = enable_module;
#define X(name) m->super.coll_##name = coll_inc_##name##_fn;
	COLL_INC_ALL(X)
#undef X
	m->super.coll_allgatherv = coll_inc_allgatherv;
	return &m->super;
}

static bool works_on_hosts(enum coll_inc_fn fn)
{
	return fn == COLL_INC_allreduce || fn == COLL_INC_reduce ||
	       fn == COLL_INC_bcast || fn == COLL_INC_barrier;
}

static bool is_nonblocking(enum coll_inc_fn fn)
{
	return fn >= COLL_INC_iallgather && fn < COLL_INC_allgather_init;
}

/*
 * Meeting costs what some operations gain, so the ranks do not meet before that
 * many have been suitable. In a blocking operation, or the creation of a
 * persistent one, they may wait for each other; a non-blocking one begins a
 * meeting in the background. All ranks count the same.
 */
static enum coll_inc_why approach_meeting(coll_inc_module_t *m,
					  ompi_communicator_t *comm,
					  enum coll_inc_fn fn, size_t total)
{
	m->counted += 1 + total / BYTES_COUNT;
	if (m->counted < m->meet_at)
		return m->why ? m->why : COLL_INC_NOT_YET;
	if (is_nonblocking(fn) && m->no_aside)
		return m->why ? m->why : COLL_INC_NO_WAIT;
	if (!coll_inc_params_same(comm)) {
		m->why = COLL_INC_PARAMS;
		m->state = COLL_INC_NONE;
		return m->why;
	}
	if (!is_nonblocking(fn)) {
		coll_inc_meet(m, comm);
		return m->why;
	}
	m->no_aside = !coll_inc_aside_may(m, comm);
	if (m->no_aside)
		return COLL_INC_NO_WAIT;
	if (!m->tagged)
		m->tag = coll_inc_tags(comm);
	m->tagged = true;
	coll_inc_aside_begin(m, comm, m->tag);
	return COLL_INC_LATER;
}

static bool size_suits(size_t bytes)
{
	return bytes >= coll_inc_params.min_bytes &&
	       bytes <= coll_inc_params.max_bytes;
}

/**
 * coll_inc_suits() - check whether an operation may go through the switch
 * @comm: communicator
 * @args: arguments
 *
 * Return: false if it falls through whether the ranks have met or not.
 */
bool coll_inc_suits(ompi_communicator_t *comm, const struct coll_inc_args *args)
{
	size_t bytes = coll_inc_args_size(args, ompi_comm_rank(comm),
					  ompi_comm_size(comm));

	return !coll_inc_args_fit(args, bytes) && size_suits(bytes);
}

static enum coll_inc_why decide_path(coll_inc_module_t *m,
				     ompi_communicator_t *comm,
				     enum coll_inc_fn fn, size_t bytes,
				     size_t total, enum coll_inc_why fits)
{
	enum coll_inc_why why;

	if (m->state == COLL_INC_NONE)
		return m->why;
	if (fits)
		return fits;
	if (!size_suits(bytes))
		return COLL_INC_SIZE;
	if (m->state == COLL_INC_ASIDE && is_nonblocking(fn))
		return COLL_INC_LATER;
	if (m->state == COLL_INC_ASIDE)
		coll_inc_aside_wait(m);
	if (m->state == COLL_INC_NONE)
		return m->why;
	if (m->state == COLL_INC_NEW) {
		why = approach_meeting(m, comm, fn, total);
		if (m->state != COLL_INC_READY)
			return why;
	}
	return m->local && !works_on_hosts(fn) ? COLL_INC_HOSTS : COLL_INC_GOES;
}

/**
 * coll_inc_goes() - decide whether an operation goes through the switch
 * @m: module
 * @comm: its communicator
 * @fn: operation
 * @args: arguments
 *
 * Return: COLL_INC_GOES, or why it does not.
 */
enum coll_inc_why coll_inc_goes(coll_inc_module_t *m, ompi_communicator_t *comm,
				enum coll_inc_fn fn,
				const struct coll_inc_args *args)
{
	return coll_inc_goes_apart(m, comm, fn, args, NULL);
}

/**
 * coll_inc_goes_apart() - decide on an operation that may need its own tree
 * @m: module
 * @comm: its communicator
 * @fn: operation
 * @args: arguments
 * @lane: set to the number of a tree for this operation alone; NULL: none
 *	needed
 *
 * Return: COLL_INC_GOES, or why it does not.
 */
enum coll_inc_why coll_inc_goes_apart(coll_inc_module_t *m,
				      ompi_communicator_t *comm,
				      enum coll_inc_fn fn,
				      const struct coll_inc_args *args,
				      int *lane)
{
	size_t bytes = coll_inc_args_size(args, ompi_comm_rank(comm),
					  ompi_comm_size(comm));
	size_t total = coll_inc_args_total(args, bytes, ompi_comm_size(comm));
	enum coll_inc_why why;

	/* Collectives that we use for meeting are not counted. */
	if (m->state == COLL_INC_MEETING)
		return COLL_INC_NOT_YET;
	why = decide_path(m, comm, fn, bytes, total,
			  coll_inc_args_fit(args, bytes));
	/* All operations end with that error, even those that fall through. */
	if (m->err)
		return COLL_INC_GOES;
	if (why == COLL_INC_LATER)
		return why;
	if (!why && total > m->memlock / MEMLOCK_PART)
		why = COLL_INC_MEMLOCK;
	if (!why && lane)
		why = coll_inc_lane(m, comm, lane);
	coll_inc_count(m, fn, bytes, args, why);
	return why;
}
