// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * inc-agentd: the NETCONF server of an INC switch.
 */
#include "agent.h"

#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "netconf.h"
#include "notif.h"
#include "rpc.h"

#define LIBNETCONF2_YANG	"/usr/share/yang/modules/libnetconf2"
#define MAX_USERS		64

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
"  -i, --id NAME            name of the switch in the fabric (default: the\n"
"                           host's name)\n"
"  -n, --max-sessions N     limit of sessions (default 32)\n"
"  -y, --yang DIR           directory of the YANG modules\n"
"  -p, --pid-file FILE      file to write the process ID to\n"
"  -v, --verbose            say more; twice: all\n"
"  -q, --quiet              only say what went wrong\n"
"  -V, --version            print the version\n"
"  -h, --help               print this\n";

/**
 * struct options - the command line
 * @sock: UNIX socket
 * @mode: its permissions
 * @ssh: SSH endpoint; its addr is NULL if there is none
 * @users: its users
 * @id: name of the switch, or NULL
 * @max: limit of sessions
 * @yang: directory of the YANG modules
 * @pidfile: file for the process ID, or NULL
 * @level: what to print
 */
struct options {
	const char		*sock;
	unsigned int		mode;
	struct netconf_ssh	ssh;
	struct netconf_user	users[MAX_USERS];
	const char		*id;
	unsigned int		max;
	const char		*yang;
	const char		*pidfile;
	enum log_level		level;
};

static void die(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), noreturn));

static void die(const char *fmt, ...)
{
	va_list ap;

	fputs("inc-agentd: ", stderr);
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

/* ADDR, ADDR:PORT, [ADDR6] or [ADDR6]:PORT */
static void parse_ssh(char *text, struct netconf_ssh *ssh)
{
	char *port = strrchr(text, ':');
	char *close = strchr(text, ']');

	ssh->port = 830;
	if (*text == '[') {
		if (!close)
			die("%s: the ] is missing", text);
		port = close[1] == ':' ? close + 1 : NULL;
		*close = '\0';
		text++;
	}
	if (port) {
		*port++ = '\0';
		ssh->port = (uint16_t)number(port, 10, 1, 65535, "a port");
	}
	ssh->addr = text;
}

static void parse_user(char *text, struct options *o)
{
	char *file = strchr(text, '=');

	if (!file || file == text || !file[1])
		die("%s: a user is NAME=FILE", text);
	if (o->ssh.nusers == MAX_USERS)
		die("there may be %d users", MAX_USERS);
	*file++ = '\0';
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
	if (o->id && (!*o->id || strlen(o->id) >= AGENT_ID_LEN))
		die("--id has to have 1 to %d characters", AGENT_ID_LEN - 1);
}

static void parse(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "unix", required_argument, NULL, 'u' },
		{ "mode", required_argument, NULL, 'm' },
		{ "ssh", required_argument, NULL, 's' },
		{ "host-key", required_argument, NULL, 'k' },
		{ "user", required_argument, NULL, 'a' },
		{ "id", required_argument, NULL, 'i' },
		{ "max-sessions", required_argument, NULL, 'n' },
		{ "yang", required_argument, NULL, 'y' },
		{ "pid-file", required_argument, NULL, 'p' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "version", no_argument, NULL, 'V' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "u:m:s:k:a:i:n:y:p:vqVh", longs,
				NULL)) != -1) {
		switch (c) {
		case 'u':
			o->sock = optarg;
			break;
		case 'm':
			o->mode = number(optarg, 8, 0, 0777, "a mode");
			break;
		case 's':
			parse_ssh(optarg, &o->ssh);
			break;
		case 'k':
			o->ssh.hostkey = optarg;
			break;
		case 'a':
			parse_user(optarg, o);
			break;
		case 'i':
			o->id = optarg;
			break;
		case 'n':
			o->max = number(optarg, 10, 1, 10000, "the limit");
			break;
		case 'y':
			o->yang = optarg;
			break;
		case 'p':
			o->pidfile = optarg;
			break;
		case 'v':
			o->level = LOG_LEVEL_DEBUG;
			break;
		case 'q':
			o->level = LOG_LEVEL_WARN;
			break;
		case 'V':
			puts("inc-agentd " AGENT_VERSION);
			exit(0);
		case 'h':
			fputs(usage_text, stdout);
			exit(0);
		default:
			fputs("see inc-agentd --help\n", stderr);
			exit(2);
		}
	}
	if (optind < argc)
		die("%s: no such argument", argv[optind]);
	check(o);
}

/* Tell systemd how it is going, if it asked for that. */
static void notify(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd;

	if (!path || !*path || strlen(path) >= sizeof(addr.sun_path))
		return;
	memcpy(addr.sun_path, path, strlen(path));
	if (*path == '@')
		addr.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	(void)!sendto(fd, state, strlen(state), MSG_NOSIGNAL,
		      (struct sockaddr *)&addr,
		      (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
				  strlen(path)));
	close(fd);
}

static int write_pid(const char *path)
{
	FILE *file = fopen(path, "we");

	if (!file || fprintf(file, "%d\n", (int)getpid()) < 0 || fclose(file)) {
		log_error("%s: %s", path, strerror(errno));
		return -1;
	}
	return 0;
}

static int start(struct agent *a, const struct options *o)
{
	char dirs[4096];

	snprintf(dirs, sizeof(dirs), "%s:" LIBNETCONF2_YANG, o->yang);
	if (netconf_init(a, dirs, &rpc_ops, o->max))
		return -1;
	rpc_init(a);
	if (netconf_listen_unix(o->sock, o->mode))
		return -1;
	if (o->ssh.addr) {
		snprintf(a->addrs[a->naddrs++], sizeof(a->addrs[0]), "%s",
			 o->ssh.addr);
		if (netconf_listen_ssh(&o->ssh))
			return -1;
	}
	if (o->pidfile && write_pid(o->pidfile))
		return -1;
	return notif_start(a) ? -1 : netconf_start();
}

int main(int argc, char **argv)
{
	struct options o = {
		.sock = "/run/inc-agentd.sock", .mode = 0600, .max = 32,
		.yang = AGENT_YANG, .level = LOG_LEVEL_INFO,
	};
	struct agent a = { .ctx = NULL };
	sigset_t set;
	int sig;

	o.ssh.users = o.users;
	parse(argc, argv, &o);
	log_start("inc-agentd", o.level);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	/* Threads inherit it; only main() takes these signals. */
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (o.id)
		snprintf(a.id, sizeof(a.id), "%s", o.id);
	else if (gethostname(a.id, sizeof(a.id) - 1))
		snprintf(a.id, sizeof(a.id), "switch");
	if (start(&a, &o))
		return 1;
	log_info("ready");
	notify("READY=1");
	sigwait(&set, &sig);
	notify("STOPPING=1");
	notif_stop();
	netconf_stop(&a);
	if (o.pidfile)
		unlink(o.pidfile);
	return 0;
}
