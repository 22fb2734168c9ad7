/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A call, for server.c, which takes what comes, and stream.c, which sends.
 */
#ifndef INC_MANAGER_STREAM_H
#define INC_MANAGER_STREAM_H

#include <pthread.h>
#include <sys/queue.h>

#include "api/creds.h"
#include "api/rpc.h"
#include "h2/h2.h"

LIST_HEAD(rpc_streams, rpc_stream);

/**
 * struct rpc - the server
 * @loop: main loop
 * @server: serves connections, in a thread of its own
 * @creds: who may call
 * @handler: callbacks
 * @ctx: their first argument
 * @lock: guards what the two threads have for each other
 * @called: streams for which the main loop has something
 * @calls: streams that the main loop knows
 * @watched: those of them that somebody sends, and that have not ended
 * @look: look at the certificate's files, too
 * @telling: refusals and cuts that it does not know yet
 */
struct rpc {
	struct loop			*loop;
	struct h2_server		*server;
	struct creds			*creds;
	const struct rpc_handler	*handler;
	void				*ctx;
	pthread_mutex_t			lock;
	struct rpc_stream		*called;
	unsigned int			calls;
	struct rpc_streams		watched;
	_Atomic bool			look;
	_Atomic unsigned int		telling;
};

/**
 * struct rpc_inbox - a message for the main loop
 * @next: next one
 * @data: its bytes
 * @len: their number
 */
struct rpc_inbox {
	struct rpc_inbox	*next;
	uint8_t			*data;
	size_t			len;
};

/**
 * struct rpc_stream - a call: a request, or a stream
 *
 * @rpc: server
 * @method: RPC_METHODS: a rank's stream
 * @peer: address of the client
 * @who: who it is
 * @cert: its certificate, or NULL
 * @heard: milliseconds; when the last heartbeat came, 0: none has
 *
 * Of the thread that serves connections:
 * @call: call, NULL: it is over
 * @share: then, whose it was
 * @counted: and it counts as a call
 * @seen: it has something for the main loop, or has had
 * @spoke: a message has come; used by the other thread only
 * @taken: messages that it has taken from @out
 *
 * Under the lock:
 * @work: has the main loop come by
 * @posted: it will
 * @inbox: messages
 * @inbox_end: end of them
 * @inboxed: their number
 * @full: the client waits until they are taken
 * @half: the client says no more
 * @gone: the call is over
 * @next_called: next one for which the main loop has something
 * @is_called: it is one of them
 * @out: messages to be sent
 * @out_end: end of them
 * @ending: @status and @text are to be sent after them
 * @status: gRPC's number of how the call has ended
 * @text: and why
 * @over: the main loop has heard of @gone
 *
 * Of the main loop:
 * @known: it knows the stream
 * @told: the user knows that it has ended
 * @user: rpc_stream_set()
 * @watch: if the answer is a stream: who sends it; NULL: nobody, or not yet
 * @watched: among those of the server
 * @sent: messages that were put into @out
 * @drained: of these, those that are on their way, and all before them
 */
struct rpc_stream {
	struct rpc		*rpc;
	int			method;
	char			peer[80];
	struct identity		who;
	X509			*cert;
	_Atomic int64_t		heard;

	struct h2_call		*call;
	struct share_set	share;
	bool			counted;
	bool			seen;
	bool			spoke;
	unsigned int		taken;

	struct loop_work	work;
	bool			posted;
	struct rpc_inbox	*inbox, **inbox_end;
	unsigned int		inboxed;
	bool			full;
	bool			half;
	bool			gone;
	struct rpc_stream	*next_called;
	bool			is_called;
	struct h2_chunk		*out, **out_end;
	bool			ending;
	bool			over;
	int			status;
	char			*text;

	bool			known;
	bool			told;
	void			*user;
	struct rpc_watch	*watch;
	LIST_ENTRY(rpc_stream)	watched;
	unsigned int		sent;
	_Atomic unsigned int	drained;
};

void stream_call(struct rpc_stream *s);
int stream_adopt(struct rpc_stream *s, uint8_t *data, size_t len);
void stream_told(struct rpc_stream *s);
void stream_free(struct rpc_stream *s);

#endif /* INC_MANAGER_STREAM_H */
