// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Prints one line per subject with everything that is ok, and below it a line
 * for each other finding, with a hint.
 */
#include "common.h"

#include <stdarg.h>

#include "print.h"
#include "report.h"
#include "tool.h"

static const char *const names[VERDICTS] = { "ok", "warn", "FAIL" };

static unsigned int counts[VERDICTS];

void report_begin(void)
{
	memset(counts, 0, sizeof(counts));
	pr_open_object(NULL);
	pr_open_array("checks");
}

/* Begin a subject. */
void report_subject(struct subject *s, const char *kind, const char *fmt, ...)
{
	va_list ap;

	memset(s, 0, sizeof(*s));
	s->kind = kind;
	s->rank = -1;
	va_start(ap, fmt);
	vsnprintf(s->name, sizeof(s->name), fmt, ap);
	va_end(ap);
}

/*
 * Add a finding.
 * @hint: remedy if it is not ok, or NULL
 */
void report_find(struct subject *s, enum verdict verdict, const char *hint,
		 const char *fmt, ...)
{
	struct finding *f = &s->findings[s->n];
	va_list ap;

	if (verdict > s->worst)
		s->worst = verdict;
	if (s->n == MAX_FINDINGS)
		return;
	s->n++;
	f->verdict = verdict;
	f->hint = hint;
	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
}

static void put_json(const struct subject *s)
{
	unsigned int i;

	pr_open_object(NULL);
	pr_string("kind", NULL, s->kind);
	pr_string("name", NULL, s->name);
	if (s->tree_id)
		pr_uint("tree-id", NULL, s->tree_id);
	if (s->rank >= 0)
		pr_uint("rank", NULL, (uint64_t)s->rank);
	pr_string("verdict", NULL, names[s->worst]);
	pr_open_array("findings");
	for (i = 0; i < s->n; i++) {
		const struct finding *f = &s->findings[i];

		pr_open_object(NULL);
		pr_string("verdict", NULL, names[f->verdict]);
		pr_string("text", NULL, f->text);
		if (f->hint)
			pr_string("hint", NULL, f->hint);
		pr_close_object();
	}
	pr_close_array();
	pr_close_object();
}

static void put_text(const struct subject *s)
{
	const char *sep = ": ";
	unsigned int i;

	pr_text("%-5s%s", names[s->worst], s->name);
	for (i = 0; i < s->n; i++) {
		if (s->findings[i].verdict != VERDICT_OK)
			continue;
		pr_text("%s%s", sep, s->findings[i].text);
		sep = ", ";
	}
	for (i = 0; i < s->n; i++) {
		const struct finding *f = &s->findings[i];

		if (f->verdict == VERDICT_OK)
			continue;
		pr_text("\n     %s: %s", names[f->verdict], f->text);
		if (f->hint)
			pr_text("\n        -> %s", f->hint);
	}
	pr_endl();
}

/* Print a subject. */
void report_put(const struct subject *s)
{
	counts[s->worst]++;
	if (conf.json)
		put_json(s);
	else
		put_text(s);
}

/* Returns the worst verdict so far. */
enum verdict report_worst(void)
{
	return counts[VERDICT_FAIL] ? VERDICT_FAIL :
	       counts[VERDICT_WARN] ? VERDICT_WARN : VERDICT_OK;
}

/* Print the totals. Returns the worst verdict. */
enum verdict report_end(void)
{
	enum verdict worst = report_worst();
	unsigned int i;

	pr_close_array();
	for (i = 0; i < VERDICTS; i++)
		pr_uint(names[i], NULL, counts[i]);
	pr_string("verdict", "verdict", names[worst]);
	pr_text(" (%u ok, %u warn, %u FAIL)", counts[VERDICT_OK],
		counts[VERDICT_WARN], counts[VERDICT_FAIL]);
	pr_endl();
	pr_close_object();
	return worst;
}
