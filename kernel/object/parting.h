/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Freeing objects after a grace period.
 */
#ifndef _INC_PARTING_H
#define _INC_PARTING_H

#include <linux/list.h>

struct inc_switch;

/**
 * struct inc_parting - member of an object that is freed after a grace period
 * @node: in inc_switch.parting, then in inc_switch.parted
 * @end: frees it; process context, may sleep, no lock held
 */
struct inc_parting {
	struct list_head	node;
	void			(*end)(struct inc_parting *p);
};

void inc_parting_init(struct inc_switch *sw);
/* inc_switch.lock held. */
void inc_defer_free(struct inc_switch *sw, struct inc_parting *p,
		    void (*end)(struct inc_parting *p));

#endif /* _INC_PARTING_H */
