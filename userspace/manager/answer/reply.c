// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Common parts of answers: errors, callers and their rights, switches and
 * groups by name.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/answer.h"
#include "conf/text.h"
#include "group/group.h"
#include "rdma_inc.pb-c.h"
#include "rpc/message.h"

/* Answer a request with an error. */
void answer_refuse(struct rpc_answer *a, int err, const char *fmt, ...)
{
	va_list ap;

	a->err = err;
	va_start(ap, fmt);
	vsnprintf(a->text, sizeof(a->text), fmt, ap);
	va_end(ap);
	/* The text may quote the caller. */
	text_clean(a->text);
}

/* Answer a request. */
void answer_reply(struct rpc_answer *a, const ProtobufCMessage *msg)
{
	if (am_pack(msg, &a->data, &a->len))
		answer_refuse(a, ENOMEM, "no memory");
}

/*
 * Check whether a caller may see only its own tenant's groups. Returns true if
 * so.
 */
bool answer_hides(const struct rpc_answer *a)
{
	return a->who && a->who->role < ROLE_OPERATOR;
}

/* Name a caller, for records of its actions. */
const char *answer_by(const struct rpc_answer *a)
{
	return a->who ? a->who->name : "anonymous";
}

/* Check whether a caller may see a group. Returns true if so. */
bool answer_sees(const struct rpc_answer *a, const struct group *g)
{
	return !answer_hides(a) || !strcmp(a->who->tenant, g->tenant->name);
}

/*
 * Get a switch's state of draining. Returns an empty text if it gets more
 * trees; "leaving": --switch does not name it any more; "draining": groups
 * still use it, or may return; or "drained".
 */
const char *answer_drain(const struct sw *sw)
{
	if (sw->leaving)
		return "leaving";
	if (!sw->drain)
		return "";
	return sw->subtrees ? "draining" : "drained";
}

/*
 * Describe a switch.
 * @out: result; valid as long as nothing changes
 */
void answer_fill_switch(RdmaInc__V1__Switch *out, const struct sw *sw)
{
	rdma_inc__v1__switch__init(out);
	out->id = (char *)(sw->info ? sw->info->id : "");
	out->address = (char *)sw->address;
	out->state = (char *)(sw->up ? "up" : "down");
	if (!sw->up)
		out->why = (char *)sw->why;
	out->drain = (char *)answer_drain(sw);
	if (sw->drain) {
		out->drained_by = sw->drain->requester;
		out->drained_at = sw->drain->since;
	}
	if (!sw->info)
		return;
	out->collectives = sw->info->collectives;
	out->memory_limit = sw->info->memory_limit;
	out->memory_used = sw->info->memory_used;
	out->max_trees = sw->info->max_trees;
	out->trees = sw->info->ntrees;
}

/* Name the state of a group. */
const char *answer_state(const struct group *g)
{
	if (g->state >= GROUP_ENDING)
		return "ending";
	if (g->state == GROUP_READY)
		return "ready";
	return group_is_rebuilding(g) ? "rebuilding" : "forming";
}

/*
 * Check whether an object belongs to the tenant that a request names. Returns
 * true if so.
 * @owner: tenant of the object; empty: callers without a tenant
 * @tenant: tenant of the request; "-": callers without a tenant; empty: anyone
 */
bool answer_is_of(const char *owner, const char *tenant)
{
	return !*tenant || !strcmp(*owner ? owner : "-", tenant);
}

/*
 * Find the group that a request is about. Returns the group, or NULL. A group
 * that is ending is only returned if there is no other.
 * @req: request with its name and tenant; "-": callers without a tenant; empty:
 *	anyone's
 * @a: answer; an error if the caller may see none, or if there are several
 */
struct group *answer_group(const struct manager *m,
			   const RdmaInc__V1__GetGroupRequest *req,
			   struct rpc_answer *a)
{
	struct group *g, *found = NULL;

	for (g = group_first(m, req->name); g; g = group_next(g)) {
		if (strcmp(g->name, req->name) || !answer_sees(a, g) ||
		    !answer_is_of(g->tenant->name, req->tenant))
			continue;
		if (found && found->tenant != g->tenant) {
			answer_refuse(a, EINVAL, "several tenants have a group \"%.63s\": say whose",
				      req->name);
			return NULL;
		}
		if (group_is_better(g, found))
			found = g;
	}
	if (!found)
		answer_refuse(a, ENOENT, "there is no group \"%.63s\"",
			      req->name);
	return found;
}
