// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The NETCONF client, over libnetconf2. Each step has a time limit. After a
 * timeout, or a lost connection, the session must be closed.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <libnetconf2/log.h>
#include <libnetconf2/messages_client.h>
#include <libnetconf2/netconf.h>
#include <libnetconf2/session.h>
#include <libnetconf2/session_client.h>

#include "auth/address.h"
#include "auth/resolve.h"
#include "conf/array.h"
#include "conf/clock.h"
#include "conf/log.h"
#include "conf/text.h"
#include "conf/thread.h"
#include "fabric/netconf.h"
#include "fabric/schema.h"
#include "netconf/limit.h"

#define REPLY_MS	5000
/* A switch with 60,000 interfaces and hosts reports about 24 MiB. */
#define MESSAGE_MAX	(32U << 20)
/* Limit of a hello, "ok", an error, a notification. */
#define SHORT_MAX	(1U << 20)
/* Limit of notifications before a reply: libnetconf2 keeps them in memory. */
#define EARLY_MAX	4
#define OPEN_S		9	/* libnetconf2 would wait for a minute */
#define SSH_PORT	830	/* RFC 6242 */
#define TLS_PORT	6513	/* RFC 7589 */
/* error-app-tag, see rdma-inc-switch.yang. */
#define NO_ROUTE	"no-route"
#define TLS_PREFIX	"tls://"

struct netconf {
	struct nc_session	*session;
	int			fd;	/* -1: libnetconf2 has its own */
	char			path[256];	/* error-path of the last error */
};

static const struct {
	const char	*tag;
	int		err;
} tags[] = {
	{ "access-denied", EACCES },
	{ "data-exists", EEXIST },
	{ "data-missing", ENOENT },
	{ "in-use", EBUSY },
	{ "lock-denied", EBUSY },
	{ "invalid-value", EINVAL },
	{ "bad-element", EINVAL },
	{ "missing-element", EINVAL },
	{ "unknown-element", EINVAL },
	{ "operation-not-supported", EOPNOTSUPP },
	{ "resource-denied", ENOBUFS },
	{ "too-big", EMSGSIZE },
};

static int set_error(char *err, int ret, const char *text)
{
	snprintf(err, NETCONF_ERROR_LEN, "%s", text);
	text_clean(err);
	return ret;
}

static bool copy_bytes(char *to, size_t room, const char *from, size_t len)
{
	if (!len || len >= room)
		return false;
	memcpy(to, from, len);
	to[len] = '\0';
	return true;
}

/*
 * Parse an agent's address. Returns 0 or -EINVAL.
 * @t: result; @t->key and @t->known_hosts are left alone
 * @text: "/PATH" of a UNIX socket, "[USER@]HOST[:PORT]" for SSH, or
 *	"tls://HOST[:PORT]"; an IPv6 address has brackets
 */
int netconf_target_parse(struct netconf_target *t, const char *text)
{
	const char *at;
	int port;

	if (text[0] == '/')
		return copy_bytes(t->path, sizeof(t->path), text,
				  strlen(text)) ?
		       0 : -EINVAL;
	t->tls = !strncmp(text, TLS_PREFIX, strlen(TLS_PREFIX));
	if (t->tls)
		text += strlen(TLS_PREFIX);
	port = t->tls ? TLS_PORT : SSH_PORT;
	at = t->tls ? NULL : strchr(text, '@');
	snprintf(t->user, sizeof(t->user), "%s", "root");
	if (at &&
	    !copy_bytes(t->user, sizeof(t->user), text, (size_t)(at - text)))
		return -EINVAL;
	if (inc_auth_address(at ? at + 1 : text, t->host, sizeof(t->host),
			     &port) || !port)
		return -EINVAL;
	t->port = (uint16_t)port;
	return 0;
}

/*
 * Compare addresses of agents like strcmp(). Equal addresses belong to the same
 * agent, whatever the user is.
 */
int netconf_target_cmp(const struct netconf_target *a,
		       const struct netconf_target *b)
{
	int diff = strcmp(a->path, b->path);

	if (!diff)
		diff = strcasecmp(a->host, b->host);
	return diff ? diff : a->port - b->port;
}

/* --- UNIX sockets -------------------------------------------------------- */

/**
 * struct limit - a thread that ends a connection, unless it is cancelled
 * @thread: thread
 * @lock: guards @done
 * @wake: signals @done
 * @done: the thread must end
 * @timed_out: the thread has ended the connection
 * @fd: connection
 */
struct limit {
	pthread_t	thread;
	pthread_mutex_t	lock;
	pthread_cond_t	wake;
	bool		done;
	bool		timed_out;
	int		fd;
};

static void *limit_run(void *arg)
{
	struct limit *l = arg;
	int64_t until = now_ms() + OPEN_S * 1000;

	pthread_mutex_lock(&l->lock);
	while (!l->done && !l->timed_out)
		l->timed_out = cond_wait(&l->wake, &l->lock, until) ==
			       ETIMEDOUT;
	if (!l->done)
		shutdown(l->fd, SHUT_RDWR);
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

static void limit_end(struct limit *l)
{
	pthread_mutex_lock(&l->lock);
	l->done = true;
	pthread_cond_signal(&l->wake);
	pthread_mutex_unlock(&l->lock);
	pthread_join(l->thread, NULL);
}

/* SO_SNDTIMEO also limits connect() to an agent that does not accept. */
static int connect_unix(const char *path)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	struct timeval limit = { .tv_sec = OPEN_S }, look = { .tv_sec = 1 };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), err;

	if (fd < 0)
		return -errno;
	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s", path);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	/*
	 * libnetconf2 gives up on a message that has stalled, but looks at the
	 * clock only between two calls of read().
	 */
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &look, sizeof(look));
	if (!connect(fd, (struct sockaddr *)&sun, sizeof(sun)))
		return fd;
	err = errno;
	close(fd);
	return -err;
}

static struct nc_session *open_unix(const struct netconf_target *t, int *fd,
				    char *err)
{
	struct limit l = {
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.wake = PTHREAD_COND_INITIALIZER,
	};
	struct nc_session *session;

	*fd = connect_unix(t->path);
	l.fd = *fd;
	if (*fd < 0 || pthread_create(&l.thread, NULL, limit_run, &l)) {
		snprintf(err, NETCONF_ERROR_LEN, "%s: %s", t->path,
			 *fd == -EAGAIN ? "the agent does not answer" :
			 strerror(*fd < 0 ? -*fd : ENOMEM));
		if (*fd >= 0)
			close(*fd);
		return NULL;
	}
	session = nc_connect_inout(*fd, *fd, schema_get());
	limit_end(&l);
	if (session)
		return session;
	close(*fd);
	snprintf(err, NETCONF_ERROR_LEN, "%s: %s", t->path, l.timed_out ?
		 "the agent does not answer" :
		 "no NETCONF session: is it inc-agentd's socket?");
	return NULL;
}

/* --- SSH and TLS --------------------------------------------------------- */

/* libnetconf2 would wait for name servers without a limit or an error. */
static bool has_address(const struct netconf_target *t, char *err)
{
	struct addrinfo *list;
	char text[NETCONF_ERROR_LEN];
	int ret = inc_resolve(t->host, "", 0, INC_RESOLVE_MS, &list);

	if (!ret) {
		freeaddrinfo(list);
		return true;
	}
	snprintf(text, sizeof(text), "%s: %s", t->host, inc_resolve_why(ret));
	set_error(err, -EHOSTUNREACH, text);
	return false;
}

static struct nc_session *open_ssh(const struct netconf_target *t, char *err)
{
	struct nc_session *session;
	char public[sizeof(t->key) + 4];

	nc_client_ssh_set_username(t->user);
	nc_client_ssh_set_auth_pref(NC_SSH_AUTH_INTERACTIVE, -1);
	nc_client_ssh_set_auth_pref(NC_SSH_AUTH_PASSWORD, -1);
	nc_client_ssh_set_auth_pref(NC_SSH_AUTH_PUBLICKEY, 1);
	if (t->known_hosts[0]) {
		nc_client_ssh_set_knownhosts_mode(NC_SSH_KNOWNHOSTS_STRICT);
		nc_client_ssh_set_knownhosts_path(t->known_hosts);
	} else {
		nc_client_ssh_set_knownhosts_mode(NC_SSH_KNOWNHOSTS_SKIP);
	}
	if (t->key[0] && !nc_client_ssh_get_keypair_count()) {
		snprintf(public, sizeof(public), "%s.pub", t->key);
		nc_client_ssh_add_keypair(public, t->key);
	}
	session = nc_connect_ssh(t->host, t->port, schema_get());
	if (!session)
		set_error(err, -EHOSTUNREACH, "no NETCONF session over SSH: is inc-agentd running, is the key among those it accepts, and its own in the file of known hosts?");
	return session;
}

static struct nc_session *open_tls(const struct netconf_target *t, char *err)
{
	struct nc_session *session = NULL;

	if (!t->cert)
		set_error(err, -EINVAL,
			  "TLS needs --tls-cert, --tls-key and --tls-ca");
	else if (!nc_client_tls_set_cert_key_paths(t->cert, t->cert_key) &&
		 !nc_client_tls_set_trusted_ca_paths(t->ca, NULL))
		session = nc_connect_tls(t->host, t->port, schema_get());
	if (!session && t->cert)
		set_error(err, -EHOSTUNREACH, "no NETCONF session over TLS: is inc-agentd running with --tls, is its certificate of --tls-ca and has it this name, and the OU of --tls-cert manager?");
	return session;
}

/* The library's messages are logged only on request. */
static void log_library(const struct nc_session *session, NC_VERB_LEVEL level,
			const char *text)
{
	if (getenv("INC_AMD_NETCONF"))
		log_info("netconf: %d: %s", level, text);
}

/* Connect to an agent. Returns the session, or NULL. */
struct netconf *netconf_open(const struct netconf_target *t, char *err)
{
	struct netconf *n = calloc(1, sizeof(*n));

	if (!n) {
		set_error(err, -ENOMEM, "no memory");
		return NULL;
	}
	if (!schema_get()) {
		set_error(err, -EINVAL,
			  "the YANG modules of this program cannot be read");
		free(n);
		return NULL;
	}
	nc_set_print_clb_session(log_library);
	/* The setting is per thread: fetch no module from the agent. */
	nc_client_set_new_session_context_autofill(0);
	n->fd = -1;
	netconf_limit_set(SHORT_MAX);
	if (t->path[0])
		n->session = open_unix(t, &n->fd, err);
	else if (has_address(t, err))
		n->session = t->tls ? open_tls(t, err) : open_ssh(t, err);
	netconf_limit_set(0);
	if (n->session && nc_session_get_version(n->session))
		return n;
	if (n->session)
		set_error(err, -EPROTO, "the agent speaks NETCONF 1.0 only, which says no message's length: is it inc-agentd?");
	netconf_close(n);
	return NULL;
}

/* End a session. */
void netconf_close(struct netconf *n)
{
	if (!n)
		return;
	/* nc_session_free() sends <close-session>, and waits for the reply. */
	netconf_limit_last(SHORT_MAX);
	nc_session_free(n->session, NULL);
	netconf_limit_set(0);
	if (n->fd >= 0)
		close(n->fd);
	free(n);
}

/*
 * Get a descriptor to wait for notifications with. Returns the descriptor, or
 * -1: poll with netconf_notif() instead.
 */
int netconf_fd(const struct netconf *n)
{
	return n->fd;
}

/* --- Replies ------------------------------------------------------------- */

static const char *child_text(const struct lyd_node *node, const char *name)
{
	const struct lyd_node *child;

	LY_LIST_FOR(lyd_child(node), child)
		if (!strcmp(LYD_NAME(child), name))
			return lyd_get_value(child);
	return NULL;
}

static int errno_of(const struct lyd_node *error)
{
	const char *tag = child_text(error, "error-tag");
	const char *app_tag = child_text(error, "error-app-tag");
	size_t i;

	/* NETCONF has no error-tag for a missing route. */
	if (app_tag && !strcmp(app_tag, NO_ROUTE))
		return -ENETUNREACH;
	for (i = 0; tag && i < ARRAY_SIZE(tags); i++)
		if (!strcmp(tag, tags[i].tag))
			return -tags[i].err;
	return -EIO;
}

/* Find the first <rpc-error> of a reply: 0 if it has none. */
static int error_of(struct netconf *n, const struct lyd_node *envp, char *err)
{
	const struct lyd_node *child;
	const char *tag, *text;

	LY_LIST_FOR(lyd_child(envp), child) {
		if (strcmp(LYD_NAME(child), "rpc-error"))
			continue;
		tag = child_text(child, "error-tag");
		text = child_text(child, "error-message");
		set_error(err, 0, text && *text ? text : tag ? tag : "refused");
		text = child_text(child, "error-path");
		snprintf(n->path, sizeof(n->path), "%s", text ? text : "");
		return errno_of(child);
	}
	return 0;
}

/*
 * Send a request and wait for its reply of at most @max bytes. -ENOTCONN: the
 * session is dead.
 */
static int ask_agent(struct netconf *n, struct nc_rpc *rpc, size_t max,
		     struct lyd_node **op, char *err)
{
	struct lyd_node *envp = NULL;
	unsigned int early = 0;
	NC_MSG_TYPE type;
	uint64_t id;
	int ret;

	*op = NULL;
	if (!rpc)
		return set_error(err, -ENOMEM, "no memory for a request");
	type = nc_send_rpc(n->session, rpc, REPLY_MS, &id);
	if (type != NC_MSG_RPC)
		return set_error(err, -ENOTCONN,
				 "the agent's connection is lost");
	netconf_limit_set(max);
	do {
		type = nc_recv_reply(n->session, rpc, id, REPLY_MS, &envp, op);
	} while (type == NC_MSG_NOTIF && ++early < EARLY_MAX);
	if (netconf_limit_passed())
		ret = set_error(err, -ENOTCONN, "the agent's answer is too long, or no NETCONF");
	else if (type == NC_MSG_WOULDBLOCK)
		ret = set_error(err, -ENOTCONN, "the agent does not answer");
	else if (type == NC_MSG_REPLY)
		ret = error_of(n, envp, err);
	else
		ret = set_error(err, -ENOTCONN,
				"the agent's connection is lost");
	netconf_limit_set(0);
	lyd_free_tree(envp);
	return ret;
}

/* Send a request, to be freed here, whose reply is "ok" or an error. */
static int order_agent(struct netconf *n, struct nc_rpc *rpc, char *err)
{
	struct lyd_node *op;
	int ret = ask_agent(n, rpc, SHORT_MAX, &op, err);

	lyd_free_tree(op);
	nc_rpc_free(rpc);
	return ret;
}

/*
 * Change a switch's configuration. Returns 0; -ENOTCONN if the session is
 * dead; or another negative errno value, and nothing has changed.
 */
int netconf_edit(struct netconf *n, const char *config, char *err)
{
	struct nc_rpc *rpc = nc_rpc_edit(NC_DATASTORE_RUNNING,
					 NC_RPC_EDIT_DFLTOP_MERGE,
					 NC_RPC_EDIT_TESTOPT_UNKNOWN,
					 NC_RPC_EDIT_ERROPT_ROLLBACK, config,
					 NC_PARAMTYPE_CONST);

	return order_agent(n, rpc, err);
}

/*
 * Get the path of the last error. Returns the path of a node of YANG; empty:
 * the agent has sent none.
 */
const char *netconf_error_path(const struct netconf *n)
{
	return n->path;
}

/*
 * Run an action of an agent. Returns 0; -ENOTCONN if the session is dead; or
 * another negative errno value.
 */
int netconf_act(struct netconf *n, const char *action, char *err)
{
	struct nc_rpc *rpc = nc_rpc_act_generic_xml(action,
						    NC_PARAMTYPE_CONST);

	return order_agent(n, rpc, err);
}

/* Extract the data of a reply. */
static int take_data(struct lyd_node *op, struct lyd_node **data)
{
	struct lyd_node_any *any = (struct lyd_node_any *)lyd_child(op);

	*data = NULL;
	if (!any || strcmp(LYD_NAME(&any->node), "data"))
		return -EPROTO;
	if (any->value_type == LYD_ANYDATA_DATATREE) {
		*data = any->value.tree;
		any->value.tree = NULL;
		return 0;
	}
	if (!any->value.str || !any->value.str[0])
		return 0;
	return lyd_parse_data_mem(LYD_CTX(op), any->value.str, LYD_XML,
				  LYD_PARSE_ONLY, 0, data) ? -EPROTO : 0;
}

/*
 * Read a switch's configuration and state. Returns 0; -ENOTCONN if the session
 * is dead; or another negative errno value.
 * @data: result, to be freed by netconf_free(); NULL: no data
 */
int netconf_get(struct netconf *n, const char *filter, struct lyd_node **data,
		char *err)
{
	struct nc_rpc *rpc = nc_rpc_get(filter, NC_WD_UNKNOWN,
					NC_PARAMTYPE_CONST);
	struct lyd_node *op;
	int ret = ask_agent(n, rpc, MESSAGE_MAX, &op, err);

	*data = NULL;
	if (!ret)
		ret = take_data(op, data);
	if (ret == -EPROTO)
		set_error(err, ret,
			  "the agent's answer is not that of a switch");
	lyd_free_tree(op);
	if (ret)
		netconf_limit_done();
	nc_rpc_free(rpc);
	return ret;
}

/* Free the data of netconf_get(). Context: the thread that has called it. */
void netconf_free(struct lyd_node *data)
{
	lyd_free_siblings(data);
	netconf_limit_done();
}

/*
 * Ask an agent for its notifications. Returns 0; -ENOTCONN if the session is
 * dead; or another negative errno value.
 */
int netconf_subscribe(struct netconf *n, char *err)
{
	struct nc_rpc *rpc = nc_rpc_subscribe(NULL, NULL, NULL, NULL,
					      NC_PARAMTYPE_CONST);

	return order_agent(n, rpc, err);
}

/*
 * Wait for a notification. Returns 0; -EAGAIN if none came; -EBADMSG if it was
 * not understood; -ENOTCONN if the session is dead.
 * @notif: result, to be freed by lyd_free_tree()
 */
int netconf_notif(struct netconf *n, int timeout_ms, struct lyd_node **notif)
{
	struct lyd_node *envp = NULL;
	NC_MSG_TYPE type;
	bool lost;

	*notif = NULL;
	netconf_limit_set(SHORT_MAX);
	type = nc_recv_notif(n->session, timeout_ms, &envp, notif);
	lost = netconf_limit_passed();
	netconf_limit_set(0);
	lyd_free_tree(envp);
	if (type == NC_MSG_NOTIF)
		return *notif ? 0 : -EBADMSG;
	if (type == NC_MSG_WOULDBLOCK)
		return -EAGAIN;
	/* A later version of the agent may have other notifications. */
	return type == NC_MSG_ERROR && !lost &&
	       nc_session_get_status(n->session) == NC_STATUS_RUNNING ?
	       -EBADMSG : -ENOTCONN;
}
