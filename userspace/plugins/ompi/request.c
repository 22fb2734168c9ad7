// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Collectives as requests: non-blocking and persistent ones. Open MPI's
 * progress drives them.
 *
 * Ranks may start persistent ones in any order (MPI 4.1, section 6.13), while
 * on a tree operations are matched by order. So each has its own tree, a lane.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "coll_inc.h"

#include "ompi/errhandler/errcode-internal.h"
#include "ompi/mca/coll/base/coll_base_util.h"
#include "opal/class/opal_list.h"
#include "opal/runtime/opal_progress.h"

/*
 * struct coll_inc_request - a collective as a request
 * @super: MPI_Ibcast() and the like keep the program's types here, whichever
 *	component made the request
 * @comm: communicator, not freed before the request
 * @op: operation in progress
 * @m: if persistent or queued: module
 * @lasts: persistent
 * @lane: if persistent: number of its tree; COLL_INC_NO_LANE: it fell through, and
 *	keeps the order of the ranks
 * @args: if persistent: arguments to start it with
 * @fn: if queued: operation
 * @tag: if queued, or persistent without a tree: its tags, see below.c
 * @below: if queued and then fell through: the request below
 * @ranked: a reduction in progress that fell through, see ranked.c
 * @counts: if persistent: copy of @args.counts, as the program may free its
 *	array
 * @ret: result of an operation that has ended
 */
struct coll_inc_request {
	ompi_coll_base_nbc_request_t super;
	ompi_communicator_t	*comm;
	struct coll_inc_op	op;
	struct coll_inc_module	*m;
	bool			lasts;
	int			lane;
	struct coll_inc_args	args;
	enum coll_inc_fn	fn;
	int32_t			tag;
	ompi_request_t		*below;
	struct coll_inc_ranked	*ranked;
	int			*counts;
	int			ret;
};

typedef struct coll_inc_request coll_inc_request_t;
OBJ_CLASS_DECLARATION(coll_inc_request_t);
OBJ_CLASS_INSTANCE(coll_inc_request_t, ompi_coll_base_nbc_request_t, NULL,
		   NULL);

/* Requests that are not complete, under coll_inc_lock(). */
static opal_list_t pending;

/* Requests that were queued, and then fell through. Only one thread is in MPI. */
static opal_list_t fallen;

/* Requests that fell through and keep the order of the ranks, likewise pending. */
static opal_list_t ranked;
static bool running;

/*
 * A request belongs to the program from the call that makes or starts it until
 * it is complete. Meanwhile req_complete may hold the address of the program's
 * wait object, so only this function may write it.
 *
 * Open MPI's Waitall does not report that a persistent request has failed. It
 * frees failed ones, so this one is no longer persistent.
 */
static void complete_request(coll_inc_request_t *r, int ret)
{
	if (ret != OMPI_SUCCESS)
		r->super.super.req_persistent = false;
	r->super.super.req_status.MPI_ERROR = ompi_errcode_get_mpi_code(ret);
	ompi_request_complete(&r->super.super, true);
}

static int complete_fallen(void)
{
	coll_inc_request_t *r, *next;
	int n = 0, ret;

	OPAL_LIST_FOREACH_SAFE(r, next, &fallen, coll_inc_request_t) {
		if (!REQUEST_COMPLETE(r->below))
			continue;
		opal_list_remove_item(&fallen, &r->super.super.super.super);
		ret = r->below->req_status.MPI_ERROR;
		ompi_request_free(&r->below);
		complete_request(r, ret);
		n++;
	}
	return n;
}

/* Send the next messages of a reduction. Returns whether it has ended. */
static bool go_on(coll_inc_request_t *r)
{
	bool more = true;
	int ret;

	if (!coll_inc_ranked_ready(r->ranked))
		return false;
	ret = coll_inc_ranked_next(r->ranked, &more);
	if (more && ret == OMPI_SUCCESS)
		return false;
	ret = coll_inc_ranked_end(r->ranked, ret);
	r->ranked = NULL;
	complete_request(r, ret);
	return true;
}

/*
 * Open MPI may call this function again as messages are sent, and completion
 * callbacks may begin the next operation: so only one call goes on, without the lock.
 */
static int progress_ranked(void)
{
	static atomic_flag busy = ATOMIC_FLAG_INIT;
	opal_list_t now, rest;
	opal_list_item_t *i;
	int n = 0;

	if (atomic_flag_test_and_set(&busy))
		return 0;
	OBJ_CONSTRUCT(&now, opal_list_t);
	OBJ_CONSTRUCT(&rest, opal_list_t);
	if (coll_inc_trylock()) {
		opal_list_join(&now, opal_list_get_end(&now), &ranked);
		coll_inc_unlock();
	}
	while ((i = opal_list_remove_first(&now))) {
		if (go_on((coll_inc_request_t *)i))
			n++;
		else
			opal_list_append(&rest, i);
	}
	if (!opal_list_is_empty(&rest)) {
		coll_inc_lock();
		opal_list_join(&ranked, opal_list_get_begin(&ranked), &rest);
		coll_inc_unlock();
	}
	OBJ_DESTRUCT(&now);
	OBJ_DESTRUCT(&rest);
	atomic_flag_clear(&busy);
	return n;
}

static int progress_requests(void)
{
	coll_inc_request_t *r, *next;
	opal_list_t done;
	int n = 0;

	if (!opal_list_is_empty(&fallen))
		n = complete_fallen();
	if (!opal_list_is_empty(&ranked))
		n += progress_ranked();
	if (!coll_inc_trylock())
		return n;
	OBJ_CONSTRUCT(&done, opal_list_t);
	OPAL_LIST_FOREACH_SAFE(r, next, &pending, coll_inc_request_t) {
		int ended = 0, rc = r->op.rc;

		if (!rc)
			rc = inc_request_test(r->op.req, &ended);
		if ((!rc && !ended) ||
		    (rc && coll_inc_expects_news(r->op.m, coll_inc_error(rc))))
			continue;
		opal_list_remove_item(&pending, &r->super.super.super.super);
		r->ret = coll_inc_finish(&r->op, rc);
		opal_list_append(&done, &r->super.super.super.super);
	}
	coll_inc_unlock();
	/* Completion callbacks may begin the next operation. */
	while ((r = (coll_inc_request_t *)opal_list_remove_first(&done))) {
		complete_request(r, r->ret);
		n++;
	}
	OBJ_DESTRUCT(&done);
	return n;
}

/* The lock is held. */
static void start_progress(void)
{
	if (running)
		return;
	OBJ_CONSTRUCT(&pending, opal_list_t);
	OBJ_CONSTRUCT(&fallen, opal_list_t);
	OBJ_CONSTRUCT(&ranked, opal_list_t);
	opal_progress_register(progress_requests);
	running = true;
}

static void set_going(coll_inc_request_t *r, opal_list_t *list)
{
	coll_inc_lock();
	start_progress();
	opal_list_append(list, &r->super.super.super.super);
	coll_inc_unlock();
}

/*
 * Begin a reduction that fell through, and send its first messages.
 * @tag: of its tags, see below.c, the last is its own
 */
static int start_ranked(coll_inc_request_t *r, int32_t tag,
			const struct coll_inc_args *args)
{
	bool more;
	int ret;

	r->ranked = coll_inc_ranked_begin(r->comm, args,
					  tag - (COLL_INC_TAGS - 1));
	if (!r->ranked)
		return OMPI_ERR_OUT_OF_RESOURCE;
	ret = coll_inc_ranked_next(r->ranked, &more);
	if (ret != OMPI_SUCCESS)
		return coll_inc_ranked_end(r->ranked, ret);
	/* If there are no messages, it ends with the next turn of Open MPI. */
	set_going(r, &ranked);
	return OMPI_SUCCESS;
}

static void mark_lane(coll_inc_request_t *r, bool is_free)
{
	coll_inc_lock();
	if (is_free)
		r->m->free_lanes |= 1 << r->lane;
	else
		r->m->free_lanes &= ~(1 << r->lane);
	coll_inc_unlock();
}

static void give_back_args(coll_inc_request_t *r)
{
	if (r->lane != COLL_INC_NO_LANE)
		mark_lane(r, true);
	if (r->args.stype)
		OBJ_RELEASE(r->args.stype);
	if (r->args.rtype)
		OBJ_RELEASE(r->args.rtype);
	free(r->counts);
}

/* Undo request_new(). */
static void request_drop(coll_inc_request_t *r)
{
	ompi_communicator_t *comm = r->comm;

	OMPI_REQUEST_FINI(&r->super.super);
	OBJ_RELEASE(r);
	OBJ_RELEASE(comm);
}

static int request_free(ompi_request_t **request)
{
	coll_inc_request_t *r = (coll_inc_request_t *)*request;

	if (!REQUEST_COMPLETE(&r->super.super))
		return MPI_ERR_REQUEST;
	if (r->lasts)
		give_back_args(r);
	request_drop(r);
	*request = MPI_REQUEST_NULL;
	return OMPI_SUCCESS;
}

static int request_cancel(ompi_request_t *request, int flag)
{
	return MPI_ERR_REQUEST;
}

static coll_inc_request_t *request_new(ompi_communicator_t *comm,
				       bool persistent)
{
	coll_inc_request_t *r = OBJ_NEW(coll_inc_request_t);

	if (!r)
		return NULL;
	OMPI_REQUEST_INIT(&r->super.super, persistent);
	if (!persistent)
		r->super.super.req_state = OMPI_REQUEST_ACTIVE;
	r->super.super.req_type = OMPI_REQUEST_COLL;
	r->super.super.req_status.MPI_ERROR = MPI_SUCCESS;
	r->super.super.req_status._cancelled = 0;
	r->super.super.req_free = request_free;
	r->super.super.req_cancel = request_cancel;
	r->super.super.req_mpi_object.comm = comm;
	r->comm = comm;
	r->m = NULL;
	r->lasts = persistent;
	OBJ_RETAIN(comm);
	return r;
}

/*
 * Make a request of a non-blocking operation. Returns OMPI_SUCCESS or an
 * error.
 */
int coll_inc_request(ompi_communicator_t *comm, struct coll_inc_op *o,
		     ompi_request_t **request)
{
	coll_inc_request_t *r = request_new(comm, false);

	/* Without a request, end the operation, waiting for nobody. */
	if (!r) {
		int ret;

		coll_inc_lock();
		coll_inc_end(o->m, -ENOMEM);
		ret = coll_inc_finish(o, -ENOMEM);
		coll_inc_unlock();
		return ret;
	}
	r->op = *o;
	set_going(r, &pending);
	*request = &r->super.super;
	return OMPI_SUCCESS;
}

/*
 * Make a request of a non-blocking reduction that fell through, and keeps the order of
 * the ranks. Returns OMPI_SUCCESS or an error.
 * @tag: result of coll_inc_tags()
 */
int coll_inc_request_ranked(ompi_communicator_t *comm, int32_t tag,
			    const struct coll_inc_args *args,
			    ompi_request_t **request)
{
	coll_inc_request_t *r = request_new(comm, false);
	int ret;

	if (!r)
		return OMPI_ERR_OUT_OF_RESOURCE;
	ret = start_ranked(r, tag, args);
	if (ret != OMPI_SUCCESS) {
		request_drop(r);
		return ret;
	}
	*request = &r->super.super;
	return OMPI_SUCCESS;
}

/* No locking: only the thread that starts a persistent request has it. */
static void start_one(coll_inc_request_t *r)
{
	int ret;

	r->super.super.req_status.MPI_ERROR = MPI_SUCCESS;
	r->super.super.req_complete = REQUEST_PENDING;
	r->super.super.req_state = OMPI_REQUEST_ACTIVE;
	if (r->lane == COLL_INC_NO_LANE) {
		ret = start_ranked(r, r->tag, &r->args);
		if (ret != OMPI_SUCCESS)
			complete_request(r, ret);
		return;
	}
	coll_inc_begin(&r->op, &r->args);
	set_going(r, &pending);
}

/*
 * MPI_Start(), MPI_Startall(). A failure to start is reported by the request's
 * completion: MPI_Start() would call MPI_COMM_WORLD's error handler instead of
 * the communicator's.
 */
static int start_requests(size_t count, ompi_request_t **requests)
{
	size_t i;

	for (i = 0; i < count; i++)
		start_one((coll_inc_request_t *)requests[i]);
	return OMPI_SUCCESS;
}

/* Start a request that was queued. */
static void start_late(coll_inc_request_t *r, enum coll_inc_why why)
{
	int ret;

	if (!why && r->m->err) {
		complete_request(r, r->m->err);
		return;
	}
	if (!why) {
		r->op = (struct coll_inc_op) { .m = r->m, .inc = r->m->inc };
		coll_inc_begin(&r->op, &r->args);
		set_going(r, &pending);
		return;
	}
	if (coll_inc_keeps_order(r->m, r->comm, &r->args)) {
		ret = start_ranked(r, r->tag, &r->args);
	} else {
		ret = coll_inc_below(r->m, r->comm, &r->args, r->tag, &r->below);
		if (ret == OMPI_SUCCESS)
			set_going(r, &fallen);
	}
	if (ret != OMPI_SUCCESS)
		complete_request(r, ret);
}

/*
 * The meeting in the background has ended: start the queued operations in
 * order. If one begins the next meeting, it and all behind it stay queued.
 */
static void decide_queued(struct coll_inc_module *m)
{
	coll_inc_request_t *r;
	enum coll_inc_why why;

	while (!opal_list_is_empty(&m->queue)) {
		r = (coll_inc_request_t *)opal_list_get_first(&m->queue);
		m->tag = r->tag;
		why = coll_inc_decide(m, r->comm, r->fn, &r->args);
		if (why == COLL_INC_LATER)
			return;
		opal_list_remove_item(&m->queue, &r->super.super.super.super);
		start_late(r, why);
	}
}

/*
 * Queue a non-blocking operation. Returns OMPI_SUCCESS or an error.
 * @m: module in state COLL_INC_ASIDE, with the operation's tags in m->tag
 * @args: arguments, copied: MPI keeps what they refer to
 */
int coll_inc_request_later(struct coll_inc_module *m, ompi_communicator_t *comm,
			   enum coll_inc_fn fn,
			   const struct coll_inc_args *args,
			   ompi_request_t **request)
{
	coll_inc_request_t *r = request_new(comm, false);

	if (!r)
		return OMPI_ERR_OUT_OF_RESOURCE;
	r->m = m;
	r->fn = fn;
	r->args = *args;
	r->tag = m->tag;
	m->decide = decide_queued;
	opal_list_append(&m->queue, &r->super.super.super.super);
	*request = &r->super.super;
	return OMPI_SUCCESS;
}

static int keep_counts(coll_inc_request_t *r)
{
	size_t size = (size_t)ompi_comm_size(r->comm) * sizeof(*r->counts);

	r->counts = NULL;
	if (!r->args.counts)
		return 0;
	r->counts = malloc(size);
	if (!r->counts)
		return -ENOMEM;
	memcpy(r->counts, r->args.counts, size);
	r->args.counts = r->counts;
	return 0;
}

/* Arguments that are insignificant on this rank may be anything. */
static void forget_insignificant(struct coll_inc_args *a, int rank)
{
	if (a->sbuf == MPI_IN_PLACE ||
	    (a->coll == COLL_INC_scatter && rank != a->root))
		a->stype = NULL;
	if ((a->coll == COLL_INC_scatter && a->rbuf == MPI_IN_PLACE) ||
	    (a->coll == COLL_INC_gather && rank != a->root))
		a->rtype = NULL;
}

/* End the trees: the other ranks' requests would wait for this rank. */
static int persistent_fails(struct coll_inc_module *m, int lane)
{
	if (lane != COLL_INC_NO_LANE) {
		coll_inc_lock();
		coll_inc_end(m, -ENOMEM);
		coll_inc_unlock();
	}
	return OMPI_ERR_OUT_OF_RESOURCE;
}

/*
 * Make a request of a persistent operation. Returns OMPI_SUCCESS or an error.
 * @lane: tree for this operation, returned with the request; COLL_INC_NO_LANE: it fell
 *	through, and keeps the order of the ranks
 */
int coll_inc_persistent(struct coll_inc_module *m, ompi_communicator_t *comm,
			int lane, const struct coll_inc_args *args,
			ompi_request_t **request)
{
	coll_inc_request_t *r = request_new(comm, true);

	if (!r)
		return persistent_fails(m, lane);
	r->args = *args;
	if (keep_counts(r)) {
		request_drop(r);
		return persistent_fails(m, lane);
	}
	r->super.super.req_start = start_requests;
	forget_insignificant(&r->args, ompi_comm_rank(comm));
	/* The program may free its types before the request. */
	if (r->args.stype)
		OBJ_RETAIN(r->args.stype);
	if (r->args.rtype)
		OBJ_RETAIN(r->args.rtype);
	r->m = m;
	r->lane = lane;
	if (lane == COLL_INC_NO_LANE) {
		r->tag = coll_inc_tags(comm);
	} else {
		r->op = (struct coll_inc_op) { .m = m, .inc = m->lanes[lane] };
		mark_lane(r, false);
	}
	*request = &r->super.super;
	return OMPI_SUCCESS;
}

/* End progress, as there will be no more requests. */
void coll_inc_progress_end(void)
{
	if (!running)
		return;
	opal_progress_unregister(progress_requests);
	OBJ_DESTRUCT(&pending);
	OBJ_DESTRUCT(&fallen);
	OBJ_DESTRUCT(&ranked);
	running = false;
}
