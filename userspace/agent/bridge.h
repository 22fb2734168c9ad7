/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Frames from this switch's bridges, and their spanning trees.
 */
#ifndef INC_AGENT_BRIDGE_H
#define INC_AGENT_BRIDGE_H

#include <stdint.h>

void bridge_beacon(void);
uint64_t bridge_changing(void);

#endif /* INC_AGENT_BRIDGE_H */
