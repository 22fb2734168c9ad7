/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Memory for outgoing messages and short results.
 */
#ifndef INC_LIB_ENGINE_ARENA_H
#define INC_LIB_ENGINE_ARENA_H

#include "comm/comm.h"

struct inc_hdr *inc_msg_hdr(const struct inc_comm *comm, uint32_t id);
char *inc_msg_result(const struct inc_comm *comm, uint32_t id);
int inc_msg_alloc(struct inc_comm *comm);
int inc_msg_bounce(struct inc_comm *comm);
void inc_msg_grow(struct inc_comm *comm);
void inc_msg_free(struct inc_comm *comm);

#endif /* INC_LIB_ENGINE_ARENA_H */
