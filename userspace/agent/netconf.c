// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See netconf.h. One thread accepts all connections, ends logins that take too
 * long, and the oldest ones where too many log in at once. Each
 * client has a thread, in which it logs in, says hello, and is served.
 */
#include "netconf.h"

#include <netdb.h>
#include <openssl/x509.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "auth/address.h"
#include "conf/keepalive.h"
#include "conf/list.h"
#include "conf/pace.h"
#include "conf/socket.h"
#include "error.h"
#include "login.h"
#include "netconf/modules.h"

/* Time limit of a login; time between two looks at connections. */
#define LOGIN_S		10
#define CHECK_MS	250
/*
 * How many may log in by SSH and TLS at once: of all, so that others get in, too;
 * and of one address. A connection that gives way takes a moment to go.
 */
#define BUSY_MAX	24
#define ADDRESS_MAX	4
#define LOGINS_MAX	40
#define BACKLOG		512
/* Bytes of a hello; of a request by SSH or TLS. */
#define HELLO_MAX	(1U << 20)
#define REQUEST_MAX	(16U << 20)
#define ATTRIBUTES_MAX	8192U	/* an edit of 1,024 members has an eighth */

#define TRANSPORTS	3

/**
 * struct netconf - who connects
 * @max: how many sessions there may be
 * @stop: nobody is accepted any more
 * @thread: accepts
 * @started: it runs
 * @listeners: where, by transport; -1: not there
 * @socket: the UNIX socket
 * @detached: how clients' threads are
 * @lock: protects the members below
 * @logins: clients that log in, the last one first
 * @nlogins: how many
 * @threads: of all clients
 * @pace: of messages on clients that do not get in
 */
struct netconf {
	unsigned int		max;
	atomic_bool		stop;
	pthread_t		thread;
	bool			started;
	int			listeners[TRANSPORTS];
	struct inc_socket	socket;
	pthread_attr_t		detached;
	pthread_mutex_t		lock;
	struct login		*logins;
	unsigned int		nlogins;
	unsigned int		threads;
	struct pace		pace;
};

/* --- YANG ---------------------------------------------------------------- */

static struct ly_ctx *new_ctx(const char *dirs)
{
	static const char *const features[] = {
		"writable-running", "rollback-on-error", "validate", NULL
	};
	static const char *const modules[] = {
		"ietf-netconf-monitoring", AGENT_MODULE, "notifications",
		"nc-notifications", NULL
	};
	struct ly_ctx *ctx;
	int i;

	if (ly_ctx_new(dirs, LY_CTX_DISABLE_SEARCHDIR_CWD, &ctx))
		return NULL;
	ly_ctx_set_module_imp_clb(ctx, inc_yang_find, NULL);
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

/*
 * Load the YANG modules. Returns 0, or -1 after a message.
 * @a: agent, whose ctx and mod are set
 * @yang_dirs: directories with YANG modules, separated by colons
 */
int netconf_init(struct agent *a, const char *yang_dirs,
		 const struct netconf_ops *ops, unsigned int max_sessions)
{
	struct netconf *n = calloc(1, sizeof(*n));
	unsigned int i;

	if (!n || serve_init(a, ops, max_sessions)) {
		log_error("no memory");
		return -1;
	}
	n->max = max_sessions;
	pthread_mutex_init(&n->lock, NULL);
	for (i = 0; i < TRANSPORTS; i++)
		n->listeners[i] = -1;
	a->netconf = n;
	/* It lives for long: messages must not pile up, nor be printed. */
	ly_log_options(LY_LOSTORE_LAST);
	a->ctx = new_ctx(yang_dirs);
	if (!a->ctx) {
		log_error("cannot load the YANG modules from %s: %s", yang_dirs,
			  ly_last_logmsg() ? ly_last_logmsg() : "not found");
		return -1;
	}
	a->mod = ly_ctx_get_module_implemented(a->ctx, AGENT_MODULE);
	return 0;
}

/* Modules of YANG 1.1 are in the YANG library only. */
static bool describe_module(const struct lys_module *mod, char *buf, size_t len)
{
	const struct lysp_feature *f = NULL;
	const char *sep = "&features=";
	uint32_t i = 0;
	size_t n;

	if (!mod->implemented || mod->parsed->version > LYS_VERSION_1_0)
		return false;
	n = (size_t)snprintf(buf, len, "%s?module=%s%s%s", mod->ns, mod->name,
			     mod->revision ? "&revision=" : "",
			     mod->revision ? mod->revision : "");
	while (n < len && (f = lysp_feature_next(f, mod->parsed, &i))) {
		if (!(f->flags & LYS_FENABLED))
			continue;
		n += (size_t)snprintf(buf + n, len - n, "%s%s", sep, f->name);
		sep = ",";
	}
	return n < len;
}

/*
 * Name what the agent can do.
 * @each: called with each capability, and @arg
 */
void netconf_capabilities(const struct agent *a,
			  void (*each)(const char *name, void *arg), void *arg)
{
	static const char *const names[] = {
		"base:1.0", "base:1.1", "capability:writable-running:1.0",
		"capability:rollback-on-error:1.0", "capability:validate:1.1",
		"capability:notification:1.0", "capability:interleave:1.0",
	};
	const struct lys_module *mod;
	char buf[512];
	uint32_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(buf, sizeof(buf), "urn:ietf:params:netconf:%s",
			 names[i]);
		each(buf, arg);
	}
	snprintf(buf, sizeof(buf),
		 "urn:ietf:params:netconf:capability:yang-library:1.1?revision=2019-01-04&content-id=%u",
		 ly_ctx_get_change_count(a->ctx));
	each(buf, arg);
	i = 0;
	while ((mod = ly_ctx_get_module_iter(a->ctx, &i)))
		if (describe_module(mod, buf, sizeof(buf)))
			each(buf, arg);
}

/* --- Logins -------------------------------------------------------------- */

/* Strangers do not fill the log: one message a second is enough. */
static void end_login(struct netconf *n, struct login *l, const char *why)
{
	unsigned int ended = pace_take(&n->pace);

	if (ended)
		log_warn("a client %s: its connection ends (%u have ended since the last message)",
			 why, ended);
	l->done = true;
	shutdown(l->s.c.fd, SHUT_RDWR);
}

/* Is it among strangers who may be too many? */
static bool counts(const struct login *l)
{
	return !l->done && !l->begins && l->s.transport != TRANSPORT_UNIX;
}

/* How many are of the same address? */
static unsigned int count_same(const struct netconf *n, const struct login *l)
{
	const struct login *other;
	unsigned int same = 0;

	for (other = n->logins; other; other = other->next)
		same += counts(other) &&
			IN6_ARE_ADDR_EQUAL(&other->s.from, &l->s.from);
	return same;
}

/*
 * Whoever has most makes room, by the oldest one: a client with a key logs in within
 * milliseconds.
 */
static void make_room(struct netconf *n)
{
	unsigned int same, most = 0, busy = 0;
	struct login *l, *oldest = NULL;

	for (l = n->logins; l; l = l->next) {
		if (!counts(l))
			continue;
		busy++;
		same = count_same(n, l);
		if (same < most)
			continue;
		most = same;
		oldest = l;
	}
	if (most > ADDRESS_MAX)
		end_login(n, oldest, "gives way to later ones from its address");
	else if (busy > BUSY_MAX)
		end_login(n, oldest, "gives way to others");
}

static void check_logins(struct netconf *n, int64_t now)
{
	struct login *l;

	pthread_mutex_lock(&n->lock);
	for (l = n->logins; l; l = l->next) {
		if (l->done || now - l->at < LOGIN_S * 1000)
			continue;
		if (l->s.transport != TRANSPORT_UNIX) {
			end_login(n, l, "has not logged in in time");
			continue;
		}
		log_warn("a client has not said hello within %d s: its connection ends",
			 LOGIN_S);
		l->done = true;
		shutdown(l->s.c.fd, SHUT_RDWR);
	}
	pthread_mutex_unlock(&n->lock);
}

/* It is a session now, or gone. Returns false if it was shut down. */
static bool leave_logins(struct netconf *n, struct login *l)
{
	bool good;

	pthread_mutex_lock(&n->lock);
	list_remove(n->logins, l);
	n->nlogins--;
	good = !l->done;
	pthread_mutex_unlock(&n->lock);
	return good;
}

static void put_capability(const char *name, void *arg)
{
	fputs("<capability>", arg);
	error_escape(arg, name, false);
	fputs("</capability>", arg);
}

static int send_hello(struct session *s)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	int ret = -ENOMEM;

	if (!out)
		return ret;
	fputs("<hello xmlns=\"" NETCONF_NS "\"><capabilities>", out);
	netconf_capabilities(s->a, put_capability, out);
	fprintf(out, "</capabilities><session-id>%u</session-id></hello>", s->id);
	if (!fclose(out))
		ret = carrier_send(&s->c, text, len, -1);
	free(text);
	return ret;
}

/* Returns true if a session begins. */
static bool say_hello(struct session *s)
{
	const char *why = NULL;
	uint32_t id = 0;
	int ret;

	s->id = serve_number(s->a);
	s->c.in.max = HELLO_MAX;
	s->c.in.attributes_max = ATTRIBUTES_MAX;
	if (send_hello(s))
		return false;
	ret = carrier_recv(&s->c, -1, -1);
	if (!ret) {
		ret = hello_read(s->a->ctx, s->c.in.text, &id);
		ly_err_clean(s->a->ctx, NULL);
		if (ret < 0)
			why = "it has said no hello";
		else if (id)
			why = "its hello has a session's ID";
	} else if (ret != -EPIPE) {
		why = frame_why(ret);
	}
	frame_done(&s->c.in);
	if (why)
		log_warn("session %u does not begin: %s", s->id, why);
	if (why || ret < 0)
		return false;
	s->c.in.chunked = ret;
	s->c.in.max = s->transport == TRANSPORT_UNIX ? 0 : REQUEST_MAX;
	return true;
}

/* Serve a client until it goes. Returns true if a session has begun. */
bool netconf_serve(struct login *l)
{
	struct session *s = &l->s;
	struct agent *a = s->a;
	const bool remote = s->transport != TRANSPORT_UNIX;
	bool good = login_run(l), admitted = !remote;

	if (good && remote) {
		good = serve_admit(s);
		admitted = good;
	}
	good = good && say_hello(s);
	good = leave_logins(a->netconf, l) && good;
	if (good) {
		/* Otherwise a manager that vanished keeps its session for hours. */
		if (remote)
			inc_set_keepalive(s->c.fd, RDMA_INC_DEFAULT_DEAD_TIME);
		if (l->begins)
			l->begins(l->arg);
		serve_run(s);
	}
	carrier_close(&s->c);
	X509_free(s->cert);
	free(l);
	if (admitted)
		serve_dismiss(a);
	pthread_mutex_lock(&a->netconf->lock);
	a->netconf->threads--;
	pthread_mutex_unlock(&a->netconf->lock);
	return good;
}

static void *run_client(void *arg)
{
	netconf_serve(arg);
	return NULL;
}

/* --- Connections --------------------------------------------------------- */

static struct login *new_login(struct agent *a, int fd, enum transport transport)
{
	struct login *l = calloc(1, sizeof(*l));
	struct sockaddr_storage peer;
	socklen_t len = sizeof(peer);

	if (!l)
		return NULL;
	l->at = now_ms();
	l->s.a = a;
	l->s.c.fd = fd;
	l->s.wake = -1;
	l->s.transport = transport;
	if (transport == TRANSPORT_UNIX ||
	    getpeername(fd, (struct sockaddr *)&peer, &len))
		return l;
	getnameinfo((struct sockaddr *)&peer, len, l->s.host,
		    sizeof(l->s.host), NULL, 0, NI_NUMERICHOST);
	inc_auth_peer_key((const struct sockaddr *)&peer, &l->s.from);
	return l;
}

/* Give a client its thread, or the caller's. Returns false if there is none. */
static bool start_client(struct netconf *n, struct login *l)
{
	pthread_t thread;
	bool good;

	pthread_mutex_lock(&n->lock);
	l->next = n->logins;
	n->logins = l;
	good = l->begins ||
	       !pthread_create(&thread, &n->detached, run_client, l);
	if (good) {
		n->nlogins++;
		n->threads++;
		make_room(n);
	} else {
		n->logins = l->next;
	}
	pthread_mutex_unlock(&n->lock);
	return good;
}

/*
 * Take a connection that the agent has made, by which it is the server, too (RFC
 * 8071). Returns who is to be given to netconf_serve(), by a thread with
 * NETCONF_STACK bytes; or NULL, and the connection is closed.
 * @begins: called with @arg when a session begins
 */
struct login *netconf_call(struct agent *a, int fd, void (*begins)(void *arg),
			   void *arg)
{
	struct login *l = new_login(a, fd, TRANSPORT_TLS);

	if (!l) {
		close(fd);
		return NULL;
	}
	l->begins = begins;
	l->arg = arg;
	start_client(a->netconf, l);
	return l;
}

static void accept_client(struct agent *a, enum transport transport)
{
	struct session local = { .a = a, .user = "a local client",
				 .transport = TRANSPORT_UNIX };
	bool counted = transport == TRANSPORT_UNIX;
	int fd = accept4(a->netconf->listeners[transport], NULL, NULL,
			 SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct login *l;

	if (fd < 0)
		return;
	/* Who logs in over a UNIX socket takes a place at once. */
	if (counted && !serve_admit(&local)) {
		close(fd);
		return;
	}
	l = new_login(a, fd, transport);
	if (l && start_client(a->netconf, l))
		return;
	free(l);
	close(fd);
	if (counted)
		serve_dismiss(a);
}

static void *accept_clients(void *arg)
{
	struct agent *a = arg;
	struct netconf *n = a->netconf;
	struct pollfd p[TRANSPORTS];
	unsigned int i;
	bool full;

	while (!n->stop) {
		check_logins(n, now_ms());
		serve_check(a, now_ms());
		pthread_mutex_lock(&n->lock);
		full = n->nlogins >= LOGINS_MAX + n->max;
		pthread_mutex_unlock(&n->lock);
		for (i = 0; i < TRANSPORTS; i++)
			p[i] = (struct pollfd){
				.fd = full ? -1 : n->listeners[i],
				.events = POLLIN,
			};
		if (poll(p, TRANSPORTS, full ? 10 : CHECK_MS) <= 0)
			continue;
		for (i = 0; i < TRANSPORTS && !n->stop; i++)
			if (p[i].revents)
				accept_client(a, i);
	}
	return NULL;
}

/* Accept sessions on a UNIX socket. Returns 0, or -1 after a message. */
int netconf_listen_unix(struct agent *a, const char *path, unsigned int mode)
{
	const char *why;
	int fd = inc_socket_listen(&a->netconf->socket, path, (int)mode, BACKLOG,
				   &why);

	if (fd < 0) {
		log_error("--unix %s: %s", path, why);
		return -1;
	}
	a->netconf->listeners[TRANSPORT_UNIX] = fd;
	return 0;
}

/* Remove the UNIX socket, if there is one. */
void netconf_unlisten(struct agent *a)
{
	struct netconf *n = a->netconf;
	unsigned int i;

	if (!n)
		return;
	if (n->listeners[TRANSPORT_UNIX] >= 0)
		inc_socket_remove(&n->socket);
	for (i = 0; i < TRANSPORTS; i++)
		if (n->listeners[i] >= 0)
			close(n->listeners[i]);
}

static int open_port(struct agent *a, enum transport transport,
		     const char *option, const char *addr, uint16_t port)
{
	int fd = inc_socket_listen_at(addr, port, BACKLOG);

	if (fd == -EINVAL)
		log_error("--%s %s: must be an IP address of this host, and no name",
			  option, addr);
	else if (fd < 0)
		log_error("cannot listen for %s at %s port %u: is the address this host's?",
			  transport == TRANSPORT_SSH ? "SSH" : "TLS", addr,
			  port);
	else
		a->netconf->listeners[transport] = fd;
	return fd < 0 ? -1 : 0;
}

/* Accept sessions over SSH and TLS. Returns 0, or -1 after a message. */
int netconf_listen_remote(struct agent *a, const struct netconf_ssh *ssh,
			  const struct netconf_tls *tls)
{
	if (remote_config(a, ssh, tls) ||
	    (ssh && open_port(a, TRANSPORT_SSH, "ssh", ssh->addr, ssh->port)) ||
	    (tls && tls->addr &&
	     open_port(a, TRANSPORT_TLS, "tls", tls->addr, tls->port)))
		return -1;
	serve_keep_places(a);
	return 0;
}

/* Read keys and certificates again. */
void netconf_reload(struct agent *a)
{
	if (a->remote)
		remote_reload(a);
}

/* Begin to accept sessions. Returns 0, or -1 after a message. */
int netconf_start(struct agent *a)
{
	struct netconf *n = a->netconf;
	int rc;

	pthread_attr_init(&n->detached);
	pthread_attr_setdetachstate(&n->detached, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&n->detached, NETCONF_STACK);
	rc = pthread_create(&n->thread, NULL, accept_clients, a);
	if (rc)
		log_error("cannot start a thread: %s", strerror(rc));
	n->started = !rc;
	return rc ? -1 : 0;
}

/* Refuse all logins, until no client is left. Returns true if so. */
static bool end_clients(struct netconf *n)
{
	unsigned int left, tries = 0;
	struct login *l;

	do {
		pthread_mutex_lock(&n->lock);
		for (l = n->logins; l; l = l->next) {
			l->done = true;
			shutdown(l->s.c.fd, SHUT_RDWR);
		}
		left = n->threads;
		pthread_mutex_unlock(&n->lock);
		if (left)
			usleep(1000);
	} while (left && tries++ < 5000);
	return !left;
}

/* End all sessions. */
void netconf_stop(struct agent *a)
{
	struct netconf *n = a->netconf;
	unsigned int i;

	n->stop = true;
	/* That ends the wait of the thread. */
	for (i = 0; i < TRANSPORTS; i++)
		if (n->listeners[i] >= 0)
			shutdown(n->listeners[i], SHUT_RDWR);
	if (n->started)
		pthread_join(n->thread, NULL);
	netconf_unlisten(a);
	serve_stop(a);
	if (!end_clients(n))
		return;
	pthread_attr_destroy(&n->detached);
	remote_free(a);
	serve_free(a);
	free(n);
	a->netconf = NULL;
	ly_ctx_destroy(a->ctx);
}
