// SPDX-License-Identifier: GPL-2.0
/*
 * The bits of reductions of floating-point numbers: those of the balanced binary tree
 * over the ranks (Documentation/protocol.rst, "Operations"), computed here without
 * MPI. On communicators of two ranks and more, by blocking, in-place, non-blocking and
 * persistent calls. Prints one KTAP line per call and communicator on rank 0. Nothing
 * in here knows of INC.
 *
 *   bits [SEED [MOST]]	MOST: ranks of the largest communicator
 */
#include <mpi.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST	8209	/* elements of all ranks' parts */

enum kind { ALLREDUCE, REDUCE, BLOCK, SCATTER, NKINDS };
enum how { BLOCKING, IN_PLACE, NONBLOCKING, PERSISTENT, NHOWS };
enum fn { SUM, PROD, MIN, MAX, NFNS };

static const char *const kinds[NKINDS] = {
	"allreduce", "reduce", "reduce_scatter_block", "reduce_scatter",
};
static const char *const hows[NHOWS] = {
	"blocking", "in place", "non-blocking", "persistent",
};

static uint32_t seed = 1;
static int world, me, np, cases, failed;
static int numbers;	/* wrong elements that are no NaN */
static MPI_Comm comm;
static MPI_Op ops[NFNS];
static const int sizes[] = { 2, 3, 4, 5, 7, 8 };

/**
 * struct run - one call
 * @wide: of double, not of float
 * @fn: its operation
 * @n: elements of all ranks' parts
 * @root: root of a Reduce
 * @counts: elements of each rank's part
 */
struct run {
	enum kind	kind;
	enum how	how;
	bool		wide;
	enum fn		fn;
	int		n;
	int		root;
	int		counts[8];
};

/* --- The definition ------------------------------------------------------ */

static uint32_t mix(uint32_t x)
{
	x ^= x >> 16;
	x *= 0x7feb352du;
	x ^= x >> 15;
	x *= 0x846ca68bu;
	return x ^ x >> 16;
}

/* Some elements are NaN, infinite, zero of either sign or subnormal on some ranks. */
static uint64_t value(bool wide, int rank, int i)
{
	uint32_t a = mix(seed + 7919u * (uint32_t)rank + 104729u * (uint32_t)i);
	uint32_t b = mix(a + 1);
	uint64_t sign = a >> 31, frac = (uint64_t)b << 20 ^ a,
		 exp = 1010 + (a >> 8) % 26;

	if (i % 8 == 7 && !(a % 3)) {
		exp = (b & 1) * 2047;
		frac *= b >> 1 & 1;
	}
	if (wide)
		return sign << 63 | exp << 52 | (frac & ((1ull << 52) - 1));
	exp = exp == 2047 ? 255 : exp ? exp - 1023 + 127 : 0;
	return sign << 31 | exp << 23 | (frac & ((1u << 23) - 1));
}

static uint64_t quiet(bool wide, uint64_t x)
{
	return x | 1ull << (wide ? 51 : 22);
}

static bool is_nan(bool wide, uint64_t x)
{
	return wide ? (x & ~(1ull << 63)) > 0x7ffull << 52 :
		      (x & ~(1ull << 31)) > 0xffull << 23;
}

static double number(bool wide, uint64_t x)
{
	uint32_t low = (uint32_t)x;
	double d;
	float f;

	memcpy(&f, &low, sizeof(f));
	memcpy(&d, &x, sizeof(d));
	return wide ? d : (double)f;
}

/*
 * Sums and products of floats are exact enough in double, that rounding twice is
 * rounding once.
 */
static uint64_t bits_of(bool wide, double x)
{
	float f = (float)x;
	uint32_t low;
	uint64_t d;

	if (isnan(x))
		return wide ? 0xfff8ull << 48 : 0xffc00000;
	memcpy(&low, &f, sizeof(low));
	memcpy(&d, &x, sizeof(d));
	return wide ? d : low;
}

static uint64_t combine(bool wide, enum fn fn, uint64_t a, uint64_t b)
{
	double x = number(wide, a), y = number(wide, b);
	bool less = x < y || (x == y && signbit(x));

	if (is_nan(wide, a))
		return quiet(wide, a);
	if (is_nan(wide, b))
		return quiet(wide, b);
	switch (fn) {
	case SUM:
		return bits_of(wide, x + y);
	case PROD:
		return bits_of(wide, x * y);
	case MIN:
		return less ? a : b;
	default:
		return less ? b : a;
	}
}

/* The subtree of @span ranks, if all are there, from @first on. */
static uint64_t reduced(const struct run *r, int first, int span, int i)
{
	uint64_t left;

	if (span == 1)
		return value(r->wide, first, i);
	left = reduced(r, first, span / 2, i);
	if (first + span / 2 >= np)
		return left;
	return combine(r->wide, r->fn, left,
		       reduced(r, first + span / 2, span / 2, i));
}

/* What the definition gives, of the communicator's size: once for all calls. */
static uint64_t *wanted[2][NFNS];

static void define(void)
{
	struct run r = { 0 };
	int wide, fn, i;

	for (wide = 0; wide < 2; wide++)
		for (fn = 0; fn < NFNS; fn++) {
			r.wide = wide;
			r.fn = fn;
			if (!wanted[wide][fn])
				wanted[wide][fn] = calloc(MOST, sizeof(uint64_t));
			for (i = 0; i < MOST; i++)
				wanted[wide][fn][i] = reduced(&r, 0, 8, i);
		}
}

/* --- Calls --------------------------------------------------------------- */

static uint64_t load(const struct run *r, const char *buf, int i)
{
	uint32_t low;
	uint64_t x;

	if (!r->wide) {
		memcpy(&low, buf + 4 * i, sizeof(low));
		return low;
	}
	memcpy(&x, buf + 8 * i, sizeof(x));
	return x;
}

static void fill(const struct run *r, char *buf)
{
	uint64_t x;
	int i;

	for (i = 0; i < r->n; i++) {
		x = value(r->wide, me, i);
		memcpy(buf + (r->wide ? 8 : 4) * i, &x, r->wide ? 8 : 4);
	}
}

static void blocking(const struct run *r, const void *a, void *b)
{
	MPI_Datatype t = r->wide ? MPI_DOUBLE : MPI_FLOAT;
	MPI_Op op = ops[r->fn];

	switch (r->kind) {
	case ALLREDUCE:
		MPI_Allreduce(a, b, r->n, t, op, comm);
		break;
	case REDUCE:
		/* In place, other ranks send theirs from @b. */
		MPI_Reduce(a == MPI_IN_PLACE && me != r->root ? b : a, b, r->n, t,
			   op, r->root, comm);
		break;
	case BLOCK:
		MPI_Reduce_scatter_block(a, b, r->counts[0], t, op, comm);
		break;
	default:
		MPI_Reduce_scatter(a, b, r->counts, t, op, comm);
		break;
	}
}

static void begin(const struct run *r, const void *a, void *b, MPI_Request *q)
{
	MPI_Datatype t = r->wide ? MPI_DOUBLE : MPI_FLOAT;
	MPI_Op op = ops[r->fn];

	switch (r->kind) {
	case ALLREDUCE:
		MPI_Iallreduce(a, b, r->n, t, op, comm, q);
		break;
	case REDUCE:
		MPI_Ireduce(a, b, r->n, t, op, r->root, comm, q);
		break;
	case BLOCK:
		MPI_Ireduce_scatter_block(a, b, r->counts[0], t, op, comm, q);
		break;
	default:
		MPI_Ireduce_scatter(a, b, r->counts, t, op, comm, q);
		break;
	}
}

static void make(const struct run *r, const void *a, void *b, MPI_Request *q)
{
	MPI_Datatype t = r->wide ? MPI_DOUBLE : MPI_FLOAT;
	MPI_Info none = MPI_INFO_NULL;
	MPI_Op op = ops[r->fn];

	switch (r->kind) {
	case ALLREDUCE:
		MPI_Allreduce_init(a, b, r->n, t, op, comm, none, q);
		break;
	case REDUCE:
		MPI_Reduce_init(a, b, r->n, t, op, r->root, comm, none, q);
		break;
	case BLOCK:
		MPI_Reduce_scatter_block_init(a, b, r->counts[0], t, op, comm, none,
					      q);
		break;
	default:
		MPI_Reduce_scatter_init(a, b, r->counts, t, op, comm, none, q);
		break;
	}
}

/* Count the elements of this rank's result that have other bits. */
static int wrong(const struct run *r, const char *b)
{
	const uint64_t *want = wanted[r->wide][r->fn];
	int first = 0, n = r->n, i, bad = 0, other;

	if (r->kind == REDUCE && me != r->root)
		return 0;
	if (r->kind == BLOCK || r->kind == SCATTER) {
		n = r->counts[me];
		for (i = 0; i < me; i++)
			first += r->counts[i];
	}
	for (i = 0; i < n; i++) {
		other = load(r, b, i) != want[first + i];
		bad += other;
		numbers += other && !is_nan(r->wide, want[first + i]);
	}
	return bad;
}

/* A persistent one is made once, and started twice. */
static int go(const struct run *r)
{
	char *a = malloc(8 * MOST), *b = malloc(8 * MOST);
	MPI_Request q;
	int bad, i;

	fill(r, r->how == IN_PLACE ? b : a);
	switch (r->how) {
	case BLOCKING:
		blocking(r, a, b);
		break;
	case IN_PLACE:
		blocking(r, MPI_IN_PLACE, b);
		break;
	case NONBLOCKING:
		begin(r, a, b, &q);
		MPI_Wait(&q, MPI_STATUS_IGNORE);
		break;
	default:
		make(r, a, b, &q);
		for (i = 0; i < 2; i++) {
			memset(b, 0x55, 8 * MOST);
			MPI_Start(&q);
			MPI_Wait(&q, MPI_STATUS_IGNORE);
		}
		MPI_Request_free(&q);
		break;
	}
	bad = wrong(r, b);
	free(a);
	free(b);
	return bad;
}

/* Non-blocking ones that go on at the same time, of each length, in one order. */
static int together(struct run *r, const int *lengths, int n)
{
	char *a[8], *b[8];
	MPI_Request q[8];
	int i, bad = 0;

	for (i = 0; i < n; i++) {
		r->n = lengths[i];
		a[i] = malloc(8 * MOST);
		b[i] = malloc(8 * MOST);
		fill(r, a[i]);
		begin(r, a[i], b[i], &q[i]);
	}
	MPI_Waitall(n, q, MPI_STATUSES_IGNORE);
	for (i = 0; i < n; i++) {
		r->n = lengths[i];
		bad += wrong(r, b[i]);
		free(a[i]);
		free(b[i]);
	}
	return bad;
}

static void verdict(const char *kind, const char *how, int bad)
{
	int mine[2] = { bad, numbers }, all[2];

	PMPI_Allreduce(mine, all, 2, MPI_INT, MPI_SUM, comm);
	numbers = 0;
	cases++;
	if (world)
		return;
	failed += all[0] > 0;
	printf("%s %d - %s, %s, %d ranks%s\n", all[0] ? "not ok" : "ok", cases, kind,
	       how, np, all[0] ? " # other bits" : "");
	if (all[0])
		printf("# %d elements have other bits, %d numbers\n", all[0], all[1]);
	fflush(stdout);
}

/* Parts that differ: none, some, twice as many. Returns how many in all. */
static int share(struct run *r, int n)
{
	int i, all = 0;

	for (i = 0; i < np; i++) {
		r->counts[i] = r->kind == SCATTER ? n / np * (i % 3) : n / np;
		all += r->counts[i];
	}
	return r->kind == BLOCK || r->kind == SCATTER ? all : n;
}

static void call(enum kind kind, enum how how, const int *lengths, int n)
{
	struct run r = { .kind = kind, .how = how };
	int i, wide, fn, bad = 0;

	for (wide = 0; wide < 2; wide++)
		for (fn = 0; fn < NFNS; fn++)
			for (i = 0; i < n; i++) {
				/* Each persistent one has a tree to itself. */
				if (fn && (how == PERSISTENT || i < 2 || i > 3))
					continue;
				if (how == PERSISTENT && wide && i)
					continue;
				r.wide = wide;
				r.fn = fn;
				r.n = share(&r, lengths[i]);
				r.root = (wide + fn + i) % np;
				bad += go(&r);
			}
	verdict(kinds[kind], hows[how], bad);
}

static void of_size(int size)
{
	const int lengths[] = { 0, 1, 3 * size + 1, 4097, MOST };
	const int n = sizeof(lengths) / sizeof(*lengths);
	struct run r = { .kind = ALLREDUCE };
	int kind, how;

	/* Of odd size: in another order than the hosts. */
	MPI_Comm_split(MPI_COMM_WORLD, world < size ? 0 : MPI_UNDEFINED,
		       size % 2 ? -world : world, &comm);
	if (comm == MPI_COMM_NULL)
		return;
	MPI_Comm_rank(comm, &me);
	MPI_Comm_size(comm, &np);
	define();
	verdict("allreduces", "at the same time", together(&r, lengths, n));
	for (how = 0; how < NHOWS; how++)
		for (kind = 0; kind < NKINDS; kind++)
			call(kind, how, lengths, n);
	MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
	int most;
	size_t i;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &world);
	MPI_Comm_size(MPI_COMM_WORLD, &most);
	seed = argc > 1 ? (uint32_t)atoi(argv[1]) : 1;
	if (argc > 2 && atoi(argv[2]) < most)
		most = atoi(argv[2]);
	ops[SUM] = MPI_SUM;
	ops[PROD] = MPI_PROD;
	ops[MIN] = MPI_MIN;
	ops[MAX] = MPI_MAX;
	if (!world)
		printf("# seed %u\n", seed);
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		if (sizes[i] <= most)
			of_size(sizes[i]);
	if (!world)
		printf("1..%d\n", cases);
	MPI_Finalize();
	return failed ? 1 : 0;
}
