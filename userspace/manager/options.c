// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The command line and the configuration file, whose lines are long options
 * without the dashes.
 */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "manager.h"
#include "api/message.h"
#include "auth/address.h"
#include "auth/open.h"
#include "conf/conf.h"
#include "conf/unit.h"
#include "web/web.h"

#define DEFAULT_STORE	"/var/lib/rdma_inc/amd.db"

static const char usage[] =
	"Usage: inc-amd [OPTIONS] --switch ADDR...\n"
	"The aggregation manager: makes the trees that jobs ask for.\n"
	"\n"
	"  -f, --config FILE       options, one per line: NAME = VALUE (default:\n"
	"                          " AM_CONFIG ", if it is there)\n"
	"  -s, --switch ADDR       a switch's agent: /PATH of its UNIX socket, or\n"
	"                          [USER@]HOST[:PORT] for SSH (root, port 830),\n"
	"                          tls://HOST[:PORT] (port 6513);\n"
	"                          once for each switch\n"
	"      --link A:IF=B:IF    interface IF of switch A leads to that of switch B:\n"
	"                          instead of what is found out; once for each link\n"
	"  -l, --listen ADDR:PORT  where clients connect (default 127.0.0.1:" AM_PORT ");\n"
	"                          beyond loopback with TLS only\n"
	"      --tls-cert FILE     this manager's certificate, and\n"
	"      --tls-key FILE      its private key\n"
	"      --tls-ca FILE       authority of the clients' certificates\n"
	"      --tls-crl FILE      that authority's list of revoked certificates\n"
	"      --tokens FILE       tokens of clients that have no certificate\n"
	"      --insecure-plaintext  let everyone do everything, without encryption\n"
	"      --ssh-key FILE      private key, with the public one in FILE.pub\n"
	"      --known-hosts FILE  keys of the agents; needed for SSH beyond loopback\n"
	"      --insecure-host-keys  accept any key of an agent: whoever is on the way\n"
	"                          can be a switch\n"
	"      --allow ADDR[/N]    addresses that ranks may have besides their\n"
	"                          connections'; once for each network\n"
	"      --forming-time S    seconds from a group's first rank to its start (300)\n"
	"      --heartbeat MS      interval of the ranks' heartbeats, 0: none (1000)\n"
	"      --misses N          heartbeats that may be missed (8)\n"
	"      --dead-time MS      dead time of trees (the kernel's default)\n"
	"      --tree-ids A-B      IDs of this manager's trees; others with these IDs are\n"
	"                          deleted (default: a share that is the store's own)\n"
	"      --agent-interval MS  how often to ask each agent, besides its\n"
	"                          notifications (2000)\n"
	"      --agent-misses N    answers that an agent may miss (15)\n"
	"      --store WHERE       what is to survive the manager: sqlite:/FILE,\n"
	"                          etcd:HOST:PORT,... for several managers, or none\n"
	"                          (sqlite:" DEFAULT_STORE ")\n"
	"      --etcd-ca FILE      authority of etcd's certificates: TLS\n"
	"      --etcd-cert FILE    this manager's certificate for etcd, and\n"
	"      --etcd-key FILE     its private key\n"
	"      --etcd-insecure-plaintext\n"
	"                          reach etcd on other hosts without TLS\n"
	"      --advertise ADDR:PORT\n"
	"                          where clients find this manager (as --listen)\n"
	"      --rebuild-time S    seconds for another tree, if one fails (30)\n"
	"      --http ADDR:PORT    the web page and Prometheus' metrics, without any\n"
	"                          authentication (default " WEB_ADDRESS "); none\n"
	"      --http-insecure-plaintext\n"
	"                          show it to other hosts: everyone sees everything\n"
	"      --tenants FILE      what tenants may have; read again on SIGHUP\n"
	"                          (default: " AM_TENANTS ", which may be missing)\n"
	"      --pidfile FILE      write the process ID there\n"
	"  -v, --verbose           log more\n"
	"  -h, --help              this text\n"
	"  -V, --version\n"
	"\n"
	"Times may have a unit, as in 500ms, 90s, 5m or 2h.\n";

enum {
	OPT_KEY = 256,
	OPT_KNOWN_HOSTS,
	OPT_ANY_HOST_KEY,
	OPT_ALLOW,
	OPT_FORMING,
	OPT_HEARTBEAT,
	OPT_MISSES,
	OPT_DEAD_TIME,
	OPT_TREE_IDS,
	OPT_PIDFILE,
	OPT_AGENT_INTERVAL,
	OPT_AGENT_MISSES,
	OPT_TLS_CERT,
	OPT_TLS_KEY,
	OPT_TLS_CA,
	OPT_TLS_CRL,
	OPT_TOKENS,
	OPT_PLAINTEXT,
	OPT_STORE,
	OPT_ADVERTISE,
	OPT_REBUILD_TIME,
	OPT_HTTP,
	OPT_TENANTS,
	OPT_LINK,
	OPT_ETCD_CA,
	OPT_ETCD_CERT,
	OPT_ETCD_KEY,
	OPT_ETCD_PLAINTEXT,
	OPT_HTTP_PLAINTEXT,
};

static const char shorts[] = "f:s:l:vhV";

static const struct option longs[] = {
	{ "config",		required_argument,	NULL, 'f' },
	{ "switch",		required_argument,	NULL, 's' },
	{ "link",		required_argument,	NULL, OPT_LINK },
	{ "listen",		required_argument,	NULL, 'l' },
	{ "ssh-key",		required_argument,	NULL, OPT_KEY },
	{ "known-hosts",	required_argument,	NULL, OPT_KNOWN_HOSTS },
	{ "insecure-host-keys",	no_argument,		NULL,
	  OPT_ANY_HOST_KEY },
	{ "allow",		required_argument,	NULL, OPT_ALLOW },
	{ "forming-time",	required_argument,	NULL, OPT_FORMING },
	{ "heartbeat",		required_argument,	NULL, OPT_HEARTBEAT },
	{ "misses",		required_argument,	NULL, OPT_MISSES },
	{ "dead-time",		required_argument,	NULL, OPT_DEAD_TIME },
	{ "tree-ids",		required_argument,	NULL, OPT_TREE_IDS },
	{ "agent-interval",	required_argument,	NULL,
	  OPT_AGENT_INTERVAL },
	{ "agent-misses",	required_argument,	NULL,
	  OPT_AGENT_MISSES },
	{ "rebuild-time",	required_argument,	NULL,
	  OPT_REBUILD_TIME },
	{ "pidfile",		required_argument,	NULL, OPT_PIDFILE },
	{ "tls-cert",		required_argument,	NULL, OPT_TLS_CERT },
	{ "tls-key",		required_argument,	NULL, OPT_TLS_KEY },
	{ "tls-ca",		required_argument,	NULL, OPT_TLS_CA },
	{ "tls-crl",		required_argument,	NULL, OPT_TLS_CRL },
	{ "tokens",		required_argument,	NULL, OPT_TOKENS },
	{ "insecure-plaintext",	no_argument,		NULL, OPT_PLAINTEXT },
	{ "store",		required_argument,	NULL, OPT_STORE },
	{ "etcd-ca",		required_argument,	NULL, OPT_ETCD_CA },
	{ "etcd-cert",		required_argument,	NULL, OPT_ETCD_CERT },
	{ "etcd-key",		required_argument,	NULL, OPT_ETCD_KEY },
	{ "etcd-insecure-plaintext", no_argument,	NULL,
	  OPT_ETCD_PLAINTEXT },
	{ "advertise",		required_argument,	NULL, OPT_ADVERTISE },
	{ "http",		required_argument,	NULL, OPT_HTTP },
	{ "http-insecure-plaintext", no_argument,	NULL,
	  OPT_HTTP_PLAINTEXT },
	{ "tenants",		required_argument,	NULL, OPT_TENANTS },
	{ "verbose",		no_argument,		NULL, 'v' },
	{ "help",		no_argument,		NULL, 'h' },
	{ "version",		no_argument,		NULL, 'V' },
	{ NULL, 0, NULL, 0 }
};

/* By options_again(). */
static bool reading_again;

static int read_file(struct options *o, const char *path);

/* Tell what is wrong. Returns -1. */
__attribute__((format(printf, 1, 2)))
static int wrong(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(conf_why, sizeof(conf_why), fmt, ap);
	va_end(ap);
	fprintf(stderr, "inc-amd: %s\n", conf_why);
	return -1;
}

static int number(const char *name, const char *text, uint32_t min,
		  uint32_t max, uint32_t *value)
{
	unsigned long num;
	char *end;

	errno = 0;
	num = strtoul(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || num < min ||
	    num > max)
		return wrong("--%s %s: must be %u to %u", name, text, min, max);
	*value = (uint32_t)num;
	return 0;
}

/* @min, @max and @value: milliseconds. @plain: those of a number alone. */
static int duration(const char *name, const char *text, uint32_t min,
		    uint32_t max, uint32_t plain, uint32_t *value)
{
	uint64_t ms;

	if (!unit_msec(text, plain, &ms) || ms < min || ms > max)
		return wrong("--%s %s: must be %u to %u %s, or as in 500ms, 90s or 5m",
			     name, text, min / plain, max / plain,
			     plain == 1 ? "milliseconds" : "seconds");
	*value = (uint32_t)ms;
	return 0;
}

/* HOST:PORT. It is understood again where it is used. */
static int address(const char *name, const char *text, int least,
		   const char **value)
{
	char host[256];
	int port = -1;

	if (inc_auth_address(text, host, sizeof(host), &port) || port < least)
		return wrong("--%s %s: must be ADDR:PORT, with a port from %d to 65535, and an IPv6 address in brackets",
			     name, text, least);
	*value = text;
	return 0;
}

/* No host's name has a slash, and no host is a socket that is there. */
static bool is_relative_path(const char *text)
{
	size_t len = strlen(text);
	struct stat st;

	if (text[0] == '/' || !strncmp(text, "tls://", strlen("tls://")))
		return false;
	if (strchr(text, '/') ||
	    (len > strlen(".sock") &&
	     !strcmp(text + len - strlen(".sock"), ".sock")))
		return true;
	return !stat(text, &st) && S_ISSOCK(st.st_mode);
}

static int add_switch(struct options *o, const char *text)
{
	struct netconf_target target = { .port = 0 };
	const char **list;

	if (text[strcspn(text, ", \t")])
		return wrong("--switch %s: one address each, without spaces and commas: give a line, or the option, for each switch",
			     text);
	if (is_relative_path(text))
		return wrong("--switch %s: the path of a UNIX socket begins with /",
			     text);
	if (netconf_target_parse(&target, text))
		return wrong("--switch %s: must be /PATH of a UNIX socket, [USER@]HOST[:PORT], or tls://HOST[:PORT]",
			     text);
	list = realloc(o->switches, (o->nswitches + 1) * sizeof(*list));
	if (!list)
		return -1;
	o->switches = list;
	list[o->nswitches++] = text;
	return 0;
}

static int add_link(struct options *o, const char *text)
{
	struct topo_cable *list;

	list = realloc(o->cables, (o->ncables + 1) * sizeof(*list));
	if (!list)
		return -1;
	o->cables = list;
	if (!topo_cable_parse(&list[o->ncables], text)) {
		o->ncables++;
		return 0;
	}
	return wrong("--link %s: must be SWITCH:INTERFACE=SWITCH:INTERFACE",
		     text);
}

static int add_network(struct options *o, const char *text)
{
	int ret = inc_rdv_network_add(&o->allow, text);

	if (ret == -EINVAL)
		wrong("--allow %s: must be an address, or ADDRESS/PREFIX",
		      text);
	return ret;
}

static int tree_ids(struct options *o, const char *text)
{
	unsigned long first, last = 0;
	char *end;

	errno = 0;
	first = strtoul(text, &end, 10);
	if (*end == '-')
		last = strtoul(end + 1, &end, 10);
	if (errno || *end || !first || last < first || last > UINT32_MAX)
		return wrong("--tree-ids %s: must be FIRST-LAST, from 1 to 4294967295",
			     text);
	o->first_tree = (uint32_t)first;
	o->last_tree = (uint32_t)last;
	return 0;
}

static bool take_etcd(struct store_security *how, int opt, const char *arg)
{
	switch (opt) {
	case OPT_ETCD_CA:
		how->ca = arg;
		return true;
	case OPT_ETCD_CERT:
		how->cert = arg;
		return true;
	case OPT_ETCD_KEY:
		how->key = arg;
		return true;
	case OPT_ETCD_PLAINTEXT:
		how->plaintext = true;
		return true;
	}
	return false;
}

static int take_security(struct rpc_security *how, int opt, const char *arg)
{
	switch (opt) {
	case OPT_TLS_CERT:
		how->cert = arg;
		return 0;
	case OPT_TLS_KEY:
		how->key = arg;
		return 0;
	case OPT_TLS_CA:
		how->ca = arg;
		return 0;
	case OPT_TLS_CRL:
		how->crl = arg;
		return 0;
	case OPT_TOKENS:
		how->tokens = arg;
		return 0;
	case OPT_PLAINTEXT:
		how->plaintext = true;
		return 0;
	default:
		return wrong("\"inc-amd --help\" lists the options");
	}
}

/* Options whose values are texts. */
static int take_text(struct options *o, int opt, const char *arg)
{
	switch (opt) {
	case 'l':
		/* Port 0: any. */
		if (strncmp(arg, "unix:", 5))
			return address("listen", arg, 0, &o->listen);
		o->listen = arg;
		return 0;
	case OPT_KEY:
		o->key = arg;
		return 0;
	case OPT_KNOWN_HOSTS:
		o->known_hosts = arg;
		return 0;
	case OPT_ANY_HOST_KEY:
		o->any_host_key = true;
		return 0;
	case OPT_PIDFILE:
		o->pidfile = arg;
		return 0;
	case OPT_STORE:
		o->store = arg;
		return 0;
	case OPT_ADVERTISE:
		return address("advertise", arg, 1, &o->advertise);
	case OPT_TENANTS:
		o->tenants = arg;
		return 0;
	case OPT_HTTP:
		o->http = NULL;
		return strcmp(arg, "none") ? address("http", arg, 1, &o->http) :
					     0;
	default:
		return take_etcd(&o->etcd, opt, arg) ? 0 :
		       take_security(&o->security, opt, arg);
	}
}

/* Returns 0, 1: end with success, or -1 after a message. */
static int take(struct options *o, int opt, const char *arg)
{
	switch (opt) {
	case 'f':
		return read_file(o, arg);
	case 's':
		return add_switch(o, arg);
	case OPT_LINK:
		return add_link(o, arg);
	case OPT_ALLOW:
		return add_network(o, arg);
	case OPT_FORMING:
		return duration("forming-time", arg, 1000, 86400000, 1000,
				&o->forming_ms);
	case OPT_HEARTBEAT:
		return duration("heartbeat", arg, 0, 60000, 1,
				&o->heartbeat_ms);
	case OPT_MISSES:
		return number("misses", arg, 1, 1000, &o->misses);
	case OPT_DEAD_TIME:
		return duration("dead-time", arg, 10, 60000, 1, &o->dead_time);
	case OPT_TREE_IDS:
		return tree_ids(o, arg);
	case OPT_AGENT_INTERVAL:
		return duration("agent-interval", arg, 100, 600000, 1,
				&o->agent_ms);
	case OPT_REBUILD_TIME:
		return duration("rebuild-time", arg, 1000, 86400000, 1000,
				&o->rebuild_ms);
	case OPT_AGENT_MISSES:
		return number("agent-misses", arg, 1, 1000, &o->agent_misses);
	case OPT_HTTP_PLAINTEXT:
		o->http_plaintext = true;
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
		return take_text(o, opt, arg);
	}
}

/* --- Configuration file -------------------------------------------------- */

static int take_conf(void *ctx, int opt, char *value)
{
	return take(ctx, opt, value);
}

static int read_file(struct options *o, const char *path)
{
	const struct conf conf = {
		.prog		= "inc-amd",
		.options	= longs,
		.take		= take_conf,
		.ctx		= o,
	};
	struct stat st;

	o->config = path;
	/* A pipe has been read, and to open it would wait for a writer. */
	if (reading_again && !stat(path, &st) && !S_ISREG(st.st_mode)) {
		snprintf(conf_why, sizeof(conf_why), "is no regular file and is not read again");
		fprintf(stderr, "inc-amd: %s: %s\n", path, conf_why);
		return -1;
	}
	return conf_read(&conf, path);
}

/* --- What contradicts itself --------------------------------------------- */

/* Is it known that a switch will be that switch? */
static int check_switch(const struct options *o, const char *address)
{
	struct netconf_target t = { .port = 0 };

	netconf_target_parse(&t, address);
	if (t.tls && !o->security.cert)
		return wrong("--switch %s: needs --tls-cert, --tls-key and --tls-ca",
			     address);
	if (t.path[0] || t.tls || o->known_hosts || o->any_host_key ||
	    inc_auth_is_loopback(t.host))
		return 0;
	return wrong("--switch %s: needs --known-hosts FILE, with the agents' keys as ssh-keyscan has them, or --insecure-host-keys",
		     address);
}

/* Who may call? */
static int check_security(const struct options *o)
{
	const struct rpc_security *how = &o->security;
	const char *what = NULL;

	if (!how->cert != !how->key || !how->cert != !how->ca)
		what = "--tls-cert, --tls-key and --tls-ca need each other";
	else if (how->crl && !how->cert)
		what = "--tls-crl needs --tls-cert, --tls-key and --tls-ca";
	else if (how->cert && how->plaintext)
		what = "--insecure-plaintext contradicts --tls-cert";
	else if (how->tokens && how->plaintext)
		what = "--insecure-plaintext contradicts --tokens: everyone could read them";
	if (what)
		return wrong("%s", what);
	if (o->http && !o->http_plaintext && !how->plaintext &&
	    !inc_auth_is_loopback(o->http))
		return wrong("--http %s: others could read all without a password: use loopback, or --http-insecure-plaintext",
			     o->http);
	if (how->cert || how->plaintext || !strncmp(o->listen, "unix:", 5) ||
	    inc_auth_is_loopback(o->listen))
		return 0;
	return wrong("--listen %s: beyond loopback needs --tls-cert, --tls-key and --tls-ca (\"inc-am-ca --help\" tells how to make them), or --insecure-plaintext",
		     o->listen);
}

/* @servers: HOST:PORT,... */
static int check_etcd(const struct options *o, const char *servers)
{
	char text[1024], *next = text, *server;

	if (!o->etcd.cert != !o->etcd.key || (o->etcd.cert && !o->etcd.ca))
		return wrong("--etcd-cert and --etcd-key need each other, and --etcd-ca");
	snprintf(text, sizeof(text), "%s", servers);
	while (!o->etcd.ca && !o->etcd.plaintext &&
	       (server = strsep(&next, ","))) {
		if (inc_auth_is_loopback(server))
			continue;
		return wrong("--store etcd:%s: etcd beyond loopback needs --etcd-ca, or --etcd-insecure-plaintext: whoever can change what it has can end groups, or lead",
			     servers);
	}
	return 0;
}

static int check_store(const struct options *o)
{
	if (!strncmp(o->store, "etcd:", 5))
		return check_etcd(o, o->store + 5);
	if (strncmp(o->store, "sqlite:/", 8) && strcmp(o->store, "none"))
		return wrong("--store %s: must be sqlite:/FILE, etcd:HOST:PORT,... or none",
			     o->store);
	if (o->etcd.ca || o->etcd.cert || o->etcd.key || o->etcd.plaintext)
		return wrong("--store %s: --etcd-ca, --etcd-cert, --etcd-key and --etcd-insecure-plaintext are for --store etcd:HOST:PORT,...",
			     o->store);
	return 0;
}

static int check_file(const char *option, const char *path)
{
	const char *why = path ? inc_auth_unusable(path) : NULL;

	return why ? wrong("%s %s: %s", option, path, why) : 0;
}

/* libssh says only that no agent's key is known, or none of its own accepted. */
static int check_ssh(const struct options *o)
{
	return check_file("--known-hosts", o->known_hosts) ? -1 :
	       check_file("--ssh-key", o->key);
}

static int by_target(const void *a, const void *b)
{
	return netconf_target_cmp(a, b);
}

/* Their number may be large: sort them. */
static int check_twins(const struct options *o)
{
	struct netconf_target *list = calloc(o->nswitches, sizeof(*list));
	const struct netconf_target *t;
	unsigned int i;
	int ret = 0;

	if (!list)
		return wrong("no memory");
	for (i = 0; i < o->nswitches; i++)
		netconf_target_parse(&list[i], o->switches[i]);
	qsort(list, o->nswitches, sizeof(*list), by_target);
	for (t = list + 1; t < list + o->nswitches && !ret; t++) {
		if (netconf_target_cmp(t - 1, t))
			continue;
		wrong("--switch: %s%s is given twice", t->path, t->host);
		ret = -1;
	}
	free(list);
	return ret;
}

static int check(const struct options *o)
{
	unsigned int i;

	if (!o->nswitches)
		return wrong("no switch: give --switch ADDR for each");
	for (i = 0; i < o->nswitches; i++)
		if (check_switch(o, o->switches[i]))
			return -1;
	return check_security(o) || check_store(o) || check_ssh(o) ?
	       -1 : check_twins(o);
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
		.http		= WEB_ADDRESS,
		.forming_ms	= 300000,
		.heartbeat_ms	= 1000,
		.misses		= 8,
		.agent_ms	= 2000,
		.agent_misses	= 15,
		.rebuild_ms	= 30000,
		.store		= "sqlite:" DEFAULT_STORE,
	};
	o->argc = argc;
	o->argv = argv;
	if (!conf_given(argc, argv, shorts, longs, 'f') &&
	    !access(AM_CONFIG, F_OK) && read_file(o, AM_CONFIG))
		return -1;
	while ((opt = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		ret = take(o, opt, optarg);
		if (ret)
			return ret;
	}
	if (optind < argc)
		return wrong("\"%s\": there are options only", argv[optind]);
	if (check(o))
		return -1;
	if (!o->advertise)
		o->advertise = o->listen;
	return 0;
}

/**
 * options_again() - read the command line and the file again
 * @o: result; its texts are never freed, as those of the first time
 * @before: what options_read() had read
 *
 * Return: 0; -1 after a message, with conf_where and conf_why.
 */
int options_again(struct options *o, const struct options *before)
{
	int ret;

	/* getopt_long() begins anew. */
	optind = 0;
	reading_again = true;
	conf_where[0] = '\0';
	conf_why[0] = '\0';
	ret = options_read(o, before->argc, before->argv);
	reading_again = false;
	/* All of it is wrong, and no line alone. */
	if (ret && !conf_where[0] && o->config)
		snprintf(conf_where, sizeof(conf_where), "%s: ", o->config);
	return ret;
}

/**
 * options_free() - free the lists of options, not their texts
 * @o: what options_again() has filled in, whatever it returned
 */
void options_free(struct options *o)
{
	free(o->switches);
	free(o->cables);
}
