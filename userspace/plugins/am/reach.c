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
#include <unistd.h>

#include "auth/address.h"
#include "manager/api/message.h"
#include "reach.h"
#include "rendezvous/keepalive.h"

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

static int try_one(const struct addrinfo *ai, int timeout_ms)
{
	int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC |
			SOCK_NONBLOCK, 0);
	struct pollfd pfd = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof(int);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (connect(fd, ai->ai_addr, ai->ai_addrlen) && errno == EINPROGRESS) {
		err = ETIMEDOUT;
		if (poll(&pfd, 1, timeout_ms) > 0)
			getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len);
	} else if (errno) {
		err = errno;
	}
	if (!err) {
		inc_set_keepalive(fd);
		return fd;
	}
	close(fd);
	return -err;
}

/**
 * reach_connect() - connect to a manager
 * @addr: its address
 * @timeout_ms: how long to wait for each of its IP addresses
 *
 * Return: socket, non-blocking, or a negative errno value.
 */
int reach_connect(const char *addr, int timeout_ms)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *list, *ai;
	int ret = -EHOSTUNREACH, port = atoi(AM_PORT);
	char host[256], service[8];

	if (inc_auth_address(addr, host, sizeof(host), &port))
		return -EINVAL;
	snprintf(service, sizeof(service), "%d", port);
	if (getaddrinfo(host, service, &hints, &list))
		return ret;
	for (ai = list; ai && ret < 0; ai = ai->ai_next) {
		errno = 0;
		ret = try_one(ai, timeout_ms);
	}
	freeaddrinfo(list);
	return ret;
}
