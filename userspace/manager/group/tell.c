// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Messages to ranks. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "group/group.h"

#define BEATS_MOST	1000	/* of all ranks together, in a second */
#define BEATS_LEAST	2
#define RESUME_MS	60000	/* time for ranks to find a manager again */

/* Send a message to a rank. */
void group_tell(struct rank *r, const struct am_message *msg)
{
	uint8_t *data;
	size_t len;

	if (!r->stream || am_manager_pack(msg, &data, &len))
		return;
	rpc_stream_send(r->stream, data, len);
	free(data);
}

/* Send a message to all ranks that are present. */
void group_tell_all(struct group *g, const struct inc_rdv_msg *msg)
{
	struct am_message out = { .rdv = *msg };
	const struct rank *r;
	uint8_t *data;
	size_t len;

	if (am_manager_pack(&out, &data, &len))
		return;
	inc_job_for_each(&g->core, r, RANK_PRESENT)
		if (r->stream)
			rpc_stream_send(r->stream, data, len);
	free(data);
}

/*
 * Tell all ranks present that the tree has failed.
 * @rank: rank that caused it; -1: none
 */
void group_tell_failed(struct group *g, int rank, unsigned int status,
		       const char *fmt, ...)
{
	struct inc_rdv_msg msg = {
		.type	= INC_RDV_FAILED,
		.rank	= rank,
		.status	= status,
	};
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg.text, sizeof(msg.text), fmt, ap);
	va_end(ap);
	group_tell_all(g, &msg);
}

/*
 * Choose the interval of a rank's heartbeats. The more ranks there are, the
 * fewer heartbeats each of them sends, down to BEATS_LEAST in the time after
 * which it is lost, which stays the same. Returns milliseconds, 0: none.
 */
uint32_t group_beat_ms(const struct manager *m)
{
	uint64_t most = (uint64_t)m->o.heartbeat_ms * (m->o.misses + 1) /
			BEATS_LEAST;
	uint64_t ms = m->tenants.use.ranks * 1000 / BEATS_MOST;

	ms = ms < most ? ms : most;
	return ms > m->o.heartbeat_ms ? (uint32_t)ms : m->o.heartbeat_ms;
}

/*
 * Get how long ranks may try to find a manager again. Returns milliseconds; 0:
 * without a store, groups are lost with the manager.
 */
uint32_t group_resume_ms(const struct manager *m)
{
	return m->state.store ? RESUME_MS : 0;
}

/* Tell a rank what to connect to. */
void group_tell_joined(struct rank *r)
{
	const struct tree *t = &r->subtree->tree;
	const struct tree_end *own = &t->members[r->member].own;
	struct am_message msg = {
		.heartbeat_ms	= group_beat_ms(r->group->manager),
		.resume_ms	= group_resume_ms(r->group->manager),
		.brief		= true,
	};
	struct inc_rdv_joined *joined = &msg.rdv.joined;

	msg.rdv.type = INC_RDV_JOINED;
	*joined = t->settings;
	joined->rebuild = r->group->request.rebuild;
	joined->change = true;
	joined->resume = r->group->rebuild.resume;
	joined->addr = own->addr;
	joined->qpn = own->qpn;
	joined->psn = own->psn;
	joined->rkey = own->rkey;
	cm_tell(r, &msg);
	snprintf(msg.switch_id, sizeof(msg.switch_id), "%s",
		 sw_name(r->subtree->sw));
	/* "joined" starts a rank's heartbeats, unless an earlier one did. */
	if (!group_is_rebuilding(r->group))
		r->heard_at = r->group->manager->loop.now;
	r->joined_sent = r->stream;
	group_tell(r, &msg);
}

/* Tell a rank that another tree is made. */
void group_tell_rebuild(struct rank *r, const char *text)
{
	struct am_message msg = {
		.rdv = {
			.type	= INC_RDV_REBUILD,
			.rank	= -1,
			.msg_id	= r->group->rebuild.round,
		},
	};

	snprintf(msg.rdv.text, sizeof(msg.rdv.text), "%s", text);
	group_tell(r, &msg);
}
