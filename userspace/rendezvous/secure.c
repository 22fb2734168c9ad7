// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * TLS, certificates and tokens of the rendezvous daemon: their files, what is
 * sent and received, and the log of refusals. Who may talk is admit.c's.
 */
#include "nl/common.h"

#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/socket.h>

#include "auth/address.h"
#include "server.h"
#include "tls/tls.h"

#define PROVE_MS	5000	/* to shake hands, and to show a token */
#define LOOK_MS		1000	/* between looks at the files */
#define LOG_MS		10000
#define LOG_MAX		10	/* refusals in the log within LOG_MS */

/* --- Refusals ------------------------------------------------------------ */

/**
 * secure_refuse() - log that a connection is refused
 * @c: connection
 * @fmt: why
 *
 * The log has few of many.
 */
void secure_refuse(struct client *c, const char *fmt, ...)
{
	struct security *sec = &c->server->security;
	va_list ap;

	sec->refused++;
	if (c->server->now - sec->log_since >= LOG_MS) {
		sec->log_since = c->server->now;
		sec->logged = 0;
	}
	if (++sec->logged > LOG_MAX)
		return;
	fprintf(stderr, "inc-tool: serve: refused %s: ", c->name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, " (%" PRIu64 " refused so far%s)\n", sec->refused,
		sec->logged == LOG_MAX ? "; the next ones are counted only" :
					 "");
}

/* --- Files --------------------------------------------------------------- */

static struct inc_tls_ctx *make_ctx(const struct security *sec, bool server,
				    char *err, size_t err_len)
{
	const struct inc_tls_how how = {
		.ca	= sec->ca,
		.cert	= sec->cert,
		.key	= sec->key,
		.server	= server,
		.ask	= !sec->ca ? INC_TLS_ASK_NOTHING :
			  sec->tokens_path ? INC_TLS_ASK : INC_TLS_DEMAND,
	};

	return sec->ops->ctx_new(&how, err, err_len);
}

/* Read everything; what was read before stays if anything is wrong. */
static bool read_files(struct server *s, char *err, size_t err_len)
{
	struct security *sec = &s->security;
	struct inc_tls_ctx *down = NULL, *up = NULL;
	struct tokens *tokens = NULL;
	char why[256];

	if (sec->tokens_path && sec->ops->tokens_read(&tokens, sec->tokens_path,
						      why, sizeof(why))) {
		snprintf(err, err_len, "--tokens %s: %s", sec->tokens_path, why);
		return false;
	}
	if (sec->cert)
		down = make_ctx(sec, true, err, err_len);
	/* Without a parent, the certificate need not be one for clients. */
	if (down && s->parent_len)
		up = make_ctx(sec, false, err, err_len);
	if (sec->cert && (!down || (s->parent_len && !up))) {
		if (down)
			sec->ops->ctx_free(down);
		sec->ops->tokens_free(tokens);
		return false;
	}
	secure_forget(sec);
	sec->down = down;
	sec->up = up;
	sec->tokens = tokens;
	return true;
}

static bool have_changed(struct security *sec)
{
	const char *const paths[] = { sec->ca, sec->cert, sec->key,
				      sec->tokens_path };
	bool any = false;
	unsigned int i;

	for (i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		if (paths[i])
			any |= inc_auth_changed(paths[i], &sec->files[i]);
	return any;
}

/* Certificates are renewed, and tokens revoked, while the daemon runs. */
static void read_again(struct server *s)
{
	struct security *sec = &s->security;
	char err[512];

	if (!sec->ops || s->now < sec->look_at)
		return;
	sec->look_at = s->now + LOOK_MS;
	if (have_changed(sec) && !read_files(s, err, sizeof(err)))
		fprintf(stderr, "inc-tool: serve: %s: what was read before is used on\n",
			err);
}

/**
 * secure_forget() - forget what was read from files
 * @sec: it
 */
void secure_forget(struct security *sec)
{
	if (sec->down)
		sec->ops->ctx_free(sec->down);
	if (sec->up)
		sec->ops->ctx_free(sec->up);
	if (sec->tokens)
		sec->ops->tokens_free(sec->tokens);
	sec->down = NULL;
	sec->up = NULL;
	sec->tokens = NULL;
}

static const char *find_contradiction(const struct security *sec, bool loopback,
				      bool child)
{
	if (!sec->cert != !sec->key)
		return "--tls-cert and --tls-key need each other";
	if (sec->ca && !sec->cert)
		return "--tls-ca needs --tls-cert and --tls-key";
	if (sec->plaintext && sec->cert)
		return "--insecure-plaintext contradicts --tls-cert";
	if (sec->tokens_path && !sec->cert && !loopback)
		return "--tokens beyond loopback needs --tls-cert and --tls-key: everyone could read them";
	if (child && sec->cert && !sec->ca)
		return "--parent with TLS needs --tls-ca, to check the parent's certificate";
	return NULL;
}

/**
 * secure_start() - check the options, and read the files that they name
 * @s: daemon
 * @o: options
 *
 * Return: false if they are wrong; a message was printed.
 */
bool secure_start(struct server *s, const struct serve_options *o)
{
	struct security *sec = &s->security;
	bool loopback = o->listen && inc_auth_is_loopback(o->listen);
	const char *what = find_contradiction(sec, loopback, o->parent);
	char err[512];

	if (!what && !sec->cert && !sec->tokens_path) {
		if (!loopback && !sec->plaintext)
			fprintf(stderr, "inc-tool: serve: WARNING: without TLS everyone who reaches %s can join jobs, and read and change what is said here: --tls-cert, --tls-key and --tls-ca help; --insecure-plaintext is silent\n",
				o->listen ? o->listen : "one of its addresses");
		return true;
	}
	if (!what) {
		sec->ops = inc_tls_load(err, sizeof(err));
		have_changed(sec);
		if (sec->ops && read_files(s, err, sizeof(err)))
			return true;
		what = err;
	}
	fprintf(stderr, "inc-tool: serve: %s\n", what);
	return false;
}

/* --- Connections --------------------------------------------------------- */

/**
 * secure_accept() - begin with a connection that was accepted
 * @c: connection
 */
void secure_accept(struct client *c)
{
	struct security *sec = &c->server->security;

	read_again(c->server);
	c->handshaking = sec->down;
	c->authenticated = !sec->down && !sec->tokens;
	if (!c->authenticated && c->deadline > c->server->now + PROVE_MS)
		c->deadline = c->server->now + PROVE_MS;
}

/**
 * secure_connect() - begin with a connection to the parent's daemon
 * @c: connection
 *
 * Return: false if there is no memory.
 */
bool secure_connect(struct client *c)
{
	struct server *s = c->server;

	read_again(s);
	c->authenticated = true;
	if (!s->security.up)
		return true;
	c->tls = s->security.ops->open(s->security.up, c->fd, s->parent_host);
	c->handshaking = true;
	c->wants = POLLIN | POLLOUT;
	c->deadline = s->now + PROVE_MS;
	return c->tls;
}

/**
 * secure_recv() - receive, by TLS or not
 * @c: connection
 * @buf: result
 * @len: its size in bytes
 *
 * Return: number of bytes, 0: the end, or a negative errno value.
 */
ssize_t secure_recv(struct client *c, void *buf, size_t len)
{
	ssize_t n;

	if (c->tls)
		return c->server->security.ops->recv(c->tls, buf, len);
	n = recv(c->fd, buf, len, MSG_DONTWAIT);
	return n < 0 ? -errno : n;
}

/**
 * secure_send() - send, by TLS or not
 * @c: connection
 * @buf: bytes
 * @len: their number
 *
 * Return: number of bytes, or a negative errno value.
 */
ssize_t secure_send(struct client *c, const void *buf, size_t len)
{
	ssize_t n;

	if (c->tls)
		return c->server->security.ops->send(c->tls, buf, len);
	n = send(c->fd, buf, len, MSG_NOSIGNAL | MSG_DONTWAIT);
	return n < 0 ? -errno : n;
}

/**
 * secure_close() - end TLS, if it is spoken
 * @c: connection, whose socket is open
 */
void secure_close(struct client *c)
{
	if (c->tls)
		c->server->security.ops->close(c->tls);
	c->tls = NULL;
	c->handshaking = false;
}
