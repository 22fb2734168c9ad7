// SPDX-License-Identifier: GPL-2.0
/*
 * rdma_inc: in-network computing for RoCEv2 (draft-liu-nfsv4-rocev2). Module
 * load, and unload: the workqueue goes before the softirq state and the caches
 * that its works use.
 */
#include <linux/module.h>
#include <linux/workqueue.h>

#include "control/member.h"
#include "control/netlink.h"
#include "control/netns.h"
#include "core/icrc.h"
#include "core/reduce/reduce.h"
#include "datapath/batch.h"
#include "datapath/engine.h"
#include "object/switch.h"
#include "report/debugfs.h"

static int __init inc_init(void)
{
	int err;

	inc_reduce_init();
	inc_icrc_init();
	inc_wq = alloc_workqueue("rdma_inc", WQ_UNBOUND | WQ_HIGHPRI, 0);
	if (!inc_wq)
		return -ENOMEM;
	err = inc_member_cache_init();
	if (err)
		goto err_wq;
	err = inc_batch_init(inc_engine_end_batch);
	if (err)
		goto err_cache;
	inc_debugfs_init();
	err = inc_netns_init();
	if (err)
		goto err_debugfs;
	err = inc_nl_init();
	if (err)
		goto err_net;
	pr_info("rdma_inc: version %s, reduction by %s\n", INC_MODULE_VERSION,
		inc_reduce_impl());
	return 0;

err_net:
	inc_netns_exit();
err_debugfs:
	inc_debugfs_exit();
	inc_batch_exit();
err_cache:
	inc_member_cache_exit();
err_wq:
	destroy_workqueue(inc_wq);
	return err;
}

static void __exit inc_exit(void)
{
	inc_nl_exit();
	inc_netns_exit();
	inc_debugfs_exit();
	destroy_workqueue(inc_wq);
	/* Trees are freed by RCU. */
	rcu_barrier();
	inc_batch_exit();
	inc_member_cache_exit();
}

/* Built in, it comes after IPv6, of which each switch has a socket. */
late_initcall(inc_init);
module_exit(inc_exit);

MODULE_DESCRIPTION("In-network computing for RoCEv2");
MODULE_VERSION(INC_MODULE_VERSION);
MODULE_AUTHOR("The rdma_inc authors");
MODULE_LICENSE("GPL");
