// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * inc-tool parent: a child's QP to its parent
 */
#include "common.h"

#include "parse.h"
#include "print.h"
#include "tool.h"

static const char usage[] =
"Usage: inc-tool parent [ show ] tree ID\n"
"       inc-tool parent set tree ID peer-tree ID addr IP qpn QPN psn PSN rkey KEY\n"
"                [ local IP ] [ pkey KEY ]\n"
"A tree made with job-ranks is a child and has a QP to its parent from the start.\n"
"show prints its qpn, psn and addr for member add at the parent; set takes what\n"
"that command prints.\n";

#define KW(_name, _alias, _takes, _parse, _attr, _member)		\
	KEYWORD(struct inc_nl_member, _name, _alias, _takes,		\
		_parse, NULL, _attr, _member)

#define KW_TREE								\
	KW("tree", "tree-id", "a tree ID, from 1", parse_uint,		\
	   RDMA_INC_A_MEMBER_TREE_ID, tree_id)

static const struct keyword tree_keywords[] = {
	KW_TREE,
	{ .name = NULL },
};

static const struct keyword set_keywords[] = {
	KW_TREE,
	KW("peer-tree", "peer-tree-id", "the ID of the parent's tree",
	   parse_uint, RDMA_INC_A_MEMBER_PEER_TREE_ID, peer_tree_id),
	KW("addr", "peer-addr", "an IPv4 or IPv6 address", parse_addr,
	   RDMA_INC_A_MEMBER_PEER_ADDR, peer_addr),
	KW("qpn", "peer-qpn", "the number of the parent's QP", parse_uint,
	   RDMA_INC_A_MEMBER_PEER_QPN, peer_qpn),
	KW("psn", "peer-psn", "the parent's first PSN", parse_uint,
	   RDMA_INC_A_MEMBER_PEER_PSN, peer_psn),
	KW("rkey", "peer-rkey", "the R_Key of the parent's slots", parse_uint,
	   RDMA_INC_A_MEMBER_PEER_RKEY, peer_rkey),
	KW("local", "local-addr", "an IPv4 or IPv6 address", parse_addr,
	   RDMA_INC_A_MEMBER_LOCAL_ADDR, local_addr),
	KW("pkey", NULL, "a P_Key, as 0xffff", parse_uint,
	   RDMA_INC_A_MEMBER_PKEY, pkey),
	{ .name = NULL },
};

static void show_one(const struct inc_nl_member *m)
{
	pr_open_object(NULL);
	show_member(m);
	if (conf.stats)
		show_stats("stats", m->stats, RDMA_INC_A_MEMBER_STATS_MAX,
			   inc_nl_member_stat_name);
	pr_endl();
	pr_close_object();
}

static int parent_show(int argc, char **argv)
{
	struct inc_nl_member req = { .has = 0 }, parent;
	struct inc_nl *nl;
	int rc;

	if (wants_help(argc, argv)) {
		fputs(usage, stdout);
		return TOOL_OK;
	}
	rc = parse_keywords(tree_keywords, "parent show", &req, argc, argv);
	if (rc)
		return rc;
	if (!INC_NL_HAS(&req, RDMA_INC_A_MEMBER_TREE_ID))
		return tool_fail("parent show: tree is missing");
	nl = tool_nl();
	if (!nl)
		return TOOL_KERNEL;
	if (inc_nl_parent_get(nl, req.tree_id, &parent))
		return tool_nl_fail(nl);
	show_one(&parent);
	return TOOL_OK;
}

static int parent_set(int argc, char **argv)
{
	struct inc_nl_member req = { .has = 0 }, parent;
	const struct keyword *k;
	struct inc_nl *nl;
	int rc;

	if (wants_help(argc, argv)) {
		fputs(usage, stdout);
		return TOOL_OK;
	}
	rc = parse_keywords(set_keywords, "parent set", &req, argc, argv);
	if (rc)
		return rc;
	for (k = set_keywords; k->attr != RDMA_INC_A_MEMBER_LOCAL_ADDR; k++)
		if (!INC_NL_HAS(&req, k->attr))
			return tool_fail("parent set: %s is missing", k->name);
	nl = tool_nl();
	if (!nl)
		return TOOL_KERNEL;
	if (inc_nl_parent_set(nl, &req, &parent))
		return tool_nl_fail(nl);
	show_one(&parent);
	return TOOL_OK;
}

int cmd_parent(int argc, char **argv)
{
	static const struct cmd cmds[] = {
		{ "show", parent_show },
		{ "set", parent_set },
		{ NULL, NULL },
	};

	return cmd_select(cmds, "parent", usage, parent_show, argc, argv);
}
