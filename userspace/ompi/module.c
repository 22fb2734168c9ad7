// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A communicator's module, and the decision whether an operation goes through
 * the switch.
 */
#include "coll_inc.h"

static const char *const fn_names[COLL_INC_NFN] = {
#define X(name) [COLL_INC_##name] = #name,
	COLL_INC_ALL(X)
#undef X
};

static const char *const why_texts[COLL_INC_NWHY] = {
	[COLL_INC_GOES]	   = "through the switch",
	[COLL_INC_OFF]	   = "the communicator has no tree",
	[COLL_INC_NOT_YET] = "non-blocking, before the first blocking one",
	[COLL_INC_HOSTS]   = "hosts have several ranks",
	[COLL_INC_SIZE]	   = "size",
	[COLL_INC_TYPE]	   = "type or operation",
};

static void construct(coll_inc_module_t *m)
{
	memset(&m->below, 0, sizeof(m->below));
	memset(m->count, 0, sizeof(m->count));
	m->state = COLL_INC_NEW;
	m->inc = NULL;
	m->local = NULL;
	m->host_of = NULL;
	m->at = NULL;
}

static void show_stats(const coll_inc_module_t *m)
{
	int fn, why;

	for (fn = 0; fn < COLL_INC_NFN; fn++) {
		for (why = 0; why < COLL_INC_NWHY; why++) {
			if (m->count[fn][why])
				opal_output(coll_inc_output,
					    "coll/inc: %s: %lu %s%s",
					    fn_names[fn], m->count[fn][why],
					    why ? "fell through: " : "",
					    why_texts[why]);
		}
	}
}

static void destruct(coll_inc_module_t *m)
{
	if (coll_inc_params.stats)
		show_stats(m);
	coll_inc_part(m);
#define X(name)								\
	if (m->below.name##_module)					\
		OBJ_RELEASE(m->below.name##_module);
	COLL_INC_ALL(X)
#undef X
}

OBJ_CLASS_INSTANCE(coll_inc_module_t, mca_coll_base_module_t, construct,
		   destruct);

static int enable(mca_coll_base_module_t *module, ompi_communicator_t *comm)
{
	coll_inc_module_t *m = (coll_inc_module_t *)module;

	/* What there is nothing below of is none of ours either. */
#define X(name)								\
	if (comm->c_coll->coll_##name) {				\
		m->below.name = comm->c_coll->coll_##name;		\
		m->below.name##_module = comm->c_coll->coll_##name##_module; \
		OBJ_RETAIN(m->below.name##_module);			\
	} else {							\
		module->coll_##name = NULL;				\
	}
	COLL_INC_ALL(X)
#undef X
	if (!m->below.allreduce || !m->below.bcast || !m->below.allgather)
		return OMPI_ERR_NOT_FOUND;
	return OMPI_SUCCESS;
}

/**
 * coll_inc_comm_query() - Open MPI asks whether we want a communicator
 * @comm: it
 * @priority: set if so
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
	    ompi_comm_size(comm) < 2 ||
	    ompi_comm_size(comm) < coll_inc_params.min_ranks ||
	    coll_inc_meeting())
		return NULL;
	m = OBJ_NEW(coll_inc_module_t);
	if (!m)
		return NULL;
	*priority = coll_inc_params.priority;
	m->super.coll_module_enable = enable;
#define X(name) m->super.coll_##name = coll_inc_##name##_fn;
	COLL_INC_ALL(X)
#undef X
	return &m->super;
}

static bool works_on_hosts(enum coll_inc_fn fn)
{
	return fn == COLL_INC_allreduce || fn == COLL_INC_reduce ||
	       fn == COLL_INC_bcast || fn == COLL_INC_barrier;
}

static enum coll_inc_why decide(coll_inc_module_t *m, enum coll_inc_fn fn,
				size_t bytes, enum coll_inc_why fits)
{
	if (m->state != COLL_INC_READY)
		return COLL_INC_OFF;
	if (fits)
		return fits;
	if (m->local && !works_on_hosts(fn))
		return COLL_INC_HOSTS;
	if (bytes < coll_inc_params.min_bytes || bytes > coll_inc_params.max_bytes)
		return COLL_INC_SIZE;
	return COLL_INC_GOES;
}

/**
 * coll_inc_goes() - does an operation go through the switch
 * @m: module
 * @comm: its communicator
 * @fn: operation
 * @bytes: of its data on one rank, or of one block
 * @fits: COLL_INC_GOES, or why it can't go
 *
 * The ranks meet at the switch in their first blocking operation that fits:
 * all of them are in it, and they may wait for each other.
 *
 * Return: COLL_INC_GOES, or why it does not.
 */
enum coll_inc_why coll_inc_goes(coll_inc_module_t *m, ompi_communicator_t *comm,
				enum coll_inc_fn fn, size_t bytes,
				enum coll_inc_why fits)
{
	enum coll_inc_why why;

	if (m->state == COLL_INC_MEETING)
		return COLL_INC_OFF;
	if (m->state == COLL_INC_NEW && !fits) {
		if (fn < COLL_INC_iallgather)
			coll_inc_meet(m, comm);
		else
			fits = COLL_INC_NOT_YET;
	}
	why = m->state == COLL_INC_NEW && fits ? fits : decide(m, fn, bytes, fits);
	m->count[fn][why]++;
	coll_inc_say(2, "coll/inc: %s, %zu bytes: %s%s", fn_names[fn], bytes,
		     why ? "falls through: " : "", why_texts[why]);
	return why;
}
