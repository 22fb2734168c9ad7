// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * HTTP/2 of a connection, by nghttp2: its frames and its calls. nghttp2's
 * callbacks submit frames, but neither send nor receive, nor free the session.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/list.h"
#include "http2/conn.h"

#define STREAMS_MAX	1000	/* calls of a client that heeds SETTINGS */
#define HEADERS_MAX	8192	/* of a call's headers, by HTTP/2's count */
#define HEADERS_MS	10000	/* from their first byte to their last */
#define SILENT_MS	10000	/* from a call's start to its first message */
#define STUCK_MS	30000	/* for a client to read its messages */
/* Calls and messages except heartbeats, at once and per second. */
#define WORDS		4096
#define WORDS_S		64
#define PACKED	"compressed messages, by gzip or else, are not understood"
#define CALL_BYTES	9216	/* allowance for a call's headers; see io.c */

#define NV(name, value, len) \
	{ (uint8_t *)(name), (uint8_t *)(value), sizeof(name) - 1, len, \
	  NGHTTP2_NV_FLAG_NONE }

static void arm_call(struct h2_call *call)
{
	int64_t at = call->deadline, stuck = call->out.progress_at + STUCK_MS;

	if (!call->in.has_headers)
		at = call->born_at + HEADERS_MS;
	else if (call->in.silent && !call->out.ending &&
		 call->born_at + SILENT_MS < at)
		at = call->born_at + SILENT_MS;
	if (call->in.has_headers && (call->out.queue || call->out.ending) && stuck < at)
		at = stuck;
	timer_set(&call->conn->server->loop->timers, &call->timer, at);
}

/* --- Output -------------------------------------------------------------- */

static void drop_chunk(struct h2_call *call)
{
	struct h2_chunk *c = call->out.queue;

	call->out.queue = c->next;
	if (!call->out.queue)
		call->out.tail = &call->out.queue;
	call->out.n--;
	share_give(&call->share, SHARE_QUEUED, c->len);
	free(c->data);
	free(c);
}

static size_t put_status(const struct h2_call *call, nghttp2_nv *nv)
{
	static char code[12], text[1800];
	size_t n = wire_encode(text, sizeof(text), call->out.text ? call->out.text : "");

	nv[0] = (nghttp2_nv)NV("grpc-status", code,
			       (size_t)snprintf(code, sizeof(code), "%d",
						call->out.status));
	nv[1] = (nghttp2_nv)NV("grpc-message", text, n);
	return n ? 2 : 1;
}

static size_t copy_part(uint8_t *to, size_t room, struct h2_chunk *c)
{
	size_t n = 0, part;

	if (c->sent < WIRE_HEAD) {
		n = WIRE_HEAD - c->sent < room ? WIRE_HEAD - c->sent : room;
		memcpy(to, c->head + c->sent, n);
		c->sent += n;
	}
	part = c->len + WIRE_HEAD - c->sent;
	part = part < room - n ? part : room - n;
	if (part)
		memcpy(to + n, c->data + c->sent - WIRE_HEAD, part);
	c->sent += part;
	return n + part;
}

/* Give nghttp2 a call's messages, then the status. */
static ssize_t read_queue(nghttp2_session *h2, int32_t id, uint8_t *buf,
			  size_t len, uint32_t *flags, nghttp2_data_source *src,
			  void *ctx)
{
	struct h2_call *call = src->ptr;
	nghttp2_nv nv[2];
	size_t n = 0;

	while (n < len && call->out.queue) {
		n += copy_part(buf + n, len - n, call->out.queue);
		if (call->out.queue->sent < call->out.queue->len + WIRE_HEAD)
			break;
		drop_chunk(call);
	}
	if (n)
		call->out.progress_at = conn_now(call->conn);
	if (!call->out.queue && call->out.ending) {
		*flags |= NGHTTP2_DATA_FLAG_EOF |
			  NGHTTP2_DATA_FLAG_NO_END_STREAM;
		nghttp2_submit_trailer(h2, id, nv, put_status(call, nv));
		call->out.ended = true;
	} else if (!n) {
		return NGHTTP2_ERR_DEFERRED;
	}
	if (n && !call->out.queue && call->user)
		call->conn->server->handler->drained(call);
	arm_call(call);
	return (ssize_t)n;
}

static void go_on(struct h2_call *call)
{
	nghttp2_session *h2 = call->conn->h2;
	nghttp2_data_provider data = {
		.source.ptr = call, .read_callback = read_queue,
	};
	nghttp2_nv nv[5] = {
		NV(":status", "200", 3),
		NV("content-type", "application/grpc", 16),
		NV("grpc-accept-encoding", "identity", 8),
	};
	bool alone = !call->out.begun && call->out.ending && !call->out.queue;
	size_t n = alone ? put_status(call, nv + 3) : 0;

	if (!h2)	/* the connection is being freed, with all calls */
		return;
	if (!call->out.begun)
		nghttp2_submit_response(h2, call->id, nv, 3 + n,
					alone ? NULL : &data);
	else
		nghttp2_session_resume_data(h2, call->id);
	call->out.begun = true;
	call->out.ended |= alone;
	arm_call(call);
	conn_mark(call->conn);
}

/* As share_take(), but the owner that holds most of a full pool gives way. */
static int take_share(struct h2_call *call, enum share_what what, size_t n,
		      char *why, size_t len)
{
	int full = share_take(&call->share, what, n, why, len);

	if (full >= 0 &&
	    host_make_room(call->conn, &call->share, what, n, full))
		full = share_take(&call->share, what, n, why, len);
	return full;
}

/* Send a call's headers. */
void h2_begin(struct h2_call *call)
{
	if (!call->out.begun)
		go_on(call);
}

/*
 * Send a message. If too many wait to be read, the call is cancelled, or its
 * connection cut.
 * @c: message with its data; owned by the call
 */
void h2_send(struct h2_call *call, struct h2_chunk *c)
{
	char why[160];
	int full = -1;

	if (!call->out.ending)
		full = take_share(call, SHARE_QUEUED, c->len, why, sizeof(why));
	if (call->out.ending || full >= 0) {
		free(c->data);
		free(c);
		if (full == SHARE_CONNECTION)
			conn_cut(call->conn, "it asks for more answers than it reads");
		else if (full >= 0)
			h2_finish(call, WIRE_EXHAUSTED, why);
		return;
	}
	wire_put_head(c->head, c->len);
	c->next = NULL;
	if (!call->out.queue)
		call->out.progress_at = conn_now(call->conn);
	*call->out.tail = c;
	call->out.tail = &c->next;
	call->out.n++;
	go_on(call);
}

/* Send a call's status after its messages. */
void h2_finish(struct h2_call *call, int status, const char *text)
{
	if (call->out.ending)
		return;
	call->out.ending = true;
	call->out.status = status;
	call->out.text = *text ? strdup(text) : NULL;
	if (!call->out.queue)
		call->out.progress_at = conn_now(call->conn);
	go_on(call);
}

/*
 * The client no longer waits for a call's messages: drop them, unless a part
 * was sent. A status that was to follow them is replaced.
 */
static void give_up(struct h2_call *call, int status, const char *text)
{
	bool lost = call->out.queue && !call->out.queue->sent;

	while (call->out.queue && !call->out.queue->sent)
		drop_chunk(call);
	if (lost) {
		call->out.ending = false;
		free(call->out.text);
		call->out.text = NULL;
	}
	h2_finish(call, status, text);
}

/* Reset a call's stream. */
void h2_cancel(struct h2_call *call)
{
	if (!call->conn->h2)
		return;
	nghttp2_submit_rst_stream(call->conn->h2, NGHTTP2_FLAG_NONE, call->id,
				  NGHTTP2_CANCEL);
	conn_mark(call->conn);
}

/* --- Calls --------------------------------------------------------------- */

/* Get the socket of a call's connection, for its addresses and options. */
int h2_fd(const struct h2_call *call)
{
	return call->conn->fd;
}

/*
 * Get the address of a call's client. Returns "ipv4:ADDRESS:PORT",
 * "ipv6:[ADDRESS]:PORT" or "unix:".
 */
const char *h2_peer(const struct h2_call *call)
{
	return call->conn->peer;
}

/*
 * Ask how a call has ended. Returns false: the client has reset it, or the
 * client or its kernel has closed the connection; true: it ended otherwise, or
 * the client sent GOAWAY before, as one does that gets no answer and calls
 * again.
 */
bool h2_vanished(const struct h2_call *call)
{
	return !call->reset && (!call->conn->hung_up || call->conn->goaway);
}

/*
 * Get the certificate of a call's client. Returns the certificate, which is
 * verified and owned by the connection, or NULL.
 */
X509 *h2_cert(const struct h2_call *call)
{
	return call->conn->ssl ?
	       SSL_get0_peer_certificate(call->conn->ssl) : NULL;
}

/*
 * Count a call or a message. Returns false if the connection is cut.
 * @why: reason to cut it, constant
 */
bool h2_count(struct h2_call *call, int64_t n, size_t bytes, const char *why)
{
	struct h2_conn *c = call->conn;

	allowance_take(&c->bytes, conn_now(c), -(int64_t)bytes, INT32_MAX,
		       0);
	if (allowance_take(&c->words, conn_now(c), n, WORDS, WORDS_S))
		return !c->cut_reason;
	conn_cut(c, why);
	return false;
}

/* A connection counts towards the tenant of its first caller. */
static bool join_tenant(struct h2_call *call, const char *tenant, char *why,
			size_t len)
{
	struct h2_conn *c = call->conn;
	struct share_set all = { { NULL } };
	int full;

	if (!*tenant || c->share.by_kind[SHARE_TENANT])
		return true;
	share_hold(&all, call->share.by_kind[SHARE_TENANT]);
	full = share_take(&all, SHARE_CONNECTIONS, 1, why, len);
	if (full >= 0 && host_make_room(c, &call->share, SHARE_CONNECTIONS, 1,
					SHARE_TENANT))
		full = share_take(&all, SHARE_CONNECTIONS, 1, why, len);
	if (full >= 0) {
		share_leave(&all);
		return false;
	}
	c->share.by_kind[SHARE_TENANT] = all.by_kind[SHARE_TENANT];
	return true;
}

/*
 * Count a call of an authorized client. Returns false if there is no room.
 * @why: result: why there is no room
 * @len: size of @why in bytes
 */
bool h2_admit(struct h2_call *call, const char *tenant, char *why, size_t len)
{
	int full;

	snprintf(why, len, "no memory");
	if (!share_change(&call->share, SHARE_TENANT, tenant) ||
	    !join_tenant(call, tenant, why, len))
		return false;
	full = take_share(call, SHARE_CALLS, 1, why, len);
	call->counted = full < 0;
	if (full < 0) {
		full = take_share(call, SHARE_SILENT, 1, why, len);
		call->in.silent = full < 0;
	}
	if (full == SHARE_CONNECTION)
		conn_cut(call->conn, "it has more calls than one client needs");
	if (full >= 0)
		return false;
	arm_call(call);
	snprintf(why, len, "calls come faster than one client needs");
	return h2_count(call, 1, CALL_BYTES,
			"calls and messages come faster than one client needs");
}

/* Free a token early: it is secret, and a byte of HPACK repeats it. */
static void forget_token(struct h2_call *call)
{
	if (call->in.token)
		OPENSSL_cleanse(call->in.token, strlen(call->in.token));
	free(call->in.token);
	call->in.token = NULL;
}

static void free_call(struct h2_call *call)
{
	struct h2_conn *c = call->conn;

	if (call->user)
		c->server->handler->gone(call);
	while (call->out.queue)
		drop_chunk(call);
	share_give(&call->share, SHARE_HELD, call->in.message.room);
	if (call->in.silent)
		share_give(&call->share, SHARE_SILENT, 1);
	if (call->counted)
		share_give(&call->share, SHARE_CALLS, 1);
	share_leave(&call->share);
	timer_remove(&c->server->loop->timers, &call->timer);
	wire_reset(&call->in.message);
	forget_token(call);
	free(call->out.text);
	free(call);
}

/* End a session by GOAWAY. */
void session_end(struct h2_conn *c)
{
	nghttp2_session_terminate_session(c->h2, NGHTTP2_NO_ERROR);
	conn_mark(c);
}

static void call_timer(struct timer *timer)
{
	struct h2_call *call = container_of(timer, struct h2_call, timer);
	int64_t now = conn_now(call->conn);

	if (!call->in.has_headers) {
		/* No other frame can arrive before the rest of the headers. */
		session_end(call->conn);
		return;
	}
	if ((call->out.queue || call->out.ending) &&
	    call->out.progress_at + STUCK_MS <= now) {
		h2_cancel(call);
	} else if (call->deadline <= now) {
		call->deadline = TIMER_NEVER;
		give_up(call, WIRE_DEADLINE, "the call's time is over");
	} else if (call->in.silent && !call->out.ending) {
		h2_finish(call, WIRE_DEADLINE,
			  "the first message did not come within 10 s");
	}
	arm_call(call);
}

/* End all calls of a connection. */
void session_end_calls(struct h2_conn *c, int status, const char *text)
{
	struct h2_call *call;

	for (call = c->calls; call; call = call->next)
		h2_finish(call, status, text);
}

/*
 * Free all calls of a connection.
 * @c: connection whose session is freed
 */
void session_forget(struct h2_conn *c)
{
	struct h2_call *call;

	while ((call = c->calls)) {
		c->calls = call->next;
		free_call(call);
	}
}

/* --- Input --------------------------------------------------------------- */

static struct h2_call *call_of(nghttp2_session *h2, int32_t id)
{
	return id ? nghttp2_session_get_stream_user_data(h2, id) : NULL;
}

static int begin_headers(nghttp2_session *h2, const nghttp2_frame *f,
			 void *ctx)
{
	struct h2_conn *c = ctx;
	struct h2_call *call;

	if (f->headers.cat != NGHTTP2_HCAT_REQUEST)
		return 0;
	call = calloc(1, sizeof(*call));
	if (!call || timer_add(&c->server->loop->timers, &call->timer, call_timer)) {
		free(call);
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	}
	call->conn = c;
	call->id = f->hd.stream_id;
	call->out.tail = &call->out.queue;
	call->born_at = call->out.progress_at = conn_now(c);
	call->deadline = TIMER_NEVER;
	share_copy(&call->share, &c->share);
	call->next = c->calls;
	c->calls = call;
	/* take_call() counts it: a connection has one such call at a time. */
	arm_call(call);
	nghttp2_session_set_stream_user_data(h2, call->id, call);
	return 0;
}

static void take_time(struct h2_call *call, const char *value, size_t len)
{
	int64_t ms = wire_timeout(value, len);

	call->in.bad_time |= ms < 0;
	if (ms >= 0)
		call->deadline = conn_now(call->conn) + ms;
}

static int take_header(nghttp2_session *h2, const nghttp2_frame *f,
		       const uint8_t *name, size_t name_len,
		       const uint8_t *value, size_t len, uint8_t flags,
		       void *ctx)
{
	struct h2_call *call = call_of(h2, f->hd.stream_id);
	const char *n = (const char *)name, *v = (const char *)value;

	if (!call)
		return conn_junk(ctx, 1, "headers of no call") ?
		       0 : NGHTTP2_ERR_CALLBACK_FAILURE;
	/* SETTINGS announce HEADERS_MAX, but nghttp2 takes more. */
	call->in.headers += name_len + len + 32;
	if (call->in.headers > 4UL * HEADERS_MAX) {
		conn_cut(ctx, "a call's headers have no end");
		return NGHTTP2_ERR_CALLBACK_FAILURE;
	}
	if (call->in.headers > HEADERS_MAX)
		return 0;
	if (!strcmp(n, ":method"))
		call->in.post = !strcmp(v, "POST");
	else if (!strcmp(n, ":path"))
		snprintf(call->in.path, sizeof(call->in.path), "%s",
			 len < sizeof(call->in.path) ? v : "");
	else if (!strcmp(n, "content-type"))
		call->in.grpc = wire_is_grpc(v);
	else if (!strcmp(n, "grpc-encoding"))
		call->in.packed = strcmp(v, "identity");
	else if (!strcmp(n, "grpc-timeout"))
		take_time(call, v, len);
	else if (!strcmp(n, "authorization") && !call->in.token)
		call->in.token = strndup(v, len);
	return 0;
}

/* All headers of a call have arrived. */
static void take_call(struct h2_call *call)
{
	static const nghttp2_nv other[] = { NV(":status", "415", 3) };
	const struct h2_server *s = call->conn->server;

	call->in.has_headers = true;
	conn_idle(call->conn, false);
	if (call->in.headers > HEADERS_MAX) {
		h2_finish(call, WIRE_EXHAUSTED,
			  "the call's headers have more than 8 KiB");
	} else if (!call->in.post || !call->in.grpc) {
		call->out.begun = call->out.ending = call->out.ended = true;
		nghttp2_submit_response(call->conn->h2, call->id, other, 1,
					NULL);
	} else if (call->in.bad_time) {
		h2_finish(call, WIRE_INTERNAL, "malformed grpc-timeout");
	} else {
		s->handler->arrived(s->ctx, call);
		if (call->in.packed)
			h2_finish(call, WIRE_UNIMPLEMENTED,
				  PACKED);
	}
	forget_token(call);
	arm_call(call);
	if (call->out.ending)
		h2_count(call, 16, 0, "its calls are refused, again and again");
}

static void close_half(struct h2_call *call)
{
	call->in.half_closed = true;
	if (call->out.ending)
		return;
	if (call->in.message.have)
		h2_finish(call, WIRE_INTERNAL, "a message is cut off");
	else if (call->user)
		call->conn->server->handler->half_closed(call);
}

/* Count frames of which an honest client sends few. */
static void weigh_frame(struct h2_conn *c, const nghttp2_frame *f)
{
	switch (f->hd.type) {
	case NGHTTP2_PING:
		conn_junk(c, !(f->hd.flags & NGHTTP2_FLAG_ACK),
			     "too_many_pings");
		break;
	case NGHTTP2_HEADERS:
		break;
	case NGHTTP2_DATA:
		if (!f->hd.length && !(f->hd.flags & NGHTTP2_FLAG_END_STREAM))
			conn_junk(c, 1, "empty frames, again and again");
		break;
	default:
		conn_junk(c, 1, "frames of no call, again and again");
	}
}

static int take_frame(nghttp2_session *h2, const nghttp2_frame *f, void *ctx)
{
	struct h2_call *call = call_of(h2, f->hd.stream_id);

	weigh_frame(ctx, f);
	if (f->hd.type == NGHTTP2_GOAWAY)
		((struct h2_conn *)ctx)->goaway = true;
	if (call && f->hd.type == NGHTTP2_RST_STREAM)
		call->reset = true;
	if (call && f->hd.type == NGHTTP2_HEADERS &&
	    f->headers.cat == NGHTTP2_HCAT_REQUEST)
		take_call(call);
	if (call && (f->hd.type == NGHTTP2_HEADERS ||
		     f->hd.type == NGHTTP2_DATA) &&
	    f->hd.flags & NGHTTP2_FLAG_END_STREAM)
		close_half(call);
	return 0;
}

static int take_wrong(nghttp2_session *h2, const nghttp2_frame *f, int err,
		      void *ctx)
{
	conn_junk(ctx, 16, "wrong frames, again and again");
	return 0;
}

/*
 * Bytes of an incomplete message need no allowance: SHARE_HELD limits them, and
 * each call has one such message. The handler decides about whole ones.
 */
static void account_bytes(struct h2_call *call, int64_t n)
{
	allowance_take(&call->conn->bytes, conn_now(call->conn), -n,
		       INT32_MAX, 0);
}

/* A whole message has arrived. */
static void take_message(struct h2_call *call)
{
	const struct h2_server *s = call->conn->server;
	uint8_t *data = call->in.message.data;
	size_t len = call->in.message.len;

	account_bytes(call, -(int64_t)call->in.message.have);
	call->in.message.data = NULL;
	wire_reset(&call->in.message);
	if (call->in.silent)
		share_give(&call->share, SHARE_SILENT, 1);
	call->in.silent = false;
	arm_call(call);
	s->handler->message(call, data, len);
	free(data);
}

static void refuse_message(struct h2_call *call, int err)
{
	if (err == -EOPNOTSUPP)
		h2_finish(call, WIRE_UNIMPLEMENTED,
			  PACKED);
	else if (err == -EMSGSIZE)
		h2_finish(call, WIRE_EXHAUSTED,
			  "a message has more than 64 KiB");
	else
		h2_finish(call, WIRE_EXHAUSTED, "no memory");
}

/* A message may span DATA frames, and a frame may hold several messages. */
static void take_bytes(struct h2_call *call, const uint8_t *data, size_t len)
{
	size_t room, left;
	char why[160];
	int ret;

	while (len && !call->out.ending && call->user) {
		room = call->in.message.room;
		left = len;
		ret = wire_take(&call->in.message, MESSAGE_MAX, &data, &len);
		account_bytes(call, (int64_t)(left - len));
		if (call->in.message.room > room &&
		    take_share(call, SHARE_HELD, call->in.message.room - room, why,
			       sizeof(why)) >= 0) {
			/* The additional room was not counted. */
			call->in.message.room = room;
			h2_finish(call, WIRE_EXHAUSTED, why);
			return;
		}
		if (ret < 0)
			refuse_message(call, ret);
		if (ret != 1)
			return;
		share_give(&call->share, SHARE_HELD, call->in.message.room);
		take_message(call);
	}
	/* The first message's answer waits for the end of the turn. */
	if (len && call->in.single && call->out.ending && !call->out.ended)
		give_up(call, WIRE_INTERNAL, "a second request");
}

static int take_data(nghttp2_session *h2, uint8_t flags, int32_t id,
		     const uint8_t *data, size_t len, void *ctx)
{
	struct h2_call *call = call_of(h2, id);

	nghttp2_session_consume_connection(h2, len);
	if (!call)
		return 0;
	take_bytes(call, data, len);
	/* The window of a call that ends stays shut. */
	if (!call->out.ending)
		nghttp2_session_consume_stream(h2, id, len);
	return 0;
}

static int frame_sent(nghttp2_session *h2, const nghttp2_frame *f, void *ctx)
{
	struct h2_call *call = call_of(h2, f->hd.stream_id);
	struct h2_conn *c = ctx;

	if (f->hd.type == NGHTTP2_RST_STREAM &&
	    f->rst_stream.error_code != NGHTTP2_NO_ERROR)
		conn_junk(c, 1, "too many of its calls have to be reset");
	if (f->hd.type == NGHTTP2_GOAWAY &&
	    f->goaway.error_code != NGHTTP2_NO_ERROR)
		conn_cut_malformed(c, "what it sends is not HTTP/2, or has no end");
	/* A client that reads sends WINDOW_UPDATE: allow for it. */
	if (f->hd.type == NGHTTP2_DATA) {
		conn_junk(c, -2, "");
		allowance_take(&c->bytes, conn_now(c), -128, INT32_MAX, 0);
	}
	if (call && f->hd.type == NGHTTP2_HEADERS && call->out.begun &&
	    !(f->hd.flags & NGHTTP2_FLAG_END_STREAM) && !call->out.queue &&
	    call->user)
		c->server->handler->drained(call);
	/* The status was sent: the client need not send the rest. */
	if (call && f->hd.type == NGHTTP2_HEADERS && call->out.ended &&
	    !call->in.half_closed && f->hd.flags & NGHTTP2_FLAG_END_STREAM)
		nghttp2_submit_rst_stream(h2, NGHTTP2_FLAG_NONE, call->id,
					  NGHTTP2_NO_ERROR);
	return 0;
}

static int close_stream(nghttp2_session *h2, int32_t id, uint32_t err, void *ctx)
{
	struct h2_call *call = call_of(h2, id);
	struct h2_conn *c = ctx;

	if (!call)
		return 0;
	list_remove(c->calls, call);
	nghttp2_session_set_stream_user_data(h2, id, NULL);
	free_call(call);
	if (!c->calls)
		conn_idle(c, true);
	return 0;
}

/* --- Sessions ------------------------------------------------------------ */

/* Begin to speak HTTP/2. Returns 0 or -ENOMEM. */
int session_open(struct h2_conn *c)
{
	static const nghttp2_settings_entry settings[] = {
		{ NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, STREAMS_MAX },
		{ NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, HEADERS_MAX },
	};

	input_open(&c->input);
	if (nghttp2_session_server_new2(&c->h2, c->server->session, c,
					c->server->option) ||
	    nghttp2_submit_settings(c->h2, NGHTTP2_FLAG_NONE, settings, 2))
		return -ENOMEM;
	return 0;
}

/* Set nghttp2's callbacks and options. Returns 0 or -ENOMEM. */
int session_prepare(struct h2_server *s)
{
	if (nghttp2_session_callbacks_new(&s->session) ||
	    nghttp2_option_new(&s->option))
		return -ENOMEM;
#define SET(what, fn) nghttp2_session_callbacks_set_##what##_callback(s->session, fn)
	SET(on_begin_headers, begin_headers);
	SET(on_header, take_header);
	SET(on_frame_recv, take_frame);
	SET(on_invalid_frame_recv, take_wrong);
	SET(on_data_chunk_recv, take_data);
	SET(on_frame_send, frame_sent);
	SET(on_stream_close, close_stream);
#undef SET
	/* See take_data(). */
	nghttp2_option_set_no_auto_window_update(s->option, 1);
	nghttp2_option_set_no_closed_streams(s->option, 1);
	nghttp2_option_set_max_outbound_ack(s->option, 2 * JUNK);
	nghttp2_option_set_max_settings(s->option, 16);
	nghttp2_option_set_max_continuations(s->option, 2);
	nghttp2_option_set_stream_reset_rate_limit(s->option, JUNK, JUNK_S);
	return 0;
}
