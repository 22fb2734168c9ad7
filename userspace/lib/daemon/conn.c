// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * TCP connection to the rendezvous daemon. Deadlines are milliseconds of
 * CLOCK_MONOTONIC.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "auth/address.h"
#include "auth/resolve.h"
#include "base/log.h"
#include "am.h"
#include "conn.h"
#include "rendezvous/keepalive.h"
#include "tls/tls.h"

/*
 * How long to retry if no daemon listens yet. Long enough to start everything
 * at once; short enough that a mistyped address does not take the whole time
 * limit.
 */
#define REFUSED_MS	2000
#define REFUSED_PAUSE_MS 50
/* How long an address has to answer before the next one is tried as well. */
#define NEXT_MS		250
#define TRIES_MAX	16

/* Connection attempts to the addresses of one server. */
struct tries {
	const struct addrinfo	*to[TRIES_MAX];
	struct pollfd		pfd[TRIES_MAX];
	unsigned int		n;		/* addresses */
	unsigned int		begun;		/* of them */
	unsigned int		open;		/* of these */
	int			ret;		/* of the last failed one */
	bool			refused;	/* by any */
};

/* Alternate families, else keep the resolver's order (RFC 8305, section 4). */
static void find_addresses(struct tries *t, const struct addrinfo *list)
{
	const struct addrinfo *ai, *next;
	bool taken[TRIES_MAX] = { false };
	unsigned int i, at;
	int last = AF_UNSPEC;

	do {
		next = NULL;
		for (ai = list, i = 0; ai && i < TRIES_MAX;
		     ai = ai->ai_next, i++) {
			if (taken[i] || (next && ai->ai_family == last))
				continue;
			if (next && next->ai_family != last)
				continue;
			next = ai;
			at = i;
		}
		if (next) {
			taken[at] = true;
			last = next->ai_family;
			t->to[t->n++] = next;
		}
	} while (next);
}

static void close_try(struct tries *t, unsigned int i, int ret)
{
	if (t->pfd[i].fd >= 0) {
		close(t->pfd[i].fd);
		t->open--;
	}
	t->pfd[i].fd = -1;
	t->ret = ret;
	t->refused |= ret == -ECONNREFUSED;
}

/* Start connecting to the next address. */
static void begin_try(struct tries *t)
{
	unsigned int i = t->begun++;
	const struct addrinfo *ai = t->to[i];
	int fd;

	fd = socket(ai->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
		    0);
	t->pfd[i] = (struct pollfd) { .fd = fd, .events = POLLOUT };
	if (fd >= 0)
		t->open++;
	if (fd < 0 || (connect(fd, ai->ai_addr, ai->ai_addrlen) &&
		       errno != EINPROGRESS))
		close_try(t, i, -errno);
}

/* Wait for the first connection. Returns its index, -1: none yet. */
static int wait_for_one(struct tries *t, int ms)
{
	socklen_t len = sizeof(int);
	unsigned int i;
	int err;

	if (poll(t->pfd, t->begun, ms) <= 0)
		return -1;
	for (i = 0; i < t->begun; i++) {
		if (t->pfd[i].fd < 0 || !t->pfd[i].revents)
			continue;
		if (getsockopt(t->pfd[i].fd, SOL_SOCKET, SO_ERROR, &err, &len))
			err = errno;
		if (!err)
			return (int)i;
		close_try(t, i, -err);
	}
	return -1;
}

/*
 * An address that does not answer does not delay the next one for long
 * (RFC 8305). The first to answer is used.
 */
static int connect_once(const struct addrinfo *list, int64_t deadline_ms,
			int *fd)
{
	struct tries t = { .ret = -EHOSTUNREACH };
	int64_t now = inc_now_ms(), next_at = now, until;
	unsigned int i, open;
	int at = -1;

	find_addresses(&t, list);
	while (at < 0 && (t.open || t.begun < t.n) && now <= deadline_ms) {
		open = t.open;
		if (t.begun < t.n && (!open || now >= next_at)) {
			begin_try(&t);
			next_at = now + NEXT_MS;
			continue;
		}
		until = t.begun < t.n && next_at < deadline_ms ? next_at :
								 deadline_ms;
		at = wait_for_one(&t, (int)(until > now ? until - now : 0));
		/* A failed attempt makes way for the next. */
		if (t.open < open)
			next_at = now;
		now = inc_now_ms();
	}
	for (i = 0; i < t.begun; i++)
		if (t.pfd[i].fd >= 0 && (int)i != at)
			close(t.pfd[i].fd);
	if (at >= 0) {
		inc_set_keepalive(t.pfd[at].fd);
		*fd = t.pfd[at].fd;
		return 0;
	}
	return t.open ? -ETIMEDOUT : t.refused ? -ECONNREFUSED : t.ret;
}

static int connect_any(const struct addrinfo *list, int64_t deadline_ms,
		       int *fd)
{
	int64_t refused_until = inc_now_ms() + REFUSED_MS;
	const struct timespec pause = {
		.tv_nsec = REFUSED_PAUSE_MS * 1000000L,
	};
	int ret;

	if (refused_until > deadline_ms)
		refused_until = deadline_ms;
	for (;;) {
		ret = connect_once(list, deadline_ms, fd);
		if (ret != -ECONNREFUSED ||
		    inc_now_ms() + REFUSED_PAUSE_MS >= refused_until)
			return ret;
		nanosleep(&pause, NULL);
	}
}

/* @host is its name in @server, for messages. */
static int find_host(const char *what, const char *server, const char *host,
		     int port, int64_t deadline_ms, struct addrinfo **list,
		     char *err, size_t err_len)
{
	int64_t left = deadline_ms - inc_now_ms();
	char service[8];
	int ret;

	snprintf(service, sizeof(service), "%d", port);
	ret = inc_resolve(host, service, 0,
			  left < INC_RESOLVE_MS ? left : INC_RESOLVE_MS, list);
	if (!ret)
		return 0;
	snprintf(err, err_len, "%s \"%s\": %s", what, server,
		 inc_resolve_why(ret));
	return -EHOSTUNREACH;
}

static int open_tcp(struct inc_conn *conn, const char *what,
		    const char *server, const char *service,
		    int64_t deadline_ms, char *err, size_t err_len)
{
	struct sockaddr_storage local;
	socklen_t len = sizeof(local);
	struct addrinfo *list;
	int ret, port = atoi(service);
	char host[256];

	memset(conn, 0, sizeof(*conn));
	conn->fd = -1;
	ret = inc_auth_address(server, host, sizeof(host), &port);
	if (ret) {
		snprintf(err, err_len, "%s \"%s\": must be host, host:port or [address]:port, with a port of at most 65535",
			 what, server);
		return ret;
	}
	ret = find_host(what, server, host, port, deadline_ms, &list, err,
			err_len);
	if (ret)
		return ret;
	ret = connect_any(list, deadline_ms, &conn->fd);
	freeaddrinfo(list);
	if (ret) {
		snprintf(err, err_len, "%s at %s, port %d: %s%s", what, host,
			 port, strerror(-ret), ret == -ECONNREFUSED ?
			 "; does it run there, and listen on this port?" : "");
		return ret;
	}
	if (!getsockname(conn->fd, (struct sockaddr *)&local, &len))
		inc_rdv_addr_from_sockaddr((struct sockaddr *)&local,
					   &conn->local);
	return 0;
}

/**
 * inc_conn_open() - connect to the daemon
 * @conn: connection
 * @server: "host", "host:port" or "[addr]:port"
 * @deadline_ms: how long to try
 * @err: error message
 * @err_len: size of @err in bytes
 *
 * Return: 0 or a negative errno value.
 */
int inc_conn_open(struct inc_conn *conn, const char *server,
		  int64_t deadline_ms, char *err, size_t err_len)
{
	int ret = open_tcp(conn, "rendezvous daemon", server, INC_RDV_PORT,
			   deadline_ms, err, err_len);

	if (!ret)
		ret = inc_secure_open(&conn->secure, conn->fd, server,
				      deadline_ms, err, err_len);
	return ret;
}

/**
 * inc_conn_open_am() - connect to an aggregation manager
 * @conn: connection
 * @managers: "host", "host:port" or "[addr]:port"; several, with commas between:
 *	the first one that can be reached
 * @deadline_ms: how long to try
 * @err: error message
 * @err_len: size of @err in bytes
 *
 * Return: 0 or a negative errno value; -ENOPKG if libinc-am is missing.
 */
int inc_conn_open_am(struct inc_conn *conn, const char *managers,
		     int64_t deadline_ms, char *err, size_t err_len)
{
	char one[256], list[1024];
	const char *at = managers;
	int tcp, ret, n;

	for (;;) {
		n = (int)strcspn(at, ",");
		snprintf(one, sizeof(one), "%.*s", n, at);
		ret = open_tcp(conn, "aggregation manager", one, INC_AM_PORT,
			       deadline_ms, err, err_len);
		if (!ret || !at[n])
			break;
		at += n + 1;
	}
	if (ret)
		return ret;
	/* If it is lost, the others follow, and then those before it. */
	snprintf(list, sizeof(list), "%s%s%.*s", at, at > managers ? "," : "",
		 at > managers ? (int)(at - managers) - 1 : 0, managers);
	tcp = conn->fd;
	conn->fd = -1;
	return inc_am_open(&conn->am, tcp, list, &conn->fd, err, err_len);
}

/**
 * inc_conn_close() - close the connection, if there is one
 * @conn: connection
 */
void inc_conn_close(struct inc_conn *conn)
{
	inc_secure_close(&conn->secure);
	if (conn->fd >= 0)
		close(conn->fd);
	conn->fd = -1;
	if (conn->am)
		inc_am_close(conn->am);
	conn->am = NULL;
}

/**
 * inc_conn_send() - send a line
 * @conn: connection
 * @msg: line to send
 * @deadline_ms: how long to try
 *
 * Return: 0 or a negative errno value.
 */
int inc_conn_send(struct inc_conn *conn, const struct inc_rdv_msg *msg,
		  int64_t deadline_ms)
{
	char line[INC_RDV_LINE_MAX + 1];
	int ret;

	ret = inc_rdv_format(msg, line, sizeof(line));
	if (ret < 0)
		return ret;
	inc_dbg(conn->who, "to daemon: %.*s", ret - 1, line);
	return inc_secure_write(&conn->secure, conn->fd, line, (size_t)ret,
				deadline_ms);
}

/*
 * Get the next line, waiting for it if necessary. What TLS has decoded already
 * is invisible to poll().
 */
static int recv_line(struct inc_conn *conn, char *line, size_t line_len,
		     int64_t deadline_ms)
{
	size_t len;
	ssize_t n;
	char *to;
	int ret;

	for (;;) {
		ret = inc_rdv_line(&conn->lines, line, line_len);
		if (ret)
			return ret < 0 ? -EPROTO : 0;
		to = inc_rdv_space(&conn->lines, &len);
		n = inc_secure_recv(&conn->secure, conn->fd, to, len);
		if (n > 0)
			inc_rdv_added(&conn->lines, (size_t)n);
		else if (n == 0)
			return -ENOTCONN;
		else if (n != -EAGAIN && n != -EINTR)
			return (int)n;
		if (n > 0)
			continue;
		ret = inc_secure_wait(conn->fd, POLLIN, deadline_ms);
		if (ret)
			return ret;
	}
}

/**
 * inc_conn_why() - say why nothing could be sent or received
 * @conn: connection
 * @ret: negative errno value
 * @err: error message
 * @err_len: size of @err in bytes
 */
void inc_conn_why(const struct inc_conn *conn, int ret, char *err,
		  size_t err_len)
{
	if (ret == -EPROTO && conn->secure.tls)
		snprintf(err, err_len, "%s",
			 conn->secure.ops->why(conn->secure.tls));
	else
		snprintf(err, err_len, "rendezvous daemon: %s",
			 ret == -ENOTCONN ? "closed the connection" :
					    strerror(-ret));
}

/**
 * inc_conn_recv() - receive a line
 * @conn: connection
 * @msg: set to the line
 * @deadline_ms: how long to wait; if passed, only take what has arrived
 * @err: error message
 * @err_len: size of @err in bytes
 *
 * Return: 0, -ETIMEDOUT, -ENOTCONN if the daemon closed the connection, or
 * another negative errno value.
 */
int inc_conn_recv(struct inc_conn *conn, struct inc_rdv_msg *msg,
		  int64_t deadline_ms, char *err, size_t err_len)
{
	char line[INC_RDV_LINE_MAX];
	int ret;

	ret = recv_line(conn, line, sizeof(line), deadline_ms);
	if (ret) {
		inc_conn_why(conn, ret, err, err_len);
		return ret;
	}
	inc_dbg(conn->who, "from daemon: %s", line);
	return inc_rdv_parse(line, msg, err, err_len);
}
