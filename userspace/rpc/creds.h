/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Certificates and tokens of callers.
 */
#ifndef INC_MANAGER_CREDS_H
#define INC_MANAGER_CREDS_H

#include <openssl/ssl.h>
#include <stdbool.h>

#include "auth/identity.h"
#include "rpc/rpc.h"

struct creds;

/**
 * enum creds_file - file that is read again after a change
 * @CREDS_CERT: the certificate, its key, and the authority's
 * @CREDS_CRL: the list of revoked certificates
 * @CREDS_TOKENS: tokens
 * @CREDS_FILES: number of files
 */
enum creds_file {
	CREDS_CERT,
	CREDS_CRL,
	CREDS_TOKENS,
	CREDS_FILES
};

/**
 * typedef creds_read_fn - callback for a changed file
 * @ctx: as given
 * @file: the file
 * @why: which part of the file, or of its last version, counts, and why not
 *	all; empty: the file was read
 */
typedef void creds_read_fn(void *ctx, enum creds_file file, const char *why);

void creds_watch(struct loop *loop, creds_read_fn *fn, void *ctx);

struct creds *creds_new(const struct rpc_security *how, const char *address,
			char *err, size_t err_len);
void creds_free(struct creds *creds);
SSL_CTX *creds_tls(struct creds *creds);
void creds_refresh(struct creds *c);
bool creds_dropped(struct creds *c, const struct identity *id);
bool creds_revoked(struct creds *creds, const X509 *cert);
int creds_identify(struct creds *creds, const X509 *cert, const char *token,
		   struct identity *id, char *err, size_t err_len);

#endif /* INC_MANAGER_CREDS_H */
