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
	uint64_t	send_at;	/* milliseconds: when to send; 0: now */
	uint64_t	sent_at;	/* when it was sent */
	uint64_t	gap;		/* until it is sent again */
	uint64_t	wanted_gap;	/* that a change asks for, or 0 */
	uint64_t	look_at;	/* when to ask bridges */
	uint64_t	bridge_state;	/* what they said */
} beacon;

/*
 * Something has changed. Context: the thread that calls beacon_turn().
 * @link: an interface, else something was forgotten
 */
void beacon_hurry(bool link)
{
	uint64_t gap = link ? GAP_LINK_MS : GAP_FORGOT_MS;

	if (!beacon.wanted_gap || gap < beacon.wanted_gap)
		beacon.wanted_gap = gap;
}

static void look_at_bridges(uint64_t now)
{
	uint64_t changing = bridge_changing();

	beacon.look_at = now + LOOK_MS;
	if (changing != beacon.bridge_state)
		beacon_hurry(true);
	beacon.bridge_state = changing;
}

static int next_turn(uint64_t now)
{
	uint64_t at = beacon.send_at < beacon.look_at ? beacon.send_at :
							beacon.look_at;

	return (int)(at - now);
}

/*
 * Send one, if it is time. Returns milliseconds until it must be called again.
 */
int beacon_turn(uint64_t now)
{
	uint64_t soon = now + SETTLE_MS;

	if (beacon.look_at <= now)
		look_at_bridges(now);
	if (beacon.wanted_gap && beacon.send_at > soon) {
		if (soon < beacon.sent_at + beacon.wanted_gap)
			soon = beacon.sent_at + beacon.wanted_gap;
		if (soon < beacon.send_at)
			beacon.send_at = soon;
		if (beacon.wanted_gap < beacon.gap)
			beacon.gap = beacon.wanted_gap;
	}
	beacon.wanted_gap = 0;
	if (beacon.send_at > now)
		return next_turn(now);
	bridge_beacon();
	beacon.gap = !beacon.gap ? GAP_LINK_MS :
		     beacon.gap > GAP_MAX_MS / 2 ? GAP_MAX_MS : beacon.gap * 2;
	beacon.sent_at = now;
	beacon.send_at = now + beacon.gap;
	return next_turn(now);
}
