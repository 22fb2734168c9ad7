// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The rendezvous daemon: one thread and one poll(). A connection that does not
 * read its input, or that sends invalid lines, is dropped, so that no client
 * waits for another.
 */
#include "nl/common.h"

#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "auth/address.h"
#include "auth/resolve.h"
#include "conf/output.h"
#include "conf/pidfile.h"
#include "keepalive.h"
#include "job.h"

#define MAX_CLIENTS	4096
#define SPARE_FILES	16	/* open files other than clients */
#define MAX_TREES	1024
#define TREE_MEMORY	(5 << 20)	/* of a default tree, rounded up */
#define JOIN_MS		30000
#define FORMING_MS	300000
#define WORK_MS		10	/* time per turn for work that can wait */

/* --- Main loop --------------------------------------------------------- */

static int one_event(const struct inc_nl_event *ev, void *arg)
{
	event_tree(arg, ev);
	return 0;
}

static int poll_timeout(const struct server *s)
{
	int64_t next = jobs_next_deadline(s), other = clients_next_deadline(s);

	if (other < next)
		next = other;
	if (next == INT64_MAX)
		return -1;
	next -= now_ms();
	return next < 0 ? 0 : next > 60000 ? 60000 : (int)next;
}

enum { POLL_SIGNAL, POLL_LISTEN, POLL_EVENTS, POLL_CLIENTS };

static short events_of(const struct client *c)
{
	if (c->handshaking)
		return c->wants ? c->wants : POLLIN;
	return (short)((c->closing ? 0 : POLLIN) | (c->out_len ? POLLOUT : 0));
}

static nfds_t fill_poll(const struct server *s, int sig_fd, struct pollfd *pfd)
{
	nfds_t n = POLL_CLIENTS;
	const struct client *c;

	pfd[POLL_SIGNAL] = (struct pollfd){ .fd = sig_fd, .events = POLLIN };
	/* If there are too many, new connections wait in the backlog. */
	pfd[POLL_LISTEN] = (struct pollfd){
		.fd = s->nclients < s->max.clients ? s->listen_fd : -1,
		.events = POLLIN,
	};
	pfd[POLL_EVENTS] = (struct pollfd){
		.fd = s->events.sock ? inc_nl_fd(&s->events) : -1,
		.events = POLLIN,
	};
	for (c = s->clients; c; c = c->next, n++)
		pfd[n] = (struct pollfd){
			.fd = c->fd,
			.events = events_of(c),
		};
	return n;
}

/*
 * Handshakes take time, so they wait for all else, and some for the next turn:
 * the list of clients begins with the newest, this one with the oldest.
 */
static void shake_hands(const struct server *s, struct client *c)
{
	bool first = true;

	for (; c && (first || server_may_work(s)); c = c->shake_next) {
		/* What came with the end of it is invisible to poll(). */
		if (c->handshaking && admit_step(c))
			dispatch_input(c);
		first = false;
	}
}

/* Handle the clients that were polled, not those accepted since. */
static void serve_clients(struct server *s, const struct pollfd *pfd, nfds_t n)
{
	struct client *c = s->clients, *shaking = NULL;
	nfds_t i;

	for (i = POLL_CLIENTS; i < n; i++, c = c->next) {
		if (c->fd < 0 || !pfd[i].revents)
			continue;
		if (c->handshaking) {
			c->shake_next = shaking;
			shaking = c;
			continue;
		}
		if (pfd[i].revents & POLLOUT)
			client_flush(c);
		if (c->closing)
			/* It is closing: ignore input. */
			c->out_len = pfd[i].revents & (POLLERR | POLLHUP) ?
				     0 : c->out_len;
		else if (pfd[i].revents & (POLLIN | POLLERR | POLLHUP))
			dispatch_input(c);
	}
	shake_hands(s, shaking);
}

/* Connections to the parent's daemon do not count towards the limit. */
static struct pollfd *make_room(const struct server *s, struct pollfd *pfd,
				size_t *room)
{
	size_t need = s->nclients + POLL_CLIENTS;
	struct pollfd *more;

	if (need <= *room)
		return pfd;
	*room = 2 * need;
	more = realloc(pfd, *room * sizeof(*pfd));
	if (!more)
		free(pfd);
	return more;
}

/* Drop connections whose deadline has passed. */
static void check_deadlines(struct server *s)
{
	struct client *c;

	for (c = s->clients; c; c = c->next) {
		if (!c->deadline || c->deadline > s->now)
			continue;
		if (c->handshaking) {
			secure_refuse(c, "TLS: it does not finish its handshake");
			client_close(c, "TLS: no answer");
		} else if (c->closing) {
			client_close(c, "does not read");
		} else {
			client_error(c, ETIMEDOUT, c->authenticated ?
				     "no \"join\" within %u ms of connecting" :
				     "no token within the time of %u ms to join",
				     s->max.join_ms);
		}
	}
}

/* Free closed connections. */
static void sweep_clients(struct server *s)
{
	struct client **link = &s->clients, *c;

	while ((c = *link)) {
		if (c->closing && !c->out_len)
			client_close(c, "closed");
		if (c->fd >= 0) {
			link = &c->next;
			continue;
		}
		*link = c->next;
		client_free(c);
	}
}

static void run_turn(struct server *s, const struct pollfd *pfd, nfds_t n)
{
	s->now = now_ms();
	s->work_until = s->now + WORK_MS;
	serve_clients(s, pfd, n);
	if (pfd[POLL_EVENTS].revents &&
	    inc_nl_events(&s->events, one_event, s) == -ENOBUFS)
		events_lost(s);
	s->work_until = now_ms() + WORK_MS;
	jobs_expire(s);
	check_deadlines(s);
	clients_keep_alive(s);
	if (pfd[POLL_LISTEN].revents)
		admit_caller(s);
	sweep_clients(s);
}

static int main_loop(struct server *s, int sig_fd)
{
	struct pollfd *pfd = NULL;
	size_t room = 0;
	nfds_t n;

	while (!s->once || !s->n_begun || s->n_made) {
		pfd = make_room(s, pfd, &room);
		if (!pfd)
			return -ENOMEM;
		n = fill_poll(s, sig_fd, pfd);
		if (poll(pfd, n, poll_timeout(s)) < 0) {
			if (errno == EINTR)
				continue;
			free(pfd);
			return -errno;
		}
		if (pfd[POLL_SIGNAL].revents)
			break;
		run_turn(s, pfd, n);
	}
	free(pfd);
	return 0;
}

static void close_all(struct server *s)
{
	struct client *c;

	jobs_end_all(s, "the rendezvous daemon was ended");
	for (c = s->clients; c; c = c->next)
		client_close(c, "daemon ends");
	sweep_clients(s);
	inc_rdv_network_free(&s->allow);
	secure_forget(&s->security);
	close(s->listen_fd);
	inc_nl_close(&s->events);
	inc_nl_close(&s->nl);
}

/* --- Start ------------------------------------------------------------- */

static int listen_one(const struct addrinfo *ai)
{
	const int on = 1, off = 0;
	int fd;

	fd = socket(ai->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
		    0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (ai->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	/* Connections inherit it. */
	inc_set_keepalive(fd);
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) || listen(fd, SOMAXCONN)) {
		int err = errno;

		close(fd);
		return -err;
	}
	return fd;
}

/* An IPv6 socket also accepts IPv4, so try it first. */
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

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/*
 * Limit connections, including those to a parent, by the number of open files.
 */
static uint32_t get_max_clients(const struct server *s)
{
	uint32_t spare = SPARE_FILES + (s->parent_len ? s->max.groups : 0);
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
	max->clients = max->clients ? min_u32(max->clients, files) : files;
	if (!max->host_clients)
		max->host_clients = (max->clients + 1) / 2;
	if (!max->join_ms)
		max->join_ms = JOIN_MS;
	if (!max->forming_ms)
		max->forming_ms = FORMING_MS;
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

	/* This also checks that the module is loaded. */
	if (inc_nl_open(&s->nl) || inc_nl_switch_get(&s->nl, &sw)) {
		fprintf(stderr, "inc-tool: serve: %s\n", s->nl.error);
		return -1;
	}
	set_limits(s, &sw);
	if (inc_nl_open(&s->events) || inc_nl_subscribe(&s->events)) {
		fprintf(stderr, "inc-tool: serve: cannot receive events: %s\n",
			s->events.error);
		inc_nl_close(&s->events);
		s->events.sock = NULL;
	}
	return 0;
}

/* As inc_auth_address() takes it. */
static int find_parent(struct server *s, const char *text)
{
	char *host = s->parent_host, service[8];
	int ret, port = atoi(INC_RDV_PORT);
	struct addrinfo *list;

	if (inc_auth_address(text, host, sizeof(s->parent_host), &port) ||
	    !port) {
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
	memcpy(&s->parent, list->ai_addr, list->ai_addrlen);
	s->parent_len = list->ai_addrlen;
	freeaddrinfo(list);
	return 0;
}

/* Port 0 has become another one. */
static void say_listening(const struct server *s, const struct serve_options *o)
{
	struct sockaddr_storage own = { 0 };
	socklen_t len = sizeof(own);
	char port[8] = "?";

	if (!getsockname(s->listen_fd, (struct sockaddr *)&own, &len))
		getnameinfo((struct sockaddr *)&own, len, NULL, 0, port,
			    sizeof(port), NI_NUMERICSERV);
	printf("listening on %s port %s\n", o->listen ? o->listen : "all addresses",
	       port);
	inc_output_end("inc-tool: serve");
}

/* Jobs would all fail. */
static int find_tree(struct server *s)
{
	struct inc_nl_tree tree;

	if (!s->tree_id || !inc_nl_tree_get(&s->nl, s->tree_id, &tree))
		return 0;
	fprintf(stderr, "inc-tool: serve: --tree %u: %s\n", s->tree_id,
		s->nl.error);
	return -EINVAL;
}

/**
 * server_run() - run the daemon until a signal ends it
 * @s: daemon, with the settings of the command line
 * @o: other options of the command line
 *
 * Return: 0; -EINVAL if an address, a file or the tree is not valid; -EIO for any other
 * error. A message was printed.
 */
int server_run(struct server *s, const struct serve_options *o)
{
	int sig_fd, ret;

	log_start("inc-tool serve",
		  s->verbose ? LOG_LEVEL_INFO : LOG_LEVEL_ERROR);
	if ((o->parent && find_parent(s, o->parent)) || !secure_start(s, o))
		return -EINVAL;
	if (open_netlink(s))
		return -EIO;
	if (find_tree(s))
		return -EINVAL;
	s->listen_fd = listen_on(o->listen, o->port);
	if (s->listen_fd < 0)
		return -EIO;
	sig_fd = open_signals();
	if (sig_fd < 0 || inc_pidfile_write("inc-tool: serve", o->pidfile))
		return -EIO;
	say_listening(s, o);
	s->now = now_ms();
	ret = main_loop(s, sig_fd);
	close_all(s);
	close(sig_fd);
	inc_pidfile_remove(o->pidfile);
	if (ret)
		fprintf(stderr, "inc-tool: serve: %s\n", strerror(-ret));
	return ret ? -EIO : 0;
}
