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

/*
 * Send the next beacon sooner after a change. Context: the thread that calls
 * beacon_turn().
 * @link: a link has changed, else an address was forgotten
 */
void beacon_hurry(struct beacon *b, bool link)
{
	uint64_t gap = link ? GAP_LINK_MS : GAP_FORGOT_MS;

	if (!b->wanted_gap || gap < b->wanted_gap)
		b->wanted_gap = gap;
}

static void look_at_bridges(struct beacon *b, uint64_t now)
{
	uint64_t changing = bridge_changing();

	b->look_at = now + LOOK_MS;
	if (changing != b->bridge_state)
		beacon_hurry(b, true);
	b->bridge_state = changing;
}

static int next_turn(const struct beacon *b, uint64_t now)
{
	uint64_t at = b->send_at < b->look_at ? b->send_at : b->look_at;

	return (int)(at - now);
}

/* Send a beacon if it is time. Returns milliseconds until the next call. */
int beacon_turn(struct beacon *b, uint64_t now)
{
	uint64_t soon = now + SETTLE_MS;

	if (b->look_at <= now)
		look_at_bridges(b, now);
	if (b->wanted_gap && b->send_at > soon) {
		if (soon < b->sent_at + b->wanted_gap)
			soon = b->sent_at + b->wanted_gap;
		if (soon < b->send_at)
			b->send_at = soon;
		if (b->wanted_gap < b->gap)
			b->gap = b->wanted_gap;
	}
	b->wanted_gap = 0;
	if (b->send_at > now)
		return next_turn(b, now);
	bridge_beacon();
	b->gap = !b->gap ? GAP_LINK_MS :
		     b->gap > GAP_MAX_MS / 2 ? GAP_MAX_MS : b->gap * 2;
	b->sent_at = now;
	b->send_at = now + b->gap;
	return next_turn(b, now);
}
