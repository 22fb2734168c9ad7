// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Codec of the rendezvous protocol. Input is not trusted: every number has a
 * range and every string a maximum length, and an error message names the
 * member of the object.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include "proto.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define DEPTH_MAX	32	/* nesting, of members that are unknown here, too */
#define QPN_MAX		0xffffff
#define PSN_MAX		0xffffff
#define RAILS_MASK	((1U << INC_RDV_RAILS_MAX) - 1)

/* In the order of enum inc_rdv_type. */
static const struct {
	const char	*key;
	const char	*value;
} types[] = {
	[INC_RDV_JOIN]		= { "cmd", "join" },
	[INC_RDV_RTS]		= { "cmd", "rts" },
	[INC_RDV_LEAVE]		= { "cmd", "leave" },
	[INC_RDV_LOST]		= { "cmd", "lost" },
	[INC_RDV_JOINED]	= { "event", "joined" },
	[INC_RDV_READY]		= { "event", "ready" },
	[INC_RDV_LEFT]		= { "event", "left" },
	[INC_RDV_FAILED]	= { "event", "failed" },
	[INC_RDV_BYE]		= { "event", "bye" },
	[INC_RDV_ERROR]		= { "event", "error" },
	[INC_RDV_ALIVE]		= { "event", "alive" },
	[INC_RDV_WRONG]		= { "event", "wrong" },
	[INC_RDV_GATHER]	= { "cmd", "gather" },
	[INC_RDV_RETRACT]	= { "cmd", "retract" },
	[INC_RDV_LINK]		= { "cmd", "link" },
	[INC_RDV_PLACED]	= { "event", "placed" },
	[INC_RDV_LINKED]	= { "event", "linked" },
	[INC_RDV_REBUILD]	= { "event", "rebuild" },
	[INC_RDV_REJOIN]	= { "cmd", "rejoin" },
	[INC_RDV_LOSSY]		= { "cmd", "lossy" },
	[INC_RDV_CHANGE]	= { "event", "change" },
};

/* errno values differ between architectures, so names are sent. */
#define NAMED(e)	{ e, #e }
static const struct {
	int		err;
	const char	*name;
} errnos[] = {
	NAMED(EACCES), NAMED(EADDRINUSE), NAMED(EADDRNOTAVAIL),
	NAMED(EAFNOSUPPORT), NAMED(EAGAIN), NAMED(EBUSY), NAMED(ECANCELED),
	NAMED(EEXIST), NAMED(EHOSTUNREACH), NAMED(EINVAL), NAMED(EMSGSIZE),
	NAMED(ENETUNREACH), NAMED(ENOBUFS), NAMED(ENOENT), NAMED(ENOMEM),
	NAMED(ENOSPC), NAMED(EOPNOTSUPP), NAMED(EPERM), NAMED(EPIPE),
	NAMED(EPROTO), NAMED(EPROTONOSUPPORT), NAMED(ERANGE), NAMED(ESHUTDOWN),
	NAMED(ETIMEDOUT),
};

/* State of a parse: after the first error, further calls do nothing. */
struct parse {
	int	ret;
	char	*err;
	size_t	err_len;
};

static void set_error(struct parse *p, int ret, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void set_error(struct parse *p, int ret, const char *fmt, ...)
{
	va_list ap;

	if (p->ret)
		return;
	p->ret = ret;
	va_start(ap, fmt);
	vsnprintf(p->err, p->err_len, fmt, ap);
	va_end(ap);
}

static struct json_object *get_member(struct parse *p, struct json_object *obj,
				      const char *key, enum json_type type,
				      bool need)
{
	struct json_object *val;

	if (p->ret)
		return NULL;
	if (!json_object_object_get_ex(obj, key, &val) || !val) {
		if (need)
			set_error(p, -EINVAL, "\"%s\" is missing", key);
		return NULL;
	}
	if (!json_object_is_type(val, type)) {
		set_error(p, -EINVAL, "\"%s\" is not of type %s", key,
			  json_type_to_name(type));
		return NULL;
	}
	return val;
}

static uint32_t get_num(struct parse *p, struct json_object *obj,
			const char *key, uint32_t min, uint32_t max, bool need)
{
	struct json_object *val = get_member(p, obj, key, json_type_int, need);
	int64_t num;

	if (!val)
		return 0;
	num = json_object_get_int64(val);
	if (num < min || num > max) {
		set_error(p, -EINVAL, "\"%s\" is %lld, must be %u ... %u", key,
			  (long long)num, min, max);
		return 0;
	}
	return (uint32_t)num;
}

static bool get_bool(struct parse *p, struct json_object *obj, const char *key)
{
	struct json_object *val = get_member(p, obj, key, json_type_boolean,
					     false);

	return json_object_get_boolean(val);
}

/* Get a name; unprintable characters are an error. */
static void get_str(struct parse *p, struct json_object *obj, const char *key,
		    char *buf, size_t len, bool need)
{
	struct json_object *val = get_member(p, obj, key, json_type_string,
					     need);
	const char *s;
	size_t n, i;

	buf[0] = '\0';
	if (!val)
		return;
	s = json_object_get_string(val);
	n = (size_t)json_object_get_string_len(val);
	if (n >= len) {
		set_error(p, -EINVAL, "\"%s\" is longer than %zu characters",
			  key, len - 1);
		return;
	}
	for (i = 0; i < n; i++)
		if (!isprint((unsigned char)s[i])) {
			set_error(p, -EINVAL,
				  "\"%s\" contains an unprintable character",
				  key);
			return;
		}
	memcpy(buf, s, n);
	buf[n] = '\0';
}

/*
 * Get a message: truncate it if too long, and replace unprintable characters.
 */
static void get_text(struct parse *p, struct json_object *obj, const char *key,
		     char *buf, size_t len)
{
	struct json_object *val = get_member(p, obj, key, json_type_string,
					     true);
	size_t i;

	buf[0] = '\0';
	if (!val)
		return;
	snprintf(buf, len, "%s", json_object_get_string(val));
	for (i = 0; buf[i]; i++)
		if (!isprint((unsigned char)buf[i]))
			buf[i] = '?';
}

static void get_addr(struct parse *p, struct json_object *obj,
		     struct inc_rdv_addr *addr)
{
	char text[INET6_ADDRSTRLEN];

	get_str(p, obj, "addr", text, sizeof(text), true);
	if (!p->ret && inc_rdv_addr_parse(text, addr))
		set_error(p, -EINVAL, "\"addr\": \"%s\" is not an IP address",
			  text);
}

static void parse_tree(struct parse *p, struct json_object *obj,
		       struct inc_rdv_tree *tree)
{
	struct json_object *val = get_member(p, obj, "tree", json_type_object,
					     false);

	if (!val)
		return;
	tree->slots = get_num(p, val, "slots", 1, UINT16_MAX, false);
	tree->msg_size = get_num(p, val, "msg_size", 1, UINT32_MAX, false);
	tree->pmtu = get_num(p, val, "pmtu", 1, UINT16_MAX, false);
	tree->has_first_msg_id = json_object_object_get_ex(val, "first_msg_id",
							   NULL);
	tree->first_msg_id = get_num(p, val, "first_msg_id", 0, UINT32_MAX,
				     false);
}

static bool parse_transport(struct parse *p, struct json_object *obj)
{
	char text[8];

	get_str(p, obj, "transport", text, sizeof(text), false);
	if (!p->ret && text[0] && strcmp(text, "rc") && strcmp(text, "uc"))
		set_error(p, -EINVAL,
			  "\"transport\" is \"%s\", must be rc or uc", text);
	return !strcmp(text, "uc");
}

static void parse_qp(struct parse *p, struct json_object *obj,
		     struct inc_rdv_join *join)
{
	get_addr(p, obj, &join->addr);
	join->qpn = get_num(p, obj, "qpn", 1, QPN_MAX, true);
	join->psn = get_num(p, obj, "psn", 0, PSN_MAX, true);
	join->rts = get_bool(p, obj, "rts");
}

/*
 * Each side sends the newest and the oldest version that it knows; the newest
 * common version is used. All ranks must have the same mapping.
 */
static void parse_versions(struct parse *p, struct json_object *obj)
{
	uint32_t version = get_num(p, obj, "version", 0, UINT32_MAX, true);
	uint32_t oldest = json_object_object_get_ex(obj, "oldest", NULL) ?
			  get_num(p, obj, "oldest", 0, version, true) :
			  version;
	uint32_t mapping = json_object_object_get_ex(obj, "mapping", NULL) ?
			   get_num(p, obj, "mapping", 0, UINT32_MAX, true) :
			   INC_RDV_MAPPING;

	if (!p->ret && (version < INC_RDV_VERSION || oldest > INC_RDV_VERSION))
		set_error(p, -EPROTONOSUPPORT,
			  "rendezvous protocol %u is not supported, only %d",
			  version, INC_RDV_VERSION);
	if (!p->ret && mapping != INC_RDV_MAPPING)
		set_error(p, -EPROTONOSUPPORT,
			  "mapping %u of collectives to messages is not supported, only %d",
			  mapping, INC_RDV_MAPPING);
}

/* A rank, with or without its QP. */
static void parse_join(struct parse *p, struct json_object *obj, bool qp,
		       struct inc_rdv_join *join)
{
	parse_versions(p, obj);
	get_str(p, obj, "job", join->job, sizeof(join->job), true);
	if (!p->ret && !join->job[0])
		set_error(p, -EINVAL, "\"job\" is empty");
	join->ranks = get_num(p, obj, "ranks", 1, INC_RDV_RANKS_MAX, true);
	join->rank = get_num(p, obj, "rank", 0, INC_RDV_RANKS_MAX - 1,
			     true);
	if (!p->ret && join->rank >= join->ranks)
		set_error(p, -EINVAL, "rank %u of %u ranks: must be 0 ... %u",
			  join->rank, join->ranks, join->ranks - 1);
	if (qp)
		parse_qp(p, obj, join);
	join->mtu = get_num(p, obj, "mtu", 256, 4096, false);
	join->uc = parse_transport(p, obj);
	join->wrong = get_bool(p, obj, "wrong");
	join->rebuild = get_bool(p, obj, "rebuild");
	join->change = get_bool(p, obj, "change");
	join->rails = get_bool(p, obj, "rails");
	join->cm = get_bool(p, obj, "cm");
	parse_tree(p, obj, &join->tree);
}

static void parse_joined(struct parse *p, struct json_object *obj,
			 struct inc_rdv_joined *j)
{
	parse_versions(p, obj);
	j->tree_id = get_num(p, obj, "tree_id", 1, UINT32_MAX, true);
	get_addr(p, obj, &j->addr);
	j->qpn = get_num(p, obj, "qpn", 1, QPN_MAX, true);
	j->psn = get_num(p, obj, "psn", 0, PSN_MAX, true);
	j->rkey = get_num(p, obj, "rkey", 0, UINT32_MAX, true);
	j->slots = get_num(p, obj, "slots", 1, UINT16_MAX, true);
	j->msg_size = get_num(p, obj, "msg_size", 64, 1 << 20, true);
	j->pmtu = get_num(p, obj, "pmtu", 256, 4096, true);
	j->first_msg_id = get_num(p, obj, "first_msg_id", 0, UINT32_MAX, true);
	j->dead_time = get_num(p, obj, "dead_time", 0, UINT32_MAX, false);
	j->collectives = get_num(p, obj, "collectives", 0, UINT32_MAX, true);
	j->dtypes = get_num(p, obj, "dtypes", 0, UINT32_MAX, true);
	j->ops = get_num(p, obj, "ops", 0, UINT32_MAX, true);
	j->traffic_class =
		get_num(p, obj, "traffic_class", 0, UINT8_MAX, false);
	j->rts = get_bool(p, obj, "rts");
	j->wrong = get_bool(p, obj, "wrong");
	j->rebuild = get_bool(p, obj, "rebuild");
	j->change = get_bool(p, obj, "change");
	get_str(p, obj, "rails", j->rails, sizeof(j->rails), false);
	j->resume = get_num(p, obj, "resume", 0, UINT32_MAX, false);
	j->has_own_psn = json_object_object_get_ex(obj, "own_psn", NULL);
	j->own_psn = get_num(p, obj, "own_psn", 0, PSN_MAX, false);
	if (!p->ret && (j->slots & (j->slots - 1)))
		set_error(p, -EPROTO, "\"slots\" is %u, not a power of two",
			  j->slots);
}

static void parse_placed(struct parse *p, struct json_object *obj,
			 struct inc_rdv_placed *placed)
{
	placed->first = get_num(p, obj, "first", 0, INC_RDV_RANKS_MAX - 1,
				true);
	placed->count = get_num(p, obj, "count", 1, INC_RDV_RANKS_MAX, true);
	parse_tree(p, obj, &placed->tree);
}

static void parse_error(struct parse *p, struct json_object *obj,
			struct inc_rdv_msg *msg)
{
	char name[32];
	size_t i;

	get_text(p, obj, "error", msg->text, sizeof(msg->text));
	get_str(p, obj, "errno", name, sizeof(name), false);
	msg->err = EREMOTEIO;
	for (i = 0; i < ARRAY_SIZE(errnos); i++)
		if (!strcmp(name, errnos[i].name))
			msg->err = errnos[i].err;
}

static void parse_rejoin(struct parse *p, struct json_object *obj,
			 struct inc_rdv_join *join)
{
	join->qpn = get_num(p, obj, "qpn", 0, QPN_MAX, true);
	join->psn = get_num(p, obj, "psn", 0, PSN_MAX, true);
	join->round = get_num(p, obj, "round", 0, UINT32_MAX, true);
	join->done = get_num(p, obj, "done", 0, UINT32_MAX, true);
}

static void parse_body(struct parse *p, struct json_object *obj,
		       struct inc_rdv_msg *msg)
{
	switch (msg->type) {
	case INC_RDV_JOIN:
		parse_join(p, obj, true, &msg->join);
		break;
	case INC_RDV_GATHER:
	case INC_RDV_RETRACT:
		parse_join(p, obj, false, &msg->join);
		break;
	case INC_RDV_LINK:
		parse_qp(p, obj, &msg->join);
		break;
	case INC_RDV_PLACED:
		parse_placed(p, obj, &msg->placed);
		break;
	case INC_RDV_JOINED:
	case INC_RDV_LINKED:
		parse_joined(p, obj, &msg->joined);
		break;
	case INC_RDV_REJOIN:
		parse_rejoin(p, obj, &msg->join);
		break;
	case INC_RDV_REBUILD:
		msg->msg_id = get_num(p, obj, "round", 0, UINT32_MAX, true);
		get_text(p, obj, "reason", msg->text, sizeof(msg->text));
		break;
	case INC_RDV_WRONG:
		msg->msg_id = get_num(p, obj, "msg_id", 0, UINT32_MAX, true);
		/* fall through */
	case INC_RDV_FAILED:
		msg->status = get_num(p, obj, "status", 1, UINT8_MAX, true);
		get_text(p, obj, "reason", msg->text, sizeof(msg->text));
		/* fall through */
	case INC_RDV_LEFT:
		msg->rank = -1;
		if (json_object_object_get_ex(obj, "rank", NULL))
			msg->rank = (int)get_num(p, obj, "rank", 0,
						 INC_RDV_RANKS_MAX - 1, true);
		break;
	case INC_RDV_ERROR:
		parse_error(p, obj, msg);
		break;
	case INC_RDV_BYE:
		get_str(p, obj, "missing", msg->text, sizeof(msg->text), false);
		break;
	case INC_RDV_CHANGE:
		get_str(p, obj, "job", msg->text, INC_RDV_JOB_MAX + 1, true);
		break;
	case INC_RDV_RTS:
	case INC_RDV_READY:
		msg->rails = get_num(p, obj, "rails", 0, RAILS_MASK, false);
		get_str(p, obj, "job", msg->text, INC_RDV_JOB_MAX + 1,
			msg->rails && msg->type == INC_RDV_READY);
		break;
	case INC_RDV_LEAVE:
	case INC_RDV_LOST:
	case INC_RDV_ALIVE:
	case INC_RDV_LOSSY:
		break;
	}
}

static void parse_type(struct parse *p, struct json_object *obj,
		       struct inc_rdv_msg *msg)
{
	struct json_object *val;
	char value[16];
	const char *key;
	size_t i;

	key = json_object_object_get_ex(obj, "event", &val) ? "event" : "cmd";
	get_str(p, obj, key, value, sizeof(value), true);
	if (p->ret)
		return;
	for (i = 0; i < ARRAY_SIZE(types); i++)
		if (!strcmp(key, types[i].key) &&
		    !strcmp(value, types[i].value)) {
			msg->type = (enum inc_rdv_type)i;
			return;
		}
	set_error(p, -EOPNOTSUPP, "\"%s\": \"%s\" is not known here", key,
		  value);
}

/**
 * inc_rdv_parse() - parse a line
 * @line: one line, without newline
 * @msg: result
 * @err: error message
 * @err_len: size of @err, bytes
 *
 * Return: 0, or -EINVAL (no JSON, a member missing or out of range),
 * -EPROTONOSUPPORT (version), -EOPNOTSUPP (unknown command or event), -EPROTO,
 * -ENOMEM.
 */
int inc_rdv_parse(const char *line, struct inc_rdv_msg *msg, char *err,
		  size_t err_len)
{
	struct parse p = { .err = err, .err_len = err_len };
	struct json_tokener *tok = json_tokener_new_ex(DEPTH_MAX);
	struct json_object *obj;
	size_t len = strlen(line);

	memset(msg, 0, sizeof(*msg));
	if (!tok)
		return -ENOMEM;
	obj = json_tokener_parse_ex(tok, line, (int)len);
	if (json_tokener_get_error(tok) != json_tokener_success) {
		set_error(&p, -EINVAL, "no JSON: %s",
			  json_tokener_error_desc(json_tokener_get_error(tok)));
	} else if (json_tokener_get_parse_end(tok) != len) {
		set_error(&p, -EINVAL, "more than one JSON value in a line");
	} else if (!json_object_is_type(obj, json_type_object)) {
		set_error(&p, -EINVAL, "no JSON object");
	} else {
		parse_type(&p, obj, msg);
		if (!p.ret)
			parse_body(&p, obj, msg);
	}
	json_object_put(obj);
	json_tokener_free(tok);
	return p.ret;
}

static void add_num(struct json_object *obj, const char *key, uint32_t num)
{
	json_object_object_add(obj, key, json_object_new_int64(num));
}

static void add_str(struct json_object *obj, const char *key, const char *s)
{
	json_object_object_add(obj, key, json_object_new_string(s));
}

static void add_true(struct json_object *obj, const char *key)
{
	json_object_object_add(obj, key, json_object_new_boolean(true));
}

static void add_addr(struct json_object *obj, const struct inc_rdv_addr *addr)
{
	char text[INET6_ADDRSTRLEN];

	add_str(obj, "addr", inc_rdv_addr_str(addr, text, sizeof(text)));
}

static void format_tree(struct json_object *obj,
			const struct inc_rdv_tree *tree)
{
	struct json_object *t = json_object_new_object();

	if (tree->slots)
		add_num(t, "slots", tree->slots);
	if (tree->msg_size)
		add_num(t, "msg_size", tree->msg_size);
	if (tree->pmtu)
		add_num(t, "pmtu", tree->pmtu);
	if (tree->has_first_msg_id)
		add_num(t, "first_msg_id", tree->first_msg_id);
	json_object_object_add(obj, "tree", t);
}

static void format_qp(struct json_object *obj, const struct inc_rdv_join *join)
{
	add_addr(obj, &join->addr);
	add_num(obj, "qpn", join->qpn);
	add_num(obj, "psn", join->psn);
	if (join->rts)
		add_true(obj, "rts");
}

static void format_join(struct json_object *obj, bool qp,
			const struct inc_rdv_join *join)
{
	add_num(obj, "version", INC_RDV_VERSION);
	add_num(obj, "mapping", INC_RDV_MAPPING);
	add_str(obj, "job", join->job);
	add_num(obj, "ranks", join->ranks);
	add_num(obj, "rank", join->rank);
	if (qp)
		format_qp(obj, join);
	if (join->mtu)
		add_num(obj, "mtu", join->mtu);
	if (join->uc)
		add_str(obj, "transport", "uc");
	if (join->wrong)
		add_true(obj, "wrong");
	if (join->rebuild)
		add_true(obj, "rebuild");
	if (join->change)
		add_true(obj, "change");
	if (join->rails)
		add_true(obj, "rails");
	if (join->cm)
		add_true(obj, "cm");
	format_tree(obj, &join->tree);
}

static void format_joined(struct json_object *obj,
			  const struct inc_rdv_joined *j)
{
	add_num(obj, "version", INC_RDV_VERSION);
	add_num(obj, "header", INC_RDV_HEADER);
	add_num(obj, "mapping", INC_RDV_MAPPING);
	add_num(obj, "tree_id", j->tree_id);
	add_addr(obj, &j->addr);
	add_num(obj, "qpn", j->qpn);
	add_num(obj, "psn", j->psn);
	add_num(obj, "rkey", j->rkey);
	add_num(obj, "slots", j->slots);
	add_num(obj, "msg_size", j->msg_size);
	add_num(obj, "pmtu", j->pmtu);
	add_num(obj, "first_msg_id", j->first_msg_id);
	add_num(obj, "dead_time", j->dead_time);
	add_num(obj, "collectives", j->collectives);
	add_num(obj, "dtypes", j->dtypes);
	add_num(obj, "ops", j->ops);
	if (j->traffic_class)
		add_num(obj, "traffic_class", j->traffic_class);
	if (j->rts)
		add_true(obj, "rts");
	if (j->wrong)
		add_true(obj, "wrong");
	if (j->rebuild)
		add_true(obj, "rebuild");
	if (j->change)
		add_true(obj, "change");
	if (*j->rails)
		add_str(obj, "rails", j->rails);
	if (j->resume)
		add_num(obj, "resume", j->resume);
	if (j->has_own_psn)
		add_num(obj, "own_psn", j->own_psn);
}

static void format_error(struct json_object *obj, const struct inc_rdv_msg *msg)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(errnos); i++)
		if (msg->err == errnos[i].err)
			add_str(obj, "errno", errnos[i].name);
	add_str(obj, "error", msg->text);
}

static void format_rejoin(struct json_object *obj,
			  const struct inc_rdv_join *join)
{
	add_num(obj, "qpn", join->qpn);
	add_num(obj, "psn", join->psn);
	add_num(obj, "round", join->round);
	add_num(obj, "done", join->done);
}

static void format_body(struct json_object *obj, const struct inc_rdv_msg *msg)
{
	switch (msg->type) {
	case INC_RDV_JOIN:
		format_join(obj, true, &msg->join);
		break;
	case INC_RDV_GATHER:
	case INC_RDV_RETRACT:
		format_join(obj, false, &msg->join);
		break;
	case INC_RDV_LINK:
		format_qp(obj, &msg->join);
		break;
	case INC_RDV_PLACED:
		add_num(obj, "first", msg->placed.first);
		add_num(obj, "count", msg->placed.count);
		format_tree(obj, &msg->placed.tree);
		break;
	case INC_RDV_JOINED:
	case INC_RDV_LINKED:
		format_joined(obj, &msg->joined);
		break;
	case INC_RDV_REJOIN:
		format_rejoin(obj, &msg->join);
		break;
	case INC_RDV_REBUILD:
		add_num(obj, "round", msg->msg_id);
		add_str(obj, "reason", msg->text);
		break;
	case INC_RDV_WRONG:
		add_num(obj, "msg_id", msg->msg_id);
		/* fall through */
	case INC_RDV_FAILED:
		add_num(obj, "status", msg->status);
		add_str(obj, "reason", msg->text);
		/* fall through */
	case INC_RDV_LEFT:
		if (msg->rank >= 0)
			add_num(obj, "rank", (uint32_t)msg->rank);
		break;
	case INC_RDV_ERROR:
		format_error(obj, msg);
		break;
	case INC_RDV_BYE:
		if (*msg->text)
			add_str(obj, "missing", msg->text);
		break;
	case INC_RDV_CHANGE:
		add_str(obj, "job", msg->text);
		break;
	case INC_RDV_RTS:
	case INC_RDV_READY:
		if (msg->rails)
			add_num(obj, "rails", msg->rails);
		if (*msg->text)
			add_str(obj, "job", msg->text);
		break;
	case INC_RDV_LEAVE:
	case INC_RDV_LOST:
	case INC_RDV_ALIVE:
	case INC_RDV_LOSSY:
		break;
	}
}

/**
 * inc_rdv_format() - format a line
 * @msg: message
 * @line: result, newline included, terminated by 0
 * @len: size of @line, bytes; INC_RDV_LINE_MAX + 1 is enough for any
 *
 * Return: length of the line, -ENOMEM or -EMSGSIZE.
 */
int inc_rdv_format(const struct inc_rdv_msg *msg, char *line, size_t len)
{
	struct json_object *obj = json_object_new_object();
	const char *text;
	int ret;

	if (!obj)
		return -ENOMEM;
	add_str(obj, types[msg->type].key, types[msg->type].value);
	format_body(obj, msg);
	text = json_object_to_json_string_ext(obj, JSON_C_TO_STRING_PLAIN |
					      JSON_C_TO_STRING_NOSLASHESCAPE);
	ret = snprintf(line, len, "%s\n", text);
	json_object_put(obj);
	return ret < 0 || (size_t)ret >= len ? -EMSGSIZE : ret;
}

/**
 * inc_rdv_addr_str() - format an address
 * @addr: address
 * @buf: result
 * @len: size of @buf, at least INET6_ADDRSTRLEN
 *
 * Return: @buf.
 */
const char *inc_rdv_addr_str(const struct inc_rdv_addr *addr, char *buf,
			     size_t len)
{
	if (!addr->len || !inet_ntop(addr->len == 4 ? AF_INET : AF_INET6,
				     addr->bytes, buf, (socklen_t)len))
		snprintf(buf, len, "none");
	return buf;
}

/* An IPv4 address in IPv6 form is an IPv4 address. */
static void set_in6(struct inc_rdv_addr *addr, const struct in6_addr *in6)
{
	if (IN6_IS_ADDR_V4MAPPED(in6)) {
		addr->len = 4;
		memcpy(addr->bytes, in6->s6_addr + 12, 4);
	} else {
		addr->len = 16;
		memcpy(addr->bytes, in6->s6_addr, 16);
	}
}

/**
 * inc_rdv_addr_parse() - parse an address
 * @text: numeric IPv4 or IPv6 address
 * @addr: result
 *
 * Return: 0 or -EINVAL.
 */
int inc_rdv_addr_parse(const char *text, struct inc_rdv_addr *addr)
{
	struct in6_addr in6;

	memset(addr, 0, sizeof(*addr));
	if (inet_pton(AF_INET, text, addr->bytes) == 1) {
		addr->len = 4;
		return 0;
	}
	if (inet_pton(AF_INET6, text, &in6) != 1)
		return -EINVAL;
	set_in6(addr, &in6);
	return 0;
}

/**
 * inc_rdv_addr_from_sockaddr() - get the address of a socket address
 * @sa: AF_INET or AF_INET6
 * @addr: result
 *
 * Return: 0 or -EAFNOSUPPORT.
 */
int inc_rdv_addr_from_sockaddr(const struct sockaddr *sa,
			       struct inc_rdv_addr *addr)
{
	const struct sockaddr_in6 *sin6 = (const void *)sa;
	const struct sockaddr_in *sin = (const void *)sa;

	memset(addr, 0, sizeof(*addr));
	if (sa->sa_family == AF_INET) {
		addr->len = 4;
		memcpy(addr->bytes, &sin->sin_addr, 4);
		return 0;
	}
	if (sa->sa_family != AF_INET6)
		return -EAFNOSUPPORT;
	set_in6(addr, &sin6->sin6_addr);
	return 0;
}

/**
 * inc_rdv_addr_to_sockaddr() - make a socket address
 * @addr: address
 * @port: port
 * @ss: result
 *
 * Return: its length.
 */
socklen_t inc_rdv_addr_to_sockaddr(const struct inc_rdv_addr *addr,
				   uint16_t port, struct sockaddr_storage *ss)
{
	struct sockaddr_in *in = (struct sockaddr_in *)ss;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)ss;

	memset(ss, 0, sizeof(*ss));
	if (addr->len == 4) {
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		memcpy(&in->sin_addr, addr->bytes, 4);
		return sizeof(*in);
	}
	in6->sin6_family = AF_INET6;
	in6->sin6_port = htons(port);
	memcpy(&in6->sin6_addr, addr->bytes, 16);
	return sizeof(*in6);
}
