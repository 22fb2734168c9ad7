// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Groups in the store: written before their ranks get "joined", before they
 * begin, and again when a rank leaves, or a tree has failed and another one is
 * made; deleted before the trees are. A write that is under way is followed by
 * one more, however often the group has changed meanwhile.
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
	g = group_named(m, name);
	while (g && strcmp(g->persisted.key, key))
		g = group_named_next(g);
	return g;
}

static void save_group(struct group *g);

static void on_written(void *ctx, const char *key, struct store_record *list,
		       const char *err)
{
	struct group *g = find_group(ctx, key);

	if (!g)
		return;
	/* The store's own log has the error. A group is not refused for it. */
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

	/* As if the store had failed. */
	if (!text && g->persisted.raise_stored)
		group_raise(g, GROUP_EV_STORED);
	if (!text)
		return;
	g->persisted.writing = true;
	g->persisted.dirty = false;
	store_put(m->state.store, g->persisted.key, (uint8_t *)text,
		  strlen(text), on_written, m);
}

/* A tree ID can be another group's when the group has another tree. */
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
 * Store a group, and have GROUP_EV_STORED be raised then.
 * @g: group, which has its tree; if there is no store, that is done at once
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
 * Store a group again, if it is stored.
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
 * Delete a group from the store. If the manager is restarted after that, the
 * group's trees are nobody's.
 * @g: group, which is to end, or whose ranks have not got "joined"
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
