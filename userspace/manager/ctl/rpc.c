// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* inc-amctl's gRPC: one request and its answer, or a stream of answers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "rpc/hint.h"
#include "rpc/message.h"
#include "auth/address.h"
#include "conf/text.h"
#include "http2/channel.h"
#include "http2/reach.h"
#include "ctl/amctl.h"

/**
 * struct request - a call, with a connection of its own
 * @channel: connection
 * @auth: the user's credentials
 * @path: method
 */
struct request {
	struct channel		*channel;
	struct auth_client	auth;
	char			path[128];
};

/*
 * Check the user's certificates and token. Returns false if no manager could
 * accept them.
 * @err_len: size of @err in bytes
 */
bool amctl_check(char *err, size_t err_len)
{
	struct channel_how how = { .address = "" };
	struct channel *c = NULL;
	struct auth_client auth;
	bool good;

	if (!inc_auth_read(&auth, "INC_AM", err, err_len)) {
		how.tls = am_tls(&auth);
		c = channel_new(&how, err, err_len);
	}
	good = c;
	channel_free(c);
	inc_auth_free(&auth);
	return good;
}

/* Prepare a request. Returns false after a message. */
static bool prepare_request(struct request *r, const char *manager,
			    int fd, const char *method, char *err,
			    size_t err_len)
{
	struct channel_how how = {
		.address	= manager,
		.program	= "inc-amd",
		.ask_ms		= AM_ASK_MS,
		.answer_ms	= AM_ANSWER_MS,
	};

	r->channel = NULL;
	snprintf(r->path, sizeof(r->path), "/rdma_inc.v1.Manager/%s", method);
	if (inc_auth_read(&r->auth, "INC_AM", err, err_len))
		goto fail;
	if (r->auth.token && !r->auth.ca && !inc_reach_is_path(manager) &&
	    !inc_auth_is_loopback(manager)) {
		snprintf(err, err_len, "a token is sent over TLS only: set INC_AM_CA or INC_AM_CERTS");
		goto fail;
	}
	how.tls = am_tls(&r->auth);
	how.token = r->auth.token;
	r->channel = channel_new(&how, err, err_len);
	if (r->channel) {
		channel_adopt(r->channel, fd);
		return true;
	}
fail:
	close(fd);
	inc_auth_free(&r->auth);
	return false;
}

/* Get the status, and free the request. Returns 0 or a negative errno value. */
static int finish_request(struct request *r, char *err, size_t err_len)
{
	enum fault fault;
	const char *text;
	int status = channel_status(r->channel, &text, &fault);

	snprintf(err, err_len, "%s%s", status ? text : "",
		 am_hint(&r->auth, fault));
	text_clean(err);
	channel_free(r->channel);
	inc_auth_free(&r->auth);
	return -am_errno_of(status);
}

/*
 * Send a request to a manager, and take its answers. Returns 0 at their end, or if
 * @got has ended them; or a negative errno value. A stream does not end by itself.
 * @timeout_ms: time limit of one answer; 0: a stream of answers
 * @got: called with the bytes of each answer; returns false to end
 * @err_len: size of @err in bytes
 */
int amctl_call(const char *manager, int fd, const char *method,
	       int timeout_ms, const uint8_t *in, size_t in_len,
	       bool (*got)(void *ctx, const uint8_t *data, size_t len),
	       void *ctx, char *err, size_t err_len)
{
	struct request r;
	bool more = true;
	uint8_t *data;
	size_t len;
	int ret;

	if (!prepare_request(&r, manager, fd, method, err, err_len))
		return -EINVAL;
	channel_begin(r.channel, r.path, timeout_ms);
	channel_send(r.channel, in, in_len);
	channel_half(r.channel);
	while (more && channel_receive(r.channel, &data, &len)) {
		more = got(ctx, data, len);
		free(data);
	}
	ret = finish_request(&r, err, err_len);
	if (more && !ret && !timeout_ms) {
		snprintf(err, err_len, "it has ended the stream");
		return -EPIPE;
	}
	return more ? ret : 0;
}
