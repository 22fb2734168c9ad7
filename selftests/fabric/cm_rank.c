// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A rank that knows only librdmacm, libibverbs, rendezvous.rst ("RDMA CM") and
 * protocol.rst: it connects to its member by rdma_connect(), adds int32 with
 * the others, and compares.
 *
 *   cm_rank [-u | -i] ADDR PORT TREE RANK QPN RKEY COUNT ROUNDS [HOW]
 *
 * -u: over UC, else RC; -i: RC where UC has to connect. Element i of rank r is r * 1000 + i + round. HOW: "stay" waits for a signal
 * after the last round, "pause" for a line on stdin between two rounds,
 * "short" sends 3 bytes of private data, "version" another version, "tail"
 * bytes behind them, "mtu" a path MTU that is not the tree's. Ends with 3 if it
 * was rejected, 4 if a message ended with a status; both are printed.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/cm-wire.h"
#include "linux/rdma_inc_proto.h"

#define DEPTH	16
#define BUF	(4 << 20)
#define CM_MS	5000
#define AGAIN_MS	20	/* of UC */

static struct rdma_event_channel *events;
static struct rdma_cm_id *id;
static struct ibv_comp_channel *channel;
static struct ibv_cq *cq;
static struct ibv_mr *mr_hdr, *mr_send, *mr_recv;
static struct inc_hdr hdr[DEPTH];
static int32_t *sendbuf, *recvbuf;
static struct inc_cm_rep tree;
static uint32_t tree_id, rank, rkey, next_id, oldest, sends;
static struct request {
	struct ibv_send_wr	wr;
	struct ibv_sge		sge[2];
	bool			done;
} requests[DEPTH];
static bool uc, ib;

#define MUST(x)								\
	do {								\
		if (!(x)) {						\
			fprintf(stderr, "rank %u: %s\n", rank, #x);	\
			exit(1);					\
		}							\
	} while (0)

static void wait_event(enum rdma_cm_event_type want)
{
	struct rdma_cm_event *ev;

	MUST(!rdma_get_cm_event(events, &ev));
	if (ev->event == RDMA_CM_EVENT_REJECTED) {
		const struct inc_cm_rej *rej = ev->param.conn.private_data;

		if (ev->param.conn.private_data_len < sizeof(*rej) ||
		    rej->version != INC_CM_VERSION)
			printf("rejected by CM, status %d\n", ev->status);
		else
			printf("rejected %u: %.*s\n", rej->reason,
			       INC_CM_TEXT_LEN, rej->text);
		exit(3);
	}
	if (ev->event != want) {
		printf("%s instead of %s, status %d\n",
		       rdma_event_str(ev->event), rdma_event_str(want),
		       ev->status);
		exit(1);
	}
	if (want == RDMA_CM_EVENT_ESTABLISHED) {
		MUST(ev->param.conn.private_data_len >= sizeof(tree));
		memcpy(&tree, ev->param.conn.private_data, sizeof(tree));
	}
	rdma_ack_cm_event(ev);
}

/* Only rdma_create_ep() makes an ID of RDMA_PS_IB for UC; it resolves, too. */
static void resolve_ib(const char *addr, const char *port)
{
	struct rdma_addrinfo hints = {
		.ai_port_space = RDMA_PS_IB,
		.ai_qp_type = uc ? IBV_QPT_UC : IBV_QPT_RC,
	}, *ai;

	MUST((events = rdma_create_event_channel()));
	MUST(!rdma_getaddrinfo(addr, port, &hints, &ai));
	MUST(!rdma_create_ep(&id, ai, NULL, NULL));
	MUST(!rdma_migrate_id(id, events));
	rdma_freeaddrinfo(ai);
}

static void resolve(const char *addr, const char *port)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *ai;
	uint8_t timeout = 10;	/* 4 ms */

	MUST((events = rdma_create_event_channel()));
	MUST(!rdma_create_id(events, &id, NULL, RDMA_PS_TCP));
	MUST(!rdma_getaddrinfo(addr, port, &hints, &ai));
	MUST(!rdma_resolve_addr(id, NULL, ai->ai_dst_addr, CM_MS));
	rdma_freeaddrinfo(ai);
	wait_event(RDMA_CM_EVENT_ADDR_RESOLVED);
	MUST(!rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT,
			      &timeout, sizeof(timeout)));
	MUST(!rdma_resolve_route(id, CM_MS));
	wait_event(RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static void post_recv(void)
{
	struct ibv_recv_wr wr = { 0 }, *bad;

	MUST(!ibv_post_recv(id->qp, &wr, &bad));
}

static void make_qp(void)
{
	struct ibv_qp_init_attr init = {
		.qp_type = uc ? IBV_QPT_UC : IBV_QPT_RC,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = 2 * DEPTH,
			 .max_send_sge = 2, .max_recv_sge = 1 },
		.sq_sig_all = 1,
	};
	int i;

	MUST((channel = ibv_create_comp_channel(id->verbs)));
	MUST((cq = ibv_create_cq(id->verbs, 4 * DEPTH, NULL, channel, 0)));
	init.send_cq = cq;
	init.recv_cq = cq;
	MUST(!rdma_create_qp(id, NULL, &init));
	MUST((sendbuf = malloc(BUF)) && (recvbuf = malloc(BUF)));
	MUST((mr_hdr = ibv_reg_mr(id->pd, hdr, sizeof(hdr), 0)));
	MUST((mr_send = ibv_reg_mr(id->pd, sendbuf, BUF, 0)));
	MUST((mr_recv = ibv_reg_mr(id->pd, recvbuf, BUF,
				   IBV_ACCESS_LOCAL_WRITE |
				   IBV_ACCESS_REMOTE_WRITE)));
	for (i = 0; i < 2 * DEPTH; i++)
		post_recv();
}

static void connect_qp(uint32_t qpn, const char *how)
{
	struct {
		struct inc_cm_req	req;
		uint8_t			tail[8];
	} data = { .req = {
		.version = INC_CM_VERSION, .tree_id = htonl(tree_id),
		.rank = htons((uint16_t)rank), .qpn = htonl(qpn),
		.rkey = htonl(rkey),
	} };
	struct rdma_conn_param param = {
		.private_data = &data, .private_data_len = sizeof(data),
		.retry_count = 7, .rnr_retry_count = 7,
	};

	if (!strcmp(how, "short"))
		param.private_data_len = 3;
	else if (!strcmp(how, "version"))
		data.req.version = 99;
	else if (!strcmp(how, "tail"))
		data.tail[7] = 1;
	else if (!strcmp(how, "mtu"))
		data.req.pmtu = htons(4096);
	MUST(!rdma_connect(id, &param));
	wait_event(RDMA_CM_EVENT_ESTABLISHED);
	MUST(tree.version == INC_CM_VERSION);
	next_id = ntohl(tree.first_msg_id);
	oldest = next_id;
	printf("connected\n");
	fflush(stdout);
}

/* Over UC a result may come again. */
static void note_result(uint32_t imm)
{
	uint32_t ago = (imm - oldest) & INC_IMM_MSG_ID_MASK;

	if (ago < next_id - oldest)
		requests[(oldest + ago) % DEPTH].done = true;
	while (oldest != next_id && requests[oldest % DEPTH].done)
		oldest++;
}

static void poll_cq(void)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(cq, 1, &wc) == 1) {
		uint32_t status;

		if (wc.status) {
			printf("completion: %s\n",
			       ibv_wc_status_str(wc.status));
			exit(1);
		}
		if (wc.opcode != IBV_WC_RECV_RDMA_WITH_IMM) {
			sends--;
			continue;
		}
		post_recv();
		status = ntohl(wc.imm_data) >> INC_IMM_STATUS_SHIFT;
		if (status == INC_STATUS_RESEND || status == INC_STATUS_PENDING)
			continue;
		if (status && status < INC_IMM_LOWMARK) {
			/* Others have left: that concerns only what follows. */
			if (oldest == next_id)
				continue;
			printf("status %u\n", status);
			exit(4);
		}
		note_result(ntohl(wc.imm_data));
	}
}

static void send_again(void)
{
	struct ibv_send_wr *bad;
	uint32_t i;

	for (i = oldest; i != next_id && sends < DEPTH; i++) {
		if (requests[i % DEPTH].done)
			continue;
		sends++;
		MUST(!ibv_post_send(id->qp, &requests[i % DEPTH].wr, &bad));
	}
}

/* Nobody acknowledges packets over UC, nor waits until all are connected. */
static void sleep_cq(void)
{
	struct pollfd pfd = { .fd = channel->fd, .events = POLLIN };
	struct ibv_cq *from;
	void *arg;

	if (uc && !poll(&pfd, 1, AGAIN_MS)) {
		send_again();
		return;
	}
	MUST(!ibv_get_cq_event(channel, &from, &arg));
	ibv_ack_cq_events(from, 1);
}

static bool below(uint32_t n)
{
	poll_cq();
	return next_id - oldest < n && sends < n;
}

/* Sleep until fewer than @n messages are in flight. */
static void wait_below(uint32_t n)
{
	while (!below(n)) {
		MUST(!ibv_req_notify_cq(cq, 0));
		if (below(n))
			return;
		sleep_cq();
	}
}

/* @to: not that of another message, for a result may come again. */
static void allreduce(int32_t *to, size_t from, size_t n)
{
	uint32_t slots = ntohs(tree.slots), msg_id;
	struct ibv_send_wr *bad;
	struct request *r;

	wait_below(slots < DEPTH ? slots : DEPTH);
	msg_id = next_id++;
	hdr[msg_id % DEPTH] = (struct inc_hdr){
		.version = INC_VERSION, .collective = INC_COLL_ALLREDUCE,
		.dtype = INC_DTYPE_INT32, .op = INC_OP_SUM,
		.tree_id = htonl(tree_id), .msg_id = htonl(msg_id),
		.nelem = htonl((uint32_t)n),
		.result_rkey = htonl(mr_recv->rkey),
		.result_va = htobe64((uintptr_t)(to + from)),
	};
	r = &requests[msg_id % DEPTH];
	r->done = false;
	r->sge[0] = (struct ibv_sge){ (uintptr_t)&hdr[msg_id % DEPTH],
				      INC_HDR_LEN, mr_hdr->lkey };
	r->sge[1] = (struct ibv_sge){ (uintptr_t)(sendbuf + from),
				      (uint32_t)n * 4, mr_send->lkey };
	r->wr = (struct ibv_send_wr){
		.sg_list = r->sge, .num_sge = 2,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.imm_data = htonl(msg_id & INC_IMM_MSG_ID_MASK),
		.wr.rdma = {
			.remote_addr = (uint64_t)(msg_id % slots) *
				       ntohl(tree.msg_size),
			.rkey = rkey },
	};
	sends++;
	MUST(!ibv_post_send(id->qp, &r->wr, &bad));
}

static void do_round(size_t count, uint32_t round)
{
	size_t i, part = (ntohl(tree.msg_size) - INC_HDR_LEN) / 4;
	uint32_t n = ntohs(tree.ranks), want;
	int32_t *to = recvbuf + round * count;

	for (i = 0; i < count; i++)
		sendbuf[i] = (int32_t)(rank * 1000 + i + round);
	for (i = 0; i < count; i += part)
		allreduce(to, i, count - i < part ? count - i : part);
	wait_below(1);
	for (i = 0; i < count; i++) {
		want = 1000 * n * (n - 1) / 2 + n * ((uint32_t)i + round);
		if (to[i] != (int32_t)want) {
			printf("element %zu is %d, must be %u\n", i,
			       to[i], want);
			exit(1);
		}
	}
}

int main(int argc, char **argv)
{
	uint32_t round, rounds;
	const char *how;
	size_t count;
	char line[8];

	uc = argc > 1 && !strcmp(argv[1], "-u");
	ib = uc || (argc > 1 && !strcmp(argv[1], "-i"));
	argc -= ib;
	argv += ib;
	if (argc < 9)
		return 2;
	how = argc > 9 ? argv[9] : "";
	tree_id = (uint32_t)strtoul(argv[3], NULL, 0);
	rank = (uint32_t)strtoul(argv[4], NULL, 0);
	rkey = (uint32_t)strtoul(argv[6], NULL, 0);
	count = strtoul(argv[7], NULL, 0);
	rounds = (uint32_t)strtoul(argv[8], NULL, 0);
	MUST(count * 4 * (rounds ? rounds : 1) <= BUF);
	(ib ? resolve_ib : resolve)(argv[1], argv[2]);
	make_qp();
	connect_qp((uint32_t)strtoul(argv[5], NULL, 0), how);
	for (round = 0; round < rounds; round++) {
		if (round && !strcmp(how, "pause"))
			MUST(fgets(line, sizeof(line), stdin));
		do_round(count, round);
		printf("round %u is right\n", round);
		fflush(stdout);
	}
	if (!strcmp(how, "stay"))
		pause();
	MUST(!rdma_disconnect(id));
	wait_event(RDMA_CM_EVENT_DISCONNECTED);
	rdma_destroy_qp(id);
	rdma_destroy_id(id);
	return 0;
}
