// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See pool.h. While jobs wait, the keeper checks every STUCK_MS how many threads
 * have been busy with a job for longer than that, and starts others in their place.
 */
#include <stddef.h>
#include <stdlib.h>

#include "loop/loop.h"
#include "base/pool.h"
#include "conf/list.h"
#include "conf/thread.h"

#define FEW		8	/* threads that are not stuck */
#define STUCK_MS	20

/**
 * struct worker - a thread
 * @pool: pool
 * @next: next thread
 * @job_since: milliseconds; start of its job, 0: it has none
 */
struct worker {
	struct pool	*pool;
	struct worker	*next;
	int64_t		job_since;
};

/* --- Workers ------------------------------------------------------------- */

static void end_worker(struct worker *w)
{
	list_remove(w->pool->workers, w);
	w->pool->n--;
	pthread_cond_signal(&w->pool->thread_ended);
	free(w);
}

/* Wait for a job. Returns NULL if the thread must end: enough others wait. */
static struct job *take_job(struct pool *pool)
{
	struct job *job;

	if (!pool->head && pool->idle >= FEW)
		return NULL;
	pool->idle++;
	while (!pool->head && !pool->stop)
		pthread_cond_wait(&pool->wake, &pool->lock);
	pool->idle--;
	job = pool->head;
	if (job) {
		pool->head = job->next;
		if (!pool->head)
			pool->tail = &pool->head;
		else if (!pool->idle)
			pthread_cond_signal(&pool->keeper_wake);
	}
	return job;
}

static void *work_off(void *arg)
{
	struct worker *w = arg;
	struct pool *pool = w->pool;
	struct job *job;

	pthread_mutex_lock(&pool->lock);
	while ((job = take_job(pool))) {
		w->job_since = now_ms();
		pthread_mutex_unlock(&pool->lock);
		job->run(job);
		pthread_mutex_lock(&pool->lock);
		w->job_since = 0;
	}
	end_worker(w);
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

static bool add_worker(struct pool *pool)
{
	struct worker *w = calloc(1, sizeof(*w));
	pthread_t thread;

	if (!w)
		return false;
	w->pool = pool;
	if (pthread_create(&thread, NULL, work_off, w)) {
		free(w);
		return false;
	}
	pthread_detach(thread);
	w->next = pool->workers;
	pool->workers = w;
	pool->n++;
	return true;
}

/* --- The keeper ---------------------------------------------------------- */

static unsigned int count_stuck(const struct pool *pool)
{
	int64_t before = now_ms() - STUCK_MS;
	const struct worker *w;
	unsigned int n = 0;

	for (w = pool->workers; w; w = w->next)
		n += w->job_since && w->job_since <= before;
	return n;
}

static void *keep_workers(void *arg)
{
	struct pool *pool = arg;
	unsigned int want;

	pthread_mutex_lock(&pool->lock);
	while (!pool->stop ||
	       ((pool->head || pool->n) && now_ms() < pool->until)) {
		if (!pool->head && !pool->stop)
			pthread_cond_wait(&pool->keeper_wake, &pool->lock);
		else
			cond_wait(&pool->thread_ended, &pool->lock,
				  now_ms() + STUCK_MS);
		want = count_stuck(pool) + FEW;
		while (pool->head && pool->n < want &&
		       pool->n < pool->max_threads && add_worker(pool))
			;
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

/* --- For others ---------------------------------------------------------- */

/*
 * Start threads.
 * @most: minimum of the limit of threads
 */
int pool_start(struct pool *pool, unsigned int most)
{
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->wake, NULL);
	pthread_cond_init(&pool->keeper_wake, NULL);
	pthread_cond_init(&pool->thread_ended, NULL);
	pool->tail = &pool->head;
	pool->max_threads = most + FEW;
	return -pthread_create(&pool->keeper, NULL, keep_workers, pool);
}

/*
 * Submit a job. Context: any thread, also a job's.
 * @job: job; belongs to the pool until @job->run is called
 */
void pool_submit(struct pool *pool, struct job *job)
{
	job->next = NULL;
	pthread_mutex_lock(&pool->lock);
	/* The keeper sleeps while no job has to wait. */
	if (!pool->idle)
		pthread_cond_signal(&pool->keeper_wake);
	*pool->tail = job;
	pool->tail = &job->next;
	pthread_cond_signal(&pool->wake);
	pthread_mutex_unlock(&pool->lock);
}

/*
 * End all threads when no job is left. Returns true if they have ended; else
 * the pool and its jobs must stay.
 * @pool: pool; only its own jobs may submit jobs from then on
 */
bool pool_stop(struct pool *pool, int64_t limit_ms)
{
	bool ended;

	pthread_mutex_lock(&pool->lock);
	pool->stop = true;
	pool->until = now_ms() + limit_ms;
	pthread_cond_broadcast(&pool->wake);
	pthread_cond_signal(&pool->keeper_wake);
	pthread_mutex_unlock(&pool->lock);
	pthread_join(pool->keeper, NULL);
	pthread_mutex_lock(&pool->lock);
	ended = !pool->n;
	pthread_mutex_unlock(&pool->lock);
	return ended;
}
