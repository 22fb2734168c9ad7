// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The command line and the configuration file, whose lines are long options
 * without the dashes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "manager.h"
#include "conf/array.h"
#include "rpc/message.h"
#include "auth/address.h"
#include "conf/open.h"
#include "conf/conf.h"
#include "conf/opts.h"
#include "fabric/called.h"
#include "fabric/netconf.h"
#include "web/web.h"

#define DEFAULT_STORE	"/var/lib/rdma_inc/amd.db"

/* Set by options_again(). */
static bool reading_again;

/* A pipe has been read once, and open() would wait for a writer. */
static int check_config(void *ctx, const struct opt *opt, char *path)
{
	struct stat st;

	if (!reading_again || stat(path, &st) || S_ISREG(st.st_mode))
		return 0;
	snprintf(conf_where, sizeof(conf_where), "%s: ", path);
	return opts_wrong("is not a regular file and is not read again");
}

/* Check HOST:PORT, with a port of at least @least; its user parses it again. */
static int check_address(void *ctx, const struct opt *opt, char *text)
{
	char host[256], want[80];
	int port = -1;

	if (!inc_auth_address(text, host, sizeof(host), &port) &&
	    port >= (int)opt->least)
		return 0;
	snprintf(want, sizeof(want), "ADDR:PORT, with a port from %d to 65535, and an IPv6 address in brackets",
		 (int)opt->least);
	return opts_wrong_value(opt, text, want);
}

static int check_callhome(void *ctx, const struct opt *opt, char *text)
{
	int port = CALLED_PORT;
	char host[256];

	if (!inc_auth_address(text, host, sizeof(host), &port) && port)
		return 0;
	return opts_wrong_value(opt, text, "an IP address, with a port from 1 to 65535 or none, and an IPv6 address in brackets");
}

/* Here a port may be 0: any. */
static int check_listen(void *ctx, const struct opt *opt, char *text)
{
	const char *path = inc_auth_path(text);

	if (!path)
		return check_address(ctx, opt, text);
	return *path ? 0 : opts_wrong_value(opt, text, "unix:PATH of a socket, or ADDR:PORT");
}

static int take_http(void *ctx, const struct opt *opt, char *text)
{
	struct amd_options *o = ctx;

	if (strcmp(text, "none"))
		return check_address(ctx, opt, text);
	o->http = NULL;
	return 0;
}

/* Is a text no host: with a slash, or the name of an existing socket? */
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

static int add_switch(void *ctx, const struct opt *opt, char *text)
{
	struct amd_options *o = ctx;
	struct netconf_target target = { .port = 0 };

	if (text[strcspn(text, ", \t")])
		return opts_wrong("--switch %s: one address each, without spaces and commas: give a line, or the option, for each switch",
				  text);
	if (is_relative_path(text))
		return opts_wrong("--switch %s: the path of a UNIX socket begins with /",
				  text);
	if (netconf_target_parse(&target, text))
		return opts_wrong_value(opt, text, "/PATH of a UNIX socket, [USER@]HOST[:PORT], tls://HOST[:PORT], or callhome:ID");
	if (!ARRAY_ROOM(o->switches, o->nswitches))
		return -1;
	o->switches[o->nswitches++] = text;
	return 0;
}

static int add_link(void *ctx, const struct opt *opt, char *text)
{
	struct amd_options *o = ctx;

	if (!ARRAY_ROOM(o->cables, o->ncables))
		return -1;
	if (!topo_cable_parse(&o->cables[o->ncables], text)) {
		o->ncables++;
		return 0;
	}
	return opts_wrong_value(opt, text,
				"SWITCH:INTERFACE=SWITCH:INTERFACE");
}

static int add_network(void *ctx, const struct opt *opt, char *text)
{
	struct amd_options *o = ctx;

	return inc_rdv_network_add(&o->allow, text) ?
	       opts_wrong_value(opt, text, "an address, or ADDRESS/PREFIX") : 0;
}

static int take_tree_ids(void *ctx, const struct opt *opt, char *text)
{
	struct amd_options *o = ctx;
	unsigned long first, last = 0;
	char *end;

	errno = 0;
	first = strtoul(text, &end, 10);
	if (*end == '-')
		last = strtoul(end + 1, &end, 10);
	if (errno || *end || !first || last < first || last > UINT32_MAX)
		return opts_wrong_value(opt, text,
					"FIRST-LAST, from 1 to 4294967295");
	o->first_tree = (uint32_t)first;
	o->last_tree = (uint32_t)last;
	return 0;
}

#define AT(field)	OPT_AT(struct amd_options, field)
#define DAY	86400000

static const struct opt options_list[] = {
	{ "config", 'f', OPT_CONFIG, "FILE",
	  "options, one per line: NAME = VALUE (default: " AM_CONFIG ", if it is there)",
	  AT(config), .call = check_config },
	{ "switch", 's', OPT_CALL, "ADDR",
	  "a switch's agent: /PATH of its UNIX socket, or [USER@]HOST[:PORT] for SSH (root, port 830), tls://HOST[:PORT] (port 6513), or callhome:ID if it calls; once for each switch",
	  .call = add_switch },
	{ "callhome", 0, OPT_TEXT, "ADDR[:PORT]",
	  "where agents call over TLS (port 4335) whose certificates' CNs are the IDs of --switch callhome:ID",
	  AT(callhome), .call = check_callhome },
	{ "link", 0, OPT_CALL, "A:IF=B:IF",
	  "interface IF of switch A leads to that of switch B: instead of what is found out; once for each link",
	  .call = add_link },
	{ "listen", 'l', OPT_TEXT, "ADDR:PORT",
	  "where clients connect (default 127.0.0.1:" AM_PORT "); beyond loopback with TLS only",
	  AT(listen), .call = check_listen },
	{ "tls-cert", 0, OPT_TEXT, "FILE", "this manager's certificate, and",
	  AT(security.cert) },
	{ "tls-key", 0, OPT_TEXT, "FILE", "its private key", AT(security.key) },
	{ "tls-ca", 0, OPT_TEXT, "FILE",
	  "authority of the clients' certificates", AT(security.ca) },
	{ "tls-crl", 0, OPT_TEXT, "FILE",
	  "that authority's list of revoked certificates", AT(security.crl) },
	{ "tokens", 0, OPT_TEXT, "FILE",
	  "tokens of clients that have no certificate", AT(security.tokens) },
	{ "insecure-plaintext", 0, OPT_FLAG, NULL,
	  "let everyone do everything, without encryption",
	  AT(security.plaintext) },
	{ "ssh-key", 0, OPT_TEXT, "FILE",
	  "private key, with the public one in FILE.pub", AT(key) },
	{ "known-hosts", 0, OPT_TEXT, "FILE",
	  "keys of the agents; needed for SSH beyond loopback",
	  AT(known_hosts) },
	{ "insecure-host-keys", 0, OPT_FLAG, NULL,
	  "accept any key of an agent: whoever is on the way can be a switch",
	  AT(any_host_key) },
	{ "allow", 0, OPT_CALL, "ADDR[/N]",
	  "addresses that ranks may have besides their connections'; once for each network",
	  .call = add_network },
	{ "forming-time", 0, OPT_SEC, "S",
	  "seconds from a group's first rank to its start (300)",
	  AT(forming_ms), 1000, DAY },
	{ "heartbeat", 0, OPT_MS, "MS",
	  "interval of the ranks' heartbeats, 0: none (1000)",
	  AT(heartbeat_ms), 0, 60000 },
	{ "misses", 0, OPT_NUM, "N", "heartbeats that may be missed (12)",
	  AT(misses), 1, 1000 },
	{ "dead-time", 0, OPT_MS, "MS",
	  "dead time of trees (the kernel's default)",
	  AT(dead_time), 10, 60000 },
	{ "tree-ids", 0, OPT_CALL, "A-B",
	  "IDs of this manager's trees; others with these IDs are deleted (default: a share that is the store's own)",
	  .call = take_tree_ids },
	{ "agent-interval", 0, OPT_MS, "MS",
	  "how often to ask each agent, besides its notifications (2000)",
	  AT(agent_ms), 100, 600000 },
	{ "agent-misses", 0, OPT_NUM, "N",
	  "answers that an agent may miss (15)", AT(agent_misses), 1, 1000 },
	{ "store", 0, OPT_TEXT, "WHERE",
	  "what is to survive the manager: sqlite:/FILE, etcd:HOST:PORT,... for several managers, or none (sqlite:" DEFAULT_STORE ")",
	  AT(store) },
	{ "etcd-ca", 0, OPT_TEXT, "FILE",
	  "authority of etcd's certificates: TLS", AT(etcd.ca) },
	{ "etcd-cert", 0, OPT_TEXT, "FILE",
	  "this manager's certificate for etcd, and", AT(etcd.cert) },
	{ "etcd-key", 0, OPT_TEXT, "FILE", "its private key", AT(etcd.key) },
	{ "etcd-insecure-plaintext", 0, OPT_FLAG, NULL,
	  "reach etcd on other hosts without TLS", AT(etcd.plaintext) },
	{ "advertise", 0, OPT_TEXT, "ADDR:PORT",
	  "where clients find this manager (as --listen)",
	  AT(advertise), 1, .call = check_address },
	{ "rebuild-time", 0, OPT_SEC, "S",
	  "seconds for another tree, if one fails (30)",
	  AT(rebuild_ms), 1000, DAY },
	{ "http", 0, OPT_TEXT, "ADDR:PORT",
	  "the web page and Prometheus' metrics (default " WEB_ADDRESS "); none. Beyond loopback by HTTPS, and for operators' tokens",
	  AT(http), 1, .call = take_http },
	{ "http-insecure-plaintext", 0, OPT_FLAG, NULL,
	  "show it to other hosts without TLS and tokens: everyone sees everything",
	  AT(http_plaintext) },
	{ "tenants", 0, OPT_TEXT, "FILE",
	  "what tenants may have; read again on SIGHUP (default: " AM_TENANTS ", which may be missing)",
	  AT(tenants) },
	{ "pidfile", 0, OPT_TEXT, "FILE", "write the process ID there",
	  AT(pidfile) },
	{ "verbose", 'v', OPT_FLAG, NULL, "log more", AT(verbose) },
	OPT_HELP_ROW,
	OPT_VERSION_ROW,
	{ 0 }
};

static const struct opts options = {
	.prog	= "inc-amd",
	.version = AM_VERSION,
	.head	= "Usage: inc-amd [OPTIONS] --switch ADDR...\n"
		  "The aggregation manager: makes the trees that jobs ask for.\n\n",
	.tail	= "\nTimes may have a unit, as in 500ms, 90s, 5m or 2h.\n",
	.config	= AM_CONFIG,
	.list	= options_list,
};

/* --- Contradictions ------------------------------------------------------ */

/* Check that a switch can be authenticated. */
static int check_switch(const struct amd_options *o, const char *address)
{
	struct netconf_target t = { .port = 0 };

	netconf_target_parse(&t, address);
	if (t.tls && !o->security.cert)
		return opts_wrong("--switch %s: needs --tls-cert, --tls-key and --tls-ca",
				  address);
	if (t.calls && !o->callhome)
		return opts_wrong("--switch %s: needs --callhome ADDR, where it calls",
				  address);
	if (t.path[0] || t.tls || t.calls || o->known_hosts || o->any_host_key ||
	    inc_auth_is_loopback(t.host))
		return 0;
	return opts_wrong("--switch %s: needs --known-hosts FILE, with the agents' keys as ssh-keyscan has them, or --insecure-host-keys",
			  address);
}

/* Check that callers are authenticated, unless they are on loopback. */
static int check_security(const struct amd_options *o)
{
	const struct rpc_security *how = &o->security;
	const char *what = NULL;

	if (!how->cert != !how->key || !how->cert != !how->ca)
		what = "--tls-cert, --tls-key and --tls-ca need each other";
	else if (how->crl && !how->cert)
		what = "--tls-crl needs --tls-cert, --tls-key and --tls-ca";
	else if (how->cert && how->plaintext)
		what = "--insecure-plaintext contradicts --tls-cert";
	else if (o->callhome && !how->cert)
		what = "--callhome needs --tls-cert, --tls-key and --tls-ca";
	else if (how->tokens && how->plaintext)
		what = "--insecure-plaintext contradicts --tokens: everyone could read them";
	if (what)
		return opts_wrong("%s", what);
	if (o->http && !o->http_plaintext && !how->plaintext &&
	    !(how->cert && how->tokens) && !inc_auth_is_loopback(o->http))
		return opts_wrong("--http %s: beyond loopback needs --tokens, and --tls-cert, --tls-key and --tls-ca; or --http-insecure-plaintext, with which others read all without a password",
				  o->http);
	if (how->cert || how->plaintext || inc_auth_path(o->listen) ||
	    inc_auth_is_loopback(o->listen))
		return 0;
	return opts_wrong("--listen %s: beyond loopback needs --tls-cert, --tls-key and --tls-ca (\"inc-am-ca --help\" tells how to make them), or --insecure-plaintext",
			  o->listen);
}

/* Check the security of etcd; @servers: HOST:PORT,... */
static int check_etcd(const struct amd_options *o, const char *servers)
{
	char text[1024], *next = text, *server;

	if (!o->etcd.cert != !o->etcd.key || (o->etcd.cert && !o->etcd.ca))
		return opts_wrong("--etcd-cert and --etcd-key need each other, and --etcd-ca");
	snprintf(text, sizeof(text), "%s", servers);
	while (!o->etcd.ca && !o->etcd.plaintext &&
	       (server = strsep(&next, ","))) {
		if (inc_auth_is_loopback(server))
			continue;
		return opts_wrong("--store etcd:%s: etcd beyond loopback needs --etcd-ca, or --etcd-insecure-plaintext: whoever can change what it has can end groups, or lead",
				  servers);
	}
	return 0;
}

static int check_store(const struct amd_options *o)
{
	if (!strncmp(o->store, "etcd:", 5))
		return check_etcd(o, o->store + 5);
	if (strncmp(o->store, "sqlite:/", 8) && strcmp(o->store, "none"))
		return opts_wrong("--store %s: must be sqlite:/FILE, etcd:HOST:PORT,... or none",
				  o->store);
	if (o->etcd.ca || o->etcd.cert || o->etcd.key || o->etcd.plaintext)
		return opts_wrong("--store %s: --etcd-ca, --etcd-cert, --etcd-key and --etcd-insecure-plaintext are for --store etcd:HOST:PORT,...",
				  o->store);
	return 0;
}

static int check_file(const char *option, const char *path)
{
	const char *why = path ? inc_unusable(path) : NULL;

	return why ? opts_wrong("%s %s: %s", option, path, why) : 0;
}

/* Check files here: libssh's errors would not name them. */
static int check_ssh(const struct amd_options *o)
{
	return check_file("--known-hosts", o->known_hosts) ? -1 :
	       check_file("--ssh-key", o->key);
}

static int by_target(const void *a, const void *b)
{
	return netconf_target_cmp(a, b);
}

/* Find duplicates; sorted, since there may be thousands of switches. */
static int check_twins(const struct amd_options *o)
{
	struct netconf_target *list = calloc(o->nswitches, sizeof(*list));
	const struct netconf_target *t;
	unsigned int i;
	int ret = 0;

	if (!list)
		return opts_wrong("no memory");
	for (i = 0; i < o->nswitches; i++)
		netconf_target_parse(&list[i], o->switches[i]);
	qsort(list, o->nswitches, sizeof(*list), by_target);
	for (t = list + 1; t < list + o->nswitches && !ret; t++) {
		if (netconf_target_cmp(t - 1, t))
			continue;
		opts_wrong("--switch: %s%s is given twice", t->path, t->host);
		ret = -1;
	}
	free(list);
	return ret;
}

static int check_all(const struct amd_options *o)
{
	unsigned int i;

	if (!o->nswitches)
		return opts_wrong("no switch: give --switch ADDR for each");
	if (o->nswitches > SWITCHES_MAX)
		return opts_wrong("--switch: %u switches: there may be %d",
				  o->nswitches, SWITCHES_MAX);
	for (i = 0; i < o->nswitches; i++)
		if (check_switch(o, o->switches[i]))
			return -1;
	return check_security(o) || check_store(o) || check_ssh(o) ?
	       -1 : check_twins(o);
}

/*
 * Read the command line. Returns 0; 1: the program must end with success; -1
 * after a message.
 */
int options_read(struct amd_options *o, int argc, char **argv)
{
	int ret;

	*o = (struct amd_options) {
		.listen		= "127.0.0.1:" AM_PORT,
		.http		= WEB_ADDRESS,
		.forming_ms	= 300000,
		.heartbeat_ms	= 1000,
		.misses		= 12,
		.agent_ms	= 2000,
		.agent_misses	= 15,
		.rebuild_ms	= 30000,
		.store		= "sqlite:" DEFAULT_STORE,
		.argc		= argc,
		.argv		= argv,
	};
	ret = opts_read(&options, o, argc, argv);
	if (ret)
		return ret;
	if (check_all(o))
		return -1;
	if (!o->advertise)
		o->advertise = o->listen;
	return 0;
}

/*
 * Read the command line and the file again. Returns 0; -1 after a message,
 * with conf_where and conf_why.
 * @o: result; its texts are never freed, like those of options_read()
 */
int options_again(struct amd_options *o, const struct amd_options *before)
{
	int ret;

	reading_again = true;
	conf_where[0] = '\0';
	conf_why[0] = '\0';
	ret = options_read(o, before->argc, before->argv);
	reading_again = false;
	/* The error is not in a single line: blame the file. */
	if (ret && !conf_where[0] && o->config)
		snprintf(conf_where, sizeof(conf_where), "%s: ", o->config);
	return ret;
}

/*
 * Free the lists of options, not their texts.
 * @o: options of options_again(), whatever it returned
 */
void options_free(struct amd_options *o)
{
	free(o->switches);
	free(o->cables);
	inc_rdv_network_free(&o->allow);
}

static void set_path(char *to, size_t len, const char *from)
{
	snprintf(to, len, "%s", from ? from : "");
}

/* Note where a switch's agent is, and how to reach it. */
void options_target(const struct manager *m, struct sw *sw)
{
	netconf_target_parse(&sw->target, sw->address);
	set_path(sw->target.key, sizeof(sw->target.key), m->o.key);
	set_path(sw->target.known_hosts, sizeof(sw->target.known_hosts),
		 m->o.known_hosts);
	sw->target.cert = m->o.security.cert;
	sw->target.cert_key = m->o.security.key;
	sw->target.ca = m->o.security.ca;
}
