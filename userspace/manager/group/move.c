// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A group moves while it runs: to other switches, or from RC to UC. Its ranks are told
 * the secret name of another group. They join that one as any other, and go on over the
 * old tree meanwhile; once the new tree is ready, they agree on the first operation over
 * it, and leave the old group. To operators both are one group, with one name.
 *
 * So a move needs room for two trees, and ends nobody's job: if the new tree cannot be
 * made, or a rank does not come, the old one stays. Ranks that compute hold nobody up.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "group/group.h"

#define AGAIN_MS	2000	/* after an attempt that failed; doubles */
#define AGAIN_MAX_MS	60000

/* Have two groups be one to operators. */
static void link_groups(struct group *from, struct group *to)
{
	from->move.to = to;
	to->move.from = from;
	snprintf(to->name, sizeof(to->name), "%s", from->name);
}

/*
 * Find the group that moves to another one. Returns the group, or NULL: no group of
 * this tenant does.
 * @job: name of the other one, as its ranks know it
 */
struct group *move_find(const struct manager *m, const struct tenant *tn,
			const char *job)
{
	struct group *g;

	for (g = group_first(m, job); g; g = group_next(g))
		if (g->tenant == tn && g->state < GROUP_ENDING &&
		    !strcmp(g->move.job, job))
			return g;
	return NULL;
}

/*
 * Have a new group take another one's place. Its ranks may be computing, so they have
 * as long as libinc waits.
 * @from: group that moves there
 * @to: group that its first rank has just begun
 */
void move_take(struct group *from, struct group *to)
{
	link_groups(from, to);
	to->request.addr.vlan = from->request.addr.vlan;
	to->move.here = from->move.next;
	to->core.deadline = to->manager->loop.now + MOVE_MS;
}

/* Link a group of the store with the one that it moves to, or comes from. */
void move_restore(struct group *g)
{
	struct group *o;

	g->move.asked_at = g->manager->loop.now;
	for (o = group_first(g->manager, g->request.job); o; o = group_next(o)) {
		if (o->tenant != g->tenant)
			continue;
		if (!strcmp(o->move.job, g->request.job))
			link_groups(o, g);
		else if (!strcmp(g->move.job, o->request.job))
			link_groups(g, o);
	}
}

/*
 * Check whether a rank of another group may be one of a group that moves there. Returns
 * false if not: it would have more than the first group was granted.
 */
bool move_allows(const struct group *from, const struct inc_rdv_join *join)
{
	return join->ranks == from->request.ranks &&
	       join->rank < join->ranks &&
	       inc_rdv_addr_same(&join->addr, &from->ranks[join->rank].join.addr);
}

/* Forget a move that has failed, and wait before the next one, unless it was by hand. */
static void forget_move(struct group *g)
{
	struct group_move *v = &g->move;
	const char *why = v->refused[0] ? v->refused : "its ranks have not changed";

	v->job[0] = '\0';
	g->manager->group_ops->changed(g);
	if (v->next.by_hand) {
		group_log(g, EVENT_GROUP_STAYS, "%s", why);
		return;
	}
	v->pause_ms = !v->pause_ms ? AGAIN_MS : v->pause_ms < AGAIN_MAX_MS / 2 ?
		      2 * v->pause_ms : AGAIN_MAX_MS;
	v->not_before = g->manager->loop.now + v->pause_ms;
	group_log(g, EVENT_GROUP_STAYS, "%s; not tried again for %lld s", why,
		  (long long)v->pause_ms / 1000);
}

/*
 * Note why a group cannot be moved to another one.
 * @to: that one, which is refused
 */
void move_refused(struct group *to, const char *why)
{
	snprintf(to->move.from->move.refused, sizeof(to->move.from->move.refused),
		 "%s", why);
}

static void list_switches(const struct group *g, char *text, size_t len)
{
	size_t at = 0;
	uint32_t i;

	text[0] = '\0';
	for (i = 0; i < g->nsubtrees && at + SWITCH_ID_MAX + 3 < len; i++)
		at += (size_t)snprintf(text + at, len - at, "%s%s",
				       i ? ", " : "", sw_name(g->subtrees[i].sw));
}

/* Report the end of a group from which ranks have moved. Returns false: none have. */
static bool say_moved(const struct group *g)
{
	const struct group *to = g->move.to;
	char text[160];

	if (!to || to->move.mute || to->state != GROUP_READY)
		return false;
	list_switches(to, text, sizeof(text));
	group_log(to, EVENT_GROUP_MOVED, "%s%s", g->request.uc == to->request.uc ?
		  "to " : "over UC instead of RC: ", text);
	return true;
}

/* Let the group that ranks have moved to have the room of a reservation. */
void move_pass_on(struct group *g)
{
	struct group *to = g->move.to;

	if (!to || to->state >= GROUP_ENDING)
		return;
	to->reservation = g->reservation;
	g->reservation = NULL;
}

/*
 * Part a group that is going to be freed from the one that moves there, or that it
 * has moved to. Returns true if its end is no end to operators.
 */
bool move_part(struct group *g)
{
	struct group *from = g->move.from, *to = g->move.to;
	bool hidden = say_moved(g) || group_is_hidden(g);

	if (to) {
		to->move.mute = !hidden;
		to->move.from = NULL;
	}
	if (!from)
		return hidden;
	from->move.to = NULL;
	if (from->state < GROUP_ENDING)
		forget_move(from);
	else
		from->move.mute |= !hidden;
	return hidden;
}

/* Make the message that tells ranks of their group's move. */
static struct inc_rdv_msg message_of(const struct group *g)
{
	struct inc_rdv_msg msg = { .type = INC_RDV_CHANGE, .keep = g->move.keeps };

	snprintf(msg.text, sizeof(msg.text), "%s", g->move.job);
	return msg;
}

/* Tell a rank once more that its group moves: it was cut off for a while. */
void move_tell_again(struct rank *r)
{
	if (r->group->move.job[0])
		group_tell(r, &(struct am_message){
			.rdv = message_of(r->group) });
}

/* Store a move, and have move_stored() tell the ranks. */
static void tell(struct group *g, const struct inc_rdv_msg *msg)
{
	struct group_move *v = &g->move;

	v->keeps = msg->keep;
	snprintf(v->job, sizeof(v->job), "%.*s", INC_RDV_JOB_MAX, msg->text);
	v->refused[0] = '\0';
	v->asked_at = 0;
	g->manager->group_ops->store(g);
}

/*
 * Tell the ranks of a group that is stored that it moves, if it does and they were not
 * told: the next manager must know the name that they join.
 */
void move_stored(struct group *g)
{
	struct inc_rdv_msg msg;

	if (!g->move.job[0] || g->move.asked_at)
		return;
	g->move.asked_at = g->manager->loop.now;
	msg = message_of(g);
	group_tell_all(g, &msg);
}

/*
 * Check whether a group can move to other switches. Returns true if it can, or does.
 * @g: group with a tree
 * @place: switch that its whole tree is to be on; NULL: any
 * @len: size of @why in bytes
 */
bool move_fits(struct group *g, const struct sw *place, char *why, size_t len)
{
	if (g->state >= GROUP_ENDING)
		snprintf(why, len, "it is about to end");
	else if (g->move.job[0])
		return true;
	else if (!g->request.move)
		snprintf(why, len, "a rank's program does not know how to move");
	else if (inc_job_first(g->request.job) > INC_JOB_FIRST_MAX)
		snprintf(why, len, "its name has more than %d characters",
			 INC_JOB_FIRST_MAX);
	else if (g->move.refused[0])
		snprintf(why, len, "%s", g->move.refused);
	else if (g->state != GROUP_READY || group_fits(g, place))
		return true;
	else if (g->where.naparts)
		snprintf(why, len, "no other switch can serve it: %.90s",
			 g->where.refusal);
	else if (place)
		snprintf(why, len, "%s has no room, or does not reach all hosts",
			 sw_name(place));
	else
		snprintf(why, len, "no other switch has the capability and room");
	return false;
}

/*
 * Check whether a group could begin to move now. Returns true if so.
 * @g: group, of which move_fits() is true
 */
bool move_may_begin(const struct group *g)
{
	return g->state == GROUP_READY && !g->persisted.raise_stored &&
	       !g->move.job[0] && !group_is_hidden(g) &&
	       g->move.not_before <= g->manager->loop.now && !g->manager->stop;
}

/*
 * Check whether a group can begin to move now, whatever became of its last attempt: that
 * of another one may succeed. Returns true if so.
 */
bool move_can_begin(struct group *g)
{
	char why[128];

	if (!move_may_begin(g))
		return false;
	g->move.refused[0] = '\0';
	return move_fits(g, NULL, why, sizeof(why));
}

/*
 * Have a group move to other switches. Returns false if it does not, or not now.
 * @wish: an operator's; NULL: to the best ones
 */
bool move_begin(struct group *g, const struct group_wish *wish, const char *why)
{
	struct inc_rdv_msg msg;

	if (!move_may_begin(g) || !inc_job_move(&g->request, &msg))
		return false;
	g->move.next = wish ? *wish : (struct group_wish){ .by_hand = false };
	tell(g, &msg);
	group_log(g, EVENT_GROUP_MOVES, "%s", why);
	return true;
}

/* Have a group's ranks change to UC: one of them loses packets. */
void move_to_uc(struct group *g)
{
	struct inc_rdv_msg msg;

	if (move_may_begin(g) &&
	    inc_job_change(&g->core, &g->request, g->manager->loop.now, &msg)) {
		g->move.next = (struct group_wish){ .by_hand = false };
		tell(g, &msg);
	}
}

/* Get the time when move_expire() must be called. Returns milliseconds. */
int64_t move_at(const struct group *g)
{
	const struct group *to = g->move.to;

	if (!g->move.job[0] || !g->move.asked_at || g->state != GROUP_READY)
		return INT64_MAX;
	if (!to)
		return g->move.asked_at + MOVE_MS;
	return to->state == GROUP_READY ? to->rebuild.ready_at + MOVE_MS : INT64_MAX;
}

/* Give up a move that ranks have not taken part in for long. */
void move_expire(struct group *g)
{
	if (g->move.to) {
		group_raise_fault(g->move.to, GROUP_EV_DISMANTLED, CAUSE_CLIENT,
				  ECONNRESET, "its ranks have not changed to it within %d s",
				  MOVE_MS / 1000);
		return;
	}
	snprintf(g->move.refused, sizeof(g->move.refused),
		 "no rank has called libinc for %d s", MOVE_MS / 1000);
	forget_move(g);
}

/*
 * Name the ranks, or switches, that a move waits for, as group_awaited().
 * @len: size of @text in bytes, more than 32
 */
void move_missing(const struct group *g, char *text, size_t len)
{
	const struct group *to = g->move.to;
	uint32_t i, end, n = g->request.ranks;

	text[0] = '\0';
	if (!g->move.job[0])
		return;
	if (to && to->state < GROUP_READY) {
		group_awaited(to, text, len);
		return;
	}
	for (i = 0; i < n; i = end + 1) {
		for (end = i; end < n &&
		     g->ranks[end].core.state == RANK_PRESENT; end++)
			;
		if (end > i && !inc_job_name_ranks(text, len, i, end - 1))
			return;
	}
}
