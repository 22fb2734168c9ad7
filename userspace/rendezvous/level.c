// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Jobs of several switches, until all their ranks are known. A child's daemon
 * reports each rank that joins to the parent's daemon (gather), and so on up to
 * the root's. When the root's daemon knows all ranks, it makes its tree and
 * tells each daemon below which ranks it has (placed). Each daemon below does
 * the same for its part and requests a QP of its parent (link). From then on
 * each daemon has an ordinary job, whose members are hosts and switches.
 */
#include "nl/common.h"

#include "job.h"

/* Check whether a rank's job spans several switches. Returns true if so. */
bool gather_wants(const struct server *s, const struct inc_rdv_join *join)
{
	return s->parent || s->levels || job_find(s, join, true);
}

static struct job *begin_gather(struct client *c,
				const struct inc_rdv_join *join)
{
	struct server *s = c->server;
	struct job *job = job_new(c, join, true);

	if (!job || !s->parent)
		return job;
	job->up = client_connect(s);
	if (!job->up) {
		client_error(c, ENOSPC, "job \"%s\": too many connections wait for the parent's daemon, %s: does it answer?",
			     join->job, s->parent);
		job_free(job);
		return NULL;
	}
	job_add_client(job, job->up);
	return job;
}

/*
 * Add a rank of this switch, or of a switch below.
 * @c: its connection, or the one to the switch's daemon
 */
void gather_join(struct client *c, const struct inc_rdv_join *join)
{
	struct inc_rdv_msg msg = { .type = INC_RDV_GATHER, .join = *join };
	struct job *job = job_find(c->server, join, true);
	struct rank *r;

	if (join->ranks > RDMA_INC_MAX_RANKS) {
		client_error(c, EINVAL, "%u ranks: the maximum is %u", join->ranks,
			     RDMA_INC_MAX_RANKS);
		return;
	}
	if (c->job && c->job != job) {
		client_error(c, EBUSY, "this connection gathers for job \"%s\": another job needs another connection",
			     c->job->request.job);
		return;
	}
	if (!job)
		job = begin_gather(c, join);
	if (!job || !join_fits(c, job, join))
		return;
	if (!inc_job_merge(&job->request, join)) {
		client_error(c, EINVAL, "job \"%s\": rank %u requests another tree than other ranks",
			     join->job, join->rank);
		return;
	}
	job_add_client(job, c);
	c->join = *join;
	r = &job->ranks[join->rank];
	r->client = c;
	inc_job_set(&job->core, &r->core, RANK_PRESENT);
	log_info("job \"%s\": rank %u at %s, %u of %u ranks known",
		 join->job, join->rank, c->name, job->core.present,
		 join->ranks);
	if (job->up)
		client_send(job->up, &msg);
	else if (job->core.present == join->ranks)
		gather_placed(job, &(struct inc_rdv_placed){
			.count = join->ranks, .tree = job->request.tree });
}

/* Remove a rank of a switch below. */
void gather_retract(struct client *c, const struct inc_rdv_join *join)
{
	struct job *job = c->job;
	uint32_t i;

	if (strcmp(job->request.job, join->job) || join->rank >= job->core.n ||
	    job->ranks[join->rank].client != c) {
		client_error(c, EPROTO, "\"retract\": rank %u of job \"%s\" is none that this connection has gathered",
			     join->rank, join->job);
		return;
	}
	job_drop(job, join->rank);
	for (i = 0; i < job->core.n; i++)
		if (job->ranks[i].client == c)
			return;
	job_lost(c, "it has no ranks");
}

/* --- All ranks are known ----------------------------------------------- */

/*
 * List the members of this switch's tree in the order of their ranks. Returns
 * their number, or 0 if the ranks of a member are not consecutive.
 */
static uint32_t sort_members(const struct job *job,
			     const struct inc_rdv_placed *p,
			     struct rank *members)
{
	uint32_t end = p->first + p->count, n = 0, r;

	if (end > job->core.n || p->count != job->core.present)
		return 0;
	for (r = p->first; r < end; r++) {
		struct client *c = job->ranks[r].client;
		uint32_t i;

		if (!c)
			return 0;
		if (n && c->peer == PEER_CHILD && members[n - 1].client == c) {
			members[n - 1].n++;
			continue;
		}
		for (i = 0; i < n; i++)
			if (members[i].client == c)
				return 0;
		members[n++] = (struct rank){ .client = c, .first = r, .n = 1 };
	}
	return n;
}

static struct inc_nl_tree find_settings(const struct job *job,
					const struct inc_rdv_placed *p,
					const struct rank *members, uint32_t n)
{
	struct inc_rdv_join like = job->request;
	struct inc_nl_tree t;
	bool switches = false;
	uint32_t i;

	like.tree = p->tree;
	t = tree_settings(job->server, n, &like);
	if (p->count < like.ranks) {
		INC_NL_SET(&t, TREE_JOB_RANKS, job_ranks, (uint16_t)like.ranks);
		INC_NL_SET(&t, TREE_FIRST_RANK, first_rank, (uint16_t)p->first);
	}
	for (i = 0; i < n; i++) {
		bool child = members[i].client->peer == PEER_CHILD;

		t.below[i] = child ? (uint16_t)members[i].n : 0;
		switches |= child;
	}
	if (switches)
		INC_NL_SET(&t, TREE_BELOW, nbelow, (uint16_t)n);
	return t;
}

/* Send a switch below its part, with the settings of this tree. */
static void place_below(const struct rank *m, const struct inc_nl_tree *tree)
{
	client_send(m->client, &(struct inc_rdv_msg){
		.type = INC_RDV_PLACED,
		.placed = {
			.first = m->first,
			.count = m->n,
			.tree = {
				.slots = tree->slots,
				.msg_size = tree->msg_size,
				.pmtu = tree->pmtu,
				.has_first_msg_id = true,
				.first_msg_id = tree->first_msg_id,
			},
		},
	});
}

static void add_members(struct job *job)
{
	struct inc_rdv_msg msg = { .type = INC_RDV_JOINED };
	uint32_t i;
	int ret;

	for (i = 0; i < job->core.n; i++)
		job->ranks[i].client->rank = i;
	for (i = 0; i < job->core.n; i++) {
		struct client *c = job->ranks[i].client;

		if (c->peer == PEER_CHILD) {
			place_below(&job->ranks[i], &job->tree);
			continue;
		}
		c->join.rank = i;
		ret = job_add(job, c, &c->join, &msg.joined);
		if (ret) {
			job_refuse(job, -ret, "rank %u could not be added to the tree: %s",
				   job->ranks[i].first, c->server->nl.error);
			return;
		}
		client_send(c, &msg);
	}
	job_check_ready(job);
}

/* Send this switch's QP to the parent's daemon, which adds it as a member. */
static void send_link(const struct job *job)
{
	struct inc_rdv_msg msg = { .type = INC_RDV_LINK };
	struct client *up = job->up;
	struct inc_nl_member qp;

	if (inc_nl_parent_get(&job->server->nl, job->tree.id, &qp) ||
	    client_own_addr(up, &msg.join.addr)) {
		client_end(up);
		return;
	}
	msg.join.qpn = qp.qpn;
	msg.join.psn = qp.psn;
	client_send(up, &msg);
}

/*
 * If all ranks are below one child switch, it becomes the root, and this switch
 * takes no part.
 */
static bool hand_down(struct job *job, const struct inc_rdv_placed *p,
		      const struct rank *members, uint32_t n)
{
	struct inc_rdv_msg msg = { .type = INC_RDV_PLACED, .placed = *p };
	struct client *below = members[0].client;

	if (n != 1 || p->count != job->core.n || below->peer != PEER_CHILD)
		return false;
	log_info("job \"%s\": all ranks are below %s",
		 job->request.job, below->name);
	client_send(below, &msg);
	client_end(below);
	if (job->up)
		client_end(job->up);
	job_free(job);
	return true;
}

/* Make the job's tree before its ranks become members: an error goes to all. */
static void make_tree(struct job *job, const struct inc_rdv_placed *p,
		      struct rank *members, uint32_t n)
{
	struct inc_nl_tree want = find_settings(job, p, members, n);
	struct client *up = job->up;
	int ret;

	/* No stream to a parent is needed at the root. */
	if (p->count == job->core.n && up) {
		client_end(up);
		job_del_client(up);
	}
	ret = tree_make(job, &want);
	if (ret) {
		job_refuse(job, -ret, "%s", job->server->nl.error);
		free(members);
		return;
	}
	event_tree_new(job);
	job_set_ranks(job, members, n);
	job->core.phase = INC_JOB_FORMING;
	if (job->up) {
		job->child = true;
		send_link(job);
	}
	add_members(job);
}

/*
 * Make a job's tree: all ranks are known.
 * @p: ranks of this switch, from the parent's daemon, unless this is the root
 */
void gather_placed(struct job *job, const struct inc_rdv_placed *p)
{
	struct rank *members;
	uint32_t n;

	members = calloc(job->core.n, sizeof(*members));
	if (!members) {
		job_refuse(job, ENOMEM, "no memory");
		return;
	}
	n = sort_members(job, p, members);
	if (n && !hand_down(job, p, members, n)) {
		make_tree(job, p, members, n);
		return;
	}
	if (!n)
		job_refuse(job, EINVAL,
			   "the ranks at a switch must be consecutive");
	free(members);
}

/* --- Links --------------------------------------------------------------- */

/* Handle "link": a switch below has its tree. */
void level_link(struct client *c, const struct inc_rdv_join *join)
{
	struct inc_rdv_msg msg = { .type = INC_RDV_LINKED };
	struct inc_rdv_join qp = *join;
	struct job *job = c->job;

	qp.rank = c->rank;
	if (job->ranks[c->rank].core.state != RANK_ABSENT) {
		client_error(c, EBUSY, "\"link\" again: a child switch has one queue pair for each job");
		return;
	}
	if (job_add(job, c, &qp, &msg.joined))
		return;
	client_send(c, &msg);
	job_check_ready(job);
}

/*
 * Handle "linked": the parent has added this switch. Returns 0, or -errno
 * after the ranks were notified.
 */
int level_linked(struct job *job, const struct inc_rdv_joined *linked)
{
	int ret = tree_link(job, linked);

	if (ret) {
		job_tell_failed(job, -1, INC_STATUS_TREE_GONE,
				"the link to the parent switch: %s",
				job->server->nl.error);
		inc_job_fail(&job->core, job->server->loop.now);
		return ret;
	}
	job->tell_rts = true;
	job->up_changes = linked->change;
	job_check_ready(job);
	return 0;
}

/* Handle "ready" of the parent's daemon: all switches are ready. */
void level_ready(struct job *job)
{
	job->parent_ready = true;
	job_check_ready(job);
}
