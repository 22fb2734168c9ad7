// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See beacon.h.
 *
 * The times between two beacons follow the trickle algorithm (RFC 6206) without
 * its suppression, since each switch has to be heard: short after a change, as
 * it may be the first of several, doubled then. A spanning tree tells all its
 * bridges when a change begins, and when it is over.
 */
#include "beacon.h"

#include "bridge.h"

/* Bridges forget after five minutes, unless configured otherwise. */
#define GAP_MAX_MS	60000
/* After a change of a link; after a forgotten address: hosts come and go. */
#define GAP_LINK_MS	1000
#define GAP_FORGOT_MS	10000
/* Several changes come together: wait for them. */
#define SETTLE_MS	100
/* Time between two looks at the state of spanning trees. */
#define LOOK_MS		1000

static struct {
	uint64_t	send_at;	/* milliseconds: next beacon; 0: now */
	uint64_t	sent_at;	/* last beacon */
	uint64_t	gap;		/* from one beacon to the next */
	uint64_t	wanted_gap;	/* wanted after a change, or 0 */
	uint64_t	look_at;	/* next look at bridges */
	uint64_t	bridge_state;	/* their last state */
} beacon;

/*
 * Send the next beacon sooner after a change. Context: the thread that calls
 * beacon_turn().
 * @link: a link has changed, else an address was forgotten
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

/* Send a beacon if it is time. Returns milliseconds until the next call. */
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
