// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The kernel's events of trees of the rendezvous daemon's jobs. Ranks see the
 * failure themselves; the daemon tells them whose fault it was.
 */
/* First: nl/common.h poisons names of members in this header. */
#include <sys/epoll.h>

#include "nl/common.h"

#include "job.h"

static void tree_is_gone(struct job *job)
{
	bool over;

	job->tree.id = 0;
	log_info("job \"%s\": tree deleted", job->request.job);
	if (job->core.phase == INC_JOB_OVER)
		return;
	over = inc_job_fail(&job->core, job->server->loop.now);
	job_tell_failed(job, -1, INC_STATUS_TREE_GONE,
			"the switch's tree was deleted");
	if (over)
		job_end(job);
}

static int one_event(const struct inc_nl_event *ev, void *arg)
{
	event_tree(arg, ev);
	return 0;
}

static void on_events(struct loop_fd *io, uint32_t events)
{
	struct server *s = container_of(io, struct server, events_io);

	if (s->events.sock &&
	    inc_nl_events(&s->events, one_event, s) == -ENOBUFS)
		events_lost(s);
}

/* Begin to receive events. */
void events_open(struct server *s)
{
	struct epoll_event e = {
		.events = EPOLLIN, .data.ptr = &s->events_io,
	};

	s->events_io.fn = on_events;
	if (!inc_nl_open(&s->events) && !inc_nl_subscribe(&s->events) &&
	    !epoll_ctl(s->loop.ep, EPOLL_CTL_ADD, inc_nl_fd(&s->events), &e))
		return;
	log_error("cannot receive events: %s", s->events.error);
	inc_nl_close(&s->events);
}

/* After a reload of the module, its old trees and subscriptions are gone. */
static void follow_module(struct server *s)
{
	if (s->events.family == s->nl.family)
		return;
	log_info("the module was loaded again");
	inc_nl_close(&s->events);
	events_open(s);
	events_lost(s);
}

/*
 * Note that a job has got a tree. Its ID may be that of a deleted tree whose
 * event has not come yet: the old tree's job must not delete the new one.
 */
void event_tree_new(const struct job *job)
{
	struct job *other, *next;

	for (other = job->server->jobs; other; other = next) {
		next = other->next;
		if (other != job && other->tree.id == job->tree.id)
			tree_is_gone(other);
	}
	follow_module(job->server);
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

/*
 * Describe a member that the switch has lost, with the reason or the tree's status.
 * Returns its rank or -1.
 */
static int describe_dead(const struct job *job, const struct inc_nl_member *m,
			 uint8_t status, char *text, size_t len)
{
	const char *name = inc_nl_status_name(status);
	const char *why = inc_nl_member_error_name(m->error);
	char who[64];
	int rank;

	if (m->tree_id != job->tree.id || m->rank >= job->core.n) {
		snprintf(text, len, "the switch's tree has failed (%s)",
			 name ? name : "error");
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
	over = inc_job_fail(&job->core, s->loop.now);
	rank = describe_dead(job, &s->dead_member, error, text, sizeof(text));
	log_info("job \"%s\": tree failed: %s", job->request.job, text);
	job_tell_failed(job, rank, error ? error : INC_STATUS_PEER_DEAD, "%s",
			text);
	if (over)
		job_end(job);
}

/* Tell the ranks the rank at fault: they know only the status of a failure. */
static void tell_wrong(struct job *job, const struct inc_nl_slot *slot)
{
	struct inc_rdv_msg msg = {
		.type	= INC_RDV_WRONG,
		.status	= slot->status,
		.msg_id	= slot->msg_id,
	};
	char wrong[64], unlike[64];

	if (slot->wrong_rank >= job->core.n || slot->unlike_rank >= job->core.n)
		return;
	msg.rank = describe_member(job, slot->wrong_rank, wrong, sizeof(wrong));
	describe_member(job, slot->unlike_rank, unlike, sizeof(unlike));
	inc_job_say_wrong(&msg, wrong, INC_NL_HAS(slot, SLOT_UNLIKE_RANK) ?
			  unlike : NULL, inc_nl_status_name(slot->status));
	log_info("job \"%s\": %s", job->request.job, msg.text);
	job_tell_all(job, &msg);
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
 * Note the member in error: the kernel names it before it reports the tree's
 * failure, and without the tree's epoch. So forget it when its tree is deleted.
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

/*
 * Handle an event of the kernel. A tree that fails or is deleted by an
 * administrator ends its job. Ranks are notified of failed messages.
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

/* Check all trees, as events were lost. */
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
