/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Does a path lose so many packets that UC is faster than RC? Pure functions
 * over counts of packets, tested by test_loss.c.
 */
#ifndef INC_LIB_LOSS_H
#define INC_LIB_LOSS_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct inc_loss - recent losses
 * @lost: packets lost
 * @packets: packets sent and received meanwhile
 * @readings: readings that have shown a loss, since @lost was 0
 */
struct inc_loss {
	uint64_t	lost;
	uint64_t	packets;
	unsigned int	readings;
};

bool inc_loss_add(struct inc_loss *l, uint64_t lost, uint64_t packets);

#endif /* INC_LIB_LOSS_H */
