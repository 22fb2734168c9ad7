// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* inc-amctl group, and why. */
#include <stdio.h>
#include <string.h>

#include "ctl/amctl.h"
#include "rdma_inc.pb-c.h"

/* Print ranks, consecutive ones as "0-3". */
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

/* Valid once there is a tree: by then, all ranks have reported it. */
static void print_connected(uint32_t ranks, uint32_t by_cm)
{
	if (by_cm && by_cm < ranks)
		printf("  queue pairs: %u connected by RDMA CM, %u by the manager\n",
		       by_cm, ranks - by_cm);
	else
		printf("  queue pairs: connected by %s\n",
		       by_cm ? "RDMA CM" : "the manager");
}

static void print_group(const RdmaInc__V1__Group *g)
{
	size_t i;

	printf("group %s: %s, %u of %u ranks", g->name, g->state, g->present,
	       g->ranks);
	printf(g->tenant[0] ? ", tenant %s\n" : "\n", g->tenant);
	if (g->n_tree)
		print_connected(g->ranks, g->by_cm);
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

static void print_groups(const ProtobufCMessage *msg)
{
	const RdmaInc__V1__ListGroupsResponse *list =
		(const RdmaInc__V1__ListGroupsResponse *)msg;
	size_t i;

	for (i = 0; i < list->n_groups; i++)
		print_group(list->groups[i]);
}

static int list_groups(void)
{
	RdmaInc__V1__ListGroupsRequest req =
		RDMA_INC__V1__LIST_GROUPS_REQUEST__INIT;

	return ctl_show("ListGroups", &req.base,
			&rdma_inc__v1__list_groups_response__descriptor,
			"groups", print_groups);
}

static RdmaInc__V1__GetGroupRequest request_of(char **name)
{
	RdmaInc__V1__GetGroupRequest req = RDMA_INC__V1__GET_GROUP_REQUEST__INIT;

	req.name = name[0];
	/* A missing tenant is NULL, the end of main()'s arguments. */
	if (name[1])
		req.tenant = name[1];
	return req;
}

static ProtobufCMessage *ask_of(const char *method, char **name,
				const ProtobufCMessageDescriptor *type)
{
	RdmaInc__V1__GetGroupRequest req = request_of(name);

	return ctl_ask(method, &req.base, type);
}

/* Print an array, as if all groups were shown. */
static void print_json_list(ProtobufCMessage *g)
{
	RdmaInc__V1__ListGroupsResponse list =
		RDMA_INC__V1__LIST_GROUPS_RESPONSE__INIT;
	RdmaInc__V1__Group *one = (RdmaInc__V1__Group *)g;

	list.groups = &one;
	list.n_groups = 1;
	ctl_print_json(&list.base, "groups");
}

static int show_group(char **name)
{
	ProtobufCMessage *g = ask_of("GetGroup", name,
				     &rdma_inc__v1__group__descriptor);

	if (!g)
		return CTL_REFUSED;
	if (ctl_json)
		print_json_list(g);
	else
		print_group((const RdmaInc__V1__Group *)g);
	ctl_free(g);
	return CTL_OK;
}

static int delete_group(char **name)
{
	const ProtobufCMessageDescriptor *type =
		&rdma_inc__v1__delete_group_response__descriptor;
	ProtobufCMessage *g = NULL, *ans = NULL;

	/* Get the group first: afterwards it is unknown. */
	if (ctl_json)
		g = ask_of("GetGroup", name, &rdma_inc__v1__group__descriptor);
	if (g || !ctl_json)
		ans = ask_of("DeleteGroup", name, type);
	if (g && ans)
		ctl_print_json(g, NULL);
	ctl_free(ans);
	ctl_free(g);
	return ans ? CTL_OK : CTL_REFUSED;
}

/* Take a move's words after the name: [TENANT] [to SWITCH]. Returns the exit status. */
static int move_group(char *name, int argc, char **argv)
{
	RdmaInc__V1__MoveGroupRequest req = RDMA_INC__V1__MOVE_GROUP_REQUEST__INIT;
	ProtobufCMessage *ans;

	req.name = name;
	if (argc && strcmp(argv[0], "to")) {
		req.tenant = argv[0];
		argc--;
		argv++;
	}
	if (argc == 2 && !strcmp(argv[0], "to"))
		req.switch_ = argv[1];
	else if (argc)
		return ctl_wrong("group %s move: \"%s\" is not \"to SWITCH\"", name,
				 argv[0]);
	ans = ctl_ask("MoveGroup", &req.base,
		      &rdma_inc__v1__move_group_response__descriptor);
	if (!ans)
		return CTL_REFUSED;
	if (ctl_json)
		ctl_print_json(ans, NULL);
	else
		printf("group %s: moves%s%s; \"inc-amctl event\" says when it has\n",
		       name, req.switch_[0] ? " to " : "", req.switch_);
	ctl_free(ans);
	return CTL_OK;
}

static int run_group(int argc, char **argv)
{
	if (!argc)
		return list_groups();
	if (argc > 1 && !strcmp(argv[0], "move"))
		return move_group(argv[1], argc - 2, argv + 2);
	if (argc > 1 && !strcmp(argv[1], "move"))
		return move_group(argv[0], argc - 2, argv + 2);
	if (!strcmp(argv[0], "move"))
		return ctl_wrong("group move: which one? \"inc-amctl group\" lists them");
	if (argc > 3)
		return ctl_wrong("group %s: one name, and its tenant, at most",
				 argv[0]);
	if (ctl_is(argv[0], "show") || ctl_is(argv[0], "list"))
		return argc > 1 ? show_group(argv + 1) : list_groups();
	if (!ctl_is(argv[0], "delete"))
		return ctl_wrong("group: \"%s\" is neither show nor del nor move",
				 argv[0]);
	return argc > 1 ? delete_group(argv + 1) :
			   ctl_wrong("group del: which one? \"inc-amctl group\" lists them");
}

const struct ctl_object ctl_group = {
	.name	= "group",
	.usage	=
	"Usage: inc-amctl group [show [NAME [TENANT]]]\n"
	"       inc-amctl group del NAME [TENANT]\n"
	"       inc-amctl group move NAME [TENANT] [to SWITCH]\n"
	"\n"
	"show: groups, their state, how their queue pairs are connected, and the tree\n"
	"      of each; one line per switch.\n"
	"del:  dismantle it. Its ranks are told, and their calls fail.\n"
	"move: make another tree beside its own, on SWITCH alone, or on the best ones that\n"
	"      have room. Its ranks go on over that, without an error; ranks that compute\n"
	"      do at their next call of libinc. \"group NAME move\" is the same.\n"
	"TENANT is only needed if several have a group of that name; \"-\": no tenant.\n",
	.run	= run_group,
};

/* --- why ----------------------------------------------------------------- */

static void print_why(const ProtobufCMessage *msg)
{
	const RdmaInc__V1__Why *w = (const RdmaInc__V1__Why *)msg;
	const RdmaInc__V1__Candidate *c;
	size_t i;

	if (w->n_candidates || !w->text[0])
		printf("group %s: the root is %s\n", w->name, w->root);
	if (w->text[0])
		printf("group %s: %s\n", w->name, w->text);
	for (i = 0; i < w->n_candidates; i++) {
		c = w->candidates[i];
		printf("  %s: %llu links, load %llu: %s\n", c->switch_id,
		       (unsigned long long)c->links,
		       (unsigned long long)c->load,
		       c->against[0] ? c->against : "the root");
	}
	if (w->n_candidates)
		print_connected(w->ranks, w->by_cm);
}

static int run_why(int argc, char **argv)
{
	RdmaInc__V1__GetGroupRequest req;

	if (argc && ctl_is_show(argv[0])) {
		argc--;
		argv++;
	}
	if (argc > 2)
		return ctl_wrong("why: one group, and its tenant, not \"%s\"",
				 argv[2]);
	if (argc < 1)
		return ctl_wrong("why: which group? \"inc-amctl group\" lists them");
	req = request_of(argv);
	return ctl_show("WhyGroup", &req.base, &rdma_inc__v1__why__descriptor,
			NULL, print_why);
}

const struct ctl_object ctl_why = {
	.name	= "why",
	.usage	=
	"Usage: inc-amctl why [show] GROUP [TENANT]\n"
	"\n"
	"Which switch is the root of its tree, and for each other switch: the links\n"
	"that the ranks' streams would cross to it, the trees that it has, and what\n"
	"spoke against it: unreachable, no capability, no room, more links, more\n"
	"load. The answer is computed anew: a fabric that has changed since the tree\n"
	"was made can have a better root now, and the answer says so. The last line\n"
	"says how the ranks' queue pairs are connected.\n",
	.run	= run_why,
};
