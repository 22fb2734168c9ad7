// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Publishes the page's state, as JSON, and the metrics. Each second, unless
 * that takes more than a tenth of the time.
 */
#include <stdio.h>
#include <stdlib.h>

#include "answer/answer.h"
#include "auth/address.h"
#include "api/json.h"
#include "rdma_inc.pb-c.h"
#include "rpc/message.h"
#include "state/json_text.h"
#include "stats/history.h"
#include "stats/stats.h"
#include "web/web.h"

#define MINUTE	60
#define MINUTES	(HISTORY_SECONDS / MINUTE)

#define EVENTS		50	/* events on the page */
#define SHARE		10	/* of the time at most, as a fraction */
#define HISTORY_MS	10000	/* between two publications of the last hour */

/**
 * struct web - publisher of the page
 * @http: server
 * @m: manager
 * @st: statistics
 * @watch: called each second
 * @next: milliseconds; next publication
 * @history_at: milliseconds; next publication of the last hour
 * @names: names of hosts
 */
struct web {
	struct http		*http;
	struct manager		*m;
	struct stats		*st;
	struct stats_watch	watch;
	int64_t			next;
	int64_t			history_at;
	struct names		*names;
};

/* Get the manager's answer to a request, as JSON. */
static struct json_object *ask_manager(struct manager *m,
				       enum rpc_method method,
				       const ProtobufCMessage *req,
				       const ProtobufCMessageDescriptor *type)
{
	struct rpc_answer a = { .err = 0 };
	struct json_object *out = NULL;
	ProtobufCMessage *msg = NULL;
	uint8_t *data;
	size_t len;

	if (am_pack(req, &data, &len))
		return NULL;
	answer_call(m, method, data, len, NULL, &a);
	free(data);
	if (a.data)
		msg = protobuf_c_message_unpack(type, NULL, a.len, a.data);
	free(a.data);
	if (msg) {
		out = am_json(msg);
		protobuf_c_message_free_unpacked(msg, NULL);
	}
	return out;
}

static void put_tasks(struct web *w, struct json_object *out,
		      enum series_kind kind)
{
	RdmaInc__V1__TasksRequest req = RDMA_INC__V1__TASKS_REQUEST__INIT;
	struct json_object *obj, *list;
	char name[32];

	req.kind = (char *)series_kind_name(kind);
	obj = ask_manager(w->m, RPC_LIST_TASKS, &req.base,
			  &rdma_inc__v1__tasks__descriptor);
	snprintf(name, sizeof(name), "%s-list", req.kind);
	if (json_object_object_get_ex(obj, "tasks", &list))
		json_object_object_add(out, name, json_object_get(list));
	json_object_put(obj);
}

/* Get the hosts' names, by address. */
static struct json_object *make_names(struct web *w,
				      struct json_object *topology)
{
	struct json_object *out = json_object_new_object(), *hosts, *addr;
	char name[64];
	size_t i;

	if (!json_object_object_get_ex(topology, "hosts", &hosts))
		return out;
	for (i = 0; i < json_object_array_length(hosts); i++) {
		if (!json_object_object_get_ex(json_object_array_get_idx(hosts, i),
					       "addr", &addr))
			continue;
		names_get(w->names, json_object_get_string(addr), name,
			  sizeof(name));
		if (name[0])
			json_object_object_add(out,
					       json_object_get_string(addr),
					       json_object_new_string(name));
	}
	return out;
}

static char *copy_text(struct json_object *obj, const char *before,
		       const char *after)
{
	char *text;

	if (asprintf(&text, "%s%s%s", before,
		     json_object_to_json_string_ext(obj,
						    JSON_C_TO_STRING_PLAIN |
						    JSON_C_TO_STRING_NOSLASHESCAPE),
		     after) < 0)
		text = NULL;
	json_object_put(obj);
	return text;
}

/* A page of a manager that does not lead shows little else than this. */
static void put_standby(struct json_object *out, const struct manager *m)
{
	char text[256];

	if (state_refuses(m, text, sizeof(text)))
		json_object_object_add(out, "standby",
				       json_object_new_string(text));
}

static void put_alarm(struct json_object *list, const char *of,
		      const char *name, const char *text)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "of", json_object_new_string(of));
	json_object_object_add(o, "name", json_object_new_string(name));
	json_object_object_add(o, "text", json_object_new_string(text));
	json_object_array_add(list, o);
}

/* List certificates to be renewed, and files that are not in force. */
static struct json_object *make_expiry(const struct stats *st)
{
	struct json_object *out = json_object_new_array();
	const struct expiry *e = &st->expiry;
	int64_t now = unix_ms() / 1000;
	const struct certificate *c;
	char text[160];
	int i;

	for (i = 0; i < CREDS_FILES; i++)
		if (st->stale.why[i][0])
			put_alarm(out, stale_name(i), stale_path(st->m, i),
				  st->stale.why[i]);
	for (c = e->list; c; c = c->next) {
		if (!expiry_level(c, now))
			continue;
		expiry_text(c, now, text, sizeof(text));
		put_alarm(out, c->holder, c->name, text);
	}
	return out;
}

/* Get recent events in the form of ListEvents, the oldest first. */
static struct json_object *make_events(const struct events *e)
{
	RdmaInc__V1__Events msg = RDMA_INC__V1__EVENTS__INIT;
	RdmaInc__V1__Event *list[EVENTS], events[EVENTS];
	const struct event *shown[EVENTS];
	size_t n = event_recent(e, shown, EVENTS);

	msg.events = list;
	while (n) {
		list[msg.n_events] = &events[msg.n_events];
		answer_fill_event(list[msg.n_events++], shown[--n]);
	}
	return am_json(&msg.base);
}

/* Make the state for EventSource: one line that begins with "data:". */
static char *make_state(struct web *w, int64_t now)
{
	RdmaInc__V1__GetTopologyRequest topo =
		RDMA_INC__V1__GET_TOPOLOGY_REQUEST__INIT;
	RdmaInc__V1__ListGroupsRequest groups =
		RDMA_INC__V1__LIST_GROUPS_REQUEST__INIT;
	struct json_object *out = json_object_new_object(), *topology;
	enum series_kind kind;

	topology = ask_manager(w->m, RPC_GET_TOPOLOGY, &topo.base,
			       &rdma_inc__v1__topology__descriptor);
	put_standby(out, w->m);
	json_object_object_add(out, "names", make_names(w, topology));
	json_object_object_add(out, "topology", topology);
	json_object_object_add(out, "cuts", links_update(w->m, now));
	json_object_object_add(out, "certificates",
			       make_expiry(w->st));
	json_object_object_add(out, "groups",
			       ask_manager(w->m, RPC_LIST_GROUPS, &groups.base,
					   &rdma_inc__v1__list_groups_response__descriptor));
	json_object_object_add(out, "events", make_events(&w->m->events));
	for (kind = 0; kind < SERIES_KINDS; kind++)
		put_tasks(w, out, kind);
	return copy_text(out, "data: ", "\n\n");
}

/* --- Links ---------------------------------------------------------------- */

static void put_label(FILE *f, struct json_object *link, const char *label,
		      const char *key)
{
	fprintf(f, "%s=\"", label);
	metrics_put_text(f, text_of(link, key));
	fputc('"', f);
}

/* Print present and missing links, for Prometheus; after links_update(). */
static void print_cuts(const struct manager *m, FILE *f)
{
	struct json_object *cut;

	if (json_object_object_length(m->links))
		fputs("# HELP inc_am_link_up Whether a link between switches that was there is there.\n# TYPE inc_am_link_up gauge\n",
		      f);
	json_object_object_foreach(m->links, name, link) {
		(void)name;
		fputs("inc_am_link_up{", f);
		put_label(f, link, "switch", "from-switch");
		put_label(f, link, ",interface", "from-interface");
		put_label(f, link, ",peer_switch", "to-switch");
		put_label(f, link, ",peer_interface", "to-interface");
		cut = json_object_object_get(link, "cut");
		fprintf(f, "} %d\n", !json_object_get_boolean(cut));
	}
}

/* --- The last hour -------------------------------------------------------- */

/* Returns NULL if there was no traffic in this hour. */
static struct json_object *make_line(const struct series *s)
{
	int64_t first = s->seconds - HISTORY_SECONDS, second;
	struct json_object *line = NULL;
	const struct sample *sample;
	double mean[MINUTES] = { 0 };
	bool any = false;
	int i;

	for (second = first; second < s->seconds; second++) {
		sample = series_at(s, second);
		if (!sample || sample->rx <= 0)
			continue;
		any = true;
		mean[(second - first) / MINUTE] += sample->rx / MINUTE;
	}
	if (!any)
		return NULL;
	line = json_object_new_array();
	for (i = 0; i < MINUTES; i++)
		json_object_array_add(line,
				      json_object_new_int64((int64_t)mean[i]));
	return line;
}

static struct json_object *tenants_list(struct json_object *of,
					const char *tenant)
{
	struct json_object *list;

	if (!json_object_object_get_ex(of, tenant, &list)) {
		list = json_object_new_object();
		json_object_object_add(of, tenant, list);
	}
	return list;
}

/*
 * Get the last hour of tasks, switches and clients, with a value for each minute:
 * the mean traffic from hosts. For each kind an object with a line, an array of
 * bytes per second, the oldest minute first, for each name that was not idle;
 * tasks are grouped by tenants. At most HISTORY_MAX objects have a history.
 */
static struct json_object *sum_history(const struct history *h)
{
	struct json_object *out = json_object_new_object(), *of[SERIES_KINDS];
	struct json_object *line, *list;
	const struct series *s;
	unsigned int i;

	for (i = 0; i < SERIES_KINDS; i++) {
		of[i] = json_object_new_object();
		json_object_object_add(out, series_kind_name(i), of[i]);
	}
	LIST_FOREACH(s, &h->all, next) {
		line = s->ring ? make_line(s) : NULL;
		if (!line)
			continue;
		list = s->kind == SERIES_TASK ?
		       tenants_list(of[s->kind], s->tenant) : of[s->kind];
		json_object_object_add(list, s->name, line);
	}
	return out;
}

/* --- All ------------------------------------------------------------------ */

static char *make_metrics(struct web *w)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	stats_metrics(w->st, f);
	print_cuts(w->m, f);
	fclose(f);
	return text;
}

static void publish_state(struct stats_watch *watch)
{
	struct web *w = container_of(watch, struct web, watch);
	int64_t begin = now_ms(), now = unix_ms();
	char *shown;

	if (begin < w->next)
		return;
	http_renew(w->http);
	shown = make_state(w, now);
	http_publish(w->http, shown, make_metrics(w));
	if (begin >= w->history_at) {
		http_publish_history(w->http,
				     copy_text(sum_history(&w->st->history),
					       "", ""));
		w->history_at = begin + HISTORY_MS;
	}
	w->next = begin + SHARE * (now_ms() - begin);
}

/* Offer the page, without a state. Returns the page, for web_stop(), or NULL. */
struct web *web_start(struct manager *m, struct stats *st, const char *address,
		      char *err, size_t len)
{
	struct web *w = calloc(1, sizeof(*w));

	if (!w) {
		snprintf(err, len, "no memory");
		return NULL;
	}
	w->http = http_start(address, inc_auth_is_loopback(address) ||
			     m->o.http_plaintext || m->o.security.plaintext ?
			     NULL : m->rpc, err, len);
	if (!w->http) {
		free(w);
		return NULL;
	}
	w->m = m;
	w->st = st;
	w->names = names_start();
	w->watch.tick = publish_state;
	stats_watch(st, &w->watch);
	return w;
}

/* Publish the first state. */
void web_publish(struct web *web)
{
	if (web)
		publish_state(&web->watch);
}

/* End all connections. */
void web_stop(struct web *web)
{
	if (!web)
		return;
	stats_ignore(web->st, &web->watch);
	http_stop(web->http);
	names_stop(web->names);
	free(web);
}
