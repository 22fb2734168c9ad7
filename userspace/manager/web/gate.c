// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What the page asks of other hosts: TLS, with the certificate of the gRPC server, and
 * an operator's token. Browsers send it as a password, Prometheus as it is.
 */
#include <microhttpd.h>
#include <openssl/crypto.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "rpc/rpc.h"
#include "web/web.h"

#define BEARER	"Bearer "

/* Take what was written to @bio, which is freed, as a string. NULL: no memory. */
static char *text_of(BIO *bio, bool written)
{
	char *data, *text = NULL;
	long n = BIO_get_mem_data(bio, &data);

	if (n > 0 && written)
		text = strndup(data, (size_t)n);
	if (n > 0)
		OPENSSL_cleanse(data, (size_t)n);
	BIO_free(bio);
	return text;
}

/* Write a certificate, and those that it was signed with. */
static bool write_chain(BIO *bio, SSL_CTX *tls)
{
	STACK_OF(X509) *chain = NULL;
	int i;

	if (!PEM_write_bio_X509(bio, SSL_CTX_get0_certificate(tls)) ||
	    !SSL_CTX_get0_chain_certs(tls, &chain))
		return false;
	for (i = 0; i < sk_X509_num(chain); i++)
		if (!PEM_write_bio_X509(bio, sk_X509_value(chain, i)))
			return false;
	return true;
}

/*
 * Get a certificate and its key as libmicrohttpd wants them. The files themselves are
 * read by a thread of the gRPC server, since a file system may hang.
 * @cert, @key: results, to be freed; NULL: no memory
 */
void gate_pem(SSL_CTX *tls, char **cert, char **key)
{
	BIO *bio = BIO_new(BIO_s_mem());

	*cert = *key = NULL;
	if (bio)
		*cert = text_of(bio, write_chain(bio, tls));
	bio = BIO_new(BIO_s_mem());
	if (bio)
		*key = text_of(bio, PEM_write_bio_PrivateKey(bio,
				SSL_CTX_get0_privatekey(tls), NULL, NULL, 0,
				NULL, NULL));
}

/* Get the token that a request has. Returns it for gate_forget(), or NULL. */
char *gate_token(struct MHD_Connection *conn)
{
	const char *value = MHD_lookup_connection_value(conn, MHD_HEADER_KIND,
							"Authorization");
	struct MHD_BasicAuthInfo *basic;
	char *token = NULL;

	if (!value)
		return NULL;
	if (!strncasecmp(value, BEARER, strlen(BEARER)))
		return strdup(value);
	basic = MHD_basic_auth_get_username_password3(conn);
	if (basic && basic->password) {
		token = strdup(basic->password);
		OPENSSL_cleanse(basic->password, basic->password_len);
	}
	MHD_free(basic);
	return token;
}

/* Free a token, or NULL. */
void gate_forget(char *token)
{
	if (token)
		OPENSSL_cleanse(token, strlen(token));
	free(token);
}

/* Ask whether a request has an operator's token. Context: any thread. */
bool gate_admits(struct rpc *rpc, struct MHD_Connection *conn)
{
	char *token = gate_token(conn);
	bool admits = token && rpc_is_operator(rpc, token);

	gate_forget(token);
	return admits;
}
