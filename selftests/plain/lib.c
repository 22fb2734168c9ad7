// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A rank with libinc for a job of plain.c: same operations on the same data.
 *
 *   lib OP...	settings from the environment (libinc(7))
 */
#include <inc/inc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BUF	(16 << 20)

static int32_t *sendbuf, *recvbuf;
static int rank, ranks;

static int32_t value(int r, size_t i)
{
	return (int32_t)(r * 1000 + (int32_t)i);
}

static int operate(struct inc_comm *c, const char *name, size_t n, int root)
{
	const enum inc_dtype t = INC_DTYPE_INT32;

	if (!strcmp(name, "broadcast"))
		return inc_broadcast(c, rank == root ? sendbuf : recvbuf, n, t,
				     root);
	if (!strcmp(name, "allgather"))
		return inc_allgather(c, sendbuf, recvbuf, n, t);
	if (!strcmp(name, "alltoall"))
		return inc_alltoall(c, sendbuf, recvbuf, n, t);
	if (!strcmp(name, "scatter"))
		return inc_scatter(c, sendbuf, recvbuf, n, t, root);
	if (!strcmp(name, "gather"))
		return inc_gather(c, sendbuf, recvbuf, n, t, root);
	if (!strcmp(name, "reduce"))
		return inc_reduce(c, sendbuf, recvbuf, n, t, INC_OP_SUM, root);
	if (!strcmp(name, "allreduce"))
		return inc_allreduce(c, sendbuf, recvbuf, n, t, INC_OP_SUM);
	if (!strcmp(name, "reduce-scatter"))
		return inc_reduce_scatter(c, sendbuf, recvbuf, n, t,
					  INC_OP_SUM);
	return strcmp(name, "barrier") ? -1 : inc_barrier(c);
}

static int32_t expected(const char *name, size_t n, int root, size_t i)
{
	size_t mine = (size_t)rank * n;

	if (!strcmp(name, "broadcast"))
		return value(root, i);
	if (!strcmp(name, "allgather") || !strcmp(name, "gather"))
		return value((int)(i / n), i % n);
	if (!strcmp(name, "alltoall"))
		return value((int)(i / n), mine + i % n);
	if (!strcmp(name, "scatter"))
		return value(root, mine + i);
	if (!strcmp(name, "reduce-scatter"))
		i += mine;
	return (int32_t)(1000 * ranks * (ranks - 1) / 2 + ranks * (int32_t)i);
}

static int check(const char *name, size_t n, int root)
{
	size_t total = n, i;

	if (!strcmp(name, "barrier") ||
	    (!strcmp(name, "broadcast") && rank == root) ||
	    ((!strcmp(name, "gather") || !strcmp(name, "reduce")) &&
	     rank != root))
		return 0;
	if (!strcmp(name, "allgather") || !strcmp(name, "gather") ||
	    !strcmp(name, "alltoall"))
		total *= (size_t)ranks;
	for (i = 0; i < total; i++)
		if (recvbuf[i] != expected(name, n, root, i)) {
			fprintf(stderr, "lib: %s of %zu: element %zu is %d, must be %d\n",
				name, n, i, recvbuf[i],
				expected(name, n, root, i));
			return 1;
		}
	return 0;
}

static int run(struct inc_comm *c, const char *text)
{
	struct timespec a, b;
	unsigned long n;
	char name[32];
	int root = 0, ret;
	size_t i;

	if (sscanf(text, "%31[^:]:%lu:%d", name, &n, &root) < 2)
		return 1;
	for (i = 0; i < n * (size_t)ranks; i++)
		sendbuf[i] = value(rank, i);
	clock_gettime(CLOCK_MONOTONIC, &a);
	ret = operate(c, name, n, root);
	clock_gettime(CLOCK_MONOTONIC, &b);
	if (ret) {
		fprintf(stderr, "lib: %s of %lu: %s\n", name, n,
			inc_strerror(ret));
		return 1;
	}
	printf("time %s %lu %.1f\n", name, n,
	       (double)(b.tv_sec - a.tv_sec) * 1e6 +
		       (double)(b.tv_nsec - a.tv_nsec) / 1e3);
	return check(name, n, root);
}

int main(int argc, char **argv)
{
	struct inc_comm_opts opts = INC_COMM_OPTS_INIT;
	struct inc_comm *c;
	int i;

	sendbuf = malloc(BUF);
	recvbuf = malloc(BUF);
	if (!sendbuf || !recvbuf || inc_comm_create(&c, &opts))
		return 1;
	rank = inc_comm_rank(c);
	ranks = inc_comm_size(c);
	for (i = 1; i < argc; i++)
		if (run(c, argv[i]))
			return 1;
	inc_comm_destroy(c);
	return 0;
}
