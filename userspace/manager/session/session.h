/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Ranks that connect: join.c handles their messages, resume.c their return, violation.c
 * reports callers that were refused.
 */
#ifndef INC_MANAGER_SESSION_H
#define INC_MANAGER_SESSION_H

#include "group/group.h"

/* resume.c */
bool session_was_late(const struct manager *m);
bool session_rejoin(struct group *g, struct rpc_stream *stream,
		    const struct inc_rdv_join *join);
void session_resume(struct manager *m, struct rpc_stream *stream,
		    const struct inc_rdv_join *join, uint32_t tree_id);

#endif /* INC_MANAGER_SESSION_H */
