// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * NETCONF's operations (RFC 6241, 5277, 6022).
 */
#include "rpc.h"

#include <libnetconf2/messages_server.h>
#include <libnetconf2/netconf.h>
#include <libnetconf2/session_server.h>

#include "apply.h"
#include "attribute.h"
#include "bridge.h"
#include "datastore.h"
#include "edit.h"
#include "error.h"
#include "filter.h"
#include "ifcache.h"
#include "monitoring.h"
#include "notif.h"
#include "probe.h"

static struct agent *agent;
/* Lock of the running datastore. */
static struct monitoring_lock lock;

/* Set the agent whose requests are answered. */
void rpc_init(struct agent *a)
{
	agent = a;
}

static struct nc_server_reply *reply_fault(const struct fault *f)
{
	return nc_server_reply_err(error_make(agent->ctx, f, false));
}

static const char *leaf_value(const struct lyd_node *rpc, const char *path)
{
	struct lyd_node *node;

	return lyd_find_path(rpc, path, 0, &node) ? NULL : lyd_get_value(node);
}

static struct lyd_node *find_node(const struct lyd_node *rpc, const char *path)
{
	struct lyd_node *node;

	return lyd_find_path(rpc, path, 0, &node) ? NULL : node;
}

static struct nc_server_reply *reply_data(const struct lyd_node *rpc,
					  struct lyd_node *data)
{
	struct lyd_node *out;

	if (lyd_dup_single(rpc, NULL, 0, &out)) {
		lyd_free_siblings(data);
		return NULL;
	}
	if (lyd_new_any(out, NULL, "data", data, LYD_ANYDATA_DATATREE,
			LYD_NEW_VAL_OUTPUT | LYD_NEW_ANY_USE_VALUE, NULL)) {
		lyd_free_siblings(data);
		lyd_free_tree(out);
		return NULL;
	}
	return nc_server_reply_data(out, NC_WD_EXPLICIT, NC_PARAMTYPE_FREE);
}

/* Add the agent's own state. */
static void add_own(const struct lyd_node *filter, struct lyd_node **data)
{
	if (filter_wants(filter, "yang-library") ||
	    filter_wants(filter, "modules-state"))
		monitoring_library(agent, data);
	if (filter_wants(filter, "netconf-state"))
		monitoring_add(agent, &lock, data);
	if (filter_wants(filter, "netconf"))
		monitoring_streams(agent, data);
}

/* Data that filter_apply() would remove need not be read. */
static struct ds_want wanted_of(const struct lyd_node *filter, bool state)
{
	const bool roles = filter_wants(filter, "switch/identity/role");

	return (struct ds_want){
		.state = state,
		.ifs = filter_wants(filter, "switch/interface"),
		.trees = roles || filter_wants(filter, "switch/tree"),
		.tree = roles ? 0 : filter_tree(filter),
		.members = filter_wants(filter, "switch/tree/member"),
		.parents = filter_wants(filter, "switch/tree/parent"),
		.slots = filter_wants(filter, "switch/tree/slot"),
		.stats = filter_wants(filter, "switch/tree/state/stats") ||
			 filter_wants(filter, "switch/tree/member/state/stats") ||
			 filter_wants(filter, "switch/tree/parent/state/stats"),
		.counters = filter_wants(filter, "switch/tree/state/member-counters"),
		.values = filter_wants(filter, "switch/tree/state/counter-values"),
	};
}

static struct nc_server_reply *get_data(struct lyd_node *rpc, bool state)
{
	const struct lyd_node *filter = find_node(rpc, "filter");
	struct lyd_node *data = NULL;
	struct ds_want want;
	struct fault f;

	if (filter_check(filter, &f))
		return reply_fault(&f);
	want = wanted_of(filter, state);
	if (ds_read(agent, &want, &data, &f))
		return reply_fault(&f);
	if (state)
		add_own(filter, &data);
	if (filter_apply(agent->ctx, filter, &data, &f)) {
		lyd_free_siblings(data);
		return reply_fault(&f);
	}
	return reply_data(rpc, data);
}

static struct nc_server_reply *rpc_get(struct lyd_node *rpc,
				       struct nc_session *session)
{
	return get_data(rpc, true);
}

static struct nc_server_reply *rpc_get_config(struct lyd_node *rpc,
					      struct nc_session *session)
{
	return get_data(rpc, false);
}

/* Parse as YANG does, but take leafs without a value that are to be deleted. */
static int parse_xml(const char *xml, enum edit_op op, struct lyd_node **out,
		     struct fault *f)
{
	const uint32_t how = LYD_PARSE_ONLY | LYD_PARSE_NO_STATE;

	if (!lyd_parse_data_mem(agent->ctx, xml, LYD_XML,
				LYD_PARSE_STRICT | how, 0, out))
		return 0;
	fault_yang(f, agent->ctx);
	if (!lyd_parse_data_mem(agent->ctx, xml, LYD_XML, LYD_PARSE_OPAQ | how,
				0, out) && edit_has_sense(*out, op))
		return 0;
	lyd_free_siblings(*out);
	*out = NULL;
	return -1;
}

/* lyd_any_value_str() leaves out empty containers, as in a deletion. */
static char *print_xml(const struct lyd_node *config)
{
	const struct lyd_node_any *any = (const struct lyd_node_any *)config;
	char *xml = NULL;

	if (any->value_type == LYD_ANYDATA_DATATREE)
		lyd_print_mem(&xml, any->value.tree, LYD_XML,
			      LYD_PRINT_WITHSIBLINGS | LYD_PRINT_SHRINK |
			      LYD_PRINT_KEEPEMPTYCONT);
	else
		lyd_any_value_str(config, &xml);
	return xml;
}

/* Parse a node "config"; @op is for nodes without an operation. */
static int parse_config(const struct lyd_node *config, enum edit_op op,
			struct lyd_node **out, struct fault *f)
{
	const struct lyd_node *node;
	char *xml;
	int rc;

	*out = NULL;
	if (attribute_check(f))
		return -1;
	xml = print_xml(config);
	if (!xml)
		return 0;
	rc = parse_xml(xml, op, out, f);
	free(xml);
	if (rc)
		return -1;
	LY_LIST_FOR(*out, node) {
		if (node->schema->module != agent->mod) {
			fault_set(f, NC_ERR_UNKNOWN_ELEM, node,
				  "only module " AGENT_MODULE " can be configured");
			snprintf(f->elem, sizeof(f->elem), "%s",
				 LYD_NAME(node));
			goto bad;
		}
	}
	if (edit_is_unique(*out, f))
		return 0;
bad:
	lyd_free_siblings(*out);
	*out = NULL;
	return -1;
}

/* Collect the errors of an edit. */
static void add_error(const struct fault *f, void *arg)
{
	struct nc_server_reply **reply = arg;

	if (*reply)
		nc_server_reply_add_err(*reply,
					error_make(agent->ctx, f, false));
	else
		*reply = reply_fault(f);
}

/* Make the configuration that an edit asks for, and validate it. */
static int wanted_config(const struct lyd_node *edit, enum edit_op op,
			 const struct lyd_node *running,
			 struct lyd_node **wanted, struct fault *f)
{
	int rc;

	if (lyd_dup_single(running, NULL, LYD_DUP_RECURSIVE, wanted))
		return fault_yang(f, agent->ctx);
	rc = edit_apply(edit, op, wanted, f);
	if (!rc)
		apply_defaults(running, *wanted);
	if (!rc && lyd_validate_module(wanted, agent->mod,
				       LYD_VALIDATE_NO_STATE, NULL))
		rc = fault_yang(f, agent->ctx);
	return rc;
}

static struct nc_server_reply *lock_denied(void)
{
	return nc_server_reply_err(nc_err(agent->ctx, NC_ERR_LOCK_DENIED,
					  lock.owner));
}

static struct nc_server_reply *in_use(void)
{
	struct lyd_node *e = nc_err(agent->ctx, NC_ERR_IN_USE,
				    NC_ERR_TYPE_PROT);
	char msg[64];

	snprintf(msg, sizeof(msg), "session %u has locked it", lock.owner);
	nc_err_set_msg(e, msg, "en");
	return nc_server_reply_err(e);
}

/* Have the kernel carry out an edit. */
static void edit_running(const struct lyd_node *rpc,
			 const struct lyd_node *edit, enum edit_op op,
			 struct nc_server_reply **reply)
{
	const char *test = leaf_value(rpc, "test-option");
	const char *on_error = leaf_value(rpc, "error-option");
	struct ds_want want = { .trees = true, .members = true,
				.parents = true, .tree = edit_tree(edit, op) };
	struct lyd_node *running, *wanted = NULL;
	enum apply_error mode = APPLY_ROLLBACK;
	struct fault f;

	if (on_error && !strcmp(on_error, "continue-on-error"))
		mode = APPLY_CONTINUE;
	if (ds_read(agent, &want, &running, &f)) {
		*reply = reply_fault(&f);
		return;
	}
	if (wanted_config(edit, op, running, &wanted, &f))
		*reply = reply_fault(&f);
	else if (!test || strcmp(test, "test-only"))
		apply_config(running, wanted, mode, add_error, reply);
	lyd_free_siblings(running);
	lyd_free_siblings(wanted);
}

static struct nc_server_reply *rpc_edit_config(struct lyd_node *rpc,
					       struct nc_session *session)
{
	const char *name = leaf_value(rpc, "default-operation");
	struct nc_server_reply *reply = NULL;
	enum edit_op op = EDIT_MERGE;
	struct lyd_node *edit;
	struct fault f;

	if (lock.owner && lock.owner != nc_session_get_id(session))
		return in_use();
	if (name)
		edit_op(name, &op);
	if (parse_config(find_node(rpc, "config"), op, &edit, &f))
		return reply_fault(&f);
	edit_running(rpc, edit, op, &reply);
	lyd_free_siblings(edit);
	return reply ? reply : nc_server_reply_ok();
}

/* Validate a client's own configuration, which a reader may send, too. */
static struct nc_server_reply *validate_config(const struct lyd_node *config)
{
	struct lyd_node *data = NULL;
	struct fault f;
	int rc = 0;

	if (parse_config(config, EDIT_MERGE, &data, &f))
		return reply_fault(&f);
	if (lyd_validate_module(&data, agent->mod, LYD_VALIDATE_NO_STATE, NULL))
		rc = fault_yang(&f, agent->ctx);
	lyd_free_siblings(data);
	return rc ? reply_fault(&f) : nc_server_reply_ok();
}

static struct nc_server_reply *rpc_validate(struct lyd_node *rpc,
					    struct nc_session *session)
{
	struct lyd_node *config = find_node(rpc, "source/config");
	struct nc_server_reply *reply;

	if (!config)
		return nc_server_reply_ok();	/* the kernel's own */
	/* A long configuration takes seconds, and needs no shared data. */
	netconf_unlock();
	reply = validate_config(config);
	netconf_lock();
	return reply;
}

static struct nc_server_reply *rpc_lock(struct lyd_node *rpc,
					struct nc_session *session)
{
	if (lock.owner)
		return lock_denied();
	lock.owner = nc_session_get_id(session);
	lock.since = time(NULL);
	return nc_server_reply_ok();
}

static struct nc_server_reply *rpc_unlock(struct lyd_node *rpc,
					  struct nc_session *session)
{
	struct fault f;

	if (lock.owner != nc_session_get_id(session)) {
		fault_set(&f, NC_ERR_OP_FAILED, NULL, lock.owner ?
			  "another session holds the lock" :
			  "there is no lock");
		return reply_fault(&f);
	}
	lock.owner = 0;
	return nc_server_reply_ok();
}

static struct nc_server_reply *rpc_kill_session(struct lyd_node *rpc,
						struct nc_session *session)
{
	const char *text = leaf_value(rpc, "session-id");
	uint32_t id = text ? (uint32_t)strtoul(text, NULL, 10) : 0;
	uint32_t me = nc_session_get_id(session);
	struct fault f;

	if (id == me || netconf_kill(id, me)) {
		fault_set(&f, NC_ERR_INVALID_VALUE, NULL, id == me ?
			  "a session cannot kill itself: use close-session" :
			  "there is no session with this ID");
		return reply_fault(&f);
	}
	return nc_server_reply_ok();
}

static time_t time_of(const char *text)
{
	time_t t = 0;

	ly_time_str2time(text, &t, NULL);
	return t;
}

/* Check the times of a subscription (RFC 5277, section 2.1.1). */
static int check_times(const char *start, const char *stop, struct fault *f)
{
	const char *elem = "startTime";

	if (!start && !stop)
		return 0;
	if (!start) {
		fault_set(f, NC_ERR_MISSING_ELEM, NULL,
			  "a stopTime needs a startTime");
	} else if (stop && time_of(stop) < time_of(start)) {
		elem = "stopTime";
		fault_set(f, NC_ERR_BAD_ELEM, NULL,
			  "it is earlier than startTime");
	} else if (time_of(start) > time(NULL)) {
		fault_set(f, NC_ERR_BAD_ELEM, NULL,
			  "it is later than the time now");
	} else {
		return fault_set(f, NC_ERR_OP_FAILED, NULL,
				 "events are not stored: leave out startTime and stopTime");
	}
	snprintf(f->elem, sizeof(f->elem), "%s", elem);
	return -1;
}

static struct nc_server_reply *rpc_subscribe(struct lyd_node *rpc,
					     struct nc_session *session)
{
	const char *stream = leaf_value(rpc, "stream");
	struct fault f;

	if (stream && strcmp(stream, NOTIF_STREAM)) {
		fault_set(&f, NC_ERR_INVALID_VALUE, find_node(rpc, "stream"),
			  "there is no stream %s, only " NOTIF_STREAM, stream);
		return nc_server_reply_err(error_make(agent->ctx, &f, true));
	}
	if (check_times(leaf_value(rpc, "startTime"),
			leaf_value(rpc, "stopTime"), &f))
		return nc_server_reply_err(error_make(agent->ctx, &f, true));
	if (filter_check(find_node(rpc, "filter"), &f) ||
	    notif_subscribe(session, find_node(rpc, "filter"), &f))
		return reply_fault(&f);
	return nc_server_reply_ok();
}

static struct nc_server_reply *rpc_probe(struct lyd_node *rpc,
					 struct nc_session *session)
{
	struct probe_addr addrs[PROBE_MAX];
	const struct lyd_node *node;
	unsigned int n = 0;
	struct fault f;

	LY_LIST_FOR(lyd_child(rpc), node) {
		/* The YANG model has the same limit. */
		if (n == PROBE_MAX)
			break;
		if (probe_parse(lyd_get_value(node), &addrs[n++])) {
			fault_set(&f, NC_ERR_INVALID_VALUE, node,
				  "no host has the address %s",
				  lyd_get_value(node));
			return reply_fault(&f);
		}
	}
	if (probe_ask(addrs, n)) {
		fault_set(&f, NC_ERR_OP_FAILED, NULL,
			  "the kernel does not tell its interfaces");
		return reply_fault(&f);
	}
	/* Hosts are located relative to switches: show this one, too. */
	bridge_beacon();
	return nc_server_reply_ok();
}

static struct nc_server_reply *refuse_revoked(const struct nc_session *s)
{
	struct fault f;

	fault_set(&f, NC_ERR_ACCESS_DENIED, NULL,
		  "the certificate of %s has been revoked",
		  nc_session_get_username(s));
	return reply_fault(&f);
}

/* libnetconf2 has parsed the request, but not validated it. */
static int check_input(struct lyd_node *rpc, struct fault *f)
{
	static const struct {
		const char	*choice;
		const char	*elem;
	} choices[] = {
		{ "config-target", "target" },
		{ "config-source", "source" },
		{ "edit-content", "config" },
	};
	size_t i;

	if (!lyd_validate_op(rpc, NULL, LYD_TYPE_RPC_YANG, NULL))
		return 0;
	fault_yang(f, agent->ctx);
	for (i = 0; i < ARRAY_SIZE(choices); i++) {
		if (strcmp(f->elem, choices[i].choice))
			continue;
		snprintf(f->elem, sizeof(f->elem), "%s", choices[i].elem);
		f->app_tag[0] = '\0';
	}
	return -1;
}

static struct nc_server_reply *on_rpc(struct lyd_node *rpc,
				      struct nc_session *session)
{
	static const struct {
		const char		*name;
		struct nc_server_reply	*(*fn)(struct lyd_node *rpc,
					       struct nc_session *session);
		bool			changes;
	} rpcs[] = {
		{ "get", rpc_get, false },
		{ "get-config", rpc_get_config, false },
		{ "edit-config", rpc_edit_config, true },
		{ "validate", rpc_validate, false },
		{ "lock", rpc_lock, true },
		{ "unlock", rpc_unlock, true },
		{ "kill-session", rpc_kill_session, true },
		{ "close-session", nc_clb_default_close_session, false },
		{ "get-schema", nc_clb_default_get_schema, false },
		{ "create-subscription", rpc_subscribe, false },
		{ "probe", rpc_probe, true },
	};
	struct fault f;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rpcs); i++) {
		if (strcmp(LYD_NAME(rpc), rpcs[i].name))
			continue;
		if (netconf_revoked(session))
			return refuse_revoked(session);
		if (!rpcs[i].changes || netconf_may_change(session))
			return check_input(rpc, &f) ?
			       nc_server_reply_err(error_make(agent->ctx, &f,
							      true)) :
			       rpcs[i].fn(rpc, session);
		fault_set(&f, NC_ERR_ACCESS_DENIED, NULL,
			  "%s may look only", nc_session_get_username(session));
		log_warn("session %u: %s may not %s", nc_session_get_id(session),
			 nc_session_get_username(session), LYD_NAME(rpc));
		return reply_fault(&f);
	}
	fault_set(&f, NC_ERR_OP_NOT_SUPPORTED, NULL, "%s is not supported",
		  LYD_NAME(rpc));
	return reply_fault(&f);
}

static void on_closed(struct nc_session *session)
{
	notif_unsubscribe(session);
	if (lock.owner == nc_session_get_id(session))
		lock.owner = 0;
}

static void on_ended(void)
{
	ds_close();
	ifcache_free();
}

const struct netconf_ops rpc_ops = {
	.rpc = on_rpc,
	.closed = on_closed,
	.ended = on_ended,
};
