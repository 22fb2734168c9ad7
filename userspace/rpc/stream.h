/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A call, for server.c, which takes input, and stream.c, which sends.
 */
#ifndef INC_MANAGER_STREAM_H
#define INC_MANAGER_STREAM_H

#include <sys/queue.h>

#include "rpc/creds.h"
#include "rpc/rpc.h"
#include "http2/h2.h"

LIST_HEAD(rpc_streams, rpc_stream);

/**
 * struct rpc - the server
 * @loop: main loop
 * @self: the server's name in texts
 * @server: serves connections
 * @creds: certificates and tokens of callers
 * @handler: callbacks
 * @ctx: their first argument
 * @calls: number of streams that are not freed
 * @watched: streams with a watcher that have not ended
 */
struct rpc {
	struct loop			*loop;
	const char			*self;
	struct h2_server		*server;
	struct creds			*creds;
	const struct rpc_handler	*handler;
	void				*ctx;
	unsigned int			calls;
	struct rpc_streams		watched;
};

/**
 * struct rpc_stream - a call: a request, or a stream
 * @rpc: server
 * @method: index of the method; RPC_METHODS: Join
 * @peer: address of the client
 * @who: identity of the client
 * @cert: certificate of the client, or NULL
 * @call: call; NULL: it is over
 * @work: calls the user back in the main loop
 * @beat_at: milliseconds; when the last heartbeat arrived; 0: none yet
 * @got_message: a message has arrived
 * @half_closed: the client sends no more
 * @vanished: see rpc_stream_vanished()
 * @finished: the user has ended it, or knows of its end
 * @user: user data
 * @watch: sender of a stream as answer; NULL: none, or not yet
 * @watched: links in the server's @watched
 */
struct rpc_stream {
	struct rpc		*rpc;
	int			method;
	char			peer[80];
	struct identity		who;
	X509			*cert;
	struct h2_call		*call;
	struct loop_work	work;
	int64_t			beat_at;
	bool			got_message;
	bool			half_closed;
	bool			vanished;
	bool			finished;
	void			*user;
	struct rpc_watch	*watch;
	LIST_ENTRY(rpc_stream)	watched;
};

void stream_post(struct rpc_stream *s);
int stream_adopt(struct rpc_stream *s, uint8_t *data, size_t len);
void stream_mark_finished(struct rpc_stream *s);

#endif /* INC_MANAGER_STREAM_H */
