// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * inc-tool parent: a child's QP to its parent
 */
#include "common.h"

#include "member.h"
#include "tool.h"

static const char usage[] =
"Usage: inc-tool parent [ show ] tree ID\n"
"       inc-tool parent set tree ID peer-tree ID addr IP qpn QPN psn PSN rkey KEY\n"
"                [ local IP ] [ pkey KEY ]\n"
"A tree created with job-ranks is a child and has a QP to its parent. show prints\n"
"the qpn, psn and addr that member add needs at the parent; set takes the values\n"
"that member add prints there.\n";

static const struct keyword tree_keywords[] = {
	MEMBER_KW_TREE,
	{ .name = NULL },
};

static const struct keyword set_keywords[] = {
	/* required: */
	MEMBER_KW_TREE,
	MEMBER_KW("peer-tree", "peer-tree-id", "the ID of the parent's tree",
		  parse_uint, PEER_TREE_ID, peer_tree_id),
	MEMBER_KW_ADDR,
	MEMBER_KW_QPN("the number of the parent's QP"),
	MEMBER_KW_PSN("the parent's first PSN"),
	MEMBER_KW("rkey", "peer-rkey", "the R_Key of the parent's slots",
		  parse_uint, PEER_RKEY, peer_rkey),
	/* optional: */
	MEMBER_KW_LOCAL,
	MEMBER_KW_PKEY,
	{ .name = NULL },
};
#define SET_REQUIRED	6

static int parent_show(int argc, char **argv)
{
	struct inc_nl_member req = { .has = 0 }, parent;
	int rc = parse_request(tree_keywords, "parent show", &req,
			       1, argc, argv);

	if (rc)
		return rc;
	if (inc_nl_parent_get(tool_nl(), req.tree_id, &parent))
		return tool_nl_fail(tool_nl());
	return show_member_stats(&parent, NULL);
}

static int parent_set(int argc, char **argv)
{
	struct inc_nl_member req = { .has = 0 }, parent;
	int rc = parse_request(set_keywords, "parent set", &req,
			       SET_REQUIRED, argc, argv);

	if (rc)
		return rc;
	if (inc_nl_parent_set(tool_nl(), &req, &parent))
		return tool_nl_fail(tool_nl());
	return show_member_stats(&parent, NULL);
}

int cmd_parent(int argc, char **argv)
{
	static const struct cmd cmds[] = {
		{ "show", parent_show },
		{ "list", parent_show },
		{ "set", parent_set },
		{ NULL, NULL },
	};

	return cmd_object(cmds, "parent", usage, parent_show, argc, argv);
}
