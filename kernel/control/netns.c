// SPDX-License-Identifier: GPL-2.0
/*
 * Creation and teardown of the switch of a network namespace.
 */
#include <linux/mutex.h>
#include <linux/rhashtable.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>

#include "control/netns.h"
#include "control/teardown.h"
#include "datapath/hook.h"
#include "datapath/tx_output.h"
#include "object/budget.h"
#include "object/qp.h"
#include "object/share.h"
#include "object/switch.h"
#include "object/tree.h"
#include "report/debugfs.h"

static int __net_init net_init(struct net *net)
{
	struct inc_switch *sw = inc_switch_get(net);
	int err = -ENOMEM;

	sw->net = net;
	sw->stats = inc_stats_alloc();
	if (!sw->stats)
		return err;
	err = inc_tx_init(sw);
	if (err)
		goto err_stats;
	err = -ENOMEM;
	sw->share = inc_share_get(net);
	if (!sw->share)
		goto err_tx;
	err = rhashtable_init(&sw->qps, &inc_qpn_params);
	if (err)
		goto err_share;
	sw->mem_limit = INC_BUDGET_DEFAULT;
	mutex_init(&sw->lock);
	xa_init_flags(&sw->trees, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	xa_init_flags(&sw->owners, XA_FLAGS_ACCOUNT);
	inc_teardown_init(sw);
	inc_debugfs_net_init(sw);
	return 0;

err_share:
	inc_share_put(sw->share);
err_tx:
	inc_tx_exit(sw);
err_stats:
	free_percpu(sw->stats);
	return err;
}

/* Tell the members, but do not wait for them: their network is going, too. */
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
 * All namespaces that go away share the same grace periods: first hurry each
 * (above), then wait for all.
 */
static void __net_exit net_exit_batch(struct list_head *nets)
{
	struct net *net;

	list_for_each_entry(net, nets, exit_list) {
		struct inc_switch *sw = inc_switch_get(net);

		inc_teardown_wait(sw);
		inc_debugfs_net_exit(sw);
		xa_destroy(&sw->trees);
		xa_destroy(&sw->owners);
		rhashtable_destroy(&sw->qps);
		inc_share_put(sw->share);
		inc_tx_exit(sw);
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
 * inc_netns_init() - create a switch in every namespace, present and future
 *
 * Return: 0 or a negative errno.
 */
int inc_netns_init(void)
{
	inc_budget_init_ceiling();
	return register_pernet_subsys(&net_ops);
}

/**
 * inc_netns_exit() - remove all switches, trees and QPs
 */
void inc_netns_exit(void)
{
	unregister_pernet_subsys(&net_ops);
}
