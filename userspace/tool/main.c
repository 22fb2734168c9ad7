// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * inc-tool: show and change the in-network computing switch of a Linux host.
 */
#include "common.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include "tool.h"
#include "conf/output.h"

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

/* Options: a count for each flag, and the text of each value. */
struct option_value {
	const char	*batch;
	const char	*netns;
	unsigned int	json, pretty, details, force, timestamp, stats;
	unsigned int	version, help;
};

static int parse_option(struct option_value *v, const char *word,
			const char *next, bool *took)
{
	const struct {
		const char	*name;
		unsigned int	*flag;
		const char	**value;
	} options[] = {
		{ "json", &v->json, NULL },
		{ "pretty", &v->pretty, NULL },
		{ "statistics", &v->stats, NULL },
		{ "stats", &v->stats, NULL },
		{ "details", &v->details, NULL },
		{ "timestamp", &v->timestamp, NULL },
		{ "force", &v->force, NULL },
		{ "batch", NULL, &v->batch },
		{ "netns", NULL, &v->netns },
		{ "Version", &v->version, NULL },
		{ "version", &v->version, NULL },
		{ "help", &v->help, NULL },
	};
	const char *name = word + (word[1] == '-' ? 2 : 1);
	size_t i;

	*took = false;
	for (i = 0; *name && i < ARRAY_SIZE(options); i++) {
		if (strncmp(options[i].name, name, strlen(name)))
			continue;
		if (options[i].flag) {
			++*options[i].flag;
			return TOOL_OK;
		}
		if (!next)
			return tool_fail("option \"%s\" lacks its value", word);
		*options[i].value = next;
		*took = true;
		return TOOL_OK;
	}
	return tool_fail("option \"%s\" is unknown; try \"inc-tool -help\"",
			 word);
}

static int finish(int rc)
{
	tool_nl_close();
	if (!inc_output_end("inc-tool") && !rc)
		return TOOL_FAILED;
	return rc;
}

static int run(const struct option_value *v, int argc, char **argv)
{
	int rc;

	if (v->help) {
		fputs(usage, stdout);
		return TOOL_OK;
	}
	if (v->version) {
		puts("inc-tool " TOOL_VERSION);
		return TOOL_OK;
	}

	conf = (struct conf){
		.json = v->json, .pretty = v->pretty, .details = v->details,
		.force = v->force, .timestamp = v->timestamp,
		.stats = v->stats, .run = run_command,
	};
	if (v->netns) {
		rc = enter_netns(v->netns);
		if (rc)
			return rc;
	}
	if (v->batch) {
		if (argc)
			return tool_fail("\"%s\": a command and -batch exclude each other",
					 argv[0]);
		return batch_run(v->batch);
	}
	return run_command(argc, argv);
}

int main(int argc, char **argv)
{
	struct option_value v = { .batch = NULL };
	bool took;
	int i;

	inc_output_open();
	for (i = 1; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
		if (!strcmp(argv[i], "--")) {
			i++;
			break;
		}
		if (parse_option(&v, argv[i], i + 1 < argc ? argv[i + 1] : NULL,
				 &took))
			return finish(TOOL_USAGE);
		i += took;
	}
	return finish(run(&v, argc - i, argv + i));
}
