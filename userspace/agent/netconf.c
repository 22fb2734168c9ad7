// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * NETCONF sessions by libnetconf2.
 *
 * A few workers serve all sessions. libnetconf2 has no descriptor to wait for,
 * so one of them, the poller, looks at the sessions every few milliseconds; a
 * poller that does not come back soon (its client sends half a message, or does
 * not read the reply) is replaced by another worker, so that a slow client
 * delays itself only. Logging in takes place in threads of its own.
 *
 * This file listens on the UNIX socket itself: libnetconf2's function for that
 * is not in its next version.
 */
#include "netconf.h"
#include "logins.h"
#include "remote.h"

#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <libnetconf2/log.h>
#include <libnetconf2/messages_server.h>
#include <libnetconf2/netconf.h>
#include <libnetconf2/server_config.h>
#include <libnetconf2/session_server.h>

#include "rendezvous/keepalive.h"

#define WORKERS		6
#define REMOTE_LOGINS	16
/* How long a login may take; how long a client may not read its reply. */
#define LOGIN_S		10
#define UNREAD_MS	30000
/* When a poller is replaced; how often it looks when busy, when not. */
#define STUCK_MS	100
#define BUSY_US		500
#define IDLE_US		5000
#define BUSY_MS		20

/**
 * struct conn - a session's own data
 * @fd: its socket, or -1
 * @ours: libnetconf2 does not close it
 * @may_change: the user may do more than look
 */
struct conn {
	int	fd;
	bool	ours;
	bool	may_change;
};

/**
 * struct pending - a client that has not said hello yet
 * @fd: its UNIX socket, -1: none
 * @since: since when, in milliseconds
 */
struct pending {
	int		fd;
	uint64_t	since;
};

/**
 * struct work - what a worker does
 * @fd: socket of the session that it answers, or -1
 * @since: since when, in milliseconds
 */
struct work {
	int		fd;
	uint64_t	since;
};

static _Thread_local struct work *my_work;

static struct {
	struct ly_ctx			*ctx;
	const struct netconf_ops	*ops;
	struct nc_pollsession		*ps;
	unsigned int			max;
	atomic_uint			sessions;
	/* Those that log in by UNIX sockets: max of them. */
	struct pending			*pending;
	atomic_bool			stop;
	pthread_mutex_t			big;
	/* The poller: its number, since when it polls. */
	pthread_mutex_t			lock;
	pthread_cond_t			turn;
	unsigned int			poller;
	uint64_t			since;
	pthread_t			workers[WORKERS];
	struct work			work[WORKERS];
	unsigned int			nworkers;
	pthread_t			logins[REMOTE_LOGINS + 1];
	unsigned int			nlogins;
	bool				remote;
	int				listener;
	char				path[sizeof(((struct sockaddr_un *)
						     NULL)->sun_path)];
} srv = {
	.big = PTHREAD_MUTEX_INITIALIZER,
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.turn = PTHREAD_COND_INITIALIZER,
	.listener = -1,
};

static void log_nc(const struct nc_session *s, NC_VERB_LEVEL level,
		   const char *msg)
{
	/* What a client did is no error of the agent. */
	static const enum log_level levels[] = {
		[NC_VERB_ERROR] = LOG_LEVEL_WARN,
		[NC_VERB_WARNING] = LOG_LEVEL_INFO,
		[NC_VERB_VERBOSE] = LOG_LEVEL_DEBUG,
		[NC_VERB_DEBUG] = LOG_LEVEL_DEBUG,
		[NC_VERB_DEBUG_LOWLVL] = LOG_LEVEL_DEBUG,
	};

	if (s)
		log_msg(levels[level], "session %u: %s", nc_session_get_id(s),
			msg);
	else
		log_msg(levels[level], "%s", msg);
}

/**
 * netconf_lock() - keep operations and events apart
 */
void netconf_lock(void)
{
	pthread_mutex_lock(&srv.big);
}

/**
 * netconf_unlock() - the end of netconf_lock()
 */
void netconf_unlock(void)
{
	pthread_mutex_unlock(&srv.big);
}

static int socket_of(const struct nc_session *s)
{
	const struct conn *conn = nc_session_get_data(s);

	return conn ? conn->fd : -1;
}

/**
 * netconf_may_change() - ask whether a session may do more than look
 * @s: session
 *
 * Return: true if it may change the configuration, and other sessions.
 */
bool netconf_may_change(const struct nc_session *s)
{
	const struct conn *conn = nc_session_get_data(s);

	return conn && conn->may_change;
}

/**
 * netconf_revoked() - ask whether a session's certificate has been revoked
 * @s: session
 *
 * Return: true if so.
 */
bool netconf_revoked(const struct nc_session *s)
{
	return remote_revoked(s);
}

static void set_work(int fd)
{
	pthread_mutex_lock(&srv.lock);
	my_work->fd = fd;
	my_work->since = now_ms();
	pthread_mutex_unlock(&srv.lock);
}

static struct nc_server_reply *on_rpc(struct lyd_node *rpc,
				      struct nc_session *session)
{
	struct nc_server_reply *reply;

	netconf_lock();
	reply = srv.ops->rpc(rpc, session);
	netconf_unlock();
	/* libnetconf2 writes it now, however long the client takes. */
	set_work(socket_of(session));
	return reply;
}

static struct ly_ctx *new_ctx(const char *dirs)
{
	static const char *const features[] = {
		"writable-running", "rollback-on-error", "validate", NULL
	};
	static const char *const modules[] = {
		AGENT_MODULE, "notifications", NULL
	};
	struct ly_ctx *ctx;
	int i;

	if (ly_ctx_new(dirs, LY_CTX_DISABLE_SEARCHDIR_CWD, &ctx))
		return NULL;
	if (nc_server_init_ctx(&ctx) || nc_server_config_load_modules(&ctx))
		goto fail;
	if (!ly_ctx_load_module(ctx, "ietf-netconf", NULL,
				(const char **)features))
		goto fail;
	for (i = 0; modules[i]; i++) {
		if (!ly_ctx_load_module(ctx, modules[i], NULL, NULL))
			goto fail;
	}
	return ctx;
fail:
	ly_ctx_destroy(ctx);
	return NULL;
}

/**
 * netconf_init() - load the YANG modules and start libnetconf2
 * @a: agent, whose ctx and mod are set
 * @yang_dirs: directories with YANG modules, separated by colons
 * @ops: what answers requests
 * @max_sessions: limit of sessions
 *
 * Return: 0, or -1 after a message.
 */
int netconf_init(struct agent *a, const char *yang_dirs,
		 const struct netconf_ops *ops, unsigned int max_sessions)
{
	unsigned int i;

	nc_verbosity(NC_VERB_VERBOSE);
	nc_set_print_clb_session(log_nc);
	ly_log_options(LY_LOSTORE);
	a->ctx = new_ctx(yang_dirs);
	if (!a->ctx) {
		log_error("cannot load the YANG modules from %s: %s", yang_dirs,
			  ly_last_logmsg() ? ly_last_logmsg() : "not found");
		return -1;
	}
	a->mod = ly_ctx_get_module_implemented(a->ctx, AGENT_MODULE);
	srv.ctx = a->ctx;
	srv.ops = ops;
	srv.max = max_sessions;
	srv.ps = nc_ps_new();
	srv.pending = calloc(max_sessions, sizeof(*srv.pending));
	if (!srv.ps || !srv.pending || nc_server_init()) {
		log_error("cannot start libnetconf2");
		return -1;
	}
	for (i = 0; i < max_sessions; i++)
		srv.pending[i].fd = -1;
	nc_set_global_rpc_clb(on_rpc);
	nc_server_set_capab_withdefaults(NC_WD_EXPLICIT, 0);
	nc_server_set_capability("urn:ietf:params:netconf:capability:"
				 "notification:1.0");
	nc_server_set_capability("urn:ietf:params:netconf:capability:"
				 "interleave:1.0");
	return 0;
}

static void conn_free(void *data)
{
	struct conn *conn = data;

	if (conn && conn->ours)
		close(conn->fd);
	free(conn);
}

/* @s has said hello; @fd is its UNIX socket, or -1. */
static void serve(struct nc_session *s, int fd, const char *user)
{
	struct conn *conn = calloc(1, sizeof(*conn));

	if (conn) {
		conn->ours = fd >= 0;
		conn->fd = conn->ours ? fd : logins_done(s);
		conn->may_change = conn->ours || remote_may_change(s);
		/* Or a manager that vanished keeps its session for hours. */
		if (!conn->ours && conn->fd >= 0)
			inc_set_keepalive(conn->fd);
	} else if (fd >= 0) {
		close(fd);
	}
	nc_session_set_data(s, conn);
	log_info("session %u: %s logged in", nc_session_get_id(s), user);
	if (!conn || nc_ps_add_session(srv.ps, s)) {
		nc_session_free(s, conn_free);
		srv.sessions--;
	}
}

/* Count a session before it begins, so that logins count, too. */
static bool admit(void)
{
	if (srv.sessions++ < srv.max)
		return true;
	srv.sessions--;
	log_warn("refused a session: there are %u already", srv.max);
	return false;
}

/* Replace a descriptor in the list of pending logins. */
static void set_pending(int from, int to)
{
	unsigned int i;

	pthread_mutex_lock(&srv.lock);
	for (i = 0; i < srv.max && srv.pending[i].fd != from; i++)
		;
	if (i < srv.max)
		srv.pending[i] = (struct pending){ to, now_ms() };
	pthread_mutex_unlock(&srv.lock);
}

/* End those that log in for too long: libnetconf2 would wait for a minute. */
static void check_pending(void)
{
	static uint64_t checked;
	uint64_t now = now_ms();
	unsigned int i;

	if (now - checked < 1000)
		return;
	checked = now;
	pthread_mutex_lock(&srv.lock);
	for (i = 0; i < srv.max; i++) {
		struct pending *p = &srv.pending[i];

		if (p->fd < 0 || now - p->since < LOGIN_S * 1000)
			continue;
		log_warn("a client has not said hello within %d s: its connection ends",
			 LOGIN_S);
		shutdown(p->fd, SHUT_RDWR);
		p->since = now;
	}
	pthread_mutex_unlock(&srv.lock);
	logins_check(now);
}

/* At the end: nobody may log in any more. */
static void end_pending(void)
{
	unsigned int i, n, tries = 0;

	do {
		n = 0;
		pthread_mutex_lock(&srv.lock);
		for (i = 0; i < srv.max; i++) {
			if (srv.pending[i].fd < 0)
				continue;
			shutdown(srv.pending[i].fd, SHUT_RDWR);
			n++;
		}
		pthread_mutex_unlock(&srv.lock);
		if (n)
			usleep(1000);
	} while (n && tries++ < 5000);
}

static void *login_unix(void *arg)
{
	int fd = (int)(intptr_t)arg;
	struct ucred cred = { .uid = 0 };
	socklen_t len = sizeof(cred);
	struct nc_session *s = NULL;
	struct passwd pw, *found = NULL;
	char name[16], buf[1024];

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		cred.uid = (uid_t)-1;
	snprintf(name, sizeof(name), "uid%u", cred.uid);
	getpwuid_r(cred.uid, &pw, buf, sizeof(buf), &found);
	if (nc_accept_inout(fd, fd, found ? pw.pw_name : name, srv.ctx, &s) ==
	    NC_MSG_HELLO) {
		serve(s, fd, found ? pw.pw_name : name);
		set_pending(fd, -1);
	} else {
		set_pending(fd, -1);
		close(fd);
		srv.sessions--;
	}
	return NULL;
}

static void *accept_unix(void *arg)
{
	struct pollfd p = { .fd = srv.listener, .events = POLLIN };
	pthread_attr_t detached;
	pthread_t thread;
	int fd;

	(void)arg;
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	while (!srv.stop) {
		check_pending();
		if (poll(&p, 1, 200) <= 0)
			continue;
		fd = accept4(srv.listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0)
			continue;
		if (!admit()) {
			close(fd);
			continue;
		}
		set_pending(-1, fd);
		if (pthread_create(&thread, &detached, login_unix,
				   (void *)(intptr_t)fd)) {
			set_pending(fd, -1);
			close(fd);
			srv.sessions--;
		}
	}
	pthread_attr_destroy(&detached);
	return NULL;
}

static void *accept_remote(void *arg)
{
	struct nc_session *s;

	(void)arg;
	while (!srv.stop) {
		s = NULL;
		if (nc_accept(200, srv.ctx, &s) != NC_MSG_HELLO)
			continue;
		if (remote_admits(s) && admit())
			serve(s, -1, nc_session_get_username(s));
		else
			nc_session_free(s, NULL);
	}
	return NULL;
}

static void end_session(struct nc_session *s)
{
	nc_ps_del_session(srv.ps, s);
	netconf_lock();
	srv.ops->closed(s);
	netconf_unlock();
	log_info("session %u ended", nc_session_get_id(s));
	nc_session_free(s, conn_free);
	srv.sessions--;
}

/*
 * Of a message that cannot be parsed, libnetconf2 takes the thread's last error
 * from libyang, which has none for some of them: there must be one. Those that
 * were stored before are of use to nobody.
 */
static void renew_error(void)
{
	ly_err_clean(srv.ctx, NULL);
	(void)lys_find_path(srv.ctx, NULL, "/message", 0);
}

/* Serve one event. Return: there was one. */
static bool poll_once(void)
{
	struct nc_session *s = NULL, *channel = NULL;
	int r = nc_ps_poll(srv.ps, 0, &s);

	if (r & (NC_PSPOLL_SESSION_TERM | NC_PSPOLL_SESSION_ERROR))
		end_session(s);
	else if ((r & NC_PSPOLL_SSH_CHANNEL) &&
		 nc_session_accept_ssh_channel(s, &channel) == NC_MSG_HELLO)
		nc_session_free(channel, NULL);	/* one is enough */
	return !(r & (NC_PSPOLL_TIMEOUT | NC_PSPOLL_NOSESSIONS |
		      NC_PSPOLL_ERROR));
}

/* Wait until nobody polls, or for too long; then it is @me. */
static void take_turn(unsigned int me)
{
	struct timespec t;

	pthread_mutex_lock(&srv.lock);
	while (!srv.stop && srv.poller && srv.poller != me &&
	       now_ms() - srv.since < STUCK_MS) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		t.tv_nsec += STUCK_MS * 1000000L;
		t.tv_sec += t.tv_nsec / 1000000000L;
		t.tv_nsec %= 1000000000L;
		pthread_cond_clockwait(&srv.turn, &srv.lock,
				       CLOCK_MONOTONIC, &t);
	}
	srv.poller = me;
	srv.since = now_ms();
	pthread_mutex_unlock(&srv.lock);
}

/* Give up clients that do not read. Called with the lock. */
static void check_unread(uint64_t now)
{
	unsigned int i;

	for (i = 0; i < WORKERS; i++) {
		struct work *w = &srv.work[i];

		if (w->fd < 0 || now - w->since < UNREAD_MS)
			continue;
		log_warn("a client does not read: its session ends");
		shutdown(w->fd, SHUT_RDWR);
		w->fd = -1;
	}
}

static bool my_turn(unsigned int me)
{
	bool mine;

	pthread_mutex_lock(&srv.lock);
	mine = srv.poller == me;
	if (mine) {
		srv.since = now_ms();
		check_unread(srv.since);
	}
	pthread_mutex_unlock(&srv.lock);
	return mine;
}

static void *worker(void *arg)
{
	unsigned int me = (unsigned int)(uintptr_t)arg;
	uint64_t busy = 0;

	my_work = &srv.work[me - 1];
	renew_error();
	while (!srv.stop) {
		take_turn(me);
		while (!srv.stop && my_turn(me)) {
			if (!poll_once()) {
				usleep(now_ms() - busy < BUSY_MS ? BUSY_US :
								   IDLE_US);
				continue;
			}
			busy = now_ms();
			set_work(-1);
			renew_error();
		}
	}
	return NULL;
}

/*
 * Remove the socket of an agent that was killed. @err: why connecting to it has
 * failed; the kernel says ECONNREFUSED of files that are no sockets, too.
 */
static int remove_stale(const char *path, int err)
{
	struct stat st;

	if (lstat(path, &st))
		return 0;	/* bind() says what else is wrong */
	if (!S_ISSOCK(st.st_mode)) {
		log_error("%s: this is no socket: remove it, or name another one",
			  path);
		return -1;
	}
	if (err != ECONNREFUSED) {
		log_error("%s: %s", path, strerror(err));
		return -1;
	}
	unlink(path);
	return 0;
}

/**
 * netconf_listen_unix() - accept sessions on a UNIX socket
 * @path: its name
 * @mode: its permissions
 *
 * Return: 0, or -1 after a message.
 */
int netconf_listen_unix(const char *path, unsigned int mode)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	mode_t old;

	if (strlen(path) >= sizeof(addr.sun_path)) {
		log_error("%s: the name of a socket has at most %zu bytes",
			  path, sizeof(addr.sun_path) - 1);
		close(fd);
		return -1;
	}
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	if (!connect(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		log_error("%s: another agent listens there", path);
		close(fd);
		return -1;
	}
	if (remove_stale(path, errno)) {
		close(fd);
		return -1;
	}
	old = umask(~mode & 0777);
	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    listen(fd, 16)) {
		log_error("%s: %s", path, strerror(errno));
		umask(old);
		close(fd);
		return -1;
	}
	umask(old);
	srv.listener = fd;
	snprintf(srv.path, sizeof(srv.path), "%s", path);
	return 0;
}

/**
 * netconf_unlisten() - remove the UNIX socket, if there is one
 */
void netconf_unlisten(void)
{
	if (srv.listener < 0)
		return;
	unlink(srv.path);
	close(srv.listener);
}

/**
 * netconf_listen_remote() - accept sessions over SSH and TLS
 * @ssh: endpoint, or NULL
 * @tls: endpoint, or NULL
 *
 * Return: 0, or -1 after a message.
 */
int netconf_listen_remote(const struct netconf_ssh *ssh,
			  const struct netconf_tls *tls)
{
	if (remote_config(srv.ctx, ssh, tls, LOGIN_S))
		return -1;
	logins_init(ssh ? ssh->port : 0, tls ? tls->port : 0, LOGIN_S * 1000);
	srv.remote = true;
	return 0;
}

/**
 * netconf_reload() - read keys and certificates again
 */
void netconf_reload(void)
{
	if (srv.remote)
		remote_reload();
}

/**
 * netconf_start() - begin to accept sessions
 *
 * Return: 0, or -1 after a message.
 */
int netconf_start(void)
{
	unsigned int i;
	int rc = 0;

	for (i = 0; i < WORKERS; i++)
		srv.work[i].fd = -1;
	for (i = 0; i < WORKERS && !rc; i++, srv.nworkers += !rc)
		rc = pthread_create(&srv.workers[i], NULL, worker,
				    (void *)(uintptr_t)(i + 1));
	if (!rc && srv.listener >= 0) {
		rc = pthread_create(&srv.logins[0], NULL, accept_unix, NULL);
		srv.nlogins += !rc;
	}
	for (i = 0; srv.remote && i < REMOTE_LOGINS && !rc; i++) {
		rc = pthread_create(&srv.logins[srv.nlogins], NULL, accept_remote,
				    NULL);
		srv.nlogins += !rc;
	}
	if (rc)
		log_error("cannot start a thread: %s", strerror(rc));
	return rc ? -1 : 0;
}

/**
 * netconf_stop() - end all sessions
 * @a: agent
 */
void netconf_stop(struct agent *a)
{
	unsigned int i;

	srv.stop = true;
	netconf_unlisten();
	pthread_cond_broadcast(&srv.turn);
	for (i = 0; i < srv.nworkers; i++)
		pthread_join(srv.workers[i], NULL);
	for (i = 0; i < srv.nlogins; i++)
		pthread_join(srv.logins[i], NULL);
	end_pending();
	nc_ps_clear(srv.ps, 1, conn_free);
	nc_ps_free(srv.ps);
	nc_server_destroy();
	free(srv.pending);
	remote_free();
	srv.ops->ended();
	ly_ctx_destroy(a->ctx);
}

static int has_id(struct nc_session *s, void *id)
{
	return nc_session_get_id(s) == *(uint32_t *)id;
}

/**
 * netconf_kill() - end a session
 * @id: its ID
 * @by: the ID of the session that asks for it
 *
 * Return: 0, or -1 if there is none.
 */
int netconf_kill(uint32_t id, uint32_t by)
{
	struct nc_session *s = nc_ps_find_session(srv.ps, has_id, &id);

	if (!s)
		return -1;
	nc_session_set_term_reason(s, NC_SESSION_TERM_KILLED);
	nc_session_set_killed_by(s, by);
	nc_session_set_status(s, NC_STATUS_INVALID);
	netconf_wake(s);
	return 0;
}

/**
 * netconf_wake() - end the transport of a session, so that nobody waits for it
 * @s: session, which is about to end
 */
void netconf_wake(const struct nc_session *s)
{
	int fd = socket_of(s);

	if (fd >= 0)
		shutdown(fd, SHUT_RDWR);
}
