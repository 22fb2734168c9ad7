/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The report of inc-tool check, as text and as JSON: subjects, the findings on
 * each, and hints on what to do.
 */
#ifndef INC_TOOL_REPORT_H
#define INC_TOOL_REPORT_H

#include "common.h"

enum verdict {
	VERDICT_OK,
	VERDICT_WARN,
	VERDICT_FAIL,
	VERDICTS,
};

#define MAX_FINDINGS	16

/**
 * struct finding - the result of one check
 * @verdict: verdict
 * @text: description
 * @hint: suggested remedy, or NULL
 */
struct finding {
	enum verdict	verdict;
	char		text[200];
	const char	*hint;
};

/**
 * struct subject - an object that was checked
 * @kind: module, daemon, failure, tree, uplink, rank, switch, link
 * @name: name for people
 * @tree_id: tree, or 0
 * @rank: rank, or -1
 * @worst: worst verdict of the findings
 * @findings: findings
 * @n: number of findings
 */
struct subject {
	const char	*kind;
	char		name[96];
	uint32_t	tree_id;
	int		rank;
	enum verdict	worst;
	struct finding	findings[MAX_FINDINGS];
	unsigned int	n;
};

void report_begin(void);
void report_subject(struct subject *s, const char *kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void report_find(struct subject *s, enum verdict verdict, const char *hint,
		 const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void report_put(const struct subject *s);
enum verdict report_worst(void);
enum verdict report_end(void);

#endif /* INC_TOOL_REPORT_H */
