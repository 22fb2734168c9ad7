// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Meetings in the background, for programs that have only non-blocking
 * collectives. A non-blocking operation must not wait for other ranks, so it
 * starts the meeting, and Open MPI's progress continues it: what the ranks say
 * is exchanged by non-blocking collectives below, and a thread joins the job.
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
#include "ompi/runtime/mpiruntime.h"
#include "opal/runtime/opal_progress.h"

enum step { CONSULT, JOIN, AGREE };

/**
 * struct coll_inc_aside - a meeting in the background
 * @item: in the list of meetings
 * @m: module
 * @comm: its communicator, not freed before the meeting ends
 * @step: what is under way
 * @tag: of the operation that ends it
 * @req: operation below
 * @say: see group.c
 * @thread: joins the job
 * @joined: the thread is done
 * @value: its result, then the worst of all ranks
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
	int			value;
};

typedef struct coll_inc_aside coll_inc_aside_t;
OBJ_CLASS_DECLARATION(coll_inc_aside_t);
OBJ_CLASS_INSTANCE(coll_inc_aside_t, opal_list_item_t, NULL, NULL);

/* In progress. Only one thread is in MPI. */
static opal_list_t asides;
static bool running, busy, closed;

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

/* Others may take tags otherwise. */
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

/**
 * coll_inc_aside_may() - check whether ranks may meet in the background
 * @m: module
 * @comm: its communicator; all ranks have the same parameters
 *
 * Return: the same on all ranks.
 */
bool coll_inc_aside_may(struct coll_inc_module *m, ompi_communicator_t *comm)
{
	return !closed && ompi_mpi_state == OMPI_MPI_STATE_INIT_COMPLETED &&
	       all_libnbc(m, comm) && !coll_inc_hosts_shared(comm) &&
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

	s->value = (int)coll_inc_join(s->m, s->comm, s->say);
	atomic_store(&s->joined, true);
	return NULL;
}

static void on_consulted(struct coll_inc_aside *s)
{
	enum coll_inc_why why = (enum coll_inc_why)s->say[COLL_INC_SAY_WHY];

	if (!why && s->say[COLL_INC_SAY_SHARED]) {
		/* That takes a communicator for each host. */
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
		s->value = COLL_INC_NO_TREE;
		s->step = AGREE;
	}
}

static void go_on(struct coll_inc_aside *s)
{
	int ret;

	if (s->step == JOIN) {
		if (!atomic_load(&s->joined))
			return;
		pthread_join(s->thread, NULL);
		s->step = AGREE;
	}
	if (s->step == AGREE && !s->req) {
		ret = exchange_data(s, &s->value, 1, &ompi_mpi_int.dt, s->tag);
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
		finish_aside(s, (enum coll_inc_why)s->value);
}

static int progress_asides(void)
{
	coll_inc_aside_t *s, *next;

	/* Below a call of libinc's, nothing may be started. */
	if (busy || opal_list_is_empty(&asides) || !coll_inc_trylock())
		return 0;
	coll_inc_unlock();
	busy = true;
	OPAL_LIST_FOREACH_SAFE(s, next, &asides, coll_inc_aside_t)
		go_on(s);
	busy = false;
	return 0;
}

/* MPI_Finalize() begins: other ranks may need this one for their meetings. */
static int on_finalize(MPI_Comm comm, int key, void *value, void *extra)
{
	while (!opal_list_is_empty(&asides))
		opal_progress();
	closed = true;
	return MPI_SUCCESS;
}

static int start_asides(void)
{
	int key, ret;

	if (running)
		return OMPI_SUCCESS;
	ret = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize, &key,
				      NULL);
	if (ret == MPI_SUCCESS)
		ret = PMPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
	if (ret != MPI_SUCCESS)
		return OMPI_ERROR;
	OBJ_CONSTRUCT(&asides, opal_list_t);
	opal_progress_register(progress_asides);
	running = true;
	return OMPI_SUCCESS;
}

/**
 * coll_inc_aside_begin() - begin a meeting in the background
 * @m: module, goes to COLL_INC_ASIDE; on an error, m->err is set
 * @comm: its communicator
 * @tag: result of coll_inc_tags() for the operation that begins it
 */
void coll_inc_aside_begin(struct coll_inc_module *m, ompi_communicator_t *comm,
			  int32_t tag)
{
	coll_inc_aside_t *s = OBJ_NEW(coll_inc_aside_t);
	int ret = s ? start_asides() : OMPI_ERR_OUT_OF_RESOURCE;

	m->state = COLL_INC_ASIDE;
	if (ret == OMPI_SUCCESS) {
		s->m = m;
		s->comm = comm;
		s->step = CONSULT;
		s->tag = tag - 1;
		atomic_init(&s->joined, false);
		coll_inc_say_mine(s->say, comm);
		ret = exchange_data(s, s->say, COLL_INC_SAY_N,
				    &ompi_mpi_uint64_t.dt, tag);
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

/**
 * coll_inc_aside_wait() - wait until a meeting in the background has ended
 * @m: module
 */
void coll_inc_aside_wait(const struct coll_inc_module *m)
{
	while (m->state == COLL_INC_ASIDE)
		opal_progress();
}

/**
 * coll_inc_aside_end() - end progress
 */
void coll_inc_aside_end(void)
{
	if (!running)
		return;
	opal_progress_unregister(progress_asides);
	OBJ_DESTRUCT(&asides);
	running = false;
}
