// SPDX-License-Identifier: GPL-2.0
/*
 * Any user may make user namespaces, and network namespaces there. Limits of one
 * namespace are no limits for him: all that he makes counts as his. The host's own
 * namespaces are made by its administrator, and each counts by itself.
 */
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>
#include <net/net_namespace.h>

#include "compat.h"
#include "object/share.h"

static DEFINE_MUTEX(shares_lock);

/* Of users; under shares_lock. */
static LIST_HEAD(shares);

/*
 * Find the owner of a namespace: of its outermost user namespace, so a user of the
 * host, since within one anybody can own others. Returns false for the host.
 */
static bool find_owner(const struct user_namespace *ns, kuid_t *owner)
{
	if (ns == &init_user_ns)
		return false;
	while (ns->parent != &init_user_ns)
		ns = ns->parent;
	*owner = ns->owner;
	return true;
}

static struct inc_share *new_share(bool host, kuid_t owner)
{
	struct inc_share *share = kzalloc_obj(*share, GFP_KERNEL);

	if (!share)
		return NULL;
	if (percpu_counter_init(&share->held, 0, GFP_KERNEL)) {
		kfree(share);
		return NULL;
	}
	INIT_LIST_HEAD(&share->node);
	share->host = host;
	share->owner = owner;
	share->nets = 1;
	return share;
}

/**
 * inc_share_get() - get the share that a new namespace belongs to
 * @net: the namespace
 *
 * Context: process; may sleep.
 * Return: the share, or NULL without memory.
 */
struct inc_share *inc_share_get(const struct net *net)
{
	kuid_t owner = GLOBAL_ROOT_UID;
	struct inc_share *share;

	if (!find_owner(net->user_ns, &owner))
		return new_share(true, owner);
	mutex_lock(&shares_lock);
	list_for_each_entry(share, &shares, node)
		if (uid_eq(share->owner, owner)) {
			share->nets++;
			goto out;
		}
	share = new_share(false, owner);
	if (share)
		list_add(&share->node, &shares);
out:
	mutex_unlock(&shares_lock);
	return share;
}

/**
 * inc_share_put() - undo inc_share_get()
 * @share: share of a namespace that has no trees any more
 *
 * Context: process; may sleep.
 */
void inc_share_put(struct inc_share *share)
{
	bool last;

	mutex_lock(&shares_lock);
	last = !--share->nets;
	if (last)
		list_del(&share->node);
	mutex_unlock(&shares_lock);
	if (!last)
		return;
	percpu_counter_destroy(&share->held);
	kfree(share);
}
