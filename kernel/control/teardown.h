/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The end of trees and QPs, which nobody waits for but who takes their
 * namespace or the module away.
 */
#ifndef _INC_TEARDOWN_H
#define _INC_TEARDOWN_H

#include <linux/list.h>

struct inc_net;
struct inc_tree;

/**
 * struct inc_parting - in what is freed after a grace period
 * @node: in inc_net.parting, then in inc_net.parted
 * @end: frees it; process context, may sleep, no lock held
 */
struct inc_parting {
	struct list_head	node;
	void			(*end)(struct inc_parting *p);
};

/* inc_net.lock held. */
void inc_part(struct inc_net *inet, struct inc_parting *p,
	      void (*end)(struct inc_parting *p));
void inc_tree_leave(struct inc_tree *tree, unsigned int linger_ms);
void inc_teardown_hurry(struct inc_net *inet);

/* Not held. */
void inc_teardown_init(struct inc_net *inet);
void inc_teardown_wait(struct inc_net *inet);

#endif /* _INC_TEARDOWN_H */
