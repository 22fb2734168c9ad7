// SPDX-License-Identifier: GPL-2.0
/*
 * Verbs objects of a job: device, queues, memory, a queue pair for each rank.
 * All memory is registered here, once.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "rdma_inc_proto.h"
#include "server.h"

#define SLOTS_SIZE	((size_t)SLOTS * MSG_SIZE)

/**
 * job_open() - create the objects that all ranks share
 * @job: job, all 0
 * @join: join message of the first rank
 * @local: our address that the rank connected to
 * @dev: verbs device, NULL: any
 *
 * Return: 0 or -1.
 */
int job_open(struct job *job, const struct inc_rdv_join *join,
	     const struct inc_rdv_addr *local, const char *dev)
{
	struct inc_dev_sel sel = {
		.dev = dev, .gid_index = -1, .addr = *local,
	};
	char err[INC_RDV_TEXT_MAX];
	int n;

	if (!join->ranks || join->ranks > MAX_RANKS)
		return fail("number of ranks", EINVAL);
	job->nranks = join->ranks;
	n = (int)job->nranks;
	if (inc_dev_open(&job->dev, &sel, err, sizeof(err))) {
		fprintf(stderr, "inc-server: %s\n", err);
		return -1;
	}
	job->pd = ibv_alloc_pd(job->dev.ctx);
	job->chan = ibv_create_comp_channel(job->dev.ctx);
	if (!job->pd || !job->chan)
		return fail("verbs", errno);
	job->rcq =
		ibv_create_cq(job->dev.ctx, RQ_DEPTH * n, NULL, job->chan, 0);
	job->scq = ibv_create_cq(job->dev.ctx, SQ_DEPTH * n, NULL, NULL, 0);
	if (!job->rcq || !job->scq)
		return fail("ibv_create_cq", errno);
	job->mem = mmap(NULL, SLOTS_SIZE * (job->nranks + 1),
			PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);
	if (job->mem == MAP_FAILED) {
		job->mem = NULL;
		return fail("memory", errno);
	}
	job->result_mr = ibv_reg_mr(job->pd, job->mem, SLOTS_SIZE,
				    IBV_ACCESS_LOCAL_WRITE);
	return job->result_mr ? 0 : fail("ibv_reg_mr", errno);
}

static int make_rank(struct job *job, struct rank *rank, unsigned int r)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = job->scq,
		.recv_cq = job->rcq,
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = SQ_DEPTH, .max_recv_wr = RQ_DEPTH,
			.max_send_sge = 1, .max_recv_sge = 1,
			.max_inline_data = INLINE_MAX,
		},
	};

	if (getrandom(&rank->psn, sizeof(rank->psn), 0) != sizeof(rank->psn))
		return fail("getrandom", errno);
	rank->psn &= 0xffffff;
	rank->slots = job->mem + SLOTS_SIZE * (r + 1);
	/* A rank's slots begin at address 0, as on the switch. */
	rank->mr = ibv_reg_mr_iova(job->pd, rank->slots, SLOTS_SIZE, 0,
				   IBV_ACCESS_LOCAL_WRITE |
				   IBV_ACCESS_REMOTE_WRITE);
	rank->qp = ibv_create_qp(job->pd, &attr);
	if (!rank->mr || !rank->qp)
		return fail("queue pair", errno);
	if (inc_qp_to_init(rank->qp, &job->dev))
		return fail("queue pair to INIT", errno);
	return data_post_recvs(job, rank);
}

/**
 * job_add() - make a rank's queue pair
 * @job: job
 * @join: join message of the rank, which has not been added before
 * @joined: reply to the rank, filled in
 *
 * Return: 0 or -1.
 */
int job_add(struct job *job, const struct inc_rdv_join *join,
	    struct inc_rdv_joined *joined)
{
	struct rank *rank = &job->rank[join->rank];
	unsigned int pmtu = job->dev.mtu;
	char err[INC_RDV_TEXT_MAX];
	struct inc_rc rc;

	if (join->mtu && join->mtu < pmtu)
		pmtu = join->mtu;
	if (make_rank(job, rank, join->rank))
		return -1;
	rc = (struct inc_rc){
		.addr	= join->addr,
		.qpn	= join->qpn,
		.rq_psn	= join->psn,
		.sq_psn	= rank->psn,
		.pmtu	= pmtu,
		.timeout = QP_TIMEOUT,
	};
	if (inc_qp_to_rts(rank->qp, &job->dev, &rc, err, sizeof(err))) {
		fprintf(stderr, "inc-server: %s\n", err);
		return -1;
	}
	*joined = (struct inc_rdv_joined){
		.tree_id	= 1,
		.addr		= job->dev.addr,
		.qpn		= rank->qp->qp_num,
		.psn		= rank->psn,
		.rkey		= rank->mr->rkey,
		.slots		= SLOTS,
		.msg_size	= MSG_SIZE,
		.pmtu		= pmtu,
		.dead_time	= 1000,
		.collectives	= 1U << INC_COLL_ALLREDUCE |
				  1U << INC_COLL_BARRIER,
		.dtypes		= reduce_dtypes(),
		.ops		= reduce_ops(),
	};
	return 0;
}

static void free_rank(struct rank *rank)
{
	if (rank->qp)
		ibv_destroy_qp(rank->qp);
	if (rank->mr)
		ibv_dereg_mr(rank->mr);
}

/**
 * job_close() - free a job's objects, ready or half-made
 * @job: job whose data path does not run
 */
void job_close(struct job *job)
{
	unsigned int r;

	for (r = 0; r < job->nranks; r++)
		free_rank(&job->rank[r]);
	if (job->result_mr)
		ibv_dereg_mr(job->result_mr);
	if (job->mem)
		munmap(job->mem, SLOTS_SIZE * (job->nranks + 1));
	if (job->rcq) {
		ibv_ack_cq_events(job->rcq, job->events);
		ibv_destroy_cq(job->rcq);
	}
	if (job->scq)
		ibv_destroy_cq(job->scq);
	if (job->chan)
		ibv_destroy_comp_channel(job->chan);
	if (job->pd)
		ibv_dealloc_pd(job->pd);
	inc_dev_close(&job->dev);
}
