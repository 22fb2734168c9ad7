// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* See files.h. */
#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stdio.h>

#include "auth/expiry.h"
#include "auth/files.h"
#include "conf/open.h"

/* Set the TLS options of all our connections. */
void inc_auth_modes(SSL_CTX *ctx)
{
	SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
	/* Connections without traffic then have no buffers of 16 KiB. */
	SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS |
			 SSL_MODE_ENABLE_PARTIAL_WRITE |
			 SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	/* Return after each record without data, such as a key update. */
	SSL_CTX_clear_mode(ctx, SSL_MODE_AUTO_RETRY);
	/*
	 * A connection lasts as long as a job, so sessions are not resumed, and
	 * a client cannot make the server repeat handshakes.
	 */
	SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION |
			    SSL_OP_NO_COMPRESSION);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_num_tickets(ctx, 0);
}

/* Check it here: a TLS 1.3 peer may not say why it refuses a certificate. */
static int check_time(const SSL_CTX *ctx, const char *file, char *err,
		      size_t err_len)
{
	const X509 *cert = SSL_CTX_get0_certificate(ctx);
	char when[EXPIRY_LEN];
	bool early;

	if (!cert)
		return 0;
	early = X509_cmp_current_time(X509_get0_notBefore(cert)) > 0;
	if (!early && X509_cmp_current_time(X509_get0_notAfter(cert)) > 0)
		return 0;
	inc_auth_expiry_text(inc_auth_time(early ? X509_get0_notBefore(cert) :
					   X509_get0_notAfter(cert)),
			     when, sizeof(when));
	snprintf(err, err_len, "TLS: %s: the certificate %s %s", file,
		 early ? "is not valid yet, but from" : "has expired, at", when);
	return -EKEYEXPIRED;
}

/* Peers refuse a certificate for the other side; TLS 1.3 may not say why. */
static int check_purpose(const SSL_CTX *ctx, const char *file, char *err,
			 size_t err_len)
{
	bool server = SSL_CTX_get_ssl_method(ctx) == TLS_server_method();
	X509 *cert = SSL_CTX_get0_certificate(ctx);

	if (!cert || X509_check_purpose(cert, server ? X509_PURPOSE_SSL_SERVER :
					X509_PURPOSE_SSL_CLIENT, 0) == 1)
		return 0;
	snprintf(err, err_len, "TLS: %s: the certificate is not for %s (extended key usage), and every %s will refuse it",
		 file, server ? "servers" : "clients",
		 server ? "client" : "server");
	return -EINVAL;
}

/*
 * A server's or client's certificate, given as its authority's by mistake,
 * verifies nobody. A self-signed certificate verifies itself.
 */
static bool has_authority(const SSL_CTX *ctx)
{
	STACK_OF(X509_OBJECT) *all =
		X509_STORE_get0_objects(SSL_CTX_get_cert_store(ctx));
	X509 *cert;
	int i;

	for (i = 0; i < sk_X509_OBJECT_num(all); i++) {
		cert = X509_OBJECT_get0_X509(sk_X509_OBJECT_value(all, i));
		if (cert && (X509_check_ca(cert) ||
			     X509_check_issued(cert, cert) == X509_V_OK))
			return true;
	}
	return false;
}

/* Explain why OpenSSL cannot use a file, by its first error, not the last. */
static void explain_unusable(char *err, size_t err_len, const char *file,
			     bool key)
{
	unsigned long code = ERR_peek_error();
	const char *reason = ERR_reason_error_string(code);

	/* inc_auth_no_password() has cancelled the read. */
	if (ERR_GET_REASON(code) == ERR_R_INTERRUPTED_OR_CANCELLED)
		snprintf(err, err_len, "TLS: %s: it has a password, and there is nobody to ask for it: store it without",
			 file);
	else if (ERR_GET_REASON(code) == PEM_R_NO_START_LINE ||
		 ERR_GET_LIB(code) == ERR_LIB_X509 || (key && ERR_GET_LIB(code) == ERR_LIB_OSSL_DECODER))
		snprintf(err, err_len, "TLS: %s: there is no %s in it, as PEM",
			 file, key ? "private key" : "certificate");
	else
		snprintf(err, err_len, "TLS: %s: it is damaged, or of another format (OpenSSL: %s)",
			 file, reason ? reason : "it does not say why");
	ERR_clear_error();
}

/*
 * Load the files of one side of a connection. Returns 0; -EINVAL: a file cannot
 * be used; -EKEYEXPIRED: the files are good, but the certificate is not valid
 * at this time.
 * @ca: the peers' authority (PEM), or NULL
 * @cert: own certificate with intermediate certificates, or NULL
 * @err_len: size of @err in bytes
 */
int inc_auth_load(SSL_CTX *ctx, const char *ca, const char *cert,
		  const char *key, char *err, size_t err_len)
{
	const char *const files[] = { ca, cert, cert ? key : NULL };
	const char *what = NULL, *why;
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		why = files[i] ? inc_unusable(files[i]) : NULL;
		if (why) {
			snprintf(err, err_len, "TLS: %s: %s", files[i], why);
			return -EINVAL;
		}
	}
	ERR_clear_error();
	SSL_CTX_set_default_passwd_cb(ctx, inc_auth_no_password);
	if (ca && SSL_CTX_load_verify_file(ctx, ca) != 1)
		what = ca;
	else if (cert && SSL_CTX_use_certificate_chain_file(ctx, cert) != 1)
		what = cert;
	else if (cert && SSL_CTX_use_PrivateKey_file(ctx, key,
						     SSL_FILETYPE_PEM) != 1)
		what = key;
	if (what && what == key && ERR_GET_REASON(ERR_peek_last_error()) ==
				   X509_R_KEY_VALUES_MISMATCH) {
		snprintf(err, err_len, "TLS: %s is not the private key of the certificate %s",
			 key, cert);
		ERR_clear_error();
		return -EINVAL;
	}
	if (what) {
		explain_unusable(err, err_len, what, what == key);
		return -EINVAL;
	}
	if (ca && !has_authority(ctx)) {
		snprintf(err, err_len, "TLS: %s: no certificate in it is an authority's: it must be the one that has signed the peers'",
			 ca);
		return -EINVAL;
	}
	return check_purpose(ctx, cert, err, err_len) ?:
	       check_time(ctx, cert, err, err_len);
}

/*
 * Ask whether the certificate was issued by the peers' authority. Returns true
 * if so, even if it has expired.
 */
bool inc_auth_is_of(SSL_CTX *ctx)
{
	X509_STORE_CTX *v = X509_STORE_CTX_new();
	STACK_OF(X509) *chain = NULL;
	bool good;

	SSL_CTX_get0_chain_certs(ctx, &chain);
	good = v && X509_STORE_CTX_init(v, SSL_CTX_get_cert_store(ctx),
					SSL_CTX_get0_certificate(ctx), chain);
	if (good) {
		X509_STORE_CTX_set_flags(v, X509_V_FLAG_NO_CHECK_TIME);
		good = X509_verify_cert(v) == 1;
	}
	ERR_clear_error();
	X509_STORE_CTX_free(v);
	return good;
}
