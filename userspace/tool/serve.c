// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * inc-tool serve: the rendezvous daemon. One thread, one poll(); a connection
 * that does not read what it is sent, or sends no sense, is dropped, so that
 * nobody waits for anybody.
 */
#include "common.h"

#include <fcntl.h>
#include <getopt.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "serve.h"
#include "tool.h"

#define MAX_CLIENTS	4096
#define SPARE_FILES	16	/* open files that are no clients */
#define MAX_TREES	64

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/**
 * server_log() - say what happens, if asked to
 * @s: daemon
 * @fmt: one line without newline
 */
void server_log(const struct server *s, const char *fmt, ...)
{
	va_list ap;

	if (!s->verbose)
		return;
	fputs("inc-tool serve: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/* --- Main loop -------------------------------------------------------------------------- */

static int one_event(const struct inc_nl_event *ev, void *arg)
{
	job_event(arg, ev);
	return 0;
}

static int poll_timeout(const struct server *s)
{
	int64_t next = job_next_deadline(s), other = clients_next_deadline(s);

	if (other < next)
		next = other;
	if (next == INT64_MAX)
		return -1;
	next -= now_ms();
	return next < 0 ? 0 : next > 60000 ? 60000 : (int)next;
}

enum { POLL_SIGNAL, POLL_LISTEN, POLL_EVENTS, POLL_CLIENTS };

static nfds_t fill_poll(const struct server *s, int sig_fd, struct pollfd *pfd)
{
	nfds_t n = POLL_CLIENTS;
	const struct client *c;

	pfd[POLL_SIGNAL] = (struct pollfd){ .fd = sig_fd, .events = POLLIN };
	/* When there are too many, those who come wait in the backlog. */
	pfd[POLL_LISTEN] = (struct pollfd){
		.fd = s->nclients < s->max_clients ? s->listen_fd : -1,
		.events = POLLIN,
	};
	pfd[POLL_EVENTS] = (struct pollfd){
		.fd = s->events.sock ? inc_nl_fd(&s->events) : -1,
		.events = POLLIN,
	};
	for (c = s->clients; c; c = c->next, n++)
		pfd[n] = (struct pollfd){
			.fd = c->fd,
			.events = (short)((c->closing ? 0 : POLLIN) |
					  (c->out_len ? POLLOUT : 0)),
		};
	return n;
}

/* Clients that the poll was about; those accepted since then come later. */
static void serve_clients(struct server *s, const struct pollfd *pfd, nfds_t n)
{
	struct client *c = s->clients;
	nfds_t i;

	for (i = POLL_CLIENTS; i < n; i++, c = c->next) {
		if (c->fd < 0 || !pfd[i].revents)
			continue;
		if (pfd[i].revents & POLLOUT)
			client_flush(c);
		if (c->closing)
			/* Nothing more is wanted of it. */
			c->out_len = pfd[i].revents & (POLLERR | POLLHUP) ?
				     0 : c->out_len;
		else if (pfd[i].revents & (POLLIN | POLLERR | POLLHUP))
			client_input(c);
	}
}

static int main_loop(struct server *s, int sig_fd)
{
	struct pollfd *pfd;
	nfds_t n;

	pfd = calloc(s->max_clients + POLL_CLIENTS, sizeof(*pfd));
	if (!pfd)
		return -ENOMEM;
	while (!s->once || !s->jobs_done || s->jobs) {
		n = fill_poll(s, sig_fd, pfd);
		if (poll(pfd, n, poll_timeout(s)) < 0 && errno != EINTR) {
			free(pfd);
			return -errno;
		}
		s->now = now_ms();
		if (pfd[POLL_SIGNAL].revents)
			break;
		serve_clients(s, pfd, n);
		if (pfd[POLL_EVENTS].revents)
			inc_nl_events(&s->events, one_event, s);
		job_expire(s);
		clients_check_quiet(s);
		clients_keep_alive(s);
		clients_sweep(s);
		if (pfd[POLL_LISTEN].revents)
			client_accept(s);
	}
	free(pfd);
	return 0;
}

static void close_all(struct server *s)
{
	struct client *c;

	job_end_all(s, "the rendezvous daemon was ended");
	for (c = s->clients; c; c = c->next)
		client_close(c, "daemon ends");
	clients_sweep(s);
	close(s->listen_fd);
	inc_nl_close(&s->events);
	inc_nl_close(&s->nl);
}

/* --- Start -------------------------------------------------------------------------------- */

static int listen_one(const struct addrinfo *ai)
{
	const int on = 1, off = 0;
	int fd;

	fd = socket(ai->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (ai->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) || listen(fd, SOMAXCONN)) {
		int err = errno;

		close(fd);
		return -err;
	}
	return fd;
}

/* IPv6 takes IPv4 too, so it is tried first. */
static int listen_on(const char *addr, const char *port)
{
	struct addrinfo hints = {
		.ai_flags	= AI_PASSIVE,
		.ai_socktype	= SOCK_STREAM,
		.ai_family	= addr ? AF_UNSPEC : AF_INET6,
	};
	struct addrinfo *list;
	int ret, fd;

	ret = getaddrinfo(addr, port, &hints, &list);
	if (ret) {
		fprintf(stderr, "inc-tool: serve: \"%s\" port \"%s\": %s\n",
			addr ? addr : "::", port, gai_strerror(ret));
		return -EINVAL;
	}
	fd = listen_one(list);
	freeaddrinfo(list);
	if (fd == -EAFNOSUPPORT && !addr)
		return listen_on("0.0.0.0", port);
	if (fd < 0)
		fprintf(stderr, "inc-tool: serve: listening on %s port %s: %s\n",
			addr ? addr : "all addresses", port, strerror(-fd));
	return fd;
}

/* So many clients as there can be sockets. */
static unsigned int get_max_clients(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim))
		return 64;
	lim.rlim_cur = lim.rlim_max;
	setrlimit(RLIMIT_NOFILE, &lim);
	if (lim.rlim_cur >= MAX_CLIENTS + SPARE_FILES)
		return MAX_CLIENTS;
	return lim.rlim_cur > SPARE_FILES ?
	       (unsigned int)lim.rlim_cur - SPARE_FILES : 1;
}

static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -errno;
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static int open_netlink(struct server *s)
{
	struct inc_nl_switch sw;

	/* Also finds out that the module is loaded. */
	if (inc_nl_open(&s->nl) || inc_nl_switch_get(&s->nl, &sw)) {
		fprintf(stderr, "inc-tool: serve: %s\n", s->nl.error);
		return -1;
	}
	if (inc_nl_open(&s->events) || inc_nl_subscribe(&s->events)) {
		fprintf(stderr, "inc-tool: serve: no events: %s\n",
			s->events.error);
		inc_nl_close(&s->events);
		s->events.sock = NULL;
	}
	return 0;
}

static int write_pidfile(const char *path)
{
	FILE *f = fopen(path, "w");

	if (!f || fprintf(f, "%d\n", (int)getpid()) < 0 || fclose(f)) {
		fprintf(stderr, "inc-tool: serve: \"%s\": %s\n", path,
			strerror(errno));
		return -1;
	}
	return 0;
}

struct options {
	const char	*listen;
	const char	*port;
	const char	*parent;
	const char	*pidfile;
};

/* HOST, HOST:PORT or [ADDRESS]:PORT */
static int find_parent(struct server *s, const char *text)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	const char *port = INC_RDV_PORT, *colon = strrchr(text, ':');
	size_t len = strlen(text);
	struct addrinfo *list;
	char host[256];
	int ret;

	if (*text == '[') {
		len = strcspn(++text, "]");
		if (text[len] && text[len + 1] == ':')
			port = text + len + 2;
	} else if (colon && strchr(text, ':') == colon) {
		len = (size_t)(colon - text);
		port = colon + 1;
	}
	snprintf(host, sizeof(host), "%.*s", (int)len, text);
	ret = getaddrinfo(host, port, &hints, &list);
	if (ret) {
		fprintf(stderr, "inc-tool: serve: parent \"%s\" port \"%s\": %s\n",
			host, port, gai_strerror(ret));
		return -EINVAL;
	}
	memcpy(&s->parent, list->ai_addr, list->ai_addrlen);
	s->parent_len = list->ai_addrlen;
	freeaddrinfo(list);
	return 0;
}

static int run(struct server *s, const struct options *o)
{
	int sig_fd, ret;

	if (o->parent && find_parent(s, o->parent))
		return TOOL_USAGE;
	if (open_netlink(s))
		return TOOL_KERNEL;
	s->listen_fd = listen_on(o->listen, o->port);
	if (s->listen_fd < 0)
		return TOOL_KERNEL;
	sig_fd = open_signals();
	if (sig_fd < 0 || (o->pidfile && write_pidfile(o->pidfile)))
		return TOOL_KERNEL;
	printf("listening on %s port %s\n", o->listen ? o->listen : "all addresses",
	       o->port);
	fflush(stdout);
	s->max_clients = get_max_clients();
	s->now = now_ms();
	ret = main_loop(s, sig_fd);
	close_all(s);
	close(sig_fd);
	if (o->pidfile)
		unlink(o->pidfile);
	if (ret)
		fprintf(stderr, "inc-tool: serve: %s\n", strerror(-ret));
	return ret ? TOOL_KERNEL : TOOL_OK;
}

static void usage(FILE *out)
{
	fprintf(out,
"Usage: inc-tool serve [OPTIONS]\n"
"\n"
"Makes trees for programs that use libinc: ranks of one job meet here.\n"
"\n"
"  -l, --listen ADDR     address to listen on (default all)\n"
"  -p, --port PORT       TCP port (default " INC_RDV_PORT ")\n"
"      --max-trees N     jobs at once (default %d)\n"
"      --pmtu N          path MTU of trees, unless the first rank wants another\n"
"                        (default: the first rank's port's)\n"
"      --slots N         slots of trees, likewise\n"
"      --msg-size N      longest message of trees in bytes, likewise\n"
"      --first-msg-id N  message ID of a tree's first message, likewise\n"
"      --order ORDER     reduce by ranks (the default: the same bits each time), or\n"
"                        in order of arrival (less memory)\n"
"      --window N        result packets in flight to a rank\n"
"      --hold N          bytes held of a rank that is ahead of others\n"
"      --min-rto MS      smallest retransmission time-out\n"
"      --dead-time MS    without acknowledgement, after which a rank is dead\n"
"      --psn N           first PSN of all queue pairs, for tests (default random)\n"
"      --tree ID         take this tree, which is there already, for one job, and\n"
"                        leave it as it is (default: a tree for each job)\n"
"      --parent HOST[:PORT]  be a leaf: the daemon of the parent switch, which knows\n"
"                        the ranks at other leaves\n"
"      --levels          be a parent that has hosts of its own, too\n"
"      --once            end when the first job has ended\n"
"      --pidfile FILE    write the process ID there\n"
"  -v, --verbose         say what happens, on stderr\n"
"  -h, --help            this text\n",
		MAX_TREES);
}

enum {
	OPT_MAX_TREES = 256,
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
	OPT_ONCE,
	OPT_PIDFILE,
	OPT_PARENT,
	OPT_LEVELS,
};

static const struct option long_options[] = {
	{ "listen",	required_argument,	NULL, 'l' },
	{ "port",	required_argument,	NULL, 'p' },
	{ "max-trees",	required_argument,	NULL, OPT_MAX_TREES },
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
	{ "once",	no_argument,		NULL, OPT_ONCE },
	{ "pidfile",	required_argument,	NULL, OPT_PIDFILE },
	{ "parent",	required_argument,	NULL, OPT_PARENT },
	{ "levels",	no_argument,		NULL, OPT_LEVELS },
	{ "verbose",	no_argument,		NULL, 'v' },
	{ "help",	no_argument,		NULL, 'h' },
	{ 0 },
};

static bool get_num(const char *text, uint32_t min, uint32_t max, uint32_t *num)
{
	unsigned long val;
	char *end;

	errno = 0;
	val = strtoul(text, &end, 0);
	if (errno || end == text || *end || *text == '-' || val < min ||
	    val > max) {
		fprintf(stderr, "inc-tool: serve: \"%s\" must be a number, %u ... %u\n",
			text, min, max);
		return false;
	}
	*num = (uint32_t)val;
	return true;
}

/* The range that the option's attribute has; the kernel knows what is sensible. */
static uint32_t option_max(int opt)
{
	switch (opt) {
	case OPT_PMTU:
	case OPT_SLOTS:
	case OPT_WINDOW:
		return UINT16_MAX;
	case OPT_PSN:
		return 0xffffff;
	default:
		return UINT32_MAX;
	}
}

/* An option with a number. False if it is none, or the number is wrong. */
static bool number_option(struct server *s, int opt, const char *text)
{
	struct inc_nl_tree *t = &s->tree;
	uint32_t min = opt == OPT_FIRST_MSG_ID || opt == OPT_PSN ? 0 : 1;
	uint32_t num;

	if (!get_num(text, min, option_max(opt), &num))
		return false;
	switch (opt) {
	case OPT_MAX_TREES:
		s->max_trees = num;
		return true;
	case OPT_PMTU:
		INC_NL_SET(t, INC_A_TREE_PMTU, pmtu, (uint16_t)num);
		return true;
	case OPT_SLOTS:
		INC_NL_SET(t, INC_A_TREE_SLOTS, slots, (uint16_t)num);
		return true;
	case OPT_MSG_SIZE:
		INC_NL_SET(t, INC_A_TREE_MSG_SIZE, msg_size, num);
		return true;
	case OPT_FIRST_MSG_ID:
		INC_NL_SET(t, INC_A_TREE_FIRST_MSG_ID, first_msg_id, num);
		return true;
	case OPT_TREE:
		s->tree_id = num;
		return true;
	case OPT_PSN:
		s->has_psn = true;
		s->psn = num;
		return true;
	case OPT_WINDOW:
		INC_NL_SET(t, INC_A_TREE_WINDOW, window, (uint16_t)num);
		return true;
	case OPT_HOLD:
		INC_NL_SET(t, INC_A_TREE_HOLD, hold, num);
		return true;
	case OPT_MIN_RTO:
		INC_NL_SET(t, INC_A_TREE_MIN_RTO, min_rto, num);
		return true;
	case OPT_DEAD_TIME:
		INC_NL_SET(t, INC_A_TREE_DEAD_TIME, dead_time, num);
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
		INC_NL_SET(&s->tree, INC_A_TREE_ORDER, order, (uint8_t)i);
		return true;
	}
	fprintf(stderr, "inc-tool: serve: \"%s\" must be ranks or arrival\n", text);
	return false;
}

/**
 * cmd_serve() - inc-tool serve
 * @argc: number of arguments
 * @argv: arguments, that is, what follows the word "serve"; that word is before
 *	them in the same array
 *
 * Return: exit status.
 */
int cmd_serve(int argc, char **argv)
{
	struct server s = { .max_trees = MAX_TREES, .listen_fd = -1 };
	struct options o = { .port = INC_RDV_PORT };
	int opt;

	/* getopt_long() begins behind the first word. */
	argc++;
	argv--;
	optind = 0;
	while ((opt = getopt_long(argc, argv, "l:p:vh", long_options, NULL)) != -1) {
		switch (opt) {
		case 'l':
			o.listen = optarg;
			break;
		case 'p':
			o.port = optarg;
			break;
		case OPT_ONCE:
			s.once = true;
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
			if (!optarg || !number_option(&s, opt, optarg))
				return TOOL_USAGE;
		}
	}
	if (optind != argc) {
		fprintf(stderr, "inc-tool: serve: what is \"%s\"?\n", argv[optind]);
		return TOOL_USAGE;
	}
	return run(&s, &o);
}
