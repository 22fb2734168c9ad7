// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See reach.h. Happy Eyeballs (RFC 8305) over all addresses of all servers: one
 * that does not answer costs NEXT_MS, one that refuses nothing, and the first
 * to answer wins. Servers take turns: a server with many addresses does not
 * keep the others waiting, nor does one whose name no name server knows.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "auth/address.h"
#include "auth/resolve.h"
#include "conf/array.h"
#include "http2/fault.h"
#include "http2/reach.h"
#include "conf/clock.h"
#include "conf/keepalive.h"

#define BLANKS		" \t"
#define AGAIN_MS	20	/* until a full socket is tried again */
#define NEXT_MS		250	/* from one attempt to the next */
#define SLOW_MS		500	/* for a name as a whole, then by family */
#define LATE_MS		500	/* for an address, however late it is known */
#define ADDRS_MOST	32	/* addresses per server */
#define ASKED		3	/* questions per name */
#define WHY_LEN		200	/* bytes about one server among others */
#define MORE_LEN	24	/* bytes that say how many are left out */
#define NEVER		INT64_MAX

/**
 * struct server - a server that may be reached
 * @addr: address as given
 * @host: host of @addr
 * @port: port of @addr
 * @invalid: @addr cannot be used
 * @done: reached or failed, until inc_reach_again()
 * @err: why it was not reached, a negative errno value, or 0
 * @had_turn: it has had a turn in this race; like all members below, per race
 * @addrs: its addresses
 * @n: their number
 * @n_begun: number of @addrs tried
 * @n_open: connections under way
 * @ask: questions about its name
 * @more_at: when to ask for each family alone
 * @wait_until: no turn before this time
 */
struct server {
	char			addr[INC_REACH_ADDR];
	char			host[256];
	int			port;
	bool			invalid;
	bool			done;
	int			err;
	bool			had_turn;
	struct sockaddr_storage	addrs[ADDRS_MOST];
	unsigned int		n;
	unsigned int		n_begun;
	unsigned int		n_open;
	struct inc_question	*ask[ASKED];
	int64_t			more_at;
	int64_t			wait_until;
};

/**
 * struct inc_reach - servers, one of which is to be reached
 * @servers: in their order
 * @n: their number
 * @port: port of addresses that have none
 * @tcp: refuse paths
 * @reached: server that was reached last, or @n
 * @turn: server whose turn is next
 * @next: when the next attempt is made
 * @deadline: time limit
 * @pfd: sockets, the oldest first, behind the eventfd of name resolution
 * @server_of: their servers
 * @n_open: number of sockets
 * @shown: their descriptors, for a child of fork(), or NULL
 */
struct inc_reach {
	struct server			*servers;
	unsigned int			n;
	int				port;
	bool				tcp;
	unsigned int			reached;
	unsigned int			turn;
	int64_t				next;
	int64_t				deadline;
	struct pollfd			pfd[1 + INC_REACH_MOST];
	unsigned int			server_of[1 + INC_REACH_MOST];
	unsigned int			n_open;
	struct inc_reach_sockets	*shown;
};

/* --- Addresses ----------------------------------------------------------- */

/*
 * Take an address out of a list. Returns the number of addresses.
 * @list: addresses, separated by commas, with blanks around them
 * @n: index from 0; beyond the last it wraps around
 * @len: size of @addr in bytes
 */
int inc_reach_nth(const char *list, unsigned int n, char *addr, size_t len)
{
	const char *at = list;
	unsigned int count = 1;
	size_t used;

	for (; *at; at++)
		count += *at == ',';
	for (at = list, n %= count; n; n--)
		at = strchr(at, ',') + 1;
	at += strspn(at, BLANKS);
	for (used = strcspn(at, ","); used && strchr(BLANKS, at[used - 1]);)
		used--;
	snprintf(addr, len, "%.*s", (int)used, at);
	return (int)count;
}

/* Is a server's address a socket in the file system? Returns true if so. */
bool inc_reach_is_path(const char *addr)
{
	const char *path = inc_auth_path(addr);

	return path && *path;
}

/* Can an address be tried? Returns 0 or a negative errno value. */
static int check_address(struct server *s, bool tcp)
{
	struct sockaddr_un path;

	if (inc_reach_is_path(s->addr)) {
		if (strlen(inc_auth_path(s->addr)) >= sizeof(path.sun_path))
			return -ENAMETOOLONG;
		return tcp ? -EPROTOTYPE : 0;
	}
	return inc_auth_address(s->addr, s->host, sizeof(s->host), &s->port);
}

/*
 * Add a server. inc_reach_error() tells if the address is unusable. Returns
 * false: no memory.
 * @addr: address: HOST, HOST:PORT, [ADDRESS]:PORT or unix:PATH
 */
bool inc_reach_add(struct inc_reach *r, const char *addr)
{
	struct server *s;

	if (!ARRAY_ROOM(r->servers, r->n))
		return false;
	s = &r->servers[r->n];
	memset(s, 0, sizeof(*s));
	s->port = r->port;
	if (snprintf(s->addr, sizeof(s->addr), "%s", addr) >=
	    (int)sizeof(s->addr))
		s->err = -ENAMETOOLONG;
	else
		s->err = check_address(s, r->tcp);
	s->invalid = s->done = s->err;
	r->reached += r->reached == r->n;
	r->n++;
	return true;
}

/*
 * Make a list of servers. Returns the list, for inc_reach_free(), or NULL.
 * @list: addresses as for inc_reach_add(), separated by commas; empty ones are
 *	skipped
 */
struct inc_reach *inc_reach_new(const char *list, int port, bool tcp)
{
	struct inc_reach *r = calloc(1, sizeof(*r));
	char one[INC_REACH_ADDR + 1];
	unsigned int i, count = 1;

	if (!r)
		return NULL;
	r->port = port;
	r->tcp = tcp;
	for (i = 0; i < count; i++) {
		count = (unsigned int)inc_reach_nth(list, i, one, sizeof(one));
		if (*one && !inc_reach_add(r, one)) {
			inc_reach_free(r);
			return NULL;
		}
	}
	return r;
}

/* Free a list of servers. */
void inc_reach_free(struct inc_reach *r)
{
	if (r)
		free(r->servers);
	free(r);
}

/* --- Sockets ------------------------------------------------------------- */

static void show_sockets(struct inc_reach *r)
{
	unsigned int i;

	for (i = 0; r->shown && i < INC_REACH_SEEN; i++)
		r->shown->fd[i] = i <= r->n_open ? r->pfd[i].fd : -1;
}

/* Note why a server is not reached. A refusal tells most: its host is up. */
static void note_error(struct server *s, int err)
{
	if (s->err != -ECONNREFUSED)
		s->err = -err;
}

static void drop_socket(struct inc_reach *r, unsigned int i, int err)
{
	struct server *s = &r->servers[r->server_of[i]];
	int fd = r->pfd[i].fd;

	s->n_open--;
	if (err == EAGAIN) {
		/* The server's queue is full. poll() will not tell of room. */
		s->n_begun--;
		s->wait_until = now_ms() + AGAIN_MS;
		r->next = 0;
	} else if (err) {
		note_error(s, err);
		/* A failed attempt makes way for the next. */
		if (err != ETIMEDOUT)
			r->next = 0;
	}
	memmove(&r->pfd[i], &r->pfd[i + 1],
		(r->n_open - i) * sizeof(r->pfd[0]));
	memmove(&r->server_of[i], &r->server_of[i + 1],
		(r->n_open - i) * sizeof(r->server_of[0]));
	r->n_open--;
	show_sockets(r);
	close(fd);
}

static socklen_t length_of(const struct sockaddr_storage *to)
{
	return to->ss_family == AF_INET ? sizeof(struct sockaddr_in) :
	       to->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) :
					   sizeof(struct sockaddr_un);
}

/* Begin to connect to a server's next address. */
static void start_connection(struct inc_reach *r, unsigned int which)
{
	struct server *s = &r->servers[which];
	const struct sockaddr_storage *to = &s->addrs[s->n_begun++];
	int fd = socket(to->ss_family, SOCK_STREAM | SOCK_CLOEXEC |
			SOCK_NONBLOCK, 0);

	if (fd < 0) {
		note_error(s, errno);
		r->next = 0;
		return;
	}
	/* The oldest attempt has had as much time as all others together. */
	if (r->n_open == INC_REACH_MOST)
		drop_socket(r, 1, ETIMEDOUT);
	r->n_open++;
	r->pfd[r->n_open] = (struct pollfd){ .fd = fd, .events = POLLOUT };
	r->server_of[r->n_open] = which;
	s->n_open++;
	show_sockets(r);
	if (connect(fd, (const struct sockaddr *)to, length_of(to)) &&
	    errno != EINPROGRESS)
		drop_socket(r, r->n_open, errno);
}

/* Returns the place of the first connected socket, or 0. */
static unsigned int take_winner(struct inc_reach *r, int64_t wait_ms)
{
	socklen_t len = sizeof(int);
	unsigned int i = 1;
	uint64_t count;
	int err;

	if (poll(r->pfd, 1 + r->n_open, (int)wait_ms) <= 0)
		return 0;
	if (r->pfd[0].revents)
		(void)!read(r->pfd[0].fd, &count, sizeof(count));
	while (i <= r->n_open) {
		err = 0;
		if (!r->pfd[i].revents)
			i++;
		else if (getsockopt(r->pfd[i].fd, SOL_SOCKET, SO_ERROR, &err,
				    &len) || err)
			drop_socket(r, i, err ? err : errno);
		else
			return i;
	}
	return 0;
}

/* --- Names --------------------------------------------------------------- */

/* Alternate families, but keep the resolver's order in each (RFC 8305, 4). */
static void add_addresses(struct server *s, const struct addrinfo *list)
{
	const struct addrinfo *at[2] = { list, list }, *ai;
	unsigned int side = 0;

	while ((at[0] || at[1]) && s->n < ADDRS_MOST) {
		ai = at[side];
		while (ai && (ai->ai_family == list->ai_family) == side)
			ai = ai->ai_next;
		if (ai && ai->ai_addrlen <= sizeof(s->addrs[0]))
			memcpy(&s->addrs[s->n++], ai->ai_addr, ai->ai_addrlen);
		at[side] = ai ? ai->ai_next : NULL;
		side = !side;
	}
}

static void add_path(struct server *s)
{
	struct sockaddr_un *to = (struct sockaddr_un *)&s->addrs[s->n++];

	to->sun_family = AF_UNIX;
	snprintf(to->sun_path, sizeof(to->sun_path), "%s",
		 inc_auth_path(s->addr));
}

static void ask_name(struct inc_reach *r, struct server *s, unsigned int i,
		     int family)
{
	char service[8];

	if (r->pfd[0].fd < 0)
		r->pfd[0].fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	show_sockets(r);
	snprintf(service, sizeof(service), "%d", s->port);
	s->ask[i] = inc_question_new(s->host, service, family, 0,
				     r->pfd[0].fd);
	if (!s->ask[i])
		note_error(s, ENONET);
}

static bool is_asked(const struct server *s)
{
	return s->ask[0] || s->ask[1] || s->ask[2];
}

static void leave_question(struct server *s, unsigned int i)
{
	if (s->ask[i])
		inc_question_leave(s->ask[i]);
	s->ask[i] = NULL;
}

/* A server's first turn: find its addresses. */
static void meet_server(struct inc_reach *r, struct server *s, int64_t now)
{
	struct addrinfo *list;
	char service[8];

	s->had_turn = true;
	s->more_at = NEVER;
	if (inc_reach_is_path(s->addr)) {
		add_path(s);
		return;
	}
	snprintf(service, sizeof(service), "%d", s->port);
	if (!inc_resolve_number(s->host, service, 0, &list)) {
		add_addresses(s, list);
		freeaddrinfo(list);
		return;
	}
	ask_name(r, s, 0, AF_UNSPEC);
	s->more_at = now + SLOW_MS;
}

/*
 * Take answers of name servers. The resolver waits for both A and AAAA records,
 * but some name servers answer, and some networks let through, only one of the
 * two questions: ask for each family alone then.
 */
static void take_answers(struct inc_reach *r, struct server *s, int64_t now)
{
	struct addrinfo *list;
	unsigned int i;
	int ret;

	for (i = 0; i < ASKED; i++) {
		ret = s->ask[i] ? inc_question_wait(s->ask[i], 0, &list) :
				  EAI_INPROGRESS;
		if (ret == EAI_INPROGRESS)
			continue;
		s->ask[i] = NULL;
		s->more_at = NEVER;
		if (ret && !s->n)
			note_error(s, inc_resolve_is_none(ret) &&
				      s->err != -ENONET ? ENXIO : ENONET);
		if (ret)
			continue;
		add_addresses(s, list);
		freeaddrinfo(list);
		leave_question(s, 0);
		if (s->n_open)
			continue;
		r->turn = (unsigned int)(s - r->servers);
		r->next = 0;
		if (r->deadline < now + LATE_MS)
			r->deadline = now + LATE_MS;
	}
	if (s->had_turn && !s->done && now >= s->more_at) {
		s->more_at = NEVER;
		ask_name(r, s, 1, AF_INET6);
		ask_name(r, s, 2, AF_INET);
	}
}

/* --- The race ------------------------------------------------------------ */

static bool is_racing(const struct server *s)
{
	return !s->done && (!s->had_turn || s->n_begun < s->n || s->n_open ||
			    is_asked(s));
}

/* Returns the server whose turn it is, or NULL. */
static struct server *next_server(const struct inc_reach *r, int64_t now)
{
	struct server *s;
	unsigned int i;

	for (i = 0; i < r->n; i++) {
		s = &r->servers[(r->turn + i) % r->n];
		if (!s->done && (!s->had_turn || s->n_begun < s->n) &&
		    s->wait_until <= now)
			return s;
	}
	return NULL;
}

/* Returns false if no server has a turn now. */
static bool take_turn(struct inc_reach *r, int64_t now)
{
	struct server *s = now < r->next ? NULL : next_server(r, now);
	unsigned int which;

	if (!s)
		return false;
	which = (unsigned int)(s - r->servers);
	r->turn = (which + 1) % r->n;
	r->next = now + NEXT_MS;
	if (!s->had_turn)
		meet_server(r, s, now);
	if (s->n_begun < s->n)
		start_connection(r, which);
	if (!is_racing(s))
		r->next = 0;
	return true;
}

/* Get the milliseconds until the next timeout. */
static int64_t alarm_at(const struct inc_reach *r, int64_t now)
{
	int64_t at = r->deadline;
	const struct server *s;
	unsigned int i;

	if (r->next < at && next_server(r, now))
		at = r->next;
	for (i = 0; i < r->n; i++) {
		s = &r->servers[i];
		if (s->had_turn && !s->done && s->more_at < at)
			at = s->more_at;
		if (!s->done && s->n_begun < s->n && s->wait_until > now &&
		    s->wait_until < at)
			at = s->wait_until;
	}
	return at > now ? at - now : 0;
}

static void begin_race(struct inc_reach *r, int timeout_ms)
{
	unsigned int i;

	r->turn = r->reached < r->n ? r->reached + 1 : 0;
	r->reached = r->n;
	r->next = 0;
	r->deadline = now_ms() + timeout_ms;
	r->pfd[0] = (struct pollfd){ .fd = -1, .events = POLLIN };
	for (i = 0; i < r->n; i++) {
		if (r->servers[i].done)
			continue;
		r->servers[i].err = 0;
		r->servers[i].had_turn = false;
		r->servers[i].n = r->servers[i].n_begun = 0;
		r->servers[i].wait_until = 0;
	}
}

/* The race is over. If @won, servers still racing have not failed. */
static void judge_server(struct server *s, bool won)
{
	unsigned int i;

	if (!s->done && (!won || !is_racing(s))) {
		s->done = true;
		if (!s->had_turn)
			s->err = -ECANCELED;
		else if (is_asked(s) && !s->n)
			s->err = -ENONET;
		else if (s->n_open || s->n_begun < s->n)
			note_error(s, ETIMEDOUT);
	}
	for (i = 0; i < ASKED; i++)
		leave_question(s, i);
}

/* @at: the winner's place, or 0. Returns its socket, or -1. */
static int end_race(struct inc_reach *r, unsigned int at)
{
	int wake = r->pfd[0].fd;
	unsigned int i;

	for (i = 0; i < r->n; i++)
		judge_server(&r->servers[i], at);
	/* @shown has the winner at all times, for a child of fork(). */
	if (at)
		r->reached = r->server_of[at];
	for (i = r->n_open; i; i--)
		if (i != at)
			drop_socket(r, i, 0);
	r->pfd[0].fd = -1;
	show_sockets(r);
	if (wake >= 0)
		close(wake);
	if (!at)
		return -1;
	r->n_open = 0;
	r->servers[r->reached].done = true;
	r->servers[r->reached].err = 0;
	return r->pfd[1].fd;
}

/*
 * Reach one of the servers. The server that is reached, see inc_reach_which(),
 * and servers that failed, are left out from then on. If none is reached, all
 * have failed. Returns the socket, non-blocking, or -1: inc_reach_error() says
 * why.
 * @timeout_ms: time limit, with the resolution of names
 * @seen: descriptors as soon as they are open, for a child of fork() to close;
 *	in the end the connected one and -1; or NULL
 */
int inc_reach_next(struct inc_reach *r, int timeout_ms,
		   struct inc_reach_sockets *seen)
{
	unsigned int i, at = 0;
	bool racing = true;
	int64_t now;
	int fd;

	r->shown = seen;
	begin_race(r, timeout_ms);
	for (now = now_ms(); !at && racing; now = now_ms()) {
		for (i = 0; i < r->n; i++)
			take_answers(r, &r->servers[i], now);
		while (take_turn(r, now))
			;
		racing = false;
		for (i = 0; i < r->n; i++)
			racing |= is_racing(&r->servers[i]);
		if (racing)
			at = take_winner(r, alarm_at(r, now));
		racing &= now <= r->deadline;
	}
	fd = end_race(r, at);
	if (fd >= 0 && !inc_reach_is_path(r->servers[r->reached].addr))
		inc_set_keepalive(fd, RDMA_INC_DEFAULT_DEAD_TIME);
	return fd;
}

/*
 * Leave out a server that was reached by other means.
 * @i: index; inc_reach_which() returns it from then on
 */
void inc_reach_skip(struct inc_reach *r, unsigned int i)
{
	r->servers[i].done = true;
	r->reached = i;
}

/* Leave out only servers whose address cannot be used. */
void inc_reach_again(struct inc_reach *r)
{
	unsigned int i;

	for (i = 0; i < r->n; i++)
		r->servers[i].done = r->servers[i].invalid;
}

/* Count servers that are not left out. Returns their number. */
unsigned int inc_reach_left(const struct inc_reach *r)
{
	unsigned int i, left = 0;

	for (i = 0; i < r->n; i++)
		left += !r->servers[i].done;
	return left;
}

/* --- Results ------------------------------------------------------------- */

/* Count servers. Returns their number. */
unsigned int inc_reach_count(const struct inc_reach *r)
{
	return r->n;
}

/* Tell which server was reached. Returns its index. */
unsigned int inc_reach_which(const struct inc_reach *r)
{
	return r->reached;
}

/* Get a server's address, as it was given. Returns the address. */
const char *inc_reach_addr(const struct inc_reach *r, unsigned int i)
{
	return r->servers[i].addr;
}

/*
 * Tell why a server was not reached. Returns 0: it was, or another one was
 * before, or a negative errno value. -EINVAL, -ENAMETOOLONG, -EPROTOTYPE: the
 * address is malformed, too long, or a path; -ENXIO: no host has this name;
 * -ENONET: no name server answers; -ECANCELED: no time was left to try it.
 */
int inc_reach_error(const struct inc_reach *r, unsigned int i)
{
	return r->servers[i].err;
}

/*
 * Describe to people why servers were not reached.
 * @text: result: "at HOST, port PORT: WHY; at HOST, ..."
 * @len: size of @text in bytes
 */
void inc_reach_why(const struct inc_reach *r, const char *program, char *text,
		   size_t len)
{
	unsigned int i, left = 0;
	const struct server *s;
	char why[WHY_LEN], one[INC_REACH_ADDR + WHY_LEN + 24];
	size_t at = 0;
	int n;

	*text = '\0';
	for (i = 0; i < r->n; i++)
		left += r->servers[i].err != 0;
	for (i = 0; i < r->n && at < len; i++) {
		s = &r->servers[i];
		if (!s->err)
			continue;
		inc_fault_words(inc_fault_of(-s->err), -s->err, program, why,
				sizeof(why));
		n = *s->host && !s->invalid ? snprintf(one, sizeof(one), "%sat %s, port %d: %s",
					at ? "; " : "", s->host, s->port, why) :
			       snprintf(one, sizeof(one), "%sat \"%s\": %s",
					at ? "; " : "", s->addr, why);
		/* Leave room to say how many are left out. */
		if (at + (size_t)n + MORE_LEN > len && (at || left > 1))
			break;
		at += (size_t)snprintf(text + at, len - at, "%s", one);
		left--;
	}
	if (left && at < len)
		snprintf(text + at, len - at, "; and %u more", left);
}

/*
 * Connect to a server. Returns the socket, non-blocking, or a negative errno
 * value, as from inc_reach_error().
 * @timeout_ms: time limit, with the resolution of names
 */
int inc_reach_connect(const char *addr, int port, int timeout_ms)
{
	struct inc_reach *r = calloc(1, sizeof(*r));
	int fd = -ENOMEM;

	if (!r)
		return -ENOMEM;
	r->port = port;
	if (inc_reach_add(r, addr)) {
		fd = inc_reach_next(r, timeout_ms, NULL);
		if (fd < 0)
			fd = r->servers[0].err;
	}
	inc_reach_free(r);
	return fd;
}
