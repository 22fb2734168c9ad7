/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A call, for grpc.c, which takes what comes, and stream.c, which sends.
 */
#ifndef INC_MANAGER_STREAM_H
#define INC_MANAGER_STREAM_H

#include <grpc/grpc.h>
#include <pthread.h>

#include "api/creds.h"
#include "api/rpc.h"
#include "api/share.h"

/* One connection's bytes take one of them; heartbeats go on. */
#define RPC_THREADS	3

/**
 * struct rpc - the server
 * @loop: main loop
 * @server: gRPC's server
 * @cq: queue of all completions
 * @threads: wait for them
 * @creds: who may call
 * @handler: callbacks
 * @ctx: their first argument
 * @stopping: no more calls are accepted
 * @calls: calls and streams that are not freed
 */
struct rpc {
	struct loop			*loop;
	grpc_server			*server;
	grpc_completion_queue		*cq;
	pthread_t			threads[RPC_THREADS];
	struct creds			*creds;
	const struct rpc_handler	*handler;
	void				*ctx;
	_Atomic bool			stopping;
	unsigned int			calls;
};

/**
 * struct batch - a batch of operations, and the tag of its completion
 * @work: hands the completion to the main loop
 * @call: call
 * @done: what to do then
 * @success: whether the operations succeeded
 */
struct batch {
	struct work		work;
	struct rpc_stream	*call;
	void			(*done)(struct rpc_stream *call, bool success);
	bool			success;
};

struct chunk {
	struct chunk		*next;
	grpc_byte_buffer	*buf;
};

/**
 * struct rpc_stream - a call: a request, a stream, or one of an unknown method
 * @rpc: server
 * @method: RPC_METHODS: a rank's stream; -1: unknown, or none has arrived yet
 * @call: gRPC's call; NULL: none has arrived yet
 * @metadata: the client's headers
 * @details: which method it wants
 * @buf: what was received
 * @cancelled: whether the client was gone at the end
 * @busy: batches that are not done
 * @peer: address of the client, gRPC's string
 * @who: who it is
 * @heard: milliseconds; when the last heartbeat came, 0: none has
 * @user: rpc_stream_set()
 * @watch: if the answer is a stream: who sends it; NULL: nobody, or not yet
 * @share: what it has of the server
 * @timer: goes off if the client says nothing, or does not read
 * @since: milliseconds; when it was last expected to begin with that
 * @queue: messages to send
 * @queued: their number
 * @sending: a batch sends
 * @sends_first: and the first of @queue is in it
 * @begun: the headers were sent
 * @ending: the status is to be sent when @queue is empty
 * @ended: it was sent, or the client is gone
 * @told: the user knows that it has ended
 * @status: status
 * @text: and its text, or NULL: none
 * @arrive: batch: a call arrives
 * @read: batch: a message arrives
 * @write: batch: headers, messages, status
 * @close: batch: the call ends
 */
struct rpc_stream {
	struct rpc		*rpc;
	int			method;
	grpc_call		*call;
	grpc_metadata_array	metadata;
	grpc_call_details	details;
	grpc_byte_buffer	*buf;
	int			cancelled;
	unsigned int		busy;
	char			*peer;
	struct identity		who;
	_Atomic int64_t		heard;
	void			*user;
	struct rpc_watch	*watch;
	struct share_use	share;
	struct timer		timer;
	int64_t			since;
	struct chunk		*queue;
	unsigned int		queued;
	bool			sending;
	bool			sends_first;
	bool			begun;
	bool			ending;
	bool			ended;
	bool			told;
	int			status;
	char			*text;
	struct batch		arrive;
	struct batch		read;
	struct batch		write;
	struct batch		close;
};

/* A rank's stream? */
static inline bool is_join(const struct rpc_stream *s)
{
	return s->method == RPC_METHODS;
}

bool stream_start(struct rpc_stream *s, struct batch *b, const grpc_op *ops,
		  size_t n);
void stream_await_close(struct rpc_stream *s);
void stream_step(struct rpc_stream *s);
void stream_written(struct rpc_stream *s, bool success);
bool stream_append(struct rpc_stream *s, const uint8_t *data, size_t len);
void stream_drop_chunk(struct rpc_stream *s);
int stream_admit(struct rpc_stream *s, char *why, size_t len);
void stream_spoke(struct rpc_stream *s);

#endif /* INC_MANAGER_STREAM_H */
