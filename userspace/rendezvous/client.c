// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The daemon's clients: their hosts, sending to them, and their time limit for
 * joining.
 */
#include "nl/common.h"

#include <inttypes.h>
#include <stdarg.h>

#include "auth/address.h"
#include "conf/list.h"
#include "rpc/message.h"
#include "server.h"

#define LOG_MS		10000
#define LOG_MAX		10	/* refusals in the log within LOG_MS */

/* --- Hosts --------------------------------------------------------------- */

/*
 * Get the host of a client. Returns the host, to which the client is
 * charged; NULL: no memory.
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

/*
 * Free a host if nothing is charged to it.
 * @host: host, which may still have clients or jobs
 */
void host_put(struct server *s, struct host *host)
{
	if (host->clients || host->jobs)
		return;
	list_remove(s->hosts, host);
	free(host);
}

/* --- Clients ------------------------------------------------------------- */

/* Add a client. Returns the client, without a stream, or NULL. */
struct client *client_new(struct server *s)
{
	struct client *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->server = s;
	c->next = s->clients;
	s->clients = c;
	s->nclients++;
	return c;
}

/*
 * Log a refusal, unless there are too many.
 * @name: address or name of the client
 */
void client_refuse(struct server *s, const char *name, const char *why)
{
	unsigned int before, n = pace_count(&s->refused_pace, LOG_MS, &before);

	s->refused++;
	if (n > LOG_MAX)
		return;
	fprintf(stderr, "inc-tool: serve: refused %s: %s (%" PRIu64 " refused so far%s)\n",
		name, why, s->refused, n == LOG_MAX ?
		"; the next ones are counted only" : "");
}

/* Start the time limit for joining. */
void client_wait_join(struct client *c)
{
	const struct server *s = c->server;

	if (!c->closing && c->peer != PEER_UP)
		c->deadline = s->loop.now + s->max.join_ms;
}

/* End a stream: it must not be used any more. */
static void end_stream(struct client *c, int err, const char *text)
{
	if (c->closing)
		return;
	c->closing = true;
	c->deadline = 0;
	if (c->up)
		up_close(c->up);
	rpc_stream_end(c->stream, err, text);
	c->stream = NULL;
	c->up = NULL;
}

/*
 * Begin a stream to the parent's daemon. Returns its client, or NULL. An
 * unreachable parent shows later.
 */
struct client *client_connect(struct server *s)
{
	struct client *c = client_new(s);

	if (!c)
		return NULL;
	c->peer = PEER_UP;
	snprintf(c->name, sizeof(c->name), "%s", s->parent);
	c->up = up_connect(s, c);
	if (c->up)
		return c;
	c->gone = true;
	return NULL;
}

/* End a client's stream when all was sent. Further input is ignored. */
void client_end(struct client *c)
{
	end_stream(c, 0, "");
}

/* Drop a client's stream, which may have ended by itself. */
void client_shut(struct client *c)
{
	end_stream(c, ECONNRESET, "the daemon ends");
	c->gone = true;
}

/*
 * Send a message. Does not block. A peer that reads nothing is eventually
 * dropped.
 */
void client_send(struct client *c, const struct inc_rdv_msg *msg)
{
	struct am_message out = { .rdv = *msg };
	uint8_t *data;
	size_t len;

	if (c->up) {
		up_send(c->up, msg);
		return;
	}
	if (c->closing || am_manager_pack(&out, &data, &len))
		return;
	rpc_stream_send(c->stream, data, len);
	free(data);
}

/*
 * Send an error, which ends the stream.
 * @err: positive errno value
 */
void client_error(struct client *c, int err, const char *fmt, ...)
{
	char text[INC_RDV_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	log_info("%s: %s", c->name, text);
	end_stream(c, err, text);
}

/*
 * Confirm that a rank has left.
 * @missing: ranks for which it waited; empty: none
 */
void client_bye(struct client *c, const char *missing)
{
	struct inc_rdv_msg msg = { .type = INC_RDV_BYE };

	snprintf(msg.text, sizeof(msg.text), "%s", missing);
	client_send(c, &msg);
	client_end(c);
}

/*
 * Get the local address of a client's connection. Returns 0 or a negative errno
 * value.
 */
int client_own_addr(const struct client *c, struct inc_rdv_addr *addr)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	if (c->up)
		return up_own_addr(c->up, addr);
	if (!c->stream ||
	    getsockname(rpc_stream_fd(c->stream), (struct sockaddr *)&ss, &len))
		return -ENOTCONN;
	return inc_rdv_addr_from_sockaddr((struct sockaddr *)&ss, addr);
}

/*
 * Get the clients' next deadline. Returns milliseconds, INT64_MAX if there is
 * none.
 */
int64_t clients_next_deadline(const struct server *s)
{
	int64_t next = INT64_MAX;
	const struct client *c;

	for (c = s->clients; c; c = c->next)
		if (c->deadline && c->deadline < next)
			next = c->deadline;
	return next;
}

/* Free a client that is gone, and in no job. */
void client_free(struct client *c)
{
	struct server *s = c->server;

	s->nclients--;
	if (c->host) {
		c->host->clients--;
		host_put(s, c->host);
	}
	free(c);
}
