// SPDX-License-Identifier: GPL-2.0
/*
 * Rendezvous: the same protocol as inc-tool serve, by the same gRPC server, so that
 * unchanged programs of libinc are the clients. One job at a time, in which no rank
 * may fail: this is for measurements.
 *
 *	inc-server [--dev NAME] [--port PORT]
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "loop/index.h"
#include "loop/loop.h"
#include "rpc/message.h"
#include "rpc/rpc.h"
#include "server.h"

#define DEFAULT_PORT	"18793"

static const char *dev;
static struct job job;

static void say(struct rank *rank, const struct inc_rdv_msg *rdv)
{
	const struct am_message msg = { .rdv = *rdv };
	uint8_t *data;
	size_t len;

	if (am_manager_pack(&msg, &data, &len))
		exit(1);
	rpc_stream_send(rank->stream, data, len);
	free(data);
}

static int join_one(struct rpc_stream *stream, const struct inc_rdv_join *join)
{
	struct inc_rdv_msg answer = { .type = INC_RDV_JOINED };
	struct sockaddr_storage local;
	socklen_t len = sizeof(local);
	struct inc_rdv_addr addr;
	struct rank *rank;

	if (getsockname(rpc_stream_fd(stream), (struct sockaddr *)&local, &len) ||
	    inc_rdv_addr_from_sockaddr((struct sockaddr *)&local, &addr))
		return fail("getsockname", errno);
	if (!job.joined && job_open(&job, join, &addr, dev))
		return -1;
	if (join->ranks != job.nranks || job.rank[join->rank].qp)
		return fail("rank", EINVAL);
	rank = &job.rank[join->rank];
	rank->stream = stream;
	rpc_stream_set(stream, rank);
	job.joined++;
	if (job_add(&job, join, &answer.joined))
		return -1;
	say(rank, &answer);
	return 0;
}

static int begin(void)
{
	unsigned int r;

	if (++job.ready < job.nranks)
		return 0;
	if (data_start(&job))
		return -1;
	for (r = 0; r < job.nranks; r++)
		say(&job.rank[r],
		    &(struct inc_rdv_msg){ .type = INC_RDV_READY });
	return 0;
}

/* The last one ends the job. */
static void leave(struct rank *rank)
{
	say(rank, &(struct inc_rdv_msg){ .type = INC_RDV_BYE });
	rpc_stream_end(rank->stream, 0, "");
	if (++job.left < job.nranks)
		return;
	data_stop(&job);
	job_close(&job);
	memset(&job, 0, sizeof(job));
}

static void on_message(void *ctx, struct rpc_stream *stream,
		       const uint8_t *data, size_t len)
{
	struct am_message msg = { .heartbeat = false };
	char err[INC_RDV_TEXT_MAX];

	if (am_rank_unpack(data, len, &msg, err, sizeof(err))) {
		fprintf(stderr, "inc-server: %s\n", err);
		exit(1);
	}
	if (msg.rdv.type == INC_RDV_LEAVE)
		leave(rpc_stream_get(stream));
	else if (msg.rdv.type == INC_RDV_RTS ? begin() :
		 msg.rdv.type != INC_RDV_JOIN ? fail("rank", EPROTO) :
		 join_one(stream, &msg.rdv.join))
		exit(1);
}

static void on_opened(void *ctx, struct rpc_stream *stream)
{
}

static void on_closed(void *ctx, struct rpc_stream *stream)
{
	fail("rank", ECONNRESET);
	exit(1);
}

static void on_identified(void *ctx, const struct identity *who)
{
}

static void on_refused(void *ctx, const char *peer, const char *why)
{
	fprintf(stderr, "inc-server: %s: %s\n", peer, why);
}

static const struct rpc_handler handler = {
	.opened		= on_opened,
	.is_beat	= am_rank_is_beat,
	.message	= on_message,
	.closed		= on_closed,
	.identified	= on_identified,
	.refused	= on_refused,
	.cut		= on_refused,
};

static int serve(const char *port)
{
	static const struct rpc_security open_to_all = {
		.self = "server", .env = "INC_SERVER",
	};
	char address[32], err[640];
	struct loop loop;
	int real;

	snprintf(address, sizeof(address), "0.0.0.0:%s", port);
	if (loop_init(&loop) || index_key())
		return fail("starting", errno);
	if (!rpc_start(&loop, address, &open_to_all, &handler, NULL, &real, err,
		       sizeof(err))) {
		fprintf(stderr, "inc-server: %s\n", err);
		return -1;
	}
	printf("listening on port %d\n", real);
	fflush(stdout);
	for (;;)
		loop_turn(&loop, INT64_MAX);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "dev",	required_argument,	NULL, 'd' },
		{ "port",	required_argument,	NULL, 'p' },
		{ 0 },
	};
	const char *port = DEFAULT_PORT;
	int opt;

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
	return serve(port) ? 1 : 0;
}
