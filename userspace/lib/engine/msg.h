/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Turns requests into messages, and results into progress.
 */
#ifndef INC_LIB_ENGINE_MSG_H
#define INC_LIB_ENGINE_MSG_H

#include "comm/comm.h"

int inc_msg_post_recvs(struct inc_comm *comm);
void inc_msg_resume(struct inc_comm *comm, uint32_t done);
void inc_msg_issue(struct inc_comm *comm, struct inc_request *req);
void inc_msg_progress(struct inc_comm *comm);

#endif /* INC_LIB_ENGINE_MSG_H */
