// SPDX-License-Identifier: GPL-2.0
/*
 * The rank that made a message fail is reported to the event group, and by the
 * rendezvous daemon to the job's ranks, which get only a status on the data
 * path.
 *
 * Any member can make messages fail, so reports are limited: a tree reports one
 * failure at once. Of failures in the next tenth of a second it reports the first,
 * at its end. A failed slot shows the rank until it begins another message.
 */
#include <linux/jiffies.h>

#include "object/blame.h"
#include "object/switch.h"
#include "object/tree.h"
#include "report/notify.h"

#define TELL_MS	100

static void tell_work(struct work_struct *work)
{
	struct inc_blame *blame = container_of(to_delayed_work(work),
					       struct inc_blame, work);
	struct inc_tree *tree = container_of(blame, struct inc_tree, blame);
	struct inc_blamed b = blame->next;

	WRITE_ONCE(blame->told_at, jiffies);
	/* Pairs with inc_blame(): @next is read before it is written again. */
	clear_bit_unlock(0, &blame->taken);
	inc_nl_notify_blamed(tree, &b);
}

/**
 * inc_blame_init() - initialize failure reports
 * @blame: of a new tree
 */
void inc_blame_init(struct inc_blame *blame)
{
	blame->told_at = jiffies - msecs_to_jiffies(TELL_MS);
	INIT_DELAYED_WORK(&blame->work, tell_work);
}

/**
 * inc_blame_end() - stop failure reports
 * @blame: of a tree without readers
 *
 * Context: process; may sleep.
 */
void inc_blame_end(struct inc_blame *blame)
{
	cancel_delayed_work_sync(&blame->work);
}

/**
 * inc_blame() - report that a request has made its message fail
 * @blame: of the tree
 * @b: rank and message
 *
 * Context: any but hard interrupt, RCU read side.
 */
void inc_blame(struct inc_blame *blame, const struct inc_blamed *b)
{
	unsigned long pause = msecs_to_jiffies(TELL_MS), age;

	if (test_and_set_bit_lock(0, &blame->taken))
		return;
	blame->next = *b;
	age = inc_age(READ_ONCE(blame->told_at));
	queue_delayed_work(inc_wq, &blame->work, age < pause ? pause - age : 0);
}
