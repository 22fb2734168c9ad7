// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Answers to operators: the fabric, and groups.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group.h"
#include "rdma_inc.pb-c.h"

static void refuse(struct rpc_answer *a, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void refuse(struct rpc_answer *a, int err, const char *fmt, ...)
{
	va_list ap;

	a->err = err;
	va_start(ap, fmt);
	vsnprintf(a->text, sizeof(a->text), fmt, ap);
	va_end(ap);
}

static void reply(struct rpc_answer *a, const ProtobufCMessage *msg)
{
	a->len = protobuf_c_message_get_packed_size(msg);
	a->data = malloc(a->len + 1);
	if (a->data)
		protobuf_c_message_pack(msg, a->data);
	else
		refuse(a, ENOMEM, "no memory");
}

/**
 * struct list - messages of one kind, for a repeated member of another
 * @n: their number
 * @p: pointers to them
 */
struct list {
	size_t	n;
	void	**p;
};

/* Append a message that is still to be initialized; NULL: no memory. */
static void *append(struct list *list, size_t size)
{
	void **p = realloc(list->p, (list->n + 1) * sizeof(*p));
	void *msg = calloc(1, size);

	if (p)
		list->p = p;
	if (!p || !msg) {
		free(msg);
		return NULL;
	}
	p[list->n++] = msg;
	return msg;
}

static void drop(struct list *list)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		free(list->p[i]);
	free(list->p);
}

/* --- The fabric ---------------------------------------------------------- */

static void put_switch(struct list *list, const struct sw *sw)
{
	RdmaInc__V1__Switch *out = append(list, sizeof(*out));

	if (!out)
		return;
	rdma_inc__v1__switch__init(out);
	out->id = (char *)(sw->info ? sw->info->id : "");
	out->address = (char *)sw->address;
	out->state = (char *)(sw->up ? "up" : sw->why);
	if (!sw->info)
		return;
	out->collectives = sw->info->collectives;
	out->memory_limit = sw->info->memory_limit;
	out->memory_used = sw->info->memory_used;
	out->max_trees = sw->info->max_trees;
	out->trees = sw->info->ntrees;
}

static void put_link(struct list *list, const struct manager *m,
		     const struct sw *sw, const struct sw_if *itf)
{
	const struct sw_if *other;
	const struct sw *peer = topo_behind(m, sw, itf, &other);
	RdmaInc__V1__Link *out;

	/* Each link once. */
	if (!peer || peer < sw)
		return;
	out = append(list, sizeof(*out));
	if (!out)
		return;
	rdma_inc__v1__link__init(out);
	out->from_switch = sw->info->id;
	out->from_interface = (char *)itf->name;
	out->to_switch = peer->info->id;
	out->to_interface = (char *)other->name;
	out->speed = itf->speed;
}

static bool is_listed(const struct list *list, const struct inc_rdv_addr *addr)
{
	const RdmaInc__V1__Host *host;
	size_t i;

	for (i = 0; i < list->n; i++) {
		host = list->p[i];
		if (host->addr.len == addr->len &&
		    !memcmp(host->addr.data, addr->bytes, addr->len))
			return true;
	}
	return false;
}

/* Hosts whose address a switch knows, wherever they are. */
static void put_hosts(struct list *list, const struct manager *m,
		      const struct sw_neigh *neigh)
{
	const struct sw_if *itf;
	const struct sw *sw;
	RdmaInc__V1__Host *out;
	unsigned int i;

	for (i = 0; i < neigh->naddrs; i++) {
		sw = topo_find(m, &neigh->addrs[i], &itf);
		if (!sw || !itf || is_listed(list, &neigh->addrs[i]))
			continue;
		out = append(list, sizeof(*out));
		if (!out)
			return;
		rdma_inc__v1__host__init(out);
		out->addr.data = neigh->addrs[i].bytes;
		out->addr.len = neigh->addrs[i].len;
		out->switch_id = sw->info->id;
		out->interface = (char *)itf->name;
	}
}

static void put_interfaces(struct list *hosts, struct list *links,
			   const struct manager *m, const struct sw *sw)
{
	const struct sw_if *itf;
	unsigned int i, k;

	for (i = 0; sw->info && i < sw->info->nifs; i++) {
		itf = &sw->info->ifs[i];
		put_link(links, m, sw, itf);
		for (k = 0; k < itf->nneighs; k++)
			put_hosts(hosts, m, &itf->neighs[k]);
	}
}

static void get_topology(const struct manager *m, struct rpc_answer *a)
{
	RdmaInc__V1__Topology out = RDMA_INC__V1__TOPOLOGY__INIT;
	struct list switches = { 0 }, hosts = { 0 }, links = { 0 };
	unsigned int i;

	for (i = 0; i < m->o.nswitches; i++) {
		put_switch(&switches, &m->switches[i]);
		put_interfaces(&hosts, &links, m, &m->switches[i]);
	}
	out.n_switches = switches.n;
	out.switches = (RdmaInc__V1__Switch **)switches.p;
	out.n_hosts = hosts.n;
	out.hosts = (RdmaInc__V1__Host **)hosts.p;
	out.n_links = links.n;
	out.links = (RdmaInc__V1__Link **)links.p;
	reply(a, &out.base);
	drop(&switches);
	drop(&hosts);
	drop(&links);
}

/* --- Groups -------------------------------------------------------------- */

static const char *state_of(const struct group *g)
{
	if (g->ending)
		return "ending";
	return g->state == GROUP_READY ? "ready" : "forming";
}

static void put_part(struct list *list, const struct group *g,
		     const struct part *part)
{
	RdmaInc__V1__TreePart *out = append(list, sizeof(*out));
	uint32_t i;

	if (!out)
		return;
	rdma_inc__v1__tree_part__init(out);
	out->switch_id = (char *)sw_name(part->sw);
	out->tree_id = part->tree.id;
	out->parent = (char *)(part->parent ? sw_name(part->parent->sw) : "");
	out->ranks = calloc(g->like.ranks, sizeof(*out->ranks));
	for (i = 0; out->ranks && i < g->like.ranks; i++)
		if (g->ranks[i].part == part)
			out->ranks[out->n_ranks++] = i;
}

static void put_group(struct list *list, const struct group *g)
{
	RdmaInc__V1__Group *out = append(list, sizeof(*out));
	struct list parts = { 0 };
	uint32_t i;

	if (!out)
		return;
	rdma_inc__v1__group__init(out);
	out->name = (char *)g->like.job;
	out->state = (char *)state_of(g);
	out->ranks = g->like.ranks;
	out->present = g->present;
	for (i = 0; i < g->nparts; i++)
		put_part(&parts, g, &g->parts[i]);
	out->n_tree = parts.n;
	out->tree = (RdmaInc__V1__TreePart **)parts.p;
}

static void drop_groups(struct list *list)
{
	RdmaInc__V1__Group *group;
	size_t i, k;

	for (i = 0; i < list->n; i++) {
		group = list->p[i];
		for (k = 0; k < group->n_tree; k++) {
			free(group->tree[k]->ranks);
			free(group->tree[k]);
		}
		free(group->tree);
	}
	drop(list);
}

/* One that is ending only if there is no other. */
static struct group *find(const struct manager *m, const char *name)
{
	struct group *g, *found = NULL;

	for (g = m->groups; g; g = g->next)
		if (!strcmp(g->like.job, name) && (!found || !g->ending))
			found = g;
	return found;
}

static void list_groups(const struct manager *m, struct rpc_answer *a)
{
	RdmaInc__V1__ListGroupsResponse out =
		RDMA_INC__V1__LIST_GROUPS_RESPONSE__INIT;
	struct list list = { 0 };
	const struct group *g;

	for (g = m->groups; g; g = g->next)
		put_group(&list, g);
	out.n_groups = list.n;
	out.groups = (RdmaInc__V1__Group **)list.p;
	reply(a, &out.base);
	drop_groups(&list);
}

static void get_group(const struct manager *m, const char *name,
		      struct rpc_answer *a)
{
	const struct group *g = find(m, name);
	struct list list = { 0 };

	if (!g) {
		refuse(a, ENOENT, "there is no group \"%.63s\"", name);
		return;
	}
	put_group(&list, g);
	if (list.n)
		reply(a, &((RdmaInc__V1__Group *)list.p[0])->base);
	else
		refuse(a, ENOMEM, "no memory");
	drop_groups(&list);
}

static void delete_group(const struct manager *m, const char *name,
			 struct rpc_answer *a)
{
	RdmaInc__V1__DeleteGroupResponse out =
		RDMA_INC__V1__DELETE_GROUP_RESPONSE__INIT;
	struct group *g = find(m, name);

	if (!g) {
		refuse(a, ENOENT, "there is no group \"%.63s\"", name);
		return;
	}
	group_delete(g, "an operator has deleted the group");
	reply(a, &out.base);
}

/**
 * answer_call() - answer a request
 * @ctx: manager
 * @method: what is requested
 * @data: the request's bytes
 * @len: their number
 * @answer: answer
 */
void answer_call(void *ctx, enum rpc_method method, const uint8_t *data,
		 size_t len, struct rpc_answer *answer)
{
	RdmaInc__V1__GetGroupRequest *req;
	const struct manager *m = ctx;

	/*
	 * All requests have a group's name or nothing: one of nothing is one
	 * with an empty name, and unknown members do no harm.
	 */
	req = rdma_inc__v1__get_group_request__unpack(NULL, len, data);
	if (!req) {
		refuse(answer, EINVAL, "the request is no message of rdma_inc.proto");
		return;
	}
	switch (method) {
	case RPC_GET_TOPOLOGY:
		get_topology(m, answer);
		break;
	case RPC_LIST_GROUPS:
		list_groups(m, answer);
		break;
	case RPC_GET_GROUP:
		get_group(m, req->name, answer);
		break;
	case RPC_DELETE_GROUP:
		delete_group(m, req->name, answer);
		break;
	case RPC_METHODS:
		break;
	}
	rdma_inc__v1__get_group_request__free_unpacked(req, NULL);
}
