// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A thread that carries bytes between gRPC, at one end of a pair of sockets,
 * and the manager, by TLS. It starts with signals blocked, as all threads here.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "auth/address.h"
#include "auth/files.h"
#include "auth/verify.h"
#include "tls.h"

#define HANDSHAKE_MS	10000
#define BUF_LEN		16384	/* TLS's records have at most as much */

/**
 * struct flow - bytes under way in one direction
 * @buf: bytes
 * @at: first one that was not sent
 * @len: end
 */
struct flow {
	uint8_t	buf[BUF_LEN];
	size_t	at;
	size_t	len;
};

/**
 * struct am_tls - a connection
 * @ctx: OpenSSL's settings
 * @ssl: OpenSSL's connection
 * @tcp: socket to the manager
 * @app: our end of the pair of sockets
 * @grpc: gRPC's end, which gRPC closes
 * @heard: the manager has sent something after the handshake
 * @thread: carries the bytes
 * @lock: guards @why
 * @why: why the connection has failed; empty: it has not
 * @host: that the manager's certificate must name
 * @auth: what the client has
 * @out: from gRPC
 * @in: to gRPC
 */
struct am_tls {
	SSL_CTX		*ctx;
	SSL		*ssl;
	int		tcp;
	int		app;
	int		grpc;
	bool		heard;
	pthread_t	thread;
	pthread_mutex_t	lock;
	char		why[512];
	char		host[256];
	const struct auth_client *auth;
	struct flow	out;
	struct flow	in;
};

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* --- Errors -------------------------------------------------------------- */

static void set_why(struct am_tls *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The first that is known is the cause of the others. */
static void set_why(struct am_tls *t, const char *fmt, ...)
{
	va_list ap;

	pthread_mutex_lock(&t->lock);
	if (!t->why[0]) {
		va_start(ap, fmt);
		vsnprintf(t->why, sizeof(t->why), fmt, ap);
		va_end(ap);
	}
	pthread_mutex_unlock(&t->lock);
}

/* The manager has said no. */
static void refused(struct am_tls *t, unsigned long code)
{
	const char *why = inc_auth_alert(ERR_GET_REASON(code));
	char text[160];

	if (!t->auth->cert)
		set_why(t, "TLS: the manager refuses this client, which shows no certificate: set INC_AM_CERTS, or INC_AM_CERT and INC_AM_KEY");
	else if (why)
		set_why(t, "TLS: the manager refuses the certificate %s (INC_AM_CERT): %s",
			t->auth->cert, why);
	else
		set_why(t, "TLS: the manager %s",
			inc_auth_broken(code, text, sizeof(text)));
}

/* What OpenSSL has met; call after SSL_get_error() said that it failed. */
static void explain(struct am_tls *t, int kind)
{
	long verify = SSL_get_verify_result(t->ssl);
	unsigned long code = ERR_peek_last_error();
	const char *reason = ERR_reason_error_string(code);
	int number = ERR_GET_REASON(code);
	char text[384];

	if (verify != X509_V_OK)
		set_why(t, "TLS: the manager's certificate %s",
			inc_auth_verify(verify, t->auth->ca, t->host, text,
					sizeof(text)));
	else if (code && number == SSL_R_WRONG_VERSION_NUMBER)
		set_why(t, "TLS: the manager does not speak it: is this the port of inc-amd? If it is without TLS, unset INC_AM_CA and INC_AM_CERTS");
	else if (reason && strstr(reason, "alert"))
		refused(t, code);
	else if (reason && number != SSL_R_UNEXPECTED_EOF_WHILE_READING)
		set_why(t, "TLS: the manager is not understood (OpenSSL: %s): is this the port of inc-amd?",
			reason);
	else if (kind == SSL_ERROR_SYSCALL && errno && t->heard)
		set_why(t, "TLS: the connection was lost: %s",
			strerror(errno));
	ERR_clear_error();
}

/* --- Bytes --------------------------------------------------------------- */

/*
 * Returns true if it is to be tried again when @pfd says so; false: the
 * connection has ended.
 */
static bool wants(struct am_tls *t, int ret, struct pollfd *pfd)
{
	int kind = SSL_get_error(t->ssl, ret);

	if (kind == SSL_ERROR_WANT_READ)
		pfd->events |= POLLIN;
	else if (kind == SSL_ERROR_WANT_WRITE)
		pfd->events |= POLLOUT;
	else if (kind != SSL_ERROR_ZERO_RETURN)
		explain(t, kind);
	return kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_WANT_WRITE;
}

static bool shake_hands(struct am_tls *t)
{
	int64_t until = now_ms() + HANDSHAKE_MS, left;
	/* gRPC's end is closed when nobody waits any more. */
	struct pollfd pfd[2] = { { .fd = t->tcp }, { .fd = t->app } };
	int ret;

	for (;;) {
		pfd[0].events = 0;
		ERR_clear_error();
		errno = 0;
		ret = SSL_connect(t->ssl);
		if (ret == 1)
			return true;
		if (!wants(t, ret, &pfd[0]))
			break;
		left = until - now_ms();
		if (left <= 0) {
			set_why(t, "TLS: the manager does not answer within %d s: is this the port of inc-amd, and does it use TLS?",
				HANDSHAKE_MS / 1000);
			return false;
		}
		ret = poll(pfd, 2, (int)left);
		if (ret > 0 && pfd[1].revents & (POLLHUP | POLLERR))
			return false;
	}
	set_why(t, "TLS: the manager has closed the connection at once: is this the port of inc-amd, and does it use TLS?");
	return false;
}

/* From gRPC to the manager. Returns false at the end. */
static bool carry_out(struct am_tls *t, struct pollfd *pfd)
{
	struct flow *f = &t->out;
	ssize_t n;
	int ret;

	for (;;) {
		if (f->at == f->len) {
			f->at = f->len = 0;
			n = recv(t->app, f->buf, BUF_LEN, MSG_DONTWAIT);
			if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
				pfd[1].events |= POLLIN;
				return true;
			}
			if (n <= 0)
				return false;
			f->len = (size_t)n;
		}
		ERR_clear_error();
		errno = 0;
		ret = SSL_write(t->ssl, f->buf + f->at, (int)(f->len - f->at));
		if (ret <= 0)
			return wants(t, ret, &pfd[0]);
		f->at += (size_t)ret;
	}
}

/* From the manager to gRPC. Returns false at the end. */
static bool carry_in(struct am_tls *t, struct pollfd *pfd)
{
	struct flow *f = &t->in;
	ssize_t n;
	int ret;

	for (;;) {
		if (f->at == f->len) {
			f->at = f->len = 0;
			ERR_clear_error();
			errno = 0;
			ret = SSL_read(t->ssl, f->buf, BUF_LEN);
			if (ret <= 0)
				return wants(t, ret, &pfd[0]);
			f->len = (size_t)ret;
			t->heard = true;
		}
		n = send(t->app, f->buf + f->at, f->len - f->at,
			 MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
			pfd[1].events |= POLLOUT;
			return true;
		}
		if (n <= 0)
			return false;
		f->at += (size_t)n;
	}
}

static void *carry(void *arg)
{
	struct am_tls *t = arg;
	struct pollfd pfd[2] = { { .fd = t->tcp }, { .fd = t->app } };
	bool going = shake_hands(t);

	while (going) {
		pfd[0].events = 0;
		pfd[1].events = 0;
		going = carry_out(t, pfd) && carry_in(t, pfd);
		if (going)
			poll(pfd, 2, -1);
	}
	/* An older manager that refuses a certificate says nothing, in TLS 1.3. */
	if (!t->heard && t->auth->cert)
		set_why(t, "TLS: the manager has closed the connection: does it accept this client's certificate, %s (INC_AM_CERT)?",
			t->auth->cert);
	else if (!t->heard)
		set_why(t, "TLS: the manager has closed the connection: does it want a certificate (INC_AM_CERTS)?");
	if (SSL_is_init_finished(t->ssl))
		SSL_shutdown(t->ssl);
	shutdown(t->tcp, SHUT_RDWR);
	shutdown(t->app, SHUT_RDWR);
	return NULL;
}

/* --- Start and stop ------------------------------------------------------ */

/* The certificate must have the name by which the manager was asked for. */
static bool expect_name(struct am_tls *t, const char *manager)
{
	if (!inc_auth_host(manager, t->host, sizeof(t->host)))
		return false;
	if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(t->ssl), t->host) == 1)
		return true;
	return SSL_set1_host(t->ssl, t->host) == 1 &&
	       SSL_set_tlsext_host_name(t->ssl, t->host) == 1;
}

static int open_ssl(struct am_tls *t, const char *manager,
		    const struct auth_client *auth, char *err, size_t err_len)
{
	static const unsigned char h2[] = { 2, 'h', '2' };
	int ret;

	t->ctx = SSL_CTX_new(TLS_client_method());
	if (!t->ctx)
		return -ENOMEM;
	SSL_CTX_set_min_proto_version(t->ctx, TLS1_2_VERSION);
	SSL_CTX_set_verify(t->ctx, SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_mode(t->ctx, SSL_MODE_ENABLE_PARTIAL_WRITE |
				 SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	ret = inc_auth_load(t->ctx, auth->ca, auth->cert, auth->key, err,
			    err_len);
	if (ret)
		return ret;
	t->ssl = SSL_new(t->ctx);
	if (!t->ssl || SSL_set_fd(t->ssl, t->tcp) != 1 ||
	    SSL_set_alpn_protos(t->ssl, h2, sizeof(h2)) ||
	    !expect_name(t, manager))
		return -ENOMEM;
	return 0;
}

static void free_tls(struct am_tls *t)
{
	SSL_free(t->ssl);
	SSL_CTX_free(t->ctx);
	if (t->app >= 0)
		close(t->app);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

/**
 * am_tls_start() - begin to speak TLS with a manager
 * @tls: result, for am_tls_stop()
 * @tcp: connection to it; stays the caller's on failure
 * @manager: its address, whose host its certificate must have
 * @auth: what the client has; stays there until am_tls_stop()
 * @fd: result: socket for gRPC, which closes it
 * @err: error message
 * @err_len: size of @err in bytes
 *
 * Does not wait: the socket is closed if the manager is refused, or refuses.
 *
 * Return: 0 or a negative errno value.
 */
int am_tls_start(struct am_tls **tls, int tcp, const char *manager,
		 const struct auth_client *auth, int *fd, char *err,
		 size_t err_len)
{
	struct am_tls *t = calloc(1, sizeof(*t));
	int pair[2], ret;

	snprintf(err, err_len, "%s", strerror(ENOMEM));
	if (!t)
		return -ENOMEM;
	pthread_mutex_init(&t->lock, NULL);
	t->tcp = tcp;
	t->auth = auth;
	t->app = -1;
	ret = open_ssl(t, manager, auth, err, err_len);
	if (!ret && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		ret = -errno;
	if (ret) {
		free_tls(t);
		return ret;
	}
	t->app = pair[0];
	t->grpc = pair[1];
	fcntl(t->grpc, F_SETFL, O_NONBLOCK);
	fcntl(tcp, F_SETFL, fcntl(tcp, F_GETFL) | O_NONBLOCK);
	ret = -pthread_create(&t->thread, NULL, carry, t);
	if (ret) {
		close(t->grpc);
		free_tls(t);
		return ret;
	}
	*tls = t;
	*fd = t->grpc;
	return 0;
}

/**
 * am_tls_why() - get why a connection has failed
 * @tls: connection
 * @err: result; left alone if it has not
 * @err_len: size of @err in bytes
 */
void am_tls_why(struct am_tls *tls, char *err, size_t err_len)
{
	pthread_mutex_lock(&tls->lock);
	if (tls->why[0])
		snprintf(err, err_len, "%s", tls->why);
	pthread_mutex_unlock(&tls->lock);
}

/**
 * am_tls_stop() - end a connection
 * @tls: connection, which gRPC does not use any more
 */
void am_tls_stop(struct am_tls *tls)
{
	shutdown(tls->app, SHUT_RDWR);
	pthread_join(tls->thread, NULL);
	close(tls->tcp);
	free_tls(tls);
}

/**
 * am_tls_forked() - close a child's copies of the parent's sockets
 * @tls: connection
 */
void am_tls_forked(struct am_tls *tls)
{
	close(tls->tcp);
	close(tls->app);
	close(tls->grpc);
}
