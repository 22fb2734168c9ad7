/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A stream of messages to a coordinator. One thread at a time may use it.
 */
#ifndef INC_AM_STREAM_H
#define INC_AM_STREAM_H

#include "auth/client.h"
#include "http2/channel.h"
#include "rpc/message.h"

/**
 * struct am_stream - a stream
 * @channel: its connection; NULL: the stream is not open
 * @brief: the manager takes an empty message as a heartbeat
 */
struct am_stream {
	struct channel	*channel;
	bool		brief;
};

int am_stream_open(struct am_stream *s, int tcp, const char *manager,
		   const char *program, const struct auth_client *auth,
		   bool asks, char *err, size_t err_len);
int am_stream_try(struct am_stream *s, struct am_message *msg);
void am_stream_patience(struct am_stream *s, int answer_ms);
void am_stream_close(struct am_stream *s);
void am_stream_forked(struct am_stream *s);
void am_stream_send(struct am_stream *s, const struct am_message *msg);
int am_stream_status(struct am_stream *s, const char **text,
		     enum fault *fault);

#endif /* INC_AM_STREAM_H */
