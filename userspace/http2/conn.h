/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A connection, for the files of h2/.
 */
#ifndef INC_HTTP2_CONN_H
#define INC_HTTP2_CONN_H

#include <netinet/in.h>
#include <nghttp2/nghttp2.h>

#include "loop/loop.h"
#include "conf/socket.h"
#include "http2/h2.h"

#define CONN_TURN_US	1000	/* of a connection per turn, before its next frame */
#define CONN_READ	16384	/* bytes of a connection per turn: a TLS record */
#define CONN_WRITE	65536	/* bytes to a connection per turn */
#define MESSAGE_MAX	65536	/* bytes of one message from a client */
/* Frames that carry no call, at once and a second: RST, PING, SETTINGS, ... */
#define JUNK		1000
#define JUNK_S		50
#define STALE_MS	1000	/* until a handshake, or one without a call, may give way */
#define BARRED_MS	10000	/* a host gets no new connection for so long */

/**
 * enum conn_state - what a connection does
 * @CONN_QUIET: nothing was read yet
 * @CONN_WAITS: something has come, but others shake hands before
 * @CONN_SHAKES: it shakes hands
 * @CONN_OPEN: it speaks HTTP/2
 * @CONN_LINGERS: all was said; what comes is dropped
 * @CONN_DEAD: it is freed at the end of the turn
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
 * @head: of the next frame
 * @have: bytes of it
 * @left: bytes of this frame, or of the client's preface, that are to come
 * @skip: it is not shown to nghttp2
 * @newest: stream of the newest call
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
 * @pprev: what points to this one
 * @next_dirty: next one that has something to send
 * @server: server
 * @fd: socket
 * @io: tells what has happened at @fd
 * @events: that epoll waits for: each only once
 * @got: those that have happened, and are not dealt with
 * @work: its turn, in the lane of its tenant or host
 * @state: what it does
 * @ssl: TLS, or NULL
 * @read_limit: bytes that may have come, including TLS, by the end of the turn
 * @h2: HTTP/2, once it is CONN_OPEN
 * @input: what comes to it
 * @in: bytes that were read, and wait for its next turn
 * @in_len: their number
 * @share: whose it is
 * @idle_node: among its host's connections without a call
 * @shake_node: among the connections that wait to shake hands, or shake hands
 * @timer: time limits
 * @since: milliseconds; when its state changed last, or it took something of
 *	what was sent
 * @idle_at: likewise; since when it has no call
 * @calls: its calls
 * @out: what the socket does not take yet
 * @out_len: its length
 * @words: calls, and messages but for heartbeats
 * @junk: frames that carry no call
 * @bytes: bytes that are no call's
 * @cut_reason: why it is to be cut, or NULL
 * @hung_up: the client has closed it, or its kernel
 * @goaway: the client has said before that it would
 * @idle: it is one of SHARE_IDLE
 * @dirty: it is in the list by @next_dirty
 * @peer: "ipv4:ADDRESS:PORT", "ipv6:[ADDRESS]:PORT" or "unix:"
 */
struct h2_conn {
	struct h2_conn		*next, **pprev;
	struct h2_conn		*next_dirty;
	struct h2_server	*server;
	int			fd;
	struct loop_fd		io;
	uint32_t		events, got;
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
	bool			hung_up;
	bool			goaway;
	bool			idle, dirty;
	char			peer[INET6_ADDRSTRLEN + 16];
};

#define BARRED		32	/* hosts whose connections were cut */

/**
 * struct h2_listener - a socket at which the server listens
 * @io: somebody has come
 * @server: server
 * @fd: socket
 */
struct h2_listener {
	struct loop_fd		io;
	struct h2_server	*server;
	int			fd;
};

/**
 * struct h2_server - the server
 * @self: what texts call it
 * @handler: callbacks
 * @ctx: their argument
 * @loop: main loop, whose thread does everything
 * @listeners: where it listens
 * @nlisteners: their number
 * @not_accepting: they are not waited for
 * @socket: in the file system, if it listens at one
 * @conns: all connections
 * @queues: of each kind
 * @hostless: queues of connections of no host
 * @dirty: those with something to send
 * @dead: those to be freed
 * @evict: ends one, so that others have room: calls and hosts are below what ends
 *	connections
 * @accept_timer: when to accept again
 * @turn_timer: when to look again at connections that wait to shake hands
 * @barred: hosts that get no new connection for a while
 * @session: nghttp2's callbacks
 * @option: and options
 * @stopping: its end has begun
 * @stop_at: milliseconds; when it is over at the latest
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
	struct {
		char	host[INET6_ADDRSTRLEN];
		int64_t	until;
	} barred[BARRED];
	nghttp2_session_callbacks	*session;
	nghttp2_option			*option;
	bool				stopping;
	int64_t				stop_at;
};

/* In milliseconds, of the beginning of the main loop's turn. */
static inline int64_t conn_now(const struct h2_conn *c)
{
	return c->server->loop->now;
}

/* conn.c */
void conn_mark(struct h2_conn *c);
void conn_cut(struct h2_conn *c, const char *why);
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
