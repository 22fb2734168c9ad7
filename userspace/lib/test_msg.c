// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Operations, messages and results against a switch that lives in this file:
 * verbs functions of our own take what is posted and give what a test wants.
 * The tree has one rank, so that the result of a message is its data.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>

#include "comm.h"
#include "test.h"

#define WINDOW		4
#define SLOTS		8
#define MSG_SIZE	256
#define DATA		(MSG_SIZE - INC_HDR_LEN)
#define MAX_FLIGHT	64
#define RKEY		0x1234

struct sent {
	struct inc_hdr	hdr;
	uint32_t	imm;
	char		data[MSG_SIZE];
	size_t		len;
};

/* The switch, and the host's queues. */
static struct {
	struct sent	flight[MAX_FLIGHT];	/* sent and not answered */
	unsigned int	n;
	unsigned int	most;			/* most at once */
	unsigned int	sent;
	unsigned int	header_only;
	uint32_t	imms[MAX_FLIGHT];	/* results in the receive queue */
	unsigned int	nimms;
	enum ibv_wc_status wc_status;
	uint64_t	signaled[MAX_FLIGHT];	/* completions of sends */
	unsigned int	nsignaled;
	bool		hold_sends;		/* no completions of sends */
	bool		reverse;		/* answer the latest first */
	unsigned int	status_for;		/* message that gets ... */
	unsigned int	status;			/* ... this status */
	int		post_error;
	unsigned int	sleeps;
	unsigned int	armed, send_armed;
	unsigned int	recvs;
	int		mrs;
	bool		qp_gone;
	int		watch_fires_at;		/* sleep number */
	int64_t		now_ms;
	int		answer_after_ms;	/* what a poll must wait for ... */
	int		answers_every_ms;	/* ... and the one after it */
	unsigned int	polls;
	int		interrupted;		/* polls that a signal ends */
} sw;

static struct ibv_context ctx;
static struct ibv_comp_channel chan = { .fd = -1 };
static struct ibv_cq rcq, scq;
static struct ibv_qp qp;
static struct inc_comm *comm;

/* --- Verbs ------------------------------------------------------------------ */

static void check_sent(const struct sent *s, const struct ibv_send_wr *wr)
{
	uint32_t id = ntohl(s->hdr.msg_id);

	EQ(s->hdr.version, INC_VERSION);
	EQ(ntohl(s->hdr.tree_id), 77);
	EQ(s->imm, id & 0xffffff);
	EQ(wr->wr.rdma.rkey, RKEY);
	EQ(wr->wr.rdma.remote_addr, id % SLOTS * MSG_SIZE);
	OK(s->len <= DATA);
}

static int post_send(struct ibv_qp *q, struct ibv_send_wr *wr,
		     struct ibv_send_wr **bad)
{
	struct sent *s;
	int i;

	(void)q;
	if (sw.post_error) {
		*bad = wr;
		return sw.post_error;
	}
	for (; wr; wr = wr->next) {
		OK(sw.n < MAX_FLIGHT);
		s = &sw.flight[sw.n++];
		memcpy(&s->hdr, (void *)wr->sg_list[0].addr, sizeof(s->hdr));
		s->imm = ntohl(wr->imm_data);
		s->len = wr->sg_list[0].length - INC_HDR_LEN;
		memcpy(s->data, (char *)wr->sg_list[0].addr + INC_HDR_LEN, s->len);
		for (i = 1; i < wr->num_sge; i++) {
			memcpy(s->data + s->len, (void *)wr->sg_list[i].addr,
			       wr->sg_list[i].length);
			s->len += wr->sg_list[i].length;
		}
		check_sent(s, wr);
		sw.most = sw.n > sw.most ? sw.n : sw.most;
		sw.sent++;
		sw.header_only += !s->len;
		if (wr->send_flags & IBV_SEND_SIGNALED)
			sw.signaled[sw.nsignaled++] = wr->wr_id;
	}
	return 0;
}

static int post_recv(struct ibv_qp *q, struct ibv_recv_wr *wr,
		     struct ibv_recv_wr **bad)
{
	(void)q;
	(void)bad;
	for (; wr; wr = wr->next)
		sw.recvs++;
	return 0;
}

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	int i;

	memset(wc, 0, sizeof(*wc) * (size_t)n);
	if (cq == &scq) {
		if (sw.hold_sends || !sw.nsignaled)
			return 0;
		wc->wr_id = sw.signaled[0];
		sw.nsignaled--;
		memmove(sw.signaled, sw.signaled + 1, sizeof(sw.signaled) -
			sizeof(sw.signaled[0]));
		return 1;
	}
	for (i = 0; i < n && sw.nimms; i++) {
		wc[i].imm_data = htonl(sw.imms[0]);
		wc[i].wc_flags = IBV_WC_WITH_IMM;
		wc[i].status = sw.wc_status;
		sw.nimms--;
		OK(sw.recvs-- > 0);
		memmove(sw.imms, sw.imms + 1, sizeof(sw.imms) -
			sizeof(sw.imms[0]));
	}
	return i;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited)
{
	(void)solicited;
	if (cq == &rcq)
		sw.armed++;
	else
		sw.send_armed++;
	return 0;
}

static void result(uint32_t imm)
{
	sw.imms[sw.nimms++] = imm;
}

/* Answers one message. */
static void answer(unsigned int i)
{
	struct sent s = sw.flight[i];
	uint32_t id = ntohl(s.hdr.msg_id);

	sw.n--;
	memmove(&sw.flight[i], &sw.flight[i + 1],
		(sw.n - i) * sizeof(sw.flight[0]));
	if (sw.status && id == sw.status_for) {
		result(sw.status << 24 | s.imm);
		return;
	}
	if (s.len) {
		OK(s.hdr.result_rkey);
		memcpy((void *)be64toh(s.hdr.result_va), s.data, s.len);
	} else {
		EQ(s.hdr.result_va, 0);
	}
	result(s.imm);
}

/* While the host sleeps the switch works. */
int ibv_get_cq_event(struct ibv_comp_channel *ch, struct ibv_cq **cq, void **c)
{
	EQ(ch == &chan, 1);
	*c = NULL;
	*cq = &rcq;
	sw.sleeps++;
	if (sw.watch_fires_at && sw.sleeps == (unsigned int)sw.watch_fires_at) {
		strcpy(comm->watch.text, "late");
		atomic_store(&comm->watch.err, -ETIMEDOUT);
		sw.wc_status = IBV_WC_WR_FLUSH_ERR;
		result(0);
		return 0;
	}
	if (sw.hold_sends && sw.send_armed) {
		sw.hold_sends = false;
		sw.send_armed = 0;
		*cq = &scq;
		return 0;
	}
	if (!sw.n) {
		printf("# sleeps with nothing in flight: would hang\n");
		exit(1);
	}
	answer(sw.reverse ? sw.n - 1 : 0);
	return 0;
}

/* The clock stands still but while the host polls. */
int64_t inc_now_ms(void)
{
	return sw.now_ms;
}

int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	(void)fds;
	OK(n == 1 && timeout > 0);
	sw.polls++;
	if (sw.interrupted) {
		sw.interrupted--;
		sw.now_ms += 2;
		sw.answer_after_ms -= 2;
		errno = EINTR;
		return -1;
	}
	if (timeout < sw.answer_after_ms) {
		sw.answer_after_ms -= timeout;
		sw.now_ms += timeout;
		return 0;
	}
	sw.now_ms += sw.answer_after_ms;
	sw.answer_after_ms = sw.answers_every_ms;
	return 1;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int n)
{
	(void)cq;
	(void)n;
}

int ibv_destroy_qp(struct ibv_qp *q)
{
	(void)q;
	sw.qp_gone = true;
	return 0;
}

const char *ibv_wc_status_str(enum ibv_wc_status status)
{
	return status == IBV_WC_WR_FLUSH_ERR ? "flushed" : "other";
}

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			  int access)
{
	struct ibv_mr *mr = calloc(1, sizeof(*mr));

	(void)access;
	mr->pd = pd;
	mr->addr = addr;
	mr->length = length;
	mr->rkey = 0x99;
	sw.mrs++;
	return mr;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length,
				uint64_t iova, unsigned int access)
{
	(void)iova;
	return ibv_reg_mr(pd, addr, length, (int)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	sw.mrs--;
	free(mr);
	return 0;
}

/* --- Communicator ------------------------------------------------------------- */

static void begin_at(uint32_t first_msg_id)
{
	memset(&sw, 0, sizeof(sw));
	ctx.ops.post_send = post_send;
	ctx.ops.post_recv = post_recv;
	ctx.ops.poll_cq = poll_cq;
	ctx.ops.req_notify_cq = req_notify_cq;
	rcq.context = &ctx;
	scq.context = &ctx;
	qp.context = &ctx;
	comm = calloc(1, sizeof(*comm));
	comm->nranks = 1;
	comm->qp = &qp;
	comm->chan = &chan;
	comm->rcq = &rcq;
	comm->scq = &scq;
	comm->window = WINDOW;
	comm->sq_depth = 16;
	comm->rq_depth = 2 * WINDOW + INC_RQ_SPARE;
	comm->tree = (struct inc_rdv_joined){
		.tree_id = 77, .rkey = RKEY, .slots = SLOTS,
		.msg_size = MSG_SIZE, .pmtu = 256, .first_msg_id = first_msg_id,
		.collectives = ~0U, .dtypes = 0xfff & ~(1U << INC_DTYPE_FP16),
		.ops = 0x1fff,
	};
	pthread_mutex_init(&comm->watch.lock, NULL);
	inc_mem_init(&comm->mem, NULL, false);
	EQ(inc_msg_alloc(comm), 0);
	EQ(inc_msg_post_recvs(comm), 0);
}

static void begin(void)
{
	begin_at(0);
}

static void end(void)
{
	struct inc_req *req;

	inc_msg_fail_all(comm, -ECANCELED);
	inc_mem_exit(&comm->mem);
	ibv_dereg_mr(comm->arena_mr);
	EQ(sw.mrs, 0);
	munmap(comm->arena, comm->arena_size);
	while ((req = comm->all)) {
		comm->all = req->all;
		free(req);
	}
	free(comm->ring);
	free(comm->early);
	free(comm->wr);
	free(comm->sge);
	free(comm);
}

static unsigned char in[65536], out[65536];

static void fill(void)
{
	size_t i;

	for (i = 0; i < sizeof(in); i++) {
		in[i] = (unsigned char)(i * 31 + (i >> 8));
		out[i] = 0xee;
	}
}

static int reduce(size_t count)
{
	return inc_allreduce(comm, in, out, count, INC_DTYPE_INT32, INC_OP_SUM);
}

static bool same(size_t count)
{
	return !memcmp(in, out, count * 4) &&
	       (count * 4 == sizeof(out) || out[count * 4] == 0xee);
}

/* --- Cases -------------------------------------------------------------------- */

static void sizes(void)
{
	static const size_t counts[] = { 0, 1, 3, 55, 56, 57, 255, 1024, 1025,
					 4097, 16384 };
	size_t i;

	begin();
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		fill();
		EQ(reduce(counts[i]), 0);
		OK(same(counts[i]));
	}
	EQ(sw.most, WINDOW);
	EQ(sw.n, 0);
	EQ(comm->info.operations, i);
	OK(sw.recvs >= comm->rq_depth / 2);
	end();
}

static void barrier(void)
{
	begin();
	EQ(inc_barrier(comm), 0);
	EQ(inc_barrier(comm), 0);
	EQ(sw.sent, 2);
	EQ(sw.header_only, 2);
	end();
}

/* A short operation costs one arming and one sleep. */
static void cheap(void)
{
	unsigned int i;

	begin();
	for (i = 0; i < 10; i++)
		EQ(reduce(2), 0);
	EQ(sw.sleeps, 10);
	EQ(sw.armed, 10);
	EQ(sw.send_armed, 0);
	EQ(sw.mrs, 1);
	end();
}

static void out_of_order(void)
{
	begin();
	sw.reverse = true;
	fill();
	EQ(reduce(5000), 0);
	OK(same(5000));
	EQ(sw.most, WINDOW);
	end();
}

static void wrap(void)
{
	static const uint32_t firsts[] = { 0xfffffe, 0xfffffffd, 0xffffff00 };
	size_t i;

	for (i = 0; i < 3; i++) {
		begin_at(firsts[i]);
		sw.reverse = i & 1;
		fill();
		EQ(reduce(16384), 0);
		OK(same(16384));
		EQ(comm->next_id, firsts[i] + 65536 / DATA + 1);
		end();
	}
}

static void nonblocking(void)
{
	struct inc_req *r[6];
	int i, done;

	begin();
	fill();
	for (i = 0; i < 6; i++)
		EQ(inc_iallreduce(comm, in + 4096 * i, out + 4096 * i,
				  (size_t)(1024 - i), INC_DTYPE_INT32, INC_OP_SUM,
				  &r[i]), 0);
	EQ(sw.n, WINDOW);
	EQ(inc_test(r[5], &done), 0);
	EQ(done, 0);
	while (sw.n) {
		answer(0);
		EQ(inc_test(r[5], &done), 0);
	}
	EQ(done, 1);
	for (i = 0; i < 6; i++) {
		EQ(inc_wait(r[i]), 0);
		OK(!memcmp(in + 4096 * i, out + 4096 * i, (size_t)(1024 - i) * 4));
		inc_request_free(r[i]);
	}
	EQ(sw.sleeps, 0);
	EQ(sw.most, WINDOW);
	end();
}

/* A wait with a time limit sleeps for so long, and leaves all as it was. */
static void wait_for(void)
{
	struct inc_req *r;
	int64_t now;

	begin();
	fill();
	EQ(inc_iallreduce(comm, in, out, 3, INC_DTYPE_INT32, INC_OP_SUM, &r), 0);
	EQ(inc_wait_for(r, 0), -EAGAIN);
	EQ(sw.polls, 0);
	sw.answer_after_ms = 25;
	EQ(inc_wait_for(r, 10), -EAGAIN);
	EQ(sw.now_ms, 10);
	sw.interrupted = 3;
	EQ(inc_wait_for(r, 10), -EAGAIN);
	EQ(sw.now_ms, 20);
	EQ(sw.armed, 1);
	OK(!atomic_load(&comm->watch.waits));
	EQ(inc_wait_for(r, 10), 0);
	EQ(sw.now_ms, 25);
	OK(same(3));
	EQ(inc_wait_for(r, 10), 0);
	EQ(sw.sleeps, 1);
	inc_request_free(r);

	/* Results that do not end the operation do not make it longer. */
	EQ(inc_iallreduce(comm, in, out, 5000, INC_DTYPE_INT32, INC_OP_SUM, &r),
	   0);
	sw.answers_every_ms = 4;
	for (now = sw.now_ms; inc_wait_for(r, 10) == -EAGAIN; now = sw.now_ms)
		EQ(sw.now_ms, now + 10);
	OK(sw.now_ms - 25 >= 5000 * 4 / DATA * 4 - 4);
	OK(same(5000));
	inc_request_free(r);

	EQ(inc_iallreduce(comm, in, out, 1, INC_DTYPE_INT32, INC_OP_SUM, &r), 0);
	sw.watch_fires_at = (int)sw.sleeps + 1;
	EQ(inc_wait_for(r, 10), -ETIMEDOUT);
	inc_request_free(r);
	end();
}

static void in_place_and_orphan(void)
{
	struct inc_req *r, *b;

	begin();
	fill();
	memcpy(out, in, sizeof(out));
	EQ(inc_iallreduce(comm, INC_IN_PLACE, out, 2048, INC_DTYPE_FP32,
			  INC_OP_MAX, &r), 0);
	inc_request_free(r);
	EQ(inc_ibarrier(comm, &b), 0);
	EQ(inc_wait(b), 0);
	inc_request_free(b);
	OK(!memcmp(in, out, sizeof(out)));
	end();
}

/* An error of one message: the operation ends with it, IDs stay in step. */
static void status(void)
{
	begin();
	fill();
	sw.status = INC_STATUS_MISMATCH;
	sw.status_for = 2;
	EQ(reduce(2000), -EBADE);
	EQ(sw.sent, 2000 * 4 / DATA + 1);
	OK(sw.header_only > 0);
	EQ(comm->err, 0);
	OK(strstr(comm->errtext, "disagree"));
	fill();
	EQ(reduce(2000), 0);
	OK(same(2000));
	end();
}

/* An error that comes before this rank has sent the message. */
static void early_status(void)
{
	begin();
	fill();
	result(INC_STATUS_VERSION << 24 | 1);
	EQ(reduce(1), 0);	/* message 0 */
	EQ(reduce(1), -EPROTONOSUPPORT);
	sw.n = 0;		/* the switch does not answer it again */
	EQ(reduce(1), 0);
	/* answered again all the same: ignored */
	result(INC_STATUS_VERSION << 24 | 1);
	EQ(reduce(1), 0);
	EQ(comm->err, 0);
	end();
}

static void dead_peer(void)
{
	struct inc_req *a, *b;

	begin();
	fill();
	EQ(inc_iallreduce(comm, in, out, 5000, INC_DTYPE_INT32, INC_OP_SUM, &a), 0);
	EQ(inc_ibarrier(comm, &b), 0);
	result(INC_STATUS_PEER_DEAD << 24 | 0x123456);
	EQ(inc_wait(b), -ECONNRESET);
	EQ(inc_wait(a), -ECONNRESET);
	OK(sw.qp_gone);
	EQ(sw.mrs, 1);		/* the arena: the user's memory is free */
	EQ(reduce(1), -ECONNRESET);
	EQ(inc_barrier(comm), -ECONNRESET);
	inc_request_free(a);
	inc_request_free(b);
	end();
}

/* Results that came before the end count. */
static void last_result_then_end(void)
{
	struct inc_req *a;

	begin();
	fill();
	EQ(inc_iallreduce(comm, in, out, 3, INC_DTYPE_INT32, INC_OP_SUM, &a), 0);
	answer(0);
	result(INC_STATUS_TREE_GONE << 24);
	EQ(inc_wait(a), 0);
	OK(same(3));
	EQ(inc_barrier(comm), -ESHUTDOWN);
	inc_request_free(a);
	end();
}

static void unexpected_result(void)
{
	begin();
	result(5);
	EQ(reduce(1), -EPROTO);
	EQ(comm->err, -EPROTO);
	end();
	begin();
	EQ(reduce(1), 0);
	result(0);		/* once more */
	EQ(reduce(1), -EPROTO);
	end();
}

static void time_limit(void)
{
	begin();
	sw.watch_fires_at = 3;
	fill();
	EQ(reduce(5000), -ETIMEDOUT);
	OK(strstr(comm->errtext, "late"));
	OK(sw.qp_gone);
	EQ(inc_barrier(comm), -ETIMEDOUT);
	end();
}

static void broken_qp(void)
{
	begin();
	sw.wc_status = IBV_WC_WR_FLUSH_ERR;
	result(0);
	EQ(reduce(1), -EIO);
	OK(strstr(comm->errtext, "flushed"));
	end();
	begin();
	sw.post_error = ENOMEM;
	EQ(reduce(1), -ENOMEM);
	EQ(comm->err, -ENOMEM);
	end();
}

/* The send queue is full because nothing is acknowledged. */
static void full_send_queue(void)
{
	begin();
	fill();
	sw.hold_sends = true;
	EQ(reduce(16384), 0);
	OK(same(16384));
	OK(!sw.hold_sends);
	end();
}

/* Registrations are given up when their last send has completed. */
static void registrations(void)
{
	begin();
	fill();
	sw.hold_sends = true;
	EQ(reduce(1100), 0);
	EQ(sw.mrs, 2);		/* arena, sent from */
	sw.hold_sends = false;
	EQ(reduce(1), 0);
	EQ(sw.mrs, 1);
	EQ(inc_mem_reg(comm, out, sizeof(out)), 0);
	EQ(inc_mem_reg(comm, in, sizeof(in)), 0);
	EQ(reduce(5000), 0);
	EQ(reduce(5000), 0);
	EQ(comm->mem.hits, 4);
	EQ(inc_mem_dereg(comm, in, 1), -ENOENT);
	EQ(inc_mem_dereg(comm, in, sizeof(in)), 0);
	EQ(inc_mem_invalidate(comm, out, 1), 0);
	EQ(inc_mem_reg(comm, NULL, 1), -EINVAL);
	end();
}

static void arguments(void)
{
	begin();
	EQ(inc_allreduce(comm, in, out, 1, INC_DTYPE_COUNT, INC_OP_SUM), -EINVAL);
	EQ(inc_allreduce(comm, in, out, 1, INC_DTYPE_INT8, (enum inc_op)-1), -EINVAL);
	EQ(inc_allreduce(comm, in, out, 1, INC_DTYPE_FP16, INC_OP_SUM), -EOPNOTSUPP);
	OK(strstr(comm->errtext, "fp16"));
	EQ(inc_allreduce(comm, in, NULL, 1, INC_DTYPE_INT8, INC_OP_SUM), -EFAULT);
	EQ(inc_allreduce(comm, NULL, out, 1, INC_DTYPE_INT8, INC_OP_SUM), -EFAULT);
	EQ(inc_allreduce(comm, in, in + 4, 2, INC_DTYPE_INT32, INC_OP_SUM), -EINVAL);
	EQ(inc_allreduce(comm, in, out, SIZE_MAX / 2, INC_DTYPE_INT32, INC_OP_SUM),
	   -EOVERFLOW);
	EQ(inc_allreduce(comm, NULL, NULL, 0, INC_DTYPE_INT32, INC_OP_SUM), 0);
	EQ(sw.sent, 1);
	EQ(comm->err, 0);
	inc_request_free(NULL);
	end();
}

static const struct test_case cases[] = {
	{ "sizes", sizes },
	{ "barrier", barrier },
	{ "cheap", cheap },
	{ "out_of_order", out_of_order },
	{ "wrap", wrap },
	{ "nonblocking", nonblocking },
	{ "wait_for", wait_for },
	{ "in_place_and_orphan", in_place_and_orphan },
	{ "status", status },
	{ "early_status", early_status },
	{ "dead_peer", dead_peer },
	{ "last_result_then_end", last_result_then_end },
	{ "unexpected_result", unexpected_result },
	{ "time_limit", time_limit },
	{ "broken_qp", broken_qp },
	{ "full_send_queue", full_send_queue },
	{ "registrations", registrations },
	{ "arguments", arguments },
};

TEST_MAIN(cases)
