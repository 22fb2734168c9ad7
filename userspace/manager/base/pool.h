/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Threads for jobs that may block, mostly on a switch's agent. There are few
 * while jobs take their usual time. Threads that are stuck on a silent agent
 * are replaced, so jobs for other agents wait only for a moment.
 */
#ifndef INC_MANAGER_POOL_H
#define INC_MANAGER_POOL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * struct job - work for a thread
 * @next: next in the queue
 * @run: called once by a thread; the job may be submitted again from there
 */
struct job {
	struct job	*next;
	void		(*run)(struct job *job);
};

struct worker;

/**
 * struct pool - the threads
 * @lock: guards the rest
 * @wake: signals a job, or @stop
 * @keeper_wake: for the keeper: signals a job, or @stop
 * @thread_ended: signals the end of a thread
 * @head: first job, NULL: none
 * @tail: where the next one is appended
 * @idle: threads that wait for a job
 * @n: number of threads
 * @max_threads: limit of @n
 * @workers: threads that run
 * @keeper: thread that starts others
 * @stop: end when no job is left
 * @until: milliseconds; latest time to end after @stop
 */
struct pool {
	pthread_mutex_t	lock;
	pthread_cond_t	wake;
	pthread_cond_t	keeper_wake;
	pthread_cond_t	thread_ended;
	struct job	*head;
	struct job	**tail;
	unsigned int	idle;
	unsigned int	n;
	unsigned int	max_threads;
	struct worker	*workers;
	pthread_t	keeper;
	bool		stop;
	int64_t		until;
};

int pool_start(struct pool *pool, unsigned int most);
void pool_submit(struct pool *pool, struct job *job);
bool pool_stop(struct pool *pool, int64_t limit_ms);

#endif /* INC_MANAGER_POOL_H */
