// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * One collective under way: its data packed where its type has holes, its end.
 *
 * While a blocking collective waits, Open MPI's own progress goes on: another
 * rank may need it to come to the collective at all.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "coll_inc.h"

#include "ompi/runtime/mpiruntime.h"
#include "opal/runtime/opal_progress.h"

/* Milliseconds that a blocking collective sleeps between looks at Open MPI. */
#define SLEEP_MIN_MS	1
#define SLEEP_MAX_MS	8

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

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
 * coll_inc_trylock() - the same, unless a thread is at it, or this one, below us
 *
 * Return: whether libinc may be called.
 */
bool coll_inc_trylock(void)
{
	return !pthread_mutex_trylock(&lock);
}

/**
 * coll_inc_unlock() - it was
 */
void coll_inc_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

static char nothing[1];

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

	/* Without data the user's address may be NULL. */
	if (!coll_inc_size(type, count))
		return nothing;
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

	if (!coll_inc_size(type, count))
		return nothing;
	if (dense(type, &gap))
		return (char *)buf + gap;
	o->recv_tmp = malloc(coll_inc_size(type, count) * (size_t)blocks + 1);
	if (!o->recv_tmp)
		return NULL;
	o->buf = buf;
	o->blocks = blocks;
	o->count = count;
	o->type = type;
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

/* What came goes where the user wants it. */
static int deliver(struct coll_inc_op *o)
{
	if (o->type)
		return copy_blocks(o, o->recv_tmp, o->buf, false);
	if (o->bytes)
		memcpy(o->buf, o->recv_at, o->bytes);
	return OMPI_SUCCESS;
}

/* How its earlier parts ended. They end in order, so all of them have. */
static int earlier_parts(const struct coll_inc_op *o)
{
	int i, rc = 0;

	for (i = 0; i < o->nearlier && !rc; i++)
		rc = inc_wait(o->earlier[i]);
	return rc;
}

/* The data that would be passed on is not there, and nobody else would stop. */
static void give_up(int ret)
{
	opal_output(coll_inc_output,
		    "coll/inc: coll/han would go on with wrong data: the job ends");
	ompi_mpi_abort(&ompi_mpi_comm_world.comm, ret);
}

/**
 * coll_inc_finish() - an operation has ended
 * @o: operation; what it holds is given back
 * @rc: how, or how its last part did: 0 or -errno
 *
 * Context: coll_inc_lock() is held.
 *
 * Return: OMPI_SUCCESS or an error.
 */
int coll_inc_finish(struct coll_inc_op *o, int rc)
{
	int ret;

	if (!rc)
		rc = earlier_parts(o);
	ret = mpi_error(rc);
	if (rc)
		opal_output(coll_inc_output, "coll/inc: %s",
			    inc_comm_strerror(o->inc));
	else if (o->recv_tmp)
		ret = deliver(o);
	if (ret != OMPI_SUCCESS && o->unheard)
		give_up(ret);
	if (o->type)
		OBJ_RELEASE(o->type);
	while (o->nearlier)
		inc_request_free(o->earlier[--o->nearlier]);
	inc_request_free(o->req);
	free(o->earlier);
	free(o->send_tmp);
	free(o->recv_tmp);
	*o = (struct coll_inc_op) { .inc = o->inc };
	return ret;
}

/*
 * How long to sleep before Open MPI gets its turn: not at all while it has
 * something to do, else longer and longer. With other threads in MPI not at all
 * either: they may be waiting for libinc.
 */
static unsigned int next_sleep_ms(unsigned int ms)
{
	if (opal_progress() > 0)
		return 0;
	if (opal_using_threads()) {
		sched_yield();
		return 0;
	}
	return ms ? (2 * ms < SLEEP_MAX_MS ? 2 * ms : SLEEP_MAX_MS) : SLEEP_MIN_MS;
}

/**
 * coll_inc_wait() - a blocking operation
 * @o: operation
 * @rc: what libinc said when it was begun
 *
 * Sleeps until there are results, so that other ranks on this CPU can work.
 *
 * Return: OMPI_SUCCESS or an error.
 */
int coll_inc_wait(struct coll_inc_op *o, int rc)
{
	unsigned int ms = opal_using_threads() ? 0 : SLEEP_MIN_MS;

	while (!rc) {
		pthread_mutex_lock(&lock);
		rc = inc_wait_for(o->req, ms);
		pthread_mutex_unlock(&lock);
		if (rc != -EAGAIN)
			break;
		rc = 0;
		ms = next_sleep_ms(ms);
	}
	pthread_mutex_lock(&lock);
	rc = coll_inc_finish(o, rc);
	pthread_mutex_unlock(&lock);
	return rc;
}
