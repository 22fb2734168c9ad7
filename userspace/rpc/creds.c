// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See creds.h. Changed files are read again, so certificates can be renewed,
 * and tokens revoked, without a restart. A thread reads them: a file system
 * that hangs must not keep the main loop from hearing ranks, so the loop waits
 * for the thread only a moment.
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

#include "rpc/creds.h"
#include "auth/address.h"
#include "auth/crl.h"
#include "auth/files.h"
#include "auth/stamp.h"
#include "auth/token.h"
#include "conf/thread.h"
#include "loop/loop.h"

#define BEARER		"Bearer "
#define LOOK_MS		50	/* between two looks at the files */
#define WAIT_MS		250	/* for a look, which usually takes 1 ms */

/**
 * struct creds - certificates, tokens and revocations
 * @how: options
 * @tls: TLS context, or NULL; used by the main loop
 * @files: state of certificate, key and authority when last read
 * @tokens_file: state of the tokens; like @files used by the thread
 * @thread: reads changed files
 * @has_thread: @thread was started
 * @lock: guards all members below
 * @wake: for the thread: @look or @stop is set
 * @looked: for the main loop: @look was cleared
 * @look: a look was requested, or is under way
 * @stop: the thread is to end
 * @looked_at: milliseconds; when the last look was requested
 * @fresh: next TLS context; NULL: none
 * @crl: revoked certificates, or NULL
 * @tokens: tokens, or NULL
 */
struct creds {
	const struct rpc_security	*how;
	SSL_CTX				*tls;
	struct auth_stamp		files[3];
	struct auth_stamp		tokens_file;
	pthread_t			thread;
	bool				has_thread;
	pthread_mutex_t			lock;
	pthread_cond_t			wake, looked;
	bool				look, stop;
	int64_t				looked_at;
	SSL_CTX				*fresh;
	struct crl			*crl;
	struct tokens			*tokens;
};

static struct {
	struct loop	*loop;
	creds_read_fn	*fn;
	void		*ctx;
} watch;

/**
 * struct file_report - report of a changed file
 * @work: runs in the main loop
 * @file: the file
 * @why: as for creds_read_fn
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

#define KEPT "what was read before still counts"

/*
 * Context: any thread.
 * @why: why the file is not used in full; @effect completes it; or empty
 */
static void post_report(enum creds_file file, const char *effect,
			const char *why)
{
	struct file_report *n = watch.fn ? calloc(1, sizeof(*n)) : NULL;

	if (!n)
		return;
	n->work.fn = report_file;
	n->file = file;
	if (*why)
		snprintf(n->why, sizeof(n->why), "%s: %s", effect, why);
	loop_post(watch.loop, &n->work);
}

/*
 * Set the function to call when files have changed. Context: before the server
 * starts.
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
	 * A caller with a token needs no certificate, but one that is shown
	 * must be valid.
	 */
	SSL_CTX_set_verify(ctx, !how->ca ? SSL_VERIFY_NONE :
			   how->tokens ? SSL_VERIFY_PEER :
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
		if (how->ca && !inc_auth_is_of(ctx))
			log_info("TLS: %s is not a certificate of the authority %s: clients that trust only that will refuse it",
				how->cert, how->ca);
		if (how->ca)
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
	return any | (how->ca && inc_auth_changed(how->ca, &creds->files[2]));
}

/* --- The thread ---------------------------------------------------------- */

static void read_tls(struct creds *c)
{
	char err[512] = "";
	SSL_CTX *tls;

	if (!c->how->cert || !have_changed(c))
		return;
	tls = new_tls(c->how, false, err, sizeof(err));
	if (tls) {
		pthread_mutex_lock(&c->lock);
		SSL_CTX_free(c->fresh);
		c->fresh = tls;
		pthread_mutex_unlock(&c->lock);
	}
	post_report(CREDS_CERT, KEPT, err);
}

static void read_tokens(struct creds *c)
{
	struct tokens *fresh = NULL, *old;
	char err[256] = "";

	if (!c->how->tokens || !inc_auth_changed(c->how->tokens, &c->tokens_file))
		return;
	tokens_read(&fresh, c->how->tokens, err, sizeof(err));
	if (fresh) {
		pthread_mutex_lock(&c->lock);
		old = c->tokens;
		c->tokens = fresh;
		pthread_mutex_unlock(&c->lock);
		tokens_free(old);
	}
	post_report(CREDS_TOKENS, fresh ? "all other lines count" : KEPT, err);
}

static void read_crl(struct creds *c)
{
	char err[512] = "";
	X509_CRL *list;
	int ret = c->crl ? crl_reread(c->crl, &list, err, sizeof(err)) : 0;

	if (ret > 0) {
		pthread_mutex_lock(&c->lock);
		crl_use(c->crl, list);
		pthread_mutex_unlock(&c->lock);
	}
	if (ret)
		post_report(CREDS_CRL, KEPT, err);
}

static void *watch_files(void *arg)
{
	struct creds *c = arg;

	pthread_mutex_lock(&c->lock);
	while (!c->stop) {
		if (!c->look) {
			pthread_cond_wait(&c->wake, &c->lock);
			continue;
		}
		pthread_mutex_unlock(&c->lock);
		read_tls(c);
		read_tokens(c);
		read_crl(c);
		pthread_mutex_lock(&c->lock);
		c->look = false;
		pthread_cond_signal(&c->looked);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* Called with the lock held. Waits only once for a look that hangs. */
static void look_again(struct creds *c, int64_t every_ms)
{
	int64_t now = now_ms();

	if (!c->has_thread || c->look || now - c->looked_at < every_ms)
		return;
	c->looked_at = now;
	c->look = true;
	pthread_cond_signal(&c->wake);
	while (c->look &&
	       !cond_wait(&c->looked, &c->lock, now + WAIT_MS))
		;
}

/*
 * Get the TLS context. Returns the same one until a file has changed; NULL: no
 * TLS.
 */
SSL_CTX *creds_tls(struct creds *creds)
{
	pthread_mutex_lock(&creds->lock);
	look_again(creds, LOOK_MS);
	if (creds->fresh) {
		SSL_CTX_free(creds->tls);
		creds->tls = creds->fresh;
		creds->fresh = NULL;
	}
	pthread_mutex_unlock(&creds->lock);
	return creds->tls;
}

/* --- Calls --------------------------------------------------------------- */

/* Read changed files again now, not only when they are needed. */
void creds_refresh(struct creds *c)
{
	pthread_mutex_lock(&c->lock);
	look_again(c, 0);
	pthread_mutex_unlock(&c->lock);
}

/*
 * Ask whether a caller's token was removed from the file. Returns true if so;
 * false if the caller was admitted without a token.
 * @id: the caller's identity when it was admitted
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

/* Ask whether a caller's certificate was revoked. Returns true if so. */
bool creds_revoked(struct creds *creds, const X509 *cert)
{
	bool revoked;

	if (!creds->crl)
		return false;
	pthread_mutex_lock(&creds->lock);
	look_again(creds, LOOK_MS);
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
	look_again(c, LOOK_MS);
	found = tokens_find(c->tokens, token, strlen(token), id);
	pthread_mutex_unlock(&c->lock);
	if (found)
		return 0;
	snprintf(err, err_len, "this %s does not know the token (%s_TOKEN)",
		 c->how->self, c->how->env);
	return -EKEYREJECTED;
}

/*
 * Identify a caller. A token takes precedence over a certificate, but a revoked
 * certificate is refused all the same. Returns 0; -EKEYREJECTED: the caller
 * does not prove its identity; -EACCES: it may not call.
 * @cert: the caller's verified certificate, or NULL
 * @token: value of the header "authorization", or NULL
 * @err_len: size of @err in bytes
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
	if (cert && creds->how->any_cert)
		return identity_set(id, "certificate", "", "client", err, err_len);
	if (cert)
		return identity_of_cert(id, cert, err, err_len) ? -EACCES : 0;
	if (creds->how->ca || creds->how->tokens) {
		snprintf(err, err_len, "this %s needs %s%s%sa token (%s_TOKEN)",
			 creds->how->self,
			 creds->how->ca ? "a certificate (" : "",
			 creds->how->ca ? creds->how->env : "",
			 creds->how->ca ? "_CERTS) or " : "",
			 creds->how->env);
		return -EKEYREJECTED;
	}
	return identity_set(id, "anonymous", "", "admin", err, err_len);
}

/* --- Options ------------------------------------------------------------- */

/* Contradictory options were refused when they were parsed. */
static void warn_plaintext(const struct rpc_security *how, const char *address)
{
	if (how->plaintext && !inc_auth_path(address) &&
	    !inc_auth_is_loopback(address))
		log_info("WARNING: --insecure-plaintext: everyone who reaches %s may join and delete groups, and read and change what is sent",
			address);
}

/*
 * Read certificates and tokens. Returns the credentials, or NULL.
 * @how: options, which must outlive the result
 * @err_len: size of @err in bytes
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
	pthread_cond_init(&c->wake, NULL);
	pthread_cond_init(&c->looked, NULL);
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
	if (how->tokens)
		inc_auth_changed(how->tokens, &c->tokens_file);
	if (how->tokens &&
	    tokens_read(&c->tokens, how->tokens, why, sizeof(why))) {
		snprintf(err, err_len, "--tokens %s: %s", how->tokens, why);
		creds_free(c);
		return NULL;
	}
	c->has_thread = (how->cert || how->tokens) &&
			!thread_create(&c->thread, watch_files, c);
	return c;
}

/* Returns false if the thread hangs: its data must stay. */
static bool stop_thread(struct creds *c)
{
	bool hangs;

	if (!c->has_thread)
		return true;
	pthread_mutex_lock(&c->lock);
	c->stop = true;
	pthread_cond_signal(&c->wake);
	while (c->look && !cond_wait(&c->looked, &c->lock, now_ms() + WAIT_MS))
		;
	hangs = c->look;
	pthread_mutex_unlock(&c->lock);
	if (hangs)
		pthread_detach(c->thread);
	else
		pthread_join(c->thread, NULL);
	return !hangs;
}

/*
 * Free credentials, unless the thread hangs.
 * @creds: credentials, or NULL
 */
void creds_free(struct creds *creds)
{
	if (!creds || !stop_thread(creds))
		return;
	SSL_CTX_free(creds->fresh);
	tokens_free(creds->tokens);
	crl_free(creds->crl);
	SSL_CTX_free(creds->tls);
	pthread_mutex_destroy(&creds->lock);
	free(creds);
}
