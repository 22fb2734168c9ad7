// SPDX-License-Identifier: GPL-2.0
/*
 * The data path: receives messages, reduces those that all ranks have sent, and
 * writes results into the ranks' memory.
 *
 * Works as libinc does, so that neither end has an advantage: one completion
 * channel, polling in batches, two yields before each sleep, short data inline,
 * few send completions. All results that one batch completes for a rank go out
 * in one call.
 *
 * A slot is reused only after all ranks got its result, so neither requests nor
 * results need be kept any longer than that.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "rdma_inc_proto.h"
#include "server.h"

#define BATCH			32
#define SIGNAL_EVERY		(SQ_DEPTH / 4)
#define YIELDS_BEFORE_SLEEP	2
#define EVENTS_UNACKED_MAX	64

/**
 * data_post_recvs() - fill a rank's receive queue
 * @job: job
 * @rank: rank
 *
 * Return: 0 or -1.
 */
int data_post_recvs(struct job *job, struct rank *rank)
{
	struct ibv_recv_wr wr[RQ_DEPTH] = { 0 }, *bad;
	unsigned int i, n = RQ_DEPTH - rank->recvs;

	for (i = 0; i < n; i++) {
		wr[i].wr_id = (uint64_t)(rank - job->rank);
		wr[i].next = i + 1 < n ? &wr[i + 1] : NULL;
	}
	if (n && ibv_post_recv(rank->qp, wr, &bad))
		return fail("ibv_post_recv", errno);
	rank->recvs = RQ_DEPTH;
	return 0;
}

static int reap_sends(struct job *job)
{
	struct ibv_wc wc[BATCH];
	int i, n;

	n = ibv_poll_cq(job->scq, BATCH, wc);
	for (i = 0; i < n; i++) {
		if (wc[i].status != IBV_WC_SUCCESS) {
			if (job->stop)
				return -1;
			fprintf(stderr, "inc-server: sending: %s\n",
				ibv_wc_status_str(wc[i].status));
			return -1;
		}
		job->rank[wc[i].wr_id % MAX_RANKS].done =
			wc[i].wr_id / MAX_RANKS;
	}
	return 0;
}

static struct inc_hdr *header(const struct rank *rank, unsigned int slot)
{
	return (struct inc_hdr *)(rank->slots + (size_t)slot * MSG_SIZE);
}

static size_t hdr_bytes(const struct inc_hdr *hdr)
{
	return (size_t)ntohl(hdr->nelem) * reduce_size(hdr->dtype);
}

/* Reduce a slot to which all ranks have written. */
static int reduce_slot(struct job *job, unsigned int slot)
{
	const struct inc_hdr *first = header(&job->rank[0], slot), *hdr;
	const char *src[MAX_RANKS];
	unsigned int r;

	for (r = 0; r < job->nranks; r++) {
		hdr = header(&job->rank[r], slot);
		if (hdr->version != INC_VERSION || hdr->nelem != first->nelem ||
		    hdr->collective != first->collective ||
		    hdr->dtype != first->dtype || hdr->op != first->op) {
			fprintf(stderr, "inc-server: the ranks disagree\n");
			return -1;
		}
		src[r] = (const char *)(hdr + 1);
	}
	if (!first->nelem)
		return 0;
	if (hdr_bytes(first) > MSG_SIZE - INC_HDR_LEN ||
	    reduce_all(first->dtype, first->op,
		       job->mem + (size_t)slot * MSG_SIZE, src, job->nranks,
		       ntohl(first->nelem))) {
		fprintf(stderr,
			"inc-server: a message that can not be reduced\n");
		return -1;
	}
	return 0;
}

/* Build the request that sends the result of message @id to @rank. */
static void fill_result(struct job *job, struct rank *rank, uint32_t id,
			struct ibv_send_wr *wr, struct ibv_sge *sge)
{
	unsigned int slot = id % SLOTS;
	const struct inc_hdr *hdr = header(rank, slot);
	size_t len = hdr_bytes(hdr);
	uint64_t seq = ++rank->posted;

	*sge = (struct ibv_sge){
		.addr	= (uintptr_t)job->mem + (size_t)slot * MSG_SIZE,
		.length	= (uint32_t)len,
		.lkey	= job->result_mr->lkey,
	};
	*wr = (struct ibv_send_wr){
		.wr_id	= seq * MAX_RANKS + (uint64_t)(rank - job->rank),
		.sg_list = sge,
		.num_sge = len ? 1 : 0,
		.opcode	= IBV_WR_RDMA_WRITE_WITH_IMM,
		.send_flags = (seq % SIGNAL_EVERY ? 0 : IBV_SEND_SIGNALED) |
			      (len <= INLINE_MAX ? IBV_SEND_INLINE : 0),
		.imm_data = htonl(id & INC_IMM_MSG_ID_MASK),
		.wr.rdma = {
			.remote_addr = be64toh(hdr->result_va),
			.rkey = ntohl(hdr->result_rkey),
		},
	};
}

static int send_results(struct job *job, const uint32_t *ids, unsigned int n)
{
	struct ibv_send_wr wr[BATCH], *bad;
	struct ibv_sge sge[BATCH];
	struct rank *rank;
	unsigned int i;

	for (rank = job->rank; rank < job->rank + job->nranks; rank++) {
		while (rank->posted - rank->done > SQ_DEPTH / 2) {
			if (reap_sends(job))
				return -1;
			if (rank->posted - rank->done + n <= SQ_DEPTH)
				break;
			sched_yield();
		}
		for (i = 0; i < n; i++) {
			fill_result(job, rank, ids[i], &wr[i], &sge[i]);
			wr[i].next = i + 1 < n ? &wr[i + 1] : NULL;
		}
		if (ibv_post_send(rank->qp, wr, &bad))
			return fail("ibv_post_send", errno);
	}
	return 0;
}

/* Process completions. Returns how many, or -1. */
static int take(struct job *job)
{
	unsigned int ndone = 0;
	uint32_t ids[BATCH], id;
	struct ibv_wc wc[BATCH];
	struct rank *rank;
	int i, n;

	n = ibv_poll_cq(job->rcq, BATCH, wc);
	for (i = 0; i < n; i++) {
		if (wc[i].status != IBV_WC_SUCCESS) {
			if (!job->stop)
				fprintf(stderr, "inc-server: receiving: %s\n",
					ibv_wc_status_str(wc[i].status));
			return -1;
		}
		rank = &job->rank[wc[i].wr_id];
		if (--rank->recvs < RQ_DEPTH / 2 && data_post_recvs(job, rank))
			return -1;
		id = ntohl(wc[i].imm_data) & INC_IMM_MSG_ID_MASK;
		if (++job->arrived[id % SLOTS] < job->nranks)
			continue;
		job->arrived[id % SLOTS] = 0;
		if (reduce_slot(job, id % SLOTS))
			return -1;
		ids[ndone++] = id;
	}
	if (ndone && send_results(job, ids, ndone))
		return -1;
	return n;
}

static int sleep_for_event(struct job *job)
{
	struct ibv_cq *cq;
	void *context;

	if (ibv_get_cq_event(job->chan, &cq, &context))
		return fail("ibv_get_cq_event", errno);
	if (++job->events == EVENTS_UNACKED_MAX) {
		ibv_ack_cq_events(cq, job->events);
		job->events = 0;
	}
	return 0;
}

static void *data_main(void *arg)
{
	unsigned int yields = YIELDS_BEFORE_SLEEP;
	struct job *job = arg;
	bool armed = false;
	int n;

	while ((n = take(job)) >= 0) {
		if (n) {
			yields = YIELDS_BEFORE_SLEEP;
		} else if (yields) {
			sched_yield();
			yields--;
		} else if (!armed) {
			if (ibv_req_notify_cq(job->rcq, 0)) {
				fail("ibv_req_notify_cq", errno);
				return NULL;
			}
			armed = true;
		} else {
			if (sleep_for_event(job))
				return NULL;
			armed = false;
			yields = YIELDS_BEFORE_SLEEP;
		}
	}
	return NULL;
}

/**
 * data_start() - start the data path
 * @job: job that all ranks have joined
 *
 * Return: 0 or -1.
 */
int data_start(struct job *job)
{
	int ret = pthread_create(&job->thread, NULL, data_main, job);

	if (ret)
		return fail("thread", ret);
	job->running = true;
	return 0;
}

/**
 * data_stop() - end the data path
 * @job: job, started or not
 */
void data_stop(struct job *job)
{
	unsigned int r;

	job->stop = true;
	for (r = 0; r < job->nranks; r++)
		if (job->rank[r].qp)
			inc_qp_to_err(job->rank[r].qp);
	if (job->running)
		pthread_join(job->thread, NULL);
	job->running = false;
}
