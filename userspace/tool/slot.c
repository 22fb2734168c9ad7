// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * inc-tool slot
 */
#include "common.h"

#include "parse.h"
#include "print.h"
#include "tool.h"

static const char usage[] =
"Usage: inc-tool slot [ show ] [ tree ID [ index N ] ] [ state STATE ]\n"
"STATE := { idle | busy | done | failed }\n"
"Without index, those slots are shown that ever worked on a message.\n";

static int parse_state(const struct keyword *k, const char *text, void *dst)
{
	const char *name;
	uint8_t i;

	for (i = 0; (name = inc_nl_slot_state_name(i)); i++) {
		if (!strcmp(name, text)) {
			*(uint8_t *)dst = i;
			return TOOL_OK;
		}
	}
	return tool_fail("%s: \"%s\" is unknown: it takes %s", k->name, text,
			 k->takes);
}

#define KW(_name, _alias, _takes, _parse, _attr, _member)		\
	{								\
		.name = _name, .alias = _alias, .takes = _takes,	\
		.parse = _parse, .attr = _attr,				\
		.off = offsetof(struct inc_nl_slot, _member),		\
		.size = sizeof(((struct inc_nl_slot *)NULL)->_member),	\
	}

static const struct keyword keywords[] = {
	KW("tree", "tree-id", "a tree ID, from 1", parse_uint,
	   INC_A_SLOT_TREE_ID, tree_id),
	KW("index", "slot", "a slot, from 0", parse_uint,
	   INC_A_SLOT_INDEX, index),
	KW("state", NULL, "idle, busy, done or failed", parse_state,
	   INC_A_SLOT_STATE, state),
	{ .name = NULL },
};

static int show_one(const struct inc_nl_slot *slot, void *arg)
{
	const struct inc_nl_slot *req = arg;

	if (INC_NL_HAS(req, INC_A_SLOT_STATE) && slot->state != req->state)
		return 0;
	pr_open_object(NULL);
	show_slot(slot);
	pr_endl();
	pr_close_object();
	return 0;
}

static int slot_show(int argc, char **argv)
{
	struct inc_nl_slot req = { .has = 0 }, slot;
	struct inc_nl *nl;
	int rc;

	if (wants_help(argc, argv)) {
		fputs(usage, stdout);
		return TOOL_OK;
	}
	rc = parse_keywords(keywords, "slot show", &req, argc, argv);
	if (rc)
		return rc;
	if (INC_NL_HAS(&req, INC_A_SLOT_INDEX) &&
	    !INC_NL_HAS(&req, INC_A_SLOT_TREE_ID))
		return tool_fail("slot show: tree is missing");
	nl = tool_nl();
	if (!nl)
		return TOOL_KERNEL;

	if (INC_NL_HAS(&req, INC_A_SLOT_INDEX)) {
		if (inc_nl_slot_get(nl, req.tree_id, req.index, &slot))
			return tool_nl_fail(nl);
		pr_open_array(NULL);
		rc = show_one(&slot, &req);
	} else {
		pr_open_array(NULL);
		rc = inc_nl_slot_dump(nl, req.tree_id, show_one, &req);
	}
	pr_close_array();
	return rc ? tool_nl_fail(nl) : TOOL_OK;
}

int cmd_slot(int argc, char **argv)
{
	static const struct cmd cmds[] = {
		{ "show", slot_show },
		{ "list", slot_show },
		{ NULL, NULL },
	};

	return cmd_select(cmds, "slot", usage, slot_show, argc, argv);
}
