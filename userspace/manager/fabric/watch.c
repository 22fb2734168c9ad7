// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A switch's notifications, over a NETCONF session of their own. The end of
 * this session is reported as a notification, too.
 *
 * One thread waits for the sessions of all switches, but reads none: an agent
 * may send half a notification. Reading and connecting are jobs of the pool.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "conf/text.h"
#include "fabric/netconf.h"
#include "fabric/switch.h"
#include "fabric/yang.h"

#define RETRY_MS	500	/* between attempts to connect */
#define LOOK_MS		250	/* between polls, without a descriptor */
#define EVENTS		64
#define NEWS_MAX	1024	/* notifications in one run of the job */

static const struct {
	const char		*name;
	enum sw_notif_kind	kind;
} kinds[] = {
	{ "tree-failed", SW_NOTIF_TREE_FAILED },
	{ "tree-deleted", SW_NOTIF_TREE_DELETED },
	{ "member-error", SW_NOTIF_MEMBER_ERROR },
	{ "slot-failed", SW_NOTIF_SLOT_FAILED },
	{ "topology-changed", SW_NOTIF_LINK },
};

/* --- The pool ------------------------------------------------------------ */

static void on_notif(struct loop_work *work)
{
	struct sw_notif *n = container_of(work, struct sw_notif, work);

	n->sw->on.notif(n);
	atomic_fetch_sub(&n->sw->queue.n_posted, 1);
	free(n);
}

static struct sw_notif *make_notif(struct sw *sw, enum sw_notif_kind kind)
{
	struct sw_notif *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->work.fn = on_notif;
	n->sw = sw;
	n->kind = kind;
	n->member = -1;
	n->other_member = -1;
	return n;
}

static void post_work(struct sw *sw, struct loop_work *work)
{
	atomic_fetch_add(&sw->queue.n_posted, 1);
	loop_post(sw->loop, work);
}

static void post_notif(struct sw *sw, enum sw_notif_kind kind)
{
	struct sw_notif *n = make_notif(sw, kind);

	if (n)
		post_work(sw, &n->work);
}

static int member_of(const struct lyd_node *notif, const char *name)
{
	return yang_child(notif, name) ? (int)yang_number(notif, name) : -1;
}

static void take_notif(struct sw *sw, const struct lyd_node *notif)
{
	bool slot = !strcmp(LYD_NAME(notif), "slot-failed");
	struct sw_notif *n = NULL;
	const char *text;
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(LYD_NAME(notif), kinds[i].name))
			n = make_notif(sw, kinds[i].kind);
	if (!n)
		return;
	n->tree = (uint32_t)yang_number(notif, "tree-id");
	n->member = member_of(notif, slot ? "wrong-rank" : "rank");
	n->other_member = member_of(notif, "unlike-rank");
	n->status = (unsigned int)yang_number(notif, slot ? "status" :
							       "error");
	n->msg_id = (uint32_t)yang_number(notif, "msg-id");
	text = yang_text(notif, n->kind == SW_NOTIF_LINK ? "interface" :
							     "error");
	snprintf(n->text, sizeof(n->text), "%s", text ? text : "");
	text_clean(n->text);
	post_work(sw, &n->work);
}

/* Read the notifications that have arrived. */
static void listen_to(struct sw *sw)
{
	struct sw_watch *w = &sw->watch;
	struct lyd_node *notif;
	unsigned int n = 0;
	int ret;

	do {
		ret = netconf_notif(w->session, 0, &notif);
		if (!ret)
			take_notif(sw, notif);
		lyd_free_tree(notif);
	} while ((!ret || ret == -EBADMSG) && ++n < NEWS_MAX);
	if (ret != -ENOTCONN)
		return;
	netconf_close(w->session);
	w->session = NULL;
	w->in_epoll = false;
	post_notif(sw, SW_NOTIF_UNWATCHED);
}

static void connect_to(struct sw *sw)
{
	char err[SW_ERROR_LEN];
	struct sw_session *n = netconf_open(&sw->target, err);

	if (n && netconf_subscribe(n, err)) {
		netconf_close(n);
		n = NULL;
	}
	sw->watch.session = n;
	if (n)
		post_notif(sw, SW_NOTIF_WATCHED);
}

/* Wait for the session's descriptor. Returns false if it has none. */
static bool arm_watch(struct sw *sw)
{
	struct sw_watch *w = &sw->watch;
	struct epoll_event ev = {
		.events = EPOLLIN | EPOLLONESHOT,
		.data.ptr = sw,
	};
	int fd = w->session ? netconf_fd(w->session) : -1;

	if (fd < 0 || epoll_ctl(sw->pool->epoll, w->in_epoll ? EPOLL_CTL_MOD :
				EPOLL_CTL_ADD, fd, &ev))
		return false;
	w->in_epoll = true;
	return true;
}

/*
 * Choose what the job waits for after a run. Returns false if it is over; else
 * another thread may have it by now.
 */
static bool await_event(struct sw *sw)
{
	struct sw_watch *w = &sw->watch;
	bool on;

	pthread_mutex_lock(&sw->lock);
	on = w->wanted;
	if (on && arm_watch(sw)) {
		w->state = SW_WATCH_ARMED;
	} else if (on) {
		w->state = SW_WATCH_LATER;
		w->later_ms = w->session ? LOOK_MS : RETRY_MS;
		post_work(sw, &w->work);
	}
	pthread_mutex_unlock(&sw->lock);
	return on;
}

static void run_watch(struct job *job)
{
	struct sw *sw = container_of(job, struct sw, watch.job);
	struct sw_watch *w = &sw->watch;
	bool on;

	pthread_mutex_lock(&sw->lock);
	on = w->wanted;
	pthread_mutex_unlock(&sw->lock);
	if (on && !w->session)
		connect_to(sw);
	else if (on)
		listen_to(sw);
	if (await_event(sw))
		return;
	netconf_close(w->session);
	w->session = NULL;
	pthread_mutex_lock(&sw->lock);
	w->state = SW_WATCH_OVER;
	pthread_mutex_unlock(&sw->lock);
}

/* Submit the job if it waits for this. */
static void go_on(struct sw *sw, enum sw_watch_state waits_for)
{
	pthread_mutex_lock(&sw->lock);
	if (sw->watch.state == waits_for) {
		sw->watch.state = SW_WATCH_BUSY;
		pool_submit(&sw->pool->pool, &sw->watch.job);
	}
	pthread_mutex_unlock(&sw->lock);
}

/* --- The poller ---------------------------------------------------------- */

/*
 * Wait for the sessions of all switches. Context: a thread of its own, until
 * the pool's @end is written to. Returns NULL.
 */
void *sw_watch_poll(void *arg)
{
	const struct sw_pool *pool = arg;
	struct epoll_event evs[EVENTS];
	bool end = false;
	int i, n;

	while (!end) {
		n = epoll_wait(pool->epoll, evs, EVENTS, -1);
		for (i = 0; i < n; i++)
			if (evs[i].data.ptr)
				go_on(evs[i].data.ptr, SW_WATCH_ARMED);
			else
				end = true;
	}
	return NULL;
}

/* --- The main loop ------------------------------------------------------- */

static void retry_later(struct loop_work *work)
{
	struct sw_watch *w = container_of(work, struct sw_watch, work);
	struct sw *sw = container_of(w, struct sw, watch);

	atomic_fetch_sub(&sw->queue.n_posted, 1);
	if (w->wanted)
		timer_set(&sw->loop->timers, &w->timer,
			  sw->loop->now + w->later_ms);
}

static void on_timer(struct timer *timer)
{
	go_on(container_of(timer, struct sw, watch.timer), SW_WATCH_LATER);
}

/* Start to wait for a switch's notifications. */
int sw_watch_start(struct sw *sw)
{
	struct sw_watch *w = &sw->watch;

	w->job.run = run_watch;
	w->work.fn = retry_later;
	w->wanted = true;
	w->state = SW_WATCH_LATER;
	if (timer_add(&sw->loop->timers, &w->timer, on_timer))
		return -ENOMEM;
	on_timer(&w->timer);
	return 0;
}

/* Stop to wait for a switch's notifications. */
void sw_watch_stop(struct sw *sw)
{
	struct sw_watch *w = &sw->watch;

	timer_remove(&sw->loop->timers, &w->timer);
	pthread_mutex_lock(&sw->lock);
	w->wanted = false;
	pthread_mutex_unlock(&sw->lock);
	go_on(sw, SW_WATCH_ARMED);
	go_on(sw, SW_WATCH_LATER);
}
