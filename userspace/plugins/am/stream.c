// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See stream.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "auth/address.h"
#include "manager/api/hint.h"
#include "stream.h"

/**
 * am_stream_open() - open a stream
 * @s: stream, closed
 * @tcp: connection to the manager; is @s's, or closed on failure
 * @manager: address of the manager
 * @auth: what proves who the rank is
 * @err: error message
 * @err_len: size of @err in bytes
 *
 * Return: 0 or a negative errno value.
 */
int am_stream_open(struct am_stream *s, int tcp, const char *manager,
		   const struct auth_client *auth, char *err, size_t err_len)
{
	/* A manager that hangs keeps its connections: only a ping tells. */
	const struct channel_how how = {
		.address	= manager,
		.program	= "inc-amd",
		.tls		= am_tls(auth),
		.token		= auth->token,
		.ask_ms		= AM_ASK_MS,
		.answer_ms	= AM_ANSWER_MS,
	};

	/* Of several managers each is asked, also while the job runs. */
	if (auth->token && !auth->ca && !inc_auth_peer_is_loopback(tcp))
		snprintf(err, err_len, "a token is sent over TLS only: set INC_AM_CA or INC_AM_CERTS");
	else
		s->channel = channel_new(&how, err, err_len);
	if (!s->channel) {
		close(tcp);
		return -EINVAL;
	}
	channel_adopt(s->channel, tcp);
	channel_begin(s->channel, AM_JOIN, 0);
	return 0;
}

/**
 * am_stream_close() - close a stream, if it is open
 * @s: stream
 */
void am_stream_close(struct am_stream *s)
{
	struct channel *c = s->channel;

	/* A child of fork() must not find what is freed. */
	s->channel = NULL;
	s->brief = false;
	channel_free(c);
}

/**
 * am_stream_forked() - close a child's copies of a stream's descriptors
 * @s: stream of the parent
 */
void am_stream_forked(struct am_stream *s)
{
	if (s->channel)
		channel_forked(s->channel);
}

/**
 * am_stream_cancel() - have all that waits for a stream return
 * @s: stream, open or not
 */
void am_stream_cancel(struct am_stream *s)
{
	if (s->channel)
		channel_cancel(s->channel);
}

/**
 * am_stream_send() - send a message
 * @s: stream
 * @msg: message
 *
 * Does not wait; what a stream that has ended is given is lost.
 */
void am_stream_send(struct am_stream *s, const struct am_message *msg)
{
	const struct am_message brief = { .heartbeat = true, .brief = true };
	uint8_t *data;
	size_t len;

	if (msg->heartbeat && s->brief)
		msg = &brief;
	if (am_rank_pack(msg, &data, &len))
		return;
	channel_send(s->channel, data, len);
	free(data);
}

/**
 * am_stream_receive() - wait for a message
 * @s: stream
 * @msg: result
 *
 * Return: 0; -ENOTCONN if there are no more, and am_stream_status() says why;
 * or what am_manager_unpack() returns.
 */
int am_stream_receive(struct am_stream *s, struct am_message *msg)
{
	uint8_t *data;
	size_t len;
	int ret;

	*msg = (struct am_message){ .heartbeat = false };
	if (!channel_receive(s->channel, &data, &len))
		return -ENOTCONN;
	ret = am_manager_unpack(data, len, msg);
	free(data);
	if (!ret && msg->brief)
		s->brief = true;
	return ret;
}

/**
 * am_stream_status() - get why a stream has ended
 * @s: stream; if it has not ended, it is cancelled
 * @text: result: why, until @s is closed
 * @fault: result: what was wrong on the way; FAULT_NONE: the manager says @text
 *
 * Return: gRPC's status.
 */
int am_stream_status(struct am_stream *s, const char **text,
		     enum fault *fault)
{
	return channel_status(s->channel, text, fault);
}
