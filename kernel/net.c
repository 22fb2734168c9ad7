// SPDX-License-Identifier: GPL-2.0
/*
 * The switch of a network namespace: its life and its memory budget.
 */
#include <linux/netlink.h>
#include <net/netns/generic.h>

#include "debugfs.h"
#include "hook.h"
#include "inc.h"
#include "net.h"
#include "tree.h"

static unsigned int inc_net_id __read_mostly;

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
 * inc_net_charge() - take memory from a namespace's budget
 * @inet: switch
 * @bytes: how much
 * @extack: says what would be needed
 *
 * Context: process, inc_net.lock held.
 * Return: 0; -ENOBUFS if it is too much, -ENODEV if the namespace goes away.
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
}

static int __net_init net_init(struct net *net)
{
	struct inc_net *inet = inc_net_get(net);

	inet->stats = inc_stats_alloc();
	if (!inet->stats)
		return -ENOMEM;
	inet->net = net;
	inet->mem_limit = INC_MEMORY_LIMIT;
	mutex_init(&inet->lock);
	xa_init_flags(&inet->qps, XA_FLAGS_ALLOC);
	xa_init_flags(&inet->trees, XA_FLAGS_ALLOC1);
	inc_debugfs_net_init(inet);
	return 0;
}

static void __net_exit net_pre_exit(struct net *net)
{
	struct inc_net *inet = inc_net_get(net);

	mutex_lock(&inet->lock);
	inet->dying = true;
	mutex_unlock(&inet->lock);
	inc_hook_unregister(inet);
}

/* Members are told, but nobody waits for them: their network goes away too. */
static void __net_exit net_exit(struct net *net)
{
	struct inc_net *inet = inc_net_get(net);
	struct inc_tree *tree;
	unsigned long id;

	xa_for_each(&inet->trees, id, tree) {
		mutex_lock(&inet->lock);
		inc_tree_unpublish(tree);
		mutex_unlock(&inet->lock);
		inc_tree_destroy(tree, 0);
	}
	inc_debugfs_net_exit(inet);
	xa_destroy(&inet->trees);
	xa_destroy(&inet->qps);
	free_percpu(inet->stats);
}

static struct pernet_operations net_ops = {
	.init		= net_init,
	.pre_exit	= net_pre_exit,
	.exit		= net_exit,
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
	return register_pernet_subsys(&net_ops);
}

/**
 * inc_net_exit() - end all switches, trees and QPs
 */
void inc_net_exit(void)
{
	unregister_pernet_subsys(&net_ops);
}
