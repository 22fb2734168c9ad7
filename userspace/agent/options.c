// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See options.h.
 */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auth/address.h"
#include "cm-wire.h"
#include "conf/conf.h"
#include "conf/output.h"

#define NETCONF_SSH_PORT	830	/* RFC 6242 */
#define NETCONF_TLS_PORT	6513	/* RFC 7589 */

static const char usage_text[] =
"usage: inc-agentd [OPTION...]\n"
"\n"
"Serves NETCONF for the INC switch of this network namespace.\n"
"\n"
"  -u, --unix PATH          UNIX socket (default /run/inc-agentd.sock)\n"
"  -m, --mode MODE          its permissions, octal (default 600)\n"
"  -s, --ssh ADDR[:PORT]    SSH, too; an IPv6 address in brackets\n"
"  -k, --host-key FILE      private key of the host for SSH, in PEM\n"
"  -a, --user NAME=FILE     who may log in by SSH, and the public key;\n"
"                           may be repeated\n"
"  -r, --reader NAME=FILE   who may log in by SSH and look only\n"
"  -t, --tls ADDR[:PORT]    TLS, too (port 6513)\n"
"      --tls-cert FILE      the switch's certificate, PEM,\n"
"      --tls-key FILE       its private key,\n"
"      --tls-ca FILE        and the authority of the clients' certificates\n"
"      --tls-crl FILE       that authority's list of revoked certificates\n"
"  -c, --cm ADDR[:PORT]     let ranks connect by RDMA CM (port 18792)\n"
"  -f, --config FILE        options, one per line: NAME = VALUE (default\n"
"                           " AGENT_CONFIG ", if it is there)\n"
"  -i, --id NAME            name of the switch in the fabric (default: the\n"
"                           host's name)\n"
"  -n, --max-sessions N     limit of sessions (default 32)\n"
"      --max-memory MIB     limit of its memory (default 512); 0: none\n"
"  -l, --lldp PATH          lldpd's socket (default: the usual one), or none\n"
"  -y, --yang DIR           directory of YANG modules that are not part of it\n"
"  -p, --pid-file FILE      file to write the process ID to\n"
"  -v, --verbose            say more\n"
"  -q, --quiet              only say what went wrong\n"
"  -V, --version            print the version\n"
"  -h, --help               print this\n";

static void die(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), noreturn));

static void die(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "inc-agentd: %s", conf_where);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputs("; see inc-agentd --help\n", stderr);
	exit(2);
}

static unsigned int number(const char *text, int base, unsigned int min,
			   unsigned int max, const char *what)
{
	unsigned long v;
	char *end;

	errno = 0;
	v = strtoul(text, &end, base);
	if (errno || end == text || *end || *text == '-' || v < min || v > max)
		die(base == 8 ? "%s: %s has to be from %o to %o" :
		    "%s: %s has to be from %u to %u", text, what, min, max);
	return (unsigned int)v;
}

/* As inc_auth_address() takes it; @text becomes the host. */
static const char *parse_addr(char *text, uint16_t *port)
{
	char host[256];
	int value = *port;

	if (inc_auth_address(text, host, sizeof(host), &value) || !value)
		die("%s: has to be ADDR, ADDR:PORT or [ADDR6]:PORT, with a port from 1 to 65535",
		    text);
	*port = (uint16_t)value;
	return strcpy(text, host);
}

static void parse_user(char *text, bool reader, struct options *o)
{
	char *file = strchr(text, '=');

	if (!file || file == text || !file[1])
		die("%s: a user is NAME=FILE", text);
	if (o->ssh.nusers == MAX_USERS)
		die("there may be %d users", MAX_USERS);
	*file++ = '\0';
	o->users[o->ssh.nusers].reader = reader;
	o->users[o->ssh.nusers].name = text;
	o->users[o->ssh.nusers++].key = file;
}

static void check(const struct options *o)
{
	if (!o->ssh.addr && (o->ssh.hostkey || o->ssh.nusers))
		die("--host-key and --user need --ssh");
	if (o->ssh.addr && !o->ssh.hostkey)
		die("--ssh needs --host-key");
	if (o->ssh.addr && !o->ssh.nusers)
		die("--ssh needs at least one --user, or nobody can log in");
	if (!o->tls.addr && (o->tls.cert || o->tls.key || o->tls.ca ||
			     o->tls.crl))
		die("--tls-cert, --tls-key, --tls-ca and --tls-crl need --tls");
	if (o->tls.addr && (!o->tls.cert || !o->tls.key || !o->tls.ca))
		die("--tls needs --tls-cert, --tls-key and --tls-ca");
	if (o->id && (!*o->id || strlen(o->id) >= AGENT_ID_LEN))
		die("--id has to have 1 to %d characters", AGENT_ID_LEN - 1);
}

enum {
	OPT_TLS_CERT = 256,
	OPT_TLS_KEY,
	OPT_TLS_CA,
	OPT_TLS_CRL,
	OPT_MAX_MEMORY,
};

static const char shorts[] = "u:m:s:k:a:r:t:c:f:i:n:l:y:p:vqVh";

static const struct option longs[] = {
	{ "unix", required_argument, NULL, 'u' },
	{ "mode", required_argument, NULL, 'm' },
	{ "ssh", required_argument, NULL, 's' },
	{ "host-key", required_argument, NULL, 'k' },
	{ "user", required_argument, NULL, 'a' },
	{ "reader", required_argument, NULL, 'r' },
	{ "tls", required_argument, NULL, 't' },
	{ "tls-cert", required_argument, NULL, OPT_TLS_CERT },
	{ "tls-key", required_argument, NULL, OPT_TLS_KEY },
	{ "tls-ca", required_argument, NULL, OPT_TLS_CA },
	{ "tls-crl", required_argument, NULL, OPT_TLS_CRL },
	{ "cm", required_argument, NULL, 'c' },
	{ "config", required_argument, NULL, 'f' },
	{ "id", required_argument, NULL, 'i' },
	{ "max-sessions", required_argument, NULL, 'n' },
	{ "max-memory", required_argument, NULL, OPT_MAX_MEMORY },
	{ "lldp", required_argument, NULL, 'l' },
	{ "yang", required_argument, NULL, 'y' },
	{ "pid-file", required_argument, NULL, 'p' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "version", no_argument, NULL, 'V' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

/* Returns whether it was one of these. */
static bool take_remote(struct options *o, int opt, char *arg)
{
	switch (opt) {
	case 's':
		o->ssh.port = NETCONF_SSH_PORT;
		o->ssh.addr = parse_addr(arg, &o->ssh.port);
		return true;
	case 'k':
		o->ssh.hostkey = arg;
		return true;
	case 'a':
	case 'r':
		parse_user(arg, opt == 'r', o);
		return true;
	case 't':
		o->tls.port = NETCONF_TLS_PORT;
		o->tls.addr = parse_addr(arg, &o->tls.port);
		return true;
	case 'c':
		o->cm.port = INC_CM_PORT;
		o->cm.addr = parse_addr(arg, &o->cm.port);
		return true;
	case OPT_TLS_CERT:
		o->tls.cert = arg;
		return true;
	case OPT_TLS_KEY:
		o->tls.key = arg;
		return true;
	case OPT_TLS_CA:
		o->tls.ca = arg;
		return true;
	case OPT_TLS_CRL:
		o->tls.crl = arg;
		return true;
	}
	return false;
}

static int take(void *ctx, int opt, char *arg);

static void read_file(struct options *o, const char *path)
{
	const struct conf conf = {
		.prog = "inc-agentd", .options = longs, .take = take, .ctx = o,
	};

	if (conf_read(&conf, path))
		exit(2);
}

/* Returns 0, or does not return. */
static int take(void *ctx, int opt, char *arg)
{
	struct options *o = ctx;

	if (take_remote(o, opt, arg))
		return 0;
	switch (opt) {
	case 'u':
		o->sock = arg;
		break;
	case 'm':
		o->mode = number(arg, 8, 0, 0777, "a mode");
		break;
	case 'f':
		read_file(o, arg);
		break;
	case 'i':
		o->id = arg;
		break;
	case 'n':
		o->max = number(arg, 10, 1, 10000, "the limit");
		break;
	case OPT_MAX_MEMORY:
		o->max_memory = (uint64_t)number(arg, 10, 0, 1 << 20,
						 "MiB of memory") << 20;
		break;
	case 'l':
		o->no_lldp = !strcmp(arg, "none");
		o->lldp = arg;
		break;
	case 'y':
		o->yang = arg;
		break;
	case 'p':
		o->pidfile = arg;
		break;
	case 'v':
		o->level = LOG_LEVEL_DEBUG;
		break;
	case 'q':
		o->level = LOG_LEVEL_WARN;
		break;
	case 'V':
		puts("inc-agentd " AGENT_VERSION);
		exit(inc_output_end("inc-agentd") ? 0 : 2);
	case 'h':
		fputs(usage_text, stdout);
		exit(inc_output_end("inc-agentd") ? 0 : 2);
	default:
		fputs("see inc-agentd --help\n", stderr);
		exit(2);
	}
	return 0;
}

/**
 * options_read() - read the configuration file and the command line
 * @o: result
 * @argc: number of arguments
 * @argv: arguments
 *
 * Ends the program after a message if something is wrong.
 */
void options_read(struct options *o, int argc, char **argv)
{
	int c;

	*o = (struct options) {
		.sock = "/run/inc-agentd.sock", .mode = 0600, .max = 32,
		.max_memory = 512 << 20,
		.yang = AGENT_YANG, .level = LOG_LEVEL_INFO,
	};
	o->ssh.users = o->users;
	if (!conf_given(argc, argv, shorts, longs, 'f') &&
	    !access(AGENT_CONFIG, F_OK))
		read_file(o, AGENT_CONFIG);
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1)
		take(o, c, optarg);
	if (optind < argc)
		die("%s: no such argument", argv[optind]);
	check(o);
}
