// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * inc-perf: measures the latency of collectives, with output like the OSU
 * benchmarks', and verifies their results. One process per rank; uses libinc
 * only.
 *
 * The clock is read twice per repetition, not per operation: where system calls
 * are slow, reading the clock would dominate the measurement.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "conf/clock.h"
#include "opts.h"
#include "output.h"
#include "rtt.h"

#define GUARD		64	/* bytes around a buffer */
#define GUARD_BYTE	0xa5
#define RUN		256	/* elements compared at once */

/* A buffer with guards around it. */
struct buf {
	uint8_t	*mem;
	uint8_t	*data;
	size_t	len;
};

struct perf {
	struct perf_options	o;
	char		err[512];	/* error text if @comm is NULL */
	struct inc_comm	*comm;
	int		rank;
	int		nranks;
	size_t		esize;
	struct buf	send[MAX_OUTSTANDING];
	struct buf	recv[MAX_OUTSTANDING];
	struct inc_request	*made[MAX_OUTSTANDING];	/* --persistent */
	struct ref_elem	*vals;		/* one element of each rank */
	unsigned int	kinds;		/* verified collectives of a size */
	unsigned int	results;	/* printed so far */
};

static void print_error(const struct perf *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void print_error(const struct perf *p, const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fprintf(stderr, "inc-perf: rank %d: ", p->rank);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/* Report that a libinc call failed. Returns @err. */
static int report_failure(const struct perf *p, const char *what, int err)
{
	const char *more = inc_comm_strerror(p->comm);
	const char *text = inc_strerror(err);

	if (strcmp(text, more))
		print_error(p, "%s: %s (%s)", what, more, text);
	else
		print_error(p, "%s: %s", what, text);
	return err;
}

/* --- Buffers ----------------------------------------------------------- */

static int buf_alloc(struct perf *p, struct buf *b, size_t len)
{
	int ret;

	b->mem = aligned_alloc(4096, (len + 4096 + GUARD + 4095) / 4096 * 4096);
	if (!b->mem) {
		print_error(p, "no memory for %zu bytes", len);
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
	return ret ? report_failure(p, "registering memory", ret) : 0;
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

/* Count the blocks in the largest buffer of any rank. */
static size_t most_blocks(const struct perf *p)
{
	return p->o.coll == KIND_MIX ?
	       (size_t)p->nranks :
	       kind_blocks((enum inc_collective)p->o.coll, p->nranks);
}

static int alloc_all(struct perf *p, size_t len)
{
	long i;

	len *= most_blocks(p);
	for (i = 0; i < p->o.outstanding; i++)
		if (buf_alloc(p, &p->recv[i], len) ||
		    buf_alloc(p, &p->send[i], len))
			return -ENOMEM;
	return 0;
}

static void free_all(struct perf *p)
{
	long i;

	for (i = 0; i < p->o.outstanding; i++) {
		inc_request_free(p->made[i]);
		p->made[i] = NULL;
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

/* --- Operations -------------------------------------------------------- */

static uint64_t scramble_bits(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccd;
	return x ^ x >> 33;
}

/* Mixed: every nine operations are all nine collectives, in varying order. */
static enum inc_collective mixed_collective(const struct perf *p,
					    uint64_t number)
{
	static const uint8_t strides[] = { 1, 2, 4, 5, 7, 8 };
	uint64_t r = scramble_bits(p->o.seed + number / INC_COLL_COUNT);
	uint64_t stride = strides[(r >> 32) % sizeof(strides)];

	_Static_assert(INC_COLL_COUNT == 9, "strides have no factor of it");
	return (enum inc_collective)((r + number * stride) % INC_COLL_COUNT);
}

/* Get the operation of this number, the same on all ranks. */
static struct kind kind_of(const struct perf *p, size_t count, uint64_t number)
{
	uint64_t r;
	struct kind k = {
		.coll = (enum inc_collective)p->o.coll, .nranks = p->nranks,
		.rank = p->rank, .in_place = p->o.in_place, .count = count,
		.dtype = p->o.dtype, .op = p->o.op,
	};

	/* Starting a request again runs the same operation. */
	if (p->o.persistent)
		number %= (uint64_t)p->o.outstanding;
	r = scramble_bits(p->o.seed + number + 1);
	if (p->o.coll == KIND_MIX)
		k.coll = mixed_collective(p, number);
	if (kind_rooted(k.coll))
		k.root = p->o.root < 0 || p->o.coll == KIND_MIX ?
			 (int)((r >> 32) % (uint64_t)p->nranks) : p->o.root;
	return k;
}

static int begin_operation(struct perf *p, size_t count, uint64_t number,
			   long n, struct inc_request **req)
{
	struct kind k = kind_of(p, count, number);
	void *send = p->send[n].data, *recv = p->recv[n].data;
	int ret = 0;

	if (!p->o.persistent)
		return kind_call(&k, KIND_BEGIN, p->comm, send, recv, req);
	if (!p->made[n])
		ret = kind_call(&k, KIND_INIT, p->comm, send, recv,
				&p->made[n]);
	*req = p->made[n];
	return ret ? ret : inc_request_start(*req);
}

/* Pause, like a program that computes. Returns the time that it took, in us. */
static double compute_pause(const struct perf *p)
{
	const struct timespec t = {
		.tv_sec = p->o.pause_us / 1000000,
		.tv_nsec = p->o.pause_us % 1000000 * 1000,
	};
	double start;

	if (!p->o.pause_us)
		return 0;
	start = now_us();
	nanosleep(&t, NULL);
	return now_us() - start;
}

/* Run one operation, or --outstanding ones at once, from @number on. */
static int run_operations(struct perf *p, size_t count, uint64_t number)
{
	struct inc_request *req[MAX_OUTSTANDING];
	struct kind k;
	int ret = 0, err;
	long i, n;

	if (p->o.outstanding == 1 && !p->o.persistent) {
		k = kind_of(p, count, number);
		ret = kind_call(&k, KIND_RUN, p->comm, p->send[0].data,
				p->recv[0].data, NULL);
		return ret ? report_failure(p, "operation", ret) : 0;
	}
	for (n = 0; n < p->o.outstanding && !ret; n++)
		ret = begin_operation(p, count, number + (uint64_t)n, n,
				      &req[n]);
	n -= ret ? 1 : 0;
	for (i = n - 1; i >= 0; i--) {
		err = inc_request_wait(req[i]);
		ret = ret ? ret : err;
		if (!p->o.persistent)
			inc_request_free(req[i]);
	}
	return ret ? report_failure(p, "operation", ret) : 0;
}

/* --- Check ------------------------------------------------------------- */

/* Format "0x" and the element's digits, most significant byte first. */
static const char *format_digits(const struct perf *p, const uint8_t *elem,
				 char text[40])
{
	size_t i;

	strcpy(text, "0x");
	for (i = 0; i < p->esize; i++)
		sprintf(text + 2 + 2 * i, "%02x", elem[p->esize - 1 - i]);
	return text;
}

static struct ref_data data_of(const struct perf *p, uint64_t seed)
{
	return (struct ref_data){
		.dtype = p->o.dtype,
		.pattern = p->o.pattern,
		.seed = seed,
		.nranks = (unsigned int)p->nranks,
		.vals = p->vals,
	};
}

/* Fill in this rank's data, and mark everything else. */
static void fill_input(const struct perf *p, long i, const struct kind *k,
		       uint64_t seed)
{
	struct ref_data d = data_of(p, seed);
	uint8_t *to = p->send[i].data;
	size_t at;

	memset(p->recv[i].data, GUARD_BYTE, p->recv[i].len);
	memset(p->send[i].data, GUARD_BYTE, p->send[i].len);
	if (kind_data_in_recv(k, &at))
		to = p->recv[i].data + at * p->esize;
	ref_inputs(&d, (unsigned int)p->rank, 0, kind_in(k), to);
}

/*
 * Compute the expected result from element @i on, up to @end or a change of
 * source. Returns the number of elements.
 */
static size_t expect_run(const struct perf *p, const struct kind *k, size_t i,
			 size_t end, uint64_t seed, uint8_t *to)
{
	struct source s = kind_source(k, i), next;
	struct ref_data d = data_of(p, seed);
	size_t n = 1;

	for (; n < RUN && i + n < end; n++) {
		next = kind_source(k, i + n);
		if (next.from != s.from || next.index != s.index + n)
			break;
	}
	if (s.from >= 0)
		ref_inputs(&d, (unsigned int)s.from, s.index, n, to);
	else
		ref_results(&d, p->o.op, s.index, n, to);
	return n;
}

/* Find the first of @n elements that differs, or @n. */
static size_t find_difference(const struct perf *p, const uint8_t *got,
			      const uint8_t *want, size_t n)
{
	size_t i = 0;

	if (!memcmp(got, want, n * p->esize))
		return n;
	while (!memcmp(got + i * p->esize, want + i * p->esize, p->esize))
		i++;
	return i;
}

static int compare_output(struct perf *p, const struct buf *b,
			  const struct kind *k, uint64_t seed)
{
	uint8_t want[RUN * sizeof(struct ref_elem)];
	char got_text[40], want_text[40];
	size_t i, n, bad, end = kind_out(k);
	const uint8_t *got;

	for (i = 0; i < end; i += n) {
		n = expect_run(p, k, i, end, seed, want);
		got = b->data + i * p->esize;
		bad = find_difference(p, got, want, n);
		if (bad == n)
			continue;
		print_error(p, "wrong result: %s %s %s, root %d, blocks of %zu elements, seed %" PRIu64 ": element %zu is %s, must be %s",
			    kind_name((int)k->coll), inc_dtype_name(p->o.dtype),
			    inc_op_name(p->o.op), k->root, k->count, seed,
			    i + bad,
			    format_digits(p, got + bad * p->esize, got_text),
			    format_digits(p, want + bad * p->esize, want_text));
		return -EILSEQ;
	}
	return 0;
}

/* Check that this rank's data has not changed. */
static int compare_input(struct perf *p, const struct buf *b,
			 const struct kind *k, uint64_t seed)
{
	uint8_t want[RUN * sizeof(struct ref_elem)];
	struct ref_data d = data_of(p, seed);
	size_t i, n, bad, end = kind_in(k);

	for (i = 0; i < end; i += n) {
		n = end - i < RUN ? end - i : RUN;
		ref_inputs(&d, (unsigned int)p->rank, i, n, want);
		bad = find_difference(p, b->data + i * p->esize, want, n);
		if (bad == n)
			continue;
		print_error(p, "%s: send buffer changed at element %zu of %zu",
			    kind_name((int)k->coll), i + bad, end);
		return -EILSEQ;
	}
	return 0;
}

static bool is_untouched(const struct buf *b, size_t from)
{
	for (; from < b->len; from++)
		if (b->data[from] != GUARD_BYTE)
			return false;
	return true;
}

/* Check that nothing except the result has changed. */
static int check_rest(struct perf *p, long i, const struct kind *k,
		      uint64_t seed)
{
	size_t at, len = kind_in(k), out = kind_out(k);
	bool in_recv = kind_data_in_recv(k, &at);

	if (!in_recv && compare_input(p, &p->send[i], k, seed))
		return -EILSEQ;
	/* In place, the other blocks of a reduction are the rank's data. */
	if (in_recv && out < at + len)
		out = at + len;
	if (!guard_ok(&p->recv[i]) || !guard_ok(&p->send[i]) ||
	    !is_untouched(&p->recv[i], out * p->esize) ||
	    !is_untouched(&p->send[i], in_recv ? 0 : len * p->esize)) {
		print_error(p, "%s: memory behind blocks of %zu elements was written to",
			    kind_name((int)k->coll), k->count);
		return -EILSEQ;
	}
	return 0;
}

/* Did all ranks get the right result? */
static int agree_result(struct perf *p, int ret)
{
	int32_t bad = ret ? 1 : 0;
	int err;

	err = inc_allreduce(p->comm, INC_IN_PLACE, &bad, 1, INC_DTYPE_INT32,
			    INC_OP_SUM);
	if (err)
		return report_failure(p, "comparing notes", err);
	if (bad && !p->rank)
		print_error(p, "check failed on %d of %d ranks", bad,
			    p->nranks);
	return bad ? -EILSEQ : 0;
}

/* Get the rounds of verified operations; if mixed, for all collectives. */
static long check_rounds(const struct perf *p)
{
	long least = (INC_COLL_COUNT + p->o.outstanding - 1) / p->o.outstanding;

	return p->o.coll == KIND_MIX && !p->o.persistent && p->o.checks &&
	       p->o.checks < least ? least : p->o.checks;
}

/* Run and verify operations, each with different data. */
static int check_size(struct perf *p, size_t count)
{
	struct kind k;
	uint64_t seed, number;
	int ret = 0;
	long n, i;

	p->kinds = 0;
	for (n = 0; n < check_rounds(p); n++) {
		number = (uint64_t)(n * p->o.outstanding);
		seed = p->o.seed + number;
		for (i = 0; i < p->o.outstanding; i++) {
			k = kind_of(p, count, number + (uint64_t)i);
			fill_input(p, i, &k, seed + (uint64_t)i);
		}
		compute_pause(p);
		ret = run_operations(p, count, number);
		if (ret)
			return ret;
		for (i = 0; i < p->o.outstanding && !ret; i++) {
			k = kind_of(p, count, number + (uint64_t)i);
			p->kinds |= 1U << k.coll;
			ret = compare_output(p, &p->recv[i], &k,
					     seed + (uint64_t)i);
			if (!ret)
				ret = check_rest(p, i, &k, seed + (uint64_t)i);
		}
		ret = agree_result(p, ret);
		if (ret)
			return ret;
	}
	return 0;
}

/* --- Many runs, one bit pattern ---------------------------------------- */

static int repeat_hash(struct perf *p, size_t count)
{
	struct kind k = kind_of(p, count, 0);
	uint64_t hash, first = 0;
	int ret = 0;
	long n;

	for (n = 0; n < p->o.runs && !ret; n++) {
		if (n == 0 || p->o.in_place)
			fill_input(p, 0, &k, p->o.seed);
		ret = run_operations(p, count, 0);
		if (ret)
			return ret;
		hash = ref_hash(p->recv[0].data, kind_out(&k) * p->esize);
		if (!n)
			first = hash;
		if (hash != first) {
			print_error(p,
				    "run %ld gave hash %016" PRIx64
				    ", the first %016" PRIx64,
				    n, hash, first);
			ret = -EILSEQ;
		}
	}
	ret = agree_result(p, ret);
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

/* --- Measurement ------------------------------------------------------- */

static int gather_times(struct perf *p, double us, struct sample *s)
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
		return report_failure(p, "gathering times", -EIO);
	s->avg /= p->nranks;
	return 0;
}

static long default_iterations(size_t size)
{
	return size <= 8192 ? 1000 : size <= 131072 ? 200 : 20;
}

static int measure_time(struct perf *p, size_t count, long iterations,
			long warmup, struct sample *s)
{
	double t;
	long i;
	int ret;

	for (i = 0; i < warmup; i++) {
		compute_pause(p);
		ret = run_operations(p, count,
				     (uint64_t)(i * p->o.outstanding));
		if (ret)
			return ret;
	}
	ret = inc_barrier(p->comm);
	if (ret)
		return report_failure(p, "barrier", ret);
	t = now_us();
	for (i = 0; i < iterations; i++) {
		t += compute_pause(p);
		ret = run_operations(p, count,
				     (uint64_t)(i * p->o.outstanding));
		if (ret)
			return ret;
	}
	t = now_us() - t;
	return gather_times(p, t / (double)(iterations * p->o.outstanding), s);
}

static void report_result(struct perf *p, size_t count, struct sample *s)
{
	struct result r = {
		.coll = p->o.coll, .nranks = p->nranks, .count = count,
		.size = count * p->esize, .blocks = most_blocks(p),
		.checks = check_rounds(p) * p->o.outstanding,
		.kinds = p->kinds, .samples = s, .nsamples = p->o.reps,
	};

	if (!p->rank)
		output_result(&p->o, &r, p->results++);
}

static void print_header(const struct perf *p)
{
	struct inc_comm_info info = { .size = sizeof(info) };

	if (p->rank || p->o.runs)
		return;
	inc_comm_query(p->comm, &info);
	output_header(&p->o, &info, p->nranks);
}

static void print_footer(const struct perf *p)
{
	struct inc_comm_info info = { .size = sizeof(info) };

	if (p->rank || p->o.runs)
		return;
	inc_comm_query(p->comm, &info);
	output_footer(&p->o, &info);
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
	ret = alloc_all(p, size);
	if (!ret && p->o.checks)
		ret = check_size(p, count);
	if (!ret && p->o.runs) {
		ret = repeat_hash(p, count);
	} else if (!ret) {
		for (i = 0; iterations && i < p->o.reps && !ret; i++)
			ret = measure_time(p, count, iterations, i ? 0 : warmup,
					   &s[i]);
		if (!ret)
			report_result(p, count, iterations ? s : NULL);
	}
	free_all(p);
	return ret;
}

static int all_sizes(struct perf *p)
{
	size_t size, count, last = SIZE_MAX;
	unsigned int i;
	int ret = 0;

	if (p->o.coll == INC_COLL_BARRIER)
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

static int run_perf(struct perf *p)
{
	int ret;

	p->o.comm.errbuf = p->err;
	p->o.comm.errbuf_len = sizeof(p->err);
	ret = inc_comm_create(&p->comm, &p->o.comm);
	if (ret) {
		print_error(p, "%s", p->err[0] ? p->err : inc_strerror(ret));
		return ret;
	}
	p->rank = inc_comm_rank(p->comm);
	p->nranks = inc_comm_size(p->comm);
	if (p->o.comms) {
		ret = comms_run(&p->o, p->comm);
		inc_comm_destroy(p->comm);
		return ret;
	}
	p->vals = calloc((size_t)p->nranks, sizeof(*p->vals));
	if (!p->vals) {
		print_error(p, "no memory");
		ret = -ENOMEM;
	} else {
		print_header(p);
		ret = all_sizes(p);
		if (!ret)
			print_footer(p);
	}
	free(p->vals);
	inc_comm_destroy(p->comm);
	return ret;
}

int main(int argc, char **argv)
{
	struct perf p = { .o = OPTIONS_INIT };
	int ret;

	if (!strcmp(program_invocation_short_name, "inc-rtt"))
		return rtt_main(argc, argv);
	if (argc > 1 && !strcmp(argv[1], "rtt"))
		return rtt_main(argc - 1, argv + 1);
	ret = options_parse(&p.o, argc, argv);
	if (ret >= 0)
		return ret;
	p.rank = p.o.comm.rank;
	p.esize = inc_dtype_size(p.o.dtype);
	return run_perf(&p) ? 1 : 0;
}
