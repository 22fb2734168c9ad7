// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * group/report.c: a switch tells that a tree was deleted, whose ID may be that of a
 * later tree. KTAP.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group/group.h"

#define TREE	7
#define RANKS	2

static unsigned int number, failures;
static struct sw_tree tree = { .id = TREE };
static struct sw_snapshot info = { .id = "s0", .trees = &tree };
static struct group_at at;
static struct subtree subtree;
static struct manager m;
static struct group *g;
static struct sw sw;

static void ok(bool passed, const char *what)
{
	printf("%sok %u - %s\n", passed ? "" : "not ", ++number, what);
	failures += !passed;
}

static void ignore(struct group *group)
{
	(void)group;
}

static const struct group_ops ops = { ignore, ignore, ignore, ignore };

/*
 * A group that may have another tree. The switch is being asked already, and an
 * operation on it is under way, so nothing is begun.
 */
static void begin(enum group_state state)
{
	uint32_t i;

	memset(&m, 0, sizeof(m));
	memset(&sw, 0, sizeof(sw));
	loop_init(&m.loop);
	m.group_ops = &ops;
	m.loop.now = 2000;
	m.o.rebuild_ms = 1000;
	m.tenants.policy = policy_new();
	g = calloc(1, sizeof(*g) + RANKS * sizeof(g->ranks[0]));
	if (events_init(&m.events) || !m.tenants.policy || !g)
		abort();
	sw.info = &info;
	sw.address = "agent";
	sw.up = true;
	sw.reported_up = true;
	sw.refresh.running = true;
	sw.refresh.asked_at = 1000;
	subtree = (struct subtree){
		.group = g, .sw = &sw, .tree.id = TREE, .lost_member = -1,
		.exists = true, .made_at = 500,
	};
	g->manager = &m;
	g->tenant = tenant_get(&m.tenants, "");
	g->request.ranks = RANKS;
	g->request.rebuild = true;
	snprintf(g->request.job, sizeof(g->request.job), "job");
	for (i = 0; i < RANKS; i++)
		g->ranks[i].group = g;
	g->subtrees = &subtree;
	g->nsubtrees = 1;
	g->making.ops = 1;
	if (group_enter(g))
		abort();
	group_set_state(g, state);
	subtree_enter(&subtree);
	at = (struct group_at){ .sw = &sw, .g = g };
	LIST_INSERT_HEAD(&sw.groups, &at, by_sw);
}

static void end(void)
{
	index_remove(&subtree.by_tree);
	group_take_out(g);
	keep_release(g);
	free(g);
	tenants_close(&m.tenants);
	events_free(&m.events);
	timers_free(&m.loop.timers);
}

static void deleted(void)
{
	struct sw_notif notif = {
		.sw = &sw, .kind = SW_NOTIF_TREE_DELETED, .tree = TREE,
	};

	group_on_notif(&m, &notif);
}

/* The switch answers. */
static void seen(bool there)
{
	info.ntrees = there;
	group_on_snapshot(&m, &sw, NULL);
	group_settle(&m);
}

static bool goes_on(enum group_state state)
{
	return g->state == state && !g->making.err;
}

int main(void)
{
	puts("KTAP version 1");

	begin(GROUP_JOINED);
	deleted();
	ok(goes_on(GROUP_JOINED) && sw.refresh.again,
	   "a tree is said to be deleted: the switch is asked");
	seen(true);
	ok(goes_on(GROUP_JOINED), "it was an earlier one of this ID");
	end();

	begin(GROUP_READY);
	deleted();
	seen(false);
	ok(g->state == GROUP_REJOINING, "it is gone: another one is made");
	end();

	begin(GROUP_READY);
	subtree.made_at = sw.refresh.asked_at;
	seen(false);
	ok(goes_on(GROUP_READY), "an answer from before it was made");
	end();

	begin(GROUP_MAKING);
	deleted();
	seen(true);
	ok(goes_on(GROUP_MAKING), "it is made, and was an earlier one");
	seen(false);
	ok(g->making.err == ECONNRESET, "it is made, and gone already");
	end();

	begin(GROUP_MAKING);
	subtree.exists = false;
	deleted();
	ok(goes_on(GROUP_MAKING) && !sw.refresh.again,
	   "it is not made yet: nobody is asked");
	end();
	printf("1..%u\n", number);
	return failures != 0;
}
