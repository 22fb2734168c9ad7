// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The end of groups. A rank that leaves in order stays in the tree for
 * LEAVE_MS: when a program ends, all its ranks leave at about the same time,
 * and the slower ones must not see an error.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group/group.h"
#include "rdma_inc_proto.h"
#include "stats/stats.h"

/* As long as the rendezvous daemon's, for the same reasons. */
#define LEAVE_MS	2000
#define CHILD_MS	300	/* ranks at other switches wait for results */
#define ENDING_MS	60000
#define LOST_SAID	16	/* lost ranks of a group, of which it is told */

/**
 * group_tell_failed() - tell all ranks present that the tree has failed
 * @g: group
 * @rank: rank that caused it; -1: none
 * @status: status that requests are answered with
 * @fmt: reason
 */
void group_tell_failed(struct group *g, int rank, unsigned int status,
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
	group_tell_all(g, &msg);
}

/**
 * group_begin_end() - start to end a group
 * @g: group, whose name is free after that
 */
void group_begin_end(struct group *g)
{
	group_touch(g);
	if (!g->ending) {
		g->until = g->manager->loop.now + ENDING_MS;
		tenant_leave(&g->manager->tenants, g->tenant, g->reserved,
			     g->like.ranks);
		group_has_room(g);
		g->reserved = NULL;
	}
	g->ending = true;
}

/* --- Operations ---------------------------------------------------------- */

/**
 * struct del_op - a tree or a member is deleted
 * @op: operation
 * @group: group; NULL: none, the tree is left over from an earlier manager
 * @id: tree
 * @member: member; -1: the tree
 */
struct del_op {
	struct sw_op	op;
	struct group	*group;
	uint32_t	id;
	int		member;
};

static int del_run(struct sw_op *op, struct netconf *n)
{
	struct del_op *d = container_of(op, struct del_op, op);

	return d->member < 0 ? tree_del(d->id, n, op->err) :
	       tree_member_del(d->id, (uint32_t)d->member, n, op->err);
}

static void del_done(struct sw_op *op)
{
	struct del_op *d = container_of(op, struct del_op, op);
	struct group *g = d->group;

	/* If it is not reached, the tree is found when it is again. */
	if (op->ret && op->ret != -ENOENT)
		log_say("switch %s: %s of tree %u cannot be deleted: %s",
			sw_name(op->sw), d->member < 0 ? "all" : "a member",
			d->id, op->err);
	free(d);
	if (g)
		group_op_done(g);
}

static void del(struct sw *sw, struct group *g, uint32_t id, int member)
{
	struct del_op *d = calloc(1, sizeof(*d));

	if (!d) {
		log_say("no memory to delete tree %u", id);
		return;
	}
	d->group = g;
	d->id = id;
	d->member = member;
	d->op.run = del_run;
	d->op.done = del_done;
	if (g)
		g->busy++;
	sw_submit(sw, &d->op);
}

static void del_member(const struct rank *r)
{
	if (r->part && r->part->made)
		del(r->part->sw, r->group, r->part->tree.id, (int)r->member);
}

/**
 * group_drop_parts() - forget the trees of a group, and delete those there are
 * @g: group, with no operation on a switch
 */
void group_drop_parts(struct group *g)
{
	struct part *part;
	uint32_t i;

	g->vague.tree_at = 0;
	for (i = 0; i < g->like.ranks; i++) {
		g->ranks[i].part = NULL;
		g->ranks[i].alive_at = 0;
	}
	for (i = 0; i < g->nparts; i++) {
		part = &g->parts[i];
		if (part->made)
			del(part->sw, NULL, part->tree.id, -1);
		part->sw->parts--;
		index_remove(&part->by_tree);
		free(part->tree.members);
	}
	free(g->parts);
	g->parts = NULL;
	g->nparts = 0;
	group_forget_links(g);
	topo_discharge(g->manager, g->charge);
	g->charge = NULL;
}

static void group_free(struct group *g)
{
	struct manager *m = g->manager;
	bool awaited = g->awaited;

	if (!g->kept.forgotten)
		group_say(g, EVENT_GROUP_ENDED, "%s", g->cause);
	if (g->last)
		rpc_stream_end(g->last, 0, "");
	m->freed++;
	group_drop_parts(g);
	group_take_out(g);
	free(g->avoid);
	free(g);
	if (awaited)
		group_wake(m);
}

static void delete_trees(struct group *g)
{
	uint32_t i;

	for (i = 0; i < g->nparts; i++)
		if (g->parts[i].made) {
			g->parts[i].made = false;
			del(g->parts[i].sw, g, g->parts[i].tree.id, -1);
		}
}

/**
 * group_op_done() - handle the end of an operation
 * @g: group; may be freed
 */
void group_op_done(struct group *g)
{
	struct rank *r;

	group_touch(g);
	if (--g->busy)
		return;
	if (g->over) {
		/* Trees may have been made since. */
		delete_trees(g);
		if (g->busy)
			return;
		r = g->last ? rpc_stream_get(g->last) : NULL;
		if (r) {
			r->stream = g->last;
			group_tell(r, &(struct am_message){
				.rdv = { .type = INC_RDV_BYE } });
		}
		group_free(g);
	} else if (g->state == GROUP_REJOINING && !g->ending) {
		g->failed = 0;
		group_rebuild_step(g);
	} else if (g->failed) {
		if (group_elsewhere(g) || (g->failed == ECONNRESET &&
					   group_start_over(g, g->why)))
			return;
		group_refuse(g, g->failed, "%s", g->why[0] ? g->why :
			     strerror(g->failed));
	} else if (g->state == GROUP_MAKING && !g->ending) {
		g->step(g);
	}
}

/* End the streams of all ranks present. */
static void dismiss(struct group *g, int err, const char *why)
{
	struct rank *r;
	uint32_t i;

	for (i = 0; i < g->like.ranks; i++) {
		r = &g->ranks[i];
		if (r->state != RANK_PRESENT)
			continue;
		r->state = RANK_GONE;
		rpc_stream_end(r->stream, err, why);
		r->stream = NULL;
	}
}

/**
 * group_end() - end a group
 * @g: group; is freed now or later
 */
void group_end(struct group *g)
{
	group_begin_end(g);
	keep_not(g);
	g->over = true;
	dismiss(g, ECONNRESET, "the group has ended");
	g->present = 0;
	stats_group_ends(g->manager->stats, g);
	/* One more than there are, for the last to find all done. */
	g->busy++;
	group_op_done(g);
}

/**
 * group_refuse() - end a group that could not be formed
 * @g: group; is freed now or later
 * @err: positive errno value
 * @fmt: why
 */
void group_refuse(struct group *g, int err, const char *fmt, ...)
{
	char why[INC_RDV_TEXT_MAX - 128], text[INC_RDV_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	if (group_try_again(g, why))
		return;
	snprintf(text, sizeof(text), AM_GROUP "%s\": %s", g->like.job, why);
	/* These would try to resume, or not learn more than that they cannot. */
	if (g->rebuilding)
		group_tell_failed(g, -1, INC_STATUS_TREE_GONE, "%s", text);
	group_blame(g, CAUSE_REFUSED, "%s", why);
	group_say(g, EVENT_GROUP_REFUSED, "%s", why);
	dismiss(g, err, text);
	group_end(g);
}

/* --- Ranks that leave ---------------------------------------------------- */

/* The stream is not a rank's any more. */
static void detach(struct rank *r, enum rank_state state)
{
	struct group *g = r->group;

	r->state = g->state == GROUP_GATHERING ? RANK_ABSENT : state;
	r->stream = NULL;
	g->present--;
	g->rts -= r->rts;
	r->rts = false;
}

static void say_bye(struct rank *r, struct rpc_stream *stream,
		    const struct am_message *bye)
{
	r->stream = stream;
	group_tell(r, bye);
	r->stream = NULL;
	rpc_stream_end(stream, 0, "");
}

/**
 * group_leave() - handle "leave"
 * @r: rank that is present; its group may be freed
 *
 * The last one gets its answer when the trees are deleted.
 */
void group_leave(struct rank *r)
{
	struct am_message bye = { .rdv = { .type = INC_RDV_BYE } };
	struct rpc_stream *stream = r->stream;
	struct group *g = r->group;

	log_debug("group \"%s\": rank %u leaves", g->like.job, r->join.rank);
	group_missing(g, r, bye.rdv.text, sizeof(bye.rdv.text));
	group_blame(g, CAUSE_LEFT, "rank %u", r->join.rank);
	if (g->state == GROUP_GATHERING) {
		detach(r, RANK_ABSENT);
		say_bye(r, stream, &bye);
		if (!g->present)
			group_end(g);
		return;
	}
	detach(r, RANK_LEFT);
	group_begin_end(g);
	keep_changed(g);
	if (!g->present) {
		g->last = stream;
		if (g->nparts < 2) {
			group_end(g);
			return;
		}
		/* What the last have sent may still be on its way down. */
		g->leave_at = g->manager->loop.now + CHILD_MS;
		return;
	}
	say_bye(r, stream, &bye);
	if (!g->leave_at)
		g->leave_at = g->manager->loop.now + LEAVE_MS;
}

/**
 * group_lost() - handle the loss of a rank
 * @r: rank; its group may be freed
 * @why: reason
 */
void group_lost(struct rank *r, const char *why)
{
	struct rpc_stream *stream = r->stream;
	struct group *g = r->group;
	uint32_t rank = r->join.rank;

	/* It has left, or the group is over. */
	if (r->state != RANK_PRESENT)
		return;
	/* One host may have all of them, which go at once. */
	g->nlost++;
	if (g->nlost <= LOST_SAID)
		group_say(g, EVENT_RANK_LOST, "rank %u: %s%s", rank, why,
			  g->nlost < LOST_SAID ? "" :
			  "; of more, there is no event");
	group_blame(g, CAUSE_CLIENT, "rank %u: %s", rank, why);
	if (stream) {
		rpc_stream_set(stream, NULL);
		rpc_stream_end(stream, ECONNRESET, why);
	}
	detach(r, RANK_GONE);
	if (g->state == GROUP_GATHERING) {
		if (!g->present)
			group_end(g);
		return;
	}
	group_begin_end(g);
	keep_not(g);
	/* For the others the first one ends it. */
	if (!g->told)
		group_tell_failed(g, (int)rank, INC_STATUS_MEMBER_LEFT,
				  "rank %u: %s", rank, why);
	g->told = true;
	if (!g->present)
		group_end(g);
	else if (g->nlost <= LOST_SAID)
		del_member(r);
}

/**
 * group_delete_left() - delete the members of ranks that have left a while ago
 * @g: group; may be freed
 *
 * The others are told: they have stayed too long.
 */
void group_delete_left(struct group *g)
{
	struct rank *r;
	uint32_t i;

	g->leave_at = 0;
	if (!g->present) {
		group_end(g);
		return;
	}
	for (i = 0; i < g->like.ranks; i++) {
		r = &g->ranks[i];
		if (r->state != RANK_LEFT)
			continue;
		r->state = RANK_GONE;
		del_member(r);
		group_tell_all(g, &(struct inc_rdv_msg){
			.type = INC_RDV_LEFT, .rank = (int)i });
	}
}

/**
 * group_dismantle() - dismantle a group that could go on
 * @g: group; is freed now or later
 * @cause: kind of cause
 * @why: reason, for the ranks
 */
void group_dismantle(struct group *g, enum group_cause cause, const char *why)
{
	if (g->over)
		return;
	group_blame(g, cause, "%s", why);
	/* There is no other tree for it, either. */
	g->rebuilding = false;
	if (g->state < GROUP_JOINED) {
		group_refuse(g, ECONNRESET, "%s", why);
		return;
	}
	group_tell_failed(g, -1, INC_STATUS_TREE_GONE, "%s", why);
	group_end(g);
}

/**
 * group_delete() - dismantle a group by hand, or at the manager's end
 * @g: group; is freed now or later
 * @why: reason, for the ranks
 */
void group_delete(struct group *g, const char *why)
{
	if (g->over)
		return;
	/* An event says it to all; whoever calls must not fill the log. */
	log_debug("group \"%s\": %s", g->like.job, why);
	group_dismantle(g, g->manager->stop ? CAUSE_STOP : CAUSE_HAND, why);
}

/**
 * group_delete_all() - dismantle all groups
 * @m: manager
 * @why: reason, for the ranks
 */
void group_delete_all(struct manager *m, const char *why)
{
	struct group *g, *next;

	for (g = m->groups; g; g = next) {
		next = g->next;
		group_delete(g, why);
	}
}

/**
 * group_clear_tree() - delete a tree that is no group's
 * @sw: switch
 * @id: tree
 */
void group_clear_tree(struct sw *sw, uint32_t id)
{
	log_say("switch %s: tree %u is no group's: deleted", sw_name(sw), id);
	del(sw, NULL, id, -1);
}
