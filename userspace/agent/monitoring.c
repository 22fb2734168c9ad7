// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See monitoring.h.
 */
#include "monitoring.h"

#include <dlfcn.h>

#include <libnetconf2/netconf.h>
#include <libnetconf2/session_server.h>

#include "netconf.h"
#include "notif.h"
#include "serve.h"

/* Is a capability no module, or a module that clients may use? */
static bool is_served(const struct ly_ctx *ctx, const char *capability)
{
	const char *name = strstr(capability, "?module=");
	char buf[128];

	if (!name)
		return true;
	name += strlen("?module=");
	snprintf(buf, sizeof(buf), "%.*s", (int)strcspn(name, "&"), name);
	return netconf_serves(ly_ctx_get_module_implemented(ctx, buf));
}

/*
 * As libnetconf2's, without modules that are not served: libnetconf2 3.7.1
 * announces modules that others import only, ietf-netconf-acm among them, and
 * its own. libnetconf2's own calls come here, too. rules.py fails without it.
 * Returns capabilities, with NULL at the end; or NULL.
 */
char **nc_server_get_cpblts_version(const struct ly_ctx *ctx,
				    LYS_VERSION version)
{
	char **(*original)(const struct ly_ctx *ctx, LYS_VERSION version) = NULL;
	size_t from, to = 0;
	char **list;

	*(void **)&original = dlsym(RTLD_NEXT, "nc_server_get_cpblts_version");
	list = original(ctx, version);
	for (from = 0; list && list[from]; from++) {
		if (is_served(ctx, list[from]))
			list[to++] = list[from];
		else
			free(list[from]);
	}
	if (list)
		list[to] = NULL;
	return list;
}

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

/* Add the capabilities of hello. */
static void add_capabilities(const struct agent *a, struct lyd_node *state)
{
	struct lyd_node *node = add_inner(state, "capabilities");
	char **list = nc_server_get_cpblts_version(a->ctx, LYS_VERSION_1_0);
	size_t i;

	for (i = 0; list && list[i]; i++) {
		add_leaf(node, "capability", list[i]);
		free(list[i]);
	}
	free(list);
}

static void add_datastores(struct lyd_node *state,
			   const struct monitoring_lock *lock)
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
		if (mod->implemented && !netconf_serves(mod))
			continue;
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

static void add_session(const struct nc_session *s, const char *host,
			const struct serve_count *count, void *arg)
{
	static const char *const transports[] = {
		[NC_TI_FD] = AGENT_MODULE ":netconf-unix",
		[NC_TI_UNIX] = AGENT_MODULE ":netconf-unix",
		[NC_TI_SSH] = "ietf-netconf-monitoring:netconf-ssh",
		[NC_TI_TLS] = "ietf-netconf-monitoring:netconf-tls",
	};
	struct lyd_node *node = NULL;
	char id[12];

	snprintf(id, sizeof(id), "%u", nc_session_get_id(s));
	if (lyd_new_list(arg, NULL, "session", 0, &node, id))
		return;
	add_leaf(node, "transport", transports[nc_session_get_ti(s)]);
	add_leaf(node, "username", nc_session_get_username(s));
	if (*host)
		add_leaf(node, "source-host", host);
	add_time(node, "login-time", nc_session_get_start_time(s).tv_sec);
	add_counters(node, count);
}

/* Does a list's entry name an implemented module that is not for clients? */
static bool is_hidden(const struct agent *a, const struct lyd_node *node)
{
	const struct lys_module *mod;

	if (strcmp(LYD_NAME(node), "module"))
		return false;
	mod = ly_ctx_get_module_implemented(a->ctx,
					    lyd_get_value(lyd_child(node)));
	return mod && !netconf_serves(mod);
}

static void hide_modules(const struct agent *a, struct lyd_node *parent)
{
	struct lyd_node *node, *next;

	LY_LIST_FOR_SAFE(lyd_child(parent), next, node) {
		if (is_hidden(a, node))
			lyd_free_tree(node);
		else if (!strcmp(LYD_NAME(node), "module-set"))
			hide_modules(a, node);
	}
}

/* Add the YANG library (RFC 8525) to data. */
int monitoring_library(const struct agent *a, struct lyd_node **data)
{
	struct lyd_node *library, *top;

	if (ly_ctx_get_yanglib_data(a->ctx, &library, "%u",
				    ly_ctx_get_change_count(a->ctx)))
		return -1;
	LY_LIST_FOR(library, top)
		hide_modules(a, top);
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

/*
 * Add the container netconf-state to data.
 * @lock: lock of the running datastore
 */
int monitoring_add(const struct agent *a, const struct monitoring_lock *lock,
		   struct lyd_node **data)
{
	struct serve_totals totals;
	struct lyd_node *state, *node;

	if (lyd_new_inner(NULL,
			  ly_ctx_get_module_implemented(a->ctx,
							"ietf-netconf-monitoring"),
			  "netconf-state", 0, &state))
		return -1;
	add_capabilities(a, state);
	add_datastores(state, lock);
	add_schemas(a, state);
	serve_each(add_session, add_inner(state, "sessions"), &totals);
	node = add_inner(state, "statistics");
	add_time(node, "netconf-start-time", totals.since);
	put_number(node, "in-sessions", totals.sessions);
	add_counters(node, &totals.count);
	lyd_insert_sibling(*data, state, data);
	return 0;
}
