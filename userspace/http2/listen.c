// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The server's listening sockets.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "auth/address.h"
#include "auth/resolve.h"
#include "http2/conn.h"
#include "conf/keepalive.h"

#define BACKLOG	4096
#define ROOM	65536	/* receive buffer of each connection */

/* Closes @fd on failure. */
static int add_fd(struct h2_server *s, int fd)
{
	struct h2_listener *l = &s->listeners[s->nlisteners];
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = &l->io };
	int err = 0;

	if (s->nlisteners == sizeof(s->listeners) / sizeof(s->listeners[0])) {
		err = ENOSPC;
	} else {
		*l = (struct h2_listener){
			.io.fn = server_accept, .server = s, .fd = fd,
		};
		if (epoll_ctl(s->loop->ep, EPOLL_CTL_ADD, fd, &e))
			err = errno;
	}
	if (err)
		close(fd);
	else
		s->nlisteners++;
	return -err;
}

static int listen_unix(struct h2_server *s, const char *path, const char **why)
{
	int ret, fd = inc_socket_listen(&s->socket, path, -1, BACKLOG, why);

	if (fd < 0)
		return fd;
	ret = add_fd(s, fd);
	if (ret)
		inc_socket_remove(&s->socket);
	return ret;
}

static int port_of(int fd)
{
	struct sockaddr_storage addr;
	socklen_t len = sizeof(addr);

	/* The port is at the same offset in both families. */
	_Static_assert(offsetof(struct sockaddr_in, sin_port) ==
		       offsetof(struct sockaddr_in6, sin6_port), "port");
	return getsockname(fd, (struct sockaddr *)&addr, &len) ? 0 :
	       ntohs(((struct sockaddr_in *)&addr)->sin_port);
}

/* Accepted sockets inherit keepalive: ranks without heartbeats may vanish. */
static int listen_tcp(struct h2_server *s, const struct addrinfo *ai, int port)
{
	struct sockaddr_storage addr = { .ss_family = AF_UNSPEC };
	const int zero = 0, one = 1, room = ROOM;
	int err, fd = socket(ai->ai_family, SOCK_STREAM | SOCK_NONBLOCK |
					    SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	memcpy(&addr, ai->ai_addr, ai->ai_addrlen);
	((struct sockaddr_in *)&addr)->sin_port = htons((uint16_t)port);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	/* "::" includes all of IPv4, whatever net.ipv6.bindv6only says. */
	if (ai->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
	inc_set_keepalive(fd, RDMA_INC_DEFAULT_DEAD_TIME);
	if (!bind(fd, (struct sockaddr *)&addr, ai->ai_addrlen) &&
	    !listen(fd, BACKLOG))
		return add_fd(s, fd);
	err = errno;
	close(fd);
	return -err;
}

static int set_error(const struct h2_server *s, const char *address, int ret,
		     const char *why, char *err, size_t len)
{
	char used[80];

	snprintf(used, sizeof(used), "this address is in use: is another %s running?",
		 s->self);
	snprintf(err, len, "--listen %s: %s", address, why ? why :
		 ret == -EADDRINUSE ? used :
		 ret == -EADDRNOTAVAIL ?
		 "no interface of this host has this address (ip address)" :
		 ret == -EINVAL && strstr(address, "fe80:") ?
		 "a link-local address needs its interface, fe80::1%eth0" :
		 strerror(-ret));
	return ret;
}

/* Listening at one of a name's addresses is enough. */
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
			*port = port_of(s->listeners[s->nlisteners - 1].fd);
	}
	freeaddrinfo(list);
	return s->nlisteners ? 0 : ret;
}

/*
 * Listen. A wildcard address of either family means both, where there is IPv6.
 * Returns the port, 1 for a UNIX socket, or a negative errno value.
 * @address: "host:port", "[address]:port" or "unix:PATH"; port 0: any
 * @len: size of @err in bytes
 */
int h2_listen(struct h2_server *s, const char *address, char *err, size_t len)
{
	const char *why = NULL, *path = inc_auth_path(address);
	char host[256];
	int port = 0, ret;

	if (path) {
		ret = listen_unix(s, path, &why);
		return ret ? set_error(s, address, ret, why, err, len) : 1;
	}
	if (inc_auth_address(address, host, sizeof(host), &port))
		return set_error(s, address, -EINVAL, NULL, err, len);
	ret = strcmp(host, "0.0.0.0") ? -EAFNOSUPPORT :
	      listen_host(s, "::", &port, &why);
	if (ret == -EAFNOSUPPORT || ret == -EADDRNOTAVAIL)
		ret = listen_host(s, host, &port, &why);
	return ret ? set_error(s, address, ret, why, err, len) : port;
}
