// SPDX-License-Identifier: GPL-2.0
/*
 * The memory that trees may take: each network namespace has a budget, and there is
 * a ceiling for all of them. Users that make namespaces by user namespaces have
 * half of it at most, and each of them a part of that: memory that they charge, and
 * never take, leaves the other half to the host. Memory is charged before it is
 * allocated, and may be taken later (qp_mem.c, slot_mem.c). The limits of one tree
 * are in quota.c.
 */
#include <linux/atomic.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/netlink.h>

#include "object/budget.h"
#include "object/share.h"
#include "object/switch.h"

static unsigned long memory_ceiling;
module_param(memory_ceiling, ulong, 0644);
MODULE_PARM_DESC(memory_ceiling,
		 "Most MiB that the trees of all network namespaces may take; half of the machine's memory by default");

/* A user may have 2^-3 of the ceiling, all of them 2^-1. */
#define USER_SHIFT	3
#define USERS_SHIFT	1

/* Bytes charged to all namespaces together, and to users' ones. */
static atomic64_t charged, users_charged;

/**
 * struct pot - a sum that is limited
 * @charged: the sum
 * @shift: its limit is the ceiling over two to the power of this
 * @whose: whose it is
 */
struct pot {
	atomic64_t	*charged;
	u8		shift;
	const char	*whose;
};

#define MAX_POTS	3

/* Returns the number of sums that memory of a namespace is charged to. */
static int find_pots(const struct inc_switch *sw, struct pot *pots)
{
	pots[0] = (struct pot) { &charged, 0, "all" };
	if (sw->share->host)
		return 1;
	pots[1] = (struct pot) { &users_charged, USERS_SHIFT, "all users'" };
	pots[2] = (struct pot) { &sw->share->charged, USER_SHIFT, "a user's" };
	return MAX_POTS;
}

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
 * inc_budget_user_ceiling() - get the memory limit of a user's namespaces together
 *
 * Context: any.
 * Return: bytes.
 */
u64 inc_budget_user_ceiling(void)
{
	return inc_budget_ceiling() >> USER_SHIFT;
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
 * @extack: set to the bytes needed
 *
 * Context: process, inc_switch.lock held.
 * Return: 0; -ENOBUFS over the limit of this namespace, of its user's, or of all of
 * them, -ENODEV if the namespace is going away.
 */
int inc_budget_charge(struct inc_switch *sw, u64 bytes,
		      struct netlink_ext_ack *extack)
{
	struct pot pots[MAX_POTS];
	int i, n = find_pots(sw, pots);

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
	for (i = 0; i < n; i++) {
		u64 limit = inc_budget_ceiling() >> pots[i].shift;

		if (atomic64_add_return(bytes, pots[i].charged) <= limit)
			continue;
		NL_SET_ERR_MSG_FMT_MOD(extack,
				       "needs %llu KiB, memory_ceiling of %s namespaces is %llu MiB",
				       DIV_ROUND_UP_ULL(bytes, 1024),
				       pots[i].whose, limit >> 20);
		for (; i >= 0; i--)
			atomic64_sub(bytes, pots[i].charged);
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
	struct pot pots[MAX_POTS];
	int n = find_pots(sw, pots);

	lockdep_assert_held(&sw->lock);
	sw->mem_used -= bytes;
	while (n--)
		atomic64_sub(bytes, pots[n].charged);
}

/**
 * inc_budget_reserve() - note that charged memory is taken, or not yet
 * @sw: switch
 * @reserved: of the object that it is charged to
 * @bytes: less than 0 if it is taken
 *
 * Context: any.
 */
void inc_budget_reserve(struct inc_switch *sw, atomic64_t *reserved, s64 bytes)
{
	atomic64_add(bytes, reserved);
	atomic64_add(bytes, &sw->mem_reserved);
}
