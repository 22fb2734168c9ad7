// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Groups in the store: written before their ranks get "joined", again before
 * they begin, and when a rank leaves, or a tree has failed and another one is
 * made; deleted before the trees are. A write in progress is followed by only
 * one more, whatever the number of changes meanwhile.
 */
#include <stdio.h>
#include <string.h>

#include "group/group.h"

static struct group *find_group(const struct manager *m, const char *key)
{
	const char *from = key + strlen(GROUP_PREFIX), *end = strrchr(key, '/');
	char name[INC_RDV_JOB_MAX + 1];
	struct group *g;

	snprintf(name, sizeof(name), "%.*s", (int)(end - from), from);
	g = group_first(m, name);
	while (g && strcmp(g->persisted.key, key))
		g = group_next(g);
	return g;
}

static void save_group(struct group *g);

static void on_written(void *ctx, const char *key, struct store_record *list,
		       const char *err)
{
	struct group *g = find_group(ctx, key);

	if (!g)
		return;
	/* The group goes on: a failed write is no reason to refuse it. */
	if (err)
		group_log(g, EVENT_STORE_FAILED,
			  "it is not stored, and tried again: %.200s", err);
	g->persisted.writing = false;
	if (g->persisted.dirty)
		save_group(g);
	else if (g->persisted.raise_stored)
		group_raise(g, GROUP_EV_STORED);
}

static void save_group(struct group *g)
{
	struct manager *m = g->manager;
	char *text = record_of(g);

	/* Out of memory: go on as after an error of the store. */
	if (!text && g->persisted.raise_stored)
		group_raise(g, GROUP_EV_STORED);
	if (!text)
		return;
	g->persisted.writing = true;
	g->persisted.dirty = false;
	store_put(m->state.store, g->persisted.key, (uint8_t *)text,
		  strlen(text), on_written, m);
}

/* A key stays when its tree changes: another group may then have the tree ID. */
static void make_key(struct group *g)
{
	char key[STORE_KEY_MAX + 1];
	uint32_t id = g->subtrees[0].tree.id;

	do {
		snprintf(key, sizeof(key), GROUP_PREFIX "%s/%u", g->request.job,
			 id++);
	} while (find_group(g->manager, key));
	memcpy(g->persisted.key, key, sizeof(key));
}

/*
 * Store a group, and raise GROUP_EV_STORED afterwards.
 * @g: group with its tree; without a store, the event is raised at once
 */
void persist_store(struct group *g)
{
	g->persisted.raise_stored = true;
	if (!g->manager->state.store) {
		group_raise(g, GROUP_EV_STORED);
		return;
	}
	if (!g->persisted.key[0])
		make_key(g);
	persist_changed(g);
}

/*
 * Store a group again, if it is in the store.
 * @g: group, one of whose ranks or trees has changed
 */
void persist_changed(struct group *g)
{
	if (!g->persisted.key[0])
		return;
	if (g->persisted.writing)
		g->persisted.dirty = true;
	else
		save_group(g);
}

/*
 * Delete a group from the store. A manager that is restarted afterwards finds
 * that the group's trees belong to no group.
 * @g: group, which ends, or whose ranks have not got "joined"
 */
void persist_delete(struct group *g)
{
	if (!g->persisted.key[0])
		return;
	state_del(g->manager, g->persisted.key);
	g->persisted.key[0] = '\0';
	g->persisted.raise_stored = false;
	g->persisted.writing = false;
}
