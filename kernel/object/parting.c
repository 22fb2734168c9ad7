// SPDX-License-Identifier: GPL-2.0
/*
 * Unpublished objects are freed when their last readers are done. Objects added
 * while a grace period runs share the next one.
 */
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/workqueue.h>

#include "object/parting.h"
#include "object/switch.h"

static void reap_next(struct inc_switch *sw)
{
	if (list_empty(&sw->parting) || !list_empty(&sw->parted))
		return;
	list_splice_tail_init(&sw->parting, &sw->parted);
	queue_rcu_work(inc_wq, &sw->reap);
}

static void reap_work(struct work_struct *work)
{
	struct inc_switch *sw =
		container_of(to_rcu_work(work), struct inc_switch, reap);
	struct inc_parting *p, *next;
	LIST_HEAD(now);

	mutex_lock(&sw->lock);
	list_splice_init(&sw->parted, &now);
	reap_next(sw);
	mutex_unlock(&sw->lock);

	list_for_each_entry_safe(p, next, &now, node) {
		p->end(p);
		cond_resched();
	}
}

/**
 * inc_defer_free() - free an unpublished object after its last readers
 * @sw: switch
 * @p: in the unpublished object
 * @end: frees it; called in process context, without a lock
 *
 * Context: process, inc_switch.lock held; does not sleep.
 */
void inc_defer_free(struct inc_switch *sw, struct inc_parting *p,
		    void (*end)(struct inc_parting *p))
{
	lockdep_assert_held(&sw->lock);
	p->end = end;
	list_add_tail(&p->node, &sw->parting);
	reap_next(sw);
}

/**
 * inc_parting_init() - initialize a switch's queue for grace periods
 * @sw: switch
 *
 * Context: process.
 */
void inc_parting_init(struct inc_switch *sw)
{
	INIT_LIST_HEAD(&sw->parting);
	INIT_LIST_HEAD(&sw->parted);
	INIT_RCU_WORK(&sw->reap, reap_work);
}
