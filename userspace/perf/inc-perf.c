// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * inc-perf: how long collectives take, in the manner of the OSU tables, and
 * whether their results are right. One process per rank; uses libinc only.
 *
 * The clock is read twice per repetition, not per operation: where a system call
 * is dear, reading the clock would be most of what is measured.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ref.h"

#define GUARD		64	/* bytes around a buffer */
#define GUARD_BYTE	0xa5
#define MAX_OUTSTANDING	64
#define MAX_REPS	1000
#define MAX_COUNTS	64
#define SIZE_MIN	4
#define SIZE_MAX_DEFAULT (1 << 20)

enum reg { REG_PIN, REG_EACH, REG_CACHE };

struct options {
	struct inc_comm_opts	comm;
	bool			barrier;
	enum inc_dtype		dtype;
	enum inc_op		op;
	size_t			min;		/* bytes */
	size_t			max;
	size_t			counts[MAX_COUNTS]; /* elements; instead of sizes */
	unsigned int		ncounts;
	long			iterations;	/* -1: by size */
	long			warmup;		/* -1: by size */
	long			reps;
	long			checks;		/* verified operations per size */
	long			runs;		/* times the same, hash compared */
	long			outstanding;
	uint64_t		seed;
	enum ref_pattern	pattern;
	bool			in_place;
	bool			json;
	enum reg		reg;
};

/* A buffer with guards around it. */
struct buf {
	uint8_t	*mem;
	uint8_t	*data;
	size_t	len;
};

struct perf {
	struct options	o;
	struct inc_comm	*comm;
	int		rank;
	int		nranks;
	size_t		esize;
	struct buf	send[MAX_OUTSTANDING];
	struct buf	recv[MAX_OUTSTANDING];
	uint64_t	*vals;		/* one element of each rank */
	unsigned int	results;	/* printed so far */
};

static void complain(const struct perf *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void complain(const struct perf *p, const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fprintf(stderr, "inc-perf: rank %d: ", p->rank);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/* Says that a libinc call failed. Returns @err. */
static int failed(const struct perf *p, const char *what, int err)
{
	complain(p, "%s: error %d: %s", what, -err, inc_comm_strerror(p->comm));
	return err;
}

static double now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

/* --- Buffers ------------------------------------------------------------------------ */

static int buf_alloc(struct perf *p, struct buf *b, size_t len)
{
	int ret;

	b->mem = aligned_alloc(4096, (len + 4096 + GUARD + 4095) / 4096 * 4096);
	if (!b->mem) {
		complain(p, "no memory for %zu bytes", len);
		return -ENOMEM;
	}
	b->data = b->mem + 4096;
	b->len = len;
	memset(b->data, 0, len);
	memset(b->data - GUARD, GUARD_BYTE, GUARD);
	memset(b->data + len, GUARD_BYTE, GUARD);
	if (p->o.reg != REG_PIN || !len)
		return 0;
	ret = inc_mem_reg(p->comm, b->data, len);
	return ret ? failed(p, "registering memory", ret) : 0;
}

static void buf_free(struct perf *p, struct buf *b)
{
	if (!b->mem)
		return;
	if (p->o.reg == REG_PIN)
		inc_mem_dereg(p->comm, b->data, b->len);
	else if (p->o.reg == REG_CACHE)
		inc_mem_invalidate(p->comm, b->data, b->len);
	free(b->mem);
	b->mem = NULL;
}

static int alloc_all(struct perf *p, size_t len)
{
	long i;

	for (i = 0; i < p->o.outstanding; i++) {
		if (buf_alloc(p, &p->recv[i], len))
			return -ENOMEM;
		if (!p->o.in_place && buf_alloc(p, &p->send[i], len))
			return -ENOMEM;
	}
	return 0;
}

static void free_all(struct perf *p)
{
	long i;

	for (i = 0; i < p->o.outstanding; i++) {
		buf_free(p, &p->recv[i]);
		buf_free(p, &p->send[i]);
	}
}

static bool guard_ok(const struct buf *b)
{
	size_t i;

	for (i = 0; i < GUARD; i++)
		if (b->data[-1 - (ptrdiff_t)i] != GUARD_BYTE ||
		    b->data[b->len + i] != GUARD_BYTE)
			return false;
	return true;
}

static void fill(const struct perf *p, struct buf *b, size_t count,
		 uint64_t seed)
{
	size_t i;

	for (i = 0; i < count; i++)
		ref_store(b->data, p->esize, i,
			  ref_input(p->o.dtype, p->o.pattern, seed,
				    (unsigned int)p->rank, i));
}

/* --- Operations --------------------------------------------------------------------- */

static const void *send_of(const struct perf *p, long i)
{
	return p->o.in_place ? INC_IN_PLACE : p->send[i].data;
}

static int start(struct perf *p, long i, size_t count, struct inc_req **req)
{
	if (p->o.barrier)
		return inc_ibarrier(p->comm, req);
	return inc_iallreduce(p->comm, send_of(p, i), p->recv[i].data, count,
			      p->o.dtype, p->o.op, req);
}

/* One operation, or as many as are to be outstanding at once. */
static int operate(struct perf *p, size_t count)
{
	struct inc_req *req[MAX_OUTSTANDING];
	int ret = 0, err;
	long i, n;

	if (p->o.outstanding == 1) {
		if (p->o.barrier)
			ret = inc_barrier(p->comm);
		else
			ret = inc_allreduce(p->comm, send_of(p, 0),
					    p->recv[0].data, count, p->o.dtype,
					    p->o.op);
		return ret ? failed(p, "operation", ret) : 0;
	}
	for (n = 0; n < p->o.outstanding && !ret; n++)
		ret = start(p, n, count, &req[n]);
	n -= ret ? 1 : 0;
	for (i = n - 1; i >= 0; i--) {
		err = inc_wait(req[i]);
		ret = ret ? ret : err;
		inc_request_free(req[i]);
	}
	return ret ? failed(p, "operation", ret) : 0;
}

/* --- Check ------------------------------------------------------------------------------ */

static int compare(struct perf *p, const struct buf *b, size_t count,
		   uint64_t seed)
{
	uint64_t got, want;
	size_t i;
	int r;

	for (i = 0; i < count; i++) {
		for (r = 0; r < p->nranks; r++)
			p->vals[r] = ref_input(p->o.dtype, p->o.pattern, seed,
					       (unsigned int)r, i);
		want = ref_reduce(p->o.dtype, p->o.op, p->vals,
				  (unsigned int)p->nranks);
		got = ref_load(b->data, p->esize, i);
		if (got == want)
			continue;
		complain(p, "wrong result: %s %s, %zu elements, seed %" PRIu64 ": element %zu is 0x%0*" PRIx64 ", must be 0x%0*" PRIx64,
			 inc_dtype_name(p->o.dtype), inc_op_name(p->o.op), count,
			 seed, i, (int)(2 * p->esize), got, (int)(2 * p->esize),
			 want);
		return -EILSEQ;
	}
	return 0;
}

static int check_send(struct perf *p, const struct buf *b, size_t count,
		      uint64_t seed)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (ref_load(b->data, p->esize, i) !=
		    ref_input(p->o.dtype, p->o.pattern, seed,
			      (unsigned int)p->rank, i)) {
			complain(p, "send buffer changed at element %zu of %zu",
				 i, count);
			return -EILSEQ;
		}
	return 0;
}

static int check_buffers(struct perf *p, long i, size_t count, uint64_t seed)
{
	int ret = compare(p, &p->recv[i], count, seed);

	if (!ret && !p->o.in_place)
		ret = check_send(p, &p->send[i], count, seed);
	if (!ret && (!guard_ok(&p->recv[i]) ||
		     (!p->o.in_place && !guard_ok(&p->send[i])))) {
		complain(p, "memory around a buffer of %zu elements was written to",
			 count);
		ret = -EILSEQ;
	}
	return ret;
}

/* Do all ranks agree that all is well? */
static int agree(struct perf *p, int ret)
{
	int32_t bad = ret ? 1 : 0;
	int err;

	err = inc_allreduce(p->comm, INC_IN_PLACE, &bad, 1, INC_DTYPE_INT32,
			    INC_OP_SUM);
	if (err)
		return failed(p, "comparing notes", err);
	if (bad && !p->rank)
		complain(p, "check failed on %d of %d ranks", bad, p->nranks);
	return bad ? -EILSEQ : 0;
}

/* Verified operations, each with other data. */
static int check_size(struct perf *p, size_t count)
{
	uint64_t seed;
	int ret = 0;
	long n, i;

	for (n = 0; n < p->o.checks; n++) {
		seed = p->o.seed + (uint64_t)n * MAX_OUTSTANDING;
		for (i = 0; i < p->o.outstanding; i++) {
			struct buf *b = p->o.in_place ? &p->recv[i] :
							&p->send[i];

			if (!p->o.in_place)
				memset(p->recv[i].data, GUARD_BYTE,
				       count * p->esize);
			fill(p, b, count, seed + (uint64_t)i);
		}
		ret = operate(p, count);
		if (ret)
			return ret;
		for (i = 0; i < p->o.outstanding && !ret; i++)
			ret = check_buffers(p, i, count, seed + (uint64_t)i);
		ret = agree(p, ret);
		if (ret)
			return ret;
	}
	return 0;
}

/* --- Many runs, one bit pattern ------------------------------------------------------ */

static int repeat_hash(struct perf *p, size_t count)
{
	uint64_t hash, first = 0;
	int ret = 0;
	long n;

	for (n = 0; n < p->o.runs && !ret; n++) {
		if (n == 0 || p->o.in_place)
			fill(p, p->o.in_place ? &p->recv[0] : &p->send[0], count,
			     p->o.seed);
		ret = operate(p, count);
		if (ret)
			return ret;
		hash = ref_hash(p->recv[0].data, count * p->esize);
		if (!n)
			first = hash;
		if (hash != first) {
			complain(p, "run %ld gave hash %016" PRIx64 ", the first %016" PRIx64,
				 n, hash, first);
			ret = -EILSEQ;
		}
	}
	ret = agree(p, ret);
	if (ret)
		return ret;
	if (p->o.json && !p->rank)
		printf("{\"size\":%zu,\"count\":%zu,\"runs\":%ld,\"hash\":\"%016" PRIx64 "\"}\n",
		       count * p->esize, count, p->o.runs, first);
	else if (!p->rank)
		printf("%zu bytes, %ld runs: hash %016" PRIx64 "\n",
		       count * p->esize, p->o.runs, first);
	return 0;
}

/* --- Measurement ---------------------------------------------------------------------- */

/* Latencies of all ranks in one repetition, microseconds. */
struct sample {
	double	avg;
	double	min;
	double	max;
};

static int gather(struct perf *p, double us, struct sample *s)
{
	s->avg = us;
	s->min = us;
	s->max = us;
	if (inc_allreduce(p->comm, INC_IN_PLACE, &s->avg, 1, INC_DTYPE_FP64,
			  INC_OP_SUM) ||
	    inc_allreduce(p->comm, INC_IN_PLACE, &s->min, 1, INC_DTYPE_FP64,
			  INC_OP_MIN) ||
	    inc_allreduce(p->comm, INC_IN_PLACE, &s->max, 1, INC_DTYPE_FP64,
			  INC_OP_MAX))
		return failed(p, "gathering times", -EIO);
	s->avg /= p->nranks;
	return 0;
}

static long default_iterations(size_t size)
{
	return size <= 8192 ? 1000 : size <= 131072 ? 200 : 20;
}

static int measure(struct perf *p, size_t count, long iterations, long warmup,
		   struct sample *s)
{
	double t;
	long i;
	int ret;

	for (i = 0; i < warmup; i++) {
		ret = operate(p, count);
		if (ret)
			return ret;
	}
	ret = inc_barrier(p->comm);
	if (ret)
		return failed(p, "barrier", ret);
	t = now_us();
	for (i = 0; i < iterations; i++) {
		ret = operate(p, count);
		if (ret)
			return ret;
	}
	t = now_us() - t;
	return gather(p, t / (double)(iterations * p->o.outstanding), s);
}

static int by_avg(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	return (x->avg > y->avg) - (x->avg < y->avg);
}

static void print_json(struct perf *p, size_t size, size_t count,
		       const struct sample *total, const struct sample *all)
{
	long i;

	printf("%s\n  {\"size\":%zu,\"count\":%zu", p->results ? "," : "", size,
	       count);
	if (p->o.checks)
		printf(",\"checked\":%ld", p->o.checks * p->o.outstanding);
	if (total) {
		printf(",\"avg_us\":%.3f,\"min_us\":%.3f,\"max_us\":%.3f",
		       total->avg, total->min, total->max);
		printf(",\"mb_s\":%.3f,\"samples_us\":[",
		       (double)size / total->avg);
		for (i = 0; i < p->o.reps; i++)
			printf("%s%.3f", i ? "," : "", all[i].avg);
		putchar(']');
	}
	putchar('}');
}

static void print_row(struct perf *p, size_t size, const struct sample *total)
{
	printf("%-12zu", size);
	if (total)
		printf(" %12.2f %12.2f %12.2f %12.2f", total->avg, total->min,
		       total->max, (double)size / total->avg);
	if (p->o.checks)
		printf("   ok");
	putchar('\n');
	fflush(stdout);
}

static void report(struct perf *p, size_t count, struct sample *s)
{
	size_t size = count * p->esize;
	struct sample total;
	long i;

	if (p->rank)
		return;
	if (s) {
		/* Median of the averages; the extremes of ranks and repetitions. */
		qsort(s, (size_t)p->o.reps, sizeof(*s), by_avg);
		total = s[p->o.reps / 2];
		for (i = 0; i < p->o.reps; i++) {
			total.min = s[i].min < total.min ? s[i].min : total.min;
			total.max = s[i].max > total.max ? s[i].max : total.max;
		}
	}
	if (p->o.json)
		print_json(p, size, count, s ? &total : NULL, s);
	else
		print_row(p, size, s ? &total : NULL);
	p->results++;
}

static void header(const struct perf *p)
{
	struct inc_comm_info info = { .size = sizeof(info) };

	if (p->rank || p->o.runs)
		return;
	inc_comm_query(p->comm, &info);
	if (p->o.json) {
		printf("{\"collective\":\"%s\"", p->o.barrier ? "barrier" :
							       "allreduce");
		if (!p->o.barrier)
			printf(",\"dtype\":\"%s\",\"op\":\"%s\"",
			       inc_dtype_name(p->o.dtype), inc_op_name(p->o.op));
		printf(",\"ranks\":%d,\"msg_size\":%u,\"pmtu\":%u,\"slots\":%u,\"window\":%u,\"results\":[",
		       p->nranks, info.msg_size, info.pmtu, info.slots,
		       info.window);
		return;
	}
	if (p->o.barrier)
		printf("# inc-perf barrier, %d ranks, path MTU %u\n", p->nranks,
		       info.pmtu);
	else
		printf("# inc-perf allreduce %s %s, %d ranks, path MTU %u, messages of %u bytes, window %u\n",
		       inc_dtype_name(p->o.dtype), inc_op_name(p->o.op),
		       p->nranks, info.pmtu, info.msg_size, info.window);
	printf("# %-10s %12s %12s %12s %12s\n", "Size", "Avg(us)", "Min(us)",
	       "Max(us)", "MB/s");
}

static void footer(const struct perf *p)
{
	if (p->o.json && !p->rank && !p->o.runs)
		printf("\n]}\n");
}

static int one_size(struct perf *p, size_t count)
{
	struct sample s[MAX_REPS];
	size_t size = count * p->esize;
	long iterations = p->o.iterations, warmup = p->o.warmup, i;
	int ret;

	if (iterations < 0)
		iterations = default_iterations(size);
	if (warmup < 0)
		warmup = iterations / 10 + 1;
	ret = p->o.barrier ? 0 : alloc_all(p, size);
	if (!ret && p->o.checks)
		ret = check_size(p, count);
	if (!ret && p->o.runs) {
		ret = repeat_hash(p, count);
	} else if (!ret) {
		for (i = 0; iterations && i < p->o.reps && !ret; i++)
			ret = measure(p, count, iterations, i ? 0 : warmup, &s[i]);
		if (!ret)
			report(p, count, iterations ? s : NULL);
	}
	free_all(p);
	return ret;
}

static int all_sizes(struct perf *p)
{
	size_t size, count, last = SIZE_MAX;
	unsigned int i;
	int ret = 0;

	if (p->o.barrier)
		return one_size(p, 0);
	for (i = 0; i < p->o.ncounts && !ret; i++)
		ret = one_size(p, p->o.counts[i]);
	if (i)
		return ret;
	for (size = p->o.min; size <= p->o.max && !ret; size *= 2) {
		count = size / p->esize;
		if (count && count != last)
			ret = one_size(p, count);
		last = count;
		if (size > SIZE_MAX / 2)
			break;
	}
	return ret;
}

static int run(struct perf *p)
{
	char err[512] = "";
	int ret;

	p->o.comm.errbuf = err;
	p->o.comm.errbuf_len = sizeof(err);
	ret = inc_comm_create(&p->comm, &p->o.comm);
	if (ret) {
		complain(p, "%s", err[0] ? err : inc_strerror(ret));
		return ret;
	}
	p->rank = inc_comm_rank(p->comm);
	p->nranks = inc_comm_size(p->comm);
	p->vals = calloc((size_t)p->nranks, sizeof(*p->vals));
	if (!p->vals) {
		complain(p, "no memory");
		ret = -ENOMEM;
	} else {
		header(p);
		ret = all_sizes(p);
		if (!ret)
			footer(p);
	}
	free(p->vals);
	inc_comm_destroy(p->comm);
	return ret;
}

/* --- Command line ------------------------------------------------------------------------ */

static void usage(FILE *out)
{
	fputs(
"Usage: inc-perf [OPTIONS] [allreduce|barrier]\n"
"\n"
"One process per rank. What is not given is taken from the environment\n"
"(INC_SERVER, INC_JOB, INC_RANK, INC_NRANKS ..., see libinc(7)).\n"
"\n"
"  -S, --server HOST[:PORT]  rendezvous daemon (inc-tool serve)\n"
"  -J, --job NAME            name that the ranks share\n"
"  -r, --rank R              rank of this process, from 0\n"
"  -n, --ranks N             number of ranks\n"
"  -t, --dtype TYPE          int32, int64, fp32, fp64 ... (fp32)\n"
"  -o, --op OP               sum, min, max ... (sum)\n"
"  -m, --sizes MIN:MAX       bytes, doubling; suffixes K, M, G (4:1M)\n"
"  -s, --size BYTES          one size\n"
"      --count N             one size, in elements; may be given again\n"
"  -i, --iterations N        timed operations per size; 0: none\n"
"  -x, --warmup N            operations before these\n"
"      --reps N              repetitions of the measurement (1)\n"
"      --check[=N]           verify N operations per size, every byte (2)\n"
"      --pattern NAME        data to verify: random or special (random)\n"
"      --seed N              of the data (1)\n"
"      --runs N              one operation N times: same bits each time? Prints\n"
"                            their hash\n"
"      --in-place            receive into the send buffer\n"
"      --outstanding N       operations at once, non-blocking (1)\n"
"      --reg MODE            user memory: pin, each or cache (pin)\n"
"      --window N            messages in flight\n"
"      --slots N, --msg-size N, --pmtu N, --first-msg-id N\n"
"                            settings of the tree\n"
"      --psn N               first PSN of this rank\n"
"      --timeout MS          time limit of a call\n"
"      --join-timeout MS     how long to wait for the other ranks\n"
"      --dev NAME, --ib-port N, --gid-index N\n"
"                            verbs device\n"
"  -j, --json                JSON\n"
"  -h, --help                this text\n"
"\n"
"Exit status: 0, 1 if something failed or a result is wrong, 2 for usage.\n",
	      out);
}

enum {
	OPT_COUNT = 256, OPT_REPS, OPT_CHECK, OPT_PATTERN, OPT_SEED,
	OPT_RUNS, OPT_IN_PLACE, OPT_OUTSTANDING, OPT_REG, OPT_WINDOW, OPT_SLOTS,
	OPT_MSG_SIZE, OPT_PMTU, OPT_FIRST, OPT_TIMEOUT, OPT_JOIN_TIMEOUT,
	OPT_DEV, OPT_IB_PORT, OPT_GID, OPT_PSN,
};

static const struct option long_options[] = {
	{ "server",	required_argument,	NULL, 'S' },
	{ "job",	required_argument,	NULL, 'J' },
	{ "rank",	required_argument,	NULL, 'r' },
	{ "ranks",	required_argument,	NULL, 'n' },
	{ "dtype",	required_argument,	NULL, 't' },
	{ "op",		required_argument,	NULL, 'o' },
	{ "sizes",	required_argument,	NULL, 'm' },
	{ "size",	required_argument,	NULL, 's' },
	{ "count",	required_argument,	NULL, OPT_COUNT },
	{ "iterations",	required_argument,	NULL, 'i' },
	{ "warmup",	required_argument,	NULL, 'x' },
	{ "reps",	required_argument,	NULL, OPT_REPS },
	{ "check",	optional_argument,	NULL, OPT_CHECK },
	{ "pattern",	required_argument,	NULL, OPT_PATTERN },
	{ "seed",	required_argument,	NULL, OPT_SEED },
	{ "runs",	required_argument,	NULL, OPT_RUNS },
	{ "in-place",	no_argument,		NULL, OPT_IN_PLACE },
	{ "outstanding", required_argument,	NULL, OPT_OUTSTANDING },
	{ "reg",	required_argument,	NULL, OPT_REG },
	{ "window",	required_argument,	NULL, OPT_WINDOW },
	{ "slots",	required_argument,	NULL, OPT_SLOTS },
	{ "msg-size",	required_argument,	NULL, OPT_MSG_SIZE },
	{ "pmtu",	required_argument,	NULL, OPT_PMTU },
	{ "first-msg-id", required_argument,	NULL, OPT_FIRST },
	{ "psn",	required_argument,	NULL, OPT_PSN },
	{ "timeout",	required_argument,	NULL, OPT_TIMEOUT },
	{ "join-timeout", required_argument,	NULL, OPT_JOIN_TIMEOUT },
	{ "dev",	required_argument,	NULL, OPT_DEV },
	{ "ib-port",	required_argument,	NULL, OPT_IB_PORT },
	{ "gid-index",	required_argument,	NULL, OPT_GID },
	{ "json",	no_argument,		NULL, 'j' },
	{ "help",	no_argument,		NULL, 'h' },
	{ 0 },
};

static bool bad_argument(const char *text, const char *want)
{
	fprintf(stderr, "inc-perf: \"%s\": must be %s\n", text, want);
	return false;
}

static bool get_num(const char *text, uint64_t min, uint64_t max, uint64_t *num)
{
	char want[64], *end;

	errno = 0;
	*num = strtoull(text, &end, 0);
	if (!errno && end != text && !*end && *text != '-' && *num >= min &&
	    *num <= max)
		return true;
	snprintf(want, sizeof(want), "a number, %" PRIu64 " ... %" PRIu64, min,
		 max);
	return bad_argument(text, want);
}

static bool get_long(const char *text, long min, long max, long *num)
{
	uint64_t n;

	if (!get_num(text, (uint64_t)min, (uint64_t)max, &n))
		return false;
	*num = (long)n;
	return true;
}

static bool get_uint(const char *text, unsigned int min, unsigned int max,
		     unsigned int *num)
{
	uint64_t n;

	if (!get_num(text, min, max, &n))
		return false;
	*num = (unsigned int)n;
	return true;
}

static bool get_int(const char *text, int max, int *num)
{
	uint64_t n;

	if (!get_num(text, 0, (uint64_t)max, &n))
		return false;
	*num = (int)n;
	return true;
}

static bool get_size(const char *text, char **end, size_t *size)
{
	static const char suffixes[] = "KMG";
	const char *s;

	errno = 0;
	*size = strtoull(text, end, 0);
	if (errno || *end == text || *text == '-')
		return bad_argument(text, "a size in bytes");
	if (**end && (s = strchr(suffixes, **end & ~0x20))) {
		*size <<= 10 * (s - suffixes + 1);
		(*end)++;
	}
	return true;
}

static bool get_sizes(struct options *o, const char *text)
{
	char *end;

	if (!get_size(text, &end, &o->min))
		return false;
	o->max = o->min;
	if (*end == ':' && !get_size(end + 1, &end, &o->max))
		return false;
	if (*end || !o->min || o->max < o->min)
		return bad_argument(text, "MIN:MAX in bytes");
	return true;
}

static bool get_dtype(struct options *o, const char *text)
{
	int dtype = inc_dtype_by_name(text);

	if (dtype < 0)
		return bad_argument(text, "a data type: int32, int64, fp32, fp64 ...");
	o->dtype = (enum inc_dtype)dtype;
	return true;
}

static bool get_op(struct options *o, const char *text)
{
	int op = inc_op_by_name(text);

	if (op < 0)
		return bad_argument(text, "an operation: sum, min, max ...");
	o->op = (enum inc_op)op;
	return true;
}

static bool get_pattern(struct options *o, const char *text)
{
	if (strcmp(text, "random") && strcmp(text, "special"))
		return bad_argument(text, "random or special");
	o->pattern = *text == 's' ? REF_SPECIAL : REF_RANDOM;
	return true;
}

static bool get_reg(struct options *o, const char *text)
{
	if (!strcmp(text, "pin"))
		o->reg = REG_PIN;
	else if (!strcmp(text, "each"))
		o->reg = REG_EACH;
	else if (!strcmp(text, "cache"))
		o->reg = REG_CACHE;
	else
		return bad_argument(text, "pin, each or cache");
	o->comm.reg = o->reg == REG_CACHE ? INC_REG_CACHE : INC_REG_EACH;
	return true;
}

/* What the communicator and its tree are to be. */
static bool comm_option(struct inc_comm_opts *c, int opt, const char *arg)
{
	switch (opt) {
	case 'S':
		c->server = arg;
		return true;
	case 'J':
		c->job = arg;
		return true;
	case 'r':
		return get_int(arg, UINT16_MAX, &c->rank);
	case 'n':
		return get_int(arg, UINT16_MAX, &c->nranks);
	case OPT_WINDOW:
		return get_uint(arg, 1, UINT16_MAX, &c->window);
	case OPT_SLOTS:
		return get_uint(arg, 1, UINT16_MAX, &c->tree.slots);
	case OPT_MSG_SIZE:
		return get_uint(arg, 1, UINT_MAX, &c->tree.msg_size);
	case OPT_PMTU:
		return get_uint(arg, 1, UINT16_MAX, &c->tree.pmtu);
	case OPT_FIRST:
		c->tree.flags |= INC_TREE_F_FIRST_MSG_ID;
		return get_uint(arg, 0, UINT_MAX, &c->tree.first_msg_id);
	case OPT_PSN:
		c->flags |= INC_COMM_F_PSN;
		return get_uint(arg, 0, 0xffffff, &c->psn);
	case OPT_TIMEOUT:
		return get_uint(arg, 1, INT_MAX, &c->timeout_ms);
	case OPT_JOIN_TIMEOUT:
		return get_uint(arg, 1, INT_MAX, &c->join_timeout_ms);
	case OPT_DEV:
		c->dev = arg;
		return true;
	case OPT_IB_PORT:
		return get_int(arg, UINT8_MAX, &c->port);
	case OPT_GID:
		return get_int(arg, UINT8_MAX, &c->gid_index);
	}
	return false;
}

/* What is done. */
static bool run_option(struct options *o, int opt, const char *arg)
{
	uint64_t n;

	switch (opt) {
	case 't':
		return get_dtype(o, arg);
	case 'o':
		return get_op(o, arg);
	case 'm':
	case 's':
		return get_sizes(o, arg);
	case OPT_COUNT:
		if (o->ncounts == MAX_COUNTS)
			return bad_argument(arg, "one of fewer counts");
		if (!get_num(arg, 0, SIZE_MAX / 8, &n))
			return false;
		o->counts[o->ncounts++] = (size_t)n;
		return true;
	case 'i':
		return get_long(arg, 0, LONG_MAX / MAX_OUTSTANDING,
				&o->iterations);
	case 'x':
		return get_long(arg, 0, LONG_MAX, &o->warmup);
	case OPT_REPS:
		return get_long(arg, 1, MAX_REPS, &o->reps);
	case OPT_CHECK:
		o->checks = 2;
		return !arg || get_long(arg, 1, INT_MAX, &o->checks);
	case OPT_PATTERN:
		return get_pattern(o, arg);
	case OPT_SEED:
		return get_num(arg, 0, UINT64_MAX, &o->seed);
	case OPT_RUNS:
		return get_long(arg, 1, INT_MAX, &o->runs);
	case OPT_IN_PLACE:
		o->in_place = true;
		return true;
	case OPT_OUTSTANDING:
		return get_long(arg, 1, MAX_OUTSTANDING, &o->outstanding);
	case OPT_REG:
		return get_reg(o, arg);
	case 'j':
		o->json = true;
		return true;
	}
	return comm_option(&o->comm, opt, arg);
}

static bool get_collective(struct options *o, int argc, char **argv)
{
	if (optind < argc) {
		if (!strcmp(argv[optind], "barrier"))
			o->barrier = true;
		else if (strcmp(argv[optind], "allreduce"))
			return bad_argument(argv[optind], "allreduce or barrier");
		optind++;
	}
	if (optind < argc)
		return bad_argument(argv[optind], "nothing");
	if (!o->barrier && o->checks && !ref_knows(o->dtype, o->op)) {
		fprintf(stderr, "inc-perf: --check does not know %s of %s\n",
			inc_op_name(o->op), inc_dtype_name(o->dtype));
		return false;
	}
	if (o->barrier)
		o->checks = 0;
	return true;
}

int main(int argc, char **argv)
{
	struct perf p = {
		.o = {
			.comm		= INC_COMM_OPTS_INIT,
			.dtype		= INC_DTYPE_FP32,
			.op		= INC_OP_SUM,
			.min		= SIZE_MIN,
			.max		= SIZE_MAX_DEFAULT,
			.iterations	= -1,
			.warmup		= -1,
			.reps		= 1,
			.outstanding	= 1,
			.seed		= 1,
		},
		.rank = -1,
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "S:J:r:n:t:o:m:s:i:x:jh",
				  long_options, NULL)) != -1) {
		if (opt == 'h') {
			usage(stdout);
			return 0;
		}
		if (opt == '?' || !run_option(&p.o, opt, optarg))
			return 2;
	}
	if (!get_collective(&p.o, argc, argv))
		return 2;
	p.rank = p.o.comm.rank;
	p.esize = inc_dtype_size(p.o.dtype);
	return run(&p) ? 1 : 0;
}
