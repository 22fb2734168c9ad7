// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Ends of jobs: ranks leave, connections are lost, time limits pass. */
#include "nl/common.h"

#include <stdarg.h>

#include "job.h"

/* --- Jobs ---------------------------------------------------------------- */

/*
 * Do a part of a job's end; the last part frees it. Delete members that have
 * left or died first: else the kernel would wait for them.
 */
static void dismantle_job(struct job *job)
{
	struct server *s = job->server;
	struct client *c;

	/* An administrator's tree is kept, for inspection. */
	if (!s->tree_id) {
		if (!members_del(job, RANK_LOST) || !members_del(job, RANK_LEFT))
			return;
		if (job->tree.id && inc_nl_tree_del(&s->nl, job->tree.id))
			log_info("job \"%s\": tree %u cannot be deleted: %s",
				 job->request.job, job->tree.id, s->nl.error);
	}
	for (c = job->clients; c; c = c->job_next) {
		if (c->leaving)
			client_bye(c, job->missing);
		client_end(c);
	}
	if (!job->gathers)
		log_info("job \"%s\": end", job->request.job);
	job_free(job);
}

/*
 * End a job.
 * @job: job; is freed now or later
 */
void job_end(struct job *job)
{
	struct client *c, *next;

	job->core.phase = INC_JOB_OVER;
	for (c = job->clients; c; c = next) {
		next = c->job_next;
		if (c->leaving)
			continue;
		client_end(c);
		job_del_client(c);
	}
	dismantle_job(job);
}

/*
 * End a job that could not be formed.
 * @job: job; is freed now or later
 */
void job_refuse(struct job *job, int err, const char *fmt, ...)
{
	char text[INC_RDV_TEXT_MAX];
	struct client *c;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (c = job->clients; c; c = c->job_next)
		if (c->peer != PEER_UP && !c->closing)
			client_error(c, err, "job \"%s\": %s", job->request.job,
				     text);
	job_end(job);
}

/* --- Ranks that leave ---------------------------------------------------- */

/* List the ranks for which a job waits; empty: none. */
static void list_missing(struct job *job)
{
	const size_t len = sizeof(job->missing);
	const struct rank *last;
	char *text = job->missing;
	uint32_t i, end;

	*text = '\0';
	for (i = 0; i < job->core.n; i = end + 1) {
		for (end = i; end < job->core.n &&
		     inc_job_misses(&job->core, &job->ranks[end].core, true);
		     end++)
			;
		if (end == i)
			continue;
		last = &job->ranks[end - 1];
		inc_job_name_ranks(text, len, job->ranks[i].first,
				   last->first + last->n - 1);
	}
	if (!*text && job->child && !job->parent_ready &&
	    job->core.phase < INC_JOB_READY)
		snprintf(text, len, "ranks at other switches");
}

/* Detach a client from its rank. Returns whether another may take its place. */
static bool detach_client(struct client *c, enum rank_state state)
{
	struct job *job = c->job;
	struct rank *r = &job->ranks[c->rank];
	bool open = job->core.phase == INC_JOB_OPEN;

	r->client = NULL;
	/* An expected switch below has no member yet. */
	inc_job_set(&job->core, &r->core, r->core.state != RANK_PRESENT ?
		    RANK_GONE : open ? RANK_LOST : state);
	return open;
}

/* Continue an open job that has lost a rank, or from which one has left. */
static void go_on_open(struct job *job)
{
	if (job->core.present)
		members_del(job, RANK_LOST);
	else
		job_end(job);
}

/*
 * Handle "leave". The client gets an answer; the last one gets it after the
 * tree is deleted.
 * @c: client in a job that has a tree
 */
void job_leave(struct client *c)
{
	struct job *job = c->job;
	struct server *s = c->server;
	char missing[JOB_MISSING];
	bool open;

	log_info("job \"%s\": rank %u leaves", job->request.job, c->rank);
	/* The first rank that gives up determines for whom all have waited. */
	if (job->core.phase < INC_JOB_ENDING)
		list_missing(job);
	/* Copy the text: the job may be freed with its last rank. */
	snprintf(missing, sizeof(missing), "%s", job->missing);
	open = detach_client(c, RANK_LEFT);
	if (!open && inc_job_left(&job->core, s->loop.now, job->child)) {
		c->leaving = true;
		job_end(job);
		return;
	}
	job_del_client(c);
	if (open)
		go_on_open(job);
	client_bye(c, missing);
	/* Ranks at other switches may still wait for results. */
	if (!open && !job->core.present && job->up)
		client_send(job->up,
			    &(struct inc_rdv_msg){ .type = INC_RDV_LEAVE });
}

/* Drop all ranks of a connection from a job that gathers. */
static void leave_gather(struct client *c)
{
	struct job *job = c->job;
	uint32_t i;

	for (i = 0; i < job->core.n; i++)
		if (job->ranks[i].client == c)
			job_drop(job, i);
	job_del_client(c);
	if (!job->core.present)
		job_end(job);
}

/* Handle the loss of a rank's connection. */
void job_lost(struct client *c, const char *why)
{
	struct job *job = c->job;
	struct rank *r = &job->ranks[c->rank];
	bool over;

	if (job->gathers) {
		leave_gather(c);
		return;
	}
	/* The rank had left before, or the job is over. */
	if (job->core.phase == INC_JOB_OVER || r->client != c) {
		job_del_client(c);
		return;
	}
	log_info("job \"%s\": rank %u lost: %s", job->request.job,
		 r->first, why);
	if (detach_client(c, RANK_LOST)) {
		/* A lost rank is waited for; one that gave up is not. */
		r->core.arrived = false;
		job_del_client(c);
		go_on_open(job);
		return;
	}
	job_del_client(c);
	over = inc_job_fail(&job->core, c->server->loop.now);
	members_del(job, RANK_LOST);
	job_tell_failed(job, (int)r->first, INC_STATUS_MEMBER_LEFT, "rank %u: %s",
			r->first, why);
	if (over)
		job_end(job);
}

/* Handle the loss of the parent's daemon, whose tree ends with it. */
static void lose_parent(struct client *c, const char *why)
{
	struct job *job = c->job;
	bool over;

	if (job->gathers) {
		job_refuse(job, EHOSTUNREACH, "the parent's daemon: %s", why);
		return;
	}
	job_del_client(c);
	log_info("job \"%s\": the parent's daemon: %s",
		 job->request.job, why);
	if (job->core.phase >= INC_JOB_ENDING)
		return;
	over = inc_job_fail(&job->core, c->server->loop.now);
	job_tell_failed(job, -1, INC_STATUS_TREE_GONE,
			"the parent's rendezvous daemon: %s", why);
	if (over)
		job_end(job);
}

/*
 * End a connection. Also removes the client from its job. sweep_clients()
 * frees it.
 */
void client_close(struct client *c, const char *why)
{
	if (c->gone)
		return;
	client_shut(c);
	if (!c->job)
		log_info("%s: %s", c->name, why);
	else if (c->peer == PEER_UP)
		lose_parent(c, why);
	else
		job_lost(c, why);
	job_del_client(c);
}

/* --- Timers -------------------------------------------------------------- */

/* A job that is over, or has lost ranks, has work for each turn. */
static int64_t find_deadline(const struct job *job)
{
	return job->core.phase == INC_JOB_OVER || job->core.lost ? 0 :
	       inc_job_deadline(&job->core);
}

/*
 * Get the time when jobs_expire() must be called. Returns milliseconds,
 * INT64_MAX if never.
 */
int64_t jobs_next_deadline(const struct server *s)
{
	int64_t next = INT64_MAX, at;
	const struct job *job;

	for (job = s->jobs; job; job = job->next) {
		at = find_deadline(job);
		if (at < next)
			next = at;
	}
	return next;
}

static void refuse_late(struct job *job)
{
	job_refuse(job, ETIMEDOUT, "%u of %u %s within %u s: start all within that time, or raise --forming-time",
		   job->gathers ? job->core.present : job->core.rts, job->core.n,
		   job->gathers ? "ranks came" : job->levels ?
		   "members were ready" : "ranks were ready",
		   job->server->max.forming_ms / 1000);
}

/* Do due work for a job, which may be freed. */
static void expire_job(struct job *job)
{
	if (job->core.phase == INC_JOB_OVER) {
		dismantle_job(job);
		return;
	}
	members_del(job, RANK_LOST);
	switch (inc_job_due(&job->core, job->server->loop.now)) {
	case INC_JOB_NOTHING:
		break;
	case INC_JOB_LATE:
		refuse_late(job);
		break;
	case INC_JOB_LEAVE:
		if (members_del(job, RANK_LEFT))
			job->core.leave_at = 0;
		break;
	case INC_JOB_END:
		job_end(job);
		break;
	}
}

/* Do due work for all jobs. */
void jobs_expire(struct server *s)
{
	struct job *job, *next;

	for (job = s->jobs; job; job = next) {
		next = job->next;
		if (find_deadline(job) <= s->loop.now)
			expire_job(job);
	}
}

/*
 * Dismantle all trees. Jobs that gather have none, and end with their
 * connections.
 */
void jobs_end_all(struct server *s, const char *why)
{
	struct job *job, *next;

	s->work_until = INT64_MAX;
	for (job = s->jobs; job; job = next) {
		next = job->next;
		if (job->gathers)
			continue;
		job_tell_failed(job, -1, INC_STATUS_TREE_GONE, "%s", why);
		job_end(job);
	}
}
