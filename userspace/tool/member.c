// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * inc-tool member
 */
#include "common.h"

#include "parse.h"
#include "print.h"
#include "tool.h"

static const char usage[] =
"Usage: inc-tool member [ show ] [ tree ID [ rank R ] ]\n"
"       inc-tool member add tree ID rank R addr IP qpn QPN psn PSN\n"
"                [ local IP ] [ local-qpn QPN ] [ local-psn PSN ] [ pkey KEY ]\n"
"                [ transport rc | uc ]\n"
"       inc-tool member del tree ID rank R\n"
"addr, qpn and psn are the host's: the address of its GID, the number of its\n"
"QP and the first PSN that it sends. member add prints what the host needs.\n";

#define KW(_name, _alias, _takes, _parse, _attr, _member)		\
	KEYWORD(struct inc_nl_member, _name, _alias, _takes,		\
		_parse, NULL, _attr, _member)

#define KW_WHO								\
	KW("tree", "tree-id", "a tree ID, from 1", parse_uint,		\
	   RDMA_INC_A_MEMBER_TREE_ID, tree_id),				\
	KW("rank", NULL, "a rank, from 0", parse_uint,			\
	   RDMA_INC_A_MEMBER_RANK, rank)

static const struct keyword add_keywords[] = {
	KW_WHO,
	KW("addr", "peer-addr", "an IPv4 or IPv6 address", parse_addr,
	   RDMA_INC_A_MEMBER_PEER_ADDR, peer_addr),
	KW("qpn", "peer-qpn", "the number of the host's QP", parse_uint,
	   RDMA_INC_A_MEMBER_PEER_QPN, peer_qpn),
	KW("psn", "peer-psn", "the host's first PSN", parse_uint,
	   RDMA_INC_A_MEMBER_PEER_PSN, peer_psn),
	KW("local", "local-addr", "an IPv4 or IPv6 address", parse_addr,
	   RDMA_INC_A_MEMBER_LOCAL_ADDR, local_addr),
	KW("local-qpn", NULL, "the switch's QPN, from 0x800000", parse_uint,
	   RDMA_INC_A_MEMBER_QPN, qpn),
	KW("local-psn", NULL, "the switch's first PSN", parse_uint,
	   RDMA_INC_A_MEMBER_PSN, psn),
	KW("pkey", NULL, "a P_Key, as 0xffff", parse_uint,
	   RDMA_INC_A_MEMBER_PKEY, pkey),
	KEYWORD(struct inc_nl_member, "transport", NULL, "rc or uc", parse_enum,
		inc_nl_transport_name, RDMA_INC_A_MEMBER_TRANSPORT, transport),
	{ .name = NULL },
};

static const struct keyword who_keywords[] = {
	KW_WHO,
	{ .name = NULL },
};

static int need(const char *what, const struct keyword *table,
		const struct inc_nl_member *req, unsigned int last)
{
	unsigned int i;

	for (i = 0; i <= last; i++) {
		if (!INC_NL_HAS(req, table[i].attr))
			return tool_fail("%s: %s is missing", what,
					 table[i].name);
	}
	return TOOL_OK;
}

static int member_add(int argc, char **argv)
{
	struct inc_nl_member req = { .has = 0 }, member;
	struct inc_nl *nl;
	int rc;

	if (wants_help(argc, argv)) {
		fputs(usage, stdout);
		return TOOL_OK;
	}
	rc = parse_keywords(add_keywords, "member add", &req, argc, argv);
	if (!rc)
		rc = need("member add", add_keywords, &req, 4);
	if (rc)
		return rc;

	nl = tool_nl();
	if (!nl)
		return TOOL_KERNEL;
	if (inc_nl_member_new(nl, &req, &member))
		return tool_nl_fail(nl);
	pr_open_object(NULL);
	if (conf.json)
		show_member(&member);
	else
		show_member_host(&member);
	pr_endl();
	pr_close_object();
	return TOOL_OK;
}

static int member_del(int argc, char **argv)
{
	struct inc_nl_member req = { .has = 0 };
	struct inc_nl *nl;
	int rc;

	if (wants_help(argc, argv)) {
		fputs(usage, stdout);
		return TOOL_OK;
	}
	rc = parse_keywords(who_keywords, "member del", &req, argc, argv);
	if (!rc)
		rc = need("member del", who_keywords, &req, 1);
	if (rc)
		return rc;

	nl = tool_nl();
	if (!nl)
		return TOOL_KERNEL;
	return inc_nl_member_del(nl, req.tree_id, req.rank) ?
	       tool_nl_fail(nl) : TOOL_OK;
}

static int show_one(const struct inc_nl_member *m, void *arg)
{
	(void)arg;
	pr_open_object(NULL);
	show_member(m);
	if (conf.stats)
		show_stats("stats", m->stats, RDMA_INC_A_MEMBER_STATS_MAX,
			   inc_nl_member_stat_name);
	pr_endl();
	pr_close_object();
	return 0;
}

static int member_show(int argc, char **argv)
{
	struct inc_nl_member req = { .has = 0 }, member;
	struct inc_nl *nl;
	int rc;

	if (wants_help(argc, argv)) {
		fputs(usage, stdout);
		return TOOL_OK;
	}
	rc = parse_keywords(who_keywords, "member show", &req, argc, argv);
	if (!rc && INC_NL_HAS(&req, RDMA_INC_A_MEMBER_RANK))
		rc = need("member show", who_keywords, &req, 0);
	if (rc)
		return rc;
	nl = tool_nl();
	if (!nl)
		return TOOL_KERNEL;

	if (INC_NL_HAS(&req, RDMA_INC_A_MEMBER_RANK)) {
		if (inc_nl_member_get(nl, req.tree_id, req.rank, &member))
			return tool_nl_fail(nl);
		pr_open_array(NULL);
		rc = show_one(&member, NULL);
	} else {
		pr_open_array(NULL);
		rc = inc_nl_member_dump(nl, req.tree_id, show_one, NULL);
	}
	pr_close_array();
	return rc ? tool_nl_fail(nl) : TOOL_OK;
}

int cmd_member(int argc, char **argv)
{
	static const struct cmd cmds[] = {
		{ "show", member_show },
		{ "list", member_show },
		{ "add", member_add },
		{ "del", member_del },
		{ "delete", member_del },
		{ NULL, NULL },
	};

	return cmd_select(cmds, "member", usage, member_show, argc, argv);
}
