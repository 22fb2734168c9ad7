// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A connection's bytes, with or without TLS, and why a handshake has failed.
 */
#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <stdio.h>
#include <sys/socket.h>

#include "auth/verify.h"
#include "http2/conn.h"

#define TURN	(CONN_READ + 512)	/* bytes per turn: a TLS record */

/* OpenSSL reads on by itself while records without data arrive: limit it. */
static long limit_reads(BIO *b, int op, const char *buf, size_t len, int argi,
			long argl, int ret, size_t *done)
{
	const struct h2_conn *c =
		(const struct h2_conn *)BIO_get_callback_arg(b);

	if (op != BIO_CB_READ ||
	    (!c->cut_reason && BIO_number_read(b) < c->read_limit))
		return ret;
	BIO_clear_retry_flags(b);
	BIO_set_retry_read(b);
	return -1;
}

static uint64_t bytes_in(const struct h2_conn *c)
{
	return BIO_number_read(SSL_get_rbio(c->ssl));
}

/* Begin to speak TLS. Returns false: no memory. */
bool tls_open(struct h2_conn *c, SSL_CTX *ctx)
{
	BIO *b;

	c->ssl = SSL_new(ctx);
	if (!c->ssl || SSL_set_fd(c->ssl, c->fd) != 1)
		return false;
	b = SSL_get_rbio(c->ssl);
	BIO_set_callback_arg(b, (char *)c);
	BIO_set_callback_ex(b, limit_reads);
	return true;
}

/* Note whether the client, or its kernel, has closed the connection. */
static ssize_t note_end(struct h2_conn *c)
{
	c->hung_up = !errno || errno == ECONNRESET || errno == EPIPE;
	return -1;
}

/* Note who ended a connection that has an error. */
void tls_note_error(struct h2_conn *c)
{
	socklen_t len = sizeof(int);
	int err = ETIMEDOUT;

	getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &err, &len);
	c->hung_up = err == ECONNRESET || err == EPIPE;
}

/*
 * Read or write. Returns the number of bytes; 0: not now; -1: the end, and
 * @c->hung_up tells whether the client has closed the connection.
 */
ssize_t tls_transfer(struct h2_conn *c, void *buf, size_t len, bool out)
{
	ssize_t n;
	int err;

	errno = 0;
	if (!c->ssl) {
		n = out ? send(c->fd, buf, len, MSG_NOSIGNAL) :
			  recv(c->fd, buf, len, 0);
		return n > 0 ? n : n < 0 && errno == EAGAIN ? 0 : note_end(c);
	}
	ERR_clear_error();
	n = out ? SSL_write(c->ssl, buf, (int)len) :
		  SSL_read(c->ssl, buf, (int)len);
	if (n > 0)
		return n;
	err = SSL_get_error(c->ssl, (int)n);
	return err == SSL_ERROR_WANT_READ || err == SSL_ERROR_WANT_WRITE ?
	       0 : note_end(c);
}

/*
 * Read. Returns as tls_transfer() does.
 * @all: result: bytes received, with the overhead of TLS
 */
ssize_t tls_read(struct h2_conn *c, void *buf, size_t len, size_t *all)
{
	uint64_t before = c->ssl ? bytes_in(c) : 0;
	ssize_t n;

	c->read_limit = before + TURN;
	n = tls_transfer(c, buf, len, false);
	*all = c->ssl ? (size_t)(bytes_in(c) - before) : n > 0 ? (size_t)n : 0;
	return n;
}

/* Count TLS messages after the handshake: an honest client sends few. */
static void weigh_message(int out, int version, int type, const void *data,
			  size_t len, SSL *ssl, void *ctx)
{
	const uint8_t *alert = data;

	if (!out && type == SSL3_RT_HANDSHAKE)
		conn_junk(ctx, 16, "TLS: new keys, again and again");
	/* OpenSSL does not report a request to renegotiate, but its answer. */
	if (out && type == SSL3_RT_ALERT && len == 2 &&
	    alert[1] == SSL_AD_NO_RENEGOTIATION)
		conn_cut(ctx, "TLS: it asks for another handshake");
}

static void put_why(const SSL *ssl, const char *self, char *text, size_t len)
{
	unsigned long err = ERR_peek_last_error();
	const char *refuses = inc_auth_alert(ERR_GET_REASON(err));
	long verify = SSL_get_verify_result(ssl);
	char words[200];

	if (verify != X509_V_OK)
		snprintf(text, len, "TLS: its certificate %s",
			 inc_auth_verify(verify, "--tls-ca", NULL, words,
					 sizeof(words)));
	else if (ERR_GET_REASON(err) == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE)
		snprintf(text, len, "TLS: it has no certificate");
	else if (refuses)
		snprintf(text, len, "TLS: it refuses this %s's certificate: %s",
			 self, refuses);
	else
		snprintf(text, len, "TLS: it %s",
			 inc_auth_broken(err, words, sizeof(words)));
}

/*
 * Go on with a handshake. Returns 1: done; 0: the client has to send more; -1:
 * failed.
 */
int tls_shake(struct h2_conn *c)
{
	const unsigned char *alpn = NULL;
	unsigned int len;
	char why[256];
	int ret, err;

	ERR_clear_error();
	c->read_limit = bytes_in(c) + TURN;
	ret = SSL_accept(c->ssl);
	if (ret > 0) {
		SSL_set_msg_callback(c->ssl, weigh_message);
		SSL_set_msg_callback_arg(c->ssl, c);
		SSL_get0_alpn_selected(c->ssl, &alpn, &len);
		return alpn ? 1 : -1;
	}
	err = SSL_get_error(c->ssl, ret);
	if (err == SSL_ERROR_WANT_READ || err == SSL_ERROR_WANT_WRITE)
		return 0;
	if (err == SSL_ERROR_SSL) {
		put_why(c->ssl, c->server->self, why, sizeof(why));
		c->server->handler->refused(c->server->ctx, c->peer, why);
	}
	ERR_clear_error();
	return -1;
}
