// SPDX-License-Identifier: GPL-2.0
/*
 * A second CPU, which receives calls at the same time as the one that measures, as
 * if a NIC spread the hosts over two of its queues. It waits without sleeping, so
 * that it begins at once.
 */
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/netdevice.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "pktgen.h"

static struct task_struct *task;
static unsigned int cpu;

/* What is to be done, and what is done: numbers that count up. */
static unsigned int asked, done;
static struct list_head *work;
static unsigned int work_len;

static int work_thread(void *unused)
{
	unsigned int next = 1, i;

	while (!kthread_should_stop()) {
		/* The calls were put down before. */
		if (smp_load_acquire(&asked) != next) {
			cond_resched();
			cpu_relax();
			continue;
		}
		local_bh_disable();
		for (i = 0; i < work_len; i++)
			netif_receive_skb_list(&work[i]);
		local_bh_enable();
		/* What they have sent is seen by who waits. */
		smp_store_release(&done, next++);
	}
	return 0;
}

/**
 * pg_second_start() - have a second CPU
 *
 * Context: process, whose CPU is another one until pg_second_stop().
 * Return: 0, or a negative errno; -ENODEV if there is none.
 */
int pg_second_start(void)
{
	cpu = cpumask_any_but(cpu_online_mask, get_cpu());
	put_cpu();
	if (cpu >= nr_cpu_ids)
		return -ENODEV;
	asked = 0;
	done = 0;
	task = kthread_create(work_thread, NULL, "inc_pktgen");
	if (IS_ERR(task))
		return PTR_ERR(task);
	kthread_bind(task, cpu);
	wake_up_process(task);
	return 0;
}

/**
 * pg_second_stop() - undo pg_second_start()
 */
void pg_second_stop(void)
{
	kthread_stop(task);
}

/**
 * pg_second_owns() - have a packet look as if the second CPU had allocated it
 * @skb: packet that it will receive
 *
 * As that of a driver would be. Else it would be sent back to be freed.
 */
void pg_second_owns(struct sk_buff *skb)
{
	skb->alloc_cpu = cpu;
}

/**
 * pg_second_call() - have the second CPU receive calls now
 * @calls: lists of packets
 * @n: number of them
 *
 * Context: BH off.
 */
void pg_second_call(struct list_head *calls, unsigned int n)
{
	work = calls;
	work_len = n;
	/* See work_thread(). */
	smp_store_release(&asked, asked + 1);
}

/**
 * pg_second_wait() - wait until the second CPU has done so
 *
 * Context: BH off.
 */
void pg_second_wait(void)
{
	/* See work_thread(). */
	while (smp_load_acquire(&done) != asked)
		cpu_relax();
}
