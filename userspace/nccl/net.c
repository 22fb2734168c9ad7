// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Messages from host to host over TCP. NCCL takes a plugin's collectives only
 * together with its network, and sends with it what the switch does not do.
 *
 * On the stream each message has a header with its size. Requests of a
 * communicator are worked off in their order, by whoever tests one of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "plugin.h"

#define HANDLE_MAGIC	0x74656e69u

/**
 * struct handle - what NCCL carries from the listening to the connecting rank
 * @magic: HANDLE_MAGIC
 * @fd: on the connecting side, socket under way + 1
 * @addr: where the other listens
 */
struct handle {
	uint32_t	magic;
	int32_t		fd;
	union {
		struct sockaddr		sa;
		struct sockaddr_in	in;
		struct sockaddr_in6	in6;
	} addr;
};

_Static_assert(sizeof(struct handle) <= NCCL_HANDLE_MAX, "fits NCCL's handle");

struct msg_hdr {
	uint64_t	size;
	int32_t		tag;
	uint32_t	reserved;
};

struct request {
	struct net	*net;
	char		*data;
	size_t		size;
	int		tag;
	bool		used;
	bool		done;
};

/* One direction of a connection; requests are a ring. */
struct net {
	int		fd;
	bool		sends;
	bool		broken;
	unsigned int	head, tail;
	struct msg_hdr	hdr;
	size_t		at;		/* bytes of header and data gone so far */
	struct request	request[NCCL_MAX_REQUESTS];
};

static socklen_t addr_len(const struct handle *h)
{
	return h->addr.sa.sa_family == AF_INET ? sizeof(h->addr.in) :
						 sizeof(h->addr.in6);
}

/*
 * Is an interface among those that NCCL_SOCKET_IFNAME lists, as NCCL reads it: by the
 * beginnings of their names, behind "=" by whole names, behind "^" all others.
 */
static bool is_wanted(const char *name, const char *list)
{
	bool others = *list == '^', whole = list[others] == '=', found = false;
	size_t len;

	for (list += others + whole; *list && !found; list += strspn(list, ",")) {
		len = strcspn(list, ",");
		found = len && !strncmp(name, list, len) && (!whole || !name[len]);
		list += len;
	}
	return found != others;
}

/* The first interface that is wanted and serves. */
static int own_address(struct handle *h)
{
	const char *list = getenv("NCCL_SOCKET_IFNAME");
	struct ifaddrs *all, *i;
	int ret = -1;

	if (getifaddrs(&all))
		return -1;
	for (i = all; i && ret; i = i->ifa_next) {
		int family = i->ifa_addr ? i->ifa_addr->sa_family : 0;

		if (!(i->ifa_flags & IFF_UP) || i->ifa_flags & IFF_LOOPBACK ||
		    (list && *list && !is_wanted(i->ifa_name, list)))
			continue;
		if (family == AF_INET) {
			memcpy(&h->addr.in, i->ifa_addr, sizeof(h->addr.in));
			ret = 0;
		} else if (family == AF_INET6 &&
			   !IN6_IS_ADDR_LINKLOCAL(&((struct sockaddr_in6 *)
						    i->ifa_addr)->sin6_addr)) {
			memcpy(&h->addr.in6, i->ifa_addr, sizeof(h->addr.in6));
			ret = 0;
		}
	}
	freeifaddrs(all);
	return ret;
}

nccl_result inc_net_listen(void *handle, void **comm)
{
	struct handle h = { .magic = HANDLE_MAGIC };
	socklen_t len;
	int *fd;

	if (own_address(&h)) {
		say_warn("no network interface has an address");
		return NCCL_SYSTEM_ERROR;
	}
	fd = malloc(sizeof(*fd));
	if (!fd)
		return NCCL_SYSTEM_ERROR;
	len = addr_len(&h);
	*fd = socket(h.addr.sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*fd < 0 || bind(*fd, &h.addr.sa, len) || listen(*fd, 128) ||
	    getsockname(*fd, &h.addr.sa, &len)) {
		say_warn("listening: %s", strerror(errno));
		if (*fd >= 0)
			close(*fd);
		free(fd);
		return NCCL_SYSTEM_ERROR;
	}
	memset(handle, 0, NCCL_HANDLE_MAX);
	memcpy(handle, &h, sizeof(h));
	*comm = fd;
	return NCCL_SUCCESS;
}

nccl_result inc_net_close_listen(void *comm)
{
	int *fd = comm;

	close(*fd);
	free(fd);
	return NCCL_SUCCESS;
}

static struct net *net_new(int fd, bool sends)
{
	struct net *n = calloc(1, sizeof(*n));
	int on = 1;

	if (!n)
		return NULL;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	n->fd = fd;
	n->sends = sends;
	return n;
}

/* Called again until it is connected; the handle remembers the socket. */
nccl_result inc_net_connect(void *handle, void **comm)
{
	struct handle *h = handle;
	int fd, err;

	*comm = NULL;
	if (h->magic != HANDLE_MAGIC)
		return NCCL_INVALID_ARGUMENT;
	if (!h->fd) {
		fd = socket(h->addr.sa.sa_family,
			    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (fd < 0)
			return NCCL_SYSTEM_ERROR;
		h->fd = fd + 1;
	}
	fd = h->fd - 1;
	err = connect(fd, &h->addr.sa, addr_len(h)) ? errno : 0;
	if (err == EINPROGRESS || err == EALREADY || err == EINTR)
		return NCCL_SUCCESS;
	h->fd = 0;
	if (err && err != EISCONN) {
		say_warn("connecting: %s", strerror(err));
		close(fd);
		return NCCL_REMOTE_ERROR;
	}
	*comm = net_new(fd, true);
	if (!*comm)
		close(fd);
	return *comm ? NCCL_SUCCESS : NCCL_SYSTEM_ERROR;
}

nccl_result inc_net_accept(void *listen, void **comm)
{
	int fd = accept4(*(int *)listen, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	*comm = NULL;
	if (fd < 0)
		return errno == EAGAIN || errno == EINTR || errno == ECONNABORTED ?
		       NCCL_SUCCESS : NCCL_SYSTEM_ERROR;
	*comm = net_new(fd, false);
	if (!*comm)
		close(fd);
	return *comm ? NCCL_SUCCESS : NCCL_SYSTEM_ERROR;
}

nccl_result inc_net_close(void *comm)
{
	struct net *n = comm;

	if (n)
		close(n->fd);
	free(n);
	return NCCL_SUCCESS;
}

static struct request *queue(struct net *n, void *data, size_t size, int tag)
{
	struct request *r = &n->request[n->tail % NCCL_MAX_REQUESTS];

	if (r->used)
		return NULL;
	*r = (struct request) {
		.net = n, .data = data, .size = size, .tag = tag, .used = true,
	};
	n->tail++;
	return r;
}

/* Move up to @len bytes at @p of the stream; 0 if none can go now, or -1. */
static ssize_t move(struct net *n, void *p, size_t len)
{
	ssize_t ret;

	do {
		ret = n->sends ? send(n->fd, p, len, MSG_DONTWAIT | MSG_NOSIGNAL) :
				 recv(n->fd, p, len, MSG_DONTWAIT);
	} while (ret < 0 && errno == EINTR);
	if (ret < 0)
		return errno == EAGAIN ? 0 : -1;
	return ret || n->sends ? ret : -1;
}

static bool header_is_right(const struct net *n, struct request *r)
{
	if (n->hdr.size > r->size || n->hdr.tag != r->tag) {
		say_warn("a message of %llu bytes, tag %d, where %zu bytes, tag %d were awaited",
			 (unsigned long long)n->hdr.size, n->hdr.tag, r->size,
			 r->tag);
		return false;
	}
	return true;
}

/* Work the oldest request off as far as it goes. True if it is done. */
static bool advance(struct net *n, struct request *r)
{
	ssize_t ret;

	if (n->sends && !n->at)
		n->hdr = (struct msg_hdr) { .size = r->size, .tag = r->tag };
	while (n->at < sizeof(n->hdr)) {
		ret = move(n, (char *)&n->hdr + n->at, sizeof(n->hdr) - n->at);
		if (ret <= 0)
			goto stop;
		n->at += (size_t)ret;
		if (n->at == sizeof(n->hdr) && !n->sends &&
		    !header_is_right(n, r)) {
			n->broken = true;
			return false;
		}
	}
	while (n->at < sizeof(n->hdr) + n->hdr.size) {
		size_t off = n->at - sizeof(n->hdr);

		ret = move(n, r->data + off, n->hdr.size - off);
		if (ret <= 0)
			goto stop;
		n->at += (size_t)ret;
	}
	r->size = n->hdr.size;
	r->done = true;
	n->at = 0;
	return true;
stop:
	if (ret < 0)
		n->broken = true;
	return false;
}

static void progress(struct net *n)
{
	while (n->head != n->tail && !n->broken &&
	       advance(n, &n->request[n->head % NCCL_MAX_REQUESTS]))
		n->head++;
}

nccl_result inc_net_isend(void *comm, const void *data, size_t size, int tag,
			  void **request)
{
	struct net *n = comm;

	*request = queue(n, (void *)data, size, tag);
	progress(n);
	return n->broken ? NCCL_REMOTE_ERROR : NCCL_SUCCESS;
}

nccl_result inc_net_irecv(void *comm, void *data, size_t size, int tag,
			  void **request)
{
	struct net *n = comm;

	*request = queue(n, data, size, tag);
	return n->broken ? NCCL_REMOTE_ERROR : NCCL_SUCCESS;
}

nccl_result inc_net_test(void *request, int *done, int *size)
{
	struct request *r = request;

	*done = 0;
	if (!r->done)
		progress(r->net);
	if (r->done) {
		*done = 1;
		if (size)
			*size = (int)r->size;
		r->used = false;
		return NCCL_SUCCESS;
	}
	return r->net->broken ? NCCL_REMOTE_ERROR : NCCL_SUCCESS;
}
