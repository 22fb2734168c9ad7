/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Keeps strangers from using up the descriptors: gRPC 1.51 never accepts a
 * connection again once accept() has failed, for lack of one, too. And keeps out
 * hosts for a while whose connections were cut, see meter.h.
 */
#ifndef INC_MANAGER_GATE_H
#define INC_MANAGER_GATE_H

#define GATE_SOCKETS	8

/* Called for a connection that was cut: whose, "ipv4:ADDRESS:PORT", and why. */
typedef void gate_cut_fn(void *ctx, const char *peer, const char *why);

int gate_start(const int *fds, unsigned int n, int port, gate_cut_fn *cut,
	       void *ctx);
void gate_stop(void);

#endif /* INC_MANAGER_GATE_H */
