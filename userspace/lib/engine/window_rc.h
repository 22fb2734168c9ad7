/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The window over RC.
 */
#ifndef INC_LIB_ENGINE_WINDOW_RC_H
#define INC_LIB_ENGINE_WINDOW_RC_H

#include "comm/comm.h"

void inc_window_rc_issue(struct inc_comm *comm, const struct inc_request *req);
void inc_window_rc_sent(struct inc_comm *comm, const struct inc_request *req,
			uint32_t id);
void inc_window_rc_filled(struct inc_comm *comm);
void inc_window_rc_done(struct inc_comm *comm, const struct inc_request *req,
			uint32_t id, bool ok);

#endif /* INC_LIB_ENGINE_WINDOW_RC_H */
