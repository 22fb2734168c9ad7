/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Expiry of certificates and revocation lists.
 */
#ifndef INC_AUTH_EXPIRY_H
#define INC_AUTH_EXPIRY_H

#include <openssl/x509.h>
#include <stddef.h>
#include <stdint.h>

#define EXPIRY_UNKNOWN	0	/* no time */
#define EXPIRY_LEN	32	/* bytes of a time as text */

int64_t inc_auth_time(const ASN1_TIME *at);
int64_t inc_auth_expiry(const X509 *cert);
int64_t inc_auth_expiry_of_file(const char *path);
void inc_auth_expiry_text(int64_t expires, char *buf, size_t len);
int64_t inc_auth_expiry_parse(const char *text);

#endif /* INC_AUTH_EXPIRY_H */
