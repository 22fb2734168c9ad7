// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Who may talk to the rendezvous daemon. Nothing of a connection is read as a line
 * of the protocol before it has proved that it may; it has little time for that,
 * and a turn of the main loop little time for shaking hands.
 */
#include "nl/common.h"

#include <sys/socket.h>

#include "job.h"
#include "tls/tls.h"

#define TLS_FIRST	0x16	/* of all handshakes */

static void refuse_crowd(struct client *c)
{
	secure_refuse(c, "more connections from one host than --max-host-clients, %u",
		      c->server->max.host_clients);
	client_close(c, "too many of one host");
}

/**
 * admit_caller() - accept a connection
 * @s: daemon whose listening socket is readable
 */
void admit_caller(struct server *s)
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
	else if (c->host->clients > s->max.host_clients && c->handshaking)
		/* Without a handshake it could not read the reply. */
		refuse_crowd(c);
	else if (c->host->clients > s->max.host_clients)
		client_error(c, ENOSPC, "this daemon accepts at most %u connections from one host: try later, or raise --max-host-clients",
			     s->max.host_clients);
}

static void note_proof(struct client *c, const char *by, const char *name)
{
	c->authenticated = true;
	client_wait_join(c);
	log_info("%s: %s of %s", c->name, by, name);
}

/*
 * Does it speak TLS at all? If not it gets an answer that it can read. Returns
 * false if there is no more to do for now.
 */
static bool begin_tls(struct client *c)
{
	struct security *sec = &c->server->security;
	unsigned char first;
	ssize_t n;

	n = recv(c->fd, &first, 1, MSG_PEEK | MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		client_close(c, n ? strerror(errno) : "connection lost");
		return false;
	}
	if (first != TLS_FIRST) {
		c->handshaking = false;
		secure_refuse(c, "it does not speak TLS");
		client_error(c, EACCES, "this daemon speaks TLS only: set INC_SERVER_CA or INC_SERVER_CERTS, see libinc(7)");
		return false;
	}
	c->tls = sec->ops->open(sec->down, c->fd, NULL);
	if (!c->tls)
		client_close(c, "no memory");
	return c->tls;
}

/* With unread input TCP would reset the connection, and lose our alert. */
static void drain_input(int fd)
{
	char buf[4096];
	int i;

	for (i = 0; i < 8; i++)
		if (recv(fd, buf, sizeof(buf), MSG_DONTWAIT) <= 0)
			break;
}

/**
 * admit_step() - go on with shaking hands
 * @c: connection, which is at it
 *
 * Return: true if it is done, and there may be input.
 */
bool admit_step(struct client *c)
{
	const struct inc_tls_ops *ops = c->server->security.ops;
	char name[64], why[256];
	int ret;

	if (!c->tls && !begin_tls(c))
		return false;
	ret = ops->shake(c->tls, &c->wants);
	if (ret == -EAGAIN)
		return false;
	if (ret) {
		snprintf(why, sizeof(why), "%s", ops->why(c->tls));
		secure_refuse(c, "%s", why);
		drain_input(c->fd);
		client_close(c, why);
		return false;
	}
	c->handshaking = false;
	if (c->role == ROLE_UP) {
		c->deadline = 0;
		client_flush(c);
	} else if (ops->client(c->tls, name, sizeof(name))) {
		note_proof(c, "certificate", name);
	} else if (!c->server->security.tokens) {
		note_proof(c, "TLS", "nobody in particular");
	}
	return c->fd >= 0 && !c->closing;
}

/**
 * admit_line() - look for a token in a line
 * @c: connection
 * @line: line
 *
 * Return: true if that was all: the line had a token, or is not read since
 * nobody has proved that he may say it.
 */
bool admit_line(struct client *c, const char *line)
{
	const struct security *sec = &c->server->security;
	char token[INC_RDV_TOKEN_MAX + 1], name[64];
	bool shown;

	/* A token precedes all else. */
	if (c->authenticated && (c->role != ROLE_NEW || c->job))
		return false;
	shown = inc_rdv_token_parse(line, token);
	if (!shown && c->authenticated)
		return false;
	if (shown && (!sec->tokens ||
		      sec->ops->tokens_name(sec->tokens, token, name,
					    sizeof(name)))) {
		if (sec->tokens)
			note_proof(c, "token", name);
	} else if (shown) {
		secure_refuse(c, "its token is not known");
		client_error(c, EACCES, "this daemon does not know the token (INC_SERVER_TOKEN)");
	} else {
		secure_refuse(c, "it has no token");
		client_error(c, EACCES, "this daemon wants a token%s: set INC_SERVER_TOKEN or INC_SERVER_TOKEN_FILE",
			     sec->ca ? ", or a certificate (INC_SERVER_CERTS)" :
				       "");
	}
	explicit_bzero(token, sizeof(token));
	return true;
}

/**
 * admit_speaks_tls() - check for a client that speaks TLS to a daemon without
 * @c: connection
 * @first: first byte of all
 *
 * Return: true if so: it has got an answer.
 */
bool admit_speaks_tls(struct client *c, char first)
{
	if (c->tls || c->role != ROLE_NEW || c->in.used || first != TLS_FIRST)
		return false;
	secure_refuse(c, "it speaks TLS, and this daemon does not: --tls-cert");
	client_error(c, EPROTO, "this daemon does not speak TLS: unset INC_SERVER_CA and INC_SERVER_CERTS");
	return true;
}
