/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Goes on over another tree.
 */
#ifndef INC_LIB_ENGINE_REBUILD_H
#define INC_LIB_ENGINE_REBUILD_H

#include "comm/comm.h"

int inc_comm_make_qp(struct inc_comm *comm, const char **what);
bool inc_tree_fits(const struct inc_rdv_joined *tree,
		   const struct inc_rdv_joined *other);
int inc_comm_take_memory(struct inc_comm *comm, char *err, size_t err_len);
int inc_comm_take_tree(struct inc_comm *comm, const struct inc_rdv_joined *tree,
		       uint32_t psn, char *err, size_t err_len);
uint64_t inc_rebuild_count(const struct inc_comm *comm);
void inc_rebuild_progress(struct inc_comm *comm);

#endif /* INC_LIB_ENGINE_REBUILD_H */
