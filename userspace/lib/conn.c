// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * TCP connection to the rendezvous daemon. Deadlines are milliseconds of
 * CLOCK_MONOTONIC.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "conn.h"
#include "keepalive.h"
#include "log.h"

/*
 * A daemon that is not there yet is tried again for so long: whoever starts
 * everything at once is not punished, who mistypes the address does not wait
 * for the whole time limit.
 */
#define REFUSED_MS	2000
#define REFUSED_PAUSE_MS 50

/**
 * inc_now_ms() - milliseconds of CLOCK_MONOTONIC
 *
 * Return: those.
 */
int64_t inc_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* "host", "host:port", "[addr]:port", or an IPv6 address alone. */
static int split_server(const char *server, char *host, size_t len,
			const char **port)
{
	const char *colon = strrchr(server, ':');
	size_t n = strlen(server);

	*port = INC_RDV_PORT;
	if (server[0] == '[') {
		const char *end = strchr(server, ']');

		if (!end || (end[1] != ':' && end[1] != '\0'))
			return -EINVAL;
		if (end[1])
			*port = end + 2;
		server++;
		n = (size_t)(end - server);
	} else if (colon && colon == strchr(server, ':')) {
		*port = colon + 1;
		n = (size_t)(colon - server);
	}
	if (!n || n >= len || !**port)
		return -EINVAL;
	memcpy(host, server, n);
	host[n] = '\0';
	return 0;
}

static int wait_fd(int fd, short events, int64_t deadline_ms)
{
	struct pollfd pfd = { .fd = fd, .events = events };
	int64_t left;
	int ret;

	for (;;) {
		left = deadline_ms - inc_now_ms();
		left = left < 0 ? 0 : left > 60000 ? 60000 : left;
		ret = poll(&pfd, 1, (int)left);
		if (ret > 0)
			return 0;
		if (ret < 0 && errno != EINTR)
			return -errno;
		if (!left)
			return -ETIMEDOUT;
	}
}

static int connect_one(const struct addrinfo *ai, int64_t deadline_ms, int *res)
{
	socklen_t len = sizeof(int);
	int fd, ret, err;

	fd = socket(ai->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	ret = connect(fd, ai->ai_addr, ai->ai_addrlen) ? -errno : 0;
	if (ret == -EINPROGRESS) {
		ret = wait_fd(fd, POLLOUT, deadline_ms);
		if (!ret && getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len))
			ret = -errno;
		else if (!ret)
			ret = -err;
	}
	if (ret) {
		close(fd);
		return ret;
	}
	inc_set_keepalive(fd);
	*res = fd;
	return 0;
}

static int connect_any(const struct addrinfo *list, int64_t deadline_ms,
		       int *fd)
{
	int64_t refused_until = inc_now_ms() + REFUSED_MS;
	const struct timespec pause = {
		.tv_nsec = REFUSED_PAUSE_MS * 1000000L,
	};
	const struct addrinfo *ai;
	int ret = -EHOSTUNREACH;

	if (refused_until > deadline_ms)
		refused_until = deadline_ms;
	for (;;) {
		for (ai = list; ai; ai = ai->ai_next) {
			ret = connect_one(ai, deadline_ms, fd);
			if (!ret)
				return 0;
		}
		if (ret != -ECONNREFUSED || inc_now_ms() >= refused_until)
			return ret;
		nanosleep(&pause, NULL);
	}
}

/**
 * inc_conn_open() - connect to the daemon
 * @conn: connection
 * @server: where it is
 * @deadline_ms: how long to try
 * @err: what went wrong
 * @err_len: size of @err in bytes
 *
 * Return: 0 or a negative errno value.
 */
int inc_conn_open(struct inc_conn *conn, const char *server,
		  int64_t deadline_ms, char *err, size_t err_len)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct sockaddr_storage local;
	socklen_t len = sizeof(local);
	struct addrinfo *list;
	const char *port;
	char host[256];
	int ret;

	memset(conn, 0, sizeof(*conn));
	conn->fd = -1;
	ret = split_server(server, host, sizeof(host), &port);
	if (ret) {
		snprintf(err, err_len, "server \"%s\": must be host, host:port or [address]:port",
			 server);
		return ret;
	}
	ret = getaddrinfo(host, port, &hints, &list);
	if (ret) {
		snprintf(err, err_len, "server \"%s\": %s", server,
			 gai_strerror(ret));
		return -EHOSTUNREACH;
	}
	ret = connect_any(list, deadline_ms, &conn->fd);
	freeaddrinfo(list);
	if (ret) {
		snprintf(err, err_len, "rendezvous daemon at %s, port %s: %s",
			 host, port, strerror(-ret));
		return ret;
	}
	if (!getsockname(conn->fd, (struct sockaddr *)&local, &len))
		inc_rdv_addr_from_sockaddr((struct sockaddr *)&local,
					   &conn->local);
	return 0;
}

/**
 * inc_conn_close() - close the connection, if there is one
 * @conn: connection
 */
void inc_conn_close(struct inc_conn *conn)
{
	if (conn->fd >= 0)
		close(conn->fd);
	conn->fd = -1;
}

/**
 * inc_conn_send() - send a line
 * @conn: connection
 * @msg: what to say
 * @deadline_ms: how long to try
 *
 * Return: 0 or a negative errno value.
 */
int inc_conn_send(struct inc_conn *conn, const struct inc_rdv_msg *msg,
		  int64_t deadline_ms)
{
	char line[INC_RDV_LINE_MAX + 1];
	size_t off = 0, len;
	ssize_t n;
	int ret;

	ret = inc_rdv_format(msg, line, sizeof(line));
	if (ret < 0)
		return ret;
	inc_dbg(conn->who, "to daemon: %.*s", ret - 1, line);
	for (len = (size_t)ret; off < len; off += (size_t)n) {
		ret = wait_fd(conn->fd, POLLOUT, deadline_ms);
		if (ret)
			return ret;
		n = send(conn->fd, line + off, len - off, MSG_NOSIGNAL);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			n = 0;
		else if (n < 0)
			return -errno;
	}
	return 0;
}

/* Next line, received or waited for. */
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
		ret = wait_fd(conn->fd, POLLIN, deadline_ms);
		if (ret)
			return ret;
		to = inc_rdv_space(&conn->lines, &len);
		n = recv(conn->fd, to, len, 0);
		if (n > 0)
			inc_rdv_added(&conn->lines, (size_t)n);
		else if (n == 0)
			return -ENOTCONN;
		else if (errno != EAGAIN && errno != EINTR)
			return -errno;
	}
}

/**
 * inc_conn_recv() - receive a line
 * @conn: connection
 * @msg: what it says
 * @deadline_ms: how long to wait; one that has passed: take what is there
 * @err: what went wrong
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
		snprintf(err, err_len, "rendezvous daemon: %s",
			 ret == -ENOTCONN ? "closed the connection" :
					    strerror(-ret));
		return ret;
	}
	inc_dbg(conn->who, "from daemon: %s", line);
	return inc_rdv_parse(line, msg, err, err_len);
}
