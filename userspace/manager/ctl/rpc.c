// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * inc-amctl's gRPC: one request and its answer, or a stream of answers.
 */
#include <errno.h>
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/support/alloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/message.h"
#include "base/call.h"
#include "ctl/amctl.h"
#include "ctl/creds.h"

/**
 * struct request - a call, with a connection of its own
 * @call: call
 * @channel: connection
 * @header: that proves who calls
 */
struct request {
	struct call		call;
	grpc_channel		*channel;
	grpc_metadata		header;
};

/* No @timeout_ms: no time limit. Returns false after a message. */
static bool begin(struct request *r, const char *manager, const char *method,
		  int timeout_ms, const uint8_t *in, size_t in_len, char *err,
		  size_t err_len)
{
	grpc_channel_credentials *creds;
	char path[128];
	size_t n;

	grpc_init();
	creds = ctl_creds(manager, &r->header, &n, err, err_len);
	if (!creds) {
		grpc_shutdown();
		return false;
	}
	snprintf(path, sizeof(path), "/rdma_inc.v1.Manager/%s", method);
	r->channel = grpc_channel_create(manager, creds, NULL);
	grpc_channel_credentials_release(creds);
	call_init(&r->call, r->channel,
		  grpc_completion_queue_create_for_pluck(NULL), path,
		  timeout_ms, in, in_len);
	r->call.headers = &r->header;
	r->call.nheaders = n;
	return true;
}

/* Get the status, and close all. Returns 0 or a negative errno value. */
static int finish(struct request *r, char *err, size_t err_len)
{
	struct call *c = &r->call;
	char *text = grpc_slice_to_c_string(c->details);
	int ret = -am_errno_of((int)c->status);

	snprintf(err, err_len, "%s", text);
	gpr_free(text);
	ctl_explain(c->status, err, err_len);
	call_fini(c);
	if (c->nheaders)
		grpc_slice_unref(r->header.value);
	grpc_channel_destroy(r->channel);
	grpc_completion_queue_shutdown(c->cq);
	grpc_completion_queue_destroy(c->cq);
	grpc_shutdown();
	return ret;
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
	struct request r;

	if (!begin(&r, manager, method, timeout_ms, in, in_len, err, err_len))
		return -EINVAL;
	call_run(&r.call);
	call_take(&r.call, out, out_len);
	return finish(&r, err, err_len);
}

/**
 * amctl_stream() - send a request to a manager, and take a stream of answers
 * @manager: "host:port"
 * @method: name of the method
 * @in: the request's bytes
 * @in_len: their number
 * @got: called with the bytes of each answer; returns false to end
 * @ctx: its first argument
 * @err: error message
 * @err_len: size of @err in bytes
 *
 * Return: 0 or a negative errno value.
 */
int amctl_stream(const char *manager, const char *method, const uint8_t *in,
		 size_t in_len, bool (*got)(void *ctx, const uint8_t *data,
					    size_t len),
		 void *ctx, char *err, size_t err_len)
{
	bool more, enough = false;
	struct request r;
	uint8_t *data;
	size_t len;

	if (!begin(&r, manager, method, 0, in, in_len, err, err_len))
		return -EINVAL;
	more = call_begin(&r.call);
	while (more && call_read(&r.call, &data, &len)) {
		more = got(ctx, data, len);
		free(data);
		enough = !more;
	}
	if (enough)
		grpc_call_cancel(r.call.call, NULL);
	call_end(&r.call);
	if (enough)
		r.call.status = GRPC_STATUS_OK;
	return finish(&r, err, err_len);
}
