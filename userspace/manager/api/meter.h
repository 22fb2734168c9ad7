/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What each connection sends, and what of that calls and messages account for.
 * gRPC keeps a header that never ends, and works through it again and again,
 * before anybody knows who sends it; a connection that sends so is cut.
 */
#ifndef INC_MANAGER_METER_H
#define INC_MANAGER_METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rendezvous/proto.h"

struct meter;

struct meter *meter_get(const char *peer);
void meter_put(struct meter *m);
bool meter_take(struct meter *m, size_t bytes);
void meter_refuse(const char *peer);
void meter_cut(struct meter *m, const char *why);

/* Called for a connection that was cut: whose, "ipv4:ADDRESS:PORT", and why. */
typedef void meter_cut_fn(const struct inc_rdv_addr *addr, const char *peer,
			  const char *why);

void meter_start(void (*wake)(void));
int64_t meter_look(int port, uint64_t open, uint64_t most, meter_cut_fn *tell);
uint64_t meter_cuts(void);

#endif /* INC_MANAGER_METER_H */
