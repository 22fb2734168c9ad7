// SPDX-License-Identifier: GPL-2.0
/*
 * Rendezvous: the same protocol as inc-tool serve, so that unchanged programs
 * of libinc are the clients. One job at a time, in which no rank may fail: this
 * is for measurements.
 *
 *	inc-server [--dev NAME] [--port PORT]
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server.h"

#define DEFAULT_PORT	"18793"
#define STEP_MS		10000	/* for a rank to say what is expected */

/**
 * fail() - report an error
 * @what: operation that failed
 * @err: errno value
 *
 * Return: -1.
 */
int fail(const char *what, int err)
{
	fprintf(stderr, "inc-server: %s: %s\n", what, strerror(err));
	return -1;
}

static int hear(struct inc_conn *conn, struct inc_rdv_msg *msg)
{
	char err[INC_RDV_TEXT_MAX];
	int ret;

	ret = inc_conn_recv(conn, msg, inc_now_ms() + STEP_MS, err,
			    sizeof(err));
	return ret ? fail("rank", -ret) : 0;
}

static int say(struct inc_conn *conn, const struct inc_rdv_msg *msg)
{
	int ret = inc_conn_send(conn, msg, inc_now_ms() + STEP_MS);

	return ret ? fail("rank", -ret) : 0;
}

static int accept_rank(int listener, struct inc_conn *conn)
{
	struct sockaddr_storage local;
	socklen_t len = sizeof(local);

	memset(conn, 0, sizeof(*conn));
	conn->fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (conn->fd < 0)
		return fail("accept", errno);
	if (getsockname(conn->fd, (struct sockaddr *)&local, &len) ||
	    inc_rdv_addr_from_sockaddr((struct sockaddr *)&local, &conn->local))
		return fail("getsockname", errno);
	return 0;
}

static int join_one(struct job *job, int listener, const char *dev)
{
	struct inc_rdv_msg msg, answer = { .type = INC_RDV_JOINED };
	const struct inc_rdv_join *join = &msg.join;
	struct inc_conn conn;

	if (accept_rank(listener, &conn) || hear(&conn, &msg))
		return -1;
	if (msg.type != INC_RDV_JOIN)
		return fail("rank", EPROTO);
	if (!job->joined && job_open(job, join, &conn.local, dev))
		return -1;
	if (join->ranks != job->nranks || join->rank >= job->nranks ||
	    job->rank[join->rank].qp)
		return fail("rank", EINVAL);
	job->rank[join->rank].conn = conn;
	job->joined++;
	if (job_add(job, join, &answer.joined))
		return -1;
	return say(&job->rank[join->rank].conn, &answer);
}

/* Until all ranks have left. */
static int wait_end(struct job *job)
{
	const struct inc_rdv_msg bye = { .type = INC_RDV_BYE };
	struct pollfd pfd[MAX_RANKS];
	unsigned int r, left = job->nranks;
	struct inc_rdv_msg msg;

	for (r = 0; r < job->nranks; r++)
		pfd[r] = (struct pollfd){ job->rank[r].conn.fd, POLLIN, 0 };
	while (left) {
		if (poll(pfd, job->nranks, -1) < 0)
			return fail("poll", errno);
		for (r = 0; r < job->nranks; r++) {
			if (!pfd[r].revents)
				continue;
			if (hear(&job->rank[r].conn, &msg) ||
			    msg.type != INC_RDV_LEAVE ||
			    say(&job->rank[r].conn, &bye))
				return -1;
			pfd[r].fd = -1;
			left--;
		}
	}
	return 0;
}

static int run_job(struct job *job, int listener, const char *dev)
{
	const struct inc_rdv_msg ready = { .type = INC_RDV_READY };
	unsigned int r;

	do {
		if (join_one(job, listener, dev))
			return -1;
	} while (job->joined < job->nranks);
	if (data_start(job))
		return -1;
	for (r = 0; r < job->nranks; r++)
		if (say(&job->rank[r].conn, &ready))
			return -1;
	return wait_end(job);
}

static int listen_at(const char *port)
{
	struct addrinfo hints = {
		.ai_flags = AI_PASSIVE, .ai_family = AF_INET6,
		.ai_socktype = SOCK_STREAM,
	}, *ai;
	int fd, on = 1, off = 0, ret;

	ret = getaddrinfo(NULL, port, &hints, &ai);
	if (ret) {
		fprintf(stderr, "inc-server: port \"%s\": %s\n", port,
			gai_strerror(ret));
		return -1;
	}
	fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	ret = fd < 0 || bind(fd, ai->ai_addr, ai->ai_addrlen) ||
	      listen(fd, MAX_RANKS);
	freeaddrinfo(ai);
	return ret ? fail("listening", errno) : fd;
}

static int serve(int listener, const char *dev)
{
	struct job *job = calloc(1, sizeof(*job));
	unsigned int r;
	int ret;

	if (!job)
		return fail("memory", errno);
	for (r = 0; r < MAX_RANKS; r++)
		job->rank[r].conn.fd = -1;
	ret = run_job(job, listener, dev);
	data_stop(job);
	job_close(job);
	free(job);
	return ret;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "dev",	required_argument,	NULL, 'd' },
		{ "port",	required_argument,	NULL, 'p' },
		{ 0 },
	};
	const char *dev = NULL, *port = DEFAULT_PORT;
	int opt, fd;

	while ((opt = getopt_long(argc, argv, "d:p:", options, NULL)) != -1) {
		if (opt == 'd') {
			dev = optarg;
		} else if (opt == 'p') {
			port = optarg;
		} else {
			fprintf(stderr, "Usage: inc-server [--dev NAME] [--port PORT]\n");
			return 2;
		}
	}
	reduce_init();
	fd = listen_at(port);
	if (fd < 0)
		return 1;
	printf("listening on port %s\n", port);
	fflush(stdout);
	while (!serve(fd, dev))
		;
	return 1;
}
