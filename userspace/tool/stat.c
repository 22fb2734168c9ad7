// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * inc-tool stat: print all counters of the switch, its trees and their members.
 */
#include "common.h"

#include "collect.h"
#include "member.h"
#include "print.h"
#include "prometheus.h"
#include "tool.h"

static const char usage[] =
"Usage: inc-tool stat [ show ] [ --prometheus ] [ tree ID [ rank R ] ]\n"
"In text, counters that are 0 are omitted unless -d is given.\n"
"--prometheus: Prometheus' text format, with a description of each counter.\n";

static const struct keyword keywords[] = {
	MEMBER_KW_TREE,
	MEMBER_KW_RANK,
	{ .name = NULL },
};

static int stat_member(const struct inc_nl_member *m, void *arg)
{
	const struct inc_nl_member *req = arg;

	if (INC_NL_HAS(req, MEMBER_RANK) && m->rank != req->rank)
		return 0;
	pr_open_object(NULL);
	pr_uint("tree-id", "tree", m->tree_id);
	if (INC_NL_HAS(m, MEMBER_RANK))
		pr_uint("rank", "rank", m->rank);
	else
		pr_text(" parent");
	show_stats("stats", m->stats, RDMA_INC_A_MEMBER_STATS_MAX,
		   inc_nl_member_stat_name);
	pr_endl();
	pr_close_object();
	return 0;
}

static int stat_tree(const struct inc_nl_tree *tree, void *arg)
{
	pr_open_object(NULL);
	pr_uint("id", "tree", tree->id);
	show_stats("stats", tree->stats, RDMA_INC_A_TREE_STATS_MAX,
		   inc_nl_tree_stat_name);
	pr_indent();
	pr_text("all members:");
	show_stats("member-stats", tree->member_stats,
		   RDMA_INC_A_MEMBER_STATS_MAX, inc_nl_member_stat_name);
	pr_endl();
	pr_close_object();
	return 0;
}

static int stat_switch(struct inc_nl *nl)
{
	struct inc_nl_switch sw;
	int rc;

	rc = inc_nl_switch_get(nl, &sw);
	if (rc)
		return rc;
	pr_open_object("switch");
	pr_text("switch");
	show_switch_stats(&sw);
	pr_endl();
	pr_close_object();
	return 0;
}

static int stat_trees(struct inc_nl *nl, const struct inc_nl_member *req)
{
	struct inc_nl_tree tree;
	int rc;

	pr_open_array("trees");
	if (INC_NL_HAS(req, MEMBER_TREE_ID)) {
		rc = inc_nl_tree_get(nl, req->tree_id, &tree);
		if (!rc)
			stat_tree(&tree, NULL);
	} else {
		rc = inc_nl_tree_dump(nl, stat_tree, NULL);
	}
	pr_close_array();
	return rc;
}

/* Print the QPs of child switches to their parents. */
static int stat_parents(struct inc_nl *nl, struct inc_nl_member *req)
{
	struct snapshot snap;
	size_t i;
	int rc;

	rc = snapshot_take(nl, req->tree_id, 0, &snap);
	pr_open_array("parents");
	for (i = 0; !rc && i < snap.nparents; i++)
		stat_member(&snap.parents[i], req);
	pr_close_array();
	snapshot_free(&snap);
	return rc;
}

/* Keep only the member of one rank. */
static void keep_rank(struct snapshot *snap, uint16_t rank)
{
	size_t i, n = 0;

	for (i = 0; i < snap->nmembers; i++) {
		if (snap->members[i].rank == rank)
			snap->members[n++] = snap->members[i];
	}
	snap->nmembers = n;
	snap->nparents = 0;
	snap->ntrees = 0;
}

static int stat_prometheus(struct inc_nl *nl, const struct inc_nl_member *req)
{
	struct snapshot snap;
	int rc;

	if (conf.json)
		return tool_fail("stat show: --prometheus and -json exclude each other");
	rc = snapshot_take(nl, req->tree_id, SNAPSHOT_WAITS, &snap);
	if (rc) {
		rc = tool_nl_fail(nl);
	} else {
		if (INC_NL_HAS(req, MEMBER_RANK))
			keep_rank(&snap, req->rank);
		prometheus_show(&snap, !INC_NL_HAS(req, MEMBER_TREE_ID));
	}
	snapshot_free(&snap);
	return rc;
}

static bool is_prometheus(const char *word)
{
	return !strcmp(word, "--prometheus") || !strcmp(word, "-prometheus") ||
	       !strcmp(word, "prometheus");
}

static int stat_show(int argc, char **argv)
{
	struct inc_nl_member req = { .has = 0 };
	bool prometheus = false;
	struct inc_nl *nl;
	int rc;

	if (argc && is_prometheus(argv[0])) {
		prometheus = true;
		argc--;
		argv++;
	} else if (argc && is_prometheus(argv[argc - 1])) {
		prometheus = true;
		argc--;
	}
	rc = parse_keywords(keywords, "stat show", &req, argc, argv);
	if (!rc && INC_NL_HAS(&req, MEMBER_RANK))
		rc = parse_required(keywords, "stat show", &req, 1);
	if (rc)
		return rc;
	nl = tool_nl();
	if (!nl)
		return TOOL_FAILED;
	if (prometheus)
		return stat_prometheus(nl, &req);

	pr_open_object(NULL);
	rc = INC_NL_HAS(&req, MEMBER_TREE_ID) ? 0 : stat_switch(nl);
	if (!rc && !INC_NL_HAS(&req, MEMBER_RANK))
		rc = stat_trees(nl, &req);
	if (!rc && !INC_NL_HAS(&req, MEMBER_RANK))
		rc = stat_parents(nl, &req);
	if (!rc) {
		pr_open_array("members");
		rc = inc_nl_member_dump(nl, req.tree_id, stat_member, &req);
		pr_close_array();
	}
	if (rc)
		return tool_nl_fail(nl);
	pr_close_object();
	return TOOL_OK;
}

int cmd_stat(int argc, char **argv)
{
	static const struct cmd cmds[] = {
		{ "show", stat_show },
		{ "list", stat_show },
		{ NULL, NULL },
	};

	return cmd_object(cmds, "stat", usage, stat_show, argc, argv);
}
