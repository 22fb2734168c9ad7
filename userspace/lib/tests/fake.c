// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The switch of fake.h.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include "engine/arena.h"
#include "engine/end.h"
#include "engine/msg.h"
#include "engine/uc.h"
#include "fake.h"

struct fake sw;
struct inc_comm *comm;
unsigned char in[65536], out[65536];

static struct ibv_context ctx;
static struct ibv_comp_channel chan = { .fd = -1 };
static struct ibv_cq rcq, scq;
static struct ibv_qp qp;

/* --- Verbs ------------------------------------------------------------- */

static void check_sent(const struct sent *s, const struct ibv_send_wr *wr)
{
	uint32_t id = ntohl(s->hdr.msg_id);

	EQ(s->hdr.version, INC_VERSION);
	EQ(ntohl(s->hdr.tree_id), 77);
	EQ(s->imm, id & 0xffffff);
	EQ(wr->wr.rdma.rkey, RKEY);
	EQ(wr->wr.rdma.remote_addr, id % comm->tree.slots * comm->tree.msg_size);
	OK(s->len <= comm->tree.msg_size - INC_HDR_LEN);
}

/* Look up a key and an address as the device does; NULL: access denied. */
char *place(uint32_t key, uint64_t va, size_t len)
{
	const struct ibv_mr *mr = key < MAX_MRS ? sw.mr[key] : NULL;

	if (!mr || va < sw.iova[key] || va + len > sw.iova[key] + mr->length)
		return NULL;
	return (char *)mr->addr + (va - sw.iova[key]);
}

static void take(struct sent *s, const struct ibv_send_wr *wr)
{
	const struct ibv_sge *sge = wr->sg_list;
	int i;

	memcpy(&s->hdr, (void *)sge[0].addr, sizeof(s->hdr));
	s->imm = ntohl(wr->imm_data);
	s->data = (char *)sge[0].addr + INC_HDR_LEN;
	s->len = sge[0].length - INC_HDR_LEN;
	/* Data is either copied behind the header, or a second SGE. */
	if (wr->num_sge > 1) {
		EQ(s->len, 0);
		s->data = (char *)sge[1].addr;
		s->len = sge[1].length;
	}
	for (i = 0; i < wr->num_sge; i++)
		OK(place(sge[i].lkey, sge[i].addr, sge[i].length));
	check_sent(s, wr);
	if (sw.looks)
		sw.looks(s);
}

/*
 * Over RC the last packet of several is a write of its own: put the two together
 * again.
 */
static struct ibv_send_wr *join(struct ibv_send_wr *wr)
{
	struct ibv_send_wr *tail = wr->next;
	struct ibv_sge *sge;
	uint32_t len = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++)
		len += wr->sg_list[i].length;
	if (wr->opcode != IBV_WR_RDMA_WRITE) {
		OK(comm->uc || len <= comm->tree.pmtu);
		return wr;
	}
	OK(!comm->uc && len && len % comm->tree.pmtu == 0);
	OK(!(wr->send_flags & IBV_SEND_SIGNALED));
	OK(tail && tail->opcode == IBV_WR_RDMA_WRITE_WITH_IMM);
	EQ(tail->num_sge, 1);
	EQ(tail->wr.rdma.rkey, wr->wr.rdma.rkey);
	EQ(tail->wr.rdma.remote_addr, wr->wr.rdma.remote_addr + len);
	sge = &wr->sg_list[wr->num_sge - 1];
	EQ(tail->sg_list[0].addr, sge->addr + sge->length);
	EQ(tail->sg_list[0].lkey, sge->lkey);
	OK(tail->sg_list[0].length && tail->sg_list[0].length <= comm->tree.pmtu);
	sge->length += tail->sg_list[0].length;
	tail->sg_list = wr->sg_list;
	tail->num_sge = wr->num_sge;
	tail->wr.rdma.remote_addr = wr->wr.rdma.remote_addr;
	return tail;
}

/*
 * A query over UC, sent because this machine was slow. The message is answered
 * later.
 */
static bool is_question(const struct ibv_send_wr *wr)
{
	const struct inc_hdr *hdr;

	if (!wr->num_sge)
		return false;
	hdr = (const void *)wr->sg_list[0].addr;
	return hdr->flags & htons(INC_HDR_F_QUERY);
}

/* The switch remembers nothing of the request's header: the query has all of it. */
static void check_question(const struct inc_hdr *hdr)
{
	struct inc_hdr want;
	unsigned int i;

	for (i = 0; i < sw.n; i++) {
		want = sw.flight[i].hdr;
		want.flags |= htons(INC_HDR_F_QUERY);
		OK(want.msg_id != hdr->msg_id || !memcmp(hdr, &want, sizeof(want)));
	}
}

static int post_send(struct ibv_qp *q, struct ibv_send_wr *wr,
		     struct ibv_send_wr **bad)
{
	struct sent *s;

	(void)q;
	if (sw.post_error) {
		*bad = wr;
		return sw.post_error;
	}
	for (; wr; wr = wr->next) {
		if (is_question(wr)) {
			check_question((void *)wr->sg_list[0].addr);
			sw.asked++;
		} else if (wr->num_sge) {
			wr = join(wr);
			OK(sw.n < MAX_FLIGHT);
			s = &sw.flight[sw.n++];
			take(s, wr);
			sw.most = sw.n > sw.most ? sw.n : sw.most;
			sw.sent++;
			sw.header_only += !s->len;
		} else {
			sw.empty++;
		}
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
		if (sw.cause && !sw.cause_after--) {
			wc->status = sw.cause;
			sw.cause = IBV_WC_SUCCESS;
			return 1;
		}
		if (sw.hold_sends || !sw.nsignaled)
			return 0;
		for (i = 0; i < n && sw.nsignaled; i++) {
			wc[i].wr_id = sw.signaled[0];
			sw.nsignaled--;
			memmove(sw.signaled, sw.signaled + 1,
				sizeof(sw.signaled) - sizeof(sw.signaled[0]));
		}
		return i;
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

void result(uint32_t imm)
{
	sw.imms[sw.nimms++] = imm;
}

/* Answer one message. */
void answer(unsigned int i)
{
	struct sent s = sw.flight[i];
	uint32_t id = ntohl(s.hdr.msg_id);
	size_t len;
	char *to;

	sw.n--;
	memmove(&sw.flight[i], &sw.flight[i + 1],
		(sw.n - i) * sizeof(sw.flight[0]));
	if (sw.status && id == sw.status_for) {
		result(sw.status << 24 | s.imm);
		return;
	}
	if (s.hdr.result_va) {
		len = ntohl(s.hdr.nelem) *
		      inc_dtype_size((enum inc_dtype)s.hdr.dtype);
		to = place(ntohl(s.hdr.result_rkey), be64toh(s.hdr.result_va),
			   len);
		OK(to);
		if (to && s.len && s.data != to)
			memcpy(to, s.data, len);
	} else {
		OK(!s.len || comm->nranks > 1);
	}
	if (sw.came)
		sw.came(&s);
	result(comm->uc ? 0xff000000 | s.imm : s.imm);
}

/* The switch works while the host sleeps. */
int ibv_get_cq_event(struct ibv_comp_channel *ch, struct ibv_cq **cq, void **c)
{
	EQ(ch == &chan, 1);
	*c = NULL;
	*cq = &rcq;
	sw.sleeps++;
	if (sw.watch_fires_at && sw.sleeps == (unsigned int)sw.watch_fires_at) {
		strcpy(comm->watchdog.text, "late");
		atomic_store(&comm->watchdog.err, -ETIMEDOUT);
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

/* The clock advances only while the host polls. */
int64_t inc_now_ms(void)
{
	return sw.now_ms;
}

/* A completion channel, and the bell. Without a limit, the switch answers at once. */
int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	OK(n == 2 && fds[1].fd == comm->watchdog.bell);
	fds[0].revents = sw.rings ? 0 : POLLIN;
	fds[1].revents = sw.rings ? POLLIN : 0;
	if (sw.rings) {
		sw.rings--;
		return 1;
	}
	if (timeout < 0)
		return 1;
	OK(timeout > 0);
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
		fds[0].revents = 0;
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

uint64_t inc_hw_counters_unsent(int dev, unsigned int port)
{
	(void)dev;
	(void)port;
	return 0;
}

int ibv_get_device_index(struct ibv_device *device)
{
	(void)device;
	return 0;
}

_Atomic unsigned int inc_watchdog_changes;

void inc_watchdog_hang_up(struct inc_watchdog *watch, const char *why)
{
	(void)why;
	EQ(watch == &comm->watchdog, 1);
	sw.hung_up = true;
}

int inc_watchdog_say(struct inc_watchdog *watch, const struct inc_rdv_msg *msg)
{
	EQ(watch == &comm->watchdog, 1);
	EQ(msg->type <= INC_RDV_REJOIN, 1);
	return 0;
}

int inc_qp_to_init(struct ibv_qp *q, const struct inc_dev *dev)
{
	(void)q;
	(void)dev;
	return 0;
}

int inc_dev_check_mtu(const struct inc_dev *dev,
		      const struct inc_rdv_addr *peer, unsigned int pmtu,
		      char *err, size_t err_len)
{
	(void)dev;
	(void)peer;
	(void)pmtu;
	(void)err;
	(void)err_len;
	return 0;
}

int inc_dev_check_path(const struct inc_dev *dev,
		       const struct inc_rdv_addr *peer, unsigned int pmtu,
		       char *err, size_t err_len)
{
	(void)dev;
	(void)peer;
	(void)pmtu;
	(void)err;
	(void)err_len;
	return 0;
}

int inc_qp_to_rts(struct ibv_qp *q, const struct inc_dev *dev,
		  const struct inc_rc *rc, char *err, size_t err_len)
{
	(void)q;
	(void)dev;
	(void)rc;
	(void)err;
	(void)err_len;
	return 0;
}

void inc_qp_to_err(struct ibv_qp *q)
{
	(void)q;
}

/* A thread of its own calls it. */
int ibv_destroy_qp(struct ibv_qp *q)
{
	const struct timespec ms = { .tv_nsec = 1000000 };

	(void)q;
	while (sw.stuck)
		nanosleep(&ms, NULL);
	sw.qp_gone = true;
	return 0;
}

const char *ibv_wc_status_str(enum ibv_wc_status status)
{
	return status == IBV_WC_WR_FLUSH_ERR ? "flushed" :
	       status == IBV_WC_LOC_QP_OP_ERR ? "operation" : "other";
}

#undef ibv_reg_mr
#undef ibv_reg_mr_iova
struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length,
			       uint64_t iova, int access)
{
	struct ibv_mr *mr;
	uint32_t key;

	(void)access;
	if (sw.refuse && sw.mrs >= sw.refuse_from) {
		errno = sw.refuse;
		return NULL;
	}
	mr = calloc(1, sizeof(*mr));
	for (key = 1; key < MAX_MRS && sw.mr[key]; key++)
		;
	if (!mr || key == MAX_MRS) {
		printf("# too many registrations\n");
		exit(1);
	}
	mr->pd = pd;
	mr->addr = addr;
	mr->length = length;
	mr->rkey = key;
	mr->lkey = key;
	sw.mr[key] = mr;
	sw.iova[key] = iova;
	sw.mrs++;
	return mr;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			  int access)
{
	return ibv_reg_mr_iova(pd, addr, length, (uintptr_t)addr, access);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length,
				uint64_t iova, unsigned int access)
{
	return ibv_reg_mr_iova(pd, addr, length, iova, (int)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	sw.mrs--;
	sw.mr[mr->rkey] = NULL;
	free(mr);
	return 0;
}

/* --- Communicator ------------------------------------------------------ */

static void make(uint32_t first_msg_id, uint32_t msg_size, uint32_t pmtu,
		 bool uc, uint32_t window)
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
	if (uc) {
		comm->uc = calloc(1, sizeof(*comm->uc));
		comm->uc->retries = INC_RETRIES_DEFAULT;
	}
	comm->qp = &qp;
	comm->dev.ctx = &ctx;
	comm->chan = &chan;
	comm->watchdog.bell = -1;
	comm->rq.cq = &rcq;
	comm->sq.cq = &scq;
	comm->window.now = window;
	comm->window.max = window;
	comm->sq.depth = 4 * window;
	comm->rq.depth = 2 * window + INC_RQ_SPARE;
	comm->tree = (struct inc_rdv_joined){
		.tree_id = 77,
		.rkey = RKEY,
		.slots = 2 * window,
		.msg_size = msg_size,
		.pmtu = pmtu,
		.first_msg_id = first_msg_id,
		.collectives = ~0U,
		.dtypes = 0xfff & ~(1U << INC_DTYPE_FP16),
		.ops = 0x1fff,
	};
	pthread_mutex_init(&comm->watchdog.lock, NULL);
	inc_mem_init(&comm->mem, NULL, false, NULL);
	EQ(inc_msg_alloc(comm), 0);
	if (uc)
		EQ(inc_uc_alloc(comm), 0);
	EQ(inc_msg_post_recvs(comm), 0);
}

void begin_tree(uint32_t first_msg_id, uint32_t msg_size, uint32_t pmtu)
{
	make(first_msg_id, msg_size, pmtu, false, WINDOW);
}

void begin_window(uint32_t window)
{
	make(0, MSG_SIZE, 256, false, window);
}

void begin_uc(void)
{
	make(0, MSG_SIZE, 256, true, WINDOW);
}

void begin_at(uint32_t first_msg_id)
{
	begin_tree(first_msg_id, MSG_SIZE, 256);
}

void begin(void)
{
	begin_at(0);
}

void end(void)
{
	inc_request_fail_all(comm, -ECANCELED);
	inc_mem_exit(&comm->mem);
	inc_uc_free(comm);
	inc_msg_free(comm);
	EQ(sw.mrs, 0);
	free(comm);
}

void fill(void)
{
	size_t i;

	for (i = 0; i < sizeof(in); i++) {
		in[i] = (unsigned char)(i * 31 + (i >> 8));
		out[i] = 0xee;
	}
}

int reduce(size_t count)
{
	return inc_allreduce(comm, in, out, count, INC_DTYPE_INT32, INC_OP_SUM);
}

bool same(size_t count)
{
	return !memcmp(in, out, count * 4) &&
	       (count * 4 == sizeof(out) || out[count * 4] == 0xee);
}

