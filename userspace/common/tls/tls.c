// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See tls.h. OpenSSL reads and writes the socket by functions of this file:
 * its own would raise SIGPIPE in a program that does not expect it.
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
#include "auth/token.h"
#include "auth/verify.h"
#include "tls/tls.h"

/**
 * struct inc_tls_ctx - what was read from files
 * @ssl: OpenSSL's settings
 * @ca: file with the authority's certificate, or NULL
 * @cert: file with the own one, or NULL
 * @alpn: what must be spoken over it, or NULL
 * @words: of a client
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
 * @server: we are the server
 * @ca: as the settings', which may be gone
 * @cert: likewise
 * @alpn: a server has to agree to it
 * @words: of a client
 * @host: name that the server was asked for by, or NULL
 * @err: errno of the socket's last failure; 0: none
 * @failed: OpenSSL must not be used from now on
 * @lock: guards @ssl, once hands were shaken
 * @end: what it has failed by
 * @why: and in words
 */
struct inc_tls {
	SSL		*ssl;
	int		fd;
	pid_t		pid;
	bool		server;
	char		*ca;
	char		*cert;
	bool		alpn;
	const struct inc_tls_words *words;
	char		*host;
	int		err;
	bool		failed;
	pthread_mutex_t	lock;
	enum inc_tls_end end;
	char		why[512];
};

static const struct inc_tls_words of_ranks = {
	.peer	= "the rendezvous daemon",
	.cert	= "INC_SERVER_CERTS",
	.plain	= "start it with --tls-cert, or unset INC_SERVER_CA and INC_SERVER_CERTS",
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
	/* ENOTCONN: it is being connected. */
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
			      "rendezvous");
	if (!method)
		return;
	BIO_meth_set_write(method, to_socket);
	BIO_meth_set_read(method, from_socket);
	BIO_meth_set_ctrl(method, control_bio);
}

/* --- Errors -------------------------------------------------------------- */

/* What people can set right here. Return: false if it is something else. */
static bool explain_own(struct inc_tls *t, unsigned long code)
{
	int reason = ERR_GET_REASON(code);

	if (t->server && reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE)
		snprintf(t->why, sizeof(t->why), "TLS: the client: it has no certificate: INC_SERVER_CERTS at the rank, --tls-cert at a child's daemon");
	else if (!t->server && reason == SSL_R_WRONG_VERSION_NUMBER)
		snprintf(t->why, sizeof(t->why), "TLS: %s does not speak it: %s",
			 t->words->peer, t->words->plain);
	else
		return false;
	return true;
}

/* The peer has said no: @why is its reason. */
static void explain_refusal(struct inc_tls *t, const char *who, const char *why)
{
	if (t->server)
		snprintf(t->why, sizeof(t->why), "TLS: %s refuses this daemon's certificate: %s",
			 who, why);
	else if (t->cert)
		snprintf(t->why, sizeof(t->why), "TLS: %s refuses the certificate %s (%s): %s",
			 who, t->cert, t->words->cert, why);
	else
		snprintf(t->why, sizeof(t->why), "TLS: %s refuses this client, which shows no certificate (%s)",
			 who, t->words->cert);
	if (!t->server && !t->cert)
		t->end = INC_TLS_BARE;
}

static void note_closed(struct inc_tls *t, const char *who)
{
	t->end = INC_TLS_CLOSED;
	snprintf(t->why, sizeof(t->why), "TLS: %s has closed the connection",
		 who);
}

/* Remember what OpenSSL and the socket have met. */
static void explain_failure(struct inc_tls *t)
{
	const char *who = t->server ? "the client" : t->words->peer;
	long verify = SSL_get_verify_result(t->ssl);
	unsigned long code = ERR_peek_last_error();
	const char *refuses = inc_auth_alert(ERR_GET_REASON(code));
	char text[400];

	if (t->why[0] || explain_own(t, code))
		;
	else if (verify != X509_V_OK)
		snprintf(t->why, sizeof(t->why), "TLS: the certificate of %s %s",
			 who, inc_auth_verify(verify, t->ca, t->host, text,
					      sizeof(text)));
	else if (refuses)
		explain_refusal(t, who, refuses);
	else if (t->err && !code)
		snprintf(t->why, sizeof(t->why), "TLS: the connection to %s was lost: %s",
			 who, strerror(t->err));
	else if (!code || ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING)
		note_closed(t, who);
	else
		snprintf(t->why, sizeof(t->why), "TLS: %s %s", who,
			 inc_auth_broken(code, text, sizeof(text)));
	ERR_clear_error();
}

/*
 * What became of a call of OpenSSL's that returned @ret. Returns 0 at the end
 * of the connection, -EAGAIN and what to poll for, or another error.
 */
static int get_outcome(struct inc_tls *t, int ret, short *events)
{
	int kind = SSL_get_error(t->ssl, ret);
	char c;

	/* The peer may have said why it does not listen any more. */
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

static void set_modes(SSL_CTX *ctx, const struct inc_tls_how *how)
{
	static const unsigned char id[] = "inc-rendezvous";
	int verify = SSL_VERIFY_PEER;

	inc_auth_modes(ctx);
	SSL_CTX_set_session_id_context(ctx, id, sizeof(id) - 1);
	if (how->server && how->ask == INC_TLS_ASK_NOTHING)
		verify = SSL_VERIFY_NONE;
	else if (how->server && how->ask == INC_TLS_DEMAND)
		verify |= SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
	SSL_CTX_set_verify(ctx, verify, NULL);
}

static void ctx_free(struct inc_tls_ctx *ctx)
{
	SSL_CTX_free(ctx->ssl);
	free(ctx->ca);
	free(ctx->cert);
	free(ctx->alpn);
	free(ctx);
}

static struct inc_tls_ctx *ctx_new(const struct inc_tls_how *how, char *err,
				   size_t err_len)
{
	struct inc_tls_ctx *ctx = calloc(1, sizeof(*ctx));

	pthread_once(&once, make_method);
	if (ctx)
		ctx->ssl = SSL_CTX_new(how->server ? TLS_server_method() :
						     TLS_client_method());
	if (!ctx || !ctx->ssl || !method) {
		snprintf(err, err_len, "TLS: no memory");
		if (ctx)
			SSL_CTX_free(ctx->ssl);
		free(ctx);
		return NULL;
	}
	set_modes(ctx->ssl, how);
	ctx->ca = how->ca ? strdup(how->ca) : NULL;
	ctx->cert = how->cert ? strdup(how->cert) : NULL;
	ctx->alpn = how->alpn ? strdup(how->alpn) : NULL;
	ctx->words = how->words ? how->words : &of_ranks;
	if (!inc_auth_load(ctx->ssl, how->ca, how->cert, how->key, err,
			   err_len))
		return ctx;
	ctx_free(ctx);
	return NULL;
}

/* --- Connections --------------------------------------------------------- */

/* The certificate must have the name by which the server was asked for. */
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

static struct inc_tls *tls_open(struct inc_tls_ctx *ctx, int fd,
				const char *host)
{
	struct inc_tls *t = calloc(1, sizeof(*t));
	BIO *bio = NULL;

	if (t)
		t->ssl = SSL_new(ctx->ssl);
	if (t && t->ssl)
		bio = BIO_new(method);
	if (!bio || (host && !expect_name(t->ssl, host)) ||
	    (ctx->alpn && !offer_alpn(t->ssl, ctx->alpn))) {
		BIO_free(bio);
		if (t)
			SSL_free(t->ssl);
		free(t);
		return NULL;
	}
	t->fd = fd;
	t->pid = getpid();
	t->server = !host;
	t->ca = ctx->ca ? strdup(ctx->ca) : NULL;
	t->cert = ctx->cert ? strdup(ctx->cert) : NULL;
	t->alpn = ctx->alpn;
	t->words = ctx->words;
	t->host = host ? strdup(host) : NULL;
	pthread_mutex_init(&t->lock, NULL);
	BIO_set_data(bio, t);
	BIO_set_init(bio, 1);
	SSL_set_bio(t->ssl, bio, bio);
	if (host)
		SSL_set_connect_state(t->ssl);
	else
		SSL_set_accept_state(t->ssl);
	return t;
}

static int tls_shake(struct inc_tls *t, short *events)
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

	pthread_mutex_lock(&t->lock);
	clear_errors(t);
	if (t->failed)
		ret = -EPROTO;
	else if (!(out ? SSL_write_ex(t->ssl, buf, len, &n) :
			 SSL_read_ex(t->ssl, buf, len, &n)))
		ret = get_outcome(t, 0, &events) ?: out ? -EPIPE : 0;
	pthread_mutex_unlock(&t->lock);
	return ret ? ret : (ssize_t)n;
}

static ssize_t tls_recv(struct inc_tls *t, void *buf, size_t len)
{
	return transfer_bytes(t, buf, len, false);
}

static ssize_t tls_send(struct inc_tls *t, const void *buf, size_t len)
{
	return transfer_bytes(t, (void *)buf, len, true);
}

static bool tls_pending(struct inc_tls *t)
{
	bool ret;

	pthread_mutex_lock(&t->lock);
	ret = !t->failed && SSL_pending(t->ssl);
	pthread_mutex_unlock(&t->lock);
	return ret;
}

static bool tls_client(struct inc_tls *t, char *name, size_t len)
{
	X509 *cert = SSL_get0_peer_certificate(t->ssl);
	char *at;

	if (!cert || SSL_get_verify_result(t->ssl) != X509_V_OK)
		return false;
	if (X509_NAME_get_text_by_NID(X509_get_subject_name(cert),
				      NID_commonName, name, (int)len) < 0)
		snprintf(name, len, "?");
	/* It goes to a log. */
	for (at = name; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
	return true;
}

static const char *tls_why(const struct inc_tls *t)
{
	return t->why[0] ? t->why : "TLS: closed the connection";
}

static enum inc_tls_end tls_end(const struct inc_tls *t)
{
	return t->end;
}

static void tls_close(struct inc_tls *t)
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
	pthread_mutex_destroy(&t->lock);
	free(t->ca);
	free(t->cert);
	free(t->host);
	free(t);
}

/* --- Tokens -------------------------------------------------------------- */

static bool tokens_name(const struct tokens *tokens, const char *secret,
			char *name, size_t len)
{
	struct identity id;

	if (!tokens_find(tokens, secret, strlen(secret), &id))
		return false;
	snprintf(name, len, "%s", id.name);
	return true;
}

const struct inc_tls_ops inc_tls_ops_1 = {
	.ctx_new	= ctx_new,
	.ctx_free	= ctx_free,
	.open		= tls_open,
	.shake		= tls_shake,
	.recv		= tls_recv,
	.send		= tls_send,
	.pending	= tls_pending,
	.client		= tls_client,
	.why		= tls_why,
	.end		= tls_end,
	.close		= tls_close,
	.tokens_read	= tokens_read,
	.tokens_name	= tokens_name,
	.tokens_free	= tokens_free,
};
