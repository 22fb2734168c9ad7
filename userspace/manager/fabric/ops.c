// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Operations on a switch's agent: run one after another by any free thread,
 * which connects again when the session is lost.
 */
#include <errno.h>
#include <stdio.h>

#include "fabric/switch.h"

#define RETRY_MS	500	/* between attempts to connect */
#define QUICK_MS	50	/* less: no pause after it */

/* --- Threads ------------------------------------------------------------- */

static bool ensure_session(struct sw *sw, struct sw_op *op)
{
	int64_t now = now_ms();

	if (sw->queue.session)
		return true;
	if (!sw->queue.tried_at || now - sw->queue.tried_at >= RETRY_MS) {
		sw->queue.session = sw_session_open(sw, sw->queue.connect_error);
		/* An agent that is just starting may accept the next attempt. */
		sw->queue.tried_at = now_ms() - now < QUICK_MS ? 0 : now;
	}
	if (sw->queue.session)
		return true;
	op->ret = -EHOSTUNREACH;
	snprintf(op->err, sizeof(op->err), "%s", sw->queue.connect_error);
	return false;
}

static void run_op(struct sw *sw, struct sw_op *op)
{
	if (!op->reads && !sw->on.change()) {
		op->ret = -ESTALE;
		snprintf(op->err, sizeof(op->err), "this manager does not lead any more");
	} else if (ensure_session(sw, op)) {
		op->ret = op->run(op, sw->queue.session);
		if (op->ret == -ENOTCONN) {
			sw_session_close(sw->queue.session);
			sw->queue.session = NULL;
			sw->queue.tried_at = 0;
			op->ret = -EHOSTUNREACH;
		}
	}
	loop_post(sw->loop, &op->work);
}

/* Get the next operation. NULL: none; another thread may now have the switch. */
static struct sw_op *next_op(struct sw *sw, bool *stop)
{
	struct sw_op *op;

	pthread_mutex_lock(&sw->lock);
	op = sw->queue.head;
	*stop = sw->queue.stop;
	sw->queue.job_active = op || sw->queue.stop;
	if (op) {
		sw->queue.head = op->next;
		if (!sw->queue.head)
			sw->queue.tail = &sw->queue.head;
	}
	pthread_mutex_unlock(&sw->lock);
	return op;
}

static void run_ops(struct job *job)
{
	struct sw *sw = container_of(job, struct sw, queue.job);
	struct sw_op *op;
	bool stop;

	while ((op = next_op(sw, &stop)))
		run_op(sw, op);
	if (!stop)
		return;
	sw_session_close(sw->queue.session);
	sw->queue.session = NULL;
	pthread_mutex_lock(&sw->lock);
	sw->queue.session_ended = true;
	pthread_mutex_unlock(&sw->lock);
}

/* --- The main loop ------------------------------------------------------- */

static void came_back(struct loop_work *work)
{
	struct sw_op *op = container_of(work, struct sw_op, work);
	struct sw *sw = op->sw;

	op->done(op);
	sw->queue.pending--;
}

/*
 * Submit an operation. Operations on a switch are done in the order in which
 * they are submitted.
 * @op: operation, with @op->run and @op->done; belongs to the switch until the
 *	latter is called
 */
void sw_submit(struct sw *sw, struct sw_op *op)
{
	op->sw = sw;
	op->next = NULL;
	op->ret = 0;
	op->err[0] = '\0';
	op->work = (struct loop_work){ .fn = came_back };
	sw->queue.pending++;
	pthread_mutex_lock(&sw->lock);
	*sw->queue.tail = op;
	sw->queue.tail = &op->next;
	if (!sw->queue.job_active)
		pool_submit(&sw->pool->pool, &sw->queue.job);
	sw->queue.job_active = true;
	pthread_mutex_unlock(&sw->lock);
}

/* Prepare a switch for operations. */
void sw_ops_start(struct sw *sw)
{
	sw->queue.tail = &sw->queue.head;
	sw->queue.job.run = run_ops;
	if (!sw->has_lock)
		pthread_mutex_init(&sw->lock, NULL);
	sw->has_lock = true;
}

/* End the session when the operations are done. */
void sw_ops_stop(struct sw *sw)
{
	pthread_mutex_lock(&sw->lock);
	sw->queue.stop = true;
	if (!sw->queue.job_active)
		pool_submit(&sw->pool->pool, &sw->queue.job);
	sw->queue.job_active = true;
	pthread_mutex_unlock(&sw->lock);
}
