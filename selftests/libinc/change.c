// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Communicators that change from RC to UC under what a program may do: collectives
 * in which a rank's own block is copied by the library, begun anew and started again;
 * two communicators that ranks wait for in another order; and a rank that computes
 * for longer than the time limit while they change.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "parts.h"
#include "rank.h"

#define BLOCK	1000	/* elements: many messages over UC, one over RC */
#define RANKS	8
#define AFTER	50	/* operations over UC */
#define MOST	20000	/* operations until it has changed */
#define KINDS	4
#define LIMIT_MS	3000
#define LONG_MS		60000

static int me, n;

static bool has_changed(struct inc_comm *comm)
{
	struct inc_comm_info info = { .size = sizeof(info) };

	EQ(inc_comm_query(comm, &info), 0);
	return info.qp_type == INC_QP_UC;
}

/* What rank @from has for rank @to. */
static int32_t element(int kind, int round, int from, int to, int i)
{
	return ((kind * 1000 + round) * RANKS + from) * RANKS + to + i * 7;
}

/* Does the result's block @k hold what it has to? Own blocks are the library's. */
static void check_block(const int32_t *block, int kind, int round, int k)
{
	static const char *const names[] = {
		"AllGather", "Gather", "Scatter", "AllToAll"
	};
	int from = kind == 2 ? 0 : k, to = kind < 2 ? 0 : me, i;

	for (i = 0; i < BLOCK; i++)
		if (block[i] != element(kind, round, from, to, i))
			break;
	if (i == BLOCK)
		return;
	printf("%s %d: element %d of block %d is %d, must be %d\n", names[kind],
	       round, i, k, block[i], element(kind, round, from, to, i));
	live_errors++;
}

static int begin(struct inc_comm *comm, int kind, int32_t *send, int32_t *recv,
		 struct inc_request **req, bool again)
{
	const enum inc_dtype dtype = INC_DTYPE_INT32;

	switch (kind) {
	case 0:
		return (again ? inc_allgather_init : inc_iallgather)
			(comm, send, recv, BLOCK, dtype, req);
	case 1:
		return (again ? inc_gather_init : inc_igather)
			(comm, send, recv, BLOCK, dtype, 0, req);
	case 2:
		return (again ? inc_scatter_init : inc_iscatter)
			(comm, send, recv, BLOCK, dtype, 0, req);
	default:
		return (again ? inc_alltoall_init : inc_ialltoall)
			(comm, send, recv, BLOCK, dtype, req);
	}
}

static void fill(int kind, int round, int32_t *send, int32_t *recv)
{
	int k, i;

	for (k = 0; k < n; k++)
		for (i = 0; i < BLOCK; i++) {
			send[k * BLOCK + i] = element(kind, round, me,
						      kind < 2 ? 0 : k, i);
			recv[k * BLOCK + i] = -77;
		}
}

static void check(int kind, int round, const int32_t *recv)
{
	int k;

	if (kind == 2)
		check_block(recv, kind, round, 0);
	else if (kind != 1 || !me)
		for (k = 0; k < n; k++)
			check_block(recv + k * BLOCK, kind, round, k);
}

/* Each kind in turn, as persistent ones, too. */
static void own_blocks(bool again)
{
	static int32_t send[KINDS][RANKS * BLOCK], recv[KINDS][RANKS * BLOCK];
	struct inc_comm *comm = live_join(again ? ".again" : ".own", me, n);
	struct inc_request *req[KINDS] = { 0 };
	int round, kind, left = AFTER;

	for (kind = 0; again && kind < KINDS; kind++)
		MUST(begin(comm, kind, send[kind], recv[kind], &req[kind], true));
	for (round = 0; left && round < MOST; round++) {
		for (kind = 0; kind < KINDS; kind++) {
			fill(kind, round, send[kind], recv[kind]);
			MUST(again ? inc_request_start(req[kind]) :
			     begin(comm, kind, send[kind], recv[kind],
				   &req[kind], false));
		}
		for (kind = 0; kind < KINDS; kind++) {
			MUST(inc_request_wait(req[kind]));
			check(kind, round, recv[kind]);
			if (!again)
				inc_request_free(req[kind]);
		}
		/* All ranks end together. */
		left -= has_changed(comm);
		MUST(inc_allreduce(comm, INC_IN_PLACE, &left, 1, INC_DTYPE_INT32,
				   INC_OP_MAX));
	}
	EQ(left, 0);
	for (kind = 0; again && kind < KINDS; kind++)
		inc_request_free(req[kind]);
	EQ(inc_comm_destroy(comm), 0);
}

/* Rank 0 waits for one communicator first, rank 1 for the other. */
static void crosswise(double seconds)
{
	struct inc_comm *comm[2] = {
		live_join(".x", me, n), live_join(".y", me, n)
	};
	double until = live_now_ms() + seconds * 1000;
	struct inc_request *req[2];
	int32_t sum[2], end = 0;
	static int32_t big[4096];
	int i, k;

	while (!end) {
		for (i = 0; i < 2; i++) {
			MUST(inc_allreduce(comm[i], INC_IN_PLACE, big, 4096,
					   INC_DTYPE_INT32, INC_OP_MAX));
			sum[i] = 1;
			MUST(inc_iallreduce(comm[i], INC_IN_PLACE, &sum[i], 1,
					    INC_DTYPE_INT32, INC_OP_SUM,
					    &req[i]));
		}
		for (i = 0; i < 2; i++) {
			k = i ^ (me & 1);
			MUST(inc_request_wait(req[k]));
			EQ(sum[k], n);
			inc_request_free(req[k]);
		}
		end = live_now_ms() > until;
		MUST(inc_allreduce(comm[0], INC_IN_PLACE, &end, 1,
				   INC_DTYPE_INT32, INC_OP_MAX));
	}
	for (i = 0; i < 2; i++)
		EQ(inc_comm_destroy(comm[i]), 0);
}

/* What the ranks tell each other without libinc: they are on one machine. */
static struct shared {
	volatile int	begun;	/* by rank 0 */
	volatile int	away;	/* it computes after that operation */
} *shared;

static volatile bool is_asked, has_counted;

/* The ranks have agreed on the last operation over RC, and not yet left it. */
static void hear(enum inc_log_level level, const char *line, void *arg)
{
	(void)level;
	(void)arg;
	if (!strstr(line, "~uc-"))
		return;
	is_asked = true;
	if (strstr(line, "allreduce ends"))
		has_counted = true;
}

static void name_shared(char path[128])
{
	snprintf(path, 128, "/dev/shm/%s", getenv("INC_JOB"));
}

static void share(void)
{
	char path[128];
	int fd;

	name_shared(path);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	MUST(fd < 0 || ftruncate(fd, sizeof(*shared)));
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED,
		      fd, 0);
	MUST(shared == MAP_FAILED);
	close(fd);
}

/* The others use another communicator meanwhile, or wait for rank 0. */
static void while_away(struct inc_comm *other)
{
	double until = live_now_ms() + LIMIT_MS * 3 / 2;
	int end;

	do {
		end = live_now_ms() > until;
		MUST(inc_allreduce(other, INC_IN_PLACE, &end, 1, INC_DTYPE_INT32,
				   INC_OP_MAX));
		usleep(500);
	} while (!end);
}

/* Returns whether it came to that: rank 0 computes in the middle of a change. */
static bool away(struct inc_comm *comm, struct inc_comm *other, bool waits)
{
	static int32_t big[50000];
	static int k;		/* counts on: what is shared may be old */
	bool raised = false;
	int32_t left = AFTER;
	int end = k + MOST;

	while (left && ++k < end) {
		bool counted = has_counted;

		if (waits && is_asked && !raised) {
			EQ(inc_comm_set_timeout(comm, LONG_MS), 0);
			raised = true;
		}
		if (!me)
			shared->begun = k;
		while (other && shared->begun < k && shared->away != k - 1)
			usleep(100);
		if (other && shared->away && shared->away == k - 1)
			while_away(other);
		big[0] = left - has_changed(comm);
		MUST(inc_allreduce(comm, INC_IN_PLACE, big, 50000, INC_DTYPE_INT32,
				   INC_OP_MAX));
		left = big[0];
		if (!me && has_counted && !counted) {
			shared->away = k;
			usleep(LIMIT_MS * 2 * 1000);
		}
	}
	EQ(left, 0);
	return shared->away;
}

/*
 * Rank 0 computes for longer than the time limit. Nobody waits for it; or they do,
 * and have raised the limit.
 */
static void computes(bool waits)
{
	struct inc_comm *comm, *other;
	bool came = false;
	char path[128], name[16];
	int i;

	share();
	inc_log_set(hear, NULL, INC_LOG_DEBUG);
	for (i = 0; i < 5 && !came; i++) {
		snprintf(name, sizeof(name), ".%d", i);
		comm = live_join(name, me, n);
		EQ(inc_comm_set_timeout(comm, LIMIT_MS), 0);
		snprintf(name, sizeof(name), ".b%d", i);
		other = me && !waits ? live_join(name, me - 1, n - 1) : NULL;
		is_asked = false;
		has_counted = false;
		came = away(comm, other, waits);
		EQ(inc_comm_destroy(comm), 0);
		EQ(inc_comm_destroy(other), 0);
	}
	name_shared(path);
	unlink(path);
	printf("# it came to that in communicator %d\n", i);
	OK(came);
}

/**
 * live_change() - what communicators that change have to bear
 * @rank: rank
 * @nranks: number of ranks, 8 at most
 * @argc: number of arguments
 * @argv: "own", "computes", "computes_waits", or "cross" and seconds
 *
 * Return: exit status.
 */
int live_change(int rank, int nranks, int argc, char **argv)
{
	me = rank;
	n = nranks;
	if (argc == 2) {
		crosswise(atof(argv[1]));
	} else if (!strncmp(argv[0], "computes", 8)) {
		computes(argv[0][8]);
	} else {
		own_blocks(false);
		own_blocks(true);
	}
	live_ok("change");
	return live_errors ? 1 : 0;
}
