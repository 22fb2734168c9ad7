// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * gRPC calls, see call.h.
 */
#include <grpc/byte_buffer_reader.h>
#include <grpc/support/time.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auth/client.h"
#include "auth/files.h"
#include "base/call.h"

/* gRPC takes any texts, and then says that it has no address. */
static bool are_good(const char *ca, const char *cert, const char *key, char *err,
		     size_t err_len)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	bool good = ctx && !inc_auth_load(ctx, ca, cert, key, err, err_len);

	if (!ctx)
		snprintf(err, err_len, "no memory");
	SSL_CTX_free(ctx);
	return good;
}

/**
 * call_creds() - read what a TLS client needs
 * @ca: file: certificate of the server's authority
 * @cert: file: own certificate, or NULL
 * @key: file: its private key
 * @err: error message
 * @err_len: size of @err in bytes
 *
 * Return: credentials, or NULL.
 */
grpc_channel_credentials *call_creds(const char *ca, const char *cert,
				     const char *key, char *err, size_t err_len)
{
	grpc_ssl_pem_key_cert_pair pair = { NULL, NULL };
	grpc_channel_credentials *creds = NULL;
	char *root, *chain = NULL, *private = NULL;

	if (!are_good(ca, cert, key, err, err_len))
		return NULL;
	root = inc_auth_file(ca, err, err_len);
	if (root && cert) {
		chain = inc_auth_file(cert, err, err_len);
		private = chain ? inc_auth_file(key, err, err_len) : NULL;
		pair.cert_chain = chain;
		pair.private_key = private;
	}
	if (root && (!cert || private))
		creds = grpc_ssl_credentials_create(root, private ? &pair : NULL,
						    NULL, NULL);
	if (private)
		explicit_bzero(private, strlen(private));
	free(root);
	free(chain);
	free(private);
	return creds;
}

/**
 * call_init() - prepare a call
 * @c: call, to be freed by call_fini()
 * @channel: connection
 * @cq: completion queue
 * @path: method, "/package.Service/Method"
 * @timeout_ms: time limit, 0: none
 * @data: the request's bytes
 * @len: their number
 */
void call_init(struct call *c, grpc_channel *channel, grpc_completion_queue *cq,
	       const char *path, int timeout_ms, const uint8_t *data,
	       size_t len)
{
	gpr_timespec limit = gpr_time_from_millis(timeout_ms, GPR_TIMESPAN);
	/* A step of the clock must not end it, nor let it go on. */
	gpr_timespec until = timeout_ms ?
		gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), limit) :
		gpr_inf_future(GPR_CLOCK_MONOTONIC);
	grpc_slice bytes = grpc_slice_from_copied_buffer((const char *)data,
							 len);
	grpc_slice name = grpc_slice_from_copied_string(path);

	*c = (struct call) {
		.cq		= cq,
		.request	= grpc_raw_byte_buffer_create(&bytes, 1),
		.status		= GRPC_STATUS_UNKNOWN,
		.details	= grpc_empty_slice(),
	};
	grpc_metadata_array_init(&c->initial);
	grpc_metadata_array_init(&c->trailing);
	c->call = grpc_channel_create_call(channel, NULL, 0, cq, name, NULL,
					   until, NULL);
	grpc_slice_unref(bytes);
	grpc_slice_unref(name);
}

/**
 * call_fini() - free what a call has
 * @c: call
 */
void call_fini(struct call *c)
{
	grpc_byte_buffer_destroy(c->request);
	if (c->reply)
		grpc_byte_buffer_destroy(c->reply);
	grpc_metadata_array_destroy(&c->initial);
	grpc_metadata_array_destroy(&c->trailing);
	grpc_slice_unref(c->details);
	grpc_call_unref(c->call);
}

/* Start a batch, and wait until it is done; the call may have a time limit. */
static bool batch(struct call *c, const grpc_op *ops, size_t n)
{
	if (grpc_call_start_batch(c->call, ops, n, c, NULL) != GRPC_CALL_OK)
		return false;
	return grpc_completion_queue_pluck(c->cq, c,
					   gpr_inf_future(GPR_CLOCK_REALTIME),
					   NULL).success;
}

static grpc_op op_status(struct call *c)
{
	grpc_op op = { .op = GRPC_OP_RECV_STATUS_ON_CLIENT };

	op.data.recv_status_on_client.trailing_metadata = &c->trailing;
	op.data.recv_status_on_client.status = &c->status;
	op.data.recv_status_on_client.status_details = &c->details;
	return op;
}

static grpc_op op_reply(struct call *c)
{
	grpc_op op = { .op = GRPC_OP_RECV_MESSAGE };

	op.data.recv_message.recv_message = &c->reply;
	return op;
}

/* What every call begins with, 4 operations. */
static void put_begin(struct call *c, grpc_op *ops)
{
	ops[0].op = GRPC_OP_SEND_INITIAL_METADATA;
	ops[0].data.send_initial_metadata.count = c->nheaders;
	ops[0].data.send_initial_metadata.metadata = c->headers;
	ops[1].op = GRPC_OP_SEND_MESSAGE;
	ops[1].data.send_message.send_message = c->request;
	ops[2].op = GRPC_OP_SEND_CLOSE_FROM_CLIENT;
	ops[3].op = GRPC_OP_RECV_INITIAL_METADATA;
	ops[3].data.recv_initial_metadata.recv_initial_metadata = &c->initial;
}

/**
 * call_run() - send the request, and wait for the one answer, and the status
 * @c: call, new
 */
void call_run(struct call *c)
{
	grpc_op ops[6] = { { 0 } };

	put_begin(c, ops);
	ops[4] = op_reply(c);
	ops[5] = op_status(c);
	batch(c, ops, 6);
}

/**
 * call_begin() - send the request, whose answer is a stream
 * @c: call, new
 *
 * Return: false if there are no answers; call_end() says why.
 */
bool call_begin(struct call *c)
{
	grpc_op ops[4] = { { 0 } };

	put_begin(c, ops);
	return batch(c, ops, 4);
}

/**
 * call_read() - wait for the next answer of a stream
 * @c: call after call_begin()
 * @data: its bytes, to be freed
 * @len: their number
 *
 * Return: false at the stream's end.
 */
bool call_read(struct call *c, uint8_t **data, size_t *len)
{
	grpc_op op = op_reply(c);
	bool taken;

	if (!batch(c, &op, 1) || !c->reply)
		return false;
	taken = call_take(c, data, len);
	grpc_byte_buffer_destroy(c->reply);
	c->reply = NULL;
	return taken;
}

/**
 * call_end() - wait for the status of a stream
 * @c: call after call_begin(); to end it early, it was cancelled
 */
void call_end(struct call *c)
{
	grpc_op op = op_status(c);

	batch(c, &op, 1);
}

/**
 * call_take() - take the bytes of the answer
 * @c: call
 * @data: result, to be freed; NULL: no answer, or no memory
 * @len: their number
 *
 * Return: true if there are any.
 */
bool call_take(struct call *c, uint8_t **data, size_t *len)
{
	grpc_byte_buffer_reader reader;
	grpc_slice slice;

	*data = NULL;
	*len = 0;
	if (!c->reply || !grpc_byte_buffer_reader_init(&reader, c->reply))
		return false;
	slice = grpc_byte_buffer_reader_readall(&reader);
	grpc_byte_buffer_reader_destroy(&reader);
	*data = malloc(GRPC_SLICE_LENGTH(slice) + 1);
	if (*data) {
		*len = GRPC_SLICE_LENGTH(slice);
		memcpy(*data, GRPC_SLICE_START_PTR(slice), *len);
	}
	grpc_slice_unref(slice);
	return *data;
}
