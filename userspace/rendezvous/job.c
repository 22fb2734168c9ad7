// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Jobs of the rendezvous daemon. A job has a name, a tree, and a connection for
 * each rank. Its states:
 *
 *	forming	the first rank's join creates the tree; ranks may join and leave
 *	ready	all ranks are present; the first that leaves ends the job
 *	ending	a rank has left or died: the name is free for a new job, the
 *		remaining ranks are notified, and the last one takes the tree
 *		with it
 *
 * This file creates jobs, job_end.c ends them.
 */
#include "nl/common.h"

#include "job.h"

/* Of trees whose first rank is UC: as many bytes in flight as over RC. */
#define UC_SLOTS	1024
#define UC_MSG_SIZE	1024

/**
 * job_tell_all() - send a line to all ranks that are present
 * @job: job
 * @msg: line
 */
void job_tell_all(struct job *job, const struct inc_rdv_msg *msg)
{
	uint32_t i;

	for (i = 0; i < job->nranks; i++)
		if (job->ranks[i].state == RANK_PRESENT)
			client_send(job->ranks[i].client, msg);
}

/**
 * job_set_rts() - record whether a rank's queue pair is ready
 * @job: job
 * @rank: its place among the members
 * @rts: it is
 */
void job_set_rts(struct job *job, uint32_t rank, bool rts)
{
	job->rts += (uint32_t)rts - job->ranks[rank].rts;
	job->ranks[rank].rts = rts;
}

/**
 * job_forget() - clear pointers to a connection, for group_del()
 * @group: group of a job
 * @c: connection
 */
void job_forget(struct group *group, struct client *c)
{
	struct job *job = (struct job *)group;
	struct rank *r = &job->ranks[c->rank];

	if (job->up == c)
		job->up = NULL;
	if (c->role == ROLE_UP || c->rank >= job->nranks || r->client != c)
		return;
	r->client = NULL;
	if (r->state != RANK_PRESENT)
		return;
	job->present--;
	job_set_rts(job, c->rank, false);
	/* If the tree is deleted now, its members learn it on the data path. */
	r->state = job->over ? RANK_GONE : RANK_LEFT;
}

/* --- Joining ----------------------------------------------------------- */

static struct job *find_job(struct server *s, const char *name)
{
	struct job *job;

	for (job = s->jobs; job; job = job->next)
		if (!job->ending && !job->fixed && !strcmp(job->name, name))
			return job;
	return NULL;
}

/*
 * Fill in settings for UC that were not chosen. A message of a UC rank is one
 * packet, so more slots are needed.
 */
static void uc_defaults(struct inc_nl_tree *tree)
{
	if (!INC_NL_HAS(tree, TREE_MSG_SIZE))
		INC_NL_SET(tree, TREE_MSG_SIZE, msg_size,
			   INC_NL_HAS(tree, TREE_PMTU) ? tree->pmtu :
							 UC_MSG_SIZE);
	if (!INC_NL_HAS(tree, TREE_SLOTS))
		INC_NL_SET(tree, TREE_SLOTS, slots, UC_SLOTS);
}

/**
 * job_settings() - get the settings of a new job's tree
 * @s: daemon, whose settings count unless others are requested
 * @members: number of members
 * @like: the ranks' requests, from those of the first rank
 *
 * Return: settings for the kernel.
 */
struct inc_nl_tree job_settings(const struct server *s, uint32_t members,
				const struct inc_rdv_join *like)
{
	const struct inc_rdv_tree *wish = &like->tree;
	struct inc_nl_tree tree = s->tree;

	INC_NL_SET(&tree, TREE_RANKS, ranks, (uint16_t)members);
	/* The kernel deletes it when this process ends, for any reason. */
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
		uc_defaults(&tree);
	return tree;
}

/* Get the tree of a new job: one of its own, or the administrator's. */
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
	want = job_settings(s, join->ranks, join);
	ret = inc_nl_tree_new(&s->nl, &want, tree);
	if (ret)
		client_error(c, -ret, "job \"%s\": %s", join->job, s->nl.error);
	return ret;
}

/* Make a job for a tree. If there is no memory, the tree is deleted. */
static struct job *job_alloc(struct server *s, struct host *host,
			     const char *name, const struct inc_nl_tree *tree,
			     uint32_t nranks)
{
	char why[INC_NL_ERROR_LEN] = "no memory";
	struct job *job;
	uint32_t i;

	job = calloc(1, sizeof(*job) + nranks * sizeof(job->ranks[0]));
	if (!job)
		goto err_tree;
	group_open(&job->group, GROUP_JOB, s, host);
	if (!s->tree_id && group_charge(&job->group, tree->memory)) {
		memcpy(why, s->nl.error, sizeof(why));
		goto err_job;
	}
	job->tree = *tree;
	job->nranks = nranks;
	for (i = 0; i < nranks; i++) {
		job->ranks[i].first = i;
		job->ranks[i].n = 1;
	}
	snprintf(job->name, sizeof(job->name), "%s", name);
	job->next = s->jobs;
	s->jobs = job;
	server_log(s, "job \"%s\": tree %u for %u ranks, %u slots of %u bytes, path MTU %u",
		   job->name, job->tree.id, job->nranks, job->tree.slots,
		   job->tree.msg_size, job->tree.pmtu);
	return job;

err_job:
	group_close(&job->group);
	free(job);
err_tree:
	if (!s->tree_id)
		inc_nl_tree_del(&s->nl, tree->id);
	memcpy(s->nl.error, why, sizeof(why));
	return NULL;
}

static struct job *job_new(struct client *c, const struct inc_rdv_join *join)
{
	struct server *s = c->server;
	struct inc_nl_tree tree;
	struct job *job;

	if (!group_allowed(c) || job_tree(c, join, &tree))
		return NULL;
	job = job_alloc(s, c->host, join->job, &tree, join->ranks);
	if (!job)
		client_error(c, ENOSPC, "job \"%s\": %s", join->job, s->nl.error);
	return job;
}

static bool wish_differs(struct client *c, const struct job *job,
			 const char *what, uint32_t wish, uint32_t is)
{
	if (!wish || wish == is)
		return false;
	client_error(c, EINVAL, "job \"%s\": %s %u is requested, but the tree that another rank created has %u",
		     job->name, what, wish, is);
	return true;
}

/* Check whether this rank fits into the job. */
static bool suits(struct client *c, struct job *job,
		  const struct inc_rdv_join *join)
{
	const struct inc_rdv_tree *wish = &join->tree;

	if (join->ranks != job->nranks) {
		client_error(c, EINVAL, "job \"%s\" has %u ranks, not %u",
			     job->name, job->nranks, join->ranks);
		return false;
	}
	if (!job_make_room(job, join->rank)) {
		client_error(c, EEXIST, "job \"%s\": rank %u is taken by %s",
			     job->name, join->rank,
			     job->ranks[join->rank].client->name);
		return false;
	}
	if (join->mtu && join->mtu < job->tree.pmtu) {
		client_error(c, EMSGSIZE, "job \"%s\": the tree's path MTU is %u, and this rank's port, or the bridge's interface to it, allows %u: raise their MTU, or start the daemon with --pmtu %u",
			     job->name, job->tree.pmtu, join->mtu, join->mtu);
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

/* Add the member in the kernel, and fill in the answer. */
static int member_new(struct client *c, struct job *job,
		      const struct inc_rdv_join *join,
		      struct inc_rdv_joined *joined)
{
	struct inc_nl_member req = { 0 }, reply;
	struct server *s = c->server;
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
		.traffic_class	= job->tree.traffic_class,
		.rts		= true,
		.wrong		= true,
	};
	memcpy(joined->addr.bytes, reply.local_addr.bytes,
	       reply.local_addr.len);
	return 0;
}

/**
 * job_add() - add a member to a job's tree
 * @job: job
 * @c: its connection
 * @join: its QP, and its place among the members
 * @joined: filled in
 *
 * Return: 0, or -errno after it was sent an error.
 */
int job_add(struct job *job, struct client *c, const struct inc_rdv_join *join,
	    struct inc_rdv_joined *joined)
{
	int ret = member_new(c, job, join, joined);

	if (ret)
		return ret;
	group_add(&job->group, c);
	c->rank = join->rank;
	job->ranks[c->rank].state = RANK_PRESENT;
	job->ranks[c->rank].came = true;
	job->ranks[c->rank].client = c;
	job->present++;
	/* Clients that don't know "rts" count as ready when they join. */
	job_set_rts(job, c->rank, !join->rts);
	if (join->uc)
		client_keep_alive(c, job->tree.dead_time);
	server_log(c->server, "job \"%s\": rank %u at %s, %u of %u ranks",
		   job->name, job->ranks[c->rank].first, c->name, job->present,
		   job->nranks);
	return 0;
}

/**
 * job_check_ready() - let the ranks begin if all are present and ready
 * @job: job
 */
void job_check_ready(struct job *job)
{
	if (job->ready || job->ending || job->rts < job->nranks)
		return;
	if (job->tell_rts && job->up) {
		job->tell_rts = false;
		client_send(job->up,
			    &(struct inc_rdv_msg){ .type = INC_RDV_RTS });
	}
	if (job->child && !job->parent_ready)
		return;
	job->ready = true;
	server_log(job->group.server, "job \"%s\": ready", job->name);
	job_tell_all(job, &(struct inc_rdv_msg){ .type = INC_RDV_READY });
}

/**
 * job_rts() - handle "rts": a member is ready
 * @c: its connection
 */
void job_rts(struct client *c)
{
	struct job *job = job_of(c);

	if (job->ranks[c->rank].state != RANK_PRESENT) {
		client_error(c, EPROTO, "\"rts\" before \"linked\": link, and wait for the answer");
		return;
	}
	job_set_rts(job, c->rank, true);
	job_check_ready(job);
}

/*
 * Does the job wait for that rank? Not for one that has come and left again: it
 * did not want to wait, either.
 */
static bool is_missing(const struct rank *r)
{
	return !r->came || (r->state == RANK_PRESENT && !r->rts);
}

/**
 * job_missing() - list the ranks for which a job waits
 * @job: job; the list is put into its @missing, empty if it waits for none
 */
void job_missing(struct job *job)
{
	const size_t len = sizeof(job->missing);
	char *text = job->missing;
	uint32_t i, end, last;
	size_t n = 0;

	*text = '\0';
	for (i = 0; i < job->nranks && !job->ready; i = end + 1) {
		for (end = i; end < job->nranks && is_missing(&job->ranks[end]);
		     end++)
			;
		if (end == i || len - n < sizeof(", 1023-1023"))
			continue;
		last = job->ranks[end - 1].first + job->ranks[end - 1].n - 1;
		n += (size_t)snprintf(text + n, len - n,
				      last > job->ranks[i].first ?
				      "%s%u-%u" : "%s%u",
				      n ? ", " : "", job->ranks[i].first, last);
	}
	if (!n && job->child && !job->parent_ready && !job->ready)
		snprintf(text, len, "ranks at other switches");
}

/**
 * job_join() - handle "join"
 * @c: client that is not a rank
 * @join: its request
 *
 * The client gets an answer, or an error and is closed.
 */
void job_join(struct client *c, const struct inc_rdv_join *join)
{
	struct inc_rdv_msg msg = { .type = INC_RDV_JOINED };
	struct job *job = find_job(c->server, join->job);
	int ret;

	if (join->ranks > RDMA_INC_MAX_RANKS) {
		client_error(c, EINVAL, "%u ranks: the maximum is %u", join->ranks,
			     RDMA_INC_MAX_RANKS);
		return;
	}
	if (job && !suits(c, job, join))
		return;
	if (!job)
		job = job_new(c, join);
	if (!job)
		return;
	ret = job_add(job, c, join, &msg.joined);
	if (ret == -ENOBUFS || ret == -ENOMEM) {
		/* The others would wait for it in vain. */
		job_refuse(job, -ret, "rank %u: %s", join->rank,
			   c->server->nl.error);
		return;
	}
	if (ret) {
		if (!job->present)
			job_end(job);
		return;
	}
	client_send(c, &msg);
	job_check_ready(job);
}

/* --- Jobs of several switches, made when all ranks are known ------------- */

/**
 * job_make() - make a job whose ranks are known
 * @s: daemon
 * @host: host that is charged for it
 * @name: its name
 * @want: settings of its tree
 * @members: members of the tree
 * @n: their number
 * @err: if it fails: negative errno value
 *
 * Does not add the members.
 *
 * Return: the job, or NULL with a message in @s->nl.error.
 */
struct job *job_make(struct server *s, struct host *host, const char *name,
		     const struct inc_nl_tree *want,
		     const struct job_member *members, uint32_t n, int *err)
{
	struct inc_nl_tree tree;
	struct job *job;
	uint32_t i;

	*err = inc_nl_tree_new(&s->nl, want, &tree);
	if (*err)
		return NULL;
	*err = -ENOSPC;
	job = job_alloc(s, host, name, &tree, n);
	if (!job)
		return NULL;
	for (i = 0; i < n; i++) {
		job->ranks[i].first = members[i].first;
		job->ranks[i].n = members[i].n;
	}
	job->fixed = true;
	return job;
}

/**
 * job_set_up() - make a job that of a child switch
 * @job: job
 * @up: the parent's daemon
 */
void job_set_up(struct job *job, struct client *up)
{
	job->child = true;
	job->up = up;
	group_add(&job->group, up);
}

/**
 * job_tree_of() - get the tree of a job
 * @job: job
 *
 * Return: the tree, as the kernel made it.
 */
const struct inc_nl_tree *job_tree_of(const struct job *job)
{
	return &job->tree;
}

/**
 * job_expect() - reserve a place for a rank or a switch below
 * @job: job
 * @c: its connection
 * @rank: its place among the members
 */
void job_expect(struct job *job, struct client *c, uint32_t rank)
{
	group_add(&job->group, c);
	c->rank = rank;
	job->ranks[rank].client = c;
}

/**
 * job_link_below() - handle "link": a switch below has its tree
 * @c: connection of its daemon
 * @join: its QP
 */
void job_link_below(struct client *c, const struct inc_rdv_join *join)
{
	struct inc_rdv_msg msg = { .type = INC_RDV_LINKED };
	struct inc_rdv_join qp = *join;
	struct job *job = job_of(c);

	qp.rank = c->rank;
	if (job->ranks[c->rank].state != RANK_ABSENT) {
		client_error(c, EBUSY, "\"link\" again: a child switch has one queue pair for each job");
		return;
	}
	if (job_add(job, c, &qp, &msg.joined))
		return;
	client_send(c, &msg);
	job_check_ready(job);
}

/**
 * job_link() - connect a child switch to its parent
 * @job: job of a child switch
 * @linked: the parent's answer
 *
 * Return: 0, or -errno after the ranks were notified.
 */
int job_link(struct job *job, const struct inc_rdv_joined *linked)
{
	struct inc_nl_member req = { 0 };
	struct server *s = job->group.server;
	int ret;

	INC_NL_SET(&req, MEMBER_TREE_ID, tree_id, job->tree.id);
	INC_NL_SET(&req, MEMBER_PEER_TREE_ID, peer_tree_id, linked->tree_id);
	INC_NL_SET(&req, MEMBER_PEER_ADDR, peer_addr.len,
		   (uint8_t)linked->addr.len);
	memcpy(req.peer_addr.bytes, linked->addr.bytes, linked->addr.len);
	INC_NL_SET(&req, MEMBER_PEER_QPN, peer_qpn, linked->qpn);
	INC_NL_SET(&req, MEMBER_PEER_PSN, peer_psn, linked->psn);
	INC_NL_SET(&req, MEMBER_PEER_RKEY, peer_rkey, linked->rkey);
	ret = inc_nl_parent_set(&s->nl, &req, NULL);
	if (ret) {
		job_tell_failed(job, -1, INC_STATUS_TREE_GONE,
			    "the link to the parent switch: %s", s->nl.error);
		job_begin_end(job);
		return ret;
	}
	job->tell_rts = linked->rts;
	job_check_ready(job);
	return 0;
}

/**
 * job_parent_ready() - record that all switches of the job are ready
 * @job: job of a child switch
 */
void job_parent_ready(struct job *job)
{
	job->parent_ready = true;
	job_check_ready(job);
}
