// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A collective in progress: waiting and completion.
 *
 * While a blocking collective waits, Open MPI's own progress continues: another
 * rank may need it to reach the collective at all.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "coll_inc.h"

#include "ompi/runtime/mpiruntime.h"
#include "opal/runtime/opal_progress.h"

/* Milliseconds that a blocking collective sleeps between polls of Open MPI. */
#define SLEEP_MIN_MS	1
#define SLEEP_MAX_MS	8

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * Take the lock for calls to libinc. Only one thread at a time may call it:
 * another may be in our progress function.
 */
void coll_inc_lock(void)
{
	pthread_mutex_lock(&lock);
}

/*
 * Try to take the lock for calls to libinc. Returns false if another thread
 * holds it, or this one, further up its stack.
 */
bool coll_inc_trylock(void)
{
	return !pthread_mutex_trylock(&lock);
}

/* Release the lock for calls to libinc. */
void coll_inc_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

/*
 * Find Open MPI's error for one of libinc's. Returns OMPI_SUCCESS or an error.
 */
int coll_inc_error(int rc)
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

/* Result of the earlier parts, all complete: parts end in order. */
static int earlier_parts(const struct coll_inc_op *o)
{
	int i, rc = 0;

	for (i = 0; i < o->nearlier && !rc; i++)
		rc = inc_request_wait(o->earlier[i]);
	return rc;
}

/* Abort the job: coll/han ignores errors, and would pass on wrong data. */
static void give_up(const struct coll_inc_module *m, int ret)
{
	opal_output(coll_inc_output,
		    "coll/inc: coll/han would go on with wrong data: the job ends");
	ompi_mpi_abort(m->comm, ret);
}

/*
 * End the trees, as this rank can't do its part. Context: coll_inc_lock() is
 * held.
 * @m: module; all its operations fail from now on, on all ranks
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

/*
 * Complete an operation. Context: coll_inc_lock() is held. Returns
 * OMPI_SUCCESS or an error.
 * @o: operation; its resources are freed
 * @rc: its result, or its last part's: 0 or -errno
 */
int coll_inc_finish(struct coll_inc_op *o, int rc)
{
	int ret;

	if (!rc)
		rc = earlier_parts(o);
	ret = rc ? coll_inc_lost(o->m->comm) : OMPI_SUCCESS;
	if (rc && !ret) {
		ret = coll_inc_error(rc);
		opal_output(coll_inc_output, "coll/inc: %s",
			    inc_comm_strerror(o->inc));
	}
	if (!ret && o->recv_tmp)
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
 * Choose the sleep before Open MPI's next turn: none while it has work, else
 * increasingly longer. None either with other threads in MPI: they may be
 * waiting for libinc.
 */
static unsigned int next_sleep_ms(unsigned int ms)
{
	if (opal_progress() > 0)
		return 0;
	if (opal_using_threads()) {
		sched_yield();
		return 0;
	}
	return ms ? (2 * ms < SLEEP_MAX_MS ? 2 * ms : SLEEP_MAX_MS) :
		    SLEEP_MIN_MS;
}

/*
 * Wait for a blocking operation. Sleeps until there are results, so that other
 * ranks on this CPU can work. Returns OMPI_SUCCESS or an error.
 */
int coll_inc_wait(struct coll_inc_op *o)
{
	unsigned int ms = opal_using_threads() ? 0 : SLEEP_MIN_MS;
	int rc = o->rc;

	while (!rc) {
		pthread_mutex_lock(&lock);
		rc = inc_request_wait_for(o->req, ms);
		pthread_mutex_unlock(&lock);
		if (rc != -EAGAIN)
			break;
		rc = 0;
		ms = next_sleep_ms(ms);
	}
	if (rc)
		coll_inc_explain(o->m, coll_inc_error(rc));
	pthread_mutex_lock(&lock);
	rc = coll_inc_finish(o, rc);
	pthread_mutex_unlock(&lock);
	return rc;
}
