// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * inc-tool member, and parent: a child's QP to its parent
 */
#include "common.h"

#include "member.h"
#include "print.h"
#include "tool.h"

static const char usage[] =
"Usage: inc-tool member [ show ] [ tree ID [ rank R ] ]\n"
"       inc-tool member add tree ID rank R [ addr IP qpn QPN psn PSN\n"
"                [ local IP ] [ pkey KEY ] ] [ local-qpn QPN ]\n"
"                [ local-psn PSN ] [ transport rc | uc ] [ ifindex N ]\n"
"                [ rank R ... ]...\n"
"       inc-tool member set tree ID rank R addr IP qpn QPN psn PSN\n"
"                [ local IP ] [ pkey KEY ] [ local-psn PSN ]\n"
"       inc-tool member del tree ID rank R\n"
"addr, qpn and psn are those of the host: the address of its GID, the number of\n"
"its QP and the first PSN that it sends. member add prints what the host needs.\n"
"Without them it makes a QP that waits for its host: member set connects it, or\n"
"inc-agentd when the host calls rdma_connect().\n";

#define KW_LOCAL_PSN							\
	MEMBER_KW("local-psn", NULL, "the switch's first PSN", parse_uint, \
		  PSN, psn)

static const struct keyword add_keywords[] = {
	/* required: */
	MEMBER_KW_TREE,
	MEMBER_KW_RANK,
	/* required if anything of the host is given: */
	MEMBER_KW_ADDR,
	MEMBER_KW_QPN("the number of the host's QP"),
	MEMBER_KW_PSN("the host's first PSN"),
	/* optional: */
	MEMBER_KW_LOCAL,
	MEMBER_KW("local-qpn", NULL, "the switch's QPN, from 0x800000",
		  parse_uint, QPN, qpn),
	KW_LOCAL_PSN,
	MEMBER_KW_PKEY,
	MEMBER_KW_IFINDEX,
	KEYWORD(struct inc_nl_member, "transport", NULL, "rc or uc", parse_enum,
		inc_nl_transport_name, RDMA_INC_A_MEMBER_TRANSPORT, transport),
	{ .name = NULL },
};
#define ADD_REQUIRED	2
#define SET_REQUIRED	5

static const struct keyword set_keywords[] = {
	/* required: */
	MEMBER_KW_TREE,
	MEMBER_KW_RANK,
	MEMBER_KW_ADDR,
	MEMBER_KW_QPN("the number of the host's QP"),
	MEMBER_KW_PSN("the host's first PSN"),
	/* optional: */
	MEMBER_KW_LOCAL,
	KW_LOCAL_PSN,
	MEMBER_KW_PKEY,
	{ .name = NULL },
};

static const struct keyword id_keywords[] = {
	MEMBER_KW_TREE,
	MEMBER_KW_RANK,
	{ .name = NULL },
};

/* Does the request have any attribute of the host? */
static bool names_host(const struct inc_nl_member *req)
{
	return INC_NL_HAS(req, MEMBER_PEER_ADDR) ||
	       INC_NL_HAS(req, MEMBER_PEER_QPN) ||
	       INC_NL_HAS(req, MEMBER_PEER_PSN) ||
	       INC_NL_HAS(req, MEMBER_LOCAL_ADDR) ||
	       INC_NL_HAS(req, MEMBER_PKEY);
}

static void show_made(const struct inc_nl_member *member)
{
	pr_open_object(NULL);
	if (conf.json)
		show_member(member);
	else
		show_member_host(member);
	pr_endl();
	pr_close_object();
}

static int parse_new(struct inc_nl_member *req, int argc, char **argv)
{
	int rc = parse_keywords(add_keywords, "member add", req, argc, argv);

	return rc ? rc : parse_required(add_keywords, "member add", req,
					names_host(req) ? SET_REQUIRED :
							  ADD_REQUIRED);
}

/* Count the words before the next member's. */
static int words_of_one(int argc, char **argv)
{
	bool ranked = false;
	int i;

	for (i = 0; i < argc; i += 2) {
		if (strcmp(argv[i], "rank"))
			continue;
		if (ranked)
			return i;
		ranked = true;
	}
	return argc;
}

/* Add several members, each from its "rank" on; "tree" precedes the first. */
static int add_many(int argc, char **argv)
{
	static struct inc_nl_member req[INC_NL_MAX_NEW], made[INC_NL_MAX_NEW];
	unsigned int n = 0, i;
	struct inc_nl *nl;
	int rc, words;

	for (; argc > 0; argc -= words, argv += words) {
		if (n == INC_NL_MAX_NEW)
			return tool_fail("member add: more than %u members",
					 INC_NL_MAX_NEW);
		words = words_of_one(argc, argv);
		req[n].has = 0;
		if (n)
			INC_NL_SET(&req[n], MEMBER_TREE_ID, tree_id,
				   req[0].tree_id);
		rc = parse_new(&req[n++], words, argv);
		if (rc)
			return rc;
	}

	nl = tool_nl();
	if (!nl)
		return TOOL_FAILED;
	if (inc_nl_members_new(nl, req[0].tree_id, req, n, made))
		return tool_nl_fail(nl);
	pr_open_array(NULL);
	for (i = 0; i < n; i++)
		show_made(&made[i]);
	pr_close_array();
	return TOOL_OK;
}

static int member_add(int argc, char **argv)
{
	struct inc_nl_member req = { .has = 0 }, member;
	struct inc_nl *nl;
	int rc;

	if (words_of_one(argc, argv) < argc)
		return add_many(argc, argv);
	rc = parse_new(&req, argc, argv);
	if (rc)
		return rc;

	nl = tool_nl();
	if (!nl)
		return TOOL_FAILED;
	if (inc_nl_member_new(nl, &req, &member))
		return tool_nl_fail(nl);
	show_made(&member);
	return TOOL_OK;
}

static int member_set(int argc, char **argv)
{
	struct inc_nl_member req = { .has = 0 }, member;
	int rc = parse_request(set_keywords, "member set", &req,
			       SET_REQUIRED, argc, argv);

	if (rc)
		return rc;
	if (inc_nl_member_set(tool_nl(), &req, &member))
		return tool_nl_fail(tool_nl());
	show_made(&member);
	return TOOL_OK;
}

static int member_del(int argc, char **argv)
{
	struct inc_nl_member req = { .has = 0 };
	int rc = parse_request(id_keywords, "member del", &req, 2, argc, argv);

	if (rc)
		return rc;
	return inc_nl_member_del(tool_nl(), req.tree_id, req.rank) ?
	       tool_nl_fail(tool_nl()) : TOOL_OK;
}

static int member_show(int argc, char **argv)
{
	struct inc_nl_member req = { .has = 0 }, member;
	struct inc_nl *nl;
	int rc;

	rc = parse_keywords(id_keywords, "member show", &req, argc, argv);
	if (!rc && INC_NL_HAS(&req, MEMBER_RANK))
		rc = parse_required(id_keywords, "member show", &req, 1);
	if (rc)
		return rc;
	nl = tool_nl();
	if (!nl)
		return TOOL_FAILED;

	if (INC_NL_HAS(&req, MEMBER_RANK)) {
		if (inc_nl_member_get(nl, req.tree_id, req.rank, &member))
			return tool_nl_fail(nl);
		pr_open_array(NULL);
		rc = show_member_stats(&member, NULL);
	} else {
		pr_open_array(NULL);
		rc = inc_nl_member_dump(nl, req.tree_id, show_member_stats,
					NULL);
	}
	if (rc)
		return tool_nl_fail(nl);
	pr_close_array();
	return TOOL_OK;
}

int cmd_member(int argc, char **argv)
{
	static const struct cmd cmds[] = {
		{ "show", member_show },
		{ "list", member_show },
		{ "add", member_add },
		{ "set", member_set },
		{ "del", member_del },
		{ "delete", member_del },
		{ NULL, NULL },
	};

	return cmd_object(cmds, "member", usage, member_show, argc, argv);
}

/* --- parent --------------------------------------------------------------- */

static const char parent_usage[] =
"Usage: inc-tool parent [ show ] tree ID\n"
"       inc-tool parent set tree ID peer-tree ID addr IP qpn QPN psn PSN rkey KEY\n"
"                [ local IP ] [ pkey KEY ]\n"
"A tree created with job-ranks is a child and has a QP to its parent. show prints\n"
"the qpn, psn and addr that member add needs at the parent; set takes the values\n"
"that member add prints there.\n";

static const struct keyword parent_id_keywords[] = {
	MEMBER_KW_TREE,
	{ .name = NULL },
};

static const struct keyword parent_keywords[] = {
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
#define PARENT_REQUIRED	6

static int parent_show(int argc, char **argv)
{
	struct inc_nl_member req = { .has = 0 }, parent;
	int rc = parse_request(parent_id_keywords, "parent show", &req,
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
	int rc = parse_request(parent_keywords, "parent set", &req,
			       PARENT_REQUIRED, argc, argv);

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

	return cmd_object(cmds, "parent", parent_usage, parent_show, argc, argv);
}
