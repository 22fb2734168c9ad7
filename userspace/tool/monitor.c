// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * inc-tool monitor: print one line per event until interrupted.
 */
#include "common.h"

#include <poll.h>

#include "conf/clock.h"
#include "conf/output.h"
#include "conf/unit.h"
#include "print.h"
#include "tool.h"

static const char usage[] =
"Usage: inc-tool monitor [ all | tree | member | slot ]\n"
"With -t, each event has the time at which it was received.\n";

/**
 * struct wanted - kinds of events to print
 * @trees: events of trees
 * @members: events of members
 * @slots: events of slots
 */
struct wanted {
	bool	trees;
	bool	members;
	bool	slots;
};

static void show_time(void)
{
	char text[UNIT_TIME_LEN];

	pr_string("time", "", unit_clock(clock_ns(CLOCK_REALTIME) / 1000, text));
}

static bool is_tree_event(uint8_t cmd)
{
	return cmd == RDMA_INC_CMD_TREE_NEW_NTF ||
	       cmd == RDMA_INC_CMD_TREE_DEL_NTF ||
	       cmd == RDMA_INC_CMD_TREE_READY_NTF ||
	       cmd == RDMA_INC_CMD_TREE_FAILED_NTF;
}

static bool wants_event(const struct wanted *wanted, uint8_t cmd)
{
	if (is_tree_event(cmd))
		return wanted->trees;
	return cmd == RDMA_INC_CMD_SLOT_FAILED_NTF ? wanted->slots :
						     wanted->members;
}

static int show_event(const struct inc_nl_event *ev, void *arg)
{
	if (!wants_event(arg, ev->cmd))
		return 0;
	pr_open_object(NULL);
	if (conf.timestamp)
		show_time();
	pr_enum("event", "", ev->cmd, inc_nl_event_name);
	if (is_tree_event(ev->cmd))
		show_tree(&ev->tree);
	else if (ev->cmd == RDMA_INC_CMD_SLOT_FAILED_NTF)
		show_slot(&ev->slot);
	else
		show_member(&ev->member);
	pr_endl();
	pr_close_object();
	inc_output_flush();
	return 0;
}

static int watch_events(struct inc_nl *nl, struct wanted *wanted)
{
	struct pollfd pfd = { .fd = inc_nl_fd(nl), .events = POLLIN };
	int rc;

	for (;;) {
		if (poll(&pfd, 1, -1) < 0 && errno != EINTR)
			return tool_error("poll: %s", strerror(errno));
		rc = inc_nl_events(nl, show_event, wanted);
		if (rc == -ENOBUFS) {
			fprintf(stderr, "inc-tool: %s\n", nl->error);
			continue;
		}
		if (rc)
			return tool_nl_fail(nl);
		/* The reader of our output is gone. */
		if (!inc_output_flush())
			return TOOL_FAILED;
	}
}

static int run_monitor(struct wanted wanted)
{
	struct inc_nl nl;
	int rc = TOOL_FAILED;

	inc_output_follow();
	/* Use a connection for events alone: the shared one is for requests. */
	if (inc_nl_open(&nl) || inc_nl_subscribe(&nl))
		rc = tool_nl_fail(&nl);
	else
		rc = watch_events(&nl, &wanted);
	inc_nl_close(&nl);
	return rc;
}

static int too_much(const char *word)
{
	return tool_fail("monitor: unexpected argument \"%s\"", word);
}

static int monitor_all(int argc, char **argv)
{
	if (argc)
		return too_much(argv[0]);
	return run_monitor((struct wanted){
		.trees = true, .members = true, .slots = true,
	});
}

static int monitor_tree(int argc, char **argv)
{
	if (argc)
		return too_much(argv[0]);
	return run_monitor((struct wanted){ .trees = true });
}

static int monitor_member(int argc, char **argv)
{
	if (argc)
		return too_much(argv[0]);
	return run_monitor((struct wanted){ .members = true });
}

static int monitor_slot(int argc, char **argv)
{
	if (argc)
		return too_much(argv[0]);
	return run_monitor((struct wanted){ .slots = true });
}

int cmd_monitor(int argc, char **argv)
{
	static const struct cmd cmds[] = {
		{ "all", monitor_all },
		{ "tree", monitor_tree },
		{ "member", monitor_member },
		{ "slot", monitor_slot },
		{ NULL, NULL },
	};

	return cmd_object(cmds, "monitor", usage, monitor_all, argc, argv);
}
