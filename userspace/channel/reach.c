// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See reach.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "auth/address.h"
#include "auth/resolve.h"
#include "channel/reach.h"
#include "conf/clock.h"
#include "rendezvous/keepalive.h"

#define UNIX		"unix:"
#define AGAIN_MS	20
#define NEXT_MS		250

/**
 * reach_nth() - take an address out of a list
 * @list: addresses, with commas between
 * @n: which one, from 0; beyond the last it begins again with the first
 * @addr: result
 * @len: size of @addr in bytes
 *
 * Return: the number of addresses.
 */
int reach_nth(const char *list, unsigned int n, char *addr, size_t len)
{
	const char *at = list;
	unsigned int count = 1;

	for (; *at; at++)
		count += *at == ',';
	for (at = list, n %= count; n; n--)
		at = strchr(at, ',') + 1;
	snprintf(addr, len, "%.*s", (int)strcspn(at, ","), at);
	return (int)count;
}

/**
 * struct race - connections that are being made to the addresses of one host
 * @pfd: their sockets
 * @n: their number
 * @err: negative errno value; why the last one that failed did
 * @seen: where the sockets are shown, or NULL
 */
struct race {
	struct pollfd		pfd[REACH_MOST];
	unsigned int		n;
	int			err;
	struct reach_sockets	*seen;
};

static void show_sockets(struct race *r)
{
	unsigned int i;

	for (i = 0; r->seen && i < REACH_MOST; i++)
		r->seen->fd[i] = i < r->n ? r->pfd[i].fd : -1;
}

/* Connection @i has failed. */
static void drop_connection(struct race *r, unsigned int i, int err)
{
	int fd = r->pfd[i].fd;

	r->err = -err;
	r->pfd[i] = r->pfd[--r->n];
	show_sockets(r);
	close(fd);
}

/* The caller has seen that there is room. */
static void start_connection(struct race *r, const struct sockaddr *addr,
			     socklen_t len)
{
	int fd = socket(addr->sa_family, SOCK_STREAM | SOCK_CLOEXEC |
			SOCK_NONBLOCK, 0);

	if (fd < 0) {
		r->err = -errno;
		return;
	}
	r->pfd[r->n++] = (struct pollfd){ .fd = fd, .events = POLLOUT };
	show_sockets(r);
	if (connect(fd, addr, len) && errno != EINPROGRESS)
		drop_connection(r, r->n - 1, errno);
}

/* Returns the first socket that is connected, or -1. */
static int take_winner(struct race *r, int64_t wait_ms)
{
	socklen_t len = sizeof(int);
	unsigned int i = 0;
	int err, fd;

	if (poll(r->pfd, r->n, (int)wait_ms) <= 0)
		return -1;
	while (i < r->n) {
		err = 0;
		if (!r->pfd[i].revents)
			i++;
		else if (getsockopt(r->pfd[i].fd, SOL_SOCKET, SO_ERROR, &err,
				    &len) || err)
			drop_connection(r, i, err ? err : errno);
		else
			break;
	}
	if (i == r->n)
		return -1;
	fd = r->pfd[i].fd;
	r->pfd[i] = r->pfd[0];
	r->pfd[0].fd = fd;
	while (r->n > 1)
		drop_connection(r, r->n - 1, ECANCELED);
	return fd;
}

static int connect_path(const char *path, int timeout_ms)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int64_t until = now_ms() + timeout_ms;
	struct race r = {};

	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	memcpy(addr.sun_path, path, strlen(path) + 1);
	do {
		start_connection(&r, (struct sockaddr *)&addr, sizeof(addr));
		if (r.n)
			return r.pfd[0].fd;
		/* Others wait to be accepted, and poll() tells of no turn. */
	} while (r.err == -EAGAIN && now_ms() < until &&
		 !poll(NULL, 0, AGAIN_MS));
	return r.err == -EAGAIN ? -ETIMEDOUT : r.err;
}

/*
 * As RFC 8305 (5): an address that does not answer costs NEXT_MS, one that refuses
 * nothing. The first to answer is taken.
 */
static int connect_any(const struct addrinfo *ai, int timeout_ms,
		       struct reach_sockets *seen)
{
	int64_t now = now_ms(), until = now + timeout_ms, next = now;
	struct race r = { .err = -ENXIO, .seen = seen };
	unsigned int n;
	int fd = -1;

	for (; fd < 0 && (ai || r.n) && now <= until; now = now_ms()) {
		if (ai && r.n < REACH_MOST && (now >= next || !r.n)) {
			start_connection(&r, ai->ai_addr, ai->ai_addrlen);
			ai = ai->ai_next;
			next = now + NEXT_MS;
		}
		n = r.n;
		if (n)
			fd = take_winner(&r, (ai && next < until ? next :
					      until) - now);
		if (r.n < n)
			next = now;
	}
	if (fd < 0 && r.n)
		r.err = -ETIMEDOUT;
	while (fd < 0 && r.n)
		drop_connection(&r, r.n - 1, ETIMEDOUT);
	return fd < 0 ? r.err : fd;
}

/**
 * reach_is_path() - is a server's address a socket in the file system?
 * @addr: its address
 *
 * Return: true if so.
 */
bool reach_is_path(const char *addr)
{
	return !strncmp(addr, UNIX, strlen(UNIX)) && addr[strlen(UNIX)];
}

/**
 * reach_connect() - connect to a server
 * @addr: its address: HOST, HOST:PORT, [ADDRESS]:PORT or unix:PATH
 * @port: if @addr has none
 * @timeout_ms: how long to try, with the time that the host's name takes; its IP
 *	addresses are tried beside each other, the next one %NEXT_MS after the last
 * @seen: the sockets from the moment when there are some, for a child of fork()
 *	to close; the connected one is left in it, the others are -1; or NULL
 *
 * Return: socket, non-blocking, or a negative errno value; -ENXIO: there is no
 * host of this name; -ENONET: no name server has told in time.
 */
int reach_connect(const char *addr, int port, int timeout_ms,
		  struct reach_sockets *seen)
{
	int64_t until = now_ms() + timeout_ms, left;
	char host[256], service[8];
	struct addrinfo *list;
	int fd, ret;

	if (reach_is_path(addr))
		return connect_path(addr + strlen(UNIX), timeout_ms);
	if (inc_auth_address(addr, host, sizeof(host), &port))
		return -EINVAL;
	snprintf(service, sizeof(service), "%d", port);
	ret = inc_resolve(host, service, 0, timeout_ms, &list);
	if (ret)
		return ret == EAI_AGAIN ? -ENONET : -ENXIO;
	left = until - now_ms();
	fd = connect_any(list, left > 0 ? (int)left : 0, seen);
	freeaddrinfo(list);
	if (fd >= 0)
		inc_set_keepalive(fd);
	return fd;
}
