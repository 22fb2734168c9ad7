// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Jobs of the rendezvous daemon. A job has a name, a tree, and for each rank a
 * connection. Its life:
 *
 *	forming	the first rank's join makes the tree; ranks may come and go
 *	ready	all ranks came; who goes now ends the job
 *	ending	a rank has left or died: the name is free for a new job, the
 *		remaining ranks are told, the tree goes with the last of them
 *
 * A rank that leaves in order is not taken out of the tree at once but after
 * LEAVE_MS: when a program ends, all its ranks leave at about the same time, and
 * the slower ones shall not be told of an error.
 */
#include "common.h"

#include <stdarg.h>

#include "serve.h"

/*
 * Over UC nobody but the rank itself knows that its last result was lost, and it
 * may take several time-outs until it has it.
 */
#define LEAVE_MS	2000
#define LEAF_MS		300	/* ... of a leaf's tree that has no ranks any more */
/* Of trees whose first rank is UC: as much in all slots as RC has in some. */
#define UC_SLOTS	1024
#define UC_MSG_SIZE	1024

enum rank_state {
	RANK_ABSENT,
	RANK_PRESENT,
	RANK_LEFT,	/* the tree still has its member */
	RANK_GONE,
};

/**
 * struct rank - a rank of a job
 * @state: what it is
 * @client: its connection, if present
 * @first: its rank in the job, or the first of those below a switch
 */
struct rank {
	enum rank_state	state;
	struct client	*client;
	uint32_t	first;
};

/**
 * struct job - a job
 * @next: next of all jobs
 * @server: daemon
 * @name: its name
 * @tree: its tree as the kernel made it; id 0: the tree is gone
 * @nranks: number of members of the tree, hosts or switches
 * @present: ranks that are present
 * @ready: all ranks came
 * @ending: a rank is gone
 * @leave_at: when ranks that left are taken out of the tree; 0: none has left
 * @up: the parent's daemon, or NULL
 * @fixed: all ranks were there when it began; who goes ends it, ready or not
 * @leaf: the tree has a parent
 * @parent_ready: all that is above is there, and all below that
 * @ranks: ranks
 */
struct job {
	struct job		*next;
	struct server		*server;
	char			name[INC_RDV_JOB_MAX + 1];
	struct inc_nl_tree	tree;
	uint32_t		nranks;
	uint32_t		present;
	bool			ready;
	bool			ending;
	int64_t			leave_at;
	struct client		*up;
	bool			fixed;
	bool			leaf;
	bool			parent_ready;
	struct rank		ranks[];
};

/* Sends to all ranks that are present. */
static void tell_all(struct job *job, const struct inc_rdv_msg *msg)
{
	uint32_t i;

	for (i = 0; i < job->nranks; i++)
		if (job->ranks[i].state == RANK_PRESENT)
			client_send(job->ranks[i].client, msg);
}

static void tell_failed(struct job *job, int rank, unsigned int status,
			const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static void tell_failed(struct job *job, int rank, unsigned int status,
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
	tell_all(job, &msg);
}

static void member_del(struct job *job, uint32_t rank)
{
	struct server *s = job->server;
	int ret = 0;

	job->ranks[rank].state = RANK_GONE;
	if (job->tree.id)
		ret = inc_nl_member_del(&s->nl, job->tree.id, (uint16_t)rank);
	if (ret)
		server_log(s, "job \"%s\": rank %u: member can not be deleted: %s",
			   job->name, rank, s->nl.error);
}

/*
 * Without members the kernel has nobody to wait for, so that the daemon is not
 * held up by hosts that are dead.
 */
static void job_free(struct job *job)
{
	struct server *s = job->server;
	struct job **link;
	uint32_t i;

	/* An administrator's tree stays as it is, for him to look at. */
	for (i = 0; i < job->nranks && !s->tree_id; i++)
		if (job->ranks[i].state == RANK_LEFT)
			member_del(job, i);
	if (job->tree.id && !s->tree_id && inc_nl_tree_del(&s->nl, job->tree.id))
		server_log(s, "job \"%s\": tree %u can not be deleted: %s",
			   job->name, job->tree.id, s->nl.error);
	/* Those that have not become members. */
	for (i = 0; i < job->nranks; i++) {
		if (!job->ranks[i].client)
			continue;
		job->ranks[i].client->job = NULL;
		job->ranks[i].client->closing = true;
	}
	if (job->up) {
		job->up->job = NULL;
		job->up->closing = true;
	}
	server_log(s, "job \"%s\": end", job->name);
	for (link = &s->jobs; *link != job; link = &(*link)->next)
		;
	*link = job->next;
	s->njobs--;
	if (job->ready)
		s->jobs_done++;
	free(job);
}

/* --- Joining ------------------------------------------------------------------ */

static struct job *find_job(struct server *s, const char *name)
{
	struct job *job;

	for (job = s->jobs; job; job = job->next)
		if (!job->ending && !strcmp(job->name, name))
			return job;
	return NULL;
}

/**
 * job_uc_defaults() - settings of a tree with ranks over UC, as far as nobody chose
 * @tree: its settings; the path MTU is known, or is the kernel's default
 *
 * A UC rank's messages are one packet, so it takes more of them.
 */
void job_uc_defaults(struct inc_nl_tree *tree)
{
	if (!INC_NL_HAS(tree, INC_A_TREE_MSG_SIZE))
		INC_NL_SET(tree, INC_A_TREE_MSG_SIZE, msg_size,
			   INC_NL_HAS(tree, INC_A_TREE_PMTU) ? tree->pmtu :
							       UC_MSG_SIZE);
	if (!INC_NL_HAS(tree, INC_A_TREE_SLOTS))
		INC_NL_SET(tree, INC_A_TREE_SLOTS, slots, UC_SLOTS);
}

/* What the tree is to be: the daemon's settings, then the first rank's wishes. */
static struct inc_nl_tree wanted_tree(const struct server *s,
				      const struct inc_rdv_join *join)
{
	struct inc_nl_tree tree = s->tree;

	INC_NL_SET(&tree, INC_A_TREE_RANKS, ranks, (uint16_t)join->ranks);
	if (join->tree.slots)
		INC_NL_SET(&tree, INC_A_TREE_SLOTS, slots,
			   (uint16_t)join->tree.slots);
	if (join->tree.msg_size)
		INC_NL_SET(&tree, INC_A_TREE_MSG_SIZE, msg_size,
			   join->tree.msg_size);
	if (join->tree.has_first_msg_id)
		INC_NL_SET(&tree, INC_A_TREE_FIRST_MSG_ID, first_msg_id,
			   join->tree.first_msg_id);
	if (join->tree.pmtu)
		INC_NL_SET(&tree, INC_A_TREE_PMTU, pmtu,
			   (uint16_t)join->tree.pmtu);
	else if (!INC_NL_HAS(&tree, INC_A_TREE_PMTU) && join->mtu)
		INC_NL_SET(&tree, INC_A_TREE_PMTU, pmtu, (uint16_t)join->mtu);
	if (join->uc)
		job_uc_defaults(&tree);
	return tree;
}

/* The tree of a new job: one of its own, or the administrator's. */
static int job_tree(struct client *c, const struct inc_rdv_join *join,
		    struct inc_nl_tree *tree)
{
	struct server *s = c->server;
	struct inc_nl_tree want;
	int ret;

	if (s->tree_id) {
		ret = inc_nl_tree_get(&s->nl, s->tree_id, tree);
		if (!ret && tree->ranks == join->ranks)
			return 0;
		if (ret)
			client_error(c, -ret, "job \"%s\": tree %u: %s",
				     join->job, s->tree_id, s->nl.error);
		else
			client_error(c, EINVAL, "job \"%s\": has %u ranks, tree %u has %u",
				     join->job, join->ranks, s->tree_id,
				     tree->ranks);
		return -EINVAL;
	}
	want = wanted_tree(s, join);
	ret = inc_nl_tree_new(&s->nl, &want, tree);
	if (ret)
		client_error(c, -ret, "job \"%s\": %s", join->job, s->nl.error);
	return ret;
}

/* A job whose tree is there. */
static struct job *job_alloc(struct server *s, const char *name,
			     const struct inc_nl_tree *tree, uint32_t nranks)
{
	struct job *job;
	uint32_t i;

	job = calloc(1, sizeof(*job) + nranks * sizeof(job->ranks[0]));
	if (!job)
		return NULL;
	job->server = s;
	job->tree = *tree;
	job->nranks = nranks;
	for (i = 0; i < nranks; i++)
		job->ranks[i].first = i;
	snprintf(job->name, sizeof(job->name), "%s", name);
	job->next = s->jobs;
	s->jobs = job;
	s->njobs++;
	server_log(s, "job \"%s\": tree %u for %u ranks, %u slots of %u bytes, path MTU %u",
		   job->name, job->tree.id, job->nranks, job->tree.slots,
		   job->tree.msg_size, job->tree.pmtu);
	return job;
}

static struct job *job_new(struct client *c, const struct inc_rdv_join *join)
{
	struct server *s = c->server;
	struct inc_nl_tree tree;
	struct job *job;

	if (s->njobs >= s->max_trees) {
		client_error(c, ENOSPC, "%u jobs are the most that this daemon takes",
			     s->max_trees);
		return NULL;
	}
	if (job_tree(c, join, &tree))
		return NULL;
	job = job_alloc(s, join->job, &tree, join->ranks);
	if (!job)
		client_error(c, ENOMEM, "no memory for job \"%s\"", join->job);
	return job;
}

static bool wish_differs(struct client *c, const struct job *job,
			 const char *what, uint32_t wish, uint32_t is)
{
	if (!wish || wish == is)
		return false;
	client_error(c, EINVAL, "job \"%s\": %s %u is wanted, but the tree that another rank made has %u",
		     job->name, what, wish, is);
	return true;
}

/* Can this rank be one of the job's? */
static bool suits(struct client *c, const struct job *job,
		  const struct inc_rdv_join *join)
{
	const struct inc_rdv_tree *wish = &join->tree;

	if (join->ranks != job->nranks) {
		client_error(c, EINVAL, "job \"%s\" has %u ranks, not %u",
			     job->name, job->nranks, join->ranks);
		return false;
	}
	if (job->ranks[join->rank].state != RANK_ABSENT) {
		client_error(c, EEXIST, "job \"%s\": rank %u is taken by %s",
			     job->name, join->rank,
			     job->ranks[join->rank].client->name);
		return false;
	}
	if (join->mtu && join->mtu < job->tree.pmtu) {
		client_error(c, EMSGSIZE, "job \"%s\": the tree's path MTU is %u, this rank's port has %u",
			     job->name, job->tree.pmtu, join->mtu);
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

/* The kernel's part of a join; the answer's contents. */
static int member_new(struct client *c, struct job *job,
		      const struct inc_rdv_join *join,
		      struct inc_rdv_joined *joined)
{
	struct inc_nl_member req = { 0 }, reply;
	struct server *s = job->server;
	int ret;

	INC_NL_SET(&req, INC_A_MEMBER_TREE_ID, tree_id, job->tree.id);
	INC_NL_SET(&req, INC_A_MEMBER_RANK, rank, (uint16_t)join->rank);
	INC_NL_SET(&req, INC_A_MEMBER_PEER_ADDR, peer_addr.len,
		   (uint8_t)join->addr.len);
	memcpy(req.peer_addr.bytes, join->addr.bytes, join->addr.len);
	INC_NL_SET(&req, INC_A_MEMBER_PEER_QPN, peer_qpn, join->qpn);
	INC_NL_SET(&req, INC_A_MEMBER_PEER_PSN, peer_psn, join->psn);
	if (join->uc)
		INC_NL_SET(&req, INC_A_MEMBER_TRANSPORT, transport,
			   INC_TRANSPORT_UC);
	if (s->has_psn)
		INC_NL_SET(&req, INC_A_MEMBER_PSN, psn, s->psn);
	ret = inc_nl_member_new(&s->nl, &req, &reply);
	if (ret) {
		client_error(c, -ret, "job \"%s\", rank %u: %s", job->name,
			     join->rank, s->nl.error);
		return ret;
	}
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
	};
	memcpy(joined->addr.bytes, reply.local_addr.bytes, reply.local_addr.len);
	return 0;
}

/**
 * job_add() - add a member to a job's tree
 * @job: job
 * @c: its connection
 * @join: its QP, and its place among the members
 * @joined: takes what it needs
 *
 * Return: 0; or -errno after it was told.
 */
int job_add(struct job *job, struct client *c, const struct inc_rdv_join *join,
	    struct inc_rdv_joined *joined)
{
	int ret = member_new(c, job, join, joined);

	if (ret)
		return ret;
	c->job = job;
	c->rank = join->rank;
	job->ranks[c->rank].state = RANK_PRESENT;
	job->ranks[c->rank].client = c;
	job->present++;
	if (join->uc)
		client_keep_alive(c, job->tree.dead_time);
	server_log(c->server, "job \"%s\": rank %u at %s, %u of %u ranks",
		   job->name, job->ranks[c->rank].first, c->name, job->present,
		   job->nranks);
	return 0;
}

/**
 * job_check_ready() - let the ranks begin if all are there
 * @job: job
 */
void job_check_ready(struct job *job)
{
	if (job->ready || job->present < job->nranks ||
	    (job->leaf && !job->parent_ready))
		return;
	job->ready = true;
	server_log(job->server, "job \"%s\": ready", job->name);
	tell_all(job, &(struct inc_rdv_msg){ .type = INC_RDV_READY });
}

/**
 * job_join() - a client wants to be a rank
 * @c: client that is no rank
 * @join: what it wants
 *
 * It gets its answer, or an error and its connection's end.
 */
void job_join(struct client *c, const struct inc_rdv_join *join)
{
	struct inc_rdv_msg msg = { .type = INC_RDV_JOINED };
	struct job *job = find_job(c->server, join->job);

	if (join->ranks > INC_MAX_RANKS) {
		client_error(c, EINVAL, "%u ranks: %u are the most", join->ranks,
			     INC_MAX_RANKS);
		return;
	}
	if (job && !suits(c, job, join))
		return;
	if (!job)
		job = job_new(c, join);
	if (!job)
		return;
	if (job_add(job, c, join, &msg.joined)) {
		if (!job->present)
			job_free(job);
		return;
	}
	client_send(c, &msg);
	job_check_ready(job);
}

/* --- Jobs of several switches, made when all ranks are known -------------------- */

/**
 * job_make() - make a job of ranks that are known
 * @s: daemon
 * @name: its name
 * @want: its tree
 * @members: members of the tree
 * @n: how many
 * @up: the parent's daemon, or NULL
 *
 * The members are still to be added.
 *
 * Return: the job, or NULL; then @s->nl.error says why.
 */
struct job *job_make(struct server *s, const char *name,
		     const struct inc_nl_tree *want,
		     const struct job_member *members, uint32_t n,
		     struct client *up)
{
	struct inc_nl_tree tree;
	struct job *job;
	uint32_t i;

	if (s->njobs >= s->max_trees) {
		snprintf(s->nl.error, sizeof(s->nl.error),
			 "%u jobs are the most that a daemon takes", s->max_trees);
		return NULL;
	}
	if (inc_nl_tree_new(&s->nl, want, &tree))
		return NULL;
	job = job_alloc(s, name, &tree, n);
	if (!job) {
		inc_nl_tree_del(&s->nl, tree.id);
		snprintf(s->nl.error, sizeof(s->nl.error), "no memory");
		return NULL;
	}
	for (i = 0; i < n; i++)
		job->ranks[i].first = members[i].first;
	job->fixed = true;
	job->leaf = up;
	job->up = up;
	if (up)
		up->job = job;
	return job;
}

/**
 * job_tree_of() - the tree of a job
 * @job: job
 *
 * Return: it, as the kernel made it.
 */
const struct inc_nl_tree *job_tree_of(const struct job *job)
{
	return &job->tree;
}

/**
 * job_expect() - a switch below is to become a member
 * @job: job
 * @c: connection of its daemon
 * @rank: its place among the members
 */
void job_expect(struct job *job, struct client *c, uint32_t rank)
{
	c->job = job;
	c->rank = rank;
	job->ranks[rank].client = c;
}

/**
 * job_link_below() - a switch below has its tree
 * @c: connection of its daemon
 * @join: its QP
 */
void job_link_below(struct client *c, const struct inc_rdv_join *join)
{
	struct inc_rdv_msg msg = { .type = INC_RDV_LINKED };
	struct inc_rdv_join qp = *join;
	struct job *job = c->job;

	qp.rank = c->rank;
	if (job->ranks[c->rank].state != RANK_ABSENT ||
	    job_add(job, c, &qp, &msg.joined))
		return;
	client_send(c, &msg);
	job_check_ready(job);
}

/**
 * job_link() - the parent has said how it is reached
 * @job: job of a leaf
 * @linked: what it said
 *
 * Return: 0, or -errno after the ranks were told.
 */
int job_link(struct job *job, const struct inc_rdv_joined *linked)
{
	struct inc_nl_member req = { 0 };
	struct server *s = job->server;
	int ret;

	INC_NL_SET(&req, INC_A_MEMBER_TREE_ID, tree_id, job->tree.id);
	INC_NL_SET(&req, INC_A_MEMBER_PEER_TREE_ID, peer_tree_id,
		   linked->tree_id);
	INC_NL_SET(&req, INC_A_MEMBER_PEER_ADDR, peer_addr.len,
		   (uint8_t)linked->addr.len);
	memcpy(req.peer_addr.bytes, linked->addr.bytes, linked->addr.len);
	INC_NL_SET(&req, INC_A_MEMBER_PEER_QPN, peer_qpn, linked->qpn);
	INC_NL_SET(&req, INC_A_MEMBER_PEER_PSN, peer_psn, linked->psn);
	INC_NL_SET(&req, INC_A_MEMBER_PEER_RKEY, peer_rkey, linked->rkey);
	ret = inc_nl_parent_set(&s->nl, &req, NULL);
	if (ret) {
		tell_failed(job, -1, INC_STATUS_TREE_GONE,
			    "the link to the parent switch: %s", s->nl.error);
		job->ending = true;
		return ret;
	}
	return 0;
}

/**
 * job_parent_ready() - all switches of the job are there
 * @job: job of a leaf
 */
void job_parent_ready(struct job *job)
{
	job->parent_ready = true;
	job_check_ready(job);
}

/**
 * job_up_lost() - the connection to the parent's daemon is gone
 * @c: connection
 * @why: how
 *
 * The tree works as long as the switches do.
 */
void job_up_lost(struct client *c, const char *why)
{
	struct job *job = c->job;

	c->job = NULL;
	job->up = NULL;
	server_log(c->server, "job \"%s\": the parent's daemon: %s", job->name,
		   why);
	if (job->ending)
		return;
	job->ending = true;
	tell_failed(job, -1, INC_STATUS_TREE_GONE,
		    "the parent's rendezvous daemon: %s", why);
}

/* --- Leaving ------------------------------------------------------------------- */

/* The client is no rank any more. */
static struct job *detach(struct client *c, enum rank_state state)
{
	struct job *job = c->job;

	if (job->ranks[c->rank].state == RANK_PRESENT)
		job->present--;
	job->ranks[c->rank].state = state;
	job->ranks[c->rank].client = NULL;
	c->job = NULL;
	return job;
}

/* A rank goes before all have come: its place is free again. */
static void unjoin(struct client *c)
{
	struct job *job = detach(c, RANK_LEFT);

	member_del(job, c->rank);
	job->ranks[c->rank].state = RANK_ABSENT;
	if (!job->present)
		job_free(job);
}

/**
 * job_leave() - a rank leaves in order
 * @c: client that is a rank
 */
void job_leave(struct client *c)
{
	struct server *s = c->server;
	struct job *job = c->job;

	server_log(s, "job \"%s\": rank %u leaves", job->name, c->rank);
	if (!job->ready && !job->fixed) {
		unjoin(c);
		return;
	}
	detach(c, RANK_LEFT);
	job->ending = true;
	if (!job->leave_at)
		job->leave_at = s->now + LEAVE_MS;
	if (job->present)
		return;
	if (!job->leaf) {
		job_free(job);
		return;
	}
	/* Ranks at other switches may still wait for results. */
	job->leave_at = s->now + LEAF_MS;
	if (job->up)
		client_send(job->up, &(struct inc_rdv_msg){ .type = INC_RDV_LEAVE });
}

/**
 * job_lost() - a rank's connection is gone
 * @c: client that is a rank
 * @why: how
 */
void job_lost(struct client *c, const char *why)
{
	struct job *job = c->job;
	uint32_t rank = job->ranks[c->rank].first;
	bool was_member;

	server_log(c->server, "job \"%s\": rank %u lost: %s", job->name, rank, why);
	if (!job->ready && !job->fixed) {
		unjoin(c);
		return;
	}
	was_member = job->ranks[c->rank].state == RANK_PRESENT;
	detach(c, RANK_GONE);
	if (was_member)
		member_del(job, c->rank);
	job->ending = true;
	tell_failed(job, (int)rank, INC_STATUS_MEMBER_LEFT, "rank %u: %s",
		    rank, why);
	if (!job->present)
		job_free(job);
}

/**
 * job_next_deadline() - when is job_expire() to be called
 * @s: daemon
 *
 * Return: milliseconds, INT64_MAX if it is not.
 */
int64_t job_next_deadline(const struct server *s)
{
	int64_t next = INT64_MAX;
	const struct job *job;

	for (job = s->jobs; job; job = job->next)
		if (job->leave_at && job->leave_at < next)
			next = job->leave_at;
	return next;
}

/* Ranks have left some time ago, others have not: these are told now. */
static void drop_left(struct job *job)
{
	uint32_t i;

	job->leave_at = 0;
	for (i = 0; i < job->nranks; i++) {
		if (job->ranks[i].state != RANK_LEFT)
			continue;
		member_del(job, i);
		tell_all(job, &(struct inc_rdv_msg){
			.type = INC_RDV_LEFT,
			.rank = (int)job->ranks[i].first,
		});
	}
}

/**
 * job_expire() - do what is due
 * @s: daemon
 */
void job_expire(struct server *s)
{
	struct job *job, *next;

	for (job = s->jobs; job; job = next) {
		next = job->next;
		if (!job->leave_at || job->leave_at > s->now)
			continue;
		if (job->present)
			drop_left(job);
		else
			job_free(job);
	}
}

/* --- The kernel's events, and the end --------------------------------------------- */

/**
 * job_event() - the kernel reports something
 * @s: daemon
 * @ev: what
 *
 * Trees that fail, or that an administrator deletes, end their jobs.
 */
void job_event(struct server *s, const struct inc_nl_event *ev)
{
	struct job *job;

	if (ev->cmd != INC_CMD_TREE_FAILED_NTF && ev->cmd != INC_CMD_TREE_DEL_NTF)
		return;
	for (job = s->jobs; job; job = job->next)
		if (job->tree.id == ev->tree.id &&
		    job->tree.epoch == ev->tree.epoch)
			break;
	if (!job)
		return;
	if (ev->cmd == INC_CMD_TREE_DEL_NTF) {
		job->tree.id = 0;
		tell_failed(job, -1, INC_STATUS_TREE_GONE,
			    "the switch's tree was deleted");
	} else if (!job->ending) {
		tell_failed(job, -1, ev->tree.error ? ev->tree.error :
			    INC_STATUS_PEER_DEAD, "the switch's tree has failed");
	}
	server_log(s, "job \"%s\": tree %s", job->name, job->tree.id ?
		   "failed" : "deleted");
	job->ending = true;
}

/**
 * job_end_all() - dismantle all trees
 * @s: daemon
 * @why: told to the ranks
 */
void job_end_all(struct server *s, const char *why)
{
	struct job *job;
	uint32_t i;

	while ((job = s->jobs)) {
		tell_failed(job, -1, INC_STATUS_TREE_GONE, "%s", why);
		for (i = 0; i < job->nranks; i++)
			if (job->ranks[i].state == RANK_PRESENT)
				job->ranks[i].client->job = NULL;
		job_free(job);
	}
}
