// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * All groups of the manager, in the order of their creation, and by name. Those
 * that end, and those of other tenants, may have the same name.
 */
#include <stddef.h>
#include <string.h>

#include "group/group.h"

static uint64_t hash(const char *name)
{
	return index_hash_text(0, name);
}

/**
 * group_enter() - make a group one of the manager's
 * @g: group, new, with its name
 *
 * Return: 0 or -ENOMEM.
 */
int group_enter(struct group *g)
{
	struct manager *m = g->manager;
	int ret = timer_add(&m->loop.timers, &g->timer, group_due);

	if (ret)
		return ret;
	if (!m->groups)
		m->groups_end = &m->groups;
	g->next = NULL;
	*m->groups_end = g;
	m->groups_end = &g->next;
	index_add(&m->by_name, &g->by_name, hash(g->like.job));
	group_touch(g);
	return 0;
}

/**
 * group_set_state() - set the state of one of the manager's groups
 * @g: group
 * @state: state
 *
 * News of switches come more often than groups wait for them.
 */
void group_set_state(struct group *g, enum group_state state)
{
	struct manager *m = g->manager;

	m->placing += state == GROUP_PLACING;
	m->placing -= g->state == GROUP_PLACING;
	g->state = state;
}

/**
 * group_take_out() - undo group_enter()
 * @g: group
 */
void group_take_out(struct group *g)
{
	struct group **link = &g->manager->groups;
	struct manager *m = g->manager;

	group_set_state(g, GROUP_GATHERING);
	while (*link != g)
		link = &(*link)->next;
	*link = g->next;
	if (m->groups_end == &g->next)
		m->groups_end = link;
	for (link = &m->touched; g->touched && *link != g;)
		link = &(*link)->next_touched;
	if (g->touched)
		*link = g->next_touched;
	index_remove(&g->by_name);
	timer_remove(&m->loop.timers, &g->timer);
}

static struct group *match(struct index_node *node, const char *name)
{
	struct group *g;

	for (; node; node = index_next(node)) {
		g = container_of(node, struct group, by_name);
		if (!strcmp(g->like.job, name))
			return g;
	}
	return NULL;
}

/**
 * group_named() - find a group
 * @m: manager
 * @name: its name
 *
 * Return: one with this name, NULL if there is none.
 */
struct group *group_named(const struct manager *m, const char *name)
{
	return match(index_first(&m->by_name, hash(name)), name);
}

/**
 * group_named_next() - find another one with the same name
 * @g: the last one
 *
 * Return: the next one, NULL if there is none.
 */
struct group *group_named_next(const struct group *g)
{
	return match(index_next(&g->by_name), g->like.job);
}

/**
 * group_of_tenant() - find a group
 * @m: manager
 * @tenant: whose it is
 * @name: its name
 *
 * Return: the group, one that is ending only if there is no other; NULL if there
 * is none.
 */
struct group *group_of_tenant(const struct manager *m, const char *tenant,
			      const char *name)
{
	struct group *g, *found = NULL;

	for (g = group_named(m, name); g; g = group_named_next(g))
		if (!strcmp(g->tenant->name, tenant) &&
		    (!found || found->ending))
			found = g;
	return found;
}
