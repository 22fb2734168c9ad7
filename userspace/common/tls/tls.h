/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * TLS of a client, or of a server that has no loop, by OpenSSL. A connection is one
 * thread's at a time.
 */
#ifndef INC_TLS_TLS_H
#define INC_TLS_TLS_H

#include <openssl/types.h>
#include <stddef.h>
#include <sys/types.h>

struct inc_tls;
struct inc_tls_ctx;

/**
 * struct inc_tls_words - what messages call things
 * @peer: the other side: "the manager"
 * @cert: the option or variable that names the own certificate
 * @plain: what to do if the peer does not speak TLS
 */
struct inc_tls_words {
	const char	*peer;
	const char	*cert;
	const char	*plain;
};

/**
 * struct inc_tls_how - files and settings of a client
 * @ca: certificates of trusted authorities
 * @cert: the client's certificate with intermediate ones, or NULL
 * @key: its private key
 * @alpn: protocol that the server must agree to (RFC 7301), or NULL
 * @words: terms in messages, constant
 */
struct inc_tls_how {
	const char		*ca;
	const char		*cert;
	const char		*key;
	const char		*alpn;
	const struct inc_tls_words *words;
};

/**
 * enum inc_tls_end - kind of a connection's failure
 * @INC_TLS_FAILED: another reason
 * @INC_TLS_CLOSED: the peer has closed the connection without a reason
 * @INC_TLS_BARE: the server wants a certificate, and the client has none
 */
enum inc_tls_end {
	INC_TLS_FAILED,
	INC_TLS_CLOSED,
	INC_TLS_BARE,
};

struct inc_tls_ctx *inc_tls_ctx_new(const struct inc_tls_how *how, char *err,
				    size_t err_len);
void inc_tls_ctx_free(struct inc_tls_ctx *ctx);
struct inc_tls *inc_tls_open(struct inc_tls_ctx *ctx, int fd, const char *host);
struct inc_tls *inc_tls_called(struct inc_tls_ctx *ctx, int fd);
struct inc_tls *inc_tls_accept(SSL_CTX *ctx, int fd,
			       const struct inc_tls_words *words);
X509 *inc_tls_peer(const struct inc_tls *t);
int inc_tls_shake(struct inc_tls *t, short *events);
ssize_t inc_tls_recv(struct inc_tls *t, void *buf, size_t len);
ssize_t inc_tls_send(struct inc_tls *t, const void *buf, size_t len);
const char *inc_tls_why(const struct inc_tls *t);
enum inc_tls_end inc_tls_end(const struct inc_tls *t);
void inc_tls_close(struct inc_tls *t);

#endif /* INC_TLS_TLS_H */
