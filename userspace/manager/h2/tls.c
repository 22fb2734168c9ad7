// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A connection's bytes, with TLS or without, and why a handshake has failed.
 */
#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <stdio.h>
#include <sys/socket.h>

#include "h2/conn.h"

/**
 * tls_transfer() - read or write
 * @c: connection
 * @buf: bytes
 * @len: their number
 * @out: write
 *
 * Return: number of bytes; 0: not now; -1: the end.
 */
ssize_t tls_transfer(struct conn *c, void *buf, size_t len, bool out)
{
	ssize_t n;
	int err;

	if (!c->ssl) {
		n = out ? send(c->fd, buf, len, MSG_NOSIGNAL) :
			  recv(c->fd, buf, len, 0);
		return n > 0 ? n : n < 0 && errno == EAGAIN ? 0 : -1;
	}
	ERR_clear_error();
	n = out ? SSL_write(c->ssl, buf, (int)len) :
		  SSL_read(c->ssl, buf, (int)len);
	if (n > 0)
		return n;
	err = SSL_get_error(c->ssl, (int)n);
	return err == SSL_ERROR_WANT_READ || err == SSL_ERROR_WANT_WRITE ?
	       0 : -1;
}

static void put_why(const SSL *ssl, char *text, size_t len)
{
	unsigned long err = ERR_peek_last_error();
	const char *reason = ERR_reason_error_string(err);
	long verify = SSL_get_verify_result(ssl);

	if (verify != X509_V_OK)
		snprintf(text, len, "TLS: its certificate is not accepted: %s",
			 X509_verify_cert_error_string(verify));
	else if (ERR_GET_REASON(err) == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE)
		snprintf(text, len, "TLS: it has no certificate");
	else if (ERR_GET_REASON(err) == SSL_R_WRONG_VERSION_NUMBER ||
		 ERR_GET_REASON(err) == SSL_R_HTTP_REQUEST)
		snprintf(text, len, "it does not speak TLS");
	else
		snprintf(text, len, "TLS: %s", reason ? reason : "it failed");
}

/**
 * tls_shake() - go on with a handshake
 * @c: connection
 *
 * Return: 1: it is done; 0: the client has to say more; -1: it has failed.
 */
int tls_shake(struct conn *c)
{
	const unsigned char *alpn = NULL;
	unsigned int len;
	char why[160];
	int ret, err;

	ERR_clear_error();
	ret = SSL_accept(c->ssl);
	if (ret > 0) {
		SSL_get0_alpn_selected(c->ssl, &alpn, &len);
		return alpn ? 1 : -1;
	}
	err = SSL_get_error(c->ssl, ret);
	if (err == SSL_ERROR_WANT_READ || err == SSL_ERROR_WANT_WRITE)
		return 0;
	if (err == SSL_ERROR_SSL) {
		put_why(c->ssl, why, sizeof(why));
		c->server->handler->refused(c->server->ctx, c->peer, why);
	}
	ERR_clear_error();
	return -1;
}
