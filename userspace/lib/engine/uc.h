/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The UC transport.
 */
#ifndef INC_LIB_ENGINE_UC_H
#define INC_LIB_ENGINE_UC_H

#include "comm/comm.h"

int inc_uc_alloc(struct inc_comm *comm);
void inc_uc_restart(struct inc_comm *comm);
void inc_uc_free(struct inc_comm *comm);
void inc_uc_sent(struct inc_comm *comm, bool first);
void inc_uc_came(struct inc_comm *comm);
bool inc_uc_heard(struct inc_comm *comm, uint32_t id, unsigned int *status);
void inc_uc_done(struct inc_comm *comm, uint32_t id, unsigned int status);
void inc_uc_progress(struct inc_comm *comm);
bool inc_uc_nap(struct inc_comm *comm);
int inc_uc_patience(const struct inc_comm *comm, int ms);
void inc_uc_woke(struct inc_comm *comm);

#endif /* INC_LIB_ENGINE_UC_H */
