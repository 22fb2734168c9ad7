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
"               [ max-ranks N ] [ max-slots N ] [ max-tree-memory SIZE ]\n";

static const struct keyword set_keywords[] = {
	{
		.name = "memory-limit", .takes = "bytes, as 512M or 2G",
		.parse = parse_uint, .attr = RDMA_INC_A_SWITCH_MEMORY_LIMIT,
		.off = offsetof(struct inc_nl_switch, memory_limit),
		.size = sizeof(uint64_t),
	},
	{
		.name = "max-trees", .takes = "a number, 0 for no limit",
		.parse = parse_uint, .attr = RDMA_INC_A_SWITCH_MAX_TREES,
		.off = offsetof(struct inc_nl_switch, max_trees),
		.size = sizeof(uint32_t),
	},
	{
		.name = "max-ranks", .takes = "a number, 0 for no limit",
		.parse = parse_uint, .attr = RDMA_INC_A_SWITCH_MAX_RANKS,
		.off = offsetof(struct inc_nl_switch, max_ranks),
		.size = sizeof(uint16_t),
	},
	{
		.name = "max-slots", .takes = "a number, 0 for no limit",
		.parse = parse_uint, .attr = RDMA_INC_A_SWITCH_MAX_SLOTS,
		.off = offsetof(struct inc_nl_switch, max_slots),
		.size = sizeof(uint16_t),
	},
	{
		.name = "max-tree-memory", .takes = "bytes, 0 for no limit",
		.parse = parse_uint, .attr = RDMA_INC_A_SWITCH_MAX_TREE_MEMORY,
		.off = offsetof(struct inc_nl_switch, max_tree_memory),
		.size = sizeof(uint64_t),
	},
	{ .name = NULL },
};

static int switch_set(int argc, char **argv)
{
	struct inc_nl_switch req = { .has = 0 };
	struct inc_nl *nl;
	int rc;

	if (wants_help(argc, argv)) {
		fputs(usage, stdout);
		return TOOL_OK;
	}
	rc = parse_keywords(set_keywords, "switch set", &req, argc, argv);
	if (rc)
		return rc;
	if (!req.has)
		return tool_fail("switch set: nothing to set");

	nl = tool_nl();
	if (!nl)
		return TOOL_KERNEL;
	return inc_nl_switch_set(nl, &req) ? tool_nl_fail(nl) : TOOL_OK;
}

static int switch_show(int argc, char **argv)
{
	struct inc_nl_switch sw;
	struct inc_nl *nl;

	if (wants_help(argc, argv)) {
		fputs(usage, stdout);
		return TOOL_OK;
	}
	if (argc)
		return tool_fail("switch show: \"%s\" is unknown: it takes nothing",
				 argv[0]);
	nl = tool_nl();
	if (!nl)
		return TOOL_KERNEL;
	if (inc_nl_switch_get(nl, &sw))
		return tool_nl_fail(nl);

	pr_open_object(NULL);
	show_switch(&sw);
	if (conf.stats)
		show_stats("stats", sw.stats, RDMA_INC_A_SWITCH_STATS_MAX,
			   inc_nl_switch_stat_name);
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

	return cmd_select(cmds, "switch", usage, switch_show, argc, argv);
}
