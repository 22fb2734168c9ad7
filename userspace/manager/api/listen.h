/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What the connections of the gRPC server are like.
 */
#ifndef INC_MANAGER_LISTEN_H
#define INC_MANAGER_LISTEN_H

#include <grpc/grpc.h>

#include "api/gate.h"

grpc_server *listen_new(grpc_completion_queue *cq);
int listen_at(grpc_server *server, const char *address,
	      grpc_server_credentials *creds, gate_cut_fn *cut, void *ctx);
const char *listen_why(const char *address);

#endif /* INC_MANAGER_LISTEN_H */
