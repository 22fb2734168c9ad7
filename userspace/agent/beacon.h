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

/**
 * struct beacon - when beacons are sent; one thread's
 * @send_at: milliseconds: when to send; 0: now
 * @sent_at: when it was sent
 * @gap: until it is sent again
 * @wanted_gap: that a change asks for, or 0
 * @look_at: when to ask bridges
 * @bridge_state: what they said
 */
struct beacon {
	uint64_t	send_at;
	uint64_t	sent_at;
	uint64_t	gap;
	uint64_t	wanted_gap;
	uint64_t	look_at;
	uint64_t	bridge_state;
};

void beacon_hurry(struct beacon *b, bool link);
int beacon_turn(struct beacon *b, uint64_t now);

#endif /* INC_AGENT_BEACON_H */
