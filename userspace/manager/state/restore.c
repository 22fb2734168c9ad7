// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Groups of an earlier manager: they are taken over as they are. Their ranks
 * are awaited as if each sent a heartbeat at the last moment when it can notice
 * the loss of the earlier manager: later if that one hangs than if it has
 * ended, which closes its connections.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group/group.h"

#define COME_MS		1000	/* as CONNECT_MS of libinc-am */

/* --- Taking over --------------------------------------------------------- */

static void await_ranks(struct group *g)
{
	bool connecting = group_phase(g) == GROUP_JOINED;
	const struct manager *m = g->manager;
	int64_t now = m->loop.now;
	struct rank *r;
	uint32_t i;
	int late = store_last_ended(m->state.store) ? COME_MS : AM_NOTICE_MS;

	for (i = 0; i < g->request.ranks; i++) {
		r = &g->ranks[i];
		inc_job_set_rts(&g->core, &r->core,
				r->core.state == RANK_PRESENT && !connecting);
		r->heard_at = now + late;
		if (r->core.state == RANK_LEFT)
			g->core.leave_at = now + INC_JOB_LEAVE_MS;
	}
	g->making.began_at = now;
	if (!g->core.present)
		group_set_state(g, GROUP_ENDING);
	g->core.deadline = now + (g->state == GROUP_JOINED ? m->o.forming_ms :
				INC_JOB_ENDING_MS);
}

static void restore_group(struct manager *m, const struct store_record *rec)
{
	char err[STORE_ERROR_LEN], name[INC_RDV_JOB_MAX + 1];
	struct group *g = record_group(m, (const char *)rec->data, err);
	uint32_t i;

	if (!g) {
		snprintf(name, sizeof(name), "%s", rec->key + strlen(GROUP_PREFIX));
		name[strcspn(name, "/")] = '\0';
		event_log(&m->events, EVENT_GROUP_LOST, name, "%s", err);
		state_del(m, rec->key);
		return;
	}
	snprintf(g->persisted.key, sizeof(g->persisted.key), "%s", rec->key);
	for (i = 0; i < g->nsubtrees; i++)
		g->subtrees[i].lost_member = -1;
	if (group_enter(g))
		abort();
	move_restore(g);
	for (i = 0; i < g->nsubtrees; i++) {
		subtree_enter(&g->subtrees[i]);
		ids_used(m, g->subtrees[i].tree.id);
	}
	await_ranks(g);
	if (g->state == GROUP_REJOINING)
		group_rebuild_on(g);
	else if (g->nsubtrees)
		group_note_links(g);
	if (g->state != GROUP_ENDING)
		tenant_enter(&m->tenants, g->tenant, g->reservation,
			     g->request.ranks);
	group_log(g, EVENT_GROUP_RESTORED, "%u of %u ranks are awaited%s%s",
		  g->core.present, g->request.ranks,
		  g->rebuild.broken[0] ? "; another tree is made: " : "", g->rebuild.broken);
	if (!g->core.present && !g->core.leave_at)
		group_raise(g, GROUP_EV_ENDED);
}

/* Take over the groups of the store. */
void restore_all(struct manager *m, const struct store_record *list)
{
	for (; list; list = list->next)
		if (!strncmp(list->key, GROUP_PREFIX, strlen(GROUP_PREFIX)))
			restore_group(m, list);
}

/* --- Switches ------------------------------------------------------------ */

/*
 * Delete a switch's trees that belong to no group. group_on_snapshot() handles
 * missing trees.
 */
void restore_check(struct manager *m, struct sw *sw)
{
	unsigned int i;
	uint32_t id;

	for (i = 0; i < sw->info->ntrees; i++) {
		id = sw->info->trees[i].id;
		if (id < m->fabric.ids.first || id > m->fabric.ids.last ||
		    group_find_subtree(m, sw, id))
			continue;
		ids_used(m, id);
		group_clear_tree(sw, id);
	}
}
