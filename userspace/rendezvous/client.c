// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The rendezvous daemon's connections: input, output, and time limits.
 */
#include "nl/common.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <unistd.h>

#include "keepalive.h"
#include "server.h"

#define LINGER_MS	5000	/* to read the last line */
#define CROWD_JOIN_MS	5000	/* to join while there are many connections */
#define OUT_MAX		(8 * INC_RDV_LINE_MAX)

/**
 * client_close() - end a connection
 * @c: connection, closed already or not
 * @why: reason, for the log
 *
 * Also removes the client from its job. clients_sweep() frees it.
 */
void client_close(struct client *c, const char *why)
{
	if (c->fd < 0)
		return;
	secure_close(c);
	close(c->fd);
	c->fd = -1;
	if (gather_of(c))
		gather_lost(c, why);
	else if (job_of(c) && c->role == ROLE_UP)
		job_up_lost(c, why);
	else if (job_of(c))
		job_lost(c, why);
	else
		server_log(c->server, "%s: %s", c->name, why);
	group_del(c);
}

/**
 * client_end() - close a connection when its output is sent
 * @c: connection
 *
 * Further input is ignored.
 */
void client_end(struct client *c)
{
	if (c->closing)
		return;
	c->closing = true;
	c->deadline = c->server->now + LINGER_MS;
}

/**
 * client_wait_join() - start the time limit for joining
 * @c: connection
 */
void client_wait_join(struct client *c)
{
	const struct server *s = c->server;
	uint32_t ms = s->max.join_ms;

	if (c->closing || c->role == ROLE_UP)
		return;
	/* Silent connections must not keep others out. */
	if (s->nclients > s->max.clients / 2 && ms > CROWD_JOIN_MS)
		ms = CROWD_JOIN_MS;
	c->deadline = s->now + ms;
}

static void drop_output(struct client *c)
{
	free(c->out);
	c->out = NULL;
	c->out_len = 0;
}

/**
 * client_flush() - send as much output as the socket takes
 * @c: connection
 */
void client_flush(struct client *c)
{
	ssize_t n;

	if (c->shaking)
		return;
	while (c->out_len && c->fd >= 0) {
		n = secure_send(c, c->out, c->out_len);
		if (n == -EINTR)
			continue;
		if (n == -EAGAIN || n == -ENOTCONN)
			return;
		if (n < 0) {
			/* The main loop closes it: the caller still uses it. */
			client_end(c);
			break;
		}
		c->out_len -= (size_t)n;
		memmove(c->out, c->out + n, c->out_len);
	}
	drop_output(c);
}

/**
 * client_send() - send a line
 * @c: connection
 * @msg: line
 *
 * Does not block. A peer that reads nothing is dropped in the end.
 */
void client_send(struct client *c, const struct inc_rdv_msg *msg)
{
	char line[INC_RDV_LINE_MAX + 1];
	int len = inc_rdv_format(msg, line, sizeof(line));
	char *out;

	if (c->closing || c->fd < 0)
		return;
	if (len < 0 || (size_t)len > OUT_MAX - c->out_len) {
		client_end(c);
		return;
	}
	out = realloc(c->out, c->out_len + (size_t)len);
	if (!out) {
		client_end(c);
		return;
	}
	c->out = out;
	memcpy(c->out + c->out_len, line, (size_t)len);
	c->out_len += (size_t)len;
	client_flush(c);
}

/**
 * client_error() - send an error, then close the connection
 * @c: connection that is not a rank
 * @err: positive errno value; all that mean that a limit is reached become
 *	ENOSPC
 * @fmt: error message
 */
void client_error(struct client *c, int err, const char *fmt, ...)
{
	bool full = err == ENOBUFS || err == EDQUOT;
	struct inc_rdv_msg msg = {
		.type	= INC_RDV_ERROR,
		.err	= full ? ENOSPC : err,
	};
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg.text, sizeof(msg.text), fmt, ap);
	va_end(ap);
	server_log(c->server, "%s: %s", c->name, msg.text);
	client_send(c, &msg);
	client_end(c);
}

/**
 * client_bye() - confirm that a rank has left
 * @c: connection
 * @missing: ranks for which it waited; empty: none
 */
void client_bye(struct client *c, const char *missing)
{
	struct inc_rdv_msg msg = { .type = INC_RDV_BYE };

	snprintf(msg.text, sizeof(msg.text), "%s", missing);
	client_send(c, &msg);
	client_end(c);
}

static void handle_join(struct client *c, const struct inc_rdv_join *join)
{
	struct inc_rdv_join fits = *join;
	uint32_t pmtu = addr_pmtu(c);

	if (c->role == ROLE_CHILD) {
		client_error(c, EBUSY, "this connection belongs to a child switch: a rank needs its own");
		return;
	}
	if (c->group) {
		client_error(c, EBUSY, "this connection is rank %u of a job already: each rank needs its own connection",
			     gather_of(c) ? c->join.rank : c->rank);
		return;
	}
	if (!addr_believed(c, &join->addr))
		return;
	/* A tree whose PMTU nobody has chosen gets what fits all ranks' ways. */
	if (pmtu && pmtu < fits.mtu)
		fits.mtu = pmtu;
	c->role = ROLE_RANK;
	c->wrong = join->wrong;
	if (gather_wants(c->server, join))
		gather_join(c, &fits);
	else
		job_join(c, &fits);
}

static void handle_gather(struct client *c, const struct inc_rdv_join *join)
{
	if (c->role == ROLE_RANK) {
		client_error(c, EBUSY, "this connection belongs to a rank: a child switch needs its own for each job");
		return;
	}
	if (job_of(c)) {
		client_error(c, EBUSY, "this connection's job has all its ranks: another job needs another connection");
		return;
	}
	c->role = ROLE_CHILD;
	gather_join(c, join);
}

static void handle_link(struct client *c, const struct inc_rdv_join *join)
{
	if (c->role != ROLE_CHILD || !job_of(c))
		client_error(c, EPROTO, "\"link\" before \"placed\": a child switch says \"gather\" for its ranks, and waits for the answer");
	else if (addr_believed(c, &join->addr))
		job_link_below(c, join);
}

/* Handle a line of the parent's daemon. The switch reports failures itself. */
static void handle_up(struct client *c, const struct inc_rdv_msg *msg)
{
	switch (msg->type) {
	case INC_RDV_PLACED:
		if (gather_of(c))
			gather_placed(c, &msg->placed);
		break;
	case INC_RDV_LINKED:
		if (job_of(c) && job_link(job_of(c), &msg->joined))
			client_end(c);
		break;
	case INC_RDV_READY:
		if (job_of(c))
			job_parent_ready(job_of(c));
		break;
	case INC_RDV_ERROR:
		if (gather_of(c))
			gather_error(c, msg->err, msg->text);
		client_end(c);
		break;
	default:
		break;
	}
}

static void handle_msg(struct client *c, const struct inc_rdv_msg *msg)
{
	switch (msg->type) {
	case INC_RDV_GATHER:
		handle_gather(c, &msg->join);
		return;
	case INC_RDV_RETRACT:
		if (gather_of(c) && c->role == ROLE_CHILD)
			gather_retract(c, &msg->join);
		/*
		 * If all ranks are present by now, this closes the connection.
		 */
		else if (!job_of(c) || c->role != ROLE_CHILD)
			client_error(c, EPROTO, "\"retract\" without \"gather\": a rank says \"leave\"");
		return;
	case INC_RDV_LINK:
		handle_link(c, &msg->join);
		return;
	case INC_RDV_JOIN:
		handle_join(c, &msg->join);
		return;
	case INC_RDV_RTS:
		if (job_of(c))
			job_rts(c);
		else
			client_error(c, EPROTO, "\"rts\" before \"joined\": join, and wait for the answer");
		return;
	case INC_RDV_LEAVE:
		if (job_of(c))
			job_leave(c);
		else
			client_bye(c, "");
		return;
	case INC_RDV_LOST:
		if (!job_of(c)) {
			client_error(c, EPROTO, "\"lost\" before \"joined\": join, and wait for the answer");
			return;
		}
		job_lost(c, "the switch does not answer it");
		client_end(c);
		return;
	default:
		client_error(c, EPROTO, "only the daemon sends that: a rank sends join, rts, leave or lost");
	}
}

static void handle_line(struct client *c, const char *line)
{
	char err[INC_RDV_TEXT_MAX] = "";
	struct inc_rdv_msg msg;
	int ret;

	if (secure_line(c, line))
		return;
	ret = inc_rdv_parse(line, &msg, err, sizeof(err));
	if (ret)
		client_error(c, -ret, "%s", err);
	else if (c->role == ROLE_UP)
		handle_up(c, &msg);
	else
		handle_msg(c, &msg);
}

static void handle_lines(struct client *c)
{
	char line[INC_RDV_LINE_MAX];
	int ret;

	while (!c->closing) {
		ret = inc_rdv_line(&c->in, line, sizeof(line));
		if (!ret)
			return;
		if (ret == -EMSGSIZE)
			client_error(c, EMSGSIZE, "line longer than %d bytes: each line is one JSON object, ended by a newline",
				     INC_RDV_LINE_MAX);
		else if (ret < 0)
			client_error(c, EINVAL, "line with a NUL byte: each line is one JSON object, as text");
		else
			handle_line(c, line);
	}
}

/* Returns whether to try again at once. */
static bool take_input(struct client *c)
{
	size_t len;
	ssize_t n;
	char *to = inc_rdv_space(&c->in, &len);

	n = secure_recv(c, to, len);
	if (n == -EAGAIN || n == -EINTR)
		return false;
	if (n <= 0) {
		client_close(c, !n ? "connection lost" :
				secure_why(c, strerror((int)-n)));
		return false;
	}
	if (secure_speaks_tls(c, *to))
		return false;
	inc_rdv_added(&c->in, (size_t)n);
	handle_lines(c);
	return c->fd >= 0 && !c->closing && secure_pending(c);
}

/**
 * client_input() - read and process input
 * @c: connection that is not closing
 *
 * With TLS, all that was decrypted: at most a record.
 */
void client_input(struct client *c)
{
	while (take_input(c))
		;
}

static struct client *client_new(struct server *s, int fd,
				 const struct sockaddr_storage *sa,
				 socklen_t len)
{
	char host[INET6_ADDRSTRLEN], port[8];
	struct client *c;

	c = calloc(1, sizeof(*c));
	if (!c) {
		close(fd);
		return NULL;
	}
	inc_rdv_addr_from_sockaddr((const struct sockaddr *)sa, &c->addr);
	if (getnameinfo((const struct sockaddr *)sa, len, NULL, 0, port,
			sizeof(port), NI_NUMERICSERV))
		snprintf(port, sizeof(port), "?");
	snprintf(c->name, sizeof(c->name), "%s port %s",
		 inc_rdv_addr_str(&c->addr, host, sizeof(host)), port);
	c->fd = fd;
	c->server = s;
	c->next = s->clients;
	s->clients = c;
	s->nclients++;
	return c;
}

static void refuse_crowd(struct client *c)
{
	secure_refuse(c, "more connections from one host than --max-host-clients, %u",
		      c->server->max.host_clients);
	client_close(c, "too many of one host");
}

/**
 * client_accept() - accept a connection
 * @s: daemon whose listening socket is readable
 */
void client_accept(struct server *s)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	struct client *c;
	int fd;

	fd = accept4(s->listen_fd, (struct sockaddr *)&sa, &len,
		     SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0)
		return;
	c = client_new(s, fd, &sa, len);
	if (!c)
		return;
	c->host = host_get(s, &c->addr);
	client_wait_join(c);
	secure_accept(c);
	if (!c->host)
		client_close(c, "no memory");
	else if (c->host->clients > s->max.host_clients && c->shaking)
		/* It could not read what it is told, without a handshake. */
		refuse_crowd(c);
	else if (c->host->clients > s->max.host_clients)
		client_error(c, ENOSPC, "this daemon accepts at most %u connections from one host: try later, or raise --max-host-clients",
			     s->max.host_clients);
}

/**
 * client_connect() - connect to the parent's daemon
 * @s: daemon
 *
 * Output waits until the connection is established.
 *
 * Return: the connection, or NULL.
 */
struct client *client_connect(struct server *s)
{
	struct client *c;
	int fd;

	fd = socket(s->parent.ss_family,
		    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return NULL;
	if (connect(fd, (struct sockaddr *)&s->parent, s->parent_len) &&
	    errno != EINPROGRESS) {
		close(fd);
		return NULL;
	}
	inc_set_keepalive(fd);
	c = client_new(s, fd, &s->parent, s->parent_len);
	if (!c)
		return NULL;
	c->role = ROLE_UP;
	if (secure_connect(c))
		return c;
	c->shaking = false;
	client_close(c, "no memory");
	errno = ENOMEM;
	return NULL;
}

/**
 * client_keep_alive() - start to detect that a rank's host has vanished
 * @c: its connection
 * @dead_time: dead time of its tree, milliseconds
 *
 * For ranks whose death the switch cannot detect. The daemon sends them lines,
 * so that TCP has data to be acknowledged; the rank detects a dead daemon by
 * the same lines.
 */
void client_keep_alive(struct client *c, uint32_t dead_time)
{
	const unsigned int limit = dead_time / INC_RDV_BEATS *
				   INC_RDV_BEATS_MISSED;
	const int on = 1;

	c->alive_ms = dead_time / INC_RDV_BEATS;
	if (!c->alive_ms)
		return;
	c->alive_at = c->server->now + c->alive_ms;
	setsockopt(c->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, sizeof(limit));
	/* Retransmit without exponential backoff. */
	setsockopt(c->fd, IPPROTO_TCP, TCP_THIN_LINEAR_TIMEOUTS, &on,
		   sizeof(on));
}

/**
 * clients_keep_alive() - send "alive" to the ranks that are due
 * @s: daemon
 */
void clients_keep_alive(struct server *s)
{
	struct client *c;

	for (c = s->clients; c; c = c->next) {
		if (!c->alive_ms || c->alive_at > s->now || c->closing ||
		    c->fd < 0)
			continue;
		c->alive_at = s->now + c->alive_ms;
		client_send(c, &(struct inc_rdv_msg){ .type = INC_RDV_ALIVE });
	}
}

/**
 * clients_next_deadline() - get the next deadline of a connection
 * @s: daemon
 *
 * Return: milliseconds, INT64_MAX if there is nothing.
 */
int64_t clients_next_deadline(const struct server *s)
{
	int64_t next = INT64_MAX;
	const struct client *c;

	for (c = s->clients; c; c = c->next) {
		if (c->deadline && c->deadline < next)
			next = c->deadline;
		if (c->alive_ms && !c->closing && c->alive_at < next)
			next = c->alive_at;
	}
	return next;
}

/**
 * clients_sweep() - free closed connections
 * @s: daemon
 */
void clients_sweep(struct server *s)
{
	struct client **link = &s->clients, *c;

	while ((c = *link)) {
		if (c->closing && !c->out_len)
			client_close(c, "closed");
		if (c->fd >= 0) {
			link = &c->next;
			continue;
		}
		*link = c->next;
		s->nclients--;
		if (c->host)
			host_put(s, c->host);
		drop_output(c);
		free(c);
	}
}

/**
 * clients_check_deadlines() - drop connections whose deadline has passed
 * @s: daemon
 */
void clients_check_deadlines(struct server *s)
{
	struct client *c;

	for (c = s->clients; c; c = c->next) {
		if (!c->deadline || c->deadline > s->now)
			continue;
		if (c->shaking)
			secure_late(c);
		else if (c->closing)
			client_close(c, "does not read");
		else
			client_error(c, ETIMEDOUT, c->proved ?
				     "no \"join\" within %u ms of connecting" :
				     "no token within the time of %u ms to join",
				     s->max.join_ms);
	}
}
