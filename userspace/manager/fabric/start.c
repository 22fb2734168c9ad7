// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Start and stop of a switch, and of the threads that talk with all of them.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "fabric/switch.h"

#define STOP_MS		12000	/* for answers that have begun */

/* Start the threads for all switches. */
int sw_pool_start(struct sw_pool *pool, unsigned int switches)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int ret;

	pool->epoll = epoll_create1(EPOLL_CLOEXEC);
	pool->end = eventfd(0, EFD_CLOEXEC);
	if (pool->epoll < 0 || pool->end < 0 ||
	    epoll_ctl(pool->epoll, EPOLL_CTL_ADD, pool->end, &ev))
		return -errno;
	/* Each switch has two sessions, either of which may block a thread. */
	ret = pool_start(&pool->pool, 2 * switches);
	return ret ? ret : -pthread_create(&pool->poller, NULL, sw_watch_poll,
					   pool);
}

/*
 * End the threads. Returns false if an agent still blocks one: then all memory
 * must stay.
 * @pool: threads; sw_stop() was called for all switches
 */
bool sw_pool_stop(struct sw_pool *pool)
{
	bool ended = pool_stop(&pool->pool, STOP_MS);
	uint64_t one = 1;

	if (write(pool->end, &one, sizeof(one)) == sizeof(one))
		pthread_join(pool->poller, NULL);
	close(pool->end);
	close(pool->epoll);
	return ended;
}

/*
 * Start communication with a switch's agent. Returns 0, or -ENOMEM: then the
 * switch's place can be used again once it is @gone.
 * @sw: switch, with @loop, @pool, @target, @interval_ms and its callbacks
 */
int sw_start(struct sw *sw)
{
	int ret;

	sw_ops_start(sw);
	snprintf(sw->why, sizeof(sw->why), "not reached yet");
	ret = sw_refresh_start(sw);
	if (!ret) {
		ret = sw_watch_start(sw);
		if (ret)
			timer_remove(&sw->loop->timers, &sw->refresh.timer);
	}
	if (ret) {
		sw->queue.session_ended = true;
		sw->watch.state = SW_WATCH_OVER;
	}
	return ret;
}

/*
 * Stop communication with a switch's agent.
 * @sw: switch; all its operations are done before sw_pool_stop() returns
 */
void sw_stop(struct sw *sw)
{
	timer_remove(&sw->loop->timers, &sw->refresh.timer);
	sw_watch_stop(sw);
	sw_ops_stop(sw);
}

/*
 * Remove a switch for good. Its information stays, since other objects still
 * point to it.
 */
void sw_retire(struct sw *sw)
{
	sw->gone = true;
	sw->gone_at = sw->loop->now;
	sw->up = false;
	sw->refresh.running = false;
	snprintf(sw->why, sizeof(sw->why), "it is not among --switch any more");
	sw_stop(sw);
}

/*
 * Check whether a switch's place can be used again. Returns true if the switch
 * is gone, no thread has it, and nothing of it is pending.
 */
bool sw_is_over(struct sw *sw)
{
	bool over;

	pthread_mutex_lock(&sw->lock);
	over = sw->queue.session_ended && sw->watch.state == SW_WATCH_OVER;
	pthread_mutex_unlock(&sw->lock);
	return over && sw->gone && !sw->queue.pending && !atomic_load(&sw->queue.n_posted) &&
	       !sw->subtrees && LIST_EMPTY(&sw->groups);
}

/*
 * Make room for another switch in a switch's place.
 * @sw: switch that is over; to be started as a new one
 */
void sw_clear(struct sw *sw)
{
	sw_snapshot_free(sw->info);
	/* The poller may still look at the state. */
	pthread_mutex_lock(&sw->lock);
	memset(sw, 0, offsetof(struct sw, lock));
	sw->watch.state = SW_WATCH_OVER;
	pthread_mutex_unlock(&sw->lock);
}
