// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See beacon.h.
 *
 * The times between two beacons follow the trickle algorithm (RFC 6206) without
 * its suppression, since each switch has to be heard: short after a change, as
 * it may be the first of several, doubled then. A spanning tree tells all its
 * bridges that it has changed somewhere, and when that is over.
 */
#include "beacon.h"

#include "bridge.h"

/* Bridges forget after five minutes, unless told otherwise. */
#define GAP_MAX_MS	60000
/* After a change of a link; after something was forgotten: hosts come and go. */
#define GAP_LINK_MS	1000
#define GAP_FORGOT_MS	10000
/* Changes come together. */
#define SETTLE_MS	100
/* How often bridges are asked for the state of their spanning tree. */
#define LOOK_MS		1000

static struct {
	uint64_t	at;		/* milliseconds: when to send; 0: at once */
	uint64_t	last;		/* when it was sent */
	uint64_t	gap;		/* until it is sent again */
	uint64_t	wanted;		/* the gap that a change asks for, or 0 */
	uint64_t	look;		/* when to ask bridges */
	uint64_t	changing;	/* what they said */
} beacon;

/**
 * beacon_hurry() - something has changed
 * @link: an interface, else something was forgotten
 *
 * Context: The thread that calls beacon_turn().
 */
void beacon_hurry(bool link)
{
	uint64_t gap = link ? GAP_LINK_MS : GAP_FORGOT_MS;

	if (!beacon.wanted || gap < beacon.wanted)
		beacon.wanted = gap;
}

static void look_at_bridges(uint64_t now)
{
	uint64_t changing = bridge_changing();

	beacon.look = now + LOOK_MS;
	if (changing != beacon.changing)
		beacon_hurry(true);
	beacon.changing = changing;
}

static int next_turn(uint64_t now)
{
	uint64_t at = beacon.at < beacon.look ? beacon.at : beacon.look;

	return (int)(at - now);
}

/**
 * beacon_turn() - send one, if it is time
 * @now: milliseconds
 *
 * Return: milliseconds until it must be called again.
 */
int beacon_turn(uint64_t now)
{
	uint64_t soon = now + SETTLE_MS;

	if (beacon.look <= now)
		look_at_bridges(now);
	if (beacon.wanted && beacon.at > soon) {
		if (soon < beacon.last + beacon.wanted)
			soon = beacon.last + beacon.wanted;
		if (soon < beacon.at)
			beacon.at = soon;
		if (beacon.wanted < beacon.gap)
			beacon.gap = beacon.wanted;
	}
	beacon.wanted = 0;
	if (beacon.at > now)
		return next_turn(now);
	bridge_beacon();
	beacon.gap = !beacon.gap ? GAP_LINK_MS :
		     beacon.gap > GAP_MAX_MS / 2 ? GAP_MAX_MS : beacon.gap * 2;
	beacon.last = now;
	beacon.at = now + beacon.gap;
	return next_turn(now);
}
