/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The kernel's objects as YANG data and back. Only interfaces (ifcache.h) and a
 * connection are kept: the kernel is asked each time.
 *
 * Functions return 0, or -1 with a fault.
 */
#ifndef INC_AGENT_DATASTORE_H
#define INC_AGENT_DATASTORE_H

#include "agent.h"
#include "nl-attr.h"

/**
 * struct ds_want - data to read; the rest may be left out
 * @state: state, not only configuration
 * @ifs: interfaces, if @state; otherwise only their version
 * @trees: trees
 * @tree: ID of the only tree to read; 0: all
 * @members: members of the trees
 * @parents: connections of the trees to parents
 * @slots: slots of the trees, if @state
 * @stats: the counters of trees and members, if @state
 * @counters: members' counters beside their tree's, if @state
 * @values: the same counters in one value
 */
struct ds_want {
	bool		state;
	bool		ifs;
	bool		trees;
	bool		members;
	bool		parents;
	bool		slots;
	bool		stats;
	bool		counters;
	bool		values;
	uint32_t	tree;
};

int ds_read(struct agent *a, const struct ds_want *want,
	    struct lyd_node **out, struct fault *f);
void ds_emit(struct lyd_node *conf, struct lyd_node *state,
	     const struct object *obj, const void *src);
uint64_t ds_object(const struct lyd_node *parent, const struct lyd_node *old,
		   const struct object *obj, void *dst);

#endif /* INC_AGENT_DATASTORE_H */
