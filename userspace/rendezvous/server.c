// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What all of the rendezvous daemon needs: the log, and its time.
 */
#include "nl/common.h"

#include <stdarg.h>

#include "server.h"

/**
 * server_log() - print a line if --verbose was given
 * @s: daemon
 * @fmt: one line without newline
 */
void server_log(const struct server *s, const char *fmt, ...)
{
	va_list ap;

	if (!s->verbose)
		return;
	fputs("inc-tool serve: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/**
 * server_may_work() - check whether there is time for work that can wait
 * @s: daemon
 *
 * Return: false if not in this turn of the main loop.
 */
bool server_may_work(const struct server *s)
{
	return now_ms() < s->work_until;
}
