// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Messages to stderr, each in one write. systemd's journal gets its prefix
 * <LEVEL>, other readers the program's name.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/log.h"
#include "conf/text.h"

static const char *log_name = "";
static enum log_level log_max = LOG_LEVEL_INFO;
static bool log_journal;

/* Set the program's name, and the highest level to print. */
void log_start(const char *name, enum log_level level)
{
	log_name = name;
	log_max = level;
	log_journal = getenv("JOURNAL_STREAM");
}

/*
 * Print a message. Context: any thread.
 * @fmt: text, without a newline; characters that cannot be shown become "?"
 */
void log_msg(enum log_level level, const char *fmt, ...)
{
	static const int priorities[] = { 3, 4, 6, 7 };
	char line[1100];
	va_list ap;
	int n;

	if (level > log_max)
		return;
	if (log_journal)
		n = snprintf(line, sizeof(line), "<%d>", priorities[level]);
	else
		n = snprintf(line, sizeof(line), "%s: ", log_name);
	va_start(ap, fmt);
	vsnprintf(line + n, sizeof(line) - (size_t)n - 1, fmt, ap);
	va_end(ap);
	text_clean(line + n);
	n = (int)strlen(line);
	line[n++] = '\n';
	n = (int)write(STDERR_FILENO, line, (size_t)n);
}
