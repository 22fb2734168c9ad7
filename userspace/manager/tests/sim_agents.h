/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What a simulated agent answers. sim_agents.c has its sockets.
 */
#ifndef INC_MANAGER_SIM_AGENTS_H
#define INC_MANAGER_SIM_AGENTS_H

#include <stdio.h>

#include "tests/fat_tree.h"

#define SIM_MEMBERS	1024	/* of a tree */

/**
 * struct sim_tree - a tree that was made
 * @next: next one of the switch
 * @id: its ID
 * @child: it has a parent
 * @member: it has that member
 * @n: how many places to look at
 */
struct sim_tree {
	struct sim_tree	*next;
	uint32_t	id;
	bool		child;
	bool		member[SIM_MEMBERS];
	uint32_t	n;
};

/**
 * struct sim_agent - an agent
 * @index: its switch's number
 * @self: identity, limits and state, XML
 * @ifs: interfaces, XML
 * @trees: trees
 */
struct sim_agent {
	uint32_t	index;
	char		*self;
	char		*ifs;
	struct sim_tree	*trees;
};

void sim_agent_init(struct sim_agent *a, const struct sw_snapshot *info,
		    uint32_t index);
bool sim_agent_answer(struct sim_agent *a, const char *rpc, FILE *out);

#endif /* INC_MANAGER_SIM_AGENTS_H */
