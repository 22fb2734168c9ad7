/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rank that made a message fail, for the event group.
 */
#ifndef _INC_BLAME_H
#define _INC_BLAME_H

#include <linux/types.h>
#include <linux/workqueue.h>

/**
 * struct inc_blamed - a message that a rank's request has made fail
 * @msg_id: message
 * @slot: its slot
 * @wrong: rank of the request
 * @unlike: rank that it disagrees with, or INC_SLOT_NOBODY
 * @status: enum inc_status that it ended with
 */
struct inc_blamed {
	u32	msg_id;
	u16	slot;
	u16	wrong;
	u16	unlike;
	u8	status;
};

/**
 * struct inc_blame - a tree's pending report of failed messages
 * @taken: bit 0: @next is being written, or belongs to @work
 * @next: message to report
 * @told_at: jiffies of the last report
 * @work: sends the report
 */
struct inc_blame {
	unsigned long		taken;
	struct inc_blamed	next;
	unsigned long		told_at;
	struct delayed_work	work;
};

void inc_blame_init(struct inc_blame *blame);
void inc_blame_end(struct inc_blame *blame);
/* Data path: RCU read side. */
void inc_blame(struct inc_blame *blame, const struct inc_blamed *b);

#endif /* _INC_BLAME_H */
