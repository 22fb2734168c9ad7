// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * inc-amctl's gRPC: one request and its answer.
 */
#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/support/alloc.h>
#include <grpc/support/time.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "amctl.h"
#include "message.h"

/**
 * struct call - a request
 * @cq: completion queue
 * @channel: connection
 * @call: gRPC's call
 * @request: what is sent
 * @reply: what is received
 * @initial: headers
 * @trailing: and trailers
 * @status: status
 * @details: and its text
 */
struct call {
	grpc_completion_queue	*cq;
	grpc_channel		*channel;
	grpc_call		*call;
	grpc_byte_buffer	*request;
	grpc_byte_buffer	*reply;
	grpc_metadata_array	initial;
	grpc_metadata_array	trailing;
	grpc_status_code	status;
	grpc_slice		details;
};

static void run(struct call *c)
{
	grpc_op ops[6] = {
		{ .op = GRPC_OP_SEND_INITIAL_METADATA },
		{ .op = GRPC_OP_SEND_MESSAGE },
		{ .op = GRPC_OP_SEND_CLOSE_FROM_CLIENT },
		{ .op = GRPC_OP_RECV_INITIAL_METADATA },
		{ .op = GRPC_OP_RECV_MESSAGE },
		{ .op = GRPC_OP_RECV_STATUS_ON_CLIENT },
	};

	ops[1].data.send_message.send_message = c->request;
	ops[3].data.recv_initial_metadata.recv_initial_metadata = &c->initial;
	ops[4].data.recv_message.recv_message = &c->reply;
	ops[5].data.recv_status_on_client.trailing_metadata = &c->trailing;
	ops[5].data.recv_status_on_client.status = &c->status;
	ops[5].data.recv_status_on_client.status_details = &c->details;
	if (grpc_call_start_batch(c->call, ops, 6, c, NULL) != GRPC_CALL_OK)
		return;
	/* The call has a time limit. */
	grpc_completion_queue_pluck(c->cq, c,
				    gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
}

static void open_call(struct call *c, const char *manager, const char *method,
		      int timeout_ms)
{
	grpc_channel_credentials *creds = grpc_insecure_credentials_create();
	gpr_timespec limit = gpr_time_from_millis(timeout_ms, GPR_TIMESPAN);
	gpr_timespec until = gpr_time_add(gpr_now(GPR_CLOCK_REALTIME), limit);
	grpc_slice name;
	char path[128];

	snprintf(path, sizeof(path), "/rdma_inc.v1.Manager/%s", method);
	c->cq = grpc_completion_queue_create_for_pluck(NULL);
	c->channel = grpc_channel_create(manager, creds, NULL);
	grpc_channel_credentials_release(creds);
	name = grpc_slice_from_copied_string(path);
	c->call = grpc_channel_create_call(c->channel, NULL, 0, c->cq, name,
					   NULL, until, NULL);
	grpc_metadata_array_init(&c->initial);
	grpc_metadata_array_init(&c->trailing);
	c->status = GRPC_STATUS_UNKNOWN;
	c->details = grpc_empty_slice();
}

static void close_call(struct call *c)
{
	grpc_byte_buffer_destroy(c->request);
	if (c->reply)
		grpc_byte_buffer_destroy(c->reply);
	grpc_metadata_array_destroy(&c->initial);
	grpc_metadata_array_destroy(&c->trailing);
	grpc_slice_unref(c->details);
	grpc_call_unref(c->call);
	grpc_channel_destroy(c->channel);
	grpc_completion_queue_shutdown(c->cq);
	grpc_completion_queue_destroy(c->cq);
}

static void take_reply(struct call *c, uint8_t **out, size_t *len)
{
	grpc_byte_buffer_reader reader;
	grpc_slice slice;

	*len = 0;
	*out = NULL;
	if (!c->reply || !grpc_byte_buffer_reader_init(&reader, c->reply))
		return;
	slice = grpc_byte_buffer_reader_readall(&reader);
	grpc_byte_buffer_reader_destroy(&reader);
	*out = malloc(GRPC_SLICE_LENGTH(slice) + 1);
	if (*out) {
		*len = GRPC_SLICE_LENGTH(slice);
		memcpy(*out, GRPC_SLICE_START_PTR(slice), *len);
	}
	grpc_slice_unref(slice);
}

/**
 * amctl_call() - send a request to a manager and wait for its answer
 * @manager: "host:port"
 * @method: name of the method
 * @timeout_ms: time limit
 * @in: the request's bytes
 * @in_len: their number
 * @out: the answer's bytes, to be freed
 * @out_len: their number
 * @err: error message
 * @err_len: size of @err in bytes
 *
 * Return: 0 or a negative errno value.
 */
int amctl_call(const char *manager, const char *method, int timeout_ms,
	       const uint8_t *in, size_t in_len, uint8_t **out, size_t *out_len,
	       char *err, size_t err_len)
{
	struct call c = { .cq = NULL };
	grpc_slice slice;
	char *text;
	int ret;

	grpc_init();
	slice = grpc_slice_from_copied_buffer((const char *)in, in_len);
	c.request = grpc_raw_byte_buffer_create(&slice, 1);
	grpc_slice_unref(slice);
	open_call(&c, manager, method, timeout_ms);
	run(&c);
	take_reply(&c, out, out_len);
	text = grpc_slice_to_c_string(c.details);
	snprintf(err, err_len, "%s", text);
	gpr_free(text);
	ret = -am_errno_of((int)c.status);
	close_call(&c);
	grpc_shutdown();
	return ret;
}
