// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Groups of a manager that was here before: they are taken over as they are.
 * Their ranks are awaited as if each sent a heartbeat when it has noticed at the
 * latest that the last manager is gone: if it hangs, that takes longer than if it
 * has ended, which closes its connections. Where queue pairs were not ready, each
 * rank says again whether its own is, and ranks that have not heard of their tree
 * join again.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group/group.h"

#define ENDING_MS	60000	/* as in end.c */
#define LEAVE_MS	2000
#define COME_MS		1000	/* as CONNECT_MS of libinc-am */

/* --- Taking over --------------------------------------------------------- */

static void await_ranks(struct group *g)
{
	bool connecting = g->state == GROUP_JOINED;
	const struct manager *m = g->manager;
	int64_t now = m->loop.now;
	struct rank *r;
	uint32_t i;
	int late = store_last_ended(m->state.store) ? COME_MS : AM_NOTICE_MS;

	for (i = 0; i < g->like.ranks; i++) {
		r = &g->ranks[i];
		r->rts = r->state == RANK_PRESENT && !connecting;
		r->heard_at = now + late;
		g->present += r->state == RANK_PRESENT;
		g->rts += r->rts;
		if (r->state == RANK_LEFT)
			g->leave_at = now + LEAVE_MS;
	}
	g->began_at = now;
	g->until = now + (connecting && !g->ending ? m->o.forming_ms :
			  ENDING_MS);
}

static void restore(struct manager *m, const struct store_record *rec)
{
	char err[STORE_ERROR_LEN], name[INC_RDV_JOB_MAX + 1];
	struct group *g = record_group(m, (const char *)rec->data, err);
	uint32_t i;

	if (!g) {
		snprintf(name, sizeof(name), "%s", rec->key + strlen(GROUP_PREFIX));
		name[strcspn(name, "/")] = '\0';
		event_say(&m->events, EVENT_GROUP_LOST, name, "%s", err);
		state_del(m, rec->key);
		return;
	}
	snprintf(g->kept.key, sizeof(g->kept.key), "%s", rec->key);
	for (i = 0; i < g->nparts; i++)
		g->parts[i].lost = -1;
	if (group_enter(g))
		abort();
	for (i = 0; i < g->nparts; i++) {
		part_enter(&g->parts[i]);
		ids_used(m, g->parts[i].tree.id);
	}
	await_ranks(g);
	if (g->rebuilding)
		group_rebuild_on(g);
	else
		group_note_links(g);
	if (!g->ending)
		tenant_enter(&m->tenants, g->tenant, g->reserved,
			     g->like.ranks);
	group_say(g, EVENT_GROUP_RESTORED, "%u of %u ranks are awaited",
		  g->present, g->like.ranks);
	if (!g->present && !g->leave_at)
		group_end(g);
}

/**
 * restore_all() - take over the groups of the store
 * @m: manager, which has none yet
 * @list: all records
 */
void restore_all(struct manager *m, const struct store_record *list)
{
	for (; list; list = list->next)
		if (!strncmp(list->key, GROUP_PREFIX, strlen(GROUP_PREFIX)))
			restore(m, list);
}

/* --- Switches ------------------------------------------------------------ */

/**
 * restore_check() - delete a switch's trees that are no group's
 * @m: manager, which leads
 * @sw: switch, whose agent has just answered
 *
 * Those that are missing are news_seen()'s.
 */
void restore_check(struct manager *m, struct sw *sw)
{
	unsigned int i;
	uint32_t id;

	for (i = 0; i < sw->info->ntrees; i++) {
		id = sw->info->trees[i].id;
		if (id < m->ids.first || id > m->ids.last ||
		    group_find_part(m, sw, id))
			continue;
		ids_used(m, id);
		group_clear_tree(sw, id);
	}
}

/* --- Ranks --------------------------------------------------------------- */

static bool has_qp(const struct rank *r, const struct inc_rdv_join *join)
{
	return (r->join.qpn == join->qpn && r->join.psn == join->psn) ||
	       (r->group->rebuilding && r->was.qpn == join->qpn &&
		r->was.psn == join->psn);
}

static bool is_it(const struct rank *r, const struct inc_rdv_join *join,
		  uint32_t tree_id)
{
	const struct part *part = rank_part(r);

	/* While another tree is made, there is none. */
	return ((part && part->tree.id == tree_id) || r->group->rebuilding) &&
	       inc_rdv_addr_same(&r->join.addr, &join->addr) &&
	       has_qp(r, join);
}

static struct rank *find_rank(const struct manager *m, const char *tenant,
			      const struct inc_rdv_join *join, uint32_t tree_id)
{
	struct group *g;

	for (g = group_named(m, join->job); g; g = group_named_next(g))
		if (!g->over && !strcmp(g->tenant->name, tenant) &&
		    g->like.ranks == join->ranks &&
		    is_it(&g->ranks[join->rank], join, tree_id))
			return &g->ranks[join->rank];
	return NULL;
}

/* Why is there none any more? What other tenants had is not told. */
static const char *why_lost(const struct manager *m, const char *tenant,
			    const char *name)
{
	const struct event *ev;

	TAILQ_FOREACH_REVERSE(ev, &m->events.list, event_list, by_seq)
		if ((!strcmp(ev->kind, EVENT_GROUP_LOST) ||
		     !strcmp(ev->kind, EVENT_GROUP_FAILED)) &&
		    !strcmp(ev->tenant, tenant) &&
		    !strncmp(ev->subject, name, sizeof(ev->subject) - 1))
			return ev->text;
	return "it has ended";
}

static void set_stream(struct rank *r, struct rpc_stream *stream)
{
	if (r->stream) {
		/* Its end has not been noticed yet. */
		rpc_stream_set(r->stream, NULL);
		rpc_stream_end(r->stream, ECONNRESET, "the rank has resumed over another connection");
	}
	group_touch(r->group);
	r->told = false;
	r->stream = stream;
	r->heard_at = r->group->manager->loop.now;
	rpc_stream_set(stream, r);
}

static void take_stream(struct rank *r, struct rpc_stream *stream)
{
	struct group *g = r->group;
	struct am_message msg = {
		.resumed	= true,
		.heartbeat_ms	= group_beat_ms(g->manager),
		.resume_ms	= state_resume_ms(g->manager),
		.brief		= true,
	};

	set_stream(r, stream);
	r->alive_at = rank_next_alive(r);
	msg.rdv.type = g->state == GROUP_READY ? INC_RDV_READY : INC_RDV_ALIVE;
	group_tell(r, &msg);
	if (g->state == GROUP_REJOINING && !r->rejoined)
		group_tell_rebuild(r, "the tree has failed");
}

/**
 * restore_join() - handle "join" of a rank that is awaited
 * @g: its group
 * @stream: stream
 * @join: its request
 *
 * The manager that made its tree was killed before the rank was told "joined", and
 * the tree may have failed since. Or the rank took this manager for lost while its
 * group was formed.
 *
 * Return: false if it is none of those.
 */
bool restore_join(struct group *g, struct rpc_stream *stream,
		  const struct inc_rdv_join *join)
{
	struct rank *r;

	if (join->ranks != g->like.ranks)
		return false;
	r = &g->ranks[join->rank];
	if (r->state != RANK_PRESENT || r->rts ||
	    !inc_rdv_addr_same(&r->join.addr, &join->addr) ||
	    r->join.qpn != join->qpn || r->join.psn != join->psn)
		return false;
	if (g->state < GROUP_JOINED && !g->rebuilding) {
		/* That the last one has ended may be the next that we hear. */
		if (r->stream && !group_was_late(g->manager))
			return false;
		set_stream(r, stream);
		return true;
	}
	if (g->state != GROUP_JOINED) {
		group_join_again(r);
		take_stream(r, stream);
		return true;
	}
	/* Its agent has not answered this manager yet. */
	if (!cm_reached(r)) {
		rpc_stream_end(stream, EHOSTUNREACH, AM_STARTING ": try again");
		return true;
	}
	log_debug("group \"%s\": rank %u is told of its tree again",
		  g->like.job, join->rank);
	set_stream(r, stream);
	group_tell_joined(r);
	return true;
}

/**
 * restore_resume() - handle "resume"
 * @m: manager, which leads
 * @stream: stream
 * @join: the rank's request to join, as it was
 * @tree_id: tree that it was told
 */
void restore_resume(struct manager *m, struct rpc_stream *stream,
		    const struct inc_rdv_join *join, uint32_t tree_id)
{
	const char *tenant = rpc_stream_identity(stream)->tenant;
	char text[INC_RDV_TEXT_MAX];
	struct rank *r;

	if (!addr_believed(&m->o, rpc_stream_peer(stream), &join->addr, text,
			   sizeof(text))) {
		rpc_stream_end(stream, EINVAL, text);
		return;
	}
	r = find_rank(m, tenant, join, tree_id);
	if (r && r->state == RANK_PRESENT) {
		r->was = (struct rank_qp){ join->qpn, join->psn };
		take_stream(r, stream);
		return;
	}
	if (r && r->state == RANK_LEFT) {
		/* The answer to its leave was lost. */
		r->stream = stream;
		group_tell(r, &(struct am_message){
			.rdv = { .type = INC_RDV_BYE } });
		r->stream = NULL;
		rpc_stream_end(stream, 0, "");
		return;
	}
	snprintf(text, sizeof(text), "group \"%s\" does not go on: %s: start the job again",
		 join->job, r ? "nothing was heard of this rank for too long" :
		 why_lost(m, tenant, join->job));
	rpc_stream_end(stream, ENOENT, text);
}
