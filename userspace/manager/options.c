// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The command line and the configuration file, whose lines are long options
 * without the dashes.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manager.h"
#include "message.h"

static const char usage[] =
	"Usage: inc-amd [OPTIONS] --switch ADDR...\n"
	"The aggregation manager: makes the trees that jobs ask for.\n"
	"\n"
	"  -f, --config FILE       options, one per line, without the dashes\n"
	"  -s, --switch ADDR       a switch's agent: /PATH of its UNIX socket, or\n"
	"                          [USER@]HOST[:PORT] for SSH (root, port 830);\n"
	"                          once for each switch\n"
	"  -l, --listen ADDR:PORT  where clients connect (default 127.0.0.1:" AM_PORT ");\n"
	"                          neither authenticated nor encrypted\n"
	"      --ssh-key FILE      private key, with the public one in FILE.pub\n"
	"      --known-hosts FILE  keys of the agents; without it any is accepted\n"
	"      --allow ADDR[/N]    addresses that ranks may have besides their\n"
	"                          connections'; once for each network\n"
	"      --forming-time S    seconds from a group's first rank to its start (300)\n"
	"      --heartbeat MS      interval of the ranks' heartbeats, 0: none (1000)\n"
	"      --misses N          heartbeats that may be missed (8)\n"
	"      --dead-time MS      dead time of trees (the kernel's default)\n"
	"      --tree-ids A-B      IDs of this manager's trees; others with these IDs are\n"
	"                          deleted (1073741824-2147483647)\n"
	"      --pidfile FILE      write the process ID there\n"
	"  -v, --verbose           log more\n"
	"  -h, --help              this text\n"
	"  -V, --version\n";

enum {
	OPT_KEY = 256,
	OPT_KNOWN_HOSTS,
	OPT_ALLOW,
	OPT_FORMING,
	OPT_HEARTBEAT,
	OPT_MISSES,
	OPT_DEAD_TIME,
	OPT_TREE_IDS,
	OPT_PIDFILE,
};

static const struct option longs[] = {
	{ "config",		required_argument,	NULL, 'f' },
	{ "switch",		required_argument,	NULL, 's' },
	{ "listen",		required_argument,	NULL, 'l' },
	{ "ssh-key",		required_argument,	NULL, OPT_KEY },
	{ "known-hosts",	required_argument,	NULL, OPT_KNOWN_HOSTS },
	{ "allow",		required_argument,	NULL, OPT_ALLOW },
	{ "forming-time",	required_argument,	NULL, OPT_FORMING },
	{ "heartbeat",		required_argument,	NULL, OPT_HEARTBEAT },
	{ "misses",		required_argument,	NULL, OPT_MISSES },
	{ "dead-time",		required_argument,	NULL, OPT_DEAD_TIME },
	{ "tree-ids",		required_argument,	NULL, OPT_TREE_IDS },
	{ "pidfile",		required_argument,	NULL, OPT_PIDFILE },
	{ "verbose",		no_argument,		NULL, 'v' },
	{ "help",		no_argument,		NULL, 'h' },
	{ "version",		no_argument,		NULL, 'V' },
	{ NULL, 0, NULL, 0 }
};

static int read_file(struct options *o, const char *path);

static int number(const char *name, const char *text, uint32_t min,
		  uint32_t max, uint32_t scale, uint32_t *value)
{
	unsigned long num;
	char *end;

	errno = 0;
	num = strtoul(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || num < min ||
	    num > max) {
		fprintf(stderr, "inc-amd: --%s %s: must be %u to %u\n", name,
			text, min, max);
		return -1;
	}
	*value = (uint32_t)num * scale;
	return 0;
}

static int add_switch(struct options *o, const char *text)
{
	struct netconf_target target = { .port = 0 };
	const char **list;

	if (netconf_target_parse(&target, text)) {
		fprintf(stderr, "inc-amd: --switch %s: must be /PATH of a UNIX socket, or [USER@]HOST[:PORT]\n",
			text);
		return -1;
	}
	list = realloc(o->switches, (o->nswitches + 1) * sizeof(*list));
	if (!list)
		return -1;
	o->switches = list;
	list[o->nswitches++] = text;
	return 0;
}

static int add_network(struct options *o, const char *text)
{
	struct network *net = calloc(1, sizeof(*net));

	if (!net)
		return -1;
	if (!network_parse(net, text)) {
		fprintf(stderr, "inc-amd: --allow %s: must be an address, or ADDRESS/PREFIX\n",
			text);
		free(net);
		return -1;
	}
	net->next = o->allow;
	o->allow = net;
	return 0;
}

static int tree_ids(struct options *o, const char *text)
{
	unsigned int first, last;
	char rest;

	if (sscanf(text, "%u-%u%c", &first, &last, &rest) != 2 || !first ||
	    last < first || *text == '-') {
		fprintf(stderr, "inc-amd: --tree-ids %s: must be FIRST-LAST, from 1 on\n",
			text);
		return -1;
	}
	o->first_tree = first;
	o->last_tree = last;
	return 0;
}

/* Returns 0, 1: end with success, or -1 after a message. */
static int take(struct options *o, int opt, const char *arg)
{
	switch (opt) {
	case 'f':
		return read_file(o, arg);
	case 's':
		return add_switch(o, arg);
	case 'l':
		o->listen = arg;
		return 0;
	case OPT_KEY:
		o->key = arg;
		return 0;
	case OPT_KNOWN_HOSTS:
		o->known_hosts = arg;
		return 0;
	case OPT_ALLOW:
		return add_network(o, arg);
	case OPT_FORMING:
		return number("forming-time", arg, 1, 86400, 1000,
			      &o->forming_ms);
	case OPT_HEARTBEAT:
		return number("heartbeat", arg, 0, 60000, 1, &o->heartbeat_ms);
	case OPT_MISSES:
		return number("misses", arg, 1, 1000, 1, &o->misses);
	case OPT_DEAD_TIME:
		return number("dead-time", arg, 10, 60000, 1, &o->dead_time);
	case OPT_TREE_IDS:
		return tree_ids(o, arg);
	case OPT_PIDFILE:
		o->pidfile = arg;
		return 0;
	case 'v':
		o->verbose = true;
		return 0;
	case 'h':
		fputs(usage, stdout);
		return 1;
	case 'V':
		puts("inc-amd " AM_VERSION);
		return 1;
	default:
		fputs("inc-amd: \"inc-amd --help\" lists the options\n", stderr);
		return -1;
	}
}

/* --- Configuration file -------------------------------------------------- */

static int take_line(struct options *o, char *line, const char *path,
		     unsigned int n)
{
	char *name = strtok(line, " \t\n"), *arg = strtok(NULL, " \t\n");
	const struct option *opt;

	if (!name || *name == '#')
		return 0;
	for (opt = longs; opt->name; opt++)
		if (!strcmp(opt->name, name))
			break;
	if (!opt->name || strtok(NULL, " \t\n") ||
	    !arg != !opt->has_arg || opt->val == 'f') {
		fprintf(stderr, "inc-amd: %s:%u: must be a long option without the dashes, and its value\n",
			path, n);
		return -1;
	}
	/* It stays for as long as the program runs. */
	return take(o, opt->val, arg ? strdup(arg) : NULL);
}

static int read_file(struct options *o, const char *path)
{
	FILE *f = fopen(path, "r");
	unsigned int n = 0;
	char line[1024];
	int ret = 0;

	if (!f) {
		fprintf(stderr, "inc-amd: %s: %s\n", path, strerror(errno));
		return -1;
	}
	while (!ret && fgets(line, sizeof(line), f))
		ret = take_line(o, line, path, ++n);
	fclose(f);
	return ret;
}

/**
 * options_read() - read the command line
 * @o: result
 * @argc: number of arguments
 * @argv: arguments
 *
 * Return: 0; 1: the program is to end with success; -1 after a message.
 */
int options_read(struct options *o, int argc, char **argv)
{
	int opt, ret;

	*o = (struct options) {
		.listen		= "127.0.0.1:" AM_PORT,
		.forming_ms	= 300000,
		.heartbeat_ms	= 1000,
		.misses		= 8,
		.first_tree	= 1U << 30,
		.last_tree	= INT32_MAX,
	};
	while ((opt = getopt_long(argc, argv, "f:s:l:vhV", longs, NULL)) != -1) {
		ret = take(o, opt, optarg);
		if (ret)
			return ret;
	}
	if (optind < argc) {
		fprintf(stderr, "inc-amd: \"%s\": there are options only\n",
			argv[optind]);
		return -1;
	}
	if (!o->nswitches) {
		fputs("inc-amd: no switch: give --switch ADDR for each\n",
		      stderr);
		return -1;
	}
	return 0;
}
