// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The thread that talks with a switch's agent, one operation after another, and
 * connects again when the session is lost.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/switch.h"

#define RETRY_MS	500	/* between attempts to connect */
#define SILENT_MS	10000	/* an agent that has not answered is down */

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

/* --- The thread ---------------------------------------------------------- */

static bool connected(struct sw *sw, struct sw_op *op)
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

static void run(struct sw *sw, struct sw_op *op)
{
	if (!op->reads && !sw->may_change()) {
		op->ret = -ESTALE;
		snprintf(op->err, sizeof(op->err), "this manager does not lead any more");
	} else if (connected(sw, op)) {
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

static void *talk(void *arg)
{
	struct sw *sw = arg;
	struct sw_op *op;

	for (;;) {
		pthread_mutex_lock(&sw->lock);
		while (!sw->head && !sw->stop)
			pthread_cond_wait(&sw->wake, &sw->lock);
		op = sw->head;
		if (op) {
			sw->head = op->next;
			if (!sw->head)
				sw->tail = &sw->head;
		}
		pthread_mutex_unlock(&sw->lock);
		if (!op)
			break;
		run(sw, op);
	}
	netconf_close(sw->session);
	return NULL;
}

/* --- The main loop ------------------------------------------------------- */

static void came_back(struct work *work)
{
	struct sw_op *op = container_of(work, struct sw_op, work);

	op->done(op);
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
	op->work.fn = came_back;
	pthread_mutex_lock(&sw->lock);
	*sw->tail = op;
	sw->tail = &op->next;
	pthread_cond_signal(&sw->wake);
	pthread_mutex_unlock(&sw->lock);
}

struct refresh {
	struct sw_op	op;
	struct sw_info	*info;
};

static int refresh_run(struct sw_op *op, struct netconf *n)
{
	struct refresh *r = container_of(op, struct refresh, op);

	r->info = sw_info_get(n, op->err);
	return r->info ? 0 : -errno;
}

static void refresh_done(struct sw_op *op)
{
	struct refresh *r = container_of(op, struct refresh, op);
	struct sw *sw = op->sw;
	struct sw_info *before = NULL;
	bool up = !op->ret;

	if (up && (!sw->up || !sw->info || strcmp(sw->info->id, r->info->id)))
		log_say("switch %s (%s): up", r->info->id, sw->address);
	else if (!up && (sw->up || strcmp(sw->why, op->err)))
		log_say("switch %s: %s", sw_name(sw), op->err);
	sw->up = up;
	sw->missed = up ? 0 : sw->missed + 1;
	snprintf(sw->why, sizeof(sw->why), "%s", op->err);
	if (up) {
		before = sw->info;
		sw->info = r->info;
	}
	sw->refreshing = false;
	sw->refresh_at = sw->loop->now + (sw->again ? 0 : sw->interval_ms);
	sw->again = false;
	sw->seen(sw, before);
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

	if (sw->refreshing) {
		sw->again = true;
		return;
	}
	r = calloc(1, sizeof(*r));
	if (!r)
		return;
	r->op.run = refresh_run;
	r->op.done = refresh_done;
	r->op.reads = true;
	sw->refreshing = true;
	sw->asked_at = sw->loop->now;
	sw->overdue_at = sw->asked_at + SILENT_MS;
	sw_submit(sw, &r->op);
}

/* The thread may have to wait for a connection for a minute. */
static void overdue(struct sw *sw)
{
	static const char why[] = "the agent is silent";

	if (sw->up || strcmp(sw->why, why))
		log_say("switch %s: %s", sw_name(sw), why);
	sw->up = false;
	sw->missed++;
	snprintf(sw->why, sizeof(sw->why), "%s", why);
	sw->overdue_at = sw->loop->now + sw->interval_ms;
	sw->seen(sw, NULL);
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

/**
 * sw_deadline() - get the time when sw_refresh_due() must be called
 * @sw: switch
 *
 * Return: milliseconds.
 */
int64_t sw_deadline(const struct sw *sw)
{
	return sw->refreshing ? sw->overdue_at : sw->refresh_at;
}

/**
 * sw_refresh_due() - ask again if it is time
 * @sw: switch
 */
void sw_refresh_due(struct sw *sw)
{
	if (sw_deadline(sw) > sw->loop->now)
		return;
	if (sw->refreshing)
		overdue(sw);
	else
		sw_refresh(sw);
}

/**
 * sw_start() - start to talk with a switch's agent
 * @sw: switch, with @loop, @target, @interval_ms, @seen and @heard
 *
 * Return: 0 or a negative errno value.
 */
int sw_start(struct sw *sw)
{
	int ret;

	sw->tail = &sw->head;
	pthread_mutex_init(&sw->lock, NULL);
	pthread_cond_init(&sw->wake, NULL);
	snprintf(sw->why, sizeof(sw->why), "not reached yet");
	ret = -pthread_create(&sw->thread, NULL, talk, sw);
	return ret ? ret : sw_watch_start(sw);
}

/**
 * sw_stop() - stop to talk with a switch's agent
 * @sw: switch; all its operations are done first
 */
void sw_stop(struct sw *sw)
{
	sw_watch_stop(sw);
	pthread_mutex_lock(&sw->lock);
	sw->stop = true;
	pthread_cond_signal(&sw->wake);
	pthread_mutex_unlock(&sw->lock);
	pthread_join(sw->thread, NULL);
}
