// SPDX-License-Identifier: GPL-2.0
/*
 * A second CPU, with the packets of half of the hosts, as if a NIC spread them over
 * two of its queues: it prepares, receives and frees them. It waits without sleeping,
 * so that it begins at once.
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
static void (*work)(void *arg);
static void *work_arg;

static int work_thread(void *unused)
{
	unsigned int next = 1;

	while (!kthread_should_stop()) {
		/* What is to be done was put down before. */
		if (smp_load_acquire(&asked) != next) {
			cond_resched();
			cpu_relax();
			continue;
		}
		local_bh_disable();
		work(work_arg);
		local_bh_enable();
		/* What it has done is seen by who waits. */
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
	struct task_struct *thread;

	cpu = cpumask_any_but(cpu_online_mask, get_cpu());
	put_cpu();
	if (cpu >= nr_cpu_ids)
		return -ENODEV;
	asked = 0;
	done = 0;
	thread = kthread_create(work_thread, NULL, "inc_pktgen");
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	kthread_bind(thread, cpu);
	wake_up_process(thread);
	WRITE_ONCE(task, thread);
	return 0;
}

/**
 * pg_second_stop() - undo pg_second_start()
 */
void pg_second_stop(void)
{
	kthread_stop(task);
	task = NULL;
}

/**
 * pg_second_is_here() - is the caller on the second CPU?
 *
 * Context: BH off.
 * Return: true if so, and pg_second_stop() was not called.
 */
bool pg_second_is_here(void)
{
	return READ_ONCE(task) && cpu == raw_smp_processor_id();
}

/**
 * pg_second_call() - have the second CPU do something now
 * @fn: what, with BH off
 * @arg: its argument
 *
 * Context: BH off.
 */
void pg_second_call(void (*fn)(void *arg), void *arg)
{
	work = fn;
	work_arg = arg;
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
