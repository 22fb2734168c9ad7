// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The NETCONF client. Each step has a time limit. After a timeout, or a lost
 * connection, the session has to be closed.
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "auth/address.h"
#include "auth/identity.h"
#include "conf/array.h"
#include "conf/clock.h"
#include "conf/text.h"
#include "fabric/dial.h"
#include "fabric/netconf.h"
#include "fabric/schema.h"
#include "netconf/carrier.h"

/* Until an answer begins or goes on; until it has ended. */
#define REPLY_MS	5000
#define WHOLE_MS	60000
#define OPEN_MS		9000
#define CLOSE_MS	200
/* A switch with 60,000 interfaces and hosts reports about 24 MiB. */
#define MESSAGE_MAX	(32U << 20)
#define ELEMENTS_MAX	(1U << 20)	/* those have 700,000 */
/* Limit of a hello, "ok", an error, a notification. */
#define SHORT_MAX	(1U << 20)
/* What comes unasked before a reply. */
#define EARLY_MAX	4
#define SSH_PORT	830	/* RFC 6242 */
#define TLS_PORT	6513	/* RFC 7589 */
/* error-app-tag, see rdma-inc-switch.yang. */
#define NO_ROUTE	"no-route"
#define TLS_PREFIX	"tls://"
#define CALL_PREFIX	"callhome:"

#define HELLO	"<hello xmlns=\"" NETCONF_NS "\"><capabilities>"		\
		"<capability>urn:ietf:params:netconf:base:1.0</capability>" \
		"<capability>urn:ietf:params:netconf:base:1.1</capability>" \
		"</capabilities></hello>"

/**
 * struct sw_session - a session with an agent
 * @c: its transport
 * @local: that is a UNIX socket
 * @lost: it is of no use any more
 * @id: the last request's
 * @began: since when a notification comes that is not whole, as of now_ms(); or 0
 * @path: error-path of the last error
 */
struct sw_session {
	struct carrier	c;
	bool		local;
	bool		lost;
	unsigned int	id;
	int64_t		began;
	char		path[256];
};

/* Of all sessions. */
static struct frame_pool pool;

/*
 * A message of 12 MiB can have three million elements, which take 200 bytes each when
 * libyang has made sense of them. So one thread at a time does this where there are
 * many.
 */
static pthread_mutex_t turns = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool turn;

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
	snprintf(err, SW_ERROR_LEN, "%s", text);
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
 * @text: "/PATH" of a UNIX socket, "[USER@]HOST[:PORT]" for SSH,
 *	"tls://HOST[:PORT]", or "callhome:ID"; an IPv6 address has brackets
 */
int netconf_target_parse(struct netconf_target *t, const char *text)
{
	const char *at;
	int port;

	if (text[0] == '/')
		return copy_bytes(t->path, sizeof(t->path), text,
				  strlen(text)) ?
		       0 : -EINVAL;
	t->calls = !strncmp(text, CALL_PREFIX, strlen(CALL_PREFIX));
	if (t->calls) {
		text += strlen(CALL_PREFIX);
		return copy_bytes(t->host, IDENTITY_LEN, text, strlen(text)) ?
		       0 : -EINVAL;
	}
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

/* --- Messages ------------------------------------------------------------ */

static void take_turn(size_t len)
{
	if (len <= SHORT_MAX || turn)
		return;
	pthread_mutex_lock(&turns);
	turn = true;
}

static void end_turn(void)
{
	if (!turn)
		return;
	/* The tree lay among what stays, in this thread's own heap. */
	malloc_trim(0);
	turn = false;
	pthread_mutex_unlock(&turns);
}

/* Is it this message, by its outermost element? */
static bool is_named(const char *text, const char *name)
{
	size_t len;

	do {
		text = strchr(text, '<');
	} while (text && (*++text == '?' || *text == '!'));
	if (!text)
		return false;
	len = strcspn(text, " \t\r\n/>:");
	if (text[len] == ':') {
		text += len + 1;
		len = strcspn(text, " \t\r\n/>");
	}
	return len == strlen(name) && !strncmp(text, name, len);
}

/*
 * Wait for a message, of at most @max bytes, that begins within @wait_ms. Returns 0,
 * or an error of carrier_recv().
 */
static int receive_message(struct sw_session *n, size_t max, int wait_ms)
{
	int64_t begin = now_ms(), until = begin + wait_ms;
	size_t before;
	int ret;

	n->c.in.max = max;
	n->c.in.elements_max = ELEMENTS_MAX;
	n->c.in.pool = &pool;
	do {
		before = n->c.in.len;
		ret = carrier_recv(&n->c, until, -1);
		/* A long one takes its time, as long as more of it comes. */
		until = now_ms() + wait_ms;
	} while (ret == -ETIMEDOUT && n->c.in.len > before && wait_ms &&
		 until < begin + WHOLE_MS);
	return ret;
}

/* Returns 0, or -ENOTCONN and why. */
static int note_lost(struct sw_session *n, int ret, char *err)
{
	if (!ret)
		return 0;
	n->lost = true;
	return set_error(err, -ENOTCONN,
			 ret == -ETIMEDOUT ? "the agent does not answer" :
			 ret == -EPIPE ? "the agent's connection is lost" :
			 "the agent's answer is too long, or no NETCONF");
}

/* Returns 0, or an errno value and why. */
static int greet_agent(struct sw_session *n, const struct netconf_target *t,
		       int64_t until, char *err)
{
	uint32_t id;
	int ret;

	ret = carrier_send(&n->c, HELLO, strlen(HELLO), until);
	n->c.in.max = SHORT_MAX;
	n->c.in.elements_max = ELEMENTS_MAX;
	if (!ret)
		ret = carrier_recv(&n->c, until, -1);
	if (!ret)
		ret = hello_read(schema_get(), n->c.in.text, &id);
	frame_done(&n->c.in);
	n->lost = ret < 0 || !id;
	if (!ret)
		return set_error(err, -EPROTO, "the agent speaks NETCONF 1.0 only, which says no message's length: is it inc-agentd?");
	if (ret == 1 && id) {
		n->c.in.chunked = true;
		return 0;
	}
	if (n->local)
		snprintf(err, SW_ERROR_LEN, "%s: %s", t->path,
			 ret == -ETIMEDOUT ? "the agent does not answer" :
			 "no NETCONF session: is it inc-agentd's socket?");
	else
		set_error(err, 0, dial_why(t));
	return -EPROTO;
}

/* Connect to an agent. Returns the session, or NULL. */
struct sw_session *netconf_open(const struct netconf_target *t, char *err)
{
	struct sw_session *n = calloc(1, sizeof(*n));
	int64_t until = now_ms() + OPEN_MS;

	if (!n) {
		set_error(err, -ENOMEM, "no memory");
		return NULL;
	}
	n->c.fd = -1;
	n->lost = true;
	n->local = t->path[0];
	if (!schema_get())
		set_error(err, -EINVAL,
			  "the YANG modules of this program cannot be read");
	else if (!dial(t, &n->c, until, err) &&
		 !greet_agent(n, t, until, err))
		return n;
	netconf_close(n);
	return NULL;
}

static int send_request(struct sw_session *n, const char *body)
{
	char *text;
	int len, ret;

	len = asprintf(&text, "<rpc xmlns=\"" NETCONF_NS "\" message-id=\"%u\">%s</rpc>",
		       ++n->id, body);
	if (len < 0)
		return -ENOMEM;
	ret = carrier_send(&n->c, text, (size_t)len, now_ms() + REPLY_MS);
	free(text);
	return ret;
}

/* End a session. */
void netconf_close(struct sw_session *n)
{
	if (!n)
		return;
	/* nc_session_free() sends <close-session>, and waits for the reply. */
	frame_done(&n->c.in);
	n->c.in.max = SHORT_MAX;
	if (!n->lost && !send_request(n, "<close-session/>"))
		(void)carrier_recv(&n->c, now_ms() + CLOSE_MS, -1);
	carrier_close(&n->c);
	free(n);
}

/*
 * Get a descriptor to wait for notifications with. Returns the descriptor, or
 * -1: poll with netconf_notif() instead.
 */
int netconf_fd(const struct sw_session *n)
{
	return n->local && n->c.at == n->c.have ? n->c.fd : -1;
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
static int error_of(struct sw_session *n, const struct lyd_node *envp,
		    char *err)
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

static bool has_id(const struct lyd_node *envp, unsigned int id)
{
	const struct lyd_attr *a = ((const struct lyd_node_opaq *)envp)->attr;
	char text[12];

	snprintf(text, sizeof(text), "%u", id);
	for (; a; a = a->next)
		if (!strcmp(a->name.name, "message-id"))
			return !strcmp(a->value, text);
	return false;
}

/* Make sense of a reply. Returns 0, the error in it, or -ENOTCONN: it is none. */
static int parse_reply(struct sw_session *n, struct lyd_node *op, char *err)
{
	struct lyd_node *envp = NULL;
	struct ly_in *in;
	LY_ERR rc = LY_EMEM;
	int ret;

	take_turn(n->c.in.len);
	if (!ly_in_new_memory(n->c.in.text, &in)) {
		rc = lyd_parse_op(LYD_CTX(op), op, in, LYD_XML,
				  LYD_TYPE_REPLY_NETCONF, &envp, NULL);
		ly_in_free(in, 0);
	}
	if (rc || !envp || !has_id(envp, n->id))
		ret = note_lost(n, -EPIPE, err);
	else
		ret = error_of(n, envp, err);
	lyd_free_all(envp);
	return ret;
}

/*
 * Send a request and wait for its reply of at most @max bytes. -ENOTCONN: the
 * session is dead.
 * @op: result, to be freed also after an error: an operation with what is in the reply
 */
static int ask_agent(struct sw_session *n, const char *body, size_t max,
		     struct lyd_node **op, char *err)
{
	unsigned int early = 0;
	int ret;

	*op = NULL;
	/* Whatever was asked for: only that of "get" is looked at. */
	if (!body || lyd_new_path(NULL, schema_get(), "/ietf-netconf:get", NULL,
				  0, op))
		return set_error(err, -ENOMEM, "no memory for a request");
	if (n->lost || send_request(n, body))
		return note_lost(n, -EPIPE, err);
	ret = receive_message(n, max, REPLY_MS);
	while (!ret && early++ < EARLY_MAX &&
	       is_named(n->c.in.text, "notification")) {
		frame_done(&n->c.in);
		ret = receive_message(n, max, REPLY_MS);
	}
	ret = note_lost(n, ret, err) ?: parse_reply(n, *op, err);
	frame_done(&n->c.in);
	return ret;
}

/* Send a request, to be freed here, whose reply is "ok" or an error. */
static int order_agent(struct sw_session *n, char *body, char *err)
{
	struct lyd_node *op;
	int ret = ask_agent(n, body, SHORT_MAX, &op, err);

	lyd_free_all(op);
	free(body);
	return ret;
}

/*
 * Change a switch's configuration. Returns 0; -ENOTCONN if the session is
 * dead; or another negative errno value, and nothing has changed.
 */
int netconf_edit(struct sw_session *n, const char *config, char *err)
{
	char *body;

	if (asprintf(&body, "<edit-config><target><running/></target><default-operation>merge</default-operation><error-option>rollback-on-error</error-option><config>%s</config></edit-config>",
		     config) < 0)
		body = NULL;
	return order_agent(n, body, err);
}

/*
 * Get the path of the last error. Returns the path of a node of YANG; empty:
 * the agent has sent none.
 */
const char *netconf_error_path(const struct sw_session *n)
{
	return n->path;
}

/*
 * Run an action of an agent. Returns 0; -ENOTCONN if the session is dead; or
 * another negative errno value.
 */
int netconf_act(struct sw_session *n, const char *action, char *err)
{
	return order_agent(n, strdup(action), err);
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
int netconf_get(struct sw_session *n, const char *filter,
		struct lyd_node **data, char *err)
{
	struct lyd_node *op;
	char *body;
	int ret;

	if (asprintf(&body, "<get>%s%s%s</get>",
		     filter ? "<filter type=\"subtree\">" : "",
		     filter ? filter : "", filter ? "</filter>" : "") < 0)
		body = NULL;
	ret = ask_agent(n, body, MESSAGE_MAX, &op, err);
	*data = NULL;
	if (!ret)
		ret = take_data(op, data);
	if (ret == -EPROTO)
		set_error(err, ret,
			  "the agent's answer is not that of a switch");
	lyd_free_all(op);
	if (ret)
		end_turn();
	free(body);
	return ret;
}

/* Free the data of netconf_get(). Context: the thread that has called it. */
void netconf_free(struct lyd_node *data)
{
	lyd_free_siblings(data);
	end_turn();
}

/*
 * Ask an agent for its notifications. Returns 0; -ENOTCONN if the session is
 * dead; or another negative errno value.
 */
int netconf_subscribe(struct sw_session *n, char *err)
{
	return order_agent(n, strdup("<create-subscription xmlns=\"urn:ietf:params:xml:ns:netconf:notification:1.0\"/>"),
			   err);
}

/* Returns 0, or -EBADMSG: a later version of the agent may have others. */
static int parse_notif(const char *text, struct lyd_node **notif)
{
	struct lyd_node *envp = NULL;
	struct ly_in *in;
	LY_ERR rc;

	if (!is_named(text, "notification") || ly_in_new_memory(text, &in))
		return -EBADMSG;
	rc = lyd_parse_op(schema_get(), NULL, in, LYD_XML,
			  LYD_TYPE_NOTIF_NETCONF, &envp, notif);
	ly_in_free(in, 0);
	lyd_free_all(envp);
	return !rc && *notif ? 0 : -EBADMSG;
}

/*
 * Wait for a notification. Returns 0; -EAGAIN if none came; -EBADMSG if it was
 * not understood; -ENOTCONN if the session is dead.
 * @notif: result, to be freed by lyd_free_tree()
 */
int netconf_notif(struct sw_session *n, int timeout_ms, struct lyd_node **notif)
{
	int ret;

	*notif = NULL;
	ret = receive_message(n, SHORT_MAX, timeout_ms);
	if (ret == -ETIMEDOUT && !n->c.in.len)
		return -EAGAIN;
	if (ret == -ETIMEDOUT) {
		if (!n->began)
			n->began = now_ms();
		if (now_ms() - n->began < WHOLE_MS)
			return -EAGAIN;
	}
	n->began = 0;
	if (ret) {
		n->lost = true;
		return -ENOTCONN;
	}
	ret = parse_notif(n->c.in.text, notif);
	frame_done(&n->c.in);
	return ret;
}
