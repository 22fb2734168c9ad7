// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See serve.h. Each session has a thread, in which libnetconf2 may wait as long
 * as it likes for the rest of a request, or for a client that does not read its
 * reply, without delaying others. Operations take place one after another;
 * users who may make changes come first.
 */
#include "agent.h"
#include "auth/address.h"
#include "conf/list.h"
#include "error.h"
#include "serve.h"

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <libnetconf2/netconf.h>
#include <libnetconf2/session_server.h>

/* libyang parses a tree recursively, to a limited depth. */
#define STACK_BYTES	(2U << 20)
/* Longest time that a client may leave its reply unread. */
#define UNREAD_MS	30000
/*
 * Longest request by SSH or TLS, with data that the kernel has received behind
 * it (6 MiB). A manager's edit of 1,024 members is below 1 MiB.
 */
#define REQUEST_MAX	(16U << 20)
/* Longest wait for a socket; and for data that libssh has read ahead. */
#define WAIT_MS		1000
#define AHEAD_MS	20

/**
 * struct serve_conn - a session's own data
 * @next: the next one
 * @s: session
 * @ps: set of sessions for libnetconf2 to poll: only this one
 * @fd: its socket, or -1
 * @ours: libnetconf2 does not close @fd
 * @may_change: the user may make changes
 * @remote: the session came by SSH or TLS
 * @host: address of its host, if @remote
 * @from: key of its host, if @remote
 * @writing: milliseconds; since when a reply is written; or 0
 * @received: bytes of @fd before the request that is being read
 * @count: counters for monitoring
 */
struct serve_conn {
	struct serve_conn	*next;
	struct nc_session	*s;
	struct nc_pollsession	*ps;
	int			fd;
	bool			ours;
	bool			may_change;
	bool			remote;
	char			host[INET6_ADDRSTRLEN];
	struct in6_addr		from;
	_Atomic uint64_t	writing;
	_Atomic uint64_t	received;
	struct serve_count	count;
};

static struct {
	const struct ly_ctx		*ctx;
	const struct netconf_ops	*ops;
	unsigned int			max;
	/* Places for remote users who may make changes. */
	unsigned int			reserved;
	atomic_bool			stop;
	/* Protects the members below. */
	pthread_mutex_t			lock;
	unsigned int			sessions;
	struct serve_conn		*conns;
	struct serve_totals		totals;
} srv = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Turns: @first of the waiting threads come before all others. */
static struct {
	pthread_mutex_t	lock;
	pthread_cond_t	turn;
	bool		taken;
	unsigned int	first;
} big = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.turn = PTHREAD_COND_INITIALIZER,
};

static void take_turn(bool first)
{
	pthread_mutex_lock(&big.lock);
	big.first += first;
	while (big.taken || (!first && big.first))
		pthread_cond_wait(&big.turn, &big.lock);
	big.first -= first;
	big.taken = true;
	pthread_mutex_unlock(&big.lock);
}

/* Keep operations and events apart. */
void netconf_lock(void)
{
	take_turn(true);
}

/* Undo netconf_lock(). */
void netconf_unlock(void)
{
	pthread_mutex_lock(&big.lock);
	big.taken = false;
	pthread_cond_broadcast(&big.turn);
	pthread_mutex_unlock(&big.lock);
}

/*
 * Ask whether a session may make changes. Returns true if it may change the
 * configuration, and other sessions.
 */
bool netconf_may_change(const struct nc_session *s)
{
	const struct serve_conn *conn = nc_session_get_data(s);

	return conn && conn->may_change;
}

static struct nc_server_reply *on_rpc(struct lyd_node *rpc,
				      struct nc_session *session)
{
	struct serve_conn *conn = nc_session_get_data(session);
	struct nc_server_reply *reply;

	error_watch(false);
	conn->count.rpcs++;
	srv.totals.count.rpcs++;
	take_turn(conn->may_change);
	reply = srv.ops->rpc(rpc, session);
	netconf_unlock();
	/* libnetconf2 writes the reply now, however long the client takes. */
	conn->writing = now_ms();
	return reply;
}

/* Set the callbacks that answer requests. */
void serve_init(const struct ly_ctx *ctx, const struct netconf_ops *ops,
		unsigned int max)
{
	srv.ctx = ctx;
	srv.ops = ops;
	srv.max = max;
	srv.totals.since = time(NULL);
	nc_set_global_rpc_clb(on_rpc);
}

/* Keep a quarter of the places for managers that come by SSH or TLS. */
void serve_keep_places(void)
{
	srv.reserved = srv.max / 4;
}

/* libnetconf2 has addresses as text only. */
static struct in6_addr key_of(const char *host)
{
	struct in6_addr addr, key;
	size_t len = 0;

	if (inet_pton(AF_INET, host, &addr) == 1)
		len = sizeof(struct in_addr);
	else if (inet_pton(AF_INET6, host, &addr) == 1)
		len = sizeof(addr);
	inc_auth_host_key(&addr, len, &key);
	return key;
}

/* Count the sessions of a host that may only read. */
static unsigned int readers_at(const char *host)
{
	const struct in6_addr from = key_of(host);
	const struct serve_conn *c;
	unsigned int n = 0;

	for (c = srv.conns; c; c = c->next)
		n += c->remote && !c->may_change &&
		     IN6_ARE_ADDR_EQUAL(&c->from, &from);
	return n;
}

/*
 * Count a session before it begins: logins count, too. Returns true if there is
 * a place; the end of the session gives it back, or serve_dismiss().
 */
bool serve_admit(const struct serve_guest *g)
{
	const bool first = g->remote && g->may_change;
	const unsigned int max = first ? srv.max : srv.max - srv.reserved;
	const unsigned int readers = srv.max / 4 + !(srv.max / 4);
	bool enough, many;

	pthread_mutex_lock(&srv.lock);
	enough = srv.sessions >= max;
	many = g->remote && !g->may_change && readers_at(g->host) >= readers;
	srv.sessions += !enough && !many;
	pthread_mutex_unlock(&srv.lock);
	if (enough)
		log_warn("refused a session of %s: there are %u already",
			 g->name, max);
	else if (many)
		log_warn("refused a session of %s: those who may look only have %u from %s already",
			 g->name, readers, g->host);
	return !enough && !many;
}

/* Give back the place of a session that does not begin. */
void serve_dismiss(void)
{
	pthread_mutex_lock(&srv.lock);
	srv.sessions--;
	pthread_mutex_unlock(&srv.lock);
}

static void conn_free(void *data)
{
	struct serve_conn *conn = data;

	if (!conn)
		return;
	if (conn->ours)
		close(conn->fd);
	nc_ps_free(conn->ps);
	free(conn);
}

/* Returns the bytes that a TCP connection has received; 0 for others. */
static uint64_t received_of(const struct serve_conn *conn)
{
	struct tcp_info info = { .tcpi_bytes_received = 0 };
	socklen_t len = sizeof(info);

	if (conn->fd < 0 || !conn->remote ||
	    getsockopt(conn->fd, IPPROTO_TCP, TCP_INFO, &info, &len))
		return 0;
	return info.tcpi_bytes_received;
}

/*
 * For a message that cannot be parsed, libnetconf2 takes the thread's last
 * error from libyang, which has none for some messages: there must be one.
 * Errors that were stored before belong to other messages.
 */
static void renew_error(void)
{
	ly_err_clean((struct ly_ctx *)srv.ctx, NULL);
	(void)lys_find_path(srv.ctx, NULL, "/message", 0);
}

static void wait_for_input(struct serve_conn *conn)
{
	struct pollfd p = { .fd = conn->fd, .events = POLLIN };
	const bool ahead = conn->fd < 0 ||
			   nc_session_get_ti(conn->s) == NC_TI_SSH;

	conn->received = received_of(conn);
	poll(&p, 1, ahead ? AHEAD_MS : WAIT_MS);
}

static void count_result(struct serve_count *count, int r)
{
	count->bad_rpcs += !!(r & NC_PSPOLL_BAD_RPC);
	count->errors += !!(r & NC_PSPOLL_REPLY_ERROR);
}

static void serve_requests(struct serve_conn *conn)
{
	struct nc_session *channel = NULL, *s;
	int r = 0;

	while (!srv.stop &&
	       !(r & (NC_PSPOLL_SESSION_TERM | NC_PSPOLL_SESSION_ERROR))) {
		/* libnetconf2 has read nothing ahead from a UNIX socket. */
		if (conn->ours)
			wait_for_input(conn);
		error_watch(true);
		r = nc_ps_poll(conn->ps, 0, &s);
		conn->writing = 0;
		count_result(&conn->count, r);
		count_result(&srv.totals.count, r);
		if (r & (NC_PSPOLL_TIMEOUT | NC_PSPOLL_ERROR)) {
			if (!conn->ours)
				wait_for_input(conn);
			continue;
		}
		conn->received = received_of(conn);
		if ((r & NC_PSPOLL_SSH_CHANNEL) &&
		    nc_session_accept_ssh_channel(s, &channel) == NC_MSG_HELLO)
			nc_session_free(channel, NULL);	/* one is enough */
		renew_error();
	}
}

/* Hide the session from searches. */
static void remove_conn(const struct serve_conn *conn)
{
	pthread_mutex_lock(&srv.lock);
	list_remove(srv.conns, conn);
	pthread_mutex_unlock(&srv.lock);
}

static void *run_session(void *arg)
{
	struct serve_conn *conn = arg;
	struct nc_session *s = conn->s;

	renew_error();
	serve_requests(conn);
	remove_conn(conn);
	nc_ps_del_session(conn->ps, s);
	netconf_lock();
	srv.ops->closed(s);
	netconf_unlock();
	log_info("session %u ended", nc_session_get_id(s));
	nc_session_free(s, conn_free);
	serve_dismiss();
	return NULL;
}

static bool start_session(struct serve_conn *conn)
{
	pthread_attr_t attr;
	pthread_t thread;
	bool ok;

	conn->ps = nc_ps_new();
	if (!conn->ps || nc_ps_add_session(conn->ps, conn->s))
		return false;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_mutex_lock(&srv.lock);
	ok = !pthread_create(&thread, &attr, run_session, conn);
	if (ok) {
		conn->next = srv.conns;
		srv.conns = conn;
		srv.totals.sessions++;
	}
	pthread_mutex_unlock(&srv.lock);
	pthread_attr_destroy(&attr);
	if (!ok)
		nc_ps_del_session(conn->ps, conn->s);
	return ok;
}

/*
 * Serve a session that was admitted.
 * @g: its owner, whose socket is closed when the session ends
 */
void serve_begin(struct nc_session *s, const struct serve_guest *g)
{
	struct serve_conn *conn = calloc(1, sizeof(*conn));

	if (conn) {
		conn->s = s;
		conn->fd = g->fd;
		conn->ours = g->ours;
		conn->may_change = g->may_change;
		conn->remote = g->remote;
		snprintf(conn->host, sizeof(conn->host), "%s",
			 g->remote ? g->host : "");
		conn->from = key_of(conn->host);
		conn->received = received_of(conn);
	} else if (g->ours) {
		close(g->fd);
	}
	nc_session_set_data(s, conn);
	log_info("session %u: %s logged in", nc_session_get_id(s), g->name);
	if (conn && start_session(conn))
		return;
	log_warn("session %u ended: there is no memory for it, or no thread",
		 nc_session_get_id(s));
	nc_session_free(s, conn_free);
	serve_dismiss();
}

/* End sessions of clients that do not read, or send without end. */
void serve_check(uint64_t now)
{
	const char *why;
	struct serve_conn *c;

	pthread_mutex_lock(&srv.lock);
	for (c = srv.conns; c; c = c->next) {
		why = NULL;
		if (c->writing && now > c->writing + UNREAD_MS)
			why = "it does not read";
		else if (received_of(c) > c->received + REQUEST_MAX)
			why = "its request is too long";
		if (!why || c->fd < 0)
			continue;
		log_warn("session %u ends: %s", nc_session_get_id(c->s), why);
		shutdown(c->fd, SHUT_RDWR);
		c->writing = 0;
	}
	pthread_mutex_unlock(&srv.lock);
}

/* Count a notification that was sent. */
void serve_notified(const struct nc_session *s)
{
	struct serve_conn *conn = nc_session_get_data(s);

	if (conn)
		conn->count.notifications++;
	srv.totals.count.notifications++;
}

/*
 * Call a function for all sessions.
 * @each: called with each session, its client's address or "", its counters,
 *	and @arg; no session ends meanwhile
 */
void serve_each(void (*each)(const struct nc_session *s, const char *host,
			     const struct serve_count *count, void *arg),
		void *arg, struct serve_totals *totals)
{
	const struct serve_conn *c;

	pthread_mutex_lock(&srv.lock);
	for (c = srv.conns; c; c = c->next)
		each(c->s, c->host, &c->count, arg);
	*totals = srv.totals;
	pthread_mutex_unlock(&srv.lock);
}

/* End all sessions. */
void serve_stop(void)
{
	unsigned int left, tries = 0;
	struct serve_conn *c;

	srv.stop = true;
	do {
		pthread_mutex_lock(&srv.lock);
		for (c = srv.conns; c; c = c->next)
			if (c->fd >= 0)
				shutdown(c->fd, SHUT_RDWR);
		left = srv.sessions;
		pthread_mutex_unlock(&srv.lock);
		if (left)
			usleep(1000);
	} while (left && tries++ < 5000);
}

/*
 * End a session. Returns 0, or -1 if there is no such session.
 * @by: ID of the session that asks for it; 0: the agent
 */
int netconf_kill(uint32_t id, uint32_t by)
{
	struct serve_conn *c;

	pthread_mutex_lock(&srv.lock);
	for (c = srv.conns; c && nc_session_get_id(c->s) != id; c = c->next)
		;
	if (c) {
		nc_session_set_term_reason(c->s, NC_SESSION_TERM_KILLED);
		if (by)
			nc_session_set_killed_by(c->s, by);
		nc_session_set_status(c->s, NC_STATUS_INVALID);
		netconf_wake(c->s);
	}
	pthread_mutex_unlock(&srv.lock);
	return c ? 0 : -1;
}

/* Shut a session's transport down: no thread must wait for it. */
void netconf_wake(const struct nc_session *s)
{
	const struct serve_conn *conn = nc_session_get_data(s);

	if (conn && conn->fd >= 0)
		shutdown(conn->fd, SHUT_RDWR);
}
