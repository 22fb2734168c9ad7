/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory that trees may take.
 */
#ifndef _INC_BUDGET_H
#define _INC_BUDGET_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/types.h>

struct inc_switch;
struct netlink_ext_ack;

/* Default of the memory that all trees of a namespace may take. */
#define INC_BUDGET_DEFAULT	BIT_ULL(30)

int inc_budget_charge(struct inc_switch *sw, u64 bytes,
		      struct netlink_ext_ack *extack);
void inc_budget_uncharge(struct inc_switch *sw, u64 bytes);
void inc_budget_reserve(struct inc_switch *sw, atomic64_t *reserved, s64 bytes);
void inc_budget_init_ceiling(void);
u64 inc_budget_ceiling(void);
u64 inc_budget_user_ceiling(void);

#endif /* _INC_BUDGET_H */
