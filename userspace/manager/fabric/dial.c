// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See dial.h. Nothing waits but in poll(), and not beyond the time limit of all.
 */
#include <errno.h>
#include <fcntl.h>
#include <libssh/libssh.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "auth/identity.h"
#include "auth/resolve.h"
#include "conf/clock.h"
#include "conf/log.h"
#include "conf/text.h"
#include "fabric/dial.h"
#include "http2/reach.h"
#include "netconf/carrier.h"
#include "tls/tls.h"

#define CALLS		2	/* of an agent: it has as many sessions */
#define CALL_MS		10000	/* then inc-agentd ends it */

/**
 * struct call - a connection that an agent has made, until a session needs it
 * @next: the call that came before it
 * @id: the agent's name
 * @at: when it came, as of now_ms()
 * @fd: socket
 * @tls: over it
 */
struct call {
	struct call	*next;
	char		id[IDENTITY_LEN];
	int64_t		at;
	int		fd;
	struct inc_tls	*tls;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct call *calls;	/* under @lock */

static int wait_for(const struct carrier *c, short events, int64_t until)
{
	struct pollfd p = { .fd = c->fd, .events = events };
	int n = poll(&p, 1, ms_until(until));

	return n > 0 || (n < 0 && errno == EINTR) ? 0 : -ETIMEDOUT;
}

/* --- UNIX sockets -------------------------------------------------------- */

/* An agent that does not accept, either, does not keep it for longer. */
static int dial_unix(const struct netconf_target *t, struct carrier *c,
		     int64_t until, char *err)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int left = ms_until(until), fd;
	struct timeval limit = { left / 1000, left % 1000 * 1000 };

	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s", t->path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (fd < 0 || connect(fd, (struct sockaddr *)&sun, sizeof(sun)) ||
	    fcntl(fd, F_SETFL, O_NONBLOCK)) {
		snprintf(err, SW_ERROR_LEN, "%s: %s", t->path,
			 errno == EAGAIN ? "the agent does not answer" :
			 strerror(errno));
		if (fd >= 0)
			close(fd);
		return -EHOSTUNREACH;
	}
	c->fd = fd;
	return 0;
}

/* --- SSH and TLS --------------------------------------------------------- */

/* Without a file of known hosts, any key is accepted. */
static bool is_known(const struct netconf_target *t, ssh_session ssh)
{
	return !t->known_hosts[0] ||
	       ssh_session_is_known_server(ssh) == SSH_KNOWN_HOSTS_OK;
}

static ssh_session new_ssh(const struct netconf_target *t, int fd)
{
	ssh_session ssh = ssh_new();
	/* libssh closes it when it likes. */
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	unsigned int port = t->port;
	const bool no = false;

	if (!ssh || copy < 0 ||
	    ssh_options_set(ssh, SSH_OPTIONS_PROCESS_CONFIG, &no) ||
	    ssh_options_set(ssh, SSH_OPTIONS_HOST, t->host) ||
	    ssh_options_set(ssh, SSH_OPTIONS_PORT, &port) ||
	    ssh_options_set(ssh, SSH_OPTIONS_USER, t->user) ||
	    (t->known_hosts[0] &&
	     (ssh_options_set(ssh, SSH_OPTIONS_KNOWNHOSTS, t->known_hosts) ||
	      ssh_options_set(ssh, SSH_OPTIONS_GLOBAL_KNOWNHOSTS,
			      t->known_hosts))) ||
	    ssh_options_set(ssh, SSH_OPTIONS_FD, &copy)) {
		if (copy >= 0)
			close(copy);
		ssh_free(ssh);
		return NULL;
	}
	ssh_set_blocking(ssh, 0);
	return ssh;
}

/* What libssh has to wait for. */
static bool waits(const struct carrier *c, int64_t until)
{
	int flags = ssh_get_poll_flags(c->ssh);

	return !wait_for(c, flags & SSH_WRITE_PENDING ? POLLIN | POLLOUT :
						       POLLIN, until);
}

static bool open_channel(struct carrier *c, int64_t until)
{
	int ret;

	c->channel = ssh_channel_new(c->ssh);
	if (!c->channel)
		return false;
	do {
		ret = ssh_channel_open_session(c->channel);
	} while (ret == SSH_AGAIN && waits(c, until));
	if (ret != SSH_OK)
		return false;
	do {
		ret = ssh_channel_request_subsystem(c->channel, "netconf");
	} while (ret == SSH_AGAIN && waits(c, until));
	return ret == SSH_OK;
}

static bool shake_ssh(const struct netconf_target *t, struct carrier *c,
		      ssh_key key, int64_t until)
{
	int ret;

	do {
		ret = ssh_connect(c->ssh);
	} while (ret == SSH_AGAIN && waits(c, until));
	if (ret != SSH_OK || !is_known(t, c->ssh))
		return false;
	do {
		ret = ssh_userauth_publickey(c->ssh, NULL, key);
	} while (ret == SSH_AUTH_AGAIN && waits(c, until));
	return ret == SSH_AUTH_SUCCESS && open_channel(c, until);
}

static bool dial_ssh(const struct netconf_target *t, struct carrier *c,
		     int64_t until)
{
	ssh_key key = NULL;
	bool good;

	if (!t->key[0] || ssh_pki_import_privkey_file(t->key, NULL, NULL, NULL,
						      &key) != SSH_OK)
		return false;
	c->ssh = new_ssh(t, c->fd);
	good = c->ssh && shake_ssh(t, c, key, until);
	ssh_key_free(key);
	if (!good && c->ssh)
		log_debug("%s: SSH: %s", t->host, ssh_get_error(c->ssh));
	return good;
}

static bool dial_tls(const struct netconf_target *t, struct carrier *c,
		     int64_t until)
{
	static const struct inc_tls_words words = {
		.peer = "the agent",
		.cert = "--tls-cert",
		.plain = "is this its port for TLS?",
	};
	const struct inc_tls_how how = {
		.ca = t->ca, .cert = t->cert, .key = t->cert_key,
		.words = &words,
	};
	char why[SW_ERROR_LEN];
	struct inc_tls_ctx *ctx = inc_tls_ctx_new(&how, why, sizeof(why));
	short events;
	int ret;

	if (!ctx) {
		log_debug("%s: %s", t->host, why);
		return false;
	}
	c->tls = inc_tls_open(ctx, c->fd, t->host);
	inc_tls_ctx_free(ctx);
	if (!c->tls)
		return false;
	do {
		ret = inc_tls_shake(c->tls, &events);
	} while (ret == -EAGAIN && !wait_for(c, events, until));
	if (ret)
		log_debug("%s: %s", t->host, inc_tls_why(c->tls));
	return !ret;
}

/* --- Calls --------------------------------------------------------------- */

static void end_call(struct call *c)
{
	inc_tls_close(c->tls);
	close(c->fd);
	free(c);
}

/*
 * Keep an agent's connection for dial(). It takes the place of the one that has
 * waited for longest if there are more than the agent's sessions. Context: any thread.
 * @id: what the agent's certificate names
 */
void dial_keep(const char *id, int fd, struct inc_tls *tls)
{
	struct call *c = calloc(1, sizeof(*c)), **p, *old = NULL, *next;
	unsigned int n = 0;

	if (!c) {
		inc_tls_close(tls);
		close(fd);
		return;
	}
	*c = (struct call){ .at = now_ms(), .fd = fd, .tls = tls };
	snprintf(c->id, sizeof(c->id), "%s", id);
	pthread_mutex_lock(&lock);
	c->next = calls;
	calls = c;
	for (p = &calls; (next = *p);) {
		n += !strcmp(next->id, id);
		if (c->at - next->at < CALL_MS &&
		    (n <= CALLS || strcmp(next->id, id))) {
			p = &next->next;
			continue;
		}
		*p = next->next;
		next->next = old;
		old = next;
	}
	pthread_mutex_unlock(&lock);
	for (; old; old = next) {
		next = old->next;
		end_call(old);
	}
}

static int dial_called(const struct netconf_target *t, struct carrier *c,
		       char *err)
{
	struct call **p, *call;

	pthread_mutex_lock(&lock);
	for (p = &calls; *p && strcmp((*p)->id, t->host); p = &(*p)->next)
		;
	call = *p;
	if (call)
		*p = call->next;
	pthread_mutex_unlock(&lock);
	if (!call) {
		snprintf(err, SW_ERROR_LEN, "it has not called: is inc-agentd running with --manager, and --tls-cert whose CN is %s?",
			 t->host);
		return -EHOSTUNREACH;
	}
	c->fd = call->fd;
	c->tls = call->tls;
	free(call);
	return 0;
}

/* Say why there is no session, where nothing better is known. */
const char *dial_why(const struct netconf_target *t)
{
	if (t->calls)
		return "it ends its call: is the certificate --tls-cert of its --tls-ca, and has it the OU manager? Its log says more";
	return t->tls ? "no NETCONF session over TLS: is inc-agentd running with --tls, is its certificate of --tls-ca and has it this name, and the OU of --tls-cert manager?" :
	       "no NETCONF session over SSH: is inc-agentd running, is the key among those it accepts, and its own in the file of known hosts?";
}

static int dial_host(const struct netconf_target *t, struct carrier *c,
		     int64_t until, char *err)
{
	const bool v6 = strchr(t->host, ':');
	char addr[sizeof(t->host) + 16];
	int fd;

	if (t->tls && !t->cert) {
		snprintf(err, SW_ERROR_LEN,
			 "TLS needs --tls-cert, --tls-key and --tls-ca");
		return -EINVAL;
	}
	snprintf(addr, sizeof(addr), "%s%s%s:%u", v6 ? "[" : "", t->host,
		 v6 ? "]" : "", t->port);
	fd = inc_reach_connect(addr, t->port, ms_until(until));
	c->fd = fd < 0 ? -1 : fd;
	if (fd >= 0 && (t->tls ? dial_tls(t, c, until) : dial_ssh(t, c, until)))
		return 0;
	/* A name without an address is told apart from a host without an answer. */
	if (fd == -ENXIO || fd == -ENONET)
		snprintf(err, SW_ERROR_LEN, "%s: %s", t->host,
			 inc_resolve_why(fd == -ENXIO ? EAI_NONAME : EAI_AGAIN));
	else
		snprintf(err, SW_ERROR_LEN, "%s", dial_why(t));
	text_clean(err);
	return -EHOSTUNREACH;
}

/*
 * Connect to an agent, and log in. Returns 0; or a negative errno value, and @c is
 * to be closed.
 * @c: result; zeroed, without a descriptor
 * @until: as of now_ms()
 * @err: result: what is wrong, of SW_ERROR_LEN bytes
 */
int dial(const struct netconf_target *t, struct carrier *c, int64_t until,
	 char *err)
{
	if (t->calls)
		return dial_called(t, c, err);
	return t->path[0] ? dial_unix(t, c, until, err) :
			    dial_host(t, c, until, err);
}
