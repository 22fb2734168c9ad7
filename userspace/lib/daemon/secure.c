// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See secure.h. libinc-tls is loaded if INC_SERVER_CA or INC_SERVER_CERTS is
 * set, and not before: programs without TLS need no OpenSSL.
 */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "auth/address.h"
#include "auth/client.h"
#include "conf/clock.h"
#include "rendezvous/proto.h"
#include "secure.h"
#include "tls/tls.h"

#define SHAKE_MS	10000

/**
 * inc_now_ms() - read CLOCK_MONOTONIC
 *
 * Return: milliseconds.
 */
int64_t inc_now_ms(void)
{
	return now_ms();
}

/**
 * inc_secure_wait() - wait for the socket
 * @fd: socket
 * @events: what for
 * @deadline_ms: how long; if passed, only look
 *
 * Return: 0, -ETIMEDOUT or another negative errno value.
 */
int inc_secure_wait(int fd, short events, int64_t deadline_ms)
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

/**
 * inc_secure_recv() - receive, by TLS or not
 * @s: TLS on it
 * @fd: socket
 * @buf: result
 * @len: its size in bytes
 *
 * Return: number of bytes, 0: the daemon has closed the connection, or a
 * negative errno value.
 */
ssize_t inc_secure_recv(struct inc_secure *s, int fd, void *buf, size_t len)
{
	ssize_t n;

	if (s->tls)
		return s->ops->recv(s->tls, buf, len);
	n = recv(fd, buf, len, MSG_DONTWAIT);
	return n < 0 ? -errno : n;
}

static ssize_t send_some(struct inc_secure *s, int fd, const void *buf,
			 size_t len)
{
	ssize_t n;

	if (s->tls)
		return s->ops->send(s->tls, buf, len);
	n = send(fd, buf, len, MSG_NOSIGNAL | MSG_DONTWAIT);
	return n < 0 ? -errno : n;
}

/**
 * inc_secure_write() - send bytes, by TLS or not
 * @s: TLS on it
 * @fd: socket
 * @text: bytes
 * @len: their number
 * @deadline_ms: how long to try
 *
 * Return: 0 or a negative errno value.
 */
int inc_secure_write(struct inc_secure *s, int fd, const char *text, size_t len,
		     int64_t deadline_ms)
{
	size_t off = 0;
	ssize_t n;
	int ret;

	while (off < len) {
		ret = inc_secure_wait(fd, POLLOUT, deadline_ms);
		if (ret)
			return ret;
		n = send_some(s, fd, text + off, len - off);
		if (n >= 0)
			off += (size_t)n;
		else if (n != -EAGAIN && n != -EINTR)
			return (int)n;
	}
	return 0;
}

static int shake_hands(struct inc_secure *s, int fd, int64_t deadline_ms,
		       char *err, size_t err_len)
{
	short events = 0;
	int ret;

	if (deadline_ms > inc_now_ms() + SHAKE_MS)
		deadline_ms = inc_now_ms() + SHAKE_MS;
	while ((ret = s->ops->shake(s->tls, &events)) == -EAGAIN) {
		ret = inc_secure_wait(fd, events, deadline_ms);
		if (!ret)
			continue;
		snprintf(err, err_len, "rendezvous daemon: TLS: %s: does it speak TLS?",
			 strerror(-ret));
		return ret;
	}
	if (ret)
		snprintf(err, err_len, "%s", s->ops->why(s->tls));
	return ret;
}

static int open_tls(struct inc_secure *s, int fd, const struct auth_client *auth,
		    const char *server, int64_t deadline_ms, char *err,
		    size_t err_len)
{
	const struct inc_tls_how how = {
		.ca	= auth->ca,
		.cert	= auth->cert,
		.key	= auth->key,
	};
	struct inc_tls_ctx *ctx;
	char host[256];

	s->ops = inc_tls_load(err, err_len);
	if (!s->ops)
		return -ENOPKG;
	ctx = s->ops->ctx_new(&how, err, err_len);
	if (!ctx)
		return -EINVAL;
	if (inc_auth_host(server, host, sizeof(host)))
		s->tls = s->ops->open(ctx, fd, host);
	s->ops->ctx_free(ctx);
	if (!s->tls) {
		snprintf(err, err_len, "TLS: no memory, or an invalid name: %s",
			 server);
		return -EINVAL;
	}
	return shake_hands(s, fd, deadline_ms, err, err_len);
}

static int show_token(struct inc_secure *s, int fd, const char *token,
		      int64_t deadline_ms, char *err, size_t err_len)
{
	char line[INC_RDV_LINE_MAX];
	int len, ret;

	if (!s->tls && !inc_auth_peer_is_loopback(fd)) {
		snprintf(err, err_len, "a token is sent over TLS only: set INC_SERVER_CA or INC_SERVER_CERTS");
		return -EINVAL;
	}
	len = inc_rdv_token_format(token, line, sizeof(line));
	if (len < 0) {
		snprintf(err, err_len, "INC_SERVER_TOKEN: a token has 1 to %d printable ASCII characters, without spaces, quotes and backslashes",
			 INC_RDV_TOKEN_MAX);
		return len;
	}
	ret = inc_secure_write(s, fd, line, (size_t)len, deadline_ms);
	explicit_bzero(line, sizeof(line));
	if (ret)
		snprintf(err, err_len, "rendezvous daemon: %s", strerror(-ret));
	return ret;
}

/**
 * inc_secure_open() - begin to speak TLS, and show a token, if wanted
 * @s: result
 * @fd: socket, connected
 * @server: its address, whose host the daemon's certificate must have
 * @deadline_ms: how long to try
 * @err: error message
 * @err_len: size of @err in bytes
 *
 * Return: 0 or a negative errno value; -ENOPKG if libinc-tls is missing.
 */
int inc_secure_open(struct inc_secure *s, int fd, const char *server,
		    int64_t deadline_ms, char *err, size_t err_len)
{
	struct auth_client auth;
	int ret = inc_auth_read(&auth, "INC_SERVER", err, err_len);

	if (!ret && auth.ca)
		ret = open_tls(s, fd, &auth, server, deadline_ms, err, err_len);
	if (!ret && auth.token)
		ret = show_token(s, fd, auth.token, deadline_ms, err, err_len);
	inc_auth_free(&auth);
	return ret;
}

/**
 * inc_secure_close() - end TLS, if it is spoken
 * @s: TLS on a socket that is open
 */
void inc_secure_close(struct inc_secure *s)
{
	if (s->tls)
		s->ops->close(s->tls);
	s->tls = NULL;
}
