/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Teardown of trees and QPs. Only the removal of a namespace or of the module
 * waits for it.
 */
#ifndef _INC_TEARDOWN_H
#define _INC_TEARDOWN_H

struct inc_switch;
struct inc_tree;

/* inc_switch.lock held. */
void inc_tree_leave(struct inc_tree *tree, unsigned int linger_ms);
void inc_teardown_hurry(struct inc_switch *sw);

/* Not held. */
void inc_teardown_init(struct inc_switch *sw);
void inc_teardown_wait(struct inc_switch *sw);

#endif /* _INC_TEARDOWN_H */
