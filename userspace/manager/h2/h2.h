/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A gRPC server on libnghttp2 and OpenSSL. It has a thread of its own, which alone
 * touches connections and calls, and calls all callbacks.
 */
#ifndef INC_MANAGER_H2_H2_H
#define INC_MANAGER_H2_H2_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/timer.h"
#include "h2/share.h"
#include "channel/wire.h"

struct h2_server;
struct h2_conn;

/**
 * struct h2_chunk - a message that is sent
 * @next: next one
 * @data: its bytes, to be freed
 * @len: their number
 * @sent: of them and the head
 * @head: what goes before it
 */
struct h2_chunk {
	struct h2_chunk	*next;
	uint8_t		*data;
	size_t		len;
	size_t		sent;
	uint8_t		head[WIRE_HEAD];
};

/**
 * struct h2_call - a call
 * @next: next one of its connection
 * @conn: connection
 * @id: its stream
 * @path: method; empty: its name is too long for any
 * @token: value of "authorization", or NULL; until @arrived has returned
 * @user: the handler's; NULL: it does not care
 * @share: whose it is
 * @timer: deadline, silence, a client that does not read
 * @headers: bytes of its headers
 * @has_headers: all of them have come
 * @post: it is a POST
 * @grpc: its content-type is gRPC's
 * @packed: its messages are compressed
 * @bad_time: its timeout cannot be understood
 * @counted: it is one of SHARE_CALLS
 * @silent: of SHARE_SILENT: no message has come yet
 * @half_closed: the client says no more
 * @begun: headers were sent
 * @ending: the status is to be sent after @queue
 * @ended: it was
 * @reset: by the client
 * @born_at: milliseconds; when it came
 * @deadline: likewise; when it is over, TIMER_NEVER: it has none
 * @progress_at: likewise; when the client took something last
 * @message: message that arrives
 * @unopened: bytes for which the window is not opened
 * @full: as long as this is set
 * @queue: messages to be sent
 * @tail: end of them
 * @queued: their number
 * @status: status
 * @text: and its text
 */
struct h2_call {
	struct h2_call		*next;
	struct h2_conn		*conn;
	int32_t			id;
	char			path[64];
	char			*token;
	void			*user;
	struct share_set	share;
	struct timer		timer;
	size_t			headers;
	bool			has_headers, post, grpc, packed, bad_time;
	bool			counted, silent, half_closed;
	bool			begun, ending, ended, reset;
	int64_t			born_at, deadline, progress_at;
	struct wire_message	message;
	size_t			unopened;
	bool			full;
	struct h2_chunk		*queue, **tail;
	unsigned int		queued;
	int			status;
	char			*text;
};

/**
 * struct h2_handler - callbacks
 * @tls: get how to speak TLS, valid until the next call; NULL: not at all
 * @arrived: a call has come; it may be finished, or get @user
 * @message: a message of it; @data is the handler's. Returns whether the client
 *	has to wait with more, until h2_release()
 * @half_closed: the client says no more
 * @drained: all that was sent is on its way
 * @gone: the call is over, and freed afterwards
 * @work: h2_wake() was called
 * @refused: a connection could not be made
 * @cut: a connection was cut
 *
 * @message to @gone are for calls with @user only.
 */
struct h2_handler {
	SSL_CTX *(*tls)(void *ctx);
	void (*arrived)(void *ctx, struct h2_call *call);
	bool (*message)(struct h2_call *call, uint8_t *data, size_t len);
	void (*half_closed)(struct h2_call *call);
	void (*drained)(struct h2_call *call);
	void (*gone)(struct h2_call *call);
	void (*work)(void *ctx);
	void (*refused)(void *ctx, const char *peer, const char *why);
	void (*cut)(void *ctx, const char *peer, const char *why);
};

struct h2_server *h2_new(const struct h2_handler *handler, void *ctx);
int h2_listen(struct h2_server *s, const char *address, char *err, size_t len);
void h2_unlisten(struct h2_server *s);
int h2_start(struct h2_server *s);
void h2_wake(struct h2_server *s);
bool h2_stop(struct h2_server *s);
void h2_join(struct h2_server *s);
void h2_free(struct h2_server *s);
bool h2_turn(struct h2_server *s, int ms);
void h2_attach(struct h2_server *s, int fd, const char *host, int port);
uint64_t h2_cuts(void);
uint64_t h2_drops(void);
int64_t h2_now(const struct h2_server *s);

const char *h2_peer(const struct h2_call *call);
bool h2_vanished(const struct h2_call *call);
X509 *h2_cert(const struct h2_call *call);
bool h2_admit(struct h2_call *call, const char *tenant, char *why, size_t len);
void h2_begin(struct h2_call *call);
void h2_send(struct h2_call *call, struct h2_chunk *c);
void h2_finish(struct h2_call *call, int status, const char *text);
void h2_cancel(struct h2_call *call);
void h2_release(struct h2_call *call);
bool h2_count(struct h2_call *call, int64_t n, size_t bytes, const char *why);

#endif /* INC_MANAGER_H2_H2_H */
