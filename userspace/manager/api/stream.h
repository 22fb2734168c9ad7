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
 * @check_files: look at the certificate's files, too
 * @reports: refusals and cuts that the main loop does not know yet
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
	_Atomic bool			check_files;
	_Atomic unsigned int		reports;
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
 * @beat_at: milliseconds; when the last heartbeat came, 0: none has
 *
 * Of the thread that serves connections:
 * @call: call, NULL: it is over
 * @share: then, whose it was
 * @counted: and it counts as a call
 * @handed_over: the main loop knows of it, or will, and has to let go of it
 * @got_message: a message has come; used by the other thread only
 * @taken: messages that it has taken from @out
 *
 * Under the lock:
 * @work: has the main loop come by
 * @posted: it will
 * @inbox: messages
 * @inbox_end: end of them
 * @inbox_len: their number
 * @inbox_full: the client waits until they are taken
 * @half_closed: the client says no more
 * @gone: the call is over
 * @vanished: not by the client's word
 * @next_called: next one for which the main loop has something
 * @is_called: it is one of them
 * @out: messages to be sent
 * @out_end: end of them
 * @ending: @status and @text are to be sent after them
 * @status: gRPC's number of how the call has ended
 * @text: and why
 * @released: the main loop has heard of @gone, and let go of it
 *
 * Of the main loop:
 * @opened: it was counted in @rpc->calls; of a rank, the handler knows it
 * @finished: the user has ended it, or knows that it has ended
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
	_Atomic int64_t		beat_at;

	struct h2_call		*call;
	struct share_set	share;
	bool			counted;
	bool			handed_over;
	bool			got_message;
	unsigned int		taken;

	struct loop_work	work;
	bool			posted;
	struct rpc_inbox	*inbox, **inbox_end;
	unsigned int		inbox_len;
	bool			inbox_full;
	bool			half_closed;
	bool			gone;
	bool			vanished;
	struct rpc_stream	*next_called;
	bool			is_called;
	struct h2_chunk		*out, **out_end;
	bool			ending;
	bool			released;
	int			status;
	char			*text;

	bool			opened;
	bool			finished;
	void			*user;
	struct rpc_watch	*watch;
	LIST_ENTRY(rpc_stream)	watched;
	unsigned int		sent;
	_Atomic unsigned int	drained;
};

void stream_call(struct rpc_stream *s);
int stream_adopt(struct rpc_stream *s, uint8_t *data, size_t len);
void stream_mark_finished(struct rpc_stream *s);
void stream_free(struct rpc_stream *s);

#endif /* INC_MANAGER_STREAM_H */
