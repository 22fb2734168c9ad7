/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A gRPC server on libnghttp2 and OpenSSL. All of it, callbacks included, runs
 * in the main loop, where each connection has its turn in the lane of its
 * tenant or host.
 */
#ifndef INC_HTTP2_H2_H
#define INC_HTTP2_H2_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loop/loop.h"
#include "http2/share.h"
#include "http2/wire.h"

struct h2_server;
struct h2_conn;

/**
 * struct h2_chunk - a message being sent
 * @next: next one
 * @data: its bytes, to be freed
 * @len: their number
 * @sent: bytes sent of @head and @data
 * @head: prefix of gRPC
 */
struct h2_chunk {
	struct h2_chunk	*next;
	uint8_t		*data;
	size_t		len;
	size_t		sent;
	uint8_t		head[WIRE_HEAD];
};

/**
 * struct h2_in - request of a call
 * @path: method; empty: longer than any
 * @token: value of "authorization", or NULL; freed when @arrived has returned
 * @headers: bytes of its headers so far
 * @has_headers: all headers have arrived
 * @post: the method is POST
 * @grpc: the content-type is gRPC's
 * @packed: messages are compressed
 * @single: the client may send only one message; set by the handler
 * @bad_time: grpc-timeout is malformed
 * @silent: counted as SHARE_SILENT: no message has arrived yet
 * @half_closed: the client sends no more messages
 * @message: message being received
 */
struct h2_in {
	char			path[64];
	char			*token;
	size_t			headers;
	bool			has_headers, post, grpc, packed, bad_time;
	bool			single;
	bool			silent, half_closed;
	struct wire_message	message;
};

/**
 * struct h2_out - response of a call
 * @begun: headers were sent
 * @ending: the status is to be sent after @queue
 * @ended: the status was given to nghttp2
 * @progress_at: milliseconds; when output was taken last
 * @queue: messages to be sent
 * @tail: end of @queue
 * @n: length of @queue
 * @status: status code
 * @text: status message
 */
struct h2_out {
	bool			begun, ending, ended;
	int64_t			progress_at;
	struct h2_chunk		*queue, **tail;
	unsigned int		n;
	int			status;
	char			*text;
};

/**
 * struct h2_call - a call
 * @next: next one of its connection
 * @conn: connection
 * @id: stream ID
 * @user: the handler's data; NULL: no callbacks for this call
 * @share: shares that it counts towards
 * @counted: counted as SHARE_CALLS
 * @timer: deadline, or time limit for a client that neither sends nor reads
 * @born_at: milliseconds; when it arrived
 * @deadline: milliseconds; TIMER_NEVER: none
 * @reset: the client has reset the stream
 * @in: its request
 * @out: its response
 */
struct h2_call {
	struct h2_call		*next;
	struct h2_conn		*conn;
	int32_t			id;
	void			*user;
	struct share_set	share;
	bool			counted;
	struct timer		timer;
	int64_t			born_at, deadline;
	bool			reset;
	struct h2_in		in;
	struct h2_out		out;
};

/**
 * struct h2_handler - callbacks
 * @tls: get the TLS context, valid until the next call; NULL: no TLS
 * @arrived: a call has arrived; the handler may finish it, or set @user
 * @message: a message of a call has arrived
 * @half_closed: the client sends no more messages
 * @drained: all messages were given to nghttp2
 * @gone: the call is over; it is freed afterwards
 * @refused: a connection was refused, or its handshake failed
 * @cut: a connection was cut
 *
 * @message to @gone are called only for calls with @user.
 */
struct h2_handler {
	SSL_CTX *(*tls)(void *ctx);
	void (*arrived)(void *ctx, struct h2_call *call);
	void (*message)(struct h2_call *call, const uint8_t *data, size_t len);
	void (*half_closed)(struct h2_call *call);
	void (*drained)(struct h2_call *call);
	void (*gone)(struct h2_call *call);
	void (*refused)(void *ctx, const char *peer, const char *why);
	void (*cut)(void *ctx, const char *peer, const char *why);
};

struct h2_server *h2_new(struct loop *loop, const char *self,
			 const struct h2_handler *handler, void *ctx);
int h2_listen(struct h2_server *s, const char *address, char *err, size_t len);
void h2_unlisten(struct h2_server *s);
bool h2_stop(struct h2_server *s);
void h2_close(struct h2_server *s);
void h2_free(struct h2_server *s);
void h2_attach(struct h2_server *s, int fd, const char *host, int port);
uint64_t h2_cuts(void);
uint64_t h2_drops(void);

const char *h2_peer(const struct h2_call *call);
int h2_fd(const struct h2_call *call);
bool h2_vanished(const struct h2_call *call);
X509 *h2_cert(const struct h2_call *call);
bool h2_admit(struct h2_call *call, const char *tenant, char *why, size_t len);
void h2_begin(struct h2_call *call);
void h2_send(struct h2_call *call, struct h2_chunk *c);
void h2_finish(struct h2_call *call, int status, const char *text);
void h2_cancel(struct h2_call *call);
bool h2_count(struct h2_call *call, int64_t n, size_t bytes, const char *why);

#endif /* INC_HTTP2_H2_H */
