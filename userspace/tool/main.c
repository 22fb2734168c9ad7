// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * inc-tool: show and change the in-network computing switch of a Linux host.
 */
#include "common.h"

#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <unistd.h>

#include "conf/opts.h"
#include "conf/output.h"
#include "tool.h"

#define NETNS_DIR	"/var/run/netns"

static const char usage[] =
"Usage: inc-tool [ OPTIONS ] OBJECT { COMMAND | help }\n"
"       inc-tool [ OPTIONS ] -batch FILE\n"
"OBJECT := { tree | member | parent | slot | stat | switch | monitor | serve |\n"
"            check | top | save | restore }\n"
"OPTIONS := { -j[son] | -p[retty] | -s[tatistics] | -d[etails] | -t[imestamp] |\n"
"             -f[orce] | -b[atch] FILE | -n[etns] NAME | -V[ersion] | -h[elp] }\n";

static const struct cmd objects[] = {
	{ "tree", cmd_tree },
	{ "member", cmd_member },
	{ "parent", cmd_parent },
	{ "slot", cmd_slot },
	{ "stat", cmd_stat },
	{ "switch", cmd_switch },
	{ "monitor", cmd_monitor },
	{ "serve", cmd_serve },
	{ "check", cmd_check },
	{ "top", cmd_top },
	{ "save", cmd_save },
	{ "restore", cmd_restore },
	{ NULL, NULL },
};

static int run_command(int argc, char **argv)
{
	return cmd_select(objects, "object", usage, argc, argv);
}

static int enter_netns(const char *name)
{
	char path[256];
	int fd;

	if (strchr(name, '/'))
		snprintf(path, sizeof(path), "%s", name);
	else
		snprintf(path, sizeof(path), NETNS_DIR "/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return tool_fail("network namespace \"%s\": %s", name,
				 strerror(errno));
	if (setns(fd, CLONE_NEWNET)) {
		int err = errno;

		close(fd);
		return tool_error("network namespace \"%s\": %s", name,
				  strerror(err));
	}
	close(fd);
	return TOOL_OK;
}

static int count_stats(void *ctx, const struct opt *opt, char *text)
{
	struct conf *c = ctx;

	c->stats++;
	return 0;
}

#define AT(field)	OPT_AT(struct conf, field)

static const struct opt options_list[] = {
	{ "json", 'j', OPT_FLAG, NULL, "", AT(json) },
	{ "pretty", 'p', OPT_FLAG, NULL, "", AT(pretty) },
	{ "statistics", 's', OPT_CALL, NULL, "", .call = count_stats },
	{ "stats", 0, OPT_CALL, NULL, NULL, .call = count_stats },
	{ "details", 'd', OPT_FLAG, NULL, "", AT(details) },
	{ "timestamp", 't', OPT_FLAG, NULL, "", AT(timestamp) },
	{ "force", 'f', OPT_FLAG, NULL, "", AT(force) },
	{ "batch", 'b', OPT_TEXT, "FILE", "", AT(batch) },
	{ "netns", 'n', OPT_TEXT, "NAME", "", AT(netns) },
	{ "Version", 'V', OPT_VERSION, NULL, "", .off = 0 },
	{ "version", 'v', OPT_VERSION, NULL, NULL, .off = 0 },
	{ "help", 'h', OPT_HELP, NULL, "", .off = 0 },
	{ 0 }
};

static const struct opts options = {
	.prog	= "inc-tool",
	.version = TOOL_VERSION,
	.head	= usage,
	.list	= options_list,
	.first	= true,
};

static int finish_output(int rc)
{
	tool_nl_close();
	if (!inc_output_end("inc-tool") && !rc)
		return TOOL_FAILED;
	return rc;
}

static int run_tool(int argc, char **argv)
{
	int rc = opts_read(&options, &conf, argc, argv);

	conf.run = run_command;
	if (rc)
		return rc < 0 ? TOOL_USAGE : TOOL_OK;
	argc -= optind;
	argv += optind;
	if (conf.netns) {
		rc = enter_netns(conf.netns);
		if (rc)
			return rc;
	}
	if (!conf.batch)
		return run_command(argc, argv);
	if (argc)
		return tool_fail("\"%s\": a command and -batch exclude each other",
				 argv[0]);
	return batch_run(conf.batch);
}

int main(int argc, char **argv)
{
	inc_output_open();
	return finish_output(run_tool(argc, argv));
}
