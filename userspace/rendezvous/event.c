// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What the kernel says of the trees of the rendezvous daemon's jobs. The ranks see
 * that something has failed; they are told whose fault it was.
 */
#include "nl/common.h"

#include "job.h"

static void tree_is_gone(struct job *job)
{
	bool over;

	job->tree.id = 0;
	log_info("job \"%s\": tree deleted", job->request.job);
	if (job->core.phase == INC_JOB_OVER)
		return;
	over = inc_job_fail(&job->core, job->server->now);
	job_tell_failed(job, -1, INC_STATUS_TREE_GONE,
			"the switch's tree was deleted");
	if (over)
		job_end(job);
}

/**
 * event_tree_new() - note that a job has got a tree
 * @job: job
 *
 * The kernel reports late that a tree was deleted. Its ID is free before that, and may be
 * that of the new one: no other job may delete it.
 */
void event_tree_new(const struct job *job)
{
	struct job *other, *next;

	for (other = job->server->jobs; other; other = next) {
		next = other->next;
		if (other != job && other->tree.id == job->tree.id)
			tree_is_gone(other);
	}
}

/*
 * Describe a member: a rank, or the ranks below a switch. Returns the rank or
 * -1.
 */
static int describe_member(const struct job *job, uint32_t member, char *text,
			   size_t len)
{
	uint32_t first = job->ranks[member].first;
	uint32_t n = job->tree.nbelow ? job->tree.below[member] : 0;

	if (!n) {
		snprintf(text, len, "rank %u", first);
		return (int)first;
	}
	snprintf(text, len, "one of the ranks %u to %u, at another switch", first,
		 first + n - 1);
	return -1;
}

/* Describe a member that the switch has lost, and why. Returns its rank or -1. */
static int describe_dead(const struct job *job, const struct inc_nl_member *m,
			 char *text, size_t len)
{
	const char *why = inc_nl_member_error_name(m->error);
	char who[64];
	int rank;

	if (m->tree_id != job->tree.id || m->rank >= job->core.n) {
		snprintf(text, len, "the switch's tree has failed");
		return -1;
	}
	rank = describe_member(job, m->rank, who, sizeof(who));
	why = why ? why : "error";
	snprintf(text, len, "%s: the switch has lost it (%s%s)", who, why,
		 inc_job_hint(why));
	return rank;
}

static void tree_has_failed(struct job *job, uint8_t error)
{
	struct server *s = job->server;
	char text[INC_RDV_TEXT_MAX];
	bool over;
	int rank;

	if (job->core.phase >= INC_JOB_ENDING)
		return;
	over = inc_job_fail(&job->core, s->now);
	rank = describe_dead(job, &s->dead_member, text, sizeof(text));
	log_info("job \"%s\": tree failed: %s", job->request.job, text);
	job_tell_failed(job, rank, error ? error : INC_STATUS_PEER_DEAD, "%s",
			text);
	if (over)
		job_end(job);
}

/* The ranks know only the status of a failure: tell them the rank at fault. */
static void tell_wrong(struct job *job, const struct inc_nl_slot *slot)
{
	struct inc_rdv_msg msg = {
		.type	= INC_RDV_WRONG,
		.status	= slot->status,
		.msg_id	= slot->msg_id,
	};
	char wrong[64], unlike[64];
	const struct rank *r;

	if (slot->wrong_rank >= job->core.n || slot->unlike_rank >= job->core.n)
		return;
	msg.rank = describe_member(job, slot->wrong_rank, wrong, sizeof(wrong));
	describe_member(job, slot->unlike_rank, unlike, sizeof(unlike));
	inc_job_say_wrong(&msg, wrong, INC_NL_HAS(slot, SLOT_UNLIKE_RANK) ?
			  unlike : NULL, inc_nl_status_name(slot->status));
	log_info("job \"%s\": %s", job->request.job, msg.text);
	inc_job_for_each(&job->core, r, RANK_PRESENT)
		if (r->client->takes_wrong)
			client_send(r->client, &msg);
}

static struct job *job_by_tree(const struct server *s, uint32_t id,
			       uint32_t epoch)
{
	struct job *job;

	for (job = s->jobs; job; job = job->next)
		if (job->tree.id == id && job->tree.epoch == epoch)
			return job;
	return NULL;
}

/*
 * The kernel names the member before it reports that the tree has failed, and
 * without the tree's epoch. So forget the name when its tree is deleted.
 */
static void note_dead(struct server *s, const struct inc_nl_event *ev)
{
	if (ev->cmd != RDMA_INC_CMD_MEMBER_ERROR_NTF) {
		if (ev->tree.id == s->dead_member.tree_id)
			s->dead_member.tree_id = 0;
	} else if (INC_NL_HAS(&ev->member, MEMBER_RANK) &&
		   ev->member.tree_id != s->dead_member.tree_id) {
		s->dead_member = ev->member;
	}
}

/**
 * event_tree() - handle an event of the kernel
 * @s: daemon
 * @ev: event
 *
 * A tree that fails or is deleted by an administrator ends its job. Ranks are
 * notified of failed messages.
 */
void event_tree(struct server *s, const struct inc_nl_event *ev)
{
	struct job *job;

	switch (ev->cmd) {
	case RDMA_INC_CMD_SLOT_FAILED_NTF:
		job = job_by_tree(s, ev->slot.tree_id, ev->slot.epoch);
		if (job && job->core.phase < INC_JOB_OVER)
			tell_wrong(job, &ev->slot);
		break;
	case RDMA_INC_CMD_TREE_DEL_NTF:
		job = job_by_tree(s, ev->tree.id, ev->tree.epoch);
		if (job)
			tree_is_gone(job);
		note_dead(s, ev);
		break;
	case RDMA_INC_CMD_TREE_FAILED_NTF:
		job = job_by_tree(s, ev->tree.id, ev->tree.epoch);
		if (job)
			tree_has_failed(job, ev->tree.error);
		note_dead(s, ev);
		break;
	case RDMA_INC_CMD_TREE_NEW_NTF:
	case RDMA_INC_CMD_MEMBER_ERROR_NTF:
		note_dead(s, ev);
		break;
	default:
		break;
	}
}

/**
 * events_lost() - check all trees, as events were lost
 * @s: daemon
 */
void events_lost(struct server *s)
{
	struct inc_nl_tree tree;
	struct job *job, *next;
	int ret;

	for (job = s->jobs; job; job = next) {
		next = job->next;
		if (!job->tree.id)
			continue;
		ret = inc_nl_tree_get(&s->nl, job->tree.id, &tree);
		if (ret == -ENOENT || (!ret && tree.epoch != job->tree.epoch))
			tree_is_gone(job);
		else if (!ret && tree.state == RDMA_INC_TREE_STATE_FAILED)
			tree_has_failed(job, tree.error);
	}
}
