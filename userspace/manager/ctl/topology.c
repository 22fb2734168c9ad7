// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* inc-amctl topology, switch and client. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/json.h"
#include "conf/unit.h"
#include "ctl/amctl.h"
#include "rdma_inc.pb-c.h"

static const char *name_of(const RdmaInc__V1__Switch *s)
{
	return s->id[0] ? s->id : s->address;
}

/* Natural order: leaf2 before leaf10. */
static int by_name(const void *a, const void *b)
{
	RdmaInc__V1__Switch *const *x = a, *const *y = b;

	return strverscmp(name_of(*x), name_of(*y));
}

/* Numeric order of addresses, whose bytes are in network order; IPv4 first. */
static int by_addr(const void *a, const void *b)
{
	RdmaInc__V1__Host *const *x = a, *const *y = b;

	if ((*x)->addr.len != (*y)->addr.len)
		return (*x)->addr.len < (*y)->addr.len ? -1 : 1;
	return memcmp((*x)->addr.data, (*y)->addr.data, (*x)->addr.len);
}

static RdmaInc__V1__Topology *get_topology(void)
{
	RdmaInc__V1__GetTopologyRequest req =
		RDMA_INC__V1__GET_TOPOLOGY_REQUEST__INIT;
	RdmaInc__V1__Topology *t;

	t = (void *)ctl_ask("GetTopology", &req.base,
			    &rdma_inc__v1__topology__descriptor);
	if (!t)
		return NULL;
	qsort(t->switches, t->n_switches, sizeof(*t->switches), by_name);
	qsort(t->hosts, t->n_hosts, sizeof(*t->hosts), by_addr);
	return t;
}

static void print_drain(const RdmaInc__V1__Switch *s)
{
	time_t at = (time_t)s->drained_at;
	char text[32] = "";
	struct tm tm;

	printf(", %s", s->drain);
	if (s->drained_by[0])
		printf(" by %s", s->drained_by);
	if (at && localtime_r(&at, &tm)) {
		strftime(text, sizeof(text), "%F %T", &tm);
		printf(" since %s", text);
	}
}

static void print_switch(const RdmaInc__V1__Switch *s)
{
	char used[UNIT_LEN], limit[UNIT_LEN];

	/* Clients do not get the agent's address. */
	printf("switch %s%s%s: %s", s->id[0] ? s->id : "?",
	       s->address[0] ? " at " : "", s->address, s->state);
	if (s->why[0])
		printf(": %s", s->why);
	if (!strcmp(s->state, "up"))
		printf(", %u trees, %s of %s used", s->trees,
		       unit_size(s->memory_used, used),
		       unit_size(s->memory_limit, limit));
	if (s->drain[0])
		print_drain(s);
	putchar('\n');
}

static void print_host(const RdmaInc__V1__Host *h)
{
	char text[64];

	printf("host %s at %s:%s\n", am_addr_text(&h->addr, text, sizeof(text)),
	       h->switch_id, h->interface);
}

static void print_text(const RdmaInc__V1__Topology *t)
{
	size_t i;

	for (i = 0; i < t->n_switches; i++)
		print_switch(t->switches[i]);
	for (i = 0; i < t->n_links; i++)
		printf("link %s:%s - %s:%s, %s\n", t->links[i]->from_switch,
		       t->links[i]->from_interface, t->links[i]->to_switch,
		       t->links[i]->to_interface, t->links[i]->learnt);
	for (i = 0; i < t->n_hosts; i++)
		print_host(t->hosts[i]);
	if (!t->n_switches)
		fputs("inc-amctl: there is nothing to see: a client sees the switches of its own groups, and an operator all\n",
		      stderr);
}

/* Quote a name for DOT. */
static void print_name(const char *name)
{
	putchar('"');
	for (; *name; name++)
		printf(*name == '"' || *name == '\\' ? "\\%c" : "%c", *name);
	putchar('"');
}

static void print_edge(const char *from, const char *to, const char *tail,
		       const char *head)
{
	printf("\t");
	print_name(from);
	printf(" -- ");
	print_name(to);
	printf(" [taillabel=");
	print_name(tail);
	printf(", headlabel=");
	print_name(head);
	printf("]\n");
}

static void print_dot(const RdmaInc__V1__Topology *t)
{
	char text[64];
	size_t i;

	puts("graph fabric {\n\trankdir=BT");
	for (i = 0; i < t->n_switches; i++) {
		printf("\t");
		print_name(name_of(t->switches[i]));
		printf(" [shape=box%s]\n", strcmp(t->switches[i]->state, "up") ?
		       ", style=dashed" : "");
	}
	for (i = 0; i < t->n_links; i++)
		print_edge(t->links[i]->from_switch, t->links[i]->to_switch,
			   t->links[i]->from_interface,
			   t->links[i]->to_interface);
	for (i = 0; i < t->n_hosts; i++)
		print_edge(am_addr_text(&t->hosts[i]->addr, text, sizeof(text)),
			   t->hosts[i]->switch_id, "", t->hosts[i]->interface);
	puts("}");
}

static int run_topology(int argc, char **argv)
{
	RdmaInc__V1__Topology *t;
	bool dot = false;

	if (argc && (ctl_is(argv[0], "show") || ctl_is(argv[0], "list"))) {
		argc--;
		argv++;
	}
	for (; argc; argc--, argv++) {
		if (strcmp(argv[0], "--dot") && strcmp(argv[0], "-dot"))
			return ctl_wrong("topology: \"%s\": only --dot is known",
					 argv[0]);
		dot = true;
	}
	if (dot && ctl_json)
		return ctl_wrong("topology: --dot or --json, not both");
	t = get_topology();
	if (!t)
		return CTL_REFUSED;
	if (ctl_json)
		ctl_print_json(&t->base, NULL);
	else if (dot)
		print_dot(t);
	else
		print_text(t);
	ctl_free(&t->base);
	return CTL_OK;
}

const struct ctl_object ctl_topology = {
	.name	= "topology",
	.usage	=
	"Usage: inc-amctl topology [show] [--dot]\n"
	"\n"
	"Switches, the links between them, and the hosts that each of them sees.\n"
	"--dot: for graphviz, as in \"inc-amctl topology --dot | dot -Tsvg\".\n",
	.run	= run_topology,
};

/* --- switch, client ------------------------------------------------------ */

static bool is_wanted(const char *name, int argc, char **argv)
{
	return !argc || !strcmp(argv[0], name);
}

/* Move the wanted switches to the front of the list; returns their number. */
static size_t pick_switches(RdmaInc__V1__Topology *t, int argc, char **argv)
{
	RdmaInc__V1__Switch *s;
	size_t i, n = 0;

	for (i = 0; i < t->n_switches; i++) {
		s = t->switches[i];
		if (!is_wanted(name_of(s), argc, argv) &&
		    !is_wanted(s->address, argc, argv))
			continue;
		t->switches[i] = t->switches[n];
		t->switches[n++] = s;
	}
	return n;
}

static size_t pick_hosts(RdmaInc__V1__Topology *t, int argc, char **argv)
{
	RdmaInc__V1__Host *h;
	size_t i, n = 0;
	char text[64];

	for (i = 0; i < t->n_hosts; i++) {
		h = t->hosts[i];
		if (!is_wanted(am_addr_text(&h->addr, text, sizeof(text)), argc,
			       argv))
			continue;
		t->hosts[i] = t->hosts[n];
		t->hosts[n++] = h;
	}
	return n;
}

static void print_picked(RdmaInc__V1__Topology *t, bool hosts, size_t n)
{
	size_t *count = hosts ? &t->n_hosts : &t->n_switches, all = *count, i;

	*count = n;
	if (ctl_json)
		ctl_print_json(&t->base, hosts ? "hosts" : "switches");
	*count = all;
	for (i = 0; !ctl_json && i < n; i++) {
		if (hosts)
			print_host(t->hosts[i]);
		else
			print_switch(t->switches[i]);
	}
}

static int run_list(bool hosts, int argc, char **argv)
{
	const char *what = hosts ? "client" : "switch";
	RdmaInc__V1__Topology *t;
	size_t n;

	if (argc && ctl_is_show(argv[0])) {
		argc--;
		argv++;
	}
	if (argc > 1)
		return ctl_wrong(hosts ? "%s: one at most, not \"%s %s\"" :
				 "%s: one at most, or drain, or resume, not \"%s %s\"",
				 what, argv[0], argv[1]);
	t = get_topology();
	if (!t)
		return CTL_REFUSED;
	n = hosts ? pick_hosts(t, argc, argv) : pick_switches(t, argc, argv);
	if (n || !argc)
		print_picked(t, hosts, n);
	else
		fprintf(stderr, "inc-amctl: the manager knows no %s %s\n",
			what, argv[0]);
	ctl_free(&t->base);
	return n || !argc ? CTL_OK : CTL_REFUSED;
}

static void print_groups(const RdmaInc__V1__SwitchGroups *list,
			 const char *name)
{
	const RdmaInc__V1__SwitchGroup *g;
	size_t i;

	if (list->switch_ && list->switch_->drain[0])
		printf("switch %s: %s, %zu group%s there\n", name,
		       list->switch_->drain, list->n_groups,
		       list->n_groups == 1 ? "" : "s");
	else
		printf("switch %s: it gets new trees\n", name);
	if (!list->switch_ || !list->switch_->drain[0])
		return;
	for (i = 0; i < list->n_groups; i++) {
		g = list->groups[i];
		printf("  group %s%s%s: %s%s", g->name,
		       g->tenant[0] ? ", tenant " : "", g->tenant,
		       g->moves ? "moves away" : "stays: ", g->stays);
		if (g->waits_for[0])
			printf(", waits for %s%s", g->waits_for,
			       strncmp(g->waits_for, "rank", 4) ? "" :
								  ": computing");
		putchar('\n');
	}
}

/* Have a switch drained, or resumed. Returns the exit status. */
static int drain_switch(const char *name, const char *method)
{
	RdmaInc__V1__SwitchRequest req = RDMA_INC__V1__SWITCH_REQUEST__INIT;
	RdmaInc__V1__SwitchGroups *list;

	req.name = (char *)name;
	list = (void *)ctl_ask(method, &req.base,
			       &rdma_inc__v1__switch_groups__descriptor);
	if (!list)
		return CTL_REFUSED;
	if (ctl_json)
		ctl_print_json(&list->base, NULL);
	else
		print_groups(list, name);
	ctl_free(&list->base);
	return CTL_OK;
}

/* Give a switch another name. Returns the exit status. */
static int rename_switch(const char *name, const char *id)
{
	RdmaInc__V1__RenameSwitchRequest req =
		RDMA_INC__V1__RENAME_SWITCH_REQUEST__INIT;
	ProtobufCMessage *ans;

	req.name = (char *)name;
	req.id = (char *)id;
	ans = ctl_ask("RenameSwitch", &req.base,
		      &rdma_inc__v1__rename_switch_response__descriptor);
	if (!ans)
		return CTL_REFUSED;
	if (ctl_json)
		ctl_print_json(ans, NULL);
	ctl_free(ans);
	return CTL_OK;
}

/* Get the method for a command for a switch; NULL: another word. */
static const char *method_of(const char *word)
{
	if (!strcmp(word, "drain"))
		return "DrainSwitch";
	return strcmp(word, "resume") ? NULL : "ResumeSwitch";
}

/* Accept "switch drain NAME", like other objects, and "switch NAME drain". */
static int run_switch(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "rename"))
		return rename_switch(argv[0], argv[2]);
	if (argc == 3 && !strcmp(argv[0], "rename"))
		return rename_switch(argv[1], argv[2]);
	if (argc <= 2 && argc && (!strcmp(argv[0], "rename") ||
				  !strcmp(argv[argc - 1], "rename")))
		return ctl_wrong("switch: rename which one, and how? \"inc-amctl switch NAME rename NEW\"");
	if (argc == 2 && method_of(argv[1]))
		return drain_switch(argv[0], method_of(argv[1]));
	if (argc == 2 && method_of(argv[0]))
		return drain_switch(argv[1], method_of(argv[0]));
	if (argc == 1 && method_of(argv[0]))
		return ctl_wrong("switch %s: which one? \"inc-amctl switch\" lists them",
				 argv[0]);
	return run_list(false, argc, argv);
}

static int run_client(int argc, char **argv)
{
	return run_list(true, argc, argv);
}

const struct ctl_object ctl_switch = {
	.name	= "switch",
	.usage	=
	"Usage: inc-amctl switch [show] [NAME]\n"
	"       inc-amctl switch { drain | resume } NAME\n"
	"       inc-amctl switch NAME rename NEW\n"
	"\n"
	"show:   switches: the address of the agent, \"up\", or \"down\" and why, trees\n"
	"        and memory, and whether it is drained, by whom and since when.\n"
	"drain:  make no more trees there. Groups move away while they run, if there is\n"
	"        room elsewhere; all that have a tree there are listed. It lasts until it\n"
	"        is resumed, and may be repeated to see what is left, and which ranks a\n"
	"        group waits for.\n"
	"resume: make trees there again.\n"
	"rename: give it another name, which its agent keeps. It must have no trees.\n"
	"\"switch NAME drain\" is the same.\n",
	.run	= run_switch,
};

const struct ctl_object ctl_client = {
	.name	= "client",
	.usage	=
	"Usage: inc-amctl client [show] [ADDRESS]\n"
	"\n"
	"Hosts: the switch that sees each, and its interface.\n",
	.run	= run_client,
};
