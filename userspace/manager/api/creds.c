// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See creds.h. Files are read again when they have changed, so that
 * certificates can be renewed, and tokens revoked, without a restart.
 */
#include <errno.h>
#include <grpc/support/alloc.h>
#include <openssl/crypto.h>
#include <openssl/x509.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "api/creds.h"
#include "auth/address.h"
#include "auth/client.h"
#include "auth/crl.h"
#include "auth/pair.h"
#include "auth/token.h"
#include "base/loop.h"
#include "manager.h"

#define BEARER		"Bearer "

/**
 * struct stamp - tells whether a file has changed
 * @time: when it was last
 * @size: bytes
 * @inode: inode
 */
struct stamp {
	struct timespec	time;
	off_t		size;
	ino_t		inode;
};

/**
 * struct creds - who may call
 * @how: options
 * @lock: guards @files; gRPC's threads shake hands
 * @files: when the certificate, the key and the authority were read
 * @crl: revoked certificates, or NULL
 * @tokens: or NULL
 * @tokens_file: when they were read
 */
struct creds {
	const struct rpc_security	*how;
	pthread_mutex_t			lock;
	struct stamp			files[3];
	struct crl			*crl;
	struct tokens			*tokens;
	struct stamp			tokens_file;
};

static struct {
	struct loop	*loop;
	creds_read_fn	*fn;
	void		*ctx;
	struct creds	*creds;
} watch;

/**
 * struct news - a file has changed
 * @work: tells the main loop
 * @file: which one
 * @why: as of creds_read_fn
 */
struct news {
	struct work	work;
	enum creds_file	file;
	char		why[512];
};

static void tell(struct work *work)
{
	struct news *n = container_of(work, struct news, work);

	watch.fn(watch.ctx, n->file, n->why);
	free(n);
}

/* Context: any thread. */
static void was_read(enum creds_file file, const char *why)
{
	struct news *n = watch.fn ? calloc(1, sizeof(*n)) : NULL;

	if (!n)
		return;
	n->work.fn = tell;
	n->file = file;
	snprintf(n->why, sizeof(n->why), "%s", why);
	loop_post(watch.loop, &n->work);
}

/**
 * creds_watch() - be told of files that have changed
 * @loop: main loop, which calls @fn
 * @fn: is told of each change
 * @ctx: its first argument
 *
 * Context: Before the server is started.
 */
void creds_watch(struct loop *loop, creds_read_fn *fn, void *ctx)
{
	watch.loop = loop;
	watch.fn = fn;
	watch.ctx = ctx;
}

static bool changed(const char *path, struct stamp *last)
{
	struct stamp now = { .size = 0 };
	struct stat st;

	if (!stat(path, &st))
		now = (struct stamp) { st.st_mtim, st.st_size, st.st_ino };
	if (now.time.tv_sec == last->time.tv_sec &&
	    now.time.tv_nsec == last->time.tv_nsec &&
	    now.size == last->size && now.inode == last->inode)
		return false;
	*last = now;
	return true;
}

/* --- Certificates -------------------------------------------------------- */

/* Returns a file's text, to be freed, or NULL after a message. */
static char *read_text(const char *option, const char *path, char *err,
		       size_t err_len)
{
	char why[512], *text = inc_auth_file(path, why, sizeof(why));

	if (!text)
		snprintf(err, err_len, "--%s %s", option, why);
	return text;
}

static bool is_over(const char *pem)
{
	X509 *cert = inc_auth_cert(pem);
	bool over = cert && X509_cmp_current_time(X509_get0_notAfter(cert)) < 0;

	X509_free(cert);
	return over;
}

/**
 * struct pems - the files' texts
 * @cert: the manager's certificate, and those between it and the authority's
 * @key: its private key
 * @ca: the authority's certificate
 */
struct pems {
	char	*cert;
	char	*key;
	char	*ca;
};

static void free_pems(struct pems *p)
{
	free(p->cert);
	if (p->key)
		OPENSSL_cleanse(p->key, strlen(p->key));
	free(p->key);
	free(p->ca);
}

static int read_pems(const struct rpc_security *how, struct pems *p, char *err,
		     size_t err_len)
{
	X509 *ca;

	*p = (struct pems) {
		.cert = read_text("tls-cert", how->cert, err, err_len),
	};
	if (p->cert)
		p->key = read_text("tls-key", how->key, err, err_len);
	if (p->key)
		p->ca = read_text("tls-ca", how->ca, err, err_len);
	if (!p->ca)
		goto fail;
	ca = inc_auth_cert(p->ca);
	X509_free(ca);
	if (!ca) {
		snprintf(err, err_len, "--tls-ca %s: is no certificate (PEM)",
			 how->ca);
		goto fail;
	}
	if (!inc_auth_is_pair(p->cert, p->key)) {
		snprintf(err, err_len, "--tls-cert %s and --tls-key %s: must be a certificate and its private key (PEM, without a password)",
			 how->cert, how->key);
		goto fail;
	}
	if (is_over(p->cert))
		log_say("--tls-cert %s: the certificate has expired: clients will refuse it",
			how->cert);
	return 0;
fail:
	free_pems(p);
	return -EINVAL;
}

/* gRPC asks for each handshake. */
static grpc_ssl_certificate_config_reload_status
fetch(void *ctx, grpc_ssl_server_certificate_config **config)
{
	struct creds *c = ctx;
	grpc_ssl_pem_key_cert_pair pair;
	struct pems p;
	char err[512];
	bool any;
	int ret;

	pthread_mutex_lock(&c->lock);
	any = changed(c->how->cert, &c->files[0]);
	any |= changed(c->how->key, &c->files[1]);
	any |= changed(c->how->ca, &c->files[2]);
	pthread_mutex_unlock(&c->lock);
	if (!any)
		return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
	ret = read_pems(c->how, &p, err, sizeof(err));
	was_read(CREDS_CERT, ret ? err : "");
	if (ret)
		return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_FAIL;
	pair.cert_chain = p.cert;
	pair.private_key = p.key;
	*config = grpc_ssl_server_certificate_config_create(p.ca, &pair, 1);
	free_pems(&p);
	return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
}

/**
 * creds_server() - make gRPC's credentials
 * @creds: who may call; must live as long as the server
 *
 * Return: credentials.
 */
grpc_server_credentials *creds_server(struct creds *creds)
{
	grpc_ssl_server_credentials_options *options;
	grpc_ssl_client_certificate_request_type ask;

	if (!creds->how->cert)
		return grpc_insecure_server_credentials_create();
	/* Those who have a token need no certificate; one has to be good. */
	ask = creds->how->tokens ?
	      GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY :
	      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY;
	options = grpc_ssl_server_credentials_create_options_using_config_fetcher(
			ask, fetch, creds);
	return grpc_ssl_server_credentials_create_with_options(options);
}

/* --- Calls --------------------------------------------------------------- */

/* Returns whether the call has a token; false: it has none. */
static bool token_of(const grpc_metadata_array *metadata, const char **token,
		     size_t *len)
{
	const grpc_metadata *m;
	size_t i;

	for (i = 0; i < metadata->count; i++) {
		m = &metadata->metadata[i];
		if (grpc_slice_str_cmp(m->key, "authorization"))
			continue;
		*token = (const char *)GRPC_SLICE_START_PTR(m->value);
		*len = GRPC_SLICE_LENGTH(m->value);
		if (*len >= strlen(BEARER) &&
		    !strncasecmp(*token, BEARER, strlen(BEARER))) {
			*token += strlen(BEARER);
			*len -= strlen(BEARER);
		}
		return true;
	}
	return false;
}

static void read_again(struct creds *c)
{
	struct tokens *fresh;
	char err[256] = "";

	if (!changed(c->how->tokens, &c->tokens_file))
		return;
	if (!tokens_read(&fresh, c->how->tokens, err, sizeof(err))) {
		tokens_free(c->tokens);
		c->tokens = fresh;
	}
	was_read(CREDS_TOKENS, err);
}

static void read_crl_again(struct creds *c)
{
	char err[512] = "";

	if (crl_refresh(c->crl, err, sizeof(err)))
		was_read(CREDS_CRL, err);
}

/**
 * creds_refresh() - read tokens and the list of revoked certificates again, if they
 * have changed, rather than when they are needed
 */
void creds_refresh(void)
{
	if (!watch.creds)
		return;
	if (watch.creds->how->tokens)
		read_again(watch.creds);
	if (watch.creds->crl)
		read_crl_again(watch.creds);
}

/**
 * creds_dropped() - ask whether a caller's token was taken out of the file
 * @id: who it was when it was let in
 *
 * Return: true if so; false if it came without one.
 */
bool creds_dropped(const struct identity *id)
{
	return id->token && watch.creds && watch.creds->tokens &&
	       !tokens_have(watch.creds->tokens, id);
}

/* The client's certificate, or NULL. */
static const grpc_auth_property *cert_in(grpc_auth_context *ctx)
{
	grpc_auth_property_iterator at;

	if (!ctx || !grpc_auth_context_peer_is_authenticated(ctx))
		return NULL;
	at = grpc_auth_context_find_properties_by_name(ctx,
			GRPC_X509_PEM_CERT_PROPERTY_NAME);
	return grpc_auth_property_iterator_next(&at);
}

static bool is_revoked(struct creds *c, const grpc_auth_property *pem)
{
	if (!c->crl)
		return false;
	read_crl_again(c);
	return crl_revokes_pem(c->crl, pem->value, pem->value_length);
}

/**
 * creds_revoked() - ask whether a caller's certificate was revoked
 * @creds: who may call
 * @call: call, which was let in
 *
 * Return: true if so; false if it has called without one.
 */
bool creds_revoked(struct creds *creds, grpc_call *call)
{
	grpc_auth_context *ctx = grpc_call_auth_context(call);
	const grpc_auth_property *pem = cert_in(ctx);
	bool revoked = pem && is_revoked(creds, pem);

	grpc_auth_context_release(ctx);
	return revoked;
}

static int from_cert(struct creds *c, grpc_call *call, struct identity *id,
		     char *err, size_t err_len)
{
	grpc_auth_context *ctx = grpc_call_auth_context(call);
	const grpc_auth_property *pem = cert_in(ctx);
	int ret = -EKEYREJECTED;

	if (!pem)
		snprintf(err, err_len, "this manager needs a certificate (INC_AM_CERTS) or a token (INC_AM_TOKEN)");
	else if (is_revoked(c, pem))
		snprintf(err, err_len, "the certificate has been revoked");
	else
		ret = identity_of_cert(id, pem->value, pem->value_length, err,
				       err_len) ? -EACCES : 0;
	grpc_auth_context_release(ctx);
	return ret;
}

/**
 * creds_identify() - find out who calls
 * @creds: who may call
 * @call: call
 * @metadata: its headers
 * @id: result
 * @err: error message
 * @err_len: size of @err in bytes
 *
 * A token goes before a certificate.
 *
 * Return: 0, -EKEYREJECTED: it does not prove who it is, -EACCES: it is nobody
 * who may call.
 */
int creds_identify(struct creds *creds, grpc_call *call,
		   const grpc_metadata_array *metadata, struct identity *id,
		   char *err, size_t err_len)
{
	const char *token;
	size_t len;

	if (creds->how->tokens && token_of(metadata, &token, &len)) {
		read_again(creds);
		if (tokens_find(creds->tokens, token, len, id))
			return 0;
		snprintf(err, err_len, "this manager does not know the token");
		return -EKEYREJECTED;
	}
	if (creds->how->cert)
		return from_cert(creds, call, id, err, err_len);
	if (creds->how->tokens) {
		snprintf(err, err_len, "this manager needs a token (INC_AM_TOKEN)");
		return -EKEYREJECTED;
	}
	return identity_set(id, "anonymous", "", "admin", err, err_len);
}

/* --- Options ------------------------------------------------------------- */

/* Options that contradict each other were found when they were read. */
static void warn(const struct rpc_security *how, const char *address)
{
	if (how->plaintext && strncmp(address, "unix:", 5) &&
	    !inc_auth_is_loopback(address))
		log_say("WARNING: --insecure-plaintext: everyone who reaches %s may join and delete groups, and read and change what is sent",
			address);
}

/**
 * creds_new() - read certificates and tokens
 * @how: options; must live as long as the result
 * @address: where the server listens
 * @err: error message
 * @err_len: size of @err in bytes
 *
 * Return: who may call, or NULL.
 */
struct creds *creds_new(const struct rpc_security *how, const char *address,
			char *err, size_t err_len)
{
	struct creds *c;
	struct pems p;
	char why[256];

	warn(how, address);
	if (how->cert) {
		if (read_pems(how, &p, err, err_len))
			return NULL;
		free_pems(&p);
	}
	c = calloc(1, sizeof(*c));
	if (!c) {
		snprintf(err, err_len, "no memory");
		return NULL;
	}
	c->how = how;
	watch.creds = c;
	pthread_mutex_init(&c->lock, NULL);
	if (how->crl) {
		c->crl = crl_open(how->crl, how->ca, err, err_len);
		if (!c->crl) {
			creds_free(c);
			return NULL;
		}
	}
	if (!how->tokens)
		return c;
	changed(how->tokens, &c->tokens_file);
	if (tokens_read(&c->tokens, how->tokens, why, sizeof(why))) {
		snprintf(err, err_len, "--tokens %s: %s", how->tokens, why);
		creds_free(c);
		return NULL;
	}
	return c;
}

/**
 * creds_free() - forget certificates and tokens
 * @creds: who may call, or NULL
 */
void creds_free(struct creds *creds)
{
	if (!creds)
		return;
	watch.creds = NULL;
	tokens_free(creds->tokens);
	crl_free(creds->crl);
	pthread_mutex_destroy(&creds->lock);
	free(creds);
}
