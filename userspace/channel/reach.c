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
#include <time.h>
#include <unistd.h>

#include "auth/address.h"
#include "channel/reach.h"
#include "rendezvous/keepalive.h"

#define UNIX		"unix:"
#define AGAIN_MS	20

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

static void show(_Atomic int *seen, int fd)
{
	if (seen)
		*seen = fd;
}

static int try_one(const struct sockaddr *addr, socklen_t addr_len,
		   int timeout_ms, _Atomic int *seen)
{
	int fd = socket(addr->sa_family, SOCK_STREAM | SOCK_CLOEXEC |
			SOCK_NONBLOCK, 0);
	struct pollfd pfd = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof(int);
	int err = 0;

	if (fd < 0)
		return -errno;
	show(seen, fd);
	if (connect(fd, addr, addr_len))
		err = errno;
	if (err == EINPROGRESS) {
		err = ETIMEDOUT;
		if (poll(&pfd, 1, timeout_ms) > 0)
			getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len);
	}
	if (err) {
		show(seen, -1);
		close(fd);
		return -err;
	}
	if (addr->sa_family != AF_UNIX)
		inc_set_keepalive(fd);
	return fd;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int connect_path(const char *path, int timeout_ms)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int64_t until = now_ms() + timeout_ms;
	int fd;

	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	memcpy(addr.sun_path, path, strlen(path) + 1);
	do {
		fd = try_one((struct sockaddr *)&addr, sizeof(addr),
			     timeout_ms, NULL);
		/* Others wait to be accepted, and poll() tells of no turn. */
	} while (fd == -EAGAIN && now_ms() < until && !poll(NULL, 0, AGAIN_MS));
	return fd == -EAGAIN ? -ETIMEDOUT : fd;
}

static int count(const struct addrinfo *ai)
{
	int n = 0;

	for (; ai; ai = ai->ai_next)
		n++;
	return n;
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
 * @timeout_ms: how long to try, in fair parts for each of its IP addresses; how
 *	long the host's name may take is the resolver's
 * @seen: the socket from the moment when there is one, for a child of fork() to
 *	close; left as it is on success, else -1; or NULL
 *
 * Return: socket, non-blocking, or a negative errno value; -ENXIO: there is no
 * host of this name.
 */
int reach_connect(const char *addr, int port, int timeout_ms,
		  _Atomic int *seen)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	int64_t until = now_ms() + timeout_ms, left;
	struct addrinfo *list, *ai;
	char host[256], service[8];
	int ret = -ENXIO;

	if (reach_is_path(addr))
		return connect_path(addr + strlen(UNIX), timeout_ms);
	if (inc_auth_address(addr, host, sizeof(host), &port))
		return -EINVAL;
	snprintf(service, sizeof(service), "%d", port);
	if (getaddrinfo(host, service, &hints, &list))
		return ret;
	for (ai = list; ai && ret < 0; ai = ai->ai_next) {
		left = (until - now_ms()) / count(ai);
		ret = try_one(ai->ai_addr, ai->ai_addrlen,
			      left > 0 ? (int)left : 0, seen);
	}
	freeaddrinfo(list);
	return ret;
}
