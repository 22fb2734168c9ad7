/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Does what is due, of other communicators, too.
 */
#ifndef INC_LIB_ENGINE_PROGRESS_H
#define INC_LIB_ENGINE_PROGRESS_H

#include "comm/comm.h"

void inc_comm_progress(struct inc_comm *comm);
void inc_others_enter(struct inc_comm *comm);
void inc_others_leave(struct inc_comm *comm);
void inc_others_add(struct inc_comm *comm);
void inc_others_del(struct inc_comm *comm);
int inc_others_progress(const struct inc_comm *but);
void inc_others_lock(void);
void inc_others_unlock(bool child);

#endif /* INC_LIB_ENGINE_PROGRESS_H */
