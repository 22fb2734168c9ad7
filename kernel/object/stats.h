/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Per-CPU counters. The YNL spec defines them; a counter's netlink attribute
 * number is its index here.
 */
#ifndef _INC_STATS_H
#define _INC_STATS_H

#include <linux/percpu.h>
#include <linux/u64_stats_sync.h>
#include <uapi/linux/rdma_inc.h>

/* Index 0 is unused, as attribute 0 is. */
#define INC_STATS_MAX	(RDMA_INC_A_MEMBER_STATS_MAX + 1)

static_assert(RDMA_INC_A_SWITCH_STATS_MAX < INC_STATS_MAX);
static_assert(RDMA_INC_A_TREE_STATS_MAX < INC_STATS_MAX);

/**
 * struct inc_stats - one CPU's counters of a switch, a tree or a QP
 * @syncp: makes 64-bit reads consistent on 32-bit machines
 * @cnt: counters, by netlink attribute
 */
struct inc_stats {
	struct u64_stats_sync	syncp;
	u64_stats_t		cnt[INC_STATS_MAX];
};

/**
 * inc_stats_add() - add to a counter of this CPU
 * @stats: the per-CPU counters
 * @idx: RDMA_INC_A_*_STATS_* attribute
 * @n: value to add
 *
 * Context: bottom halves disabled.
 */
static inline void inc_stats_add(struct inc_stats __percpu *stats,
				 unsigned int idx, u64 n)
{
	struct inc_stats *s = this_cpu_ptr(stats);

	u64_stats_update_begin(&s->syncp);
	u64_stats_add(&s->cnt[idx], n);
	u64_stats_update_end(&s->syncp);
}

static inline void inc_stats_inc(struct inc_stats __percpu *stats,
				 unsigned int idx)
{
	inc_stats_add(stats, idx, 1);
}

struct inc_stats __percpu *inc_stats_alloc(void);
void inc_stats_sum(struct inc_stats __percpu *stats, u64 *sum);

#endif /* _INC_STATS_H */
