// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The UC side of a communicator: retransmissions, queries and their answers.
 * core/uc_rtx.h decides what to send, this file sends it.
 *
 * Data and results are always copied: data may have to be retransmitted, and a
 * result that the network delayed or duplicated may arrive long after the
 * operation has ended. See landing.h for late results.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "uc.h"
#include "arena.h"
#include "core/seg.h"
#include "fail.h"
#include "sq.h"

/*
 * While results keep arriving, polling for them now and then costs less than
 * being woken for each: nap for a share of a long round trip.
 */
#define NAP_SHARE	8
#define NAP_MIN_US	250
#define NAP_MAX_US	4000
#define NAP_IN_FLIGHT	16

/* Without results the clock is read once in this many calls. */
#define IDLE_CALLS	8

/*
 * Allocate the UC state that depends on the tree. Returns 0 or a negative
 * errno value. inc_uc_free() frees.
 */
int inc_uc_alloc(struct inc_comm *comm)
{
	uint32_t entries = comm->msgs.mask + 1, seed;
	struct inc_uc *uc = comm->uc;
	int ret;

	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		return -EIO;
	uc->ring = calloc(entries, sizeof(*uc->ring));
	uc->queries = calloc(comm->sq.depth, sizeof(*uc->queries));
	if (!uc->ring || !uc->queries)
		return -ENOMEM;
	uc->mr = ibv_reg_mr(comm->pd, uc->queries,
			    comm->sq.depth * sizeof(*uc->queries), 0);
	if (!uc->mr)
		return inc_verbs_errno();
	ret = inc_landing_init(&uc->landing, comm->pd, entries,
			       comm->arena.entry_data);
	if (ret)
		return ret;
	inc_uc_rtx_init(&uc->rtx, uc->ring, entries, comm->msgs.next, seed);
	inc_bdp_init(&uc->bdp, comm->window.now, comm->window.now,
		     comm->window.max, 0);
	return 0;
}

/* Forget all messages, as there is a new tree. */
void inc_uc_restart(struct inc_comm *comm)
{
	struct inc_uc *uc = comm->uc;
	uint32_t entries = comm->msgs.mask + 1;

	memset(uc->ring, 0, entries * sizeof(*uc->ring));
	inc_uc_rtx_init(&uc->rtx, uc->ring, entries, comm->msgs.next,
			comm->qpn);
	uc->now = inc_now_us();
}

/* Free all of the UC side. */
void inc_uc_free(struct inc_comm *comm)
{
	struct inc_uc *uc = comm->uc;

	if (!uc)
		return;
	inc_landing_exit(&uc->landing);
	if (uc->mr)
		ibv_dereg_mr(uc->mr);
	free(uc->queries);
	free(uc->ring);
	free(uc);
	comm->uc = NULL;
}

/*
 * Record that the next message is sent.
 * @first: it is the first of several messages that are sent together
 */
void inc_uc_sent(struct inc_comm *comm, bool first)
{
	struct inc_uc *uc = comm->uc;

	/* If results have just arrived, the clock was read for them. */
	if (first && uc->idle)
		uc->now = inc_now_us();
	inc_uc_rtx_sent(&uc->rtx, uc->now);
	if (!uc->idle && !inc_uc_rtx_may_send(&uc->rtx, comm->window.now))
		inc_bdp_filled(&uc->bdp, uc->rtx.next - 1, uc->now);
}

/*
 * Record a message's result or error.
 * @status: error; no measure of the path
 */
void inc_uc_done(struct inc_comm *comm, uint32_t id, unsigned int status)
{
	struct inc_uc *uc = comm->uc;
	const struct inc_uc_rtx_msg *m = &uc->ring[id & uc->rtx.mask];
	uint64_t rtt = status || m->again ? 0 : uc->now - m->sent;

	if (!inc_uc_rtx_done(&uc->rtx, id, uc->now))
		return;
	if (m->again && m->missed)
		inc_bdp_lost(&uc->bdp);
	if (inc_bdp_done(&uc->bdp, id, rtt, uc->now))
		comm->window.now = uc->bdp.now;
}

/* A message that does not fit into the send queue is lost, and times out. */
static void post_message(struct inc_comm *comm, uint32_t id,
			 struct ibv_sge *sge)
{
	struct ibv_send_wr wr = {
		.sg_list = sge, .num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.imm_data = htonl(inc_seg_imm(id)),
		.wr.rdma = {
			.remote_addr = inc_msg_addr(comm, id),
			.rkey = comm->tree.rkey,
		},
	};

	if (comm->sq.posted - comm->sq.done == comm->sq.depth)
		inc_sq_reap(comm);
	if (inc_comm_stopped(comm) || comm->sq.posted - comm->sq.done == comm->sq.depth)
		return;
	wr.wr_id = ++comm->sq.posted;
	if (wr.wr_id % (comm->sq.depth / 4) == 0) {
		wr.send_flags |= IBV_SEND_SIGNALED;
		comm->sq.signaled = wr.wr_id;
	}
	if (sge->length <= comm->sq.inline_max)
		wr.send_flags |= IBV_SEND_INLINE;
	inc_sq_post(comm, &wr);
}

static void retransmit_message(struct inc_comm *comm, uint32_t id)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)inc_msg_hdr(comm, id),
		.length = comm->msgs.ring[id & comm->msgs.mask].out,
		.lkey = comm->arena.mr->lkey,
	};

	comm->info.resent++;
	post_message(comm, id, &sge);
}

static void send_query(struct inc_comm *comm, uint32_t id)
{
	struct inc_uc *uc = comm->uc;
	struct inc_hdr *hdr = &uc->queries[comm->sq.posted % comm->sq.depth];
	struct ibv_sge sge = {
		.addr = (uintptr_t)hdr, .length = INC_HDR_LEN,
		.lkey = uc->mr->lkey,
	};

	*hdr = *inc_msg_hdr(comm, id);
	hdr->flags |= htons(INC_HDR_F_QUERY);
	comm->info.queries++;
	post_message(comm, id, &sge);
}

/* Record that receives have completed. */
void inc_uc_came(struct inc_comm *comm)
{
	comm->uc->now = inc_now_us();
	comm->uc->idle = 0;
}

/*
 * Handle marks and statuses that only UC members get. Returns true if nothing
 * is left to do.
 * @status: status of the Immediate; set to INC_STATUS_OK for a result
 */
bool inc_uc_heard(struct inc_comm *comm, uint32_t id, unsigned int *status)
{
	struct inc_uc *uc = comm->uc;
	uint32_t behind = *status & INC_IMM_LOWMARK_MAX;

	if (*status & INC_IMM_LOWMARK) {
		*status = INC_STATUS_OK;
		if (behind != INC_IMM_LOWMARK_MAX)
			inc_uc_rtx_mark(&uc->rtx, id - behind, uc->now);
		return false;
	}
	switch (*status) {
	case INC_STATUS_RESEND:
		if (inc_uc_rtx_resend(&uc->rtx, id, uc->now)) {
			inc_bdp_lost(&uc->bdp);
			retransmit_message(comm, id);
		}
		return true;
	case INC_STATUS_PENDING:
		inc_uc_rtx_pending(&uc->rtx, id, uc->now);
		return true;
	}
	return false;
}

/* Query due messages. */
void inc_uc_progress(struct inc_comm *comm)
{
	struct inc_uc *uc = comm->uc;
	uint32_t ids[INC_UC_RTX_BURST];
	unsigned int i, n, tries, copies;
	bool fresh = !uc->idle++;

	if (uc->rtx.head == uc->rtx.next)
		return;
	if (!fresh) {
		if (uc->idle < IDLE_CALLS)
			return;
		uc->idle = 1;
		uc->now = inc_now_us();
	}
	n = inc_uc_rtx_due(&uc->rtx, uc->now, ids, &tries);
	if (tries >= uc->retries) {
		if (comm->rebuild.on) {
			inc_comm_break(comm, -EHOSTUNREACH, "the switch did not answer %u times",
				       tries);
			return;
		}
		inc_fail_own(comm, -EHOSTUNREACH,
			     "the switch did not answer %u times, message 0x%x",
			     tries, ids[0]);
		return;
	}
	for (i = 0; i < n; i++)
		for (copies = inc_uc_rtx_copies(&uc->rtx, ids[i]);
		     copies && !inc_comm_stopped(comm); copies--)
			send_query(comm, ids[i]);
}

/* Make the next call read the clock, as no event arrived. */
void inc_uc_woke(struct inc_comm *comm)
{
	comm->uc->idle = IDLE_CALLS;
}

/*
 * Sleep briefly if many messages are in flight. Returns true if it slept:
 * results may have arrived, event or not.
 */
bool inc_uc_nap(struct inc_comm *comm)
{
	const struct inc_uc_rtx *r = &comm->uc->rtx;
	uint32_t us = r->srtt / NAP_SHARE;
	struct timespec t;

	if (us < NAP_MIN_US || r->next - r->high < NAP_IN_FLIGHT)
		return false;
	t = (struct timespec) {
		.tv_nsec = (us < NAP_MAX_US ? us : NAP_MAX_US) * 1000L,
	};
	nanosleep(&t, NULL);
	inc_uc_woke(comm);
	return true;
}

/*
 * Compute how long to sleep before the next query. Returns milliseconds, or
 * INC_FOREVER.
 */
int inc_uc_patience(const struct inc_comm *comm, int ms)
{
	const struct inc_uc *uc = comm->uc;
	int due;

	if (uc->rtx.next_due == UINT64_MAX)
		return ms;
	/* The reading of the clock for the last result is recent enough. */
	due = uc->rtx.next_due <= uc->now ? 1 :
	      (int)((uc->rtx.next_due - uc->now) / 1000) + 1;
	return ms == INC_FOREVER || due < ms ? due : ms;
}
