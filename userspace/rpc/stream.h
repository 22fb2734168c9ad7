/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A call, for server.c, which takes what comes, and stream.c, which sends.
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
 * @self: what it is called
 * @server: serves connections
 * @creds: who may call
 * @handler: callbacks
 * @ctx: their first argument
 * @calls: streams that are not freed
 * @watched: those of them that somebody sends, and that have not ended
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
 * @method: RPC_METHODS: a rank's stream
 * @peer: address of the client
 * @who: who it is
 * @cert: its certificate, or NULL
 * @call: call, NULL: it is over
 * @work: tells the user what has happened since its last message
 * @beat_at: milliseconds; when the last heartbeat came, 0: none has
 * @got_message: a message has come
 * @half_closed: the client says no more
 * @vanished: the call was not ended by the client's word
 * @finished: the user has ended it, or knows that it has ended
 * @user: rpc_stream_set()
 * @watch: if the answer is a stream: who sends it; NULL: nobody, or not yet
 * @watched: among those of the server
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
