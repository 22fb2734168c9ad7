/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A gRPC client's end of HTTP/2, by nghttp2, with one call at a time. No I/O.
 */
#ifndef INC_HTTP2_CLIENT_H
#define INC_HTTP2_CLIENT_H

#include <nghttp2/nghttp2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http2/wire.h"

/**
 * struct http2_message - a message received
 * @next: next one
 * @data: its bytes
 * @len: their number
 */
struct http2_message {
	struct http2_message	*next;
	uint8_t			*data;
	size_t			len;
};

/**
 * struct http2 - a client's HTTP/2 session
 * @h2: nghttp2's session
 * @has_settings: SETTINGS have arrived: the server speaks HTTP/2
 * @draining: GOAWAY has arrived: no more calls on this connection
 * @not_http2: the server speaks another protocol
 * @pull: copies messages to be sent into @buf; sets @end after the last one.
 *	Returns the number of bytes; 0: none now
 * @ctx: first argument of @pull
 * @id: stream ID of the call; 0: none yet
 * @half_closed: all messages of the client were sent
 * @call_ended: the call has ended
 * @header_status: grpc-status of trailers being received; -1: none
 * @status: the call's status code
 * @has_status: @status is the server's
 * @text: status message, or NULL
 * @message: message being received
 * @queue: messages received
 * @tail: end of @queue
 */
struct http2 {
	nghttp2_session		*h2;
	bool			has_settings;
	bool			draining;
	bool			not_http2;
	size_t			(*pull)(void *ctx, uint8_t *buf, size_t len,
					bool *end);
	void			*ctx;
	int32_t			id;
	bool			half_closed;
	bool			call_ended;
	int			header_status;
	int			status;
	bool			has_status;
	char			*text;
	struct wire_message	message;
	struct http2_message	*queue, **tail;
};

/**
 * struct http2_call - a call
 * @path: its method, "/package.Service/Method"
 * @authority: the server's name
 * @tls: the call goes over TLS
 * @token: bearer token, or NULL
 * @timeout_ms: time limit; 0: none
 */
struct http2_call {
	const char	*path;
	const char	*authority;
	bool		tls;
	const char	*token;
	int		timeout_ms;
};

int http2_open(struct http2 *s);
void http2_close(struct http2 *s);
int http2_begin(struct http2 *s, const struct http2_call *call);
void http2_resume(struct http2 *s);
void http2_ping(struct http2 *s);
void http2_goaway(struct http2 *s);
void http2_cancel(struct http2 *s);
void http2_reject(struct http2 *s, const char *text);
void http2_take(struct http2 *s, const uint8_t *data, size_t len);
bool http2_has_ended(const struct http2 *s);
ssize_t http2_give(struct http2 *s, const uint8_t **data);
bool http2_message(struct http2 *s, uint8_t **data, size_t *len);
void http2_finish(struct http2 *s, int status, const char *text);

#endif /* INC_HTTP2_CLIENT_H */
