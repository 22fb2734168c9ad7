/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The last packets of results that a member has yet to acknowledge: when all
 * members have, nobody needs the result any more.
 */
#ifndef _INC_ENDS_H
#define _INC_ENDS_H

#include <linux/types.h>

#include "core/psn.h"

/*
 * A power of two; libinc has as many messages in flight. Results beyond that are not
 * noted, and stay until their slots' next ones.
 */
#define INC_ENDS_MAX	32

/**
 * struct inc_ends - last packets of results in flight to a member, over RC
 * @end: ring of them, by PSN
 * @end.psn: the packet's PSN
 * @end.msg_id: message whose result it ends
 * @head: the oldest one
 * @n: number of them
 */
struct inc_ends {
	struct {
		u32	psn;
		u32	msg_id;
	} end[INC_ENDS_MAX];
	u8	head;
	u8	n;
};

/**
 * inc_ends_add() - note a result's last packet
 * @e: the member's last packets
 * @psn: the packet's PSN, after all others'
 * @msg_id: message
 *
 * Context: the QP's transmit lock is held.
 */
static inline void inc_ends_add(struct inc_ends *e, u32 psn, u32 msg_id)
{
	u8 at = (e->head + e->n) % INC_ENDS_MAX;

	if (e->n == INC_ENDS_MAX)
		return;
	e->end[at].psn = psn;
	e->end[at].msg_id = msg_id;
	e->n++;
}

/**
 * inc_ends_take() - take a result that the member has acknowledged
 * @e: the member's last packets
 * @una: the oldest PSN that it has not acknowledged
 * @msg_id: set to its message
 *
 * Context: the QP's transmit lock is held.
 * Return: false if there is none.
 */
static inline bool inc_ends_take(struct inc_ends *e, u32 una, u32 *msg_id)
{
	if (!e->n || inc_psn_diff(e->end[e->head].psn, una) >= 0)
		return false;
	*msg_id = e->end[e->head].msg_id;
	e->head = (e->head + 1) % INC_ENDS_MAX;
	e->n--;
	return true;
}

#endif /* _INC_ENDS_H */
