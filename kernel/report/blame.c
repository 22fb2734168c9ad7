// SPDX-License-Identifier: GPL-2.0
/*
 * Who made a message fail is told to the event group, and by the rendezvous
 * daemon to the job's ranks, which get no more than a status on the data path.
 *
 * Whoever sends requests can make messages fail, so this is bounded: a tree tells
 * of one at once, and of the first of those that follow when a tenth of a second
 * is over. A slot that failed says it as long as it has no other message.
 */
#include <linux/jiffies.h>

#include "object/blame.h"
#include "object/switch.h"
#include "object/tree.h"
#include "report/notify.h"

#define TELL_MS	100

static void tell(struct work_struct *work)
{
	struct inc_blame *blame = container_of(to_delayed_work(work),
					       struct inc_blame, work);
	struct inc_tree *tree = container_of(blame, struct inc_tree, blame);
	struct inc_blamed b = blame->next;

	WRITE_ONCE(blame->told_at, jiffies);
	/* Pairs with inc_blame(): it is read before it is written again. */
	clear_bit_unlock(0, &blame->taken);
	inc_nl_notify_blamed(tree, &b);
}

/**
 * inc_blame_init() - nobody has made a message fail
 * @blame: of a new tree
 */
void inc_blame_init(struct inc_blame *blame)
{
	blame->told_at = jiffies - msecs_to_jiffies(TELL_MS);
	INIT_DELAYED_WORK(&blame->work, tell);
}

/**
 * inc_blame_end() - tell nothing any more
 * @blame: of a tree that no reader has any more
 *
 * Context: process; may sleep.
 */
void inc_blame_end(struct inc_blame *blame)
{
	cancel_delayed_work_sync(&blame->work);
}

/**
 * inc_blame() - a request has made its message fail
 * @blame: of the tree
 * @b: whose, and which
 *
 * Context: any but hard interrupt, RCU read side.
 */
void inc_blame(struct inc_blame *blame, const struct inc_blamed *b)
{
	unsigned long at, now = jiffies;

	if (test_and_set_bit_lock(0, &blame->taken))
		return;
	blame->next = *b;
	at = READ_ONCE(blame->told_at) + msecs_to_jiffies(TELL_MS);
	queue_delayed_work(inc_wq, &blame->work,
			   time_after(at, now) ? at - now : 0);
}
