// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Destruction of a queue pair. If its packets are stuck in the host, as after a link
 * was cut, rxe waits for them, up to 50 seconds. So a thread destroys it, and the
 * caller waits only briefly. A queue pair in ERROR writes nothing to memory, but its
 * completion queues and registrations must outlast it.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "conf/clock.h"
#include "conf/thread.h"
#include "dying.h"
#include "verbs.h"

/**
 * struct inc_dying - a queue pair that a thread destroys
 * @qp: queue pair
 * @lock: protects the rest
 * @cond: signaled when @over
 * @over: the queue pair is destroyed, or cannot be
 * @ret: 0, or a negative errno value if it cannot be
 * @then: called with @arg after that by the thread, which then frees this
 * @arg: argument of @then
 */
struct inc_dying {
	struct ibv_qp	*qp;
	pthread_mutex_t	lock;
	pthread_cond_t	cond;
	bool		over;
	int		ret;
	void		(*then)(void *arg);
	void		*arg;
};

static void free_dying(struct inc_dying *d)
{
	pthread_cond_destroy(&d->cond);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

static void *destroy_main(void *arg)
{
	struct inc_dying *d = arg;
	int ret = -ibv_destroy_qp(d->qp);
	bool left;

	pthread_mutex_lock(&d->lock);
	d->ret = ret;
	d->over = true;
	left = d->then;
	pthread_cond_signal(&d->cond);
	pthread_mutex_unlock(&d->lock);
	if (left) {
		d->then(d->arg);
		free_dying(d);
	}
	return NULL;
}

static struct inc_dying *start_thread(struct ibv_qp *qp)
{
	struct inc_dying *d = calloc(1, sizeof(*d));
	pthread_t thread;

	if (!d)
		return NULL;
	d->qp = qp;
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->cond, NULL);
	if (thread_create(&thread, destroy_main, d)) {
		free_dying(d);
		return NULL;
	}
	pthread_detach(thread);
	return d;
}

/* Wait up to @ms. Returns whether destruction is over; @ret: its result. */
static bool wait_over(struct inc_dying *d, int ms, int *ret)
{
	int64_t until = ms < 0 ? INT64_MAX : now_ms() + ms;
	bool over;

	pthread_mutex_lock(&d->lock);
	while (!d->over && cond_wait(&d->cond, &d->lock, until) != ETIMEDOUT)
		;
	over = d->over;
	*ret = d->ret;
	pthread_mutex_unlock(&d->lock);
	if (over)
		free_dying(d);
	return over;
}

/*
 * Destroy a queue pair. When this returns, nothing more is written to memory.
 * Returns 0; or a negative errno value: the queue pair still exists.
 * @qp: queue pair, which no other thread uses
 * @ms: maximum time to wait, milliseconds; -1: forever
 * @dying: set if it takes longer: inc_dying_over() or inc_dying_then() follows
 */
int inc_qp_destroy(struct ibv_qp *qp, int ms, struct inc_dying **dying)
{
	struct inc_dying *d;
	int ret;

	inc_qp_to_err(qp);
	d = start_thread(qp);
	if (!d)
		return -ibv_destroy_qp(qp);
	if (wait_over(d, ms, &ret))
		return ret;
	*dying = d;
	return 0;
}

/*
 * Check whether a queue pair is destroyed. Returns true if so.
 * @dying: from inc_qp_destroy(), or NULL; set to NULL if so
 */
bool inc_dying_over(struct inc_dying **dying)
{
	int ret;

	if (*dying && !wait_over(*dying, 0, &ret))
		return false;
	*dying = NULL;
	return true;
}

/*
 * Have a function called when a queue pair is destroyed.
 * @dying: from inc_qp_destroy(); not to be used again
 * @then: function, called by another thread, or at once by this one
 */
void inc_dying_then(struct inc_dying *dying, void (*then)(void *arg), void *arg)
{
	bool over;

	pthread_mutex_lock(&dying->lock);
	over = dying->over;
	dying->then = then;
	dying->arg = arg;
	pthread_mutex_unlock(&dying->lock);
	if (!over)
		return;
	then(arg);
	free_dying(dying);
}
