// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Requests to the manager, and their answers as JSON.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json.h"
#include "rpc/message.h"
#include "auth/address.h"
#include "conf/text.h"
#include "http2/fault.h"
#include "http2/reach.h"
#include "conf/output.h"
#include "conf/unit.h"
#include "ctl/amctl.h"
#include "rdma_inc.pb-c.h"

#define TIMEOUT_MS	5000	/* of a request, and of reaching a manager */
#define LEADER_LEN	264	/* a DNS name, and a port */
#define STRANGE	"its answer is not understood; is it of the same version?"

/**
 * struct search - search for the manager that leads
 * @managers: managers that the user has named, then the leader that they name
 * @addr: address that was reached
 * @leader: leader that one of them has named
 * @asked_leader: @leader was tried
 * @why: errors of managers that were reached, a line for each
 */
struct search {
	struct inc_reach	*managers;
	const char		*addr;
	char			leader[LEADER_LEN];
	bool			asked_leader;
	char			why[4096];
};

static void note_reason(struct search *s, const char *addr, const char *err)
{
	size_t len = strlen(s->why);

	snprintf(s->why + len, sizeof(s->why) - len,
		 "inc-amctl: manager %s: %s\n", addr, err);
}

/* Add the port if it is missing. Returns false if this is no address. */
static bool put_address(char addr[INC_REACH_ADDR], const char *given)
{
	int port = atoi(AM_PORT);
	const char *six;
	char host[256];

	if (inc_reach_is_path(given)) {
		snprintf(addr, INC_REACH_ADDR, "%s", given);
		return true;
	}
	if (inc_auth_address(given, host, sizeof(host), &port) || !port)
		return false;
	six = strchr(host, ':');
	snprintf(addr, INC_REACH_ADDR, "%s%s%s:%d", six ? "[" : "", host,
		 six ? "]" : "", port);
	return true;
}

/*
 * Check the addresses that the user has named; empty ones are skipped. Returns
 * 0, or an exit status after a message.
 */
int ctl_check_managers(void)
{
	char one[INC_REACH_ADDR], addr[INC_REACH_ADDR];
	unsigned int i = 0;
	int ret = CTL_OK;

	while (i < (unsigned int)inc_reach_nth(ctl_manager, i, one,
					       sizeof(one))) {
		i++;
		if (!*one || put_address(addr, one))
			continue;
		fprintf(stderr, "inc-amctl: manager \"%s\": must be HOST, HOST:PORT, [ADDRESS]:PORT or unix:PATH, with a port from 1 to 65535\n",
			one);
		ret = CTL_USAGE;
	}
	return ret;
}

static void add_manager(struct search *s, const char *given)
{
	char addr[INC_REACH_ADDR];

	if (put_address(addr, given))
		inc_reach_add(s->managers, addr);
}

/* Without usable certificates or token the search stays empty. */
static void begin_search(struct search *s)
{
	char one[INC_REACH_ADDR], err[512];
	unsigned int i = 0;

	memset(s, 0, sizeof(*s));
	if (!amctl_check(err, sizeof(err))) {
		snprintf(s->why, sizeof(s->why), "inc-amctl: %s\n", err);
		return;
	}
	s->managers = inc_reach_new("", atoi(AM_PORT), false);
	while (s->managers && i < (unsigned int)inc_reach_nth(ctl_manager, i,
							      one, sizeof(one))) {
		add_manager(s, one);
		i++;
	}
}

/* Has this search found that an address cannot be reached? */
static bool is_unreached(const struct search *s, const char *given)
{
	char addr[INC_REACH_ADDR];
	unsigned int i;

	if (!put_address(addr, given))
		return true;
	for (i = 0; i < inc_reach_count(s->managers); i++)
		if (inc_reach_error(s->managers, i) &&
		    !strcmp(inc_reach_addr(s->managers, i), addr))
			return true;
	return false;
}

/* Connect to a manager that was not tried yet. Returns a descriptor, or -1. */
static int next_manager(struct search *s)
{
	int fd = -1;

	if (!s->managers)
		return -1;
	if (inc_reach_left(s->managers))
		fd = inc_reach_next(s->managers, TIMEOUT_MS, NULL);
	if (fd < 0 && s->leader[0] && !s->asked_leader) {
		s->asked_leader = true;
		if (is_unreached(s, s->leader))
			return -1;
		add_manager(s, s->leader);
		fd = inc_reach_next(s->managers, TIMEOUT_MS, NULL);
	}
	if (fd >= 0)
		s->addr = inc_reach_addr(s->managers,
					 inc_reach_which(s->managers));
	return fd;
}

/* Note a manager's error. Returns true if another one may succeed. */
static bool note_failure(struct search *s, int ret, const char *err)
{
	static const char at[] = AM_NOT_LEADER ", it is at ";
	bool away = ret == -EHOSTUNREACH || ret == -ETIMEDOUT;

	/* The leader's error replaces those of other managers. */
	if (!away)
		s->why[0] = '\0';
	note_reason(s, s->addr, err);
	if (!strncmp(err, at, strlen(at)))
		snprintf(s->leader, sizeof(s->leader), "%s", err + strlen(at));
	return away;
}

/* End a search. @more: report managers that were not reached, too. */
static void end_search(struct search *s, bool more)
{
	unsigned int i, n = s->managers ? inc_reach_count(s->managers) : 0;
	char why[256];
	int err;

	for (i = 0; more && i < n; i++) {
		err = -inc_reach_error(s->managers, i);
		if (!err)
			continue;
		inc_fault_words(inc_fault_of(err), err, "inc-amd", why,
				sizeof(why));
		note_reason(s, inc_reach_addr(s->managers, i), why);
	}
	inc_reach_free(s->managers);
}

static void print_reasons(const struct search *s)
{
	inc_output_flush();
	fputs(s->why[0] ? s->why : "inc-amctl: no manager is named\n", stderr);
}

static void clean_message(ProtobufCMessage *msg);

static void clean_field(const ProtobufCFieldDescriptor *f, void *value)
{
	char *text = *(char **)value;

	if (f->type == PROTOBUF_C_TYPE_STRING && text && *text)
		text_clean(text);
	else if (f->type == PROTOBUF_C_TYPE_MESSAGE && text)
		clean_message((ProtobufCMessage *)text);
}

/*
 * Remove control characters from all texts: a manager must not control the
 * user's terminal.
 */
static void clean_message(ProtobufCMessage *msg)
{
	const ProtobufCFieldDescriptor *f = msg->descriptor->fields;
	unsigned int i;
	size_t n, k;
	char *at;

	for (i = 0; i < msg->descriptor->n_fields; i++, f++) {
		if (f->type != PROTOBUF_C_TYPE_STRING &&
		    f->type != PROTOBUF_C_TYPE_MESSAGE)
			continue;
		at = (char *)msg + f->offset;
		if (f->label != PROTOBUF_C_LABEL_REPEATED) {
			clean_field(f, at);
			continue;
		}
		n = *(size_t *)((char *)msg + f->quantifier_offset);
		for (k = 0; k < n; k++)
			clean_field(f, *(char ***)at + k);
	}
}

/* Sort keys of messages in lists, by type. */
static const struct order {
	const ProtobufCMessageDescriptor	*type;
	const char				*keys[4];
} orders[] = {
	{ &rdma_inc__v1__group__descriptor, { "name", "tenant" } },
	{ &rdma_inc__v1__switch_group__descriptor, { "name", "tenant" } },
	{ &rdma_inc__v1__reservation__descriptor, { "name", "tenant" } },
	{ &rdma_inc__v1__task__descriptor, { "kind", "name", "tenant" } },
	{ &rdma_inc__v1__quota__descriptor, { "tenant" } },
	{ &rdma_inc__v1__candidate__descriptor, { "switch_id" } },
	{ &rdma_inc__v1__link__descriptor,
	  { "from_switch", "from_interface", "to_switch" } },
};

/* Natural order: job2 before job10. */
static int by_keys(const void *a, const void *b, void *ctx)
{
	const char *const *x = a, *const *y = b;
	const struct order *o = ctx;
	const ProtobufCFieldDescriptor *f;
	unsigned int i;
	int diff = 0;

	for (i = 0; o->keys[i] && !diff; i++) {
		f = protobuf_c_message_descriptor_get_field_by_name(o->type,
								    o->keys[i]);
		diff = strverscmp(*(char *const *)(*x + f->offset),
				  *(char *const *)(*y + f->offset));
	}
	return diff;
}

static void sort_lists(ProtobufCMessage *msg)
{
	const ProtobufCFieldDescriptor *f = msg->descriptor->fields;
	unsigned int i;
	size_t n, k;

	for (i = 0; i < msg->descriptor->n_fields; i++, f++) {
		n = f->label == PROTOBUF_C_LABEL_REPEATED ?
		    *(size_t *)((char *)msg + f->quantifier_offset) : 0;
		for (k = 0; n && k < sizeof(orders) / sizeof(orders[0]); k++)
			if (orders[k].type == f->descriptor)
				qsort_r(*(void **)((char *)msg + f->offset), n,
					sizeof(void *), by_keys,
					(void *)&orders[k]);
	}
}

static ProtobufCMessage *unpack_message(const ProtobufCMessageDescriptor *type,
					const uint8_t *data, size_t len)
{
	ProtobufCMessage *msg = protobuf_c_message_unpack(type, NULL, len,
							  data);

	if (msg) {
		clean_message(msg);
		sort_lists(msg);
	}
	return msg;
}

/**
 * struct answers - what comes of a request
 * @type: type of an answer
 * @print: prints each answer of a stream; NULL: there is one, @msg
 * @msg: the only answer
 * @begun: there was an answer
 * @wrong: what is wrong with the last answer, or NULL
 */
struct answers {
	const ProtobufCMessageDescriptor	*type;
	void	(*print)(const ProtobufCMessage *msg);
	ProtobufCMessage			*msg;
	bool					begun;
	const char				*wrong;
};

static bool on_answer(void *ctx, const uint8_t *data, size_t len)
{
	struct answers *a = ctx;
	ProtobufCMessage *msg = a->msg ? NULL :
				unpack_message(a->type, data, len);

	a->begun = true;
	if (!msg) {
		a->wrong = a->msg ? "it sends more than one answer" : STRANGE;
		return false;
	}
	if (!a->print) {
		a->msg = msg;
		return true;
	}
	a->print(msg);
	ctl_free(msg);
	/* End if nobody reads, as "| head" that has enough. */
	return inc_output_flush();
}

/* Ask one manager after another. Returns false after a message. */
static bool ask_managers(const char *method, const ProtobufCMessage *req,
			 int timeout_ms, struct answers *a)
{
	char err[512];
	struct search s;
	int ret = -ENOMEM, fd;
	bool more = true;
	uint8_t *in;
	size_t n;

	begin_search(&s);
	am_pack(req, &in, &n);
	while (ret && in && more && (fd = next_manager(&s)) >= 0) {
		ret = amctl_call(s.addr, fd, method, timeout_ms, in, n,
				 on_answer, a, err, sizeof(err));
		if (!ret && !a->begun)
			a->wrong = "it sends no answer";
		if (a->wrong) {
			snprintf(err, sizeof(err), "%s", a->wrong);
			ret = -EPROTO;
		}
		/* Another manager would repeat the answers that were printed. */
		more = ret && note_failure(&s, ret, err[0] ? err :
					   "the connection was lost") &&
					   !a->begun;
	}
	free(in);
	end_search(&s, ret && more);
	if (ret)
		print_reasons(&s);
	return !ret;
}

/*
 * Send a request and wait for its answer. Returns the answer, for ctl_free(),
 * with its lists in natural order; or NULL after a message.
 */
ProtobufCMessage *ctl_ask(const char *method, const ProtobufCMessage *req,
			  const ProtobufCMessageDescriptor *type)
{
	struct answers a = { .type = type };

	if (ask_managers(method, req, TIMEOUT_MS, &a))
		return a.msg;
	ctl_free(a.msg);
	return NULL;
}

/* Free an answer. */
void ctl_free(ProtobufCMessage *msg)
{
	if (msg)
		protobuf_c_message_free_unpacked(msg, NULL);
}

/* Print a stream of answers. Returns the exit status. */
int ctl_follow(const char *method, const ProtobufCMessage *req,
	       const ProtobufCMessageDescriptor *type,
	       void (*print)(const ProtobufCMessage *msg))
{
	struct answers a = { .type = type, .print = print };

	inc_output_follow();
	return ask_managers(method, req, 0, &a) ? CTL_OK : CTL_REFUSED;
}

/* Format time like inc-tool: RFC 3339, local time with its offset from UTC. */
static struct json_object *clock_of(struct json_object *number, int64_t unit)
{
	int64_t at = json_object_get_int64(number);
	char text[UNIT_TIME_LEN];

	return json_object_new_string(at > 0 && at <= INT64_MAX / unit ?
				      unit_clock(at * unit, text) : "");
}

/* Format all points in time, at any depth. */
static void put_times(struct json_object *obj)
{
	static const struct {
		const char	*name;
		int64_t		usec;	/* its unit */
	} times[] = {
		{ "time", 1000 }, { "read-at", 1000 },
		{ "drained-at", 1000000 }, { "last", 1000000 },
	};
	struct json_object *at;
	size_t i;

	if (json_object_is_type(obj, json_type_array)) {
		for (i = 0; i < json_object_array_length(obj); i++)
			put_times(json_object_array_get_idx(obj, i));
		return;
	}
	if (!json_object_is_type(obj, json_type_object))
		return;
	for (i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		if (json_object_object_get_ex(obj, times[i].name, &at))
			json_object_object_add(obj, times[i].name,
					       clock_of(at, times[i].usec));
	json_object_object_foreach(obj, key, val) {
		(void)key;
		put_times(val);
	}
}

static void put_json(struct json_object *obj, bool pretty)
{
	puts(json_object_to_json_string_ext(obj,
					    (pretty ? JSON_C_TO_STRING_PRETTY :
						      JSON_C_TO_STRING_PLAIN) |
					    JSON_C_TO_STRING_NOSLASHESCAPE));
}

/*
 * Print an answer as JSON.
 * @list: print only this member; NULL: the whole answer
 */
void ctl_print_json(const ProtobufCMessage *msg, const char *list)
{
	struct json_object *obj = am_json(msg), *part = obj;

	put_times(obj);
	if (list)
		json_object_object_get_ex(obj, list, &part);
	put_json(part, ctl_pretty);
	json_object_put(obj);
}

/* Print an answer as JSON in one line. */
void ctl_print_line(const ProtobufCMessage *msg)
{
	struct json_object *obj = am_json(msg);

	put_times(obj);
	put_json(obj, false);
	json_object_put(obj);
}

/*
 * Send a request and print its answer. Returns the exit status.
 * @list: as JSON, print only this member; NULL: the whole answer
 * @print: prints the answer as text; NULL: prints nothing
 */
int ctl_show(const char *method, const ProtobufCMessage *req,
	     const ProtobufCMessageDescriptor *type, const char *list,
	     void (*print)(const ProtobufCMessage *msg))
{
	ProtobufCMessage *msg = ctl_ask(method, req, type);

	if (!msg)
		return CTL_REFUSED;
	if (ctl_json)
		ctl_print_json(msg, list);
	else if (print)
		print(msg);
	ctl_free(msg);
	return CTL_OK;
}
