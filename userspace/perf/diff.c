// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * inc-perf diff: compares the latencies in two files that inc-perf --json has
 * written. A difference counts only if the repetitions of the two files do not
 * overlap.
 */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "conf/opts.h"
#include "diff.h"

/* Fewer repetitions say nothing of the spread. */
#define MIN_SAMPLES	3

/* Files with more text than this are not results. */
#define MAX_FILE	(64 << 20)

/* A year: larger numbers are no latencies, and NaN compares false. */
#define MAX_US		3e13

/* A run's settings that may differ, and are then reported. */
static const char *const settings[] = {
	"pmtu", "slots", "msg_size", "outstanding",
};

/* Two comparable results have the same key. */
struct key {
	const char	*coll;
	const char	*dtype;
	const char	*op;
	int		ranks;
	int64_t		size;
};

struct row {
	struct key		key;
	struct json_object	*run;
	double			median;
	double			min;		/* of the repetitions */
	double			max;
	size_t			nsamples;
	bool			paired;
};

struct file {
	const char	*name;
	struct row	*rows;
	size_t		nrows;
	struct json_object **runs;
	size_t		nruns;
};

enum verdict { SAME, FASTER, SLOWER, UNKNOWN };

static const char *const verdicts[] = {
	[SAME]		= "same",
	[FASTER]	= "faster",
	[SLOWER]	= "slower",
	[UNKNOWN]	= "-",
};

struct diff {
	struct file	old;
	struct file	new;
	double		max_slowdown;	/* per cent; negative: no limit */
	bool		json;
	size_t		counts[4];	/* by verdict */
	size_t		beyond;		/* slower than allowed */
};

/* --- Reading ----------------------------------------------------------- */

static const char *get_text(struct json_object *run, const char *name)
{
	struct json_object *o;

	if (!json_object_object_get_ex(run, name, &o) ||
	    !json_object_is_type(o, json_type_string))
		return "-";
	return json_object_get_string(o);
}

static int64_t get_num(struct json_object *run, const char *name)
{
	struct json_object *o;

	return json_object_object_get_ex(run, name, &o) ?
	       json_object_get_int64(o) : 0;
}

/* The samples are in ascending order, but a file may say anything. */
static bool read_samples(struct row *r, struct json_object *samples)
{
	size_t i;
	double us;

	if (!json_object_is_type(samples, json_type_array) ||
	    !json_object_array_length(samples))
		return false;
	r->nsamples = json_object_array_length(samples);
	for (i = 0; i < r->nsamples; i++) {
		us = json_object_get_double(json_object_array_get_idx(samples,
								      i));
		if (!(us > 0 && us < MAX_US))
			return false;
		r->min = !i || us < r->min ? us : r->min;
		r->max = !i || us > r->max ? us : r->max;
		if (i == r->nsamples / 2)
			r->median = us;
	}
	return true;
}

/* Add the results of a run that were timed. */
static bool read_run(struct file *f, struct json_object *run)
{
	struct json_object *results, *result, *samples;
	struct row r;
	size_t i, n;
	void *rows;

	if (!json_object_object_get_ex(run, "results", &results) ||
	    !json_object_is_type(results, json_type_array))
		return false;
	n = json_object_array_length(results);
	rows = realloc(f->rows, (f->nrows + n) * sizeof(*f->rows) + 1);
	if (!rows)
		return false;
	f->rows = rows;
	for (i = 0; i < n; i++) {
		result = json_object_array_get_idx(results, i);
		if (!json_object_is_type(result, json_type_object))
			return false;
		if (!json_object_object_get_ex(result, "samples_us", &samples))
			continue;
		r = (struct row) {
			.key = {
				.coll = get_text(run, "collective"),
				.dtype = get_text(run, "dtype"),
				.op = get_text(run, "op"),
				.ranks = (int)get_num(run, "ranks"),
				.size = get_num(result, "size"),
			},
			.run = run,
		};
		if (!read_samples(&r, samples))
			return false;
		f->rows[f->nrows++] = r;
	}
	return true;
}

static char *read_text(const char *name, size_t *len)
{
	FILE *in = fopen(name, "r");
	char *text = NULL;

	if (!in) {
		fprintf(stderr, "inc-perf diff: %s: %s\n", name,
			strerror(errno));
		return NULL;
	}
	text = malloc(MAX_FILE + 1);
	if (text) {
		*len = fread(text, 1, MAX_FILE + 1, in);
		if (ferror(in) || *len > MAX_FILE) {
			fprintf(stderr, "inc-perf diff: %s: %s\n", name,
				ferror(in) ? strerror(errno) : "too large");
			free(text);
			text = NULL;
		}
	}
	fclose(in);
	return text;
}

/* Keep the run: its rows refer to it. */
static bool keep_run(struct file *f, struct json_object *run)
{
	void *runs = realloc(f->runs, (f->nruns + 1) * sizeof(*f->runs));

	if (!runs) {
		json_object_put(run);
		return false;
	}
	f->runs = runs;
	f->runs[f->nruns++] = run;
	return json_object_is_type(run, json_type_object) && read_run(f, run);
}

/* One run after the other, separated by white space. */
static bool parse_runs(struct file *f, const char *text, size_t len)
{
	struct json_tokener *tok = json_tokener_new();
	struct json_object *run;
	size_t at = 0;
	bool ok = tok;

	while (ok) {
		at += strspn(text + at, " \t\r\n");
		if (at >= len)
			break;
		run = json_tokener_parse_ex(tok, text + at, (int)(len - at));
		if (json_tokener_get_error(tok) != json_tokener_success) {
			json_object_put(run);
			ok = false;
			break;
		}
		at += json_tokener_get_parse_end(tok);
		ok = keep_run(f, run);
	}
	if (tok)
		json_tokener_free(tok);
	return ok;
}

static bool read_file(struct file *f, const char *name)
{
	size_t len = 0;
	char *text = read_text(name, &len);
	bool ok;

	f->name = name;
	if (!text)
		return false;
	text[len] = '\0';
	ok = parse_runs(f, text, len) && f->nruns;
	free(text);
	if (!ok)
		fprintf(stderr, "inc-perf diff: %s: not what \"inc-perf --json\" writes\n",
			name);
	else if (!f->nrows)
		fprintf(stderr, "inc-perf diff: %s: nothing was timed there\n",
			name);
	return ok && f->nrows;
}

static void free_file(struct file *f)
{
	while (f->nruns)
		json_object_put(f->runs[--f->nruns]);
	free(f->runs);
	free(f->rows);
}

/* --- Comparing --------------------------------------------------------- */

static bool same_key(const struct key *a, const struct key *b)
{
	return a->size == b->size && a->ranks == b->ranks &&
	       !strcmp(a->coll, b->coll) && !strcmp(a->dtype, b->dtype) &&
	       !strcmp(a->op, b->op);
}

/* If a file has a key twice, its results are paired in their order. */
static struct row *find_row(struct file *f, const struct key *key)
{
	size_t i;

	for (i = 0; i < f->nrows; i++)
		if (!f->rows[i].paired && same_key(&f->rows[i].key, key))
			return &f->rows[i];
	return NULL;
}

static enum verdict judge_rows(const struct row *a, const struct row *b)
{
	if (a->nsamples < MIN_SAMPLES || b->nsamples < MIN_SAMPLES)
		return UNKNOWN;
	if (b->max < a->min)
		return FASTER;
	return b->min > a->max ? SLOWER : SAME;
}

/* Per cent of the median. */
static double get_spread(const struct row *r)
{
	return 100 * (r->max - r->min) / r->median;
}

static void show_row(const struct row *a, const struct row *b, double change,
		     enum verdict verdict)
{
	printf("%-14s %-10s %-6s %5d %12lld", a->key.coll, a->key.dtype,
	       a->key.op, a->key.ranks, (long long)a->key.size);
	printf(" %12.2f %6.1f %12.2f %6.1f %+8.1f  %s\n", a->median,
	       get_spread(a), b->median, get_spread(b), change,
	       verdicts[verdict]);
}

static void json_row(const struct row *a, const struct row *b, double change,
		     enum verdict verdict, bool first)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "collective",
			       json_object_new_string(a->key.coll));
	json_object_object_add(o, "dtype",
			       json_object_new_string(a->key.dtype));
	json_object_object_add(o, "op", json_object_new_string(a->key.op));
	json_object_object_add(o, "ranks", json_object_new_int(a->key.ranks));
	json_object_object_add(o, "size", json_object_new_int64(a->key.size));
	json_object_object_add(o, "old_us", json_object_new_double(a->median));
	json_object_object_add(o, "old_spread_pct",
			       json_object_new_double(get_spread(a)));
	json_object_object_add(o, "new_us", json_object_new_double(b->median));
	json_object_object_add(o, "new_spread_pct",
			       json_object_new_double(get_spread(b)));
	json_object_object_add(o, "change_pct", json_object_new_double(change));
	if (verdict != UNKNOWN)
		json_object_object_add(o, "verdict",
				       json_object_new_string(verdicts[verdict]));
	printf("%s\n  %s", first ? "" : ",",
	       json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
	json_object_put(o);
}

static void compare_rows(struct diff *d, struct row *a, struct row *b,
			 bool first)
{
	double change = 100 * (b->median / a->median - 1);
	enum verdict verdict = judge_rows(a, b);

	a->paired = true;
	b->paired = true;
	d->counts[verdict]++;
	d->beyond += d->max_slowdown >= 0 && change > d->max_slowdown &&
		     (verdict == SLOWER || verdict == UNKNOWN);
	if (d->json)
		json_row(a, b, change, verdict, first);
	else
		show_row(a, b, change, verdict);
}

static void note_settings(const struct row *a, const struct row *b)
{
	int64_t x, y;
	size_t i;

	for (i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		x = get_num(a->run, settings[i]);
		y = get_num(b->run, settings[i]);
		if (x != y)
			fprintf(stderr, "inc-perf diff: note: %s is %lld in OLD and %lld in NEW\n",
				settings[i], (long long)x, (long long)y);
	}
}

static size_t count_unpaired(const struct file *f)
{
	size_t i, n = 0;

	for (i = 0; i < f->nrows; i++)
		n += !f->rows[i].paired;
	return n;
}

static size_t compare_files(struct diff *d)
{
	struct json_object *noted = NULL;
	struct row *a, *b;
	size_t i, n = 0;

	if (d->json)
		printf("{\"results\":[");
	else
		printf("# OLD %s, NEW %s: median latency in us, spread of the repetitions\n# %-12s %-10s %-6s %5s %12s %12s %6s %12s %6s %8s\n",
		       d->old.name, d->new.name, "Collective", "Type", "Op",
		       "Ranks", "Size", "OLD", "+-%", "NEW", "+-%", "Change%");
	for (i = 0; i < d->old.nrows; i++) {
		a = &d->old.rows[i];
		b = find_row(&d->new, &a->key);
		if (!b)
			continue;
		if (a->run != noted)
			note_settings(a, b);
		noted = a->run;
		compare_rows(d, a, b, !n++);
	}
	return n;
}

static void show_summary(const struct diff *d)
{
	size_t old = count_unpaired(&d->old), new = count_unpaired(&d->new);

	if (d->json) {
		printf("\n],\"faster\":%zu,\"slower\":%zu,\"same\":%zu,\"unknown\":%zu,\"only_old\":%zu,\"only_new\":%zu}\n",
		       d->counts[FASTER], d->counts[SLOWER], d->counts[SAME],
		       d->counts[UNKNOWN], old, new);
		return;
	}
	printf("# %zu faster, %zu slower, %zu same", d->counts[FASTER],
	       d->counts[SLOWER], d->counts[SAME]);
	if (d->counts[UNKNOWN])
		printf(", %zu without a verdict (measure with --reps %d or more)",
		       d->counts[UNKNOWN], MIN_SAMPLES);
	if (old || new)
		printf("; %zu only in OLD, %zu only in NEW", old, new);
	putchar('\n');
}

static int compare_results(struct diff *d)
{
	size_t n = compare_files(d);

	show_summary(d);
	fflush(stdout);
	if (!n) {
		fputs("inc-perf diff: the files have no result in common: collective, type, operation, ranks and size must be the same\n",
		      stderr);
		return 1;
	}
	if (d->beyond) {
		fprintf(stderr, "inc-perf diff: %zu of %zu results are slower by more than %g %%\n",
			d->beyond, n, d->max_slowdown);
		return 1;
	}
	return 0;
}

/* --- Command line ------------------------------------------------------ */

static int take_percent(void *ctx, const struct opt *opt, char *text)
{
	struct diff *d = ctx;
	char *end;

	d->max_slowdown = strtod(text, &end);
	if (end != text && !*end && d->max_slowdown >= 0 &&
	    d->max_slowdown <= 1e9)
		return 0;
	return opts_wrong_value(opt, text, "a percentage, 0 or more");
}

static const struct opt options_list[] = {
	{ "max-slowdown", 0, OPT_CALL, "PCT",
	  "fail if a result is slower by more than PCT per cent",
	  .call = take_percent },
	{ "json", 'j', OPT_FLAG, NULL, "print JSON",
	  OPT_AT(struct diff, json) },
	OPT_HELP_ROW,
	{ 0 }
};

static const struct opts options = {
	.prog	= "inc-perf diff",
	.head	=
		"Usage: inc-perf diff [OPTIONS] OLD NEW\n"
		"\n"
		"Compares two files that \"inc-perf --json\" has written, each with one run or\n"
		"several. Results with the same collective, type, operation, number of ranks and\n"
		"size are compared: \"faster\" or \"slower\" if the repetitions (--reps, 3 or more)\n"
		"of the two do not overlap, else \"same\".\n"
		"\n",
	.tail	=
		"\n"
		"Exit status: 0, 1 if a file cannot be read, nothing can be compared, or a\n"
		"result is slower than allowed, 2 for usage.\n",
	.list	= options_list,
	.args	= 2,
};

/**
 * diff_main() - run "inc-perf diff"
 * @argc: number of arguments, from "diff" on
 * @argv: arguments
 *
 * Return: exit status.
 */
int diff_main(int argc, char **argv)
{
	struct diff d = { .max_slowdown = -1 };
	int ret = opts_read(&options, &d, argc, argv);

	if (!ret && argc - optind < 2)
		ret = opts_wrong("takes two files, OLD and NEW; see --help");
	if (ret)
		return ret < 0 ? 2 : 0;
	ret = 1;
	if (read_file(&d.old, argv[optind]) &&
	    read_file(&d.new, argv[optind + 1]))
		ret = compare_results(&d);
	free_file(&d.old);
	free_file(&d.new);
	return ret;
}
