// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Output of inc-perf.
 *
 * Bandwidths follow nccl-tests: algbw is the size of the operation by its time,
 * busbw that times a factor of the collective.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "output.h"

static int by_avg(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	return (x->avg > y->avg) - (x->avg < y->avg);
}

/* Median of the averages; the extremes of ranks and repetitions. */
static struct sample summarize_samples(const struct result *r)
{
	struct sample *s = r->samples, total;
	long i;

	qsort(s, (size_t)r->nsamples, sizeof(*s), by_avg);
	total = s[r->nsamples / 2];
	for (i = 0; i < r->nsamples; i++) {
		total.min = s[i].min < total.min ? s[i].min : total.min;
		total.max = s[i].max > total.max ? s[i].max : total.max;
	}
	return total;
}

/* A barrier has no data, and a mixture no size of its own. */
static bool has_bandwidth(int coll)
{
	return coll != INC_COLL_BARRIER && coll != KIND_MIX;
}

/* Bytes per microsecond, which is MB/s. */
static double get_algbw(const struct result *r, const struct sample *total)
{
	return (double)(r->size * r->blocks) / total->avg;
}

static double get_busbw(const struct result *r, const struct sample *total)
{
	return get_algbw(r, total) *
	       kind_bus_factor((enum inc_collective)r->coll, r->nranks);
}

static void result_json(const struct perf_options *o, const struct result *r,
			const struct sample *total)
{
	long i;

	printf("\n  {\"size\":%zu,\"count\":%zu", r->size, r->count);
	if (o->checks)
		printf(",\"checked\":%ld,\"checked_collectives\":%d", r->checks,
		       __builtin_popcount(r->kinds));
	if (total) {
		printf(",\"avg_us\":%.3f,\"min_us\":%.3f,\"max_us\":%.3f",
		       total->avg, total->min, total->max);
		if (has_bandwidth(r->coll))
			printf(",\"algbw_mb_s\":%.3f,\"busbw_mb_s\":%.3f",
			       get_algbw(r, total), get_busbw(r, total));
		printf(",\"samples_us\":[");
		for (i = 0; i < r->nsamples; i++)
			printf("%s%.3f", i ? "," : "", r->samples[i].avg);
		putchar(']');
	}
	putchar('}');
}

static void result_row(const struct perf_options *o, const struct result *r,
		       const struct sample *total)
{
	printf("%-12zu", r->size);
	if (total)
		printf(" %12.2f %12.2f %12.2f", total->avg, total->min,
		       total->max);
	if (total && has_bandwidth(r->coll))
		printf(" %12.2f %12.2f", get_algbw(r, total),
		       get_busbw(r, total));
	if (o->checks)
		printf("   ok");
	putchar('\n');
	fflush(stdout);
}

/* Print the results for one size. */
void output_result(const struct perf_options *o, const struct result *r,
		   unsigned int earlier)
{
	struct sample total;

	if (r->samples)
		total = summarize_samples(r);
	if (!o->json) {
		result_row(o, r, r->samples ? &total : NULL);
		return;
	}
	if (earlier)
		putchar(',');
	result_json(o, r, r->samples ? &total : NULL);
}

static void header_json(const struct perf_options *o,
			const struct inc_comm_info *info, int nranks)
{
	printf("{\"collective\":\"%s\"", kind_name(o->coll));
	if (o->coll != INC_COLL_BARRIER)
		printf(",\"dtype\":\"%s\",\"op\":\"%s\"",
		       inc_dtype_name(o->dtype), inc_op_name(o->op));
	printf(",\"ranks\":%d,\"msg_size\":%u,\"pmtu\":%u,\"slots\":%u",
	       nranks, info->msg_size, info->pmtu, info->slots);
	printf(",\"outstanding\":%ld,\"results\":[", o->outstanding);
}

/* Print the header before the results. */
void output_header(const struct perf_options *o,
		   const struct inc_comm_info *info, int nranks)
{
	if (o->json) {
		header_json(o, info, nranks);
		return;
	}
	if (o->coll == INC_COLL_BARRIER)
		printf("# inc-perf barrier, %d ranks, path MTU %u\n", nranks,
		       info->pmtu);
	else
		printf("# inc-perf %s %s %s, %d ranks, path MTU %u, messages of %u bytes, window %u\n",
		       kind_name(o->coll), inc_dtype_name(o->dtype),
		       inc_op_name(o->op), nranks, info->pmtu, info->msg_size,
		       info->window);
	if (has_bandwidth(o->coll))
		printf("# algbw = %s / Avg, busbw = %.4g * algbw, as in nccl-tests; MB/s = 10^6 bytes/s\n",
		       kind_blocks((enum inc_collective)o->coll, nranks) > 1 ?
			       "Size * ranks" : "Size",
		       kind_bus_factor((enum inc_collective)o->coll, nranks));
	printf("# %-10s %12s %12s %12s", "Size", "Avg(us)", "Min(us)",
	       "Max(us)");
	if (has_bandwidth(o->coll))
		printf(" %12s %12s", "algbw(MB/s)", "busbw(MB/s)");
	putchar('\n');
}

/* Print the footer after the results. */
void output_footer(const struct perf_options *o,
		   const struct inc_comm_info *info)
{
	if (o->json)
		printf("\n],\"window\":%u,\"messages\":%" PRIu64
		       ",\"resent\":%" PRIu64 ",\"queries\":%" PRIu64 "}\n",
		       info->window, info->messages, info->resent,
		       info->queries);
	else if (info->qp_type == INC_QP_UC)
		printf("# %" PRIu64 " messages, %" PRIu64 " resent, %" PRIu64 " queries, window %u\n",
		       info->messages, info->resent, info->queries,
		       info->window);
}
