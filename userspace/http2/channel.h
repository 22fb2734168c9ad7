/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * gRPC calls of a client, one at a time, over a connection that lasts for
 * several. One thread calls all functions, except channel_send(),
 * channel_half() and channel_cancel(), which any thread may call during a call.
 */
#ifndef INC_HTTP2_CHANNEL_H
#define INC_HTTP2_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "http2/fault.h"
#include "http2/wire.h"
#include "tls/tls.h"

struct channel;

/**
 * struct channel_how - how to reach a server
 * @address: HOST, HOST:PORT, [ADDRESS]:PORT or unix:PATH; HOST must be a name
 *	or an address in the server's certificate
 * @port: port if @address has none
 * @program: the server's program, for error texts; constant
 * @tls: TLS parameters; no TLS without @tls.ca
 * @token: the client's bearer token, or NULL
 * @connect_ms: milliseconds to connect; 0: all of the call's
 * @ask_ms: milliseconds of silence before the server is sent a PING; 0: never
 * @answer_ms: milliseconds for its answer, or the connection is lost
 * @nowait: channel_try() takes the messages, and one thread at a time calls any
 *	function
 */
struct channel_how {
	const char		*address;
	int			port;
	const char		*program;
	struct inc_tls_how	tls;
	const char		*token;
	int			connect_ms;
	int			ask_ms;
	int			answer_ms;
	bool			nowait;
};

struct channel *channel_new(const struct channel_how *how, char *err,
			    size_t err_len);
void channel_free(struct channel *c);
void channel_adopt(struct channel *c, int fd);
void channel_begin(struct channel *c, const char *path, int timeout_ms);
bool channel_send(struct channel *c, const uint8_t *data, size_t len);
void channel_patience(struct channel *c, int answer_ms);
void channel_half(struct channel *c);
void channel_cancel(struct channel *c);
bool channel_receive(struct channel *c, uint8_t **data, size_t *len);
int channel_try(struct channel *c, uint8_t **data, size_t *len);
void channel_flush(struct channel *c);
int channel_fd(const struct channel *c);
short channel_events(const struct channel *c);
int64_t channel_alarm(const struct channel *c);
int channel_status(struct channel *c, const char **text, enum fault *fault);
bool channel_call(struct channel *c, const char *path, int timeout_ms,
		  const uint8_t *in, size_t in_len, uint8_t **out,
		  size_t *out_len);
int channel_own_addr(const struct channel *c, struct sockaddr_storage *ss);
void channel_forked(struct channel *c);

#endif /* INC_HTTP2_CHANNEL_H */
