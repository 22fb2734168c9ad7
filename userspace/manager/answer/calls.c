// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The function for each call of operators and clients; answers on the fabric
 * and on groups.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/answer.h"
#include "conf/array.h"
#include "fabric/fdb.h"
#include "group/group.h"
#include "health.pb-c.h"
#include "rdma_inc.pb-c.h"

/**
 * struct list - messages of one kind, for a repeated member of another
 * @n: number of messages
 * @p: pointers to the messages
 */
struct list {
	size_t	n;
	void	**p;
};

/* Append an uninitialized message; NULL: no memory. */
static void *append_message(struct list *list, size_t size)
{
	void *msg = ARRAY_ROOM(list->p, list->n) ? calloc(1, size) : NULL;

	if (msg)
		list->p[list->n++] = msg;
	return msg;
}

static void free_list(struct list *list)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		free(list->p[i]);
	free(list->p);
}

/* --- The fabric ---------------------------------------------------------- */

static void put_switch(struct list *list, const struct sw *sw)
{
	RdmaInc__V1__Switch *out = append_message(list, sizeof(*out));

	if (out)
		answer_fill_switch(out, sw);
}

static void put_link(struct list *list, const struct manager *m,
		     const struct topo_link *link)
{
	const struct sw_snapshot *a = m->fabric.switches[link->a].info;
	const struct sw_snapshot *b = m->fabric.switches[link->b].info;
	RdmaInc__V1__Link *out = append_message(list, sizeof(*out));

	if (!out)
		return;
	rdma_inc__v1__link__init(out);
	out->from_switch = (char *)a->id;
	out->to_switch = (char *)b->id;
	if (link->a_if != FDB_OWN)
		out->from_interface = a->ifs[link->a_if].name;
	if (link->b_if != FDB_OWN)
		out->to_interface = b->ifs[link->b_if].name;
	out->speed = link->speed;
	out->learnt = (char *)link->how;
	out->load = link->load;
}

static void put_host(void *ctx, const struct inc_rdv_addr *addr,
		     const struct sw *sw, const struct sw_if *itf)
{
	RdmaInc__V1__Host *out = sw ? append_message(ctx, sizeof(*out)) : NULL;

	if (!out)
		return;
	rdma_inc__v1__host__init(out);
	out->addr.data = (uint8_t *)addr->bytes;
	out->addr.len = addr->len;
	out->switch_id = sw->info->id;
	out->interface = (char *)itf->name;
}

/* Only operators may see others' load, and agents' addresses. */
static void hide_rest(const struct list *switches, const struct list *links)
{
	RdmaInc__V1__Switch *sw;
	RdmaInc__V1__Link *link;
	size_t i;

	for (i = 0; i < switches->n; i++) {
		sw = switches->p[i];
		sw->trees = 0;
		sw->memory_used = 0;
		sw->address = (char *)"";
		sw->why = (char *)protobuf_c_empty_string;
		sw->drained_by = (char *)protobuf_c_empty_string;
	}
	for (i = 0; i < links->n; i++) {
		link = links->p[i];
		link->load = 0;
	}
}

/* Mark switches that a caller may see: a client sees those of its groups. */
static bool *seen_switches(const struct manager *m, const struct rpc_answer *a)
{
	bool *seen = malloc(m->fabric.n * sizeof(*seen));
	const struct group *g;
	uint32_t i;

	if (!seen)
		return NULL;
	memset(seen, !answer_hides(a), m->fabric.n * sizeof(*seen));
	for (g = m->groups; g; g = g->next)
		for (i = 0; answer_sees(a, g) && i < g->nsubtrees; i++)
			seen[g->subtrees[i].sw->index] = true;
	return seen;
}

/* List the hosts of a client's groups, one entry for each rank. */
static void put_own_hosts(struct list *hosts, const struct manager *m,
			  const struct rpc_answer *a)
{
	const struct inc_rdv_addr *addr;
	const struct sw_if *itf;
	const struct group *g;
	const struct sw *sw;
	uint32_t i;

	for (g = m->groups; g; g = g->next)
		for (i = 0; answer_sees(a, g) && i < g->request.ranks; i++) {
			if (g->ranks[i].core.state != RANK_PRESENT)
				continue;
			addr = &g->ranks[i].join.addr;
			sw = topo_find(&m->fabric, addr, &itf);
			if (sw && itf)
				put_host(hosts, addr, sw, itf);
		}
}

static void get_topology(struct manager *m, const void *msg,
			 struct rpc_stream *stream, struct rpc_answer *a)
{
	RdmaInc__V1__Topology out = RDMA_INC__V1__TOPOLOGY__INIT;
	struct list switches = { 0 }, hosts = { 0 }, links = { 0 };
	bool *seen = seen_switches(m, a);
	const struct topo_link *link;
	uint32_t i, n;

	for (i = 0; seen && i < m->fabric.n; i++)
		if (seen[i] && !m->fabric.switches[i].gone)
			put_switch(&switches, &m->fabric.switches[i]);
	link = topo_links(&m->fabric, &n);
	for (i = 0; seen && i < n; i++)
		if (seen[link[i].a] && seen[link[i].b])
			put_link(&links, m, &link[i]);
	if (answer_hides(a)) {
		put_own_hosts(&hosts, m, a);
		hide_rest(&switches, &links);
	} else {
		topo_hosts(&m->fabric, put_host, &hosts);
	}
	free(seen);
	out.n_switches = switches.n;
	out.switches = (RdmaInc__V1__Switch **)switches.p;
	out.n_hosts = hosts.n;
	out.hosts = (RdmaInc__V1__Host **)hosts.p;
	out.n_links = links.n;
	out.links = (RdmaInc__V1__Link **)links.p;
	answer_reply(a, &out.base);
	free_list(&switches);
	free_list(&hosts);
	free_list(&links);
}

/* --- Groups -------------------------------------------------------------- */

static void put_subtree(struct list *list, const struct group *g,
			const struct subtree *subtree)
{
	RdmaInc__V1__TreePart *out = append_message(list, sizeof(*out));
	uint32_t i, end = subtree->first + subtree->count;
	ProtobufCBinaryData *host;

	if (!out)
		return;
	rdma_inc__v1__tree_part__init(out);
	out->switch_id = (char *)sw_name(subtree->sw);
	out->tree_id = subtree->tree.id;
	out->parent = (char *)(subtree->parent ?
			       sw_name(subtree->parent->sw) : "");
	out->ranks = calloc(subtree->count, sizeof(*out->ranks));
	out->hosts = calloc(subtree->count, sizeof(*out->hosts));
	for (i = subtree->first; out->ranks && out->hosts && i < end; i++) {
		if (g->ranks[i].subtree != subtree)
			continue;
		out->ranks[out->n_ranks++] = i;
		host = &out->hosts[out->n_hosts++];
		host->data = (uint8_t *)g->ranks[i].join.addr.bytes;
		host->len = g->ranks[i].join.addr.len;
	}
}

static void put_group(struct list *list, const struct group *g)
{
	RdmaInc__V1__Group *out = append_message(list, sizeof(*out));
	struct list subtrees = { 0 };
	uint32_t i;

	if (!out)
		return;
	rdma_inc__v1__group__init(out);
	out->tenant = g->tenant->name;
	out->name = (char *)g->name;
	out->state = (char *)answer_state(g);
	out->ranks = g->request.ranks;
	out->present = g->core.present;
	out->by_cm = cm_count(g);
	for (i = 0; i < g->nsubtrees; i++)
		put_subtree(&subtrees, g, &g->subtrees[i]);
	out->n_tree = subtrees.n;
	out->tree = (RdmaInc__V1__TreePart **)subtrees.p;
}

static void drop_groups(struct list *list)
{
	RdmaInc__V1__Group *group;
	size_t i, k;

	for (i = 0; i < list->n; i++) {
		group = list->p[i];
		for (k = 0; k < group->n_tree; k++) {
			free(group->tree[k]->ranks);
			free(group->tree[k]->hosts);
			free(group->tree[k]);
		}
		free(group->tree);
	}
	free_list(list);
}

static void list_groups(struct manager *m, const void *msg,
			struct rpc_stream *stream, struct rpc_answer *a)
{
	RdmaInc__V1__ListGroupsResponse out =
		RDMA_INC__V1__LIST_GROUPS_RESPONSE__INIT;
	struct list list = { 0 };
	const struct group *g;

	for (g = m->groups; g; g = g->next)
		if (answer_sees(a, g) && !group_is_hidden(g))
			put_group(&list, g);
	out.n_groups = list.n;
	out.groups = (RdmaInc__V1__Group **)list.p;
	answer_reply(a, &out.base);
	drop_groups(&list);
}

static void get_group(struct manager *m, const void *msg,
		      struct rpc_stream *stream, struct rpc_answer *a)
{
	const struct group *g = answer_group(m, msg, a);
	struct list list = { 0 };

	if (!g)
		return;
	put_group(&list, g);
	if (list.n)
		answer_reply(a, &((RdmaInc__V1__Group *)list.p[0])->base);
	else
		answer_refuse(a, ENOMEM, "no memory");
	drop_groups(&list);
}

static void delete_group(struct manager *m, const void *msg,
			 struct rpc_stream *stream, struct rpc_answer *a)
{
	RdmaInc__V1__DeleteGroupResponse out =
		RDMA_INC__V1__DELETE_GROUP_RESPONSE__INIT;
	struct group *g = answer_group(m, msg, a);
	char why[IDENTITY_LEN + 64];

	if (!g)
		return;
	snprintf(why, sizeof(why), "operator %s has deleted the group",
		 answer_by(a));
	group_delete(g, why);
	group_settle(g->manager);
	answer_reply(a, &out.base);
}

/* --- All ----------------------------------------------------------------- */

#define REQUEST(name)	&rdma_inc__v1__##name##_request__descriptor
/*
 * Also for requests without members: an empty one parses as one with an empty
 * name, and unknown members do no harm.
 */
#define GROUP		REQUEST(get_group)
#define HEALTH		&grpc__health__v1__health_check_request__descriptor

/*
 * struct call - a method
 * @request: type of its request
 * @answer: function that answers it
 * @writes: the answer waits until its changes are stored
 */
static const struct call {
	const ProtobufCMessageDescriptor	*request;
	answer_fn				*answer;
	bool					writes;
} calls[RPC_METHODS] = {
	[RPC_GET_TOPOLOGY]	 = { GROUP, get_topology, false },
	[RPC_LIST_GROUPS]	 = { GROUP, list_groups, false },
	[RPC_GET_GROUP]		 = { GROUP, get_group, false },
	[RPC_DELETE_GROUP]	 = { GROUP, delete_group, false },
	[RPC_MOVE_GROUP]	 = { REQUEST(move_group), answer_move, false },
	[RPC_LIST_EVENTS]	 = { REQUEST(events), answer_events, false },
	[RPC_WATCH_EVENTS]	 = { REQUEST(events), answer_watch_events, false },
	[RPC_WHY_GROUP]		 = { GROUP, answer_why, false },
	[RPC_LIST_TASKS]	 = { REQUEST(tasks), answer_tasks, false },
	[RPC_WATCH_TASKS]	 = { REQUEST(tasks), answer_watch_tasks, false },
	[RPC_GET_HISTORY]	 = { REQUEST(tasks), answer_history, false },
	[RPC_LIST_QUOTAS]	 = { REQUEST(list_quotas), answer_quotas, false },
	[RPC_ADD_RESERVATION]	 = { &rdma_inc__v1__reservation__descriptor,
				     answer_reserve, true },
	[RPC_DELETE_RESERVATION] = { REQUEST(reservation), answer_unreserve, true },
	[RPC_LIST_RESERVATIONS]	 = { REQUEST(reservation), answer_reservations,
				     false },
	[RPC_DRAIN_SWITCH]	 = { REQUEST(switch), answer_drain_switch, true },
	[RPC_RESUME_SWITCH]	 = { REQUEST(switch), answer_resume_switch, true },
	[RPC_RENAME_SWITCH]	 = { REQUEST(rename_switch), answer_rename_switch,
				     false },
	[RPC_HEALTH_CHECK]	 = { HEALTH, answer_health, false },
	[RPC_HEALTH_WATCH]	 = { HEALTH, answer_watch_health, false },
};

/*
 * Answer a request, if this manager leads; health is answered always.
 * @stream: stream for the answer, if the method has one
 */
void answer_call(void *ctx, enum rpc_method method, const uint8_t *data,
		 size_t len, struct rpc_stream *stream,
		 struct rpc_answer *answer)
{
	const struct call *call = &calls[method];
	bool health = call->request == HEALTH;
	struct manager *m = ctx;
	uint64_t since = state_writes(m);
	ProtobufCMessage *req;

	if (!health && state_refuses(m, answer->text, sizeof(answer->text))) {
		answer->err = EHOSTUNREACH;
		return;
	}
	req = protobuf_c_message_unpack(call->request, NULL, len, data);
	if (!req) {
		answer_refuse(answer, EINVAL, health ?
			      "the request is no HealthCheckRequest" :
			      "the request is no message of rdma_inc.proto");
		return;
	}
	if (!call->writes || answer_may_store(m, answer))
		call->answer(m, req, stream, answer);
	protobuf_c_message_free_unpacked(req, NULL);
	if (call->writes)
		answer_stored(m, stream, answer, since);
}
