// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* See files.h. */
#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdbool.h>
#include <stdio.h>

#include "auth/files.h"
#include "auth/open.h"

/* A peer that speaks TLS 1.3 may not say why it refuses a certificate. */
static bool is_valid_now(const SSL_CTX *ctx)
{
	const X509 *cert = SSL_CTX_get0_certificate(ctx);

	return !cert || (X509_cmp_current_time(X509_get0_notAfter(cert)) > 0 &&
			 X509_cmp_current_time(X509_get0_notBefore(cert)) < 0);
}

/* Why OpenSSL cannot use a file: what it has met first, not where that was. */
static void unusable(char *err, size_t err_len, const char *file, bool key)
{
	unsigned long code = ERR_peek_error();
	const char *reason = ERR_reason_error_string(code);

	/* inc_auth_no_password() has ended it. */
	if (ERR_GET_REASON(code) == ERR_R_INTERRUPTED_OR_CANCELLED)
		snprintf(err, err_len, "TLS: %s: it has a password, and there is nobody to ask for it: store it without",
			 file);
	else if (ERR_GET_REASON(code) == PEM_R_NO_START_LINE ||
		 (key && ERR_GET_LIB(code) == ERR_LIB_OSSL_DECODER))
		snprintf(err, err_len, "TLS: %s: there is no %s in it, as PEM",
			 file, key ? "private key" : "certificate");
	else
		snprintf(err, err_len, "TLS: %s: it is damaged, or of another format (OpenSSL: %s)",
			 file, reason ? reason : "it does not say why");
	ERR_clear_error();
}

/**
 * inc_auth_load() - read the files of one side of a connection
 * @ctx: OpenSSL's settings
 * @ca: the peers' authority (PEM), or NULL
 * @cert: own certificate, and those between it and its authority's, or NULL
 * @key: its private key; without a password
 * @err: error message, which names the file
 * @err_len: size of @err in bytes
 *
 * Return: 0, -EINVAL: a file cannot be used, -EKEYEXPIRED: the certificate is
 * not valid at this time.
 */
int inc_auth_load(SSL_CTX *ctx, const char *ca, const char *cert,
		  const char *key, char *err, size_t err_len)
{
	const char *const files[] = { ca, cert, cert ? key : NULL };
	const char *what = NULL, *why;
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		why = files[i] ? inc_auth_unusable(files[i]) : NULL;
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
		unusable(err, err_len, what, what == key);
		return -EINVAL;
	}
	if (is_valid_now(ctx))
		return 0;
	snprintf(err, err_len, "TLS: %s: the certificate has expired, or is not valid yet",
		 cert);
	return -EKEYEXPIRED;
}
