/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A gRPC call to a server: one request, and one answer or a stream of them. Its
 * functions wait; so does whoever calls them.
 */
#ifndef INC_MANAGER_CALL_H
#define INC_MANAGER_CALL_H

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct call - a call
 * @cq: completion queue, for plucking; the caller's
 * @call: gRPC's call
 * @request: what is sent
 * @reply: what was received; NULL: nothing
 * @headers: that are sent; the caller's
 * @nheaders: their number
 * @initial: headers received
 * @trailing: and trailers
 * @status: status
 * @details: and its text
 */
struct call {
	grpc_completion_queue	*cq;
	grpc_call		*call;
	grpc_byte_buffer	*request;
	grpc_byte_buffer	*reply;
	grpc_metadata		*headers;
	size_t			nheaders;
	grpc_metadata_array	initial;
	grpc_metadata_array	trailing;
	grpc_status_code	status;
	grpc_slice		details;
};

grpc_channel_credentials *call_creds(const char *ca, const char *cert,
				     const char *key, char *err,
				     size_t err_len);
void call_init(struct call *c, grpc_channel *channel, grpc_completion_queue *cq,
	       const char *path, int timeout_ms, const uint8_t *data,
	       size_t len);
void call_fini(struct call *c);
void call_run(struct call *c);
bool call_begin(struct call *c);
bool call_read(struct call *c, uint8_t **data, size_t *len);
void call_end(struct call *c);
bool call_take(struct call *c, uint8_t **data, size_t *len);

#endif /* INC_MANAGER_CALL_H */
