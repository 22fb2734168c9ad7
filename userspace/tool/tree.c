// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * inc-tool tree
 */
#include "common.h"

#include <poll.h>

#include "conf/clock.h"
#include "parse.h"
#include "print.h"
#include "tool.h"

static const char usage[] =
"Usage: inc-tool tree [ show ] [ ID ]\n"
"       inc-tool tree add [ id ID ] ranks N [ slots N ] [ msg-size SIZE ]\n"
"                [ pmtu BYTES ] [ first-msg-id N ] [ collectives LIST ]\n"
"                [ dtypes LIST ] [ ops LIST ] [ order ranks | arrival ]\n"
"                [ job-ranks N [ first-rank R ] ] [ below LIST ]\n"
"                [ traffic-class N ] [ ecn not-ect | ect0 ] [ SETTING ... ]\n"
"       inc-tool tree set ID SETTING ...\n"
"       inc-tool tree del ID [ nowait ]\n"
"SETTING := { priority N | cnp-interval US | window PACKETS | hold SIZE |\n"
"             min-rto TIME | dead-time TIME }\n";

/* Time that the kernel may need in addition to waiting for members. */
#define DEL_SLACK_MS	10000
/* Intervals of polling if events were lost, or may not come any more. */
#define DEL_ASK_MS	20
#define DEL_LATE_MS	1000

#define KW_NAMES(_name, _takes, _parse, _names, _ATTR, _member)		\
	KEYWORD(struct inc_nl_tree, _name, NULL, _takes, _parse,	\
		_names, RDMA_INC_A_TREE_##_ATTR, _member)
#define KW(_name, _takes, _parse, _ATTR, _member)			\
	KW_NAMES(_name, _takes, _parse, NULL, _ATTR, _member)

#define KW_ID								\
	KW("id", "a tree ID, from 1", parse_uint, ID, id)

#define KW_SETTINGS							\
	KW("priority", "0 to 15", parse_uint, PRIORITY, priority),	\
	KW("cnp-interval", "microseconds, or 0 for no CNPs", parse_uint, CNP_INTERVAL, cnp_interval), \
	KW("window", "a number of packets", parse_uint, WINDOW, window), \
	KW("hold", "bytes, as 4M", parse_uint, HOLD, hold),		\
	KW("min-rto", "milliseconds, or as 4ms, 1s", parse_msec, MIN_RTO, min_rto),	\
	KW("dead-time", "milliseconds, or as 2s, 1m", parse_msec, DEAD_TIME, dead_time)

static const struct keyword add_keywords[] = {
	KW("ranks", "a number of ranks", parse_uint, RANKS, ranks),
	KW_ID,
	KW("slots", "a number of slots, a power of two", parse_uint,
	   SLOTS, slots),
	KW("msg-size", "bytes, as 64K", parse_uint, MSG_SIZE, msg_size),
	KW("pmtu", "256, 512, 1024, 2048 or 4096", parse_uint, PMTU, pmtu),
	KW("first-msg-id", "a message ID", parse_uint,
	   FIRST_MSG_ID, first_msg_id),
	KW_NAMES("collectives", "a list as allreduce,barrier", parse_mask,
		 inc_nl_collective_name, COLLECTIVES, collectives),
	KW_NAMES("dtypes", "a list as int32,fp32", parse_mask,
		 inc_nl_dtype_name, DTYPES, dtypes),
	KW_NAMES("ops", "a list as sum,min,max", parse_mask,
		 inc_nl_op_name, OPS, ops),
	KW_NAMES("order", "ranks or arrival", parse_enum,
		 inc_nl_order_name, ORDER, order),
	KW("job-ranks", "the number of ranks of all switches", parse_uint,
	   JOB_RANKS, job_ranks),
	KW("first-rank", "a rank, from 0", parse_uint, FIRST_RANK, first_rank),
	KW("below", "a number of ranks for each member as 4,4,0, 0 for a host",
	   parse_list, BELOW, below),
	KW("traffic-class", "a DSCP times 4", parse_uint,
	   TRAFFIC_CLASS, traffic_class),
	KW_NAMES("ecn", "not-ect or ect0", parse_enum,
		 inc_nl_ecn_name, ECN, ecn),
	KW_SETTINGS,
	{ .name = NULL },
};

static const struct keyword set_keywords[] = {
	KW_ID,
	KW_SETTINGS,
	{ .name = NULL },
};

static const struct keyword id_keywords[] = {
	KW_ID,
	{ .name = NULL },
};

/* "ID ..." is short for "id ID ...". */
static int parse_with_id(const struct keyword *table, const char *what,
			 struct inc_nl_tree *req, int argc, char **argv)
{
	if (argc && ((argv[0][0] >= '0' && argv[0][0] <= '9') ||
		     (argc == 1 && table == id_keywords &&
		      strcmp(argv[0], table->name)))) {
		const struct keyword *id = &table[0];

		if (id->parse(id, argv[0], (char *)req + id->off))
			return TOOL_USAGE;
		req->has |= 1ULL << RDMA_INC_A_TREE_ID;
		argc--;
		argv++;
	}
	return parse_keywords(table, what, req, argc, argv);
}

static int tree_add(int argc, char **argv)
{
	struct inc_nl_tree req = { .has = 0 }, tree;
	int rc = parse_request(add_keywords, "tree add", &req, 1, argc, argv);

	if (rc)
		return rc;
	if (inc_nl_tree_new(tool_nl(), &req, &tree))
		return tool_nl_fail(tool_nl());
	pr_open_object(NULL);
	show_tree(&tree);
	pr_endl();
	pr_close_object();
	return TOOL_OK;
}

static int tree_set(int argc, char **argv)
{
	struct inc_nl_tree req = { .has = 0 };
	struct inc_nl *nl;
	int rc;

	rc = parse_with_id(set_keywords, "tree set", &req, argc, argv);
	if (rc)
		return rc;
	if (!INC_NL_HAS(&req, TREE_ID))
		return tool_fail("tree set: the tree's ID is missing");
	if (req.has == 1ULL << RDMA_INC_A_TREE_ID)
		return tool_fail("tree set: nothing to change: it takes priority, cnp-interval, window, hold, min-rto, dead-time");

	nl = tool_nl();
	if (!nl)
		return TOOL_FAILED;
	return inc_nl_tree_set(nl, &req) ? tool_nl_fail(nl) : TOOL_OK;
}

static int is_gone(const struct inc_nl_event *ev, void *arg)
{
	const struct inc_nl_tree *tree = arg;

	return ev->cmd == RDMA_INC_CMD_TREE_DEL_NTF &&
	       ev->tree.id == tree->id && ev->tree.epoch == tree->epoch;
}

/*
 * Wait for the event or, if it was lost, until no tree is being dismantled. If the module
 * is unloaded meanwhile, there may be no event.
 */
static int wait_gone(struct inc_nl *nl, struct inc_nl *events,
		     struct inc_nl_tree *tree)
{
	struct pollfd pfd = { .fd = inc_nl_fd(events), .events = POLLIN };
	int64_t late = now_ms() + DEL_LATE_MS;
	int64_t until = now_ms() + tree->dead_time + DEL_SLACK_MS;
	struct inc_nl_switch sw = { .leaving = 1 };
	bool lost = false;
	int rc;

	while (now_ms() < until) {
		if (poll(&pfd, 1, DEL_ASK_MS) < 0 && errno != EINTR)
			return tool_error("poll: %s", strerror(errno));
		rc = inc_nl_events(events, is_gone, tree);
		if (rc > 0)
			return TOOL_OK;
		if (rc == -ENOBUFS)
			lost = true;
		else if (rc)
			return tool_nl_fail(events);
		if ((lost || now_ms() >= late) && inc_nl_switch_get(nl, &sw))
			return tool_nl_fail(nl);
		if (!sw.leaving)
			return TOOL_OK;
	}
	return tool_error("tree del: tree %u: the kernel has not finished yet",
			  tree->id);
}

static int del_and_wait(struct inc_nl *nl, uint32_t id)
{
	struct inc_nl_tree tree;
	struct inc_nl events;
	int rc;

	/* Use a connection for events alone: the shared one is for requests. */
	if (inc_nl_open(&events) || inc_nl_subscribe(&events))
		rc = tool_nl_fail(&events);
	else if (inc_nl_tree_get(nl, id, &tree) || inc_nl_tree_del(nl, id))
		rc = tool_nl_fail(nl);
	else
		rc = wait_gone(nl, &events, &tree);
	inc_nl_close(&events);
	return rc;
}

static int tree_del(int argc, char **argv)
{
	struct inc_nl_tree req = { .has = 0 };
	bool wait = true;
	struct inc_nl *nl;
	int rc;

	if (argc && !strcmp(argv[argc - 1], "nowait")) {
		wait = false;
		argc--;
	}
	rc = parse_with_id(id_keywords, "tree del", &req, argc, argv);
	if (rc)
		return rc;
	if (!INC_NL_HAS(&req, TREE_ID))
		return tool_fail("tree del: the tree's ID is missing");

	nl = tool_nl();
	if (!nl)
		return TOOL_FAILED;
	if (wait)
		return del_and_wait(nl, req.id);
	return inc_nl_tree_del(nl, req.id) ? tool_nl_fail(nl) : TOOL_OK;
}

static int show_one(const struct inc_nl_tree *tree, void *arg)
{
	struct inc_nl *nl = arg;
	int rc = 0;

	pr_open_object(NULL);
	show_tree(tree);
	if (conf.stats) {
		show_stats("stats", tree->stats, RDMA_INC_A_TREE_STATS_MAX,
			   inc_nl_tree_stat_name);
		if (conf.json)
			show_stats("member-stats", tree->member_stats,
				   RDMA_INC_A_MEMBER_STATS_MAX,
				   inc_nl_member_stat_name);
		rc = show_ranks(nl, tree);
	}
	pr_endl();
	pr_close_object();
	/* Continue if the tree was deleted in the meantime. */
	return rc == -ENOENT ? 0 : rc;
}

static int tree_show(int argc, char **argv)
{
	struct inc_nl_tree req = { .has = 0 }, tree;
	struct inc_nl *nl;
	int rc;

	rc = parse_with_id(id_keywords, "tree show", &req, argc, argv);
	if (rc)
		return rc;
	nl = tool_nl();
	if (!nl)
		return TOOL_FAILED;

	if (INC_NL_HAS(&req, TREE_ID)) {
		if (inc_nl_tree_get(nl, req.id, &tree))
			return tool_nl_fail(nl);
		pr_open_array(NULL);
		rc = show_one(&tree, nl);
	} else {
		pr_open_array(NULL);
		rc = inc_nl_tree_dump(nl, show_one, nl);
	}
	if (rc)
		return tool_nl_fail(nl);
	pr_close_array();
	return TOOL_OK;
}

int cmd_tree(int argc, char **argv)
{
	static const struct cmd cmds[] = {
		{ "show", tree_show },
		{ "list", tree_show },
		{ "add", tree_add },
		{ "set", tree_set },
		{ "del", tree_del },
		{ "delete", tree_del },
		{ NULL, NULL },
	};

	return cmd_object(cmds, "tree", usage, tree_show, argc, argv);
}
