// SPDX-License-Identifier: GPL-2.0
/*
 * Times collectives of MPI. Nothing in here knows of INC.
 *
 *   bench [-d DEVICE] [-a OUT] OP:BYTES:ROUNDS[:BATCH]...
 *
 * OP is a collective, BYTES the size of the longer of its buffers on a rank. A
 * round is a barrier, then BATCH operations one after the other. It lasts from
 * the first rank's start to the last rank's end: the ranks' hosts are
 * namespaces of one kernel and share a clock. An uncounted batch before the
 * first round has its results checked.
 *
 * Rank 0 prints a line of JSON for each: microseconds per operation in each
 * round; the CPU's idle share; bytes per operation on the host's link (DEVICE),
 * of the rank with the most. -a: copy inc_account (see account/) to OUT.begin
 * and OUT.end around the rounds.
 */
#include <mpi.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_ROUNDS	1000
#define ACCOUNT		"/sys/kernel/debug/inc_account"

static int me, np;
static const char *device = "eth0", *account_out;

/* A collective on buffers of @n floats, or of @np blocks of @n. */
struct op {
	const char	*name;
	bool		blocks;
	void		(*run)(float *send, float *recv, int n);
	/* element i of (block r of) this rank's data and result */
	float		(*data)(int r, int i);
	float		(*result)(int r, int i);
	/* which ranks have data and results: root alone, or all */
	bool		root_sends;
	bool		root_gets;
};

static float value(int rank, int i)
{
	return (float)((rank * 31 + i * 7) % 257);
}

static float mine(int r, int i)
{
	(void)r;
	return value(me, i);
}

static float of_block(int r, int i)
{
	return value(r, i);
}

static float of_root(int r, int i)
{
	(void)r;
	return value(0, i);
}

/* Sums of small integers: the same in any order. */
static float sum(int r, int i)
{
	float s = 0;

	for (r = 0; r < np; r++)
		s += value(r, i);
	return s;
}

static float pair_out(int r, int i)
{
	return value(me + 13 * r, i);
}

static float pair_in(int r, int i)
{
	return value(r + 13 * me, i);
}

static void run_allreduce(float *send, float *recv, int n)
{
	MPI_Allreduce(send, recv, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static void run_reduce(float *send, float *recv, int n)
{
	MPI_Reduce(send, recv, n, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void run_bcast(float *send, float *recv, int n)
{
	MPI_Bcast(me ? recv : send, n, MPI_FLOAT, 0, MPI_COMM_WORLD);
}

static void run_allgather(float *send, float *recv, int n)
{
	MPI_Allgather(send, n, MPI_FLOAT, recv, n, MPI_FLOAT, MPI_COMM_WORLD);
}

static void run_gather(float *send, float *recv, int n)
{
	MPI_Gather(send, n, MPI_FLOAT, recv, n, MPI_FLOAT, 0, MPI_COMM_WORLD);
}

static void run_scatter(float *send, float *recv, int n)
{
	MPI_Scatter(send, n, MPI_FLOAT, recv, n, MPI_FLOAT, 0, MPI_COMM_WORLD);
}

static void run_alltoall(float *send, float *recv, int n)
{
	MPI_Alltoall(send, n, MPI_FLOAT, recv, n, MPI_FLOAT, MPI_COMM_WORLD);
}

static void run_barrier(float *send, float *recv, int n)
{
	(void)send;
	(void)recv;
	(void)n;
	MPI_Barrier(MPI_COMM_WORLD);
}

/* How much later than the others one rank sends, us. */
#define LATE_US	300

static double now_us(void);

/*
 * The loop of a solver: each rank sends to its two neighbours, then all add a
 * number. MPI_Send() ends when the message has left, or is with Open MPI.
 */
static void exchange(float *send, float *recv, int n)
{
	int left = (me + np - 1) % np, right = (me + 1) % np;
	static float *other;
	static int room;
	MPI_Request r[2];

	if (n > room) {
		other = realloc(other, (size_t)n * sizeof(*other));
		room = n;
	}
	MPI_Irecv(recv, n, MPI_FLOAT, left, 1, MPI_COMM_WORLD, &r[0]);
	MPI_Irecv(other, n, MPI_FLOAT, right, 2, MPI_COMM_WORLD, &r[1]);
	MPI_Send(send, n, MPI_FLOAT, right, 1, MPI_COMM_WORLD);
	MPI_Send(send, n, MPI_FLOAT, left, 2, MPI_COMM_WORLD);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

static void add_numbers(void)
{
	double in = me + 1, out = 0;

	MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	if (out != np * (np + 1) / 2.0) {
		fprintf(stderr, "bench: wrong sum %g\n", out);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
}

static void run_halo(float *send, float *recv, int n)
{
	exchange(send, recv, n);
	add_numbers();
}

/* The same, and one rank after the other computes meanwhile. */
static void run_halolate(float *send, float *recv, int n)
{
	static int round;
	double end = now_us() + LATE_US;

	while (round % np == me && now_us() < end)
		;
	round++;
	run_halo(send, recv, n);
}

static float of_left(int r, int i)
{
	(void)r;
	return value((me + np - 1) % np, i);
}

static const struct op ops[] = {
	{ "allreduce", false, run_allreduce, mine, sum, false, false },
	{ "reduce", false, run_reduce, mine, sum, false, true },
	{ "bcast", false, run_bcast, mine, of_root, true, false },
	{ "allgather", true, run_allgather, mine, of_block, false, false },
	{ "gather", true, run_gather, mine, of_block, false, true },
	{ "scatter", true, run_scatter, of_block, mine, true, false },
	{ "alltoall", true, run_alltoall, pair_out, pair_in, false, false },
	{ "barrier", false, run_barrier, mine, mine, true, true },
	{ "halo", false, run_halo, mine, of_left, false, false },
	{ "halolate", false, run_halolate, mine, of_left, false, false },
};

struct spec {
	const struct op	*op;
	int		bytes;
	int		rounds;
	int		batch;
	int		n;	/* floats of a block */
};

static void die(const char *what, const char *text)
{
	fprintf(stderr, "bench: %s: %s\n", what, text);
	MPI_Abort(MPI_COMM_WORLD, 2);
	exit(2);
}

static struct spec parse(const char *text)
{
	struct spec s = { .batch = 1 };
	char name[32];
	size_t i;

	if (sscanf(text, "%31[a-z]:%d:%d:%d", name, &s.bytes, &s.rounds,
		   &s.batch) < 3 || s.bytes < 0 || s.rounds < 1 ||
	    s.rounds > MAX_ROUNDS || s.batch < 1)
		die("not OP:BYTES:ROUNDS[:BATCH]", text);
	for (i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		if (!strcmp(name, ops[i].name))
			s.op = &ops[i];
	if (!s.op)
		die("no such collective", name);
	s.n = s.bytes / (int)sizeof(float) / (s.op->blocks ? np : 1);
	return s;
}

static float *buffer(const struct spec *s)
{
	size_t blocks = s->op->blocks ? (size_t)np : 1;
	float *p = NULL;

	if (posix_memalign((void **)&p, 4096,
			   ((size_t)s->n * blocks + 1) * sizeof(*p)))
		die("memory", s->op->name);
	return p;
}

static void fill(const struct spec *s, float *send, float *recv)
{
	size_t n = (size_t)s->n, i;

	for (i = 0; i < n * (s->op->blocks ? (size_t)np : 1); i++) {
		send[i] = s->op->data((int)(i / n), (int)(i % n));
		recv[i] = -1;
	}
}

/* The result of a broadcast is the root's data. */
static void check(const struct spec *s, const float *recv)
{
	const struct op *op = s->op;
	size_t blocks = op->blocks && op->run != run_scatter ? (size_t)np : 1;
	size_t n = (size_t)s->n, i;

	if ((op->root_gets && me) || (op->run == run_bcast && !me) ||
	    op->run == run_barrier)
		return;
	for (i = 0; i < n * blocks; i++)
		if (recv[i] != op->result((int)(i / n), (int)(i % n)))
			die("wrong result", op->name);
}

/* --- Readings ----------------------------------------------------------- */

struct reading {
	double	us;
	double	idle;	/* ticks */
	double	ticks;	/* of all that a CPU does */
	double	tx;	/* bytes */
	double	rx;
};

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* This process sees the network devices of its namespace. */
static void read_link(struct reading *r)
{
	FILE *f = fopen("/proc/self/net/dev", "r");
	char line[512], *colon;

	while (f && fgets(line, sizeof(line), f)) {
		colon = strchr(line, ':');
		if (!colon || !strstr(line, device))
			continue;
		sscanf(colon + 1, "%lf %*s %*s %*s %*s %*s %*s %*s %lf", &r->rx,
		       &r->tx);
	}
	if (f)
		fclose(f);
}

/* User, nice, system, idle, and so on: the kernel's sum of all time. */
static void read_idle(struct reading *r)
{
	FILE *f = fopen("/proc/stat", "r");
	double ticks;
	int i;

	if (f && fscanf(f, "cpu") != EOF)
		for (i = 0; i < 8 && fscanf(f, "%lf", &ticks) == 1; i++) {
			r->ticks += ticks;
			if (i == 3)
				r->idle = ticks;
		}
	if (f)
		fclose(f);
}

static void read_account(const char *suffix)
{
	char path[512], text[4096];
	FILE *in, *out;
	size_t n;

	if (!account_out || me)
		return;
	snprintf(path, sizeof(path), "%s.%s", account_out, suffix);
	in = fopen(ACCOUNT, "r");
	out = fopen(path, "w");
	if (!in || !out)
		die("can't copy " ACCOUNT, path);
	n = fread(text, 1, sizeof(text), in);
	if (fwrite(text, 1, n, out) != n || fclose(out))
		die("can't write", path);
	fclose(in);
}

/* All ranks have arrived, none has left. */
static void take(struct reading *r, const char *suffix)
{
	memset(r, 0, sizeof(*r));
	MPI_Barrier(MPI_COMM_WORLD);
	read_account(suffix);
	read_link(r);
	read_idle(r);
	r->us = now_us();
	MPI_Barrier(MPI_COMM_WORLD);
}

/* --- Rounds ------------------------------------------------------------- */

static void one_round(const struct spec *s, float *send, float *recv,
		      double *start, double *end)
{
	int i;

	MPI_Barrier(MPI_COMM_WORLD);
	*start = now_us();
	for (i = 0; i < s->batch; i++)
		s->op->run(send, recv, s->n);
	*end = now_us();
}

static void show(const struct spec *s, const double *first, const double *last,
		 const struct reading *a, const struct reading *b)
{
	double ops = (double)s->rounds * s->batch, link[2], most[2];
	double ticks = b->ticks - a->ticks;
	int i;

	link[0] = (b->tx - a->tx) / ops;
	link[1] = (b->rx - a->rx) / ops;
	MPI_Reduce(link, most, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	if (me)
		return;
	printf("{\"op\":\"%s\",\"size\":%d,\"ranks\":%d,\"idle\":%.4f,\"tx\":%.0f,\"rx\":%.0f,\"us\":[",
	       s->op->name, s->bytes, np,
	       ticks > 0 ? (b->idle - a->idle) / ticks : 0, most[0], most[1]);
	for (i = 0; i < s->rounds; i++)
		printf("%s%.2f", i ? "," : "", (last[i] - first[i]) / s->batch);
	printf("]}\n");
	fflush(stdout);
}

static void measure(const struct spec *s)
{
	static double start[MAX_ROUNDS], end[MAX_ROUNDS];
	static double first[MAX_ROUNDS], last[MAX_ROUNDS];
	float *send = buffer(s), *recv = buffer(s);
	struct reading a, b;
	int i;

	fill(s, send, recv);
	one_round(s, send, recv, &start[0], &end[0]);
	check(s, recv);
	take(&a, "begin");
	for (i = 0; i < s->rounds; i++)
		one_round(s, send, recv, &start[i], &end[i]);
	take(&b, "end");
	MPI_Reduce(start, first, s->rounds, MPI_DOUBLE, MPI_MIN, 0,
		   MPI_COMM_WORLD);
	MPI_Reduce(end, last, s->rounds, MPI_DOUBLE, MPI_MAX, 0,
		   MPI_COMM_WORLD);
	show(s, first, last, &a, &b);
	free(send);
	free(recv);
}

int main(int argc, char **argv)
{
	struct spec s;
	int opt;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &np);
	while ((opt = getopt(argc, argv, "d:a:")) != -1) {
		if (opt == 'd')
			device = optarg;
		else if (opt == 'a')
			account_out = optarg;
		else
			die("usage", "bench [-d DEVICE] [-a OUT] OP:BYTES:ROUNDS[:BATCH]...");
	}
	for (; optind < argc; optind++) {
		s = parse(argv[optind]);
		measure(&s);
	}
	MPI_Finalize();
	return 0;
}
