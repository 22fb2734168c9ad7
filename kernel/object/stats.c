// SPDX-License-Identifier: GPL-2.0
/*
 * Per-CPU counters: allocation and sums.
 */
#include <linux/netdevice.h>

#include "object/stats.h"

/**
 * inc_stats_alloc() - allocate a set of counters, all zero
 *
 * Context: process; may sleep. Freed by free_percpu().
 * Return: the counters, or NULL without memory.
 */
struct inc_stats __percpu *inc_stats_alloc(void)
{
	return __netdev_alloc_pcpu_stats(struct inc_stats, GFP_KERNEL_ACCOUNT);
}

/**
 * inc_stats_sum() - add the sum of a counter set over all CPUs to an array
 * @stats: the per-CPU counters
 * @sum: INC_STATS_MAX numbers, added to
 */
void inc_stats_sum(struct inc_stats __percpu *stats, u64 *sum)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct inc_stats *s = per_cpu_ptr(stats, cpu);
		u64 cnt[INC_STATS_MAX];
		unsigned int start;
		int i;

		do {
			start = u64_stats_fetch_begin(&s->syncp);
			for (i = 0; i < INC_STATS_MAX; i++)
				cnt[i] = u64_stats_read(&s->cnt[i]);
		} while (u64_stats_fetch_retry(&s->syncp, start));

		for (i = 0; i < INC_STATS_MAX; i++)
			sum[i] += cnt[i];
	}
}
