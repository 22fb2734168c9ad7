// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * One collective under way: its data packed where its type has holes, its
 * progress, its end.
 *
 * While a blocking collective waits, Open MPI's own progress goes on: another
 * rank may need it to come to the collective at all.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "coll_inc.h"

#include "opal/class/opal_list.h"
#include "opal/runtime/opal_progress.h"

/* struct coll_inc_request - a non-blocking collective */
struct coll_inc_request {
	ompi_request_t		super;
	struct coll_inc_module	*m;
	struct coll_inc_op	op;
};

typedef struct coll_inc_request coll_inc_request_t;
OBJ_CLASS_DECLARATION(coll_inc_request_t);

static void request_construct(coll_inc_request_t *r)
{
	OMPI_REQUEST_INIT(&r->super, false);
}

OBJ_CLASS_INSTANCE(coll_inc_request_t, ompi_request_t, request_construct, NULL);

/* Requests that are not complete; the lock also serializes calls of libinc. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static opal_list_t pending;
static bool running;

/**
 * coll_inc_lock() - libinc may be called
 *
 * One thread at a time: another one may be in our progress function.
 */
void coll_inc_lock(void)
{
	pthread_mutex_lock(&lock);
}

/**
 * coll_inc_unlock() - it was
 */
void coll_inc_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

/* Are elements of that type one after the other, without holes? */
static bool dense(const ompi_datatype_t *type, ptrdiff_t *gap)
{
	size_t size;
	ptrdiff_t span = opal_datatype_span(&type->super, 2, gap);

	ompi_datatype_type_size(type, &size);
	return ompi_datatype_is_contiguous_memory_layout(type, 2) &&
	       (size_t)span == 2 * size;
}

static int copy_blocks(struct coll_inc_op *o, char *packed, char *buf, bool pack)
{
	size_t len = coll_inc_size(o->type, o->count);
	ptrdiff_t lb, extent;
	int i, ret = OMPI_SUCCESS;

	ompi_datatype_get_extent(o->type, &lb, &extent);
	for (i = 0; i < o->blocks && ret == OMPI_SUCCESS; i++) {
		if (pack)
			ret = ompi_datatype_sndrcv(buf, o->count, o->type, packed,
						   (int)len, &ompi_mpi_packed.dt);
		else
			ret = ompi_datatype_sndrcv(packed, (int)len,
						   &ompi_mpi_packed.dt, buf,
						   o->count, o->type);
		packed += len;
		buf += extent * o->count;
	}
	return ret;
}

/**
 * coll_inc_send() - data to send, without holes
 * @o: operation
 * @buf: user's data
 * @blocks: blocks of it
 * @count: elements of each
 * @type: their type
 *
 * Return: the data, or NULL without memory.
 */
const void *coll_inc_send(struct coll_inc_op *o, const void *buf, int blocks,
			  int count, ompi_datatype_t *type)
{
	struct coll_inc_op side = { .blocks = blocks, .count = count, .type = type };
	ptrdiff_t gap = 0;

	if (dense(type, &gap))
		return (const char *)buf + gap;
	o->send_tmp = malloc(coll_inc_size(type, count) * (size_t)blocks + 1);
	if (o->send_tmp &&
	    copy_blocks(&side, o->send_tmp, (char *)buf, true) != OMPI_SUCCESS) {
		free(o->send_tmp);
		o->send_tmp = NULL;
	}
	return o->send_tmp;
}

/**
 * coll_inc_recv() - where data without holes may come
 * @o: operation, which unpacks it at its end
 * @buf: where the user wants it
 * @blocks: blocks of it
 * @count: elements of each
 * @type: their type
 *
 * Return: the place, or NULL without memory.
 */
void *coll_inc_recv(struct coll_inc_op *o, void *buf, int blocks, int count,
		    ompi_datatype_t *type)
{
	ptrdiff_t gap = 0;

	if (dense(type, &gap))
		return (char *)buf + gap;
	o->recv_tmp = malloc(coll_inc_size(type, count) * (size_t)blocks + 1);
	o->buf = buf;
	o->blocks = blocks;
	o->count = count;
	o->type = type;
	if (o->recv_tmp)
		OBJ_RETAIN(type);
	return o->recv_tmp;
}

static int mpi_error(int rc)
{
	switch (rc) {
	case 0:
		return OMPI_SUCCESS;
	case -ENOMEM:
		return OMPI_ERR_OUT_OF_RESOURCE;
	case -ETIMEDOUT:
		return OMPI_ERR_TIMEOUT;
	default:
		return OMPI_ERROR;
	}
}

/* The operation has ended with @rc, 0 or -errno. The lock is held. */
static int finish(struct coll_inc_module *m, struct coll_inc_op *o, int rc)
{
	int ret = mpi_error(rc);

	if (rc && m->inc)
		opal_output(coll_inc_output, "coll/inc: %s",
			    inc_comm_strerror(m->inc));
	if (o->recv_tmp) {
		if (!rc)
			ret = copy_blocks(o, o->recv_tmp, o->buf, false);
		OBJ_RELEASE(o->type);
	}
	inc_request_free(o->req);
	free(o->send_tmp);
	free(o->recv_tmp);
	return ret;
}

/**
 * coll_inc_wait() - a blocking operation
 * @m: module
 * @o: operation
 * @rc: what libinc said when it was begun
 *
 * Return: OMPI_SUCCESS or an error.
 */
int coll_inc_wait(struct coll_inc_module *m, struct coll_inc_op *o, int rc)
{
	int done = 0;

	while (!rc && !done) {
		pthread_mutex_lock(&lock);
		rc = inc_test(o->req, &done);
		pthread_mutex_unlock(&lock);
		if (!done && !opal_progress())
			sched_yield();
	}
	pthread_mutex_lock(&lock);
	rc = finish(m, o, rc);
	pthread_mutex_unlock(&lock);
	return rc;
}

static int progress(void)
{
	coll_inc_request_t *r, *next;
	int n = 0;

	/* Another thread is at it, or this one, below us. */
	if (pthread_mutex_trylock(&lock))
		return 0;
	OPAL_LIST_FOREACH_SAFE(r, next, &pending, coll_inc_request_t) {
		int done = 0, rc = inc_test(r->op.req, &done);

		if (!rc && !done)
			continue;
		opal_list_remove_item(&pending, &r->super.super.super);
		r->super.req_status.MPI_ERROR = finish(r->m, &r->op, rc);
		n++;
		ompi_request_complete(&r->super, true);
	}
	pthread_mutex_unlock(&lock);
	return n;
}

static int request_free(ompi_request_t **request)
{
	coll_inc_request_t *r = (coll_inc_request_t *)*request;

	if (!REQUEST_COMPLETE(&r->super))
		return MPI_ERR_REQUEST;
	OMPI_REQUEST_FINI(&r->super);
	OBJ_RELEASE(r);
	*request = MPI_REQUEST_NULL;
	return OMPI_SUCCESS;
}

static int request_cancel(ompi_request_t *request, int flag)
{
	(void)request;
	(void)flag;
	return MPI_ERR_REQUEST;
}

/**
 * coll_inc_request() - a non-blocking operation
 * @m: module
 * @comm: communicator
 * @o: operation, copied
 * @rc: what libinc said when it was begun
 * @request: result
 *
 * Return: OMPI_SUCCESS or an error.
 */
int coll_inc_request(struct coll_inc_module *m, ompi_communicator_t *comm,
		     struct coll_inc_op *o, int rc, ompi_request_t **request)
{
	coll_inc_request_t *r = rc ? NULL : OBJ_NEW(coll_inc_request_t);

	/* Without a request it ends here. */
	if (!r) {
		int ret = coll_inc_wait(m, o, rc);

		return ret != OMPI_SUCCESS ? ret : OMPI_ERR_OUT_OF_RESOURCE;
	}
	r->super.req_type = OMPI_REQUEST_COLL;
	r->super.req_state = OMPI_REQUEST_ACTIVE;
	r->super.req_status.MPI_ERROR = MPI_SUCCESS;
	r->super.req_status._cancelled = 0;
	r->super.req_free = request_free;
	r->super.req_cancel = request_cancel;
	r->super.req_mpi_object.comm = comm;
	r->m = m;
	r->op = *o;
	pthread_mutex_lock(&lock);
	if (!running) {
		OBJ_CONSTRUCT(&pending, opal_list_t);
		opal_progress_register(progress);
		running = true;
	}
	opal_list_append(&pending, &r->super.super.super);
	pthread_mutex_unlock(&lock);
	*request = &r->super;
	return OMPI_SUCCESS;
}

/**
 * coll_inc_progress_end() - no more requests will come
 */
void coll_inc_progress_end(void)
{
	if (!running)
		return;
	opal_progress_unregister(progress);
	OBJ_DESTRUCT(&pending);
	running = false;
}
