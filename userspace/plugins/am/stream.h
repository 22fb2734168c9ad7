/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A stream of messages to a manager, over gRPC. One thread may send while another
 * one receives.
 */
#ifndef INC_AM_STREAM_H
#define INC_AM_STREAM_H

#include <grpc/grpc.h>

#include "auth/client.h"
#include "manager/api/message.h"

struct am_tls;

/**
 * struct am_stream - a stream
 * @tcp: socket of the connection; -1: none
 * @owned: it is gRPC's, or @tls's, and ends with them
 * @tls: TLS on it, or NULL
 * @channel: connection
 * @cq: completion queue of the call
 * @call: the call; NULL: the stream is not open
 * @begun: @initial is on its way, or here
 * @initial: initial metadata of the manager
 * @brief: it takes an empty message as a heartbeat
 */
struct am_stream {
	int			tcp;
	bool			owned;
	struct am_tls		*tls;
	grpc_channel		*channel;
	grpc_completion_queue	*cq;
	grpc_call		*call;
	bool			begun;
	grpc_metadata_array	initial;
	_Atomic bool		brief;
};

void am_stream_init(void);
void am_stream_exit(void);
int am_stream_open(struct am_stream *s, const char *manager,
		   const struct auth_client *auth, char *err, size_t err_len);
void am_stream_close(struct am_stream *s);
void am_stream_forked(struct am_stream *s);
void am_stream_cancel(struct am_stream *s);
bool am_stream_send(struct am_stream *s, const struct am_message *msg);
int am_stream_receive(struct am_stream *s, struct am_message *msg);
int am_stream_status(struct am_stream *s, char **text);

#endif /* INC_AM_STREAM_H */
