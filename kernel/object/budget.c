// SPDX-License-Identifier: GPL-2.0
/*
 * The memory that trees may take: each network namespace has a budget, and there
 * is a ceiling for all of them. Memory is charged before it is allocated, and may
 * be taken later (lazy.c, slot_mem.c). The limits of one tree are in quota.c.
 */
#include <linux/atomic.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/netlink.h>

#include "object/budget.h"
#include "object/switch.h"

static unsigned long memory_ceiling;
module_param(memory_ceiling, ulong, 0644);
MODULE_PARM_DESC(memory_ceiling,
		 "Most MiB that the trees of all network namespaces may take; half of the machine's memory by default");

/* Bytes charged to all namespaces together. */
static atomic64_t charged;

/**
 * inc_budget_ceiling() - get the memory limit of all namespaces together
 *
 * Context: any.
 * Return: bytes.
 */
u64 inc_budget_ceiling(void)
{
	u64 mib = READ_ONCE(memory_ceiling);

	return min(mib, U64_MAX >> 20) << 20;
}

/**
 * inc_budget_init_ceiling() - set the default memory limit of all namespaces
 *
 * Context: process, before any switch exists.
 */
void inc_budget_init_ceiling(void)
{
	if (!memory_ceiling)
		memory_ceiling = totalram_pages() / 2 >> (20 - PAGE_SHIFT);
}

/**
 * inc_budget_charge() - charge memory to a namespace's budget
 * @sw: switch
 * @bytes: how much
 * @extack: set to what would be needed
 *
 * Context: process, inc_switch.lock held.
 * Return: 0; -ENOBUFS over the limit of this namespace or of all of them,
 * -ENODEV if the namespace is going away.
 */
int inc_budget_charge(struct inc_switch *sw, u64 bytes,
		      struct netlink_ext_ack *extack)
{
	lockdep_assert_held(&sw->lock);
	if (sw->dying)
		return -ENODEV;
	if (bytes > sw->mem_limit ||
	    sw->mem_used > sw->mem_limit - bytes) {
		NL_SET_ERR_MSG_FMT_MOD(extack,
				       "needs %llu KiB, %llu of %llu KiB are left",
				       DIV_ROUND_UP_ULL(bytes, 1024),
				       sw->mem_limit > sw->mem_used ?
				       (sw->mem_limit - sw->mem_used) >> 10 : 0,
				       sw->mem_limit >> 10);
		return -ENOBUFS;
	}
	if (atomic64_add_return(bytes, &charged) > inc_budget_ceiling()) {
		atomic64_sub(bytes, &charged);
		NL_SET_ERR_MSG_FMT_MOD(extack,
				       "needs %llu KiB, memory_ceiling of all namespaces is %llu MiB",
				       DIV_ROUND_UP_ULL(bytes, 1024),
				       inc_budget_ceiling() >> 20);
		return -ENOBUFS;
	}
	sw->mem_used += bytes;
	return 0;
}

/**
 * inc_budget_uncharge() - return memory to a namespace's budget
 * @sw: switch
 * @bytes: how much
 *
 * Context: process, inc_switch.lock held.
 */
void inc_budget_uncharge(struct inc_switch *sw, u64 bytes)
{
	lockdep_assert_held(&sw->lock);
	sw->mem_used -= bytes;
	atomic64_sub(bytes, &charged);
}

/**
 * inc_budget_spare() - note that charged memory is taken, or not yet
 * @sw: switch
 * @spare: of the object that it is charged to
 * @bytes: less than 0 if it is taken
 *
 * Context: any.
 */
void inc_budget_spare(struct inc_switch *sw, atomic64_t *spare, s64 bytes)
{
	atomic64_add(bytes, spare);
	atomic64_add(bytes, &sw->mem_spare);
}
