// SPDX-License-Identifier: GPL-2.0
/*
 * write DEV GID-INDEX PEER-IPV4 PEER-QPN BYTES MESSAGES
 *
 * Posts RDMA WRITEs with Immediate on one RC QP to a responder that need not
 * exist, and prints the QP's number, and each completion. Exit status 0 if all
 * messages were completed.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "qp.h"

#define TIMEOUT	17	/* 0.5 s */
#define PATIENCE 9.0	/* s; the machine may stand still */

static void post(struct end *e, int i, size_t len)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)e->buf, .length = len, .lkey = e->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = i, .sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .imm_data = htonl(i),
		.wr.rdma = { .remote_addr = 0x10000 * (i + 1), .rkey = 1 },
	}, *bad;

	CHECK(!ibv_post_send(e->qp, &wr, &bad));
}

int main(int argc, char **argv)
{
	double start = seconds();
	struct end e = { 0 };
	int n, got = 0, ok = 0;
	struct ibv_wc wc;
	size_t len;

	CHECK(argc == 7);
	len = atol(argv[5]);
	n = atoi(argv[6]);
	end_open(&e, argv[1], len);
	end_qp(&e);
	end_connect(&e, atoi(argv[2]), argv[3], atoi(argv[4]), TIMEOUT);
	printf("QPN %u\n", e.qp->qp_num);
	fflush(stdout);
	for (int i = 0; i < n; i++)
		post(&e, i, len);
	while (got < n && seconds() - start < PATIENCE) {
		if (!end_poll(&e, &wc))
			continue;
		got++;
		ok += wc.status == IBV_WC_SUCCESS;
		printf("%.3f message %d: %s\n", seconds() - start,
		       (int)wc.wr_id, ibv_wc_status_str(wc.status));
	}
	printf("%.3f end: %d of %d messages completed\n", seconds() - start, ok,
	       n);
	return ok != n;
}
