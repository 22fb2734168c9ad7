// SPDX-License-Identifier: GPL-2.0
/*
 * The switch of a network namespace.
 */
#include <linux/moduleparam.h>
#include <linux/user_namespace.h>
#include <net/netns/generic.h>

#include "object/switch.h"

static bool user_namespaces;
module_param(user_namespaces, bool, 0644);
MODULE_PARM_DESC(user_namespaces,
		 "Network namespaces of user namespaces other than the first may have trees; off by default");

/* Works of the data path; drained before the module is unloaded. */
struct workqueue_struct *inc_wq;

/* Index of the switch in a namespace's generic data. */
unsigned int inc_netns_id __read_mostly;

/**
 * inc_switch_get() - get the switch of a namespace
 * @net: the namespace
 *
 * Context: any, while the namespace exists.
 * Return: the switch.
 */
struct inc_switch *inc_switch_get(const struct net *net)
{
	return net_generic(net, inc_netns_id);
}

/**
 * inc_switch_may_have_trees() - check whether a namespace may have trees
 * @sw: its switch
 *
 * Any user may have a user namespace, and thereby administers the network
 * namespaces made in it. So the host's administrator has to allow it.
 *
 * Context: any.
 * Return: true if so.
 */
bool inc_switch_may_have_trees(const struct inc_switch *sw)
{
	return sw->net->user_ns == &init_user_ns || READ_ONCE(user_namespaces);
}
