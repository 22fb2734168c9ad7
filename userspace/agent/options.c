// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See options.h.
 */
#include "options.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "auth/address.h"
#include "cm-wire.h"
#include "conf/opts.h"
#include "conf/output.h"

#define NETCONF_SSH_PORT	830	/* RFC 6242 */
#define NETCONF_TLS_PORT	6513	/* RFC 7589 */

static int take_mode(void *ctx, const struct opt *opt, char *text)
{
	struct agent_options *o = ctx;
	unsigned long mode;
	char *end;

	mode = strtoul(text, &end, 8);
	if (end == text || *end || *text == '-' || mode > 0777)
		return opts_wrong_value(opt, text, "octal, from 0 to 777");
	o->mode = (unsigned int)mode;
	return 0;
}

/* Split an address as inc_auth_address() does; @text becomes the host. */
static int split_address(void *ctx, const struct opt *opt, char *text)
{
	struct agent_options *o = ctx;
	uint16_t *port = opt->letter == 's' ? &o->ssh.port :
			 opt->letter == 't' ? &o->tls.port : &o->cm.port;
	int value = (int)opt->tag;
	char host[256];

	if (inc_auth_address(text, host, sizeof(host), &value) || !value)
		return opts_wrong_value(opt, text, "ADDR, ADDR:PORT or [ADDR6]:PORT, with a port from 1 to 65535");
	*port = (uint16_t)value;
	strcpy(text, host);
	return 0;
}

static int add_manager(void *ctx, const struct opt *opt, char *text)
{
	struct agent_options *o = ctx;
	char host[256];
	int port = 1;
	unsigned int i;

	if (inc_auth_address(text, host, sizeof(host), &port) || !port)
		return opts_wrong_value(opt, text, "HOST, HOST:PORT or [ADDR6]:PORT, with a port from 1 to 65535");
	for (i = 0; i < o->nmanagers; i++)
		if (!strcasecmp(o->managers[i], text))
			return opts_wrong("--manager %s is given twice", text);
	if (o->nmanagers == HOME_MANAGERS)
		return opts_wrong("there may be %d managers", HOME_MANAGERS);
	o->managers[o->nmanagers++] = text;
	return 0;
}

/* Add a user of SSH. A tag means that the user may only read. */
static int add_user(void *ctx, const struct opt *opt, char *text)
{
	struct agent_options *o = ctx;
	char *file = strchr(text, '=');

	if (!file || file == text || !file[1])
		return opts_wrong_value(opt, text, "NAME=FILE");
	if (o->ssh.nusers == MAX_USERS)
		return opts_wrong("there may be %d users", MAX_USERS);
	*file++ = '\0';
	o->users[o->ssh.nusers].reader = opt->tag;
	o->users[o->ssh.nusers].name = text;
	o->users[o->ssh.nusers++].key = file;
	return 0;
}

static int set_level(void *ctx, const struct opt *opt, char *text)
{
	struct agent_options *o = ctx;

	o->level = opt->tag;
	return 0;
}

#define AT(field)	OPT_AT(struct agent_options, field)

static const struct opt options_list[] = {
	{ "unix", 'u', OPT_TEXT, "PATH",
	  "UNIX socket (default /run/inc-agentd.sock)", AT(sock) },
	{ "mode", 'm', OPT_CALL, "MODE",
	  "its permissions, octal (default 600)", .call = take_mode },
	{ "ssh", 's', OPT_TEXT, "ADDR[:PORT]",
	  "SSH, too (port 830); an IPv6 address in brackets",
	  AT(ssh.addr), .call = split_address, .tag = NETCONF_SSH_PORT },
	{ "host-key", 'k', OPT_TEXT, "FILE",
	  "private key of the host for SSH, in PEM", AT(ssh.hostkey) },
	{ "user", 'a', OPT_CALL, "NAME=FILE",
	  "who may log in by SSH, and the public key; may be repeated",
	  .call = add_user },
	{ "reader", 'r', OPT_CALL, "NAME=FILE",
	  "who may log in by SSH and look only", .call = add_user, .tag = 1 },
	{ "tls", 't', OPT_TEXT, "ADDR[:PORT]", "TLS, too (port 6513)",
	  AT(tls.addr), .call = split_address, .tag = NETCONF_TLS_PORT },
	{ "tls-cert", 0, OPT_TEXT, "FILE", "the switch's certificate, PEM,",
	  AT(tls.cert) },
	{ "tls-key", 0, OPT_TEXT, "FILE", "its private key,", AT(tls.key) },
	{ "tls-ca", 0, OPT_TEXT, "FILE",
	  "and the authority of the clients' certificates", AT(tls.ca) },
	{ "tls-crl", 0, OPT_TEXT, "FILE",
	  "that authority's list of revoked certificates", AT(tls.crl) },
	{ "manager", 0, OPT_CALL, "HOST[:PORT]",
	  "call this manager over TLS (port 4335), instead of waiting for it; once for each",
	  .call = add_manager },
	{ "cm", 'c', OPT_TEXT, "ADDR[:PORT]",
	  "let ranks connect by RDMA CM (port 18792)",
	  AT(cm.addr), .call = split_address, .tag = INC_CM_PORT },
	{ "config", 'f', OPT_CONFIG, "FILE",
	  "options, one per line: NAME = VALUE (default " AGENT_CONFIG ", if it is there)",
	  AT(config) },
	{ "id", 'i', OPT_TEXT, "NAME",
	  "name of the switch in the fabric (default: the host's name), unless a manager has set another",
	  AT(id) },
	{ "state", 0, OPT_TEXT, "DIR",
	  "where that one is kept (default: STATE_DIRECTORY, if that is set)",
	  AT(state) },
	{ "max-sessions", 'n', OPT_NUM, "N", "limit of sessions (default 32)",
	  AT(max), 1, 10000 },
	{ "max-memory", 0, OPT_MIB, "MIB",
	  "limit of its memory (default 512); 0: none",
	  AT(max_memory), 0, 1ULL << 40 },
	{ "lldp", 'l', OPT_TEXT, "PATH",
	  "lldpd's socket (default: the usual one), or none", AT(lldp) },
	{ "yang", 'y', OPT_TEXT, "DIR",
	  "directory of YANG modules that are not part of it", AT(yang) },
	{ "pidfile", 'p', OPT_TEXT, "FILE", "write the process ID there",
	  AT(pidfile) },
	{ "pid-file", 0, OPT_TEXT, "FILE", NULL, AT(pidfile) },
	{ "verbose", 'v', OPT_CALL, NULL, "say more",
	  .call = set_level, .tag = LOG_LEVEL_DEBUG },
	{ "quiet", 'q', OPT_CALL, NULL, "only say what went wrong",
	  .call = set_level, .tag = LOG_LEVEL_WARN },
	OPT_VERSION_ROW,
	OPT_HELP_ROW,
	{ 0 }
};

static const struct opts options = {
	.prog	= "inc-agentd",
	.version = AGENT_VERSION,
	.head	= "Usage: inc-agentd [OPTIONS]\n"
		  "Serves NETCONF for the INC switch of this network namespace.\n\n",
	.config	= AGENT_CONFIG,
	.list	= options_list,
};

/* libnetconf2 tells the name of a user who logs in, but not the key. */
static int check_users(const struct agent_options *o)
{
	const struct netconf_user *a, *b, *end = o->users + o->ssh.nusers;

	for (a = o->users; a < end; a++)
		for (b = a + 1; b < end; b++)
			if (a->reader != b->reader && !strcmp(a->name, b->name))
				return opts_wrong("--user and --reader both name %s: who has one of its keys either may change everything, or look only; give the other key another name",
						  a->name);
	return 0;
}

static int check_options(const struct agent_options *o)
{
	if (check_users(o))
		return -1;
	if (!o->ssh.addr && (o->ssh.hostkey || o->ssh.nusers))
		return opts_wrong("--host-key, --user and --reader need --ssh");
	if (o->ssh.addr && !o->ssh.hostkey)
		return opts_wrong("--ssh needs --host-key");
	if (o->ssh.addr && !o->ssh.nusers)
		return opts_wrong("--ssh needs at least one --user, or nobody can log in");
	if (!o->tls.addr && !o->nmanagers &&
	    (o->tls.cert || o->tls.key || o->tls.ca || o->tls.crl))
		return opts_wrong("--tls-cert, --tls-key, --tls-ca and --tls-crl need --tls or --manager");
	if ((o->tls.addr || o->nmanagers) &&
	    (!o->tls.cert || !o->tls.key || !o->tls.ca))
		return opts_wrong("--%s needs --tls-cert, --tls-key and --tls-ca",
				  o->tls.addr ? "tls" : "manager");
	if (o->id && (!*o->id || strlen(o->id) >= AGENT_ID_LEN))
		return opts_wrong("--id must have 1 to %d characters",
				  AGENT_ID_LEN - 1);
	return 0;
}

/*
 * Read the configuration file and the command line. Ends the program after a
 * message if something is wrong.
 */
void options_read(struct agent_options *o, int argc, char **argv)
{
	int ret;

	*o = (struct agent_options) {
		.sock = "/run/inc-agentd.sock", .mode = 0600, .max = 32,
		.max_memory = 512 << 20,
		.yang = AGENT_YANG, .level = LOG_LEVEL_INFO,
	};
	o->ssh.users = o->users;
	o->state = getenv("STATE_DIRECTORY");
	ret = opts_read(&options, o, argc, argv);
	if (ret > 0)
		exit(inc_output_end("inc-agentd") ? 0 : 2);
	if (ret || check_options(o))
		exit(2);
}
