// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * inc-tool serve: the command line.
 */
#include "nl/common.h"

#include "auth/address.h"
#include "conf/opts.h"
#include "conf/output.h"
#include "server.h"

#define EXIT_USAGE	1	/* wrong options or files */
#define EXIT_FAILED	2	/* the kernel refused, or has no module */

struct args {
	struct server	s;
	struct serve_options	o;
	char		host[256];
	char		port[8];
};

/* Parse an address as inc-amd does. */
static int take_listen(void *ctx, const struct opt *opt, char *text)
{
	struct args *a = ctx;
	int port = -1;

	if (inc_auth_address(text, a->host, sizeof(a->host), &port))
		return opts_wrong_value(opt, text, "ADDRESS, ADDRESS:PORT or [ADDRESS]:PORT, with a port from 0 to 65535");
	a->o.listen = a->host;
	if (port >= 0) {
		snprintf(a->port, sizeof(a->port), "%u", (uint16_t)port);
		a->o.port = a->port;
	}
	return 0;
}

static int take_port(void *ctx, const struct opt *opt, char *text)
{
	struct args *a = ctx;

	a->o.port = text;
	return 0;
}

static int take_allow(void *ctx, const struct opt *opt, char *text)
{
	struct args *a = ctx;

	return inc_rdv_network_add(&a->s.allow, text) ?
	       opts_wrong_value(opt, text, "an address, or ADDRESS/PREFIX") : 0;
}

static int note_psn(void *ctx, const struct opt *opt, char *text)
{
	struct args *a = ctx;

	a->s.has_psn = true;
	return 0;
}

/* Note that the tree's attribute @opt->tag was set. */
static int note_tree(void *ctx, const struct opt *opt, char *text)
{
	struct args *a = ctx;

	a->s.tree.has |= 1ULL << opt->tag;
	return 0;
}

#define AT(field)	OPT_AT(struct args, field)
#define COUNT(field)	AT(s.max.field), 1, UINT32_MAX
#define TREE(name)	.call = note_tree, .tag = RDMA_INC_A_TREE_##name
#define SEC		1000

/*
 * Check a tree's limits here, too: the kernel would check them only with the
 * first job, and only the ranks would see the error.
 */
static const struct opt options_list[] = {
	{ "listen", 'l', OPT_CALL, "ADDR[:PORT]",
	  "address to listen on (default all)", .call = take_listen },
	{ "port", 'p', OPT_NUM, "PORT",
	  "TCP port (default " INC_RDV_PORT "); 0: any that is free",
	  .most = UINT16_MAX, .call = take_port },
	{ "allow", 0, OPT_CALL, "ADDR[/N]",
	  "accept these addresses of ranks, besides the address that a rank connects from; may be repeated",
	  .call = take_allow },
	{ "max-trees", 0, OPT_NUM, "N",
	  "maximum number of jobs (default 1024, or as many as the memory limit of the switch admits)",
	  COUNT(groups) },
	{ "max-clients", 0, OPT_NUM, "N",
	  "maximum number of connections (default 4096, or as many as files can be opened)",
	  COUNT(clients) },
	{ "max-host-trees", 0, OPT_NUM, "N",
	  "maximum number of jobs that one host may start (default: half of all)",
	  COUNT(host_groups) },
	{ "max-host-clients", 0, OPT_NUM, "N",
	  "maximum number of connections from it (likewise)",
	  COUNT(host_clients) },
	{ "max-host-memory", 0, OPT_MIB, "SIZE",
	  "maximum memory of these jobs' trees (likewise)",
	  AT(s.max.host_memory), 1 << 20, UINT64_MAX },
	{ "join-time", 0, OPT_SEC, "TIME",
	  "from connecting to joining (default and maximum 10)",
	  AT(s.max.join_ms), SEC, 1000000 * SEC },
	{ "forming-time", 0, OPT_SEC, "TIME",
	  "from a job's first rank until all are ready (default 300)",
	  AT(s.max.forming_ms), SEC, 1000000 * SEC },
	{ "pmtu", 0, OPT_NUM, "N",
	  "path MTU of trees, unless the first rank requests another (default: that of the first rank's port)",
	  AT(s.tree.pmtu), 256, 4096, OPT_POWER, TREE(PMTU) },
	{ "slots", 0, OPT_NUM, "N",
	  "slots of trees, unless the first rank requests others",
	  AT(s.tree.slots), 1, RDMA_INC_MAX_SLOTS, OPT_POWER, TREE(SLOTS) },
	{ "msg-size", 0, OPT_NUM, "N",
	  "longest message of trees in bytes, likewise",
	  AT(s.tree.msg_size), 64, RDMA_INC_MAX_MSG_SIZE, 64,
	  TREE(MSG_SIZE) },
	{ "first-msg-id", 0, OPT_NUM, "N",
	  "message ID of a tree's first message, likewise",
	  AT(s.tree.first_msg_id), 0, UINT32_MAX, TREE(FIRST_MSG_ID) },
	{ "order", 0, OPT_WORD, "ranks|arrival",
	  "reduce in order of ranks (default; always the same bits), or in order of arrival (less memory)",
	  AT(s.tree.order), TREE(ORDER) },
	{ "window", 0, OPT_NUM, "N",
	  "maximum number of result packets in flight to a rank",
	  AT(s.tree.window), 1, 256, TREE(WINDOW) },
	{ "hold", 0, OPT_NUM, "N",
	  "maximum number of bytes held of a rank that is ahead",
	  AT(s.tree.hold), 1 << 16, 1 << 30, TREE(HOLD) },
	{ "min-rto", 0, OPT_MS, "TIME", "minimum retransmission timeout",
	  AT(s.tree.min_rto), 1, 10000, TREE(MIN_RTO) },
	{ "dead-time", 0, OPT_MS, "TIME",
	  "time without acknowledgment after which a rank is dead",
	  AT(s.tree.dead_time), 10, 60000, TREE(DEAD_TIME) },
	{ "traffic-class", 0, OPT_NUM, "N",
	  "DSCP times 4 of trees' packets, both ways (default 0)",
	  AT(s.tree.traffic_class), 0, UINT8_MAX, 4, TREE(TRAFFIC_CLASS) },
	{ "ecn", 0, OPT_WORD, "not-ect|ect0",
	  "ECN codepoint of trees' data, both ways (default not-ect)",
	  AT(s.tree.ecn), TREE(ECN) },
	{ "priority", 0, OPT_NUM, "N",
	  "priority of trees' packets in the switch's queues (default 0)",
	  AT(s.tree.priority), 0, 15, TREE(PRIORITY) },
	{ "cnp-interval", 0, OPT_NUM, "US",
	  "shortest time between two CNPs to a rank, 0 for none (default 50)",
	  AT(s.tree.cnp_interval), 0, 1000000, TREE(CNP_INTERVAL) },
	{ "psn", 0, OPT_NUM, "N",
	  "first PSN of all queue pairs, for tests (default random)",
	  AT(s.psn), 0, 0xffffff, .call = note_psn },
	{ "tree", 0, OPT_NUM, "ID",
	  "use this existing tree for one job, and leave it in place (default: create a tree for each job)",
	  AT(s.tree_id), 1, UINT32_MAX },
	{ "parent", 0, OPT_TEXT, "HOST[:PORT]",
	  "be a child of the switch with this daemon, which knows the ranks at other switches",
	  AT(o.parent) },
	{ "levels", 0, OPT_FLAG, NULL,
	  "be a parent that has hosts of its own as well", AT(s.levels) },
	{ "tls-cert", 0, OPT_TEXT, "FILE",
	  "speak TLS, with this certificate and", AT(s.security.cert) },
	{ "tls-key", 0, OPT_TEXT, "FILE", "its private key",
	  AT(s.security.key) },
	{ "tls-ca", 0, OPT_TEXT, "FILE",
	  "demand certificates of this authority of clients, and of the parent",
	  AT(s.security.ca) },
	{ "tokens", 0, OPT_TEXT, "FILE", "or tokens, which this file knows",
	  AT(s.security.tokens) },
	{ "insecure-plaintext", 0, OPT_FLAG, NULL,
	  "do not warn that there is no TLS", AT(s.security.plaintext) },
	{ "once", 0, OPT_FLAG, NULL, "exit when the first job has ended",
	  AT(s.once) },
	{ "pidfile", 0, OPT_TEXT, "FILE", "write the process ID there",
	  AT(o.pidfile) },
	{ "verbose", 'v', OPT_FLAG, NULL, "log to standard error",
	  AT(s.verbose) },
	OPT_HELP_ROW,
	{ 0 }
};

static const struct opts options = {
	.prog	= "inc-tool: serve",
	.head	= "Usage: inc-tool serve [OPTIONS]\n"
		  "\n"
		  "Create trees for programs that use libinc: the ranks of a job meet here.\n"
		  "\n",
	.tail	= "\n"
		  "N may be as in 64K or 1M. TIME: seconds (join, forming) or milliseconds, or as in\n"
		  "500ms, 2s, 5m or 1h. SIZE: MiB, or as in 512M or 2G.\n",
	.list	= options_list,
};

/* inc-tool runs this program as "inc-tool serve". */
int main(int argc, char **argv)
{
	struct args a = { .o.port = INC_RDV_PORT };
	int ret, word = argc > 1 && !strcmp(argv[1], "serve");

	inc_output_open();
	ret = opts_command(&options, &a, argc - 1 - word, argv + 1 + word);
	if (ret)
		return ret < 0 ? EXIT_USAGE : 0;
	if (a.s.tree_id && a.o.parent) {
		opts_wrong("--tree and --parent exclude each other: the trees below a parent are made for each job");
		return EXIT_USAGE;
	}
	switch (server_run(&a.s, &a.o)) {
	case 0:
		return 0;
	case -EINVAL:
		return EXIT_USAGE;
	}
	return EXIT_FAILED;
}
