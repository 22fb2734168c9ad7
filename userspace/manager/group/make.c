// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A group's tree, from the moment when all ranks are present. Each step is done
 * on all switches at once, the next when all are done:
 *
 *	make	the trees, with the members that are hosts
 *	add	the members that are switches: these have their queue pair to
 *		the parent now
 *	link	these switches to their parents
 *
 * One switch needs the first step only.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group/group.h"
#include "place/place.h"
#include "rdma_inc.h"
#include "rdma_inc_proto.h"
#include "tenant/preempt.h"

/* Of trees with a UC rank: as many bytes in flight as over RC. */
#define UC_SLOTS	1024
#define UC_MSG_SIZE	1024

/* Headers and ICRC of the longest packet, over IPv6, and over IPv4. */
#define ROCE_LEN	84
#define ROCE_LEN_IPV4	64

/*
 * Hosts that no switch has seen are asked for, for as long as the kernel does so
 * (three times, a second apart).
 */
#define PROBE_MS	3500
#define REPEAT_MS	1000	/* asked for again, 64 of them at a time */
#define LOOK_MS		100	/* what the switches see then */

/**
 * struct part_op - a step of a part
 * @op: operation
 * @part: part
 * @tree: what is done, see tree.h
 */
struct part_op {
	struct sw_op	op;
	struct part	*part;
	int		(*tree)(struct tree *t, struct netconf *n, char *err);
};

static void step_add(struct group *g);
static void step_link(struct group *g);
static void step_joined(struct group *g);

/* --- Operations ---------------------------------------------------------- */

static int run(struct sw_op *op, struct netconf *n)
{
	struct part_op *p = container_of(op, struct part_op, op);

	return p->tree(&p->part->tree, n, op->err);
}

static void done(struct sw_op *op)
{
	struct part_op *p = container_of(op, struct part_op, op);
	struct group *g = p->part->group;

	if (op->ret && !g->failed) {
		g->failed = -op->ret;
		snprintf(g->why, sizeof(g->why), "switch %s: %.300s",
			 sw_name(op->sw), op->err);
	}
	if (!op->ret && p->tree == tree_make && !g->failed &&
	    !limit_slots(p->part, g->why, sizeof(g->why))) {
		g->failed = ENOBUFS;
		g->full = op->sw;
		g->limited = true;
	}
	/* No room: EDQUOT, ENOBUFS and ENOMEM of the kernel. */
	if (op->ret == -ENOBUFS)
		g->full = op->sw;
	/* If the answer was lost, there may be a tree. */
	if (p->tree == tree_make)
		p->part->made = !op->ret || op->ret == -EHOSTUNREACH;
	p->part->made_at = g->manager->loop.now;
	free(p);
	group_op_done(g);
}

static bool submit(struct part *part,
		   int (*tree)(struct tree *t, struct netconf *n, char *err))
{
	struct part_op *p = calloc(1, sizeof(*p));

	if (!p)
		return false;
	p->part = part;
	p->tree = tree;
	p->op.run = run;
	p->op.done = done;
	part->group->busy++;
	sw_submit(part->sw, &p->op);
	return true;
}

static int link_tree(struct tree *t, struct netconf *n, char *err)
{
	return tree_link(t, n, err);
}

/* --- Placing ------------------------------------------------------------- */

/*
 * Is there a place for each rank? Sets at, for each of them its switch; @near: or
 * one that is near.
 */
static bool locate(const struct group *g, bool near, uint32_t *at,
		   uint32_t *lost)
{
	const struct sw_if *itf;
	const struct sw *sw;
	uint32_t i;

	for (i = 0; i < g->like.ranks; i++) {
		sw = topo_find(g->manager, &g->ranks[i].join.addr, &itf);
		if (!sw && near)
			sw = topo_near(g->manager, &g->ranks[i].join.addr);
		if (!sw) {
			*lost = i;
			return false;
		}
		at[i] = sw->index;
	}
	return true;
}

/* @cm: leave out all switches without RDMA CM. */
static bool compute_with(const struct group *g, const uint32_t *at, bool cm,
			 struct place *p)
{
	struct place_fabric *f = topo_fabric(g->manager);
	struct manager *m = g->manager;
	uint32_t i;

	if (!f)
		return false;
	limit_room(g);
	for (i = 0; i < g->navoid; i++)
		topo_avoid(m, g->avoid[i]);
	for (i = 0; cm && i < m->o.nswitches; i++)
		if (!cm_offered(&m->switches[i]))
			topo_avoid(m, &m->switches[i]);
	return place_compute(f, g->like.ranks, at, p);
}

static bool compute(struct group *g, const uint32_t *at, struct place *p)
{
	g->no_cm = false;
	if (!compute_with(g, at, false, p))
		return false;
	if (cm_placed(g, p))
		return true;
	place_free(p);
	if (compute_with(g, at, true, p)) {
		if (cm_placed(g, p))
			return true;
		place_free(p);
	}
	g->no_cm = true;
	return false;
}

/* Judge all switches as the group's root, in a fabric without its tree. */
static bool judge_roots(const struct group *g, const struct place_fabric *f,
			struct place_why *list, uint32_t *root)
{
	uint32_t at[g->like.ranks], lost;
	struct place p = { .n = 0 };
	bool found;

	if (!locate(g, true, at, &lost))
		return false;
	limit_room(g);
	found = place_compute(f, g->like.ranks, at, &p) || g->nparts;
	if (found)
		*root = g->nparts ? g->parts[0].sw->index : p.nodes[0].at;
	place_free(&p);
	return found && place_why(f, g->like.ranks, at, list);
}

/**
 * group_why() - look at all candidates for the root of a group's tree
 * @g: group, all ranks of which were present
 * @list: result: for each switch how good it is, now
 * @root: result: the root that the group has, or would get now
 *
 * Return: false if there is no tree for the group.
 */
bool group_why(const struct group *g, struct place_why *list, uint32_t *root)
{
	const struct place_fabric *f = topo_without(g->manager, g->charge);
	bool found;

	if (!f)
		return false;
	found = judge_roots(g, f, list, root);
	topo_with(g->manager, g->charge);
	return found;
}

/**
 * group_fits() - check whether a group could have another tree
 * @g: group, all ranks of which were present
 *
 * Return: true if it could, were its own tree gone. @g->refused may have changed.
 */
bool group_fits(struct group *g)
{
	const struct place_fabric *f = topo_without(g->manager, g->charge);
	uint32_t at[g->like.ranks], lost;
	struct place p = { .n = 0 };
	bool fits;

	if (!f || !locate(g, true, at, &lost))
		return false;
	limit_room(g);
	fits = place_compute(f, g->like.ranks, at, &p) && cm_placed(g, &p);
	place_free(&p);
	return fits;
}

/* Is there an ID for each of so many trees more? */
static bool has_ids(const struct manager *m, uint32_t trees)
{
	return (uint64_t)m->by_tree.n + trees <=
	       (uint64_t)m->ids.last - m->ids.first + 1;
}

static uint32_t new_tree_id(struct manager *m)
{
	uint32_t id;

	do {
		id = m->ids.next;
		m->ids.next = id == m->ids.last ? m->ids.first : id + 1;
		/* Trees of groups that were taken over have IDs from anywhere. */
	} while (group_has_tree(m, id));
	return id;
}

/**
 * group_wishes() - set what a group wishes of a tree
 * @g: group
 * @t: tree
 */
void group_wishes(const struct group *g, struct tree *t)
{
	const struct inc_rdv_tree *wish = &g->like.tree;
	struct inc_rdv_joined *s = &t->settings;

	s->slots = wish->slots;
	s->msg_size = wish->msg_size;
	s->pmtu = wish->pmtu ? wish->pmtu : g->like.mtu;
	s->first_msg_id = wish->first_msg_id;
	t->has_first_msg_id = wish->has_first_msg_id;
	s->dead_time = g->manager->o.dead_time;
	if (!g->like.uc)
		return;
	/* A message over UC is one packet. */
	if (!s->msg_size)
		s->msg_size = s->pmtu ? s->pmtu : UC_MSG_SIZE;
	if (!s->slots)
		s->slots = UC_SLOTS;
}

static bool part_init(struct group *g, struct part *part, uint32_t sw,
		      uint32_t members)
{
	part->group = g;
	part->lost = -1;
	part->sw = &g->manager->switches[sw];
	part->sw->parts++;
	part->tree.id = new_tree_id(g->manager);
	part_enter(part);
	part->tree.members = calloc(members, sizeof(*part->tree.members));
	group_wishes(g, &part->tree);
	return part->tree.members;
}

static void add_host(struct part *part, struct rank *r)
{
	struct tree_member *m = &part->tree.members[part->tree.n];

	m->known = true;
	m->rank = r->join.rank;
	m->waits = r->join.cm;
	m->uc = r->join.uc;
	m->peer.addr = r->join.addr;
	m->peer.qpn = r->join.qpn;
	m->peer.psn = r->join.psn;
	r->part = part;
	r->member = part->tree.n++;
}

static void add_child(struct part *parent, struct part *child)
{
	child->parent = parent;
	child->place = parent->tree.n++;
	child->tree.job_ranks = parent->group->like.ranks;
	child->tree.first_rank = child->first;
	parent->tree.members[child->place].below = child->count;
}

static void add_members(struct group *g, const struct place *p, uint32_t node)
{
	struct part *part = &g->parts[node];
	uint32_t r, member;

	for (r = part->first; r < part->first + part->count;) {
		member = place_member(p, node, r);
		if (member == PLACE_NONE) {
			add_host(part, &g->ranks[r++]);
			continue;
		}
		add_child(part, &g->parts[member]);
		r += g->parts[member].count;
	}
}

/* Make the parts: the root's first, those of children after their parents'. */
static bool build(struct group *g, const struct place *p)
{
	uint32_t i;

	g->parts = calloc(p->n, sizeof(*g->parts));
	if (!g->parts)
		return false;
	for (i = 0; i < p->n; i++) {
		g->nparts++;
		g->parts[i].first = p->nodes[i].first;
		g->parts[i].count = p->nodes[i].count;
		if (!part_init(g, &g->parts[i], p->nodes[i].at,
			       p->nodes[i].members))
			return false;
	}
	for (i = 0; i < p->n; i++)
		add_members(g, p, i);
	return true;
}

static void make(struct group *g)
{
	uint32_t i;

	group_set_state(g, GROUP_MAKING);
	g->step = g->nparts > 1 ? step_add : step_joined;
	for (i = 0; i < g->nparts; i++)
		if (!submit(&g->parts[i], tree_make))
			g->failed = ENOMEM;
}

/*
 * Ranks that take a lost manager for the reason would come again, those that
 * came last would not: only where the fabric is lost it is EHOSTUNREACH.
 */
static const char *reason(const struct group *g, int *err)
{
	const struct manager *m = g->manager;
	unsigned int i;

	*err = ENOBUFS;
	if (g->navoid)
		return g->refused;
	for (i = 0; i < m->o.nswitches; i++)
		if (!m->switches[i].up && !m->switches[i].gone) {
			*err = EHOSTUNREACH;
			return m->switches[i].why;
		}
	if (m->drains)
		return "none has the capability and room for another tree, and is not drained";
	return "none has the capability and room for another tree";
}

/**
 * group_look_again() - place a group when all switches have answered
 * @g: group
 */
void group_look_again(struct group *g)
{
	struct manager *m = g->manager;
	unsigned int i;

	group_set_state(g, GROUP_PLACING);
	group_touch(g);
	for (i = 0; i < m->o.nswitches; i++)
		sw_refresh(&m->switches[i]);
}

/* Have all switches ask for the hosts that none has seen. */
static void probe(struct group *g)
{
	const struct inc_rdv_addr *lost[g->like.ranks];
	struct manager *m = g->manager;
	const struct sw_if *itf;
	unsigned int n = 0, i;

	for (i = 0; i < g->like.ranks; i++)
		if (!topo_find(m, &g->ranks[i].join.addr, &itf))
			lost[n++] = &g->ranks[i].join.addr;
	for (i = 0; i < m->o.nswitches; i++)
		sw_probe(&m->switches[i], lost, n);
}

/* Wait until hosts are seen, unless it has taken too long. */
static bool await_hosts(struct group *g)
{
	int64_t now = g->manager->loop.now;

	if (!g->probe_until) {
		g->probe_until = now + PROBE_MS;
		g->probe_at = now;
	}
	if (g->probe_until <= now)
		return false;
	group_set_state(g, GROUP_PLACING);
	if (g->probe_at <= now) {
		g->probe_at = now + REPEAT_MS;
		probe(g);
	}
	if (g->place_at <= now)
		g->place_at = now + LOOK_MS;
	return true;
}

/* A host at a switch that does not answer is seen by nobody. */
static void say_down(const struct manager *m, char *text, size_t len)
{
	unsigned int i, n = 0, down = 0;

	for (i = 0; i < m->o.nswitches; i++) {
		n += !m->switches[i].gone;
		down += !m->switches[i].gone && !m->switches[i].up;
	}
	text[0] = '\0';
	if (down)
		snprintf(text, len, " %u of %u switches do not answer: \"inc-amctl switch\" says why",
			 down, n);
}

static void no_place(struct group *g, bool located, uint32_t lost)
{
	char text[INC_RDV_TEXT_MAX - 256], addr[INET6_ADDRSTRLEN];
	const char *others = g->tenant->limits->priority ? PREEMPT_NO_HELP : "";
	const char *why;
	int err;

	if (located && g->claims) {
		group_refuse(g, ENOBUFS, "all tenants together have what they may have%s",
			     others);
	} else if (located && limit_says(g, text, sizeof(text))) {
		tenant_refused(g->tenant, &g->manager->events, g->like.job,
			       text);
		group_refuse(g, ENOBUFS, "%s", text);
	} else if (located) {
		why = reason(g, &err);
		group_refuse(g, err, "no switch can serve it: %.300s%s", why,
			     others);
	} else {
		say_down(g->manager, text, sizeof(text));
		group_refuse(g, EHOSTUNREACH, "no switch sees rank %u at %s, and it answers none: is its leaf among the manager's switches, and the host up?%s",
			     lost, inc_rdv_addr_str(&g->ranks[lost].join.addr,
						    addr, sizeof(addr)), text);
	}
}

static struct topo_port find_narrowest(const struct group *g)
{
	struct topo_port port = { NULL };
	const struct sw_if *itf;
	const struct sw *sw;
	uint32_t i;

	topo_narrowest(g->manager, g->charge, &port);
	for (i = 0; i < g->like.ranks; i++) {
		sw = topo_find(g->manager, &g->ranks[i].join.addr, &itf);
		if (sw && itf)
			topo_narrow(&port, g->charge, sw, itf);
	}
	return port;
}

/**
 * group_is_narrow() - look for a port that lets the longest packets not through
 * @g: group that has trees
 * @text: result: which it is
 * @len: size of @text in bytes
 *
 * Its MTU has become smaller since the trees were made, or it is another one.
 *
 * Return: true if there is one.
 */
bool group_is_narrow(const struct group *g, char *text, size_t len)
{
	const struct topo_port port = find_narrowest(g);
	uint32_t pmtu = g->parts[0].tree.settings.pmtu;

	if (!port.itf || pmtu + ROCE_LEN_IPV4 <= port.itf->mtu)
		return false;
	snprintf(text, len, "%s:%s, on the way, has an MTU of %u, too small for the path MTU %u",
		 sw_name(port.sw), port.itf->name, port.itf->mtu, pmtu);
	return true;
}

/*
 * The longest packets have to fit all ports on the way, of switches that forward
 * them only, too. What was not wished for gets smaller.
 */
static bool pmtu_fits(struct group *g)
{
	const struct topo_port port = find_narrowest(g);
	uint32_t wish = g->like.tree.pmtu, pmtu = TREE_PMTU_MAX;

	if (!port.itf)
		return true;
	while (pmtu >= TREE_PMTU_MIN && pmtu + ROCE_LEN > port.itf->mtu)
		pmtu /= 2;
	if (pmtu < TREE_PMTU_MIN || wish > pmtu) {
		wish = wish ? wish : TREE_PMTU_MIN;
		group_refuse(g, EMSGSIZE, "a path MTU of %u needs an MTU of %u, and %s:%s, on the way, has %u: raise that, or choose a smaller pmtu",
			     wish, wish + ROCE_LEN, sw_name(port.sw),
			     port.itf->name, port.itf->mtu);
		return false;
	}
	if ((g->like.mtu ? g->like.mtu : RDMA_INC_DEFAULT_PMTU) > pmtu)
		g->like.mtu = pmtu;
	return true;
}

/* The group may be freed. */
static void begin_trees(struct group *g, const struct place *p,
			const uint32_t *at)
{
	const struct ids *ids = &g->manager->ids;

	if (!has_ids(g->manager, p->n)) {
		group_refuse(g, ENOBUFS, "all IDs of trees from %u to %u are in use (--tree-ids)",
			     ids->first, ids->last);
		return;
	}
	g->charge = topo_charge(g->manager, p, at);
	if (!pmtu_fits(g))
		return;
	if (!build(g, p)) {
		group_refuse(g, ENOMEM, "no memory");
		return;
	}
	group_note_links(g);
	make(g);
}

/**
 * group_place() - compute the tree of a group, and begin to make it
 * @g: group, all ranks of which are present
 */
void group_place(struct group *g)
{
	uint32_t at[g->like.ranks], lost = 0;
	struct place p;
	bool located;

	group_touch(g);
	if (group_waits(g))
		return;
	located = locate(g, false, at, &lost);
	if (!located) {
		if (await_hosts(g))
			return;
		located = locate(g, true, at, &lost);
	}
	if (located && !g->claims && compute(g, at, &p)) {
		begin_trees(g, &p, at);
		place_free(&p);
		return;
	}
	/* What is known may be two seconds old. */
	if (g->state == GROUP_GATHERING) {
		group_look_again(g);
		return;
	}
	if (located && g->no_cm)
		group_refuse(g, EOPNOTSUPP, "no switch can serve it: %.400s",
			     g->refused);
	else if (!located || !group_preempts(g, at))
		no_place(g, located, lost);
}

/**
 * group_elsewhere() - try again without a switch that has refused a tree
 * @g: group, with no operation on a switch; may be freed
 *
 * What it has room for is only known when it is asked: that depends on slots and
 * message sizes, and on who else is there.
 *
 * Return: false if none has refused one for lack of room.
 */
bool group_elsewhere(struct group *g)
{
	const struct sw **list;

	if (!g->full || g->ending)
		return false;
	if (group_awaits_memory(g))
		return true;
	list = realloc(g->avoid, (g->navoid + 1) * sizeof(*list));
	if (!list)
		return false;
	g->avoid = list;
	list[g->navoid++] = g->full;
	snprintf(g->refused, sizeof(g->refused), "%s", g->why);
	log_debug("group \"%s\": tried elsewhere: %s", g->like.job, g->why);
	g->full = NULL;
	g->failed = 0;
	g->why[0] = '\0';
	group_drop_parts(g);
	group_place(g);
	return true;
}

/* --- Further steps ------------------------------------------------------- */

/* A child has its queue pair to its parent, which gets it as a member. */
static bool connect_up(struct group *g, struct part *part)
{
	const struct part *up = part->parent;
	struct tree_member *m = &up->tree.members[part->place];
	char taken[256];

	if (!topo_addr(g->manager, part->sw, up->sw, &part->tree.up.addr)) {
		topo_say_taken(g->manager, part->sw, taken, sizeof(taken));
		group_refuse(g, EHOSTUNREACH, "switch %s has no address by which %s reaches it%s",
			     sw_name(part->sw), sw_name(up->sw), taken);
		return false;
	}
	m->known = true;
	m->peer = part->tree.up;
	return true;
}

static bool has_children(const struct part *part)
{
	uint32_t i;

	for (i = 0; i < part->tree.n; i++)
		if (part->tree.members[i].below)
			return true;
	return false;
}

static void step_add(struct group *g)
{
	uint32_t i;

	for (i = 1; i < g->nparts; i++)
		if (!connect_up(g, &g->parts[i]))
			return;
	g->step = step_link;
	for (i = 0; i < g->nparts; i++)
		if (has_children(&g->parts[i]) &&
		    !submit(&g->parts[i], tree_add))
			g->failed = ENOMEM;
}

static void step_link(struct group *g)
{
	struct part *part;
	uint32_t i;

	g->step = step_joined;
	for (i = 1; i < g->nparts; i++) {
		part = &g->parts[i];
		part->tree.parent_id = part->parent->tree.id;
		part->tree.parent = part->parent->tree.members[part->place].own;
		if (!submit(part, link_tree))
			g->failed = ENOMEM;
	}
}

/**
 * group_tell_joined() - tell a rank what to connect to
 * @r: rank, for which cm_reached() is true
 */
void group_tell_joined(struct rank *r)
{
	const struct tree *t = &r->part->tree;
	const struct tree_end *own = &t->members[r->member].own;
	struct am_message msg = {
		.heartbeat_ms	= group_beat_ms(r->group->manager),
		.resume_ms	= state_resume_ms(r->group->manager),
		.brief		= true,
	};
	struct inc_rdv_joined *joined = &msg.rdv.joined;

	msg.rdv.type = INC_RDV_JOINED;
	*joined = t->settings;
	joined->rebuild = r->group->like.rebuild;
	joined->resume = r->group->resume;
	joined->addr = own->addr;
	joined->qpn = own->qpn;
	joined->psn = own->psn;
	joined->rkey = own->rkey;
	cm_tell(r, &msg);
	snprintf(msg.switch_id, sizeof(msg.switch_id), "%s",
		 sw_name(r->part->sw));
	r->heard_at = r->group->manager->loop.now;
	r->told = r->stream;
	r->alive_at = rank_next_alive(r);
	group_tell(r, &msg);
}

static void joined(struct group *g)
{
	uint32_t i;

	if (g->ending)
		return;
	group_set_state(g, GROUP_JOINED);
	for (i = 0; i < g->like.ranks; i++)
		if (g->ranks[i].state == RANK_PRESENT)
			group_tell_joined(&g->ranks[i]);
}

/* Are the addresses that ranks are to send to no host's? */
static bool addrs_are_own(struct group *g)
{
	const struct tree_end *own;
	char text[INET6_ADDRSTRLEN];
	const struct rank *r;
	uint32_t i;

	for (i = 0; i < g->like.ranks; i++) {
		r = &g->ranks[i];
		own = r->part ? &r->part->tree.members[r->member].own : NULL;
		if (!own || !own->addr.len ||
		    !topo_is_host(g->manager, &own->addr))
			continue;
		group_refuse(g, EADDRINUSE, "switch %s claims to have the address %s, which is a host's",
			     sw_name(r->part->sw),
			     inc_rdv_addr_str(&own->addr, text, sizeof(text)));
		return false;
	}
	return true;
}

static void step_joined(struct group *g)
{
	if (!addrs_are_own(g))
		return;
	if (!cm_made(g)) {
		group_refuse(g, EOPNOTSUPP, "%.400s", g->refused);
		return;
	}
	group_has_room(g);
	/* The ranks have memory for such messages, should it be rebuilt. */
	g->like.tree.slots = g->parts[0].tree.settings.slots;
	g->like.tree.msg_size = g->parts[0].tree.settings.msg_size;
	g->like.tree.pmtu = g->parts[0].tree.settings.pmtu;
	log_debug("group \"%s\": %u tree%s made in %lld ms", g->like.job,
		  g->nparts, g->nparts == 1 ? "" : "s",
		  (long long)(now_ms() - g->began_at));
	/* The next manager makes one more for a group that is rebuilt. */
	if (g->rebuilding)
		joined(g);
	else
		keep_then(g, joined);
}
