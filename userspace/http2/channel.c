// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See channel.h. The calling thread reads and writes the socket while it waits
 * for an answer; messages of other threads wait in a buffer, and an eventfd
 * wakes it.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "http2/channel.h"
#include "http2/link.h"
#include "http2/client.h"
#include "http2/reach.h"
#include "conf/clock.h"

#define OUT_LEN		16384	/* bytes written at once; a TLS record */
#define FRAME_MAX	(16384 + 64)	/* bytes that nghttp2 gives at once */
#define IN_LEN		16384
#define UNSENT_MAX	(1U << 20)	/* bytes that a server does not read */
#define IDLE_READS	16	/* of a connection between two calls */
#define CONNECT_MS	20000	/* of calls without a time limit */
#define NEVER		INT64_MAX

/**
 * struct channel - a client's channel to a server
 * @how: address, TLS and time limits; its strings are copies, in @texts
 * @texts: strings of @how
 * @link: connection
 * @http2: its HTTP/2
 * @out: bytes to be written
 * @out_len: their number
 * @out_at: the first that was not written
 * @adopted: the connection was given for the next call
 * @reader_gone: the server reads no more of @out
 * @heard_at: milliseconds; when the last bytes arrived
 * @ping_sent: a PING was sent since then
 * @asked_at: milliseconds; when the PING was sent
 * @deadline: milliseconds; the call's time limit
 * @wake: event: @unsent, @half_closed or @cancelled has changed
 * @lock: guards all members below
 * @unsent: messages to be sent, each with its prefix
 * @unsent_len: its length in bytes
 * @unsent_at: the first byte that nghttp2 has not taken
 * @unsent_room: bytes allocated for it
 * @half_closed: no more messages follow
 * @cancelled: channel_cancel() was called
 */
struct channel {
	struct channel_how	how;
	char			*texts[2];
	struct link		link;
	struct http2		http2;
	uint8_t			out[OUT_LEN + FRAME_MAX];
	size_t			out_len;
	size_t			out_at;
	bool			adopted;
	bool			reader_gone;
	int64_t			heard_at;
	bool			ping_sent;
	int64_t			asked_at;
	int64_t			deadline;
	int			wake;
	pthread_mutex_t		lock;
	uint8_t			*unsent;
	size_t			unsent_len;
	size_t			unsent_at;
	size_t			unsent_room;
	bool			half_closed;
	bool			cancelled;
};

/* --- Requests of other threads ------------------------------------------- */

static void wake_up(struct channel *c)
{
	const uint64_t one = 1;

	if (c->how.nowait)
		return;
	if (write(c->wake, &one, sizeof(one)) < 0)
		return;	/* already woken */
}

/* The caller holds @c->lock. */
static bool put_unsent(struct channel *c, const uint8_t *data, size_t len)
{
	size_t need = c->unsent_len + WIRE_HEAD + len;
	uint8_t *bytes;

	if (c->half_closed || c->cancelled ||
	    need - c->unsent_at > UNSENT_MAX + len)
		return false;
	if (c->unsent_at)
		memmove(c->unsent, c->unsent + c->unsent_at,
			c->unsent_len - c->unsent_at);
	c->unsent_len -= c->unsent_at;
	need -= c->unsent_at;
	c->unsent_at = 0;
	if (need > c->unsent_room) {
		bytes = realloc(c->unsent, 2 * need);
		if (!bytes)
			return false;
		c->unsent = bytes;
		c->unsent_room = 2 * need;
	}
	wire_put_head(c->unsent + c->unsent_len, len);
	if (len)
		memcpy(c->unsent + c->unsent_len + WIRE_HEAD, data, len);
	c->unsent_len = need;
	return true;
}

/*
 * Queue a message, which channel_receive() sends. Does not wait. Returns false
 * if the call's messages have ended, or the server leaves too many unread.
 */
bool channel_send(struct channel *c, const uint8_t *data, size_t len)
{
	bool put;

	pthread_mutex_lock(&c->lock);
	put = put_unsent(c, data, len);
	pthread_mutex_unlock(&c->lock);
	wake_up(c);
	return put;
}

/*
 * Choose how long a silent server may take to answer. Context: the thread that
 * receives.
 */
void channel_patience(struct channel *c, int answer_ms)
{
	c->how.answer_ms = answer_ms;
}

/* Send no more messages. */
void channel_half(struct channel *c)
{
	pthread_mutex_lock(&c->lock);
	c->half_closed = true;
	pthread_mutex_unlock(&c->lock);
	wake_up(c);
}

/* Cancel a call. Queued messages are sent before, if the socket takes them. */
void channel_cancel(struct channel *c)
{
	pthread_mutex_lock(&c->lock);
	c->cancelled = true;
	pthread_mutex_unlock(&c->lock);
	wake_up(c);
}

static size_t pull_messages(void *ctx, uint8_t *buf, size_t len, bool *end)
{
	struct channel *c = ctx;
	size_t n;

	pthread_mutex_lock(&c->lock);
	n = c->unsent_len - c->unsent_at;
	n = n < len ? n : len;
	if (n)
		memcpy(buf, c->unsent + c->unsent_at, n);
	c->unsent_at += n;
	if (c->unsent_at == c->unsent_len) {
		c->unsent_at = c->unsent_len = 0;
		*end = c->half_closed;
	}
	pthread_mutex_unlock(&c->lock);
	return n;
}

/* Take over other threads' requests. Returns false if the call is cancelled. */
static bool take_wishes(struct channel *c)
{
	bool more, cancelled;

	pthread_mutex_lock(&c->lock);
	cancelled = c->cancelled;
	more = c->unsent_at < c->unsent_len ||
	       c->half_closed != c->http2.half_closed;
	pthread_mutex_unlock(&c->lock);
	if (more)
		http2_resume(&c->http2);
	return !cancelled;
}

/* --- The connection ------------------------------------------------------ */

/* The connection has failed, and the call with it: @c->link says why. */
static void lose_link(struct channel *c)
{
	if (c->http2.not_http2 || (c->link.got_data && !c->http2.has_settings))
		link_fail(&c->link, FAULT_STRANGER, 0);
	link_fail(&c->link, c->link.got_data ? FAULT_LOST : FAULT_CUT, 0);
	http2_finish(&c->http2, WIRE_UNAVAILABLE, c->link.why);
	c->http2.draining = true;
}

/* Write as many frames as the socket takes. */
static void write_frames(struct channel *c)
{
	const uint8_t *data;
	ssize_t n = 1;

	while (!c->reader_gone) {
		while (c->out_len < OUT_LEN &&
		       (n = http2_give(&c->http2, &data)) > 0) {
			memcpy(c->out + c->out_len, data, (size_t)n);
			c->out_len += (size_t)n;
		}
		if (c->out_at == c->out_len)
			return;
		n = link_write(&c->link, c->out + c->out_at,
			       c->out_len - c->out_at);
		c->reader_gone = n < 0;
		if (n <= 0)
			return;
		c->out_at += (size_t)n;
		if (c->out_at == c->out_len)
			c->out_at = c->out_len = 0;
	}
}

/* Read once. Returns false if there is nothing to read now. */
static bool read_frames(struct channel *c)
{
	uint8_t buf[IN_LEN];
	ssize_t n = link_read(&c->link, buf, sizeof(buf));

	if (!n)
		return false;
	if (n < 0) {
		lose_link(c);
		return true;
	}
	c->heard_at = now_ms();
	c->ping_sent = false;
	http2_take(&c->http2, buf, (size_t)n);
	return true;
}

/* Get the time of the next timeout: milliseconds; INT64_MAX: none. */
int64_t channel_alarm(const struct channel *c)
{
	int64_t at = NEVER;

	if (c->how.ask_ms)
		at = c->ping_sent ? c->asked_at + c->how.answer_ms :
				    c->heard_at + c->how.ask_ms;
	return at < c->deadline ? at : c->deadline;
}

/* A time of channel_alarm() has come. */
static void take_alarm(struct channel *c, int64_t now)
{
	if (now >= c->deadline) {
		link_fail(&c->link, FAULT_LATE, 0);
		http2_cancel(&c->http2);
		c->http2.status = WIRE_DEADLINE;
	} else if (c->ping_sent) {
		/* GOAWAY reaches the server once the path works again. */
		http2_goaway(&c->http2);
		if (c->link.has_handshake)
			write_frames(c);
		link_fail(&c->link, c->link.got_data ? FAULT_DEAD : FAULT_LATE,
			  0);
		lose_link(c);
	} else {
		c->ping_sent = true;
		c->asked_at = now;
		http2_ping(&c->http2);
	}
}

/* Wait for the server, another thread, or the next timeout. */
static void await_event(struct channel *c)
{
	struct pollfd pfd[] = {
		{ .fd = c->wake, .events = POLLIN },
		{ .fd = c->link.fd, .events = c->link.events },
	};
	int64_t at = channel_alarm(c);
	uint64_t count;

	if (c->link.has_handshake && c->out_at < c->out_len && !c->reader_gone)
		pfd[1].events |= POLLOUT;
	poll(pfd, 2, at == NEVER ? -1 : ms_until(at));
	if (pfd[0].revents && read(c->wake, &count, sizeof(count)) < 0)
		return;	/* already reset */
}

/* Queued messages are sent before the end, if the socket takes them. */
static void end_call(struct channel *c, bool ready)
{
	if (ready)
		write_frames(c);
	http2_cancel(&c->http2);
	if (ready)
		write_frames(c);
}

/*
 * Do everything possible without a wait. Returns false if the caller has to
 * wait. A server that sends without end neither keeps the call from its time
 * limit nor its messages from being sent.
 */
static bool take_turn(struct channel *c)
{
	int ret = link_shake(&c->link);
	int64_t now;

	if (!take_wishes(c)) {
		end_call(c, ret > 0);
		return true;
	}
	now = channel_alarm(c) == NEVER ? 0 : now_ms();
	if (now >= channel_alarm(c)) {
		/* The PING's answer may be here if this process was stopped. */
		if (ret <= 0 || !c->ping_sent || now >= c->deadline ||
		    !read_frames(c))
			take_alarm(c, now);
		return true;
	}
	if (ret < 0) {
		lose_link(c);
		return true;
	}
	if (ret)
		write_frames(c);
	if (ret && http2_has_ended(&c->http2)) {
		c->http2.not_http2 = true;
		lose_link(c);
		return true;
	}
	return ret && read_frames(c);
}

static void drop_link(struct channel *c)
{
	http2_close(&c->http2);
	link_close(&c->link);
	c->out_at = c->out_len = 0;
	c->reader_gone = c->ping_sent = false;
}

/* Certificates may have been renewed: read the files for each connection. */
static bool read_files(struct channel *c, char *err, size_t err_len)
{
	const struct inc_tls_how *how = &c->how.tls;
	struct inc_tls_ctx *ctx;

	if (!how->ca)
		return true;
	ctx = inc_tls_ctx_new(how, err, err_len);
	if (!ctx)
		return false;
	if (c->link.ctx)
		inc_tls_ctx_free(c->link.ctx);
	c->link.ctx = ctx;
	return true;
}

static bool start_http2(struct channel *c)
{
	c->heard_at = now_ms();
	c->http2.pull = pull_messages;
	c->http2.ctx = c;
	if (!http2_open(&c->http2))
		return true;
	link_fail(&c->link, FAULT_SYSTEM, ENOMEM);
	return false;
}

static bool connect_to(struct channel *c, int timeout_ms)
{
	char err[sizeof(c->link.why)];
	int limit = c->how.connect_ms;

	drop_link(c);
	if (!read_files(c, err, sizeof(err))) {
		c->link.fault = FAULT_TLS;
		snprintf(c->link.why, sizeof(c->link.why), "%s", err);
		return false;
	}
	if (!limit || (timeout_ms && timeout_ms < limit))
		limit = timeout_ms ? timeout_ms : CONNECT_MS;
	return link_connect(&c->link, c->how.address, c->how.port, limit) &&
	       start_http2(c);
}

/* Is the connection of the last call still there? */
static bool is_alive(struct channel *c)
{
	int i;

	if (c->link.fd < 0 || c->link.fault || c->http2.draining)
		return false;
	/* Look for GOAWAY. A server that sends much else is left, too. */
	for (i = 0; i < IDLE_READS && c->link.has_handshake && !c->http2.draining;
	     i++)
		if (!read_frames(c))
			return true;
	return false;
}

/* --- Calls --------------------------------------------------------------- */

/* Use a connection that exists for the next call. */
void channel_adopt(struct channel *c, int fd)
{
	drop_link(c);
	c->adopted = true;
	if (!link_adopt(&c->link, fd, c->how.address) || !start_http2(c))
		lose_link(c);
}

/* Drop messages that were queued between the last call and this one. */
static void reset_call(struct channel *c)
{
	pthread_mutex_lock(&c->lock);
	c->unsent_at = c->unsent_len = 0;
	c->half_closed = c->cancelled = false;
	pthread_mutex_unlock(&c->lock);
}

/*
 * Begin a call. Waits only for a connection, if there is none. If that fails,
 * channel_status() says so.
 * @c: channel without a call, or with one that is over
 * @timeout_ms: time limit, also for connecting; 0: none
 */
void channel_begin(struct channel *c, const char *path, int timeout_ms)
{
	struct http2_call call = {
		.path = path,
		.authority = inc_reach_is_path(c->how.address) ?
			     "localhost" : c->how.address,
		.tls = c->how.tls.ca,
		.token = c->how.token,
		.timeout_ms = timeout_ms,
	};

	c->deadline = timeout_ms ? now_ms() + timeout_ms : NEVER;
	reset_call(c);
	if (!c->adopted && !is_alive(c) && !connect_to(c, timeout_ms))
		lose_link(c);
	c->adopted = false;
	if (c->link.fault)
		return;
	if (http2_begin(&c->http2, &call)) {
		link_fail(&c->link, FAULT_SYSTEM, ENOMEM);
		lose_link(c);
	}
}

/*
 * Wait for a message. Returns false if no more follow; channel_status() says
 * why.
 * @data: result: its bytes, to be freed
 */
bool channel_receive(struct channel *c, uint8_t **data, size_t *len)
{
	while (!http2_message(&c->http2, data, len)) {
		if (c->http2.call_ended)
			return false;
		if (!take_turn(c))
			await_event(c);
	}
	return true;
}

/*
 * Take a message without a wait. Returns 0; -EAGAIN: none yet, wait for
 * channel_events() at channel_fd(); -ENOTCONN: no more follow, and
 * channel_status() says why.
 * @c: channel with @how.nowait; its queued messages are sent, too
 * @data: result: its bytes, to be freed
 */
int channel_try(struct channel *c, uint8_t **data, size_t *len)
{
	while (!http2_message(&c->http2, data, len)) {
		if (c->http2.call_ended)
			return -ENOTCONN;
		if (!take_turn(c))
			return -EAGAIN;
	}
	return 0;
}

/* Send queued messages as far as possible without a wait. */
void channel_flush(struct channel *c)
{
	int ret = c->http2.call_ended ? 0 : link_shake(&c->link);

	/* Retrying a failed handshake would hide its reason. */
	if (ret < 0)
		lose_link(c);
	else if (ret && take_wishes(c))
		write_frames(c);
}

/* Get the connection's socket. */
int channel_fd(const struct channel *c)
{
	return c->link.fd;
}

/* Get the events of poll() to wait for at channel_fd(). */
short channel_events(const struct channel *c)
{
	bool more = c->link.has_handshake && c->out_at < c->out_len;

	return (short)(c->link.events | (more ? POLLOUT : 0));
}

/*
 * Get a call's status. Returns one of gRPC's status codes.
 * @c: channel; a call that is not over is cancelled
 * @text: result: status message, valid until the next call
 * @fault: result: fault on the way to the server, described by @text;
 *	FAULT_NONE: @text is the server's
 */
int channel_status(struct channel *c, const char **text, enum fault *fault)
{
	struct http2 *s = &c->http2;

	if (!s->call_ended) {
		http2_cancel(s);
		if (c->link.has_handshake)
			write_frames(c);
	}
	/* A gRPC server without the service is another program. */
	if (s->not_http2 || (s->has_status && s->status == WIRE_UNIMPLEMENTED &&
			    s->text && strcasestr(s->text, "unknown service")))
		link_fail(&c->link, FAULT_STRANGER, 0);
	*fault = s->has_status && c->link.fault != FAULT_STRANGER ? FAULT_NONE :
							       c->link.fault;
	*text = *fault ? c->link.why :
		s->text && *s->text ? s->text : wire_unexplained(s->status);
	return s->status;
}

/*
 * Send a message, and wait for its one answer. Returns false if there was no
 * answer, or more than one; channel_status() says more in any case.
 * @c: channel without a call, or with one that is over
 * @out: result: the answer, to be freed; NULL: none
 */
bool channel_call(struct channel *c, const char *path, int timeout_ms,
		  const uint8_t *in, size_t in_len, uint8_t **out,
		  size_t *out_len)
{
	uint8_t *more;
	bool got;
	size_t n;

	*out = NULL;
	*out_len = 0;
	channel_begin(c, path, timeout_ms);
	channel_send(c, in, in_len);
	channel_half(c);
	got = channel_receive(c, out, out_len);
	if (!got || !channel_receive(c, &more, &n))
		return got;
	free(more);
	free(*out);
	*out = NULL;
	*out_len = 0;
	http2_reject(&c->http2, "it sends more than one answer");
	return false;
}

/* --- Channels ------------------------------------------------------------ */

/*
 * Prepare calls to a server. Returns the channel, for channel_free(), or NULL.
 * @how: how to reach the server; address and token are copied
 * @err_len: size of @err in bytes
 */
struct channel *channel_new(const struct channel_how *how, char *err,
			    size_t err_len)
{
	struct channel *c = calloc(1, sizeof(*c));

	snprintf(err, err_len, "no memory");
	if (!c)
		return NULL;
	pthread_mutex_init(&c->lock, NULL);
	c->how = *how;
	c->how.address = c->texts[0] = strdup(how->address);
	c->how.token = c->texts[1] = how->token ? strdup(how->token) : NULL;
	c->link.program = how->program;
	c->link.fd = -1;
	c->http2.tail = &c->http2.queue;
	c->wake = how->nowait ? -1 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (c->texts[0] && (c->texts[1] || !how->token) &&
	    (how->nowait || c->wake >= 0) &&
	    read_files(c, err, err_len))
		return c;
	channel_free(c);
	return NULL;
}

/* Close the connection, and free the channel. */
void channel_free(struct channel *c)
{
	if (!c)
		return;
	drop_link(c);
	if (c->link.ctx)
		inc_tls_ctx_free(c->link.ctx);
	if (c->wake >= 0)
		close(c->wake);
	if (c->texts[1])
		explicit_bzero(c->texts[1], strlen(c->texts[1]));
	free(c->texts[0]);
	free(c->texts[1]);
	free(c->unsent);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

/* Get this end's address. Returns 0 or a negative errno value. */
int channel_own_addr(const struct channel *c, struct sockaddr_storage *ss)
{
	socklen_t len = sizeof(*ss);

	return getsockname(c->link.fd, (struct sockaddr *)ss, &len) ? -errno : 0;
}

/*
 * Close a child's copies of a channel's descriptors.
 * @c: the parent's channel, which stays open there
 */
void channel_forked(struct channel *c)
{
	if (c->link.fd >= 0)
		close(c->link.fd);
	if (c->wake >= 0)
		close(c->wake);
}
