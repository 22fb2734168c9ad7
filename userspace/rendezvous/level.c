// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Jobs of several switches, until all their ranks are known. A child's daemon
 * reports each rank that joins to the parent's daemon (gather), and so on up to
 * the root's. When the root's daemon knows all ranks, it makes its tree and
 * tells each daemon below which ranks it has (placed). Each daemon below does
 * the same for its part and requests a QP of its parent (link). From then on
 * each daemon has an ordinary job (job.c), whose members are hosts and
 * switches.
 */
#include "nl/common.h"

#include "server.h"

/**
 * struct gather - a job with missing ranks
 * @group: connections of the ranks, of switches below, and of the parent's
 *	daemon
 * @next: next gather
 * @like: job, number of ranks, and the settings requested of the tree so far;
 *	mtu is the lowest; uc if any rank's queue pair is UC
 * @up: the parent's daemon, or NULL
 * @present: number of ranks that are present, as far as this daemon knows
 * @at: for each rank its connection, or that of the switch below it
 */
struct gather {
	struct group		group;
	struct gather		*next;
	struct inc_rdv_join	like;
	struct client		*up;
	uint32_t		present;
	struct client		*at[];
};

/**
 * gather_wants() - check whether a rank's job spans several switches
 * @s: daemon
 * @join: its request
 *
 * Return: true if so.
 */
bool gather_wants(const struct server *s, const struct inc_rdv_join *join)
{
	const struct gather *g;

	if (s->parent_len || s->levels)
		return true;
	for (g = s->gathers; g; g = g->next)
		if (!strcmp(g->like.job, join->job))
			return true;
	return false;
}

/* End a gather; its connections are in no group after that. */
static void gather_free(struct gather *g)
{
	struct gather **link = &g->group.server->gathers;

	while (*link != g)
		link = &(*link)->next;
	*link = g->next;
	group_close(&g->group);
	free(g);
}

/**
 * gather_forget() - clear pointers to a connection, for group_del()
 * @group: group of a gather
 * @c: connection
 */
void gather_forget(struct group *group, struct client *c)
{
	struct gather *g = (struct gather *)group;
	uint32_t i;

	if (g->up == c)
		g->up = NULL;
	for (i = 0; i < g->like.ranks; i++)
		if (g->at[i] == c) {
			g->at[i] = NULL;
			g->present--;
		}
}

/* End a gather that cannot be placed, and send all its clients an error. */
static void gather_fail(struct gather *g, int err, const char *text)
{
	struct client *c;

	for (c = g->group.clients; c; c = c->group_next) {
		if (c == g->up)
			client_end(c);
		else if (!c->closing)
			client_error(c, err, "job \"%s\": %s", g->like.job,
				     text);
	}
	gather_free(g);
}

/**
 * gather_error() - handle an error of the parent's daemon
 * @c: connection to it
 * @err: positive errno value
 * @text: error message
 */
void gather_error(struct client *c, int err, const char *text)
{
	gather_fail(gather_of(c), err, text);
}

static struct gather *gather_find(struct client *c,
				  const struct inc_rdv_join *join)
{
	struct server *s = c->server;
	struct gather *g;

	for (g = s->gathers; g; g = g->next)
		if (!strcmp(g->like.job, join->job))
			return g;
	if (!group_allowed(c))
		return NULL;
	g = calloc(1, sizeof(*g) + join->ranks * sizeof(g->at[0]));
	if (!g) {
		client_error(c, ENOMEM, "no memory for job \"%s\"", join->job);
		return NULL;
	}
	group_open(&g->group, GROUP_GATHER, s, c->host);
	g->like = *join;
	g->next = s->gathers;
	s->gathers = g;
	if (!s->parent_len)
		return g;
	g->up = client_connect(s);
	if (!g->up) {
		client_error(c, EHOSTUNREACH, "job \"%s\": the parent's daemon: %s",
			     join->job, strerror(errno));
		gather_free(g);
		return NULL;
	}
	group_add(&g->group, g->up);
	return g;
}

/* Are a rank's requests compatible with those of the others? */
static bool suits(struct client *c, struct gather *g,
		  const struct inc_rdv_join *join)
{
	if (join->ranks != g->like.ranks) {
		client_error(c, EINVAL, "job \"%s\" has %u ranks, not %u",
			     join->job, g->like.ranks, join->ranks);
		return false;
	}
	if (g->at[join->rank]) {
		client_error(c, EEXIST, "job \"%s\": rank %u is taken by %s",
			     join->job, join->rank, g->at[join->rank]->name);
		return false;
	}
	if (!inc_rdv_merge(&g->like, join)) {
		client_error(c, EINVAL, "job \"%s\": rank %u requests another tree than other ranks",
			     join->job, join->rank);
		return false;
	}
	return true;
}

/* Report a rank to the parent's daemon. */
static void tell_up(struct gather *g, enum inc_rdv_type type,
		    const struct inc_rdv_join *join)
{
	struct inc_rdv_msg msg = { .type = type, .join = *join };

	if (g->up)
		client_send(g->up, &msg);
}

static void place(struct gather *g, const struct inc_rdv_placed *placed);

/**
 * gather_join() - add a rank of this switch, or of one below
 * @c: its connection, or that of the switch's daemon
 * @join: its request
 */
void gather_join(struct client *c, const struct inc_rdv_join *join)
{
	struct gather *g;

	if (join->ranks > RDMA_INC_MAX_RANKS) {
		client_error(c, EINVAL, "%u ranks: the maximum is %u", join->ranks,
			     RDMA_INC_MAX_RANKS);
		return;
	}
	if (gather_of(c) && strcmp(gather_of(c)->like.job, join->job)) {
		client_error(c, EBUSY, "this connection gathers for job \"%s\": another job needs another connection",
			     gather_of(c)->like.job);
		return;
	}
	g = gather_find(c, join);
	if (!g || !suits(c, g, join))
		return;
	group_add(&g->group, c);
	c->join = *join;
	g->at[join->rank] = c;
	g->present++;
	server_log(c->server, "job \"%s\": rank %u at %s, %u of %u ranks known",
		   join->job, join->rank, c->name, g->present, join->ranks);
	tell_up(g, INC_RDV_GATHER, join);
	if (!g->up && g->present == join->ranks)
		place(g, &(struct inc_rdv_placed){ .count = join->ranks,
						   .tree = g->like.tree });
}

static void drop(struct gather *g, uint32_t rank)
{
	struct inc_rdv_join join = g->like;

	join.rank = rank;
	g->at[rank] = NULL;
	g->present--;
	tell_up(g, INC_RDV_RETRACT, &join);
}

static void free_if_empty(struct gather *g)
{
	if (g->present)
		return;
	if (g->up)
		client_end(g->up);
	gather_free(g);
}

/**
 * gather_retract() - remove a rank of a switch below
 * @c: connection of the switch's daemon
 * @join: names the rank
 */
void gather_retract(struct client *c, const struct inc_rdv_join *join)
{
	struct gather *g = gather_of(c);
	uint32_t i;

	if (strcmp(g->like.job, join->job) || join->rank >= g->like.ranks ||
	    g->at[join->rank] != c) {
		client_error(c, EPROTO, "\"retract\": rank %u of job \"%s\" is none that this connection has gathered",
			     join->rank, join->job);
		return;
	}
	drop(g, join->rank);
	for (i = 0; i < g->like.ranks; i++)
		if (g->at[i] == c)
			return;
	group_del(c);
	free_if_empty(g);
}

/**
 * gather_lost() - handle the loss of a connection before all ranks are present
 * @c: connection
 * @why: reason
 */
void gather_lost(struct client *c, const char *why)
{
	struct gather *g = gather_of(c);
	char text[128];
	uint32_t i;

	if (c->role == ROLE_UP) {
		snprintf(text, sizeof(text), "the parent's daemon: %s", why);
		gather_fail(g, EHOSTUNREACH, text);
		return;
	}
	for (i = 0; i < g->like.ranks; i++)
		if (g->at[i] == c)
			drop(g, i);
	group_del(c);
	free_if_empty(g);
}

/**
 * gather_next_deadline() - get the time when gather_expire() must be called
 * @s: daemon
 *
 * Return: milliseconds, INT64_MAX if never.
 */
int64_t gather_next_deadline(const struct server *s)
{
	int64_t next = INT64_MAX;
	const struct gather *g;

	for (g = s->gathers; g; g = g->next)
		if (g->group.until < next)
			next = g->group.until;
	return next;
}

/**
 * gather_expire() - end gathers whose time limit has passed
 * @s: daemon
 */
void gather_expire(struct server *s)
{
	struct gather *g, *next;
	char text[128];

	for (g = s->gathers; g; g = next) {
		next = g->next;
		if (g->group.until > s->now)
			continue;
		snprintf(text, sizeof(text),
			 "%u of %u ranks came within %u s: start all within that time, or raise --forming-time",
			 g->present, g->like.ranks, s->max.forming_ms / 1000);
		gather_fail(g, ETIMEDOUT, text);
	}
}

/* --- All ranks are known ----------------------------------------------- */

/*
 * List the members of this switch's tree in the order of their ranks. Returns
 * their number, or 0 if the ranks of a member are not consecutive.
 */
static uint32_t sort_members(const struct gather *g,
			     const struct inc_rdv_placed *p,
			     struct job_member *members)
{
	uint32_t end = p->first + p->count, n = 0, r;

	if (end > g->like.ranks || p->count != g->present)
		return 0;
	for (r = p->first; r < end; r++) {
		struct client *c = g->at[r];
		uint32_t i;

		if (!c)
			return 0;
		if (n && c->role == ROLE_CHILD && members[n - 1].client == c) {
			members[n - 1].n++;
			continue;
		}
		for (i = 0; i < n; i++)
			if (members[i].client == c)
				return 0;
		members[n++] = (struct job_member){
			.client = c, .first = r, .n = 1,
		};
	}
	return n;
}

static struct inc_nl_tree wanted(const struct gather *g,
				 const struct inc_rdv_placed *p,
				 const struct job_member *members, uint32_t n)
{
	struct inc_rdv_join like = g->like;
	struct inc_nl_tree t;
	bool switches = false;
	uint32_t i;

	like.tree = p->tree;
	t = job_settings(g->group.server, n, &like);
	if (p->count < g->like.ranks) {
		INC_NL_SET(&t, TREE_JOB_RANKS, job_ranks,
			   (uint16_t)g->like.ranks);
		INC_NL_SET(&t, TREE_FIRST_RANK, first_rank, (uint16_t)p->first);
	}
	for (i = 0; i < n; i++) {
		bool child = members[i].client->role == ROLE_CHILD;

		t.below[i] = child ? (uint16_t)members[i].n : 0;
		switches |= child;
	}
	if (switches)
		INC_NL_SET(&t, TREE_BELOW, nbelow, (uint16_t)n);
	return t;
}

/* Send a switch below its part, with the settings of this tree. */
static void place_below(const struct job_member *m,
			const struct inc_nl_tree *tree)
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

static void add_members(struct job *job, const struct job_member *members,
			uint32_t n)
{
	struct inc_rdv_msg msg = { .type = INC_RDV_JOINED };
	uint32_t i;
	int ret;

	for (i = 0; i < n; i++)
		job_expect(job, members[i].client, i);
	for (i = 0; i < n; i++) {
		struct client *c = members[i].client;

		if (c->role == ROLE_CHILD) {
			place_below(&members[i], job_tree_of(job));
			continue;
		}
		c->join.rank = i;
		ret = job_add(job, c, &c->join, &msg.joined);
		if (ret) {
			job_refuse(job, -ret, "rank %u could not be added to the tree: %s",
				   members[i].first, c->server->nl.error);
			return;
		}
		client_send(c, &msg);
	}
	job_check_ready(job);
}

/* Send this switch's QP to the parent's daemon, which adds it. */
static void send_link(struct server *s, struct job *job, struct client *up)
{
	struct inc_rdv_msg msg = { .type = INC_RDV_LINK };
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	struct inc_nl_member qp;

	if (inc_nl_parent_get(&s->nl, job_tree_of(job)->id, &qp) ||
	    getsockname(up->fd, (struct sockaddr *)&sa, &len)) {
		client_end(up);
		return;
	}
	inc_rdv_addr_from_sockaddr((struct sockaddr *)&sa, &msg.join.addr);
	msg.join.qpn = qp.qpn;
	msg.join.psn = qp.psn;
	msg.join.rts = true;
	client_send(up, &msg);
}

/*
 * If all ranks are below one switch, it is the root, and this one takes no
 * part.
 */
static bool hand_down(struct gather *g, const struct inc_rdv_placed *p,
		      const struct job_member *members, uint32_t n)
{
	struct inc_rdv_msg msg = { .type = INC_RDV_PLACED, .placed = *p };
	struct client *up = g->up;

	if (n != 1 || p->count != g->like.ranks ||
	    members[0].client->role != ROLE_CHILD)
		return false;
	server_log(g->group.server, "job \"%s\": all ranks are below %s",
		   g->like.job, members[0].client->name);
	client_send(members[0].client, &msg);
	client_end(members[0].client);
	if (up)
		client_end(up);
	gather_free(g);
	return true;
}

/* Make the job's tree before the gather ends, so that an error can end it. */
static void make_job(struct gather *g, const struct inc_rdv_placed *p,
		     const struct job_member *members, uint32_t n)
{
	struct inc_nl_tree want = wanted(g, p, members, n);
	struct client *up = g->up;
	struct job *job;
	int err;

	if (p->count == g->like.ranks && up) {
		client_end(up);
		up = NULL;
	}
	job = job_make(g->group.server, g->group.host, g->like.job, &want,
		       members, n, &err);
	if (!job) {
		gather_fail(g, -err, g->group.server->nl.error);
		return;
	}
	gather_free(g);
	if (up) {
		job_set_up(job, up);
		send_link(up->server, job, up);
	}
	add_members(job, members, n);
}

static void place(struct gather *g, const struct inc_rdv_placed *p)
{
	struct job_member *members;
	uint32_t n;

	members = calloc(g->like.ranks, sizeof(*members));
	if (!members) {
		gather_fail(g, ENOMEM, "no memory");
		return;
	}
	n = sort_members(g, p, members);
	if (!n)
		gather_fail(g, EINVAL,
			    "the ranks at a switch must be consecutive");
	else if (!hand_down(g, p, members, n))
		make_job(g, p, members, n);
	free(members);
}

/**
 * gather_placed() - handle "placed": the parent's daemon knows all ranks
 * @c: connection to it
 * @placed: ranks of this switch
 */
void gather_placed(struct client *c, const struct inc_rdv_placed *placed)
{
	place(gather_of(c), placed);
}
