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

#include "http2/reach.h"
#include "daemon/conn.h"
#include "test.h"

#define ADDRS	20
#define SLOW_MS	400	/* that a name takes */
#define HALF_MS	4000	/* that half of one takes; the machine may stand still */

static struct addrinfo list[ADDRS], one[ADDRS];
static struct sockaddr_in to[ADDRS];
static int fillers[8];
static _Atomic int asked;
static char said[256];
static struct inc_reach *servers;
static struct inc_reach_sockets seen;

int getaddrinfo(const char *node, const char *service,
		const struct addrinfo *hints, struct addrinfo **res)
{
	unsigned int i;

	(void)service;
	if (hints->ai_flags & AI_NUMERICHOST &&
	    (!strcmp(node, "slow") || !strcmp(node, "half")))
		return EAI_NONAME;
	/* Nothing is heard of its other addresses. */
	if (!strcmp(node, "half") && hints->ai_family != AF_INET) {
		usleep(HALF_MS * 1000);
		return EAI_AGAIN;
	}
	if (!strcmp(node, "slow")) {
		asked++;
		usleep(SLOW_MS * 1000);
	}
	/* "a0" is the first address alone. */
	for (i = 0; i < ADDRS; i++) {
		one[i] = list[i];
		one[i].ai_next = NULL;
	}
	*res = *node == 'a' && !node[2] ? &one[node[1] - '0'] : list;
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
	struct inc_reach *r = inc_reach_new("", atoi(INC_RDV_PORT), true);
	int ret = -ENOMEM;

	if (inc_reach_add(r, name))
		ret = inc_conn_reach(&conn, r, false, now + ms, said, sizeof(said));
	*took = inc_now_ms() - now;
	inc_reach_free(r);
	if (ret < 0)
		return ret;
	EQ(conn.local.len, 4);
	close(ret);
	return 0;
}

static int try(int ms, int64_t *took)
{
	return try_name("server", ms, took);
}

/*
 * The least that three tries take; one below @limit will do: what else the machine
 * does may only make it look slower.
 */
static int64_t best(int ms, int64_t limit, int want)
{
	int64_t took, least = INT64_MAX;
	int i;

	for (i = 0; i < 3 && least >= limit; i++) {
		EQ(try(ms, &took), want);
		if (took < least)
			least = took;
	}
	return least;
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
	took = best(5000, 2000, 0);
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

	took = best(300, 3000, -ECONNREFUSED);
	OK(took >= 250 && took < 3000);
	listen(fd, 5);
	EQ(try(300, &took), 0);
	close(fd);
	memset(list, 0, sizeof(list));
}

/* Who has no time does not wait; the answer is there for who comes later. */
static bool slow_once(void)
{
	int64_t took, later;
	int ret;

	asked = 0;
	ret = try_name("slow", 200, &took);
	if (took >= SLOW_MS) {
		/* The answer is there, perhaps: nobody else is to have it. */
		(void)try_name("slow", 5000, &later);
		return false;
	}
	EQ(ret, -EHOSTUNREACH);
	OK(took >= 190);
	OK(strstr(said, "at slow, port 18791: no name server has answered"));
	EQ(try_name("slow", 5000, &took), 0);
	if (took >= SLOW_MS)
		return false;
	EQ(asked, 1);
	/* It was used. */
	EQ(try_name("slow", 5000, &took), 0);
	OK(took >= SLOW_MS - 10);
	EQ(asked, 2);
	return true;
}

static void slow_name(void)
{
	int fd = open_port(0, 5);

	OK(slow_once() || slow_once() || slow_once());
	close(fd);
	memset(list, 0, sizeof(list));
}

static int64_t seen_from(int64_t began, int *fd)
{
	int64_t took;

	*fd = inc_reach_next(servers, 1500, &seen);
	took = inc_now_ms() - began;
	return took;
}

/* One that hangs, one that refuses, and one that is there. */
static void several(void)
{
	int64_t now, took = INT64_MAX;
	int fd[3], got = -1, i;

	fd[0] = open_port(0, 0);
	fill(0);
	fd[1] = open_port(1, -1);
	fd[2] = open_port(2, 5);
	/* As in best(). */
	for (i = 0; i < 3 && took >= 1000; i++) {
		if (i) {
			close(got);
			inc_reach_free(servers);
		}
		servers = inc_reach_new("a0 ,, a1,\ta2, unix:/none,a:99999 ,",
					1, true);
		EQ(inc_reach_count(servers), 5);
		EQ(inc_reach_left(servers), 3);
		now = inc_now_ms();
		took = seen_from(now, &got);
	}
	OK(took < 1000 && got >= 0);
	EQ(inc_reach_which(servers), 2);
	/* Only its socket is open. */
	EQ(seen.fd[1], got);
	for (i = 0; i < INC_REACH_SEEN; i++)
		OK(i == 1 || seen.fd[i] < 0);
	close(got);
	/* The others are left: one of them had refused. */
	EQ(inc_reach_left(servers), 1);
	now = inc_now_ms();
	OK(seen_from(now, &got) >= 1490 && got < 0);
	EQ(inc_reach_error(servers, 0), -ETIMEDOUT);
	EQ(inc_reach_error(servers, 1), -ECONNREFUSED);
	EQ(inc_reach_error(servers, 2), 0);
	inc_reach_why(servers, "x", said, sizeof(said));
	OK(strstr(said, "at a0, port 1: the host does not answer"));
	OK(strstr(said, "; at a1, port 1: the connection is refused: is x "));
	OK(strstr(said, "; and 2 more"));
	inc_reach_why(servers, "x", said, 60);
	OK(strlen(said) < 60);
	inc_reach_free(servers);
	for (i = 0; i < 8; i++)
		close(fillers[i]);
	for (i = 0; i < 3; i++)
		close(fd[i]);
	memset(list, 0, sizeof(list));
}

/* More addresses that do not answer than connections at a time. */
static void many(void)
{
	int fd = open_port(0, 0), good;
	int64_t took;
	int i;

	fill(0);
	for (i = 1; i < ADDRS - 1; i++) {
		list[i] = list[0];
		list[i].ai_next = NULL;
		list[i - 1].ai_next = &list[i];
	}
	took = best(1000, 2000, -ETIMEDOUT);
	OK(took >= 990 && took < 2000);
	good = open_port(ADDRS - 1, 5);
	took = best(10000, 8000, 0);
	OK(took >= 4500 && took < 8000);
	for (i = 0; i < 8; i++)
		close(fillers[i]);
	close(good);
	close(fd);
	memset(list, 0, sizeof(list));
}

/* A name of which one family is told at once, and the other one never. */
static void half_name(void)
{
	int fd = open_port(0, 5);
	int64_t took;

	EQ(try_name("half", 2 * HALF_MS, &took), 0);
	OK(took < HALF_MS - 500);
	close(fd);
	memset(list, 0, sizeof(list));
	usleep(HALF_MS * 1000);
}

static const struct test_case cases[] = {
	{ "conn: an address that does not answer", unanswered },
	{ "conn: a daemon that is not there yet", refused },
	{ "conn: a name that takes long", slow_name },
	{ "conn: a name of which half is told", half_name },
	{ "conn: several servers", several },
	{ "conn: more addresses than connections", many },
};

TEST_MAIN(cases)
