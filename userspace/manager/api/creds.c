// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See creds.h. Files are read again when they have changed, so that
 * certificates can be renewed, and tokens revoked, without a restart.
 */
#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/creds.h"
#include "auth/address.h"
#include "auth/crl.h"
#include "auth/files.h"
#include "auth/stamp.h"
#include "auth/token.h"
#include "base/loop.h"
#include "manager.h"

#define BEARER		"Bearer "

/**
 * struct creds - who may call
 * @how: options
 * @lock: guards @crl, @tokens and @tokens_file, which the main loop asks, too
 * @tls: how to speak TLS, or NULL
 * @files: when the certificate, the key and the authority were read
 * @crl: revoked certificates, or NULL
 * @tokens: or NULL
 * @tokens_file: when they were read
 */
struct creds {
	const struct rpc_security	*how;
	pthread_mutex_t			lock;
	SSL_CTX				*tls;
	struct auth_stamp		files[3];
	struct crl			*crl;
	struct tokens			*tokens;
	struct auth_stamp		tokens_file;
};

static struct {
	struct loop	*loop;
	creds_read_fn	*fn;
	void		*ctx;
} watch;

/**
 * struct file_report - a file has changed
 * @work: tells the main loop
 * @file: which one
 * @why: as of creds_read_fn
 */
struct file_report {
	struct loop_work	work;
	enum creds_file	file;
	char		why[512];
};

static void report_file(struct loop_work *work)
{
	struct file_report *n = container_of(work, struct file_report, work);

	watch.fn(watch.ctx, n->file, n->why);
	free(n);
}

/* Context: any thread. */
static void post_report(enum creds_file file, const char *why)
{
	struct file_report *n = watch.fn ? calloc(1, sizeof(*n)) : NULL;

	if (!n)
		return;
	n->work.fn = report_file;
	n->file = file;
	snprintf(n->why, sizeof(n->why), "%s", why);
	loop_post(watch.loop, &n->work);
}

/**
 * creds_watch() - have a function called when files have changed
 * @loop: main loop, which calls @fn
 * @fn: called after each change
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

/* --- Certificates -------------------------------------------------------- */

static int select_h2(SSL *ssl, const unsigned char **out, unsigned char *len,
		     const unsigned char *in, unsigned int in_len, void *ctx)
{
	static const unsigned char h2[] = { 2, 'h', '2' };

	return SSL_select_next_proto((unsigned char **)out, len, h2, sizeof(h2),
				     in, in_len) == OPENSSL_NPN_NEGOTIATED ?
	       SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

static void set_up(SSL_CTX *ctx, const struct rpc_security *how)
{
	inc_auth_modes(ctx);
	SSL_CTX_set_alpn_select_cb(ctx, select_h2, NULL);
	/*
	 * A caller with a token needs no certificate, but a certificate that it
	 * shows must be valid.
	 */
	SSL_CTX_set_verify(ctx, how->tokens ? SSL_VERIFY_PEER :
			   SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
			   NULL);
}

/* With @at_start, a certificate that is not valid now is better than none. */
static SSL_CTX *new_tls(const struct rpc_security *how, bool at_start, char *err,
			size_t err_len)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
	int ret;

	if (!ctx) {
		snprintf(err, err_len, "no memory");
		return NULL;
	}
	set_up(ctx, how);
	ret = inc_auth_load(ctx, how->ca, how->cert, how->key, err, err_len);
	if (ret == -EKEYEXPIRED && at_start) {
		log_info("%s: clients will refuse it", err);
		ret = 0;
	}
	if (!ret) {
		if (!inc_auth_is_of(ctx))
			log_info("TLS: %s is not a certificate of the authority %s: clients that trust only that will refuse it",
				how->cert, how->ca);
		SSL_CTX_set_client_CA_list(ctx,
					   SSL_load_client_CA_file(how->ca));
		return ctx;
	}
	SSL_CTX_free(ctx);
	return NULL;
}

static bool have_changed(struct creds *creds)
{
	const struct rpc_security *how = creds->how;
	bool any = inc_auth_changed(how->cert, &creds->files[0]);

	any |= inc_auth_changed(how->key, &creds->files[1]);
	return any | inc_auth_changed(how->ca, &creds->files[2]);
}

/**
 * creds_tls() - get how to speak TLS
 * @creds: who may call
 *
 * Context: One thread.
 * Return: the same until a file has changed; NULL: not at all.
 */
SSL_CTX *creds_tls(struct creds *creds)
{
	SSL_CTX *tls;
	char err[512];

	if (!creds->tls || !have_changed(creds))
		return creds->tls;
	tls = new_tls(creds->how, false, err, sizeof(err));
	post_report(CREDS_CERT, tls ? "" : err);
	if (tls) {
		SSL_CTX_free(creds->tls);
		creds->tls = tls;
	}
	return creds->tls;
}

/* --- Calls --------------------------------------------------------------- */

/* The lock is held. */
static void read_again(struct creds *c)
{
	struct tokens *fresh;
	char err[256] = "";

	if (!inc_auth_changed(c->how->tokens, &c->tokens_file))
		return;
	if (!tokens_read(&fresh, c->how->tokens, err, sizeof(err))) {
		tokens_free(c->tokens);
		c->tokens = fresh;
	}
	post_report(CREDS_TOKENS, err);
}

/* The lock is held. */
static void read_crl_again(struct creds *c)
{
	char err[512] = "";

	if (crl_refresh(c->crl, err, sizeof(err)))
		post_report(CREDS_CRL, err);
}

/**
 * creds_refresh() - read tokens and the list of revoked certificates again, if they
 * have changed, rather than when they are needed
 * @c: who may call
 *
 * Context: Any thread.
 */
void creds_refresh(struct creds *c)
{
	pthread_mutex_lock(&c->lock);
	if (c->how->tokens)
		read_again(c);
	if (c->crl)
		read_crl_again(c);
	pthread_mutex_unlock(&c->lock);
}

/**
 * creds_dropped() - ask whether a caller's token was taken out of the file
 * @c: who may call
 * @id: who it was when it was let in
 *
 * Context: Any thread.
 * Return: true if so; false if it came without one.
 */
bool creds_dropped(struct creds *c, const struct identity *id)
{
	bool dropped;

	if (!id->token || !c->how->tokens)
		return false;
	pthread_mutex_lock(&c->lock);
	dropped = !tokens_have(c->tokens, id);
	pthread_mutex_unlock(&c->lock);
	return dropped;
}

/**
 * creds_revoked() - ask whether a caller's certificate was revoked
 * @creds: who may call
 * @cert: certificate
 *
 * Context: Any thread.
 * Return: true if so.
 */
bool creds_revoked(struct creds *creds, const X509 *cert)
{
	bool revoked;

	if (!creds->crl)
		return false;
	pthread_mutex_lock(&creds->lock);
	read_crl_again(creds);
	revoked = crl_revokes(creds->crl, cert);
	pthread_mutex_unlock(&creds->lock);
	return revoked;
}

static int from_token(struct creds *c, const char *token, struct identity *id,
		      char *err, size_t err_len)
{
	bool found;

	if (!strncasecmp(token, BEARER, strlen(BEARER)))
		token += strlen(BEARER);
	pthread_mutex_lock(&c->lock);
	read_again(c);
	found = tokens_find(c->tokens, token, strlen(token), id);
	pthread_mutex_unlock(&c->lock);
	if (found)
		return 0;
	snprintf(err, err_len, "this manager does not know the token");
	return -EKEYREJECTED;
}

/**
 * creds_identify() - find out who calls
 * @creds: who may call
 * @cert: its certificate, which was verified, or NULL
 * @token: value of its header "authorization", or NULL
 * @id: result
 * @err: error message
 * @err_len: size of @err in bytes
 *
 * A token goes before a certificate; one that was revoked is refused all the same.
 *
 * Context: One thread.
 * Return: 0, -EKEYREJECTED: it does not prove who it is, -EACCES: it is nobody
 * who may call.
 */
int creds_identify(struct creds *creds, const X509 *cert, const char *token,
		   struct identity *id, char *err, size_t err_len)
{
	if (cert && creds_revoked(creds, cert)) {
		snprintf(err, err_len, "the certificate has been revoked");
		return -EKEYREJECTED;
	}
	if (creds->how->tokens && token)
		return from_token(creds, token, id, err, err_len);
	if (cert)
		return identity_of_cert(id, cert, err, err_len) ? -EACCES : 0;
	if (creds->how->cert || creds->how->tokens) {
		snprintf(err, err_len, "this manager needs %sa token (INC_AM_TOKEN)",
			 creds->how->cert ? "a certificate (INC_AM_CERTS) or " :
			 "");
		return -EKEYREJECTED;
	}
	return identity_set(id, "anonymous", "", "admin", err, err_len);
}

/* --- Options ------------------------------------------------------------- */

/* Options that contradict each other were found when they were read. */
static void warn_plaintext(const struct rpc_security *how, const char *address)
{
	if (how->plaintext && strncmp(address, "unix:", 5) &&
	    !inc_auth_is_loopback(address))
		log_info("WARNING: --insecure-plaintext: everyone who reaches %s may join and delete groups, and read and change what is sent",
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
	struct creds *c = calloc(1, sizeof(*c));
	char why[256];

	warn_plaintext(how, address);
	if (!c) {
		snprintf(err, err_len, "no memory");
		return NULL;
	}
	c->how = how;
	pthread_mutex_init(&c->lock, NULL);
	if (how->cert) {
		have_changed(c);
		c->tls = new_tls(how, true, err, err_len);
		if (!c->tls) {
			creds_free(c);
			return NULL;
		}
	}
	if (how->crl) {
		c->crl = crl_open(how->crl, how->ca, err, err_len);
		if (!c->crl) {
			creds_free(c);
			return NULL;
		}
	}
	if (!how->tokens)
		return c;
	inc_auth_changed(how->tokens, &c->tokens_file);
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
	tokens_free(creds->tokens);
	crl_free(creds->crl);
	SSL_CTX_free(creds->tls);
	pthread_mutex_destroy(&creds->lock);
	free(creds);
}
