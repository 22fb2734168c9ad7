// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The server: its thread, and the connections that it accepts.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "h2/conn.h"

#define EVENTS		64	/* of a turn */
#define ACCEPTS		16	/* likewise */
#define SHAKES		4	/* steps of handshakes, most of a millisecond each */
#define SHAKE_MS	4	/* and as long: with a key of RSA they take longer */
#define LOOKS		64	/* at hosts that want to begin one */
#define RESERVE_MAX	1024	/* descriptors for all but connections */
#define AGAIN_MS	100	/* when no connection can be accepted */
#define TELL_MS		200	/* from the first GOAWAY to the last */
#define STOP_MS		700	/* and to the end */

/**
 * h2_now() - get the thread's time
 * @s: server
 *
 * Return: milliseconds of now_ms(), of the beginning of its turn.
 */
int64_t h2_now(const struct h2_server *s)
{
	return s->now;
}

/* --- New connections ----------------------------------------------------- */

static void free_conn(struct h2_conn *c)
{
	close(c->fd);
	share_leave(&c->share);
	free(c);
}

static void add_conn(struct h2_server *s, struct h2_conn *c)
{
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = c };

	c->events = e.events;
	c->next = s->conns;
	c->pprev = &s->conns;
	if (c->next)
		c->next->pprev = &c->next;
	s->conns = c;
	epoll_ctl(s->ep, EPOLL_CTL_ADD, c->fd, &e);
	hostq_append(&s->queues[HOSTQ_IDLE], conn_hostq(c, HOSTQ_IDLE),
		     &c->idle_node);
	c->since = c->idle_at = s->now;
	conn_arm(c);
}

/* Returns -1, or the kind that has too much already. */
static int take_idle(struct h2_conn *c, char *why, size_t len)
{
	int full = share_take(&c->share, SHARE_IDLE, 1, why, len);

	if (full >= 0)
		return full;
	full = share_take(&c->share, SHARE_CONNECTIONS, 1, why, len);
	if (full >= 0)
		share_give(&c->share, SHARE_IDLE, 1);
	c->idle = full < 0;
	return full;
}

/* Returns false if it cannot be taken. */
static bool take_shares(struct h2_server *s, struct h2_conn *c,
			const char *host)
{
	struct h2_conn *other;
	char why[160];
	int full;

	if (!share_join(&c->share, SHARE_CONNECTION, "") ||
	    !share_join(&c->share, SHARE_ALL, "") ||
	    (*host && !share_join(&c->share, SHARE_HOST, host)))
		return false;
	full = take_idle(c, why, sizeof(why));
	other = full < 0 ? NULL : host_greedy(s, c, full, false);
	if (other) {
		conn_die(other);
		full = take_idle(c, why, sizeof(why));
	}
	if (full >= 0)
		s->handler->refused(s->ctx, c->peer, why);
	return full < 0;
}

/**
 * h2_attach() - serve a connection
 * @s: server
 * @fd: socket, which does not block
 * @host: address of the client; empty: a UNIX socket
 * @port: and its port
 */
void h2_attach(struct h2_server *s, int fd, const char *host, int port)
{
	struct h2_conn *c = calloc(1, sizeof(*c));
	char net[INET6_ADDRSTRLEN];
	struct in6_addr in6;

	if (!c) {
		close(fd);
		return;
	}
	c->server = s;
	c->fd = fd;
	snprintf(net, sizeof(net), "%s", host);
	if (!*host) {
		strcpy(c->peer, "unix:");
	} else if (inet_pton(AF_INET6, host, &in6) == 1) {
		snprintf(c->peer, sizeof(c->peer), "ipv6:[%s]:%d", host, port);
		/*
		 * A host that has one address has the others of its network,
		 * too.
		 */
		memset(in6.s6_addr + 8, 0, 8);
		inet_ntop(AF_INET6, &in6, net, sizeof(net));
	} else {
		snprintf(c->peer, sizeof(c->peer), "ipv4:%s:%d", host, port);
	}
	if (!take_shares(s, c, net) ||
	    timer_add(&s->timers, &c->timer, conn_timer)) {
		if (c->idle) {
			share_give(&c->share, SHARE_IDLE, 1);
			share_give(&c->share, SHARE_CONNECTIONS, 1);
		}
		free_conn(c);
		return;
	}
	add_conn(s, c);
}

static void listen_to(struct h2_server *s, bool pause)
{
	struct epoll_event e = { .events = pause ? 0 : EPOLLIN };
	unsigned int i;

	s->not_accepting = pause;
	for (i = 0; i < s->nfds; i++) {
		e.data.ptr = &s->fds[i];
		epoll_ctl(s->ep, EPOLL_CTL_MOD, s->fds[i], &e);
	}
	timer_set(&s->timers, &s->accept_timer,
		  pause ? s->now + AGAIN_MS : TIMER_NEVER);
}

static void accept_again(struct timer *timer)
{
	struct h2_server *s =
		container_of(timer, struct h2_server, accept_timer);

	if (!s->stopping)
		listen_to(s, false);
}

/*
 * There are no descriptors left: a connection without a call gives way, or all
 * wait.
 */
static void make_way(struct h2_server *s)
{
	static int64_t said = INT64_MIN / 2;
	struct h2_conn *c = host_greedy(s, NULL, SHARE_ALL, false);

	if (c && c->idle_at + STALE_MS <= s->now)
		conn_die(c);
	else
		listen_to(s, true);
	if (s->now - said > BARRED_MS)
		log_info("all but the last %d descriptors are open: new connections have to wait",
			RESERVE_MAX);
	said = s->now;
}

static size_t count_conns(const struct h2_server *s)
{
	return s->conns ?
	       s->conns->share.by_kind[SHARE_ALL]->used[SHARE_CONNECTIONS] : 0;
}

static bool accept_one(struct h2_server *s, int fd)
{
	union {
		struct sockaddr		any;
		struct sockaddr_in	in;
		struct sockaddr_in6	in6;
		struct sockaddr_storage	room;
	} a = { .any.sa_family = AF_UNSPEC };
	char host[INET6_ADDRSTRLEN] = "";
	socklen_t len = sizeof(a);
	int sock, port = 0;

	if (count_conns(s) >= s->max_conns) {
		make_way(s);
		return false;
	}
	sock = accept4(fd, &a.any, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (sock < 0) {
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
		    errno == ENOMEM)
			make_way(s);
		return errno == ECONNABORTED;
	}
	if (a.any.sa_family == AF_INET) {
		inet_ntop(AF_INET, &a.in.sin_addr, host, sizeof(host));
		port = ntohs(a.in.sin_port);
	} else if (a.any.sa_family == AF_INET6) {
		if (IN6_IS_ADDR_V4MAPPED(&a.in6.sin6_addr))
			inet_ntop(AF_INET, a.in6.sin6_addr.s6_addr + 12, host,
				  sizeof(host));
		else
			inet_ntop(AF_INET6, &a.in6.sin6_addr, host,
				  sizeof(host));
		port = ntohs(a.in6.sin6_port);
	}
	h2_attach(s, sock, host, port);
	return true;
}

static void accept_some(struct h2_server *s, int fd)
{
	int i;

	for (i = 0; i < ACCEPTS && accept_one(s, fd); i++)
		;
}

/*
 * Let waiting connections shake hands, one host after the other, if there is
 * room.
 */
static void start_waiting(struct h2_server *s)
{
	struct hostq_set *set = &s->queues[HOSTQ_WAITS];
	size_t hosts = set->used < LOOKS ? set->used : LOOKS;
	int n = SHAKES;
	struct hostq_node *p;

	while (n && hosts && (p = hostq_set_turn(set))) {
		if (conn_start(container_of(p, struct h2_conn, shake_node)))
			n--;
		else
			hosts--;
	}
}

/*
 * Go on with handshakes, one host after the other: what is left waits for the next
 * turn, in which all others have theirs.
 */
static void shake_some(struct h2_server *s)
{
	const int64_t until = now_ms() + SHAKE_MS;
	int n = SHAKES;
	struct hostq_node *p;

	while (n-- && now_ms() < until &&
	       (p = hostq_set_turn(&s->queues[HOSTQ_READY])))
		conn_shake(container_of(p, struct h2_conn, ready_node));
}

/* --- The thread ---------------------------------------------------------- */

static void stop_step(struct h2_server *s)
{
	struct h2_conn *c, *next;
	bool first = s->stopping == 1;

	if (first) {
		s->stopping = 2;
		s->stop_at = s->now + STOP_MS;
		while (s->nfds)
			close(s->fds[--s->nfds]);
	}
	for (c = s->conns; c; c = next) {
		next = c->next;
		if (c->state < CONN_OPEN || s->now >= s->stop_at) {
			conn_die(c);
		} else if (c->state == CONN_OPEN && first) {
			session_end_calls(c, WIRE_UNAVAILABLE,
					  "the manager ends");
			nghttp2_submit_shutdown_notice(c->h2);
			conn_mark(c);
		} else if (c->state == CONN_OPEN &&
			   s->now >= s->stop_at - STOP_MS + TELL_MS) {
			conn_end(c);
		}
	}
	s->ended = !s->conns;
}

static int wait_ms(const struct h2_server *s, int ms)
{
	int64_t due = timers_next(&s->timers) - now_ms();

	if (s->stopping && (ms < 0 || ms > 20))
		ms = 20;
	if (s->queues[HOSTQ_WAITS].used && (ms < 0 || ms > 5))
		ms = 5;
	if (due < 0 || s->queues[HOSTQ_READY].used)
		return 0;
	return ms < 0 || due < ms ? (due > INT_MAX ? -1 : (int)due) : ms;
}

static void flush_all(struct h2_server *s)
{
	struct h2_conn *c = s->dirty, *next;

	s->dirty = NULL;
	for (; c; c = next) {
		next = c->next_dirty;
		conn_flush(c);
	}
}

static void free_dead(struct h2_server *s)
{
	struct h2_conn *c, *next, **link = &s->dead;

	for (c = s->dead; c; c = next) {
		next = c->next;
		if (c->dirty) {
			link = &c->next;
			continue;
		}
		*link = next;
		free(c);
	}
}

/**
 * h2_turn() - wait for something, and do it
 * @s: server
 * @ms: how long to wait at most; negative: no limit
 *
 * Return: false when the server has stopped.
 */
bool h2_turn(struct h2_server *s, int ms)
{
	struct epoll_event list[EVENTS];
	uint64_t n_wake;
	int i, n;

	n = epoll_wait(s->ep, list, EVENTS, wait_ms(s, ms));
	s->now = now_ms();
	for (i = 0; i < n; i++) {
		if (list[i].data.ptr == &s->wake)
			(void)!read(s->wake, &n_wake, sizeof(n_wake));
		else if ((int *)list[i].data.ptr >= s->fds &&
			 (int *)list[i].data.ptr < s->fds + s->nfds)
			accept_some(s, *(int *)list[i].data.ptr);
		else
			conn_event(list[i].data.ptr, list[i].events);
	}
	s->handler->work(s->ctx);
	timers_run(&s->timers, s->now);
	start_waiting(s);
	shake_some(s);
	if (s->stopping)
		stop_step(s);
	flush_all(s);
	free_dead(s);
	return !s->ended;
}

static void *run_thread(void *arg)
{
	while (h2_turn(arg, -1))
		;
	return NULL;
}

/**
 * h2_start() - serve, in a thread of its own
 * @s: server
 *
 * Return: 0 or a negative errno value.
 */
int h2_start(struct h2_server *s)
{
	int ret = pthread_create(&s->thread, NULL, run_thread, s);

	s->threaded = !ret;
	return -ret;
}

/**
 * h2_wake() - have h2_handler.work called by the server's thread
 * @s: server
 *
 * Context: Any thread.
 */
void h2_wake(struct h2_server *s)
{
	const uint64_t one = 1;

	(void)!write(s->wake, &one, sizeof(one));
}

/**
 * h2_stop() - have the server end
 * @s: server
 *
 * Context: Any thread.
 * Return: true when it has.
 */
bool h2_stop(struct h2_server *s)
{
	if (s->stopping)
		return s->ended;
	s->stopping = 1;
	h2_wake(s);
	return s->ended;
}

/**
 * h2_new() - make a server
 * @handler: callbacks
 * @ctx: their argument
 *
 * Return: server, for h2_free(), or NULL.
 */
struct h2_server *h2_new(const struct h2_handler *handler, void *ctx)
{
	struct h2_server *s = calloc(1, sizeof(*s));
	struct epoll_event e = { .events = EPOLLIN };
	struct rlimit limit = { .rlim_cur = 1024 };
	size_t reserve;
	int i;

	if (!s)
		return NULL;
	getrlimit(RLIMIT_NOFILE, &limit);
	reserve = limit.rlim_cur / 8 < RESERVE_MAX ? limit.rlim_cur / 8 :
						     RESERVE_MAX;
	s->max_conns = limit.rlim_cur - reserve;
	share_lower(SHARE_HOST, SHARE_CONNECTIONS, s->max_conns / 2);
	s->handler = handler;
	s->ctx = ctx;
	s->now = now_ms();
	s->ep = epoll_create1(EPOLL_CLOEXEC);
	s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	e.data.ptr = &s->wake;
	for (i = 0; i < HOSTQS; i++)
		hostq_init(&s->hostless[i]);
	if (s->ep >= 0 && s->wake >= 0 && !session_prepare(s) &&
	    !hostq_set_init(&s->queues[HOSTQ_IDLE],
			    share_limit(SHARE_HOST, SHARE_IDLE)) &&
	    !hostq_set_init(&s->queues[HOSTQ_SHAKES],
			    share_limit(SHARE_HOST, SHARE_HANDSHAKES)) &&
	    !hostq_set_init(&s->queues[HOSTQ_WAITS], 1) &&
	    !hostq_set_init(&s->queues[HOSTQ_READY], 1) &&
	    !timer_add(&s->timers, &s->accept_timer, accept_again) &&
	    !epoll_ctl(s->ep, EPOLL_CTL_ADD, s->wake, &e))
		return s;
	h2_free(s);
	return NULL;
}

/**
 * h2_join() - wait for a server's thread, and close all connections
 * @s: server, which has stopped, or has no thread
 */
void h2_join(struct h2_server *s)
{
	if (s->threaded)
		pthread_join(s->thread, NULL);
	s->threaded = false;
	while (s->conns)
		conn_die(s->conns);
	flush_all(s);
	free_dead(s);
}

/**
 * h2_unlisten() - remove the socket in the file system, if there is one
 * @s: server
 */
void h2_unlisten(struct h2_server *s)
{
	inc_socket_remove(&s->socket);
}

/**
 * h2_free() - free a server that has no thread
 * @s: server, after h2_join()
 */
void h2_free(struct h2_server *s)
{
	int i;

	h2_unlisten(s);
	while (s->nfds)
		close(s->fds[--s->nfds]);
	nghttp2_session_callbacks_del(s->session);
	nghttp2_option_del(s->option);
	timers_free(&s->timers);
	for (i = 0; i < HOSTQS; i++)
		hostq_set_free(&s->queues[i]);
	if (s->wake >= 0)
		close(s->wake);
	if (s->ep >= 0)
		close(s->ep);
	free(s);
}
