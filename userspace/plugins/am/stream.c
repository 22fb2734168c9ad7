// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See stream.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "auth/address.h"
#include "rpc/hint.h"
#include "stream.h"

/*
 * Open a stream.
 * @program: name of the expected peer for messages, constant string
 * @asks: ping the manager to detect a hang, as another one could take over
 * @tcp: connection to the manager; @s owns it, or it is closed on failure
 * @err_len: size of @err in bytes
 */
int am_stream_open(struct am_stream *s, int tcp, const char *manager,
		   const char *program, const struct auth_client *auth,
		   bool asks, char *err, size_t err_len)
{
	/* A hung manager keeps its connections: only a ping detects that. */
	const struct channel_how how = {
		.address	= manager,
		.program	= program,
		.tls		= am_tls(auth),
		.token		= auth->token,
		.ask_ms		= asks ? AM_ASK_MS : 0,
		.answer_ms	= AM_ANSWER_MS,
		.nowait		= true,
	};

	if ((auth->token || auth->job_key) && !auth->ca &&
	    !inc_auth_peer_is_loopback(tcp))
		snprintf(err, err_len, "a %s is sent over TLS only: set %s_CA or %s_CERTS",
			 auth->token ? "token" : "job's key (INC_JOB_KEY)",
			 auth->prefix, auth->prefix);
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

/* Choose how long a silent manager may take to answer. */
void am_stream_patience(struct am_stream *s, int answer_ms)
{
	channel_patience(s->channel, answer_ms);
}

/* Close a stream, if it is open. */
void am_stream_close(struct am_stream *s)
{
	struct channel *c = s->channel;

	/* A child of fork() must not find the freed channel. */
	s->channel = NULL;
	s->brief = false;
	channel_free(c);
}

/* Close a child's copies of a stream's descriptors. */
void am_stream_forked(struct am_stream *s)
{
	if (s->channel)
		channel_forked(s->channel);
}

/* Send a message, without waiting. Lost if the stream has ended. */
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

static int take(struct am_stream *s, uint8_t *data, size_t len,
		struct am_message *msg)
{
	int ret = am_manager_unpack(data, len, msg);

	free(data);
	if (!ret && msg->brief)
		s->brief = true;
	return ret;
}

/*
 * Receive a message. Does not wait. Returns 0; -EAGAIN: none yet; -ENOMSG: to be
 * ignored; -EPROTO: malformed; -ENOTCONN: the stream has ended.
 */
int am_stream_try(struct am_stream *s, struct am_message *msg)
{
	uint8_t *data;
	size_t len;
	int ret = channel_try(s->channel, &data, &len);

	*msg = (struct am_message){ .heartbeat = false };
	return ret ? ret : take(s, data, len, msg);
}

/*
 * Get why a stream has ended. Returns the gRPC status.
 * @s: stream; if it has not ended, it is cancelled
 * @text: result: why, until @s is closed
 * @fault: result: transport fault; FAULT_NONE: @text is the manager's
 */
int am_stream_status(struct am_stream *s, const char **text,
		     enum fault *fault)
{
	return channel_status(s->channel, text, fault);
}
