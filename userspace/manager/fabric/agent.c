// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What is asked of a switch's agent: one operation after another, by whatever
 * thread is free, which connects again when the session is lost.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "fabric/switch.h"

#define RETRY_MS	500	/* between attempts to connect */
#define SILENT_MS	10000	/* an agent that has not answered is down */
#define STOP_MS		12000	/* for answers that have begun */

/**
 * sw_name() - name a switch in messages
 * @sw: switch
 *
 * Return: its identity, or the address of its agent.
 */
const char *sw_name(const struct sw *sw)
{
	return sw->info ? sw->info->id : sw->address;
}

/* --- Threads ------------------------------------------------------------- */

static bool ensure_session(struct sw *sw, struct sw_op *op)
{
	int64_t now = now_ms();

	if (sw->session)
		return true;
	if (!sw->tried_at || now - sw->tried_at >= RETRY_MS) {
		sw->tried_at = now;
		sw->session = netconf_open(&sw->target, sw->tried);
	}
	if (sw->session)
		return true;
	op->ret = -EHOSTUNREACH;
	snprintf(op->err, sizeof(op->err), "%s", sw->tried);
	return false;
}

static void run_op(struct sw *sw, struct sw_op *op)
{
	if (!op->reads && !sw->may_change()) {
		op->ret = -ESTALE;
		snprintf(op->err, sizeof(op->err), "this manager does not lead any more");
	} else if (ensure_session(sw, op)) {
		op->ret = op->run(op, sw->session);
		if (op->ret == -ENOTCONN) {
			netconf_close(sw->session);
			sw->session = NULL;
			sw->tried_at = 0;
			op->ret = -EHOSTUNREACH;
		}
	}
	loop_post(sw->loop, &op->work);
}

/* The next operation. NULL: none, and the switch may be another thread's. */
static struct sw_op *next_op(struct sw *sw, bool *stop)
{
	struct sw_op *op;

	pthread_mutex_lock(&sw->lock);
	op = sw->head;
	*stop = sw->stop;
	sw->talking = op || sw->stop;
	if (op) {
		sw->head = op->next;
		if (!sw->head)
			sw->tail = &sw->head;
	}
	pthread_mutex_unlock(&sw->lock);
	return op;
}

static void run_ops(struct job *job)
{
	struct sw *sw = container_of(job, struct sw, talk);
	struct sw_op *op;
	bool stop;

	while ((op = next_op(sw, &stop)))
		run_op(sw, op);
	if (!stop)
		return;
	netconf_close(sw->session);
	sw->session = NULL;
	pthread_mutex_lock(&sw->lock);
	sw->over = true;
	pthread_mutex_unlock(&sw->lock);
}

/* --- The main loop ------------------------------------------------------- */

static void came_back(struct loop_work *work)
{
	struct sw_op *op = container_of(work, struct sw_op, work);
	struct sw *sw = op->sw;

	op->done(op);
	sw->ops--;
}

/**
 * sw_submit() - have an operation done
 * @sw: switch
 * @op: operation, with @op->run and @op->done; belongs to the switch until the
 *	latter is called
 *
 * Operations on a switch are done in the order in which they are submitted.
 */
void sw_submit(struct sw *sw, struct sw_op *op)
{
	op->sw = sw;
	op->next = NULL;
	op->ret = 0;
	op->err[0] = '\0';
	op->work = (struct loop_work){ .fn = came_back };
	sw->ops++;
	pthread_mutex_lock(&sw->lock);
	*sw->tail = op;
	sw->tail = &op->next;
	if (!sw->talking)
		pool_submit(&sw->pool->pool, &sw->talk);
	sw->talking = true;
	pthread_mutex_unlock(&sw->lock);
}

/* Have the timer go off, unless the switch is not to be asked again. */
static void set_timer(struct sw *sw, int64_t at)
{
	if (!sw->gone)
		timer_set(&sw->loop->timers, &sw->timer,
			  sw->quiet ? TIMER_NEVER : at);
}

struct refresh {
	struct sw_op	op;
	char		known[SWITCH_ID_MAX + 1];
	struct sw_info	*info;
};

static int refresh_run(struct sw_op *op, struct netconf *n)
{
	struct refresh *r = container_of(op, struct refresh, op);

	r->info = sw_info_get(n, r->known, op->err);
	return r->info ? 0 : -errno;
}

/* What has not changed was not read again. */
static void keep_interfaces(struct sw_info *info, struct sw_info *before)
{
	if (!info->same)
		return;
	info->ifs = before->ifs;
	info->nifs = before->nifs;
	info->by_name = before->by_name;
	info->by_index = before->by_index;
	before->ifs = NULL;
	before->by_name = NULL;
	before->by_index = NULL;
	before->nifs = 0;
}

/*
 * Two switches of one name are one switch by two addresses, or cannot be
 * distinguished: the first one's trees would be deleted as the second one's. So
 * the second is down for as long as the first has that name.
 */
static bool is_taken(struct sw *sw, struct refresh *r)
{
	const struct sw *other;

	if (sw->info && !strcmp(sw->info->id, r->info->id))
		return false;
	other = sw->namesake(sw, r->info->id);
	if (!other)
		return false;
	snprintf(r->op.err, sizeof(r->op.err), "it calls itself %s, as the one at %s does: is it the same, or has inc-agentd no --id of its own?",
		 r->info->id, other->address);
	sw_info_free(r->info);
	return true;
}

static void note_missed(struct sw *sw)
{
	int64_t now = sw->loop->now;

	if (sw->missed && now - sw->missed_at < sw->interval_ms)
		return;
	sw->missed++;
	sw->missed_at = now;
}

static void refresh_done(struct sw_op *op)
{
	struct refresh *r = container_of(op, struct refresh, op);
	struct sw *sw = op->sw;
	struct sw_info *before = NULL;
	bool up;

	if (sw->gone) {
		sw_info_free(r->info);
		free(r);
		return;
	}
	up = !op->ret && !is_taken(sw, r);
	if (up && (!sw->up || !sw->info || strcmp(sw->info->id, r->info->id)))
		log_info("switch %s (%s): up", r->info->id, sw->address);
	else if (!up && (sw->up || strcmp(sw->why, op->err)))
		log_info("switch %s: down: %s", sw_name(sw), op->err);
	sw->up = up;
	if (up)
		sw->missed = 0;
	else
		note_missed(sw);
	if (up && !sw->known_at)
		sw->known_at = sw->loop->now;
	snprintf(sw->why, sizeof(sw->why), "%s", op->err);
	if (up) {
		before = sw->info;
		sw->info = r->info;
		sw->info->asked_at = sw->asked_at;
		sw->info->told_at = sw->loop->now;
		keep_interfaces(sw->info, before);
	}
	sw->refreshing = false;
	set_timer(sw, sw->loop->now + (sw->again ? 0 : sw->interval_ms));
	sw->again = false;
	sw->on_snapshot(sw, before);
	sw_info_free(before);
	free(r);
}

/**
 * sw_refresh() - ask a switch's agent what there is
 * @sw: switch
 *
 * If it is being asked already, it is asked once more after that.
 */
void sw_refresh(struct sw *sw)
{
	struct refresh *r;

	if (sw->gone)
		return;
	if (sw->refreshing) {
		sw->again = true;
		return;
	}
	r = calloc(1, sizeof(*r));
	if (!r)
		return;
	if (sw->info)
		memcpy(r->known, sw->info->version, sizeof(r->known));
	r->op.run = refresh_run;
	r->op.done = refresh_done;
	r->op.reads = true;
	sw->refreshing = true;
	sw->asked_at = sw->loop->now;
	set_timer(sw, sw->asked_at + SILENT_MS);
	sw_submit(sw, &r->op);
}

/* A thread may have to wait for a connection for a minute. */
static void note_overdue(struct sw *sw)
{
	static const char why[] = "the agent is silent";

	if (sw->up || strcmp(sw->why, why))
		log_info("switch %s: down: %s", sw_name(sw), why);
	sw->up = false;
	note_missed(sw);
	snprintf(sw->why, sizeof(sw->why), "%s", why);
	set_timer(sw, sw->loop->now + sw->interval_ms);
	sw->on_snapshot(sw, NULL);
}

/**
 * sw_awaited() - ask whether a switch's answer is worth waiting for
 * @sw: switch
 *
 * Return: it is being asked, and not silent.
 */
bool sw_awaited(const struct sw *sw)
{
	return sw->refreshing && sw->loop->now - sw->asked_at < SILENT_MS;
}

static void on_timer(struct timer *timer)
{
	struct sw *sw = container_of(timer, struct sw, timer);

	if (sw->refreshing)
		note_overdue(sw);
	else
		sw_refresh(sw);
}

/**
 * sw_silence() - ask a switch's agent no more unless sw_refresh() is called
 * @sw: switch
 */
void sw_silence(struct sw *sw)
{
	sw->quiet = true;
	set_timer(sw, TIMER_NEVER);
}

/* --- Start and stop ------------------------------------------------------ */

/**
 * sw_pool_start() - start the threads for all switches
 * @pool: result
 * @switches: number of switches
 *
 * Return: 0 or a negative errno value.
 */
int sw_pool_start(struct sw_pool *pool, unsigned int switches)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int ret;

	pool->epoll = epoll_create1(EPOLL_CLOEXEC);
	pool->end = eventfd(0, EFD_CLOEXEC);
	if (pool->epoll < 0 || pool->end < 0 ||
	    epoll_ctl(pool->epoll, EPOLL_CTL_ADD, pool->end, &ev))
		return -errno;
	/* One may wait for each of its sessions. */
	ret = pool_start(&pool->pool, 2 * switches);
	return ret ? ret : -pthread_create(&pool->poller, NULL, sw_watch_poll,
					   pool);
}

/**
 * sw_pool_stop() - end the threads
 * @pool: threads; sw_stop() was called for all switches
 *
 * Return: false if an agent keeps one: then all has to stay.
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

/**
 * sw_start() - start to talk with a switch's agent
 * @sw: switch, with @loop, @pool, @target, @interval_ms, @seen and @heard
 *
 * Return: 0 or a negative errno value.
 */
int sw_start(struct sw *sw)
{
	sw->tail = &sw->head;
	sw->talk.run = run_ops;
	if (!sw->locks)
		pthread_mutex_init(&sw->lock, NULL);
	sw->locks = true;
	snprintf(sw->why, sizeof(sw->why), "not reached yet");
	if (timer_add(&sw->loop->timers, &sw->timer, on_timer))
		return -ENOMEM;
	set_timer(sw, sw->loop->now);
	return sw_watch_start(sw);
}

/**
 * sw_stop() - stop to talk with a switch's agent
 * @sw: switch; all its operations are done before sw_pool_stop() returns
 */
void sw_stop(struct sw *sw)
{
	timer_remove(&sw->loop->timers, &sw->timer);
	sw_watch_stop(sw);
	pthread_mutex_lock(&sw->lock);
	sw->stop = true;
	if (!sw->talking)
		pool_submit(&sw->pool->pool, &sw->talk);
	sw->talking = true;
	pthread_mutex_unlock(&sw->lock);
}

/**
 * sw_retire() - let go of a switch for good
 * @sw: switch that no group needs
 *
 * Its information stays, since other objects still point to it.
 */
void sw_retire(struct sw *sw)
{
	sw->gone = true;
	sw->gone_at = sw->loop->now;
	sw->up = false;
	sw->refreshing = false;
	snprintf(sw->why, sizeof(sw->why), "it is not among --switch any more");
	sw_stop(sw);
}

/**
 * sw_is_over() - ask whether nothing of a switch is under way any more
 * @sw: switch
 *
 * Return: true if it is gone, no thread has it, and nothing of it is awaited.
 */
bool sw_is_over(struct sw *sw)
{
	bool over;

	pthread_mutex_lock(&sw->lock);
	over = sw->over && sw->watch.state == SW_WATCH_OVER;
	pthread_mutex_unlock(&sw->lock);
	return over && sw->gone && !sw->ops && !atomic_load(&sw->posted) &&
	       !sw->parts && LIST_EMPTY(&sw->groups);
}

/**
 * sw_clear() - make room for another switch in a switch's place
 * @sw: switch that is over; to be started as a new one
 */
void sw_clear(struct sw *sw)
{
	sw_info_free(sw->info);
	/* The poller may still look whether it waits for what has come. */
	pthread_mutex_lock(&sw->lock);
	memset(sw, 0, offsetof(struct sw, lock));
	sw->watch.state = SW_WATCH_OVER;
	pthread_mutex_unlock(&sw->lock);
}
