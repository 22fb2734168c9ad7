// SPDX-License-Identifier: GPL-2.0
/*
 * two DEV-A GID-A IPV4-A DEV-B GID-B IPV4-B TIMEOUT SECONDS
 *
 * SENDs of 20 packets with Immediate from one rxe to another, one connection
 * after the other. Counts what an RC QP must never do: a message delivered
 * twice, skipped or changed, a QP in error, or none of it and no progress.
 */
#include "qp.h"

#define LEN	20000
#define BUFFERS	8
#define DEPTH	6	/* messages in flight */
#define RECVS	4
#define TOTAL	400	/* messages of a connection */
#define HANG	4.0	/* s */

static struct end a, b;
static long messages, twice, skipped, wrong, errors, hangs;

static char *buffer(struct end *e, int i)
{
	return e->buf + i % BUFFERS * LEN;
}

static void post_recv(int i)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)buffer(&b, i), .length = LEN,
		.lkey = b.mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = i, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;

	CHECK(!ibv_post_recv(b.qp, &wr, &bad));
}

static void post_send(int i)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)buffer(&a, i), .length = LEN,
		.lkey = a.mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = i, .sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_SEND_WITH_IMM, .imm_data = htonl(i),
	}, *bad;

	memset(buffer(&a, i), i, LEN);
	CHECK(!ibv_post_send(a.qp, &wr, &bad));
}

/* A message that was received: true if it is the expected one, unchanged. */
static int is_right(const struct ibv_wc *wc, int expected)
{
	const char *data = buffer(&b, wc->wr_id);
	int i = ntohl(wc->imm_data);

	messages++;
	if (i < expected)
		twice++;
	else if (i > expected)
		skipped++;
	else if (wc->byte_len != LEN || data[0] != (char)i ||
		 data[LEN - 1] != (char)i)
		wrong++;
	else
		return 1;
	return 0;
}

/* One connection, until all is sent, something is wrong, or time is over. */
static void converse(double stop)
{
	int posted = 0, done = 0, received = 0, recvs = 0;
	double last = seconds();
	struct ibv_wc wc;

	while (recvs < RECVS)
		post_recv(recvs++);
	while (done < TOTAL && seconds() < stop) {
		while (posted < TOTAL && posted - done < DEPTH)
			post_send(posted++);
		if (ibv_poll_cq(b.cq, 1, &wc) == 1) {
			last = seconds();
			errors += wc.status != 0;
			if (wc.status || !is_right(&wc, received))
				return;
			received++;
			post_recv(recvs++);
		}
		if (end_poll(&a, &wc)) {
			last = seconds();
			errors += wc.status != 0;
			if (wc.status)
				return;
			done++;
		}
		if (seconds() - last > HANG) {
			hangs++;
			return;
		}
	}
}

int main(int argc, char **argv)
{
	unsigned int connections = 0;
	struct ibv_wc wc;
	double stop;
	int timeout;

	CHECK(argc == 9);
	timeout = atoi(argv[7]);
	end_open(&a, argv[1], BUFFERS * LEN);
	end_open(&b, argv[4], BUFFERS * LEN);
	stop = seconds() + atof(argv[8]);
	for (; seconds() < stop; connections++) {
		end_qp(&a);
		end_qp(&b);
		end_connect(&a, atoi(argv[2]), argv[6], b.qp->qp_num, timeout);
		end_connect(&b, atoi(argv[5]), argv[3], a.qp->qp_num, timeout);
		converse(stop);
		ibv_destroy_qp(a.qp);
		ibv_destroy_qp(b.qp);
		while (ibv_poll_cq(a.cq, 1, &wc) == 1 ||
		       ibv_poll_cq(b.cq, 1, &wc) == 1)
			;
	}
	printf("%u connections, %ld messages, %ld twice, %ld skipped, ",
	       connections, messages, twice, skipped);
	printf("%ld wrong, %ld errors, %ld hangs\n", wrong, errors, hangs);
	return twice || skipped || wrong || errors || hangs;
}
