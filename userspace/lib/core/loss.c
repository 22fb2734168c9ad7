// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Losses of a path, see loss.h.
 */
#include "loss.h"

/* Counts are halved when they exceed this number of packets. */
#define KEEP		65536
/*
 * With losses rarer than one packet in RARE, RC keeps nine tenths of its throughput
 * if the link is the bottleneck; if CPUs are, UC takes twice as long. A burst, as
 * when a queue overflows once, is no reason for UC: so there must be LOST losses in
 * READINGS readings.
 */
#define RARE		500
#define LOST		32
#define READINGS	4

/*
 * Add the counts since the last reading. Returns true if UC is faster on the
 * path.
 */
bool inc_loss_add(struct inc_loss *l, uint64_t lost, uint64_t packets)
{
	l->lost += lost;
	l->packets += packets;
	l->readings += lost != 0;
	while (l->packets > KEEP) {
		l->lost /= 2;
		l->packets /= 2;
	}
	if (!l->lost)
		l->readings = 0;
	return l->lost >= LOST && l->readings >= READINGS &&
	       l->lost * RARE >= l->packets;
}
