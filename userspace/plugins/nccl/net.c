// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Messages between hosts over TCP. NCCL accepts a plugin's collectives only
 * together with its network, and uses the network for everything that the
 * switch does not support.
 *
 * On the stream each message has a header with its size. A test of any request
 * of a communicator processes the requests in their order.
 *
 * Any host can connect to a listening socket. So a connection begins with a
 * secret from the handle, which NCCL passes only to the intended rank.
 */
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conf/clock.h"
#include "plugin.h"

#define HANDLE_MAGIC	0x74656e69u

/* Unauthenticated connections; how long each may keep its place. */
#define GUESTS		64
#define GUEST_MS	2000

nccl_log_fn inc_nccl_log;

union address {
	struct sockaddr		sa;
	struct sockaddr_in	in;
	struct sockaddr_in6	in6;
};

/* The start of a connection, from the handle. */
struct hello {
	uint32_t	magic;
	uint32_t	reserved;
	uint64_t	secret[2];
};

/**
 * struct handle - passed by NCCL from the listening to the connecting rank
 * @hello: first data to send
 * @fd: on the connecting side, connecting socket + 1
 * @addr: address of the listening socket
 */
struct handle {
	struct hello	hello;
	int32_t		fd;
	union address	addr;
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

/**
 * struct guest - a connection whose hello is incomplete
 * @fd: socket, if @since is not 0
 * @since: when it was accepted, milliseconds
 * @got: bytes of @hello received
 * @hello: data received
 */
struct guest {
	int		fd;
	int64_t		since;
	size_t		got;
	struct hello	hello;
};

/**
 * struct door - a listening socket
 * @fd: socket
 * @hello: data expected from the rank
 * @guest: connections that have not sent @hello yet
 */
struct door {
	int		fd;
	struct hello	hello;
	struct guest	guest[GUESTS];
};

/* Either direction of a connection; requests are a ring. */
struct net {
	int		fd;
	bool		sends;
	bool		broken;
	unsigned int	head, tail;
	struct msg_hdr	hdr;
	size_t		at;		/* bytes sent or received */
	struct request	request[NCCL_MAX_REQUESTS];
};

static socklen_t addr_len(const struct handle *h)
{
	return h->addr.sa.sa_family == AF_INET ? sizeof(h->addr.in) :
						 sizeof(h->addr.in6);
}

/*
 * Does NCCL_SOCKET_IFNAME select an interface? As NCCL reads it, the list has
 * prefixes of names, after "=" whole names, and "^" selects all others.
 */
static bool is_wanted(const char *name, const char *list)
{
	bool others = *list == '^', whole = list[others] == '=', found = false;
	size_t len;

	for (list += others + whole; *list && !found;
	     list += strspn(list, ",")) {
		len = strcspn(list, ",");
		found = len && !strncmp(name, list, len) &&
			(!whole || !name[len]);
		list += len;
	}
	return found != others;
}

static bool family_is_wanted(int family)
{
	const char *wanted = getenv("NCCL_SOCKET_FAMILY");

	if (family != AF_INET && family != AF_INET6)
		return false;
	return !wanted ||
	       (strcmp(wanted, "AF_INET") && strcmp(wanted, "AF_INET6")) ||
	       !strcmp(wanted, family == AF_INET ? "AF_INET" : "AF_INET6");
}

static bool same_net(const struct ifaddrs *i, const union address *near)
{
	const union address *own = (const union address *)i->ifa_addr;
	const union address *mask = (const union address *)i->ifa_netmask;
	int k;

	if (!mask || own->sa.sa_family != near->sa.sa_family)
		return false;
	if (own->sa.sa_family == AF_INET)
		return !((own->in.sin_addr.s_addr ^ near->in.sin_addr.s_addr) &
			 mask->in.sin_addr.s_addr);
	for (k = 0; k < 16; k++)
		if ((own->in6.sin6_addr.s6_addr[k] ^
		     near->in6.sin6_addr.s6_addr[k]) &
		    mask->in6.sin6_addr.s6_addr[k])
			return false;
	return true;
}

/* Find an address of an interface on @list, or of one that leads to @near. */
static bool pick_address(const struct ifaddrs *all, const char *list,
			 const union address *near, union address *addr)
{
	const struct ifaddrs *i;
	int family;

	for (i = all; i; i = i->ifa_next) {
		family = i->ifa_addr ? i->ifa_addr->sa_family : 0;
		if (!(i->ifa_flags & IFF_UP) || !family_is_wanted(family) ||
		    (near ? !same_net(i, near) : !is_wanted(i->ifa_name, list)))
			continue;
		if (family == AF_INET) {
			memcpy(&addr->in, i->ifa_addr, sizeof(addr->in));
			return true;
		}
		memcpy(&addr->in6, i->ifa_addr, sizeof(addr->in6));
		if (!IN6_IS_ADDR_LINKLOCAL(&addr->in6.sin6_addr))
			return true;
	}
	return false;
}

/* NCCL_COMM_ID is "host:port" or "[address]:port". */
static bool root_address(union address *addr)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found;
	const char *id = getenv("NCCL_COMM_ID");
	char host[256], *end, *name = host;

	if (!id || strlen(id) >= sizeof(host))
		return false;
	strcpy(host, id);
	end = strrchr(host, ':');
	if (!end)
		return false;
	*end = '\0';
	if (*host == '[' && end[-1] == ']') {
		end[-1] = '\0';
		name++;
	}
	if (getaddrinfo(name, NULL, &hints, &found))
		return false;
	memcpy(addr, found->ai_addr, found->ai_addrlen < sizeof(*addr) ?
				     found->ai_addrlen : sizeof(*addr));
	freeaddrinfo(found);
	return true;
}

/*
 * NCCL's order: the user's choice, and nothing else; InfiniBand; the network of
 * rank 0; then any interface, with the bridges of containers and virtual
 * machines and the loopback device last.
 */
static bool own_address(const struct ifaddrs *all, union address *addr)
{
	static const char *const lists[] = {
		"^docker,lo,virbr", "docker", "lo", "virbr"
	};
	const char *list = getenv("NCCL_SOCKET_IFNAME");
	union address root;
	size_t i;

	if (list && strlen(list) > 1)
		return pick_address(all, list, NULL, addr);
	if (pick_address(all, "ib", NULL, addr) ||
	    (root_address(&root) && pick_address(all, NULL, &root, addr)))
		return true;
	for (i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		if (pick_address(all, lists[i], NULL, addr))
			return true;
	return false;
}

static bool find_address(union address *addr)
{
	struct ifaddrs *all;
	bool found;

	if (getifaddrs(&all))
		return false;
	found = own_address(all, addr);
	freeifaddrs(all);
	return found;
}

/*
 * Listen for a connection. Returns NCCL_SUCCESS or NCCL_SYSTEM_ERROR.
 * @handle: result, NCCL_HANDLE_MAX bytes, for the connecting rank
 */
nccl_result inc_net_listen(void *handle, void **comm)
{
	struct handle h = { .hello.magic = HANDLE_MAGIC };
	struct door *door;
	socklen_t len;

	if (!find_address(&h.addr)) {
		say_warn("no network interface has an address");
		return NCCL_SYSTEM_ERROR;
	}
	door = calloc(1, sizeof(*door));
	if (!door || getrandom(h.hello.secret, sizeof(h.hello.secret), 0) !=
		     sizeof(h.hello.secret)) {
		free(door);
		return NCCL_SYSTEM_ERROR;
	}
	door->hello = h.hello;
	len = addr_len(&h);
	door->fd = socket(h.addr.sa.sa_family,
			  SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (door->fd < 0 || bind(door->fd, &h.addr.sa, len) ||
	    listen(door->fd, 128) || getsockname(door->fd, &h.addr.sa, &len)) {
		say_warn("listening: %s", strerror(errno));
		if (door->fd >= 0)
			close(door->fd);
		free(door);
		return NCCL_SYSTEM_ERROR;
	}
	memset(handle, 0, NCCL_HANDLE_MAX);
	memcpy(handle, &h, sizeof(h));
	*comm = door;
	return NCCL_SUCCESS;
}

/* Stop listening. Returns NCCL_SUCCESS. */
nccl_result inc_net_close_listen(void *comm)
{
	struct door *door = comm;
	int i;

	for (i = 0; i < GUESTS; i++)
		if (door->guest[i].since)
			close(door->guest[i].fd);
	close(door->fd);
	free(door);
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

/*
 * Connect to a listening rank. Returns NCCL_SUCCESS, NCCL_INVALID_ARGUMENT,
 * NCCL_SYSTEM_ERROR or NCCL_REMOTE_ERROR.
 * @handle: its handle, which also remembers the socket
 * @comm: set to the sending end; NULL: not connected yet, call again
 */
nccl_result inc_net_connect(void *handle, void **comm)
{
	struct handle *h = handle;
	int fd, err;

	*comm = NULL;
	if (h->hello.magic != HANDLE_MAGIC)
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
	if (err == EISCONN)
		err = 0;
	/* The socket is new, so its buffer takes all of it. */
	if (!err && send(fd, &h->hello, sizeof(h->hello), MSG_NOSIGNAL) !=
		    sizeof(h->hello))
		err = errno ? errno : EPIPE;
	if (err) {
		say_warn("connecting: %s", strerror(err));
		close(fd);
		return NCCL_REMOTE_ERROR;
	}
	*comm = net_new(fd, true);
	if (!*comm)
		close(fd);
	return *comm ? NCCL_SUCCESS : NCCL_SYSTEM_ERROR;
}

static void send_away(struct guest *g)
{
	close(g->fd);
	g->since = 0;
}

/*
 * Find a place for the next connection. A rank sends its hello as soon as it
 * can. If it is delayed, it keeps its place unless other connections need it.
 */
static struct guest *find_place(struct door *door)
{
	struct guest *g, *oldest = &door->guest[0];

	for (g = door->guest; g < door->guest + GUESTS; g++) {
		if (!g->since)
			return g;
		if (g->since < oldest->since)
			oldest = g;
	}
	if (now_ms() - oldest->since < GUEST_MS)
		return NULL;
	send_away(oldest);
	return oldest;
}

/* Accept all waiting connections. Returns 0 or errno. */
static int let_in(struct door *door)
{
	struct guest *g;
	int fd;

	while ((g = find_place(door))) {
		fd = accept4(door->fd, NULL, NULL,
			     SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (fd < 0)
			return errno == EAGAIN ? 0 : errno;
		*g = (struct guest) { .fd = fd, .since = now_ms() };
	}
	return 0;
}

/* Is @g's hello complete and correct? A wrong one closes the socket. */
static bool is_rank(const struct door *door, struct guest *g)
{
	ssize_t ret = recv(g->fd, (char *)&g->hello + g->got,
			   sizeof(g->hello) - g->got, MSG_DONTWAIT);

	if (ret < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (ret > 0)
		g->got += (size_t)ret;
	if (ret > 0 && g->got < sizeof(g->hello))
		return false;
	if (ret > 0 && !memcmp(&g->hello, &door->hello, sizeof(g->hello)))
		return true;
	say_info("somebody connected who is no rank");
	send_away(g);
	return false;
}

/*
 * Accept the connection of the intended rank. Returns NCCL_SUCCESS or
 * NCCL_SYSTEM_ERROR.
 * @comm: set to the receiving end; NULL: not connected yet, call again
 */
nccl_result inc_net_accept(void *listen, void **comm)
{
	struct door *door = listen;
	struct guest *g;
	int err;

	*comm = NULL;
	err = let_in(door);
	for (g = door->guest; g < door->guest + GUESTS && !*comm; g++) {
		if (!g->since || !is_rank(door, g))
			continue;
		*comm = net_new(g->fd, false);
		if (!*comm) {
			send_away(g);
			return NCCL_SYSTEM_ERROR;
		}
		g->since = 0;
	}
	if (err && !*comm)
		say_warn("accepting: %s", strerror(err));
	return err && !*comm ? NCCL_SYSTEM_ERROR : NCCL_SUCCESS;
}

/*
 * Close a connection. Returns NCCL_SUCCESS.
 * @comm: either end; NULL does nothing
 */
nccl_result inc_net_close(void *comm)
{
	struct net *n = comm;

	if (n)
		close(n->fd);
	free(n);
	return NCCL_SUCCESS;
}

static struct request *queue_request(struct net *n, void *data, size_t size,
				     int tag)
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

/* Send or receive up to @len bytes at @p; 0 if none can now, or -1. */
static ssize_t move_bytes(struct net *n, void *p, size_t len)
{
	ssize_t ret;

	do {
		if (n->sends)
			ret = send(n->fd, p, len, MSG_DONTWAIT | MSG_NOSIGNAL);
		else
			ret = recv(n->fd, p, len, MSG_DONTWAIT);
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

/* Process the oldest request as far as possible. True if it is done. */
static bool advance_request(struct net *n, struct request *r)
{
	ssize_t ret;

	if (n->sends && !n->at)
		n->hdr = (struct msg_hdr) { .size = r->size, .tag = r->tag };
	while (n->at < sizeof(n->hdr)) {
		ret = move_bytes(n, (char *)&n->hdr + n->at,
				 sizeof(n->hdr) - n->at);
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

		ret = move_bytes(n, r->data + off, n->hdr.size - off);
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

static void advance_queue(struct net *n)
{
	while (n->head != n->tail && !n->broken &&
	       advance_request(n, &n->request[n->head % NCCL_MAX_REQUESTS]))
		n->head++;
}

/*
 * Start to send a message. Returns NCCL_SUCCESS or NCCL_REMOTE_ERROR.
 * @request: set to the request; NULL: all requests are in use, try again
 */
nccl_result inc_net_isend(void *comm, const void *data, size_t size, int tag,
			  void **request)
{
	struct net *n = comm;

	*request = queue_request(n, (void *)data, size, tag);
	advance_queue(n);
	return n->broken ? NCCL_REMOTE_ERROR : NCCL_SUCCESS;
}

/*
 * Start to receive a message. Returns NCCL_SUCCESS or NCCL_REMOTE_ERROR.
 * @size: its size in bytes
 * @request: set to the request; NULL: all requests are in use, try again
 */
nccl_result inc_net_irecv(void *comm, void *data, size_t size, int tag,
			  void **request)
{
	struct net *n = comm;

	*request = queue_request(n, data, size, tag);
	return n->broken ? NCCL_REMOTE_ERROR : NCCL_SUCCESS;
}

/*
 * Check whether a request is done, and free it if so. Returns NCCL_SUCCESS or
 * NCCL_REMOTE_ERROR.
 * @done: set to 1 if so, else to 0
 * @size: NULL, or set to the bytes of the message if it is done
 */
nccl_result inc_net_test(void *request, int *done, int *size)
{
	struct request *r = request;

	*done = 0;
	if (!r->done)
		advance_queue(r->net);
	if (r->done) {
		*done = 1;
		if (size)
			*size = (int)r->size;
		r->used = false;
		return NCCL_SUCCESS;
	}
	return r->net->broken ? NCCL_REMOTE_ERROR : NCCL_SUCCESS;
}
