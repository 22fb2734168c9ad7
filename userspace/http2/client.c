// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See client.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http2/client.h"

#define WINDOW		(1 << 20)	/* bytes that a server may send ahead */
#define MESSAGE_MAX	(256U << 20)	/* memory grows with bytes received */

#define NV(name, value, flags) \
	{ (uint8_t *)(name), (uint8_t *)(value), strlen(name), strlen(value), \
	  flags }

/* --- The call's end ------------------------------------------------------ */

/* End a call on this side. Only the first end counts. */
void http2_finish(struct http2 *s, int status, const char *text)
{
	if (s->call_ended)
		return;
	s->call_ended = true;
	s->status = status;
	free(s->text);
	s->text = strdup(text);
}

/* The stream was closed without a status: derive one from its error code. */
static void finish_by(struct http2 *s, uint32_t err)
{
	static const struct {
		uint32_t	err;
		int		status;
		const char	*text;
	} ends[] = {
		{ NGHTTP2_NO_ERROR, WIRE_UNKNOWN, "it gives no status" },
		{ NGHTTP2_REFUSED_STREAM, WIRE_UNAVAILABLE,
		  "it takes no calls now" },
		{ NGHTTP2_CANCEL, WIRE_CANCELLED, "it has cancelled the call" },
		{ NGHTTP2_ENHANCE_YOUR_CALM, WIRE_EXHAUSTED,
		  "calls come too fast for it" },
		{ NGHTTP2_INADEQUATE_SECURITY, WIRE_DENIED,
		  "this connection is not secure enough for it" },
	};
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (ends[i].err == err)
			break;
	if (i < sizeof(ends) / sizeof(ends[0]))
		http2_finish(s, ends[i].status, ends[i].text);
	else
		http2_finish(s, WIRE_INTERNAL, nghttp2_http2_strerror(err));
}

/* --- Output -------------------------------------------------------------- */

static ssize_t read_messages(nghttp2_session *h2, int32_t id, uint8_t *buf,
			     size_t len, uint32_t *flags,
			     nghttp2_data_source *src, void *ctx)
{
	struct http2 *s = ctx;
	bool end = false;
	size_t n = s->pull(s->ctx, buf, len, &end);

	s->half_closed = end;
	if (end)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	return n || end ? (ssize_t)n : NGHTTP2_ERR_DEFERRED;
}

static void forget_call(struct http2 *s)
{
	struct http2_message *m;

	while ((m = s->queue)) {
		s->queue = m->next;
		free(m->data);
		free(m);
	}
	s->tail = &s->queue;
	wire_reset(&s->message);
	free(s->text);
	s->text = NULL;
	s->id = 0;
	s->half_closed = s->call_ended = s->has_status = false;
	s->header_status = -1;
	s->status = WIRE_UNKNOWN;
}

/* Begin a call. Returns 0 or -ENOMEM. */
int http2_begin(struct http2 *s, const struct http2_call *call)
{
	nghttp2_data_provider data = { .read_callback = read_messages };
	char limit[16], *bearer = NULL;
	nghttp2_nv nv[9] = {
		NV(":method", "POST", 0),
		NV(":scheme", call->tls ? "https" : "http", 0),
		NV(":path", call->path, 0),
		NV(":authority", call->authority, 0),
		NV("te", "trailers", 0),
		NV("content-type", "application/grpc", 0),
		NV("user-agent", "rdma_inc", 0),
	};
	size_t n = 7;

	forget_call(s);
	if (call->token && asprintf(&bearer, "Bearer %s", call->token) < 0)
		return -ENOMEM;
	if (call->token)
		nv[n++] = (nghttp2_nv)NV("authorization", bearer,
					 NGHTTP2_NV_FLAG_NO_INDEX);
	snprintf(limit, sizeof(limit), "%dm", call->timeout_ms % 100000000);
	if (call->timeout_ms)
		nv[n++] = (nghttp2_nv)NV("grpc-timeout", limit, 0);
	s->id = nghttp2_submit_request(s->h2, NULL, nv, n, &data, NULL);
	if (bearer)
		explicit_bzero(bearer, strlen(bearer));
	free(bearer);
	return s->id > 0 ? 0 : -ENOMEM;
}

/* Tell nghttp2 that there are messages to pull again. */
void http2_resume(struct http2 *s)
{
	if (s->id > 0 && !s->call_ended)
		nghttp2_session_resume_data(s->h2, s->id);
}

/* Send a PING, which the server has to answer. */
void http2_ping(struct http2 *s)
{
	nghttp2_submit_ping(s->h2, NGHTTP2_FLAG_NONE, NULL);
}

/* Tell the server that only the connection ends, not the client. */
void http2_goaway(struct http2 *s)
{
	nghttp2_submit_goaway(s->h2, NGHTTP2_FLAG_NONE, 0, NGHTTP2_NO_ERROR,
			      NULL, 0);
}

/* Cancel a call. */
void http2_cancel(struct http2 *s)
{
	if (s->id > 0 && !s->call_ended)
		nghttp2_submit_rst_stream(s->h2, NGHTTP2_FLAG_NONE, s->id,
					  NGHTTP2_CANCEL);
	http2_finish(s, WIRE_CANCELLED, "cancelled");
}

/* Cancel a call whose answer is wrong, whatever its status. */
void http2_reject(struct http2 *s, const char *text)
{
	http2_cancel(s);
	s->call_ended = false;
	http2_finish(s, WIRE_INTERNAL, text);
}

/*
 * Get the next bytes to be sent. Returns their number; 0: none; -1: no memory.
 * @data: result: bytes, valid until the next call
 */
ssize_t http2_give(struct http2 *s, const uint8_t **data)
{
	ssize_t n = nghttp2_session_mem_send(s->h2, data);

	return n < 0 ? -1 : n;
}

/* --- Input --------------------------------------------------------------- */

static bool is_name(const uint8_t *name, size_t len, const char *text)
{
	return len == strlen(text) && !memcmp(name, text, len);
}

/* The server does not speak gRPC. More such headers change nothing. */
static void take_stranger(struct http2 *s)
{
	s->not_http2 = true;
	http2_finish(s, WIRE_UNAVAILABLE, "");
}

/* gRPC's status codes are 0 to 16; all else is taken for UNKNOWN. */
static int read_status(const char *text)
{
	size_t n = strspn(text, "0123456789");
	int status = n && n <= 2 && !text[n] ? atoi(text) : WIRE_UNKNOWN;

	return status <= WIRE_STATUS_MAX ? status : WIRE_UNKNOWN;
}

static int take_header(nghttp2_session *h2, const nghttp2_frame *f,
		       const uint8_t *name, size_t name_len,
		       const uint8_t *value, size_t len, uint8_t flags,
		       void *ctx)
{
	struct http2 *s = ctx;
	const char *v = (const char *)value;

	if (f->hd.stream_id != s->id || s->call_ended)
		return 0;
	if (is_name(name, name_len, ":status") && *v != '1' &&
	    !is_name(value, len, "200"))
		take_stranger(s);
	else if (is_name(name, name_len, "content-type") && !wire_is_grpc(v))
		take_stranger(s);
	else if (!(f->hd.flags & NGHTTP2_FLAG_END_STREAM))
		return 0;	/* not the trailers */
	else if (is_name(name, name_len, "grpc-status"))
		s->header_status = s->header_status < 0 ? read_status(v) :
							  WIRE_UNKNOWN;
	else if (is_name(name, name_len, "grpc-message")) {
		free(s->text);
		s->text = wire_decode(v, len);
	}
	return 0;
}

/* The server has ended the call: it will not read any more messages. */
static void take_end(struct http2 *s)
{
	if (!s->half_closed && !s->call_ended)
		nghttp2_submit_rst_stream(s->h2, NGHTTP2_FLAG_NONE, s->id,
					  NGHTTP2_NO_ERROR);
	if (s->message.have)
		http2_finish(s, WIRE_INTERNAL, "its answer is cut off");
	if (s->header_status < 0 || s->call_ended) {
		finish_by(s, NGHTTP2_NO_ERROR);
		return;
	}
	s->status = s->header_status;
	s->has_status = s->call_ended = true;
}

static int take_frame(nghttp2_session *h2, const nghttp2_frame *f, void *ctx)
{
	struct http2 *s = ctx;

	if (f->hd.type == NGHTTP2_SETTINGS)
		s->has_settings = true;
	if (f->hd.type == NGHTTP2_GOAWAY)
		s->draining = true;
	if ((f->hd.type == NGHTTP2_HEADERS || f->hd.type == NGHTTP2_DATA) &&
	    f->hd.flags & NGHTTP2_FLAG_END_STREAM && f->hd.stream_id == s->id)
		take_end(s);
	return 0;
}

static void queue_message(struct http2 *s)
{
	struct http2_message *m = malloc(sizeof(*m));

	/* An empty message has data, too: NULL stands for a lack of memory. */
	if (m && !s->message.data)
		s->message.data = malloc(1);
	if (m && s->message.data) {
		*m = (struct http2_message) {
			.data = s->message.data, .len = s->message.len,
		};
		*s->tail = m;
		s->tail = &m->next;
		s->message.data = NULL;
	} else {
		free(m);
		http2_finish(s, WIRE_EXHAUSTED, "no memory");
	}
	wire_reset(&s->message);
}

static int take_data(nghttp2_session *h2, uint8_t flags, int32_t id,
		     const uint8_t *data, size_t len, void *ctx)
{
	struct http2 *s = ctx;
	int ret = 0;

	while (id == s->id && len && !s->call_ended && ret >= 0) {
		ret = wire_take(&s->message, MESSAGE_MAX, &data, &len);
		if (ret == 1)
			queue_message(s);
	}
	if (ret < 0) {
		nghttp2_submit_rst_stream(h2, NGHTTP2_FLAG_NONE, id,
					  NGHTTP2_CANCEL);
		http2_finish(s, ret == -EOPNOTSUPP ? WIRE_INTERNAL :
						       WIRE_EXHAUSTED,
			       ret == -EOPNOTSUPP ?
			       "its answer is compressed, which was not asked for" :
			       "its answer is too long");
	}
	return 0;
}

static int close_stream(nghttp2_session *h2, int32_t id, uint32_t err, void *ctx)
{
	struct http2 *s = ctx;

	if (id == s->id)
		finish_by(s, err);
	return 0;
}

/* Take bytes received from the server. */
void http2_take(struct http2 *s, const uint8_t *data, size_t len)
{
	s->not_http2 |= nghttp2_session_mem_recv(s->h2, data, len) < 0;
}

/*
 * Has the session ended? Bytes that are not HTTP/2 end it once the GOAWAY that
 * says so is sent. Returns true if so.
 */
bool http2_has_ended(const struct http2 *s)
{
	return s->not_http2 || (!nghttp2_session_want_read(s->h2) &&
			       !nghttp2_session_want_write(s->h2));
}

/*
 * Get the next message. Returns false if there is none now.
 * @data: result: its bytes, to be freed
 */
bool http2_message(struct http2 *s, uint8_t **data, size_t *len)
{
	struct http2_message *m = s->queue;

	if (!m)
		return false;
	s->queue = m->next;
	if (!s->queue)
		s->tail = &s->queue;
	*data = m->data;
	*len = m->len;
	free(m);
	return true;
}

/* --- Sessions ------------------------------------------------------------ */

/*
 * Begin to speak HTTP/2. Returns 0 or -ENOMEM.
 * @s: zeroed session with @s->pull and @s->ctx set
 */
int http2_open(struct http2 *s)
{
	static const nghttp2_settings_entry settings[] = {
		{ NGHTTP2_SETTINGS_ENABLE_PUSH, 0 },
		{ NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW },
	};
	nghttp2_session_callbacks *cb;
	int ret;

	s->tail = &s->queue;
	if (nghttp2_session_callbacks_new(&cb))
		return -ENOMEM;
	nghttp2_session_callbacks_set_on_header_callback(cb, take_header);
	nghttp2_session_callbacks_set_on_frame_recv_callback(cb, take_frame);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(cb,
								  take_data);
	nghttp2_session_callbacks_set_on_stream_close_callback(cb,
							       close_stream);
	ret = nghttp2_session_client_new(&s->h2, cb, s);
	nghttp2_session_callbacks_del(cb);
	if (ret ||
	    nghttp2_submit_settings(s->h2, NGHTTP2_FLAG_NONE, settings, 2) ||
	    nghttp2_session_set_local_window_size(s->h2, NGHTTP2_FLAG_NONE, 0,
						  WINDOW))
		return -ENOMEM;
	return 0;
}

/* Free a session, and its call. */
void http2_close(struct http2 *s)
{
	nghttp2_session_del(s->h2);
	s->h2 = NULL;
	forget_call(s);
	s->has_settings = s->draining = s->not_http2 = false;
}
