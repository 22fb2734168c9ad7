// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Messages to stderr, each in one write. systemd's journal gets its prefix
 * <LEVEL>; others get the program's name.
 */
#include "common.h"

#include <stdarg.h>
#include <unistd.h>

#include "log.h"

static const char *log_name = "";
static enum log_level log_max = LOG_LEVEL_INFO;
static bool log_journal;

/**
 * log_start() - say what to print, and how
 * @name: the program's name
 * @level: the least important messages to print
 */
void log_start(const char *name, enum log_level level)
{
	log_name = name;
	log_max = level;
	log_journal = getenv("JOURNAL_STREAM");
}

/**
 * log_msg() - print a message
 * @level: how important it is
 * @fmt: text, without a newline
 */
void log_msg(enum log_level level, const char *fmt, ...)
{
	static const int priorities[] = { 3, 4, 6, 7 };
	char line[1024];
	va_list ap;
	int n;

	if (level > log_max)
		return;
	if (log_journal)
		n = snprintf(line, sizeof(line), "<%d>", priorities[level]);
	else
		n = snprintf(line, sizeof(line), "%s: ", log_name);
	va_start(ap, fmt);
	n += vsnprintf(line + n, sizeof(line) - (size_t)n - 1, fmt, ap);
	va_end(ap);
	if ((size_t)n > sizeof(line) - 2)
		n = sizeof(line) - 2;
	line[n++] = '\n';
	n = (int)write(STDERR_FILENO, line, (size_t)n);
}
