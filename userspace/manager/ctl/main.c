// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * inc-amctl: shows what an aggregation manager knows, and dismantles groups.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/message.h"
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

/*
 * "help" itself asks for it only where an object or a command is expected: jobs
 * and users may have that name.
 */
static bool is_help(const char *word)
{
	return !strcmp(word, "-h") || !strcmp(word, "--help") ||
	       !strcmp(word, "-help");
}

/* Is the next word the value of this one? */
static bool takes_value(const struct ctl_object *o, const char *word)
{
	const char *const *key = o->keywords;

	while (key && *key && !ctl_is(word, *key))
		key++;
	return key && *key;
}

/* NULL after an error message. */
static const struct ctl_object *find(const char *word)
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

/* Those of all objects. A name that looks like one comes after "--". */
static bool is_option(const char *word)
{
	return !strcmp(word, "-j") || !strcmp(word, "--json") ||
	       !strcmp(word, "-p") || !strcmp(word, "--pretty") ||
	       !strcmp(word, "-m") || !strcmp(word, "--manager");
}

static int run(int argc, char **argv)
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
	o = find(argv[0]);
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
	/* What follows "--" is a name, whatever it looks like. */
	if (i < argc) {
		memmove(&argv[i], &argv[i + 1],
			sizeof(*argv) * (size_t)(argc - i));
		argc--;
	}
	return ctl_check_managers() ? CTL_USAGE : o->run(argc, argv);
}

static bool option(const char *word, const char *letter, const char *name)
{
	return !strcmp(word, letter) ||
	       (word[1] == '-' && ctl_is(word + 2, name)) ||
	       (word[1] != '-' && word[2] && ctl_is(word + 1, name));
}

static int finish(int ret)
{
	if (!inc_output_end("inc-amctl") && !ret)
		return CTL_REFUSED;
	return ret;
}

/* Returns the number of words that are options, or -1 after a message. */
static int options(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "--"))
			return i + 1;
		if (option(argv[i], "-j", "json")) {
			ctl_json = true;
		} else if (option(argv[i], "-p", "pretty")) {
			ctl_pretty = true;
		} else if (option(argv[i], "-m", "manager") && i + 1 < argc) {
			ctl_manager = argv[++i];
			if (!ctl_manager[strspn(ctl_manager, ",")])
				return -ctl_wrong("-m \"%s\": must be a manager's address, or several with commas between",
						  ctl_manager);
		} else if (option(argv[i], "-h", "help")) {
			fputs(usage, stdout);
			exit(finish(CTL_OK));
		} else if (option(argv[i], "-V", "version") ||
			   option(argv[i], "-v", "version")) {
			puts("inc-amctl " AM_VERSION);
			exit(finish(CTL_OK));
		} else {
			return -ctl_wrong("option \"%s\" is unknown, or lacks its value; try \"inc-amctl --help\"",
					  argv[i]);
		}
	}
	return i;
}

int main(int argc, char **argv)
{
	int n, ret;

	inc_output_open();
	ctl_manager = getenv("INC_AM");
	n = options(argc, argv);
	if (n < 0)
		return CTL_USAGE;
	if (!ctl_manager || !*ctl_manager)
		ctl_manager = "127.0.0.1";
	ret = run(argc - n, argv + n);
	return finish(ret);
}
