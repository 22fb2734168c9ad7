// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See conn.h. Deadlines are milliseconds of CLOCK_MONOTONIC.
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
#include "conf/clock.h"
#include "am.h"
#include "http2/reach.h"
#include "conn.h"
#include "tls/tls.h"

/*
 * How long to retry if no daemon listens yet. Long enough to start everything
 * at once; short enough that a mistyped address does not take the whole time
 * limit.
 */
#define REFUSED_MS	2000
#define REFUSED_PAUSE_MS 50
/* Limit of one round of connecting to all servers, which are then asked anew. */
#define RACE_MS		10000

/* Read CLOCK_MONOTONIC. Returns milliseconds. */
int64_t inc_now_ms(void)
{
	return now_ms();
}

/* Is a retry worthwhile? Refused connections only until @refused_until. */
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

/* Choose libinc's return value from the errors of all servers. */
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

/*
 * Connect to a coordinator, without a stream yet. Returns the socket, or a negative
 * errno value.
 * @r: candidate addresses
 */
int inc_conn_reach(struct inc_conn *conn, struct inc_reach *r, bool is_manager,
		   int64_t deadline_ms, char *err, size_t err_len)
{
	const char *what = is_manager ? "aggregation manager" : "rendezvous daemon";
	struct sockaddr_storage local;
	socklen_t len = sizeof(local);
	char why[INC_RDV_TEXT_MAX];
	int tcp;

	memset(conn, 0, sizeof(*conn));
	conn->fd = -1;
	tcp = race_until(r, deadline_ms);
	if (tcp < 0) {
		inc_reach_why(r, is_manager ? "inc-amd" : "inc-tool serve", why,
			      sizeof(why) - strlen(what) - 1);
		snprintf(err, err_len, "%s %s", what, *why ? why :
			 "has no address");
		return judge_errors(r);
	}
	if (!getsockname(tcp, (struct sockaddr *)&local, &len))
		inc_rdv_addr_from_sockaddr((struct sockaddr *)&local,
					   &conn->local);
	len = sizeof(conn->peer);
	getpeername(tcp, (struct sockaddr *)&conn->peer, &len);
	return tcp;
}

/* List the managers: the reached one, those after it, then those before. */
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

/* Have libinc-am begin a stream on @tcp, which it closes on failure. */
static int begin_stream(struct inc_conn *conn, int tcp, const char *list,
			bool is_manager, char *err, size_t err_len)
{
	char why[INC_RDV_TEXT_MAX];

	conn->am = conn->ops->open(tcp, list, is_manager, why, sizeof(why));
	if (!conn->am) {
		if (is_manager)
			snprintf(err, err_len, "aggregation manager %.*s: %s",
				 (int)strcspn(list, ","), list, why);
		else
			snprintf(err, err_len, "%s", why);
		return -EINVAL;
	}
	conn->fd = conn->ops->fd(conn->am);
	conn->is_manager = is_manager;
	return 0;
}

/*
 * Connect to a coordinator, and begin a stream. Returns 0 or a negative errno value.
 * @servers: HOST[:PORT] of inc-tool serve, or of managers, with commas between
 * @err: result: error text
 */
int inc_conn_open(struct inc_conn *conn, const char *servers, bool is_manager,
		  int64_t deadline_ms, char *err, size_t err_len)
{
	struct inc_reach *r = inc_reach_new(is_manager ? servers : "",
					    atoi(is_manager ? INC_AM_PORT :
							      INC_RDV_PORT), true);
	const struct inc_am_ops *ops = inc_am_load(err, err_len);
	char list[INC_AM_LIST];
	int ret;

	/* Load first: once connected, a coordinator waits only some seconds. */
	if (!ops) {
		inc_reach_free(r);
		return -ENOPKG;
	}
	if (!r || (!is_manager && !inc_reach_add(r, servers))) {
		inc_reach_free(r);
		snprintf(err, err_len, "no memory");
		return -ENOMEM;
	}
	ret = inc_conn_reach(conn, r, is_manager, deadline_ms, err, err_len);
	conn->ops = ops;
	if (ret >= 0 && is_manager && !put_managers(r, list, sizeof(list))) {
		snprintf(err, err_len, "too many aggregation managers: their addresses have %d characters at most",
			 INC_AM_LIST - 1);
		close(ret);
		ret = -EINVAL;
	}
	inc_reach_free(r);
	return ret < 0 ? ret :
	       begin_stream(conn, ret, is_manager ? list : servers, is_manager,
			    err, err_len);
}

/* Close the connection, if there is one. */
void inc_conn_close(struct inc_conn *conn)
{
	if (conn->am)
		conn->ops->close(conn->am);
	conn->am = NULL;
	conn->fd = -1;
}

/* Send a message to the coordinator. Does not wait. */
int inc_conn_send(struct inc_conn *conn, const struct inc_rdv_msg *msg)
{
	inc_dbg(conn->who, "to daemon: %s", inc_rdv_name(msg->type));
	return conn->am ? conn->ops->send(conn->am, msg) : -ENOTCONN;
}

/* Have the coordinator treat this rank as lost. */
void inc_conn_hang_up(struct inc_conn *conn)
{
	if (conn->am)
		conn->ops->hang_up(conn->am);
}

static int wait_for(int fd, short events, int64_t deadline_ms)
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

/*
 * Describe why nothing could be sent or received.
 * @err_len: size of @err in bytes
 */
void inc_conn_why(const struct inc_conn *conn, int ret, char *err,
		  size_t err_len)
{
	snprintf(err, err_len, "%s: %s",
		 conn->is_manager ? "manager" : "rendezvous daemon",
		 ret == -ENOTCONN ? "closed the connection" : strerror(-ret));
}

static int try_recv(struct inc_conn *conn, struct inc_rdv_msg *msg, short *events)
{
	int ret, fd;

	if (!conn->am)
		return -ENOTCONN;
	ret = conn->ops->recv(conn->am, msg, events);
	fd = conn->ops->fd(conn->am);
	/* Changes only before there is a tree: then, other threads read it. */
	if (fd != conn->fd)
		conn->fd = fd;
	return ret;
}

/*
 * Receive a message. Returns 0, -ETIMEDOUT, -ENOTCONN if the coordinator closed
 * the connection, or another negative errno value.
 * @deadline_ms: how long to wait; if passed, only take messages that have
 * arrived
 * @err_len: size of @err in bytes
 */
int inc_conn_recv(struct inc_conn *conn, struct inc_rdv_msg *msg,
		  int64_t deadline_ms, char *err, size_t err_len)
{
	short events;
	int ret;

	while ((ret = try_recv(conn, msg, &events)) == -EAGAIN) {
		ret = wait_for(conn->fd, events, deadline_ms);
		if (ret)
			break;
	}
	if (ret) {
		inc_conn_why(conn, ret, err, err_len);
		return ret;
	}
	inc_dbg(conn->who, "from daemon: %s%s%s", inc_rdv_name(msg->type),
		msg->type == INC_RDV_ERROR ? ": " : "",
		msg->type == INC_RDV_ERROR ? msg->text : "");
	return 0;
}

/* Check whether there may be messages that poll() does not report. */
bool inc_conn_more(const struct inc_conn *conn)
{
	return conn->am && conn->ops->more(conn->am);
}
