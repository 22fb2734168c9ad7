// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * NETCONF sessions by libnetconf2.
 *
 * Logins take place in threads of their own, since libnetconf2 waits for each
 * step; serve.c has a thread for each session that has begun.
 *
 * This file listens on the UNIX socket itself: the next version of libnetconf2
 * has no function for that.
 */
#include "netconf.h"
#include "error.h"
#include "logins.h"
#include "remote.h"
#include "serve.h"

#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include <libnetconf2/log.h>
#include <libnetconf2/messages_server.h>
#include <libnetconf2/netconf.h>
#include <libnetconf2/server_config.h>
#include <libnetconf2/session_server.h>

#include "conf/socket.h"
#include "netconf/chunk.h"
#include "netconf/modules.h"
#include "conf/keepalive.h"

/* Time limit of a login; time between two looks at connections. */
#define LOGIN_S		10
#define CHECK_MS	50
/* Half of the stack of a session's thread. */
#define STACK_BYTES	(1U << 20)

/**
 * struct pending - a client that has not said hello yet
 * @fd: its UNIX socket, -1: none
 * @since: milliseconds; when it connected
 */
struct pending {
	int		fd;
	uint64_t	since;
};

static struct {
	struct ly_ctx			*ctx;
	/* Modules for clients. libnetconf2 has others for its endpoints. */
	struct ly_set			served;
	const struct netconf_ops	*ops;
	unsigned int			max;
	/* Logins by UNIX sockets: room for max. */
	pthread_mutex_t			lock;
	struct pending			*pending;
	atomic_bool			stop;
	pthread_t			logins[LOGINS_MAX + 1];
	unsigned int			nlogins;
	bool				remote;
	int				listener;
	struct inc_socket		socket;
} srv = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.listener = -1,
};

static void log_nc(const struct nc_session *s, NC_VERB_LEVEL level,
		   const char *msg)
{
	/* A client's mistake is no error of the agent. */
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

/* Ask whether a session's certificate has been revoked. Returns true if so. */
bool netconf_revoked(const struct nc_session *s)
{
	return remote_revoked(s);
}

static struct ly_ctx *new_ctx(const char *dirs)
{
	static const char *const features[] = {
		"writable-running", "rollback-on-error", "validate", NULL
	};
	static const char *const modules[] = {
		AGENT_MODULE, "notifications", "nc-notifications", NULL
	};
	struct ly_ctx *ctx;
	int i;

	if (ly_ctx_new(dirs, LY_CTX_DISABLE_SEARCHDIR_CWD, &ctx))
		return NULL;
	ly_ctx_set_module_imp_clb(ctx, inc_yang_find, NULL);
	if (nc_server_init_ctx(&ctx))
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

static void note_served(void)
{
	const struct lys_module *mod;
	uint32_t i = 0;

	while ((mod = ly_ctx_get_module_iter(srv.ctx, &i)))
		if (mod->implemented)
			ly_set_add(&srv.served, mod, 1, NULL);
}

/*
 * Ask whether clients may use a YANG module. Returns false if it is only
 * imported, or libnetconf2's own.
 */
bool netconf_serves(const struct lys_module *mod)
{
	return ly_set_contains(&srv.served, (void *)mod, NULL);
}

/*
 * Load the YANG modules and start libnetconf2. Returns 0, or -1 after a
 * message.
 * @a: agent; result: its ctx and mod
 * @yang_dirs: directories with YANG modules, separated by colons
 */
int netconf_init(struct agent *a, const char *yang_dirs,
		 const struct netconf_ops *ops, unsigned int max_sessions)
{
	unsigned int i;

	nc_verbosity(NC_VERB_VERBOSE);
	nc_set_print_clb_session(log_nc);
	error_init();
	a->ctx = new_ctx(yang_dirs);
	if (!a->ctx) {
		log_error("cannot load the YANG modules from %s: %s", yang_dirs,
			  ly_last_logmsg() ? ly_last_logmsg() : "not found");
		return -1;
	}
	a->mod = ly_ctx_get_module_implemented(a->ctx, AGENT_MODULE);
	srv.ctx = a->ctx;
	note_served();
	srv.ops = ops;
	srv.max = max_sessions;
	srv.pending = calloc(max_sessions, sizeof(*srv.pending));
	if (!srv.pending || nc_server_init()) {
		log_error("cannot start libnetconf2");
		return -1;
	}
	for (i = 0; i < max_sessions; i++)
		srv.pending[i].fd = -1;
	serve_init(a->ctx, ops, max_sessions);
	nc_server_set_capab_withdefaults(NC_WD_EXPLICIT, 0);
	nc_server_set_capability("urn:ietf:params:netconf:capability:"
				 "notification:1.0");
	nc_server_set_capability("urn:ietf:params:netconf:capability:"
				 "interleave:1.0");
	return 0;
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

/* End logins that take too long: libnetconf2 would wait for a minute. */
static void check_pending(void)
{
	uint64_t now = now_ms();
	unsigned int i;

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
	serve_check(now);
}

/* Refuse all logins when the agent ends. */
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
	struct serve_guest g = { .fd = fd, .ours = true, .may_change = true };
	struct ucred cred = { .uid = 0 };
	socklen_t len = sizeof(cred);
	struct nc_session *s = NULL;
	struct passwd pw, *found = NULL;
	char name[16], buf[1024];

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		cred.uid = (uid_t)-1;
	snprintf(name, sizeof(name), "uid%u", cred.uid);
	getpwuid_r(cred.uid, &pw, buf, sizeof(buf), &found);
	g.name = found ? pw.pw_name : name;
	if (nc_accept_inout(fd, fd, g.name, srv.ctx, &s) == NC_MSG_HELLO) {
		set_pending(fd, -1);
		serve_begin(s, &g);
	} else {
		set_pending(fd, -1);
		close(fd);
		serve_dismiss();
	}
	return NULL;
}

static void *accept_unix(void *arg)
{
	const struct serve_guest local = { .may_change = true,
					   .name = "a local client" };
	struct pollfd p = { .fd = srv.listener, .events = POLLIN };
	pthread_attr_t detached;
	pthread_t thread;
	int fd;

	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&detached, STACK_BYTES);
	while (!srv.stop) {
		check_pending();
		if (poll(&p, 1, CHECK_MS) <= 0)
			continue;
		fd = accept4(srv.listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0)
			continue;
		if (!serve_admit(&local)) {
			close(fd);
			continue;
		}
		set_pending(-1, fd);
		if (pthread_create(&thread, &detached, login_unix,
				   (void *)(intptr_t)fd)) {
			set_pending(fd, -1);
			close(fd);
			serve_dismiss();
		}
	}
	pthread_attr_destroy(&detached);
	return NULL;
}

/* @s is a session of a user that was admitted. */
static void serve_remote(struct nc_session *s)
{
	struct serve_guest g = {
		.fd = logins_done(s),
		.may_change = remote_may_change(s),
		.remote = true,
		.name = nc_session_get_username(s),
		.host = nc_session_get_host(s),
	};

	if (!serve_admit(&g)) {
		nc_session_free(s, NULL);
		return;
	}
	/* Otherwise a manager that vanished keeps its session for hours. */
	if (g.fd >= 0)
		inc_set_keepalive(g.fd, RDMA_INC_DEFAULT_DEAD_TIME);
	serve_begin(s, &g);
}

static void *accept_remote(void *arg)
{
	struct nc_session *s;

	while (!srv.stop) {
		s = NULL;
		if (nc_accept(CHECK_MS, srv.ctx, &s) != NC_MSG_HELLO)
			continue;
		if (remote_admits(s))
			serve_remote(s);
		else
			nc_session_free(s, NULL);
	}
	return NULL;
}

/* Accept sessions on a UNIX socket. Returns 0, or -1 after a message. */
int netconf_listen_unix(const char *path, unsigned int mode)
{
	const char *why;
	int fd = inc_socket_listen(&srv.socket, path, (int)mode, 16, &why);

	if (fd < 0) {
		log_error("--unix %s: %s", path, why);
		return -1;
	}
	srv.listener = fd;
	return 0;
}

/* Remove the UNIX socket, if there is one. */
void netconf_unlisten(void)
{
	if (srv.listener < 0)
		return;
	inc_socket_remove(&srv.socket);
	close(srv.listener);
}

/* Accept sessions over SSH and TLS. Returns 0, or -1 after a message. */
int netconf_listen_remote(const struct netconf_ssh *ssh,
			  const struct netconf_tls *tls)
{
	/* libnetconf2 looks for its modules in the sessions' context, too. */
	if (nc_server_config_load_modules(&srv.ctx)) {
		log_error("cannot load libnetconf2's YANG modules");
		return -1;
	}
	if (remote_config(srv.ctx, ssh, tls, LOGIN_S))
		return -1;
	logins_init(ssh ? ssh->port : 0, tls ? tls->port : 0, LOGIN_S * 1000);
	serve_keep_places();
	srv.remote = true;
	return 0;
}

/* Read keys and certificates again. */
void netconf_reload(void)
{
	if (srv.remote)
		remote_reload();
}

/* Begin to accept sessions. Returns 0, or -1 after a message. */
int netconf_start(void)
{
	pthread_attr_t attr;
	unsigned int i;
	int rc;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	rc = pthread_create(&srv.logins[0], &attr, accept_unix, NULL);
	srv.nlogins += !rc;
	for (i = 0; srv.remote && i < LOGINS_MAX && !rc; i++) {
		rc = pthread_create(&srv.logins[srv.nlogins], &attr,
				    accept_remote, NULL);
		srv.nlogins += !rc;
	}
	pthread_attr_destroy(&attr);
	if (rc)
		log_error("cannot start a thread: %s", strerror(rc));
	return rc ? -1 : 0;
}

/*
 * Get the size by which a server's libnetconf2 gives a chunk up. Returns a size
 * that ends the session.
 */
unsigned long chunk_refuse(void)
{
	return 0;
}

/*
 * Get the largest size of a message's next chunk. Returns bytes; --max-memory
 * limits the whole message.
 */
unsigned long chunk_most(void)
{
	return CHUNK_MAX;
}

/* End all sessions. */
void netconf_stop(struct agent *a)
{
	unsigned int i;

	srv.stop = true;
	netconf_unlisten();
	for (i = 0; i < srv.nlogins; i++)
		pthread_join(srv.logins[i], NULL);
	end_pending();
	serve_stop();
	nc_server_destroy();
	free(srv.pending);
	remote_free();
	srv.ops->ended();
	ly_set_erase(&srv.served, NULL);
	ly_ctx_destroy(a->ctx);
}
