// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * NETCONF's operations (RFC 6241, 5277, 6022).
 */
#include "rpc.h"

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
#include "name.h"
#include "probe.h"
#include "remote.h"
#include "reply.h"
#include "serve.h"

static void refuse(struct request *q, const struct fault *f)
{
	reply_fault(q, f, NC_LAYER_APPLICATION);
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

/* Add the agent's own state. */
static void add_own(struct agent *a, const struct lyd_node *filter,
		    struct lyd_node **data)
{
	if (filter_wants(filter, "yang-library") ||
	    filter_wants(filter, "modules-state"))
		monitoring_library(a, data);
	if (filter_wants(filter, "netconf-state"))
		monitoring_add(a, data);
	if (filter_wants(filter, "netconf"))
		monitoring_streams(a, data);
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

static void get_data(struct request *q, bool state)
{
	const struct lyd_node *filter = find_node(q->op, "filter");
	struct lyd_node *data = NULL;
	struct ds_want want;
	struct fault f;
	int rc;

	rc = filter_check(filter, &f);
	if (!rc) {
		want = wanted_of(filter, state);
		rc = ds_read(q->a, &want, &data, &f);
	}
	if (!rc && state)
		add_own(q->a, filter, &data);
	if (!rc)
		rc = filter_apply(q->a->ctx, filter, &data, &f);
	if (rc)
		refuse(q, &f);
	else
		reply_data(q, data);
	lyd_free_siblings(data);
}

static void rpc_get(struct request *q)
{
	get_data(q, true);
}

static void rpc_get_config(struct request *q)
{
	get_data(q, false);
}

/* Parse as YANG does, but take leafs without a value that are to be deleted. */
static int parse_xml(const struct ly_ctx *ctx, const char *xml,
		     enum edit_op op, struct lyd_node **out, struct fault *f)
{
	const uint32_t how = LYD_PARSE_ONLY | LYD_PARSE_NO_STATE;

	if (!lyd_parse_data_mem(ctx, xml, LYD_XML,
				LYD_PARSE_STRICT | how, 0, out))
		return 0;
	fault_yang(f, ctx);
	if (!lyd_parse_data_mem(ctx, xml, LYD_XML, LYD_PARSE_OPAQ | how,
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
static int parse_config(const struct request *q, const struct lyd_node *config,
			enum edit_op op, struct lyd_node **out, struct fault *f)
{
	const struct lyd_node *node;
	char *xml;
	int rc;

	*out = NULL;
	if (attribute_check(q->a->ctx, q->op, q->text, f))
		return -1;
	xml = print_xml(config);
	if (!xml)
		return 0;
	rc = parse_xml(q->a->ctx, xml, op, out, f);
	free(xml);
	if (rc)
		return -1;
	LY_LIST_FOR(*out, node) {
		if (node->schema->module != q->a->mod) {
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
	refuse(arg, f);
}

/* Make the configuration that an edit asks for, and validate it. */
static int wanted_config(const struct agent *a, const struct lyd_node *edit,
			 enum edit_op op, const struct lyd_node *running,
			 struct lyd_node **wanted, struct fault *f)
{
	int rc;

	if (lyd_dup_single(running, NULL, LYD_DUP_RECURSIVE, wanted))
		return fault_yang(f, a->ctx);
	rc = edit_apply(edit, op, wanted, f);
	if (!rc)
		apply_defaults(running, *wanted);
	if (!rc && lyd_validate_module(wanted, a->mod,
				       LYD_VALIDATE_NO_STATE, NULL))
		rc = fault_yang(f, a->ctx);
	return rc;
}

static void deny_lock(struct request *q)
{
	struct fault f;

	fault_set(&f, NC_ERR_LOCK_DENIED, NULL,
		  "Access to the requested lock is denied because the lock is currently held by another entity.");
	f.session = q->a->lock.owner;
	reply_fault(q, &f, NC_LAYER_PROTOCOL);
}

static void refuse_locked(struct request *q)
{
	struct fault f;

	fault_set(&f, NC_ERR_IN_USE, NULL, "session %u has locked it",
		  q->a->lock.owner);
	reply_fault(q, &f, NC_LAYER_PROTOCOL);
}

static bool has_trees(const struct lyd_node *sw)
{
	const struct lyd_node *node;

	LY_LIST_FOR(sw ? lyd_child(sw) : NULL, node)
		if (!strcmp(LYD_NAME(node), "tree"))
			return true;
	return false;
}

/* The switch's name, which is not the kernel's, comes first: it can be undone. */
static void apply_all(struct request *q, const struct lyd_node *running,
		      const struct lyd_node *wanted, enum apply_error mode)
{
	int ret, named;
	struct fault f;

	named = name_apply(q->a, wanted, has_trees(running), &f);
	if (named < 0)
		refuse(q, &f);
	if (named < 0 && mode != APPLY_CONTINUE)
		return;
	ret = apply_config(&q->a->nl, running, wanted, mode, add_error, q);
	if (ret && mode != APPLY_CONTINUE &&
	    name_apply(q->a, running, false, &f) < 0)
		refuse(q, &f);
	else if (named > 0)
		ifcache_note(q->a, IFCACHE_HOST);
}

/* Carry out an edit. */
static void edit_running(struct request *q, const struct lyd_node *edit,
			 enum edit_op op)
{
	const char *test = leaf_value(q->op, "test-option");
	const char *on_error = leaf_value(q->op, "error-option");
	struct ds_want want = { .trees = true, .members = true,
				.parents = true, .tree = edit_tree(edit, op) };
	struct lyd_node *running, *wanted = NULL;
	enum apply_error mode = APPLY_ROLLBACK;
	struct fault f;

	if (on_error && !strcmp(on_error, "continue-on-error"))
		mode = APPLY_CONTINUE;
	if (ds_read(q->a, &want, &running, &f)) {
		refuse(q, &f);
		return;
	}
	if (wanted_config(q->a, edit, op, running, &wanted, &f))
		refuse(q, &f);
	else if (!test || strcmp(test, "test-only"))
		apply_all(q, running, wanted, mode);
	lyd_free_siblings(running);
	lyd_free_siblings(wanted);
}

static void rpc_edit_config(struct request *q)
{
	const char *name = leaf_value(q->op, "default-operation");
	const uint32_t owner = q->a->lock.owner;
	enum edit_op op = EDIT_MERGE;
	struct lyd_node *edit;
	struct fault f;

	if (owner && owner != q->s->id) {
		refuse_locked(q);
		return;
	}
	if (name)
		edit_op(name, &op);
	if (parse_config(q, find_node(q->op, "config"), op, &edit, &f)) {
		refuse(q, &f);
		return;
	}
	edit_running(q, edit, op);
	lyd_free_siblings(edit);
	if (!q->bad)
		reply_ok(q);
}

/* Validate a client's own configuration, which a reader may send, too. */
static void validate_config(struct request *q, const struct lyd_node *config)
{
	struct lyd_node *data = NULL;
	struct fault f;
	int rc;

	rc = parse_config(q, config, EDIT_MERGE, &data, &f);
	if (!rc && lyd_validate_module(&data, q->a->mod, LYD_VALIDATE_NO_STATE,
				       NULL))
		rc = fault_yang(&f, q->a->ctx);
	lyd_free_siblings(data);
	if (rc)
		refuse(q, &f);
	else
		reply_ok(q);
}

static void rpc_validate(struct request *q)
{
	const struct lyd_node *config = find_node(q->op, "source/config");

	if (!config) {
		reply_ok(q);	/* the kernel's own */
		return;
	}
	/* A long configuration takes seconds, and needs no shared data. */
	netconf_unlock(q->a);
	validate_config(q, config);
	netconf_lock(q->a);
}

static void rpc_lock(struct request *q)
{
	if (q->a->lock.owner) {
		deny_lock(q);
		return;
	}
	q->a->lock.owner = q->s->id;
	q->a->lock.since = time(NULL);
	reply_ok(q);
}

static void rpc_unlock(struct request *q)
{
	struct fault f;

	if (q->a->lock.owner == q->s->id) {
		q->a->lock.owner = 0;
		reply_ok(q);
		return;
	}
	fault_set(&f, NC_ERR_OP_FAILED, NULL, q->a->lock.owner ?
		  "another session holds the lock" : "there is no lock");
	refuse(q, &f);
}

static void rpc_kill_session(struct request *q)
{
	const char *text = leaf_value(q->op, "session-id");
	uint32_t id = text ? (uint32_t)strtoul(text, NULL, 10) : 0;
	struct fault f;

	if (id != q->s->id && !netconf_kill(q->a, id)) {
		reply_ok(q);
		return;
	}
	fault_set(&f, NC_ERR_INVALID_VALUE, NULL, id == q->s->id ?
		  "a session cannot kill itself: use close-session" :
		  "there is no session with this ID");
	refuse(q, &f);
}

static void rpc_close_session(struct request *q)
{
	q->s->end = true;
	reply_ok(q);
}

static void refuse_schema(struct request *q, const char *why)
{
	struct fault f;

	fault_set(&f, NC_ERR_INVALID_VALUE, NULL, "%s", why);
	refuse(q, &f);
}

/* RFC 6022; no module that is served has submodules. */
static void rpc_get_schema(struct request *q)
{
	const char *name = leaf_value(q->op, "identifier");
	const char *version = leaf_value(q->op, "version");
	const char *format = leaf_value(q->op, "format");
	bool yin = format && strstr(format, ":yin");
	const struct lys_module *mod;
	char *text = NULL;

	if (format && !yin && !strstr(format, ":yang")) {
		refuse_schema(q, "The requested format is not supported.");
		return;
	}
	if (version && *version)
		mod = ly_ctx_get_module(q->a->ctx, name, version);
	else
		mod = ly_ctx_get_module_latest(q->a->ctx, name);
	if (!mod || lys_print_mem(&text, mod, yin ? LYS_OUT_YIN : LYS_OUT_YANG,
				  0) || !text) {
		refuse_schema(q, "The requested module was not found.");
		return;
	}
	fprintf(q->out, "<data xmlns=\"%s\">", q->op->schema->module->ns);
	if (yin)
		fputs(strncmp(text, "<?xml", 5) ? text : strchr(text, '\n'),
		      q->out);
	else
		error_escape(q->out, text, false);
	fputs("</data>", q->out);
	free(text);
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

static void rpc_subscribe(struct request *q)
{
	const struct lyd_node *filter = find_node(q->op, "filter");
	const char *stream = leaf_value(q->op, "stream");
	struct fault f;

	if (stream && strcmp(stream, NOTIF_STREAM)) {
		fault_set(&f, NC_ERR_INVALID_VALUE, find_node(q->op, "stream"),
			  "there is no stream %s, only " NOTIF_STREAM, stream);
		reply_fault(q, &f, NC_LAYER_PROTOCOL);
	} else if (check_times(leaf_value(q->op, "startTime"),
			       leaf_value(q->op, "stopTime"), &f)) {
		reply_fault(q, &f, NC_LAYER_PROTOCOL);
	} else if (filter_check(filter, &f) ||
		   notif_subscribe(q->s, filter, &f)) {
		refuse(q, &f);
	} else {
		reply_ok(q);
	}
}

static void rpc_probe(struct request *q)
{
	struct probe_addr addrs[PROBE_MAX];
	const struct lyd_node *node;
	unsigned int n = 0;
	struct fault f;

	LY_LIST_FOR(lyd_child(q->op), node) {
		/* The YANG model has the same limit. */
		if (n == PROBE_MAX)
			break;
		if (probe_parse(lyd_get_value(node), &addrs[n++])) {
			fault_set(&f, NC_ERR_INVALID_VALUE, node,
				  "no host has the address %s",
				  lyd_get_value(node));
			refuse(q, &f);
			return;
		}
	}
	if (probe_ask(addrs, n)) {
		fault_set(&f, NC_ERR_OP_FAILED, NULL,
			  "the kernel does not tell its interfaces");
		refuse(q, &f);
		return;
	}
	/* Hosts are located relative to switches: show this one, too. */
	bridge_beacon();
	reply_ok(q);
}

/* It was parsed, and no more. */
static int check_input(struct request *q, struct fault *f)
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

	if (!lyd_validate_op(q->op, NULL, LYD_TYPE_RPC_YANG, NULL))
		return 0;
	fault_yang(f, q->a->ctx);
	for (i = 0; i < ARRAY_SIZE(choices); i++) {
		if (strcmp(f->elem, choices[i].choice))
			continue;
		snprintf(f->elem, sizeof(f->elem), "%s", choices[i].elem);
		f->app_tag[0] = '\0';
	}
	return -1;
}

/* May the user ask for that? */
static int check_access(struct request *q, bool changes, struct fault *f)
{
	if (remote_revoked(q->s))
		return fault_set(f, NC_ERR_ACCESS_DENIED, NULL,
				 "the certificate of %s has been revoked",
				 q->s->user);
	if (!changes || q->s->may_change)
		return 0;
	log_warn("session %u: %s may not %s", q->s->id, q->s->user,
		 LYD_NAME(q->op));
	return fault_set(f, NC_ERR_ACCESS_DENIED, NULL, "%s may look only",
			 q->s->user);
}

static void on_rpc(struct request *q)
{
	static const struct {
		const char	*name;
		void		(*fn)(struct request *q);
		bool		changes;
	} rpcs[] = {
		{ "get", rpc_get, false },
		{ "get-config", rpc_get_config, false },
		{ "edit-config", rpc_edit_config, true },
		{ "validate", rpc_validate, false },
		{ "lock", rpc_lock, true },
		{ "unlock", rpc_unlock, true },
		{ "kill-session", rpc_kill_session, true },
		{ "close-session", rpc_close_session, false },
		{ "get-schema", rpc_get_schema, false },
		{ "create-subscription", rpc_subscribe, false },
		{ "probe", rpc_probe, true },
	};
	struct fault f;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rpcs); i++) {
		if (strcmp(LYD_NAME(q->op), rpcs[i].name))
			continue;
		if (check_access(q, rpcs[i].changes, &f))
			refuse(q, &f);
		else if (check_input(q, &f))
			reply_fault(q, &f, NC_LAYER_PROTOCOL);
		else
			rpcs[i].fn(q);
		return;
	}
	fault_set(&f, NC_ERR_OP_NOT_SUPPORTED, NULL, "%s is not supported",
		  LYD_NAME(q->op));
	refuse(q, &f);
}

static void on_closed(struct session *s)
{
	notif_unsubscribe(s);
	if (s->a->lock.owner == s->id)
		s->a->lock.owner = 0;
}

static void on_ended(struct agent *a)
{
	inc_nl_close(&a->nl);
	ifcache_free(a);
}

const struct netconf_ops rpc_ops = {
	.rpc = on_rpc,
	.news = notif_send,
	.closed = on_closed,
	.ended = on_ended,
};
