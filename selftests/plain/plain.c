// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A client that uses nothing of libinc: written from protocol.rst,
 * rendezvous.rst and mapping.rst with libibverbs alone, over RC. It takes part
 * in a job whose other ranks use libinc, and checks its results:
 *
 *   plain DEVICE GID-INDEX ADDR SERVER PORT JOB RANK RANKS wait|free OP...
 *
 * OP is COLLECTIVE:COUNT[:ROOT], elements are int32; rank r's element i is r *
 * 1000 + i. With "wait" it also waits for the acknowledgment of each request.
 * Prints "time COLLECTIVE COUNT MICROSECONDS" for each OP.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "linux/rdma_inc_proto.h"

#define ESIZE	4
#define DEPTH	64		/* messages in flight */
#define BUF	(16 << 20)

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq *scq, *rcq;
static struct ibv_comp_channel *channel;
static struct ibv_qp *qp;
static struct ibv_mr *mr_hdr, *mr_send, *mr_recv;
static struct inc_hdr *hdr;
static char *sendbuf, *recvbuf;
static uint32_t rank, ranks, tree_id, rkey, slots, msg_size, pmtu, next_id,
	sw_qpn, sw_psn;
static char sw_addr[64];
static bool acked;
static uint32_t in_flight, sends;

static void die(const char *what)
{
	fprintf(stderr, "plain: rank %u: %s\n", rank, what);
	exit(1);
}

#define MUST(x) do { if (!(x)) die(#x); } while (0)

/* --- rendezvous.rst ----------------------------------------------------- */

static FILE *daemon_in, *daemon_out;

static char *daemon_line(const char *event)
{
	static char line[2049];
	char want[64];

	snprintf(want, sizeof(want), "\"%s\"", event);
	do {
		MUST(fgets(line, sizeof(line), daemon_in));
		if (strstr(line, "\"error\"") || strstr(line, "\"failed\""))
			die(line);
	} while (!strstr(line, want));
	return line;
}

static uint32_t number(const char *line, const char *key)
{
	char want[64];
	const char *at;

	snprintf(want, sizeof(want), "\"%s\":", key);
	at = strstr(line, want);
	MUST(at);
	return (uint32_t)strtoul(at + strlen(want), NULL, 10);
}

/* gRPC's libraries for C are no friends of short tests: a program speaks it. */
static void join(const char *addr, const char *server, const char *port,
		 const char *job, uint32_t psn)
{
	char where[80], numbers[4][12];
	const char *line;
	int in[2], out[2];

	snprintf(where, sizeof(where), "%s:%s", server, port);
	snprintf(numbers[0], sizeof(numbers[0]), "%u", rank);
	snprintf(numbers[1], sizeof(numbers[1]), "%u", ranks);
	snprintf(numbers[2], sizeof(numbers[2]), "%u", qp->qp_num);
	snprintf(numbers[3], sizeof(numbers[3]), "%u", psn);
	MUST(getenv("RENDEZVOUS") && !pipe(in) && !pipe(out));
	if (!fork()) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[1]);
		close(out[0]);
		execl(getenv("RENDEZVOUS"), "rendezvous.py", where, job,
		      numbers[0], numbers[1], addr, numbers[2], numbers[3],
		      NULL);
		_exit(1);
	}
	close(in[0]);
	close(out[1]);
	daemon_in = fdopen(out[0], "r");
	daemon_out = fdopen(in[1], "w");
	line = daemon_line("joined");
	tree_id = number(line, "tree_id");
	sw_qpn = number(line, "qpn");
	sw_psn = number(line, "psn");
	rkey = number(line, "rkey");
	slots = number(line, "slots");
	msg_size = number(line, "msg_size");
	pmtu = number(line, "pmtu");
	next_id = number(line, "first_msg_id");
	MUST(sscanf(strstr(line, "\"addr\""), "\"addr\":\"%63[^\"]\"",
		    sw_addr) == 1);
}

/* --- protocol.rst: the queue pair --------------------------------------- */

static void open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = 2 * DEPTH,
			 .max_send_sge = 2, .max_recv_sge = 1 },
		.sq_sig_all = 1,
	};

	MUST(list);
	for (; *list && strcmp(ibv_get_device_name(*list), name); list++)
		;
	MUST(*list);
	MUST((ctx = ibv_open_device(*list)));
	MUST((pd = ibv_alloc_pd(ctx)));
	MUST((channel = ibv_create_comp_channel(ctx)));
	MUST((scq = ibv_create_cq(ctx, DEPTH, NULL, channel, 0)));
	MUST((rcq = ibv_create_cq(ctx, 2 * DEPTH, NULL, channel, 0)));
	init.send_cq = scq;
	init.recv_cq = rcq;
	MUST((qp = ibv_create_qp(pd, &init)));
	MUST((hdr = calloc(DEPTH, sizeof(*hdr))));
	MUST((sendbuf = malloc(BUF)) && (recvbuf = malloc(BUF)));
	MUST((mr_hdr = ibv_reg_mr(pd, hdr, DEPTH * sizeof(*hdr), 0)));
	MUST((mr_send = ibv_reg_mr(pd, sendbuf, BUF, 0)));
	MUST((mr_recv = ibv_reg_mr(pd, recvbuf, BUF, IBV_ACCESS_LOCAL_WRITE |
				   IBV_ACCESS_REMOTE_WRITE)));
}

static void post_recv(void)
{
	struct ibv_recv_wr wr = { 0 }, *bad;

	MUST(!ibv_post_recv(qp, &wr, &bad));
}

static void connect_qp(uint8_t gid_index, uint32_t psn)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	struct in_addr v4;
	int i;

	MUST(!ibv_modify_qp(qp, &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				    IBV_QP_ACCESS_FLAGS));
	for (i = 0; i < 2 * DEPTH; i++)
		post_recv();
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.dest_qp_num = sw_qpn,
		.rq_psn = sw_psn,
		.min_rnr_timer = 1,
		.ah_attr = { .is_global = 1,
			     .port_num = 1,
			     .grh = { .sgid_index = gid_index,
				      .hop_limit = 64 } },
	};
	while ((128U << attr.path_mtu) < pmtu)
		attr.path_mtu++;
	MUST(inet_pton(AF_INET, sw_addr, &v4) == 1);
	attr.ah_attr.grh.dgid.raw[10] = 0xff;
	attr.ah_attr.grh.dgid.raw[11] = 0xff;
	memcpy(attr.ah_attr.grh.dgid.raw + 12, &v4, 4);
	MUST(!ibv_modify_qp(qp, &attr,
			    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
				    IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				    IBV_QP_MIN_RNR_TIMER |
				    IBV_QP_MAX_DEST_RD_ATOMIC));
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS,
		.sq_psn = psn,
		.timeout = 18,
		.retry_cnt = 7,
		.rnr_retry = 7,
	};
	MUST(!ibv_modify_qp(qp, &attr,
			    IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
				    IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				    IBV_QP_MAX_QP_RD_ATOMIC));
}

/* --- protocol.rst: messages --------------------------------------------- */

static void poll_cqs(void)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(scq, 1, &wc) == 1) {
		if (wc.status)
			die(ibv_wc_status_str(wc.status));
		sends--;
	}
	while (ibv_poll_cq(rcq, 1, &wc) == 1) {
		uint32_t imm = ntohl(wc.imm_data),
			 status = imm >> INC_IMM_STATUS_SHIFT;

		if (wc.status)
			die(ibv_wc_status_str(wc.status));
		if (status && status < INC_IMM_LOWMARK) {
			fprintf(stderr,
				"plain: message %u ended with status %u\n",
				imm & INC_IMM_MSG_ID_MASK, status);
			exit(1);
		}
		in_flight--;
		post_recv();
	}
}

/* Sleep until something completes: there may be one CPU for all. */
static void wait_below(uint32_t messages, uint32_t requests)
{
	struct ibv_cq *cq;
	void *arg;

	for (;;) {
		poll_cqs();
		if (in_flight < messages && sends < requests)
			return;
		MUST(!ibv_req_notify_cq(scq, 0) && !ibv_req_notify_cq(rcq, 0));
		poll_cqs();
		if (in_flight < messages && sends < requests)
			return;
		MUST(!ibv_get_cq_event(channel, &cq, &arg));
		ibv_ack_cq_events(cq, 1);
	}
}

/* One message: @len bytes of each block. NULL: no data, or no result. */
static void message(enum inc_collective coll, uint32_t root, const char *from,
		    size_t nfrom, char *to, size_t nelem)
{
	/* One in flight at a time when waiting for acknowledgments. */
	uint32_t id = next_id++, most = slots < DEPTH / 2 ? slots : DEPTH / 2;
	struct inc_hdr *h = &hdr[id % DEPTH];
	struct ibv_sge sge[2] = {
		{ (uintptr_t)h, INC_HDR_LEN, mr_hdr->lkey },
		{ (uintptr_t)from, (uint32_t)nfrom, mr_send->lkey },
	};
	struct ibv_send_wr wr = {
		.sg_list = sge, .num_sge = nfrom ? 2 : 1,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.imm_data = htonl(id & INC_IMM_MSG_ID_MASK),
		.wr.rdma = { .remote_addr = (uint64_t)(id % slots) * msg_size,
			     .rkey = rkey },
	}, *bad;

	wait_below(acked ? 1 : most, acked ? 1 : most);
	*h = (struct inc_hdr){
		.version = INC_VERSION,
		.collective = (uint8_t)coll,
		.dtype = INC_DTYPE_INT32,
		.op = INC_OP_SUM,
		.tree_id = htonl(tree_id),
		.msg_id = htonl(id),
		.root = htons((uint16_t)root),
		.flags = htons(to ? 0 : INC_HDR_F_NO_DATA),
		.nelem = htonl((uint32_t)nelem),
		.result_rkey = htonl(to ? mr_recv->rkey : 0),
		.result_va = htobe64((uintptr_t)to),
	};
	in_flight++;
	sends++;
	MUST(!ibv_post_send(qp, &wr, &bad));
}

/* --- mapping.rst -------------------------------------------------------- */

static size_t chunk(size_t len)
{
	return (len - INC_HDR_LEN) / ESIZE * ESIZE;
}

/* Bytes of a part. */
static size_t part_of(enum inc_collective coll, size_t block, bool whole,
		      size_t n)
{
	size_t piece = msg_size < 16 * pmtu ? msg_size : 16 * pmtu;
	size_t most, parts, len;

	if (whole && n > 1)
		return chunk(msg_size);
	if (coll != INC_COLL_ALLTOALL)
		return chunk(piece);
	most = chunk(msg_size);
	parts = block ? (block + most - 1) / most : 1;
	if (parts == 1)
		return most;
	len = (block / ESIZE + parts - 1) / parts * ESIZE + INC_HDR_LEN;
	len = (len + pmtu - 1) / pmtu * pmtu;
	return len < msg_size ? chunk(len) : most;
}

static size_t buffer_blocks(enum inc_collective coll)
{
	switch (coll) {
	case INC_COLL_ALLTOALL:
		return (size_t)ranks * ranks;
	case INC_COLL_ALLGATHER:
	case INC_COLL_GATHER:
	case INC_COLL_SCATTER:
	case INC_COLL_REDUCE_SCATTER:
		return ranks;
	default:
		return 1;
	}
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* As one message, or one block in several. */
static void whole(enum inc_collective coll, uint32_t root, size_t block,
		  size_t part)
{
	bool am_root = rank == root, all = buffer_blocks(coll) > 1;
	bool gives = coll != INC_COLL_BARRIER, gets = gives;
	size_t off = 0, len, n;

	if (coll == INC_COLL_BROADCAST || coll == INC_COLL_SCATTER)
		gives = am_root;
	if (coll == INC_COLL_GATHER || coll == INC_COLL_REDUCE)
		gets = am_root;
	else if (coll == INC_COLL_BROADCAST)
		gets = !am_root;
	n = coll == INC_COLL_SCATTER || coll == INC_COLL_ALLTOALL ||
	    coll == INC_COLL_REDUCE_SCATTER ? ranks : 1;
	do {
		len = all ? block : smaller(part, block - off);
		message(coll, root, sendbuf + off, gives ? n * len : 0,
			gets && block ? recvbuf + off : NULL, len / ESIZE);
		off += len;
	} while (off < block);
}

/* Send a part of one rank's block to the ranks that want it. */
static void pass(uint32_t from, size_t from_off, bool wanted, size_t to_off,
		 size_t len)
{
	bool mine = rank == from;

	message(INC_COLL_BROADCAST, from, sendbuf + from_off, mine ? len : 0,
		!mine && wanted ? recvbuf + to_off : NULL, len / ESIZE);
}

/* A step of a collective that is too long for one message per block. */
static void step(enum inc_collective coll, uint32_t root, size_t i,
		 size_t block, size_t off, size_t len)
{
	uint32_t other = (uint32_t)i + (i >= root), sender, receiver;

	switch (coll) {
	case INC_COLL_ALLGATHER:
		pass((uint32_t)i, off, true, i * block + off, len);
		break;
	case INC_COLL_GATHER:
		pass(other, off, rank == root, other * block + off, len);
		break;
	case INC_COLL_SCATTER:
		pass(root, other * block + off, rank == other, off, len);
		break;
	case INC_COLL_ALLTOALL:
		sender = (uint32_t)(i % ranks);
		receiver = (uint32_t)((sender + 1 + i / ranks) % ranks);
		pass(sender, receiver * block + off, rank == receiver,
		     sender * block + off, len);
		break;
	default:
		message(INC_COLL_REDUCE, (uint32_t)i, sendbuf + i * block + off,
			len, rank == i ? recvbuf + off : NULL, len / ESIZE);
	}
}

static void in_steps(enum inc_collective coll, uint32_t root, size_t block,
		     size_t part)
{
	size_t turn = coll == INC_COLL_ALLTOALL ? ranks : 1, n, i, k, off, own;

	n = coll == INC_COLL_ALLTOALL ? (size_t)ranks * (ranks - 1) :
	    coll == INC_COLL_GATHER || coll == INC_COLL_SCATTER ? ranks - 1 :
								  ranks;
	for (i = 0; i < n; i += turn)
		for (off = 0; off < block; off += smaller(part, block - off))
			for (k = i; k < i + turn; k++)
				step(coll, root, k, block, off,
				     smaller(part, block - off));
	/* A rank's block for itself is not sent. */
	own = rank * block;
	if (coll == INC_COLL_ALLGATHER ||
	    (coll == INC_COLL_GATHER && rank == root))
		memcpy(recvbuf + own, sendbuf, block);
	else if (coll == INC_COLL_ALLTOALL)
		memcpy(recvbuf + own, sendbuf + own, block);
	else if (coll == INC_COLL_SCATTER && rank == root)
		memcpy(recvbuf, sendbuf + own, block);
}

static void operate(enum inc_collective coll, uint32_t root, size_t block)
{
	size_t n = buffer_blocks(coll);
	bool fits = n == 1 || block <= (msg_size - INC_HDR_LEN) / n;
	size_t part = part_of(coll, block, fits, n);

	if (fits)
		whole(coll, root, block, part);
	else
		in_steps(coll, root, block, part);
	wait_below(1, acked ? 1 : DEPTH);
}

/* --- The expected result ------------------------------------------------ */

static int32_t value(uint32_t r, size_t i)
{
	return (int32_t)(r * 1000 + i);
}

static int32_t sum(size_t i)
{
	return (int32_t)(1000 * ranks * (ranks - 1) / 2 + ranks * i);
}

static void check(enum inc_collective coll, uint32_t root, size_t count)
{
	const int32_t *got = (const int32_t *)recvbuf;
	size_t n = count, i;
	int32_t want;

	if (coll == INC_COLL_BARRIER ||
	    (coll == INC_COLL_BROADCAST && rank == root) ||
	    ((coll == INC_COLL_GATHER || coll == INC_COLL_REDUCE) &&
	     rank != root))
		return;
	if (coll == INC_COLL_ALLGATHER || coll == INC_COLL_GATHER ||
	    coll == INC_COLL_ALLTOALL)
		n *= ranks;
	for (i = 0; i < n; i++) {
		switch (coll) {
		case INC_COLL_BROADCAST:
			want = value(root, i);
			break;
		case INC_COLL_ALLGATHER:
		case INC_COLL_GATHER:
			want = value((uint32_t)(i / count), i % count);
			break;
		case INC_COLL_ALLTOALL:
			want = value((uint32_t)(i / count),
				     rank * count + i % count);
			break;
		case INC_COLL_SCATTER:
			want = value(root, rank * count + i);
			break;
		case INC_COLL_REDUCE_SCATTER:
			want = sum(rank * count + i);
			break;
		default:
			want = sum(i);
		}
		if (got[i] != want) {
			fprintf(stderr, "plain: collective %u, %zu elements: element %zu is %d, must be %d\n",
				coll, count, i, got[i], want);
			exit(1);
		}
	}
}

static void run(const char *text)
{
	static const char * const names[] = {
		"broadcast", "allgather", "alltoall", "scatter", "gather",
		"reduce", "allreduce", "reduce-scatter", "barrier",
	};
	struct timespec a, b;
	unsigned int coll;
	char name[32];
	unsigned long count;
	uint32_t root = 0;
	size_t i;

	MUST(sscanf(text, "%31[^:]:%lu:%u", name, &count, &root) >= 2);
	for (coll = 0; coll < 9 && strcmp(names[coll], name); coll++)
		;
	MUST(coll < 9 && count * ESIZE * ranks <= BUF);
	if (coll != INC_COLL_BROADCAST && coll != INC_COLL_SCATTER &&
	    coll != INC_COLL_GATHER && coll != INC_COLL_REDUCE)
		root = 0;
	for (i = 0; i < count * ranks; i++)
		((int32_t *)sendbuf)[i] = value(rank, i);
	clock_gettime(CLOCK_MONOTONIC, &a);
	operate(coll, root, count * ESIZE);
	clock_gettime(CLOCK_MONOTONIC, &b);
	check(coll, root, count);
	printf("time %s %lu %.1f\n", name, count,
	       (double)(b.tv_sec - a.tv_sec) * 1e6 +
		       (double)(b.tv_nsec - a.tv_nsec) / 1e3);
}

int main(int argc, char **argv)
{
	uint32_t psn = (uint32_t)getpid() & 0xffffff;
	int i;

	if (argc < 11)
		return 2;
	rank = (uint32_t)atoi(argv[7]);
	ranks = (uint32_t)atoi(argv[8]);
	acked = !strcmp(argv[9], "wait");
	open_device(argv[1]);
	join(argv[3], argv[4], argv[5], argv[6], psn);
	connect_qp((uint8_t)atoi(argv[2]), psn);
	fputs("rts\n", daemon_out);
	fflush(daemon_out);
	daemon_line("ready");
	for (i = 10; i < argc; i++)
		run(argv[i]);
	fputs("leave\n", daemon_out);
	fflush(daemon_out);
	daemon_line("bye");
	ibv_destroy_qp(qp);
	return 0;
}
