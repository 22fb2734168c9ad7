// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The library's log. The hook and its level are the library's only mutable
 * globals.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"

_Atomic int inc_log_threshold = INC_LOG_NONE;

static pthread_mutex_t hook_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static inc_log_fn hook_fn;	/* guarded by hook_lock */
static void *hook_arg;		/* guarded by hook_lock */

static const char * const level_names[] = { "error", "warn", "info", "debug" };

static void read_environment(void)
{
	const char *env = getenv("INC_LOG");
	int i;

	if (!env)
		return;
	for (i = INC_LOG_ERROR; i <= INC_LOG_DEBUG; i++)
		if (!strcmp(env, level_names[i]))
			atomic_store(&inc_log_threshold, i);
}

/**
 * inc_log_init() - read the level from the environment, once
 */
void inc_log_init(void)
{
	pthread_once(&once, read_environment);
}

/**
 * inc_log_set() - say where the log goes
 * @fn: called with each line, one at a time; NULL: back to stderr
 * @arg: passed to @fn
 * @level: most detailed level that is logged; INC_LOG_NONE: nothing
 *
 * Without this call lines of the level that the environment INC_LOG names
 * ("error", "warn", "info" or "debug") go to stderr, and without INC_LOG none.
 * @fn must not call libinc. Any thread may call this at any time.
 */
void inc_log_set(inc_log_fn fn, void *arg, enum inc_log_level level)
{
	inc_log_init();
	pthread_mutex_lock(&hook_lock);
	hook_fn = fn;
	hook_arg = arg;
	pthread_mutex_unlock(&hook_lock);
	atomic_store(&inc_log_threshold, (int)level);
}

void inc_log_line(enum inc_log_level level, const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);

	pthread_mutex_lock(&hook_lock);
	if (hook_fn)
		hook_fn(level, line, hook_arg);
	else
		fprintf(stderr, "libinc: %s: %s\n", level_names[level], line);
	pthread_mutex_unlock(&hook_lock);
}
