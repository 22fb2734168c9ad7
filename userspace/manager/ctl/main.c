// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* inc-amctl: shows an aggregation manager's knowledge, and dismantles groups. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/message.h"
#include "conf/opts.h"
#include "conf/output.h"
#include "ctl/amctl.h"

static const char usage[] =
	"Usage: inc-amctl [OPTIONS] OBJECT { COMMAND | help }\n"
	"\n"
	"  topology           switches, hosts and links\n"
	"  switch [NAME]      switches: state, room; drain, resume\n"
	"  client [ADDRESS]   hosts: the switch that sees each, its interface\n"
	"  group show [NAME]  all groups, or one: its tree and ranks\n"
	"  group del NAME     dismantle a group; its ranks are told\n"
	"  task [NAME]        what groups do: rates, history; --follow\n"
	"  why GROUP          why it has this tree, and what spoke against others\n"
	"  quota [TENANT]     what tenants have, and may have\n"
	"  reservation        room that is held for jobs: show, add, del\n"
	"  event              what has happened; --follow: and what happens\n"
	"\n"
	"  -m, --manager HOST[:PORT][,HOST...]\n"
	"                             default: INC_AM, else 127.0.0.1:" AM_PORT "\n"
	"  -j, --json                 print JSON\n"
	"  -p, --pretty               with line breaks and indentation\n"
	"  -h, --help                 this text\n"
	"  -V, -v, --version\n"
	"\n"
	"\"inc-amctl OBJECT help\" has more. Objects and commands may be abbreviated;\n"
	"\"list\" is \"show\". After \"--\" there are names only.\n"
	"Exit status, as inc-tool's: 0; 1: wrong command line; 2: the manager has refused\n"
	"or was not reached, or nothing can be printed.\n";

static const struct ctl_object *const objects[] = {
	&ctl_topology,
	&ctl_switch,
	&ctl_client,
	&ctl_group,
	&ctl_task,
	&ctl_why,
	&ctl_quota,
	&ctl_reservation,
	&ctl_event,
};

#define NOBJECTS	(sizeof(objects) / sizeof(objects[0]))

/**
 * struct args - the options
 * @json: print JSON
 * @pretty: with line breaks
 * @manager: address of the manager, or several
 */
struct args {
	bool		json;
	bool		pretty;
	const char	*manager;
};

/*
 * The bare word "help" counts only where an object or a command is expected:
 * jobs and users may have that name.
 */
static bool is_help(const char *word)
{
	return !strcmp(word, "-h") || !strcmp(word, "--help") ||
	       !strcmp(word, "-help");
}

/* Is the next word the value of this word? */
static bool takes_value(const struct ctl_object *o, const char *word)
{
	const char *const *key = o->keywords;

	while (key && *key && !ctl_is(word, *key))
		key++;
	return key && *key;
}

/* Find an object by its name or abbreviation. NULL after an error message. */
static const struct ctl_object *find_object(const char *word)
{
	const struct ctl_object *found = NULL;
	size_t i;

	for (i = 0; i < NOBJECTS; i++) {
		if (!strcmp(objects[i]->name, word))
			return objects[i];
		if (!ctl_is(word, objects[i]->name))
			continue;
		if (found) {
			ctl_wrong("\"%s\" could be %s or %s", word,
				  found->name, objects[i]->name);
			return NULL;
		}
		found = objects[i];
	}
	if (!found)
		ctl_wrong("there is no \"%s\"; \"inc-amctl --help\" lists all",
			  word);
	return found;
}

/* Is a word an option of inc-amctl? Names that look like one follow "--". */
static bool is_option(const char *word)
{
	return !strcmp(word, "-j") || !strcmp(word, "--json") ||
	       !strcmp(word, "-p") || !strcmp(word, "--pretty") ||
	       !strcmp(word, "-m") || !strcmp(word, "--manager");
}

static int run_object(int argc, char **argv)
{
	const struct ctl_object *o;
	int i;

	if (!argc) {
		fputs(usage, stderr);
		return CTL_USAGE;
	}
	if (is_help(argv[0]) || !strcmp(argv[0], "help")) {
		fputs(usage, stdout);
		return CTL_OK;
	}
	o = find_object(argv[0]);
	if (!o)
		return CTL_USAGE;
	argc--;
	argv++;
	if (argc && !strcmp(argv[0], "help")) {
		fputs(o->usage, stdout);
		return CTL_OK;
	}
	for (i = 0; i < argc && strcmp(argv[i], "--"); i++) {
		if (takes_value(o, argv[i])) {
			i++;
		} else if (is_help(argv[i])) {
			fputs(o->usage, stdout);
			return CTL_OK;
		} else if (is_option(argv[i])) {
			return ctl_wrong("option %s stands before the object, as in \"inc-amctl %s ... %s\"",
					 argv[i], argv[i], o->name);
		}
	}
	/* Words after "--" are names, whatever they look like. */
	if (i < argc) {
		memmove(&argv[i], &argv[i + 1],
			sizeof(*argv) * (size_t)(argc - i));
		argc--;
	}
	return ctl_check_managers() ? CTL_USAGE : o->run(argc, argv);
}

static int finish_output(int ret)
{
	if (!inc_output_end("inc-amctl") && !ret)
		return CTL_REFUSED;
	return ret;
}

static int take_manager(void *ctx, const struct opt *opt, char *text)
{
	struct args *args = ctx;

	args->manager = text;
	return text[strspn(text, ",")] ? 0 :
	       opts_wrong_value(opt, text, "a manager's address, or several with commas between");
}

static const struct opt options_list[] = {
	{ "json", 'j', OPT_FLAG, NULL, "", OPT_AT(struct args, json) },
	{ "pretty", 'p', OPT_FLAG, NULL, "", OPT_AT(struct args, pretty) },
	{ "manager", 'm', OPT_CALL, "HOST", "", .call = take_manager },
	{ "help", 'h', OPT_HELP, NULL, "", .off = 0 },
	{ "version", 'V', OPT_VERSION, NULL, "", .off = 0 },
	{ "v", 'v', OPT_VERSION, NULL, NULL, .off = 0 },
	{ 0 }
};

static const struct opts options = {
	.prog	= "inc-amctl",
	.version = AM_VERSION,
	.head	= usage,
	.list	= options_list,
	.first	= true,
};

int main(int argc, char **argv)
{
	struct args args = { .manager = getenv("INC_AM") };
	int ret;

	inc_output_open();
	ret = opts_read(&options, &args, argc, argv);
	if (ret)
		return finish_output(ret < 0 ? CTL_USAGE : CTL_OK);
	ctl_json = args.json;
	ctl_pretty = args.pretty;
	ctl_manager = args.manager && *args.manager ? args.manager :
		      "127.0.0.1";
	return finish_output(run_object(argc - optind, argv + optind));
}
