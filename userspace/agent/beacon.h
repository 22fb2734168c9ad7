/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Keeps the switch known to all bridges, by a frame to everyone now and then: a
 * bridge's forwarding database has only hosts that have sent something through
 * it, and forgets them after some minutes, or at once when the spanning tree
 * changes. Otherwise switches that do not announce themselves by LLDP would see
 * each other by chance, and hosts would seem to be in the wrong place.
 */
#ifndef INC_AGENT_BEACON_H
#define INC_AGENT_BEACON_H

#include <stdbool.h>
#include <stdint.h>

void beacon_hurry(bool link);
int beacon_turn(uint64_t now);

#endif /* INC_AGENT_BEACON_H */
