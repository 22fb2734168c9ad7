// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The rendezvous daemon's connections: where they come from, what is sent, and
 * their time limits.
 */
#include "conf/list.h"
#include "nl/common.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <unistd.h>

#include "auth/address.h"
#include "keepalive.h"
#include "server.h"

#define LINGER_MS	5000	/* to read the last line */
#define CROWD_JOIN_MS	5000	/* to join while there are many connections */
#define OUT_MAX		(8 * INC_RDV_LINE_MAX)

/* --- Hosts --------------------------------------------------------------- */

/**
 * host_get() - get the host of a connection
 * @s: daemon
 * @addr: its address
 *
 * Return: the host, to which the connection is charged; NULL: no memory.
 */
struct host *host_get(struct server *s, const struct inc_rdv_addr *addr)
{
	struct in6_addr key;
	struct host *host;

	inc_auth_host_key(addr->bytes, addr->len, &key);
	for (host = s->hosts; host; host = host->next)
		if (IN6_ARE_ADDR_EQUAL(&host->key, &key))
			break;
	if (!host) {
		host = calloc(1, sizeof(*host));
		if (!host)
			return NULL;
		host->key = key;
		host->next = s->hosts;
		s->hosts = host;
	}
	host->clients++;
	return host;
}

/**
 * host_put() - free a host that nothing is charged to
 * @s: daemon
 * @host: host, which may still have connections or jobs
 */
void host_put(struct server *s, struct host *host)
{
	if (host->clients || host->jobs)
		return;
	list_remove(s->hosts, host);
	free(host);
}

/* --- Connections --------------------------------------------------------- */

/**
 * client_shut() - close a connection's socket
 * @c: connection, which sweep_clients() frees
 */
void client_shut(struct client *c)
{
	secure_close(c);
	close(c->fd);
	c->fd = -1;
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

	if (c->handshaking)
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
	log_info("%s: %s", c->name, msg.text);
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

/**
 * client_new() - add a connection
 * @s: daemon
 * @fd: its socket, which is closed if that fails
 * @sa: address of the other end
 * @len: its length
 *
 * Return: the connection, or NULL.
 */
struct client *client_new(struct server *s, int fd,
			  const struct sockaddr_storage *sa, socklen_t len)
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
	client_shut(c);
	errno = ENOMEM;
	return NULL;
}

/**
 * client_keep_alive() - start to detect that a rank's host has vanished
 * @c: its connection
 * @dead_time: dead time of its tree, milliseconds
 *
 * For ranks whose death the switch cannot detect. The daemon sends them lines,
 * so that TCP has data to be acknowledged. Keepalive would send nothing meanwhile; with
 * a daemon that stands still it would, and with such a limit one lost probe ends the
 * connection.
 */
void client_keep_alive(struct client *c, uint32_t dead_time)
{
	const int on = 1, off = 0;

	c->alive_ms = dead_time / INC_RDV_BEATS;
	if (!c->alive_ms)
		return;
	c->alive_at = c->server->now + c->alive_ms;
	setsockopt(c->fd, SOL_SOCKET, SO_KEEPALIVE, &off, sizeof(off));
	setsockopt(c->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &dead_time,
		   sizeof(dead_time));
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
 * client_free() - free a connection that is closed, and in no job
 * @c: connection, which is in no list
 */
void client_free(struct client *c)
{
	struct server *s = c->server;

	s->nclients--;
	if (c->host) {
		c->host->clients--;
		host_put(s, c->host);
	}
	drop_output(c);
	free(c);
}
