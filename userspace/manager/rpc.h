/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What the manager needs of gRPC. Only grpc.c knows more of it, so that another
 * library could take its place. All functions, and all callbacks, are the main
 * loop's.
 */
#ifndef INC_MANAGER_RPC_H
#define INC_MANAGER_RPC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loop.h"

struct rpc;
struct rpc_stream;

enum rpc_method {
	RPC_GET_TOPOLOGY,
	RPC_LIST_GROUPS,
	RPC_GET_GROUP,
	RPC_DELETE_GROUP,
	RPC_METHODS
};

/**
 * struct rpc_answer - the answer to a request
 * @data: bytes, to be freed by the server; NULL: @err
 * @len: their number
 * @err: 0 or a positive errno value
 * @text: if @err: what to do
 */
struct rpc_answer {
	uint8_t	*data;
	size_t	len;
	int	err;
	char	text[512];
};

/**
 * struct rpc_handler - callbacks
 * @call: answers a request
 * @opened: a rank has opened a stream
 * @message: a message of that stream
 * @closed: the stream has ended, and rpc_stream_end() was not called; it must
 *	not be used any more
 */
struct rpc_handler {
	void (*call)(void *ctx, enum rpc_method method, const uint8_t *data,
		     size_t len, struct rpc_answer *answer);
	void (*opened)(void *ctx, struct rpc_stream *stream);
	void (*message)(void *ctx, struct rpc_stream *stream,
			const uint8_t *data, size_t len);
	void (*closed)(void *ctx, struct rpc_stream *stream);
};

struct rpc *rpc_start(struct loop *loop, const char *address,
		      const struct rpc_handler *handler, void *ctx,
		      int *port);
bool rpc_idle(const struct rpc *rpc);
void rpc_stop(struct rpc *rpc);

void rpc_stream_send(struct rpc_stream *stream, const uint8_t *data,
		     size_t len);
void rpc_stream_end(struct rpc_stream *stream, int err, const char *text);
const char *rpc_stream_peer(const struct rpc_stream *stream);
void rpc_stream_set(struct rpc_stream *stream, void *data);
void *rpc_stream_get(const struct rpc_stream *stream);

#endif /* INC_MANAGER_RPC_H */
