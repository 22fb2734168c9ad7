// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What all objects of inc-amctl need: the options, and words of the command line.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "conf/output.h"
#include "ctl/amctl.h"

bool ctl_json;
bool ctl_pretty;
const char *ctl_manager;

/**
 * ctl_wrong() - report an error in the command line
 * @fmt: what is wrong, and what would be right
 *
 * Return: exit status.
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

/**
 * ctl_is() - check whether a word is a name, or the beginning of it
 * @word: word
 * @name: name
 *
 * Return: true if so.
 */
bool ctl_is(const char *word, const char *name)
{
	return word[0] && !strncmp(name, word, strlen(word));
}

/**
 * ctl_is_show() - check whether a word is "show" or "list", where a name may stand
 * @word: word; an abbreviation would be a name
 *
 * Return: true if so.
 */
bool ctl_is_show(const char *word)
{
	return !strcmp(word, "show") || !strcmp(word, "list");
}
