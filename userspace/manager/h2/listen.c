// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The sockets that the server listens at.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "auth/address.h"
#include "auth/resolve.h"
#include "h2/conn.h"
#include "rendezvous/keepalive.h"

#define BACKLOG	4096
#define ROOM	65536	/* bytes that the kernel keeps until they are read */
#define UNIX	"unix:"

static int listen_fd(struct h2_server *s, int fd, const struct sockaddr *addr,
		     socklen_t len)
{
	struct epoll_event e = {
		.events = EPOLLIN, .data.ptr = &s->fds[s->nfds],
	};
	int err;

	if (s->nfds == sizeof(s->fds) / sizeof(s->fds[0]))
		err = ENOSPC;
	else if (!bind(fd, addr, len) && !listen(fd, BACKLOG) &&
		 !epoll_ctl(s->ep, EPOLL_CTL_ADD, fd, &e))
		err = 0;
	else
		err = errno;
	if (err)
		close(fd);
	else
		s->fds[s->nfds++] = fd;
	return -err;
}

/* Remove what the last manager has left; not the socket of one that runs. */
static int remove_stale(int fd, const struct sockaddr_un *addr)
{
	struct stat st;

	if (lstat(addr->sun_path, &st))
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	if (!connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) ||
	    errno == EAGAIN)
		return -EADDRINUSE;
	if (errno != ECONNREFUSED)
		return -errno;
	unlink(addr->sun_path);
	return 0;
}

static int listen_unix(struct h2_server *s, const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd, ret;

	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	strcpy(addr.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	ret = remove_stale(fd, &addr);
	if (ret) {
		close(fd);
		return ret;
	}
	ret = listen_fd(s, fd, (struct sockaddr *)&addr, sizeof(addr));
	if (!ret)
		s->unix_path = strdup(path);
	return ret;
}

static int port_of(int fd)
{
	struct sockaddr_storage addr;
	socklen_t len = sizeof(addr);

	/* Both families have the port at the same place. */
	_Static_assert(offsetof(struct sockaddr_in, sin_port) ==
		       offsetof(struct sockaddr_in6, sin6_port), "port");
	return getsockname(fd, (struct sockaddr *)&addr, &len) ? 0 :
	       ntohs(((struct sockaddr_in *)&addr)->sin_port);
}

/* What a socket accepts inherits this: ranks without heartbeats may vanish, too. */
static int listen_tcp(struct h2_server *s, const struct addrinfo *ai, int port)
{
	struct sockaddr_storage addr = { .ss_family = AF_UNSPEC };
	const int zero = 0, one = 1, room = ROOM;
	int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_NONBLOCK |
				       SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	memcpy(&addr, ai->ai_addr, ai->ai_addrlen);
	((struct sockaddr_in *)&addr)->sin_port = htons((uint16_t)port);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	/* "::" is all of IPv4, too, whatever net.ipv6.bindv6only says. */
	if (ai->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
	inc_set_keepalive(fd);
	return listen_fd(s, fd, (struct sockaddr *)&addr, ai->ai_addrlen);
}

static int set_error(const char *address, int ret, const char *why, char *err,
		     size_t len)
{
	snprintf(err, len, "--listen %s: %s", address, why ? why :
		 ret == -EADDRINUSE ?
		 "this address is in use: is another manager running?" :
		 ret == -EEXIST ? "there is something else of this name" :
		 ret == -EADDRNOTAVAIL ?
		 "no interface of this host has this address (ip address)" :
		 strerror(-ret));
	return ret;
}

/* One of a name's addresses is enough. */
static int listen_host(struct h2_server *s, const char *host, int *port,
		       const char **why)
{
	struct addrinfo *list = NULL, *ai;
	int ret = inc_resolve(host, "", AI_PASSIVE, INC_RESOLVE_MS, &list);

	if (ret) {
		*why = inc_resolve_why(ret);
		return -EINVAL;
	}
	for (ai = list; ai; ai = ai->ai_next) {
		ret = listen_tcp(s, ai, *port);
		if (!ret)
			*port = port_of(s->fds[s->nfds - 1]);
	}
	freeaddrinfo(list);
	return s->nfds ? 0 : ret;
}

/**
 * h2_listen() - listen
 * @s: server, which is not started
 * @address: "host:port", "[address]:port" or "unix:PATH"; port 0: any
 * @err: error message
 * @len: size of @err in bytes
 *
 * Any address, of either family, means all of both, where there is IPv6.
 *
 * Return: port, 1 of a UNIX socket, or a negative errno value.
 */
int h2_listen(struct h2_server *s, const char *address, char *err, size_t len)
{
	const char *why = NULL;
	char host[256];
	int port = 0, ret;

	if (!strncmp(address, UNIX, strlen(UNIX))) {
		ret = listen_unix(s, address + strlen(UNIX));
		return ret ? set_error(address, ret, NULL, err, len) : 1;
	}
	if (inc_auth_address(address, host, sizeof(host), &port))
		return set_error(address, -EINVAL, NULL, err, len);
	ret = strcmp(host, "0.0.0.0") ? -EAFNOSUPPORT :
	      listen_host(s, "::", &port, &why);
	if (ret == -EAFNOSUPPORT || ret == -EADDRNOTAVAIL)
		ret = listen_host(s, host, &port, &why);
	return ret ? set_error(address, ret, why, err, len) : port;
}
