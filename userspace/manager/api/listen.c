// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See listen.h. There may be tens of thousands of connections, of which each
 * says a few bytes in some seconds.
 */
#include <dirent.h>
#include <errno.h>
#include <grpc/compression.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/listen.h"
#include "api/message.h"
#include "auth/address.h"
#include "base/loop.h"
#include "rendezvous/keepalive.h"

/* From a connection to its first request: for TLS, and silent clients. */
#define HANDSHAKE_MS	10000
#define IDLE_MS		60000	/* how long a connection may have no call */
#define HEADERS_MAX	8192	/* bytes of a call's headers */
#define MESSAGE_MAX	65536	/* bytes that a client may send at once */
#define READ_SIZE	512	/* bytes of room for what comes next */
/* Calls of a client that obeys; api/share.c sees to the others. */
#define CALLS_MAX	1000
/* Bytes that the kernel keeps until they are read. */
#define ROOM		65536

static grpc_arg int_arg(const char *key, int value)
{
	return (grpc_arg) {
		.type = GRPC_ARG_INTEGER,
		.key = (char *)key,
		.value.integer = value,
	};
}

/**
 * listen_new() - make a server
 * @cq: queue of its completions
 *
 * Return: server.
 */
grpc_server *listen_new(grpc_completion_queue *cq)
{
	grpc_arg list[] = {
		/* See guard(). */
		int_arg(GRPC_ARG_KEEPALIVE_TIME_MS, INT_MAX),
		/* Of ranks, see AM_ASK_MS. */
		int_arg(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
			AM_ASK_MS / 2),
		int_arg(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, MESSAGE_MAX),
		int_arg(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, HANDSHAKE_MS),
		int_arg(GRPC_ARG_MAX_CONNECTION_IDLE_MS, IDLE_MS),
		int_arg(GRPC_ARG_MAX_METADATA_SIZE, HEADERS_MAX),
		int_arg(GRPC_ARG_MAX_CONCURRENT_STREAMS, CALLS_MAX),
		/* Each client sends a few bytes a second. */
		int_arg(GRPC_ARG_HTTP2_BDP_PROBE, 0),
		int_arg(GRPC_ARG_TCP_READ_CHUNK_SIZE, READ_SIZE),
		int_arg(GRPC_ARG_TCP_MIN_READ_CHUNK_SIZE, READ_SIZE),
		int_arg(GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, MESSAGE_MAX),
		int_arg(GRPC_ARG_ENABLE_CHANNELZ, 0),
		int_arg(GRPC_ARG_MAX_CHANNEL_TRACE_EVENT_MEMORY_PER_NODE, 0),
		int_arg(GRPC_ARG_TCP_TX_ZEROCOPY_MAX_SIMULT_SENDS, 0),
		/* Messages are too short for it; a client's could be bombs. */
		int_arg(GRPC_COMPRESSION_CHANNEL_ENABLED_ALGORITHMS_BITSET,
			1 << GRPC_COMPRESS_NONE),
		int_arg(GRPC_ARG_ENABLE_PER_MESSAGE_COMPRESSION, 0),
		int_arg(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0),
		/* Two managers on one port would share the clients. */
		int_arg(GRPC_ARG_ALLOW_REUSEPORT, 0),
	};
	const grpc_channel_args args = {
		.num_args = sizeof(list) / sizeof(list[0]),
		.args = list,
	};
	grpc_server *server = grpc_server_create(&args, NULL);

	grpc_server_register_completion_queue(server, cq, NULL);
	return server;
}

static bool listens_at(int fd, int port)
{
	struct sockaddr_storage addr;
	socklen_t len = sizeof(addr);
	int yes = 0;

	/* Both families have the port at the same place. */
	_Static_assert(offsetof(struct sockaddr_in, sin_port) ==
		       offsetof(struct sockaddr_in6, sin6_port), "port");
	if (getsockname(fd, (struct sockaddr *)&addr, &len) ||
	    (addr.ss_family != AF_INET && addr.ss_family != AF_INET6) ||
	    ntohs(((struct sockaddr_in *)&addr)->sin_port) != port)
		return false;
	len = sizeof(yes);
	return !getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &yes, &len) && yes;
}

/* gRPC does not tell its sockets. */
static unsigned int find_sockets(int port, int *fds, unsigned int max)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;
	unsigned int n = 0;
	int fd;

	while (dir && n < max && (entry = readdir(dir))) {
		fd = atoi(entry->d_name);
		if (listens_at(fd, port))
			fds[n++] = fd;
	}
	if (dir)
		closedir(dir);
	return n;
}

/*
 * Have the kernel find out which clients have vanished, so ranks without a tree,
 * which send no heartbeats, too. gRPC's own way, pings, sets one of its timers
 * anew for all that comes, and Debian's build compares it with others every time:
 * a tenth of the work for 32,000 clients. What a socket accepts inherits this.
 */
static void guard(int port, gate_cut_fn *cut, void *ctx)
{
	int fds[GATE_SOCKETS];
	unsigned int i, n = find_sockets(port, fds, GATE_SOCKETS);
	const int room = ROOM;

	for (i = 0; i < n; i++) {
		inc_set_keepalive(fds[i]);
		setsockopt(fds[i], SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	}
	if (!n)
		log_say("connections that vanish are noticed late, and strangers may end all jobs: /proc is needed");
	else if (gate_start(fds, n, port, cut, ctx))
		log_say("strangers may end all jobs: no thread to watch their connections");
}

/**
 * listen_at() - listen
 * @server: server, not started
 * @address: "host:port" or "[address]:port"; port 0: any
 * @creds: who may connect
 * @cut: called for each connection that was cut, by another thread
 * @ctx: its first argument
 *
 * Return: port, 0 if that address cannot be used.
 */
int listen_at(grpc_server *server, const char *address,
	      grpc_server_credentials *creds, gate_cut_fn *cut, void *ctx)
{
	int port = grpc_server_add_http2_port(server, address, creds);

	if (port)
		guard(port, cut, ctx);
	return port;
}

static int try_bind(const struct addrinfo *ai)
{
	int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
	int err = 0;

	if (fd < 0)
		return errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	/* Not to listen: clients that come back would be reset. */
	if (bind(fd, ai->ai_addr, ai->ai_addrlen))
		err = errno;
	close(fd);
	return err;
}

/**
 * listen_why() - find out why listen_at() would fail: gRPC does not tell
 * @address: as for listen_at()
 *
 * Return: reason, or NULL: it would not.
 */
const char *listen_why(const char *address)
{
	const struct addrinfo hints = {
		.ai_flags = AI_PASSIVE,
		.ai_socktype = SOCK_STREAM,
	};
	struct addrinfo *list = NULL, *ai;
	char host[256], service[8];
	int port, err;

	if (!strncmp(address, "unix:", 5) ||
	    inc_auth_address(address, host, sizeof(host), &port))
		return NULL;
	snprintf(service, sizeof(service), "%d", port);
	err = getaddrinfo(host, service, &hints, &list);
	if (err)
		return gai_strerror(err);
	/* gRPC is content with one of a name's addresses. */
	for (ai = list; ai; ai = ai->ai_next) {
		err = try_bind(ai);
		if (!err)
			break;
	}
	freeaddrinfo(list);
	switch (err) {
	case 0:
		return NULL;
	case EADDRINUSE:
		return "this address is in use: is another manager running?";
	case EADDRNOTAVAIL:
		return "no interface of this host has this address (ip address)";
	default:
		return strerror(err);
	}
}
