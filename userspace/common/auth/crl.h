/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A certificate revocation list, in a file that is read again after changes.
 * One thread at a time may use it.
 */
#ifndef INC_AUTH_CRL_H
#define INC_AUTH_CRL_H

#include <openssl/x509.h>
#include <stdbool.h>
#include <stddef.h>

struct crl;

struct crl *crl_open(const char *path, const char *ca, char *err,
		     size_t err_len);
int crl_reread(struct crl *crl, X509_CRL **list, char *err, size_t err_len);
void crl_use(struct crl *crl, X509_CRL *list);
int crl_refresh(struct crl *crl, char *err, size_t err_len);
bool crl_revokes(const struct crl *crl, const X509 *cert);
void crl_free(struct crl *crl);

#endif /* INC_AUTH_CRL_H */
