// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See monitoring.h.
 */
#include "monitoring.h"

#include "netconf.h"
#include "notif.h"
#include "serve.h"

static struct lyd_node *add_inner(struct lyd_node *parent, const char *name)
{
	struct lyd_node *node = NULL;

	lyd_new_inner(parent, NULL, name, 0, &node);
	return node;
}

static void add_leaf(struct lyd_node *parent, const char *name,
		     const char *value)
{
	lyd_new_term(parent, NULL, name, value, 0, NULL);
}

static void add_time(struct lyd_node *parent, const char *name, time_t at)
{
	char *text = NULL;

	if (!ly_time_time2str(at, NULL, &text))
		add_leaf(parent, name, text);
	free(text);
}

static void add_capability(const char *name, void *arg)
{
	add_leaf(arg, "capability", name);
}

static void add_datastores(struct lyd_node *state,
			   const struct agent_lock *lock)
{
	struct lyd_node *node = NULL;

	lyd_new_list(add_inner(state, "datastores"), NULL, "datastore", 0,
		     &node, "running");
	if (!lock->owner)
		return;
	node = add_inner(add_inner(node, "locks"), "global-lock");
	put_number(node, "locked-by-session", lock->owner);
	add_time(node, "locked-time", lock->since);
}

/* Add the schemas of get-schema. */
static void add_schemas(const struct agent *a, struct lyd_node *state)
{
	struct lyd_node *schemas = add_inner(state, "schemas"), *node;
	const struct lys_module *mod;
	uint32_t i = 0;

	while ((mod = ly_ctx_get_module_iter(a->ctx, &i))) {
		node = NULL;
		if (lyd_new_list(schemas, NULL, "schema", 0, &node, mod->name,
				 mod->revision ? mod->revision : "",
				 "ietf-netconf-monitoring:yang"))
			continue;
		add_leaf(node, "namespace", mod->ns);
		add_leaf(node, "location", "NETCONF");
	}
}

static void add_counters(struct lyd_node *node, const struct serve_count *count)
{
	put_number(node, "in-rpcs", count->rpcs);
	put_number(node, "in-bad-rpcs", count->bad_rpcs);
	put_number(node, "out-rpc-errors", count->errors);
	put_number(node, "out-notifications", count->notifications);
}

static void add_session(const struct session *s, void *arg)
{
	static const char *const transports[] = {
		[TRANSPORT_UNIX] = AGENT_MODULE ":netconf-unix",
		[TRANSPORT_SSH] = "ietf-netconf-monitoring:netconf-ssh",
		[TRANSPORT_TLS] = "ietf-netconf-monitoring:netconf-tls",
	};
	struct lyd_node *node = NULL;
	char id[12];

	snprintf(id, sizeof(id), "%u", s->id);
	if (lyd_new_list(arg, NULL, "session", 0, &node, id))
		return;
	add_leaf(node, "transport", transports[s->transport]);
	add_leaf(node, "username", s->user);
	if (s->host[0])
		add_leaf(node, "source-host", s->host);
	add_time(node, "login-time", s->since);
	add_counters(node, &s->count);
}

/* Add the YANG library (RFC 8525) to data. */
int monitoring_library(const struct agent *a, struct lyd_node **data)
{
	struct lyd_node *library;

	if (ly_ctx_get_yanglib_data(a->ctx, &library, "%u",
				    ly_ctx_get_change_count(a->ctx)))
		return -1;
	lyd_insert_sibling(*data, library, data);
	return 0;
}

/* Add the streams of events (RFC 5277) to data. */
int monitoring_streams(const struct agent *a, struct lyd_node **data)
{
	struct lyd_node *top, *node = NULL;

	if (lyd_new_inner(NULL,
			  ly_ctx_get_module_implemented(a->ctx,
							"nc-notifications"),
			  "netconf", 0, &top))
		return -1;
	lyd_new_list(add_inner(top, "streams"), NULL, "stream", 0, &node,
		     NOTIF_STREAM);
	add_leaf(node, "description", "trees, members, slots and the topology");
	add_leaf(node, "replaySupport", "false");
	lyd_insert_sibling(*data, top, data);
	return 0;
}

/* Add the container netconf-state to data. */
int monitoring_add(struct agent *a, struct lyd_node **data)
{
	struct serve_totals totals;
	struct lyd_node *state, *node;

	if (lyd_new_inner(NULL,
			  ly_ctx_get_module_implemented(a->ctx,
							"ietf-netconf-monitoring"),
			  "netconf-state", 0, &state))
		return -1;
	netconf_capabilities(a, add_capability,
			     add_inner(state, "capabilities"));
	add_datastores(state, &a->lock);
	add_schemas(a, state);
	serve_each(a, add_session, add_inner(state, "sessions"), &totals);
	node = add_inner(state, "statistics");
	add_time(node, "netconf-start-time", totals.since);
	put_number(node, "in-sessions", totals.sessions);
	add_counters(node, &totals.count);
	lyd_insert_sibling(*data, state, data);
	return 0;
}
