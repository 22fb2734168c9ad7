// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See stream.h.
 */
#include <errno.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc.h>
#include <grpc/grpc_posix.h>
#include <grpc/grpc_security.h>
#include <grpc/support/alloc.h>
#include <grpc/support/time.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auth/address.h"
#include "stream.h"
#include "tls.h"

/* The addresses of these are the tags of what the threads wait for. */
static const char tag_up, tag_down, tag_status;

/**
 * am_stream_init() - begin to use gRPC
 *
 * It writes a log of its own about TLS and names, both of which are done without
 * it here; so nothing has to be said to it by GRPC_VERBOSITY, in an environment
 * that is the program's.
 */
void am_stream_init(void)
{
	grpc_init();
}

/**
 * am_stream_exit() - end what am_stream_init() has begun
 */
void am_stream_exit(void)
{
	grpc_shutdown();
}

/* Returns whether it was done; false: the stream has ended. */
static bool batch(struct am_stream *s, const grpc_op *ops, size_t n,
		  const char *tag)
{
	grpc_event ev;

	if (grpc_call_start_batch(s->call, ops, n, (void *)tag, NULL) !=
	    GRPC_CALL_OK)
		return false;
	ev = grpc_completion_queue_pluck(s->cq, (void *)tag,
					 gpr_inf_future(GPR_CLOCK_REALTIME),
					 NULL);
	return ev.type == GRPC_OP_COMPLETE && ev.success;
}

/* --- Opening and closing ------------------------------------------------- */

/* If the stream cannot begin, its status says why. */
static void send_headers(struct am_stream *s, const struct auth_client *auth)
{
	grpc_op op = { .op = GRPC_OP_SEND_INITIAL_METADATA };
	grpc_metadata token;
	char *text = NULL;

	if (auth->token && asprintf(&text, "Bearer %s", auth->token) > 0) {
		token = (grpc_metadata) {
			.key = grpc_slice_from_static_string("authorization"),
			.value = grpc_slice_from_copied_string(text),
		};
		op.data.send_initial_metadata.metadata = &token;
		op.data.send_initial_metadata.count = 1;
	}
	batch(s, &op, 1, &tag_up);
	if (text)
		grpc_slice_unref(token.value);
	free(text);
}

static grpc_arg int_arg(const char *key, int value)
{
	return (grpc_arg) {
		.type = GRPC_ARG_INTEGER,
		.key = (char *)key,
		.value.integer = value,
	};
}

static int make_call(struct am_stream *s, int sock, const char *manager,
		     const struct auth_client *auth)
{
	/* A manager that hangs keeps its connections: only a ping tells. */
	grpc_arg list[] = {
		int_arg(GRPC_ARG_KEEPALIVE_TIME_MS, AM_ASK_MS),
		int_arg(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, AM_ANSWER_MS),
		int_arg(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0),
	};
	const grpc_channel_args args = {
		.num_args = sizeof(list) / sizeof(list[0]),
		.args = list,
	};
	grpc_channel_credentials *creds = grpc_insecure_credentials_create();
	grpc_slice method;

	s->channel = grpc_channel_create_from_fd(manager, sock, creds, &args);
	grpc_channel_credentials_release(creds);
	if (!s->channel)
		return -EIO;
	s->owned = true;
	s->cq = grpc_completion_queue_create_for_pluck(NULL);
	method = grpc_slice_from_static_string(AM_JOIN);
	s->call = grpc_channel_create_call(s->channel, NULL, 0, s->cq, method,
					   NULL,
					   gpr_inf_future(GPR_CLOCK_REALTIME),
					   NULL);
	if (!s->call)
		return -EIO;
	grpc_metadata_array_init(&s->initial);
	send_headers(s, auth);
	return 0;
}

/**
 * am_stream_open() - open a stream
 * @s: stream with @s->tcp, all else 0; to be closed in any case
 * @manager: address of the manager
 * @auth: what proves who the rank is
 * @err: error message
 * @err_len: size of @err in bytes
 *
 * Return: 0 or a negative errno value.
 */
int am_stream_open(struct am_stream *s, const char *manager,
		   const struct auth_client *auth, char *err, size_t err_len)
{
	int sock = s->tcp, ret = 0;

	/* Of several managers each is asked, also while the job runs. */
	if (auth->token && !auth->ca && !inc_auth_peer_is_loopback(s->tcp)) {
		snprintf(err, err_len, "a token is sent over TLS only: set INC_AM_CA or INC_AM_CERTS");
		return -EINVAL;
	}
	if (auth->ca)
		ret = am_tls_start(&s->tls, s->tcp, manager, auth, &sock, err,
				   err_len);
	s->owned = s->tls;
	return ret ? ret : make_call(s, sock, manager, auth);
}

/**
 * am_stream_close() - close a stream, if it is open
 * @s: stream
 */
void am_stream_close(struct am_stream *s)
{
	if (s->call) {
		grpc_call_cancel(s->call, NULL);
		grpc_call_unref(s->call);
		grpc_metadata_array_destroy(&s->initial);
	}
	if (s->cq) {
		grpc_completion_queue_shutdown(s->cq);
		grpc_completion_queue_destroy(s->cq);
	}
	if (s->channel)
		grpc_channel_destroy(s->channel);
	if (s->tls)
		am_tls_stop(s->tls);
	if (!s->owned && s->tcp >= 0)
		close(s->tcp);
	*s = (struct am_stream){ .tcp = -1 };
}

/**
 * am_stream_forked() - close a child's copies of a stream's sockets
 * @s: stream of the parent
 */
void am_stream_forked(struct am_stream *s)
{
	if (s->tls)
		am_tls_forked(s->tls);
	else if (s->tcp >= 0)
		close(s->tcp);
}

/**
 * am_stream_cancel() - have all that waits for a stream return
 * @s: stream, open or not
 */
void am_stream_cancel(struct am_stream *s)
{
	if (s->call)
		grpc_call_cancel(s->call, NULL);
}

/* --- Messages ------------------------------------------------------------ */

/**
 * am_stream_send() - send a message
 * @s: stream
 * @msg: message
 *
 * Return: false if that was not possible.
 */
bool am_stream_send(struct am_stream *s, const struct am_message *msg)
{
	const struct am_message brief = { .heartbeat = true, .brief = true };
	grpc_op op = { .op = GRPC_OP_SEND_MESSAGE };
	grpc_byte_buffer *buf;
	grpc_slice slice;
	uint8_t *data;
	size_t len;
	bool done;

	if (msg->heartbeat && s->brief)
		msg = &brief;
	if (am_rank_pack(msg, &data, &len))
		return false;
	slice = grpc_slice_from_copied_buffer((char *)data, len);
	free(data);
	buf = grpc_raw_byte_buffer_create(&slice, 1);
	grpc_slice_unref(slice);
	op.data.send_message.send_message = buf;
	done = batch(s, &op, 1, &tag_up);
	grpc_byte_buffer_destroy(buf);
	return done;
}

static int unpack(grpc_byte_buffer *buf, struct am_message *msg)
{
	grpc_byte_buffer_reader reader;
	grpc_slice slice;
	int ret;

	if (!grpc_byte_buffer_reader_init(&reader, buf))
		return -EPROTO;
	slice = grpc_byte_buffer_reader_readall(&reader);
	ret = am_manager_unpack(GRPC_SLICE_START_PTR(slice),
				GRPC_SLICE_LENGTH(slice), msg);
	grpc_slice_unref(slice);
	grpc_byte_buffer_reader_destroy(&reader);
	return ret;
}

/**
 * am_stream_receive() - wait for a message
 * @s: stream
 * @msg: result
 *
 * Return: 0; -ENOTCONN if there are no more, and am_stream_status() says why; or
 * that of am_manager_unpack().
 */
int am_stream_receive(struct am_stream *s, struct am_message *msg)
{
	grpc_byte_buffer *buf = NULL;
	grpc_op ops[2] = { { .op = GRPC_OP_RECV_MESSAGE } };
	int ret = -ENOTCONN;
	size_t n = 1;

	ops[0].data.recv_message.recv_message = &buf;
	if (!s->begun) {
		ops[n].op = GRPC_OP_RECV_INITIAL_METADATA;
		ops[n++].data.recv_initial_metadata.recv_initial_metadata =
			&s->initial;
	}
	s->begun = true;
	*msg = (struct am_message){ .heartbeat = false };
	if (batch(s, ops, n, &tag_down) && buf)
		ret = unpack(buf, msg);
	if (!ret && msg->brief)
		s->brief = true;
	if (buf)
		grpc_byte_buffer_destroy(buf);
	return ret;
}

/**
 * am_stream_status() - wait for a stream's end
 * @s: stream
 * @text: result: why, to be freed
 *
 * Return: gRPC's status.
 */
int am_stream_status(struct am_stream *s, char **text)
{
	grpc_op op = { .op = GRPC_OP_RECV_STATUS_ON_CLIENT };
	grpc_metadata_array trailing;
	grpc_slice details = grpc_empty_slice();
	grpc_status_code status = GRPC_STATUS_UNKNOWN;

	grpc_metadata_array_init(&trailing);
	op.data.recv_status_on_client.trailing_metadata = &trailing;
	op.data.recv_status_on_client.status = &status;
	op.data.recv_status_on_client.status_details = &details;
	if (!batch(s, &op, 1, &tag_status))
		status = GRPC_STATUS_CANCELLED;
	*text = strndup((const char *)GRPC_SLICE_START_PTR(details),
			GRPC_SLICE_LENGTH(details));
	grpc_slice_unref(details);
	grpc_metadata_array_destroy(&trailing);
	return (int)status;
}
