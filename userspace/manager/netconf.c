// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The NETCONF client, over libnetconf2. Each step has a time limit; after one
 * that has passed, or a lost connection, the session is of no use any more.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <libnetconf2/log.h>
#include <libnetconf2/messages_client.h>
#include <libnetconf2/netconf.h>
#include <libnetconf2/session.h>
#include <libnetconf2/session_client.h>

#include "netconf.h"

#define REPLY_MS	5000
#define SSH_PORT	830	/* RFC 6242 */

struct netconf {
	struct nc_session	*session;
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

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static int failed(char *err, int ret, const char *text)
{
	snprintf(err, NETCONF_ERROR_LEN, "%s", text);
	return ret;
}

static bool copy(char *to, size_t room, const char *from, size_t len)
{
	if (!len || len >= room)
		return false;
	memcpy(to, from, len);
	to[len] = '\0';
	return true;
}

/**
 * netconf_target_parse() - understand an agent's address
 * @t: result; @t->key and @t->known_hosts are left alone
 * @text: "/PATH" of a UNIX socket, or "[USER@]HOST[:PORT]"; an IPv6 address has
 *	brackets
 *
 * Return: 0 or -EINVAL.
 */
int netconf_target_parse(struct netconf_target *t, const char *text)
{
	const char *at = strchr(text, '@'), *host, *end;
	unsigned long port = SSH_PORT;
	char *rest;

	if (text[0] == '/')
		return copy(t->path, sizeof(t->path), text, strlen(text)) ?
		       0 : -EINVAL;
	snprintf(t->user, sizeof(t->user), "%s", "root");
	if (at && !copy(t->user, sizeof(t->user), text, (size_t)(at - text)))
		return -EINVAL;
	host = at ? at + 1 : text;
	if (*host == '[') {
		end = strchr(++host, ']');
		if (!end || (end[1] && end[1] != ':'))
			return -EINVAL;
		rest = (char *)end + 1;
	} else {
		end = host + strcspn(host, ":");
		rest = (char *)end;
	}
	if (!copy(t->host, sizeof(t->host), host, (size_t)(end - host)))
		return -EINVAL;
	if (*rest == ':') {
		port = strtoul(rest + 1, &rest, 10);
		if (*rest || port < 1 || port > UINT16_MAX)
			return -EINVAL;
	}
	t->port = (uint16_t)port;
	return 0;
}

/* Why could libnetconf2 not connect? It says so to the log only. */
static int why_not(const char *path)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), ret = 0;

	if (fd < 0)
		return -errno;
	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s", path);
	if (connect(fd, (struct sockaddr *)&sun, sizeof(sun)))
		ret = -errno;
	close(fd);
	return ret;
}

static struct nc_session *open_unix(const struct netconf_target *t, char *err)
{
	struct nc_session *session = nc_connect_unix(t->path, NULL);
	int ret;

	if (session)
		return session;
	ret = why_not(t->path);
	snprintf(err, NETCONF_ERROR_LEN, "%s: %s", t->path, ret ?
		 strerror(-ret) : "no NETCONF session: is it inc-agentd's socket?");
	return NULL;
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
	session = nc_connect_ssh(t->host, t->port, NULL);
	if (!session)
		failed(err, -EHOSTUNREACH, "no NETCONF session over SSH: is inc-agentd running, is the key among those it accepts, and its own in the file of known hosts?");
	return session;
}

/* The library's own words go to the log only if they are asked for. */
static void quiet(const struct nc_session *session, NC_VERB_LEVEL level,
		  const char *text)
{
	(void)session;
	if (getenv("INC_AMD_NETCONF"))
		fprintf(stderr, "inc-amd: netconf: %d: %s\n", level, text);
}

/**
 * netconf_open() - connect to an agent
 * @t: its address
 * @err: error message
 *
 * Return: session, or NULL.
 */
struct netconf *netconf_open(const struct netconf_target *t, char *err)
{
	struct netconf *n = calloc(1, sizeof(*n));

	if (!n) {
		failed(err, -ENOMEM, "no memory");
		return NULL;
	}
	nc_set_print_clb_session(quiet);
	n->session = t->path[0] ? open_unix(t, err) : open_ssh(t, err);
	if (n->session)
		return n;
	free(n);
	return NULL;
}

/**
 * netconf_close() - end a session
 * @n: session, or NULL
 */
void netconf_close(struct netconf *n)
{
	if (!n)
		return;
	nc_session_free(n->session, NULL);
	free(n);
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

/* Find the first <rpc-error> of a reply: 0 if there is none. */
static int error_of(const struct lyd_node *envp, char *err)
{
	const struct lyd_node *child;
	const char *tag, *text;
	size_t i;

	LY_LIST_FOR(lyd_child(envp), child) {
		if (strcmp(LYD_NAME(child), "rpc-error"))
			continue;
		tag = child_text(child, "error-tag");
		text = child_text(child, "error-message");
		failed(err, 0, text && *text ? text : tag ? tag : "refused");
		for (i = 0; tag && i < ARRAY_SIZE(tags); i++)
			if (!strcmp(tag, tags[i].tag))
				return -tags[i].err;
		return -EIO;
	}
	return 0;
}

/* Send a request and wait for its reply. -ENOTCONN: the session is dead. */
static int ask(struct netconf *n, struct nc_rpc *rpc, struct lyd_node **op,
	       char *err)
{
	struct lyd_node *envp = NULL;
	NC_MSG_TYPE type;
	uint64_t id;
	int ret;

	*op = NULL;
	if (!rpc)
		return failed(err, -ENOMEM, "no memory for a request");
	type = nc_send_rpc(n->session, rpc, REPLY_MS, &id);
	if (type != NC_MSG_RPC)
		return failed(err, -ENOTCONN, "the agent's connection is lost");
	do {
		type = nc_recv_reply(n->session, rpc, id, REPLY_MS, &envp, op);
	} while (type == NC_MSG_NOTIF);
	if (type == NC_MSG_WOULDBLOCK)
		ret = failed(err, -ENOTCONN, "the agent does not answer");
	else if (type == NC_MSG_REPLY)
		ret = error_of(envp, err);
	else
		ret = failed(err, -ENOTCONN, "the agent's connection is lost");
	lyd_free_tree(envp);
	return ret;
}

/**
 * netconf_edit() - change a switch's configuration
 * @n: session
 * @config: the change, XML
 * @err: error message
 *
 * Return: 0; -ENOTCONN if the session is dead; or another negative errno value,
 * and nothing has changed.
 */
int netconf_edit(struct netconf *n, const char *config, char *err)
{
	struct nc_rpc *rpc = nc_rpc_edit(NC_DATASTORE_RUNNING,
					 NC_RPC_EDIT_DFLTOP_MERGE,
					 NC_RPC_EDIT_TESTOPT_UNKNOWN,
					 NC_RPC_EDIT_ERROPT_ROLLBACK, config,
					 NC_PARAMTYPE_CONST);
	struct lyd_node *op;
	int ret = ask(n, rpc, &op, err);

	lyd_free_tree(op);
	nc_rpc_free(rpc);
	return ret;
}

/* Take the data out of a reply. */
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

/**
 * netconf_get() - read a switch's configuration and state
 * @n: session
 * @filter: subtrees to read, XML
 * @data: result, to be freed by lyd_free_siblings(); NULL: nothing is there
 * @err: error message
 *
 * Return: 0; -ENOTCONN if the session is dead; or another negative errno value.
 */
int netconf_get(struct netconf *n, const char *filter, struct lyd_node **data,
		char *err)
{
	struct nc_rpc *rpc = nc_rpc_get(filter, NC_WD_UNKNOWN,
					NC_PARAMTYPE_CONST);
	struct lyd_node *op;
	int ret = ask(n, rpc, &op, err);

	*data = NULL;
	if (!ret)
		ret = take_data(op, data);
	if (ret == -EPROTO)
		failed(err, ret, "the agent's answer is not that of a switch");
	lyd_free_tree(op);
	nc_rpc_free(rpc);
	return ret;
}
