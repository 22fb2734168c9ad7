/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A stream of messages to a manager. One thread may send while another one
 * receives.
 */
#ifndef INC_AM_STREAM_H
#define INC_AM_STREAM_H

#include "auth/client.h"
#include "channel/channel.h"
#include "manager/api/message.h"

/**
 * struct am_stream - a stream
 * @channel: its connection; NULL: the stream is not open
 * @brief: the manager takes an empty message as a heartbeat
 */
struct am_stream {
	struct channel	*channel;
	_Atomic bool	brief;
};

int am_stream_open(struct am_stream *s, int tcp, const char *manager,
		   const struct auth_client *auth, char *err, size_t err_len);
void am_stream_close(struct am_stream *s);
void am_stream_forked(struct am_stream *s);
void am_stream_cancel(struct am_stream *s);
void am_stream_send(struct am_stream *s, const struct am_message *msg);
int am_stream_receive(struct am_stream *s, struct am_message *msg);
int am_stream_status(struct am_stream *s, const char **text,
		     enum fault *fault);

#endif /* INC_AM_STREAM_H */
