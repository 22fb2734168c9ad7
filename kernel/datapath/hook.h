/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Netfilter hooks that take packets out of the stack.
 */
#ifndef _INC_HOOK_H
#define _INC_HOOK_H

struct inc_switch;

int inc_hook_register(struct inc_switch *sw);
void inc_hook_unregister(struct inc_switch *sw);

#endif /* _INC_HOOK_H */
