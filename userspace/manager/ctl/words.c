// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Common parts of inc-amctl's objects: options, and words of the command line. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "conf/output.h"
#include "ctl/amctl.h"

bool ctl_json;
bool ctl_pretty;
const char *ctl_manager;

/*
 * Report an error in the command line. Returns the exit status.
 * @fmt: error, and advice
 */
int ctl_wrong(const char *fmt, ...)
{
	va_list ap;

	inc_output_flush();
	fputs("inc-amctl: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return CTL_USAGE;
}

/* Check whether a word is a name, or the beginning of it. Returns true if so. */
bool ctl_is(const char *word, const char *name)
{
	return word[0] && !strncmp(name, word, strlen(word));
}

/*
 * Check whether a word is "show" or "list" where a name may follow. Returns
 * true if so.
 * @word: word; an abbreviation counts as a name
 */
bool ctl_is_show(const char *word)
{
	return !strcmp(word, "show") || !strcmp(word, "list");
}
