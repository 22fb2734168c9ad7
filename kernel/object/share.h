/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Limits shared by the network namespaces of one user.
 */
#ifndef _INC_SHARE_H
#define _INC_SHARE_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/percpu_counter.h>
#include <linux/types.h>
#include <linux/uidgid.h>

struct net;

/**
 * struct inc_share - accounts of the namespaces of a user, or of one of the host's
 * @node: in the list of users' shares; empty for the host's
 * @owner: the user
 * @host: it belongs to a namespace that the host's administrator has made
 * @nets: number of namespaces
 * @ntrees: trees that they have
 * @charged: bytes charged to them, see budget.c
 * @held: bytes of packets that wait for other ranks in their trees, see hold.c
 */
struct inc_share {
	struct list_head	node;
	kuid_t			owner;
	bool			host;
	unsigned int		nets;
	atomic_t		ntrees;
	atomic64_t		charged;
	struct percpu_counter	held;
};

struct inc_share *inc_share_get(const struct net *net);
void inc_share_put(struct inc_share *share);

#endif /* _INC_SHARE_H */
