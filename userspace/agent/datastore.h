/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The kernel's objects as YANG data and back. Nothing is kept but interfaces
 * (ifcache.h): the kernel is asked each time.
 *
 * Functions return 0, or -1 with a fault.
 */
#ifndef INC_AGENT_DATASTORE_H
#define INC_AGENT_DATASTORE_H

#include "agent.h"
#include "nl-schema.h"

int ds_read(const struct agent *a, bool state, bool ifs,
	    struct lyd_node **out, struct fault *f);
void ds_emit(struct lyd_node *conf, struct lyd_node *state,
	     const struct object *obj, const void *src);
uint64_t ds_object(const struct lyd_node *parent, const struct lyd_node *old,
		   const struct object *obj, void *dst);

#endif /* INC_AGENT_DATASTORE_H */
