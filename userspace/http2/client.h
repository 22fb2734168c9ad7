/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A client's end of gRPC over HTTP/2, by nghttp2, with one call at a time. No I/O.
 */
#ifndef INC_HTTP2_CLIENT_H
#define INC_HTTP2_CLIENT_H

#include <nghttp2/nghttp2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http2/wire.h"

/**
 * struct http2_message - a message that has come
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
 * struct http2 - a connection's HTTP/2
 * @h2: nghttp2's
 * @has_settings: the server speaks HTTP/2
 * @draining: it takes no more calls
 * @not_http2: it speaks something else
 * @pull: copies what is to be sent into @buf; sets @end behind the last message.
 *	Returns the number of bytes, 0: none now
 * @ctx: its first argument
 * @id: stream of the call; 0: there was none
 * @half_closed: all was sent that is to be
 * @call_ended: the call has ended
 * @header_status: status in the headers that are coming, if they end the call
 * @status: its status, one of gRPC's
 * @has_status: the server gave it
 * @text: and its text, or NULL
 * @message: message that is coming
 * @queue: messages that have come
 * @tail: their end
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
 * @tls: it is called over TLS
 * @token: or NULL
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
