// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The HTTP server, by libmicrohttpd. Connections are few; a connection is
 * closed if it takes longer than REQUEST_MS to send a request, or ANSWER_MS to
 * read a text, or if it does not read for READ_S. Published texts are counted
 * by users, and freed with the last connection that sends them. Each second
 * brings a new one, so slow readers hold at most ANSWER_MS / 1000 texts in all.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <openssl/crypto.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "auth/address.h"
#include "loop/loop.h"
#include "conf/list.h"
#include "conf/log.h"
#include "rpc/rpc.h"
#include "web/web.h"

#define CONNECTIONS	512
#define HOST_MAX	256	/* connections from one host */
#define STREAMS		32	/* connections of EventSource */
#define READ_S		5
#define REQUEST_MS	5000
#define HURRY_MS	1000	/* instead, if half of the connections are taken */
#define ANSWER_MS	20000
#define BLOCK		8192

/**
 * struct text - a published text
 * @http: server
 * @users: number of connections that may still send it, and one while published
 * @len: its length
 * @data: text
 */
struct text {
	struct http	*http;
	unsigned int	users;
	size_t		len;
	char		*data;
};

/**
 * struct http_conn - a connection
 * @next: next connection
 * @fd: its socket
 * @since: milliseconds; start of its silence, or of the answer
 * @has_request: has sent a request that is not answered yet
 * @streams: serves an EventSource
 * @from: its host
 */
struct http_conn {
	struct http_conn	*next;
	int		fd;
	int64_t		since;
	bool		has_request;
	bool		streams;
	struct in6_addr	from;
};

/**
 * struct stream - an EventSource
 * @next: next EventSource
 * @http: server
 * @conn: libmicrohttpd's connection
 * @now: text that is being sent, NULL: none
 * @since: milliseconds; when @now began to be sent
 * @begin: bytes of the stream before @now
 * @sent: serial number of the last text
 * @waits: waits for a new text
 * @replaced: another viewer has its place
 * @fd: its socket
 * @from: its host
 * @token: operator's token that it was asked for, or NULL
 */
struct stream {
	struct stream		*next;
	struct http		*http;
	struct MHD_Connection	*conn;
	struct text		*now;
	int64_t			since;
	uint64_t		begin;
	uint64_t		sent;
	bool			waits;
	bool			replaced;
	int			fd;
	struct in6_addr		from;
	char			*token;
};

/**
 * struct http - server
 * @daemon: libmicrohttpd's daemon
 * @loopback: listens only for this host
 * @gate: gRPC server, whose certificate and operators' tokens are asked for; NULL:
 *	nothing is
 * @tls: that certificate, as @daemon has it
 * @lock: guards the following
 * @stop: all connections end
 * @state: last published state
 * @metrics: last published metrics
 * @history: last published history
 * @serial: number of publications
 * @conns: connections
 * @nconns: number of connections
 * @streams: EventSources
 * @nstreams: number of EventSources
 */
struct http {
	struct MHD_Daemon	*daemon;
	bool			loopback;
	struct rpc		*gate;
	SSL_CTX			*tls;
	pthread_mutex_t		lock;
	bool			stop;
	struct text		*state;
	struct text		*metrics;
	struct text		*history;
	uint64_t		serial;
	struct http_conn	*conns;
	unsigned int		nconns;
	struct stream		*streams;
	unsigned int		nstreams;
};

static void release_text(struct text *t)
{
	if (!t || --t->users)
		return;
	free(t->data);
	free(t);
}

static struct text *text_new(struct http *h, char *data)
{
	struct text *t = data ? calloc(1, sizeof(*t)) : NULL;

	if (!t) {
		free(data);
		return NULL;
	}
	t->http = h;
	t->users = 1;
	t->data = data;
	t->len = strlen(data);
	return t;
}

/* --- Connections --------------------------------------------------------- */

static struct in6_addr host_of(struct MHD_Connection *conn)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(conn,
					MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	struct in6_addr key = { .s6_addr = { 0 } };

	if (info)
		inc_auth_peer_key(info->client_addr, &key);
	return key;
}

/* libmicrohttpd's own limit would count each IPv6 address as a host. */
static enum MHD_Result admit_peer(void *ctx, const struct sockaddr *peer,
				  socklen_t len)
{
	struct http *h = ctx;
	const struct http_conn *c;
	struct in6_addr key;
	unsigned int n = 0;

	inc_auth_peer_key(peer, &key);
	pthread_mutex_lock(&h->lock);
	for (c = h->conns; c; c = c->next)
		n += IN6_ARE_ADDR_EQUAL(&c->from, &key);
	pthread_mutex_unlock(&h->lock);
	return n < HOST_MAX ? MHD_YES : MHD_NO;
}

static void on_connection(void *ctx, struct MHD_Connection *conn, void **own,
			  enum MHD_ConnectionNotificationCode code)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct http *h = ctx;
	struct http_conn *c = *own;

	pthread_mutex_lock(&h->lock);
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		c = calloc(1, sizeof(*c));
		*own = c;
		if (c) {
			c->fd = info ? info->connect_fd : -1;
			c->since = now_ms();
			c->from = host_of(conn);
			c->next = h->conns;
			h->conns = c;
			h->nconns++;
		}
	} else if (c) {
		list_remove(h->conns, c);
		free(c);
		h->nconns--;
	}
	pthread_mutex_unlock(&h->lock);
}

/* Returns NULL if there was no memory for it. */
static struct http_conn *client_of(struct MHD_Connection *conn)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(conn,
					MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static void note_request(struct http *h, struct MHD_Connection *conn,
			 bool asked)
{
	struct http_conn *c = client_of(conn);

	if (!c)
		return;
	pthread_mutex_lock(&h->lock);
	c->has_request = asked;
	c->since = now_ms();
	pthread_mutex_unlock(&h->lock);
}

static void on_completed(void *ctx, struct MHD_Connection *conn, void **own,
			 enum MHD_RequestTerminationCode code)
{
	note_request(ctx, conn, false);
}

/*
 * Close slow connections; the lock is held. Requests or reads byte by byte do
 * not count as progress.
 */
static void close_slow(struct http *h)
{
	int64_t limit = h->nconns > CONNECTIONS / 2 ? HURRY_MS : REQUEST_MS;
	int64_t now = now_ms();
	struct http_conn *c;
	struct stream *s;

	for (c = h->conns; c; c = c->next)
		if (c->fd >= 0 && !c->streams &&
		    now - c->since > (c->has_request ? ANSWER_MS : limit))
			shutdown(c->fd, SHUT_RDWR);
	for (s = h->streams; s; s = s->next)
		if (s->now && now - s->since > ANSWER_MS)
			shutdown(s->fd, SHUT_RDWR);
}

/* Close streams whose tokens count no more; the lock is held. */
static void close_revoked(struct http *h)
{
	struct stream *s;

	for (s = h->streams; s; s = s->next)
		if (s->token && !(h->gate && rpc_is_operator(h->gate, s->token)))
			shutdown(s->fd, SHUT_RDWR);
}

/* --- EventSource --------------------------------------------------------- */

/* Take the newest text; the lock is held. Returns false if there is none. */
static bool take_new(struct http *h, struct stream *s)
{
	if (s->now)
		return true;
	if (!h->state || s->sent == h->serial)
		return false;
	s->sent = h->serial;
	s->now = h->state;
	s->now->users++;
	s->since = now_ms();
	return true;
}

/* Have viewers that wait look again; the lock is held. */
static void wake_streams(struct http *h)
{
	struct stream *s;

	for (s = h->streams; s; s = s->next)
		if (s->waits) {
			s->waits = false;
			MHD_resume_connection(s->conn);
		}
}

static ssize_t send_state(void *ctx, uint64_t pos, char *buf, size_t max)
{
	struct stream *s = ctx;
	struct http *h = s->http;
	ssize_t n = 0;
	size_t from;

	pthread_mutex_lock(&h->lock);
	if (s->now && pos - s->begin >= s->now->len) {
		release_text(s->now);
		s->now = NULL;
	}
	if (!s->now)
		s->begin = pos;
	if (h->stop || s->replaced) {
		n = MHD_CONTENT_READER_END_OF_STREAM;
	} else if (take_new(h, s)) {
		from = (size_t)(pos - s->begin);
		n = (ssize_t)(s->now->len - from < max ? s->now->len - from :
							 max);
		memcpy(buf, s->now->data + from, (size_t)n);
	} else {
		s->waits = true;
		MHD_suspend_connection(s->conn);
	}
	pthread_mutex_unlock(&h->lock);
	return n;
}

static void end_stream(void *ctx)
{
	struct stream *s = ctx;
	struct http *h = s->http;

	pthread_mutex_lock(&h->lock);
	if (!s->replaced) {
		list_remove(h->streams, s);
		h->nstreams--;
	}
	release_text(s->now);
	pthread_mutex_unlock(&h->lock);
	gate_forget(s->token);
	free(s);
}

static unsigned int count_from(const struct http *h,
			       const struct in6_addr *from)
{
	const struct stream *s;
	unsigned int n = 0;

	for (s = h->streams; s; s = s->next)
		n += IN6_ARE_ADDR_EQUAL(&s->from, from);
	return n;
}

/*
 * Make room for a viewer; the lock is held. A viewer from a host with fewer
 * viewers gets the place of the oldest viewer of the host with most. Otherwise
 * viewers that read nothing could keep all others out.
 */
static void make_room(struct http *h, const struct stream *for_it)
{
	unsigned int most = count_from(h, &for_it->from) + 1, n;
	struct stream *found = NULL, *s;

	/* The newest viewers are first in the list. */
	for (s = h->streams; s; s = s->next) {
		n = count_from(h, &s->from);
		if (n < most || (n == most && !found))
			continue;
		most = n;
		found = s;
	}
	if (!found)
		return;
	list_remove(h->streams, found);
	h->nstreams--;
	found->replaced = true;
	shutdown(found->fd, SHUT_RDWR);
	if (found->waits)
		MHD_resume_connection(found->conn);
	found->waits = false;
}

/* Returns NULL if there are too many. */
static struct MHD_Response *stream_new(struct http *h,
				       struct MHD_Connection *conn)
{
	struct http_conn *client = client_of(conn);
	struct stream *s = client ? calloc(1, sizeof(*s)) : NULL;
	bool room;

	if (!s)
		return NULL;
	s->http = h;
	s->conn = conn;
	s->fd = client->fd;
	s->from = client->from;
	s->token = h->gate ? gate_token(conn) : NULL;
	pthread_mutex_lock(&h->lock);
	if (h->nstreams >= STREAMS)
		make_room(h, s);
	room = h->nstreams < STREAMS;
	if (room) {
		client->streams = true;
		s->next = h->streams;
		h->streams = s;
		h->nstreams++;
	}
	pthread_mutex_unlock(&h->lock);
	if (!room) {
		gate_forget(s->token);
		free(s);
		return NULL;
	}
	return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK,
						 send_state, s,
						 end_stream);
}

/* --- Requests ------------------------------------------------------------ */

static void add_headers(struct MHD_Response *r, const char *type)
{
	MHD_add_response_header(r, "Content-Type", type);
	MHD_add_response_header(r, "Content-Security-Policy",
				"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
	MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(r, "Referrer-Policy", "no-referrer");
	MHD_add_response_header(r, "Cache-Control", "no-store");
}

static enum MHD_Result send_reply(struct MHD_Connection *conn,
				  unsigned int status, struct MHD_Response *r,
				  const char *type)
{
	enum MHD_Result ret;

	if (!r)
		return MHD_NO;
	add_headers(r, type);
	ret = MHD_queue_response(conn, status, r);
	MHD_destroy_response(r);
	return ret;
}

static enum MHD_Result send_error(struct MHD_Connection *conn,
				  unsigned int status, const char *text)
{
	struct MHD_Response *r;

	r = MHD_create_response_from_buffer(strlen(text), (char *)text,
					    MHD_RESPMEM_PERSISTENT);
	return send_reply(conn, status, r, "text/plain");
}

/* A browser then asks its user for a password. */
static enum MHD_Result ask_token(struct MHD_Connection *conn)
{
	static const char text[] = "an operator's token is needed: as password, or as \"Authorization: Bearer\"\n";
	struct MHD_Response *r = MHD_create_response_from_buffer(
		strlen(text), (char *)text, MHD_RESPMEM_PERSISTENT);
	enum MHD_Result ret;

	if (!r)
		return MHD_NO;
	add_headers(r, "text/plain");
	ret = MHD_queue_basic_auth_required_response3(conn, "inc-amd", MHD_YES, r);
	MHD_destroy_response(r);
	return ret;
}

static void text_sent(void *ctx)
{
	struct text *t = ctx;
	struct http *h = t->http;

	pthread_mutex_lock(&h->lock);
	release_text(t);
	pthread_mutex_unlock(&h->lock);
}

static enum MHD_Result reply_text(struct http *h, struct MHD_Connection *conn,
				  struct text *const *text, bool stream,
				  const char *type)
{
	size_t skip = stream ? strlen("data: ") : 0;
	size_t cut = stream ? strlen("\n\n") : 0;
	struct MHD_Response *r = NULL;
	struct text *t;

	pthread_mutex_lock(&h->lock);
	t = *text;
	if (t)
		r = MHD_create_response_from_buffer_with_free_callback_cls(
			t->len - skip - cut, t->data + skip, text_sent, t);
	if (r)
		t->users++;
	pthread_mutex_unlock(&h->lock);
	return send_reply(conn, MHD_HTTP_OK, r, type);
}

static enum MHD_Result reply_published(struct http *h,
				       struct MHD_Connection *conn,
				       const char *url)
{
	if (!strcmp(url, "/metrics"))
		return reply_text(h, conn,
				  &h->metrics,
				  false,
				  "text/plain; version=0.0.4; charset=utf-8");
	if (!strcmp(url, "/history"))
		return reply_text(h, conn,
				  &h->history,
				  false, "application/json");
	return reply_text(h, conn, &h->state, true,
			  "application/json");
}

/*
 * Check the Host header. With a server on loopback, a foreign page could have its
 * name resolved to this host, and read everything: its requests have that name.
 */
static bool host_is_own(const struct http *h, struct MHD_Connection *conn)
{
	const char *host = MHD_lookup_connection_value(conn, MHD_HEADER_KIND,
						       "Host");

	if (!h->loopback || !host)
		return true;
	return inc_auth_is_loopback(host);
}

static enum MHD_Result count_host(void *n, enum MHD_ValueKind kind,
				  const char *key, const char *value)
{
	*(unsigned int *)n += !strcasecmp(key, "Host");
	return MHD_YES;
}

/* With two Host headers, a proxy might check one, and we the other. */
static bool has_two_hosts(struct MHD_Connection *conn)
{
	unsigned int n = 0;

	MHD_get_connection_values(conn, MHD_HEADER_KIND, count_host, &n);
	return n > 1;
}

static enum MHD_Result handle_request(void *ctx, struct MHD_Connection *conn,
				      const char *url, const char *method,
				      const char *version, const char *data,
				      size_t *len, void **own)
{
	const struct web_file *file;
	struct MHD_Response *r;
	struct http *h = ctx;

	note_request(h, conn, true);
	if (strcmp(method, "GET") && strcmp(method, "HEAD"))
		return send_error(conn, MHD_HTTP_METHOD_NOT_ALLOWED,
				  "only GET\n");
	/* RFC 9112, section 3.2. */
	if (has_two_hosts(conn))
		return send_error(conn, MHD_HTTP_BAD_REQUEST, "two Host headers\n");
	if (!host_is_own(h, conn))
		return send_error(conn, MHD_HTTP_FORBIDDEN,
				  "use the name localhost\n");
	if (h->gate && !gate_admits(h->gate, conn))
		return ask_token(conn);
	for (file = web_files; file->path; file++)
		if (!strcmp(url, file->path)) {
			r = MHD_create_response_from_buffer((size_t)(file->end - file->data),
							    (char *)file->data,
							    MHD_RESPMEM_PERSISTENT);
			return send_reply(conn, MHD_HTTP_OK, r, file->type);
		}
	if (!strcmp(url, "/metrics") || !strcmp(url, "/state") ||
	    !strcmp(url, "/history"))
		return reply_published(h, conn, url);
	if (strcmp(url, "/events"))
		return send_error(conn, MHD_HTTP_NOT_FOUND, "no such page\n");
	r = stream_new(h, conn);
	if (!r)
		return send_error(conn, MHD_HTTP_SERVICE_UNAVAILABLE,
				  "too many viewers\n");
	return send_reply(conn, MHD_HTTP_OK, r, "text/event-stream");
}

/* --- Start and stop ------------------------------------------------------ */

static bool is_loopback(const struct sockaddr *sa)
{
	const struct sockaddr_in6 *in6 = (const void *)sa;
	const struct sockaddr_in *in = (const void *)sa;

	return sa->sa_family == AF_INET ?
	       ntohl(in->sin_addr.s_addr) >> 24 == 127 :
	       IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
}

/* Resolve "address:port". Returns a list of getaddrinfo(), or NULL. */
static struct addrinfo *resolve_address(const char *address)
{
	const struct addrinfo hints = {
		.ai_flags	= AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV,
		.ai_socktype	= SOCK_STREAM,
	};
	struct addrinfo *list;
	char host[64], service[8];
	int port;

	if (inc_auth_address(address, host, sizeof(host), &port))
		return NULL;
	snprintf(service, sizeof(service), "%d", port);
	return getaddrinfo(host, service, &hints, &list) ? NULL : list;
}

/* Not by libmicrohttpd, which would not report the error. */
static int bind_to(const struct addrinfo *ai)
{
	int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int one = 1, zero = 0, err;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (ai->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
	if (!bind(fd, ai->ai_addr, ai->ai_addrlen) && !listen(fd, SOMAXCONN))
		return fd;
	err = errno;
	close(fd);
	errno = err;
	return -1;
}

static struct MHD_Daemon *run_daemon(struct http *h, int fd,
				     struct MHD_OptionItem *tls)
{
	unsigned int flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO |
			     MHD_ALLOW_SUSPEND_RESUME |
			     (h->gate ? MHD_USE_TLS : 0);

	return MHD_start_daemon(flags, 0, admit_peer, h, handle_request, h,
				MHD_OPTION_ARRAY, tls,
				MHD_OPTION_LISTEN_SOCKET, fd,
				MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS,
				MHD_OPTION_CONNECTION_TIMEOUT, READ_S,
				MHD_OPTION_CONNECTION_MEMORY_LIMIT,
				(size_t)(2 * BLOCK),
				MHD_OPTION_NOTIFY_CONNECTION, on_connection, h,
				MHD_OPTION_NOTIFY_COMPLETED, on_completed, h,
				MHD_OPTION_END);
}

static struct MHD_Daemon *start_daemon(struct http *h, int fd)
{
	struct MHD_OptionItem tls[3] = { { MHD_OPTION_END, 0, NULL } };
	struct MHD_Daemon *daemon = NULL;
	char *cert, *key;

	if (!h->gate)
		return run_daemon(h, fd, tls);
	SSL_CTX_free(h->tls);
	h->tls = rpc_tls(h->gate);
	SSL_CTX_up_ref(h->tls);
	gate_pem(h->tls, &cert, &key);
	tls[0] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_MEM_CERT, 0, cert };
	tls[1] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_MEM_KEY, 0, key };
	tls[2] = (struct MHD_OptionItem){ MHD_OPTION_END, 0, NULL };
	if (cert && key)
		daemon = run_daemon(h, fd, tls);
	if (key)
		OPENSSL_cleanse(key, strlen(key));
	free(cert);
	free(key);
	return daemon;
}

/*
 * Start the server. Returns the server, or NULL.
 * @gate: gRPC server; NULL: everybody who reaches @address sees everything
 */
struct http *http_start(const char *address, struct rpc *gate, char *err,
			size_t len)
{
	struct addrinfo *list = resolve_address(address);
	struct http *h = calloc(1, sizeof(*h));
	int fd;

	if (!list || !h) {
		snprintf(err, len, "must be ADDRESS:PORT, with a numeric address");
		free(h);
		return NULL;
	}
	pthread_mutex_init(&h->lock, NULL);
	h->loopback = is_loopback(list->ai_addr);
	h->gate = gate;
	fd = bind_to(list);
	if (fd < 0)
		snprintf(err, len, "this address cannot be used: %s%s",
			 strerror(errno), errno == EADDRINUSE ?
			 ": is another manager running? Give another --http, or none" : "");
	else
		snprintf(err, len, "the server cannot be started");
	freeaddrinfo(list);
	h->daemon = fd < 0 ? NULL : start_daemon(h, fd);
	if (h->daemon)
		return h;
	SSL_CTX_free(h->tls);
	free(h);
	return NULL;
}

static void end_streams(struct http *h)
{
	pthread_mutex_lock(&h->lock);
	h->stop = true;
	wake_streams(h);
	pthread_mutex_unlock(&h->lock);
}

/*
 * Take a renewed certificate. libmicrohttpd reads it at its start only; clients wait
 * meanwhile, and viewers come again.
 */
void http_renew(struct http *h)
{
	int fd;

	if (!h->gate || rpc_tls(h->gate) == h->tls)
		return;
	fd = MHD_quiesce_daemon(h->daemon);
	end_streams(h);
	MHD_stop_daemon(h->daemon);
	h->stop = false;
	h->daemon = start_daemon(h, fd);
	if (h->daemon)
		return;
	log_error("--http: the server cannot be started with the new certificate");
	close(fd);
	h->gate = NULL;
}

/*
 * Replace the published texts.
 * @state: the state for EventSource, allocated, or NULL
 * @metrics: metrics, allocated, or NULL
 */
void http_publish(struct http *h, char *state, char *metrics)
{
	struct text *new_state = text_new(h, state);
	struct text *new_metrics = text_new(h, metrics);

	pthread_mutex_lock(&h->lock);
	release_text(h->state);
	release_text(h->metrics);
	h->state = new_state;
	h->metrics = new_metrics;
	h->serial++;
	close_revoked(h);
	wake_streams(h);
	close_slow(h);
	pthread_mutex_unlock(&h->lock);
}

/*
 * Replace the published history.
 * @history: history as JSON, allocated, or NULL
 */
void http_publish_history(struct http *h, char *history)
{
	struct text *text = text_new(h, history);

	pthread_mutex_lock(&h->lock);
	release_text(h->history);
	h->history = text;
	pthread_mutex_unlock(&h->lock);
}

/* End all connections, and the server. */
void http_stop(struct http *h)
{
	end_streams(h);
	http_publish(h, NULL, NULL);
	http_publish_history(h, NULL);
	MHD_stop_daemon(h->daemon);
	SSL_CTX_free(h->tls);
	pthread_mutex_destroy(&h->lock);
	free(h);
}
