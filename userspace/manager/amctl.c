// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * inc-amctl: shows what an aggregation manager knows, and dismantles groups.
 */
#include <errno.h>
#include <getopt.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "amctl.h"
#include "message.h"
#include "rdma_inc.pb-c.h"

#define TIMEOUT_MS	5000

static const char usage[] =
	"Usage: inc-amctl [OPTIONS] COMMAND\n"
	"\n"
	"  topology           switches, hosts and links\n"
	"  group show [NAME]  all groups, or one: its tree and ranks\n"
	"  group del NAME     dismantle a group; its ranks are told\n"
	"\n"
	"  -m, --manager HOST[:PORT]  default: INC_AM, else 127.0.0.1:" AM_PORT "\n"
	"  -j, --json                 print JSON\n"
	"  -h, --help                 this text\n"
	"  -V, --version\n"
	"\n"
	"Exit status: 0; 1: the manager has refused or was not reached; 2: wrong\n"
	"command line.\n";

static const char *manager;
static bool json;

static int wrong(const char *what)
{
	fprintf(stderr, "inc-amctl: %s; \"inc-amctl --help\" lists the commands\n",
		what);
	return 2;
}

/* Send a request; returns the answer's bytes, or NULL after a message. */
static uint8_t *ask(const char *method, const ProtobufCMessage *req,
		    size_t *len)
{
	size_t n = protobuf_c_message_get_packed_size(req);
	uint8_t *in = malloc(n + 1), *out = NULL;
	char err[512] = "no memory";
	int ret = -ENOMEM;

	if (in) {
		protobuf_c_message_pack(req, in);
		ret = amctl_call(manager, method, TIMEOUT_MS, in, n, &out, len,
				 err, sizeof(err));
	}
	free(in);
	if (!ret && out)
		return out;
	free(out);
	fprintf(stderr, "inc-amctl: manager %s: %s\n", manager, err);
	return NULL;
}

static void print_json(struct json_object *obj)
{
	puts(json_object_to_json_string_ext(obj, JSON_C_TO_STRING_PRETTY |
						 JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(obj);
}

static void put_text(struct json_object *obj, const char *name,
		     const char *text)
{
	json_object_object_add(obj, name, json_object_new_string(text));
}

static void put_number(struct json_object *obj, const char *name,
		       uint64_t value)
{
	json_object_object_add(obj, name, json_object_new_uint64(value));
}

/* --- topology ------------------------------------------------------------ */

static const char *addr_text(const ProtobufCBinaryData *data, char *buf,
			     size_t len)
{
	struct inc_rdv_addr addr = { .len = (unsigned int)data->len };

	if (data->len != 4 && data->len != 16)
		return "?";
	memcpy(addr.bytes, data->data, data->len);
	return inc_rdv_addr_str(&addr, buf, len);
}

static struct json_object *topology_json(const RdmaInc__V1__Topology *t)
{
	struct json_object *out = json_object_new_object(), *obj, *list;
	char text[64];
	size_t i;

	list = json_object_new_array();
	json_object_object_add(out, "switches", list);
	for (i = 0; i < t->n_switches; i++) {
		obj = json_object_new_object();
		json_object_array_add(list, obj);
		put_text(obj, "id", t->switches[i]->id);
		put_text(obj, "address", t->switches[i]->address);
		put_text(obj, "state", t->switches[i]->state);
		put_number(obj, "trees", t->switches[i]->trees);
		put_number(obj, "max-trees", t->switches[i]->max_trees);
		put_number(obj, "memory-used", t->switches[i]->memory_used);
		put_number(obj, "memory-limit", t->switches[i]->memory_limit);
	}
	list = json_object_new_array();
	json_object_object_add(out, "hosts", list);
	for (i = 0; i < t->n_hosts; i++) {
		obj = json_object_new_object();
		json_object_array_add(list, obj);
		put_text(obj, "address", addr_text(&t->hosts[i]->addr, text,
						   sizeof(text)));
		put_text(obj, "switch", t->hosts[i]->switch_id);
		put_text(obj, "interface", t->hosts[i]->interface);
	}
	list = json_object_new_array();
	json_object_object_add(out, "links", list);
	for (i = 0; i < t->n_links; i++) {
		obj = json_object_new_object();
		json_object_array_add(list, obj);
		put_text(obj, "from", t->links[i]->from_switch);
		put_text(obj, "from-interface", t->links[i]->from_interface);
		put_text(obj, "to", t->links[i]->to_switch);
		put_text(obj, "to-interface", t->links[i]->to_interface);
		put_number(obj, "speed", t->links[i]->speed);
	}
	return out;
}

static void topology_text(const RdmaInc__V1__Topology *t)
{
	const RdmaInc__V1__Switch *s;
	char text[64];
	size_t i;

	for (i = 0; i < t->n_switches; i++) {
		s = t->switches[i];
		printf("switch %s at %s: %s", s->id[0] ? s->id : "?",
		       s->address, s->state);
		if (!strcmp(s->state, "up"))
			printf(", %u trees, %llu of %llu MiB used", s->trees,
			       (unsigned long long)s->memory_used >> 20,
			       (unsigned long long)s->memory_limit >> 20);
		putchar('\n');
	}
	for (i = 0; i < t->n_links; i++)
		printf("link %s %s - %s %s\n", t->links[i]->from_switch,
		       t->links[i]->from_interface, t->links[i]->to_switch,
		       t->links[i]->to_interface);
	for (i = 0; i < t->n_hosts; i++)
		printf("host %s at %s %s\n",
		       addr_text(&t->hosts[i]->addr, text, sizeof(text)),
		       t->hosts[i]->switch_id, t->hosts[i]->interface);
}

static int topology(void)
{
	RdmaInc__V1__GetTopologyRequest req =
		RDMA_INC__V1__GET_TOPOLOGY_REQUEST__INIT;
	RdmaInc__V1__Topology *t = NULL;
	uint8_t *data;
	size_t len;

	data = ask("GetTopology", &req.base, &len);
	if (data)
		t = rdma_inc__v1__topology__unpack(NULL, len, data);
	free(data);
	if (!t)
		return 1;
	if (json)
		print_json(topology_json(t));
	else
		topology_text(t);
	rdma_inc__v1__topology__free_unpacked(t, NULL);
	return 0;
}

/* --- group --------------------------------------------------------------- */

static void put_rank(struct json_object *list, uint32_t rank)
{
	json_object_array_add(list, json_object_new_int64(rank));
}

static struct json_object *group_json(const RdmaInc__V1__Group *g)
{
	struct json_object *obj = json_object_new_object(), *part, *ranks;
	struct json_object *tree = json_object_new_array();
	size_t i, k;

	put_text(obj, "name", g->name);
	put_text(obj, "state", g->state);
	put_number(obj, "ranks", g->ranks);
	put_number(obj, "present", g->present);
	json_object_object_add(obj, "tree", tree);
	for (i = 0; i < g->n_tree; i++) {
		part = json_object_new_object();
		json_object_array_add(tree, part);
		put_text(part, "switch", g->tree[i]->switch_id);
		put_number(part, "tree-id", g->tree[i]->tree_id);
		put_text(part, "parent", g->tree[i]->parent);
		ranks = json_object_new_array();
		json_object_object_add(part, "ranks", ranks);
		for (k = 0; k < g->tree[i]->n_ranks; k++)
			put_rank(ranks, g->tree[i]->ranks[k]);
	}
	return obj;
}

/* Consecutive ranks as "0-3". */
static void print_ranks(const uint32_t *ranks, size_t n)
{
	size_t i, from;

	for (i = 0; i < n; i++) {
		from = i;
		while (i + 1 < n && ranks[i + 1] == ranks[i] + 1)
			i++;
		printf(i > from ? "%s%u-%u" : "%s%u", from ? "," : "",
		       ranks[from], ranks[i]);
	}
}

static void group_text(const RdmaInc__V1__Group *g)
{
	size_t i;

	printf("group %s: %s, %u of %u ranks\n", g->name, g->state, g->present,
	       g->ranks);
	for (i = 0; i < g->n_tree; i++) {
		printf("  switch %s, tree %u", g->tree[i]->switch_id,
		       g->tree[i]->tree_id);
		if (g->tree[i]->parent[0])
			printf(", below %s", g->tree[i]->parent);
		if (g->tree[i]->n_ranks)
			printf(", ranks ");
		print_ranks(g->tree[i]->ranks, g->tree[i]->n_ranks);
		putchar('\n');
	}
}

static int group_list(void)
{
	RdmaInc__V1__ListGroupsRequest req =
		RDMA_INC__V1__LIST_GROUPS_REQUEST__INIT;
	RdmaInc__V1__ListGroupsResponse *list = NULL;
	struct json_object *out;
	uint8_t *data;
	size_t len, i;

	data = ask("ListGroups", &req.base, &len);
	if (data)
		list = rdma_inc__v1__list_groups_response__unpack(NULL, len,
								  data);
	free(data);
	if (!list)
		return 1;
	out = json ? json_object_new_array() : NULL;
	for (i = 0; i < list->n_groups; i++) {
		if (out)
			json_object_array_add(out, group_json(list->groups[i]));
		else
			group_text(list->groups[i]);
	}
	if (out)
		print_json(out);
	rdma_inc__v1__list_groups_response__free_unpacked(list, NULL);
	return 0;
}

static int group_show(const char *name)
{
	RdmaInc__V1__GetGroupRequest req = RDMA_INC__V1__GET_GROUP_REQUEST__INIT;
	RdmaInc__V1__Group *g = NULL;
	uint8_t *data;
	size_t len;

	req.name = (char *)name;
	data = ask("GetGroup", &req.base, &len);
	if (data)
		g = rdma_inc__v1__group__unpack(NULL, len, data);
	free(data);
	if (!g)
		return 1;
	if (json)
		print_json(group_json(g));
	else
		group_text(g);
	rdma_inc__v1__group__free_unpacked(g, NULL);
	return 0;
}

static int group_del(const char *name)
{
	RdmaInc__V1__DeleteGroupRequest req =
		RDMA_INC__V1__DELETE_GROUP_REQUEST__INIT;
	uint8_t *data;
	size_t len;

	req.name = (char *)name;
	data = ask("DeleteGroup", &req.base, &len);
	if (!data)
		return 1;
	free(data);
	return 0;
}

static int group_command(int argc, char **argv)
{
	bool show = !argc || !strcmp(argv[0], "show");

	if (!show && strcmp(argv[0], "del"))
		return wrong("group: must be show or del");
	if (argc > 2)
		return wrong("group: one name at most");
	if (show)
		return argc == 2 ? group_show(argv[1]) : group_list();
	return argc == 2 ? group_del(argv[1]) : wrong("group del: which one?");
}

/* --- Command line -------------------------------------------------------- */

/* Add the port if there is none. An IPv6 address with a port has brackets. */
static const char *with_port(const char *addr)
{
	const char *colon = strchr(addr, ':');
	char *text;

	if (addr[0] == '[' ? !!strstr(addr, "]:") :
	    colon && colon == strrchr(addr, ':'))
		return addr;
	if (asprintf(&text, addr[0] != '[' && colon ? "[%s]:%s" : "%s:%s", addr,
		     AM_PORT) < 0)
		return addr;
	return text;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "manager",	required_argument,	NULL, 'm' },
		{ "json",	no_argument,		NULL, 'j' },
		{ "help",	no_argument,		NULL, 'h' },
		{ "version",	no_argument,		NULL, 'V' },
		{ NULL, 0, NULL, 0 }
	};
	int opt;

	manager = getenv("INC_AM");
	while ((opt = getopt_long(argc, argv, "m:jhV", longs, NULL)) != -1) {
		if (opt == 'm')
			manager = optarg;
		else if (opt == 'j')
			json = true;
		else if (opt == 'h')
			return fputs(usage, stdout) < 0;
		else if (opt == 'V')
			return puts("inc-amctl " AM_VERSION) < 0;
		else
			return wrong("wrong option");
	}
	manager = with_port(manager && *manager ? manager : "127.0.0.1");
	argv += optind;
	argc -= optind;
	if (argc == 1 && !strcmp(argv[0], "topology"))
		return topology();
	if (argc && !strcmp(argv[0], "group"))
		return group_command(argc - 1, argv + 1);
	return wrong(argc ? "no such command" : "which command?");
}
