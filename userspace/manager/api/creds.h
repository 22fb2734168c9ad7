/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Who may call: certificates and tokens.
 */
#ifndef INC_MANAGER_CREDS_H
#define INC_MANAGER_CREDS_H

#include <openssl/ssl.h>
#include <stdbool.h>

#include "api/rpc.h"
#include "auth/identity.h"

struct creds;

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
