/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Copies of the data path's state, each taken as a whole under its lock, for
 * netlink and debugfs to show at leisure.
 */
#ifndef _INC_SNAPSHOT_H
#define _INC_SNAPSHOT_H

#include <linux/types.h>

#include "core/slot.h"

struct inc_qp;
struct inc_tree;

/**
 * struct inc_slot_snapshot - a slot at one moment
 * @index: index of the slot
 * @state: enum rdma_inc_slot_state
 * @status: enum inc_status of a failed message
 * @wrong: rank whose request made it fail, or INC_SLOT_NOBODY
 * @unlike: another rank that it disagrees with, or INC_SLOT_NOBODY
 * @used: it has ever worked on a message
 * @msg: message that it works on, has done, or expects
 * @begun: ranks whose request began
 * @ready: chunks that are complete
 * @age_ms: time since the first request of the message arrived
 * @waits_parent: a child has all of its members' requests, and the parent is
 *	still to answer
 * @parent_ms: how long it has waited for the parent
 * @members: ranks of the tree
 * @geom: geometry of the tree
 * @got: for each rank, packets received + 1, or 0 before its request began
 */
struct inc_slot_snapshot {
	u16		index;
	u8		state;
	u8		status;
	u16		wrong;
	u16		unlike;
	bool		used;
	struct inc_msg	msg;
	u16		begun;
	u16		ready;
	u32		age_ms;
	bool		waits_parent;
	u32		parent_ms;
	u16		members;
	const struct inc_slot_geom *geom;
	u16		got[] __counted_by(ranks);
};

/**
 * struct inc_qp_snapshot - a QP at one moment
 * @state: enum rdma_inc_member_state
 * @error: enum rdma_inc_member_error
 * @in_msg: a request message has begun and not ended
 * @rnr: the switch waits after an RNR NAK
 * @backoff: timeouts in a row
 * @nstray: statuses queued that belong to no slot
 * @epsn: expected PSN
 * @ooo: packets queued beyond a gap
 * @rx_msg_id: request message in progress, if @in_msg
 * @next_msg_id: message expected next
 * @una: oldest PSN not acknowledged
 * @next: PSN to send next; for UC @una and @max stay at the first PSN
 * @max: first PSN never sent
 * @pending: packets sent and not acknowledged
 * @held: bytes of packets of requests that are not complete
 * @srtt: smoothed round trip, microseconds
 * @rttvar: its mean deviation
 * @window: maximum number of packets in flight
 * @queued: slots that have results, or requests to the parent, to send
 * @last_rx_ms: time since the last packet from the member
 */
struct inc_qp_snapshot {
	u8	state;
	u8	error;
	bool	in_msg;
	bool	rnr;
	u8	backoff;
	u8	nstray;
	u32	epsn;
	u32	ooo;
	u32	rx_msg_id;
	u32	next_msg_id;
	u32	una;
	u32	next;
	u32	max;
	u32	pending;
	u32	held;
	u32	srtt;
	u32	rttvar;
	u16	window;
	u16	queued;
	u32	last_rx_ms;
};

struct inc_slot_snapshot *inc_slot_snapshot_alloc(u16 ranks);
void inc_slot_snapshot_get(struct inc_tree *tree, u16 index,
			   struct inc_slot_snapshot *v);
void inc_qp_snapshot_get(struct inc_qp *qp, struct inc_qp_snapshot *v);
void inc_tree_stats(struct inc_tree *tree, u64 *tree_sum, u64 *member_sum);

u16 inc_slot_snapshot_wants(const struct inc_slot_snapshot *v, u16 member);

static inline bool inc_slot_snapshot_missing(const struct inc_slot_snapshot *v,
					     u16 member)
{
	return v->state == RDMA_INC_SLOT_STATE_BUSY &&
	       v->got[member] <= inc_slot_snapshot_wants(v, member);
}

#endif /* _INC_SNAPSHOT_H */
