/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The number of packets that a path can use: what it delivers in its shortest
 * round trip, and a little more. All beyond would only wait in a queue, which
 * belongs to everybody who sends through the same port.
 */
#ifndef _INC_PATH_H
#define _INC_PATH_H

#include <linux/types.h>

/* Window of a path that has not been measured yet, packets. */
#define INC_PATH_FIRST	16
/* The largest window. */
#define INC_PATH_MAX	256

/**
 * struct inc_path - what is known of a path
 * @rate: packets that it delivers in 2^16 microseconds
 * @min_rtt: shortest round trip, microseconds; 0: none was measured
 * @least: shortest round trip of the present period, 0: none
 * @period: number of that period
 * @last: the last round trip, while @min_rtt is measured anew
 * @window: maximum number of packets in flight
 * @drains: round trips to measure at least for that, and the one in which it began
 * @confirmed: it was the same when it was measured anew
 */
struct inc_path {
	u32	rate;
	u32	min_rtt;
	u32	least;
	u32	period;
	u32	last;
	u16	window;
	u8	drains;
	bool	confirmed;
};

void inc_path_init(struct inc_path *p);
void inc_path_measured(struct inc_path *p, u32 packets, u32 rtt, u64 now);

#endif /* _INC_PATH_H */
