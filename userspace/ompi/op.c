// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * One collective under way: its wait, its end.
 *
 * While a blocking collective waits, Open MPI's own progress goes on: another
 * rank may need it to come to the collective at all.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

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

/* How its earlier parts ended. They end in order, so all of them have. */
static int earlier_parts(const struct coll_inc_op *o)
{
	int i, rc = 0;

	for (i = 0; i < o->nearlier && !rc; i++)
		rc = inc_wait(o->earlier[i]);
	return rc;
}

/* The data that would be passed on is not there, and nobody else would stop. */
static void give_up(const struct coll_inc_module *m, int ret)
{
	opal_output(coll_inc_output,
		    "coll/inc: coll/han would go on with wrong data: the job ends");
	ompi_mpi_abort(m->comm, ret);
}

/**
 * coll_inc_end() - a rank can't do its part: nobody may wait for it
 * @m: module; on all ranks each of its operations fails from now on
 * @rc: why, -errno
 *
 * Context: coll_inc_lock() is held.
 */
void coll_inc_end(struct coll_inc_module *m, int rc)
{
	int i;

	if (m->ended)
		return;
	m->ended = true;
	if (m->inc)
		inc_comm_abort(m->inc, rc);
	for (i = 0; i < m->nlanes; i++)
		inc_comm_abort(m->lanes[i], rc);
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
		ret = coll_inc_deliver(o);
	if (ret != OMPI_SUCCESS && o->m->unheard)
		give_up(o->m, ret);
	if (o->type)
		OBJ_RELEASE(o->type);
	while (o->nearlier)
		inc_request_free(o->earlier[--o->nearlier]);
	inc_request_free(o->req);
	free(o->earlier);
	free(o->send_tmp);
	free(o->recv_tmp);
	*o = (struct coll_inc_op) { .m = o->m, .inc = o->inc };
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
