/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * libinc-tls: TLS on a connection of the rendezvous, and its tokens. libinc and
 * inc-tool load it when it is asked for, and not before: programs that do
 * without TLS need no OpenSSL.
 */
#ifndef INC_TLS_TLS_H
#define INC_TLS_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define INC_TLS_LIBRARY	"libinc-tls.so.1"
#define INC_TLS_OPS	"inc_tls_ops_1"

struct inc_tls;
struct inc_tls_ctx;
struct tokens;

/**
 * enum inc_tls_ask - what a server asks of its clients
 * @INC_TLS_ASK_NOTHING: no certificate
 * @INC_TLS_ASK: a certificate, if they have one
 * @INC_TLS_DEMAND: a certificate
 */
enum inc_tls_ask {
	INC_TLS_ASK_NOTHING,
	INC_TLS_ASK,
	INC_TLS_DEMAND,
};

/**
 * struct inc_tls_words - what a client calls things, in messages
 * @peer: the server: "the manager"
 * @cert: the option or variable that names the client's certificate
 * @plain: what to do if the server does not speak TLS
 */
struct inc_tls_words {
	const char	*peer;
	const char	*cert;
	const char	*plain;
};

/**
 * struct inc_tls_how - files, and what is asked of clients
 * @ca: certificates of the authorities that are trusted, or NULL
 * @cert: own certificate, and those between it and the authority's, or NULL
 * @key: its private key
 * @server: we answer
 * @ask: if @server
 * @alpn: what is spoken over it, that a server must agree to (RFC 7301); NULL:
 *	that is not negotiated
 * @words: of a client, constant; NULL: those of a rank at a rendezvous daemon
 */
struct inc_tls_how {
	const char		*ca;
	const char		*cert;
	const char		*key;
	bool			server;
	enum inc_tls_ask	ask;
	const char		*alpn;
	const struct inc_tls_words *words;
};

/**
 * enum inc_tls_end - why a connection has failed, for programs
 * @INC_TLS_FAILED: another reason
 * @INC_TLS_CLOSED: the peer has closed it, and does not say why
 * @INC_TLS_BARE: the server wants a certificate, and we have shown none
 */
enum inc_tls_end {
	INC_TLS_FAILED,
	INC_TLS_CLOSED,
	INC_TLS_BARE,
};

/**
 * struct inc_tls_ops - the library's functions
 * @ctx_new: read the files. Returns NULL, and a text, if they cannot be used
 * @ctx_free: forget them; connections keep what they need
 * @open: speak TLS over a non-blocking socket, which stays the caller's; @host:
 *	name or address that the server's certificate must have; NULL: we are
 *	the server
 * @shake: shake hands. Returns 0, -EAGAIN: again when the socket has one of
 *	@events, -ENOPROTOOPT: the server does not speak @alpn, or another error:
 *	it has failed, see @why
 * @recv: as recv(); -EAGAIN: nothing is there; other errors: see @why
 * @send: as send(), likewise. After -EAGAIN the same bytes must be sent again
 * @pending: bytes were received that poll() does not tell of
 * @client: name in the verified certificate of the client, for the log.
 *	Returns false if it has none
 * @why: why the connection has failed
 * @end: and the kind of that
 * @close: say good-bye, if the socket takes it, and forget the connection. In a
 *	child of fork() nothing is said
 * @tokens_read: read a file of tokens. Returns 0 or a negative errno value
 * @tokens_name: whom a token stands for; @len: of @name. Returns false if it is
 *	not known
 * @tokens_free: forget tokens
 *
 * @recv and @send may run in two threads at a time.
 */
struct inc_tls_ops {
	struct inc_tls_ctx *(*ctx_new)(const struct inc_tls_how *how, char *err,
				       size_t err_len);
	void (*ctx_free)(struct inc_tls_ctx *ctx);
	struct inc_tls *(*open)(struct inc_tls_ctx *ctx, int fd,
				const char *host);
	int (*shake)(struct inc_tls *tls, short *events);
	ssize_t (*recv)(struct inc_tls *tls, void *buf, size_t len);
	ssize_t (*send)(struct inc_tls *tls, const void *buf, size_t len);
	bool (*pending)(struct inc_tls *tls);
	bool (*client)(struct inc_tls *tls, char *name, size_t len);
	const char *(*why)(const struct inc_tls *tls);
	enum inc_tls_end (*end)(const struct inc_tls *tls);
	void (*close)(struct inc_tls *tls);
	int (*tokens_read)(struct tokens **tokens, const char *path, char *err,
			   size_t err_len);
	bool (*tokens_name)(const struct tokens *tokens, const char *secret,
			    char *name, size_t len);
	void (*tokens_free)(struct tokens *tokens);
};

extern const struct inc_tls_ops inc_tls_ops_1;

/* load.c, which is no part of the library */
const struct inc_tls_ops *inc_tls_load(char *err, size_t err_len);
void *inc_load_library(const char *name);

#endif /* INC_TLS_TLS_H */
