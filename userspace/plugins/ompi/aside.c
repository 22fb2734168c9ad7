// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Meetings in the background, for programs that have only non-blocking collectives. A
 * non-blocking operation must not wait for other ranks, so it starts the meeting, and
 * Open MPI's progress continues it: the ranks exchange their data by non-blocking
 * collectives below, and a thread joins the job.
 *
 * Until the meeting ends, a rank does not know where its operations go. They
 * are queued, and decided and started in order when it ends; a blocking
 * operation waits for that. So all ranks decide on the same operations in the same order,
 * whether they knew the outcome when an operation was called or not.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "coll_inc.h"

#include "ompi/mca/coll/base/coll_base_util.h"
#include "opal/runtime/opal_progress.h"

enum step { TRY, CONSULT, JOIN, AGREE };

/**
 * struct coll_inc_aside - a meeting in the background
 * @item: in the list of meetings
 * @m: module
 * @comm: its communicator, not freed before the meeting ends
 * @step: current step
 * @tag: tag of the first operation below; the last one has @tag - 1
 * @req: request of the operation below
 * @say: values of the exchange, see group.c
 * @thread: joins the job
 * @joined: the thread is done
 * @value: coll_inc_blame() of its result, then the worst of all ranks
 */
struct coll_inc_aside {
	opal_list_item_t	item;
	struct coll_inc_module	*m;
	ompi_communicator_t	*comm;
	enum step		step;
	int32_t			tag;
	ompi_request_t		*req;
	uint64_t		say[COLL_INC_SAY_N];
	pthread_t		thread;
	atomic_bool		joined;
	uint64_t		value;
};

typedef struct coll_inc_aside coll_inc_aside_t;
OBJ_CLASS_DECLARATION(coll_inc_aside_t);
OBJ_CLASS_INSTANCE(coll_inc_aside_t, opal_list_item_t, NULL, NULL);

/* Meetings in progress. No lock: only one thread is in MPI. */
static opal_list_t asides;
static bool running, busy;

/* --- May there be one? The same on all ranks --------------------------- */

static bool is_libnbc(const ompi_communicator_t *comm,
		      const mca_coll_base_module_t *module)
{
	mca_coll_base_avail_coll_t *a;

	OPAL_LIST_FOREACH(a, comm->c_coll->module_list,
			  mca_coll_base_avail_coll_t)
		if (a->ac_module == module)
			return !strcmp(a->ac_component_name, "libnbc");
	return false;
}

/* Only libnbc is known to take its tags in the way that below.c needs. */
static bool all_libnbc(const struct coll_inc_module *m,
		       const ompi_communicator_t *comm)
{
	if (!comm->c_coll->module_list)
		return false;
#define X(name)								\
	if (!is_libnbc(comm, m->below.name##_module))			\
		return false;
	COLL_INC_INAMES(X)
#undef X
	return true;
}

/*
 * Check whether ranks may meet in the background. The progress of a rank's
 * MPI_Finalize() does not matter: a rank in a meeting has a queued operation,
 * which must end before MPI does. Returns the same on all ranks, as its inputs
 * are: Open MPI's choice of components, the launcher's placement, and the
 * published thread levels.
 * @comm: its communicator; all ranks have the same parameters
 */
bool coll_inc_aside_may(struct coll_inc_module *m, ompi_communicator_t *comm)
{
	return all_libnbc(m, comm) && !coll_inc_hosts_shared(comm) &&
	       !coll_inc_params_threads(comm);
}

/* --- Steps ------------------------------------------------------------- */

static int exchange_data(struct coll_inc_aside *s, void *data, int n,
			 ompi_datatype_t *type, int32_t tag)
{
	int32_t next = coll_inc_tag_use(s->comm, tag);
	int ret;

	ret = s->m->below.iallreduce(MPI_IN_PLACE, data, n, type,
				     &ompi_mpi_op_max.op, s->comm, &s->req,
				     s->m->below.iallreduce_module);
	coll_inc_tag_done(s->comm, next);
	return ret;
}

static void finish_aside(struct coll_inc_aside *s, enum coll_inc_why why)
{
	struct coll_inc_module *m = s->m;
	ompi_communicator_t *comm = s->comm;

	opal_list_remove_item(&asides, &s->item);
	OBJ_RELEASE(s);
	m->aside = NULL;
	m->why = why;
	coll_inc_met(m, comm);
	if (m->decide)
		m->decide(m);
	/* May be the last reference, and free the module. */
	OBJ_RELEASE(comm);
}

static void fail_aside(struct coll_inc_aside *s, int err)
{
	s->m->err = err;
	finish_aside(s, COLL_INC_GOES);
}

static void *join_job(void *arg)
{
	struct coll_inc_aside *s = arg;

	s->value = coll_inc_blame(coll_inc_join(s->m, s->comm, s->say),
				  s->comm);
	atomic_store(&s->joined, true);
	return NULL;
}

static void on_consulted(struct coll_inc_aside *s)
{
	enum coll_inc_why why = coll_inc_blamed(s->m,
						s->say[COLL_INC_SAY_WHY]);

	if (!why && s->say[COLL_INC_SAY_SHARED]) {
		/* Shared hosts need communicators: making one blocks. */
		s->m->no_aside = true;
		why = COLL_INC_NO_WAIT;
	}
	if (why) {
		finish_aside(s, why);
		return;
	}
	s->m->memlock = (unsigned long)~s->say[COLL_INC_SAY_MEMLOCK];
	s->step = JOIN;
	if (pthread_create(&s->thread, NULL, join_job, s)) {
		s->value = coll_inc_blame(COLL_INC_NO_TREE, s->comm);
		s->step = AGREE;
	}
}

/* Fail queued operations of a lost communicator without waiting to join. */
static void give_up(struct coll_inc_module *m)
{
	m->err = coll_inc_lost(m->comm);
	if (m->err && m->decide)
		m->decide(m);
}

/* Exchange what the ranks know, once this rank's own try has a result. */
static int consult(struct coll_inc_aside *s)
{
	if (!coll_inc_can_say(s->comm))
		return OMPI_SUCCESS;
	s->step = CONSULT;
	coll_inc_say_mine(s->say, s->comm);
	return exchange_data(s, s->say, COLL_INC_SAY_N, &ompi_mpi_uint64_t.dt,
			     s->tag);
}

static void go_on(struct coll_inc_aside *s)
{
	int ret;

	if (s->step == TRY) {
		ret = consult(s);
		if (ret != OMPI_SUCCESS)
			fail_aside(s, ret);
		return;
	}
	if (s->step == JOIN && !atomic_load(&s->joined)) {
		give_up(s->m);
		return;
	}
	if (s->step == JOIN) {
		pthread_join(s->thread, NULL);
		s->step = AGREE;
	}
	if (s->step == AGREE && !s->req) {
		ret = exchange_data(s, &s->value, 1, &ompi_mpi_uint64_t.dt,
				    s->tag - 1);
		if (ret != OMPI_SUCCESS)
			fail_aside(s, ret);
		return;
	}
	if (!REQUEST_COMPLETE(s->req))
		return;
	ret = s->req->req_status.MPI_ERROR;
	ompi_request_free(&s->req);
	s->req = NULL;
	if (ret != OMPI_SUCCESS)
		fail_aside(s, ret);
	else if (s->step == CONSULT)
		on_consulted(s);
	else
		finish_aside(s, coll_inc_blamed(s->m, s->value));
}

static int progress_asides(void)
{
	coll_inc_aside_t *s, *next;

	/* Do not start anything from within a call of libinc. */
	if (busy || opal_list_is_empty(&asides) || !coll_inc_trylock())
		return 0;
	coll_inc_unlock();
	busy = true;
	OPAL_LIST_FOREACH_SAFE(s, next, &asides, coll_inc_aside_t)
		go_on(s);
	busy = false;
	return 0;
}

static void start_asides(void)
{
	if (running)
		return;
	OBJ_CONSTRUCT(&asides, opal_list_t);
	opal_progress_register(progress_asides);
	running = true;
}

/*
 * Begin a meeting in the background.
 * @m: module, goes to COLL_INC_ASIDE; on an error, m->err is set
 * @tag: result of coll_inc_tags() for the operation that begins it
 */
void coll_inc_aside_begin(struct coll_inc_module *m, ompi_communicator_t *comm,
			  int32_t tag)
{
	coll_inc_aside_t *s = OBJ_NEW(coll_inc_aside_t);
	int ret = OMPI_ERR_OUT_OF_RESOURCE;

	m->state = COLL_INC_ASIDE;
	if (s) {
		start_asides();
		s->m = m;
		s->comm = comm;
		s->step = TRY;
		s->tag = tag;
		s->req = NULL;
		m->tried[0] = '\0';
		atomic_init(&s->joined, false);
		ret = consult(s);
	}
	if (ret != OMPI_SUCCESS) {
		if (s)
			OBJ_RELEASE(s);
		m->err = ret;
		coll_inc_met(m, comm);
		return;
	}
	OBJ_RETAIN(comm);
	m->aside = s;
	opal_list_append(&asides, &s->item);
}

/* Wait until a meeting in the background has an outcome. */
void coll_inc_aside_wait(const struct coll_inc_module *m)
{
	while (m->state == COLL_INC_ASIDE && !m->err)
		opal_progress();
}

/* End progress. */
void coll_inc_aside_end(void)
{
	coll_inc_aside_t *s;

	if (!running)
		return;
	/* Meetings of lost communicators may still have a thread. */
	OPAL_LIST_FOREACH(s, &asides, coll_inc_aside_t)
		if (s->step == JOIN)
			pthread_join(s->thread, NULL);
	opal_progress_unregister(progress_asides);
	OBJ_DESTRUCT(&asides);
	running = false;
}
