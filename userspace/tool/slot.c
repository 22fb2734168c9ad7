// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * inc-tool slot
 */
#include "common.h"

#include "collect.h"
#include "parse.h"
#include "print.h"
#include "tool.h"

static const char usage[] =
"Usage: inc-tool slot [ show ] [ tree ID [ index N ] ] [ state STATE ]\n"
"STATE := { idle | busy | done | failed }\n"
"Without index, show the slots that have been used. age is in milliseconds.\n"
"The first 8 missing ranks of a busy slot, with -d all, have a line each: how\n"
"much of their message has arrived, and when their last packet did. A child's\n"
"slot that waits for its parent has a line for that.\n";

/* Missing ranks that are explained without -d. */
#define MAX_EXPLAINED	8

#define KW(_name, _alias, _takes, _parse, _ATTR, _member)		\
	KEYWORD(struct inc_nl_slot, _name, _alias, _takes, _parse,	\
		NULL, RDMA_INC_A_SLOT_##_ATTR, _member)

static const struct keyword keywords[] = {
	KW("tree", "tree-id", "a tree ID, from 1", parse_uint,
	   TREE_ID, tree_id),
	KW("index", "slot", "a slot, from 0", parse_uint, INDEX, index),
	KEYWORD(struct inc_nl_slot, "state", NULL, "idle, busy, done or failed",
		parse_enum, inc_nl_slot_state_name, RDMA_INC_A_SLOT_STATE,
		state),
	{ .name = NULL },
};

/**
 * struct show - a call of slot show
 * @req: the request
 * @snap: the members, to explain missing ranks
 */
struct show {
	struct inc_nl_slot	req;
	struct snapshot		snap;
};

/* Explain a missing rank. */
static void explain_rank(const struct show *s, const struct inc_nl_slot *slot,
			 unsigned int i)
{
	const struct inc_nl_member *m;

	pr_indent();
	pr_text("    rank %u: ", slot->missing[i]);
	m = snapshot_member(&s->snap, slot->tree_id, slot->missing[i]);
	if (!m) {
		pr_text("has no member");
		return;
	}
	if (m->state == RDMA_INC_MEMBER_STATE_ERROR)
		pr_text("its QP is in error (%s), ",
			inc_nl_member_error_name(m->error) ?: "?");
	if (i < slot->nmissing_chunks)
		pr_text("%u of %u packets arrived, ", slot->missing_chunks[i],
			slot->chunks);
	if (m->stats[RDMA_INC_A_MEMBER_STATS_RX_WIRE_BYTES])
		pr_text("last heard of %u ms ago", m->last_rx);
	else
		pr_text("not heard of since it was added %u ms ago",
			m->last_rx);
}

/* Explain the parent, which has all requests and owes the result. */
static void explain_parent(const struct show *s, const struct inc_nl_slot *slot)
{
	const struct inc_nl_member *p;

	p = snapshot_parent(&s->snap, slot->tree_id);
	if (!p)
		return;
	pr_indent();
	pr_text("    parent: ");
	if (p->state == RDMA_INC_MEMBER_STATE_INIT)
		pr_text("not connected (parent set), ");
	else if (p->state == RDMA_INC_MEMBER_STATE_ERROR)
		pr_text("the QP to it is in error (%s), ",
			inc_nl_member_error_name(p->error) ?: "?");
	else if (p->tx_in_flight)
		pr_text("%u packets to it are not acknowledged, ",
			p->tx_in_flight);
	pr_text("all requests arrived %u ms ago, last heard of it %u ms ago",
		slot->parent_age, p->last_rx);
}

static void explain_missing(const struct show *s,
			    const struct inc_nl_slot *slot)
{
	unsigned int i, n = slot->nmissing;

	if (!conf.details && n > MAX_EXPLAINED)
		n = MAX_EXPLAINED;
	for (i = 0; i < n; i++)
		explain_rank(s, slot, i);
	if (INC_NL_HAS(slot, SLOT_PARENT_AGE))
		explain_parent(s, slot);
	if (n < slot->nmissing) {
		pr_indent();
		pr_text("    and %u more (-d)", slot->nmissing - n);
	}
}

static int show_one(const struct inc_nl_slot *slot, void *arg)
{
	const struct show *s = arg;

	if (INC_NL_HAS(&s->req, SLOT_STATE) && slot->state != s->req.state)
		return 0;
	pr_open_object(NULL);
	show_slot(slot);
	if (!conf.json)
		explain_missing(s, slot);
	pr_endl();
	pr_close_object();
	return 0;
}

static int slot_show(int argc, char **argv)
{
	struct show s = { .req = { .has = 0 } };
	struct inc_nl_slot slot;
	struct inc_nl *nl;
	int rc;

	rc = parse_keywords(keywords, "slot show", &s.req, argc, argv);
	if (!rc && INC_NL_HAS(&s.req, SLOT_INDEX))
		rc = parse_required(keywords, "slot show", &s.req, 1);
	if (rc)
		return rc;
	nl = tool_nl();
	if (!nl)
		return TOOL_FAILED;

	rc = conf.json ? 0 : snapshot_take(nl, s.req.tree_id, 0, &s.snap);
	if (rc || (INC_NL_HAS(&s.req, SLOT_INDEX) &&
		   inc_nl_slot_get(nl, s.req.tree_id, s.req.index, &slot))) {
		snapshot_free(&s.snap);
		return tool_nl_fail(nl);
	}
	pr_open_array(NULL);
	if (INC_NL_HAS(&s.req, SLOT_INDEX))
		rc = show_one(&slot, &s);
	else
		rc = inc_nl_slot_dump(nl, s.req.tree_id, show_one, &s);
	snapshot_free(&s.snap);
	if (rc)
		return tool_nl_fail(nl);
	pr_close_array();
	return TOOL_OK;
}

int cmd_slot(int argc, char **argv)
{
	static const struct cmd cmds[] = {
		{ "show", slot_show },
		{ "list", slot_show },
		{ NULL, NULL },
	};

	return cmd_object(cmds, "slot", usage, slot_show, argc, argv);
}
