// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Handles the messages "join", "rts" and "lossy". */
#include "conf/keepalive.h"
#include "nl/common.h"

#include "job.h"

/*
 * Check whether a rank, or a child switch with one, has the key of its job, if there is
 * that job already. Returns true if so.
 * @c: its connection, which gets an error if not
 */
bool join_key_fits(struct client *c, const struct inc_rdv_join *join)
{
	const struct job *job = job_find(c->server, join, false);

	if (!job)
		job = job_find(c->server, join, true);
	if (!job || inc_job_key_fits(&job->request, join))
		return true;
	client_error(c, EACCES, "job \"%s\": rank %u has %s (INC_JOB_KEY)",
		     join->job, join->rank, inc_job_key_why(&job->request, join));
	return false;
}

/*
 * Check whether a rank may take its place in a job. Returns true if so.
 * @c: its connection, which gets an error if not
 */
bool join_fits(struct client *c, struct job *job,
	       const struct inc_rdv_join *join)
{
	struct rank *r;

	if (join->ranks != job->request.ranks) {
		client_error(c, EINVAL, "job \"%s\" has %u ranks, not %u",
			     join->job, job->request.ranks, join->ranks);
		return false;
	}
	r = &job->ranks[join->rank];
	/* A previous client may still be a member. */
	if (r->core.state == RANK_LOST)
		member_del(job, r);
	if (r->core.state == RANK_ABSENT)
		return true;
	client_error(c, EEXIST, "job \"%s\": rank %u is taken by %s", join->job,
		     join->rank, r->client->name);
	return false;
}

static bool wish_differs(struct client *c, const struct job *job,
			 const char *what, uint32_t wish, uint32_t is)
{
	if (!wish || wish == is)
		return false;
	client_error(c, EINVAL, "job \"%s\": %s %u is requested, but the tree that another rank created has %u",
		     job->request.job, what, wish, is);
	return true;
}

/* Does the tree suit this rank? */
static bool tree_suits(struct client *c, const struct job *job,
		       const struct inc_rdv_join *join)
{
	const struct inc_rdv_tree *wish = &join->tree;

	if (join->mtu && join->mtu < job->tree.pmtu) {
		client_error(c, EMSGSIZE, "job \"%s\": the tree's path MTU is %u, and this rank's port, or the bridge's interface to it, allows %u: raise their MTU, or start the daemon with --pmtu %u",
			     job->request.job, job->tree.pmtu, join->mtu,
			     join->mtu);
		return false;
	}
	/* The kernel would say so, too, but of a rank that nobody waits for. */
	if (join->uc && job->tree.msg_size > job->tree.pmtu) {
		client_error(c, EINVAL, "job \"%s\": its tree was made for RC, with messages of %u bytes, and UC needs messages of one packet, %u bytes: start all ranks with the same transport",
			     job->request.job, job->tree.msg_size,
			     job->tree.pmtu);
		return false;
	}
	return !wish_differs(c, job, "slots", wish->slots, job->tree.slots) &&
	       !wish_differs(c, job, "message size", wish->msg_size,
			     job->tree.msg_size) &&
	       !wish_differs(c, job, "path MTU", wish->pmtu, job->tree.pmtu) &&
	       !(wish->has_first_msg_id &&
		 wish->first_msg_id != job->tree.first_msg_id &&
		 wish_differs(c, job, "first message ID", wish->first_msg_id ?
			      wish->first_msg_id : UINT32_MAX,
			      job->tree.first_msg_id));
}

/* Give a new job its tree: one of its own, or the administrator's. */
static int begin_tree(struct client *c, struct job *job)
{
	struct server *s = c->server;
	struct inc_nl_tree tree;
	int ret;

	if (!s->tree_id) {
		tree = tree_settings(s, job->core.n, &job->request);
		ret = tree_make(job, &tree);
		if (ret)
			client_error(c, -ret, "job \"%s\": %s%s",
				     job->request.job,
				     ret == -ENOENT ? "the daemon's host: " : "",
				     s->nl.error);
		else
			event_tree_new(job);
		return ret;
	}
	ret = inc_nl_tree_get(&s->nl, s->tree_id, &tree);
	if (ret) {
		client_error(c, -ret, "job \"%s\": tree %u: %s",
			     job->request.job, s->tree_id, s->nl.error);
		return ret;
	}
	if (tree.ranks != job->core.n) {
		client_error(c, EINVAL, "job \"%s\": has %u ranks, tree %u has %u",
			     job->request.job, job->core.n, s->tree_id,
			     tree.ranks);
		return -EINVAL;
	}
	tree_take(job, &tree);
	return 0;
}

static struct job *begin_job(struct client *c, const struct inc_rdv_join *join)
{
	struct job *job = job_new(c, join, false);

	if (!job || !begin_tree(c, job))
		return job;
	job_free(job);
	return NULL;
}

/*
 * Add a member to a job's tree. Returns 0, or -errno after sending an error.
 * @join: its QP, and its place among the members
 */
int job_add(struct job *job, struct client *c, const struct inc_rdv_join *join,
	    struct inc_rdv_joined *joined)
{
	struct rank *r = &job->ranks[join->rank];
	int ret = member_new(job, join, joined);

	if (ret) {
		client_error(c, -ret, "job \"%s\", rank %u: %s",
			     job->request.job, join->rank, c->server->nl.error);
		return ret;
	}
	job_add_client(job, c);
	c->rank = join->rank;
	r->client = c;
	r->rails = 0;
	inc_job_set(&job->core, &r->core, RANK_PRESENT);
	inc_job_set_rts(&job->core, &r->core, false);
	/* Keep a dead stream as long as the switch would a dead rank. */
	if (c->stream)
		inc_set_outage(rpc_stream_fd(c->stream), job->tree.dead_time);
	log_info("job \"%s\": rank %u at %s, %u of %u ranks",
		 job->request.job, r->first, c->name, job->core.present,
		 job->core.n);
	return 0;
}

/* Let the ranks begin if all are present and ready. */
void job_check_ready(struct job *job)
{
	struct inc_rdv_msg ready = { .type = INC_RDV_READY };

	if (job->core.phase >= INC_JOB_READY || job->core.rts < job->core.n)
		return;
	if (job->tell_rts && job->up) {
		job->tell_rts = false;
		client_send(job->up,
			    &(struct inc_rdv_msg){ .type = INC_RDV_RTS });
	}
	if (job->child && !job->parent_ready)
		return;
	job->core.phase = INC_JOB_READY;
	job->server->n_begun++;
	log_info("job \"%s\": ready", job->request.job);
	rails_choose(job, &ready);
	job_tell_all(job, &ready);
}

/*
 * Handle "rts": a member is ready.
 * @rails: mask of addresses that it reaches over a second device
 */
void job_rts(struct client *c, uint32_t rails)
{
	struct job *job = c->job;

	if (job->ranks[c->rank].core.state != RANK_PRESENT) {
		client_error(c, EPROTO, "\"rts\" before \"linked\": link, and wait for the answer");
		return;
	}
	job->ranks[c->rank].rails = rails;
	inc_job_set_rts(&job->core, &job->ranks[c->rank].core, true);
	job_check_ready(job);
}

/*
 * Tell all ranks of a job to change to UC. They join the job that @msg names,
 * and leave this one.
 */
void job_change(struct job *job, const struct inc_rdv_msg *msg)
{
	if (job->core.phase != INC_JOB_READY)
		return;
	log_info("job \"%s\": packets are lost: the ranks are to change to UC",
		 job->request.job);
	job_tell_all(job, msg);
}

/*
 * Handle "lossy": a rank of this switch, or of one below, loses packets. Only
 * the root's daemon knows whether all ranks can change.
 */
void job_lossy(struct client *c)
{
	struct job *job = c->job;
	struct inc_rdv_msg msg;

	if (!job->child) {
		if (inc_job_change(&job->core, &job->request, c->server->loop.now,
				   &msg))
			job_change(job, &msg);
	} else if (job->up && job->up_changes) {
		client_send(job->up,
			    &(struct inc_rdv_msg){ .type = INC_RDV_LOSSY });
	}
}

/* Handle "join". The client gets an answer, or an error and the end. */
void job_join(struct client *c, const struct inc_rdv_join *join)
{
	struct inc_rdv_msg msg = { .type = INC_RDV_JOINED };
	struct job *job;
	int ret;

	if (join->ranks > RDMA_INC_MAX_RANKS) {
		client_error(c, EINVAL, "%u ranks: the maximum is %u", join->ranks,
			     RDMA_INC_MAX_RANKS);
		return;
	}
	rails_lost(c->server, join);
	job = job_find(c->server, join, false);
	if (job && !(join_fits(c, job, join) && tree_suits(c, job, join)))
		return;
	if (!job)
		job = begin_job(c, join);
	if (!job)
		return;
	ret = job_add(job, c, join, &msg.joined);
	if (ret == -ENOBUFS || ret == -ENOMEM || ret == -EMSGSIZE) {
		/* Without room or path for it, others would wait. */
		job_refuse(job, -ret, "rank %u: %s", join->rank,
			   c->server->nl.error);
		return;
	}
	if (ret) {
		if (!job->core.present)
			job_end(job);
		return;
	}
	job->request.change &= join->change;
	rails_offer(job, join, &msg.joined);
	client_send(c, &msg);
	job_check_ready(job);
}
