// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * inc-tool switch
 */
#include "common.h"

#include "parse.h"
#include "print.h"
#include "tool.h"

static const char usage[] =
"Usage: inc-tool switch [ show ]\n"
"       inc-tool switch set [ memory-limit SIZE ] [ max-trees N ]\n"
"               [ max-ranks N ] [ max-slots N ] [ max-tree-memory SIZE ]\n"
"               [ max-tree-hold SIZE ]\n";

#define KW(_name, _takes, _ATTR, _member)				\
	KEYWORD(struct inc_nl_switch, _name, NULL, _takes, parse_uint,	\
		NULL, RDMA_INC_A_SWITCH_##_ATTR, _member)

static const struct keyword set_keywords[] = {
	KW("memory-limit", "bytes, as 512M or 2G", MEMORY_LIMIT, memory_limit),
	KW("max-trees", "a number, 0 for no limit", MAX_TREES, max_trees),
	KW("max-ranks", "a number, 0 for no limit", MAX_RANKS, max_ranks),
	KW("max-slots", "a number, 0 for no limit", MAX_SLOTS, max_slots),
	KW("max-tree-memory", "bytes, 0 for no limit", MAX_TREE_MEMORY,
	   max_tree_memory),
	KW("max-tree-hold", "bytes, 0 for no limit", MAX_TREE_HOLD,
	   max_tree_hold),
	{ .name = NULL },
};

static int switch_set(int argc, char **argv)
{
	struct inc_nl_switch req = { .has = 0 };
	struct inc_nl *nl;
	int rc;

	rc = parse_keywords(set_keywords, "switch set", &req, argc, argv);
	if (rc)
		return rc;
	if (!req.has)
		return tool_fail("switch set: nothing to set");

	nl = tool_nl();
	if (!nl)
		return TOOL_FAILED;
	return inc_nl_switch_set(nl, &req) ? tool_nl_fail(nl) : TOOL_OK;
}

static int switch_show(int argc, char **argv)
{
	struct inc_nl_switch sw;
	struct inc_nl *nl;

	if (argc)
		return tool_fail("switch show: \"%s\" is unknown: it takes nothing",
				 argv[0]);
	nl = tool_nl();
	if (!nl)
		return TOOL_FAILED;
	if (inc_nl_switch_get(nl, &sw))
		return tool_nl_fail(nl);

	pr_open_object(NULL);
	show_switch(&sw);
	if (conf.stats)
		show_switch_stats(&sw);
	pr_endl();
	pr_close_object();
	return TOOL_OK;
}

int cmd_switch(int argc, char **argv)
{
	static const struct cmd cmds[] = {
		{ "show", switch_show },
		{ "list", switch_show },
		{ "set", switch_set },
		{ NULL, NULL },
	};

	return cmd_object(cmds, "switch", usage, switch_show, argc, argv);
}
