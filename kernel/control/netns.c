// SPDX-License-Identifier: GPL-2.0
/*
 * The switch of a network namespace: its life and its memory budget.
 */
#include <linux/atomic.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/netlink.h>
#include <linux/rhashtable.h>
#include <linux/user_namespace.h>
#include <net/netns/generic.h>

#include "control/netns.h"
#include "control/teardown.h"
#include "datapath/hook.h"
#include "object/hold.h"
#include "object/qp.h"
#include "object/switch.h"
#include "object/tree.h"
#include "report/debugfs.h"

static unsigned int inc_netns_id __read_mostly;

static unsigned long memory_ceiling;
module_param(memory_ceiling, ulong, 0644);
MODULE_PARM_DESC(memory_ceiling,
		 "Most MiB that the trees of all network namespaces may take; half of the machine's memory by default");

static bool user_namespaces;
module_param(user_namespaces, bool, 0644);
MODULE_PARM_DESC(user_namespaces,
		 "Network namespaces of user namespaces other than the first may have trees; off by default");

/* What all namespaces are charged together. */
static atomic64_t charged;

/**
 * inc_switch_get() - the switch of a namespace
 * @net: the namespace
 *
 * Context: any, while the namespace lives.
 * Return: the switch.
 */
struct inc_switch *inc_switch_get(const struct net *net)
{
	return net_generic(net, inc_netns_id);
}

/**
 * inc_switch_ceiling() - most memory of all namespaces together
 *
 * Context: any.
 * Return: bytes.
 */
u64 inc_switch_ceiling(void)
{
	u64 mib = READ_ONCE(memory_ceiling);

	return min(mib, U64_MAX >> 20) << 20;
}

/**
 * inc_switch_may_have_trees() - does the administrator allow a namespace to have any
 * @sw: its switch
 *
 * Whoever has a user namespace of his own, and that may be any user, is the
 * administrator of the network namespaces that he makes.
 *
 * Context: any.
 * Return: true if so.
 */
bool inc_switch_may_have_trees(const struct inc_switch *sw)
{
	return sw->net->user_ns == &init_user_ns || READ_ONCE(user_namespaces);
}

/**
 * inc_switch_charge() - take memory from a namespace's budget
 * @sw: switch
 * @bytes: how much
 * @extack: says what would be needed
 *
 * Context: process, inc_switch.lock held.
 * Return: 0; -ENOBUFS if it is too much, for this namespace or for all of them,
 * -ENODEV if the namespace goes away.
 */
int inc_switch_charge(struct inc_switch *sw, u64 bytes,
		      struct netlink_ext_ack *extack)
{
	lockdep_assert_held(&sw->lock);
	if (sw->dying)
		return -ENODEV;
	if (bytes > sw->mem_limit ||
	    sw->mem_used > sw->mem_limit - bytes) {
		NL_SET_ERR_MSG_FMT_MOD(extack,
				       "needs %llu KiB, %llu of %llu KiB are left",
				       DIV_ROUND_UP_ULL(bytes, 1024),
				       sw->mem_limit > sw->mem_used ?
				       (sw->mem_limit - sw->mem_used) >> 10 : 0,
				       sw->mem_limit >> 10);
		return -ENOBUFS;
	}
	if (atomic64_add_return(bytes, &charged) > inc_switch_ceiling()) {
		atomic64_sub(bytes, &charged);
		NL_SET_ERR_MSG_FMT_MOD(extack,
				       "needs %llu KiB, memory_ceiling of all namespaces is %llu MiB",
				       DIV_ROUND_UP_ULL(bytes, 1024),
				       inc_switch_ceiling() >> 20);
		return -ENOBUFS;
	}
	sw->mem_used += bytes;
	return 0;
}

/**
 * inc_switch_uncharge() - give memory back to a namespace's budget
 * @sw: switch
 * @bytes: how much
 *
 * Context: process, inc_switch.lock held.
 */
void inc_switch_uncharge(struct inc_switch *sw, u64 bytes)
{
	lockdep_assert_held(&sw->lock);
	sw->mem_used -= bytes;
	atomic64_sub(bytes, &charged);
}

static int __net_init net_init(struct net *net)
{
	struct inc_switch *sw = inc_switch_get(net);

	sw->stats = inc_stats_alloc();
	if (!sw->stats)
		return -ENOMEM;
	if (inc_hold_init(sw))
		goto err_stats;
	if (rhashtable_init(&sw->qps, &inc_qpn_params))
		goto err_hold;
	sw->net = net;
	sw->mem_limit = INC_MEMORY_LIMIT;
	mutex_init(&sw->lock);
	xa_init_flags(&sw->trees, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	inc_teardown_init(sw);
	inc_debugfs_net_init(sw);
	return 0;

err_hold:
	inc_hold_exit(sw);
err_stats:
	free_percpu(sw->stats);
	return -ENOMEM;
}

/* Members are told, but nobody waits for them: their network goes away too. */
static void __net_exit net_pre_exit(struct net *net)
{
	struct inc_switch *sw = inc_switch_get(net);
	struct inc_tree *tree;
	unsigned long id;

	mutex_lock(&sw->lock);
	sw->dying = true;
	xa_for_each(&sw->trees, id, tree)
		inc_tree_leave(tree, 0);
	inc_teardown_hurry(sw);
	mutex_unlock(&sw->lock);
	inc_hook_unregister(sw);
}

/*
 * All namespaces that go away do so in the same grace periods: first each is
 * hurried (above), then all are waited for.
 */
static void __net_exit net_exit_batch(struct list_head *nets)
{
	struct net *net;

	list_for_each_entry(net, nets, exit_list) {
		struct inc_switch *sw = inc_switch_get(net);

		inc_teardown_wait(sw);
		inc_debugfs_net_exit(sw);
		xa_destroy(&sw->trees);
		rhashtable_destroy(&sw->qps);
		inc_hold_exit(sw);
		free_percpu(sw->stats);
	}
}

static struct pernet_operations net_ops = {
	.init		= net_init,
	.pre_exit	= net_pre_exit,
	.exit_batch	= net_exit_batch,
	.id		= &inc_netns_id,
	.size		= sizeof(struct inc_switch),
};

/**
 * inc_netns_init() - make a switch in every namespace, present and future
 *
 * Return: 0 or a negative errno.
 */
int inc_netns_init(void)
{
	if (!memory_ceiling)
		memory_ceiling = totalram_pages() / 2 >> (20 - PAGE_SHIFT);
	return register_pernet_subsys(&net_ops);
}

/**
 * inc_netns_exit() - end all switches, trees and QPs
 */
void inc_netns_exit(void)
{
	unregister_pernet_subsys(&net_ops);
}
