/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The send queue.
 */
#ifndef INC_LIB_ENGINE_SQ_H
#define INC_LIB_ENGINE_SQ_H

#include "comm/comm.h"

bool inc_sq_post(struct inc_comm *comm, struct ibv_send_wr *wr);
void inc_sq_reap(struct inc_comm *comm);

#endif /* INC_LIB_ENGINE_SQ_H */
