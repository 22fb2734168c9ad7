// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Rebuilding: another tree for a group whose tree has failed, if its ranks
 * asked for it. The ranks get "rebuild"; each makes a new queue pair and sends
 * "rejoin", with the number of operations of which it has all results. When all
 * have, the manager refreshes the fabric, and makes the new tree like the first
 * one. "joined" has the lowest of the numbers, from which the ranks go on.
 *
 * The failed part may not be known yet, or take a while to be replaced (a
 * spanning tree takes seconds). So the manager tries again for a limited time,
 * which does not include waiting for ranks: a rank that is computing sends
 * "rejoin" only at its next call of libinc. Each failure has the full time,
 * unless the last tree has hardly been ready: then nothing was mended.
 *
 * Ranks need not have begun. A rank that has not got "joined" yet keep their
 * queue pairs.
 */
#include <errno.h>
#include <stdio.h>

#include "group/group.h"

#define AGAIN_MS	500	/* between attempts */
#define ROUNDS		0xffffU	/* of one manager */

/* When would the first of a series of failures be, if the tree failed now? */
static int64_t failing_since(const struct group *g)
{
	int64_t now = g->manager->loop.now, there_at = now;

	if (g->state == GROUP_READY)
		there_at = g->rebuild.ready_at;
	else if (g->state == GROUP_REJOINED)
		there_at = g->rebuild.asked_at;
	return !g->rebuild.failed_at || now - there_at > REBUILD_SETTLED_MS ?
	       now : g->rebuild.failed_at;
}

static bool in_time(const struct group *g, int64_t since)
{
	return g->manager->loop.now - since < g->manager->o.rebuild_ms;
}

static void forget_tree(struct group *g)
{
	uint32_t i;

	for (i = 0; i < g->request.ranks; i++)
		inc_job_set_rts(&g->core, &g->ranks[i].core, false);
	group_set_state(g, GROUP_REJOINING);
	g->core.deadline = INT64_MAX;
	g->where.place_at = 0;
	g->where.probe_until = 0;
}

/*
 * Check whether a group gets another tree if its own fails. Returns false if
 * the group would end instead.
 */
bool group_may_rebuild(const struct group *g)
{
	return g->request.rebuild && !g->manager->stop &&
	       in_time(g, failing_since(g));
}

/* Make another tree. */
void group_rebuild(struct group *g, const char *text)
{
	int64_t since = failing_since(g);
	struct rank *r;
	uint32_t i;

	keep_places(g);
	if (since != g->rebuild.failed_at)
		snprintf(g->rebuild.broken, sizeof(g->rebuild.broken), "%s", text);
	g->rebuild.failed_at = since;
	g->rebuild.attempt[0] = '\0';
	g->rebuild.asked_at = g->manager->loop.now;
	g->persisted.raise_stored = false;
	g->move.host_at = 0;
	/* An operator has wished for the first tree, and no other. */
	if (!group_is_hidden(g))
		g->move.here.by_hand = false;
	g->rebuild.rejoined = 0;
	for (i = 0; i < g->request.ranks; i++)
		g->ranks[i].rejoined = false;
	forget_tree(g);
	g->rebuild.round++;
	g->manager->group_ops->changed(g);
	inc_job_for_each(&g->core, r, RANK_PRESENT)
		group_tell_rebuild(r, text);
	group_rebuild_step(g);
}

/*
 * Make another tree for ranks that have not heard of the first. Returns false
 * if the group must end.
 */
bool group_start_over(struct group *g, const char *why)
{
	if (!g->request.rebuild || g->manager->stop || g->state != GROUP_MAKING)
		return false;
	/* Switches are still at work: GROUP_EV_OP_DONE will continue. */
	if (g->making.ops) {
		g->making.err = ECONNRESET;
		snprintf(g->making.why, sizeof(g->making.why), "%s", why);
		return true;
	}
	log_debug("group \"%s\": makes another tree: %s", g->request.job, why);
	g->making.err = 0;
	g->making.why[0] = '\0';
	g->manager->group_ops->unstore(g);
	trees_drop(g);
	group_set_state(g, GROUP_PLACING);
	g->where.probe_until = 0;
	g->where.place_at = g->manager->loop.now + AGAIN_MS;
	return true;
}

/*
 * Continue a rebuild that an earlier manager began. Ranks may have answered
 * rounds that the store does not know of.
 * @g: group of the store, whose tree had failed
 */
void group_rebuild_on(struct group *g)
{
	g->rebuild.failed_at = g->manager->loop.now;
	g->rebuild.asked_at = g->rebuild.failed_at;
	g->rebuild.round = (g->rebuild.round | ROUNDS) + 1;
	forget_tree(g);
	g->manager->group_ops->changed(g);
}

/*
 * Try again to make another tree. Returns false if no time is left.
 * @g: group that could not be placed, or made, and is being rebuilt
 */
bool group_try_again(struct group *g, const char *why)
{
	if (!in_time(g, g->rebuild.failed_at))
		return false;
	log_debug("group \"%s\": no other tree yet: %s", g->request.job, why);
	snprintf(g->rebuild.attempt, sizeof(g->rebuild.attempt), "%s", why);
	g->making.err = 0;
	g->making.why[0] = '\0';
	/* Routers may find other routes meanwhile. */
	g->where.naparts = 0;
	group_yield(g);
	forget_tree(g);
	group_rebuild_step(g);
	return true;
}

/* Take the next step of a rebuild, once the switches are done. */
void group_rebuild_step(struct group *g)
{
	uint32_t i;

	if (g->making.ops)
		return;
	g->making.err = 0;
	trees_drop(g);
	if (g->rebuild.rejoined < g->request.ranks)
		return;
	g->manager->group_ops->changed(g);
	g->rebuild.resume = g->ranks[0].done;
	for (i = 1; i < g->request.ranks; i++)
		if ((int32_t)(g->ranks[i].done - g->rebuild.resume) < 0)
			g->rebuild.resume = g->ranks[i].done;
	g->making.began_at = g->manager->loop.now;
	g->core.deadline = g->making.began_at + g->manager->o.rebuild_ms;
	/* The first attempt need not wait. */
	g->where.place_at = g->making.began_at + (g->making.began_at - g->rebuild.failed_at < AGAIN_MS ?
				     1 : AGAIN_MS);
}

static void note_rejoined(struct rank *r)
{
	struct group *g = r->group;

	r->rejoined = true;
	g->rebuild.rejoined++;
	/* Time in which a rank's program computed does not count. */
	if (g->rebuild.rejoined == g->request.ranks)
		g->rebuild.failed_at += g->manager->loop.now - g->rebuild.asked_at;
	log_debug("group \"%s\": round %u: rank %u has a new queue pair, %u of %u",
		  g->request.job, g->rebuild.round, r->join.rank, g->rebuild.rejoined,
		  g->request.ranks);
	group_raise(g, GROUP_EV_REJOINED);
}

/* Was the answer to this "rejoin" lost with the stream? */
static bool is_unanswered(const struct rank *r, const struct inc_rdv_join *join)
{
	const struct group *g = r->group;

	return group_is_joined(g->state) && !r->core.rts && !r->joined_sent &&
	       join->round == g->rebuild.round && r->join.qpn == join->qpn &&
	       r->join.psn == join->psn;
}

/* Handle "rejoin". */
void group_rejoin(struct rank *r, const struct inc_rdv_join *join)
{
	struct group *g = r->group;

	if (is_unanswered(r, join) && cm_reached(r)) {
		group_tell_joined(r);
		return;
	}
	/* The answer to an earlier "rebuild" is stale. */
	if (g->state != GROUP_REJOINING || join->round != g->rebuild.round ||
	    r->rejoined)
		return;
	if (r->joined_sent)
		r->old_qp = (struct rank_qp){ r->join.qpn, r->join.psn };
	r->joined_sent = false;
	r->join.qpn = join->qpn;
	r->join.psn = join->psn;
	r->done = join->done;
	note_rejoined(r);
}

/*
 * Handle "join" while another tree is made.
 * @r: rank that has not heard of the failed tree: its queue pair is not
 *	connected, and can be used as it is
 */
void group_join_again(struct rank *r)
{
	if (r->group->state == GROUP_REJOINING && !r->rejoined)
		note_rejoined(r);
}
