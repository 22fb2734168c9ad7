// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See tls.h. OpenSSL reads and writes the socket by functions of this file: its
 * own would raise SIGPIPE in a program that does not expect it.
 */
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "auth/files.h"
#include "auth/verify.h"
#include "tls/tls.h"

/**
 * struct inc_tls_ctx - settings and files of a client
 * @ssl: OpenSSL's context
 * @ca: file with the authority's certificate, or NULL
 * @cert: file with the client's certificate, or NULL
 * @alpn: protocol that the server must agree to, or NULL
 * @words: terms in messages
 */
struct inc_tls_ctx {
	SSL_CTX				*ssl;
	char				*ca;
	char				*cert;
	char				*alpn;
	const struct inc_tls_words	*words;
};

/**
 * struct inc_tls - a connection
 * @ssl: OpenSSL's connection
 * @fd: socket
 * @pid: process that opened it
 * @ca: copy of the context's, which may be gone
 * @cert: likewise
 * @alpn: the server has to agree to a protocol
 * @words: terms in messages
 * @host: name by which the server was addressed
 * @err: errno of the socket's last failure; 0: none
 * @failed: OpenSSL must not be used any more
 * @end: kind of failure
 * @why: its description
 */
struct inc_tls {
	SSL		*ssl;
	int		fd;
	pid_t		pid;
	char		*ca;
	char		*cert;
	bool		alpn;
	const struct inc_tls_words *words;
	char		*host;
	int		err;
	bool		failed;
	enum inc_tls_end end;
	char		why[512];
};

static BIO_METHOD *method;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* --- The socket ---------------------------------------------------------- */

static int bio_result(BIO *bio, ssize_t n, int retry)
{
	struct inc_tls *t = BIO_get_data(bio);
	int err = errno;

	BIO_clear_retry_flags(bio);
	if (n >= 0)
		return (int)n;
	/* ENOTCONN: connect() is under way. */
	if (err == EAGAIN || err == EINTR || err == ENOTCONN)
		BIO_set_flags(bio, retry | BIO_FLAGS_SHOULD_RETRY);
	else
		t->err = err;
	return -1;
}

static int to_socket(BIO *bio, const char *data, int len)
{
	struct inc_tls *t = BIO_get_data(bio);

	return bio_result(bio, send(t->fd, data, (size_t)len,
				    MSG_NOSIGNAL | MSG_DONTWAIT),
			  BIO_FLAGS_WRITE);
}

static int from_socket(BIO *bio, char *data, int len)
{
	struct inc_tls *t = BIO_get_data(bio);

	return bio_result(bio, recv(t->fd, data, (size_t)len, MSG_DONTWAIT),
			  BIO_FLAGS_READ);
}

static long control_bio(BIO *bio, int cmd, long num, void *ptr)
{
	return cmd == BIO_CTRL_FLUSH;
}

static void make_method(void)
{
	method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK,
			      "rdma_inc");
	if (!method)
		return;
	BIO_meth_set_write(method, to_socket);
	BIO_meth_set_read(method, from_socket);
	BIO_meth_set_ctrl(method, control_bio);
}

/* --- Errors -------------------------------------------------------------- */

/* Explain that the server refuses this client, for the reason @why. */
static void explain_refusal(struct inc_tls *t, const char *why)
{
	if (t->cert)
		snprintf(t->why, sizeof(t->why), "TLS: %s refuses the certificate %s (%s): %s",
			 t->words->peer, t->cert, t->words->cert, why);
	else
		snprintf(t->why, sizeof(t->why), "TLS: %s refuses this client, which shows no certificate (%s)",
			 t->words->peer, t->words->cert);
	if (!t->cert)
		t->end = INC_TLS_BARE;
}

static void note_closed(struct inc_tls *t)
{
	t->end = INC_TLS_CLOSED;
	snprintf(t->why, sizeof(t->why), "TLS: %s has closed the connection",
		 t->words->peer);
}

/* Explain a failure by the errors of OpenSSL and of the socket. */
static void explain_failure(struct inc_tls *t)
{
	const char *who = t->words->peer;
	long verify = SSL_get_verify_result(t->ssl);
	unsigned long code = ERR_peek_last_error();
	const char *refuses = inc_auth_alert(ERR_GET_REASON(code));
	char text[400];

	if (t->why[0])
		;
	else if (ERR_GET_REASON(code) == SSL_R_WRONG_VERSION_NUMBER)
		snprintf(t->why, sizeof(t->why), "TLS: %s does not speak it: %s",
			 who, t->words->plain);
	else if (verify != X509_V_OK)
		snprintf(t->why, sizeof(t->why), "TLS: the certificate of %s %s",
			 who, inc_auth_verify(verify, t->ca, t->host, text,
					      sizeof(text)));
	else if (refuses)
		explain_refusal(t, refuses);
	else if (t->err && !code)
		snprintf(t->why, sizeof(t->why), "TLS: the connection to %s was lost: %s",
			 who, strerror(t->err));
	else if (!code || ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING)
		note_closed(t);
	else
		snprintf(t->why, sizeof(t->why), "TLS: %s %s", who,
			 inc_auth_broken(code, text, sizeof(text)));
	ERR_clear_error();
}

/*
 * Translate the result @ret of an OpenSSL function. Returns 0 at the end of the
 * connection, -EAGAIN and the events to poll for, or another error.
 */
static int get_outcome(struct inc_tls *t, int ret, short *events)
{
	int kind = SSL_get_error(t->ssl, ret);
	char c;

	/* An alert may say why the peer does not listen any more. */
	if (kind == SSL_ERROR_SYSCALL && t->err == EPIPE)
		SSL_read(t->ssl, &c, 1);
	*events = POLLIN;
	if (kind == SSL_ERROR_WANT_READ)
		return -EAGAIN;
	*events = POLLOUT;
	if (kind == SSL_ERROR_WANT_WRITE)
		return -EAGAIN;
	if (kind == SSL_ERROR_ZERO_RETURN)
		return 0;
	explain_failure(t);
	t->failed = true;
	return -EPROTO;
}

static void clear_errors(struct inc_tls *t)
{
	ERR_clear_error();
	t->err = 0;
}

/* --- Settings ------------------------------------------------------------ */

/* Free settings; connections keep copies. */
void inc_tls_ctx_free(struct inc_tls_ctx *ctx)
{
	SSL_CTX_free(ctx->ssl);
	free(ctx->ca);
	free(ctx->cert);
	free(ctx->alpn);
	free(ctx);
}

/*
 * Read a client's files. Returns the settings; NULL and a text if the files
 * cannot be used.
 * @err_len: size of @err in bytes
 */
struct inc_tls_ctx *inc_tls_ctx_new(const struct inc_tls_how *how, char *err,
				    size_t err_len)
{
	struct inc_tls_ctx *ctx = calloc(1, sizeof(*ctx));

	pthread_once(&once, make_method);
	if (ctx)
		ctx->ssl = SSL_CTX_new(TLS_client_method());
	if (!ctx || !ctx->ssl || !method) {
		snprintf(err, err_len, "TLS: no memory");
		if (ctx)
			SSL_CTX_free(ctx->ssl);
		free(ctx);
		return NULL;
	}
	inc_auth_modes(ctx->ssl);
	SSL_CTX_set_verify(ctx->ssl, SSL_VERIFY_PEER, NULL);
	ctx->ca = how->ca ? strdup(how->ca) : NULL;
	ctx->cert = how->cert ? strdup(how->cert) : NULL;
	ctx->alpn = how->alpn ? strdup(how->alpn) : NULL;
	ctx->words = how->words;
	if (!inc_auth_load(ctx->ssl, how->ca, how->cert, how->key, err,
			   err_len))
		return ctx;
	inc_tls_ctx_free(ctx);
	return NULL;
}

/* --- Connections --------------------------------------------------------- */

/* The certificate must have the name by which the server was addressed. */
static bool expect_name(SSL *ssl, const char *host)
{
	if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1)
		return true;
	ERR_clear_error();
	return SSL_set1_host(ssl, host) == 1 &&
	       SSL_set_tlsext_host_name(ssl, host) == 1;
}

static bool offer_alpn(SSL *ssl, const char *alpn)
{
	unsigned char list[32];
	size_t n = strlen(alpn);

	list[0] = (unsigned char)n;
	memcpy(list + 1, alpn, n);
	return !SSL_set_alpn_protos(ssl, list, (unsigned int)n + 1);
}

static struct inc_tls *new_conn(SSL_CTX *ctx, int fd,
				const struct inc_tls_words *words)
{
	struct inc_tls *t = calloc(1, sizeof(*t));
	BIO *bio = NULL;

	pthread_once(&once, make_method);
	if (t)
		t->ssl = SSL_new(ctx);
	if (t && t->ssl && method)
		bio = BIO_new(method);
	if (!bio) {
		if (t)
			SSL_free(t->ssl);
		free(t);
		return NULL;
	}
	t->fd = fd;
	t->pid = getpid();
	t->words = words;
	BIO_set_data(bio, t);
	BIO_set_init(bio, 1);
	SSL_set_bio(t->ssl, bio, bio);
	return t;
}

static struct inc_tls *open_conn(struct inc_tls_ctx *ctx, int fd,
				 const char *host)
{
	struct inc_tls *t = new_conn(ctx->ssl, fd, ctx->words);

	if (!t)
		return NULL;
	if ((host && !expect_name(t->ssl, host)) ||
	    (ctx->alpn && !offer_alpn(t->ssl, ctx->alpn))) {
		inc_tls_close(t);
		return NULL;
	}
	t->ca = ctx->ca ? strdup(ctx->ca) : NULL;
	t->cert = ctx->cert ? strdup(ctx->cert) : NULL;
	t->alpn = ctx->alpn;
	t->host = host ? strdup(host) : NULL;
	SSL_set_connect_state(t->ssl);
	return t;
}

/*
 * Begin TLS on a socket. Returns NULL: no memory, or @host is no valid name.
 * @fd: non-blocking socket, owned by the caller
 * @host: name or address that the server's certificate must have
 */
struct inc_tls *inc_tls_open(struct inc_tls_ctx *ctx, int fd, const char *host)
{
	return open_conn(ctx, fd, host);
}

/*
 * As inc_tls_open(), where the server has connected to this side (RFC 8071). It can
 * be any that has a certificate of the authority's: the caller looks at its name.
 */
struct inc_tls *inc_tls_called(struct inc_tls_ctx *ctx, int fd)
{
	return open_conn(ctx, fd, NULL);
}

/*
 * Speak TLS with a client. Returns NULL: no memory.
 * @ctx: the server's settings, with its files
 * @fd: non-blocking socket, which stays the caller's
 */
struct inc_tls *inc_tls_accept(SSL_CTX *ctx, int fd,
			       const struct inc_tls_words *words)
{
	struct inc_tls *t = new_conn(ctx, fd, words);

	if (!t)
		return NULL;
	t->ca = strdup("--tls-ca");
	t->cert = strdup(words->cert);
	SSL_set_accept_state(t->ssl);
	return t;
}

/* Get the peer's certificate, to be freed by X509_free(); or NULL. */
X509 *inc_tls_peer(const struct inc_tls *t)
{
	return SSL_get1_peer_certificate(t->ssl);
}

/*
 * Go on with a handshake. Returns 0; -EAGAIN: call again when the socket has
 * one of @events; -ENOPROTOOPT: the server does not agree to ALPN's protocol;
 * or another error, which inc_tls_why() explains.
 */
int inc_tls_shake(struct inc_tls *t, short *events)
{
	const unsigned char *alpn = NULL;
	unsigned int len;
	int ret;

	clear_errors(t);
	ret = SSL_do_handshake(t->ssl);
	if (ret != 1) {
		ret = get_outcome(t, ret, events);
		return ret ? ret : -ECONNRESET;
	}
	if (t->alpn)
		SSL_get0_alpn_selected(t->ssl, &alpn, &len);
	return t->alpn && !alpn ? -ENOPROTOOPT : 0;
}

/* Read, or write if @out. */
static ssize_t transfer_bytes(struct inc_tls *t, void *buf, size_t len,
			      bool out)
{
	size_t n = 0;
	short events;
	int ret = 0;

	clear_errors(t);
	if (t->failed)
		ret = -EPROTO;
	else if (!(out ? SSL_write_ex(t->ssl, buf, len, &n) :
			 SSL_read_ex(t->ssl, buf, len, &n)))
		ret = get_outcome(t, 0, &events) ?: out ? -EPIPE : 0;
	return ret ? ret : (ssize_t)n;
}

/* As recv(). -EAGAIN: no data now; inc_tls_why() explains other errors. */
ssize_t inc_tls_recv(struct inc_tls *t, void *buf, size_t len)
{
	return transfer_bytes(t, buf, len, false);
}

/* As send(), with errors as above. After -EAGAIN send the same bytes again. */
ssize_t inc_tls_send(struct inc_tls *t, const void *buf, size_t len)
{
	return transfer_bytes(t, (void *)buf, len, true);
}

/* Get the reason why a connection has failed. */
const char *inc_tls_why(const struct inc_tls *t)
{
	return t->why[0] ? t->why : "TLS: closed the connection";
}

/* Get the kind of a connection's failure. */
enum inc_tls_end inc_tls_end(const struct inc_tls *t)
{
	return t->end;
}

/*
 * Say goodbye, if the socket takes it, and free the connection. In a child of
 * fork() nothing is said or freed.
 */
void inc_tls_close(struct inc_tls *t)
{
	/*
	 * A child of fork() must not speak for its parent, nor rely on locks:
	 * it keeps its copy.
	 */
	if (t->pid != getpid())
		return;
	if (!t->failed && SSL_is_init_finished(t->ssl))
		SSL_shutdown(t->ssl);
	ERR_clear_error();
	SSL_free(t->ssl);
	free(t->ca);
	free(t->cert);
	free(t->host);
	free(t);
}
