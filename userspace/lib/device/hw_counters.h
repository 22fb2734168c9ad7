/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Limit of packets in flight on a path that loses packets. rxe goes back to the
 * lost packet and retransmits everything from there, so a loss costs all
 * packets in flight. Its counters show the frequency of losses.
 */
#ifndef INC_LIB_HW_COUNTERS_H
#define INC_LIB_HW_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* rxe itself hardly keeps more in flight. */
#define INC_HW_COUNTERS_FLIGHT_MAX	64

/**
 * struct inc_hw_counts - counters of a device
 * @naks: NAKs received: the switch lacks a packet
 * @holes: NAKs sent: a packet of the switch is missing or late
 * @duplicates: packets of the switch that had arrived before
 * @packets: packets sent and received
 * @unsent: packets that the device could not send
 */
struct inc_hw_counts {
	uint64_t	naks;
	uint64_t	holes;
	uint64_t	duplicates;
	uint64_t	packets;
	uint64_t	unsent;
};

/**
 * struct inc_hw_counters - losses of a device, from its counters
 * @fd: caller's socket to the kernel's RDMA subsystem; -1: none
 * @dev: the device's index
 * @port: port
 * @begun: @last is valid
 * @last: the last reading
 * @new_lost: packets lost between the last reading and the one before, without
 *	late ones
 * @new_packets: packets sent and received meanwhile
 * @unsent: packets that the device could not send, at the first reading
 * @apart: recent number of packets between losses; 0: no loss yet
 * @since: packets since the last loss
 */
struct inc_hw_counters {
	int		fd;
	uint32_t	dev;
	uint32_t	port;
	bool		begun;
	struct inc_hw_counts last;
	uint64_t	new_lost;
	uint64_t	new_packets;
	uint64_t	unsent;
	uint64_t	apart;
	uint64_t	since;
};

int inc_hw_counters_socket(void);
void inc_hw_counters_open(struct inc_hw_counters *l, int fd, int dev,
			  unsigned int port);
unsigned int inc_hw_counters_read(struct inc_hw_counters *l);
uint64_t inc_hw_counters_unsent(int dev, unsigned int port);
/* For the test. */
unsigned int inc_hw_counters_add(struct inc_hw_counters *l, uint64_t lost,
				 uint64_t packets);
bool inc_hw_counters_parse(const void *msg, size_t len,
			   struct inc_hw_counts *c);
uint64_t inc_hw_counts_lost(const struct inc_hw_counts *now,
			    const struct inc_hw_counts *last);

#endif /* INC_LIB_HW_COUNTERS_H */
