// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See serve.h. Each session has a thread, in which it may wait as long as it likes for
 * the rest of a request, or for a client that does not read its reply, and parse a long
 * one: that delays nobody else. Operations take place one after another; users who may
 * change something come first.
 */
#include "agent.h"
#include "conf/list.h"
#include "error.h"
#include "reply.h"
#include "serve.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define LARGE		(1U << 20)	/* bytes of a request */
/* Longest time that a client may leave its reply unread. */
#define UNREAD_MS	30000

/**
 * struct serve - all sessions
 * @ops: who answers requests
 * @max: how many there may be
 * @reserved: of these, for remote users who may change something
 * @stop: all are to end
 * @lock: protects the members below
 * @sessions: how many there are, admitted clients included
 * @ids: the last one's
 * @list: sessions that have begun
 * @totals: of all
 * @turns: protects the members below
 * @turn: they have changed
 * @taken: somebody has the turn
 * @first: how many wait who come before all others
 */
struct serve {
	const struct netconf_ops	*ops;
	unsigned int			max;
	unsigned int			reserved;
	atomic_bool			stop;
	pthread_mutex_t			lock;
	unsigned int			sessions;
	uint32_t			ids;
	struct session			*list;
	struct serve_totals		totals;
	pthread_mutex_t			turns;
	pthread_cond_t			turn;
	bool				taken;
	unsigned int			first;
};

static void take_turn(struct serve *srv, bool first)
{
	pthread_mutex_lock(&srv->turns);
	srv->first += first;
	while (srv->taken || (!first && srv->first))
		pthread_cond_wait(&srv->turn, &srv->turns);
	srv->first -= first;
	srv->taken = true;
	pthread_mutex_unlock(&srv->turns);
}

/* Keep operations and events apart. */
void netconf_lock(struct agent *a)
{
	take_turn(a->serve, true);
}

/* Undo netconf_lock(). */
void netconf_unlock(struct agent *a)
{
	struct serve *srv = a->serve;

	pthread_mutex_lock(&srv->turns);
	srv->taken = false;
	pthread_cond_broadcast(&srv->turn);
	pthread_mutex_unlock(&srv->turns);
}

/* Say who answers requests. Returns 0, or -1: no memory. */
int serve_init(struct agent *a, const struct netconf_ops *ops, unsigned int max)
{
	struct serve *srv = calloc(1, sizeof(*srv));

	if (!srv)
		return -1;
	srv->ops = ops;
	srv->max = max;
	srv->totals.since = time(NULL);
	pthread_mutex_init(&srv->lock, NULL);
	pthread_mutex_init(&srv->turns, NULL);
	pthread_cond_init(&srv->turn, NULL);
	a->serve = srv;
	return 0;
}

/* Keep a quarter of the places for managers that come by SSH or TLS. */
void serve_keep_places(struct agent *a)
{
	a->serve->reserved = a->serve->max / 4;
}

/* Count the sessions of a host that may only read. */
static unsigned int readers_at(const struct serve *srv,
			       const struct in6_addr *from)
{
	const struct session *s;
	unsigned int n = 0;

	for (s = srv->list; s; s = s->next)
		n += s->transport != TRANSPORT_UNIX && !s->may_change &&
		     IN6_ARE_ADDR_EQUAL(&s->from, from);
	return n;
}

/*
 * Count a session before it begins, so that logins count, too. Returns true if
 * there is a place, to be given back by serve_dismiss().
 */
bool serve_admit(struct session *s)
{
	struct serve *srv = s->a->serve;
	const bool remote = s->transport != TRANSPORT_UNIX;
	const unsigned int max = remote && s->may_change ? srv->max :
				 srv->max - srv->reserved;
	const unsigned int readers = srv->max / 4 + !(srv->max / 4);
	bool enough, many;

	pthread_mutex_lock(&srv->lock);
	enough = srv->sessions >= max;
	many = remote && !s->may_change &&
	       readers_at(srv, &s->from) >= readers;
	srv->sessions += !enough && !many;
	pthread_mutex_unlock(&srv->lock);
	if (enough)
		log_warn("refused a session of %s: there are %u already",
			 s->user, max);
	else if (many)
		log_warn("refused a session of %s: those who may look only have %u from %s already",
			 s->user, readers, s->host);
	return !enough && !many;
}

/* A session that was admitted has ended, or does not begin. */
void serve_dismiss(struct agent *a)
{
	pthread_mutex_lock(&a->serve->lock);
	a->serve->sessions--;
	pthread_mutex_unlock(&a->serve->lock);
}

static void answer(struct session *s, struct request *q)
{
	struct serve *srv = s->a->serve;

	s->count.rpcs++;
	srv->totals.count.rpcs++;
	take_turn(srv, s->may_change);
	srv->ops->rpc(q);
	netconf_unlock(s->a);
}

/* Answer the message that has come. Returns 0 or -errno: the session has ended. */
static int take_message(struct session *s)
{
	struct serve *srv = s->a->serve;
	struct request q = { .a = s->a, .s = s };
	struct reply r;
	int ret = 0;

	switch (reply_begin(&r, &q, s->c.in.text, s->c.in.chunked)) {
	case REPLY_ANSWER:
		answer(s, &q);
		break;
	case REPLY_REFUSE:
		s->count.bad_rpcs++;
		srv->totals.count.bad_rpcs++;
		break;
	case REPLY_NONE:
		s->count.bad_rpcs++;
		srv->totals.count.bad_rpcs++;
		frame_done(&s->c.in);
		return 0;
	}
	frame_done(&s->c.in);
	s->count.errors += q.bad;
	srv->totals.count.errors += q.bad;
	s->writing = now_ms();
	if (reply_end(&r))
		ret = carrier_send(&s->c, r.text, r.len, -1);
	else
		log_warn("session %u ends: there is no memory for a reply",
			 s->id);
	s->writing = 0;
	ret = r.text ? ret : -ENOMEM;
	reply_free(&r);
	return ret;
}

static void serve_requests(struct session *s)
{
	struct serve *srv = s->a->serve;
	uint64_t n;
	bool large;
	int ret = 0;

	while (!ret && !srv->stop && !s->end) {
		ret = carrier_recv(&s->c, -1, s->wake);
		if (ret == -EAGAIN) {
			(void)!read(s->wake, &n, sizeof(n));
			ret = 0;
		} else if (!ret) {
			large = s->c.in.len > LARGE;
			ret = take_message(s);
			/* Its tree lay among what stays: nothing goes by itself. */
			if (large)
				malloc_trim(0);
		} else if (ret != -EPIPE) {
			log_warn("session %u ends: %s", s->id, frame_why(ret));
		}
		if (!ret && !s->end)
			ret = srv->ops->news(s);
	}
}

/* From now on others find it. */
static void add_session(struct session *s)
{
	struct serve *srv = s->a->serve;

	pthread_mutex_lock(&srv->lock);
	s->next = srv->list;
	srv->list = s;
	srv->totals.sessions++;
	pthread_mutex_unlock(&srv->lock);
}

/* Hide the session from searches. */
static void remove_session(struct session *s)
{
	struct serve *srv = s->a->serve;

	pthread_mutex_lock(&srv->lock);
	list_remove(srv->list, s);
	pthread_mutex_unlock(&srv->lock);
}

/* Serve a session that was admitted, and has an ID, until it ends. */
void serve_run(struct session *s)
{
	s->since = time(NULL);
	s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	log_info("session %u: %s logged in", s->id, s->user);
	if (s->wake < 0) {
		log_warn("session %u ended: %s", s->id, strerror(errno));
		return;
	}
	add_session(s);
	serve_requests(s);
	remove_session(s);
	netconf_lock(s->a);
	s->a->serve->ops->closed(s);
	netconf_unlock(s->a);
	log_info("session %u ended", s->id);
	close(s->wake);
}

/* Give a session its ID. */
uint32_t serve_number(struct agent *a)
{
	uint32_t id;

	pthread_mutex_lock(&a->serve->lock);
	id = ++a->serve->ids;
	pthread_mutex_unlock(&a->serve->lock);
	return id;
}

/* Give up clients that do not read. */
void serve_check(struct agent *a, int64_t now)
{
	struct session *s;

	pthread_mutex_lock(&a->serve->lock);
	for (s = a->serve->list; s; s = s->next) {
		if (!s->writing || now <= s->writing + UNREAD_MS)
			continue;
		log_warn("session %u ends: it does not read", s->id);
		shutdown(s->c.fd, SHUT_RDWR);
		s->writing = 0;
	}
	pthread_mutex_unlock(&a->serve->lock);
}

/* Count a notification that was sent. */
void serve_notified(struct session *s)
{
	s->count.notifications++;
	s->a->serve->totals.count.notifications++;
}

/*
 * Look at all sessions.
 * @each: called with each session, and @arg; no session ends meanwhile
 */
void serve_each(struct agent *a,
		void (*each)(const struct session *s, void *arg), void *arg,
		struct serve_totals *totals)
{
	const struct session *s;

	pthread_mutex_lock(&a->serve->lock);
	for (s = a->serve->list; s; s = s->next)
		each(s, arg);
	*totals = a->serve->totals;
	pthread_mutex_unlock(&a->serve->lock);
}

/* End all sessions. */
void serve_stop(struct agent *a)
{
	struct serve *srv = a->serve;
	unsigned int left, tries = 0;
	struct session *s;

	srv->stop = true;
	do {
		pthread_mutex_lock(&srv->lock);
		for (s = srv->list; s; s = s->next)
			netconf_wake(s);
		left = srv->sessions;
		pthread_mutex_unlock(&srv->lock);
		if (left)
			usleep(1000);
	} while (left && tries++ < 5000);
}

/* All sessions have ended: forget what serve_init() has made. */
void serve_free(struct agent *a)
{
	a->serve->ops->ended(a);
	free(a->serve);
	a->serve = NULL;
}

/* End a session. Returns 0, or -1 if there is none. */
int netconf_kill(struct agent *a, uint32_t id)
{
	struct session *s;

	pthread_mutex_lock(&a->serve->lock);
	for (s = a->serve->list; s && s->id != id; s = s->next)
		;
	if (s)
		netconf_wake(s);
	pthread_mutex_unlock(&a->serve->lock);
	return s ? 0 : -1;
}

/* Have a session end, wherever it waits. */
void netconf_wake(struct session *s)
{
	s->end = true;
	shutdown(s->c.fd, SHUT_RDWR);
}
