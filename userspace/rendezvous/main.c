// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The coordinator of one switch: one thread, which serves gRPC, netlink and
 * timers.
 */
/* First: nl/common.h poisons names of members in this header. */
#include <sys/epoll.h>

#include "nl/common.h"

#include <signal.h>
#include <sys/param.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "auth/address.h"
#include "auth/resolve.h"
#include "conf/output.h"
#include "conf/pidfile.h"
#include "job.h"
#include "loop/index.h"
#include "rpc/creds.h"

#define MAX_CLIENTS	4096
#define SPARE_FILES	16	/* open files other than clients */
#define MAX_TREES	1024
#define TREE_MEMORY	(5 << 20)	/* of a default tree, rounded up */
#define JOIN_MS		10000	/* the HTTP/2 server waits no longer */
#define FORMING_MS	300000
#define REFRESH_MS	1000	/* between checks of files */
#define TELL_MS		500	/* to send last messages */
#define STOP_STEP_MS	20

/* --- Main loop --------------------------------------------------------- */

/* Reload files on SIGHUP, without ending jobs; other signals end the daemon. */
static void on_signal(struct loop_fd *io, uint32_t events)
{
	struct server *s = container_of(io, struct server, signal_io);
	struct signalfd_siginfo sig;

	if (read(s->signal_fd, &sig, sizeof(sig)) != sizeof(sig))
		return;
	if (sig.ssi_signo == SIGHUP)
		s->refresh_at = 0;
	else
		s->stop = true;
}

/* Drop clients whose deadline has passed. */
static void check_deadlines(struct server *s)
{
	struct client *c;

	for (c = s->clients; c; c = c->next)
		if (c->deadline && c->deadline <= s->loop.now)
			client_error(c, ETIMEDOUT, "no \"join\" within %u ms of connecting",
				     s->max.join_ms);
}

/* Free clients that have ended. */
static void sweep_clients(struct server *s)
{
	struct client **link = &s->clients, *c;

	while ((c = *link)) {
		if (c->closing)
			client_close(c, "closed");
		if (!c->gone) {
			link = &c->next;
			continue;
		}
		*link = c->next;
		client_free(c);
	}
}

static int64_t min_i64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void run_turn(struct server *s, int64_t until)
{
	until = min_i64(until, min_i64(jobs_next_deadline(s),
				       clients_next_deadline(s)));
	loop_turn(&s->loop, min_i64(until, s->refresh_at));
	if (s->loop.now >= s->refresh_at) {
		s->refresh_at = s->loop.now + REFRESH_MS;
		rpc_refresh(s->rpc);
	}
	s->work_until = 0;
	jobs_expire(s);
	check_deadlines(s);
	sweep_clients(s);
}

static void run_loop(struct server *s)
{
	while (!s->stop && (!s->once || !s->n_begun || s->n_made))
		run_turn(s, INT64_MAX);
}

static void close_all(struct server *s)
{
	int64_t until = now_ms() + TELL_MS;
	struct client *c;

	jobs_end_all(s, "the rendezvous daemon was ended");
	for (c = s->clients; c; c = c->next)
		client_close(c, "daemon ends");
	sweep_clients(s);
	while ((!rpc_idle(s->rpc) || !up_idle()) && now_ms() < until)
		loop_turn(&s->loop, now_ms() + STOP_STEP_MS);
	rpc_stop(s->rpc);
	/* A thread that still waits for the parent ends with the process. */
	if (up_idle())
		loop_free(&s->loop);
	inc_rdv_network_free(&s->allow);
	inc_nl_close(&s->events);
	inc_nl_close(&s->nl);
}

/* --- Start ------------------------------------------------------------- */

/*
 * Limit connections, including those to a parent, by the number of open files.
 */
static uint32_t get_max_clients(const struct server *s)
{
	/* A stream to the parent has a socket and an eventfd. */
	uint32_t spare = SPARE_FILES + (s->parent ? 2 * s->max.groups : 0);
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim))
		return 64;
	lim.rlim_cur = lim.rlim_max;
	setrlimit(RLIMIT_NOFILE, &lim);
	if (lim.rlim_cur >= MAX_CLIENTS + spare)
		return MAX_CLIENTS;
	return lim.rlim_cur > spare ? (uint32_t)lim.rlim_cur - spare : 1;
}

/*
 * Set limits that were not given. Trees with default settings must fit into the
 * memory limit at the same time; one host gets half of everything.
 */
static void set_limits(struct server *s, const struct inc_nl_switch *sw)
{
	struct limits *max = &s->max;
	uint64_t fit = sw->memory_limit / TREE_MEMORY;
	uint32_t files;

	if (!max->groups)
		max->groups = fit && fit < MAX_TREES ?
			      (uint32_t)fit : MAX_TREES;
	if (!max->host_groups)
		max->host_groups = (max->groups + 1) / 2;
	if (!max->host_memory)
		max->host_memory = sw->memory_limit ? sw->memory_limit / 2 :
						      UINT64_MAX;
	files = get_max_clients(s);
	max->clients = max->clients ? MIN(max->clients, files) : files;
	if (!max->host_clients)
		max->host_clients = (max->clients + 1) / 2;
	if (!max->join_ms)
		max->join_ms = JOIN_MS;
	if (!max->forming_ms)
		max->forming_ms = FORMING_MS;
}

static int watch_fd(struct server *s, int fd, struct loop_fd *io)
{
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = io };

	return fd < 0 || epoll_ctl(s->loop.ep, EPOLL_CTL_ADD, fd, &e) ?
	       -errno : 0;
}

static int open_signals(struct server *s)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	signal(SIGPIPE, SIG_IGN);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -errno;
	s->signal_io.fn = on_signal;
	s->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return watch_fd(s, s->signal_fd, &s->signal_io);
}

static int open_netlink(struct server *s)
{
	struct inc_nl_switch sw;

	/* Getting the switch also checks that the module is loaded. */
	if (inc_nl_open(&s->nl) || inc_nl_switch_get(&s->nl, &sw)) {
		fprintf(stderr, "inc-tool: serve: %s\n", s->nl.error);
		return -1;
	}
	set_limits(s, &sw);
	events_open(s);
	return 0;
}

/* Parse --parent, and refuse a name without an address already here. */
static int find_parent(struct server *s, const char *text)
{
	int ret, port = atoi(INC_RDV_PORT);
	char host[256], service[8];
	struct addrinfo *list;

	if (inc_auth_address(text, host, sizeof(host), &port) || !port) {
		fprintf(stderr, "inc-tool: serve: --parent \"%s\": must be HOST, HOST:PORT or [ADDRESS]:PORT, with a port from 1 to 65535\n",
			text);
		return -EINVAL;
	}
	snprintf(service, sizeof(service), "%d", port);
	ret = inc_resolve(host, service, 0, INC_RESOLVE_MS, &list);
	if (ret) {
		fprintf(stderr, "inc-tool: serve: parent \"%s\" port \"%d\": %s\n",
			host, port, inc_resolve_why(ret));
		return -EINVAL;
	}
	freeaddrinfo(list);
	s->parent = text;
	return 0;
}

/* Start the gRPC server. Port 0 selects a free port. */
static int start_rpc(struct server *s, const struct serve_options *o)
{
	bool v6 = o->listen && strchr(o->listen, ':');
	char address[300], err[640];
	int port;

	snprintf(address, sizeof(address), "%s%s%s:%s", v6 ? "[" : "",
		 o->listen ? o->listen : "0.0.0.0", v6 ? "]" : "", o->port);
	s->everywhere = !o->listen || !strcmp(o->listen, "0.0.0.0") ||
			!strcmp(o->listen, "::");
	s->rpc = rpc_start(&s->loop, address, &s->security, &dispatch_handler,
			   s, &port, err, sizeof(err));
	if (!s->rpc) {
		fprintf(stderr, "inc-tool: serve: %s\n", err);
		return -EIO;
	}
	printf("listening on %s port %d\n",
	       o->listen ? o->listen : "all addresses", port);
	return 0;
}

/* Check that --tree exists: else all jobs would fail. */
static int find_tree(struct server *s)
{
	struct inc_nl_tree tree;

	if (!s->tree_id || !inc_nl_tree_get(&s->nl, s->tree_id, &tree))
		return 0;
	fprintf(stderr, "inc-tool: serve: --tree %u: %s\n", s->tree_id,
		s->nl.error);
	return -EINVAL;
}

static const char *find_contradiction(const struct rpc_security *sec,
				      bool loopback, bool child)
{
	if (!sec->cert != !sec->key)
		return "--tls-cert and --tls-key need each other";
	if (sec->ca && !sec->cert)
		return "--tls-ca needs --tls-cert and --tls-key";
	if (sec->plaintext && sec->cert)
		return "--insecure-plaintext contradicts --tls-cert";
	if (sec->tokens && !sec->cert && !loopback)
		return "--tokens beyond loopback needs --tls-cert and --tls-key: everyone could read them";
	if (child && sec->cert && !sec->ca)
		return "--parent with TLS needs --tls-ca, to check the parent's certificate";
	return NULL;
}

static bool check_security(struct server *s, const struct serve_options *o)
{
	struct rpc_security *sec = &s->security;
	bool loopback = o->listen && inc_auth_is_loopback(o->listen);
	const char *what = find_contradiction(sec, loopback, o->parent);

	if (what)
		fprintf(stderr, "inc-tool: serve: %s\n", what);
	else if (!sec->cert && !sec->tokens && !loopback && !sec->plaintext)
		fprintf(stderr, "inc-tool: serve: WARNING: without TLS everyone who reaches %s can join jobs, and read and change what is said here: --tls-cert, --tls-key and --tls-ca help; --insecure-plaintext is silent\n",
			o->listen ? o->listen : "one of its addresses");
	/* Suppress rpc/'s own warning, as this one was given. */
	sec->plaintext = false;
	sec->any_cert = true;
	sec->self = "daemon";
	sec->env = "INC_SERVER";
	return !what;
}

/* Report a file that cannot be reloaded. */
static void on_file(void *ctx, enum creds_file file, const char *why)
{
	if (*why)
		fprintf(stderr, "inc-tool: serve: %s\n", why);
}

/*
 * Run the daemon until a signal ends it. Returns 0; -EINVAL if an address, a
 * file or the tree is not valid; -EIO for any other error. A message was
 * printed.
 * @s: daemon, with the settings of the command line
 */
int server_run(struct server *s, const struct serve_options *o)
{
	log_start("inc-tool serve",
		  s->verbose ? LOG_LEVEL_INFO : LOG_LEVEL_ERROR);
	if ((o->parent && find_parent(s, o->parent)) || !check_security(s, o))
		return -EINVAL;
	s->parent_said = dispatch_up;
	if (loop_init(&s->loop) || index_key() || open_netlink(s))
		return -EIO;
	if (find_tree(s))
		return -EINVAL;
	creds_watch(&s->loop, on_file, s);
	if (open_signals(s) || inc_pidfile_write("inc-tool: serve", o->pidfile))
		return -EIO;
	if (start_rpc(s, o)) {
		inc_pidfile_remove(o->pidfile);
		return -EIO;
	}
	inc_output_end("inc-tool: serve");
	run_loop(s);
	close_all(s);
	close(s->signal_fd);
	inc_pidfile_remove(o->pidfile);
	return 0;
}
