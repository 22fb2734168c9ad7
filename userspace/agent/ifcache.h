/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Interfaces and their neighbours as last read. A bridge may know tens of
 * thousands of addresses, and a manager asks again and again. If they cannot be
 * read as a whole, the last list is kept.
 */
#ifndef INC_AGENT_IFCACHE_H
#define INC_AGENT_IFCACHE_H

#include "agent.h"

/**
 * enum ifcache_news - kind of change since the last read
 * @IFCACHE_NOTHING: nothing
 * @IFCACHE_HOST: a neighbour
 * @IFCACHE_LINK: an interface
 */
enum ifcache_news {
	IFCACHE_NOTHING,
	IFCACHE_HOST,
	IFCACHE_LINK,
};

void ifcache_note(struct agent *a, enum ifcache_news news);
int ifcache_add(struct agent *a, struct lyd_node *sw, bool all);
void ifcache_free(struct agent *a);

#endif /* INC_AGENT_IFCACHE_H */
