// SPDX-License-Identifier: GPL-2.0
/*
 * What nobody finds any more ends when those that found it before are done.
 * Whatever comes while a grace period runs shares the next one.
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

static void reap(struct work_struct *work)
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
 * inc_part() - have something freed when nobody reads it any more
 * @sw: switch
 * @p: in what nobody finds any more
 * @end: frees it; in a process, without a lock
 *
 * Context: process, inc_switch.lock held; does not sleep.
 */
void inc_part(struct inc_switch *sw, struct inc_parting *p,
	      void (*end)(struct inc_parting *p))
{
	lockdep_assert_held(&sw->lock);
	p->end = end;
	list_add_tail(&p->node, &sw->parting);
	reap_next(sw);
}

/**
 * inc_parting_init() - nothing waits for a grace period
 * @sw: switch
 *
 * Context: process.
 */
void inc_parting_init(struct inc_switch *sw)
{
	INIT_LIST_HEAD(&sw->parting);
	INIT_LIST_HEAD(&sw->parted);
	INIT_RCU_WORK(&sw->reap, reap);
}
