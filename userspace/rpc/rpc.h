/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The coordinators' interface to gRPC, for inc-amd and inc-tool serve, above
 * server.c, stream.c, creds.c and the folder http2. All functions and callbacks
 * run in the main loop.
 */
#ifndef INC_MANAGER_RPC_H
#define INC_MANAGER_RPC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "auth/identity.h"
#include "loop/loop.h"

struct rpc;
struct rpc_stream;

enum rpc_method {
	RPC_GET_TOPOLOGY,
	RPC_LIST_GROUPS,
	RPC_GET_GROUP,
	RPC_DELETE_GROUP,
	RPC_MOVE_GROUP,
	RPC_LIST_EVENTS,
	RPC_WATCH_EVENTS,
	RPC_WHY_GROUP,
	RPC_LIST_TASKS,
	RPC_WATCH_TASKS,
	RPC_GET_HISTORY,
	RPC_LIST_QUOTAS,
	RPC_ADD_RESERVATION,
	RPC_DELETE_RESERVATION,
	RPC_LIST_RESERVATIONS,
	RPC_DRAIN_SWITCH,
	RPC_RESUME_SWITCH,
	RPC_RENAME_SWITCH,
	RPC_HEALTH_CHECK,
	RPC_HEALTH_WATCH,
	RPC_METHODS
};

/**
 * struct rpc_security - proof that callers need
 * @cert: file with the manager's certificate, or NULL: no TLS
 * @key: file with its private key
 * @ca: file with the certificate of the authority of clients' certificates;
 *	NULL: clients need none
 * @crl: file with that authority's revocation list, or NULL
 * @tokens: file of tokens, or NULL: no tokens
 * @any_cert: any certificate of the authority will do, whoever owns it
 * @plaintext: everyone may call, even beyond loopback
 * @self: the server's name in texts to clients: manager or daemon
 * @env: prefix of the clients' environment variables
 */
struct rpc_security {
	const char	*cert;
	const char	*key;
	const char	*ca;
	const char	*crl;
	const char	*tokens;
	bool		any_cert;
	bool		plaintext;
	const char	*self;
	const char	*env;
};

/**
 * struct rpc_answer - the answer to a request
 * @data: bytes, to be freed by the server; NULL: see @err
 * @len: their number
 * @err: 0 or a positive errno value
 * @text: advice if @err is not 0
 * @later: rpc_stream_watch() was called, and rpc_stream_send() will answer
 * @who: the caller's identity; set by the server
 */
struct rpc_answer {
	uint8_t	*data;
	size_t	len;
	int	err;
	bool	later;
	char	text[512];
	const struct identity *who;
};

/**
 * struct rpc_watch - sender of a stream that answers a request
 * @writable: all messages are on their way: more may be sent. Slow readers
 *	cause fewer calls of it. NULL: not needed
 * @closed: the client is gone, or has lost its right to call, and
 *	rpc_stream_end() was not called; the stream must not be used afterwards
 * @stream: the stream; set by rpc_stream_watch()
 */
struct rpc_watch {
	void (*writable)(struct rpc_watch *w);
	void (*closed)(struct rpc_watch *w);
	struct rpc_stream *stream;
};

/**
 * struct rpc_handler - callbacks
 * @call: answer a request; if the answer is a stream, call
 *	rpc_stream_watch(@stream) or set @answer->err; NULL: there is Join only
 * @opened: a rank has opened a stream
 * @is_beat: tell whether a message of that stream is a heartbeat, of which only
 *	the time is kept: rpc_stream_beat_at()
 * @message: a message of that stream, other than a heartbeat
 * @closed: the stream has ended without rpc_stream_end(), and must not be used
 *	afterwards
 * @identified: a client that may call does so
 * @refused: a client was refused
 * @cut: a connection was cut because it took more than a client needs
 */
struct rpc_handler {
	void (*call)(void *ctx, enum rpc_method method, const uint8_t *data,
		     size_t len, struct rpc_stream *stream,
		     struct rpc_answer *answer);
	void (*opened)(void *ctx, struct rpc_stream *stream);
	bool (*is_beat)(const uint8_t *data, size_t len);
	void (*message)(void *ctx, struct rpc_stream *stream,
			const uint8_t *data, size_t len);
	void (*closed)(void *ctx, struct rpc_stream *stream);
	void (*identified)(void *ctx, const struct identity *who);
	void (*refused)(void *ctx, const char *peer, const char *why);
	void (*cut)(void *ctx, const char *peer, const char *why);
};

struct rpc *rpc_start(struct loop *loop, const char *address,
		      const struct rpc_security *how,
		      const struct rpc_handler *handler, void *ctx,
		      int *port, char *err, size_t err_len);
void rpc_refresh(struct rpc *rpc);
struct ssl_ctx_st *rpc_tls(struct rpc *rpc);
bool rpc_is_operator(struct rpc *rpc, const char *token);
void rpc_check_callers(struct rpc *rpc);
bool rpc_idle(const struct rpc *rpc);
void rpc_unlisten(struct rpc *rpc);
void rpc_stop(struct rpc *rpc);

void rpc_stream_send(struct rpc_stream *stream, const uint8_t *data,
		     size_t len);
void rpc_stream_watch(struct rpc_stream *stream, struct rpc_watch *watch);
bool rpc_stream_idle(const struct rpc_stream *stream);
void rpc_stream_end(struct rpc_stream *stream, int err, const char *text);
const struct identity *rpc_stream_identity(const struct rpc_stream *stream);
const char *rpc_stream_revoked(const struct rpc_stream *stream);
bool rpc_stream_vanished(const struct rpc_stream *stream);
int64_t rpc_stream_beat_at(const struct rpc_stream *stream);
int rpc_stream_fd(const struct rpc_stream *stream);
const char *rpc_stream_peer(const struct rpc_stream *stream);
void rpc_stream_set(struct rpc_stream *stream, void *data);
void *rpc_stream_get(const struct rpc_stream *stream);

#endif /* INC_MANAGER_RPC_H */
