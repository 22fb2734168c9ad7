// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The life of a group, as a state machine. The table below has all changes of
 * state while a group runs: others raise events (fail.c), which are settled
 * here, one after the other. Events that the table does not list for a state
 * are ignored in it: a switch reports a tree that is being deleted, or a rank
 * that has left is lost.
 *
 * A running group is freed only here, when it is over and no operation on a switch
 * is left. state/ makes groups from the store, and frees those that it cannot make.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/array.h"
#include "group/group.h"
#include "place/place.h"
#include "rdma_inc_proto.h"

#define IN(state)	(1U << GROUP_##state)
#define FORMING		(IN(GATHERING) | IN(PLACING) | IN(MAKING))
#define AGAIN		(IN(REPLACING) | IN(REMAKING))
#define REBUILDING	(IN(REJOINING) | AGAIN | IN(REJOINED))
#define HAS_TREE	(IN(JOINED) | IN(READY) | IN(REJOINED))
#define ENTERED		((FORMING & ~IN(GATHERING)) | IN(JOINED) | IN(READY) | \
			 REBUILDING)
#define NOT_OVER	(IN(GATHERING) | ENTERED | IN(ENDING))

static void end_abandoned(struct group *g);
static void end_dismantled(struct group *g);
static void end_refused(struct group *g);
static void remake_tree(struct group *g);
static void rebuild_tree(struct group *g);
static void retry_tree(struct group *g);
static void end_empty(struct group *g);
static void lose_rank(struct group *g);
static void release_rank(struct group *g);
static void end_group(struct group *g);
static void make_on(struct group *g);
static void end_making(struct group *g);
static void free_group(struct group *g);
static void go_on_stored(struct group *g);
static void check_ready(struct group *g);
static void place_group(struct group *g);
static void look_again(struct group *g);

static const struct transition {
	enum group_event	event;
	unsigned int		states;
	void			(*act)(struct group *g);
} table[] = {
	{ GROUP_EV_ABANDONED,	NOT_OVER,			end_abandoned },
	{ GROUP_EV_DISMANTLED,	NOT_OVER,			end_dismantled },
	{ GROUP_EV_REFUSED,	FORMING | IN(JOINED) | IN(ENDING), end_refused },
	{ GROUP_EV_REFUSED,	REBUILDING,			retry_tree },
	{ GROUP_EV_FAILED,	FORMING,			remake_tree },
	{ GROUP_EV_FAILED,	HAS_TREE,			rebuild_tree },
	{ GROUP_EV_FAILED,	AGAIN,				retry_tree },
	{ GROUP_EV_LOST,	IN(GATHERING),			end_empty },
	{ GROUP_EV_LOST,	ENTERED | IN(ENDING),		lose_rank },
	{ GROUP_EV_LEFT,	IN(GATHERING),			end_empty },
	{ GROUP_EV_LEFT,	ENTERED | IN(ENDING),		release_rank },
	{ GROUP_EV_ENDED,	IN(ENDING),			end_group },
	{ GROUP_EV_OP_DONE,	IN(MAKING) | IN(REMAKING),	make_on },
	{ GROUP_EV_OP_DONE,	IN(REJOINING),			group_rebuild_step },
	{ GROUP_EV_OP_DONE,	IN(ENDING),			end_making },
	{ GROUP_EV_OP_DONE,	IN(OVER),			free_group },
	{ GROUP_EV_STORED,	IN(MAKING) | IN(READY),		go_on_stored },
	{ GROUP_EV_RTS,		IN(JOINED) | IN(REJOINED),	check_ready },
	{ GROUP_EV_REJOINED,	IN(REJOINING),			group_rebuild_step },
	{ GROUP_EV_FULL,	IN(GATHERING),			place_group },
	{ GROUP_EV_LOOK,	IN(PLACING) | IN(REPLACING) | IN(REJOINING),
								look_again },
	{ GROUP_EV_SEEN,	IN(PLACING) | IN(REPLACING),	place_group },
	{ GROUP_EV_DUE,		NOT_OVER,			group_expire },
};

static void take_event(struct group *g, enum group_event event)
{
	const struct transition *t;

	for (t = table; t < table + sizeof(table) / sizeof(table[0]); t++)
		if (t->event == event && t->states & 1U << g->state) {
			t->act(g);
			return;
		}
}

/*
 * Settle all events. Context: the caller must drop all its pointers to groups:
 * groups that are over are freed.
 */
void group_settle(struct manager *m)
{
	enum group_event event;
	struct group *g;

	/* The first group stays on the list until its events are settled. */
	while ((g = STAILQ_FIRST(&m->raised))) {
		event = (enum group_event)__builtin_ctz(g->raised.events | 1U << GROUP_EVENTS);
		if (event == GROUP_EVENTS) {
			STAILQ_REMOVE_HEAD(&m->raised, raised.next);
			g->raised.queued = false;
			continue;
		}
		g->raised.events &= g->raised.events - 1;
		take_event(g, event);
	}
}

/* --- The end ------------------------------------------------------------- */

/* Begin a group's end, which frees its name for another one. */
static void begin_end(struct group *g)
{
	struct manager *m = g->manager;

	if (g->state >= GROUP_ENDING)
		return;
	g->end.from = g->state;
	inc_job_fail(&g->core, m->loop.now);
	group_set_state(g, GROUP_ENDING);
	move_pass_on(g);
	tenant_leave(&m->tenants, g->tenant, g->reservation, g->request.ranks);
	group_has_room(g);
	g->reservation = NULL;
}

static void end_group(struct group *g)
{
	const struct group_ops *ops = g->manager->group_ops;

	begin_end(g);
	ops->unstore(g);
	group_set_state(g, GROUP_OVER);
	group_dismiss(g, ECONNRESET, "the group has ended");
	ops->on_end(g);
	group_raise(g, GROUP_EV_OP_DONE);
}

static void say_bye(struct group *g)
{
	struct rank *r = g->end.last_stream ? rpc_stream_get(g->end.last_stream) : NULL;

	if (r) {
		r->stream = g->end.last_stream;
		group_tell(r, &(struct am_message){
			.rdv = { .type = INC_RDV_BYE } });
	}
	rpc_stream_end(g->end.last_stream, 0, "");
}

static void free_group(struct group *g)
{
	struct manager *m = g->manager;
	bool awaited = g->room.wanted, hidden;

	/* An operation may have made a tree after trees_delete(). */
	if (!g->making.ops)
		trees_delete(g);
	if (g->making.ops)
		return;
	say_bye(g);
	hidden = move_part(g);
	if (!g->persisted.foreign && !hidden)
		group_log(g, EVENT_GROUP_ENDED, "%s", g->end.cause);
	trees_drop(g);
	/* A group that is being settled is the first on the list. */
	STAILQ_REMOVE_HEAD(&m->raised, raised.next);
	group_take_out(g);
	free(g->where.avoid);
	free(g->where.apart);
	keep_release(g);
	free(g);
	if (awaited)
		group_wake(m);
}

static void end_abandoned(struct group *g)
{
	uint32_t i;

	g->persisted.key[0] = '\0';
	g->persisted.foreign = true;
	for (i = 0; i < g->nsubtrees; i++)
		g->subtrees[i].exists = false;
	group_dismiss(g, g->raised.fault.err, g->raised.fault.text);
	end_group(g);
}

static void end_refused(struct group *g)
{
	const struct group_fault *f = &g->raised.fault;
	char text[INC_RDV_TEXT_MAX], why[400];

	if (group_is_rebuilding(g) && g->rebuild.broken[0])
		snprintf(why, sizeof(why), "%.160s; there was no other tree in time: %.200s",
			 g->rebuild.broken, f->text);
	else
		snprintf(why, sizeof(why), "%s", f->text);
	snprintf(text, sizeof(text), AM_GROUP "%s\": %s", g->request.job, why);
	/* Without "failed", ranks would try to resume, and get no reason. */
	if (group_is_rebuilding(g))
		group_tell_failed(g, -1, INC_STATUS_TREE_GONE, "%s", text);
	group_blame(g, f->cause, "%s", why);
	if (g->move.from)
		move_refused(g, why);
	group_log(g, EVENT_GROUP_REFUSED, "%s", why);
	group_dismiss(g, f->err, text);
	end_group(g);
}

/* End a group whose ranks know of a tree. */
static void end_failed(struct group *g)
{
	const struct group_fault *f = &g->raised.fault;

	group_blame(g, f->cause, "%s", f->text);
	group_tell_failed(g, f->rank, f->status, "%s", f->text);
	end_group(g);
}

static void end_dismantled(struct group *g)
{
	if (group_is_forming(g))
		end_refused(g);
	else
		end_failed(g);
}

static void end_empty(struct group *g)
{
	if (!g->core.present)
		end_group(g);
}

/* A lost rank starts the end of the group, which is over when no rank is left. */
static void lose_rank(struct group *g)
{
	begin_end(g);
	g->manager->group_ops->unstore(g);
	end_empty(g);
}

/* "leave" ends a group, but its members stay until the rank's last data arrive. */
static void release_rank(struct group *g)
{
	begin_end(g);
	g->manager->group_ops->changed(g);
	if (inc_job_left(&g->core, g->manager->loop.now, g->nsubtrees > 1))
		end_group(g);
}

/* --- The tree fails ------------------------------------------------------ */

/* In this and the next two functions, the group ends if it gets no other tree. */
static void remake_tree(struct group *g)
{
	group_log_fault(g);
	if (!group_start_over(g, g->raised.fault.text))
		end_refused(g);
}

/* When one tree after the other has failed, report the first reason. */
static void note_hopeless(struct group *g)
{
	char last[121];

	if (!g->request.rebuild || g->manager->stop)
		return;
	snprintf(last, sizeof(last), "%.120s", g->raised.fault.text);
	snprintf(g->raised.fault.text, sizeof(g->raised.fault.text),
		 "%.160s; no other tree has lasted, for %u s (--rebuild-time), the last one: %s",
		 g->rebuild.broken, g->manager->o.rebuild_ms / 1000, last);
}

static void rebuild_tree(struct group *g)
{
	group_log_fault(g);
	if (group_may_rebuild(g)) {
		group_rebuild(g, g->raised.fault.text);
		return;
	}
	note_hopeless(g);
	end_failed(g);
}

static void retry_tree(struct group *g)
{
	if (g->raised.fault.event == GROUP_EV_FAILED)
		group_log_fault(g);
	if (!group_try_again(g, g->raised.fault.text))
		end_refused(g);
}

/* --- Placing ------------------------------------------------------------- */

static void begin_placing(struct group *g)
{
	group_touch(g);
	group_set_state(g, group_is_rebuilding(g) ? GROUP_REPLACING :
						    GROUP_PLACING);
}

static void look_again(struct group *g)
{
	struct manager *m = g->manager;
	unsigned int i;

	/* A group that does not wait to be placed may lack ranks. */
	if (!g->where.place_at && g->state != GROUP_GATHERING)
		return;
	g->where.place_at = 0;
	begin_placing(g);
	for (i = 0; i < m->fabric.n; i++)
		sw_refresh(&m->fabric.switches[i]);
}

static void begin_trees(struct group *g, const struct place *p,
			const uint32_t *at)
{
	g->where.charge = topo_charge(&g->manager->fabric, p, at);
	if (!where_pmtu_fits(g) || !trees_build(g, p))
		return;
	group_note_links(g);
	group_set_state(g, group_is_rebuilding(g) ? GROUP_REMAKING :
						    GROUP_MAKING);
	trees_step(g);
}

static void place_group(struct group *g)
{
	uint32_t at[g->request.ranks], lost = 0;
	struct place p;
	bool located;

	group_touch(g);
	if (g->core.present < g->request.ranks)
		return;
	if (group_waits(g)) {
		begin_placing(g);
		return;
	}
	located = where_locate(g, false, at, &lost);
	if (!located) {
		if (where_await_hosts(g)) {
			begin_placing(g);
			return;
		}
		located = where_locate(g, true, at, &lost);
	}
	if (located && where_compute(g, at, &p)) {
		begin_trees(g, &p, at);
		place_free(&p);
	} else if (g->state == GROUP_GATHERING) {
		/* The last snapshot may be as old as --agent-interval. */
		look_again(g);
	} else if (located && !g->where.no_cm && group_awaits_room(g, at)) {
		begin_placing(g);
	} else {
		where_none(g, located, lost);
	}
}

/* --- The tree is made ---------------------------------------------------- */

/* Avoid the switch that had no room, if any. Returns false if there is none. */
static bool avoid_full(struct group *g)
{
	if (!g->where.full_switch ||
	    !ARRAY_ROOM(g->where.avoid, g->where.navoid))
		return false;
	g->where.avoid[g->where.navoid++] = g->where.full_switch;
	return true;
}

/*
 * Try again without a switch that has refused a tree, or without a pair of a
 * node and its member with no route in between. A switch's room is only known
 * when it is asked: it depends on slots and message sizes, and on other users.
 * Returns false if no switch has refused a tree for these reasons.
 */
static bool try_elsewhere(struct group *g)
{
	if (g->where.full_switch && group_awaits_memory(g)) {
		begin_placing(g);
		return true;
	}
	if (!avoid_full(g) && !g->where.unrouted)
		return false;
	g->where.refusal_err = g->where.full_switch ? ENOBUFS : EPROTO;
	g->room.limited &= !!g->where.full_switch;
	snprintf(g->where.refusal, sizeof(g->where.refusal), "%s", g->making.why);
	log_debug("group \"%s\": tried elsewhere: %s", g->request.job, g->making.why);
	g->where.full_switch = NULL;
	g->where.unrouted = false;
	g->making.err = 0;
	g->making.why[0] = '\0';
	trees_drop(g);
	place_group(g);
	return true;
}

static void tell_joined(struct group *g)
{
	bool again = group_is_rebuilding(g);
	struct rank *r;

	/* A rank may compute before it connects its new queue pair. */
	if (again) {
		g->core.deadline = INT64_MAX;
		g->rebuild.asked_at = g->manager->loop.now;
	}
	group_set_state(g, again ? GROUP_REJOINED : GROUP_JOINED);
	inc_job_for_each(&g->core, r, RANK_PRESENT)
		group_tell_joined(r);
}

/* Is none of the addresses that ranks will send to a host's? */
static bool addrs_are_own(struct group *g)
{
	const struct tree_end *own;
	char text[INET6_ADDRSTRLEN];
	const struct rank *r;
	uint32_t i;

	for (i = 0; i < g->request.ranks; i++) {
		r = &g->ranks[i];
		own = r->subtree ?
		      &r->subtree->tree.members[r->member].own : NULL;
		if (!own || !own->addr.len ||
		    !topo_is_host(&g->manager->fabric, &own->addr))
			continue;
		group_refuse(g, EADDRINUSE, "switch %s claims to have the address %s, which is a host's",
			     sw_name(r->subtree->sw),
			     inc_rdv_addr_str(&own->addr, text, sizeof(text)));
		return false;
	}
	return true;
}

static void end_steps(struct group *g)
{
	if (!addrs_are_own(g))
		return;
	if (!cm_made(g)) {
		group_refuse(g, EOPNOTSUPP, "%.400s", g->where.refusal);
		return;
	}
	group_has_room(g);
	/* A rebuilt tree must not exceed the ranks' buffers. */
	g->request.tree.slots = g->subtrees[0].tree.settings.slots;
	g->request.tree.msg_size = g->subtrees[0].tree.settings.msg_size;
	g->request.tree.pmtu = g->subtrees[0].tree.settings.pmtu;
	log_debug("group \"%s\": %u tree%s made in %lld ms", g->request.job,
		  g->nsubtrees, g->nsubtrees == 1 ? "" : "s",
		  (long long)(now_ms() - g->making.began_at));
	/* A rebuilt tree need not be stored: the next manager makes another. */
	if (group_is_rebuilding(g))
		tell_joined(g);
	else
		g->manager->group_ops->store(g);
}

static void refuse_failed(struct group *g)
{
	group_refuse(g, g->making.err, "%s", g->making.why[0] ? g->making.why :
		     strerror(g->making.err));
}

static void make_on(struct group *g)
{
	if (g->making.ops)
		return;
	if (!g->making.err) {
		if (!trees_step(g))
			end_steps(g);
	} else if (!try_elsewhere(g) &&
		   (g->making.err != ECONNRESET || !group_start_over(g, g->making.why))) {
		refuse_failed(g);
	}
}

/* The ranks that remain must not wait for a tree that cannot be made. */
static void end_making(struct group *g)
{
	if (!g->making.ops && g->making.err)
		refuse_failed(g);
}

/* --- The tree is there --------------------------------------------------- */

static void check_ready(struct group *g)
{
	if (g->core.rts < g->request.ranks)
		return;
	group_set_state(g, GROUP_READY);
	g->rebuild.untold = true;
	g->manager->group_ops->store(g);
}

/* A link's failure is only noticed if its interfaces are known. */
static void warn_unseen(struct group *g)
{
	const struct sw *ends[2];

	if (topo_unseen(&g->manager->fabric, g->where.charge, ends))
		group_log(g, EVENT_GROUP_UNWATCHED, "no link is known between %s and %s, or what is behind them: should it fail, nobody tells; LLDP makes it known, or --link",
			  sw_name(ends[0]), sw_name(ends[1]));
}

/* Tell all ranks that they may begin. */
static void tell_ready(struct group *g)
{
	g->rebuild.untold = false;
	g->rebuild.ready_at = g->manager->loop.now;
	group_log(g, g->rebuild.round ? EVENT_GROUP_REBUILT : EVENT_GROUP_READY,
		  "%u ranks, %u of them by RDMA CM, %u tree%s, %lld ms after the last rank came",
		  g->request.ranks, cm_count(g), g->nsubtrees,
		  g->nsubtrees == 1 ? "" : "s",
		  (long long)(now_ms() - g->making.began_at));
	warn_unseen(g);
	group_tell_all(g, &(struct inc_rdv_msg){ .type = INC_RDV_READY });
}

static void go_on_stored(struct group *g)
{
	if (!g->persisted.raise_stored)
		return;
	g->persisted.raise_stored = false;
	if (g->state == GROUP_MAKING) {
		tell_joined(g);
		return;
	}
	/* A tree that failed while a move was being stored leaves both to be told. */
	if (g->rebuild.untold)
		tell_ready(g);
	move_stored(g);
}

/* --- For others ---------------------------------------------------------- */

/*
 * Handle news of a switch. Groups that wait for them are placed when all
 * switches have answered.
 */
void group_fabric_changed(struct manager *m)
{
	struct group *g;
	unsigned int i;

	if (!m->placing)
		return;
	for (i = 0; i < m->fabric.n; i++)
		if (sw_awaited(&m->fabric.switches[i]))
			return;
	for (g = m->groups; g; g = g->next)
		if (g->state == GROUP_PLACING || g->state == GROUP_REPLACING)
			group_raise(g, GROUP_EV_SEEN);
}

/* Dismantle a group by hand, or at the manager's end. */
void group_delete(struct group *g, const char *why)
{
	/* Only a debug message: callers must not be able to fill the log. */
	log_debug("group \"%s\": %s", g->request.job, why);
	group_raise_fault(g, GROUP_EV_DISMANTLED, g->manager->stop ?
			  CAUSE_STOP : CAUSE_HAND, ECONNRESET, "%s", why);
	if (!g->move.to)
		return;
	g->move.to->move.mute = true;
	group_delete(g->move.to, why);
}

/* Dismantle all groups. */
void group_delete_all(struct manager *m, const char *why)
{
	struct group *g;

	for (g = m->groups; g; g = g->next)
		group_delete(g, why);
}
