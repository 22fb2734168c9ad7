// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Trees of jobs in the kernel, and their members.
 *
 * The kernel may need many milliseconds to delete a member, and there may be
 * hundreds. So deletion continues in later turns of the main loop, as far as
 * server_may_work() permits: ranks over UC need heartbeats in the meantime.
 */
#include <netinet/ip.h>

#include "nl/common.h"

#include "job.h"

/* Fill in settings for UC that were not chosen. */
static void set_uc(struct inc_nl_tree *tree)
{
	uint32_t msg_size = tree->msg_size, slots = tree->slots;

	inc_job_uc(tree->pmtu, &msg_size, &slots);
	INC_NL_SET(tree, TREE_MSG_SIZE, msg_size, msg_size);
	INC_NL_SET(tree, TREE_SLOTS, slots, (uint16_t)slots);
}

/*
 * Get the settings of a new job's tree. Returns settings for the kernel.
 * @s: daemon, with the default settings
 * @like: the ranks' requests, beginning with the first rank's
 */
struct inc_nl_tree tree_settings(const struct server *s, uint32_t members,
				 const struct inc_rdv_join *like)
{
	const struct inc_rdv_tree *wish = &like->tree;
	struct inc_nl_tree tree = s->tree;

	INC_NL_SET(&tree, TREE_RANKS, ranks, (uint16_t)members);
	/* The kernel deletes an owned tree when this process ends. */
	INC_NL_SET(&tree, TREE_OWNED, owned, 1);
	if (wish->slots)
		INC_NL_SET(&tree, TREE_SLOTS, slots, (uint16_t)wish->slots);
	if (wish->msg_size)
		INC_NL_SET(&tree, TREE_MSG_SIZE, msg_size, wish->msg_size);
	if (wish->has_first_msg_id)
		INC_NL_SET(&tree, TREE_FIRST_MSG_ID, first_msg_id,
			   wish->first_msg_id);
	if (wish->pmtu)
		INC_NL_SET(&tree, TREE_PMTU, pmtu, (uint16_t)wish->pmtu);
	else if (!INC_NL_HAS(&tree, TREE_PMTU) && like->mtu)
		INC_NL_SET(&tree, TREE_PMTU, pmtu, (uint16_t)like->mtu);
	if (like->uc)
		set_uc(&tree);
	return tree;
}

/* Charge the first rank's host. Returns 0, or -ENOBUFS and sets nl.error. */
static int charge_host(struct job *job, uint64_t memory)
{
	struct server *s = job->server;
	struct host *host = job->host;
	uint64_t max = s->max.host_memory;

	/* A rail of a running job gets half as much room in addition. */
	if (job->extra && max <= UINT64_MAX / 2)
		max += max / 2;
	if (memory > max || host->memory > max - memory) {
		snprintf(s->nl.error, sizeof(s->nl.error),
			 "the tree needs %llu KiB, and the first rank's host has %llu of the %llu KiB that one may have: ask for fewer slots or shorter messages, or raise --max-host-memory",
			 (unsigned long long)(memory + 1023) >> 10,
			 (unsigned long long)(host->memory + 1023) >> 10,
			 (unsigned long long)max >> 10);
		return -ENOBUFS;
	}
	job->memory = memory;
	host->memory += memory;
	return 0;
}

/*
 * Make a job's tree. Returns 0, or -errno with a message in the server's
 * nl.error.
 */
int tree_make(struct job *job, const struct inc_nl_tree *want)
{
	struct server *s = job->server;
	char why[INC_NL_ERROR_LEN];
	struct inc_nl_tree tree;
	int ret = inc_nl_tree_new(&s->nl, want, &tree);

	if (ret)
		return ret;
	if (!charge_host(job, tree.memory)) {
		tree_take(job, &tree);
		return 0;
	}
	memcpy(why, s->nl.error, sizeof(why));
	inc_nl_tree_del(&s->nl, tree.id);
	memcpy(s->nl.error, why, sizeof(why));
	return -ENOSPC;
}

/* Assign a tree to a job. */
void tree_take(struct job *job, const struct inc_nl_tree *tree)
{
	job->tree = *tree;
	job->gathers = false;
	job->server->n_made++;
	log_info("job \"%s\": tree %u for %u ranks, %u slots of %u bytes, path MTU %u",
		 job->request.job, tree->id, tree->ranks, tree->slots,
		 tree->msg_size, tree->pmtu);
}

/*
 * Add a member to a job's tree. Returns 0, or -errno with a message in the
 * server's nl.error.
 * @join: its QP, and its place among the members
 */
int member_new(struct job *job, const struct inc_rdv_join *join,
	       struct inc_rdv_joined *joined)
{
	struct inc_nl_member req = { 0 }, reply;
	struct server *s = job->server;
	int ret;

	INC_NL_SET(&req, MEMBER_TREE_ID, tree_id, job->tree.id);
	INC_NL_SET(&req, MEMBER_RANK, rank, (uint16_t)join->rank);
	INC_NL_SET(&req, MEMBER_PEER_ADDR, peer_addr.len,
		   (uint8_t)join->addr.len);
	memcpy(req.peer_addr.bytes, join->addr.bytes, join->addr.len);
	INC_NL_SET(&req, MEMBER_PEER_QPN, peer_qpn, join->qpn);
	INC_NL_SET(&req, MEMBER_PEER_PSN, peer_psn, join->psn);
	if (join->uc)
		INC_NL_SET(&req, MEMBER_TRANSPORT, transport,
			   RDMA_INC_TRANSPORT_UC);
	if (s->has_psn)
		INC_NL_SET(&req, MEMBER_PSN, psn, s->psn);
	ret = inc_nl_member_new(&s->nl, &req, &reply);
	if (ret)
		return ret;
	*joined = (struct inc_rdv_joined){
		.tree_id	= job->tree.id,
		.addr.len	= reply.local_addr.len,
		.qpn		= reply.qpn,
		.psn		= reply.psn,
		.rkey		= reply.rkey,
		.slots		= job->tree.slots,
		.msg_size	= job->tree.msg_size,
		.pmtu		= job->tree.pmtu,
		.first_msg_id	= job->tree.first_msg_id,
		.dead_time	= job->tree.dead_time,
		.collectives	= job->tree.collectives,
		.dtypes		= job->tree.dtypes,
		.ops		= job->tree.ops,
		.traffic_class	= job->tree.traffic_class |
				  (job->tree.ecn ? IPTOS_ECN_ECT0 : 0),
		/* An administrator's tree has no second one over UC. */
		.change		= !s->tree_id,
	};
	memcpy(joined->addr.bytes, reply.local_addr.bytes,
	       reply.local_addr.len);
	return 0;
}

/*
 * Delete a member.
 * @r: rank; its place is free again unless all have been present
 */
void member_del(struct job *job, struct rank *r)
{
	uint16_t member = (uint16_t)(r - job->ranks);
	struct server *s = job->server;
	int ret = 0;

	inc_job_vacate(&job->core, &r->core);
	if (job->tree.id)
		ret = inc_nl_member_del(&s->nl, job->tree.id, member);
	if (ret)
		log_info("job \"%s\": rank %u: member cannot be deleted: %s",
			 job->request.job, member, s->nl.error);
}

/*
 * Delete the members of ranks in a state. Returns false if some are left for
 * the next turn.
 * @state: RANK_LOST; or RANK_LEFT, which is reported to the other ranks
 */
bool members_del(struct job *job, enum rank_state state)
{
	struct rank *r;

	inc_job_for_each(&job->core, r, state) {
		if (!server_may_work(job->server))
			return false;
		member_del(job, r);
		if (state == RANK_LEFT)
			job_tell_all(job, &(struct inc_rdv_msg){
				.type = INC_RDV_LEFT,
				.rank = (int)r->first,
			});
	}
	return true;
}

/*
 * Connect a child switch to its parent. Returns 0, or -errno with a message in
 * the server's nl.error.
 */
int tree_link(struct job *job, const struct inc_rdv_joined *linked)
{
	struct inc_nl_member req = { 0 };
	struct server *s = job->server;

	INC_NL_SET(&req, MEMBER_TREE_ID, tree_id, job->tree.id);
	INC_NL_SET(&req, MEMBER_PEER_TREE_ID, peer_tree_id, linked->tree_id);
	INC_NL_SET(&req, MEMBER_PEER_ADDR, peer_addr.len,
		   (uint8_t)linked->addr.len);
	memcpy(req.peer_addr.bytes, linked->addr.bytes, linked->addr.len);
	INC_NL_SET(&req, MEMBER_PEER_QPN, peer_qpn, linked->qpn);
	INC_NL_SET(&req, MEMBER_PEER_PSN, peer_psn, linked->psn);
	INC_NL_SET(&req, MEMBER_PEER_RKEY, peer_rkey, linked->rkey);
	return inc_nl_parent_set(&s->nl, &req, NULL);
}
