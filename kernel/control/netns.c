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

static unsigned int inc_net_id __read_mostly;

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
 * inc_net_get() - the switch of a namespace
 * @net: the namespace
 *
 * Context: any, while the namespace lives.
 * Return: the switch.
 */
struct inc_net *inc_net_get(const struct net *net)
{
	return net_generic(net, inc_net_id);
}

/**
 * inc_net_ceiling() - most memory of all namespaces together
 *
 * Context: any.
 * Return: bytes.
 */
u64 inc_net_ceiling(void)
{
	u64 mib = READ_ONCE(memory_ceiling);

	return min(mib, U64_MAX >> 20) << 20;
}

/**
 * inc_net_may_have_trees() - does the administrator allow a namespace to have any
 * @inet: its switch
 *
 * Whoever has a user namespace of his own, and that may be any user, is the
 * administrator of the network namespaces that he makes.
 *
 * Context: any.
 * Return: true if so.
 */
bool inc_net_may_have_trees(const struct inc_net *inet)
{
	return inet->net->user_ns == &init_user_ns || READ_ONCE(user_namespaces);
}

/**
 * inc_net_charge() - take memory from a namespace's budget
 * @inet: switch
 * @bytes: how much
 * @extack: says what would be needed
 *
 * Context: process, inc_net.lock held.
 * Return: 0; -ENOBUFS if it is too much, for this namespace or for all of them,
 * -ENODEV if the namespace goes away.
 */
int inc_net_charge(struct inc_net *inet, u64 bytes,
		   struct netlink_ext_ack *extack)
{
	lockdep_assert_held(&inet->lock);
	if (inet->dying)
		return -ENODEV;
	if (bytes > inet->mem_limit ||
	    inet->mem_used > inet->mem_limit - bytes) {
		NL_SET_ERR_MSG_FMT_MOD(extack,
				       "needs %llu KiB, %llu of %llu KiB are left",
				       DIV_ROUND_UP_ULL(bytes, 1024),
				       inet->mem_limit > inet->mem_used ?
				       (inet->mem_limit - inet->mem_used) >> 10 : 0,
				       inet->mem_limit >> 10);
		return -ENOBUFS;
	}
	if (atomic64_add_return(bytes, &charged) > inc_net_ceiling()) {
		atomic64_sub(bytes, &charged);
		NL_SET_ERR_MSG_FMT_MOD(extack,
				       "needs %llu KiB, memory_ceiling of all namespaces is %llu MiB",
				       DIV_ROUND_UP_ULL(bytes, 1024),
				       inc_net_ceiling() >> 20);
		return -ENOBUFS;
	}
	inet->mem_used += bytes;
	return 0;
}

/**
 * inc_net_uncharge() - give memory back to a namespace's budget
 * @inet: switch
 * @bytes: how much
 *
 * Context: process, inc_net.lock held.
 */
void inc_net_uncharge(struct inc_net *inet, u64 bytes)
{
	lockdep_assert_held(&inet->lock);
	inet->mem_used -= bytes;
	atomic64_sub(bytes, &charged);
}

static int __net_init net_init(struct net *net)
{
	struct inc_net *inet = inc_net_get(net);

	inet->stats = inc_stats_alloc();
	if (!inet->stats)
		return -ENOMEM;
	if (inc_hold_init(inet))
		goto err_stats;
	if (rhashtable_init(&inet->qps, &inc_qpn_params))
		goto err_hold;
	inet->net = net;
	inet->mem_limit = INC_MEMORY_LIMIT;
	mutex_init(&inet->lock);
	xa_init_flags(&inet->trees, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	inc_teardown_init(inet);
	inc_debugfs_net_init(inet);
	return 0;

err_hold:
	inc_hold_exit(inet);
err_stats:
	free_percpu(inet->stats);
	return -ENOMEM;
}

/* Members are told, but nobody waits for them: their network goes away too. */
static void __net_exit net_pre_exit(struct net *net)
{
	struct inc_net *inet = inc_net_get(net);
	struct inc_tree *tree;
	unsigned long id;

	mutex_lock(&inet->lock);
	inet->dying = true;
	xa_for_each(&inet->trees, id, tree)
		inc_tree_leave(tree, 0);
	inc_teardown_hurry(inet);
	mutex_unlock(&inet->lock);
	inc_hook_unregister(inet);
}

/*
 * All namespaces that go away do so in the same grace periods: first each is
 * hurried (above), then all are waited for.
 */
static void __net_exit net_exit_batch(struct list_head *nets)
{
	struct net *net;

	list_for_each_entry(net, nets, exit_list) {
		struct inc_net *inet = inc_net_get(net);

		inc_teardown_wait(inet);
		inc_debugfs_net_exit(inet);
		xa_destroy(&inet->trees);
		rhashtable_destroy(&inet->qps);
		inc_hold_exit(inet);
		free_percpu(inet->stats);
	}
}

static struct pernet_operations net_ops = {
	.init		= net_init,
	.pre_exit	= net_pre_exit,
	.exit_batch	= net_exit_batch,
	.id		= &inc_net_id,
	.size		= sizeof(struct inc_net),
};

/**
 * inc_net_init() - make a switch in every namespace, present and future
 *
 * Return: 0 or a negative errno.
 */
int inc_net_init(void)
{
	if (!memory_ceiling)
		memory_ceiling = totalram_pages() / 2 >> (20 - PAGE_SHIFT);
	return register_pernet_subsys(&net_ops);
}

/**
 * inc_net_exit() - end all switches, trees and QPs
 */
void inc_net_exit(void)
{
	unregister_pernet_subsys(&net_ops);
}
