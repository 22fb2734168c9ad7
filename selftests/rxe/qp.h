/* SPDX-License-Identifier: GPL-2.0 */
/* One end of a connection over rxe: what write.c and two.c have in common. */
#ifndef QP_H
#define QP_H

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <infiniband/verbs.h>

#define CHECK(x) do {							\
	if (!(x)) {							\
		fprintf(stderr, "%s:%d: %s failed\n", __FILE__, __LINE__, #x); \
		exit(2);						\
	}								\
} while (0)

struct end {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_qp *qp;
	char *buf;
};

static inline double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Open device @name, with @len bytes of memory. */
static inline void end_open(struct end *e, const char *name, size_t len)
{
	struct ibv_device **list = ibv_get_device_list(NULL), *dev = NULL;

	CHECK(list);
	for (int i = 0; list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			dev = list[i];
	CHECK(dev);
	CHECK(e->ctx = ibv_open_device(dev));
	CHECK(e->pd = ibv_alloc_pd(e->ctx));
	CHECK(e->cq = ibv_create_cq(e->ctx, 512, NULL, NULL, 0));
	CHECK(e->buf = calloc(1, len));
	CHECK(e->mr = ibv_reg_mr(e->pd, e->buf, len, IBV_ACCESS_LOCAL_WRITE));
}

static inline void end_qp(struct end *e)
{
	struct ibv_qp_init_attr init = {
		.send_cq = e->cq, .recv_cq = e->cq, .qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.cap = {
			.max_send_wr = 64, .max_recv_wr = 64,
			.max_send_sge = 1, .max_recv_sge = 1,
		},
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
	};

	CHECK(e->qp = ibv_create_qp(e->pd, &init));
	CHECK(!ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			     IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
}

/* Both directions begin with PSN 0; @timeout is the exponent of IBTA. */
static inline void end_connect(struct end *e, int gid, const char *peer,
			       unsigned int qpn, int timeout)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024,
		.dest_qp_num = qpn, .max_dest_rd_atomic = 1,
		.min_rnr_timer = 14,
		.ah_attr = {
			.is_global = 1, .port_num = 1,
			.grh = { .sgid_index = gid, .hop_limit = 64 },
		},
	};
	unsigned char *raw = attr.ah_attr.grh.dgid.raw;

	raw[10] = 0xff;
	raw[11] = 0xff;
	CHECK(inet_pton(AF_INET, peer, raw + 12) == 1);
	CHECK(!ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_AV |
			     IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			     IBV_QP_MIN_RNR_TIMER));
	attr = (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTS, .timeout = timeout, .retry_cnt = 7,
		.rnr_retry = 7, .max_rd_atomic = 1,
	};
	CHECK(!ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN |
			     IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			     IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC));
}

/* One completion; sleep a little if there is none. */
static inline int end_poll(struct end *e, struct ibv_wc *wc)
{
	static const struct timespec pause = { .tv_nsec = 200000 };

	if (ibv_poll_cq(e->cq, 1, wc) == 1)
		return 1;
	nanosleep(&pause, NULL);
	return 0;
}

#endif
