/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A server's connection, for the files of the server only.
 */
#ifndef INC_HTTP2_CONN_H
#define INC_HTTP2_CONN_H

#include <netinet/in.h>
#include <nghttp2/nghttp2.h>

#include "loop/loop.h"
#include "conf/socket.h"
#include "http2/h2.h"

#define CONN_TURN_US	1000	/* per turn; looked at before each frame */
#define CONN_READ	16384	/* bytes read per turn: a TLS record */
#define CONN_WRITE	65536	/* bytes written per turn */
#define MESSAGE_MAX	65536	/* bytes of a client's message */
/* Frames without a call, at once and per second: RST, PING, SETTINGS, ... */
#define JUNK		1000
#define JUNK_S		50
#define STALE_MS	1000	/* age at which a connection may give way */
#define BARRED_MS	10000	/* for which a host gets no new connection */

/**
 * enum conn_state - state of a connection
 * @CONN_QUIET: nothing was read yet
 * @CONN_WAITS: bytes have arrived, but other handshakes come first
 * @CONN_SHAKES: TLS handshake
 * @CONN_OPEN: HTTP/2
 * @CONN_LINGERS: all was sent; input is dropped
 * @CONN_DEAD: closed; freed at the end of the turn
 */
enum conn_state {
	CONN_QUIET,
	CONN_WAITS,
	CONN_SHAKES,
	CONN_OPEN,
	CONN_LINGERS,
	CONN_DEAD,
};

#define FRAME_HEAD	9	/* bytes before a frame of HTTP/2 */

/**
 * struct h2_input - where a connection's frames begin and end
 * @head: head of the next frame
 * @have: bytes of @head received
 * @left: bytes to come of this frame, or of the client's preface
 * @skip: nghttp2 does not see this frame
 * @newest: stream ID of the newest call
 */
struct h2_input {
	uint8_t		head[FRAME_HEAD];
	size_t		have;
	uint32_t	left;
	bool		skip;
	uint32_t	newest;
};

/**
 * struct h2_conn - a connection
 * @next: next one
 * @pprev: pointer to this one
 * @next_dirty: next connection with output to be sent
 * @server: server
 * @fd: socket
 * @io: reports events at @fd
 * @events: events that epoll waits for, once each
 * @got: events that have happened and are not handled yet
 * @began_us: microseconds; when its turn began
 * @work: its turn, in the lane of its tenant or host
 * @state: state
 * @ssl: TLS, or NULL
 * @read_limit: bytes that may have come, including TLS, by the end of the turn
 * @h2: HTTP/2 session in state CONN_OPEN
 * @input: frames being received
 * @in: bytes read, to be handled in its next turn
 * @in_len: their number
 * @share: shares that it counts towards
 * @idle_node: among its host's connections without a call
 * @shake_node: among connections in a handshake, or waiting for one
 * @timer: time limits
 * @since: milliseconds; when its state changed last, or the socket took output
 * @idle_at: milliseconds; since when it has no call
 * @calls: its calls
 * @out: output that the socket has not taken
 * @out_len: its length
 * @words: allowance of calls and messages, except heartbeats
 * @junk: allowance of frames that carry no call
 * @bytes: allowance of bytes that belong to no call
 * @cut_reason: why to cut it, or NULL
 * @is_malformed: because what it sends is malformed
 * @hung_up: the client, or its kernel, has closed it
 * @goaway: the client has sent GOAWAY
 * @idle: counted as SHARE_IDLE
 * @dirty: linked by @next_dirty
 * @peer: "ipv4:ADDRESS:PORT", "ipv6:[ADDRESS]:PORT" or "unix:"
 */
struct h2_conn {
	struct h2_conn		*next, **pprev;
	struct h2_conn		*next_dirty;
	struct h2_server	*server;
	int			fd;
	struct loop_fd		io;
	uint32_t		events, got;
	double			began_us;
	struct loop_work	work;
	enum conn_state		state;
	SSL			*ssl;
	uint64_t		read_limit;
	nghttp2_session		*h2;
	struct h2_input		input;
	uint8_t			*in;
	size_t			in_len;
	struct share_set	share;
	struct hostq_node	idle_node, shake_node;
	struct timer		timer;
	int64_t			since, idle_at;
	struct h2_call		*calls;
	uint8_t			*out;
	size_t			out_len;
	struct allowance	words, junk, bytes;
	const char		*cut_reason;
	bool			is_malformed;
	bool			hung_up;
	bool			goaway;
	bool			idle, dirty;
	char			peer[INET6_ADDRSTRLEN + 16];
};

#define BARRED		32	/* hosts whose connections were cut */

/**
 * struct h2_listener - a listening socket
 * @io: reports new connections
 * @server: server
 * @fd: socket
 */
struct h2_listener {
	struct loop_fd		io;
	struct h2_server	*server;
	int			fd;
};

/**
 * struct h2_barred - a host whose connections were cut
 * @host: its address; empty: the entry is free
 * @since: milliseconds; when the first of @cuts was cut
 * @cuts: connections that were cut in BARRED_MS
 * @until: milliseconds; until when it gets no new connection
 */
struct h2_barred {
	char		host[INET6_ADDRSTRLEN];
	int64_t		since;
	unsigned int	cuts;
	int64_t		until;
};

/**
 * struct h2_server - the server
 * @self: the server's name in texts
 * @handler: callbacks
 * @ctx: their argument
 * @loop: main loop, whose thread runs everything
 * @listeners: listening sockets
 * @nlisteners: their number
 * @not_accepting: accepting is paused
 * @socket: UNIX socket's file, if there is one
 * @conns: all connections
 * @queues: queues of connections, by kind
 * @hostless: queues of connections without a host
 * @dirty: connections with output to be sent
 * @dead: connections to be freed
 * @evict: ends a connection to make room: conn_evict(), which host.c and
 *	session.c must not call directly
 * @accept_timer: when to accept again
 * @turn_timer: wakes the loop while connections wait, or the server stops
 * @barred: hosts whose connections were cut, and may get no new one for a while
 * @session: nghttp2's callbacks
 * @option: nghttp2's options
 * @stopping: h2_stop() was called
 * @stop_at: milliseconds; when the last connection is closed
 */
struct h2_server {
	const char			*self;
	const struct h2_handler		*handler;
	void				*ctx;
	struct loop			*loop;
	struct h2_listener		listeners[16];
	unsigned int			nlisteners;
	bool				not_accepting;
	struct inc_socket		socket;
	struct h2_conn			*conns;
	struct hostq_set		queues[HOSTQS];
	struct hostq			hostless[HOSTQS];
	struct h2_conn			*dirty;
	struct h2_conn			*dead;
	void				(*evict)(struct h2_conn *c, const char *why);
	struct timer			accept_timer, turn_timer;
	struct h2_barred		barred[BARRED];
	nghttp2_session_callbacks	*session;
	nghttp2_option			*option;
	bool				stopping;
	int64_t				stop_at;
};

/* Get the time in milliseconds at which the main loop's turn began. */
static inline int64_t conn_now(const struct h2_conn *c)
{
	return c->server->loop->now;
}

/* conn.c */
void conn_mark(struct h2_conn *c);
void conn_cut(struct h2_conn *c, const char *why);
void conn_cut_malformed(struct h2_conn *c, const char *why);
bool conn_junk(struct h2_conn *c, int64_t n, const char *why);
void conn_wait(struct h2_conn *c, uint32_t events);
void conn_arm(struct h2_conn *c);
struct hostq *conn_hostq(struct h2_conn *c, enum hostq_kind kind);
void conn_enter(struct h2_conn *c, enum conn_state state);
void conn_idle(struct h2_conn *c, bool idle);

/* input.c */
void input_open(struct h2_input *in);
ssize_t input_take(struct h2_conn *c, const uint8_t *data, size_t len);

/* session.c */
int session_prepare(struct h2_server *s);
int session_open(struct h2_conn *c);
void session_end(struct h2_conn *c);
void session_end_calls(struct h2_conn *c, int status, const char *text);
void session_forget(struct h2_conn *c);

/* tls.c */
bool tls_open(struct h2_conn *c, SSL_CTX *ctx);
ssize_t tls_read(struct h2_conn *c, void *buf, size_t len, size_t *all);
void tls_note_error(struct h2_conn *c);
ssize_t tls_transfer(struct h2_conn *c, void *buf, size_t len, bool out);
int tls_shake(struct h2_conn *c);

/* host.c */
struct h2_conn *host_greedy(struct h2_server *s, struct h2_conn *c, int full,
			    bool shakes);
void host_bar(struct h2_server *s, const struct h2_conn *c, const char *why);
bool host_make_room(struct h2_conn *self, const struct share_set *set,
		    enum share_what what, size_t n, int full);
bool host_barred(const struct h2_server *s, const struct h2_conn *c);

/* server.c */
void server_accept(struct loop_fd *io, uint32_t events);

/* io.c */
void conn_post(struct h2_conn *c);
void conn_work(struct loop_work *work);
void conn_flush(struct h2_conn *c);
void conn_die(struct h2_conn *c);
void conn_evict(struct h2_conn *c, const char *why);
bool conn_start(struct h2_conn *c);
void conn_timer(struct timer *timer);
void conn_end(struct h2_conn *c);

#endif /* INC_HTTP2_CONN_H */
