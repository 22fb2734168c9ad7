// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The end of jobs.
 *
 * A rank that leaves in order stays in the tree for LEAVE_MS: when a program
 * ends, all its ranks leave at about the same time, and the slower ones must
 * not see an error.
 *
 * The kernel may need many milliseconds to delete a member, and there may be
 * hundreds. So deletion continues in later turns of the main loop, as far as
 * server_may_work() permits: ranks over UC need a sign of life in the meantime.
 */
#include "nl/common.h"

#include <stdarg.h>

#include "job.h"

/*
 * Over UC only the rank itself knows that its last result was lost, and it may
 * need several timeouts to recover it.
 */
#define LEAVE_MS	2000
#define CHILD_MS	300	/* ... if a child's tree has no ranks left */
/* A rank that stays after the failure of its tree does not keep the tree. */
#define ENDING_MS	60000

/**
 * job_tell_failed() - tell all ranks that are present that the tree has failed
 * @job: job
 * @rank: rank that caused it; -1: none
 * @status: status that requests are answered with
 * @fmt: reason
 */
void job_tell_failed(struct job *job, int rank, unsigned int status,
		     const char *fmt, ...)
{
	struct inc_rdv_msg msg = {
		.type	= INC_RDV_FAILED,
		.rank	= rank,
		.status	= status,
	};
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg.text, sizeof(msg.text), fmt, ap);
	va_end(ap);
	job_tell_all(job, &msg);
}

/**
 * job_begin_end() - start to end a job
 * @job: job, whose name is free after that
 */
void job_begin_end(struct job *job)
{
	if (!job->ending)
		job->group.until = job->group.server->now + ENDING_MS;
	job->ending = true;
}

/* --- Deletion of members and trees --------------------------------------- */

static void member_del(struct job *job, uint32_t rank)
{
	struct server *s = job->group.server;
	int ret = 0;

	job->lost -= job->ranks[rank].state == RANK_LOST;
	/* Its place is free again until all ranks are present. */
	job->ranks[rank].state = job->ready || job->fixed || job->ending ?
				 RANK_GONE : RANK_ABSENT;
	if (job->tree.id)
		ret = inc_nl_member_del(&s->nl, job->tree.id, (uint16_t)rank);
	if (ret)
		server_log(s, "job \"%s\": rank %u: member cannot be deleted: %s",
			   job->name, rank, s->nl.error);
}

/*
 * Delete the members of ranks in @state; if @tell, tell the others that they
 * have left. Returns false if some are left for the next turn.
 */
static bool delete_members(struct job *job, enum rank_state state, bool tell)
{
	uint32_t i;

	for (i = 0; i < job->nranks; i++) {
		if (job->ranks[i].state != state)
			continue;
		if (!server_may_work(job->group.server))
			return false;
		member_del(job, i);
		if (tell)
			job_tell_all(job, &(struct inc_rdv_msg){
				.type = INC_RDV_LEFT,
				.rank = (int)job->ranks[i].first,
			});
	}
	return true;
}

/**
 * job_make_room() - free the place of a rank that was lost
 * @job: job that is forming
 * @rank: rank
 *
 * Return: false if the place is taken.
 */
bool job_make_room(struct job *job, uint32_t rank)
{
	/* A previous client may still be a member. */
	if (job->ranks[rank].state == RANK_LOST)
		member_del(job, rank);
	return job->ranks[rank].state == RANK_ABSENT;
}

static void job_free(struct job *job)
{
	struct server *s = job->group.server;
	struct job **link;
	struct client *c;

	for (c = job->group.clients; c; c = c->group_next) {
		if (c->bye)
			client_bye(c, job->missing);
		client_end(c);
	}
	server_log(s, "job \"%s\": end", job->name);
	for (link = &s->jobs; *link != job; link = &(*link)->next)
		;
	*link = job->next;
	if (job->ready)
		s->jobs_done++;
	group_close(&job->group);
	free(job);
}

/*
 * Do a part of a job's end; the last part frees it. Members that have left or
 * died are deleted first, so that the kernel does not wait for them.
 */
static void dismantle(struct job *job)
{
	struct server *s = job->group.server;

	/* An administrator's tree is kept, for inspection. */
	if (!s->tree_id) {
		if (!delete_members(job, RANK_LOST, false) ||
		    !delete_members(job, RANK_LEFT, false))
			return;
		if (job->tree.id && inc_nl_tree_del(&s->nl, job->tree.id))
			server_log(s, "job \"%s\": tree %u cannot be deleted: %s",
				   job->name, job->tree.id, s->nl.error);
	}
	job_free(job);
}

/**
 * job_end() - end a job
 * @job: job; is freed now or later
 */
void job_end(struct job *job)
{
	struct client *c, *next;

	job->ending = true;
	job->over = true;
	for (c = job->group.clients; c; c = next) {
		next = c->group_next;
		if (c->bye)
			continue;
		client_end(c);
		group_del(c);
	}
	dismantle(job);
}

/**
 * job_refuse() - end a job that could not be formed
 * @job: job; is freed now or later
 * @err: positive errno value
 * @fmt: why
 */
void job_refuse(struct job *job, int err, const char *fmt, ...)
{
	char text[INC_RDV_TEXT_MAX / 2];
	struct client *c;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (c = job->group.clients; c; c = c->group_next)
		if (c->role != ROLE_UP && !c->closing)
			client_error(c, err, "job \"%s\": %s", job->name, text);
	job_end(job);
}

/* --- Ranks that leave -------------------------------------------------- */

/* The client is not a rank any more. */
static void detach(struct job *job, struct client *c, enum rank_state state)
{
	struct rank *r = &job->ranks[c->rank];
	bool member = r->state == RANK_PRESENT;

	job_forget(&job->group, c);
	r->state = member ? state : RANK_GONE;
	job->lost += r->state == RANK_LOST;
}

/* A rank leaves before all are present: its place is free again. */
static void unjoin(struct job *job, struct client *c)
{
	detach(job, c, RANK_LOST);
	group_del(c);
	if (job->present)
		delete_members(job, RANK_LOST, false);
	else
		job_end(job);
}

/**
 * job_leave() - handle "leave"
 * @c: client in a job
 *
 * The client gets an answer; the last one gets it after the tree is deleted.
 */
void job_leave(struct client *c)
{
	struct job *job = job_of(c);
	struct server *s = c->server;
	char missing[JOB_MISSING];

	server_log(s, "job \"%s\": rank %u leaves", job->name, c->rank);
	/* When a job ends, the first that gives up knows for whom all waited. */
	if (!job->ending)
		job_missing(job);
	/* The job may go with its last rank. */
	snprintf(missing, sizeof(missing), "%s", job->missing);
	if (!job->ready && !job->fixed) {
		unjoin(job, c);
		client_bye(c, missing);
		return;
	}
	detach(job, c, RANK_LEFT);
	job_begin_end(job);
	if (!job->leave_at)
		job->leave_at = s->now + LEAVE_MS;
	if (!job->present && !job->child) {
		c->bye = true;
		job_end(job);
		return;
	}
	group_del(c);
	client_bye(c, missing);
	if (job->present)
		return;
	/* Ranks at other switches may still wait for results. */
	job->leave_at = s->now + CHILD_MS;
	if (job->up)
		client_send(job->up,
			    &(struct inc_rdv_msg){ .type = INC_RDV_LEAVE });
}

/**
 * job_lost() - handle the loss of a rank's connection
 * @c: client in a job
 * @why: reason
 */
void job_lost(struct client *c, const char *why)
{
	struct job *job = job_of(c);
	uint32_t rank = job->ranks[c->rank].first;

	/* It had left before, or the job is over. */
	if (job->over || job->ranks[c->rank].client != c) {
		group_del(c);
		return;
	}
	server_log(c->server, "job \"%s\": rank %u lost: %s", job->name, rank,
		   why);
	if (!job->ready && !job->fixed) {
		/* The others wait for it, unlike for one that gave up. */
		job->ranks[c->rank].came = false;
		unjoin(job, c);
		return;
	}
	detach(job, c, RANK_LOST);
	group_del(c);
	job_begin_end(job);
	delete_members(job, RANK_LOST, false);
	job_tell_failed(job, (int)rank, INC_STATUS_MEMBER_LEFT, "rank %u: %s",
			rank, why);
	if (!job->present)
		job_end(job);
}

/**
 * job_up_lost() - handle the loss of the connection to the parent's daemon
 * @c: connection
 * @why: reason
 *
 * The tree works as long as the switches do.
 */
void job_up_lost(struct client *c, const char *why)
{
	struct job *job = job_of(c);

	group_del(c);
	server_log(c->server, "job \"%s\": the parent's daemon: %s", job->name,
		   why);
	if (job->ending)
		return;
	job_begin_end(job);
	job_tell_failed(job, -1, INC_STATUS_TREE_GONE,
			"the parent's rendezvous daemon: %s", why);
	if (!job->present)
		job_end(job);
}

/* --- Timers ------------------------------------------------------------ */

static int64_t deadline(const struct job *job)
{
	int64_t next = INT64_MAX;

	if (job->over || job->lost)
		return 0;
	if (job->leave_at)
		next = job->leave_at;
	if ((!job->ready || job->ending) && job->group.until < next)
		next = job->group.until;
	return next;
}

/**
 * job_next_deadline() - get the time when job_expire() must be called
 * @s: daemon
 *
 * Return: milliseconds, INT64_MAX if never.
 */
int64_t job_next_deadline(const struct server *s)
{
	int64_t next = INT64_MAX, at;
	const struct job *job;

	for (job = s->jobs; job; job = job->next) {
		at = deadline(job);
		if (at < next)
			next = at;
	}
	return next;
}

/* Do the work that is due for a job; it may be freed. */
static void expire(struct job *job)
{
	struct server *s = job->group.server;

	if (job->over) {
		dismantle(job);
		return;
	}
	delete_members(job, RANK_LOST, false);
	if (!job->ready && !job->ending && job->group.until <= s->now) {
		job_refuse(job, ETIMEDOUT, "%u of %u %s ready within %u s: start all within that time, or raise --forming-time",
			   job->rts, job->nranks, job->fixed ? "members were" :
			   "ranks were", s->max.forming_ms / 1000);
		return;
	}
	if (job->ending && job->group.until <= s->now) {
		job_end(job);
		return;
	}
	if (!job->leave_at || job->leave_at > s->now)
		return;
	if (!job->present)
		job_end(job);
	else if (delete_members(job, RANK_LEFT, true))
		job->leave_at = 0;
}

/**
 * job_expire() - do the work that is due
 * @s: daemon
 */
void job_expire(struct server *s)
{
	struct job *job, *next;

	for (job = s->jobs; job; job = next) {
		next = job->next;
		if (deadline(job) <= s->now)
			expire(job);
	}
}

/* --- Kernel events, and the daemon's end ------------------------------- */

static void tree_is_gone(struct job *job)
{
	job->tree.id = 0;
	server_log(job->group.server, "job \"%s\": tree deleted", job->name);
	if (job->over)
		return;
	job_begin_end(job);
	job_tell_failed(job, -1, INC_STATUS_TREE_GONE,
			"the switch's tree was deleted");
	if (!job->present)
		job_end(job);
}

/*
 * Describe a member: a rank, or the ranks below a switch. Returns the rank or
 * -1.
 */
static int member_text(const struct job *job, uint32_t member, char *text,
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

/* Why the switch has lost a member; some causes need more than a name. */
static const char *member_why(const struct inc_nl_member *m)
{
	const char *why = inc_nl_member_error_name(m->error);

	if (m->error == RDMA_INC_MEMBER_ERROR_LOCAL_PLACE_LOST)
		return "local-place-lost: its RDMA device lost its place in a retransmission, see debugging.rst";
	if (m->error == RDMA_INC_MEMBER_ERROR_MTU_EXCEEDED)
		return "mtu-exceeded: the MTU of a device on the way to it has become too small for its path MTU, see inc-tool check";
	return why ? why : "error";
}

static void tree_has_failed(struct job *job, uint8_t error)
{
	const struct inc_nl_member *m = &job->group.server->dead;
	char who[64];
	int rank;

	if (job->ending)
		return;
	job_begin_end(job);
	server_log(job->group.server, "job \"%s\": tree failed", job->name);
	if (!error)
		error = INC_STATUS_PEER_DEAD;
	if (m->tree_id == job->tree.id && m->rank < job->nranks) {
		rank = member_text(job, m->rank, who, sizeof(who));
		server_log(job->group.server, "job \"%s\": %s: lost (%s)",
			   job->name, who, member_why(m));
		job_tell_failed(job, rank, error, "%s: the switch has lost it (%s)",
				who, member_why(m));
	} else {
		job_tell_failed(job, -1, error, "the switch's tree has failed");
	}
	if (!job->present)
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
	const char *status = inc_nl_status_name(slot->status);
	char wrong[64], unlike[64];
	uint32_t i;

	if (slot->wrong_rank >= job->nranks || slot->unlike_rank >= job->nranks)
		return;
	msg.rank = member_text(job, slot->wrong_rank, wrong, sizeof(wrong));
	member_text(job, slot->unlike_rank, unlike, sizeof(unlike));
	if (INC_NL_HAS(slot, SLOT_UNLIKE_RANK))
		snprintf(msg.text, sizeof(msg.text),
			 "message %u: the request of %s disagrees with that of %s",
			 slot->msg_id, wrong, unlike);
	else
		snprintf(msg.text, sizeof(msg.text),
			 "message %u: the request of %s is wrong (%s)",
			 slot->msg_id, wrong, status ? status : "?");
	server_log(job->group.server, "job \"%s\": %s", job->name, msg.text);
	for (i = 0; i < job->nranks; i++)
		if (job->ranks[i].state == RANK_PRESENT &&
		    job->ranks[i].client->wrong)
			client_send(job->ranks[i].client, &msg);
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
	if (ev->cmd != RDMA_INC_CMD_MEMBER_ERROR_NTF)
		s->dead.tree_id = ev->tree.id == s->dead.tree_id ? 0 :
				  s->dead.tree_id;
	else if (INC_NL_HAS(&ev->member, MEMBER_RANK) &&
		 ev->member.tree_id != s->dead.tree_id)
		s->dead = ev->member;
}

/**
 * job_event() - handle an event of the kernel
 * @s: daemon
 * @ev: event
 *
 * A tree that fails or is deleted by an administrator ends its job. Ranks are
 * notified of failed messages.
 */
void job_event(struct server *s, const struct inc_nl_event *ev)
{
	struct job *job;

	switch (ev->cmd) {
	case RDMA_INC_CMD_SLOT_FAILED_NTF:
		job = job_by_tree(s, ev->slot.tree_id, ev->slot.epoch);
		if (job && !job->over)
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
 * job_look_at_trees() - check all trees, as events were lost
 * @s: daemon
 */
void job_look_at_trees(struct server *s)
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

/**
 * job_end_all() - dismantle all trees
 * @s: daemon
 * @why: reason, for the ranks
 */
void job_end_all(struct server *s, const char *why)
{
	struct job *job, *next;

	s->work_until = INT64_MAX;
	for (job = s->jobs; job; job = next) {
		next = job->next;
		job_tell_failed(job, -1, INC_STATUS_TREE_GONE, "%s", why);
		job_end(job);
	}
}
