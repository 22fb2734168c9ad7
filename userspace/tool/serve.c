// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * inc-tool serve: the command line.
 */
#include "common.h"

#include <getopt.h>

#include "auth/address.h"
#include "conf/unit.h"
#include "parse.h"
#include "rendezvous/server.h"
#include "tool.h"

static void usage(FILE *out)
{
	fputs(
"Usage: inc-tool serve [OPTIONS]\n"
"\n"
"Create trees for programs that use libinc: the ranks of a job meet here.\n"
"\n"
"  -l, --listen ADDR[:PORT]  address to listen on (default all)\n"
"  -p, --port PORT       TCP port (default " INC_RDV_PORT "); 0: any that is free\n"
"      --allow ADDR[/N]  accept these addresses of ranks, besides the address that\n"
"                        a rank connects from; may be repeated\n"
"      --max-trees N     maximum number of jobs (default 1024, or as many as\n"
"                        the memory limit of the switch admits)\n"
"      --max-clients N   maximum number of connections (default 4096, or as many\n"
"                        as files can be opened)\n"
"      --max-host-trees N, --max-host-clients N, --max-host-memory SIZE\n"
"                        maximum number of jobs that one host may start and of\n"
"                        connections from it, maximum memory of these jobs' trees\n"
"                        (default: half of each total)\n"
"      --join-time TIME  from connecting to joining (default 30)\n"
"      --forming-time TIME  from a job's first rank to its last (default 300)\n"
"      --pmtu N          path MTU of trees, unless the first rank requests another\n"
"                        (default: that of the first rank's port)\n"
"      --slots N         slots of trees, unless the first rank requests others\n"
"      --msg-size N      longest message of trees in bytes, likewise\n"
"      --first-msg-id N  message ID of a tree's first message, likewise\n"
"      --order ORDER     reduce in order of ranks (default; always the same bits),\n"
"                        or in order of arrival (less memory)\n"
"      --window N        maximum number of result packets in flight to a rank\n"
"      --hold N          maximum number of bytes held of a rank that is ahead\n"
"      --min-rto TIME    minimum retransmission timeout\n"
"      --dead-time TIME  time without acknowledgment after which a rank is dead\n"
"      --traffic-class N DSCP times 4 of trees' packets, both ways (default 0)\n"
"      --psn N           first PSN of all queue pairs, for tests (default random)\n"
"      --tree ID         use this existing tree for one job, and leave it in place\n"
"                        (default: create a tree for each job)\n"
"      --parent HOST[:PORT]  be a child of the switch with this daemon, which knows\n"
"                        the ranks at other switches\n"
"      --levels          be a parent that has hosts of its own as well\n"
"      --tls-cert FILE, --tls-key FILE\n"
"                        speak TLS, with this certificate and its private key\n"
"      --tls-ca FILE     demand certificates of this authority of clients, and of\n"
"                        the parent\n"
"      --tokens FILE     or tokens, which this file knows\n"
"      --insecure-plaintext  do not warn that there is no TLS\n"
"      --once            exit when the first job has ended\n"
"      --pidfile FILE    write the process ID to this file\n"
"  -v, --verbose         log to standard error\n"
"  -h, --help            show this text\n"
"\n"
"N may be as in 64K or 1M. TIME: seconds (join, forming) or milliseconds, or as in\n"
"500ms, 2s, 5m or 1h. SIZE: MiB, or as in 512M or 2G.\n",
	      out);
}

enum {
	OPT_MAX_TREES = 256,
	OPT_MAX_CLIENTS,
	OPT_MAX_HOST_TREES,
	OPT_MAX_HOST_CLIENTS,
	OPT_MAX_HOST_MEMORY,
	OPT_JOIN_TIME,
	OPT_FORMING_TIME,
	OPT_ALLOW,
	OPT_PMTU,
	OPT_SLOTS,
	OPT_MSG_SIZE,
	OPT_FIRST_MSG_ID,
	OPT_PSN,
	OPT_TREE,
	OPT_ORDER,
	OPT_WINDOW,
	OPT_HOLD,
	OPT_MIN_RTO,
	OPT_DEAD_TIME,
	OPT_TRAFFIC_CLASS,
	OPT_ONCE,
	OPT_PIDFILE,
	OPT_PARENT,
	OPT_LEVELS,
	OPT_TLS_CERT,
	OPT_TLS_KEY,
	OPT_TLS_CA,
	OPT_TOKENS,
	OPT_PLAINTEXT,
};

static const struct option long_options[] = {
	{ "listen",	required_argument,	NULL, 'l' },
	{ "port",	required_argument,	NULL, 'p' },
	{ "allow",	required_argument,	NULL, OPT_ALLOW },
	{ "max-trees",	required_argument,	NULL, OPT_MAX_TREES },
	{ "max-clients", required_argument,	NULL, OPT_MAX_CLIENTS },
	{ "max-host-trees", required_argument,	NULL, OPT_MAX_HOST_TREES },
	{ "max-host-clients", required_argument, NULL, OPT_MAX_HOST_CLIENTS },
	{ "max-host-memory", required_argument,	NULL, OPT_MAX_HOST_MEMORY },
	{ "join-time",	required_argument,	NULL, OPT_JOIN_TIME },
	{ "forming-time", required_argument,	NULL, OPT_FORMING_TIME },
	{ "pmtu",	required_argument,	NULL, OPT_PMTU },
	{ "slots",	required_argument,	NULL, OPT_SLOTS },
	{ "msg-size",	required_argument,	NULL, OPT_MSG_SIZE },
	{ "first-msg-id", required_argument,	NULL, OPT_FIRST_MSG_ID },
	{ "psn",	required_argument,	NULL, OPT_PSN },
	{ "tree",	required_argument,	NULL, OPT_TREE },
	{ "order",	required_argument,	NULL, OPT_ORDER },
	{ "window",	required_argument,	NULL, OPT_WINDOW },
	{ "hold",	required_argument,	NULL, OPT_HOLD },
	{ "min-rto",	required_argument,	NULL, OPT_MIN_RTO },
	{ "dead-time",	required_argument,	NULL, OPT_DEAD_TIME },
	{ "traffic-class", required_argument,	NULL, OPT_TRAFFIC_CLASS },
	{ "once",	no_argument,		NULL, OPT_ONCE },
	{ "pidfile",	required_argument,	NULL, OPT_PIDFILE },
	{ "parent",	required_argument,	NULL, OPT_PARENT },
	{ "levels",	no_argument,		NULL, OPT_LEVELS },
	{ "tls-cert",	required_argument,	NULL, OPT_TLS_CERT },
	{ "tls-key",	required_argument,	NULL, OPT_TLS_KEY },
	{ "tls-ca",	required_argument,	NULL, OPT_TLS_CA },
	{ "tokens",	required_argument,	NULL, OPT_TOKENS },
	{ "insecure-plaintext", no_argument,	NULL, OPT_PLAINTEXT },
	{ "verbose",	no_argument,		NULL, 'v' },
	{ "help",	no_argument,		NULL, 'h' },
	{ 0 },
};

/*
 * What an option's number may be. The kernel checks a tree's own limits, but only
 * when a group comes, and then tells the ranks, who cannot mend it.
 */
static const struct range {
	int		opt;
	uint32_t	min;
	uint32_t	max;
	bool		power;	/* of two */
	uint32_t	step;	/* what it is a multiple of; a DSCP: the rest is ECN's */
	uint32_t	time;	/* milliseconds of a number without a unit */
} ranges[] = {
	{ 'p', 0, UINT16_MAX, false, 1, 0 },
	{ OPT_PMTU, 256, 4096, true, 1, 0 },
	{ OPT_SLOTS, 1, RDMA_INC_MAX_SLOTS, true, 1, 0 },
	{ OPT_MSG_SIZE, 64, RDMA_INC_MAX_MSG_SIZE, false, 64, 0 },
	{ OPT_FIRST_MSG_ID, 0, UINT32_MAX, false, 1, 0 },
	{ OPT_PSN, 0, 0xffffff, false, 1, 0 },
	{ OPT_WINDOW, 1, 256, false, 1, 0 },
	{ OPT_HOLD, 1 << 16, 1 << 30, false, 1, 0 },
	{ OPT_MIN_RTO, 1, 10000, false, 1, 1 },
	{ OPT_DEAD_TIME, 10, 60000, false, 1, 1 },
	{ OPT_TRAFFIC_CLASS, 0, UINT8_MAX, false, 4, 0 },
	{ OPT_JOIN_TIME, 1, 1000000, false, 1, 1000 },
	{ OPT_FORMING_TIME, 1, 1000000, false, 1, 1000 },
	{ 0, 1, UINT32_MAX, false, 1, 0 },
};

static const char *option_name(int opt)
{
	const struct option *o = long_options;

	while (o->name && o->val != opt)
		o++;
	return o->name ? o->name : "";
}

/* A number, or milliseconds of a time. */
static bool get_value(const struct range *r, const char *text, uint64_t *val)
{
	uint64_t unit = r->time ? r->time : 1;
	bool good;

	good = r->time ? unit_msec(text, r->time, val) :
			 unit_number(text, UINT64_MAX, val);
	return good && *val >= r->min * unit && *val <= r->max * unit &&
	       !(r->power && (*val & (*val - 1))) && !(*val % r->step);
}

static bool get_num(const char *text, int opt, uint32_t *num)
{
	const struct range *r = ranges;
	const char *what = "a number";
	uint64_t val;

	while (r->opt && r->opt != opt)
		r++;
	if (get_value(r, text, &val)) {
		*num = (uint32_t)val;
		return true;
	}
	if (r->power)
		what = "a power of two";
	else if (opt == OPT_TRAFFIC_CLASS)
		what = "a DSCP times 4";
	else if (r->step > 1)
		what = "a multiple of 64";
	else if (r->time)
		what = r->time == 1 ? "milliseconds, or as in 2s" :
				      "seconds, or as in 5m";
	fprintf(stderr, "inc-tool: serve: --%s \"%s\" must be %s, %u ... %u\n",
		option_name(opt), text, what, r->min, r->max);
	return false;
}

/* MiB, or with a unit, as in 512M or 2G. */
static bool get_memory(const char *text, uint64_t *bytes)
{
	size_t len = strlen(text);

	if (unit_number(text, UINT64_MAX >> 20, bytes) && *bytes) {
		if (!strchr("kKmMgG", text[len - 1]))
			*bytes <<= 20;
		return true;
	}
	fprintf(stderr, "inc-tool: serve: --max-host-memory \"%s\" must be MiB, or as in 512M or 2G\n",
		text);
	return false;
}

/* Take a limit. Returns false if the option is none. */
static bool limit_option(struct limits *max, int opt, uint32_t num)
{
	switch (opt) {
	case OPT_MAX_TREES:
		max->groups = num;
		return true;
	case OPT_MAX_CLIENTS:
		max->clients = num;
		return true;
	case OPT_MAX_HOST_TREES:
		max->host_groups = num;
		return true;
	case OPT_MAX_HOST_CLIENTS:
		max->host_clients = num;
		return true;
	case OPT_JOIN_TIME:
		max->join_ms = num;
		return true;
	case OPT_FORMING_TIME:
		max->forming_ms = num;
		return true;
	}
	return false;
}

/* Take a number. Returns false if the option has none, or it is invalid. */
static bool number_option(struct server *s, int opt, const char *text)
{
	struct inc_nl_tree *t = &s->tree;
	uint32_t num;

	if (opt == OPT_MAX_HOST_MEMORY)
		return get_memory(text, &s->max.host_memory);
	if (!get_num(text, opt, &num))
		return false;
	if (limit_option(&s->max, opt, num))
		return true;
	switch (opt) {
	case 'p':
		return true;
	case OPT_PMTU:
		INC_NL_SET(t, TREE_PMTU, pmtu, (uint16_t)num);
		return true;
	case OPT_SLOTS:
		INC_NL_SET(t, TREE_SLOTS, slots, (uint16_t)num);
		return true;
	case OPT_MSG_SIZE:
		INC_NL_SET(t, TREE_MSG_SIZE, msg_size, num);
		return true;
	case OPT_FIRST_MSG_ID:
		INC_NL_SET(t, TREE_FIRST_MSG_ID, first_msg_id, num);
		return true;
	case OPT_TREE:
		s->tree_id = num;
		return true;
	case OPT_PSN:
		s->has_psn = true;
		s->psn = num;
		return true;
	case OPT_WINDOW:
		INC_NL_SET(t, TREE_WINDOW, window, (uint16_t)num);
		return true;
	case OPT_HOLD:
		INC_NL_SET(t, TREE_HOLD, hold, num);
		return true;
	case OPT_MIN_RTO:
		INC_NL_SET(t, TREE_MIN_RTO, min_rto, num);
		return true;
	case OPT_DEAD_TIME:
		INC_NL_SET(t, TREE_DEAD_TIME, dead_time, num);
		return true;
	case OPT_TRAFFIC_CLASS:
		INC_NL_SET(t, TREE_TRAFFIC_CLASS, traffic_class, (uint8_t)num);
		return true;
	}
	return false;
}

static bool order_option(struct server *s, const char *text)
{
	const char *name;
	unsigned int i;

	for (i = 0; (name = inc_nl_order_name(i)); i++) {
		if (strcmp(name, text))
			continue;
		INC_NL_SET(&s->tree, TREE_ORDER, order, (uint8_t)i);
		return true;
	}
	fprintf(stderr, "inc-tool: serve: \"%s\" must be ranks or arrival\n",
		text);
	return false;
}

/* Take an option of TLS or tokens. Returns false if it is none. */
static bool security_option(struct security *sec, int opt, const char *arg)
{
	switch (opt) {
	case OPT_TLS_CERT:
		sec->cert = arg;
		return true;
	case OPT_TLS_KEY:
		sec->key = arg;
		return true;
	case OPT_TLS_CA:
		sec->ca = arg;
		return true;
	case OPT_TOKENS:
		sec->tokens_path = arg;
		return true;
	case OPT_PLAINTEXT:
		sec->plaintext = true;
		return true;
	}
	return false;
}

/* As inc-amd has it. */
static bool listen_option(struct options *o, const char *text)
{
	static char host[256], service[8];
	int port = -1;

	if (inc_auth_address(text, host, sizeof(host), &port)) {
		fprintf(stderr, "inc-tool: serve: --listen \"%s\" must be ADDRESS, ADDRESS:PORT or [ADDRESS]:PORT, with a port from 0 to 65535\n",
			text);
		return false;
	}
	o->listen = host;
	if (port >= 0) {
		snprintf(service, sizeof(service), "%u", (uint16_t)port);
		o->port = service;
	}
	return true;
}

/**
 * cmd_serve() - run inc-tool serve
 * @argc: number of arguments
 * @argv: arguments after the word "serve", which is before them in the array
 *
 * Return: exit status.
 */
int cmd_serve(int argc, char **argv)
{
	struct server s = { .listen_fd = -1 };
	struct options o = { .port = INC_RDV_PORT };
	int opt;

	if (argc && !strcmp(argv[0], "help")) {
		usage(stdout);
		return TOOL_OK;
	}
	/* getopt_long() begins after the first word, which its messages name. */
	argc++;
	argv--;
	argv[0] = (char *)"inc-tool: serve";
	optind = 0;
	while ((opt = getopt_long(argc, argv, "l:p:vh", long_options,
				  NULL)) != -1) {
		switch (opt) {
		case 'l':
			if (!listen_option(&o, optarg))
				return TOOL_USAGE;
			break;
		case 'p':
			if (!number_option(&s, opt, optarg))
				return TOOL_USAGE;
			o.port = optarg;
			break;
		case OPT_ONCE:
			s.once = true;
			break;
		case OPT_ALLOW:
			if (!addr_allow(&s, optarg))
				return TOOL_USAGE;
			break;
		case OPT_ORDER:
			if (!order_option(&s, optarg))
				return TOOL_USAGE;
			break;
		case OPT_PARENT:
			o.parent = optarg;
			break;
		case OPT_LEVELS:
			s.levels = true;
			break;
		case OPT_PIDFILE:
			o.pidfile = optarg;
			break;
		case 'v':
			s.verbose = true;
			break;
		case 'h':
			usage(stdout);
			return TOOL_OK;
		default:
			if (!security_option(&s.security, opt, optarg) &&
			    (!optarg || !number_option(&s, opt, optarg)))
				return TOOL_USAGE;
		}
	}
	if (optind != argc) {
		fprintf(stderr, "inc-tool: serve: unexpected argument \"%s\"\n",
			argv[optind]);
		return TOOL_USAGE;
	}
	if (s.tree_id && o.parent) {
		fprintf(stderr, "inc-tool: serve: --tree and --parent exclude each other: the trees below a parent are made for each job\n");
		return TOOL_USAGE;
	}
	switch (server_run(&s, &o)) {
	case 0:
		return TOOL_OK;
	case -EINVAL:
		return TOOL_USAGE;
	}
	return TOOL_FAILED;
}
