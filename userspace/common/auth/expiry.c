// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See expiry.h.
 */
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <time.h>

#include "auth/expiry.h"
#include "conf/open.h"

#define FORMAT	"%Y-%m-%dT%H:%M:%SZ"	/* YANG's date-and-time */

/* Convert a time of OpenSSL. Returns seconds since 1970, or EXPIRY_UNKNOWN. */
int64_t inc_auth_time(const ASN1_TIME *at)
{
	struct tm tm;

	return at && ASN1_TIME_to_tm(at, &tm) ? (int64_t)timegm(&tm) :
						EXPIRY_UNKNOWN;
}

/*
 * Get the time when a certificate expires. Returns seconds since 1970, or
 * EXPIRY_UNKNOWN.
 */
int64_t inc_auth_expiry(const X509 *cert)
{
	return inc_auth_time(X509_get0_notAfter(cert));
}

static int64_t earlier_time(int64_t a, int64_t b)
{
	if (a == EXPIRY_UNKNOWN || b == EXPIRY_UNKNOWN)
		return a == EXPIRY_UNKNOWN ? b : a;
	return b < a ? b : a;
}

/*
 * Get the time when the first certificate or revocation list of a file expires.
 * Returns seconds since 1970, or EXPIRY_UNKNOWN.
 */
int64_t inc_auth_expiry_of_file(const char *path)
{
	const char *why;
	FILE *f = inc_open(path, &why);
	BIO *bio = f ? BIO_new_fp(f, BIO_NOCLOSE) : NULL;
	STACK_OF(X509_INFO) *all = bio ?
		PEM_X509_INFO_read_bio(bio, NULL, NULL, NULL) : NULL;
	int64_t expires = EXPIRY_UNKNOWN;
	const X509_INFO *info;
	int i;

	for (i = 0; i < sk_X509_INFO_num(all); i++) {
		info = sk_X509_INFO_value(all, i);
		if (info->x509)
			expires = earlier_time(expires,
					       inc_auth_expiry(info->x509));
		if (info->crl)
			expires = earlier_time(expires, inc_auth_time(
					  X509_CRL_get0_nextUpdate(info->crl)));
	}
	ERR_clear_error();
	sk_X509_INFO_pop_free(all, X509_INFO_free);
	BIO_free(bio);
	if (f)
		fclose(f);
	return expires;
}

/*
 * Write the time of an expiry as text.
 * @len: size of @buf in bytes
 */
void inc_auth_expiry_text(int64_t expires, char *buf, size_t len)
{
	time_t t = (time_t)expires;
	struct tm tm;

	if (!gmtime_r(&t, &tm) || !strftime(buf, len, FORMAT, &tm))
		snprintf(buf, len, "%s", "?");
}

/*
 * Undo inc_auth_expiry_text(). Returns seconds since 1970, or EXPIRY_UNKNOWN.
 * @text: text, or NULL; in any time zone, as libyang may convert it
 */
int64_t inc_auth_expiry_parse(const char *text)
{
	struct tm tm = { .tm_isdst = 0 };
	const char *end = text ? strptime(text, "%Y-%m-%dT%H:%M:%S%z", &tm) :
				 NULL;
	int64_t east = tm.tm_gmtoff;

	return end && !*end ? (int64_t)timegm(&tm) - east : EXPIRY_UNKNOWN;
}
