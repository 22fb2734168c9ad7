// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Jobs of the rendezvous daemon as objects: their connections, charges, and
 * messages to their ranks. Only this file adds a connection to a job, or removes
 * it: struct client.job, struct job.clients.
 */
#include "conf/list.h"
#include "nl/common.h"

#include <stdarg.h>

#include "job.h"

/*
 * Find a job by its name that is not ending. Returns the job, or NULL. Of a job that
 * gathers, a child knows only the part at this switch, so its parent alone can say whose
 * key is the job's: here, ranks with another key are in another job.
 * @join: request of a rank, or of a switch below
 * @levels: look for one that gathers, else for one of this switch
 */
struct job *job_find(const struct server *s, const struct inc_rdv_join *join,
		     bool levels)
{
	struct job *job;

	for (job = s->jobs; job; job = job->next)
		if (job->levels == levels && job->gathers == levels &&
		    job->core.phase < INC_JOB_ENDING &&
		    !strcmp(job->request.job, join->job) &&
		    (!s->parent || inc_job_key_fits(&job->request, join)))
			return job;
	return NULL;
}

/* May a host start another job? If not, its connection gets an error. */
static bool may_begin(struct client *c)
{
	const struct limits *max = &c->server->max;

	if (c->server->njobs >= max->groups) {
		client_error(c, ENOSPC, "this daemon accepts at most %u jobs: try later, or raise --max-trees",
			     max->groups);
		return false;
	}
	if (c->host->jobs - c->host->extra >= max->host_groups) {
		client_error(c, ENOSPC, "this daemon accepts at most %u jobs from one host: try later, or raise --max-host-trees",
			     max->host_groups);
		return false;
	}
	return true;
}

/* Extra jobs per job with two rails: the second rail, replacements, UC. */
#define EXTRA_MAX	8

/* Find the job with two rails by its secret name, which only its ranks know. */
static const struct job *find_rails(const struct server *s, const char *name)
{
	const struct job *job;

	for (job = s->jobs; job; job = job->next)
		if (*job->second &&
		    !strncmp(name, job->second, strlen(job->second)))
			break;
	return job;
}

/* Limit uncounted jobs: a rank could begin any number with the secret. */
static bool is_extra(const struct server *s, const struct job *rails)
{
	const struct job *job;
	unsigned int n = 0;

	for (job = s->jobs; rails && job; job = job->next)
		n += job->extra && !strcmp(job->second, rails->second);
	return rails && n < EXTRA_MAX;
}

/*
 * Make a job without a tree. Returns the job, without ranks; or NULL, after @c
 * was sent an error.
 * @c: connection of its first rank, or of a switch below, whose host is
 *	charged
 * @levels: its ranks may be at several switches
 */
struct job *job_new(struct client *c, const struct inc_rdv_join *join,
		    bool levels)
{
	struct server *s = c->server;
	const struct job *rails = find_rails(s, join->job);
	bool extra = is_extra(s, rails);
	struct rank *ranks;
	struct job *job;
	uint32_t i;

	if (!extra && !may_begin(c))
		return NULL;
	job = calloc(1, sizeof(*job));
	ranks = calloc(join->ranks, sizeof(*ranks));
	if (!job || !ranks) {
		client_error(c, ENOMEM, "no memory for job \"%s\"", join->job);
		free(ranks);
		free(job);
		return NULL;
	}
	for (i = 0; i < join->ranks; i++) {
		ranks[i].first = i;
		ranks[i].n = 1;
	}
	job->server = s;
	job->request = *join;
	job->levels = levels;
	job->extra = extra;
	if (rails)
		memcpy(job->second, rails->second, sizeof(job->second));
	job->gathers = true;
	job_set_ranks(job, ranks, join->ranks);
	job->host = c->host;
	job->host->jobs++;
	job->host->extra += job->extra;
	job->next = s->jobs;
	s->jobs = job;
	s->njobs += !job->extra;
	return job;
}

/*
 * Set the ranks of a job.
 * @job: job; its time limit for forming begins
 */
void job_set_ranks(struct job *job, struct rank *ranks, uint32_t n)
{
	const struct server *s = job->server;

	free(job->ranks);
	job->ranks = ranks;
	inc_job_init(&job->core, ranks, sizeof(*ranks), n);
	job->core.deadline = s->loop.now + s->max.forming_ms;
}

/*
 * Free a job.
 * @job: job; its connections are removed from it
 */
void job_free(struct job *job)
{
	struct server *s = job->server;

	while (job->clients)
		job_del_client(job->clients);
	list_remove(s->jobs, job);
	job->host->jobs--;
	job->host->extra -= job->extra;
	job->host->memory -= job->memory;
	host_put(s, job->host);
	s->njobs -= !job->extra;
	s->n_made -= !job->gathers;
	free(job->ranks);
	free(job);
}

/* --- Connections --------------------------------------------------------- */

/*
 * Add a connection to a job.
 * @c: connection, in no job or in this one
 */
void job_add_client(struct job *job, struct client *c)
{
	if (c->job == job)
		return;
	c->job = job;
	c->job_next = job->clients;
	job->clients = c;
	c->deadline = 0;
}

static void forget_client(struct job *job, const struct client *c)
{
	struct rank *r;

	if (job->up == c)
		job->up = NULL;
	for (r = job->ranks; r < job->ranks + job->core.n; r++) {
		if (r->client != c)
			continue;
		r->client = NULL;
		/* The data path reports a deletion to the members. */
		if (r->core.state == RANK_PRESENT)
			inc_job_set(&job->core, &r->core,
				    job->gathers ? RANK_ABSENT :
				    job->core.phase == INC_JOB_OVER ?
				    RANK_GONE : RANK_LEFT);
	}
}

/*
 * Remove a connection from its job, if it is in one. After that, nothing in
 * the job points to it, and the time limit for joining starts again.
 */
void job_del_client(struct client *c)
{
	struct job *job = c->job;
	struct client **link;

	if (!job)
		return;
	for (link = &job->clients; *link != c; link = &(*link)->job_next)
		;
	*link = c->job_next;
	c->job = NULL;
	c->job_next = NULL;
	forget_client(job, c);
	client_wait_join(c);
}

/* Forget a rank of a job that gathers. */
void job_drop(struct job *job, uint32_t rank)
{
	struct inc_rdv_msg msg =
		{ .type = INC_RDV_RETRACT, .join = job->request };
	struct rank *r = &job->ranks[rank];

	msg.join.rank = rank;
	r->client = NULL;
	inc_job_set(&job->core, &r->core, RANK_ABSENT);
	if (job->up)
		client_send(job->up, &msg);
}

/* Send a line to all ranks that are present. */
void job_tell_all(struct job *job, const struct inc_rdv_msg *msg)
{
	const struct rank *r;

	inc_job_for_each(&job->core, r, RANK_PRESENT)
		client_send(r->client, msg);
}

/*
 * Tell all ranks that are present that the tree has failed.
 * @rank: rank that caused it; -1: none
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
