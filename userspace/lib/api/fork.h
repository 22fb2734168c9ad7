/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
#ifndef INC_LIB_FORK_H
#define INC_LIB_FORK_H

struct inc_comm;

void inc_fork_add(struct inc_comm *comm);
void inc_fork_del(struct inc_comm *comm);

#endif /* INC_LIB_FORK_H */
