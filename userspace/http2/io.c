// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A connection's turn: it is read once, some of its frames are taken, and a
 * little is written. No connection may keep the main loop busy.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http2/conn.h"

#define TLS_FIRST	0x16	/* first byte of a TLS handshake */
/* Bytes without a call, at once and per second: heartbeats, PINGs. */
#define BYTES		(256 << 10)
#define BYTES_S		512

static uint64_t cuts, drops;

/* Get the number of connections cut. Returns the number. */
uint64_t h2_cuts(void)
{
	return cuts;
}

/*
 * Get the number of handshakes dropped for others, or never begun. Returns the
 * number.
 */
uint64_t h2_drops(void)
{
	return drops;
}

static void forget_session(struct h2_conn *c)
{
	nghttp2_session_del(c->h2);
	c->h2 = NULL;
	session_forget(c);
	free(c->out);
	free(c->in);
	c->out = c->in = NULL;
	c->out_len = c->in_len = 0;
}

/* Close a connection; it is freed at the end of the turn. */
void conn_die(struct h2_conn *c)
{
	if (c->state == CONN_DEAD)
		return;
	loop_cancel(c->server->loop, &c->work);
	forget_session(c);
	conn_enter(c, CONN_DEAD);
	conn_idle(c, false);
	SSL_free(c->ssl);
	close(c->fd);
	timer_remove(&c->server->loop->timers, &c->timer);
	share_give(&c->share, SHARE_CONNECTIONS, 1);
	share_leave(&c->share);
	*c->pprev = c->next;
	if (c->next)
		c->next->pprev = c->pprev;
	c->next = c->server->dead;
	c->server->dead = c;
}

/* End a connection at once to make room for others. */
void conn_evict(struct h2_conn *c, const char *why)
{
	struct h2_server *s = c->server;

	cuts++;
	s->handler->cut(s->ctx, c->peer, why);
	conn_die(c);
}

/* Say goodbye, and wait until the client has read it: close() could lose it. */
static void linger_conn(struct h2_conn *c)
{
	if (c->ssl && c->h2)
		SSL_shutdown(c->ssl);
	shutdown(c->fd, SHUT_WR);
	forget_session(c);
	conn_enter(c, CONN_LINGERS);
	/* A connection that was cut is not read from. */
	conn_wait(c, c->cut_reason ? 0 : EPOLLIN);
}

/* End a connection gracefully. */
void conn_end(struct h2_conn *c)
{
	if (c->state != CONN_OPEN) {
		conn_die(c);
		return;
	}
	session_end(c);
}

/* A connection's time is up. */
void conn_timer(struct timer *timer)
{
	struct h2_conn *c = container_of(timer, struct h2_conn, timer);

	if (c->state == CONN_OPEN && !c->out_len) {
		conn_end(c);
		c->since = c->idle_at = conn_now(c);
		conn_arm(c);
	} else {
		drops += c->state == CONN_WAITS;
		conn_die(c);
	}
}

/* --- Output -------------------------------------------------------------- */

/* Gather output. Returns its length. */
static size_t gather_output(struct h2_conn *c, uint8_t *buf)
{
	size_t len = c->out_len;
	const uint8_t *p;
	ssize_t n;

	if (len) {
		memcpy(buf, c->out, len);
		return len;
	}
	while (len < CONN_READ && (n = nghttp2_session_mem_send(c->h2, &p)) > 0) {
		memcpy(buf + len, p, (size_t)n);
		len += (size_t)n;
	}
	return len;
}

/* Keep output that the socket does not take. */
static int keep_output(struct h2_conn *c, const uint8_t *buf, size_t len)
{
	uint8_t *out = len ? malloc(len) : NULL;

	if (len && !out)
		return -ENOMEM;
	free(c->out);
	if (len)
		memcpy(out, buf, len);
	c->out = out;
	c->out_len = len;
	return 0;
}

/* Returns 1: the socket takes more; 0: it does not; -1: connection lost. */
static int write_some(struct h2_conn *c, size_t *total)
{
	/* nghttp2 may add a whole frame to just under CONN_READ bytes. */
	static uint8_t buf[CONN_READ + 2 * 65536];
	size_t len = gather_output(c, buf);
	ssize_t n;

	if (!len)
		return 0;
	n = tls_transfer(c, buf, len, true);
	if (n < 0 || keep_output(c, buf + n, len - (size_t)n))
		return -1;
	*total += (size_t)n;
	if (n)
		c->since = conn_now(c);
	return !c->out_len;
}

/* The client took more than it needs: say so, if it reads, and read no more. */
static void cut_conn(struct h2_conn *c)
{
	struct h2_server *s = c->server;
	size_t total = 0;

	cuts++;
	if (c->h2) {
		nghttp2_submit_goaway(
			c->h2, NGHTTP2_FLAG_NONE,
			nghttp2_session_get_last_proc_stream_id(c->h2),
			NGHTTP2_ENHANCE_YOUR_CALM,
			(const uint8_t *)c->cut_reason, strlen(c->cut_reason));
		nghttp2_session_terminate_session(c->h2,
						  NGHTTP2_ENHANCE_YOUR_CALM);
		while (write_some(c, &total) > 0 && total < CONN_WRITE)
			;
	}
	host_bar(s, c, c->cut_reason);
	linger_conn(c);
}

/* Send pending output, as far as the client reads it. */
void conn_flush(struct h2_conn *c)
{
	size_t total = 0;
	int ret = 1;

	c->dirty = false;
	if (c->state != CONN_OPEN) {
		if (c->cut_reason && c->state < CONN_LINGERS)
			conn_die(c);
		return;
	}
	while (!c->cut_reason && ret > 0 && total < CONN_WRITE)
		ret = write_some(c, &total);
	if (c->cut_reason) {
		cut_conn(c);
	} else if (ret < 0) {
		conn_die(c);
	} else if (!c->out_len && !nghttp2_session_want_read(c->h2) &&
		   !nghttp2_session_want_write(c->h2)) {
		linger_conn(c);
	} else {
		/* Nothing is read until all output is written. */
		if (c->in && !c->out_len)
			conn_post(c);
		conn_wait(c, c->out_len ? EPOLLOUT :
			  EPOLLIN | (ret > 0 ? EPOLLOUT : 0));
		conn_arm(c);
	}
}

/* --- Input --------------------------------------------------------------- */

/* Keep bytes for the next turn, which comes after other connections' turns. */
static int keep_input(struct h2_conn *c, const uint8_t *data, size_t len)
{
	uint8_t *rest = len ? malloc(len) : NULL;

	if (len && !rest)
		return -ENOMEM;
	if (len)
		memcpy(rest, data, len);
	free(c->in);
	c->in = rest;
	c->in_len = len;
	return 0;
}

static ssize_t read_more(struct h2_conn *c, uint8_t *buf, size_t len)
{
	size_t calls = c->share.by_kind[SHARE_CONNECTION]->used[SHARE_CALLS];
	size_t all;
	ssize_t n = tls_read(c, buf, len, &all);

	if (all && !allowance_take(&c->bytes, conn_now(c), (int64_t)all,
				   BYTES, BYTES_S * (1 + (int64_t)calls)))
		conn_cut(c, "it sends more than its calls and messages have");
	return n;
}

static void read_some(struct h2_conn *c)
{
	static uint8_t buf[CONN_READ];
	const uint8_t *data = c->in ? c->in : buf;
	ssize_t n = c->in ? (ssize_t)c->in_len : read_more(c, buf, sizeof(buf));
	ssize_t ret = 0;

	if (n > 0 && !c->cut_reason)
		ret = input_take(c, data, (size_t)n);
	if (ret == NGHTTP2_ERR_BAD_CLIENT_MAGIC)
		c->server->handler->refused(c->server->ctx, c->peer, *data == TLS_FIRST ?
					    "it speaks TLS, and this server does not" :
					    "it does not speak HTTP/2");
	if (n < 0 || ret == NGHTTP2_ERR_BAD_CLIENT_MAGIC) {
		conn_die(c);
		return;
	}
	if (ret < 0)
		conn_cut_malformed(c, "protocol error");
	else if (n > 0 && !c->cut_reason &&
		 keep_input(c, data + ret, (size_t)(n - ret)))
		conn_cut(c, "no memory");
	conn_mark(c);
}

static void open_session(struct h2_conn *c)
{
	conn_enter(c, CONN_OPEN);
	if (session_open(c))
		conn_die(c);
	else
		conn_mark(c);
}

static void shake_hands(struct h2_conn *c)
{
	int ret = tls_shake(c);

	conn_wait(c, EPOLLIN);
	if (ret < 0)
		linger_conn(c);
	else if (ret)
		open_session(c);
}

/* A handshake gives way to a newer one, which @why kept out. */
static void drop_shake(struct h2_conn *c, const char *why)
{
	char text[256];

	drops++;
	snprintf(text, sizeof(text), "TLS: its handshake was dropped for a newer one: %s",
		 why);
	c->server->handler->refused(c->server->ctx, c->peer, text);
	conn_die(c);
}

/*
 * Begin with a connection that has sent something. Returns false: it has to
 * wait.
 */
bool conn_start(struct h2_conn *c)
{
	struct h2_server *s = c->server;
	struct h2_conn *other;
	SSL_CTX *tls;
	char why[160];
	int full;

	if (host_barred(s, c))
		return false;
	tls = s->handler->tls(s->ctx);
	if (!tls) {
		open_session(c);
		conn_wait(c, EPOLLIN);
		return true;
	}
	full = share_take(&c->share, SHARE_HANDSHAKES, 1, why, sizeof(why));
	other = full < 0 ? NULL : host_greedy(s, c, full, true);
	if (other) {
		drop_shake(other, why);
		full = share_take(&c->share, SHARE_HANDSHAKES, 1, why,
				  sizeof(why));
	}
	if (full >= 0)
		return false;
	conn_enter(c, CONN_SHAKES);
	if (!tls_open(c, tls))
		conn_die(c);
	else
		conn_post(c);
	return true;
}

static void begin_conn(struct h2_conn *c)
{
	if (!conn_hostq(c, HOSTQ_WAITS)->n && conn_start(c))
		return;
	conn_enter(c, CONN_WAITS);
	/* A client that hangs up while it waits costs nothing. */
	conn_wait(c, EPOLLRDHUP);
}

static void drop_some(struct h2_conn *c)
{
	static uint8_t buf[CONN_READ];
	ssize_t n = recv(c->fd, buf, sizeof(buf), 0);

	if (!n || (n < 0 && errno != EAGAIN))
		conn_die(c);
	else
		conn_wait(c, EPOLLIN);
}

/* The socket has events, or the last turn left input. */
static void take_turn(struct h2_conn *c, uint32_t events)
{
	switch (c->state) {
	case CONN_QUIET:
		begin_conn(c);
		break;
	case CONN_SHAKES:
		shake_hands(c);
		break;
	case CONN_OPEN:
		/* A client that has closed may have sent something before. */
		if (!c->out_len &&
		    (c->in || events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
			read_some(c);
		else
			conn_mark(c);
		break;
	case CONN_LINGERS:
		drop_some(c);
		break;
	case CONN_WAITS:
		if (events & EPOLLRDHUP)
			conn_die(c);
		break;
	case CONN_DEAD:
		break;
	}
}

/* A connection's turn has come. */
void conn_work(struct loop_work *work)
{
	struct h2_conn *c = container_of(work, struct h2_conn, work);
	uint32_t events = c->got;

	c->began_us = now_us();
	c->got = 0;
	if (events & (EPOLLERR | EPOLLHUP) && c->state != CONN_OPEN) {
		tls_note_error(c);
		conn_die(c);
	} else {
		take_turn(c, events);
	}
	/* A dead connection has no lane any more. */
	if (c->state != CONN_DEAD)
		lane_charge(share_lane(&c->share), now_us() - c->began_us);
}

/* Have a connection take its turn. */
void conn_post(struct h2_conn *c)
{
	if (c->state == CONN_DEAD || c->work.queued)
		return;
	c->work.lane = share_lane(&c->share);
	loop_post(c->server->loop, &c->work);
}
