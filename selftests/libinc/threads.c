// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Threads as libinc(7) allows them: communicators of their own, made and ended
 * concurrently, over all ranks or some of them; one communicator that is handed
 * from thread to thread; functions that any thread may call at any time; fork()
 * in the middle of it. Built with ThreadSanitizer as well.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "parts.h"
#include "rank.h"

#define MAX_THREADS	16
#define OUTSTANDING	6
#define COUNT		3000

static int me, np, nthreads, rounds;
static unsigned int seed;
static atomic_uint log_lines;
static atomic_bool finished;

/* One communicator, used in turns. */
static struct {
	pthread_mutex_t	lock;
	pthread_cond_t	changed;
	struct inc_comm	*comm;
	int		turn;		/* guarded by lock */
} shared = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.changed = PTHREAD_COND_INITIALIZER,
};

/* The same on all ranks. */
static unsigned int mix(unsigned int a, unsigned int b, unsigned int c)
{
	unsigned int x = seed ^
			 (a * 0x9e3779b1u + b * 0x85ebca6bu + c * 0xc2b2ae35u);

	x ^= x >> 15;
	x *= 0x2c1b3c6du;
	return x ^ x >> 13;
}

/* Every third thread's communicator lacks one rank. Returns the new rank. */
static int rank_in(int t, int round, int *n)
{
	int out = t % 3 == 2 && np > 2 ? (t + round) % np : np;

	*n = out < np ? np - 1 : np;
	return me == out ? -1 : me > out ? me - 1 : me;
}

static void fill(int32_t *data, size_t count, int rank, unsigned int salt)
{
	size_t i;

	for (i = 0; i < count; i++)
		data[i] = (int32_t)(salt + i * 3 + (unsigned int)rank);
}

static void check_sum(const int32_t *data, size_t count, int n,
		      unsigned int salt)
{
	unsigned int base = (unsigned int)(n * (n - 1) / 2);
	size_t i;

	for (i = 0; i < count; i++)
		if (data[i] != (int32_t)((unsigned int)n *
					 (salt + (unsigned int)i * 3) + base))
			break;
	EQ(i, count);
}

/* Run one operation and wait for it in one of three ways. */
static void one(struct inc_comm *comm, int32_t *data, size_t count,
		unsigned int salt)
{
	struct inc_request *req;
	int ret, done;

	fill(data, count, inc_comm_rank(comm), salt);
	MUST(inc_iallreduce(comm, INC_IN_PLACE, data, count, INC_DTYPE_INT32,
			    INC_OP_SUM, &req));
	switch (salt % 3) {
	case 0:
		ret = inc_request_wait(req);
		break;
	case 1:
		while ((ret = inc_request_wait_for(req, 2)) == -EAGAIN)
			;
		break;
	default:
		do {
			ret = inc_request_test(req, &done);
		} while (!done);
		break;
	}
	MUST(ret);
	inc_request_free(req);
	check_sum(data, count, inc_comm_size(comm), salt);
}

/* Several at once, some of them persistent; wait for the last one first. */
static void several(struct inc_comm *comm, int32_t (*data)[COUNT],
		    unsigned int salt)
{
	struct inc_request *req[OUTSTANDING];
	int i, again;

	for (i = 0; i < OUTSTANDING; i += 2)
		MUST(inc_allreduce_init(comm, INC_IN_PLACE, data[i], COUNT,
					INC_DTYPE_INT32, INC_OP_SUM, &req[i]));
	for (again = 0; again < 2; again++) {
		for (i = 0; i < OUTSTANDING; i++) {
			fill(data[i], COUNT, inc_comm_rank(comm),
			     salt + (unsigned int)i);
			if (i % 2 == 0)
				MUST(inc_request_start(req[i]));
			else
				MUST(inc_iallreduce(comm, INC_IN_PLACE, data[i],
						    COUNT, INC_DTYPE_INT32,
						    INC_OP_SUM, &req[i]));
		}
		for (i = OUTSTANDING - 1; i >= 0; i--) {
			MUST(inc_request_wait(req[i]));
			check_sum(data[i], COUNT, inc_comm_size(comm),
				  salt + (unsigned int)i);
			if (i % 2)
				inc_request_free(req[i]);
		}
	}
	for (i = 0; i < OUTSTANDING; i += 2)
		inc_request_free(req[i]);
}

/* Use the communicator that all threads share, in this thread's turn. */
static void use_shared(int t, int round, int32_t *data)
{
	pthread_mutex_lock(&shared.lock);
	while (shared.turn != round * nthreads + t)
		pthread_cond_wait(&shared.changed, &shared.lock);
	one(shared.comm, data,
	    mix(99, (unsigned int)round, (unsigned int)t) % COUNT,
	    mix(98, (unsigned int)round, (unsigned int)t));
	shared.turn++;
	pthread_cond_broadcast(&shared.changed);
	pthread_mutex_unlock(&shared.lock);
}

static void *work(void *arg)
{
	int t = (int)(intptr_t)arg, round, rank, n, i;
	struct inc_comm_info info = { .size = sizeof(info) };
	int32_t (*data)[COUNT] = malloc(OUTSTANDING * sizeof(*data));
	struct inc_comm *comm;
	unsigned int salt;
	char suffix[32];

	for (round = 0; round < rounds; round++) {
		use_shared(t, round, data[0]);
		rank = rank_in(t, round, &n);
		if (rank < 0)
			continue;
		snprintf(suffix, sizeof(suffix), ".%d.%d", t, round);
		comm = live_join(suffix, rank, n);
		for (i = 0; i < 12; i++) {
			salt = mix((unsigned int)t, (unsigned int)round,
				   (unsigned int)i);
			one(comm, data[0], salt % COUNT, salt);
		}
		several(comm, data,
			mix((unsigned int)t, (unsigned int)round, 77));
		EQ(inc_barrier(comm), 0);
		EQ(inc_comm_query(comm, &info), 0);
		EQ(info.begun, info.operations);
		EQ(info.messages, info.results);
		EQ(inc_comm_destroy(comm), 0);
	}
	free(data);
	return NULL;
}

static void hook(enum inc_log_level level, const char *line, void *arg)
{
	(void)level;
	(void)arg;
	if (*line)
		atomic_fetch_add(&log_lines, 1);
}

/* Fork while other threads work: the child must neither hang nor do harm. */
static void fork_once(void)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		alarm(60);
		_exit(inc_barrier(shared.comm) == -ESTALE &&
		      !inc_comm_destroy(shared.comm) ? 0 : 1);
	}
	EQ(waitpid(pid, &status, 0), pid);
	EQ(status, 0);
}

/* Functions that any thread may call at any time. */
static void *disturb(void *arg)
{
	unsigned int i;

	(void)arg;
	for (i = 0; !atomic_load(&finished); i++) {
		inc_log_set(i % 3 ? hook : NULL, NULL,
			    i % 3 ? INC_LOG_DEBUG : INC_LOG_NONE);
		inc_log_set_format(i % 2 ? INC_LOG_JSON : INC_LOG_TEXT);
		inc_comm_set_timeout(shared.comm, 30000 + i % 2);
		EQ(inc_comm_rank(shared.comm), me);
		OK(inc_strerror(-(int)(i % 130)));
		if (i % 40 == 20)
			fork_once();
		nanosleep(&(struct timespec){ .tv_nsec = 3000000 }, NULL);
	}
	inc_log_set(NULL, NULL, INC_LOG_NONE);
	return NULL;
}

int live_threads(int rank, int nranks, int argc, char **argv)
{
	pthread_t thread[MAX_THREADS], other;
	int i;

	me = rank;
	np = nranks;
	nthreads = argc > 0 ? atoi(argv[0]) : 4;
	rounds = argc > 1 ? atoi(argv[1]) : 3;
	seed = argc > 2 ? (unsigned int)atoi(argv[2]) : 1;
	if (nthreads < 1 || nthreads > MAX_THREADS)
		return 2;
	shared.comm = live_join(".shared", rank, nranks);
	pthread_create(&other, NULL, disturb, NULL);
	for (i = 0; i < nthreads; i++)
		pthread_create(&thread[i], NULL, work, (void *)(intptr_t)i);
	for (i = 0; i < nthreads; i++)
		pthread_join(thread[i], NULL);
	atomic_store(&finished, true);
	pthread_join(other, NULL);
	EQ(inc_comm_destroy(shared.comm), 0);
	printf("# %u lines of log\n", atomic_load(&log_lines));
	OK(atomic_load(&log_lines) > 0);
	live_ok("threads");
	return live_errors ? 1 : 0;
}
