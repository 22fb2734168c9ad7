// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * TCP connection to the rendezvous daemon. Deadlines are milliseconds of
 * CLOCK_MONOTONIC.
 */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "am.h"
#include "channel/reach.h"
#include "conn.h"
#include "libinc-am.h"
#include "tls/tls.h"

/*
 * How long to retry if no daemon listens yet. Long enough to start everything
 * at once; short enough that a mistyped address does not take the whole time
 * limit.
 */
#define REFUSED_MS	2000
#define REFUSED_PAUSE_MS 50
/* Of a race for servers; afterwards they are asked anew, also one that was down. */
#define RACE_MS		10000

/* Is it worth to try again, until @refused_until those who refuse? */
static bool is_hopeful(const struct inc_reach *r, int64_t refused_until)
{
	bool soon = inc_now_ms() + REFUSED_PAUSE_MS < refused_until;
	unsigned int i;

	for (i = 0; i < inc_reach_count(r); i++)
		if (inc_reach_error(r, i) == -ETIMEDOUT ||
		    (soon && inc_reach_error(r, i) == -ECONNREFUSED))
			return true;
	return false;
}

/* What a caller of libinc is told of them all. */
static int judge_errors(const struct inc_reach *r)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < inc_reach_count(r); i++)
		if (!ret || inc_reach_error(r, i) == -ECONNREFUSED)
			ret = inc_reach_error(r, i);
	return !ret || ret == -EPROTOTYPE ? -EINVAL :
	       ret == -ENXIO || ret == -ENONET ? -EHOSTUNREACH :
	       ret == -ECANCELED ? -ETIMEDOUT : ret;
}

static int race_until(struct inc_reach *r, int64_t deadline_ms)
{
	const struct timespec pause = {
		.tv_nsec = REFUSED_PAUSE_MS * 1000000L,
	};
	int64_t refused_until = inc_now_ms() + REFUSED_MS, left;
	int fd;

	if (refused_until > deadline_ms)
		refused_until = deadline_ms;
	for (;;) {
		left = deadline_ms - inc_now_ms();
		left = left < 0 ? 0 : left;
		fd = inc_reach_next(r, left < RACE_MS ? (int)left : RACE_MS,
				    NULL);
		if (fd >= 0)
			return fd;
		if (inc_now_ms() + REFUSED_PAUSE_MS >= deadline_ms ||
		    !is_hopeful(r, refused_until))
			return -1;
		nanosleep(&pause, NULL);
		inc_reach_again(r);
	}
}

/* @what, and @program, which should be there, are for messages. */
static int open_tcp(struct inc_conn *conn, struct inc_reach *r,
		    const char *what, const char *program, int64_t deadline_ms,
		    char *err, size_t err_len)
{
	struct sockaddr_storage local;
	socklen_t len = sizeof(local);
	char why[INC_RDV_TEXT_MAX];

	memset(conn, 0, sizeof(*conn));
	conn->fd = -1;
	conn->fd = race_until(r, deadline_ms);
	if (conn->fd < 0) {
		inc_reach_why(r, program, why, sizeof(why) - strlen(what) - 1);
		snprintf(err, err_len, "%s %s", what, *why ? why :
			 "has no address");
		return judge_errors(r);
	}
	if (!getsockname(conn->fd, (struct sockaddr *)&local, &len))
		inc_rdv_addr_from_sockaddr((struct sockaddr *)&local,
					   &conn->local);
	return 0;
}

/**
 * inc_conn_open() - connect to the daemon
 * @conn: connection
 * @program: that should be there instead, for messages; NULL: it is the daemon
 * @server: "host", "host:port" or "[addr]:port"
 * @deadline_ms: how long to try
 * @err: error message
 * @err_len: size of @err in bytes
 *
 * Return: 0 or a negative errno value.
 */
int inc_conn_open(struct inc_conn *conn, const char *program,
		  const char *server, int64_t deadline_ms, char *err,
		  size_t err_len)
{
	struct inc_reach *r = inc_reach_new("", atoi(INC_RDV_PORT), true);
	int ret = -ENOMEM;

	if (r && inc_reach_add(r, server))
		ret = open_tcp(conn, r, program ?: "rendezvous daemon",
			       program ?: "inc-tool serve", deadline_ms, err,
			       err_len);
	else
		snprintf(err, err_len, "no memory");
	inc_reach_free(r);
	if (!ret)
		ret = inc_secure_open(&conn->secure, conn->fd, server,
				      deadline_ms, err, err_len);
	return ret;
}

/* The one that was reached; if it is lost, the others follow, then those before. */
static bool put_managers(const struct inc_reach *r, char *list, size_t len)
{
	unsigned int i, count = inc_reach_count(r);
	size_t n = 0;

	for (i = 0; i < count && n < len; i++)
		n += (size_t)snprintf(list + n, len - n, "%s%s", i ? "," : "",
				      inc_reach_addr(r, (inc_reach_which(r) +
							 i) % count));
	return n < len;
}

/**
 * inc_conn_open_am() - connect to an aggregation manager
 * @conn: connection
 * @managers: "host", "host:port" or "[addr]:port"; several, with commas between:
 *	the first to answer; each has a while before the next one is tried, too
 * @deadline_ms: how long to try
 * @err: error message; of several, what is wrong with each
 * @err_len: size of @err in bytes
 *
 * Return: 0 or a negative errno value; -ENOPKG if libinc-am is missing.
 */
int inc_conn_open_am(struct inc_conn *conn, const char *managers,
		     int64_t deadline_ms, char *err, size_t err_len)
{
	struct inc_reach *r = inc_reach_new(managers, atoi(INC_AM_PORT), true);
	char list[INC_AM_LIST];
	int tcp, ret;

	if (!r) {
		snprintf(err, err_len, "no memory");
		return -ENOMEM;
	}
	ret = open_tcp(conn, r, "aggregation manager", "inc-amd", deadline_ms,
		       err, err_len);
	if (!ret && !put_managers(r, list, sizeof(list))) {
		snprintf(err, err_len, "too many aggregation managers: their addresses have %d characters at most",
			 INC_AM_LIST - 1);
		close(conn->fd);
		conn->fd = -1;
		ret = -EINVAL;
	}
	inc_reach_free(r);
	if (ret)
		return ret;
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
