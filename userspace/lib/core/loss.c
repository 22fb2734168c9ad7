// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Losses of a path, see loss.h.
 */
#include "loss.h"

/* What is older than some of these packets counts half, a quarter ... */
#define KEEP		65536
/*
 * With less than one packet in RARE, RC keeps nine tenths of its throughput on a link
 * that is the limit, and where CPUs are, UC takes twice as long. A burst, as of
 * a queue that overflows once, is no path for UC: so there have to be LOST losses
 * in READINGS readings.
 */
#define RARE		500
#define LOST		32
#define READINGS	4

/*
 * Add the counts since the last reading. Returns true if the path is one for
 * UC.
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
