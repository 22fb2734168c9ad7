// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The server: accepting connections, and the end of each turn.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http2/conn.h"

#define ACCEPTS		64	/* connections accepted per turn and socket */
#define SHAKES		4	/* handshakes begun per turn after a wait */
#define LOOKS		64	/* hosts asked for one that can begin */
#define RESERVE_MAX	1024	/* descriptors kept for all else */
#define AGAIN_MS	100	/* until connections are accepted again */
#define TELL_MS		200	/* from the first GOAWAY to the last */
#define STOP_MS		700	/* from the first GOAWAY to the end */
#define STOP_STEP_MS	20
#define WAIT_STEP_MS	5	/* between two looks at waiting connections */

/* --- New connections ----------------------------------------------------- */

static void free_conn(struct h2_conn *c)
{
	close(c->fd);
	share_leave(&c->share);
	free(c);
}

static void conn_io(struct loop_fd *io, uint32_t events)
{
	struct h2_conn *c = container_of(io, struct h2_conn, io);

	c->events = 0;
	c->got |= events;
	conn_post(c);
}

static void add_conn(struct h2_server *s, struct h2_conn *c)
{
	struct epoll_event e = {
		.events = EPOLLIN | EPOLLONESHOT, .data.ptr = &c->io,
	};

	c->io.fn = conn_io;
	c->work.fn = conn_work;
	c->events = EPOLLIN;
	c->next = s->conns;
	c->pprev = &s->conns;
	if (c->next)
		c->next->pprev = &c->next;
	s->conns = c;
	epoll_ctl(s->loop->ep, EPOLL_CTL_ADD, c->fd, &e);
	hostq_append(&s->queues[HOSTQ_IDLE], conn_hostq(c, HOSTQ_IDLE),
		     &c->idle_node);
	c->since = c->idle_at = s->loop->now;
	conn_arm(c);
}

/* Returns -1, or the kind of the share that is used up. */
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

/* Returns false if there is no room for the connection. */
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
	if (full >= 0 &&
	    host_make_room(c, &c->share, SHARE_CONNECTIONS, 1, full))
		full = take_idle(c, why, sizeof(why));
	if (full >= 0)
		s->handler->refused(s->ctx, c->peer, why);
	return full < 0;
}

/*
 * Serve a connection.
 * @host: address of the client; empty: a UNIX socket
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
		 * An IPv6 host can use all addresses of its /64: count them as
		 * one.
		 */
		memset(in6.s6_addr + 8, 0, 8);
		inet_ntop(AF_INET6, &in6, net, sizeof(net));
	} else {
		snprintf(c->peer, sizeof(c->peer), "ipv4:%s:%d", host, port);
	}
	if (!take_shares(s, c, net) ||
	    timer_add(&s->loop->timers, &c->timer, conn_timer)) {
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
	for (i = 0; i < s->nlisteners; i++) {
		e.data.ptr = &s->listeners[i].io;
		epoll_ctl(s->loop->ep, EPOLL_CTL_MOD, s->listeners[i].fd, &e);
	}
	timer_set(&s->loop->timers, &s->accept_timer,
		  pause ? s->loop->now + AGAIN_MS : TIMER_NEVER);
}

static void accept_again(struct timer *timer)
{
	struct h2_server *s =
		container_of(timer, struct h2_server, accept_timer);

	if (!s->stopping)
		listen_to(s, false);
}

/*
 * No descriptors are left: close a connection without a call, or pause
 * accepting.
 */
static void make_way(struct h2_server *s)
{
	static int64_t said = INT64_MIN / 2;
	struct h2_conn *c = host_greedy(s, NULL, SHARE_ALL, false);

	if (c && c->idle_at + STALE_MS <= s->loop->now)
		conn_die(c);
	else
		listen_to(s, true);
	if (s->loop->now - said > BARRED_MS)
		log_info("all but the last %d descriptors are open: new connections have to wait",
			RESERVE_MAX);
	said = s->loop->now;
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

/* Accept new connections. */
void server_accept(struct loop_fd *io, uint32_t events)
{
	struct h2_listener *l = container_of(io, struct h2_listener, io);
	int i;

	for (i = 0; i < ACCEPTS && accept_one(l->server, l->fd); i++)
		;
}

/*
 * Begin waiting handshakes, one host after the other, as far as there is room.
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

/* --- The end of a turn ---------------------------------------------------- */

static void close_listeners(struct h2_server *s)
{
	while (s->nlisteners)
		close(s->listeners[--s->nlisteners].fd);
}

static void stop_step(struct h2_server *s)
{
	struct h2_conn *c, *next;

	for (c = s->conns; c; c = next) {
		next = c->next;
		if (c->state < CONN_OPEN || s->loop->now >= s->stop_at)
			conn_die(c);
		else if (c->state == CONN_OPEN &&
			 s->loop->now >= s->stop_at - STOP_MS + TELL_MS)
			conn_end(c);
	}
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

/* Wake the loop for work that no event announces. */
static void plan_turn(struct h2_server *s)
{
	int64_t at = TIMER_NEVER;

	if (s->queues[HOSTQ_WAITS].used)
		at = s->loop->now + WAIT_STEP_MS;
	else if (s->stopping && s->conns)
		at = s->loop->now + STOP_STEP_MS;
	timer_set(&s->loop->timers, &s->turn_timer, at);
}

static void end_turn(void *ctx)
{
	struct h2_server *s = ctx;

	start_waiting(s);
	if (s->stopping)
		stop_step(s);
	flush_all(s);
	free_dead(s);
	plan_turn(s);
}

static void no_matter(struct timer *timer)
{
}

/* Stop the server within 700 ms. Returns true when it has ended. */
bool h2_stop(struct h2_server *s)
{
	struct h2_conn *c;
	char text[64];

	if (s->stopping)
		return !s->conns;
	snprintf(text, sizeof(text), "the %s ends", s->self);
	s->stopping = true;
	s->stop_at = s->loop->now + STOP_MS;
	close_listeners(s);
	for (c = s->conns; c; c = c->next) {
		if (c->state != CONN_OPEN)
			continue;
		session_end_calls(c, WIRE_UNAVAILABLE, text);
		nghttp2_submit_shutdown_notice(c->h2);
		conn_mark(c);
	}
	plan_turn(s);
	return !s->conns;
}

/*
 * Make a server. Returns the server, for h2_free(), or NULL.
 * @loop: main loop; the server works at the end of each turn
 * @self: the server's name in texts, constant
 */
struct h2_server *h2_new(struct loop *loop, const char *self,
			 const struct h2_handler *handler, void *ctx)
{
	struct h2_server *s = calloc(1, sizeof(*s));
	struct rlimit limit = { .rlim_cur = 1024 };
	size_t reserve, most;
	int i;

	if (!s)
		return NULL;
	getrlimit(RLIMIT_NOFILE, &limit);
	reserve = limit.rlim_cur / 8 < RESERVE_MAX ? limit.rlim_cur / 8 :
						     RESERVE_MAX;
	most = limit.rlim_cur - reserve;
	share_lower(SHARE_HOST, SHARE_CONNECTIONS, most / 2);
	share_lower(SHARE_TENANT, SHARE_CONNECTIONS, most / 2);
	share_lower(SHARE_ALL, SHARE_CONNECTIONS, most);
	share_self(self);
	s->self = self;
	s->handler = handler;
	s->evict = conn_evict;
	s->ctx = ctx;
	s->loop = loop;
	loop->after = end_turn;
	loop->after_ctx = s;
	for (i = 0; i < HOSTQS; i++)
		hostq_init(&s->hostless[i]);
	if (!session_prepare(s) &&
	    !hostq_set_init(&s->queues[HOSTQ_IDLE],
			    share_limit(SHARE_HOST, SHARE_IDLE)) &&
	    !hostq_set_init(&s->queues[HOSTQ_SHAKES],
			    share_limit(SHARE_HOST, SHARE_HANDSHAKES)) &&
	    !hostq_set_init(&s->queues[HOSTQ_WAITS], 1) &&
	    !timer_add(&loop->timers, &s->accept_timer, accept_again) &&
	    !timer_add(&loop->timers, &s->turn_timer, no_matter))
		return s;
	h2_free(s);
	return NULL;
}

/* Remove the UNIX socket's file, if there is one. */
void h2_unlisten(struct h2_server *s)
{
	inc_socket_remove(&s->socket);
}

/*
 * Close all connections at once.
 * @s: server; the handler's gone() is called for each call with @user
 */
void h2_close(struct h2_server *s)
{
	while (s->conns)
		conn_die(s->conns);
	flush_all(s);
	free_dead(s);
}

void h2_free(struct h2_server *s)
{
	int i;

	h2_unlisten(s);
	close_listeners(s);
	s->loop->after = NULL;
	if (s->accept_timer.fn)
		timer_remove(&s->loop->timers, &s->accept_timer);
	if (s->turn_timer.fn)
		timer_remove(&s->loop->timers, &s->turn_timer);
	nghttp2_session_callbacks_del(s->session);
	nghttp2_option_del(s->option);
	for (i = 0; i < HOSTQS; i++)
		hostq_set_free(&s->queues[i]);
	free(s);
}
