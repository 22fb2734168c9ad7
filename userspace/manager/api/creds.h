/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Who may call: certificates and tokens on a gRPC server.
 */
#ifndef INC_MANAGER_CREDS_H
#define INC_MANAGER_CREDS_H

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <stdbool.h>

#include "api/rpc.h"
#include "auth/identity.h"

struct creds;

struct creds *creds_new(const struct rpc_security *how, const char *address,
			char *err, size_t err_len);
void creds_free(struct creds *creds);
grpc_server_credentials *creds_server(struct creds *creds);
bool creds_revoked(struct creds *creds, grpc_call *call);
int creds_identify(struct creds *creds, grpc_call *call,
		   const grpc_metadata_array *metadata, struct identity *id,
		   char *err, size_t err_len);

#endif /* INC_MANAGER_CREDS_H */
