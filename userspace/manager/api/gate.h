/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Keeps strangers from using up the descriptors: gRPC 1.51 never accepts a
 * connection again once accept() has failed, for lack of one, too.
 */
#ifndef INC_MANAGER_GATE_H
#define INC_MANAGER_GATE_H

#define GATE_SOCKETS	8

int gate_start(const int *fds, unsigned int n);
void gate_stop(void);

#endif /* INC_MANAGER_GATE_H */
