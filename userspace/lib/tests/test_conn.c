// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Connecting to a server with several addresses, some of which do not answer, and
 * by a name that takes long. The resolver is the test's. A port whose backlog is full drops all packets.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/conn.h"
#include "test.h"

#define ADDRS	4
#define SLOW_MS	600	/* that a name takes */

static struct addrinfo list[ADDRS];
static struct sockaddr_in to[ADDRS];
static int fillers[8];
static _Atomic int asked;
static char said[256];

int getaddrinfo(const char *node, const char *service,
		const struct addrinfo *hints, struct addrinfo **res)
{
	(void)service;
	if (hints->ai_flags & AI_NUMERICHOST && !strcmp(node, "slow"))
		return EAI_NONAME;
	if (!strcmp(node, "slow")) {
		asked++;
		usleep(SLOW_MS * 1000);
	}
	*res = list;
	return 0;
}

void freeaddrinfo(struct addrinfo *ai)
{
	(void)ai;
}

static int open_port(unsigned int i, int backlog)
{
	socklen_t len = sizeof(to[i]);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	to[i] = (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	OK(!bind(fd, (struct sockaddr *)&to[i], sizeof(to[i])));
	OK(!getsockname(fd, (struct sockaddr *)&to[i], &len));
	if (backlog >= 0)
		OK(!listen(fd, backlog));
	list[i] = (struct addrinfo) {
		.ai_family = AF_INET, .ai_addr = (struct sockaddr *)&to[i],
		.ai_addrlen = sizeof(to[i]),
	};
	if (i)
		list[i - 1].ai_next = &list[i];
	return fd;
}

/* Fill the backlog of a listening socket, so that it answers no more. */
static void fill(unsigned int i)
{
	unsigned int k;

	for (k = 0; k < 8; k++) {
		fillers[k] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		(void)!connect(fillers[k], (struct sockaddr *)&to[i],
			       sizeof(to[i]));
	}
	usleep(20000);
}

static int try_name(const char *name, int ms, int64_t *took)
{
	int64_t now = inc_now_ms();
	struct inc_conn conn;
	int ret;

	ret = inc_conn_open(&conn, name, now + ms, said, sizeof(said));
	*took = inc_now_ms() - now;
	if (!ret) {
		EQ(conn.local.len, 4);
		inc_conn_close(&conn);
	}
	return ret;
}

static int try(int ms, int64_t *took)
{
	return try_name("server", ms, took);
}

static void unanswered(void)
{
	int fd[3], i;
	int64_t took;

	fd[0] = open_port(0, 0);
	fill(0);
	EQ(try(1000, &took), -ETIMEDOUT);
	OK(took >= 990);
	/* The second address refuses, the third accepts. */
	fd[1] = open_port(1, -1);
	fd[2] = open_port(2, 5);
	EQ(try(5000, &took), 0);
	OK(took >= 200 && took < 2000);
	for (i = 0; i < 8; i++)
		close(fillers[i]);
	for (i = 0; i < 3; i++)
		close(fd[i]);
	memset(list, 0, sizeof(list));
}

static void refused(void)
{
	int fd = open_port(0, -1);
	int64_t took;

	EQ(try(300, &took), -ECONNREFUSED);
	OK(took >= 250 && took < 3000);
	listen(fd, 5);
	EQ(try(300, &took), 0);
	close(fd);
	memset(list, 0, sizeof(list));
}

/* Who has no time does not wait; the answer is there for who comes later. */
static void slow_name(void)
{
	int fd = open_port(0, 5);
	int64_t took;

	EQ(try_name("slow", 200, &took), -EHOSTUNREACH);
	OK(took >= 190 && took < SLOW_MS);
	OK(strstr(said, "\"slow\": no name server has answered"));
	EQ(try_name("slow", 5000, &took), 0);
	OK(took < SLOW_MS);
	EQ(asked, 1);
	/* It was used. */
	EQ(try_name("slow", 5000, &took), 0);
	OK(took >= SLOW_MS - 10);
	EQ(asked, 2);
	close(fd);
	memset(list, 0, sizeof(list));
}

static const struct test_case cases[] = {
	{ "conn: an address that does not answer", unanswered },
	{ "conn: a daemon that is not there yet", refused },
	{ "conn: a name that takes long", slow_name },
};

TEST_MAIN(cases)
